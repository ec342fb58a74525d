// SPDX-License-Identifier: Apache-2.0
//
// inc_cut_work: cuts a work on a packet's payload into works of one unit of the payload memory, and says of each whether it is added.
//
// Contract
//   order       works first in, first out, one at a time; the units of one in ascending order
//   latency     0 cycles: the first unit of a work passes in the cycle of in_valid, the others follow
//   throughput  a unit in a cycle
//   stall       in_ready is low until the last unit of the work before is taken, and while op_ready is low; in_valid comes in cycles with
//               in_ready alone
//   speculation of a work that is not committed yet the first unit passes, as speculative, and no other: AggregateData has one such work at
//               most. in_commit lets the others follow from the next cycle on, in_kill drops them
//   adding      the first in_adds units of what takes a packet's words are added to what lies there, the rest overwrite; a work that takes
//               none reads all of its units, or in a tree none
//   words       oldest is that of the committed work which is cut, if it takes a packet's words, else in_oldest: what is killed may come again
//               with all its words
//   reset       nothing held
//   not done    a work without words
`default_nettype none

module inc_cut_work #(
    // words of a unit, a power of two
    parameter UNIT_WORDS = 32,
    // bits of a payload's number of words, and of a unit's
    parameter WORDS_W  = 8,
    parameter PART_W   = 6,
    // bits of the number of units that are added
    parameter ADDS_W   = 5,
    // bits of a unit's number
    parameter UNIT_W   = 6,
    // bits of a pair's number, and pairs
    parameter PAIR_W   = 1,
    parameter PLANES   = 1,
    // bits of a beat's address in the packet buffer
    parameter PKT_W    = 9,
    // 1: contributions are kept by pairs of endpoints
    parameter TREE     = 0,
    // 1: there are element types of 16 bits, which take two units each
    parameter HALVES   = 0
) (
    input  wire               clk,
    input  wire               rst,

    output wire               in_ready,
    input  wire               in_valid,
    // it is not committed yet; the verdict on the work that came last, if it was not when it came
    input  wire               in_spec,
    input  wire               in_commit,
    input  wire               in_kill,
    input  wire [PKT_W-1:0]   in_start,
    input  wire               in_imm,
    input  wire [WORDS_W-1:0] in_words,
    input  wire [UNIT_W-1:0]  in_slot,
    input  wire [PAIR_W-1:0]  in_pair,
    input  wire               in_take,
    input  wire               in_write,
    input  wire               in_emit,
    input  wire               in_reduce,
    input  wire [PLANES-1:0]  in_pairs,
    input  wire [1:0]         in_function,
    input  wire [1:0]         in_dtype,
    input  wire               in_big_endian,
    // of the work put last
    input  wire [ADDS_W-1:0]  in_adds,
    input  wire [PKT_W-1:0]   in_oldest,

    // for AggregateData
    input  wire               op_ready,
    output wire               op_valid,
    output wire               op_spec,
    output wire               op_commit,
    output wire               op_kill,
    output wire [PKT_W-1:0]   op_start,
    output wire               op_imm,
    output wire [PART_W-1:0]  op_words,
    output wire [UNIT_W-1:0]  op_slot,
    output wire [PAIR_W-1:0]  op_pair,
    output wire               op_read,
    output wire               op_take,
    output wire               op_write,
    output wire               op_emit,
    output wire               op_reduce,
    output wire [PLANES-1:0]  op_pairs,
    output wire [1:0]         op_function,
    output wire [1:0]         op_dtype,
    output wire               op_big_endian,
    output wire [PKT_W-1:0]   oldest
);

`ifndef __ICARUS__
    generate
        if (UNIT_WORDS != (1 << (PART_W - 1)) || WORDS_W < PART_W || PKT_W < PART_W) begin : gen_bad_unit
            $error("inc_cut_work: UNIT_WORDS must be a power of two of PART_W - 1 bits, at most a payload's words and the packet buffer's");
        end
    endgenerate
`endif

    localparam [WORDS_W-1:0] UNIT = UNIT_WORDS[WORDS_W-1:0];
    localparam [31:0] STEP_ONE = 32'd1, STEP_TWO = 32'd2;

    // what is left of a work behind its first unit
    reg               busy_reg, spec_reg, take_reg, write_reg, emit_reg, reduce_reg, big_endian_reg, imm_reg;
    reg [PKT_W-1:0]   start_reg;
    reg [WORDS_W-1:0] left_reg;
    reg [UNIT_W-1:0]  slot_reg;
    reg [PAIR_W-1:0]  pair_reg;
    reg [PLANES-1:0]  pairs_reg;
    reg [1:0]         function_reg, dtype_reg;
    reg [ADDS_W-1:0]  adds_reg;

    wire [WORDS_W-1:0] left = busy_reg ? left_reg : in_words;
    wire [ADDS_W-1:0]  adds = busy_reg ? adds_reg : in_adds;
    wire last = left <= UNIT;
    wire adding = adds != {ADDS_W{1'b0}};
    wire wide = HALVES != 0 && op_dtype[1] != op_dtype[0];

    assign in_ready      = !busy_reg && op_ready;
    assign op_valid      = busy_reg ? op_ready && !spec_reg : in_valid;
    assign op_spec       = !busy_reg && in_spec;
    assign op_commit     = in_commit;
    assign op_kill       = in_kill;
    assign op_start      = busy_reg ? start_reg : in_start;
    assign op_imm        = busy_reg ? imm_reg : in_imm;
    assign op_words      = last ? left[PART_W-1:0] : UNIT[PART_W-1:0];
    assign op_slot       = busy_reg ? slot_reg : in_slot;
    assign op_pair       = busy_reg ? pair_reg : in_pair;
    assign op_read       = op_take ? adding : TREE == 0;
    assign op_take       = busy_reg ? take_reg : in_take;
    assign op_write      = busy_reg ? write_reg : in_write;
    assign op_emit       = busy_reg ? emit_reg : in_emit;
    assign op_reduce     = busy_reg ? reduce_reg : in_reduce;
    assign op_pairs      = busy_reg ? pairs_reg : in_pairs;
    assign op_function   = busy_reg ? function_reg : in_function;
    assign op_dtype      = busy_reg ? dtype_reg : in_dtype;
    assign op_big_endian = busy_reg ? big_endian_reg : in_big_endian;
    // what takes no words of a packet must not let any go
    assign oldest        = busy_reg && !spec_reg && take_reg ? start_reg : in_oldest;

    always @(posedge clk) begin
        if (op_valid) begin
            busy_reg  <= !last;
            start_reg <= op_start + UNIT_WORDS[PKT_W-1:0];
            left_reg  <= left - UNIT;
            slot_reg  <= op_slot + (wide ? STEP_TWO[UNIT_W-1:0] : STEP_ONE[UNIT_W-1:0]);
            adds_reg  <= adding ? adds - {{(ADDS_W-1){1'b0}}, 1'b1} : adds;
        end else if (in_kill) begin
            busy_reg  <= 1'b0;
        end
        spec_reg <= in_valid ? in_spec : spec_reg && !in_commit;
        if (!busy_reg) begin
            take_reg       <= in_take;
            imm_reg        <= in_imm;
            write_reg      <= in_write;
            emit_reg       <= in_emit;
            reduce_reg     <= in_reduce;
            big_endian_reg <= in_big_endian;
            pair_reg       <= in_pair;
            pairs_reg      <= in_pairs;
            function_reg   <= in_function;
            dtype_reg      <= in_dtype;
        end
        if (rst) begin
            busy_reg <= 1'b0;
            spec_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
