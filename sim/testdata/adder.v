// SPDX-License-Identifier: Apache-2.0

// No clock. `STEP comes from an include file, `BASE from the command line.
`include "step.vh"
module adder (
    input  wire [15:0] a,
    output wire [15:0] y
);
    assign y = a + `STEP;
endmodule
