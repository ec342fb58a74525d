// SPDX-License-Identifier: Apache-2.0
//
// inc_fan: offers each frame of an engine to the port that its tuser names.
//
// Contract
//   latency     0 cycles while nothing waits
//   throughput  1 beat per cycle, no bubbles
//   way         bit p of `want`: the beat is for port p
//   stall       a beat that its port does not take stops the stream one beat later; the other ports' beats then wait behind it
//   bad port    a frame for a port that does not exist is swallowed
//   reset       empty
//   not done    tuser must name the same port on every beat of a frame
`default_nettype none

module inc_fan #(
    // number of ports, at least 1
    parameter PORTS  = 4,
    // bits of a port number, at least 1
    parameter PORT_W = 2,
    // bytes of a beat
    parameter BYTES  = 8
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [8*BYTES-1:0] s_axis_tdata,
    input  wire [BYTES-1:0]   s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [PORT_W:0]    s_axis_tuser,

    output wire [8*BYTES-1:0] m_tdata,
    output wire [BYTES-1:0]   m_tkeep,
    output wire               m_tlast,
    output wire               m_tuser,
    output wire [PORTS-1:0]   want,
    input  wire [PORTS-1:0]   take
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORTS < 1 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_fan: PORTS must be 1 to 2**PORT_W");
        end
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_fan: BYTES must be at least 1");
        end
    endgenerate
`endif

    localparam WIDTH = 9*BYTES + 1 + PORT_W + 1;

    wire              valid, ready;
    wire [PORT_W-1:0] port;
    inc_skid #(.WIDTH(WIDTH)) u_skid (
        .clk     (clk),
        .rst     (rst),
        .s_data  ({s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .s_valid (s_axis_tvalid),
        .s_ready (s_axis_tready),
        .m_data  ({port, m_tuser, m_tlast, m_tkeep, m_tdata}),
        .m_valid (valid),
        .m_ready (ready)
    );

    wire [PORTS-1:0] to;
    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_port
            localparam [PORT_W-1:0] P = p;
            assign to[p] = port == P;
        end
    endgenerate

    assign want  = to & {PORTS{valid}};
    assign ready = (to & ~take) == {PORTS{1'b0}};

endmodule

`default_nettype wire
