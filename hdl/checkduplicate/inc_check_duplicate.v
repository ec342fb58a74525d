// SPDX-License-Identifier: Apache-2.0
//
// inc_check_duplicate: decides what every frame does, and is the only place where state changes because of a frame.
//
// Contract
//   order       frames are decided one after the other, in the order of their entries
//   steps       those of inc_frame_steps: A looks up (1 cycle), B compares and says what the frame does (2), C forms what it sends and waits
//               for the verdict
//   latency     an entry in cycle 0 is decided in cycle 5 at the earliest, of an in-band group in 7; in the cycle of its verdict if that is
//               later. The work on the payload is offered in the cycle of that decision at the latest, as speculative. A gap's NAK takes 2 cycles more, data of a Reduce's range before the current one too; an acknowledgement of a
//               Broadcast, which wants the minimum of all, is decided 3 cycles after ack_ready, data of a Broadcast's range before the
//               current one 3 after it; a control that opens a range is decided 7 cycles after ctl_busy is low
//   throughput  a frame in 2 cycles, a bypassed one in 1 (with APART of inc_frame_steps in 3 and 2), an acknowledgement of a Broadcast in 3 more than ack_rd to ack_ready
//   speculation B takes a frame in C as committed: the state that it will write goes to the next frame of the same endpoint, slot or group
//               at once. If it is not committed, the frame in B is looked at again, which takes 2 cycles
//   commit      in the cycle of the verdict: state is written, tx_* pushed, or nothing of it, and the work is killed; counters step in the
//               cycle after it
//   stall       waits while tx_room is low and needed, and with work of its own while that of the frame before has not been taken
//   payload     work_unit is base + index of the slot, with 16-bit elements base + 2 * index. In place work_read adds to what lies there, or
//               sends it again, and work_emit sends. In a tree work_read says that the other endpoint of the pair has contributed, and
//               work_reduce instead of work_emit that the pairs with a contribution make the result; only down data is still work_emit
//   slots       recycled by the first contribution of another PSN, or to a slot without a contribution: it overwrites what lies there
//   state       per endpoint {ePSN, msn, nakSent}, per group `done`; set by init_* while no frame is being written;
//               a frame that was looked at before its group was live is dropped, however late its verdict; a group that dies in the cycle
//               of a decision is still alive for it
//   one port    with ONE_PORT endpoints' state is in a memory of one port: what is written in the cycle of a read goes in in the next one, in
//               which nothing is read. init_take waits for both. In the cycle after one in which it had to wait, no frame leaves A (holds);
//               in one with ack_waits none leaves B. So a start costs the frames on their way a few cycles, and never waits for a pause
//   in-band     a control that opens a range is ctl_open when it is good, and comes again; tx_psn of a frame of a range is a group's PSN
`ifdef INC_PARK
//   parking     a frame of a parked group (grp_parked) finds no slot: new data is dropped, and answered with an RNR NAK. While park_valid
//               stands no frame leaves A but the control of a range that was just opened; when B and C are empty it is looked whether
//               park_group is drained: park_take comes with the answer 4 cycles later and as many as it is from ack_rd to ack_ready.
//               u_lasts has for each group the last PSN that somebody contributed to, and whose acknowledgements count there
`endif
//   reset       empty
//   not done    payload, copies, headers, offsets, and who acknowledged what: it says what is to be done with them
`default_nettype none

module inc_check_duplicate #(
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
    // 1: contributions are kept by pairs of endpoints and reduced when the slot is complete
    parameter TREE     = 0,
    // 1: there are element types of 16 bits; their slots are two units
    parameter HALVES   = 0,
    // number of groups; the table of endpoints has room for MASK_W of each
    parameter GROUPS   = 2,
    // 1: the state of endpoints is in a memory of one port
    parameter ONE_PORT = 0,
    // number of counters
    // contract: parameter 2
    parameter COUNTERS = 46
    // contract: end
) (
    input  wire                clk,
    input  wire                rst,

    input  wire                cfg_gap_nak,
`ifdef INC_PARK
    input  wire                cfg_park_rnr,
    input  wire [4:0]          cfg_park_timer,
    input  wire [GROUPS-1:0]   grp_parked,
    // whether a group is drained
    input  wire                park_valid,
    input  wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] park_group,
    output wire                park_take,
    output wire                park_drained,
