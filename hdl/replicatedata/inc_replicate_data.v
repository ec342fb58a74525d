// SPDX-License-Identifier: Apache-2.0
//
// inc_replicate_data: turns one decision into one frame per endpoint, and offers the payload once for each.
//
// Contract
//   order       decisions first in, first out; the copies of one in ascending order of endpoint
//   latency     a decision pushed in cycle 0 is asked of TranslateHeader (req_*) in cycle 1;
//               a word offered on emit_* in cycle 0 is on word_* in cycle 2, with FLOPS in cycle 1
//   throughput  one copy and one word per cycle
//   in-band     with IN_BAND the fields that choose an offset of the PSN (in_band, rng, dir) go from decision to request, else they are 0
//   payload     a word is kept until the last copy has fetched it; 2**ADDR_W words in all, in RAM, or with FLOPS in flip-flops, which take
//               less where words are wide and few. On an FPGA synthesis makes distributed memory of these
//   stall       tx_room and emit_room; req_ready and word_ready. tx_room stands in a register, as it decides late who goes on: a decision is pushed in a
//               cycle in which it is high, and 2**DEPTH_W - 1 may wait
//   reset       empty
//   not done    a decision without an endpoint: it would be taken for one to endpoint 0
`default_nettype none

module inc_replicate_data #(
    // bytes of a word
    parameter BYTES   = 8,
    // bits of a payload length
    parameter LEN_W   = 11,
    // bits of a payload's number of words
    parameter WORDS_W = 8,
    // bits of an endpoint's index in its group, at least 1
    parameter EP_W    = 3,
    // bits of an endpoint's index in the table
    parameter EI_W    = 4,
    // bits of an endpoint mask; at most 2**EP_W
    parameter MASK_W  = 5,
    // log2 of the number of payload words kept, which are not fewer than a payload has; 1 to 20, at least WORDS_W - 1
    parameter ADDR_W  = 9,
    // log2 of the number of decisions that may wait, 1 to 10
    parameter DEPTH_W = 5,
    // 1: frames may be of in-band groups
    parameter IN_BAND = 0,
    // 1: payload words wait in flip-flops, and are read in the cycle in which they are wanted
    parameter FLOPS   = 0
) (
    input  wire               clk,
    input  wire               rst,

    output wire               tx_room,
    input  wire               tx_valid,
    // what its frames are counted as: 0 nothing, 1 copies of data, 2 copies of acknowledgements
    input  wire [1:0]         tx_kind,
    input  wire [EI_W-1:0]    tx_ei,
    input  wire [MASK_W-1:0]  tx_mask,
    input  wire [7:0]         tx_opcode,
    input  wire               tx_se,
    input  wire [1:0]         tx_pad,
    input  wire               tx_ce,
    input  wire [23:0]        tx_psn,
    // the PSN is a group's: add the endpoint's offset of range tx_rng, of direction in (1) or out (0)
    input  wire               tx_in_band,
    input  wire [1:0]         tx_rng,
    input  wire               tx_dir,
    input  wire [31:0]        tx_ext,
    input  wire [LEN_W-1:0]   tx_plen,
    input  wire [WORDS_W-1:0] tx_words,

    output wire               emit_room,
    input  wire               emit_valid,
    input  wire [8*BYTES-1:0] emit_data,
    // the word is wrong, and known to be
    input  wire               emit_bad,

    // headers to be made, one a copy
    input  wire               req_ready,
    output wire               req_valid,
    output wire [EI_W-1:0]    req_ei,
    output wire [7:0]         req_opcode,
    output wire               req_se,
    output wire [1:0]         req_pad,
    output wire               req_ce,
    output wire [23:0]        req_psn,
    output wire               req_in_band,
    output wire [1:0]         req_rng,
    output wire               req_dir,
    output wire [31:0]        req_ext,
    output wire [LEN_W-1:0]   req_plen,
    output wire [WORDS_W-1:0] req_words,

    // the payload words of all copies, one copy after the other
    output wire               word_valid,
    input  wire               word_ready,
    output wire [8*BYTES-1:0] word_data,
    output wire               word_bad,

    output wire               count_fanout,
    output wire               count_ack_copy,
    output wire               count_frame
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_index
            $error("inc_replicate_data: MASK_W must be at most 2**EP_W, EP_W at most EI_W");
        end
        if (ADDR_W < 1 || ADDR_W + 1 < WORDS_W || ADDR_W > 20) begin : gen_bad_addr
            $error("inc_replicate_data: ADDR_W must be 1 to 20, and at least WORDS_W - 1");
        end
        if (FLOPS < 0 || FLOPS > 1) begin : gen_bad_flops
            $error("inc_replicate_data: FLOPS must be 0 or 1");
        end
        if (IN_BAND < 0 || IN_BAND > 1) begin : gen_bad_in_band
            $error("inc_replicate_data: IN_BAND must be 0 or 1");
        end
    endgenerate
`endif

    localparam FIXED_W = 2 + EI_W + MASK_W + 8 + 1 + 2 + 1 + 24 + 32 + LEN_W + WORDS_W;
    localparam FIRST_W = EP_W + 2;       // what is asked first of a decision
    localparam DESC_W  = FIRST_W + FIXED_W + (IN_BAND != 0 ? 4 : 0);

    // ---- endpoints of a mask: all but the lowest, the lowest, and its number. Whether there is one below a subtraction would find too, but
    // with a carry in the way to the queue ----

    function [MASK_W-1:0] others_of(input [MASK_W-1:0] set);
        integer i;
        begin
            for (i = 0; i < MASK_W; i = i + 1) begin
                others_of[i] = set[i] && (set & ~({MASK_W{1'b1}} << i)) != {MASK_W{1'b0}};
            end
        end
    endfunction

    function [MASK_W-1:0] lowest_of(input [MASK_W-1:0] set);
        lowest_of = set & ~others_of(set);
    endfunction

    function [EP_W-1:0] number_of(input [MASK_W-1:0] hot);
        integer i;
        begin
            number_of = {EP_W{1'b0}};
            for (i = 0; i < MASK_W; i = i + 1) begin
                number_of = number_of | (hot[i] ? i[EP_W-1:0] : {EP_W{1'b0}});
            end
        end
    endfunction

    // ---- decisions ----

    wire              desc_valid, desc_pop, desc_room;
    reg               room_reg;
    wire [1:0]        desc_kind;
    wire [EI_W-1:0]   desc_ei;
    wire [MASK_W-1:0] desc_mask;

    wire [DESC_W-1:0] desc_in, desc_out;
    generate
        if (IN_BAND != 0) begin : gen_in_band
            assign desc_in[DESC_W-1 -: 4] = {tx_in_band, tx_rng, tx_dir};
            assign {req_in_band, req_rng, req_dir} = desc_out[DESC_W-1 -: 4];
        end else begin : gen_fixed
            assign {req_in_band, req_rng, req_dir} = 4'd0;
            wire unused_offset = &{1'b0, tx_in_band, tx_rng, tx_dir};
        end
    endgenerate
    // the first copy's endpoint, whether it is the last, and whether there is a payload, are known before it is at the head of the queue
    wire [EP_W-1:0]   desc_first;
    wire              desc_only, has_words;
    assign desc_in[FIRST_W-1:0] = {number_of(lowest_of(tx_mask)), others_of(tx_mask) == {MASK_W{1'b0}}, tx_words != {WORDS_W{1'b0}}};
    assign {desc_first, desc_only, has_words} = desc_out[FIRST_W-1:0];
    assign desc_in[FIRST_W +: FIXED_W] = {tx_kind, tx_ei, tx_mask, tx_opcode, tx_se, tx_pad, tx_ce, tx_psn, tx_ext, tx_plen, tx_words};
    assign {desc_kind, desc_ei, desc_mask, req_opcode, req_se, req_pad, req_ce, req_psn, req_ext, req_plen, req_words} = desc_out[FIRST_W +: FIXED_W];

    inc_fifo #(.WIDTH(DESC_W), .DEPTH_W(DEPTH_W), .MARGIN(1), .HEAD(FIRST_W)) u_decisions (
        .clk       (clk),
        .rst       (rst),
        .push      (tx_valid),
        .push_data (desc_in),
        .room      (desc_room),
        .valid     (desc_valid),
        .data      (desc_out),
        .pop       (desc_pop)
    );

    // room for what is pushed in this cycle, and in the next
    assign tx_room = room_reg;
    always @(posedge clk) begin
        room_reg <= desc_room || rst;
    end

    // ---- one copy per endpoint of the mask ----

    reg               partly_reg, last_reg;
    reg  [MASK_W-1:0] left_reg;
    reg  [EP_W-1:0]   next_ep_reg;
    wire [MASK_W-1:0] rest     = others_of(partly_reg ? left_reg : desc_mask);
    wire [EP_W-1:0]   endpoint = partly_reg ? next_ep_reg : desc_first;
    wire              is_last  = partly_reg ? last_reg : desc_only;
    wire              job_room;
    wire              issue   = req_valid && req_ready;

    generate
        if (EI_W > EP_W) begin : gen_groups
            assign req_ei = {desc_ei[EI_W-1:EP_W], endpoint};
        end else begin : gen_one_group
            assign req_ei = endpoint;
        end
    endgenerate
    wire unused_bits = &{1'b0, desc_ei};

    assign req_valid    = desc_valid && (job_room || !has_words);
    assign desc_pop     = issue && is_last;
    assign count_frame    = issue;
    assign count_fanout   = issue && desc_kind[0];
    assign count_ack_copy = issue && desc_kind[1];

    always @(posedge clk) begin
        if (issue) begin
            partly_reg  <= !is_last;
            left_reg    <= rest;
            next_ep_reg <= number_of(lowest_of(rest));
            last_reg    <= others_of(rest) == {MASK_W{1'b0}};
        end
        if (rst) begin
            partly_reg <= 1'b0;
        end
    end

    // ---- payload: written once, read once a copy ----

    wire               job_valid, job_pop, job_last;
    wire [WORDS_W-1:0] job_words;

    // The oldest job stands in registers: whether a word is its last decides what is fetched next.
    inc_fifo #(.WIDTH(WORDS_W + 1), .DEPTH_W(3), .MARGIN(0), .HEAD(WORDS_W + 1)) u_jobs (
        .clk       (clk),
        .rst       (rst),
        .push      (issue && has_words),
        .push_data ({is_last, req_words}),
        .room      (job_room),
        .valid     (job_valid),
        .data      ({job_last, job_words}),
        .pop       (job_pop)
    );

    // Places in the memory, with a bit on top that tells a full one from an empty one.
    reg  [ADDR_W:0]    tail_reg;       // behind the newest word
    reg  [ADDR_W:0]    base_reg;       // the oldest word still wanted: the first of the payload being copied, and in its last copy
                                       // the next to be fetched
    reg  [ADDR_W:0]    next_reg;       // the word to be fetched next
    reg                next_there_reg; // it has come: next is not tail
    reg  [ADDR_W:0]    newest_reg;     // the place before tail
    reg  [WORDS_W-1:0] index_reg;      // its number in the payload, the first is 1
    reg  [ADDR_W:0]    used_reg;       // words from base to tail

    wire [ADDR_W:0]    behind    = next_reg + {{ADDR_W{1'b0}}, 1'b1};
    wire               there     = job_valid && next_there_reg;
    wire               fetch;
    wire               job_end   = index_reg == job_words;

    // In a payload's last copy base is next, so a fetch frees a word. One more and one less differ from their number in these bits.
    wire               frees     = fetch && job_last;
    wire [ADDR_W:0]    up        = used_reg ^ (used_reg + {{ADDR_W{1'b0}}, 1'b1});
    wire [ADDR_W:0]    down      = used_reg ^ (used_reg - {{ADDR_W{1'b0}}, 1'b1});

    assign emit_room = !used_reg[ADDR_W];
    assign job_pop   = fetch && job_end;

    always @(posedge clk) begin
        if (emit_valid) begin
            tail_reg   <= tail_reg + {{ADDR_W{1'b0}}, 1'b1};
            newest_reg <= tail_reg;
        end
        // what follows the newest word has not come; a payload's first word that is fetched once more is there
        next_there_reg <= emit_valid || (fetch ? next_reg != newest_reg || (job_end && !job_last) : next_there_reg);
        used_reg <= used_reg ^ (up & {(ADDR_W+1){emit_valid && !frees}}) ^ (down & {(ADDR_W+1){frees && !emit_valid}});
        if (fetch) begin
            index_reg <= job_end ? {{(WORDS_W-1){1'b0}}, 1'b1} : index_reg + {{(WORDS_W-1){1'b0}}, 1'b1};
            next_reg  <= job_end && !job_last ? base_reg : behind;
            if (job_last) begin
                base_reg <= behind;
            end
        end
        if (rst) begin
            tail_reg       <= {(ADDR_W+1){1'b0}};
            base_reg       <= {(ADDR_W+1){1'b0}};
            next_reg       <= {(ADDR_W+1){1'b0}};
            next_there_reg <= 1'b0;
            newest_reg     <= {(ADDR_W+1){1'b1}};
            used_reg       <= {(ADDR_W+1){1'b0}};
            index_reg      <= {{(WORDS_W-1){1'b0}}, 1'b1};
        end
    end

    generate
        if (FLOPS != 0) begin : gen_flops
            reg [8*BYTES:0] mem [0:(1 << ADDR_W)-1];   // with emit_bad on top

            assign word_valid            = there;
            assign {word_bad, word_data} = mem[next_reg[ADDR_W-1:0]];
            assign fetch                 = there && word_ready;

            always @(posedge clk) begin
                if (emit_valid) begin
                    mem[tail_reg[ADDR_W-1:0]] <= {emit_bad, emit_data};
                end
            end
        end else begin : gen_ram
            reg             ram_valid_reg, kept_valid_reg;
            reg [8*BYTES:0] kept_reg;                  // with its emit_bad on top
            wire [8*BYTES:0] ram_data;

            wire word_pop = word_valid && word_ready;
            wire keep     = fetch && ram_valid_reg && !(word_pop && !kept_valid_reg);

            assign word_valid            = kept_valid_reg || ram_valid_reg;
            assign {word_bad, word_data} = kept_valid_reg ? kept_reg : ram_data;
            assign fetch                 = there && (word_pop || !(kept_valid_reg && ram_valid_reg));

            inc_mem_replay #(.WORDS(1 << ADDR_W), .BITS(8*BYTES + 1), .ADDR_W(ADDR_W)) u_payload (
                .clk   (clk),
                .we    (emit_valid),
                .waddr (tail_reg[ADDR_W-1:0]),
                .wdata ({emit_bad, emit_data}),
                .re    (fetch),
                .raddr (next_reg[ADDR_W-1:0]),
                .rdata (ram_data)
            );

            always @(posedge clk) begin
                if (keep) begin
                    kept_reg       <= ram_data;
                    kept_valid_reg <= 1'b1;
                end else if (word_pop) begin
                    kept_valid_reg <= 1'b0;
                end
                if (fetch) begin
                    ram_valid_reg <= 1'b1;
                end else if (word_pop && !kept_valid_reg) begin
                    ram_valid_reg <= 1'b0;
                end
                if (rst) begin
                    ram_valid_reg  <= 1'b0;
                    kept_valid_reg <= 1'b0;
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
