// SPDX-License-Identifier: Apache-2.0
//
// inc_drop_ladder: the reasons why a frame is dropped that come before its transport version, in their order.
//
// Contract
//   latency     0 cycles
//   throughput  1 frame per cycle
//   stall       none
//   order       the first reason that holds: foreign, group disabled, marked by the MAC, IP checksum, lengths, ICRC
//   outputs     exactly one while `decided` is high, none else; `passed`: none of the reasons holds
//   reset       no state
//   not done    what is wrong with a frame that passed
`default_nettype none

module inc_drop_ladder (
    // a frame is decided, and is the engine's
    input  wire decided,
    input  wire foreign,
    input  wire live,
    input  wire rx_err,
    input  wire sum_ok,
    input  wire len_ok,
    input  wire icrc_ok,
    output wire drop_foreign,
    output wire drop_disabled,
    output wire drop_rx_error,
    output wire drop_checksum,
    output wire drop_length,
    output wire drop_icrc,
    output wire passed
);

    wire known  = decided && !foreign && live;
    wire whole  = known && !rx_err;
    wire summed = whole && sum_ok;
    wire sized  = summed && len_ok;

    assign drop_foreign  = decided && foreign;
    assign drop_disabled = decided && !foreign && !live;
    assign drop_rx_error = known && rx_err;
    assign drop_checksum = whole && !sum_ok;
    assign drop_length   = summed && !len_ok;
    assign drop_icrc     = sized && !icrc_ok;
    assign passed        = sized && icrc_ok;

endmodule

`default_nettype wire