`endif

    // no frame goes into A, none out of it
    output wire                holds,

    // the frame, in inc_frame_steps: the one that may go into A
    input  wire                s_ranged,
    input  wire [23:0]         s_psn,
    input  wire [1:0]          s_dtype,
    input  wire [SLOT_W-1:0]   s_base,
    input  wire [4:0]          s_log2_n,
    // the one in A, to B with a_go
    output wire                a_follows_slot,
    output wire                a_written_slot,
    input  wire                a_go,
    input  wire                a_valid,
    input  wire                a_bypass,
    input  wire [EI_W-1:0]     a_ei,
    input  wire [23:0]         a_wire_psn,
    input  wire [23:0]         a_psn,
    input  wire [23:0]         a_begin,
    // the one in B, to C with b_go
    output wire                b_stale,
    input  wire                redo,
    output wire                b_first,
    output wire                b_completes,
    output wire                b_repeats,
    output wire                b_empties,
    input  wire                b_go,
    input  wire                b_valid,
    input  wire                b_second,
    input  wire                b_bypass,
    input  wire [EI_W-1:0]     b_ei,
    input  wire [MASK_W-1:0]   b_self,
    input  wire                b_host,
    input  wire                b_data,
    input  wire                b_ack,
    input  wire                b_cnp,
    input  wire                b_ends,
    input  wire                b_syn_ack,
    input  wire                b_syn_rnr,
    input  wire                b_syn_nak,
    input  wire                b_fine,
    input  wire                b_bad_tver,
    input  wire                b_bad_opcode,
    input  wire                b_too_long,
    input  wire [23:0]         b_wire_psn,
    input  wire                b_ranged,
    input  wire                b_opened,
    input  wire [23:0]         b_psn,
    input  wire [23:0]         b_begin,
    input  wire [23:0]         b_range_base,
    input  wire                b_in_range,
    input  wire                b_previous,
    input  wire                b_opens,
    input  wire                b_opens_up,
    input  wire                b_bad_control,
    input  wire                b_wrong_role,
    input  wire                b_contradicts,
    input  wire                b_up,
    input  wire                b_down,
    input  wire                b_ackable,
    input  wire                b_whole,
    input  wire                b_reduces,
    input  wire                b_spreads,
    input  wire [MASK_W-1:0]   b_in_mask,
    input  wire [MASK_W-1:0]   b_out_mask,
    input  wire [MASK_W-1:0]   b_parent_mask,
    input  wire                b_takes_slot,
    input  wire [23:0]         b_tag,
    input  wire [MASK_W-1:0]   b_mask,
    input  wire                b_complete,
    // how it compares with its slot, in B's second cycle
    input  wire                f_first,
    input  wire                f_same,
    input  wire                f_same_imm,
    input  wire                f_full,
    input  wire                f_builds,
    input  wire [WORDS_W-1:0]  f_slot_words,
    // the one in C: what it is, what is done with it, how it ended
    output wire                c_free,
    output wire                c_leaves,
    output wire                c_wr,
    output wire                c_lives,
    output wire                c_decided,
    output wire                c_opening,
    output wire                c_done,
    input  wire                c_valid,
    input  wire                c_live,
    input  wire                c_bypass,
    input  wire [EI_W-1:0]     c_ei,
    input  wire [MASK_W-1:0]   c_self,
    input  wire                c_syn_ack,
    input  wire                c_syn_rnr,
    input  wire                c_syn_nak,
    input  wire [7:0]          c_opcode,
    input  wire                c_se,
    input  wire [1:0]          c_pad,
    input  wire                c_ce,
    input  wire [23:0]         c_wire_psn,
    input  wire [31:0]         c_ext,
    input  wire [LEN_W-1:0]    c_plen,
    input  wire [WORDS_W-1:0]  c_words,
    input  wire                c_big_endian,
    input  wire                c_ranged,
    input  wire                c_opened,
    input  wire [1:0]          c_rng,
    input  wire [23:0]         c_psn,
    input  wire [23:0]         c_begin,
    input  wire [23:0]         c_end,
    input  wire [23:0]         c_range_base,
    input  wire                c_reduces,
    input  wire                c_spreads,
    input  wire [1:0]          c_function,
    input  wire [1:0]          c_dtype,
    input  wire [MASK_W-1:0]   c_ack_mask,
    input  wire [MASK_W-1:0]   c_parent_mask,
    input  wire                c_intact,
    input  wire                c_passed,
    input  wire [5:0]          c_drops,

    // what was acknowledged, from ReceiveACK; the group with ack_rd, the masks from the next cycle on
    output wire                ack_rd,
    output wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] ack_group,
    output wire [MASK_W-1:0]   ack_self,
    output wire [MASK_W-1:0]   ack_mask,
    output wire [MASK_W-1:0]   ack_pick,
    input  wire                ack_ready,
    input  wire [23:0]         ack_picked,
    input  wire [23:0]         ack_picked_msn,
    input  wire [23:0]         ack_rest,
    input  wire [23:0]         ack_rest_msn,
    input  wire                ack_rest_any,
    input  wire [EP_W-1:0]     ack_rest_ep,
    input  wire [23:0]         ack_own,
    input  wire [23:0]         ack_own_msn,
    output wire                ack_we,
    // all endpoints have ack_psn at least
    output wire                ack_lift,
    output wire [23:0]         ack_psn,
    output wire [23:0]         ack_msn,
    // a start waits there for a cycle without ack_rd
    input  wire                ack_waits,

    // its verdict, from the packet buffer
    input  wire                vrd_valid,
    output wire                vrd_pop,

    // its slot, in RecycleBuffer
    output wire                rd_en,
    output wire [SLOT_W-1:0]   rd_slot,
    output wire                wr_en,
    output wire [SLOT_W-1:0]   wr_slot,
    input  wire [MASK_W-1:0]   wr_mask,
    input  wire [7:0]          wr_opcode,
    input  wire [LEN_W-1:0]    wr_plen,
    input  wire [1:0]          wr_pad,
    input  wire                wr_se,
    input  wire [31:0]         wr_ext,
    input  wire                wr_ce,

    // the range that the frame opens, in Control
    output wire                ctl_open,

    // endpoint state at the start of a group
    input  wire                init_valid,
    output wire                init_take,
    input  wire [EI_W-1:0]     init_ei,
    input  wire [23:0]         init_psn,

    // work on the payload, for inc_offer_work: put while none is held, its verdict with the frame's
    input  wire                work_held,
    output wire                work_put,
    output wire [WORDS_W-1:0]  work_words,
    output wire [SLOT_W-1:0]   work_unit,
    output wire [EP_W-1:0]     work_ep,
    output wire [MASK_W-1:0]   work_mask,
    output wire                work_copied,
    output wire                work_read,
    output wire                work_take,
    output wire                work_write,
    output wire                work_emit,
    output wire                work_reduce,
    output wire [1:0]          work_function,
    output wire [1:0]          work_dtype,
    output wire                work_big_endian,
    output wire                work_commits,
    output wire                work_kills,

    // frames to be made, for ReplicateData
    input  wire                tx_room,
    output wire                tx_valid,
    // what its frames are counted as: 0 nothing, 1 copies of data, 2 copies of acknowledgements
    output wire [1:0]          tx_kind,
    output wire [EI_W-1:0]     tx_ei,
    output wire [MASK_W-1:0]   tx_mask,
    output wire [7:0]          tx_opcode,
    output wire                tx_se,
    output wire [1:0]          tx_pad,
    output wire                tx_ce,
    output wire [23:0]         tx_psn,
    // tx_psn is a group's: of range tx_rng, to go out with the offset in (1) or out (0)
    output wire                tx_in_band,
    output wire [1:0]          tx_rng,
    output wire                tx_dir,
    output wire [31:0]         tx_ext,
    output wire [LEN_W-1:0]    tx_plen,
    output wire [WORDS_W-1:0]  tx_words,

    // one bit a counter, high for one cycle a step, the cycle behind the decision
    output wire [COUNTERS-1:0] count
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;

    // positions in `count`
    // contract: counters 2
    localparam C_RX_FRAMES = 0, C_BYPASS = 1, C_UP_DATA = 2, C_AGG = 3, C_BUFFERED = 4, C_WIPE = 5, C_TX_RESULT = 6, C_TX_RESEND = 8,
               C_DOWN_DATA = 9, C_RX_ACK = 10, C_RX_NAK = 11, C_RX_RNR = 12, C_RX_CNP = 13, C_RX_CE = 14, C_TX_REFLECT = 15,
               C_TX_GAP_NAK = 16, C_TX_CNP = 17, C_IMM_MISMATCH = 19, C_DROP_FOREIGN = 20, C_DROP_TVER = 26, C_DROP_OPCODE = 27,
               C_DROP_TOO_LONG = 28, C_DROP_BAD_LENGTH = 29, C_DROP_WRONG_ROLE = 30, C_DROP_SYNDROME = 31, C_DROP_GAP = 32,
               C_DROP_STALE = 33, C_DROP_WINDOW = 34, C_DROP_SHAPE = 35, C_RANGE_OPEN = 38, C_TX_ACK_UP = 40, C_TX_REACK = 41,
               C_DROP_RANGE = 42, C_DROP_BAD_CONTROL = 43, C_DROP_CONTROL = 44, C_DROP_STALE_ACK = 45, C_COUNT = 46;
    // contract: end
`ifdef INC_PARK
    // contract: parking 2
    localparam C_TX_RNR = 46, C_DROP_PARKED = 47, C_PARKED_COUNT = 48;
    // contract: end
