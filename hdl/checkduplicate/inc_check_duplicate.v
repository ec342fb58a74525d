// SPDX-License-Identifier: Apache-2.0
//
// inc_check_duplicate: decides what every frame does, and is the only place where state changes because of a frame.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries
//   latency     2 cycles a frame when its verdict is there (1 for a bypassed frame), 3 when it completes a slot;
//               otherwise it waits for the verdict, having sent the work on the payload ahead as speculative
//   throughput  1 frame in as many cycles as that: 1, 2 or 3
//   commit      in the cycle of the verdict: state is written, tx_* pushed, counters stepped, or nothing of it and op_kill
//   stall       waits while tx_room or op_ready is low and needed
//   payload     op_slot is the unit base + index of the slot, with 16-bit elements base + 2 * index. In place op_read adds to what lies
//               there, or sends it again, and op_emit sends. In a tree op_pair is the pair of the endpoint, op_read says that the other
//               of the pair has contributed, and op_reduce instead of op_emit that op_pairs, those with a contribution, make the
//               result; only down data is still op_emit
//   state       per endpoint {ePSN, acked, msn, nakSent}; set by init_* while no frame is being written;
//               a frame that was looked at before its group was live is dropped, however late its verdict
//   reset       idle
//   not done    payload, copies and headers: it says what is to be done with them
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
    // number of counters
    parameter COUNTERS = 37
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
    input  wire [MASK_W-1:0]   ent_parent_mask,
    input  wire [1:0]          ent_function,
    input  wire [1:0]          ent_dtype,
    input  wire                ent_big_endian,

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
    output wire                tx_fanout,
    output wire [EI_W-1:0]     tx_ei,
    output wire [MASK_W-1:0]   tx_mask,
    output wire [7:0]          tx_opcode,
    output wire                tx_se,
    output wire [1:0]          tx_pad,
    output wire                tx_ce,
    output wire [23:0]         tx_psn,
    output wire [31:0]         tx_ext,
    output wire [LEN_W-1:0]    tx_plen,
    output wire [WORDS_W-1:0]  tx_words,

    // one bit a counter, high for one cycle a step
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam LANE_W = $clog2(BYTES);

    // positions in `count`
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6,
               C_TX_FANOUT = 7, C_TX_RESEND = 8, C_DOWN_DATA = 9, C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13,
               C_TX_REFLECT = 14, C_TX_GAP_NAK = 15, C_TX_CNP = 16, C_TX_FRAMES = 17, C_IMM_MISMATCH = 18,
               C_DROP_FOREIGN = 19, C_DROP_GROUP_DISABLED = 20, C_DROP_RX_ERROR = 21, C_DROP_IP_CHECKSUM = 22,
               C_DROP_LENGTH_MISMATCH = 23, C_DROP_ICRC = 24, C_DROP_TVER = 25, C_DROP_OPCODE = 26, C_DROP_TOO_LONG = 27,
               C_DROP_BAD_LENGTH = 28, C_DROP_WRONG_ROLE = 29, C_DROP_SYNDROME = 30, C_DROP_GAP = 31, C_DROP_STALE = 32,
               C_DROP_WINDOW = 33, C_DROP_SHAPE = 34, C_ECC_CORRECTED = 35, C_ECC_DOUBLE = 36;

