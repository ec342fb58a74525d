// SPDX-License-Identifier: Apache-2.0
//
// inc_widen: a word of FP16 or BF16 elements as FP32.
//
// Contract
//   arithmetic  exact: subnormals become normal numbers; of a NaN the sign and all fraction bits are kept, shifted up
//   latency     0 cycles: combinational
//   throughput  one word per cycle
//   stall       none
//   reset       none
//   not done    is_bf16 is ignored where only one type is included
`default_nettype none

module inc_widen #(
    // number of elements, at least 1
    parameter HALVES = 2,
    // 1: the type is included
    parameter F16    = 1,
    parameter B16    = 1
) (
    // BF16, else FP16
    input  wire                 is_bf16,
    input  wire [16*HALVES-1:0] x,
    output wire [32*HALVES-1:0] y
);

`ifndef __ICARUS__
    generate
        if (HALVES < 1) begin : gen_bad_halves
            $error("inc_widen: HALVES must be at least 1");
        end
        if (F16 == 0 && B16 == 0) begin : gen_bad_types
            $error("inc_widen: F16 or B16 must be included");
        end
    endgenerate
`endif

    genvar i;
    generate
        for (i = 0; i < HALVES; i = i + 1) begin : gen_half
            wire [15:0] h = x[16*i +: 16];
            if (F16 != 0) begin : gen_f16
                // A subnormal is h[9:0] * 2**-24; its leading one goes to where the hidden one of a normal number is.
                wire [9:0] f0 = h[9:0];
                wire       z8 = f0[9:2] == 8'd0;
                wire [9:0] f8 = z8 ? {f0[1:0], 8'd0} : f0;
                wire       z4 = f8[9:6] == 4'd0;
                wire [9:0] f4 = z4 ? {f8[5:0], 4'd0} : f8;
                wire       z2 = f4[9:8] == 2'd0;
                wire [9:0] f2 = z2 ? {f4[7:0], 2'd0} : f4;
                wire       z1 = !f2[9];
                wire [8:0] f1 = z1 ? {f2[7:0], 1'b0} : f2[8:0];

                wire       sub  = h[14:10] == 5'd0;
                wire       ones = &h[14:10];
                // 127 - 15 more than the field, which of a subnormal counts as 1 and loses the shift, and 1 for the hidden one
                wire [7:0] exp_normal = {h[14] | ones, {3{!h[14] | ones}}, h[13:10]};
                wire [7:0] exp_sub    = 8'd112 - {4'd0, z8, z4, z2, z1};
                wire [7:0] exponent   = !sub ? exp_normal : f0 == 10'd0 ? 8'd0 : exp_sub;
                wire [31:0] wide = {h[15], exponent, sub ? {f1, 1'b0} : f0, 13'd0};
                if (B16 != 0) begin : gen_both
                    assign y[32*i +: 32] = is_bf16 ? {h, 16'd0} : wide;
                end else begin : gen_alone
                    assign y[32*i +: 32] = wide;
                end
            end else begin : gen_b16
                assign y[32*i +: 32] = {h, 16'd0};
            end
        end
        if (F16 == 0 || B16 == 0) begin : gen_one_type
            wire unused_bits = &{1'b0, is_bf16};
        end
    endgenerate

endmodule

`default_nettype wire
