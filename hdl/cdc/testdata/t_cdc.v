// SPDX-License-Identifier: Apache-2.0
//
// t_cdc: the queues of six ports with clocks of their own, so that one compiled model tests them.
`default_nettype none

module t_cdc (
    input  wire clk,
    input  wire rst,

    // a count of 6 bits from clk to clk_b
    input  wire       n_step,
    output wire [5:0] n_src,
    output wire [5:0] n_dst,

    // port a: 2 bytes to 8, 16 beats, frames to 64 bytes, 20 cycles of patience, holds when full
    input  wire clk_a,
    input  wire [15:0] s_rxa_tdata,
    input  wire [1:0] s_rxa_tkeep,
    input  wire s_rxa_tvalid,
    output wire s_rxa_tready,
    input  wire s_rxa_tlast,
    input  wire s_rxa_tuser,
    output wire [63:0] m_rxa_tdata,
    output wire [7:0] m_rxa_tkeep,
    output wire m_rxa_tvalid,
    input  wire m_rxa_tready,
    output wire m_rxa_tlast,
    output wire rxa_high,
    output wire [4:0] rxa_count,
    output wire rxa_end, rxa_drop,
    input  wire [63:0] s_txa_tdata,
    input  wire [7:0] s_txa_tkeep,
    input  wire s_txa_tvalid,
    output wire s_txa_tready,
    input  wire s_txa_tlast,
    output wire [15:0] m_txa_tdata,
    output wire [1:0] m_txa_tkeep,
    output wire m_txa_tvalid,
    input  wire m_txa_tready,
    output wire m_txa_tlast,
    input  wire txa_pause,
    output wire [1:0] txa_count,

    // port b: 8 bytes to 8, 16 beats, frames to 64 bytes, 20 cycles of patience, drops when full
    input  wire clk_b,
    input  wire [63:0] s_rxb_tdata,
    input  wire [7:0] s_rxb_tkeep,
    input  wire s_rxb_tvalid,
    output wire s_rxb_tready,
    input  wire s_rxb_tlast,
    input  wire s_rxb_tuser,
    output wire [63:0] m_rxb_tdata,
    output wire [7:0] m_rxb_tkeep,
    output wire m_rxb_tvalid,
    input  wire m_rxb_tready,
    output wire m_rxb_tlast,
    output wire rxb_high,
    output wire [4:0] rxb_count,
    output wire rxb_end, rxb_drop,
    input  wire [63:0] s_txb_tdata,
    input  wire [7:0] s_txb_tkeep,
    input  wire s_txb_tvalid,
    output wire s_txb_tready,
    input  wire s_txb_tlast,
    output wire [63:0] m_txb_tdata,
    output wire [7:0] m_txb_tkeep,
    output wire m_txb_tvalid,
    input  wire m_txb_tready,
    output wire m_txb_tlast,
    input  wire txb_pause,
    output wire [1:0] txb_count,

    // port c: 64 bytes to 64, 64 beats, frames to 1518 bytes, 4096 cycles of patience, drops when full
    input  wire clk_c,
    input  wire [511:0] s_rxc_tdata,
    input  wire [63:0] s_rxc_tkeep,
    input  wire s_rxc_tvalid,
    output wire s_rxc_tready,
    input  wire s_rxc_tlast,
    input  wire s_rxc_tuser,
    output wire [511:0] m_rxc_tdata,
    output wire [63:0] m_rxc_tkeep,
    output wire m_rxc_tvalid,
    input  wire m_rxc_tready,
    output wire m_rxc_tlast,
    output wire rxc_high,
    output wire [4:0] rxc_count,
    output wire rxc_end, rxc_drop,
    input  wire [511:0] s_txc_tdata,
    input  wire [63:0] s_txc_tkeep,
    input  wire s_txc_tvalid,
    output wire s_txc_tready,
    input  wire s_txc_tlast,
    output wire [511:0] m_txc_tdata,
    output wire [63:0] m_txc_tkeep,
    output wire m_txc_tvalid,
    input  wire m_txc_tready,
    output wire m_txc_tlast,
    input  wire txc_pause,
    output wire [1:0] txc_count,

    // port d: 8 bytes to 64, 64 beats, frames to 1518 bytes, 4096 cycles of patience, drops when full
    input  wire clk_d,
    input  wire [63:0] s_rxd_tdata,
    input  wire [7:0] s_rxd_tkeep,
    input  wire s_rxd_tvalid,
    output wire s_rxd_tready,
    input  wire s_rxd_tlast,
    input  wire s_rxd_tuser,
    output wire [511:0] m_rxd_tdata,
    output wire [63:0] m_rxd_tkeep,
    output wire m_rxd_tvalid,
    input  wire m_rxd_tready,
    output wire m_rxd_tlast,
    output wire rxd_high,
    output wire [4:0] rxd_count,
    output wire rxd_end, rxd_drop,
    input  wire [511:0] s_txd_tdata,
    input  wire [63:0] s_txd_tkeep,
    input  wire s_txd_tvalid,
    output wire s_txd_tready,
    input  wire s_txd_tlast,
    output wire [63:0] m_txd_tdata,
    output wire [7:0] m_txd_tkeep,
    output wire m_txd_tvalid,
    input  wire m_txd_tready,
    output wire m_txd_tlast,
    input  wire txd_pause,
    output wire [1:0] txd_count,

    // port e: 64 bytes to 8, 64 beats, frames to 1518 bytes, which leave with its first beat, holds when full
    input  wire clk_e,
    input  wire [511:0] s_txe_tdata,
    input  wire [63:0] s_txe_tkeep,
    input  wire s_txe_tvalid,
    output wire s_txe_tready,
    input  wire s_txe_tlast,
    output wire [63:0] m_txe_tdata,
    output wire [7:0] m_txe_tkeep,
    output wire m_txe_tvalid,
    input  wire m_txe_tready,
    output wire m_txe_tlast,
    input  wire txe_pause,
    output wire [1:0] txe_count,

    // port f: 64 bytes to 64, 64 beats, frames to 1518 bytes, which leave with its fifth beat, holds when full
    input  wire clk_f,
    input  wire [511:0] s_txf_tdata,
    input  wire [63:0] s_txf_tkeep,
    input  wire s_txf_tvalid,
    output wire s_txf_tready,
    input  wire s_txf_tlast,
    output wire [511:0] m_txf_tdata,
    output wire [63:0] m_txf_tkeep,
    output wire m_txf_tvalid,
    input  wire m_txf_tready,
    output wire m_txf_tlast,
    input  wire txf_pause,
    output wire [1:0] txf_count
);

    wire n_near, n_far;
    inc_cdc_reset u_n_reset (.clk(clk), .rst(rst), .near_rst(n_near), .far_clk(clk_b), .far_rst(n_far));
    inc_cdc_count #(.WIDTH(6)) u_n (
        .src_clk(clk), .src_rst(n_near), .src_step(n_step), .src_count(n_src), .dst_clk(clk_b), .dst_rst(n_far), .dst_count(n_dst)
    );

    inc_port_rx_cdc #(.PORT_BYTES(2), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .STALL(20), .DROP(0)) u_rxa (
        .clk(clk), .rst(rst), .port_clk(clk_a),
        .s_axis_tdata(s_rxa_tdata), .s_axis_tkeep(s_rxa_tkeep), .s_axis_tvalid(s_rxa_tvalid), .s_axis_tready(s_rxa_tready),
        .s_axis_tlast(s_rxa_tlast), .s_axis_tuser(s_rxa_tuser), .m_axis_tdata(m_rxa_tdata), .m_axis_tkeep(m_rxa_tkeep),
        .m_axis_tvalid(m_rxa_tvalid), .m_axis_tready(m_rxa_tready), .m_axis_tlast(m_rxa_tlast), .high(rxa_high),
        .count_frame(rxa_count[0]), .count_error(rxa_count[1]), .count_long(rxa_count[2]), .count_hung(rxa_count[3]),
        .count_full(rxa_count[4]), .mon_end(rxa_end), .mon_drop(rxa_drop)
    );

    inc_port_tx_cdc #(.PORT_BYTES(2), .BYTES(8), .DEPTH_W(4), .DROP(0)) u_txa (
        .clk(clk), .rst(rst), .port_clk(clk_a),
        .s_axis_tdata(s_txa_tdata), .s_axis_tkeep(s_txa_tkeep), .s_axis_tvalid(s_txa_tvalid), .s_axis_tready(s_txa_tready),
        .s_axis_tlast(s_txa_tlast), .m_axis_tdata(m_txa_tdata), .m_axis_tkeep(m_txa_tkeep), .m_axis_tvalid(m_txa_tvalid),
        .m_axis_tready(m_txa_tready), .m_axis_tlast(m_txa_tlast), .pause(txa_pause), .count_frame(txa_count[0]),
        .count_full(txa_count[1])
    );

    inc_port_rx_cdc #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .STALL(20), .DROP(1)) u_rxb (
        .clk(clk), .rst(rst), .port_clk(clk_b),
        .s_axis_tdata(s_rxb_tdata), .s_axis_tkeep(s_rxb_tkeep), .s_axis_tvalid(s_rxb_tvalid), .s_axis_tready(s_rxb_tready),
        .s_axis_tlast(s_rxb_tlast), .s_axis_tuser(s_rxb_tuser), .m_axis_tdata(m_rxb_tdata), .m_axis_tkeep(m_rxb_tkeep),
        .m_axis_tvalid(m_rxb_tvalid), .m_axis_tready(m_rxb_tready), .m_axis_tlast(m_rxb_tlast), .high(rxb_high),
        .count_frame(rxb_count[0]), .count_error(rxb_count[1]), .count_long(rxb_count[2]), .count_hung(rxb_count[3]),
        .count_full(rxb_count[4]), .mon_end(rxb_end), .mon_drop(rxb_drop)
    );

    inc_port_tx_cdc #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(4), .DROP(1)) u_txb (
        .clk(clk), .rst(rst), .port_clk(clk_b),
        .s_axis_tdata(s_txb_tdata), .s_axis_tkeep(s_txb_tkeep), .s_axis_tvalid(s_txb_tvalid), .s_axis_tready(s_txb_tready),
        .s_axis_tlast(s_txb_tlast), .m_axis_tdata(m_txb_tdata), .m_axis_tkeep(m_txb_tkeep), .m_axis_tvalid(m_txb_tvalid),
        .m_axis_tready(m_txb_tready), .m_axis_tlast(m_txb_tlast), .pause(txb_pause), .count_frame(txb_count[0]),
        .count_full(txb_count[1])
    );

    inc_port_rx_cdc #(.PORT_BYTES(64), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .STALL(4096), .DROP(1)) u_rxc (
        .clk(clk), .rst(rst), .port_clk(clk_c),
        .s_axis_tdata(s_rxc_tdata), .s_axis_tkeep(s_rxc_tkeep), .s_axis_tvalid(s_rxc_tvalid), .s_axis_tready(s_rxc_tready),
        .s_axis_tlast(s_rxc_tlast), .s_axis_tuser(s_rxc_tuser), .m_axis_tdata(m_rxc_tdata), .m_axis_tkeep(m_rxc_tkeep),
        .m_axis_tvalid(m_rxc_tvalid), .m_axis_tready(m_rxc_tready), .m_axis_tlast(m_rxc_tlast), .high(rxc_high),
        .count_frame(rxc_count[0]), .count_error(rxc_count[1]), .count_long(rxc_count[2]), .count_hung(rxc_count[3]),
        .count_full(rxc_count[4]), .mon_end(rxc_end), .mon_drop(rxc_drop)
    );

    inc_port_tx_cdc #(.PORT_BYTES(64), .BYTES(64), .DEPTH_W(6), .DROP(1)) u_txc (
        .clk(clk), .rst(rst), .port_clk(clk_c),
        .s_axis_tdata(s_txc_tdata), .s_axis_tkeep(s_txc_tkeep), .s_axis_tvalid(s_txc_tvalid), .s_axis_tready(s_txc_tready),
        .s_axis_tlast(s_txc_tlast), .m_axis_tdata(m_txc_tdata), .m_axis_tkeep(m_txc_tkeep), .m_axis_tvalid(m_txc_tvalid),
        .m_axis_tready(m_txc_tready), .m_axis_tlast(m_txc_tlast), .pause(txc_pause), .count_frame(txc_count[0]),
        .count_full(txc_count[1])
    );

    inc_port_rx_cdc #(.PORT_BYTES(8), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .STALL(4096), .DROP(1)) u_rxd (
        .clk(clk), .rst(rst), .port_clk(clk_d),
        .s_axis_tdata(s_rxd_tdata), .s_axis_tkeep(s_rxd_tkeep), .s_axis_tvalid(s_rxd_tvalid), .s_axis_tready(s_rxd_tready),
        .s_axis_tlast(s_rxd_tlast), .s_axis_tuser(s_rxd_tuser), .m_axis_tdata(m_rxd_tdata), .m_axis_tkeep(m_rxd_tkeep),
        .m_axis_tvalid(m_rxd_tvalid), .m_axis_tready(m_rxd_tready), .m_axis_tlast(m_rxd_tlast), .high(rxd_high),
        .count_frame(rxd_count[0]), .count_error(rxd_count[1]), .count_long(rxd_count[2]), .count_hung(rxd_count[3]),
        .count_full(rxd_count[4]), .mon_end(rxd_end), .mon_drop(rxd_drop)
    );

    inc_port_tx_cdc #(.PORT_BYTES(8), .BYTES(64), .DEPTH_W(6), .DROP(1)) u_txd (
        .clk(clk), .rst(rst), .port_clk(clk_d),
        .s_axis_tdata(s_txd_tdata), .s_axis_tkeep(s_txd_tkeep), .s_axis_tvalid(s_txd_tvalid), .s_axis_tready(s_txd_tready),
        .s_axis_tlast(s_txd_tlast), .m_axis_tdata(m_txd_tdata), .m_axis_tkeep(m_txd_tkeep), .m_axis_tvalid(m_txd_tvalid),
        .m_axis_tready(m_txd_tready), .m_axis_tlast(m_txd_tlast), .pause(txd_pause), .count_frame(txd_count[0]),
        .count_full(txd_count[1])
    );

    inc_port_tx_cut_cdc #(.PORT_BYTES(8), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .START(1), .DROP(0)) u_txe (
        .clk(clk), .rst(rst), .port_clk(clk_e),
        .s_axis_tdata(s_txe_tdata), .s_axis_tkeep(s_txe_tkeep), .s_axis_tvalid(s_txe_tvalid), .s_axis_tready(s_txe_tready),
        .s_axis_tlast(s_txe_tlast), .m_axis_tdata(m_txe_tdata), .m_axis_tkeep(m_txe_tkeep), .m_axis_tvalid(m_txe_tvalid),
        .m_axis_tready(m_txe_tready), .m_axis_tlast(m_txe_tlast), .pause(txe_pause), .count_frame(txe_count[0]),
        .count_full(txe_count[1])
    );

    inc_port_tx_cut_cdc #(.PORT_BYTES(64), .BYTES(64), .DEPTH_W(6), .MAX_BYTES(1518), .START(5), .DROP(0)) u_txf (
        .clk(clk), .rst(rst), .port_clk(clk_f),
        .s_axis_tdata(s_txf_tdata), .s_axis_tkeep(s_txf_tkeep), .s_axis_tvalid(s_txf_tvalid), .s_axis_tready(s_txf_tready),
        .s_axis_tlast(s_txf_tlast), .m_axis_tdata(m_txf_tdata), .m_axis_tkeep(m_txf_tkeep), .m_axis_tvalid(m_txf_tvalid),
        .m_axis_tready(m_txf_tready), .m_axis_tlast(m_txf_tlast), .pause(txf_pause), .count_frame(txf_count[0]),
        .count_full(txf_count[1])
    );

endmodule

`default_nettype wire
