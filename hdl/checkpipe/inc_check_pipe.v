// SPDX-License-Identifier: Apache-2.0
//
// inc_check_pipe: decides what every frame does in Mode III, takes the engine's own actions in turn with frames, and keeps the pipes.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries; a frame and an action in turn while both wait
//   latency     3 cycles a frame when its verdict is there, 4 in an in-band group, 1 for a bypassed frame; one more if it sends its result at
//               once, or an RNR NAK and a CNP; otherwise it waits for the verdict, having sent the work on the payload ahead as speculative,
//               and lets actions through meanwhile: the work is killed then, and the frame looked at again.
//               An acknowledgement from an endpoint that has acknowledged no more than its pipe's start is decided with ack_ready if others have not
//               either, else 2 cycles later: with ReceiveACK's 2 stages 4 or 6 cycles a frame; a control that opens a range takes the opening and 8 cycles; an action takes 3 cycles
//   throughput  1 frame or action in as many cycles as that
//   commit      in the cycle of the verdict: state is written, tx_* pushed, counters stepped, or nothing of it and op_kill. A result that is sent
//               at once is committed with its frame, its tx_* pushed after the acknowledgement's
//   stall       waits while tx_room or op_ready is low and needed
//   pipes       slots of a ring are counted from the slot of `start`, so N need not be a power of two: `bias` is that slot's number less start.
//               At the root of an AllReduce or Barrier one ring of 2N is both pipes
//   payload     op_slot is the unit base + index of the slot, with 16-bit elements base + 2 * index. In place op_read adds to what lies
//               there, or sends it, and op_emit sends. In a tree op_pair is the pair of the endpoint, 0 for the parent's data; op_read says
//               that the other of the pair has contributed, and op_reduce instead of op_emit that op_pairs make the result
//   slots       the first contribution to a PSN overwrites what lies in its slot; it is known by `top`, the first PSN that nobody has sent
//   state       per group both pipes {top, S, done, start, bias}, and what is needed to send without a frame, noted whenever data is accepted;
//               set by init_* while no frame is being written; the slots a pipe has come from GROUP_PIPE of its group
//   in-band     with IN_BAND: ctl_rd asks Control where the frame belongs, map_* two cycles later; a control that opens a range and is good
//               is ctl_open, and looked at again, from ctl_rd on, when ctl_busy is low; tx_psn of data is then a group's PSN
//   monitor     mon_act_*: docs/pipes.md section 7, in the cycle of the commit; of a result sent at once when its tx_* is pushed
//   reset       idle
//   not done    payload, copies, headers, offsets; ePSN and answers are SendAck's, timers, laggards and the queue Retransmission's, the minimum over
//               acknowledgements ReceiveACK's
`default_nettype none

module inc_check_pipe #(
    // bits of a payload length
    parameter LEN_W    = 11,
    // bits of a payload's number of words
    parameter WORDS_W  = 8,
    // bytes of a word, a power of two
    parameter BYTES    = 8,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W     = 3,
    // bits of an endpoint's index in the table
    parameter EI_W     = 4,
    // bits of an endpoint mask
    parameter MASK_W   = 5,
    // bits of a slot's number
    parameter SLOT_W   = 4,
    // payloads a slot unit holds: 1, or the pairs of endpoints
    parameter PLANES   = 1,
    // bits of a pair's number, at least 1
    parameter PAIR_W   = 1,
    // 1: contributions are kept by pairs of endpoints and reduced when the slot is complete
    parameter TREE     = 0,
    // 1: there are element types of 16 bits; their slots are two units
    parameter HALVES   = 0,
    // number of groups
    parameter GROUPS   = 2,
    // bits of a word's address in the packet buffer
    parameter PKT_W    = 9,
    // 1: a wrong ICRC drops the frame
    parameter ICRC     = 1,
    // 1: there are in-band groups
    parameter IN_BAND  = 0,
    // number of counters
    // contract: parameter 3
    parameter COUNTERS = 53
    // contract: end
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [GROUPS-1:0]   grp_live,

    // control plane
    input  wire                tbl_grp_we,
    input  wire [EI_W-1:0]     tbl_index,
    input  wire [3:0]          tbl_word,
    input  wire [31:0]         tbl_data,

    // the frame's context, from LookupTable
    input  wire                ent_valid,
    output wire                ent_pop,
    // a frame that was looked up is not decided yet
    output wire                frm_waits,
    input  wire                ent_bypass,
    input  wire                ent_foreign,
    input  wire [EI_W-1:0]     ent_ei,
    input  wire                ent_host,
    input  wire                ent_up,
    input  wire                ent_down,
    input  wire                ent_ackable,
    input  wire                ent_sum_ok,
    input  wire                ent_len_ok,
    input  wire                ent_tver_ok,
    input  wire                ent_too_long,
    input  wire                ent_whole,
    input  wire                ent_empty,
    input  wire [7:0]          ent_opcode,
    input  wire                ent_se,
    input  wire [1:0]          ent_pad,
    input  wire                ent_ce,
    input  wire [23:0]         ent_psn,
    input  wire [31:0]         ent_ext,
    input  wire [LEN_W-1:0]    ent_plen,
    input  wire [WORDS_W-1:0]  ent_words,
    input  wire [SLOT_W-1:0]   ent_base,
    input  wire [4:0]          ent_log2_n,
    input  wire [MASK_W-1:0]   ent_in_mask,
    input  wire [MASK_W-1:0]   ent_out_mask,
    input  wire [MASK_W-1:0]   ent_ack_mask,
    input  wire [MASK_W-1:0]   ent_parent_mask,
    input  wire [2:0]          ent_collective,
    input  wire [1:0]          ent_function,
    input  wire [1:0]          ent_dtype,
    input  wire                ent_big_endian,
    input  wire                ent_in_band,
    input  wire                ent_route_valid,
    input  wire [MASK_W-1:0]   ent_route_mask,
    input  wire                ent_root_sends,

    // in-band groups: the frame's range, from Control
    output wire                ctl_rd,
    output wire [EI_W-1:0]     ctl_ei,
    output wire [EI_W-1:0]     ask_ei,
    output wire [23:0]         ask_psn,
    output wire [7:0]          ask_opcode,
    output wire                ask_empty,
    output wire [31:0]         ask_ext,
    output wire [MASK_W-1:0]   ask_in_mask,
    output wire [MASK_W-1:0]   ask_out_mask,
    output wire [MASK_W-1:0]   ask_ack_mask,
    output wire [MASK_W-1:0]   ask_parent_mask,
    output wire                ask_route_valid,
    output wire [MASK_W-1:0]   ask_route_mask,
    output wire                ask_root_sends,
    output wire                ctl_open,
    input  wire                ctl_busy,
    input  wire                map_current,
    input  wire                map_previous,
    input  wire                map_opens,
    input  wire                map_opens_up,
    input  wire                map_bad_control,
    input  wire                map_wrong_role,
    input  wire                map_contradicts,
    input  wire [23:0]         map_base,
    input  wire [23:0]         map_psn,
    input  wire [1:0]          map_rng,
    input  wire [23:0]         map_begin,
    input  wire [23:0]         map_end,
    input  wire                map_up,
    input  wire                map_down,
    input  wire                map_ackable_any,
    input  wire                map_needs_host,
    input  wire [2:0]          map_collective,
    input  wire [1:0]          map_function,
    input  wire [1:0]          map_dtype,
    input  wire [MASK_W-1:0]   map_in_mask,
    input  wire [MASK_W-1:0]   map_out_mask,
    input  wire [MASK_W-1:0]   map_ack_mask,
    input  wire [MASK_W-1:0]   map_parent_mask,

    // what was acknowledged, from ReceiveACK
    output wire                ack_rd,
    output wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] ack_group,
    output wire [MASK_W-1:0]   ack_self,
    output wire [MASK_W-1:0]   ack_mask,
    output wire [MASK_W-1:0]   ack_pick,
    input  wire                ack_ready,
    input  wire [23:0]         ack_picked,
    input  wire [23:0]         ack_picked_msn,
    input  wire [23:0]         ack_rest,
    input  wire [23:0]         ack_rest_msn,
    input  wire                ack_rest_any,
    input  wire [EP_W-1:0]     ack_rest_ep,
    input  wire [23:0]         ack_own,
    input  wire [23:0]         ack_own_msn,
    output wire                ack_we,
    // all endpoints have ack_psn at least
    output wire                ack_lift,
    output wire [23:0]         ack_psn,
    output wire [23:0]         ack_msn,

    // its verdict, from the packet buffer
    input  wire                vrd_valid,
    output wire                vrd_pop,
    input  wire                vrd_err,
    input  wire                vrd_len_ok,
    input  wire                vrd_icrc_ok,
    input  wire [PKT_W-1:0]    vrd_end,

    // slot words, in RecycleBuffer
    output wire                rd_en,
    output wire [SLOT_W-1:0]   rd_slot,
    input  wire [23:0]         slot_tag,
    input  wire [MASK_W-1:0]   slot_mask,
    input  wire                slot_complete,
    input  wire [7:0]          slot_opcode,
    input  wire [LEN_W-1:0]    slot_plen,
    input  wire [1:0]          slot_pad,
    input  wire                slot_se,
    input  wire [31:0]         slot_ext,
    input  wire                slot_ce,
    output wire                wr_en,
    output wire [SLOT_W-1:0]   wr_slot,
    output wire [23:0]         wr_tag,
    output wire [MASK_W-1:0]   wr_mask,
    output wire                wr_complete,
    output wire [7:0]          wr_opcode,
    output wire [LEN_W-1:0]    wr_plen,
    output wire [1:0]          wr_pad,
    output wire                wr_se,
    output wire [31:0]         wr_ext,
    output wire                wr_ce,

    // state at the start of a group, an endpoint at a time; taken by SendAck and Retransmission too
    input  wire                init_valid,
    output wire                init_take,
    input  wire                init_clean,
    input  wire [EI_W-1:0]     init_ei,
    input  wire [23:0]         init_psn,

    // the receive side, in SendAck
    output wire                rcv_rd,
    output wire [EI_W-1:0]     rcv_ei,
    output wire [23:0]         rcv_psn,
    output wire                rcv_ends,
    output wire                rcv_host,
    input  wire                rcv_behind,
    input  wire                rcv_ahead,
    output wire                rcv_duplicate,
    output wire                rcv_gap,
    output wire                rcv_full,
    output wire                rcv_accept,
    output wire                rcv_we,
    input  wire                ans_ack,
    input  wire                ans_nak,
    input  wire                ans_rnr,
    input  wire                ans_cnp,
    input  wire [23:0]         ans_psn,
    input  wire [7:0]          ans_syndrome,
    input  wire [23:0]         ans_msn,

    // the send side, in Retransmission
    output wire                rt_rd,
    output wire [EI_W-1:0]     rt_ei,
    output wire [MASK_W-1:0]   rt_self,
    output wire [MASK_W-1:0]   rt_out,
    output wire                rt_pipe,
    output wire [23:0]         rt_sent,
    output wire [23:0]         rt_acked,
    output wire [23:0]         rt_psn,
    output wire                rt_is_ack,
    output wire                rt_is_nak,
    output wire                rt_is_rnr,
    output wire [4:0]          rt_code,
    input  wire [MASK_W-1:0]   rt_keep,
    input  wire [23:0]         rt_one_psn,
    input  wire                rt_stale,
    input  wire                rt_progress,
    input  wire [23:0]         rt_next,
    input  wire                rt_one,
    input  wire                rt_again,
    input  wire                rt_timeout,
    input  wire                rt_resume,
    output wire                cm_ack,
    output wire                cm_send,
    output wire                cm_one,
    output wire                cm_timeout,
    output wire                cm_resume,
    output wire                cm_open,
    output wire                cm_drop,
    output wire                cm_data,
    output wire                cm_more,
    input  wire                act_valid,
    input  wire                act_timer,
    input  wire                act_pipe,
    input  wire [EI_W-1:0]     act_ei,
    output wire                act_done,

    // work on the payload, for AggregateData
    input  wire                op_ready,
    output wire                op_valid,
    // the frame is not committed yet: op_commit or op_kill follows
    output wire                op_spec,
    output wire                op_commit,
    output wire                op_kill,
    output wire [PKT_W-1:0]    op_start,
    output wire [WORDS_W-1:0]  op_words,
    // unit of the slot's payload, and pair of the endpoint
    output wire [SLOT_W-1:0]   op_slot,
    output wire [PAIR_W-1:0]   op_pair,
    // add to the slot's words, in a tree to those of the pair, or send them unchanged
    output wire                op_read,
    // take the frame's words
    output wire                op_take,
    output wire                op_write,
    output wire                op_emit,
    // TREE: reduce these pairs and send the result
    output wire                op_reduce,
    output wire [PLANES-1:0]   op_pairs,
    output wire [1:0]          op_function,
    output wire [1:0]          op_dtype,
    output wire                op_big_endian,
    // the oldest word that a frame not yet decided may want
    output wire [PKT_W-1:0]    pkt_start,

    // frames to be made, for ReplicateData
    input  wire                tx_room,
    output wire                tx_valid,
    // what its frames are counted as: 0 nothing, 1 copies of data, 2 copies of acknowledgements
    output wire [1:0]          tx_kind,
    output wire [EI_W-1:0]     tx_ei,
    output wire [MASK_W-1:0]   tx_mask,
    output wire [7:0]          tx_opcode,
    output wire                tx_se,
    output wire [1:0]          tx_pad,
    output wire                tx_ce,
    output wire [23:0]         tx_psn,
    // tx_psn is a group's: of range tx_rng, to go out with the offset in (1) or out (0)
    output wire                tx_in_band,
    output wire [1:0]          tx_rng,
    output wire                tx_dir,
    output wire [31:0]         tx_ext,
    output wire [LEN_W-1:0]    tx_plen,
    output wire [WORDS_W-1:0]  tx_words,

    // what happens, in its order: 0 a frame, 1 send, 2 send one, 3 time-out, 4 resume
    output wire                mon_act_valid,
    output wire [2:0]          mon_act_kind,
    output wire [EI_W-1:0]     mon_act_ei,

    // one bit a counter, high for one cycle a step
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam LANE_W = $clog2(BYTES);

    // positions in `count`
    // contract: counters 3
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_DOWN_DATA = 9,
               C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14, C_TX_GAP_NAK = 16, C_TX_CNP = 17,
               C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20, C_DROP_GROUP_DISABLED = 21, C_DROP_RX_ERROR = 22, C_DROP_IP_CHECKSUM = 23,
               C_DROP_LENGTH_MISMATCH = 24, C_DROP_ICRC = 25, C_DROP_TVER = 26, C_DROP_OPCODE = 27, C_DROP_TOO_LONG = 28,
               C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30, C_DROP_SYNDROME = 31, C_DROP_GAP = 32, C_DROP_SHAPE = 35,
               C_RANGE_OPEN = 38, C_DROP_RANGE = 42, C_DROP_BAD_CONTROL = 43, C_DROP_CONTROL = 44, C_DROP_STALE_ACK = 45, C_TX_ACK = 46,
               C_TX_RNR = 47, C_TX_RETRANSMIT = 48, C_TIMEOUT = 49, C_RX_DUPLICATE = 50, C_DOWN_TAKEN = 51, C_DROP_FULL = 52,
               C_COUNT = 53;
    // contract: end

`ifndef __ICARUS__
    generate
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
            $error("inc_check_pipe: COUNTERS must be the number of the mode's counters");
        end
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_pipe: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_check_pipe: MASK_W must be at most 2**EP_W");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1 || IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_tree
            $error("inc_check_pipe: TREE, HALVES and IN_BAND must be 0 or 1");
        end
        if (PLANES < 1 || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES)) || (TREE == 0 && PLANES != 1)
            || (TREE == 1 && (2 * PLANES + 1 < MASK_W || (PLANES > 1 && 2 * PLANES > MASK_W + 1)))) begin : gen_bad_planes
            $error("inc_check_pipe: PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them");
        end
        if (SLOT_W < 1 || SLOT_W > 22) begin : gen_bad_slot
            $error("inc_check_pipe: SLOT_W must be 1 to 22");
        end
        if ((1 << LANE_W) != BYTES || LEN_W < LANE_W) begin : gen_bad_bytes
            $error("inc_check_pipe: BYTES must be a power of two of at most LEN_W bits");
        end
    endgenerate
