// SPDX-License-Identifier: Apache-2.0
//
// inc_steer: holds a frame of a port until it is known which engine it is for, and offers it to that one.
//
// Contract
//   latency     1 cycle from the beat with the frame's 54th byte (with TAGS its 58th), or from its last one if that comes before, to its
//               first beat out
//   throughput  1 beat per cycle, no bubbles between frames
//   way         bit e of `want`: the beat is for engine e. Of a RoCEv2 packet (EtherType 0x0800, version 4, IHL 5, no fragment, UDP to port
//               4791, at least 54 bytes) the bits of the destination QPN from EI_W on name the engine. All else, and what names no engine,
//               is for whatever is behind bit ENGINES
//   stall       a beat stays, with its bit of `want`, until that bit of `take` is high; frames behind it wait
//   reset       empty
//   not done    QPNs are not looked up: an engine may find that the frame is not its own
`default_nettype none

module inc_steer #(
    // bytes of a beat, a power of two, at least 8
    parameter BYTES   = 8,
    // number of engines, 2 to 8
    parameter ENGINES = 2,
    // bits of an index into an engine's endpoint table, 1 to 21
    parameter EI_W    = 4,
    // 1: frames may have an 802.1Q tag
    parameter TAGS    = 0
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [8*BYTES-1:0] s_axis_tdata,
    input  wire [BYTES-1:0]   s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire               s_axis_tuser,

    output wire [8*BYTES-1:0] m_tdata,
    output wire [BYTES-1:0]   m_tkeep,
    output wire               m_tlast,
    output wire               m_tuser,
    output wire [ENGINES:0]   want,
    input  wire [ENGINES:0]   take
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES != (1 << $clog2(BYTES))) begin : gen_bad_bytes
            $error("inc_steer: BYTES must be a power of two, at least 8");
        end
        if (ENGINES < 2 || ENGINES > 8) begin : gen_bad_engines
            $error("inc_steer: ENGINES must be 2 to 8");
        end
        if (EI_W < 1 || EI_W > 21) begin : gen_bad_ei
            $error("inc_steer: EI_W must be 1 to 21");
        end
    endgenerate
`endif

    // Beats up to the one with the last byte of which a frame must have some value; a counter of them that stays there; room for one more.
    localparam HEADER  = TAGS != 0 ? 58 : 54;
    localparam HEAD    = (HEADER + BYTES - 1) / BYTES;
    localparam BEAT_W  = $clog2(HEAD + 1);
    localparam DEPTH_W = $clog2(HEAD + 1);
    localparam WIDTH   = 9*BYTES + 2;
    localparam BEFORE  = HEAD - 1;
    localparam [BEAT_W-1:0] DECIDES = BEFORE[BEAT_W-1:0];
    localparam [BEAT_W-1:0] DECIDED = HEAD[BEAT_W-1:0];

    wire push, pop, room, beat_valid, way_valid;
    assign s_axis_tready = room;
    assign push          = s_axis_tvalid && room;

    reg  [BEAT_W-1:0]  beat_reg;
    wire               decides = push && beat_reg != DECIDED && (beat_reg == DECIDES || s_axis_tlast);
    wire [ENGINES-1:0] plain;
    inc_steer_look #(.BYTES(BYTES), .ENGINES(ENGINES), .EI_W(EI_W), .AT(0), .BEAT_W(BEAT_W), .LAST(BEFORE)) u_plain (
        .clk   (clk),
        .rst   (rst),
        .push  (push),
        .beat  (beat_reg),
        .tdata (s_axis_tdata),
        .tkeep (s_axis_tkeep),
        .tlast (s_axis_tlast),
        .hit   (plain)
    );
    wire [ENGINES-1:0] hit;
    generate
        if (TAGS != 0) begin : gen_tags
            wire [ENGINES-1:0] behind;
            inc_steer_look #(.BYTES(BYTES), .ENGINES(ENGINES), .EI_W(EI_W), .AT(4), .BEAT_W(BEAT_W), .LAST(BEFORE)) u_behind (
                .clk   (clk),
                .rst   (rst),
                .push  (push),
                .beat  (beat_reg),
                .tdata (s_axis_tdata),
                .tkeep (s_axis_tkeep),
                .tlast (s_axis_tlast),
                .hit   (behind)
            );
            assign hit = plain | behind;
        end else begin : gen_plain
            assign hit = plain;
        end
    endgenerate
    wire [ENGINES:0] to = {hit == {ENGINES{1'b0}}, hit};

    wire [WIDTH-1:0] beat;
    inc_fifo #(.WIDTH(WIDTH), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_beats (
        .clk       (clk),
        .rst       (rst),
        .push      (push),
        .push_data ({s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .room      (room),
        .valid     (beat_valid),
        .data      (beat),
        .pop       (pop)
    );

    // No more frames than beats: there is room wherever there is room for a beat.
    wire [ENGINES:0] way;
    wire             way_room;
    inc_fifo #(.WIDTH(ENGINES+1), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_ways (
        .clk       (clk),
        .rst       (rst),
        .push      (decides),
        .push_data (to),
        .room      (way_room),
        .valid     (way_valid),
        .data      (way),
        .pop       (pop && m_tlast)
    );
    wire unused_room = &{1'b0, way_room};

    assign want    = way & {(ENGINES+1){beat_valid && way_valid}};
    assign pop     = (want & take) != {(ENGINES+1){1'b0}};
    assign m_tdata = beat[8*BYTES-1:0];
    assign m_tkeep = beat[8*BYTES +: BYTES];
    assign m_tlast = beat[9*BYTES];
    assign m_tuser = beat[9*BYTES+1];

    always @(posedge clk) begin
        if (push) begin
            if (s_axis_tlast) begin
                beat_reg <= {BEAT_W{1'b0}};
            end else if (beat_reg != DECIDED) begin
                beat_reg <= beat_reg + {{(BEAT_W-1){1'b0}}, 1'b1};
            end
        end
        if (rst) begin
            beat_reg <= {BEAT_W{1'b0}};
        end
    end

endmodule

`default_nettype wire
