// SPDX-License-Identifier: Apache-2.0
//
// inc_ram_1r1w: the one memory of the engine, one write port and one read port on one clock.
//
// Contract
//   latency     1 cycle from re and raddr to rdata
//   throughput  one write and one read per cycle
//   stall       rdata holds while re is low
//   collision   a read of the address being written returns the old word; with APART there is none, whoever has the memory sees to that
//   reset       none; the contents are unknown until written
//   not done    no byte enables, no error correction; to use a foundry macro, replace this file
`default_nettype none

module inc_ram_1r1w #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4,
    // 1: no address is read in the cycle in which it is written, so a block RAM needs no logic that finds the old word then
    parameter APART  = 0,
    // how the array is built: 0 as the tool chooses, but tables of up to 64 words from distributed RAM; 1 block RAM; 2 registers
    parameter STYLE  = 0
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
        if (WORDS < 2) begin : gen_bad_words
            $error("inc_ram_1r1w: WORDS must be at least 2");
        end
        if (BITS < 1) begin : gen_bad_bits
            $error("inc_ram_1r1w: BITS must be at least 1");
        end
        if (STYLE < 0 || STYLE > 2) begin : gen_bad_style
            $error("inc_ram_1r1w: STYLE must be 0, 1 or 2");
        end
        if (APART < 0 || APART > 1) begin : gen_bad_apart
            $error("inc_ram_1r1w: APART must be 0 or 1");
        end
        if (ADDR_W < 1 || ADDR_W > 30 || (1 << ADDR_W) < WORDS) begin : gen_bad_addr_w
            $error("inc_ram_1r1w: 2**ADDR_W must be at least WORDS");
        end
    endgenerate
`endif

    reg [BITS-1:0] rdata_reg;

    assign rdata = rdata_reg;

    // The same memory each time: an attribute cannot be chosen otherwise. Those of APART are Yosys' and Vivado's.
    generate
        if (STYLE == 2) begin : gen_registers
            (* ram_style = "registers" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (STYLE == 1 && APART != 0) begin : gen_block_apart
            (* ram_style = "block", no_rw_check, rw_addr_collision = "no" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (STYLE == 1) begin : gen_block
            (* ram_style = "block" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (WORDS <= 64) begin : gen_table
            (* ram_style = "distributed" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (APART != 0) begin : gen_apart
            (* no_rw_check, rw_addr_collision = "no" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else begin : gen_array
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
