// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"incforge/hdl/graph"
)

// Clock says how fast a clock port runs.
type Clock struct {
	Port string
	MHz  float64
}

const (
	// ioShare is the part of the period that the world outside takes before an
	// input and after an output.
	ioShare = 0.3
	// uncertaintyShare covers jitter and, before clock tree synthesis, skew.
	uncertaintyShare = 0.03
)

// SDC returns timing constraints for the module: every clock with its period, input
// and output delays of 30 % of it, no timing at Async ports, and none between clocks
// but the first and the others: what crosses there takes at most a period of the
// faster, so that bits of a Gray code stay together.
// Times are in nanoseconds. Every clock of the module must be given.
func SDC(m *graph.Module, clocks ...Clock) ([]byte, error) {
	text := sdcText{Name: m.Name}
	var clockPorts []string
	for _, k := range clocks {
		p, ok := m.Port(k.Port)
		if !ok || p.Dir != graph.In || p.Width != 1 {
			return nil, fmt.Errorf("sdc of %s: clock %s is not a 1-bit input", m.Name, k.Port)
		}
		if !(k.MHz > 0) {
			return nil, fmt.Errorf("sdc of %s: clock %s: %g MHz, must be more than 0", m.Name, k.Port, k.MHz)
		}
		clockPorts = append(clockPorts, k.Port)
	}
	var async []string
	byClock := map[string]*sdcClock{}
	for _, k := range clocks {
		period := 1000 / k.MHz
		byClock[k.Port] = &sdcClock{
			Port: k.Port, Period: ns(period), Uncertainty: ns(period * uncertaintyShare), Delay: ns(period * ioShare),
		}
	}
	for _, p := range m.Ports {
		if slices.Contains(clockPorts, p.Name) {
			continue
		}
		name := p.Name
		if p.Width > 1 {
			name += "[*]"
		}
		clock := p.Clock
		if clock == "" {
			clock = graph.DefaultClock
		}
		k, ok := byClock[clock]
		switch {
		case clock == graph.Async:
			async = append(async, direction(p.Dir)+" [get_ports {"+name+"}]")
		case !ok:
			return nil, fmt.Errorf("sdc of %s: port %s belongs to clock %s, whose frequency is not given", m.Name, p.Name, clock)
		case p.Dir == graph.In:
			k.inputs = append(k.inputs, name)
		default:
			k.outputs = append(k.outputs, name)
		}
	}
	for _, k := range clocks {
		c := byClock[k.Port]
		c.Inputs, c.Outputs = list(c.inputs), list(c.outputs)
		text.Clocks = append(text.Clocks, c)
	}
	for _, k := range clocks[1:] {
		text.Crossings = append(text.Crossings, sdcCrossing{A: clocks[0].Port, B: k.Port, Most: ns(1000 / max(clocks[0].MHz, k.MHz))})
		if len(clocks) > 2 {
			text.Groups += " -group " + k.Port
		}
	}
	text.Async = async
	var out bytes.Buffer
	if err := sdcTemplate.Execute(&out, text); err != nil {
		return nil, fmt.Errorf("sdc of %s: %w", m.Name, err)
	}
	return out.Bytes(), nil
}

func direction(d graph.Dir) string {
	if d == graph.In {
		return "-from"
	}
	return "-to"
}

// ns prints nanoseconds to the picosecond.
func ns(v float64) string { return fmt.Sprintf("%.3f", v) }

// list breaks names over lines inside a Tcl brace.
func list(names []string) string { return strings.Join(names, "\n    ") }

type sdcText struct {
	Name      string
	Clocks    []*sdcClock
	Crossings []sdcCrossing
	Groups    string
	Async     []string
}

// sdcCrossing is two clocks and the longest way between them.
type sdcCrossing struct{ A, B, Most string }

type sdcClock struct {
	Port, Period, Uncertainty, Delay, Inputs, Outputs string

	inputs, outputs []string
}

var sdcTemplate = template.Must(template.New("sdc").Parse(`# SPDX-License-Identifier: Apache-2.0
#
# Timing constraints of {{.Name}}. Generated; do not edit. Times are in nanoseconds.
set_units -time ns
{{range $clock := .Clocks}}
create_clock -name {{.Port}} -period {{.Period}} [get_ports {{.Port}}]
set_clock_uncertainty {{.Uncertainty}} [get_clocks {{.Port}}]
{{- with .Inputs}}
set_input_delay {{$clock.Delay}} -clock {{$clock.Port}} [get_ports {
    {{.}}
}]
{{- end}}
{{- with .Outputs}}
set_output_delay {{$clock.Delay}} -clock {{$clock.Port}} [get_ports {
    {{.}}
}]
{{- end}}
{{end}}
{{- range .Crossings}}
set_max_delay {{.Most}} -from [get_clocks {{.A}}] -to [get_clocks {{.B}}]
set_max_delay {{.Most}} -from [get_clocks {{.B}}] -to [get_clocks {{.A}}]
set_false_path -hold -from [get_clocks {{.A}}] -to [get_clocks {{.B}}]
set_false_path -hold -from [get_clocks {{.B}}] -to [get_clocks {{.A}}]
{{end}}
{{- with .Groups}}
set_clock_groups -asynchronous{{.}}
{{end}}
{{- range .Async}}
set_false_path {{.}}
{{- end}}
`))
