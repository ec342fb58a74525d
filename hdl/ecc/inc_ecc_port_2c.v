// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_port_2c: memory with a write port on one clock and a read port on another for the frames of a port's queue, and check bits.
//
// Contract
//   latency     1 cycle of rclk from re and raddr to rdata, as of inc_ram_2c, of which there is one inside with the check bits in its words
//   throughput  one write a cycle of wclk and one read a cycle of rclk
//   stall       rdata and ecc_err hold while re is low
//   check bits  added before the write and taken off behind the read, in the same cycle: inc_ecc_in, inc_ecc_out
//   beats       a word is {last, the last byte that counts, data}, of which the data are a power of two of bits. It is stored with ecc_mark, the
//               frame's err; last, byte and err are stored twice
//   single      one wrong bit of a codeword is corrected in what is read; the memory keeps it
//   double      two are found: ecc_err is high with that word and all later ones of its frame; where the frame ends is right
//   ecc_err     the frame has err: a word of it was lost, or was written with ecc_mark
//   ecc_fixed   and ecc_lost: a cycle each read of which something was corrected, or lost; of rclk, as ecc_err
//   ecc_rst     while it is high nothing has been read. Of rclk; ecc_mark is of wclk
//   reset       none; the contents are unknown until written
//   not done    no scrubbing: a wrong bit stays until its word is written
`default_nettype none

module inc_ecc_port_2c #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 18,
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
    output wire [BITS-1:0]   rdata,

    input  wire              ecc_mark,
    input  wire              ecc_rst,
    output wire              ecc_fixed,
    output wire              ecc_lost,
    output wire              ecc_err
);

    localparam DATA = 1 << ($clog2(BITS + 1) - 1);
    localparam SIDE = BITS + 1 - DATA;     // what is stored twice
    localparam REST = DATA % 128;
    localparam CODE = DATA + DATA / 128 * 9 + (REST == 0 ? 0 : REST <= 32 ? 7 : REST <= 64 ? 8 : 9) + 2 * (SIDE + 7);

    wire [CODE-1:0] encoded, stored;

    inc_ecc_in #(.BITS(BITS + 1), .FRAME(SIDE), .CODE(CODE)) u_in (
        .data ({ecc_mark, wdata}),
        .code (encoded)
    );

    inc_ram_2c #(.WORDS(WORDS), .BITS(CODE), .ADDR_W(ADDR_W)) u_ram (
        .wclk  (wclk),
        .we    (we),
        .waddr (waddr),
        .wdata (encoded),
        .rclk  (rclk),
        .re    (re),
        .raddr (raddr),
        .rdata (stored)
    );

    inc_ecc_out #(.BITS(BITS + 1), .KIND(1), .FRAME(SIDE), .CODE(CODE)) u_out (
        .clk   (rclk),
        .rst   (ecc_rst),
        .re    (re),
        .code  (stored),
        .word  ({ecc_err, rdata}),
        .fixed (ecc_fixed),
        .lost  (ecc_lost)
    );

endmodule

`default_nettype wire
