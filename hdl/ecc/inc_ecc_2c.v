// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_2c: memory with a write port on one clock and a read port on another, and check bits.
//
// Contract
//   latency     1 cycle of rclk from re and raddr to rdata, as of inc_ram_2c, of which there is one inside with the check bits in its words
//   throughput  one write a cycle of wclk and one read a cycle of rclk
//   stall       rdata holds while re is low
//   check bits  added before the write and taken off behind the read, in the same cycle: inc_ecc_in, inc_ecc_out
//   single      one wrong bit of a codeword is corrected in what is read; the memory keeps it
//   double      two are found: what is read then says KIND, as in inc_ecc_out
//   ecc_fixed   and ecc_lost: a cycle each read of which something was corrected, or lost
//   ecc_rst     while it is high nothing has been read. It belongs to no clock: it is high long before the first write
//   ecc_init    is not looked at: the words are written before they are read
//   reset       none; the contents are unknown until written
//   not done    no scrubbing: a wrong bit stays until its word is written
`default_nettype none

module inc_ecc_2c #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS; at most 16
    parameter ADDR_W = 4,
    // what a lost word is, as in inc_ecc_out
    parameter KIND   = 0
) (
    input  wire              wclk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,

    input  wire              rclk,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS+((KIND==2||KIND==4)?1:0)-1:0] rdata,

    input  wire              ecc_rst,
    input  wire              ecc_init,
    input  wire [15:0]       ecc_at,
    output wire              ecc_fixed,
    output wire              ecc_lost
);

`ifndef __ICARUS__
    generate
        if (ADDR_W > 16) begin : gen_bad_addr_w
            $error("inc_ecc_2c: ADDR_W must be at most 16");
        end
    endgenerate
`endif

    // of a frame's beat, what is above the data, which are a power of two of bits
    localparam FRAME  = KIND == 1 || KIND == 4 ? BITS - (1 << ($clog2(BITS + 1) - 1)) : 0;
    localparam DATA   = BITS - FRAME;
    localparam REST   = DATA % 128;
    localparam CODE   = DATA + DATA / 128 * 9 + (REST == 0 ? 0 : REST <= 32 ? 7 : REST <= 64 ? 8 : 9) + (FRAME == 0 ? 0 : 2 * (FRAME + 7));

    wire [CODE-1:0] encoded, stored;

    wire unused_at = &{1'b0, ecc_init, ecc_at};

    inc_ecc_in #(.BITS(BITS), .FRAME(FRAME), .CODE(CODE)) u_in (
        .data (wdata),
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

    inc_ecc_out #(.BITS(BITS), .KIND(KIND), .FRAME(FRAME), .CODE(CODE)) u_out (
        .clk   (rclk),
        .rst   (ecc_rst),
        .re    (re),
        .code  (stored),
        .word  (rdata),
        .fixed (ecc_fixed),
        .lost  (ecc_lost)
    );

endmodule

`default_nettype wire
