// SPDX-License-Identifier: Apache-2.0
//
// clocks: counts two clocks, and takes a value of one into the other.
module clocks (
    input  wire        clk,
    input  wire        rst,
    input  wire        clk_b,
    input  wire [7:0]  b_in,
    output reg  [7:0]  b_out,
    output reg  [31:0] a_count,
    output reg  [31:0] b_count,
    output reg  [31:0] b_of_a
);
    always @(posedge clk) a_count <= rst ? 0 : a_count + 1;
    always @(posedge clk_b) begin
        b_out   <= b_in;
        b_count <= b_count + 1;
        b_of_a  <= a_count;
    end
endmodule
