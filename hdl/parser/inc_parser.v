// SPDX-License-Identifier: Apache-2.0
//
// inc_parser: takes frames in, finds the RoCEv2 fields, and says what of a frame is to be kept.
//
// Contract
//   latency     a beat taken in cycle 0 leaves on raw_* in cycle 1, and on crc_* in cycle 1, or in cycle 2 where BYTES is above 64;
//               crc_tail comes with the datagram's last beat there, or a cycle later where BYTES is above 64;
//               seek_* is valid when raw_* carries byte 57 or, in a shorter frame, the last byte, hdr_* in the cycle after;
//               eof_* is valid 1 + EOF_DELAY cycles after raw_last, when a check of the ICRC that takes so long has its answer
//   throughput  1 beat per cycle, no bubbles; each frame yields one hdr_valid and then, at the same time or later,
//               one eof_valid, in the order of the frames
//   stall       s_axis_tready is high, a cycle later, while `room` is, and in a frame that is known to be bypassed while `room_raw` is.
//               Consumers lower them with space for what still leaves: 2 beats, in the cycle in which it falls and the next, 8 headers
//               and ends of frames
//   storing     of a bypassed frame all beats are to be kept; of others those in which MTU_BYTES of payload may lie, and, until it is known
//               that it is not bypassed, those behind them
//   reset       between frames; s_axis_tready low while rst is high
//   not done    decides nothing: a frame that is too short or is not RoCEv2 yields hdr_rocev2 = 0 and fields without meaning
`default_nettype none

module inc_parser #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES     = 8,
    // bits of a port number, at least 1
    parameter PORT_W    = 2,
    // largest payload in bytes; a multiple of BYTES, 16 to 16384
    parameter MTU_BYTES = 1024,
    // bits that hold 0 to MTU_BYTES
    parameter LEN_W     = 11,
    // bits that hold 0 to MTU_BYTES / BYTES
    parameter WORDS_W   = 8,
    // cycles by which eof_* waits for the ICRC, 0 to 15; at least 1 where BYTES is above 64
    parameter EOF_DELAY = 0
) (
    input  wire               clk,
    input  wire               rst,

    // every consumer has space for what still leaves; and the ring and Forward, which is all that a bypassed frame needs
    input  wire               room,
    input  wire               room_raw,
    // LookupTable's decision, 1 cycle after hdr_valid
    input  wire               fwd_valid,
    input  wire               fwd_bypass,

    input  wire [8*BYTES-1:0] s_axis_tdata,
    input  wire [BYTES-1:0]   s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [PORT_W:0]    s_axis_tuser,

    // the frame as it came; `store` tells that the beat is to be kept, `imm` that a payload in it begins behind an immediate: right from
    // the beat with the opcode on
    output wire               raw_valid,
    output wire               raw_store,
    output wire               raw_imm,
    output wire [8*BYTES-1:0] raw_data,
    output wire [BYTES-1:0]   raw_keep,
    output wire               raw_last,
    output wire               raw_err,

    // the bytes that the ICRC covers, masked; first marks the first beat of a frame
    output wire               crc_valid,
    output wire               crc_first,
    output wire [8*BYTES-1:0] crc_data,
    // bytes from the end of the IP datagram to the end of the beat in which it lies
    output wire [$clog2(BYTES)-1:0] crc_tail,

    // what the header's records are found by, a cycle before it: destination QPN, the root in the immediate of a control
    output wire               seek_valid,
    output wire [23:0]        seek_qpn,
    output wire [4:0]         seek_root,

    // the header
    output reg                hdr_valid,
    output reg  [PORT_W-1:0]  hdr_port,
    output reg                hdr_rocev2,
    output reg  [23:0]        hdr_qpn,
    output reg  [31:0]        hdr_src_ip,
    output reg  [31:0]        hdr_dst_ip,
    output reg                hdr_pkey_ok,
    output reg                hdr_ce,
    output reg                hdr_sum_ok,
    output reg                hdr_len_ok,
    output reg                hdr_tver_ok,
    output reg  [7:0]         hdr_opcode,
    output reg                hdr_se,
    output reg  [1:0]         hdr_pad,
    output reg  [23:0]        hdr_psn,
    // AETH or immediate, first byte in [31:24]
    output reg  [31:0]        hdr_ext,
    output reg                hdr_too_long,
    // payload bytes; no meaning when hdr_too_long
    output reg  [LEN_W-1:0]   hdr_plen,
    // payload words
    output reg  [WORDS_W-1:0] hdr_words,

    // the end of a frame
    output wire               eof_valid,
    output wire               eof_err,
    output wire               eof_len_ok
);

    localparam LANE_W    = $clog2(BYTES);
    // Ethernet, IPv4, UDP, BTH, and AETH or immediate
    localparam HDR_BYTES = 58;
    localparam HDR_BEATS = (HDR_BYTES + BYTES - 1) / BYTES;
    // the beats in which the payload starts, without and with an immediate
    localparam BEAT_A    = 54 / BYTES;
    localparam BEAT_B    = 58 / BYTES;
    // the beat with the opcode
    localparam OPCODE_I  = 42 / BYTES;
    localparam OPCODE_AT = 42 % BYTES;
    localparam [3:0] OPCODE_BEAT   = OPCODE_I[3:0];
    localparam [4:0] HEADER_BEATS  = HDR_BEATS[4:0];
    localparam [4:0] PAY_BEAT_A    = BEAT_A[4:0];
    localparam [17:0] BEAT_BYTES   = BYTES[17:0];
    localparam [17:0] MTU          = MTU_BYTES[17:0];
    localparam MTU_WORDS_I         = MTU_BYTES / BYTES;
    localparam [WORDS_W-1:0] MTU_WORDS = MTU_WORDS_I[WORDS_W-1:0];
    // beats in which the longest payload may lie, the header's among them
    localparam MOST_I    = BEAT_B + MTU_WORDS_I + 1;
    localparam MOST_W    = WORDS_W + 2;
    localparam [MOST_W-1:0] MOST   = MOST_I[MOST_W-1:0];

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << LANE_W) != BYTES) begin : gen_bad_bytes
            $error("inc_parser: BYTES must be a power of two, 8 to 2048");
        end
        if (PORT_W < 1) begin : gen_bad_port_w
            $error("inc_parser: PORT_W must be at least 1");
        end
        if (MTU_BYTES < 16 || MTU_BYTES > 16384 || MTU_BYTES % BYTES != 0) begin : gen_bad_mtu
            $error("inc_parser: MTU_BYTES must be a multiple of BYTES, 16 to 16384");
        end
        if (LEN_W != $clog2(MTU_BYTES + 1)) begin : gen_bad_len_w
            $error("inc_parser: LEN_W must hold 0 to MTU_BYTES");
        end
        if (WORDS_W != $clog2(MTU_BYTES / BYTES + 1)) begin : gen_bad_words_w
            $error("inc_parser: WORDS_W must hold 0 to MTU_BYTES / BYTES");
        end
        if (EOF_DELAY < (BYTES > 64 ? 1 : 0) || EOF_DELAY > 15) begin : gen_bad_eof_delay
            $error("inc_parser: EOF_DELAY must be 0 to 15, and at least 1 where BYTES is above 64");
        end
    endgenerate
`endif

    // ---- the beat under way, and the header bytes seen so far ----

    reg                ready_reg;
    reg                skip_reg;     // the frame that is coming in is bypassed
    reg [2:0]          ended_reg;    // a frame's last beat was taken 1, 2, 3 cycles ago
    reg                own_reg;      // it is not
    reg                r_store;
    reg                r_imm;
    reg                r_valid;
    reg                r_last;
    reg                r_err;
    reg [PORT_W-1:0]   r_port;
    reg [8*BYTES-1:0]  r_data;
    reg [BYTES-1:0]    r_keep;
    reg                r_header;             // the beat is the header's last, or the frame's before that one
    reg                r_in_a;               // is not before the one in which a payload without an immediate begins
    reg                r_past_a;             // is behind that one
    reg [MOST_W-1:0]   most_reg;     // beats of the frame that came; stays at MOST
    reg [3:0]          next_idx;     // beat index in the frame; stays at 15
    reg [8*HDR_BYTES-1:0] h;         // byte i of the frame at [8*i +: 8]

    // beats of the frame up to and with the one that comes
    wire [4:0] next_count = {1'b0, next_idx} + 5'd1;

    wire take = s_axis_tvalid && ready_reg;

    assign s_axis_tready = ready_reg;

    // A bypassed frame may already be leaving while it comes in, and hold the output. It must not wait for what the blocks that decide
    // have no room for: the ring of beats and Forward alone can stop it. A frame of which it is known that it is not bypassed is kept only as far
    // as anybody wants it, or one that is longer than the ring would wait for itself. The decision belongs to
    // the frame whose header was taken 3 cycles ago, if that one has not ended since.
    wire take_last = take && s_axis_tlast;
    wire decided   = fwd_valid && ended_reg == 3'd0;
    wire skip      = skip_reg || (decided && fwd_bypass);
    wire own       = own_reg || (decided && !fwd_bypass);
    // The opcode is asked if it is there: a four-state simulator would never know again whose beats were turned.
    wire [7:0] opcode = s_axis_tdata[8*OPCODE_AT +: 8];
    wire       imm    = s_axis_tkeep[OPCODE_AT] && (opcode == 8'h03 || opcode == 8'h05);

    always @(posedge clk) begin
        ready_reg  <= room || (room_raw && skip && !take_last);
        skip_reg   <= skip && !take_last;
        own_reg    <= own && !take_last;
        ended_reg  <= {ended_reg[1:0], take_last};
        r_valid    <= take;
        r_header   <= take && (next_count == HEADER_BEATS || (s_axis_tlast && next_count < HEADER_BEATS));
        // Nobody looks at them without r_valid, so they need not hold.
        r_data    <= s_axis_tdata;
        r_keep    <= s_axis_tkeep;
        if (take) begin
            r_store  <= !own || most_reg != MOST;
            r_last   <= s_axis_tlast;
            r_err    <= s_axis_tuser[0];
            r_port   <= s_axis_tuser[PORT_W:1];
            r_in_a   <= next_count > PAY_BEAT_A;
            r_past_a <= next_count > PAY_BEAT_A + 5'd1;
            if (next_idx == OPCODE_BEAT) begin
                r_imm <= imm;
            end
            if (s_axis_tlast) begin
                next_idx <= 4'd0;
                most_reg <= {MOST_W{1'b0}};
            end else begin
                next_idx <= next_idx == 4'd15 ? 4'd15 : next_idx + 4'd1;
                most_reg <= most_reg == MOST ? MOST : most_reg + {{(MOST_W-1){1'b0}}, 1'b1};
            end
        end
        if (rst) begin
            ready_reg  <= 1'b0;
            skip_reg   <= 1'b0;
            own_reg    <= 1'b0;
            ended_reg  <= 3'd0;
            r_valid    <= 1'b0;
            r_header   <= 1'b0;
            r_imm      <= 1'b0;
            next_idx   <= 4'd0;
            most_reg   <= {MOST_W{1'b0}};
        end
    end

    genvar g, b, n;
    generate
        for (g = 0; g < HDR_BYTES; g = g + 1) begin : gen_header_byte
            localparam AT_I = g / BYTES;
            localparam [3:0] AT = AT_I[3:0];
            always @(posedge clk) begin
                if (take && next_idx == AT) begin
                    h[8*g +: 8] <= s_axis_tdata[8*(g % BYTES) +: 8];
                end
            end
        end
    endgenerate

    // ---- header fields, big-endian on the wire ----

    wire [15:0] f_ethertype = {h[8*12 +: 8], h[8*13 +: 8]};
    wire [7:0]  f_ver_ihl   = h[8*14 +: 8];
    wire [15:0] f_total_len = {h[8*16 +: 8], h[8*17 +: 8]};
    wire [15:0] f_fragment  = {h[8*20 +: 8], h[8*21 +: 8]};
    wire [7:0]  f_protocol  = h[8*23 +: 8];
    wire [15:0] f_udp_dst   = {h[8*36 +: 8], h[8*37 +: 8]};
    wire [15:0] f_udp_len   = {h[8*38 +: 8], h[8*39 +: 8]};
    wire [7:0]  f_opcode    = h[8*42 +: 8];
    wire [7:0]  f_flags     = h[8*43 +: 8];
    wire [15:0] f_pkey      = {h[8*44 +: 8], h[8*45 +: 8]};

    wire is_send   = f_opcode[7:3] == 5'd0 && f_opcode[2:1] != 2'd3;
    wire has_imm   = f_opcode == 8'h03 || f_opcode == 8'h05;
    wire is_ack    = f_opcode == 8'h11;
    wire is_cnp    = f_opcode == 8'h81;
    wire [1:0] pad = f_flags[5:4];

    // Lengths. ext is what lies between BTH and payload; a CNP's 16 reserved bytes count as such. Each is one subtraction from the UDP
    // length: what is taken off is 24, 28 or 40, and the pad bytes in its low bits.
    wire        has_ext   = has_imm || is_ack;
    wire [17:0] udp_len   = {2'd0, f_udp_len};
    wire [17:0] off_len   = {12'd0, is_cnp, !is_cnp, 1'b1, has_ext, pad};
    wire [17:0] plen      = udp_len - off_len;          // negative when too short
    // the same of a send packet, which three bits of the opcode say; fewer or more bytes than there may be
    wire        send_imm  = f_opcode[2:0] == 3'd3 || f_opcode[2:0] == 3'd5;
    wire [17:0] send_off  = {15'd3, send_imm, pad};
    wire [17:0] spare     = MTU + send_off - udp_len;   // negative when too long
    wire        long_pay  = spare[17];
    // Numbers as small as those are compared bit by bit, which takes no carry: up to 31 bytes, of which send_off is 24 and more, and up to 63.
    wire        over_31   = f_udp_len[15:5] != 11'd0;
    wire        over_63   = f_udp_len[15:6] != 10'd0;
    wire        stores    = is_send && (over_31 || (f_udp_len[4:3] == 2'd3 && f_udp_len[2:0] > {send_imm, pad}));
    // no payload, nor pad bytes; nor all of what is before them
    wire        at_40     = f_udp_len[5:3] == 3'd5, at_24 = f_udp_len[5:3] == 3'd3;
    wire        udp_least = !over_63 && (is_cnp ? at_40 && f_udp_len[2:0] == 3'd0 : at_24 && f_udp_len[2:0] == {has_ext, 2'd0});
    wire        udp_short = is_cnp ? !over_63 && (!f_udp_len[5] || f_udp_len[4:3] == 2'd0)
                            : !over_31 && !(f_udp_len[4:3] == 2'd3 && (f_udp_len[2] || !has_ext));
    // The total length is 20 more than UDP's: that one's inverse and it add up to 19. Where two numbers and a sum's bits say what the carries
    // are, and the bits below say the same, none has to run.
    wire [16:0] total_len = {1'b0, f_total_len};
    wire [16:0] udp_not   = {1'b1, ~f_udp_len};
    wire [16:0] carried   = total_len ^ udp_not ^ 17'd19;
    wire [15:0] carries   = (total_len[15:0] & udp_not[15:0]) | ((total_len[15:0] | udp_not[15:0]) & ~16'd19);
    wire        len_ok    = carried == {carries, 1'b0} && !udp_short
                            && (!(is_ack || is_cnp) || udp_least)
                            && (!is_send || (f_udp_len[1:0] == 2'd0 && !(udp_least && pad != 2'd0)));
    // plen is at most MTU where this counts, so plen + BYTES - 1 has room
    wire [17:0]        words_wide = (udp_len + (BEAT_BYTES - 18'd1) - send_off) >> LANE_W;
    wire [WORDS_W-1:0] words      = !stores ? {WORDS_W{1'b0}} : long_pay ? MTU_WORDS : words_wide[WORDS_W-1:0];

    // the frame ends before byte 54; the beat with byte 53 is the one in which a payload without an immediate begins
    wire short_frame = r_last && (!r_in_a || (!r_past_a && !r_keep[53%BYTES]));

    // One's complement sum of the IP header: 0xFFFF when right. Three numbers become two of the same sum, without a carry that runs:
    // what leaves at the top comes in below. Of two numbers it is 0xFFFF if each is the other's inverse, or both are 0xFFFF.
    function [31:0] two_of;
        input [15:0] x, y, z;
        reg   [15:0] carry;
        begin
            carry  = (x & y) | (x & z) | (y & z);
            two_of = {carry[14:0], carry[15], x ^ y ^ z};
        end
    endfunction
    wire [31:0] ip_sum_1 = two_of({h[8*14 +: 8], h[8*15 +: 8]}, {h[8*16 +: 8], h[8*17 +: 8]}, {h[8*18 +: 8], h[8*19 +: 8]});
    wire [31:0] ip_sum_2 = two_of({h[8*20 +: 8], h[8*21 +: 8]}, {h[8*22 +: 8], h[8*23 +: 8]}, {h[8*24 +: 8], h[8*25 +: 8]});
    wire [31:0] ip_sum_3 = two_of({h[8*26 +: 8], h[8*27 +: 8]}, {h[8*28 +: 8], h[8*29 +: 8]}, {h[8*30 +: 8], h[8*31 +: 8]});
    wire [31:0] ip_sum_4 = two_of(ip_sum_1[31:16], ip_sum_1[15:0], ip_sum_2[31:16]);
    wire [31:0] ip_sum_5 = two_of(ip_sum_2[15:0], ip_sum_3[31:16], ip_sum_3[15:0]);
    wire [31:0] ip_sum_6 = two_of(ip_sum_4[31:16], ip_sum_4[15:0], ip_sum_5[31:16]);
    wire [31:0] ip_sum_7 = two_of(ip_sum_5[15:0], ip_sum_6[15:0], {h[8*32 +: 8], h[8*33 +: 8]});
    // Of narrow beats all that these want has come a beat before the header's end, in a frame that reaches byte 54: there is a cycle for
    // the first sums and the lengths, and one for what is said of them.
    wire [47:0] ip_sums;
    wire        lengths_ok;
    generate
        if (43 / BYTES < 53 / BYTES) begin : gen_summed_before
            reg [47:0] sums_reg;
            reg        len_ok_reg;
            always @(posedge clk) begin
                sums_reg   <= {ip_sum_6[31:16], ip_sum_7};
                len_ok_reg <= len_ok;
            end
            assign ip_sums    = sums_reg;
            assign lengths_ok = len_ok_reg;
        end else begin : gen_summed_now
            assign ip_sums    = {ip_sum_6[31:16], ip_sum_7};
            assign lengths_ok = len_ok;
        end
    endgenerate
    wire [31:0] ip_sum_8 = two_of(ip_sums[47:32], ip_sums[31:16], ip_sums[15:0]);
    wire        sum_ok   = ip_sum_8[31:16] == ~ip_sum_8[15:0] || ip_sum_8 == 32'hFFFF_FFFF;

    assign seek_valid = r_header;
    assign seek_qpn   = {h[8*47 +: 8], h[8*48 +: 8], h[8*49 +: 8]};
    assign seek_root  = {h[8*54], h[8*55+4 +: 4]};

    always @(posedge clk) begin
        hdr_valid <= r_header;
        if (r_header) begin
            hdr_port     <= r_port;
            hdr_rocev2   <= !short_frame
                            && f_ethertype == 16'h0800 && f_ver_ihl == 8'h45 && f_protocol == 8'd17
                            && f_fragment[13:0] == 14'd0 && f_udp_dst == 16'd4791;
            hdr_qpn      <= seek_qpn;
            hdr_src_ip   <= {h[8*26 +: 8], h[8*27 +: 8], h[8*28 +: 8], h[8*29 +: 8]};
            hdr_dst_ip   <= {h[8*30 +: 8], h[8*31 +: 8], h[8*32 +: 8], h[8*33 +: 8]};
            hdr_pkey_ok  <= f_pkey == 16'hFFFF;
            hdr_ce       <= h[8*15 +: 2] == 2'd3;
            hdr_sum_ok   <= sum_ok;
            hdr_len_ok   <= lengths_ok;
            hdr_tver_ok  <= f_flags[3:0] == 4'd0;
            hdr_opcode   <= f_opcode;
            hdr_se       <= f_flags[7];
            hdr_pad      <= pad;
            hdr_psn      <= {h[8*51 +: 8], h[8*52 +: 8], h[8*53 +: 8]};
            hdr_ext      <= {h[8*54 +: 8], h[8*55 +: 8], h[8*56 +: 8], h[8*57 +: 8]};
            hdr_too_long <= is_send && long_pay;
            hdr_plen     <= plen[LEN_W-1:0];
            hdr_words    <= words;
        end
        if (rst) begin
            hdr_valid <= 1'b0;
        end
    end

    // ---- raw beats ----

    assign raw_valid = r_valid;
    assign raw_store = r_store;
    assign raw_imm   = r_imm;
    assign raw_data  = r_data;
    assign raw_keep  = r_keep;
    assign raw_last  = r_last;
    assign raw_err   = r_err;

    // ---- ICRC: from the IP header to the end of the datagram; what routers may change counts as ones ----

    // Where the datagram ends, seen from beat c. That is the one that is taken, so that the answers are in registers when its bytes
    // are; of wide beats it is the one in r_data, and they are masked in the cycle after raw_*. Beats before byte 54
    // count whatever the lengths say: until those are in view, and in a datagram so short that it is refused for its lengths, the
    // value is not used.
    localparam BEAT_W = 18 - LANE_W;
    wire [3:0]        c_idx;
    wire              c_more, c_ends;            // it goes on behind the beat; it ends there
    wire [LANE_W-1:0] c_last;                    // lane of its last byte
    generate
        if (BYTES > 64) begin : gen_beat_late
            reg [3:0]        idx_reg;
            reg [BEAT_W-1:0] beat_reg;
            reg [BEAT_W-1:0] next_beat;          // the number of the beat that comes; stays where no datagram reaches
            always @(posedge clk) begin
                if (take) begin
                    idx_reg   <= next_idx;
                    beat_reg  <= next_beat;
                    next_beat <= s_axis_tlast ? {BEAT_W{1'b0}} : next_beat[BEAT_W-1] ? next_beat : next_beat + {{(BEAT_W-1){1'b0}}, 1'b1};
                end
                if (rst) begin
                    next_beat <= {BEAT_W{1'b0}};
                end
            end
            wire [17:0] last = {2'd0, f_total_len} + 18'd13;
            assign c_idx  = idx_reg;
            assign c_more = last[17:LANE_W] > beat_reg;
            assign c_ends = last[17:LANE_W] == beat_reg;
            assign c_last = last[LANE_W-1:0];
        end else begin : gen_beat_now
            // A beat before: in the one that has the length from that, in those behind it from a register.
            localparam LENGTH_I = 16 / BYTES;
            localparam BEHIND_I = LENGTH_I + 1;
            localparam [3:0] LENGTH = LENGTH_I[3:0];
            // so long that the datagram reaches the beat behind that one, and goes on behind that
            localparam REACH_I  = BEHIND_I * BYTES - 13;
            localparam PASS_I   = REACH_I + BYTES;
            localparam [15:0] REACH = REACH_I[15:0];
            localparam [15:0] PASS  = PASS_I[15:0];
            wire [15:0] len  = {s_axis_tdata[8*(16%BYTES) +: 8], s_axis_tdata[8*(17%BYTES) +: 8]};
            // The datagram's last byte, counted from the beat behind the one that comes: beats from there on, none or less if it has ended.
            localparam FROM_I = (LENGTH_I + 2) * BYTES - 13;
            localparam [17:0] FROM = FROM_I[17:0];
            wire [17:0] last = {2'd0, len} - FROM;
            reg [17:0]  last_reg;
            reg         more_reg, ends_reg;
            wire        none = last_reg[17:LANE_W] == {(18-LANE_W){1'b0}};
            always @(posedge clk) begin
                if (take) begin
                    last_reg[LANE_W-1:0] <= next_idx == LENGTH ? last[LANE_W-1:0] : last_reg[LANE_W-1:0];
                    if (next_idx == LENGTH) begin
                        last_reg[17:LANE_W] <= last[17:LANE_W];
                    end else if (!last_reg[17]) begin
                        last_reg[17:LANE_W] <= last_reg[17:LANE_W] - {{(17-LANE_W){1'b0}}, 1'b1};
                    end
                    more_reg <= next_idx == LENGTH ? len >= PASS : !last_reg[17] && !none;
                    ends_reg <= next_idx == LENGTH ? len >= REACH && len < PASS : none;
                end
            end
            // The first beat of 64 bytes has it itself, and may be the only one.
            wire       has_it = BYTES == 64 && next_idx == LENGTH;
            wire [6:0] low    = {1'b0, len[5:0]} + 7'd13;
            wire       one    = len[15:6] == 10'd0 && !low[6];
            wire unused_low   = &{1'b0, low};
            assign c_idx  = next_idx;
            assign c_more = has_it ? !one : more_reg;
            assign c_ends = has_it ? one : ends_reg;
            assign c_last = has_it ? last[LANE_W-1:0] : last_reg[LANE_W-1:0];
        end
    endgenerate
    localparam [15:0] EARLY = ~(16'hFFFF << BEAT_A);    // of each beat, whether it is before the one with byte 54
    wire              c_early = EARLY[c_idx];
    // The lanes that it covers, in two steps: whole blocks of lanes, and lanes of the block in which it ends.
    localparam FINE_W = LANE_W / 2;
    localparam BLOCKS = BYTES >> FINE_W;
    localparam FINE   = 1 << FINE_W;
    wire [BLOCKS-1:0]      c_blocks = ~({BLOCKS{1'b1}} << c_last[LANE_W-1:FINE_W]);
    wire [FINE-1:0]        c_lanes  = ~({{(FINE-1){1'b1}}, 1'b0} << c_last[FINE_W-1:0]);
    reg  [BLOCKS:0]        x_blocks;             // bit i + 1: block i is covered to its end; bit 0: any is
    reg  [FINE-1:0]        x_lanes;
    reg  [LANE_W-1:0]      x_last;               // the lane of its last byte
    reg                    x_more, x_ends;
    reg                    x_first;
    always @(posedge clk) begin
        x_first  <= c_idx == 4'd0;
        x_blocks <= {{BLOCKS{c_early || c_more}} | ({BLOCKS{c_ends}} & c_blocks), c_early || c_more || c_ends};
        x_lanes  <= c_lanes;
        x_last   <= c_last[LANE_W-1:0];
        x_more   <= c_more;
        x_ends   <= c_ends;
    end

    // One bit a byte of the header: Ethernet's, which the ICRC leaves out, and those that routers may change:
    // ToS, TTL, IP checksum, UDP checksum, first byte of the QP word.
    localparam [63:0] ETHERNET = 64'h0000_0000_0000_3FFF;
    localparam [63:0] VARIABLE = 64'h0000_4300_0340_8000;

    wire [8*BYTES-1:0] x_data;
    generate
        if (BYTES > 64) begin : gen_late
            reg               valid_reg;
            reg [LANE_W-1:0]  tail_reg;
            reg [8*BYTES-1:0] data_reg;
            always @(posedge clk) begin
                valid_reg <= r_valid;
                tail_reg  <= ~x_last;
                data_reg  <= r_data;
            end
            assign x_data    = data_reg;
            assign crc_valid = valid_reg && x_blocks[0];
            assign crc_tail  = tail_reg;
        end else begin : gen_now
            assign x_data    = r_data;
            assign crc_valid = r_valid && x_blocks[0];
            assign crc_tail  = ~x_last;
        end
    endgenerate
    assign crc_first = x_first;

    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_crc_byte
            wire covered = x_blocks[b/FINE+1] || (x_blocks[b/FINE] && x_lanes[b%FINE]);
            if (b < 64) begin : gen_header
                wire [15:0] ethernet, variable;       // by beat
                for (n = 0; n < 16; n = n + 1) begin : gen_beat
                    if (n * BYTES + b < 64) begin : gen_inside
                        assign ethernet[n] = ETHERNET[n * BYTES + b];
                        assign variable[n] = VARIABLE[n * BYTES + b];
                    end else begin : gen_behind
                        assign ethernet[n] = 1'b0;
                        assign variable[n] = 1'b0;
                    end
                end
                reg zeros, ones;                      // like x_*
                always @(posedge clk) begin
                    zeros <= ethernet[c_idx];
                    ones  <= variable[c_idx];
                end
                assign crc_data[8*b +: 8] = (!covered || zeros) ? 8'h00 : ones ? 8'hFF : x_data[8*b +: 8];
            end else begin : gen_payload
                assign crc_data[8*b +: 8] = covered ? x_data[8*b +: 8] : 8'h00;
            end
        end
    endgenerate

    // ---- the end of a frame ----

    // What the datagram covers of the last beat is there with its bytes, or a cycle later. tkeep is contiguous.
    wire end_valid, end_err, end_holds;          // the last beat has the datagram's last byte, if that can lie there
    generate
        if (BYTES > 64) begin : gen_end_late
            // bytes in the beat: bit i of their number is set where tkeep ends between an odd multiple of 2**i and the next even one
            reg             valid_reg, err_reg;
            reg  [LANE_W:0] kept_reg;
            wire [LANE_W:0] kept;
            assign kept[LANE_W] = r_keep[BYTES-1];
            for (n = 0; n < LANE_W; n = n + 1) begin : gen_kept
                wire [(BYTES>>(n+1))-1:0] ends;
                for (b = 0; b < (BYTES >> (n + 1)); b = b + 1) begin : gen_end
                    assign ends[b] = r_keep[((2*b+1)<<n)-1] && !r_keep[((2*b+2)<<n)-1];
                end
                assign kept[n] = |ends;
            end
            always @(posedge clk) begin
                valid_reg <= r_valid && r_last && !rst;
                err_reg   <= r_err;
                kept_reg  <= kept;
            end
            assign end_valid = valid_reg;
            assign end_err   = err_reg;
            assign end_holds = kept_reg > {1'b0, x_last};
        end else begin : gen_end_now
            assign end_valid = r_valid && r_last;
            assign end_err   = r_err;
            assign end_holds = r_keep[x_last];
        end
    endgenerate
    wire end_len_ok = !x_more && (!x_ends || end_holds);

    localparam END_STEPS = BYTES > 64 ? EOF_DELAY : EOF_DELAY + 1;
    reg [END_STEPS-1:0] end_valid_reg, end_err_reg, end_len_ok_reg;
    assign eof_valid  = end_valid_reg[END_STEPS-1];
    assign eof_err    = end_err_reg[END_STEPS-1];
    assign eof_len_ok = end_len_ok_reg[END_STEPS-1];
    integer k;
    always @(posedge clk) begin
        end_valid_reg[0]  <= end_valid;
        end_err_reg[0]    <= end_err;
        end_len_ok_reg[0] <= end_len_ok;
        for (k = 1; k < END_STEPS; k = k + 1) begin
            end_valid_reg[k]  <= end_valid_reg[k-1];
            end_err_reg[k]    <= end_err_reg[k-1];
            end_len_ok_reg[k] <= end_len_ok_reg[k-1];
        end
        if (rst) begin
            end_valid_reg <= {END_STEPS{1'b0}};
        end
    end

    // what the engine does not look at: MAC addresses, IP ID, UDP source port and checksum, reserved bits
    wire unused_bits = &{1'b0, h, f_fragment, f_flags, words_wide, plen, spare};

endmodule

`default_nettype wire
