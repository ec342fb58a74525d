// SPDX-License-Identifier: Apache-2.0
//
// inc_recycle_buffer: the state words of all slots, and the machine that starts a group.
//
// Contract
//   latency     rd_en in cycle 0, the slot's word on slot_* in cycle 1, held until the next rd_en
//   throughput  one read and one write per cycle; a read of the slot being written returns the old word
//   start       grp_start[g] makes grp_busy[g] high until every slot of the group holds its first tag and no data, and the state of its
//               acknowledgements (acks_*), every endpoint's state (init_*) and, with IN_BAND, its ranges and offsets (ranges_*, with
//               init_ei) were offered and taken, in this order; it waits until the frames that were looked up before are gone,
//               takes the write port only in cycles without wr_en, and disturbs no other group;
//               a group whose registers make no sense is refused (grp_refused) and stays dead: collective, operation or type that is
//               not there, fewer than 2 slots, units beyond SLOTS (N of them, 2N of 16-bit types and of in-band groups where there is
//               such a type), a parent that is no endpoint, a Reduce or Broadcast without a parent, in-band without IN_BAND or with
//               another collective than AllReduce, in a tree with an odd number of endpoints a contribution of the last one or,
//               in-band, the last one anywhere in the group, with PIPES a pipe of more than N/2 slots, or units of which another group
//               that is enabled has some (grp_overlap too)
//   slots       a group has its units from the moment its settings were found good until grp_enable[g] falls; groups that wait for their
//               start are taken one after the other, the lowest first, and each is compared with all that have units then
//   live        grp_live[g]: enabled, started since, not busy
`ifdef INC_PARK
//   parking     grp_park[g] asks who decides (park_valid, for park_group) whether the group is drained: park_take comes with the answer, between
//               two frames. Then the group is parked (grp_parked) and has no units, or grp_undrained says that it is not. grp_unpark[g] does what
//               a start does but for the states of acknowledgements, endpoints and ranges, and leaves the group parked if it is refused,
//               with grp_overlap if that is for units of another. grp_busy meanwhile; grp_live stays. Starts come first, then
//               unparking, then parking, the lowest group first. With nothing else to do: grp_park in cycle 0, park_valid from cycle 2 on;
//               park_take in cycle n, no grp_busy from cycle n + 1 on. grp_unpark in cycle 0, no grp_busy from cycle 20 + GROUPS + N on, if
//               no frame waits; each cycle with wr_en in the last N takes one more
`endif
//   stall       none for reads and writes; a start waits for both
//   reset       no group live; slot words unknown until their group starts
//   not done    the settings must stand still while the group is enabled: the registers see to that
`default_nettype none

module inc_recycle_buffer #(
    // number of slots, at least 2
    parameter SLOTS   = 16,
    // bits of a slot's number
    parameter SLOT_W  = 4,
    // number of groups
    parameter GROUPS  = 2,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W    = 3,
    // bits of an endpoint's index in the table
    parameter EI_W    = 4,
    // bits of an endpoint mask
    parameter MASK_W  = 5,
    // bits of a payload length
    parameter LEN_W   = 11,
    // element types and operations that there are, bit i for code i
    parameter DTYPES  = 8,
    parameter OPS     = 1,
    // 1: contributions are kept by pairs of endpoints, and an odd last endpoint has no pair
    parameter TREE    = 0,
    // 1: there are in-band groups
    parameter IN_BAND = 0,
    // frames that may have been looked up and not yet decided
    parameter PENDING = 48,
    // 1: groups have pipes, whose size comes as word 1
    parameter PIPES   = 0
) (
    input  wire               clk,
    input  wire               rst,

    // control plane
    input  wire [GROUPS-1:0]  grp_enable,
    input  wire [GROUPS-1:0]  grp_start,
    output wire [GROUPS-1:0]  grp_busy,
    output wire [GROUPS-1:0]  grp_live,
    output reg  [GROUPS-1:0]  grp_refused,
    output reg  [GROUPS-1:0]  grp_overlap,
`ifdef INC_PARK
    input  wire [GROUPS-1:0]  grp_park,
    input  wire [GROUPS-1:0]  grp_unpark,
    output wire [GROUPS-1:0]  grp_parked,
    output reg  [GROUPS-1:0]  grp_undrained,
    output wire               park_valid,
    output wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] park_group,
    input  wire               park_take,
    input  wire               park_drained,
