// SPDX-License-Identifier: Apache-2.0
//
// inc_send_ack: the receive side of every endpoint: what it sends next, and what its data is answered with.
//
// Contract
//   order       frames one after the other: rcv_rd of its endpoint; what it is, until rcv_go; rcv_we, or not, before rcv_go of the next.
//               rcv_psn, rcv_ends, rcv_host stand still from the cycle after rcv_rd to rcv_go
//   latency     rcv_rd in cycle 0, rcv_behind, rcv_expected from cycle 2 on; rcv_duplicate, rcv_gap, rcv_full, rcv_accept with rcv_go, from the
//               cycle after which ans_* stand until the next rcv_go
//   throughput  a frame in 2 cycles
//   stall       none
//   ahead       a frame takes the one ahead of it, if that has gone and is of the same endpoint (rcv_follows), for committed. If a frame
//               was not, rcv_redo, and rcv_behind and rcv_expected are right 2 cycles later. rcv_written: that one is committed with rcv_rd
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

    // look; the frame ahead is of the same endpoint and not decided; is committed in this cycle
    input  wire             rcv_rd,
    input  wire [EI_W-1:0]  rcv_ei,
    input  wire             rcv_follows,
    input  wire             rcv_written,
    // a frame ahead may have been taken for committed and is not: look again
    input  wire             rcv_redo,
    input  wire [23:0]      rcv_psn,
    // LAST or ONLY
    input  wire             rcv_ends,
    // the endpoint is a host
    input  wire             rcv_host,
    output wire             rcv_behind,
    output wire             rcv_expected,

    // what the data is, at most one, when it goes on
    input  wire             rcv_go,
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

    reg  [EI_W-1:0] look_ei_reg, own_ei_reg;
    reg             writes_reg;
    reg  [48:0]     next_reg;
    wire [48:0]     ram_word, word;
    wire            takes;
    wire            writes = rcv_we && writes_reg;

    inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(49), .ADDR_W(EI_W)) u_endpoints (
        .clk   (clk),
        .we    (writes || init_we),
        .waddr (writes ? own_ei_reg : init_ei),
        .wdata (writes ? next_reg : {1'b0, 24'd0, init_psn}),
        .re    (rcv_rd),
        .raddr (rcv_ei),
        .rdata (ram_word)
    );

    inc_look_ahead #(.BITS(49)) u_ahead (
        .clk     (clk),
        .read    (rcv_rd),
        .follows (rcv_follows),
        .written (rcv_written && writes_reg),
        .redo    (rcv_redo),
        .ram     (ram_word),
        .writes  (writes_reg),
        .next    (next_reg),
        .takes   (takes),
        .word    (word)
    );

    // ---- the facts, in the cycle after rcv_rd ----

    wire [23:0] word_epsn, word_msn;
    wire        word_nak_sent;
    assign {word_nak_sent, word_msn, word_epsn} = word;
    wire [23:0] distance = rcv_psn - word_epsn;

    reg         look_reg, behind_reg, same_reg, nak_sent;
    reg  [23:0] epsn, msn;

    always @(posedge clk) begin
        look_reg <= rcv_rd || rcv_redo;
        if (rcv_rd) begin
            look_ei_reg <= rcv_ei;
        end
        if (look_reg) begin
            behind_reg <= distance[23];
            same_reg   <= rcv_psn == word_epsn;
            nak_sent   <= word_nak_sent;
            epsn       <= word_epsn;
            msn        <= word_msn;
        end
    end

    assign rcv_behind   = behind_reg;
    assign rcv_expected = same_reg;

    // ---- the answer, and the state after it ----

    wire        acks     = rcv_accept || rcv_duplicate;
    wire [23:0] msn_next = rcv_accept && rcv_ends ? msn + 24'd1 : msn;

    reg         ack_reg, nak_reg, rnr_reg, cnp_reg;
    reg  [7:0]  syndrome_reg;
    reg  [23:0] psn_reg;

    always @(posedge clk) begin
        if (rcv_go) begin
            own_ei_reg <= look_ei_reg;
            ack_reg    <= acks;
            nak_reg    <= rcv_gap && !nak_sent;
            rnr_reg    <= rcv_full && cfg_rnr;
            cnp_reg    <= rcv_full && cfg_cnp && rcv_host;
            // what is accepted, or finds its pipe full, has the number that is expected
            psn_reg      <= rcv_duplicate ? epsn - 24'd1 : epsn;
            syndrome_reg <= acks ? ACK_PLAIN : rcv_full ? {3'b001, cfg_rnr_timer} : NAK_SEQUENCE;
            writes_reg   <= rcv_accept || rcv_gap || rcv_full;
            next_reg     <= {!rcv_accept && (nak_sent || rcv_gap || rcv_full), msn_next, rcv_accept ? epsn + 24'd1 : epsn};
        end
    end

    assign ans_ack      = ack_reg;
    assign ans_nak      = nak_reg;
    assign ans_rnr      = rnr_reg;
    assign ans_cnp      = cnp_reg;
    assign ans_psn      = psn_reg;
    assign ans_syndrome = syndrome_reg;
    assign ans_msn      = next_reg[47:24];

    wire unused_bits = &{1'b0, distance, takes};

endmodule

`default_nettype wire
