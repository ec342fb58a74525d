// What is proven of inc_check_duplicate, for any endpoint f_i that there is and its group f_g.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;

(* anyconst *) reg [EI_W-1:0] f_i;
wire [GRP_W-1:0]   f_g = f_i >> EP_W;
wire [INDEX_W-1:0] f_at;         // where its word lies
wire               f_there;
inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) f_index (
    .ei(f_i), .index(f_at), .present(f_there));
always @* assume (f_there);
wire [EP_BITS-1:0] f_ep;         // the endpoint's word
wire [23:0]        f_done_now;   // the group's
wire [23:0]        f_epsn_now = f_ep[23:0], f_msn_now = f_ep[47:24];
wire               f_nak_now = f_ep[48];
wire               f_init = init_take && init_ei == f_i, f_init_group = init_take && init_group == f_g;

// one decision a cycle: what it wrote
wire f_writes = ep_we || done_we || wr_en || ack_we || ack_lift || tx_valid || ctl_open || work_commits;

`ifdef PROVE_A
reg               f_old = 1'b0;
reg               f_may, f_may_group;
reg [EP_BITS-1:0] f_was;
reg [23:0]        f_was_done;
always @(posedge clk) begin
    f_old       <= f_past;
    f_may       <= f_init || (c_leaves && c_ei == f_i);
    f_may_group <= f_init_group || (c_leaves && c_group == f_g);
    f_was       <= f_ep;
    f_was_done  <= f_done_now;
end
always @* if (f_past) begin
    // state of an endpoint, and of a group, is written by its own frames and starts
    if (f_old && !f_may) assert (f_ep == f_was);
    if (f_old && !f_may_group) assert (f_done_now == f_was_done);
    // what a frame sends goes to its own group, what it acknowledges is its own, and its range is its own
    if (tx_valid) assert (tx_ei == c_ei);
    if (ack_we) assert (ack_self == c_self && (ack_self == {MASK_W{1'b0}} || ack_self == ({{(MASK_W-1){1'b0}}, 1'b1} << c_ei[EP_W-1:0])));
    if (ack_rd) assert (ack_group == b_group);
end
`endif
`ifdef PROVE_B
// a frame that is not committed writes nothing; one that is dropped writes no slot, no PSN and no work, and sends at most the NAK of a gap
localparam [45:0] F_DROPS = {4'hF, 6'd0, 16'hFFFF, 20'd0};
reg               f_old = 1'b0;
reg               f_writing, f_moves, f_sends;
reg [23:0]        f_was_epsn, f_was_msn;
always @(posedge clk) begin
    f_old      <= f_past;
    f_writing  <= wr_en || ack_we || ack_lift || ctl_open || work_commits || (done_we && !c_opened);
    f_moves    <= f_init;
    f_sends    <= tx_valid;
    f_was_epsn <= f_epsn_now;
    f_was_msn  <= f_msn_now;
end
wire f_dropped = (count[45:0] & F_DROPS) != 46'd0;
always @* if (f_past) begin
    if (c_leaves && !c_bypass && !(c_intact && c_live)) assert (!f_writes || (c_opened && done_we && !ep_we && !wr_en && !ack_we && !tx_valid && !work_commits));
    if (c_leaves && c_bypass) assert (!f_writes);
    if (!c_leaves) assert (!f_writes);
    if (f_old && f_dropped) begin
        assert (!f_writing);
        assert (!f_sends || count[C_TX_GAP_NAK]);
        if (!f_moves) assert (f_epsn_now == f_was_epsn && f_msn_now == f_was_msn);
    end
end
`endif
`ifdef PROVE_D
// what is pushed finds room; a work is put when none is held, and has one verdict before the next; acknowledgements as ReceiveACK wants them
reg f_spec, f_read;
always @(posedge clk) begin
    f_spec <= !rst && (work_put || (f_spec && !work_commits && !work_kills));
    f_read <= !rst && (ack_rd || (f_read && !ack_we && !ack_lift));
end
always @* if (f_past) begin
    if (tx_valid) assert (tx_room);
    if (work_put) assert (!work_held && !f_spec);
    if (work_commits || work_kills) assert (f_spec && !(work_commits && work_kills));
    assert (!(ack_we && ack_lift) && !(ack_lift && ack_rd));
    if (ack_we || ack_lift) assert (f_read);
    assert (!(init_take && (ep_we || done_we)));
end
`endif
`ifdef PROVE_E
// a frame that goes on to B came with its group's slots: N of them, a power of two, from the base
(* anyconst *) reg [SLOT_W-1:0] f_base;
(* anyconst *) reg [4:0]        f_log2_n;
wire [SLOT_W:0]   f_n = {{SLOT_W{1'b0}}, 1'b1} << f_log2_n;
reg  [SLOT_W-1:0] f_a_base, f_a_last;
reg  [4:0]        f_a_log2_n;
reg               f_came = 1'b0;
always @(posedge clk) if (a_loads) begin
    f_came     <= 1'b1;
    f_a_base   <= s_base;
    f_a_last   <= s_last;
    f_a_log2_n <= s_log2_n;
end
always @* begin
    assume (f_log2_n <= SLOT_W && {1'b0, f_base} + f_n <= (1 << SLOT_W));
    if (a_go && a_group == f_g) assume (f_a_base == f_base && f_a_log2_n == f_log2_n);
end
function f_in(input [SLOT_W-1:0] slot);
    reg [SLOT_W-1:0] f_from;
    begin
        f_from = slot - f_base;
        f_in   = {1'b0, f_from} < f_n;
    end
endfunction
// all endpoints of the group of the frame in C
reg [MASK_W-1:0] f_all;
always @(posedge clk) if (b_go) f_all <= b_self | b_in_mask | b_out_mask | b_parent_mask;
wire [SLOT_W-1:0] f_a_from = a_slot - f_a_base;
always @* if (f_past) begin
    // what is written and worked on lies in the group's own slots
    if (wr_en && c_group == f_g) assert (f_in(wr_slot) && (HALVES != 0 || f_in(work_unit)));
    if (work_put && c_group == f_g) assert (HALVES != 0 || f_in(work_unit));
    // masks: of one, who is noted; nothing is sent to who is not of the group
    if (wr_en) assert (c_self != {MASK_W{1'b0}} && (c_self & (c_self - {{(MASK_W-1){1'b0}}, 1'b1})) == {MASK_W{1'b0}} && c_ei[EP_W-1:0] < MASK_W);
    if (wr_en && c_accept) assert ((c_self & ~wr_mask) == {MASK_W{1'b0}});
    if (tx_valid) assert (tx_mask != {MASK_W{1'b0}} && (tx_mask & ~f_all) == {MASK_W{1'b0}});
end
`ifdef PROVE_LEMMAS
always @* if (f_past) begin
    if (f_came) assert ((f_a_from & ~f_a_last) == {SLOT_W{1'b0}} && (HALVES != 0 || a_unit == a_slot));
    if (b_valid && !b_bypass && b_group == f_g) assert (f_in(b_slot) && (HALVES != 0 || b_unit == b_slot));
    if (c_valid && !c_bypass && c_group == f_g) assert (f_in(c_slot) && (HALVES != 0 || c_unit == c_slot));
end
`endif
`endif
