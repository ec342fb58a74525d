// SPDX-License-Identifier: Apache-2.0
//
// t_words: WORDS words, read before they are written.
`default_nettype none

module t_words #(
    parameter WIDTH = 8,
    parameter WORDS = 4
) (
    input  wire                     clk,
    input  wire [$clog2(WORDS)-1:0] addr,
    output wire [WIDTH-1:0]         rdata,
    input  wire [WIDTH-1:0]         wdata
);

    reg [WIDTH-1:0] mem [0:WORDS-1];

    assign rdata = mem[addr];

    always @(posedge clk) begin
        mem[addr] <= wdata;
    end

endmodule

`default_nettype wire
