// SPDX-License-Identifier: Apache-2.0
//
// inc_check_duplicate: decides what every frame does, and is the only place where state changes because of a frame.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries
//   steps       A looks up (1 cycle), B compares and says what the frame does (2), C forms what it sends and waits for the verdict;
//               with IN_BAND, M before A asks Control where the frame belongs (2 cycles, 1 for a frame of a fixed group). A frame goes on
//               when the next step is free or becomes so
//   latency     an entry in cycle 0 is decided in cycle 5 at the earliest, with IN_BAND in 6, of an in-band group in 7; in the cycle of its
//               verdict if that is later. The work on the payload is offered in the cycle before that decision at the latest, as
//               speculative. A gap's NAK takes 1 cycle more, data of a Reduce's range before the current one too; an acknowledgement of a
//               Broadcast, which wants the minimum of all, is decided 3 cycles after ack_ready, data of a Broadcast's range before the
//               current one 2 after it; a control that opens a range is decided 7 cycles after ctl_busy is low
//   throughput  a frame in 2 cycles, a bypassed one in 1, an acknowledgement of a Broadcast in 3 more than ack_rd to ack_ready
//   speculation B takes a frame in C as committed: the state that it will write goes to the next frame of the same endpoint, slot or group
//               at once. If it is not committed, the frame in B is looked at again, which takes 2 cycles
//   commit      in the cycle of the verdict: state is written, tx_* pushed, or nothing of it, and work already taken gets op_kill; counters
//               step in the cycle after it
//   stall       waits while tx_room is low and needed, and with work of its own while that of the frame before has not been taken
//   payload     op_slot is the unit base + index of the slot, with 16-bit elements base + 2 * index. In place op_read adds to what lies
//               there, or sends it again, and op_emit sends. In a tree op_pair is the pair of the endpoint, op_read says that the other
//               of the pair has contributed, and op_reduce instead of op_emit that op_pairs, those with a contribution, make the
//               result; only down data is still op_emit
//   slots       recycled by the first contribution of another PSN, or to a slot without a contribution: it overwrites what lies there
//   state       per endpoint {ePSN, msn, nakSent}, per group `done`; set by init_* while no frame is being written;
//               a frame that was looked at before its group was live is dropped, however late its verdict; a group that dies in the cycle
//               of a decision is still alive for it
//   in-band     with IN_BAND: ctl_rd asks Control where the frame belongs, map_* two cycles later; a control that may open a range keeps
//               younger frames out until it is decided. If it is good it is ctl_open, and looked at again, from ctl_rd on, when ctl_busy
//               is low; tx_psn is then a group's PSN
//   reset       empty
//   not done    payload, copies, headers, offsets, and who acknowledged what: it says what is to be done with them
`default_nettype none

module inc_check_duplicate #(
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
    // contract: parameter 2
    parameter COUNTERS = 46
    // contract: end
) (
    input  wire                clk,
    input  wire                rst,

    input  wire                cfg_gap_nak,
    input  wire [GROUPS-1:0]   grp_live,

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

    // in-band groups: the frame's range, from Control; its endpoint with ctl_rd, all that Control asks about it from the next cycle on
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

    // what was acknowledged, from ReceiveACK; the group with ack_rd, the masks from the next cycle on
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

    // endpoint state at the start of a group
    input  wire                init_valid,
    output wire                init_take,
    input  wire [EI_W-1:0]     init_ei,
    input  wire [23:0]         init_psn,

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

    // one bit a counter, high for one cycle a step, the cycle behind the decision
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam LANE_W = $clog2(BYTES);

    // positions in `count`
    // contract: counters 2
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_TX_FANOUT = 7,
               C_TX_RESEND = 8, C_DOWN_DATA = 9, C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14,
               C_TX_REFLECT = 15, C_TX_GAP_NAK = 16, C_TX_CNP = 17, C_TX_FRAMES = 18, C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20,
               C_DROP_GROUP_DISABLED = 21, C_DROP_RX_ERROR = 22, C_DROP_IP_CHECKSUM = 23, C_DROP_LENGTH_MISMATCH = 24, C_DROP_ICRC = 25,
               C_DROP_TVER = 26, C_DROP_OPCODE = 27, C_DROP_TOO_LONG = 28, C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30,
               C_DROP_SYNDROME = 31, C_DROP_GAP = 32, C_DROP_STALE = 33, C_DROP_WINDOW = 34, C_DROP_SHAPE = 35, C_ECC_CORRECTED = 36,
               C_ECC_DOUBLE = 37, C_RANGE_OPEN = 38, C_TX_ACK_COPY = 39, C_TX_ACK_UP = 40, C_TX_REACK = 41, C_DROP_RANGE = 42,
               C_DROP_BAD_CONTROL = 43, C_DROP_CONTROL = 44, C_DROP_STALE_ACK = 45, C_COUNT = 46;
    // contract: end

`ifndef __ICARUS__
    generate
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
            $error("inc_check_duplicate: COUNTERS must be the number of the mode's counters");
        end
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_duplicate: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_check_duplicate: MASK_W must be at most 2**EP_W");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1 || IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_tree
            $error("inc_check_duplicate: TREE, HALVES and IN_BAND must be 0 or 1");
        end
        if (PLANES < 1 || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES)) || (TREE == 0 && PLANES != 1)
            || (TREE == 1 && (2 * PLANES + 1 < MASK_W || (PLANES > 1 && 2 * PLANES > MASK_W + 1)))) begin : gen_bad_planes
            $error("inc_check_duplicate: PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them");
        end
        if (SLOT_W < 1 || SLOT_W > 23) begin : gen_bad_slot
            $error("inc_check_duplicate: SLOT_W must be 1 to 23");
        end
        if ((1 << LANE_W) != BYTES || LEN_W < LANE_W) begin : gen_bad_bytes
            $error("inc_check_duplicate: BYTES must be a power of two of at most LEN_W bits");
        end
    endgenerate
