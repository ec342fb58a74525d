// SPDX-License-Identifier: Apache-2.0
//
// inc_lane: one 32-bit element: FP32 and INT32, SUM, MIN and MAX, as far as the parameters include them.
//
// Contract
//   arithmetic  FP32 SUM: IEEE 754 binary32, round to nearest even, with subnormals, infinities and signed zeros.
//               FP32 MIN, MAX: IEEE 754-2019 minimum and maximum, -0 below +0. Every NaN result is 0x7FC00000.
//               INT32: two's complement; SUM wraps, MIN and MAX are signed
//   latency     STAGES cycles with en high, from op, is_int, a and b to y
//   throughput  one result per cycle
//   stall       every register, y included, holds while en is low
//   reset       none; y is unknown until STAGES cycles with en have passed
//   not done    no exception flags, no other rounding; an op or type that is not included gives the result of one that is
`default_nettype none

// FP32 SUM has one path: A compare, swap, distance of the exponents; B align; C add or subtract; L count leading zeros;
// S normalise; R round. All else runs through the same hardware:
//   MIN and MAX swap by their own order, so that the result is the larger operand, and add zero to it;
//   INT32 SUM adds in the significands' adder, which is 32 bits wide for it, with shifts that leave all bits where the
//   result wants them.
// Without FP32 SUM there is no such path, only a comparator, an adder, or both.
//
// The comments for Verilator have it make one function for all lanes of a design. A lane left whole is not enough: while a
// and b may be replaced by what drives them, each lane's function is another.
module inc_lane #(
    // registers from input to output, the last one at y; 1 to 6
    parameter STAGES = 3,
    // 1: the type is included
    parameter FP     = 1,
    parameter INT    = 1,
    // 1: the operation is included
    parameter SUM    = 1,
    parameter MIN    = 1,
    parameter MAX    = 1
) (
    input  wire        clk,
    input  wire        en,
    // 0 SUM, 1 MIN, 2 MAX
    input  wire [1:0]  op,
    // INT32, else FP32
    input  wire        is_int,
    input  wire [31:0] a /* verilator public_flat_rd */,
    input  wire [31:0] b /* verilator public_flat_rd */,
    output wire [31:0] y
); /* verilator no_inline_module */

`ifndef __ICARUS__
    generate
        if (STAGES < 1 || STAGES > 6) begin : gen_bad_stages
            $error("inc_lane: STAGES must be 1 to 6");
        end
        if (FP == 0 && INT == 0) begin : gen_bad_types
            $error("inc_lane: FP or INT must be included");
        end
        if (SUM == 0 && MIN == 0 && MAX == 0) begin : gen_bad_ops
            $error("inc_lane: SUM, MIN or MAX must be included");
        end
    endgenerate
