// SPDX-License-Identifier: Apache-2.0
//
// inc_assemble: joins a header and its payload words to the beats of a frame, with zeros where the ICRC will be.
//
// Contract
//   latency     1 cycle from header (and first word, if the first beat needs it) to the first beat
//   throughput  1 beat per cycle, no bubbles between frames while headers and words are there
//   input       a frame has 60 bytes at least; hdr_words are as many as hdr_plen bytes fill, the last perhaps in part
//   beats       full but the last; m_size, with every beat, is the number of that one's bytes, 0 for all; bytes after the payload are zero
//   bad         m_bad is high once a word of the frame, whole or in part in this beat or one before, was bad: complete in the
//               beats behind the payload's last byte, and in the last
//   checksum    the inverse of the one's complement sum of hdr_sum_a and hdr_sum_b; its place in m_data is as in hdr_bytes, zeros
//   stall       m_ready low holds everything; headers and words wait for each other
//   reset       between frames
//   not done    the ICRC; hdr_* must hold still until hdr_pop
`default_nettype none

module inc_assemble #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES   = 8,
    // bits of a port number
    parameter PORT_W  = 2,
    // bits of a payload length
    parameter LEN_W   = 11,
    // bits of a payload's number of words
    parameter WORDS_W = 8
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               hdr_valid,
    output wire               hdr_pop,
    input  wire [PORT_W-1:0]  hdr_port,
    input  wire [8*58-1:0]    hdr_bytes,
    input  wire [15:0]        hdr_sum_a,
    input  wire [15:0]        hdr_sum_b,
    input  wire               hdr_long,
    input  wire [LEN_W-1:0]   hdr_plen,
    input  wire [WORDS_W-1:0] hdr_words,
    input  wire [15:0]        hdr_covered,
    input  wire [15:0]        hdr_total,

    input  wire               word_valid,
    output wire               word_ready,
    input  wire [8*BYTES-1:0] word_data,
    input  wire               word_bad,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*BYTES-1:0] m_data,
    // the IP checksum, in wire order, with the beat that has its place; else zero
    output wire [15:0]        m_check,
    output wire [$clog2(BYTES)-1:0] m_size,
    output wire               m_first,
    output wire               m_last,
    output wire [PORT_W-1:0]  m_port,
    // one bit a beat that has bytes of the frame's first 64: it is that one
    output wire [(BYTES > 64 ? 1 : 64 >> $clog2(BYTES))-1:0] m_front,
    // bytes that the ICRC covers, counted from this beat's first byte; signed
    output wire [16:0]        m_left,
    output wire               m_bad
);

    localparam LANE_W  = $clog2(BYTES);
    localparam BEAT_A  = 54 / BYTES;
    localparam BEAT_B  = 58 / BYTES;
    localparam LANE_A  = 54 % BYTES;
    localparam LANE_B  = 58 % BYTES;
    // bytes of a word that wait for the next beat: those behind the longer shift
    localparam CARRY   = LANE_A > LANE_B ? LANE_A : LANE_B;
    // bytes of a beat that may be header's, and beats with such
    localparam HEADER  = BYTES > 64 ? 64 : BYTES;
    localparam BEATS   = 64 / HEADER;
    // where the IP checksum lies
    localparam CHECK_I = 24 / BYTES;
    localparam [3:0] CHECK_BEAT = CHECK_I[3:0];
    // The payload begins in the first beat, or in the second at the earliest; else the beat before that in which it begins.
    localparam AT_ONCE  = BEAT_A == 0 ? 1 : 0;
    localparam BEFORE_A = AT_ONCE != 0 ? 0 : BEAT_A - 1;
    localparam BEFORE_B = AT_ONCE != 0 ? 0 : BEAT_B - 1;
    localparam [3:0] PRE_BEAT_A = BEFORE_A[3:0];
    localparam [3:0] PRE_BEAT_B = BEFORE_B[3:0];
    // A number of bytes is one of beats and the bytes of a last one, which stay the same while beats are counted.
    localparam BEATS_W = 16 - LANE_W;

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << LANE_W) != BYTES) begin : gen_bad_bytes
            $error("inc_assemble: BYTES must be a power of two, 8 to 2048");
        end
        if (LEN_W < 1 || LEN_W > 15 || LEN_W < LANE_W) begin : gen_bad_len
            $error("inc_assemble: LEN_W must be 1 to 15");
        end
    endgenerate
`endif

    reg  [3:0]         index_reg;
    reg                begun_reg;
    reg  [BEATS_W:0]   left_reg;      // covered beats from this one on, signed; the bytes of the last one are hdr_covered's
    reg  [BEATS_W-1:0] rest_reg;      // beats behind this one
    reg  [WORDS_W-1:0] words_reg;     // words still to come
    reg  [8*CARRY-1:0] carry_reg;     // the last bytes of the word before, not sent yet
    // of a beat that is not the frame's first: it wants a word, of which the payload fills all, the last one; it has payload bytes or lies
    // behind them; it is the last
    reg                needs_reg, whole_reg, final_reg, within_reg, last_reg;

    reg                bad_reg;       // a word of the frame was bad

    reg                o_valid, o_first, o_last, o_checks;
    reg  [15:0]        o_sum_a, o_sum_b;
    reg  [8*BYTES-1:0] o_data;
    reg  [LANE_W-1:0]  o_size;
    reg  [PORT_W-1:0]  o_port;
    reg  [BEATS-1:0]   o_front;
    reg  [16:0]        o_left;
    reg                o_bad;

    localparam [BEATS_W-1:0] NO_BEAT  = {BEATS_W{1'b0}}, ONE_BEAT = {{(BEATS_W-1){1'b0}}, 1'b1}, TWO_BEATS = ONE_BEAT << 1;
    localparam [WORDS_W-1:0] NO_WORD  = {WORDS_W{1'b0}}, ONE_WORD = {{(WORDS_W-1){1'b0}}, 1'b1};
    localparam [WORDS_W-1:0] TWO_WORDS = ONE_WORD << 1;

    wire [BEATS_W:0]   left   = begun_reg ? left_reg : {1'b0, hdr_covered[15:LANE_W]};
    // beats behind this one, and one more in a first beat of a frame whose last is full
    wire [BEATS_W-1:0] rest   = begun_reg ? rest_reg : hdr_total[15:LANE_W];
    wire               more   = !begun_reg && hdr_total[LANE_W-1:0] == {LANE_W{1'b0}};
    wire [WORDS_W-1:0] words  = begun_reg ? words_reg : hdr_words;
    wire [LEN_W:0]     plen   = {1'b0, hdr_plen};
    wire               even   = plen[LANE_W-1:0] == {LANE_W{1'b0}};      // no payload word is filled in part
    wire               unused_bits = &{1'b0, plen};

    // The first beat of a frame of 60 bytes and more wants a word, or is the last, only where beats are so wide.
    wire needs = needs_reg || (AT_ONCE != 0 && !begun_reg && hdr_words != NO_WORD);
    wire last  = last_reg || (AT_ONCE != 0 && !begun_reg && rest == (more ? ONE_BEAT : NO_BEAT));
    wire go    = hdr_valid && (!needs || word_valid) && (!o_valid || m_ready);
    wire bad   = (begun_reg && bad_reg) || (needs && word_bad);
    wire at_end = AT_ONCE != 0 && !begun_reg ? hdr_words == ONE_WORD : final_reg;
    wire whole = AT_ONCE != 0 && !begun_reg ? hdr_words != ONE_WORD || even : whole_reg;

    // of the beat behind this one
    wire within_next = AT_ONCE != 0 || within_reg || index_reg == (hdr_long ? PRE_BEAT_B : PRE_BEAT_A);
    wire words_next  = needs ? !at_end : words != NO_WORD;
    wire final_next  = needs ? words == TWO_WORDS : words == ONE_WORD;

    assign word_ready = go && needs;
    assign hdr_pop    = go && last;

    // the word with zeros after the payload's end
    wire [8*BYTES-1:0] word;
    wire [8*64-1:0]     header = {48'd0, hdr_bytes};
    wire [8*BYTES-1:0]  front;        // this beat's part of it

    // Lanes below the payload's end, in two steps: whole blocks of lanes, and lanes of the block in which it lies.
    localparam FINE_W = LANE_W / 2;
    localparam BLOCKS = BYTES >> FINE_W;
    localparam FINE   = 1 << FINE_W;
    wire [LANE_W-FINE_W:0] pay_block  = {1'b0, plen[LANE_W-1:FINE_W]};
    wire [FINE_W:0]        pay_lane   = {1'b0, plen[FINE_W-1:0]};
    wire [BLOCKS:0]        pay_blocks;    // bit i + 1: block i lies below; bit 0: there may be any
    wire [FINE-1:0]        pay_lanes;
    assign pay_blocks[0]  = needs;

    genvar b;
    generate
        for (b = 0; b < BLOCKS; b = b + 1) begin : gen_block
            localparam [LANE_W-FINE_W:0] BLOCK = b;
            assign pay_blocks[b+1]  = needs && (whole || pay_block > BLOCK);
        end
        for (b = 0; b < FINE; b = b + 1) begin : gen_lane
            localparam [FINE_W:0] LANE = b;
            assign pay_lanes[b]  = pay_lane > LANE;
        end
        for (b = 0; b < BYTES; b = b + 1) begin : gen_byte
            wire in_payload = pay_blocks[b/FINE+1] || (pay_blocks[b/FINE] && pay_lanes[b%FINE]);
            assign word[8*b +: 8] = in_payload ? word_data[8*b +: 8] : 8'h00;
        end
    endgenerate

    reg [8*HEADER-1:0] slice;
    reg [BEATS-1:0]    at_beat;
    integer k;
    always @* begin
        slice = {(8*HEADER){1'b0}};
        for (k = 0; k < BEATS; k = k + 1) begin
            at_beat[k] = index_reg == k[3:0];
            if (at_beat[k]) begin
                slice = header[8*HEADER*k +: 8*HEADER];
            end
        end
    end
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_front
            if (b < HEADER) begin : gen_header
                assign front[8*b +: 8] = slice[8*b +: 8];
            end else begin : gen_payload
                assign front[8*b +: 8] = 8'h00;
            end
        end
    endgenerate

    wire [8*BYTES-1:0] body_a = {word[8*(BYTES-LANE_A)-1:0], carry_reg[8*CARRY-1:8*(CARRY-LANE_A)]};
    wire [8*BYTES-1:0] body_b = {word[8*(BYTES-LANE_B)-1:0], carry_reg[8*CARRY-1:8*(CARRY-LANE_B)]};

    always @(posedge clk) begin
        if (go) begin
            o_data  <= front | (hdr_long ? body_b : body_a);
            o_size  <= hdr_total[LANE_W-1:0];
            o_checks <= index_reg == CHECK_BEAT;
            o_sum_a  <= hdr_sum_a;
            o_sum_b  <= hdr_sum_b;
            o_first <= !begun_reg;
            o_last  <= last;
            o_port  <= hdr_port;
            o_front <= at_beat;
            o_left  <= {left, hdr_covered[LANE_W-1:0]};
            o_bad   <= bad;
            bad_reg <= bad;
            begun_reg  <= 1'b1;
            needs_reg  <= within_next && words_next;
            final_reg  <= final_next;
            whole_reg  <= !final_next || even;
            within_reg <= within_next;
            last_reg   <= more ? rest == TWO_BEATS : rest == ONE_BEAT;
            index_reg  <= index_reg == 4'd15 ? 4'd15 : index_reg + 4'd1;
            carry_reg  <= word[8*BYTES-1:8*(BYTES-CARRY)];
            left_reg  <= left - {1'b0, ONE_BEAT};
            rest_reg  <= rest + {{(BEATS_W-1){1'b1}}, !more};      // less 1 or 2
            words_reg <= needs ? words - ONE_WORD : words;
        end
        o_valid <= (go || (o_valid && !m_ready)) && !rst;
        if (rst || (go && last)) begin
            begun_reg  <= 1'b0;
            needs_reg  <= 1'b0;
            within_reg <= 1'b0;
            last_reg   <= 1'b0;
            index_reg  <= 4'd0;
            carry_reg  <= {(8*CARRY){1'b0}};
        end
    end

    wire [16:0] fold     = {1'b0, o_sum_a} + {1'b0, o_sum_b};
    wire [15:0] checksum = ~(fold[15:0] + {15'd0, fold[16]});

    assign m_valid = o_valid;
    assign m_data  = o_data;
    assign m_check = {checksum[7:0], checksum[15:8]} & {16{o_checks}};
    assign m_size  = o_size;
    assign m_first = o_first;
    assign m_last  = o_last;
    assign m_port  = o_port;
    assign m_front = o_front;
    assign m_left  = o_left;
    assign m_bad   = o_bad;

endmodule

`default_nettype wire
