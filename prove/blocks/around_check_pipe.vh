// What is around CheckPipe, with the steps of the decision, the answers of SendAck and the work that it offers; all else of the core is anything.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

// RecycleBuffer sets a group's state while the group is not live, and not in the cycles behind its end; a group is live only when it was started.
reg [15:0] f_live_1, f_live_2, f_live_3, f_started;
always @(posedge clk) begin
    f_live_1 <= recycle_grp_live;
    f_live_2 <= f_live_1;
    f_live_3 <= f_live_2;
    f_started <= rst ? 16'd0 : check_init_take ? f_started | (16'd1 << recycle_init_ei[$bits(recycle_init_ei)-1 -: $bits(recycle_acks_group)]) : f_started;
end
wire [15:0] f_late = recycle_grp_live | f_live_1 | f_live_2 | f_live_3;
always @* if (f_past && recycle_init_valid) assume (!f_late[recycle_init_ei[$bits(recycle_init_ei)-1 -: $bits(recycle_acks_group)]]);
always @* if (f_past) assume ((recycle_grp_live & ~f_started) == 0);

// What Control says of a frame, of any: (e) of control.
always @* begin
    assume (!(control_map_current && control_map_previous));
    assume ({1'b0, control_map_opens} + {1'b0, control_map_bad_control} + {1'b0, control_map_wrong_role} <= 2'd1);
    assume (!(control_map_current || control_map_previous) || !(control_map_opens || control_map_bad_control || control_map_wrong_role));
    assume (!control_map_opens || (steps_ask_opcode == 8'h05 && steps_ask_empty));
    assume (!(control_map_up && (control_map_down || control_map_spreads)));
    assume (!(control_map_reduces && control_map_spreads));
    assume (control_map_root == (!control_map_reduces && !control_map_spreads && control_map_parent_mask == 0));
end

// LookupTable knows none but endpoints that there are, and so does the queue of Retransmission, where 0 and 1 stand for a group's pipes.
localparam F_EP_W = $bits(lookup_ent_ei) - $bits(recycle_acks_group);
localparam F_MASK_W = $bits(lookup_ent_in_mask);
always @* assume (lookup_ent_foreign || lookup_ent_bypass || lookup_ent_ei[F_EP_W-1:0] < F_MASK_W);
always @* assume (repeat_act_ei[F_EP_W-1:0] < (repeat_act_pipe && !repeat_act_timer ? 2 : F_MASK_W));

// An action stands still until it is done. Who keeps up is among those asked for, and the same until the next look.
(* anyseq *) reg [F_MASK_W-1:0] f_any;
reg [F_MASK_W-1:0] f_lags;
reg f_act;
reg [$bits(repeat_act_ei)+1:0] f_was;
always @(posedge clk) begin
    if (check_rt_rd) f_lags <= f_any;
    f_act <= !rst && repeat_act_valid && !check_act_done;
    f_was <= {repeat_act_timer, repeat_act_pipe, repeat_act_ei};
end
always @* begin
    assume (repeat_rt_keep == (check_rt_out & ~f_lags));
    assume (!f_act || (repeat_act_valid && {repeat_act_timer, repeat_act_pipe, repeat_act_ei} == f_was));
    assume (!repeat_act_valid || repeat_act_soon);
    assume (!(repeat_rt_timeout && repeat_rt_resume));
end

`ifdef PROVE_C
// as long as the verdict is there and all that it waits for is given, a frame is done within so many cycles
reg f_opened;                    // a range is open whose control is not decided: Control does not say again that it opens one
always @(posedge clk) f_opened <= !rst && (check_c_opening || (f_opened && !check_c_done));
always @* assume (!f_opened || !control_map_opens);
reg [2:0] f_soon;                // what Retransmission says will come comes in a few cycles: (c) of retransmission
always @(posedge clk) f_soon <= rst || repeat_act_valid || !repeat_act_soon ? 3'd0 : f_soon + 3'd1;
always @* assume (f_soon < 3'd4 || repeat_act_valid || !repeat_act_soon);
wire f_calm = packets_vrd_valid && replicate_tx_room && aggregate_op_ready && !control_ctl_busy;
reg [5:0] f_wait, f_turn;
always @(posedge clk) begin
    f_wait <= rst || !f_calm || !steps_frm_waits || check_c_done ? 6'd0 : f_wait + 6'd1;
    f_turn <= rst || !f_calm || !repeat_act_valid || check_act_done ? 6'd0 : f_turn + 6'd1;
end
always @* if (f_past) begin
    assert (f_wait <= 6'd40);
    assert (f_turn <= 6'd40);
end
`endif