`endif

    localparam CHOICE = (MIN != 0 || MAX != 0) ? 1 : 0;

    // What is asked for; constant as far as there is no choice.
    wire int_op, sum_op, max_op;
    generate
        if (FP != 0 && INT != 0) begin : gen_both_types
            assign int_op = is_int;
        end else begin : gen_one_type
            wire unused_bits = &{1'b0, is_int};
            assign int_op = FP == 0;
        end
        if (SUM != 0 && CHOICE != 0) begin : gen_sum_too
            assign sum_op = op == 2'd0;
        end else begin : gen_sum_or_not
            assign sum_op = SUM != 0;
        end
        if (MIN != 0 && MAX != 0) begin : gen_min_and_max
            assign max_op = op[1];
        end else begin : gen_one_order
            assign max_op = MAX != 0;
        end
    endgenerate
    wire unused_op = &{1'b0, op};

    generate
        if (FP != 0 && SUM != 0) begin : gen_path

            // Cuts that divide the delay best: ABCLSR| ABC|LSR| AB|CL|SR| A|BC|LS|R| A|B|C|LS|R| A|B|C|L|S|R|
            localparam CUT_A = (STAGES >= 4) ? 1 : 0;
            localparam CUT_B = (STAGES == 3 || STAGES >= 5) ? 1 : 0;
            localparam CUT_C = (STAGES == 2 || STAGES >= 4) ? 1 : 0;
            localparam CUT_L = (STAGES == 3 || STAGES == 6) ? 1 : 0;
            localparam CUT_S = (STAGES >= 4) ? 1 : 0;

            // A. The one comparator. For SUM it tells which magnitude is larger. Numbers of equal signs are ordered as their
            // magnitudes, negative FP32 the other way round; of unequal signs the negative one is below, zeros included.
            wire less   = a[30:0] < b[30:0];
            wire differ = a[31] ^ b[31];
            wire swap;
            if (CHOICE != 0) begin : gen_order
                wire settled = !sum_op && differ;
                wire flip    = !sum_op && !((a[31] && !int_op) ^ max_op);
                assign swap  = settled ? !(a[31] ^ max_op) : less ^ flip;
            end else begin : gen_magnitude
                wire unused_bits = &{1'b0, max_op};
                assign swap = less;
            end

            wire a_norm = |a[30:23];
            wire b_norm = |b[30:23];
            wire a_ones = &a[30:23];
            wire b_ones = &b[30:23];

            wire sub_a  = differ && sum_op && !int_op;
            wire nan_a  = !int_op && ((a_ones && |a[22:0]) || (b_ones && |b[22:0]) || (sub_a && a_ones && b_ones));
            // the result is the large operand: MIN, MAX, and infinity
            wire pass_a = !sum_op || (!int_op && (a_ones || b_ones));

            wire [31:0] large_a = swap ? b : a;
            wire [31:0] small_a = swap ? a : b;
            wire        large_h = int_op ? large_a[23] : swap ? b_norm : a_norm;
            wire        small_h = int_op ? small_a[23] : swap ? a_norm : b_norm;

            // A subnormal's exponent counts as 1. A shift of 31 leaves nothing of the small operand.
            wire [7:0] a_exp  = {a[30:24], a[23] || !a_norm};
            wire [7:0] b_exp  = {b[30:24], b[23] || !b_norm};
            wire [7:0] apart  = swap ? b_exp - a_exp : a_exp - b_exp;
            wire       far    = pass_a || (!int_op && |apart[7:5]);
            wire [4:0] by_a   = (apart[4:0] & {5{!int_op}}) | {5{far}};

            wire        pass_b, sub_b, int_b, nan_b, large_bh, small_bh;
            wire [4:0]  by_b;
            wire [31:0] large_b;
            wire [30:0] small_b;
            inc_lane_cut #(.WIDTH(74), .CUT(CUT_A)) u_a (.clk(clk), .en(en),
                .d({pass_a, sub_a, int_op, nan_a, by_a, small_h, small_a[31:24] & {8{int_op && sum_op}}, small_a[22:0], large_h, large_a}),
                .q({pass_b, sub_b, int_b, nan_b, by_b, small_bh, small_b, large_bh, large_b}));

            // B. Aligned with two bits below, and one that tells whether anything but zeros fell out.
            wire [25:0] align0  = {small_bh, small_b[22:0], 2'b00};
            wire [25:0] align1  = by_b[0] ? align0 >> 1 : align0;
            wire [25:0] align2  = by_b[1] ? align1 >> 2 : align1;
            wire [25:0] align4  = by_b[2] ? align2 >> 4 : align2;
            wire [25:0] align8  = by_b[3] ? align4 >> 8 : align4;
            wire [25:0] align16 = by_b[4] ? align8 >> 16 : align8;
            wire        lost    = (by_b[1] && |align1[1:0]) || (by_b[2] && |align2[3:0]) || (by_b[3] && |align4[7:0])
                                || (by_b[4] && |align8[15:0]);
            wire [34:0] small_aligned = {small_b[30:23], align16, lost && !pass_b};

            wire        sub_c, int_c, nan_c, large_ch;
            wire [34:0] small_c;
            wire [31:0] large_c;
            inc_lane_cut #(.WIDTH(71), .CUT(CUT_B)) u_b (.clk(clk), .en(en),
                .d({sub_b, int_b, nan_b, small_aligned, large_bh, large_b}),
                .q({sub_c, int_c, nan_c, small_c, large_ch, large_c}));

            // C. Bit 0 of an INT32, and of a significand, is total[4]; the lowest bit makes the carry in.
            wire [35:0] total = {large_c[31:24] & {8{int_c}}, large_ch, large_c[22:0], 3'b000, 1'b1}
                              + {small_c[34:28], small_c[27:0] ^ {28{sub_c}}, sub_c};
            // the exponent of a sum that carries
            wire [7:0] exp_up    = {large_c[30:24], large_c[23] || !large_ch} + 8'd1;
            wire [7:0] exp_total = int_c ? total[34:27] : exp_up;
            wire       sign_sum  = int_c ? total[35] : large_c[31];
            wire       unused_carry = &{1'b0, total[0]};

            wire        sub_l, int_l, nan_l, sign_c;
            wire [7:0]  exp_c;
            wire [27:0] sum_l;
            inc_lane_cut #(.WIDTH(40), .CUT(CUT_C)) u_c (.clk(clk), .en(en),
                .d({sub_c, int_c, nan_c, sign_sum, exp_total, total[28:1]}),
                .q({sub_l, int_l, nan_l, sign_c, exp_c, sum_l}));

            // L. A bit is set where a shift would bring the exponent down to 1, so that subnormals end there. The two lowest
            // bits are zero whenever the sum has lost more than one bit at the top.
            wire [25:0] stop;
            genvar i;
            for (i = 0; i < 26; i = i + 1) begin : gen_stop
                localparam [7:0] AT = 26 - i;
                assign stop[i] = exp_c == AT;
            end
            wire [31:0] seek = {sum_l[27:2] | stop, 6'd0};
            wire [15:0] any2 = {|seek[31:30], |seek[29:28], |seek[27:26], |seek[25:24], |seek[23:22], |seek[21:20], |seek[19:18],
                |seek[17:16], |seek[15:14], |seek[13:12], |seek[11:10], |seek[9:8], |seek[7:6], |seek[5:4], |seek[3:2], |seek[1:0]};
            wire [7:0]  any4, zeros4_0, zeros4_1;
            wire [3:0]  any8;
            wire [11:0] zeros8;
            wire [1:0]  any16;
            wire [7:0]  zeros16;
            for (i = 0; i < 8; i = i + 1) begin : gen_count4
                assign any4[i]     = any2[2*i+1] || any2[2*i];
                assign zeros4_1[i] = !any2[2*i+1];
                assign zeros4_0[i] = any2[2*i+1] ? !seek[4*i+3] : !seek[4*i+1];
            end
            for (i = 0; i < 4; i = i + 1) begin : gen_count8
                assign any8[i]          = any4[2*i+1] || any4[2*i];
                assign zeros8[3*i +: 3] = {!any4[2*i+1], any4[2*i+1] ? {zeros4_1[2*i+1], zeros4_0[2*i+1]} : {zeros4_1[2*i], zeros4_0[2*i]}};
            end
            for (i = 0; i < 2; i = i + 1) begin : gen_count16
                assign any16[i]          = any8[2*i+1] || any8[2*i];
                assign zeros16[4*i +: 4] = {!any8[2*i+1], any8[2*i+1] ? zeros8[3*(2*i+1) +: 3] : zeros8[3*(2*i) +: 3]};
            end
            wire [4:0] zeros = {!any16[1], any16[1] ? zeros16[7:4] : zeros16[3:0]};
            wire       unused_any = &{1'b0, any16[0]};

            // A shift of 31 leaves a fraction of zero: NaN, and a carry out of the largest exponent. Of an INT32 all bits are
            // where they belong after a shift by 1.
            wire       clear_l = nan_l || (!int_l && &exp_c && sum_l[27]);
            wire [4:0] by_l    = ({zeros[4:1] & {4{!int_l}}, zeros[0] || int_l}) | {5{clear_l}};
            wire [7:0] exp_l   = exp_c - {3'd0, zeros & {5{!int_l}}};
            wire       sign_l  = sign_c && !nan_l && !(sub_l && sum_l == 28'd0);

            wire        keep_s, nan_s, sign_s;
            wire [4:0]  by_s;
            wire [7:0]  exp_s;
            wire [27:0] sum_s;
            inc_lane_cut #(.WIDTH(44), .CUT(CUT_L)) u_l (.clk(clk), .en(en),
                .d({int_l || clear_l, nan_l, sign_l, by_l, exp_l, sum_l}),
                .q({keep_s, nan_s, sign_s, by_s, exp_s, sum_s}));

            // S. The leading one of a normal number comes to norm[27].
            wire [27:0] norm = sum_s << by_s;
            wire        keep_r, sign_r, top_r, round_r, sticky_r;
            wire [7:0]  exp_r;
            wire [22:0] frac_r;
            inc_lane_cut #(.WIDTH(36), .CUT(CUT_S)) u_s (.clk(clk), .en(en),
                .d({keep_s, sign_s, exp_s | {8{nan_s}}, norm[27], norm[26] || nan_s, norm[25:4], norm[3], |norm[2:0]}),
                .q({keep_r, sign_r, exp_r, top_r, frac_r, round_r, sticky_r}));

            // R. A carry out of the fraction makes the next exponent, that of infinity included.
            wire        up        = round_r && (sticky_r || frac_r[0]);
            wire [30:0] magnitude = {exp_r & {8{top_r || keep_r}}, frac_r} + {30'd0, up};
            inc_lane_cut #(.WIDTH(32), .CUT(1)) u_r (.clk(clk), .en(en), .d({sign_r, magnitude}), .q(y));

        end else begin : gen_plain

            wire [31:0] result;
            if (CHOICE != 0) begin : gen_choice
                wire less = a[31] ^ b[31] ? a[31] : (a[30:0] < b[30:0]) ^ (a[31] && !int_op);
                wire nan;
                if (FP != 0) begin : gen_nan
                    assign nan = !int_op && (a[30:0] > 31'h7F800000 || b[30:0] > 31'h7F800000);
                end else begin : gen_no_nan
                    assign nan = 1'b0;
                end
                wire [31:0] chosen = nan ? 32'h7FC00000 : less ^ max_op ? a : b;
                if (SUM != 0) begin : gen_sum
                    assign result = sum_op ? a + b : chosen;
                end else begin : gen_no_sum
                    wire unused_bits = &{1'b0, sum_op};
                    assign result = chosen;
                end
            end else begin : gen_sum_only
                wire unused_bits = &{1'b0, int_op, sum_op, max_op};
                assign result = a + b;
            end

            // The result is there in the first stage; the others keep it in step with lanes that need them.
            wire [32*STAGES+31:0] pipe;
            assign pipe[31:0] = result;
            genvar i;
            for (i = 0; i < STAGES; i = i + 1) begin : gen_stage
                inc_lane_cut #(.WIDTH(32), .CUT(1)) u_cut (.clk(clk), .en(en), .d(pipe[32*i +: 32]), .q(pipe[32*i+32 +: 32]));
            end
            assign y = pipe[32*STAGES +: 32];

        end
    endgenerate

endmodule

`default_nettype wire
