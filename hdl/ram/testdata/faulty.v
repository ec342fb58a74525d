// SPDX-License-Identifier: Apache-2.0
//
// inc_mem_payload_2p with cells that are always wrong, of rows of codewords of CODE bits: bit 37a mod BITS of each row a = 1 mod 4, two
// bits of codeword a/4 of each row a = 2 mod 4, and a bit of every codeword of each row a = 3 mod 4.
`default_nettype none

module inc_mem_payload_2p #(
    parameter WORDS  = 16,
    parameter BITS   = 8,
    parameter ADDR_W = 4,
    parameter STYLE  = 0
) (
    input  wire              clk,
    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,
    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output reg  [BITS-1:0]   rdata
);
    localparam CODE = 137;
    reg [BITS-1:0] mem [0:WORDS-1];
    reg [BITS-1:0] wrong;
    integer i;
    always @* begin
        wrong = {BITS{1'b0}};
        case (raddr % 4)
            1: wrong[(37 * raddr) % BITS] = 1'b1;
            2: begin
                wrong[(raddr / 4) * CODE % BITS + raddr % 100] = 1'b1;
                wrong[(raddr / 4) * CODE % BITS + CODE - 1 - raddr % 30] = 1'b1;
            end
            3: for (i = 0; i < BITS; i = i + CODE) wrong[i + 2 * raddr % CODE] = 1'b1;
            default: ;
        endcase
    end
    always @(posedge clk) begin
        if (we) mem[waddr] <= wdata;
        if (re) rdata <= mem[raddr] ^ wrong;
    end
endmodule

`default_nettype wire
