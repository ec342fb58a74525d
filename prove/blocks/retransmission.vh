// What is proven of inc_retransmission, for any endpoint f_i and its group f_g.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

(* anyconst *) reg [EI_W-1:0] f_i;
wire [GRP_W-1:0] f_g  = f_i >> EP_W;
wire [EP_W-1:0]  f_ep = f_i[EP_W-1:0];
always @* assume (f_ep < MASK_W && f_g < GROUPS);
// the group's word and the endpoint's: what is in the memories, and what was committed and is written in this cycle
wire [SIDE_W-1:0] f_side_kept;
wire [50:0]       f_own_kept;
wire [SIDE_W-1:0] f_side = BEHIND != 0 && side_we_reg && put_group == f_g ? side_put_reg : f_side_kept;
wire [50:0]       f_own  = BEHIND != 0 && own_we_reg && put_ei_reg == f_i ? own_put_reg : f_own_kept;

wire [1:0]               f_stands;
wire [MASK_W-1:0]        f_failed, f_lag, f_waits, f_on;
wire [MASK_W*TIME_W-1:0] f_deadline;
assign {f_stands, f_failed, f_lag, f_waits, f_on, f_deadline} = f_side;

// ---- what the contract asks of the user ----

reg                     f_open, f_aged, f_lost;
reg  [2*MASK_W+48:0]    f_still;
wire [2*MASK_W+48:0]    f_still_now = {rt_self, rt_out, rt_pipe, rt_sent, rt_acked};
reg  [50:0]             f_said;
wire [50:0]             f_said_now = {rt_last, rt_next, rt_is_ack, rt_is_nak, rt_is_rnr};
wire [MASK_W-1:0]       f_one_hot = {{(MASK_W-1){1'b0}}, 1'b1} << ei_reg[EP_W-1:0];
always @(posedge clk) begin
    f_open  <= !rst && (rt_rd || (f_open && !cm_we));
    f_aged  <= f_open && !rt_rd;
    f_lost  <= rt_rd ? init_we && init_group == look_group : f_lost || (init_we && init_group == group);
    f_still <= f_still_now;
    f_said  <= f_said_now;
end

// starts, an endpoint after the other
reg              f_starts, f_last;
reg [EP_W-1:0]   f_next;
reg [GRP_W-1:0]  f_start_group;
always @(posedge clk) begin
    f_starts      <= !rst && init_valid;
    f_last        <= init_we && init_ei[EP_W-1:0] == {EP_W{1'b1}};
    f_next        <= rst ? {EP_W{1'b0}} : f_next + {{(EP_W-1){1'b0}}, init_we};
    f_start_group <= init_group;
end

// the group is live from after its start to when it is stopped
reg  f_ready, f_was_live;
wire f_live     = grp_live[f_g];
wire f_starting = init_valid && init_group == f_g;
always @(posedge clk) begin
    f_ready    <= !rst && ((f_ready && !f_live) || (init_we && init_ei == {f_g, {EP_W{1'b1}}}));
    f_was_live <= !rst && f_live;
end

wire [3:0] f_kinds = {3'd0, cm_ack} + {3'd0, cm_one} + {3'd0, cm_timeout} + {3'd0, cm_resume} + {3'd0, cm_drop} + {3'd0, cm_open || cm_data || cm_send};
always @* if (f_past) begin
    assume (!cm_we || (f_open && f_aged));
    if (cm_we) begin
        // in the cycle before a commit, and in it; what an acknowledgement says only where one is committed
        assume (f_still_now == f_still && (!cm_ack || f_said_now == f_said));
        assume (f_kinds <= 4'd1);
        assume (!one_endpoint || (rt_self == f_one_hot && ei_reg[EP_W-1:0] < MASK_W));
        assume (!cm_ack || !rt_stale);
        assume (!cm_one || rt_one);
        assume (!cm_timeout || rt_timeout);
        assume (!cm_resume || rt_resume);
        assume (!cm_send || cm_data || (act_done && act_pipe && !act_timer));
        assume (!(cm_one || cm_timeout || cm_resume || cm_drop) || act_done);
        assume (!(cm_ack || cm_data || cm_open) || !act_done);
        if (touches && group == f_g) assume ((f_live || f_was_live) && !f_starting && !f_lost);
    end
    assume (!act_done || (act_valid && cm_we && ei_reg == act_ei));
    if (act_done && act_timer) assume (!cm_drop && !cm_one && !cm_send);
    if (act_done && !act_timer) assume (!cm_timeout && !cm_resume && (act_pipe ? !cm_one && rt_pipe == act_ei[0] : !cm_send));
    if (act_done && !act_timer && group == f_g && f_live) assume (cm_send || cm_one || cm_drop);
    // starts
    assume (!init_we || (init_valid && init_clean && !cm_we));
    if (init_valid) assume (init_ei[EP_W-1:0] == f_next && init_group < GROUPS);
    if (f_starts && !f_last) assume (init_valid && init_group == f_start_group);
    if (f_last) assume (!init_valid);
    if (f_live) assume (!f_starting && (f_was_live || f_ready));
end

`ifdef PROVE_A
reg              f_old = 1'b0;
reg              f_may, f_may_own, f_may_fail, f_shows;
reg [SIDE_W-1:0] f_was_side, f_seen;
reg [50:0]       f_was_own, f_seen_own;
reg              f_shows_own;
reg [MASK_W-1:0] f_was_failed;
wire [MASK_W-1:0] f_tells = grp_failed >> (MASK_W * f_g);
wire f_started = init_we && init_group == f_g;
always @(posedge clk) begin
    f_old        <= f_past;
    f_may        <= f_started || (cm_we && group == f_g);
    f_may_own    <= (init_we && init_ei == f_i) || (cm_we && ei_reg == f_i);
    f_was_side   <= f_side;
    f_was_own    <= f_own;
    f_was_failed <= f_tells;
    if (rt_rd) begin
        f_shows     <= look_group == f_g;
        f_seen      <= side_we && group == f_g ? side_next : f_side;
        f_shows_own <= rt_ei == f_i;
        f_seen_own  <= own_we && ei_reg == f_i ? own_next : f_own;
    end
end
always @* if (f_old) begin
    if (!f_may) assert (f_side == f_was_side && f_tells == f_was_failed);
    if (!f_may_own) assert (f_own == f_was_own);
    // what a frame of the group is shown is the group's
    if (f_open && f_shows) assert ({stands, failed, lag, waits, on, deadline} == f_seen);
    if (f_open && f_shows_own) assert ({own_stands, backoff, max_sent, send_next} == f_seen_own);
end
`endif
`ifdef PROVE_B
reg               f_old = 1'b0;
reg               f_may;
reg [SIDE_W-1:0]  f_was_side;
reg [50:0]        f_was_own;
reg [QUEUE_W-1:0] f_was_tail;
reg               f_was_late;
always @(posedge clk) begin
    f_old      <= f_past;
    f_may      <= init_we || cm_we;
    f_was_side <= f_side;
    f_was_own  <= f_own;
    f_was_tail <= tail_reg;
    f_was_late <= late_reg;
end
always @* if (f_old && !f_may) begin
    assert (f_side == f_was_side && f_own == f_was_own);
    assert (!late_reg && (f_was_late || tail_reg == f_was_tail));
end
`endif
`ifdef PROVE_D
(* anyconst *) reg f_b;               // either of the group's pipes
wire f_own_stands = f_own[50];
// Who stands in the queue, and where: what joins leaves in the order of joining.
wire                f_pops_own  = queued && !act_pipe && act_ei == f_i;
wire                f_pops_pipe = queued && act_pipe && act_ei >> EP_W == f_g && act_ei[0] == f_b;
wire                f_joins_own = cm_we && own_joins && ei_reg == f_i;
wire                f_joins_pipe = pipe_comes && group == f_g && rt_pipe == f_b;
reg                 f_in, f_late, f_pin;
reg [QUEUE_W-1:0]   f_at, f_pat;
always @(posedge clk) begin
    f_in   <= !rst && (f_joins_own || (f_in && !f_pops_own));
    f_late <= !rst && f_joins_own;
    f_pin  <= !rst && (f_joins_pipe || (f_pin && !f_pops_pipe));
    if (f_late) f_at <= tail_reg;
    if (f_joins_pipe) f_pat <= tail_reg;
end
wire [QUEUE_W-1:0] f_count = tail_reg - done_reg;
always @* if (f_past) begin
    // That it is no fuller follows from what is proven, in the cycles before: nobody stands in it twice.
    assume (f_count <= QUEUE);
    if (queued) begin
        assume ((!act_pipe && act_ei == f_i) == (f_in && !f_late && done_reg == f_at));
        assume ((act_pipe && act_ei >> EP_W == f_g && act_ei[0] == f_b) == (f_pin && done_reg == f_pat));
    end
end
// An own turn is dropped only if it may not send, and is of the endpoint that was looked at.
always @* if (f_past && cm_we && cm_drop && !act_pipe) assume (!rt_one && rt_self == f_one_hot && ei_reg[EP_W-1:0] < MASK_W);
// Nobody joins twice. Who lags, and neither waits nor has failed, stands in the queue.
always @* if (f_past) begin
    if (f_joins_own) assert (!f_in || f_pops_own);
    if (f_joins_pipe) assert (!f_pin || f_pops_pipe);
    if (f_live && f_was_live && f_lag[f_ep] && !f_waits[f_ep] && !f_failed[f_ep]) assert (f_own_stands);
    // what induction needs to know
    if (f_live) assert (f_own_stands == f_in && f_stands[f_b] == f_pin);
    if (f_in && !f_late) assert (f_at - done_reg < f_count);
    if (f_pin) assert (f_pat - done_reg < f_count);
    if (f_late) assert (late_reg && late_ei_reg == f_i);
    if (f_starting && fence_reg && !clean_reg && f_in) assert (!f_late && f_at - done_reg < behind_reg - done_reg);
    if (f_starting && fence_reg && !clean_reg && f_pin) assert (f_pat - done_reg < behind_reg - done_reg);
    if (f_starting && fence_reg && clean_reg) assert (!f_in && !f_pin);
end
`endif
`ifdef PROVE_E
reg f_known;
always @(posedge clk) f_known <= !rst && (f_known || (init_we && init_group == f_g));
always @* if (f_past) begin
    assert (walk_ep_reg < MASK_W || walk_reg == W_READ);
    assert (walk_group_reg < GROUPS);
    if (act_valid && act_timer) assert (act_ei[EP_W-1:0] < MASK_W && act_ei >> EP_W < GROUPS);
    if (f_known) begin
        // no timer runs of one who waits or has failed, and he does not keep up
        assert ((f_on & (f_waits | f_failed)) == NOBODY);
        assert (((f_waits | f_failed) & ~f_lag) == NOBODY);
    end
end
`endif
`ifdef PROVE_C
// An action that act_soon announces is there within four cycles. A start is clean after so many cycles in which no action is kept waiting, whatever
// is in the queue and in the timers.
localparam          F_TURN = 4, F_CLEAN = (2 + F_TURN) * QUEUE + 3;
wire [QUEUE_W-1:0]  f_count = tail_reg - done_reg, f_behind = behind_reg - done_reg, f_shown = head_reg - done_reg, f_in_ram = tail_reg - head_reg;
reg  [2:0]          f_soon;
reg  [9:0]          f_wait;
reg                 f_committed;
// in the cycle behind a commit a start waits for what is written
wire                f_kept  = (act_valid && !act_done) || (BEHIND != 0 && f_committed);
always @(posedge clk) begin
    f_soon      <= rst || act_valid || !act_soon ? 3'd0 : f_soon + 3'd1;
    f_wait      <= rst || !init_valid || init_clean ? 10'd0 : f_kept ? f_wait : f_wait + 10'd1;
    f_committed <= !rst && cm_we;
end
// cycles until one more has left the queue: an action of a timer may come between two of the queue
wire [2:0] f_left = act_valid ? (!act_timer ? 3'd1 : shown_reg ? 3'd2 : 3'd3) : !shown_reg ? 3'd4 : act_timer ? 3'd2 : 3'd3;
always @* if (f_past) begin
    // as (d) has it
    assume (f_count <= QUEUE);
    assert (f_soon < 3'd4);
    assert (f_wait <= F_CLEAN);
end
`ifdef PROVE_LEMMAS
always @* if (f_past) begin
    assert (f_shown == {{(QUEUE_W-1){1'b0}}, shown_reg} + {{(QUEUE_W-1){1'b0}}, act_valid_reg && !act_timer_reg});
    assert (f_in_ram <= QUEUE && f_shown <= f_count);
    assert (left_reg == (f_count != {QUEUE_W{1'b0}}));
    assert (!late_reg || f_committed);
    assert (!f_committed || !(f_open && f_aged));
    if (!act_valid && act_soon) assert (f_soon <= (shown_reg ? 3'd2 : f_count != {QUEUE_W{1'b0}} ? 3'd1 : 3'd0));
    if (init_valid && !fence_reg) assert (f_wait <= {f_count, f_committed});
    if (fence_reg && !clean_reg) begin
        assert (init_valid && f_behind <= f_count);
        if (f_behind != {QUEUE_W{1'b0}}) assert (f_wait + f_left + F_TURN * (f_behind - {{(QUEUE_W-1){1'b0}}, 1'b1}) < F_CLEAN);
        else assert (f_wait <= F_CLEAN);
    end
end
`endif
`endif
