// SPDX-License-Identifier: Apache-2.0
//
// f_watched stands in proofs where inc_ram_1r1w stands in the design: of all its words it keeps one, at a place that does not change, as the
// RAM's contract says, or in that of a table of two ports. A read of any other word gives anything. So what is proven with it holds of every word, whatever is in the others.
module f_watched #(
    parameter WORDS    = 16,
    parameter BITS     = 8,
    parameter ADDR_W   = 4,
    parameter STYLE    = 0,
    parameter ONE_PORT = 0
) (
    input  wire              clk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire [BITS-1:0]   rdata,

    input  wire [ADDR_W-1:0] f_at,
    output wire [BITS-1:0]   f_word
);
    (* anyseq *) reg [BITS-1:0] any;
    reg [BITS-1:0] word_reg, rdata_reg;

    assign f_word = word_reg;
    assign rdata  = rdata_reg;

    always @(posedge clk) begin
        if (we && waddr == f_at) begin
            word_reg <= wdata;
        end
        if (re) begin
            rdata_reg <= raddr == f_at ? word_reg : any;
        end
    end
endmodule
