// SPDX-License-Identifier: Apache-2.0
//
// inc_check_pipe: decides what every frame does in Mode III, takes the engine's own actions in turn with frames, and keeps the pipes.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries; a frame and an action in turn while both wait
//   steps       those of inc_frame_steps: A finds the pipe and the place in it (2 cycles), B compares and says what the frame does (2),
//               C looks at what was sent and acknowledged (1) and waits for the verdict
//   latency     an entry in cycle 0 is decided in cycle 6 at the earliest, of an in-band group in 8; in the cycle of its verdict if that is
//               later. The work on the payload is offered in the cycle of that decision at the latest, as speculative. A control that opens a range is decided 8 cycles after ctl_busy is low. An action takes 5 cycles from when it is begun,
//               which is 3 cycles after an acknowledgement, 2 after a second frame pushed, else in the cycle after it is offered
//   throughput  a frame in 2 cycles, a bypassed one in 1; with APART of inc_frame_steps in 3 and 2
//   speculation B takes a frame in C as committed: the state that it will write goes to the next frame of the same endpoint, slot or group
//               at once. If it is not committed, the frame in B is looked at again, which takes 2 cycles
//   commit      in the cycle of the verdict: state is written, tx_* pushed, or nothing of it, and the work is killed; counters step in the
//               cycle after it. A result that is sent at once is committed with its frame, its tx_* pushed after the
//               acknowledgement's, before anything else; so is a CNP after an RNR NAK
//   action      waits for the frame in C if that has its verdict; else the frame's work is killed, and it is looked at again
//   start       follows an acknowledgement in 2 cycles. Meanwhile data that lies in the ring from the start before goes on; other data
//               waits until it has followed, and data that is not of its group's range until all that is ahead of it is decided. What
//               completes at a root beyond N from the start before is decided 2 cycles later behind an acknowledgement that moves it, else 3
//   stall       waits while tx_room is low and needed, and with work of its own while that before it has not been taken
//   pipes       slots of a ring are counted from the slot of `start`, so N need not be a power of two: `bias` is that slot's number less start.
//               At the root of an AllReduce or Barrier one ring of 2N is both pipes
//   payload     work_unit is base + index of the slot, with 16-bit elements base + 2 * index. In place work_read adds to what lies there, or
//               sends it, and work_emit sends. In a tree work_read says that the other endpoint of the pair has contributed, and work_reduce
//               instead of work_emit that the pairs with a contribution make the result; work_copied: the parent's data, in the first pair
//   slots       the first contribution to a PSN overwrites what lies in its slot; it is known by `top`, the first PSN that nobody has sent
//   state       per group of both pipes {start, bias}, {top, done} and S, and what is needed to send without a frame, noted whenever data is
//               accepted; set by init_* while no frame is being written; the slots a pipe has come from GROUP_PIPE of its group
//   in-band     a control that opens a range is ctl_open when it is good, and comes again; tx_psn of data of a range is a group's PSN
//   monitor     mon_act_*: docs/pipes.md section 7, in the cycle of the commit; of a result sent at once a cycle behind its frame
`ifdef INC_PARK
//   parking     a parked group (grp_parked) has pipes without slots. While park_valid stands no frame leaves A but the control of a range that
//               was just opened; when B and C are empty it is looked, before any action, whether both pipes of park_group are: park_take comes
//               with the answer 2 cycles later, and a drained group's pipes then begin at the first slots of wherever they will be
`endif
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
    // 1: contributions are kept by pairs of endpoints and reduced when the slot is complete
    parameter TREE     = 0,
    // 1: there are element types of 16 bits; their slots are two units
    parameter HALVES   = 0,
    // number of groups
    parameter GROUPS   = 2,
    // 1: a frame comes into C in the cycle behind that in which it is left, 0: in that cycle
    parameter APART    = 0,
    // number of counters
    // contract: parameter 3
    parameter COUNTERS = 53
    // contract: end
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [GROUPS-1:0]   grp_live,
`ifdef INC_PARK
    input  wire [GROUPS-1:0]   grp_parked,
    // whether a group is drained
    input  wire                park_valid,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] park_group,
    output wire                park_take,
    output wire                park_drained,
`endif

    // control plane
    input  wire                tbl_grp_we,
    input  wire [EI_W-1:0]     tbl_index,
    input  wire [3:0]          tbl_word,
    input  wire [31:0]         tbl_data,

    // a frame that was looked up is not decided yet
    input  wire                frm_waits,

    // the frame, in inc_frame_steps: the one that goes into A with s_go
    output wire                holds,
    input  wire                s_go,
    input  wire [EI_W-1:0]     s_ei,
    input  wire                s_data,
    input  wire                s_up,
    input  wire                s_spreads,
    // neither a Reduce nor a Broadcast, and without a parent; of the parent
    input  wire                s_root,
    input  wire                s_parent,
    input  wire [SLOT_W-1:0]   s_base,
    input  wire [4:0]          s_log2_n,
    // the one in A, to B with a_go
    output wire                a_ready,
    output wire                a_follows_slot,
    output wire                a_written_slot,
    input  wire                a_go,
    input  wire                a_valid,
    input  wire                a_bypass,
    input  wire [EI_W-1:0]     a_ei,
    input  wire [MASK_W-1:0]   a_self,
    input  wire                a_data,
    input  wire                a_syn_ack,
    input  wire                a_ranged,
    input  wire [23:0]         a_psn,
    input  wire [23:0]         a_begin,
    input  wire                a_in_range,
    input  wire                a_previous,
    input  wire                a_down,
    input  wire                a_reduces,
    input  wire                a_spreads,
    input  wire [MASK_W-1:0]   a_out_mask,
    input  wire [MASK_W-1:0]   a_parent_mask,
    // the one in B, to C with b_go
    output wire                b_stale,
    input  wire                redo,
    output wire                b_first,
    output wire                b_completes,
    input  wire                b_go,
    input  wire                b_valid,
    input  wire                b_second,
    input  wire                b_bypass,
    input  wire [EI_W-1:0]     b_ei,
    input  wire [MASK_W-1:0]   b_self,
    input  wire                b_host,
    input  wire                b_ce,
    input  wire                b_data,
    input  wire                b_ack,
    input  wire                b_cnp,
    input  wire                b_ends,
    input  wire                b_syn_ack,
    input  wire                b_syn_rnr,
    input  wire                b_syn_nak,
    input  wire                b_fine,
    input  wire                b_bad_tver,
    input  wire                b_bad_opcode,
    input  wire                b_too_long,
    input  wire [23:0]         b_wire_psn,
    input  wire                b_ranged,
    input  wire [23:0]         b_psn,
    input  wire                b_in_range,
    input  wire                b_previous,
    input  wire                b_opens,
    input  wire                b_bad_control,
    input  wire                b_wrong_role,
    input  wire                b_contradicts,
    input  wire                b_up,
    input  wire                b_down,
    input  wire                b_whole,
    input  wire [1:0]          b_dtype,
    // how it compares with its slot, in B's second cycle
    input  wire                f_first,
    input  wire                f_same,
    input  wire                f_same_imm,
    input  wire                f_full,
    input  wire                f_builds,
    // the one in C: what it is, what is done with it, how it ended
    output wire                c_free,
    output wire                c_leaves,
    output wire                c_wr,
    output wire                c_lives,
    output wire                c_decided,
    output wire                c_opening,
    output wire                c_done,
    input  wire                c_valid,
    input  wire                c_live,
    input  wire                c_bypass,
    input  wire [EI_W-1:0]     c_ei,
    input  wire [MASK_W-1:0]   c_self,
    input  wire                c_syn_ack,
    input  wire                c_syn_rnr,
    input  wire                c_syn_nak,
    input  wire [23:0]         c_wire_psn,
    input  wire [31:0]         c_ext,
    input  wire [WORDS_W-1:0]  c_words,
    input  wire                c_big_endian,
    input  wire                c_ranged,
    input  wire [1:0]          c_rng,
    input  wire [23:0]         c_psn,
    input  wire [23:0]         c_end,
    input  wire                c_reduces,
    input  wire                c_spreads,
    input  wire [1:0]          c_function,
    input  wire [1:0]          c_dtype,
    input  wire [MASK_W-1:0]   c_in_mask,
    input  wire [MASK_W-1:0]   c_out_mask,
    input  wire [MASK_W-1:0]   c_parent_mask,
    input  wire                c_intact,
    input  wire                c_passed,
    input  wire [5:0]          c_drops,

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

    // its slot, in RecycleBuffer; an action's
    output wire                rd_en,
    output wire [SLOT_W-1:0]   rd_slot,
    input  wire [MASK_W-1:0]   slot_mask,
    input  wire [7:0]          slot_opcode,
    input  wire [LEN_W-1:0]    slot_plen,
    input  wire [1:0]          slot_pad,
    input  wire                slot_se,
    input  wire [31:0]         slot_ext,
    input  wire                slot_ce,
    output wire                wr_en,
    output wire [SLOT_W-1:0]   wr_slot,
    input  wire [MASK_W-1:0]   wr_mask,
    input  wire [7:0]          wr_opcode,
    input  wire [LEN_W-1:0]    wr_plen,
    input  wire [1:0]          wr_pad,
    input  wire                wr_se,
    input  wire [31:0]         wr_ext,
    input  wire                wr_ce,

    // the range that the frame opens, in Control
    output wire                ctl_open,

    // state at the start of a group, an endpoint at a time; taken by SendAck and Retransmission too
    input  wire                init_valid,
    output wire                init_take,
    input  wire                init_clean,
    input  wire [EI_W-1:0]     init_ei,
    input  wire [23:0]         init_psn,

    // the receive side, in SendAck
    output wire                rcv_rd,
    output wire [EI_W-1:0]     rcv_ei,
    // the frame ahead of it is of the same endpoint and not decided; is being decided; was not committed
    output wire                rcv_follows,
    output wire                rcv_written,
    output wire                rcv_redo,
    output wire [23:0]         rcv_psn,
    output wire                rcv_ends,
    output wire                rcv_host,
    input  wire                rcv_behind,
    input  wire                rcv_expected,
    output wire                rcv_duplicate,
    output wire                rcv_gap,
    output wire                rcv_full,
    output wire                rcv_accept,
    output wire                rcv_go,
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
    output wire [23:0]         rt_last,
    output wire [23:0]         rt_next,
    output wire                rt_is_ack,
    output wire                rt_is_nak,
    output wire                rt_is_rnr,
    output wire [4:0]          rt_code,
    input  wire [MASK_W-1:0]   rt_keep,
    input  wire [23:0]         rt_one_psn,
    input  wire                rt_stale,
    input  wire                rt_progress,
    input  wire                rt_one,
    input  wire                rt_again,
    input  wire                rt_timeout,
    input  wire                rt_resume,
    output wire                cm_we,
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
    input  wire                act_soon,
    input  wire                act_timer,
    input  wire                act_pipe,
    input  wire [EI_W-1:0]     act_ei,
    output wire                act_done,

    // work on the payload, for inc_offer_work: put while none is held, its verdict with the frame's
    input  wire                work_held,
    output wire                work_put,
    output wire [WORDS_W-1:0]  work_words,
    output wire [SLOT_W-1:0]   work_unit,
    output wire [EP_W-1:0]     work_ep,
    output wire [MASK_W-1:0]   work_mask,
    output wire                work_copied,
    output wire                work_read,
    output wire                work_take,
    output wire                work_write,
    output wire                work_emit,
    output wire                work_reduce,
    output wire [1:0]          work_function,
    output wire [1:0]          work_dtype,
    output wire                work_big_endian,
    output wire                work_commits,
    output wire                work_kills,

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

    // one bit a counter, high for one cycle a step, the cycle behind the decision
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam LANE_W = $clog2(BYTES);

    // positions in `count`
    // contract: counters 3
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_DOWN_DATA = 9,
               C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14, C_TX_GAP_NAK = 16, C_TX_CNP = 17,
               C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20, C_DROP_TVER = 26, C_DROP_OPCODE = 27, C_DROP_TOO_LONG = 28,
               C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30, C_DROP_SYNDROME = 31, C_DROP_GAP = 32, C_DROP_SHAPE = 35,
               C_RANGE_OPEN = 38, C_DROP_RANGE = 42, C_DROP_BAD_CONTROL = 43, C_DROP_CONTROL = 44, C_DROP_STALE_ACK = 45, C_TX_ACK = 46,
               C_TX_RNR = 47, C_TX_RETRANSMIT = 48, C_TIMEOUT = 49, C_RX_DUPLICATE = 50, C_DOWN_TAKEN = 51, C_DROP_FULL = 52,
               C_COUNT = 53;
    // contract: end
