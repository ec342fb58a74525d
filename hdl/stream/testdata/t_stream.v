// SPDX-License-Identifier: Apache-2.0
//
// t_stream: the modules of this folder side by side, so that one compiled model tests them all.
`default_nettype none

module t_stream (
    input  wire        clk,
    input  wire        rst,

    // inc_skid
    input  wire [63:0] s_skid_tdata,
    input  wire [7:0]  s_skid_tkeep,
    input  wire        s_skid_tvalid,
    output wire        s_skid_tready,
    input  wire        s_skid_tlast,
    output wire [63:0] m_skid_tdata,
    output wire [7:0]  m_skid_tkeep,
    output wire        m_skid_tvalid,
    input  wire        m_skid_tready,
    output wire        m_skid_tlast,

    // inc_fifo: 2 entries and no margin, 8 entries and 3 kept free
    input  wire        f1_push, f3_push,
    input  wire [7:0]  f1_push_data,
    input  wire [64:0] f3_push_data,
    output wire        f1_room, f3_room,
    output wire        f1_valid, f3_valid,
    output wire [7:0]  f1_data,
    output wire [64:0] f3_data,
    input  wire        f1_pop, f3_pop,

    // inc_port_rx, 2 bytes to 8, 16 beats, frames to 64 bytes, 20 cycles of patience, holds when full
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

    // inc_port_rx, 8 bytes to 8, 16 beats, frames to 64 bytes, 20 cycles of patience, drops when full
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

    // inc_port_rx, 1 bytes to 8, 16 beats, frames to 64 bytes, 20 cycles of patience, holds when full
    input  wire [7:0] s_rxc_tdata,
    input  wire [0:0] s_rxc_tkeep,
    input  wire s_rxc_tvalid,
    output wire s_rxc_tready,
    input  wire s_rxc_tlast,
    input  wire s_rxc_tuser,
    output wire [63:0] m_rxc_tdata,
    output wire [7:0] m_rxc_tkeep,
    output wire m_rxc_tvalid,
    input  wire m_rxc_tready,
    output wire m_rxc_tlast,
    output wire rxc_high,
    output wire [4:0] rxc_count,
    output wire rxc_end, rxc_drop,

    // inc_port_tx, 8 bytes to 2, 16 beats, holds when full
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

    // inc_port_tx, 8 bytes to 8, 16 beats, drops when full
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

    // inc_port_tx, 8 bytes to 1, 16 beats, holds when full
    input  wire [63:0] s_txc_tdata,
    input  wire [7:0] s_txc_tkeep,
    input  wire s_txc_tvalid,
    output wire s_txc_tready,
    input  wire s_txc_tlast,
    output wire [7:0] m_txc_tdata,
    output wire [0:0] m_txc_tkeep,
    output wire m_txc_tvalid,
    input  wire m_txc_tready,
    output wire m_txc_tlast,
    input  wire txc_pause,
    output wire [1:0] txc_count,

    // inc_port_tx_cut, 8 bytes to 2, 16 beats, frames to 64 bytes, begins with 3 beats, holds when full
    input  wire [63:0] s_txd_tdata,
    input  wire [7:0] s_txd_tkeep,
    input  wire s_txd_tvalid,
    output wire s_txd_tready,
    input  wire s_txd_tlast,
    output wire [15:0] m_txd_tdata,
    output wire [1:0] m_txd_tkeep,
    output wire m_txd_tvalid,
    input  wire m_txd_tready,
    output wire m_txd_tlast,
    input  wire txd_pause,
    output wire [1:0] txd_count,

    // inc_port_tx_cut, 8 bytes to 8, 16 beats, frames to 64 bytes, begins with 2 beats, drops when full
    input  wire [63:0] s_txe_tdata,
    input  wire [7:0] s_txe_tkeep,
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

    // inc_port_arbiter, three ports
    input  wire [63:0] s_a0_tdata,  s_a1_tdata,  s_a2_tdata,
    input  wire [7:0]  s_a0_tkeep,  s_a1_tkeep,  s_a2_tkeep,
    input  wire        s_a0_tvalid, s_a1_tvalid, s_a2_tvalid,
    output wire        s_a0_tready, s_a1_tready, s_a2_tready,
    input  wire        s_a0_tlast,  s_a1_tlast,  s_a2_tlast,
    input  wire        s_a0_tuser,  s_a1_tuser,  s_a2_tuser,
    output wire [63:0] m_arb_tdata,
    output wire [7:0]  m_arb_tkeep,
    output wire        m_arb_tvalid,
    input  wire        m_arb_tready,
    output wire        m_arb_tlast,
    output wire [2:0]  m_arb_tuser,
    output wire        mon_valid,
    output wire [1:0]  mon_port,

    // inc_port_demux, three ports
    input  wire [63:0] s_dem_tdata,
    input  wire [7:0]  s_dem_tkeep,
    input  wire        s_dem_tvalid,
    output wire        s_dem_tready,
    input  wire        s_dem_tlast,
    input  wire [2:0]  s_dem_tuser,
    output wire [63:0] m_d0_tdata,  m_d1_tdata,  m_d2_tdata,
    output wire [7:0]  m_d0_tkeep,  m_d1_tkeep,  m_d2_tkeep,
    output wire        m_d0_tvalid, m_d1_tvalid, m_d2_tvalid,
    input  wire        m_d0_tready, m_d1_tready, m_d2_tready,
    output wire        m_d0_tlast,  m_d1_tlast,  m_d2_tlast,
    output wire        m_d0_tuser,  m_d1_tuser,  m_d2_tuser
);

    inc_skid #(.WIDTH(73)) u_skid (
        .clk(clk), .rst(rst),
        .s_data({s_skid_tlast, s_skid_tkeep, s_skid_tdata}), .s_valid(s_skid_tvalid), .s_ready(s_skid_tready),
        .m_data({m_skid_tlast, m_skid_tkeep, m_skid_tdata}), .m_valid(m_skid_tvalid), .m_ready(m_skid_tready)
    );

    inc_fifo #(.WIDTH(8), .DEPTH_W(1), .MARGIN(0)) u_f1 (.clk(clk), .rst(rst),
        .push(f1_push), .push_data(f1_push_data), .room(f1_room), .valid(f1_valid), .data(f1_data), .pop(f1_pop));
    inc_fifo #(.WIDTH(65), .DEPTH_W(3), .MARGIN(3)) u_f3 (.clk(clk), .rst(rst),
        .push(f3_push), .push_data(f3_push_data), .room(f3_room), .valid(f3_valid), .data(f3_data), .pop(f3_pop));

    inc_port_arbiter #(.PORTS(3), .PORT_W(2), .BYTES(8)) u_arbiter (
        .clk(clk), .rst(rst),
        .s_axis_tdata  ({s_a2_tdata,  s_a1_tdata,  s_a0_tdata}),
        .s_axis_tkeep  ({s_a2_tkeep,  s_a1_tkeep,  s_a0_tkeep}),
        .s_axis_tvalid ({s_a2_tvalid, s_a1_tvalid, s_a0_tvalid}),
        .s_axis_tready ({s_a2_tready, s_a1_tready, s_a0_tready}),
        .s_axis_tlast  ({s_a2_tlast,  s_a1_tlast,  s_a0_tlast}),
        .s_axis_tuser  ({s_a2_tuser,  s_a1_tuser,  s_a0_tuser}),
        .m_axis_tdata(m_arb_tdata), .m_axis_tkeep(m_arb_tkeep), .m_axis_tvalid(m_arb_tvalid), .m_axis_tready(m_arb_tready),
        .m_axis_tlast(m_arb_tlast), .m_axis_tuser(m_arb_tuser), .mon_valid(mon_valid), .mon_port(mon_port)
    );

    inc_port_demux #(.PORTS(3), .PORT_W(2), .BYTES(8)) u_demux (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_dem_tdata), .s_axis_tkeep(s_dem_tkeep), .s_axis_tvalid(s_dem_tvalid), .s_axis_tready(s_dem_tready),
        .s_axis_tlast(s_dem_tlast), .s_axis_tuser(s_dem_tuser),
        .m_axis_tdata  ({m_d2_tdata,  m_d1_tdata,  m_d0_tdata}),
        .m_axis_tkeep  ({m_d2_tkeep,  m_d1_tkeep,  m_d0_tkeep}),
        .m_axis_tvalid ({m_d2_tvalid, m_d1_tvalid, m_d0_tvalid}),
        .m_axis_tready ({m_d2_tready, m_d1_tready, m_d0_tready}),
        .m_axis_tlast  ({m_d2_tlast,  m_d1_tlast,  m_d0_tlast}),
        .m_axis_tuser  ({m_d2_tuser,  m_d1_tuser,  m_d0_tuser})
    );

    inc_port_rx #(.PORT_BYTES(2), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .STALL(20), .DROP(0)) u_rxa (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_rxa_tdata), .s_axis_tkeep(s_rxa_tkeep), .s_axis_tvalid(s_rxa_tvalid), .s_axis_tready(s_rxa_tready),
        .s_axis_tlast(s_rxa_tlast), .s_axis_tuser(s_rxa_tuser),
        .m_axis_tdata(m_rxa_tdata), .m_axis_tkeep(m_rxa_tkeep), .m_axis_tvalid(m_rxa_tvalid), .m_axis_tready(m_rxa_tready),
        .m_axis_tlast(m_rxa_tlast), .high(rxa_high), .count_frame(rxa_count[0]), .count_error(rxa_count[1]), .count_long(rxa_count[2]),
        .count_hung(rxa_count[3]), .count_full(rxa_count[4]), .mon_end(rxa_end), .mon_drop(rxa_drop)
    );

    inc_port_rx #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .STALL(20), .DROP(1)) u_rxb (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_rxb_tdata), .s_axis_tkeep(s_rxb_tkeep), .s_axis_tvalid(s_rxb_tvalid), .s_axis_tready(s_rxb_tready),
        .s_axis_tlast(s_rxb_tlast), .s_axis_tuser(s_rxb_tuser),
        .m_axis_tdata(m_rxb_tdata), .m_axis_tkeep(m_rxb_tkeep), .m_axis_tvalid(m_rxb_tvalid), .m_axis_tready(m_rxb_tready),
        .m_axis_tlast(m_rxb_tlast), .high(rxb_high), .count_frame(rxb_count[0]), .count_error(rxb_count[1]), .count_long(rxb_count[2]),
        .count_hung(rxb_count[3]), .count_full(rxb_count[4]), .mon_end(rxb_end), .mon_drop(rxb_drop)
    );

    inc_port_rx #(.PORT_BYTES(1), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .STALL(20), .DROP(0)) u_rxc (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_rxc_tdata), .s_axis_tkeep(s_rxc_tkeep), .s_axis_tvalid(s_rxc_tvalid), .s_axis_tready(s_rxc_tready),
        .s_axis_tlast(s_rxc_tlast), .s_axis_tuser(s_rxc_tuser),
        .m_axis_tdata(m_rxc_tdata), .m_axis_tkeep(m_rxc_tkeep), .m_axis_tvalid(m_rxc_tvalid), .m_axis_tready(m_rxc_tready),
        .m_axis_tlast(m_rxc_tlast), .high(rxc_high), .count_frame(rxc_count[0]), .count_error(rxc_count[1]), .count_long(rxc_count[2]),
        .count_hung(rxc_count[3]), .count_full(rxc_count[4]), .mon_end(rxc_end), .mon_drop(rxc_drop)
    );

    inc_port_tx #(.PORT_BYTES(2), .BYTES(8), .DEPTH_W(4), .DROP(0)) u_txa (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_txa_tdata), .s_axis_tkeep(s_txa_tkeep), .s_axis_tvalid(s_txa_tvalid), .s_axis_tready(s_txa_tready),
        .s_axis_tlast(s_txa_tlast),
        .m_axis_tdata(m_txa_tdata), .m_axis_tkeep(m_txa_tkeep), .m_axis_tvalid(m_txa_tvalid), .m_axis_tready(m_txa_tready),
        .m_axis_tlast(m_txa_tlast), .pause(txa_pause), .count_frame(txa_count[0]), .count_full(txa_count[1])
    );

    inc_port_tx #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(4), .DROP(1)) u_txb (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_txb_tdata), .s_axis_tkeep(s_txb_tkeep), .s_axis_tvalid(s_txb_tvalid), .s_axis_tready(s_txb_tready),
        .s_axis_tlast(s_txb_tlast),
        .m_axis_tdata(m_txb_tdata), .m_axis_tkeep(m_txb_tkeep), .m_axis_tvalid(m_txb_tvalid), .m_axis_tready(m_txb_tready),
        .m_axis_tlast(m_txb_tlast), .pause(txb_pause), .count_frame(txb_count[0]), .count_full(txb_count[1])
    );

    inc_port_tx_cut #(.PORT_BYTES(2), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .START(3), .DROP(0)) u_txd (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_txd_tdata), .s_axis_tkeep(s_txd_tkeep), .s_axis_tvalid(s_txd_tvalid), .s_axis_tready(s_txd_tready),
        .s_axis_tlast(s_txd_tlast),
        .m_axis_tdata(m_txd_tdata), .m_axis_tkeep(m_txd_tkeep), .m_axis_tvalid(m_txd_tvalid), .m_axis_tready(m_txd_tready),
        .m_axis_tlast(m_txd_tlast), .pause(txd_pause), .count_frame(txd_count[0]), .count_full(txd_count[1])
    );

    inc_port_tx_cut #(.PORT_BYTES(8), .BYTES(8), .DEPTH_W(4), .MAX_BYTES(64), .START(2), .DROP(1)) u_txe (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_txe_tdata), .s_axis_tkeep(s_txe_tkeep), .s_axis_tvalid(s_txe_tvalid), .s_axis_tready(s_txe_tready),
        .s_axis_tlast(s_txe_tlast),
        .m_axis_tdata(m_txe_tdata), .m_axis_tkeep(m_txe_tkeep), .m_axis_tvalid(m_txe_tvalid), .m_axis_tready(m_txe_tready),
        .m_axis_tlast(m_txe_tlast), .pause(txe_pause), .count_frame(txe_count[0]), .count_full(txe_count[1])
    );

    inc_port_tx #(.PORT_BYTES(1), .BYTES(8), .DEPTH_W(4), .DROP(0)) u_txc (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_txc_tdata), .s_axis_tkeep(s_txc_tkeep), .s_axis_tvalid(s_txc_tvalid), .s_axis_tready(s_txc_tready),
        .s_axis_tlast(s_txc_tlast),
        .m_axis_tdata(m_txc_tdata), .m_axis_tkeep(m_txc_tkeep), .m_axis_tvalid(m_txc_tvalid), .m_axis_tready(m_txc_tready),
        .m_axis_tlast(m_txc_tlast), .pause(txc_pause), .count_frame(txc_count[0]), .count_full(txc_count[1])
    );

endmodule

`default_nettype wire