`ifndef __ICARUS__
    generate
        if (COUNTERS != C_ECC_DOUBLE + 1) begin : gen_bad_counters
            $error("inc_check_duplicate: COUNTERS must be 37");
        end
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_duplicate: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_check_duplicate: MASK_W must be at most 2**EP_W");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1) begin : gen_bad_tree
            $error("inc_check_duplicate: TREE and HALVES must be 0 or 1");
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

    localparam [1:0] S_LOOK = 2'd0, S_DECIDE = 2'd1, S_RECYCLE = 2'd2;
    localparam [7:0] OP_ACK = 8'h11, OP_CNP = 8'h81;
    localparam [7:0] NAK_SEQUENCE = 8'h60;

    reg [1:0]       state_reg;
    reg             sent_reg;          // the payload's work is under way, speculative
    reg             live_reg;          // the group was live when the frame's state was read
    reg [PKT_W-1:0] start_reg;         // where the frame at the head has its first word

    // ---- slot of the frame's PSN, and the one that is recycled when it completes ----

    wire [24:0]       n_wide    = 25'd1 << ent_log2_n;
    wire [24:0]       last_wide = n_wide - 25'd1;
    wire [23:0]       half      = n_wide[24:1];                   // MW = N / 2
    wire [SLOT_W-1:0] index     = ent_psn[SLOT_W-1:0] & last_wide[SLOT_W-1:0];
    wire [SLOT_W-1:0] slot      = ent_base + index;
    wire [SLOT_W-1:0] dual_slot = ent_base + (index ^ half[SLOT_W-1:0]);
    wire [23:0]       dual_tag  = ent_psn + half;

    // where its payload lies: 16-bit elements are kept as FP32, in two units a slot
    wire              wide      = HALVES != 0 && ent_dtype[1] != ent_dtype[0];
    wire [SLOT_W:0]   unit      = {1'b0, ent_base} + (wide ? {index, 1'b0} : {1'b0, index});

    // ---- endpoint state ----

    wire [23:0] ep_epsn, ep_acked, ep_msn;
    wire        ep_nak_sent;
    wire        ep_we;
    wire [23:0] ep_epsn_next, ep_acked_next, ep_msn_next;
    wire        ep_nak_sent_next;

    assign init_take = init_valid && !ep_we;

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(73), .ADDR_W(EI_W)) u_endpoints (
        .clk   (clk),
        .we    (ep_we || init_valid),
        .waddr (ep_we ? ent_ei : init_ei),
        .wdata (ep_we ? {ep_nak_sent_next, ep_msn_next, ep_acked_next, ep_epsn_next}
                      : {1'b0, 24'd0, init_psn - 24'd1, init_psn}),
        .re    (rd_en),
        .raddr (ent_ei),
        .rdata ({ep_nak_sent, ep_msn, ep_acked, ep_epsn})
    );

    assign rd_en   = state_reg == S_LOOK && ent_valid;
    assign rd_slot = slot;

    // ---- classify ----

    wire [GRP_W-1:0] group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group = ent_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign group = 1'b0;
        end
    endgenerate
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

    wire role_ok  = is_data ? (ent_up || ent_down) : ent_ackable;

    // The first reason that holds drops the frame. Those of the verdict come in two places of the order, so a frame is
    // `sound` for what is known from its header alone, and `good` when the verdict is in as well.
    wire early_ok = !ent_bypass && !ent_foreign && live && ent_sum_ok && ent_len_ok;
    wire late_ok  = ent_tver_ok && (is_data || is_ack || is_cnp) && !ent_too_long && (!is_data || ent_whole)
                    && role_ok && (!is_ack || syn_ack || syn_rnr || syn_nak);
    wire sound    = early_ok && late_ok;
    wire icrc_ok  = vrd_icrc_ok || ICRC == 0;
    wire intact   = !vrd_err && vrd_len_ok && icrc_ok;
    wire good     = sound && intact;

    // ---- up data: where the PSN lies ----

    wire [23:0] distance = ent_psn - ep_epsn;
    wire in_order  = distance == 24'd0;
    wire behind    = distance[23];
    wire ahead     = !in_order && !behind;
    wire tag_ok    = slot_tag == ent_psn;
    wire first     = slot_mask == {MASK_W{1'b0}};
    wire same      = slot_opcode == ent_opcode && slot_plen == ent_plen && slot_pad == ent_pad;

    wire up        = is_data && ent_up;
    wire down      = is_data && !ent_up;
    wire accept    = up && in_order && tag_ok && (first || same);
    wire resend    = up && behind && tag_ok && slot_complete;
    wire [MASK_W-1:0] mask_next = slot_mask | self;
    wire full      = (mask_next & ent_in_mask) == ent_in_mask;
    wire completes = accept && full;
    wire gap_nak   = up && ahead && cfg_gap_nak && ent_host && !ep_nak_sent;
    wire has_parent = ent_parent_mask != {MASK_W{1'b0}};

    // where a result, a copy, or an answer goes
    wire [MASK_W-1:0] result_mask = has_parent ? ent_parent_mask : ent_out_mask;
    wire [MASK_W-1:0] resend_mask = has_parent ? ent_parent_mask : self;

    assign tx_mask   = completes ? result_mask : resend ? resend_mask : down ? ent_out_mask : self;
    wire   sends     = (completes || resend || down) ? tx_mask != {MASK_W{1'b0}} : (gap_nak || is_ack || is_cnp);
    assign tx_fanout = (completes && !has_parent) || down;
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

    assign tx_opcode = (accept ? new_opcode : resend ? slot_opcode : gap_nak ? OP_ACK : ent_opcode);
    assign tx_se     = accept ? new_se : resend ? slot_se : down && ent_se;
    assign tx_pad    = accept ? new_pad : resend ? slot_pad : down ? ent_pad : 2'd0;
    assign tx_ce     = accept ? new_ce : resend ? slot_ce : gap_nak ? 1'b0 : ent_ce;
    assign tx_psn    = gap_nak ? ep_acked + 24'd1 : ent_psn;
    assign tx_ext    = accept ? new_ext : resend ? slot_ext : gap_nak ? {NAK_SEQUENCE, ep_msn} : ent_ext;
    assign tx_plen   = accept ? new_plen : resend ? slot_plen : down ? ent_plen : {LEN_W{1'b0}};
    assign tx_words  = op_words_all;

    // ---- work on the payload ----

    wire [WORDS_W-1:0] op_words_all = resend ? slot_words : (accept || down) ? ent_words : {WORDS_W{1'b0}};
    wire               has_work     = op_words_all != {WORDS_W{1'b0}} && (accept || op_emit || op_reduce);

    assign op_start      = start_reg;
    assign op_words      = op_words_all;
    assign op_slot       = unit[SLOT_W-1:0];
    assign op_read       = TREE != 0 ? accept && (slot_mask & sibling) != {MASK_W{1'b0}} : resend || (accept && !first);
    assign op_take       = !resend;
    assign op_write      = accept;
    assign op_emit       = (down || (TREE == 0 && (completes || resend))) && sends;
    assign op_reduce     = TREE != 0 && (completes || resend) && sends;
    assign op_function   = ent_function;
    assign op_dtype      = ent_dtype;
    assign op_big_endian = ent_big_endian;
    generate
        for (e = 0; e < PLANES; e = e + 1) begin : gen_pairs
            if (2 * e + 1 < MASK_W) begin : gen_two
                assign op_pairs[e] = |mask_next[2*e +: 2];
            end else begin : gen_single
                assign op_pairs[e] = mask_next[2*e];
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
    wire quick      = state_reg == S_LOOK && ent_valid && ent_bypass && vrd_valid;
    wire wants_op   = sound && has_work;
    wire op_free    = sent_reg || op_ready;
    wire commits_op = good && has_work;
    wire decided    = deciding && vrd_valid && (!(good && sends) || tx_room) && (!commits_op || op_free);
    wire done       = decided || quick;

    assign op_valid  = deciding && !sent_reg && op_ready && (decided ? commits_op : !vrd_valid && wants_op);
    assign op_spec   = !decided;
    assign op_commit = decided && sent_reg && commits_op;
    assign op_kill   = decided && sent_reg && !commits_op;
    assign pkt_start = start_reg;

    assign ent_pop   = done;
    assign vrd_pop   = done;
    assign tx_valid  = decided && good && sends;

    wire apply = decided && good;
    wire acks  = is_ack && apply;

    // ePSN moves on acceptance only; acked on answers that are passed to the endpoint
    wire [23:0] ack_to   = syn_ack ? ent_psn : ent_psn - 24'd1;
    wire [23:0] ack_step = ack_to - ep_acked;
    assign ep_we            = apply && (accept || gap_nak || is_ack);
    assign ep_epsn_next     = accept ? ep_epsn + 24'd1 : ep_epsn;
    assign ep_acked_next    = is_ack && !ack_step[23] ? ack_to : ep_acked;
    assign ep_msn_next      = accept && ends ? ep_msn + 24'd1 : ep_msn;
    assign ep_nak_sent_next = accept ? 1'b0 : gap_nak ? 1'b1 : ep_nak_sent;

    wire recycles = state_reg == S_RECYCLE;
    reg [SLOT_W-1:0] dual_slot_reg;
    reg [23:0]       dual_tag_reg;

    assign wr_en       = (apply && accept) || recycles;
    assign wr_slot     = recycles ? dual_slot_reg : slot;
    assign wr_tag      = recycles ? dual_tag_reg : slot_tag;
    assign wr_mask     = recycles ? {MASK_W{1'b0}} : mask_next;
    assign wr_complete = !recycles && full;
    assign wr_opcode   = new_opcode;
    assign wr_plen     = new_plen;
    assign wr_pad      = new_pad;
    assign wr_se       = new_se;
    assign wr_ext      = new_ext;
    assign wr_ce       = !recycles && new_ce;

    always @(posedge clk) begin
        if (rd_en) begin
            live_reg <= live_now;
        end
        if (done) begin
            start_reg <= vrd_end;
        end
        if (decided) begin
            sent_reg      <= 1'b0;
            dual_slot_reg <= dual_slot;
            dual_tag_reg  <= dual_tag;
            state_reg     <= apply && completes ? S_RECYCLE : S_LOOK;
        end else if (op_valid) begin
            sent_reg <= 1'b1;
        end else if (state_reg == S_RECYCLE) begin
            state_reg <= S_LOOK;
        end else if (state_reg == S_LOOK && ent_valid && !quick) begin
            state_reg <= S_DECIDE;
        end
        if (rst) begin
            state_reg <= S_LOOK;
            sent_reg  <= 1'b0;
            start_reg <= {PKT_W{1'b0}};
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
    wire d_whole = pass_6 && is_data && !ent_whole;
    wire pass_7  = pass_6 && (!is_data || ent_whole);
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
    assign count[C_TX_REFLECT]           = acks;
    assign count[C_TX_GAP_NAK]           = apply && gap_nak;
    assign count[C_TX_CNP]               = apply && is_cnp;
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
    assign count[C_DROP_WINDOW]          = apply && up && in_order && !tag_ok;
    assign count[C_DROP_SHAPE]           = apply && up && in_order && tag_ok && !accept;
    assign count[C_ECC_CORRECTED]        = 1'b0;                   // AggregateData's
    assign count[C_ECC_DOUBLE]           = 1'b0;                   // AggregateData's

    wire unused_bits = &{1'b0, last_wide, slot_bytes, n_wide, syndrome, ack_step, unit, sibling};

endmodule

`default_nettype wire
