// SPDX-License-Identifier: Apache-2.0
//
// inc_forward: holds a frame's beats until LookupTable has decided, sends the bypassed ones on unchanged, and shares the
// output between them and the engine's own frames.
//
// Contract
//   latency     bypass: 4 cycles from raw_valid to m_axis when the decision is there, 2 with FLOPS; engine: 0 cycles from eng_* to m_axis,
//               1 when a bypassed frame has just left and no other waits
//   throughput  1 beat per cycle, no bubbles while anybody waits
//   fairness    frame by frame in turn while both wait
//   stall       m_axis_tready low stops both one cycle later; the writer watches `room`: true while more than MARGIN beats and
//               8 decisions are free; those of few beats need no watching
//   queue       beats wait in RAM, or with FLOPS in flip-flops, which take less where beats are wide and few
//   keep        tkeep is contiguous from bit 0 and full but on a frame's last beat; inside, and on eng_size, it is the number of the
//               last beat's bytes, 0 for all of them
//   reset       empty
//   not done    nothing of a frame is changed or checked
`default_nettype none

module inc_forward #(
    // bytes of a beat, a power of two of at least 4
    parameter BYTES   = 8,
    // bits of a port number
    parameter PORT_W  = 2,
    // log2 of the number of beats that may wait, 2 to 16; with FLOPS at most 10
    parameter BEATS_W = 8,
    // log2 of the number of decisions that may wait, 4 to 10; never more than beats, as a frame's decision comes behind its first beat and
    // goes with its last
    parameter DEPTH_W = 5,
    // beats that may still come when room has fallen; 0 to 2**BEATS_W - 1
    parameter MARGIN  = 8,
    // 1: beats wait in flip-flops
    parameter FLOPS   = 0
) (
    input  wire               clk,
    input  wire               rst,

    output wire               room,
    input  wire               raw_valid,
    input  wire [8*BYTES-1:0] raw_data,
    input  wire [BYTES-1:0]   raw_keep,
    input  wire               raw_last,
    input  wire               raw_err,

    // one a frame, in order
    input  wire               fwd_valid,
    input  wire               fwd_bypass,
    input  wire [PORT_W-1:0]  fwd_port,

    // frames that the engine made
    input  wire               eng_valid,
    output wire               eng_ready,
    input  wire [8*BYTES-1:0] eng_data,
    input  wire [$clog2(BYTES)-1:0] eng_size,
    input  wire               eng_last,
    input  wire [PORT_W-1:0]  eng_port,

    output wire [8*BYTES-1:0] m_axis_tdata,
    output wire [BYTES-1:0]   m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [PORT_W:0]    m_axis_tuser
);

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_forward: BYTES must be a power of two of at least 4");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_forward: PORT_W must be at least 1");
        end
        if (BEATS_W < 2 || BEATS_W > (FLOPS != 0 ? 10 : 16)) begin : gen_bad_beats
            $error("inc_forward: BEATS_W must be 2 to 16, with FLOPS to 10");
        end
        if (MARGIN < 0 || MARGIN >= (1 << BEATS_W)) begin : gen_bad_margin
            $error("inc_forward: MARGIN must be less than 2**BEATS_W");
        end
        if (FLOPS < 0 || FLOPS > 1) begin : gen_bad_flops
            $error("inc_forward: FLOPS must be 0 or 1");
        end
        if (DEPTH_W < 4 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_forward: DEPTH_W must be 4 to 10");
        end
    endgenerate
`endif

    localparam SIZE_W = $clog2(BYTES);
    localparam BEAT_W = 8*BYTES + SIZE_W + 2;

    // ---- bytes of a last beat: bit i of their number is set where tkeep ends between an odd multiple of 2**i and the next even one ----

    wire [SIZE_W-1:0] raw_size;
    genvar b, n;
    generate
        for (n = 0; n < SIZE_W; n = n + 1) begin : gen_size
            wire [(BYTES>>(n+1))-1:0] ends;
            for (b = 0; b < (BYTES >> (n + 1)); b = b + 1) begin : gen_end
                assign ends[b] = raw_keep[((2*b+1)<<n)-1] && !raw_keep[((2*b+2)<<n)-1];
            end
            assign raw_size[n] = |ends;
        end
    endgenerate

    // ---- beats and decisions wait for each other ----

    wire               beat_room, beat_valid, beat_pop, beat_last, beat_err;
    wire [8*BYTES-1:0] beat_data;
    wire [SIZE_W-1:0]  beat_size;
    wire               way_room, way_valid, way_bypass;
    wire [PORT_W-1:0]  way_port;

    assign room = beat_room && way_room;

    generate
        if (FLOPS != 0) begin : gen_flops
            inc_fifo #(.WIDTH(BEAT_W), .DEPTH_W(BEATS_W), .MARGIN(MARGIN)) u_beats (
                .clk       (clk),
                .rst       (rst),
                .push      (raw_valid),
                .push_data ({raw_err, raw_last, raw_size, raw_data}),
                .room      (beat_room),
                .valid     (beat_valid),
                .data      ({beat_err, beat_last, beat_size, beat_data}),
                .pop       (beat_pop)
            );
        end else begin : gen_ram
            inc_stream_fifo #(.WIDTH(BEAT_W), .DEPTH_W(BEATS_W), .MARGIN(MARGIN)) u_beats (
                .clk       (clk),
                .rst       (rst),
                .push      (raw_valid),
                .push_data ({raw_err, raw_last, raw_size, raw_data}),
                .room      (beat_room),
                .valid     (beat_valid),
                .data      ({beat_err, beat_last, beat_size, beat_data}),
                .pop       (beat_pop)
            );
        end
    endgenerate

    localparam FEW    = BEATS_W < DEPTH_W ? 1 : 0;
    localparam WAYS_W = FEW != 0 ? BEATS_W : DEPTH_W;

    inc_fifo #(.WIDTH(PORT_W + 1), .DEPTH_W(WAYS_W), .MARGIN(FEW != 0 ? 0 : 8), .HEAD(PORT_W + 1)) u_ways (
        .clk       (clk),
        .rst       (rst),
        .push      (fwd_valid),
        .push_data ({fwd_bypass, fwd_port}),
        .room      (way_room),
        .valid     (way_valid),
        .data      ({way_bypass, way_port}),
        .pop       (beat_pop && beat_last)
    );

    wire byp_valid = beat_valid && way_valid && way_bypass;
    wire byp_ready;
    assign beat_pop = beat_valid && way_valid && (!way_bypass || byp_ready);

    // ---- share the output ----

    // Whose the next beat is stands in a register: eng_ready goes back through all that makes frames, and waits for no queue here. The engine has
    // the output while nobody wants it.
    reg  busy_reg;         // inside a frame
    reg  owner_reg;        // 1 bypass, 0 engine
    wire o_ready;
    wire o_valid = owner_reg ? byp_valid : eng_valid;
    wire o_last  = owner_reg ? beat_last : eng_last;
    wire turn    = o_valid ? o_ready && o_last : !busy_reg;

    assign byp_ready = owner_reg && o_ready;
    assign eng_ready = !owner_reg && o_ready;

    always @(posedge clk) begin
        if (o_valid && o_ready) begin
            busy_reg <= !o_last;
        end
        if (turn) begin
            owner_reg <= byp_valid && !(owner_reg && eng_valid);
        end
        if (rst) begin
            busy_reg  <= 1'b0;
            owner_reg <= 1'b0;
        end
    end

    // What a beat's tkeep is made of: it is full; and lanes below a last beat's number in two steps, whole blocks of lanes, and lanes of the
    // block in which it lies. That is done before the choice of a beat, which comes late.
    localparam FINE_W  = SIZE_W / 2;
    localparam BLOCKS  = BYTES >> FINE_W;
    localparam FINE    = 1 << FINE_W;
    localparam MARKS_W = 1 + 2*BLOCKS + FINE;

    function [MARKS_W-1:0] marks;
        input [SIZE_W-1:0] size;
        input              last;
        begin
            marks = {!last || size == {SIZE_W{1'b0}}, ~({BLOCKS{1'b1}} << size[SIZE_W-1:FINE_W]),
                     {{(BLOCKS-1){1'b0}}, 1'b1} << size[SIZE_W-1:FINE_W], ~({FINE{1'b1}} << size[FINE_W-1:0])};
        end
    endfunction

    wire [MARKS_W-1:0] beat_marks = marks(beat_size, beat_last);
    wire [MARKS_W-1:0] eng_marks  = marks(eng_size, eng_last);
    wire               full;
    wire [BLOCKS-1:0]  below, ends_in;
    wire [FINE-1:0]    lanes;

    inc_skid #(.WIDTH(8*BYTES + MARKS_W + PORT_W + 2)) u_out (
        .clk     (clk),
        .rst     (rst),
        .s_data  (owner_reg ? {beat_last && beat_err, way_port, beat_last, beat_marks, beat_data}
                        : {1'b0, eng_port, eng_last, eng_marks, eng_data}),
        .s_valid (o_valid),
        .s_ready (o_ready),
        .m_data  ({m_axis_tuser[0], m_axis_tuser[PORT_W:1], m_axis_tlast, full, below, ends_in, lanes, m_axis_tdata}),
        .m_valid (m_axis_tvalid),
        .m_ready (m_axis_tready)
    );

    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_keep
            assign m_axis_tkeep[b] = full || below[b/FINE] || (ends_in[b/FINE] && lanes[b%FINE]);
        end
    endgenerate

endmodule

`default_nettype wire
