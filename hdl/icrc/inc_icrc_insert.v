// SPDX-License-Identifier: Apache-2.0
//
// inc_icrc_insert: computes the ICRC of frames that the engine made and writes it into them.
//
// Contract
//   latency     2 cycles
//   throughput  1 beat per cycle, no bubbles
//   input       the frame's bytes, zero from the ICRC's place on; s_left says how many covered bytes come from this beat on,
//               and is 2 more than a multiple of 4, as header lengths make it
//   stall       m_ready low holds everything
//   tables      the CRC step and the removal of trailing zeros are in inc_crc32_BYTES and inc_crc32_tail_BYTES
//   reset       empty
//   not done    no FCS, no padding: the frame's length and tkeep pass as they are
`default_nettype none

module inc_icrc_insert #(
    // bytes of a beat; a power of two, 8 to 256
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
    input  wire [BYTES-1:0]   s_keep,
    input  wire               s_first,
    input  wire               s_last,
    input  wire [PORT_W-1:0]  s_port,
    input  wire [3:0]         s_index,
    input  wire [16:0]        s_left,

    output wire [31:0]        step_state,
    output wire [8*BYTES-1:0] step_data,
    input  wire [31:0]        step_next,
    output wire [31:0]        tail_state,
    output wire [$clog2(BYTES)-3:0] tail_index,
    input  wire [31:0]        tail_crc,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*BYTES-1:0] m_data,
    output wire [BYTES-1:0]   m_keep,
    output wire               m_last,
    output wire [PORT_W-1:0]  m_port
);

    localparam LANE_W = $clog2(BYTES);
    localparam [63:0] ETHERNET = 64'h0000_0000_0000_3FFF;
    // ToS, TTL, IP checksum, UDP checksum, first byte of the QP word: count as ones
    localparam [63:0] VARIABLE = 64'h0000_4300_0340_8000;

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 256 || (1 << LANE_W) != BYTES) begin : gen_bad_bytes
            $error("inc_icrc_insert: BYTES must be a power of two, 8 to 256");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_icrc_insert: PORT_W must be at least 1");
        end
    endgenerate
`endif

    // stage C: the beat whose bytes are in the CRC; stage O: with the ICRC
    reg               c_valid, c_last;
    reg [8*BYTES-1:0] c_data;
    reg [BYTES-1:0]   c_keep;
    reg [PORT_W-1:0]  c_port;
    reg [16:0]        c_left;
    reg [31:0]        state_reg;
    reg               o_valid, o_last;
    reg [8*BYTES-1:0] o_data;
    reg [BYTES-1:0]   o_keep;
    reg [PORT_W-1:0]  o_port;

    wire o_free = !o_valid || m_ready;
    wire c_free = !c_valid || o_free;
    wire take   = s_valid && c_free;

    assign s_ready = c_free;

    wire covers = !s_left[16] && s_left != 17'd0;

    assign step_state = s_first ? INIT : state_reg;

    genvar b, n;
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_crc_byte
            wire [15:0] ethernet, variable;       // by beat
            for (n = 0; n < 16; n = n + 1) begin : gen_beat
                if (n * BYTES + b < 64) begin : gen_header
                    assign ethernet[n] = ETHERNET[n * BYTES + b];
                    assign variable[n] = VARIABLE[n * BYTES + b];
                end else begin : gen_payload
                    assign ethernet[n] = 1'b0;
                    assign variable[n] = 1'b0;
                end
            end
            assign step_data[8*b +: 8] = ethernet[s_index] ? 8'h00 : variable[s_index] ? 8'hFF : s_data[8*b +: 8];
        end
    endgenerate

    // Zeros behind the last covered byte in its beat: -left modulo BYTES, 2 more than a multiple of 4.
    wire [LANE_W-1:0] zeros = {LANE_W{1'b0}} - c_left[LANE_W-1:0];
    assign tail_state = state_reg;
    assign tail_index = zeros[LANE_W-1:2];

    // The ICRC's first byte lies in lane `left`, so a lane can only hold one of its bytes.
    wire [8*BYTES-1:0] placed;
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_place
            localparam        BYTE  = (b + 2) % 4;           // byte of the ICRC: (b - 2) modulo 4
            localparam [16:0] FIRST = b - ((b + 2) % 4);     // lane of its first byte, -2 in lanes 0 and 1
            assign placed[8*b +: 8] = c_left == FIRST ? tail_crc[8*BYTE +: 8] : 8'h00;
        end
    endgenerate

    always @(posedge clk) begin
        if (take) begin
            c_data <= s_data;
            c_keep <= s_keep;
            c_last <= s_last;
            c_port <= s_port;
            c_left <= s_left;
            if (covers) begin
                state_reg <= step_next;
            end
        end
        if (c_valid && o_free) begin
            o_data <= c_data | placed;
            o_keep <= c_keep;
            o_last <= c_last;
            o_port <= c_port;
        end
        c_valid <= take || (c_valid && !o_free);
        o_valid <= (c_valid && o_free) || (o_valid && !m_ready);
        if (rst) begin
            c_valid <= 1'b0;
            o_valid <= 1'b0;
        end
    end

    assign m_valid = o_valid;
    assign m_data  = o_data;
    assign m_keep  = o_keep;
    assign m_last  = o_last;
    assign m_port  = o_port;

    wire unused_bits = &{1'b0, zeros};

endmodule

`default_nettype wire
