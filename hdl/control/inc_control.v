// SPDX-License-Identifier: Apache-2.0
//
`ifdef INC_MESSAGE_RANGES
// inc_control: the ranges of in-band groups in Mode I: the roles of the current one, and what a control asks for.
//
// Contract
//   order       one frame at a time: ctl_rd, the answer, ctl_open if the frame opens a range, then ctl_rd again for the same frame
//   latency     ctl_rd in cycle 0, ctl_map in cycle 1, map_* from cycle 2 on, held until the next ctl_map; ctl_ei is the frame's endpoint in
//               cycle 0, ent_* stand still in cycle 1 and to the cycle after ctl_open. A ctl_rd without ctl_map changes nothing, but none comes
//               between ctl_map of a frame that may open a range and the cycle after ctl_open
//   open        ctl_open in cycle 0, the new range from a ctl_rd in cycle 2 on; open_rng, until then, its number
//   start       a group of which an endpoint is offered on init_* has no range; the first range begins at init_psn; taken in every cycle but
//               that after ctl_open
//   throughput  a ctl_rd in 2 cycles
//   stall       none
//   range       numbers are of messages. All frames are shown the current range, before the first one of a message before that, with the
//               registers' roles of an AllReduce. map_current: an acknowledgement while there is a range, data that is no control, a CNP
//   control     map_opens: legal, from one who sends in the range that it asks for; map_bad_control: not legal; map_wrong_role: legal, from one
//               who does not send; map_contradicts: it does not ask for the current range. At most one of the first three is high
//   roles       in of a Broadcast and out of a Reduce are empty; map_up: the endpoint is in in; map_down: it is the parent, not in in, and the
//               collective is not Reduce
//   reset       idle; no state of a group is known until its start
//   not done    does not know which message an endpoint is in: whether a frame belongs to the range, and when it opens one, is CheckMessage's
`else
// inc_control: the ranges of in-band groups: which one a packet belongs to, its roles there, its group PSN, and what opens the next.
//
// Contract
//   order       one frame at a time: ctl_rd, the answer, ctl_open if the frame opens a range, then ctl_rd again for the same frame
//   latency     ctl_rd in cycle 0, ctl_map in cycle 1, map_* from cycle 2 on, held until the next ctl_map; ctl_ei is the frame's endpoint in
//               cycle 0, ent_* stand still in cycle 1 and from there to the end of an open. A ctl_rd without ctl_map changes nothing, but
//               none comes between ctl_map of a frame that may open a range and ctl_open
//   open        ctl_open in cycle 0, ctl_busy in cycles 1 to 2**EP_W + 2, the new range from a ctl_rd in cycle 2**EP_W + 3 on; off_*
//               tell the new range's offsets, one number of the group a cycle in cycles 3 to 2**EP_W + 2
//   one port    with ONE_PORT the words are in memories of one port. An opening goes through MASK_W numbers, one in two cycles: ctl_busy in cycles
//               1 to 2 * MASK_W + 2, the new range from a ctl_rd in cycle 2 * MASK_W + 3 on, off_* in every other cycle from 4 on. init waits
//               while ctl_rd is high. In the cycle after one in which it had to, ctl_busy is high too; a range may be opened in it
//   numbers     those of MASK_W and more are no endpoint's: their offsets are not kept, what off_in, off_out and map_* say of them means nothing
//   start       every endpoint of a group offered on init_* gets offsets 0 (told on off_* for range 0), its group no range; the first range
//               begins at init_psn; taken in every cycle without ctl_busy
//   throughput  a ctl_rd in 2 cycles
//   stall       none; init waits while ctl_busy is high
//   range       map_current: belongs to the current range, map_previous: to the one before, neither: outside, and then only map_base,
//               map_opens, map_opens_up, map_bad_control and map_wrong_role mean anything (the last four and map_contradicts are low where
//               they do not apply), and map_begin, which is the current range's, before the first range the PSN before it; map_rng is the number of the range modulo 4, range 0 being the first since the start
//   CNP         belongs to the current range, its PSN to none: map_psn is ent_psn; before the first range it has the registers' roles of an
//               AllReduce, number 0, and map_begin and map_end mean nothing
//   roles       in of a Broadcast and out of a Reduce are empty; map_up: the endpoint is in in; map_down: it is the parent, not in in, and the
//               collective is not Reduce
//   reset       idle; no state of a group is known until its start
//   not done    does not know ePSN: whether a control that opens comes in order (map_opens_up) is CheckDuplicate's; opens what it is told to
`endif
`default_nettype none

