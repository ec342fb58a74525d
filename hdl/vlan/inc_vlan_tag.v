// SPDX-License-Identifier: Apache-2.0
//
// inc_vlan_tag: puts an 802.1Q tag into frames on their way out, if one is handed to it beside them.
//
// Contract
//   latency     0 cycles from a beat to the one that has its first byte, while nothing waits
//   throughput  1 beat per cycle; a frame whose tag makes it a beat longer takes that cycle more
//   tag         s_axis_tuser is {tagged, the tag's other 16 bits, port, err}, err valid with tlast, the rest the same in all beats of a
//               frame. A tagged frame leaves with 0x8100 and these bits behind its first 12 bytes, of which it has at least as many
//   stall       m_axis_tready low
//   reset       between frames, nothing inside
//   not done    no length is checked. tkeep must be contiguous, and full but on a frame's last beat
`default_nettype none

module inc_vlan_tag #(
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
    input  wire [PORT_W+17:0] s_axis_tuser,

    output wire [8*BYTES-1:0] m_axis_tdata,
    output wire [BYTES-1:0]   m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [PORT_W:0]    m_axis_tuser
);

`ifndef __ICARUS__
    generate
        if (BYTES < 8 || BYTES > 2048 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_vlan_tag: BYTES must be a power of two, 8 to 2048");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_vlan_tag: PORT_W must be at least 1");
        end
    endgenerate
`endif

    // where the tag goes: its beat, its first lane
    localparam BEAT_I = 12 / BYTES;
    localparam [1:0] BEAT = BEAT_I[1:0];
    localparam LANE = 12 % BYTES;

    reg  [1:0]        idx_reg;       // number of the beat in the frame; stays behind the tag's
    reg  [31:0]       carry_reg;     // the last four lanes of the beat before
    reg               rest_reg;      // a frame's last bytes are still to leave, from carry_reg
    reg  [3:0]        rest_keep_reg;
    reg  [PORT_W:0]   rest_user_reg;

    wire        has_tag = s_axis_tuser[PORT_W+17];
    wire [15:0] tci    = s_axis_tuser[PORT_W+16 : PORT_W+1];
    wire        here   = idx_reg == BEAT;
    wire        moves  = has_tag && (here || idx_reg > BEAT);
    wire        splits = moves && s_axis_tlast && s_axis_tkeep[BYTES-4];

    wire o_ready;
    wire o_valid = rest_reg || s_axis_tvalid;
    wire o_fire  = o_valid && o_ready;
    wire take    = s_axis_tvalid && s_axis_tready;
    assign s_axis_tready = o_ready && !rest_reg;

    wire [31:0]        tag = {tci[7:0], tci[15:8], 16'h0081};
    wire [8*BYTES-1:0] o_data;
    wire [BYTES-1:0]   o_keep = rest_reg ? {{(BYTES-4){1'b0}}, rest_keep_reg} : moves ? {s_axis_tkeep[BYTES-5:0], 4'hF} : s_axis_tkeep;
    wire               o_last = rest_reg || (s_axis_tlast && !splits);
    wire [PORT_W:0]    o_user = rest_reg ? rest_user_reg : s_axis_tuser[PORT_W:0];
    genvar b;
    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_lane
            // a beat behind the tag's begins with what the one before had too much
            wire [7:0] begun;
            if (b < 4) begin : gen_first
                assign begun = rest_reg || !here ? carry_reg[8*b +: 8] : s_axis_tdata[8*b +: 8];
            end else if (b < LANE) begin : gen_before
                assign begun = here ? s_axis_tdata[8*b +: 8] : s_axis_tdata[8*(b-4) +: 8];
            end else if (b < LANE + 4) begin : gen_tag
                assign begun = here ? tag[8*(b-LANE) +: 8] : s_axis_tdata[8*(b-4) +: 8];
            end else begin : gen_behind
                assign begun = s_axis_tdata[8*(b-4) +: 8];
            end
            assign o_data[8*b +: 8] = moves || rest_reg ? begun : s_axis_tdata[8*b +: 8];
        end
    endgenerate

    always @(posedge clk) begin
        if (take) begin
            carry_reg     <= s_axis_tdata[8*BYTES-1 -: 32];
            rest_keep_reg <= s_axis_tkeep[BYTES-1 -: 4];
            rest_user_reg <= s_axis_tuser[PORT_W:0];
            idx_reg       <= s_axis_tlast ? 2'd0 : idx_reg > BEAT ? idx_reg : idx_reg + 2'd1;
        end
        if (o_fire) begin
            rest_reg <= take && splits;
        end
        if (rst) begin
            idx_reg  <= 2'd0;
            rest_reg <= 1'b0;
        end
    end

    inc_skid #(.WIDTH(9*BYTES + PORT_W + 2)) u_out (
        .clk     (clk),
        .rst     (rst),
        .s_data  ({o_last, o_user[PORT_W:1], o_last && o_user[0], o_keep, o_data}),
        .s_valid (o_valid),
        .s_ready (o_ready),
        .m_data  ({m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata}),
        .m_valid (m_axis_tvalid),
        .m_ready (m_axis_tready)
    );

endmodule

`default_nettype wire
