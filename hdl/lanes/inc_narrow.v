// SPDX-License-Identifier: Apache-2.0
//
// inc_narrow: a word of FP32 elements rounded to FP16 or BF16.
//
// Contract
//   arithmetic  round to nearest even, with subnormals, beyond the largest number infinity; of a NaN the sign and the top
//               fraction bits are kept, and the quiet bit is set where these are all zero: what inc_widen made comes back
//               as it was, and 0x7FC00000 becomes 0x7E00 or 0x7FC0
//   latency     0 cycles: combinational
//   throughput  one word per cycle
//   stall       none
//   reset       none
//   not done    is_bf16 is ignored where only one type is included
`default_nettype none

module inc_narrow #(
    // number of elements, at least 1
    parameter HALVES = 2,
    // 1: the type is included
    parameter F16    = 1,
    parameter B16    = 1
) (
    // BF16, else FP16
    input  wire                 is_bf16,
    input  wire [32*HALVES-1:0] x,
    output wire [16*HALVES-1:0] y
);

`ifndef __ICARUS__
    generate
        if (HALVES < 1) begin : gen_bad_halves
            $error("inc_narrow: HALVES must be at least 1");
        end
        if (F16 == 0 && B16 == 0) begin : gen_bad_types
            $error("inc_narrow: F16 or B16 must be included");
        end
    endgenerate
`endif

    genvar i;
    generate
        for (i = 0; i < HALVES; i = i + 1) begin : gen_half
            wire [31:0] w   = x[32*i +: 32];
            wire        nan = &w[30:23] && |w[22:0];

            // Either type as a magnitude before rounding, and whether to round up. What lies below both types' guard bits is asked once.
            wire        low   = |w[11:0];
            wire [14:0] b_cut = {w[30:23], w[22] || (nan && w[21:16] == 6'd0), w[21:16]};
            wire        b_up  = !nan && w[15] && (w[16] || |w[14:12] || low);

            if (F16 != 0) begin : gen_f16
                wire [7:0]  e   = w[30:23];
                wire        sub = e < 8'd113;
                wire        big = e > 8'd142;
                // A subnormal is shifted until its exponent would be that of the smallest normal number; 12 or more leave
                // nothing but a reason to keep the rest. Only the bits that may be kept and the guard bit move; what falls out of
                // them is `lost`.
                wire [3:0]  by    = (4'd1 - e[3:0] | {4{e < 8'd98}}) & {4{sub}};
                wire [11:0] sig   = {e != 8'd0, w[22:12]};
                wire [11:0] sig8  = by[3] ? sig >> 8 : sig;
                wire [11:0] sig4  = by[2] ? sig8 >> 4 : sig8;
                wire [11:0] sig2  = by[1] ? sig4 >> 2 : sig4;
                wire [11:0] moved = by[0] ? sig2 >> 1 : sig2;
                wire        lost  = low || (by[3] && |sig[7:0]) || (by[2] && |sig8[3:0]) || (by[1] && |sig4[1:0]) || (by[0] && sig2[0]);
                wire [9:0]  frac  = big ? (nan ? {w[22] || w[21:13] == 9'd0, w[21:13]} : 10'd0) : moved[10:1];
                wire [14:0] h_cut = {big ? 5'd31 : sub ? 5'd0 : {!e[4], e[3:0]}, frac};
                wire        h_up  = !big && moved[0] && (moved[1] || lost);
                wire        unused_hidden = &{1'b0, moved[11]};

                wire [14:0] cut;
                wire        up;
                if (B16 != 0) begin : gen_both
                    assign cut = is_bf16 ? b_cut : h_cut;
                    assign up  = is_bf16 ? b_up : h_up;
                end else begin : gen_alone
                    wire unused_bits = &{1'b0, b_cut, b_up};
                    assign cut = h_cut;
                    assign up  = h_up;
                end
                assign y[16*i +: 16] = {w[31], cut + {14'd0, up}};
            end else begin : gen_b16
                assign y[16*i +: 16] = {w[31], b_cut + {14'd0, b_up}};
            end
        end
        if (F16 == 0 || B16 == 0) begin : gen_one_type
            wire unused_bits = &{1'b0, is_bf16};
        end
    endgenerate

endmodule

`default_nettype wire
