// SPDX-License-Identifier: Apache-2.0
//
// inc_merge_plan: knows which nodes of a slot's tree are complete and which are merged, and says which two to merge next.
//
// Contract
//   nodes       a slot unit has SPAN = 2**LEVELS pairs. Node i of level l covers the 2**l pairs from i * 2**l on. A pair is complete when
//               both of its contributions have been added (note_full), a node above when its two children were merged into the place of its
//               lowest pair. look_nodes has a bit for each node, in the order of a heap without its root: from SPAN - 2 on the pairs, before
//               them level 1 and so on
//   clear       note_clear, a slot's first contribution, forgets what is known of the unit, and what is planned for it
//   plan        a pair or node that becomes complete, and whose sibling is complete, is merged with it, unless that would be the root of
//               all SPAN pairs. start is high for the cycle in which it begins; done says when the sum is written. Then come the node above
//   latency     from note_full to start 4 cycles at the earliest
//   throughput  one merge at a time, one pair waits. A pair that completes while another waits is never merged: merging is never needed
//   looking     look_nodes is there the cycle after look. It is not yet true of the unit being merged while closed is high
//   stall       may_start; look, which goes first
//   reset       nothing planned; what is known of a unit is not, until it is cleared
//   not done    nobody is told of a pair that was not taken
`default_nettype none

module inc_merge_plan #(
    // slot units, and bits of a unit's number
    parameter UNITS  = 16,
    parameter UNIT_W = 4,
    // log2 of the pairs, at least 2
    parameter LEVELS = 2,
    // bits of the number of rows of a payload
    parameter ROW_W  = 4
) (
    input  wire                      clk,
    input  wire                      rst,

    // what leaves the adder of pairs: a slot's first row; the last row of a pair's second contribution
    input  wire                      note_clear,
    input  wire                      note_full,
    input  wire [UNIT_W-1:0]         note_unit,
    input  wire [LEVELS-1:0]         note_pair,
    input  wire [ROW_W-1:0]          note_rows,
    input  wire [1:0]                note_op,
    input  wire                      note_int,
    input  wire                      note_wide,
    // the unit's result is being made: what is planned for it is of no use
    input  wire                      drop,
    input  wire [UNIT_W-1:0]         drop_unit,

    input  wire                      may_start,
    output wire                      start,
    input  wire                      done,
    output wire                      closed,
    output wire [UNIT_W-1:0]         unit,
    output wire [LEVELS-1:0]         left,
    output wire [LEVELS-1:0]         right,
    output wire [ROW_W-1:0]          rows,
    output wire [1:0]                op,
    output wire                      is_int,
    output wire                      wide,

    input  wire                      look,
    input  wire [UNIT_W-1:0]         look_unit,
    output wire [2*(1<<LEVELS)-3:0]  look_nodes
);

    localparam SPAN    = 1 << LEVELS;
    localparam NODES   = 2 * SPAN - 2;
    localparam LEVEL_W = $clog2(LEVELS + 1);

`ifndef __ICARUS__
    generate
        if (LEVELS < 2) begin : gen_bad_levels
            $error("inc_merge_plan: LEVELS must be at least 2");
        end
        if (UNIT_W < 1 || UNITS < 2 || UNITS > (1 << UNIT_W)) begin : gen_bad_units
            $error("inc_merge_plan: UNITS must be 2 to 2**UNIT_W");
        end
    endgenerate
