// SPDX-License-Identifier: Apache-2.0
//
// t_secded: the codecs, each with errors between encoder and decoder.
`default_nettype none

module t_secded (
    input  wire         clk,
    input  wire         poison,
    input  wire [31:0]  data_32,
    input  wire [63:0]  data_64,
    input  wire [127:0] data_128,
    input  wire [1023:0] data_1024,
    input  wire [38:0]  flip_32,
    input  wire [71:0]  flip_64,
    input  wire [136:0] flip_128,
    input  wire [1035:0] flip_1024,
    output wire [31:0]  out_32,
    output wire [63:0]  out_64,
    output wire [127:0] out_128,
    output wire [1023:0] out_1024,
    output wire         corrected_32, corrected_64, corrected_128, corrected_1024,
    output wire         poison_32, poison_64, poison_128, poison_1024
);

    wire [38:0]  code_32;
    wire [71:0]  code_64;
    wire [136:0] code_128;
    wire [1035:0] code_1024;

    inc_secded_encode_32  u_encode_32  (.data(data_32), .poison(poison), .code(code_32));
    inc_secded_decode_32  u_decode_32  (.code(code_32 ^ flip_32), .data(out_32), .corrected(corrected_32), .poison(poison_32));
    inc_secded_encode_64  u_encode_64  (.data(data_64), .poison(poison), .code(code_64));
    inc_secded_decode_64  u_decode_64  (.code(code_64 ^ flip_64), .data(out_64), .corrected(corrected_64), .poison(poison_64));
    inc_secded_encode_128 u_encode_128 (.data(data_128), .poison(poison), .code(code_128));
    inc_secded_encode_1024 u_encode_1024 (.data(data_1024), .poison(poison), .code(code_1024));
    inc_secded_decode_128 u_decode_128 (.code(code_128 ^ flip_128), .data(out_128), .corrected(corrected_128), .poison(poison_128));
    inc_secded_decode_1024 u_decode_1024 (.code(code_1024 ^ flip_1024), .data(out_1024), .corrected(corrected_1024), .poison(poison_1024));

    wire unused_bits = &{1'b0, clk};

endmodule

`default_nettype wire