`ifdef INC_PARK
    // contract: parking 3
    localparam C_DROP_PARKED = 53, C_PARKED_COUNT = 54;
    // contract: end
`endif

`ifndef __ICARUS__
    generate
`ifdef INC_PARK
        if (COUNTERS != C_PARKED_COUNT) begin : gen_bad_counters
`else
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
`endif
            $error("inc_check_pipe: COUNTERS must be the number of the mode's counters");
        end
        if (EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_pipe: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1) begin : gen_bad_tree
            $error("inc_check_pipe: TREE and HALVES must be 0 or 1");
        end
        if (SLOT_W < 1 || SLOT_W > 22) begin : gen_bad_slot
            $error("inc_check_pipe: SLOT_W must be 1 to 22");
        end
        if ((1 << LANE_W) != BYTES || LEN_W < LANE_W) begin : gen_bad_bytes
            $error("inc_check_pipe: BYTES must be a power of two of at most LEN_W bits");
        end
    endgenerate
`endif

    localparam [7:0] OP_ACK = 8'h11, OP_CNP = 8'h81;
    // contract: registers 3
    localparam F_GROUP_PIPE_N = 0;
    localparam [3:0] WORD_GROUP_PIPE = 4'd1;
    // contract: end
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    localparam HEAD_W  = 24 + SLOT_W + 1;                         // of a pipe: start, and the slot of start less start
    localparam TAIL_W  = 2 * 24;                                  // of a pipe: the first PSN that nobody has sent, and done
    localparam CTX_W   = 1 + 2 + 24 + 2 + 2 + 2 + 1 + 3 * MASK_W + 2 * SLOT_W;

    // ---- indices: of the frames in the steps, and of the action ----

    wire [GRP_W-1:0] s_group, a_group, b_group, c_group, act_group, init_group, tbl_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign s_group    = s_ei[EI_W-1:EP_W];
            assign a_group    = a_ei[EI_W-1:EP_W];
            assign b_group    = b_ei[EI_W-1:EP_W];
            assign c_group    = c_ei[EI_W-1:EP_W];
            assign act_group  = act_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
            assign tbl_group  = tbl_index[GRP_W-1:0];
        end else begin : gen_one_group
            assign {s_group, a_group, b_group, c_group, act_group, init_group, tbl_group} = 7'd0;
        end
    endgenerate
    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};

`ifdef INC_PARK
    wire [(1 << GRP_W):0] parked_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_parked};

`endif
    // ---- whose turn: an action's, if the frame is not ready or had its turn; never between a range's opening and its control ----

    reg        turn_reg;               // of frames: an action was the last
    reg        opened_reg;             // a range is open whose control is not decided
    reg  [2:0] x_step;                 // of the action: 4 state, 5 place, 6 slot, 7 slot's word; 0 is none
    reg        r_valid;                // the second frame of what was decided last is to be pushed
    reg        d_busy;                 // acknowledgements are on their way to `start`
    wire       ending = c_valid && vrd_valid; // the frame in C may be committed; no start sets anything meanwhile

`ifdef INC_PARK
    reg  [1:0] k_step;                 // of a look whether a group is drained: it begins, state, answer; 0 is none
    wire       k_start;
`endif
    localparam [2:0] X_NONE = 3'd0, X_STATE = 3'd4, X_SLOT = 3'd6, X_WORD = 3'd7;
    wire x_busy   = x_step[2];
    reg  frames_turn;                  // and one waits
    reg  x_ready;                      // an action waits, and nothing is under way that it would have to wait for
    wire frames_due = frames_turn && vrd_valid;
    wire x_due    = !opened_reg && !frames_due;
    // a frame that is still coming in is looked at again after the action
`ifdef INC_PARK
    wire x_start  = x_ready && !frames_due && !ending && !k_start && k_step == 2'd0;
`else
    wire x_start  = x_ready && !frames_due && !ending;
`endif
    wire x_acts;
    // one frame may pass an action that is on its way, and no other
    assign c_free   = c_valid ? !(act_soon && !opened_reg) : !(act_soon && x_due) && !x_busy;

    // ---- state: of pipes, by when it is needed: where `start` is, what has come, what was sent ----

    wire                a_look;        // the frame in A is looked at again
    wire                a_stays;       // it does not leave before that
    // What a frame reads counts in the next cycle alone, so that is read in every cycle; an action's state stands until its end.
    wire                place_rd = !x_busy;
`ifdef INC_PARK
    wire [GRP_W-1:0]    place_group = k_start ? park_group : x_start ? act_group : a_stays ? a_group : s_group;
`else
    wire [GRP_W-1:0]    place_group = x_start ? act_group : a_stays ? a_group : s_group;
`endif
    wire [2*HEAD_W-1:0] heads, d_heads, heads_next;
    wire                heads_we;
    wire [GRP_W-1:0]    heads_group;
    wire [SLOT_W-1:0]   tbl_n = tbl_data[F_GROUP_PIPE_N +: SLOT_W];
    wire [SLOT_W-1:0]   pipe_n;
    wire                pipe_set;
    wire                again;         // no frame leaves A: the one in B may be looked at again
`ifdef INC_PARK
    wire [GRP_W-1:0]    tail_group = k_start ? park_group : x_start ? act_group : again ? b_group : a_group;
