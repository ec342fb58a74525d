// SPDX-License-Identifier: Apache-2.0
//
// u250: a switch of two ports of 100 Gbit/s on an Alveo U250: both QSFP28 cages, an engine at 250 MHz, its registers behind JTAG.
//
// Ports: the board's. Light 0 and 1: cage 0 and 1 is up; 2: the interrupt line; a JTAG master polls IRQ_CAUSE. The engine is
// u250_switch, generated (README.md). Latency: the switch's.
`default_nettype none

module u250 (
    input  wire       clk_300_p,
    input  wire       clk_300_n,
    input  wire [3:0] qsfp0_rx_p,
    input  wire [3:0] qsfp0_rx_n,
    output wire [3:0] qsfp0_tx_p,
    output wire [3:0] qsfp0_tx_n,
    input  wire       qsfp0_refclk_p,
    input  wire       qsfp0_refclk_n,
    output wire       qsfp0_modsell,
    output wire       qsfp0_resetl,
    output wire       qsfp0_lpmode,
    output wire       qsfp0_refclk_reset,
    output wire [1:0] qsfp0_fs,
    input  wire [3:0] qsfp1_rx_p,
    input  wire [3:0] qsfp1_rx_n,
    output wire [3:0] qsfp1_tx_p,
    output wire [3:0] qsfp1_tx_n,
    input  wire       qsfp1_refclk_p,
    input  wire       qsfp1_refclk_n,
    output wire       qsfp1_modsell,
    output wire       qsfp1_resetl,
    output wire       qsfp1_lpmode,
    output wire       qsfp1_refclk_reset,
    output wire [1:0] qsfp1_fs,
    output wire [2:0] led
);

    // 300 MHz in, 250 MHz for the engine and 100 MHz for what starts the transceivers: 300 / 3 * 10 = 1,000 MHz inside.
    wire clk_300, feedback, made_250, made_100, clk, init_clk, locked;

    IBUFDS u_clk_in (.I(clk_300_p), .IB(clk_300_n), .O(clk_300));

    MMCME4_BASE #(
        .CLKIN1_PERIOD    (3.333),
        .DIVCLK_DIVIDE    (3),
        .CLKFBOUT_MULT_F  (10.0),
        .CLKOUT0_DIVIDE_F (4.0),
        .CLKOUT1_DIVIDE   (10)
    ) u_clocks (
        .CLKIN1   (clk_300),
        .CLKFBIN  (feedback),
        .CLKFBOUT (feedback),
        .CLKOUT0  (made_250),
        .CLKOUT1  (made_100),
        .LOCKED   (locked),
        .RST      (1'b0),
        .PWRDWN   (1'b0)
    );

    BUFG u_clk (.I(made_250), .O(clk));
    BUFG u_init_clk (.I(made_100), .O(init_clk));

    // Resets rise at once and fall in their clock.
    (* ASYNC_REG = "TRUE" *) reg [2:0] rst_reg;
    (* ASYNC_REG = "TRUE" *) reg [2:0] init_rst_reg;

    always @(posedge clk or negedge locked) begin
        if (!locked) begin
            rst_reg <= 3'b111;
        end else begin
            rst_reg <= {rst_reg[1:0], 1'b0};
        end
    end

    always @(posedge init_clk or negedge locked) begin
        if (!locked) begin
            init_rst_reg <= 3'b111;
        end else begin
            init_rst_reg <= {init_rst_reg[1:0], 1'b0};
        end
    end

    wire         clk_p0, pause0, high0, up0, mon_end0, mon_drop0;
    wire [511:0] in0_tdata, out0_tdata;
    wire [63:0]  in0_tkeep, out0_tkeep;
    wire         in0_tvalid, in0_tready, in0_tlast, in0_tuser, out0_tvalid, out0_tready, out0_tlast;
    wire         clk_p1, pause1, high1, up1, mon_end1, mon_drop1;
    wire [511:0] in1_tdata, out1_tdata;
    wire [63:0]  in1_tkeep, out1_tkeep;
    wire         in1_tvalid, in1_tready, in1_tlast, in1_tuser, out1_tvalid, out1_tready, out1_tlast;

    wire [31:0] awaddr, wdata, araddr, rdata;
    wire [3:0]  wstrb;
    wire [1:0]  bresp, rresp;
    wire        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [2:0]  awprot, arprot;
    wire        irq, mon_valid;
    wire        mon_port;
    wire        unused_bits = &{1'b0, awprot, arprot, awaddr[31:16], araddr[31:16], mon_valid, mon_port, mon_end0, mon_drop0, mon_end1, mon_drop1};

    jtag_axi_0 u_jtag (
        .aclk           (clk),
        .aresetn        (!rst_reg[2]),
        .m_axi_awprot   (awprot),
        .m_axi_arprot   (arprot),
        .m_axi_awaddr   (awaddr),
        .m_axi_awvalid  (awvalid),
        .m_axi_awready  (awready),
        .m_axi_wdata    (wdata),
        .m_axi_wstrb    (wstrb),
        .m_axi_wvalid   (wvalid),
        .m_axi_wready   (wready),
        .m_axi_bresp    (bresp),
        .m_axi_bvalid   (bvalid),
        .m_axi_bready   (bready),
        .m_axi_araddr   (araddr),
        .m_axi_arvalid  (arvalid),
        .m_axi_arready  (arready),
        .m_axi_rdata    (rdata),
        .m_axi_rresp    (rresp),
        .m_axi_rvalid   (rvalid),
        .m_axi_rready   (rready)
    );

    u250_switch u_switch (
        .clk                (clk),
        .rst                (rst_reg[2]),
        .s_axil_awaddr    (awaddr[15:0]),
        .s_axil_awvalid   (awvalid),
        .s_axil_awready   (awready),
        .s_axil_wdata     (wdata),
        .s_axil_wstrb     (wstrb),
        .s_axil_wvalid    (wvalid),
        .s_axil_wready    (wready),
        .s_axil_bresp     (bresp),
        .s_axil_bvalid    (bvalid),
        .s_axil_bready    (bready),
        .s_axil_araddr    (araddr[15:0]),
        .s_axil_arvalid   (arvalid),
        .s_axil_arready   (arready),
        .s_axil_rdata     (rdata),
        .s_axil_rresp     (rresp),
        .s_axil_rvalid    (rvalid),
        .s_axil_rready    (rready),
        .clk_p0             (clk_p0),
        .s_axis_p0_tdata    (in0_tdata),
        .s_axis_p0_tkeep    (in0_tkeep),
        .s_axis_p0_tvalid   (in0_tvalid),
        .s_axis_p0_tready   (in0_tready),
        .s_axis_p0_tlast    (in0_tlast),
        .s_axis_p0_tuser    (in0_tuser),
        .m_axis_p0_tdata    (out0_tdata),
        .m_axis_p0_tkeep    (out0_tkeep),
        .m_axis_p0_tvalid   (out0_tvalid),
        .m_axis_p0_tready   (out0_tready),
        .m_axis_p0_tlast    (out0_tlast),
        .port_pause_p0      (pause0),
        .port_high_p0       (high0),
        .mon_rx_end_p0      (mon_end0),
        .mon_rx_drop_p0     (mon_drop0),
        .clk_p1             (clk_p1),
        .s_axis_p1_tdata    (in1_tdata),
        .s_axis_p1_tkeep    (in1_tkeep),
        .s_axis_p1_tvalid   (in1_tvalid),
        .s_axis_p1_tready   (in1_tready),
        .s_axis_p1_tlast    (in1_tlast),
        .s_axis_p1_tuser    (in1_tuser),
        .m_axis_p1_tdata    (out1_tdata),
        .m_axis_p1_tkeep    (out1_tkeep),
        .m_axis_p1_tvalid   (out1_tvalid),
        .m_axis_p1_tready   (out1_tready),
        .m_axis_p1_tlast    (out1_tlast),
        .port_pause_p1      (pause1),
        .port_high_p1       (high1),
        .mon_rx_end_p1      (mon_end1),
        .mon_rx_drop_p1     (mon_drop1),
        .mon_valid          (mon_valid),
        .mon_port           (mon_port),
        .irq                (irq)
    );

    u250_qsfp0 u_qsfp0 (
        .rx_p          (qsfp0_rx_p),
        .rx_n          (qsfp0_rx_n),
        .tx_p          (qsfp0_tx_p),
        .tx_n          (qsfp0_tx_n),
        .refclk_p      (qsfp0_refclk_p),
        .refclk_n      (qsfp0_refclk_n),
        .init_clk      (init_clk),
        .init_rst      (init_rst_reg[2]),
        .port_clk      (clk_p0),
        .m_axis_tdata  (in0_tdata),
        .m_axis_tkeep  (in0_tkeep),
        .m_axis_tvalid (in0_tvalid),
        .m_axis_tready (in0_tready),
        .m_axis_tlast  (in0_tlast),
        .m_axis_tuser  (in0_tuser),
        .s_axis_tdata  (out0_tdata),
        .s_axis_tkeep  (out0_tkeep),
        .s_axis_tvalid (out0_tvalid),
        .s_axis_tready (out0_tready),
        .s_axis_tlast  (out0_tlast),
        .port_pause    (pause0),
        .port_high     (high0),
        .up            (up0)
    );

    assign qsfp0_modsell      = 1'b0;
    assign qsfp0_resetl       = 1'b1;
    assign qsfp0_lpmode       = 1'b0;
    assign qsfp0_refclk_reset = 1'b0;
    assign qsfp0_fs           = 2'b10;    // 161.1328125 MHz

    u250_qsfp1 u_qsfp1 (
        .rx_p          (qsfp1_rx_p),
        .rx_n          (qsfp1_rx_n),
        .tx_p          (qsfp1_tx_p),
        .tx_n          (qsfp1_tx_n),
        .refclk_p      (qsfp1_refclk_p),
        .refclk_n      (qsfp1_refclk_n),
        .init_clk      (init_clk),
        .init_rst      (init_rst_reg[2]),
        .port_clk      (clk_p1),
        .m_axis_tdata  (in1_tdata),
        .m_axis_tkeep  (in1_tkeep),
        .m_axis_tvalid (in1_tvalid),
        .m_axis_tready (in1_tready),
        .m_axis_tlast  (in1_tlast),
        .m_axis_tuser  (in1_tuser),
        .s_axis_tdata  (out1_tdata),
        .s_axis_tkeep  (out1_tkeep),
        .s_axis_tvalid (out1_tvalid),
        .s_axis_tready (out1_tready),
        .s_axis_tlast  (out1_tlast),
        .port_pause    (pause1),
        .port_high     (high1),
        .up            (up1)
    );

    assign qsfp1_modsell      = 1'b0;
    assign qsfp1_resetl       = 1'b1;
    assign qsfp1_lpmode       = 1'b0;
    assign qsfp1_refclk_reset = 1'b0;
    assign qsfp1_fs           = 2'b10;    // 161.1328125 MHz

    // Lights are slow and their clocks are three: nothing to keep.
    assign led = {irq, up1, up0};

endmodule

`default_nettype wire
