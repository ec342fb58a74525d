// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the RAM leaf: one write and one read port (read latency 1, rdata holds while re is low;
// a read of the word being written returns the old one).
module inc_ram_1r1w #(
    parameter WORDS  = 16, // words (at least 2);
    parameter BITS   = 8,
    parameter ADDR_W = 4
) (
    input  wire              clk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output reg  [BITS-1:0]   rdata
);
    reg [BITS-1:0] mem [0:WORDS-1];
    always @(posedge clk) begin
        if (we) mem[waddr] <= wdata;
        if (re) rdata <= mem[raddr];
    end
endmodule
