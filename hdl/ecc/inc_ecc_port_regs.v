// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_port_regs: the registers of the memories of the ports' queues: how many words were corrected and lost, by port.
//
// Contract
//   registers   word p of the page CORRECTED: reads of port p's queues that were corrected, modulo 2**32; word 32 + p LOST: those that could not be. All
//               read only: a write is answered OKAY and does nothing
//   latency     a read of a queue's memory to its counter 1 cycle
//   throughput  a read of each port a cycle: two of one port in one cycle are one
//   access      as inc_page: all that is not of the page is answered by whoever is behind m_axil
//   stall       none
//   reset       counters 0
//   not done    does not say which queue of a port it was
`default_nettype none

module inc_ecc_port_regs #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // number of the page of 256 bytes
    parameter PAGE   = 74,
    // number of ports, 1 to 32
    parameter PORTS  = 4
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

    // high for a cycle each, by port
    input  wire [PORTS-1:0]       fixed,
    input  wire [PORTS-1:0]       lost
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_ecc_port_regs: AXIL_W must be 16 to 22");
        end
        if (PAGE < 0 || PAGE >= (1 << (AXIL_W - 8))) begin : gen_bad_page
            $error("inc_ecc_port_regs: PAGE must be one of the pages of AXIL_W bits");
        end
        if (PORTS < 1 || PORTS > 32) begin : gen_bad_ports
            $error("inc_ecc_port_regs: PORTS must be 1 to 32");
        end
    endgenerate
`endif

    localparam [5:0] COUNT = PORTS[5:0];

    wire        we;
    wire [5:0]  wword, rword;
    wire [31:0] wdata;
    wire        unused_bits = &{1'b0, we, wdata, wword[5]};

    // a word of the page stands for two cycles: the port's counters are chosen in the first
    reg  [31:0] fixed_shown, lost_shown;
    reg  [31:0] shown_reg;

    inc_page #(.AXIL_W(AXIL_W), .PAGE_W(8), .PAGE(PAGE)) u_page (
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
        .exists         ({1'b0, wword[4:0]} < COUNT),
        .rword          (rword),
        .rdata          (shown_reg),
        .known          ({1'b0, rword[4:0]} < COUNT)
    );

    wire [32*PORTS-1:0] fixed_count, lost_count;
    genvar g;
    generate
        for (g = 0; g < PORTS; g = g + 1) begin : gen_port
            reg [31:0] fixed_reg, lost_reg;
            assign fixed_count[32*g +: 32] = fixed_reg;
            assign lost_count[32*g +: 32]  = lost_reg;
            always @(posedge clk) begin
                if (fixed[g]) begin
                    fixed_reg <= fixed_reg + 32'd1;
                end
                if (lost[g]) begin
                    lost_reg <= lost_reg + 32'd1;
                end
                if (rst) begin
                    fixed_reg <= 32'd0;
                    lost_reg  <= 32'd0;
                end
            end
        end
    endgenerate

    integer p;
    always @* begin
        fixed_shown = 32'd0;
        lost_shown  = 32'd0;
        for (p = 0; p < PORTS; p = p + 1) begin
            if (rword[4:0] == p[4:0]) begin
                fixed_shown = fixed_count[32*p +: 32];
                lost_shown  = lost_count[32*p +: 32];
            end
        end
    end

    always @(posedge clk) begin
        shown_reg <= rword[5] ? lost_shown : fixed_shown;
    end

endmodule

`default_nettype wire
