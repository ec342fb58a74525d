// SPDX-License-Identifier: Apache-2.0
//
// inc_priority_count: events of several queues as single cycles of one line, as many of them, for a counter that takes one a cycle.
//
// Contract
//   latency     1 cycle, and one more for each event before it
//   throughput  1 event a cycle in the long run
//   stall       none
//   reset       nothing waits
//   not done    of more than 63 events that wait at once some are lost
`default_nettype none

module inc_priority_count #(
    // number of queues, 2 to 8
    parameter PRIORITIES = 2
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [PRIORITIES-1:0] events,
    output wire                  count
);

`ifndef __ICARUS__
    generate
        if (PRIORITIES < 2 || PRIORITIES > 8) begin : gen_bad_priorities
            $error("inc_priority_count: PRIORITIES must be 2 to 8");
        end
    endgenerate
`endif

    reg [5:0] wait_reg;
    reg [5:0] more;
    integer   i;
    always @* begin
        more = 6'd0;
        for (i = 0; i < PRIORITIES; i = i + 1) begin
            more = more + {5'd0, events[i]};
        end
    end

    assign count = wait_reg != 6'd0;

    always @(posedge clk) begin
        wait_reg <= wait_reg + more - {5'd0, count};
        if (rst) begin
            wait_reg <= 6'd0;
        end
    end

endmodule

`default_nettype wire
