// SPDX-License-Identifier: Apache-2.0
//
// inc_mac_taxi: between a port of 8 bytes with a clock of its own and an open MAC with AXI4-Stream whose two directions have a clock each, as taxi's
// taxi_eth_mac_10g and its MACs for 25 Gbit/s: 64 bits at 156.25 or 390.625 MHz. The port's clock is the MAC's tx_clk. What comes from the line crosses from
// rx_clk, which is as fast but for what IEEE 802.3 allows, by a queue of 32 beats that the gaps between frames empty.
//
// Contract
//   latency     to the line 0 cycles; from it 1 to 2 cycles of rx_clk and 4 to 5 of clk; 2 for pauses
//   throughput  1 beat per cycle of either clock
//   to the line a frame has no gap, as the port gives none: the MAC does not run dry
//   from it     as inc_mac_guard before the queue: a beat for which it has no room is gone, and its frame dropped
//   pauses      as inc_mac_pause; the MAC's LFC is bit 8 of its buses here, its PFC bits 7 to 0
//   stall       m_axis_tready low keeps beats in the queue
//   reset       empty; the port begins no frame
//   crossings   beats written and beats read (inc_cdc_count each), reset (inc_cdc_reset)
//   not done    no statistics, no time stamps
`default_nettype none

module inc_mac_taxi #(
    // priorities of the port, 1 to 8
    parameter PRIORITIES = 1
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire                  rx_clk,

    // rx_clk: from the line
    input  wire [63:0]           rx_axis_tdata,
    input  wire [7:0]            rx_axis_tkeep,
    input  wire                  rx_axis_tvalid,
    input  wire                  rx_axis_tlast,
    input  wire                  rx_axis_tuser,
    // rx_clk: a beat is gone
    output wire                  lost,

    // to the line
    output wire [63:0]           tx_axis_tdata,
    output wire [7:0]            tx_axis_tkeep,
    output wire                  tx_axis_tvalid,
    input  wire                  tx_axis_tready,
    output wire                  tx_axis_tlast,
    output wire                  tx_axis_tuser,

    // the line takes frames; requests of the MAC's LFC and PFC, and answers
    input  wire                  up,
    input  wire [8:0]            rx_pause_req,
    output wire [8:0]            rx_pause_enable,
    output wire [8:0]            rx_pause_ack,
    output wire [8:0]            tx_pause_req,

    // the port: s_axis_pN and m_axis_pN of the switch top
    output wire [63:0]           m_axis_tdata,
    output wire [7:0]            m_axis_tkeep,
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready,
    output wire                  m_axis_tlast,
    output wire                  m_axis_tuser,
    input  wire [63:0]           s_axis_tdata,
    input  wire [7:0]            s_axis_tkeep,
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,
    input  wire                  s_axis_tlast,
    input  wire                  s_axis_tuser,
    output wire [PRIORITIES-1:0] port_pause,
    input  wire                  port_high
);

`ifndef __ICARUS__
    generate
        if (PRIORITIES < 1 || PRIORITIES > 8) begin : gen_bad_priorities
            $error("inc_mac_taxi: PRIORITIES must be 1 to 8");
        end
    endgenerate
`endif

    localparam DEPTH_W = 5;
    localparam WIDTH   = 74;               // {err, last, keep, data}

    wire near_rst;
    wire rx_rst;

    inc_cdc_reset u_reset (
        .clk      (clk),
        .rst      (rst),
        .near_rst (near_rst),
        .far_clk  (rx_clk),
        .far_rst  (rx_rst)
    );

    // In the line's clock: beats go into the queue.
    wire [WIDTH-1:0]  beat;
    wire              come;
    reg  [DEPTH_W:0]  tail_reg;
    reg               step_reg;            // behind the beat's write
    wire [DEPTH_W:0]  gone;
    wire              room = !rx_rst && (tail_reg ^ gone) != {1'b1, {DEPTH_W{1'b0}}};
    wire              we   = come && room;

    inc_mac_guard #(.BYTES(8)) u_guard (
        .clk      (rx_clk),
        .rst      (rx_rst),
        .s_tdata  (rx_axis_tdata),
        .s_tkeep  (rx_axis_tkeep),
        .s_tvalid (rx_axis_tvalid),
        .s_tlast  (rx_axis_tlast),
        .s_tuser  (rx_axis_tuser),
        .m_tdata  (beat[63:0]),
        .m_tkeep  (beat[71:64]),
        .m_tvalid (come),
        .m_tready (room),
        .m_tlast  (beat[72]),
        .m_tuser  (beat[73]),
        .lost     (lost)
    );

    always @(posedge rx_clk) begin
        step_reg <= we;
        if (we) begin
            tail_reg <= tail_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end
        if (rx_rst) begin
            step_reg <= 1'b0;
            tail_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

    // Across: how many beats were written, and how many read.
    wire             fetch;
    wire [DEPTH_W:0] head, written, seen;
    wire             unused_bits = &{1'b0, written};

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_written (
        .src_clk   (rx_clk),
        .src_rst   (rx_rst),
        .src_step  (step_reg),
        .src_count (written),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_count (seen)
    );

    inc_cdc_count #(.WIDTH(DEPTH_W + 1)) u_gone (
        .src_clk   (clk),
        .src_rst   (near_rst),
        .src_step  (fetch),
        .src_count (head),
        .dst_clk   (rx_clk),
        .dst_rst   (rx_rst),
        .dst_count (gone)
    );

    // In the port's clock: a beat that was read stands at the memory's output until it is taken.
    reg out_reg;
    assign fetch         = seen != head && (m_axis_tready || !out_reg);
    assign m_axis_tvalid = out_reg;

    inc_ram_2c #(.WORDS(1 << DEPTH_W), .BITS(WIDTH), .ADDR_W(DEPTH_W), .STYLE(0)) u_beats (
        .wclk  (rx_clk),
        .we    (we),
        .waddr (tail_reg[DEPTH_W-1:0]),
        .wdata (beat),
        .rclk  (clk),
        .re    (fetch),
        .raddr (head[DEPTH_W-1:0]),
        .rdata ({m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata})
    );

    always @(posedge clk) begin
        if (fetch) begin
            out_reg <= 1'b1;
        end else if (m_axis_tready) begin
            out_reg <= 1'b0;
        end
        if (near_rst) begin
            out_reg <= 1'b0;
        end
    end

    assign tx_axis_tdata  = s_axis_tdata;
    assign tx_axis_tkeep  = s_axis_tkeep;
    assign tx_axis_tvalid = s_axis_tvalid;
    assign tx_axis_tlast  = s_axis_tlast;
    assign tx_axis_tuser  = s_axis_tuser;   // the MAC spoils the frame's FCS
    assign s_axis_tready  = tx_axis_tready;

    inc_mac_pause #(.PRIORITIES(PRIORITIES)) u_pause (
        .clk             (clk),
        .rst             (rst),
        .up              (up),
        .rx_pause_req    (rx_pause_req),
        .rx_pause_enable (rx_pause_enable),
        .rx_pause_ack    (rx_pause_ack),
        .tx_pause_req    (tx_pause_req),
        .port_pause      (port_pause),
        .port_high       (port_high)
    );

endmodule

`default_nettype wire
