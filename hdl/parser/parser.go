// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// BeatsBehind is how many beats still leave on raw_* when room has fallen, the cycle in which it fell included. Ends of frames come EOFDelay
// later than their beats.
const BeatsBehind = 2

// Start is where a payload begins in its frame, without and with an immediate.
const (
	Start    = 54
	StartImm = 58
)

// Parser is inc_parser: finds the RoCEv2 fields and says what of a frame is to be kept. Its contract is the head of inc_parser.v.
type Parser struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// PortW: bits of a port number, at least 1.
	PortW int
	// MTUBytes: largest payload in bytes; a multiple of BYTES, 16 to 16384.
	MTUBytes int
	// LenW: bits that hold 0 to MTU_BYTES.
	LenW int
	// WordsW: bits that hold 0 to MTU_BYTES / BYTES.
	WordsW int
	// EOFDelay: cycles by which eof_* waits for the ICRC, 0 to 15; at least 1 where BYTES is above 64. icrc.CheckDelay knows it.
	EOFDelay int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Parser) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_parser")
	rules.Refuse(p.Bytes < 8 || p.Bytes > 2048 || (1<<(leaf.Clog2(p.Bytes))) != p.Bytes, "BYTES must be a power of two, 8 to 2048")
	if err := rules.Err(); err != nil {
		return nil, err // the rules below divide by it
	}
	rules.Refuse(p.PortW < 1, "PORT_W must be at least 1")
	rules.Refuse(p.MTUBytes < 16 || p.MTUBytes > 16384 || p.MTUBytes%p.Bytes != 0, "MTU_BYTES must be a multiple of BYTES, 16 to 16384")
	rules.Refuse(p.LenW != leaf.Clog2(p.MTUBytes+1), "LEN_W must hold 0 to MTU_BYTES")
	rules.Refuse(p.WordsW != leaf.Clog2(p.MTUBytes/p.Bytes+1), "WORDS_W must hold 0 to MTU_BYTES / BYTES")
	rules.Refuse(p.EOFDelay < 0 || p.EOFDelay > 15 || (p.EOFDelay == 0 && p.Bytes > 64), "EOF_DELAY must be 0 to 15, and at least 1 where BYTES is above 64")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_parser")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_parser", Block: "Parser", Source: source, Latency: "1 cycle to the beats, 2 to the header",
		Purpose: "finds the RoCEv2 fields and says what of a frame is to be kept",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "MTU_BYTES", Value: p.MTUBytes},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "EOF_DELAY", Value: p.EOFDelay},
		},
		Ports: slices.Concat([]graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("room", 1),
			leaf.In("room_raw", 1),
			leaf.In("fwd_valid", 1),
			leaf.In("fwd_bypass", 1),
			leaf.In("s_axis_tdata", 8*p.Bytes),
			leaf.In("s_axis_tkeep", p.Bytes),
			leaf.In("s_axis_tvalid", 1),
			leaf.Out("s_axis_tready", 1),
			leaf.In("s_axis_tlast", 1),
			leaf.In("s_axis_tuser", p.PortW+1),
			leaf.Out("raw_valid", 1),
			leaf.Out("raw_store", 1),
			leaf.Out("raw_imm", 1),
			leaf.Out("raw_data", 8*p.Bytes),
			leaf.Out("raw_keep", p.Bytes),
			leaf.Out("raw_last", 1),
			leaf.Out("raw_err", 1),
			leaf.Out("crc_valid", 1),
			leaf.Out("crc_first", 1),
			leaf.Out("crc_data", 8*p.Bytes),
			leaf.Out("crc_tail", leaf.Clog2(p.Bytes)),
		}, p.header(), []graph.Port{
			leaf.Out("eof_valid", 1),
			leaf.Out("eof_err", 1),
			leaf.Out("eof_len_ok", 1),
		}),
		Streams: []graph.Stream{{Name: "s_axis", Dir: graph.In}},
	}, nil
}

// header are the ports for LookupTable.
func (p Parser) header() []graph.Port {
	return []graph.Port{
		leaf.Out("seek_valid", 1),
		leaf.Out("seek_qpn", 24),
		leaf.Out("seek_root", 5),
		leaf.Out("hdr_valid", 1),
		leaf.Out("hdr_port", p.PortW),
		leaf.Out("hdr_rocev2", 1),
		leaf.Out("hdr_qpn", 24),
		leaf.Out("hdr_src_ip", 32),
		leaf.Out("hdr_dst_ip", 32),
		leaf.Out("hdr_pkey_ok", 1),
		leaf.Out("hdr_ce", 1),
		leaf.Out("hdr_sum_ok", 1),
		leaf.Out("hdr_len_ok", 1),
		leaf.Out("hdr_tver_ok", 1),
		leaf.Out("hdr_opcode", 8),
		leaf.Out("hdr_se", 1),
		leaf.Out("hdr_pad", 2),
		leaf.Out("hdr_psn", 24),
		leaf.Out("hdr_ext", 32),
		leaf.Out("hdr_too_long", 1),
		leaf.Out("hdr_plen", p.LenW),
		leaf.Out("hdr_words", p.WordsW),
	}
}
