// SPDX-License-Identifier: Apache-2.0
//
// inc_check_pipe_sva: a frame that is not committed changes nothing; nobody contributes, and nothing is sent, without a role; a frame and an
// action never take effect together; what is pushed finds room; every frame is counted as one thing.
`default_nettype none

module inc_check_pipe_sva #(
    parameter MASK_W = 5,
    parameter COUNTERS = 53,
    parameter C_RX_FRAMES = 0,
    parameter C_BYPASS = 1,
    parameter C_UP_DATA = 2,
    parameter C_AGG = 3,
    parameter C_BUFFERED = 4,
    parameter C_TX_RESULT = 5,
    parameter C_DOWN_DATA = 6,
    parameter C_RX_ACK = 7,
    parameter C_RX_NAK = 8,
    parameter C_RX_RNR = 9,
    parameter C_RX_CNP = 10,
    parameter C_DROP_FOREIGN = 11,
    parameter C_DROP_SYNDROME = 12,
    parameter C_DROP_GAP = 13,
    parameter C_DROP_SHAPE = 14,
    parameter C_DROP_RANGE = 15,
    parameter C_DROP_BAD_CONTROL = 16,
    parameter C_DROP_CONTROL = 17,
    parameter C_DROP_STALE_ACK = 18,
    parameter C_RX_DUPLICATE = 19,
    parameter C_DOWN_TAKEN = 20,
    parameter C_DROP_FULL = 21
) (
    input wire                clk,
    input wire                rst,

    input wire                c_valid,
    input wire [MASK_W-1:0]   c_self,
    input wire                c_up,
    input wire [MASK_W-1:0]   c_in_mask,
    input wire [MASK_W-1:0]   c_parent_mask,
    input wire [MASK_W-1:0]   c_outs,
    input wire                c_leaves,
    input wire                vrd_valid,
    input wire                vrd_pop,
    input wire                good,
    input wire                rcv_go,
    input wire                rcv_duplicate,
    input wire                rcv_gap,
    input wire                rcv_full,
    input wire                rcv_accept,
    input wire                ans_ack,
    input wire                ans_nak,
    input wire                ans_rnr,
    input wire                x_busy,
    input wire                x_acts,
    input wire                r_valid,
    input wire                whole_pipe,
    input wire [MASK_W-1:0]   x_outs,
    input wire [MASK_W-1:0]   rt_keep,
    input wire                t_fused,
    input wire                tails_we,
    input wire                ctx_we,
    input wire                sents_we,
    input wire                heads_we,
    input wire                d2_valid,
    input wire                wr_en,
    input wire [MASK_W-1:0]   wr_mask,
    input wire                ack_we,
    input wire                ack_lift,
    input wire                ctl_open,
    input wire                cm_we,
    input wire                tx_room,
    input wire                tx_valid,
    input wire [MASK_W-1:0]   tx_mask,
    input wire                work_held,
    input wire                work_put,
    input wire                work_commits,
    input wire                work_kills,
    input wire                init_valid,
    input wire                init_take,
    input wire [COUNTERS-1:0] count
);

    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    // what a frame was: one thing, and what data came to
    reg [5:0] things, outcomes;
    integer   n;
    always @* begin
        things   = {5'd0, count[C_BYPASS]} + {5'd0, count[C_UP_DATA]} + {5'd0, count[C_DOWN_DATA]} + {5'd0, count[C_RX_ACK]}
                   + {5'd0, count[C_RX_NAK]} + {5'd0, count[C_RX_RNR]} + {5'd0, count[C_RX_CNP]} + {5'd0, count[C_DROP_RANGE]}
                   + {5'd0, count[C_DROP_BAD_CONTROL]} + {5'd0, count[C_DROP_CONTROL]} + {5'd0, count[C_DROP_STALE_ACK]};
        for (n = C_DROP_FOREIGN; n <= C_DROP_SYNDROME; n = n + 1) begin
            things = things + {5'd0, count[n]};
        end
        outcomes = {5'd0, count[C_AGG]} + {5'd0, count[C_DOWN_TAKEN]} + {5'd0, count[C_RX_DUPLICATE]} + {5'd0, count[C_DROP_GAP]}
                   + {5'd0, count[C_DROP_SHAPE]} + {5'd0, count[C_DROP_FULL]};
    end

    wire [2:0] kinds   = {2'd0, rcv_duplicate} + {2'd0, rcv_gap} + {2'd0, rcv_full} + {2'd0, rcv_accept};
    wire [1:0] answers = {1'b0, ans_ack} + {1'b0, ans_nak} + {1'b0, ans_rnr};

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : verdict_is_there assert (!vrd_pop || (vrd_valid && c_valid)); end
            begin : somebody_leaves assert (!c_leaves || c_valid); end
            begin : frame_or_action assert (!(c_leaves && x_busy)); end
            begin : dropped_changes_nothing assert (good || !(tails_we || ctx_we || wr_en || ack_we || ack_lift || ctl_open)); end
            begin : sent_by_somebody assert (good || x_acts || !(sents_we || cm_we)); end
            begin : start_moves_by_an_acknowledgement assert (good || d2_valid || !heads_we); end
            begin : one_kind assert (!rcv_go || kinds <= 3'd1); end
            begin : one_answer assert (!good || answers <= 2'd1); end
            begin : contributes_by_role assert (!(wr_en && c_up) || (c_self & c_in_mask) != NOBODY); end
            begin : parent_by_role assert (!wr_en || c_up || (c_self & c_parent_mask) != NOBODY); end
            begin : contribution_is_noted assert (!(wr_en && c_up) || (c_self != NOBODY && (c_self & ~wr_mask) == NOBODY)); end
            begin : result_by_role assert (!(good && t_fused) || (rt_keep & ~c_outs) == NOBODY); end
            begin : pipe_sends_by_role assert (!(x_acts && whole_pipe) || (rt_keep & ~x_outs) == NOBODY); end
            begin : somebody_gets_it assert (!tx_valid || tx_mask != NOBODY); end
            begin : room_for_decision assert (!tx_valid || tx_room); end
            begin : second_frame_waits assert (!(good && r_valid)); end
            begin : room_for_work assert (!work_put || !work_held); end
            begin : one_verdict assert (!(work_commits && work_kills)); end
            begin : start_waits assert (!init_take || (init_valid && !good && !x_busy)); end
            begin : counted_once assert (things == {5'd0, count[C_RX_FRAMES]}); end
            begin : data_comes_to_one assert (outcomes == {5'd0, count[C_UP_DATA]} + {5'd0, count[C_DOWN_DATA]}); end
            begin : contribution_or_result assert (count[C_AGG] == (count[C_BUFFERED] ^ count[C_TX_RESULT]) && !(count[C_BUFFERED] && count[C_TX_RESULT])); end
        end
    end

endmodule

`default_nettype wire
