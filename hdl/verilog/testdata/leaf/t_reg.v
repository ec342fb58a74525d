// SPDX-License-Identifier: Apache-2.0
//
// t_reg: one stage of a stream that never stalls on its own.
`default_nettype none

module t_reg #(
    parameter DATA_W = 64,
    parameter USER_W = 1
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [DATA_W-1:0]   s_axis_tdata,
    input  wire [DATA_W/8-1:0] s_axis_tkeep,
    input  wire                s_axis_tlast,
    input  wire [USER_W-1:0]   s_axis_tuser,
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,
    output reg  [DATA_W-1:0]   m_axis_tdata,
    output reg  [DATA_W/8-1:0] m_axis_tkeep,
    output reg                 m_axis_tlast,
    output reg  [USER_W-1:0]   m_axis_tuser,
    output reg                 m_axis_tvalid,
    input  wire                m_axis_tready
);

    assign s_axis_tready = m_axis_tready || !m_axis_tvalid;

    always @(posedge clk) begin
        if (s_axis_tready) begin
            m_axis_tdata  <= s_axis_tdata;
            m_axis_tkeep  <= s_axis_tkeep;
            m_axis_tlast  <= s_axis_tlast;
            m_axis_tuser  <= s_axis_tuser;
            m_axis_tvalid <= s_axis_tvalid;
        end
        if (rst) begin
            m_axis_tvalid <= 1'b0;
        end
    end

endmodule

`default_nettype wire
