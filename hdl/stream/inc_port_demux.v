// SPDX-License-Identifier: Apache-2.0
//
// inc_port_demux: sends each frame to the port that its tuser names.
//
// Contract
//   latency     0 cycles while nothing waits
//   throughput  1 beat per cycle, no bubbles
//   stall       a port that does not take its beat stops the stream one beat later; the other ports' beats then wait behind it
//   bad port    a frame for a port that does not exist is swallowed
//   reset       empty
//   not done    tuser must name the same port on every beat of a frame
`default_nettype none

module inc_port_demux #(
    // number of ports, at least 1
    parameter PORTS  = 4,
    // bits of a port number, at least 1
    parameter PORT_W = 2,
    // bytes of a beat
    parameter BYTES  = 8
) (
    input  wire                     clk,
    input  wire                     rst,

    input  wire [8*BYTES-1:0]       s_axis_tdata,
    input  wire [BYTES-1:0]         s_axis_tkeep,
    input  wire                     s_axis_tvalid,
    output wire                     s_axis_tready,
    input  wire                     s_axis_tlast,
    input  wire [PORT_W:0]          s_axis_tuser,

    // port p at [p*width +: width]
    output wire [PORTS*8*BYTES-1:0] m_axis_tdata,
    output wire [PORTS*BYTES-1:0]   m_axis_tkeep,
    output wire [PORTS-1:0]         m_axis_tvalid,
    input  wire [PORTS-1:0]         m_axis_tready,
    output wire [PORTS-1:0]         m_axis_tlast,
    output wire [PORTS-1:0]         m_axis_tuser
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORTS < 1 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_port_demux: PORTS must be 1 to 2**PORT_W");
        end
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_port_demux: BYTES must be at least 1");
        end
    endgenerate
`endif

    localparam WIDTH = 9*BYTES + 2;

    wire [PORTS-1:0] to;          // the beat's port, one bit
    wire [PORTS-1:0] ready;

    assign s_axis_tready = (to & ~ready) == {PORTS{1'b0}};

    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_port
            localparam [PORT_W-1:0] P = p;
            assign to[p] = s_axis_tuser[PORT_W:1] == P;
            inc_skid #(.WIDTH(WIDTH)) u_skid (
                .clk     (clk),
                .rst     (rst),
                .s_data  ({s_axis_tuser[0], s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
                .s_valid (s_axis_tvalid && to[p]),
                .s_ready (ready[p]),
                .m_data  ({m_axis_tuser[p], m_axis_tlast[p], m_axis_tkeep[p*BYTES +: BYTES], m_axis_tdata[p*8*BYTES +: 8*BYTES]}),
                .m_valid (m_axis_tvalid[p]),
                .m_ready (m_axis_tready[p])
            );
        end
    endgenerate

endmodule

`default_nettype wire
