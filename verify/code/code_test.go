// SPDX-License-Identifier: Apache-2.0

package code_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/verify/code"
)

// three lines of a module: what is always run, an arm that cannot be reached, and one that can
func points() ([]code.Point, map[string][]string) {
	return []code.Point{
		{"a.v", 1, 5, code.Line, "block"},
		{"a.v", 2, 9, code.Branch, "if"},
		{"a.v", 2, 10, code.Branch, "else"},
		{"a.v", 3, 1, code.Toggle, "x[0]"},
		{"b.v", 1, 1, code.Toggle, "y"},
	}, map[string][]string{"a.v": {"always @*", "  if (never) x <= 1;", "reg x;"}}
}

func TestReport(t *testing.T) {
	excuse := code.Excuse{File: "a.v", Text: "if (never)", What: "if", Why: "never is 0"}
	for _, c := range []struct {
		name    string
		counts  []uint64
		excuses []code.Excuse
		total   code.Score
		missed  []string
		stale   int
	}{
		{"nothing", make([]uint64, 5), nil, code.Score{Line: code.Tally{Points: 1}, Branch: code.Tally{Points: 2}, Toggle: code.Tally{Points: 2}}, []string{"block", "if", "else"}, 0},
		{"one arm", []uint64{1, 0, 7, 1, 0}, nil,
			code.Score{Line: code.Tally{Points: 1, Hit: 1}, Branch: code.Tally{Points: 2, Hit: 1}, Toggle: code.Tally{Points: 2, Hit: 1}}, []string{"if"}, 0},
		{"the other excused", []uint64{1, 0, 7, 1, 0}, []code.Excuse{excuse},
			code.Score{Line: code.Tally{Points: 1, Hit: 1}, Branch: code.Tally{Points: 2, Hit: 1, Excused: 1}, Toggle: code.Tally{Points: 2, Hit: 1}}, []string{"if: never is 0"}, 0},
		{"excused for nothing", []uint64{1, 1, 7, 1, 1}, []code.Excuse{excuse},
			code.Score{Line: code.Tally{Points: 1, Hit: 1}, Branch: code.Tally{Points: 2, Hit: 2}, Toggle: code.Tally{Points: 2, Hit: 2}}, nil, 1},
		{"of another configuration", []uint64{1, 0, 7, 1, 0}, []code.Excuse{{File: "a.v", Text: "if (never)", Only: []string{"other"}, Why: "never is 0"}},
			code.Score{Line: code.Tally{Points: 1, Hit: 1}, Branch: code.Tally{Points: 2, Hit: 1}, Toggle: code.Tally{Points: 2, Hit: 1}}, []string{"if"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, lines := points()
			var hits code.Hits
			hits.Add(c.counts)
			r := code.New("tiny", "d", 1, p, hits, lines, c.excuses)
			assert.Empty(t, cmp.Diff(c.total, r.Total))
			var missed []string
			for _, m := range r.Missed {
				what := m.What
				if m.Why != "" {
					what += ": " + m.Why
				}
				missed = append(missed, what)
			}
			assert.Equal(t, c.missed, missed)
			assert.Len(t, r.Stale, c.stale)
		})
	}
}

func TestMerge(t *testing.T) {
	p, lines := points()
	var one, two code.Hits
	one.Add([]uint64{1, 0, 1, 0, 0})
	two.Add([]uint64{0, 1, 0, 0, 1})
	a, b := code.New("tiny", "d", 3, p, one, lines, nil), code.New("tiny", "d", 4, p, two, lines, nil)
	require.NoError(t, a.Merge(b))
	all := code.New("tiny", "d", a.Tests, p, a.Hits, lines, nil)
	assert.Equal(t, 7, all.Tests)
	assert.Equal(t, code.Score{Line: code.Tally{Points: 1, Hit: 1}, Branch: code.Tally{Points: 2, Hit: 2}, Toggle: code.Tally{Points: 2, Hit: 1}}, all.Total)
	require.ErrorIs(t, a.Merge(code.New("tiny", "other", 1, p, two, lines, nil)), code.ErrOther)
}

func TestExcuses(t *testing.T) {
	all, err := code.Excuses()
	require.NoError(t, err)
	for _, e := range all {
		assert.NotEmpty(t, e.Why)
	}
}
