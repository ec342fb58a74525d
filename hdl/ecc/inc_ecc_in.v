// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_in: the check bits of a memory's word.
//
// Contract
//   latency     0 cycles: combinational
//   throughput  follows its inputs
//   word        from bit 0 on: codewords of 128 data bits, and one of what is left, shortened from 32, 64 or 128 data bits; then, of a frame's
//               beat, its framing twice, each a codeword of its own
//   stall       never
//   reset       none
//   not done    nothing
`default_nettype none

module inc_ecc_in #(
    // bits of a word, at least 1
    parameter BITS  = 8,
    // bits above DATA that say where a frame ends; 0 if there are none
    parameter FRAME = 0,
    // bits of a stored word
    parameter CODE  = 15
) (
    input  wire [BITS-1:0] data,
    output wire [CODE-1:0] code
);

    localparam DATA   = BITS - FRAME;
    // check bits of so many data bits' last codeword
    localparam REST   = DATA % 128;
    localparam CHECKS = DATA / 128 * 9 + (REST == 0 ? 0 : REST <= 32 ? 7 : REST <= 64 ? 8 : 9);
    localparam SIDE   = FRAME + 7;

`ifndef __ICARUS__
    generate
        if (BITS < 1 || FRAME < 0 || FRAME > 32 || FRAME >= BITS) begin : gen_bad_bits
            $error("inc_ecc_in: BITS must be at least 1, and FRAME 0 to 32 of them");
        end
        if (CODE != DATA + CHECKS + (FRAME == 0 ? 0 : 2 * SIDE)) begin : gen_bad_code
            $error("inc_ecc_in: CODE must be BITS with their check bits");
        end
    endgenerate
`endif

    genvar i;
    generate
        for (i = 0; i < DATA / 128; i = i + 1) begin : gen_word
            inc_secded_encode_128 u_code (.data(data[128*i +: 128]), .poison(1'b0), .code(code[137*i +: 137]));
        end
        if (REST > 64) begin : gen_rest_128
            wire [136:0] whole;
            inc_secded_encode_128 u_code (.data({{(128-REST){1'b0}}, data[DATA-1 -: REST]}), .poison(1'b0), .code(whole));
            assign code[DATA+CHECKS-1 -: REST+9] = {whole[136:128], whole[REST-1:0]};
            wire unused_pad = &{1'b0, whole};
        end else if (REST > 32) begin : gen_rest_64
            wire [71:0] whole;
            inc_secded_encode_64 u_code (.data({{(64-REST){1'b0}}, data[DATA-1 -: REST]}), .poison(1'b0), .code(whole));
            assign code[DATA+CHECKS-1 -: REST+8] = {whole[71:64], whole[REST-1:0]};
            wire unused_pad = &{1'b0, whole};
        end else if (REST > 0) begin : gen_rest_32
            wire [38:0] whole;
            inc_secded_encode_32 u_code (.data({{(32-REST){1'b0}}, data[DATA-1 -: REST]}), .poison(1'b0), .code(whole));
            assign code[DATA+CHECKS-1 -: REST+7] = {whole[38:32], whole[REST-1:0]};
            wire unused_pad = &{1'b0, whole};
        end
        if (FRAME > 0) begin : gen_frame
            wire [38:0] whole;
            inc_secded_encode_32 u_code (.data({{(32-FRAME){1'b0}}, data[BITS-1 -: FRAME]}), .poison(1'b0), .code(whole));
            wire [SIDE-1:0] side = {whole[38:32], whole[FRAME-1:0]};
            assign code[CODE-1 -: 2*SIDE] = {side, side};
            wire unused_pad = &{1'b0, whole};
        end
    endgenerate

endmodule

`default_nettype wire
