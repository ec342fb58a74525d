// SPDX-License-Identifier: Apache-2.0
//
// f_lane: what is proved of inc_lane, with all types and operations, for any two operands. PROPERTY says which: 0 the result is
// what the definition says (of all but FP32 SUM), 1 to 5 are of FP32 SUM. The operation is a constant each time, so that the
// tools can see through the path.
`default_nettype none

module f_lane #(
    parameter PROPERTY = 0,
    parameter OP       = 0,
    parameter IS_INT   = 0
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

    localparam [31:0] CANONICAL = 32'h7FC00000;
    wire a_nan = a[30:0] > 31'h7F800000;
    wire b_nan = b[30:0] > 31'h7F800000;
    wire a_inf = a[30:0] == 31'h7F800000;
    wire b_inf = b[30:0] == 31'h7F800000;

    generate
        if (PROPERTY == 0) begin : gen_definition
            // keys that order all numbers: INT32, and FP32 as IEEE 754-2019 minimum and maximum do
            wire [31:0] a_key = IS_INT != 0 ? a ^ 32'h80000000 : a[31] ? ~a : a ^ 32'h80000000;
            wire [31:0] b_key = IS_INT != 0 ? b ^ 32'h80000000 : b[31] ? ~b : b ^ 32'h80000000;
            always @* if (there) begin
                if (IS_INT == 0 && (a_nan || b_nan)) assert (y == CANONICAL);
                else if (OP == 0)                    assert (y == a + b);
                else if (OP == 1)                    assert (y == (a_key < b_key ? a : b));
                else                                 assert (y == (a_key > b_key ? a : b));
            end
        end else if (PROPERTY == 1) begin : gen_commutes
            wire [31:0] z;
            inc_lane #(.STAGES(1)) u_swapped (.clk(clk), .en(1'b1), .op(CODE), .is_int(1'b0), .a(b), .b(a), .y(z));
            always @* if (there) assert (y == z);
        end else if (PROPERTY == 2) begin : gen_neutral
            // -0 is neutral for any operand, +0 for any but -0
            always @* assume (b[30:0] == 31'd0);
            always @* if (there) begin
                if (a_nan)                            assert (y == CANONICAL);
                else if (a == 32'h80000000 && !b[31]) assert (y == 32'd0);
                else                                  assert (y == a);
            end
        end else if (PROPERTY == 3) begin : gen_special
            wire nan = a_nan || b_nan || (a_inf && b_inf && a[31] != b[31]);
            always @* if (there) begin
                if (nan)        assert (y == CANONICAL);
                else if (a_inf) assert (y == a);
                else if (b_inf) assert (y == b);
                else            assert (y[30:0] <= 31'h7F800000);
            end
        end else if (PROPERTY == 4) begin : gen_sign
            // the sign of the larger magnitude; an exact zero of opposite signs is +0
            always @* assume (!a_nan && !b_nan && !(a_inf && b_inf));
            always @* if (there) begin
                if (a[31] == b[31] || a[30:0] > b[30:0]) assert (y[31] == a[31]);
                else if (a[30:0] < b[30:0])              assert (y[31] == b[31]);
                else                                     assert (y == 32'd0);
            end
        end else begin : gen_exponent
            // of equal signs the larger exponent or the one above, of opposite signs none above it
            wire [7:0] larger = a[30:23] > b[30:23] ? a[30:23] : b[30:23];
            always @* assume (larger != 8'hFF);
            always @* if (there) begin
                if (a[31] == b[31]) assert (y[30:23] == larger || y[30:23] == larger + 8'd1);
                else                assert (y[30:23] <= larger);
            end
        end
    endgenerate

endmodule

`default_nettype wire
