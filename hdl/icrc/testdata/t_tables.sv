// SPDX-License-Identifier: Apache-2.0
//
// t_tables: the tables of all widths, of the widest with WIDEST alone. Ports carry the width: n8_data.
`default_nettype none

`define PORTS(N) \
    input  wire [8*N-1:0]       n``N``_data, \
    output wire [31:0]          n``N``_next, \
    input  wire [$clog2(N)-1:0] n``N``_tail, \
    output wire [31:0]          n``N``_residue, \
    input  wire [$clog2(N)-3:0] n``N``_index, \
    output wire [31:0]          n``N``_crc

`define TABLES(N) \
    inc_crc32_``N u_step_``N (.clk(clk), .en(en), .data(n``N``_data), .state(state), .next(n``N``_next)); \
    inc_crc32_residue_``N u_residue_``N (.tail(n``N``_tail), .residue(n``N``_residue)); \
    inc_crc32_tail_``N u_tail_``N (.clk(clk), .en(en), .index(n``N``_index), .state(state), .crc(n``N``_crc));

module t_tables (
    input wire        clk,
    input wire        en,
    input wire [31:0] state,
    `PORTS(8),
    `PORTS(16),
    `PORTS(32),
    `PORTS(64),
    `PORTS(128),
    `PORTS(256),
`ifdef WIDEST
    `PORTS(1024),
    `PORTS(2048),
`endif
    `PORTS(512)
);

    `TABLES(8)
    `TABLES(16)
    `TABLES(32)
    `TABLES(64)
    `TABLES(128)
    `TABLES(256)
    `TABLES(512)
`ifdef WIDEST
    `TABLES(1024)
    `TABLES(2048)
`endif

endmodule

`default_nettype wire
