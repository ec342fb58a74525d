// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_out: what a memory's word was, of its stored bits: corrects one wrong bit of a codeword, finds two, and says so once a read.
//
// Contract
//   latency     0 cycles from code to the word; `fixed` and `lost` in the cycle behind the read, in which code is there
//   throughput  a word a cycle
//   single      one wrong bit of a codeword is corrected
//   double      two make the word lost. KIND 0: it reads 0. KIND 1, a frame's beat with err on top and last below: err, and of all later beats
//               of its frame; its framing, of which there are two, is right. KIND 2: the bit above it is set. KIND 3: its highest bit is set.
//   fixed, lost high for a cycle each read: something was corrected and nothing lost; the word was lost
//   stall       the word is that of code, as long as it stands
//   reset       while rst is high; nothing has been read then
//   not done    three wrong bits of a codeword may look like one
`default_nettype none

module inc_ecc_out #(
    // bits of a word, at least 1
    parameter BITS  = 8,
    // what a lost word is: 0 to 3
    parameter KIND  = 0,
    // bits that say where a frame ends, as in inc_ecc_in
    parameter FRAME = 0,
    // bits of a stored word
    parameter CODE  = 15
) (
    input  wire                                              clk,
    input  wire                                              rst,
    input  wire                                              re,
    input  wire [CODE-1:0]                                   code,
    output wire [BITS+(KIND==2?1:0)-1:0] word,
    output wire                                              fixed,
    output wire                                              lost
);

    localparam DATA   = BITS - FRAME;
    localparam REST   = DATA % 128;
    localparam CHECKS = DATA / 128 * 9 + (REST == 0 ? 0 : REST <= 32 ? 7 : REST <= 64 ? 8 : 9);
    localparam PARTS  = DATA / 128 + (REST == 0 ? 0 : 1);
    localparam SIDE   = FRAME + 7;

`ifndef __ICARUS__
    generate
        if (BITS < 1 || FRAME < 0 || FRAME > 32 || FRAME >= BITS) begin : gen_bad_bits
            $error("inc_ecc_out: BITS must be at least 1, and FRAME 0 to 32 of them");
        end
        if (KIND < 0 || KIND > 3 || (KIND == 1 ? FRAME < 2 : FRAME > 0)) begin : gen_bad_kind
            $error("inc_ecc_out: KIND must be 0 to 3, and only a frame's beat, KIND 1, has a FRAME, of at least 2");
        end
        if (CODE != DATA + CHECKS + (FRAME == 0 ? 0 : 2 * SIDE)) begin : gen_bad_code
            $error("inc_ecc_out: CODE must be BITS with their check bits");
        end
    endgenerate
