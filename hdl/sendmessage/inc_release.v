// SPDX-License-Identifier: Apache-2.0
//
// inc_release: when an iteration of a group is acknowledged everywhere, has its hosts sent a release, and holds back what comes after it.
//
// Contract
//   iterations  of a group in grp_release, of grp_iteration messages, from init_psn on; 0 messages: it never ends. Hosts are told that sent
//               in it (grp_hears)
`ifdef INC_MESSAGE_RANGES
//   ranges      of an in-band group an iteration is a range; rng_we says with data what its range is. From then on to the last release's
//               acknowledgement the group is in grp_owes, if somebody is told, and has no other range; nothing is news then
`endif
//   begin       start_* names both pools' first message that is not acknowledged. When the pools that the group has come to the end of its iteration,
//               every endpoint of the group is offered to CheckMessage in turn, as a timer's action; that becomes a job of SendMessage, snd_owe:
//               PSNs on the endpoint's wire are one further from then on, if it is owed a release, and count in the iteration that begins
//   send        a release is SendMessage's: one packet that the endpoint lags by, until it is acknowledged (rel_told)
//   end         when nobody is owed one, the next iteration has begun, and both pools are offered as news
//   bounds      ctx_limit and ctx_open without what lies behind the iteration; see_ok low for it
`ifdef INC_MESSAGE_RANGES
//   numbers     tx_rng is the number, modulo 4, of the iterations and ranges (ctl_open) that have begun in the group that a frame is made for;
//               rel_rng is that of the job's group
`else
//   numbers     tx_rng is the number of the iteration, modulo 4, of the group that a frame is made for
`endif
//   actions     out_act_* are in_act_*, or its own; a change from one to the other takes a cycle in which there is none. What CheckMessage took by
//               snd_act is a job of whose it was
//   counting    out_count is in_count, with TX_RELEASE a cycle behind rel_puts
//   latency     0 cycles of actions, bounds, numbers and counters; from start_we to the first offer 3 cycles
//   throughput  one group at a time
//   stall       none
//   reset       no group has an iteration
`ifdef INC_PARK
//   parking     a group whose iteration is acknowledged is not drained before nobody is owed a release: out_park_drained is in_park_drained
//               without such groups
`ifdef INC_MESSAGE_RANGES
`else
//   not done    in-band groups
`endif
`else
`ifdef INC_MESSAGE_RANGES
//   not done    groups that are parked
`else
//   not done    in-band groups; groups that are parked
`endif
`endif
`default_nettype none

module inc_release #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W     = 3,
    // bits of an endpoint's index in the table
    parameter EI_W     = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W   = 5,
    // number of groups
    parameter GROUPS   = 2,
    // bits of a message's length
    parameter OFF_W    = 12,
    // number of counters
    // contract: parameter 1
    parameter COUNTERS = 60
    // contract: end
) (
    input  wire                     clk,
    input  wire                     rst,

    // control plane
    input  wire                     tbl_grp_we,
    input  wire                     tbl_ep_we,
    input  wire [EI_W-1:0]          tbl_index,
    input  wire [3:0]               tbl_word,
    input  wire [31:0]              tbl_data,
    input  wire [GROUPS-1:0]        grp_release,
    input  wire [GROUPS*23-1:0]     grp_iteration,
    input  wire [GROUPS-1:0]        grp_live,
    // who is told, a mask a group
    output wire [GROUPS*MASK_W-1:0] grp_hears,
`ifdef INC_PARK
    // whether a group can be parked
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] park_group,
    input  wire                     in_park_drained,
    output wire                     out_park_drained,
