// SPDX-License-Identifier: Apache-2.0
//
// inc_mem_bypass as its contract says, with a second read port for the proofs. That the real one keeps the contract is tested
// in its own folder.
module inc_mem_bypass #(
    parameter WORDS  = 16,
    parameter BITS   = 8,
    parameter ADDR_W = 4
) (
    input  wire              clk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output reg  [BITS-1:0]   rdata,

    input  wire [ADDR_W-1:0] f_at,
    output wire [BITS-1:0]   f_word
);
    reg [BITS-1:0] mem [0:WORDS-1];
    assign f_word = mem[f_at];
    always @(posedge clk) begin
        if (we) mem[waddr] <= wdata;
        if (re) rdata <= mem[raddr];
    end
endmodule