`endif

    // ---- a pair that waits, and the node that is looked at ----

    localparam WORK_W = UNIT_W + LEVELS + ROW_W + 4;
    localparam [2:0] IDLE = 3'd0, READ = 3'd1, JUDGE = 3'd2, WAIT = 3'd3, RUN = 3'd4, READ_AGAIN = 3'd5, JUDGE_AGAIN = 3'd6;

    reg  [2:0]         state_reg;
    reg  [LEVEL_W-1:0] level_reg;     // of the node that became complete
    reg  [WORK_W-1:0]  work_reg, next_reg;
    reg                next_valid;
    wire [WORK_W-1:0]  note_word = {note_unit, note_pair, note_rows, note_op, note_int, note_wide};
    wire [UNIT_W-1:0]  next_unit = next_reg[WORK_W-1 -: UNIT_W];
    wire [LEVELS-1:0]  pair;

    assign {unit, pair, rows, op, is_int, wide} = work_reg;
    assign closed = state_reg == RUN || state_reg == READ_AGAIN || state_reg == JUDGE_AGAIN;

    wire forget      = state_reg != IDLE && !closed && ((note_clear && note_unit == unit) || (drop && drop_unit == unit));
    wire forget_next = next_valid && ((note_clear && note_unit == next_unit) || (drop && drop_unit == next_unit));

    // ---- what is known of each unit ----

    wire [NODES-1:0] known;           // of the unit looked at
    reg              looked_reg;      // somebody else looked: `known` is another's
    wire             judges = (state_reg == JUDGE || state_reg == JUDGE_AGAIN) && !note_clear && !looked_reg;
    wire             reads  = (state_reg == READ || state_reg == READ_AGAIN) && !look;
    reg  [NODES-1:0] mine;            // the node that became complete
    reg              sibling;         // its sibling is complete
    reg              is_top;          // above it is the root
    integer l, i;
    always @* begin
        mine    = {NODES{1'b0}};
        sibling = 1'b0;
        for (l = 0; l < LEVELS; l = l + 1) begin
            for (i = 0; i < (SPAN >> l); i = i + 1) begin
                if (level_reg == l[LEVEL_W-1:0] && (pair >> l) == i[LEVELS-1:0]) begin
                    mine[(SPAN >> l) + i - 2] = 1'b1;
                    sibling = known[(((SPAN >> l) + i) ^ 1) - 2];
                end
            end
        end
        is_top = level_reg == LEVELS[LEVEL_W-1:0] - {{(LEVEL_W-1){1'b0}}, 1'b1};
    end

    inc_ram_1r1w #(.WORDS(UNITS), .BITS(NODES), .ADDR_W(UNIT_W)) u_nodes (
        .clk   (clk),
        .we    (note_clear || judges),
        .waddr (note_clear ? note_unit : unit),
        .wdata (note_clear ? {NODES{1'b0}} : known | mine),
        .re    (look || reads),
        .raddr (look ? look_unit : unit),
        .rdata (known)
    );
    assign look_nodes = known;

    // ---- merging ----

    // the pairs below the node above: the lowest of its left and of its right child
    wire [LEVELS-1:0] one   = {{(LEVELS-1){1'b0}}, 1'b1};
    wire [LEVELS-1:0] half  = one << level_reg;
    wire [LEVELS-1:0] low   = half - one;
    assign left  = pair & ~(low | half);
    assign right = left | half;

    assign start = state_reg == WAIT && may_start && !forget;

    wire merges = sibling && !is_top;
    wire takes  = state_reg == IDLE && next_valid && !forget_next;

    always @(posedge clk) begin
        looked_reg <= look;
        case (state_reg)
            IDLE: begin
                level_reg <= {LEVEL_W{1'b0}};
                if (takes) begin
                    work_reg  <= next_reg;
                    state_reg <= READ;
                end
            end
            READ, READ_AGAIN: begin
                if (reads) begin
                    state_reg <= state_reg == READ ? JUDGE : JUDGE_AGAIN;
                end
            end
            JUDGE, JUDGE_AGAIN: begin
                if (looked_reg) begin
                    state_reg <= state_reg == JUDGE ? READ : READ_AGAIN;
                end else if (judges) begin
                    state_reg <= merges ? WAIT : IDLE;
                end
            end
            WAIT: begin
                if (start) begin
                    state_reg <= RUN;
                end
            end
            default: begin
                if (done) begin
                    level_reg <= level_reg + {{(LEVEL_W-1){1'b0}}, 1'b1};
                    state_reg <= READ_AGAIN;
                end
            end
        endcase
        if (forget) begin
            state_reg <= IDLE;
        end
        if (takes || forget_next) begin
            next_valid <= 1'b0;
        end
        if (note_full && (!next_valid || takes)) begin
            next_valid <= 1'b1;
            next_reg   <= note_word;
        end
        if (rst) begin
            state_reg  <= IDLE;
            next_valid <= 1'b0;
        end
    end

endmodule

`default_nettype wire
