// SPDX-License-Identifier: Apache-2.0
//
// inc_port_rx: the queue behind a MAC. Takes beats of the port's width, keeps whole frames, and hands them on in beats of the bus.
//
// Contract
//   latency     3 cycles from a frame's last beat in to its first beat out of an empty queue
//   throughput  one beat a cycle on either side; a frame leaves without a gap
//   order       first in, first out
//   dropped     whole, and counted once: a frame with err on its last beat, one longer than MAX_BYTES, one that stood still for STALL
//               cycles between two of its beats, one that finds no room; nothing of it leaves. What follows of a frame that was given up,
//               to its tlast, is dropped with it
//   full        with DROP s_axis_tready stays high and a frame without room is dropped, else s_axis_tready falls until there is room
//   stall       m_axis_tready low keeps frames in the queue
//   reset       empty; s_axis_tready is low while rst is high. What comes after it counts as the beginning of a frame
//   not done    no cut-through: a frame leaves when it is complete
`default_nettype none

module inc_port_rx #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus, of which the longest frame takes all but one at most
    parameter DEPTH_W    = 5,
    // the longest frame
    parameter MAX_BYTES  = 128,
    // cycles without a beat after which a frame that has begun is given up, at least 4
    parameter STALL      = 4096,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP       = 0
) (
    input  wire                    clk,
    input  wire                    rst,

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

    // half of the queue is taken
    output wire                    high,
    // for one cycle each: a frame was kept, had err, was too long, stood still, found no room
    output wire                    count_frame,
    output wire                    count_error,
    output wire                    count_long,
    output wire                    count_hung,
    output wire                    count_full,
    // a frame's end was seen, and the frame was dropped
    output wire                    mon_end,
    output wire                    mon_drop
);

    localparam SHIFT = $clog2(BYTES);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_rx: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_rx: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_rx: DEPTH_W must be 2 to 16");
        end
        if (MAX_BYTES < 2*BYTES || (MAX_BYTES + BYTES - 1) / BYTES > (1 << DEPTH_W) - 1) begin : gen_bad_max
            $error("inc_port_rx: MAX_BYTES must be two beats at least, and fit the queue with a beat to spare");
        end
        if (STALL < 4) begin : gen_bad_stall
            $error("inc_port_rx: STALL must be at least 4");
        end
    endgenerate
`endif

    wire                   we;
    wire [DEPTH_W-1:0]     waddr;
    wire [8*BYTES+SHIFT:0] wdata;
    wire [DEPTH_W:0]       done;
    reg  [DEPTH_W:0]       head_reg;

    inc_port_take #(.PORT_BYTES(PORT_BYTES), .BYTES(BYTES), .DEPTH_W(DEPTH_W), .MAX_BYTES(MAX_BYTES), .STALL(STALL), .DROP(DROP)) u_take (
        .clk           (clk),
        .rst           (rst),
        .s_axis_tdata  (s_axis_tdata),
        .s_axis_tkeep  (s_axis_tkeep),
        .s_axis_tvalid (s_axis_tvalid),
        .s_axis_tready (s_axis_tready),
        .s_axis_tlast  (s_axis_tlast),
        .s_axis_tuser  (s_axis_tuser),
        .we            (we),
        .waddr         (waddr),
        .wdata         (wdata),
        .head          (head_reg),
        .done          (done),
        .high          (high),
        .count_frame   (count_frame),
        .count_error   (count_error),
        .count_long    (count_long),
        .count_hung    (count_hung),
        .count_full    (count_full),
        .mon_end       (mon_end),
        .mon_drop      (mon_drop)
    );

    // A word that was read stands at the memory's output until it is taken; the one behind it is read in that cycle.
    reg              out_reg;
    wire [SHIFT-1:0] out_end;
    wire             fetch = head_reg != done && (m_axis_tready || !out_reg);

    inc_mem_port #(.WORDS(1 << DEPTH_W), .BITS(8*BYTES + SHIFT + 1), .ADDR_W(DEPTH_W)) u_mem (
        .clk   (clk),
        .we    (we),
        .waddr (waddr),
        .wdata (wdata),
        .re    (fetch),
        .raddr (head_reg[DEPTH_W-1:0]),
        .rdata ({m_axis_tlast, out_end, m_axis_tdata})
    );

    assign m_axis_tvalid = out_reg;
    assign m_axis_tkeep  = {BYTES{1'b1}} >> ~out_end;

    always @(posedge clk) begin
        if (fetch) begin
            out_reg  <= 1'b1;
            head_reg <= head_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end else if (m_axis_tready) begin
            out_reg <= 1'b0;
        end
        if (rst) begin
            out_reg  <= 1'b0;
            head_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
