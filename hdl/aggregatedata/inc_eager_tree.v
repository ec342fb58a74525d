// SPDX-License-Identifier: Apache-2.0
//
// inc_eager_tree: reduces a slot's payloads by the fixed binary tree over the pairs of endpoints, and merges nodes before the slot is complete.
//
// Contract
//   order       jobs first in, first out; a job's rows in ascending order. An operation does not depend on the order of its operands, so the
//               nodes are visited from the one farthest from the last contribution's pair to that pair: visit v is pair v ^ ~job_pair. A pair
//               that takes no part passes its sibling through bit for bit
//   merging     two complete siblings, not those of the root, are added in cycles in which nobody else reads or writes, and the sum takes the place of the lowest
//               pair of both (inc_merge_plan). A job reads a merged node in one visit
//   sum         a job with job_take waits for the sum of the last contribution: takes it from sum_* when all its siblings are operands, else
//               reads it where it was written. sum_go says that a row of such a sum is written, in the order of the jobs
//   span        S, the smallest power of two above the job's highest pair; a job visits pairs 0 to S-1, absent ones too, less those merged
//   latency     from sum_go to the row on out_* 1 + STAGES * log2(S) cycles (STAGES for S = 1) if the siblings' reads began in time: as many cycles
//               before as there are visits, and 1 + ECC. Else as from the last pair's read: 3 + ECC + STAGES * log2(S)
//   throughput  a row in S cycles, and at most one more for each of the S/2 - 1 adds above the first level, which go first; with all
//               siblings merged in log2(S) + 1 + STAGES * (log2(S) - 1) cycles, because a left operand waits until that of the row before is taken
//   reading     mem_re asks for the memory; what it reads when mem_taken is high leaves it in the next cycle; hold is high while that
//               word is still wanted: nobody may read then. With ECC it passes a register with fix_move, while fix_free, and is on mem_data in
//               the cycle after. While fix_hold is high nobody else may use that register
//   writing     wb_valid: a merged row waits until wb_go
//   hazard      chk_busy: slot unit chk_unit is still to be read; merge_busy: the unit merge_unit is being merged. No merge begins while merge_stay says
//               that the unit's first contribution is under way
//   speculation a job given with job_spec, the youngest, reads siblings and waits for job_commit; job_kill drops it
//   stall       out_room low stops everything but reading; job_ready; sum_wait asks the sum to stay, for 2 cycles at most
//   reset       empty
//   not done    does not look whether a payload has been written: a job is given when all others have
`default_nettype none

module inc_eager_tree #(
    // bytes of a row, a multiple of 4
    parameter ROW     = 8,
    // pairs of endpoints, at least 1
    parameter PLANES  = 2,
    // bits of a pair's number, at least 1
    parameter PAIR_W  = 1,
    // slot units, and bits of a unit's number
    parameter UNITS   = 16,
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
    input  wire                job_spec,
    input  wire                job_commit,
    input  wire                job_kill,
    input  wire [UNIT_W-1:0]   job_unit,
    // rows of the payload
    input  wire [ROWS_W+1:0]   job_rows,
    input  wire [PLANES-1:0]   job_pairs,
    // the last contribution's pair, if one is still to come
    input  wire [PAIR_W-1:0]   job_pair,
    input  wire                job_take,
    // nothing of the unit can have been merged
    input  wire                job_fresh,
    input  wire [1:0]          job_op,
    input  wire                job_int,
    input  wire                job_wide,
    input  wire                job_bf16,
    input  wire                job_big_endian,

    // jobs do not begin to read
    input  wire                job_stay,

    input  wire [UNIT_W-1:0]   chk_unit,
    output wire                chk_busy,
    // a job waits or is under way
    output wire                busy,
    // one that is not speculative does
    output wire                owes,

    // the last contribution's sum
    input  wire                sum_go,
    input  wire                sum_bad,
    input  wire [8*ROW-1:0]    sum_data,
    output wire                sum_wait,

    // what leaves the adder of pairs: a slot's first row; the last row of a pair that is complete now
    input  wire                note_clear,
    input  wire                note_full,
    input  wire [UNIT_W-1:0]   note_unit,
    input  wire [PAIR_W-1:0]   note_pair,
    input  wire [ROWS_W+1:0]   note_rows,
    input  wire [1:0]          note_op,
    input  wire                note_int,
    input  wire                note_wide,
    output wire [UNIT_W-1:0]   merge_unit,
    output wire                merge_busy,
    input  wire                merge_stay,

    output wire                mem_re,
    output wire [ADDR_W-1:0]   mem_addr,
    // what is asked for is the last contribution's own pair, which is known to be written
    output wire                mem_own,
    input  wire                mem_taken,
    input  wire [8*ROW-1:0]    mem_data,
    input  wire                mem_bad,
    output wire                hold,
    input  wire                fix_free,
    output wire                fix_move,
    output wire                fix_hold,

    output wire                wb_valid,
    input  wire                wb_go,
    output wire [ADDR_W-1:0]   wb_addr,

    input  wire                out_room,
    // a row waits for room, or leaves
    output wire                out_turn,
    output wire                out_valid,
    output wire                out_wide,
    output wire                out_bf16,
    output wire                out_big_endian,
    // of wb_valid too
    output wire                out_bad,
    output wire [8*ROW-1:0]    out_row
);

    // levels of the widest tree, and bits to count them
    localparam LEVELS  = $clog2(PLANES);
    localparam LEVEL_W = $clog2(LEVELS + 1) < 1 ? 1 : $clog2(LEVELS + 1);
    localparam SPAN    = 1 << LEVELS;
    localparam ROW_W   = ROWS_W + 2;
    localparam LANES   = ROW / 4;
    localparam MERGES  = LEVELS > 1 ? 1 : 0;

`ifndef __ICARUS__
    generate
        if (ROW < 4 || ROW % 4 != 0) begin : gen_bad_row
            $error("inc_eager_tree: ROW must be a multiple of 4");
        end
        if (PLANES < 1 || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES))) begin : gen_bad_planes
            $error("inc_eager_tree: PAIR_W must hold 0 to PLANES - 1");
        end
        if (UNIT_W < 1 || UNITS < 2 || UNITS > (1 << UNIT_W)) begin : gen_bad_units
            $error("inc_eager_tree: UNITS must be 2 to 2**UNIT_W");
        end
        if (ROWS_W < 1 || ADDR_W < ROWS_W + 1 || ADDR_W > UNIT_W + PAIR_W + ROWS_W) begin : gen_bad_addr
            $error("inc_eager_tree: ADDR_W must hold the rows of all payloads");
        end
        if (STAGES < 1) begin : gen_bad_stages
            $error("inc_eager_tree: STAGES must be at least 1");
        end
        if (ECC < 0 || ECC > 1) begin : gen_bad_ecc
            $error("inc_eager_tree: ECC must be 0 or 1");
        end
    endgenerate
