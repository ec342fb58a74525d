// SPDX-License-Identifier: Apache-2.0
//
// inc_packet_buffer: keeps frames as they came, until their payload has been added or they have left unchanged.
//
// Contract
//   beats       lie in the order in which they came, whole frames one behind the other. A payload word is the end of one beat and the beginning of
//               the next, and one read: the ring is three memories side by side with an address each, cut where words begin
//   latency     a word can be addressed by rd_en in the cycle after that of the beat that closes it, or of its frame's last beat, and is on rd_data a
//               cycle later; a beat can be addressed by byp_re in the cycle after its own, and is on byp_data a cycle later;
//               a frame's verdict (eof_valid in cycle 0) is on vrd_* in cycle 1. The frame's last beat came 1 + EOF_DELAY cycles before
//               eof_valid; later ones are the next frame's
//   throughput  one beat in per cycle, and one word or beat out: rd_en and byp_re never in the same cycle
//   holding     rd_data holds, and rd_there is high, until the next read of either kind, and so does byp_data. A word that a read for byp_data
//               took away is read again by rd_en with rd_again, which needs no address, while the beats that it lies in are wanted
//   order       a verdict's vrd_end is the address behind the frame's last beat, where the next frame begins
//   stall       writers watch `room`: true while more than MARGIN + 1 beats and 8 verdicts are free; or room_beats, which is that without the
//               verdicts. Space is given back by moving both `oldest` and byp_from, the addresses of the oldest beats that either reader wants,
//               and counts a cycle later. With byp_alone byp_from counts for both: what `oldest` points to is a frame that leaves while it
//               comes in, and nothing else
//   rewind      none is needed: the reader skips a frame by starting the next one at vrd_end
//   reset       empty; the beats' contents are unknown until written
//   not done    does not guard what it keeps: whoever writes without `room` overwrites
`default_nettype none

module inc_packet_buffer #(
    // bytes of a beat, a power of two of at least 8
    parameter BYTES   = 8,
    // log2 of the number of beats, 4 to 20
    parameter ADDR_W  = 9,
    // log2 of the number of verdicts, 4 to 10
    parameter DEPTH_W = 5,
    // EOF_DELAY of the parser, 0 to 15
    parameter EOF_DELAY = 0,
    // beats that may still come when room has fallen; 1 to 2**ADDR_W - 2
    parameter MARGIN = 2
) (
    input  wire               clk,
    input  wire               rst,

    output wire               room,
    output wire               room_beats,

    // what comes; `store` tells that the beat is to be kept, `imm` that it is of a frame whose payload begins behind an immediate
    input  wire               raw_valid,
    input  wire               raw_store,
    input  wire               raw_imm,
    input  wire [8*BYTES-1:0] raw_data,
    input  wire               raw_last,
    // the address behind the beat
    output wire [ADDR_W-1:0]  raw_end,

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

    // payload words, by the address of the beat in which they begin, and of the one behind it, rd_addr + 1; `newest` is that of the first that is not there yet
    output wire [ADDR_W-1:0]  newest,
    input  wire [ADDR_W-1:0]  oldest,
    input  wire               rd_en,
    // the word that was read last, once more
    input  wire               rd_again,
    input  wire               rd_imm,
    input  wire [ADDR_W-1:0]  rd_addr,
    input  wire [ADDR_W-1:0]  rd_next,
`ifdef INC_ECC
    // the word had more wrong bits than can be corrected
    output wire               rd_bad,
`endif
    output wire [8*BYTES-1:0] rd_data,
    // it is the word that was read last
    output wire               rd_there,

    // beats; the address behind the newest one
    output wire [ADDR_W-1:0]  byp_fill,
    input  wire [ADDR_W-1:0]  byp_from,
    input  wire               byp_alone,
    input  wire               byp_re,
    input  wire [ADDR_W-1:0]  byp_addr,
`ifdef INC_ECC
    output wire               byp_bad,
