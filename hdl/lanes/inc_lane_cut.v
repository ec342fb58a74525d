// SPDX-License-Identifier: Apache-2.0
//
// inc_lane_cut: a place in a pipeline where registers may stand: WIDTH registers, or wires.
//
// Contract
//   latency     CUT cycles with en high
//   throughput  one word per cycle
//   stall       q holds while en is low
//   reset       none; q is unknown until the first cycle with en
//   not done    nothing else
`default_nettype none

module inc_lane_cut #(
    // bits, at least 1
    parameter WIDTH = 1,
    // 1: registers, 0: wires
    parameter CUT   = 1
) (
    input  wire             clk,
    input  wire             en,
    input  wire [WIDTH-1:0] d,
    output wire [WIDTH-1:0] q
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_lane_cut: WIDTH must be at least 1");
        end
    endgenerate
`endif

    generate
        if (CUT != 0) begin : gen_registers
            reg [WIDTH-1:0] q_reg;
            always @(posedge clk) begin
                if (en) begin
                    q_reg <= d;
                end
            end
            assign q = q_reg;
        end else begin : gen_wires
            wire unused_bits = &{1'b0, clk, en};
            assign q = d;
        end
    endgenerate

endmodule

`default_nettype wire
