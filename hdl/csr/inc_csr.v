// SPDX-License-Identifier: Apache-2.0
//
// inc_csr: the registers of the engine behind an AXI4-Lite slave.
//
// Contract
//   access      32 bits at a time: a write with any strobe low, and any access outside the map, is answered SLVERR and does nothing;
//               the low two bits of an address are not looked at
//   locked      so is a write to the settings of a group that is enabled, its endpoints' among them: all but GROUP_CTRL and what is read only
//   latency     write response 4 cycles after address and data are both there, but for tbl_waits; read data 4 cycles after the address, of a group
//               later by the cycles in which a group's word goes out when it is looked up, 1 without tbl_waits; of an endpoint 1 later than who keeps it takes, of a
//               counter up to 2 * COUNTERS + 13
//   throughput  a write in 5 cycles and a read in 5, independent of each other
//   bus         every output is a flip-flop; nothing goes from an input to an output in a cycle
//   stall       an answer waits for bready or rready; no further access of its kind is taken meanwhile
//   tables      endpoint and group words go out on tbl_* in the cycle of the answer, and stand until tbl_waits is low, for which the next
//               write waits. A group's are read from a copy here, an endpoint's from
//               the tables of who uses them: get_lookup or get_translate stands, with number and word, until got_*, in whose cycle the
//               data is there. Of an endpoint that has no bit in a mask nothing goes out, and it reads 0
//   groups      a write of enable to a group that is not enabled, or of enable and reset, is grp_start for one cycle; grp_refused clears
//               enable, grp_overlap sets a status bit until GROUP_CTRL is written again; the group reads busy in that cycle still
//   pipes       with MODE 3 there are PIPE_CTRL, PIPE_TIMEOUT, GROUP_PIPE and GROUP_FAILED; GROUP_PIPE goes out as word 1 of its group, which
//               is then sent for nothing else; in other modes cfg_rnr_timer to cfg_timeout stay 0 and grp_failed is not looked at
`ifdef INC_PARK
//   parking     a write of GROUP_CTRL with enable and without reset to a group that is enabled is grp_park or grp_unpark for one cycle, by what
//               it says of park, if that is not so already; grp_undrained sets a status bit until GROUP_CTRL is written again, grp_overlap
//               its own. While a group is parked and not busy its GROUP_SLOTS and GROUP_PIPE are written like those of one that is not
//               enabled
`endif
//   inject      a write of ECC_INJECT is inject_valid, high for one cycle, one cycle after it was taken; the register reads 0
//   counters    step by one for every cycle in which their bit of `count` or their own count_* is high. COUNTER reads the low word and
//               COUNTER_HIGH the high word of a copy of all; a read of COUNTER, unless COUNTER_SNAPSHOT.hold is set, and a write of 1 to
//               that copy them first, with all steps of before the cycle in which the address or the last of address and data was taken
//   reset       all registers take their reset values; then every table word is cleared, one a cycle: `ready` is low and accesses
//               wait until that is done
//   not done    no byte writes
`default_nettype none

module inc_csr #(
    // bits of a byte address, 16 to 18
    parameter AXIL_W   = 16,
    // read-only parameters
    parameter [31:0] ID      = 32'd0,
    parameter [31:0] VERSION = 32'd0,
    parameter MODE     = 2,
    parameter BYTES    = 8,
    parameter LANES    = 2,
    parameter GROUPS   = 2,
    parameter MEMBERS  = 4,
    parameter PORTS    = 4,
    parameter MTU_BYTES = 1024,
    parameter SLOTS    = 16,
    parameter WINDOW   = 4,
    parameter [31:0] ARITH = 32'h0000_0108,
    parameter IP_ID    = 0,
    // widths
    parameter PORT_W   = 2,
    parameter EP_W     = 3,
    parameter EI_W     = 4,
    parameter MASK_W   = 5,
    // contract: parameter 2
    parameter COUNTERS = 46,
    // contract: end
    // reset value of PIPE_TIMEOUT, in microseconds
    parameter TIMEOUT  = 16
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [AXIL_W-1:0]       s_axil_awaddr,
    input  wire                    s_axil_awvalid,
    output wire                    s_axil_awready,
    input  wire [31:0]             s_axil_wdata,
    input  wire [3:0]              s_axil_wstrb,
    input  wire                    s_axil_wvalid,
    output wire                    s_axil_wready,
    output wire [1:0]              s_axil_bresp,
    output wire                    s_axil_bvalid,
    input  wire                    s_axil_bready,
    input  wire [AXIL_W-1:0]       s_axil_araddr,
    input  wire                    s_axil_arvalid,
    output wire                    s_axil_arready,
    output wire [31:0]             s_axil_rdata,
    output wire [1:0]              s_axil_rresp,
    output wire                    s_axil_rvalid,
    input  wire                    s_axil_rready,

    // the tables are cleared
    output wire                    ready,
    output wire                    cfg_gap_nak,
    output wire                    cfg_foreign_bypass,
    output wire [15:0]             cfg_ip_id,
    output wire [PORTS*PORT_W-1:0] cfg_bypass_port,
    output wire [4:0]              cfg_rnr_timer,
    output wire                    cfg_rnr,
    output wire                    cfg_cnp,
    // microseconds; 0 as written
    output wire [15:0]             cfg_timeout,
    // bits to invert in the next row written to the payload memory, high for one cycle
    output reg                     inject_valid,
    output reg  [1:0]              inject_flips,

    output reg                     tbl_ep_we,
    input  wire                    tbl_waits,
    output reg                     tbl_grp_we,
    output reg  [EI_W-1:0]         tbl_index,
    output reg  [3:0]              tbl_word,
    output reg  [31:0]             tbl_data,

    output reg                     get_lookup,
    output reg                     get_translate,
    output wire [EI_W-1:0]         get_index,
    output wire [3:0]              get_word,
    input  wire                    got_lookup,
    input  wire [31:0]             got_lookup_data,
    input  wire                    got_translate,
    input  wire [31:0]             got_translate_data,

    output wire [GROUPS-1:0]       grp_enable,
    output reg  [GROUPS-1:0]       grp_start,
    input  wire [GROUPS-1:0]       grp_busy,
    input  wire [GROUPS-1:0]       grp_live,
    input  wire [GROUPS-1:0]       grp_refused,
    input  wire [GROUPS-1:0]       grp_overlap,
`ifdef INC_PARK
    output wire                    cfg_park_rnr,
    output wire [4:0]              cfg_park_timer,
    output reg  [GROUPS-1:0]       grp_park,
    output reg  [GROUPS-1:0]       grp_unpark,
    input  wire [GROUPS-1:0]       grp_parked,
    input  wire [GROUPS-1:0]       grp_undrained,
