// SPDX-License-Identifier: Apache-2.0
//
// inc_check_message: decides what every frame does in Mode I, hands the engine's own actions their turn, keeps the pools.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries; a frame and an action in turn while both wait. One
//               thing at a time: nothing is looked up while the frame before is undecided
//   latency     data 7 cycles from its verdict, 8 if its answer is followed by a CNP, with OPEN 4 more if it is taken; 6 more if a pool may
//               send more; an answer 4 cycles and what SendMessage takes, and STAGES + 4 more of ReceiveACK if it acknowledges, at a root 6
//               more; a bypassed frame 1; an action 3 cycles and what SendMessage takes
//   throughput  a frame in as many cycles
//   commit      all of a frame's effects come after its verdict; the work on the payload is put, and committed in the next cycle
//   stall       waits while tx_room is low and a frame is to be made, and while work_held is high and there is payload
//   pools       a message's slot is counted from the slot of `start`, `head`. At the root of an AllReduce or Barrier one ring of 2N slots is both
//               pools. A message is new if nobody has begun it: `top` is the first such
//   slot        wr_* and slot_*: RecycleBuffer keeps {mark, length known, CE, SE, immediate, who has sent it to the end}; what it has of a
//               message that is new counts for nothing
//   payload     units of UNIT_BYTES, message_bytes a slot; 16-bit elements take two units each. work_adds: so many units of the payload from
//               its first on are added to what lies there, the rest overwrite
//   open        with OPEN packets of a message leave before it is complete: ctx_open is how many bytes of the message at ctx_limit all have sent,
//               one unit less if it may end there, 0 for a group in grp_whole. It is found after each packet that is taken, in 5 cycles more
//   send side   one job at a time for SendMessage, snd_ack or snd_act, until snd_done; meanwhile it asks for messages (msg_*), and its frames
//               and works pass through here
//   note        note_*: a pool has a message more that may be sent
//   state       per endpoint {rqPSN, message, offset, inside, nakSent, refused, unanswered, msn}, per group of both pools {start, done, top,
//               head}, and what is needed to send without a frame, noted whenever data is taken; set by init_*
//   monitor     mon_act_*: docs/pipes.md section 7; of a frame in its last cycle
`ifdef INC_PARK
//   parking     a message of a parked group (grp_parked) finds no slot. While park_valid stands, the pools of park_group are looked at between two
//               frames or actions, before any other: park_take comes with the answer in the next cycle, and a drained group's pools then begin at
//               the first slots of wherever they will be
`endif
//   reset       idle
//   not done    in-band groups, releases; what endpoints are sent is SendMessage's
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
    parameter UNIT_W   = 6,
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
    input  wire [SLOT_W-1:0]   s_base,
    input  wire [4:0]          s_log2_n,
    // the one in A, to B with a_go
    input  wire                a_go,
    // the one in B, to C with b_go
    input  wire                b_go,
    input  wire                b_host,
    input  wire                b_data,
    input  wire                b_ack,
    input  wire                b_cnp,
    input  wire                b_ends,
    input  wire                b_fine,
    input  wire                b_bad_tver,
    input  wire                b_bad_opcode,
    input  wire                b_too_long,
    input  wire                b_up,
    input  wire                b_down,
    input  wire                b_whole,
    // the one in C
    output wire                c_free,
    output wire                c_leaves,
    output wire                c_lives,
    output wire                c_decided,
    output wire                c_done,
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
    input  wire                c_reduces,
    input  wire                c_spreads,
    input  wire [1:0]          c_function,
    input  wire [1:0]          c_dtype,
    input  wire [MASK_W-1:0]   c_in_mask,
    input  wire [MASK_W-1:0]   c_out_mask,
    input  wire [MASK_W-1:0]   c_parent_mask,
    input  wire                c_passed,
    input  wire [5:0]          c_drops,

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
    input  wire                act_timer,
    input  wire                act_pipe,
    input  wire [EI_W-1:0]     act_ei,
    output wire                snd_ack,
    output wire                snd_act,
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
    output reg                 msg_valid,
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
    // a job too: a pool has more to send, of group and pool (bit 0), to these
    output reg                 note_valid,
    output wire [EI_W-1:0]     note_ei,
    output wire [MASK_W-1:0]   note_outs,

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
    localparam [OFF_W-1:0] LONGEST = {1'b1, {(OFF_W-1){1'b0}}};

    // positions in `count`
    // contract: counters 1
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_DOWN_DATA = 9,
               C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14, C_TX_GAP_NAK = 16, C_TX_CNP = 17,
               C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20, C_DROP_TVER = 26, C_DROP_OPCODE = 27, C_DROP_TOO_LONG = 28,
               C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30, C_DROP_SYNDROME = 31, C_DROP_GAP = 32, C_DROP_STALE_ACK = 45,
               C_TX_ACK = 46, C_TX_RNR = 47, C_TX_RETRANSMIT = 48, C_TIMEOUT = 49, C_RX_DUPLICATE = 50, C_DOWN_TAKEN = 51,
               C_DROP_FULL = 52, C_TX_INVALID = 53, C_DROP_REFUSED = 55, C_DROP_SEQUENCE = 56, C_DROP_SEGMENT = 57,
               C_DROP_MESSAGE_SIZE = 58, C_DROP_MESSAGE_LENGTH = 59, C_COUNT = 60;
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

    wire [GRP_W-1:0] c_group, act_group, init_group, tbl_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign c_group    = c_ei[EI_W-1:EP_W];
            assign act_group  = act_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
            assign tbl_group  = tbl_index[GRP_W-1:0];
        end else begin : gen_one_group
            assign {c_group, act_group, init_group, tbl_group} = 4'd0;
        end
    endgenerate
    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};

    // ---- what is done, a step a cycle ----

    localparam [4:0] S_IDLE = 5'd0, S_INIT = 5'd1, S_LOOK = 5'd2, S_PLACE = 5'd3, S_SLOT = 5'd4, S_JUDGE = 5'd5, S_DATA = 5'd6, S_CNP = 5'd7,
                     S_HEAR = 5'd8, S_SEND = 5'd9, S_ACKED = 5'd10, S_LEAST = 5'd11, S_START = 5'd12, S_END = 5'd13, S_TURN = 5'd14, S_NOTE = 5'd15,
                     S_PEEK = 5'd16, S_OPEN = 5'd17;
