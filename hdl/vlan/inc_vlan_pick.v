// SPDX-License-Identifier: Apache-2.0
//
// inc_vlan_pick: finds the 802.1Q tag of a frame that the engine makes, by the endpoint to which it goes.
//
// Contract
//   latency     req_valid and req_ready in cycle 0, the tag at the head of an empty queue in cycle 2, as TranslateHeader's header
//   throughput  1 tag per cycle, in the order of the requests
//   tag         {tagged, PCP, DEI, VID} of the endpoint's record; 0 if it has none. DEI is 0
//   stall       none of its own: it takes the requests that TranslateHeader takes, and gives up a tag when a header goes
//   table       written through tbl_*, at any time; read by later requests
//   reset       queue empty; the table's contents are unknown until written
//   not done    requests are not held up: its queue is as deep as TranslateHeader's
`default_nettype none

module inc_vlan_pick #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W   = 3,
    // bits of {group, index}; EP_W or more, at most 23
    parameter EI_W   = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W = 5,
    // groups; the table has room for MASK_W endpoints of each
    parameter GROUPS = 2
) (
    input  wire            clk,
    input  wire            rst,

    // {check_pcp, tagged, PCP, VID} of endpoints
    input  wire            tbl_we,
    input  wire [EI_W-1:0] tbl_index,
    input  wire [16:0]     tbl_data,

    input  wire            req_valid,
    input  wire            req_ready,
    input  wire [EI_W-1:0] req_ei,
    input  wire            hdr_pop,
    output wire [16:0]     hdr_tag
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || EI_W > 23) begin : gen_bad_index
            $error("inc_vlan_pick: EI_W must be EP_W to 23");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_vlan_pick: MASK_W must be at most 2**EP_W");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W)) || GROUPS * MASK_W < 2) begin : gen_bad_groups
            $error("inc_vlan_pick: GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least");
        end
    endgenerate
`endif

    localparam RECORDS = GROUPS * MASK_W;
    localparam INDEX_W = $clog2(RECORDS);

    wire               take = req_valid && req_ready;
    wire [INDEX_W-1:0] rd_at, wr_at;
    wire               rd_there, wr_there;
    wire [16:0]        record;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_rd_index (
        .ei(req_ei), .index(rd_at), .present(rd_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_wr_index (
        .ei(tbl_index), .index(wr_at), .present(wr_there));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(17), .ADDR_W(INDEX_W)) u_table (
        .clk(clk), .we(tbl_we && wr_there), .waddr(wr_at), .wdata(tbl_data), .re(take), .raddr(rd_at), .rdata(record));

    reg q_valid;
    always @(posedge clk) begin
        q_valid <= take && !rst;
    end

    wire room, valid;
    inc_fifo #(.WIDTH(17), .DEPTH_W(2), .MARGIN(0)) u_tags (
        .clk(clk), .rst(rst), .push(q_valid), .push_data({record[15], record[14:12], 1'b0, record[11:0]} & {17{record[15]}}), .room(room),
        .valid(valid), .data(hdr_tag), .pop(hdr_pop));

    wire unused_bits = &{1'b0, rd_there, record[16], room, valid};

endmodule

`default_nettype wire
