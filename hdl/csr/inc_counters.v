// SPDX-License-Identifier: Apache-2.0
//
// inc_counters: event counters of two words each in a RAM, and a copy of all of them as they were at one moment.
//
// Contract
//   throughput  every counter may step in every cycle
//   turns       steps add up in a few flip-flops a counter. A turn moves them all aside in one cycle and then adds them to the RAM, one
//               counter a cycle; turns follow each other as long as anything has stepped, and none is lost. A counter of COUNTERS steps a
//               turn at most, so that the few bits are enough
//   copy        the turn that begins next copies every counter as it adds to it. All have the value of the cycle in which that turn began,
//               with all steps of before `copy` and perhaps some that came later
//   latency     `busy` is high from the cycle after `copy` until the copy is there, at most 2 * COUNTERS + 5 cycles later; rd_value stands
//               1 cycle after rd_en, until the next
//   stall       none; reads of the copy while `busy` is high have no meaning
//   reset       all counters and the copy 0, which takes a turn: `busy` is high until then, steps count meanwhile
//   idle        nothing changes from a turn after the last step on
//   not done    counters wrap
`default_nettype none

module inc_counters #(
    // number of counters, at least 4
    parameter COUNTERS = 46,
    // bits of a word, at least as many as $clog2(COUNTERS + 1)
    parameter HALF_W   = 32,
    // bits of a counter's number
    parameter INDEX_W  = 6
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [COUNTERS-1:0] step,

    input  wire                copy,
    output wire                busy,
    input  wire                rd_en,
    input  wire [INDEX_W-1:0]  rd_index,
    // high word, low word
    output wire [2*HALF_W-1:0] rd_value
);

    // bits that hold the steps of a turn
    localparam FEW = $clog2(COUNTERS + 1);
    localparam LAST_I = COUNTERS - 1;
    localparam [INDEX_W-1:0] LAST = LAST_I[INDEX_W-1:0];

`ifndef __ICARUS__
    generate
        if (COUNTERS < 4 || COUNTERS > (1 << INDEX_W)) begin : gen_bad_counters
            $error("inc_counters: COUNTERS must be 4 to 2**INDEX_W");
        end
        if (HALF_W < FEW) begin : gen_bad_word
            $error("inc_counters: HALF_W must be at least $clog2(COUNTERS + 1)");
        end
    endgenerate
`endif

    // ---- turns ----

    reg               clear_reg;                // the first turn after a reset is to come
    reg               copy_reg, want_reg;       // a copy is
    reg               dirty_reg;                // something has stepped since the last turn began
    reg               run_reg;
    reg [INDEX_W-1:0] index_reg;
    reg               a_clear, a_copy;          // what the turn does
    reg               b_clear, b_copy, c_copy;

    wire last = index_reg == LAST;
    wire turn = (last || !run_reg) && (clear_reg || want_reg || dirty_reg);

    assign busy = copy_reg || want_reg || a_copy || b_copy || c_copy;

    // ---- steps ----

    // Bit k of every counter's steps side by side: since the turn began, and those that the turn adds.
    // Steps come from all over the design, and late: they have a cycle for the way here alone.
    reg  [COUNTERS-1:0]     come_reg, step_reg;
    reg  [FEW*COUNTERS-1:0] few_reg, few_next, aside_reg;
    reg  [COUNTERS-1:0]     carry;
    wire [FEW-1:0]          selected;           // of the counter that is added to
    integer                 k;
    genvar                  b;
    generate
        for (b = 0; b < FEW; b = b + 1) begin : gen_bit
            wire [COUNTERS-1:0] plane = aside_reg[b*COUNTERS +: COUNTERS];
            assign selected[b] = plane[index_reg];
        end
    endgenerate
    always @* begin
        carry = step_reg;
        for (k = 0; k < FEW; k = k + 1) begin
            few_next[k*COUNTERS +: COUNTERS] = turn ? (k == 0 ? step_reg : {COUNTERS{1'b0}}) : few_reg[k*COUNTERS +: COUNTERS] ^ carry;
            carry = carry & few_reg[k*COUNTERS +: COUNTERS];
        end
    end

    always @(posedge clk) begin
        few_reg <= rst ? {(FEW*COUNTERS){1'b0}} : few_next;
        if (turn) begin
            aside_reg <= few_reg;
        end
    end

    always @(posedge clk) begin
        come_reg  <= step;
        step_reg  <= come_reg;
        dirty_reg <= step_reg != {COUNTERS{1'b0}} || (dirty_reg && !turn);
        copy_reg  <= copy;
        want_reg  <= copy_reg || (want_reg && !turn);
        if (turn) begin
            clear_reg <= 1'b0;
            run_reg   <= 1'b1;
            index_reg <= {INDEX_W{1'b0}};
            a_clear   <= clear_reg;
            a_copy    <= want_reg;
        end else if (run_reg) begin
            if (last) begin
                run_reg <= 1'b0;
                a_copy  <= 1'b0;
            end else begin
                index_reg <= index_reg + {{(INDEX_W-1){1'b0}}, 1'b1};
            end
        end
        if (rst) begin
            come_reg  <= {COUNTERS{1'b0}};
            step_reg  <= {COUNTERS{1'b0}};
            copy_reg  <= 1'b0;
            dirty_reg <= 1'b0;
            want_reg  <= 1'b1;
            clear_reg <= 1'b1;
            run_reg   <= 1'b0;
            index_reg <= {INDEX_W{1'b0}};
            a_copy    <= 1'b0;
        end
    end

    // ---- addition: RAM and steps, low word, high word and write ----

    reg                b_valid, c_valid;
    reg [INDEX_W-1:0]  b_index, c_index;
    reg [FEW-1:0]      b_steps;
    reg [HALF_W:0]     c_low;                   // with its carry
    reg [HALF_W-1:0]   c_high;
    wire [2*HALF_W-1:0] held, sum;
    wire [2*HALF_W-1:0] old  = b_clear ? {2*HALF_W{1'b0}} : held;

    assign sum = {c_high + {{(HALF_W-1){1'b0}}, c_low[HALF_W]}, c_low[HALF_W-1:0]};

    always @(posedge clk) begin
        b_valid <= run_reg;
        b_index <= index_reg;
        b_steps <= selected;
        b_clear <= a_clear;
        b_copy  <= a_copy && run_reg;
        c_valid <= b_valid && (b_clear || b_steps != {FEW{1'b0}});
        c_index <= b_index;
        c_low   <= {1'b0, old[HALF_W-1:0]} + {{(HALF_W+1-FEW){1'b0}}, b_steps};
        c_high  <= old[2*HALF_W-1:HALF_W];
        c_copy  <= b_copy;
        if (rst) begin
            b_valid <= 1'b0;
            b_copy  <= 1'b0;
            c_valid <= 1'b0;
            c_copy  <= 1'b0;
        end
    end

    inc_ram_1r1w #(.WORDS(COUNTERS), .BITS(2 * HALF_W), .ADDR_W(INDEX_W)) u_values (
        .clk   (clk),
        .we    (c_valid),
        .waddr (c_index),
        .wdata (sum),
        .re    (run_reg),
        .raddr (index_reg),
        .rdata (held)
    );
    inc_ram_1r1w #(.WORDS(COUNTERS), .BITS(2 * HALF_W), .ADDR_W(INDEX_W)) u_copy (
        .clk   (clk),
        .we    (c_copy),
        .waddr (c_index),
        .wdata (sum),
        .re    (rd_en),
        .raddr (rd_index),
        .rdata (rd_value)
    );

endmodule

`default_nettype wire