`endif

    // start of a group, an endpoint at a time
    input  wire                     init_we,
    input  wire [EI_W-1:0]          init_ei,
    input  wire [23:0]              init_psn,

    input  wire                     start_we,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] start_group,
    input  wire [23:0]              start_a,
    input  wire [23:0]              start_b,

`ifdef INC_MESSAGE_RANGES
    // a range begins; the one that data is of: its last message, who sends in it, the pools that it uses
    input  wire                     ctl_open,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] rng_group,
    input  wire                     rng_we,
    input  wire [23:0]              rng_last,
    input  wire [MASK_W-1:0]        rng_senders,
    input  wire                     rng_a,
    input  wire                     rng_b,
    // groups whose range is not over before releases are acknowledged
    output wire [GROUPS-1:0]        grp_owes,

`endif
    // what SendMessage offers, and what CheckMessage is offered
    input  wire                     in_act_valid,
    input  wire                     in_act_soon,
    input  wire                     in_act_timer,
    input  wire                     in_act_pipe,
    input  wire [EI_W-1:0]          in_act_ei,
    output wire                     out_act_valid,
    output wire                     out_act_soon,
    output wire                     out_act_timer,
    output wire                     out_act_pipe,
    output wire [EI_W-1:0]          out_act_ei,
    // what it took, and the job that it is
    input  wire                     in_snd_act,
    input  wire                     in_snd_note,
    input  wire                     snd_done,
    output wire                     out_snd_act,
    output wire                     out_snd_note,
    output wire                     snd_owe,
    output wire                     rel_owes,
    output wire [1:0]               rel_rng,
    input  wire [EI_W-1:0]          rel_ei,
    output wire                     rel_owed,
    output wire                     rel_sent,
    input  wire                     rel_puts,
    input  wire                     rel_told,

    // what may be sent of the job's pool
    input  wire [23:0]              in_ctx_limit,
    input  wire [OFF_W-1:0]         in_ctx_open,
    output wire [23:0]              out_ctx_limit,
    output wire [OFF_W-1:0]         out_ctx_open,
    input  wire                     in_see_ok,
    input  wire [23:0]              in_see_msg,
    output wire                     out_see_ok,

    input  wire [EI_W-1:0]          tx_ei,
    output wire [1:0]               tx_rng,

    input  wire [COUNTERS-1:0]      in_count,
    output wire [COUNTERS-1:0]      out_count
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_release: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_release: MASK_W must be at most 2**EP_W");
        end
        if (OFF_W < 1) begin : gen_bad_off
            $error("inc_release: OFF_W must be at least 1");
        end
    endgenerate
`endif

    localparam GRP_W = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};
    localparam [31:0] LAST_EP = MASK_W - 1;
    // contract: counters 1
    localparam C_TX_RELEASE = 54, C_COUNT = 60;
    // contract: end
`ifdef INC_PARK
    // contract: parking 1
    localparam C_PARKED_COUNT = 61;
    // contract: end
`endif
    // contract: registers 1
    localparam F_GROUP_PARENT_ENDPOINT = 0, F_GROUP_PARENT_VALID = 31, F_GROUP_COLLECTIVE_COLLECTIVE = 0,
               W_GROUP_COLLECTIVE_COLLECTIVE = 3, F_EP_CTRL_HOST = 1;
    localparam [3:0] WORD_GROUP_IN_MASK = 4'd4, WORD_GROUP_PARENT = 4'd7, WORD_GROUP_COLLECTIVE = 4'd8, WORD_EP_CTRL = 4'd0;
    // contract: end
    localparam [2:0] REDUCE = 3'd1, BROADCAST = 3'd2;

`ifndef __ICARUS__
    generate
`ifdef INC_PARK
        if (COUNTERS != C_PARKED_COUNT) begin : gen_bad_counters
`else
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
`endif
            $error("inc_release: COUNTERS must be the number of the mode's counters");
        end
    endgenerate
