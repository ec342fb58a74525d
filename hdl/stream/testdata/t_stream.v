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

    // inc_stream_fifo: 4 entries and no margin, 16 entries and 8 kept free
    input  wire        q2_push, q4_push,
    input  wire [7:0]  q2_push_data,
    input  wire [64:0] q4_push_data,
    output wire        q2_room, q4_room,
    output wire        q2_valid, q4_valid,
    output wire [7:0]  q2_data,
    output wire [64:0] q4_data,
    input  wire        q2_pop, q4_pop,

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
    inc_stream_fifo #(.WIDTH(8), .DEPTH_W(2), .MARGIN(0)) u_q2 (.clk(clk), .rst(rst),
        .push(q2_push), .push_data(q2_push_data), .room(q2_room), .valid(q2_valid), .data(q2_data), .pop(q2_pop));
    inc_stream_fifo #(.WIDTH(65), .DEPTH_W(4), .MARGIN(8)) u_q4 (.clk(clk), .rst(rst),
        .push(q4_push), .push_data(q4_push_data), .room(q4_room), .valid(q4_valid), .data(q4_data), .pop(q4_pop));

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

endmodule

`default_nettype wire