`endif

    localparam [7:0] OP_ACK = 8'h11;
    localparam [7:0] NAK_SEQUENCE = 8'h60, ACK_PLAIN = 8'h1F;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    // what goes with a frame from step to step: its header, and what its group computes there
    localparam FRAME_W = EI_W + LEN_W + WORDS_W + 76;
    localparam VIEW_W  = 117 + 4 * MASK_W;
    localparam EP_BITS = 49;                                      // nakSent, msn, ePSN
    localparam SLOT_BITS = 24 + MASK_W + 1 + 8 + LEN_W + 2 + 1 + 32 + 1;

    wire [EI_W-1:0]  a_ei, b_ei;
    reg  [EI_W-1:0]  c_ei;
    wire [GRP_W-1:0] a_group, b_group, c_group, init_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign a_group    = a_ei[EI_W-1:EP_W];
            assign b_group    = b_ei[EI_W-1:EP_W];
            assign c_group    = c_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {a_group, b_group, c_group, init_group} = 4'd0;
        end
    endgenerate
    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};

    // ---- the frame that is offered to A ----

    wire               s_valid;
    wire               s_go;
    wire               s_live;         // its group was live since it was looked up first
    wire               s_opener;       // may open a range: younger frames wait until it is decided
    wire [FRAME_W-1:0] s_frame;
    wire [VIEW_W-1:0]  s_view;
    wire               s_ranged;       // of what goes into s_view, what says where the slot is
    wire [23:0]        s_psn;
    wire [1:0]         s_dtype;
    wire [SLOT_W-1:0]  s_base;
    wire [4:0]         s_log2_n;
    wire               m_valid;
    wire               c_opening, c_done;
    reg                c_opener;
    wire [EI_W-1:0]    s_ei;
    wire [7:0]         s_opcode;
    wire [31:0]        s_ext;
    wire               s_up, s_reduces, s_spreads;
    wire [MASK_W-1:0]  s_parent_mask;

    inc_frame_entry #(.LEN_W(LEN_W), .WORDS_W(WORDS_W), .EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .SLOT_W(SLOT_W), .GROUPS(GROUPS),
                      .IN_BAND(IN_BAND)) u_entry (
        .clk(clk), .rst(rst), .grp_live(grp_live),
        .ent_valid(ent_valid), .ent_pop(ent_pop), .ent_bypass(ent_bypass), .ent_foreign(ent_foreign), .ent_ei(ent_ei), .ent_host(ent_host),
        .ent_up(ent_up), .ent_down(ent_down), .ent_ackable(ent_ackable), .ent_sum_ok(ent_sum_ok), .ent_len_ok(ent_len_ok),
        .ent_tver_ok(ent_tver_ok), .ent_too_long(ent_too_long), .ent_whole(ent_whole), .ent_empty(ent_empty), .ent_opcode(ent_opcode),
        .ent_se(ent_se), .ent_pad(ent_pad), .ent_ce(ent_ce), .ent_psn(ent_psn), .ent_ext(ent_ext), .ent_plen(ent_plen),
        .ent_words(ent_words), .ent_base(ent_base), .ent_log2_n(ent_log2_n), .ent_in_mask(ent_in_mask), .ent_out_mask(ent_out_mask),
        .ent_ack_mask(ent_ack_mask), .ent_parent_mask(ent_parent_mask), .ent_collective(ent_collective), .ent_function(ent_function),
        .ent_dtype(ent_dtype), .ent_big_endian(ent_big_endian), .ent_in_band(ent_in_band), .ent_route_valid(ent_route_valid),
        .ent_route_mask(ent_route_mask), .ent_root_sends(ent_root_sends),
        .ctl_rd(ctl_rd), .ctl_ei(ctl_ei), .ask_ei(ask_ei), .ask_psn(ask_psn), .ask_opcode(ask_opcode), .ask_empty(ask_empty),
        .ask_ext(ask_ext), .ask_in_mask(ask_in_mask), .ask_out_mask(ask_out_mask), .ask_ack_mask(ask_ack_mask),
        .ask_parent_mask(ask_parent_mask), .ask_route_valid(ask_route_valid), .ask_route_mask(ask_route_mask),
        .ask_root_sends(ask_root_sends), .ctl_busy(ctl_busy),
        .map_current(map_current), .map_previous(map_previous), .map_opens(map_opens), .map_opens_up(map_opens_up),
        .map_bad_control(map_bad_control), .map_wrong_role(map_wrong_role), .map_contradicts(map_contradicts), .map_base(map_base),
        .map_psn(map_psn), .map_rng(map_rng), .map_begin(map_begin), .map_end(map_end), .map_up(map_up), .map_down(map_down),
        .map_ackable_any(map_ackable_any), .map_needs_host(map_needs_host), .map_collective(map_collective), .map_function(map_function),
        .map_dtype(map_dtype), .map_in_mask(map_in_mask), .map_out_mask(map_out_mask), .map_ack_mask(map_ack_mask),
        .map_parent_mask(map_parent_mask),
        .waits(m_valid), .valid(s_valid), .go(s_go), .live(s_live), .may_open(s_opener), .ei(s_ei), .frame(s_frame), .view(s_view),
        .opcode(s_opcode), .ext(s_ext), .up(s_up), .reduces(s_reduces), .spreads(s_spreads), .parent_mask(s_parent_mask),
        .ranged(s_ranged), .psn(s_psn), .dtype(s_dtype), .base(s_base), .log2_n(s_log2_n),
        .opener(c_opener), .opening(c_opening), .done(c_done)
    );

    // ---- where its slot is ----

    // N - 1, of log2 N
    wire [SLOT_W-1:0] s_last;
    genvar e;
    generate
        for (e = 0; e < SLOT_W; e = e + 1) begin : gen_last
            localparam [5:0] E = e;
            assign s_last[e] = {1'b0, s_log2_n} > E;
        end
    endgenerate

    // payload of 16-bit elements is kept as FP32, in two units a slot; the ranges of an in-band group may be of such
    wire              s_wide  = HALVES != 0 && (s_ranged || s_dtype[1] != s_dtype[0]);
    wire [SLOT_W-1:0] s_index = s_psn[SLOT_W-1:0] & s_last;
    wire [SLOT_W-1:0] s_slot  = s_base + s_index;
    wire [SLOT_W:0]   s_unit  = {1'b0, s_base} + (s_wide ? {s_index, 1'b0} : {1'b0, s_index});

    // ---- A: the tables are read ----

    reg               a_valid, a_live, a_opener;
    reg [FRAME_W-1:0] a_frame;
    reg [VIEW_W-1:0]  a_view;
    reg [4:0]         a_log2_n;
    reg [SLOT_W-1:0]  a_slot, a_unit;

    wire              a_bypass, a_foreign, a_host, a_sum_ok, a_len_ok, a_tver_ok, a_too_long, a_se, a_ce, a_big_endian;
    wire [7:0]        a_opcode;
    wire [1:0]        a_pad;
    wire [23:0]       a_wire_psn;
    wire [31:0]       a_ext;
    wire [LEN_W-1:0]  a_plen;
    wire [WORDS_W-1:0] a_words;
    assign {a_bypass, a_foreign, a_ei, a_host, a_sum_ok, a_len_ok, a_tver_ok, a_too_long, a_opcode, a_se, a_pad, a_ce, a_wire_psn, a_ext,
            a_plen, a_words, a_big_endian} = a_frame;

    wire              a_ranged, a_opened;
    wire [1:0]        a_rng, a_dtype, a_function;
    wire [23:0]       a_psn, a_begin, a_end, a_range_base;
    wire [6:0]        a_places;
    wire [3:0]        a_roles;
    wire              a_reduces, a_spreads;
    wire [4*MASK_W-1:0] a_masks;
    assign {a_ranged, a_opened, a_rng, a_psn, a_begin, a_end, a_range_base, a_places, a_roles, a_reduces, a_spreads, a_function, a_dtype,
            a_masks} = a_view;

    // N / 2 = MW, of log2 N
    wire [23:0]       a_half;
    wire [MASK_W-1:0] a_self;
    generate
        for (e = 0; e < 24; e = e + 1) begin : gen_half
            localparam [5:0] E = e;
            assign a_half[e] = {1'b0, a_log2_n} == E + 6'd1;
        end
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign a_self[e] = a_ei[EP_W-1:0] == E;
        end
    endgenerate

    wire b_free;
    wire a_go   = a_valid && b_free;
    wire a_free = !a_valid || a_go;
    assign s_go = s_valid && a_free;

    always @(posedge clk) begin
        a_valid  <= s_go || (a_valid && !a_go);
        a_live   <= s_go ? s_live : a_live && live_wide[{1'b0, a_group}];
        if (s_go) begin
            a_opener <= s_opener;
            a_frame  <= s_frame;
            a_view   <= s_view;
            a_slot   <= s_slot;
            a_unit   <= s_unit[SLOT_W-1:0];
            a_log2_n <= s_log2_n;
        end
        if (rst) begin
            a_valid <= 1'b0;
        end
    end

    assign rd_en   = a_go && !a_bypass;
    assign rd_slot = a_slot;

    // ---- state: of endpoints, and the highest complete PSN of groups ----

    wire                 ep_we, done_we;
    wire [EP_BITS-1:0]   ram_ep;
    wire [23:0]          ram_done;
    wire [SLOT_BITS-1:0] ram_slot = {slot_ce, slot_ext, slot_se, slot_pad, slot_plen, slot_opcode, slot_complete, slot_mask, slot_tag};
    // as C will write it
    reg  [EP_BITS-1:0]   n_ep;
    reg  [23:0]          n_done;
    reg  [SLOT_BITS-1:0] n_slot;

    assign init_take = init_valid && !ep_we && !done_we;

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(EP_BITS), .ADDR_W(EI_W)) u_endpoints (
        .clk   (clk),
        .we    (ep_we || init_take),
        .waddr (ep_we ? c_ei : init_ei),
        .wdata (ep_we ? n_ep : {1'b0, 24'd0, init_psn}),
        .re    (rd_en),
        .raddr (a_ei),
        .rdata (ram_ep)
    );
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_done (
        .clk   (clk),
        .we    (done_we || init_take),
        .waddr (done_we ? c_group : init_group),
        .wdata (done_we ? n_done : init_psn - 24'd1),
        .re    (rd_en),
        .raddr (a_group),
        .rdata (ram_done)
    );

    // ---- B: first the facts, then what the frame does ----

    reg               b_valid, b_second, b_live, b_opener;
    reg [FRAME_W-1:0] b_frame;
    reg [VIEW_W-1:0]  b_view;
    reg [SLOT_W-1:0]  b_slot, b_unit;
    reg [MASK_W-1:0]  b_self;
    reg [23:0]        b_psn_next;      // on the wire
    reg [23:0]        b_psn_before, b_range_before;
    reg [23:0]        b_past_half;     // PSN less MW
    reg               b_data, b_ends, b_has_imm, b_ack, b_cnp, b_syn_ack, b_syn_rnr, b_syn_nak;
    reg               b_fine;          // nothing wrong with the header so far
    reg               b_bad_tver, b_bad_opcode, b_too_long;

    wire              b_bypass, b_foreign, b_host, b_sum_ok, b_len_ok, b_tver_ok, b_over_mtu, b_se, b_ce, b_big_endian;
    wire [7:0]        b_opcode;
    wire [1:0]        b_pad;
    wire [23:0]       b_wire_psn;
    wire [31:0]       b_ext;
    wire [LEN_W-1:0]  b_plen;
    wire [WORDS_W-1:0] b_words;
    assign {b_bypass, b_foreign, b_ei, b_host, b_sum_ok, b_len_ok, b_tver_ok, b_over_mtu, b_opcode, b_se, b_pad, b_ce, b_wire_psn, b_ext,
            b_plen, b_words, b_big_endian} = b_frame;

    wire              b_ranged, b_opened, b_in_range, b_previous, b_opens, b_opens_up, b_bad_control, b_wrong_role, b_contradicts;
    wire              b_up, b_down, b_ackable, b_whole, b_reduces, b_spreads;
    wire [1:0]        b_rng, b_function, b_dtype;
    wire [23:0]       b_psn, b_begin, b_end, b_range_base;
    wire [MASK_W-1:0] b_in_mask, b_out_mask, b_ack_mask, b_parent_mask;
    assign {b_ranged, b_opened, b_rng, b_psn, b_begin, b_end, b_range_base, b_in_range, b_previous, b_opens, b_opens_up, b_bad_control,
            b_wrong_role, b_contradicts, b_up, b_down, b_ackable, b_whole, b_reduces, b_spreads, b_function, b_dtype,
            b_in_mask, b_out_mask, b_ack_mask, b_parent_mask} = b_view;

    wire c_free, c_leaves, redo;
    wire b_go  = b_valid && (b_second || b_bypass) && c_free && !redo;
    assign b_free = !b_valid || b_go;

    // who writes what A reads: the frame that will be in C, or the one that leaves it
    reg  [SLOT_W-1:0] c_slot;
    reg               c_valid;
    wire              c_stays = c_valid && !c_leaves;
    wire              a_data, a_ends, a_has_imm, a_ack, a_cnp, a_syn_ack, a_syn_rnr, a_syn_nak;

    inc_frame_class u_class (
        .opcode   (a_opcode),
        .syndrome (a_ext[31:24]),
        .is_data  (a_data),
        .is_end   (a_ends),
        .has_imm  (a_has_imm),
        .is_ack   (a_ack),
        .is_cnp   (a_cnp),
        .syn_ack  (a_syn_ack),
        .syn_rnr  (a_syn_rnr),
        .syn_nak  (a_syn_nak)
    );

    always @(posedge clk) begin
        b_valid  <= a_go || (b_valid && !b_go);
        b_second <= !a_go && !redo;
        b_live   <= (a_go ? a_live : b_live) && live_wide[{1'b0, a_go ? a_group : b_group}];
        if (a_go) begin
            b_opener       <= a_opener;
            b_frame        <= a_frame;
            b_view         <= a_view;
            b_slot         <= a_slot;
            b_unit         <= a_unit;
            b_self         <= a_self;
            b_psn_next     <= a_wire_psn + 24'd1;
            b_psn_before   <= a_psn - 24'd1;
            b_range_before <= a_begin - 24'd1;
            b_past_half    <= a_psn - a_half;
            b_data         <= a_data;
            b_ack          <= a_ack;
            b_cnp          <= a_cnp;
            b_syn_ack      <= a_syn_ack;
            b_syn_rnr      <= a_syn_rnr;
            b_syn_nak      <= a_syn_nak;
            b_ends         <= a_ends;
            b_has_imm      <= a_has_imm;
            b_fine         <= !a_bypass && !a_foreign && a_sum_ok && a_len_ok && a_tver_ok && (a_data || a_ack || a_cnp) && !a_too_long;
            b_bad_tver     <= !a_tver_ok;
            b_bad_opcode   <= a_tver_ok && !(a_data || a_ack || a_cnp);
            b_too_long     <= a_tver_ok && (a_data || a_ack || a_cnp) && a_too_long;
        end
        if (rst) begin
            b_valid <= 1'b0;
        end
    end

    reg                  c_ep_we, c_done_we, c_wr, c_opened;
    wire                 take_ep, take_done, take_slot;
    wire [EP_BITS-1:0]   b_ep_word;
    wire [23:0]          b_done_psn;
    wire [SLOT_BITS-1:0] b_slot_word;

    inc_look_ahead #(.BITS(EP_BITS)) u_ep_ahead (
        .clk(clk), .read(a_go), .follows(b_valid ? b_ei == a_ei : c_stays && c_ei == a_ei), .written(ep_we && c_ei == a_ei), .redo(redo),
        .ram(ram_ep), .writes(c_ep_we), .next(n_ep), .takes(take_ep), .word(b_ep_word));
    inc_look_ahead #(.BITS(24)) u_done_ahead (
        .clk(clk), .read(a_go), .follows(b_valid ? b_group == a_group : c_stays && c_group == a_group),
        .written(done_we && c_group == a_group), .redo(redo),
        .ram(ram_done), .writes(c_done_we || c_opened), .next(n_done), .takes(take_done), .word(b_done_psn));
    inc_look_ahead #(.BITS(SLOT_BITS)) u_slot_ahead (
        .clk(clk), .read(a_go), .follows(b_valid ? b_slot == a_slot : c_stays && c_slot == a_slot), .written(wr_en && c_slot == a_slot),
        .redo(redo), .ram(ram_slot), .writes(c_wr), .next(n_slot), .takes(take_slot), .word(b_slot_word));
    wire                 b_nak_sent;
    wire [23:0]          b_msn, b_epsn;
    assign {b_nak_sent, b_msn, b_epsn} = b_ep_word;

    wire              b_slot_ce, b_slot_se, b_complete;
    wire [31:0]       b_slot_ext;
    wire [1:0]        b_slot_pad;
    wire [LEN_W-1:0]  b_slot_plen;
    wire [7:0]        b_slot_opcode;
    wire [MASK_W-1:0] b_mask;
    wire [23:0]       b_tag;
    assign {b_slot_ce, b_slot_ext, b_slot_se, b_slot_pad, b_slot_plen, b_slot_opcode, b_complete, b_mask, b_tag} = b_slot_word;

    // the other endpoint of its pair
    wire [MASK_W-1:0] b_sibling;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_sibling
            if ((e ^ 1) < MASK_W) begin : gen_two
                assign b_sibling[e] = b_self[e ^ 1];
            end else begin : gen_single
                assign b_sibling[e] = 1'b0;
            end
        end
    endgenerate

    wire [23:0] distance = b_wire_psn - b_epsn;
    wire [23:0] beyond   = b_psn - b_done_psn;
    wire [23:0] overrun  = b_past_half - b_done_psn;
    wire [23:0] opened_past = b_range_before - b_done_psn;
    wire        tag_ok   = b_tag == b_psn;

    reg              f_in_order, f_behind, f_done_past, f_open_past, f_window, f_at_base, f_at_begin;
    reg              f_nak_sent, f_tag_ok, f_first, f_same, f_same_imm, f_complete, f_full_first, f_full_more, f_paired;
    reg [23:0]       f_epsn, f_msn, f_done;
    reg              f_slot_ce, f_slot_se;
    reg [31:0]       f_slot_ext;
    reg [1:0]        f_slot_pad;
    reg [LEN_W-1:0]  f_slot_plen;
    reg [7:0]        f_slot_opcode;
    reg [MASK_W-1:0] f_mask;

    always @(posedge clk) begin
        if (!b_second) begin
            f_in_order    <= b_wire_psn == b_epsn;
            f_behind      <= distance[23];
            f_at_base     <= b_epsn == b_range_base;
            f_at_begin    <= b_psn == b_begin;
            // done is at or behind the PSN, or the one before the range
            f_done_past   <= beyond[23];
            f_open_past   <= opened_past[23];
            // no further than MW behind `done`; a control is one slot behind the range that it has just opened
            f_window      <= b_opened || beyond[23] || overrun[23] || b_past_half == b_done_psn;
            f_nak_sent    <= b_nak_sent;
            f_epsn        <= b_epsn;
            f_msn         <= b_msn;
            f_done        <= b_done_psn;
            f_tag_ok      <= tag_ok;
            f_first       <= !tag_ok || b_mask == NOBODY;
            f_same        <= b_slot_opcode == b_opcode && b_slot_plen == b_plen && b_slot_pad == b_pad;
            f_same_imm    <= b_slot_se == b_se && (b_slot_ext == b_ext || !b_has_imm);
            f_complete    <= b_complete;
            f_full_first  <= (b_self & b_in_mask) == b_in_mask;
            f_full_more   <= ((b_mask | b_self) & b_in_mask) == b_in_mask;
            f_paired      <= (b_mask & b_sibling) != NOBODY;
            f_mask        <= b_mask;
            f_slot_ce     <= b_slot_ce;
            f_slot_ext    <= b_slot_ext;
            f_slot_se     <= b_slot_se;
            f_slot_pad    <= b_slot_pad;
            f_slot_plen   <= b_slot_plen;
            f_slot_opcode <= b_slot_opcode;
        end
    end

    // in-band: data of no range, which is a control that opens one, a bad control, or astray; data that is not what its range has there
    wire syn_any     = b_syn_ack || b_syn_rnr || b_syn_nak;
    wire outside     = b_data && !b_in_range;
    wire opens       = outside && b_opens && (f_in_order || !b_opens_up);
    wire bad_control = outside && b_bad_control;
    wire astray      = outside && !opens && !b_bad_control && !b_wrong_role;
    wire contradicts = b_data && b_in_range && b_contradicts;
    wire stale_ack   = b_ack && !b_in_range;
    wire placed      = !astray && !bad_control && !contradicts && !stale_ack;
    wire role_ok     = !b_data ? b_ackable : outside ? !b_wrong_role : b_up || b_down;

    // The first reason that holds drops the frame. A frame is sound for what is known from its header alone; whether its group lives and
    // how it ends is seen when it is decided.
    wire sound       = b_fine && placed && (!b_data || b_whole) && role_ok && (!b_ack || syn_any);

    wire up          = sound && b_data && b_in_range && b_up;
    wire down        = sound && b_data && b_in_range && !b_up;
    wire ahead       = !f_in_order && !f_behind;
    wire accept      = up && f_in_order && f_window && (f_first || f_same);
    wire resend      = up && f_behind && f_tag_ok && f_complete;
    wire full        = f_first ? f_full_first : f_full_more;
    wire completes   = accept && full;
    wire asks_nak    = ahead && cfg_gap_nak && b_host && !f_nak_sent;
    wire gap_nak     = up && asks_nak;
    // its control was lost
    wire base_nak    = b_fine && astray && asks_nak && f_at_base;
    wire nak         = gap_nak || base_nak;

    // down data of an in-band group that is not behind; that of a Broadcast takes its slot
    wire moves       = b_ranged && down && !f_behind;
    wire takes       = moves && b_spreads;
    // data of the range before, which may be answered with an acknowledgement alone
    wire late        = sound && b_ranged && b_previous && b_data;
    wire answers     = sound && !b_data;
    // a switch that sends a NAK of a range's first PSN speaks for that range alone
    wire speaks      = !b_ranged || b_syn_ack || !f_at_begin;

    // where a result, a copy, or an answer goes
    wire              has_parent  = b_parent_mask != NOBODY;
    wire [MASK_W-1:0] result_mask = has_parent ? b_parent_mask : b_out_mask;
    wire [MASK_W-1:0] resend_mask = has_parent ? b_parent_mask : b_self;
    wire [MASK_W-1:0] answer_mask = b_reduces ? b_in_mask : b_spreads ? b_parent_mask : b_self;

    wire [LEN_W:0]     slot_bytes = {1'b0, f_slot_plen} + (BYTES[LEN_W:0] - {{LEN_W{1'b0}}, 1'b1});

    // ---- C: what it sends, and the verdict ----

    reg               c_live, c_second, c_formed, c_sent;
    reg               c_bypass, c_foreign, c_sum_ok, c_len_ok, c_se, c_ce, c_big_endian;
    reg [7:0]         c_opcode;
    reg [1:0]         c_pad, c_rng, c_function, c_dtype;
    reg [23:0]        c_wire_psn, c_psn, c_begin, c_end, c_range_base, c_range_before, c_ack_psn;
    reg [31:0]        c_ext;
    reg [LEN_W-1:0]   c_plen;
    reg [WORDS_W-1:0] c_words, c_slot_words;
    reg [SLOT_W-1:0]  c_unit;
    reg [MASK_W-1:0]  c_self, c_ack_mask, c_parent_mask, c_dest;
    reg               c_ranged, c_reduces, c_spreads, c_has_parent;
    reg               c_acts, c_ack, c_cnp, c_syn_ack, c_syn_rnr, c_syn_nak, c_opens, c_up, c_down, c_ahead, c_behind, c_window, c_accept, c_first, c_same_imm;
    reg               c_resend, c_completes, c_gap_nak, c_base_nak, c_late, c_keeps, c_builds;
    reg               c_need_min, c_need_rest, c_need_pick;
    reg               c_bad_tver, c_bad_opcode, c_too_long, c_astray, c_bad_control, c_contradicts, c_stale_ack, c_not_whole, c_wrong_role;
    reg               c_bad_syndrome, c_n_complete, c_n_ce, c_n_se;
    reg [31:0]        c_n_ext;
    reg [1:0]         c_n_pad;
    reg [LEN_W-1:0]   c_n_plen;
    reg [7:0]         c_n_opcode;
    reg [MASK_W-1:0]  c_n_mask;
    reg [23:0]        c_msn;           // before this frame

    always @* begin
        n_slot = {c_n_ce && c_accept, c_n_ext, c_n_se, c_n_pad, c_n_plen, c_n_opcode, c_n_complete, c_n_mask, c_psn};
    end

    assign c_leaves = c_done || c_opening;
    assign c_free   = !c_valid || c_leaves;

    always @(posedge clk) begin
        c_valid  <= b_go || (c_valid && !c_leaves);
        c_second <= !b_go;
        c_live   <= (b_go ? b_live : c_live) && live_wide[{1'b0, b_go ? b_group : c_group}];
        if (b_go) begin
            c_opener       <= b_opener;
            c_bypass       <= b_bypass;
            c_foreign      <= b_foreign;
            c_ei           <= b_ei;
            c_sum_ok       <= b_sum_ok;
            c_len_ok       <= b_len_ok;
            c_opcode       <= b_opcode;
            c_se           <= b_se;
            c_pad          <= b_pad;
            c_ce           <= b_ce;
            c_wire_psn     <= b_wire_psn;
            c_ext          <= b_ext;
            c_plen         <= b_plen;
            c_words        <= b_words;
            c_big_endian   <= b_big_endian;
            c_ranged       <= b_ranged;
            c_opened       <= b_opened;
            c_rng          <= b_rng;
            c_psn          <= b_psn;
            c_begin        <= b_begin;
            c_end          <= b_end;
            c_range_base   <= b_range_base;
            c_range_before <= b_range_before;
            c_reduces      <= b_reduces;
            c_spreads      <= b_spreads;
            c_function     <= b_function;
            c_dtype        <= b_dtype;
            c_ack_mask     <= b_ack_mask;
            c_parent_mask  <= b_parent_mask;
            c_has_parent   <= has_parent;
            c_slot         <= b_slot;
            c_unit         <= b_unit;
            c_self         <= b_self;

            c_acts         <= sound || base_nak;
            c_ack          <= sound && b_ack;
            c_cnp          <= sound && b_cnp;
            c_syn_ack      <= b_syn_ack;
            c_syn_rnr      <= b_syn_rnr;
            c_syn_nak      <= b_syn_nak;
            c_opens        <= sound && opens;
            c_up           <= up;
            c_down         <= down;
            c_ahead        <= ahead;
            c_behind       <= f_behind;
            c_window       <= f_window;
            c_accept       <= accept;
            c_first        <= f_first;
            c_same_imm     <= f_same_imm;
            c_resend       <= resend;
            c_completes    <= completes;
            c_gap_nak      <= gap_nak;
            c_base_nak     <= base_nak;
            c_late         <= late;
            c_keeps        <= sound && b_ack && speaks;
            c_builds       <= !f_first && (TREE == 0 || f_paired);
            c_dest         <= completes ? result_mask : resend ? resend_mask : down ? b_out_mask : answers ? answer_mask : b_self;
            c_need_min     <= answers && b_ack && b_spreads;
            c_need_rest    <= late && b_spreads;
            c_need_pick    <= gap_nak || (late && b_reduces);
            // what an acknowledgement says, or that all are through with what came before the range that ends
            c_ack_psn      <= b_data ? b_range_before : b_syn_ack ? b_psn : b_psn_before;

            c_bad_tver     <= b_bad_tver;
            c_bad_opcode   <= b_bad_opcode;
            c_too_long     <= b_too_long;
            c_astray       <= b_fine && astray;
            c_bad_control  <= b_fine && bad_control;
            c_contradicts  <= b_fine && contradicts;
            c_stale_ack    <= b_fine && stale_ack;
            c_not_whole    <= b_fine && placed && b_data && !b_whole;
            c_wrong_role   <= b_fine && placed && (!b_data || b_whole) && !role_ok;
            c_bad_syndrome <= b_fine && placed && (!b_data || b_whole) && role_ok && b_ack && !syn_any;

            // the slot as it stands after this contribution; a resend has it as it stands
            c_n_mask       <= takes ? NOBODY : f_first ? b_self : f_behind ? f_mask : f_mask | b_self;
            c_n_complete   <= accept && full;
            c_n_opcode     <= f_first ? b_opcode : f_slot_opcode;
            c_n_plen       <= f_first ? b_plen : f_slot_plen;
            c_n_pad        <= f_first ? b_pad : f_slot_pad;
            c_n_se         <= f_first ? b_se : f_slot_se;
            c_n_ext        <= f_first ? b_ext : f_slot_ext;
            c_n_ce         <= f_first ? b_ce : f_slot_ce || (b_ce && !f_behind);
            c_slot_words   <= slot_bytes[LANE_W +: WORDS_W];
            c_wr           <= accept || takes;

            // ePSN moves on acceptance, and in-band with what the parent sends
            c_msn          <= f_msn;
            c_ep_we        <= accept || nak || moves;
            n_ep           <= {!(accept || moves) && (nak || f_nak_sent), accept && b_ends ? f_msn + 24'd1 : f_msn,
                               accept || moves ? b_psn_next : f_epsn};
            // done: what is complete; in-band what a Broadcast's parent has sent, and everything before the range that was opened last
            c_done_we      <= completes || takes;
            n_done         <= completes || takes ? (f_done_past ? f_done : b_psn) : (f_open_past ? f_done : b_range_before);
        end
        if (rst) begin
            c_valid <= 1'b0;
        end
    end

    // ---- what was acknowledged ----

    assign ack_rd    = b_go && !b_bypass;
    assign ack_group = b_group;
    assign ack_self  = c_self;
    assign ack_mask  = c_ack_mask;
    // an answer to data is about what its receiver has: the endpoint itself, in a Reduce the parent; a Broadcast's about what all have
    assign ack_pick  = c_reduces ? c_parent_mask : c_self;
    assign ack_psn   = c_ack_psn;
    assign ack_msn   = c_ext[23:0];

    // data of the range before that everybody has: its ACKs would be of another range; a gap's NAK asks for what follows the
    // acknowledged, in-band for nothing before the range
    wire [23:0] picked_past = ack_picked - c_end;
    wire [23:0] rest_past   = ack_rest - c_end;
    wire [23:0] gap_low     = ack_picked - c_begin;
    reg  [23:0] gap_psn_reg, picked_msn_reg, rest_msn_reg;
    reg         parent_has_reg, all_have_reg, rest_ready_reg;

    always @(posedge clk) begin
        gap_psn_reg    <= c_ranged && gap_low[23] ? c_begin : ack_picked + 24'd1;
        picked_msn_reg <= ack_picked_msn;
        parent_has_reg <= !picked_past[23];
        rest_msn_reg   <= ack_rest_msn;
        all_have_reg   <= ack_rest_any && !rest_past[23];
        rest_ready_reg <= ack_ready && !ack_rd;
    end

    wire        least_ready, rose, covered;
    wire [23:0] least, least_msn;

    inc_least_ack #(.EP_W(EP_W)) u_least (
        .clk          (clk),
        .ack_rd       (ack_rd),
        .ack_ready    (ack_ready),
        .ack_own      (ack_own),
        .ack_own_msn  (ack_own_msn),
        .ack_rest     (ack_rest),
        .ack_rest_msn (ack_rest_msn),
        .ack_rest_any (ack_rest_any),
        .ack_rest_ep  (ack_rest_ep),
        .endpoint     (c_ei[EP_W-1:0]),
        .counts       (c_keeps),
        .number       (c_ack_psn),
        .msn          (c_ext[23:0]),
        .psn          (c_psn),
        .ranged       (c_ranged),
        .range_before (c_range_before),
        .range_begin  (c_begin),
        .range_end    (c_end),
        .ready        (least_ready),
        .rose         (rose),
        .covered      (covered),
        .least        (least),
        .least_msn    (least_msn)
    );

    wire answers_up = rose || covered || !c_syn_ack;
    // a NAK of what all have is an old one: what follows may never have been sent
    wire up_ack     = c_syn_ack || covered;
    wire reack      = c_late && (c_reduces ? c_behind && parent_has_reg : c_spreads && all_have_reg);

    // ---- form: everything that the verdict will only let pass ----

    // The work goes out with it, and waits for its verdict there.
    wire held;                         // work that AggregateData has not taken
    wire has_work;
    wire form = c_valid && !c_formed && !(has_work && held) && (c_need_min ? least_ready : c_need_rest ? rest_ready_reg : c_need_pick ? c_second : 1'b1);

    wire from_slot = c_accept || (c_resend && !reack);
    wire copies    = c_down && !reack;
    wire makes_ack = c_gap_nak || c_base_nak || reack;
    wire reaches   = c_dest != NOBODY;
    wire [WORDS_W-1:0] all_words = c_accept ? c_words : c_resend && !reack ? c_slot_words : copies ? c_words : {WORDS_W{1'b0}};
    wire               emits     = (copies || (TREE == 0 && (c_completes || (c_resend && !reack)))) && reaches;
    wire               reduction = TREE != 0 && (c_completes || (c_resend && !reack)) && reaches;

    assign has_work = c_acts && c_live && all_words != {WORDS_W{1'b0}} && (c_accept || emits || reduction);

    reg               t_sends, t_opens, t_keeps, t_ep_we, t_done_we, t_wr;
    reg [1:0]         t_kind;
    reg [MASK_W-1:0]  t_mask;
    reg [7:0]         t_opcode;
    reg               t_se, t_ce, t_in_band, t_dir;
    reg [1:0]         t_pad;
    reg [23:0]        t_psn;
    reg [31:0]        t_ext;
    reg [LEN_W-1:0]   t_plen;
    reg [WORDS_W-1:0] t_words;
    reg [COUNTERS-1:0] t_count;        // what an undamaged frame steps
    reg [COUNTERS-1:0] steps;

    always @* begin
        steps = {COUNTERS{1'b0}};
        steps[C_UP_DATA]          = c_up && !reack;
        steps[C_AGG]              = c_accept;
        steps[C_BUFFERED]         = c_accept && !c_completes;
        steps[C_WIPE]             = c_completes;
        steps[C_TX_RESULT]        = c_completes;
        steps[C_TX_FANOUT]        = 1'b0;                          // ReplicateData's
        steps[C_TX_RESEND]        = c_resend && !reack;
        steps[C_DOWN_DATA]        = copies;
        steps[C_RX_ACK]           = c_ack && c_syn_ack;
        steps[C_RX_NAK]           = c_ack && c_syn_nak;
        steps[C_RX_RNR]           = c_ack && c_syn_rnr;
        steps[C_RX_CNP]           = c_cnp;
        steps[C_RX_CE]            = c_ce;
        steps[C_TX_REFLECT]       = c_ack && !c_reduces && !c_spreads;
        steps[C_TX_GAP_NAK]       = c_gap_nak || c_base_nak;
        steps[C_TX_CNP]           = c_cnp && !c_reduces;
        steps[C_TX_FRAMES]        = 1'b0;                          // ReplicateData's
        steps[C_IMM_MISMATCH]     = c_accept && !c_first && !c_same_imm;
        steps[C_DROP_TVER]        = c_bad_tver;
        steps[C_DROP_OPCODE]      = c_bad_opcode;
        steps[C_DROP_TOO_LONG]    = c_too_long;
        steps[C_DROP_BAD_LENGTH]  = c_not_whole;
        steps[C_DROP_WRONG_ROLE]  = c_wrong_role;
        steps[C_DROP_SYNDROME]    = c_bad_syndrome;
        steps[C_DROP_GAP]         = c_up && !reack && c_ahead;
        steps[C_DROP_STALE]       = c_up && !reack && c_behind && !c_resend;
        steps[C_DROP_WINDOW]      = c_up && !c_ahead && !c_behind && !c_window;
        steps[C_DROP_SHAPE]       = c_up && !c_ahead && !c_behind && c_window && !c_accept;
        steps[C_ECC_CORRECTED]    = 1'b0;                          // AggregateData's
        steps[C_ECC_DOUBLE]       = 1'b0;                          // AggregateData's
        steps[C_TX_ACK_COPY]      = 1'b0;                          // ReplicateData's
        steps[C_TX_ACK_UP]        = c_need_min && reaches && answers_up;
        steps[C_TX_REACK]         = reack;
        steps[C_DROP_RANGE]       = c_astray;
        steps[C_DROP_BAD_CONTROL] = c_bad_control;
        steps[C_DROP_CONTROL]     = c_contradicts;
        steps[C_DROP_STALE_ACK]   = c_stale_ack;
    end

    always @(posedge clk) begin
        c_formed <= !b_go && (c_formed || form);
        if (!c_formed) begin
            t_sends   <= makes_ack || ((c_completes || (c_resend && !reack) || copies || c_ack || c_cnp) && reaches
                                       && !(c_need_min && !answers_up));
            t_kind    <= {(c_ack || c_cnp) && c_reduces, (c_completes && !c_has_parent) || copies};
            t_mask    <= reack ? c_self : c_dest;
            t_opcode  <= from_slot ? c_n_opcode : makes_ack ? OP_ACK : c_opcode;
            t_se      <= from_slot ? c_n_se : copies && c_se;
            t_pad     <= from_slot ? c_n_pad : copies ? c_pad : 2'd0;
            t_ce      <= from_slot ? c_n_ce : !makes_ack && c_ce;
            t_psn     <= c_gap_nak ? gap_psn_reg : c_base_nak ? c_range_base : reack ? c_end : c_cnp ? c_wire_psn
                         : c_need_min ? (up_ack ? least : least + 24'd1) : c_psn;
            t_ext     <= from_slot ? c_n_ext : c_gap_nak || c_base_nak ? {NAK_SEQUENCE, c_msn}
                         : reack ? {ACK_PLAIN, c_reduces ? picked_msn_reg : rest_msn_reg}
                         : c_need_min ? {up_ack ? ACK_PLAIN : c_ext[31:24], least_msn} : c_ext;
            t_plen    <= from_slot ? c_n_plen : copies ? c_plen : {LEN_W{1'b0}};
            t_words   <= all_words;
            t_in_band <= c_ranged && !c_cnp && !c_base_nak;
            t_dir     <= makes_ack || c_ack;
            t_opens   <= c_opens;
            t_keeps   <= c_keeps;
            t_ep_we   <= c_ep_we && !reack;
            t_done_we <= c_done_we && !reack;
            t_wr      <= c_wr && !reack;
            t_count   <= steps;
        end
        if (rst) begin
            c_formed <= 1'b0;
        end
    end

    // ---- commit ----

    wire [PKT_W-1:0] held_start;
    reg  [PKT_W-1:0] start_reg;        // where the frame in C has its first word

    wire icrc_ok = vrd_icrc_ok || ICRC == 0;
    wire intact  = !vrd_err && vrd_len_ok && icrc_ok;
    wire decided = c_valid && vrd_valid && c_formed && !c_bypass && (!(t_sends && c_live) || tx_room || !intact);
    wire quick   = c_valid && vrd_valid && c_bypass;
    wire good    = decided && intact && c_live && c_acts;

    assign c_opening = good && t_opens;
    assign c_done    = quick || (decided && !c_opening);
    assign vrd_pop   = c_done;
    assign frm_waits = ent_valid || m_valid || a_valid || b_valid || c_valid;

    assign ctl_open = c_opening;
    assign ack_lift = c_opening;
    assign ack_we   = good && t_keeps;
    assign ep_we    = good && t_ep_we;
    assign done_we  = (good && t_done_we) || (c_done && c_opened && !c_bypass);
    assign wr_en    = good && t_wr;
    // the frame in B took for written what was not
    assign redo     = c_leaves && b_valid && ((take_ep && !ep_we) || (take_done && !done_we) || (take_slot && !wr_en));

    assign wr_slot     = c_slot;
    assign wr_tag      = c_psn;
    assign wr_mask     = c_n_mask;
    assign wr_complete = c_n_complete;
    assign wr_opcode   = c_n_opcode;
    assign wr_plen     = c_n_plen;
    assign wr_pad      = c_n_pad;
    assign wr_se       = c_n_se;
    assign wr_ext      = c_n_ext;
    assign wr_ce       = c_n_ce && c_accept;

    assign tx_valid   = good && t_sends;
    assign tx_kind    = t_kind;
    assign tx_ei      = c_ei;
    assign tx_mask    = t_mask;
    assign tx_opcode  = t_opcode;
    assign tx_se      = t_se;
    assign tx_pad     = t_pad;
    assign tx_ce      = t_ce;
    assign tx_psn     = t_psn;
    assign tx_in_band = t_in_band;
    assign tx_rng     = c_rng;
    assign tx_dir     = t_dir;
    assign tx_ext     = t_ext;
    assign tx_plen    = t_plen;
    assign tx_words   = t_words;

    // ---- work on the payload: kept until it is taken ----

    wire [PLANES-1:0] pairs;
    wire [PAIR_W-1:0] pair;
    generate
        for (e = 0; e < PLANES; e = e + 1) begin : gen_pairs
            if (2 * e + 1 < MASK_W) begin : gen_two
                assign pairs[e] = |c_n_mask[2*e +: 2];
            end else begin : gen_single
                assign pairs[e] = c_n_mask[2*e];
            end
        end
        if (TREE != 0 && EP_W > PAIR_W) begin : gen_pair
            assign pair = c_ei[1 +: PAIR_W];
        end else begin : gen_no_pair
            assign pair = {PAIR_W{1'b0}};
        end
    endgenerate

    localparam WORK_W = PKT_W + WORDS_W + SLOT_W + PAIR_W + PLANES + 10;

    wire              reads   = TREE != 0 ? c_accept && c_builds : c_resend || (c_accept && c_builds);
    wire              put     = form && has_work;
    wire              commits = good && c_sent;
    wire              kills   = decided && !good && c_sent;
    wire [WORK_W-1:0] work;

    inc_hold_work #(.WIDTH(WORK_W)) u_work (
        .clk       (clk),
        .rst       (rst),
        .held      (held),
        .put       (put),
        .put_data  ({start_reg, all_words, c_unit, pair, reads, !c_resend, c_accept, emits, reduction, pairs, c_function, c_dtype,
                     c_big_endian}),
        .commits   (commits),
        .kills     (kills),
        .op_ready  (op_ready),
        .op_valid  (op_valid),
        .op_spec   (op_spec),
        .op_commit (op_commit),
        .op_kill   (op_kill),
        .op_data   (work)
    );

    assign {held_start, op_words, op_slot, op_pair, op_read, op_take, op_write, op_emit, op_reduce, op_pairs, op_function, op_dtype,
            op_big_endian} = work;
    assign op_start  = held_start;
    assign pkt_start = held ? held_start : start_reg;

    always @(posedge clk) begin
        c_sent <= !b_go && (c_sent || put);
        if (c_done) begin
            start_reg <= vrd_end;
        end
        if (rst) begin
            c_sent    <= 1'b0;
            start_reg <= {PKT_W{1'b0}};
        end
    end

    // ---- counters, a cycle later: exactly one of the drops, or the actions ----

    wire drop_foreign, drop_disabled, drop_rx_error, drop_checksum, drop_length, drop_icrc, passed;

    inc_drop_ladder u_ladder (
        .decided       (decided && !c_opening),
        .foreign       (c_foreign),
        .live          (c_live),
        .rx_err        (vrd_err),
        .sum_ok        (c_sum_ok),
        .len_ok        (c_len_ok && vrd_len_ok),
        .icrc_ok       (icrc_ok),
        .drop_foreign  (drop_foreign),
        .drop_disabled (drop_disabled),
        .drop_rx_error (drop_rx_error),
        .drop_checksum (drop_checksum),
        .drop_length   (drop_length),
        .drop_icrc     (drop_icrc),
        .passed        (passed)
    );

    reg [COUNTERS-1:0] count_reg;

    always @(posedge clk) begin
        count_reg <= t_count & {COUNTERS{passed}};
        count_reg[C_RX_FRAMES]            <= c_done;
        count_reg[C_BYPASS]               <= quick;
        count_reg[C_DROP_FOREIGN]         <= drop_foreign;
        count_reg[C_DROP_GROUP_DISABLED]  <= drop_disabled;
        count_reg[C_DROP_RX_ERROR]        <= drop_rx_error;
        count_reg[C_DROP_IP_CHECKSUM]     <= drop_checksum;
        count_reg[C_DROP_LENGTH_MISMATCH] <= drop_length;
        count_reg[C_DROP_ICRC]            <= drop_icrc;
        count_reg[C_RANGE_OPEN]           <= c_opening;
        if (rst) begin
            count_reg <= {COUNTERS{1'b0}};
        end
    end
    assign count = count_reg;

    wire unused_bits = &{1'b0, init_ei, s_ei, s_psn, s_opcode, s_ext, s_up, s_reduces, s_spreads, s_parent_mask, a_host, a_se, a_ce, a_big_endian, a_pad, a_ext, a_plen, a_words, a_opened, a_rng, a_ranged, a_dtype, a_function,
                         a_end, a_range_base, a_places, a_roles, a_reduces, a_spreads, a_masks, s_unit, b_tver_ok, b_over_mtu,
                         distance, beyond, overrun, opened_past, slot_bytes, picked_past, rest_past, gap_low};

endmodule

`default_nettype wire
