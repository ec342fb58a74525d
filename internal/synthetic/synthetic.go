// SPDX-License-Identifier: Apache-2.0

// Package synthetic makes manifests out of nothing, so that verify can be tested with the reference engine and no generator.
// Its register addresses are deliberately unlike any generated map's.
package synthetic

import (
	"fmt"

	"incforge/inc"
	"incforge/verify/manifest"
)

// Mini are the parameters of a small engine: 8-byte bus, two groups of four members, four ports.
func Mini() manifest.Params {
	return manifest.Params{Mode: 2, BusBytes: 8, Lanes: 2, BufferBytes: 16384, Groups: 2, Members: 4, Ports: 4, MTUBytes: 1024,
		WindowPackets: 4, ClockMHz: 250, ICRCCheck: true, DTypes: []string{"INT32"}, Ops: []string{"SUM"}, Accumulate: "in_place", InBand: true}
}

// Full is Mini with every type and operation.
func Full() manifest.Params {
	p := Mini()
	p.DTypes, p.Ops, p.BufferBytes = []string{"FP32", "FP16", "BF16", "INT32"}, []string{"SUM", "MIN", "MAX"}, 32768
	return p
}

// Reproducible is Full with sums that do not depend on the order of arrival; five members in three pairs.
func Reproducible() manifest.Params {
	p := Full()
	p.Accumulate, p.Members, p.BufferBytes = "reproducible", 5, 3*16384
	return p
}

// Manifest describes an engine with these parameters: every register of docs/engine.md section 6, in Mode III of docs/pipes.md section 6 too, no files.
func Manifest(p manifest.Params) *manifest.Manifest {
	m := &manifest.Manifest{Schema: 1, Name: "synthetic", Digest: "synthetic", Params: p,
		Clock: manifest.Clock{Port: "clk", Reset: "rst", MHz: p.ClockMHz}}
	next := uint32(0x40)
	add := func(name, access string, count int, reset uint32, fields ...manifest.Field) {
		m.Registers = append(m.Registers, manifest.Register{Name: name, Offset: next, Count: count, Stride: 12, Access: access,
			Reset: reset, Fields: fields})
		next += uint32(count)*12 + 4
	}
	f := func(name string, lsb, width int) manifest.Field {
		return manifest.Field{Name: name, LSB: lsb, Width: width}
	}
	word := f("value", 0, 32)
	add("ID", "ro", 1, 0x494E4331, word)
	add("VERSION", "ro", 1, 1, word)
	for _, v := range []struct {
		name  string
		value int
	}{{"MODE", p.Mode}, {"BUS_BYTES", p.BusBytes}, {"LANES", p.Lanes}, {"GROUPS", p.Groups}, {"MEMBERS", p.Members},
		{"PORTS", p.Ports}, {"MTU_BYTES", p.MTUBytes}, {"SLOTS", p.Slots()}, {"WINDOW_PACKETS", p.WindowPackets}} {
		add("PARAM_"+v.name, "ro", 1, uint32(v.value), word)
	}
	add("PARAM_ARITH", "ro", 1, 0, f("dtypes", 0, 4), f("ops", 8, 3), f("reproducible", 16, 1), f("ecc", 17, 1), f("planes", 24, 8))
	add("CTRL", "rw", 1, 1, f("gap_nak", 0, 1), f("foreign_bypass", 1, 1))
	add("IP_ID", "rw", 1, 0x1111, f("value", 0, 16))
	add("ECC_INJECT", "rw", 1, 0, f("flips", 0, 2))
	add("BYPASS_PORT", "rw", p.Ports, 0, f("port", 0, 8))
	m.Registers[len(m.Registers)-1].ResetStep = 1
	counters := inc.Params{Mode: p.Mode}.Counters()
	add("COUNTER", "ro", int(counters), 0, word)
	add("GROUP_CTRL", "rw", p.Groups, 0, f("enable", 0, 1), f("reset", 1, 1))
	add("GROUP_STATUS", "ro", p.Groups, 0, f("busy", 0, 1), f("enabled", 1, 1))
	add("GROUP_START", "rw", p.Groups, 0, f("psn", 0, 24))
	add("GROUP_SLOTS", "rw", p.Groups, 0, f("base", 0, 24), f("log2_n", 24, 5))
	for _, n := range []string{"IN", "OUT", "ACK"} {
		add("GROUP_"+n+"_MASK", "rw", p.Groups, 0, f("mask", 0, p.Members+1))
	}
	add("GROUP_PARENT", "rw", p.Groups, 0, f("endpoint", 0, 8), f("valid", 31, 1))
	add("GROUP_COLLECTIVE", "rw", p.Groups, 0, f("collective", 0, 3), f("op", 8, 2), f("dtype", 16, 2), f("big_endian", 24, 1),
		f("in_band", 25, 1), f("root_sends", 26, 1))
	for i := range 7 {
		add(fmt.Sprintf("GROUP_ROUTE_%d", i), "rw", p.Groups, 0, f("routes", 0, 30))
	}
	if p.Mode == 3 {
		add("PIPE_CTRL", "rw", 1, 0x101, f("rnr_timer", 0, 5), f("rnr", 8, 1), f("cnp", 9, 1))
		add("PIPE_TIMEOUT", "rw", 1, 16, f("microseconds", 0, 16))
		add("GROUP_PIPE", "rw", p.Groups, 0, f("n", 0, 24))
		add("GROUP_FAILED", "ro", p.Groups, 0, f("mask", 0, p.Members+1))
	}
	n := p.Records()
	add("EP_CTRL", "rw", n, 0, f("valid", 0, 1), f("host", 1, 1), f("port", 8, 8))
	for _, name := range []string{"LOCAL_QPN", "REMOTE_QPN"} {
		add("EP_"+name, "rw", n, 0, f("qpn", 0, 24))
	}
	for _, name := range []string{"LOCAL_IP", "REMOTE_IP", "LOCAL_MAC_LO", "REMOTE_MAC_LO"} {
		add("EP_"+name, "rw", n, 0, f("address", 0, 32))
	}
	for _, name := range []string{"LOCAL_MAC_HI", "REMOTE_MAC_HI"} {
		add("EP_"+name, "rw", n, 0, f("address", 0, 16))
	}
	add("EP_HEADER", "rw", n, 0, f("udp_source_port", 0, 16), f("ttl", 16, 8), f("tos", 24, 8))
	for c := range counters {
		m.Counters = append(m.Counters, c.String())
	}
	return m
}

// Params are the parameters of a manifest.
type Params = manifest.Params
