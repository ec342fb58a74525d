// SPDX-License-Identifier: Apache-2.0
//
// t_priority: what a port has on the way out: the table, what finds a frame's priority, four queues that drop, and what chooses among them. Whoever
// asks for a register that is not the table's is refused.
`default_nettype none

module t_priority #(
    parameter BYTES = 8
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [15:0]  s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire [31:0]  s_axil_wdata,
    input  wire [3:0]   s_axil_wstrb,
    input  wire         s_axil_wvalid,
    output wire         s_axil_wready,
    output wire [1:0]   s_axil_bresp,
    output wire         s_axil_bvalid,
    input  wire         s_axil_bready,
    input  wire [15:0]  s_axil_araddr,
    input  wire         s_axil_arvalid,
    output wire         s_axil_arready,
    output wire [31:0]  s_axil_rdata,
    output wire [1:0]   s_axil_rresp,
    output wire         s_axil_rvalid,
    input  wire         s_axil_rready,

    input  wire [8*BYTES-1:0] s_axis_tdata,
    input  wire [BYTES-1:0]   s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,

    output wire [31:0]        m_axis_tdata,
    output wire [3:0]         m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,

    input  wire [3:0]         pause,
    output wire               count_frame,
    output wire               count_full,
    // a beat has another err than it came with, which is its bit 0 here
    output wire               wrong
);

    wire [143:0]         priorities;
    wire [8*BYTES-1:0]   data;
    wire [BYTES-1:0]     keep;
    wire                 last, err, out_err;
    wire [3:0]           in_valid, in_ready, out_valid, out_ready, out_last, sent, full;
    wire [127:0]         out_data;
    wire [15:0]          out_keep;

    inc_priority_regs #(.AXIL_W(16), .PAGE(38), .WIDTH(2)) u_regs (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(s_axil_awaddr),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr),
        .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata),
        .s_axil_rresp(s_axil_rresp),
        .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .m_axil_awaddr(),
        .m_axil_awvalid(),
        .m_axil_awready(1'b1),
        .m_axil_wdata(),
        .m_axil_wstrb(),
        .m_axil_wvalid(),
        .m_axil_wready(1'b1),
        .m_axil_bresp(2'b10),
        .m_axil_bvalid(1'b1),
        .m_axil_bready(),
        .m_axil_araddr(),
        .m_axil_arvalid(),
        .m_axil_arready(1'b1),
        .m_axil_rdata(32'd0),
        .m_axil_rresp(2'b10),
        .m_axil_rvalid(1'b1),
        .m_axil_rready(),
        .priorities(priorities)
    );

    inc_priority_class #(.BYTES(BYTES), .WIDTH(2), .ERR(1)) u_class (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
        .s_axis_tlast(s_axis_tlast), .s_err(s_axis_tdata[0]), .priorities(priorities),
        .m_axis_tdata(data), .m_axis_tkeep(keep), .m_axis_tvalid(in_valid), .m_axis_tready(in_ready), .m_axis_tlast(last), .m_err(err)
    );

    genvar g;
    generate
        for (g = 0; g < 4; g = g + 1) begin : gen_queue
            inc_port_tx #(.PORT_BYTES(4), .BYTES(BYTES), .DEPTH_W(6), .DROP(1)) u_tx (
                .clk(clk), .rst(rst),
                .s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tvalid(in_valid[g]), .s_axis_tready(in_ready[g]), .s_axis_tlast(last),
                .m_axis_tdata(out_data[32*g +: 32]), .m_axis_tkeep(out_keep[4*g +: 4]), .m_axis_tvalid(out_valid[g]),
                .m_axis_tready(out_ready[g]), .m_axis_tlast(out_last[g]),
                .pause(1'b0), .count_frame(sent[g]), .count_full(full[g])
            );
        end
    endgenerate

    inc_priority_pick #(.BYTES(4), .PRIORITIES(4), .ERR(1)) u_pick (
        .clk(clk), .rst(rst),
        .s_axis_tdata(out_data), .s_axis_tkeep(out_keep), .s_axis_tvalid(out_valid), .s_axis_tready(out_ready), .s_axis_tlast(out_last),
        .s_err({out_data[96], out_data[64], out_data[32], out_data[0]}),
        .pause(pause),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready),
        .m_axis_tlast(m_axis_tlast), .m_err(out_err)
    );

    assign wrong = (in_valid != 4'd0 && err != data[0]) || (m_axis_tvalid && out_err != m_axis_tdata[0]);

    inc_priority_count #(.PRIORITIES(4)) u_sent (.clk(clk), .rst(rst), .events(sent), .count(count_frame));
    inc_priority_count #(.PRIORITIES(4)) u_full (.clk(clk), .rst(rst), .events(full), .count(count_full));

endmodule

`default_nettype wire
