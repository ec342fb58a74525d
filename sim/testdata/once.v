// SPDX-License-Identifier: Apache-2.0

// Three stages behind each other: what is ready comes back through all of them in one cycle, what is counted goes through a register in each.
// One bit chooses a long vector.
module once (
    input  wire         clk,
    input  wire         rst,
    input  wire [99:0]  a,
    input  wire         ready,
    output wire         asks,
    output wire [99:0]  y,
    output wire [7:0]   held,
    output wire [2100:0] wide
);
    wire [99:0] first, second;
    wire [2:0]  open;
    wire [7:0]  counts [0:2];

    assign asks = open[0];
    assign wide = {2101{asks}} & {second[99:1], {2002{second[0]}}};
    assign held = counts[0] ^ counts[1] ^ counts[2];

    stage u_first (.clk(clk), .rst(rst), .a(a), .ready(open[1]), .asks(open[0]), .y(first), .held(counts[0]));
    stage u_second (.clk(clk), .rst(rst), .a(first), .ready(open[2]), .asks(open[1]), .y(second), .held(counts[1]));
    stage u_third (.clk(clk), .rst(rst), .a(second), .ready(ready), .asks(open[2]), .y(y), .held(counts[2]));
endmodule
