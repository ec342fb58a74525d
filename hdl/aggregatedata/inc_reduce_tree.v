// SPDX-License-Identifier: Apache-2.0
//
// inc_reduce_tree: reduces a complete slot's payloads by the fixed binary tree over the pairs of endpoints.
//
// Contract
//   order       jobs first in, first out; a job's rows in ascending order; node (2i, 2i+1) at each level, left operand first; a pair
//               that takes no part passes its sibling through bit for bit
//   span        S, the smallest power of two above the job's highest pair; a job visits pairs 0 to S-1, absent ones too
//   latency     from a row's first read to the row on out_*: S + 1 + 2 * ECC + STAGES * log2(S) cycles, and STAGES for S = 1, if nothing
//               is in the way
//   throughput  a row in S cycles, and at most one more for each of the S/2 - 1 adds above the first level, which go first
//   reading     mem_re asks for the memory; what it reads when mem_taken is high leaves it in the next cycle; hold is high while that
//               word is still wanted: nobody may read then. Without ECC it is on mem_data then; with ECC it passes a register with
//               fix_move, while fix_free, and is on mem_data in the cycle after. While fix_hold is high nobody else may use that
//               register
//   hazard      chk_busy: slot unit chk_unit is still to be read
//   stall       out_room low stops everything; job_ready
//   reset       empty
//   not done    does not look whether a payload has been written: a job is given when all have
`default_nettype none

module inc_reduce_tree #(
    // bytes of a row, a multiple of 4
    parameter ROW     = 8,
    // pairs of endpoints, at least 1
    parameter PLANES  = 2,
    // bits of a pair's number, at least 1
    parameter PAIR_W  = 1,
    // bits of a unit's number
    parameter UNIT_W  = 4,
    // log2 of the number of rows of a payload of 32-bit elements, at least 1
    parameter ROWS_W  = 7,
    // bits of a row's address
    parameter ADDR_W  = 12,
    // register stages of an adder
    parameter STAGES  = 1,
    // 1: what is read passes a register, is corrected, and passes another
    parameter ECC     = 0,
    // what the adders do
    parameter FP      = 0,
    parameter SUM     = 1,
    parameter MIN     = 0,
    parameter MAX     = 0
) (
    input  wire                clk,
    input  wire                rst,

    output wire                job_ready,
    input  wire                job_valid,
    input  wire [UNIT_W-1:0]   job_unit,
    // rows of the payload
    input  wire [ROWS_W+1:0]   job_rows,
    input  wire [PLANES-1:0]   job_pairs,
    input  wire [1:0]          job_op,
    input  wire                job_int,
    input  wire                job_wide,
    input  wire                job_bf16,
    input  wire                job_big_endian,

    input  wire [UNIT_W-1:0]   chk_unit,
    output wire                chk_busy,
    // a job waits or is under way
    output wire                busy,

    output wire                mem_re,
    output wire [ADDR_W-1:0]   mem_addr,
    input  wire                mem_taken,
    input  wire [8*ROW-1:0]    mem_data,
    input  wire                mem_bad,
    output wire                hold,
    input  wire                fix_free,
    output wire                fix_move,
    output wire                fix_hold,

    input  wire                out_room,
    // a row waits for room, or leaves
    output wire                out_turn,
    output wire                out_valid,
    output wire                out_wide,
    output wire                out_bf16,
    output wire                out_big_endian,
    output wire                out_bad,
    output wire [8*ROW-1:0]    out_row
);

    // levels of the widest tree, and bits to count them
    localparam LEVELS  = $clog2(PLANES);
    localparam LEVEL_W = $clog2(LEVELS + 1) < 1 ? 1 : $clog2(LEVELS + 1);
    localparam SPAN    = 1 << LEVELS;
    localparam ROW_W   = ROWS_W + 2;
    localparam LANES   = ROW / 4;

`ifndef __ICARUS__
    generate
        if (ROW < 4 || ROW % 4 != 0) begin : gen_bad_row
            $error("inc_reduce_tree: ROW must be a multiple of 4");
        end
        if (PLANES < 1 || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES))) begin : gen_bad_planes
            $error("inc_reduce_tree: PAIR_W must hold 0 to PLANES - 1");
        end
        if (UNIT_W < 1 || ROWS_W < 1 || ADDR_W < ROWS_W + 1 || ADDR_W > UNIT_W + PAIR_W + ROWS_W) begin : gen_bad_addr
            $error("inc_reduce_tree: ADDR_W must hold the rows of all payloads");
        end
        if (STAGES < 1) begin : gen_bad_stages
            $error("inc_reduce_tree: STAGES must be at least 1");
        end
        if (ECC < 0 || ECC > 1) begin : gen_bad_ecc
            $error("inc_reduce_tree: ECC must be 0 or 1");
        end
    endgenerate
