// SPDX-License-Identifier: Apache-2.0
//
// t_header: watches a stream and shows fields of its first beat.
`default_nettype none

module t_header #(
    parameter DATA_W = 64
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [DATA_W-1:0]   s_axis_tdata,
    input  wire [DATA_W/8-1:0] s_axis_tkeep,
    input  wire                s_axis_tlast,
    input  wire                s_axis_tuser,
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,
    output wire [DATA_W-1:0]   m_axis_tdata,
    output wire [DATA_W/8-1:0] m_axis_tkeep,
    output wire                m_axis_tlast,
    output wire                m_axis_tuser,
    output wire                m_axis_tvalid,
    input  wire                m_axis_tready,
    output wire                hdr_valid,
    output wire [23:0]         hdr_psn,
    output wire [7:0]          hdr_opcode
);

    reg first_reg;

    assign m_axis_tdata  = s_axis_tdata;
    assign m_axis_tkeep  = s_axis_tkeep;
    assign m_axis_tlast  = s_axis_tlast;
    assign m_axis_tuser  = s_axis_tuser;
    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign hdr_valid     = s_axis_tvalid && s_axis_tready && first_reg;
    assign hdr_psn       = s_axis_tdata[23:0];
    assign hdr_opcode    = s_axis_tdata[31:24];

    always @(posedge clk) begin
        if (s_axis_tvalid && s_axis_tready) begin
            first_reg <= s_axis_tlast;
        end
        if (rst) begin
            first_reg <= 1'b1;
        end
    end

endmodule

`default_nettype wire
