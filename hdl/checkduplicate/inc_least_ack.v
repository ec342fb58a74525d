// SPDX-License-Identifier: Apache-2.0
//
// inc_least_ack: the minimum that a Broadcast's acknowledgement leaves, before it and after it, of all endpoints.
//
// Contract
//   order       one acknowledgement at a time: ack_rd of its state, then what it says stands still; ack_own two cycles before
//               ack_ready at the latest
//   latency     ack_ready in cycle 0, ready and all that is shown in cycle 2, until the next ack_rd
//   throughput  as ReceiveACK's
//   stall       waits for ack_ready
//   range       in-band, minima lie within the frame's range, of which the PSN before it counts as well
//   covered     the frame's PSN is at or below the minimum before it
//   reset       none is needed: ready follows ack_ready
//   not done    whether anything is sent
`default_nettype none

module inc_least_ack #(
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W = 3
) (
    input  wire            clk,

    // what was acknowledged, from ReceiveACK
    input  wire            ack_rd,
    input  wire            ack_ready,
    input  wire [23:0]     ack_own,
    input  wire [23:0]     ack_own_msn,
    input  wire [23:0]     ack_rest,
    input  wire [23:0]     ack_rest_msn,
    input  wire            ack_rest_any,
    input  wire [EP_W-1:0] ack_rest_ep,

    // the frame: its endpoint, what it acknowledges and whether that counts, and its PSN
    input  wire [EP_W-1:0] endpoint,
    input  wire            counts,
    input  wire [23:0]     number,
    input  wire [23:0]     msn,
    input  wire [23:0]     psn,
    // its range, and the PSN before that
    input  wire            ranged,
    input  wire [23:0]     range_before,
    input  wire [23:0]     range_begin,
    input  wire [23:0]     range_end,

    output wire            ready,
    output wire            rose,
    output wire            covered,
    output wire [23:0]     least,
    output wire [23:0]     least_msn
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1) begin : gen_bad_ep
            $error("inc_least_ack: EP_W must be at least 1");
        end
    endgenerate
`endif

    // three steps: this endpoint's after it; the minima; and the minima within the range
    reg  [23:0] was_reg, was_msn_reg;  // ack_own, which is known two cycles before ack_rest
    wire [23:0] step        = number - was_reg;
    wire        stays       = step[23] || !counts;
    reg  [23:0] own_reg, own_msn_reg;
    wire [23:0] past_rest   = ack_rest - was_reg;
    wire [23:0] now_rest    = ack_rest - own_reg;
    wire        past_others = ack_rest_any && past_rest[23];
    wire        now_others  = ack_rest_any && (now_rest[23] || (ack_rest == own_reg && ack_rest_ep < endpoint));
    reg  [23:0] past_reg, now_reg, least_msn_reg;
    wire [23:0] past_low    = past_reg - range_begin;
    wire [23:0] past_high   = range_end - past_reg;
    wire [23:0] now_low     = now_reg - range_begin;
    wire [23:0] now_high    = range_end - now_reg;
    wire [23:0] past_psn    = past_reg - psn;
    reg  [23:0] before_reg, least_reg;
    reg         covered_reg, minima_reg, ready_reg;

    assign ready     = ready_reg;
    assign rose      = least_reg != before_reg;
    assign covered   = covered_reg;
    assign least     = least_reg;
    assign least_msn = least_msn_reg;

    always @(posedge clk) begin
        was_reg       <= ack_own;
        was_msn_reg   <= ack_own_msn;
        own_reg       <= stays ? was_reg : number;
        own_msn_reg   <= stays ? was_msn_reg : msn;
        past_reg      <= past_others ? ack_rest : was_reg;
        now_reg       <= now_others ? ack_rest : own_reg;
        least_msn_reg <= now_others ? ack_rest_msn : own_msn_reg;
        before_reg    <= !ranged ? past_reg : past_low[23] ? range_before : past_high[23] ? range_end : past_reg;
        least_reg     <= !ranged ? now_reg : now_low[23] ? range_before : now_high[23] ? range_end : now_reg;
        covered_reg   <= !past_psn[23];
        minima_reg    <= ack_ready && !ack_rd;
        ready_reg     <= minima_reg && !ack_rd;
    end

    wire unused_bits = &{1'b0, step, past_rest, now_rest, past_low, past_high, now_low, now_high, past_psn};

endmodule

`default_nettype wire