`endif

    genvar g;

    // ---- jobs: two places, the first is being read ----

    localparam JOB_W = UNIT_W + ROW_W + PLANES + 6;
    localparam [LEVEL_W-1:0] NO_LEVELS = {LEVEL_W{1'b0}};

    reg              first_valid, second_valid;
    reg  [JOB_W-1:0] first_reg, second_reg;
    wire [JOB_W-1:0] job_word = {job_unit, job_rows, job_pairs, job_op, job_int, job_wide, job_bf16, job_big_endian};
    wire             first_done;
    wire             take = job_valid && job_ready;

    wire [UNIT_W-1:0] unit;
    wire [ROW_W-1:0]  rows;
    wire [PLANES-1:0] pairs;
    wire [1:0]        op;
    wire              is_int, wide, bf16, big_endian;

    assign {unit, rows, pairs, op, is_int, wide, bf16, big_endian} = first_reg;
    assign job_ready = !second_valid;
    assign chk_busy  = (first_valid && unit == chk_unit) || (second_valid && second_reg[JOB_W-1 -: UNIT_W] == chk_unit);

    always @(posedge clk) begin
        if (first_done || !first_valid) begin
            first_valid  <= second_valid || take;
            first_reg    <= second_valid ? second_reg : job_word;
            second_valid <= 1'b0;
        end else if (take) begin
            second_valid <= 1'b1;
            second_reg   <= job_word;
        end
        if (rst) begin
            first_valid  <= 1'b0;
            second_valid <= 1'b0;
        end
    end

    // ---- which pair of which row comes next ----

    wire [SPAN-1:0] pairs_wide;
    generate
        if (SPAN > PLANES) begin : gen_pad
            assign pairs_wide = {{(SPAN-PLANES){1'b0}}, pairs};
        end else begin : gen_no_pad
            assign pairs_wide = pairs;
        end
    endgenerate

    // levels of this job's tree: one more for each half that has a pair above
    reg [LEVEL_W-1:0] levels;
    integer n;
    always @* begin
        levels = NO_LEVELS;
        for (n = 1; n < SPAN; n = n + 1) begin
            if (pairs_wide[n]) begin
                levels = level_of(n);
            end
        end
    end
    // levels that reach pair n from pair 0
    function [LEVEL_W-1:0] level_of(input integer pair);
        integer l;
        begin
            level_of = NO_LEVELS;
            for (l = 0; l < LEVELS; l = l + 1) begin
                if (pair >= (1 << l)) begin
                    level_of = level_of + {{(LEVEL_W-1){1'b0}}, 1'b1};
                end
            end
        end
    endfunction

    reg  [PAIR_W-1:0]  pair_reg;
    reg  [ROW_W-1:0]   row_reg;
    reg  [LEVEL_W-1:0] level_reg;      // of the job before
    reg  [ROW_W-1:0]   flying_reg;     // rows begun and not yet out
    wire [ROW_W-1:0]   next_row = row_reg + {{(ROW_W-1){1'b0}}, 1'b1};
    wire               present;
    wire               last_pair;
    generate
        if (LEVELS > 0) begin : gen_pairs
            assign present = pairs_wide[pair_reg[LEVELS-1:0]];
            reg [LEVELS-1:0] top;
            integer m;
            always @* begin
                for (m = 0; m < LEVELS; m = m + 1) begin
                    top[m] = levels > m[LEVEL_W-1:0];
                end
            end
            assign last_pair = pair_reg[LEVELS-1:0] == top;
        end else begin : gen_one_pair
            assign present   = 1'b1;
            assign last_pair = 1'b1;
        end
    endgenerate

    wire last_row = next_row == rows;
    // Rows of a lower tree would overtake those of a higher one.
    wire may_begin = levels >= level_reg || flying_reg == {ROW_W{1'b0}};
    wire flying_room = flying_reg != {ROW_W{1'b1}};
    wire t_free;
    wire offers = first_valid && may_begin && flying_room && t_free;
    wire moves  = offers && (!present || mem_taken);

    assign mem_re     = offers && present;
    assign first_done = moves && last_pair && last_row;

    // the payload's place: unit * PLANES + pair, twice as far for wide ones
    localparam PLACE_W = UNIT_W + $clog2(PLANES) + 2;
    localparam [PLACE_W-1:0] PLANE_COUNT = PLANES[PLACE_W-1:0];
    wire [PLACE_W-1:0] place = {{(PLACE_W-UNIT_W){1'b0}}, unit} * PLANE_COUNT
                             + (wide ? {{(PLACE_W-PAIR_W-1){1'b0}}, pair_reg, 1'b0} : {{(PLACE_W-PAIR_W){1'b0}}, pair_reg});
    wire [PLACE_W+ROWS_W-1:0] address = {place, {ROWS_W{1'b0}}} + {{(PLACE_W-2){1'b0}}, row_reg};
    assign mem_addr = address[ADDR_W-1:0];

    wire out_go;
    always @(posedge clk) begin
        if (moves) begin
            pair_reg <= last_pair ? {PAIR_W{1'b0}} : pair_reg + {{(PAIR_W-1){1'b0}}, 1'b1};
            if (last_pair) begin
                row_reg <= last_row ? {ROW_W{1'b0}} : next_row;
            end
            level_reg <= levels;
        end
        flying_reg <= flying_reg + {{(ROW_W-1){1'b0}}, moves && last_pair} - {{(ROW_W-1){1'b0}}, out_go};
        if (rst) begin
            pair_reg   <= {PAIR_W{1'b0}};
            row_reg    <= {ROW_W{1'b0}};
            level_reg  <= NO_LEVELS;
            flying_reg <= {ROW_W{1'b0}};
        end
    end

    // ---- stage T: the payload leaves the memory; with ECC stage F: it is corrected; stage U: it is an operand ----

    localparam KIND_W = 6;             // op, is_int, wide, bf16, big_endian
    localparam META_W = 1 + PAIR_W + LEVEL_W + KIND_W;
    wire [META_W-1:0] moves_meta = {present, pair_reg, levels, op, is_int, wide, bf16, big_endian};

    reg               t_valid;
    reg  [META_W-1:0] t_meta;
    wire              t_go;
    wire              u_valid, u_go, u_bad;
    wire [META_W-1:0] u_meta;
    // U as the adder's choice is settled for it
    wire              p_u_valid;
    wire [META_W-1:0] p_u_meta;
    wire [8*ROW-1:0]  u_data;

    assign t_free = !t_valid || t_go;
    assign hold   = t_valid && t_meta[META_W-1] && !t_go;

    always @(posedge clk) begin
        if (t_free) begin
            t_valid <= moves;
            t_meta  <= moves_meta;
        end
        if (rst) begin
            t_valid <= 1'b0;
        end
    end

    generate
        if (ECC != 0) begin : gen_operand
            reg              f_valid, valid_reg, bad_reg;
            reg [META_W-1:0] f_meta, meta_reg;
            reg [8*ROW-1:0]  data_reg;
            wire             f_go   = !valid_reg || u_go;
            wire             f_here = f_meta[META_W-1];
            assign t_go     = (!f_valid || f_go) && (fix_free || !t_meta[META_W-1]);
            assign fix_move = t_valid && t_meta[META_W-1] && t_go;
            assign fix_hold = f_valid && f_here && !f_go;
            assign u_valid  = valid_reg;
            assign u_bad    = bad_reg;
            assign u_meta   = meta_reg;
            assign u_data   = data_reg;
            assign p_u_valid = f_go ? f_valid : valid_reg;
            assign p_u_meta  = f_go ? f_meta : meta_reg;
            always @(posedge clk) begin
                if (!f_valid || f_go) begin
                    f_valid <= t_valid && t_go;
                    f_meta  <= t_meta;
                end
                if (f_go) begin
                    valid_reg <= f_valid;
                    meta_reg  <= f_meta;
                    data_reg  <= mem_data;
                    bad_reg   <= mem_bad && f_here;
                end
                if (rst) begin
                    f_valid   <= 1'b0;
                    valid_reg <= 1'b0;
                end
            end
        end else begin : gen_no_operand
            assign t_go     = u_go;
            assign fix_move = 1'b0;
            assign fix_hold = 1'b0;
            assign u_valid  = t_valid;
            assign u_bad    = mem_bad && t_meta[META_W-1];
            assign u_meta   = t_meta;
            assign u_data   = mem_data;
            assign p_u_valid = t_valid;
            assign p_u_meta  = t_meta;
            wire unused_fix = fix_free;
        end
    endgenerate

    wire               u_present;
    wire [PAIR_W-1:0]  u_pair;
    wire [LEVEL_W-1:0] u_levels;
    wire [KIND_W-1:0]  u_kind;
    assign {u_present, u_pair, u_levels, u_kind} = u_meta;

    // ---- the adder; its results are operands of the next level, and go before what comes from the memory ----

    // a result: how far up it is, present, bad, and what its row is
    localparam TAG_W = LEVEL_W + META_W + 1;
    reg  [STAGES-1:0]       v_reg;
    reg  [STAGES*TAG_W-1:0] tag_reg;
    wire [STAGES*TAG_W+TAG_W-1:0] tag_chain;
    wire [STAGES:0]         v_chain;

    wire               r_valid = v_reg[STAGES-1];
    wire [LEVEL_W-1:0] r_level;
    wire               r_present, r_bad;
    wire [PAIR_W-1:0]  r_pair;        // the node's number: the pair's upper bits
    wire [LEVEL_W-1:0] r_levels;
    wire [KIND_W-1:0]  r_kind;
    wire [8*ROW-1:0]   r_data;
    assign {r_level, r_bad, r_present, r_pair, r_levels, r_kind} = tag_reg[STAGES*TAG_W-1 -: TAG_W];

    // ---- what the adder takes. It reaches every lane, so with ECC, where what comes is known, it is settled a cycle before ----

    localparam KEPT = LEVELS < 1 ? 1 : LEVELS;
    wire [KEPT-1:0]    kept_present, kept_bad;
    wire               p_r_valid;
    wire [TAG_W-1:0]   p_r_tag;
    wire [KEPT-1:0]    p_kept;        // left operands that are there

    wire [LEVEL_W-1:0] p_r_level, p_r_levels, p_u_levels;
    wire [PAIR_W-1:0]  p_r_pair, p_u_pair;
    wire [KIND_W-1:0]  p_r_kind, p_u_kind;
    wire               p_r_present, p_r_bad, p_u_present;
    assign {p_r_level, p_r_bad, p_r_present, p_r_pair, p_r_levels, p_r_kind} = p_r_tag;
    assign {p_u_present, p_u_pair, p_u_levels, p_u_kind} = p_u_meta;

    wire               p_r_top  = p_r_valid && p_r_level == p_r_levels;
    wire               p_r_adds = p_r_valid && !p_r_top && p_r_pair[0];
    wire               p_u_top  = p_u_levels == NO_LEVELS;
    wire               p_u_adds = p_u_valid && (p_u_top || p_u_pair[0]);
    wire [KEPT-1:0]    p_level;       // where the left operand is
    wire [KEPT-1:0]    p_left = p_level & p_kept & {KEPT{p_r_adds || !p_u_top}};
    wire               left_here  = p_left != {KEPT{1'b0}};
    wire               right_here = p_r_adds ? p_r_present : p_u_present;
    wire               joins = left_here && right_here;
    wire [KIND_W-1:0]  p_kind = p_r_adds ? p_r_kind : p_u_kind;
    generate
        for (g = 0; g < KEPT; g = g + 1) begin : gen_at
            localparam [LEVEL_W-1:0] LEVEL = g;
            assign p_level[g] = LEVELS > 0 && (p_r_adds ? p_r_level == LEVEL : g == 0);
        end
    endgenerate

    // What has no sibling passes the adder as an integer, which keeps every bit: with 0, or the lesser of it and itself.
    localparam CHOICE_W = KEPT + 10;
    wire [CHOICE_W-1:0] choice_next = {p_r_top, p_r_adds, p_u_adds, p_r_adds && p_r_present, !p_r_adds && p_u_present, left_here,
                                       right_here, joins ? p_kind[5:4] : 2'd0, p_kind[3] || !joins, p_left};
    wire [CHOICE_W-1:0] choice;
    wire                r_top, r_adds, u_adds, take_r, take_u, has_left, has_right, lane_int;
    wire [1:0]          lane_op;
    wire [KEPT-1:0]     take_left;
    assign {r_top, r_adds, u_adds, take_r, take_u, has_left, has_right, lane_op, lane_int, take_left} = choice;

    wire en    = !(r_top && !out_room);
    wire u_top = u_levels == NO_LEVELS;
    wire [KEPT-1:0] keeps;            // a left operand comes
    wire [KEPT-1:0] kept_next = (kept_present & ~keeps) | ({{(KEPT-1){r_present}}, u_present} & keeps);
    generate
        if (ECC != 0) begin : gen_settled
            reg [CHOICE_W-1:0] choice_reg;
            always @(posedge clk) begin
                choice_reg <= choice_next;
                if (rst) begin
                    choice_reg[CHOICE_W-1 -: 3] <= 3'd0;
                end
            end
            assign choice    = choice_reg;
            assign p_r_valid = en ? v_chain[STAGES-1] : r_valid;
            assign p_r_tag   = en ? tag_chain[STAGES*TAG_W-1 -: TAG_W] : tag_reg[STAGES*TAG_W-1 -: TAG_W];
            assign p_kept    = kept_next;
        end else begin : gen_at_once
            assign choice    = choice_next;
            assign p_r_valid = r_valid;
            assign p_r_tag   = tag_reg[STAGES*TAG_W-1 -: TAG_W];
            assign p_kept    = kept_present;
            wire unused_next = &{1'b0, kept_next};
        end
    endgenerate

    assign u_go      = en && !(u_adds && r_adds);
    assign out_turn  = r_top;
    assign out_valid = r_top && out_room;
    assign out_go    = out_valid;
    assign out_row   = r_data;
    assign out_bad   = r_bad;
    assign {out_wide, out_bf16, out_big_endian} = r_kind[2:0];
    assign busy      = first_valid || flying_reg != {ROW_W{1'b0}} || pair_reg != {PAIR_W{1'b0}};

    // left operands wait here, one a level; level 0 holds what came from the memory
    wire [8*ROW-1:0] left_data;
    generate
        if (LEVELS > 0) begin : gen_left
            reg  [8*ROW*LEVELS-1:0] data_reg;
            reg  [LEVELS-1:0]       present_reg, bad_reg;
            reg  [8*ROW-1:0]        pick;
            integer l;
            always @* begin
                pick = {(8*ROW){1'b0}};
                for (l = 0; l < LEVELS; l = l + 1) begin
                    pick = pick | (data_reg[8*ROW*l +: 8*ROW] & {(8*ROW){take_left[l]}});
                end
            end
            assign left_data    = pick;
            assign kept_present = present_reg;
            assign kept_bad     = bad_reg;
            for (g = 0; g < LEVELS; g = g + 1) begin : gen_level
                localparam [LEVEL_W-1:0] LEVEL = g;
                assign keeps[g] = en && (g == 0 ? u_valid && !u_adds : r_valid && !r_top && !r_adds && r_level == LEVEL);
                always @(posedge clk) begin
                    if (keeps[g]) begin
                        data_reg[8*ROW*g +: 8*ROW] <= g == 0 ? u_data : r_data;
                        present_reg[g]             <= g == 0 ? u_present : r_present;
                        bad_reg[g]                 <= g == 0 ? u_bad : r_bad;
                    end
                end
            end
        end else begin : gen_no_left
            assign left_data    = {(8*ROW){1'b0}};
            assign kept_present = 1'b0;
            assign kept_bad     = 1'b0;
            assign keeps        = 1'b0;
        end
    endgenerate

    wire               adds       = r_adds || u_adds;
    wire               alone      = !r_adds && u_top;
    wire [8*ROW-1:0]   right_data = (r_data & {(8*ROW){take_r}}) | (u_data & {(8*ROW){take_u}});
    wire               bad        = (take_r && r_bad) || (take_u && u_bad) || (take_left & kept_bad) != {KEPT{1'b0}};
    wire [KIND_W-1:0]  kind       = r_adds ? r_kind : u_kind;
    wire [LEVEL_W-1:0] levels_now = r_adds ? r_levels : u_levels;
    wire [PAIR_W-1:0]  child      = r_adds ? r_pair : u_pair;
    wire [LEVEL_W-1:0] level_now  = r_adds ? r_level + {{(LEVEL_W-1){1'b0}}, 1'b1}
                                  : {{(LEVEL_W-1){1'b0}}, !u_top};
    wire [PAIR_W-1:0]  node       = alone ? child : child >> 1;

    inc_lanes #(.LANES(LANES), .STAGES(STAGES), .FP(FP), .INT(1), .SUM(SUM), .MIN(MIN), .MAX(MAX)) u_lanes (
        .clk    (clk),
        .en     (en),
        .op     (lane_op),
        .is_int (lane_int),
        .a      (SUM != 0 ? left_data : left_data | (right_data & {(8*ROW){!has_left}})),
        .b      (SUM != 0 ? right_data : right_data | (left_data & {(8*ROW){!has_right}})),
        .y      (r_data)
    );

    assign v_chain   = {v_reg, adds};
    assign tag_chain = {tag_reg, level_now, bad, has_left || has_right, node, levels_now, kind};

    always @(posedge clk) begin
        if (en) begin
            v_reg   <= v_chain[STAGES-1:0];
            tag_reg <= tag_chain[STAGES*TAG_W-1:0];
        end
        if (rst) begin
            v_reg <= {STAGES{1'b0}};
        end
    end

    wire unused_bits = &{1'b0, v_chain[STAGES], tag_chain[STAGES*TAG_W+TAG_W-1 -: TAG_W], address, child, pairs_wide, u_valid, r_present, p_r_bad, p_r_pair, p_u_pair, p_kind};

endmodule

`default_nettype wire
