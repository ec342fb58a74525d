// SPDX-License-Identifier: Apache-2.0

package front

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func point(name string, area, gbps float64) Point {
	return Point{At: []string{name}, AskedMHz: 250, Full: name == "a", Values: map[string]Value{Raw: {area, area * 0.9, area * 1.1}, Gbps: {gbps, gbps, gbps}, Found: {V: 200}}}
}

func sweep() *Sweep {
	return &Sweep{Bench: Bench, Config: "mini", Tech: "generic28", Front: []string{Raw, Gbps}, Axes: []Axis{{Name: "lanes", Values: []string{"a", "b", "c", "d", "e"}}}, Points: []Point{
		point("a", 1, 10), point("b", 2, 20), point("c", 2.5, 20), point("d", 3, 15), point("e", 4, 40), {At: []string{"f"}, Why: "they do not go together"},
	}}
}

// Judge compares what was found with what the others would have said, and gives estimates that error.
func TestJudge(t *testing.T) {
	s := sweep()
	s.Judge()
	assert.Empty(t, s.Errors, "nobody was left out")
	s.Points[1].Full = true
	s.Points[0].FromOthers = map[string]float64{Raw: 1.03}
	s.Points[1].FromOthers = map[string]float64{Raw: 1.92}
	s.Judge()
	require.Len(t, s.Errors, 1)
	assert.Equal(t, 2, s.Errors[0].Points)
	assert.InDelta(t, 0.04, s.Errors[0].Worst, 1e-9)
	assert.InDelta(t, math.Sqrt((0.03*0.03+0.04*0.04)/2), s.Errors[0].RMS, 1e-9)
	assert.InDelta(t, 2.5*(1-s.Errors[0].RMS), s.Points[2].Values[Raw].Low, 1e-9)
	assert.InDelta(t, 2.5*(1+s.Errors[0].RMS), s.Points[2].Values[Raw].High, 1e-9)
	require.NoError(t, s.Choose())
	table := s.Table(false)
	assert.Regexp(t, `area, raw +│ +2 │ +3\.5 % │ +4\.0 %`, table)
	assert.Regexp(t, `a +│ +1\.00 │ +1\.03 │ \+3\.0 %`, table)
	assert.Regexp(t, `b +│ +2\.00 │ +1\.92 │ -4\.0 %`, table)
}

func TestChoose(t *testing.T) {
	s := sweep()
	require.NoError(t, s.Choose())
	best := ""
	for _, p := range s.Points {
		if p.Best {
			best += p.At[0]
		}
	}
	assert.Equal(t, "abe", best)
	s.Front = []string{"beauty"}
	assert.Error(t, s.Choose())
}

// Equal points are both best.
func TestChooseEqual(t *testing.T) {
	s := sweep()
	s.Points = []Point{point("a", 1, 10), point("b", 1, 10)}
	require.NoError(t, s.Choose())
	assert.True(t, s.Points[0].Best && s.Points[1].Best)
}

func TestTable(t *testing.T) {
	s := sweep()
	require.NoError(t, s.Choose())
	text := s.Table(false)
	assert.Contains(t, text, "200 of 250 !")
	assert.Contains(t, text, "6 points: 1 run in full, 4 estimated, 1 without figures")
	assert.Contains(t, text, "1 points: they do not go together")
	assert.NotContains(t, text, "2.50")
	assert.Contains(t, s.Table(true), "2.50")
}

// What is counted has no fractions, but block RAM, which comes in halves.
func TestCell(t *testing.T) {
	p := Point{AskedMHz: 250, Values: map[string]Value{Levels: {V: 20}, LUT: {V: 9187.4}, BRAM36: {V: 3.5}, Cycles: {V: 48}, NS: {V: 192}, NAND2: {V: 261000}}}
	for key, want := range map[string]string{Levels: "20", LUT: "9187", BRAM36: "3.50", Cycles: "48", NS: "192", NAND2: "261", FF: ""} {
		m, _ := Find(key)
		assert.Equal(t, want, p.Cell(m), key)
	}
}

func TestDraw(t *testing.T) {
	s := sweep()
	require.NoError(t, s.Choose())
	all, err := s.Draw()
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "gbps-over-area_raw_mm2", all[0].Name)
	again, err := s.Draw()
	require.NoError(t, err)
	assert.Equal(t, all, again, "the same bytes")

	s.Front = []string{Raw, LUT} // nobody has LUTs
	all, err = s.Draw()
	require.NoError(t, err)
	assert.Empty(t, all)
}
