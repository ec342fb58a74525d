// SPDX-License-Identifier: Apache-2.0
//
// inc_frame_entry: the step in which a frame comes to be decided: its header and what its group computes, with IN_BAND by the range it
// belongs to.
//
// Contract
//   order       frames in the order of their entries, one at a time
//   latency     0 cycles for a frame of a fixed group, 1 if one is held up here; 2 of an in-band group: ctl_rd in the cycle in which it
//               comes, ctl_map in the next, map_* from the one after that on. A ctl_rd without ctl_map is a read for a frame that
//               was not taken, or is of a fixed group
//   throughput  1 frame per cycle, a frame of an in-band group in 2, one behind a control that opens no range in 3
//   stall       `valid` until `ready`, with which the frame goes
//   frame       {bypass, foreign, endpoint's index, host, sum_ok, len_ok, tver_ok, too_long, opcode, se, pad, ce, PSN on the wire,
//               extension, payload length, words, big_endian}
//   view        {of an in-band group, it has opened its range, the range's number, PSN, the range's first and last PSN and where the next
//               begins on the wire, {in a range, in the one before, opens one, opens one and contributes, a bad control, a wrong role,
//               contradicts the range}, {up, down, ackable, whole}, Reduce, Broadcast, function, type, masks of in, out, ACKs, parent}
//   opener      a control of an in-band group keeps younger frames out in the cycle in which it goes. `opens` says in the next whether it may
//               open a range. Then it is held here until it is `done`, or has opened its range (`opening`), after which it comes again,
//               from ctl_rd on, when ctl_busy is low. Of other frames that are done `opener` is low. No frame comes while ctl_busy is high
//   live        the frame's group was live whenever Control was asked
//   reset       empty
//   not done    knows no state of groups and endpoints
`default_nettype none

module inc_frame_entry #(
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
    // number of groups
    parameter GROUPS   = 2,
    // 1: there are in-band groups
    parameter IN_BAND  = 0,
    // bits of `frame` and of `view`
    parameter FRAME_W  = 99,
    parameter VIEW_W   = 137
) (
    input  wire                clk,
    input  wire                rst,

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

    // the frame that is offered, and whether it goes
    output wire                waits,
    output wire                valid,
    input  wire                ready,
    output wire                live,
    output wire [EI_W-1:0]     ei,
    output wire [FRAME_W-1:0]  frame,
    output wire [VIEW_W-1:0]   view,
    // of both by name: what the frame is, where it goes, where its slot is
    output wire [7:0]          opcode,
    output wire [31:0]         ext,
    output wire                up,
    output wire                spreads,
    output wire                root,           // neither a Reduce nor a Broadcast, and without a parent
    output wire                from_parent,
    output wire [MASK_W-1:0]   self,
    output wire                ranged,
    output wire [23:0]         psn,
    output wire [1:0]          dtype,
    output wire [SLOT_W-1:0]   base,
    output wire [4:0]          log2_n,

    // the frame that went last, in the cycle behind that: it is data of no range that may open one
    input  wire                opens,
    // the frame that is decided: one that was said to open a range; it opens it; it is done
    input  wire                opener,
    input  wire                opening,
    input  wire                done
);

    localparam GRP_W   = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam [2:0] REDUCE = 3'd1, BROADCAST = 3'd2;

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_frame_entry: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_frame_entry: MASK_W must be at most 2**EP_W");
        end
        if (IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_in_band
            $error("inc_frame_entry: IN_BAND must be 0 or 1");
        end
    endgenerate
`endif

    wire [GRP_W-1:0] ent_group, ask_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign ent_group = ent_ei[EI_W-1:EP_W];
            assign ask_group = ask_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {ent_group, ask_group} = 2'd0;
        end
    endgenerate
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_self
            localparam [EP_W-1:0] E = e;
            assign self[e] = ei[EP_W-1:0] == E;
        end
    endgenerate

    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
    wire               ent_live  = live_wide[{1'b0, ent_group}];
    wire [FRAME_W-1:0] ent_frame = {ent_bypass, ent_foreign, ent_ei, ent_host, ent_sum_ok, ent_len_ok, ent_tver_ok, ent_too_long,
                                    ent_opcode, ent_se, ent_pad, ent_ce, ent_psn, ent_ext, ent_plen, ent_words, ent_big_endian};

    generate
        if (IN_BAND == 0) begin : gen_fixed
            assign valid    = ent_valid;
            assign ent_pop  = ent_valid && ready;
            assign live     = ent_live;
            assign frame    = ent_frame;
            assign ranged   = 1'b0;
            assign psn      = ent_psn;
            assign dtype    = ent_dtype;
            assign view     = {1'b0, 1'b0, 2'd0, psn, {3{24'd0}}, 1'b1, 6'd0, ent_up, ent_down, ent_ackable, ent_whole,
                               ent_collective == REDUCE, spreads, ent_function, dtype, ent_in_mask, ent_out_mask, ent_ack_mask, ent_parent_mask};
            assign ei       = ent_ei;
            assign opcode   = ent_opcode;
            assign ext      = ent_ext;
            assign up       = ent_up;
            assign spreads  = ent_collective == BROADCAST;
            assign root     = ent_collective != REDUCE && ent_collective != BROADCAST && ent_parent_mask == {MASK_W{1'b0}};
            assign from_parent = (ent_parent_mask & self) != {MASK_W{1'b0}};
            assign base     = ent_base;
            assign log2_n   = ent_log2_n;
            assign waits    = 1'b0;
            assign ctl_rd   = 1'b0;
            assign ctl_map  = 1'b0;
            assign ctl_ei   = {EI_W{1'b0}};
            assign ask_ei          = {EI_W{1'b0}};
            assign ask_psn         = 24'd0;
            assign ask_opcode      = 8'd0;
            assign ask_empty       = 1'b0;
            assign ask_ext         = 32'd0;
            assign ask_route_valid = 1'b0;
            assign ask_root_sends  = 1'b0;
            assign {ask_in_mask, ask_out_mask, ask_ack_mask, ask_parent_mask, ask_route_mask} = {5*MASK_W{1'b0}};

            wire unused_in_band = &{1'b0, ent_empty, ent_in_band, ent_route_valid, ent_route_mask, ent_root_sends, ctl_busy, map_current,
                                    map_previous, map_opens, map_opens_up, map_bad_control, map_wrong_role, map_contradicts, map_base,
                                    map_psn, map_rng, map_begin, map_end, map_up, map_down, map_ackable_any, map_needs_host, map_root, map_parent,
                                    map_reduces, map_spreads, map_barrier, map_function, map_dtype, map_in_mask, map_out_mask, map_ack_mask, map_parent_mask,
                                    opens, opening, done, opener, clk, rst, ask_group};
        end else begin : gen_in_band
            // M: Control is asked in the cycle in which the frame comes, answers for M_SHOW. One that may open a range is held here
            // when it has gone ahead, as it may have to be looked at again. Whether it may takes Control most of a cycle to say, and so
            // every control stays for a cycle (M_WENT). A frame of a fixed group that finds nobody here goes by.
            // The highest bit says that a frame is held: everything that leaves is chosen with it.
            localparam [3:0] M_EMPTY = 4'h0, M_MAP = 4'h8, M_SHOW = 4'h9, M_HELD = 4'hA, M_OPEN = 4'hB, M_WENT = 4'hC;
            localparam [7:0] OP_CONTROL = 8'h05;

            reg [3:0]         state_reg;
            reg               live_reg, opened_reg, control_reg;
            reg [FRAME_W-1:0] frame_reg;
            reg               up_reg, down_reg, ackable_reg, whole_reg, empty_reg, ranged_reg;
            reg [2:0]         collective_reg;
            reg [1:0]         function_reg, dtype_reg;
            reg [MASK_W-1:0]  in_mask_reg, out_mask_reg, ack_mask_reg, parent_mask_reg, route_mask_reg;
            reg               route_valid_reg, root_sends_reg;
            reg [SLOT_W-1:0]  base_reg;
            reg [4:0]         log2_n_reg;

            wire [7:0]       opcode_held;
            wire [31:0]      ext_held;
            wire             bypass, foreign, host, sum_ok, len_ok, tver_ok, too_long, se, ce, big_endian;
            wire [1:0]       pad;
            wire [23:0]      wire_psn;
            wire [LEN_W-1:0] plen;
            wire [WORDS_W-1:0] words;
            assign {bypass, foreign, ask_ei, host, sum_ok, len_ok, tver_ok, too_long, opcode_held, se, pad, ce, wire_psn, ext_held, plen,
                    words, big_endian} = frame_reg;

            wire by_range = ent_in_band && !ent_bypass;
            wire by       = !state_reg[3];             // what is offered, if anything, is the frame that comes
            wire free     = by || (state_reg == M_WENT && !opens);
            // what is held goes; whether what comes may go by is known later
            wire goes     = state_reg == M_SHOW && ready;
            wire empties  = free || (goes && !control_reg);
            wire offered  = ent_valid && !ctl_busy;    // none comes while Control has no turn for it
            wire take     = offered && empties;
            wire again    = state_reg == M_OPEN && !ctl_busy;
            // its range is read before it is known whether it comes, and whether it has one
            wire looks    = offered && (free || (state_reg == M_SHOW && !control_reg));

            assign ent_pop  = take;
            assign ctl_rd   = looks || again;
            assign ctl_map  = state_reg == M_MAP;
            assign ctl_ei   = again ? ask_ei : ent_ei;
            assign waits    = state_reg[3];
            assign valid    = state_reg == M_SHOW || (by && offered && !by_range);
            assign live     = by ? ent_live : live_reg;

            assign ask_psn         = wire_psn;
            assign ask_opcode      = opcode_held;
            assign ask_empty       = empty_reg;
            assign ask_ext         = ext_held;
            assign ask_in_mask     = in_mask_reg;
            assign ask_out_mask    = out_mask_reg;
            assign ask_ack_mask    = ack_mask_reg;
            assign ask_parent_mask = parent_mask_reg;
            assign ask_route_valid = route_valid_reg;
            assign ask_route_mask  = route_mask_reg;
            assign ask_root_sends  = root_sends_reg;

            wire live_now = live_wide[{1'b0, ask_group}];

            // What follows if what is offered goes, and if it stays: that comes last.
            wire [3:0] state_gone  = state_reg == M_SHOW && control_reg ? M_WENT : !offered ? M_EMPTY : by_range ? M_MAP : by ? M_EMPTY : M_SHOW;
            wire [3:0] state_stays = free ? (!offered ? M_EMPTY : by_range ? M_MAP : M_SHOW) : M_SHOW;

            always @(posedge clk) begin
                case (state_reg)
                    M_MAP:   state_reg <= M_SHOW;
                    M_HELD:  state_reg <= opener && opening ? M_OPEN : opener && done ? M_EMPTY : M_HELD;
                    M_OPEN:  state_reg <= ctl_busy ? M_OPEN : M_MAP;
                    default: state_reg <= state_reg == M_WENT && opens ? M_HELD : ready ? state_gone : state_stays;
                endcase
                live_reg   <= take ? ent_live : live_reg && live_now;
                opened_reg <= !take && (opened_reg || state_reg == M_OPEN);
                if (take) begin
                    frame_reg       <= ent_frame;
                    up_reg          <= ent_up;
                    down_reg        <= ent_down;
                    ackable_reg     <= ent_ackable;
                    whole_reg       <= ent_whole;
                    empty_reg       <= ent_empty;
                    ranged_reg      <= by_range;
                    control_reg     <= by_range && ent_opcode == OP_CONTROL && ent_empty;
                    collective_reg  <= ent_collective;
                    function_reg    <= ent_function;
                    dtype_reg       <= ent_dtype;
                    in_mask_reg     <= ent_in_mask;
                    out_mask_reg    <= ent_out_mask;
                    ack_mask_reg    <= ent_ack_mask;
                    parent_mask_reg <= ent_parent_mask;
                    route_valid_reg <= ent_route_valid;
                    route_mask_reg  <= ent_route_mask;
                    root_sends_reg  <= ent_root_sends;
                    base_reg        <= ent_base;
                    log2_n_reg      <= ent_log2_n;
                end
                if (rst) begin
                    state_reg <= M_EMPTY;
                end
            end

            wire in_range = map_current || map_previous;
            wire halves   = map_dtype[1] != map_dtype[0];
            wire whole    = map_barrier ? empty_reg : !plen[0] && (halves || !plen[1]);
            wire ackable  = map_ackable_any && (host || !map_needs_host);
            wire [2:0]        collective = by ? ent_collective : collective_reg;
            wire [MASK_W-1:0] in_mask    = by ? ent_in_mask : in_mask_reg;
            wire [MASK_W-1:0] out_mask   = by ? ent_out_mask : out_mask_reg;
            wire [MASK_W-1:0] ack_mask   = by ? ent_ack_mask : ack_mask_reg;
            wire [MASK_W-1:0] own_parent = by ? ent_parent_mask : parent_mask_reg;

            assign ei          = by ? ent_ei : ask_ei;
            assign opcode      = by ? ent_opcode : opcode_held;
            assign ext         = by ? ent_ext : ext_held;
            assign frame       = by ? ent_frame : frame_reg;
            assign ranged      = ranged_reg && !by;
            assign up          = ranged ? map_up : by ? ent_up : up_reg;
            assign root        = ranged ? map_root : collective != REDUCE && collective != BROADCAST && own_parent == {MASK_W{1'b0}};
            assign from_parent = ranged ? map_parent : (own_parent & self) != {MASK_W{1'b0}};
            assign spreads     = ranged ? map_spreads : collective == BROADCAST;
            assign psn         = ranged ? map_psn : by ? ent_psn : wire_psn;
            assign dtype       = ranged ? map_dtype : by ? ent_dtype : dtype_reg;
            assign base        = by ? ent_base : base_reg;
            assign log2_n      = by ? ent_log2_n : log2_n_reg;
            assign view        = {ranged, opened_reg && !by, map_rng, psn, map_begin, map_end, map_base,
                                  !ranged || in_range, ranged && map_previous, map_opens, map_opens_up,
                                  map_bad_control, map_wrong_role, ranged && map_contradicts,
                                  up,
                                  ranged ? {map_down, ackable, whole} : by ? {ent_down, ent_ackable, ent_whole} : {down_reg, ackable_reg, whole_reg},
                                  ranged ? map_reduces : collective == REDUCE, spreads, ranged ? map_function : by ? ent_function : function_reg, dtype,
                                  ranged ? {map_in_mask, map_out_mask, map_ack_mask, map_parent_mask} : {in_mask, out_mask, ack_mask, own_parent}};

            wire unused_frame = &{1'b0, bypass, foreign, sum_ok, len_ok, tver_ok, too_long, se, pad, ce, words, plen, big_endian};
        end
    endgenerate

endmodule

`default_nettype wire
