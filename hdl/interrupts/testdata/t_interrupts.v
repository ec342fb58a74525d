// SPDX-License-Identifier: Apache-2.0
//
// t_interrupts: two pages of interrupts on one register bus, before a slave that has one register at 0x0040 and refuses all else; and an event of
// four bits, high or rising.
`default_nettype none

module t_interrupts #(
    parameter CAUSES = 5
) (
    input  wire              clk,
    input  wire              rst,

    input  wire [15:0]       s_axil_awaddr,
    input  wire              s_axil_awvalid,
    output wire              s_axil_awready,
    input  wire [31:0]       s_axil_wdata,
    input  wire [3:0]        s_axil_wstrb,
    input  wire              s_axil_wvalid,
    output wire              s_axil_wready,
    output wire [1:0]        s_axil_bresp,
    output wire              s_axil_bvalid,
    input  wire              s_axil_bready,
    input  wire [15:0]       s_axil_araddr,
    input  wire              s_axil_arvalid,
    output wire              s_axil_arready,
    output wire [31:0]       s_axil_rdata,
    output wire [1:0]        s_axil_rresp,
    output wire              s_axil_rvalid,
    input  wire              s_axil_rready,

    input  wire [CAUSES-1:0] events,
    input  wire [31:0]       events2,
    output wire              irq,
    output wire              irq2,

    input  wire [3:0]        from,
    output wire              any,
    output wire              rise
);

    wire [15:0] awaddr1, araddr1, awaddr2, araddr2;
    wire        awvalid1, awready1, wvalid1, wready1, bvalid1, bready1, arvalid1, arready1, rvalid1, rready1;
    wire        awvalid2, wvalid2, bready2, arvalid2, rready2;
    wire [31:0] wdata1, rdata1, wdata2;
    wire [3:0]  wstrb1, wstrb2;
    wire [1:0]  bresp1, rresp1;

    // the slave: takes a request when it has answered the one before
    reg         bvalid2, rvalid2;
    reg  [1:0]  bresp2, rresp2;
    reg  [31:0] rdata2, kept;
    wire        take_w = awvalid2 && wvalid2 && !bvalid2;
    wire        take_r = arvalid2 && !rvalid2;

    always @(posedge clk) begin
        if (take_w) begin
            bvalid2 <= 1'b1;
            bresp2  <= awaddr2 == 16'h0040 && wstrb2 == 4'hF ? 2'b00 : 2'b10;
            if (awaddr2 == 16'h0040 && wstrb2 == 4'hF) begin
                kept <= wdata2;
            end
        end else if (bready2) begin
            bvalid2 <= 1'b0;
        end
        if (take_r) begin
            rvalid2 <= 1'b1;
            rresp2  <= araddr2 == 16'h0040 ? 2'b00 : 2'b10;
            rdata2  <= kept;
        end else if (rready2) begin
            rvalid2 <= 1'b0;
        end
        if (rst) begin
            bvalid2 <= 1'b0;
            rvalid2 <= 1'b0;
            kept    <= 32'd0;
        end
    end

    inc_interrupts #(.AXIL_W(16), .PAGE(640), .CAUSES(CAUSES)) u_first (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp), .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
        .m_axil_awaddr(awaddr1), .m_axil_awvalid(awvalid1), .m_axil_awready(awready1),
        .m_axil_wdata(wdata1), .m_axil_wstrb(wstrb1), .m_axil_wvalid(wvalid1), .m_axil_wready(wready1),
        .m_axil_bresp(bresp1), .m_axil_bvalid(bvalid1), .m_axil_bready(bready1),
        .m_axil_araddr(araddr1), .m_axil_arvalid(arvalid1), .m_axil_arready(arready1),
        .m_axil_rdata(rdata1), .m_axil_rresp(rresp1), .m_axil_rvalid(rvalid1), .m_axil_rready(rready1),
        .events(events), .irq(irq)
    );

    inc_interrupts #(.AXIL_W(16), .PAGE(1152), .CAUSES(32)) u_second (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(awaddr1), .s_axil_awvalid(awvalid1), .s_axil_awready(awready1),
        .s_axil_wdata(wdata1), .s_axil_wstrb(wstrb1), .s_axil_wvalid(wvalid1), .s_axil_wready(wready1),
        .s_axil_bresp(bresp1), .s_axil_bvalid(bvalid1), .s_axil_bready(bready1),
        .s_axil_araddr(araddr1), .s_axil_arvalid(arvalid1), .s_axil_arready(arready1),
        .s_axil_rdata(rdata1), .s_axil_rresp(rresp1), .s_axil_rvalid(rvalid1), .s_axil_rready(rready1),
        .m_axil_awaddr(awaddr2), .m_axil_awvalid(awvalid2), .m_axil_awready(take_w),
        .m_axil_wdata(wdata2), .m_axil_wstrb(wstrb2), .m_axil_wvalid(wvalid2), .m_axil_wready(take_w),
        .m_axil_bresp(bresp2), .m_axil_bvalid(bvalid2), .m_axil_bready(bready2),
        .m_axil_araddr(araddr2), .m_axil_arvalid(arvalid2), .m_axil_arready(take_r),
        .m_axil_rdata(rdata2), .m_axil_rresp(rresp2), .m_axil_rvalid(rvalid2), .m_axil_rready(rready2),
        .events(events2), .irq(irq2)
    );

    inc_event #(.WIDTH(4), .RISE(0)) u_any (.clk(clk), .rst(rst), .from(from), .happens(any));
    inc_event #(.WIDTH(4), .RISE(1)) u_rise (.clk(clk), .rst(rst), .from(from), .happens(rise));

endmodule

`default_nettype wire
