// SPDX-License-Identifier: Apache-2.0
//
// inc_lanes: one adder a 32-bit element of a word, side by side.
//
// Contract
//   arithmetic  INT32 SUM, two's complement, wraps; bytes of an element are reversed on the way in and out when big_endian is set
//   latency     0 cycles: combinational from a and b to sum
//   throughput  1 sum per cycle
//   stall       none
//   reset       none
//   not done    no other type or operation yet; dtype and op are the caller's to check
`default_nettype none

module inc_lanes #(
    // number of elements, at least 1
    parameter LANES = 2
) (
    input  wire                big_endian,
    input  wire [32*LANES-1:0] a,
    input  wire [32*LANES-1:0] b,
    output wire [32*LANES-1:0] sum
);

`ifndef __ICARUS__
    generate
        if (LANES < 1) begin : gen_bad_lanes
            $error("inc_lanes: LANES must be at least 1");
        end
    endgenerate
`endif

    genvar i;
    generate
        for (i = 0; i < LANES; i = i + 1) begin : gen_lane
            wire [31:0] wire_a = a[32*i +: 32];
            wire [31:0] wire_b = b[32*i +: 32];
            wire [31:0] x = big_endian ? {wire_a[7:0], wire_a[15:8], wire_a[23:16], wire_a[31:24]} : wire_a;
            wire [31:0] y = big_endian ? {wire_b[7:0], wire_b[15:8], wire_b[23:16], wire_b[31:24]} : wire_b;
            wire [31:0] z = x + y;
            assign sum[32*i +: 32] = big_endian ? {z[7:0], z[15:8], z[23:16], z[31:24]} : z;
        end
    endgenerate

endmodule

`default_nettype wire
