// SPDX-License-Identifier: Apache-2.0
//
// inc_send_message_sva: one job at a time, which stands still until it is done; a message is asked for once, and stands still when it has come; a
// packet finds room, goes to endpoints of its pool, who keep up, or to the one whose turn it is, and lies in its message and in what may leave.
`default_nettype none

module inc_send_message_sva #(
    parameter EP_W = 3,
    parameter EI_W = 4,
    parameter MASK_W = 5,
    parameter LEN_W = 13,
    parameter OFF_W = 15,
    parameter POS_W = 7,
    parameter UNIT_LOG = 8,
    parameter UNIT_W = 10
) (
    input wire               clk,
    input wire               rst,

    input wire               start,
    input wire               ends,
    input wire               snd_ack,
    input wire               snd_act,
    input wire               snd_note,
    input wire               snd_look,
    input wire               snd_fuse,
    input wire               snd_moves,
    input wire               see_there,
    input wire [MASK_W-1:0]  see_keep,
    input wire [MASK_W-1:0]  snd_self,
    input wire               snd_pipe,
    input wire [23:0]        snd_psn,
    input wire               snd_is_ack,
    input wire               snd_is_nak,
    input wire               snd_is_rnr,
    input wire [MASK_W-1:0]  ctx_outs,
    input wire [23:0]        ctx_limit,
    input wire [OFF_W-1:0]   ctx_open,
    input wire               ctx_wide,
    input wire               snd_next,
    input wire               snd_stale,
    input wire               snd_moved,
    input wire               snd_acts,
    input wire [2:0]         snd_kind,
    input wire               act_valid,
    input wire               act_done,
    input wire               init_we,

    input wire               ack_reg,
    input wire               note_reg,
    input wire               timer_reg,
    input wire               pool_reg,
    input wire               own_reg,
    input wire               news,
    input wire [EI_W-1:0]    ei_reg,
    input wire [EP_W-1:0]    lane_ep_reg,
    input wire [MASK_W-1:0]  lane_reg,
    input wire [MASK_W-1:0]  keep,
    input wire [23:0]        at_msg_reg,
    input wire [POS_W-1:0]   at_pos_reg,
    input wire               released,
    input wire               partly_reg,
    input wire               tells,
    input wire               progress,
    input wire [23:0]        told_msg,
    input wire [23:0]        tail_msg,

    input wire               msg_rd,
    input wire               msg_valid,
    input wire [OFF_W-1:0]   msg_length,
    input wire [UNIT_W-1:0]  msg_unit,
    input wire               snd_room,
    input wire               snd_tx_valid,
    input wire [MASK_W-1:0]  snd_tx_mask,
    input wire [MASK_W-1:0]  snd_tx_ask,
    input wire [LEN_W-1:0]   snd_tx_plen,
    input wire               snd_work_put
);

    localparam [MASK_W-1:0] NOBODY  = {MASK_W{1'b0}};
    localparam [MASK_W-1:0] ONE     = {{(MASK_W-1){1'b0}}, 1'b1};
    localparam [OFF_W-1:0]  LONGEST = {1'b1, {(OFF_W-1){1'b0}}};
    localparam [31:0]       LAST    = MASK_W - 1;

    // where a packet ends in its message
    wire [OFF_W:0] from    = {1'b0, at_pos_reg, {UNIT_LOG{1'b0}}};
    wire [OFF_W:0] to      = from + {{(OFF_W+1-LEN_W){1'b0}}, snd_tx_plen};
    wire [23:0]    beyond  = at_msg_reg - ctx_limit;     // below 0: all of it may leave
    wire [23:0]    behind  = tail_msg - told_msg;        // below 0: it has not been sent
    wire           unused  = &{1'b0, beyond, behind, ei_reg};

    wire [2:0] pulses = {2'd0, snd_ack} + {2'd0, snd_act} + {2'd0, snd_note} + {2'd0, snd_look} + {2'd0, snd_fuse};
    wire [2:0] kinds  = {2'd0, ack_reg} + {2'd0, note_reg} + {2'd0, timer_reg} + {2'd0, pool_reg} + {2'd0, own_reg};
    wire [MASK_W+28:0]   job   = {snd_self, snd_pipe, snd_psn, snd_is_ack, snd_is_nak, snd_is_rnr, ctx_wide};
    wire [OFF_W+23:0]    limit = {ctx_limit, ctx_open};
    wire [OFF_W+UNIT_W-1:0] message = {msg_length, msg_unit};

    reg                  job_reg;           // a job is under way, from the cycle behind its pulse on
    reg                  stands_reg, bound_reg;     // and has been for a cycle, for two and may send
    reg                  asked_reg;         // a message has not come yet
    reg                  here_reg;          // it has
    reg [MASK_W+28:0]    was_reg;
    reg [MASK_W-1:0]     outs_reg;
    reg [OFF_W+23:0]     limit_reg;
    reg [OFF_W+UNIT_W-1:0] message_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg    <= live_reg || rst;
        job_reg     <= !rst && (start || (job_reg && !ends));
        stands_reg  <= !rst && job_reg && !ends && !start;
        bound_reg   <= !rst && stands_reg && !ends && !start && (pool_reg || own_reg || news);
        asked_reg   <= !rst && (msg_rd || (asked_reg && !msg_valid));
        here_reg    <= !rst && ((asked_reg && msg_valid) || here_reg) && !msg_rd && !ends;
        was_reg     <= job;
        outs_reg    <= ctx_outs;
        limit_reg   <= limit;
        if (msg_valid) begin
            message_reg <= message;
        end
        if (live_reg && !rst) begin
            begin : one_job assert (pulses <= 3'd1); end
            begin : begins_when_none assert (!start || !job_reg || ((snd_ack || snd_fuse) && ends && snd_next)); end
            begin : kind_of_job assert (!job_reg || kinds <= 3'd1); end
            begin : action_is_there assert (!snd_act || act_valid); end
            begin : job_stands_still assert (!stands_reg || (job == was_reg && ctx_outs == outs_reg)); end
            begin : limit_stands_still assert (!bound_reg || limit == limit_reg); end
            begin : job_ends_once assert (!ends || job_reg); end
            begin : how_it_ended assert (!(snd_stale || snd_moved) || (ack_reg && ends && !(snd_stale && snd_moved))); end
            begin : done_by_its_turn assert (!act_done || timer_reg || pool_reg || own_reg); end
            begin : kind_of_action assert (!snd_acts || (job_reg && !ack_reg && (snd_kind == 3'd3 || snd_kind == 3'd4) == timer_reg)); end
            begin : start_waits assert (!init_we || (!job_reg && !start)); end
            begin : endpoint_is_there assert (!job_reg || {{(32-EP_W){1'b0}}, ei_reg[EP_W-1:0]} <= LAST); end
            begin : one_endpoint assert (!(job_reg && stands_reg && (ack_reg || own_reg)) || (snd_self != NOBODY && (snd_self & (snd_self - ONE)) == NOBODY)); end
            begin : heard_of_what_was_sent assert (!(tells && progress) || !behind[23]); end
            begin : moves_what_was_seen assert (!snd_moves || (see_there && see_keep != NOBODY)); end
            begin : asks_in_a_job assert (!msg_rd || (job_reg && !asked_reg)); end
            begin : message_stands_still assert (!here_reg || message == message_reg); end
            begin : sends_in_a_job assert (!snd_tx_valid || (job_reg && !ack_reg && !timer_reg && !asked_reg)); end
            begin : room_for_packet assert (!snd_tx_valid || snd_room); end
            begin : work_of_a_packet assert (!snd_work_put || snd_tx_valid); end
            begin : somebody_gets_it assert (!snd_tx_valid || snd_tx_mask != NOBODY); end
            begin : sends_by_role assert (!snd_tx_valid || (own_reg ? snd_tx_mask == snd_self && (released || (snd_self & ~ctx_outs) == NOBODY)
                                                                    : (snd_tx_mask & ~(ctx_outs & lane_reg & keep)) == NOBODY)); end
            begin : lane_is_there assert (!snd_tx_valid || {{(32-EP_W){1'b0}}, lane_ep_reg} <= LAST); end
            begin : asked_get_it assert (!snd_tx_valid || (snd_tx_ask & ~snd_tx_mask) == NOBODY); end
            begin : packet_in_message assert (!snd_tx_valid || released || to <= {1'b0, partly_reg ? LONGEST : msg_length}); end
            begin : packet_may_leave assert (!snd_tx_valid || released || beyond[23] || (at_msg_reg == ctx_limit && to <= {1'b0, ctx_open})); end
        end
    end

endmodule

`default_nettype wire
