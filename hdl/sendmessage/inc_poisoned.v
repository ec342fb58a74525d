// SPDX-License-Identifier: Apache-2.0
//
// inc_poisoned: marks groups of which a word left that the payload memory could not correct, so that they send nothing more.
//
// Contract
//   follows     the works on payload that emit, as CheckMessage puts them, with the group they are of, and the words that AggregateData emits:
//               both in the same order. work_kills takes the work back that was put last, before any word of it leaves
//   mark        with the first bad word of a group's: grp_sends is low from the next cycle on
//   monitor     out_act_* are the decider's in_act_*, and in a cycle without one a mark: kind 5, of endpoint 0 of its group. It comes when no job
//               of SendMessage is under way that began before the mark, and no packet of snd_moves, which in_act_* tells as a send (1) in a later
//               cycle: so nothing of that group is sent behind it
//   latency     0 cycles of the monitor; a mark 1 cycle, on grp_poisoned and the monitor 2 or more
//   throughput  a word, and a work, in a cycle
//   room        16 works whose words have not all left: one is held, one is cut, the others have a row each in AggregateData, which has fewer stages
//   start       init_we takes a group's mark away. Words of works that were put before it mark nobody
//   stall       none
//   reset       nobody is marked, no work is under way
//   not done    says nothing of words that are read to be added to: they are written back as bad, and mark when they leave
`default_nettype none

module inc_poisoned #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W    = 3,
    // bits of an endpoint's index in the table
    parameter EI_W    = 4,
    // number of groups
    parameter GROUPS  = 2,
    // bits of a payload's number of words
    parameter WORDS_W = 8
) (
    input  wire               clk,
    input  wire               rst,

    // groups that run, and those of them that may send
    input  wire [GROUPS-1:0]  grp_live,
    output wire [GROUPS-1:0]  grp_sends,
    // groups that are marked, for the control plane: once the monitor has told it
    output wire [GROUPS-1:0]  grp_poisoned,

    // start of a group, an endpoint at a time
    input  wire               init_we,
    input  wire [EI_W-1:0]    init_ei,

    // a work on the payload, and an endpoint of its group; it emits its words, or the sums of what it reduces
    input  wire               work_put,
    input  wire [WORDS_W-1:0] work_words,
    input  wire               work_emit,
    input  wire               work_reduce,
    input  wire [EI_W-1:0]    work_ei,
    // in a cycle without a work: the one put last is killed
    input  wire               work_kills,
    input  wire               emit_valid,
    input  wire               emit_bad,

    // a job of SendMessage begins, or ends
    input  wire               snd_ack,
    input  wire               snd_act,
    input  wire               snd_note,
    input  wire               snd_done,
    // a packet is sent beside its jobs
    input  wire               snd_moves,

    input  wire               in_act_valid,
    input  wire [2:0]         in_act_kind,
    input  wire [EI_W-1:0]    in_act_ei,
    output wire               out_act_valid,
    output wire [2:0]         out_act_kind,
    output wire [EI_W-1:0]    out_act_ei
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_poisoned: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (WORDS_W < 1) begin : gen_bad_words
            $error("inc_poisoned: WORDS_W must be at least 1");
        end
    endgenerate
`endif

    localparam GRP_W   = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam PLACE_W = 4;
    localparam PLACES  = 1 << PLACE_W;
    localparam [2:0] SEND = 3'd1, POISONED = 3'd5;

    wire [GRP_W-1:0] work_group, init_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign work_group = work_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {work_group, init_group} = 2'd0;
        end
    endgenerate

    // ---- works whose words have not all left: group, number of words, and whether the group still is what it was ----

    reg  [PLACES*GRP_W-1:0]   groups_reg;
    reg  [PLACES*WORDS_W-1:0] words_reg;
    reg  [PLACES-1:0]         counts_reg;
    reg  [PLACE_W-1:0]        head_reg, tail_reg;
    reg  [WORDS_W-1:0]        left_reg;         // words of the oldest that have left
    wire                      push  = work_put && (work_emit || work_reduce);
    reg                       pushed_reg;       // the work put last emits
    wire                      pull  = work_kills && pushed_reg;
    wire [GRP_W-1:0]          group = groups_reg[head_reg*GRP_W +: GRP_W];
    wire [WORDS_W-1:0]        after = left_reg + {{(WORDS_W-1){1'b0}}, 1'b1};
    wire                      last  = after == words_reg[head_reg*WORDS_W +: WORDS_W];
    wire                      marks = emit_valid && emit_bad && counts_reg[head_reg];

    integer i;
    always @(posedge clk) begin
        for (i = 0; i < PLACES; i = i + 1) begin
            if (push && tail_reg == i[PLACE_W-1:0]) begin
                groups_reg[i*GRP_W +: GRP_W]    <= work_group;
                words_reg[i*WORDS_W +: WORDS_W] <= work_words;
                counts_reg[i]                   <= 1'b1;
            end else if (init_we && groups_reg[i*GRP_W +: GRP_W] == init_group) begin
                counts_reg[i] <= 1'b0;
            end
        end
        if (work_put) begin
            pushed_reg <= push;
        end
        if (push) begin
            tail_reg <= tail_reg + {{(PLACE_W-1){1'b0}}, 1'b1};
        end else if (pull) begin
            tail_reg <= tail_reg - {{(PLACE_W-1){1'b0}}, 1'b1};
        end
        if (emit_valid) begin
            left_reg <= last ? {WORDS_W{1'b0}} : after;
            head_reg <= last ? head_reg + {{(PLACE_W-1){1'b0}}, 1'b1} : head_reg;
        end
        if (rst) begin
            head_reg   <= {PLACE_W{1'b0}};
            tail_reg   <= {PLACE_W{1'b0}};
            left_reg   <= {WORDS_W{1'b0}};
            pushed_reg <= 1'b0;
        end
    end

    // ---- marks, and what is told of them: the lowest group first ----

    reg  [GROUPS-1:0] marked_reg, told_reg, calm_reg;
    reg               busy_reg;                 // a job is under way
    reg               fused_reg;                // a packet that was sent beside jobs is to be told
    wire              idle    = (!busy_reg || snd_done) && !fused_reg && !snd_moves;
    wire [GROUPS-1:0] waiting = calm_reg & ~told_reg;
    wire [GROUPS-1:0] next    = waiting & (~waiting + {{(GROUPS-1){1'b0}}, 1'b1});
    wire              tells   = waiting != {GROUPS{1'b0}} && !in_act_valid;
    reg  [GRP_W-1:0]  told_group;

    integer g;
    always @* begin
        told_group = {GRP_W{1'b0}};
        for (g = 0; g < GROUPS; g = g + 1) begin
            told_group = told_group | (next[g] ? g[GRP_W-1:0] : {GRP_W{1'b0}});
        end
    end

    integer k;
    always @(posedge clk) begin
        busy_reg  <= snd_ack || snd_act || snd_note || (busy_reg && !snd_done);
        fused_reg <= snd_moves || (fused_reg && !(in_act_valid && in_act_kind == SEND));
        for (k = 0; k < GROUPS; k = k + 1) begin
            if (init_we && init_group == k[GRP_W-1:0]) begin
                marked_reg[k] <= 1'b0;
                calm_reg[k]   <= 1'b0;
                told_reg[k]   <= 1'b0;
            end else begin
                marked_reg[k] <= marked_reg[k] || (marks && group == k[GRP_W-1:0]);
                calm_reg[k]   <= calm_reg[k] || (marked_reg[k] && idle);
                told_reg[k]   <= told_reg[k] || (tells && next[k]);
            end
        end
        if (rst) begin
            busy_reg   <= 1'b0;
            fused_reg  <= 1'b0;
            marked_reg <= {GROUPS{1'b0}};
            calm_reg   <= {GROUPS{1'b0}};
            told_reg   <= {GROUPS{1'b0}};
        end
    end

    assign grp_sends    = grp_live & ~marked_reg;
    assign grp_poisoned = told_reg;

    assign out_act_valid = in_act_valid || tells;
    assign out_act_kind  = in_act_valid ? in_act_kind : POISONED;
    generate
        if (EI_W > EP_W) begin : gen_told
            assign out_act_ei = in_act_valid ? in_act_ei : {told_group, {EP_W{1'b0}}};
        end else begin : gen_told_one
            assign out_act_ei = in_act_valid ? in_act_ei : {EI_W{1'b0}};
            wire unused_told = &{1'b0, told_group};
        end
    endgenerate

    wire unused_bits = &{1'b0, work_ei, init_ei};

endmodule

`default_nettype wire
