// SPDX-License-Identifier: Apache-2.0
//
// inc_receive_ack_sva: a commit is of one endpoint, of what was read two cycles ago at least, and comes once; its endpoint has stood still.
`default_nettype none

module inc_receive_ack_sva #(
    parameter MASK_W   = 5,
    parameter ONE_PORT = 0
) (
    input wire              clk,
    input wire              rst,

    input wire              init_valid,
    input wire              init_take,
    input wire              init_waits,
    input wire              late,
    input wire              ack_rd,
    input wire              ack_we,
    input wire              ack_lift,
    input wire [MASK_W-1:0] ack_self
);

    reg              open_reg, aged_reg;
    reg [MASK_W-1:0] self_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        open_reg <= !rst && (ack_rd || (open_reg && !ack_we && !ack_lift));
        aged_reg <= open_reg && !ack_rd;
        self_reg <= ack_self;
        if (live_reg && !rst) begin
            begin : one_of_both assert (!(ack_we && ack_lift)); end
            begin : one_endpoint assert (!ack_we || (ack_self & (ack_self - {{(MASK_W-1){1'b0}}, 1'b1})) == {MASK_W{1'b0}}); end
            begin : after_a_read assert (!(ack_we || ack_lift) || (open_reg && aged_reg)); end
            begin : no_read_with_a_lift assert (!(ack_lift && ack_rd)); end
            begin : stands_still assert (!ack_we || ack_self == self_reg); end
            begin : start_waits_for_commit assert (init_take == (init_valid && !(ack_we || ack_lift || late || (ONE_PORT != 0 && ack_rd)))); end
            begin : one_access assert (!(late && (ack_we || ack_lift || (ONE_PORT != 0 && ack_rd)))); end
            begin : start_has_its_turn assert (!(init_waits && ack_rd)); end
        end
    end

endmodule

`default_nettype wire
