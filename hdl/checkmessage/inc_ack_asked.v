// SPDX-License-Identifier: Apache-2.0
//
// inc_ack_asked: whether packets ask for an acknowledgement, the AckReq bit of their BTH, until they are decided.
//
// Contract
//   order       frames first in, first out: a bit for every frame that passes on raw_*, taken with frm_gone
//   latency     1 cycle after raw_last
//   throughput  1 beat per cycle
//   stall       none: there is room for all frames that can wait for their decision, 2**DEPTH_W
//   reset       empty
//   not done    whether the frame is a packet of ours: of others the bit has no meaning
`default_nettype none

module inc_ack_asked #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES   = 8,
    // log2 of the number of frames that may wait, 1 to 10
    parameter DEPTH_W = 5
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               raw_valid,
    input  wire [8*BYTES-1:0] raw_data,
    input  wire               raw_last,

    input  wire               frm_gone,
    output wire               frm_asks
);

    // Ethernet, IPv4, UDP, and eight bytes of the BTH lie before it
    localparam AT   = 14 + 20 + 8 + 8;
    localparam BEAT = AT / BYTES;
    localparam LANE = AT % BYTES;
    localparam [3:0] HERE = BEAT[3:0], END = HERE + 4'd1;

    // the number of the beat, which stays behind that of the bit
    reg  [3:0] beat_reg;
    reg        asks_reg;
    wire       here = beat_reg == HERE;
    wire       asks = here ? raw_data[8*LANE + 7] : asks_reg;
    wire       has_room, has_bit;

    always @(posedge clk) begin
        if (raw_valid) begin
            beat_reg <= raw_last ? 4'd0 : beat_reg == END ? END : beat_reg + 4'd1;
            asks_reg <= asks;
        end
        if (rst) begin
            beat_reg <= 4'd0;
        end
    end

    inc_fifo #(.WIDTH(1), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_bits (
        .clk       (clk),
        .rst       (rst),
        .push      (raw_valid && raw_last),
        .push_data (asks),
        .room      (has_room),
        .valid     (has_bit),
        .data      (frm_asks),
        .pop       (frm_gone)
    );

    wire unused_bits = &{1'b0, raw_data, has_room, has_bit};

endmodule

`default_nettype wire
