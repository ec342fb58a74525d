// What is proven of inc_control, for any group f_g and any endpoint f_i that there is of any group.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

(* anyconst *) reg [GRP_W-1:0] f_g;
(* anyconst *) reg [EI_W-1:0]  f_i;
wire [GRP_W-1:0]  f_i_group = f_i >> EP_W;
wire [INDEX_W-1:0] f_at;         // where its word lies
wire               f_there;
inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) f_index (
    .ei(f_i), .index(f_at), .present(f_there));
always @* assume (f_there);
wire [WORD_W-1:0] f_range;       // the group's word
wire [47:0]       f_offset;      // the endpoint's

// ---- what the contract asks of the user ----

reg                f_read, f_first, f_mapped, f_lost;
reg [EI_W-1:0]     f_of;
reg [4*MASK_W-1:0] f_masks;
reg [MASK_W+65:0]  f_rest;
wire [4*MASK_W-1:0] f_masks_now = {ent_in_mask, ent_out_mask, ent_ack_mask, ent_parent_mask};
wire [MASK_W+65:0]  f_rest_now  = {ent_psn, ent_opcode, ent_empty, ent_ext, ent_route_valid, ent_route_mask};
wire [GRP_W-1:0]    f_of_group  = f_of >> EP_W;
wire [GRP_W-1:0]    f_rd_group  = ctl_ei >> EP_W;
always @(posedge clk) begin
    f_first  <= !rst && ctl_rd;
    f_read   <= !rst && (ctl_rd || f_read);
    f_mapped <= !rst && !ctl_rd && !ctl_open && (ctl_map || f_mapped);
    if (ctl_rd) f_of <= ctl_ei;
    f_lost   <= ctl_rd ? init && init_group == f_rd_group : f_lost || (init && init_group == f_of_group);
    f_masks  <= f_masks_now;
    f_rest   <= f_rest_now;
end
always @* if (f_past) begin
    assume (!ctl_map || f_first);
    assume (!ctl_rd || !(ctl_busy || ctl_open));
    assume (!ctl_open || (f_mapped && !f_lost && !ctl_busy && !(init_valid && init_group == group)));
    if (f_read) assume (ent_ei == f_of);
    if (f_read && !f_first) assume (f_masks_now == f_masks && f_rest_now == f_rest);
end

// ---- the group's word, told by the starts and openings of its own group alone ----

reg         f_known, f_valid;
reg  [23:0] f_begin, f_end;
reg  [1:0]  f_rng;
wire        f_init = init && init_group == f_g;
reg         f_opens;             // an opening of the cycle before
always @(posedge clk) begin
    f_opens <= !rst && ctl_open && group == f_g;
    f_known <= !rst && (f_known || f_init);
    if (f_init) begin
        f_valid <= 1'b0;
        f_end   <= init_psn - 24'd1;
        f_begin <= init_psn - 24'd1;
        f_rng   <= 2'd0;
    end else if (f_opens) begin
        f_valid <= 1'b1;
        f_begin <= f_end + 24'd1;
        f_end   <= f_end + {4'd0, ent_ext[19:0]} + 24'd1;
        f_rng   <= f_rng + {1'b0, f_valid};
    end
end
wire        f_has_valid = f_range[0];
wire [23:0] f_has_begin = f_range[1 +: 24];
wire [23:0] f_has_end   = f_range[WORD_W-3 -: 24];
wire [1:0]  f_has_rng   = f_range[WORD_W-1 -: 2];

`ifdef PROVE_A
reg [47:0] f_was_offset;
reg        f_old = 1'b0;
reg        f_may;                // the endpoint's own group was started or opened
always @(posedge clk) begin
    f_old        <= f_past;
    f_was_offset <= f_offset;
    f_may        <= (init && init_group == f_i_group) || (ctl_busy && group == f_i_group);
end
always @* if (f_past) begin
    if (f_known) assert (f_has_valid == f_valid && f_has_begin == f_begin && f_has_end == f_end && f_has_rng == f_rng);
    if (f_old && !f_may) assert (f_offset == f_was_offset);
    if (off_we && off_ei >> EP_W == f_g) assert ((init && init_group == f_g) || (ctl_busy && group == f_g));
end
`endif
`ifdef PROVE_B
reg              f_old = 1'b0;
reg              f_may;
reg [47:0]       f_was_offset;
reg [WORD_W-1:0] f_was_range;
always @(posedge clk) begin
    f_old        <= f_past;
    f_may        <= init || ctl_busy;
    f_was_offset <= f_offset;
    f_was_range  <= f_range;
end
always @* if (f_old && !f_may) assert (f_offset == f_was_offset && f_range == f_was_range);
reg f_opened;
always @(posedge clk) f_opened <= !rst && ctl_open;
reg f_was_busy;
always @(posedge clk) f_was_busy <= !rst && ctl_busy;
always @* if (f_past && ctl_busy && !f_was_busy) assert (f_opened);
`endif
`ifdef PROVE_C
reg [7:0] f_busy;
always @(posedge clk) f_busy <= rst || !ctl_busy ? 8'd0 : f_busy + 8'd1;
always @* if (f_past) begin
    if (ctl_busy) assert (f_busy <= (1 << EP_W) + 1);
    if (init_valid && !ctl_busy) assert (init_take);
end
`endif
`ifdef PROVE_D
// every endpoint of a group that opens a range is told its offset once
reg [1:0] f_told;
reg       f_opening;
wire      f_tells = off_we && off_ei == f_i && put_valid_reg;
always @(posedge clk) begin
    f_told    <= ctl_open ? 2'd0 : f_told + {1'b0, f_tells};
    f_opening <= !rst && (ctl_open ? group == f_i_group : f_opening && ctl_busy);
end
always @* if (f_past) begin
    if (f_opening && !ctl_busy) assert (f_told == 2'd1);
    if (off_we) assert (init || put_valid_reg);
    assert (!(init && put_valid_reg));
end
`endif
`ifdef PROVE_E
reg f_shown, f_control;
always @(posedge clk) begin
    f_shown   <= ctl_map;
    f_control <= ent_opcode == OP_CONTROL && ent_empty;
end
always @* if (f_past && f_shown) begin
    assert (!(map_current && map_previous));
    assert ({1'b0, map_opens} + {1'b0, map_bad_control} + {1'b0, map_wrong_role} <= 2'd1);
    if (map_opens_up) assert (map_opens);
    if (map_opens) assert (f_control);
    if (map_reduces) assert (map_out_mask == NOBODY && !map_down);
    if (map_spreads) assert (map_in_mask == NOBODY && !map_up);
    assert (!(map_up && map_down) && !(map_reduces && map_spreads));
    assert (map_root == (!map_reduces && !map_spreads && map_parent_mask == NOBODY));
end
always @* if (f_past && put_valid_reg) assert (off_ei >> EP_W == group && off_ei[EP_W-1:0] == put_reg);
`endif
