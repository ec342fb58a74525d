// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_any: high while one of its inputs is: what the memories of one kind say, in the cycle in which they say it.
//
// Contract
//   latency     0 cycles: combinational
//   throughput  follows its inputs
//   stall       never
//   reset       none
//   not done    nothing is kept
`default_nettype none

module inc_ecc_any #(
    // number of inputs, at least 1
    parameter WIDTH = 2
) (
    input  wire [WIDTH-1:0] each,
    output wire             any
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_ecc_any: WIDTH must be at least 1");
        end
    endgenerate
`endif

    assign any = |each;

endmodule

`default_nettype wire
