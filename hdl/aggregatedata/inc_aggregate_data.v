// SPDX-License-Identifier: Apache-2.0
//
// inc_aggregate_data: reads a frame's words and its slot's, adds them, writes them back, and passes results on.
//
// Contract
//   rows        a payload word is worked on in rows of ROW bytes, 16-bit elements as FP32: BYTES/ROW rows a word of 32-bit elements, twice
//               as many of 16-bit ones; with DOUBLE set (in place, ROW = BYTES) one row of either
//   order       works are done in the order in which they were given, their words in order
//   latency     L = STAGES + ECC. From op_valid to the first row's sum, and on emit_* if it is a word of its own: 2 + ECC + L cycles;
//               from the beat that closes a packet word at the packet buffer's write port to the sum: the same
//   throughput  1 row per cycle
//   hazard      a row waits, with its operands read, until the sum it builds on is at the adder's output, and takes it from there. Works
//               on one slot, one after the other, take a cycle a row, and L cycles if they are shorter; a cycle more if they are of
//               exactly L + 1 rows, or of 1 row with L = 1: then a row would be read in the cycle in which it is written. With ECC two
//               cycles more at L + 1 rows and one at L + 2: what was read too early is read again
//   speculation a work given with op_spec goes as far as the sum of its first row and waits there, unwritten, for op_commit or
//               op_kill; op_kill leaves no trace. With TREE it does not begin while the result of one before it is still to be emitted
`ifdef INC_EAGER
//   tree        with TREE set contributions of two neighbouring endpoints are added, and inc_eager_tree merges complete pairs, and reduces a
//               slot when its last contribution comes (op_reduce): nothing else is emitted meanwhile; writes to a slot wait until it was reduced.
//               From op_valid to the result, of rows that are words: 2 + ECC + L cycles, one, and STAGES for each level of the tree, if pairs
//               are merged and the memory is free
`else
//   tree        with TREE set contributions of two neighbouring endpoints are added, and inc_reduce_tree reduces the pairs of a slot
//               when it is complete (op_reduce): nothing else is emitted meanwhile; writes to a slot wait until it was reduced
`endif
//   poison      a row that the memory could not correct, and every sum with it, is written back as such and emitted with emit_bad
//   reading     a packet's word is read with its first row, in cycles with rd_ready. One that rd_data no longer shows (rd_there low) while rows
//               of it wait is read again (rd_again): such a row goes on 2 cycles later than it could, and later by those without rd_ready
//   stall       emit_room low holds the rows of works that emit
//   reset       idle; payload unknown until written
//   not done    one work at most may be speculative, the youngest; slots and lengths are not checked
`default_nettype none

module inc_aggregate_data #(
    // bytes of a word, a power of two
    parameter BYTES     = 8,
    // bytes of a row, a power of two, 4 to BYTES
    parameter ROW       = 8,
    // 1: two rows side by side, the second for the other half of 16-bit words
    parameter DOUBLE    = 0,
    // number of slot units
    parameter SLOTS     = 16,
    // bits of a unit's number
    parameter SLOT_W    = 4,
    // payloads a unit: 1, or the pairs of endpoints
    parameter PLANES    = 1,
    // bits of a pair's number, at least 1
    parameter PAIR_W    = 1,
    // words of a payload of mtu_bytes, a power of two, at least 2
    parameter MTU_WORDS = 128,
    // bits that hold 0 to MTU_WORDS
    parameter WORDS_W   = 8,
    // bits of a beat's address in the packet buffer
    parameter PKT_W     = 9,
    // 1: reproducible
    parameter TREE      = 0,
    // register stages of an adder
    parameter STAGES    = 1,
    // 1: the payload memory corrects single errors
    parameter ECC       = 0,
    // single-port banks of the payload memory; 1: one memory with two ports
    parameter BANKS     = 1,
    // element types and operations that there are; INT32's adder is always there, it passes what is not added
    parameter F32       = 0,
    parameter F16       = 0,
    parameter B16       = 0,
    parameter SUM       = 1,
    parameter MIN       = 0,
    parameter MAX       = 0
) (
    input  wire               clk,
    input  wire               rst,

    output wire               op_ready,
    input  wire               op_valid,
    input  wire               op_spec,
    input  wire               op_commit,
    input  wire               op_kill,
    // where the packet begins, so many beats before its first word as 54 bytes fill, with an immediate 58
    input  wire [PKT_W-1:0]   op_start,
    input  wire               op_imm,
    input  wire [WORDS_W-1:0] op_words,
    input  wire [SLOT_W-1:0]  op_slot,
    input  wire [PAIR_W-1:0]  op_pair,
    input  wire               op_read,
    input  wire               op_take,
    input  wire               op_write,
    input  wire               op_emit,
    // TREE: when this work is done, reduce these pairs of its slot and emit the result
    input  wire               op_reduce,
    input  wire [PLANES-1:0]  op_pairs,
    input  wire [1:0]         op_function,
    input  wire [1:0]         op_dtype,
    input  wire               op_big_endian,

    // packet buffer
    input  wire [PKT_W-1:0]   pkt_start,
    output wire [PKT_W-1:0]   oldest,
    input  wire [PKT_W-1:0]   newest,
    output wire               rd_wants,
    input  wire               rd_ready,
    output wire               rd_en,
    // the word that was read last, once more; without, the one at rd_addr
    output wire               rd_again,
    output wire               rd_imm,
    // the beat in which the word begins, and the one behind it
    output wire [PKT_W-1:0]   rd_addr,
    output wire [PKT_W-1:0]   rd_next,
    input  wire [8*BYTES-1:0] rd_data,
    // rd_data is the word that was read last
    input  wire               rd_there,
`ifdef INC_ECC
    // the word is lost: a row made of it is as one that the memory could not correct
    input  wire               rd_bad,
`endif

    // results
    input  wire               emit_room,
    output wire               emit_valid,
    output wire               emit_bad,
    output wire [8*BYTES-1:0] emit_data,

    // bits to invert in the next row written
    input  wire               inject_valid,
    input  wire [1:0]         inject_flips,
    output wire               count_corrected,
    output wire               count_double
);

    localparam [1:0] D_FP16 = 2'd1, D_BF16 = 2'd2, D_INT32 = 2'd3;

    // the beats of a packet in which its payload begins, without and with an immediate
    localparam BEAT_A  = 54 / BYTES;
    localparam BEAT_B  = 58 / BYTES;
    localparam NEXT_A  = BEAT_A + 1;
    localparam NEXT_B  = BEAT_B + 1;
    localparam PARTS   = BYTES / ROW;                     // rows of a word of 32-bit elements
    localparam PARTS_W = $clog2(PARTS);
    localparam SUB_W   = PARTS_W + 1;                     // rows of a word of 16-bit elements
    localparam WIDTH   = 8 * ROW * (1 + DOUBLE);
    localparam LANES   = ROW / 4;
    localparam FP      = (F32 != 0 || F16 != 0 || B16 != 0) ? 1 : 0;
    localparam HALVES  = (F16 != 0 || B16 != 0) ? 1 : 0;
    localparam DEPTH   = STAGES + ECC;                    // stages from the operands to the sum
    // rows of a payload of mtu_bytes in each memory, and of all
    localparam PAYLOAD_ROWS = MTU_WORDS * PARTS / (1 + DOUBLE);
    localparam ROWS_W  = WORDS_W - 1 + PARTS_W - DOUBLE;  // MTU_WORDS is a power of two
    localparam ROWS    = SLOTS * PLANES * PAYLOAD_ROWS;
    localparam ADDR_W  = $clog2(ROWS);
    localparam ROW_W   = ROWS_W + 2;

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_aggregate_data: BYTES must be a power of two of at least 4");
        end
        if (ROW < 4 || ROW > BYTES || (1 << $clog2(ROW)) != ROW) begin : gen_bad_row
            $error("inc_aggregate_data: ROW must be a power of two, 4 to BYTES");
        end
        if (DOUBLE < 0 || DOUBLE > 1 || (DOUBLE == 1 && (ROW != BYTES || TREE == 1))) begin : gen_bad_double
            $error("inc_aggregate_data: DOUBLE must be 0, or 1 in place with ROW equal to BYTES");
        end
        if (SLOT_W < 1 || SLOTS < 2 || SLOTS > (1 << SLOT_W)) begin : gen_bad_slots
            $error("inc_aggregate_data: SLOTS must be 2 to 2**SLOT_W");
        end
        if (PLANES < 1 || (TREE == 0 && PLANES != 1) || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES))) begin : gen_bad_planes
            $error("inc_aggregate_data: PLANES must be 1 in place, and PAIR_W hold 0 to PLANES - 1");
        end
        if (MTU_WORDS < 2 || MTU_WORDS != (1 << (WORDS_W - 1))) begin : gen_bad_words
            $error("inc_aggregate_data: MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2");
        end
        if (STAGES < 1 || ECC < 0 || ECC > 1) begin : gen_bad_stages
            $error("inc_aggregate_data: STAGES must be at least 1 and ECC 0 or 1");
        end
    endgenerate
