// SPDX-License-Identifier: Apache-2.0
//
// inc_look_ahead: a word of state for a frame whose predecessor may be about to write it.
//
// Contract
//   order       `read` when the frame comes: its word is read then, and `follows` says that the frame ahead of it, not decided yet, has
//               the same word, `written` that one is writing it in this very cycle
//   latency     `word` in the cycle after `read`, until the frame ahead is decided; `ram` has the memory's word from there on
//   throughput  1 read per cycle
//   stall       none
//   ahead       `writes` says that the frame ahead will write `next` if it is committed; `takes`, that the word is that one. If it was not
//               committed `redo` follows, and from the next cycle on the word is what the memory has
//   reset       none is needed: everything follows `read`
//   not done    neither reads nor writes the memory, nor compares addresses
`default_nettype none

module inc_look_ahead #(
    // bits of the word, at least 1
    parameter BITS = 8
) (
    input  wire            clk,

    input  wire            read,
    input  wire            follows,
    input  wire            written,
    input  wire            redo,

    input  wire [BITS-1:0] ram,
    input  wire            writes,
    input  wire [BITS-1:0] next,

    output wire            takes,
    output wire [BITS-1:0] word
);

`ifndef __ICARUS__
    generate
        if (BITS < 1) begin : gen_bad_bits
            $error("inc_look_ahead: BITS must be at least 1");
        end
    endgenerate
`endif

    reg            follows_reg, fresh_reg;
    reg [BITS-1:0] fresh_word_reg;

    assign takes = follows_reg && writes;
    assign word  = takes ? next : fresh_reg ? fresh_word_reg : ram;

    always @(posedge clk) begin
        follows_reg <= read ? follows : follows_reg && !redo;
        if (read) begin
            fresh_reg      <= written;
            fresh_word_reg <= next;
        end
    end

endmodule

`default_nettype wire