module inc_control #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W   = 3,
    // bits of an endpoint's index in the table
    parameter EI_W   = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W = 5,
    // number of groups
    parameter GROUPS = 2,
`ifdef INC_MESSAGE_RANGES
`else
    // 1: what is kept of groups and endpoints is in memories of one port
    parameter ONE_PORT = 0,
`endif
    // element types and operations that there are, bit i for code i
    parameter DTYPES = 8,
    parameter OPS    = 1
) (
    input  wire              clk,
    input  wire              rst,

    // start of a group, an endpoint at a time
    input  wire              init_valid,
    output wire              init_take,
    input  wire [EI_W-1:0]   init_ei,
    input  wire [23:0]       init_psn,

    // the frame's context, from LookupTable
    input  wire              ctl_rd,
    input  wire              ctl_map,
    input  wire [EI_W-1:0]   ctl_ei,
    input  wire [EI_W-1:0]   ent_ei,
`ifdef INC_MESSAGE_RANGES
`else
    input  wire [23:0]       ent_psn,
`endif
    input  wire [7:0]        ent_opcode,
    input  wire              ent_empty,
    input  wire [31:0]       ent_ext,
    // the group's registers; the parent one-hot, 0 if there is none
    input  wire [MASK_W-1:0] ent_in_mask,
    input  wire [MASK_W-1:0] ent_out_mask,
    input  wire [MASK_W-1:0] ent_ack_mask,
    input  wire [MASK_W-1:0] ent_parent_mask,
    // GROUP_ROUTE of the root in ent_ext, one-hot
    input  wire              ent_route_valid,
    input  wire [MASK_W-1:0] ent_route_mask,
    input  wire              ent_root_sends,

    // where the frame belongs
    output wire              map_current,
`ifdef INC_MESSAGE_RANGES
`else
    output wire              map_previous,
`endif
`ifdef INC_MESSAGE_RANGES
    // a control: legal from one that sends; illegal; legal from one that does not send
    output wire              map_opens,
`else
    // a control at the endpoint's base: legal from one that sends, and in is in in; illegal; legal from one that does not send
    output wire              map_opens,
    output wire              map_opens_up,
`endif
    output wire              map_bad_control,
    output wire              map_wrong_role,
`ifdef INC_MESSAGE_RANGES
    // not the range's: DROP_CONTROL
    output wire              map_contradicts,
    // the range's number
    output wire [1:0]        map_rng,
    // first and last message of the range
`else
    // not what the range has at this PSN: DROP_CONTROL
    output wire              map_contradicts,
    // wire PSN at which the next range begins for the endpoint, which sent data
    output wire [23:0]       map_base,
    // group PSN, the range's number
    output wire [23:0]       map_psn,
    output wire [1:0]        map_rng,
    // first and last group PSN of the range
`endif
    output wire [23:0]       map_begin,
    output wire [23:0]       map_end,
    // roles of the endpoint in the range
    output wire              map_up,
    output wire              map_down,
    output wire              map_ackable_any,
    // only the ACKs of hosts count: AllReduce, Barrier
    output wire              map_needs_host,
    // neither a Reduce nor a Broadcast, and without a parent; the endpoint is the parent
    output wire              map_root,
    output wire              map_parent,
    output wire              map_reduces,
    output wire              map_spreads,
    output wire              map_barrier,
    output wire [1:0]        map_function,
    output wire [1:0]        map_dtype,
    output wire [MASK_W-1:0] map_in_mask,
    output wire [MASK_W-1:0] map_out_mask,
    output wire [MASK_W-1:0] map_ack_mask,
    output wire [MASK_W-1:0] map_parent_mask,

    // opens the range of the control that ent_* describe
`ifdef INC_MESSAGE_RANGES
    input  wire              ctl_open,
    // the number that it will have
    output wire [1:0]        open_rng
);
`else
    input  wire              ctl_open,
    output wire              ctl_busy,

    // offsets, for TranslateHeader
    output wire              off_we,
    output wire [EI_W-1:0]   off_ei,
    output wire [1:0]        off_rng,
    output wire [23:0]       off_in,
    output wire [23:0]       off_out
);
`endif

    localparam GRP_W = EI_W > EP_W ? EI_W - EP_W : 1;

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_control: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_control: MASK_W must be at most 2**EP_W");
        end
