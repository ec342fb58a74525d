// What is proved of inc_stream_fifo. The test puts this text before the module's endmodule, and ram.v in the place of the
// RAM, which has a second read port: f_at, f_word.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst);

localparam [DEPTH_W:0] F_FULL = 1 << DEPTH_W;
reg [DEPTH_W:0] f_count;
reg             f_new, f_newer;  // an entry was pushed two cycles before, in the cycle before
wire [DEPTH_W:0] f_after_pop = f_count - {{DEPTH_W{1'b0}}, pop};
always @(posedge clk) begin
    f_count <= rst ? 0 : f_after_pop + {{DEPTH_W{1'b0}}, push};
    f_newer <= push && !rst;
    f_new   <= f_newer && !rst;
end

// what the contract asks of the user
always @* if (f_past) begin
    assume (!pop || valid);
    assume (!push || pop || f_count != F_FULL);
end

// any one entry, and how many lie ahead of it
(* anyseq *) reg f_pick;
reg             f_live;
reg [DEPTH_W:0] f_ahead;
reg [WIDTH-1:0] f_want;
reg             f_was_full, f_left;
always @(posedge clk) begin
    if (!f_live && push && f_pick) begin
        f_live  <= 1'b1;
        f_want  <= push_data;
        f_ahead <= f_after_pop;
    end else if (f_live && pop) begin
        if (f_ahead == 0) f_live <= 1'b0;
        f_ahead <= f_ahead - 1;
    end
    f_was_full <= !rst && (f_was_full || (f_live && f_count == F_FULL));
    f_left     <= !rst && (f_left || (f_was_full && f_live && pop && f_ahead == 0));
    if (rst) f_live <= 1'b0;
end

wire [DEPTH_W:0] f_out = {{DEPTH_W{1'b0}}, ram_valid_reg} + {{DEPTH_W{1'b0}}, head_valid_reg};
wire [DEPTH_W:0] f_behind = f_ahead - f_out;
assign f_at = head_reg + f_behind[DEPTH_W-1:0];
always @* if (f_past) begin
    // latency 3, no bubbles: pushed three cycles ago or earlier means in view; room as it says
    assert (valid == (f_count > {{DEPTH_W{1'b0}}, f_new} + {{DEPTH_W{1'b0}}, f_newer}));
    assert (room == (f_count < LIMIT));
    // no loss, no duplication, order: with nobody ahead the entry is the head as soon as one is in view, until it is popped
    if (f_live && f_ahead == 0 && valid) assert (data == f_want);
    // what induction needs to know
    assert (f_count <= F_FULL && used_reg == f_count);
    assert (f_count == wait_reg + f_out && wait_reg < F_FULL);
    assert (waits_reg == (wait_reg != 0));
    assert (wait_reg[DEPTH_W-1:0] == tail_reg - head_reg);
    if (!ram_valid_reg || !head_valid_reg) assert (wait_reg == {{DEPTH_W{1'b0}}, f_newer});
    if (!head_valid_reg) assert (ram_valid_reg == f_new);
    if (head_valid_reg && !ram_valid_reg) assert (!f_new);
    if (f_newer) assert (wait_reg != 0);
    if (f_new) assert (ram_valid_reg);
    if (f_live) begin
        assert (f_ahead < f_count);
        if (f_ahead >= f_out) assert (f_word == f_want);
        else if (f_ahead == 0 && head_valid_reg) assert (data == f_want);
        else assert (ram_data == f_want);
    end
    cover (f_left && f_count == F_FULL);
end
