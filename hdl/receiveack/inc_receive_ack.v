// SPDX-License-Identifier: Apache-2.0
//
// inc_receive_ack: what every endpoint of every group has acknowledged, the MSN beside it, and the minimum over a mask.
//
// Contract
//   order       one frame at a time: ack_rd, ack_we or ack_lift two cycles later at the earliest or neither, ack_rd of the next, at the
//               earliest in the cycle of ack_we, in the one after ack_lift; ack_group counts with ack_rd; ack_self, ack_mask, ack_pick stand
//               still from the next cycle on to ack_we or until the answer was used
//   latency     ack_rd in cycle 0, ack_picked* and ack_own* from cycle 1 on, ack_rest* and ack_ready from cycle STAGES + 1 on, all
//               until the next ack_rd, whatever is written; an ack_we is seen by an ack_rd in the same cycle, an ack_lift by one in the
//               cycle after it
//   throughput  a read, or a write of what was read, in a cycle
//   stall       none; init waits while ack_we or ack_lift is high, with BEHIND in the cycle after one too
//   writing     with BEHIND a commit or a lift is written in the cycle behind it: whether there is one is known last in its cycle, and goes to one
//               register and not to all of a wide memory
//   one port    with ONE_PORT the words are in a memory of one port, and two ack_rd are two cycles apart at least. An ack_we that comes with
//               an ack_rd is written in the next cycle. init waits for that too, and while ack_rd is high; in the cycle after one in which it
//               had to wait init_waits is high, and no ack_rd comes
//   serial      all compared numbers of a group lie within half the number range of each other; of equals the lowest endpoint is the minimum
//   commit      ack[self] = serial maximum of itself and ack_psn, at a distance of 2**23 itself; where it does not fall, its MSN is ack_msn
//   lift        every ack of the group = serial maximum of itself and ack_psn; the MSNs stay
//   reset       ack_ready low; no state of a group is known until its start
//   not done    knows no collectives: whose minimum, and whether an ACK counts, is for who asks; ack_picked* and ack_own* of nobody are 0,
//               ack_rest* of nobody (ack_rest_any low) mean nothing
`default_nettype none

module inc_receive_ack #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W   = 3,
    // bits of an endpoint's index in the table
    parameter EI_W   = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W = 5,
    // number of groups
    parameter GROUPS = 2,
    // register stages of the minimum's tree, 1 to 4; with one more than it has levels, all that is read stands in registers first
    parameter STAGES = 2,
    // 1: the words are in a memory of one port
    parameter ONE_PORT = 0,
    // 1: what is committed is written a cycle later; 0 with ONE_PORT
    parameter BEHIND = 0
) (
    input  wire                                   clk,
    input  wire                                   rst,

    // start of a group: all its endpoints at init_psn - 1, MSN 0
    input  wire                                   init_valid,
    output wire                                   init_take,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] init_group,
    input  wire [23:0]                            init_psn,
    // it had to wait
    output wire                                   init_waits,

    // look
    input  wire                                   ack_rd,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] ack_group,
    // the endpoint the frame came from, one-hot
    input  wire [MASK_W-1:0]                      ack_self,
    // over which the minimum is
    input  wire [MASK_W-1:0]                      ack_mask,
    // one more endpoint to be shown, one-hot
    input  wire [MASK_W-1:0]                      ack_pick,
    output wire                                   ack_ready,
    output wire [23:0]                            ack_picked,
    output wire [23:0]                            ack_picked_msn,
    // minimum over ack_mask without ack_self
    output wire [23:0]                            ack_rest,
    output wire [23:0]                            ack_rest_msn,
    output wire                                   ack_rest_any,
    output wire [EP_W-1:0]                        ack_rest_ep,
    output wire [23:0]                            ack_own,
    output wire [23:0]                            ack_own_msn,

    // commit, for ack_self
    input  wire                                   ack_we,
    // or for all endpoints of the group: ack_psn at least
    input  wire                                   ack_lift,
    input  wire [23:0]                            ack_psn,
    input  wire [23:0]                            ack_msn
);

    localparam GRP_W = EI_W > EP_W ? EI_W - EP_W : 1;

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_receive_ack: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_receive_ack: MASK_W must be at most 2**EP_W");
        end
        if (STAGES < 1 || STAGES > 4) begin : gen_bad_stages
            $error("inc_receive_ack: STAGES must be 1 to 4");
        end
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_receive_ack: ONE_PORT must be 0 or 1");
        end
        if (BEHIND < 0 || BEHIND > 1 - ONE_PORT) begin : gen_bad_behind
            $error("inc_receive_ack: BEHIND must be 0, or 1 with two ports");
        end
    endgenerate
`endif

    // ---- state: a word a group, {MSN, ack} of each endpoint ----

    wire [48*MASK_W-1:0] word_read;
    wire [48*MASK_W-1:0] word;
    wire [48*MASK_W-1:0] word_next;
    wire [MASK_W-1:0]    raised;
    reg  [GRP_W-1:0]     group_reg;
    // the word from the second cycle behind its read on: the memory takes too long for a comparison in the first
    reg  [48*MASK_W-1:0] held_reg;

    wire writes = ack_we || ack_lift;
    // what is written in the cycle behind its own, all or with ONE_PORT what came with a read; for whom, of which group, what
    wire              delays = BEHIND != 0 || (ONE_PORT != 0 && ack_rd);
    wire              late, late_lifts;
    wire [MASK_W-1:0] late_raised;
    wire [GRP_W-1:0]  late_group;
    wire [47:0]       late_word;
    wire              puts = late || (writes && !delays);
    wire              from_late = BEHIND != 0 || late;

    assign init_take = init_valid && !writes && !late && !(ONE_PORT != 0 && ack_rd);

    inc_table #(.WORDS(1 << GRP_W), .BITS(48 * MASK_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_acks (
        .clk   (clk),
        .we    (puts || init_take),
        .waddr (late ? late_group : BEHIND == 0 && writes ? group_reg : init_group),
        .wdata (puts ? word_next : {MASK_W{24'd0, init_psn - 24'd1}}),
        .re    (ack_rd),
        .raddr (ack_group),
        .rdata (word_read)
    );

    // an endpoint that was raised while the word was read, or is written in that cycle; whether its MSN is new too
    reg [MASK_W-1:0] fresh_reg, fresh_msn_reg;
    reg [47:0]       fresh_word_reg;
    wire             behind       = BEHIND != 0 && late;
    wire [MASK_W-1:0] fresh_now   = raised & {MASK_W{ack_we && group_reg == ack_group}};
    wire [MASK_W-1:0] fresh_late  = late_raised & {MASK_W{late_group == ack_group}};

    always @(posedge clk) begin
        if (ack_rd) begin
            group_reg      <= ack_group;
            fresh_reg      <= behind ? fresh_late : fresh_now;
            fresh_msn_reg  <= behind ? fresh_late & {MASK_W{!late_lifts}} : fresh_now;
            fresh_word_reg <= behind ? late_word : {ack_msn, ack_psn};
        end
        held_reg <= word;
    end

    generate
        if (ONE_PORT != 0) begin : gen_late
            reg              late_reg, waits_reg;
            reg [MASK_W-1:0] raised_reg;
            reg [GRP_W-1:0]  of_reg;
            always @(posedge clk) begin
                late_reg   <= ack_we && ack_rd;
                waits_reg  <= init_valid && !init_take;
                raised_reg <= raised;
                of_reg     <= group_reg;
                if (rst) begin
                    late_reg  <= 1'b0;
                    waits_reg <= 1'b0;
                end
            end
            assign late        = late_reg;
            assign late_lifts  = 1'b0;
            assign late_raised = raised_reg;
            assign late_group  = of_reg;
            assign late_word   = fresh_word_reg;
            assign init_waits  = waits_reg;
        end else if (BEHIND != 0) begin : gen_behind
            reg              late_reg, lifts_reg;
            reg [MASK_W-1:0] raised_reg;
            reg [GRP_W-1:0]  of_reg;
            reg [47:0]       word_reg;
            always @(posedge clk) begin
                late_reg   <= writes;
                lifts_reg  <= ack_lift;
                raised_reg <= raised;
                of_reg     <= group_reg;
                word_reg   <= {ack_msn, ack_psn};
                if (rst) begin
                    late_reg <= 1'b0;
                end
            end
            assign late        = late_reg;
            assign late_lifts  = lifts_reg;
            assign late_raised = raised_reg;
            assign late_group  = of_reg;
            assign late_word   = word_reg;
            assign init_waits  = 1'b0;
        end else begin : gen_at_once
            assign late        = 1'b0;
            assign late_lifts  = 1'b0;
            assign late_raised = {MASK_W{1'b0}};
            assign late_group  = {GRP_W{1'b0}};
            assign late_word   = 48'd0;
            assign init_waits  = 1'b0;
        end
    endgenerate

    // ---- one endpoint of the word ----

    function [47:0] pick(input [48*MASK_W-1:0] words, input [MASK_W-1:0] who);
        integer i;
        begin
            pick = 48'd0;
            for (i = 0; i < MASK_W; i = i + 1) begin
                pick = pick | (words[48*i +: 48] & {48{who[i]}});
            end
        end
    endfunction

    assign {ack_picked_msn, ack_picked} = pick(word, ack_pick);
    assign {ack_own_msn, ack_own}       = pick(word, ack_self);

    // ---- commit: every endpoint is compared, as for a lift, so that none has to be chosen first ----

    // held_reg still has the word of a commit that is late
    wire [MASK_W-1:0] put_raised = from_late ? late_raised : raised;
    wire              put_lifts  = from_late ? late_lifts : ack_lift;
    wire [23:0]       put_psn    = from_late ? late_word[23:0] : ack_psn;
    wire [23:0]       put_msn    = from_late ? late_word[47:24] : ack_msn;

    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_next
            assign word[48*e +: 24]    = fresh_reg[e] ? fresh_word_reg[23:0] : word_read[48*e +: 24];
            assign word[48*e+24 +: 24] = fresh_msn_reg[e] ? fresh_word_reg[47:24] : word_read[48*e+24 +: 24];
            wire [23:0] above = ack_psn - held_reg[48*e +: 24];
            assign raised[e]  = !above[23] && (ack_lift || ack_self[e]);
            assign word_next[48*e +: 24]    = put_raised[e] ? put_psn : held_reg[48*e +: 24];
            assign word_next[48*e+24 +: 24] = put_raised[e] && !put_lifts ? put_msn : held_reg[48*e+24 +: 24];
            wire unused_above = &{1'b0, above};
        end
    endgenerate

    // ---- minimum: a tree of nodes of three, who are all compared at once; STAGES of its levels end in registers, the last one too ----

    localparam FAN    = MASK_W <= 3 ? 1 : MASK_W <= 9 ? 2 : MASK_W <= 27 ? 3 : 4;
    localparam LEVELS = STAGES > FAN + 1 ? STAGES - 1 : FAN;
    localparam LEAVES = 3**LEVELS;
    localparam NODE_W = 1 + EP_W + 48;  // {any, endpoint, MSN, ack}
    localparam HELD   = STAGES > LEVELS ? 1 : 0;
    localparam CUTS   = STAGES > HELD ? STAGES - HELD : 1;

    genvar l;
    genvar n;
    generate
        for (l = 0; l <= LEVELS; l = l + 1) begin : gen_level
            localparam NODES = LEAVES / (3**l);
            wire [NODES*NODE_W-1:0] node;
            if (l == 0) begin : gen_leaves
                for (n = 0; n < NODES; n = n + 1) begin : gen_leaf
                    if (n < MASK_W) begin : gen_endpoint
                        localparam [EP_W-1:0] N = n;
                        assign node[n*NODE_W +: NODE_W] = {ack_mask[n] && !ack_self[n], N,
                                                           HELD != 0 ? held_reg[48*n +: 48] : word[48*n +: 48]};
                    end else begin : gen_none
                        assign node[n*NODE_W +: NODE_W] = {NODE_W{1'b0}};
                    end
                end
            end else begin : gen_joins
                wire [NODES*NODE_W-1:0] least;
                for (n = 0; n < NODES; n = n + 1) begin : gen_join
                    wire [NODE_W-1:0] low  = gen_level[l-1].node[(3*n)*NODE_W +: NODE_W];
                    wire [NODE_W-1:0] mid  = gen_level[l-1].node[(3*n+1)*NODE_W +: NODE_W];
                    wire [NODE_W-1:0] high = gen_level[l-1].node[(3*n+2)*NODE_W +: NODE_W];
                    wire [23:0] mid_low    = mid[23:0] - low[23:0];
                    wire [23:0] high_low   = high[23:0] - low[23:0];
                    wire [23:0] high_mid   = high[23:0] - mid[23:0];
                    // of equals the lowest
                    wire        mid_first  = mid[NODE_W-1] && (!low[NODE_W-1] || mid_low[23]);
                    wire        high_first = high[NODE_W-1] && (!low[NODE_W-1] || high_low[23]) && (!mid[NODE_W-1] || high_mid[23]);
                    assign least[n*NODE_W +: NODE_W] = high_first ? high : mid_first ? mid : low;
                    wire unused_diffs = &{1'b0, mid_low, high_low, high_mid};
                end
                // stage s ends behind level s * LEVELS / CUTS: the first ones are the short ones, as the word is read in the first
                if ((l * CUTS + LEVELS - 1) / LEVELS * LEVELS / CUTS == l) begin : gen_cut
                    reg [NODES*NODE_W-1:0] node_reg;
                    always @(posedge clk) begin
                        node_reg <= least;
                    end
                    assign node = node_reg;
                end else begin : gen_through
                    assign node = least;
                end
            end
        end
    endgenerate

    assign {ack_rest_any, ack_rest_ep, ack_rest_msn, ack_rest} = gen_level[LEVELS].node;

    // ---- ready: a bit that walks with the read, and stays at the end ----

    reg [STAGES:0] age_reg;

    always @(posedge clk) begin
        age_reg <= {(STAGES+1){!ack_rd}} & {age_reg[STAGES] || age_reg[STAGES-1], age_reg[STAGES-1:0] << 1} | {{STAGES{1'b0}}, ack_rd};
        if (rst) begin
            age_reg <= {(STAGES+1){1'b0}};
        end
    end
    assign ack_ready = age_reg[STAGES];

endmodule

`default_nettype wire
