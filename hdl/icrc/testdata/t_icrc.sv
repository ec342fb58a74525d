// SPDX-License-Identifier: Apache-2.0
//
// t_icrc: check and insertion of several widths with their tables, so that one compiled model tests them all. Ports carry
// the width: n8_m_valid. WIDE has those above 64 bytes, WIDEST the widest.
`default_nettype none

`define PORTS(N) \
    input  wire                 n``N``_crc_valid, \
    input  wire                 n``N``_crc_first, \
    input  wire [8*N-1:0]       n``N``_crc_data, \
    input  wire [$clog2(N)-1:0] n``N``_crc_tail, \
    output wire                 n``N``_icrc_ok, \
    input  wire                 n``N``_s_valid, \
    output wire                 n``N``_s_ready, \
    input  wire [8*N-1:0]       n``N``_s_data, \
    input  wire [15:0]          n``N``_s_check, \
    input  wire [$clog2(N)-1:0] n``N``_s_size, \
    input  wire                 n``N``_s_first, \
    input  wire                 n``N``_s_last, \
    input  wire [2:0]           n``N``_s_port, \
    input  wire [(N>64?1:64/N)-1:0] n``N``_s_front, \
    input  wire [16:0]          n``N``_s_left, \
    input  wire                 n``N``_s_bad, \
    output wire                 n``N``_m_valid, \
    input  wire                 n``N``_m_ready, \
    output wire [8*N-1:0]       n``N``_m_data, \
    output wire [$clog2(N)-1:0] n``N``_m_size, \
    output wire                 n``N``_m_last, \
    output wire [2:0]           n``N``_m_port

`define PAIR(N) \
    generate if (1) begin : gen_``N \
        wire c_en, i_en, t_en; \
        wire [31:0] c_state, i_state, next, residue, t_state, t_crc; \
        wire [8*N-1:0] c_data, i_data; \
        wire [$clog2(N)-1:0] tail; \
        wire [$clog2(N)-3:0] index; \
        inc_icrc_check #(.BYTES(N), .INIT(INIT)) u_check (.clk(clk), \
            .crc_valid(n``N``_crc_valid), .crc_first(n``N``_crc_first), .crc_data(n``N``_crc_data), .crc_tail(n``N``_crc_tail), \
            .step_en(c_en), .step_data(c_data), .step_state(c_state), .step_next(next), .residue_tail(tail), .residue(residue), .icrc_ok(n``N``_icrc_ok)); \
        inc_crc32_``N u_step (.clk(clk), .en(checking ? c_en : i_en), .data(checking ? c_data : i_data), .state(checking ? c_state : i_state), .next(next)); \
        inc_crc32_residue_``N u_residue (.tail(tail), .residue(residue)); \
        inc_icrc_insert #(.BYTES(N), .PORT_W(3), .INIT(INIT)) u_insert (.clk(clk), .rst(rst), \
            .s_valid(n``N``_s_valid), .s_ready(n``N``_s_ready), .s_data(n``N``_s_data), .s_check(n``N``_s_check), .s_size(n``N``_s_size), .s_first(n``N``_s_first), \
            .s_last(n``N``_s_last), .s_port(n``N``_s_port), .s_front(n``N``_s_front), .s_left(n``N``_s_left), \
            .s_bad(n``N``_s_bad), .step_en(i_en), .step_data(i_data), .step_state(i_state), .step_next(next), \
            .tail_en(t_en), .tail_index(index), .tail_state(t_state), .tail_crc(t_crc), \
            .m_valid(n``N``_m_valid), .m_ready(n``N``_m_ready), .m_data(n``N``_m_data), .m_size(n``N``_m_size), .m_last(n``N``_m_last), \
            .m_port(n``N``_m_port)); \
        inc_crc32_tail_``N u_tail (.clk(clk), .en(t_en), .index(index), .state(t_state), .crc(t_crc)); \
    end endgenerate

module t_icrc #(
    parameter [31:0] INIT = 32'd0
) (
    input wire clk,
    input wire rst,
    // which of the two has the step: one serves both, to save compile time
    input wire checking,
`ifdef WIDEST
    `PORTS(512),
    `PORTS(2048)
);

    `PAIR(512)
    `PAIR(2048)

endmodule
`elsif WIDE
    `PORTS(128),
    `PORTS(256)
);

    `PAIR(128)
    `PAIR(256)

endmodule
`else
    `PORTS(8),
    `PORTS(16),
    `PORTS(32),
    `PORTS(64)
);

    `PAIR(8)
    `PAIR(16)
    `PAIR(32)
    `PAIR(64)

endmodule
`endif

`default_nettype wire
