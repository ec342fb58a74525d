// SPDX-License-Identifier: Apache-2.0
//
// inc_check_message_sva: a frame that is not committed changes nothing; nobody contributes, hears or is heard without a role; a frame is one thing
// and has one answer, and never takes effect together with what SendMessage sends; what is pushed finds room; messages, their bytes and their
// slots lie where they may; every frame is counted once.
`default_nettype none

module inc_check_message_sva #(
    parameter MASK_W = 5,
    parameter SLOT_W = 4,
    parameter OFF_W = 12,
    parameter COUNTERS = 60,
    parameter C_RX_FRAMES = 0,
    parameter C_BYPASS = 1,
    parameter C_UP_DATA = 2,
    parameter C_AGG = 3,
    parameter C_BUFFERED = 4,
    parameter C_TX_RESULT = 6,
    parameter C_DOWN_DATA = 9,
    parameter C_RX_ACK = 10,
    parameter C_RX_NAK = 11,
    parameter C_RX_RNR = 12,
    parameter C_RX_CNP = 13,
    parameter C_DROP_FOREIGN = 20,
    parameter C_DROP_SYNDROME = 31,
    parameter C_DROP_GAP = 32,
    parameter C_RX_DUPLICATE = 50,
    parameter C_DOWN_TAKEN = 51,
    parameter C_DROP_FULL = 52,
    parameter C_DROP_REFUSED = 55,
    parameter C_DROP_MESSAGE_LENGTH = 59
) (
    input wire                clk,
    input wire                rst,

    input wire                vrd_valid,
    input wire                vrd_pop,
    input wire                c_valid,
    input wire                c_live,
    input wire                c_intact,
    input wire                c_passed,
    input wire                c_leaves,
    input wire                c_done,
    input wire [MASK_W-1:0]   c_self,
    input wire [MASK_W-1:0]   c_in_mask,
    input wire [MASK_W-1:0]   c_parent_mask,
    input wire                good,
    input wire                data_goes,
    input wire                rest_goes,
    input wire                d_ack,
    input wire                d_up,
    input wire                d_ends,
    input wire                d_starts,
    input wire                f_wrong_role,
    input wire                is_duplicate,
    input wire                is_gap,
    input wire                is_refused,
    input wire                is_order,
    input wire                is_segment,
    input wire                is_partial,
    input wire                is_full,
    input wire                is_size,
    input wire                is_length,
    input wire                is_taken,
    input wire                is_invalid,
    input wire                counted,
    input wire                fits,
    input wire                commits,
    input wire                completes,
    input wire                hands,
    input wire                hears,
    input wire                fuses,
    input wire [MASK_W-1:0]   f_outs,
    input wire [MASK_W-1:0]   see_keep,
    input wire                ans_ack,
    input wire                ans_nak,
    input wire                ans_rnr,
    input wire                ans_cnp,
    input wire                answers,

    input wire                end_we,
    input wire                ctx_we,
    input wire                wr_en,
    input wire [MASK_W-1:0]   wr_mask,
    input wire [SLOT_W-1:0]   wr_slot,
    input wire [23:0]         wr_tag,
    input wire [OFF_W-1:0]    to_reg,
    input wire [OFF_W-1:0]    offset_reg,
    input wire                k_root,
    input wire                k_pipe_b,
    input wire [SLOT_W-1:0]   k_base,
    input wire [SLOT_W-1:0]   k_n,
    input wire [23:0]         k_top,
    input wire [23:0]         k_lead,
    input wire [23:0]         e_message,

    input wire [SLOT_W-1:0]   m_slot,
    input wire                j_root,
    input wire                j_pipe_b,
    input wire [SLOT_W-1:0]   j_base,
    input wire [SLOT_W-1:0]   j_n,
    input wire                sends,
    input wire                acts,
    input wire                act_valid,
    input wire                q_valid,
    input wire                more_reg,
    input wire                told_reg,
    input wire                snd_acts,
    input wire                init_valid,
    input wire                init_take,

    input wire                d3_valid,
    input wire [23:0]         steps_less,
    input wire                was_root,
    input wire [SLOT_W-1:0]   was_n,
    input wire [23:0]         wipe_reg,

    input wire                tx_room,
    input wire                tx_valid,
    input wire [MASK_W-1:0]   tx_mask,
    input wire [MASK_W-1:0]   copies_asked,
    input wire                snd_tx_valid,
    input wire                snd_work_put,
    input wire                work_held,
    input wire                work_put,
    input wire                work_commits,
    input wire                work_kills,
    input wire [COUNTERS-1:0] count
);

    localparam [MASK_W-1:0] NOBODY  = {MASK_W{1'b0}};
    localparam [OFF_W-1:0]  LONGEST = {1'b1, {(OFF_W-1){1'b0}}};

    // what data is, of all kinds that every engine has; and what it is answered with
    wire [10:0] kinds   = {f_wrong_role, is_duplicate, is_gap, is_refused, is_order, is_segment, is_partial, is_full, is_size, is_length, is_taken};
    wire        one     = (kinds & (kinds - 11'd1)) == 11'd0;
    wire [2:0]  replies = {2'd0, ans_ack} + {2'd0, ans_nak} + {2'd0, ans_rnr} + {2'd0, is_invalid};
    wire [1:0]  frames  = {1'b0, commits && (answers || ans_cnp)} + {1'b0, more_reg && tx_room} + {1'b0, snd_tx_valid};

    // a slot in a pool's ring: a root's two pools are one ring of twice the size, the others lie behind each other
    function in_ring(input [SLOT_W-1:0] slot, input [SLOT_W-1:0] base, input [SLOT_W-1:0] n, input root, input second);
        reg [SLOT_W-1:0] from;
        begin
            from    = slot - base;
            in_ring = {1'b0, from} < {n, 1'b0} && (root || (from >= n) == second);
        end
    endfunction
    wire        in_pool = in_ring(wr_slot, k_base, k_n, k_root, k_pipe_b);
    wire        sent_in_pool = in_ring(m_slot, j_base, j_n, j_root, j_pipe_b);

    wire [23:0] ahead   = k_top - e_message;           // below 0: nobody may have begun it yet
    wire [23:0] steps   = steps_less + 24'd1;          // of `start`
    wire [23:0] ring    = {{(24-SLOT_W){1'b0}}, was_n} << was_root;
    wire        unused  = &{1'b0, ahead, wipe_reg};

    // what a frame was counted as, and what data came to; an answer is counted with its job, what only some engines have not here
    reg [5:0] things, outcomes;
    integer   n;
    always @* begin
        things   = {5'd0, count[C_BYPASS]} + {5'd0, count[C_UP_DATA]} + {5'd0, count[C_DOWN_DATA]} + {5'd0, count[C_RX_CNP]};
        for (n = C_DROP_FOREIGN; n <= C_DROP_SYNDROME; n = n + 1) begin
            things = things + {5'd0, count[n]};
        end
        for (n = C_DROP_REFUSED; n <= C_DROP_MESSAGE_LENGTH; n = n + 1) begin
            things = things + {5'd0, count[n]};
        end
        outcomes = {5'd0, count[C_AGG]} + {5'd0, count[C_DOWN_TAKEN]} + {5'd0, count[C_RX_DUPLICATE]} + {5'd0, count[C_DROP_GAP]}
                   + {5'd0, count[C_DROP_FULL]};
    end
    wire [2:0] heard = {2'd0, count[C_RX_ACK]} + {2'd0, count[C_RX_NAK]} + {2'd0, count[C_RX_RNR]};

    // of the cycle before, of which the counters are: a frame that is counted elsewhere, and an answer that was handed over
    reg elsewhere_reg, hands_reg;
    reg waits_reg;                          // a work has no verdict yet

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg      <= live_reg || rst;
        elsewhere_reg <= (rest_goes && d_ack) || (data_goes && (kinds == 11'd0 || (is_full && !counted)));
        hands_reg     <= !rst && hands;
        waits_reg     <= !rst && (work_put || (waits_reg && !work_commits && !work_kills));
        if (live_reg && !rst) begin
            begin : verdict_is_there assert (!vrd_pop || (vrd_valid && c_valid)); end
            begin : somebody_leaves assert (!c_leaves || c_valid); end
            begin : dropped_changes_nothing assert ((good && c_intact && c_live && c_passed) || !(commits || hands || fuses || end_we || ctx_we || wr_en)); end
            begin : contributes_by_role assert (!(wr_en && d_up) || (c_self & c_in_mask) != NOBODY); end
            begin : parent_by_role assert (!wr_en || d_up || (c_self & c_parent_mask) != NOBODY); end
            begin : heard_by_role assert (!hands || hears); end
            begin : end_is_noted assert (!(wr_en && d_ends) || (c_self != NOBODY && (c_self & ~wr_mask) == NOBODY)); end
            begin : complete_by_all assert (!(commits && completes && d_up) || (c_in_mask & ~wr_mask) == NOBODY); end
            begin : complete_in_order assert (!(commits && completes) || k_lead == 24'd0); end
            begin : result_by_role assert (!fuses || (see_keep != NOBODY && (see_keep & ~f_outs) == NOBODY)); end
            begin : one_kind assert (!data_goes || one); end
            begin : one_answer assert (!commits || replies <= 3'd1); end
            begin : message_fits assert (!(wr_en && d_starts) || fits); end
            begin : behind_the_last_begun assert (!wr_en || !ahead[23]); end
            begin : bytes_in_message assert (!wr_en || (to_reg <= LONGEST && offset_reg <= to_reg)); end
            begin : mark_in_message assert (!wr_en || (wr_tag <= {{(24-OFF_W){1'b0}}, LONGEST} && wr_tag >= {{(24-OFF_W){1'b0}}, to_reg})); end
            begin : slot_in_pool assert (!wr_en || in_pool); end
            begin : slot_sent_in_pool assert (!snd_work_put || sent_in_pool); end
            begin : start_stays_in_pool assert (!d3_valid || steps <= ring); end
            begin : freed_were_used assert (!wipe_reg[23]); end
            begin : frame_or_action assert (!(c_leaves && (sends || acts))); end
            begin : action_is_there assert (!acts || act_valid); end
            begin : one_waits assert (!((hands || fuses) && q_valid)); end
            begin : one_event assert (!(c_done && snd_acts) && !(told_reg && (c_done || snd_acts))); end
            begin : start_waits assert (!init_take || (init_valid && !c_leaves)); end
            begin : one_frame assert (frames <= 2'd1); end
            begin : somebody_gets_it assert (!tx_valid || tx_mask != NOBODY); end
            begin : asked_get_it assert (!tx_valid || (copies_asked & ~tx_mask) == NOBODY); end
            begin : room_for_decision assert (!tx_valid || tx_room); end
            begin : second_frame_first assert (!(more_reg && (c_leaves || snd_tx_valid))); end
            begin : room_for_work assert (!work_put || !work_held); end
            begin : one_work assert (!snd_work_put || sends); end
            begin : one_verdict assert (!(work_commits && work_kills)); end
            begin : verdict_of_a_work assert (!(work_commits || work_kills) || waits_reg); end
            begin : counted_once assert (things == {5'd0, count[C_RX_FRAMES]} || (elsewhere_reg && things == 6'd0)); end
            begin : heard_is_counted_later assert (!hands_reg || things == 6'd0); end
            begin : heard_once assert (heard <= 3'd1); end
            begin : data_comes_to_one assert (outcomes == {5'd0, count[C_UP_DATA]} + {5'd0, count[C_DOWN_DATA]}); end
            begin : contribution_or_result assert (count[C_AGG] == (count[C_BUFFERED] ^ count[C_TX_RESULT]) && !(count[C_BUFFERED] && count[C_TX_RESULT])); end
        end
    end

endmodule

`default_nettype wire
