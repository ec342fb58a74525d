// What is proven of inc_replicate_data. Its two queues have two entries here.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst); else assume (!rst);

// ---- what the contract asks of the user ----

always @* if (f_past) begin
    assume (!tx_valid || (tx_room && tx_mask != {MASK_W{1'b0}} && tx_words <= (1 << ADDR_W)));
    assume (!emit_valid || emit_room);
end

// decisions and jobs that wait
reg  [3:0] f_count, f_jobs;
wire [3:0] f_after_pop = f_count - {3'd0, desc_pop};
always @(posedge clk) begin
    f_count <= rst ? 4'd0 : f_after_pop + {3'd0, tx_valid};
    f_jobs  <= rst ? 4'd0 : f_jobs + {3'd0, issue && has_words} - {3'd0, job_pop};
end

`ifdef PROVE_A
// any one decision, and any bit of its PSN
(* anyseq *)   reg       f_pick;
(* anyconst *) reg [4:0] f_bit;
always @* assume (f_bit < 24);
reg               f_live, f_psn;
reg  [3:0]        f_ahead;
reg  [EI_W-1:0]   f_ei;
reg  [MASK_W-1:0] f_left;
wire [MASK_W-1:0] f_next = f_left & (~f_left + {{(MASK_W-1){1'b0}}, 1'b1});    // the lowest
wire              f_head = f_live && f_ahead == 4'd0;
always @(posedge clk) begin
    if (!f_live && tx_valid && f_pick) begin
        f_live  <= 1'b1;
        f_ahead <= f_after_pop;
        f_ei    <= tx_ei;
        f_left  <= tx_mask;
        f_psn   <= tx_psn[f_bit];
    end else if (f_live) begin
        f_ahead <= f_ahead - {3'd0, desc_pop};
        if (f_head && issue) f_left <= f_left & ~f_next;
        if (f_head && desc_pop) f_live <= 1'b0;
    end
    if (rst) f_live <= 1'b0;
end
wire [MASK_W-1:0] f_asked = {{(MASK_W-1){1'b0}}, 1'b1} << req_ei[EP_W-1:0];
always @* if (f_past && f_head && req_valid) begin
    // each of its endpoints once, in order, all of its own group
    assert (f_asked == f_next && req_ei >> EP_W == f_ei >> EP_W);
    assert (req_psn[f_bit] == f_psn);
    assert (is_last == (f_left == f_next));
end
`endif
`ifdef PROVE_B
// payloads of two words at most
always @* assume (tx_words <= 2);
// no frame and no word that nobody asked for
reg [7:0] f_frames, f_words;
integer f_i;
reg [7:0] f_copies;
always @* begin
    f_copies = 8'd0;
    for (f_i = 0; f_i < MASK_W; f_i = f_i + 1) f_copies = f_copies + {7'd0, tx_valid && tx_mask[f_i]};
end
wire [7:0] f_more = issue ? {{(8-WORDS_W){1'b0}}, req_words} : 8'd0;
always @(posedge clk) begin
    f_frames <= rst ? 8'd0 : f_frames + f_copies - {7'd0, issue};
    f_words  <= rst ? 8'd0 : f_words + f_more - {7'd0, word_valid && word_ready};
end
always @* if (f_past) begin
    if (req_valid) assert (f_frames != 8'd0);
    if (word_valid) assert (f_words != 8'd0);
    assert (count_frame == issue && (!count_fanout || issue) && (!count_ack_copy || issue));
end
`endif
`ifdef PROVE_C
// as long as its words are there, a copy is asked for or a word goes out in at least one cycle of three
wire      f_calm = req_ready && word_ready && (!job_valid || there);
reg [2:0] f_wait;
always @(posedge clk) f_wait <= rst || !f_calm || !desc_valid || issue || fetch ? 3'd0 : f_wait + 3'd1;
always @* if (f_past) begin
    assert (f_wait <= 3'd2);
    if (job_valid) assert (index_reg != {WORDS_W{1'b0}} && index_reg <= job_words);
end
`endif
`ifdef PROVE_D
wire [ADDR_W:0] f_index = index_reg - {{(WORDS_W-1){1'b0}}, 1'b1};
wire [ADDR_W:0] f_kept = tail_reg - base_reg, f_done = next_reg - base_reg;
always @* if (f_past) begin
    assert (f_count <= 4'd2 && f_jobs <= 4'd2);
    assert (used_reg == f_kept && f_kept <= (1 << ADDR_W) && f_done <= f_kept);
    // what induction needs to know
    assert (f_done == (job_valid && job_last ? {(ADDR_W+1){1'b0}} : f_index));
    assert (job_valid == (f_jobs != 4'd0) && desc_valid == (f_count != 4'd0));
    if (!job_valid) assert (index_reg == {{(WORDS_W-1){1'b0}}, 1'b1});
end
`endif
`ifdef PROVE_E
always @* if (f_past && req_valid) begin
    assert (req_ei[EP_W-1:0] < MASK_W);
    assert (desc_mask[req_ei[EP_W-1:0]]);
    if (partly_reg) assert (left_reg != {MASK_W{1'b0}} && (left_reg & ~desc_mask) == {MASK_W{1'b0}});
end
`endif
