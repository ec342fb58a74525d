// SPDX-License-Identifier: Apache-2.0
//
// inc_port_tx_cdc: inc_port_tx for a port with a clock of its own: the queue before a MAC, and the way from the engine's clock to the MAC's.
//
// Contract
//   latency     from a frame's last beat in to its first beat out of an empty queue: 1 cycle of clk and 5 to 6 of port_clk
//   throughput  one beat a cycle of either clock; a frame leaves without a gap, whichever clock is faster
//   order       first in, first out
//   full        as by inc_port_tx; what has left makes room 4 to 5 cycles of clk later. While port_clk stands still behind a reset there is
//               no room at all
//   stall       m_axis_tready low keeps the beat offered; while pause (of port_clk) is high no frame begins, and one that has begun goes on
//   counters    pulses of clk; of frames that left 5 to 6 cycles later
//   reset       empty
//   crossings   frames that are whole, words and frames that have left (inc_cdc_count each), reset (inc_cdc_reset); data lies in the memory
//               for a cycle of clk at least before the frame's count begins to cross
//   not done    no cut-through: a frame leaves when it is complete
`default_nettype none

module inc_port_tx_cdc #(
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
    input  wire                    port_clk,

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

    // port_clk
    input  wire                    pause,
    // clk, for one cycle each: a frame has left, found no room
    output wire                    count_frame,
    output wire                    count_full
);

    localparam SHIFT   = $clog2(BYTES);
    localparam EVENT_W = 5;

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_tx_cdc: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_tx_cdc: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_tx_cdc: DEPTH_W must be 2 to 16");
        end
    endgenerate
`endif

    wire near_rst;
    wire port_rst;

    inc_cdc_reset u_reset (
        .clk      (clk),
        .rst      (rst),
        .near_rst (near_rst),
        .far_clk  (port_clk),
        .far_rst  (port_rst)
    );

    // In the engine's clock: frames go into the memory.
    wire                   we;
    wire [DEPTH_W-1:0]     waddr;
    wire [8*BYTES+SHIFT:0] wdata;
    wire [DEPTH_W:0]       done;
    wire [DEPTH_W:0]       head_seen;
    wire                   kept;
    reg                    kept_reg;       // behind the frame's last write

    inc_port_put #(.BYTES(BYTES), .DEPTH_W(DEPTH_W), .DROP(DROP)) u_put (
        .clk           (clk),
        .rst           (rst),
        .open          (!near_rst),
        .s_axis_tdata  (s_axis_tdata),
        .s_axis_tkeep  (s_axis_tkeep),
        .s_axis_tvalid (s_axis_tvalid),
        .s_axis_tready (s_axis_tready),
        .s_axis_tlast  (s_axis_tlast),
        .we            (we),
        .waddr         (waddr),
        .wdata         (wdata),
        .head          (head_seen),
        .done          (done),
        .kept          (kept),
        .count_full    (count_full)
    );

    always @(posedge clk) begin
        kept_reg <= kept && !near_rst;
    end

    // Across: how many frames are whole, how many words have left.
    wire             re;
    wire             begins;
    wire [DEPTH_W:0] head;
    wire [DEPTH_W:0] frames_here;
    wire [DEPTH_W:0] frames;
    reg  [DEPTH_W:0] taken_reg;            // frames of which a word was read
    wire             sent;
    wire             unused_bits = &{1'b0, done, frames_here, head[DEPTH_W]};

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_frames (
        .src_clk   (clk),
        .src_rst   (near_rst),
        .src_step  (kept_reg),
        .src_count (frames_here),
        .dst_clk   (port_clk),
        .dst_rst   (port_rst),
        .dst_count (frames)
    );

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_head (
        .src_clk   (port_clk),
        .src_rst   (port_rst),
        .src_step  (re),
        .src_count (head),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_count (head_seen)
    );

    inc_cdc_event #(.WIDTH(EVENT_W)) u_sent (
        .src_clk   (port_clk),
        .src_rst   (port_rst),
        .src_event (sent),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_event (count_frame)
    );

    // In the port's clock. Of a frame that has begun, every word is there.
    wire [8*BYTES+SHIFT:0] rdata;

    inc_mem_port_2c #(.WORDS(1 << DEPTH_W), .BITS(8*BYTES + SHIFT + 1), .ADDR_W(DEPTH_W)) u_mem (
        .wclk  (clk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .rclk  (port_clk),
        .re    (re),
        .raddr (head[DEPTH_W-1:0]),
        .rdata (rdata)
    );

    inc_port_send #(.PORT_BYTES(PORT_BYTES), .BYTES(BYTES)) u_send (
        .clk           (port_clk),
        .rst           (port_rst),
        .more          (!begins || frames != taken_reg),
        .re            (re),
        .begins        (begins),
        .rdata         (rdata),
        .m_axis_tdata  (m_axis_tdata),
        .m_axis_tkeep  (m_axis_tkeep),
        .m_axis_tvalid (m_axis_tvalid),
        .m_axis_tready (m_axis_tready),
        .m_axis_tlast  (m_axis_tlast),
        .pause         (pause),
        .count_frame   (sent)
    );

    always @(posedge port_clk) begin
        if (re && begins) begin
            taken_reg <= taken_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end
        if (port_rst) begin
            taken_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
