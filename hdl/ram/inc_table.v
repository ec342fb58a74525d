// SPDX-License-Identifier: Apache-2.0
//
// inc_table: a table that is read for frames and written by the control plane now and then.
//
// Contract
//   latency     1 cycle from re to rdata
//   throughput  one read and one write per cycle; with ONE_PORT one of the two
//   stall       rdata holds until the next read. With ONE_PORT the reader waits while we is high: its read would be lost
//   reset       none; the contents are unknown until written
//   not done    with ONE_PORT does not keep a read that comes with a write
`default_nettype none

module inc_table #(
    // number of words, at least 2
    parameter WORDS    = 16,
    // bits of a word, at least 1
    parameter BITS     = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W   = 4,
    // 1: a memory of one port, which takes half the area of one of two
    parameter ONE_PORT = 0,
    // 1: block RAM, however few words there are; not with ONE_PORT
    parameter BLOCK    = 0
) (
    input  wire              clk,

    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,

    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS-1:0]   rdata
);

`ifndef __ICARUS__
    generate
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_table: ONE_PORT must be 0 or 1");
        end
        if (BLOCK < 0 || BLOCK + ONE_PORT > 1) begin : gen_bad_block
            $error("inc_table: BLOCK must be 0 or 1, and 0 with ONE_PORT");
        end
    endgenerate
`endif

    generate
        if (ONE_PORT != 0) begin : gen_one
            inc_ram_1rw #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W)) u_ram (
                .clk(clk), .en(we || re), .we(we), .addr(we ? waddr : raddr), .wdata(wdata), .rdata(rdata));
        end
        if (ONE_PORT == 0 && BLOCK != 0) begin : gen_block
            inc_ram_1r1w #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W), .STYLE(1)) u_ram (
                .clk(clk), .we(we), .waddr(waddr), .wdata(wdata), .re(re), .raddr(raddr), .rdata(rdata));
        end
        if (ONE_PORT == 0 && BLOCK == 0) begin : gen_two
            inc_ram_1r1w #(.WORDS(WORDS), .BITS(BITS), .ADDR_W(ADDR_W)) u_ram (
                .clk(clk), .we(we), .waddr(waddr), .wdata(wdata), .re(re), .raddr(raddr), .rdata(rdata));
        end
    endgenerate

endmodule

`default_nettype wire
