// SPDX-License-Identifier: Apache-2.0
//
// inc_packet_buffer_sva: a beat finds a place; reads find beats and words, and no place that is written in that cycle; one reader reads at a time;
// a verdict that is taken is there; the oldest beat of either reader moves forward over beats that have come, but that of the adders does not
// while a frame leaves alone.
`default_nettype none

module inc_packet_buffer_sva #(
    parameter ADDR_W = 9
) (
    input wire              clk,
    input wire              rst,

    input wire              push,
    input wire              vrd_valid,
    input wire              vrd_pop,
    input wire              rd_en,
    input wire              rd_again,
    input wire [ADDR_W-1:0] rd_addr,
    input wire [ADDR_W-1:0] next,
    input wire [ADDR_W-1:0] oldest,
    input wire              byp_re,
    input wire [ADDR_W-1:0] byp_addr,
    input wire [ADDR_W-1:0] byp_from,
    input wire              byp_alone,
    input wire [ADDR_W-1:0] tail_reg
);

    reg               before_reg, alone_reg;
    reg  [ADDR_W-1:0] oldest_reg, words_reg, from_reg, beats_reg;
    wire [ADDR_W-1:0] words = tail_reg - oldest;
    wire [ADDR_W-1:0] beats = tail_reg - byp_from;
    // the word that is read: where it begins, and where it ends
    reg  [ADDR_W-1:0] begin_reg, end_reg;
    wire [ADDR_W-1:0] begins = rd_again ? begin_reg : rd_addr;
    wire [ADDR_W-1:0] ends   = rd_again ? end_reg : next;
    wire [ADDR_W-1:0] word  = begins - oldest;
    wire [ADDR_W-1:0] beat  = byp_addr - byp_from;
    wire [ADDR_W-1:0] words_moved = oldest - oldest_reg;
    wire [ADDR_W-1:0] beats_moved = byp_from - from_reg;
    wire [ADDR_W-1:0] one   = {{(ADDR_W-1){1'b0}}, push};

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg   <= live_reg || rst;
        before_reg <= !rst;
        alone_reg  <= byp_alone;
        oldest_reg <= oldest;
        from_reg   <= byp_from;
        words_reg  <= words + one;
        beats_reg  <= beats + one;
        if (rd_en) begin
            begin_reg <= begins;
            end_reg   <= ends;
        end
        if (live_reg && !rst) begin
            begin : no_overflow assert (!push || (beats != {ADDR_W{1'b1}} && (byp_alone || words != {ADDR_W{1'b1}}))); end
            begin : one_reader assert (!(rd_en && byp_re)); end
            begin : reads_a_word assert (!rd_en || word < words); end
            begin : reads_apart assert (!rd_en || ends != tail_reg); end
            begin : reads_a_beat assert (!byp_re || beat < beats); end
            begin : verdict_is_there assert (!vrd_pop || vrd_valid); end
            begin : oldest_moves_on assert (!before_reg || byp_alone || alone_reg || words_moved <= words_reg); end
            begin : oldest_stands assert (!before_reg || !byp_alone || !alone_reg || words_moved == {ADDR_W{1'b0}}); end
            begin : from_moves_on assert (!before_reg || beats_moved <= beats_reg); end
        end
    end

endmodule

`default_nettype wire
