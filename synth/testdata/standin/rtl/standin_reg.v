// SPDX-License-Identifier: Apache-2.0
//
// A register with enable and synchronous reset, used in two widths.
module standin_reg #(parameter WIDTH = 8) (
    input  wire             clk, rst, en,
    input  wire [WIDTH-1:0] d,
    output reg  [WIDTH-1:0] q
);
    always @(posedge clk)
        if (rst) q <= {WIDTH{1'b0}};
        else if (en) q <= d;
endmodule
