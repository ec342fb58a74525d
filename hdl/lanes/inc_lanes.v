// SPDX-License-Identifier: Apache-2.0
//
// inc_lanes: a word of 32-bit elements, a lane for each.
//
// Contract
//   arithmetic  that of inc_lane: y element i is a element i and b element i by the same op and type
//   latency     STAGES cycles with en high, from op, is_int, a and b to y
//   throughput  one word per cycle
//   stall       every register, y included, holds while en is low
//   reset       none; y is unknown until STAGES cycles with en have passed
//   not done    elements are in the lane's byte order; an op or type that is not included gives the result of one that is
`default_nettype none

module inc_lanes #(
    // number of elements, 1 to 1024
    parameter LANES  = 2,
    // registers from input to output, the last one at y; 1 to 6
    parameter STAGES = 3,
    // 1: the type is included
    parameter FP     = 1,
    parameter INT    = 1,
    // 1: the operation is included
    parameter SUM    = 1,
    parameter MIN    = 1,
    parameter MAX    = 1
) (
    input  wire                clk,
    input  wire                en,
    // 0 SUM, 1 MIN, 2 MAX
    input  wire [1:0]          op,
    // INT32, else FP32
    input  wire                is_int,
    input  wire [32*LANES-1:0] a,
    input  wire [32*LANES-1:0] b,
    output wire [32*LANES-1:0] y
);

`ifndef __ICARUS__
    generate
        if (LANES < 1 || LANES > 1024) begin : gen_bad_lanes
            $error("inc_lanes: LANES must be 1 to 1024");
        end
        if (STAGES < 1 || STAGES > 6) begin : gen_bad_stages
            $error("inc_lanes: STAGES must be 1 to 6");
        end
        if (FP == 0 && INT == 0) begin : gen_bad_types
            $error("inc_lanes: FP or INT must be included");
        end
        if (SUM == 0 && MIN == 0 && MAX == 0) begin : gen_bad_ops
            $error("inc_lanes: SUM, MIN or MAX must be included");
        end
    endgenerate
`endif

    genvar i;
    generate
        for (i = 0; i < LANES && LANES <= 1024; i = i + 1) begin : gen_lane
            inc_lane #(.STAGES(STAGES), .FP(FP), .INT(INT), .SUM(SUM), .MIN(MIN), .MAX(MAX)) u_lane (
                .clk(clk), .en(en), .op(op), .is_int(is_int), .a(a[32*i +: 32]), .b(b[32*i +: 32]), .y(y[32*i +: 32])
            );
        end
    endgenerate

endmodule

`default_nettype wire
