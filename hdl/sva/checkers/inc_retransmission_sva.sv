// SPDX-License-Identifier: Apache-2.0
//
// inc_retransmission_sva: nobody stands in the queue twice, so that it never overflows; a commit is of one kind, of what was looked at; an
// action stands still until it is done; no timer runs of who waits or has failed, and who does lags.
`default_nettype none

module inc_retransmission_sva #(
    parameter EI_W = 4,
    parameter MASK_W = 5,
    parameter QUEUE = 18,
    parameter QUEUE_W = 5
) (
    input wire               clk,
    input wire               rst,

    input wire               rt_rd,
    input wire               cm_we,
    input wire               cm_ack,
    input wire               cm_send,
    input wire               cm_one,
    input wire               cm_timeout,
    input wire               cm_resume,
    input wire               cm_open,
    input wire               cm_drop,
    input wire               cm_data,
    input wire               act_valid,
    input wire               act_done,
    input wire               act_timer,
    input wire               act_pipe,
    input wire [EI_W-1:0]    act_ei,
    input wire               init_valid,
    input wire               init_we,
    input wire               init_clean,
    input wire               pipe_comes,
    input wire               late_reg,
    input wire [QUEUE_W-1:0] tail_reg,
    input wire [QUEUE_W-1:0] head_reg,
    input wire [QUEUE_W-1:0] done_reg,
    input wire               side_we,
    input wire [MASK_W-1:0]  on_next,
    input wire [MASK_W-1:0]  waits_next,
    input wire [MASK_W-1:0]  failed_next,
    input wire [MASK_W-1:0]  lag_next
);

    localparam [QUEUE_W-1:0] PLACES = QUEUE[QUEUE_W-1:0];
    localparam [MASK_W-1:0]  NOBODY = {MASK_W{1'b0}};
    wire [QUEUE_W-1:0] stand = tail_reg - done_reg;
    wire [QUEUE_W-1:0] shown = head_reg - done_reg;
    wire [2:0]         kinds = {2'd0, cm_ack} + {2'd0, cm_one} + {2'd0, cm_timeout} + {2'd0, cm_resume} + {2'd0, cm_drop}
                               + {2'd0, cm_open || cm_data || cm_send};
    reg                open_reg, aged_reg, waits_reg, timer_reg, pipe_reg;
    reg [EI_W-1:0]     ei_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg  <= live_reg || rst;
        open_reg  <= !rst && (rt_rd || (open_reg && !cm_we));
        aged_reg  <= open_reg && !rt_rd;
        waits_reg <= !rst && act_valid && !act_done;
        timer_reg <= act_timer;
        pipe_reg  <= act_pipe;
        ei_reg    <= act_ei;
        if (live_reg && !rst) begin
            begin : no_overflow assert (stand <= PLACES); end
            begin : shown_in_order assert (shown <= stand); end
            begin : one_joins assert (!(pipe_comes && late_reg)); end
            begin : one_kind assert (!cm_we || kinds <= 3'd1); end
            begin : after_a_look assert (!cm_we || (open_reg && aged_reg)); end
            begin : action_is_there assert (!act_done || act_valid); end
            begin : action_stands_still assert (!waits_reg || (act_valid && {act_timer, act_pipe, act_ei} == {timer_reg, pipe_reg, ei_reg})); end
            begin : start_is_clean assert (!init_we || (init_valid && init_clean && !cm_we)); end
            begin : timer_by_reason assert (!side_we || (on_next & (waits_next | failed_next)) == NOBODY); end
            begin : who_waits_lags assert (!side_we || ((waits_next | failed_next) & ~lag_next) == NOBODY); end
        end
    end

endmodule

`default_nettype wire