`ifdef INC_PARK
    localparam [4:0] S_PARK = 5'd18;
`endif

    reg  [4:0] state_reg;
    reg        turn_reg;               // of frames: an action was the last
    reg        passed_reg;             // the frame is not one that was dropped at once
    reg  [5:0] drops_reg;

    wire idle     = state_reg == S_IDLE;
    wire framed   = c_valid && vrd_valid;
    wire begins   = idle && init_valid && init_clean;
`ifdef INC_PARK
    wire parks    = idle && park_valid;     // and no group is started meanwhile
    wire acts     = idle && !begins && !parks && act_valid && !(turn_reg && framed);
    wire decides  = idle && !begins && !parks && !acts && framed;
`else
    wire acts     = idle && !begins && act_valid && !(turn_reg && framed);
    wire decides  = idle && !begins && !acts && framed;
`endif
    wire quick    = decides && c_bypass;
    wire starts   = decides && !c_bypass;
    wire ends     = state_reg == S_END;

    assign c_free    = 1'b1;
    assign c_lives   = c_live && live_wide[{1'b0, c_group}];
    assign c_decided = starts;
    assign c_done    = quick || ends;
    assign c_leaves  = c_done;
    assign vrd_pop   = c_done;
    assign init_take = state_reg == S_INIT;

    // ---- facts of the frame in C that the steps know of the one in B, and of the one that goes into A ----

    reg [SLOT_W-1:0] a_base, b_base, c_base, a_half, b_half, c_half;
    reg              d_host, d_data, d_ack, d_cnp, d_ends, d_fine, d_bad_tver, d_bad_opcode, d_too_long, d_up, d_down, d_whole;

    wire [SLOT_W-1:0] s_half;          // N of log2 2N
    genvar e;
    generate
        for (e = 0; e < SLOT_W; e = e + 1) begin : gen_half
            localparam [5:0] E = e;
            assign s_half[e] = {1'b0, s_log2_n} == E + 6'd1;
        end
    endgenerate

    always @(posedge clk) begin
        if (s_go) begin
            a_base <= s_base;
            a_half <= s_half;
        end
        if (a_go) begin
            b_base <= a_base;
            b_half <= a_half;
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
            d_whole      <= b_whole;
        end
    end

    // FIRST is 0, MIDDLE 1, LAST 2 and 3, ONLY 4 and 5; those with an odd number from 3 on have an immediate
    wire d_starts  = c_opcode[2:0] == 3'd0 || c_opcode[2];
    wire d_has_imm = c_opcode[0] && (c_opcode[1] || c_opcode[2]);
    wire d_opens_b = d_data ? (!c_reduces && !c_spreads && c_parent_mask == NOBODY) || c_spreads || !d_up
                            : c_spreads || (c_self & c_parent_mask) == NOBODY;

    // ---- state: of endpoints, of pools, of groups ----

    reg               k_frame;         // the job is of a frame, else of an action
    wire [GRP_W-1:0]  job_group = k_frame ? c_group : act_group;
    reg  [SLOT_W-1:0] k_base, k_n, k_head;

    localparam END_W  = 24 + 24 + OFF_W + 1 + 1 + 1 + 8 + 24;
    localparam POOL_W = 3 * 24 + SLOT_W;
    localparam CTX_W  = 2 + 2 + 2 + 1 + 3 * MASK_W + 2 * SLOT_W;

    wire              end_we;
    wire [END_W-1:0]  end_word, end_next, sib_word;
    wire [23:0]       rq_psn;
    wire [12:0]       path_mtu;
    wire              pool_we;
    wire [2*POOL_W-1:0] pools, pools_next;
    wire [SLOT_W-1:0] pipe_n;
    wire              pipe_set;
    wire              ctx_we;
    wire [CTX_W-1:0]  ctx_read;
`ifdef INC_PARK
    wire [(1 << GRP_W):0] parked_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_parked};
    wire [GRP_W-1:0]  look_group = parks ? park_group : acts ? act_group : c_group;
    wire              look = parks || acts || starts;
    wire [GRP_W-1:0]  pool_group = park_take ? park_group : job_group;
