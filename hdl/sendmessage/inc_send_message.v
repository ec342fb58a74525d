// SPDX-License-Identifier: Apache-2.0
//
// inc_send_message: the send side of every endpoint in Mode I: where it is in its messages, what it is sent, and what its answers move.
//
// Contract
//   jobs        one at a time: an answer (snd_ack), a turn of what is offered on act_* (snd_act), or news that a pool has more that may be
//               sent (snd_note; snd_ei is that of act_ei then). A pulse begins it and snd_done ends it; the next begins in the cycle after
//               that at the earliest, but an answer or snd_fuse behind an answer of another endpoint, or behind snd_fuse, in that cycle.
//               snd_ei counts with the pulse; all else stands still from the cycle after it to snd_done, ctx_limit and ctx_open from the
//               second cycle after it
//   places      {PSN, message, unit}. Of an endpoint: the first packet that it has not acknowledged; what it gets next, if it lags; of
//               those who share a path MTU with their pool's lowest endpoint, and of each other one: S, one behind the last packet sent.
//               PSNs count packets since the group's start; EP_SQ_PSN is added on the wire (off_*)
//   bounds      where each message that was sent to its end has its last PSN, an endpoint a memory: an answer needs no message's length
//   lanes       those who share the lowest one's path MTU go along: one packet for all of them. Each other endpoint is a lane of its own.
//               A pool's turn sends one packet to each lane that keeps up and has one; so does news to a pool of one lane
//   look        snd_look is a job that looks at a pool: see_*, with its snd_done, S of its one lane, and who keeps up there; see_ok, somebody does
//               and there is no other lane. see_there: it stands, until a job that may change it; an ACK does not if all keep up (see_full).
//               snd_moves: the packet there was made elsewhere, and nothing can be sent behind it; what is seen moves on behind it, into the
//               next message if it is the last of its own (snd_ends, snd_ended). snd_fuse is the job for it, in which all who keep up count as asked
//   answer      snd_stale, or snd_moved with the message that the endpoint is in now, both with snd_done
//   action      snd_acts with what was done, at or before snd_done; a send in the cycle of snd_tx_valid. None: nothing was due
//   open        of the message at ctx_limit, which is not complete, the packets that end within ctx_open may be sent: all of their bytes are
//               there, and it is known that more come. ctx_open is whole units, and 0 where nothing leaves of such a message
//   message     msg_rd asks for one of pool snd_pipe; msg_valid some cycles later, msg_* stand until the next msg_rd.
//               Of the message at ctx_limit msg_ce and msg_unit alone mean anything
//   frame       snd_tx_valid with everything, and snd_work_put if there is payload, while snd_room
//   latency     from the pulse to snd_done, with L cycles from msg_rd to msg_valid: a look, news and a turn that send nothing, and an answer 3; 1 more
//               of one who lags and may get a packet, 2 more of one who goes alone; 3 more for each message's end that an answer goes beyond;
//               what was made elsewhere 4; of what sends L + 2 more, later by what snd_room is low. In a pool of several lanes 3, 3 for each
//               lane, and L + 2 for each that is sent to
//   throughput  one job at a time
//   queue, timers, who lags: inc_retransmission's, which is inside
//   start       as there, in no cycle of a job; init_psn is the first message
//   stall       snd_room, and msg_valid; a job of a group that is stopped meanwhile ends without what it was to send
//   reset       no job, queue empty, nobody has failed; no other state of a group is known until its start
`ifdef INC_MESSAGE_RANGES
//   ranges      snd_open begins a range for an endpoint, who has acknowledged everything, with message ctx_limit: all endpoints of the group, one
//               after the other. They then count packets from the highest number that one of them has come to, and off_* tell where on the
`ifdef INC_RELEASE
//               wire that is, for range rel_rng. 3 or 5 cycles
`else
//               wire that is, for range open_rng. 3 or 5 cycles
`endif
`endif
`ifdef INC_RELEASE
//   release     snd_owe sets an endpoint whose packets are all acknowledged back by one packet, which is a message of no length as long as
//               rel_owed; its PSNs on the wire are one further from then on, with offsets of range rel_rng. 3 or 5 cycles
`ifdef INC_MESSAGE_RANGES
`else
//   not done    ranges: a group's messages begin once, at its start
`endif
`else
`ifdef INC_MESSAGE_RANGES
//   not done    releases
`else
//   not done    releases; ranges: a group's messages begin once, at its start
`endif
`endif
`default_nettype none

module inc_send_message #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W      = 3,
    // bits of an endpoint's index in the table
    parameter EI_W      = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W    = 5,
    // number of groups
    parameter GROUPS    = 2,
    // cycles of a microsecond, 1 to 4095
    parameter CLOCK_MHZ = 250,
    // bytes of a word, a power of two
    parameter BYTES     = 8,
    // bits of a payload length
    parameter LEN_W     = 13,
    // bits of a payload's number of words
    parameter WORDS_W   = 10,
    // bits of a message's length, at most 24
    parameter OFF_W     = 15,
    // bits of the number of a unit of payload memory
    parameter UNIT_W    = 10,
    // bytes of a unit: the least path MTU, a power of two of 256 to 4096
    parameter U_BYTES   = 256
) (
    input  wire                     clk,
    input  wire                     rst,

    // microseconds, 0 stands for 1
    input  wire [15:0]              cfg_timeout,
    input  wire                     tbl_ep_we,
    input  wire [EI_W-1:0]          tbl_index,
    input  wire [3:0]               tbl_word,
    input  wire [31:0]              tbl_data,
    input  wire [GROUPS-1:0]        grp_live,
    // endpoints that have failed, a mask a group
    output wire [GROUPS*MASK_W-1:0] grp_failed,

    // start of a group, an endpoint at a time
    input  wire                     init_valid,
    input  wire                     init_we,
    input  wire [EI_W-1:0]          init_ei,
    input  wire [23:0]              init_psn,
    output wire                     init_clean,
    // offsets of its PSNs on the wire, for TranslateHeader
    output reg                      off_we,
    output reg  [EI_W-1:0]          off_ei,
    output wire [1:0]               off_rng,
    output wire [23:0]              off_in,
    output wire [23:0]              off_out,

    // a job: an answer of an endpoint, a turn, or news that more may be sent of a pool
    input  wire                     snd_ack,
    input  wire                     snd_act,
    input  wire                     snd_note,
`ifdef INC_MESSAGE_RANGES
`ifdef INC_RELEASE
    // or an endpoint begins a range, of number rel_rng modulo 4
    input  wire                     snd_open,
`else
    // or an endpoint begins a range, of that number modulo 4
    input  wire                     snd_open,
    input  wire [1:0]               open_rng,
