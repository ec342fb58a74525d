// SPDX-License-Identifier: Apache-2.0
//
// inc_vlan_strip: takes the 802.1Q tag out of frames on their way in, and hands it on beside them.
//
// Contract
//   latency     1 cycle from a beat to the one that begins with its first byte; a beat of a frame with a tag waits for the one behind it
//   throughput  1 beat per cycle, no bubbles
//   tag         bytes 12 to 15 of a frame are a tag if they are there and begin with 0x8100. m_axis_tuser is {tagged, the tag's other 16
//               bits, port, err}: the tag from the beat on that had it, 0 where there is none, err valid with tlast
//   stall       m_axis_tready low
//   reset       between frames, nothing inside
//   not done    one tag: what stands behind it is not looked at. tkeep must be contiguous, and full but on a frame's last beat
`default_nettype none

module inc_vlan_strip #(
    // bytes of a beat; a power of two, 8 to 2048
    parameter BYTES  = 8,
    // bits of a port number, at least 1
    parameter PORT_W = 2
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [8*BYTES-1:0] s_axis_tdata,
    input  wire [BYTES-1:0]   s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [PORT_W:0]    s_axis_tuser,

    output wire [8*BYTES-1:0] m_axis_tdata,
    output wire [BYTES-1:0]   m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [PORT_W+17:0] m_axis_tuser
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_vlan_strip: BYTES must be a power of two, 8 to 2048");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_vlan_strip: PORT_W must be at least 1");
        end
    endgenerate
`endif

    // where the tag is: its beat, its first lane
    localparam BEAT_I = 12 / BYTES;
    localparam [1:0] BEAT = BEAT_I[1:0];
    localparam LANE = 12 % BYTES;

    // a beat waits here until it is known what follows it
    reg               h_valid, h_last, h_err;
    reg [8*BYTES-1:0] h_data;
    reg [BYTES-1:0]   h_keep;
    reg [PORT_W-1:0]  h_port;
    reg [1:0]         h_idx;         // its number in the frame; stays behind the tag's
    reg               has_tag_reg;
    reg [15:0]        tci_reg;

    wire        here    = h_idx == BEAT;
    wire        begins  = here && h_keep[LANE+3] && h_data[8*LANE +: 16] == 16'h0081;
    wire [15:0] tci     = here ? {h_data[8*(LANE+2) +: 8], h_data[8*(LANE+3) +: 8]} : tci_reg;
    wire        has_tag  = begins || (h_idx > BEAT && has_tag_reg);
    // four bytes of the beat behind it close it, which may be all that one has
    wire        needs   = h_valid && has_tag && !h_last;
    wire        absorbs = needs && s_axis_tlast && !s_axis_tkeep[4];

    wire o_ready;
    wire o_valid = h_valid && (!needs || s_axis_tvalid);
    wire o_fire  = o_valid && o_ready;
    wire o_last  = h_last || absorbs;
    wire o_err   = h_last ? h_err : absorbs && s_axis_tuser[0];
    wire take    = s_axis_tvalid && s_axis_tready;

    assign s_axis_tready = !h_valid || o_ready;

    wire [8*BYTES-1:0] moved     = {s_axis_tdata[31:0], h_data[8*BYTES-1:32]};
    wire [BYTES-1:0]   left      = h_last ? {4'd0, h_keep[BYTES-1:4]} : {s_axis_tkeep[3:0], {(BYTES-4){1'b1}}};
    wire [8*BYTES-1:0] o_data;
    wire [BYTES-1:0]   o_keep    = has_tag ? left : h_keep;
    genvar b;
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_lane
            if (b < LANE) begin : gen_before
                assign o_data[8*b +: 8] = has_tag && !here ? moved[8*b +: 8] : h_data[8*b +: 8];
            end else begin : gen_behind
                assign o_data[8*b +: 8] = has_tag ? moved[8*b +: 8] : h_data[8*b +: 8];
            end
        end
    endgenerate

    always @(posedge clk) begin
        if (take && !absorbs) begin
            h_valid <= 1'b1;
            h_data  <= s_axis_tdata;
            h_keep  <= s_axis_tkeep;
            h_last  <= s_axis_tlast;
            h_port  <= s_axis_tuser[PORT_W:1];
            h_err   <= s_axis_tuser[0];
        end else if (o_fire) begin
            h_valid <= 1'b0;
        end
        if (o_fire) begin
            h_idx      <= o_last ? 2'd0 : here || h_idx > BEAT ? BEAT + 2'd1 : h_idx + 2'd1;
            has_tag_reg <= has_tag;
            tci_reg    <= tci;
        end
        if (rst) begin
            h_valid <= 1'b0;
            h_idx   <= 2'd0;
        end
    end

    inc_skid #(.WIDTH(9*BYTES + PORT_W + 19)) u_out (
        .clk     (clk),
        .rst     (rst),
        .s_data  ({o_last, has_tag, tci & {16{has_tag}}, h_port, o_err, o_keep, o_data}),
        .s_valid (o_valid),
        .s_ready (o_ready),
        .m_data  ({m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata}),
        .m_valid (m_axis_tvalid),
        .m_ready (m_axis_tready)
    );

endmodule

`default_nettype wire
