// SPDX-License-Identifier: Apache-2.0
//
// inc_cdc_reset: takes a reset from one clock to another that may stand still, and keeps both sides of a crossing in reset until both have
// seen it.
//
// Contract
//   latency     far_rst rises with the cycle of clk behind rst, whether far_clk runs or not, and falls with the third or fourth edge of
//               far_clk behind that of rst; near_rst rises with rst, and falls 2 to 3 cycles of clk behind far_rst
//   throughput  of rst: one cycle of clk is enough
//   stall       while far_clk stands still after a reset, near_rst stays high
//   reset       is what it makes; far_rst is high at two edges of far_clk at least before it falls
//   not done    a reset of the far side alone
`default_nettype none

module inc_cdc_reset (
    input  wire clk,
    input  wire rst,
    output wire near_rst,

    input  wire far_clk,
    output wire far_rst
);

    reg rst_reg;                           // a flip-flop has no glitch

    always @(posedge clk) begin
        rst_reg <= rst;
    end

    (* ASYNC_REG = "TRUE" *) reg [2:0] far_reg;

    always @(posedge far_clk or posedge rst_reg) begin
        if (rst_reg) begin
            far_reg <= 3'b111;
        end else begin
            far_reg <= {far_reg[1:0], 1'b0};
        end
    end

    assign far_rst = far_reg[2];

    (* ASYNC_REG = "TRUE" *) reg [1:0] near_reg;

    always @(posedge clk) begin
        near_reg <= {near_reg[0], far_reg[2]};
        if (rst) begin
            near_reg <= 2'b11;
        end
    end

    assign near_rst = rst || near_reg[1];

endmodule

`default_nettype wire
