// SPDX-License-Identifier: Apache-2.0
//
// inc_packet_buffer: keeps a frame's payload until its ICRC is known and its words have been added.
//
// Contract
//   latency     a word offered in cycle 0 can be addressed by rd_en in cycle 1 and is on rd_data in cycle 2;
//               a frame's verdict (eof_valid in cycle 0) is on vrd_* in cycle 1. The frame's words came until EOF_DELAY cycles before
//               eof_valid; later ones are the next frame's
//   throughput  one word in and one word out per cycle
//   order       words lie in the order of their frames; a verdict's vrd_end is the address behind the frame's last word
//   stall       writers watch `room`: true while more than MARGIN + 1 words and 8 verdicts are free; space is given back by moving
//               `oldest`, the address of the oldest word still wanted, and counts a cycle later
//   rewind      none is needed: the reader skips a frame by starting the next one at vrd_end
//   reset       empty; the words' contents are unknown until written
//   not done    does not guard what it keeps: whoever writes without `room` overwrites
`default_nettype none

module inc_packet_buffer #(
    // bytes of a word
    parameter BYTES   = 8,
    // log2 of the number of words, 4 to 20
    parameter ADDR_W  = 9,
    // log2 of the number of verdicts, 4 to 10
    parameter DEPTH_W = 5,
    // EOF_DELAY of the parser, 0 to 15: how long before eof_valid the frame's words had all come
    parameter EOF_DELAY = 0,
    // words that may still come when room has fallen; 1 to 2**ADDR_W - 2
    parameter MARGIN = 7
) (
    input  wire               clk,
    input  wire               rst,

    output wire               room,
    input  wire               pay_valid,
    input  wire [8*BYTES-1:0] pay_data,

    input  wire               eof_valid,
    input  wire               eof_err,
    input  wire               eof_len_ok,
    input  wire               eof_icrc_ok,

    output wire               vrd_valid,
    input  wire               vrd_pop,
    output wire               vrd_err,
    output wire               vrd_len_ok,
    output wire               vrd_icrc_ok,
    output wire [ADDR_W-1:0]  vrd_end,

    // the address behind the newest word
    output wire [ADDR_W-1:0]  newest,
    input  wire [ADDR_W-1:0]  oldest,
    input  wire               rd_en,
    input  wire [ADDR_W-1:0]  rd_addr,
`ifdef INC_ECC
    output wire [8*BYTES-1:0] rd_data,
    // the word had more wrong bits than can be corrected
    output wire               rd_bad
`else
    output wire [8*BYTES-1:0] rd_data
`endif
);

`ifndef __ICARUS__
    generate
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_packet_buffer: BYTES must be at least 1");
        end
        if (ADDR_W < 4 || ADDR_W > 20) begin : gen_bad_addr
            $error("inc_packet_buffer: ADDR_W must be 4 to 20");
        end
        if (MARGIN < 1 || MARGIN >= (1 << ADDR_W) - 1) begin : gen_bad_margin
            $error("inc_packet_buffer: MARGIN must be 1 to 2**ADDR_W - 2");
        end
        if (DEPTH_W < 4 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_packet_buffer: DEPTH_W must be 4 to 10");
        end
        if (EOF_DELAY < 0 || EOF_DELAY > 15) begin : gen_bad_eof_delay
            $error("inc_packet_buffer: EOF_DELAY must be 0 to 15");
        end
    endgenerate
`endif

    // One word is never used: a full ring would look like an empty one.
    localparam LIMIT = (1 << ADDR_W) - 1 - MARGIN;
    localparam [ADDR_W-1:0] LIMIT_WORDS = LIMIT[ADDR_W-1:0];

    reg  [ADDR_W-1:0] tail_reg;
    wire [ADDR_W-1:0] tail_next = tail_reg + {{(ADDR_W-1){1'b0}}, pay_valid};
    reg  [ADDR_W-1:0] used_reg;         // what became free a cycle ago still counts
    wire              verdict_room;

    assign newest = tail_reg;
    assign room   = verdict_room && used_reg < LIMIT_WORDS;

    always @(posedge clk) begin
        tail_reg <= tail_next;
        used_reg <= tail_next - oldest;
        if (rst) begin
            tail_reg <= {ADDR_W{1'b0}};
            used_reg <= {ADDR_W{1'b0}};
        end
    end

    inc_mem_packets #(.WORDS(1 << ADDR_W), .BITS(8*BYTES), .ADDR_W(ADDR_W)) u_words (
        .clk   (clk),
        .we    (pay_valid),
        .waddr (tail_reg),
        .wdata (pay_data),
        .re    (rd_en),
        .raddr (rd_addr),
`ifdef INC_ECC
        .rdata ({rd_bad, rd_data})
`else
        .rdata (rd_data)
`endif
    );

    // The address behind the frame's last word. Words of the frames behind it may have come since.
    wire [ADDR_W-1:0] end_addr;
    generate
        if (EOF_DELAY == 0) begin : gen_end_now
            assign end_addr = tail_next;
        end else begin : gen_end_late
            reg [ADDR_W*EOF_DELAY-1:0] tails_reg;
            wire [ADDR_W*(EOF_DELAY+1)-1:0] tails = {tails_reg, tail_next};
            always @(posedge clk) begin
                tails_reg <= tails[ADDR_W*EOF_DELAY-1:0];
            end
            assign end_addr = tails[ADDR_W*EOF_DELAY +: ADDR_W];
        end
    endgenerate

    // The oldest verdict stands in registers: all that a frame changes waits for it.
    inc_fifo #(.WIDTH(ADDR_W + 3), .DEPTH_W(DEPTH_W), .MARGIN(8), .HEAD(ADDR_W + 3)) u_verdicts (
        .clk       (clk),
        .rst       (rst),
        .push      (eof_valid),
        .push_data ({end_addr, eof_err, eof_len_ok, eof_icrc_ok}),
        .room      (verdict_room),
        .valid     (vrd_valid),
        .data      ({vrd_end, vrd_err, vrd_len_ok, vrd_icrc_ok}),
        .pop       (vrd_pop)
    );

endmodule

`default_nettype wire
