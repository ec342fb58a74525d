// What is proven of inc_recycle_buffer, for any two groups f_g and f_h.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

(* anyconst *) reg [GRP_W-1:0] f_g, f_h;
always @* assume (f_g < GROUPS && f_h < GROUPS && f_g != f_h);

wire              f_for_g = state_reg != W_IDLE && group_reg == f_g;
wire              f_offers = acks_valid || init_valid || ranges_valid || walk_slot;
wire [SLOT_W-1:0] f_at = walk_at;                   // the slot that a start writes
wire [2*SLOT_W:0] f_held;                           // what u_held says of f_h

// the units of f_h, noted when its start was found good
reg               f_hold_known;
reg [SLOT_W-1:0]  f_hbase;
reg [SLOT_W:0]    f_hend;
always @(posedge clk) begin
    f_hold_known <= !rst && (f_hold_known || (passes && group_reg == f_h));
    if (passes && group_reg == f_h) begin
        f_hbase <= base_reg;
        f_hend  <= end_reg;
    end
end
wire f_apart = {1'b0, base_reg} >= f_hend || {1'b0, f_hbase} >= end_reg;

`ifdef PROVE_A
reg f_asked, f_was_live, f_was_start;
always @(posedge clk) begin
    f_asked     <= !rst && ((f_asked && !grp_live[f_g]) || grp_start[f_g]);
    f_was_live  <= !rst && grp_live[f_g];
    f_was_start <= grp_start[f_g];
end
always @* if (f_past) begin
    // live by its own start, and until its own end
    if (grp_live[f_g] && !f_was_live) assert (f_asked);
    if (!grp_live[f_g] && f_was_live) assert (!grp_enable[f_g] || f_was_start);
    if (grp_refused[f_g] || grp_busy[f_g]) assert (f_asked);
    // what is set is of the group being started
    if (acks_valid && acks_group == f_g) assert (grp_busy[f_g]);
    if ((init_valid || ranges_valid) && init_ei >> EP_W == f_g) assert (grp_busy[f_g]);
    // and no slot that another has
    if (walk_slot && group_reg != f_h && holds_reg[f_h]) assert (!(f_at >= f_hbase && f_at < f_hend));
    // what induction needs to know
    if (holds_reg[f_h]) assert (f_hold_known);
    if (f_hold_known) assert (f_held == {f_hend, f_hbase});
    if (state_reg > W_OTHERS && group_reg != f_h && holds_reg[f_h]) assert (f_apart);
end
`endif
`ifdef PROVE_B
reg f_touched;
always @(posedge clk) f_touched <= !rst && state_reg != W_IDLE && (f_touched || f_offers);
always @* if (f_past && grp_refused != {GROUPS{1'b0}}) begin
    assert (!f_touched);
    assert ((grp_live & grp_refused) == {GROUPS{1'b0}});
end
`endif
`ifdef PROVE_C
// the fence, the settings, the other groups' units, acknowledgements, endpoints twice, slots
localparam F_BOUND = 16 + 2 + GROUPS + 1 + 2 * (1 << EP_W) + SLOTS;
wire       f_calm = !frm_waits && acks_take && init_take && ranges_take && !wr_en;
reg  [9:0] f_wait;
always @(posedge clk) f_wait <= rst || state_reg == W_IDLE || !f_calm ? 10'd0 : f_wait + 10'd1;
always @* if (f_past) assert (f_wait <= F_BOUND);
`endif
`ifdef PROVE_D
// a start that was asked for is under way until it has come to its end
reg f_due;
always @(posedge clk) f_due <= !rst && (grp_start[f_g] || (f_due && grp_enable[f_g] && !grp_live[f_g] && !grp_refused[f_g]));
always @* if (f_past) begin
    if (f_due && grp_enable[f_g]) assert (grp_busy[f_g] || grp_live[f_g] || grp_refused[f_g]);
    if (state_reg == W_FENCE) assert (pops_reg <= WAIT_POPS);
end
`endif
`ifdef PROVE_E
wire [GROUPS-1:0] f_one = {{(GROUPS-1){1'b0}}, 1'b1};
always @* if (f_past) begin
    assert (state_reg <= W_SLOT);
    assert ((grp_live & grp_busy) == {GROUPS{1'b0}});
    if (state_reg != W_IDLE) assert (group_reg < GROUPS && current_reg == f_one << group_reg);
    if (state_reg == W_OTHERS) assert (probe_reg != {GROUPS{1'b0}} && (probe_reg & (probe_reg - f_one)) == {GROUPS{1'b0}});
    if (state_reg >= W_OTHERS) assert (end_reg <= SLOTS && {1'b0, base_reg} + {1'b0, last_reg} < end_reg);
    if (state_reg == W_SLOT) assert (index_reg <= last_reg);
    if (walk_slot) assert (f_at < SLOTS && f_at >= base_reg);
end
`endif
