// SPDX-License-Identifier: Apache-2.0
//
// inc_send_ack: the receive side of every endpoint: what it sends next, and what its data is answered with.
//
// Contract
//   order       one frame at a time: rcv_rd, rcv_we or not, rcv_rd of the next; rcv_ei, rcv_psn, rcv_ends, rcv_host stand still meanwhile
//   latency     rcv_rd in cycle 0, rcv_behind, rcv_ahead, rcv_epsn from cycle 1 on, until the next rcv_rd, whatever is written;
//               ans_* follow rcv_duplicate, rcv_gap, rcv_full, rcv_accept in the same cycle
//   throughput  a read, or a write of what was read, in a cycle
//   stall       none
//   numbers     all on the wire; the distance is serial
//   answer      accepted data and duplicates an ACK, a gap a NAK once, what finds its pipe full an RNR NAK, a CNP, both or nothing, by cfg_*;
//               the MSN counts the message that ends with accepted data
//   commit      with rcv_we: data that is accepted makes ePSN one more, a gap or a full pipe set nakSent, which accepted data clears
//   start       init_we sets the state of init_ei: ePSN = init_psn, nothing sent; not in a cycle with rcv_we
//   reset       none needed: no state of a group is known until its start
//   not done    knows no roles, ranges and pipes: what data is, is for CheckPipe to say
`default_nettype none

module inc_send_ack #(
    // bits of an endpoint's index in the table
    parameter EI_W = 4
) (
    input  wire             clk,

    input  wire [4:0]       cfg_rnr_timer,
    input  wire             cfg_rnr,
    input  wire             cfg_cnp,

    // start of a group, an endpoint at a time
    input  wire             init_we,
    input  wire [EI_W-1:0]  init_ei,
    input  wire [23:0]      init_psn,

    // look
    input  wire             rcv_rd,
    input  wire [EI_W-1:0]  rcv_ei,
    input  wire [23:0]      rcv_psn,
    // LAST or ONLY
    input  wire             rcv_ends,
    // the endpoint is a host
    input  wire             rcv_host,
    output wire             rcv_behind,
    output wire             rcv_ahead,
    output wire [23:0]      rcv_epsn,

    // what the data is, at most one
    input  wire             rcv_duplicate,
    input  wire             rcv_gap,
    input  wire             rcv_full,
    input  wire             rcv_accept,
    // commit it
    input  wire             rcv_we,

    // its answers: at most one of ACK, NAK, RNR NAK, with its fields; a CNP may come behind an RNR NAK or alone
    output wire             ans_ack,
    output wire             ans_nak,
    output wire             ans_rnr,
    output wire             ans_cnp,
    output wire [23:0]      ans_psn,
    output wire [7:0]       ans_syndrome,
    output wire [23:0]      ans_msn
);

`ifndef __ICARUS__
    generate
        if (EI_W < 1 || EI_W > 23) begin : gen_bad_index
            $error("inc_send_ack: EI_W must be 1 to 23");
        end
    endgenerate
`endif

    localparam [7:0] ACK_PLAIN = 8'h1F, NAK_SEQUENCE = 8'h60;

    wire [23:0] epsn, msn;
    wire        nak_sent;
    wire [23:0] epsn_next, msn_next;
    wire        nak_sent_next;

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(49), .ADDR_W(EI_W)) u_endpoints (
        .clk   (clk),
        .we    (rcv_we || init_we),
        .waddr (rcv_we ? rcv_ei : init_ei),
        .wdata (rcv_we ? {nak_sent_next, msn_next, epsn_next} : {1'b0, 24'd0, init_psn}),
        .re    (rcv_rd),
        .raddr (rcv_ei),
        .rdata ({nak_sent, msn, epsn})
    );

    wire [23:0] distance = rcv_psn - epsn;
    assign rcv_behind = distance[23];
    assign rcv_ahead  = !distance[23] && distance != 24'd0;
    assign rcv_epsn   = epsn;

    assign ans_ack = rcv_accept || rcv_duplicate;
    assign ans_nak = rcv_gap && !nak_sent;
    assign ans_rnr = rcv_full && cfg_rnr;
    assign ans_cnp = rcv_full && cfg_cnp && rcv_host;

    // what is accepted, or finds its pipe full, has the number that is expected
    assign ans_psn      = rcv_duplicate ? epsn - 24'd1 : epsn;
    assign ans_syndrome = ans_ack ? ACK_PLAIN : rcv_full ? {3'b001, cfg_rnr_timer} : NAK_SEQUENCE;
    assign ans_msn      = msn_next;

    assign epsn_next     = rcv_accept ? epsn + 24'd1 : epsn;
    assign msn_next      = rcv_accept && rcv_ends ? msn + 24'd1 : msn;
    assign nak_sent_next = !rcv_accept && (nak_sent || rcv_gap || rcv_full);

endmodule

`default_nettype wire
