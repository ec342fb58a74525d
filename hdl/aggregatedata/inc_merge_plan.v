// SPDX-License-Identifier: Apache-2.0
//
// inc_merge_plan: knows which nodes of a slot's tree are complete and which are merged, and says which two to merge next.
//
// Contract
//   nodes       a slot unit has SPAN = 2**LEVELS pairs. Nodes are numbered as in a heap: the root is 1, below n are 2n and 2n + 1, pair p is
//               SPAN + p. A pair is complete when both of its contributions have been added (note_full), a node above when its two children were
//               merged into the place of its lowest pair. look_nodes has bit n - 2 for node n: the root is none
//   clear       note_clear, a slot's first contribution, forgets what is known of the unit, and what is planned for it
//   plan        when a node becomes complete, the unit is looked through for one whose children are complete. start is high for the cycle in which its
//               merging begins; done says when the sum is written. Then the unit is looked through again
//   latency     from note_full to start 4 cycles at the earliest
//   throughput  one merge at a time, one pair waits. A pair that completes while another waits, or a plan that another unit's pair comes
//               before, is forgotten: merging is never needed
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

    localparam SPAN  = 1 << LEVELS;
    localparam NODES = 2 * SPAN - 2;

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

    // ---- a pair that waits, and the node that is complete, or planned ----

    localparam WORK_W = UNIT_W + LEVELS + ROW_W + 4;
    localparam [2:0] IDLE = 3'd0, READ = 3'd1, JUDGE = 3'd2, WAIT = 3'd3, RUN = 3'd4, READ_AGAIN = 3'd5, JUDGE_AGAIN = 3'd6;

    reg  [2:0]         state_reg;
    reg  [WORK_W-1:0]  work_reg, next_reg;
    reg                next_valid;
    wire [UNIT_W-1:0]  next_unit = next_reg[WORK_W-1 -: UNIT_W];
    wire [LEVELS-1:0]  next_pair = next_reg[WORK_W-1-UNIT_W -: LEVELS];
    wire [LEVELS-1:0]  work_pair;
    reg  [NODES-1:0]   node_reg;      // one of them
    reg  [LEVELS-1:0]  left_reg, right_reg;

    assign {unit, work_pair, rows, op, is_int, wide} = work_reg;
    assign left   = left_reg;
    assign right  = right_reg;
    assign closed = state_reg == RUN || state_reg == READ_AGAIN || state_reg == JUDGE_AGAIN;

    wire forget      = state_reg != IDLE && !closed && ((note_clear && note_unit == unit) || (drop && drop_unit == unit));
    wire forget_next = next_valid && ((note_clear && note_unit == next_unit) || (drop && drop_unit == next_unit));

    // ---- what is known of each unit ----

    wire [NODES-1:0] known;           // of the unit looked at
    reg              looked_reg;      // somebody else looked: `known` is another's
    wire             judges = (state_reg == JUDGE || state_reg == JUDGE_AGAIN) && !note_clear && !looked_reg;
    wire             reads  = (state_reg == READ || state_reg == READ_AGAIN) && !look;
    wire [NODES-1:0] now    = known | node_reg;

    inc_ram_1r1w #(.WORDS(UNITS), .BITS(NODES), .ADDR_W(UNIT_W)) u_nodes (
        .clk   (clk),
        .we    (note_clear || judges),
        .waddr (note_clear ? note_unit : unit),
        .wdata (note_clear ? {NODES{1'b0}} : now),
        .re    (look || reads),
        .raddr (look ? look_unit : unit),
        .rdata (known)
    );
    assign look_nodes = known;

    // a node whose children are complete, and it is not: the pairs that its children begin with
    reg              found;
    reg [NODES-1:0]  found_node, pair_node;
    reg [LEVELS-1:0] found_left, found_right;
    integer l, i;
    always @* begin
        found       = 1'b0;
        found_node  = {NODES{1'b0}};
        found_left  = {LEVELS{1'b0}};
        found_right = {LEVELS{1'b0}};
        for (l = 1; l < LEVELS; l = l + 1) begin
            for (i = 0; i < (SPAN >> l); i = i + 1) begin
                if (!found && !now[(SPAN >> l) + i - 2] && now[2 * ((SPAN >> l) + i) - 2] && now[2 * ((SPAN >> l) + i) - 1]) begin
                    found       = 1'b1;
                    found_node  = {{(NODES-1){1'b0}}, 1'b1} << ((SPAN >> l) + i - 2);
                    found_left  = i[LEVELS-1:0] << l;
                    found_right = (i[LEVELS-1:0] << l) | ({{(LEVELS-1){1'b0}}, 1'b1} << (l - 1));
                end
            end
        end
        pair_node = {NODES{1'b0}};
        for (i = 0; i < SPAN; i = i + 1) begin
            pair_node[SPAN - 2 + i] = next_pair == i[LEVELS-1:0];
        end
    end

    // ---- one after the other ----

    assign start = state_reg == WAIT && may_start && !next_valid && !forget;
    wire   takes = (state_reg == IDLE || state_reg == WAIT) && next_valid && !forget_next;

    always @(posedge clk) begin
        looked_reg <= look;
        case (state_reg)
            READ, READ_AGAIN: begin
                if (reads) begin
                    state_reg <= state_reg == READ ? JUDGE : JUDGE_AGAIN;
                end
            end
            JUDGE, JUDGE_AGAIN: begin
                if (looked_reg) begin
                    state_reg <= state_reg == JUDGE ? READ : READ_AGAIN;
                end else if (judges) begin
                    state_reg <= found ? WAIT : IDLE;
                    node_reg  <= found_node;
                    left_reg  <= found_left;
                    right_reg <= found_right;
                end
            end
            RUN: begin
                if (done) begin
                    state_reg <= READ_AGAIN;
                end
            end
            default: begin
                if (start) begin
                    state_reg <= RUN;
                end
            end
        endcase
        if (forget) begin
            state_reg <= IDLE;
        end
        if (takes) begin
            work_reg  <= next_reg;
            node_reg  <= pair_node;
            state_reg <= READ;
        end
        if (takes || forget_next) begin
            next_valid <= 1'b0;
        end
        if (note_full && (!next_valid || takes)) begin
            next_valid <= 1'b1;
            next_reg   <= {note_unit, note_pair, note_rows, note_op, note_int, note_wide};
        end
        if (rst) begin
            state_reg  <= IDLE;
            next_valid <= 1'b0;
        end
    end

    wire unused_bits = &{1'b0, work_pair};

endmodule

`default_nettype wire
