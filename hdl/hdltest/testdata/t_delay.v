// SPDX-License-Identifier: Apache-2.0
//
// t_delay: a word, DEPTH cycles later.
//
// Contract
//   latency     DEPTH + 1 cycles
//   throughput  one word per cycle
//   stall       never
//   reset       the valid bit is low
//   not done    nothing
`default_nettype none

module t_delay #(
    // bits of a word, 1 to 1024
    parameter WIDTH = 8,
    // words in flight, 2, 4 or 8
    parameter DEPTH = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_word,
    output reg  [WIDTH-1:0] out_word,
    output reg              out_valid
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1 || WIDTH > 1024) begin : gen_bad_width
            $error("t_delay: WIDTH must be 1 to 1024");
        end
        if (DEPTH != 2 && DEPTH != 4 && DEPTH != 8) begin : gen_bad_depth
            $error("t_delay: DEPTH must be 2, 4 or 8");
        end
    endgenerate
`endif

    localparam PTR_W = $clog2(DEPTH);

    reg  [PTR_W-1:0] ptr_reg;
    reg  [DEPTH-1:0] seen_reg;
    wire [WIDTH-1:0] oldest;

    t_words #(
        .WIDTH (WIDTH),
        .WORDS (DEPTH)
    ) u_words (
        .clk   (clk),
        .addr  (ptr_reg),
        .rdata (oldest),
        .wdata (in_word)
    );

    always @(posedge clk) begin
        ptr_reg   <= ptr_reg + {{(PTR_W-1){1'b0}}, 1'b1};
        seen_reg  <= {seen_reg[DEPTH-2:0], 1'b1};
        out_word  <= oldest;
        out_valid <= seen_reg[DEPTH-1];
        if (rst) begin
            ptr_reg   <= {PTR_W{1'b0}};
            seen_reg  <= {DEPTH{1'b0}};
            out_valid <= 1'b0;
        end
    end

endmodule

`default_nettype wire
