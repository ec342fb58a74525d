// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"incforge/internal/clocked"
)

// maxModules bounds the area table.
const maxModules = 20

// Table renders the record for people.
func (m *Metrics) Table() string {
	v := m.Metrics
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), %s %s\n%s\n", m.Config, m.Top, m.Tech, m.Corner, m.Basis)

	t := newTable("figure", "value", "error bar", "basis")
	for _, e := range m.Estimates {
		value, low, high, unit := e.Value, e.Low, e.High, e.Unit
		if unit == "um2" && e.Key != "synth__lane__area" {
			value, low, high, unit = value/1e6, low/1e6, high/1e6, "mm2"
		}
		if e.Key == "synth__timing__fmax__mhz" && m.Clock.Missed() {
			unit += " " + clocked.Mark
		}
		t.AppendRow(table.Row{label(e.Key), quantity(value, unit), quantity(low, "") + " - " + quantity(high, ""), e.Basis})
	}
	b.WriteString(t.Render() + "\n\n")

	t = newTable("cells", "flops", "clock gates", "macros", "memory bits", "per payload bit", "MHz asked", "MHz found", "slack ns", "reg-to-reg ns", "path FO4")
	found := fmt.Sprintf("%.1f", m.Clock.FoundMHz)
	if m.Clock.Missed() {
		found += " " + clocked.Mark
	}
	t.AppendRow(table.Row{
		fmt.Sprintf("%.0f", v["synth__design__instance__count__stdcell"]), fmt.Sprintf("%.0f", v["synth__design__instance__count__flops"]),
		fmt.Sprintf("%.0f", v["synth__design__instance__count__clock_gates"]),
		fmt.Sprintf("%.0f", v["synth__design__instance__count__macros"]), fmt.Sprintf("%.0f", v["synth__memory__bits"]),
		optional(v, "synth__memory__bits_per_payload_bit"), fmt.Sprintf("%g", m.Clock.AskedMHz), found,
		fmt.Sprintf("%.3f", v["synth__timing__setup__ws"]), optional(v, "synth__timing__setup__ws__reg2reg"),
		fmt.Sprintf("%.1f", v["synth__timing__critical_path__fo4"])})
	b.WriteString(t.Render() + "\n")
	fmt.Fprintf(&b, "critical path: %s -> %s, %.3f ns in %d stages\n\n", m.CriticalPath.Start, m.CriticalPath.End, m.CriticalPath.DelayPS/1e3, m.CriticalPath.Stages)

	t = newTable("module", "instances", "flops", "um2 own", "um2 with all below", "um2 all instances", "share")
	for i, a := range m.Modules {
		if i == maxModules {
			t.AppendRow(table.Row{fmt.Sprintf("%d more", len(m.Modules)-maxModules)})
			break
		}
		share := 0.0
		if raw := v["synth__design__instance__area"]; raw > 0 {
			share = a.Total / raw
		}
		t.AppendRow(table.Row{a.Module, a.Instances, a.Flops, fmt.Sprintf("%.1f", a.Own), fmt.Sprintf("%.1f", a.Area),
			fmt.Sprintf("%.1f", a.Total), fmt.Sprintf("%.1f %%", 100*share)})
	}
	b.WriteString(t.Render() + "\n")

	if len(m.Memories) > 0 {
		t = newTable("memory", "ports", "instances", "stored in", "shape", "um2 each", "access ns", "cycle ns")
		for _, a := range m.Memories {
			row := table.Row{fmt.Sprintf("%d x %d", a.Words, a.Bits), a.Ports, a.Instances, a.Storage, a.Shape, "", "", ""}
			if a.Area > 0 {
				row[5], row[6], row[7] = fmt.Sprintf("%.1f", a.Area), fmt.Sprintf("%.3f", a.AccessNS), fmt.Sprintf("%.3f", a.CycleNS)
			}
			t.AppendRow(row)
		}
		b.WriteString("\n" + t.Render() + "\n")
	}
	for _, w := range m.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	if l := m.Lanes; l != nil {
		fmt.Fprintf(&b, "lanes: %d of %.0f um2, %.0f NAND2 each; %.1f %% of the cells\n", l.Count, l.Area, v["synth__lane__nand2"], 100*l.Share)
	}
	paper := fmt.Sprintf("paper: %.2f mm2 for 512 FP32 and 512 UINT ALUs, 1 MB, 3.2 Tb/s (28 nm, basis unstated)", m.Paper.AreaMM2)
	if m.Paper.Comparable {
		fmt.Fprintf(&b, "%s; raw here %.2f mm2, %.2f of it\n", paper, v["synth__design__instance__area"]/1e6, m.Paper.Ratio)
	} else {
		fmt.Fprintf(&b, "%s; not the same configuration: %s\n", paper, strings.Join(m.Paper.Because, "; "))
	}
	return b.String()
}

func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for i := 1; i < len(header); i++ {
		if h := header[i]; h != "basis" && h != "shape" && h != "stored in" {
			right = append(right, table.ColumnConfig{Number: i + 1, Align: text.AlignRight})
		} else if h == "basis" {
			right = append(right, table.ColumnConfig{Number: i + 1, WidthMax: 72, WidthMaxEnforcer: text.WrapSoft})
		}
	}
	t.SetColumnConfigs(right)
	return t
}

// label turns a metric's key into words.
func label(key string) string {
	switch key {
	case "synth__design__instance__area":
		return "area, raw"
	case "synth__design__instance__area__stdcell":
		return "  of it cells"
	case "synth__design__instance__area__macros":
		return "  of it macros"
	case "synth__design__instance__area__placed":
		return "area, placed"
	case "synth__design__nand2_equivalents":
		return "gates (cells)"
	case "synth__switch__queues__area":
		return "switch's queues"
	case "synth__lane__area":
		return "area a lane"
	case "synth__timing__fmax__mhz":
		return "fmax"
	}
	return key
}

func quantity(v float64, unit string) string {
	s := fmt.Sprintf("%.4g", v)
	if v >= 1000 {
		s = fmt.Sprintf("%.0f", v)
	}
	if unit != "" {
		s += " " + unit
	}
	return s
}

func optional(v map[string]float64, key string) string {
	x, ok := v[key]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}