`endif
`endif
`ifdef INC_RELEASE
    // or an endpoint begins an iteration, of that number modulo 4; it is owed a release of the one before
    input  wire                     snd_owe,
    input  wire                     rel_owes,
    input  wire [1:0]               rel_rng,
    // the job's endpoint, whether it is owed a release, and was sent it
    output wire [EI_W-1:0]          rel_ei,
    input  wire                     rel_owed,
    input  wire                     rel_sent,
    // a release is sent; one is acknowledged
    output wire                     rel_puts,
    output wire                     rel_told,
`endif
    // a look at a pool; the packet that it found the place for was made, to all who keep up; the job for that
    input  wire                     snd_look,
    input  wire                     snd_moves,
    // it is its message's last; the same of the job
    input  wire                     snd_ends,
    input  wire                     snd_fuse,
    input  wire                     snd_ended,
    // what was seen stands, and all keep up there; of whose pool it is, act_ei's
    output wire                     see_there,
    output wire                     see_full,
    output wire [EI_W-1:0]          see_ei,
    output wire                     see_ok,
    output wire [23:0]              see_msg,
    output wire [OFF_W-$clog2(U_BYTES)-1:0] see_pos,
    output wire [23:0]              see_psn,
    output wire [2:0]               see_code,
    output wire [MASK_W-1:0]        see_keep,
    input  wire [EI_W-1:0]          snd_ei,
    input  wire [MASK_W-1:0]        snd_self,
    // the pool that it hears from; which one has its turn
    input  wire                     snd_pipe,
    // the answer: the PSN on the wire that comes next by it, and its kind: ACK, NAK 0x60, RNR NAK with its code, else a NAK that ends the connection
    input  wire [23:0]              snd_psn,
    input  wire                     snd_is_ack,
    input  wire                     snd_is_nak,
    input  wire                     snd_is_rnr,
    input  wire [4:0]               snd_code,
    // the pool's out endpoints, the first message that may not be sent whole, so many bytes of which may be, and whether a slot is of
    // two units for each of a message
    input  wire [MASK_W-1:0]        ctx_outs,
    input  wire [23:0]              ctx_limit,
    input  wire [OFF_W-1:0]         ctx_open,
    input  wire                     ctx_wide,
    // how it ended
    output wire                     snd_done,
    // what ends is an answer, or what was made elsewhere: the next may begin
    output wire                     snd_next,
    output wire                     snd_stale,
    output wire                     snd_moved,
    output wire [23:0]              snd_message,
    // an action was taken: 1 send, 2 send one, 3 time-out, 4 resume; of whom; what it sent was sent before
    output wire                     snd_acts,
    output wire [2:0]               snd_kind,
    output wire [EI_W-1:0]          snd_act_ei,
    output wire                     snd_again,

    // a message
    output wire                     msg_rd,
    output wire [23:0]              msg_number,
    input  wire                     msg_valid,
    input  wire [OFF_W-1:0]         msg_length,
    input  wire                     msg_se,
    input  wire                     msg_has_imm,
    input  wire [31:0]              msg_imm,
    input  wire                     msg_ce,
    input  wire [UNIT_W-1:0]        msg_unit,

    // a packet of it, and its payload
    input  wire                     snd_room,
    output wire                     snd_tx_valid,
    output wire [MASK_W-1:0]        snd_tx_mask,
    output wire [7:0]               snd_tx_opcode,
    output wire                     snd_tx_se,
    output wire [1:0]               snd_tx_pad,
    output wire                     snd_tx_ce,
    output wire [23:0]              snd_tx_psn,
    output wire [31:0]              snd_tx_ext,
    output wire [LEN_W-1:0]         snd_tx_plen,
    output wire [WORDS_W-1:0]       snd_tx_words,
    // those of snd_tx_mask who are asked for an acknowledgement
    output wire [MASK_W-1:0]        snd_tx_ask,
    output wire                     snd_work_put,
    output wire [WORDS_W-1:0]       snd_work_words,
    output wire [UNIT_W-1:0]        snd_work_unit,

    // what is to be done next; of a pool act_ei is that of endpoint 0 (aggregation) or 1 (broadcast) of its group
    output wire                     act_valid,
    // there is, or will be in a few cycles
    output wire                     act_soon,
    output wire                     act_timer,
    output wire                     act_pipe,
    output wire [EI_W-1:0]          act_ei
);

    localparam GRP_W    = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam UNIT_LOG = $clog2(U_BYTES);
    localparam POS_W    = OFF_W - UNIT_LOG;       // bits of a unit's number in a message, and of one behind its last
    localparam PLACE_W  = 24 + 24 + POS_W;
    localparam BOUND_W  = UNIT_W > POS_W ? UNIT_W - POS_W : 1;    // bits of the number of messages that a pool has
    localparam CODE_W   = $clog2(LEN_W - UNIT_LOG) > 1 ? $clog2(LEN_W - UNIT_LOG) : 1;    // bits of log2 of the units of a packet
    localparam GAP_W    = BOUND_W + POS_W;        // bits of the difference of two PSNs that are not acknowledged, with its sign
    // words of a table that has one for each endpoint, and bits of their number
    localparam RECORDS  = GROUPS * MASK_W > 2 ? GROUPS * MASK_W : 2;
    localparam INDEX_W  = $clog2(RECORDS);
    // words of the table and their bits, as the register map has them
    // contract: registers 1
    localparam F_EP_SQ_PSN_PSN = 0, W_EP_SQ_PSN_PSN = 24, F_EP_PATH_MTU_BYTES = 0;
    localparam [3:0] WORD_EP_SQ_PSN = 4'd11, WORD_EP_PATH_MTU = 4'd12;
    // contract: end
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_send_message: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_send_message: MASK_W must be at most 2**EP_W");
        end
        if (U_BYTES < 256 || U_BYTES > 4096 || (1 << UNIT_LOG) != U_BYTES) begin : gen_bad_unit
            $error("inc_send_message: U_BYTES must be a power of two of 256 to 4096");
        end
        if (OFF_W <= UNIT_LOG || OFF_W > 24 || UNIT_W < POS_W) begin : gen_bad_off
            $error("inc_send_message: OFF_W must be more than a unit's bits and at most 24, UNIT_W enough for a slot's units");
        end
    endgenerate
