// SPDX-License-Identifier: Apache-2.0
//
// inc_stream_fifo_sva: nothing is pushed into a full queue or popped from an empty one; what is stored is what waits and what is shown.
`default_nettype none

module inc_stream_fifo_sva #(
    parameter DEPTH_W = 4
) (
    input wire               clk,
    input wire               rst,

    input wire               push,
    input wire               pop,
    input wire               ram_valid_reg,
    input wire               head_valid_reg,
    input wire [DEPTH_W-1:0] head_reg,
    input wire [DEPTH_W-1:0] tail_reg,
    input wire [DEPTH_W:0]   used_reg,
    input wire [DEPTH_W:0]   wait_reg
);

    localparam [DEPTH_W:0] FULL = {1'b1, {DEPTH_W{1'b0}}};
    wire [DEPTH_W-1:0] apart = tail_reg - head_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : no_overflow assert (!push || pop || used_reg != FULL); end
            begin : no_underflow assert (!pop || head_valid_reg); end
            begin : count_in_range assert (used_reg <= FULL); end
            begin : counts_agree assert (used_reg == wait_reg + {{DEPTH_W{1'b0}}, ram_valid_reg} + {{DEPTH_W{1'b0}}, head_valid_reg}); end
            begin : places_agree assert (apart == wait_reg[DEPTH_W-1:0]); end
        end
    end

endmodule

`default_nettype wire
