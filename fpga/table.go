// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table renders the record for people.
func (m *Metrics) Table() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{m.Config + " (" + m.Top + ")", "LUT", "of it LUTRAM", "FF", "BRAM36", "URAM", "DSP", "carry"}
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for i := 2; i <= len(header); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	r := m.Resources
	count := func(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
	t.AppendRow(table.Row{string(m.Family), count(r.LUT), count(r.LUTRAM), count(r.FF), count(r.BRAM36), count(r.URAM), count(r.DSP), count(r.Carry)})
	if p := m.Paper; p != nil {
		t.AppendRow(table.Row{"paper, " + p.Name, count(p.LUT), count(p.LUTRAM), count(p.FF), count(p.BRAM36), "", "", ""})
		ratio := func(ours, theirs float64) string { return fmt.Sprintf("x %.3f", ours/theirs) }
		t.AppendRow(table.Row{"ours over the paper's", ratio(r.LUT, p.LUT), ratio(r.LUTRAM, p.LUTRAM), ratio(r.FF, p.FF), ratio(r.BRAM36, p.BRAM36), "", "", ""})
	}
	var b strings.Builder
	b.WriteString(t.Render() + "\n" + m.Basis + "\n")
	if r.Latch > 0 {
		fmt.Fprintf(&b, "warning: %s latches\n", count(r.Latch))
	}
	if len(m.NotPaper) > 0 {
		b.WriteString("no row of the paper is the same configuration: " + strings.Join(m.NotPaper, "; ") + "\n")
	}
	return b.String()
}
