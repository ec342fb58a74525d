// SPDX-License-Identifier: Apache-2.0
//
// inc_aggregate_data: reads a frame's words and its slot's, adds them, writes them back, and passes results on.
//
// Contract
//   order       works are done in the order in which they were given, their words in order
//   latency     3 cycles from op_valid to the first word on emit_*; 2 from a word's read to its write
//   throughput  1 word per cycle
//   hazard      a word is not read while an older one of the same address is on its way to the RAM: works on one slot that are
//               shorter than 3 words take 3 cycles each
//   speculation a work given with op_spec goes as far as the sum of its first word and waits there, unwritten, for op_commit or
//               op_kill; op_kill leaves no trace
//   stall       emit_room low holds the words of works that emit
//   reset       idle; payload unknown until written
//   not done    one work at most may be speculative, the youngest; slots and lengths are not checked
`default_nettype none

module inc_aggregate_data #(
    // bytes of a word, a multiple of 4
    parameter BYTES   = 8,
    // number of slots
    parameter SLOTS   = 16,
    // bits of a slot's number
    parameter SLOT_W  = 4,
    // words of a slot, a power of two, at least 2
    parameter MTU_WORDS = 128,
    // bits that hold 0 to MTU_WORDS
    parameter WORDS_W = 8,
    // bits of a word's address in the packet buffer
    parameter PKT_W   = 9
) (
    input  wire               clk,
    input  wire               rst,

    output wire               op_ready,
    input  wire               op_valid,
    input  wire               op_spec,
    input  wire               op_commit,
    input  wire               op_kill,
    input  wire [PKT_W-1:0]   op_start,
    input  wire [WORDS_W-1:0] op_words,
    input  wire [SLOT_W-1:0]  op_slot,
    input  wire               op_read,
    input  wire               op_take,
    input  wire               op_write,
    input  wire               op_emit,
    input  wire               op_big_endian,

    // packet buffer
    input  wire [PKT_W-1:0]   pkt_start,
    output wire [PKT_W-1:0]   oldest,
    input  wire [PKT_W-1:0]   newest,
    output wire               rd_en,
    output wire [PKT_W-1:0]   rd_addr,
    input  wire [8*BYTES-1:0] rd_data,

    // results
    input  wire               emit_room,
    output wire               emit_valid,
    output wire [8*BYTES-1:0] emit_data
);

    localparam OFFSET_W  = WORDS_W - 1;                   // MTU_WORDS is a power of two
    localparam ADDR_W    = SLOT_W + OFFSET_W;
    localparam LANES     = BYTES / 4;

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || BYTES % 4 != 0) begin : gen_bad_bytes
            $error("inc_aggregate_data: BYTES must be a multiple of 4");
        end
        if (SLOT_W < 1 || SLOTS < 2 || SLOTS > (1 << SLOT_W)) begin : gen_bad_slots
            $error("inc_aggregate_data: SLOTS must be 2 to 2**SLOT_W");
        end
        if (MTU_WORDS < 2 || MTU_WORDS != (1 << OFFSET_W)) begin : gen_bad_words
            $error("inc_aggregate_data: MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2");
        end
    endgenerate
`endif

    // ---- stage G: which word to read ----

    reg               g_valid, g_spec, g_read, g_take, g_write, g_emit, g_big_endian;
    reg [PKT_W-1:0]   g_start;
    reg [WORDS_W-1:0] g_words;
    reg [SLOT_W-1:0]  g_slot;
    reg [WORDS_W-1:0] g_index;

    // ---- stages D (words at the RAMs' outputs) and S (their sum) ----

    reg               d_valid, d_spec, d_read, d_take, d_write, d_emit, d_big_endian;
    reg [ADDR_W-1:0]  d_addr;
    reg               s_valid, s_spec, s_write, s_emit;
    reg [ADDR_W-1:0]  s_addr;
    reg [8*BYTES-1:0] s_data;

    wire s_go    = s_valid && !s_spec && (!s_emit || emit_room);
    wire s_free  = !s_valid || s_go;
    wire d_free  = !d_valid || s_free;

    wire [ADDR_W-1:0] g_addr   = {g_slot, g_index[OFFSET_W-1:0]};
    wire [PKT_W-1:0]  g_packet = g_start + {{(PKT_W-WORDS_W){1'b0}}, g_index};
    wire              g_there  = !g_take || g_packet != newest;
    wire              g_hazard = g_read && ((d_valid && d_write && d_addr == g_addr) || (s_valid && s_write && s_addr == g_addr));
    wire              g_go     = g_valid && g_there && !g_hazard && d_free;
    wire              g_last   = g_index + {{(WORDS_W-1){1'b0}}, 1'b1} == g_words;

    assign op_ready = !g_valid || (g_go && g_last);
    assign oldest   = g_valid ? g_start : pkt_start;
    assign rd_en    = g_go;
    assign rd_addr  = g_packet;

    wire [8*BYTES-1:0] slot_data, sum;

    inc_ram_1r1w #(.WORDS(SLOTS * MTU_WORDS), .BITS(8*BYTES), .ADDR_W(ADDR_W)) u_payload (
        .clk   (clk),
        .we    (s_go && s_write),
        .waddr (s_addr),
        .wdata (s_data),
        .re    (g_go),
        .raddr (g_addr),
        .rdata (slot_data)
    );

    inc_lanes #(.LANES(LANES)) u_lanes (
        .big_endian (d_big_endian),
        .a          (slot_data),
        .b          (rd_data),
        .sum        (sum)
    );

    assign emit_valid = s_go && s_emit;
    assign emit_data  = s_data;

    always @(posedge clk) begin
        // G
        if (op_valid) begin
            g_valid      <= 1'b1;
            g_read       <= op_read;
            g_take       <= op_take;
            g_write      <= op_write;
            g_emit       <= op_emit;
            g_big_endian <= op_big_endian;
            g_start      <= op_start;
            g_words      <= op_words;
            g_slot       <= op_slot;
            g_index      <= {WORDS_W{1'b0}};
        end else if (g_go) begin
            g_index <= g_index + {{(WORDS_W-1){1'b0}}, 1'b1};
            if (g_last) begin
                g_valid <= 1'b0;
            end
        end
        // D
        if (g_go) begin
            d_valid      <= 1'b1;
            d_read       <= g_read;
            d_take       <= g_take;
            d_write      <= g_write;
            d_emit       <= g_emit;
            d_big_endian <= g_big_endian;
            d_addr       <= g_addr;
        end else if (s_free) begin
            d_valid <= 1'b0;
        end
        // S
        if (d_valid && s_free) begin
            s_valid <= 1'b1;
            s_write <= d_write;
            s_emit  <= d_emit;
            s_addr  <= d_addr;
            s_data  <= !d_read ? rd_data : !d_take ? slot_data : sum;
        end else if (s_go) begin
            s_valid <= 1'b0;
        end
        // Only the youngest work can be speculative, so one answer concerns all that is marked.
        if (op_valid) begin
            g_spec <= op_spec;
        end else if (op_commit) begin
            g_spec <= 1'b0;
        end
        if (g_go) begin
            d_spec <= g_spec && !op_commit;
        end else if (op_commit) begin
            d_spec <= 1'b0;
        end
        if (d_valid && s_free) begin
            s_spec <= d_spec && !op_commit;
        end else if (op_commit) begin
            s_spec <= 1'b0;
        end
        if (op_kill) begin
            if (g_spec) begin
                g_valid <= 1'b0;
            end
            if (g_go ? g_spec : d_spec && !s_free) begin
                d_valid <= 1'b0;
            end
            if ((d_valid && s_free) ? d_spec : s_spec) begin
                s_valid <= 1'b0;
            end
        end
        if (rst) begin
            g_valid <= 1'b0;
            d_valid <= 1'b0;
            s_valid <= 1'b0;
            g_spec  <= 1'b0;
            d_spec  <= 1'b0;
            s_spec  <= 1'b0;
        end
    end

endmodule

`default_nettype wire
