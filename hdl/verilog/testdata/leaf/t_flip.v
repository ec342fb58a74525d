// SPDX-License-Identifier: Apache-2.0
//
// t_flip: turns the bits of a word round, without a clock.
`default_nettype none

module t_flip #(
    parameter WIDTH = 8
) (
    input  wire [WIDTH-1:0] in_word,
    output wire [WIDTH-1:0] out_word
);

    genvar i;
    generate
        for (i = 0; i < WIDTH; i = i + 1) begin : gen_bit
            assign out_word[i] = in_word[WIDTH-1-i];
        end
    endgenerate

endmodule

`default_nettype wire
