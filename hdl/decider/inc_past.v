// SPDX-License-Identifier: Apache-2.0
//
// inc_past: how far a number is past another one and some places more, negative if it is not: number - from - places, with one carry.
//
// Contract
//   latency     0 cycles
//   throughput  1 number per cycle
//   stall       none
//   width       24 bits, as PSNs and messages have, modulo 2**24: bit 23 is the sign, of what is less than 2**23 apart
//   reset       no state
//   not done    no comparison: what a caller asks for is `past[23]`
`default_nettype none

module inc_past (
    input  wire [23:0] number,
    input  wire [23:0] from,
    input  wire [23:0] places,
    output wire [23:0] past
);

    // Less x is the inverse of x and one. Three numbers become two without a carry, a sum of each bit and what goes to the next one; the ones
    // stand in free places, one below what goes on, and one in the carry of the subtraction.
    wire [23:0] sums = number ^ ~from ^ ~places;
    wire [22:0] on   = (number[22:0] & ~from[22:0]) | (number[22:0] & ~places[22:0]) | (~from[22:0] & ~places[22:0]);

    assign past = sums - ~{on, 1'b1};

endmodule

`default_nettype wire
