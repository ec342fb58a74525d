// SPDX-License-Identifier: Apache-2.0

package endtoend

// outputFaults are of frames that leave.
func outputFaults() []Fault {
	return []Fault{
		{Name: "the ICRC is not recomputed", File: fileInsert,
			Old: "crc[8*BYTE +: 8] & {8{c_place[(b+2)/4]}}", New: "8'h00"},
		{Name: "the IP checksum's last carry is lost", File: fileJoin,
			Old: "{15'd0, fold[16]}", New: "16'd0"},
		{Name: "the IP checksum's carries are lost", File: fileTranslate,
			At: "two_of = {carry[14:0],", Old: "carry[15]", New: "1'b0"},
		{Name: "tkeep is full on the last beat", File: fileForward,
			Old: "full || below[b/FINE]", New: "full || b > 3 || below[b/FINE]"},
		{Name: "bytes behind the payload are not zeroed", File: fileJoin,
			Old: "pay_blocks[b/FINE+1] || (pay_blocks[b/FINE] && pay_lanes[b%FINE])",
			New: "needs || pay_blocks[b/FINE+1] || (pay_blocks[b/FINE] && pay_lanes[b%FINE])"},
		{Name: "a frame is not padded to 60 bytes", File: fileTranslate,
			Old: "padded ? 16'd60 : unpadded", New: "unpadded"},
		{Name: "AckReq is not set", File: fileTranslate,
			At: "head_qpn,", Old: "head_data", New: "1'b0"},
		{Name: "the last endpoint gets no copy", File: fileReplicate,
			At: "wire [MASK_W-1:0] rest =", Old: "others_of(partly_reg ? left_reg : desc_mask)",
			New: "others_of(partly_reg ? left_reg : desc_mask) & {2'b00, {(MASK_W-3){1'b1}}, 1'b0}"},
	}
}

// streamFaults are of streams and what they share.
func streamFaults() []Fault {
	return []Fault{
		{Name: "two ACKs on different ports are merged", File: fileArbiter,
			Old: "m_axis_tready && at[p]", New: "m_axis_tready && (at[p] || !busy_reg)"},
		{Name: "a beat is lost under back-pressure", File: fileSkid,
			Old: "m_ready || !m_valid", New: "1'b1"},
		{Name: "a busy port's frame is sent to another", File: fileDemux,
			Old: "(to & ~ready) == {PORTS{1'b0}}", New: "(to & ready) != {PORTS{1'b0}} || !s_axis_tlast"},
		{Name: "bypassed frames starve", File: fileForward,
			Old: "byp_next && !(owner_reg && eng_valid)", New: "byp_next && !eng_valid"},
		{Name: "err is lost on a bypassed frame", File: fileForward,
			Old: "at_last && (end_err || spoilt)", New: "1'b0"},
		{Name: "a bypassed frame begins while words before it wait for the output", File: fileForward,
			Old: "end_valid || oldest_reg", New: "1'b1"},
		{Name: "a bypassed frame waits for room that only its own decision can make", File: filePacketBuffer,
			Old: "byp_alone ? byp_from : oldest", New: "oldest"},
		{Name: "a word that a read for the output took is not read again", File: filePacketBuffer,
			Old: "rd_en || (there_reg && !byp_re)", New: "rd_en || there_reg"},
		{Name: "a bypassed beat that the adders' read took is not read again", File: fileForward,
			Old: "!skips && !rd_en", New: "!skips"},
	}
}

// classFaults are of classification.
func classFaults() []Fault {
	return []Fault{
		{Name: "a foreign source is taken", File: fileLookup,
			Old: "hdr_src_ip == ep_remote_ip", New: "hdr_src_ip == ep_remote_ip || 1'b1"},
		{Name: "a fragment is taken", File: fileParser,
			Old: "f_fragment[13:0] == 14'd0", New: "f_fragment[12:0] == 13'd0"},
		{Name: "a payload over the MTU is taken", File: fileParser,
			Old: "is_send && long_pay", New: "1'b0"},
		{Name: "ACKs of a switch are taken", File: fileLookup,
			Old: "ep_ctrl[1] || reduces || spreads", New: "1'b1"},
	}
}

// controlFaults are of registers, counters, resets and starts.
func controlFaults() []Fault {
	return []Fault{
		{Name: "a counter starts at one", File: fileCounters,
			At: "wire [2*HALF_W-1:0] old = b_clear ?", Old: "{2*HALF_W{1'b0}}", New: "{{(2*HALF_W-1){1'b0}}, b_index == 3}"},
		{Name: "a counter misses a step in the cycle in which a turn begins", File: fileCounters,
			At: "turn ? (k == 0 ?", Old: "step_reg", New: "{COUNTERS{1'b0}}"},
		{Name: "a counter counts no more than one step a turn", File: fileCounters,
			Old: "carry & few_reg[k*COUNTERS +: COUNTERS]", New: "{COUNTERS{1'b0}}"},
		{Name: "an endpoint's register reads the last header's endpoint", File: fileTranslate,
			Old: "get ? get_index : again ? q_ei : req_ei", New: "again ? q_ei : req_ei"},
		{Name: "a header that waits gets the record that the registers asked for", File: fileTranslate,
			At: "q_read <=", Old: "!get", New: "1'b1"},
		{Name: "a header looks up what the registers asked for", File: fileLookup,
			At: "wire [EI_W-1:0] ei =", Old: "seek_valid", New: "seek_valid && !get_valid"},
		{Name: "a control register is not reset", File: fileCSR,
			At: "gap_nak_reg <=", Old: "R_CTRL_GAP_NAK", New: "gap_nak_reg"},
		{Name: "the state machine is not reset", File: fileSteps,
			At: "if (rst) begin a_valid_reg <=", Old: "1'b0", New: "a_valid", Also: []Change{
				{At: "1'b0; b_valid_reg <=", Old: "1'b0", New: "b_valid"},
				{At: "1'b0; c_valid_reg <=", Old: "1'b0", New: "c_valid"},
			}},
		{Name: "a group restarts with old slots", File: fileRecycle,
			Old: "{{(WORD_W-24){1'b0}}, start_reg}", New: "{word_out[WORD_W-1:24], start_reg}"},
		{Name: "starting a group stops its neighbour", File: fileRecycle,
			Old: "started_reg & ~grp_start", New: "started_reg & {GROUPS{grp_start == {GROUPS{1'b0}}}}"},
	}
}