`endif

    genvar i;

    // ---- stage G: which row to read ----

    reg               g_valid, g_spec, g_read, g_take, g_write, g_emit, g_reduce, g_big_endian, g_imm;
    reg [1:0]         g_function, g_dtype;
    reg [PKT_W-1:0]   g_packet;       // the word's address; of the first one in g_start
    reg [PKT_W-1:0]   g_behind;       // and the one behind it
    reg [PKT_W-1:0]   g_start;
    reg [WORDS_W-1:0] g_words;
    reg [WORDS_W-1:0] g_left;         // words still to read
    reg [SLOT_W-1:0]  g_slot;
    reg [PLANES-1:0]  g_pairs;
    reg [SUB_W-1:0]   g_sub;          // row of the word
    reg [ADDR_W-1:0]  g_addr;
    reg               g_upper;        // DOUBLE and 32-bit elements: the half that the word lies in
`ifdef INC_EAGER
    reg [PAIR_W-1:0]  g_pair;
    reg               g_first;        // the work's first row
    reg               g_fresh;        // the slot's first contribution
    reg               g_handed;       // the tree has the job
    wire              g_hands;        // it gets it
    wire [PLANES-1:0] op_own = {{(PLANES-1){1'b0}}, 1'b1} << op_pair;
`endif

    wire g_wide  = HALVES != 0 && (g_dtype == D_FP16 || g_dtype == D_BF16);
    wire op_wide = HALVES != 0 && (op_dtype == D_FP16 || op_dtype == D_BF16);

    // the payload's place: unit * PLANES + pair, twice as far for 16-bit elements
    localparam PLACE_W = SLOT_W + PAIR_W + 2;
    localparam [PLACE_W-1:0] PLANE_COUNT = PLANES[PLACE_W-1:0];
    wire [PLACE_W-1:0] place = {{(PLACE_W-SLOT_W){1'b0}}, op_slot} * PLANE_COUNT
                             + (op_wide ? {{(PLACE_W-PAIR_W-1){1'b0}}, op_pair, 1'b0} : {{(PLACE_W-PAIR_W){1'b0}}, op_pair});
    wire [PLACE_W+ROWS_W:0] place_addr = {{(ROWS_W+1){1'b0}}, place} << ROWS_W;

    // ---- stages M (with ECC: what was read leaves the memory), X (operands read) and 1 to DEPTH (adding); the last is S, the sum ----

    reg                      x_valid, x_spec, x_read;
    reg  [DEPTH-1:0]         v_reg;                 // 1 to DEPTH
    wire                     s_valid, s_spec, s_write, s_emit, s_reduce;
`ifdef INC_EAGER
    wire                     s_reduces;             // of a work that completes its slot
    wire                     sum_wait;              // the tree is about to take its sum
`endif
    wire [ADDR_W-1:0]        s_addr;
    wire [WIDTH-1:0]         s_data;

    // X lacks its packet's word: then nothing moves on, for what X waits for may be in S, and it is one term where time is short
    wire x_lacks;
`ifdef INC_EAGER
    wire s_go   = s_valid && !s_spec && (!s_emit || emit_room) && !x_lacks && !(s_reduces && sum_wait);
`else
    wire s_go   = s_valid && !s_spec && (!s_emit || emit_room) && !x_lacks;
`endif
    wire move   = (!s_valid && !x_lacks) || s_go;
    wire x_wait;                     // the sum it builds on is not there yet
    wire x_go   = x_valid && move && !x_wait;
    wire x_free = !x_valid || x_go;

    wire tree_hold, g_ordered;
    wire g_busy;                     // the bank that G would read from is being written
    wire g_free;                     // the stage after G takes a row
    wire g_done  = g_reduce && !g_take;                    // nothing to read: a result to be made again
    wire g_opens = g_sub == {SUB_W{1'b0}};                 // row of its word
    wire g_there = !g_take || (g_packet != newest && (rd_ready || !g_opens));
    // what is written in this cycle is neither on its way nor in the memory; in M it is read again
    wire g_late  = g_read && s_go && s_write && s_addr == g_addr;
    wire g_asks  = g_valid && g_there && g_free && (ECC != 0 || !g_late) && g_ordered && !(g_read && tree_hold);
    wire g_go    = g_asks && (!g_read || !g_busy);

    wire [SUB_W-1:0] sub_top = g_wide && DOUBLE == 0 ? {SUB_W{1'b1}} : {SUB_W{1'b1}} >> 1;
    wire             g_word  = g_done || g_sub == sub_top;  // the word's last row
    wire             g_last  = g_word && (g_done || g_left == {{(WORDS_W-1){1'b0}}, 1'b1});

    assign op_ready = !g_valid || (g_go && g_last);
    // A packet's word is wanted until its last row has left the stage after G, and until then the ring has it. The next one is not read before.
    // What takes no words of a packet lets none go, nor keeps any.
    wire              after;         // the stage after G has a row of a packet's word
    reg  [PKT_W-1:0]  after_start;   // of the packet of which a word was read last
    assign oldest   = after ? after_start : g_valid && g_take ? g_start : pkt_start;
    assign rd_wants = after || (g_valid && g_take);
    assign rd_again = !rd_there && (after || (g_valid && g_take && !g_opens));
    assign rd_en    = (g_go && g_take && g_opens) || (rd_again && rd_ready);
    always @(posedge clk) begin
        if (g_go && g_take && g_opens) begin
            after_start <= g_start;
        end
    end
    assign rd_imm   = g_imm;
    assign rd_addr  = g_packet;
    assign rd_next  = g_behind;

    // What G holds is of no account without g_valid. So G loads whenever it is free, whether or not a work is offered, which is known late.
    wire g_load = !g_valid || g_last;

    always @(posedge clk) begin
        if (g_go || !g_valid) begin
            g_sub   <= g_load || g_word ? {SUB_W{1'b0}} : g_sub + {{(SUB_W-1){1'b0}}, 1'b1};
            g_upper <= !g_load && DOUBLE != 0 && !g_wide && !g_upper;
            if (g_load) begin
                g_read       <= op_read;
                g_take       <= op_take;
                g_write      <= op_write;
                g_emit       <= op_emit;
                g_reduce     <= op_reduce;
                g_function   <= op_function;
                g_dtype      <= op_dtype;
                g_big_endian <= op_big_endian;
                g_start      <= op_start;
                g_imm        <= op_imm;
`ifdef INC_EAGER
                g_pair       <= op_pair;
                g_fresh      <= op_write && !op_read && (op_pairs & ~op_own) == {PLANES{1'b0}};
`endif
                g_packet     <= op_start + (op_imm ? BEAT_B[PKT_W-1:0] : BEAT_A[PKT_W-1:0]);
                g_behind     <= op_start + (op_imm ? NEXT_B[PKT_W-1:0] : NEXT_A[PKT_W-1:0]);
                g_words      <= op_words;
                g_left       <= op_words;
                g_slot       <= op_slot;
                g_pairs      <= op_pairs;
                g_addr       <= place_addr[ADDR_W-1:0];
            end else begin
                if (g_word) begin
                    g_packet <= g_behind;
                    g_behind <= g_behind + {{(PKT_W-1){1'b0}}, 1'b1};
                    g_left   <= g_left - {{(WORDS_W-1){1'b0}}, 1'b1};
                end
                if (DOUBLE == 0 || g_wide || g_upper) begin
                    g_addr <= g_addr + {{(ADDR_W-1){1'b0}}, 1'b1};
                end
            end
`ifdef INC_EAGER
            g_first <= g_load;
`endif
        end
        if (!g_valid || (g_go && g_last)) begin
            g_valid <= op_valid;
        end
        // Only the youngest work can be speculative, so one answer concerns all that is marked. Without a work the mark is of no account.
        if (op_ready) begin
            g_spec <= op_spec;
        end else if (op_commit) begin
            g_spec <= 1'b0;
        end
`ifdef INC_EAGER
        g_handed <= !op_valid && (g_handed || g_hands);
`endif
        if (op_kill && g_spec) begin
            g_valid <= 1'b0;
        end
        if (rst) begin
            g_valid <= 1'b0;
            g_spec  <= 1'b0;
        end
    end

    // ---- M: as long as a memory takes a cycle, and the correction another; without ECC what leaves G is in X next ----

    // what a row carries with it to S
`ifdef INC_EAGER
    localparam JOB_W = SLOT_W + ROW_W + PAIR_W + 2 + 1 + 5;
`else
    localparam JOB_W = SLOT_W + ROW_W + PLANES + 2 + 1;
`endif
    localparam TAG_W = 1 + 1 + 1 + ADDR_W + 1 + 1 + 1 + 1 + 1 + 1 + 1 + (TREE != 0 ? JOB_W : 0);
    wire [ROW_W-1:0]  g_rows = {{(ROW_W-WORDS_W){1'b0}}, g_words} << (PARTS_W + (g_wide ? 1 : 0));
    wire [TAG_W-1:0]  g_tag;
    // the row that comes to X next
    wire              m_go, m_spec, m_read, m_take;
    wire [TAG_W-1:0]  m_tag;
    wire [1:0]        m_function, m_dtype;
    wire              m_holds;       // wants what the memory's output shows, and cannot go on
    wire              m_again;       // is read again
    wire [ADDR_W-1:0] m_again_addr;
    wire              m_busy;        // as g_busy
    wire              m_reduces;     // M has the last row of a work with op_reduce
`ifdef INC_EAGER
    wire              m_valid;
`endif
    // the packet's word in M goes to X; what of it, without ECC in X itself
    wire              m_takes;
    wire [SUB_W-1:0]  cut_sub;
    wire              cut_wide, cut_big_endian;
    wire              tree_fix_hold;
    reg  [TAG_W-1:0]  x_tag;
    reg               x_take;
    reg  [1:0]        x_function, x_dtype;
    wire              x_write, x_emit, x_reduce, x_upper, x_word, x_wide, x_bf16, x_big_endian;
    wire [ADDR_W-1:0] x_addr;

    wire g_lower_en = DOUBLE == 0 || g_wide || !g_upper;
    wire g_upper_en = DOUBLE != 0 && (g_wide || g_upper);
    wire x_lower_en, x_upper_en;
    generate
        if (TREE != 0) begin : gen_job_tag
`ifdef INC_EAGER
            assign g_tag = {g_slot, g_rows, g_pair, g_function, g_dtype == D_INT32, g_first, g_last, g_fresh, g_read, g_reduce && g_take,
`else
            assign g_tag = {g_slot, g_rows, g_pairs, g_function, g_dtype == D_INT32,
`endif
                            g_write, g_emit, g_reduce && g_last, g_addr, g_lower_en, g_upper_en, g_upper, g_word, g_wide,
                            g_dtype == D_BF16, g_big_endian};
        end else begin : gen_tag
            assign g_tag = {g_write, g_emit, g_reduce && g_last, g_addr, g_lower_en, g_upper_en, g_upper, g_word, g_wide,
                            g_dtype == D_BF16, g_big_endian};
`ifdef INC_EAGER
            wire unused_bits = &{1'b0, g_slot, g_pairs, g_words, g_rows, g_pair, g_first, g_fresh};
`else
            wire unused_bits = &{1'b0, g_slot, g_pairs, g_words, g_rows};
`endif
        end
    endgenerate
    // places in a tag
    localparam AT_BIG_ENDIAN = 0, AT_WIDE = 2, AT_UPPER_EN = 5, AT_LOWER_EN = 6, AT_ADDR = 7, AT_REDUCE = 7 + ADDR_W, AT_EMIT = 8 + ADDR_W,
               AT_WRITE = 9 + ADDR_W, FLAG_W = 10 + ADDR_W;
    assign {x_write, x_emit, x_reduce, x_addr, x_lower_en, x_upper_en, x_upper, x_word, x_wide, x_bf16, x_big_endian}
        = x_tag[FLAG_W-1:0];

    // Rows under way that write where G reads: M, X, then the stages. MEETS is what the row that comes to X next meets.
    wire [DEPTH:0] g_meets, m_meets;
    wire           g_meets_m;

    generate
        if (ECC != 0) begin : gen_m
            reg              valid_reg, row_spec_reg, read_reg, take_reg, stale_reg;
            reg [TAG_W-1:0]  row_tag_reg;
            reg [SUB_W-1:0]  sub_reg;
            reg [1:0]        function_reg, dtype_reg;
            reg [DEPTH:0]    meets_m_reg;
            // S writes what was read before: once more, unless a later row under way writes there too
            wire             later = (meets_m_reg[0] && x_valid) || (meets_m_reg[DEPTH-1:1] & v_reg[DEPTH-2:0]) != {(DEPTH-1){1'b0}};
            wire             late  = valid_reg && read_reg && meets_m_reg[DEPTH] && !later && s_go;
            wire             g_later = (g_meets_m && valid_reg) || (g_meets[0] && x_valid)
                                       || (g_meets[DEPTH-1:1] & v_reg[DEPTH-2:0]) != {(DEPTH-1){1'b0}};
            wire             free = !valid_reg || m_go;

            assign m_go       = valid_reg && x_free && !stale_reg && !late && !(read_reg && tree_fix_hold) && !(take_reg && !rd_there);
            assign after      = valid_reg && take_reg;
            assign x_lacks    = 1'b0;
            assign m_spec     = row_spec_reg;
            assign m_read     = read_reg;
            assign m_take     = take_reg;
            assign m_tag      = row_tag_reg;
            assign m_function = function_reg;
            assign m_dtype    = dtype_reg;
            assign m_meets    = meets_m_reg;
            assign m_holds    = valid_reg && read_reg && !m_go;
            assign m_again    = valid_reg && stale_reg && !late;
            assign m_again_addr = row_tag_reg[AT_ADDR +: ADDR_W];
            assign m_reduces  = valid_reg && row_tag_reg[AT_REDUCE];
`ifdef INC_EAGER
            assign m_valid    = valid_reg;
`endif
            assign g_free     = free;
            wire [FLAG_W-1:0] flags = row_tag_reg[FLAG_W-1:0];
            wire same_half    = (flags[AT_LOWER_EN] && g_lower_en) || (flags[AT_UPPER_EN] && g_upper_en);
            assign g_meets_m  = flags[AT_WRITE] && flags[AT_ADDR +: ADDR_W] == g_addr && (DOUBLE == 0 || same_half);

            // the packet's word is read when the slot's is, and its elements pass a register too
            assign m_takes    = m_go && take_reg;
            assign cut_sub    = sub_reg;
            assign cut_wide   = flags[AT_WIDE];
            assign cut_big_endian = flags[AT_BIG_ENDIAN];

            always @(posedge clk) begin
                if (g_go) begin
                    row_tag_reg  <= g_tag;
                    sub_reg      <= g_sub;
                    read_reg     <= g_read;
                    take_reg     <= g_take;
                    function_reg <= g_function;
                    dtype_reg    <= g_dtype;
                    stale_reg    <= g_late && !g_later;
                    meets_m_reg  <= {move ? g_meets[DEPTH-1:0] : g_meets[DEPTH:1], valid_reg ? g_meets_m : g_meets[0]};
                end else begin
                    stale_reg <= late || (stale_reg && m_busy);
                    if (move) begin
                        meets_m_reg[DEPTH:1] <= meets_m_reg[DEPTH-1:0];
                    end
                end
                if (free) begin
                    valid_reg <= g_go && !(op_kill && g_spec);
                end else if (op_kill && row_spec_reg) begin
                    valid_reg <= 1'b0;
                end
                if (g_go) begin
                    row_spec_reg <= g_spec && !op_commit;
                end else if (op_commit) begin
                    row_spec_reg <= 1'b0;
                end
                if (rst) begin
                    valid_reg    <= 1'b0;
                    row_spec_reg <= 1'b0;
                    stale_reg    <= 1'b0;
                end
            end
            wire unused_flags = &{1'b0, flags};
        end else begin : gen_no_m
            reg [SUB_W-1:0]   sub_reg;     // of the row in X
            reg               needs_reg;   // which is of a packet's word
            always @(posedge clk) begin
                if (g_go) begin
                    sub_reg <= g_sub;
                end
                if (x_free) begin
                    needs_reg <= g_go && g_take && !(op_kill && g_spec);
                end else if (op_kill && x_spec) begin
                    needs_reg <= 1'b0;
                end
                if (rst) begin
                    needs_reg <= 1'b0;
                end
            end

            assign m_go       = g_go;
            assign after      = needs_reg;
            assign x_lacks    = needs_reg && !rd_there;
            assign m_spec     = g_spec;
            assign m_read     = g_read;
            assign m_take     = g_take;
            assign m_tag      = g_tag;
            assign m_function = g_function;
            assign m_dtype    = g_dtype;
            assign m_meets    = g_meets;
            assign m_holds    = x_valid && x_read && !x_go;
            assign m_again    = 1'b0;
            assign m_again_addr = {ADDR_W{1'b0}};
            assign m_reduces  = 1'b0;
`ifdef INC_EAGER
            assign m_valid    = 1'b0;
`endif
            assign g_free     = x_free;
            assign g_meets_m  = 1'b0;
            assign m_takes    = 1'b0;
            assign cut_sub    = sub_reg;
            assign cut_wide   = x_wide;
            assign cut_big_endian = x_big_endian;
            wire unused_m     = &{1'b0, tree_fix_hold, g_meets_m};
        end
    endgenerate

    // ---- X ----

    always @(posedge clk) begin
        if (m_go) begin
            x_tag      <= m_tag;
            x_read     <= m_read;
            x_take     <= m_take;
            x_function <= m_function;
            x_dtype    <= m_dtype;
        end
        if (x_free) begin
            x_valid <= m_go && !(op_kill && m_spec);
        end else if (op_kill && x_spec) begin
            x_valid <= 1'b0;
        end
        if (m_go) begin
            x_spec <= m_spec && !op_commit;
        end else if (op_commit) begin
            x_spec <= 1'b0;
        end
        if (rst) begin
            x_valid <= 1'b0;
            x_spec  <= 1'b0;
        end
    end

    // ---- 1 to DEPTH ----

    reg  [DEPTH-1:0]       spec_reg;
    reg  [DEPTH*TAG_W-1:0] tag_reg;
    reg  [DEPTH-1:0]       bad_reg;
    wire                   x_bad;
    // a killed row goes no further; a committed one is no longer marked
    wire [DEPTH-1:0] v_kept    = v_reg & ~({DEPTH{op_kill}} & spec_reg);
    wire [DEPTH-1:0] spec_kept = spec_reg & ~{DEPTH{op_commit}};
    wire [DEPTH:0]   v_chain    = {v_kept, x_go && !(op_kill && x_spec)};
    wire [DEPTH:0]   spec_chain = {spec_kept, x_spec && !op_commit};
    wire [DEPTH:0]   bad_chain  = {bad_reg, x_bad};
    wire              x_hands;        // the tree has the job already
    wire [TAG_W-1:0]  x_tag_on = x_tag & ~({{(TAG_W-1){1'b0}}, x_hands} << AT_REDUCE);
    wire [(DEPTH+1)*TAG_W-1:0] tag_chain = {tag_reg, x_tag_on};

    always @(posedge clk) begin
        if (move) begin
            v_reg    <= v_chain[DEPTH-1:0];
            spec_reg <= spec_chain[DEPTH-1:0];
            bad_reg  <= bad_chain[DEPTH-1:0];
            tag_reg  <= tag_chain[DEPTH*TAG_W-1:0];
        end else begin
            v_reg    <= v_kept;
            spec_reg <= spec_kept;
        end
        if (rst) begin
            v_reg    <= {DEPTH{1'b0}};
            spec_reg <= {DEPTH{1'b0}};
        end
    end

    wire s_lower_en, s_upper_en, s_upper, s_word, s_wide, s_bf16, s_big_endian;
    wire [TAG_W-1:0] s_tag = tag_reg[DEPTH*TAG_W-1 -: TAG_W];
    assign s_valid = v_reg[DEPTH-1];
    assign s_spec  = spec_reg[DEPTH-1];
    assign {s_write, s_emit, s_reduce, s_addr, s_lower_en, s_upper_en, s_upper, s_word, s_wide, s_bf16, s_big_endian}
        = s_tag[FLAG_W-1:0];

    // Rows under way that write where X reads: those before S make it wait, S gives it the sum. The addresses were compared when the
    // row left G, with where the others would be in the next cycle; from then on the answers move with them.
    reg  [DEPTH-1:0] meets_reg;      // the row in this stage, if there is one
    wire [DEPTH-1:0] same = v_reg & meets_reg;
    generate
        for (i = 0; i <= DEPTH; i = i + 1) begin : gen_meets
            wire [FLAG_W-1:0] flags;
            if (i == 0) begin : gen_x
                assign flags = x_tag[FLAG_W-1:0];
            end else begin : gen_stage
                assign flags = tag_reg[(i-1)*TAG_W +: FLAG_W];
            end
            wire same_half = (flags[AT_LOWER_EN] && g_lower_en) || (flags[AT_UPPER_EN] && g_upper_en);
            assign g_meets[i] = flags[AT_WRITE] && flags[AT_ADDR +: ADDR_W] == g_addr && (DOUBLE == 0 || same_half);
            wire unused_flags = &{1'b0, flags};
        end
    endgenerate
    wire [DEPTH:0] meets_chain = {meets_reg, 1'b0};
    always @(posedge clk) begin
        if (m_go) begin
            meets_reg <= move ? m_meets[DEPTH-1:0] : m_meets[DEPTH:1];
        end else if (move) begin
            meets_reg <= meets_chain[DEPTH-1:0];
        end
    end
    generate
        if (DEPTH > 1) begin : gen_wait
            assign x_wait = x_read && same[DEPTH-2:0] != {(DEPTH-1){1'b0}};
        end else begin : gen_no_wait
            assign x_wait = 1'b0;
        end
    endgenerate
    wire x_take_sum = same[DEPTH-1];

    // ---- memory ----

    // Whether the bank to be read is being written: row r lies in bank r mod BANKS, of one port. The memory says the same of the address
    // that is chosen in the end; asked of each one, it costs no time after the choice.
    wire              s_we = s_go && s_write;
`ifdef INC_EAGER
    // merged rows are written in cycles in which nothing is in S
    wire              wb_go, wb_bad;
    wire [ADDR_W-1:0] wb_addr;
    wire [8*ROW-1:0]  wb_row;
`endif
    wire              tree_busy_bank;
    wire [ADDR_W-1:0] tree_addr;
    generate
        if (BANKS > 1) begin : gen_busy
            localparam BANK_W = $clog2(BANKS);
            wire [BANK_W-1:0] s_bank = s_addr[BANK_W-1:0];
`ifdef INC_EAGER
            wire [BANK_W-1:0] w_bank = wb_go ? wb_addr[BANK_W-1:0] : s_bank;
            assign g_busy         = (s_we || wb_go) && w_bank == g_addr[BANK_W-1:0];
            assign m_busy         = (s_we || wb_go) && w_bank == m_again_addr[BANK_W-1:0];
`else
            assign g_busy         = s_we && s_bank == g_addr[BANK_W-1:0];
            assign m_busy         = s_we && s_bank == m_again_addr[BANK_W-1:0];
`endif
            assign tree_busy_bank = s_we && s_bank == tree_addr[BANK_W-1:0];
        end else begin : gen_never_busy
            assign g_busy         = 1'b0;
            assign m_busy         = 1'b0;
            assign tree_busy_bank = 1'b0;
        end
    endgenerate
    wire [WIDTH-1:0]  slot_data;
    wire              slot_corrected, slot_bad;
    wire              mem_re;
    wire [ADDR_W-1:0] mem_addr;
    wire              mem_lower_re, mem_upper_re;
    // with ECC: what was read passes on, to X or into the tree
    wire              tree_fix_move;
    wire              fix_move = (m_go && m_read) || tree_fix_move;

    reg [1:0] inject_reg;
    always @(posedge clk) begin
        if (inject_valid) begin
            inject_reg <= inject_flips;
        end else if (s_we) begin
            inject_reg <= 2'd0;
        end
        if (rst) begin
            inject_reg <= 2'd0;
        end
    end

    wire lower_ready, lower_corrected, lower_bad;
    inc_payload_memory #(.ROWS(ROWS), .BITS(8*ROW), .ADDR_W(ADDR_W), .BANKS(BANKS), .ECC(ECC)) u_payload (
        .clk         (clk),
`ifdef INC_EAGER
        .we          (s_we || wb_go),
        .waddr       (s_we ? s_addr : wb_addr),
        .wdata       (s_we ? s_data[8*ROW-1:0] : wb_row),
        .wpoison     (s_we ? bad_reg[DEPTH-1] : wb_bad),
        .re          (mem_lower_re),
`else
        .we          (s_we && s_lower_en),
        .waddr       (s_addr),
        .wdata       (s_data[8*ROW-1:0]),
        .wpoison     (bad_reg[DEPTH-1]),
        .re          (mem_lower_re),
`endif
        .raddr       (mem_addr),
        .re_ready    (lower_ready),
        .move        (fix_move),
        .rdata       (slot_data[8*ROW-1:0]),
        .r_corrected (lower_corrected),
`ifdef INC_EAGER
        .r_poison    (lower_bad),
        .inject      (inject_reg & {2{s_we}})
    );
    generate
`else
        .r_poison    (lower_bad),
        .inject      (inject_reg)
    );
    generate
`endif
        if (DOUBLE != 0) begin : gen_double
            wire upper_ready, upper_corrected, upper_bad;
            inc_payload_memory #(.ROWS(ROWS), .BITS(8*ROW), .ADDR_W(ADDR_W), .BANKS(BANKS), .ECC(ECC)) u_payload_upper (
                .clk         (clk),
                .we          (s_we && s_upper_en),
                .waddr       (s_addr),
                .wdata       (s_data[WIDTH-1:8*ROW]),
                .wpoison     (bad_reg[DEPTH-1]),
                .re          (mem_upper_re),
                .raddr       (mem_addr),
                .re_ready    (upper_ready),
                .move        (fix_move),
                .rdata       (slot_data[WIDTH-1:8*ROW]),
                .r_corrected (upper_corrected),
                .r_poison    (upper_bad),
                .inject      (inject_reg)
            );
            wire unused_ready     = &{1'b0, upper_ready};
            assign slot_corrected = (x_lower_en && lower_corrected) || (x_upper_en && upper_corrected);
            assign slot_bad       = (x_lower_en && lower_bad) || (x_upper_en && upper_bad);
        end else begin : gen_single
            assign slot_corrected = lower_corrected;
            assign slot_bad       = lower_bad;
            wire unused_bits = &{1'b0, mem_upper_re, s_upper_en, x_lower_en, x_upper_en};
        end
    endgenerate
    // errors count where what was read is used
    wire   tree_uses;
    wire   x_uses          = x_go && x_read && !x_take_sum;
    assign count_corrected = (x_uses || tree_uses) && slot_corrected;
    assign count_double    = (x_uses || tree_uses) && slot_bad;

    // ---- operands ----

    wire [WIDTH-1:0] packet_row;
    inc_take_row #(.BYTES(BYTES), .ROW(ROW), .DOUBLE(DOUBLE), .F16(F16), .B16(B16), .SUB_W(SUB_W), .CUT(ECC)) u_take (
        .clk        (clk),
        .en         (m_takes),
        .word       (rd_data),
        .sub        (cut_sub),
        .wide       (cut_wide),
        .big_endian (cut_big_endian),
        .row_wide   (x_wide),
        .row_bf16   (x_bf16),
        .row        (packet_row)
    );

    // What is not added passes the adder as an integer, which keeps every bit: with 0, or the lesser of it and itself.
    wire             x_pass = !(x_read && x_take);
    wire [WIDTH-1:0] x_a    = x_take_sum ? s_data : slot_data;
    wire [WIDTH-1:0] x_l, x_b;
    generate
        if (SUM != 0) begin : gen_with_zero
            assign x_l = x_a & {WIDTH{x_read}};
            assign x_b = packet_row & {WIDTH{x_take}};
        end else begin : gen_with_itself
            assign x_l = x_read ? x_a : packet_row;
            assign x_b = x_take ? packet_row : x_a;
        end
    endgenerate
    wire [1:0]       x_op   = x_pass ? 2'd0 : x_function;
    wire             x_int  = x_pass || x_dtype == D_INT32;
`ifdef INC_ECC
    reg  word_bad_reg;               // of the packet's word of which X has a row
    always @(posedge clk) begin
        if (m_takes) begin
            word_bad_reg <= rd_bad;
        end
    end
    assign x_bad = (x_read && (x_take_sum ? bad_reg[DEPTH-1] : slot_bad)) || (x_take && word_bad_reg);
`else
    assign x_bad = x_read && (x_take_sum ? bad_reg[DEPTH-1] : slot_bad);
`endif

    wire [WIDTH-1:0] lane_a, lane_b;
    wire [1:0]       lane_op;
    wire             lane_int;
    generate
        if (ECC != 0) begin : gen_operands
            reg [WIDTH-1:0] a_reg, b_reg;
            reg [1:0]       op_reg;
            reg             int_reg;
            always @(posedge clk) begin
                if (move) begin
                    a_reg   <= x_l;
                    b_reg   <= x_b;
                    op_reg  <= x_op;
                    int_reg <= x_int;
                end
            end
            assign lane_a   = a_reg;
            assign lane_b   = b_reg;
            assign lane_op  = op_reg;
            assign lane_int = int_reg;
        end else begin : gen_no_operands
            assign lane_a   = x_l;
            assign lane_b   = x_b;
            assign lane_op  = x_op;
            assign lane_int = x_int;
        end
    endgenerate

    inc_lanes #(.LANES(LANES * (1 + DOUBLE)), .STAGES(STAGES), .FP(FP), .INT(1), .SUM(SUM), .MIN(MIN), .MAX(MAX)) u_lanes (
        .clk    (clk),
        .en     (move),
        .op     (lane_op),
        .is_int (lane_int),
        .a      (lane_a),
        .b      (lane_b),
        .y      (s_data)
    );

    // ---- results ----

    wire             row_valid, row_last, row_upper, row_wide, row_bf16, row_big_endian, row_bad;
    wire [WIDTH-1:0] row;

    generate
        if (TREE != 0) begin : gen_tree
`ifdef INC_EAGER
            wire              job_ready, tree_re, tree_turn, tree_valid, tree_busy, tree_owes, tree_chk, tree_own;
            wire              tree_late;     // what it reads is being added
            wire              wb_valid;
            // contributions read first; what a row has read is overwritten by the next read
            wire              tree_taken = tree_re && !(g_asks && g_read) && !m_holds && !tree_late && !tree_busy_bank && !wb_valid;
            wire              tree_wide, tree_bf16, tree_big_endian, tree_bad;
            wire [8*ROW-1:0]  tree_row;
            wire [SLOT_W-1:0] merge_unit;
            wire              merge_busy;    // the unit is being merged
            wire              emits_any, merge_stay, fresh_here;
            wire [SLOT_W-1:0] s_unit;
            wire [ROW_W-1:0]  s_rows;
            wire [PAIR_W-1:0] s_pair;
            wire [1:0]        s_function;
            wire              s_int, s_first, s_last, s_fresh, s_read;
            assign {s_unit, s_rows, s_pair, s_function, s_int, s_first, s_last, s_fresh, s_read, s_reduces} = s_tag[TAG_W-1:FLAG_W];

            inc_eager_tree #(.ROW(ROW), .PLANES(PLANES), .PAIR_W(PAIR_W), .UNITS(SLOTS), .UNIT_W(SLOT_W), .ROWS_W(ROWS_W), .ADDR_W(ADDR_W),
                .STAGES(STAGES), .ECC(ECC), .FP(FP), .SUM(SUM), .MIN(MIN), .MAX(MAX)) u_tree (
                .clk            (clk),
                .rst            (rst),
                .job_ready      (job_ready),
                .job_valid      (g_hands),
                .job_spec       (g_spec && !op_commit),
                .job_commit     (op_commit),
                .job_kill       (op_kill),
                .job_unit       (g_slot),
                .job_rows       (g_rows),
                .job_pairs      (g_pairs),
                .job_pair       (g_pair),
                .job_take       (g_take),
                .job_fresh      (g_fresh || fresh_here),
                .job_op         (g_function),
                .job_int        (g_dtype == D_INT32),
                .job_wide       (g_wide),
                .job_bf16       (g_dtype == D_BF16),
                .job_big_endian (g_big_endian),
                .chk_unit       (g_slot),
                .chk_busy       (tree_chk),
                .busy           (tree_busy),
                .owes           (tree_owes),
                .sum_go         (s_go && s_reduces),
                .sum_bad        (bad_reg[DEPTH-1]),
                .sum_data       (s_data),
                .sum_wait       (sum_wait),
                .note_clear     (s_go && s_fresh && s_first),
                .note_full      (s_go && s_read && s_last && s_write && !s_reduces),
                .note_unit      (s_unit),
                .note_pair      (s_pair),
                .note_rows      (s_rows),
                .note_op        (s_function),
                .note_int       (s_int),
                .note_wide      (s_wide),
                .merge_unit     (merge_unit),
                .merge_busy     (merge_busy),
                .merge_stay     (merge_stay),
                .mem_re         (tree_re),
                .mem_addr       (tree_addr),
                .mem_own        (tree_own),
                .mem_taken      (tree_taken),
                .mem_data       (slot_data),
                .mem_bad        (slot_bad),
                .hold           (tree_hold),
                .fix_free       (!(x_valid && x_read && !x_go)),
                .fix_move       (tree_fix_move),
                .fix_hold       (tree_fix_hold),
                .wb_valid       (wb_valid),
                .wb_go          (wb_go),
                .wb_addr        (wb_addr),
                .out_room       (emit_room),
                .job_stay       (emits_any),
                .out_turn       (tree_turn),
                .out_valid      (tree_valid),
                .out_wide       (tree_wide),
                .out_bf16       (tree_bf16),
                .out_big_endian (tree_big_endian),
                .out_bad        (tree_bad),
                .out_row        (tree_row)
            );
            assign wb_bad = tree_bad;
            assign wb_row = tree_row;
            assign wb_go  = wb_valid && !s_valid;

            reg read_reg;
            assign tree_uses = read_reg;
            always @(posedge clk) begin
                read_reg <= ECC != 0 ? tree_fix_move : tree_taken;
                if (rst) begin
                    read_reg <= 1'b0;
                end
            end

            // rows under way: which emit, write what the tree reads, begin a slot
            wire [DEPTH+1:0]           under = {m_valid, x_valid, v_reg};
            wire [(DEPTH+2)*TAG_W-1:0] tags;
            wire [DEPTH+1:0]           emits, writes_here, fresh_g;
            assign tags = {m_tag, x_tag, tag_reg};
            for (i = 0; i < DEPTH + 2; i = i + 1) begin : gen_under
                wire [TAG_W-1:0]  tag = tags[i*TAG_W +: TAG_W];
                wire [SLOT_W-1:0] at  = tag[TAG_W-1 -: SLOT_W];
                assign emits[i]       = under[i] && tag[AT_EMIT];
                assign writes_here[i] = under[i] && tag[AT_WRITE] && tag[AT_ADDR +: ADDR_W] == tree_addr;
                assign fresh_g[i]     = under[i] && tag[FLAG_W+2] && at == g_slot;
                wire unused_tag = &{1'b0, tag};
            end
            assign emits_any  = emits != {(DEPTH+2){1'b0}};
            assign tree_late  = !tree_own && writes_here != {(DEPTH+2){1'b0}};
            assign fresh_here = fresh_g != {(DEPTH+2){1'b0}};
// Merging takes what time others leave: it begins when no row is under way, and no slot's first contribution can be then
            assign merge_stay = g_valid || under != {(DEPTH+2){1'b0}};
            // The tree has a job from the beginning of the last contribution: its rows follow. It reads nothing before all rows of works
            // before it are emitted: they could wait for what it has read
            assign g_hands = g_valid && g_reduce && !g_handed && job_ready && !(g_write && tree_chk) && !(op_kill && g_spec);
            assign x_hands = 1'b0;
`else
            wire              job_ready, tree_re, tree_turn, tree_valid, tree_busy, tree_chk;
            wire              tree_late;     // what it reads is being added
            // contributions read first; what a row has read is overwritten by the next read
            wire              tree_taken = tree_re && !(g_asks && g_read) && !m_holds && !tree_late && !tree_busy_bank;
            wire              tree_wide, tree_bf16, tree_big_endian, tree_bad;
            wire [8*ROW-1:0]  tree_row;
            wire [SLOT_W-1:0] j_unit;
            wire [ROW_W-1:0]  j_rows;
            wire [PLANES-1:0] j_pairs;
            wire [1:0]        j_function;
            wire              j_int, j_wide, j_bf16, j_big_endian;
            assign {j_unit, j_rows, j_pairs, j_function, j_int, j_wide, j_bf16, j_big_endian}
                = x_hands ? {x_tag[TAG_W-1:FLAG_W], x_wide, x_bf16, x_big_endian} : {s_tag[TAG_W-1:FLAG_W], s_wide, s_bf16, s_big_endian};

            inc_reduce_tree #(.ROW(ROW), .PLANES(PLANES), .PAIR_W(PAIR_W), .UNIT_W(SLOT_W), .ROWS_W(ROWS_W), .ADDR_W(ADDR_W),
                .STAGES(STAGES), .ECC(ECC), .FP(FP), .SUM(SUM), .MIN(MIN), .MAX(MAX)) u_tree (
                .clk            (clk),
                .rst            (rst),
                .job_ready      (job_ready),
                .job_valid      (x_hands || (s_go && s_reduce)),
                .job_unit       (j_unit),
                .job_rows       (j_rows),
                .job_pairs      (j_pairs),
                .job_op         (j_function),
                .job_int        (j_int),
                .job_wide       (j_wide),
                .job_bf16       (j_bf16),
                .job_big_endian (j_big_endian),
                .chk_unit       (g_slot),
                .chk_busy       (tree_chk),
                .busy           (tree_busy),
                .mem_re         (tree_re),
                .mem_addr       (tree_addr),
                .mem_taken      (tree_taken),
                .mem_data       (slot_data),
                .mem_bad        (slot_bad),
                .hold           (tree_hold),
                .fix_free       (!(x_valid && x_read && !x_go)),
                .fix_move       (tree_fix_move),
                .fix_hold       (tree_fix_hold),
                .out_room       (emit_room),
                .out_turn       (tree_turn),
                .out_valid      (tree_valid),
                .out_wide       (tree_wide),
                .out_bf16       (tree_bf16),
                .out_big_endian (tree_big_endian),
                .out_bad        (tree_bad),
                .out_row        (tree_row)
            );

            reg read_reg;
            assign tree_uses = read_reg;
            always @(posedge clk) begin
                read_reg <= ECC != 0 ? tree_fix_move : tree_taken;
                if (rst) begin
                    read_reg <= 1'b0;
                end
            end

            // slots that will be reduced and are not yet known to the tree
            wire [DEPTH+1:0] coming, coming_here;
            wire [DEPTH-1:0] emits, writes_here;
            assign coming[DEPTH+1]      = m_reduces;
            assign coming_here[DEPTH+1] = m_reduces && m_tag[TAG_W-1 -: SLOT_W] == g_slot;
            assign coming[DEPTH]        = x_valid && x_reduce;
            assign coming_here[DEPTH]   = coming[DEPTH] && x_tag[TAG_W-1 -: SLOT_W] == g_slot;
            for (i = 0; i < DEPTH; i = i + 1) begin : gen_coming
                wire [TAG_W-1:0] tag = tag_reg[i*TAG_W +: TAG_W];
                assign coming[i]      = v_reg[i] && tag[AT_REDUCE];
                assign coming_here[i] = coming[i] && tag[TAG_W-1 -: SLOT_W] == g_slot;
                assign emits[i]       = v_reg[i] && tag[AT_EMIT];
                assign writes_here[i] = v_reg[i] && tag[AT_WRITE] && tag[AT_ADDR +: ADDR_W] == tree_addr;
                wire unused_tag = &{1'b0, tag};
            end
            // The tree begins while the last contribution's rows are added, unless it may still be killed, or rows before it are still to
            // be emitted; what it reads before they are written, it waits for.
            assign x_hands   = x_go && x_reduce && !x_spec && emits == {DEPTH{1'b0}};
            assign tree_late = writes_here != {DEPTH{1'b0}};
`endif
            // While a row holds what it has read, the tree cannot read. So a speculative work fills the adder and no more, and none begins while
            // the tree owes a result: its verdict may wait for that to leave. A work does not begin before the tree has a place for its job.
            reg  [3:0] ahead_reg;
            always @(posedge clk) begin
                if (op_valid) begin
                    ahead_reg <= 4'd0;
                end else if (g_go && ahead_reg != DEPTH[3:0]) begin
                    ahead_reg <= ahead_reg + 4'd1;
                end
            end
`ifdef INC_EAGER
            assign g_ordered = (!g_write || ((g_handed || g_hands || !tree_chk) && !(g_fresh && merge_busy && g_slot == merge_unit)))
                               && (!g_emit || !tree_busy)
                               && (!g_reduce || g_handed || g_hands)
                               && (!g_spec || (ahead_reg != DEPTH[3:0] && !tree_owes));
            wire unused_tag_bits = &{1'b0, m_reduces, x_hands, s_reduce};
`else
            wire none_coming = coming == {(DEPTH+2){1'b0}};
            assign g_ordered = (!g_write || !(tree_chk || coming_here != {(DEPTH+2){1'b0}}))
                               && (!g_emit || (!tree_busy && none_coming))
                               && (!g_reduce || (job_ready && none_coming))
                               && (!g_spec || (ahead_reg != DEPTH[3:0] && !tree_busy && none_coming));
`endif

            assign mem_re       = m_again || (g_go && g_read) || tree_taken;
            assign mem_addr     = m_again ? m_again_addr : g_asks && g_read ? g_addr : tree_addr;
            assign mem_lower_re = mem_re;
            assign mem_upper_re = 1'b0;

            // the tree counts a word's rows itself
            reg  [SUB_W-1:0] part_reg;
            wire [SUB_W-1:0] part_top = tree_wide ? {SUB_W{1'b1}} : {SUB_W{1'b1}} >> 1;
            wire             part_end = part_reg == part_top;
            always @(posedge clk) begin
                if (tree_valid) begin
                    part_reg <= part_end ? {SUB_W{1'b0}} : part_reg + {{(SUB_W-1){1'b0}}, 1'b1};
                end
                if (rst) begin
                    part_reg <= {SUB_W{1'b0}};
                end
            end

            // no work emits while the tree has a row
            assign row_valid      = tree_valid || (s_go && s_emit);
            assign row            = tree_turn ? tree_row : s_data;
            assign row_last       = tree_turn ? part_end : s_word;
            assign row_upper      = 1'b0;
            assign row_wide       = tree_turn ? tree_wide : s_wide;
            assign row_bf16       = tree_turn ? tree_bf16 : s_bf16;
            assign row_big_endian = tree_turn ? tree_big_endian : s_big_endian;
            assign row_bad        = tree_turn ? tree_bad : bad_reg[DEPTH-1];
            wire unused_bits = &{1'b0, s_lower_en, s_upper};
        end else begin : gen_in_place
            assign tree_hold    = 1'b0;
`ifdef INC_EAGER
            assign s_reduces    = 1'b0;
            assign sum_wait     = 1'b0;
            assign g_hands      = 1'b0;
            assign {wb_go, wb_bad, wb_addr, wb_row} = {(ADDR_W+8*ROW+2){1'b0}};
`endif
            assign g_ordered    = 1'b1;
            assign tree_uses    = 1'b0;
            assign x_hands       = 1'b0;
            assign tree_addr     = {ADDR_W{1'b0}};
            assign tree_fix_hold = 1'b0;
            assign tree_fix_move = 1'b0;
            assign mem_re       = g_go && g_read;
            assign mem_addr     = m_again ? m_again_addr : g_addr;
            assign mem_lower_re = m_again ? m_tag[AT_LOWER_EN] : mem_re && g_lower_en;
            assign mem_upper_re = m_again ? m_tag[AT_UPPER_EN] : mem_re && g_upper_en;
            wire unused_m = &{1'b0, m_holds, m_reduces};

            assign row_valid      = s_go && s_emit;
            assign row            = s_data;
            assign row_last       = s_word;
            assign row_upper      = s_upper;
            assign row_wide       = s_wide;
            assign row_bf16       = s_bf16;
            assign row_big_endian = s_big_endian;
            assign row_bad        = bad_reg[DEPTH-1];
            wire unused_bits = &{1'b0, s_reduce};
        end
    endgenerate

    inc_emit_word #(.BYTES(BYTES), .ROW(ROW), .DOUBLE(DOUBLE), .F16(F16), .B16(B16)) u_emit (
        .clk            (clk),
        .rst            (rst),
        .row_valid      (row_valid),
        .row_last       (row_last),
        .row_upper      (row_upper),
        .row_wide       (row_wide),
        .row_bf16       (row_bf16),
        .row_big_endian (row_big_endian),
        .row_bad        (row_bad),
        .row            (row),
        .word_valid     (emit_valid),
        .word_bad       (emit_bad),
        .word           (emit_data)
    );

    wire unused_wires = &{1'b0, place_addr, lower_ready, m_busy, tree_addr, tree_busy_bank, v_chain[DEPTH], spec_chain[DEPTH], bad_chain[DEPTH],
                          tag_chain[(DEPTH+1)*TAG_W-1 -: TAG_W], meets_chain[DEPTH], x_addr, x_write, x_emit, x_reduce, x_upper, x_word,
                          x_big_endian};

endmodule

`default_nettype wire
