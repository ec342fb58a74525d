// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"

	"incforge/verify/code"
)

// codeView is code coverage: a row a file, then what nothing came to, with its excuse if it has one.
type codeView struct {
	Tests, Digest string
	Rows          []codeRow
	Missed        []missedView
}

type codeRow struct {
	File  string
	Cells []cellView
}

type missedView struct{ Place, Text, Why string }

// enough is the per cent of lines and branches without an excuse below which a file is marked.
const enough = 98

func codeCoverage(r *code.Report) *codeView {
	if r == nil {
		return nil
	}
	v := &codeView{Tests: strconv.Itoa(r.Tests), Digest: fmt.Sprintf("%.12s", r.Digest)}
	for _, f := range append([]code.Score{r.Total}, r.Files...) {
		row := codeRow{File: f.File}
		for i, t := range []code.Tally{f.Line, f.Branch, f.Toggle} {
			class := ""
			if t.Percent() < enough && i < 2 {
				class = "warn"
			}
			row.Cells = append(row.Cells, cellView{fmt.Sprintf("%.1f %% of %d", t.Percent(), t.Points-t.Excused), class})
		}
		v.Rows = append(v.Rows, row)
	}
	for _, m := range r.Missed {
		v.Missed = append(v.Missed, missedView{fmt.Sprintf("%s:%d %s %s", m.File, m.Line, m.Kind, m.What), m.Text, m.Why})
	}
	return v
}
