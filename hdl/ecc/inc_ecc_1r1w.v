// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_1r1w: memory with one write and one read port, and check bits.
//
// Contract
//   latency     1 cycle from re and raddr to rdata, as of inc_ram_1r1w, of which there is one inside with the check bits in its words
//   throughput  one write and one read per cycle
//   stall       rdata holds while re is low
//   check bits  added before the write and taken off behind the read, in the same cycle: inc_ecc_in, inc_ecc_out
//   single      one wrong bit of a codeword is corrected in what is read; the memory keeps it
//   double      two are found: what is read then says KIND, as in inc_ecc_out
//   ecc_fixed   and ecc_lost: a cycle each read of which something was corrected, or lost
//   ecc_rst     while it is high nothing has been read
//   ecc_init    with KIND 0: while it is high, word ecc_at is written 0 in each cycle without another write, so that what was never written
//               has right check bits. Other kinds are queues, whose words are written before they are read
//   reset       none; with KIND 0 the contents are 0 after ecc_init, else unknown until written
//   not done    no scrubbing: a wrong bit stays until its word is written
`default_nettype none

module inc_ecc_1r1w #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS; at most 16
    parameter ADDR_W = 4,
    // what a lost word is, as in inc_ecc_out
    parameter KIND   = 0,
    // as of inc_ram_1r1w
    parameter STYLE  = 0,
    parameter APART  = 0
) (
    input  wire              clk,

    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,

    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS+(KIND==2?1:0)-1:0] rdata,

    input  wire              ecc_rst,
    input  wire              ecc_init,
    input  wire [15:0]       ecc_at,
    output wire              ecc_fixed,
    output wire              ecc_lost
);

`ifndef __ICARUS__
    generate
        if (ADDR_W > 16) begin : gen_bad_addr_w
            $error("inc_ecc_1r1w: ADDR_W must be at most 16");
        end
    endgenerate
`endif

    // of a frame's beat, what is above the data, which are a power of two of bits
    localparam FRAME  = KIND == 1 ? BITS - (1 << ($clog2(BITS + 1) - 1)) : 0;
    localparam DATA   = BITS - FRAME;
    localparam REST   = DATA % 128;
    localparam CODE   = DATA + DATA / 128 * 9 + (REST == 0 ? 0 : REST <= 32 ? 7 : REST <= 64 ? 8 : 9) + (FRAME == 0 ? 0 : 2 * (FRAME + 7));

    wire [CODE-1:0] encoded, stored;

    // 0 has the check bits 0
    wire [ADDR_W+15:0] place = {{ADDR_W{1'b0}}, ecc_at};
    wire               clears;
    wire [CODE-1:0]    written = encoded & {CODE{!clears}};
    generate
        if (KIND == 0) begin : gen_clears
            assign clears = ecc_init && !we && place < WORDS[ADDR_W+15:0];
        end else begin : gen_queue
            assign clears = 1'b0;
            wire unused_place = &{1'b0, ecc_init, place};
        end
    endgenerate

    inc_ecc_in #(.BITS(BITS), .FRAME(FRAME), .CODE(CODE)) u_in (
        .data (wdata),
        .code (encoded)
    );

    inc_ram_1r1w #(.WORDS(WORDS), .BITS(CODE), .ADDR_W(ADDR_W), .STYLE(STYLE), .APART(APART)) u_ram (
        .clk   (clk),
        .we    (we || clears),
        .waddr (clears ? place[ADDR_W-1:0] : waddr),
        .wdata (written),
        .re    (re),
        .raddr (raddr),
        .rdata (stored)
    );

    inc_ecc_out #(.BITS(BITS), .KIND(KIND), .FRAME(FRAME), .CODE(CODE)) u_out (
        .clk   (clk),
        .rst   (ecc_rst),
        .re    (re),
        .code  (stored),
        .word  (rdata),
        .fixed (ecc_fixed),
        .lost  (ecc_lost)
    );

endmodule

`default_nettype wire