`endif

    genvar g;

    localparam [LEVEL_W-1:0] NO_LEVELS = {LEVEL_W{1'b0}};

    // ---- jobs: two places, the first is being read ----

    localparam JOB_W = UNIT_W + ROW_W + PLANES + PAIR_W + 8;

    reg              first_valid, first_spec, second_valid, second_spec;
    reg  [JOB_W-1:0] first_reg, second_reg;
    wire [JOB_W-1:0] job_word = {job_unit, job_rows, job_pairs, job_pair, job_take, job_fresh, job_op, job_int, job_wide, job_bf16,
                                 job_big_endian};
    wire             first_done;
    wire             kill_first = job_kill && first_valid && first_spec;
    wire             take       = job_valid && job_ready;
    wire             free_first = first_done || !first_valid;

    wire [UNIT_W-1:0] first_unit;
    wire [ROW_W-1:0]  first_rows;
    wire [PLANES-1:0] first_pairs;
    wire [PAIR_W-1:0] first_pair;
    wire              first_take, first_fresh;
    wire [5:0]        first_kind;

    assign {first_unit, first_rows, first_pairs, first_pair, first_take, first_fresh, first_kind} = first_reg;
    assign job_ready = !second_valid;
    assign chk_busy  = (first_valid && first_unit == chk_unit) || (second_valid && second_reg[JOB_W-1 -: UNIT_W] == chk_unit);

    always @(posedge clk) begin
        if (free_first) begin
            first_valid  <= (second_valid && !(job_kill && second_spec)) || take;
            first_spec   <= (second_valid ? second_spec : job_spec) && !job_commit;
            first_reg    <= second_valid ? second_reg : job_word;
            second_valid <= 1'b0;
        end else begin
            first_spec <= first_spec && !job_commit;
            if (kill_first) begin
                first_valid <= 1'b0;
            end
            if (take) begin
                second_valid <= 1'b1;
                second_spec  <= job_spec;
                second_reg   <= job_word;
            end else begin
                second_spec <= second_spec && !job_commit;
                if (job_kill && second_spec) begin
                    second_valid <= 1'b0;
                end
            end
        end
        if (rst) begin
            first_valid  <= 1'b0;
            second_valid <= 1'b0;
        end
    end

    // levels of this job's tree: one more for each half that has a pair above
    wire [SPAN-1:0] pairs_wide;
    generate
        if (SPAN > PLANES) begin : gen_pad
            assign pairs_wide = {{(SPAN-PLANES){1'b0}}, first_pairs};
        end else begin : gen_no_pad
            assign pairs_wide = first_pairs;
        end
    endgenerate
    reg [LEVEL_W-1:0] first_levels;
    integer n;
    always @* begin
        first_levels = NO_LEVELS;
        for (n = 1; n < SPAN; n = n + 1) begin
            if (pairs_wide[n]) begin
                first_levels = level_of(n);
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

    // ---- merges: one at a time, when there is no job ----

    reg                merging;       // its rows are read, added or written
    reg                merge_read;    // all of them have been read
    wire               merge_start, merge_done, merge_closed;
    wire [PAIR_W-1:0]  merge_left, merge_right;
    wire [ROW_W-1:0]   merge_rows;
    wire [1:0]         merge_op;
    wire               merge_int, merge_wide;
    wire [2*SPAN-1:0]  nodes;         // of the first job's unit: 1 if merged, as a heap; pairs do not matter
    wire               nodes_known;
    assign merge_busy = merge_closed;

    reg  [ROW_W-1:0]   flying_reg;     // rows begun and not yet out
    wire               idle = !first_valid && !job_valid && flying_reg == {ROW_W{1'b0}};
    generate
        if (MERGES != 0) begin : gen_plan
            wire [2*SPAN-3:0] plan_nodes;
            reg               asked_reg, looked_reg;
            wire              look = !merge_closed && (first_valid ? !asked_reg : take);
            reg  [2*SPAN-3:0] nodes_reg;
            always @(posedge clk) begin
                looked_reg <= look;
                asked_reg  <= look || (asked_reg && !free_first);
                if (looked_reg) begin
                    nodes_reg <= plan_nodes;
                end
                if (rst) begin
                    asked_reg <= 1'b0;
                end
            end
            wire [2*SPAN-3:0] read_nodes = looked_reg ? plan_nodes : nodes_reg;
            assign nodes       = {read_nodes, 2'b00} & {(2*SPAN){!first_fresh}};
            assign nodes_known = asked_reg;

            inc_merge_plan #(.UNITS(UNITS), .UNIT_W(UNIT_W), .LEVELS(LEVELS), .ROW_W(ROW_W)) u_plan (
                .clk        (clk),
                .rst        (rst),
                .note_clear (note_clear),
                .note_full  (note_full),
                .note_unit  (note_unit),
                .note_pair  (note_pair),
                .note_rows  (note_rows),
                .note_op    (note_op),
                .note_int   (note_int),
                .note_wide  (note_wide),
                .drop       (take),
                .drop_unit  (job_unit),
                .may_start  (idle && !merge_stay),
                .start      (merge_start),
                .done       (merge_done),
                .closed     (merge_closed),
                .unit       (merge_unit),
                .left       (merge_left),
                .right      (merge_right),
                .rows       (merge_rows),
                .op         (merge_op),
                .is_int     (merge_int),
                .wide       (merge_wide),
                .look       (look),
                .look_unit  (first_valid ? first_unit : job_unit),
                .look_nodes (plan_nodes)
            );
        end else begin : gen_no_plan
            assign merge_start  = 1'b0;
            assign merge_closed = 1'b0;
            assign merge_unit   = {UNIT_W{1'b0}};
            assign merge_left   = {PAIR_W{1'b0}};
            assign merge_right  = {PAIR_W{1'b0}};
            assign merge_rows   = {ROW_W{1'b0}};
            assign {merge_op, merge_int, merge_wide} = 4'd0;
            assign nodes        = {(2*SPAN){1'b0}};
            assign nodes_known  = 1'b1;
            wire unused_notes   = &{1'b0, note_clear, note_full, note_unit, note_pair, note_rows, note_op, note_int, note_wide, merge_stay,
                                    merge_done, idle, first_fresh, take};
        end
    endgenerate

    // ---- which node of which row comes next ----

    wire [UNIT_W-1:0]  unit   = merging ? merge_unit : first_unit;
    wire [ROW_W-1:0]   rows   = merging ? merge_rows : first_rows;
    wire               wide   = merging ? merge_wide : first_kind[2];
    wire [5:0]         kind   = merging ? {merge_op, merge_int, merge_wide, 2'b00} : first_kind;
    wire [LEVEL_W-1:0] one_level = {{(LEVEL_W-1){1'b0}}, 1'b1};
    wire [LEVEL_W-1:0] levels = merging ? one_level : first_levels;

    reg  [PAIR_W-1:0]  visit_reg;
    reg  [ROW_W-1:0]   row_reg;
    reg  [LEVEL_W-1:0] level_reg;      // of the job before
    wire [ROW_W-1:0]   next_row = row_reg + {{(ROW_W-1){1'b0}}, 1'b1};
    wire               present, last_visit;
    wire [LEVEL_W-1:0] visit_level;
    wire [PAIR_W-1:0]  visit_node;     // its number at its level, of visits
    wire [PAIR_W-1:0]  place_pair;     // the lowest pair of the node
    wire [PAIR_W-1:0]  next_visit;
    generate
        if (LEVELS > 0) begin : gen_visits
            reg  [LEVELS-1:0] top;
            wire [LEVELS-1:0] flip = ~first_pair & top & {LEVELS{first_take && !merging}};
            wire [LEVELS-1:0] pair = visit_reg ^ flip;
            reg  [LEVELS-1:0] low;     // the bits of a pair's number below the node's
            reg  [LEVEL_W-1:0] at;
            integer m, k;
            always @* begin
                for (m = 0; m < LEVELS; m = m + 1) begin
                    top[m] = levels > m[LEVEL_W-1:0];
                end
                at  = NO_LEVELS;
                low = {LEVELS{1'b0}};
                for (m = 1; m < LEVELS; m = m + 1) begin
                    for (k = 0; k < (SPAN >> m); k = k + 1) begin
                        if (nodes[(SPAN >> m) + k] && (pair >> m) == k[LEVELS-1:0] && (visit_reg << (LEVELS - m)) == {LEVELS{1'b0}}
                            && levels > m[LEVEL_W-1:0] && !merging) begin
                            at  = m[LEVEL_W-1:0];
                            low = ~({LEVELS{1'b1}} << m);
                        end
                    end
                end
            end
            assign visit_level = at;
            assign visit_node  = visit_reg >> at;
            assign place_pair  = merging ? (visit_reg[0] ? merge_right : merge_left) : pair & ~low;
            assign last_visit  = (visit_reg | low) == top;
            assign next_visit  = (visit_reg | low) + {{(LEVELS-1){1'b0}}, 1'b1};
            assign present     = merging || at != NO_LEVELS || pairs_wide[pair];
        end else begin : gen_one_pair
            assign visit_level = NO_LEVELS;
            assign visit_node  = {PAIR_W{1'b0}};
            assign place_pair  = {PAIR_W{1'b0}};
            assign last_visit  = 1'b1;
            assign next_visit  = {PAIR_W{1'b0}};
            assign present     = 1'b1;
            wire unused_visits = &{1'b0, first_pair, merge_left, merge_right, merging, pairs_wide, visit_reg};
        end
    endgenerate
    wire unused_nodes = &{1'b0, nodes};

    wire last_row = next_row == rows;
    // Rows of a lower tree would overtake those of a higher one; what is read for a job that may be killed, is read alone.
    wire may_begin   = (levels >= level_reg && (merging || !first_spec)) || flying_reg == {ROW_W{1'b0}};
    wire flying_room = flying_reg != {ROW_W{1'b1}};
    wire own         = last_visit && first_take && !merging;
    wire turn        = (merging ? !merge_read : first_valid && nodes_known && !merge_closed && !kill_first && !job_stay)
                       && may_begin && flying_room && (merging || !(last_visit && first_spec));
    reg  [ROW_W+1:0] sums_reg;         // rows of last contributions' sums that are written and not read
    wire sums_there = sums_reg != {(ROW_W+2){1'b0}};

    reg  t_valid, u_valid;
    wire t_free, t_empty, u_free, u_leaves, r_top, en;
    wire wants_sum = turn && own && !sums_there;
    wire sum_taken = wants_sum && t_empty && u_free && sum_go;
    wire offers    = turn && t_free && !(own && !sums_there);
    wire moves     = offers && (!present || mem_taken);
    wire passes    = moves || sum_taken;
    // the last sibling is about to be an operand: a cycle more, and the sum need not be read. In T it could wait for what waits for the sum
    assign sum_wait = wants_sum && !(t_empty && (!u_valid || u_leaves)) && !r_top && !t_valid;

    assign mem_re     = offers && present;
    assign mem_own    = own;
    assign first_done = passes && last_visit && last_row && !merging;

    // the payload's place: unit * PLANES + pair, twice as far for wide ones
    localparam PLACE_W = UNIT_W + $clog2(PLANES) + 2;
    localparam [PLACE_W-1:0] PLANE_COUNT = PLANES[PLACE_W-1:0];
    wire [PLACE_W-1:0] unit_place = {{(PLACE_W-UNIT_W){1'b0}}, unit} * PLANE_COUNT;
    wire [PLACE_W-1:0] place = unit_place + (wide ? {{(PLACE_W-PAIR_W-1){1'b0}}, place_pair, 1'b0} : {{(PLACE_W-PAIR_W){1'b0}}, place_pair});
    wire [PLACE_W+ROWS_W-1:0] address = {place, {ROWS_W{1'b0}}} + {{(PLACE_W-2){1'b0}}, row_reg};
    assign mem_addr = address[ADDR_W-1:0];

    // rows of a merge are written in their order
    reg  [ROW_W-1:0]   wb_row_reg;
    wire [PLACE_W-1:0] wb_place = unit_place + (wide ? {{(PLACE_W-PAIR_W-1){1'b0}}, merge_left, 1'b0} : {{(PLACE_W-PAIR_W){1'b0}}, merge_left});
    wire [PLACE_W+ROWS_W-1:0] wb_address = {wb_place, {ROWS_W{1'b0}}} + {{(PLACE_W-2){1'b0}}, wb_row_reg};
    assign wb_addr    = wb_address[ADDR_W-1:0];
    assign merge_done = merging && merge_read && flying_reg == {ROW_W{1'b0}};

    wire out_go;
    // what was read for a job that is killed; other rows are not under way then
    wire clears = kill_first && !merging && flying_reg == {ROW_W{1'b0}};
    always @(posedge clk) begin
        if (passes) begin
            visit_reg <= last_visit ? {PAIR_W{1'b0}} : next_visit;
            if (last_visit) begin
                row_reg <= last_row ? {ROW_W{1'b0}} : next_row;
            end
            level_reg <= levels;
        end
        flying_reg <= flying_reg + {{(ROW_W-1){1'b0}}, passes && last_visit} - {{(ROW_W-1){1'b0}}, out_go};
        sums_reg   <= sums_reg + {{(ROW_W+1){1'b0}}, sum_go && !sum_taken} - {{(ROW_W+1){1'b0}}, moves && own};
        if (merge_start) begin
            merging    <= 1'b1;
            merge_read <= 1'b0;
            wb_row_reg <= {ROW_W{1'b0}};
        end else if (merge_done) begin
            merging <= 1'b0;
        end
        if (merging && passes && last_visit && last_row) begin
            merge_read <= 1'b1;
        end
        if (wb_valid && wb_go) begin
            wb_row_reg <= wb_row_reg + {{(ROW_W-1){1'b0}}, 1'b1};
        end
        if (clears) begin
            visit_reg <= {PAIR_W{1'b0}};
            row_reg   <= {ROW_W{1'b0}};
        end
        if (rst) begin
            visit_reg  <= {PAIR_W{1'b0}};
            row_reg    <= {ROW_W{1'b0}};
            level_reg  <= NO_LEVELS;
            flying_reg <= {ROW_W{1'b0}};
            sums_reg   <= {(ROW_W+2){1'b0}};
            merging    <= 1'b0;
        end
    end

    // ---- stage T: the node leaves the memory; with ECC stage F: it is corrected; stage U: it is an operand ----

    localparam KIND_W = 6;             // op, is_int, wide, bf16, big_endian
    // present, number and level of its node, levels of the tree, merge, kind
    localparam META_W = 1 + PAIR_W + 2 * LEVEL_W + 1 + KIND_W;
    localparam AT_PRESENT = META_W - 1;
    wire [META_W-1:0] visit_meta = {present, visit_node, visit_level, levels, merging, kind};

    reg  [META_W-1:0] t_meta;
    wire              t_go, src_valid;
    wire [META_W-1:0] src_meta;
    reg               u_bad;
    reg  [META_W-1:0] u_meta;
    reg  [8*ROW-1:0]  u_data;
    wire              u_go;

    assign u_free = !u_valid || u_go;
    assign t_free = !t_valid || t_go;
    assign hold   = t_valid && t_meta[AT_PRESENT] && !t_go;

    always @(posedge clk) begin
        if (t_free) begin
            t_valid <= moves;
            t_meta  <= visit_meta;
        end
        if (rst || clears) begin
            t_valid <= 1'b0;
        end
    end

    generate
        if (ECC != 0) begin : gen_fix
            reg              f_valid;
            reg [META_W-1:0] f_meta;
            assign t_go      = (!f_valid || u_free) && (fix_free || !t_meta[AT_PRESENT]);
            assign fix_move  = t_valid && t_meta[AT_PRESENT] && t_go;
            assign fix_hold  = f_valid && f_meta[AT_PRESENT] && !u_free;
            assign src_valid = f_valid;
            assign src_meta  = f_meta;
            assign t_empty   = !t_valid && !f_valid;
            always @(posedge clk) begin
                if (!f_valid || u_free) begin
                    f_valid <= t_valid && t_go;
                    f_meta  <= t_meta;
                end
                if (rst || clears) begin
                    f_valid <= 1'b0;
                end
            end
        end else begin : gen_no_fix
            assign t_go      = u_free;
            assign fix_move  = 1'b0;
            assign fix_hold  = 1'b0;
            assign src_valid = t_valid;
            assign src_meta  = t_meta;
            assign t_empty   = !t_valid;
            wire unused_fix  = fix_free;
        end
    endgenerate

    wire              p_u_valid = u_free ? src_valid || sum_taken : u_valid;
    wire [META_W-1:0] p_u_meta  = u_free ? (t_empty ? visit_meta : src_meta) : u_meta;
    always @(posedge clk) begin
        u_valid <= p_u_valid && !clears;
        u_meta  <= p_u_meta;
        if (u_free) begin
            u_data <= t_empty ? sum_data : mem_data;
            u_bad  <= t_empty ? sum_bad : mem_bad && src_meta[AT_PRESENT];
        end
        if (rst) begin
            u_valid <= 1'b0;
        end
    end

    wire               u_present, u_merge;
    wire [PAIR_W-1:0]  u_node;
    wire [LEVEL_W-1:0] u_level, u_levels;
    wire [KIND_W-1:0]  u_kind;
    assign {u_present, u_node, u_level, u_levels, u_merge, u_kind} = u_meta;

    // ---- the adder; its results are operands of the next level, and go before what comes from the memory ----

    // a result: how far up it is, bad, present, and what its row is
    localparam TAG_W = 2 * LEVEL_W + 2 + PAIR_W + 1 + KIND_W;
    reg  [STAGES-1:0]       v_reg;
    reg  [STAGES*TAG_W-1:0] tag_reg;
    wire [STAGES*TAG_W+TAG_W-1:0] tag_chain;
    wire [STAGES:0]         v_chain;
    wire [STAGES-1:0]       v_next   = en ? v_chain[STAGES-1:0] : v_reg;
    wire [STAGES*TAG_W-1:0] tag_next = en ? tag_chain[STAGES*TAG_W-1:0] : tag_reg;

    wire               r_valid = v_reg[STAGES-1];
    wire [LEVEL_W-1:0] r_level;
    wire               r_present, r_bad, r_merge;
    wire [PAIR_W-1:0]  r_node;
    wire [LEVEL_W-1:0] r_levels;
    wire [KIND_W-1:0]  r_kind;
    wire [8*ROW-1:0]   r_data;
    assign {r_level, r_bad, r_present, r_node, r_levels, r_merge, r_kind} = tag_reg[STAGES*TAG_W-1 -: TAG_W];

    // ---- what the adder takes is settled a cycle before: it reaches every lane ----

    localparam KEPT = LEVELS < 1 ? 1 : LEVELS;
    wire [KEPT-1:0]    kept_present, kept_bad, kept_there;
    wire [KEPT-1:0]    keeps;         // a left operand comes
    wire [KEPT-1:0]    frees;         // one is taken
    wire [KEPT-1:0]    keeps_u;       // it comes from U
    wire [KEPT-1:0]    p_present = (kept_present & ~keeps) | ({KEPT{r_present}} & keeps & ~keeps_u) | ({KEPT{u_present}} & keeps_u);
    wire [KEPT-1:0]    p_there   = (kept_there & ~frees) | keeps;

    wire [LEVEL_W-1:0] p_r_level, p_r_levels, p_u_level, p_u_levels;
    wire [PAIR_W-1:0]  p_r_node, p_u_node;
    wire [KIND_W-1:0]  p_r_kind, p_u_kind;
    wire               p_r_present, p_r_bad, p_r_merge, p_u_present, p_u_merge;
    assign {p_r_level, p_r_bad, p_r_present, p_r_node, p_r_levels, p_r_merge, p_r_kind} = tag_next[STAGES*TAG_W-1 -: TAG_W];
    assign {p_u_present, p_u_node, p_u_level, p_u_levels, p_u_merge, p_u_kind} = p_u_meta;

    wire               p_r_valid = v_next[STAGES-1];
    wire               p_r_top   = p_r_valid && p_r_level == p_r_levels;
    wire               p_r_adds  = p_r_valid && !p_r_top && p_r_node[0];
    wire               p_u_top   = p_u_levels == NO_LEVELS;
    // A merged node waits until no sum below it is under way, which would need the same registers, and its own is free.
    reg                p_u_waits;
    integer            s, h;
    always @* begin
        p_u_waits = 1'b0;
        for (s = 0; s < STAGES; s = s + 1) begin
            if (v_next[s] && tag_next[s*TAG_W+TAG_W-1 -: LEVEL_W] <= p_u_level) begin
                p_u_waits = 1'b1;
            end
        end
        for (h = 0; h < KEPT; h = h + 1) begin
            if (p_there[h] && p_u_level == h[LEVEL_W-1:0] && !p_u_node[0]) begin
                p_u_waits = 1'b1;
            end
        end
        if (p_u_level == NO_LEVELS) begin
            p_u_waits = 1'b0;
        end
    end
    wire               p_u_adds  = p_u_valid && !p_u_waits && (p_u_top || p_u_node[0]);
    wire [KEPT-1:0]    p_at;          // where the left operand is
    wire [KEPT-1:0]    p_left = p_at & p_present & {KEPT{p_r_adds || !p_u_top}};
    wire               left_here  = p_left != {KEPT{1'b0}};
    wire               right_here = p_r_adds ? p_r_present : p_u_present;
    wire               joins = left_here && right_here;
    wire [KIND_W-1:0]  p_kind = p_r_adds ? p_r_kind : p_u_kind;
    generate
        for (g = 0; g < KEPT; g = g + 1) begin : gen_at
            localparam [LEVEL_W-1:0] LEVEL = g;
            assign p_at[g] = LEVELS > 0 && (p_r_adds ? p_r_level : p_u_level) == LEVEL;
        end
    endgenerate

    // What has no sibling passes the adder as an integer, which keeps every bit: with 0, or the lesser of it and itself.
    localparam CHOICE_W = 2 * KEPT + 11;
    wire [CHOICE_W-1:0] choice_next = {p_r_top, p_r_adds, p_u_adds, p_u_waits, p_r_adds && p_r_present, !p_r_adds && p_u_present, left_here,
                                       right_here, joins ? p_kind[5:4] : 2'd0, p_kind[3] || !joins, p_left, p_at};
    reg  [CHOICE_W-1:0] choice_reg;
    wire                r_adds, u_adds, u_waits, take_r, take_u, has_left, has_right, lane_int;
    wire [1:0]          lane_op;
    wire [KEPT-1:0]     take_left, at;
    assign {r_top, r_adds, u_adds, u_waits, take_r, take_u, has_left, has_right, lane_op, lane_int, take_left, at} = choice_reg;
    always @(posedge clk) begin
        choice_reg <= choice_next;
        if (rst || clears) begin
            choice_reg[CHOICE_W-1 -: 3] <= 3'd0;
        end
    end

    assign en        = !(r_top && !(r_merge ? wb_go : out_room));
    assign u_leaves  = !u_waits && !(u_adds && r_adds);
    assign u_go      = en && u_leaves;
    assign wb_valid  = r_top && r_merge;
    assign out_turn  = r_top && !r_merge;
    assign out_valid = out_turn && out_room;
    assign out_go    = r_top && en;
    assign out_row   = r_data;
    assign out_bad   = r_bad;
    assign {out_wide, out_bf16, out_big_endian} = r_kind[2:0];
    assign busy      = first_valid || (flying_reg != {ROW_W{1'b0}} && !merging);
    assign owes      = (first_valid && !first_spec) || (flying_reg != {ROW_W{1'b0}} && !merging);

    // left operands wait here, one a level
    wire [8*ROW-1:0] left_data;
    wire             adds  = r_adds || u_adds;
    wire             u_top = u_levels == NO_LEVELS;
    generate
        if (LEVELS > 0) begin : gen_left
            reg  [8*ROW*LEVELS-1:0] data_reg;
            reg  [LEVELS-1:0]       present_reg, bad_reg, there_reg;
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
            assign kept_there   = there_reg;
            assign frees        = at & {KEPT{en && adds && (r_adds || !u_top)}};
            always @(posedge clk) begin
                there_reg <= p_there;
                if (rst || clears) begin
                    there_reg <= {LEVELS{1'b0}};
                end
            end
            for (g = 0; g < LEVELS; g = g + 1) begin : gen_level
                localparam [LEVEL_W-1:0] LEVEL = g;
                wire r_keeps = en && r_valid && !r_top && !r_adds && r_level == LEVEL && g != 0;
                assign keeps_u[g] = en && u_valid && !u_waits && !u_adds && u_level == LEVEL;
                assign keeps[g]   = r_keeps || keeps_u[g];
                always @(posedge clk) begin
                    if (keeps[g]) begin
                        data_reg[8*ROW*g +: 8*ROW] <= keeps_u[g] ? u_data : r_data;
                        present_reg[g]             <= keeps_u[g] ? u_present : r_present;
                        bad_reg[g]                 <= keeps_u[g] ? u_bad : r_bad;
                    end
                end
            end
        end else begin : gen_no_left
            assign left_data    = {(8*ROW){1'b0}};
            assign kept_present = 1'b0;
            assign kept_bad     = 1'b0;
            assign kept_there   = 1'b0;
            assign frees        = 1'b0;
            assign keeps        = 1'b0;
            assign keeps_u      = 1'b0;
        end
    endgenerate

    wire               alone      = !r_adds && u_top;
    wire [8*ROW-1:0]   right_data = (r_data & {(8*ROW){take_r}}) | (u_data & {(8*ROW){take_u}});
    wire               bad        = (take_r && r_bad) || (take_u && u_bad) || (take_left & kept_bad) != {KEPT{1'b0}};
    wire [KIND_W:0]    kind_now   = r_adds ? {r_merge, r_kind} : {u_merge, u_kind};
    wire [LEVEL_W-1:0] levels_now = r_adds ? r_levels : u_levels;
    wire [PAIR_W-1:0]  child      = r_adds ? r_node : u_node;
    wire [LEVEL_W-1:0] level_now  = (r_adds ? r_level : u_level) + {{(LEVEL_W-1){1'b0}}, !alone};
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
    assign tag_chain = {tag_reg, level_now, bad, has_left || has_right, node, levels_now, kind_now};

    always @(posedge clk) begin
        v_reg   <= v_next & {STAGES{!clears}};
        tag_reg <= tag_next;
        if (rst) begin
            v_reg <= {STAGES{1'b0}};
        end
    end

    wire unused_bits = &{1'b0, v_chain[STAGES], tag_chain[STAGES*TAG_W+TAG_W-1 -: TAG_W], address, wb_address, child, r_valid, r_present, at, p_r_bad,
                         p_r_node, p_u_node, p_kind, p_r_merge, p_u_merge};

endmodule

`default_nettype wire
