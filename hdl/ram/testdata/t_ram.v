// SPDX-License-Identifier: Apache-2.0
//
// t_ram: memories of four sizes and all styles side by side, so that one compiled model tests them all.
`default_nettype none

module t_ram (
    input  wire         clk,
    input  wire         we,
    input  wire         re,
    input  wire [0:0]   waddr_a, raddr_a,
    input  wire [1:0]   waddr_b, raddr_b,
    input  wire [3:0]   waddr_c, raddr_c,
    input  wire [6:0]   waddr_d, raddr_d,
    input  wire [0:0]   wdata_a,
    input  wire [6:0]   wdata_b,
    input  wire [63:0]  wdata_c,
    input  wire [129:0] wdata_d,
    output wire [0:0]   rdata_a,
    output wire [6:0]   rdata_b,
    output wire [63:0]  rdata_c,
    output wire [129:0] rdata_d
);

    inc_ram_1r1w #(.WORDS(2),  .BITS(1),   .ADDR_W(1)) u_a (.clk(clk), .we(we), .waddr(waddr_a), .wdata(wdata_a), .re(re), .raddr(raddr_a), .rdata(rdata_a));
    inc_ram_1r1w #(.WORDS(3),  .BITS(7),   .ADDR_W(2), .STYLE(2)) u_b (.clk(clk), .we(we), .waddr(waddr_b), .wdata(wdata_b), .re(re), .raddr(raddr_b), .rdata(rdata_b));
    inc_ram_1r1w #(.WORDS(9),  .BITS(64),  .ADDR_W(4), .STYLE(1)) u_c (.clk(clk), .we(we), .waddr(waddr_c), .wdata(wdata_c), .re(re), .raddr(raddr_c), .rdata(rdata_c));
    inc_ram_1r1w #(.WORDS(65), .BITS(130), .ADDR_W(7)) u_d (.clk(clk), .we(we), .waddr(waddr_d), .wdata(wdata_d), .re(re), .raddr(raddr_d), .rdata(rdata_d));

endmodule

`default_nettype wire
