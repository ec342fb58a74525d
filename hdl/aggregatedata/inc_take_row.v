// SPDX-License-Identifier: Apache-2.0
//
// inc_take_row: cuts a row for the adders out of a payload word: elements in the machine's order, 16-bit ones widened to FP32.
//
// Contract
//   rows        a word of 32-bit elements is BYTES/ROW rows, one of 16-bit elements twice as many; with DOUBLE set a row is two
//               ROWs wide: a word of 32-bit elements then appears in both halves, one of 16-bit elements fills both
//   latency     0 cycles: combinational; with CUT 1: the elements that are cut out pass a register, and are widened behind it
//   throughput  follows its inputs
//   stall       never; with CUT the register takes what is cut out with `en` and keeps it otherwise
//   reset       none
//   not done    the last word's bytes behind the payload's end are cut like the others
`default_nettype none

module inc_take_row #(
    // bytes of a word, a power of two
    parameter BYTES  = 8,
    // bytes of a row, a power of two, 4 to BYTES; BYTES if DOUBLE is set
    parameter ROW    = 8,
    // 1: rows of two ROWs
    parameter DOUBLE = 0,
    // types of 16 bits that there are
    parameter F16    = 0,
    parameter B16    = 0,
    // bits of a row's number in its word, at least 1
    parameter SUB_W  = 1,
    // 1: a register between cutting and widening
    parameter CUT    = 0
) (
    input  wire                        clk,

    // what is cut out: a row's elements, in the machine's order
    input  wire                        en,
    input  wire [8*BYTES-1:0]          word,
    // number of the row in its word
    input  wire [SUB_W-1:0]            sub,
    input  wire                        wide,
    input  wire                        big_endian,

    // the row that is made of them, with CUT of what was cut out last
    input  wire                        row_wide,
    input  wire                        row_bf16,
    output wire [8*ROW*(1+DOUBLE)-1:0] row
);

    localparam ROWS = BYTES / ROW;
    localparam OUT  = ROW * (1 + DOUBLE);

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_take_row: BYTES must be a power of two of at least 4");
        end
        if (ROW < 4 || ROW > BYTES || (1 << $clog2(ROW)) != ROW) begin : gen_bad_row
            $error("inc_take_row: ROW must be a power of two, 4 to BYTES");
        end
        if (DOUBLE < 0 || DOUBLE > 1 || (DOUBLE == 1 && ROW != BYTES)) begin : gen_bad_double
            $error("inc_take_row: DOUBLE must be 0, or 1 with ROW equal to BYTES");
        end
        if (SUB_W < 1 || SUB_W < $clog2(2 * ROWS) - DOUBLE) begin : gen_bad_sub
            $error("inc_take_row: SUB_W must hold the rows of a word");
        end
        if (CUT < 0 || CUT > 1) begin : gen_bad_cut
            $error("inc_take_row: CUT must be 0 or 1");
        end
    endgenerate
`endif

    genvar i;

    // ---- 32-bit elements ----

    wire [8*ROW-1:0] full;
    generate
        if (ROWS > 1) begin : gen_cut
            reg [8*ROW-1:0] cut;
            integer k;
            always @* begin
                cut = word[8*ROW-1:0];
                for (k = 1; k < ROWS; k = k + 1) begin
                    if (sub == k[SUB_W-1:0]) begin
                        cut = word[8*ROW*k +: 8*ROW];
                    end
                end
            end
            assign full = cut;
        end else begin : gen_whole
            assign full = word;
        end
    endgenerate

    wire [8*ROW-1:0] full_host;
    generate
        for (i = 0; i < ROW / 4; i = i + 1) begin : gen_full
            wire [31:0] e = full[32*i +: 32];
            assign full_host[32*i +: 32] = big_endian ? {e[7:0], e[15:8], e[23:16], e[31:24]} : e;
        end
    endgenerate

    // ---- 16-bit elements, and the row; in a register both sizes of elements have the same place ----

    wire [8*ROW-1:0] row_full;
    generate
        if (F16 != 0 || B16 != 0) begin : gen_wide
            wire [4*OUT-1:0] half;
            if (2 * ROWS > 1 + DOUBLE) begin : gen_cut
                reg [4*OUT-1:0] cut;
                integer k;
                always @* begin
                    cut = word[4*OUT-1:0];
                    for (k = 1; k < 2 * ROWS; k = k + 1) begin
                        if (sub == k[SUB_W-1:0]) begin
                            cut = word[4*OUT*k +: 4*OUT];
                        end
                    end
                end
                assign half = cut;
            end else begin : gen_whole
                assign half = word;
            end

            wire [4*OUT-1:0] half_host, row_half;
            for (i = 0; i < OUT / 4; i = i + 1) begin : gen_half
                wire [15:0] e = half[16*i +: 16];
                assign half_host[16*i +: 16] = big_endian ? {e[7:0], e[15:8]} : e;
            end

            if (CUT != 0) begin : gen_register
                reg [8*ROW-1:0] elements_reg;
                always @(posedge clk) begin
                    if (en) begin
                        elements_reg <= full_host;
                        if (wide) begin
                            elements_reg[4*OUT-1:0] <= half_host;
                        end
                    end
                end
                assign row_full = elements_reg;
                assign row_half = elements_reg[4*OUT-1:0];
            end else begin : gen_through
                assign row_full = full_host;
                assign row_half = half_host;
                wire unused_wide = &{1'b0, clk, en, wide};
            end

            wire [8*OUT-1:0] widened;
            inc_widen #(.HALVES(OUT / 4), .F16(F16), .B16(B16)) u_widen (.is_bf16(row_bf16), .x(row_half), .y(widened));
            assign row = row_wide ? widened : {(1 + DOUBLE){row_full}};
        end else begin : gen_narrow
            if (CUT != 0) begin : gen_register
                reg [8*ROW-1:0] elements_reg;
                always @(posedge clk) begin
                    if (en) begin
                        elements_reg <= full_host;
                    end
                end
                assign row_full = elements_reg;
            end else begin : gen_through
                assign row_full = full_host;
                wire unused_clk = &{1'b0, clk, en};
            end
            assign row = {(1 + DOUBLE){row_full}};
            wire unused_bits = &{1'b0, wide, row_wide, row_bf16};
        end
    endgenerate

    wire unused_sub = &{1'b0, sub};

endmodule

`default_nettype wire
