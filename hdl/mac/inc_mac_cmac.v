// SPDX-License-Identifier: Apache-2.0
//
// inc_mac_cmac: between a port of 64 bytes with a clock of its own and AMD's CMAC with its AXI4-Stream interface: 512 bits at 322.265625 MHz. The port's
// clock is the CMAC's gt_txusrclk2, which is its rx_clk too.
//
// Contract
//   latency     0 cycles for beats in either direction; 2 for pauses
//   throughput  1 beat per cycle
//   to the line a frame has no gap, as the port gives none: the CMAC does not run dry
//   from it     as inc_mac_guard: a beat for which the port is not ready is gone, and its frame dropped
//   start       behind a reset the CMAC receives and sends remote faults; it sends frames from 17 cycles after its receiver is aligned on, and remote
//               faults again while it is not
//   pauses      as inc_mac_pause
//   stall       tx_axis_tready low keeps the beat offered
//   reset       the port begins no frame
//   not done    no statistics, no RS-FEC, no resets of the transceivers: they are the board's
`default_nettype none

module inc_mac_cmac #(
    // priorities of the port, 1 to 8
    parameter PRIORITIES = 1
) (
    input  wire                  clk,
    input  wire                  rst,

    // the CMAC: from the line and to it
    input  wire [511:0]          rx_axis_tdata,
    input  wire [63:0]           rx_axis_tkeep,
    input  wire                  rx_axis_tvalid,
    input  wire                  rx_axis_tlast,
    input  wire                  rx_axis_tuser,
    output wire [511:0]          tx_axis_tdata,
    output wire [63:0]           tx_axis_tkeep,
    output wire                  tx_axis_tvalid,
    input  wire                  tx_axis_tready,
    output wire                  tx_axis_tlast,
    output wire                  tx_axis_tuser,

    // the CMAC: control
    input  wire                  stat_rx_aligned,
    output wire                  ctl_rx_enable,
    output wire                  ctl_tx_enable,
    output wire                  ctl_tx_send_rfi,
    input  wire [8:0]            stat_rx_pause_req,
    output wire [8:0]            ctl_rx_pause_enable,
    output wire [8:0]            ctl_rx_pause_ack,
    output wire [8:0]            ctl_tx_pause_enable,
    output wire [8:0]            ctl_tx_pause_req,

    // the port: s_axis_pN and m_axis_pN of the switch top
    output wire [511:0]          m_axis_tdata,
    output wire [63:0]           m_axis_tkeep,
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready,
    output wire                  m_axis_tlast,
    output wire                  m_axis_tuser,
    input  wire [511:0]          s_axis_tdata,
    input  wire [63:0]           s_axis_tkeep,
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,
    input  wire                  s_axis_tlast,
    input  wire                  s_axis_tuser,
    output wire [PRIORITIES-1:0] port_pause,
    input  wire                  port_high,

    // the line takes frames; a beat from it is gone
    output wire                  up,
    output wire                  lost
);

`ifndef __ICARUS__
    generate
        if (PRIORITIES < 1 || PRIORITIES > 8) begin : gen_bad_priorities
            $error("inc_mac_cmac: PRIORITIES must be 1 to 8");
        end
    endgenerate
`endif

    reg [4:0] aligned_reg;                 // cycles for which the receiver has been aligned, up to 16
    reg       up_reg;

    assign up                  = up_reg;
    assign ctl_rx_enable       = 1'b1;
    assign ctl_tx_enable       = up_reg;
    assign ctl_tx_send_rfi     = !up_reg;
    assign ctl_tx_pause_enable = 9'h100;

    always @(posedge clk) begin
        if (!stat_rx_aligned) begin
            aligned_reg <= 5'd0;
        end else if (!aligned_reg[4]) begin
            aligned_reg <= aligned_reg + 5'd1;
        end
        up_reg <= stat_rx_aligned && aligned_reg[4];

        if (rst) begin
            aligned_reg <= 5'd0;
            up_reg      <= 1'b0;
        end
    end

    inc_mac_guard #(.BYTES(64)) u_guard (
        .clk      (clk),
        .rst      (rst),
        .s_tdata  (rx_axis_tdata),
        .s_tkeep  (rx_axis_tkeep),
        .s_tvalid (rx_axis_tvalid),
        .s_tlast  (rx_axis_tlast),
        .s_tuser  (rx_axis_tuser),
        .m_tdata  (m_axis_tdata),
        .m_tkeep  (m_axis_tkeep),
        .m_tvalid (m_axis_tvalid),
        .m_tready (m_axis_tready),
        .m_tlast  (m_axis_tlast),
        .m_tuser  (m_axis_tuser),
        .lost     (lost)
    );

    assign tx_axis_tdata  = s_axis_tdata;
    assign tx_axis_tkeep  = s_axis_tkeep;
    assign tx_axis_tvalid = s_axis_tvalid;
    assign tx_axis_tlast  = s_axis_tlast;
    assign tx_axis_tuser  = s_axis_tuser;   // the MAC spoils the frame's FCS
    assign s_axis_tready  = tx_axis_tready;

    inc_mac_pause #(.PRIORITIES(PRIORITIES)) u_pause (
        .clk             (clk),
        .rst             (rst),
        .up              (up_reg),
        .rx_pause_req    (stat_rx_pause_req),
        .rx_pause_enable (ctl_rx_pause_enable),
        .rx_pause_ack    (ctl_rx_pause_ack),
        .tx_pause_req    (ctl_tx_pause_req),
        .port_pause      (port_pause),
        .port_high       (port_high)
    );

endmodule

`default_nettype wire