`ifdef INC_MESSAGE_RANGES
`else
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_control: ONE_PORT must be 0 or 1");
        end
`endif
        if (DTYPES < 1 || DTYPES > 15 || OPS < 1 || OPS > 7) begin : gen_bad_arithmetic
            $error("inc_control: DTYPES must be 1 to 15 and OPS 1 to 7");
        end
    endgenerate
`endif

    localparam [2:0] REDUCE = 3'd1, BROADCAST = 3'd2, BARRIER = 3'd3;
`ifdef INC_MESSAGE_RANGES
    localparam [7:0] OP_CONTROL = 8'h05, OP_ACK = 8'h11;
`else
    localparam [7:0] OP_CONTROL = 8'h05, OP_ACK = 8'h11, OP_CNP = 8'h81;
`endif
    localparam [3:0] HAS_DTYPE = DTYPES[3:0];
    localparam [3:0] HAS_OP    = OPS[3:0];

    // ---- indices ----

    wire [GRP_W-1:0] group;
    wire [GRP_W-1:0] read_group;
    wire [GRP_W-1:0] init_group;
`ifdef INC_MESSAGE_RANGES
`else
    wire [EI_W-1:0]  walk_ei;          // endpoint whose offsets are read by an open
    wire [EI_W-1:0]  put_ei;           // endpoint whose offsets are written by it
    reg  [EP_W-1:0]  walk_reg;
    reg  [EP_W-1:0]  at_reg;           // endpoint whose offsets the RAM shows
    reg  [EP_W-1:0]  put_reg;
`endif
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group      = ent_ei[EI_W-1:EP_W];
            assign read_group = ctl_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
`ifdef INC_MESSAGE_RANGES
`else
            assign walk_ei    = {group, walk_reg};
            assign put_ei     = {group, put_reg};
`endif
        end else begin : gen_one_group
            assign group      = 1'b0;
            assign read_group = 1'b0;
            assign init_group = 1'b0;
`ifdef INC_MESSAGE_RANGES
`else
            assign walk_ei    = walk_reg;
            assign put_ei     = put_reg;
`endif
        end
    endgenerate

    // the frame's endpoint
    wire [MASK_W-1:0] self;
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign self[e] = ent_ei[EP_W-1:0] == E;
        end
    endgenerate

