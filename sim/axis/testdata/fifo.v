// SPDX-License-Identifier: Apache-2.0

// AXI4-Stream FIFO: one beat a cycle in and out, latency one cycle, tready and tvalid
// registered in effect (they depend on the counters alone). DEPTH is a power of two.
module fifo #(
    parameter BYTES = 8,
    parameter USER  = 4,
    parameter DEPTH = 8
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [8*BYTES-1:0] s_axis_p3_tdata,
    input  wire [BYTES-1:0]   s_axis_p3_tkeep,
    input  wire [USER-1:0]    s_axis_p3_tuser,
    input  wire               s_axis_p3_tlast,
    input  wire               s_axis_p3_tvalid,
    output wire               s_axis_p3_tready,

    output wire [8*BYTES-1:0] m_axis_tdata,
    output wire [BYTES-1:0]   m_axis_tkeep,
    output wire [USER-1:0]    m_axis_tuser,
    output wire               m_axis_tlast,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready
);
    localparam ABITS = $clog2(DEPTH);
    localparam WIDTH = 9 * BYTES + USER + 1;

    reg  [WIDTH-1:0] store [0:DEPTH-1];
    reg  [ABITS:0]   head, tail;
    wire [ABITS:0]   level = tail - head;

    assign s_axis_p3_tready = level != DEPTH[ABITS:0];
    assign m_axis_tvalid    = level != {ABITS + 1{1'b0}};
    assign {m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata} = store[head[ABITS-1:0]];

    always @(posedge clk) begin
        if (s_axis_p3_tvalid && s_axis_p3_tready) begin
            store[tail[ABITS-1:0]] <= {s_axis_p3_tlast, s_axis_p3_tuser, s_axis_p3_tkeep, s_axis_p3_tdata};
            tail <= tail + 1'b1;
        end
        if (m_axis_tvalid && m_axis_tready) head <= head + 1'b1;
        if (rst) begin
            head <= {ABITS + 1{1'b0}};
            tail <= {ABITS + 1{1'b0}};
        end
    end
endmodule
