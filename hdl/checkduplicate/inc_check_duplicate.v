// SPDX-License-Identifier: Apache-2.0
//
// inc_check_duplicate: decides what every frame does, and is the only place where state changes because of a frame.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries
//   latency     2 cycles a frame when its verdict is there, 1 for a bypassed frame, 4 in an in-band group;
//               otherwise it waits for the verdict, having sent the work on the payload ahead as speculative;
//               an acknowledgement of a Broadcast, which wants the minimum of all, waits until 2 cycles after ack_ready, data of a
//               Broadcast's range before the current one until ack_ready; a control that opens a range takes the opening and 4 cycles more
//   throughput  1 frame in as many cycles as that
//   commit      in the cycle of the verdict: state is written, tx_* pushed, counters stepped, or nothing of it and op_kill
//   stall       waits while tx_room or op_ready is low and needed
//   payload     op_slot is the unit base + index of the slot, with 16-bit elements base + 2 * index. In place op_read adds to what lies
//               there, or sends it again, and op_emit sends. In a tree op_pair is the pair of the endpoint, op_read says that the other
//               of the pair has contributed, and op_reduce instead of op_emit that op_pairs, those with a contribution, make the
//               result; only down data is still op_emit
//   slots       recycled by the first contribution of another PSN, or to a slot without a contribution: it overwrites what lies there
//   state       per endpoint {ePSN, msn, nakSent}, per group `done`; set by init_* while no frame is being written;
//               a frame that was looked at before its group was live is dropped, however late its verdict
//   in-band     with IN_BAND: ctl_rd asks Control where the frame belongs, map_* two cycles later; a control that opens a range and is good
//               is ctl_open, and looked at again, from ctl_rd on, when ctl_busy is low; tx_psn is then a group's PSN
//   reset       idle
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

    // in-band groups: the frame's range, from Control
    output wire                ctl_rd,
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

    // one bit a counter, high for one cycle a step
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

    // a fixed group's frame is looked at in S_HEAD, an in-band group's in S_LOOK, when Control has said where it belongs
    localparam [2:0] S_HEAD = 3'd0, S_MAP = 3'd1, S_LOOK = 3'd2, S_DECIDE = 3'd3, S_OPEN = 3'd4;
    localparam [2:0] REDUCE = 3'd1, BROADCAST = 3'd2, BARRIER = 3'd3;
    localparam [7:0] OP_ACK = 8'h11, OP_CNP = 8'h81;
    localparam [7:0] NAK_SEQUENCE = 8'h60, ACK_PLAIN = 8'h1F;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    reg [2:0]       state_reg;
    reg             sent_reg;          // the payload's work is under way, speculative
    reg             live_reg;          // the group was live when the frame's state was read
    reg             opened_reg;        // the frame has opened its range
    reg [PKT_W-1:0] start_reg;         // where the frame at the head has its first word

    // ---- what the frame's group computes: by its registers, or by the range that the frame belongs to ----

    wire              ranged      = IN_BAND != 0 && ent_in_band;
    wire [23:0]       psn         = ranged ? map_psn : ent_psn;   // the group's
    wire [2:0]        collective  = ranged ? map_collective : ent_collective;
    wire [1:0]        dtype       = ranged ? map_dtype : ent_dtype;
    wire [MASK_W-1:0] in_mask     = ranged ? map_in_mask : ent_in_mask;
    wire [MASK_W-1:0] out_mask    = ranged ? map_out_mask : ent_out_mask;
    wire [MASK_W-1:0] parent_mask = ranged ? map_parent_mask : ent_parent_mask;
    wire              reduces     = collective == REDUCE;
    wire              spreads     = collective == BROADCAST;

    // ---- slot of the frame's PSN ----

    wire [24:0]       n_wide    = 25'd1 << ent_log2_n;
    wire [24:0]       last_wide = n_wide - 25'd1;
    wire [23:0]       half      = n_wide[24:1];                   // MW = N / 2
    wire [SLOT_W-1:0] index     = psn[SLOT_W-1:0] & last_wide[SLOT_W-1:0];
    wire [SLOT_W-1:0] slot      = ent_base + index;

    // where its payload lies: 16-bit elements are kept as FP32, in two units a slot; the ranges of an in-band group may be of such
    wire              wide      = HALVES != 0 && (ranged || ent_dtype[1] != ent_dtype[0]);
    wire [SLOT_W:0]   unit      = {1'b0, ent_base} + (wide ? {index, 1'b0} : {1'b0, index});

    // ---- state: of endpoints, and the highest complete PSN of groups ----

    wire [GRP_W-1:0] group;
    wire [GRP_W-1:0] init_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group      = ent_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign group      = 1'b0;
            assign init_group = 1'b0;
        end
    endgenerate

    wire [23:0] ep_epsn, ep_msn;
    wire        ep_nak_sent;
    wire        ep_we;
    wire [23:0] ep_epsn_next, ep_msn_next;
    wire        ep_nak_sent_next;
    wire        done_we;
    wire [23:0] done_psn, done_next;

    assign init_take = init_valid && !ep_we && !done_we;

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(49), .ADDR_W(EI_W)) u_endpoints (
        .clk   (clk),
        .we    (ep_we || init_take),
        .waddr (ep_we ? ent_ei : init_ei),
        .wdata (ep_we ? {ep_nak_sent_next, ep_msn_next, ep_epsn_next} : {1'b0, 24'd0, init_psn}),
        .re    (rd_en),
        .raddr (ent_ei),
        .rdata ({ep_nak_sent, ep_msn, ep_epsn})
    );
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_done (
        .clk   (clk),
        .we    (done_we || init_take),
        .waddr (done_we ? group : init_group),
        .wdata (done_we ? done_next : init_psn - 24'd1),
        .re    (rd_en),
        .raddr (group),
        .rdata (done_psn)
    );

    wire head     = state_reg == S_HEAD && ent_valid;
    wire by_range = ranged && !ent_bypass;

    assign ctl_rd  = head && by_range;
    assign rd_en   = (head && !by_range) || state_reg == S_LOOK;
    assign rd_slot = slot;

    // ---- classify ----

    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
    wire                  live_now  = live_wide[{1'b0, group}];
    // state that was read while the group was starting is not the group's
    wire                  live      = live_now && live_reg;

    wire [MASK_W-1:0] self;
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign self[e] = ent_ei[EP_W-1:0] == E;
        end
    endgenerate

    // the other endpoint of its pair
    wire [MASK_W-1:0] sibling;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_sibling
            if ((e ^ 1) < MASK_W) begin : gen_two
                assign sibling[e] = self[e ^ 1];
            end else begin : gen_single
                assign sibling[e] = 1'b0;
            end
        end
    endgenerate

    wire is_data  = ent_opcode <= 8'h05;
    wire is_ack   = ent_opcode == OP_ACK;
    wire is_cnp   = ent_opcode == OP_CNP;
    wire ends     = ent_opcode >= 8'h02;                           // LAST or ONLY, of a data opcode
    wire has_imm  = ent_opcode == 8'h03 || ent_opcode == 8'h05;

    wire [7:0] syndrome = ent_ext[31:24];
    wire syn_ack  = syndrome[7:5] == 3'b000;
    wire syn_rnr  = syndrome[7:5] == 3'b001;
    wire syn_nak  = syndrome[7:2] == 6'b011000;

    // where the PSN on the wire lies
    wire [23:0] distance = ent_psn - ep_epsn;
    wire in_order  = distance == 24'd0;
    wire behind    = distance[23];
    wire ahead     = !in_order && !behind;

    // in-band: data of no range, which is a control that opens one, a bad control, or astray; data that is not what its range has there
    wire in_range    = !ranged || map_current || map_previous;
    wire outside     = is_data && !in_range;
    wire opens       = outside && map_opens && (in_order || !map_opens_up);
    wire bad_control = outside && map_bad_control;
    wire astray      = outside && !opens && !map_bad_control && !map_wrong_role;
    wire contradicts = ranged && is_data && in_range && map_contradicts;
    wire stale_ack   = is_ack && !in_range;
    wire placed      = !astray && !bad_control && !contradicts && !stale_ack;

    wire halves   = map_dtype[1] != map_dtype[0];
    wire whole    = !ranged ? ent_whole : map_collective == BARRIER ? ent_empty : !ent_plen[0] && (halves || !ent_plen[1]);
    wire is_child = ranged ? map_up : ent_up;
    wire is_heard = ranged ? map_down : ent_down;
    wire ackable  = ranged ? map_ackable_any && (ent_host || !map_needs_host) : ent_ackable;
    wire role_ok  = !is_data ? ackable : outside ? !map_wrong_role : is_child || is_heard;

    // The first reason that holds drops the frame. Those of the verdict come in two places of the order, so a frame is
    // `sound` for what is known from its header alone, and `good` when the verdict is in as well.
    wire early_ok = !ent_bypass && !ent_foreign && live && ent_sum_ok && ent_len_ok;
    wire known_op = ent_tver_ok && (is_data || is_ack || is_cnp) && !ent_too_long;
    wire late_ok  = placed && (!is_data || whole) && role_ok && (!is_ack || syn_ack || syn_rnr || syn_nak);
    wire sound    = early_ok && known_op && late_ok;
    wire icrc_ok  = vrd_icrc_ok || ICRC == 0;
    wire intact   = !vrd_err && vrd_len_ok && icrc_ok;

    // ---- what was acknowledged ----

    // the last PSN before the frame's range; outside of all, before the current one
    wire [23:0] range_before = map_begin - 24'd1;

    // an answer to data is about what its receiver has: the endpoint itself, in a Reduce the parent; a Broadcast's about what all have
    assign ack_rd    = rd_en;
    assign ack_group = group;
    assign ack_self  = self;
    assign ack_mask  = ranged ? map_ack_mask : ent_ack_mask;
    assign ack_pick  = reduces ? parent_mask : self;
    // what a control that opens a range is about: all are through with what came before the range that ends
    assign ack_psn   = is_data ? range_before : syn_ack ? psn : psn - 24'd1;
    assign ack_msn   = ent_ext[23:0];
    // a switch that sends a NAK of a range's first PSN speaks for that range alone
    wire   speaks    = !ranged || syn_ack || psn != map_begin;

    // The minimum over all, before this acknowledgement and after it, is made in three steps: this endpoint's after it; the minima; and,
    // in-band, the minima within the frame's range, of which the one before it counts as well.
    wire [23:0] own_step = ack_psn - ack_own;
    wire        own_stays = own_step[23] || !speaks;
    reg  [23:0] own_reg, own_msn_reg;
    wire [23:0] past_rest   = ack_rest - ack_own;
    wire [23:0] now_rest    = ack_rest - own_reg;
    wire        past_others = ack_rest_any && past_rest[23];
    wire        now_others  = ack_rest_any && (now_rest[23] || (now_rest == 24'd0 && ack_rest_ep < ent_ei[EP_W-1:0]));
    reg  [23:0] past_reg, now_reg, least_msn_reg;
    wire [23:0] past_low  = past_reg - map_begin;
    wire [23:0] past_high = map_end - past_reg;
    wire [23:0] now_low   = now_reg - map_begin;
    wire [23:0] now_high  = map_end - now_reg;
    reg  [23:0] before_reg, least_reg;
    reg         minima_reg, clamped_reg;

    always @(posedge clk) begin
        own_reg       <= own_stays ? ack_own : ack_psn;
        own_msn_reg   <= own_stays ? ack_own_msn : ack_msn;
        past_reg      <= past_others ? ack_rest : ack_own;
        now_reg       <= now_others ? ack_rest : own_reg;
        least_msn_reg <= now_others ? ack_rest_msn : own_msn_reg;
        before_reg    <= !ranged ? past_reg : past_low[23] ? range_before : past_high[23] ? map_end : past_reg;
        least_reg     <= !ranged ? now_reg : now_low[23] ? range_before : now_high[23] ? map_end : now_reg;
        minima_reg    <= ack_ready && !ack_rd;
        clamped_reg   <= minima_reg && !ack_rd;
    end

    wire [23:0] covered_by = before_reg - psn;
    wire        rose       = least_reg != before_reg;
    wire        covered    = !covered_by[23];
    wire        answers_up = rose || covered || !syn_ack;
    wire        late_data  = ranged && map_previous && is_data;
    wire        waits      = sound && spreads && (is_ack ? !clamped_reg : late_data && !ack_ready);

    // data of the range before that everybody has: its ACKs would be of another range
    wire [23:0] picked_past = ack_picked - map_end;
    wire [23:0] rest_past   = ack_rest - map_end;
    wire        all_have    = reduces ? behind && !picked_past[23] : spreads && ack_rest_any && !rest_past[23];
    wire        reack       = late_data && all_have;

    // ---- up data: where the PSN lies ----

    wire [23:0] beyond    = psn - done_psn;
    // one slot behind the range that it has just opened
    wire        window_ok = opened_reg || beyond[23] || beyond <= half;
    wire tag_ok    = slot_tag == psn;
    wire first     = !tag_ok || slot_mask == NOBODY;
    wire same      = slot_opcode == ent_opcode && slot_plen == ent_plen && slot_pad == ent_pad;

    wire up        = is_data && in_range && is_child && !reack;
    wire down      = is_data && in_range && !is_child && !reack;
    wire accept    = up && in_order && window_ok && (first || same);
    wire resend    = up && behind && tag_ok && slot_complete;
    wire [MASK_W-1:0] mask_next = first ? self : slot_mask | self;
    wire full      = (mask_next & in_mask) == in_mask;
    wire completes = accept && full;
    wire asks_nak  = ahead && cfg_gap_nak && ent_host && !ep_nak_sent;
    wire gap_nak   = up && asks_nak;
    // its control was lost
    wire base_nak  = astray && asks_nak && ep_epsn == map_base;
    wire nak       = gap_nak || base_nak;
    wire has_parent = parent_mask != NOBODY;

    // down data of an in-band group that is not behind; that of a Broadcast takes its slot
    wire moves     = ranged && down && !behind;
    wire takes     = moves && spreads;

    // a frame that acts; all but a lost control's NAK are sound
    wire good      = (sound || (early_ok && known_op && base_nak)) && intact;

    // where a result, a copy, or an answer goes
    wire [MASK_W-1:0] result_mask = has_parent ? parent_mask : out_mask;
    wire [MASK_W-1:0] resend_mask = has_parent ? parent_mask : self;
    wire [MASK_W-1:0] answer_mask = reduces ? in_mask : spreads ? parent_mask : self;
    wire              answers     = is_ack || is_cnp;

    assign tx_mask   = completes ? result_mask : resend ? resend_mask : down ? out_mask : answers ? answer_mask : self;
    wire   sends     = (completes || resend || down || answers) ? tx_mask != NOBODY && !(is_ack && spreads && !answers_up) : (nak || reack);
    assign tx_kind   = {answers && reduces, (completes && !has_parent) || down};
    assign tx_ei     = ent_ei;

    // the slot as it stands after this contribution
    wire         use_ent   = first;
    wire [7:0]   new_opcode = use_ent ? ent_opcode : slot_opcode;
    wire [1:0]   new_pad    = use_ent ? ent_pad : slot_pad;
    wire [LEN_W-1:0] new_plen = use_ent ? ent_plen : slot_plen;
    wire         new_se     = use_ent ? ent_se : slot_se;
    wire [31:0]  new_ext    = use_ent ? ent_ext : slot_ext;
    wire         new_ce     = use_ent ? ent_ce : slot_ce || ent_ce;

    wire [LEN_W:0]     slot_bytes = {1'b0, slot_plen} + (BYTES[LEN_W:0] - {{LEN_W{1'b0}}, 1'b1});
    wire [WORDS_W-1:0] slot_words = slot_bytes[LANE_W +: WORDS_W];

    // a gap's NAK asks for what follows the acknowledged, in-band for nothing before the range
    wire [23:0] gap_low  = ack_picked - map_begin;
    wire [23:0] gap_psn  = ranged && gap_low[23] ? map_begin : ack_picked + 24'd1;
    // a NAK of what all have is an old one: what follows may never have been sent
    wire        up_ack   = syn_ack || covered;
    wire [23:0] up_psn   = up_ack ? least_reg : least_reg + 24'd1;
    wire [31:0] up_ext   = {up_ack ? ACK_PLAIN : syndrome, least_msn_reg};
    wire [31:0] reack_ext = {ACK_PLAIN, reduces ? ack_picked_msn : ack_rest_msn};

    wire [WORDS_W-1:0] op_words_all = resend ? slot_words : (accept || down) ? ent_words : {WORDS_W{1'b0}};

    assign tx_opcode = (accept ? new_opcode : resend ? slot_opcode : nak || reack ? OP_ACK : ent_opcode);
    assign tx_se     = accept ? new_se : resend ? slot_se : down && ent_se;
    assign tx_pad    = accept ? new_pad : resend ? slot_pad : down ? ent_pad : 2'd0;
    assign tx_ce     = accept ? new_ce : resend ? slot_ce : nak || reack ? 1'b0 : ent_ce;
    assign tx_psn    = gap_nak ? gap_psn : base_nak ? map_base : reack ? map_end : is_cnp ? ent_psn : is_ack && spreads ? up_psn : psn;
    assign tx_ext    = accept ? new_ext : resend ? slot_ext : nak ? {NAK_SEQUENCE, ep_msn} : reack ? reack_ext
                     : is_ack && spreads ? up_ext : ent_ext;
    assign tx_plen   = accept ? new_plen : resend ? slot_plen : down ? ent_plen : {LEN_W{1'b0}};
    assign tx_words  = op_words_all;
    assign tx_in_band = ranged && !is_cnp && !base_nak;
    assign tx_rng    = map_rng;
    assign tx_dir    = nak || reack || is_ack;

    // ---- work on the payload ----

    wire               has_work     = op_words_all != {WORDS_W{1'b0}} && (accept || op_emit || op_reduce);

    assign op_start      = start_reg;
    assign op_words      = op_words_all;
    assign op_slot       = unit[SLOT_W-1:0];
    assign op_read       = TREE != 0 ? accept && !first && (slot_mask & sibling) != NOBODY : resend || (accept && !first);
    assign op_take       = !resend;
    assign op_write      = accept;
    assign op_emit       = (down || (TREE == 0 && (completes || resend))) && sends;
    assign op_reduce     = TREE != 0 && (completes || resend) && sends;
    assign op_function   = ranged ? map_function : ent_function;
    assign op_dtype      = dtype;
    assign op_big_endian = ent_big_endian;
    wire [MASK_W-1:0] mask_sent = resend ? slot_mask : mask_next;
    generate
        for (e = 0; e < PLANES; e = e + 1) begin : gen_pairs
            if (2 * e + 1 < MASK_W) begin : gen_two
                assign op_pairs[e] = |mask_sent[2*e +: 2];
            end else begin : gen_single
                assign op_pairs[e] = mask_sent[2*e];
            end
        end
        if (TREE != 0 && EP_W > PAIR_W) begin : gen_pair
            assign op_pair = ent_ei[1 +: PAIR_W];
        end else begin : gen_no_pair
            assign op_pair = {PAIR_W{1'b0}};
        end
    endgenerate

    // ---- commit ----

    wire deciding   = state_reg == S_DECIDE;
    wire quick      = head && ent_bypass && vrd_valid;
    wire wants_op   = sound && has_work && !waits;
    wire op_free    = sent_reg || op_ready;
    wire commits_op = good && has_work;
    wire opening    = deciding && vrd_valid && good && opens;
    wire decided    = deciding && vrd_valid && !(good && opens) && !waits && (!(good && sends) || tx_room) && (!commits_op || op_free);
    wire done       = decided || quick;

    assign op_valid  = deciding && !sent_reg && op_ready && (decided ? commits_op : !vrd_valid && wants_op);
    assign op_spec   = !decided;
    assign op_commit = decided && sent_reg && commits_op;
    assign op_kill   = decided && sent_reg && !commits_op;
    assign pkt_start = start_reg;

    assign ent_pop   = done;
    assign vrd_pop   = done;
    assign tx_valid  = decided && good && sends;
    assign ctl_open  = opening;

    wire apply = decided && good;
    wire acks  = is_ack && apply;

    // ePSN moves on acceptance, and in-band with what the parent sends
    // an acknowledgement's own conditions, apart from data's: this is the longest way to the widest word
    wire   ack_sends        = answer_mask != NOBODY && !(spreads && !answers_up);
    assign ack_we           = deciding && vrd_valid && is_ack && sound && intact && !waits && (tx_room || !ack_sends) && speaks;
    assign ack_lift         = opening;
    assign ep_we            = apply && (accept || nak || moves);
    assign ep_epsn_next     = accept || moves ? ent_psn + 24'd1 : ep_epsn;
    assign ep_msn_next      = accept && ends ? ep_msn + 24'd1 : ep_msn;
    assign ep_nak_sent_next = accept || moves ? 1'b0 : nak ? 1'b1 : ep_nak_sent;

    // done: what is complete; in-band what a Broadcast's parent has sent, and everything before the range that was opened last
    wire        has_it    = completes || takes;
    wire [23:0] done_to   = has_it ? psn : range_before;
    wire [23:0] done_step = done_to - done_psn;
    assign done_we   = (apply && has_it) || (decided && opened_reg);
    assign done_next = done_step[23] ? done_psn : done_to;

    assign wr_en       = apply && (accept || takes);
    assign wr_slot     = slot;
    assign wr_tag      = psn;
    assign wr_mask     = takes ? NOBODY : mask_next;
    assign wr_complete = accept && full;
    assign wr_opcode   = new_opcode;
    assign wr_plen     = new_plen;
    assign wr_pad      = new_pad;
    assign wr_se       = new_se;
    assign wr_ext      = new_ext;
    assign wr_ce       = accept && new_ce;

    always @(posedge clk) begin
        if (ctl_rd || rd_en) begin
            live_reg <= live_now && (live_reg || head);
        end
        if (done) begin
            start_reg <= vrd_end;
        end
        if (decided) begin
            sent_reg   <= 1'b0;
            opened_reg <= 1'b0;
        end else if (op_valid) begin
            sent_reg <= 1'b1;
        end else if (opening) begin
            opened_reg <= 1'b1;
        end
        case (state_reg)
            S_HEAD: begin
                if (ctl_rd) begin
                    state_reg <= S_MAP;
                end else if (head && !quick) begin
                    state_reg <= S_DECIDE;
                end
            end
            S_MAP: begin
                state_reg <= S_LOOK;
            end
            S_LOOK: begin
                state_reg <= S_DECIDE;
            end
            S_DECIDE: begin
                if (opening) begin
                    state_reg <= S_OPEN;
                end else if (decided) begin
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
            sent_reg   <= 1'b0;
            opened_reg <= 1'b0;
            start_reg  <= {PKT_W{1'b0}};
        end
    end

    // ---- counters: exactly one of the drops, or the actions ----

    wire ours    = decided && !ent_bypass;
    wire d_frn   = ours && ent_foreign;
    wire d_dis   = ours && !ent_foreign && !live;
    wire known   = ours && !ent_foreign && live;
    wire d_err   = known && vrd_err;
    wire d_sum   = known && !vrd_err && !ent_sum_ok;
    wire pass_1  = known && !vrd_err && ent_sum_ok;
    wire d_len   = pass_1 && !(ent_len_ok && vrd_len_ok);
    wire pass_2  = pass_1 && ent_len_ok && vrd_len_ok;
    wire d_icrc  = pass_2 && !icrc_ok;
    wire pass_3  = pass_2 && icrc_ok;
    wire d_tver  = pass_3 && !ent_tver_ok;
    wire pass_4  = pass_3 && ent_tver_ok;
    wire d_op    = pass_4 && !(is_data || is_ack || is_cnp);
    wire pass_5  = pass_4 && (is_data || is_ack || is_cnp);
    wire d_long  = pass_5 && ent_too_long;
    wire pass_6  = pass_5 && !ent_too_long;
    wire d_range = pass_6 && astray;
    wire d_bad   = pass_6 && bad_control;
    wire d_ctl   = pass_6 && contradicts;
    wire d_stale = pass_6 && stale_ack;
    wire passed  = pass_6 && placed;
    wire d_whole = passed && is_data && !whole;
    wire pass_7  = passed && (!is_data || whole);
    wire d_role  = pass_7 && !role_ok;
    wire d_syn   = pass_7 && role_ok && is_ack && !(syn_ack || syn_rnr || syn_nak);

    assign count[C_RX_FRAMES]            = done;
    assign count[C_BYPASS]               = done && ent_bypass;
    assign count[C_UP_DATA]              = apply && up;
    assign count[C_AGG]                  = apply && accept;
    assign count[C_BUFFERED]             = apply && accept && !full;
    assign count[C_WIPE]                 = apply && completes;
    assign count[C_TX_RESULT]            = apply && completes;
    assign count[C_TX_FANOUT]            = 1'b0;                   // ReplicateData's
    assign count[C_TX_RESEND]            = apply && resend;
    assign count[C_DOWN_DATA]            = apply && down;
    assign count[C_RX_ACK]               = acks && syn_ack;
    assign count[C_RX_NAK]               = acks && syn_nak;
    assign count[C_RX_RNR]               = acks && syn_rnr;
    assign count[C_RX_CNP]               = apply && is_cnp;
    assign count[C_RX_CE]                = pass_3 && ent_ce;
    assign count[C_TX_REFLECT]           = acks && !reduces && !spreads;
    assign count[C_TX_GAP_NAK]           = apply && nak;
    assign count[C_TX_CNP]               = apply && is_cnp && !reduces;
    assign count[C_TX_FRAMES]            = 1'b0;                   // ReplicateData's
    assign count[C_IMM_MISMATCH]         = apply && accept && !first
                                           && (slot_se != ent_se || (has_imm && slot_ext != ent_ext));
    assign count[C_DROP_FOREIGN]         = d_frn;
    assign count[C_DROP_GROUP_DISABLED]  = d_dis;
    assign count[C_DROP_RX_ERROR]        = d_err;
    assign count[C_DROP_IP_CHECKSUM]     = d_sum;
    assign count[C_DROP_LENGTH_MISMATCH] = d_len;
    assign count[C_DROP_ICRC]            = d_icrc;
    assign count[C_DROP_TVER]            = d_tver;
    assign count[C_DROP_OPCODE]          = d_op;
    assign count[C_DROP_TOO_LONG]        = d_long;
    assign count[C_DROP_BAD_LENGTH]      = d_whole;
    assign count[C_DROP_WRONG_ROLE]      = d_role;
    assign count[C_DROP_SYNDROME]        = d_syn;
    assign count[C_DROP_GAP]             = apply && up && ahead;
    assign count[C_DROP_STALE]           = apply && up && behind && !resend;
    assign count[C_DROP_WINDOW]          = apply && up && in_order && !window_ok;
    assign count[C_DROP_SHAPE]           = apply && up && in_order && window_ok && !accept;
    assign count[C_ECC_CORRECTED]        = 1'b0;                   // AggregateData's
    assign count[C_ECC_DOUBLE]           = 1'b0;                   // AggregateData's
    assign count[C_RANGE_OPEN]           = opening;
    assign count[C_TX_ACK_COPY]          = 1'b0;                   // ReplicateData's
    assign count[C_TX_ACK_UP]            = acks && spreads && sends;
    assign count[C_TX_REACK]             = apply && reack;
    assign count[C_DROP_RANGE]           = d_range;
    assign count[C_DROP_BAD_CONTROL]     = d_bad;
    assign count[C_DROP_CONTROL]         = d_ctl;
    assign count[C_DROP_STALE_ACK]       = d_stale;

    wire unused_bits = &{1'b0, last_wide, slot_bytes, n_wide, unit, sibling, mask_sent, init_ei, own_step, past_rest, past_low, past_high, now_low, now_high,
                         covered_by, picked_past, range_before, rest_past, gap_low, done_step, ent_empty, ent_in_band, ctl_busy, map_current, map_previous,
                         map_opens, map_opens_up, map_bad_control, map_wrong_role, map_contradicts, map_base, map_psn, map_rng, map_begin,
                         map_end, map_up, map_down, map_ackable_any, map_needs_host, map_collective, map_function, map_dtype, map_in_mask,
                         map_out_mask, map_ack_mask, map_parent_mask};

endmodule

`default_nettype wire
