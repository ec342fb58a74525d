// SPDX-License-Identifier: Apache-2.0
//
// inc_replicate_data_sva: decisions and words come when there is room; a word that is read was written before; a decision has an endpoint, and copies go to its endpoints, each once.
`default_nettype none

module inc_replicate_data_sva #(
    parameter WORDS_W = 8,
    parameter EP_W = 3,
    parameter MASK_W = 5,
    parameter ADDR_W = 9
) (
    input wire               clk,
    input wire               rst,

    input wire               tx_room,
    input wire               tx_valid,
    input wire [MASK_W-1:0]  tx_mask,
    input wire [WORDS_W-1:0] tx_words,
    input wire               emit_room,
    input wire               emit_valid,
    input wire               req_valid,
    input wire [MASK_W-1:0]  desc_mask,
    input wire [EP_W-1:0]    endpoint,
    input wire               desc_valid,
    input wire               partly_reg,
    input wire [MASK_W-1:0]  left_reg,
    input wire               job_valid,
    input wire [WORDS_W-1:0] job_words,
    input wire [WORDS_W-1:0] index_reg,
    input wire [ADDR_W:0]    tail_reg,
    input wire [ADDR_W:0]    base_reg,
    input wire [ADDR_W:0]    next_reg,
    input wire               fetch,
    input wire [ADDR_W:0]    used_reg
);

    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};
    localparam [ADDR_W:0]   FULL   = {1'b1, {ADDR_W{1'b0}}};
    wire [ADDR_W:0]   kept  = tail_reg - base_reg;
    wire [ADDR_W:0]   done  = next_reg - base_reg;
    wire [ADDR_W:0]   words = {{(ADDR_W+1-WORDS_W){1'b0}}, tx_words};
    wire [MASK_W-1:0] todo  = partly_reg ? left_reg : desc_mask;
    wire [MASK_W-1:0] set   = todo >> endpoint;
    wire [MASK_W-1:0] below = todo & ~({MASK_W{1'b1}} << endpoint);
    wire              unused = &{1'b0, set};

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : room_for_decision assert (!tx_valid || tx_room); end
            begin : somebody_gets_it assert (!tx_valid || tx_mask != NOBODY); end
            begin : payload_fits assert (!tx_valid || words <= FULL); end
            begin : room_for_word assert (!emit_valid || emit_room); end
            begin : copy_is_wanted assert (!req_valid || set[0]); end
            begin : copy_in_order assert (!req_valid || below == NOBODY); end
            begin : rest_is_of_the_mask assert (!(desc_valid && partly_reg) || (left_reg != NOBODY && (left_reg & ~desc_mask) == NOBODY)); end
            begin : word_of_the_payload assert (!job_valid || (index_reg != 0 && index_reg <= job_words)); end
            begin : reads_a_word assert (!fetch || next_reg != tail_reg); end
            begin : places_agree assert (used_reg == kept && kept <= FULL && done <= kept); end
        end
    end

endmodule

`default_nettype wire
