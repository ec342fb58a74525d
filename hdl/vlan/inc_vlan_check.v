// SPDX-License-Identifier: Apache-2.0
//
// inc_vlan_check: compares a frame's 802.1Q tag with the record of the endpoint that it names, and has the frame dropped if they differ.
//
// Contract
//   latency     hdr_tag in cycle 0, fwd_tag in cycle 1; end_* 0 cycles from eof_*, or with LATE, of the ICRC's verdict, 1
//   throughput  1 header and 1 end of a frame per cycle, in the same order; an end comes 1 cycle after its header at the earliest
//   verdict     a frame to an endpoint without a tag must have none, or one with VID 0; to one with a tag it must have one with that VID and,
//               if the record says so, that PCP. A frame that must not be taken ends with err. Where the decision then counts it as one that
//               came with err, the bit of `count` moves to `dropped`, unless the frame did come with err
//   stall       none: the writers of headers and verdicts watch the queues of LookupTable and PacketBuffer, which are no deeper
//   table       written through tbl_*, at any time; read by the headers that come later
//   reset       queues empty; the table's contents are unknown until written
//   not done    whether the whole QPN is the record's: of a frame that is not the engine's the verdict is not looked at
`default_nettype none

module inc_vlan_check #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W     = 3,
    // bits of {group, index}; EP_W or more, at most 23
    parameter EI_W     = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W   = 5,
    // groups; the table has room for MASK_W endpoints of each
    parameter GROUPS   = 2,
    // log2 of the number of frames that may wait for their decision, 4 to 9
    parameter DEPTH_W  = 5,
    // 1: the ICRC's verdict comes a cycle before eof_*
    parameter LATE     = 0,
    // number of counters, and which of them counts frames that came with err
    parameter COUNTERS = 46,
    parameter RX_ERROR = 22
) (
    input  wire                clk,
    input  wire                rst,

    // {check_pcp, tagged, PCP, VID} of endpoints
    input  wire                tbl_we,
    input  wire [EI_W-1:0]     tbl_index,
    input  wire [16:0]         tbl_data,

    // {tagged, the tag's other 16 bits}
    input  wire                hdr_valid,
    input  wire [16:0]         hdr_tag,
    input  wire [23:0]         hdr_qpn,
    output reg  [16:0]         fwd_tag,

    input  wire                eof_valid,
    input  wire                eof_err,
    input  wire                eof_icrc_ok,
    output wire                end_err,
    output wire                end_icrc_ok,

    input  wire                vrd_pop,
    input  wire [COUNTERS-1:0] count,
    output wire [COUNTERS-1:0] counted,
    output wire                dropped
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || EI_W > 23) begin : gen_bad_index
            $error("inc_vlan_check: EI_W must be EP_W to 23");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_vlan_check: MASK_W must be at most 2**EP_W");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W)) || GROUPS * MASK_W < 2) begin : gen_bad_groups
            $error("inc_vlan_check: GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least");
        end
        if (DEPTH_W < 4 || DEPTH_W > 9) begin : gen_bad_depth
            $error("inc_vlan_check: DEPTH_W must be 4 to 9");
        end
        if (LATE < 0 || LATE > 1) begin : gen_bad_late
            $error("inc_vlan_check: LATE must be 0 or 1");
        end
        if (COUNTERS < 2 || RX_ERROR < 0 || RX_ERROR >= COUNTERS) begin : gen_bad_counters
            $error("inc_vlan_check: RX_ERROR must be one of the COUNTERS");
        end
    endgenerate
`endif

    localparam RECORDS = GROUPS * MASK_W;
    localparam INDEX_W = $clog2(RECORDS);

    // ---- the record of the endpoint that the QPN's low bits name ----

    wire [INDEX_W-1:0] rd_at, wr_at;
    wire               rd_there, wr_there;
    wire [16:0]        record;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_rd_index (
        .ei(hdr_qpn[EI_W-1:0]), .index(rd_at), .present(rd_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_wr_index (
        .ei(tbl_index), .index(wr_at), .present(wr_there));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(17), .ADDR_W(INDEX_W)) u_table (
        .clk(clk), .we(tbl_we && wr_there), .waddr(wr_at), .wdata(tbl_data), .re(hdr_valid), .raddr(rd_at), .rdata(record));

    reg        q_valid;
    reg [16:0] q_tag;
    always @(posedge clk) begin
        q_valid <= hdr_valid && !rst;
        q_tag   <= hdr_tag;
        fwd_tag <= hdr_tag;
    end

    // bit 12 of a tag is DEI, which may be either
    wire other_vid = q_tag[11:0] != record[11:0];
    wire other_pcp = record[16] && q_tag[15:13] != record[14:12];
    wire wrong     = record[15] ? !q_tag[16] || other_vid || other_pcp : q_tag[16] && q_tag[11:0] != 12'd0;

    // ---- it waits for the end of the frame, and then for its decision ----

    wire waiting, first;
    wire is_wrong = waiting ? first : wrong;
    wire first_room;
    inc_fifo #(.WIDTH(1), .DEPTH_W(4), .MARGIN(0)) u_headers (
        .clk(clk), .rst(rst), .push(q_valid && (waiting || !eof_valid)), .push_data(wrong), .room(first_room),
        .valid(waiting), .data(first), .pop(eof_valid && waiting));

    assign end_err = eof_err || is_wrong;
    generate
        if (LATE != 0) begin : gen_late
            reg icrc_ok_reg;
            always @(posedge clk) begin
                icrc_ok_reg <= eof_icrc_ok;
            end
            assign end_icrc_ok = icrc_ok_reg;
        end else begin : gen_now
            assign end_icrc_ok = eof_icrc_ok;
        end
    endgenerate

    // one more than PacketBuffer's queue, which has an entry before it
    wire decided_room, decided_valid, decided;
    inc_fifo #(.WIDTH(1), .DEPTH_W(DEPTH_W + 1), .MARGIN(0)) u_ends (
        .clk(clk), .rst(rst), .push(eof_valid), .push_data(is_wrong && !eof_err), .room(decided_room),
        .valid(decided_valid), .data(decided), .pop(vrd_pop));

    // counters step in the cycle behind the decision
    reg drop_reg;
    always @(posedge clk) begin
        drop_reg <= vrd_pop && decided && !rst;
    end
    localparam [COUNTERS-1:0] ONE = 1;
    assign dropped = drop_reg && count[RX_ERROR];
    assign counted = count & ~({COUNTERS{drop_reg}} & (ONE << RX_ERROR));

    wire unused_bits = &{1'b0, hdr_qpn, rd_there, q_tag[12], first_room, decided_room, decided_valid};

endmodule

`default_nettype wire
