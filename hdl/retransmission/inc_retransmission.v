// SPDX-License-Identifier: Apache-2.0
//
// inc_retransmission: the send side of every endpoint: who keeps up and who lags, the timers, and the queue of who wants to send.
//
// Contract
//   order       one frame or action at a time: rt_rd, at most one cm_*, rt_rd of the next, at the earliest in the cycle of that cm_*; rt_ei
//               counts with rt_rd; rt_self, rt_out, rt_pipe, rt_sent, rt_acked and the acknowledgement's fields stand still from the
//               cycle after it on
//   latency     rt_rd in cycle 0; rt_keep, rt_one_psn from cycle 1 on, the rest of rt_* from cycle 2 on, all until the next rt_rd or cm_we;
//               cm_* no earlier than cycle 2
//   throughput  a read and a commit in 2 cycles
//   commit      cm_ack to cm_more say what will be committed, cm_we that it is: what follows is ready for that. With BEHIND it is written in
//               the cycle behind that, or one later if a start has that one: there is one for it behind a commit without an rt_rd in its cycle
//   keeps up    an out endpoint that does not lag has sent all that its pipe has (sendNext = S, maxSent = S - 1), and neither waits nor has failed
//   queue       pipes and endpoints that want to send stand in it once, and go to its end after a packet; who no longer wants to is found
//               out when it is its turn
//   action      act_soon from the cycle after the cm_* on that lets somebody stand in the queue; act_*: the next of the queue or a timer
//               that is up, the one in front of the other in turn; stands still until act_done. A timer's may be out of date, and so may
//               the queue's: rt_one, rt_timeout, rt_resume tell after a look
//   timers      run in microseconds of a common clock, CLOCK_MHZ cycles each. All are walked through, a group in MASK_W + 2 cycles, or one
//               more for each found. So a timer is found up, never early, at most 1 us and a walk of GROUPS * (MASK_W + 2) cycles late, if
//               what is found meanwhile is taken at once; it may be late by a second before it is taken for one that has not begun
//   start       init_valid holds until the queue has none of those in it that were there when it rose (init_clean); then init_we, an
//               endpoint a cycle, the last index last; neither in a cycle with a cm_*
//   stall       none, but init
//   reset       queue and action empty, nobody has failed; no other state of a group is known until its start
//   not done    what was acknowledged is ReceiveACK's, what is complete CheckPipe's; a queue whose groups are started over and over while
//               nothing is taken cannot overflow, as a start waits for the queue
`default_nettype none

module inc_retransmission #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W      = 3,
    // bits of an endpoint's index in the table
    parameter EI_W      = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W    = 5,
    // number of groups
    parameter GROUPS    = 2,
    // cycles of a microsecond, 1 to 4095
    parameter CLOCK_MHZ = 250,
    // 1: what is committed is written a cycle later, so that the memories have that cycle to themselves
    parameter BEHIND    = 0
) (
    input  wire                     clk,
    input  wire                     rst,

    // microseconds, 0 stands for 1
    input  wire [15:0]              cfg_timeout,
    input  wire [GROUPS-1:0]        grp_live,
    // endpoints that have failed, a mask a group
    output reg  [GROUPS*MASK_W-1:0] grp_failed,

    // start of a group, an endpoint at a time
    input  wire                     init_valid,
    input  wire                     init_we,
    input  wire [EI_W-1:0]          init_ei,
    output wire                     init_clean,

    // look: an endpoint, or any of its group's; counts with rt_rd
    input  wire                     rt_rd,
    input  wire [EI_W-1:0]          rt_ei,
    // from the next cycle on: the endpoint one-hot, the out endpoints of its pipe, which pipe, that one's S, what the endpoint acknowledged
    input  wire [MASK_W-1:0]        rt_self,
    input  wire [MASK_W-1:0]        rt_out,
    input  wire                     rt_pipe,
    input  wire [23:0]              rt_sent,
    input  wire [23:0]              rt_acked,
    // what an acknowledgement says was received last, in the group's PSNs, what comes next, and its kind: ACK, NAK 0x60, RNR NAK with its code, else a NAK that ends the connection
    input  wire [23:0]              rt_last,
    input  wire [23:0]              rt_next,
    input  wire                     rt_is_ack,
    input  wire                     rt_is_nak,
    input  wire                     rt_is_rnr,
    input  wire [4:0]               rt_code,
    // who keeps up
    output wire [MASK_W-1:0]        rt_keep,
    // what the endpoint gets next, if it lags
    output wire [23:0]              rt_one_psn,
    // the acknowledgement is stale; it acknowledges something
    output wire                     rt_stale,
    output wire                     rt_progress,
    // actions that the endpoint may take: send one, which it got before; its time-out; resume
    output wire                     rt_one,
    output wire                     rt_again,
    output wire                     rt_timeout,
    output wire                     rt_resume,

    // what is committed, and when: an acknowledgement that is not stale; a send to rt_keep; a send to one; time-out; resume; all endpoints of the group begin at
    // S; one that stood in the queue for nothing
    input  wire                     cm_we,
    input  wire                     cm_ack,
    input  wire                     cm_send,
    input  wire                     cm_one,
    input  wire                     cm_timeout,
    input  wire                     cm_resume,
    input  wire                     cm_open,
    input  wire                     cm_drop,
    // data was accepted, which neither of the others goes with but cm_send and cm_open
    input  wire                     cm_data,
    // the pipe has after this something that it may send to who keeps up
    input  wire                     cm_more,

    // what is to be done next; of a pipe act_ei is that of endpoint 0 (aggregation) or 1 (broadcast) of its group
    output wire                     act_valid,
    // there is, or will be in a few cycles
    output wire                     act_soon,
    output wire                     act_timer,
    output wire                     act_pipe,
    output wire [EI_W-1:0]          act_ei,
    input  wire                     act_done
);

    localparam GRP_W   = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam TIME_W  = 22;
    localparam SIDE_W  = 2 + MASK_W * (4 + TIME_W);
    localparam QUEUE   = (GROUPS << EP_W) + 2 * GROUPS;
    localparam QUEUE_W = $clog2(QUEUE + 1);
    localparam TICK_W  = CLOCK_MHZ > 1 ? $clog2(CLOCK_MHZ) : 1;
    localparam [31:0]  TICK_TOP = CLOCK_MHZ - 1;
    localparam [31:0]  LAST_EP  = MASK_W - 1;
    localparam [31:0]  LAST_GRP = GROUPS - 1;

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_retransmission: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_retransmission: MASK_W must be at most 2**EP_W");
        end
        if (CLOCK_MHZ < 1 || CLOCK_MHZ > 4095) begin : gen_bad_clock
            $error("inc_retransmission: CLOCK_MHZ must be 1 to 4095");
        end
        if (BEHIND < 0 || BEHIND > 1) begin : gen_bad_behind
            $error("inc_retransmission: BEHIND must be 0 or 1");
        end
    endgenerate
`endif

    reg  [EI_W-1:0]  ei_reg;           // that was looked at
    reg  [EI_W-1:0]  put_ei_reg;       // of the last commit
    wire [GRP_W-1:0] group, put_group;
    wire [GRP_W-1:0] look_group;
    wire [GRP_W-1:0] init_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group      = ei_reg[EI_W-1:EP_W];
            assign put_group  = put_ei_reg[EI_W-1:EP_W];
            assign look_group = rt_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign group      = 1'b0;
            assign put_group  = 1'b0;
            assign look_group = 1'b0;
            assign init_group = 1'b0;
        end
    endgenerate

    // ---- time ----

    reg [TICK_W-1:0] tick_reg;
    reg [TIME_W-1:0] now_reg;

    reg              least_reg;             // no time-out is set
    wire             tick = tick_reg == TICK_TOP[TICK_W-1:0];

    always @(posedge clk) begin
        least_reg <= cfg_timeout == 16'd0;
        tick_reg <= tick_reg + {{(TICK_W-1){1'b0}}, 1'b1};
        if (tick) begin
            tick_reg <= {TICK_W{1'b0}};
            now_reg  <= now_reg + {{(TIME_W-1){1'b0}}, 1'b1};
        end
        if (rst) begin
            tick_reg <= {TICK_W{1'b0}};
            now_reg  <= {TIME_W{1'b0}};
        end
    end

    // the microsecond that has begun does not count
    wire [TIME_W-1:0] soon    = now_reg + {{(TIME_W-1){1'b0}}, 1'b1};
    wire [TIME_W-1:0] timeout = {{(TIME_W-16){1'b0}}, cfg_timeout[15:1], cfg_timeout[0] || least_reg};

    // IBTA's times: 10 or 15 us doubled over and over, but for the lowest code, and 0 is the longest
    wire [TIME_W-1:0] rnr_step = rt_code[0] && rt_code[4:1] != 4'd0 ? {{(TIME_W-4){1'b0}}, 4'd15} : {{(TIME_W-4){1'b0}}, 4'd10};
    wire [TIME_W-1:0] rnr_time = rnr_step << (rt_code == 5'd0 ? 5'd16 : {1'b0, rt_code[4:1]});

    // ---- state: a word a group, a word an endpoint ----

    wire [1:0]                stands;       // the pipes that stand in the queue
    wire [MASK_W-1:0]         failed, lag, waits, on;
    wire [MASK_W*TIME_W-1:0]  deadline;
    wire [1:0]                stands_next;
    wire [MASK_W-1:0]         failed_next, lag_next, waits_next, on_next;
    wire [MASK_W*TIME_W-1:0]  deadline_next;
    wire                      side_we;

    wire [SIDE_W-1:0]         side_read;
    wire [SIDE_W-1:0]         side_next = {stands_next, failed_next, lag_next, waits_next, on_next, deadline_next};

    wire                      own_stands;   // in the queue
    wire [1:0]                backoff;
    wire [23:0]               max_sent, send_next;
    wire                      own_stands_next;
    wire [1:0]                backoff_next;
    wire [23:0]               max_sent_next, send_next_next;
    wire                      own_we;
    wire [50:0]               own_read;
    wire [50:0]               own_next = {own_stands_next, backoff_next, max_sent_next, send_next_next};

    // what was committed last: written now, with BEHIND, and what is read while it is written. A start may keep it waiting for one cycle, if no
    // commit can come in the next: what waits would be lost then to a read in the cycle of that commit.
    reg                       side_we_reg, own_we_reg;
    reg                       kept_reg;             // a read was in the cycle of that commit, or a start in the one behind
    reg  [SIDE_W-1:0]         side_put_reg;
    reg  [50:0]               own_put_reg;
    wire                      side_puts = BEHIND != 0 ? side_we_reg : side_we;
    wire                      own_puts  = BEHIND != 0 ? own_we_reg : own_we;
    wire [GRP_W-1:0]          puts_group = BEHIND != 0 ? put_group : group;

    always @(posedge clk) begin
        side_we_reg <= side_we || (side_we_reg && init_we);
        own_we_reg  <= own_we || (own_we_reg && init_we);
        kept_reg    <= rt_rd || init_we;
        if (side_we) begin
            side_put_reg <= side_next;
        end
        if (own_we) begin
            own_put_reg <= own_next;
        end
        if (cm_we) begin
            put_ei_reg <= ei_reg;
        end
        if (rst) begin
            side_we_reg <= 1'b0;
            own_we_reg  <= 1'b0;
        end
    end

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SIDE_W), .ADDR_W(GRP_W)) u_sides (
        .clk   (clk),
        .we    (side_puts || init_we),
        .waddr (init_we ? init_group : puts_group),
        .wdata (init_we ? {SIDE_W{1'b0}} : BEHIND != 0 ? side_put_reg : side_next),
        .re    (rt_rd),
        .raddr (look_group),
        .rdata (side_read)
    );
    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(51), .ADDR_W(EI_W)) u_senders (
        .clk   (clk),
        .we    (own_puts || init_we),
        .waddr (init_we ? init_ei : BEHIND != 0 ? put_ei_reg : ei_reg),
        .wdata (init_we ? 51'd0 : BEHIND != 0 ? own_put_reg : own_next),
        .re    (rt_rd),
        .raddr (rt_ei),
        .rdata (own_read)
    );

    // it is not in the memory yet
    reg              side_fresh, own_fresh;

    always @(posedge clk) begin
        if (rt_rd) begin
            ei_reg     <= rt_ei;
            side_fresh <= (side_we && group == look_group) || (BEHIND != 0 && side_we_reg && put_group == look_group);
            own_fresh  <= (own_we && ei_reg == rt_ei) || (BEHIND != 0 && own_we_reg && put_ei_reg == rt_ei);
        end
    end

    assign {stands, failed, lag, waits, on, deadline}    = side_fresh ? side_put_reg : side_read;
    assign {own_stands, backoff, max_sent, send_next}    = own_fresh ? own_put_reg : own_read;

    // ---- look ----

    reg [TIME_W-1:0] own_deadline;
    integer d;
    always @* begin
        own_deadline = {TIME_W{1'b0}};
        for (d = 0; d < MASK_W; d = d + 1) begin
            own_deadline = own_deadline | (deadline[TIME_W*d +: TIME_W] & {TIME_W{rt_self[d]}});
        end
    end

    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};
    wire own_lag    = (lag & rt_self) != NOBODY;
    wire own_waits  = (waits & rt_self) != NOBODY;
    wire own_failed = (failed & rt_self) != NOBODY;
    wire own_on     = (on & rt_self) != NOBODY;

    // whether b comes next after a, that is b + ~a is nothing: without a carry, each bit by itself and the one below; in two
    // halves, both one if it does
    function [1:0] next_is(input [23:0] a, input [23:0] b);
        reg [23:0] differs;
        begin
            differs = b ^ ~a ^ {b[22:0] | ~a[22:0], 1'b0};
            next_is = {differs[23:12] == 12'd0, differs[11:0] == 12'd0};
        end
    endfunction

    // The highest that it was ever sent is max_sent if it lags, else the one before S: what it acknowledges is compared with both.
    wire [23:0] pipe_last  = rt_sent - 24'd1;
    wire [23:0] gain       = rt_last - rt_acked;
    wire [23:0] surplus    = rt_last + ~rt_acked;           // the gain less one, and so below 0 where there is none
    wire        gains      = !gain[23] && !surplus[23];
    wire [23:0] under_own  = max_sent - rt_last;
    wire [23:0] under_pipe = rt_sent - rt_next;
    wire        beyond     = own_lag ? under_own[23] : under_pipe[23];
    wire        at_top     = own_lag ? max_sent == rt_last : rt_sent == rt_next;
    wire [23:0] skips   = rt_next - send_next;
    wire [23:0] again   = max_sent - send_next;
    wire [23:0] after   = send_next + 24'd1;
    // What is sent next has come to S, by either: both are compared while it is found out which of them it is. Not a choice between the two, which
    // Yosys would make before one comparison.
    wire        level   = (skips[23] && send_next == rt_sent) || (!skips[23] && rt_next == rt_sent);
    wire [TIME_W-1:0] past = now_reg - own_deadline;

    // When a timer is up that is set in the next cycle, as the microsecond that begins then counts too: after a send to all and
    // after an acknowledgement; after an RNR NAK; where it is off, as often doubled as it was; where it runs and is up, once more.
    wire [1:0]        backoff_more = backoff != 2'd3 ? backoff + 2'd1 : backoff;
    wire [TIME_W-1:0] period_once  = timeout << backoff;
    wire [TIME_W-1:0] period_more  = timeout << backoff_more;
    wire [TIME_W:0]   due_new      = {soon, tick} + {timeout, 1'b1};
    wire [TIME_W:0]   due_rnr      = {soon, tick} + {rnr_time, 1'b1};
    wire [TIME_W:0]   due_once     = {soon, tick} + {period_once, 1'b1};
    wire [TIME_W:0]   due_more     = {soon, tick} + {period_more, 1'b1};
    reg  [TIME_W-1:0] due_new_reg, due_rnr_reg, due_once_reg, due_more_reg;

    // as own_*, for the commit
    reg        lag_reg, waits_reg, failed_reg, on_reg;
    // the acknowledgement: a NAK 0x60; that or an RNR NAK; one that ends the connection; that, or the endpoint waits or has failed
    reg        nak_reg, rnr_reg, turns_reg, fails_reg, held_reg;
    reg  [1:0] all_reg;
    reg        stale_reg, progress_reg, at_top_reg, one_reg, again_reg, timeout_reg, resume_reg, caught_reg, level_reg, nothing_reg;
    reg [23:0] next_reg, unacked_reg, ahead_reg, after_reg;
    // whether somebody of the pipe keeps up: but for the endpoint; it is of the pipe; all that have not failed; all
    reg        others_reg, hears_reg, sound_reg, some_reg;

    wire ends = !rt_is_ack && !rt_is_nak && !rt_is_rnr;

    always @(posedge clk) begin
        // a NAK of what comes after everything is an acknowledgement: next == top goes back to nothing
        // One who failed in a range and did not hear in the next was last sent something before it: what it names first is no lie.
        stale_reg    <= (beyond && gains) || gain[23] || (!gains && rt_is_ack);
        progress_reg <= gains && (rt_is_ack || rt_is_nak || rt_is_rnr);
        at_top_reg   <= beyond || at_top;
        next_reg     <= rt_next;
        unacked_reg  <= rt_acked + 24'd1;
        // what is sent next, when this acknowledgement is in
        ahead_reg    <= skips[23] ? send_next : rt_next;
        level_reg    <= level;
        all_reg      <= next_is(rt_acked, rt_sent);
        // of one who rests, and so lags
        nothing_reg  <= rt_acked == max_sent;
        after_reg    <= after;
        caught_reg   <= &next_is(send_next, rt_sent);
        one_reg      <= own_lag && !own_waits && !own_failed;
        again_reg    <= !again[23];
        timeout_reg  <= own_on && !past[TIME_W-1];
        resume_reg   <= own_waits && !past[TIME_W-1];
        lag_reg      <= own_lag;
        waits_reg    <= own_waits;
        failed_reg   <= own_failed;
        on_reg       <= own_on;
        nak_reg      <= rt_is_nak;
        rnr_reg      <= rt_is_rnr;
        turns_reg    <= rt_is_nak || rt_is_rnr;
        fails_reg    <= ends;
        held_reg     <= own_waits || own_failed || ends;
        due_new_reg  <= due_new[TIME_W:1];
        due_rnr_reg  <= due_rnr[TIME_W:1];
        due_once_reg <= due_once[TIME_W:1];
        due_more_reg <= due_more[TIME_W:1];
        others_reg   <= (rt_out & ~rt_self & ~lag) != NOBODY;
        hears_reg    <= (rt_out & rt_self) != NOBODY;
        sound_reg    <= (rt_out & ~failed) != NOBODY;
        some_reg     <= (rt_out & ~lag) != NOBODY;
    end

    assign rt_keep     = rt_out & ~lag;
    assign rt_one_psn  = send_next;
    assign rt_stale    = stale_reg;
    assign rt_progress = progress_reg;
    assign rt_one      = one_reg;
    assign rt_again    = again_reg;
    assign rt_timeout  = timeout_reg;
    assign rt_resume   = resume_reg;

    // ---- commit ----

    wire back  = cm_ack && nak_reg && !at_top_reg;
    wire rests = cm_ack && rt_is_rnr && !at_top_reg;
    wire fails = cm_ack && fails_reg;
    wire moves = cm_ack && progress_reg;

    // what an endpoint gets next, as long as it lags; when it begins to, what it got last
    assign send_next_next = back && !held_reg ? next_reg
                          : cm_ack ? ahead_reg
                          : cm_one ? after_reg
                          : cm_timeout || cm_resume ? unacked_reg : send_next;
    assign max_sent_next  = !lag_reg ? pipe_last : cm_one && !again_reg ? send_next : max_sent;
    assign backoff_next   = moves ? 2'd0 : cm_timeout ? backoff_more : backoff;

    // What follows an acknowledgement, and anything else, is known before it is known which of the two it is. Who goes back or rests begins to
    // lag, who lagged may be there again, who waits or has failed stays; the timer is off while the endpoint rests, has failed, or has everything.
    wire ack_waits = waits_reg || (rt_is_rnr && !at_top_reg);
    wire ack_lag   = held_reg || (turns_reg && !at_top_reg) || (lag_reg && !level_reg);
    wire ack_wants = !held_reg && (at_top_reg || !rt_is_rnr) && ((nak_reg && !at_top_reg) || (lag_reg && !level_reg));
    wire ack_on    = !held_reg && (at_top_reg ? on_reg && !progress_reg : !rt_is_rnr && (on_reg || progress_reg));
    // who is sent one does not wait and has not failed; who waits no longer may have
    wire one_lags  = cm_one && !caught_reg;
    wire act_lag   = one_lags || cm_timeout || (cm_resume && (failed_reg || !(&all_reg)));
    wire act_wants = one_lags || cm_timeout || (cm_resume && !failed_reg && !(&all_reg));
    wire act_on    = cm_one || cm_timeout || (cm_resume && !failed_reg && !nothing_reg);

    wire own_failed_next = failed_reg || fails;
    wire own_waits_next  = cm_ack ? ack_waits : waits_reg && !cm_resume;
    wire own_lag_next    = cm_ack ? ack_lag : act_lag;
    wire own_wants       = cm_ack ? ack_wants : act_wants;
    wire own_on_next     = cm_ack ? ack_on : act_on;

    // when it is up, which is looked at only if it runs: a wait that goes on keeps its time
    wire sets    = rests || (moves && !waits_reg) || (cm_one && !on_reg) || cm_timeout || cm_resume;
    wire [TIME_W-1:0] own_time = cm_ack ? (rnr_reg ? due_rnr_reg : due_new_reg) : cm_timeout ? due_more_reg : due_once_reg;

    wire one_endpoint = cm_ack || cm_one || cm_timeout || cm_resume;

    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_endpoint
            wire mine = one_endpoint && rt_self[e];
            wire sent = cm_send && rt_keep[e] && !on[e];
            assign failed_next[e] = mine ? own_failed_next : failed[e];
            assign lag_next[e]    = mine ? own_lag_next : cm_open ? failed[e] : lag[e];
            assign waits_next[e]  = mine ? own_waits_next : !cm_open && waits[e];
            assign on_next[e]     = mine ? own_on_next : sent || (!cm_open && on[e]);
            assign deadline_next[TIME_W*e +: TIME_W] = sets && rt_self[e] ? own_time
                                                     : sent ? due_new_reg : deadline[TIME_W*e +: TIME_W];
        end
    endgenerate

    // ---- who wants to send ----

    wire touches   = one_endpoint || cm_send || cm_open || cm_drop || cm_data;
    wire queued    = act_valid && !act_timer && act_done;
    wire pops_pipe = queued && act_pipe;
    wire pops_own  = queued && !act_pipe;

    wire [1:0] which      = {rt_pipe, !rt_pipe};
    wire       acts_own   = cm_one || cm_timeout || cm_resume;
    wire       ack_keeps  = others_reg || (hears_reg && !ack_lag);
    wire       act_keeps  = acts_own ? others_reg || (hears_reg && !act_lag) : cm_open ? sound_reg : some_reg && (cm_send || cm_drop || cm_data);
    wire       pipe_there = (stands & which) != 2'd0 && !pops_pipe;
    wire       pipe_wants = cm_more && (cm_ack ? ack_keeps : act_keeps);
    wire       pipe_comes = cm_we && pipe_wants && !pipe_there;
    assign stands_next    = (stands & ~(which & {2{pops_pipe}})) | (which & {2{pipe_wants}});

    wire own_there = own_stands && !pops_own;
    wire own_joins = one_endpoint && own_wants && !own_there;
    assign own_stands_next = own_there || (one_endpoint && own_wants);

    assign side_we = cm_we && touches;
    assign own_we  = cm_we && (one_endpoint || (cm_drop && pops_own));

    // ---- failed, for the control plane ----

    integer g;
    always @(posedge clk) begin
        for (g = 0; g < GROUPS; g = g + 1) begin
            if (init_we && init_group == g[GRP_W-1:0]) begin
                grp_failed[MASK_W*g +: MASK_W] <= NOBODY;
            end else if (side_we && group == g[GRP_W-1:0]) begin
                grp_failed[MASK_W*g +: MASK_W] <= failed_next;
            end
        end
        if (rst) begin
            grp_failed <= {(GROUPS*MASK_W){1'b0}};
        end
    end

    // ---- queue: {pipe, ei}; an endpoint joins a cycle after its commit ----

    reg                late_reg;
    reg                left_reg;            // there is one from done_reg on
    reg  [EI_W-1:0]    late_ei_reg;
    // where the next joins, where the memory's first is, and the first of all, which may be shown already; never a whole turn apart
    reg  [QUEUE_W-1:0] tail_reg, head_reg, done_reg;
    reg                shown_reg;           // the memory shows its first
    wire [EI_W:0]      first;
    wire [EI_W-1:0]    pipe_ei;
    wire               joins = pipe_comes || late_reg;
    wire               fetch;
    wire               takes_first;
    wire [QUEUE_W-1:0] done_next = done_reg + {{(QUEUE_W-1){1'b0}}, 1'b1};
    wire               left_next = joins || (queued ? done_next != tail_reg : left_reg);
    wire               late_next = cm_we && own_joins;

    generate
        if (EI_W > EP_W) begin : gen_pipe_ei
            wire [EP_W-1:0] pipe_ep = {{(EP_W-1){1'b0}}, rt_pipe};
            assign pipe_ei = {group, pipe_ep};
        end else begin : gen_pipe_ep
            assign pipe_ei = {{(EP_W-1){1'b0}}, rt_pipe};
        end
    endgenerate

    inc_ram_1r1w #(.WORDS(1 << QUEUE_W), .BITS(EI_W + 1), .ADDR_W(QUEUE_W)) u_queue (
        .clk   (clk),
        .we    (joins),
        .waddr (tail_reg),
        .wdata (late_reg ? {1'b0, late_ei_reg} : {1'b1, pipe_ei}),
        .re    (fetch),
        .raddr (head_reg),
        .rdata (first)
    );

    assign fetch = head_reg != tail_reg && (!shown_reg || takes_first);

    always @(posedge clk) begin
        late_reg    <= late_next;
        late_ei_reg <= ei_reg;
        if (joins) begin
            tail_reg <= tail_reg + {{(QUEUE_W-1){1'b0}}, 1'b1};
        end
        if (fetch) begin
            head_reg  <= head_reg + {{(QUEUE_W-1){1'b0}}, 1'b1};
            shown_reg <= 1'b1;
        end else if (takes_first) begin
            shown_reg <= 1'b0;
        end
        if (queued) begin
            done_reg <= done_next;
        end
        left_reg <= left_next;
        if (rst) begin
            late_reg  <= 1'b0;
            tail_reg  <= {QUEUE_W{1'b0}};
            head_reg  <= {QUEUE_W{1'b0}};
            done_reg  <= {QUEUE_W{1'b0}};
            left_reg  <= 1'b0;
            shown_reg <= 1'b0;
        end
    end

    // ---- a start waits until those who stood in the queue are gone ----

    reg               fence_reg;
    reg               clean_reg;            // a start writes many tables, so it goes by a register
    reg [QUEUE_W-1:0] behind_reg;           // the last of those stands before here

    assign init_clean = fence_reg && clean_reg && !(BEHIND != 0 && (side_we_reg || own_we_reg) && kept_reg);

    always @(posedge clk) begin
        clean_reg <= fence_reg && (clean_reg || done_reg == behind_reg);
        if (!fence_reg) begin
            fence_reg  <= init_valid && !late_reg && !joins;
            behind_reg <= tail_reg;
        end else begin
            if (init_we && init_ei[EP_W-1:0] == {EP_W{1'b1}}) begin
                fence_reg <= 1'b0;
            end
        end
        if (rst) begin
            fence_reg <= 1'b0;
        end
    end

    // ---- the walk through the timers, in a copy of what they are ----

    localparam WALK_W = MASK_W * (1 + TIME_W);
    localparam [1:0] W_READ = 2'd0, W_TAKE = 2'd1, W_LOOK = 2'd2, W_FOUND = 2'd3;

    reg  [1:0]         walk_reg;
    reg  [GRP_W-1:0]   walk_group_reg;
    reg  [EP_W-1:0]    walk_ep_reg;
    reg  [WALK_W-1:0]  walk_word_reg;
    wire [WALK_W-1:0]  walk_word;
    wire [WALK_W-1:0]  walk_next;
    wire               takes_timer;

    wire [MASK_W-1:0]          on_put, waits_put;
    wire [MASK_W*TIME_W-1:0]   deadline_put;
    wire [2+2*MASK_W-1:0]      rest_put;
    assign {rest_put, waits_put, on_put, deadline_put} = BEHIND != 0 ? side_put_reg : side_next;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_walk
            assign walk_next[(1+TIME_W)*e +: 1+TIME_W] = init_we ? {(1+TIME_W){1'b0}}
                                                                 : {on_put[e] || waits_put[e], deadline_put[TIME_W*e +: TIME_W]};
        end
    endgenerate

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(WALK_W), .ADDR_W(GRP_W)) u_walk (
        .clk   (clk),
        .we    (side_puts || init_we),
        .waddr (init_we ? init_group : puts_group),
        .wdata (walk_next),
        .re    (walk_reg == W_READ),
        .raddr (walk_group_reg),
        .rdata (walk_word)
    );

    wire [(1 << GRP_W):0] live_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_live};
    reg                   walk_live_reg;
    wire [TIME_W-1:0]     walk_past = now_reg - walk_word_reg[TIME_W-1:0];
    wire                  walk_up   = walk_word_reg[TIME_W] && !walk_past[TIME_W-1];
    wire                  walk_last = walk_ep_reg == LAST_EP[EP_W-1:0];
    wire                  walk_on   = (walk_reg == W_LOOK && !walk_up) || (walk_reg == W_FOUND && takes_timer);

    always @(posedge clk) begin
        walk_live_reg <= live_wide[{1'b0, walk_group_reg}];
        case (walk_reg)
            W_READ: begin
                walk_ep_reg <= {EP_W{1'b0}};
                walk_reg    <= W_TAKE;
            end
            W_TAKE: begin
                walk_word_reg <= walk_live_reg ? walk_word : {WALK_W{1'b0}};
                walk_reg      <= W_LOOK;
            end
            default: begin
                if (walk_on) begin
                    walk_word_reg <= walk_word_reg >> (1 + TIME_W);
                    walk_ep_reg   <= walk_ep_reg + {{(EP_W-1){1'b0}}, 1'b1};
                    walk_reg      <= walk_last ? W_READ : W_LOOK;
                    if (walk_last) begin
                        walk_group_reg <= walk_group_reg == LAST_GRP[GRP_W-1:0] ? {GRP_W{1'b0}} : walk_group_reg + {{(GRP_W-1){1'b0}}, 1'b1};
                    end
                end else begin
                    walk_reg <= W_FOUND;
                end
            end
        endcase
        if (rst) begin
            walk_reg       <= W_READ;
            walk_group_reg <= {GRP_W{1'b0}};
        end
    end

    // ---- what is next: the queue's first or the walk's find, in turn ----

    reg             act_valid_reg, act_timer_reg, act_pipe_reg;
    reg             soon_reg;               // that, or late_reg, or left_reg
    reg  [EI_W-1:0] act_ei_reg;
    wire [EI_W-1:0] walk_ei;
    generate
        if (EI_W > EP_W) begin : gen_walk_ei
            assign walk_ei = {walk_group_reg, walk_ep_reg};
        end else begin : gen_walk_ep
            assign walk_ei = walk_ep_reg;
        end
    endgenerate

    wire act_free  = !act_valid_reg || act_done;
    wire found     = walk_reg == W_FOUND;
    assign takes_timer = act_free && found && !(shown_reg && act_timer_reg);
    assign takes_first = act_free && shown_reg && !takes_timer;

    wire act_next = takes_timer || takes_first || !act_free;

    always @(posedge clk) begin
        act_valid_reg <= act_next;
        soon_reg      <= act_next || late_next || left_next;
        if (takes_timer || takes_first) begin
            act_timer_reg <= takes_timer;
            act_pipe_reg  <= takes_first && first[EI_W];
            act_ei_reg    <= takes_timer ? walk_ei : first[EI_W-1:0];
        end
        if (rst) begin
            act_valid_reg <= 1'b0;
            soon_reg      <= 1'b0;
            act_timer_reg <= 1'b0;
        end
    end

    assign act_valid = act_valid_reg;
    assign act_soon  = soon_reg;
    assign act_timer = act_timer_reg;
    assign act_pipe  = act_pipe_reg;
    assign act_ei    = act_ei_reg;

    wire unused_bits = &{1'b0, rest_put, gain, surplus, under_own, under_pipe, skips, again, past, due_new, due_rnr, due_once, due_more, walk_past, TICK_TOP, LAST_EP, LAST_GRP, init_ei};

endmodule

`default_nettype wire
