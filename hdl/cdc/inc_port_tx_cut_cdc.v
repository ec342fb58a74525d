// SPDX-License-Identifier: Apache-2.0
//
// inc_port_tx_cut_cdc: inc_port_tx_cut for a port with a clock of its own: the queue before a MAC whose frames begin to leave before they are whole, and the way
// from the engine's clock to the MAC's.
//
// Contract
//   latency     from a frame's beat number START in, or from its last if that comes before, to its first beat out of an empty queue: 1 cycle of clk and 5 to 6
//               of port_clk
//   throughput  one beat a cycle of either clock; a frame leaves without a gap
//   order       first in, first out
//   words       as inc_port_tx_cut; what crosses may be seen 1 cycle of port_clk later than what crossed before it
//   full        as in inc_port_admit; what has left makes room 4 to 5 cycles of clk later. While port_clk stands still behind a reset there is
//               no room at all
//   stall       m_axis_tready low keeps the beat offered; while pause (of port_clk) is high no frame begins, and one that has begun goes on
//   counters    pulses of clk; of frames that left 5 to 6 cycles later
//   reset       empty
//   crossings   words that are there, frames that are whole, words and frames that have left (inc_cdc_count each), reset (inc_cdc_reset); data lies in the
//               memory for a cycle of clk at least before its word's count begins to cross
//   not done    no look at what comes late: rtlgen/params says where that cannot be
`default_nettype none

module inc_port_tx_cut_cdc #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus, of which the longest frame takes all but one at most
    parameter DEPTH_W    = 5,
    // the longest frame
    parameter MAX_BYTES  = 128,
    // words with which a frame begins to leave, 1 to those of the longest frame
    parameter START      = 1,
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
    localparam WORDS   = (MAX_BYTES + BYTES - 1) / BYTES;
    localparam COUNT_W = DEPTH_W + 2;      // a bit more than the queue's, so that what is seen late shows as less than nothing
    localparam [COUNT_W-1:0] ENOUGH = START[COUNT_W-1:0];

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_tx_cut_cdc: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_tx_cut_cdc: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_tx_cut_cdc: DEPTH_W must be 2 to 16");
        end
        if (MAX_BYTES < 2*BYTES || WORDS > (1 << DEPTH_W) - 1) begin : gen_bad_max
            $error("inc_port_tx_cut_cdc: MAX_BYTES must be two beats at least, and fit the queue with a beat to spare");
        end
        if (START < 1 || START > WORDS) begin : gen_bad_start
            $error("inc_port_tx_cut_cdc: START must be 1 to the words of MAX_BYTES");
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
    wire [DEPTH_W:0]       tail, done;
    wire [COUNT_W-1:0]     head_seen;
    wire                   kept;
    reg                    we_reg;         // behind a word's write
    reg                    kept_reg;       // behind the frame's last write

    inc_port_admit #(.BYTES(BYTES), .DEPTH_W(DEPTH_W), .MAX_BYTES(MAX_BYTES), .DROP(DROP)) u_admit (
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
        .head          (head_seen[DEPTH_W:0]),
        .tail          (tail),
        .done          (done),
        .kept          (kept),
        .count_full    (count_full)
    );

    always @(posedge clk) begin
        we_reg   <= we && !near_rst;
        kept_reg <= kept && !near_rst;
    end

    // Across: how many words are there, how many frames are whole, how many words have left.
    wire               re;
    wire               begins;
    wire [COUNT_W-1:0] head;
    wire [COUNT_W-1:0] words_here;
    wire [COUNT_W-1:0] words;
    wire [COUNT_W-1:0] frames_here;
    wire [COUNT_W-1:0] frames;
    reg  [COUNT_W-1:0] taken_reg;          // frames of which a word was read
    wire               sent;
    wire               unused_bits = &{1'b0, tail, done, words_here, frames_here, begins, head_seen[COUNT_W-1]};

    inc_cdc_count #(.WIDTH(COUNT_W)) u_words (
        .src_clk   (clk),
        .src_rst   (near_rst),
        .src_step  (we_reg),
        .src_count (words_here),
        .dst_clk   (port_clk),
        .dst_rst   (port_rst),
        .dst_count (words)
    );

    inc_cdc_count #(.WIDTH(COUNT_W)) u_frames (
        .src_clk   (clk),
        .src_rst   (near_rst),
        .src_step  (kept_reg),
        .src_count (frames_here),
        .dst_clk   (port_clk),
        .dst_rst   (port_rst),
        .dst_count (frames)
    );

    inc_cdc_count #(.WIDTH(COUNT_W)) u_head (
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

    // In the port's clock. A frame begins when it is whole, or enough of it is here; of one that has begun, the next word is here. The word that was read last
    // stands at the memory's output and says whether its frame has more. Words and frames cross each by itself, and either may be seen first: `here` is negative
    // if a frame known to be whole was read further than words are known, `ahead` if frames have begun that are not known to be whole. In simulation one is
    // seen a cycle before the other at most, and neither shows; of flip-flops in the middle of a change more cannot be ruled out.
    wire [8*BYTES+SHIFT:0] rdata;
    reg                    any_reg;        // a word was read
    wire [COUNT_W-1:0]     here    = words - head;
    wire [COUNT_W-1:0]     ahead   = frames - taken_reg;
    wire                   between = !any_reg || rdata[8*BYTES+SHIFT];
    wire                   enough  = !here[COUNT_W-1] && here >= (between ? ENOUGH : {{(COUNT_W-1){1'b0}}, 1'b1});
    wire                   whole   = !ahead[COUNT_W-1] && (!between || ahead != {COUNT_W{1'b0}});

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
        .more          (whole || enough),
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
        if (re) begin
            any_reg <= 1'b1;
        end
        if (re && between) begin
            taken_reg <= taken_reg + {{(COUNT_W-1){1'b0}}, 1'b1};
        end
        if (port_rst) begin
            any_reg   <= 1'b0;
            taken_reg <= {COUNT_W{1'b0}};
        end
    end

endmodule

`default_nettype wire