`endif

    // a fixed group's frame is looked at in S_HEAD, an in-band group's in S_MAP; S_SLOT finds its slot
    localparam [2:0] S_HEAD = 3'd0, S_MAP = 3'd1, S_SLOT = 3'd2, S_DECIDE = 3'd3, S_MORE = 3'd4, S_OPEN = 3'd5;
    localparam [2:0] REDUCE = 3'd1, BROADCAST = 3'd2, BARRIER = 3'd3;
    localparam [7:0] OP_ACK = 8'h11, OP_CNP = 8'h81;
    // contract: registers 3
    localparam F_GROUP_PIPE_N = 0;
    localparam [3:0] WORD_GROUP_PIPE = 4'd1;
    // contract: end
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    reg [2:0]       state_reg;
    reg             acting_reg;        // an action, not a frame
    reg             turn_reg;          // of frames: an action was the last
    reg             sent_reg;          // the payload's work is under way, speculative
    reg             looked_reg;        // the frame was looked at before
    reg             live_reg;          // the group was live whenever the frame's state was read
    reg             opened_reg;        // the frame has opened its range
    reg             cnp_reg;           // S_MORE is for a CNP, not for a result
    reg [PKT_W-1:0] start_reg;         // where the frame at the head has its first word

    // ---- whose turn: an action's, if the frame is not ready or had its turn; never between a range's opening and its control ----

    wire pick     = act_valid && !opened_reg && !(ent_valid && vrd_valid && turn_reg);
    wire acts     = state_reg == S_HEAD ? pick : acting_reg;
    wire head     = state_reg == S_HEAD && ent_valid && !pick;
    wire by_range = IN_BAND != 0 && ent_in_band;
    wire mapping  = head && !ent_bypass && by_range;
    wire looking  = (head && !ent_bypass && !by_range) || state_reg == S_MAP;
    wire look     = looking || (state_reg == S_HEAD && pick);
    wire quick    = head && ent_bypass && vrd_valid;
    wire deciding = state_reg == S_DECIDE;

    wire [EI_W-1:0]  ei = acts ? act_ei : ent_ei;
    wire [GRP_W-1:0] group;
    wire [GRP_W-1:0] init_group;
    wire [GRP_W-1:0] tbl_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group      = ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
            assign tbl_group  = tbl_index[GRP_W-1:0];
        end else begin : gen_one_group
            assign group      = 1'b0;
            assign init_group = 1'b0;
            assign tbl_group  = 1'b0;
        end
    endgenerate

    wire [MASK_W-1:0] self;
    wire [MASK_W-1:0] sibling;         // the other endpoint of its pair
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign self[e] = ei[EP_W-1:0] == E;
            if ((e ^ 1) < MASK_W) begin : gen_two
                assign sibling[e] = self[e ^ 1];
            end else begin : gen_single
                assign sibling[e] = 1'b0;
            end
        end
    endgenerate

    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
    wire                  live_now  = live_wide[{1'b0, group}];
    wire                  live      = live_now && live_reg;

    // ---- state of the group: its pipes, and what data goes by that is sent without a frame ----

    localparam REC_W = 4 * 24 + SLOT_W + 1;
    localparam CTX_W = 1 + 2 + 24 + 3 + 2 + 2 + 1 + 3 * MASK_W + 2 * SLOT_W;

    wire [REC_W-1:0] rec_a, rec_b, rec_next;
    wire [REC_W-1:0] fresh, init_rec;
    wire             rec_we;
    wire [SLOT_W-1:0] pipe_n;
    wire             ctx_we;

    wire              ctx_ranged, ctx_big_endian;
    wire [1:0]        ctx_rng, ctx_function, ctx_dtype;
    wire [23:0]       ctx_end;
    wire [2:0]        ctx_collective;
    wire [MASK_W-1:0] ctx_in_mask, ctx_out_mask, ctx_parent_mask;
    wire [SLOT_W-1:0] ctx_base, ctx_n;

    wire              pipe_b;
    wire              opening;
    wire [2*REC_W-1:0] recs_next = opening ? {fresh, fresh} : pipe_b ? {rec_next, rec_a} : {rec_b, rec_next};

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * REC_W), .ADDR_W(GRP_W)) u_pipes (
        .clk   (clk),
        .we    (rec_we || init_take),
        .waddr (rec_we ? group : init_group),
        .wdata (rec_we ? recs_next : {init_rec, init_rec}),
        .re    (look),
        .raddr (group),
        .rdata ({rec_b, rec_a})
    );
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W), .ADDR_W(GRP_W)) u_sizes (
        .clk   (clk),
        .we    (tbl_grp_we && tbl_word == WORD_GROUP_PIPE),
        .waddr (tbl_group),
        .wdata (tbl_data[F_GROUP_PIPE_N +: SLOT_W]),
        .re    (look),
        .raddr (group),
        .rdata (pipe_n)
    );

    // ---- what the group computes: noted, by its registers, or by the range that is live ----

    wire              ranged      = acts ? ctx_ranged : by_range;
    wire [2:0]        collective  = acts ? ctx_collective : ranged ? map_collective : ent_collective;
    wire [1:0]        dtype       = acts ? ctx_dtype : ranged ? map_dtype : ent_dtype;
    wire [1:0]        operation   = acts ? ctx_function : ranged ? map_function : ent_function;
    wire              big_endian  = acts ? ctx_big_endian : ent_big_endian;
    wire [MASK_W-1:0] in_mask     = ranged ? map_in_mask : ent_in_mask;
    wire [MASK_W-1:0] out_mask    = acts ? ctx_out_mask : ranged ? map_out_mask : ent_out_mask;
    wire [MASK_W-1:0] parent_mask = acts ? ctx_parent_mask : ranged ? map_parent_mask : ent_parent_mask;
    wire [1:0]        rng         = acts ? ctx_rng : map_rng;
    wire [SLOT_W-1:0] base        = acts ? ctx_base : ent_base;

    wire [23:0]       half        = 24'd1 << (ent_log2_n - 5'd1);
    wire [SLOT_W-1:0] ent_n       = pipe_n != {SLOT_W{1'b0}} ? pipe_n : half[SLOT_W-1:0];
    wire [SLOT_W-1:0] n           = acts ? ctx_n : ent_n;

    wire reduces = collective == REDUCE;
    wire spreads = collective == BROADCAST;
    wire root    = !reduces && !spreads && parent_mask == NOBODY;

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CTX_W), .ADDR_W(GRP_W)) u_contexts (
        .clk   (clk),
        .we    (ctx_we || init_take),
        .waddr (ctx_we ? group : init_group),
        .wdata (ctx_we ? {ranged, map_rng, map_end, collective, operation, dtype, big_endian, in_mask, out_mask, parent_mask, base, n}
                       : {CTX_W{1'b0}}),
        .re    (look),
        .raddr (group),
        .rdata ({ctx_ranged, ctx_rng, ctx_end, ctx_collective, ctx_function, ctx_dtype, ctx_big_endian,
                 ctx_in_mask, ctx_out_mask, ctx_parent_mask, ctx_base, ctx_n})
    );

    // ---- which pipe, and where in it ----

    wire is_data, is_ack, is_cnp, ends, has_imm, syn_ack, syn_rnr, syn_nak;

    inc_frame_class u_class (
        .opcode   (ent_opcode),
        .syndrome (ent_ext[31:24]),
        .is_data  (is_data),
        .is_end   (ends),
        .has_imm  (has_imm),
        .is_ack   (is_ack),
        .is_cnp   (is_cnp),
        .syn_ack  (syn_ack),
        .syn_rnr  (syn_rnr),
        .syn_nak  (syn_nak)
    );

    wire is_child = ranged ? map_up : ent_up;
    wire is_down  = ranged ? map_down : ent_down;

    // data of a child goes to the aggregation pipe, but for a root's ring; a parent hears from the aggregation pipe, but of a Broadcast
    wire              heard_b = spreads || (self & parent_mask) == NOBODY;
    wire              pointed = acts && !act_timer && act_pipe;    // an action of a whole pipe
    assign            pipe_b  = pointed ? act_ei[0] : !acts && is_data ? root || spreads || !is_child : heard_b;
    wire [MASK_W-1:0] outs    = !pipe_b ? parent_mask : spreads ? out_mask : out_mask & ~parent_mask;
    wire              hears   = (self & outs) != NOBODY && !(reduces && pipe_b);

    wire [23:0]     psn = by_range ? map_psn : ent_psn;            // of a frame, the group's

    wire [23:0]     rec_top, rec_sent, rec_done, rec_start;
    wire [SLOT_W:0] rec_bias;
    assign {rec_top, rec_sent, rec_done, rec_start, rec_bias} = pipe_b ? rec_b : rec_a;

    wire [SLOT_W:0]   size  = root ? {n, 1'b0} : {1'b0, n};
    wire [23:0]       at    = !acts ? psn : pointed ? rec_sent : rt_one_psn;
    wire [SLOT_W:0]   raw   = rec_bias + at[SLOT_W:0];
    wire [SLOT_W:0]   wrap  = raw - size;
    wire [SLOT_W-1:0] place = raw >= size ? wrap[SLOT_W-1:0] : raw[SLOT_W-1:0];
    wire [SLOT_W-1:0] shift = pipe_b && !root ? n : {SLOT_W{1'b0}};
    wire [SLOT_W-1:0] index = place + shift;
    wire [SLOT_W-1:0] slot  = base + index;

    assign rd_en   = state_reg == S_SLOT;
    assign rd_slot = slot;

    // what follows stands from S_DECIDE on
    reg  [SLOT_W-1:0] index_reg, slot_reg;
    reg  [SLOT_W:0]   head_reg;        // start's slot in the ring
    reg  [23:0]       at_reg, off_reg, span_reg, unsent_reg;
    reg               next_reg, first_reg, holds_reg, drained_reg;
    reg [23:0]        before_reg;      // the PSN before start
    wire [23:0]       rec_before = rec_start - 24'd1;

    wire [23:0] ctx_after = ctx_end + 24'd1;
    wire        a_drained = rec_a[SLOT_W+1 +: 24] == ctx_after;
    wire        b_drained = rec_b[SLOT_W+1 +: 24] == ctx_after;
    wire        was_reduce = ctx_collective == REDUCE;
    wire        was_spread = ctx_collective == BROADCAST;
    wire        drained   = !ctx_ranged
                            || ((was_reduce || b_drained) && (was_spread || (!was_reduce && ctx_parent_mask == NOBODY) || a_drained));

    always @(posedge clk) begin
        index_reg   <= index;
        slot_reg    <= slot;
        head_reg    <= rec_bias + rec_start[SLOT_W:0];
        at_reg      <= at;
        off_reg     <= at - rec_start;
        span_reg    <= rec_done - rec_start;
        unsent_reg  <= rec_sent - rec_start;
        next_reg    <= at == rec_sent;
        first_reg   <= at == rec_top;
        holds_reg   <= ack_own == rec_before;
        before_reg  <= rec_before;
        drained_reg <= drained;
    end

    // distances from start: of what may be sent, and of what no longer fits
    wire [23:0] n_wide   = {{(24-SLOT_W){1'b0}}, n};
    wire [23:0] limit    = root && span_reg > n_wide ? n_wide : span_reg;
    wire [23:0] room     = root ? limit + n_wide : n_wide;
    wire        fits     = off_reg < room;
    wire        sendable = unsent_reg < limit;

    // where payload lies: 16-bit elements are kept as FP32, in two units a slot; the ranges of an in-band group may be of such
    wire              wide = HALVES != 0 && (ranged || dtype[1] != dtype[0]);
    wire [SLOT_W:0]   unit = {1'b0, base} + (wide ? {index_reg, 1'b0} : {1'b0, index_reg});

    // ---- what a frame is ----

    wire syn_any  = syn_ack || syn_rnr || syn_nak;

    wire early_ok = !ent_bypass && !ent_foreign && live && ent_sum_ok && ent_len_ok;
    wire known_op = ent_tver_ok && (is_data || is_ack || is_cnp) && !ent_too_long;
    // known from the header alone; and with the verdict
    wire sound    = early_ok && known_op;
    wire icrc_ok  = vrd_icrc_ok || ICRC == 0;
    wire intact   = !vrd_err && vrd_len_ok && icrc_ok;
    wire good     = sound && intact;

    wire may_send  = by_range || ent_up || ent_down;
    wire judged    = is_data && may_send;
    wire duplicate = judged && rcv_behind;
    wire gap       = judged && rcv_ahead;
    wire in_order  = judged && !rcv_behind && !rcv_ahead;

    // in-band: data of the live range, or a control that may open the next
    wire belongs      = !by_range || map_current;
    wire contradicts = in_order && by_range && map_current && map_contradicts;
    wire bad_control = in_order && !belongs && map_bad_control;
    wire wrong_role  = in_order && !belongs && map_wrong_role;
    wire opener      = in_order && !belongs && map_opens;
    wire astray      = in_order && !belongs && !map_bad_control && !map_wrong_role && !map_opens;
    wire opens       = opener && drained_reg;

    wire halves   = map_dtype[1] != map_dtype[0];
    wire whole    = !by_range ? ent_whole : map_collective == BARRIER ? ent_empty : !ent_plen[0] && (halves || !ent_plen[1]);
    wire placed   = in_order && belongs && !contradicts;
    wire sized    = placed && whole;
    wire full     = (sized && !fits) || (opener && !drained_reg);
    wire first    = !is_child || first_reg;
    wire same     = slot_opcode == ent_opcode && slot_plen == ent_plen && slot_pad == ent_pad;
    wire accept   = sized && fits && (first || same);
    wire misfit   = sized && fits && !(first || same);
    wire counted  = duplicate || gap || full || misfit || accept;
    // by the roles that hold now
    wire was_down = (self & ctx_parent_mask & ~ctx_in_mask) != NOBODY;
    wire now_down = by_range && !map_current && ctx_ranged ? was_down : is_down;

    wire heard    = by_range ? map_current : hears;
    wire about    = is_ack && heard && syn_any;
    wire spoken   = about && !rt_stale;
    // whoever has acknowledged least moves the start of its pipe, unless somebody else has acknowledged no more
    wire held     = ack_ready && ack_rest_any && ack_rest == before_reg;
    wire moving   = spoken && rt_progress && holds_reg && !held;

    // ---- accepted data: its slot, and whether the result leaves at once ----

    wire [MASK_W-1:0] mask_next = first ? self : slot_mask | self;
    wire all_in    = (mask_next & in_mask) == in_mask;
    wire completes = accept && (!is_child || all_in);
    wire fused     = completes && next_reg && rt_keep != NOBODY && (!root || off_reg < n_wide);

    wire [23:0] past_at    = at_reg + 24'd1;
    wire [23:0] past_off   = off_reg + 24'd1;
    wire [23:0] span_next  = completes ? past_off : span_reg;
    wire [23:0] limit_next = root && span_next > n_wide ? n_wide : span_next;

    // the slot as it stands after this contribution
    wire [7:0]       new_opcode = first ? ent_opcode : slot_opcode;
    wire [1:0]       new_pad    = first ? ent_pad : slot_pad;
    wire [LEN_W-1:0] new_plen   = first ? ent_plen : slot_plen;
    wire             new_se     = first ? ent_se : slot_se;
    wire [31:0]      new_ext    = first ? ent_ext : slot_ext;
    wire             new_ce     = first ? ent_ce : slot_ce || ent_ce;

    // ---- an acknowledgement that moves its pipe: the minimum, then what follows from it ----

    assign ack_rd    = look;
    assign ack_group = group;
    assign ack_self  = self;
    // looked at from the cycle after ack_rd on
    assign ack_mask  = outs;
    assign ack_pick  = self;

    wire [23:0] rest      = ack_rest + 24'd1;
    wire [23:0] rest_past = rest - rt_next;
    reg  [23:0] least_reg, step_reg, span_left_reg, unsent_left_reg;
    reg         least_valid_reg, left_valid_reg;

    always @(posedge clk) begin
        least_reg       <= ack_rest_any && rest_past[23] ? rest : rt_next;
        step_reg        <= least_reg - rec_start;
        span_left_reg   <= rec_done - least_reg;
        unsent_left_reg <= rec_sent - least_reg;
        least_valid_reg <= ack_ready && !look;
        left_valid_reg  <= least_valid_reg && !look;
    end

    wire [23:0]     limit_left = root && span_left_reg > n_wide ? n_wide : span_left_reg;
    wire [SLOT_W+1:0] head_past = {1'b0, head_reg} + {1'b0, step_reg[SLOT_W:0]};
    wire            turns      = head_past >= {1'b0, size};
    wire            waits      = sound && moving && !left_valid_reg;

    // ---- actions ----

    wire whole_pipe = live_now && pointed && sendable && rt_keep != NOBODY;
    wire to_one     = live_now && !act_timer && !act_pipe && rt_one;
    wire to_go_back = live_now && act_timer && rt_timeout;
    wire to_resume  = live_now && act_timer && rt_resume;
    wire resends    = whole_pipe || to_one;

    // ---- commit ----

    wire [LEN_W:0]     slot_bytes = {1'b0, slot_plen} + (BYTES[LEN_W:0] - {{LEN_W{1'b0}}, 1'b1});
    wire [WORDS_W-1:0] slot_words = slot_bytes[LANE_W +: WORDS_W];
    wire [WORDS_W-1:0] words      = acts ? slot_words : ent_words;

    wire frame_work = accept && ent_words != {WORDS_W{1'b0}};
    wire slot_work  = resends && slot_words != {WORDS_W{1'b0}};
    wire answers    = ans_ack || ans_nak || ans_rnr || ans_cnp;
    wire two        = (accept && fused) || (ans_rnr && ans_cnp);

    wire wants_op   = sound && frame_work;
    wire op_free    = sent_reg || op_ready;
    wire commits_op = good && frame_work;
    assign opening  = deciding && !acting_reg && vrd_valid && good && opens;
    wire decided    = deciding && !acting_reg && vrd_valid && !(good && opens) && !waits && (!(good && answers) || tx_room) && (!commits_op || op_free);
    wire acted      = deciding && acting_reg && (!resends || (tx_room && (!slot_work || op_ready)));
    // an action need not wait for a frame that is still coming in
    wire yields     = deciding && !acting_reg && !vrd_valid && act_valid;
    wire more       = state_reg == S_MORE && tx_room;
    wire ended      = quick || (decided && !(good && two)) || more;
    wire apply      = decided && good;

    assign op_valid  = acting_reg ? acted && slot_work
                                  : deciding && !sent_reg && op_ready && (decided ? commits_op : !vrd_valid && wants_op && !yields);
    assign op_spec   = !acting_reg && !decided;
    assign op_commit = decided && sent_reg && commits_op;
    assign op_kill   = sent_reg && ((decided && !commits_op) || yields);
    assign pkt_start = start_reg;

    assign ent_pop   = ended;
    assign vrd_pop   = ended;
    assign act_done  = acted;
    assign frm_waits = ent_valid;
    assign ctl_rd    = mapping;
    assign ctl_ei    = ent_ei;
    assign ctl_open  = opening;
    assign init_take = init_valid && init_clean && !(deciding && (acting_reg || vrd_valid));

    // Control looks at the frame where it waits
    assign ask_ei          = ent_ei;
    assign ask_psn         = ent_psn;
    assign ask_opcode      = ent_opcode;
    assign ask_empty       = ent_empty;
    assign ask_ext         = ent_ext;
    assign ask_in_mask     = ent_in_mask;
    assign ask_out_mask    = ent_out_mask;
    assign ask_ack_mask    = ent_ack_mask;
    assign ask_parent_mask = ent_parent_mask;
    assign ask_route_valid = ent_route_valid;
    assign ask_route_mask  = ent_route_mask;
    assign ask_root_sends  = ent_root_sends;

    // what the rest of the range's state begins with: one after the last of the one before, or START
    wire [23:0] begin_psn = ctx_ranged ? ctx_after : map_begin + 24'd1;
    assign fresh    = {begin_psn, begin_psn, begin_psn, begin_psn, {(SLOT_W+1){1'b0}} - begin_psn[SLOT_W:0]};
    assign init_rec = {init_psn, init_psn, init_psn, init_psn, {(SLOT_W+1){1'b0}} - init_psn[SLOT_W:0]};

    wire acks   = apply && spoken;
    wire moves  = apply && moving;
    assign ctx_we   = apply && accept;
    assign rec_we   = opening || ctx_we || moves || (acted && whole_pipe);
    assign rec_next = {
        accept && !acting_reg && first ? past_at : rec_top,
        (acting_reg ? whole_pipe : accept && fused) ? past_at : rec_sent,
        !acting_reg && completes ? past_at : rec_done,
        !acting_reg && moving ? least_reg : rec_start,
        !acting_reg && moving && turns ? rec_bias - size : rec_bias};

    assign ack_we   = acks && rt_progress;
    assign ack_lift = opening;
    assign ack_psn  = (opening ? begin_psn : rt_next) - 24'd1;
    assign ack_msn  = ent_ext[23:0];

    assign rcv_rd        = look;
    assign rcv_ei        = ei;
    assign rcv_psn       = ent_psn;
    assign rcv_ends      = ends;
    assign rcv_host      = ent_host;
    assign rcv_duplicate = duplicate;
    assign rcv_gap       = gap;
    assign rcv_full      = full;
    assign rcv_accept    = accept;
    assign rcv_we        = apply && (gap || full || accept);

    assign rt_rd     = look;
    assign rt_ei     = ei;
    assign rt_self   = pointed ? NOBODY : self;
    assign rt_out    = outs;
    assign rt_pipe   = pipe_b;
    assign rt_sent   = rec_sent;
    assign rt_acked  = ack_own;
    assign rt_psn    = psn;
    assign rt_is_ack = syn_ack;
    assign rt_is_nak = syn_nak && ent_ext[25:24] == 2'd0;
    assign rt_is_rnr = syn_rnr;
    assign rt_code   = ent_ext[28:24];

    assign cm_ack     = acks;
    assign cm_data    = apply && accept;
    assign cm_send    = (apply && accept && fused) || (acted && whole_pipe);
    assign cm_one     = acted && to_one;
    assign cm_timeout = acted && to_go_back;
    assign cm_resume  = acted && to_resume;
    assign cm_open    = opening;
    assign cm_drop    = acted && live_now && !act_timer && !resends;
    assign cm_more    = acting_reg ? (whole_pipe ? unsent_reg + 24'd1 < limit : sendable)
                      : accept ? !fused && unsent_reg < limit_next
                      : moving ? unsent_left_reg < limit_left : !opening && sendable;

    assign wr_en       = apply && accept;
    assign wr_slot     = slot_reg;
    assign wr_tag      = at_reg;
    assign wr_mask     = mask_next;
    assign wr_complete = completes;
    assign wr_opcode   = new_opcode;
    assign wr_plen     = new_plen;
    assign wr_pad      = new_pad;
    assign wr_se       = new_se;
    assign wr_ext      = new_ext;
    assign wr_ce       = new_ce;

    // ---- work on the payload ----

    // the parent's data is nobody's contribution: in a tree it lies in the first pair
    wire copied = acting_reg ? pipe_b && !root : !is_child;
    wire [MASK_W-1:0] mask_sent = acting_reg ? slot_mask : mask_next;

    assign op_start      = start_reg;
    assign op_words      = words;
    assign op_slot       = unit[SLOT_W-1:0];
    assign op_read       = acting_reg ? TREE == 0 : !first && (TREE == 0 || (slot_mask & sibling) != NOBODY);
    assign op_take       = !acting_reg;
    assign op_write      = !acting_reg;
    assign op_emit       = TREE == 0 && (acting_reg || fused);
    assign op_reduce     = TREE != 0 && (acting_reg || fused);
    assign op_function   = operation;
    assign op_dtype      = dtype;
    assign op_big_endian = big_endian;
    generate
        for (e = 0; e < PLANES; e = e + 1) begin : gen_pairs
            wire there;
            if (2 * e + 1 < MASK_W) begin : gen_two
                assign there = |mask_sent[2*e +: 2];
            end else begin : gen_single
                assign there = mask_sent[2*e];
            end
            assign op_pairs[e] = copied ? e == 0 : there;
        end
        if (TREE != 0 && EP_W > PAIR_W) begin : gen_pair
            assign op_pair = copied ? {PAIR_W{1'b0}} : ent_ei[1 +: PAIR_W];
        end else begin : gen_no_pair
            assign op_pair = {PAIR_W{1'b0}};
        end
    endgenerate

    // ---- frames to be made: data, else an answer ----

    wire result = state_reg == S_MORE && !cnp_reg;
    wire data   = acting_reg || result;
    wire cnp    = !acting_reg && (state_reg == S_MORE ? cnp_reg : ans_cnp && !ans_rnr);

    assign tx_valid   = (apply && answers) || more || (acted && resends);
    assign tx_kind    = {1'b0, data};
    assign tx_ei      = ei;
    assign tx_mask    = result || pointed ? rt_keep : self;
    assign tx_opcode  = acting_reg ? slot_opcode : result ? new_opcode : cnp ? OP_CNP : OP_ACK;
    assign tx_se      = acting_reg ? slot_se : result && new_se;
    assign tx_pad     = acting_reg ? slot_pad : result ? new_pad : 2'd0;
    assign tx_ce      = acting_reg ? slot_ce : result && new_ce;
    assign tx_psn     = data ? at_reg : cnp ? ent_psn : ans_psn;
    assign tx_in_band = data && ranged;
    assign tx_rng     = rng;
    assign tx_dir     = 1'b0;
    assign tx_ext     = acting_reg ? slot_ext : result ? new_ext : cnp ? 32'd0 : {ans_syndrome, ans_msn};
    assign tx_plen    = acting_reg ? slot_plen : result ? new_plen : {LEN_W{1'b0}};
    assign tx_words   = data ? words : {WORDS_W{1'b0}};

    wire [EI_W-1:0] pipe_ei;
    generate
        if (EI_W > EP_W) begin : gen_pipe_ei
            wire [EP_W-1:0] pipe_ep = {{(EP_W-1){1'b0}}, pipe_b};
            assign pipe_ei = {group, pipe_ep};
        end else begin : gen_pipe_ep
            assign pipe_ei = {{(EP_W-1){1'b0}}, pipe_b};
        end
    endgenerate
    assign mon_act_valid = decided || quick || (more && result) || (acted && (resends || to_go_back || to_resume));
    assign mon_act_kind  = acting_reg && state_reg != S_HEAD ? (whole_pipe ? 3'd1 : to_one ? 3'd2 : to_go_back ? 3'd3 : 3'd4)
                                                             : result ? 3'd1 : 3'd0;
    assign mon_act_ei    = result ? pipe_ei : ei;

    // ---- control ----

    always @(posedge clk) begin
        if (mapping || look) begin
            live_reg <= live_now && (live_reg || pick || (state_reg == S_HEAD && !looked_reg));
        end
        if (mapping || looking) begin
            looked_reg <= 1'b1;
        end
        if (ended) begin
            start_reg  <= vrd_end;
            looked_reg <= 1'b0;
            turn_reg   <= 1'b0;
            opened_reg <= 1'b0;
        end else if (acted) begin
            turn_reg   <= 1'b1;
        end else if (opening) begin
            opened_reg <= 1'b1;
        end
        if (decided || yields) begin
            sent_reg <= 1'b0;
        end else if (op_valid && !acting_reg) begin
            sent_reg <= 1'b1;
        end
        cnp_reg <= state_reg == S_MORE ? cnp_reg : ans_rnr && ans_cnp;
        case (state_reg)
            S_HEAD: begin
                acting_reg <= pick;
                if (mapping) begin
                    state_reg <= S_MAP;
                end else if (look) begin
                    state_reg <= S_SLOT;
                end
            end
            S_MAP: begin
                state_reg <= S_SLOT;
            end
            S_SLOT: begin
                state_reg <= S_DECIDE;
            end
            S_DECIDE: begin
                if (opening) begin
                    state_reg <= S_OPEN;
                end else if (decided && good && two) begin
                    state_reg <= S_MORE;
                end else if (decided || acted || yields) begin
                    state_reg <= S_HEAD;
                end
            end
            S_MORE: begin
                if (more) begin
                    state_reg <= S_HEAD;
                end
            end
            default: begin
                if (!ctl_busy) begin
                    state_reg <= S_HEAD;
                end
            end
        endcase
        if (rst) begin
            state_reg  <= S_HEAD;
            acting_reg <= 1'b0;
            turn_reg   <= 1'b0;
            sent_reg   <= 1'b0;
            looked_reg <= 1'b0;
            opened_reg <= 1'b0;
            start_reg  <= {PKT_W{1'b0}};
        end
    end

    // ---- slots freed, counted one a cycle: those that a root moves, and those left behind by start ----

    reg  [23:0] wipe_reg;
    wire [23:0] moved_data = root ? limit_next - limit : 24'd0;
    wire [23:0] moved_acks = root ? step_reg + limit_left - limit : 24'd0;
    wire [23:0] wiped      = ctx_we ? moved_data : moves ? step_reg + moved_acks : 24'd0;
    wire        wipes      = wipe_reg != 24'd0;

    always @(posedge clk) begin
        wipe_reg <= wipe_reg + wiped - {23'd0, wipes};
        if (rst) begin
            wipe_reg <= 24'd0;
        end
    end

    // ---- counters: exactly one of the drops, or the actions ----

    wire d_frn, d_dis, d_err, d_sum, d_len, d_icrc, pass_3;

    inc_drop_ladder u_ladder (
        .decided       (decided && !ent_bypass),
        .foreign       (ent_foreign),
        .live          (live),
        .rx_err        (vrd_err),
        .sum_ok        (ent_sum_ok),
        .len_ok        (ent_len_ok && vrd_len_ok),
        .icrc_ok       (icrc_ok),
        .drop_foreign  (d_frn),
        .drop_disabled (d_dis),
        .drop_rx_error (d_err),
        .drop_checksum (d_sum),
        .drop_length   (d_len),
        .drop_icrc     (d_icrc),
        .passed        (pass_3)
    );

    wire d_tver  = pass_3 && !ent_tver_ok;
    wire pass_4  = pass_3 && ent_tver_ok;
    wire d_op    = pass_4 && !(is_data || is_ack || is_cnp);
    wire pass_5  = pass_4 && (is_data || is_ack || is_cnp);
    wire d_long  = pass_5 && ent_too_long;

    reg [COUNTERS-1:0] step;
    always @* begin
        step = {COUNTERS{1'b0}};
        step[C_RX_FRAMES]            = decided || quick;
        step[C_BYPASS]               = quick;
        step[C_UP_DATA]              = apply && counted && !now_down;
        step[C_AGG]                  = apply && accept && is_child;
        step[C_BUFFERED]             = apply && accept && is_child && !all_in;
        step[C_WIPE]                 = wipes;
        step[C_TX_RESULT]            = apply && accept && is_child && all_in;
        step[C_DOWN_DATA]            = apply && counted && now_down;
        step[C_RX_ACK]               = acks && syn_ack;
        step[C_RX_NAK]               = acks && syn_nak;
        step[C_RX_RNR]               = acks && syn_rnr;
        step[C_RX_CNP]               = apply && is_cnp;
        step[C_RX_CE]                = pass_3 && ent_ce;
        step[C_TX_GAP_NAK]           = apply && ans_nak;
        step[C_TX_CNP]               = apply && ans_cnp;
        step[C_IMM_MISMATCH]         = apply && accept && !first && (slot_se != ent_se || (has_imm && slot_ext != ent_ext));
        step[C_DROP_FOREIGN]         = d_frn;
        step[C_DROP_GROUP_DISABLED]  = d_dis;
        step[C_DROP_RX_ERROR]        = d_err;
        step[C_DROP_IP_CHECKSUM]     = d_sum;
        step[C_DROP_LENGTH_MISMATCH] = d_len;
        step[C_DROP_ICRC]            = d_icrc;
        step[C_DROP_TVER]            = d_tver;
        step[C_DROP_OPCODE]          = d_op;
        step[C_DROP_TOO_LONG]        = d_long;
        step[C_DROP_BAD_LENGTH]      = apply && placed && !whole;
        step[C_DROP_WRONG_ROLE]      = apply && ((is_data && !may_send) || wrong_role || (is_ack && !by_range && !heard));
        step[C_DROP_SYNDROME]        = apply && is_ack && heard && !syn_any;
        step[C_DROP_GAP]             = apply && gap;
        step[C_DROP_SHAPE]           = apply && misfit;
        step[C_RANGE_OPEN]           = opening;
        step[C_DROP_RANGE]           = apply && astray;
        step[C_DROP_BAD_CONTROL]     = apply && bad_control;
        step[C_DROP_CONTROL]         = apply && contradicts;
        step[C_DROP_STALE_ACK]       = apply && is_ack && (heard ? syn_any && rt_stale : by_range);
        step[C_TX_ACK]               = apply && ans_ack;
        step[C_TX_RNR]               = apply && ans_rnr;
        step[C_TX_RETRANSMIT]        = acted && to_one && rt_again;
        step[C_TIMEOUT]              = acted && to_go_back;
        step[C_RX_DUPLICATE]         = apply && duplicate;
        step[C_DOWN_TAKEN]           = apply && accept && !is_child;
        step[C_DROP_FULL]            = apply && full;
    end
    assign count = step;

    wire unused_bits = &{1'b0, ent_ackable, ent_in_band, map_previous, map_opens_up, map_base, map_ackable_any,
                         map_needs_host, map_ack_mask, map_current, map_opens, map_bad_control, map_wrong_role, map_contradicts, map_psn,
                         map_rng, map_begin, map_end, map_up, map_down, map_collective, map_function, map_dtype, map_in_mask, map_out_mask,
                         map_parent_mask, ctl_busy, ack_picked, ack_picked_msn, ack_rest_msn, ack_rest_ep, ack_own_msn, slot_tag, slot_complete,
                         tbl_index, tbl_data, half, wrap, rest_past, slot_bytes, unit, mask_sent, sibling, init_ei};

endmodule

`default_nettype wire
