// SPDX-License-Identifier: Apache-2.0
//
// inc_ram_2c: memory with a write port on one clock and a read port on another.
//
// Contract
//   latency     1 cycle of rclk from re and raddr to rdata
//   throughput  one write a cycle of wclk and one read a cycle of rclk
//   stall       rdata holds while re is low
//   collision   a word must not be read until a cycle of wclk behind its write: whoever has the memory sees to that
//   reset       none; the contents are unknown until written
//   not done    no byte enables, no error correction; to use a foundry macro, replace this file
`default_nettype none

module inc_ram_2c #(
    // number of words, at least 2
    parameter WORDS  = 16,
    // bits of a word, at least 1
    parameter BITS   = 8,
    // bits of an address; 2**ADDR_W >= WORDS
    parameter ADDR_W = 4,
    // how the array is built: 0 as the tool chooses, but tables of up to 64 words from distributed RAM; 1 block RAM; 2 registers
    parameter STYLE  = 0
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

`ifndef __ICARUS__
    generate
        if (WORDS < 2) begin : gen_bad_words
            $error("inc_ram_2c: WORDS must be at least 2");
        end
        if (BITS < 1) begin : gen_bad_bits
            $error("inc_ram_2c: BITS must be at least 1");
        end
        if (STYLE < 0 || STYLE > 2) begin : gen_bad_style
            $error("inc_ram_2c: STYLE must be 0, 1 or 2");
        end
        if (ADDR_W < 1 || ADDR_W > 30 || (1 << ADDR_W) < WORDS) begin : gen_bad_addr_w
            $error("inc_ram_2c: 2**ADDR_W must be at least WORDS");
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
            always @(posedge wclk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
            end
            always @(posedge rclk) begin
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (STYLE == 1) begin : gen_block
            (* ram_style = "block" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge wclk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
            end
            always @(posedge rclk) begin
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else if (WORDS <= 64) begin : gen_table
            (* ram_style = "distributed" *)
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge wclk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
            end
            always @(posedge rclk) begin
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end else begin : gen_array
            reg [BITS-1:0] mem [0:WORDS-1];
            always @(posedge wclk) begin
                if (we) begin
                    mem[waddr] <= wdata;
                end
            end
            always @(posedge rclk) begin
                if (re) begin
                    rdata_reg <= mem[raddr];
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
