// SPDX-License-Identifier: Apache-2.0
//
// inc_cut_work: cuts a work on a packet's payload into works of one unit of the payload memory, and says of each whether it is added.
//
// Contract
//   order       works first in, first out, one at a time; the units of one in ascending order
//   latency     a work in cycle 0, its first unit in cycle 1
//   throughput  a unit in a cycle
//   stall       in_ready low until the last unit is taken
//   adding      the first in_adds units of what takes a packet's words are added to what lies there, the rest overwrite; a work that takes
//               none reads all of its units, or in a tree none
//   words       oldest is that of the work which is cut, else in_oldest
//   reset       nothing held
//   not done    speculation: a work is committed when it comes
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
    // bits of a word's address in the packet buffer
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
    input  wire [PKT_W-1:0]   in_start,
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

    reg               busy_reg, take_reg, write_reg, emit_reg, reduce_reg, big_endian_reg;
    reg [PKT_W-1:0]   start_reg;
    reg [WORDS_W-1:0] left_reg;
    reg [UNIT_W-1:0]  slot_reg;
    reg [PAIR_W-1:0]  pair_reg;
    reg [PLANES-1:0]  pairs_reg;
    reg [1:0]         function_reg, dtype_reg;
    reg [ADDS_W-1:0]  adds_reg;

    wire last = left_reg <= UNIT;
    wire adding = adds_reg != {ADDS_W{1'b0}};
    wire wide = HALVES != 0 && dtype_reg[1] != dtype_reg[0];

    assign in_ready      = !busy_reg;
    assign op_valid      = busy_reg && op_ready;
    assign op_spec       = 1'b0;
    assign op_commit     = 1'b0;
    assign op_kill       = 1'b0;
    assign op_start      = start_reg;
    assign op_words      = last ? left_reg[PART_W-1:0] : UNIT[PART_W-1:0];
    assign op_slot       = slot_reg;
    assign op_pair       = pair_reg;
    assign op_read       = take_reg ? adding : TREE == 0;
    assign op_take       = take_reg;
    assign op_write      = write_reg;
    assign op_emit       = emit_reg;
    assign op_reduce     = reduce_reg;
    assign op_pairs      = pairs_reg;
    assign op_function   = function_reg;
    assign op_dtype      = dtype_reg;
    assign op_big_endian = big_endian_reg;
    assign oldest        = busy_reg ? start_reg : in_oldest;

    always @(posedge clk) begin
        if (in_valid) begin
            busy_reg       <= 1'b1;
            take_reg       <= in_take;
            write_reg      <= in_write;
            emit_reg       <= in_emit;
            reduce_reg     <= in_reduce;
            big_endian_reg <= in_big_endian;
            start_reg      <= in_start;
            left_reg       <= in_words;
            slot_reg       <= in_slot;
            pair_reg       <= in_pair;
            pairs_reg      <= in_pairs;
            function_reg   <= in_function;
            dtype_reg      <= in_dtype;
            adds_reg       <= in_adds;
        end else if (op_valid) begin
            busy_reg  <= !last;
            // what takes no words of a packet must not let any go
            start_reg <= take_reg ? start_reg + UNIT_WORDS[PKT_W-1:0] : start_reg;
            left_reg  <= left_reg - UNIT;
            slot_reg  <= slot_reg + (wide ? STEP_TWO[UNIT_W-1:0] : STEP_ONE[UNIT_W-1:0]);
            adds_reg  <= adding ? adds_reg - {{(ADDS_W-1){1'b0}}, 1'b1} : adds_reg;
        end
        if (rst) begin
            busy_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
