// SPDX-License-Identifier: Apache-2.0
//
// inc_translate_header: writes the header of a frame that the engine makes, from the out endpoint's record.
//
// Contract
//   latency     req_valid in cycle 0, the header on hdr_* in cycle 2
//   throughput  a header in 2 cycles, or two in 3 that are popped in the cycle in which they are there; with ONE_BEAT, and
//               hdr_pop in the path to req_ready, a header per cycle
//   header      Ethernet, IPv4, UDP (checksum 0), BTH, and AETH or immediate: byte i at hdr_bytes[8*i +: 8]. In place of the IP
//               checksum are zeros: it is the inverse of the one's complement sum of hdr_sum_a and hdr_sum_b
//   stall       req_ready low: a header stands in the register, one more waits with its record, and no third is taken; hdr_pop
//   table       written word by word through tbl_*. The words of an endpoint that there is, but EP_CTRL and EP_LOCAL_QPN, are read through
//               get_*: get_valid stands, with the rest, until `got`, in the next cycle, in which got_data is the word, however long headers
//               wait. req_ready is low meanwhile, and the record of a header that waited is read again, as it is then
//   one port    with ONE_PORT tables and offsets are in memories of one port: in a cycle in which tbl_ep_we or off_we is high req_ready
//               is low, and get_* waits
//   PSN         as requested; with req_in_band the endpoint's offset of range req_rng is added, that of what it sends (req_dir 1) or
//               hears (0); offsets come on off_* before the first request that needs them, and go for a range when the fourth after it opens.
//               With SINGLE an endpoint has one, off_out, whatever the range and the direction
//   reset       no header; the table's contents are unknown until written
//   not done    the ICRC and the sum's last addition; lengths are not checked
`default_nettype none

module inc_translate_header #(
    // bits of a port number, 1 to 8
    parameter PORT_W  = 2,
    // bits of a payload length, at most 15
    parameter LEN_W   = 11,
    // bits of a payload's number of words
    parameter WORDS_W = 8,
    // bits of an endpoint's number in its group
    parameter EP_W    = 3,
    // bits of {group, number}
    parameter EI_W    = 4,
    // endpoints of a group, and groups: the tables have room for no more
    parameter MASK_W  = 5,
    parameter GROUPS  = 2,
    // 1: there are in-band groups, and offsets
    parameter IN_BAND = 0,
    // 1: an endpoint has one offset, for all ranges and both directions
    parameter SINGLE  = 0,
    // 1: the last additions, of an offset and of the IP header's sum, are behind the header's register, so that the tables' memories have
    // the cycle before it to themselves
    parameter LATE    = 0,
    // 1: the MACs' tables are block RAM, where LUTs are dearer
    parameter BLOCK   = 0,
    // 1: frames may be of one beat, so that a header is popped in each cycle
    parameter ONE_BEAT = 0,
    // 1: tables and offsets are in memories of one port, which take half the area; a write makes requests wait
    parameter ONE_PORT = 0
) (
    input  wire               clk,
    input  wire               rst,

    // control plane
    input  wire [15:0]        cfg_ip_id,
    input  wire               tbl_ep_we,
    input  wire [EI_W-1:0]    tbl_index,
    input  wire [3:0]         tbl_word,
    input  wire [31:0]        tbl_data,
    input  wire               get_valid,
    input  wire [EI_W-1:0]    get_index,
    input  wire [3:0]         get_word,
    output wire               got,
    output reg  [31:0]        got_data,

    // offsets of an endpoint in a range, from Control
    input  wire               off_we,
    input  wire [EI_W-1:0]    off_ei,
    input  wire [1:0]         off_rng,
    input  wire [23:0]        off_in,
    input  wire [23:0]        off_out,

    output wire               req_ready,
    input  wire               req_valid,
    input  wire [EI_W-1:0]    req_ei,
    input  wire [7:0]         req_opcode,
    input  wire               req_se,
    input  wire [1:0]         req_pad,
    input  wire               req_ce,
    input  wire [23:0]        req_psn,
    input  wire               req_in_band,
    input  wire [1:0]         req_rng,
    input  wire               req_dir,
    input  wire [31:0]        req_ext,
    input  wire [LEN_W-1:0]   req_plen,
    input  wire [WORDS_W-1:0] req_words,

    output wire               hdr_valid,
    input  wire               hdr_pop,
    output wire [PORT_W-1:0]  hdr_port,
    output wire [8*58-1:0]    hdr_bytes,
    output wire [15:0]        hdr_sum_a,
    output wire [15:0]        hdr_sum_b,
    // AETH or immediate present: the payload starts at byte 58, not 54
    output wire               hdr_long,
    // payload bytes and words
    output wire [LEN_W-1:0]   hdr_plen,
    output wire [WORDS_W-1:0] hdr_words,
    // bytes of the frame before its ICRC
    output wire [15:0]        hdr_covered,
    // bytes of the whole frame, padding included
    output wire [15:0]        hdr_total
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORT_W > 8) begin : gen_bad_port
            $error("inc_translate_header: PORT_W must be 1 to 8");
        end
        if (LEN_W < 1 || LEN_W > 15) begin : gen_bad_len
            $error("inc_translate_header: LEN_W must be 1 to 15");
        end
        if (EP_W < 1 || EI_W < EP_W || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_index
            $error("inc_translate_header: MASK_W must be at most 2**EP_W, EP_W at most EI_W");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W)) || GROUPS * MASK_W < 2) begin : gen_bad_groups
            $error("inc_translate_header: GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least");
        end
        if (IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_in_band
            $error("inc_translate_header: IN_BAND must be 0 or 1");
        end
        if (SINGLE < 0 || SINGLE > 1) begin : gen_bad_single
            $error("inc_translate_header: SINGLE must be 0 or 1");
        end
        if (LATE < 0 || LATE > 1) begin : gen_bad_late
            $error("inc_translate_header: LATE must be 0 or 1");
        end
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_translate_header: ONE_PORT must be 0 or 1");
        end
        if (ONE_BEAT < 0 || ONE_BEAT > 1) begin : gen_bad_one_beat
            $error("inc_translate_header: ONE_BEAT must be 0 or 1");
        end
        if (BLOCK < 0 || BLOCK + ONE_PORT > 1) begin : gen_bad_block
            $error("inc_translate_header: BLOCK must be 0 or 1, and 0 with ONE_PORT");
        end
    endgenerate
`endif

    localparam RECORDS = GROUPS * MASK_W;
    localparam INDEX_W = $clog2(RECORDS);
    // words of the tables and their bits, as the register map has them
    // contract: registers 2 3
    localparam F_EP_CTRL_PORT = 8, F_EP_REMOTE_QPN_QPN = 0, W_EP_REMOTE_QPN_QPN = 24, F_EP_LOCAL_MAC_HI_OCTETS = 0,
               W_EP_LOCAL_MAC_HI_OCTETS = 16, F_EP_REMOTE_MAC_HI_OCTETS = 0, W_EP_REMOTE_MAC_HI_OCTETS = 16,
               F_EP_HEADER_UDP_SOURCE_PORT = 0, W_EP_HEADER_UDP_SOURCE_PORT = 16, F_EP_HEADER_TTL = 16, W_EP_HEADER_TTL = 8,
               F_EP_HEADER_TOS = 24, W_EP_HEADER_TOS = 8;
    localparam [3:0] WORD_EP_CTRL = 4'd0, WORD_EP_REMOTE_QPN = 4'd2, WORD_EP_LOCAL_IP = 4'd3, WORD_EP_REMOTE_IP = 4'd4,
                     WORD_EP_LOCAL_MAC_LO = 4'd5, WORD_EP_LOCAL_MAC_HI = 4'd6, WORD_EP_REMOTE_MAC_LO = 4'd7,
                     WORD_EP_REMOTE_MAC_HI = 4'd8, WORD_EP_HEADER = 4'd9;
    // contract: end

    // a request whose header is not in the register; whether what the tables show is its record
    reg       q_valid, q_read;
    reg       hdr_valid_reg;
    // the registers read a word in place of a request
    reg       got_reg;
    reg [3:0] got_word_reg;
    // the memories' only port writes
    wire      taken   = ONE_PORT != 0 && (tbl_ep_we || (IN_BAND != 0 && off_we));
    wire      get     = get_valid && !got_reg && !taken;
    wire      again   = q_valid && !q_read;
    wire      hdr_go  = !hdr_valid_reg || hdr_pop;
    // there is room for a request, whether a header is popped or not: that comes late, and counts where frames may be of one beat alone
    wire      q_loads = !q_valid || (q_read && (ONE_BEAT != 0 ? hdr_go : !hdr_valid_reg));
    wire      take    = req_valid && req_ready;
    wire      look    = take || get || (again && !taken);
    assign req_ready = q_loads && !get && !taken;
    assign got       = got_reg;

    // ---- table ----

    // the record that is read, of a request that waits if the registers read another meanwhile; what is written for an endpoint that no group has is not kept
    reg  [EI_W-1:0]    q_ei;
    wire [INDEX_W-1:0] rd_at, req_at, wr_at;
    wire               rd_there, req_there, wr_there;
    wire               we = tbl_ep_we && wr_there;
    wire               unused_there = &{1'b0, rd_there, req_there};
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_rd_index (
        .ei(get ? get_index : again ? q_ei : req_ei), .index(rd_at), .present(rd_there));
    // of what is read for requests alone
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_req_index (
        .ei(req_ei), .index(req_at), .present(req_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_wr_index (
        .ei(tbl_index), .index(wr_at), .present(wr_there));

    wire [PORT_W-1:0] ep_port;
    wire [23:0] ep_remote_qpn;
    wire [31:0] ep_local_ip, ep_remote_ip, ep_local_mac_lo, ep_remote_mac_lo, ep_header;
    wire [15:0] ep_local_mac_hi, ep_remote_mac_hi;

    inc_table #(.WORDS(RECORDS), .BITS(PORT_W), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_port (
        .clk(clk), .we(we && tbl_word == WORD_EP_CTRL), .waddr(wr_at), .wdata(tbl_data[F_EP_CTRL_PORT +: PORT_W]),
        .re(take), .raddr(req_at), .rdata(ep_port));
    inc_table #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_remote_qpn (
        .clk(clk), .we(we && tbl_word == WORD_EP_REMOTE_QPN), .waddr(wr_at),
        .wdata(tbl_data[F_EP_REMOTE_QPN_QPN +: W_EP_REMOTE_QPN_QPN]),
        .re(look), .raddr(rd_at), .rdata(ep_remote_qpn));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_local_ip (
        .clk(clk), .we(we && tbl_word == WORD_EP_LOCAL_IP), .waddr(wr_at), .wdata(tbl_data),
        .re(look), .raddr(rd_at), .rdata(ep_local_ip));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_remote_ip (
        .clk(clk), .we(we && tbl_word == WORD_EP_REMOTE_IP), .waddr(wr_at), .wdata(tbl_data),
        .re(look), .raddr(rd_at), .rdata(ep_remote_ip));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT), .BLOCK(BLOCK)) u_local_mac_lo (
        .clk(clk), .we(we && tbl_word == WORD_EP_LOCAL_MAC_LO), .waddr(wr_at), .wdata(tbl_data),
        .re(look), .raddr(rd_at), .rdata(ep_local_mac_lo));
    inc_table #(.WORDS(RECORDS), .BITS(16), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT), .BLOCK(BLOCK)) u_local_mac_hi (
        .clk(clk), .we(we && tbl_word == WORD_EP_LOCAL_MAC_HI), .waddr(wr_at),
        .wdata(tbl_data[F_EP_LOCAL_MAC_HI_OCTETS +: W_EP_LOCAL_MAC_HI_OCTETS]),
        .re(look), .raddr(rd_at), .rdata(ep_local_mac_hi));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT), .BLOCK(BLOCK)) u_remote_mac_lo (
        .clk(clk), .we(we && tbl_word == WORD_EP_REMOTE_MAC_LO), .waddr(wr_at), .wdata(tbl_data),
        .re(look), .raddr(rd_at), .rdata(ep_remote_mac_lo));
    inc_table #(.WORDS(RECORDS), .BITS(16), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT), .BLOCK(BLOCK)) u_remote_mac_hi (
        .clk(clk), .we(we && tbl_word == WORD_EP_REMOTE_MAC_HI), .waddr(wr_at),
        .wdata(tbl_data[F_EP_REMOTE_MAC_HI_OCTETS +: W_EP_REMOTE_MAC_HI_OCTETS]),
        .re(look), .raddr(rd_at), .rdata(ep_remote_mac_hi));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_header (
        .clk(clk), .we(we && tbl_word == WORD_EP_HEADER), .waddr(wr_at), .wdata(tbl_data),
        .re(look), .raddr(rd_at), .rdata(ep_header));

    // ---- the request waits for its record, and until the header before it is popped ----

    reg               q_se, q_ce;
    reg [7:0]         q_opcode;
    reg               is_ack, is_cnp, is_long;
    reg [1:0]         q_pad;
    reg [23:0]        q_psn;
    reg [31:0]        q_ext;
    reg [LEN_W-1:0]   q_plen;
    reg [WORDS_W-1:0] q_words;

    always @(posedge clk) begin
        q_valid  <= take || (q_valid && !(q_read && hdr_go));
        q_read   <= !get && (q_read || take || !taken);
        if (q_loads) begin
            q_ei     <= req_ei;
            q_se     <= req_se;
            q_ce     <= req_ce;
            q_opcode <= req_opcode;
            is_ack   <= req_opcode == 8'h11;
            is_cnp   <= req_opcode == 8'h81;
            is_long  <= req_opcode == 8'h11 || req_opcode == 8'h03 || req_opcode == 8'h05;
            q_pad    <= req_pad;
            q_psn    <= req_psn;
            q_ext    <= req_ext;
            q_plen   <= req_plen;
            q_words  <= req_words;
        end
        if (rst) begin
            q_valid <= 1'b0;
        end
    end

    // ---- the PSN on this endpoint's wire ----

    wire [23:0] offset;
    wire [23:0] early;        // what of it is added before the header's register
    generate
        if (IN_BAND != 0) begin : gen_in_band
            reg         q_in_band;
            wire [INDEX_W-1:0] off_at;
            wire               off_there;
            inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_off_index (
                .ei(off_ei), .index(off_at), .present(off_there));
            wire [23:0] q_offset;
            always @(posedge clk) begin
                if (q_loads) begin
                    q_in_band <= req_in_band;
                end
            end
            assign offset = q_offset & {24{q_in_band}};
            if (SINGLE != 0) begin : gen_single
                inc_table #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_offsets (
                    .clk(clk), .we(off_we && off_there), .waddr(off_at), .wdata(off_out),
                    .re(take), .raddr(req_at), .rdata(q_offset));
                wire unused_range = &{1'b0, off_rng, off_in, req_rng, req_dir};
            end else begin : gen_ranges
                wire [23:0] q_in, q_out;
                reg         q_dir;
                inc_table #(.WORDS(4 * RECORDS), .BITS(48), .ADDR_W(INDEX_W + 2), .ONE_PORT(ONE_PORT)) u_offsets (
                    .clk(clk), .we(off_we && off_there), .waddr({off_at, off_rng}), .wdata({off_in, off_out}),
                    .re(take), .raddr({req_at, req_rng}), .rdata({q_in, q_out}));
                always @(posedge clk) begin
                    if (q_loads) begin
                        q_dir <= req_dir;
                    end
                end
                assign q_offset = q_dir ? q_in : q_out;
            end
        end else begin : gen_fixed
            assign offset = 24'd0;
            wire unused_offset = &{1'b0, off_we, off_ei, off_rng, off_in, off_out, req_in_band, req_rng, req_dir};
        end
    endgenerate

    always @* begin
        case (got_word_reg)
            WORD_EP_REMOTE_QPN:    got_data = {{(32-W_EP_REMOTE_QPN_QPN){1'b0}}, ep_remote_qpn};
            WORD_EP_LOCAL_IP:      got_data = ep_local_ip;
            WORD_EP_REMOTE_IP:     got_data = ep_remote_ip;
            WORD_EP_LOCAL_MAC_LO:  got_data = ep_local_mac_lo;
            WORD_EP_LOCAL_MAC_HI:  got_data = {{(32-W_EP_LOCAL_MAC_HI_OCTETS){1'b0}}, ep_local_mac_hi};
            WORD_EP_REMOTE_MAC_LO: got_data = ep_remote_mac_lo;
            WORD_EP_REMOTE_MAC_HI: got_data = {{(32-W_EP_REMOTE_MAC_HI_OCTETS){1'b0}}, ep_remote_mac_hi};
            default:               got_data = ep_header;
        endcase
    end

    always @(posedge clk) begin
        got_reg      <= get && !rst;
        got_word_reg <= get_word;
    end

    // ---- write ----

    wire is_data = !is_ack && !is_cnp;

    // Every length is the payload's and one number more: headers, AETH or immediate, a CNP's reserved bytes (zero, like absent
    // payload), the ICRC, and pad bytes in the low bits. UDP: 24, 28 or 40; IP: 20 more; before the ICRC: 30; the frame: 34.
    wire        over      = q_pad[1];                 // of the two lowest bits, where these are not a multiple of 4
    wire [1:0]  pad_and_2 = {!q_pad[1], q_pad[0]};
    wire [4:0]  until_crc = is_cnp ? (over ? 5'd18 : 5'd17) : is_long ? (over ? 5'd15 : 5'd14) : (over ? 5'd14 : 5'd13);
    wire [4:0]  whole     = is_cnp ? (over ? 5'd19 : 5'd18) : is_long ? (over ? 5'd16 : 5'd15) : (over ? 5'd15 : 5'd14);
    wire [15:0] plen      = {{(16-LEN_W){1'b0}}, q_plen};
    wire [15:0] udp_len   = {10'd0, is_cnp, !is_cnp, 1'b1, is_long, q_pad} + plen;
    wire [15:0] total_len = {10'd0, 1'b1, is_long || is_cnp, !is_long, !is_long, q_pad} + plen;
    wire [15:0] covered   = {9'd0, until_crc, pad_and_2} + plen;
    wire [15:0] unpadded  = {9'd0, whole, pad_and_2} + plen;
    // less than two bytes behind the shorter header
    wire        padded    = !is_long && !is_cnp && plen[15:1] == 15'd0 && !q_pad[1] && !(plen[0] && q_pad[0]);
    wire [15:0] total     = padded ? 16'd60 : unpadded;

    wire [7:0]  ep_tos = ep_header[F_EP_HEADER_TOS +: W_EP_HEADER_TOS];
    wire [7:0]  tos = q_ce ? {ep_tos[7:2], 2'b11} : ep_tos;
    wire [7:0]  ttl = ep_header[F_EP_HEADER_TTL +: W_EP_HEADER_TTL];
    wire [15:0] udp_src = ep_header[F_EP_HEADER_UDP_SOURCE_PORT +: W_EP_HEADER_UDP_SOURCE_PORT];

    // The sum of the IP header's 16-bit words, as two numbers: adding them here would take too long. Three become two of the same
    // one's complement sum, without a carry that runs: what leaves at the top comes in below. What the table says passes four
    // of them; the total length, which is a sum itself, comes last.
    function [31:0] two_of;
        input [15:0] x, y, z;
        reg   [15:0] carry;
        begin
            carry  = (x & y) | (x & z) | (y & z);
            two_of = {carry[14:0], carry[15], x ^ y ^ z};
        end
    endfunction
    // addresses; TTL and ToS | version and IHL, DF, UDP | ID
    wire [31:0] sum_1 = two_of(ep_local_ip[31:16], ep_local_ip[15:0], ep_remote_ip[31:16]);
    wire [31:0] sum_2 = two_of({ttl, tos}, 16'h8511, cfg_ip_id);
    wire [31:0] sum_3 = two_of(sum_1[31:16], sum_1[15:0], ep_remote_ip[15:0]);
    wire [31:0] sum_4 = two_of(sum_2[31:16], sum_2[15:0], sum_3[31:16]);
    wire [31:0] sum_5 = two_of(sum_4[31:16], sum_4[15:0], sum_3[15:0]);

    wire [31:0] ext = is_long ? q_ext : 32'd0;

    // ---- what differs from header to header waits in a register, first byte of the frame in the most significant place; what is the same in all of
    // them is put between it behind that ----

    // MACs, ToS, TTL, addresses, UDP source port, opcode, SE, pad, whether it is a CNP and whether data, QPN, extension; total length, ID, UDP length,
    // PSN; the rest as on hdr_*
    localparam FIELDS_W = 48 + 48 + 8 + 8 + 32 + 32 + 16 + 8 + 1 + 2 + 1 + 1 + 24 + 32;
    localparam FIXED_W  = FIELDS_W + 16 + 16 + 16 + 24 + PORT_W + 32 + 1 + LEN_W + WORDS_W + 32;
    localparam ENTRY_W  = FIXED_W + (LATE != 0 && IN_BAND != 0 ? 24 : 0);

    wire [FIELDS_W-1:0] fields;
    wire [15:0]         head_total_len, head_ip_id, head_udp_len;
    wire [23:0]         head_psn, psn;
    wire [31:0]         sum_in, sum_out;
    wire [ENTRY_W-1:0]  entry_in;
    reg  [ENTRY_W-1:0]  entry;

    assign entry_in[FIXED_W-1:0] = {
        ep_remote_mac_hi, ep_remote_mac_lo, ep_local_mac_hi, ep_local_mac_lo, tos, ttl, ep_local_ip, ep_remote_ip, udp_src,
        q_opcode, q_se, q_pad, is_cnp, is_data, ep_remote_qpn, ext,
        total_len, cfg_ip_id, udp_len, q_psn + early, ep_port, sum_in, is_long, q_plen, q_words, covered, total};
    assign {fields, head_total_len, head_ip_id, head_udp_len, head_psn, hdr_port, sum_out, hdr_long, hdr_plen, hdr_words, hdr_covered, hdr_total}
        = entry[FIXED_W-1:0];

    wire [95:0] macs;
    wire [7:0]  head_tos, head_ttl, head_opcode;
    wire [63:0] addresses;
    wire [15:0] head_udp_src;
    wire [23:0] head_qpn;
    wire [31:0] head_ext;
    wire [1:0]  head_pad;
    wire        head_se, head_cnp, head_data;
    assign {macs, head_tos, head_ttl, addresses, head_udp_src, head_opcode, head_se, head_pad, head_cnp, head_data, head_qpn, head_ext} = fields;

    wire [8*58-1:0] wire_order = {
        macs, 16'h0800,
        8'h45, head_tos, head_total_len, head_ip_id, 16'h4000, head_ttl, 8'd17, 16'd0, addresses,
        head_udp_src, 16'd4791, head_udp_len, 16'd0,
        head_opcode, head_se, 1'b0, head_pad, 4'd0, 16'hFFFF, 1'b0, head_cnp, 6'd0, head_qpn, head_data, 7'd0, psn,
        head_ext};
    genvar b;
    generate
        for (b = 0; b < 58; b = b + 1) begin : gen_byte
            assign hdr_bytes[8*b +: 8] = wire_order[8*(57-b) +: 8];
        end

        if (LATE != 0) begin : gen_late
            assign sum_in                 = sum_5;
            assign {hdr_sum_a, hdr_sum_b} = two_of(sum_out[31:16], sum_out[15:0], head_total_len);
        end else begin : gen_early
            assign sum_in                 = two_of(sum_5[31:16], sum_5[15:0], total_len);
            assign {hdr_sum_a, hdr_sum_b} = sum_out;
        end
        if (LATE != 0 && IN_BAND != 0) begin : gen_late_psn
            assign early                   = 24'd0;
            assign entry_in[FIXED_W +: 24] = offset;
            assign psn                     = head_psn + entry[FIXED_W +: 24];
        end else begin : gen_early_psn
            assign early = offset;
            assign psn   = head_psn;
        end
    endgenerate

    assign hdr_valid = hdr_valid_reg;
    always @(posedge clk) begin
        if (hdr_go) begin
            entry         <= entry_in;
            hdr_valid_reg <= q_valid && q_read;
        end
        if (rst) begin
            hdr_valid_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
