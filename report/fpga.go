// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"incforge/fpga"
)

// fpgaView is the resources on one FPGA family, beside the paper's row if that is for the same configuration.
type fpgaView struct {
	Title, Basis string
	Columns      []string
	Rows         []fpgaRow
	Why          string // why no row of the paper is shown
}

type fpgaRow struct {
	Name  string
	Cells []string
}

func fpgaResources(m *fpga.Metrics) fpgaView {
	v := fpgaView{Title: m.Top + " on " + string(m.Family), Basis: m.Basis, Why: strings.Join(m.NotPaper, "; "),
		Columns: []string{"LUT", "of it LUTRAM", "FF", "BRAM36", "URAM", "DSP"}}
	row := func(name string, values ...float64) {
		r := fpgaRow{Name: name}
		for _, x := range values {
			r.Cells = append(r.Cells, figure(x, ""))
		}
		v.Rows = append(v.Rows, r)
	}
	r := m.Resources
	row("here, estimated", r.LUT, r.LUTRAM, r.FF, r.BRAM36, r.URAM, r.DSP)
	if p := m.Paper; p != nil {
		row("paper, "+p.Name, p.LUT, p.LUTRAM, p.FF, p.BRAM36)
	}
	return v
}
