// SPDX-License-Identifier: Apache-2.0
//
// inc_message_csr: the registers that Mode I adds, before those of inc_csr.
//
// Contract
//   access      an AXI4-Lite slave, s_axil_*. What is not here goes to inc_csr, m_axil_*, which has Mode III's registers and all counters, and
//               so does its answer.
//               The same rules hold: 32 bits at a time, no writes to the settings of a group that is enabled, SLVERR outside the map
//   here        PARAM_MODE, PARAM_MESSAGE_BYTES, PARAM_WINDOW_MESSAGES, ACK_EVERY, GROUP_MESSAGES, GROUP_RELEASE, GROUP_REFUSED, and the last
//               three words of an endpoint
//   latency     write response 4 cycles after address and data are both there, 8 of what goes to inc_csr; read data 8 cycles after the address,
//               of what goes to inc_csr 4 more than that takes
//   throughput  one write and one read at a time, independent of each other
//   stall       an answer waits for bready or rready; no further access of its kind is taken meanwhile
//   tables      out_ep_we and out_* are inc_csr's tbl_* and, of the words that are here, its own, in the cycle before the answer
`ifdef INC_RELEASE
//   groups      grp_refused refuses, beside what in_refused does, the start of a group with an illegal path MTU at an endpoint of its
//               masks or at its parent
`else
//   groups      grp_refused refuses, beside what in_refused does, the start of a group with an illegal path MTU at an endpoint of its
//               masks or at its parent, and of one that asks for releases, which are not built
`endif
//   reset       all registers take their reset values; tables are clear when inc_csr has cleared its own
//   not done    no byte writes
`default_nettype none

module inc_message_csr #(
    // bits of a byte address, 16 to 18
    parameter AXIL_W   = 16,
    parameter MESSAGE_BYTES = 4096,
    parameter WINDOW   = 2,
    parameter MTU_BYTES = 1024,
    // the least path MTU
    parameter LEAST    = 256,
    parameter GROUPS   = 2,
    parameter EP_W     = 3,
    parameter EI_W     = 4,
    parameter MASK_W   = 5
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

    output wire [AXIL_W-1:0]       m_axil_awaddr,
    output wire                    m_axil_awvalid,
    input  wire                    m_axil_awready,
    output wire [31:0]             m_axil_wdata,
    output wire [3:0]              m_axil_wstrb,
    output wire                    m_axil_wvalid,
    input  wire                    m_axil_wready,
    input  wire [1:0]              m_axil_bresp,
    input  wire                    m_axil_bvalid,
    output wire                    m_axil_bready,
    output wire [AXIL_W-1:0]       m_axil_araddr,
    output wire                    m_axil_arvalid,
    input  wire                    m_axil_arready,
    input  wire [31:0]             m_axil_rdata,
    input  wire [1:0]              m_axil_rresp,
    input  wire                    m_axil_rvalid,
    output wire                    m_axil_rready,

    // inc_csr's tables are clear
    input  wire                    ready,
    output wire [7:0]              cfg_ack_every,

    // the tables' words, from inc_csr and on
    input  wire                    tbl_ep_we,
    input  wire                    tbl_grp_we,
    input  wire [EI_W-1:0]         tbl_index,
    input  wire [3:0]              tbl_word,
    input  wire [31:0]             tbl_data,
    output wire                    out_ep_we,
    output wire [EI_W-1:0]         out_index,
    output wire [3:0]              out_word,
    output wire [31:0]             out_data,

    input  wire [GROUPS-1:0]       grp_enable,
    input  wire [GROUPS-1:0]       grp_start,
    input  wire [GROUPS-1:0]       in_refused,
    output wire [GROUPS-1:0]       grp_refused,
    // groups of which nothing leaves before its message is complete
    output wire [GROUPS-1:0]       grp_whole,
    input  wire [GROUPS-1:0]       in_overlap,
    output wire [GROUPS-1:0]       grp_overlap,