`else
    wire [GRP_W-1:0]    tail_group = x_start ? act_group : again ? b_group : a_group;
`endif
    wire [2*TAIL_W-1:0] tails;
    reg  [2*TAIL_W-1:0] n_tails;       // as C will write it
    wire                tails_we;
    wire                look;          // C or the action looks at what was sent and acknowledged
    wire [GRP_W-1:0]    look_group;
    wire [47:0]         sents_read, sents_next;
    wire                sents_we;
    wire [GRP_W-1:0]    sents_group;
    wire [23:0]         init_before = {{(23-SLOT_W){1'b0}}, {(SLOT_W+1){1'b0}} - init_psn[SLOT_W:0]};
    wire [HEAD_W-1:0]   init_head = {init_psn, init_before[SLOT_W:0]};

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W)) u_heads (
        .clk   (clk),
        .we    (heads_we || init_take),
        .waddr (heads_group),
        .wdata (heads_next),
        .re    (place_rd),
        .raddr (place_group),
        .rdata (heads)
    );
    // the same once more, for what moves `start`, and for C
    reg              d1_valid, d2_valid, d2_pipe_b, asked_reg;
    reg [GRP_W-1:0]  d1_group, d2_group;
    reg [23:0]       d2_start;
    wire             asks;
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W)) u_settle (
        .clk   (clk),
        .we    (heads_we || init_take),
        .waddr (heads_group),
        .wdata (heads_next),
        .re    (1'b1),
        .raddr (d1_valid ? d1_group : c_group),
        .rdata (d_heads)
    );
    // GROUP_PIPE, and whether it says something
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 1), .ADDR_W(GRP_W)) u_sizes (
        .clk   (clk),
        .we    (tbl_grp_we && tbl_word == WORD_GROUP_PIPE),
        .waddr (tbl_group),
        .wdata ({tbl_n != {SLOT_W{1'b0}}, tbl_n}),
        .re    (place_rd),
        .raddr (place_group),
        .rdata ({pipe_set, pipe_n})
    );
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * TAIL_W), .ADDR_W(GRP_W)) u_tails (
        .clk   (clk),
        .we    (tails_we || init_take),
        .waddr (ending ? c_group : init_group),
        .wdata (ending ? n_tails : {4{init_psn}}),
        .re    (place_rd),
        .raddr (tail_group),
        .rdata (tails)
    );
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(48), .ADDR_W(GRP_W)) u_sents (
        .clk   (clk),
        .we    (sents_we || init_take),
        .waddr (x_busy || ending ? sents_group : init_group),
        .wdata (x_busy || ending ? sents_next : {2{init_psn}}),
        .re    (look),
        .raddr (look_group),
        .rdata (sents_read)
    );
    // what is written while it is read
    reg        sents_fresh;
    reg [47:0] sents_fresh_word;
    always @(posedge clk) begin
        if (look) begin
            sents_fresh      <= sents_we && sents_group == look_group;
            sents_fresh_word <= sents_next;
        end
    end
    wire [47:0] sents = sents_fresh ? sents_fresh_word : sents_read;

    // what data goes by that is sent without a frame: noted whenever data is accepted
    wire              ctx_we;
    wire [CTX_W-1:0]  ctx_word;
    wire              ctx_ranged, ctx_reduces, ctx_spreads, ctx_big_endian;
    wire [1:0]        ctx_rng, ctx_function, ctx_dtype;
    wire [23:0]       ctx_end;
    wire [MASK_W-1:0] ctx_in_mask, ctx_out_mask, ctx_parent_mask;
    wire [SLOT_W-1:0] ctx_base, ctx_n;

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CTX_W), .ADDR_W(GRP_W)) u_contexts (
        .clk   (clk),
        .we    (ctx_we || init_take),
        .waddr (ending ? c_group : init_group),
        .wdata (ending ? ctx_word : {CTX_W{1'b0}}),
        .re    (place_rd),
        .raddr (place_group),
        .rdata ({ctx_ranged, ctx_rng, ctx_end, ctx_reduces, ctx_spreads, ctx_function, ctx_dtype, ctx_big_endian,
                 ctx_in_mask, ctx_out_mask, ctx_parent_mask, ctx_base, ctx_n})
    );

    // ---- A: which pipe, and where in it ----

    reg               a_second, a_exact;
    reg [SLOT_W-1:0]  a_base, a_half;
    reg [SLOT_W:0]    a_half_span;

    wire [SLOT_W-1:0] s_half;          // N / 2, of log2 N
    wire [MASK_W-1:0] act_self;
    genvar e;
    generate
        for (e = 0; e < SLOT_W; e = e + 1) begin : gen_half
            localparam [5:0] E = e;
            assign s_half[e] = {1'b0, s_log2_n} == E + 6'd1;
        end
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign act_self[e] = act_ei[EP_W-1:0] == E;
        end
    endgenerate

    // data of a child goes to the aggregation pipe, but for a root's ring; a parent hears from the aggregation pipe, but of a Broadcast
    reg               a_root, a_pipe_b;
    wire [MASK_W-1:0] a_outs   = !a_pipe_b ? a_parent_mask : a_spreads ? a_out_mask : a_out_mask & ~a_parent_mask;

    wire [23:0]       start_a, start_b;
    wire [SLOT_W:0]   bias_a, bias_b;
    assign {start_b, bias_b, start_a, bias_a} = heads;
    wire [23:0]       a_start = a_pipe_b ? start_b : start_a;
    wire [SLOT_W:0]   a_bias  = a_pipe_b ? bias_b : bias_a;
    wire [SLOT_W-1:0] a_n     = pipe_set ? pipe_n : a_half;
    // of the ring: twice as many where the engine is the root
    wire [SLOT_W:0]   a_span  = !pipe_set ? a_half_span : a_root ? {pipe_n, 1'b0} : {1'b0, pipe_n};

    // whether b comes next after a, that is b + ~a is nothing: without a carry, each bit by itself and the one below
    function next_is(input [23:0] a, input [23:0] b);
        next_is = (b ^ ~a ^ {b[22:0] | ~a[22:0], 1'b0}) == 24'd0;
    endfunction

    // the range before is over if everything is acknowledged in the pipes that it used
    wire [23:0] ctx_after = ctx_end + 24'd1;
    wire        drained_a = next_is(ctx_end, start_a);
    wire        drained_b = next_is(ctx_end, start_b);
    wire        drained   = !ctx_ranged
                            || ((ctx_reduces || drained_b) && (ctx_spreads || (!ctx_reduces && ctx_parent_mask == NOBODY) || drained_a));
    wire        was_down  = (a_self & ctx_parent_mask & ~ctx_in_mask) != NOBODY;

    // what follows stands in A's second cycle
    reg [SLOT_W-1:0] n_reg;
    reg [SLOT_W:0]   raw_reg;
    reg              wraps_reg;        // it is past the end of the ring
    reg              near;             // less than N from start
    reg              in_ring;          // in the ring from start
    reg [SLOT_W-1:0] slot_reg;         // if the place is before the end of the ring
    reg [SLOT_W-1:0] wrapped_reg;      // if it is past that
    reg [SLOT_W-1:0] shift_reg;        // of the pipe's slots, without the group's base
    reg [SLOT_W:0]   size_reg;         // of the ring
    reg              was_down_reg, drained_reg;
    reg [23:0]       begin_reg;        // what the rest of the range's state begins with: one after the last of the one before, or START

    // three numbers, and one more, with one carry to the end
    function [SLOT_W-1:0] sum(input [SLOT_W-1:0] a, input [SLOT_W-1:0] b, input [SLOT_W-1:0] c, input one);
        reg [SLOT_W-1:0] carry, bit_0;
        begin
            carry    = (a & b) | (a & c) | (b & c);
            bit_0    = {SLOT_W{1'b0}};
            bit_0[0] = one;
            sum      = (a ^ b ^ c) + ((carry << 1) | bit_0);
        end
    endfunction

    wire [23:0]       a_wide    = {{(24-SLOT_W){1'b0}}, a_n};
    wire [23:0]       a_off     = a_psn - a_start;
    wire [23:0]       past_n, past_ring;
    inc_past u_past_n    (.number(a_psn), .from(a_start), .places(a_wide), .past(past_n));
    inc_past u_past_ring (.number(a_psn), .from(a_start), .places({{(23-SLOT_W){1'b0}}, a_span}), .past(past_ring));

    wire [SLOT_W-1:0] a_twice = a_n << 1;
    wire [SLOT_W-1:0] a_shift = a_pipe_b && !a_root ? a_n : {SLOT_W{1'b0}};
    // the same less the size of the ring, but for the one that goes with an inverse
    wire [SLOT_W-1:0] a_below = a_root ? ~a_twice : a_pipe_b ? {SLOT_W{1'b0}} : ~a_n;
    wire [SLOT_W:0]   a_raw   = a_bias + a_psn[SLOT_W:0];
    wire [SLOT_W:0]   wrap    = raw_reg - size_reg;
    wire [SLOT_W-1:0] place   = wraps_reg ? wrap[SLOT_W-1:0] : raw_reg[SLOT_W-1:0];
    wire [SLOT_W-1:0] a_index = place + shift_reg;
    wire [SLOT_W-1:0] a_slot  = wraps_reg ? wrapped_reg : slot_reg;
    wire [23:0]       n_wide  = {{(24-SLOT_W){1'b0}}, n_reg};

    // A start that is behind the acknowledgements does no harm to data inside the ring from there: its place is the same, and it has room.
    // Data further off waits until acknowledgements ahead of it are through, data that is not of its group's range until everything is, as
    // that may have begun the range; it is placed again then.
    reg  c_ack;
    reg  a_outside;
    // data that was placed with something ahead of it: of another range, which always waits; any, which waits unless it is in the ring
    reg  a_needs;
    wire a_stray   = a_ranged && (!a_in_range || a_previous);
    wire a_rings   = !a_off[23] && past_ring[23];
    wire acks_ahead = (b_valid && b_ack) || (c_valid && c_ack) || d_busy;
    wire a_clear = a_outside ? !b_valid && !c_valid && !d_busy : !acks_ahead;
`ifdef INC_PARK
    assign holds   = x_busy || x_start || (park_valid && !opened_reg);
`else
    assign holds   = x_busy || x_start;
`endif
    assign a_ready = (a_second && !a_needs) || a_bypass;
    assign a_stays = a_valid && a_second && a_needs;
    assign a_look  = a_stays && a_clear && !holds;

    // what goes with a frame is noted by steps as inc_frame_steps does: one that is free, or left, takes what comes, whether that is a frame or not
    wire a_loads = !a_valid || a_go;
    wire b_loads = !b_valid || b_go;
    wire c_loads = !c_valid || (APART == 0 && c_leaves);

    always @(posedge clk) begin
        a_second <= !s_go && !a_look;
        if (a_loads) begin
            a_base   <= s_base;
            a_half   <= s_half;
            a_half_span <= s_root ? {s_half, 1'b0} : {1'b0, s_half};
            a_root   <= s_root;
            a_pipe_b <= s_data ? s_root || s_spreads || !s_up : s_spreads || !s_parent;
            a_exact  <= !a_valid && !b_valid && !c_valid && !d_busy;
        end else if (a_look) begin
            a_exact  <= 1'b1;
        end
        if (!a_second) begin
            a_outside    <= a_stray;
            a_needs      <= a_data && !a_bypass && !a_exact && (a_stray || !a_rings);
            n_reg        <= a_n;
            raw_reg      <= a_raw;
            wraps_reg    <= a_raw >= a_span;
            near         <= !a_off[23] && past_n[23];
            in_ring      <= a_rings;
            slot_reg     <= sum(a_base + a_psn[SLOT_W-1:0], a_bias[SLOT_W-1:0], a_shift, 1'b0);
            wrapped_reg  <= sum(a_base + a_psn[SLOT_W-1:0], a_bias[SLOT_W-1:0], a_below, a_root || !a_pipe_b);
            shift_reg    <= a_shift;
            size_reg     <= a_span;
            was_down_reg <= ctx_ranged ? was_down : a_down;
            drained_reg  <= drained;
            begin_reg    <= ctx_ranged ? ctx_after : a_begin + 24'd1;
        end
    end

    // ---- B: first the facts, then what the frame does ----

    reg [SLOT_W-1:0]  b_base, b_n, b_index, b_slot;
    reg [MASK_W-1:0]  b_outs;
    reg               b_pipe_b, b_root, b_near, b_in_ring, b_exact, b_was_down, b_drained, b_hears;
    reg [23:0]        b_edge;          // PSN less N
    reg [23:0]        b_next;          // what comes after it, or after what it acknowledges
    reg [23:0]        b_acked;         // the last that an acknowledgement says was received; of a control the last before its range
    reg [23:0]        b_fresh;

    reg               x_word;          // the action's slot's word is there: x_step is X_WORD
    wire [SLOT_W-1:0] x_slot;
    assign rd_en   = !x_word;
    assign rd_slot = x_busy ? x_slot : again ? b_slot : a_slot;

    // who writes what is read: the frame that will be in C, or the one that leaves it
    wire             good;
    reg [SLOT_W-1:0] c_slot;
    reg              c_tails, c_accept, c_pipe_b;
    wire c_stays      = c_valid && !c_leaves;
    wire follows_ei   = b_valid ? b_ei == a_ei : c_stays && c_ei == a_ei;
    wire follows_grp  = b_valid ? b_group == a_group : c_stays && c_group == a_group;
    // the same PSN of the same pipe is the same slot; one that lies a ring further on does not fit
    wire b_same       = b_group == a_group && b_pipe_b == a_pipe_b && b_psn == a_psn;
    wire c_same       = c_group == a_group && c_pipe_b == a_pipe_b && c_psn == a_psn;

    assign a_follows_slot = b_valid ? b_same : c_stays && c_same;
    assign a_written_slot = wr_en && c_same;

    wire [2*TAIL_W-1:0]  b_tails;
    wire                 takes_tails;

    // whoever takes an endpoint's or a slot's state from the frame ahead is of its group
    reg                  b_follows;
    always @(posedge clk) begin
        b_follows <= a_go ? follows_grp && !a_bypass : b_follows && !b_go && !redo;
        if (rst) begin
            b_follows <= 1'b0;
        end
    end

    inc_look_ahead #(.BITS(2 * TAIL_W)) u_tails_ahead (
        .clk(clk), .read(a_go), .follows(follows_grp), .written(tails_we && c_group == a_group), .redo(redo),
        .ram(tails), .writes(c_tails), .next(n_tails), .takes(takes_tails), .word(b_tails));
    assign rcv_rd      = a_go;
    assign rcv_ei      = a_ei;
    assign rcv_follows = follows_ei;
    assign rcv_written = good && c_ei == a_ei;
    assign rcv_redo    = redo;
    assign rcv_psn     = b_wire_psn;
    assign rcv_ends    = b_ends;
    assign rcv_host    = b_host;

    always @(posedge clk) begin
        if (b_loads) begin
            b_base       <= a_base;
            b_n          <= n_reg;
            b_index      <= a_index;
            b_slot       <= a_slot;
            b_outs       <= a_outs;
            b_pipe_b     <= a_pipe_b;
            b_root       <= a_root;
            b_near       <= near;
            b_in_ring    <= in_ring;
            b_exact      <= a_exact;
            b_was_down   <= was_down_reg;
            b_drained    <= drained_reg;
            b_hears      <= (a_self & a_outs) != NOBODY && !(a_reduces && a_pipe_b);
            b_edge       <= a_psn - n_wide;
            b_next       <= a_data || a_syn_ack ? a_psn + 24'd1 : a_psn;
            b_acked      <= a_data ? begin_reg - 24'd1 : a_syn_ack ? a_psn : a_psn - 24'd1;
            b_fresh      <= begin_reg;
        end
    end

    wire [TAIL_W-1:0] b_tail = b_pipe_b ? b_tails[TAIL_W +: TAIL_W] : b_tails[0 +: TAIL_W];
    wire [23:0]       b_top, b_done_psn;
    assign {b_top, b_done_psn} = b_tail;
    wire [23:0]       moved = b_edge - b_done_psn;

    // a PSN has contributions if and only if it is before top; the parent's data is the only one of its PSN
    assign b_first = !b_up || b_psn == b_top;

    reg               f_moved;
    reg [2*TAIL_W-1:0] f_tails;
    reg [23:0]        f_top, f_done;

    always @(posedge clk) begin
        if (!b_second) begin
            f_moved       <= moved[23];
            f_tails       <= b_tails;
            f_top         <= b_top;
            f_done        <= b_done_psn;
        end
    end

    // what it is, if its PSN is the next; all of it is known before that is, of a frame that is not bypassed
    wire syn_any   = b_syn_ack || b_syn_rnr || b_syn_nak;
    wire current   = b_in_range && !b_previous;
    wire may_send  = b_ranged || b_up || b_down;
    wire heard     = b_ranged ? current : b_hears;
    wire belongs   = b_data && may_send && current && !(b_ranged && b_contradicts);
    wire besides   = b_data && may_send && !current;
    reg  f_judged, f_contradicts, f_bad_control, f_wrong_role, f_opener, f_astray, f_sized, f_unsized, f_now_down, f_about, f_unsaid, f_no_role;

    always @(posedge clk) begin
        if (!b_second) begin
            f_judged      <= b_data && may_send;
            // in-band: data of the live range, or a control that may open the next
            f_contradicts <= b_data && may_send && b_ranged && current && b_contradicts;
            f_bad_control <= besides && b_bad_control;
            f_wrong_role  <= besides && b_wrong_role;
            f_opener      <= besides && b_opens;
            f_astray      <= besides && !b_bad_control && !b_wrong_role && !b_opens;
            f_sized       <= belongs && b_whole;
            f_unsized     <= belongs && !b_whole;
            // by the roles that hold now
            f_now_down    <= b_ranged && !current ? b_was_down : b_down;
            f_about       <= b_ack && heard && syn_any;
            f_unsaid      <= b_ack && heard && !syn_any;
            f_no_role     <= (b_data && !may_send) || (b_ack && !b_ranged && !b_hears);
        end
    end

    wire duplicate   = b_fine && f_judged && rcv_behind;
    wire gap         = b_fine && f_judged && !rcv_behind && !rcv_expected;
    wire in_order    = b_fine && rcv_expected;
    wire contradicts = in_order && f_contradicts;
    wire bad_control = in_order && f_bad_control;
    wire wrong_role  = in_order && f_wrong_role;
    wire opener      = in_order && f_opener;
    wire astray      = in_order && f_astray;
`ifdef INC_PARK
    wire parked      = parked_wide[{1'b0, b_group}];
    wire opens       = opener && b_drained && !parked;
`else
    wire opens       = opener && b_drained;
`endif
    wire sized       = in_order && f_sized;
    wire fits        = b_near || (b_in_ring && f_moved);
`ifdef INC_PARK
    wire slotless    = parked && (sized || opener);
    wire full        = !parked && ((sized && !fits) || (opener && !b_drained));
    wire accept      = sized && fits && (f_first || f_same) && !parked;
    wire misfit      = sized && fits && !(f_first || f_same) && !parked;
`else
    wire full        = (sized && !fits) || (opener && !b_drained);
    wire accept      = sized && fits && (f_first || f_same);
    wire misfit      = sized && fits && !(f_first || f_same);
`endif
    wire counted     = duplicate || gap || full || misfit || accept;
    wire completes   = accept && (!b_up || f_full);

    assign b_completes = completes;

    wire about       = b_fine && f_about;

    assign rcv_duplicate = duplicate;
    assign rcv_gap       = gap;
`ifdef INC_PARK
    assign rcv_full      = full || slotless;
`else
    assign rcv_full      = full;
`endif
    assign rcv_accept    = accept;
    assign rcv_go        = b_go;

    // counts if it is accepted, or opens its range, and is known before that
    wire [23:0]       top_next  = f_first ? b_next : f_top;
    wire [23:0]       done_next = !b_up || f_full ? b_next : f_done;
    wire [TAIL_W-1:0] tail_next = {top_next, done_next};

    // where payload lies: 16-bit elements are kept as FP32, in two units a slot; the ranges of an in-band group may be of such
    wire            wide = HALVES != 0 && (b_ranged || b_dtype[1] != b_dtype[0]);
    wire [SLOT_W:0] unit = {1'b0, b_base} + (wide ? {b_index, 1'b0} : {1'b0, b_index});

    // what the frame steps if it is not damaged
    reg [COUNTERS-1:0] steps;
    always @* begin
        steps = {COUNTERS{1'b0}};
        steps[C_UP_DATA]          = counted && !f_now_down;
        steps[C_AGG]              = accept && b_up;
        steps[C_BUFFERED]         = accept && b_up && !f_full;
        steps[C_TX_RESULT]        = accept && b_up && f_full;
        steps[C_DOWN_DATA]        = counted && f_now_down;
        steps[C_RX_CNP]           = b_fine && b_cnp;
        steps[C_RX_CE]            = b_ce;
        steps[C_IMM_MISMATCH]     = accept && !f_first && !f_same_imm;
        steps[C_DROP_TVER]        = b_bad_tver;
        steps[C_DROP_OPCODE]      = b_bad_opcode;
        steps[C_DROP_TOO_LONG]    = b_too_long;
        steps[C_DROP_BAD_LENGTH]  = in_order && f_unsized;
        steps[C_DROP_WRONG_ROLE]  = (b_fine && f_no_role) || wrong_role;
        steps[C_DROP_SYNDROME]    = b_fine && f_unsaid;
        steps[C_DROP_GAP]         = gap;
        steps[C_DROP_SHAPE]       = misfit;
        steps[C_DROP_RANGE]       = astray;
        steps[C_DROP_BAD_CONTROL] = bad_control;
        steps[C_DROP_CONTROL]     = contradicts;
        steps[C_DROP_STALE_ACK]   = b_fine && b_ack && b_ranged && !current;
        steps[C_RX_DUPLICATE]     = duplicate;
        steps[C_DOWN_TAKEN]       = accept && !b_up;
        steps[C_DROP_FULL]        = full;
`ifdef INC_PARK
        steps[C_DROP_PARKED]      = slotless;
`endif
    end

    // ---- C: what was sent and acknowledged, and the verdict ----

    reg               c_known, c_formed, c_sent, c_root;
    reg               c_near, c_sure;  // the PSN is less than N from start; by all acknowledgements ahead of it
    reg [23:0]        c_next, c_fresh, c_acked, c_done_psn;
    reg [SLOT_W-1:0]  c_base, c_n, c_unit;
    reg [MASK_W-1:0]  c_outs;
    reg               c_writes;        // state of its endpoint, group or slot
    reg               c_about, c_opens, c_completes, c_builds, c_up;
    reg [COUNTERS-1:0] c_count;

    wire c_look = x_acts && c_valid;   // again, after an action
    assign look = (b_go && !b_bypass) || x_start || c_look;
    // no frame comes while an action is busy
    wire [EI_W-1:0] look_ei = x_start ? act_ei : x_busy ? c_ei : b_ei;
    assign look_group = x_start ? act_group : x_busy ? c_group : b_group;

    // whose look it is, and of which pipe: in registers, as who is picked from ReceiveACK's and Retransmission's words takes most of a cycle
    reg [MASK_W-1:0] look_self;
    reg              look_pipe_b;
    wire             x_first;

    always @(posedge clk) begin
        if (look) begin
            look_self <= x_start ? act_self : x_busy ? c_self : b_self;
        end
        if (b_go || x_busy) begin
            look_pipe_b <= b_go ? b_pipe_b : c_look ? c_pipe_b : x_step == X_STATE ? x_first : look_pipe_b;
        end
        c_known <= b_go || c_look || (c_known && !x_start);
        if (c_loads) begin
            c_next        <= b_next;
            c_fresh       <= b_fresh;
            c_acked       <= b_acked;
            c_done_psn    <= f_done;
            c_base        <= b_base;
            c_n           <= b_n;
            c_slot        <= b_slot;
            c_unit        <= unit[SLOT_W-1:0];
            c_outs        <= b_outs;
            c_pipe_b      <= b_pipe_b;
            c_root        <= b_root;
            c_up          <= b_up;

            c_ack         <= b_ack;
            c_about       <= about;
            c_opens       <= opens;
            c_accept      <= accept;
            c_completes   <= completes;
            c_builds      <= f_builds;
            c_tails       <= accept || opens;
            c_writes      <= accept || opens || gap || rcv_full;
            n_tails       <= f_opener ? {4{b_fresh}} : b_pipe_b ? {tail_next, f_tails[0 +: TAIL_W]} : {f_tails[TAIL_W +: TAIL_W], tail_next};
            c_count       <= steps;
        end
    end

    assign c_wr = c_accept;

    // ---- form: whether the result leaves at once. The work goes out, and waits for its verdict there ----

    wire [23:0] sent_psn = look_pipe_b ? sents[47:24] : sents[23:0];
    wire        has_work = c_accept && c_live && c_words != {WORDS_W{1'b0}};
    // what completes at a root beyond N from start has room in the broadcast pipe only if start has moved
    wire        unsure   = c_completes && c_root && !c_near && !c_sure;
    wire        form     = c_valid && c_known && !c_formed && !c_bypass && !x_start && !unsure && !(has_work && work_held);
    wire        fused    = c_completes && sent_psn == c_psn && rt_keep != NOBODY && (!c_root || c_near);
    wire        answers  = ans_ack || ans_nak || ans_rnr || ans_cnp;
    reg         t_fused, t_more;
    reg         c_ready;               // formed, and no second frame is to be pushed
    reg         c_hasty;               // a bypassed frame, and nothing else is to be pushed or done
    wire        r_next;                // a second frame is to be pushed in the next cycle
    reg         c_asks;                // ready, and an answer is to be pushed with it
    reg         c_goes;                // ready or hasty, and none is
    wire        ready_next = !c_leaves && !x_start && (c_formed || form) && !(r_valid && !tx_room);
    wire        hasty_next = (b_go ? b_bypass : c_valid && c_bypass && !c_leaves) && !r_next && !x_start && !(x_busy && !x_acts);
    wire        asks_next  = answers && c_live;

    assign      asks     = c_valid && unsure && !d_busy && !asked_reg;
    wire [23:0] c_start  = !asked_reg ? d2_start : c_pipe_b ? d_heads[HEAD_W+SLOT_W+1 +: 24] : d_heads[SLOT_W+1 +: 24];
    wire [23:0] c_off    = c_psn - c_start;
    wire [23:0] c_past;
    inc_past u_c_past (.number(c_psn), .from(c_start), .places({{(24-SLOT_W){1'b0}}, c_n}), .past(c_past));

    always @(posedge clk) begin
        asked_reg <= asks;
        if (c_loads) begin
            c_near <= b_near;
            c_sure <= b_exact;
        end else if (asked_reg || (d2_valid && d2_group == c_group)) begin
            c_near <= !c_off[23] && c_past[23];
            c_sure <= 1'b1;
        end
        if (rst) begin
            asked_reg <= 1'b0;
        end
        // of a frame that is there and is not bypassed
        c_formed <= !c_leaves && !x_start && (c_formed || form);
        c_ready  <= ready_next;
        c_hasty  <= hasty_next;
        c_asks   <= ready_next && asks_next;
        c_goes   <= hasty_next || (ready_next && !asks_next);
        if (!c_formed) begin
            t_fused <= fused;
            // Who moves a root's start may find that more has room there: its pipe is looked at, for nothing if that is not so.
            t_more  <= c_about ? sent_psn != c_done_psn : c_completes && !fused && (!c_root || c_near);
        end
        if (rst) begin
            c_formed <= 1'b0;
            c_ready  <= 1'b0;
            c_hasty  <= 1'b0;
            c_asks   <= 1'b0;
            c_goes   <= 1'b0;
        end
    end

    // ---- commit ----

    assign c_lives = c_live;
    // whether it was damaged is known last, and so does not count here: its answer waits for room in any case
    wire decided = c_ready && c_leaves;
    wire quick   = c_hasty && vrd_valid;
    // whatever is committed is of a frame whose header was fine
    wire commits = c_intact && c_live;
    assign good  = decided && commits;

    assign c_leaves  = vrd_valid && (c_goes || (c_asks && tx_room));
    assign c_opening = good && c_opens;
    assign c_decided = decided && !(commits && c_opens);
    assign c_done    = c_leaves && !(commits && c_opens);
    assign vrd_pop   = c_done;
    // the frame in B may take for written what is not, if C is left
    assign again     = c_valid && b_stale;
    assign b_stale   = !commits && b_follows && c_writes;

    wire spoken = c_about && !rt_stale;
    wire rises  = spoken && rt_progress;
    wire d_next = (good && rises) || d1_valid;  // d_busy in the next cycle

    assign ctl_open = c_opening;
    assign tails_we = good && c_tails;
    assign ctx_we   = good && c_accept;
    assign ctx_word = {c_ranged, c_rng, c_end, c_reduces, c_spreads, c_function, c_dtype, c_big_endian,
                       c_in_mask, c_out_mask, c_parent_mask, c_base, c_n};
    assign rcv_we   = good;
    assign wr_en    = good && c_accept;
    assign wr_slot  = c_slot;

    assign ack_rd    = look;
    assign ack_group = look_group;
    assign ack_we    = good && rises;
    assign ack_lift  = c_opening;
    assign ack_psn   = c_acked;
    assign ack_msn   = c_ext[23:0];

    wire turn_next = !c_done && (x_acts || turn_reg);

    always @(posedge clk) begin
        turn_reg    <= turn_next;
        frames_turn <= turn_next && frm_waits;
        if (c_done) begin
            opened_reg <= 1'b0;
        end else if (c_opening) begin
            opened_reg <= 1'b1;
        end
        if (rst) begin
            turn_reg    <= 1'b0;
            frames_turn <= 1'b0;
            opened_reg  <= 1'b0;
        end
    end

`ifdef INC_PARK
    // ---- parking: what the pipes of a group have is read between two frames, and said a cycle later. Empty pipes may begin anywhere, so they
    // begin at their first slots, and will do so whatever number of slots they are given ----

    reg                k_drained;
    reg [2*HEAD_W-1:0] k_heads;
    wire [SLOT_W:0]    k_bias_a = {(SLOT_W+1){1'b0}} - start_a[SLOT_W:0];
    wire [SLOT_W:0]    k_bias_b = {(SLOT_W+1){1'b0}} - start_b[SLOT_W:0];

    assign k_start      = park_valid && !opened_reg && k_step == 2'd0 && !b_valid && !c_valid && !x_busy && !d_busy && !r_valid;
    assign park_take    = k_step == 2'd2;
    assign park_drained = k_drained;

    always @(posedge clk) begin
        k_step    <= k_start ? 2'd1 : k_step == 2'd1 ? 2'd2 : 2'd0;
        k_drained <= start_a == tails[24 +: 24] && start_b == tails[TAIL_W+24 +: 24];
        k_heads   <= {start_b, k_bias_b, start_a, k_bias_a};
        if (rst) begin
            k_step <= 2'd0;
        end
    end

`endif
    // ---- D: an acknowledgement may move the start of its pipe, two cycles behind its commit: first the minimum, then what follows ----

    reg              d1_pipe_b, d1_root, d2_root;
    reg [SLOT_W-1:0] d1_n, d2_n;
    reg [SLOT_W:0]   d_size;           // of the ring
    reg [23:0]       d1_acked, d1_done, d2_done;

    wire [23:0]       rest_past  = ack_rest - d1_acked;
    wire [HEAD_W-1:0] d_head     = d2_pipe_b ? d_heads[HEAD_W +: HEAD_W] : d_heads[0 +: HEAD_W];
    wire [23:0]       d_start;
    wire [SLOT_W:0]   d_bias;
    assign {d_start, d_bias} = d_head;
    // the slot of the new start less the ring's size, with one carry to the end as in `past`: it is less than a size from 0 either way
    wire [SLOT_W:0]   d_at       = d2_start[SLOT_W:0];
    wire [SLOT_W-1:0] d_carry    = (d_bias[SLOT_W-1:0] & d_at[SLOT_W-1:0]) | (d_bias[SLOT_W-1:0] & ~d_size[SLOT_W-1:0])
                                   | (d_at[SLOT_W-1:0] & ~d_size[SLOT_W-1:0]);
    wire [SLOT_W:0]   head_past  = (d_bias ^ d_at ^ ~d_size) + {d_carry, 1'b1};
    wire [SLOT_W:0]   bias_past  = d_bias - d_size;
    wire [HEAD_W-1:0] head_on    = {d2_start, d_bias}, head_wrapped = {d2_start, bias_past};
    wire [SLOT_W:0]   fresh_bias = {(SLOT_W+1){1'b0}} - c_fresh[SLOT_W:0];
    wire [HEAD_W-1:0] fresh_head = {c_fresh, fresh_bias};

    // whether the ring's end is passed is known last
    wire [2*HEAD_W-1:0] heads_on      = d2_pipe_b ? {head_on, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_on};
    wire [2*HEAD_W-1:0] heads_wrapped = d2_pipe_b ? {head_wrapped, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_wrapped};
`ifdef INC_PARK
    wire [2*HEAD_W-1:0] heads_begin   = park_take ? k_heads : ending ? {fresh_head, fresh_head} : {init_head, init_head};
    assign heads_we    = c_opening || d2_valid || (park_take && k_drained);
    assign heads_group = park_take ? park_group : d2_valid ? d2_group : ending ? c_group : init_group;
`else
    wire [2*HEAD_W-1:0] heads_begin   = ending ? {fresh_head, fresh_head} : {init_head, init_head};
    assign heads_we    = c_opening || d2_valid;
    assign heads_group = d2_valid ? d2_group : ending ? c_group : init_group;
`endif
    assign heads_next  = head_past[SLOT_W] ? (d2_valid ? heads_on : heads_begin) : (d2_valid ? heads_wrapped : heads_begin);

    always @(posedge clk) begin
        d_busy    <= d_next;
        d1_valid  <= good && rises;
        d1_group  <= c_group;
        d1_pipe_b <= c_pipe_b;
        d1_root   <= c_root;
        d1_n      <= c_n;
        d1_acked  <= c_acked;
        d1_done   <= c_done_psn;
        d2_valid  <= d1_valid;
        d2_group  <= d1_group;
        d2_pipe_b <= d1_pipe_b;
        d2_root   <= d1_root;
        d2_n      <= d1_n;
        d_size    <= d1_root ? {d1_n, 1'b0} : {1'b0, d1_n};
        d2_done   <= d1_done;
        d2_start  <= (ack_rest_any && rest_past[23] ? ack_rest : d1_acked) + 24'd1;
        if (rst) begin
            d_busy   <= 1'b0;
            d1_valid <= 1'b0;
            d2_valid <= 1'b0;
        end
    end

    // ---- slots freed, counted one a cycle: those that a root moves, and those left behind by start ----

    reg              w1_valid, w1_root, w2_valid, w2_root, w3_valid;
    reg [SLOT_W-1:0] w1_n;
    reg [23:0]       w1_step, w1_span, w1_left, w2_step, w2_was_full, w2_is_full, w3_step, w3_moved, w4_freed, wipe_reg;
    reg              moves_reg;

    // what a root has moved: what is done, from start on, but no more than N
    wire [23:0] w_n      = {{(24-SLOT_W){1'b0}}, w1_n};
    wire [23:0] was_full = w1_span > w_n ? w_n : w1_span;
    wire [23:0] is_full  = w1_left > w_n ? w_n : w1_left;
    wire        wipes    = wipe_reg != 24'd0;

    always @(posedge clk) begin
        w1_valid  <= d2_valid;
        w1_root   <= d2_root;
        w1_n      <= d2_n;
        w1_step   <= d2_start - d_start;
        w1_span   <= d2_done - d_start;
        w1_left   <= d2_done - d2_start;
        w2_valid  <= w1_valid;
        w2_root   <= w1_root;
        w2_step   <= w1_step;
        w2_was_full <= was_full;
        w2_is_full  <= is_full;
        w3_valid  <= w2_valid;
        w3_step   <= w2_step;
        w3_moved  <= w2_root ? w2_step + w2_is_full - w2_was_full : 24'd0;
        w4_freed  <= w3_valid ? w3_step + w3_moved : 24'd0;
        moves_reg <= good && c_completes && c_root && c_near;
        wipe_reg  <= wipe_reg + w4_freed + {23'd0, moves_reg} - {23'd0, wipes};
        if (rst) begin
            w1_valid  <= 1'b0;
            w2_valid  <= 1'b0;
            w3_valid  <= 1'b0;
            w4_freed  <= 24'd0;
            moves_reg <= 1'b0;
            wipe_reg  <= 24'd0;
        end
    end

    // ---- actions: state is read, then the place is computed, then the slot's word is read ----

    wire              pointed  = !act_timer && act_pipe;           // of a whole pipe
    wire [MASK_W-1:0] x_self   = look_self;
    assign            x_first  = pointed ? act_ei[0] : ctx_spreads || (x_self & ctx_parent_mask) == NOBODY;
    wire [23:0]       x_sent   = x_first ? sents[47:24] : sents[23:0];
    // which pipe it is is known late: both differences are there before it
    wire [23:0]       x_unsent_a = sents[23:0] - start_a;
    wire [23:0]       x_unsent_b = sents[47:24] - start_b;
    wire              x_any_a  = sents[23:0] != tails[0 +: 24];
    wire              x_any_b  = sents[47:24] != tails[TAIL_W +: 24];
    // what follows stands from the second cycle on
    reg               x_root, x_pipe_b;
    reg  [MASK_W-1:0] x_outs;
    wire [SLOT_W:0]   x_bias   = x_pipe_b ? bias_b : bias_a;
    wire [23:0]       x_done   = x_pipe_b ? tails[TAIL_W +: 24] : tails[0 +: 24];
    wire [23:0]       x_n      = {{(24-SLOT_W){1'b0}}, ctx_n};
    wire              x_wide   = HALVES != 0 && (ctx_ranged || ctx_dtype[1] != ctx_dtype[0]);

    reg  [23:0]       x_at, x_after, x_unsent;
    reg               x_any, x_two, x_sendable, x_again, x_kept;
    // what the action does, one or nothing: together with the slot's word, and until then none
    reg               whole_pipe, to_one, to_go_back, to_resume, to_drop;
    reg               resends;         // either of the first two
    reg  [SLOT_W:0]   x_raw, x_size;
    reg  [SLOT_W-1:0] x_shift, x_index, x_straight, x_wrapped;

    wire [SLOT_W-1:0] x_shifts = x_pipe_b && !x_root ? ctx_n : {SLOT_W{1'b0}};
    wire [SLOT_W:0]   x_ring   = {ctx_n, 1'b0};
    // the shift less the size of the ring, but for the one that goes with an inverse
    wire [SLOT_W-1:0] x_below  = x_root ? ~x_ring[SLOT_W-1:0] : x_pipe_b ? {SLOT_W{1'b0}} : ~ctx_n;
    wire [SLOT_W:0]   x_wrap   = x_raw - x_size;
    wire [SLOT_W-1:0] x_place  = x_raw >= x_size ? x_wrap[SLOT_W-1:0] : x_raw[SLOT_W-1:0];
    wire [SLOT_W:0]   x_unit   = {1'b0, ctx_base} + (x_wide ? {x_index, 1'b0} : {1'b0, x_index});
    assign            x_slot   = x_raw >= x_size ? x_wrapped : x_straight;

    // known a cycle before it is done: a group that is stopped in this one still counts as live
    wire              x_then     = (x_step == X_SLOT || (x_word && !x_acts)) && live_wide[{1'b0, act_group}];
    wire              sends_pipe = pointed && x_sendable && x_kept;
    wire              sends_one  = !act_timer && !act_pipe && rt_one;
    wire [LEN_W:0]     slot_bytes = {1'b0, slot_plen} + (BYTES[LEN_W:0] - {{LEN_W{1'b0}}, 1'b1});
    wire [WORDS_W-1:0] slot_words = slot_bytes[LANE_W +: WORDS_W];
    assign            x_acts     = x_word && (!resends || (tx_room && !work_held));
    wire              x_sends    = resends && tx_room && !work_held;
    wire              x_works    = x_sends && slot_plen != {LEN_W{1'b0}};
    assign            act_done   = x_acts;

    always @(posedge clk) begin
        if (x_start) begin
            x_step <= X_STATE;
        end else if (x_busy && x_step != X_WORD) begin
            x_step <= x_step + 3'd1;
        end else if (x_acts) begin
            x_step <= X_NONE;
        end
        x_word     <= x_step == X_SLOT || (x_word && !x_acts);
        whole_pipe <= x_then && sends_pipe;
        to_one     <= x_then && sends_one;
        resends    <= x_then && (sends_pipe || sends_one);
        to_go_back <= x_then && act_timer && rt_timeout;
        to_resume  <= x_then && act_timer && rt_resume;
        to_drop    <= x_then && !act_timer && !sends_pipe && !sends_one;
        if (x_step == X_STATE) begin
            x_root     <= !ctx_reduces && !ctx_spreads && ctx_parent_mask == NOBODY;
            x_pipe_b   <= x_first;
            x_outs     <= !x_first ? ctx_parent_mask : ctx_spreads ? ctx_out_mask : ctx_out_mask & ~ctx_parent_mask;
            x_at     <= pointed ? x_sent : rt_one_psn;
            x_unsent <= x_first ? x_unsent_b : x_unsent_a;
            x_any    <= x_first ? x_any_b : x_any_a;
        end
        x_raw      <= x_bias + x_at[SLOT_W:0];
        x_sendable <= x_any && (!x_root || x_unsent < x_n);
        x_kept     <= rt_keep != NOBODY;
        x_after    <= x_at + 24'd1;
        x_two      <= !next_is(x_at, x_done);
        x_again    <= x_two && (!x_root || x_unsent + 24'd1 < x_n);
        x_size     <= x_root ? x_ring : {1'b0, ctx_n};
        x_shift    <= x_shifts;
        x_straight <= sum(ctx_base + x_at[SLOT_W-1:0], x_bias[SLOT_W-1:0], x_shifts, 1'b0);
        x_wrapped  <= sum(ctx_base + x_at[SLOT_W-1:0], x_bias[SLOT_W-1:0], x_below, x_root || !x_pipe_b);
        x_index    <= x_place + x_shift;
        x_ready    <= act_valid && !x_start && !x_busy && !opened_reg && !c_opening && !r_next && !d_next;
        if (rst) begin
            x_step  <= X_NONE;
            x_word  <= 1'b0;
            x_ready <= 1'b0;
            {whole_pipe, to_one, resends, to_go_back, to_resume, to_drop} <= 6'd0;
        end
    end

    // ---- what was sent: by data that leaves at once, by an action ----

    wire [23:0] sent_next = x_busy ? x_after : c_next;
    assign sents_we    = (good && (t_fused || c_opens)) || (x_sends && whole_pipe);
    assign sents_group = x_busy ? act_group : c_group;
    assign sents_next  = c_opens && !x_busy ? {2{c_fresh}} : look_pipe_b ? {sent_next, sents[23:0]} : {sents[47:24], sent_next};

    assign ack_self = look_self;
    assign ack_mask = x_busy ? x_outs : c_outs;
    assign ack_pick = ack_self;

    assign rt_rd     = look;
    assign rt_ei     = look_ei;
    assign rt_self   = look_self;
    assign rt_out    = x_busy ? x_outs : c_outs;
    assign rt_pipe   = look_pipe_b;
    assign rt_sent   = sent_psn;
    assign rt_acked  = ack_own;
    assign rt_last   = c_acked;
    assign rt_next   = c_next;
    assign rt_is_ack = c_syn_ack;
    assign rt_is_nak = c_syn_nak && c_ext[25:24] == 2'd0;
    assign rt_is_rnr = c_syn_rnr;
    assign rt_code   = c_ext[28:24];

    assign cm_we      = good || x_acts;
    assign cm_ack     = !x_busy && spoken;
    assign cm_data    = !x_busy && c_accept;
    assign cm_send    = x_busy ? whole_pipe : t_fused;
    assign cm_one     = to_one;
    assign cm_timeout = to_go_back;
    assign cm_resume  = to_resume;
    assign cm_open    = !x_busy && c_opens;
    assign cm_drop    = to_drop;
    // whoever opens a range completes nothing
    assign cm_more    = !x_busy ? t_more : whole_pipe ? x_again : x_sendable;

    assign init_take = init_valid && init_clean && !ending && !d_busy && !x_busy;

    // ---- work on the payload ----

    wire goes = x_busy || fused;
    reg  x_put;                        // an action's work was put

    assign work_put        = (form && has_work) || x_works;
    assign work_words      = x_busy ? slot_words : c_words;
    assign work_unit       = x_busy ? x_unit[SLOT_W-1:0] : c_unit;
    assign work_ep         = x_busy ? {EP_W{1'b0}} : c_ei[EP_W-1:0];
    assign work_mask       = x_busy ? slot_mask : wr_mask;
    // the parent's data is nobody's contribution
    assign work_copied     = x_busy ? x_pipe_b && !x_root : !c_up;
    assign work_read       = x_busy ? TREE == 0 : c_builds;
    assign work_take       = !x_busy;
    assign work_write      = !x_busy;
    assign work_emit       = TREE == 0 && goes;
    assign work_reduce     = TREE != 0 && goes;
    assign work_function   = x_busy ? ctx_function : c_function;
    assign work_dtype      = x_busy ? ctx_dtype : c_dtype;
    assign work_big_endian = x_busy ? ctx_big_endian : c_big_endian;
    assign work_commits    = (good && c_sent) || x_put;
    assign work_kills      = c_sent && ((decided && !good) || x_start);

    always @(posedge clk) begin
        c_sent <= !c_leaves && !x_start && (c_sent || (form && has_work));
        x_put  <= x_works;
        if (rst) begin
            c_sent <= 1'b0;
            x_put  <= 1'b0;
        end
    end

    // ---- frames to be made: an answer, and a cycle later the result that leaves at once, or a CNP; or an action's data ----

    reg               r_cnp, r_se, r_ce, r_ranged, r_pipe_b;
    reg [1:0]         r_pad, r_rng;
    reg [EI_W-1:0]    r_ei;
    reg [MASK_W-1:0]  r_mask;
    reg [7:0]         r_opcode;
    reg [23:0]        r_psn;
    reg [31:0]        r_ext;
    reg [LEN_W-1:0]   r_plen;
    reg [WORDS_W-1:0] r_words;
    assign            r_next = (good && (t_fused || (ans_rnr && ans_cnp))) || (r_valid && !tx_room);
    wire              more = r_valid && tx_room;
    wire              data = x_busy || (r_valid && !r_cnp);
    wire              cnp  = ans_cnp && !ans_rnr;

    // a result that has left at once is told in the cycle behind its frame, whether there is room for it or not
    reg               r_told;

    always @(posedge clk) begin
        r_valid <= r_next;
        r_told  <= good && t_fused;
        if (!r_valid) begin
            r_cnp    <= !t_fused;
            r_ei     <= c_ei;
            r_pipe_b <= c_pipe_b;
            r_mask   <= t_fused ? rt_keep : c_self;
            r_opcode <= t_fused ? wr_opcode : OP_CNP;
            r_se     <= t_fused && wr_se;
            r_pad    <= t_fused ? wr_pad : 2'd0;
            r_ce     <= t_fused && wr_ce;
            r_psn    <= t_fused ? c_psn : c_wire_psn;
            r_ranged <= c_ranged;
            r_rng    <= c_rng;
            r_ext    <= t_fused ? wr_ext : 32'd0;
            r_plen   <= t_fused ? wr_plen : {LEN_W{1'b0}};
            r_words  <= t_fused ? c_words : {WORDS_W{1'b0}};
        end
        if (rst) begin
            r_valid <= 1'b0;
            r_told  <= 1'b0;
        end
    end

    assign tx_valid   = (good && c_asks) || more || x_sends;
    assign tx_kind    = {1'b0, data};
    assign tx_ei      = r_valid ? r_ei : x_busy ? act_ei : c_ei;
    assign tx_mask    = r_valid ? r_mask : x_busy ? (pointed ? rt_keep : x_self) : c_self;
    assign tx_opcode  = r_valid ? r_opcode : x_busy ? slot_opcode : cnp ? OP_CNP : OP_ACK;
    assign tx_se      = r_valid ? r_se : x_busy && slot_se;
    assign tx_pad     = r_valid ? r_pad : x_busy ? slot_pad : 2'd0;
    assign tx_ce      = r_valid ? r_ce : x_busy && slot_ce;
    assign tx_psn     = r_valid ? r_psn : x_busy ? x_at : cnp ? c_wire_psn : ans_psn;
    assign tx_in_band = data && (r_valid ? r_ranged : ctx_ranged);
    assign tx_rng     = r_valid ? r_rng : ctx_rng;
    assign tx_dir     = 1'b0;
    assign tx_ext     = r_valid ? r_ext : x_busy ? slot_ext : cnp ? 32'd0 : {ans_syndrome, ans_msn};
    assign tx_plen    = r_valid ? r_plen : x_busy ? slot_plen : {LEN_W{1'b0}};
    assign tx_words   = r_valid ? r_words : x_busy ? slot_words : {WORDS_W{1'b0}};

    // ---- the monitor ----

    wire [EI_W-1:0] pipe_ei;
    generate
        if (EI_W > EP_W) begin : gen_pipe_ei
            wire [EP_W-1:0] pipe_ep = {{(EP_W-1){1'b0}}, r_pipe_b};
            assign pipe_ei = {r_ei[EI_W-1:EP_W], pipe_ep};
        end else begin : gen_pipe_ep
            assign pipe_ei = {{(EP_W-1){1'b0}}, r_pipe_b};
        end
    endgenerate
    assign mon_act_valid = c_decided || quick || r_told || (x_acts && (resends || to_go_back || to_resume));
    assign mon_act_kind  = r_told ? 3'd1 : x_busy ? (whole_pipe ? 3'd1 : to_one ? 3'd2 : to_go_back ? 3'd3 : 3'd4) : 3'd0;
    assign mon_act_ei    = r_told ? pipe_ei : x_busy ? act_ei : c_ei;

    // ---- counters, a cycle later: exactly one of the drops, or the actions, which count if the frame passed: that comes late ----

    reg [COUNTERS-1:0] count_reg, action_reg;
    reg                passed_reg;

    always @(posedge clk) begin
        passed_reg <= c_passed;
        action_reg <= c_count;
        action_reg[C_RX_ACK]              <= spoken && c_syn_ack;
        action_reg[C_RX_NAK]              <= spoken && c_syn_nak;
        action_reg[C_RX_RNR]              <= spoken && c_syn_rnr;
        action_reg[C_TX_GAP_NAK]          <= ans_nak;
        action_reg[C_TX_CNP]              <= ans_cnp;
        action_reg[C_DROP_STALE_ACK]      <= c_count[C_DROP_STALE_ACK] || (c_about && rt_stale);
        action_reg[C_TX_ACK]              <= ans_ack;
        action_reg[C_TX_RNR]              <= ans_rnr;
        count_reg  <= {COUNTERS{1'b0}};
        count_reg[C_RX_FRAMES]            <= c_done;
        count_reg[C_BYPASS]               <= quick;
        count_reg[C_WIPE]                 <= wipes;
        count_reg[C_DROP_FOREIGN +: 6]    <= c_drops;    // and those behind it, to DROP_ICRC
        count_reg[C_RANGE_OPEN]           <= c_opening;
        count_reg[C_TX_RETRANSMIT]        <= x_acts && to_one && rt_again;
        count_reg[C_TIMEOUT]              <= x_acts && to_go_back;
        if (rst) begin
            passed_reg <= 1'b0;
            count_reg  <= {COUNTERS{1'b0}};
        end
    end
    assign count = count_reg | (action_reg & {COUNTERS{passed_reg}});

    wire unused_bits = &{1'b0, takes_tails, c_off, c_past, s_ei, c_ext, moved, unit, wrap, a_off, past_n, past_ring, rest_past, head_past, init_before,
                         slot_bytes, x_wrap, x_unit, init_ei, tbl_index, tbl_data, ack_picked, ack_picked_msn,
                         ack_rest_msn, ack_rest_ep, ack_own_msn, ack_ready};

endmodule

`default_nettype wire
