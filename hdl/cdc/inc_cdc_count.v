// SPDX-License-Identifier: Apache-2.0
//
// inc_cdc_count: a counter that one clock steps and another reads. It crosses in Gray code, of which one bit changes a step, so that whatever
// is caught in the middle of a step is the count before or behind it.
//
// Contract
//   latency     3 to 4 cycles of dst_clk from the cycle of src_clk behind a step to dst_count: two flip-flops, and one for the binary number
//   throughput  one step a cycle of src_clk
//   order       dst_count never runs ahead of src_count, and never goes back but to wrap
//   stall       none
//   reset       both sides 0; src_rst must have been high before dst_rst falls, and the other way round (inc_cdc_reset)
//   not done    the reader must look often enough to miss no whole round of 2**WIDTH steps
`default_nettype none

module inc_cdc_count #(
    // bits of the count, at least 2
    parameter WIDTH = 4
) (
    input  wire             src_clk,
    input  wire             src_rst,
    input  wire             src_step,
    output wire [WIDTH-1:0] src_count,

    input  wire             dst_clk,
    input  wire             dst_rst,
    output wire [WIDTH-1:0] dst_count
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 2) begin : gen_bad_width
            $error("inc_cdc_count: WIDTH must be at least 2");
        end
    endgenerate
`endif

    reg  [WIDTH-1:0] count_reg;
    reg  [WIDTH-1:0] gray_reg;             // nothing between this flip-flop and meta_reg
    wire [WIDTH-1:0] next = count_reg + {{(WIDTH-1){1'b0}}, src_step};

    assign src_count = count_reg;

    always @(posedge src_clk) begin
        count_reg <= next;
        gray_reg  <= next ^ (next >> 1);
        if (src_rst) begin
            count_reg <= {WIDTH{1'b0}};
            gray_reg  <= {WIDTH{1'b0}};
        end
    end

    (* ASYNC_REG = "TRUE" *) reg [WIDTH-1:0] meta_reg;
    (* ASYNC_REG = "TRUE" *) reg [WIDTH-1:0] sync_reg;
    reg  [WIDTH-1:0] binary_reg;
    wire [WIDTH-1:0] binary;

    genvar g;
    generate
        for (g = 0; g < WIDTH; g = g + 1) begin : gen_binary
            assign binary[g] = ^(sync_reg >> g);
        end
    endgenerate

    assign dst_count = binary_reg;

    always @(posedge dst_clk) begin
        meta_reg   <= gray_reg;
        sync_reg   <= meta_reg;
        binary_reg <= binary;
        if (dst_rst) begin
            meta_reg   <= {WIDTH{1'b0}};
            sync_reg   <= {WIDTH{1'b0}};
            binary_reg <= {WIDTH{1'b0}};
        end
    end

endmodule

`default_nettype wire