`ifdef INC_MESSAGE_RANGES
    // ---- state: a word a group {number, last message, the current range: route, control's immediate, first message, valid} ----

    localparam RANGE_W = MASK_W + 32 + 24 + 1;
    localparam WORD_W  = 2 + 24 + RANGE_W;

    wire              cur_valid;
    wire [23:0]       cur_first, cur_last;
    wire [31:0]       cur_imm;
    wire [MASK_W-1:0] cur_route;
    wire [1:0]        cur_rng;

    reg  begin_reg;                    // the cycle after ctl_open

    wire [1:0]         next_rng   = cur_rng + {1'b0, cur_valid};
    wire [23:0]        next_first = cur_last + 24'd1;
    // the one that is missing goes in below, as a carry
    wire [24:0]        next_last  = {cur_last, 1'b1} + {4'd0, ent_ext[19:0], 1'b1};
    wire               init       = init_valid && !begin_reg;

    // With no range the word is that of a range of one message before the first: what comes next is then computed as ever.
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(WORD_W), .ADDR_W(GRP_W)) u_ranges (
        .clk   (clk),
        .we    (begin_reg || init),
        .waddr (begin_reg ? group : init_group),
        .wdata (begin_reg ? {next_rng, next_last[24:1], ent_route_mask, ent_ext, next_first, 1'b1}
                          : {2'd0, init_psn - 24'd1, {MASK_W{1'b0}}, 32'd0, init_psn - 24'd1, 1'b0}),
        .re    (ctl_rd),
        .raddr (read_group),
        .rdata ({cur_rng, cur_last, cur_route, cur_imm, cur_first, cur_valid})
    );

`else
    // ---- state: a word a group {number, last group PSN, previous and current range: route, control's immediate, first group PSN, valid} and
    // a word an endpoint: the current range's offsets {out, in}. They do for the range before too: who sent (heard) there has the same in
    // (out) offset now. That range's last PSN is the one before the current range's first ----

    localparam RANGE_W = MASK_W + 32 + 24 + 1;
    localparam WORD_W  = 2 + 24 + 2 * RANGE_W;

    wire              cur_valid, prev_valid;
    wire [23:0]       cur_first, cur_last, prev_first;
    wire [31:0]       cur_imm, prev_imm;
    wire [MASK_W-1:0] cur_route, prev_route;
    wire [1:0]        cur_rng;
    wire [23:0]       cur_in, cur_out;

    reg  busy_reg;                     // an open is under way
    reg  begin_reg;                    // its first cycle
    reg  walking_reg;                  // walk_reg is read
    reg  at_valid_reg;                 // at_reg is shown
    reg  put_valid_reg;                // put_reg is written
    reg  turn_reg;                     // with one port: walk_reg was read in the cycle before
    reg  waits_reg;                    // with one port: a start had to wait
    wire walk_reads = walking_reg && !turn_reg;

    wire [RANGE_W-1:0] cur_word   = {cur_route, cur_imm, cur_first, cur_valid};
    wire [1:0]         next_rng   = cur_rng + {1'b0, cur_valid};
    wire [23:0]        next_first = cur_last + 24'd1;
    // the one that is missing goes in below, as a carry
    wire [24:0]        next_last  = {cur_last, 1'b1} + {4'd0, ent_ext[19:0], 1'b1};
    wire [23:0]        next_in;
    wire [23:0]        next_out;
    wire               init       = init_valid && !busy_reg && !(ONE_PORT != 0 && ctl_rd);

    // With no range the word is that of a range of one PSN before the first: what comes next is then computed as ever.
    inc_table #(.WORDS(1 << GRP_W), .BITS(WORD_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_ranges (
        .clk   (clk),
        .we    (begin_reg || init),
        .waddr (begin_reg ? group : init_group),
        .wdata (begin_reg ? {next_rng, next_last[24:1], cur_word, ent_route_mask, ent_ext, next_first, 1'b1}
                          : {2'd0, init_psn - 24'd1, {RANGE_W{1'b0}}, {MASK_W{1'b0}}, 32'd0, init_psn - 24'd1, 1'b0}),
        .re    (ctl_rd),
        .raddr (read_group),
        .rdata ({cur_rng, cur_last, prev_route, prev_imm, prev_first, prev_valid, cur_route, cur_imm, cur_first, cur_valid})
    );

    // an opening and a start go through all numbers of a group; what is written for one that no endpoint has is not kept
    localparam RECORDS = GROUPS * MASK_W > 2 ? GROUPS * MASK_W : 2;
    localparam INDEX_W = $clog2(RECORDS);
    wire [INDEX_W-1:0] walk_at, ctl_at, off_at;
    wire               walk_there, ctl_there, off_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_walk_index (
        .ei(walk_ei), .index(walk_at), .present(walk_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_ctl_index (
        .ei(ctl_ei), .index(ctl_at), .present(ctl_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_off_index (
        .ei(off_ei), .index(off_at), .present(off_there));

    inc_table #(.WORDS(RECORDS), .BITS(48), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_offsets (
        .clk   (clk),
        .we    (off_we && off_there),
        .waddr (off_at),
        .wdata ({off_out, off_in}),
        .re    (ctl_rd || walk_reads),
        .raddr (walking_reg ? walk_at : ctl_at),
        .rdata ({cur_out, cur_in})
    );

`endif
    // ---- roles of a range: {ack, out, in, parent} ----

    function [4*MASK_W-1:0] roles(
        input [2:0] collective, input [MASK_W-1:0] route, input root_sends,
        input [MASK_W-1:0] in_mask, input [MASK_W-1:0] out_mask, input [MASK_W-1:0] ack_mask, input [MASK_W-1:0] parent_mask);
        reg [MASK_W-1:0] tree;
        reg [MASK_W-1:0] others;
        begin
            tree   = in_mask | out_mask | parent_mask;
            others = tree & ~route;
            case (collective)
                REDUCE:    roles = {route, {MASK_W{1'b0}}, others | (root_sends ? route & ack_mask & tree : {MASK_W{1'b0}}), route};
                BROADCAST: roles = {others, others, {MASK_W{1'b0}}, route};
                default:   roles = {ack_mask, out_mask, in_mask, parent_mask};
            endcase
        end
    endfunction

    wire [MASK_W-1:0] cur_r_ack, cur_r_out, cur_r_in, cur_r_parent;
`ifdef INC_MESSAGE_RANGES
`else
    wire [MASK_W-1:0] prev_r_ack, prev_r_out, prev_r_in, prev_r_parent;
`endif
    wire [MASK_W-1:0] new_r_ack, new_r_out, new_r_in, new_r_parent;
    wire [2:0]        cur_collective  = cur_imm[31:29];
`ifdef INC_MESSAGE_RANGES
`else
    wire [2:0]        prev_collective = prev_imm[31:29];
`endif
    wire [2:0]        new_collective  = ent_ext[31:29];

    assign {cur_r_ack, cur_r_out, cur_r_in, cur_r_parent}
        = roles(cur_collective, cur_route, ent_root_sends, ent_in_mask, ent_out_mask, ent_ack_mask, ent_parent_mask);
`ifdef INC_MESSAGE_RANGES
`else
    assign {prev_r_ack, prev_r_out, prev_r_in, prev_r_parent}
        = roles(prev_collective, prev_route, ent_root_sends, ent_in_mask, ent_out_mask, ent_ack_mask, ent_parent_mask);
`endif
    assign {new_r_ack, new_r_out, new_r_in, new_r_parent}
        = roles(new_collective, ent_route_mask, ent_root_sends, ent_in_mask, ent_out_mask, ent_ack_mask, ent_parent_mask);

    // who sends and who hears
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};
`ifdef INC_MESSAGE_RANGES
`else
    wire [MASK_W-1:0] cur_sends  = cur_r_in | (cur_collective != REDUCE ? cur_r_parent : NOBODY);
    wire [MASK_W-1:0] cur_hears  = cur_r_out | (cur_collective != BROADCAST ? cur_r_parent : NOBODY);
    wire [MASK_W-1:0] prev_sends = prev_r_in | (prev_collective != REDUCE ? prev_r_parent : NOBODY);
    wire [MASK_W-1:0] prev_hears = prev_r_out | (prev_collective != BROADCAST ? prev_r_parent : NOBODY);
`endif
    wire [MASK_W-1:0] new_sends  = new_r_in | (new_collective != REDUCE ? new_r_parent : NOBODY);

`ifdef INC_MESSAGE_RANGES
    // ---- what the frame is ----

    wire is_ack     = ent_opcode == OP_ACK;
    wire is_control = ent_opcode == OP_CONTROL && ent_empty;

    // What is shown: {begin, end, whether it is a Reduce, Broadcast, Barrier, function, type, the endpoint's roles, all roles}
`else
    // ---- which range: never both, as the PSNs on a wire go on from one to the next, and so the base lies in neither ----

    wire is_data    = ent_opcode <= OP_CONTROL;
    wire is_ack     = ent_opcode == OP_ACK;
    wire is_cnp     = ent_opcode == OP_CNP;
    wire is_control = ent_opcode == OP_CONTROL && ent_empty;

    // of data and ACKs, which this bit tells apart; nobody asks for others
    wire        hears  = ent_opcode[4];
    wire        ranged = is_data || is_ack;

    wire        cur_self_sends = !cur_valid || (cur_sends & self) != NOBODY;
    wire        cur_takes  = ranged && cur_valid && ((hears ? cur_hears : cur_sends) & self) != NOBODY;
    wire        prev_takes = ranged && prev_valid && ((hears ? prev_hears : prev_sends) & self) != NOBODY;
    wire [23:0] prev_last  = cur_first - 24'd1;

    // What is shown, for both ranges: which one it is comes last. {begin, end, whether it is a Reduce, Broadcast, Barrier, function, type, the endpoint's roles, all roles}
`endif
    localparam SHOW_W = 24 + 24 + 7 + 6 + 4 * MASK_W;
`ifdef INC_MESSAGE_RANGES
    wire [SHOW_W-1:0] cur_show;
`else
    wire [SHOW_W-1:0] cur_show, prev_show;
`endif
    assign cur_show  = {cur_first, cur_last, cur_collective == REDUCE, cur_collective == BROADCAST, cur_collective == BARRIER, cur_imm[28:25],
                        (cur_r_in & self) != NOBODY, (cur_r_parent & ~cur_r_in & self) != NOBODY && cur_collective != REDUCE,
                        (cur_r_ack & self) != NOBODY, cur_collective != REDUCE && cur_collective != BROADCAST,
                        cur_collective != REDUCE && cur_collective != BROADCAST && cur_r_parent == NOBODY, (cur_r_parent & self) != NOBODY,
                        cur_r_in, cur_r_out, cur_r_ack, cur_r_parent};
`ifdef INC_MESSAGE_RANGES
`else
    assign prev_show = {prev_first, prev_last, prev_collective == REDUCE, prev_collective == BROADCAST, prev_collective == BARRIER, prev_imm[28:25],
                        (prev_r_in & self) != NOBODY, (prev_r_parent & ~prev_r_in & self) != NOBODY && prev_collective != REDUCE,
                        (prev_r_ack & self) != NOBODY, prev_collective != REDUCE && prev_collective != BROADCAST,
                        prev_collective != REDUCE && prev_collective != BROADCAST && prev_r_parent == NOBODY, (prev_r_parent & self) != NOBODY,
                        prev_r_in, prev_r_out, prev_r_ack, prev_r_parent};
`endif

    // a control that would open a range
    wire        rerooted = new_collective == REDUCE || new_collective == BROADCAST;
    wire        legal    = !new_collective[2] && HAS_OP[ent_ext[28:27]] && HAS_DTYPE[ent_ext[26:25]] && (!rerooted || ent_route_valid)
                           && !(new_collective == BROADCAST && ent_ext[19:0] == 20'd0);
    wire        would    = (new_sends & self) != NOBODY;

`ifdef INC_MESSAGE_RANGES
    // ---- shown until the next frame ----

    reg  [SHOW_W-1:0] cur_show_reg;
    reg               current_reg, control_reg, same_reg, legal_reg, would_reg;
    reg  [1:0]        rng_reg;

    always @(posedge clk) begin
        if (ctl_map) begin
            cur_show_reg <= cur_show;
            current_reg  <= is_ack ? cur_valid : !is_control;
            control_reg  <= is_control;
            same_reg     <= ent_ext == cur_imm;
            legal_reg    <= legal;
            would_reg    <= would;
            rng_reg      <= cur_rng;
        end
        begin_reg <= ctl_open;
        if (rst) begin
            begin_reg <= 1'b0;
        end
    end

    assign map_current     = current_reg;
    assign map_opens       = control_reg && legal_reg && would_reg;
    assign map_bad_control = control_reg && !legal_reg;
    assign map_wrong_role  = control_reg && legal_reg && !would_reg;
    assign map_contradicts = control_reg && !same_reg;
    assign map_rng         = rng_reg;
    assign {map_begin, map_end, map_reduces, map_spreads, map_barrier, map_function, map_dtype, map_up, map_down, map_ackable_any, map_needs_host,
            map_root, map_parent,
            map_in_mask, map_out_mask, map_ack_mask, map_parent_mask} = cur_show_reg;

    assign init_take = init;
    assign open_rng  = next_rng;

    wire unused_bits = &{1'b0, next_last, init_ei, ctl_ei, new_r_ack, new_r_out};
`else
    // ---- the first of two steps: the memory of offsets takes most of a cycle, so its word goes no further in it. What needs none of it
    // is computed beside it: how far the PSN on the wire lies behind each range's first, and before its last ----

    reg  [23:0]       offset_reg;
    reg  [23:0]       psn_reg;                                       // on the wire
    reg  [23:0]       cur_behind_reg, cur_before_reg, prev_behind_reg;
    reg  [SHOW_W-1:0] cur_show_reg, prev_show_reg;
    reg               cur_takes_reg, prev_takes_reg, self_sends_reg;
    reg               data_reg, control_reg, cnp_reg;
    reg               cur_same_reg, prev_same_reg;                   // the range's immediate
    reg               legal_reg, would_reg, would_in_reg;
    reg  [1:0]        rng_reg;

    always @(posedge clk) begin
        if (ctl_map) begin
            offset_reg      <= hears ? cur_out : cur_in;
            psn_reg         <= ent_psn;
            cur_behind_reg  <= ent_psn - cur_first;
            cur_before_reg  <= cur_last - ent_psn;
            prev_behind_reg <= ent_psn - prev_first;
            cur_show_reg    <= cur_show;
            prev_show_reg   <= prev_show;
            cur_takes_reg   <= cur_takes;
            prev_takes_reg  <= prev_takes;
            self_sends_reg  <= cur_self_sends;
            data_reg        <= is_data;
            control_reg     <= is_control;
            cnp_reg         <= is_cnp;
            cur_same_reg    <= ent_ext == cur_imm;
            prev_same_reg   <= ent_ext == prev_imm;
            legal_reg       <= legal;
            would_reg       <= would;
            would_in_reg    <= (new_r_in & self) != NOBODY;
            rng_reg         <= cur_rng;
        end
    end

    // ---- the second: with the offset ----

    wire [23:0] cur_past  = cur_behind_reg - offset_reg;
    wire [23:0] cur_left  = cur_before_reg + offset_reg;
    wire [23:0] prev_past = prev_behind_reg - offset_reg;
    wire        cur_at_first  = cur_behind_reg == offset_reg;
    wire        cur_behind    = cur_before_reg == ~offset_reg;       // by one
    wire        prev_at_first = prev_behind_reg == offset_reg;
    wire        in_cur  = cur_takes_reg && !cur_past[23] && !cur_left[23];
    wire        in_prev = prev_takes_reg && !prev_past[23] && cur_past[23];

    // not what the range has there
    wire        cur_differs  = cur_at_first != control_reg || (cur_at_first && !cur_same_reg);
    wire        prev_differs = prev_at_first != control_reg || (prev_at_first && !prev_same_reg);
    wire        cur_wrong    = data_reg && cur_takes_reg && cur_differs;
    wire        prev_wrong   = data_reg && prev_takes_reg && prev_differs;

    // a control at the endpoint's base: who sent in this range goes on behind it, the others where it began; data has the offset in
    wire [23:0] first_shown = cur_show_reg[SHOW_W-1 -: 24];
    wire [23:0] last_shown  = cur_show_reg[SHOW_W-25 -: 24];
    wire [24:0] base        = {self_sends_reg ? last_shown : first_shown, self_sends_reg} + {offset_reg, self_sends_reg};
    wire        at_base     = control_reg && (self_sends_reg ? cur_behind : cur_at_first);

    assign map_current     = in_cur || cnp_reg;
    assign map_previous    = in_prev;
    assign map_opens       = at_base && legal_reg && would_reg;
    assign map_opens_up    = at_base && legal_reg && would_in_reg;
    assign map_bad_control = at_base && !legal_reg;
    assign map_wrong_role  = at_base && legal_reg && !would_reg;
    // in_prev or in_cur, of which the first is never without cur_past[23] and the second never with it
    assign map_contradicts = cur_past[23] ? !prev_past[23] && prev_wrong : !cur_left[23] && cur_wrong;
    assign map_base        = base[24:1];
    assign map_psn         = cnp_reg ? psn_reg : psn_reg - offset_reg;
    assign map_rng         = rng_reg - {1'b0, in_prev};
    assign {map_begin, map_end, map_reduces, map_spreads, map_barrier, map_function, map_dtype, map_up, map_down, map_ackable_any, map_needs_host,
            map_root, map_parent,
            map_in_mask, map_out_mask, map_ack_mask, map_parent_mask} = in_prev ? prev_show_reg : cur_show_reg;

    // ---- open: the group's word first, then endpoint by endpoint ----

    // With one port each number is read in one cycle, and one that was read before is written in the next.
    localparam [EP_W:0] LAST = ONE_PORT != 0 ? MASK_W[EP_W:0] - {{EP_W{1'b0}}, 1'b1} : {1'b0, {EP_W{1'b1}}};
    wire walk_last = walk_reg == LAST[EP_W-1:0];
    wire walk_goes = walking_reg && (ONE_PORT == 0 || turn_reg);
    // who sends and who hears in the range that ends, from the endpoint on that is written; before the first range all do
    reg  [MASK_W-1:0] sent_reg;
    reg  [MASK_W-1:0] heard_reg;
    wire [MASK_W:0]   sent_more  = {!cur_valid, sent_reg};
    wire [MASK_W:0]   heard_more = {!cur_valid, heard_reg};
    // offsets a cycle after they were shown, of what is written, and the range's packets: the memories take most of a cycle, and so does
    // the sum
    reg  [23:0]       in_reg, out_reg;
    reg  [19:0]       packets_reg;

    always @(posedge clk) begin
        begin_reg     <= ctl_open;
        at_reg        <= walk_reg;
        at_valid_reg  <= walk_goes;
        put_reg       <= at_reg;
        put_valid_reg <= at_valid_reg;
        turn_reg      <= ONE_PORT != 0 && walk_reads;
        waits_reg     <= ONE_PORT != 0 && init_valid && !init;
        if (begin_reg) begin
            sent_reg  <= cur_sends | {MASK_W{!cur_valid}};
            heard_reg <= cur_hears | {MASK_W{!cur_valid}};
        end else if (put_valid_reg) begin
            sent_reg  <= sent_more[MASK_W:1];
            heard_reg <= heard_more[MASK_W:1];
        end
        if (ctl_open) begin
            busy_reg    <= 1'b1;
            walking_reg <= 1'b1;
            walk_reg    <= {EP_W{1'b0}};
        end else begin
            if (walk_goes) begin
                walk_reg    <= walk_reg + {{(EP_W-1){1'b0}}, 1'b1};
                walking_reg <= !walk_last;
            end else if (!walking_reg && !at_valid_reg) begin
                busy_reg    <= 1'b0;
            end
        end
        if (at_valid_reg) begin
            in_reg      <= cur_in;
            out_reg     <= cur_out;
            packets_reg <= cur_imm[19:0];
        end
        if (rst) begin
            begin_reg     <= 1'b0;
            busy_reg      <= 1'b0;
            walking_reg   <= 1'b0;
            at_valid_reg  <= 1'b0;
            put_valid_reg <= 1'b0;
            turn_reg      <= 1'b0;
            waits_reg     <= 1'b0;
        end
    end

    // less the range for who did not send, or hear: the inverse of the PSNs behind its first is one less than their number less
    assign next_in  = in_reg + (sent_reg[0] ? 24'd0 : ~{4'd0, packets_reg});
    assign next_out = out_reg + (heard_reg[0] ? 24'd0 : ~{4'd0, packets_reg});

    assign ctl_busy  = busy_reg || waits_reg;
    assign init_take = init;
    assign off_we    = put_valid_reg || init;
    assign off_ei    = put_valid_reg ? put_ei : init_ei;
    assign off_rng   = put_valid_reg ? next_rng : 2'd0;
    assign off_in    = put_valid_reg ? next_in : 24'd0;
    assign off_out   = put_valid_reg ? next_out : 24'd0;

    wire unused_bits = &{1'b0, cur_past, cur_left, prev_past, next_last, base, sent_more, heard_more, walk_there, ctl_there, new_r_ack, new_r_out};
`endif

endmodule

`default_nettype wire