`endif

    localparam [3:0] S_IDLE = 4'd0, S_LANE = 4'd2, S_TAIL = 4'd3, S_LOOK = 4'd4, S_SEEN = 4'd5, S_WAIT = 4'd6, S_CUT = 4'd7,
                     S_USE = 4'd8, S_READ = 4'd9, S_PICK = 4'd10, S_TOLD = 4'd11, S_MADE = 4'd12;

    reg  [3:0]        state_reg;
    wire              idle   = state_reg == S_IDLE;
    wire              seen   = state_reg == S_SEEN;
    wire              use_it = state_reg == S_USE;
    reg               told;                 // it is S_SEEN or S_TOLD, of an answer
    wire              made   = state_reg == S_MADE;
    wire              ends;                 // the job

    // ---- the job ----

    // what only engines with releases, and with ranges, have
`ifdef INC_RELEASE
    reg               owe_reg;
    wire              owe_asked = snd_owe, owing = owe_reg;
`else
    wire              owe_asked = 1'b0, owing = 1'b0;
`endif
`ifdef INC_MESSAGE_RANGES
    reg               open_reg;
    wire              open_asked = snd_open, opens = seen && open_reg;
`else
    wire              open_asked = 1'b0, opens = 1'b0;
`endif
    // It comes in no cycle in which a job goes on. In the last cycle of one these may follow; all else begins when nothing is done, so what it needs
    // is read, and what it is noted, whether it begins or not.
    wire              follows = snd_ack || snd_fuse;
    wire              ready   = idle || follows;
    wire              start = snd_ack || snd_act || snd_note || snd_fuse || snd_look || owe_asked || open_asked;
    reg               ack_reg, note_reg, look_reg, fuse_reg, timer_reg, pool_reg, own_reg;
    reg  [EI_W-1:0]   ei_reg;
    reg               live;                 // from the second cycle on; a group that is stopped in this one still counts

    wire              live_next;
    wire [GRP_W-1:0]  group, start_group, table_group;
    wire [EI_W-1:0]   lane_ei, low_ei;      // who has the lane's S, and that of those who go along
    reg  [EP_W-1:0]   lane_ep_reg;
    wire [EP_W-1:0]   low_ep;
    generate
        if (EI_W > EP_W) begin : gen_groups
            wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
            assign group       = ei_reg[EI_W-1:EP_W];
            assign start_group = init_we ? init_ei[EI_W-1:EP_W] : snd_ei[EI_W-1:EP_W];
            assign table_group = tbl_index[EI_W-1:EP_W];
            assign lane_ei     = {group, lane_ep_reg};
            assign low_ei      = {group, low_ep};
            assign live_next   = live_wide[{1'b0, group}];
        end else begin : gen_one_group
            assign group       = 1'b0;
            assign start_group = 1'b0;
            assign table_group = 1'b0;
            assign lane_ei     = lane_ep_reg;
            assign low_ei      = low_ep;
            assign live_next   = grp_live[0];
        end
    endgenerate

    always @(posedge clk) begin
        live <= live_next;
        if (ready) begin
            ack_reg   <= snd_ack;
            note_reg  <= snd_note || snd_look || snd_fuse;
            look_reg  <= snd_look;
            fuse_reg  <= snd_fuse;
`ifdef INC_MESSAGE_RANGES
            open_reg  <= snd_open;
`endif
`ifdef INC_RELEASE
            owe_reg   <= snd_owe;
`endif
            timer_reg <= snd_act && act_timer;
            pool_reg  <= snd_act && !act_timer && act_pipe;
            own_reg   <= snd_act && !act_timer && !act_pipe;
            ei_reg    <= snd_ei;
        end
    end

    // ---- where the tables keep an endpoint: the job's, one that starts, one whose registers are written ----

    wire [INDEX_W-1:0] next_at, init_at, table_at;
    reg  [INDEX_W-1:0] at_reg;
    wire               next_there, init_there, table_there;
    wire               init_writes = init_we && init_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_next_index (
        .ei(snd_ei), .index(next_at), .present(next_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_init_index (
        .ei(init_ei), .index(init_at), .present(init_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_table_index (
        .ei(tbl_index), .index(table_at), .present(table_there));
    always @(posedge clk) begin
        if (ready) begin
            at_reg <= next_at;
        end
    end

    // ---- path MTUs, as units of a packet, log2, and the first PSNs ----

    wire [CODE_W*MASK_W-1:0] codes;
    reg  [CODE_W-1:0]   table_code;
    integer             i;
    always @* begin
        table_code = {CODE_W{1'b0}};
        for (i = 0; i < LEN_W - UNIT_LOG; i = i + 1) begin
            if (tbl_data[F_EP_PATH_MTU_BYTES + UNIT_LOG + i]) begin
                table_code = i[CODE_W-1:0];
            end
        end
    end

    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_mtu
            inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CODE_W), .ADDR_W(GRP_W)) u_mtu (
                .clk   (clk),
                .we    (tbl_ep_we && tbl_word == WORD_EP_PATH_MTU && tbl_index[EP_W-1:0] == e[EP_W-1:0]),
                .waddr (table_group),
                .wdata (table_code),
                .re    (ready),
                .raddr (start_group),
                .rdata (codes[CODE_W*e +: CODE_W])
            );
        end
    endgenerate

    wire [23:0] unacked_psn;
    wire        tail_we;
    reg  [23:0] at_psn_reg;
    wire [23:0] behind_psn = at_psn_reg + 24'd1;
    wire [23:0] first_psn;
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_first (
        .clk   (clk),
        .we    (tbl_ep_we && table_there && tbl_word == WORD_EP_SQ_PSN),
        .waddr (table_at),
        .wdata (tbl_data[F_EP_SQ_PSN_PSN +: W_EP_SQ_PSN_PSN]),
        .re    (ready),
        .raddr (init_we ? init_at : next_at),
        .rdata (first_psn)
    );

`ifdef INC_RELEASE
    // A release has a PSN of its own, which the packets of the pool do not count: behind it they are one further on the wire.
    wire        owes = seen && owe_reg && rel_owes && live;
