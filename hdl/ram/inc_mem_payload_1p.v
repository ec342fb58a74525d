// SPDX-License-Identifier: Apache-2.0
//
// inc_mem_payload_1p: one bank of the payload rows of all slots. Replace this file to use foundry macros: docs/memories.md.
//
// Contract
//   latency     1 cycle from en without we to rdata
//   throughput  one access per cycle
//   stall       rdata holds while nothing is read: without en, and during a write
//   reset       none; the contents are unknown until written
//   not done    check bits are the user's: they are part of the word
`default_nettype none

module inc_mem_payload_1p #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word with its check bits, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4,
    // how the array is built, as in inc_ram_1rw
    parameter STYLE  = 0
) (
    input  wire              clk,

    input  wire              en,
    input  wire              we,
    input  wire [ADDR_W-1:0] addr,
    input  wire [BITS-1:0]   wdata,
    output wire [BITS-1:0]   rdata
);

    inc_ram_1rw #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W), .STYLE(STYLE)) u_ram (
        .clk   (clk),
        .en    (en),
        .we    (we),
        .addr  (addr),
        .wdata (wdata),
        .rdata (rdata)
    );

endmodule

`default_nettype wire
