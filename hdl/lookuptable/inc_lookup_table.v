// SPDX-License-Identifier: Apache-2.0
//
// inc_lookup_table: finds the endpoint and group that a frame belongs to, by its destination QPN.
//
// Contract
//   search      none: the QPN's low bits are the endpoint's index; the record read there is compared in full
//   latency     seek_valid in cycle 0, hdr_valid, always, in cycle 1, fwd_valid and the entry at the head of an empty queue in cycle 2
//   throughput  1 header per cycle; entries leave in the order of the headers
//   stall       the writer of headers watches `room`, true while more than 8 entries are free
//   tables      written word by word through tbl_*, at any time; read by the headers that come later. Words EP_CTRL and EP_LOCAL_QPN of an
//               endpoint that there is are read through get_*: get_valid stands, with the rest, until `got`, in whose cycle got_data is the
//               word. That takes a cycle without a header; if there is none for 15 cycles, `room` is low until then, and `got` comes in the
//               cycle after the first without one
//   one port    with ONE_PORT the tables are in memories of one port: tbl_ep_we or tbl_grp_we stands, with the rest, until tbl_waits is low, which
//               is high in a cycle with a header; from the next on `room` is low until the word was taken. get_* waits for it
//   reset       queue empty; the tables' contents are unknown until written
//   entry       the header's fields, roles and settings of the group; ent_up, ent_down, ent_ackable: roles in the collective of a fixed group;
//               ent_whole: whole elements of the group's type, two bytes (FP16, BF16) or four; ent_empty: no payload;
//               with IN_BAND, beside the entry at the head, where the root is that its immediate, taken for a control, names: route_*
//   not done    drops nothing and counts nothing: it says what the frame is and whose, CheckDuplicate judges; operations and types that
//               are not built in are passed on as they stand
`default_nettype none

module inc_lookup_table #(
    // bits of a port number, at least 1
    parameter PORT_W     = 2,
    // bits of a payload length
    parameter LEN_W      = 11,
    // bits of a payload's number of words
    parameter WORDS_W    = 8,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W       = 3,
    // bits of {group, index}; EP_W or more, at most 23
    parameter EI_W       = 4,
    // bits of an endpoint mask; at most 2**EP_W and 32
    parameter MASK_W     = 5,
    // groups; the table has room for MASK_W endpoints of each
    parameter GROUPS     = 2,
    // bits of a slot's number, at least 1
    parameter SLOT_W     = 4,
    // number of ports
    parameter PORTS      = 4,
    // log2 of the number of entries in the queue, 4 to 10
    parameter DEPTH_W    = 5,
    // 1: there are in-band groups, and routes
    parameter IN_BAND    = 0,
    // 1: the tables are in memories of one port, which take half the area; a write waits for a cycle without a header
    parameter ONE_PORT   = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    // control plane
    input  wire                    cfg_foreign_bypass,
    input  wire [PORTS*PORT_W-1:0] cfg_bypass_port,
    input  wire                    tbl_ep_we,
    output wire                    tbl_waits,
    input  wire                    tbl_grp_we,
    input  wire [EI_W-1:0]         tbl_index,
    input  wire [3:0]              tbl_word,
    input  wire [31:0]             tbl_data,
    input  wire                    get_valid,
    input  wire [EI_W-1:0]         get_index,
    input  wire [3:0]              get_word,
    output wire                    got,
    output wire [31:0]             got_data,

    // from the parser: by what a header's records are found, a cycle before it, and the header
    output wire                    room,
    input  wire                    seek_valid,
    input  wire [23:0]             seek_qpn,
    input  wire [4:0]              seek_root,
    input  wire                    hdr_valid,
    input  wire [PORT_W-1:0]       hdr_port,
    input  wire                    hdr_rocev2,
    input  wire [23:0]             hdr_qpn,
    input  wire [31:0]             hdr_src_ip,
    input  wire [31:0]             hdr_dst_ip,
    input  wire                    hdr_pkey_ok,
    input  wire                    hdr_ce,
    input  wire                    hdr_sum_ok,
    input  wire                    hdr_len_ok,
    input  wire                    hdr_tver_ok,
    input  wire [7:0]              hdr_opcode,
    input  wire                    hdr_se,
    input  wire [1:0]              hdr_pad,
    input  wire [23:0]             hdr_psn,
    input  wire [31:0]             hdr_ext,
    input  wire                    hdr_too_long,
    input  wire [LEN_W-1:0]        hdr_plen,
    input  wire [WORDS_W-1:0]      hdr_words,

    // for Forward: whether the frame is bypassed, and where to
    output wire                    fwd_valid,
    output wire                    fwd_bypass,
    output wire [PORT_W-1:0]       fwd_port,

    // for CheckDuplicate: the frame's context
    output wire                    ent_valid,
    input  wire                    ent_pop,
    output wire                    ent_bypass,
    output wire                    ent_foreign,
    output wire [EI_W-1:0]         ent_ei,
    output wire                    ent_host,
    output wire                    ent_up,
    output wire                    ent_down,
    output wire                    ent_ackable,
    output wire                    ent_sum_ok,
    output wire                    ent_len_ok,
    output wire                    ent_tver_ok,
    output wire                    ent_too_long,
    output wire                    ent_whole,
    output wire                    ent_empty,
    output wire [7:0]              ent_opcode,
    output wire                    ent_se,
    output wire [1:0]              ent_pad,
    output wire                    ent_ce,
    output wire [23:0]             ent_psn,
    output wire [31:0]             ent_ext,
    output wire [LEN_W-1:0]        ent_plen,
    output wire [WORDS_W-1:0]      ent_words,
    output wire [SLOT_W-1:0]       ent_base,
    output wire [4:0]              ent_log2_n,
    output wire [MASK_W-1:0]       ent_in_mask,
    output wire [MASK_W-1:0]       ent_out_mask,
    output wire [MASK_W-1:0]       ent_ack_mask,
    output wire [MASK_W-1:0]       ent_parent_mask,
    output wire [2:0]              ent_collective,
    output wire [1:0]              ent_function,
    output wire [1:0]              ent_dtype,
    output wire                    ent_big_endian,
    output wire                    ent_in_band,

    // for Control: the endpoint toward the root, one-hot, whether there is one, and GROUP_COLLECTIVE.root_sends; stand with the entry
    output wire                    route_valid,
    output wire [MASK_W-1:0]       route_mask,
`ifdef INC_ECC
    output wire                    root_sends,

    // what was read is for a packet of RoCEv2, or for the registers; what is read for other frames, by bytes that are no QPN, nobody looks at
    output wire                    looked
