// SPDX-License-Identifier: Apache-2.0
//
// t_lanes: a lane for every choice of types and operations, and the adder alone at every number of stages.
`default_nettype none

module t_lanes (
    input  wire             clk,
    input  wire             en,
    input  wire [1:0]       op,
    input  wire             is_int,
    input  wire [31:0]      a,
    input  wire [31:0]      b,
    // lane k: types 1 + k / 7 (FP32 1, INT32 2), operations 1 + k % 7 (SUM 1, MIN 2, MAX 4), 1 + k % 6 stages
    output wire [32*21-1:0] y_lane,
    // adder k: 1 + k stages
    output wire [32*6-1:0]  y_add
);

    genvar k;
    generate
        for (k = 0; k < 21; k = k + 1) begin : gen_lane
            inc_lane #(
                .STAGES(1 + k % 6), .FP((1 + k / 7) % 2), .INT((1 + k / 7) / 2),
                .SUM((1 + k % 7) % 2), .MIN((1 + k % 7) / 2 % 2), .MAX((1 + k % 7) / 4)
            ) u_lane (
                .clk(clk), .en(en), .op(op), .is_int(is_int), .a(a), .b(b), .y(y_lane[32*k +: 32])
            );
        end
        for (k = 0; k < 6; k = k + 1) begin : gen_add
            inc_fp32_add #(.STAGES(1 + k)) u_add (.clk(clk), .en(en), .a(a), .b(b), .y(y_add[32*k +: 32]));
        end
    endgenerate

endmodule

`default_nettype wire
