// SPDX-License-Identifier: Apache-2.0
//
// inc_ask_ack: clears AckReq in the headers of copies that are not asked for an acknowledgement.
//
// Contract
//   order       tx_* with every decision that goes to ReplicateData, req_* with every copy that it asks TranslateHeader for, hdr_pop with
//               every header that this one gives: all three in the same order
//   latency     0 cycles from hdr_bytes to asked_bytes
//   throughput  one decision, one copy and one header per cycle
//   room        2**DEPTH_W decisions, as ReplicateData has; copies as TranslateHeader has headers
//   stall       none of its own
//   reset       empty
//   not done    AckReq is never set here: TranslateHeader sets it in all data
`default_nettype none

module inc_ask_ack #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W    = 3,
    // bits of an endpoint's index in the table
    parameter EI_W    = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W  = 5,
    // log2 of the number of decisions that may wait, 1 to 10
    parameter DEPTH_W = 5
) (
    input  wire              clk,
    input  wire              rst,

    // a decision: who gets a copy, who of them is asked
    input  wire              tx_valid,
    input  wire [MASK_W-1:0] tx_mask,
    input  wire [MASK_W-1:0] tx_ask,

    // a copy of the oldest decision
    input  wire              req_valid,
    input  wire              req_ready,
    input  wire [EI_W-1:0]   req_ei,

    // its header
    input  wire              hdr_pop,
    input  wire [8*58-1:0]   hdr_bytes,
    output wire [8*58-1:0]   asked_bytes
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_index
            $error("inc_ask_ack: MASK_W must be at most 2**EP_W, EP_W at most EI_W");
        end
        if (DEPTH_W < 1 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_ask_ack: DEPTH_W must be 1 to 10");
        end
    endgenerate
`endif

    // TranslateHeader has 2 headers at most
    localparam HEADERS_W = 1;
    // AckReq is the highest bit of this byte of a frame
    localparam ASK_BIT   = 8 * 50 + 7;

    // ---- who is asked, a word a decision ----

    wire [MASK_W-1:0] mask, ask;
    wire              issue = req_valid && req_ready;
    wire [MASK_W-1:0] from  = {MASK_W{1'b1}} << req_ei[EP_W-1:0];
    wire [MASK_W-1:0] self  = from & ~(from << 1);
    wire              last  = (mask & from & ~self) == {MASK_W{1'b0}};
    wire              asked = (ask & self) != {MASK_W{1'b0}};
    wire              there, room, behind_there, behind_room;

    inc_fifo #(.WIDTH(2 * MASK_W), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_decisions (
        .clk       (clk),
        .rst       (rst),
        .push      (tx_valid),
        .push_data ({tx_mask, tx_ask}),
        .room      (room),
        .valid     (there),
        .data      ({mask, ask}),
        .pop       (issue && last)
    );

    // ---- and a bit a copy, until its header leaves ----

    wire              keeps;

    inc_fifo #(.WIDTH(1), .DEPTH_W(HEADERS_W), .MARGIN(0)) u_copies (
        .clk       (clk),
        .rst       (rst),
        .push      (issue),
        .push_data (asked),
        .room      (behind_room),
        .valid     (behind_there),
        .data      (keeps),
        .pop       (hdr_pop)
    );

    assign asked_bytes = {hdr_bytes[8*58-1:ASK_BIT+1], hdr_bytes[ASK_BIT] && keeps, hdr_bytes[ASK_BIT-1:0]};

    wire unused_bits = &{1'b0, there, room, behind_there, behind_room, req_ei};

endmodule

`default_nettype wire