`endif
    input  wire [GROUPS*MASK_W-1:0] grp_failed,

    input  wire [COUNTERS-1:0]     count,
    input  wire                    count_fanout,
    input  wire                    count_ack_copy,
    input  wire                    count_frame,
    input  wire                    count_corrected,
    input  wire                    count_double
);

    localparam GRP_W     = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam ENDPOINTS = GROUPS * (1 << EP_W);

    // positions in `count`, and how the registers lie
    // contract: counters 2 3
    localparam C_TX_FANOUT = 7, C_TX_FRAMES = 18, C_ECC_CORRECTED = 36, C_ECC_DOUBLE = 37, C_TX_ACK_COPY = 39,
               C_COUNT = MODE == 2 ? 46 : 53;
    // contract: end
    // contract: registers 2 3
    localparam F_CTRL_GAP_NAK = 0, F_CTRL_FOREIGN_BYPASS = 1, F_IP_ID_VALUE = 0, W_IP_ID_VALUE = 16, F_ECC_INJECT_FLIPS = 0,
               W_ECC_INJECT_FLIPS = 2, F_COUNTER_SNAPSHOT_HOLD = 0, F_BYPASS_PORT_PORT = 0, W_BYPASS_PORT_PORT = 8,
               F_GROUP_CTRL_ENABLE = 0, F_GROUP_CTRL_RESET = 1, F_GROUP_STATUS_BUSY = 0, F_GROUP_STATUS_ENABLED = 1,
               F_GROUP_STATUS_OVERLAP = 2, F_PIPE_CTRL_RNR_TIMER = 0, W_PIPE_CTRL_RNR_TIMER = 5, F_PIPE_CTRL_RNR = 8,
               F_PIPE_CTRL_CNP = 9, F_PIPE_TIMEOUT_MICROSECONDS = 0, W_PIPE_TIMEOUT_MICROSECONDS = 16, F_GROUP_FAILED_MASK = 0;
    localparam [0:0] R_CTRL_GAP_NAK = 1'd1, R_CTRL_FOREIGN_BYPASS = 1'd0, R_COUNTER_SNAPSHOT_HOLD = 1'd0, R_PIPE_CTRL_RNR = 1'd1,
                     R_PIPE_CTRL_CNP = 1'd0;
    localparam [3:0] WORD_GROUP_CTRL = 4'd0, WORD_GROUP_STATUS = 4'd1, WORD_GROUP_SLOTS = 4'd3, WORD_EP_CTRL = 4'd0,
                     WORD_EP_LOCAL_QPN = 4'd1, NUM_EP_WORDS = 4'd10, WORD_GROUP_PIPE = 4'd1;
    localparam [4:0] R_PIPE_CTRL_RNR_TIMER = 5'd1;
    localparam [15:0] AT_CTRL = 16'h000C, AT_IP_ID = 16'h000D, AT_ECC_INJECT = 16'h000E, AT_COUNTER_SNAPSHOT = 16'h000F,
                      AT_BYPASS_PORT = 16'h0100, AT_COUNTER = 16'h0200, AT_COUNTER_HIGH = 16'h0300, AT_GROUP_CTRL = 16'h0400,
                      AT_EP_CTRL = 16'h2000, NUM_SINGLE = MODE == 2 ? 16'd16 : 16'd18, AT_PIPE_CTRL = 16'h0010,
                      AT_PIPE_TIMEOUT = 16'h0011, AT_GROUP_PIPE = 16'h0800, AT_GROUP_FAILED = 16'h0840;
    localparam [31:0] M_GROUP_PIPE = 32'h00FF_FFFF;

    // bits that exist in the words of a table: a group a record
    function [31:0] group_bits(input [3:0] word);
        case (word)
            4'd2:  group_bits = 32'h00FF_FFFF; // GROUP_START
            4'd3:  group_bits = 32'h1FFF_FFFF; // GROUP_SLOTS
            4'd4:  group_bits = 32'hFFFF_FFFF >> (32 - MASK_W); // GROUP_IN_MASK
            4'd5:  group_bits = 32'hFFFF_FFFF >> (32 - MASK_W); // GROUP_OUT_MASK
            4'd6:  group_bits = 32'hFFFF_FFFF >> (32 - MASK_W); // GROUP_ACK_MASK
            4'd7:  group_bits = 32'h8000_00FF; // GROUP_PARENT
            4'd8:  group_bits = 32'h0703_0307; // GROUP_COLLECTIVE
            4'd9:  group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_0
            4'd10: group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_1
            4'd11: group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_2
            4'd12: group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_3
            4'd13: group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_4
            4'd14: group_bits = 32'h3FFF_FFFF; // GROUP_ROUTE_5
            4'd15: group_bits = 32'h0000_0FFF; // GROUP_ROUTE_6
            default: group_bits = 32'd0;
        endcase
    endfunction

    // bits that exist in the words of a table: a endpoint a record
    function [31:0] endpoint_bits(input [3:0] word);
        case (word)
            4'd0:  endpoint_bits = 32'h0000_FF03; // EP_CTRL
            4'd1:  endpoint_bits = 32'h00FF_FFFF; // EP_LOCAL_QPN
            4'd2:  endpoint_bits = 32'h00FF_FFFF; // EP_REMOTE_QPN
            4'd3:  endpoint_bits = 32'hFFFF_FFFF; // EP_LOCAL_IP
            4'd4:  endpoint_bits = 32'hFFFF_FFFF; // EP_REMOTE_IP
            4'd5:  endpoint_bits = 32'hFFFF_FFFF; // EP_LOCAL_MAC_LO
            4'd6:  endpoint_bits = 32'h0000_FFFF; // EP_LOCAL_MAC_HI
            4'd7:  endpoint_bits = 32'hFFFF_FFFF; // EP_REMOTE_MAC_LO
            4'd8:  endpoint_bits = 32'h0000_FFFF; // EP_REMOTE_MAC_HI
            4'd9:  endpoint_bits = 32'hFFFF_FFFF; // EP_HEADER
            default: endpoint_bits = 32'd0;
        endcase
    endfunction
    // contract: end

`ifdef INC_PARK
    // contract: parking 2 3
    localparam F_CTRL_PARK_RNR = 2, F_CTRL_PARK_TIMER = 8, W_CTRL_PARK_TIMER = 5, F_GROUP_CTRL_PARK = 2, F_GROUP_STATUS_PARKED = 3,
               F_GROUP_STATUS_UNDRAINED = 4, C_PARKED_COUNT = MODE == 2 ? 48 : 54;
    localparam [0:0] R_CTRL_PARK_RNR = 1'd1;
    localparam [4:0] R_CTRL_PARK_TIMER = 5'd1;
    // contract: end

