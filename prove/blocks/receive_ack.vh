// What is proven of inc_receive_ack, for any group f_group and any endpoint f_ep of it.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst);

(* anyconst *) reg [GRP_W-1:0] f_group;
(* anyconst *) reg [EP_W-1:0]  f_ep;
always @* assume (f_ep < MASK_W);
wire [48*MASK_W-1:0] f_mem;      // the group's word

// ---- what the contract asks of the user ----

reg              f_open;         // something was read and not committed
reg              f_first;        // in the cycle before
reg              f_lost;         // its group was started meanwhile: it is not live then, and nothing is committed
reg [GRP_W-1:0]  f_of;
reg [MASK_W-1:0] f_self, f_mask, f_pick;
always @(posedge clk) begin
    f_first <= ack_rd;
    f_open  <= !rst && (ack_rd || (f_open && !writes));
    f_lost  <= ack_rd ? init_take && init_group == ack_group : f_lost || (init_take && init_group == f_of);
    if (ack_rd) f_of <= ack_group;
    f_self  <= ack_self;
    f_mask  <= ack_mask;
    f_pick  <= ack_pick;
end
always @* if (f_past) begin
    assume (!rst);
    assume (!(ack_we && ack_lift) && !(ack_lift && ack_rd));
    assume (!writes || (f_open && !f_lost && !f_first));
    if (f_open && !f_first) assume (ack_self == f_self && ack_mask == f_mask && ack_pick == f_pick);
    assume ((ack_self & (ack_self - {{(MASK_W-1){1'b0}}, 1'b1})) == {MASK_W{1'b0}});
end

// ---- what the endpoint has acknowledged: told by the commits of its own group alone ----

reg         f_known;
reg  [23:0] f_ack, f_msn;
wire        f_mine = writes && f_of == f_group && (ack_lift || ack_self[f_ep]);
wire [23:0] f_step = ack_psn - f_ack;
wire        f_up   = f_mine && !f_step[23];
wire        f_init = init_take && init_group == f_group;
wire [23:0] f_ack_next = f_init ? init_psn - 24'd1 : f_up ? ack_psn : f_ack;
wire [23:0] f_msn_next = f_init ? 24'd0 : f_up && !ack_lift ? ack_msn : f_msn;
reg         f_shows;             // what was read is the group's
reg  [47:0] f_seen;
always @(posedge clk) begin
    f_known <= !rst && (f_known || f_init);
    f_ack   <= f_ack_next;
    f_msn   <= f_msn_next;
    if (ack_rd) begin
        f_shows <= ack_group == f_group && f_known;
        f_seen  <= f_init ? {f_msn, f_ack} : {f_msn_next, f_ack_next};
    end
end

wire        f_late  = late && late_group == f_group;     // what was committed is written in this cycle
wire [47:0] f_its   = f_late ? word_next[48*f_ep +: 48] : f_mem[48*f_ep +: 48];
wire [47:0] f_shown = word[48*f_ep +: 48];

`ifdef PROVE_A
always @* if (f_past) begin
    if (f_known) assert (f_its == {f_msn, f_ack});
    if (f_open && !f_lost && f_shows) assert (f_shown == f_seen);
    // what induction needs to know
    if (f_open) assert (group_reg == f_of);
    if (f_open && !f_lost && f_known && f_of == f_group) assert (f_shows && f_seen == {f_msn, f_ack});
end
`endif
`ifdef PROVE_B
reg        f_changes;
reg        f_old = 1'b0;
reg [47:0] f_was;
always @(posedge clk) begin
    f_old     <= f_past;
    f_changes <= writes || init_take;
    f_was     <= f_its;
end
always @* if (f_old && !f_changes) assert (f_its == f_was);
`endif
`ifdef PROVE_C
reg [3:0] f_age;
always @(posedge clk) f_age <= rst || ack_rd ? 4'd0 : f_age == 4'd15 ? f_age : f_age + 4'd1;
reg f_read;
always @(posedge clk) f_read <= !rst && (f_read || ack_rd);
always @* if (f_past) begin
    if (f_read && f_age >= STAGES) assert (ack_ready);
    if (init_valid && !writes && !late) assert (init_take);
end
`endif
`ifdef PROVE_E
(* anyconst *) reg [5:0] f_bit;
always @* assume (f_bit < 48);
wire [47:0]       f_rest   = {ack_rest_msn, ack_rest};
wire [MASK_W-1:0] f_others = ack_mask & ~ack_self;
always @* if (f_past && f_open && !f_first && ack_ready) begin
    assert (ack_rest_any == (f_others != {MASK_W{1'b0}}));
    if (ack_rest_any) begin
        assert (ack_rest_ep < MASK_W);
        assert (f_others[ack_rest_ep]);
        if (f_ep == ack_rest_ep && !f_lost) assert (f_rest[f_bit] == f_shown[f_bit]);
    end
end
`endif