`endif

    wire [GRP_W-1:0] tbl_group, tbl_ep_group, init_group, job_group, tx_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign tbl_group    = tbl_index[GRP_W-1:0];
            assign tbl_ep_group = tbl_index[EI_W-1:EP_W];
            assign init_group   = init_ei[EI_W-1:EP_W];
            assign job_group    = rel_ei[EI_W-1:EP_W];
            assign tx_group     = tx_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {tbl_group, tbl_ep_group, init_group, job_group, tx_group} = 5'd0;
        end
    endgenerate

    // ---- the groups: what is told of them, and where their iterations end ----

    reg  [2:0]       walk_reg;                  // what is done, of the group in walk_group
    localparam [2:0] R_IDLE = 3'd0, R_GAP = 3'd1, R_OWE = 3'd2, R_JOB = 3'd3, R_NEWS_GAP = 3'd4, R_NEWS = 3'd5, R_NEWS_JOB = 3'd6;
    reg  [GRP_W-1:0] walk_group;
    reg  [EP_W-1:0]  walk_ep;                   // or pool
    reg              walk_void;                 // the group was started again
    wire             owed_now, ends_walk;

    wire [GROUPS-1:0]        due, over, bounded;
`ifdef INC_PARK
    wire [GROUPS-1:0]        owing_group;
`endif
    wire [GROUPS*24-1:0]     bounds;
    wire [GROUPS*2-1:0]      numbers;
    wire [GROUPS*MASK_W-1:0] owed, sent;

    genvar g;
    genvar e;
    generate
        for (g = 0; g < GROUPS; g = g + 1) begin : gen_group
            localparam [GRP_W-1:0] G = g;
            reg  [MASK_W-1:0] in_reg, parent_reg, host_reg, owed_reg, sent_reg;
            reg  [2:0]        collective_reg;
            reg  [23:0]       bound_reg;
            reg  [1:0]        number_reg;
            reg               due_reg, walks_reg, releasing_reg;
            wire              has_parent = parent_reg != NOBODY;
            wire [MASK_W-1:0] senders = collective_reg == REDUCE ? in_reg : in_reg | parent_reg;
            wire [22:0]       length  = grp_iteration[23*g +: 23];
`ifdef INC_MESSAGE_RANGES
            reg               ranged_reg;       // the group is in a range
            reg               armed_reg;        // whose releases are to come
            reg  [MASK_W-1:0] sends_reg;
            reg               a_reg, b_reg;
            wire [MASK_W-1:0] tells   = ranged_reg ? sends_reg : length != 23'd0 ? senders : NOBODY;
            wire [MASK_W-1:0] hears   = grp_release[g] ? tells & host_reg : NOBODY;
            // the pools that it has: aggregation, broadcast
            wire              has_a = ranged_reg ? a_reg : has_parent && collective_reg != BROADCAST;
            wire              has_b = ranged_reg ? b_reg : collective_reg != REDUCE;
            wire              ends_range = ranged_reg && releasing_reg && owed_reg == NOBODY;
