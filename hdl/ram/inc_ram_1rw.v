// SPDX-License-Identifier: Apache-2.0
//
// inc_ram_1rw: memory with one port that reads or writes, on one clock.
//
// Contract
//   latency     1 cycle from en without we to rdata
//   throughput  one access per cycle
//   stall       rdata holds while nothing is read: without en, and during a write
//   reset       none; the contents are unknown until written
//   not done    no byte enables, no error correction; to use a foundry macro, replace this file or the wrapper above it
`default_nettype none

module inc_ram_1rw #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4,
    // how the array is built: 0 as the tool chooses, but tables of up to 64 words from distributed RAM; 1 block RAM; 2 registers
    parameter STYLE  = 0
) (
    input  wire              clk,

    input  wire              en,
    input  wire              we,
    input  wire [ADDR_W-1:0] addr,
    input  wire [BITS-1:0]   wdata,
    output wire [BITS-1:0]   rdata
);

`ifndef __ICARUS__
    generate
        if (WORDS < 2) begin : gen_bad_words
            $error("inc_ram_1rw: WORDS must be at least 2");
        end
        if (BITS < 1) begin : gen_bad_bits
            $error("inc_ram_1rw: BITS must be at least 1");
        end
        if (STYLE < 0 || STYLE > 2) begin : gen_bad_style
            $error("inc_ram_1rw: STYLE must be 0, 1 or 2");
        end
        if (ADDR_W < 1 || ADDR_W > 30 || (1 << ADDR_W) < WORDS) begin : gen_bad_addr_w
            $error("inc_ram_1rw: 2**ADDR_W must be at least WORDS");
        end
    endgenerate
`endif

    reg [BITS-1:0] rdata_reg;

    assign rdata = rdata_reg;

    // The same memory each time: an attribute cannot be chosen otherwise.
    generate
        if (STYLE == 2) begin : gen_registers
            (* ram_style = "registers" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (en) begin
                    if (we) begin
                        mem[addr] <= wdata;
                    end else begin
                        rdata_reg <= mem[addr];
                    end
                end
            end
        end else if (STYLE == 1) begin : gen_block
            (* ram_style = "block" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (en) begin
                    if (we) begin
                        mem[addr] <= wdata;
                    end else begin
                        rdata_reg <= mem[addr];
                    end
                end
            end
        end else if (WORDS <= 64) begin : gen_table
            (* ram_style = "distributed" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (en) begin
                    if (we) begin
                        mem[addr] <= wdata;
                    end else begin
                        rdata_reg <= mem[addr];
                    end
                end
            end
        end else begin : gen_array
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge clk) begin
                if (en) begin
                    if (we) begin
                        mem[addr] <= wdata;
                    end else begin
                        rdata_reg <= mem[addr];
                    end
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
