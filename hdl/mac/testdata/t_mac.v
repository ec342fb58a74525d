// SPDX-License-Identifier: Apache-2.0
//
// t_mac: a CMAC's wrapper and an open MAC's before the queues of a port each, whose frames come back from the engine's side as they are, unless `hold`. A frame's err is bit 0 of its last beat.
// Port c drops what its queue has no room for, port d keeps whoever sends waiting.
`default_nettype none

module t_mac (
    input  wire         clk,
    input  wire         rst,
    input  wire         hold,

    input  wire         clk_c,
    input  wire         rst_c,
    input  wire [511:0] rxc_tdata,
    input  wire [63:0]  rxc_tkeep,
    input  wire         rxc_tvalid,
    output wire         rxc_tready,
    input  wire         rxc_tlast,
    input  wire         rxc_tuser,
    output wire [511:0] txc_tdata,
    output wire [63:0]  txc_tkeep,
    output wire         txc_tvalid,
    input  wire         txc_tready,
    output wire         txc_tlast,
    output wire         txc_tuser,
    input  wire         c_aligned,
    input  wire [8:0]   c_req,
    output wire [8:0]   c_ack, c_ask,
    output wire         c_up, c_rfi, c_lost,
    output wire [4:0]   c_count,

    input  wire         clk_d,
    input  wire         rst_d,
    input  wire         clk_r,
    input  wire [63:0]  rxd_tdata,
    input  wire [7:0]   rxd_tkeep,
    input  wire         rxd_tvalid,
    output wire         rxd_tready,
    input  wire         rxd_tlast,
    input  wire         rxd_tuser,
    output wire [63:0]  txd_tdata,
    output wire [7:0]   txd_tkeep,
    output wire         txd_tvalid,
    input  wire         txd_tready,
    output wire         txd_tlast,
    output wire         txd_tuser,
    input  wire         d_up,
    output wire         d_lost,
    output wire [4:0]   d_count
);

    assign rxc_tready = 1'b1;              // a MAC does not look
    assign rxd_tready = 1'b1;

    wire [511:0] ci_data, co_data, cl_data;
    wire [63:0]  ci_keep, co_keep, cl_keep;
    wire         ci_valid, ci_ready, ci_last, ci_user, co_valid, co_ready, co_last, cl_valid, cl_ready, cl_last;
    wire         c_pause, c_high, c_tx_enable, c_rx_enable;
    wire [8:0]   c_rx_pause_enable, c_tx_pause_enable;
    wire [1:0]   c_sent;

    inc_mac_cmac u_cmac (
        .clk(clk_c), .rst(rst_c),
        .rx_axis_tdata(rxc_tdata), .rx_axis_tkeep(rxc_tkeep), .rx_axis_tvalid(rxc_tvalid), .rx_axis_tlast(rxc_tlast), .rx_axis_tuser(rxc_tuser),
        .tx_axis_tdata(txc_tdata), .tx_axis_tkeep(txc_tkeep), .tx_axis_tvalid(txc_tvalid), .tx_axis_tready(txc_tready), .tx_axis_tlast(txc_tlast),
        .tx_axis_tuser(txc_tuser),
        .stat_rx_aligned(c_aligned), .ctl_rx_enable(c_rx_enable), .ctl_tx_enable(c_tx_enable), .ctl_tx_send_rfi(c_rfi),
        .stat_rx_pause_req(c_req), .ctl_rx_pause_enable(c_rx_pause_enable), .ctl_rx_pause_ack(c_ack), .ctl_tx_pause_enable(c_tx_pause_enable),
        .ctl_tx_pause_req(c_ask),
        .m_axis_tdata(ci_data), .m_axis_tkeep(ci_keep), .m_axis_tvalid(ci_valid), .m_axis_tready(ci_ready), .m_axis_tlast(ci_last), .m_axis_tuser(ci_user),
        .s_axis_tdata(co_data), .s_axis_tkeep(co_keep), .s_axis_tvalid(co_valid), .s_axis_tready(co_ready), .s_axis_tlast(co_last), .s_axis_tuser(co_data[0]),
        .port_pause(c_pause), .port_high(c_high), .up(c_up), .lost(c_lost)
    );

    inc_port_rx_cdc #(.PORT_BYTES(64), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .STALL(4096), .DROP(1)) u_rxc (
        .clk(clk), .rst(rst), .port_clk(clk_c),
        .s_axis_tdata(ci_data), .s_axis_tkeep(ci_keep), .s_axis_tvalid(ci_valid), .s_axis_tready(ci_ready), .s_axis_tlast(ci_last), .s_axis_tuser(ci_user),
        .m_axis_tdata(cl_data), .m_axis_tkeep(cl_keep), .m_axis_tvalid(cl_valid), .m_axis_tready(cl_ready && !hold), .m_axis_tlast(cl_last),
        .high(c_high), .count_frame(c_count[0]), .count_error(c_count[1]), .count_long(c_count[2]), .count_hung(c_count[3]), .count_full(c_count[4]),
        .mon_end(), .mon_drop()
    );

    inc_port_tx_cdc #(.PORT_BYTES(64), .BYTES(64), .DEPTH_W(6), .DROP(0)) u_txc (
        .clk(clk), .rst(rst), .port_clk(clk_c),
        .s_axis_tdata(cl_data), .s_axis_tkeep(cl_keep), .s_axis_tvalid(cl_valid && !hold), .s_axis_tready(cl_ready), .s_axis_tlast(cl_last),
        .m_axis_tdata(co_data), .m_axis_tkeep(co_keep), .m_axis_tvalid(co_valid), .m_axis_tready(co_ready), .m_axis_tlast(co_last),
        .pause(c_pause), .count_frame(c_sent[0]), .count_full(c_sent[1])
    );

    wire [63:0]  di_data, do_data;
    wire [7:0]   di_keep, do_keep;
    wire [511:0] dl_data;
    wire [63:0]  dl_keep;
    wire        di_valid, di_ready, di_last, di_user, do_valid, do_ready, do_last, dl_valid, dl_ready, dl_last;
    wire        d_pause, d_high;
    wire [8:0]  d_enable, d_ack, d_ask;
    wire [1:0]  d_sent;

    inc_mac_taxi u_taxi (
        .clk(clk_d), .rst(rst_d), .rx_clk(clk_r),
        .rx_axis_tdata(rxd_tdata), .rx_axis_tkeep(rxd_tkeep), .rx_axis_tvalid(rxd_tvalid), .rx_axis_tlast(rxd_tlast), .rx_axis_tuser(rxd_tuser),
        .lost(d_lost),
        .tx_axis_tdata(txd_tdata), .tx_axis_tkeep(txd_tkeep), .tx_axis_tvalid(txd_tvalid), .tx_axis_tready(txd_tready), .tx_axis_tlast(txd_tlast),
        .tx_axis_tuser(txd_tuser),
        .up(d_up), .rx_pause_req(9'd0), .rx_pause_enable(d_enable), .rx_pause_ack(d_ack), .tx_pause_req(d_ask),
        .m_axis_tdata(di_data), .m_axis_tkeep(di_keep), .m_axis_tvalid(di_valid), .m_axis_tready(di_ready), .m_axis_tlast(di_last), .m_axis_tuser(di_user),
        .s_axis_tdata(do_data), .s_axis_tkeep(do_keep), .s_axis_tvalid(do_valid), .s_axis_tready(do_ready), .s_axis_tlast(do_last), .s_axis_tuser(do_data[0]),
        .port_pause(d_pause), .port_high(d_high)
    );

    inc_port_rx_cdc #(.PORT_BYTES(8), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .STALL(4096), .DROP(0)) u_rxd (
        .clk(clk), .rst(rst), .port_clk(clk_d),
        .s_axis_tdata(di_data), .s_axis_tkeep(di_keep), .s_axis_tvalid(di_valid), .s_axis_tready(di_ready), .s_axis_tlast(di_last), .s_axis_tuser(di_user),
        .m_axis_tdata(dl_data), .m_axis_tkeep(dl_keep), .m_axis_tvalid(dl_valid), .m_axis_tready(dl_ready && !hold), .m_axis_tlast(dl_last),
        .high(d_high), .count_frame(d_count[0]), .count_error(d_count[1]), .count_long(d_count[2]), .count_hung(d_count[3]), .count_full(d_count[4]),
        .mon_end(), .mon_drop()
    );

    inc_port_tx_cdc #(.PORT_BYTES(8), .BYTES(64), .DEPTH_W(6), .DROP(0)) u_txd (
        .clk(clk), .rst(rst), .port_clk(clk_d),
        .s_axis_tdata(dl_data), .s_axis_tkeep(dl_keep), .s_axis_tvalid(dl_valid && !hold), .s_axis_tready(dl_ready), .s_axis_tlast(dl_last),
        .m_axis_tdata(do_data), .m_axis_tkeep(do_keep), .m_axis_tvalid(do_valid), .m_axis_tready(do_ready), .m_axis_tlast(do_last),
        .pause(d_pause), .count_frame(d_sent[0]), .count_full(d_sent[1])
    );

    wire unused_bits = &{1'b0, c_tx_enable, c_rx_enable, c_rx_pause_enable, c_tx_pause_enable, c_sent, d_enable, d_ack, d_ask, d_sent};

endmodule

`default_nettype wire
