// SPDX-License-Identifier: Apache-2.0
//
// inc_gate: high while all of its inputs are.
//
// Contract
//   latency     0 cycles: combinational
//   throughput  follows its inputs
//   stall       never
//   reset       none
//   not done    nothing is kept: an input that falls lowers the output at once
`default_nettype none

module inc_gate #(
    // number of inputs, at least 1
    parameter WIDTH = 2
) (
    input  wire [WIDTH-1:0] each,
    output wire             all
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_gate: WIDTH must be at least 1");
        end
    endgenerate
`endif

    assign all = &each;

endmodule

`default_nettype wire
