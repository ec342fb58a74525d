// SPDX-License-Identifier: Apache-2.0
//
// t_port: what a port has with check bits on its queues, twice: a queue on the way in and one on the way out behind it, and their counters. Port 0 has the
// bench's clock; port 1 has its own, and its frames leave before they are whole. Words of the frames that `hits` name are inverted when they are written.
`default_nettype none

module t_port (
    input  wire        clk,
    input  wire        rst,
    input  wire        clk_b,

    input  wire [15:0] s_axil_awaddr,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output wire [1:0]  s_axil_bresp,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [15:0] s_axil_araddr,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,
    output wire        s_axil_rvalid,
    input  wire        s_axil_rready,

    input  wire [31:0] s_a_tdata,
    input  wire [3:0]  s_a_tkeep,
    input  wire        s_a_tvalid,
    output wire        s_a_tready,
    input  wire        s_a_tlast,
    output wire [31:0] m_a_tdata,
    output wire [3:0]  m_a_tkeep,
    output wire        m_a_tvalid,
    input  wire        m_a_tready,
    output wire        m_a_tlast,
    output wire        m_a_tuser,

    input  wire [63:0] s_b_tdata,
    input  wire [7:0]  s_b_tkeep,
    input  wire        s_b_tvalid,
    output wire        s_b_tready,
    input  wire        s_b_tlast,
    output wire [63:0] m_b_tdata,
    output wire [7:0]  m_b_tkeep,
    output wire        m_b_tvalid,
    input  wire        m_b_tready,
    output wire        m_b_tlast,
    output wire        m_b_tuser,

    // of the queue in and out of port 0, and of port 1: bits 15 to 0 name a frame, 16 has a bit of its words inverted, 17 two
    input  wire [71:0] hits
);

    wire [63:0] data_a, data_b;
    wire [7:0]  keep_a, keep_b;
    wire        valid_a, valid_b, ready_a, ready_b, last_a, last_b;
    wire [1:0]  in_err, out_err, in_fixed, in_lost, out_fixed, out_lost;
    wire        rst_b, fixed_b, lost_b;

    inc_port_rx #(.PORT_BYTES(4), .BYTES(8), .DEPTH_W(5), .MAX_BYTES(128)) u_rx_a (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_a_tdata), .s_axis_tkeep(s_a_tkeep), .s_axis_tvalid(s_a_tvalid), .s_axis_tready(s_a_tready), .s_axis_tlast(s_a_tlast), .s_axis_tuser(1'b0),
        .m_axis_tdata(data_a), .m_axis_tkeep(keep_a), .m_axis_tvalid(valid_a), .m_axis_tready(ready_a), .m_axis_tlast(last_a),
        .high(), .count_frame(), .count_error(), .count_long(), .count_hung(), .count_full(), .mon_end(), .mon_drop(),
        .pins(hits[17:0]), .ecc_mark(1'b0), .ecc_rst(rst), .ecc_fixed(in_fixed[0]), .ecc_lost(in_lost[0]), .ecc_err(in_err[0])
    );

    inc_port_tx #(.PORT_BYTES(4), .BYTES(8), .DEPTH_W(5)) u_tx_a (
        .clk(clk), .rst(rst),
        .s_axis_tdata(data_a), .s_axis_tkeep(keep_a), .s_axis_tvalid(valid_a), .s_axis_tready(ready_a), .s_axis_tlast(last_a),
        .m_axis_tdata(m_a_tdata), .m_axis_tkeep(m_a_tkeep), .m_axis_tvalid(m_a_tvalid), .m_axis_tready(m_a_tready), .m_axis_tlast(m_a_tlast),
        .pause(1'b0), .count_frame(), .count_full(),
        .pins(hits[35:18]), .ecc_mark(in_err[0]), .ecc_rst(rst), .ecc_fixed(out_fixed[0]), .ecc_lost(out_lost[0]), .ecc_err(out_err[0])
    );

    inc_ecc_leave u_leave_a (.clk(clk), .rst(rst), .err(out_err[0]), .valid(m_a_tvalid), .ready(m_a_tready), .user(m_a_tuser));

    inc_port_rx_cdc #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(5), .MAX_BYTES(128)) u_rx_b (
        .clk(clk), .rst(rst), .port_clk(clk_b),
        .s_axis_tdata(s_b_tdata), .s_axis_tkeep(s_b_tkeep), .s_axis_tvalid(s_b_tvalid), .s_axis_tready(s_b_tready), .s_axis_tlast(s_b_tlast), .s_axis_tuser(1'b0),
        .m_axis_tdata(data_b), .m_axis_tkeep(keep_b), .m_axis_tvalid(valid_b), .m_axis_tready(ready_b), .m_axis_tlast(last_b),
        .high(), .count_frame(), .count_error(), .count_long(), .count_hung(), .count_full(), .mon_end(), .mon_drop(),
        .pins(hits[53:36]), .ecc_mark(1'b0), .ecc_rst(rst), .ecc_fixed(in_fixed[1]), .ecc_lost(in_lost[1]), .ecc_err(in_err[1])
    );

    inc_port_tx_cut_cdc #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(5), .MAX_BYTES(128), .START(8)) u_tx_b (
        .clk(clk), .rst(rst), .port_clk(clk_b),
        .s_axis_tdata(data_b), .s_axis_tkeep(keep_b), .s_axis_tvalid(valid_b), .s_axis_tready(ready_b), .s_axis_tlast(last_b),
        .m_axis_tdata(m_b_tdata), .m_axis_tkeep(m_b_tkeep), .m_axis_tvalid(m_b_tvalid), .m_axis_tready(m_b_tready), .m_axis_tlast(m_b_tlast),
        .pause(1'b0), .count_frame(), .count_full(),
        .pins(hits[71:54]), .ecc_mark(in_err[1]), .ecc_rst(rst_b), .ecc_fixed(out_fixed[1]), .ecc_lost(out_lost[1]), .ecc_err(out_err[1])
    );

    inc_cdc_errors u_errors_b (.clk(clk), .rst(rst), .port_clk(clk_b), .port_rst(rst_b), .port_fixed(out_fixed[1]), .port_lost(out_lost[1]),
        .fixed(fixed_b), .lost(lost_b));

    inc_ecc_leave u_leave_b (.clk(clk_b), .rst(rst_b), .err(out_err[1]), .valid(m_b_tvalid), .ready(m_b_tready), .user(m_b_tuser));

    inc_ecc_port_regs #(.AXIL_W(16), .PAGE(74), .PORTS(2)) u_regs (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp), .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
        .m_axil_awaddr(), .m_axil_awvalid(), .m_axil_awready(1'b1), .m_axil_wdata(), .m_axil_wstrb(), .m_axil_wvalid(), .m_axil_wready(1'b1),
        .m_axil_bresp(2'b10), .m_axil_bvalid(1'b1), .m_axil_bready(),
        .m_axil_araddr(), .m_axil_arvalid(), .m_axil_arready(1'b1), .m_axil_rdata(32'd0), .m_axil_rresp(2'b10), .m_axil_rvalid(1'b1), .m_axil_rready(),
        .fixed({in_fixed[1] || fixed_b, in_fixed[0] || out_fixed[0]}),
        .lost({in_lost[1] || lost_b, in_lost[0] || out_lost[0]})
    );

endmodule

`default_nettype wire
