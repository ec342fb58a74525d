// SPDX-License-Identifier: Apache-2.0
//
// inc_check_message: decides what every frame does in Mode I, hands the engine's own actions their turn, keeps the pools.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries; a frame and an action in turn while both wait
//   steps       data is looked up when it comes into B, or later, when no data is left in C, and whatever its verdict: b_looks and placed_reg, in C
//               F_JUDGE; then it waits for its verdict. An answer leaves C and waits for its job of SendMessage, q_*, one at a time; frames
//               behind it go on. While SendMessage does anything but answers, looks, and what has left at once, no frame is decided. What an
//               answer makes of `start` comes some 10 cycles after it; a start that is behind does no harm to data that has room by it. Other
//               data, and what a root completes beyond N from it, looks at start again when it has come, F_START and F_ROOM
//   latency     data is decided in the cycle of its verdict, in the fourth cycle behind data before it, or in the second that it is in C;
//               anything else in the first. If it completes a message and does not leave at once, or lets more of one leave, then when
//               SendMessage is idle; an answer, and what leaves at once, when none waits. A CNP follows its answer by a cycle
//   throughput  data every 4 cycles, data and an answer every 4 the two of them, an answer every 3, of the same endpoint or another group every
//               4, anything else every 2 as it comes
//   commit      all of a frame's effects come after its verdict, but for its work on the payload
//   speculation the work is put as soon as the frame is looked up, and committed or killed with the verdict, in the cycle behind it if it is put in
//               the cycle of the verdict. Whether a result is to leave at once is guessed for it as the look before found it; if it is wrong the
//               work is killed, and put again in the next cycle at the earliest. So it is if SendMessage begins a job that may send
//   stall       waits while tx_room is low and a frame is to be made, and while work_held is high and there is payload that is not put
//   pools       a message's slot is counted from that of `start`, `head`. At the root of an AllReduce or Barrier one ring of 2N slots is both
//               pools. A message is new if nobody has begun it: `top` is the first such
//   slot        wr_* and slot_*: RecycleBuffer keeps {mark, length known, CE, SE, immediate, who has sent it to the end}; what it has of a
//               message that is new counts for nothing
//   payload     units of UNIT_BYTES, message_bytes a slot; 16-bit elements take two units each. work_adds: so many units of the payload from
//               its first on are added to what lies there, the rest overwrite
//   open        with OPEN packets of a message leave before it is complete: ctx_open is how many bytes of the message at ctx_limit all have sent,
//               one unit less if it may end there, 0 for a group in grp_whole. It is found after each packet of one who had sent the least of
//               that message, and does not leave at once, if all have sent some of it now, in 5 cycles in which no frame is decided
//   send side   one job at a time for SendMessage until snd_done: an answer (snd_ack), an action (snd_act), a pool that may send more
//               (snd_note), a look at one (snd_look), what has left at once (snd_fuse). An answer's, or the last's, may begin in the cycle of the
//               snd_done of such a job, if that is of its group and of another endpoint. Meanwhile it asks for messages (msg_*), and its frames and works pass through here
//   at once     what completes a message goes by what was seen of its pool (see_*), if that stands and no answer is under way that may change it;
//               else it waits for a look, made before its verdict if there is time. If all are on one lane, somebody keeps up, this packet's
//               place is next, and the packet is not longer than their path MTU, it leaves with its commit, snd_moves: its work emits too, and
//               its copies are pushed a cycle later, as is a CNP behind an answer. SendMessage hears of it as a job, behind answers ahead. With
//               OPEN so leaves a packet that completes none, but is the last to bring its bytes, if it is as long as the path MTU there, unless
//               the message may end there; one of a group of which the last look found other lanes, or another length, does not look
//   state       per endpoint {rqPSN, message, offset, inside, nakSent, refused, unanswered, msn}, per group of both pools {start, done, top,
//               head}, and what is needed to send without a frame, noted whenever data is taken; set by init_*
//   monitor     mon_act_*: docs/pipes.md section 7; of a frame in its last cycle, of a result sent at once a cycle behind that
//   counters    in the cycle behind the decision; of an answer, but for RX_FRAMES, behind snd_done
`ifdef INC_PARK
//   parking     a message of a parked group (grp_parked) finds no slot. While park_valid stands, the pools of park_group are looked at between two
//               frames or actions, before any other: park_take comes with the answer in the next cycle, and a drained group's pools then begin at
//               the first slots of wherever they will be
`endif
`ifdef INC_MESSAGE_RANGES
//   ranges      of an in-band group a message's first packet, or only one, belongs to the range by its endpoint's message, and a control behind it
//               opens the next: ctl_open, when everything before is acknowledged, and while ctl_busy stands every endpoint of the group comes to
//               the range's first message, one after the other, here and in SendMessage (snd_open), 7 cycles each. The control comes again
//               then. No action is taken in between, and no group parked
`endif
//   reset       idle
`ifdef INC_RELEASE
//   release     start_* says, a cycle behind it, where both pools of a group are acknowledged to; who is in grp_releases may acknowledge
`ifdef INC_MESSAGE_RANGES
//               rng_* says with data that is taken what its range is; no other range opens as long as the group is in grp_owes
//   not done    what endpoints are sent is SendMessage's
`else
//   not done    in-band groups; what endpoints are sent is SendMessage's
`endif
`else
`ifdef INC_MESSAGE_RANGES
//   not done    releases; what endpoints are sent is SendMessage's
`else
//   not done    in-band groups, releases; what endpoints are sent is SendMessage's
`endif
`endif
`default_nettype none

module inc_check_message #(
    // bits of a payload length
    parameter LEN_W    = 11,
    // bits of a payload's number of words
    parameter WORDS_W  = 8,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W     = 3,
    // bits of an endpoint's index in the table
    parameter EI_W     = 4,
    // bits of an endpoint mask
    parameter MASK_W   = 5,
    // bits of a slot's number
    parameter SLOT_W   = 4,
    // bits of the number of a unit of payload
    parameter UNIT_W   = 8,
    // bytes of a message's slot, and of a unit; powers of two
    parameter MESSAGE_BYTES = 4096,
    parameter UNIT_BYTES    = 256,
    // 1: contributions are kept by pairs of endpoints and reduced when the message is sent
    parameter TREE     = 0,
    // 1: there are element types of 16 bits; they take two units each
    parameter HALVES   = 0,
    // 1: packets of messages leave before these are complete
    parameter OPEN     = 0,
    // number of groups
    parameter GROUPS   = 2,
    // number of counters
    // contract: parameter 1
    parameter COUNTERS = 60
    // contract: end
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [GROUPS-1:0]   grp_live,
    input  wire [7:0]          cfg_ack_every,
    input  wire [4:0]          cfg_rnr_timer,
    input  wire                cfg_rnr,
    input  wire                cfg_cnp,
    // groups of which nothing leaves before its message is complete
    input  wire [GROUPS-1:0]   grp_whole,
`ifdef INC_RELEASE
    // endpoints that hear of releases, MASK_W bits a group
    input  wire [GROUPS*MASK_W-1:0] grp_releases,
    // both pools' first message that is not acknowledged, when one moves
    output reg                 start_we,
    output reg  [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] start_group,
    output reg  [23:0]         start_a,
    output reg  [23:0]         start_b,
`ifdef INC_MESSAGE_RANGES
    // groups of which a range's releases are not acknowledged
    input  wire [GROUPS-1:0]   grp_owes,
    // the group of a range that begins with ctl_open; the range that data is of: its last message, who sends, the pools that it uses
    output wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] rng_group,
    output wire                rng_we,
    output wire [23:0]         rng_last,
    output wire [MASK_W-1:0]   rng_senders,
    output wire                rng_a,
    output wire                rng_b,
`endif
`endif
    // endpoints whose connection was ended, MASK_W bits a group
    output reg  [GROUPS*MASK_W-1:0] grp_invalid,

    // control plane
    input  wire                tbl_grp_we,
    input  wire                tbl_ep_we,
    input  wire [EI_W-1:0]     tbl_index,
    input  wire [3:0]          tbl_word,
    input  wire [31:0]         tbl_data,

    // a frame that was looked up is not decided yet
    input  wire                frm_waits,
    // the packet being decided asks for an acknowledgement
    input  wire                frm_asks,

`ifdef INC_PARK
    input  wire [GROUPS-1:0]   grp_parked,
    // whether a group can be parked: nothing that its slots hold is wanted
    input  wire                park_valid,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] park_group,
    output wire                park_take,
    output wire                park_drained,

`endif
    // the frame, in inc_frame_steps: the one that goes into A with s_go
    input  wire                s_go,
    input  wire                s_up,
    input  wire                s_spreads,
    input  wire                s_root,
    input  wire [SLOT_W-1:0]   s_base,
    input  wire [4:0]          s_log2_n,
    // the one in A, to B with a_go
    input  wire                a_go,
    input  wire [EI_W-1:0]     a_ei,
    // the one in B, to C with b_go
    input  wire                b_go,
    input  wire                b_valid,
    input  wire [EI_W-1:0]     b_ei,
    input  wire [MASK_W-1:0]   b_self,
    input  wire                b_host,
    input  wire                b_data,
    input  wire                b_ack,
    input  wire                b_cnp,
    input  wire                b_ends,
    input  wire                b_fine,
    input  wire                b_bad_tver,
    input  wire                b_bad_opcode,
    input  wire                b_too_long,
    input  wire [23:0]         b_wire_psn,
`ifdef INC_MESSAGE_RANGES
    // of the range, of a control: it may open one, is not legal, is of one who would not send, is not the range's own
    input  wire                b_in_range,
    input  wire                b_opens,
    input  wire                b_bad_control,
    input  wire                b_wrong_role,
    input  wire                b_contradicts,
`endif
    input  wire                b_up,
    input  wire                b_down,
    input  wire                b_whole,
    input  wire                b_spreads,
    input  wire [1:0]          b_dtype,
    input  wire [MASK_W-1:0]   b_in_mask,
    input  wire [MASK_W-1:0]   b_parent_mask,
    // the one in C
    output wire                c_free,
    output wire                c_leaves,
    output wire                c_lives,
`ifdef INC_MESSAGE_RANGES
    output wire                c_decided,
    output wire                c_opening,
    output wire                c_done,
`else
    output wire                c_decided,
    output wire                c_done,
`endif
    input  wire                c_valid,
    input  wire                c_live,
    input  wire                c_bypass,
    input  wire [EI_W-1:0]     c_ei,
    input  wire [MASK_W-1:0]   c_self,
    input  wire                c_syn_ack,
    input  wire                c_syn_rnr,
    input  wire                c_syn_nak,
    input  wire [7:0]          c_opcode,
    input  wire                c_se,
    input  wire                c_ce,
    input  wire [23:0]         c_wire_psn,
    input  wire [31:0]         c_ext,
    input  wire [LEN_W-1:0]    c_plen,
    input  wire [WORDS_W-1:0]  c_words,
    input  wire                c_big_endian,
`ifdef INC_MESSAGE_RANGES
    input  wire                c_ranged,
    input  wire [1:0]          c_rng,
    input  wire [23:0]         c_begin,
    input  wire [23:0]         c_end,
`endif
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

`ifdef INC_MESSAGE_RANGES
    // the range that the frame opens, in Control
    output wire                ctl_open,
    output wire                ctl_busy,

`endif
    // what was acknowledged, from ReceiveACK: in messages
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
    output wire                ack_lift,
    output wire [23:0]         ack_psn,
    output wire [23:0]         ack_msn,

    // its verdict, from the packet buffer
    input  wire                vrd_valid,
    output wire                vrd_pop,

    // a message's slot, in RecycleBuffer
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

    // state at the start of a group, an endpoint at a time; taken by SendMessage too
    input  wire                init_valid,
    output wire                init_take,
    input  wire                init_clean,
    input  wire [EI_W-1:0]     init_ei,
    input  wire [23:0]         init_psn,

    // jobs of SendMessage: an answer, or an action
    input  wire                act_valid,
    // there is one, or will be in a few cycles
    input  wire                act_soon,
    input  wire                act_timer,
    input  wire                act_pipe,
    input  wire [EI_W-1:0]     act_ei,
    output wire                snd_ack,
    output wire                snd_act,
    output wire                snd_note,
`ifdef INC_MESSAGE_RANGES
    // the endpoint begins a range, with the message ctx_limit
    output wire                snd_open,
