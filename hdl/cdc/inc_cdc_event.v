// SPDX-License-Identifier: Apache-2.0
//
// inc_cdc_event: single cycles of one clock as single cycles of another, as many of them.
//
// Contract
//   latency     5 to 6 cycles of dst_clk from the cycle of src_clk behind the event
//   throughput  one event a cycle of either clock; of a faster src_clk a burst of 2**WIDTH - 1 events more than dst_clk has had cycles
//   stall       none
//   reset       nothing under way; src_rst and dst_rst as of inc_cdc_count
//   not done    beyond that burst 2**WIDTH events are lost
`default_nettype none

module inc_cdc_event #(
    // bits of the count that crosses, at least 2
    parameter WIDTH = 4
) (
    input  wire src_clk,
    input  wire src_rst,
    input  wire src_event,

    input  wire dst_clk,
    input  wire dst_rst,
    output wire dst_event
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 2) begin : gen_bad_width
            $error("inc_cdc_event: WIDTH must be at least 2");
        end
    endgenerate
`endif

    wire [WIDTH-1:0] src_count;
    wire [WIDTH-1:0] count;
    wire             unused_count = &{1'b0, src_count};

    inc_cdc_count #(.WIDTH(WIDTH)) u_count (
        .src_clk   (src_clk),
        .src_rst   (src_rst),
        .src_step  (src_event),
        .src_count (src_count),
        .dst_clk   (dst_clk),
        .dst_rst   (dst_rst),
        .dst_count (count)
    );

    reg  [WIDTH-1:0] seen_reg;
    reg              event_reg;
    wire             new_event = seen_reg != count;

    assign dst_event = event_reg;

    always @(posedge dst_clk) begin
        event_reg <= new_event;
        if (new_event) begin
            seen_reg <= seen_reg + {{(WIDTH-1){1'b0}}, 1'b1};
        end
        if (dst_rst) begin
            event_reg <= 1'b0;
            seen_reg  <= {WIDTH{1'b0}};
        end
    end

endmodule

`default_nettype wire
