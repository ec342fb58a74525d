// SPDX-License-Identifier: Apache-2.0
//
// inc_csr: the registers of the engine behind an AXI4-Lite slave.
//
// Contract
//   access      32 bits at a time: a write with any strobe low, and any access outside the map, is answered SLVERR and does nothing;
//               the low two bits of an address are not looked at
//   locked      so is a write to the settings of a group that is enabled, its endpoints' among them: all but GROUP_CTRL and what is read only
//   latency     write response 1 cycle after address and data are both there; read data 3 cycles after the address
//   throughput  a write in 2 cycles and a read in 4, independent of each other
//   stall       an answer waits for bready or rready; no further access of its kind is taken meanwhile
//   tables      endpoint and group words go out on tbl_* one cycle after they were written, and read back from a copy here; the valid bit
//               of an endpoint that has no bit in a mask stays 0
//   groups      a write of enable to a group that is not enabled, or of enable and reset, is grp_start for one cycle; grp_refused clears
//               enable, grp_overlap sets a status bit until GROUP_CTRL is written again; the group reads busy in that cycle still
//   pipes       with MODE 3 there are PIPE_CTRL, PIPE_TIMEOUT, GROUP_PIPE and GROUP_FAILED; GROUP_PIPE goes out as word 1 of its group, which
//               is then sent for nothing else; in other modes cfg_rnr_timer to cfg_timeout stay 0 and grp_failed is not looked at
//   inject      a write of ECC_INJECT is inject_valid, high for one cycle, one cycle after it was taken; the register reads 0
//   counters    step by one for every cycle in which their bit of `count` or their own count_* is high, two cycles later, and wrap
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
    parameter COUNTERS = 45,
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
    output reg                     tbl_grp_we,
    output reg  [EI_W-1:0]         tbl_index,
    output reg  [3:0]              tbl_word,
    output reg  [31:0]             tbl_data,

    output wire [GROUPS-1:0]       grp_enable,
    output reg  [GROUPS-1:0]       grp_start,
    input  wire [GROUPS-1:0]       grp_busy,
    input  wire [GROUPS-1:0]       grp_live,
    input  wire [GROUPS-1:0]       grp_refused,
    input  wire [GROUPS-1:0]       grp_overlap,
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
        if (COUNTERS < 45 || COUNTERS > 64) begin : gen_bad_counters
            $error("inc_csr: COUNTERS must be 45 to 64");
        end
        if (TIMEOUT < 0 || TIMEOUT > 65535) begin : gen_bad_timeout
            $error("inc_csr: TIMEOUT must be 0 to 65535");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    // ---- where an address leads ----

    // byte address / 4, as wide as the widest map
    wire [15:0] waddr_wide = {{(18-AXIL_W){1'b0}}, s_axil_awaddr[AXIL_W-1:2]};
    wire [15:0] raddr_wide = {{(18-AXIL_W){1'b0}}, s_axil_araddr[AXIL_W-1:2]};

    localparam [0:0]  PIPES    = MODE == 3;
    localparam [15:0] AT_BYPASS = 16'h0100, AT_COUNTER = 16'h0200, AT_GROUP = 16'h0400, AT_PIPE = 16'h0800, AT_FAILED = 16'h0840,
                      AT_ENDPOINT = 16'h2000;
    localparam [15:0] N_GLOBAL = PIPES ? 16'd17 : 16'd15, N_BYPASS = PORTS[15:0], N_COUNTER = COUNTERS[15:0], N_GROUP = GROUPS[15:0],
                      N_ENDPOINT = ENDPOINTS[15:0];
    localparam [3:0]  N_ENDPOINT_WORDS = 4'd10;            // of 16; a group has all of them
    localparam [3:0]  WORD_STATUS = 4'd1, WORD_PIPE = 4'd1;

    // {failed, pipe, endpoint, group, counter, bypass, global}, at most one set
    function [6:0] target(input [15:0] a);
        reg [15:0] past_bypass, past_counter, past_group, past_endpoint; // past_group counts groups, the others words
        reg [15:0] past_pipe, past_failed;
        begin
            past_pipe     = a - AT_PIPE;
            past_failed   = a - AT_FAILED;
            past_bypass   = a - AT_BYPASS;
            past_counter  = a - AT_COUNTER;
            past_group    = (a - AT_GROUP) >> 4;
            past_endpoint = a - AT_ENDPOINT;
            target[0] = a < N_GLOBAL;
            target[1] = a >= AT_BYPASS && past_bypass < N_BYPASS;
            target[2] = a >= AT_COUNTER && past_counter < N_COUNTER;
            target[3] = a >= AT_GROUP && past_group < N_GROUP;
            target[4] = a >= AT_ENDPOINT && {4'd0, past_endpoint[15:4]} < N_ENDPOINT && past_endpoint[3:0] < N_ENDPOINT_WORDS;
            target[5] = PIPES && a >= AT_PIPE && past_pipe < N_GROUP;
            target[6] = PIPES && a >= AT_FAILED && past_failed < N_GROUP;
        end
    endfunction

    // bits that exist in a table word
    localparam [31:0] MASK_BITS = 32'hFFFF_FFFF >> (32 - MASK_W);
    localparam [EP_W:0] MASK_COUNT = MASK_W[EP_W:0];
    function [31:0] group_bits(input [3:0] word);
        case (word)
            4'd2: group_bits = 32'h00FF_FFFF;
            4'd3: group_bits = 32'h1FFF_FFFF;
            4'd4, 4'd5, 4'd6: group_bits = MASK_BITS;
            4'd7: group_bits = 32'h8000_00FF;
            4'd8: group_bits = 32'h0703_0307;
            4'd9, 4'd10, 4'd11, 4'd12, 4'd13, 4'd14: group_bits = 32'h3FFF_FFFF;
            4'd15: group_bits = 32'h0000_0FFF;
            default: group_bits = 32'd0;
        endcase
    endfunction
    function [31:0] endpoint_bits(input [3:0] word, input exists);
        case (word)
            4'd0: endpoint_bits = {16'd0, 8'hFF, 6'd0, 1'b1, exists};
            4'd1, 4'd2: endpoint_bits = 32'h00FF_FFFF;
            4'd6, 4'd8: endpoint_bits = 32'h0000_FFFF;
            default: endpoint_bits = 32'hFFFF_FFFF;
        endcase
    endfunction

    // ---- write ----

    reg              clear_reg;                 // clearing the tables
    reg [EI_W+3:0]   clear_index_reg;
    reg              bvalid_reg;
    reg [1:0]        bresp_reg;
    reg              gap_nak_reg, foreign_bypass_reg;
    reg [15:0]       ip_id_reg;
    reg [8*PORTS-1:0] bypass_port_reg;
    reg [GROUPS-1:0] enable_reg, overlap_reg;

    wire        wr_go   = s_axil_awvalid && s_axil_wvalid && !bvalid_reg && !clear_reg;
    wire [6:0]  wr_to   = target(waddr_wide);
    wire [15:0] wr_endpoint = waddr_wide - AT_ENDPOINT;
    wire [15:0] wr_group    = waddr_wide - AT_GROUP;
    wire [15:0] wr_pipe     = waddr_wide - AT_PIPE;
    wire [GROUPS-1:0] wr_setting;               // one bit: the group of which it is a setting
    wire        wr_ok   = wr_to != 7'd0 && s_axil_wstrb == 4'hF && (wr_setting & enable_reg) == {GROUPS{1'b0}};
    wire        wr_exists   = {1'b0, wr_endpoint[4 +: EP_W]} < MASK_COUNT;
    wire        wr_ctrl     = wr_go && wr_ok && wr_to[3] && wr_group[3:0] == 4'd0;
    wire        wr_table    = wr_to[5] || (wr_to[3] && !(PIPES && wr_group[3:0] == WORD_STATUS));

    assign s_axil_awready = wr_go;
    assign s_axil_wready  = wr_go;
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
            localparam [15:0] AT = AT_BYPASS + p;
            localparam [7:0]  P  = p;
            assign cfg_bypass_port[p*PORT_W +: PORT_W] = bypass_port_reg[8*p +: PORT_W];
            always @(posedge clk) begin
                if (wr_go && wr_ok && waddr_wide == AT) begin
                    bypass_port_reg[8*p +: 8] <= s_axil_wdata[7:0];
                end
                if (rst) begin
                    bypass_port_reg[8*p +: 8] <= P;
                end
            end
        end
        for (g = 0; g < GROUPS; g = g + 1) begin : gen_group
            localparam [11:0] G = g;
            wire here = wr_ctrl && wr_group[15:4] == G;
            assign wr_setting[g] = (wr_to[3] && wr_group[15:4] == G && wr_group[3:0] > WORD_STATUS)
                                   || (wr_to[4] && {4'd0, wr_endpoint[15:4]} >> EP_W == {4'd0, G}) || (wr_to[5] && wr_pipe == {4'd0, G});
            always @(posedge clk) begin
                grp_start[g] <= here && s_axil_wdata[0] && (s_axil_wdata[1] || !enable_reg[g] || grp_refused[g]);
                if (here) begin
                    enable_reg[g]  <= s_axil_wdata[0];
                    overlap_reg[g] <= 1'b0;
                end else if (grp_refused[g]) begin
                    enable_reg[g]  <= 1'b0;
                    overlap_reg[g] <= grp_overlap[g];
                end
                if (rst) begin
                    grp_start[g]   <= 1'b0;
                    enable_reg[g]  <= 1'b0;
                    overlap_reg[g] <= 1'b0;
                end
            end
        end
    endgenerate

    always @(posedge clk) begin
        if (wr_go) begin
            bvalid_reg <= 1'b1;
            bresp_reg  <= wr_ok ? OKAY : SLVERR;
        end else if (s_axil_bready) begin
            bvalid_reg <= 1'b0;
        end
        if (wr_go && wr_ok && waddr_wide == 16'd12) begin
            gap_nak_reg        <= s_axil_wdata[0];
            foreign_bypass_reg <= s_axil_wdata[1];
        end
        if (wr_go && wr_ok && waddr_wide == 16'd13) begin
            ip_id_reg <= s_axil_wdata[15:0];
        end
        inject_valid <= wr_go && wr_ok && waddr_wide == 16'd14;
        inject_flips <= s_axil_wdata[1:0];

        tbl_ep_we  <= clear_reg || (wr_go && wr_ok && wr_to[4]);
        tbl_grp_we <= clear_reg || (wr_go && wr_ok && wr_table);
        tbl_index  <= clear_reg ? clear_index_reg[EI_W+3:4]
                    : wr_to[4] ? wr_endpoint[4 +: EI_W] : wr_to[5] ? wr_pipe[0 +: EI_W] : wr_group[4 +: EI_W];
        tbl_word   <= clear_reg ? clear_index_reg[3:0] : wr_to[4] ? wr_endpoint[3:0] : wr_to[5] ? WORD_PIPE : wr_group[3:0];
        tbl_data   <= clear_reg ? 32'd0
                    : s_axil_wdata & (wr_to[4] ? endpoint_bits(wr_endpoint[3:0], wr_exists) : wr_to[5] ? 32'h00FF_FFFF : group_bits(wr_group[3:0]));
        // stands still when it is done: a model of an idle engine then has nothing to do
        if (clear_reg) begin
            clear_index_reg <= clear_index_reg + {{(EI_W+3){1'b0}}, 1'b1};
        end
        if (clear_index_reg == {(EI_W+4){1'b1}}) begin
            clear_reg <= 1'b0;
        end

        if (rst) begin
            clear_reg          <= 1'b1;
            clear_index_reg    <= {(EI_W+4){1'b0}};
            bvalid_reg         <= 1'b0;
            gap_nak_reg        <= 1'b1;
            foreign_bypass_reg <= 1'b0;
            ip_id_reg          <= IP_ID[15:0];
            tbl_ep_we          <= 1'b0;
            tbl_grp_we         <= 1'b0;
            inject_valid       <= 1'b0;
        end
    end

    // ---- pipes ----

    wire [31:0] pipe_ctrl, pipe_timeout;
    assign cfg_rnr_timer = pipe_ctrl[4:0];
    assign cfg_rnr       = pipe_ctrl[8];
    assign cfg_cnp       = pipe_ctrl[9];
    assign cfg_timeout   = pipe_timeout[15:0];
    generate
        if (PIPES) begin : gen_pipes
            reg [6:0]  ctrl_reg;                // cnp, rnr, rnr_timer
            reg [15:0] timeout_reg;
            assign pipe_ctrl    = {22'd0, ctrl_reg[6:5], 3'd0, ctrl_reg[4:0]};
            assign pipe_timeout = {16'd0, timeout_reg};
            always @(posedge clk) begin
                if (wr_go && wr_ok && waddr_wide == 16'd15) begin
                    ctrl_reg <= {s_axil_wdata[9:8], s_axil_wdata[4:0]};
                end
                if (wr_go && wr_ok && waddr_wide == 16'd16) begin
                    timeout_reg <= s_axil_wdata[15:0];
                end
                if (rst) begin
                    ctrl_reg    <= 7'b0100001;
                    timeout_reg <= TIMEOUT[15:0];
                end
            end
        end else begin : gen_no_pipes
            assign pipe_ctrl    = 32'd0;
            assign pipe_timeout = 32'd0;
        end
    endgenerate

    // ---- counters ----

    localparam C_TX_FANOUT = 7, C_TX_FRAMES = 17, C_ECC_CORRECTED = 35, C_ECC_DOUBLE = 36, C_TX_ACK_COPY = 38;

    reg  [32*COUNTERS-1:0] counter_reg;
    // what is to be counted is known late in a cycle, and every counter hangs on it: it waits for the next one
    reg  [COUNTERS-1:0]    step_reg;
    genvar c;
    generate
        for (c = 0; c < COUNTERS; c = c + 1) begin : gen_counter
            if (c == C_TX_FANOUT) begin : gen_fanout
                always @(posedge clk) step_reg[c] <= !rst && (count[c] || count_fanout);
            end else if (c == C_TX_FRAMES) begin : gen_frames
                always @(posedge clk) step_reg[c] <= !rst && (count[c] || count_frame);
            end else if (c == C_ECC_CORRECTED) begin : gen_corrected
                always @(posedge clk) step_reg[c] <= !rst && (count[c] || count_corrected);
            end else if (c == C_ECC_DOUBLE) begin : gen_double
                always @(posedge clk) step_reg[c] <= !rst && (count[c] || count_double);
            end else if (c == C_TX_ACK_COPY) begin : gen_ack_copy
                always @(posedge clk) step_reg[c] <= !rst && (count[c] || count_ack_copy);
            end else begin : gen_plain
                always @(posedge clk) step_reg[c] <= !rst && count[c];
            end
            always @(posedge clk) begin
                if (rst) begin
                    counter_reg[32*c +: 32] <= 32'd0;
                end else if (step_reg[c]) begin
                    counter_reg[32*c +: 32] <= counter_reg[32*c +: 32] + 32'd1;
                end
            end
        end
    endgenerate

    // ---- read: address, table word, answer ----

    reg         a_valid, b_valid, rvalid_reg;
    reg [15:0]  a_addr;
    reg [6:0]   a_to, b_to;
    reg         b_table;                        // of the group's table
    reg [31:0]  b_value;                        // of what is not in a table
    reg [31:0]  rdata_reg;
    reg [1:0]   rresp_reg;
    wire [31:0] endpoint_word, group_word;

    wire        rd_go       = s_axil_arvalid && !a_valid && !b_valid && !rvalid_reg && !clear_reg;
    wire [15:0] rd_endpoint = a_addr - AT_ENDPOINT;
    wire [15:0] rd_group    = a_addr - AT_GROUP;
    wire [15:0] rd_counter  = a_addr - AT_COUNTER;
    wire [15:0] rd_bypass   = a_addr - AT_BYPASS;
    wire [15:0] rd_pipe     = a_addr - AT_PIPE;
    wire [15:0] rd_failed   = a_addr - AT_FAILED;

    assign s_axil_arready = rd_go;
    assign s_axil_rvalid  = rvalid_reg;
    assign s_axil_rdata   = rdata_reg;
    assign s_axil_rresp   = rresp_reg;

    wire [GRP_W+3:0] rd_group_index, wr_group_index;
    generate
        if (EI_W > EP_W) begin : gen_group_index
            assign rd_group_index = a_to[5] ? {rd_pipe[GRP_W-1:0], WORD_PIPE} : rd_group[GRP_W+3:0];
            assign wr_group_index = {tbl_index[GRP_W-1:0], tbl_word};
        end else begin : gen_one_group_index
            assign rd_group_index = {1'b0, a_to[5] ? WORD_PIPE : rd_group[3:0]};
            assign wr_group_index = {1'b0, tbl_word};
        end
    endgenerate

    inc_ram_1r1w #(.WORDS(1 << (EI_W + 4)), .BITS(32), .ADDR_W(EI_W + 4)) u_endpoint_copy (
        .clk   (clk),
        .we    (tbl_ep_we),
        .waddr ({tbl_index, tbl_word}),
        .wdata (tbl_data),
        .re    (a_valid),
        .raddr (rd_endpoint[EI_W+3:0]),
        .rdata (endpoint_word)
    );
    inc_ram_1r1w #(.WORDS(1 << (GRP_W + 4)), .BITS(32), .ADDR_W(GRP_W + 4)) u_group_copy (
        .clk   (clk),
        .we    (tbl_grp_we),
        .waddr (wr_group_index),
        .wdata (tbl_data),
        .re    (a_valid),
        .raddr (rd_group_index),
        .rdata (group_word)
    );

    reg [31:0] value;
    integer k;
    always @* begin
        value = 32'd0;
        if (a_to[0]) begin
            case (a_addr[4:0])
                5'd0:  value = ID;
                5'd1:  value = VERSION;
                5'd2:  value = MODE;
                5'd3:  value = BYTES;
                5'd4:  value = LANES;
                5'd5:  value = GROUPS;
                5'd6:  value = MEMBERS;
                5'd7:  value = PORTS;
                5'd8:  value = MTU_BYTES;
                5'd9:  value = SLOTS;
                5'd10: value = WINDOW;
                5'd11: value = ARITH;
                5'd12: value = {30'd0, foreign_bypass_reg, gap_nak_reg};
                5'd13: value = {16'd0, ip_id_reg};
                5'd15: value = pipe_ctrl;
                5'd16: value = pipe_timeout;
                default: value = 32'd0;                        // ECC_INJECT clears itself
            endcase
        end
        for (k = 0; k < PORTS; k = k + 1) begin
            if (a_to[1] && rd_bypass == k[15:0]) begin
                value = {24'd0, bypass_port_reg[8*k +: 8]};
            end
        end
        for (k = 0; k < COUNTERS; k = k + 1) begin
            if (a_to[2] && rd_counter == k[15:0]) begin
                value = counter_reg[32*k +: 32];
            end
        end
        for (k = 0; k < GROUPS; k = k + 1) begin
            if (a_to[3] && rd_group[15:4] == k[11:0]) begin
                value = rd_group[3:0] == 4'd0 ? {31'd0, enable_reg[k]}
                      : rd_group[3:0] == WORD_STATUS ? {29'd0, overlap_reg[k], grp_live[k], grp_busy[k] || grp_refused[k]} : 32'd0;
            end
            if (a_to[6] && rd_failed == k[15:0]) begin
                value = {{(32-MASK_W){1'b0}}, grp_failed[MASK_W*k +: MASK_W]};
            end
        end
    end

    always @(posedge clk) begin
        a_valid <= rd_go;
        if (rd_go) begin
            a_addr <= raddr_wide;
            a_to   <= target(raddr_wide);
        end
        b_valid <= a_valid;
        if (a_valid) begin
            b_to    <= a_to;
            b_table <= a_to[5] || (a_to[3] && !(PIPES && rd_group[3:0] == WORD_STATUS));
            b_value <= value;
        end
        if (b_valid) begin
            rvalid_reg <= 1'b1;
            rdata_reg  <= b_value | (b_to[4] ? endpoint_word : 32'd0) | (b_table ? group_word : 32'd0);
            rresp_reg  <= b_to == 7'd0 ? SLVERR : OKAY;
        end else if (s_axil_rready) begin
            rvalid_reg <= 1'b0;
        end
        if (rst) begin
            a_valid    <= 1'b0;
            b_valid    <= 1'b0;
            rvalid_reg <= 1'b0;
        end
    end

    wire unused_bits = &{1'b0, s_axil_awaddr[1:0], s_axil_araddr[1:0], wr_endpoint, wr_group, wr_pipe, rd_endpoint, rd_pipe, pipe_ctrl, pipe_timeout};

endmodule

`default_nettype wire