`endif
    // a look at the pool of the frame that may complete a message's packet; with such a frame that leaves as was seen, and a job follows for it
    output wire                snd_look,
    output wire                snd_moves,
    // it is its message's last; the same of the job
    output wire                snd_ends,
    output wire                snd_fuse,
    output wire                snd_ended,
    input  wire                see_there,
    input  wire                see_full,
    input  wire [EI_W-1:0]     see_ei,
    input  wire                see_ok,
    input  wire [23:0]         see_msg,
    input  wire [$clog2(MESSAGE_BYTES)-$clog2(UNIT_BYTES):0] see_pos,
    input  wire [23:0]         see_psn,
    input  wire [2:0]          see_code,
    input  wire [MASK_W-1:0]   see_keep,
    output wire [EI_W-1:0]     snd_ei,
    output wire [MASK_W-1:0]   snd_self,
    output wire [23:0]         snd_psn,
    output wire                snd_is_ack,
    output wire                snd_is_nak,
    output wire                snd_is_rnr,
    output wire [4:0]          snd_code,
    output wire                snd_pipe,
    output wire [MASK_W-1:0]   ctx_outs,
    output wire [23:0]         ctx_limit,
    output wire [$clog2(MESSAGE_BYTES):0] ctx_open,
    output wire                ctx_wide,
    input  wire                snd_done,
    // it ends an answer, or a job for what has left at once
    input  wire                snd_next,
    input  wire                snd_stale,
    input  wire                snd_moved,
    input  wire [23:0]         snd_message,
    output wire                snd_room,
    // an action is taken: its kind, whether its packet was sent before, its endpoint
    input  wire                snd_acts,
    input  wire [2:0]          snd_kind,
    input  wire                snd_again,
    input  wire [EI_W-1:0]     snd_act_ei,
    // a message that it asks for
    input  wire                msg_rd,
    input  wire [23:0]         msg_number,
    output wire                msg_valid,
    output reg  [$clog2(MESSAGE_BYTES):0] msg_length,
    output reg                 msg_se,
    output reg                 msg_has_imm,
    output reg  [31:0]         msg_imm,
    output reg                 msg_ce,
    output reg  [UNIT_W-1:0]   msg_unit,
    // its frames, and its work on the payload
    input  wire                snd_tx_valid,
    input  wire [MASK_W-1:0]   snd_tx_mask,
    input  wire [7:0]          snd_tx_opcode,
    input  wire                snd_tx_se,
    input  wire [1:0]          snd_tx_pad,
    input  wire                snd_tx_ce,
    input  wire [23:0]         snd_tx_psn,
    input  wire [31:0]         snd_tx_ext,
    input  wire [LEN_W-1:0]    snd_tx_plen,
    input  wire [WORDS_W-1:0]  snd_tx_words,
    input  wire [MASK_W-1:0]   snd_tx_ask,
    input  wire                snd_work_put,
    input  wire [WORDS_W-1:0]  snd_work_words,
    input  wire [UNIT_W-1:0]   snd_work_unit,

    // work on the payload, for inc_offer_work and inc_cut_work
    input  wire                work_held,
    output wire                work_put,
    output wire [WORDS_W-1:0]  work_words,
    output wire [UNIT_W-1:0]   work_unit,
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
    // an endpoint of the group that it is of
    output wire [EI_W-1:0]     put_ei,
    // units of it that are added
    output wire [$clog2(MESSAGE_BYTES/UNIT_BYTES):0] adds,

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
    // tx_psn counts from the endpoint's first PSN
    output wire                tx_in_band,
    output wire [1:0]          tx_rng,
    output wire                tx_dir,
    output wire [31:0]         tx_ext,
    output wire [LEN_W-1:0]    tx_plen,
    output wire [WORDS_W-1:0]  tx_words,
    // copies that ask for an acknowledgement
    output wire [MASK_W-1:0]   copies_asked,

    // what happens, in its order: 0 a frame, 1 send, 2 send one, 3 time-out, 4 resume
    output wire                mon_act_valid,
    output wire [2:0]          mon_act_kind,
    output wire [EI_W-1:0]     mon_act_ei,

    // one bit a counter, high for one cycle a step, the cycle behind the decision
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam OFF_W  = $clog2(MESSAGE_BYTES) + 1;
    localparam PLACE_W = $clog2(UNIT_BYTES);
    // bits of a unit's number within a slot
    localparam IN_W   = OFF_W - 1 - PLACE_W;
    // words of a table that has one for each endpoint, and bits of their number
    localparam RECORDS = GROUPS * MASK_W > 2 ? GROUPS * MASK_W : 2;
    localparam INDEX_W = $clog2(RECORDS);
    // path MTUs are whole units, at most 4,096 bytes: bits below are 0
    localparam MTU_LOW = PLACE_W < 12 ? PLACE_W : 12;
    localparam [OFF_W-1:0] LONGEST = {1'b1, {(OFF_W-1){1'b0}}};

    // positions in `count`
    // contract: counters 1
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_DOWN_DATA = 9,
               C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14, C_TX_GAP_NAK = 16, C_TX_CNP = 17,
               C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20, C_DROP_TVER = 26, C_DROP_OPCODE = 27, C_DROP_TOO_LONG = 28,
               C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30, C_DROP_SYNDROME = 31, C_DROP_GAP = 32, C_RANGE_OPEN = 38,
               C_DROP_RANGE = 42, C_DROP_BAD_CONTROL = 43, C_DROP_CONTROL = 44, C_DROP_STALE_ACK = 45, C_TX_ACK = 46, C_TX_RNR = 47,
               C_TX_RETRANSMIT = 48, C_TIMEOUT = 49, C_RX_DUPLICATE = 50, C_DOWN_TAKEN = 51, C_DROP_FULL = 52, C_TX_INVALID = 53,
               C_DROP_REFUSED = 55, C_DROP_SEQUENCE = 56, C_DROP_SEGMENT = 57, C_DROP_MESSAGE_SIZE = 58, C_DROP_MESSAGE_LENGTH = 59,
               C_COUNT = 60;
    // contract: end
`ifdef INC_PARK
    // contract: parking 1
    localparam C_DROP_PARKED = 60, C_PARKED_COUNT = 61;
    // contract: end
`endif

`ifndef __ICARUS__
    generate
`ifdef INC_PARK
        if (COUNTERS != C_PARKED_COUNT) begin : gen_bad_counters
`else
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
`endif
            $error("inc_check_message: COUNTERS must be the number of the mode's counters");
        end
        if (EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_message: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1) begin : gen_bad_tree
            $error("inc_check_message: TREE and HALVES must be 0 or 1");
        end
        if (OPEN < 0 || OPEN > 1 || (OPEN == 1 && IN_W < 1)) begin : gen_bad_open
            $error("inc_check_message: OPEN must be 0, or 1 where a message has more than one unit");
        end
        if ((1 << (OFF_W - 1)) != MESSAGE_BYTES || (1 << PLACE_W) != UNIT_BYTES || UNIT_BYTES < 2 || MESSAGE_BYTES < UNIT_BYTES || OFF_W > 24) begin : gen_bad_bytes
            $error("inc_check_message: UNIT_BYTES and MESSAGE_BYTES must be powers of two, 2 to MESSAGE_BYTES and at most 2**23");
        end
        if (SLOT_W < 1 || SLOT_W > 22 || UNIT_W != SLOT_W + IN_W) begin : gen_bad_slot
            $error("inc_check_message: SLOT_W must be 1 to 22, and UNIT_W hold the units of all slots");
        end
        if (LEN_W > OFF_W) begin : gen_bad_len
            $error("inc_check_message: a payload must fit MESSAGE_BYTES");
        end
    endgenerate
`endif

    localparam [7:0] OP_ACK = 8'h11, OP_CNP = 8'h81, ACK_PLAIN = 8'h1F, NAK_SEQUENCE = 8'h60, NAK_INVALID = 8'h61;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};
    // contract: registers 1
    localparam F_GROUP_PIPE_N = 0, F_EP_RQ_PSN_PSN = 0, W_EP_RQ_PSN_PSN = 24, F_EP_PATH_MTU_BYTES = 0, W_EP_PATH_MTU_BYTES = 13;
    localparam [3:0] WORD_GROUP_PIPE = 4'd1, WORD_EP_RQ_PSN = 4'd10, WORD_EP_PATH_MTU = 4'd12;
    // contract: end

    // ---- indices ----

    reg  [EI_W-1:0]  q_ei;             // of the job that waits
    wire [GRP_W-1:0] a_group, b_group, c_group, act_group, init_group, tbl_group, q_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign a_group    = a_ei[EI_W-1:EP_W];
            assign b_group    = b_ei[EI_W-1:EP_W];
            assign q_group    = q_ei[EI_W-1:EP_W];
            assign c_group    = c_ei[EI_W-1:EP_W];
            assign act_group  = act_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
            assign tbl_group  = tbl_index[GRP_W-1:0];
        end else begin : gen_one_group
            assign {a_group, b_group, c_group, act_group, init_group, tbl_group, q_group} = 7'd0;
        end
    endgenerate
    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
    reg              lives_reg;        // of the frame in C; its group may be stopped in this cycle

    // ---- three things go on at once: data in B is looked up, the frame in C is decided, and SendMessage does a job ----

    localparam [2:0] F_NONE = 3'd0, F_READ = 3'd1, F_START = 3'd2, F_ROOM = 3'd3, F_JUDGE = 3'd5, F_DATA = 3'd6, F_REST = 3'd7;
    localparam [3:0] J_IDLE = 4'd0, J_INIT = 4'd1, J_LOOK = 4'd2, J_SEND = 4'd3, J_PEEK = 4'd4, J_FIND = 4'd5, J_OPEN = 4'd6, J_HOLD = 4'd7,
                     J_NOTE = 4'd8, J_SEE = 4'd9;
`ifdef INC_PARK
    localparam [3:0] J_PARK = 4'd10;
`endif
`ifdef INC_MESSAGE_RANGES
    localparam [3:0] J_RANGE = 4'd11, J_BEGIN = 4'd12, J_BEGUN = 4'd13;
`endif

    reg        read_reg;               // tables were read, for who is in B now if that is data
    reg        placed_reg;             // data in B has been looked up, and where its slot is
    reg  [2:0] f_state;
    reg  [3:0] j_state;
    reg        turn_reg;               // of frames: an action was the last
    reg        passed_reg;             // a frame has passed an action that is on its way, and no other may until it is taken, or a cycle behind there being none
    reg        more_reg;               // a second frame is to follow an answer: a CNP, or the result
    reg        told_reg;               // the frame before this cycle had its result leave at once, whether there is room for it or not
`ifdef INC_MESSAGE_RANGES
    reg        opened_reg;             // a range is open whose control is not decided
    wire       range_opens, is_opening;
`endif
    wire       d_busy;                 // what was acknowledged is on its way to `start`
    wire       b_needs = b_data && b_fine;
    wire       b_waits = b_valid && b_needs;
    wire       b_looks = b_waits && read_reg;

    wire j_idle   = j_state == J_IDLE;
    // a job waits for SendMessage: an answer, or what has left at once; for a cycle or more, in which what it needs is read
    reg  q_valid, q_old, q_next, q_fuse, q_ended, q_is_ack, j_fuse, j_ended, j_is_ack;
    wire q_closed;                     // and none may: news of a pool goes first
    wire j_quiet  = j_idle && !q_valid;
    wire j_free   = j_quiet && !d_busy;
    wire framed   = c_valid && vrd_valid;
    wire begins   = j_free && init_valid && init_clean;
`ifdef INC_PARK
    // a group is parked between two frames: the next is not looked up while that waits
`ifdef INC_MESSAGE_RANGES
    wire parks    = j_free && !begins && park_valid && !opened_reg && !b_looks && !placed_reg && (f_state == F_NONE || f_state == F_READ);
    wire f_holds_b = park_valid && !opened_reg;
    wire may_act  = j_free && !begins && !parks && !more_reg && act_valid && !opened_reg;
`else
    wire parks    = j_free && !begins && park_valid && !b_looks && !placed_reg && (f_state == F_NONE || f_state == F_READ);
    wire f_holds_b = park_valid;
    wire may_act  = j_free && !begins && !parks && !more_reg && act_valid;
`endif
    wire acts     = may_act && !(turn_reg && framed);
    wire j_parks  = parks;
`else
    wire f_holds_b = 1'b0;
`ifdef INC_MESSAGE_RANGES
    wire may_act  = j_free && !begins && !more_reg && act_valid && !opened_reg;
`else
    wire may_act  = j_free && !begins && !more_reg && act_valid;
`endif
    wire acts     = may_act && !(turn_reg && framed);
    wire j_parks  = 1'b0;
`endif
    reg  j_ack;                        // the job is one that has waited, and frames go on
    wire j_aside  = j_ack || j_state == J_SEE;
    wire sends    = !j_aside && !j_idle;
    // there is an action, or may be when a NAK is through
    reg  nak_near;
    wire act_near = act_soon || nak_near;
    // no frame is decided, though there is one: something is begun, or an action taken, or these go on
`ifdef INC_MESSAGE_RANGES
    wire act_calls = act_valid && !opened_reg;
`else
    wire act_calls = act_valid;
`endif
    wire j_blocks = (!j_idle && !j_aside) || (j_free && ((init_valid && init_clean) || (act_calls && !turn_reg))) || j_parks || passed_reg;

    wire data_ready, rest_ready;
    wire goes     = framed && !more_reg && !j_blocks;
    wire data_goes = goes && !c_bypass && data_ready;
    wire rest_goes = goes && !c_bypass && rest_ready;
    wire decided  = data_goes || rest_goes;
    wire quick    = goes && c_bypass;

    wire m_look;                       // the job looks at a slot
    reg  d_data, d_fine;
    reg  c_needs;                      // there is a frame in C, and it is looked up
    // what is looked up goes to C when its slot is read
    assign c_free    = !b_needs || (placed_reg && !m_look);
    assign c_lives   = c_live && lives_reg;
`ifdef INC_MESSAGE_RANGES
    assign c_decided = decided && !range_opens;
    assign c_opening = range_opens;
    assign c_done    = quick || c_decided;
    assign c_leaves  = quick || decided;
`else
    assign c_decided = decided;
    assign c_done    = quick || decided;
    assign c_leaves  = c_done;
`endif
    assign vrd_pop   = c_done;
    assign init_take = j_state == J_INIT;

    // ---- facts of the frame in C that the steps know of the one in B, and of the one that goes into A ----

    reg [SLOT_W-1:0] a_base, b_base, c_base, a_half, b_half, c_half;
    // the engine is the root, and the frame's data goes to the second pool
    reg              a_root, b_root, a_opens_b, b_opens_b;
    reg              d_host, d_ack, d_cnp, d_ends, d_bad_tver, d_bad_opcode, d_too_long, d_up, d_down;
    reg              k_pipe_b;         // the pool that data is of, from b_looks on
    reg              d_opens_b;        // that, or the pool that an answer is of
`ifdef INC_MESSAGE_RANGES
    reg              d_in_range, d_opens, d_bad_control, d_no_role, d_differs;
