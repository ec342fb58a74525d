// SPDX-License-Identifier: Apache-2.0
//
// f_lane: what is proved of inc_lane, with all types and operations, for any two operands: that an operation other than
// FP32 SUM is what its definition says. The operation is a constant each time, so that the tools can see through the path.
`default_nettype none

module f_lane #(
    parameter OP     = 0,
    parameter IS_INT = 0
) (
    input wire clk
);

    (* anyconst *) reg [31:0] a;
    (* anyconst *) reg [31:0] b;

    localparam [1:0] CODE = OP;
    wire [31:0] y;
    inc_lane #(.STAGES(1)) u_lane (.clk(clk), .en(1'b1), .op(CODE), .is_int(IS_INT != 0), .a(a), .b(b), .y(y));

    reg there = 1'b0;
    always @(posedge clk) there <= 1'b1;

    // keys that order all numbers: INT32, and FP32 as IEEE 754-2019 minimum and maximum do
    wire [31:0] a_key = IS_INT != 0 ? a ^ 32'h80000000 : a[31] ? ~a : a ^ 32'h80000000;
    wire [31:0] b_key = IS_INT != 0 ? b ^ 32'h80000000 : b[31] ? ~b : b ^ 32'h80000000;
    wire        nan   = IS_INT == 0 && (a[30:0] > 31'h7F800000 || b[30:0] > 31'h7F800000);

    always @* if (there) begin
        if (nan)          assert (y == 32'h7FC00000);
        else if (OP == 0) assert (y == a + b);
        else if (OP == 1) assert (y == (a_key < b_key ? a : b));
        else              assert (y == (a_key > b_key ? a : b));
        cover (y == 32'h12345678 && a != b);
    end

endmodule

`default_nettype wire
