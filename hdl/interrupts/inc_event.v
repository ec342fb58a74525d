// SPDX-License-Identifier: Apache-2.0
//
// inc_event: one event of several: of pulses, of levels that rise, or one line of several.
//
// Contract
//   latency     1 cycle
//   throughput  a cycle each
//   events      high in the cycle behind one in which some bit of `from` was high; with RISE, behind one in which some was and was not in the
//               cycle before
//   stall       none
//   reset       low
//   not done    two bits in one cycle are one event
`default_nettype none

module inc_event #(
    // number of bits, at least 1
    parameter WIDTH = 2,
    // 1: a bit counts when it rises; 0: as long as it is high
    parameter RISE  = 0
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] from,
    output wire             happens
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_event: WIDTH must be at least 1");
        end
        if (RISE < 0 || RISE > 1) begin : gen_bad_rise
            $error("inc_event: RISE must be 0 or 1");
        end
    endgenerate
`endif

    reg happens_reg;
    assign happens = happens_reg;

    generate
        if (RISE != 0) begin : gen_rise
            reg [WIDTH-1:0] before_reg;
            always @(posedge clk) begin
                before_reg  <= from;
                happens_reg <= |(from & ~before_reg);
                if (rst) begin
                    before_reg  <= {WIDTH{1'b0}};
                    happens_reg <= 1'b0;
                end
            end
        end else begin : gen_any
            always @(posedge clk) begin
                happens_reg <= |from;
                if (rst) begin
                    happens_reg <= 1'b0;
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
