// SPDX-License-Identifier: Apache-2.0
//
// inc_packet_buffer_sva: a word finds a place, a read finds a word, a verdict that is taken is there; the oldest word moves forward over words
// that have come.
`default_nettype none

module inc_packet_buffer_sva #(
    parameter ADDR_W = 9
) (
    input wire              clk,
    input wire              rst,

    input wire              pay_valid,
    input wire              vrd_valid,
    input wire              vrd_pop,
    input wire              rd_en,
    input wire [ADDR_W-1:0] rd_addr,
    input wire [ADDR_W-1:0] oldest,
    input wire [ADDR_W-1:0] tail_reg
);

    reg               before_reg;
    reg  [ADDR_W-1:0] oldest_reg, used_reg;
    wire [ADDR_W-1:0] used  = tail_reg - oldest;
    wire [ADDR_W-1:0] ahead = rd_addr - oldest;
    wire [ADDR_W-1:0] moved = oldest - oldest_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg   <= live_reg || rst;
        before_reg <= !rst;
        oldest_reg <= oldest;
        used_reg   <= used + {{(ADDR_W-1){1'b0}}, pay_valid};
        if (live_reg && !rst) begin
            begin : no_overflow assert (!pay_valid || used != {ADDR_W{1'b1}}); end
            begin : reads_a_word assert (!rd_en || ahead < used); end
            begin : verdict_is_there assert (!vrd_pop || vrd_valid); end
            begin : oldest_moves_on assert (!before_reg || moved <= used_reg); end
        end
    end

endmodule

`default_nettype wire
