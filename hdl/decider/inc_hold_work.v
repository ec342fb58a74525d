// SPDX-License-Identifier: Apache-2.0
//
// inc_hold_work: keeps a frame's work on the payload until AggregateData takes it, before or after the frame's verdict.
//
// Contract
//   order       one work at a time, put while `held` is low; it is speculative until `commits` or `kills` follows, before the next
//   latency     put in cycle 0, op_valid in cycle 1 at the earliest
//   throughput  a work in 2 cycles
//   stall       op_ready: op_valid is high in cycles with op_ready alone; held
//   verdict     it reaches a work that is still held here: a committed one is no longer speculative, a killed one is never offered. One
//               that was taken gets op_commit or op_kill in the same cycle
//   reset       nothing held
//   not done    does not look at the work
`default_nettype none

module inc_hold_work #(
    // bits of a work, at least 1
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,

    output wire             held,
    input  wire             put,
    input  wire [WIDTH-1:0] put_data,
    // the verdict on the frame whose work was put
    input  wire             commits,
    input  wire             kills,

    input  wire             op_ready,
    output wire             op_valid,
    output wire             op_spec,
    output wire             op_commit,
    output wire             op_kill,
    output wire [WIDTH-1:0] op_data
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_hold_work: WIDTH must be at least 1");
        end
    endgenerate
`endif

    reg             held_reg, spec_reg;
    reg [WIDTH-1:0] data_reg;

    wire dies = kills && spec_reg;

    assign held      = held_reg;
    assign op_valid  = held_reg && op_ready && !dies;
    assign op_spec   = spec_reg && !commits;
    assign op_commit = commits && !held_reg;
    assign op_kill   = kills && !held_reg;
    assign op_data   = data_reg;

    always @(posedge clk) begin
        if (!held_reg) begin
            data_reg <= put_data;
        end
        if (put) begin
            held_reg <= 1'b1;
            spec_reg <= 1'b1;
        end else begin
            held_reg <= held_reg && !op_ready && !dies;
            spec_reg <= op_spec;
        end
        if (rst) begin
            held_reg <= 1'b0;
            spec_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
