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
`ifdef PROVE_E
always @* if (f_past && req_valid) begin
    assert (req_ei[EP_W-1:0] < MASK_W);
    assert (desc_mask[req_ei[EP_W-1:0]]);
    if (partly_reg) assert (left_reg != {MASK_W{1'b0}} && (left_reg & ~desc_mask) == {MASK_W{1'b0}});
end
`endif