`ifdef INC_POISON
    // groups that met a double error of the payload memory
    input  wire [GROUPS-1:0]       grp_poisoned,
`endif
`ifdef INC_RELEASE
    // groups whose hosts are sent releases, and the messages of their iterations
    output wire [GROUPS-1:0]       grp_release,
    output wire [GROUPS*23-1:0]    grp_iteration,
`endif
    input  wire [GROUPS*MASK_W-1:0] grp_invalid
);

    localparam GRP_W = EI_W > EP_W ? EI_W - EP_W : 1;
    localparam AT_W  = GROUPS > 1 ? $clog2(GROUPS) : 1;     // bits that tell registers of groups apart
    // contract: registers 1
    localparam F_ACK_EVERY_PACKETS = 0, W_ACK_EVERY_PACKETS = 8, F_GROUP_PARENT_ENDPOINT = 0, W_GROUP_PARENT_ENDPOINT = 8,
               F_GROUP_PARENT_VALID = 31, F_GROUP_MESSAGES_WHOLE_MESSAGES = 0, F_GROUP_MESSAGES_RELEASE = 1,
               F_GROUP_RELEASE_MESSAGES = 0, W_GROUP_RELEASE_MESSAGES = 23, F_GROUP_REFUSED_MASK = 0, F_GROUP_REFUSED_POISONED = 31,
               F_EP_RQ_PSN_PSN = 0, W_EP_RQ_PSN_PSN = 24, F_EP_SQ_PSN_PSN = 0, W_EP_SQ_PSN_PSN = 24, F_EP_PATH_MTU_BYTES = 0,
               W_EP_PATH_MTU_BYTES = 13;
    localparam [3:0] WORD_GROUP_IN_MASK = 4'd4, WORD_GROUP_OUT_MASK = 4'd5, WORD_GROUP_PARENT = 4'd7, WORD_EP_RQ_PSN = 4'd10,
                     WORD_EP_SQ_PSN = 4'd11, WORD_EP_PATH_MTU = 4'd12, NUM_EP_WORDS = 4'd13;
    localparam [7:0] R_ACK_EVERY_PACKETS = 8'd16;
    localparam [15:0] AT_PARAM_MODE = 16'h0002, AT_PARAM_MESSAGE_BYTES = 16'h0012, AT_PARAM_WINDOW_MESSAGES = 16'h0013,
                      AT_ACK_EVERY = 16'h0014, AT_GROUP_MESSAGES = 16'h0880, AT_GROUP_RELEASE = 16'h08C0, AT_GROUP_REFUSED = 16'h0900,
                      AT_EP_CTRL = 16'h2000;
    localparam [31:0] M_EP_RQ_PSN = 32'h00FF_FFFF, M_EP_SQ_PSN = 32'h00FF_FFFF, M_EP_PATH_MTU = 32'h0000_1FFF;
    // contract: end
    // As in inc_csr every array begins at a multiple of the room that it has in the map, endpoints at one of 2**13.
    localparam GROUP_W = 6, ENDPOINT_W = 13;

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 18) begin : gen_bad_axil
            $error("inc_message_csr: AXIL_W must be 16 to 18");
        end
        if (GROUPS < 1 || GROUPS > 64 || EI_W < EP_W || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_message_csr: GROUPS must be 1 to 64 and fit EI_W - EP_W bits");
        end
        if (EP_W < 1 || EP_W > 5 || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_mask
            $error("inc_message_csr: EP_W must be 1 to 5 and MASK_W at most 2**EP_W");
        end
        if (AT_GROUP_MESSAGES[GROUP_W-1:0] != {GROUP_W{1'b0}} || AT_GROUP_RELEASE[GROUP_W-1:0] != {GROUP_W{1'b0}}
            || AT_GROUP_REFUSED[GROUP_W-1:0] != {GROUP_W{1'b0}} || AT_EP_CTRL[ENDPOINT_W-1:0] != {ENDPOINT_W{1'b0}}) begin : gen_bad_map
            $error("inc_message_csr: the arrays of the map must begin at multiples of their room");
        end
    endgenerate
`endif

    localparam [1:0]  OKAY = 2'b00, SLVERR = 2'b10;
    localparam [15:0] N_GROUP = GROUPS[15:0];
    localparam [15:0] END_ENDPOINT = (N_GROUP << EP_W) + (AT_EP_CTRL >> 4);
    localparam [EP_W:0] MASK_COUNT = MASK_W[EP_W:0];

    // what an address leads to, at most one: {endpoint, refused, release, messages, single}
    function [4:0] target(input [15:0] a);
        begin
            target[0] = a == AT_PARAM_MODE || a == AT_PARAM_MESSAGE_BYTES || a == AT_PARAM_WINDOW_MESSAGES || a == AT_ACK_EVERY;
            target[1] = a[15:GROUP_W] == AT_GROUP_MESSAGES[15:GROUP_W] && {10'd0, a[GROUP_W-1:0]} < N_GROUP;
            target[2] = a[15:GROUP_W] == AT_GROUP_RELEASE[15:GROUP_W] && {10'd0, a[GROUP_W-1:0]} < N_GROUP;
            target[3] = a[15:GROUP_W] == AT_GROUP_REFUSED[15:GROUP_W] && {10'd0, a[GROUP_W-1:0]} < N_GROUP;
            target[4] = a[15:ENDPOINT_W] != 3'd0 && {4'd0, a[15:4]} < END_ENDPOINT && a[3:0] >= WORD_EP_RQ_PSN && a[3:0] < NUM_EP_WORDS;
        end
    endfunction

    // the word of an endpoint's record, from the first record on
    function [15:0] endpoint_word(input [15:0] a);
        endpoint_word = {a[15:ENDPOINT_W] - AT_EP_CTRL[15:ENDPOINT_W], a[ENDPOINT_W-1:0]};
    endfunction

    // ---- write ----

    localparam [2:0] W_TAKE = 3'd0, W_LOOK = 3'd1, W_ACT = 3'd2, W_PASS = 3'd3, W_ANSWER = 3'd4;

    reg  [2:0]        w_state;
    reg               aw_full, w_full, passes_aw, passes_w;
    reg  [AXIL_W-1:0] aw_reg;
    reg  [31:0]       w_reg;
    reg  [3:0]        strb_reg;
    reg  [1:0]        b_reg;
    reg  [4:0]        w_to;
    wire [15:0]       waddr   = {{(18-AXIL_W){1'b0}}, aw_reg[AXIL_W-1:2]};
    wire [15:0]       w_word  = endpoint_word(waddr);
    wire [EI_W-1:0]   w_ei    = w_word[4 +: EI_W];
    wire [5:0]        w_group;
    wire [64:0]       enabled = {{(65-GROUPS){1'b0}}, grp_enable};
    wire              w_locked = (w_to[1] || w_to[2] || w_to[4]) && enabled[{1'b0, w_group}];
    reg               w_legal, w_there;        // it may be written, and is a word of an endpoint that there is
    wire              w_does  = w_state == W_ACT && w_legal;
    wire              w_own_ep = w_state == W_ACT && w_there;
    generate
        if (EI_W > EP_W) begin : gen_write_group
            wire [EI_W+5:0] wide_ei = {6'd0, w_ei};
            assign w_group = w_to[4] ? wide_ei[EP_W +: 6] : waddr[5:0];
            wire unused_wide = &{1'b0, wide_ei};
        end else begin : gen_write_one
            assign w_group = w_to[4] ? 6'd0 : waddr[5:0];
        end
    endgenerate

    assign s_axil_awready = ready && w_state == W_TAKE && !aw_full;
    assign s_axil_wready  = ready && w_state == W_TAKE && !w_full;
    assign s_axil_bvalid  = w_state == W_ANSWER;
    assign s_axil_bresp   = b_reg;
    assign m_axil_awaddr  = aw_reg;
    assign m_axil_awvalid = passes_aw;
    assign m_axil_wdata   = w_reg;
    assign m_axil_wstrb   = strb_reg;
    assign m_axil_wvalid  = passes_w;
    assign m_axil_bready  = w_state == W_PASS;

    reg [7:0] ack_every_reg;

    always @(posedge clk) begin
        if (s_axil_awready && s_axil_awvalid) begin
            aw_full <= 1'b1;
            aw_reg  <= s_axil_awaddr;
        end
        if (s_axil_wready && s_axil_wvalid) begin
            w_full   <= 1'b1;
            w_reg    <= s_axil_wdata;
            strb_reg <= s_axil_wstrb;
        end
        if (m_axil_awready) begin
            passes_aw <= 1'b0;
        end
        if (m_axil_wready) begin
            passes_w <= 1'b0;
        end
        case (w_state)
            W_TAKE: begin
                if (aw_full && w_full) begin
                    w_to    <= target(waddr);
                    w_state <= W_LOOK;
                end
            end
            W_LOOK: begin
                w_legal   <= strb_reg == 4'hF && !w_locked;
                w_there   <= strb_reg == 4'hF && !w_locked && w_to[4] && {1'b0, w_ei[EP_W-1:0]} < MASK_COUNT;
                passes_aw <= w_to == 5'd0;
                passes_w  <= w_to == 5'd0;
                w_state   <= w_to == 5'd0 ? W_PASS : W_ACT;
            end
            W_ACT: begin
                b_reg   <= w_does ? OKAY : SLVERR;
                w_state <= W_ANSWER;
            end
            W_PASS: begin
                if (m_axil_bvalid) begin
                    b_reg   <= m_axil_bresp;
                    w_state <= W_ANSWER;
                end
            end
            default: begin
                if (s_axil_bready) begin
                    aw_full <= 1'b0;
                    w_full  <= 1'b0;
                    w_state <= W_TAKE;
                end
            end
        endcase
        if (w_does && w_to[0] && waddr[2:0] == AT_ACK_EVERY[2:0]) begin
            ack_every_reg <= w_reg[F_ACK_EVERY_PACKETS +: W_ACK_EVERY_PACKETS];
        end
        if (rst) begin
            w_state       <= W_TAKE;
            aw_full       <= 1'b0;
            w_full        <= 1'b0;
            passes_aw     <= 1'b0;
            passes_w      <= 1'b0;
            ack_every_reg <= R_ACK_EVERY_PACKETS;
        end
    end

    assign cfg_ack_every = ack_every_reg;

    // ---- the words of endpoints ----

    localparam [31:0] PSN_BITS = M_EP_RQ_PSN | M_EP_SQ_PSN, MTU_BITS = M_EP_PATH_MTU;

    assign out_ep_we = tbl_ep_we || w_own_ep;
    assign out_index = w_own_ep ? w_ei : tbl_index;
    assign out_word  = w_own_ep ? w_word[3:0] : tbl_word;
    assign out_data  = w_own_ep ? w_reg & (w_word[3:0] == WORD_EP_PATH_MTU ? MTU_BITS : PSN_BITS) : tbl_data;

    wire [15:0]     raddr;
    reg  [15:0]     r_word;
    wire [EI_W-1:0] r_ei = r_word[4 +: EI_W];
    reg             r_reads;

    // A table for each, as the blocks have that go by them: so nothing is kept of endpoints that there are none of, and in flip-flops they are
    // the same ones.
    localparam RECORDS = GROUPS * MASK_W > 2 ? GROUPS * MASK_W : 2;
    localparam INDEX_W = $clog2(RECORDS);
    wire [INDEX_W-1:0] out_at, r_at;
    wire               out_there, r_there;
    wire               table_we = out_ep_we && out_there;
    wire [23:0]        rq_psn, sq_psn;
    wire [12:0]        path_mtu;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_out_index (
        .ei(out_index), .index(out_at), .present(out_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_read_index (
        .ei(r_ei), .index(r_at), .present(r_there));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_rq_psn (
        .clk(clk), .we(table_we && out_word == WORD_EP_RQ_PSN), .waddr(out_at), .wdata(out_data[F_EP_RQ_PSN_PSN +: W_EP_RQ_PSN_PSN]),
        .re(r_reads), .raddr(r_at), .rdata(rq_psn));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W)) u_sq_psn (
        .clk(clk), .we(table_we && out_word == WORD_EP_SQ_PSN), .waddr(out_at), .wdata(out_data[F_EP_SQ_PSN_PSN +: W_EP_SQ_PSN_PSN]),
        .re(r_reads), .raddr(r_at), .rdata(sq_psn));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(13), .ADDR_W(INDEX_W)) u_path_mtu (
        .clk(clk), .we(table_we && out_word == WORD_EP_PATH_MTU), .waddr(out_at), .wdata(out_data[F_EP_PATH_MTU_BYTES +: W_EP_PATH_MTU_BYTES]),
        .re(r_reads), .raddr(r_at), .rdata(path_mtu));

    // ---- settings of groups, and which groups may start ----

    wire [GROUPS*MASK_W-1:0] tree;             // endpoints that are some child, hear, or are the parent
    reg  [GROUPS*MASK_W-1:0] fair_reg;         // those with a legal path MTU
    reg  [2*GROUPS-1:0]  messages_reg;
    reg  [23*GROUPS-1:0] release_reg;
    reg  [12:0]       mtu_value;
    wire              mtu_legal = (mtu_value & (mtu_value - 13'd1)) == 13'd0 && mtu_value >= LEAST[12:0] && mtu_value <= MTU_BYTES[12:0];
    wire [GRP_W-1:0]  tbl_group, out_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign tbl_group = tbl_index[GRP_W-1:0];
            assign out_group = out_index[EI_W-1:EP_W];
        end else begin : gen_one_group
            assign {tbl_group, out_group} = 2'd0;
        end
    endgenerate

    // a path MTU is judged a cycle after it was written
    reg               mtu_we_reg;
    reg  [GRP_W-1:0]  mtu_group_reg;
    reg  [EP_W-1:0]   mtu_ep_reg;
    always @(posedge clk) begin
        mtu_we_reg    <= out_ep_we && out_word == WORD_EP_PATH_MTU;
        mtu_group_reg <= out_group;
        mtu_ep_reg    <= out_index[EP_W-1:0];
        mtu_value       <= out_data[F_EP_PATH_MTU_BYTES +: W_EP_PATH_MTU_BYTES];
    end

    genvar g;
    genvar e;
    generate
        for (g = 0; g < GROUPS; g = g + 1) begin : gen_group
            reg [MASK_W-1:0] in_reg, out_reg;
            reg [8:0]        parent_reg;
            wire             here = tbl_grp_we && tbl_group == g[GRP_W-1:0];
`ifdef INC_RELEASE
            assign           grp_release[g] = messages_reg[2*g + F_GROUP_MESSAGES_RELEASE];
            assign           grp_iteration[23*g +: 23] = release_reg[23*g +: 23];
`else
            wire             asks_release = messages_reg[2*g + F_GROUP_MESSAGES_RELEASE];
`endif
            always @(posedge clk) begin
                if (here && tbl_word == WORD_GROUP_IN_MASK) begin
                    in_reg <= tbl_data[MASK_W-1:0];
                end
                if (here && tbl_word == WORD_GROUP_OUT_MASK) begin
                    out_reg <= tbl_data[MASK_W-1:0];
                end
                if (here && tbl_word == WORD_GROUP_PARENT) begin
                    parent_reg <= {tbl_data[F_GROUP_PARENT_VALID], tbl_data[F_GROUP_PARENT_ENDPOINT +: W_GROUP_PARENT_ENDPOINT]};
                end
                if (w_does && w_to[1] && waddr[AT_W-1:0] == g[AT_W-1:0]) begin
                    messages_reg[2*g +: 2] <= w_reg[1:0];
                end
                if (w_does && w_to[2] && waddr[AT_W-1:0] == g[AT_W-1:0]) begin
                    release_reg[23*g +: 23] <= w_reg[F_GROUP_RELEASE_MESSAGES +: W_GROUP_RELEASE_MESSAGES];
                end
                if (rst) begin
                    messages_reg[2*g +: 2] <= 2'd0;
                    release_reg[23*g +: 23] <= 23'd0;
                end
            end
            for (e = 0; e < MASK_W; e = e + 1) begin : gen_endpoint
                localparam [EP_W-1:0] E = e;
                assign tree[MASK_W*g + e] = in_reg[e] || out_reg[e] || (parent_reg[8] && parent_reg[7:0] == e[7:0]);
                always @(posedge clk) begin
                    if (mtu_we_reg && mtu_group_reg == g[GRP_W-1:0] && mtu_ep_reg == E) begin
                        fair_reg[MASK_W*g + e] <= mtu_legal;
                    end
                end
            end
            // decided at the start; inc_csr has the refusal in the next cycle
            reg  illegal_reg, refused_reg;     // in the cycle behind the start; of the start that was the last
`ifdef INC_RELEASE
            wire illegal = (tree[MASK_W*g +: MASK_W] & ~fair_reg[MASK_W*g +: MASK_W]) != {MASK_W{1'b0}};
`else
            wire illegal = asks_release || (tree[MASK_W*g +: MASK_W] & ~fair_reg[MASK_W*g +: MASK_W]) != {MASK_W{1'b0}};
`endif
            always @(posedge clk) begin
                illegal_reg <= grp_start[g] && illegal;
                if (grp_start[g]) begin
                    refused_reg <= illegal;
                end
                if (rst) begin
                    illegal_reg <= 1'b0;
                    refused_reg <= 1'b0;
                end
            end
            assign grp_refused[g] = in_refused[g] || illegal_reg;
            assign grp_whole[g]   = messages_reg[2*g + F_GROUP_MESSAGES_WHOLE_MESSAGES];
            // what is illegal is not looked at for slots of others
            assign grp_overlap[g] = in_overlap[g] && !refused_reg;
        end
    endgenerate

    // ---- read: of what is here too inc_csr reads something, the first register ----

    localparam [2:0] R_TAKE = 3'd0, R_LOOK = 3'd1, R_PASS = 3'd2, R_GIVE = 3'd3, R_ANSWER = 3'd4;

    reg  [2:0]        r_state;
    reg               passes_ar;
    reg  [AXIL_W-1:0] ar_reg;
    reg  [4:0]        r_to;
    reg  [31:0]       r_reg;
    reg  [1:0]        rresp_reg;
    assign raddr  = {{(18-AXIL_W){1'b0}}, ar_reg[AXIL_W-1:2]};

    assign s_axil_arready = ready && r_state == R_TAKE;
    assign s_axil_rvalid  = r_state == R_ANSWER;
    assign s_axil_rdata   = r_reg;
    assign s_axil_rresp   = rresp_reg;
    assign m_axil_araddr  = r_to == 5'd0 ? ar_reg : {AXIL_W{1'b0}};
    assign m_axil_arvalid = passes_ar;
    assign m_axil_rready  = r_state == R_PASS;

    reg [31:0] value;
    integer k;
    always @* begin
        value = 32'd0;
        k     = 0;
        if (r_to[0]) begin
            // they differ in these bits
            case (raddr[4:0])
                AT_PARAM_MODE[4:0]:            value = 32'd1;
                AT_PARAM_MESSAGE_BYTES[4:0]:   value = MESSAGE_BYTES;
                AT_PARAM_WINDOW_MESSAGES[4:0]: value = WINDOW;
                default:                       value[F_ACK_EVERY_PACKETS +: W_ACK_EVERY_PACKETS] = ack_every_reg;
            endcase
        end
        for (k = 0; k < GROUPS; k = k + 1) begin
            if (raddr[AT_W-1:0] == k[AT_W-1:0]) begin
                if (r_to[1]) begin
                    value[1:0] = messages_reg[2*k +: 2];
                end
                if (r_to[2]) begin
                    value[F_GROUP_RELEASE_MESSAGES +: W_GROUP_RELEASE_MESSAGES] = release_reg[23*k +: 23];
                end
                if (r_to[3]) begin
                    value[F_GROUP_REFUSED_MASK +: MASK_W] = grp_invalid[MASK_W*k +: MASK_W];
`ifdef INC_POISON
                    value[F_GROUP_REFUSED_POISONED] = grp_poisoned[k];
`endif
                end
            end
        end
        if (r_to[4] && r_there) begin
            value[23:0] = r_word[3:0] == WORD_EP_RQ_PSN ? rq_psn : r_word[3:0] == WORD_EP_SQ_PSN ? sq_psn : {11'd0, path_mtu};
        end
    end

    always @(posedge clk) begin
        r_reads <= r_state == R_LOOK;
        // there with r_to
        r_word  <= endpoint_word(raddr);
        if (m_axil_arready) begin
            passes_ar <= 1'b0;
        end
        case (r_state)
            R_TAKE: begin
                ar_reg <= s_axil_araddr;
                if (s_axil_arready && s_axil_arvalid) begin
                    r_state <= R_LOOK;
                end
            end
            R_LOOK: begin
                r_to      <= target(raddr);
                passes_ar <= 1'b1;
                r_state   <= R_PASS;
            end
            R_PASS: begin
                r_reg     <= m_axil_rdata;
                rresp_reg <= m_axil_rresp;
                if (m_axil_rvalid) begin
                    r_state <= R_GIVE;
                end
            end
            R_GIVE: begin
                if (r_to != 5'd0) begin
                    r_reg <= value;
                end
                r_state <= R_ANSWER;
            end
            default: begin
                if (s_axil_rready) begin
                    r_state <= R_TAKE;
                end
            end
        endcase
        if (rst) begin
            r_state   <= R_TAKE;
            passes_ar <= 1'b0;
            r_reads   <= 1'b0;
        end
    end

    wire unused_bits = &{1'b0, tbl_index, tbl_data, aw_reg[1:0], ar_reg[1:0], w_word, r_word, out_data, out_index};

endmodule

`default_nettype wire
