// SPDX-License-Identifier: Apache-2.0
//
// inc_port_rx_cdc: inc_port_rx for a port with a clock of its own: the queue behind a MAC, and the way from the MAC's clock to the engine's.
//
// Contract
//   latency     from a frame's last beat in to its first beat out of an empty queue: 2 cycles of port_clk and 4 to 5 of clk
//   throughput  one beat a cycle of either clock; a frame leaves without a gap
//   order       first in, first out
//   dropped     as by inc_port_rx, STALL in cycles of port_clk
//   full        as by inc_port_rx; what has left makes room 4 to 5 cycles of port_clk later
//   stall       m_axis_tready low keeps frames in the queue; so does a port_clk that stands still those which have not come whole
//   counters    pulses of clk, 5 to 6 cycles later than their reason, and as many; reasons that follow each other faster than clk runs, for
//               more than 31 of them, are counted too low
//   reset       empty; s_axis_tready is low until the fourth edge of port_clk behind it. What comes then counts as the beginning of a frame
//   crossings   frames that are whole, words that have left, reasons (inc_cdc_count each), reset (inc_cdc_reset); data lies in the memory
//               for a cycle of port_clk at least before the frame's count begins to cross
//   not done    no cut-through: a frame leaves when it is complete
`default_nettype none

module inc_port_rx_cdc #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus, of which the longest frame takes all but one at most
    parameter DEPTH_W    = 5,
    // the longest frame
    parameter MAX_BYTES  = 128,
    // cycles of port_clk without a beat after which a frame that has begun is given up, at least 4
    parameter STALL      = 4096,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP       = 0
) (
    input  wire                    clk,
    input  wire                    rst,
    input  wire                    port_clk,

    input  wire [8*PORT_BYTES-1:0] s_axis_tdata,
    input  wire [PORT_BYTES-1:0]   s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,
    input  wire                    s_axis_tuser,

    output wire [8*BYTES-1:0]      m_axis_tdata,
    output wire [BYTES-1:0]        m_axis_tkeep,
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready,
    output wire                    m_axis_tlast,

    // port_clk: half of the queue is taken
    output wire                    high,
    // clk, for one cycle each: a frame was kept, had err, was too long, stood still, found no room
    output wire                    count_frame,
    output wire                    count_error,
    output wire                    count_long,
    output wire                    count_hung,
    output wire                    count_full,
    // port_clk: a frame's end was seen, and the frame was dropped
    output wire                    mon_end,
    output wire                    mon_drop
);

    localparam SHIFT   = $clog2(BYTES);
    localparam EVENT_W = 5;

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_rx_cdc: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_rx_cdc: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_rx_cdc: DEPTH_W must be 2 to 16");
        end
        if (MAX_BYTES < 2*BYTES || (MAX_BYTES + BYTES - 1) / BYTES > (1 << DEPTH_W) - 1) begin : gen_bad_max
            $error("inc_port_rx_cdc: MAX_BYTES must be two beats at least, and fit the queue with a beat to spare");
        end
        if (STALL < 4) begin : gen_bad_stall
            $error("inc_port_rx_cdc: STALL must be at least 4");
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

    // In the port's clock: frames go into the memory.
    wire                   we;
    wire [DEPTH_W-1:0]     waddr;
    wire [8*BYTES+SHIFT:0] wdata;
    wire [DEPTH_W:0]       done;
    wire [DEPTH_W:0]       head_seen;
    wire [4:0]             events;         // of the counters; bit 0 is behind the frame's last write

    inc_port_take #(.PORT_BYTES(PORT_BYTES), .BYTES(BYTES), .DEPTH_W(DEPTH_W), .MAX_BYTES(MAX_BYTES), .STALL(STALL), .DROP(DROP)) u_take (
        .clk           (port_clk),
        .rst           (port_rst),
        .s_axis_tdata  (s_axis_tdata),
        .s_axis_tkeep  (s_axis_tkeep),
        .s_axis_tvalid (s_axis_tvalid),
        .s_axis_tready (s_axis_tready),
        .s_axis_tlast  (s_axis_tlast),
        .s_axis_tuser  (s_axis_tuser),
        .we            (we),
        .waddr         (waddr),
        .wdata         (wdata),
        .head          (head_seen),
        .done          (done),
        .high          (high),
        .count_frame   (events[0]),
        .count_error   (events[1]),
        .count_long    (events[2]),
        .count_hung    (events[3]),
        .count_full    (events[4]),
        .mon_end       (mon_end),
        .mon_drop      (mon_drop)
    );

    // Across: how many frames are whole, how many words have left.
    wire             fetch;
    wire [DEPTH_W:0] head;
    wire [DEPTH_W:0] frames_here;
    wire [DEPTH_W:0] frames;
    reg  [DEPTH_W:0] taken_reg;            // frames of which a word was read
    wire             unused_bits = &{1'b0, done, frames_here, head[DEPTH_W]};

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_frames (
        .src_clk   (port_clk),
        .src_rst   (port_rst),
        .src_step  (events[0]),
        .src_count (frames_here),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_count (frames)
    );

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_head (
        .src_clk   (clk),
        .src_rst   (near_rst),
        .src_step  (fetch),
        .src_count (head),
        .dst_clk   (port_clk),
        .dst_rst   (port_rst),
        .dst_count (head_seen)
    );

    wire [4:0] counts;
    genvar e;
    generate
        for (e = 0; e < 5; e = e + 1) begin : gen_event
            inc_cdc_event #(.WIDTH(EVENT_W)) u_event (
                .src_clk   (port_clk),
                .src_rst   (port_rst),
                .src_event (events[e]),
                .dst_clk   (clk),
                .dst_rst   (near_rst),
                .dst_event (counts[e])
            );
        end
    endgenerate

    assign {count_full, count_hung, count_long, count_error, count_frame} = counts;

    // In the engine's clock: a word that was read stands at the memory's output until it is taken; the one behind it is read in that cycle.
    // Of a frame that has begun, every word is there.
    reg              out_reg;
    wire [SHIFT-1:0] out_end;
    wire             begins = !out_reg || m_axis_tlast;
    assign fetch = (!begins || frames != taken_reg) && (m_axis_tready || !out_reg);

    inc_mem_port_2c #(.WORDS(1 << DEPTH_W), .BITS(8*BYTES + SHIFT + 1), .ADDR_W(DEPTH_W)) u_mem (
        .wclk  (port_clk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .rclk  (clk),
        .re    (fetch),
        .raddr (head[DEPTH_W-1:0]),
        .rdata ({m_axis_tlast, out_end, m_axis_tdata})
    );

    assign m_axis_tvalid = out_reg;
    assign m_axis_tkeep  = {BYTES{1'b1}} >> ~out_end;

    always @(posedge clk) begin
        if (fetch) begin
            out_reg <= 1'b1;
        end else if (m_axis_tready) begin
            out_reg <= 1'b0;
        end
        if (fetch && begins) begin
            taken_reg <= taken_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end
        if (near_rst) begin
            out_reg   <= 1'b0;
            taken_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
