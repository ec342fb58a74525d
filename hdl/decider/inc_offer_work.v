// SPDX-License-Identifier: Apache-2.0
//
// inc_offer_work: offers a frame's work on the payload to AggregateData, and knows which words of the packet buffer are still wanted.
//
// Contract
//   order       one work at a time, put while work_held is low; it is speculative until work_commits or work_kills follows, before the next
//   latency     put in cycle 0, op_valid in cycle 1 at the earliest; with PROMPT in cycle 0
//   throughput  a work in 2 cycles
//   stall       op_ready: op_valid is high in cycles with op_ready alone; work_held
//   words       a frame begins in the packet buffer where the one that was done last ended: vrd_end, with `done`. pkt_start is the oldest beat
//               that a frame not yet decided, or the work held, may want
//   pairs       op_pair is the pair of work_ep; op_pairs are those with an endpoint of work_mask. A copy is nobody's contribution: in a tree
//               it lies in the first pair
//   verdict     as inc_hold_work has it
//   reset       nothing held; words begin at 0
//   not done    says nothing about what is to be done
`default_nettype none

module inc_offer_work #(
    // bits of a payload's number of words
    parameter WORDS_W  = 8,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W     = 3,
    // bits of an endpoint mask
    parameter MASK_W   = 5,
    // bits of a slot's number
    parameter SLOT_W   = 4,
    // payloads a slot unit holds: 1, or the pairs of endpoints
    parameter PLANES   = 1,
    // bits of a pair's number, at least 1
    parameter PAIR_W   = 1,
    // 1: contributions are kept by pairs of endpoints and reduced when the slot is complete
    parameter TREE     = 0,
    // bits of a beat's address in the packet buffer
    parameter PKT_W    = 9,
    // 1: a work is offered in the cycle in which it is put
    parameter PROMPT   = 0
) (
    input  wire               clk,
    input  wire               rst,

    // the frame decided: its opcode; it is done, and where its beats ended
    input  wire [7:0]         c_opcode,
    input  wire               c_done,
    input  wire [PKT_W-1:0]   vrd_end,

    // a work, and the verdict on it
    output wire               work_held,
    input  wire               work_put,
    input  wire [WORDS_W-1:0] work_words,
    // unit of the slot's payload
    input  wire [SLOT_W-1:0]  work_unit,
    // whose it is, who has contributed to the slot; it is a copy
    input  wire [EP_W-1:0]    work_ep,
    input  wire [MASK_W-1:0]  work_mask,
    input  wire               work_copied,
    input  wire               work_read,
    input  wire               work_take,
    input  wire               work_write,
    input  wire               work_emit,
    input  wire               work_reduce,
    input  wire [1:0]         work_function,
    input  wire [1:0]         work_dtype,
    input  wire               work_big_endian,
    input  wire               work_commits,
    input  wire               work_kills,

    // for AggregateData
    input  wire               op_ready,
    output wire               op_valid,
    // the frame is not committed yet: op_commit or op_kill follows
    output wire               op_spec,
    output wire               op_commit,
    output wire               op_kill,
    // where the frame begins; its payload is behind an immediate
    output wire [PKT_W-1:0]   op_start,
    output wire               op_imm,
    output wire [WORDS_W-1:0] op_words,
    // unit of the slot's payload, and pair of the endpoint
    output wire [SLOT_W-1:0]  op_slot,
    output wire [PAIR_W-1:0]  op_pair,
    // add to the slot's words, in a tree to those of the pair, or send them unchanged
    output wire               op_read,
    // take the frame's words
    output wire               op_take,
    output wire               op_write,
    output wire               op_emit,
    // TREE: reduce these pairs and send the result
    output wire               op_reduce,
    output wire [PLANES-1:0]  op_pairs,
    output wire [1:0]         op_function,
    output wire [1:0]         op_dtype,
    output wire               op_big_endian,
    // the oldest beat that a frame not yet decided may want
    output wire [PKT_W-1:0]   pkt_start
);

`ifndef __ICARUS__
    generate
        if (PLANES < 1 || PAIR_W != ($clog2(PLANES) < 1 ? 1 : $clog2(PLANES)) || (TREE == 0 && PLANES != 1)
            || (TREE == 1 && (2 * PLANES + 1 < MASK_W || (PLANES > 1 && 2 * PLANES > MASK_W + 1)))) begin : gen_bad_planes
            $error("inc_offer_work: PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them");
        end
    endgenerate
`endif

    wire [PLANES-1:0] pairs;
    wire [PAIR_W-1:0] pair;
    genvar e;
    generate
        for (e = 0; e < PLANES; e = e + 1) begin : gen_pairs
            wire there;
            if (2 * e + 1 < MASK_W) begin : gen_two
                assign there = |work_mask[2*e +: 2];
            end else begin : gen_single
                assign there = work_mask[2*e];
            end
            assign pairs[e] = work_copied ? e == 0 : there;
        end
        if (TREE != 0 && EP_W > PAIR_W) begin : gen_pair
            assign pair = work_copied ? {PAIR_W{1'b0}} : work_ep[1 +: PAIR_W];
        end else begin : gen_no_pair
            assign pair = {PAIR_W{1'b0}};
        end
    endgenerate

    // start, immediate, words, unit, pair, five things to do, pairs, function, type, byte order
    localparam WORK_W = PKT_W + 1 + WORDS_W + SLOT_W + PAIR_W + 5 + PLANES + 2 + 2 + 1;

    reg  [PKT_W-1:0] start_reg;        // where the frame that is decided next begins
    wire             imm = c_opcode == 8'h03 || c_opcode == 8'h05;

    inc_hold_work #(.WIDTH(WORK_W), .PROMPT(PROMPT)) u_work (
        .clk       (clk),
        .rst       (rst),
        .held      (work_held),
        .put       (work_put),
        .put_data  ({start_reg, imm, work_words, work_unit, pair, work_read, work_take, work_write, work_emit, work_reduce, pairs,
                     work_function, work_dtype, work_big_endian}),
        .commits   (work_commits),
        .kills     (work_kills),
        .op_ready  (op_ready),
        .op_valid  (op_valid),
        .op_spec   (op_spec),
        .op_commit (op_commit),
        .op_kill   (op_kill),
        .op_data   ({op_start, op_imm, op_words, op_slot, op_pair, op_read, op_take, op_write, op_emit, op_reduce, op_pairs, op_function,
                     op_dtype, op_big_endian})
    );

    assign pkt_start = work_held && op_take ? op_start : start_reg;

    always @(posedge clk) begin
        if (c_done) begin
            start_reg <= vrd_end;
        end
        if (rst) begin
            start_reg <= {PKT_W{1'b0}};
        end
    end

    wire unused_bits = &{1'b0, work_ep, work_mask};

endmodule

`default_nettype wire
