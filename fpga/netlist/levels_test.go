// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func kinds() Kinds {
	return Kinds{"LUT": {Levels: 1}, "INV": {}, "CARRY": {CarryIn: "CI", CarryOut: "CO", Bits: 4},
		"RAM": {Levels: 1, From: func(out string) []string { return []string{strings.Replace(out, "DO", "ADDR", 1)} }}}
}

// build makes a netlist of lines "name type in:A=1 out:O=2"; a net is a number, or 0 and 1 as constants "c".
func build(t *testing.T, names map[string]int, lines ...string) *Netlist {
	t.Helper()
	var cells []string
	for _, line := range lines {
		words := strings.Fields(line)
		var dirs, bits []string
		for _, w := range words[2:] {
			dir, rest, _ := strings.Cut(w, ":")
			port, net, _ := strings.Cut(rest, "=")
			if net == "c" {
				net = `"0"`
			}
			dirs = append(dirs, fmt.Sprintf("%q: %q", port, dir+"put"))
			bits = append(bits, fmt.Sprintf("%q: [%s]", port, net))
		}
		cells = append(cells, fmt.Sprintf(`%q: {"type": %q, "port_directions": {%s}, "connections": {%s}}`, words[0], words[1], strings.Join(dirs, ","), strings.Join(bits, ",")))
	}
	var nets []string
	for name, n := range names {
		nets = append(nets, fmt.Sprintf(`%q: {"bits": [%d]}`, name, n))
	}
	n, err := parse([]byte(fmt.Sprintf(`{"cells": {%s}, "netnames": {%s}, "ports": {"out": {"direction": "output", "bits": [99]}}}`, strings.Join(cells, ","), strings.Join(nets, ","))))
	require.NoError(t, err)
	return n
}

const elaborated = `
module \top
  wire input 1 \clk
  cell \alpha \u_a
  end
  cell $paramod\beta \gen_x[0].u_b
  end
end
module \alpha
  wire width 4 output 2 \q
end
module $paramod\beta
  wire width 4 input 1 \d
  wire \h
  cell \alpha \u_in
  end
end
`

func TestBlock(t *testing.T) {
	h := ReadHierarchy([]byte(elaborated), "top")
	for name, want := range map[string]string{"clk": " true", "u_a.q": "u_a false", "gen_x[0].u_b.d": "gen_x[0].u_b true", "gen_x[0].u_b.gen_y.h": "gen_x[0].u_b false",
		"gen_x[0].u_b.u_in.q_LUT_O": "gen_x[0].u_b/u_in false", "u_z.q": " false"} {
		block, in := h.Block(name)
		assert.Equal(t, want, fmt.Sprint(block, " ", in), name)
	}
	assert.Equal(t, "u_a.q", h.own([]string{"a_q", "gen_x[0].u_b.d", "u_a.q"}))
	assert.Equal(t, "gen_x[0].u_b.d", h.own([]string{"gen_x[0].u_b.d"}), "made by nobody who is known")
}

func TestLongest(t *testing.T) {
	h := ReadHierarchy([]byte(elaborated), "top")
	n := build(t, map[string]int{"u_a.q": 1, "between": 1, "gen_x[0].u_b.d": 1, "gen_x[0].u_b.h": 9},
		"ff1 FF in:D=c out:Q=1", "l1 LUT in:A=1 in:B=c out:O=2",
		"c1 CARRY in:S=2 in:CI=c out:CO=3", "c2 CARRY in:S=1 in:CI=3 out:O=4 out:CO=5",
		"i INV in:I=4 out:O=6", "l2 LUT in:A=6 out:O=7", "ff2 FF in:D=7 out:Q=9", "l3 LUT in:A=9 out:O=99")
	p, err := n.Longest(kinds(), h)
	require.NoError(t, err)
	assert.Equal(t, &Path{Levels: 4, LUTs: 2, Chains: 1, Start: "u_a.q", End: "gen_x[0].u_b.h", Blocks: []string{"u_a", "gen_x[0].u_b"}}, p)
	assert.Equal(t, "u_a → gen_x[0].u_b", p.String())
}

