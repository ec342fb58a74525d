// SPDX-License-Identifier: Apache-2.0
//
// inc_port_tx: the queue before a MAC. Takes beats of the bus, keeps whole frames, and sends them in beats of the port's width.
//
// Contract
//   latency     3 cycles from a frame's last beat in to its first beat out of an empty queue
//   throughput  one beat a cycle on either side; a frame leaves without a gap
//   order       first in, first out
//   full        with DROP s_axis_tready stays high, and a frame without room is dropped whole and counted; else s_axis_tready falls until
//               there is room
//   stall       m_axis_tready low keeps the beat offered; while pause is high no frame begins, and one that has begun goes on
//   reset       empty
//   not done    no cut-through: a frame leaves when it is complete
`default_nettype none

module inc_port_tx #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8,
    // log2 of the queue's beats of the bus; the longest frame must fit with a beat to spare
    parameter DEPTH_W    = 5,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP       = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [8*BYTES-1:0]      s_axis_tdata,
    input  wire [BYTES-1:0]        s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,

    output wire [8*PORT_BYTES-1:0] m_axis_tdata,
    output wire [PORT_BYTES-1:0]   m_axis_tkeep,
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready,
    output wire                    m_axis_tlast,

    input  wire                    pause,
    // for one cycle each: a frame has left, found no room
    output reg                     count_frame,
    output reg                     count_full
);

    localparam SHIFT = $clog2(BYTES);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_tx: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_tx: PORT_BYTES must be a power of two up to BYTES");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_tx: DEPTH_W must be 2 to 16");
        end
    endgenerate
`endif

    localparam LAST = PORT_BYTES - 1;
    localparam [SHIFT-1:0] IN_BEAT = LAST[SHIFT-1:0];
    localparam [SHIFT-1:0] STEP    = PORT_BYTES[SHIFT-1:0];

    // Words go to the queue at tail_reg; done_reg is behind the last frame that is complete, and what lies beyond it is taken back if the
    // frame is dropped.
    reg  [DEPTH_W:0] tail_reg;
    reg  [DEPTH_W:0] done_reg;
    reg  [DEPTH_W:0] head_reg;
    reg              skip_reg;             // what comes of this frame is not kept
    wire             room = (tail_reg ^ head_reg) != {1'b1, {DEPTH_W{1'b0}}};
    wire [DEPTH_W:0] next = tail_reg + {{DEPTH_W{1'b0}}, 1'b1};

    generate
        if (DROP != 0) begin : gen_drop
            assign s_axis_tready = 1'b1;
        end else begin : gen_hold
            assign s_axis_tready = room;
        end
    endgenerate

    wire take = s_axis_tvalid && s_axis_tready;
    wire keep = take && room && !skip_reg;

    // the highest byte kept, one bit, and its number
    wire [BYTES:0]   kept = {1'b0, s_axis_tkeep};
    reg  [SHIFT-1:0] top;
    integer i;
    always @* begin
        top = {SHIFT{1'b0}};
        for (i = 0; i < BYTES; i = i + 1) begin
            if (kept[i] && !kept[i+1]) begin
                top = top | i[SHIFT-1:0];
            end
        end
    end

    always @(posedge clk) begin
        if (keep) begin
            tail_reg <= next;
            if (s_axis_tlast) begin
                done_reg <= next;
            end
        end else if (take) begin
            tail_reg <= done_reg;
        end
        if (take) begin
            skip_reg <= !keep && !s_axis_tlast;
        end
        count_full <= take && !keep && s_axis_tlast;

        if (rst) begin
            tail_reg   <= {(DEPTH_W+1){1'b0}};
            done_reg   <= {(DEPTH_W+1){1'b0}};
            skip_reg   <= 1'b0;
            count_full <= 1'b0;
        end
    end

    // A word that was read stands at the memory's output until its last beat is taken; the one behind it is read in that cycle.
    reg                word_valid_reg;
    wire [8*BYTES-1:0] word;
    wire [SHIFT-1:0]   word_end;           // its last byte that counts
    wire               word_last;
    wire               pop;
    wire               fetch = head_reg != done_reg && (pop || !word_valid_reg);

    inc_mem_port #(.WORDS(1 << DEPTH_W), .BITS(8*BYTES + SHIFT + 1), .ADDR_W(DEPTH_W)) u_mem (
        .clk   (clk),
        .we    (keep),
        .waddr (tail_reg[DEPTH_W-1:0]),
        .wdata ({s_axis_tlast, top, s_axis_tdata}),
        .re    (fetch),
        .raddr (head_reg[DEPTH_W-1:0]),
        .rdata ({word_last, word_end, word})
    );

    reg                    out_valid_reg;
    reg                    out_last_reg;
    reg [8*PORT_BYTES-1:0] out_data_reg;
    reg [PORT_BYTES-1:0]   out_keep_reg;
    reg [SHIFT-1:0]        at_reg;         // the byte of the word with which the next beat begins
    reg                    inside_reg;     // a frame has begun, and its last beat is not in out_*_reg
    reg                    pause_reg;

    wire load    = word_valid_reg && (inside_reg || !pause_reg) && (!out_valid_reg || m_axis_tready);
    wire at_end  = (at_reg | IN_BEAT) == (word_end | IN_BEAT);
    wire [SHIFT-1:0] spare = ~word_end & IN_BEAT;             // bytes of the beat behind the last that counts
    assign pop   = load && at_end;

    assign m_axis_tvalid = out_valid_reg;
    assign m_axis_tdata  = out_data_reg;
    assign m_axis_tkeep  = out_keep_reg;
    assign m_axis_tlast  = out_last_reg;

    always @(posedge clk) begin
        pause_reg <= pause;
        if (fetch) begin
            word_valid_reg <= 1'b1;
            head_reg       <= head_reg + {{DEPTH_W{1'b0}}, 1'b1};
        end else if (pop) begin
            word_valid_reg <= 1'b0;
        end
        if (load) begin
            out_valid_reg <= 1'b1;
            out_last_reg  <= at_end && word_last;
            out_data_reg  <= word[{at_reg, 3'b000} +: 8*PORT_BYTES];
            out_keep_reg  <= at_end ? {PORT_BYTES{1'b1}} >> spare : {PORT_BYTES{1'b1}};
            at_reg        <= at_end ? {SHIFT{1'b0}} : at_reg + STEP;
            inside_reg    <= !(at_end && word_last);
        end else if (m_axis_tready) begin
            out_valid_reg <= 1'b0;
        end
        count_frame <= out_valid_reg && m_axis_tready && out_last_reg;

        if (rst) begin
            word_valid_reg <= 1'b0;
            head_reg       <= {(DEPTH_W+1){1'b0}};
            out_valid_reg  <= 1'b0;
            at_reg         <= {SHIFT{1'b0}};
            inside_reg     <= 1'b0;
            count_frame    <= 1'b0;
        end
    end

endmodule

`default_nettype wire
