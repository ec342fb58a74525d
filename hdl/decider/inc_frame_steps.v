// SPDX-License-Identifier: Apache-2.0
//
// inc_frame_steps: takes frames through the steps of the decision, and keeps what every decision needs of them.
//
// Contract
//   order       frames in the order of their entries, one in each step: A, B, C; with IN_BAND, inc_frame_entry before A
//   steps       A, one cycle or more, until a_ready; B two, which may be a bypassed frame's one; C until the frame is done. A frame goes on
//               (s_go, a_go, b_go) when the next step is free or becomes so
//   latency     an entry in cycle 0 is in A in cycle 1, of an in-band group in 3
//   throughput  a frame in 2 cycles, a bypassed one in 1; one behind a control of an in-band group that opens no range a cycle later. With APART a
//               frame in 3, a bypassed one in 2: a step takes a frame when it is free, and not in the cycle in which C is left, which is known last
//   stall       holds, a_ready, c_free; c_leaves comes last in its cycle, so nothing but a choice hangs on it here
//   slot        its word is read with a_go, slot_* one cycle later; what the frame in C will write is taken instead if that has the same slot
//               (a_follows_slot, c_wr), or is writing it (a_written_slot). b_takes_slot: B takes what C has not written yet. `redo`, in the
//               cycle in which C is left by a frame that has not written it: B takes what the memory has, one cycle later
//   facts       f_*, in B's second cycle: the frame compared with its slot. The slot as it stands behind this contribution is wr_*, in C
//   live        c_live: the frame's group was live from when it was looked up
//   end         with the verdict, in C: c_intact; of a frame that is c_decided exactly one bit of c_drops, or c_passed
//   reset       no frame
//   not done    which slot, the state of endpoints and groups, what a frame does: those who decide
`default_nettype none

module inc_frame_steps #(
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
    // 1: contributions are kept by pairs of endpoints
    parameter TREE     = 0,
    // number of groups
    parameter GROUPS   = 2,
    // 1: a wrong ICRC drops the frame
    parameter ICRC     = 1,
    // 1: there are in-band groups
    parameter IN_BAND  = 0,
    // 1: a frame goes on in the cycle behind that in which the one ahead leaves C, 0: in that cycle
    parameter APART    = 0
) (
    input  wire                clk,
    input  wire                rst,

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
    output wire                ctl_map,
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
    input  wire                map_root,
    input  wire                map_parent,
    input  wire                map_reduces,
    input  wire                map_spreads,
    input  wire                map_barrier,
    input  wire [1:0]          map_function,
    input  wire [1:0]          map_dtype,
    input  wire [MASK_W-1:0]   map_in_mask,
    input  wire [MASK_W-1:0]   map_out_mask,
    input  wire [MASK_W-1:0]   map_ack_mask,
    input  wire [MASK_W-1:0]   map_parent_mask,

    // how the frame ended, from the packet buffer, with the verdict
    input  wire                vrd_err,
    input  wire                vrd_len_ok,
    input  wire                vrd_icrc_ok,

    // the slot's word, from RecycleBuffer, and what it is to be
    input  wire [23:0]         slot_tag,
    input  wire [MASK_W-1:0]   slot_mask,
    input  wire                slot_complete,
    input  wire [7:0]          slot_opcode,
    input  wire [LEN_W-1:0]    slot_plen,
    input  wire [1:0]          slot_pad,
    input  wire                slot_se,
    input  wire [31:0]         slot_ext,
    input  wire                slot_ce,
    output wire [23:0]         wr_tag,
    output wire [MASK_W-1:0]   wr_mask,
    output wire                wr_complete,
    output wire [7:0]          wr_opcode,
    output wire [LEN_W-1:0]    wr_plen,
    output wire [1:0]          wr_pad,
    output wire                wr_se,
    output wire [31:0]         wr_ext,
    output wire                wr_ce,

    // no frame goes into A, none out of it
    input  wire                holds,

    // the frame that goes into A with s_go
    output wire                s_go,
    output wire [EI_W-1:0]     s_ei,
    output wire                s_data,
    output wire                s_up,
    output wire                s_spreads,
    output wire                s_root,
    output wire                s_parent,
    output wire                s_ranged,
    output wire [23:0]         s_psn,
    output wire [1:0]          s_dtype,
    output wire [SLOT_W-1:0]   s_base,
    output wire [4:0]          s_log2_n,

    // the frame in A; it may go; it is of the frame's slot that the next step writes, that is being written
    input  wire                a_ready,
    input  wire                a_follows_slot,
    input  wire                a_written_slot,
    output wire                a_go,
    output wire                a_valid,
    output wire                a_bypass,
    output wire [EI_W-1:0]     a_ei,
    output wire [MASK_W-1:0]   a_self,
    output wire                a_data,
    output wire                a_ack,
    output wire                a_syn_ack,
    output wire [23:0]         a_wire_psn,
    output wire                a_ranged,
    output wire [23:0]         a_psn,
    output wire [23:0]         a_begin,
    output wire                a_in_range,
    output wire                a_previous,
    output wire                a_down,
    output wire                a_reduces,
    output wire                a_spreads,
    output wire [MASK_W-1:0]   a_out_mask,
    output wire [MASK_W-1:0]   a_parent_mask,

    // the frame in B: b_stale, it read what C has not written yet, and is wrong if C leaves now; redo, it is looked at again;
    // then whether it is the first of its PSN, completes the slot, repeats what the slot has, empties it
    input  wire                b_stale,
    output wire                redo,
    input  wire                b_first,
    input  wire                b_completes,
    input  wire                b_repeats,
    input  wire                b_empties,
    output wire                b_go,
    output wire                b_valid,
    output wire                b_second,
    output wire                b_bypass,
    output wire [EI_W-1:0]     b_ei,
    output wire [MASK_W-1:0]   b_self,
    output wire                b_host,
    output wire                b_ce,
    output wire                b_data,
    output wire                b_ack,
    output wire                b_cnp,
    output wire                b_ends,
    output wire                b_syn_ack,
    output wire                b_syn_rnr,
    output wire                b_syn_nak,
    output wire                b_fine,
    output wire                b_bad_tver,
    output wire                b_bad_opcode,
    output wire                b_too_long,
    output wire [23:0]         b_wire_psn,
    output wire                b_ranged,
    output wire                b_opened,
    output wire [23:0]         b_psn,
    output wire [23:0]         b_begin,
    output wire [23:0]         b_range_base,
    output wire                b_in_range,
    output wire                b_previous,
    output wire                b_opens,
    output wire                b_opens_up,
    output wire                b_bad_control,
    output wire                b_wrong_role,
    output wire                b_contradicts,
    output wire                b_up,
    output wire                b_down,
    output wire                b_ackable,
    output wire                b_whole,
    output wire                b_reduces,
    output wire                b_spreads,
    output wire [1:0]          b_dtype,
    output wire [MASK_W-1:0]   b_in_mask,
    output wire [MASK_W-1:0]   b_out_mask,
    output wire [MASK_W-1:0]   b_parent_mask,

    // of its slot: as it stands, and in B's second cycle
    output wire                b_takes_slot,
    output wire [23:0]         b_tag,
    output wire [MASK_W-1:0]   b_mask,
    output wire                b_complete,
    output wire                f_first,
    output wire                f_same,
    output wire                f_same_imm,
    output wire                f_full,
    output wire                f_builds,
    output wire [WORDS_W-1:0]  f_slot_words,

    // the frame in C; C may take one, if it has none or is left; it is left; it writes the slot, its frame's group is alive, it is decided,
    // opens its range, is done
    input  wire                c_free,
    input  wire                c_leaves,
    input  wire                c_wr,
    input  wire                c_lives,
    input  wire                c_decided,
    input  wire                c_opening,
    input  wire                c_done,
    output wire                c_valid,
    output wire                c_live,
    output wire                c_bypass,
    output wire [EI_W-1:0]     c_ei,
    output wire [MASK_W-1:0]   c_self,
    output wire                c_syn_ack,
    output wire                c_syn_rnr,
    output wire                c_syn_nak,
    output wire [7:0]          c_opcode,
    output wire                c_se,
    output wire [1:0]          c_pad,
    output wire                c_ce,
    output wire [23:0]         c_wire_psn,
    output wire [31:0]         c_ext,
    output wire [LEN_W-1:0]    c_plen,
    output wire [WORDS_W-1:0]  c_words,
    output wire                c_big_endian,
    output wire                c_ranged,
    output wire                c_opened,
    output wire [1:0]          c_rng,
    output wire [23:0]         c_psn,
    output wire [23:0]         c_begin,
    output wire [23:0]         c_end,
    output wire [23:0]         c_range_base,
    output wire                c_reduces,
    output wire                c_spreads,
    output wire [1:0]          c_function,
    output wire [1:0]          c_dtype,
    output wire [MASK_W-1:0]   c_in_mask,
    output wire [MASK_W-1:0]   c_out_mask,
    output wire [MASK_W-1:0]   c_ack_mask,
    output wire [MASK_W-1:0]   c_parent_mask,

    // its end: undamaged; none of the first reasons to drop it holds; which one does, in the order of the counters
    output wire                c_intact,
    output wire                c_passed,
    output wire [5:0]          c_drops
);

    localparam GRP_W     = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam LANE_W    = $clog2(BYTES);
    localparam SLOT_BITS = 24 + MASK_W + 1 + 8 + LEN_W + 2 + 1 + 32 + 1;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    // what goes with a frame from step to step, as inc_frame_entry puts it together: its header
    // (flags, endpoint, opcode, SE, pad and CE, PSN, extension, payload, byte order), and what its group computes there
    // (ranged and range, four PSNs, what Control says of it, roles, Reduce and Broadcast, function and type, masks)
    localparam FRAME_W = 7 + EI_W + 8 + 4 + 24 + 32 + LEN_W + WORDS_W + 1;
    localparam VIEW_W  = 4 + 4 * 24 + 7 + 4 + 2 + 4 + 4 * MASK_W;

`ifndef __ICARUS__
    generate
        if (TREE < 0 || TREE > 1) begin : gen_bad_tree
            $error("inc_frame_steps: TREE must be 0 or 1");
        end
        if (APART < 0 || APART > 1) begin : gen_bad_apart
            $error("inc_frame_steps: APART must be 0 or 1");
        end
        if ((1 << LANE_W) != BYTES || LEN_W < LANE_W) begin : gen_bad_bytes
            $error("inc_frame_steps: BYTES must be a power of two of at most LEN_W bits");
        end
    endgenerate
