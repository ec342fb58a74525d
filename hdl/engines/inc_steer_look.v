// SPDX-License-Identifier: Apache-2.0
//
// inc_steer_look: says of a frame, from its bytes up to the destination QPN, which engine it is for.
//
// Contract
//   latency     0 cycles: `hit` holds in the beat with the QPN's last byte, or in those behind it up to LAST
//   throughput  1 beat per cycle
//   hit         bit e: a RoCEv2 packet (EtherType 0x0800, version 4, IHL 5, no fragment, UDP to port 4791, 54 bytes at least) of which the
//               bits of the destination QPN from EI_W on name engine e. With AT = 4 an 802.1Q tag stands before the EtherType
//   stall       none: a beat counts when `push` is high, `beat` is its number in the frame
//   reset       waits for a frame
//   not done    what is longer than LAST beats is not looked at again
`default_nettype none

module inc_steer_look #(
    // bytes of a beat, a power of two, at least 8
    parameter BYTES   = 8,
    // number of engines, 2 to 8
    parameter ENGINES = 2,
    // bits of an index into an engine's endpoint table, 1 to 21
    parameter EI_W    = 4,
    // bytes before the EtherType that a frame without a tag has not: 0 or 4
    parameter AT      = 0,
    // bits of a beat's number
    parameter BEAT_W  = 3,
    // number of the last beat that is asked about, from 0
    parameter LAST    = 6
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               push,
    input  wire [BEAT_W-1:0]  beat,
    input  wire [8*BYTES-1:0] tdata,
    input  wire [BYTES-1:0]   tkeep,
    input  wire               tlast,
    output wire [ENGINES-1:0] hit
);

`ifndef __ICARUS__
    generate
        if (AT != 0 && AT != 4) begin : gen_bad_at
            $error("inc_steer_look: AT must be 0 or 4");
        end
        if (LAST < (53 + AT) / BYTES || LAST >= (1 << BEAT_W)) begin : gen_bad_last
            $error("inc_steer_look: LAST must be the beat with byte 53 + AT or a later one that BEAT_W bits count");
        end
    endgenerate
`endif

    // What a packet of ours has from byte 12 on, lowest first, and which bits of it: with a tag, of which the EtherType alone matters, and
    // without from the fifth byte on.
    localparam TAG = 4, FROM = 12, TO = 38 + AT, BELOW = TAG - AT;
    localparam [8*(TAG+26)-1:0] VALUE = {8'hB7, 8'h12, 16'd0, 64'd0, 16'd0, 8'h11, 8'd0, 16'h0000, 16'd0, 16'd0, 8'd0, 8'h45, 8'h00, 8'h08, 16'd0, 8'h00, 8'h81};
    localparam [8*(TAG+26)-1:0] MASK  = {8'hFF, 8'hFF, 16'd0, 64'd0, 16'd0, 8'hFF, 8'd0, 16'hFF3F, 16'd0, 16'd0, 8'd0, 8'hFF, 8'hFF, 8'hFF, 16'd0, 8'hFF, 8'hFF};
    localparam NAME_W = $clog2(ENGINES);
    localparam END    = 53 + AT;
    localparam END_IN = END / BYTES;
    localparam [BEAT_W-1:0] END_AT = END_IN[BEAT_W-1:0];

    reg                foreign_reg;
    wire [TO-FROM-1:0] wrong;
    genvar g;
    generate
        for (g = FROM; g < TO; g = g + 1) begin : gen_byte
            localparam IN = g / BYTES;
            localparam OF = 8*(g - FROM + BELOW);
            localparam [BEAT_W-1:0] BYTE_AT = IN[BEAT_W-1:0];
            assign wrong[g-FROM] = beat == BYTE_AT && ((tdata[8*(g % BYTES) +: 8] ^ VALUE[OF +: 8]) & MASK[OF +: 8]) != 8'd0;
        end
    endgenerate

    // The bits of the destination QPN that name the engine, most significant byte first. A frame may end in the beat with the last of them,
    // or go on to beat LAST: what may lie behind is kept.
    wire [NAME_W-1:0] name;
    generate
        for (g = 0; g < NAME_W; g = g + 1) begin : gen_name
            localparam AT_BYTE = 49 + AT - (EI_W + g) / 8;
            localparam AT_BIT  = 8*(AT_BYTE % BYTES) + (EI_W + g) % 8;
            localparam IN      = AT_BYTE / BYTES;
            localparam [BEAT_W-1:0] BIT_AT = IN[BEAT_W-1:0];
            if (IN == LAST) begin : gen_now
                assign name[g] = tdata[AT_BIT];
            end else begin : gen_kept
                reg bit_reg;
                always @(posedge clk) begin
                    if (push && beat == BIT_AT) begin
                        bit_reg <= tdata[AT_BIT];
                    end
                end
                assign name[g] = IN == END_IN && beat == BIT_AT ? tdata[AT_BIT] : bit_reg;
            end
        end
    endgenerate

    wire whole;
    generate
        if (END_IN == LAST) begin : gen_ends
            assign whole = beat == END_AT && tkeep[END % BYTES];
        end else begin : gen_goes_on
            localparam [BEAT_W-1:0] LAST_AT = LAST[BEAT_W-1:0];
            assign whole = beat == LAST_AT || beat == END_AT && tkeep[END % BYTES];
        end
        for (g = 0; g < ENGINES; g = g + 1) begin : gen_to
            localparam [NAME_W-1:0] E = g;
            assign hit[g] = whole && !foreign_reg && wrong == {(TO-FROM){1'b0}} && name == E;
        end
    endgenerate

    always @(posedge clk) begin
        if (push) begin
            foreign_reg <= !tlast && (foreign_reg || wrong != {(TO-FROM){1'b0}});
        end
        if (rst) begin
            foreign_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