`else
    wire [GRP_W-1:0]  look_group = acts ? act_group : c_group;
    wire              look = acts || starts;
`endif

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(24), .ADDR_W(EI_W)) u_rq_psn (
        .clk(clk), .we(tbl_ep_we && tbl_word == WORD_EP_RQ_PSN), .waddr(tbl_index), .wdata(tbl_data[F_EP_RQ_PSN_PSN +: W_EP_RQ_PSN_PSN]),
        .re(begins), .raddr(init_ei), .rdata(rq_psn));
    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(13), .ADDR_W(EI_W)) u_path_mtu (
        .clk(clk), .we(tbl_ep_we && tbl_word == WORD_EP_PATH_MTU), .waddr(tbl_index), .wdata(tbl_data[F_EP_PATH_MTU_BYTES +: W_EP_PATH_MTU_BYTES]),
        .re(starts), .raddr(c_ei), .rdata(path_mtu));
    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(END_W), .ADDR_W(EI_W)) u_ends (
        .clk(clk), .we(end_we || init_take), .waddr(init_take ? init_ei : c_ei), .wdata(init_take ? {{(END_W-48){1'b0}}, init_psn, rq_psn} : end_next),
        .re(starts), .raddr(c_ei), .rdata(end_word));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * POOL_W), .ADDR_W(GRP_W)) u_pools (
`ifdef INC_PARK
        .clk(clk), .we(pool_we || init_take), .waddr(init_take ? init_group : pool_group),
`else
        .clk(clk), .we(pool_we || init_take), .waddr(init_take ? init_group : job_group),
`endif
        .wdata(init_take ? {2{{SLOT_W{1'b0}}, {3{init_psn}}}} : pools_next), .re(look), .raddr(look_group), .rdata(pools));
    // GROUP_PIPE, and whether it says something
    wire [SLOT_W-1:0] tbl_n = tbl_data[F_GROUP_PIPE_N +: SLOT_W];
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 1), .ADDR_W(GRP_W)) u_sizes (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_PIPE), .waddr(tbl_group), .wdata({tbl_n != {SLOT_W{1'b0}}, tbl_n}),
        .re(look), .raddr(look_group), .rdata({pipe_set, pipe_n}));
    // what data goes by that is sent without a frame
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CTX_W), .ADDR_W(GRP_W)) u_contexts (
        .clk(clk), .we(ctx_we || init_take), .waddr(init_take ? init_group : c_group),
        .wdata(init_take ? {CTX_W{1'b0}} : {c_reduces, c_spreads, c_function, c_dtype, c_big_endian, c_in_mask, c_out_mask, c_parent_mask, k_base, k_n}),
        .re(acts), .raddr(act_group), .rdata(ctx_read));
    generate
        if (TREE != 0) begin : gen_siblings
            // the same once more, for the other endpoint of the pair
            inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(END_W), .ADDR_W(EI_W)) u_siblings (
                .clk(clk), .we(end_we || init_take), .waddr(init_take ? init_ei : c_ei),
                .wdata(init_take ? {{(END_W-48){1'b0}}, init_psn, rq_psn} : end_next),
                .re(starts), .raddr(c_ei ^ {{(EI_W-1){1'b0}}, 1'b1}), .rdata(sib_word));
        end else begin : gen_no_siblings
            assign sib_word = {END_W{1'b0}};
        end
    endgenerate

    wire [23:0]      e_psn, e_message, e_msn;
    wire [OFF_W-1:0] e_offset;
    wire             e_inside, e_nak_sent, e_refused;
    wire [7:0]       e_unanswered;
    assign {e_refused, e_nak_sent, e_inside, e_unanswered, e_msn, e_offset, e_message, e_psn} = end_word;

    wire              x_reduces, x_spreads, x_big_endian;
    wire [1:0]        x_function, x_dtype;
    wire [MASK_W-1:0] x_in_mask, x_out_mask, x_parent_mask;
    wire [SLOT_W-1:0] x_base, x_n;
    assign {x_reduces, x_spreads, x_function, x_dtype, x_big_endian, x_in_mask, x_out_mask, x_parent_mask, x_base, x_n} = ctx_read;

    // ---- the job: a frame's pool, or an action's. What follows is known from S_LOOK on and stands until the next job ----

    reg               x_pointed;
    wire [MASK_W-1:0] x_self;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign x_self[e] = !x_pointed && act_ei[EP_W-1:0] == E;
        end
    endgenerate

    wire [MASK_W-1:0] j_parent  = k_frame ? c_parent_mask : x_parent_mask;
    wire [MASK_W-1:0] j_out     = k_frame ? c_out_mask : x_out_mask;
    wire              j_reduces = k_frame ? c_reduces : x_reduces;
    wire              j_spreads = k_frame ? c_spreads : x_spreads;
    wire              j_root    = !j_reduces && !j_spreads && j_parent == NOBODY;
    wire              j_pipe_b  = k_frame ? d_opens_b : x_pointed ? act_ei[0] : x_spreads || (x_self & x_parent_mask) == NOBODY;
    wire [SLOT_W-1:0] j_n       = !k_frame ? x_n : pipe_set ? pipe_n : c_half;
    wire [POOL_W-1:0] j_pool    = j_pipe_b ? pools[POOL_W +: POOL_W] : pools[0 +: POOL_W];

    reg               k_root, k_pipe_b, k_wide, k_big_endian;
    reg  [1:0]        k_function, k_dtype;
    reg  [MASK_W-1:0] k_outs, k_in;
    reg  [23:0]       k_start, k_done, k_top;
    wire [1:0]        j_dtype = k_frame ? c_dtype : x_dtype;

    // what an acknowledgement makes of start: the least that an out endpoint has not acknowledged
    wire [SLOT_W:0]   ring       = k_root ? {k_n, 1'b0} : {1'b0, k_n};
    reg  [23:0]       acked_reg;       // the first message that the endpoint has not acknowledged
    wire [23:0]       least_past = ack_rest - ack_psn;
    wire [23:0]       start_next = ack_rest_any && least_past[23] ? ack_rest + 24'd1 : acked_reg;
    wire [23:0]       steps      = start_next - k_start;
    wire [SLOT_W:0]   head_on    = {1'b0, k_head} + steps[SLOT_W:0];
    wire [SLOT_W:0]   head_round = head_on - ring;
    wire [SLOT_W:0]   head_at    = head_on >= ring ? head_round : head_on;
    wire [SLOT_W-1:0] head_next  = head_at[SLOT_W-1:0];

    always @(posedge clk) begin
        if (starts) begin
            k_frame <= 1'b1;
        end else if (acts) begin
            k_frame   <= 1'b0;
            x_pointed <= !act_timer && act_pipe;
        end
        if (state_reg == S_LOOK) begin
            k_root       <= j_root;
            k_pipe_b     <= j_pipe_b;
            k_outs       <= !j_pipe_b ? j_parent : j_spreads ? j_out : j_out & ~j_parent;
            k_in         <= k_frame ? c_in_mask : x_in_mask;
            k_base       <= k_frame ? c_base : x_base;
            k_n          <= j_n;
            k_wide       <= HALVES != 0 && j_dtype[1] != j_dtype[0];
            k_function   <= k_frame ? c_function : x_function;
            k_dtype      <= j_dtype;
            k_big_endian <= k_frame ? c_big_endian : x_big_endian;
            {k_head, k_top, k_done, k_start} <= j_pool;
        end else if (state_reg == S_START) begin
            k_start <= start_next;
            k_head  <= head_next;
        end
    end

    // what has left a root's aggregation pool: what is done, from start on, but no more than N
    wire [23:0] n_wide  = {{(24-SLOT_W){1'b0}}, k_n};
    wire [23:0] span    = k_done - k_start;
    wire [23:0] moves   = span > n_wide ? n_wide : span;
    wire [23:0] limit   = k_root ? k_start + moves : k_done;

    // ---- a message's slot: of data, or of what SendMessage asks for ----

    wire              peeks;           // after a packet, at the message that is to be complete next
    wire [23:0]       done_next;
    reg               m_place, m_look, m_take;
    reg  [23:0]       m_number;
    wire [23:0]       f_off   = (state_reg == S_PLACE ? e_message : m_number) - k_start;
    wire [SLOT_W:0]   f_at    = {1'b0, k_head} + f_off[SLOT_W:0];
    wire [SLOT_W:0]   f_round = f_at - ring;
    wire [SLOT_W:0]   f_index = (f_at >= ring ? f_round : f_at) + (k_pipe_b && !k_root ? {1'b0, k_n} : {(SLOT_W+1){1'b0}});
    reg  [SLOT_W-1:0] slot_reg;        // its word
    reg  [SLOT_W-1:0] place_reg;       // its payload
    wire [SLOT_W-1:0] slot_at = k_base + f_index[SLOT_W-1:0];

    // the first unit of its payload, and that in which the endpoint's next byte lies
    wire [UNIT_W:0] first_unit = {{(UNIT_W+1-SLOT_W){1'b0}}, place_reg} << IN_W;
    wire [UNIT_W:0] inner_unit = {{(UNIT_W-IN_W){1'b0}}, e_offset[OFF_W-1:PLACE_W]};
    wire [UNIT_W:0] next_unit  = first_unit + (k_wide ? inner_unit << 1 : inner_unit);

    assign rd_en   = state_reg == S_SLOT || m_look;
    assign rd_slot = slot_reg;

    always @(posedge clk) begin
        m_place <= msg_rd || peeks;
        m_look  <= m_place;
        m_take  <= m_look;
        if (msg_rd || peeks) begin
            m_number <= peeks ? done_next : msg_number;
        end
        if (state_reg == S_PLACE || m_place) begin
            slot_reg  <= slot_at;
            place_reg <= k_wide ? slot_at + f_index[SLOT_W-1:0] : slot_at;
        end
        msg_valid <= m_take;
        if (m_take) begin
            msg_length  <= slot_tag[OFF_W-1:0];
            msg_se      <= slot_se;
            msg_has_imm <= slot_opcode[0];
            msg_imm     <= slot_ext;
            msg_ce      <= slot_ce;
            msg_unit    <= first_unit[UNIT_W-1:0];
        end
        if (rst) begin
            m_place   <= 1'b0;
            m_look    <= 1'b0;
            m_take    <= 1'b0;
            msg_valid <= 1'b0;
        end
    end

    // ---- data: first the packet, then its message ----

    wire [23:0]      distance = c_wire_psn - e_psn;
    wire             behind   = distance[23];
    wire             ahead    = !behind && distance != 24'd0;
    wire [15:0]      length   = {{(16-LEN_W){1'b0}}, c_plen};
    wire [15:0]      mtu      = {3'd0, path_mtu};
    wire [OFF_W:0]   to       = {1'b0, e_offset} + {{(OFF_W+1-LEN_W){1'b0}}, c_plen};

    reg              f_wrong_role, f_behind, f_ahead, f_refused, f_order, f_segment, f_partial, f_full, f_fresh;
`ifdef INC_PARK
    reg              f_parked;
`endif
    reg              r_size, r_length, r_mismatch, r_completes, r_answers;
    reg  [OFF_W-1:0] r_mark;
    reg              r_near;

    wire             judged = d_fine && d_data && !f_wrong_role;
    // in the order of docs/termination.md section 3
    wire is_duplicate = judged && f_behind;
    wire is_gap       = judged && f_ahead;
    wire in_order     = judged && !f_behind && !f_ahead;
    wire is_refused   = in_order && f_refused;
    wire is_order     = in_order && !f_refused && f_order;
    wire is_segment   = in_order && !f_refused && !f_order && f_segment;
    wire is_partial   = in_order && !f_refused && !f_order && !f_segment && f_partial;
    wire is_sound     = in_order && !f_refused && !f_order && !f_segment && !f_partial;
    wire is_full      = is_sound && f_full;
    wire is_size      = is_sound && !f_full && r_size;
    wire is_length    = is_sound && !f_full && !r_size && r_length;
    wire is_taken     = is_sound && !f_full && !r_size && !r_length;
    wire is_invalid   = is_refused || is_order || is_segment || is_partial || is_size || is_length;

    // the slot as it stands; of a new message there is nothing
    wire             old_known = !f_fresh && slot_complete;
    wire [OFF_W-1:0] old_mark  = f_fresh ? {OFF_W{1'b0}} : slot_tag[OFF_W-1:0];
    wire [MASK_W-1:0] old_mask = f_fresh ? NOBODY : slot_mask;
    wire             old_ce    = !f_fresh && slot_ce;
    wire [31:0]      imm       = d_has_imm ? c_ext : 32'd0;
    wire [MASK_W-1:0] new_mask = d_ends ? old_mask | c_self : old_mask;
    wire [7:0]       more_unanswered = e_unanswered + 8'd1;

    // how far what is added to has come: in place the message, in a tree the other endpoint of the pair
    wire [OFF_W-1:0] below;
    generate
        if (TREE != 0) begin : gen_below
            wire [23:0]       s_message = sib_word[24 +: 24];
            wire [OFF_W-1:0]  s_offset  = sib_word[48 +: OFF_W];
            wire [MASK_W-1:0] s_self;
            for (e = 0; e < MASK_W; e = e + 1) begin : gen_sibling
                if ((e ^ 1) < MASK_W) begin : gen_two
                    assign s_self[e] = c_self[e ^ 1];
                end else begin : gen_single
                    assign s_self[e] = 1'b0;
                end
            end
            wire [23:0] s_past = s_message - e_message;
            assign below = (s_self & c_in_mask) == NOBODY || !d_up || s_past[23] ? {OFF_W{1'b0}} : s_past == 24'd0 ? s_offset : LONGEST;
            wire unused_sibling = &{1'b0, s_past, sib_word};
        end else begin : gen_mark
            assign below = old_mark;
            wire unused_sibling = &{1'b0, sib_word};
        end
    endgenerate
    wire [OFF_W:0]   added   = {1'b0, below} - {1'b0, e_offset};
    wire [OFF_W:0]   rounded = added + {{(OFF_W+1-PLACE_W){1'b0}}, {PLACE_W{1'b1}}};
    reg  [IN_W:0]    adds_reg;
    reg  [UNIT_W-1:0] unit_reg;

    always @(posedge clk) begin
        if (state_reg == S_PLACE) begin
            f_wrong_role <= !d_up && !d_down;
            f_behind     <= behind;
            f_ahead      <= ahead;
            f_refused    <= e_refused;
            f_order      <= d_starts == e_inside;
            f_segment    <= d_ends ? length > mtu || (length == 16'd0 && !d_starts) : length != mtu;
            f_partial    <= !d_whole;
`ifdef INC_PARK
            f_full       <= d_starts && (parked_wide[{1'b0, c_group}] || f_off >= (k_root ? moves + n_wide : n_wide));
            f_parked     <= parked_wide[{1'b0, c_group}];
`else
            f_full       <= d_starts && f_off >= (k_root ? moves + n_wide : n_wide);
`endif
            f_fresh      <= e_message == k_top;
            r_near       <= f_off < n_wide;
        end
        if (state_reg == S_JUDGE) begin
            r_size      <= to > {1'b0, LONGEST};
            r_length    <= (old_known && to > {1'b0, old_mark}) || (d_ends && to < {1'b0, old_mark});
            r_mark      <= to > {1'b0, old_mark} ? to[OFF_W-1:0] : old_mark;
            r_mismatch  <= d_ends && old_known && (slot_se != c_se || slot_opcode[0] != d_has_imm || slot_ext != imm);
            r_completes <= d_ends && (!d_up || (new_mask & c_in_mask) == c_in_mask);
            r_answers   <= frm_asks || d_ends || more_unanswered >= cfg_ack_every;
            adds_reg    <= added[OFF_W] ? {(IN_W+1){1'b0}} : rounded[PLACE_W +: IN_W+1];
            unit_reg    <= next_unit[UNIT_W-1:0];
        end
    end

    // ---- what data does, when there is room for it ----

    wire ans_ack = is_duplicate || (is_taken && r_answers);
    wire ans_nak = is_gap && !e_nak_sent;
    wire ans_rnr = is_full && cfg_rnr;
    wire ans_cnp = is_full && cfg_cnp && d_host;
    wire answers = ans_ack || ans_nak || ans_rnr || is_invalid;
    wire has_work = is_taken && c_words != {WORDS_W{1'b0}};
    wire does_data = state_reg == S_DATA && (tx_room || !(answers || ans_cnp)) && !(has_work && work_held);
    wire commits   = does_data && judged;
    wire cnp_next  = ans_cnp && answers;
`ifdef INC_PARK
    wire counted   = is_duplicate || is_gap || (is_full && !f_parked) || is_taken;
`else
    wire counted   = is_duplicate || is_gap || is_full || is_taken;
`endif

    wire [23:0] msn_next = is_taken && d_ends ? e_msn + 24'd1 : e_msn;

    assign end_we   = commits;
    assign end_next = {e_refused || is_invalid,
                       !is_taken && (e_nak_sent || is_gap || is_full),
                       is_taken ? !d_ends : e_inside,
                       answers ? 8'd0 : is_taken ? more_unanswered : e_unanswered,
                       msn_next,
                       !is_taken ? e_offset : d_ends ? {OFF_W{1'b0}} : to[OFF_W-1:0],
                       is_taken && d_ends ? e_message + 24'd1 : e_message,
                       is_taken ? e_psn + 24'd1 : e_psn};

    assign wr_en       = commits && is_taken;
    assign wr_slot     = slot_reg;
    assign wr_tag      = {{(24-OFF_W){1'b0}}, r_mark};
    assign wr_mask     = new_mask;
    assign wr_complete = old_known || d_ends;
    assign wr_opcode   = {7'd0, old_known ? slot_opcode[0] : d_has_imm};
    assign wr_plen     = {LEN_W{1'b0}};
    assign wr_pad      = 2'd0;
    assign wr_se       = old_known ? slot_se : c_se;
    assign wr_ext      = old_known ? slot_ext : imm;
    assign wr_ce       = old_ce || c_ce;
    assign ctx_we      = wr_en;

    // ---- pools: what is taken raises top and done, what is acknowledged start ----

    wire [23:0]       span_next  = k_done - start_next;
    wire [23:0]       moves_next = span_next > n_wide ? n_wide : span_next;
    wire              completes  = is_taken && r_completes;
    wire [23:0]       top_next   = is_taken && f_fresh ? k_top + 24'd1 : k_top;
    assign            done_next  = completes ? e_message + 24'd1 : k_done;
    wire              starting   = state_reg == S_START;
    wire [POOL_W-1:0] pool_next  = starting ? {head_next, k_top, k_done, start_next} : {k_head, top_next, done_next, k_start};

`ifdef INC_PARK
    // ---- parking: all that was begun is acknowledged. Empty pools begin at their first slots, whatever slots these will be ----

    wire [71:0] park_a = pools[0 +: 72], park_b = pools[POOL_W +: 72];     // top, done, start

    assign park_take    = state_reg == S_PARK;
    assign park_drained = park_a[71:48] == park_a[23:0] && park_b[71:48] == park_b[23:0];

    assign pool_we    = (commits && is_taken) || starting || (park_take && park_drained);
    assign pools_next = park_take ? {{SLOT_W{1'b0}}, park_b, {SLOT_W{1'b0}}, park_a} : k_pipe_b ? {pool_next, pools[0 +: POOL_W]} : {pools[POOL_W +: POOL_W], pool_next};
`else
    assign pool_we    = (commits && is_taken) || starting;
    assign pools_next = k_pipe_b ? {pool_next, pools[0 +: POOL_W]} : {pools[POOL_W +: POOL_W], pool_next};
`endif

    // slots freed: those that start has passed, and those that a root moves; counted one a cycle
    reg  [23:0] wipe_reg;
    wire [23:0] freed = starting ? steps + (k_root ? steps + moves_next - moves : 24'd0)
                                 : {23'd0, commits && completes && k_root && r_near};
    wire        wipes = wipe_reg != 24'd0;

    wire [EI_W-1:0] job_pool_ei;
    generate
        if (EI_W > EP_W) begin : gen_pool_ei
            wire [EP_W-1:0] pool_ep = {{(EP_W-1){1'b0}}, k_pipe_b};
            assign job_pool_ei = {job_group, pool_ep};
        end else begin : gen_pool_ep
            assign job_pool_ei = {{(EP_W-1){1'b0}}, k_pipe_b};
        end
    endgenerate

    // ---- the message that is to be complete next: how much of it may leave ----

    wire          opening = state_reg == S_OPEN;
    wire          rises   = commits && completes && (!k_root || r_near);
    reg           rises_reg, completes_reg;      // with the packet; the pool's limit does
    wire          more_open;
    always @(posedge clk) begin
        if (commits) begin
            rises_reg     <= rises;
            completes_reg <= completes;
        end
    end

    generate
        if (OPEN != 0) begin : gen_open
            localparam [IN_W:0] NO_UNIT = {(IN_W+1){1'b0}};
            // what every endpoint has sent, as {message, unit}, and the least of it
            wire [23:0]      own_here   = (d_ends ? {e_message[23-IN_W:0], {IN_W{1'b1}}} : {e_message[23-IN_W:0], {IN_W{1'b0}}})
                                          + (d_ends ? 24'd1 : {{(23-IN_W){1'b0}}, to[OFF_W-1:PLACE_W]});
            wire [23:0]      first_here = {init_psn[23-IN_W:0], {IN_W{1'b0}}};
            wire [23:0]      rest_last, here_picked, here_picked_msn, here_rest_msn, here_own, here_own_msn;
            wire             rest_there, here_init, here_ready;
            wire [EP_W-1:0]  here_rest_ep;
            wire [23:0]      rest_here  = rest_last + 24'd1;
            wire [23:0]      rest_past  = rest_here - own_here;
            wire [23:0]      least      = rest_there && rest_past[23] ? rest_here : own_here;

            inc_receive_ack #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .STAGES(2)) u_here (
                .clk            (clk),
                .rst            (rst),
                .init_valid     (init_take),
                .init_take      (here_init),
                .init_group     (init_group),
                .init_psn       (first_here),
                .ack_rd         (state_reg == S_PLACE),
                .ack_group      (c_group),
                .ack_self       (c_self),
                .ack_mask       (d_up ? c_in_mask : NOBODY),
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
                .ack_lift       (1'b0),
                .ack_psn        (own_here - 24'd1),
                .ack_msn        (24'd0)
            );

            wire [GROUPS-1:0] c_one;
            for (e = 0; e < GROUPS; e = e + 1) begin : gen_one
                localparam [GRP_W-1:0] E = e;
                assign c_one[e] = c_group == E;
            end
            assign peeks = wr_en && (grp_whole & c_one) == {GROUPS{1'b0}};

            reg  [IN_W:0]         here_reg, found_reg;
            wire [2*(IN_W+1)-1:0] opens;
            wire [IN_W:0]         open  = k_pipe_b ? opens[IN_W+1 +: IN_W+1] : opens[0 +: IN_W+1];
            // a message that was completed leaves nothing open behind it
            wire [IN_W:0]         keeps = opening ? found_reg : NO_UNIT;

            inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * (IN_W + 1)), .ADDR_W(GRP_W)) u_open (
                .clk(clk), .we(opening || rises || init_take), .waddr(init_take ? init_group : job_group),
                .wdata(init_take ? {2{NO_UNIT}} : k_pipe_b ? {keeps, opens[0 +: IN_W+1]} : {opens[IN_W+1 +: IN_W+1], keeps}),
                .re(look), .raddr(look_group), .rdata(opens));

            // all that has come of it may be all that there is
            wire [OFF_W-1:0] here_bytes = {here_reg, {PLACE_W{1'b0}}};
            wire             may_end    = slot_complete && slot_tag[OFF_W-1:0] == here_bytes;

            always @(posedge clk) begin
                if (commits) begin
                    // behind the message, if all have sent as much as there may be
                    here_reg <= least[23:IN_W] == done_next[23-IN_W:0] ? {1'b0, least[IN_W-1:0]} : {1'b1, {IN_W{1'b0}}};
                end
                if (m_take) begin
                    found_reg <= here_reg == NO_UNIT || !may_end ? here_reg : here_reg - {{IN_W{1'b0}}, 1'b1};
                end
            end

            // at a root it has no place in the broadcast pool before what is done has
            assign ctx_open  = k_root && span >= n_wide ? {OFF_W{1'b0}} : {open, {PLACE_W{1'b0}}};
            assign more_open = found_reg != NO_UNIT && (completes_reg || found_reg != open);

            wire unused_here = &{1'b0, here_init, here_ready, here_picked, here_picked_msn, here_rest_msn, here_own, here_own_msn, here_rest_ep, rest_past};
        end else begin : gen_whole
            assign peeks     = 1'b0;
            assign ctx_open  = {OFF_W{1'b0}};
            assign more_open = 1'b0;
            wire unused_whole = &{1'b0, grp_whole, done_next, completes_reg};
        end
    endgenerate

    // more may be sent than before
    wire notes = (rises && !peeks) || (starting && k_root) || (opening && (rises_reg || more_open));
    assign note_ei   = job_pool_ei;
    assign note_outs = k_outs;

    // ---- acknowledgements, and the send side's jobs ----

    wire syn_any = c_syn_ack || c_syn_rnr || c_syn_nak;
    wire hears   = (c_self & k_outs) != NOBODY && !(c_reduces && k_pipe_b);
    reg  f_spoken, f_deaf, f_unknown, f_stale, go_reg;

    assign snd_ack    = go_reg && k_frame;
    assign snd_act    = go_reg && !k_frame;
    assign snd_ei     = k_frame ? c_ei : act_ei;
    assign snd_self   = k_frame ? c_self : x_self;
    assign snd_psn    = c_wire_psn;
    assign snd_is_ack = c_syn_ack;
    assign snd_is_nak = c_syn_nak && c_ext[25:24] == 2'd0;
    assign snd_is_rnr = c_syn_rnr;
    assign snd_code   = c_ext[28:24];
    assign snd_pipe   = k_pipe_b;
    assign snd_room   = tx_room && !work_held;
    assign ctx_outs   = k_outs;
    assign ctx_limit  = limit;
    assign ctx_wide   = k_wide;

    reg  least_reg;                    // ReceiveACK was asked in the cycle before
    assign ack_rd    = state_reg == S_ACKED;
    assign ack_group = job_group;
    assign ack_self  = c_self;
    assign ack_mask  = k_outs;
    assign ack_pick  = c_self;
    assign ack_we    = starting;
    assign ack_lift  = 1'b0;
    assign ack_psn   = acked_reg - 24'd1;
    assign ack_msn   = c_ext[23:0];

    always @(posedge clk) begin
        go_reg     <= state_reg == S_TURN || (state_reg == S_HEAR && hears && syn_any);
        least_reg  <= state_reg == S_ACKED;
        note_valid <= notes;
        case (state_reg)
            S_IDLE: begin
                passed_reg <= c_passed;
                drops_reg  <= c_drops;
                f_spoken   <= 1'b0;
                f_deaf     <= 1'b0;
                f_unknown  <= 1'b0;
                f_stale    <= 1'b0;
                turn_reg   <= acts || (turn_reg && !decides);
`ifdef INC_PARK
                state_reg  <= begins ? S_INIT : parks ? S_PARK : acts || starts ? S_LOOK : S_IDLE;
`else
                state_reg  <= begins ? S_INIT : acts || starts ? S_LOOK : S_IDLE;
`endif
            end
            S_INIT:  state_reg <= S_IDLE;
            S_LOOK:  state_reg <= !k_frame ? S_TURN : !passed_reg || !d_fine ? S_END : d_data ? S_PLACE : d_ack ? S_HEAR : S_END;
            S_PLACE: state_reg <= S_SLOT;
            S_SLOT:  state_reg <= S_JUDGE;
            S_JUDGE: state_reg <= S_DATA;
            S_DATA:  if (does_data) state_reg <= cnp_next ? S_CNP : peeks ? S_PEEK : notes ? S_NOTE : S_END;
            S_CNP:   if (tx_room) state_reg <= S_END;
            S_HEAR: begin
                f_deaf    <= !hears;
                f_unknown <= hears && !syn_any;
                state_reg <= hears && syn_any ? S_SEND : S_END;
            end
            S_TURN:  state_reg <= S_SEND;
            S_SEND: begin
                if (snd_done) begin
                    f_spoken  <= !snd_stale;
                    f_stale   <= snd_stale;
                    acked_reg <= snd_message;
                    state_reg <= !k_frame ? S_IDLE : snd_moved ? S_ACKED : S_END;
                end
            end
            S_ACKED: state_reg <= S_LEAST;
            S_LEAST: if (ack_ready && !least_reg) state_reg <= S_START;
            S_START: state_reg <= k_root ? S_NOTE : S_END;
            S_NOTE:  if (snd_done) state_reg <= S_END;
            S_PEEK:  if (m_take) state_reg <= S_OPEN;
            S_OPEN:  state_reg <= notes ? S_NOTE : S_END;
            default: state_reg <= S_IDLE;
        endcase
        wipe_reg <= wipe_reg + freed - {23'd0, wipes};
        if (rst) begin
            state_reg  <= S_IDLE;
            turn_reg   <= 1'b0;
            go_reg     <= 1'b0;
            least_reg  <= 1'b0;
            note_valid <= 1'b0;
            wipe_reg   <= 24'd0;
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

    reg           put_reg;
    reg  [IN_W:0] put_adds;            // of the work put last
    wire puts = does_data && has_work;
    wire sends = state_reg == S_SEND;

    always @(posedge clk) begin
        put_reg <= work_put;
        if (puts) begin
            put_adds <= adds_reg;
        end
        if (rst) begin
            put_reg <= 1'b0;
        end
    end

    assign work_put        = puts || snd_work_put;
    assign work_words      = sends ? snd_work_words : c_words;
    assign work_unit       = sends ? snd_work_unit : unit_reg;
    assign work_ep         = c_ei[EP_W-1:0];
    assign work_mask       = sends ? k_in : c_in_mask;
    // the parent's data is nobody's contribution
    assign work_copied     = sends ? k_pipe_b && !k_root : !d_up;
    assign work_read       = sends ? TREE == 0 : adds_reg != {(IN_W+1){1'b0}};
    assign work_take       = !sends;
    assign work_write      = !sends;
    assign work_emit       = TREE == 0 && sends;
    assign work_reduce     = TREE != 0 && sends;
    assign work_function   = k_function;
    assign work_dtype      = k_dtype;
    assign work_big_endian = k_big_endian;
    assign work_commits    = put_reg;
    assign work_kills      = 1'b0;
    assign adds            = put_adds;

    // ---- frames to be made ----

    wire cnp = state_reg == S_CNP || !answers;

    assign tx_valid   = (does_data && (answers || ans_cnp)) || (state_reg == S_CNP && tx_room) || snd_tx_valid;
    assign tx_kind    = {1'b0, sends};
    assign tx_ei      = sends ? snd_ei : c_ei;
    assign tx_mask    = sends ? snd_tx_mask : c_self;
    assign tx_opcode  = sends ? snd_tx_opcode : cnp ? OP_CNP : OP_ACK;
    assign tx_se      = sends && snd_tx_se;
    assign tx_pad     = sends ? snd_tx_pad : 2'd0;
    assign tx_ce      = sends && snd_tx_ce;
    assign tx_psn     = sends ? snd_tx_psn : cnp ? c_wire_psn : is_duplicate ? e_psn - 24'd1 : e_psn;
    assign tx_in_band = sends;
    assign tx_rng     = 2'd0;
    assign tx_dir     = 1'b0;
    assign tx_ext     = sends ? snd_tx_ext : cnp ? 32'd0
                      : {ans_ack ? ACK_PLAIN : ans_rnr ? {3'b001, cfg_rnr_timer} : ans_nak ? NAK_SEQUENCE : NAK_INVALID, msn_next};
    assign tx_plen    = sends ? snd_tx_plen : {LEN_W{1'b0}};
    assign tx_words   = sends ? snd_tx_words : {WORDS_W{1'b0}};
    assign copies_asked     = sends ? snd_tx_ask : NOBODY;

    // ---- the monitor ----

    assign mon_act_valid = c_done || snd_acts;
    assign mon_act_kind  = snd_acts ? snd_kind : 3'd0;
    assign mon_act_ei    = snd_acts ? snd_act_ei : c_ei;

    // ---- counters, a cycle later: exactly one of the drops, or the actions ----

    reg [COUNTERS-1:0] count_reg;
    wire is = ends && passed_reg;

    always @(posedge clk) begin
        count_reg <= {COUNTERS{1'b0}};
        count_reg[C_RX_FRAMES]            <= c_done;
        count_reg[C_BYPASS]               <= quick;
        count_reg[C_WIPE]                 <= wipes;
        count_reg[C_UP_DATA]              <= is && counted && !d_down;
        count_reg[C_DOWN_DATA]            <= is && counted && d_down;
        count_reg[C_AGG]                  <= is && is_taken && d_up;
        count_reg[C_BUFFERED]             <= is && is_taken && d_up && !r_completes;
        count_reg[C_TX_RESULT]            <= is && is_taken && d_up && r_completes;
        count_reg[C_DOWN_TAKEN]           <= is && is_taken && !d_up;
        count_reg[C_RX_ACK]               <= is && f_spoken && c_syn_ack;
        count_reg[C_RX_NAK]               <= is && f_spoken && c_syn_nak;
        count_reg[C_RX_RNR]               <= is && f_spoken && c_syn_rnr;
        count_reg[C_RX_CNP]               <= is && d_fine && d_cnp;
        count_reg[C_RX_CE]                <= is && c_ce;
        count_reg[C_TX_GAP_NAK]           <= is && ans_nak;
        count_reg[C_TX_CNP]               <= is && ans_cnp;
        count_reg[C_TX_ACK]               <= is && ans_ack;
        count_reg[C_TX_RNR]               <= is && ans_rnr;
        count_reg[C_TX_INVALID]           <= is && is_invalid;
        count_reg[C_IMM_MISMATCH]         <= is && is_taken && r_mismatch;
        count_reg[C_DROP_FOREIGN +: 6]    <= drops_reg & {6{ends}};     // and those behind it, to DROP_ICRC
        count_reg[C_DROP_TVER]            <= is && d_bad_tver;
        count_reg[C_DROP_OPCODE]          <= is && d_bad_opcode;
        count_reg[C_DROP_TOO_LONG]        <= is && d_too_long;
        count_reg[C_DROP_WRONG_ROLE]      <= is && d_fine && ((d_data && f_wrong_role) || f_deaf);
        count_reg[C_DROP_SYNDROME]        <= is && f_unknown;
        count_reg[C_DROP_STALE_ACK]       <= is && f_stale;
        count_reg[C_DROP_GAP]             <= is && is_gap;
`ifdef INC_PARK
        count_reg[C_DROP_FULL]            <= is && is_full && !f_parked;
        count_reg[C_DROP_PARKED]          <= is && is_full && f_parked;
`else
        count_reg[C_DROP_FULL]            <= is && is_full;
`endif
        count_reg[C_RX_DUPLICATE]         <= is && is_duplicate;
        count_reg[C_DROP_REFUSED]         <= is && is_refused;
        count_reg[C_DROP_SEQUENCE]        <= is && is_order;
        count_reg[C_DROP_SEGMENT]         <= is && is_segment;
        count_reg[C_DROP_BAD_LENGTH]      <= is && is_partial;
        count_reg[C_DROP_MESSAGE_SIZE]    <= is && is_size;
        count_reg[C_DROP_MESSAGE_LENGTH]  <= is && is_length;
        count_reg[C_TX_RETRANSMIT]        <= snd_acts && snd_kind == 3'd2 && snd_again;
        count_reg[C_TIMEOUT]              <= snd_acts && snd_kind == 3'd3;
        if (rst) begin
            count_reg <= {COUNTERS{1'b0}};
        end
    end
    assign count = count_reg;

    wire unused_bits = &{1'b0, frm_waits, c_ext, c_opcode, tbl_index, tbl_data, slot_tag, slot_opcode, slot_plen, slot_pad, ack_picked, ack_picked_msn,
                         ack_rest_msn, ack_rest_ep, ack_own, ack_own_msn, least_past, f_off, f_index, f_round, head_at, head_round, steps, rounded, added, next_unit, first_unit};

endmodule

`default_nettype wire
