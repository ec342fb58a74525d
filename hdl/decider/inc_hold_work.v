// SPDX-License-Identifier: Apache-2.0
//
// inc_hold_work: keeps a frame's work on the payload until AggregateData takes it, before or after the frame's verdict.
//
// Contract
//   order       one work at a time, put while `held` is low; it is speculative until `commits` or `kills` follows, before the next
//   latency     put in cycle 0, op_valid in cycle 1 at the earliest; with PROMPT in cycle 0
//   throughput  a work in 2 cycles
//   stall       op_ready: op_valid is high in cycles with op_ready alone; held
//   verdict     it reaches a work that is still held here: a committed one is no longer speculative, a killed one is never offered. One
//               that was taken gets op_commit or op_kill in the same cycle
//   reset       nothing held
//   not done    does not look at the work
`default_nettype none

module inc_hold_work #(
    // bits of a work, at least 1
    parameter WIDTH  = 8,
    // 1: a work is offered in the cycle in which it is put
    parameter PROMPT = 0
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
        if (PROMPT < 0 || PROMPT > 1) begin : gen_bad_prompt
            $error("inc_hold_work: PROMPT must be 0 or 1");
        end
    endgenerate
`endif

    reg             held_reg, spec_reg;
    reg [WIDTH-1:0] data_reg;

    wire dies   = kills && spec_reg;
    wire passes = PROMPT != 0 && put && op_ready;    // it is not held
    wire spec   = spec_reg && !commits;

    assign held      = held_reg;
    assign op_valid  = passes || (held_reg && op_ready && !dies);
    assign op_spec   = passes || spec;
    assign op_commit = commits && !held_reg;
    assign op_kill   = kills && !held_reg;
    assign op_data   = PROMPT != 0 && !held_reg ? put_data : data_reg;

    always @(posedge clk) begin
        if (!held_reg) begin
            data_reg <= put_data;
        end
        if (put) begin
            held_reg <= !passes;
            spec_reg <= 1'b1;
        end else begin
            held_reg <= held_reg && !op_ready && !dies;
            spec_reg <= spec;
        end
        if (rst) begin
            held_reg <= 1'b0;
            spec_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
