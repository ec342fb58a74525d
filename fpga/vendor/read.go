// SPDX-License-Identifier: Apache-2.0

package vendor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"incforge/fpga"
	"incforge/fpga/netlist"
	"incforge/internal/clocked"
)

// ErrNoReports means that the tool has not left its reports yet.
var ErrNoReports = errors.New("no reports of the vendor's tool")

// Read reads the reports beside a record, as figures of an FPGA. It returns ErrNoReports, wrapped, if the tool has not run to its end.
func Read(record string) (*fpga.Metrics, error) {
	text, err := os.ReadFile(record)
	if err != nil {
		return nil, fmt.Errorf("vendor: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("vendor: %s: %w", record, err)
	}
	m := &fpga.Metrics{Bench: "fpga", Config: r.Config, Digest: r.Digest, Top: r.Top, Family: fpga.Family(r.Part), Lanes: r.Lanes,
		Clock: clocked.Clock{AskedMHz: r.AskedMHz}, Metrics: map[string]float64{}, Tools: map[string]string{}}
	dir := filepath.Join(filepath.Dir(record), "reports")
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("vendor: %w: %s", ErrNoReports, filepath.Join(dir, name))
		}
		return string(text), err
	}
	switch r.Vendor {
	case Vivado:
		err = readVivado(m, read)
	case Quartus:
		err = readQuartus(m, r, read)
	default:
		err = fmt.Errorf("vendor: %w %q", ErrTool, r.Vendor)
	}
	if err != nil {
		return nil, err
	}
	m.Basis = fmt.Sprintf("%s, placed and routed on %s; ports are no pads", m.Clock.By, r.Part)
	u := m.Resources
	for key, v := range map[string]float64{"fpga__lut": u.LUT, "fpga__lutram": u.LUTRAM, "fpga__ff": u.FF, "fpga__bram36": u.BRAM36, "fpga__uram": u.URAM, "fpga__dsp": u.DSP,
		"fpga__clock__asked_mhz": m.Clock.AskedMHz, "fpga__clock__found_mhz": m.Clock.FoundMHz} {
		m.Metrics[key] = v
	}
	return m, nil
}

var (
	vivadoVersion = regexp.MustCompile(`Tool Version\s*:\s*Vivado v\.?(\S+)`)
	vivadoState   = regexp.MustCompile(`Design State\s*:\s*(.+?)\s*(?:\n|$)`)
	vivadoWNS     = regexp.MustCompile(`(?m)^\s*WNS\(ns\).*\n[ \t-]+\n\s*(-?[0-9.]+)\s`)
	vivadoLevels  = regexp.MustCompile(`Logic Levels:\s+(\d+)(?:\s+\(([^)]*)\))?`)
	vivadoSource  = regexp.MustCompile(`(?m)^\s*Source:\s+(\S+)`)
	vivadoDest    = regexp.MustCompile(`(?m)^\s*Destination:\s+(\S+)`)
)

func readVivado(m *fpga.Metrics, read func(string) (string, error)) error {
	use, err := read("utilization.rpt")
	if err != nil {
		return err
	}
	timing, err := read("timing_summary.rpt")
	if err != nil {
		return err
	}
	version := vivadoVersion.FindStringSubmatch(use)
	if version == nil {
		return fmt.Errorf("vendor: utilization.rpt is no report of Vivado's")
	}
	if state := vivadoState.FindStringSubmatch(use); state == nil || state[1] != "Routed" && state[1] != "Physopt postRoute" {
		return fmt.Errorf("vendor: %w: utilization.rpt is of a design that is not routed", ErrNoReports)
	}
	cells := tableRows(use)
	for _, k := range []struct {
		to    *float64
		name  string
		needs bool
	}{{&m.Resources.LUT, "CLB LUTs", true}, {&m.Resources.LUTRAM, "LUT as Memory", true}, {&m.Resources.FF, "CLB Registers", true}, {&m.Resources.BRAM36, "Block RAM Tile", true},
		{&m.Resources.URAM, "URAM", false}, {&m.Resources.DSP, "DSPs", false}, {&m.Resources.Carry, "CARRY8", false}} {
		v, ok := cells[k.name]
		if !ok && k.needs {
			return fmt.Errorf("vendor: utilization.rpt has no row %q", k.name)
		}
		*k.to = v
	}
	wns := vivadoWNS.FindStringSubmatch(timing)
	if wns == nil {
		return fmt.Errorf("vendor: timing_summary.rpt has no worst negative slack")
	}
	slack, err := strconv.ParseFloat(wns[1], 64)
	if err != nil {
		return fmt.Errorf("vendor: timing_summary.rpt: %w", err)
	}
	m.Tools["vivado"] = version[1]
	if err := found(m, slack, "Vivado "+version[1]); err != nil {
		return err
	}
	m.Longest = vivadoPath(timing)
	return nil
}