`endif

    wire [SLOT_W-1:0] s_half;          // N of log2 2N
    genvar e;
    generate
        for (e = 0; e < SLOT_W; e = e + 1) begin : gen_half
            localparam [5:0] E = e;
            assign s_half[e] = {1'b0, s_log2_n} == E + 6'd1;
        end
    endgenerate

    wire good = c_intact && c_lives && d_fine;

    always @(posedge clk) begin
        lives_reg <= live_wide[{1'b0, b_go ? b_group : c_group}];
        if (s_go) begin
            a_base    <= s_base;
            a_half    <= s_half;
            a_root    <= s_root;
            a_opens_b <= s_root || s_spreads || !s_up;
        end
        if (a_go) begin
            b_base    <= a_base;
            b_half    <= a_half;
            b_root    <= a_root;
            b_opens_b <= a_opens_b;
        end
        if (b_go) begin
            c_base       <= b_base;
            c_half       <= b_half;
            d_host       <= b_host;
            d_data       <= b_data;
            d_ack        <= b_ack;
            d_cnp        <= b_cnp;
            d_ends       <= b_ends;
            d_fine       <= b_fine;
            d_bad_tver   <= b_bad_tver;
            d_bad_opcode <= b_bad_opcode;
            d_too_long   <= b_too_long;
            d_up         <= b_up;
            d_down       <= b_down;
            d_opens_b    <= b_data ? k_pipe_b : b_spreads || (b_self & b_parent_mask) == NOBODY;
`ifdef INC_MESSAGE_RANGES
            d_in_range    <= b_in_range;
            d_opens       <= b_opens;
            d_bad_control <= b_bad_control;
            d_no_role     <= b_wrong_role;
            d_differs     <= b_contradicts;
`endif
        end
    end

    // FIRST is 0, MIDDLE 1, LAST 2 and 3, ONLY 4 and 5; those with an odd number from 3 on have an immediate
    wire d_starts  = c_opcode[2:0] == 3'd0 || c_opcode[2];
    wire d_has_imm = c_opcode[0] && (c_opcode[1] || c_opcode[2]);

    // ---- state: of endpoints, of pools, of groups ----

    localparam END_W  = 24 + 24 + OFF_W + 1 + 1 + 1 + 8 + 24;
    localparam HEAD_W = 24 + SLOT_W + 1;         // of a pool: start, and how far the slot that it is in, in its ring, is ahead of it
    localparam TAIL_W = 2 * 24;                  // of a pool: the first message that nobody has begun, and done
`ifdef INC_MESSAGE_RANGES
    localparam CTX_W  = 2 + 2 + 2 + 2 + 1 + 3 * MASK_W + 2 * SLOT_W;
`else
    localparam CTX_W  = 2 + 2 + 2 + 1 + 3 * MASK_W + 2 * SLOT_W;
`endif

    reg  [SLOT_W-1:0] k_base, k_n;     // of the frame's pool

    // Data is looked up when it comes to B, or later: when nobody is left in C behind this cycle who may write what it reads. In C what has been
    // acknowledged is looked at once more. Whether a frame comes is known late, so the tables are read as long as nobody needs what they show: for data
    // in B, else for what is in A, whether it is data or not, and goes or not.
`ifdef INC_MESSAGE_RANGES
    // behind a control that opens a range there is nobody in B, and what is acknowledged is read when that has changed
    wire              cleared = !c_needs || (c_leaves && !is_opening);
`else
    wire              cleared = !c_needs || c_leaves;
`endif
    wire              look    = !(b_waits && (read_reg || placed_reg)) && cleared && !f_holds_b;
    wire              look_c  = f_state == F_READ && !f_holds_b && j_free;
    wire [EI_W-1:0]   look_ei    = b_waits ? b_ei : a_ei;
    // where the tables keep an endpoint: those of the three frames, one that starts, one whose registers are written
    wire [INDEX_W-1:0] a_at, init_at, tbl_at;
    reg  [INDEX_W-1:0] b_at, c_at;
    wire [INDEX_W-1:0] look_at   = b_waits ? b_at : a_at;
    wire              a_there, init_there, tbl_there;
    wire              init_ends  = init_take && init_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_frame_index (
        .ei(a_ei), .index(a_at), .present(a_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_init_index (
        .ei(init_ei), .index(init_at), .present(init_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_table_index (
        .ei(tbl_index), .index(tbl_at), .present(tbl_there));
    always @(posedge clk) begin
        if (a_go) begin
            b_at <= a_at;
        end
        if (b_go) begin
            c_at <= b_at;
        end
    end
    wire [GRP_W-1:0]  look_group = b_waits ? b_group : a_group;

    // the group of the job, or of the one that comes next: an action, if it may be taken, or what follows from a frame that is decided
    reg  [EI_W-1:0]   j_ei;
    wire [GRP_W-1:0]  j_group;
`ifdef INC_MESSAGE_RANGES
    wire              act_next = act_valid && !d_busy && !opened_reg && !(turn_reg && framed);
`else
    wire              act_next = act_valid && !d_busy && !(turn_reg && framed);
`endif
`ifdef INC_PARK
    wire [(1 << GRP_W):0] parked_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_parked};
    wire [GRP_W-1:0]  next_group = !j_idle ? j_group : q_valid ? q_group : parks ? park_group : act_next ? act_group : c_group;
`else
    wire [GRP_W-1:0]  next_group = !j_idle ? j_group : q_valid ? q_group : act_next ? act_group : c_group;
`endif

    wire              end_we;
    wire [END_W-1:0]  end_read, end_next, sib_read;
    wire [23:0]       rq_psn;
    wire [12:0]       path_mtu;
    assign path_mtu[MTU_LOW-1:0] = {MTU_LOW{1'b0}};
    wire              heads_we;
    wire [GRP_W-1:0]  heads_group;
    wire [2*HEAD_W-1:0] heads, j_heads, heads_next;
    wire              tails_we;
    wire [2*TAIL_W-1:0] tails_read, j_tails, tails_next;
    wire [SLOT_W-1:0] pipe_n, j_pipe_n;
    wire              pipe_set, j_pipe_set;
    wire              ctx_we;
    wire [CTX_W-1:0]  ctx_read;

    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_rq_psn (
        .clk(clk), .we(tbl_ep_we && tbl_there && tbl_word == WORD_EP_RQ_PSN), .waddr(tbl_at), .wdata(tbl_data[F_EP_RQ_PSN_PSN +: W_EP_RQ_PSN_PSN]),
        .re(begins), .raddr(init_at), .rdata(rq_psn));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(13 - MTU_LOW), .ADDR_W(INDEX_W)) u_path_mtu (
        .clk(clk), .we(tbl_ep_we && tbl_there && tbl_word == WORD_EP_PATH_MTU), .waddr(tbl_at),
        .wdata(tbl_data[F_EP_PATH_MTU_BYTES + MTU_LOW +: W_EP_PATH_MTU_BYTES - MTU_LOW]),
        .re(look), .raddr(look_at), .rdata(path_mtu[12:MTU_LOW]));
    wire [END_W-1:0] end_first = {{(END_W-48){1'b0}}, init_psn, rq_psn};
`ifdef INC_MESSAGE_RANGES
    // who begins a range comes to its first message, in no cycle of a frame's; the one that opened it has left C, and no other has come
    wire [23:0]      range_first = c_end + 24'd1;
    wire             renumbers = j_state == J_BEGIN;
    wire [INDEX_W-1:0] range_at;
    wire             range_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_range_index (
        .ei(j_ei), .index(range_at), .present(range_there));
    wire             ends_we   = end_we || init_ends || (renumbers && range_there);
    wire [INDEX_W-1:0] end_at  = init_take ? init_at : renumbers ? range_at : c_at;
    wire             ends_re   = look || j_state == J_RANGE;
    wire [INDEX_W-1:0] read_at = j_state == J_RANGE ? range_at : look_at;
    wire [END_W-1:0] end_word_next = init_take ? end_first : renumbers ? {end_read[END_W-1:48], range_first, end_read[23:0]} : end_next;
