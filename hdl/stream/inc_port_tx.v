// SPDX-License-Identifier: Apache-2.0
//
// inc_port_tx: the queue before a MAC. Takes beats of the bus, keeps whole frames, and sends them in beats of the port's width.
//
// Contract
//   latency     3 cycles from a frame's last beat in to its first beat out of an empty queue
//   throughput  one beat a cycle on either side; a frame leaves without a gap
//   order       first in, first out
//   full        with DROP s_axis_tready stays high, and a frame without room is dropped whole and counted; else s_axis_tready falls until
//               there is room
//   stall       m_axis_tready low keeps the beat offered; while pause is high no frame begins, and one that has begun goes on
//   reset       empty
//   not done    no cut-through: a frame leaves when it is complete
`default_nettype none

module inc_port_tx #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus; the longest frame must fit with a beat to spare
    parameter DEPTH_W    = 5,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP       = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [8*BYTES-1:0]      s_axis_tdata,
    input  wire [BYTES-1:0]        s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,

    output wire [8*PORT_BYTES-1:0] m_axis_tdata,
    output wire [PORT_BYTES-1:0]   m_axis_tkeep,
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready,
    output wire                    m_axis_tlast,

    input  wire                    pause,
    // for one cycle each: a frame has left, found no room
    output wire                    count_frame,
    output wire                    count_full
);

    localparam SHIFT = $clog2(BYTES);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_tx: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_tx: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_tx: DEPTH_W must be 2 to 16");
        end
    endgenerate
`endif

    wire                   we;
    wire [DEPTH_W-1:0]     waddr;
    wire [8*BYTES+SHIFT:0] wdata;
    wire [DEPTH_W:0]       done;
    reg  [DEPTH_W:0]       head_reg;
    wire                   kept;
    wire                   re;
    wire                   begins;
    wire [8*BYTES+SHIFT:0] rdata;
    wire                   unused_bits = &{1'b0, kept, begins};   // `done` is behind whole frames

    inc_port_put #(.BYTES(BYTES), .DEPTH_W(DEPTH_W), .DROP(DROP)) u_put (
        .clk           (clk),
        .rst           (rst),
        .open          (1'b1),
        .s_axis_tdata  (s_axis_tdata),
        .s_axis_tkeep  (s_axis_tkeep),
        .s_axis_tvalid (s_axis_tvalid),
        .s_axis_tready (s_axis_tready),
        .s_axis_tlast  (s_axis_tlast),
        .we            (we),
        .waddr         (waddr),
        .wdata         (wdata),
        .head          (head_reg),
        .done          (done),
        .kept          (kept),
        .count_full    (count_full)
    );

    inc_mem_port #(.WORDS(1 << DEPTH_W), .BITS(8*BYTES + SHIFT + 1), .ADDR_W(DEPTH_W)) u_mem (
        .clk   (clk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .re    (re),
        .raddr (head_reg[DEPTH_W-1:0]),
        .rdata (rdata)
    );

    inc_port_send #(.PORT_BYTES(PORT_BYTES), .BYTES(BYTES)) u_send (
        .clk           (clk),
        .rst           (rst),
        .more          (head_reg != done),
        .re            (re),
        .begins        (begins),
        .rdata         (rdata),
        .m_axis_tdata  (m_axis_tdata),
        .m_axis_tkeep  (m_axis_tkeep),
        .m_axis_tvalid (m_axis_tvalid),
        .m_axis_tready (m_axis_tready),
        .m_axis_tlast  (m_axis_tlast),
        .pause         (pause),
        .count_frame   (count_frame)
    );

    always @(posedge clk) begin
        if (re) begin
            head_reg <= head_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end
        if (rst) begin
            head_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