`endif
    // Every array begins at a multiple of the room that it has in the map, endpoints at one of 2**13: so no bit of an index takes a
    // subtraction, but the endpoints' highest three.
    localparam BYPASS_W = 8, COUNTER_W = 8, GROUP_W = 10, PIPE_W = 6, ENDPOINT_W = 13;

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 18) begin : gen_bad_axil
            $error("inc_csr: AXIL_W must be 16 to 18");
        end
        if (GROUPS < 1 || GROUPS > 64 || EI_W < EP_W || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_csr: GROUPS must be 1 to 64 and fit EI_W - EP_W bits");
        end
        if (EP_W < 1 || EP_W > 5 || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_csr: EP_W must be 1 to 5 and MASK_W at most 2**EP_W");
        end
        if (PORT_W < 1 || PORT_W > 8 || PORTS < 1 || PORTS > 32 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_csr: PORTS must be 1 to 32 and fit PORT_W bits");
        end
`ifdef INC_PARK
        // in Mode I, which has Mode III's registers here, there are more
        if (MODE == 3 ? COUNTERS < C_PARKED_COUNT : COUNTERS != C_PARKED_COUNT) begin : gen_bad_counters
`else
        if (MODE == 3 ? COUNTERS < C_COUNT : COUNTERS != C_COUNT) begin : gen_bad_counters
`endif
            $error("inc_csr: COUNTERS must be the number of the mode's counters");
        end
        if (AT_BYPASS_PORT[BYPASS_W-1:0] != {BYPASS_W{1'b0}} || AT_COUNTER[COUNTER_W-1:0] != {COUNTER_W{1'b0}}
            || AT_COUNTER_HIGH[COUNTER_W-1:0] != {COUNTER_W{1'b0}} || AT_GROUP_CTRL[GROUP_W-1:0] != {GROUP_W{1'b0}} || AT_GROUP_PIPE[PIPE_W-1:0] != {PIPE_W{1'b0}}
            || AT_GROUP_FAILED[PIPE_W-1:0] != {PIPE_W{1'b0}} || AT_EP_CTRL[ENDPOINT_W-1:0] != {ENDPOINT_W{1'b0}}) begin : gen_bad_map
            $error("inc_csr: the arrays of the map must begin at multiples of their room");
        end
        if (TIMEOUT < 0 || TIMEOUT > 65535) begin : gen_bad_timeout
            $error("inc_csr: TIMEOUT must be 0 to 65535");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    // ---- where an address leads ----

    localparam [0:0]  PIPES    = MODE == 3;
    localparam [15:0] N_BYPASS = PORTS[15:0], N_COUNTER = COUNTERS[15:0], N_GROUP = GROUPS[15:0];
    localparam [15:0] END_ENDPOINT = ENDPOINTS[15:0] + (AT_EP_CTRL >> 4);   // records of 16 words, from address 0 on

    // word of the endpoints' array
    function [15:0] endpoint_word_of(input [15:0] a);
        endpoint_word_of = {a[15:ENDPOINT_W] - AT_EP_CTRL[15:ENDPOINT_W], a[ENDPOINT_W-1:0]};
    endfunction

    // {high word of a counter, failed, pipe, endpoint, group, counter, bypass, global}, at most one set
    function [7:0] target(input [15:0] a);
        begin
            target[0] = a < NUM_SINGLE;
            target[1] = a[15:BYPASS_W] == AT_BYPASS_PORT[15:BYPASS_W] && {8'd0, a[BYPASS_W-1:0]} < N_BYPASS;
            target[2] = a[15:COUNTER_W] == AT_COUNTER[15:COUNTER_W] && {8'd0, a[COUNTER_W-1:0]} < N_COUNTER;
            target[3] = a[15:GROUP_W] == AT_GROUP_CTRL[15:GROUP_W] && {10'd0, a[GROUP_W-1:4]} < N_GROUP;
            target[4] = a[15:ENDPOINT_W] != 3'd0 && {4'd0, a[15:4]} < END_ENDPOINT && a[3:0] < NUM_EP_WORDS;
            target[5] = PIPES && a[15:PIPE_W] == AT_GROUP_PIPE[15:PIPE_W] && {10'd0, a[PIPE_W-1:0]} < N_GROUP;
            target[6] = PIPES && a[15:PIPE_W] == AT_GROUP_FAILED[15:PIPE_W] && {10'd0, a[PIPE_W-1:0]} < N_GROUP;
            target[7] = a[15:COUNTER_W] == AT_COUNTER_HIGH[15:COUNTER_W] && {8'd0, a[COUNTER_W-1:0]} < N_COUNTER;
        end
    endfunction

    localparam [EP_W:0] MASK_COUNT = MASK_W[EP_W:0];

    // ---- write: address and data, where it leads, whether it may, what it does ----

    localparam [4:0] W_IDLE = 5'd1, W_TARGET = 5'd2, W_CHECK = 5'd4, W_ACT = 5'd8, W_ANSWER = 5'd16;

    reg              clear_reg;                 // clearing the tables
    reg [EI_W+3:0]   clear_index_reg;
    reg [4:0]        w_state;
    reg              awready_reg, wready_reg, bvalid_reg;
    reg [1:0]        bresp_reg;
    reg [15:0]       waddr;                     // byte address / 4, as wide as the widest map
    reg [31:0]       wdata;
    reg              wfull;                     // all strobes
    reg [7:0]        wr_to;
    reg [5:0]        wr_owner;                  // the group of which it is a setting
    reg              wr_setting;
`ifdef INC_PARK
    reg              wr_movable;                // or may be written while the group is parked
    reg              park_rnr_reg;
    reg [4:0]        park_timer_reg;
    reg [GROUPS-1:0] undrained_reg;
`endif
    reg              wr_ok;
    reg              gap_nak_reg, foreign_bypass_reg, hold_reg;
    reg [15:0]       ip_id_reg;
    reg [8*PORTS-1:0] bypass_port_reg;
    reg [GROUPS-1:0] enable_reg, overlap_reg;

    // the word that goes out is not taken yet
    wire        tbl_held    = (tbl_ep_we || tbl_grp_we) && tbl_waits;
    wire        wr_acts     = w_state == W_ACT && !tbl_held;
    wire        wr_act      = wr_acts && wr_ok;
    wire [7:0]  wr_leads    = target(waddr);
    wire [15:0] wr_endpoint = endpoint_word_of(waddr);
    wire [15:0] wr_group    = {6'd0, waddr[GROUP_W-1:0]};
    wire [15:0] wr_pipe     = {10'd0, waddr[PIPE_W-1:0]};
    wire        wr_exists   = {1'b0, wr_endpoint[4 +: EP_W]} < MASK_COUNT;
    wire        wr_ctrl     = wr_act && wr_to[3] && wr_group[3:0] == WORD_GROUP_CTRL;
    wire        wr_table    = wr_to[5] || (wr_to[3] && !(PIPES && wr_group[3:0] == WORD_GROUP_STATUS));
    wire        wr_hold     = wr_act && waddr == AT_COUNTER_SNAPSHOT && wdata[F_COUNTER_SNAPSHOT_HOLD];
    wire [10:0] wr_number   = wr_endpoint[4 +: 11];
    wire [10:0] wr_ep_group = wr_number >> EP_W;
    // one place more than there can be groups, so that every number has one
    wire [64:0] enabled     = {{(65-GROUPS){1'b0}}, enable_reg};
`ifdef INC_PARK
    // from the write that unparks it on its slots are locked
    wire [64:0] parked      = {{(65-GROUPS){1'b0}}, grp_parked & ~grp_unpark & ~grp_busy};

    assign cfg_park_rnr   = park_rnr_reg;
    assign cfg_park_timer = park_timer_reg;
`endif

    assign s_axil_awready = awready_reg;
    assign s_axil_wready  = wready_reg;
    assign s_axil_bvalid  = bvalid_reg;
    assign s_axil_bresp   = bresp_reg;
    assign ready          = !clear_reg;

    assign cfg_gap_nak        = gap_nak_reg;
    assign cfg_foreign_bypass = foreign_bypass_reg;
    assign cfg_ip_id          = ip_id_reg;
    assign grp_enable         = enable_reg;

    genvar p, g;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_bypass
            localparam [15:0] AT = AT_BYPASS_PORT + p;
            localparam [7:0]  P  = p;
            assign cfg_bypass_port[p*PORT_W +: PORT_W] = bypass_port_reg[8*p +: PORT_W];
            always @(posedge clk) begin
                if (wr_act && waddr == AT) begin
                    bypass_port_reg[8*p +: 8] <= wdata[F_BYPASS_PORT_PORT +: W_BYPASS_PORT_PORT];
                end
                if (rst) begin
                    bypass_port_reg[8*p +: 8] <= P;
                end
            end
        end
        for (g = 0; g < GROUPS; g = g + 1) begin : gen_group
            localparam [11:0] G = g;
            wire here = wr_ctrl && wr_group[15:4] == G;
            always @(posedge clk) begin
                grp_start[g] <= here && wdata[F_GROUP_CTRL_ENABLE]
                                && (wdata[F_GROUP_CTRL_RESET] || !enable_reg[g] || grp_refused[g]);
                if (here) begin
                    enable_reg[g]  <= wdata[F_GROUP_CTRL_ENABLE];
                    overlap_reg[g] <= 1'b0;
`ifdef INC_PARK
                end else begin
                    if (grp_refused[g]) begin
                        enable_reg[g] <= 1'b0;
                    end
                    if (grp_overlap[g]) begin
                        overlap_reg[g] <= 1'b1;
                    end
                end
                grp_park[g]   <= here && wdata[F_GROUP_CTRL_ENABLE] && !wdata[F_GROUP_CTRL_RESET] && enable_reg[g] && !grp_refused[g]
                                 && wdata[F_GROUP_CTRL_PARK] && !grp_parked[g];
                grp_unpark[g] <= here && wdata[F_GROUP_CTRL_ENABLE] && !wdata[F_GROUP_CTRL_RESET] && enable_reg[g] && !grp_refused[g]
                                 && !wdata[F_GROUP_CTRL_PARK] && grp_parked[g];
                undrained_reg[g] <= !here && (undrained_reg[g] || grp_undrained[g]) && enable_reg[g] && !grp_start[g];
`else
                end else if (grp_refused[g]) begin
                    enable_reg[g]  <= 1'b0;
                    overlap_reg[g] <= grp_overlap[g];
                end
`endif
                if (rst) begin
                    grp_start[g]   <= 1'b0;
                    enable_reg[g]  <= 1'b0;
                    overlap_reg[g] <= 1'b0;
`ifdef INC_PARK
                    grp_park[g]      <= 1'b0;
                    grp_unpark[g]    <= 1'b0;
                    undrained_reg[g] <= 1'b0;
`endif
                end
            end
        end
    endgenerate

    always @(posedge clk) begin
        if (awready_reg && s_axil_awvalid) begin
            waddr       <= {{(18-AXIL_W){1'b0}}, s_axil_awaddr[AXIL_W-1:2]};
            awready_reg <= 1'b0;
        end
        if (wready_reg && s_axil_wvalid) begin
            wdata      <= s_axil_wdata;
            wfull      <= s_axil_wstrb == 4'hF;
            wready_reg <= 1'b0;
        end
        case (w_state)
            W_IDLE: begin
                if (clear_reg) begin
                    awready_reg <= clear_index_reg == {(EI_W+4){1'b1}};
                    wready_reg  <= clear_index_reg == {(EI_W+4){1'b1}};
                end else if ((!awready_reg || s_axil_awvalid) && (!wready_reg || s_axil_wvalid)) begin
                    w_state <= W_TARGET;
                end
            end
            W_TARGET: begin
                wr_to      <= wr_leads;
                wr_owner   <= wr_leads[4] ? wr_ep_group[5:0] : wr_leads[5] ? wr_pipe[5:0] : wr_group[9:4];
                wr_setting <= wr_leads[4] || wr_leads[5]
                              || (wr_leads[3] && wr_group[3:0] != WORD_GROUP_CTRL && wr_group[3:0] != WORD_GROUP_STATUS);
`ifdef INC_PARK
                wr_movable <= wr_leads[5] || (wr_leads[3] && wr_group[3:0] == WORD_GROUP_SLOTS);
`endif
                w_state    <= W_CHECK;
            end
            W_CHECK: begin
`ifdef INC_PARK
                wr_ok   <= wr_to != 8'd0 && wfull && !(wr_setting && enabled[{1'b0, wr_owner}] && !(wr_movable && parked[{1'b0, wr_owner}]));
`else
                wr_ok   <= wr_to != 8'd0 && wfull && !(wr_setting && enabled[{1'b0, wr_owner}]);
`endif
                w_state <= W_ACT;
            end
            W_ACT: begin
                if (wr_acts) begin
                    bvalid_reg <= 1'b1;
                    bresp_reg  <= wr_ok ? OKAY : SLVERR;
                    w_state    <= W_ANSWER;
                end
            end
            default: begin
                if (s_axil_bready) begin
                    bvalid_reg  <= 1'b0;
                    awready_reg <= 1'b1;
                    wready_reg  <= 1'b1;
                    w_state     <= W_IDLE;
                end
            end
        endcase
        if (wr_act && waddr == AT_CTRL) begin
            gap_nak_reg        <= wdata[F_CTRL_GAP_NAK];
            foreign_bypass_reg <= wdata[F_CTRL_FOREIGN_BYPASS];
`ifdef INC_PARK
            if (MODE == 2) begin
                park_rnr_reg   <= wdata[F_CTRL_PARK_RNR];
                park_timer_reg <= wdata[F_CTRL_PARK_TIMER +: W_CTRL_PARK_TIMER];
            end
`endif
        end
        if (wr_act && waddr == AT_IP_ID) begin
            ip_id_reg <= wdata[F_IP_ID_VALUE +: W_IP_ID_VALUE];
        end
        if (wr_act && waddr == AT_COUNTER_SNAPSHOT) begin
            hold_reg <= wdata[F_COUNTER_SNAPSHOT_HOLD];
        end
        inject_valid <= wr_act && waddr == AT_ECC_INJECT;
        inject_flips <= wdata[F_ECC_INJECT_FLIPS +: W_ECC_INJECT_FLIPS];

        if (!tbl_held) begin
            tbl_ep_we  <= clear_reg || (wr_act && wr_to[4] && wr_exists);
            tbl_grp_we <= clear_reg || (wr_act && wr_table);
            tbl_index  <= clear_reg ? clear_index_reg[EI_W+3:4]
                        : wr_to[4] ? wr_endpoint[4 +: EI_W] : wr_to[5] ? wr_pipe[0 +: EI_W] : wr_group[4 +: EI_W];
            tbl_word   <= clear_reg ? clear_index_reg[3:0] : wr_to[4] ? wr_endpoint[3:0] : wr_to[5] ? WORD_GROUP_PIPE : wr_group[3:0];
            tbl_data   <= clear_reg ? 32'd0
                        : wdata & (wr_to[4] ? endpoint_bits(wr_endpoint[3:0]) : wr_to[5] ? M_GROUP_PIPE : group_bits(wr_group[3:0]));
        end
        // stands still when it is done: a model of an idle engine then has nothing to do
        if (clear_reg && !tbl_held) begin
            clear_index_reg <= clear_index_reg + {{(EI_W+3){1'b0}}, 1'b1};
        end
        if (clear_index_reg == {(EI_W+4){1'b1}} && !tbl_held) begin
            clear_reg <= 1'b0;
        end

        if (rst) begin
            clear_reg          <= 1'b1;
            clear_index_reg    <= {(EI_W+4){1'b0}};
            w_state            <= W_IDLE;
            awready_reg        <= 1'b0;
            wready_reg         <= 1'b0;
            bvalid_reg         <= 1'b0;
            gap_nak_reg        <= R_CTRL_GAP_NAK;
            foreign_bypass_reg <= R_CTRL_FOREIGN_BYPASS;
`ifdef INC_PARK
            park_rnr_reg       <= MODE == 2 ? R_CTRL_PARK_RNR : 1'b0;
            park_timer_reg     <= MODE == 2 ? R_CTRL_PARK_TIMER : 5'd0;
`endif
            hold_reg           <= R_COUNTER_SNAPSHOT_HOLD;
            ip_id_reg          <= IP_ID[15:0];
            tbl_ep_we          <= 1'b0;
            tbl_grp_we         <= 1'b0;
            inject_valid       <= 1'b0;
        end
    end

    // ---- pipes ----

    wire [31:0] pipe_ctrl, pipe_timeout;
    assign cfg_rnr_timer = pipe_ctrl[F_PIPE_CTRL_RNR_TIMER +: W_PIPE_CTRL_RNR_TIMER];
    assign cfg_rnr       = pipe_ctrl[F_PIPE_CTRL_RNR];
    assign cfg_cnp       = pipe_ctrl[F_PIPE_CTRL_CNP];
    assign cfg_timeout   = pipe_timeout[F_PIPE_TIMEOUT_MICROSECONDS +: W_PIPE_TIMEOUT_MICROSECONDS];
    generate
        if (PIPES) begin : gen_pipes
            reg [W_PIPE_CTRL_RNR_TIMER-1:0]       rnr_timer_reg;
            reg                                   rnr_reg, cnp_reg;
            reg [W_PIPE_TIMEOUT_MICROSECONDS-1:0] timeout_reg;
            assign pipe_ctrl    = {{(32-W_PIPE_CTRL_RNR_TIMER){1'b0}}, rnr_timer_reg} << F_PIPE_CTRL_RNR_TIMER
                                  | {31'd0, rnr_reg} << F_PIPE_CTRL_RNR | {31'd0, cnp_reg} << F_PIPE_CTRL_CNP;
            assign pipe_timeout = {{(32-W_PIPE_TIMEOUT_MICROSECONDS){1'b0}}, timeout_reg} << F_PIPE_TIMEOUT_MICROSECONDS;
            always @(posedge clk) begin
                if (wr_act && waddr == AT_PIPE_CTRL) begin
                    rnr_timer_reg <= wdata[F_PIPE_CTRL_RNR_TIMER +: W_PIPE_CTRL_RNR_TIMER];
                    rnr_reg       <= wdata[F_PIPE_CTRL_RNR];
                    cnp_reg       <= wdata[F_PIPE_CTRL_CNP];
                end
                if (wr_act && waddr == AT_PIPE_TIMEOUT) begin
                    timeout_reg <= wdata[F_PIPE_TIMEOUT_MICROSECONDS +: W_PIPE_TIMEOUT_MICROSECONDS];
                end
                if (rst) begin
                    rnr_timer_reg <= R_PIPE_CTRL_RNR_TIMER;
                    rnr_reg       <= R_PIPE_CTRL_RNR;
                    cnp_reg       <= R_PIPE_CTRL_CNP;
                    timeout_reg   <= TIMEOUT[W_PIPE_TIMEOUT_MICROSECONDS-1:0];
                end
            end
        end else begin : gen_no_pipes
            assign pipe_ctrl    = 32'd0;
            assign pipe_timeout = 32'd0;
        end
    endgenerate

    // ---- counters ----

    localparam COUNT_W = $clog2(COUNTERS);

    wire [COUNTERS-1:0] step;
    reg [15:0]          raddr;                  // word that is read
    wire                rd_copies, copying, rd_count;
    wire [63:0]         counted;
    genvar c;
    generate
        for (c = 0; c < COUNTERS; c = c + 1) begin : gen_counter
            // what blocks other than the one that decides step
            wire other = (c == C_TX_FANOUT && count_fanout) || (c == C_TX_FRAMES && count_frame) || (c == C_TX_ACK_COPY && count_ack_copy)
                         || (c == C_ECC_CORRECTED && count_corrected) || (c == C_ECC_DOUBLE && count_double);
            assign step[c] = count[c] || other;
        end
    endgenerate

    inc_counters #(.COUNTERS(COUNTERS), .HALF_W(32), .INDEX_W(COUNT_W)) u_counters (
        .clk      (clk),
        .rst      (rst),
        .step     (step),
        .copy     (wr_hold || rd_copies),
        .busy     (copying),
        .rd_en    (rd_count),
        .rd_index (raddr[COUNT_W-1:0]),
        .rd_value (counted)
    );

    // ---- read: address, where it leads, what stands there, answer ----

    localparam [6:0] R_IDLE = 7'd1, R_TARGET = 7'd2, R_LOOK = 7'd4, R_COUNT = 7'd8, R_GET = 7'd16, R_GIVE = 7'd32, R_ANSWER = 7'd64;

    reg [6:0]   r_state;
    reg         arready_reg, rvalid_reg;
    reg [7:0]   rd_to;
    reg         rd_table;                       // of the group's table
    reg [31:0]  rd_value;                       // of what is not in that
    reg [31:0]  rdata_reg;
    reg [1:0]   rresp_reg;
    wire [31:0] group_word;

    wire [15:0] rd_endpoint = endpoint_word_of(raddr);
    wire [15:0] rd_single   = {11'd0, raddr[4:0]};      // of the fewer than 32 that stand alone
    wire        rd_exists   = {1'b0, rd_endpoint[4 +: EP_W]} < MASK_COUNT;
    wire        rd_lookup   = rd_endpoint[3:0] == WORD_EP_CTRL || rd_endpoint[3:0] == WORD_EP_LOCAL_QPN;
    wire [15:0] rd_group    = {6'd0, raddr[GROUP_W-1:0]};
    wire [15:0] rd_bypass   = {8'd0, raddr[BYPASS_W-1:0]};
    wire [15:0] rd_pipe     = {10'd0, raddr[PIPE_W-1:0]};
    wire [15:0] rd_failed   = {10'd0, raddr[PIPE_W-1:0]};

    assign s_axil_arready = arready_reg;
    assign s_axil_rvalid  = rvalid_reg;
    assign s_axil_rdata   = rdata_reg;
    assign s_axil_rresp   = rresp_reg;
    assign rd_copies      = r_state == R_LOOK && rd_to[2] && !hold_reg;
    assign get_index      = rd_endpoint[4 +: EI_W];
    assign get_word       = rd_endpoint[3:0];
    assign rd_count       = r_state == R_COUNT && !copying;

    wire [GRP_W+3:0] rd_group_index, wr_group_index;
    generate
        if (EI_W > EP_W) begin : gen_group_index
            assign rd_group_index = rd_to[5] ? {rd_pipe[GRP_W-1:0], WORD_GROUP_PIPE} : rd_group[GRP_W+3:0];
            assign wr_group_index = {tbl_index[GRP_W-1:0], tbl_word};
        end else begin : gen_one_group_index
            assign rd_group_index = {1'b0, rd_to[5] ? WORD_GROUP_PIPE : rd_group[3:0]};
            assign wr_group_index = {1'b0, tbl_word};
        end
    endgenerate

    // one port: a read waits while it writes
    wire             rd_waits = tbl_grp_we && (rd_to[3] || rd_to[5]);
    inc_ram_1rw #(.WORDS(1 << (GRP_W + 4)), .BITS(32), .ADDR_W(GRP_W + 4)) u_group_copy (
        .clk   (clk),
        .en    (tbl_grp_we || r_state == R_LOOK),
        .we    (tbl_grp_we),
        .addr  (tbl_grp_we ? wr_group_index : rd_group_index),
        .wdata (tbl_data),
        .rdata (group_word)
    );

    // the words that stand alone are looked up a cycle ahead, whether one of them is read or not
    reg [31:0] value, value_reg;
    always @* begin
        value = 32'd0;
        // nobody looks at it in other states, and a model of the engine need not work it out
        if (r_state == R_TARGET) begin
            case (rd_single)
                // contract: identity 2 3
                16'h0000: value = ID; // ID
                16'h0001: value = VERSION; // VERSION
                16'h0002: value = MODE; // PARAM_MODE
                16'h0003: value = BYTES; // PARAM_BUS_BYTES
                16'h0004: value = LANES; // PARAM_LANES
                16'h0005: value = GROUPS; // PARAM_GROUPS
                16'h0006: value = MEMBERS; // PARAM_MEMBERS
                16'h0007: value = PORTS; // PARAM_PORTS
                16'h0008: value = MTU_BYTES; // PARAM_MTU_BYTES
                16'h0009: value = SLOTS; // PARAM_SLOTS
                16'h000A: value = WINDOW; // PARAM_WINDOW_PACKETS
                16'h000B: value = ARITH; // PARAM_ARITH
                // contract: end
                AT_CTRL: begin
                    value[F_CTRL_GAP_NAK]        = gap_nak_reg;
                    value[F_CTRL_FOREIGN_BYPASS] = foreign_bypass_reg;
`ifdef INC_PARK
                    value[F_CTRL_PARK_RNR]       = park_rnr_reg;
                    value[F_CTRL_PARK_TIMER +: W_CTRL_PARK_TIMER] = park_timer_reg;
`endif
                end
                AT_IP_ID:            value[F_IP_ID_VALUE +: W_IP_ID_VALUE] = ip_id_reg;
                AT_COUNTER_SNAPSHOT: value[F_COUNTER_SNAPSHOT_HOLD] = hold_reg;
                AT_PIPE_CTRL:        value = pipe_ctrl;
                AT_PIPE_TIMEOUT:     value = pipe_timeout;
                default: ;                                         // ECC_INJECT clears itself
            endcase
        end
    end

    always @(posedge clk) begin
        value_reg <= value;
    end

    // Whose it is, too: then what is found is an OR of bits, one a port and a group, behind no comparison.
    reg [PORTS-1:0]  at_port;
    reg [GROUPS-1:0] at_group, at_failed;
    reg              at_ctrl, at_status;
    integer n;
    always @(posedge clk) begin
        for (n = 0; n < PORTS; n = n + 1) begin
            at_port[n] <= rd_bypass == n[15:0];
        end
        for (n = 0; n < GROUPS; n = n + 1) begin
            at_group[n]  <= rd_group[15:4] == n[11:0];
            at_failed[n] <= rd_failed == n[15:0];
        end
        at_ctrl   <= rd_group[3:0] == WORD_GROUP_CTRL;
        at_status <= rd_group[3:0] == WORD_GROUP_STATUS;
    end

    reg [31:0] found;
    reg        of_ctrl, of_status;
    integer k;
    always @* begin
        found     = 32'd0;
        k         = 0;
        of_ctrl   = 1'b0;
        of_status = 1'b0;
        if (r_state == R_LOOK) begin
            of_ctrl   = rd_to[3] && at_ctrl;
            of_status = rd_to[3] && at_status;
            found     = value_reg & {32{rd_to[0]}};
            for (k = 0; k < PORTS; k = k + 1) begin
                found[F_BYPASS_PORT_PORT +: W_BYPASS_PORT_PORT] = found[F_BYPASS_PORT_PORT +: W_BYPASS_PORT_PORT]
                    | (bypass_port_reg[8*k +: W_BYPASS_PORT_PORT] & {W_BYPASS_PORT_PORT{rd_to[1] && at_port[k]}});
            end
            for (k = 0; k < GROUPS; k = k + 1) begin
                found[F_GROUP_CTRL_ENABLE]    = found[F_GROUP_CTRL_ENABLE]    | (of_ctrl && at_group[k] && enable_reg[k]);
                found[F_GROUP_STATUS_ENABLED] = found[F_GROUP_STATUS_ENABLED] | (of_status && at_group[k] && grp_live[k]);
                found[F_GROUP_STATUS_OVERLAP] = found[F_GROUP_STATUS_OVERLAP] | (of_status && at_group[k] && overlap_reg[k]);
`ifdef INC_PARK
                found[F_GROUP_CTRL_PARK]        = found[F_GROUP_CTRL_PARK]        | (of_ctrl && at_group[k] && grp_parked[k]);
                found[F_GROUP_STATUS_PARKED]    = found[F_GROUP_STATUS_PARKED]    | (of_status && at_group[k] && grp_parked[k]);
                found[F_GROUP_STATUS_UNDRAINED] = found[F_GROUP_STATUS_UNDRAINED] | (of_status && at_group[k] && undrained_reg[k]);
                found[F_GROUP_STATUS_BUSY]      = found[F_GROUP_STATUS_BUSY]
                    | (of_status && at_group[k] && (grp_busy[k] || grp_refused[k] || grp_overlap[k] || grp_undrained[k]));
`else
                found[F_GROUP_STATUS_BUSY]    = found[F_GROUP_STATUS_BUSY]    | (of_status && at_group[k] && (grp_busy[k] || grp_refused[k]));
`endif
                found[F_GROUP_FAILED_MASK +: MASK_W] = found[F_GROUP_FAILED_MASK +: MASK_W]
                    | (grp_failed[MASK_W*k +: MASK_W] & {MASK_W{rd_to[6] && at_failed[k]}});
            end
        end
    end

    always @(posedge clk) begin
        case (r_state)
            R_IDLE: begin
                if (clear_reg) begin
                    arready_reg <= clear_index_reg == {(EI_W+4){1'b1}};
                end else if (s_axil_arvalid) begin
                    raddr       <= {{(18-AXIL_W){1'b0}}, s_axil_araddr[AXIL_W-1:2]};
                    arready_reg <= 1'b0;
                    r_state     <= R_TARGET;
                end
            end
            R_TARGET: begin
                rd_to   <= target(raddr);
                r_state <= R_LOOK;
            end
            R_LOOK: begin
                rd_table      <= rd_to[5] || (rd_to[3] && !(PIPES && rd_group[3:0] == WORD_GROUP_STATUS));
                rd_value      <= found;
                r_state       <= rd_waits ? R_LOOK : rd_to[2] || rd_to[7] ? R_COUNT : rd_to[4] && rd_exists ? R_GET : R_GIVE;
                get_lookup    <= rd_to[4] && rd_exists && rd_lookup;
                get_translate <= rd_to[4] && rd_exists && !rd_lookup;
            end
            R_GET: begin
                if (got_lookup || got_translate) begin
                    get_lookup    <= 1'b0;
                    get_translate <= 1'b0;
                    rd_value      <= got_lookup ? got_lookup_data : got_translate_data;
                    r_state       <= R_GIVE;
                end
            end
            R_COUNT: begin
                if (!copying) begin
                    r_state <= R_GIVE;
                end
            end
            R_GIVE: begin
                rvalid_reg <= 1'b1;
                rdata_reg  <= rd_value | (rd_table ? group_word : 32'd0)
                              | (rd_to[2] ? counted[31:0] : 32'd0) | (rd_to[7] ? counted[63:32] : 32'd0);
                rresp_reg  <= rd_to == 8'd0 ? SLVERR : OKAY;
                r_state    <= R_ANSWER;
            end
            default: begin
                if (s_axil_rready) begin
                    rvalid_reg  <= 1'b0;
                    arready_reg <= 1'b1;
                    r_state     <= R_IDLE;
                end
            end
        endcase
        if (rst) begin
            r_state       <= R_IDLE;
            arready_reg   <= 1'b0;
            rvalid_reg    <= 1'b0;
            get_lookup    <= 1'b0;
            get_translate <= 1'b0;
        end
    end

    wire unused_bits = &{1'b0, s_axil_awaddr[1:0], s_axil_araddr[1:0], wr_endpoint, wr_ep_group, wr_pipe, rd_endpoint, rd_pipe, pipe_ctrl, pipe_timeout};

endmodule

`default_nettype wire
