// SPDX-License-Identifier: Apache-2.0
//
// inc_mac_pause: a MAC's pause frames and a port's priorities. Bit 8 of a MAC's buses is the global pause, bits 7 to 0 are the classes of PFC.
//
// Contract
//   latency     2 cycles from a request to port_pause
//   throughput  a request a cycle
//   in          a port's priority pauses while the global request or that of the class of the same number is high, or the line is not up. Classes from
//               PRIORITIES on are not enabled, and with one priority no class is, as it is all of the port
//   ack         follows the request: a frame that has begun goes on, whatever the MAC is told
//   out         while `high` is high the MAC is asked to send a global pause; a request changes after 64 cycles at the earliest, as MACs want it
//   stall       none
//   reset       all priorities paused until the line is up
//   not done    no pause out by class: a port has one queue on the way in
`default_nettype none

module inc_mac_pause #(
    // priorities of the port, 1 to 8
    parameter PRIORITIES = 1
) (
    input  wire                  clk,
    input  wire                  rst,

    // the line takes frames
    input  wire                  up,
    input  wire [8:0]            rx_pause_req,
    output wire [8:0]            rx_pause_enable,
    output wire [8:0]            rx_pause_ack,
    output wire [8:0]            tx_pause_req,

    output wire [PRIORITIES-1:0] port_pause,
    input  wire                  port_high
);

`ifndef __ICARUS__
    generate
        if (PRIORITIES < 1 || PRIORITIES > 8) begin : gen_bad_priorities
            $error("inc_mac_pause: PRIORITIES must be 1 to 8");
        end
    endgenerate
`endif

    localparam [8:0] CLASSES = PRIORITIES == 1 ? 9'd0 : (9'd1 << PRIORITIES) - 9'd1;
    localparam [8:0] ENABLE  = CLASSES | 9'h100;

    reg [8:0]            req_reg;
    reg [PRIORITIES-1:0] pause_reg;
    reg                  ask_reg;
    reg [5:0]            hold_reg;

    assign rx_pause_enable = ENABLE;
    assign rx_pause_ack    = req_reg;
    assign tx_pause_req    = {ask_reg, 8'd0};
    assign port_pause      = pause_reg;

    always @(posedge clk) begin
        req_reg   <= rx_pause_req & ENABLE;
        pause_reg <= req_reg[PRIORITIES-1:0] | {PRIORITIES{req_reg[8] || !up}};
        if (hold_reg != 6'd0) begin
            hold_reg <= hold_reg - 6'd1;
        end else if (ask_reg != port_high) begin
            ask_reg  <= port_high;
            hold_reg <= 6'd63;
        end

        if (rst) begin
            req_reg   <= 9'd0;
            pause_reg <= {PRIORITIES{1'b1}};
            ask_reg   <= 1'b0;
            hold_reg  <= 6'd0;
        end
    end

endmodule

`default_nettype wire
