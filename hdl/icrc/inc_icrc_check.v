// SPDX-License-Identifier: Apache-2.0
//
// inc_icrc_check: runs the CRC over a frame's covered bytes, its ICRC included, and compares the remainder.
//
// Contract
//   latency     1 cycle: icrc_ok is valid in the cycle after the beat that carried the datagram's last byte, and holds
//               until the next covered beat
//   throughput  1 beat per cycle
//   stall       a cycle without crc_valid changes nothing
//   tables      the CRC step and the remainders are in inc_crc32_BYTES and inc_crc32_residue_BYTES, wired to step_* and residue_*
//   reset       none: the first beat of a frame starts anew
//   not done    masks nothing: the bytes come with the parser's ones and zeros in them
`default_nettype none

module inc_icrc_check #(
    // bytes of a beat; a power of two, 8 to 256
    parameter BYTES = 8,
    // CRC register before the Ethernet header's 14 zeroed bytes, so that behind them it is what eight 0xFF bytes leave
    parameter [31:0] INIT = 32'd0
) (
    input  wire               clk,

    input  wire               crc_valid,
    input  wire               crc_first,
    input  wire [8*BYTES-1:0] crc_data,
    // zeroed bytes behind the datagram in its last beat, a cycle later than that beat
    input  wire [$clog2(BYTES)-1:0] crc_tail,

    output wire [31:0]        step_state,
    output wire [8*BYTES-1:0] step_data,
    input  wire [31:0]        step_next,
    output wire [$clog2(BYTES)-1:0] residue_tail,
    input  wire [31:0]        residue,

    output wire               icrc_ok
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 256 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_icrc_check: BYTES must be a power of two, 8 to 256");
        end
    endgenerate
`endif

    reg [31:0] state_reg;

    assign step_state   = crc_first ? INIT : state_reg;
    assign step_data    = crc_data;
    assign residue_tail = crc_tail;
    assign icrc_ok      = state_reg == residue;

    always @(posedge clk) begin
        if (crc_valid) begin
            state_reg <= step_next;
        end
    end

endmodule

`default_nettype wire
