// SPDX-License-Identifier: Apache-2.0
//
// inc_cut_message: cuts a complete message by a path MTU: what the packet at a place has, and whether it is the message's last.
//
// Contract
//   latency     2 cycles from the place and the length to everything
//   throughput  1 per cycle
//   place       pos counts units of U_BYTES, a packet has 2**code of them; pos is a packet's first, and in the message
//   packet      plen its bytes, 2**code units or for the last what is left; words of BYTES in them; pad what is missing to 4 bytes
//   last        it is the message's last packet
//   stall       none
//   reset       none
//   not done    messages that are not complete; a place outside of its message
`default_nettype none

module inc_cut_message #(
    // bytes of a word, a power of two
    parameter BYTES   = 8,
    // bits of a payload length
    parameter LEN_W   = 13,
    // bits of a payload's number of words
    parameter WORDS_W = 10,
    // bits of a message's length
    parameter OFF_W   = 15,
    // bits of a place in a message
    parameter POS_W   = 7,
    // bytes of a unit, a power of two of at least 256 and BYTES
    parameter U_BYTES = 256
) (
    input  wire               clk,

    input  wire [POS_W-1:0]   pos,
    input  wire [2:0]         code,
    input  wire [OFF_W-1:0]   length,

    output reg                last,
    output reg  [LEN_W-1:0]   plen,
    output reg  [WORDS_W-1:0] words,
    output reg  [1:0]         pad
);

    localparam UNIT_LOG = $clog2(U_BYTES);
    localparam WORD_LOG = $clog2(BYTES);
    localparam TOP_W    = POS_W + UNIT_LOG;        // bits of a byte's number in a message
    localparam [31:0] UNIT = U_BYTES;
    localparam [31:0] MORE = BYTES - 1;

`ifndef __ICARUS__
    generate
        if (BYTES < 1 || (1 << WORD_LOG) != BYTES || (1 << UNIT_LOG) != U_BYTES || U_BYTES < 256 || U_BYTES < BYTES) begin : gen_bad_bytes
            $error("inc_cut_message: BYTES and U_BYTES must be powers of two, U_BYTES at least 256 and BYTES");
        end
        if (OFF_W <= UNIT_LOG || OFF_W > 24 || POS_W != OFF_W - UNIT_LOG) begin : gen_bad_off
            $error("inc_cut_message: OFF_W must be more than a unit's bits and at most 24, POS_W what it has beyond them");
        end
        if (LEN_W <= UNIT_LOG || LEN_W > 16 || WORDS_W < 1 || WORDS_W + WORD_LOG < LEN_W) begin : gen_bad_len
            $error("inc_cut_message: LEN_W must be more than a unit's bits and at most 16, WORDS_W enough for its words");
        end
    endgenerate
`endif

    // ---- the message's last unit, and the bytes from the place on ----

    // both as if a message were of a byte at least: one of none is a packet of none
    wire [TOP_W:0]   whole = {{(TOP_W+1-OFF_W){1'b0}}, length};
    wire [TOP_W:0]   highest = whole - {{TOP_W{1'b0}}, 1'b1};
    wire [TOP_W:0]   from  = {1'b0, pos, {UNIT_LOG{1'b0}}};
    wire             empty = length == {OFF_W{1'b0}};
    // packets before the last unit, and before the place
    reg  [POS_W-1:0] last_reg, pos_reg;
    reg  [TOP_W:0]   left_reg;
    reg  [2:0]       code_reg;

    always @(posedge clk) begin
        last_reg <= (empty ? {POS_W{1'b0}} : highest[UNIT_LOG +: POS_W]) >> code;
        pos_reg  <= pos >> code;
        left_reg <= whole - from;
        code_reg <= code;
    end

    // ---- the packet ----

    wire             ends   = last_reg == pos_reg;
    wire [31:0]      mtu    = UNIT << code_reg;
    wire [31:0]      bytes  = ends ? {{(31-TOP_W){1'b0}}, left_reg} : mtu;
    wire [31:0]      filled = ({{(31-TOP_W){1'b0}}, left_reg} + MORE) >> WORD_LOG;
    wire [31:0]      full   = mtu >> WORD_LOG;

    always @(posedge clk) begin
        last  <= ends;
        plen  <= bytes[LEN_W-1:0];
        words <= ends ? filled[WORDS_W-1:0] : full[WORDS_W-1:0];
        pad   <= 2'd0 - bytes[1:0];
    end

    wire unused_bits = &{1'b0, highest, bytes, filled, full};

endmodule

`default_nettype wire