`endif
    output wire [8*BYTES-1:0] byp_data
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_packet_buffer: BYTES must be a power of two of at least 8");
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

    // ---- where beats are, and whether there is room ----

    // One beat is never used: a full ring would look like an empty one.
    localparam LIMIT = (1 << ADDR_W) - 1 - MARGIN;
    localparam [ADDR_W-1:0] LIMIT_BEATS = LIMIT[ADDR_W-1:0];

    reg  [ADDR_W-1:0] tail_reg;
    reg  [ADDR_W-1:0] last_reg;         // the newest beat
    reg  [ADDR_W-1:0] newest_reg;       // of a beat that ends its frame the word is there too
    wire              push      = raw_valid && raw_store;
    wire [ADDR_W-1:0] tail_next = tail_reg + {{(ADDR_W-1){1'b0}}, push};
    reg  [ADDR_W-1:0] words_reg, beats_reg;   // beats that either reader may want; what became free a cycle ago still counts
    wire              verdict_room;

    assign newest     = newest_reg;
    assign byp_fill   = tail_reg;
    assign raw_end    = tail_next;
    assign room_beats = words_reg < LIMIT_BEATS && beats_reg < LIMIT_BEATS;
    assign room       = verdict_room && room_beats;

    always @(posedge clk) begin
        tail_reg  <= tail_next;
        words_reg <= tail_next - (byp_alone ? byp_from : oldest);
        beats_reg <= tail_next - byp_from;
        if (push) begin
            last_reg <= tail_reg;
        end
        if (raw_valid) begin
            newest_reg <= raw_last ? tail_next : push ? tail_reg : last_reg;
        end
        if (rst) begin
            tail_reg   <= {ADDR_W{1'b0}};
            last_reg   <= {ADDR_W{1'b1}};
            newest_reg <= {ADDR_W{1'b0}};
            words_reg  <= {ADDR_W{1'b0}};
            beats_reg  <= {ADDR_W{1'b0}};
        end
    end

    // ---- the memories ----

    // A payload begins in lane START of a beat, one behind an immediate 4 lanes later. Beats of frames with an immediate are stored turned by 4
    // lanes, so that a word is in the same places of either kind: from START on in the beat in which it begins, below in the next. The
    // last 4 lanes of a turned beat are the first that came: they belong to the word before. In a beat of 8 bytes, where a payload behind an
    // immediate begins in lane 2, it is the 4 lowest places that differ.
    localparam START = 54 % BYTES;
    localparam HIGH  = BYTES - 4;
    localparam CUT_1 = START < HIGH ? START : HIGH;
    localparam CUT_2 = START < HIGH ? HIGH : START;

    wire [8*BYTES-1:0] in = raw_imm ? {raw_data[31:0], raw_data[8*BYTES-1:32]} : raw_data;

    // The word of a frame's last beat ends in it: what is behind may be written in this cycle, and is not asked.
    wire [ADDR_W-1:0] next  = rd_next == tail_reg ? rd_addr : rd_next;
    wire [ADDR_W-1:0] other = (START < HIGH ? rd_imm : !rd_imm) ? next : rd_addr;
    wire [ADDR_W-1:0] low_addr, mid_addr, high_addr;
    generate
        if (START < HIGH) begin : gen_wide
            assign low_addr  = next;
            assign mid_addr  = rd_addr;
            assign high_addr = other;
        end else begin : gen_narrow
            assign low_addr  = other;
            assign mid_addr  = next;
            assign high_addr = rd_addr;
        end
    endgenerate

    // where the word lies that was read last
    reg  [ADDR_W-1:0] low_reg, mid_reg, high_reg;
    always @(posedge clk) begin
        if (rd_en && !rd_again) begin
            low_reg  <= low_addr;
            mid_reg  <= mid_addr;
            high_reg <= high_addr;
        end
    end

    wire               re = rd_en || byp_re;
    wire [8*BYTES-1:0] out;
    wire               turned;
`ifdef INC_ECC
    wire [2:0]         bad;
`endif

    inc_mem_packets #(.WORDS(1 << ADDR_W), .BITS(8*CUT_1), .ADDR_W(ADDR_W)) u_low (
        .clk   (clk),
        .we    (push),
        .waddr (tail_reg),
        .wdata (in[8*CUT_1-1:0]),
        .re    (re),
        .raddr (byp_re ? byp_addr : rd_again ? low_reg : low_addr),
`ifdef INC_ECC
        .rdata ({bad[0], out[8*CUT_1-1:0]})
`else
        .rdata (out[8*CUT_1-1:0])
`endif
    );

    inc_mem_packets #(.WORDS(1 << ADDR_W), .BITS(8*(CUT_2-CUT_1)), .ADDR_W(ADDR_W)) u_mid (
        .clk   (clk),
        .we    (push),
        .waddr (tail_reg),
        .wdata (in[8*CUT_2-1:8*CUT_1]),
        .re    (re),
        .raddr (byp_re ? byp_addr : rd_again ? mid_reg : mid_addr),
`ifdef INC_ECC
        .rdata ({bad[1], out[8*CUT_2-1:8*CUT_1]})
`else
        .rdata (out[8*CUT_2-1:8*CUT_1])
`endif
    );

    inc_mem_packets #(.WORDS(1 << ADDR_W), .BITS(8*(BYTES-CUT_2) + 1), .ADDR_W(ADDR_W)) u_high (
        .clk   (clk),
        .we    (push),
        .waddr (tail_reg),
        .wdata ({raw_imm, in[8*BYTES-1:8*CUT_2]}),
        .re    (re),
        .raddr (byp_re ? byp_addr : rd_again ? high_reg : high_addr),
`ifdef INC_ECC
        .rdata ({bad[2], turned, out[8*BYTES-1:8*CUT_2]})
`else
        .rdata ({turned, out[8*BYTES-1:8*CUT_2]})
`endif
    );

    assign byp_data = turned ? {out[8*BYTES-33:0], out[8*BYTES-1:8*BYTES-32]} : out;

    // ---- the adders' word, which is gone when the port reads for the output ----

    reg  there_reg;

    assign rd_there = there_reg;
    assign rd_data  = {out[8*START-1:0], out[8*BYTES-1:8*START]};
`ifdef INC_ECC
    assign byp_bad  = bad != 3'd0;
    assign rd_bad   = byp_bad;
`endif

    always @(posedge clk) begin
        there_reg <= rd_en || (there_reg && !byp_re);
        if (rst) begin
            there_reg <= 1'b0;
        end
    end

    // ---- verdicts ----

    // The address behind the frame's last beat, which came 1 + EOF_DELAY cycles ago. Beats of the frames behind it may have come since.
    wire [ADDR_W-1:0] end_addr;
    generate
        if (EOF_DELAY == 0) begin : gen_end_now
            assign end_addr = tail_reg;
        end else begin : gen_end_late
            reg [ADDR_W*EOF_DELAY-1:0] tails_reg;
            wire [ADDR_W*(EOF_DELAY+1)-1:0] tails = {tails_reg, tail_reg};
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
