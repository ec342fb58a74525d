// SPDX-License-Identifier: Apache-2.0
//
// inc_fifo_sva: nothing is pushed into a full queue or popped from an empty one; places and count agree.
`default_nettype none

module inc_fifo_sva #(
    parameter DEPTH_W = 4
) (
    input wire               clk,
    input wire               rst,

    input wire               push,
    input wire               pop,
    input wire [DEPTH_W-1:0] head_reg,
    input wire [DEPTH_W-1:0] tail_reg,
    input wire [DEPTH_W:0]   count_reg
);

    localparam [DEPTH_W:0] FULL = {1'b1, {DEPTH_W{1'b0}}};
    wire [DEPTH_W-1:0] apart = tail_reg - head_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : no_overflow assert (!push || pop || count_reg != FULL); end
            begin : no_underflow assert (!pop || count_reg != {(DEPTH_W+1){1'b0}}); end
            begin : count_in_range assert (count_reg <= FULL); end
            begin : places_agree assert (apart == count_reg[DEPTH_W-1:0]); end
        end
    end

endmodule

`default_nettype wire
