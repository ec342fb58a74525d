// SPDX-License-Identifier: Apache-2.0
//
// inc_aggregate_data_sva: works come when there is room for one; one at most is speculative, the youngest, and it has one verdict. It lies in
// the slots, and no word is read that has not come.
`default_nettype none

module inc_aggregate_data_sva #(
    parameter SLOTS = 16,
    parameter SLOT_W = 4,
    parameter MTU_WORDS = 128,
    parameter WORDS_W = 8,
    parameter PKT_W = 9
) (
    input wire               clk,
    input wire               rst,

    input wire               op_ready,
    input wire               op_valid,
    input wire               op_spec,
    input wire               op_commit,
    input wire               op_kill,
    input wire               op_take,
    input wire               op_reduce,
    input wire [WORDS_W-1:0] op_words,
    input wire [SLOT_W-1:0]  op_slot,
    input wire               rd_ready,
    input wire               rd_en,
    input wire               rd_again,
    input wire [PKT_W-1:0]   rd_addr,
    input wire [PKT_W-1:0]   newest
);

    localparam [SLOT_W:0]    SLOT_COUNT = SLOTS[SLOT_W:0];
    localparam [WORDS_W-1:0] MOST       = MTU_WORDS[WORDS_W-1:0];
    reg spec_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        spec_reg <= !rst && ((op_valid && op_spec) || (spec_reg && !op_commit && !op_kill));
        if (live_reg && !rst) begin
            begin : room_for_work assert (!op_valid || op_ready); end
            begin : one_speculative assert (!op_valid || !spec_reg); end
            begin : one_verdict assert (!(op_commit && op_kill)); end
            begin : verdict_of_a_work assert (!(op_commit || op_kill) || spec_reg); end
            begin : has_words assert (!op_valid || op_words != {WORDS_W{1'b0}} || (op_reduce && !op_take)); end
            begin : not_too_many assert (!op_valid || op_words <= MOST); end
            begin : slot_is_there assert (!op_valid || {1'b0, op_slot} < SLOT_COUNT); end
            begin : reads_a_word assert (!rd_en || rd_again || rd_addr != newest); end
            begin : reads_with_leave assert (!rd_en || rd_ready); end
        end
    end

endmodule

`default_nettype wire
