// SPDX-License-Identifier: Apache-2.0

// A combinational loop that never settles while `on` is high.
module loop (
    input  wire clk,
    input  wire on,
    output wire q
);
    wire a /* verilator split_var */;
    assign a = on ? ~q : 1'b0;
    assign q = a;
endmodule
