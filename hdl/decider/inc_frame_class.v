// SPDX-License-Identifier: Apache-2.0
//
// inc_frame_class: what a frame is, by its opcode and its syndrome.
//
// Contract
//   latency     0 cycles
//   throughput  1 frame per cycle
//   stall       none
//   data        opcodes 0x00 to 0x05; is_end: LAST or ONLY, of a data opcode; has_imm: of a data opcode with an immediate
//   answers     0x11 an acknowledgement, 0x81 a congestion notification; syn_*: what an acknowledgement's syndrome says, at most one of them
//   reset       no state
//   not done    says nothing about who sent it, and whether it may
`default_nettype none

module inc_frame_class (
    input  wire [7:0] opcode,
    input  wire [7:0] syndrome,
    output wire       is_data,
    output wire       is_end,
    output wire       has_imm,
    output wire       is_ack,
    output wire       is_cnp,
    output wire       syn_ack,
    output wire       syn_rnr,
    output wire       syn_nak
);

    assign is_data = opcode <= 8'h05;
    assign is_end  = opcode >= 8'h02;
    assign has_imm = opcode == 8'h03 || opcode == 8'h05;
    assign is_ack  = opcode == 8'h11;
    assign is_cnp  = opcode == 8'h81;
    assign syn_ack = syndrome[7:5] == 3'b000;
    assign syn_rnr = syndrome[7:5] == 3'b001;
    assign syn_nak = syndrome[7:2] == 6'b011000;

    wire unused_bits = &{1'b0, syndrome};

endmodule

`default_nettype wire
