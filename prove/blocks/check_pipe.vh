// What is proven of inc_check_pipe, for any group f_g.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;

(* anyconst *) reg [GRP_W-1:0] f_g;
wire [2*HEAD_W-1:0] f_heads_now, f_settle_now;   // the group's words
wire [2*TAIL_W-1:0] f_tails_now;
wire [47:0]         f_sents_now;
wire [CTX_W-1:0]    f_ctx_now;
wire [SLOT_W:0]     f_size_now;

wire f_own    = good && c_group == f_g;
wire f_starts = init_take && init_group == f_g;
wire f_acts   = x_acts && act_group == f_g;

`ifdef PROVE_A
reg                 f_old = 1'b0;
reg                 f_may, f_may_sent, f_may_head, f_ack_1;
reg [2*HEAD_W-1:0]  f_was_heads, f_was_settle;
reg [2*TAIL_W-1:0]  f_was_tails;
reg [47:0]          f_was_sents;
reg [CTX_W-1:0]     f_was_ctx;
reg [EI_W-1:0]      f_sent_ei;
reg [MASK_W-1:0]    f_sent_to;
reg                 f_ack_2, f_began;   // a start came while the action's state was read
always @(posedge clk) begin
    f_old        <= f_past;
    f_may        <= f_starts || f_own;
    f_may_sent   <= f_starts || f_own || f_acts;
    f_ack_1      <= f_own && ack_we;
    f_ack_2      <= f_ack_1;
    f_began      <= x_start ? f_starts : f_began;
    f_may_head   <= f_starts || (f_own && ctl_open) || f_ack_2;
    f_was_heads  <= f_heads_now;
    f_was_settle <= f_settle_now;
    f_was_tails  <= f_tails_now;
    f_was_sents  <= f_sents_now;
    f_was_ctx    <= f_ctx_now;
    if (good) begin
        f_sent_ei <= c_ei;
        f_sent_to <= c_outs | c_self;
    end
end
always @* if (f_old) begin
    // the group's state is written by its own frames, actions and starts
    if (!f_may) assert (f_tails_now == f_was_tails && f_ctx_now == f_was_ctx);
    if (!f_may_sent) assert (f_sents_now == f_was_sents);
    if (!f_may_head) assert (f_heads_now == f_was_heads && f_settle_now == f_was_settle);
    // its frames leave what its other pipe has as it is, its actions see what it is
    if (f_own && c_tails && !c_opens) assert (c_pipe_b ? n_tails[0 +: TAIL_W] == f_tails_now[0 +: TAIL_W] : n_tails[TAIL_W +: TAIL_W] == f_tails_now[TAIL_W +: TAIL_W]);
    if (f_own && sents_we && !c_opens) assert (c_pipe_b ? sents_next[23:0] == f_sents_now[23:0] : sents_next[47:24] == f_sents_now[47:24]);
    if (x_busy && act_group == f_g && !f_began) begin
        assert (heads == f_heads_now && tails == f_tails_now && sents == f_sents_now);
        assert ({ctx_ranged, ctx_rng, ctx_end, ctx_reduces, ctx_spreads, ctx_function, ctx_dtype, ctx_big_endian,
                 ctx_in_mask, ctx_out_mask, ctx_parent_mask, ctx_base, ctx_n} == f_ctx_now);
    end
    // what is sent goes to the group of the frame or of the action, and to who has a role for it
    if (tx_valid) begin
        assert (tx_ei == (r_valid ? f_sent_ei : x_busy ? act_ei : c_ei));
        assert ((tx_mask & ~(r_valid ? f_sent_to : x_busy ? (pointed ? x_outs : x_self) : c_self)) == NOBODY);
    end
end
`endif
`ifdef PROVE_B
// a frame that is not committed writes nothing; one that is dropped neither, and sends the NAK of a gap, or the RNR NAK or CNP of a full pipe, at most
localparam [COUNTERS-1:0] F_DROPS = (53'h3FF << C_DROP_FOREIGN) | (53'd7 << C_DROP_WRONG_ROLE) | (53'd1 << C_DROP_SHAPE) | (53'd15 << C_DROP_RANGE)
                                    | (53'd1 << C_DROP_FULL);
reg                 f_old = 1'b0;
reg                 f_writing, f_sends, f_commits, f_may;
reg [2*TAIL_W-1:0]  f_was_tails;
reg [47:0]          f_was_sents;
reg [CTX_W-1:0]     f_was_ctx;
always @(posedge clk) begin
    f_old       <= f_past;
    f_writing   <= tails_we || ctx_we || sents_we || wr_en || ack_we || ack_lift || ctl_open || (work_commits && !x_put);
    f_commits   <= cm_we && (cm_ack || cm_send || cm_one || cm_timeout || cm_resume || cm_open || cm_drop || cm_data);
    f_sends     <= tx_valid;
    f_may       <= init_take;
    f_was_tails <= f_tails_now;
    f_was_sents <= f_sents_now;
    f_was_ctx   <= f_ctx_now;
end
wire f_dropped = (count & F_DROPS) != {COUNTERS{1'b0}};
wire f_writes  = tails_we || ctx_we || sents_we || (heads_we && !d2_valid) || wr_en || ack_we || ack_lift || ctl_open || (work_commits && !x_put) || rcv_we || cm_we;
always @* if (f_past) begin
    if (c_leaves && !good) assert (!f_writes && (!tx_valid || more));
    if (f_old && f_dropped) begin
        assert (!f_writing && !f_commits);
        assert (!f_sends || count[C_TX_GAP_NAK] || count[C_TX_RNR] || count[C_TX_CNP]);
        if (!f_may) assert (f_tails_now == f_was_tails && f_sents_now == f_was_sents && f_ctx_now == f_was_ctx);
    end
end
`endif
`ifdef PROVE_D
// what is pushed finds room, and what is kept for the next cycle is not lost; a work is put when none is held, and has one verdict before the next;
// ReceiveACK and Retransmission are used as they want it
reg               f_spec, f_read, f_open, f_aged;
reg [(1 << GRP_W):0] f_was_live;        // a group that is stopped still counts as live in that cycle
reg               f_older;
reg [MASK_W+2:0]  f_told;
reg [EI_W-1:0]    f_ei;
reg [2*MASK_W+24:0]  f_still;
reg [50:0]           f_said;
wire [2*MASK_W+24:0] f_still_now = {rt_self, rt_out, rt_pipe, rt_sent};
wire [50:0]          f_said_now = {rt_last, rt_next, rt_is_ack, rt_is_nak, rt_is_rnr};
wire [3:0]        f_kinds = {3'd0, cm_ack} + {3'd0, cm_one} + {3'd0, cm_timeout} + {3'd0, cm_resume} + {3'd0, cm_drop} + {3'd0, cm_open || cm_data || cm_send};
wire [MASK_W-1:0] f_one_hot = {{(MASK_W-1){1'b0}}, 1'b1} << f_ei[EP_W-1:0];
wire              f_one_endpoint = cm_ack || cm_one || cm_timeout || cm_resume;
always @(posedge clk) begin
    f_spec  <= !rst && (work_put || (f_spec && !work_commits && !work_kills));
    f_read  <= !rst && (ack_rd || (f_read && !ack_we && !ack_lift));
    f_open  <= !rst && (rt_rd || (f_open && !cm_we));
    f_aged  <= f_open && !rt_rd;
    f_still <= f_still_now;
    f_said  <= f_said_now;
    f_was_live <= live_wide;
    f_older <= f_aged && !rt_rd;
    f_told  <= {rt_one, rt_timeout, rt_resume, rt_keep};
    if (rt_rd) f_ei <= rt_ei;
end
// Retransmission's answers stand until the next look, from the second cycle on
always @* if (f_past && f_older) assume (f_told == {rt_one, rt_timeout, rt_resume, rt_keep});
always @* if (f_past) begin
    if (tx_valid) assert (tx_room && tx_mask != NOBODY);
    if (good) assert (!r_valid && !x_busy);
    if (work_put) assert (!work_held && !f_spec);
    if (work_commits || work_kills) assert (f_spec && !(work_commits && work_kills));
    assert (!(ack_we && ack_lift) && !(ack_lift && ack_rd && look_group == c_group));
    if (ack_we || ack_lift) assert (f_read && f_aged);
    assert (!(init_take && (heads_we || tails_we || sents_we || ctx_we || rcv_we || cm_we)));
    assert (!(c_opening && d2_valid));
    if (cm_we) begin
        assert (f_open && f_aged && f_still == f_still_now && (!cm_ack || f_said == f_said_now));
        assert (f_kinds <= 4'd1);
        assert (!f_one_endpoint || (rt_self == f_one_hot && f_ei[EP_W-1:0] < MASK_W));
        assert (!cm_ack || !rt_stale);
        assert (!cm_one || rt_one);
        assert (!cm_timeout || rt_timeout);
        assert (!cm_resume || rt_resume);
        assert (!cm_send || cm_data || (act_done && act_pipe && !act_timer));
        assert (!(cm_one || cm_timeout || cm_resume || cm_drop) || act_done);
        assert (!(cm_ack || cm_data || cm_open) || !act_done);
        assert (f_kinds == 4'd0 || live_wide[f_ei >> EP_W] || f_was_live[f_ei >> EP_W]);
        if (cm_drop && !act_pipe) assert (!rt_one);
    end
    if (act_done) begin
        assert (act_valid && cm_we && f_ei == act_ei);
        if (act_timer) assert (!cm_drop && !cm_one && !cm_send);
        else assert (!cm_timeout && !cm_resume && (act_pipe ? !cm_one && rt_pipe == act_ei[0] : !cm_send));
        if (!act_timer && live_wide[act_group] && f_was_live[act_group]) assert (cm_send || cm_one || cm_drop);
    end
end
`endif
`ifdef PROVE_E
// The group has its slots while it is live, 2N from its base: a pipe's N each, or at the root of an AllReduce one ring of 2N. It is the one or the
// other for good. Acknowledgements say what was sent, and an action sends what is there: both lie at most N from `start`.
(* anyconst *) reg [SLOT_W-1:0] f_base, f_n;
(* anyconst *) reg              f_root;
wire [SLOT_W:0] f_ring = f_root ? {f_n, 1'b0} : {1'b0, f_n};
reg f_known = 1'b0;              // the group was started
reg f_a_known = 1'b0, f_b_known = 1'b0, f_c_known = 1'b0, f_x_known = 1'b0;
always @(posedge clk) begin
    f_known <= !rst && (f_known || f_starts);
    if (x_start) f_x_known <= f_known;
    if (s_go || a_look) f_a_known <= f_known;
    if (a_go) f_b_known <= f_a_known;
    if (b_go) f_c_known <= f_b_known;
end
always @* begin
    assume (f_n != {SLOT_W{1'b0}} && {2'd0, f_base} + {1'b0, f_n, 1'b0} <= (1 << SLOT_W));
    assume (!(tbl_grp_we && tbl_word == WORD_GROUP_PIPE && tbl_group == f_g));
    assume (!live_wide[{1'b0, f_g}] || f_known);
    if (s_go && s_group == f_g) assume (s_base == f_base && s_root == f_root);
    if (a_valid && a_group == f_g) assume (f_size_now[SLOT_W] ? f_size_now[SLOT_W-1:0] == f_n : a_half == f_n);
    if (d2_valid && d2_group == f_g) assume (d2_start - d_start <= {{(24-SLOT_W){1'b0}}, f_n});
    if (x_step == 3'd5 && act_group == f_g) assume (!(pointed ? x_any : 1'b1) || x_at - (x_pipe_b ? start_b : start_a) < {{(24-SLOT_W){1'b0}}, f_n});
end
// a slot of a pipe
function f_in(input [SLOT_W-1:0] slot, input pipe_b);
    reg [SLOT_W-1:0] f_from;
    begin
        f_from = slot - f_base - (pipe_b && !f_root ? f_n : {SLOT_W{1'b0}});
        f_in   = {1'b0, f_from} < f_ring;
    end
endfunction
always @* if (f_past) begin
    // what is written, read and worked on lies in the group's own slots, of the pipe that it belongs to
    if (f_own && wr_en) assert (f_c_known && f_in(wr_slot, c_pipe_b) && (HALVES != 0 || f_in(c_unit, c_pipe_b)));
    if (f_acts && resends && f_x_known && ctx_n != {SLOT_W{1'b0}}) assert (HALVES != 0 || f_in(x_unit[SLOT_W-1:0], x_pipe_b));
    // masks: of one, who is noted; an action is to who hears its pipe
    if (wr_en) assert (c_self != NOBODY && (c_self & (c_self - {{(MASK_W-1){1'b0}}, 1'b1})) == NOBODY && c_ei[EP_W-1:0] < MASK_W);
    if (wr_en && c_up) assert ((c_self & ~wr_mask) == NOBODY);
    if (tx_valid && tx_kind == 2'd1 && x_busy && pointed) assert ((tx_mask & ~x_outs) == NOBODY);
end
`endif
