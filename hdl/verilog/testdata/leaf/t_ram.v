// SPDX-License-Identifier: Apache-2.0
//
// t_ram: one write port, one read port, 32-bit words.
`default_nettype none

module t_ram #(
    parameter ADDR_W = 4
) (
    input  wire              clk,
    input  wire [ADDR_W-1:0] raddr,
    output reg  [31:0]       rdata,
    input  wire              wen,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [31:0]       wdata
);

    reg [31:0] mem [0:(1 << ADDR_W)-1];

    always @(posedge clk) begin
        rdata <= mem[raddr];
        if (wen) begin
            mem[waddr] <= wdata;
        end
    end

endmodule

`default_nettype wire