`endif

`ifndef __ICARUS__
    generate
`ifdef INC_PARK
        if (COUNTERS != C_PARKED_COUNT) begin : gen_bad_counters
`else
        if (COUNTERS != C_COUNT) begin : gen_bad_counters
`endif
            $error("inc_check_duplicate: COUNTERS must be the number of the mode's counters");
        end
        if (TREE < 0 || TREE > 1 || HALVES < 0 || HALVES > 1) begin : gen_bad_tree
            $error("inc_check_duplicate: TREE and HALVES must be 0 or 1");
        end
        if (SLOT_W < 1 || SLOT_W > 23) begin : gen_bad_slot
            $error("inc_check_duplicate: SLOT_W must be 1 to 23");
        end
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_check_duplicate: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_check_duplicate: ONE_PORT must be 0 or 1");
        end
    endgenerate
`endif

    localparam [7:0] OP_ACK = 8'h11;
    localparam [7:0] NAK_SEQUENCE = 8'h60, ACK_PLAIN = 8'h1F;
    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    localparam EP_BITS = 49;           // nakSent, msn, ePSN
    localparam RECORDS = GROUPS * MASK_W > 2 ? GROUPS * MASK_W : 2;
    localparam INDEX_W = $clog2(RECORDS);

    wire [GRP_W-1:0] a_group, b_group, c_group, init_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign a_group    = a_ei[EI_W-1:EP_W];
            assign b_group    = b_ei[EI_W-1:EP_W];
            assign c_group    = c_ei[EI_W-1:EP_W];
            assign init_group = init_ei[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {a_group, b_group, c_group, init_group} = 4'd0;
        end
    endgenerate

    // ---- A: where its slot is, and the tables are read ----

    // N - 1, of log2 N
    wire [SLOT_W-1:0] s_last;
    genvar e;
    generate
        for (e = 0; e < SLOT_W; e = e + 1) begin : gen_last
            integer k;
            reg     more;
            // a sum over its values is a LUT, where a comparison would be a carry chain on an FPGA
            always @* begin
                more = 1'b0;
                for (k = e + 1; k < 32; k = k + 1) begin
                    more = more || s_log2_n == k[4:0];
                end
            end
            assign s_last[e] = more;
        end
    endgenerate

    // payload of 16-bit elements is kept as FP32, in two units a slot; the ranges of an in-band group may be of such
    wire              s_wide  = HALVES != 0 && (s_ranged || s_dtype[1] != s_dtype[0]);
    wire [SLOT_W-1:0] s_index = s_psn[SLOT_W-1:0] & s_last;
    wire [SLOT_W-1:0] s_slot  = s_base + s_index;
    wire [SLOT_W:0]   s_unit  = {1'b0, s_base} + (s_wide ? {s_index, 1'b0} : {1'b0, s_index});

    reg  [4:0]        a_log2_n;
    reg  [SLOT_W-1:0] a_slot, a_unit;

    // what goes with a frame is noted by steps as inc_frame_steps does: one that is free, or left, takes what comes, whether that is a frame or not
    wire a_loads = !a_valid || a_go;
    wire b_loads = !b_valid || b_go;

    always @(posedge clk) begin
        if (a_loads) begin
            a_slot   <= s_slot;
            a_unit   <= s_unit[SLOT_W-1:0];
            a_log2_n <= s_log2_n;
        end
    end

    // N / 2 = MW, of log2 N
    wire [23:0]       a_half;
    generate
        for (e = 0; e < 24; e = e + 1) begin : gen_half
            localparam [5:0] E = e;
            assign a_half[e] = {1'b0, a_log2_n} == E + 6'd1;
        end
    endgenerate

    assign rd_en   = a_go && !a_bypass;
    assign rd_slot = a_slot;

    // ---- state: of endpoints, and the highest complete PSN of groups ----

    wire                 ep_we, done_we;
`ifdef INC_PARK
    // it is looked whether a group is drained: its state is read, what was acknowledged is asked
    wire                 k_reads, k_asks;
    wire [MASK_W-1:0]    k_mask;
    wire [(1 << GRP_W):0] parked_wide = {{((1 << GRP_W) + 1 - GROUPS){1'b0}}, grp_parked};
`endif
    wire [EP_BITS-1:0]   ram_ep;
    wire [23:0]          ram_done;
    // as C will write it
    reg  [EP_BITS-1:0]   n_ep;
    reg  [23:0]          n_done;

    // with ONE_PORT: what is written waits for a read that comes with it
    wire                 delays = ONE_PORT != 0 && rd_en;
    wire                 ep_late;
    wire [INDEX_W-1:0]   late_at;
    wire [EP_BITS-1:0]   late_ep;
    wire                 init_waits;   // it had to wait

    assign init_take = init_valid && !ep_we && !done_we && !ep_late && !delays;

    // where they lie; a start offers numbers that no endpoint has, and what is written for those is not kept
    wire [INDEX_W-1:0]   a_at, c_at, init_at;
    wire                 a_there, c_there, init_there;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_a_index (
        .ei(a_ei), .index(a_at), .present(a_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_c_index (
        .ei(c_ei), .index(c_at), .present(c_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_init_index (
        .ei(init_ei), .index(init_at), .present(init_there));

    inc_table #(.WORDS(RECORDS), .BITS(EP_BITS), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_endpoints (
        .clk   (clk),
        .we    (ep_late || (ep_we ? c_there && !delays : init_take && init_there)),
        .waddr (ep_late ? late_at : ep_we ? c_at : init_at),
        .wdata (ep_late ? late_ep : ep_we ? n_ep : {1'b0, 24'd0, init_psn}),
        .re    (rd_en),
        .raddr (a_at),
        .rdata (ram_ep)
    );
    generate
        if (ONE_PORT != 0) begin : gen_late
            reg               late_reg, waits_reg;
            reg [INDEX_W-1:0] at_reg;
            reg [EP_BITS-1:0] ep_reg;
            always @(posedge clk) begin
                late_reg  <= ep_we && c_there && rd_en;
                waits_reg <= init_valid && !init_take;
                at_reg    <= c_at;
                ep_reg    <= n_ep;
                if (rst) begin
                    late_reg  <= 1'b0;
                    waits_reg <= 1'b0;
                end
            end
            assign ep_late    = late_reg;
            assign late_at    = at_reg;
            assign late_ep    = ep_reg;
            assign init_waits = waits_reg;
        end else begin : gen_at_once
            assign ep_late    = 1'b0;
            assign late_at    = {INDEX_W{1'b0}};
            assign late_ep    = {EP_BITS{1'b0}};
            assign init_waits = 1'b0;
        end
    endgenerate

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_done (
        .clk   (clk),
        .we    (done_we || init_take),
        .waddr (done_we ? c_group : init_group),
        .wdata (done_we ? n_done : init_psn - 24'd1),
`ifdef INC_PARK
        .re    (rd_en || k_reads),
        .raddr (k_reads ? park_group : a_group),
`else
        .re    (rd_en),
        .raddr (a_group),
`endif
        .rdata (ram_done)
    );

    // ---- B: first the facts, then what the frame does ----

    reg [SLOT_W-1:0]  b_slot, b_unit;
    reg [23:0]        b_psn_next;      // on the wire
    reg [23:0]        b_psn_before, b_range_before;
    reg [23:0]        b_past_half;     // PSN less MW, less 1

    always @(posedge clk) begin
        if (b_loads) begin
            b_slot         <= a_slot;
            b_unit         <= a_unit;
            b_psn_next     <= a_wire_psn + 24'd1;
            b_psn_before   <= a_psn - 24'd1;
            b_range_before <= a_begin - 24'd1;
            b_past_half    <= a_psn + ~a_half;
        end
    end

    assign c_free = !ack_waits;

    // who writes what A reads: the frame that will be in C, or the one that leaves it
    reg  [SLOT_W-1:0] c_slot;
    wire              c_stays = c_valid && !c_leaves;

    assign a_follows_slot = b_valid ? b_slot == a_slot : c_stays && c_slot == a_slot;
    assign a_written_slot = wr_en && c_slot == a_slot;

    reg                  c_ep_we, c_done_we, c_wr_reg;
    reg                  c_done_new;   // and c_done_we alone says so: of one that has opened its range `done` is written in any case
    wire                 take_ep, take_done;
    wire [EP_BITS-1:0]   b_ep_word;
    wire [23:0]          b_done_psn;

    inc_look_ahead #(.BITS(EP_BITS)) u_ep_ahead (
        .clk(clk), .read(a_go), .follows(b_valid ? b_ei == a_ei : c_stays && c_ei == a_ei), .written(ep_we && c_ei == a_ei), .redo(redo),
        .ram(ram_ep), .writes(c_ep_we), .next(n_ep), .takes(take_ep), .word(b_ep_word));
    inc_look_ahead #(.BITS(24)) u_done_ahead (
        .clk(clk), .read(a_go), .follows(b_valid ? b_group == a_group : c_stays && c_group == a_group),
        .written(done_we && c_group == a_group), .redo(redo),
        .ram(ram_done), .writes(c_done_we || c_opened), .next(n_done), .takes(take_done), .word(b_done_psn));
    wire                 b_nak_sent;
    wire [23:0]          b_msn, b_epsn;
    assign {b_nak_sent, b_msn, b_epsn} = b_ep_word;

    wire [23:0] distance = b_wire_psn - b_epsn;
    wire [23:0] beyond   = b_psn - b_done_psn;
    wire [23:0] overrun  = b_past_half - b_done_psn;
    wire [23:0] opened_past = b_range_before - b_done_psn;
    wire        tag_ok   = b_tag == b_psn;

    assign b_first = !tag_ok || b_mask == NOBODY;

    reg              f_in_order, f_behind, f_done_past, f_open_past, f_window, f_at_base, f_at_begin;
    reg              f_nak_sent, f_tag_ok, f_complete;
    reg [23:0]       f_epsn, f_msn, f_done;

    always @(posedge clk) begin
        if (!b_second) begin
            f_in_order    <= b_wire_psn == b_epsn;
            f_behind      <= distance[23];
            f_at_base     <= b_epsn == b_range_base;
            f_at_begin    <= b_psn == b_begin;
            // done is at or behind the PSN, or the one before the range
            f_done_past   <= beyond[23];
            f_open_past   <= opened_past[23];
            // no further than MW behind `done`; a control is one slot behind the range that it has just opened
            f_window      <= b_opened || beyond[23] || overrun[23];
            f_nak_sent    <= b_nak_sent;
            f_epsn        <= b_epsn;
            f_msn         <= b_msn;
            f_done        <= b_done_psn;
            f_tag_ok      <= tag_ok;
            f_complete    <= b_complete;
        end
    end

    // in-band: data of no range, which is a control that opens one, a bad control, or astray; data that is not what its range has there
    wire syn_any     = b_syn_ack || b_syn_rnr || b_syn_nak;
    wire outside     = b_data && !b_in_range;
`ifdef INC_PARK
    wire parked      = parked_wide[{1'b0, b_group}];
    wire would_open  = outside && b_opens && (f_in_order || !b_opens_up);
    wire opens       = would_open && !parked;
`else
    wire opens       = outside && b_opens && (f_in_order || !b_opens_up);
`endif
    wire bad_control = outside && b_bad_control;
`ifdef INC_PARK
    wire astray      = outside && !would_open && !b_bad_control && !b_wrong_role;
`else
    wire astray      = outside && !opens && !b_bad_control && !b_wrong_role;
`endif
    wire contradicts = b_data && b_in_range && b_contradicts;
    wire stale_ack   = b_ack && !b_in_range;
    wire placed      = !astray && !bad_control && !contradicts && !stale_ack;
    wire role_ok     = !b_data ? b_ackable : outside ? !b_wrong_role : b_up || b_down;

    // The first reason that holds drops the frame. A frame is sound for what is known from its header alone; whether its group lives and
    // how it ends is seen when it is decided. All but whether a control comes in order is known in the first cycle: of a frame of a range,
    // of such data from below and from above, of a control that would open one. A bypassed frame may be gone by then.
    reg  f_fits, f_fits_up, f_fits_down, f_fits_control;
    wire data_fits = b_fine && b_data && b_in_range && !contradicts && b_whole;

    always @(posedge clk) begin
        if (!b_second) begin
            f_fits         <= b_data ? data_fits && (b_up || b_down) : b_fine && !stale_ack && b_ackable && (!b_ack || syn_any);
            f_fits_up      <= data_fits && b_up;
            f_fits_down    <= data_fits && !b_up && b_down;
            f_fits_control <= b_fine && outside && b_whole && b_opens && !b_bad_control && !b_wrong_role;
        end
    end

    wire sound       = !b_bypass && (f_fits || (f_fits_control && (f_in_order || !b_opens_up)));

`ifdef INC_PARK
    // what needs a slot and has none: what is next of a child, new data of a Broadcast, a control that would open a range
    wire slotless_up   = f_fits_up && !b_bypass && f_in_order && parked;
    wire slotless_down = f_fits_down && !b_bypass && b_spreads && parked && !(b_ranged && f_behind);
    wire slotless      = slotless_up || slotless_down || (sound && would_open && parked);
    wire park_nak      = slotless && cfg_park_rnr && b_host && f_in_order && (b_ranged || b_up);
    wire up          = f_fits_up && !b_bypass && !slotless_up;
    wire down        = f_fits_down && !b_bypass && !slotless_down;
`else
    wire up          = f_fits_up && !b_bypass;
    wire down        = f_fits_down && !b_bypass;
`endif
    wire ahead       = !f_in_order && !f_behind;
    wire accept      = up && f_in_order && f_window && (f_first || f_same);
`ifdef INC_PARK
    wire resend      = up && f_behind && f_tag_ok && f_complete && !parked;
    // its result is gone with its slot; its receiver may have acknowledged it
    wire gone        = up && f_behind && !resend && (b_host || b_reduces);
`else
    wire resend      = up && f_behind && f_tag_ok && f_complete;
`endif
    wire completes   = accept && f_full;
    wire asks_nak    = ahead && cfg_gap_nak && b_host && !f_nak_sent;
    wire gap_nak     = up && asks_nak;
    // its control was lost
    wire base_nak    = b_fine && astray && asks_nak && f_at_base;
`ifdef INC_PARK
    wire nak         = gap_nak || base_nak || park_nak;
`else
    wire nak         = gap_nak || base_nak;
`endif

    // down data of an in-band group that is not behind; that of a Broadcast takes its slot
    wire moves       = b_ranged && down && !f_behind;
    wire takes       = moves && b_spreads;
    assign b_completes = completes;
    assign b_repeats   = f_behind;
    assign b_empties   = takes;

    // data of the range before, which may be answered with an acknowledgement alone
    wire late        = sound && b_ranged && b_previous && b_data;
    wire answers     = sound && !b_data;
    // a switch that sends a NAK of a range's first PSN speaks for that range alone
    wire speaks      = !b_ranged || b_syn_ack || !f_at_begin;

    // where a result, a copy, or an answer goes
    wire              has_parent  = b_parent_mask != NOBODY;
    wire [MASK_W-1:0] result_mask = has_parent ? b_parent_mask : b_out_mask;
    wire [MASK_W-1:0] resend_mask = has_parent ? b_parent_mask : b_self;
    wire [MASK_W-1:0] answer_mask = b_reduces ? b_in_mask : b_spreads ? b_parent_mask : b_self;

    // ---- C: what it sends, and the verdict ----

    reg               c_second, c_third, c_sent;
    reg               c_formed;        // all that the verdict lets pass is formed
    reg               c_through;       // that, or the frame is bypassed: there is a frame, which waits for its verdict alone
    reg [23:0]        c_range_before, c_ack_psn;
    reg [WORDS_W-1:0] c_slot_words;
    reg [SLOT_W-1:0]  c_unit;
    reg [MASK_W-1:0]  c_dest;
    reg               c_has_parent, c_ack, c_cnp, c_opens, c_up, c_down, c_ahead, c_behind, c_window, c_accept, c_first, c_same_imm;
    reg               c_resend, c_completes, c_gap_nak, c_base_nak, c_late, c_keeps, c_builds;
`ifdef INC_PARK
    reg               c_slotless, c_park_nak, c_gone;
`endif
    reg               c_need_min, c_need_rest, c_need_pick;
    reg               c_bad_tver, c_bad_opcode, c_too_long, c_astray, c_bad_control, c_contradicts, c_stale_ack, c_not_whole, c_wrong_role;
    reg               c_bad_syndrome;
    reg [23:0]        c_msn;           // before this frame

    always @(posedge clk) begin
        c_second <= !b_go;
        c_third  <= c_second && !b_go;
        if (b_go) begin
            c_range_before <= b_range_before;
            c_has_parent   <= has_parent;
            c_slot         <= b_slot;
            c_unit         <= b_unit;

            c_ack          <= sound && b_ack;
            c_cnp          <= sound && b_cnp;
            c_opens        <= sound && opens;
            c_up           <= up;
            c_down         <= down;
            c_ahead        <= ahead;
            c_behind       <= f_behind;
            c_window       <= f_window;
            c_accept       <= accept;
            c_first        <= f_first;
            c_same_imm     <= f_same_imm;
            c_resend       <= resend;
            c_completes    <= completes;
            c_gap_nak      <= gap_nak;
            c_base_nak     <= base_nak;
            c_late         <= late;
`ifdef INC_PARK
            c_slotless     <= slotless;
            c_park_nak     <= park_nak;
            c_gone         <= gone;
`endif
            c_keeps        <= sound && b_ack && speaks;
            c_builds       <= f_builds;
            c_dest         <= completes ? result_mask : resend ? resend_mask : down ? b_out_mask : answers ? answer_mask : b_self;
            c_need_min     <= answers && b_ack && b_spreads;
            c_need_rest    <= late && b_spreads;
`ifdef INC_PARK
            c_need_pick    <= gap_nak || gone || (late && b_reduces);
`else
            c_need_pick    <= gap_nak || (late && b_reduces);
`endif
            // what an acknowledgement says, or that all are through with what came before the range that ends
            c_ack_psn      <= b_data ? b_range_before : b_syn_ack ? b_psn : b_psn_before;

            c_bad_tver     <= b_bad_tver;
            c_bad_opcode   <= b_bad_opcode;
            c_too_long     <= b_too_long;
            c_astray       <= b_fine && astray;
            c_bad_control  <= b_fine && bad_control;
            c_contradicts  <= b_fine && contradicts;
            c_stale_ack    <= b_fine && stale_ack;
            c_not_whole    <= b_fine && placed && b_data && !b_whole;
            c_wrong_role   <= b_fine && placed && (!b_data || b_whole) && !role_ok;
            c_bad_syndrome <= b_fine && placed && (!b_data || b_whole) && role_ok && b_ack && !syn_any;

            c_slot_words   <= f_slot_words;
            c_wr_reg       <= accept || takes;

            // ePSN moves on acceptance, and in-band with what the parent sends
            c_msn          <= f_msn;
            c_ep_we        <= accept || nak || moves;
            n_ep           <= {!(accept || moves) && (nak || f_nak_sent), accept && b_ends ? f_msn + 24'd1 : f_msn,
                               accept || moves ? b_psn_next : f_epsn};
            // done: what is complete; in-band what a Broadcast's parent has sent, and everything before the range that was opened last
            c_done_we      <= completes || takes;
            c_done_new     <= (completes || takes) && !b_opened;
            n_done         <= completes || takes ? (f_done_past ? f_done : b_psn) : (f_open_past ? f_done : b_range_before);
        end
    end

    assign c_wr = c_wr_reg;

    // ---- what was acknowledged ----

`ifdef INC_PARK
    assign ack_rd    = (b_go && !b_bypass) || k_asks;
    assign ack_group = k_asks ? park_group : b_group;
    assign ack_self  = c_valid ? c_self : NOBODY;
    assign ack_mask  = c_valid ? c_ack_mask : k_mask;
`else
    assign ack_rd    = b_go && !b_bypass;
    assign ack_group = b_group;
    assign ack_self  = c_self;
    assign ack_mask  = c_ack_mask;
`endif
    // an answer to data is about what its receiver has: the endpoint itself, in a Reduce the parent; a Broadcast's about what all have
    assign ack_pick  = c_reduces ? c_parent_mask : c_self;
    assign ack_psn   = c_ack_psn;
    assign ack_msn   = c_ext[23:0];

    // data of the range before that everybody has: its ACKs would be of another range; a gap's NAK asks for what follows the
    // acknowledged, in-band for nothing before the range. It is read, then compared, then it decides all that an answer is: a cycle each
    reg  [23:0] picked_reg, picked_msn_reg, rest_reg, rest_msn_reg;
    reg         parent_has, gap_before, rest_any_reg, rest_read_reg, all_have_reg, rest_ready_reg;
    wire [23:0] picked_past = picked_reg - c_end;
    wire [23:0] gap_low     = picked_reg - c_begin;
    wire [23:0] rest_past   = rest_reg - c_end;
    wire [23:0] gap_psn     = gap_before ? c_begin : picked_reg + 24'd1;

    always @(posedge clk) begin
        picked_reg     <= ack_picked;
        parent_has     <= !picked_past[23];
        gap_before     <= c_ranged && gap_low[23];
        picked_msn_reg <= ack_picked_msn;
        rest_msn_reg   <= ack_rest_msn;
        rest_reg       <= ack_rest;
        rest_any_reg   <= ack_rest_any;
        rest_read_reg  <= ack_ready && !ack_rd;
        all_have_reg   <= rest_any_reg && !rest_past[23];
        rest_ready_reg <= rest_read_reg && !ack_rd;
    end

    wire        least_ready, rose, covered;
    wire [23:0] least, least_msn;

    inc_least_ack #(.EP_W(EP_W)) u_least (
        .clk          (clk),
        .ack_rd       (ack_rd),
        .ack_ready    (ack_ready),
        .ack_own      (ack_own),
        .ack_own_msn  (ack_own_msn),
        .ack_rest     (ack_rest),
        .ack_rest_msn (ack_rest_msn),
        .ack_rest_any (ack_rest_any),
        .ack_rest_ep  (ack_rest_ep),
        .endpoint     (c_ei[EP_W-1:0]),
        .counts       (c_keeps),
        .number       (c_ack_psn),
        .msn          (c_ext[23:0]),
        .psn          (c_psn),
        .ranged       (c_ranged),
        .range_before (c_range_before),
        .range_begin  (c_begin),
        .range_end    (c_end),
        .ready        (least_ready),
        .rose         (rose),
        .covered      (covered),
        .least        (least),
        .least_msn    (least_msn)
    );

    wire answers_up = rose || covered || !c_syn_ack;
    // a NAK of what all have is an old one: what follows may never have been sent
    wire up_ack     = c_syn_ack || covered;
    wire reack      = c_late && (c_reduces ? c_behind && parent_has : c_spreads && all_have_reg);
`ifdef INC_PARK
    // a retransmission whose receiver has acknowledged it: with the last that it has, of the frame's range
    reg         gone_has;
    wire [23:0] gone_past  = ack_picked - c_psn;
    wire        regone     = c_gone && !reack && gone_has;
    wire        answered   = reack || regone;
    wire        refuses    = c_park_nak && !reack;

    always @(posedge clk) begin
        gone_has <= !gone_past[23];
    end
`endif

    // ---- form: everything that the verdict will only let pass ----

    // The work goes out with it, and waits for its verdict there.
    wire has_work;
    wire asked = c_valid && !c_formed && (c_need_min ? least_ready : c_need_rest ? rest_ready_reg : c_need_pick ? c_third : 1'b1);
    wire form  = asked && !c_bypass && !(has_work && work_held);

    wire from_slot = c_accept || (c_resend && !reack);
    wire copies    = c_down && !reack;
`ifdef INC_PARK
    wire makes_ack = c_gap_nak || c_base_nak || refuses || answered;
`else
    wire makes_ack = c_gap_nak || c_base_nak || reack;
`endif
    wire reaches   = c_dest != NOBODY;
    wire [WORDS_W-1:0] all_words = c_accept ? c_words : c_resend && !reack ? c_slot_words : copies ? c_words : {WORDS_W{1'b0}};
    wire               emits     = (copies || (TREE == 0 && (c_completes || (c_resend && !reack)))) && reaches;
    wire               reduction = TREE != 0 && (c_completes || (c_resend && !reack)) && reaches;

    // of a payload that is added, or that somebody gets: what was acknowledged is compared meanwhile
    wire               some      = c_words != {WORDS_W{1'b0}};
    wire               some_kept = c_slot_words != {WORDS_W{1'b0}};
    wire               adds      = c_accept && some;
    wire               gets      = ((c_resend && some_kept) || (c_down && some)) && reaches;
    assign has_work = c_live && (adds || (gets && !reack));

    reg               t_sends, t_opens, t_keeps, t_ep_we, t_done_we, t_wr, t_reack;
    reg [1:0]         t_kind;
    reg [MASK_W-1:0]  t_mask;
    reg [7:0]         t_opcode;
    reg               t_se, t_ce, t_in_band, t_dir;
    reg [1:0]         t_pad;
    reg [23:0]        t_psn;
    reg [31:0]        t_ext;
    reg [LEN_W-1:0]   t_plen;
    reg [WORDS_W-1:0] t_words;
    reg [COUNTERS-1:0] t_count;        // what an undamaged frame steps
    reg [COUNTERS-1:0] steps;          // but for what ReplicateData and AggregateData count

    always @* begin
        steps = {COUNTERS{1'b0}};
`ifdef INC_PARK
        steps[C_UP_DATA]          = c_up && !answered;
        steps[C_TX_RNR]           = refuses;
        steps[C_DROP_PARKED]      = c_slotless && !reack;
`else
        steps[C_UP_DATA]          = c_up && !reack;
`endif
        steps[C_AGG]              = c_accept;
        steps[C_BUFFERED]         = c_accept && !c_completes;
        steps[C_WIPE]             = c_completes;
        steps[C_TX_RESULT]        = c_completes;
        steps[C_TX_RESEND]        = c_resend && !reack;
        steps[C_DOWN_DATA]        = copies;
        steps[C_RX_ACK]           = c_ack && c_syn_ack;
        steps[C_RX_NAK]           = c_ack && c_syn_nak;
        steps[C_RX_RNR]           = c_ack && c_syn_rnr;
        steps[C_RX_CNP]           = c_cnp;
        steps[C_RX_CE]            = c_ce;
        steps[C_TX_REFLECT]       = c_ack && !c_reduces && !c_spreads;
        steps[C_TX_GAP_NAK]       = c_gap_nak || c_base_nak;
        steps[C_TX_CNP]           = c_cnp && !c_reduces;
        steps[C_IMM_MISMATCH]     = c_accept && !c_first && !c_same_imm;
        steps[C_DROP_TVER]        = c_bad_tver;
        steps[C_DROP_OPCODE]      = c_bad_opcode;
        steps[C_DROP_TOO_LONG]    = c_too_long;
        steps[C_DROP_BAD_LENGTH]  = c_not_whole;
        steps[C_DROP_WRONG_ROLE]  = c_wrong_role;
        steps[C_DROP_SYNDROME]    = c_bad_syndrome;
        steps[C_DROP_GAP]         = c_up && !reack && c_ahead;
`ifdef INC_PARK
        steps[C_DROP_STALE]       = c_up && !answered && c_behind && !c_resend;
`else
        steps[C_DROP_STALE]       = c_up && !reack && c_behind && !c_resend;
`endif
        steps[C_DROP_WINDOW]      = c_up && !c_ahead && !c_behind && !c_window;
        steps[C_DROP_SHAPE]       = c_up && !c_ahead && !c_behind && c_window && !c_accept;
        steps[C_TX_ACK_UP]        = c_need_min && reaches && answers_up;
`ifdef INC_PARK
        steps[C_TX_REACK]         = answered;
`else
        steps[C_TX_REACK]         = reack;
`endif
        steps[C_DROP_RANGE]       = c_astray;
        steps[C_DROP_BAD_CONTROL] = c_bad_control;
        steps[C_DROP_CONTROL]     = c_contradicts;
        steps[C_DROP_STALE_ACK]   = c_stale_ack;
    end

    always @(posedge clk) begin
        c_formed  <= !b_go && !c_leaves && (c_formed || form);
        c_through <= b_go ? b_bypass : !c_leaves && (c_through || form);
        if (!c_formed) begin
            t_sends   <= makes_ack || ((c_completes || (c_resend && !reack) || copies || c_ack || c_cnp) && reaches
                                       && !(c_need_min && !answers_up));
            t_kind    <= {(c_ack || c_cnp) && c_reduces, (c_completes && !c_has_parent) || copies};
`ifdef INC_PARK
            t_mask    <= answered ? c_self : c_dest;
`else
            t_mask    <= reack ? c_self : c_dest;
`endif
            t_opcode  <= from_slot ? wr_opcode : makes_ack ? OP_ACK : c_opcode;
            t_se      <= from_slot ? wr_se : copies && c_se;
            t_pad     <= from_slot ? wr_pad : copies ? c_pad : 2'd0;
            t_ce      <= from_slot ? wr_ce : !makes_ack && c_ce;
`ifdef INC_PARK
            t_psn     <= refuses ? c_wire_psn : regone ? (c_ranged && parent_has ? c_end : picked_reg) : c_gap_nak ? gap_psn
                         : c_base_nak ? c_range_base : reack ? c_end : c_cnp ? c_wire_psn
`else
            t_psn     <= c_gap_nak ? gap_psn : c_base_nak ? c_range_base : reack ? c_end : c_cnp ? c_wire_psn
`endif
                         : c_need_min ? (up_ack ? least : least + 24'd1) : c_psn;
`ifdef INC_PARK
            t_ext     <= from_slot ? wr_ext : refuses ? {3'b001, cfg_park_timer, c_msn} : regone ? {ACK_PLAIN, picked_msn_reg}
                         : c_gap_nak || c_base_nak ? {NAK_SEQUENCE, c_msn}
`else
            t_ext     <= from_slot ? wr_ext : c_gap_nak || c_base_nak ? {NAK_SEQUENCE, c_msn}
`endif
                         : reack ? {ACK_PLAIN, c_reduces ? picked_msn_reg : rest_msn_reg}
                         : c_need_min ? {up_ack ? ACK_PLAIN : c_ext[31:24], least_msn} : c_ext;
            t_plen    <= from_slot ? wr_plen : copies ? c_plen : {LEN_W{1'b0}};
            t_words   <= all_words;
`ifdef INC_PARK
            t_in_band <= c_ranged && !c_cnp && !c_base_nak && !refuses;
`else
            t_in_band <= c_ranged && !c_cnp && !c_base_nak;
`endif
            t_dir     <= makes_ack || c_ack;
            t_opens   <= c_opens;
            t_keeps   <= c_keeps;
            t_ep_we   <= c_ep_we && !reack;
            t_done_we <= c_done_we && !reack;
            t_wr      <= c_wr && !reack;
            t_reack   <= reack;
            t_count   <= steps;
        end
        // one that is bypassed may leave at once, and does nothing
        if (b_go) begin
            {t_sends, t_opens, t_keeps, t_ep_we, t_done_we, t_wr} <= 6'd0;
        end
        if (rst) begin
            c_formed  <= 1'b0;
            c_through <= 1'b0;
        end
    end

    // ---- commit ----

    // How the frame ended comes last, and when it ends does not hang on it: a damaged one waits for the room that it would have needed.
    wire good    = c_leaves && c_live && c_intact;       // every t_* is 0 of a frame that does nothing

    assign c_leaves  = vrd_valid && c_through && (!t_sends || tx_room);
    assign c_opening = good && t_opens;
    assign c_decided = c_leaves && c_formed && !c_opening;
    assign c_done    = c_leaves && !c_opening;
    assign c_lives   = c_live;
    assign vrd_pop   = c_done;

    assign ctl_open = c_opening;
    assign ack_lift = c_opening;
    assign ack_we   = good && t_keeps;
    assign ep_we    = good && t_ep_we;
    // one that has opened its range does not open another
    assign done_we  = c_leaves && (c_opened || (c_live && c_intact && t_done_we));
    assign wr_en    = good && t_wr;
    // The frame in B takes for written what is not, if C is left by one that is not committed, or by one that is but repeats what all have:
    // then nothing is written that it was to write.
    wire takes_any  = take_ep || (take_done && c_done_new) || b_takes_slot;
    assign b_stale  = b_valid && takes_any && (t_reack || !c_live || !c_intact);

    assign wr_slot  = c_slot;

    assign tx_valid   = good && t_sends;
    assign tx_kind    = t_kind;
    assign tx_ei      = c_ei;
    assign tx_mask    = t_mask;
    assign tx_opcode  = t_opcode;
    assign tx_se      = t_se;
    assign tx_pad     = t_pad;
    assign tx_ce      = t_ce;
    assign tx_psn     = t_psn;
    assign tx_in_band = t_in_band;
    assign tx_rng     = c_rng;
    assign tx_dir     = t_dir;
    assign tx_ext     = t_ext;
    assign tx_plen    = t_plen;
    assign tx_words   = t_words;

    // ---- work on the payload ----

    assign work_put        = asked && !work_held && has_work;
    assign work_words      = all_words;
    assign work_unit       = c_unit;
    assign work_ep         = c_ei[EP_W-1:0];
    assign work_mask       = wr_mask;
    assign work_copied     = 1'b0;
    assign work_read       = TREE != 0 ? c_accept && c_builds : c_resend || (c_accept && c_builds);
    assign work_take       = !c_resend;
    assign work_write      = c_accept;
    assign work_emit       = emits;
    assign work_reduce     = reduction;
    assign work_function   = c_function;
    assign work_dtype      = c_dtype;
    assign work_big_endian = c_big_endian;
    assign work_commits    = good && c_sent;
    assign work_kills      = c_leaves && !(c_live && c_intact) && c_sent;

    always @(posedge clk) begin
        c_sent <= !b_go && (c_sent || work_put);
        if (rst) begin
            c_sent <= 1'b0;
        end
    end

`ifdef INC_PARK
    // ---- parking: the last PSN that somebody has contributed to, and whose acknowledgements count there, follow a commit by a cycle; between
    // two frames they are compared with what is complete, and with what was acknowledged ----

    localparam [2:0] K_IDLE = 3'd0, K_READ = 3'd1, K_ASK = 3'd2, K_WAIT = 3'd3, K_LOOK = 3'd4, K_SAY = 3'd5;
    reg  [2:0]        k_state;
    reg               k_opened;        // a range is open whose control is not decided
    reg               k_drained;
    reg  [MASK_W-1:0] l_mask;
    reg               l_valid;
    reg  [GRP_W-1:0]  l_group;
    reg  [23:0]       l_psn;
    wire [23:0]       k_last;
    wire [23:0]       l_past    = l_psn - k_last;
    wire              notes     = good && (c_accept || t_done_we);
    wire              opened    = c_done && c_opened && !c_bypass;
    wire [23:0]       k_ahead   = ram_done - k_last;
    wire [23:0]       k_unacked = ack_rest - ram_done;

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(MASK_W + 24), .ADDR_W(GRP_W)) u_lasts (
        .clk   (clk),
        .we    (l_valid || init_take),
        .waddr (l_valid ? l_group : init_group),
        .wdata (l_valid ? {l_mask, l_past[23] ? k_last : l_psn} : {NOBODY, init_psn - 24'd1}),
        .re    (notes || opened || k_reads),
        .raddr (k_reads ? park_group : c_group),
        .rdata ({k_mask, k_last})
    );

    wire k_holds        = park_valid && !k_opened;
    assign holds        = k_holds || init_waits;
    assign k_reads      = k_state == K_READ;
    assign k_asks       = k_state == K_ASK;
    assign park_take    = k_state == K_SAY;
    assign park_drained = k_drained;

    always @(posedge clk) begin
        l_valid <= notes || opened;
        l_group <= c_group;
        l_psn   <= notes ? c_psn : c_range_before;
        l_mask  <= c_ack_mask;
        if (c_opening) begin
            k_opened <= 1'b1;
        end else if (c_done) begin
            k_opened <= 1'b0;
        end
        case (k_state)
            K_IDLE:  k_state <= k_holds && !b_valid && !c_valid && !l_valid ? K_READ : K_IDLE;
            K_READ:  k_state <= K_ASK;
            K_ASK:   k_state <= K_WAIT;
            K_WAIT:  k_state <= ack_ready ? K_LOOK : K_WAIT;
            K_LOOK:  k_state <= K_SAY;
            default: k_state <= K_IDLE;
        endcase
        k_drained <= !k_ahead[23] && !(ack_rest_any && k_unacked[23]);
        if (rst) begin
            k_state  <= K_IDLE;
            k_opened <= 1'b0;
            l_valid  <= 1'b0;
        end
    end

`else
    assign holds = init_waits;

`endif
    // ---- counters, a cycle later: exactly one of the drops, or the actions. t_count still stands then, and that it counts comes late ----

    reg [COUNTERS-1:0] count_reg;
    reg                passed_reg;

    always @(posedge clk) begin
        passed_reg <= c_passed;
        count_reg  <= {COUNTERS{1'b0}};
        count_reg[C_RX_FRAMES]            <= c_done;
        count_reg[C_BYPASS]               <= c_leaves && c_bypass;
        count_reg[C_DROP_FOREIGN +: 6]    <= c_drops;    // and those behind it, to DROP_ICRC
        count_reg[C_RANGE_OPEN]           <= c_opening;
        if (rst) begin
            passed_reg <= 1'b0;
            count_reg  <= {COUNTERS{1'b0}};
        end
    end
    assign count = count_reg | (t_count & {COUNTERS{passed_reg}});

`ifdef INC_PARK
    wire unused_park = &{1'b0, l_past, k_ahead, k_unacked, gone_past};
`endif
    wire unused_bits = &{1'b0, s_psn, a_there, s_unit, distance, beyond, overrun, opened_past, picked_past, rest_past, gap_low};

endmodule

`default_nettype wire
