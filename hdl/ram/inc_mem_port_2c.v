// SPDX-License-Identifier: Apache-2.0
//
// inc_mem_port_2c: frames in the queues of ports that have a clock of their own. Replace this file to use foundry macros: docs/memories.md.
//
// Contract
//   latency     1 cycle of rclk from re and raddr to rdata
//   throughput  one write a cycle of wclk and one read a cycle of rclk
//   stall       rdata holds while re is low
//   collision   a word is not read until a cycle of wclk behind its write
//   reset       none; the contents are unknown until written
//   not done    no error correction
`default_nettype none

module inc_mem_port_2c #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4
) (
    input  wire              wclk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,

    input  wire              rclk,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS-1:0]   rdata
);

    inc_ram_2c #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W)) u_ram (
        .wclk  (wclk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .rclk  (rclk),
        .re    (re),
        .raddr (raddr),
        .rdata (rdata)
    );

endmodule

`default_nettype wire
