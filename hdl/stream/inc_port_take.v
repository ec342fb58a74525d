// SPDX-License-Identifier: Apache-2.0
//
// inc_port_take: the way into the queue behind a MAC. Gathers beats of the port's width in words of the bus, writes them to the queue's
// memory, and keeps the frames that are whole, without err and not too long.
//
// Contract
//   latency     a word is written 1 cycle after the last of its beats; `done` and count_frame follow in the next
//   throughput  one beat a cycle
//   dropped     whole, and counted once: a frame with err on its last beat, one longer than MAX_BYTES, one that stood still for STALL
//               cycles between two of its beats, one that finds no room. What follows of a frame that was given up, to its tlast, is
//               dropped with it
//   full        with DROP s_axis_tready stays high and a frame without room is dropped, else s_axis_tready falls until there is room
//   stall       nothing else keeps the port waiting
//   pointers    word n of the queue is at n modulo 2**DEPTH_W; `done` is behind the last frame kept, `head` the first word not yet read.
//               A head that is old is a queue that looks fuller than it is, and no harm
//   reset       empty; s_axis_tready is low while rst is high. What comes after it counts as the beginning of a frame
//   not done    no memory: whoever has this module has it
`default_nettype none

module inc_port_take #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus, of which the longest frame takes all but one at most
    parameter DEPTH_W    = 5,
    // the longest frame
    parameter MAX_BYTES  = 128,
    // cycles without a beat after which a frame that has begun is given up, at least 4
    parameter STALL      = 4096,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP       = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [8*PORT_BYTES-1:0] s_axis_tdata,
    input  wire [PORT_BYTES-1:0]   s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,
    input  wire                    s_axis_tuser,

    // the queue's memory: {tlast, the word's last byte that counts, the word}
    output wire                    we,
    output wire [DEPTH_W-1:0]      waddr,
    output wire [8*BYTES+$clog2(BYTES):0] wdata,
    input  wire [DEPTH_W:0]        head,
    output wire [DEPTH_W:0]        done,

    // half of the queue is taken
    output wire                    high,
    // for one cycle each: a frame was kept, had err, was too long, stood still, found no room
    output reg                     count_frame,
    output reg                     count_error,
    output reg                     count_long,
    output reg                     count_hung,
    output reg                     count_full,
    // a frame's end was seen, and the frame was dropped
    output reg                     mon_end,
    output reg                     mon_drop
);

    localparam SHIFT   = $clog2(BYTES);
    localparam LEN_W   = $clog2(MAX_BYTES + BYTES + 1);
    localparam STALL_W = $clog2(STALL + 1);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_take: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_take: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_take: DEPTH_W must be 2 to 16");
        end
        if (MAX_BYTES < 2*BYTES || (MAX_BYTES + BYTES - 1) / BYTES > (1 << DEPTH_W) - 1) begin : gen_bad_max
            $error("inc_port_take: MAX_BYTES must be two beats at least, and fit the queue with a beat to spare");
        end
        if (STALL < 4) begin : gen_bad_stall
            $error("inc_port_take: STALL must be at least 4");
        end
    endgenerate
`endif

    localparam LAST = PORT_BYTES - 1;
    localparam [SHIFT-1:0]   IN_BEAT   = LAST[SHIFT-1:0];
    localparam [SHIFT-1:0]   STEP      = PORT_BYTES[SHIFT-1:0];
    localparam [LEN_W-1:0]   MAX       = MAX_BYTES[LEN_W-1:0];
    localparam [STALL_W-1:0] STALL_MAX = STALL[STALL_W-1:0];
    localparam [DEPTH_W:0]   HALF      = {2'b01, {(DEPTH_W-1){1'b0}}};

    // Beats of the port gather in a word of the bus. at_reg is the byte at which the next one goes.
    reg                    on_reg;
    reg  [SHIFT-1:0]       at_reg;
    reg  [LEN_W-SHIFT-1:0] words_reg;      // of the frame before this word
    reg                    over_reg;
    reg                    inside_reg;     // a beat of a frame was taken, and not its last
    reg  [8*BYTES-1:0]     word_reg;
    reg  [SHIFT-1:0]       word_end_reg;   // the word's last byte that counts
    reg                    word_valid_reg;
    reg                    word_last_reg;
    reg                    word_err_reg;
    reg                    word_over_reg;

    wire blocked;
    assign s_axis_tready = on_reg && !blocked;
    wire beat = s_axis_tvalid && s_axis_tready;

    // the highest byte kept, one bit, and its number
    wire [PORT_BYTES:0] kept = {1'b0, s_axis_tkeep};
    reg  [SHIFT-1:0]    top;
    integer i;
    always @* begin
        top = {SHIFT{1'b0}};
        for (i = 0; i < PORT_BYTES; i = i + 1) begin
            if (kept[i] && !kept[i+1]) begin
                top = top | i[SHIFT-1:0];
            end
        end
    end

    wire             full_word = (at_reg | IN_BEAT) == {SHIFT{1'b1}};
    wire [SHIFT-1:0] end_byte  = at_reg | top;
    wire             over      = over_reg || {words_reg, end_byte} >= MAX;

    // A frame that stands still. Time in which the queue keeps the port waiting does not count.
    reg  [STALL_W-1:0] quiet_reg;
    reg                skip_reg;           // what comes of this frame is not kept
    wire               hung = quiet_reg == STALL_MAX;

    genvar c;
    generate
        for (c = 0; c < BYTES; c = c + PORT_BYTES) begin : gen_chunk
            localparam [SHIFT-1:0] AT = c;
            always @(posedge clk) begin
                if (beat && at_reg == AT) begin
                    word_reg[8*c +: 8*PORT_BYTES] <= s_axis_tdata;
                end
            end
        end
    endgenerate

    always @(posedge clk) begin
        on_reg <= 1'b1;
        if (beat) begin
            at_reg     <= s_axis_tlast ? {SHIFT{1'b0}} : at_reg + STEP;
            inside_reg <= !s_axis_tlast;
            over_reg   <= over && !s_axis_tlast;
            if (s_axis_tlast) begin
                words_reg <= {(LEN_W-SHIFT){1'b0}};
            end else if (full_word && !over) begin
                words_reg <= words_reg + {{(LEN_W-SHIFT-1){1'b0}}, 1'b1};
            end
        end
        if (!blocked) begin
            word_valid_reg <= beat && (full_word || s_axis_tlast);
            word_last_reg  <= s_axis_tlast;
            word_err_reg   <= s_axis_tuser;
            word_over_reg  <= over;
            word_end_reg   <= end_byte;
        end
        if (beat || !inside_reg || skip_reg || hung) begin
            quiet_reg <= {STALL_W{1'b0}};
        end else if (s_axis_tready) begin
            quiet_reg <= quiet_reg + {{(STALL_W-1){1'b0}}, 1'b1};
        end

        if (rst) begin
            on_reg         <= 1'b0;
            at_reg         <= {SHIFT{1'b0}};
            words_reg      <= {(LEN_W-SHIFT){1'b0}};
            over_reg       <= 1'b0;
            inside_reg     <= 1'b0;
            word_valid_reg <= 1'b0;
            quiet_reg      <= {STALL_W{1'b0}};
        end
    end

    // Words go to the queue at tail_reg; done_reg is behind the last frame that is complete, and what lies beyond it is taken back if the
    // frame is dropped.
    reg  [DEPTH_W:0] tail_reg;
    reg  [DEPTH_W:0] done_reg;
    wire [DEPTH_W:0] used = tail_reg - head;
    wire             room = used != {1'b1, {DEPTH_W{1'b0}}};
    wire [DEPTH_W:0] next = tail_reg + {{DEPTH_W{1'b0}}, 1'b1};

    generate
        if (DROP != 0) begin : gen_drop
            assign blocked = 1'b0;
        end else begin : gen_hold
            assign blocked = word_valid_reg && !skip_reg && !word_over_reg && !room;
        end
    endgenerate

    wire step = word_valid_reg && !blocked;
    wire bad  = word_over_reg || !room;                       // this word ends what is kept of the frame
    wire err  = word_last_reg && word_err_reg;
    wire keep = step && !skip_reg && !bad && !err;
    wire lost = step && !skip_reg && (bad || err);

    assign high  = used >= HALF;
    assign we    = keep;
    assign waddr = tail_reg[DEPTH_W-1:0];
    assign wdata = {word_last_reg, word_end_reg, word_reg};
    assign done  = done_reg;

    always @(posedge clk) begin
        if (lost || (hung && !skip_reg)) begin
            tail_reg <= done_reg;
        end else if (keep) begin
            tail_reg <= next;
            if (word_last_reg) begin
                done_reg <= next;
            end
        end
        if (step) begin
            skip_reg <= !word_last_reg && (skip_reg || bad);
        end else if (hung) begin
            skip_reg <= 1'b1;
        end
        count_frame <= keep && word_last_reg;
        count_long  <= lost && word_over_reg;
        count_full  <= lost && !word_over_reg && !room;
        count_error <= lost && !word_over_reg && room;
        count_hung  <= hung && !skip_reg;
        mon_end     <= step && word_last_reg;
        mon_drop    <= step && word_last_reg && !keep;

        if (rst) begin
            tail_reg    <= {(DEPTH_W+1){1'b0}};
            done_reg    <= {(DEPTH_W+1){1'b0}};
            skip_reg    <= 1'b0;
            count_frame <= 1'b0;
            count_long  <= 1'b0;
            count_full  <= 1'b0;
            count_error <= 1'b0;
            count_hung  <= 1'b0;
            mon_end     <= 1'b0;
            mon_drop    <= 1'b0;
        end
    end

endmodule

`default_nettype wire
