// SPDX-License-Identifier: Apache-2.0
//
// t_parser: parsers of several widths side by side, so that one compiled model tests them all. Ports carry the width: p8_room.
// WIDE has the wide ones with a larger MTU, WIDEST the widest.
`default_nettype none

`define PORTS(N, LEN_W, WORDS_W) \
    input  wire           p``N``_room, \
    input  wire [8*N-1:0] p``N``_s_axis_tdata, \
    input  wire [N-1:0]   p``N``_s_axis_tkeep, \
    input  wire           p``N``_s_axis_tvalid, \
    output wire           p``N``_s_axis_tready, \
    input  wire           p``N``_s_axis_tlast, \
    input  wire [3:0]     p``N``_s_axis_tuser, \
    output wire           p``N``_raw_valid, \
    output wire           p``N``_raw_store, \
    output wire           p``N``_raw_imm, \
    output wire [8*N-1:0] p``N``_raw_data, \
    output wire [N-1:0]   p``N``_raw_keep, \
    output wire           p``N``_raw_last, \
    output wire           p``N``_raw_err, \
    output wire           p``N``_crc_valid, \
    output wire           p``N``_crc_first, \
    output wire [8*N-1:0] p``N``_crc_data, \
    output wire [$clog2(N)-1:0] p``N``_crc_tail, \
    output wire           p``N``_seek_valid, \
    output wire [23:0]    p``N``_seek_qpn, \
    output wire [4:0]     p``N``_seek_root, \
    output wire           p``N``_hdr_valid, \
    output wire [2:0]     p``N``_hdr_port, \
    output wire           p``N``_hdr_rocev2, \
    output wire [23:0]    p``N``_hdr_qpn, \
    output wire [31:0]    p``N``_hdr_src_ip, \
    output wire [31:0]    p``N``_hdr_dst_ip, \
    output wire           p``N``_hdr_pkey_ok, \
    output wire           p``N``_hdr_ce, \
    output wire           p``N``_hdr_sum_ok, \
    output wire           p``N``_hdr_len_ok, \
    output wire           p``N``_hdr_tver_ok, \
    output wire [7:0]     p``N``_hdr_opcode, \
    output wire           p``N``_hdr_se, \
    output wire [1:0]     p``N``_hdr_pad, \
    output wire [23:0]    p``N``_hdr_psn, \
    output wire [31:0]    p``N``_hdr_ext, \
    output wire           p``N``_hdr_too_long, \
    output wire [LEN_W-1:0] p``N``_hdr_plen, \
    output wire [WORDS_W-1:0] p``N``_hdr_words, \
    output wire           p``N``_eof_valid, \
    output wire           p``N``_eof_err, \
    output wire           p``N``_eof_len_ok

`define PARSER(N, MTU, L, W, DELAY) \
    inc_parser #(.BYTES(N), .PORT_W(3), .MTU_BYTES(MTU), .LEN_W(L), .WORDS_W(W), .EOF_DELAY(DELAY)) u_``N ( \
        .clk(clk), .rst(rst), .room(p``N``_room), .room_raw(1'b0), .fwd_valid(1'b0), .fwd_bypass(1'b0), \
        .s_axis_tdata(p``N``_s_axis_tdata), .s_axis_tkeep(p``N``_s_axis_tkeep), .s_axis_tvalid(p``N``_s_axis_tvalid), \
        .s_axis_tready(p``N``_s_axis_tready), .s_axis_tlast(p``N``_s_axis_tlast), .s_axis_tuser(p``N``_s_axis_tuser), \
        .raw_valid(p``N``_raw_valid), .raw_store(p``N``_raw_store), .raw_imm(p``N``_raw_imm), .raw_data(p``N``_raw_data), .raw_keep(p``N``_raw_keep), .raw_last(p``N``_raw_last), .raw_err(p``N``_raw_err), \
        .crc_valid(p``N``_crc_valid), .crc_first(p``N``_crc_first), .crc_data(p``N``_crc_data), .crc_tail(p``N``_crc_tail), \
        .seek_valid(p``N``_seek_valid), .seek_qpn(p``N``_seek_qpn), .seek_root(p``N``_seek_root), \
        .hdr_valid(p``N``_hdr_valid), .hdr_port(p``N``_hdr_port), .hdr_rocev2(p``N``_hdr_rocev2), .hdr_qpn(p``N``_hdr_qpn), \
        .hdr_src_ip(p``N``_hdr_src_ip), .hdr_dst_ip(p``N``_hdr_dst_ip), .hdr_pkey_ok(p``N``_hdr_pkey_ok), .hdr_ce(p``N``_hdr_ce), \
        .hdr_sum_ok(p``N``_hdr_sum_ok), .hdr_len_ok(p``N``_hdr_len_ok), .hdr_tver_ok(p``N``_hdr_tver_ok), .hdr_opcode(p``N``_hdr_opcode), \
        .hdr_se(p``N``_hdr_se), .hdr_pad(p``N``_hdr_pad), .hdr_psn(p``N``_hdr_psn), .hdr_ext(p``N``_hdr_ext), \
        .hdr_too_long(p``N``_hdr_too_long), .hdr_plen(p``N``_hdr_plen), .hdr_words(p``N``_hdr_words), \
        .eof_valid(p``N``_eof_valid), .eof_err(p``N``_eof_err), .eof_len_ok(p``N``_eof_len_ok));

`ifdef WIDEST
module t_parser (
    input wire clk,
    input wire rst,
    `PORTS(2048, 13, 2)
);

    `PARSER(2048, 4096, 13, 2, 5)

endmodule
`elsif WIDE
module t_parser (
    input wire clk,
    input wire rst,
    `PORTS(128, 13, 6),
    `PORTS(512, 13, 4)
);

    `PARSER(128, 4096, 13, 6, 1)
    `PARSER(512, 4096, 13, 4, 2)

endmodule
`else
module t_parser (
    input wire clk,
    input wire rst,
    `PORTS(8, 9, 6),
    `PORTS(16, 9, 5),
    `PORTS(32, 9, 4),
    `PORTS(64, 9, 3),
    `PORTS(128, 9, 2)
);

    `PARSER(8, 256, 9, 6, 0)
    `PARSER(16, 256, 9, 5, 3)
    `PARSER(32, 256, 9, 4, 0)
    `PARSER(64, 256, 9, 3, 0)
    `PARSER(128, 256, 9, 2, 2)

endmodule
`endif

`default_nettype wire