// A chain counts two for every 32 bits, and a carry that enters by another input begins a new one.
func TestChains(t *testing.T) {
	chain := func(cells int) []string {
		lines := []string{"ff FF in:D=c out:Q=1", "k0 CARRY in:S=1 in:CI=c out:CO=10"}
		for k := 1; k < cells; k++ {
			lines = append(lines, fmt.Sprintf("k%d CARRY in:S=1 in:CI=%d out:CO=%d", k, 9+k, 10+k))
		}
		return append(lines, fmt.Sprintf("end FF in:D=%d out:Q=98", 9+cells))
	}
	h := ReadHierarchy([]byte(elaborated), "top")
	for cells, want := range map[int]int{1: 2, 8: 2, 9: 2, 10: 4, 17: 4, 18: 6} {
		p, err := build(t, nil, chain(cells)...).Longest(kinds(), h)
		require.NoError(t, err)
		assert.Equal(t, want, p.Levels, "%d primitives of four bits", cells)
		assert.Equal(t, 1, p.Chains)
	}
	two := append(chain(2), "x CARRY in:S=11 in:CI=c out:CO=50", "end2 FF in:D=50 out:Q=97")
	p, err := build(t, nil, two...).Longest(kinds(), h)
	require.NoError(t, err)
	assert.Equal(t, 4, p.Levels)
	assert.Equal(t, 2, p.Chains)
}

// A memory is read without a clock from the address of that port alone.
func TestAsynchronousMemory(t *testing.T) {
	h := ReadHierarchy([]byte(elaborated), "top")
	p, err := build(t, nil, "ff FF in:D=c out:Q=1", "l LUT in:A=1 out:O=2", "m RAM in:ADDRA=1 in:ADDRD=2 in:DIA=2 out:DOA=3", "e FF in:D=3 out:Q=4").Longest(kinds(), h)
	require.NoError(t, err)
	assert.Equal(t, 1, p.Levels, "the address of the write port does not reach the output")
	p, err = build(t, nil, "ff FF in:D=c out:Q=1", "l LUT in:A=1 out:O=2", "m RAM in:ADDRA=2 in:ADDRD=1 out:DOA=3", "o LUT in:A=3 out:O=99").Longest(kinds(), h)
	require.NoError(t, err)
	assert.Equal(t, 3, p.Levels, "to an output of the top")
}

func TestLoopIsAnError(t *testing.T) {
	_, err := build(t, nil, "l1 LUT in:A=2 out:O=1", "l2 LUT in:A=1 out:O=2").Longest(kinds(), ReadHierarchy([]byte(elaborated), "top"))
	require.ErrorIs(t, err, ErrLoop)
}

func TestNothing(t *testing.T) {
	p, err := build(t, nil, "ff FF in:D=c out:Q=1").Longest(kinds(), ReadHierarchy([]byte(elaborated), "top"))
	require.NoError(t, err)
	assert.Zero(t, p.Levels)
}

// Pairs of blocks with long paths, by what begins and ends them; a register's data and its enable are ends of their own, what a memory reads is none.
func TestOver(t *testing.T) {
	h := ReadHierarchy([]byte(elaborated), "top")
	n := build(t, map[string]int{"u_a.q": 1, "gen_x[0].u_b.h": 9, "own": 12},
		"ff1 FF in:D=c out:Q=1", "l1 LUT in:A=1 out:O=2", "l2 LUT in:A=2 out:O=3", "l3 LUT in:A=3 out:O=4",
		"ff2 FF in:D=3 in:CE=4 out:Q=9", "ff3 FF in:D=2 out:Q=12", "m RAM in:ADDRA=4 in:DIA=3 out:DOA=20", "ff4 FF in:D=20 out:Q=21")
	pairs, err := n.Over(kinds(), h, 1)
	require.NoError(t, err)
	assert.Equal(t, []Pair{
		{From: "u_a", To: "", Levels: 4, Ends: 2, Start: "u_a.q", End: "ff4", Pin: "D"}, // behind the memory, and what is written into it
		{From: "u_a", To: "gen_x[0].u_b", Levels: 3, Ends: 2, Start: "u_a.q", End: "gen_x[0].u_b.h", Pin: "CE"},
	}, pairs)
	pairs, err = n.Over(kinds(), h, 4)
	require.NoError(t, err)
	assert.Empty(t, pairs)
	_, err = build(t, nil, "l1 LUT in:A=2 out:O=1", "l2 LUT in:A=1 out:O=2", "f FF in:D=1 out:Q=3").Over(kinds(), h, 1)
	require.ErrorIs(t, err, ErrLoop)
}
