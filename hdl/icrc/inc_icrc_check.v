// SPDX-License-Identifier: Apache-2.0
//
// inc_icrc_check: runs the CRC over a frame's covered bytes, its ICRC included, and compares the remainder.
//
// Contract
//   latency     1 cycle, 2 where BYTES is above 64: icrc_ok is valid so many cycles after the beat that carried the datagram's
//               last byte, and holds until as many cycles after the next covered beat
//   throughput  1 beat per cycle
//   stall       a cycle without crc_valid changes nothing
//   tables      the CRC step and the remainders are in inc_crc32_BYTES and inc_crc32_residue_BYTES, wired to step_* and residue_*;
//               where BYTES is above 64 the step has a register behind step_data
//   reset       none: the first beat of a frame starts anew
//   not done    masks nothing: the bytes come with the parser's ones and zeros in them
`default_nettype none

module inc_icrc_check #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES = 8,
    // CRC register before the Ethernet header's 14 zeroed bytes, so that behind them it is what eight 0xFF bytes leave
    parameter [31:0] INIT = 32'd0
) (
    input  wire               clk,

    input  wire               crc_valid,
    input  wire               crc_first,
    input  wire [8*BYTES-1:0] crc_data,
    // zeroed bytes behind the datagram in its last beat, with that beat, or a cycle later where BYTES is above 64
    input  wire [$clog2(BYTES)-1:0] crc_tail,

    output wire               step_en,
    output wire [8*BYTES-1:0] step_data,
    output wire [31:0]        step_state,
    input  wire [31:0]        step_next,
    output wire [$clog2(BYTES)-1:0] residue_tail,
    input  wire [31:0]        residue,

    output wire               icrc_ok
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_icrc_check: BYTES must be a power of two, 8 to 2048");
        end
    endgenerate
`endif

    reg  [31:0] state_reg, expected_reg;
    wire        update, first;

    assign step_en      = crc_valid;
    assign step_data    = crc_data;
    assign step_state   = first ? INIT : state_reg;
    assign residue_tail = crc_tail;
    assign icrc_ok      = state_reg == expected_reg;

    generate
        if (BYTES > 64) begin : gen_wide
            reg valid_reg, first_reg;
            always @(posedge clk) begin
                valid_reg <= crc_valid;
                first_reg <= crc_first;
            end
            assign update = valid_reg;
            assign first  = first_reg;
        end else begin : gen_narrow
            assign update = crc_valid;
            assign first  = crc_first;
        end
    endgenerate

    always @(posedge clk) begin
        if (update) begin
            state_reg    <= step_next;
            expected_reg <= residue;
        end
    end

endmodule

`default_nettype wire
