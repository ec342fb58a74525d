// SPDX-License-Identifier: Apache-2.0
//
// inc_mem_replay: payload words of results, until their last copy has left. Replace this file to use foundry macros: docs/memories.md.
//
// Contract
//   latency     1 cycle from re and raddr to rdata
//   throughput  one write and one read per cycle
//   stall       rdata holds while re is low
//   collision   no address is read in the cycle in which it is written
//   reset       none; the contents are unknown until written
//   not done    no error correction
`default_nettype none

module inc_mem_replay #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4
) (
    input  wire              clk,

    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,

    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS-1:0]   rdata
);

    inc_ram_1r1w #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W), .APART(1)) u_ram (
        .clk   (clk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .re    (re),
        .raddr (raddr),
        .rdata (rdata)
    );

endmodule

`default_nettype wire
