// SPDX-License-Identifier: Apache-2.0

// About the work of an engine's data path on a 512-bit bus: a stream through four
// stages of 16 adders and a 512-bit CRC step, with ready registered at the end.
module work (
    input  wire         clk,
    input  wire         rst,
    input  wire [511:0] s_axis_tdata,
    input  wire [63:0]  s_axis_tkeep,
    input  wire [3:0]   s_axis_tuser,
    input  wire         s_axis_tlast,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [63:0]  m_axis_tkeep,
    output wire [3:0]   m_axis_tuser,
    output wire         m_axis_tlast,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready
);
    localparam STAGES = 4;
    reg  [511:0] data [0:STAGES-1];
    reg  [63:0]  keep [0:STAGES-1];
    reg  [3:0]   user [0:STAGES-1];
    reg          last [0:STAGES-1];
    reg          valid [0:STAGES-1];
    reg  [31:0]  crc;
    wire         go = m_axis_tready || !m_axis_tvalid;

    assign s_axis_tready = go;
    assign m_axis_tdata  = data[STAGES-1];
    assign m_axis_tkeep  = keep[STAGES-1];
    assign m_axis_tuser  = user[STAGES-1];
    assign m_axis_tlast  = last[STAGES-1];
    assign m_axis_tvalid = valid[STAGES-1];

    function [511:0] add(input [511:0] a, input [31:0] b);
        integer k;
        for (k = 0; k < 16; k = k + 1) add[32*k+:32] = a[32*k+:32] + b;
    endfunction

    function [31:0] step(input [31:0] c, input [511:0] d);
        integer k;
        begin
            step = c;
            for (k = 0; k < 512; k = k + 1)
                step = {step[30:0], 1'b0} ^ (step[31] ^ d[k] ? 32'h04C11DB7 : 32'd0);
        end
    endfunction

    integer i;
    always @(posedge clk) begin
        if (go) begin
            data[0]  <= add(s_axis_tdata, crc);
            keep[0]  <= s_axis_tkeep;
            user[0]  <= s_axis_tuser;
            last[0]  <= s_axis_tlast;
            valid[0] <= s_axis_tvalid;
            for (i = 1; i < STAGES; i = i + 1) begin
                data[i]  <= add(data[i-1], 32'd1);
                keep[i]  <= keep[i-1];
                user[i]  <= user[i-1];
                last[i]  <= last[i-1];
                valid[i] <= valid[i-1];
            end
            if (s_axis_tvalid) crc <= s_axis_tlast ? 32'hFFFFFFFF : step(crc, s_axis_tdata);
        end
        if (rst) begin
            crc <= 32'hFFFFFFFF;
            for (i = 0; i < STAGES; i = i + 1) valid[i] <= 1'b0;
        end
    end
endmodule