`else
    wire        owes = 1'b0;
`endif
`ifdef INC_RELEASE
`ifdef INC_MESSAGE_RANGES
`else
    wire [23:0] gone;                       // releases that the endpoint was owed
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_gone (
        .clk   (clk),
        .we    (init_writes || owes),
        .waddr (init_we ? init_at : at_reg),
        .wdata (init_we ? 24'd0 : gone + 24'd1),
        .re    (ready),
        .raddr (next_at),
        .rdata (gone)
    );
    wire [23:0] on_wire = first_psn + gone;
    reg  [23:0] off_psn;
    reg  [1:0]  off_rng_reg;
    reg         off_late;                   // not of a start
    always @(posedge clk) begin
        off_we      <= (init_we || (seen && owe_reg && live)) && !rst;
        off_ei      <= init_we ? init_ei : ei_reg;
        off_late    <= !init_we;
        off_rng_reg <= init_we ? 2'd0 : rel_rng;
        off_psn     <= on_wire + {23'd0, rel_owes};
    end
    assign off_rng = off_rng_reg;
    assign off_in  = off_late ? off_psn : first_psn;
    assign off_out = off_late ? off_psn : first_psn;
`endif
`endif
`ifdef INC_MESSAGE_RANGES
    // With a range all endpoints count from the highest number on that one of them has come to: what lies behind it stays behind.
    wire [23:0] top_psn;
    reg  [23:0] top_reg;
    wire [23:0] over_top = behind_psn - top_reg;
    wire        tops     = tail_we && !over_top[23];
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_top (
        .clk   (clk),
        .we    (init_we || tops),
        .waddr (init_we ? start_group : group),
        .wdata (init_we ? 24'd0 : behind_psn),
        .re    (ready),
        .raddr (start_group),
        .rdata (top_psn)
    );
    // what an endpoint's PSNs have come to on the wire beyond what it counts
    wire [23:0] gone;
`ifdef INC_RELEASE
    wire [23:0] gone_next = open_reg ? gone + unacked_psn - top_reg : gone + {23'd0, rel_owes};
`else
    wire [23:0] gone_next = gone + unacked_psn - top_reg;
`endif
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_gone (
        .clk   (clk),
        .we    (init_writes || opens || owes),
        .waddr (init_we ? init_at : at_reg),
        .wdata (init_we ? 24'd0 : gone_next),
        .re    (ready),
        .raddr (next_at),
        .rdata (gone)
    );
    wire [23:0] on_wire = first_psn + gone;
    reg  [23:0] off_psn;
    reg  [1:0]  off_rng_reg;
    reg         off_late;                   // not of a start
    always @(posedge clk) begin
        if (state_reg == S_LANE) begin
            top_reg <= top_psn;
        end else if (tops) begin
            top_reg <= behind_psn;
        end
`ifdef INC_RELEASE
        off_we      <= (init_we || opens || (seen && owe_reg && live)) && !rst;
        off_ei      <= init_we ? init_ei : ei_reg;
        off_late    <= !init_we;
        off_rng_reg <= init_we ? 2'd0 : rel_rng;
`else
        off_we      <= (init_we || opens) && !rst;
        off_ei      <= init_we ? init_ei : ei_reg;
        off_late    <= !init_we;
        off_rng_reg <= init_we ? 2'd0 : open_rng;
`endif
        off_psn     <= first_psn + gone_next;
    end
    assign off_rng = off_rng_reg;
    assign off_in  = off_late ? off_psn : first_psn;
    assign off_out = off_late ? off_psn : first_psn;
`else
`ifdef INC_RELEASE
`else
    always @(posedge clk) begin
        off_we <= init_we && !rst;
        off_ei <= init_ei;
    end
    assign off_rng = 2'd0;
    assign off_in  = first_psn;
    assign off_out = first_psn;
    wire [23:0] on_wire = first_psn;
`endif
`endif

    // ---- lanes: the one that goes along, and those who go alone ----

    function [MASK_W-1:0] lowest_of(input [MASK_W-1:0] set);
        integer k;
        for (k = 0; k < MASK_W; k = k + 1) begin
            lowest_of[k] = set[k] && (set & ~({MASK_W{1'b1}} << k)) == NOBODY;
        end
    endfunction

    function [EP_W-1:0] number_of(input [MASK_W-1:0] hot);
        integer k;
        begin
            number_of = {EP_W{1'b0}};
            for (k = 0; k < MASK_W; k = k + 1) begin
                number_of = number_of | (hot[k] ? k[EP_W-1:0] : {EP_W{1'b0}});
            end
        end
    endfunction

    function [CODE_W-1:0] code_of(input [MASK_W-1:0] hot, input [CODE_W*MASK_W-1:0] all);
        integer k;
        begin
            code_of = {CODE_W{1'b0}};
            for (k = 0; k < MASK_W; k = k + 1) begin
                code_of = code_of | (all[CODE_W*k +: CODE_W] & {CODE_W{hot[k]}});
            end
        end
    endfunction

    function [POS_W-1:0] below(input [CODE_W-1:0] code);
        integer k;
        for (k = 0; k < POS_W; k = k + 1) begin
            below[k] = {{(32-CODE_W){1'b0}}, code} > k;
        end
    endfunction

    wire [MASK_W-1:0] lowest   = lowest_of(ctx_outs);
    wire [CODE_W-1:0] low_code = code_of(lowest, codes);
    assign low_ep = number_of(lowest);
    // who is cut as the lowest one is: all are compared with all, while it is found out who that is
    reg  [MASK_W-1:0] along;
    integer           j;
    always @* begin
        along = lowest;
        for (i = 0; i < MASK_W; i = i + 1) begin
            for (j = 0; j < i; j = j + 1) begin
                along[i] = along[i] || (lowest[j] && ctx_outs[i] && codes[CODE_W*i +: CODE_W] == codes[CODE_W*j +: CODE_W]);
            end
        end
    end

    // Whose turn it is in this job, what is left of a pool's, whether it has any but those who go along, and whether a lane has more after it.
    // Whoever turns out to go alone is looked at once more, in a lane of its own.
    reg  [MASK_W-1:0] lane_reg, left_reg;
    reg  [CODE_W-1:0] code_reg;
    reg  [POS_W-1:0]  inner;                // units of its packet behind the first: one for each power of two below
    reg               lone_reg, several_reg, last_reg, more_reg, strays_reg;
    reg               quits_reg;            // the turn of a pool or an endpoint ends if nothing is sent to this lane
    wire              by_pool = pool_reg || note_reg;
    wire              strays  = state_reg == S_LOOK && strays_reg;
    wire [MASK_W-1:0] stray   = strays ? snd_self : lowest_of(left_reg);
    wire              steps;                // to the pool's next lane
    wire              sent;

    wire [23:0]       after_msg, tail_msg;
    wire [POS_W-1:0]  after_pos, tail_pos;
    wire              after_more;

    always @(posedge clk) begin
        if (state_reg == S_LANE) begin
            lane_reg    <= note_reg ? ctx_outs : along;
            lane_ep_reg <= low_ep;
            code_reg    <= low_code;
            inner       <= below(low_code);
            left_reg    <= ctx_outs & ~along;
            several_reg <= 1'b0;
            lone_reg    <= 1'b0;
            last_reg    <= 1'b0;
            more_reg    <= 1'b0;
        end else if (steps || strays) begin
            // after the last lane comes a look at all of them, which ends the turn
            last_reg    <= by_pool && left_reg == NOBODY;
            lane_reg    <= by_pool && left_reg == NOBODY ? ctx_outs : stray;
            lane_ep_reg <= number_of(stray);
            code_reg    <= code_of(stray, codes);
            inner       <= below(code_of(stray, codes));
            left_reg    <= left_reg & ~stray;
            lone_reg    <= 1'b1;
        end else if (state_reg == S_LOOK && by_pool && left_reg != NOBODY) begin
            several_reg <= 1'b1;
        end
        quits_reg <= own_reg || (pool_reg && (last_reg || (!several_reg && left_reg == NOBODY)));
        if (state_reg == S_LANE) begin
            strays_reg <= !by_pool && (along & snd_self) == NOBODY;
        end else if (state_reg == S_LOOK) begin
            strays_reg <= 1'b0;
        end
        if (sent) begin
            more_reg <= more_reg || after_more;
        end
    end

    // ---- places ----

    wire [PLACE_W-1:0]    unacked, tail;
    wire [24+POS_W-1:0]   later;            // what one who lags gets next, if it has acknowledged less
    assign unacked_psn = unacked[PLACE_W-1 -: 24];
    wire [23:0]           tail_psn    = tail[PLACE_W-1 -: 24];
    wire [23:0]           unacked_msg = unacked[POS_W +: 24];
    assign tail_msg = tail[POS_W +: 24];
    assign tail_pos = tail[POS_W-1:0];
`ifdef INC_MESSAGE_RANGES
    wire [PLACE_W-1:0]    first_place = init_we ? {24'd0, init_psn, {POS_W{1'b0}}} : {top_reg, ctx_limit, {POS_W{1'b0}}};
`else
    wire [PLACE_W-1:0]    first_place = {24'd0, init_psn, {POS_W{1'b0}}};
`endif

    reg  [23:0]           at_msg_reg;
    reg  [POS_W-1:0]      at_pos_reg;
    wire                  unacked_we, later_we;
    reg  [23:0]           next_msg_reg;
    reg  [POS_W-1:0]      next_pos_reg;     // one packet further in its message
    wire [23:0]           told_msg;         // where an answer leaves the endpoint
    wire [POS_W-1:0]      told_pos;
    reg  [23:0]           answer_reg;       // what comes next by the answer

    // whose S is read and written
    wire [INDEX_W-1:0]    low_at, lane_at;
    wire                  low_there, lane_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_low_index (
        .ei(low_ei), .index(low_at), .present(low_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_lane_index (
        .ei(lane_ei), .index(lane_at), .present(lane_there));

    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(PLACE_W), .ADDR_W(INDEX_W)) u_unacked (
        .clk   (clk),
        .we    (unacked_we || init_writes || opens),
        .waddr (init_we ? init_at : at_reg),
        .wdata (init_we || opens ? first_place : {answer_reg, told_msg, told_pos}),
        .re    (ready),
        .raddr (next_at),
        .rdata (unacked)
    );
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24 + POS_W), .ADDR_W(INDEX_W)) u_later (
        .clk   (clk),
        .we    (later_we),
        .waddr (at_reg),
        .wdata ({after_msg, after_pos}),
        .re    (ready),
        .raddr (next_at),
        .rdata (later)
    );
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(PLACE_W), .ADDR_W(INDEX_W)) u_tails (
        .clk   (clk),
        .we    (tail_we || init_writes || opens),
        .waddr (init_we ? init_at : opens ? at_reg : lane_at),
        .wdata (init_we || opens ? first_place : {behind_psn, !made ? {after_msg, after_pos} : snd_ended ? {next_msg_reg, {POS_W{1'b0}}} : {at_msg_reg, next_pos_reg}}),
        .re    (state_reg == S_LANE || state_reg == S_TAIL),
        .raddr (state_reg == S_LANE ? low_at : lane_at),
        .rdata (tail)
    );

    // packets since each endpoint was asked last
    wire [4*MASK_W-1:0] silent;
    reg  [4*MASK_W-1:0] silent_reg;
    wire [4*MASK_W-1:0] silent_next;

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(4 * MASK_W), .ADDR_W(GRP_W)) u_silent (
        .clk   (clk),
        .we    (sent || made || init_we),
        .waddr (init_we ? start_group : group),
        .wdata (init_we ? {(4*MASK_W){1'b0}} : silent_next),
        .re    (ready),
        .raddr (start_group),
        .rdata (silent)
    );

    always @(posedge clk) begin
        if (state_reg == S_LANE) begin
            silent_reg <= silent;
        end else if (sent || made) begin
            silent_reg <= silent_next;
        end
    end

    // ---- a look at who keeps up and who lags ----

    reg  [23:0]       acked_reg, heard_reg;
    wire [MASK_W-1:0] keep;
    wire [23:0]       one_psn;
    wire              stale, progress, may_one, again, up_timeout, up_resume;
    wire              commits, cm_ack, cm_send, cm_one, cm_timeout, cm_resume, cm_drop, cm_data, cm_more;
    wire              act_done, queue_clean;

    wire [23:0]       next_wire = snd_psn - on_wire;
    always @(posedge clk) begin
`ifdef INC_RELEASE
        // who is owed a release has the place of the pool's last packet to acknowledge once more, as if it had asked for it
        acked_reg  <= unacked_psn - (owe_reg ? 24'd2 : 24'd1);
        heard_reg  <= owe_reg ? unacked_psn - 24'd2 : next_wire - 24'd1;
        answer_reg <= owe_reg ? unacked_psn - 24'd1 : next_wire;
`else
        acked_reg  <= unacked_psn - 24'd1;
        heard_reg  <= next_wire - 24'd1;
        answer_reg <= next_wire;
`endif
    end

    // ---- bounds: the last PSN of each message that was sent to its end, where an endpoint's messages wait for their acknowledgement; its low
    // bits, as it is compared with an answer that lies where they do ----

    wire [GAP_W*MASK_W-1:0] bounds;
    wire [BOUND_W-1:0]   bound_word = state_reg == S_LANE ? unacked_msg[BOUND_W-1:0] : at_msg_reg[BOUND_W-1:0];
    wire                 bounds_end;        // a message's last packet is sent for the first time
    reg  [GAP_W-1:0]     own_bound;

    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_bound
            inc_ram_1r1w #(.WORDS(1 << (GRP_W + BOUND_W)), .BITS(GAP_W), .ADDR_W(GRP_W + BOUND_W)) u_bound (
                .clk   (clk),
                .we    (bounds_end && lane_reg[e]),
                .waddr ({group, at_msg_reg[BOUND_W-1:0]}),
                .wdata (at_psn_reg[GAP_W-1:0]),
                .re    (state_reg == S_LANE || state_reg == S_READ),
                .raddr ({group, bound_word}),
                .rdata (bounds[GAP_W*e +: GAP_W])
            );
        end
    endgenerate

    always @* begin
        own_bound = {GAP_W{1'b0}};
        for (i = 0; i < MASK_W; i = i + 1) begin
            own_bound = own_bound | (bounds[GAP_W*i +: GAP_W] & {GAP_W{snd_self[i]}});
        end
    end

    inc_retransmission #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .CLOCK_MHZ(CLOCK_MHZ)) u_repeat (
        .clk         (clk),
        .rst         (rst),
        .cfg_timeout (cfg_timeout),
        .grp_live    (grp_live),
        .grp_failed  (grp_failed),
        .init_valid  (init_valid),
        .init_we     (init_we),
        .init_ei     (init_ei),
        .init_clean  (queue_clean),
        .rt_rd       (state_reg == S_LANE || state_reg == S_TAIL),
        .rt_ei       (ei_reg),
        .rt_self     (snd_self),
        .rt_out      (lane_reg),
        .rt_pipe     (snd_pipe),
        .rt_sent     (tail_psn),
        .rt_acked    (acked_reg),
        .rt_last     (heard_reg),
        .rt_next     (answer_reg),
        .rt_is_ack   (snd_is_ack && !owing),
        .rt_is_nak   (snd_is_nak || owing),
        .rt_is_rnr   (snd_is_rnr && !owing),
        .rt_code     (snd_code),
        .rt_keep     (keep),
        .rt_one_psn  (one_psn),
        .rt_stale    (stale),
        .rt_progress (progress),
        .rt_one      (may_one),
        .rt_again    (again),
        .rt_timeout  (up_timeout),
        .rt_resume   (up_resume),
        .cm_we       (commits),
        .cm_ack      (cm_ack),
        .cm_send     (cm_send),
        .cm_one      (cm_one),
        .cm_timeout  (cm_timeout),
        .cm_resume   (cm_resume),
        .cm_open     (opens),
        .cm_drop     (cm_drop),
        .cm_data     (cm_data),
        .cm_more     (cm_more),
        .act_valid   (act_valid),
        .act_soon    (act_soon),
        .act_timer   (act_timer),
        .act_pipe    (act_pipe),
        .act_ei      (act_ei),
        .act_done    (act_done)
    );

    // a queue that is clean stays so until the start is over
    reg               clean_reg;
    always @(posedge clk) begin
        clean_reg <= queue_clean && init_valid;
        if (rst) begin
            clean_reg <= 1'b0;
        end
    end
    assign init_clean = clean_reg;

    // ---- what follows from it ----

    reg               more_here_reg;        // a lane's packet at S may be sent
    wire turn       = pool_reg || own_reg || timer_reg;
    wire news       = note_reg && !look_reg && !fuse_reg;
    reg  lane_wants_reg;                    // it would, if it has a packet
    always @(posedge clk) begin
        lane_wants_reg <= (pool_reg ? !last_reg : news && left_reg == NOBODY) && keep != NOBODY;
    end
    wire sends      = live && ((lane_wants_reg && more_here_reg) || (own_reg && may_one));
    // what an endpoint gets next is the first that it has not acknowledged, or one behind what it got last; known in the second cycle of its look
    reg  at_unacked_reg;
    always @(posedge clk) begin
        at_unacked_reg <= one_psn == unacked_psn;
    end

    // whether packets may be sent: at S, behind the one at the place in the same message, at the next one's begin
    wire [POS_W-1:0]  step  = {{(POS_W-1){1'b0}}, 1'b1} << code_reg;
    wire [POS_W-1:0]  open  = ctx_open[OFF_W-1:UNIT_LOG];
    reg               stay_more_reg, next_more_reg, partly_reg;
    // a packet's place has zeros where `inner` has ones; below nothing if the last unit of the packet at S, the next one or a first one may be sent
    wire [POS_W:0]    past_tail  = {1'b0, tail_pos | inner} - {1'b0, open};
    wire [POS_W:0]    past_next  = {1'b0, next_pos_reg | inner} - {1'b0, open};
    wire [POS_W:0]    past_first = {1'b0, inner} - {1'b0, open};

    // An answer stays in the message that it begins in if that is not sent to its end, or is not acknowledged to its end, else it goes to its
    // end, or beyond.
    reg               stays_reg, found_reg;
    reg  [POS_W-1:0]  moved_reg, gain_reg;
`ifdef INC_RELEASE
    wire              stands = owe_reg || rel_owed;     // a release is in no message
`else
    wire              stands = 1'b0;
`endif
    wire              stays = stays_reg || stands;
    wire              there = found_reg || stands;      // the answer's place is found
    wire              walks = told && !stale && progress && !there;
    wire              tells = told && !stale && (there || !progress);
    wire [GAP_W-1:0]  past  = heard_reg[GAP_W-1:0] - own_bound;
    wire              same  = tail_msg == at_msg_reg || past[GAP_W-1];
    // packets of the message behind the place that it names: of the one that it begins in, or of the next
    wire [POS_W-1:0]  gained = heard_reg[POS_W-1:0] - acked_reg[POS_W-1:0];
    reg  [POS_W-1:0]  past_reg;
    reg               walked_reg;
    assign told_msg = stays ? at_msg_reg : next_msg_reg;
    assign told_pos = stands ? at_pos_reg : stays ? at_pos_reg + moved_reg : {POS_W{1'b0}};

    always @(posedge clk) begin
        past_reg      <= past[POS_W-1:0];
        stays_reg     <= same;
        found_reg     <= same || (heard_reg[GAP_W-1:0] ^ own_bound) == {GAP_W{1'b0}};    // without a carry
        moved_reg     <= (walked_reg ? gain_reg : gained) << code_reg;
        next_msg_reg  <= at_msg_reg + 24'd1;
        next_pos_reg  <= at_pos_reg + step;
        partly_reg    <= at_msg_reg == ctx_limit;
        more_here_reg <= tail_msg != ctx_limit || past_tail[POS_W];
        stay_more_reg <= at_msg_reg != ctx_limit || past_next[POS_W];
        next_more_reg <= next_msg_reg != ctx_limit || past_first[POS_W];
        if (state_reg == S_LANE) begin
            {at_msg_reg, at_pos_reg} <= unacked[24+POS_W-1:0];
        end else if (state_reg == S_LOOK && !ack_reg) begin
            at_psn_reg <= own_reg ? one_psn : tail_psn;
            {at_msg_reg, at_pos_reg} <= own_reg ? (at_unacked_reg ? unacked[24+POS_W-1:0] : later) : tail[24+POS_W-1:0];
        end else if (walks) begin
            {at_msg_reg, at_pos_reg} <= {next_msg_reg, {POS_W{1'b0}}};
        end
        if (state_reg == S_LANE) begin
            walked_reg <= 1'b0;
        end else if (walks) begin
            walked_reg <= 1'b1;
            gain_reg   <= past_reg;
        end
    end

    wire              puts;
`ifdef INC_RELEASE
    // ---- a release: a message of no length ----

    wire              released = own_reg && rel_owed;
    assign rel_ei   = ei_reg;
    assign rel_puts = puts && released;
    assign rel_told = tells && ack_reg && progress && rel_owed;
`else
    wire              released = 1'b0;
`endif

    // ---- the message that a place is in, cut by the lane's path MTU; one that is not complete as if it were as long as any ----

    wire [LEN_W-1:0]   plen;
    wire [WORDS_W-1:0] words;
    wire [1:0]         pad;

    wire               ends_there;          // the packet is the message's last

    assign msg_rd     = seen && sends;
    assign msg_number = at_msg_reg;

    inc_cut_message #(.BYTES(BYTES), .LEN_W(LEN_W), .WORDS_W(WORDS_W), .OFF_W(OFF_W), .POS_W(POS_W), .U_BYTES(U_BYTES)) u_cut (
        .clk    (clk),
        .pos    (at_pos_reg),
        .code   ({{(3-CODE_W){1'b0}}, code_reg}),
        .length (released ? {OFF_W{1'b0}} : partly_reg ? {1'b1, {(OFF_W-1){1'b0}}} : msg_length),
        .last   (ends_there),
        .plen   (plen),
        .words  (words),
        .pad    (pad)
    );

    wire is_last = released || (!partly_reg && ends_there);
    assign after_msg  = is_last ? next_msg_reg : at_msg_reg;
    assign after_pos  = is_last ? {POS_W{1'b0}} : next_pos_reg;
    assign after_more = is_last ? next_more_reg : stay_more_reg;

    // ---- the packet ----

    wire              is_first = at_pos_reg == {POS_W{1'b0}};
    assign            puts     = use_it && live && snd_room;
    wire              stopped  = use_it && !live;       // the group was stopped meanwhile
    wire [UNIT_W-1:0] unit     = {{(UNIT_W-POS_W){1'b0}}, at_pos_reg};
    reg  [MASK_W-1:0] to;                              // from the cycle behind the look on
    reg  [MASK_W-1:0] ask;
    reg  [4*MASK_W-1:0] counted;

    always @* begin
        for (i = 0; i < MASK_W; i = i + 1) begin
            ask[i]              = to[i] && (made || is_last || !stay_more_reg || silent_reg[4*i +: 4] == 4'd15);
            counted[4*i +: 4]   = ask[i] ? 4'd0 : silent_reg[4*i +: 4] + {3'd0, to[i]};
        end
    end
    assign silent_next = counted;
    always @(posedge clk) begin
        to <= own_reg ? snd_self : keep;
    end

    assign snd_tx_valid   = puts;
    assign snd_tx_mask    = to;
    // ONLY and LAST, with an immediate or without; else FIRST or MIDDLE
    assign snd_tx_opcode  = is_last ? {5'd0, is_first, !is_first, msg_has_imm && !released} : {7'd0, !is_first};
    assign snd_tx_se      = is_last && msg_se && !released;
    assign snd_tx_pad     = pad;
    assign snd_tx_ce      = msg_ce && !released;
    assign snd_tx_psn     = at_psn_reg;
    assign snd_tx_ext     = is_last && msg_has_imm && !released ? msg_imm : 32'd0;
    assign snd_tx_plen    = plen;
    assign snd_tx_words   = words;
    assign snd_tx_ask     = ask;
    assign snd_work_put   = puts && words != {WORDS_W{1'b0}};
    assign snd_work_words = words;
    assign snd_work_unit  = msg_unit + (unit << ctx_wide);

    // ---- commit ----

    // a timer's turn ends with its look, whether something was due or not; of another one that sends nothing more
    wire timed     = seen && timer_reg;
    wire acts_late = timed && live && (up_timeout || up_resume);
    wire drops     = seen && quits_reg && !sends;

    assign sent       = puts;
    assign steps      = pool_reg && several_reg && ((seen && !sends && !last_reg) || puts);
    assign commits    = (seen && news && !sends) || acts_late || (drops && live) || puts || tells || made || owes || opens;
    // what it would be goes by the job and how far it is: whether it is comes later
    assign cm_ack     = ack_reg || owing;
    assign cm_send    = (use_it && by_pool) || made;
    assign cm_one     = use_it && own_reg;
    assign cm_timeout = seen && timer_reg && up_timeout;
    assign cm_resume  = seen && timer_reg && !up_timeout;
    assign cm_drop    = seen && (pool_reg || own_reg);
    // a lane's send within a turn goes on with the turn
    assign cm_data    = (seen && news) || (use_it && pool_reg && several_reg);
    assign cm_more    = made ? 1'b0 : use_it && by_pool ? after_more : note_reg ? several_reg || more_here_reg : last_reg ? more_reg : more_here_reg;
    assign act_done   = timed || drops || (stopped && turn) || (puts && !note_reg && !(pool_reg && several_reg));
    assign unacked_we = (tells && progress) || owes;
    assign tail_we    = (puts && by_pool) || made;
    assign later_we   = puts && own_reg;
    assign bounds_end = (puts && by_pool && is_last) || (made && snd_ended);

    assign snd_acts   = acts_late || puts;
    assign snd_kind   = puts ? (own_reg || lone_reg ? 3'd2 : 3'd1) : up_timeout ? 3'd3 : 3'd4;
    assign snd_act_ei = puts && pool_reg && lone_reg ? lane_ei : ei_reg;
`ifdef INC_RELEASE
    assign snd_again  = puts && own_reg && again && (!rel_owed || rel_sent);
`else
    assign snd_again  = puts && own_reg && again;
`endif

    assign ends = made || (seen && ((note_reg && !fuse_reg && !sends) || (ack_reg && stale) || owing)) || timed || drops || stopped || (puts && !several_reg) || tells || opens;

    // What a look found stands, the place moved on by each packet that is made elsewhere, until a job that may change who keeps up, or sends: if
    // all keep up no ACK does.
    reg               there_reg, full_reg, ok_reg;
    reg  [EI_W-1:0]   see_ei_reg;
    reg  [23:0]       see_msg_reg, see_psn_reg;
    reg  [POS_W-1:0]  see_pos_reg;
    reg  [CODE_W-1:0] see_code_reg;
    reg  [MASK_W-1:0] see_keep_reg;
    wire              see_live;
    generate
        if (EI_W > EP_W) begin : gen_see_live
            wire [(1 << GRP_W):0] see_lives = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
            assign see_live = see_lives[{1'b0, see_ei[EI_W-1:EP_W]}];
        end else begin : gen_see_one
            assign see_live = grp_live[0];
        end
    endgenerate

    assign see_there = (seen && look_reg) || there_reg;
    assign see_full  = full_reg;
    assign see_ei    = see_ei_reg;
    assign see_ok    = see_live && ok_reg;
    assign see_msg   = see_msg_reg;
    assign see_pos   = see_pos_reg;
    assign see_psn   = see_psn_reg;
    assign see_code  = {{(3-CODE_W){1'b0}}, see_code_reg};
    assign see_keep  = see_keep_reg;

`ifdef INC_RELEASE
    // what lies behind an iteration is held back by whose job was the last
    wire see_ends = start && !snd_fuse;
`else
    wire see_ends = (start && !snd_ack && !snd_fuse) || (state_reg == S_LANE && ack_reg && !(snd_is_ack && full_reg));
`endif
    always @(posedge clk) begin
        there_reg    <= see_there && !see_ends && !init_we;
        ok_reg       <= see_ok;
        // what is shown with the end of a look is known a cycle before
        if (state_reg == S_LOOK && look_reg) begin
            full_reg     <= keep == ctx_outs;
            ok_reg       <= left_reg == NOBODY && keep != NOBODY;
            see_ei_reg   <= ei_reg;
            see_keep_reg <= keep;
            see_msg_reg  <= tail_msg;
            see_psn_reg  <= tail_psn;
            see_pos_reg  <= tail_pos;
            see_code_reg <= code_reg;
        end else if (snd_moves) begin
            see_msg_reg  <= see_msg_reg + {23'd0, snd_ends};
            see_psn_reg  <= see_psn_reg + 24'd1;
            see_pos_reg  <= snd_ends ? {POS_W{1'b0}} : see_pos_reg + ({{(POS_W-1){1'b0}}, 1'b1} << see_code_reg);
        end
        if (rst) begin
            there_reg <= 1'b0;
        end
    end

    assign snd_done    = ends;
    assign snd_next    = made || snd_stale || tells;
    assign snd_stale   = seen && ack_reg && stale;
`ifdef INC_RELEASE
    assign snd_moved   = tells && progress && !rel_owed;
`else
    assign snd_moved   = tells && progress;
`endif
    assign snd_message = told_msg;

    always @(posedge clk) begin
        case (state_reg)
            S_IDLE:  state_reg <= start ? S_LANE : S_IDLE;
            S_LANE:  state_reg <= own_reg ? S_TAIL : S_LOOK;
            S_TAIL:  state_reg <= S_LOOK;
            S_LOOK:  state_reg <= strays ? S_TAIL : S_SEEN;
            S_SEEN:  state_reg <= ends ? S_IDLE : steps ? S_TAIL : ack_reg ? S_READ : fuse_reg ? S_MADE : S_WAIT;
            S_WAIT:  state_reg <= msg_valid ? S_CUT : S_WAIT;
            S_CUT:   state_reg <= S_USE;
            S_USE:   state_reg <= ends ? S_IDLE : puts ? S_TAIL : S_USE;
            S_READ:  state_reg <= S_PICK;
            S_PICK:  state_reg <= S_TOLD;
            S_TOLD:  state_reg <= ends ? S_IDLE : S_READ;
            default: state_reg <= S_IDLE;
        endcase
        told <= ack_reg && ((state_reg == S_LOOK && !strays) || state_reg == S_PICK);
        if (follows) begin
            state_reg <= S_LANE;
        end
        if (rst) begin
            state_reg <= S_IDLE;
            told      <= 1'b0;
        end
    end

`ifdef INC_MESSAGE_RANGES
    wire unused_bits = &{1'b0, ctx_open, past_tail, past_next, past_first, unacked_msg, over_top, next_there, low_there, lane_there};
`else
    wire unused_bits = &{1'b0, ctx_open, past_tail, past_next, past_first, unacked_msg, next_there, low_there, lane_there};
`endif

endmodule

`default_nettype wire
