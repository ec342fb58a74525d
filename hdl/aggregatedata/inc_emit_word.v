// SPDX-License-Identifier: Apache-2.0
//
// inc_emit_word: packs rows of the adders into payload words: 16-bit elements rounded from FP32, bytes in the group's order.
//
// Contract
//   rows        as inc_take_row cuts them; a word's rows come one after the other, the last with row_last
//   latency     0 cycles from a word's last row to the word
//   throughput  1 row per cycle
//   stall       none: whoever sends rows has looked for room first
//   reset       between words
//   not done    counts nothing: row_last says where a word ends
`default_nettype none

module inc_emit_word #(
    // bytes of a word, a power of two
    parameter BYTES  = 8,
    // bytes of a row, a power of two, 4 to BYTES; BYTES if DOUBLE is set
    parameter ROW    = 8,
    // 1: rows of two ROWs
    parameter DOUBLE = 0,
    // types of 16 bits that there are
    parameter F16    = 0,
    parameter B16    = 0
) (
    input  wire                        clk,
    input  wire                        rst,

    input  wire                        row_valid,
    input  wire                        row_last,
    // DOUBLE and 32-bit elements: the half that the word is in
    input  wire                        row_upper,
    input  wire                        row_wide,
    input  wire                        row_bf16,
    input  wire                        row_big_endian,
    input  wire                        row_bad,
    input  wire [8*ROW*(1+DOUBLE)-1:0] row,

    output wire                        word_valid,
    output wire                        word_bad,
    output wire [8*BYTES-1:0]          word
);

    localparam OUT = ROW * (1 + DOUBLE);
    localparam HAS_WIDE = (F16 != 0 || B16 != 0) ? 1 : 0;

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_emit_word: BYTES must be a power of two of at least 4");
        end
        if (ROW < 4 || ROW > BYTES || (1 << $clog2(ROW)) != ROW) begin : gen_bad_row
            $error("inc_emit_word: ROW must be a power of two, 4 to BYTES");
        end
        if (DOUBLE < 0 || DOUBLE > 1 || (DOUBLE == 1 && ROW != BYTES)) begin : gen_bad_double
            $error("inc_emit_word: DOUBLE must be 0, or 1 with ROW equal to BYTES");
        end
    endgenerate
`endif

    genvar i;

    // ---- 32-bit elements ----

    wire [8*ROW-1:0] full = (DOUBLE != 0 && row_upper) ? row[8*OUT-1:8*(OUT-ROW)] : row[8*ROW-1:0];
    wire [8*ROW-1:0] full_wire;
    generate
        for (i = 0; i < ROW / 4; i = i + 1) begin : gen_full
            wire [31:0] e = full[32*i +: 32];
            assign full_wire[32*i +: 32] = row_big_endian ? {e[7:0], e[15:8], e[23:16], e[31:24]} : e;
        end
    endgenerate

    // ---- 16-bit elements, and the word: rows are shifted in from above ----

    wire [8*BYTES-1:0] next;
    generate
        if (HAS_WIDE != 0 || ROW < BYTES) begin : gen_pack
            reg [8*BYTES-1:0] word_reg;
            reg               bad_reg, begun_reg;
            wire [8*BYTES-1:0] next_full;
            if (ROW < BYTES) begin : gen_full_part
                assign next_full = {full_wire, word_reg[8*BYTES-1:8*ROW]};
            end else begin : gen_full_whole
                assign next_full = full_wire;
            end
            if (HAS_WIDE != 0) begin : gen_wide
                wire [4*OUT-1:0] half, half_wire;
                inc_narrow #(.HALVES(OUT / 4), .F16(F16), .B16(B16)) u_narrow (.is_bf16(row_bf16), .x(row), .y(half));
                for (i = 0; i < OUT / 4; i = i + 1) begin : gen_half
                    wire [15:0] e = half[16*i +: 16];
                    assign half_wire[16*i +: 16] = row_big_endian ? {e[7:0], e[15:8]} : e;
                end
                wire [8*BYTES-1:0] next_half;
                if (OUT < 2 * BYTES) begin : gen_half_part
                    assign next_half = {half_wire, word_reg[8*BYTES-1:4*OUT]};
                end else begin : gen_half_whole
                    assign next_half = half_wire;
                end
                assign next = row_wide ? next_half : next_full;
            end else begin : gen_narrow
                assign next = next_full;
                wire unused_bits = &{1'b0, row_wide, row_bf16};
            end
            assign word_bad = row_bad || (begun_reg && bad_reg);
            always @(posedge clk) begin
                if (row_valid) begin
                    word_reg  <= next;
                    bad_reg   <= word_bad;
                    begun_reg <= !row_last;
                end
                if (rst) begin
                    begun_reg <= 1'b0;
                end
            end
            wire unused_reg = &{1'b0, word_reg};
        end else begin : gen_direct
            assign next     = full_wire;
            assign word_bad = row_bad;
            wire unused_bits = &{1'b0, clk, rst, row_wide, row_bf16};
        end
    endgenerate

    assign word       = next;
    assign word_valid = row_valid && row_last;

    wire unused_row = &{1'b0, row, row_upper};

endmodule

`default_nettype wire
