// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"

	"incforge/mutate/score"
)

// mutantsView is a campaign of mutants: a row a block, then what lives.
type mutantsView struct {
	Lead   string
	Rows   []mutantsRow
	Living []livingView // without a reason
	Known  []livingView // with one
}

type mutantsRow struct {
	Block string // none: all together
	Cells []cellView
}

type livingView struct{ Block, Place, Operator, Verdict, Before, After, Reason, Again string }

// enoughOfBlock is the per cent of a block's mutants below which it is marked; of all together it is enough.
const enoughOfBlock = 95

func mutants(r *score.Report) mutantsView {
	v := mutantsView{Lead: fmt.Sprintf("%s of the %s that the rules can make, seed %d; %s of processor time each, %s in the median.",
		thousands(float64(len(r.Mutants))), thousands(float64(r.Possible)), r.Seed, atMost(r.Cap), figure(r.Median, "s"))}
	for _, c := range append([]score.Counts{r.Total}, r.Blocks...) {
		row := mutantsRow{Block: c.Block}
		for _, n := range []int{c.Mutants, c.Equivalent, c.Killed, c.Live(), c.Explained} {
			row.Cells = append(row.Cells, cellView{thousands(float64(n)), ""})
		}
		limit := enoughOfBlock
		if c.Block == "" {
			limit = enough
		}
		row.Cells = append(row.Cells, share(c.Percent(), c.Matter(), limit), share(c.PercentExplained(), c.Matter()-c.Explained, limit))
		v.Rows = append(v.Rows, row)
	}
	for _, m := range r.Living() {
		l := livingView{m.Module, fmt.Sprintf("%s:%d", m.File, m.Line), m.Operator, string(m.Verdict), m.Before, m.After, m.Reason, m.Replay}
		if m.Reason == "" {
			v.Living = append(v.Living, l)
		} else {
			v.Known = append(v.Known, l)
		}
	}
	return v
}

// share prints per cent, marked below the limit, and nothing of nothing.
func share(x float64, of, limit int) cellView {
	cell := cellView{}
	if of > 0 {
		cell.Text = strconv.FormatFloat(x, 'f', 1, 64) + " %"
		if x < float64(limit) {
			cell.Class = "warn"
		}
	}
	return cell
}

// atMost prints a cap in seconds, of which 0 is none.
func atMost(seconds float64) string {
	if seconds == 0 {
		return "any length"
	}
	return "at most " + figure(seconds, "s")
}

// mutantTile is a campaign's score.
func mutantTile(r *score.Report) tile {
	class := "good"
	if r.Total.Percent() < enough {
		class = "warn"
	}
	return tile{fmt.Sprintf("%s of %s", thousands(float64(r.Total.Killed)), thousands(float64(r.Total.Matter()))),
		fmt.Sprintf("mutants killed that can matter, seed %d", r.Seed), class}
}