`else
    output wire                    root_sends
`endif
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORTS < 1 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_lookup_table: PORTS must be 1 to 2**PORT_W");
        end
        if (EP_W < 1 || EI_W < EP_W || EI_W > 23) begin : gen_bad_index
            $error("inc_lookup_table: EI_W must be EP_W to 23");
        end
        if (MASK_W < 1 || MASK_W > (1 << EP_W) || MASK_W > 32) begin : gen_bad_mask
            $error("inc_lookup_table: MASK_W must be at most 2**EP_W and 32");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W)) || GROUPS * MASK_W < 2) begin : gen_bad_groups
            $error("inc_lookup_table: GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least");
        end
        if (SLOT_W < 1 || SLOT_W > 24) begin : gen_bad_slot
            $error("inc_lookup_table: SLOT_W must be 1 to 24");
        end
        if (DEPTH_W < 4 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_lookup_table: DEPTH_W must be 4 to 10");
        end
        if (IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_in_band
            $error("inc_lookup_table: IN_BAND must be 0 or 1");
        end
        if (ONE_PORT < 0 || ONE_PORT > 1) begin : gen_bad_one_port
            $error("inc_lookup_table: ONE_PORT must be 0 or 1");
        end
    endgenerate
`endif

    localparam RECORDS = GROUPS * MASK_W;
    localparam INDEX_W = $clog2(RECORDS);
    localparam GRP_W   = EI_W > EP_W ? EI_W - EP_W : 1;

    // words of the tables and their bits, as the register map has them
    // contract: registers 2 3
    localparam F_GROUP_SLOTS_BASE = 0, F_GROUP_SLOTS_LOG2_N = 24, W_GROUP_SLOTS_LOG2_N = 5, F_GROUP_IN_MASK_MASK = 0,
               F_GROUP_OUT_MASK_MASK = 0, F_GROUP_ACK_MASK_MASK = 0, F_GROUP_PARENT_ENDPOINT = 0, W_GROUP_PARENT_ENDPOINT = 8,
               F_GROUP_PARENT_VALID = 31, F_GROUP_COLLECTIVE_COLLECTIVE = 0, W_GROUP_COLLECTIVE_COLLECTIVE = 3,
               F_GROUP_COLLECTIVE_OP = 8, W_GROUP_COLLECTIVE_OP = 2, F_GROUP_COLLECTIVE_DTYPE = 16, W_GROUP_COLLECTIVE_DTYPE = 2,
               F_GROUP_COLLECTIVE_BIG_ENDIAN = 24, F_GROUP_COLLECTIVE_IN_BAND = 25, F_GROUP_COLLECTIVE_ROOT_SENDS = 26,
               F_GROUP_ROUTE_0_ENDPOINT_0 = 0, W_GROUP_ROUTE_0_ENDPOINT_0 = 5, F_GROUP_ROUTE_0_VALID_0 = 5, W_GROUP_ROUTE_0_VALID_0 = 1,
               F_GROUP_ROUTE_0_ENDPOINT_1 = 6, F_GROUP_ROUTE_0_ENDPOINT_2 = 12, F_GROUP_ROUTE_0_ENDPOINT_3 = 18,
               F_GROUP_ROUTE_0_ENDPOINT_4 = 24, F_EP_CTRL_VALID = 0, F_EP_CTRL_HOST = 1, F_EP_CTRL_PORT = 8, W_EP_CTRL_PORT = 8,
               F_EP_LOCAL_QPN_QPN = 0, W_EP_LOCAL_QPN_QPN = 24;
    localparam [3:0] WORD_GROUP_SLOTS = 4'd3, WORD_GROUP_IN_MASK = 4'd4, WORD_GROUP_OUT_MASK = 4'd5, WORD_GROUP_ACK_MASK = 4'd6,
                     WORD_GROUP_PARENT = 4'd7, WORD_GROUP_COLLECTIVE = 4'd8, WORD_GROUP_ROUTE_0 = 4'd9, WORD_EP_CTRL = 4'd0,
                     WORD_EP_LOCAL_QPN = 4'd1, WORD_EP_LOCAL_IP = 4'd3, WORD_EP_REMOTE_IP = 4'd4;
    // contract: end
    localparam COL_W = IN_BAND != 0 ? 10 : 8;

    // the registers read the tables in a cycle without a header, and make one if they must
    reg              got_reg;
    reg              got_qpn_reg;
    reg [3:0]        waited_reg;
    reg              put_reg;       // a write has waited
    // the memories' only port writes
    wire             put   = tbl_ep_we || tbl_grp_we;
    wire             taken = ONE_PORT != 0 && put;
    wire             get   = get_valid && !got_reg && !seek_valid && !taken;
    wire             holds = waited_reg == 4'd15 || put_reg;
    wire             look  = seek_valid || get;

    // What headers alone read is read by the header's own index: a shorter way than by the one that the registers share.
    wire [EI_W-1:0]  seek_ei = seek_qpn[EI_W-1:0];
    wire [EI_W-1:0]  ei      = seek_valid ? seek_ei : get_index;
    wire [GRP_W-1:0] group;
    wire [GRP_W-1:0] tbl_group;
    generate
        if (EI_W > EP_W) begin : gen_groups
            assign group     = seek_ei[EI_W-1:EP_W];
            assign tbl_group = tbl_index[GRP_W-1:0];
        end else begin : gen_one_group
            assign group     = 1'b0;
            assign tbl_group = 1'b0;
        end
    endgenerate

    // ---- tables ----

    // what is written for an endpoint that no group has is not kept
    wire [INDEX_W-1:0] rd_at, seek_at, wr_at;
    wire               rd_there, seek_there, wr_there;
    wire               ep_we  = tbl_ep_we && !tbl_waits && wr_there;
    wire               grp_we = tbl_grp_we && !tbl_waits;
    assign tbl_waits = ONE_PORT != 0 && seek_valid;
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_rd_index (
        .ei(ei), .index(rd_at), .present(rd_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_seek_index (
        .ei(seek_ei), .index(seek_at), .present(seek_there));
    inc_endpoint_index #(.EP_W(EP_W), .EI_W(EI_W), .MASK_W(MASK_W), .GROUPS(GROUPS), .INDEX_W(INDEX_W)) u_wr_index (
        .ei(tbl_index), .index(wr_at), .present(wr_there));

    wire [7+2:0]  ep_ctrl;          // port, host, valid
    wire [23:0]   ep_local_qpn;
    wire [31:0]   ep_local_ip;
    wire [31:0]   ep_remote_ip;
    wire [SLOT_W+4:0] grp_slots;    // log2_n, base
    wire [MASK_W-1:0] grp_in_mask;
    wire [MASK_W-1:0] grp_out_mask;
    wire [MASK_W-1:0] grp_ack_mask;
    wire [8:0]    grp_parent;       // valid, endpoint
    wire [9:0]    tbl_collective = {tbl_data[F_GROUP_COLLECTIVE_ROOT_SENDS], tbl_data[F_GROUP_COLLECTIVE_IN_BAND], tbl_data[F_GROUP_COLLECTIVE_BIG_ENDIAN],
                                      tbl_data[F_GROUP_COLLECTIVE_DTYPE +: W_GROUP_COLLECTIVE_DTYPE],
                                      tbl_data[F_GROUP_COLLECTIVE_OP +: W_GROUP_COLLECTIVE_OP],
                                      tbl_data[F_GROUP_COLLECTIVE_COLLECTIVE +: W_GROUP_COLLECTIVE_COLLECTIVE]};
    wire [COL_W-1:0] grp_collective; // root_sends, in_band, big_endian, dtype, op, collective

    inc_table #(.WORDS(RECORDS), .BITS(10), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_ep_ctrl (
        .clk(clk), .we(ep_we && tbl_word == WORD_EP_CTRL), .waddr(wr_at),
        .wdata({tbl_data[F_EP_CTRL_PORT +: W_EP_CTRL_PORT], tbl_data[F_EP_CTRL_HOST], tbl_data[F_EP_CTRL_VALID]}),
        .re(look), .raddr(rd_at), .rdata(ep_ctrl));
    inc_table #(.WORDS(RECORDS), .BITS(24), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_ep_local_qpn (
        .clk(clk), .we(ep_we && tbl_word == WORD_EP_LOCAL_QPN), .waddr(wr_at),
        .wdata(tbl_data[F_EP_LOCAL_QPN_QPN +: W_EP_LOCAL_QPN_QPN]),
        .re(look), .raddr(rd_at), .rdata(ep_local_qpn));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_ep_local_ip (
        .clk(clk), .we(ep_we && tbl_word == WORD_EP_LOCAL_IP), .waddr(wr_at), .wdata(tbl_data),
        .re(seek_valid), .raddr(seek_at), .rdata(ep_local_ip));
    inc_table #(.WORDS(RECORDS), .BITS(32), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT)) u_ep_remote_ip (
        .clk(clk), .we(ep_we && tbl_word == WORD_EP_REMOTE_IP), .waddr(wr_at), .wdata(tbl_data),
        .re(seek_valid), .raddr(seek_at), .rdata(ep_remote_ip));

    inc_table #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 5), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_slots (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_SLOTS), .waddr(tbl_group),
        .wdata({tbl_data[F_GROUP_SLOTS_LOG2_N +: W_GROUP_SLOTS_LOG2_N], tbl_data[F_GROUP_SLOTS_BASE +: SLOT_W]}),
        .re(seek_valid), .raddr(group), .rdata(grp_slots));
    inc_table #(.WORDS(1 << GRP_W), .BITS(MASK_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_in_mask (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_IN_MASK), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_IN_MASK_MASK +: MASK_W]),
        .re(seek_valid), .raddr(group), .rdata(grp_in_mask));
    inc_table #(.WORDS(1 << GRP_W), .BITS(MASK_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_out_mask (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_OUT_MASK), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_OUT_MASK_MASK +: MASK_W]),
        .re(seek_valid), .raddr(group), .rdata(grp_out_mask));
    inc_table #(.WORDS(1 << GRP_W), .BITS(MASK_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_ack_mask (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_ACK_MASK), .waddr(tbl_group), .wdata(tbl_data[F_GROUP_ACK_MASK_MASK +: MASK_W]),
        .re(seek_valid), .raddr(group), .rdata(grp_ack_mask));
    inc_table #(.WORDS(1 << GRP_W), .BITS(9), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_parent (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_PARENT), .waddr(tbl_group),
        .wdata({tbl_data[F_GROUP_PARENT_VALID], tbl_data[F_GROUP_PARENT_ENDPOINT +: W_GROUP_PARENT_ENDPOINT]}),
        .re(seek_valid), .raddr(group), .rdata(grp_parent));
    inc_table #(.WORDS(1 << GRP_W), .BITS(COL_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT)) u_grp_collective (
        .clk(clk), .we(grp_we && tbl_word == WORD_GROUP_COLLECTIVE), .waddr(tbl_group),
        .wdata(tbl_collective[COL_W-1:0]),
        .re(seek_valid), .raddr(group), .rdata(grp_collective));

    assign got      = got_reg;
    assign got_data = got_qpn_reg ? {{(32-W_EP_LOCAL_QPN_QPN){1'b0}}, ep_local_qpn} << F_EP_LOCAL_QPN_QPN
                    : {24'd0, ep_ctrl[9:2]} << F_EP_CTRL_PORT | {31'd0, ep_ctrl[1]} << F_EP_CTRL_HOST | {31'd0, ep_ctrl[0]} << F_EP_CTRL_VALID;

    always @(posedge clk) begin
        got_reg     <= get;
        got_qpn_reg <= get_word == WORD_EP_LOCAL_QPN;
        waited_reg  <= !get_valid || get || got_reg ? 4'd0 : waited_reg == 4'd15 ? waited_reg : waited_reg + 4'd1;
        put_reg     <= put && tbl_waits;
        if (rst) begin
            got_reg    <= 1'b0;
            put_reg    <= 1'b0;
            waited_reg <= 4'd0;
        end
    end

    reg              there_reg;     // there is such an endpoint
    always @(posedge clk) begin
        there_reg <= seek_there;
    end
    wire unused_seek = &{1'b0, seek_qpn, rd_there};

    // ---- decide ----

    // the record's port has 8 bits, the frame's PORT_W: either may be the wider
    wire other_port = {{PORT_W{1'b0}}, ep_ctrl[9:2]} != {8'd0, hdr_port};

    // Numbers this wide take long to compare. What the entry has of them is put together where it leaves the queue, and Forward is told
    // from registers.
    wire known   = hdr_rocev2 && there_reg && ep_ctrl[0] && ep_local_qpn == hdr_qpn;
    wire from_it = hdr_src_ip == ep_remote_ip;
    wire to_it   = hdr_dst_ip == ep_local_ip;
    wire by_way  = !other_port && hdr_pkey_ok;

    reg              fwd_valid_reg, fwd_bypass_reg;
    reg [PORT_W-1:0] fwd_port_reg;

    always @(posedge clk) begin
        fwd_valid_reg  <= hdr_valid;
        fwd_bypass_reg <= !known || (cfg_foreign_bypass && (!from_it || !to_it || !by_way));
        fwd_port_reg   <= cfg_bypass_port[hdr_port*PORT_W +: PORT_W];
        if (rst) begin
            fwd_valid_reg <= 1'b0;
        end
    end

`ifdef INC_ECC
    assign looked     = (hdr_valid && hdr_rocev2) || got_reg;
`endif
    assign fwd_valid  = fwd_valid_reg;
    assign fwd_bypass = fwd_bypass_reg;
    assign fwd_port   = fwd_port_reg;

    // one bit an endpoint; an index without a bit has no role
    wire [MASK_W-1:0] one_hot;
    wire [MASK_W-1:0] parent_hot;
    genvar e;
    generate
        for (e = 0; e < MASK_W; e = e + 1) begin : gen_mask
            localparam [23:0] E = e;
            assign one_hot[e]    = hdr_qpn[EP_W-1:0] == E[EP_W-1:0];
            assign parent_hot[e] = grp_parent[8] && grp_parent[7:0] == E[7:0];
        end
    endgenerate

    // a Reduce has no data from the parent, a Broadcast no other; AllReduce and Barrier take acknowledgements from hosts alone
    wire reduces = grp_collective[2:0] == 3'd1;
    wire spreads = grp_collective[2:0] == 3'd2;
    wire up      = |(one_hot & grp_in_mask) && !spreads;
    wire down    = !up && !reduces && |(one_hot & parent_hot);
    wire ackable = (ep_ctrl[1] || reduces || spreads) && |(one_hot & grp_ack_mask);
    // a Barrier carries nothing, the others whole elements: FP16 and BF16 have two bytes, FP32 and INT32 four
    wire empty   = hdr_plen == {LEN_W{1'b0}};
    wire halves  = grp_collective[6] != grp_collective[5];
    wire whole   = grp_collective[2:0] == 3'd3 ? empty : !hdr_plen[0] && (halves || !hdr_plen[1]);

    // ---- in-band groups: where the root of a control is ----

    // an entry: in its lowest bits what is asked first where it leaves the queue, which comes from flip-flops there
    localparam FIRST_W = 5 + EI_W + 5;
    localparam HEAD_W  = FIRST_W + (IN_BAND != 0 ? 1 : 0);
    localparam REST_W  = 1 + 3 + 6 + 8 + 1 + 2 + 1 + 24 + 32 + LEN_W + WORDS_W + SLOT_W + 4*MASK_W + 8;
    localparam KIND_W  = 8 + 8 + 1 + MASK_W + 8;     // opcode, syndrome, roles: what a frame is follows from them
    localparam FIXED_W = HEAD_W + REST_W;
    localparam ENTRY_W = FIXED_W + (IN_BAND != 0 ? MASK_W + 1 : 0);

    wire [ENTRY_W-1:0] entry_in;
    wire [ENTRY_W-1:0] entry;
    generate
        if (IN_BAND != 0) begin : gen_in_band
            // a word of the register map has five roots, which are read together
            localparam ROUTE_W  = W_GROUP_ROUTE_0_ENDPOINT_0 + W_GROUP_ROUTE_0_VALID_0;
            localparam ROUTES_W = F_GROUP_ROUTE_0_ENDPOINT_4 + ROUTE_W;
            // seek_root / 5 and seek_root % 5: a LUT for each bit
            reg  [2:0]  fifth, rest;
            always @* begin
                case (seek_root)
                    5'd0, 5'd1, 5'd2, 5'd3, 5'd4:      fifth = 3'd0;
                    5'd5, 5'd6, 5'd7, 5'd8, 5'd9:      fifth = 3'd1;
                    5'd10, 5'd11, 5'd12, 5'd13, 5'd14: fifth = 3'd2;
                    5'd15, 5'd16, 5'd17, 5'd18, 5'd19: fifth = 3'd3;
                    5'd20, 5'd21, 5'd22, 5'd23, 5'd24: fifth = 3'd4;
                    5'd25, 5'd26, 5'd27, 5'd28, 5'd29: fifth = 3'd5;
                    default:                           fifth = 3'd6;
                endcase
                case (seek_root)
                    5'd0, 5'd5, 5'd10, 5'd15, 5'd20, 5'd25, 5'd30: rest = 3'd0;
                    5'd1, 5'd6, 5'd11, 5'd16, 5'd21, 5'd26, 5'd31: rest = 3'd1;
                    5'd2, 5'd7, 5'd12, 5'd17, 5'd22, 5'd27:        rest = 3'd2;
                    5'd3, 5'd8, 5'd13, 5'd18, 5'd23, 5'd28:        rest = 3'd3;
                    default:                                       rest = 3'd4;
                endcase
            end
            wire [3:0]  word   = tbl_word - WORD_GROUP_ROUTE_0;
            wire [ROUTES_W-1:0] routes;
            reg  [2:0]  rest_reg;

            inc_table #(.WORDS(8 << GRP_W), .BITS(ROUTES_W), .ADDR_W(GRP_W + 3), .ONE_PORT(ONE_PORT)) u_grp_route (
                .clk(clk), .we(grp_we && tbl_word >= WORD_GROUP_ROUTE_0), .waddr({tbl_group, word[2:0]}),
                .wdata(tbl_data[F_GROUP_ROUTE_0_ENDPOINT_0 +: ROUTES_W]),
                .re(seek_valid), .raddr({group, fifth}), .rdata(routes));
            always @(posedge clk) begin
                rest_reg <= rest;
            end

            reg [ROUTE_W-1:0] route; // valid, endpoint
            always @* begin
                case (rest_reg)
                    3'd0:    route = routes[F_GROUP_ROUTE_0_ENDPOINT_0 +: ROUTE_W];
                    3'd1:    route = routes[F_GROUP_ROUTE_0_ENDPOINT_1 +: ROUTE_W];
                    3'd2:    route = routes[F_GROUP_ROUTE_0_ENDPOINT_2 +: ROUTE_W];
                    3'd3:    route = routes[F_GROUP_ROUTE_0_ENDPOINT_3 +: ROUTE_W];
                    default: route = routes[F_GROUP_ROUTE_0_ENDPOINT_4 +: ROUTE_W];
                endcase
            end
            wire [MASK_W-1:0] route_hot;
            for (e = 0; e < MASK_W; e = e + 1) begin : gen_route
                localparam [4:0] E = e;
                assign route_hot[e] = route[F_GROUP_ROUTE_0_VALID_0]
                                      && route[F_GROUP_ROUTE_0_ENDPOINT_0 +: W_GROUP_ROUTE_0_ENDPOINT_0] == E;
            end
            assign entry_in[FIRST_W] = grp_collective[8];
            assign ent_in_band       = entry[FIRST_W];
            assign entry_in[ENTRY_W-1:FIXED_W] = {grp_collective[9], route_hot};
            assign {root_sends, route_mask}    = entry[ENTRY_W-1:FIXED_W];

            wire unused_in_band = &{1'b0, word};
        end else begin : gen_fixed
            assign {root_sends, ent_in_band} = 2'b00;
            assign route_mask = {MASK_W{1'b0}};
            wire unused_in_band = &{1'b0, tbl_collective, tbl_data, seek_root};
        end
    endgenerate
    assign route_valid = |route_mask;

    // ---- queue ----

    assign entry_in[FIRST_W-1:0] = {known, cfg_foreign_bypass, from_it, to_it, by_way, hdr_qpn[EI_W-1:0], grp_slots[SLOT_W +: 5]};
    assign entry_in[HEAD_W +: REST_W] = {
        ep_ctrl[1], down, ackable,
        hdr_sum_ok, hdr_len_ok, hdr_tver_ok, hdr_too_long, whole, empty,
        hdr_se, hdr_pad, hdr_ce, hdr_psn, hdr_ext[23:0], hdr_plen, hdr_words,
        grp_slots[SLOT_W-1:0], grp_in_mask, grp_out_mask, grp_ack_mask,
        hdr_opcode, hdr_ext[31:24], up, parent_hot, grp_collective[7:0]};

    wire has_room;
    assign room = has_room && !holds;

    inc_fifo #(.WIDTH(ENTRY_W), .DEPTH_W(DEPTH_W), .MARGIN(8), .HEAD(HEAD_W + KIND_W)) u_entries (
        .clk       (clk),
        .rst       (rst),
        .push      (hdr_valid),
        .push_data (entry_in),
        .room      (has_room),
        .valid     (ent_valid),
        .data      (entry),
        .pop       (ent_pop)
    );

    wire ent_known, ent_bypasses, ent_from_it, ent_to_it, ent_by_way;
    assign ent_foreign = !ent_from_it || !ent_to_it || !ent_by_way;
    assign ent_bypass  = !ent_known || (ent_foreign && ent_bypasses);

    assign {ent_known, ent_bypasses, ent_from_it, ent_to_it, ent_by_way, ent_ei, ent_log2_n} = entry[FIRST_W-1:0];
    assign {ent_host, ent_down, ent_ackable,
            ent_sum_ok, ent_len_ok, ent_tver_ok, ent_too_long, ent_whole, ent_empty,
            ent_se, ent_pad, ent_ce, ent_psn, ent_ext[23:0], ent_plen, ent_words,
            ent_base, ent_in_mask, ent_out_mask, ent_ack_mask,
            ent_opcode, ent_ext[31:24], ent_up, ent_parent_mask, ent_big_endian, ent_dtype, ent_function, ent_collective} = entry[HEAD_W +: REST_W];

endmodule

`default_nettype wire
