// SPDX-License-Identifier: Apache-2.0
//
// inc_vlan_regs: the endpoints' 802.1Q tags and the counter of frames with a wrong one, between the register bus and the other registers.
//
// Contract
//   access      EP_VLAN of the endpoints and the counter behind the last of the other registers' are answered here, all else by
//               whoever is behind m_axil, whose answer comes back as it is. A write with any strobe low, and one to an endpoint of a group
//               that is enabled, is answered SLVERR; one to the counter OKAY, and ignored. What is written for an endpoint that no group
//               has is ignored, and it reads 0. The low two bits of an address are not looked at
//   copy        the counter reads a copy: taken when COUNTER_SNAPSHOT.hold is written 1, and, while that is 0, by every read of a counter's low word
//   latency     write response 2 cycles after address and data are both there, read data 4 cycles after the address; 3 cycles more than it
//               takes there for what is behind m_axil
//   throughput  one write and one read at a time, independent of each other
//   bus         every output of the register bus is a flip-flop; nothing goes from an input to an output in a cycle
//   stall       an answer waits for bready or rready; an access waits while ready is low, a write also in a cycle with clr_we
//   table       what is written leaves on tbl_* in the next cycle; so does the 0 that the other registers write to all words after reset
//   reset       counter 0, nothing under way
//   not done    the copy is taken a few cycles before the other registers take theirs
`default_nettype none

module inc_vlan_regs #(
    // bits of a byte address, 16 to 18
    parameter AXIL_W   = 16,
    // bits of an endpoint's index in its group
    parameter EP_W     = 3,
    // bits of {group, index}
    parameter EI_W     = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W   = 5,
    // groups
    parameter GROUPS   = 2,
    // counters of the other registers, at most 255
    parameter COUNTERS = 46,
    // byte addresses: of the endpoints, a multiple of 2**13; of the counters' low and high words, multiples of 1,024; of COUNTER_SNAPSHOT
    parameter AT_EP           = 32768,
    parameter AT_COUNTER      = 2048,
    parameter AT_COUNTER_HIGH = 3072,
    parameter AT_SNAPSHOT     = 60,
    // word of an endpoint's record, 0 to 15
    parameter WORD     = 13
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [AXIL_W-1:0]      s_axil_awaddr,
    input  wire                   s_axil_awvalid,
    output wire                   s_axil_awready,
    input  wire [31:0]            s_axil_wdata,
    input  wire [3:0]             s_axil_wstrb,
    input  wire                   s_axil_wvalid,
    output wire                   s_axil_wready,
    output wire [1:0]             s_axil_bresp,
    output wire                   s_axil_bvalid,
    input  wire                   s_axil_bready,
    input  wire [AXIL_W-1:0]      s_axil_araddr,
    input  wire                   s_axil_arvalid,
    output wire                   s_axil_arready,
    output wire [31:0]            s_axil_rdata,
    output wire [1:0]             s_axil_rresp,
    output wire                   s_axil_rvalid,
    input  wire                   s_axil_rready,

    output wire [AXIL_W-1:0]      m_axil_awaddr,
    output wire                   m_axil_awvalid,
    input  wire                   m_axil_awready,
    output wire [31:0]            m_axil_wdata,
    output wire [3:0]             m_axil_wstrb,
    output wire                   m_axil_wvalid,
    input  wire                   m_axil_wready,
    input  wire [1:0]             m_axil_bresp,
    input  wire                   m_axil_bvalid,
    output wire                   m_axil_bready,
    output wire [AXIL_W-1:0]      m_axil_araddr,
    output wire                   m_axil_arvalid,
    input  wire                   m_axil_arready,
    input  wire [31:0]            m_axil_rdata,
    input  wire [1:0]             m_axil_rresp,
    input  wire                   m_axil_rvalid,
    output wire                   m_axil_rready,

    // the other registers: whether they take accesses, which groups are enabled, what they write to their tables
    input  wire                   ready,
    input  wire [GROUPS-1:0]      grp_enable,
    input  wire                   clr_we,
    input  wire [EI_W-1:0]        clr_index,
    input  wire [3:0]             clr_word,

    // a frame was dropped for its tag
    input  wire                   dropped,

    // {check_pcp, tagged, PCP, VID} of an endpoint
    output reg                    tbl_we,
    output reg  [EI_W-1:0]        tbl_index,
    output reg  [16:0]            tbl_data
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 18) begin : gen_bad_axil
            $error("inc_vlan_regs: AXIL_W must be 16 to 18");
        end
        if (EP_W < 1 || EP_W > 5 || EI_W < EP_W || EI_W > 11 || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_index
            $error("inc_vlan_regs: EP_W must be 1 to 5, EI_W EP_W to 11, MASK_W at most 2**EP_W");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W)) || GROUPS * MASK_W < 2) begin : gen_bad_groups
            $error("inc_vlan_regs: GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least");
        end
        if (COUNTERS < 1 || COUNTERS > 255) begin : gen_bad_counters
            $error("inc_vlan_regs: COUNTERS must be 1 to 255");
        end
        if (WORD < 0 || WORD > 15) begin : gen_bad_word
            $error("inc_vlan_regs: WORD must be 0 to 15");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    // ---- where an address leads, in words ----

    localparam [15:0] EP_WORDS = AT_EP[17:2], LOW = AT_COUNTER[17:2], HIGH = AT_COUNTER_HIGH[17:2], SNAPSHOT = AT_SNAPSHOT[17:2];
    localparam [15:0] LAST  = COUNTERS[15:0];
    localparam [3:0]  FIELD = WORD[3:0];
    localparam [EP_W:0]  MASK_COUNT = MASK_W[EP_W:0];
    localparam ENDPOINTS = GROUPS << EP_W;
    localparam [11:0] NUM_ENDPOINTS = ENDPOINTS[11:0];

    function [15:0] word_of(input [AXIL_W-3:0] a);
        word_of = {{(18-AXIL_W){1'b0}}, a};
    endfunction
    // an endpoint's number, with EP_VLAN's place
    function [15:0] endpoint_of(input [15:0] w);
        endpoint_of = w - EP_WORDS;
    endfunction
    function is_endpoint(input [15:0] w);
        is_endpoint = w >= EP_WORDS && w[3:0] == FIELD && {4'd0, w[15:4]} < {4'd0, EP_WORDS[15:4]} + {4'd0, NUM_ENDPOINTS};
    endfunction
    function is_here(input [15:0] w);
        is_here = is_endpoint(w) || w == LOW + LAST || w == HIGH + LAST;
    endfunction

    // ---- the counter ----

    reg        hold_reg;
    reg [63:0] counter_reg;
    reg [63:0] copy_reg;
    wire       copies;
    always @(posedge clk) begin
        if (dropped) begin
            counter_reg <= counter_reg + 64'd1;
        end
        if (copies) begin
            copy_reg <= counter_reg;
        end
        if (rst) begin
            counter_reg <= 64'd0;
            copy_reg    <= 64'd0;
        end
    end

    // Writes: address and data are collected, then answered here or passed on.
    localparam [1:0] W_IDLE = 2'd0, W_SENT = 2'd1, W_ANSWER = 2'd2;
    reg [1:0]        w_state_reg;
    reg              aw_have_reg, w_have_reg;
    reg [AXIL_W-1:0] aw_reg;
    reg [31:0]       w_data_reg;
    reg [3:0]        w_strb_reg;
    reg              m_aw_reg, m_w_reg;
    reg [1:0]        b_reg;
    reg              on_reg;

    assign s_axil_awready = on_reg && !aw_have_reg;
    assign s_axil_wready  = on_reg && !w_have_reg;
    assign s_axil_bvalid  = w_state_reg == W_ANSWER;
    assign s_axil_bresp   = b_reg;
    assign m_axil_awaddr  = aw_reg;
    assign m_axil_wdata   = w_data_reg;
    assign m_axil_wstrb   = w_strb_reg;
    assign m_axil_awvalid = m_aw_reg;
    assign m_axil_wvalid  = m_w_reg;
    assign m_axil_bready  = w_state_reg == W_SENT;

    wire [15:0] w_word   = word_of(aw_reg[AXIL_W-1:2]);
    wire [15:0] w_at     = endpoint_of(w_word);
    wire        w_ep     = is_endpoint(w_word);
    wire        w_exists = {1'b0, w_at[4 +: EP_W]} < MASK_COUNT;
    // what inc_csr clears last after a reset it clears in a cycle in which it is ready
    wire        w_begins = w_state_reg == W_IDLE && aw_have_reg && w_have_reg && ready && !clr_we;
    wire        w_takes  = w_begins && w_strb_reg == 4'hF;
    wire        w_holds  = w_takes && w_word == SNAPSHOT;
    wire [15:0] w_group  = w_at >> (4 + EP_W);
    reg         w_locked;
    integer     g;
    always @* begin
        w_locked = 1'b0;
        for (g = 0; g < GROUPS; g = g + 1) begin
            if (w_group == g[15:0]) begin
                w_locked = grp_enable[g];
            end
        end
    end

    always @(posedge clk) begin
        tbl_we    <= (w_takes && w_ep && w_exists && !w_locked) || (clr_we && clr_word == FIELD);
        tbl_index <= clr_we ? clr_index : w_at[4 +: EI_W];
        tbl_data  <= clr_we ? 17'd0 : w_data_reg[16:0];
        if (w_holds) begin
            hold_reg <= w_data_reg[0];
        end
        on_reg <= 1'b1;
        if (s_axil_awvalid && s_axil_awready) begin
            aw_have_reg <= 1'b1;
            aw_reg      <= s_axil_awaddr;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            w_have_reg <= 1'b1;
            w_data_reg <= s_axil_wdata;
            w_strb_reg <= s_axil_wstrb;
        end
        case (w_state_reg)
            W_IDLE: begin
                if (w_begins) begin
                    if (is_here(w_word)) begin
                        b_reg       <= w_strb_reg == 4'hF && !(w_ep && w_locked) ? OKAY : SLVERR;
                        w_state_reg <= W_ANSWER;
                    end else begin
                        m_aw_reg    <= 1'b1;
                        m_w_reg     <= 1'b1;
                        w_state_reg <= W_SENT;
                    end
                end
            end
            W_SENT: begin
                if (m_axil_awready) begin
                    m_aw_reg <= 1'b0;
                end
                if (m_axil_wready) begin
                    m_w_reg <= 1'b0;
                end
                if (m_axil_bvalid) begin
                    b_reg       <= m_axil_bresp;
                    w_state_reg <= W_ANSWER;
                end
            end
            default: begin
                if (s_axil_bready) begin
                    aw_have_reg <= 1'b0;
                    w_have_reg  <= 1'b0;
                    w_state_reg <= W_IDLE;
                end
            end
        endcase

        if (rst) begin
            tbl_we      <= 1'b0;
            hold_reg    <= 1'b0;
            on_reg      <= 1'b0;
            aw_have_reg <= 1'b0;
            w_have_reg  <= 1'b0;
            m_aw_reg    <= 1'b0;
            m_w_reg     <= 1'b0;
            w_state_reg <= W_IDLE;
        end
    end

    // Reads: of a tag in two steps, as it lies in a memory.
    localparam [2:0] R_IDLE = 3'd0, R_SENT = 3'd1, R_TABLE = 3'd2, R_FOUND = 3'd3, R_ANSWER = 3'd4;
    localparam RECORDS = GROUPS * MASK_W;
    localparam INDEX_W = $clog2(RECORDS);
    reg [2:0]          r_state_reg;
    reg                ar_have_reg;
    reg [AXIL_W-1:0]   ar_reg;
    reg                m_ar_reg;
    reg [31:0]         r_data_reg;
    reg [1:0]          r_resp_reg;
    wire [15:0]        r_word  = word_of(ar_reg[AXIL_W-1:2]);
    wire [15:0]        r_at    = endpoint_of(r_word);
    wire               r_takes = r_state_reg == R_IDLE && ar_have_reg && ready;
    wire               r_low   = r_word[15:8] == LOW[15:8] && {8'd0, r_word[7:0]} <= LAST;

    assign s_axil_arready = on_reg && !ar_have_reg;
    assign s_axil_rvalid  = r_state_reg == R_ANSWER;
    assign s_axil_rdata   = r_data_reg;
    assign s_axil_rresp   = r_resp_reg;
    assign m_axil_araddr  = ar_reg;
    assign m_axil_arvalid = m_ar_reg;
    assign m_axil_rready  = r_state_reg == R_SENT;
    assign copies         = (w_holds && w_data_reg[0]) || (r_takes && r_low && !hold_reg);

    wire [INDEX_W-1:0] rd_at, wr_at;
    wire               rd_there, wr_there;
    wire [16:0]        record;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_rd_index (
        .ei(r_at[4 +: EI_W]), .index(rd_at), .present(rd_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_wr_index (
        .ei(tbl_index), .index(wr_at), .present(wr_there));
    inc_ram_1r1w #(.WORDS(RECORDS), .BITS(17), .ADDR_W(INDEX_W)) u_table (
        .clk(clk), .we(tbl_we && wr_there), .waddr(wr_at), .wdata(tbl_data), .re(r_state_reg == R_TABLE), .raddr(rd_at), .rdata(record));

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have_reg <= 1'b1;
            ar_reg      <= s_axil_araddr;
        end
        case (r_state_reg)
            R_IDLE: begin
                if (r_takes) begin
                    if (is_here(r_word)) begin
                        r_state_reg <= R_TABLE;
                    end else begin
                        m_ar_reg    <= 1'b1;
                        r_state_reg <= R_SENT;
                    end
                end
            end
            R_SENT: begin
                if (m_axil_arready) begin
                    m_ar_reg <= 1'b0;
                end
                if (m_axil_rvalid) begin
                    r_data_reg  <= m_axil_rdata;
                    r_resp_reg  <= m_axil_rresp;
                    r_state_reg <= R_ANSWER;
                end
            end
            R_TABLE: begin
                r_state_reg <= R_FOUND;
            end
            R_FOUND: begin
                r_data_reg  <= r_word == HIGH + LAST ? copy_reg[63:32] : r_word == LOW + LAST ? copy_reg[31:0]
                             : rd_there ? {15'd0, record} : 32'd0;
                r_resp_reg  <= OKAY;
                r_state_reg <= R_ANSWER;
            end
            default: begin
                if (s_axil_rready) begin
                    ar_have_reg <= 1'b0;
                    r_state_reg <= R_IDLE;
                end
            end
        endcase

        if (rst) begin
            ar_have_reg <= 1'b0;
            m_ar_reg    <= 1'b0;
            r_state_reg <= R_IDLE;
        end
    end

    wire unused_bits = &{1'b0, aw_reg[1:0], ar_reg[1:0], w_at, r_at};

endmodule

`default_nettype wire
