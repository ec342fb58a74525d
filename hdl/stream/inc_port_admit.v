// SPDX-License-Identifier: Apache-2.0
//
// inc_port_admit: the way into a queue before a MAC that may send a frame before it is whole. What has begun to leave cannot be dropped, so one that drops
// lets a frame in only if the longest would fit.
//
// Contract
//   latency     a beat is written in the cycle in which it is taken; `tail`, and with a frame's last `done`, follow in the next
//   throughput  one beat a cycle
//   full        with DROP s_axis_tready stays high, and a frame that begins when the queue has no room for one of MAX_BYTES is dropped whole and counted; else
//               s_axis_tready falls until there is room
//   closed      while `open` is low there is no room at all, and the queue is empty
//   stall       nothing else keeps the bus waiting, but a frame longer than MAX_BYTES that finds no room
//   pointers    as in inc_port_take; `tail` is behind the last word
//   reset       empty
//   not done    no memory: whoever has this module has it
`default_nettype none

module inc_port_admit #(
    // bytes of a beat of the bus, a power of two, at least 2
    parameter BYTES     = 8,
    // log2 of the queue's beats of the bus, of which the longest frame takes all but one at most
    parameter DEPTH_W   = 5,
    // the longest frame
    parameter MAX_BYTES = 128,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP      = 0
) (
    input  wire                           clk,
    input  wire                           rst,
    input  wire                           open,

    input  wire [8*BYTES-1:0]             s_axis_tdata,
    input  wire [BYTES-1:0]               s_axis_tkeep,
    input  wire                           s_axis_tvalid,
    output wire                           s_axis_tready,
    input  wire                           s_axis_tlast,

    // the queue's memory: {tlast, the word's last byte that counts, the word}
    output wire                           we,
    output wire [DEPTH_W-1:0]             waddr,
    output wire [8*BYTES+$clog2(BYTES):0] wdata,
    input  wire [DEPTH_W:0]               head,
    output wire [DEPTH_W:0]               done,
    output wire [DEPTH_W:0]               tail,

    // for one cycle each: a frame is in the queue, found no room
    output wire                           kept,
    output reg                            count_full
);

    localparam SHIFT = $clog2(BYTES);
    localparam WORDS = (MAX_BYTES + BYTES - 1) / BYTES;

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_admit: BYTES must be a power of two, at least 2");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_admit: DEPTH_W must be 2 to 16");
        end
        if (MAX_BYTES < 2*BYTES || WORDS > (1 << DEPTH_W) - 1) begin : gen_bad_max
            $error("inc_port_admit: MAX_BYTES must be two beats at least, and fit the queue with a beat to spare");
        end
    endgenerate
`endif

    reg  [DEPTH_W:0] tail_reg;
    reg  [DEPTH_W:0] done_reg;
    wire [DEPTH_W:0] used = tail_reg - head;
    wire             room = open && used != {1'b1, {DEPTH_W{1'b0}}};
    wire [DEPTH_W:0] next = tail_reg + {{DEPTH_W{1'b0}}, 1'b1};
    wire             skip;

    generate
        if (DROP != 0) begin : gen_drop
            localparam FITS = (1 << DEPTH_W) - WORDS;
            localparam [DEPTH_W:0] MOST = FITS[DEPTH_W:0];       // words in the queue with which the longest frame still fits
            reg  inside_reg;                                     // a frame's first beat was taken, and not its last
            reg  skip_reg;                                       // what comes of that frame is not kept
            assign skip          = inside_reg ? skip_reg : !open || used > MOST;
            assign s_axis_tready = skip || room;
            always @(posedge clk) begin
                if (s_axis_tvalid && s_axis_tready) begin
                    inside_reg <= !s_axis_tlast;
                    skip_reg   <= skip;
                end
                if (rst) begin
                    inside_reg <= 1'b0;
                    skip_reg   <= 1'b0;
                end
            end
        end else begin : gen_hold
            assign skip          = 1'b0;
            assign s_axis_tready = room;
        end
    endgenerate

    wire take = s_axis_tvalid && s_axis_tready;
    wire keep = take && !skip;

    // the highest byte that counts, one bit, and its number
    wire [BYTES:0]   bytes = {1'b0, s_axis_tkeep};
    reg  [SHIFT-1:0] top;
    integer i;
    always @* begin
        top = {SHIFT{1'b0}};
        for (i = 0; i < BYTES; i = i + 1) begin
            if (bytes[i] && !bytes[i+1]) begin
                top = top | i[SHIFT-1:0];
            end
        end
    end

    assign we    = keep;
    assign waddr = tail_reg[DEPTH_W-1:0];
    assign wdata = {s_axis_tlast, top, s_axis_tdata};
    assign tail  = tail_reg;
    assign done  = done_reg;
    assign kept  = keep && s_axis_tlast;

    always @(posedge clk) begin
        if (keep) begin
            tail_reg <= next;
            if (s_axis_tlast) begin
                done_reg <= next;
            end
        end
        count_full <= take && skip && s_axis_tlast;

        if (!open) begin
            tail_reg <= {(DEPTH_W+1){1'b0}};
            done_reg <= {(DEPTH_W+1){1'b0}};
        end
        if (rst) begin
            tail_reg   <= {(DEPTH_W+1){1'b0}};
            done_reg   <= {(DEPTH_W+1){1'b0}};
            count_full <= 1'b0;
        end
    end

endmodule

`default_nettype wire