`else
            wire [MASK_W-1:0] hears   = grp_release[g] && length != 23'd0 ? senders & host_reg : NOBODY;
            // the pools that it has: aggregation, broadcast
            wire              has_a = has_parent && collective_reg != BROADCAST;
            wire              has_b = collective_reg != REDUCE;
`endif
            wire              at_end = (!has_a || start_a == bound_reg) && (!has_b || start_b == bound_reg);
            wire              mine  = walk_group == G && !walk_void;

            for (e = 0; e < MASK_W; e = e + 1) begin : gen_endpoint
                localparam [EP_W-1:0] E = e;
                wire here = job_group == G && rel_ei[EP_W-1:0] == E;
                always @(posedge clk) begin
                    if (tbl_ep_we && tbl_word == WORD_EP_CTRL && tbl_ep_group == G && tbl_index[EP_W-1:0] == E) begin
                        host_reg[e] <= tbl_data[F_EP_CTRL_HOST];
                    end
                    if (tbl_grp_we && tbl_word == WORD_GROUP_PARENT && tbl_group == G) begin
                        parent_reg[e] <= tbl_data[F_GROUP_PARENT_VALID] && tbl_data[F_GROUP_PARENT_ENDPOINT +: 8] == e[7:0];
                    end
                    if (init_we && init_group == G) begin
                        owed_reg[e] <= 1'b0;
                    end else if (owed_now && mine && walk_ep == E) begin
                        owed_reg[e] <= hears[e];
                        sent_reg[e] <= 1'b0;
                    end else if (here && rel_told) begin
                        owed_reg[e] <= 1'b0;
                    end else if (here && rel_puts) begin
                        sent_reg[e] <= 1'b1;
                    end
                    if (rst) begin
                        owed_reg[e] <= 1'b0;
                    end
                end
            end

            always @(posedge clk) begin
                if (tbl_grp_we && tbl_word == WORD_GROUP_IN_MASK && tbl_group == G) begin
                    in_reg <= tbl_data[MASK_W-1:0];
                end
                if (tbl_grp_we && tbl_word == WORD_GROUP_COLLECTIVE && tbl_group == G) begin
                    collective_reg <= tbl_data[F_GROUP_COLLECTIVE_COLLECTIVE +: W_GROUP_COLLECTIVE_COLLECTIVE];
                end
                if (init_we && init_group == G) begin
                    bound_reg     <= init_psn + {1'b0, length};
                    number_reg    <= 2'd0;
                    due_reg       <= 1'b0;
                    walks_reg     <= 1'b0;
                    releasing_reg <= 1'b0;
`ifdef INC_MESSAGE_RANGES
                    ranged_reg    <= 1'b0;
                    armed_reg     <= 1'b0;
`endif
                end else begin
                    if (start_we && start_group == G && bounded[g] && !releasing_reg && !walks_reg && at_end) begin
                        due_reg <= 1'b1;
                    end
                    if (walk_reg == R_GAP && mine && due_reg) begin
                        due_reg    <= 1'b0;
                        walks_reg  <= 1'b1;
                        number_reg <= number_reg + 2'd1;
                    end
                    if (ends_walk && mine) begin
                        walks_reg     <= 1'b0;
                        releasing_reg <= 1'b1;
                    end
                    if (walk_reg == R_NEWS_GAP && mine && releasing_reg) begin
                        releasing_reg <= 1'b0;
                        bound_reg     <= bound_reg + {1'b0, length};
                    end
`ifdef INC_MESSAGE_RANGES
                    if (ctl_open && rng_group == G) begin
                        number_reg <= number_reg + 2'd1;
                    end
                    if (rng_we && rng_group == G) begin
                        ranged_reg <= 1'b1;
                        armed_reg  <= 1'b1;
                        sends_reg  <= rng_senders;
                        a_reg      <= rng_a;
                        b_reg      <= rng_b;
                        bound_reg  <= rng_last + 24'd1;
                    end
                    if (ends_range) begin
                        releasing_reg <= 1'b0;
                        armed_reg     <= 1'b0;
                    end
`endif
                end
                if (rst) begin
                    due_reg       <= 1'b0;
                    walks_reg     <= 1'b0;
                    releasing_reg <= 1'b0;
                end
            end

`ifdef INC_MESSAGE_RANGES
            assign bounded[g]  = hears != NOBODY && (armed_reg || !ranged_reg);
            assign grp_owes[g] = bounded[g] && ranged_reg && !ends_range;
`else
            assign bounded[g] = hears != NOBODY;
`endif
`ifdef INC_PARK
            assign owing_group[g] = park_group == G && (due_reg || walks_reg || releasing_reg);
`endif
            assign due[g]     = due_reg && grp_live[g];
`ifdef INC_MESSAGE_RANGES
            assign over[g]    = releasing_reg && owed_reg == NOBODY && grp_live[g] && !ranged_reg;
`else
            assign over[g]    = releasing_reg && owed_reg == NOBODY && grp_live[g];
`endif
            assign bounds[24*g +: 24]          = bound_reg;
            assign numbers[2*g +: 2]           = number_reg;
            assign owed[MASK_W*g +: MASK_W]    = owed_reg;
            assign sent[MASK_W*g +: MASK_W]    = sent_reg;
            assign grp_hears[MASK_W*g +: MASK_W] = hears;
        end
    endgenerate

    // ---- one group at a time: first everybody in turn, and when nobody is owed a release any more its pools ----

    wire [GROUPS-1:0] first_due  = due & (~due + {{(GROUPS-1){1'b0}}, 1'b1});
    wire [GROUPS-1:0] first_over = over & (~over + {{(GROUPS-1){1'b0}}, 1'b1});
    wire              last_ep    = walk_ep == LAST_EP[EP_W-1:0];
    reg  [GRP_W-1:0]  due_group, over_group;
`ifdef INC_MESSAGE_RANGES
    reg  [1:0]        job_number;
`else
    reg  [1:0]        walk_number;
`endif
    reg  [MASK_W-1:0] walk_hears, job_owed, job_sent;
    reg  [23:0]       job_bound;
    reg               job_bounded;
    reg  [1:0]        tx_number;
    integer           k;
    always @* begin
        due_group   = {GRP_W{1'b0}};
        over_group  = {GRP_W{1'b0}};
`ifdef INC_MESSAGE_RANGES
        job_number  = 2'd0;
`else
        walk_number = 2'd0;
`endif
        walk_hears  = NOBODY;
        job_owed    = NOBODY;
        job_sent    = NOBODY;
        job_bound   = 24'd0;
        job_bounded = 1'b0;
        tx_number   = 2'd0;
        for (k = 0; k < GROUPS; k = k + 1) begin
            due_group   = due_group | (first_due[k] ? k[GRP_W-1:0] : {GRP_W{1'b0}});
            over_group  = over_group | (first_over[k] ? k[GRP_W-1:0] : {GRP_W{1'b0}});
`ifdef INC_MESSAGE_RANGES
            job_number  = job_number | (job_group == k[GRP_W-1:0] ? numbers[2*k +: 2] : 2'd0);
`else
            walk_number = walk_number | (walk_group == k[GRP_W-1:0] ? numbers[2*k +: 2] : 2'd0);
`endif
            walk_hears  = walk_hears | (walk_group == k[GRP_W-1:0] ? grp_hears[MASK_W*k +: MASK_W] : NOBODY);
            job_owed    = job_owed | (job_group == k[GRP_W-1:0] ? owed[MASK_W*k +: MASK_W] : NOBODY);
            job_sent    = job_sent | (job_group == k[GRP_W-1:0] ? sent[MASK_W*k +: MASK_W] : NOBODY);
            job_bound   = job_bound | (job_group == k[GRP_W-1:0] ? bounds[24*k +: 24] : 24'd0);
            job_bounded = job_bounded || (job_group == k[GRP_W-1:0] && bounded[k]);
            tx_number   = tx_number | (tx_group == k[GRP_W-1:0] ? numbers[2*k +: 2] : 2'd0);
        end
    end

    function one_of(input [MASK_W-1:0] set, input [EP_W-1:0] at);
        integer i;
        begin
            one_of = 1'b0;
            for (i = 0; i < MASK_W; i = i + 1) begin
                one_of = one_of || (set[i] && at == i[EP_W-1:0]);
            end
        end
    endfunction

    assign owed_now  = walk_reg == R_JOB && snd_done;
    assign ends_walk = owed_now && last_ep;

    always @(posedge clk) begin
        case (walk_reg)
            R_IDLE: begin
                walk_ep    <= {EP_W{1'b0}};
                walk_void  <= 1'b0;
                walk_group <= due != {GROUPS{1'b0}} ? due_group : over_group;
                walk_reg   <= due != {GROUPS{1'b0}} ? R_GAP : over != {GROUPS{1'b0}} ? R_NEWS_GAP : R_IDLE;
            end
            R_GAP:  walk_reg <= walk_void ? R_IDLE : R_OWE;
            R_OWE:  if (in_snd_act) walk_reg <= R_JOB;
            R_JOB: begin
                if (snd_done) begin
                    walk_ep  <= walk_ep + {{(EP_W-1){1'b0}}, 1'b1};
                    walk_reg <= last_ep || walk_void ? R_IDLE : R_GAP;
                end
            end
            R_NEWS_GAP: walk_reg <= walk_void ? R_IDLE : R_NEWS;    // a pool that is not there has nothing to send
            R_NEWS: if (in_snd_act) walk_reg <= R_NEWS_JOB;
            default: begin
                if (snd_done) begin
                    walk_ep  <= walk_ep + {{(EP_W-1){1'b0}}, 1'b1};
                    walk_reg <= walk_ep[0] || walk_void ? R_IDLE : R_NEWS_GAP;
                end
            end
        endcase
        if (walk_reg != R_IDLE && init_we && init_group == walk_group) begin
            walk_void <= 1'b1;
        end
        if (rst) begin
            walk_reg <= R_IDLE;
        end
    end

    // ---- actions and jobs ----

    wire owing = walk_reg == R_OWE;
    wire news  = walk_reg == R_NEWS;
    wire gap   = walk_reg == R_GAP || walk_reg == R_NEWS_GAP;

    assign out_act_valid = owing || news || (in_act_valid && !gap);
    assign out_act_soon  = in_act_soon || walk_reg != R_IDLE;
    assign out_act_timer = owing || (!news && in_act_timer);
    assign out_act_pipe  = news || (!owing && in_act_pipe);
    generate
        if (EI_W > EP_W) begin : gen_offer
            assign out_act_ei = owing || news ? {walk_group, walk_ep} : in_act_ei;
        end else begin : gen_offer_one
            assign out_act_ei = owing || news ? walk_ep : in_act_ei;
        end
    endgenerate
    assign out_snd_act  = in_snd_act && !owing && !news;
    assign out_snd_note = in_snd_note || (in_snd_act && news);
    assign snd_owe      = in_snd_act && owing;
    assign rel_owes     = !walk_void && one_of(walk_hears, walk_ep);
`ifdef INC_MESSAGE_RANGES
    assign rel_rng      = job_number;
`else
    assign rel_rng      = walk_number;
`endif
    assign rel_owed     = one_of(job_owed, rel_ei[EP_W-1:0]);
    assign rel_sent     = one_of(job_sent, rel_ei[EP_W-1:0]);

    // ---- what lies behind an iteration is held back ----

    wire [23:0] limit_past = in_ctx_limit - job_bound;
    wire [23:0] see_past   = in_see_msg - job_bound;
    wire        holds      = job_bounded && !limit_past[23];
    assign out_ctx_limit = holds ? job_bound : in_ctx_limit;
    assign out_ctx_open  = holds ? {OFF_W{1'b0}} : in_ctx_open;
    assign out_see_ok    = in_see_ok && !(job_bounded && !see_past[23]);
    assign tx_rng        = tx_number;

`ifdef INC_PARK
    assign out_park_drained = in_park_drained && owing_group == {GROUPS{1'b0}};

`endif
    // ---- counters ----

    reg puts_reg;
    always @(posedge clk) begin
        puts_reg <= rel_puts && !rst;
    end
    generate
        for (g = 0; g < COUNTERS; g = g + 1) begin : gen_count
            assign out_count[g] = in_count[g] || (g == C_TX_RELEASE && puts_reg);
        end
    endgenerate

    wire unused_bits = &{1'b0, init_ei, tx_ei, tbl_index, tbl_data, limit_past, see_past, C_COUNT[0], LAST_EP};

endmodule

`default_nettype wire
