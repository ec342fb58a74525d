// SPDX-License-Identifier: Apache-2.0
//
// inc_round: the way round the engines: each frame leaves by the port that is set for the one that it came in on.
//
// Contract
//   latency     0 cycles
//   throughput  1 beat per cycle
//   count       count_frame is high in the cycle in which a frame's last beat passes
//   stall       m_axis_tready is s_axis_tready
//   exits       as they are when a frame's first beat is offered; a change counts from the next frame on
//   reset       between frames
//   not done    no register in the way of a beat: inc_fan behind it has one
`default_nettype none

module inc_round #(
    // number of ports, at least 1
    parameter PORTS  = 4,
    // bits of a port number, at least 1
    parameter PORT_W = 2,
    // bytes of a beat
    parameter BYTES  = 8
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [8*BYTES-1:0]      s_axis_tdata,
    input  wire [BYTES-1:0]        s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,
    input  wire [PORT_W:0]         s_axis_tuser,

    output wire [8*BYTES-1:0]      m_axis_tdata,
    output wire [BYTES-1:0]        m_axis_tkeep,
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready,
    output wire                    m_axis_tlast,
    output wire [PORT_W:0]         m_axis_tuser,

    // where what came in by port p leaves, at [p*PORT_W +: PORT_W]
    input  wire [PORTS*PORT_W-1:0] exits,
    output wire                    count_frame
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORTS < 1 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_round: PORTS must be 1 to 2**PORT_W");
        end
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_round: BYTES must be at least 1");
        end
    endgenerate
`endif

    reg               begun_reg;           // a beat was offered, and the frame's last has not passed
    reg  [PORT_W-1:0] exit_reg;
    reg  [PORT_W-1:0] set;
    wire [PORT_W-1:0] exit = begun_reg ? exit_reg : set;
    integer p;
    always @* begin
        set = {PORT_W{1'b0}};
        for (p = 0; p < PORTS; p = p + 1) begin
            if (s_axis_tuser[PORT_W:1] == p[PORT_W-1:0]) begin
                set = exits[p*PORT_W +: PORT_W];
            end
        end
    end

    assign m_axis_tdata  = s_axis_tdata;
    assign m_axis_tkeep  = s_axis_tkeep;
    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign m_axis_tlast  = s_axis_tlast;
    assign m_axis_tuser  = {exit, s_axis_tuser[0]};
    assign count_frame   = s_axis_tvalid && m_axis_tready && s_axis_tlast;

    always @(posedge clk) begin
        if (s_axis_tvalid) begin
            begun_reg <= !(m_axis_tready && s_axis_tlast);
            exit_reg  <= exit;
        end
        if (rst) begin
            begun_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
