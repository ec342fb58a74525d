// SPDX-License-Identifier: Apache-2.0
//
// inc_steer: holds a frame of a port until it is known which engine it is for, and offers it to that one.
//
// Contract
//   latency     1 cycle from the beat with the frame's 54th byte, or from its last one if that comes before, to its first beat out
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
    parameter EI_W    = 4
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

    // Beats up to the one with byte 53, which is the last that says something; a counter of them that stays there; room for one more.
    localparam HEADER  = 54;
    localparam HEAD    = (HEADER + BYTES - 1) / BYTES;
    localparam BEAT_W  = $clog2(HEAD + 1);
    localparam DEPTH_W = $clog2(HEAD + 1);
    localparam WIDTH   = 9*BYTES + 2;
    localparam NAME_W  = $clog2(ENGINES);
    localparam BEFORE  = HEAD - 1;
    localparam [BEAT_W-1:0] DECIDES = BEFORE[BEAT_W-1:0];
    localparam [BEAT_W-1:0] DECIDED = HEAD[BEAT_W-1:0];

    // What a packet of ours has in its bytes 12 to 37, lowest first, and which bits of them.
    localparam FROM = 12, TO = 38;
    localparam [8*(TO-FROM)-1:0] VALUE = {8'hB7, 8'h12, 16'd0, 64'd0, 16'd0, 8'h11, 8'd0, 16'h0000, 16'd0, 16'd0, 8'd0, 8'h45, 8'h00, 8'h08};
    localparam [8*(TO-FROM)-1:0] MASK  = {8'hFF, 8'hFF, 16'd0, 64'd0, 16'd0, 8'hFF, 8'd0, 16'hFF3F, 16'd0, 16'd0, 8'd0, 8'hFF, 8'hFF, 8'hFF};

    wire push, pop, room, beat_valid, way_valid;
    assign s_axis_tready = room;
    assign push          = s_axis_tvalid && room;

    reg  [BEAT_W-1:0]  beat_reg;
    reg                foreign_reg;
    wire [TO-FROM-1:0] wrong;
    genvar g;
    generate
        for (g = FROM; g < TO; g = g + 1) begin : gen_byte
            localparam IN = g / BYTES;
            localparam [BEAT_W-1:0] AT = IN[BEAT_W-1:0];
            assign wrong[g-FROM] = beat_reg == AT && ((s_axis_tdata[8*(g % BYTES) +: 8] ^ VALUE[8*(g-FROM) +: 8]) & MASK[8*(g-FROM) +: 8]) != 8'd0;
        end
    endgenerate

    // The bits of the destination QPN that name the engine, bytes 47 to 49 with the most significant first: of a beat before the one that
    // decides as they were kept.
    wire [NAME_W-1:0] name;
    generate
        for (g = 0; g < NAME_W; g = g + 1) begin : gen_name
            localparam AT_BYTE = 49 - (EI_W + g) / 8;
            localparam AT_BIT  = 8*(AT_BYTE % BYTES) + (EI_W + g) % 8;
            if (AT_BYTE / BYTES == HEAD - 1) begin : gen_now
                assign name[g] = s_axis_tdata[AT_BIT];
            end else begin : gen_kept
                localparam IN = AT_BYTE / BYTES;
                localparam [BEAT_W-1:0] AT = IN[BEAT_W-1:0];
                reg bit_reg;
                always @(posedge clk) begin
                    if (push && beat_reg == AT) begin
                        bit_reg <= s_axis_tdata[AT_BIT];
                    end
                end
                assign name[g] = bit_reg;
            end
        end
    endgenerate

    wire               whole   = beat_reg == DECIDES && s_axis_tkeep[(HEADER-1) % BYTES];
    wire               decides = push && beat_reg != DECIDED && (beat_reg == DECIDES || s_axis_tlast);
    wire               ours    = whole && !foreign_reg && wrong == {(TO-FROM){1'b0}};
    wire [ENGINES-1:0] hit;
    generate
        for (g = 0; g < ENGINES; g = g + 1) begin : gen_to
            localparam [NAME_W-1:0] E = g;
            assign hit[g] = ours && name == E;
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
                beat_reg    <= {BEAT_W{1'b0}};
                foreign_reg <= 1'b0;
            end else begin
                if (beat_reg != DECIDED) begin
                    beat_reg <= beat_reg + {{(BEAT_W-1){1'b0}}, 1'b1};
                end
                foreign_reg <= foreign_reg || wrong != {(TO-FROM){1'b0}};
            end
        end
        if (rst) begin
            beat_reg    <= {BEAT_W{1'b0}};
            foreign_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
