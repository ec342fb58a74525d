// SPDX-License-Identifier: Apache-2.0
//
// inc_port_put: the way into the queue before a MAC. Writes beats of the bus to the queue's memory and keeps the frames for which there is room.
//
// Contract
//   latency     a beat is written in the cycle in which it is taken; `kept` is high in that of a frame's last, `done` follows in the next
//   throughput  one beat a cycle
//   full        with DROP s_axis_tready stays high, and a frame without room is dropped whole and counted; else s_axis_tready falls until
//               there is room
//   closed      while `open` is low there is no room at all, and the queue is empty
//   stall       nothing else keeps the bus waiting
//   pointers    as in inc_port_take
//   reset       empty
//   not done    no memory: whoever has this module has it
`default_nettype none

module inc_port_put #(
    // bytes of a beat of the bus, a power of two, at least 2
    parameter BYTES   = 8,
    // log2 of the queue's beats of the bus; the longest frame must fit with a beat to spare
    parameter DEPTH_W = 5,
    // 1: a frame without room is dropped; 0: it waits
    parameter DROP    = 0
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

    // for one cycle each: a frame is in the queue, found no room
    output wire                           kept,
    output reg                            count_full
);

    localparam SHIFT = $clog2(BYTES);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_put: BYTES must be a power of two, at least 2");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_port_put: DEPTH_W must be 2 to 16");
        end
    endgenerate
`endif

    // Words go to the queue at tail_reg; done_reg is behind the last frame that is complete, and what lies beyond it is taken back if the
    // frame is dropped.
    reg  [DEPTH_W:0] tail_reg;
    reg  [DEPTH_W:0] done_reg;
    reg              skip_reg;             // what comes of this frame is not kept
    wire             room = open && (tail_reg ^ head) != {1'b1, {DEPTH_W{1'b0}}};
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
    assign done  = done_reg;
    assign kept  = keep && s_axis_tlast;

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

        if (!open) begin
            tail_reg <= {(DEPTH_W+1){1'b0}};
            done_reg <= {(DEPTH_W+1){1'b0}};
        end
        if (rst) begin
            tail_reg   <= {(DEPTH_W+1){1'b0}};
            done_reg   <= {(DEPTH_W+1){1'b0}};
            skip_reg   <= 1'b0;
            count_full <= 1'b0;
        end
    end

endmodule

`default_nettype wire
