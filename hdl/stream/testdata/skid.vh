// What is proved of inc_skid. The test puts this text before the module's endmodule.
reg f_past = 1'b0;
always @(posedge clk) f_past <= 1'b1;
always @* if (!f_past) assume (rst);

wire f_in  = s_valid && s_ready;
wire f_out = m_valid && m_ready;

// the beat taken and not yet handed on
reg             f_full;
reg [WIDTH-1:0] f_want;
reg             f_was_rst, f_was_ready, f_was_stalled;
reg [WIDTH-1:0] f_was_data;
reg [1:0]       f_beats;         // handed on without a bubble, for cover
reg             f_resumed;
always @(posedge clk) begin
    if (f_in) f_want <= s_data;
    f_full        <= !rst && (f_full ? !f_out : f_in && !f_out);
    f_was_rst     <= rst;
    f_was_ready   <= m_ready;
    f_was_stalled <= m_valid && !m_ready;
    f_was_data    <= m_data;
    f_resumed     <= !rst && (f_resumed || (f_was_stalled && f_out && !f_was_rst));
    f_beats       <= rst || !(f_in && f_out) ? 2'd0 : f_beats == 2'd3 ? 2'd3 : f_beats + 2'd1;
end

always @* if (f_past) begin
    // no loss, no duplication, order: what leaves is the beat that was kept, else the one being taken, else nothing
    if (f_full) assert (m_valid && m_data == f_want && !f_in);
    else        assert (m_valid == f_in && (!f_in || m_data == s_data));
    if (!f_was_rst) begin
        // a beat offered stays
        if (f_was_stalled) assert (m_valid && m_data == f_was_data);
        // no bubble: room the cycle after there was room in front
        if (f_was_ready) assert (s_ready);
    end
    if (f_was_rst) assert (!s_ready && !m_valid);
    // what induction needs to know
    assert (kept_valid_reg == f_full);
    assert (!(kept_valid_reg && ready_reg));
    cover (f_resumed && f_beats == 2'd3);
end