`endif
    input  wire               tbl_grp_we,
    input  wire [EI_W-1:0]    tbl_index,
    input  wire [3:0]         tbl_word,
    input  wire [31:0]        tbl_data,

    // the flow of frames, to know when those of before a start are gone: one that was looked up waits, one is decided
    input  wire               frm_waits,
    input  wire               frm_gone,

    // state of the endpoints, to be set when a group starts
    output wire               init_valid,
    input  wire               init_take,
    output wire [EI_W-1:0]    init_ei,
    output wire [23:0]        init_psn,
    // the same for the group's acknowledgements, and endpoint by endpoint (init_ei) for its ranges
    output wire               acks_valid,
    input  wire               acks_take,
    output wire [(EI_W > EP_W ? EI_W-EP_W : 1)-1:0] acks_group,
    output wire               ranges_valid,
    input  wire               ranges_take,

    // slot words
    input  wire               rd_en,
    input  wire [SLOT_W-1:0]  rd_slot,
    output wire [23:0]        slot_tag,
    output wire [MASK_W-1:0]  slot_mask,
    output wire               slot_complete,
    output wire [7:0]         slot_opcode,
    output wire [LEN_W-1:0]   slot_plen,
    output wire [1:0]         slot_pad,
    output wire               slot_se,
    output wire [31:0]        slot_ext,
    output wire               slot_ce,

    input  wire               wr_en,
    input  wire [SLOT_W-1:0]  wr_slot,
    input  wire [23:0]        wr_tag,
    input  wire [MASK_W-1:0]  wr_mask,
    input  wire               wr_complete,
    input  wire [7:0]         wr_opcode,
    input  wire [LEN_W-1:0]   wr_plen,
    input  wire [1:0]         wr_pad,
    input  wire               wr_se,
    input  wire [31:0]        wr_ext,
    input  wire               wr_ce
);

    localparam GRP_W  = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam [24:0] SLOT_COUNT = SLOTS[24:0];
    localparam [7:0]  WAIT_POPS  = PENDING[7:0];
    localparam [7:0]  MASK_COUNT = MASK_W[7:0];

`ifndef __ICARUS__
    generate
        if (SLOT_W < 1 || SLOT_W > 23 || SLOTS < 2 || SLOTS > (1 << SLOT_W)) begin : gen_bad_slots
            $error("inc_recycle_buffer: SLOTS must be 2 to 2**SLOT_W");
        end
        if (EP_W < 1 || EI_W < EP_W || GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_recycle_buffer: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (DTYPES < 1 || DTYPES > 15 || OPS < 1 || OPS > 7) begin : gen_bad_arithmetic
            $error("inc_recycle_buffer: DTYPES must be 1 to 15 and OPS 1 to 7");
        end
        if (TREE < 0 || TREE > 1) begin : gen_bad_tree
            $error("inc_recycle_buffer: TREE must be 0 or 1");
        end
        if (IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_in_band
            $error("inc_recycle_buffer: IN_BAND must be 0 or 1");
        end
        if (PENDING < 1 || PENDING > 255) begin : gen_bad_pending
            $error("inc_recycle_buffer: PENDING must be 1 to 255");
        end
        if (PIPES < 0 || PIPES > 1) begin : gen_bad_pipes
            $error("inc_recycle_buffer: PIPES must be 0 or 1");
        end
    endgenerate
`endif

    // ---- start machine ----

    localparam [3:0] W_IDLE = 4'd0, W_FENCE = 4'd1, W_READ = 4'd2, W_CHECK = 4'd3, W_OTHERS = 4'd4, W_ACKS = 4'd5, W_EP = 4'd6,
                     W_RANGES = 4'd7, W_SLOT = 4'd8;
`ifdef INC_PARK
    localparam [3:0] W_PARK = 4'd9;
`endif
    // words of the tables and their bits, as the register map has them
    // contract: registers 2 3
    localparam F_GROUP_START_PSN = 0, W_GROUP_START_PSN = 24, F_GROUP_SLOTS_BASE = 0, W_GROUP_SLOTS_BASE = 24,
               F_GROUP_SLOTS_LOG2_N = 24, W_GROUP_SLOTS_LOG2_N = 5, F_GROUP_IN_MASK_MASK = 0, F_GROUP_OUT_MASK_MASK = 0,
               F_GROUP_PARENT_ENDPOINT = 0, W_GROUP_PARENT_ENDPOINT = 8, F_GROUP_PARENT_VALID = 31, F_GROUP_COLLECTIVE_COLLECTIVE = 0,
               W_GROUP_COLLECTIVE_COLLECTIVE = 3, F_GROUP_COLLECTIVE_OP = 8, W_GROUP_COLLECTIVE_OP = 2, F_GROUP_COLLECTIVE_DTYPE = 16,
               W_GROUP_COLLECTIVE_DTYPE = 2, F_GROUP_COLLECTIVE_IN_BAND = 25, F_GROUP_PIPE_N = 0, W_GROUP_PIPE_N = 24;
    localparam [3:0] WORD_GROUP_START = 4'd2, WORD_GROUP_SLOTS = 4'd3, WORD_GROUP_IN_MASK = 4'd4, WORD_GROUP_OUT_MASK = 4'd5,
                     WORD_GROUP_PARENT = 4'd7, WORD_GROUP_COLLECTIVE = 4'd8, WORD_GROUP_PIPE = 4'd1;
    // contract: end

    reg [3:0]        state_reg;
    reg [GROUPS-1:0] pending_reg;
    reg [GROUPS-1:0] current_reg;     // one bit: the group being started
    reg [GROUPS-1:0] started_reg;
    reg [GRP_W-1:0]  group_reg;
    reg              gone_reg;        // frm_gone of W_FENCE, counted a cycle later
    reg [7:0]        pops_reg;
    reg [3:0]        quiet_reg;
    reg [SLOT_W-1:0] base_reg;
    reg [SLOT_W:0]   end_reg;         // the first unit behind the group's
    reg [SLOT_W-1:0] last_reg;        // N - 1
    reg [23:0]       start_reg;
    reg [SLOT_W-1:0] index_reg;       // slots that have their first tag
    reg [EP_W-1:0]   ep_reg;

    wire [GRP_W-1:0] tbl_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign tbl_group = tbl_index[GRP_W-1:0];
            assign init_ei   = {group_reg, ep_reg};
        end else begin : gen_one_group
            assign tbl_group = 1'b0;
            assign init_ei   = ep_reg;
        end
    endgenerate

    wire [23:0] cfg_start;
    wire [28:0] cfg_slots;
    wire [8:0]  cfg_parent;
    wire [7:0]  cfg_collective;         // in_band, dtype, op, collective
    // in the last cycle of W_FENCE for good
    wire        cfg_read = state_reg == W_FENCE;

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_cfg_start (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_START), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_START_PSN +: W_GROUP_START_PSN]),
        .re(cfg_read), .raddr(group_reg), .rdata(cfg_start));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(29), .ADDR_W(GRP_W)) u_cfg_slots (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_SLOTS), .waddr(tbl_group),
        .wdata({tbl_data[F_GROUP_SLOTS_LOG2_N +: W_GROUP_SLOTS_LOG2_N], tbl_data[F_GROUP_SLOTS_BASE +: W_GROUP_SLOTS_BASE]}),
        .re(cfg_read), .raddr(group_reg), .rdata(cfg_slots));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(9), .ADDR_W(GRP_W)) u_cfg_parent (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_PARENT), .waddr(tbl_group),
        .wdata({tbl_data[F_GROUP_PARENT_VALID], tbl_data[F_GROUP_PARENT_ENDPOINT +: W_GROUP_PARENT_ENDPOINT]}),
        .re(cfg_read), .raddr(group_reg), .rdata(cfg_parent));
    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(8), .ADDR_W(GRP_W)) u_cfg_collective (
        .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_COLLECTIVE), .waddr(tbl_group),
        .wdata({tbl_data[F_GROUP_COLLECTIVE_IN_BAND], tbl_data[F_GROUP_COLLECTIVE_DTYPE +: W_GROUP_COLLECTIVE_DTYPE],
                tbl_data[F_GROUP_COLLECTIVE_OP +: W_GROUP_COLLECTIVE_OP], tbl_data[F_GROUP_COLLECTIVE_COLLECTIVE +: W_GROUP_COLLECTIVE_COLLECTIVE]}),
        .re(cfg_read), .raddr(group_reg), .rdata(cfg_collective));

    // In a tree an odd number of endpoints leaves the last one without a pair, and without a place for its contribution; the ranges of
    // an in-band group may ask for one of every endpoint that it has.
    localparam LONE = (TREE != 0 && MASK_W % 2 == 1) ? 1 : 0;
    localparam [7:0] LAST_ENDPOINT = MASK_COUNT - 8'd1;
    wire cfg_lone;
    generate
        if (LONE != 0) begin : gen_lone
            wire lone_in;
            inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(1), .ADDR_W(GRP_W)) u_cfg_lone (
                .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_IN_MASK), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_IN_MASK_MASK + MASK_W - 1]),
                .re(cfg_read), .raddr(group_reg), .rdata(lone_in));
            if (IN_BAND != 0) begin : gen_in_band
                wire lone_out;
                inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(1), .ADDR_W(GRP_W)) u_cfg_lone_out (
                    .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_OUT_MASK), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_OUT_MASK_MASK + MASK_W - 1]),
                    .re(cfg_read), .raddr(group_reg), .rdata(lone_out));
                assign cfg_lone = lone_in || (cfg_collective[7] && (lone_out || (cfg_parent[8] && cfg_parent[7:0] == LAST_ENDPOINT)));
            end else begin : gen_fixed
                assign cfg_lone = lone_in;
            end
        end else begin : gen_no_lone
            assign cfg_lone = 1'b0;
        end
    endgenerate

    // a collective, a type and an operation that there are; the slots exist and are 2 or more, those of 16-bit types two units each, and
    // in-band of all types if there are such; the parent is an endpoint, and there where it must be
    localparam [3:0] HAS_DTYPE = DTYPES[3:0];
    localparam [3:0] HAS_OP    = OPS[3:0];
    localparam [0:0] HALVES    = (DTYPES & 6) != 0;
    wire        cfg_in_band = cfg_collective[7];
    wire        cfg_wide  = (cfg_in_band && HALVES) || cfg_collective[6] != cfg_collective[5];
    wire [24:0] cfg_n     = 25'd1 << cfg_slots[28:24];
    wire [24:0] cfg_units = cfg_wide ? {cfg_n[23:0], 1'b0} : cfg_n;
    wire [24:0] cfg_end   = {1'b0, cfg_slots[23:0]} + cfg_units;
    // the highest base that so many units have room behind, if there is one
    reg         cfg_fits;
    reg  [24:0] cfg_highest;
    integer     k;
    always @* begin
        cfg_fits    = 1'b0;
        cfg_highest = 25'd0;
        for (k = 1; k <= 24; k = k + 1) begin
            if (cfg_slots[28:24] == (cfg_wide ? k[4:0] - 5'd1 : k[4:0]) && (1 << k) <= SLOTS) begin
                cfg_fits    = 1'b1;
                cfg_highest = cfg_highest | (SLOT_COUNT - (25'd1 << k));
            end
        end
    end
    // pipes that fit, two of them
    wire cfg_overlong;
    generate
        if (PIPES != 0) begin : gen_pipes
            wire [23:0] cfg_pipe;
            inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W)) u_cfg_pipe (
                .clk(clk), .we(tbl_grp_we && tbl_word == WORD_GROUP_PIPE), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_PIPE_N +: W_GROUP_PIPE_N]),
                .re(cfg_read), .raddr(group_reg), .rdata(cfg_pipe));
            // half of N, found before W_READ: what it is found from is on the memory's output from the second cycle of W_FENCE on, which has three
            reg  [23:0] half_reg;
            always @(posedge clk) begin
                half_reg <= cfg_n[24:1];
            end
            assign cfg_overlong = cfg_pipe > half_reg;
        end else begin : gen_no_pipes
            assign cfg_overlong = 1'b0;
        end
    endgenerate
    wire        cfg_needs_parent = cfg_collective[2:0] == 3'd1 || cfg_collective[2:0] == 3'd2;
    wire        cfg_legal = cfg_collective[2:0] <= 3'd3 && (cfg_parent[8] || !cfg_needs_parent)
                            && (!cfg_in_band || (IN_BAND != 0 && cfg_collective[2:0] == 3'd0))
                            && HAS_OP[cfg_collective[4:3]] && HAS_DTYPE[cfg_collective[6:5]] && !cfg_lone
                            && cfg_slots[28:24] >= 5'd1 && cfg_slots[28:24] <= 5'd23
                            && cfg_fits
                            && !(cfg_parent[8] && cfg_parent[7:0] >= MASK_COUNT);
    wire [24:0] cfg_last  = cfg_n - 25'd1;
    // in W_CHECK: all but the pipes and the place, which is compared there
    reg         legal_reg, overlong_reg;
    reg  [24:0] highest_reg;
    wire        legal     = legal_reg && !overlong_reg && {1'b0, cfg_slots[23:0]} <= highest_reg;

    // units that are somebody's: read group by group and compared with those of the group being started
    reg  [GROUPS-1:0] holds_reg;      // the group has the units that u_held says
    reg  [GROUPS-1:0] probe_reg;      // one bit: the group whose units are on held_*
    reg  [GRP_W-1:0]  probe_index_reg; // the group whose units are read
    wire [SLOT_W-1:0] held_base;
    wire [SLOT_W:0]   held_end;
    wire              overlap = |(probe_reg & holds_reg & ~current_reg) && {1'b0, base_reg} < held_end && {1'b0, held_base} < end_reg;
    wire              passes  = state_reg == W_OTHERS && !overlap && probe_reg[GROUPS-1];

    inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2*SLOT_W + 1), .ADDR_W(GRP_W)) u_held (
        .clk(clk), .we(passes), .waddr(group_reg), .wdata({end_reg, base_reg}),
        .re(state_reg == W_CHECK || state_reg == W_OTHERS), .raddr(probe_index_reg), .rdata({held_end, held_base}));

    // the lowest group that waits
`ifdef INC_PARK
    reg  [GROUPS-1:0] parking_reg, unparking_reg; // wait to be parked, to be unparked
    reg  [GROUPS-1:0] parked_reg;
    reg               starting_reg;               // the group at hand is started, and not parked or unparked
    wire              starts   = pending_reg != {GROUPS{1'b0}};
    wire              unparks  = unparking_reg != {GROUPS{1'b0}};
    wire [GROUPS-1:0] waiting  = starts ? pending_reg : unparks ? unparking_reg : parking_reg;
    wire [GROUPS:0]   above  = {1'b0, ~waiting} + {{GROUPS{1'b0}}, 1'b1};
    wire [GROUPS-1:0] lowest = waiting & above[GROUPS-1:0];
`else
    wire [GROUPS:0]   above  = {1'b0, ~pending_reg} + {{GROUPS{1'b0}}, 1'b1};
    wire [GROUPS-1:0] lowest = pending_reg & above[GROUPS-1:0];
`endif
    reg  [GRP_W-1:0]  lowest_index;
    integer g;
    always @* begin
        lowest_index = {GRP_W{1'b0}};
        for (g = 0; g < GROUPS; g = g + 1) begin
            if (lowest[g]) begin
                lowest_index = g[GRP_W-1:0];
            end
        end
    end

    wire fence_open = pops_reg == WAIT_POPS || quiet_reg == 4'd15;

`ifdef INC_PARK
    wire [GROUPS-1:0] at_hand = state_reg == W_IDLE ? {GROUPS{1'b0}} : current_reg;
    assign grp_busy   = pending_reg | parking_reg | unparking_reg | at_hand;
    assign grp_live   = grp_enable & started_reg;     // which is low from a start to its end
    assign grp_parked = parked_reg;
    assign park_valid = state_reg == W_PARK;
    assign park_group = group_reg;
`else
    assign grp_busy   = pending_reg | (state_reg == W_IDLE ? {GROUPS{1'b0}} : current_reg);
    assign grp_live   = grp_enable & started_reg;     // which is low from a start to its end
`endif
    assign init_valid = state_reg == W_EP;
    assign acks_valid   = state_reg == W_ACKS;
    assign acks_group   = group_reg;
    assign ranges_valid = state_reg == W_RANGES;
    assign init_psn   = start_reg;

    wire walk_slot = state_reg == W_SLOT && !wr_en;
    // The slots in the order of the PSNs in [START, START+N): start_reg moves with them, as nothing else wants it any more.
    wire [SLOT_W-1:0] walk_at = base_reg + (start_reg[SLOT_W-1:0] & last_reg);

    always @(posedge clk) begin
        pending_reg <= pending_reg | grp_start;
        started_reg <= started_reg & ~grp_start & grp_enable;
        holds_reg   <= holds_reg & grp_enable;
        gone_reg    <= frm_gone && state_reg == W_FENCE;
        grp_refused <= {GROUPS{1'b0}};
        grp_overlap <= {GROUPS{1'b0}};
`ifdef INC_PARK
        grp_undrained <= {GROUPS{1'b0}};
        // a start takes the place of what waits
        parking_reg   <= (parking_reg | grp_park) & grp_enable & ~grp_start;
        unparking_reg <= (unparking_reg | grp_unpark) & grp_enable & ~grp_start;
        // a start gives it slots, or stops it
        parked_reg    <= parked_reg & grp_enable & ~grp_start;
`endif
        case (state_reg)
            W_IDLE: begin
                current_reg <= lowest;
                group_reg   <= lowest_index;
                pops_reg    <= 8'd0;
                quiet_reg   <= 4'd0;
                probe_index_reg <= {GRP_W{1'b0}};
                if (pending_reg != {GROUPS{1'b0}}) begin
                    pending_reg <= (pending_reg & ~lowest) | grp_start;
                    state_reg   <= W_FENCE;
                end
`ifdef INC_PARK
                starting_reg <= starts;
                if (!starts && unparks) begin
                    unparking_reg <= ((unparking_reg & ~lowest) | grp_unpark) & grp_enable & ~grp_start;
                    state_reg     <= W_FENCE;
                end else if (!starts && parking_reg != {GROUPS{1'b0}}) begin
                    parking_reg <= ((parking_reg & ~lowest) | grp_park) & grp_enable & ~grp_start;
                    state_reg   <= W_PARK;
                end
`endif
            end
            W_FENCE: begin
                pops_reg  <= pops_reg + {7'd0, gone_reg};
                quiet_reg <= frm_waits ? 4'd0 : quiet_reg + 4'd1;
                if (fence_open) begin
                    state_reg <= W_READ;
                end
            end
            W_READ: begin
                legal_reg    <= cfg_legal;
                overlong_reg <= cfg_overlong;
                highest_reg  <= cfg_highest;
                state_reg    <= W_CHECK;
            end
            W_CHECK: begin
                base_reg  <= cfg_slots[SLOT_W-1:0];
                end_reg   <= cfg_end[SLOT_W:0];
                last_reg  <= cfg_last[SLOT_W-1:0];
                start_reg <= cfg_start;
                index_reg <= {SLOT_W{1'b0}};
                ep_reg    <= {EP_W{1'b0}};
                probe_reg <= {{(GROUPS-1){1'b0}}, 1'b1};
                probe_index_reg <= probe_index_reg + {{(GRP_W-1){1'b0}}, 1'b1};
                if (legal) begin
                    state_reg <= W_OTHERS;
                end else begin
`ifdef INC_PARK
                    grp_refused <= starting_reg ? current_reg : {GROUPS{1'b0}};
`else
                    grp_refused <= current_reg;
`endif
                    state_reg   <= W_IDLE;
                end
            end
            W_OTHERS: begin
                probe_reg       <= probe_reg << 1;
                probe_index_reg <= probe_index_reg + {{(GRP_W-1){1'b0}}, 1'b1};
                if (overlap) begin
`ifdef INC_PARK
                    grp_refused <= starting_reg ? current_reg : {GROUPS{1'b0}};
`else
                    grp_refused <= current_reg;
`endif
                    grp_overlap <= current_reg;
                    state_reg   <= W_IDLE;
                end else if (passes) begin
                    holds_reg <= (holds_reg | current_reg) & grp_enable;
`ifdef INC_PARK
                    state_reg <= starting_reg ? W_ACKS : W_SLOT;
`else
                    state_reg <= W_ACKS;
`endif
                end
            end
            W_ACKS: begin
                if (acks_take) begin
                    state_reg <= W_EP;
                end
            end
            W_EP: begin
                if (init_take) begin
                    ep_reg <= ep_reg + {{(EP_W-1){1'b0}}, 1'b1};
                    if (ep_reg == {EP_W{1'b1}}) begin
                        state_reg <= IN_BAND != 0 ? W_RANGES : W_SLOT;
                    end
                end
            end
            W_RANGES: begin
                if (ranges_take) begin
                    ep_reg <= ep_reg + {{(EP_W-1){1'b0}}, 1'b1};
                    if (ep_reg == {EP_W{1'b1}}) begin
                        state_reg <= W_SLOT;
                    end
                end
            end
`ifdef INC_PARK
            W_PARK: begin
                if (park_take) begin
                    if (park_drained) begin
                        parked_reg <= (parked_reg | (current_reg & started_reg)) & grp_enable & ~grp_start;
                        holds_reg  <= holds_reg & grp_enable & ~current_reg;
                    end else begin
                        grp_undrained <= current_reg & grp_enable & ~pending_reg & ~grp_start;
                    end
                    state_reg <= W_IDLE;
                end
            end
`endif
            default: begin
                if (walk_slot) begin
                    start_reg <= start_reg + 24'd1;
                    index_reg <= index_reg + {{(SLOT_W-1){1'b0}}, 1'b1};
                    if (index_reg == last_reg) begin
                        // not if it was stopped or told to start again meanwhile
`ifdef INC_PARK
                        if (starting_reg) begin
                            started_reg <= (started_reg | current_reg) & ~pending_reg & ~grp_start & grp_enable;
                        end
                        parked_reg  <= parked_reg & ~current_reg & grp_enable & ~grp_start;
`else
                        started_reg <= (started_reg | current_reg) & ~pending_reg & ~grp_start & grp_enable;
`endif
                        state_reg   <= W_IDLE;
                    end
                end
            end
        endcase

        if (rst) begin
            state_reg   <= W_IDLE;
            pending_reg <= {GROUPS{1'b0}};
            current_reg <= {GROUPS{1'b0}};
            started_reg <= {GROUPS{1'b0}};
            holds_reg   <= {GROUPS{1'b0}};
            grp_refused <= {GROUPS{1'b0}};
            grp_overlap <= {GROUPS{1'b0}};
`ifdef INC_PARK
            parking_reg   <= {GROUPS{1'b0}};
            unparking_reg <= {GROUPS{1'b0}};
            parked_reg    <= {GROUPS{1'b0}};
            starting_reg  <= 1'b0;
            grp_undrained <= {GROUPS{1'b0}};
`endif
        end
    end

    // ---- slot words ----

    localparam WORD_W = 24 + MASK_W + 1 + 8 + LEN_W + 2 + 1 + 32 + 1;

    wire [WORD_W-1:0] word_out;
    wire [WORD_W-1:0] word_in = wr_en
        ? {wr_ce, wr_ext, wr_se, wr_pad, wr_plen, wr_opcode, wr_complete, wr_mask, wr_tag}
        : {{(WORD_W-24){1'b0}}, start_reg};

    inc_mem_slots #(.WORDS(SLOTS), .BITS(WORD_W), .ADDR_W(SLOT_W)) u_slots (
        .clk   (clk),
        .we    (wr_en || walk_slot),
        .waddr (wr_en ? wr_slot : walk_at),
        .wdata (word_in),
        .re    (rd_en),
        .raddr (rd_slot),
        .rdata (word_out)
    );

    assign {slot_ce, slot_ext, slot_se, slot_pad, slot_plen, slot_opcode, slot_complete, slot_mask, slot_tag} = word_out;

    wire unused_bits = &{1'b0, tbl_index, tbl_data, cfg_last, cfg_end, above, WORD_GROUP_OUT_MASK, LAST_ENDPOINT};

endmodule

`default_nettype wire
