// SPDX-License-Identifier: Apache-2.0
//
// t_engines: three ports and three engines that are wires. What engine e, or the way round them (e = 3), gets from port p it sends to port
// (p + e + 1) mod 3; the way round does so by its exits. And inc_engine_regs before three slaves that are slower the higher their number.
`default_nettype none

module t_engines #(
    parameter BYTES = 8,
    parameter TAGS  = 0
) (
    input  wire                 clk,
    input  wire                 rst,

    input  wire [8*BYTES-1:0]   s_p0_tdata, s_p1_tdata, s_p2_tdata,
    input  wire [BYTES-1:0]     s_p0_tkeep, s_p1_tkeep, s_p2_tkeep,
    input  wire                 s_p0_tvalid, s_p1_tvalid, s_p2_tvalid,
    output wire                 s_p0_tready, s_p1_tready, s_p2_tready,
    input  wire                 s_p0_tlast, s_p1_tlast, s_p2_tlast,
    input  wire                 s_p0_tuser, s_p1_tuser, s_p2_tuser,
    output wire [8*BYTES-1:0]   m_p0_tdata, m_p1_tdata, m_p2_tdata,
    output wire [BYTES-1:0]     m_p0_tkeep, m_p1_tkeep, m_p2_tkeep,
    output wire                 m_p0_tvalid, m_p1_tvalid, m_p2_tvalid,
    input  wire                 m_p0_tready, m_p1_tready, m_p2_tready,
    output wire                 m_p0_tlast, m_p1_tlast, m_p2_tlast,
    output wire                 m_p0_tuser, m_p1_tuser, m_p2_tuser,
    output wire                 round,

    input  wire [17:0]          s_axil_awaddr,
    input  wire                 s_axil_awvalid,
    output wire                 s_axil_awready,
    input  wire [31:0]          s_axil_wdata,
    input  wire [3:0]           s_axil_wstrb,
    input  wire                 s_axil_wvalid,
    output wire                 s_axil_wready,
    output wire [1:0]           s_axil_bresp,
    output wire                 s_axil_bvalid,
    input  wire                 s_axil_bready,
    input  wire [17:0]          s_axil_araddr,
    input  wire                 s_axil_arvalid,
    output wire                 s_axil_arready,
    output wire [31:0]          s_axil_rdata,
    output wire [1:0]           s_axil_rresp,
    output wire                 s_axil_rvalid,
    input  wire                 s_axil_rready
);

    localparam PORTS = 3, ENGINES = 3, WAYS = 4;

    wire [PORTS*8*BYTES-1:0] s_tdata  = {s_p2_tdata, s_p1_tdata, s_p0_tdata};
    wire [PORTS*BYTES-1:0]   s_tkeep  = {s_p2_tkeep, s_p1_tkeep, s_p0_tkeep};
    wire [PORTS-1:0]         s_tvalid = {s_p2_tvalid, s_p1_tvalid, s_p0_tvalid};
    wire [PORTS-1:0]         s_tlast  = {s_p2_tlast, s_p1_tlast, s_p0_tlast};
    wire [PORTS-1:0]         s_tuser  = {s_p2_tuser, s_p1_tuser, s_p0_tuser};
    wire [PORTS-1:0]         s_tready;
    assign {s_p2_tready, s_p1_tready, s_p0_tready} = s_tready;

    wire [PORTS*8*BYTES-1:0] in_data;
    wire [PORTS*BYTES-1:0]   in_keep;
    wire [PORTS-1:0]         in_last, in_user;
    wire [PORTS*WAYS-1:0]    in_want, in_take;      // port p, way e at [p*WAYS + e]
    wire [WAYS*8*BYTES-1:0]  out_data;
    wire [WAYS*BYTES-1:0]    out_keep;
    wire [WAYS-1:0]          out_last, out_user;
    wire [PORTS*WAYS-1:0]    out_want, out_take;    // way e, port p at [e*PORTS + p]
    wire [PORTS*2-1:0]       exits;
    wire [PORTS*8*BYTES-1:0] m_tdata;
    wire [PORTS*BYTES-1:0]   m_tkeep;
    wire [PORTS-1:0]         m_tvalid, m_tlast, m_tuser;
    wire [PORTS-1:0]         m_tready = {m_p2_tready, m_p1_tready, m_p0_tready};

    assign {m_p2_tdata, m_p1_tdata, m_p0_tdata}    = m_tdata;
    assign {m_p2_tkeep, m_p1_tkeep, m_p0_tkeep}    = m_tkeep;
    assign {m_p2_tvalid, m_p1_tvalid, m_p0_tvalid} = m_tvalid;
    assign {m_p2_tlast, m_p1_tlast, m_p0_tlast}    = m_tlast;
    assign {m_p2_tuser, m_p1_tuser, m_p0_tuser}    = m_tuser;

    genvar p, e;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_port
            inc_steer #(.TAGS(TAGS), .BYTES(BYTES), .ENGINES(ENGINES), .EI_W(5)) u_steer (
                .clk(clk), .rst(rst),
                .s_axis_tdata(s_tdata[p*8*BYTES +: 8*BYTES]), .s_axis_tkeep(s_tkeep[p*BYTES +: BYTES]), .s_axis_tvalid(s_tvalid[p]),
                .s_axis_tready(s_tready[p]), .s_axis_tlast(s_tlast[p]), .s_axis_tuser(s_tuser[p]),
                .m_tdata(in_data[p*8*BYTES +: 8*BYTES]), .m_tkeep(in_keep[p*BYTES +: BYTES]), .m_tlast(in_last[p]), .m_tuser(in_user[p]),
                .want(in_want[p*WAYS +: WAYS]), .take(in_take[p*WAYS +: WAYS])
            );
            wire [WAYS-1:0] want, take;
            for (e = 0; e < WAYS; e = e + 1) begin : gen_way
                assign want[e] = out_want[e*PORTS + p];
                assign out_take[e*PORTS + p] = take[e];
            end
            wire [2:0] user;
            wire       mon_valid;
            wire [1:0] mon_port;
            inc_cross #(.INPUTS(WAYS), .INPUT_W(2), .BYTES(BYTES)) u_onto (
                .clk(clk), .rst(rst),
                .s_tdata(out_data), .s_tkeep(out_keep), .s_tlast(out_last), .s_tuser(out_user), .want(want), .take(take),
                .m_axis_tdata(m_tdata[p*8*BYTES +: 8*BYTES]), .m_axis_tkeep(m_tkeep[p*BYTES +: BYTES]), .m_axis_tvalid(m_tvalid[p]),
                .m_axis_tready(m_tready[p]), .m_axis_tlast(m_tlast[p]), .m_axis_tuser(user), .mon_valid(mon_valid), .mon_port(mon_port)
            );
            assign m_tuser[p] = user[0];
        end
        for (e = 0; e < WAYS; e = e + 1) begin : gen_engine
            wire [PORTS-1:0] want, take;
            for (p = 0; p < PORTS; p = p + 1) begin : gen_port
                assign want[p] = in_want[p*WAYS + e];
                assign in_take[p*WAYS + e] = take[p];
            end
            wire [8*BYTES-1:0] data;
            wire [BYTES-1:0]   keep;
            wire               valid, ready, last, mon_valid;
            wire [2:0]         user;
            wire [1:0]         mon_port;
            inc_cross #(.INPUTS(PORTS), .INPUT_W(2), .BYTES(BYTES)) u_into (
                .clk(clk), .rst(rst),
                .s_tdata(in_data), .s_tkeep(in_keep), .s_tlast(in_last), .s_tuser(in_user), .want(want), .take(take),
                .m_axis_tdata(data), .m_axis_tkeep(keep), .m_axis_tvalid(valid), .m_axis_tready(ready), .m_axis_tlast(last),
                .m_axis_tuser(user), .mon_valid(mon_valid), .mon_port(mon_port)
            );
            wire [8*BYTES-1:0] back_data;
            wire [BYTES-1:0]   back_keep;
            wire               back_valid, back_ready, back_last;
            wire [2:0]         back_user;
            if (e < ENGINES) begin : gen_wire
                wire [2:0] sum = {1'b0, user[2:1]} + e + 1;
                assign back_user  = {sum >= 3 ? sum[1:0] - 2'd3 : sum[1:0], user[0]};
                assign back_data  = data;
                assign back_keep  = keep;
                assign back_valid = valid;
                assign back_last  = last;
                assign ready      = back_ready;
            end else begin : gen_round
                inc_round #(.PORTS(PORTS), .PORT_W(2), .BYTES(BYTES)) u_round (
                    .clk(clk), .rst(rst),
                    .s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tvalid(valid), .s_axis_tready(ready), .s_axis_tlast(last), .s_axis_tuser(user),
                    .m_axis_tdata(back_data), .m_axis_tkeep(back_keep), .m_axis_tvalid(back_valid), .m_axis_tready(back_ready),
                    .m_axis_tlast(back_last), .m_axis_tuser(back_user), .exits(exits), .count_frame(round)
                );
            end
            inc_fan #(.PORTS(PORTS), .PORT_W(2), .BYTES(BYTES)) u_fan (
                .clk(clk), .rst(rst),
                .s_axis_tdata(back_data), .s_axis_tkeep(back_keep), .s_axis_tvalid(back_valid), .s_axis_tready(back_ready),
                .s_axis_tlast(back_last), .s_axis_tuser(back_user),
                .m_tdata(out_data[e*8*BYTES +: 8*BYTES]), .m_tkeep(out_keep[e*BYTES +: BYTES]), .m_tlast(out_last[e]), .m_tuser(out_user[e]),
                .want(out_want[e*PORTS +: PORTS]), .take(out_take[e*PORTS +: PORTS])
            );
        end
    endgenerate

    // Slave e answers e + 1 cycles after a request. It refuses 0x0FF0 and all from 0xC000 on, and of partial writes all. It keeps the last
    // word written, which reads at 0x0000; elsewhere it reads {e, address}, and at COUNTER and COUNTER_HIGH numbers that carry.
    wire [15:0]           awaddr, araddr;
    wire [31:0]           wdata;
    wire [3:0]            wstrb;
    wire [ENGINES-1:0]    awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [2*ENGINES-1:0]  bresp, rresp;
    wire [32*ENGINES-1:0] rdata;
    inc_engine_regs #(.AXIL_W(18), .ENG_W(16), .ENGINES(ENGINES), .PORTS(PORTS), .PORT_W(2), .COUNTERS(4), .RX(0), .BYPASS(2), .SNAPSHOT(60)) u_regs (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .m_axil_awaddr(awaddr), .m_axil_awvalid(awvalid), .m_axil_awready(awready), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
        .m_axil_wvalid(wvalid), .m_axil_wready(wready), .m_axil_bresp(bresp), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
        .m_axil_araddr(araddr), .m_axil_arvalid(arvalid), .m_axil_arready(arready), .m_axil_rdata(rdata), .m_axil_rresp(rresp),
        .m_axil_rvalid(rvalid), .m_axil_rready(rready), .count_round(round), .exits(exits)
    );

    function refuses(input [15:0] a);
        refuses = a == 16'h0FF0 || a[15:14] == 2'b11;
    endfunction

    generate
        for (e = 0; e < ENGINES; e = e + 1) begin : gen_slave
            reg        aw_reg, w_reg, ar_reg;
            reg [31:0] kept_reg;
            reg [2:0]  b_age_reg, r_age_reg;
            assign awready[e] = !aw_reg;
            assign wready[e]  = !w_reg;
            assign arready[e] = !ar_reg;
            assign bvalid[e]  = aw_reg && w_reg && b_age_reg > e;
            assign rvalid[e]  = ar_reg && r_age_reg > e;
            assign bresp[2*e +: 2] = refuses(awaddr) || wstrb != 4'hF ? 2'b10 : 2'b00;
            assign rresp[2*e +: 2] = refuses(araddr) ? 2'b10 : 2'b00;
            assign rdata[32*e +: 32] = araddr == 16'd0 ? kept_reg : araddr[15:10] == 6'd2 ? 32'hFFFF_FF00 + e :
                                       araddr[15:10] == 6'd3 ? 32'd100 + e : {8'd0, 8'hE0 + 8'd1*e, araddr};
            always @(posedge clk) begin
                aw_reg    <= aw_reg || awvalid[e];
                w_reg     <= w_reg || wvalid[e];
                ar_reg    <= ar_reg || arvalid[e];
                b_age_reg <= aw_reg && w_reg ? b_age_reg + (b_age_reg < 7) : 0;
                r_age_reg <= ar_reg ? r_age_reg + (r_age_reg < 7) : 0;
                if (bvalid[e] && bready[e]) begin
                    aw_reg   <= 1'b0;
                    w_reg    <= 1'b0;
                    kept_reg <= bresp[2*e +: 2] == 2'b00 ? wdata : kept_reg;
                end
                if (rvalid[e] && rready[e]) begin
                    ar_reg <= 1'b0;
                end
                if (rst) begin
                    aw_reg <= 1'b0; w_reg <= 1'b0; ar_reg <= 1'b0; kept_reg <= e;
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
