// SPDX-License-Identifier: Apache-2.0
//
// inc_cdc_errors: what the memory of a queue that is read in a port's clock says of its words, in the engine's clock; and the reset on the other way.
//
// Contract
//   latency     5 to 6 cycles of clk from the cycle of port_clk behind an event to its own
//   throughput  one event of each kind a cycle of either clock; bursts as by inc_cdc_event, of 31 events
//   stall       none
//   reset       port_rst as far_rst of inc_cdc_reset; nothing under way
//   crossings   events (inc_cdc_event each), reset (inc_cdc_reset)
//   not done    beyond such a burst 32 events are lost
`default_nettype none

module inc_cdc_errors (
    input  wire clk,
    input  wire rst,
    input  wire port_clk,

    // port_clk
    output wire port_rst,
    input  wire port_fixed,
    input  wire port_lost,

    // clk
    output wire fixed,
    output wire lost
);

    localparam EVENT_W = 5;

    wire near_rst;

    inc_cdc_reset u_reset (
        .clk      (clk),
        .rst      (rst),
        .near_rst (near_rst),
        .far_clk  (port_clk),
        .far_rst  (port_rst)
    );

    inc_cdc_event #(.WIDTH(EVENT_W)) u_fixed (
        .src_clk   (port_clk),
        .src_rst   (port_rst),
        .src_event (port_fixed),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_event (fixed)
    );

    inc_cdc_event #(.WIDTH(EVENT_W)) u_lost (
        .src_clk   (port_clk),
        .src_rst   (port_rst),
        .src_event (port_lost),
        .dst_clk   (clk),
        .dst_rst   (near_rst),
        .dst_event (lost)
    );

endmodule

`default_nettype wire
