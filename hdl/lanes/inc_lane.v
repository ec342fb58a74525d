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

// FP32 SUM has one path: A compare, distances of the exponents; B swap and align; C add or subtract; L count leading zeros;
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

            // Cuts that divide the delay best: ABCLSR| AB|CLSR| AB|CL|SR| A|B|CL|SR| A|B|C|L|SR| A|B|C|L|S|R|
            localparam CUT_A = (STAGES >= 4) ? 1 : 0;
            localparam CUT_B = (STAGES >= 2) ? 1 : 0;
            localparam CUT_C = (STAGES >= 5) ? 1 : 0;
            localparam CUT_L = (STAGES >= 3) ? 1 : 0;
            localparam CUT_S = (STAGES == 6) ? 1 : 0;

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

            // One subtraction makes the distance of the exponents whichever is larger, a - b - 1: inverted it is b - a, and one more
            // is a - b. A subnormal's exponent counts as 1, so a distance is one less where only the smaller operand is subnormal:
            // that of a larger b by the carry in, which a larger a never has, that of a larger a by leaving out the one.
            wire       b_alone = b_norm && !a_norm;
            wire       one     = b_norm || !a_norm;
            wire [8:0] lead    = {a[30:23], 1'b1} + {~b[30:23], b_alone};
            wire       unused_lead = &{1'b0, lead[0]};

            wire        pass_b, sub_b, int_b, nan_b, swap_b, int_sum_b, a_high, b_high, one_b;
            wire [7:0]  lead_b;
            wire [31:0] a_b, b_b;
            inc_lane_cut #(.WIDTH(81), .CUT(CUT_A)) u_a (.clk(clk), .en(en),
                .d({pass_a, sub_a, int_op, nan_a, swap, int_op && sum_op, int_op ? a[23] : a_norm, int_op ? b[23] : b_norm,
                    one, lead[8:1], a, b}),
                .q({pass_b, sub_b, int_b, nan_b, swap_b, int_sum_b, a_high, b_high, one_b, lead_b, a_b, b_b}));

            // B. A shift of 31 leaves nothing of the small operand.
            wire [31:0] large_b  = swap_b ? b_b : a_b;
            wire [31:0] small_b  = swap_b ? a_b : b_b;
            wire        large_bh = swap_b ? b_high : a_high;
            wire        small_bh = swap_b ? a_high : b_high;
            // the bits that change: all, or those up to the lowest zero
            wire [7:0]  change   = {&lead_b[6:0], &lead_b[5:0], &lead_b[4:0], &lead_b[3:0], &lead_b[2:0], &lead_b[1:0], lead_b[0], 1'b1};
            wire [7:0]  apart    = lead_b ^ ({8{swap_b}} | (change & {8{one_b}}));
            wire        far      = pass_b || (!int_b && |apart[7:5]);
            wire [4:0]  by_b     = (apart[4:0] & {5{!int_b}}) | {5{far}};

            // Aligned with two bits below, and one that tells whether anything but zeros fell out.
            wire [25:0] align0  = {small_bh, small_b[22:0], 2'b00};
            wire [25:0] align1  = by_b[0] ? align0 >> 1 : align0;
            wire [25:0] align2  = by_b[1] ? align1 >> 2 : align1;
            wire [25:0] align4  = by_b[2] ? align2 >> 4 : align2;
            wire [25:0] align8  = by_b[3] ? align4 >> 8 : align4;
            wire [25:0] align16 = by_b[4] ? align8 >> 16 : align8;
            wire        lost    = (by_b[1] && |align1[1:0]) || (by_b[2] && |align2[3:0]) || (by_b[3] && |align4[7:0])
                                || (by_b[4] && |align8[15:0]);
            wire [7:0]  small_top = small_b[31:24] & {8{int_sum_b}};
            wire        unused_high = &{1'b0, small_b[23]};
            // complemented where it is subtracted
            wire [34:0] small_aligned = {small_top[7:1], {small_top[0], align16, lost && !pass_b} ^ {28{sub_b}}};
            // the exponent of a sum that carries
            wire [7:0]  exp_up  = {large_b[30:24], large_b[23] || !large_bh} + 8'd1;
            wire [7:0]  above_b = int_b ? large_b[31:24] : exp_up;

            wire        sub_c, int_c, nan_c, large_cs, large_ch, low_c;
            wire [7:0]  above_c;
            wire [22:0] large_c;
            wire [34:0] small_c;
            inc_lane_cut #(.WIDTH(72), .CUT(CUT_B)) u_b (.clk(clk), .en(en),
                .d({sub_b, int_b, nan_b, small_aligned, large_b[31], above_b, int_b && large_b[24], large_bh, large_b[22:0]}),
                .q({sub_c, int_c, nan_c, small_c, large_cs, above_c, low_c, large_ch, large_c}));

            // C. Bit 0 of an INT32, and of a significand, is total[4]; the lowest bit makes the carry in. The bits above total[28] are
            // an INT32's; of FP32 they are not looked at.
            wire [35:0] total = {above_c[7:1], low_c, large_ch, large_c, 3'b000, 1'b1} + {small_c, sub_c};
            wire [7:0]  exp_total = int_c ? total[34:27] : above_c;
            wire        sign_sum  = int_c ? total[35] : large_cs;
            wire        unused_carry = &{1'b0, total[0]};

            wire        sub_l, int_l, nan_l, sign_c;
            wire [7:0]  exp_c;
            wire [27:0] sum_l;
            inc_lane_cut #(.WIDTH(40), .CUT(CUT_C)) u_c (.clk(clk), .en(en),
                .d({sub_c, int_c, nan_c, sign_sum, exp_total, total[28:1]}),
                .q({sub_l, int_l, nan_l, sign_c, exp_c, sum_l}));

            // FP32's exponent; where C and L are one stage, not by way of the sum.
            wire [7:0] exp_fp = CUT_C != 0 ? exp_c : above_c;

            // L. A bit is set where a shift would bring the exponent down to 1, so that subnormals end there. The two lowest
            // bits are zero whenever the sum has lost more than one bit at the top.
            wire [25:0] stop;
            genvar i;
            for (i = 0; i < 26; i = i + 1) begin : gen_stop
                localparam [7:0] AT = 26 - i;
                assign stop[i] = exp_fp == AT;
            end
            // All bits of an INT32 are where they belong after a shift by 1.
            wire [31:0] seek = {(sum_l[27:2] | stop | {1'b0, int_l, 24'd0}) & {!int_l, {25{1'b1}}}, 6'd0};
            wire [15:0] any2 = {|seek[31:30], |seek[29:28], |seek[27:26], |seek[25:24], |seek[23:22], |seek[21:20], |seek[19:18],
                |seek[17:16], |seek[15:14], |seek[13:12], |seek[11:10], |seek[9:8], |seek[7:6], |seek[5:4], |seek[3:2], |seek[1:0]};
            // in each group of 8: whether there is a one, and the zeros before it
            wire [3:0]  any8;
            wire [11:0] zeros8;
            for (i = 0; i < 4; i = i + 1) begin : gen_count8
                wire        upper = any2[4*i+3] || any2[4*i+2];
                wire [1:0]  odd   = {any2[4*i+3] ? !seek[8*i+7] : !seek[8*i+5], any2[4*i+1] ? !seek[8*i+3] : !seek[8*i+1]};
                assign any8[i]          = any2[4*i +: 4] != 4'd0;
                assign zeros8[3*i +: 3] = {!upper, upper ? !any2[4*i+3] : !any2[4*i+1], upper ? odd[1] : odd[0]};
            end
            wire       any16  = any8[3] || any8[2];
            wire       unused_any = &{1'b0, any8[0]};
            wire [1:0] eights = {!any16, any16 ? !any8[3] : !any8[1]};

            // A fraction of zero: NaN, and a carry out of the largest exponent. An FPGA's registers have a reset for it.
            wire        clear_l = nan_l || (!int_l && &exp_fp && sum_l[27]);
            wire [27:0] kept_l  = clear_l ? 28'd0 : sum_l;
            wire        sign_l  = sign_c && !nan_l;

            wire        keep_s, nan_s, sub_s, sign_ls;
            wire [7:0]  exp_l;
            wire [27:0] sum_s;
            inc_lane_cut #(.WIDTH(40), .CUT(CUT_L)) u_l (.clk(clk), .en(en),
                .d({int_l || clear_l, nan_l, sub_l, sign_l, exp_c, kept_l}),
                .q({keep_s, nan_s, sub_s, sign_ls, exp_l, sum_s}));

            // S. The leading one of a normal number comes to norm[27].
            wire [4:0]  by_s;
            wire [27:0] norm;
            if (STAGES >= 4) begin : gen_count_later
                // Nine more registers, and the group is chosen behind the cut, while the sum is shifted by whole groups.
                wire [1:0]  eights_s;
                wire [11:0] zeros8_s;
                inc_lane_cut #(.WIDTH(14), .CUT(1)) u_count (.clk(clk), .en(en), .d({eights, zeros8}), .q({eights_s, zeros8_s}));
                wire [2:0]  ones_s = eights_s[1] ? (eights_s[0] ? zeros8_s[2:0] : zeros8_s[5:3])
                                                 : (eights_s[0] ? zeros8_s[8:6] : zeros8_s[11:9]);
                wire [27:0] norm16 = eights_s[1] ? {sum_s[11:0], 16'd0} : sum_s;
                wire [27:0] norm8  = eights_s[0] ? {norm16[19:0], 8'd0} : norm16;
                assign by_s = {eights_s, ones_s};
                assign norm = norm8 << ones_s;
            end else begin : gen_count
                wire [2:0]  zeros8_hi = any8[3] ? zeros8[11:9] : zeros8[8:6];
                wire [2:0]  zeros8_lo = any8[1] ? zeros8[5:3] : zeros8[2:0];
                inc_lane_cut #(.WIDTH(5), .CUT(CUT_L)) u_count (.clk(clk), .en(en),
                    .d({eights, any16 ? zeros8_hi : zeros8_lo}), .q(by_s));
                // The highest bit is known first. A shift by four and more finds the two lowest bits zero, and need not clear them.
                wire [27:2] norm16 = by_s[4] ? {sum_s[11:2], 16'd0} : sum_s[27:2];
                wire [27:2] norm8  = by_s[3] ? {norm16[19:2], 8'd0} : norm16;
                wire [27:2] norm4  = by_s[2] ? {norm8[23:2], 4'd0} : norm8;
                wire [27:0] norm2  = by_s[1] ? {norm4[25:2], sum_s[1:0], 2'd0} : {norm4, sum_s[1:0]};
                assign norm = by_s[0] ? {norm2[26:0], 1'b0} : norm2;
            end
            wire        sign_s = sign_ls && !(sub_s && sum_s == 28'd0);
            wire [7:0]  exp_s  = exp_l - {3'd0, by_s & {5{!keep_s}}};
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

            // From two stages on the first cut is before the adder: operands come from memories, which take half a cycle of an FPGA's.
            localparam FIRST = (STAGES >= 2) ? 1 : 0;
            wire        int_q, sum_q, max_q;
            wire [31:0] a_q, b_q;
            inc_lane_cut #(.WIDTH(67), .CUT(FIRST)) u_first (.clk(clk), .en(en), .d({int_op, sum_op, max_op, a, b}), .q({int_q, sum_q, max_q, a_q, b_q}));

            wire [31:0] result;
            if (CHOICE != 0) begin : gen_choice
                wire less = a_q[31] ^ b_q[31] ? a_q[31] : (a_q[30:0] < b_q[30:0]) ^ (a_q[31] && !int_q);
                wire nan;
                if (FP != 0) begin : gen_nan
                    assign nan = !int_q && (a_q[30:0] > 31'h7F800000 || b_q[30:0] > 31'h7F800000);
                end else begin : gen_no_nan
                    assign nan = 1'b0;
                end
                wire [31:0] chosen = nan ? 32'h7FC00000 : less ^ max_q ? a_q : b_q;
                if (SUM != 0) begin : gen_sum
                    assign result = sum_q ? a_q + b_q : chosen;
                end else begin : gen_no_sum
                    wire unused_bits = &{1'b0, sum_q};
                    assign result = chosen;
                end
            end else begin : gen_sum_only
                wire unused_bits = &{1'b0, int_q, sum_q, max_q};
                assign result = a_q + b_q;
            end

            // The result is there in the stage behind it; the others keep it in step with lanes that need them.
            localparam LAST = STAGES - FIRST;
            wire [32*LAST+31:0] pipe;
            assign pipe[31:0] = result;
            genvar i;
            for (i = 0; i < LAST; i = i + 1) begin : gen_stage
                inc_lane_cut #(.WIDTH(32), .CUT(1)) u_cut (.clk(clk), .en(en), .d(pipe[32*i +: 32]), .q(pipe[32*i+32 +: 32]));
            end
            assign y = pipe[32*LAST +: 32];

        end
    endgenerate

endmodule

`default_nettype wire
