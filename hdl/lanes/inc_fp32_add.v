// SPDX-License-Identifier: Apache-2.0
//
// inc_fp32_add: the FP32 adder alone: a lane with everything else left out.
//
// Contract
//   arithmetic  IEEE 754 binary32 addition, round to nearest even, with subnormals, infinities and signed zeros; every NaN
//               result is 0x7FC00000
//   latency     STAGES cycles with en high, from a and b to y
//   throughput  one sum per cycle
//   stall       every register, y included, holds while en is low
//   reset       none; y is unknown until STAGES cycles with en have passed
//   not done    no exception flags, no other rounding
`default_nettype none

module inc_fp32_add #(
    // registers from input to output, the last one at y; 1 to 6
    parameter STAGES = 3
) (
    input  wire        clk,
    input  wire        en,
    input  wire [31:0] a,
    input  wire [31:0] b,
    output wire [31:0] y
);

`ifndef __ICARUS__
    generate
        if (STAGES < 1 || STAGES > 6) begin : gen_bad_stages
            $error("inc_fp32_add: STAGES must be 1 to 6");
        end
    endgenerate
`endif

    inc_lane #(.STAGES(STAGES), .FP(1), .INT(0), .SUM(1), .MIN(0), .MAX(0)) u_lane (
        .clk(clk), .en(en), .op(2'd0), .is_int(1'b0), .a(a), .b(b), .y(y)
    );

endmodule

`default_nettype wire
