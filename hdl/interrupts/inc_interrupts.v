// SPDX-License-Identifier: Apache-2.0
//
// inc_interrupts: the registers of an interrupt line: what happened, what of it raises the line, and what software has seen.
//
// Contract
//   registers   word 0 of the page CAUSE: a bit a cause, set by its event, read only. Word 1 ENABLE: the causes that raise the line. Word 2
//               CLEAR: a bit written 1 clears its cause; reads 0
//   order       an event in the cycle in which its cause is cleared stays
//   line        high while a cause is set and enabled
//   latency     an event … its cause 1 cycle, the line 2; CLEAR or ENABLE written … the line 2 cycles behind the write response at most
//   throughput  an event of each cause a cycle
//   access      as inc_page: all that is not of the page is answered by whoever is behind m_axil
//   stall       none
//   reset       no cause, none enabled, line low
//   not done    events are not counted here
`default_nettype none

module inc_interrupts #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // number of the page of 16 bytes
    parameter PAGE   = 640,
    // causes, 1 to 32
    parameter CAUSES = 9
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

    // high for a cycle in which it happens
    input  wire [CAUSES-1:0]      events,
    output wire                   irq
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_interrupts: AXIL_W must be 16 to 22");
        end
        if (PAGE < 0 || PAGE >= (1 << (AXIL_W - 4))) begin : gen_bad_page
            $error("inc_interrupts: PAGE must be one of the pages of AXIL_W bits");
        end
        if (CAUSES < 1 || CAUSES > 32) begin : gen_bad_causes
            $error("inc_interrupts: CAUSES must be 1 to 32");
        end
    endgenerate
`endif

    localparam [1:0] W_CAUSE = 2'd0, W_ENABLE = 2'd1, W_CLEAR = 2'd2;

    wire        we;
    wire [1:0]  wword, rword;
    wire [31:0] wdata;
    reg  [CAUSES-1:0] cause_reg, enable_reg;
    reg               irq_reg;
    reg  [31:0]       shown;

    inc_page #(.AXIL_W(AXIL_W), .PAGE_W(4), .PAGE(PAGE)) u_page (
        .clk            (clk),
        .rst            (rst),
        .s_axil_awaddr  (s_axil_awaddr),
        .s_axil_awvalid (s_axil_awvalid),
        .s_axil_awready (s_axil_awready),
        .s_axil_wdata   (s_axil_wdata),
        .s_axil_wstrb   (s_axil_wstrb),
        .s_axil_wvalid  (s_axil_wvalid),
        .s_axil_wready  (s_axil_wready),
        .s_axil_bresp   (s_axil_bresp),
        .s_axil_bvalid  (s_axil_bvalid),
        .s_axil_bready  (s_axil_bready),
        .s_axil_araddr  (s_axil_araddr),
        .s_axil_arvalid (s_axil_arvalid),
        .s_axil_arready (s_axil_arready),
        .s_axil_rdata   (s_axil_rdata),
        .s_axil_rresp   (s_axil_rresp),
        .s_axil_rvalid  (s_axil_rvalid),
        .s_axil_rready  (s_axil_rready),
        .m_axil_awaddr  (m_axil_awaddr),
        .m_axil_awvalid (m_axil_awvalid),
        .m_axil_awready (m_axil_awready),
        .m_axil_wdata   (m_axil_wdata),
        .m_axil_wstrb   (m_axil_wstrb),
        .m_axil_wvalid  (m_axil_wvalid),
        .m_axil_wready  (m_axil_wready),
        .m_axil_bresp   (m_axil_bresp),
        .m_axil_bvalid  (m_axil_bvalid),
        .m_axil_bready  (m_axil_bready),
        .m_axil_araddr  (m_axil_araddr),
        .m_axil_arvalid (m_axil_arvalid),
        .m_axil_arready (m_axil_arready),
        .m_axil_rdata   (m_axil_rdata),
        .m_axil_rresp   (m_axil_rresp),
        .m_axil_rvalid  (m_axil_rvalid),
        .m_axil_rready  (m_axil_rready),
        .we             (we),
        .wword          (wword),
        .wdata          (wdata),
        .exists         (wword != 2'd3),
        .rword          (rword),
        .rdata          (shown),
        .known          (rword != 2'd3)
    );

    assign irq = irq_reg;

    always @* begin
        shown = 32'd0;
        if (rword == W_CAUSE) begin
            shown[CAUSES-1:0] = cause_reg;
        end
        if (rword == W_ENABLE) begin
            shown[CAUSES-1:0] = enable_reg;
        end
    end

    always @(posedge clk) begin
        cause_reg <= events | (cause_reg & ~(wdata[CAUSES-1:0] & {CAUSES{we && wword == W_CLEAR}}));
        if (we && wword == W_ENABLE) begin
            enable_reg <= wdata[CAUSES-1:0];
        end
        irq_reg <= |(cause_reg & enable_reg);

        if (rst) begin
            cause_reg  <= {CAUSES{1'b0}};
            enable_reg <= {CAUSES{1'b0}};
            irq_reg    <= 1'b0;
        end
    end

    generate
        if (CAUSES < 32) begin : gen_unused
            wire unused_bits = &{1'b0, wdata[31:CAUSES]};
        end
    endgenerate

endmodule

`default_nettype wire