`else
    wire             ends_we   = end_we || init_ends;
    wire [INDEX_W-1:0] end_at  = init_take ? init_at : c_at;
    wire [END_W-1:0] end_word_next = init_take ? end_first : end_next;
    wire             ends_re   = look;
    wire [INDEX_W-1:0] read_at = look_at;
`endif
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(END_W), .ADDR_W(INDEX_W)) u_ends (
        .clk(clk), .we(ends_we), .waddr(end_at), .wdata(end_word_next), .re(ends_re), .raddr(read_at), .rdata(end_read));
    // start of both pools, for the frame and for the job; what else there is of them
    function [HEAD_W-1:0] first_head(input [23:0] message);
        first_head = {{(SLOT_W+1){1'b0}} - message[SLOT_W:0], message};
    endfunction
    wire [2*HEAD_W-1:0] heads_first = {2{first_head(init_psn)}};
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W)) u_heads (
        .clk(clk), .we(heads_we || init_take), .waddr(init_take ? init_group : heads_group), .wdata(init_take ? heads_first : heads_next),
        .re(look || look_c), .raddr(f_state == F_READ ? c_group : look_group), .rdata(heads));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W)) u_job_heads (
        .clk(clk), .we(heads_we || init_take), .waddr(init_take ? init_group : heads_group), .wdata(init_take ? heads_first : heads_next),
        .re(1'b1), .raddr(next_group), .rdata(j_heads));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * TAIL_W), .ADDR_W(GRP_W)) u_tails (
        .clk(clk), .we(tails_we || init_take), .waddr(init_take ? init_group : c_group), .wdata(init_take ? {4{init_psn}} : tails_next),
        .re(look), .raddr(look_group), .rdata(tails_read));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * TAIL_W), .ADDR_W(GRP_W)) u_job_tails (
        .clk(clk), .we(tails_we || init_take), .waddr(init_take ? init_group : c_group), .wdata(init_take ? {4{init_psn}} : tails_next),
        .re(1'b1), .raddr(next_group), .rdata(j_tails));
    // GROUP_PIPE, and whether it says something
    wire [SLOT_W-1:0] tbl_n = tbl_data[F_GROUP_PIPE_N +: SLOT_W];
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 1), .ADDR_W(GRP_W)) u_sizes (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_PIPE), .waddr(tbl_group), .wdata({tbl_n != {SLOT_W{1'b0}}, tbl_n}),
        .re(look), .raddr(look_group), .rdata({pipe_set, pipe_n}));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 1), .ADDR_W(GRP_W)) u_job_sizes (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_PIPE), .waddr(tbl_group), .wdata({tbl_n != {SLOT_W{1'b0}}, tbl_n}),
        .re(1'b1), .raddr(next_group), .rdata({j_pipe_set, j_pipe_n}));
`ifdef INC_MESSAGE_RANGES
    // the number of the frame's range, 0 in a fixed group
    wire [1:0]        c_number = c_rng & {2{c_ranged}};
`endif
    // what data goes by that is sent without a frame
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CTX_W), .ADDR_W(GRP_W)) u_contexts (
        .clk(clk), .we(ctx_we || init_take), .waddr(init_take ? init_group : c_group),
`ifdef INC_MESSAGE_RANGES
        .wdata(init_take ? {CTX_W{1'b0}}
                         : {c_number, c_reduces, c_spreads, c_function, c_dtype, c_big_endian, c_in_mask, c_out_mask, c_parent_mask, k_base, k_n}),
`else
        .wdata(init_take ? {CTX_W{1'b0}} : {c_reduces, c_spreads, c_function, c_dtype, c_big_endian, c_in_mask, c_out_mask, c_parent_mask, k_base, k_n}),
`endif
        .re(acts), .raddr(act_group), .rdata(ctx_read));
    generate
        if (TREE != 0) begin : gen_siblings
            // the same once more, for the other endpoint of the pair
            wire [INDEX_W-1:0] sib_at;
            wire               sib_there;
            inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_sib_index (
                .ei(look_ei ^ {{(EI_W-1){1'b0}}, 1'b1}), .index(sib_at), .present(sib_there));
            inc_ram_1r1w #(.WORDS(RECORDS), .BITS(END_W), .ADDR_W(INDEX_W)) u_siblings (
                .clk(clk), .we(ends_we), .waddr(end_at), .wdata(end_word_next), .re(look && sib_there), .raddr(sib_at), .rdata(sib_read));
        end else begin : gen_no_siblings
            assign sib_read = {END_W{1'b0}};
        end
    endgenerate

    // what the frame ahead writes while this one is looked up
    reg               end_fresh, sib_fresh, tails_fresh;
    reg [END_W-1:0]   end_fresh_word;
    reg [2*TAIL_W-1:0] tails_fresh_word;
    always @(posedge clk) begin
        if (look) begin
            end_fresh        <= end_we && c_ei == look_ei;
            sib_fresh        <= end_we && c_ei == (look_ei ^ {{(EI_W-1){1'b0}}, 1'b1});
            end_fresh_word   <= end_next;
            tails_fresh      <= tails_we && c_group == look_group;
            tails_fresh_word <= tails_next;
        end
    end
    wire [END_W-1:0]    end_word = end_fresh ? end_fresh_word : end_read;
    wire [END_W-1:0]    sib_word = sib_fresh ? end_fresh_word : sib_read;
    wire [2*TAIL_W-1:0] tails    = tails_fresh ? tails_fresh_word : tails_read;

    wire [23:0]      e_psn, e_message, e_msn;
    wire [OFF_W-1:0] e_offset;
    wire             e_inside, e_nak_sent, e_refused;
    wire [7:0]       e_unanswered;
    assign {e_refused, e_nak_sent, e_inside, e_unanswered, e_msn, e_offset, e_message, e_psn} = end_word;

    // ---- the frame's pool: of data in B, known from b_looks on; of what is in C ----

    wire [GROUPS-1:0] b_one;
    generate
        for (e = 0; e < GROUPS; e = e + 1) begin : gen_one
            localparam [GRP_W-1:0] E = e;
            assign b_one[e] = b_group == E;
        end
    endgenerate

    reg               k_root, k_wide, k_old, k_whole, k_parts;
    reg  [23:0]       k_top, k_done, k_lead;             // of the message: from done
    reg  [23:0]       k_off_a, k_off_b;                  // and from start, of either pool
    wire [23:0]       k_off    = k_pipe_b ? k_off_b : k_off_a;
    reg  [SLOT_W-1:0] k_at;                              // the slot of the message, in its ring or beyond
    reg               k_beyond;                          // which of the two
    reg  [SLOT_W-1:0] k_first, k_again;                  // where its ring begins, and that less the ring's size, for what lies beyond
    wire [SLOT_W-1:0] b_n       = pipe_set ? pipe_n : b_half;
    wire [SLOT_W:0]   b_ring    = b_root ? {b_n, 1'b0} : {1'b0, b_n};
    wire              f_root    = !c_reduces && !c_spreads && c_parent_mask == NOBODY;
    wire [MASK_W-1:0] f_outs    = !d_opens_b ? c_parent_mask : c_spreads ? c_out_mask : c_out_mask & ~c_parent_mask;
    wire [SLOT_W:0]   f_bias    = b_opens_b ? heads[HEAD_W+24 +: SLOT_W+1] : heads[24 +: SLOT_W+1];
    wire [TAIL_W-1:0] f_tail    = b_opens_b ? tails[TAIL_W +: TAIL_W] : tails[0 +: TAIL_W];
    wire [23:0]       f_top     = f_tail[47:24], f_done = f_tail[23:0];
`ifdef INC_RELEASE
    reg  [MASK_W-1:0] f_releases;
    integer           r;
    always @* begin
        f_releases = NOBODY;
        for (r = 0; r < GROUPS; r = r + 1) begin
            f_releases = f_releases | (c_group == r[GRP_W-1:0] ? grp_releases[MASK_W*r +: MASK_W] : NOBODY);
        end
    end
`endif

`ifdef INC_MESSAGE_RANGES
    // a range is through when the pools that it uses are; before the first one both begin behind what stands for its last message
    wire [23:0]       left_a   = heads[0 +: 24] + ~c_end, left_b = heads[HEAD_W +: 24] + ~c_end;
    wire              uses_a   = c_reduces || (!c_spreads && c_parent_mask != NOBODY);
    wire              is_drained = (!uses_a || left_a == 24'd0) && (c_reduces || left_b == 24'd0);
`ifdef INC_RELEASE
    wire [(1 << GRP_W):0] owes_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_owes};
`endif
    // the message behind the range, from one who does not send in it any; a control
    wire [23:0]       f_left   = e_message + ~c_end;
    wire              d_control = d_opens || d_bad_control || d_no_role;

`endif
    wire [23:0]       n_wide = {{(24-SLOT_W){1'b0}}, k_n};
    wire              k_syn  = c_syn_ack || c_syn_rnr || c_syn_nak;

    // where it is in the ring, and where the pool's ring is among the group's slots
    reg  [SLOT_W-1:0] slot_reg;        // its word
    reg  [SLOT_W-1:0] place_reg;       // its payload
    wire              b_second = b_opens_b && !b_root;
    // its slot less the ring's size, with one carry to the end as in inc_past: it is less than a size from 0 either way, if there is room for it
    wire [SLOT_W:0]   b_sums   = e_message[SLOT_W:0] ^ f_bias ^ ~b_ring;
    wire [SLOT_W-1:0] b_on     = (e_message[SLOT_W-1:0] & f_bias[SLOT_W-1:0]) | (e_message[SLOT_W-1:0] & ~b_ring[SLOT_W-1:0])
                                 | (f_bias[SLOT_W-1:0] & ~b_ring[SLOT_W-1:0]);
    wire [SLOT_W:0]   b_past   = b_sums + {b_on, 1'b1};
    wire [SLOT_W-1:0] slot_at  = (k_beyond ? k_again : k_first) + k_at;

    // ---- data: first the packet, then its message ----

    wire [23:0]      distance = b_wire_psn - e_psn;
    wire             behind   = distance[23];
    wire             ahead    = !behind && (b_wire_psn ^ e_psn) != 24'd0;    // without a carry
    wire [15:0]      length   = {{(16-LEN_W){1'b0}}, c_plen};
    wire [15:0]      mtu      = {3'd0, path_mtu};

    reg  [OFF_W-1:0] to_reg, offset_reg;                 // offset_reg is e_offset, from placed_reg on
    reg              inside_reg;
    reg              f_wrong_role, f_behind, f_ahead, f_refused, f_partial, f_fresh, f_near, f_ring, f_moved, f_full;
`ifdef INC_PARK
    reg              f_parked;
`endif
    reg              is_duplicate, is_gap, is_refused, is_order, is_segment, is_partial, is_sound;
`ifdef INC_MESSAGE_RANGES
    reg              f_drained, is_contrary, is_astray, is_bad_control, is_no_role, is_opener;
`endif
    reg              r_size, r_length, r_longer, r_mismatch, r_completes, r_fusable, r_answers, r_filled;
    reg              r_by_rest, r_own_some, r_rest_some;
    reg              r_spoken;         // not sound, and answered whatever room there is for a message

    // what else is known of it in C, at F_JUDGE
    wire [OFF_W:0]   to        = {1'b0, offset_reg} + {{(OFF_W+1-LEN_W){1'b0}}, c_plen};
    wire             f_order   = d_starts == inside_reg;
    wire [16:0]      spare     = {1'b0, mtu} - {1'b0, length};
    wire             f_segment = d_ends ? spare[16] || (length == 16'd0 && !d_starts) : (length ^ mtu) != 16'd0;
`ifdef INC_MESSAGE_RANGES
    wire             wrong_role = !d_up && !d_down && !c_ranged;
    wire             f_outside = c_ranged && d_starts && ((!d_up && !d_down) || f_left == 24'd0);
    wire             f_begins  = e_message == c_begin;
`else
    wire             wrong_role = !d_up && !d_down;
`endif
    // in the order of docs/termination.md section 3
    wire             in_order = !wrong_role && !f_behind && !f_ahead;
`ifdef INC_MESSAGE_RANGES
    wire             placed   = in_order && !f_refused && !f_order && !f_segment;
    wire             contrary = !f_outside && c_ranged && d_starts && (d_control != f_begins || (d_control && d_differs));
`ifdef INC_PARK
    wire is_full    = (is_sound && f_full) || (is_opener && (f_parked || !f_drained));
    assign is_opening = is_opener && !f_parked && f_drained;
`else
    wire is_full    = (is_sound && f_full) || (is_opener && !f_drained);
    assign is_opening = is_opener && f_drained;
`endif
`else
    wire is_full    = is_sound && f_full;
`endif
    wire is_size    = is_sound && !f_full && r_size;
    wire is_length  = is_sound && !f_full && !r_size && r_length;
    wire is_taken   = is_sound && !f_full && !r_size && !r_length;
    wire is_invalid = is_refused || is_order || is_segment || is_partial || is_size || is_length;

    // Less than N behind start there is room. At a root there is room for N more behind what is moved, which is what is done, and no more than N
    // from start on.
    wire [23:0]      past_n    = k_off - n_wide;
    wire [23:0]      past_ring = k_off - {n_wide[22:0], 1'b0};
    wire [23:0]      past_done = k_lead - n_wide;
    wire             fits      = f_near || (k_root && f_ring && f_moved);

    // the slot as it stands; of a new message there is nothing
    wire             known = !f_fresh && slot_complete;
    wire [OFF_W-1:0] old_mark  = f_fresh ? {OFF_W{1'b0}} : slot_tag[OFF_W-1:0];
    wire [OFF_W+1:0] over      = {2'b00, old_mark} - {1'b0, to}, under = {1'b0, to} - {2'b00, old_mark};      // below 0: it goes beyond the mark, or not so far
    wire [MASK_W-1:0] old_mask = f_fresh ? NOBODY : slot_mask;
    wire [31:0]      imm       = d_has_imm ? c_ext : 32'd0;
    wire [MASK_W-1:0] new_mask = d_ends ? old_mask | c_self : old_mask;
    wire             ends_it   = d_ends && (!d_up || (new_mask & c_in_mask) == c_in_mask);
    reg              old_known, old_se, old_has_imm, old_ce;
    reg  [31:0]      old_ext;
    reg  [OFF_W-1:0] mark_reg;
    reg  [MASK_W-1:0] mask_reg;

    // of all endpoints the others have sent the least, or as much as this one; some of the message that is to be complete next is sent by this one, or by the
    // others, who waited for this one; the others have sent as much as this one, or more, and the message does not end there, as it may by who called it complete
    wire             rest_least, own_some, rest_some, others_there;
    reg [GROUPS-1:0] parts_reg;        // what may leave at once of messages that are not complete, by the last look

    // what comes next, if it is taken
    reg  [23:0]      psn_up, psn_down, msn_up, message_up, top_up;
    reg  [7:0]       more_unanswered;
    reg              top_moves;

    // how far what is added to has come: in place the message, in a tree the other endpoint of the pair
    wire [OFF_W-1:0] below;
    generate
        if (TREE != 0) begin : gen_below
            wire [23:0]       s_message = sib_word[24 +: 24];
            wire [OFF_W-1:0]  s_offset  = sib_word[48 +: OFF_W];
            wire [MASK_W-1:0] s_self;
            for (e = 0; e < MASK_W; e = e + 1) begin : gen_sibling
                if ((e ^ 1) < MASK_W) begin : gen_two
                    assign s_self[e] = b_self[e ^ 1];
                end else begin : gen_single
                    assign s_self[e] = 1'b0;
                end
            end
            reg  [23:0]      s_past;
            reg              s_none;
            reg  [OFF_W-1:0] s_below;
            always @(posedge clk) begin
                if (b_looks) begin
                    s_past <= s_message - e_message;
                    s_none <= (s_self & b_in_mask) == NOBODY || !b_up;
                end
                s_below <= s_none || s_past[23] ? {OFF_W{1'b0}} : s_past == 24'd0 ? s_offset : LONGEST;
            end
            assign below = s_below;
            wire unused_sibling = &{1'b0, sib_word};
        end else begin : gen_mark
            assign below = old_mark;
            wire unused_sibling = &{1'b0, sib_word};
        end
    endgenerate
    // units that are added: those below less those before the packet, the last one if it has only a part
    reg  [OFF_W:0]   less_reg;
    wire [OFF_W:0]   rounded = {1'b0, below} - less_reg;
    reg  [IN_W:0]    adds_reg;
    reg  [UNIT_W-1:0] unit_reg;

    // the first unit of its payload, and that in which the endpoint's next byte lies
    wire [UNIT_W:0]  f_unit     = {{(UNIT_W+1-SLOT_W){1'b0}}, place_reg} << IN_W;
    wire [UNIT_W:0]  inner_unit = {{(UNIT_W-IN_W){1'b0}}, e_offset[OFF_W-1:PLACE_W]};
    wire [UNIT_W:0]  next_unit  = f_unit + (k_wide ? inner_unit << 1 : inner_unit);

    wire             slots = (placed_reg || f_state == F_ROOM) && !m_look;

    always @(posedge clk) begin
        if (b_looks) begin
            k_root       <= b_root;
            k_pipe_b     <= b_opens_b;
            k_base       <= b_base;
            k_n          <= b_n;
            k_wide       <= HALVES != 0 && b_dtype[1] != b_dtype[0];
            k_top        <= f_top;
            k_done       <= f_done;
            k_lead       <= e_message - f_done;
            k_at         <= e_message[SLOT_W-1:0] + f_bias[SLOT_W-1:0];
            k_first      <= b_second ? b_base + b_n : b_base;
            k_beyond     <= !b_past[SLOT_W];
            k_again      <= b_second ? b_base : b_base - b_ring[SLOT_W-1:0];
            k_whole      <= (grp_whole & b_one) != {GROUPS{1'b0}};
            k_parts      <= (parts_reg & ~grp_whole & b_one) != {GROUPS{1'b0}};
            f_behind     <= behind;
            f_ahead      <= ahead;
            f_refused    <= e_refused;
            f_partial    <= !b_whole;
        end
        if (b_looks || f_state == F_START) begin
            k_off_a      <= e_message - heads[0 +: 24];
            k_off_b      <= e_message - heads[HEAD_W +: 24];
        end
        if (placed_reg || f_state == F_ROOM) begin
            f_near       <= past_n[23];
            f_ring       <= past_ring[23];
            f_moved      <= past_done[23];
        end
        if (placed_reg) begin
            f_fresh      <= e_message == k_top;
            slot_reg     <= slot_at;
            place_reg    <= k_wide ? (slot_at << 1) - k_base : slot_at;
        end
        if (f_state == F_JUDGE) begin
            f_wrong_role <= wrong_role;
            is_duplicate <= !wrong_role && f_behind;
            is_gap       <= !wrong_role && f_ahead;
            is_refused   <= in_order && f_refused;
            is_order     <= in_order && !f_refused && f_order;
            is_segment   <= in_order && !f_refused && !f_order && f_segment;
`ifdef INC_MESSAGE_RANGES
`ifdef INC_RELEASE
            f_drained      <= is_drained && !owes_wide[{1'b0, c_group}];
`else
            f_drained      <= is_drained;
`endif
            is_contrary    <= placed && contrary;
            is_astray      <= placed && f_outside && !d_control;
            is_bad_control <= placed && f_outside && d_bad_control;
            is_no_role     <= placed && f_outside && d_no_role;
            is_opener      <= placed && f_outside && d_opens;
            is_partial   <= placed && !f_outside && !contrary && f_partial;
            is_sound     <= placed && !f_outside && !contrary && !f_partial;
            r_spoken     <= (!wrong_role && (f_behind || (f_ahead && !e_nak_sent))) || (in_order && (f_refused || f_order || f_segment))
                            || (placed && !f_outside && !contrary && f_partial);
`else
            r_spoken     <= (!wrong_role && (f_behind || (f_ahead && !e_nak_sent))) || (in_order && (f_refused || f_order || f_segment || f_partial));
            is_partial   <= in_order && !f_refused && !f_order && !f_segment && f_partial;
            is_sound     <= in_order && !f_refused && !f_order && !f_segment && !f_partial;
`endif
`ifdef INC_PARK
            f_parked    <= parked_wide[{1'b0, c_group}];
            f_full      <= d_starts && (parked_wide[{1'b0, c_group}] || !fits);
`else
            f_full      <= d_starts && !fits;
`endif
            to_reg      <= to[OFF_W-1:0];
            unit_reg    <= next_unit[UNIT_W-1:0];
            r_size      <= to > {1'b0, LONGEST};
            r_length    <= (known && over[OFF_W+1]) || (d_ends && under[OFF_W+1]);
            r_longer    <= over[OFF_W+1];
            r_filled    <= c_words != {WORDS_W{1'b0}};
            r_mismatch  <= d_ends && known && (slot_se != c_se || slot_opcode[0] != d_has_imm || (d_has_imm && slot_ext != c_ext));
            mark_reg    <= old_mark;
            r_completes <= ends_it;
            r_fusable   <= (d_ends ? ends_it : k_parts && others_there) && (!k_root || f_near);
            r_by_rest   <= rest_least;
            r_own_some  <= !ends_it && !k_whole && own_some;
            r_rest_some <= !ends_it && !k_whole && rest_some;
            r_answers   <= d_ends || more_unanswered >= cfg_ack_every;
            adds_reg    <= rounded[OFF_W] ? {(IN_W+1){1'b0}} : rounded[PLACE_W +: IN_W+1];
            old_known   <= known;
            old_se      <= slot_se;
            old_has_imm <= slot_opcode[0];
            old_ext     <= slot_ext;
            old_ce      <= !f_fresh && slot_ce;
            mask_reg    <= new_mask;
        end
        offset_reg      <= e_offset;
        inside_reg      <= e_inside;
        less_reg        <= {1'b0, e_offset} - {{(OFF_W+1-PLACE_W){1'b0}}, {PLACE_W{1'b1}}};
        psn_up          <= e_psn + 24'd1;
        psn_down        <= e_psn - 24'd1;
        msn_up          <= e_msn + 24'd1;
        message_up      <= e_message + 24'd1;
        more_unanswered <= e_unanswered + 8'd1;
        top_up          <= k_top + 24'd1;
        top_moves       <= f_fresh;
    end

    // ---- what data does, when there is room for it ----

    reg  asks_reg;                     // known before the verdict
    wire ans_ack = is_duplicate || (is_taken && (r_answers || asks_reg));
    wire ans_nak = is_gap && r_spoken;
    wire ans_rnr = is_full && cfg_rnr;
    wire ans_cnp = is_full && cfg_cnp && d_host;
    wire answers = ans_ack || ans_nak || ans_rnr || is_invalid;
    wire has_work = is_taken && r_filled;
    wire completes = is_taken && r_completes;
    wire may_peek = r_by_rest ? r_rest_some : r_own_some;     // more of it may leave, if the packet is taken
    wire f_peeks  = is_taken && may_peek;
    // room, or none, is not sure while an acknowledgement ahead is on its way to start; nor whether it may be sent when it is complete
`ifdef INC_PARK
    wire full_unsure = k_old && is_full && !f_parked;
    wire counted = is_duplicate || is_gap || (is_full && !f_parked) || is_taken;
`else
    wire full_unsure = k_old && is_full;
    wire counted = is_duplicate || is_gap || is_full || is_taken;
`endif
    wire ends_unsure = k_old && r_completes && !r_fusable;
    wire unsure  = full_unsure || (is_taken && ends_unsure);
`ifdef INC_RELEASE
    wire hears   = ((c_self & f_outs) != NOBODY && !(c_reduces && d_opens_b)) || (c_self & f_releases) != NOBODY;
`else
    wire hears   = (c_self & f_outs) != NOBODY && !(c_reduces && d_opens_b);
`endif
`ifdef INC_MESSAGE_RANGES
    wire is_heard = hears && (!c_ranged || d_in_range);
    wire speaks  = d_ack && d_fine && is_heard && k_syn;
`else
    wire speaks  = d_ack && d_fine && hears && k_syn;
`endif
    wire f_data  = f_state == F_DATA;
    wire f_rest  = f_state == F_REST;
    // A packet of a result leaves with the packet that completes its message, or that is the last of all to bring those bytes of it, if it is the
    // pool's next, of the same cut, and all go along: the payload is then added and sent in one pass. Who may complete one waits for a look at that,
    // within a message if the last look of the group found one lane, of that cut.
    reg  seen_reg, fuses_reg, lane_reg;
    wire may_fuse = is_taken && r_fusable;
    reg  put_reg, emits_reg;           // its work is put, and not decided; it emits too
    wire mistaken = put_reg && r_fusable && seen_reg && emits_reg != fuses_reg;    // what is put is taken
    wire fusing   = may_fuse && seen_reg && fuses_reg;
    // What may complete one is looked at early if its verdict is not there yet.
    wire looks    = j_quiet && !begins && !j_parks && !acts && c_valid && f_data && !unsure && may_fuse && !seen_reg;
    // Whether it is taken is known last, so both ways are looked at.
    wire sendable    = j_quiet || !(r_completes || may_peek) || (r_fusable && seen_reg && fuses_reg && !q_valid && !q_closed);
    wire taken_ready = !ends_unsure && (tx_room || !(r_answers || asks_reg)) && (put_reg ? !mistaken : !(r_filled && work_held))
                       && sendable && (!r_fusable || seen_reg);
    wire other_ready = !full_unsure && (tx_room || !(r_spoken || ans_rnr || ans_cnp || is_size || is_length));
`ifdef INC_MESSAGE_RANGES
    assign data_ready = f_data && (is_taken ? taken_ready : other_ready) && (j_free || !is_opening);
`else
    assign data_ready = f_data && (is_taken ? taken_ready : other_ready);
`endif
`ifdef INC_MESSAGE_RANGES
    // an answer that is out of its range is counted as one that SendMessage calls stale is, so not in one cycle with that
    wire is_outside = d_ack && d_fine && !is_heard && c_ranged;
    assign rest_ready = f_rest && ((!q_valid && !q_closed) || !speaks) && (j_idle || !is_outside);
`else
    assign rest_ready = f_rest && ((!q_valid && !q_closed) || !speaks);
`endif
`ifdef INC_MESSAGE_RANGES
    wire commits = data_goes && good && !f_wrong_role && !is_opening;
    assign range_opens = data_goes && good && is_opening;
`else
    wire commits = data_goes && good && !f_wrong_role;
`endif
    wire hands   = rest_goes && good && speaks;
    wire fuses   = commits && fusing;
    wire notes   = commits && completes && !fuses;
    wire peeks   = commits && f_peeks && !fusing;

    always @(posedge clk) begin
        // one that is handed over while it waits counts too
        k_old <= hands || (look || look_c ? q_valid || (j_ack && !j_idle) || d_busy : k_old);
        read_reg   <= look;
        c_needs    <= b_go ? b_needs : c_needs && !c_leaves;
        placed_reg <= b_looks || (placed_reg && !b_go);
        if (b_go) begin
            f_state <= b_needs ? F_JUDGE : F_REST;
`ifdef INC_MESSAGE_RANGES
        end else if (c_leaves) begin
            f_state <= F_NONE;
`else
        end else if (c_done) begin
            f_state <= F_NONE;
`endif
        end else begin
            case (f_state)
                F_READ:  f_state <= look_c ? F_START : F_READ;
                F_START: f_state <= F_ROOM;
                F_ROOM:  f_state <= m_look ? F_ROOM : F_JUDGE;
                F_JUDGE: f_state <= F_DATA;
                F_DATA:  f_state <= unsure ? F_READ : F_DATA;
                default: f_state <= f_state;
            endcase
        end
        more_reg <= (commits && ans_cnp && answers) || fuses || (more_reg && !tx_room);
        told_reg <= fuses;
        if (c_done) begin
            turn_reg <= 1'b0;
        end else if (acts) begin
            turn_reg <= 1'b1;
        end
        passed_reg <= act_near && !acts && (passed_reg || c_done);
        nak_near   <= (q_valid && !q_fuse && !q_is_ack) || (j_ack && !j_idle && !j_fuse && !j_is_ack);
        asks_reg   <= frm_asks;
        if (rst) begin
            nak_near   <= 1'b0;
            read_reg   <= 1'b0;
            c_needs    <= 1'b0;
            placed_reg <= 1'b0;
            f_state    <= F_NONE;
            more_reg   <= 1'b0;
            told_reg   <= 1'b0;
`ifdef INC_MESSAGE_RANGES
            turn_reg   <= 1'b0;
            passed_reg <= 1'b0;
        end
        opened_reg <= (opened_reg || range_opens) && !c_done && !rst;
    end
`else
            turn_reg   <= 1'b0;
            passed_reg <= 1'b0;
        end
    end
`endif

    wire [23:0] msn_next = is_taken && d_ends ? msn_up : e_msn;

    assign end_we   = commits;
    assign end_next = {e_refused || is_invalid,
                       !is_taken && (e_nak_sent || is_gap || is_full),
                       is_taken ? !d_ends : e_inside,
                       answers ? 8'd0 : is_taken ? more_unanswered : e_unanswered,
                       msn_next,
                       !is_taken ? e_offset : d_ends ? {OFF_W{1'b0}} : to_reg,
                       is_taken && d_ends ? message_up : e_message,
                       is_taken ? psn_up : e_psn};

    assign wr_en       = commits && is_taken;
    assign wr_slot     = slot_reg;
    assign wr_tag      = {{(24-OFF_W){1'b0}}, r_longer ? to_reg : mark_reg};
    assign wr_mask     = mask_reg;
    assign wr_complete = old_known || d_ends;
    assign wr_opcode   = {7'd0, old_known ? old_has_imm : d_has_imm};
    assign wr_plen     = {LEN_W{1'b0}};
    assign wr_pad      = 2'd0;
    assign wr_se       = old_known ? old_se : c_se;
    assign wr_ext      = old_known ? old_ext : imm;
    assign wr_ce       = old_ce || c_ce;
    assign ctx_we      = wr_en;
`ifdef INC_RELEASE
`ifdef INC_MESSAGE_RANGES
    assign rng_group   = c_group;
    assign rng_we      = wr_en && c_ranged;
    assign rng_last    = c_end;
    assign rng_senders = c_reduces ? c_in_mask : c_in_mask | c_parent_mask;
    assign rng_a       = uses_a;
    assign rng_b       = !c_reduces;
`endif
`endif

    // what is taken raises top and done
    wire [23:0]       done_next = r_completes ? message_up : k_done;
    wire [TAIL_W-1:0] tail_next = {top_moves ? top_up : k_top, done_next};
`ifdef INC_MESSAGE_RANGES
    assign tails_we   = wr_en || range_opens;
    assign tails_next = range_opens ? {4{range_first}}
                        : k_pipe_b ? {tail_next, tails[0 +: TAIL_W]} : {tails[TAIL_W +: TAIL_W], tail_next};
`else
    assign tails_we   = wr_en;
    assign tails_next = k_pipe_b ? {tail_next, tails[0 +: TAIL_W]} : {tails[TAIL_W +: TAIL_W], tail_next};
`endif

    // ---- the job: of a frame's pool, or an action's. What follows stands until the next ----

    wire              x_reduces, x_spreads, x_big_endian;
    wire [1:0]        x_function, x_dtype;
    wire [MASK_W-1:0] x_in_mask, x_out_mask, x_parent_mask;
    wire [SLOT_W-1:0] x_base, x_n;
`ifdef INC_MESSAGE_RANGES
    wire [1:0]        x_number;
    reg  [1:0]        j_number;
    assign {x_number, x_reduces, x_spreads, x_function, x_dtype, x_big_endian, x_in_mask, x_out_mask, x_parent_mask, x_base, x_n} = ctx_read;
`else
    assign {x_reduces, x_spreads, x_function, x_dtype, x_big_endian, x_in_mask, x_out_mask, x_parent_mask, x_base, x_n} = ctx_read;
`endif
    reg               x_pointed;       // an action of a whole pool
    reg  [MASK_W-1:0] x_self;          // of any other its endpoint
    wire [MASK_W-1:0] act_self;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign act_self[e] = (act_timer || !act_pipe) && act_ei[EP_W-1:0] == E;
        end
    endgenerate
    wire              x_root   = !x_reduces && !x_spreads && x_parent_mask == NOBODY;
    wire              x_pipe_b = x_pointed ? j_ei[0] : x_spreads || (x_self & x_parent_mask) == NOBODY;

    reg               j_root, j_pipe_b, j_wide, j_big_endian, j_is_nak, j_is_rnr;
    reg  [1:0]        j_function, j_dtype;
    reg  [MASK_W-1:0] j_self, j_outs, j_in;
    reg  [SLOT_W-1:0] j_base, j_n;
    reg  [23:0]       j_done, j_psn;
    reg  [4:0]        j_code;
    reg               j_empty;         // a message was completed: nothing of the next is there, as whoever completes it has sent none

`ifdef INC_MESSAGE_RANGES
    wire [EI_W-1:0]   range_ei;        // of the group's first endpoint
`endif
    wire [EI_W-1:0]   pool_ei;         // of the frame's pool
    generate
        if (EI_W > EP_W) begin : gen_pool_ei
            wire [EP_W-1:0] pool_ep = {{(EP_W-1){1'b0}}, d_opens_b};
            assign pool_ei = {c_group, pool_ep};
`ifdef INC_MESSAGE_RANGES
            assign range_ei = {c_group, {EP_W{1'b0}}};
`endif
            assign j_group = j_ei[EI_W-1:EP_W];
        end else begin : gen_pool_ep
            assign pool_ei = {{(EP_W-1){1'b0}}, d_opens_b};
`ifdef INC_MESSAGE_RANGES
            assign range_ei = {EP_W{1'b0}};
`endif
            assign j_group = 1'b0;
        end
    endgenerate
    wire [EI_W-1:0]   frame_ei = d_data ? pool_ei : c_ei;
    wire [EI_W-1:0] j_pool_ei;
    generate
        if (EI_W > EP_W) begin : gen_job_pool_ei
            wire [EP_W-1:0] pool_ep = {{(EP_W-1){1'b0}}, j_pipe_b};
            assign j_pool_ei = {j_group, pool_ep};
        end else begin : gen_job_pool_ep
            assign j_pool_ei = {{(EP_W-1){1'b0}}, j_pipe_b};
        end
    endgenerate

    // What waits for its job: an answer, or what has left at once. What is to be done with payload is its group's, as the job's is.
    reg               q_root, q_pipe_b, q_wide, q_big_endian, q_is_nak, q_is_rnr;
    reg  [1:0]        q_function, q_dtype;
    reg  [MASK_W-1:0] q_self, q_outs, q_in;
    reg  [SLOT_W-1:0] q_base, q_half;
    reg  [23:0]       q_psn;
    reg  [4:0]        q_code;
`ifdef INC_MESSAGE_RANGES
    reg  [1:0]        q_number;
`endif
    wire              q_takes, q_chains;
    wire [SLOT_W-1:0] q_n = j_pipe_set ? j_pipe_n : q_half;
    always @(posedge clk) begin
        q_valid <= (q_valid && !q_takes) || hands || fuses;
        q_old   <= q_valid && !q_takes && (j_idle || q_group == j_group);
        q_next  <= q_valid && !q_takes && q_group == j_group && (j_fuse || q_fuse || q_ei != j_ei);
        if (!q_valid) begin
            q_ei         <= frame_ei;
            q_fuse       <= d_data;
            q_ended      <= r_completes;
            q_self       <= c_self;
            q_root       <= f_root;
            q_pipe_b     <= d_opens_b;
            q_outs       <= f_outs;
            q_in         <= c_in_mask;
            q_base       <= c_base;
            q_half       <= c_half;
            q_wide       <= HALVES != 0 && c_dtype[1] != c_dtype[0];
            q_function   <= c_function;
            q_dtype      <= c_dtype;
            q_big_endian <= c_big_endian;
            q_psn        <= c_wire_psn;
            q_is_ack     <= c_syn_ack;
            q_is_nak     <= c_syn_nak && c_ext[25:24] == 2'd0;
            q_is_rnr     <= c_syn_rnr;
            q_code       <= c_ext[28:24];
`ifdef INC_MESSAGE_RANGES
            q_number     <= c_number;
`endif
        end
        if (rst) begin
            q_valid <= 1'b0;
            q_old   <= 1'b0;
            q_next  <= 1'b0;
        end
    end

    // what it goes by, in the cycle in which it begins: what is done of its pool, and whether that is as much as a root may move, or more
    wire [23:0]       q_done   = q_pipe_b ? j_tails[TAIL_W +: 24] : j_tails[0 +: 24];
    wire [23:0]       q_start  = q_pipe_b ? j_heads[HEAD_W +: 24] : j_heads[0 +: 24];
    wire [23:0]       q_past;
    inc_past u_q_past (.number(q_done), .from(q_start), .places({{(24-SLOT_W){1'b0}}, q_n}), .past(q_past));
    wire              q_caps   = q_root && !q_past[23];

    always @(posedge clk) begin
        if (q_takes) begin
            j_ack        <= 1'b1;
            j_fuse       <= q_fuse;
            j_ended      <= q_ended;
            j_ei         <= q_ei;
            j_self       <= q_self;
            j_root       <= q_root;
            j_pipe_b     <= q_pipe_b;
            j_outs       <= q_outs;
            j_in         <= q_in;
            j_base       <= q_base;
            j_n          <= q_n;
            j_wide       <= q_wide;
            j_function   <= q_function;
            j_dtype      <= q_dtype;
            j_big_endian <= q_big_endian;
            j_done       <= q_done;
            j_empty      <= 1'b0;
            // what comes next by it
            j_psn        <= q_psn + {23'd0, q_is_ack};
            j_is_ack     <= q_is_ack;
            j_is_nak     <= q_is_nak;
            j_is_rnr     <= q_is_rnr;
            j_code       <= q_code;
`ifdef INC_MESSAGE_RANGES
            j_number     <= q_number;
`endif
        end else if (j_idle) begin
            j_ack        <= 1'b0;
            j_fuse       <= 1'b0;
`ifdef INC_MESSAGE_RANGES
            j_ei         <= acts ? act_ei : range_opens ? range_ei : frame_ei;
            j_number     <= c_number;
`else
            j_ei         <= acts ? act_ei : frame_ei;
`endif
            x_pointed    <= !act_timer && act_pipe;
            x_self       <= act_self;
            j_self       <= c_self;
            j_root       <= f_root;
            j_pipe_b     <= d_opens_b;
            j_outs       <= f_outs;
            j_in         <= c_in_mask;
            j_base       <= c_base;
            j_n          <= k_n;
            j_wide       <= HALVES != 0 && c_dtype[1] != c_dtype[0];
            j_function   <= c_function;
            j_dtype      <= c_dtype;
            j_big_endian <= c_big_endian;
`ifdef INC_MESSAGE_RANGES
            j_done       <= range_opens ? range_first : completes ? message_up : k_done;
            j_empty      <= range_opens || completes;
`else
            j_done       <= completes ? message_up : k_done;
            j_empty      <= completes;
`endif
        end else if (j_state == J_LOOK) begin
            j_self       <= x_self;
            j_root       <= x_root;
            j_pipe_b     <= x_pipe_b;
            j_outs       <= !x_pipe_b ? x_parent_mask : x_spreads ? x_out_mask : x_out_mask & ~x_parent_mask;
            j_in         <= x_in_mask;
            j_base       <= x_base;
            j_n          <= x_n;
            j_wide       <= HALVES != 0 && x_dtype[1] != x_dtype[0];
            j_function   <= x_function;
            j_dtype      <= x_dtype;
            j_big_endian <= x_big_endian;
            j_done       <= x_pipe_b ? j_tails[TAIL_W +: 24] : j_tails[0 +: 24];
            j_empty      <= 1'b0;
`ifdef INC_MESSAGE_RANGES
            j_number     <= x_number;
`endif
        end else if (j_state == J_HOLD) begin
            j_ack        <= 1'b0;      // what follows an answer is news of its pool
            j_ei         <= j_pool_ei;
`ifdef INC_MESSAGE_RANGES
        end else if (j_state == J_BEGUN && snd_done) begin
            j_ei[EP_W-1:0] <= j_ei[EP_W-1:0] + {{(EP_W-1){1'b0}}, 1'b1};
`endif
        end
    end

    // What has left a root's aggregation pool: what is done, from start on, but no more than N. Found in a cycle.
    wire [HEAD_W-1:0] j_head   = j_pipe_b ? j_heads[HEAD_W +: HEAD_W] : j_heads[0 +: HEAD_W];
    wire [23:0]       j_start  = j_head[23:0];
    wire [23:0]       j_wide_n = {{(24-SLOT_W){1'b0}}, j_n};
    wire [23:0]       j_past;
    inc_past u_j_past (.number(j_done), .from(j_start), .places(j_wide_n), .past(j_past));
    wire [23:0]       most     = j_start + j_wide_n;
    wire              caps     = j_root && !j_past[23];           // as much as a root may move, or more, is done
    reg               capped;
    reg  [23:0]       limit_reg;
    reg  [OFF_W-1:0]  open_reg;
    wire [IN_W:0]     open;            // units of the message at the limit that may leave
    always @(posedge clk) begin
        capped     <= q_takes ? q_caps : caps;
        limit_reg  <= caps ? most : j_done;
        // at a root it has no place in the broadcast pool before what is done has
        open_reg   <= caps || j_empty ? {OFF_W{1'b0}} : {open, {PLACE_W{1'b0}}};
    end

    // ---- a message's slot: what SendMessage asks for, or what may leave of a message that is not complete ----

    reg               m_place_reg, m_lookg, m_take_reg, m_valid_reg;
    reg  [SLOT_W:0]   m_at;
    reg  [SLOT_W-1:0] m_slot, m_payload;
    wire [SLOT_W:0]   m_ring  = j_root ? {j_n, 1'b0} : {1'b0, j_n};
    wire [SLOT_W-1:0] m_shift = j_pipe_b && !j_root ? j_n : {SLOT_W{1'b0}};
    // as k_first and k_again, a cycle before they are needed
    reg  [SLOT_W-1:0] m_first, m_again;
    wire [SLOT_W+1:0] m_beyond = {1'b0, m_at} - {1'b0, m_ring};
    wire [SLOT_W-1:0] m_slot_at = !m_beyond[SLOT_W+1] ? m_again + m_at[SLOT_W-1:0] : m_first + m_at[SLOT_W-1:0];
    wire [SLOT_W:0]   m_number = j_state == J_PEEK ? j_done[SLOT_W:0] : msg_number[SLOT_W:0];
    wire [UNIT_W:0]   m_unit   = {{(UNIT_W+1-SLOT_W){1'b0}}, m_payload} << IN_W;

    assign m_look    = m_lookg;
    assign rd_en     = slots || m_look;
    assign rd_slot   = m_look ? m_slot : f_state == F_ROOM ? slot_reg : slot_at;
    assign msg_valid = m_valid_reg;

    always @(posedge clk) begin
        m_place_reg <= msg_rd || j_state == J_PEEK;
        m_lookg  <= m_place_reg;
        m_take_reg  <= m_lookg;
        m_valid_reg <= m_take_reg;
        m_at        <= m_number + j_head[24 +: SLOT_W+1];
        m_first     <= j_base + m_shift;
        m_again     <= j_base + m_shift - m_ring[SLOT_W-1:0];
        if (m_place_reg) begin
            m_slot    <= m_slot_at;
            m_payload <= j_wide ? (m_slot_at << 1) - j_base : m_slot_at;
        end
        if (m_take_reg) begin
            msg_length  <= slot_tag[OFF_W-1:0];
            msg_se      <= slot_se;
            msg_has_imm <= slot_opcode[0];
            msg_imm     <= slot_ext;
            msg_ce      <= slot_ce;
            msg_unit    <= m_unit[UNIT_W-1:0];
        end
        if (rst) begin
            m_place_reg <= 1'b0;
            m_lookg  <= 1'b0;
            m_take_reg  <= 1'b0;
            m_valid_reg <= 1'b0;
        end
    end

    // ---- the message that is to be complete next: how much of it may leave ----

    wire          more_open;           // at J_OPEN
    reg           j_closes;            // the word of what is open is written, without a look: a message is complete, or a packet has left at once

    generate
        if (OPEN != 0) begin : gen_open
            localparam [IN_W:0] NO_UNIT = {(IN_W+1){1'b0}};
            // What every endpoint has sent, as {message, unit} of the one behind its last unit, and the least of it. The one who sends is not
            // further than the end of its message; if this is not its last packet it has the length of its path MTU.
            reg  [OFF_W:0]   mid;
            reg  [23:0]      own_was, own_here, own_last, least;
            wire             whole_now = b_ends || mid[OFF_W] || mid[OFF_W-1];
            wire [24:0]      mtu_wide  = {12'd0, path_mtu};
            // it is looked up in B and goes on in C
            wire             ahead_of = !c_needs;
            wire [MASK_W-1:0] b_taken = b_in_mask & {MASK_W{b_up}}, c_taken = c_in_mask & {MASK_W{d_up}};
            wire [23:0]      first_here = {init_psn[23-IN_W:0], {IN_W{1'b0}}};
            wire [23:0]      rest_last, here_picked, here_picked_msn, here_rest_msn, here_own, here_own_msn;
            wire             rest_there, here_init, here_waits, here_ready;
            wire [EP_W-1:0]  here_rest_ep;
            // one less than the rest's is never between the two, so it may be compared with either
            wire [23:0]      rest_past  = rest_last - own_here;
            assign rest_least = rest_there && rest_past[23];
            // whether that is of the message that is to be complete next, by each of the two; for the rest's without a carry
            wire [23:0]      next_here  = {k_done[23-IN_W:0], {IN_W{1'b0}}};
            assign own_some   = own_here != next_here;
            // if the others have sent the least, there is more of it only if this one had sent less
            wire [23:0]      rest_on    = rest_last - own_was;
            assign rest_some  = !rest_on[23] && (next_here ^ ~rest_last ^ {next_here[22:0] | ~rest_last[22:0], 1'b0}) != 24'd0;
            assign others_there = (!rest_least || (own_here ^ ~rest_last ^ {own_here[22:0] | ~rest_last[22:0], 1'b0}) == 24'd0) && !(known && slot_tag[OFF_W-1:0] == mid[OFF_W-1:0]);
            // behind the message, if all have sent as much as there may be
            wire [IN_W:0]    here       = least[23:IN_W] == k_done[23-IN_W:0] ? {1'b0, least[IN_W-1:0]} : {1'b1, {IN_W{1'b0}}};

            inc_receive_ack #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .STAGES(2)) u_here (
                .clk            (clk),
                .rst            (rst),
                .init_valid     (init_take),
                .init_take      (here_init),
                .init_waits     (here_waits),
                .init_group     (init_group),
                .init_psn       (first_here),
                .ack_rd         (look),
                .ack_group      (look_group),
                .ack_self       (ahead_of ? b_self : c_self),
                .ack_mask       (ahead_of ? b_taken : c_taken),
                .ack_pick       (NOBODY),
                .ack_ready      (here_ready),
                .ack_picked     (here_picked),
                .ack_picked_msn (here_picked_msn),
                .ack_rest       (rest_last),
                .ack_rest_msn   (here_rest_msn),
                .ack_rest_any   (rest_there),
                .ack_rest_ep    (here_rest_ep),
                .ack_own        (here_own),
                .ack_own_msn    (here_own_msn),
                .ack_we         (wr_en),
`ifdef INC_MESSAGE_RANGES
                .ack_lift       (range_opens),
                .ack_psn        (range_opens ? {c_end[23-IN_W:0], {IN_W{1'b1}}} : own_last),
`else
                .ack_lift       (1'b0),
                .ack_psn        (own_last),
`endif
                .ack_msn        (24'd0)
            );

            // what has left at once leaves so much open, of a message that it completes nothing
            reg  [IN_W:0]         here_reg, found_reg, q_open, left_reg;
            wire [2*(IN_W+1)-1:0] opens;
            wire                  opening = j_closes || (j_state == J_OPEN && more_open);
            wire [IN_W:0]         opened  = j_closes ? left_reg : found_reg;
            assign open = j_pipe_b ? opens[IN_W+1 +: IN_W+1] : opens[0 +: IN_W+1];

            inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * (IN_W + 1)), .ADDR_W(GRP_W)) u_open (
                .clk(clk), .we(opening || init_take), .waddr(init_take ? init_group : j_group),
                .wdata(init_take ? {2{NO_UNIT}} : j_pipe_b ? {opened, opens[0 +: IN_W+1]} : {opens[IN_W+1 +: IN_W+1], opened}),
                .re(1'b1), .raddr(next_group), .rdata(opens));

            // all that has come of it may be all that there is
            wire [OFF_W-1:0] here_bytes = {here_reg, {PLACE_W{1'b0}}};
            wire             may_end    = slot_complete && slot_tag[OFF_W-1:0] == here_bytes;

            always @(posedge clk) begin
                mid        <= {1'b0, e_offset} + mtu_wide[OFF_W:0];
                if (placed_reg) begin
                    own_was  <= {e_message[23-IN_W:0], e_offset[OFF_W-2:PLACE_W]};
                    own_here <= whole_now ? {message_up[23-IN_W:0], {IN_W{1'b0}}} : {e_message[23-IN_W:0], mid[OFF_W-2:PLACE_W]};
                end
                own_last   <= own_here - 24'd1;
                least      <= rest_least ? rest_last + 24'd1 : own_here;
                if (!q_valid) begin
                    q_open <= r_completes ? NO_UNIT : to_reg[OFF_W-1:PLACE_W];
                end
                left_reg   <= snd_fuse ? q_open : NO_UNIT;
                if (j_idle) begin
                    here_reg <= here;
                end
                if (m_take_reg) begin
                    found_reg <= may_end ? here_reg - {{IN_W{1'b0}}, 1'b1} : here_reg;
                end
            end

            assign more_open = found_reg != NO_UNIT && found_reg != open;

            wire unused_here = &{1'b0, here_init, here_waits, here_ready, here_picked, here_picked_msn, here_rest_msn, here_own, here_own_msn, here_rest_ep, rest_past, rest_on, mtu_wide, mid};
        end else begin : gen_whole
            assign open      = {(IN_W+1){1'b0}};
            assign {rest_least, own_some, rest_some, others_there} = 4'd0;
            assign more_open = 1'b0;
            wire unused_whole = &{1'b0, k_whole, j_closes};
        end
    endgenerate

    // ---- SendMessage ----

`ifdef INC_MESSAGE_RANGES
    localparam [31:0] LAST_EP = MASK_W - 1;
    wire begun_all = j_ei[EP_W-1:0] == LAST_EP[EP_W-1:0];
    assign ctl_open = range_opens;
    assign ctl_busy = j_state == J_RANGE || j_state == J_BEGIN || j_state == J_BEGUN;

`endif
    wire j_sends = j_state == J_SEND;
    // An answer that moves a root's pool which has more done than it could move is followed by news of the pool; no other comes between.
    assign q_closed = !j_idle && !(j_sends && j_ack && (j_fuse || !capped));
    // Behind one of its group that ends the next may begin in the cycle of that; an answer of the same endpoint is for what that has written.
    assign q_chains = q_next && j_ack && j_sends && snd_next && !(snd_moved && capped);
    assign q_takes  = (q_old && j_idle) || q_chains;

    assign snd_ack    = q_takes && !q_fuse;
    assign snd_act    = j_state == J_LOOK;
    assign snd_note   = j_state == J_NOTE;
`ifdef INC_MESSAGE_RANGES
    assign snd_open   = renumbers;
`endif
    // UNIT_BYTES << see_code bytes, or fewer if it is the last: powers of two, so without a carry
    reg     see_fits;
    integer code;
    always @* begin
        see_fits = 1'b0;
        for (code = 0; code < 8; code = code + 1) begin
            see_fits = see_fits || (see_code == code[2:0] && ((d_ends && length >> (PLACE_W + code) == 16'd0) || length == 16'd1 << (PLACE_W + code)));
        end
    end

    assign snd_look   = looks;
    assign snd_moves  = fuses;
    assign snd_ends   = r_completes;
    assign snd_fuse   = q_takes && q_fuse;
    assign snd_ended  = j_ended;
    assign snd_ei     = sends ? j_ei : q_valid ? q_ei : j_idle ? frame_ei : j_ei;
    assign snd_self   = j_self;
    assign snd_psn    = j_psn;
    assign snd_is_ack = j_is_ack;
    assign snd_is_nak = j_is_nak;
    assign snd_is_rnr = j_is_rnr;
    assign snd_code   = j_code;
    assign snd_pipe   = j_pipe_b;
    assign snd_room   = tx_room && !work_held && !more_reg;
    assign ctx_outs   = j_outs;
    assign ctx_limit  = limit_reg;
    assign ctx_open   = open_reg;
    assign ctx_wide   = j_wide;

    always @(posedge clk) begin
        j_closes  <= notes || snd_fuse;
        // what was seen of a pool stands as long as nobody may begin to lag
        seen_reg  <= see_there && see_ei == pool_ei && !(q_valid && !q_fuse && !(q_is_ack && see_full)) && !(j_ack && !j_idle && !j_fuse && !(j_is_ack && see_full));
        fuses_reg <= see_ok && see_msg == e_message && see_pos == e_offset[OFF_W-1:PLACE_W] && see_fits;
        lane_reg  <= see_ok && see_fits;
        case (j_state)
            J_IDLE:
`ifdef INC_PARK
`ifdef INC_MESSAGE_RANGES
                j_state <= begins ? J_INIT : parks ? J_PARK : acts ? J_LOOK : range_opens ? J_RANGE : q_takes ? J_SEND : notes ? J_NOTE : peeks ? J_PEEK : looks ? J_SEE : J_IDLE;
`else
                j_state <= begins ? J_INIT : parks ? J_PARK : acts ? J_LOOK : q_takes ? J_SEND : notes ? J_NOTE : peeks ? J_PEEK : looks ? J_SEE : J_IDLE;
`endif
`else
`ifdef INC_MESSAGE_RANGES
                j_state <= begins ? J_INIT : acts ? J_LOOK : range_opens ? J_RANGE : q_takes ? J_SEND : notes ? J_NOTE : peeks ? J_PEEK : looks ? J_SEE : J_IDLE;
`else
                j_state <= begins ? J_INIT : acts ? J_LOOK : q_takes ? J_SEND : notes ? J_NOTE : peeks ? J_PEEK : looks ? J_SEE : J_IDLE;
`endif
`endif
            J_LOOK:  j_state <= J_SEND;
            // a root that had done more than it could move may move more now
            J_SEND:  if (snd_done) j_state <= j_ack && snd_moved && capped ? J_HOLD : q_takes ? J_SEND : J_IDLE;
            J_SEE:   if (snd_done) j_state <= J_IDLE;
            J_PEEK:  j_state <= J_FIND;
            J_FIND:  j_state <= m_take_reg ? J_OPEN : J_FIND;
            J_OPEN:  j_state <= more_open ? J_NOTE : J_IDLE;
            J_HOLD:  j_state <= d_busy ? J_HOLD : J_NOTE;
            J_NOTE:  j_state <= J_SEND;
`ifdef INC_MESSAGE_RANGES
            J_RANGE: j_state <= J_BEGIN;
            J_BEGIN: j_state <= J_BEGUN;
            J_BEGUN: if (snd_done) j_state <= begun_all ? J_IDLE : J_RANGE;
`endif
            default: j_state <= J_IDLE;
        endcase
        if (rst) begin
            j_state  <= J_IDLE;
            j_closes <= 1'b0;
        end
    end

    // ---- an acknowledgement moves the start of its pool, some cycles behind it ----

    wire             answered = j_ack && !j_fuse && j_sends && snd_next;
    reg              j_first;          // the first cycle of an answer's job
    reg  [MASK_W-1:0] acks_self, acks_mask;
    reg              d1_valid, d2_valid, d3_valid, d4_valid, d5_valid, d6_valid, d_late, d_root, d_pipe_b, one_moved;
    reg  [GRP_W-1:0] d_group;
    // the same a cycle later, and two: the next answer may be there by then
    reg              was_root, once_root, was_pipe_b;
    reg  [GRP_W-1:0] was_group, once_group;
    reg  [SLOT_W-1:0] was_n;
    reg  [SLOT_W-1:0] d_n;
    reg  [SLOT_W:0]  d_at;
    reg  [2*HEAD_W-1:0] d_heads;
    reg  [23:0]      d_done, acked_last, start_last, start_next, steps_less, span_was, span_is, move_was, move_is, freed_less, freed, wipe_reg;
    // the least that an out endpoint has not acknowledged
    wire [23:0]      least_past = ack_rest - acked_last;
    wire [HEAD_W-1:0] d_head    = d_pipe_b ? d_heads[HEAD_W +: HEAD_W] : d_heads[0 +: HEAD_W];
    wire [23:0]      d_start    = d_head[23:0];
    wire [SLOT_W:0]  d_ring     = d_root ? {d_n, 1'b0} : {1'b0, d_n};
    wire [SLOT_W:0]  d_ahead    = d_head[24 +: SLOT_W+1];
    wire [SLOT_W:0]  head_on    = start_next[SLOT_W:0] + d_ahead;
    wire [SLOT_W+1:0] head_past = {1'b0, head_on} - {1'b0, d_ring};
    wire [23:0]      d_wide_n   = {{(24-SLOT_W){1'b0}}, was_n};
    wire [HEAD_W-1:0] head_next = {d_at, start_next};
    reg              wipes;            // no two cycles in a row

    assign d_busy    = d1_valid || d_late;
`ifdef INC_MESSAGE_RANGES
    assign ack_rd    = j_first || j_state == J_RANGE;
`else
    assign ack_rd    = j_first;
`endif
    assign ack_group = j_group;
    assign ack_self  = acks_self;
    assign ack_mask  = acks_mask;
    assign ack_pick  = NOBODY;
    assign ack_we    = d1_valid;
`ifdef INC_MESSAGE_RANGES
    // behind the last: nobody has less acknowledged than what was before the range
    assign ack_lift  = j_state == J_BEGUN && snd_done && begun_all;
`else
    assign ack_lift  = 1'b0;
`endif
    assign ack_psn   = acked_last;
    assign ack_msn   = 24'd0;

`ifdef INC_PARK
    // parking: all that was begun is acknowledged. Empty pools begin at their first slots, whatever slots these will be
    assign park_take    = j_state == J_PARK;
    assign park_drained = j_tails[24 +: 24] == j_heads[0 +: 24] && j_tails[TAIL_W+24 +: 24] == j_heads[HEAD_W +: 24];
`ifdef INC_MESSAGE_RANGES
    assign heads_we     = d4_valid || (park_take && park_drained) || range_opens;
    assign heads_group  = park_take ? park_group : range_opens ? c_group : was_group;
`else
    assign heads_we     = d4_valid || (park_take && park_drained);
    assign heads_group  = park_take ? park_group : was_group;
`endif
`ifdef INC_MESSAGE_RANGES
    assign heads_next   = range_opens ? {2{first_head(range_first)}}
                          : park_take ? {first_head(j_heads[HEAD_W +: 24]), first_head(j_heads[0 +: 24])}
                          : was_pipe_b ? {head_next, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_next};
`else
    assign heads_next   = park_take ? {first_head(j_heads[HEAD_W +: 24]), first_head(j_heads[0 +: 24])}
                          : was_pipe_b ? {head_next, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_next};
`endif
`else
`ifdef INC_MESSAGE_RANGES
    assign heads_we     = d4_valid || range_opens;
    assign heads_group  = range_opens ? c_group : was_group;
    assign heads_next   = range_opens ? {2{first_head(range_first)}}
                          : was_pipe_b ? {head_next, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_next};
`else
    assign heads_we     = d4_valid;
    assign heads_group  = was_group;
    assign heads_next   = was_pipe_b ? {head_next, d_heads[0 +: HEAD_W]} : {d_heads[HEAD_W +: HEAD_W], head_next};
`endif
`endif

`ifdef INC_RELEASE
    always @(posedge clk) begin
        start_we    <= d4_valid && !rst;
        start_group <= was_group;
        start_a     <= heads_next[0 +: 24];
        start_b     <= heads_next[HEAD_W +: 24];
    end

`endif
    // Slots freed are those that start passes, and those that a root moves; counted one every other cycle.
    always @(posedge clk) begin
        j_first    <= snd_ack;
        d1_valid   <= answered && snd_moved;
        d_late     <= d1_valid || d2_valid || d3_valid;
        d2_valid   <= d1_valid;
        d3_valid   <= d2_valid;
        d4_valid   <= d3_valid;
        d5_valid   <= d4_valid;
        d6_valid   <= d5_valid;
        if (answered) begin
            d_group    <= j_group;
            d_root     <= j_root;
            d_pipe_b   <= j_pipe_b;
            d_n        <= j_n;
            d_done     <= j_done;
            acked_last <= snd_message - 24'd1;
        end
`ifdef INC_MESSAGE_RANGES
        if (j_state == J_RANGE) begin
            acked_last <= c_end;
        end
`endif
        was_root   <= d_root;
        once_root  <= was_root;
        was_pipe_b <= d_pipe_b;
        was_group  <= d_group;
        once_group <= was_group;
        was_n      <= d_n;
        // from the cycle after ack_rd on
        acks_self  <= j_self;
        acks_mask  <= j_outs;
        // what the answer before writes, or has written in the cycle in which it was read
        if (d4_valid && (!d1_valid || was_group == d_group)) begin
            d_heads <= heads_next;
        end else if (d1_valid && !(d5_valid && once_group == d_group)) begin
            d_heads <= j_heads;
        end
        start_last <= ack_rest_any && least_past[23] ? ack_rest : acked_last;
        if (d2_valid) begin
            start_next <= start_last + 24'd1;
            steps_less <= start_last - d_start;
        end
        d_at       <= !head_past[SLOT_W+1] ? d_ahead - d_ring : d_ahead;
        span_was   <= d_done - d_start;
        span_is    <= d_done - start_next;
        move_was   <= span_was > d_wide_n ? d_wide_n : span_was;
        move_is    <= span_is > d_wide_n ? d_wide_n : span_is;
        freed_less <= was_root ? (steps_less << 1) + 24'd2 : steps_less + 24'd1;
        freed      <= once_root ? freed_less + move_is - move_was : freed_less;
        one_moved  <= commits && completes && k_root && f_near;
        wipes      <= wipe_reg != 24'd0 && !wipes;
        wipe_reg   <= wipe_reg + (d6_valid ? freed : 24'd0) + {23'd0, one_moved} - {23'd0, wipes};
        if (rst) begin
            j_first   <= 1'b0;
            d1_valid  <= 1'b0;
            d_late    <= 1'b0;
            d2_valid  <= 1'b0;
            d3_valid  <= 1'b0;
            d4_valid  <= 1'b0;
            d5_valid  <= 1'b0;
            d6_valid  <= 1'b0;
            one_moved <= 1'b0;
            wipes     <= 1'b0;
            wipe_reg  <= 24'd0;
        end
    end

    // ---- connections ended, for the control plane ----

    integer g;
    always @(posedge clk) begin
        for (g = 0; g < GROUPS; g = g + 1) begin
            if (init_take && init_group == g[GRP_W-1:0]) begin
                grp_invalid[MASK_W*g +: MASK_W] <= NOBODY;
            end else if (commits && is_invalid && c_group == g[GRP_W-1:0]) begin
                grp_invalid[MASK_W*g +: MASK_W] <= grp_invalid[MASK_W*g +: MASK_W] | c_self;
            end
        end
        if (rst) begin
            grp_invalid <= {(GROUPS*MASK_W){1'b0}};
        end
    end

    // ---- work on the payload ----

    // A frame's work is put when it is looked up, before its verdict if that is late. What SendMessage sends goes first: it takes the bus.
    reg  [IN_W:0] put_adds;            // of the work put last
    reg           hopes_reg;           // the last result that was looked at could leave at once
    reg           job_reg, commits_reg, dies_reg;
    wire may_put  = !sends && (!may_fuse || seen_reg || j_quiet || j_state == J_SEE);
    wire puts     = f_data && has_work && !unsure && may_put && !put_reg && !work_held;
    wire at_once  = may_fuse && (seen_reg ? fuses_reg : hopes_reg);
    wire withdraw = put_reg && (sends || mistaken);
    integer h;

    always @(posedge clk) begin
        job_reg     <= snd_work_put;
        commits_reg <= puts && commits;
        dies_reg    <= puts && data_goes && !commits;
        put_reg     <= (puts || (put_reg && !withdraw)) && !data_goes;
        if (puts) begin
            put_adds  <= adds_reg;
            emits_reg <= at_once;
        end
        if (f_data && may_fuse && seen_reg) begin
            hopes_reg <= fuses_reg;
        end
        for (h = 0; h < GROUPS; h = h + 1) begin
            if (f_data && may_fuse && seen_reg && c_group == h[GRP_W-1:0]) begin
                parts_reg[h] <= lane_reg;
            end
        end
        if (rst) begin
            job_reg     <= 1'b0;
            commits_reg <= 1'b0;
            dies_reg    <= 1'b0;
            put_reg     <= 1'b0;
            hopes_reg   <= 1'b1;
            parts_reg   <= {GROUPS{1'b1}};
        end
    end

    assign work_put        = puts || snd_work_put;
    assign work_words      = sends ? snd_work_words : c_words;
    assign work_unit       = sends ? snd_work_unit : unit_reg;
    assign work_ep         = c_ei[EP_W-1:0];
    assign put_ei         = sends ? j_ei : c_ei;
    assign work_mask       = sends ? j_in : c_in_mask;
    // the parent's data is nobody's contribution
    assign work_copied     = sends ? j_pipe_b && !j_root : !d_up;
    assign work_read       = sends ? TREE == 0 : adds_reg != {(IN_W+1){1'b0}};
    assign work_take       = !sends;
    assign work_write      = !sends;
    assign work_emit       = TREE == 0 && (sends || at_once);
    assign work_reduce     = TREE != 0 && (sends || at_once);
    assign work_function   = sends ? j_function : c_function;
    assign work_dtype      = sends ? j_dtype : c_dtype;
    assign work_big_endian = sends ? j_big_endian : c_big_endian;
    assign work_commits    = (put_reg && commits) || commits_reg || job_reg;
    assign work_kills      = (put_reg && data_goes && !commits) || withdraw || dies_reg;
    assign adds            = puts ? adds_reg : put_adds;    // a work may be taken when it is put

    // ---- frames to be made: an answer, and a cycle later the result that leaves at once, or a CNP; what SendMessage sends ----

    reg               r_cnp, r_se, r_ce;
`ifdef INC_MESSAGE_RANGES
    reg  [1:0]        r_number;
`endif
    reg  [EI_W-1:0]   r_ei;
    reg  [MASK_W-1:0] r_mask;
    reg  [7:0]        r_opcode;
    reg  [23:0]       r_psn;
    reg  [31:0]       r_ext;
    reg  [LEN_W-1:0]  r_plen;
    reg  [WORDS_W-1:0] r_words;
    // what is made counts only if it is: of what has no room an RNR NAK, or, if there are none, a CNP
    wire cnp  = is_full && !cfg_rnr;
    wire data = more_reg ? !r_cnp : sends;
    wire more = more_reg && tx_room;

    always @(posedge clk) begin
        if (!more_reg) begin
            r_cnp    <= !is_taken;
`ifdef INC_MESSAGE_RANGES
            r_number <= c_number;
`endif
            r_ei     <= is_taken ? pool_ei : c_ei;
            r_mask   <= is_taken ? see_keep : c_self;
            // ONLY or LAST, with an immediate or without; FIRST or MIDDLE
            r_opcode <= !is_taken ? OP_CNP : r_completes ? {5'd0, d_starts, !d_starts, wr_opcode[0]} : {7'd0, !d_starts};
            r_se     <= completes && wr_se;
            r_ce     <= is_taken && wr_ce;
            r_psn    <= is_taken ? see_psn : c_wire_psn;
            r_ext    <= completes && wr_opcode[0] ? wr_ext : 32'd0;
            r_plen   <= is_taken ? c_plen : {LEN_W{1'b0}};
            r_words  <= is_taken ? c_words : {WORDS_W{1'b0}};
        end
    end

    assign tx_valid   = (commits && (answers || ans_cnp)) || more || snd_tx_valid;
    assign tx_kind    = {1'b0, data};
    assign tx_ei      = more_reg ? r_ei : sends ? j_ei : c_ei;
    assign tx_mask    = more_reg ? r_mask : sends ? snd_tx_mask : c_self;
    assign tx_opcode  = more_reg ? r_opcode : sends ? snd_tx_opcode : cnp ? OP_CNP : OP_ACK;
    assign tx_se      = more_reg ? r_se : sends && snd_tx_se;
    assign tx_pad     = more_reg ? 2'd0 - r_plen[1:0] : sends ? snd_tx_pad : 2'd0;
    assign tx_ce      = more_reg ? r_ce : sends && snd_tx_ce;
    assign tx_psn     = more_reg ? r_psn : sends ? snd_tx_psn : cnp ? c_wire_psn : is_duplicate ? psn_down : e_psn;
    assign tx_in_band = data;
`ifdef INC_MESSAGE_RANGES
    assign tx_rng     = more_reg ? r_number : j_number;
`else
    assign tx_rng     = 2'd0;
`endif
    assign tx_dir     = 1'b0;
    assign tx_ext     = more_reg ? r_ext : sends ? snd_tx_ext : cnp ? 32'd0
                      : {is_duplicate || is_taken ? ACK_PLAIN : is_full ? {3'b001, cfg_rnr_timer} : is_gap ? NAK_SEQUENCE : NAK_INVALID, msn_next};
    assign tx_plen    = more_reg ? r_plen : sends ? snd_tx_plen : {LEN_W{1'b0}};
    assign tx_words   = more_reg ? r_words : sends ? snd_tx_words : {WORDS_W{1'b0}};
    // what leaves at once asks: it is its message's last packet, or the next one is not there
    assign copies_asked = more_reg ? r_mask & {MASK_W{!r_cnp}} : sends ? snd_tx_ask : NOBODY;

    // ---- the monitor ----

    assign mon_act_valid = c_done || snd_acts || told_reg;
    assign mon_act_kind  = snd_acts ? snd_kind : told_reg ? 3'd1 : 3'd0;
    assign mon_act_ei    = snd_acts ? snd_act_ei : told_reg ? r_ei : c_ei;

    // ---- counters, a cycle later: exactly one of the drops, or the actions; of an answer when its job has ended ----

    // Whether a frame is decided in this cycle, and whether it has passed, is known last: what it is counted as, if it is data and whatever it is,
    // stands in registers beside that, and both meet behind them.
    reg [COUNTERS-1:0] steps_reg, data_reg, frame_reg;
    reg                goes_reg, decided_reg, fine_reg;

`ifdef INC_MESSAGE_RANGES
    // by the roles that hold now; who hears a Reduce alone is its parent
    wire is_down = c_ranged ? (c_self & c_parent_mask & ~c_in_mask) != NOBODY : d_down;

`endif
    always @(posedge clk) begin
        goes_reg    <= data_goes;
        decided_reg <= decided;
        fine_reg    <= c_passed;
        steps_reg   <= {COUNTERS{1'b0}};
        data_reg    <= {COUNTERS{1'b0}};
        frame_reg   <= {COUNTERS{1'b0}};
        steps_reg[C_RX_FRAMES]            <= c_done;
        steps_reg[C_BYPASS]               <= quick;
        steps_reg[C_WIPE]                 <= wipes;
`ifdef INC_MESSAGE_RANGES
        data_reg[C_UP_DATA]               <= counted && !is_down;
        data_reg[C_DOWN_DATA]             <= counted && is_down;
        steps_reg[C_RANGE_OPEN]           <= range_opens;
        data_reg[C_DROP_RANGE]            <= is_astray;
        data_reg[C_DROP_BAD_CONTROL]      <= is_bad_control;
        data_reg[C_DROP_CONTROL]          <= is_contrary;
`else
        data_reg[C_UP_DATA]               <= counted && !d_down;
        data_reg[C_DOWN_DATA]             <= counted && d_down;
`endif
        data_reg[C_AGG]                   <= is_taken && d_up;
        data_reg[C_BUFFERED]              <= is_taken && d_up && !r_completes;
        data_reg[C_TX_RESULT]             <= is_taken && d_up && r_completes;
        data_reg[C_DOWN_TAKEN]            <= is_taken && !d_up;
        steps_reg[C_RX_ACK]               <= answered && !snd_stale && j_is_ack;
        steps_reg[C_RX_NAK]               <= answered && !snd_stale && !j_is_ack && !j_is_rnr;
        steps_reg[C_RX_RNR]               <= answered && !snd_stale && j_is_rnr;
        frame_reg[C_RX_CNP]               <= d_fine && d_cnp;
        frame_reg[C_RX_CE]                <= c_ce;
        data_reg[C_TX_GAP_NAK]            <= ans_nak;
        data_reg[C_TX_CNP]                <= ans_cnp;
        data_reg[C_TX_ACK]                <= ans_ack;
        data_reg[C_TX_RNR]                <= ans_rnr;
        data_reg[C_TX_INVALID]            <= is_invalid;
        data_reg[C_IMM_MISMATCH]          <= is_taken && r_mismatch;
        steps_reg[C_DROP_FOREIGN +: 6]    <= c_drops;    // and those behind it, to DROP_ICRC
        frame_reg[C_DROP_TVER]            <= d_bad_tver;
        frame_reg[C_DROP_OPCODE]          <= d_bad_opcode;
        frame_reg[C_DROP_TOO_LONG]        <= d_too_long;
`ifdef INC_MESSAGE_RANGES
        frame_reg[C_DROP_WRONG_ROLE]      <= d_fine && (f_data ? f_wrong_role || is_no_role : d_ack && !hears && !c_ranged);
        frame_reg[C_DROP_SYNDROME]        <= d_fine && d_ack && is_heard && !k_syn;
        steps_reg[C_DROP_STALE_ACK]       <= answered && snd_stale;
        frame_reg[C_DROP_STALE_ACK]       <= is_outside;
`else
        frame_reg[C_DROP_WRONG_ROLE]      <= d_fine && (f_data ? f_wrong_role : d_ack && !hears);
        frame_reg[C_DROP_SYNDROME]        <= d_fine && d_ack && hears && !k_syn;
        steps_reg[C_DROP_STALE_ACK]       <= answered && snd_stale;
`endif
        data_reg[C_DROP_GAP]              <= is_gap;
`ifdef INC_PARK
        data_reg[C_DROP_FULL]             <= is_full && !f_parked;
        data_reg[C_DROP_PARKED]           <= is_full && f_parked;
`else
        data_reg[C_DROP_FULL]             <= is_full;
`endif
        data_reg[C_RX_DUPLICATE]          <= is_duplicate;
        data_reg[C_DROP_REFUSED]          <= is_refused;
        data_reg[C_DROP_SEQUENCE]         <= is_order;
        data_reg[C_DROP_SEGMENT]          <= is_segment;
        data_reg[C_DROP_BAD_LENGTH]       <= is_partial;
        data_reg[C_DROP_MESSAGE_SIZE]     <= is_size;
        data_reg[C_DROP_MESSAGE_LENGTH]   <= is_length;
        steps_reg[C_TX_RETRANSMIT]        <= snd_acts && snd_kind == 3'd2 && snd_again;
        steps_reg[C_TIMEOUT]              <= snd_acts && snd_kind == 3'd3;
        if (rst) begin
            goes_reg    <= 1'b0;
            decided_reg <= 1'b0;
            steps_reg   <= {COUNTERS{1'b0}};
        end
    end
    assign count = steps_reg | (data_reg & {COUNTERS{goes_reg && fine_reg}}) | (frame_reg & {COUNTERS{decided_reg && fine_reg}});

    wire unused_bits = &{1'b0, a_there, frm_waits, b_self, b_in_mask, c_ext, c_opcode, tbl_index, tbl_data, slot_tag, slot_opcode, slot_plen, slot_pad, ack_ready, ack_picked,
                         ack_picked_msn, ack_rest_msn, ack_rest_ep, ack_own, ack_own_msn, least_past, distance, past_n, past_ring, past_done, q_past, j_past, b_past, m_beyond, head_past, spare, over, under, rounded, next_unit, f_unit, m_unit, msg_number, j_tails};

endmodule

`default_nettype wire
