// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"bytes"
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/verilog"
)

// XDC returns the constraints of a module's clocks and crossings in the words of Vivado: each clock; of what crosses between the first and
// another that its way takes a period of the faster at most; of the bits of a count that their ways differ by less than a period of the clock
// that steps it; and that the reset of a port's side has no time to keep.
func XDC(m *graph.Module, clocks ...verilog.Clock) ([]byte, error) {
	body := m.Composed()
	if body == nil || len(clocks) == 0 {
		return nil, fmt.Errorf("xdc of %s: a leaf, or no clocks", m.Name)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# SPDX-License-Identifier: Apache-2.0\n#\n# Clocks of %s and the crossings between them, for Vivado. Generated; do not edit. Times are in nanoseconds.\n", m.Name)
	period := map[string]float64{}
	for _, k := range clocks {
		if !(k.MHz > 0) {
			return nil, fmt.Errorf("xdc of %s: clock %s: %g MHz, must be more than 0", m.Name, k.Port, k.MHz)
		}
		period[k.Port] = 1000 / k.MHz
		fmt.Fprintf(&out, "create_clock -name %[1]s -period %.3[2]f [get_ports %[1]s]\n", k.Port, period[k.Port])
	}
	first := clocks[0].Port
	for _, k := range clocks[1:] {
		most := min(period[first], period[k.Port])
		fmt.Fprintf(&out, "set_max_delay -datapath_only -from [get_clocks %s] -to [get_clocks %s] %.3f\n", first, k.Port, most)
		fmt.Fprintf(&out, "set_max_delay -datapath_only -from [get_clocks %s] -to [get_clocks %s] %.3f\n", k.Port, first, most)
	}
	for _, inst := range body.Instances {
		if inst.Module.Name == "inc_cdc_reset" {
			fmt.Fprintf(&out, "\n# %[1]s\nset_false_path -to [get_pins {%[1]s/far_reg_reg[*]/PRE}]\n", inst.Name)
		}
		crossings := counts(inst.Module.Name)
		if crossings == nil {
			continue
		}
		near, far := period[driver(body, inst, graph.DefaultClock)], period[driver(body, inst, portClock)]
		if near == 0 || far == 0 {
			return nil, fmt.Errorf("xdc of %s: the frequency of a clock of %s is not given", m.Name, inst.Name)
		}
		fmt.Fprintf(&out, "\n# %s\n", inst.Name)
		for _, count := range crossings {
			source := far
			if count.near {
				source = near
			}
			fmt.Fprintf(&out, "set_bus_skew -from [get_cells {%[1]s/%[2]s/gray_reg_reg[*]}] -to [get_cells {%[1]s/%[2]s/meta_reg_reg[*]}] %.3[3]f\n",
				inst.Name, count.path, source)
		}
		fmt.Fprintf(&out, "set_false_path -to [get_pins {%s/u_reset/far_reg_reg[*]/PRE}]\n", inst.Name)
	}
	return out.Bytes(), nil
}

// count is an inc_cdc_count inside a crossing: its instance, and whether the engine's clock steps it.
type count struct {
	path string
	near bool
}

// counts are those of the queue, or of what stands beside it, of that name; nil for what is neither.
func counts(module string) []count {
	switch module {
	case "inc_port_tx_cdc":
		return []count{{"u_frames", true}, {"u_head", false}, {"u_sent/u_count", false}}
	case "inc_port_tx_cut_cdc":
		return []count{{"u_words", true}, {"u_frames", true}, {"u_head", false}, {"u_sent/u_count", false}}
	case "inc_cdc_errors":
		return []count{{"u_fixed/u_count", false}, {"u_lost/u_count", false}}
	case "inc_port_rx_cdc":
		out := []count{{"u_frames", false}, {"u_head", true}}
		for e := range 5 {
			out = append(out, count{fmt.Sprintf("gen_event[%d].u_event/u_count", e), false})
		}
		return out
	}
	return nil
}

// driver is the clock that drives an instance's input.
func driver(body *graph.Structure, inst *graph.Instance, port string) string {
	if parts := body.Drivers(inst, port); len(parts) > 0 {
		return parts[0].Port
	}
	return ""
}