// vivadoPath is the first path of the report, the one with the least slack; nil if there is none.
func vivadoPath(timing string) *netlist.Path {
	levels, from, to := vivadoLevels.FindStringSubmatch(timing), vivadoSource.FindStringSubmatch(timing), vivadoDest.FindStringSubmatch(timing)
	if levels == nil || from == nil || to == nil {
		return nil
	}
	p := &netlist.Path{Start: from[1], End: to[1]}
	p.Levels, _ = strconv.Atoi(levels[1]) // digits
	for _, word := range strings.Fields(levels[2]) {
		kind, n, _ := strings.Cut(word, "=")
		k, err := strconv.Atoi(n)
		switch {
		case err != nil:
		case strings.HasPrefix(kind, "CARRY"):
			p.Chains += k
		default:
			p.LUTs += k
		}
	}
	for _, pin := range []string{p.Start, p.End} {
		block := pin
		for range 2 { // the pin, then the register
			if i := strings.LastIndex(block, "/"); i >= 0 {
				block = block[:i]
			} else {
				block = ""
			}
		}
		if block != "" && (len(p.Blocks) == 0 || p.Blocks[len(p.Blocks)-1] != block) {
			p.Blocks = append(p.Blocks, block)
		}
	}
	return p
}

// tableRows reads "| name | used | ..." of all tables; of a name that comes twice the first counts.
func tableRows(report string) map[string]float64 {
	rows := map[string]float64{}
	for line := range strings.Lines(report) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		name := strings.TrimRight(strings.TrimSpace(cells[1]), "*")
		v, err := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
		if _, seen := rows[name]; err == nil && !seen {
			rows[name] = v
		}
	}
	return rows
}

var (
	quartusVersion = regexp.MustCompile(`Quartus Prime Version\s*:\s*(\S+)`)
	quartusStatus  = regexp.MustCompile(`Fitter Status\s*:\s*Successful`)
	quartusType    = regexp.MustCompile(`(?m)^Type\s*:\s*(.*Setup.*?)\s*\n^Slack\s*:\s*(-?[0-9.]+)`)
	quartusLine    = regexp.MustCompile(`(?m)^\s*([A-Z][^:\n]*?)\s*:\s*([0-9][0-9,]*)`)
)

// bitsBRAM36 converts Quartus's memory bits into units of the other rows.
const bitsBRAM36 = 36 << 10

func readQuartus(m *fpga.Metrics, r Record, read func(string) (string, error)) error {
	fit, err := read(r.Top + ".fit.summary")
	if err != nil {
		return err
	}
	sta, err := read(r.Top + ".sta.summary")
	if err != nil {
		return err
	}
	version := quartusVersion.FindStringSubmatch(fit)
	if version == nil {
		return fmt.Errorf("vendor: %s.fit.summary is no report of Quartus's", r.Top)
	}
	if !quartusStatus.MatchString(fit) {
		return fmt.Errorf("vendor: %w: the fitter did not succeed", ErrNoReports)
	}
	rows := map[string]float64{}
	for _, l := range quartusLine.FindAllStringSubmatch(fit, -1) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(l[2], ",", ""), 64); err == nil {
			rows[l[1]] = v
		}
	}
	alm, ok := rows["Logic utilization (in ALMs)"]
	if !ok {
		return fmt.Errorf("vendor: %s.fit.summary has no ALMs", r.Top)
	}
	m.Resources.LUT, m.Unit = alm, "ALM"
	for _, name := range []string{"Total dedicated logic registers", "Total registers"} {
		if v, ok := rows[name]; ok {
			m.Resources.FF = v
			break
		}
	}
	m.Resources.BRAM36 = rows["Total block memory bits"] / bitsBRAM36
	m.Resources.DSP = rows["Total DSP Blocks"]
	worst, seen := 0.0, false
	for _, l := range quartusType.FindAllStringSubmatch(sta, -1) {
		slack, err := strconv.ParseFloat(l[2], 64)
		if err != nil {
			return fmt.Errorf("vendor: %s.sta.summary: %w", r.Top, err)
		}
		if !seen || slack < worst {
			worst, seen = slack, true
		}
	}
	if !seen {
		return fmt.Errorf("vendor: %s.sta.summary has no setup slack", r.Top)
	}
	m.Tools["quartus"] = version[1]
	return found(m, worst, "Quartus "+version[1])
}

// found gives the record the clock that a slack leaves.
func found(m *fpga.Metrics, slackNS float64, by string) error {
	period := 1e3/m.Clock.AskedMHz - slackNS
	if m.Clock.AskedMHz <= 0 || period <= 0 {
		return fmt.Errorf("vendor: a slack of %g of a period cannot be", slackNS)
	}
	m.Clock.FoundMHz, m.Clock.By = 1e3/period, by
	return nil
}
