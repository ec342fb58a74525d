// SPDX-License-Identifier: Apache-2.0
//
// inc_priority_class: finds the priority of a frame that leaves by a port, and offers it to the queue of that priority.
//
// Contract
//   priority    of a frame with an 802.1Q tag (bytes 12 and 13 are 0x8100) what the table has for its PCP; of another with EtherType 0x0800 and
//               IP version 4 what it has for its DSCP; of all else, and of frames of fewer than 16 bytes, what it has for PCP 0
//   latency     1 cycle from the beat with the frame's 16th byte, or from its last one if that comes before, to its first beat out
//   throughput  1 beat per cycle, no bubbles between frames
//   ordering    first in, first out, all priorities together
//   stall       a beat stays, with its bit of m_axis_tvalid, until that bit of m_axis_tready is high; frames behind it wait
//   table       is read while a frame waits here: a word that changes then may count or not
//   reset       empty
//   not done    IPv6, service tags and what stands behind a first tag are not looked at
`default_nettype none

module inc_priority_class #(
    // bytes of a beat, a power of two, at least 8
    parameter BYTES = 8,
    // bits of a priority, 1 to 3
    parameter WIDTH = 1,
    // 1: a frame has err beside its last beat, which goes with it
    parameter ERR   = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [8*BYTES-1:0]      s_axis_tdata,
    input  wire [BYTES-1:0]        s_axis_tkeep,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,
    input  wire                    s_axis_tlast,
    input  wire                    s_err,

    // that of DSCP d at [d*WIDTH +: WIDTH], that of PCP p at [(64 + p)*WIDTH +: WIDTH]
    input  wire [72*WIDTH-1:0]     priorities,

    // one bit a priority of valid and ready; all else is the same for all
    output wire [8*BYTES-1:0]      m_axis_tdata,
    output wire [BYTES-1:0]        m_axis_tkeep,
    output wire [(1<<WIDTH)-1:0]   m_axis_tvalid,
    input  wire [(1<<WIDTH)-1:0]   m_axis_tready,
    output wire                    m_axis_tlast,
    output wire                    m_err
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES != (1 << $clog2(BYTES))) begin : gen_bad_bytes
            $error("inc_priority_class: BYTES must be a power of two, at least 8");
        end
        if (WIDTH < 1 || WIDTH > 3) begin : gen_bad_width
            $error("inc_priority_class: WIDTH must be 1 to 3");
        end
        if (ERR < 0 || ERR > 1) begin : gen_bad_err
            $error("inc_priority_class: ERR must be 0 or 1");
        end
    endgenerate
`endif

    // Bytes 12 to 15 say everything, and lie in one beat: the second of a bus of 8 bytes, the first of others.
    localparam FROM    = 12 % BYTES;
    localparam DEPTH_W = BYTES == 8 ? 2 : 1;
    localparam BEAT    = 9*BYTES + 1 + ERR;

    wire push, pop, room;
    assign s_axis_tready = room;
    assign push          = s_axis_tvalid && room;

    reg  seen_reg;                         // this frame's key is known
    reg  first_reg;                        // the next beat is a frame's first
    wire here    = BYTES > 8 || !first_reg;
    wire decides = push && !seen_reg && (here || s_axis_tlast);
    wire [31:0] said = s_axis_tdata[8*FROM +: 32];
    wire has_tag = said[15:0] == 16'h0081;
    wire ipv4    = said[15:0] == 16'h0008 && said[23:20] == 4'd4;
    // {PCP, its place behind the DSCPs'}
    wire [6:0] key = !(here && s_axis_tkeep[FROM+3]) ? 7'd64 : has_tag ? {4'b1000, said[23:21]} : ipv4 ? {1'b0, said[31:26]} : 7'd64;

    wire beat_valid, key_valid, key_room;
    wire [BEAT-1:0]  beat;
    wire [6:0]       of;
    wire [BEAT-1:0]  pushed;
    inc_fifo #(.WIDTH(BEAT), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_beats (
        .clk       (clk),
        .rst       (rst),
        .push      (push),
        .push_data (pushed),
        .room      (room),
        .valid     (beat_valid),
        .data      (beat),
        .pop       (pop)
    );

    // No more frames than beats: there is room wherever there is room for a beat.
    inc_fifo #(.WIDTH(7), .DEPTH_W(DEPTH_W), .MARGIN(0)) u_keys (
        .clk       (clk),
        .rst       (rst),
        .push      (decides),
        .push_data (key),
        .room      (key_room),
        .valid     (key_valid),
        .data      (of),
        .pop       (pop && m_axis_tlast)
    );
    wire unused_bits = &{1'b0, key_room, said};

    // A frame's priority is looked up at its first beat and stays.
    reg                inside_reg;
    reg  [WIDTH-1:0]   kept_reg;
    reg  [WIDTH-1:0]   found;
    integer i;
    always @* begin
        found = {WIDTH{1'b0}};
        for (i = 0; i < 72; i = i + 1) begin
            if (of == i[6:0]) begin
                found = priorities[i*WIDTH +: WIDTH];
            end
        end
    end
    wire [WIDTH-1:0]   which = inside_reg ? kept_reg : found;

    genvar g;
    generate
        if (ERR != 0) begin : gen_err
            assign pushed = {s_err, s_axis_tlast, s_axis_tkeep, s_axis_tdata};
            assign m_err  = beat[BEAT-1];
        end else begin : gen_no_err
            assign pushed = {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
            assign m_err  = 1'b0;
            wire unused_err = &{1'b0, s_err};
        end
        for (g = 0; g < (1 << WIDTH); g = g + 1) begin : gen_valid
            localparam [WIDTH-1:0] NUMBER = g;
            assign m_axis_tvalid[g] = beat_valid && key_valid && which == NUMBER;
        end
    endgenerate

    assign pop          = (m_axis_tvalid & m_axis_tready) != {(1<<WIDTH){1'b0}};
    assign m_axis_tdata = beat[8*BYTES-1:0];
    assign m_axis_tkeep = beat[8*BYTES +: BYTES];
    assign m_axis_tlast = beat[9*BYTES];

    always @(posedge clk) begin
        if (push) begin
            first_reg <= s_axis_tlast;
            seen_reg  <= !s_axis_tlast && (seen_reg || decides);
        end
        if (beat_valid && key_valid) begin
            inside_reg <= !(pop && m_axis_tlast);
            kept_reg   <= which;
        end
        if (rst) begin
            first_reg  <= 1'b1;
            seen_reg   <= 1'b0;
            inside_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
