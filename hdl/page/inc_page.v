// SPDX-License-Identifier: Apache-2.0
//
// inc_page: a page of registers before others on the register bus. It speaks the bus's protocol; what the registers are says who has it inside.
//
// Contract
//   access      addresses of the page, PAGE * 2**PAGE_W bytes on, are answered here, all others by whoever is behind m_axil, whose answer comes
//               back as it is. A write with any strobe low, and an access for which there is no register, is answered SLVERR and does nothing.
//               The low two bits of an address are not looked at
//   write       `we` is high for one cycle with the word's number and its data, if `exists` is high for that number
//   read        the word's number stands for two cycles; `rdata` and `known` are taken at the end of the second, so that they may come from a flip-flop
//   latency     write response 2 cycles after address and data are both there, read data 4 cycles after the address; 3 cycles more than it
//               takes there for what is behind m_axil
//   throughput  one write and one read at a time, independent of each other
//   bus         every output of the register bus is a flip-flop; nothing goes from an input to an output in a cycle
//   stall       an answer waits for bready or rready
//   reset       nothing under way
//   not done    one read and one write at a time reach m_axil
`default_nettype none

module inc_page #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // log2 of the page's bytes, 3 to 12, and its number
    parameter PAGE_W = 8,
    parameter PAGE   = 40
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

    // the registers of the page, by the number of their word
    output wire                   we,
    output wire [PAGE_W-3:0]      wword,
    output wire [31:0]            wdata,
    input  wire                   exists,
    output wire [PAGE_W-3:0]      rword,
    input  wire [31:0]            rdata,
    input  wire                   known
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_page: AXIL_W must be 16 to 22");
        end
        if (PAGE_W < 3 || PAGE_W > 12) begin : gen_bad_page_w
            $error("inc_page: PAGE_W must be 3 to 12");
        end
        if (PAGE < 0 || PAGE >= (1 << (AXIL_W - PAGE_W))) begin : gen_bad_page
            $error("inc_page: PAGE must be one of the pages of AXIL_W bits");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
    localparam [AXIL_W-PAGE_W-1:0] HERE = PAGE[AXIL_W-PAGE_W-1:0];

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

    wire w_all  = w_state_reg == W_IDLE && aw_have_reg && w_have_reg;
    wire w_here = aw_reg[AXIL_W-1:PAGE_W] == HERE;
    wire w_ok   = exists && w_strb_reg == 4'hF;

    assign we    = w_all && w_here && w_ok;
    assign wword = aw_reg[PAGE_W-1:2];
    assign wdata = w_data_reg;

    always @(posedge clk) begin
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
                if (w_all && w_here) begin
                    b_reg       <= w_ok ? OKAY : SLVERR;
                    w_state_reg <= W_ANSWER;
                end else if (w_all) begin
                    m_aw_reg    <= 1'b1;
                    m_w_reg     <= 1'b1;
                    w_state_reg <= W_SENT;
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
            on_reg      <= 1'b0;
            aw_have_reg <= 1'b0;
            w_have_reg  <= 1'b0;
            m_aw_reg    <= 1'b0;
            m_w_reg     <= 1'b0;
            w_state_reg <= W_IDLE;
        end
    end

    // Reads: likewise; what is here has a cycle to be found.
    localparam [2:0] R_IDLE = 3'd0, R_SENT = 3'd1, R_FIND = 3'd2, R_TAKE = 3'd3, R_ANSWER = 3'd4;
    reg [2:0]        r_state_reg;
    reg              ar_have_reg;
    reg [AXIL_W-1:0] ar_reg;
    reg              m_ar_reg;
    reg [31:0]       r_data_reg;
    reg [1:0]        r_resp_reg;

    assign s_axil_arready = on_reg && !ar_have_reg;
    assign s_axil_rvalid  = r_state_reg == R_ANSWER;
    assign s_axil_rdata   = r_data_reg;
    assign s_axil_rresp   = r_resp_reg;
    assign m_axil_araddr  = ar_reg;
    assign m_axil_arvalid = m_ar_reg;
    assign m_axil_rready  = r_state_reg == R_SENT;
    assign rword          = ar_reg[PAGE_W-1:2];

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have_reg <= 1'b1;
            ar_reg      <= s_axil_araddr;
        end
        case (r_state_reg)
            R_IDLE: begin
                if (ar_have_reg && ar_reg[AXIL_W-1:PAGE_W] == HERE) begin
                    r_state_reg <= R_FIND;
                end else if (ar_have_reg) begin
                    m_ar_reg    <= 1'b1;
                    r_state_reg <= R_SENT;
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
            R_FIND: begin
                r_state_reg <= R_TAKE;
            end
            R_TAKE: begin
                r_data_reg  <= known ? rdata : 32'd0;
                r_resp_reg  <= known ? OKAY : SLVERR;
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

endmodule

`default_nettype wire