`endif

    wire [DATA-1:0]  data;
    wire [PARTS-1:0] part_fixed, part_bad;
    wire             side_fixed;

    genvar i;
    generate
        for (i = 0; i < DATA / 128; i = i + 1) begin : gen_word
            inc_secded_decode_128 u_code (.code(code[137*i +: 137]), .data(data[128*i +: 128]), .corrected(part_fixed[i]), .poison(part_bad[i]));
        end
        // bits that are not stored are 0; if one of them looks wrong, more than one other is
        if (REST > 64) begin : gen_rest_128
            wire [136:0] whole;
            wire [127:0] right;
            wire         corrected, poison;
            assign whole[136:128] = code[DATA+CHECKS-1 -: 9];
            assign whole[127:0]   = {{(128-REST){1'b0}}, code[DATA+CHECKS-10 -: REST]};
            inc_secded_decode_128 u_code (.code(whole), .data(right), .corrected(corrected), .poison(poison));
            wire beyond = REST < 128 && (right >> REST) != 128'd0;
            assign data[DATA-1 -: REST]  = right[REST-1:0];
            assign part_fixed[PARTS-1] = corrected && !beyond;
            assign part_bad[PARTS-1]   = poison || beyond;
        end else if (REST > 32) begin : gen_rest_64
            wire [71:0] whole;
            wire [63:0] right;
            wire        corrected, poison;
            assign whole[71:64] = code[DATA+CHECKS-1 -: 8];
            assign whole[63:0]  = {{(64-REST){1'b0}}, code[DATA+CHECKS-9 -: REST]};
            inc_secded_decode_64 u_code (.code(whole), .data(right), .corrected(corrected), .poison(poison));
            wire beyond = REST < 64 && (right >> REST) != 64'd0;
            assign data[DATA-1 -: REST]  = right[REST-1:0];
            assign part_fixed[PARTS-1] = corrected && !beyond;
            assign part_bad[PARTS-1]   = poison || beyond;
        end else if (REST > 0) begin : gen_rest_32
            wire [38:0] whole;
            wire [31:0] right;
            wire        corrected, poison;
            assign whole[38:32] = code[DATA+CHECKS-1 -: 7];
            assign whole[31:0]  = {{(32-REST){1'b0}}, code[DATA+CHECKS-8 -: REST]};
            inc_secded_decode_32 u_code (.code(whole), .data(right), .corrected(corrected), .poison(poison));
            wire beyond = REST < 32 && (right >> REST) != 32'd0;
            assign data[DATA-1 -: REST]  = right[REST-1:0];
            assign part_fixed[PARTS-1] = corrected && !beyond;
            assign part_bad[PARTS-1]   = poison || beyond;
        end
    endgenerate

    reg  fresh_reg;                  // the word was read in the cycle before
    wire data_bad = |part_bad;
    wire side_bad;
    // Tables are read for runts too, whose bytes are no address. In a simulator that knows X such a read shows X; a memory shows one of its words.
    assign fixed = (fresh_reg && !lost && (|part_fixed || side_fixed)) === 1'b1;
    assign lost  = (fresh_reg && (data_bad || side_bad)) === 1'b1;

    always @(posedge clk) begin
        fresh_reg <= re;
        if (rst) begin
            fresh_reg <= 1'b0;
        end
    end

    generate
        if (FRAME > 0) begin : gen_frame
            wire [2*FRAME-1:0] sides;
            wire [1:0]       corrected, poison;
            for (i = 0; i < 2; i = i + 1) begin : gen_side
                wire [38:0] whole;
                wire [31:0] right;
                wire        one, two;
                wire [SIDE-1:0] stored = code[DATA+CHECKS+SIDE*i +: SIDE];
                assign whole[38:32] = stored[SIDE-1 -: 7];
                assign whole[31:0]  = {{(32-FRAME){1'b0}}, stored[FRAME-1:0]};
                inc_secded_decode_32 u_code (.code(whole), .data(right), .corrected(one), .poison(two));
                wire beyond = FRAME < 32 && (right >> FRAME) != 32'd0;
                assign sides[FRAME*i +: FRAME] = right[FRAME-1:0];
                assign corrected[i] = one && !beyond;
                assign poison[i]    = two || beyond;
            end
            wire [FRAME-1:0] side = poison[0] ? sides[FRAME +: FRAME] : sides[0 +: FRAME];
            // of two wrong bits in one copy the other copy is right: nothing is lost
            assign side_bad   = &poison;
            assign side_fixed = |corrected || |poison;

            localparam AT_LAST = FRAME - 2;
            reg  have_reg, taint_reg;  // something was read; an earlier beat of the frame was lost
            wire bad = data_bad || side_bad || taint_reg;
            always @(posedge clk) begin
                if (re) begin
                    have_reg  <= 1'b1;
                    taint_reg <= have_reg && bad && !side[AT_LAST];
                end
                if (rst) begin
                    have_reg  <= 1'b0;
                    taint_reg <= 1'b0;
                end
            end
            wire [FRAME-1:0] err = {bad, {(FRAME-1){1'b0}}};
            assign word = {side | err, data};
        end else begin : gen_plain
            assign side_bad   = 1'b0;
            assign side_fixed = 1'b0;
            if (KIND == 0) begin : gen_zero
                assign word = data & {DATA{!data_bad}};
            end else if (KIND == 2) begin : gen_above
                assign word = {data_bad, data};
            end else begin : gen_top
                localparam [BITS-1:0] ONE = 1;
                assign word = data | ({BITS{data_bad}} & (ONE << (BITS - 1)));
            end
        end
    endgenerate

endmodule

`default_nettype wire
