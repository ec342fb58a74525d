// SPDX-License-Identifier: Apache-2.0
//
// inc_icrc_insert: computes the ICRC of frames that the engine made and writes it into them.
//
// Contract
//   latency     2 cycles, 1 where BYTES is 64
//   throughput  1 beat per cycle, no bubbles
//   input       the frame's bytes, zero from the ICRC's place on; s_left says how many covered bytes come from this beat on,
//               and is 2 more than a multiple of 4, as header lengths make it
//   checksum    s_check is added to the bytes of s_data where the IP checksum lies, which the ICRC does not cover
//   bad         a frame whose s_bad is high with the beats where its ICRC lies leaves with all bits of the ICRC inverted
//   stall       m_ready low holds everything
//   tables      the CRC step and the removal of trailing zeros are in inc_crc32_BYTES and inc_crc32_tail_BYTES, wired to step_*
//               and tail_*; where BYTES is above 64 the step has a register behind step_data
//   reset       empty
//   not done    no FCS, no padding: the frame's length passes as it is
`default_nettype none

module inc_icrc_insert #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES  = 8,
    // bits of a port number
    parameter PORT_W = 2,
    // CRC register before the Ethernet header's 14 zeroed bytes
    parameter [31:0] INIT = 32'd0
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*BYTES-1:0] s_data,
    input  wire [15:0]        s_check,
    // bytes of the frame's last beat, 0 for all
    input  wire [$clog2(BYTES)-1:0] s_size,
    input  wire               s_first,
    input  wire               s_last,
    input  wire [PORT_W-1:0]  s_port,
    // one bit a beat that has bytes of the frame's first 64: it is that one
    input  wire [(BYTES > 64 ? 1 : 64 >> $clog2(BYTES))-1:0] s_front,
    input  wire [16:0]        s_left,
    input  wire               s_bad,

    output wire               step_en,
    output wire [8*BYTES-1:0] step_data,
    output wire [31:0]        step_state,
    input  wire [31:0]        step_next,
    output wire               tail_en,
    output wire [$clog2(BYTES)-3:0] tail_index,
    output wire [31:0]        tail_state,
    input  wire [31:0]        tail_crc,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*BYTES-1:0] m_data,
    output wire [$clog2(BYTES)-1:0] m_size,
    output wire               m_last,
    output wire [PORT_W-1:0]  m_port
);

    localparam LANE_W = $clog2(BYTES);
    // beats with such
    localparam BEATS  = BYTES > 64 ? 1 : 64 >> $clog2(BYTES);
    localparam [63:0] ETHERNET = 64'h0000_0000_0000_3FFF;
    // ToS, TTL, IP checksum, UDP checksum, first byte of the QP word: count as ones
    localparam [63:0] VARIABLE = 64'h0000_4300_0340_8000;

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << LANE_W) != BYTES) begin : gen_bad_bytes
            $error("inc_icrc_insert: BYTES must be a power of two, 8 to 2048");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_icrc_insert: PORT_W must be at least 1");
        end
    endgenerate
`endif

    // with the IP checksum
    localparam CHECK_LANE = 24 % BYTES;
    wire [8*BYTES-1:0] s_bytes = s_data | ({{(8*BYTES-16){1'b0}}, s_check} << (8 * CHECK_LANE));

    // stage F: the beat whose bytes are in the step's register, which beats above 64 bytes have; stage C: those in the CRC;
    // stage O: with the ICRC, which beats from 64 bytes on get on their way out
    wire               f_valid, f_first, f_last, f_bad;
    wire [8*BYTES-1:0] f_data;
    wire [LANE_W-1:0]  f_size;
    wire [PORT_W-1:0]  f_port;
    wire [16:0]        f_left;
    reg                c_valid, c_last, c_bad;
    reg  [8*BYTES-1:0] c_data;
    reg  [LANE_W-1:0]  c_size;
    reg  [PORT_W-1:0]  c_port;
    reg  [BYTES/4:0]   c_place;
    reg  [31:0]        state_reg;

    wire o_free;
    wire c_free = !c_valid || o_free;
    wire f_take = f_valid && c_free;

    generate
        if (BYTES > 64) begin : gen_wide
            reg               valid_reg, first_reg, last_reg, bad_reg;
            reg [8*BYTES-1:0] data_reg;
            reg [LANE_W-1:0]  size_reg;
            reg [PORT_W-1:0]  port_reg;
            reg [16:0]        left_reg;
            wire              free = !valid_reg || c_free;
            assign s_ready = free;
            always @(posedge clk) begin
                if (s_valid && free) begin
                    data_reg  <= s_bytes;
                    size_reg  <= s_size;
                    first_reg <= s_first;
                    last_reg  <= s_last;
                    port_reg  <= s_port;
                    left_reg  <= s_left;
                    bad_reg   <= s_bad;
                end
                valid_reg <= (s_valid && free) || (valid_reg && !c_free);
                if (rst) begin
                    valid_reg <= 1'b0;
                end
            end
            assign f_valid = valid_reg;
            assign f_first = first_reg;
            assign f_last  = last_reg;
            assign f_bad   = bad_reg;
            assign f_data  = data_reg;
            assign f_size  = size_reg;
            assign f_port  = port_reg;
            assign f_left  = left_reg;
        end else begin : gen_narrow
            assign s_ready = c_free;
            assign f_valid = s_valid;
            assign f_first = s_first;
            assign f_last  = s_last;
            assign f_bad   = s_bad;
            assign f_data  = s_bytes;
            assign f_size  = s_size;
            assign f_port  = s_port;
            assign f_left  = s_left;
        end
    endgenerate

    wire covers = !f_left[16] && f_left != 17'd0;

    assign step_en    = s_valid && s_ready;
    assign step_state = f_first ? INIT : state_reg;

    genvar b, n;
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_crc_byte
            if (b < 64) begin : gen_header
                wire [BEATS-1:0] ethernet, variable;  // by beat
                for (n = 0; n < BEATS; n = n + 1) begin : gen_beat
                    assign ethernet[n] = ETHERNET[n * BYTES + b];
                    assign variable[n] = VARIABLE[n * BYTES + b];
                end
                assign step_data[8*b +: 8] = |(s_front & ethernet) ? 8'h00 : |(s_front & variable) ? 8'hFF : s_data[8*b +: 8];
            end else begin : gen_payload
                assign step_data[8*b +: 8] = s_data[8*b +: 8];
            end
        end
    endgenerate

    // Zeros behind the last covered byte in its beat: -left modulo BYTES, 2 more than a multiple of 4.
    wire [LANE_W-1:0] zeros = {LANE_W{1'b0}} - f_left[LANE_W-1:0];
    assign tail_en    = f_take;
    assign tail_index = zeros[LANE_W-1:2];
    assign tail_state = state_reg;

    // The ICRC's first byte lies in lane `left`: in one of lanes 2, 6, 10, …, or -2 when its first half lay in the beat before.
    // So a lane can only hold one of its bytes. Place i is lane 4 * i - 2.
    wire [BYTES/4:0]   place;
    wire [31:0]        crc = tail_crc ^ {32{c_bad}};
    wire [8*BYTES-1:0] placed;
    generate
        for (b = 0; b <= BYTES / 4; b = b + 1) begin : gen_place
            localparam [16:0] FIRST = 4 * b - 2;
            assign place[b] = f_left == FIRST;
        end
        for (b = 0; b < BYTES; b = b + 1) begin : gen_placed
            localparam BYTE = (b + 2) % 4;           // byte of the ICRC: (b - 2) modulo 4
            assign placed[8*b +: 8] = crc[8*BYTE +: 8] & {8{c_place[(b+2)/4]}};
        end
    endgenerate

    always @(posedge clk) begin
        if (f_take) begin
            c_data  <= f_data;
            c_size  <= f_size;
            c_last  <= f_last;
            c_port  <= f_port;
            c_place <= place;
            c_bad   <= f_bad;
            if (covers) begin
                state_reg <= step_next;
            end
        end
        c_valid <= f_take || (c_valid && !o_free);
        if (rst) begin
            c_valid <= 1'b0;
        end
    end

    generate
        if (BYTES >= 64) begin : gen_out_now
            assign o_free  = m_ready;
            assign m_valid = c_valid;
            assign m_data  = c_data | placed;
            assign m_size  = c_size;
            assign m_last  = c_last;
            assign m_port  = c_port;
        end else begin : gen_out_next
            reg               valid_reg, last_reg;
            reg [8*BYTES-1:0] data_reg;
            reg [LANE_W-1:0]  size_reg;
            reg [PORT_W-1:0]  port_reg;
            assign o_free  = !valid_reg || m_ready;
            assign m_valid = valid_reg;
            assign m_data  = data_reg;
            assign m_size  = size_reg;
            assign m_last  = last_reg;
            assign m_port  = port_reg;
            always @(posedge clk) begin
                if (c_valid && o_free) begin
                    data_reg <= c_data | placed;
                    size_reg <= c_size;
                    last_reg <= c_last;
                    port_reg <= c_port;
                end
                valid_reg <= (c_valid && o_free) || (valid_reg && !m_ready);
                if (rst) begin
                    valid_reg <= 1'b0;
                end
            end
        end
    endgenerate

    wire unused_bits = &{1'b0, zeros};

endmodule

`default_nettype wire
