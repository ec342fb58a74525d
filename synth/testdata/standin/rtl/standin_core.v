// SPDX-License-Identifier: Apache-2.0
//
// A little of everything an engine has: add a beat to the word at a slot (read, add, write back) in two 32-bit lanes,
// count the beats of each slot in a memory too small for a macro, keep a CRC over the folded beats.
module standin_core (
    input  wire        clk, rst,
    input  wire        in_valid,
    input  wire        in_first,
    input  wire [7:0]  in_slot,
    input  wire [63:0] in_data,
    output wire        out_valid,
    output wire [63:0] out_data,
    output wire [7:0]  out_count,
    output wire [31:0] out_crc
);
    wire        v1, f1;
    wire [7:0]  slot1;
    wire [63:0] data1, word;
    wire [7:0]  count;
    standin_reg #(.WIDTH(2)) u_ctrl (.clk(clk), .rst(rst), .en(1'b1), .d({in_valid, in_first}), .q({v1, f1}));
    standin_reg #(.WIDTH(72)) u_data (.clk(clk), .rst(rst), .en(in_valid), .d({in_slot, in_data}), .q({slot1, data1}));

    wire [63:0] sum  = f1 ? data1 : {word[63:32] + data1[63:32], word[31:0] + data1[31:0]};
    wire [7:0]  next = f1 ? 8'd1 : count + 8'd1;
    inc_ram_1r1w #(.WORDS(256), .BITS(64), .ADDR_W(8)) u_payload (.clk(clk), .we(v1), .waddr(slot1), .wdata(sum), .re(in_valid), .raddr(in_slot), .rdata(word));
    inc_ram_1r1w #(.WORDS(16), .BITS(8), .ADDR_W(4)) u_count (.clk(clk), .we(v1), .waddr(slot1[3:0]), .wdata(next), .re(in_valid), .raddr(in_slot[3:0]), .rdata(count));

    wire [31:0] crc;
    standin_parity u_crc (.state(out_crc), .data(data1[15:0] ^ data1[31:16] ^ data1[47:32] ^ data1[63:48]), .next(crc));
    standin_reg #(.WIDTH(32)) u_crc_reg (.clk(clk), .rst(rst), .en(v1), .d(crc), .q(out_crc));
    standin_reg #(.WIDTH(73)) u_out (.clk(clk), .rst(rst), .en(1'b1), .d({v1, next, sum}), .q({out_valid, out_count, out_data}));
endmodule