`endif

    wire [GRP_W-1:0] a_group, b_group, c_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign a_group = a_ei[EI_W-1:EP_W];
            assign b_group = b_ei[EI_W-1:EP_W];
            assign c_group = c_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {a_group, b_group, c_group} = 3'd0;
        end
    endgenerate
    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};

    // ---- the frame that is offered to A ----

    wire               m_valid, s_valid, s_ready;
    wire               s_live;         // its group was live since it was looked up first
    wire [FRAME_W-1:0] s_frame;
    wire [VIEW_W-1:0]  s_view;
    wire [MASK_W-1:0]  s_self;
    wire [7:0]         s_opcode;
    wire [31:0]        s_ext;
    wire               a_opener;       // may open a range: younger frames wait until it is decided
    reg                c_opener_reg;

    inc_frame_entry #(.LEN_W(LEN_W), .WORDS_W(WORDS_W), .EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .SLOT_W(SLOT_W), .GROUPS(GROUPS),
                      .IN_BAND(IN_BAND), .FRAME_W(FRAME_W), .VIEW_W(VIEW_W)) u_entry (
        .clk(clk), .rst(rst), .grp_live(grp_live),
        .ent_valid(ent_valid), .ent_pop(ent_pop), .ent_bypass(ent_bypass), .ent_foreign(ent_foreign), .ent_ei(ent_ei), .ent_host(ent_host),
        .ent_up(ent_up), .ent_down(ent_down), .ent_ackable(ent_ackable), .ent_sum_ok(ent_sum_ok), .ent_len_ok(ent_len_ok),
        .ent_tver_ok(ent_tver_ok), .ent_too_long(ent_too_long), .ent_whole(ent_whole), .ent_empty(ent_empty), .ent_opcode(ent_opcode),
        .ent_se(ent_se), .ent_pad(ent_pad), .ent_ce(ent_ce), .ent_psn(ent_psn), .ent_ext(ent_ext), .ent_plen(ent_plen),
        .ent_words(ent_words), .ent_base(ent_base), .ent_log2_n(ent_log2_n), .ent_in_mask(ent_in_mask), .ent_out_mask(ent_out_mask),
        .ent_ack_mask(ent_ack_mask), .ent_parent_mask(ent_parent_mask), .ent_collective(ent_collective), .ent_function(ent_function),
        .ent_dtype(ent_dtype), .ent_big_endian(ent_big_endian), .ent_in_band(ent_in_band), .ent_route_valid(ent_route_valid),
        .ent_route_mask(ent_route_mask), .ent_root_sends(ent_root_sends),
        .ctl_rd(ctl_rd), .ctl_map(ctl_map), .ctl_ei(ctl_ei), .ask_ei(ask_ei), .ask_psn(ask_psn), .ask_opcode(ask_opcode), .ask_empty(ask_empty),
        .ask_ext(ask_ext), .ask_in_mask(ask_in_mask), .ask_out_mask(ask_out_mask), .ask_ack_mask(ask_ack_mask),
        .ask_parent_mask(ask_parent_mask), .ask_route_valid(ask_route_valid), .ask_route_mask(ask_route_mask),
        .ask_root_sends(ask_root_sends), .ctl_busy(ctl_busy),
        .map_current(map_current), .map_previous(map_previous), .map_opens(map_opens), .map_opens_up(map_opens_up),
        .map_bad_control(map_bad_control), .map_wrong_role(map_wrong_role), .map_contradicts(map_contradicts), .map_base(map_base),
        .map_psn(map_psn), .map_rng(map_rng), .map_begin(map_begin), .map_end(map_end), .map_up(map_up), .map_down(map_down),
        .map_ackable_any(map_ackable_any), .map_needs_host(map_needs_host), .map_root(map_root), .map_parent(map_parent),
        .map_reduces(map_reduces), .map_spreads(map_spreads),
        .map_barrier(map_barrier), .map_function(map_function),
        .map_dtype(map_dtype), .map_in_mask(map_in_mask), .map_out_mask(map_out_mask), .map_ack_mask(map_ack_mask),
        .map_parent_mask(map_parent_mask),
        .waits(m_valid), .valid(s_valid), .ready(s_ready), .live(s_live), .ei(s_ei), .frame(s_frame), .view(s_view),
        .opcode(s_opcode), .ext(s_ext), .up(s_up), .spreads(s_spreads), .root(s_root), .from_parent(s_parent), .self(s_self),
        .ranged(s_ranged), .psn(s_psn), .dtype(s_dtype), .base(s_base), .log2_n(s_log2_n),
        .opens(a_opener), .opener(c_opener_reg), .opening(c_opening), .done(c_done)
    );

    wire s_ends, s_has_imm, s_ack, s_cnp, s_syn_ack, s_syn_rnr, s_syn_nak;

    inc_frame_class u_class (
        .opcode   (s_opcode),
        .syndrome (s_ext[31:24]),
        .is_data  (s_data),
        .is_end   (s_ends),
        .has_imm  (s_has_imm),
        .is_ack   (s_ack),
        .is_cnp   (s_cnp),
        .syn_ack  (s_syn_ack),
        .syn_rnr  (s_syn_rnr),
        .syn_nak  (s_syn_nak)
    );

    // ---- who goes ----

    reg  a_valid_reg, b_valid_reg, c_valid_reg, b_second_reg;
    reg  b_through_reg;            // the frame in B has had its cycles there
    assign a_valid   = a_valid_reg;
    assign b_valid   = b_valid_reg;
    assign c_valid   = c_valid_reg;
    assign b_second  = b_second_reg;
    assign redo      = b_stale && c_leaves;

    // Whether C is left is known last: of every step, whether its frame goes in any case, and whether it goes if C is left.
    wire b_ready = b_through_reg && c_free;
    wire b_goes  = b_ready && !c_valid;
    wire b_may   = b_ready && !b_stale;
    wire a_may   = a_valid && a_ready && !holds;
    wire a_goes  = a_may && (!b_valid || b_goes);

    assign b_go      = b_goes || (APART == 0 && b_may && c_leaves);
    assign a_go      = a_goes || (APART == 0 && a_may && b_may && c_leaves);
    assign s_go      = s_valid && s_ready;
    // whatever is offered: a frame that is held waits for nothing else
    assign s_ready   = a_go || (!a_valid && !holds);
    // what goes with a frame is looked at only while the frame is there: a step that is free takes what comes
    wire a_loads = !a_valid || a_go;
    wire b_loads = !b_valid || b_go;
    assign frm_waits = ent_valid || m_valid || a_valid || b_valid || c_valid;

    always @(posedge clk) begin
        a_valid_reg  <= s_go || (a_valid && !a_go);
        b_valid_reg  <= a_go || (b_valid && !b_go);
        b_second_reg <= !a_go && !redo;
        b_through_reg <= a_go ? a_bypass : b_valid && !b_go && (b_bypass || !redo);
        c_valid_reg  <= b_go || (c_valid && !c_leaves);
        if (rst) begin
            a_valid_reg <= 1'b0;
            b_valid_reg <= 1'b0;
            c_valid_reg <= 1'b0;
            b_through_reg <= 1'b0;
        end
    end

    // ---- A ----

    reg               a_live_reg, a_data_reg, a_ends_reg, a_has_imm_reg, a_ack_reg, a_cnp_reg;
    reg               a_syn_ack_reg, a_syn_rnr_reg, a_syn_nak_reg;
    reg [FRAME_W-1:0] a_frame;
    reg [VIEW_W-1:0]  a_view;
    reg [MASK_W-1:0]  a_self_reg;

    wire a_foreign, a_host, a_sum_ok, a_len_ok, a_tver_ok, a_over_mtu, a_se, a_ce, a_big_endian, a_opened, a_opens, a_opens_up;
    wire a_bad_control, a_wrong_role, a_contradicts, a_up, a_ackable, a_whole;
    wire [7:0] a_opcode;
    wire [1:0] a_pad, a_rng, a_function, a_dtype;
    wire [31:0] a_ext;
    wire [LEN_W-1:0] a_plen;
    wire [WORDS_W-1:0] a_words;
    wire [23:0] a_end, a_range_base;
    wire [MASK_W-1:0] a_in_mask, a_ack_mask;
    assign {a_bypass, a_foreign, a_ei, a_host, a_sum_ok, a_len_ok, a_tver_ok, a_over_mtu, a_opcode, a_se, a_pad, a_ce, a_wire_psn,
            a_ext, a_plen, a_words, a_big_endian} = a_frame;
    assign {a_ranged, a_opened, a_rng, a_psn, a_begin, a_end, a_range_base, a_in_range, a_previous, a_opens, a_opens_up,
            a_bad_control, a_wrong_role, a_contradicts, a_up, a_down, a_ackable, a_whole, a_reduces, a_spreads, a_function, a_dtype,
            a_in_mask, a_out_mask, a_ack_mask, a_parent_mask} = a_view;

    assign a_self    = a_self_reg;
    assign a_data    = a_data_reg;
    assign a_ack     = a_ack_reg;
    assign a_syn_ack = a_syn_ack_reg;
    assign a_opener  = a_ranged && a_data && !a_in_range && a_opens;

    always @(posedge clk) begin
        a_live_reg <= s_go ? s_live : a_live_reg && live_wide[{1'b0, a_group}];
        if (a_loads) begin
            a_frame       <= s_frame;
            a_view        <= s_view;
            a_self_reg    <= s_self;
            a_data_reg    <= s_data;
            a_ends_reg    <= s_ends;
            a_has_imm_reg <= s_has_imm;
            a_ack_reg     <= s_ack;
            a_cnp_reg     <= s_cnp;
            a_syn_ack_reg <= s_syn_ack;
            a_syn_rnr_reg <= s_syn_rnr;
            a_syn_nak_reg <= s_syn_nak;
        end
    end

    // ---- B: the frame ----

    reg               b_live_reg, b_opener_reg, b_data_reg, b_ends_reg, b_has_imm_reg, b_ack_reg, b_cnp_reg;
    reg               b_syn_ack_reg, b_syn_rnr_reg, b_syn_nak_reg;
    reg               b_fine_reg;      // nothing wrong with the header so far
    reg               b_bad_tver_reg, b_bad_opcode_reg, b_too_long_reg;
    reg [FRAME_W-1:0] b_frame;
    reg [VIEW_W-1:0]  b_view;
    reg [MASK_W-1:0]  b_self_reg;

    wire b_foreign, b_sum_ok, b_len_ok, b_tver_ok, b_over_mtu, b_se, b_big_endian;
    wire [7:0] b_opcode;
    wire [1:0] b_pad, b_rng, b_function;
    wire [31:0] b_ext;
    wire [LEN_W-1:0] b_plen;
    wire [WORDS_W-1:0] b_words;
    wire [23:0] b_end;
    wire [MASK_W-1:0] b_ack_mask;
    assign {b_bypass, b_foreign, b_ei, b_host, b_sum_ok, b_len_ok, b_tver_ok, b_over_mtu, b_opcode, b_se, b_pad, b_ce, b_wire_psn,
            b_ext, b_plen, b_words, b_big_endian} = b_frame;
    assign {b_ranged, b_opened, b_rng, b_psn, b_begin, b_end, b_range_base, b_in_range, b_previous, b_opens, b_opens_up,
            b_bad_control, b_wrong_role, b_contradicts, b_up, b_down, b_ackable, b_whole, b_reduces, b_spreads, b_function, b_dtype,
            b_in_mask, b_out_mask, b_ack_mask, b_parent_mask} = b_view;

    assign b_self       = b_self_reg;
    assign b_data       = b_data_reg;
    assign b_ends       = b_ends_reg;
    assign b_ack        = b_ack_reg;
    assign b_cnp        = b_cnp_reg;
    assign b_syn_ack    = b_syn_ack_reg;
    assign b_syn_rnr    = b_syn_rnr_reg;
    assign b_syn_nak    = b_syn_nak_reg;
    assign b_fine       = b_fine_reg;
    assign b_bad_tver   = b_bad_tver_reg;
    assign b_bad_opcode = b_bad_opcode_reg;
    assign b_too_long   = b_too_long_reg;

    wire a_known = a_data || a_ack || a_cnp_reg;

    always @(posedge clk) begin
        b_live_reg <= (a_go ? a_live_reg : b_live_reg) && live_wide[{1'b0, a_go ? a_group : b_group}];
        if (b_loads) begin
            b_opener_reg     <= a_opener;
            b_frame          <= a_frame;
            b_view           <= a_view;
            b_self_reg       <= a_self;
            b_data_reg       <= a_data;
            b_ends_reg       <= a_ends_reg;
            b_has_imm_reg    <= a_has_imm_reg;
            b_ack_reg        <= a_ack;
            b_cnp_reg        <= a_cnp_reg;
            b_syn_ack_reg    <= a_syn_ack;
            b_syn_rnr_reg    <= a_syn_rnr_reg;
            b_syn_nak_reg    <= a_syn_nak_reg;
            b_fine_reg       <= !a_bypass && !a_foreign && a_sum_ok && a_len_ok && a_tver_ok && a_known && !a_over_mtu;
            b_bad_tver_reg   <= !a_tver_ok;
            b_bad_opcode_reg <= a_tver_ok && !a_known;
            b_too_long_reg   <= a_tver_ok && a_known && a_over_mtu;
        end
    end

    // ---- B: its slot, then how the frame compares with that ----

    wire [SLOT_BITS-1:0] b_slot_word;
    wire              b_slot_ce, b_slot_se;
    wire [31:0]       b_slot_ext;
    wire [1:0]        b_slot_pad;
    wire [LEN_W-1:0]  b_slot_plen;
    wire [7:0]        b_slot_opcode;

    inc_look_ahead #(.BITS(SLOT_BITS)) u_slot_ahead (
        .clk    (clk),
        .read   (a_go),
        .follows(a_follows_slot),
        .written(a_written_slot),
        .redo   (redo),
        .ram    ({slot_ce, slot_ext, slot_se, slot_pad, slot_plen, slot_opcode, slot_complete, slot_mask, slot_tag}),
        .writes (c_wr),
        .next   ({wr_ce, wr_ext, wr_se, wr_pad, wr_plen, wr_opcode, wr_complete, wr_mask, wr_tag}),
        .takes  (b_takes_slot),
        .word   (b_slot_word)
    );
    assign {b_slot_ce, b_slot_ext, b_slot_se, b_slot_pad, b_slot_plen, b_slot_opcode, b_complete, b_mask, b_tag} = b_slot_word;

    // the other endpoint of its pair
    wire [MASK_W-1:0] b_sibling;
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_sibling
            if ((e ^ 1) < MASK_W) begin : gen_two
                assign b_sibling[e] = b_self[e ^ 1];
            end else begin : gen_single
                assign b_sibling[e] = 1'b0;
            end
        end
    endgenerate

    reg              f_first_reg, f_same_reg, f_same_imm_reg, f_full_first, f_full_more, f_paired, f_slot_ce, f_slot_se;
    reg [31:0]       f_slot_ext;
    reg [1:0]        f_slot_pad;
    reg [LEN_W-1:0]  f_slot_plen;
    reg [7:0]        f_slot_opcode;
    reg [MASK_W-1:0] f_mask;

    always @(posedge clk) begin
        if (!b_second) begin
            f_first_reg     <= b_first;
            f_same_reg      <= b_slot_opcode == b_opcode && b_slot_plen == b_plen && b_slot_pad == b_pad;
            f_same_imm_reg  <= b_slot_se == b_se && (b_slot_ext == b_ext || !b_has_imm_reg);
            f_full_first    <= (b_self & b_in_mask) == b_in_mask;
            f_full_more     <= ((b_mask | b_self) & b_in_mask) == b_in_mask;
            f_paired        <= (b_mask & b_sibling) != NOBODY;
            f_mask          <= b_mask;
            f_slot_ce       <= b_slot_ce;
            f_slot_ext      <= b_slot_ext;
            f_slot_se       <= b_slot_se;
            f_slot_pad      <= b_slot_pad;
            f_slot_plen     <= b_slot_plen;
            f_slot_opcode   <= b_slot_opcode;
        end
    end

    assign f_first     = f_first_reg;
    assign f_same      = f_same_reg;
    assign f_same_imm  = f_same_imm_reg;
    assign f_full      = f_first ? f_full_first : f_full_more;
    assign f_builds    = !f_first && (TREE == 0 || f_paired);
    // bytes to words
    wire [LEN_W:0] slot_bytes = {1'b0, f_slot_plen} + (BYTES[LEN_W:0] - {{LEN_W{1'b0}}, 1'b1});
    assign f_slot_words = slot_bytes[LANE_W +: WORDS_W];

    // ---- C: the frame, and its slot as it stands after this contribution; one that repeats has it as it stands ----

    reg               c_live_reg, c_syn_ack_reg, c_syn_rnr_reg, c_syn_nak_reg, n_complete, n_se, n_ce;
    reg [FRAME_W-1:0] c_frame;
    reg [VIEW_W-1:0]  c_view;
    reg [MASK_W-1:0]  c_self_reg, n_mask;
    reg [7:0]         n_opcode;
    reg [LEN_W-1:0]   n_plen;
    reg [1:0]         n_pad;
    reg [31:0]        n_ext;

    wire c_foreign, c_host, c_sum_ok, c_len_ok, c_tver_ok, c_over_mtu, c_in_range, c_previous, c_opens, c_opens_up, c_bad_control;
    wire c_wrong_role, c_contradicts, c_up, c_down, c_ackable, c_whole;
    assign {c_bypass, c_foreign, c_ei, c_host, c_sum_ok, c_len_ok, c_tver_ok, c_over_mtu, c_opcode, c_se, c_pad, c_ce, c_wire_psn,
            c_ext, c_plen, c_words, c_big_endian} = c_frame;
    assign {c_ranged, c_opened, c_rng, c_psn, c_begin, c_end, c_range_base, c_in_range, c_previous, c_opens, c_opens_up,
            c_bad_control, c_wrong_role, c_contradicts, c_up, c_down, c_ackable, c_whole, c_reduces, c_spreads, c_function, c_dtype,
            c_in_mask, c_out_mask, c_ack_mask, c_parent_mask} = c_view;

    assign c_live      = c_live_reg;
    assign c_self      = c_self_reg;
    assign c_syn_ack   = c_syn_ack_reg;
    assign c_syn_rnr   = c_syn_rnr_reg;
    assign c_syn_nak   = c_syn_nak_reg;
    assign wr_tag      = c_psn;
    assign wr_mask     = n_mask;
    assign wr_complete = n_complete;
    assign wr_opcode   = n_opcode;
    assign wr_plen     = n_plen;
    assign wr_pad      = n_pad;
    assign wr_se       = n_se;
    assign wr_ext      = n_ext;
    assign wr_ce       = n_ce;

    always @(posedge clk) begin
        c_live_reg <= (b_go ? b_live_reg : c_live_reg) && live_wide[{1'b0, b_go ? b_group : c_group}];
        if (b_go) begin
            c_opener_reg  <= b_opener_reg;
            c_frame       <= b_frame;
            c_view        <= b_view;
            c_self_reg    <= b_self;
            c_syn_ack_reg <= b_syn_ack;
            c_syn_rnr_reg <= b_syn_rnr;
            c_syn_nak_reg <= b_syn_nak;
            n_mask        <= (f_first ? b_self : b_repeats ? f_mask : f_mask | b_self) & {MASK_W{!b_empties}};
            n_complete    <= b_completes;
            n_opcode      <= f_first ? b_opcode : f_slot_opcode;
            n_plen        <= f_first ? b_plen : f_slot_plen;
            n_pad         <= f_first ? b_pad : f_slot_pad;
            n_se          <= f_first ? b_se : f_slot_se;
            n_ext         <= f_first ? b_ext : f_slot_ext;
            n_ce          <= !b_empties && (f_first ? b_ce : f_slot_ce || (b_ce && !b_repeats));
        end
    end

    // ---- how the frame in C ended ----

    wire icrc_ok = vrd_icrc_ok || ICRC == 0;

    assign c_intact = !vrd_err && vrd_len_ok && icrc_ok;

    inc_drop_ladder u_ladder (
        .decided       (c_decided),
        .foreign       (c_foreign),
        .live          (c_lives),
        .rx_err        (vrd_err),
        .sum_ok        (c_sum_ok),
        .len_ok        (c_len_ok && vrd_len_ok),
        .icrc_ok       (icrc_ok),
        .drop_foreign  (c_drops[0]),
        .drop_disabled (c_drops[1]),
        .drop_rx_error (c_drops[2]),
        .drop_checksum (c_drops[3]),
        .drop_length   (c_drops[4]),
        .drop_icrc     (c_drops[5]),
        .passed        (c_passed)
    );

    wire unused_fields = &{1'b0, s_ext, slot_bytes, a_host, a_se, a_ce, a_big_endian, a_opened, a_opens, a_opens_up, a_bad_control,
                          a_wrong_role, a_contradicts, a_up, a_ackable, a_whole, a_opcode, a_pad, a_rng, a_function, a_dtype, a_ext,
                          a_plen, a_words, a_end, a_range_base, a_in_mask, a_ack_mask, b_foreign, b_sum_ok, b_len_ok, b_tver_ok,
                          b_over_mtu, b_big_endian, b_rng, b_function, b_words, b_end, b_ack_mask, c_host, c_tver_ok, c_over_mtu,
                          c_in_range, c_previous, c_opens, c_opens_up, c_bad_control, c_wrong_role, c_contradicts, c_up, c_down,
                          c_ackable, c_whole};

endmodule

`default_nettype wire
