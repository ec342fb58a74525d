// SPDX-License-Identifier: Apache-2.0
//
// t_ecc: a word of a memory of each kind on its way in, some of its stored bits inverted, and back.
`default_nettype none

module t_ecc (
    input  wire         clk,
    input  wire         rst,
    input  wire         re,
    input  wire [159:0] data,
    input  wire [191:0] flip,
    output wire [159:0] word0,
    output wire [159:0] word1,
    output wire [159:0] word2,
    output wire [159:0] word3,
    output wire [159:0] word4,
    output wire [4:0]   fixed,
    output wire [4:0]   lost
);

    // 10 bits; a beat of 64 and 5; 130 bits; 65 bits; a port's beat of 16 and 4
    localparam B0 = 10, B1 = 69, B2 = 130, B3 = 65, B4 = 20;
    localparam C0 = 17, C1 = 64 + 8 + 24, C2 = 130 + 9 + 7, C3 = 74, C4 = 16 + 7 + 22;

    wire [C0-1:0] code0;
    wire [C1-1:0] code1;
    wire [C2-1:0] code2;
    wire [C3-1:0] code3;
    wire [C4-1:0] code4;
    // what was stored, read in the cycle before
    reg [C0-1:0] kept0;
    reg [C1-1:0] kept1;
    reg [C2-1:0] kept2;
    reg [C3-1:0] kept3;
    reg [C4-1:0] kept4;
    always @(posedge clk) begin
        if (re) begin
            kept0 <= code0 ^ flip[C0-1:0];
            kept1 <= code1 ^ flip[C1-1:0];
            kept2 <= code2 ^ flip[C2-1:0];
            kept3 <= code3 ^ flip[C3-1:0];
            kept4 <= code4 ^ flip[C4-1:0];
        end
    end

    inc_ecc_in #(.BITS(B0), .FRAME(0), .CODE(C0)) u_in0 (.data(data[B0-1:0]), .code(code0));
    inc_ecc_in #(.BITS(B1), .FRAME(5), .CODE(C1)) u_in1 (.data(data[B1-1:0]), .code(code1));
    inc_ecc_in #(.BITS(B2), .FRAME(0), .CODE(C2)) u_in2 (.data(data[B2-1:0]), .code(code2));
    inc_ecc_in #(.BITS(B3), .FRAME(0), .CODE(C3)) u_in3 (.data(data[B3-1:0]), .code(code3));
    inc_ecc_in #(.BITS(B4), .FRAME(4), .CODE(C4)) u_in4 (.data(data[B4-1:0]), .code(code4));

    assign word0[159:B0] = 0;
    assign word1[159:B1] = 0;
    assign word2[159:B2+1] = 0;
    assign word3[159:B3] = 0;
    assign word4[159:B4] = 0;
    inc_ecc_out #(.BITS(B0), .KIND(0), .FRAME(0), .CODE(C0)) u_out0 (.clk(clk), .rst(rst), .re(re), .code(kept0), .word(word0[B0-1:0]), .fixed(fixed[0]), .lost(lost[0]));
    inc_ecc_out #(.BITS(B1), .KIND(1), .FRAME(5), .CODE(C1)) u_out1 (.clk(clk), .rst(rst), .re(re), .code(kept1), .word(word1[B1-1:0]), .fixed(fixed[1]), .lost(lost[1]));
    inc_ecc_out #(.BITS(B2), .KIND(2), .FRAME(0), .CODE(C2)) u_out2 (.clk(clk), .rst(rst), .re(re), .code(kept2), .word(word2[B2:0]), .fixed(fixed[2]), .lost(lost[2]));
    inc_ecc_out #(.BITS(B3), .KIND(3), .FRAME(0), .CODE(C3)) u_out3 (.clk(clk), .rst(rst), .re(re), .code(kept3), .word(word3[B3-1:0]), .fixed(fixed[3]), .lost(lost[3]));
    inc_ecc_out #(.BITS(B4), .KIND(1), .FRAME(4), .CODE(C4)) u_out4 (.clk(clk), .rst(rst), .re(re), .code(kept4), .word(word4[B4-1:0]), .fixed(fixed[4]), .lost(lost[4]));

endmodule

`default_nettype wire
