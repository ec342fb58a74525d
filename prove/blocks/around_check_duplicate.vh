// What is around CheckDuplicate, with the steps of the decision and the work that it offers; all else of the core is anything.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

// RecycleBuffer sets a group's state while the group is not live, and not in the cycles behind its end.
reg [15:0] f_live_1, f_live_2, f_live_3;
always @(posedge clk) begin
    f_live_1 <= recycle_grp_live;
    f_live_2 <= f_live_1;
    f_live_3 <= f_live_2;
end
wire [15:0] f_late = recycle_grp_live | f_live_1 | f_live_2 | f_live_3;
always @* if (f_past && recycle_init_valid) assume (!f_late[recycle_init_ei[$bits(recycle_init_ei)-1 -: $bits(recycle_acks_group)]]);

// What Control says of a frame, of any: (e) of control.
always @* begin
    assume (!(control_map_current && control_map_previous));
    assume ({1'b0, control_map_opens} + {1'b0, control_map_bad_control} + {1'b0, control_map_wrong_role} <= 2'd1);
    assume (!(control_map_current || control_map_previous) || !(control_map_opens || control_map_bad_control || control_map_wrong_role));
    assume (!control_map_opens || (steps_ask_opcode == 8'h05 && steps_ask_empty));
    assume (!(control_map_up && (control_map_down || control_map_spreads)));
    assume (!(control_map_reduces && control_map_spreads));
end

// LookupTable knows none but endpoints that there are.
localparam F_EP_W = $bits(lookup_ent_ei) - $bits(recycle_acks_group);
always @* assume (lookup_ent_foreign || lookup_ent_bypass || lookup_ent_ei[F_EP_W-1:0] < $bits(lookup_ent_in_mask));

`ifdef PROVE_C
// as long as the verdict is there and all that it waits for is given, a frame is done within so many cycles
reg [1:0] f_looked;
always @(posedge clk) f_looked <= check_ack_rd ? 2'd0 : f_looked == 2'd3 ? f_looked : f_looked + 2'd1;
reg f_opened;                    // a range is open whose control is not decided: Control does not say again that it opens one
always @(posedge clk) f_opened <= !rst && (check_c_opening || (f_opened && !check_c_done));
always @* assume (!f_opened || !control_map_opens);
wire f_calm = packets_vrd_valid && replicate_tx_room && aggregate_op_ready && (acks_ack_ready || f_looked != 2'd3) && !control_ctl_busy && !acks_init_waits;
reg [5:0] f_wait;
always @(posedge clk) f_wait <= rst || !f_calm || !steps_frm_waits || check_c_done ? 6'd0 : f_wait + 6'd1;
always @* if (f_past) assert (f_wait <= 6'd30);
`endif
