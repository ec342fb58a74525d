// SPDX-License-Identifier: Apache-2.0

// Sends the same frame of three beats (8, 8 and 3 bytes) again and again, and breaks
// the rule of the stream that `fault` names, on the middle beat. 0 breaks none.
module bad (
    input  wire        clk,
    input  wire        rst,
    input  wire [3:0]  fault,
    output reg  [63:0] m_axis_tdata,
    output reg  [7:0]  m_axis_tkeep,
    output reg  [1:0]  m_axis_tuser,
    output reg         m_axis_tlast,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready,
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready
);
    reg [1:0] beat;
    wire      go     = m_axis_tvalid && m_axis_tready;
    wire      middle = beat == 2'd1;

    assign s_axis_tready = fault != 4'd8 && s_axis_tdata != 32'd0;

    always @(posedge clk) begin
        if (go || !m_axis_tvalid) begin
            beat          <= beat == 2'd2 ? 2'd0 : beat + 2'd1;
            m_axis_tvalid <= 1'b1;
            m_axis_tdata  <= {8{6'd0, beat}};
            m_axis_tuser  <= beat;
            m_axis_tlast  <= beat == 2'd2;
            m_axis_tkeep  <= beat == 2'd2 ? 8'h07 : 8'hFF;
            if (middle) begin
                if (fault == 4'd3) m_axis_tkeep <= 8'hF7;
                if (fault == 4'd4) m_axis_tkeep <= 8'h7F;
                if (fault == 4'd5) m_axis_tkeep <= 8'h00;
            end
            if (fault == 4'd7) m_axis_tlast <= 1'b0;
            if (fault == 4'd7) m_axis_tkeep <= 8'hFF;
        end else begin
            if (fault == 4'd1) m_axis_tvalid <= 1'b0;
            if (fault == 4'd2) m_axis_tdata[40] <= ~m_axis_tdata[40];
            if (fault == 4'd9) m_axis_tlast <= ~m_axis_tlast;
            if (fault == 4'd10) m_axis_tuser <= ~m_axis_tuser;
            if (fault == 4'd11) m_axis_tkeep <= {m_axis_tkeep[6:0], 1'b1} ^ 8'h80;
        end
        if (rst) begin
            m_axis_tvalid <= fault == 4'd6;
            beat          <= 2'd0;
        end
    end
endmodule
