// SPDX-License-Identifier: Apache-2.0
//
// loop_switch: the interfaces of a switch top and hardly anything behind them, to test what drives them. Frames leave by the port
// they came in by; one port at a time passes, in turn; mon_* tells which. Four registers: 0 and 4 read and write, 8 counts frames,
// anything else is answered SLVERR. With the plusarg lie=1 mon_port tells the other port.
`default_nettype none

module loop_switch (
    input  wire        clk,
    input  wire        rst,

    input  wire [31:0] s_axis_p0_tdata,
    input  wire [3:0]  s_axis_p0_tkeep,
    input  wire        s_axis_p0_tvalid,
    output wire        s_axis_p0_tready,
    input  wire        s_axis_p0_tlast,
    input  wire        s_axis_p0_tuser,
    input  wire [31:0] s_axis_p1_tdata,
    input  wire [3:0]  s_axis_p1_tkeep,
    input  wire        s_axis_p1_tvalid,
    output wire        s_axis_p1_tready,
    input  wire        s_axis_p1_tlast,
    input  wire        s_axis_p1_tuser,

    output wire [31:0] m_axis_p0_tdata,
    output wire [3:0]  m_axis_p0_tkeep,
    output wire        m_axis_p0_tvalid,
    input  wire        m_axis_p0_tready,
    output wire        m_axis_p0_tlast,
    output wire        m_axis_p0_tuser,
    output wire [31:0] m_axis_p1_tdata,
    output wire [3:0]  m_axis_p1_tkeep,
    output wire        m_axis_p1_tvalid,
    input  wire        m_axis_p1_tready,
    output wire        m_axis_p1_tlast,
    output wire        m_axis_p1_tuser,

    output wire        mon_valid,
    output wire        mon_port,

    input  wire [7:0]  s_axil_awaddr,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output reg  [1:0]  s_axil_bresp,
    output reg         s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [7:0]  s_axil_araddr,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output reg  [31:0] s_axil_rdata,
    output reg  [1:0]  s_axil_rresp,
    output reg         s_axil_rvalid,
    input  wire        s_axil_rready
);

    // Whose turn it is; a turn ends with a frame or when there is none to begin.
    reg turn, busy, up;

    wire [37:0] in_0 = {s_axis_p0_tuser, s_axis_p0_tlast, s_axis_p0_tkeep, s_axis_p0_tdata};
    wire [37:0] in_1 = {s_axis_p1_tuser, s_axis_p1_tlast, s_axis_p1_tkeep, s_axis_p1_tdata};
    wire        valid = turn ? s_axis_p1_tvalid : s_axis_p0_tvalid;
    wire [37:0] beat  = turn ? in_1 : in_0;

    reg  [37:0] out_0, out_1;
    reg         full_0, full_1;
    wire        room_0 = !full_0 || m_axis_p0_tready;
    wire        room_1 = !full_1 || m_axis_p1_tready;
    wire        room   = up && (turn ? room_1 : room_0);
    wire        take   = valid && room;

    assign s_axis_p0_tready = room && !turn;
    assign s_axis_p1_tready = room && turn;
    assign mon_valid        = take && beat[36];
    integer lie;
    initial if (!$value$plusargs("lie=%d", lie)) lie = 0;
    assign mon_port         = turn ^ lie[0];
    assign {m_axis_p0_tuser, m_axis_p0_tlast, m_axis_p0_tkeep, m_axis_p0_tdata} = out_0;
    assign {m_axis_p1_tuser, m_axis_p1_tlast, m_axis_p1_tkeep, m_axis_p1_tdata} = out_1;
    assign m_axis_p0_tvalid = full_0;
    assign m_axis_p1_tvalid = full_1;

    reg [31:0] frames;

    always @(posedge clk) begin
        up     <= !rst;
        full_0 <= (take && !turn) || (full_0 && !m_axis_p0_tready);
        full_1 <= (take && turn) || (full_1 && !m_axis_p1_tready);
        if (take && !turn) out_0 <= in_0;
        if (take && turn) out_1 <= in_1;
        if (take) busy <= !beat[36];
        if (take ? beat[36] : !busy && !valid) turn <= !turn;
        if (mon_valid) frames <= frames + 32'd1;
        if (rst) begin
            turn   <= 1'b0;
            busy   <= 1'b0;
            full_0 <= 1'b0;
            full_1 <= 1'b0;
            frames <= 32'd0;
        end
    end

    reg  [31:0] reg_0, reg_4;
    wire        write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid && up;
    wire        read  = s_axil_arvalid && !s_axil_rvalid && up;

    assign s_axil_awready = write;
    assign s_axil_wready  = write;
    assign s_axil_arready = read;

    always @(posedge clk) begin
        if (write) begin
            s_axil_bvalid <= 1'b1;
            s_axil_bresp  <= s_axil_awaddr <= 8'd8 && &s_axil_wstrb ? 2'd0 : 2'd2;
            if (s_axil_awaddr == 8'd0) reg_0 <= s_axil_wdata;
            if (s_axil_awaddr == 8'd4) reg_4 <= s_axil_wdata;
        end else if (s_axil_bready) begin
            s_axil_bvalid <= 1'b0;
        end
        if (read) begin
            s_axil_rvalid <= 1'b1;
            s_axil_rresp  <= s_axil_araddr <= 8'd8 ? 2'd0 : 2'd2;
            s_axil_rdata  <= s_axil_araddr == 8'd0 ? reg_0 : s_axil_araddr == 8'd4 ? reg_4 : frames;
        end else if (s_axil_rready) begin
            s_axil_rvalid <= 1'b0;
        end
        if (rst) begin
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
            reg_0         <= 32'h1111;
            reg_4         <= 32'd0;
        end
    end

endmodule

`default_nettype wire
