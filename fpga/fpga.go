// SPDX-License-Identifier: Apache-2.0

// Package fpga counts what a generated engine needs on an FPGA: Yosys maps the
// Verilog beside a manifest onto a family's primitives, and Run adds them up.
//
// The counts are those of Yosys before placement and before a vendor's tool
// packs two small functions into one LUT: +/-15 %. Nothing is said about timing;
// that needs the vendor's tool.
package fpga

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/contract"
	"incforge/internal/tool"
	"incforge/synth/design"
	"incforge/synth/yosys"
)

// Family names an FPGA family.
type Family string

const (
	// XCUP is AMD's UltraScale+ (the paper's VU13P).
	XCUP Family = "xcup"
	// ECP5 is Lattice's ECP5.
	ECP5 Family = "ecp5"
	// ICE40 is Lattice's iCE40.
	ICE40 Family = "ice40"
)

// Families lists the families that Run knows.
func Families() []Family { return []Family{XCUP, ECP5, ICE40} }

// Error is the relative error of LUT and flop counts, before placement.
const Error = 0.15

// ErrFamily means that a family is not known.
var ErrFamily = errors.New("unknown FPGA family")

// Options say how to run.
type Options struct {
	// Top is "core", "switch" or a module name; "" is the core.
	Top string
	// WorkDir keeps the tools' files; "" uses a temporary folder that is removed.
	WorkDir string
	// Timeout bounds the run of Yosys; 0 is two hours.
	Timeout time.Duration
}

// Resources are counts of one design.
type Resources struct {
	LUT    float64 `json:"lut"`    // all look-up tables, LUTRAM included
	LUTRAM float64 `json:"lutram"` // of it used as memory or shift register
	FF     float64 `json:"ff"`
	BRAM36 float64 `json:"bram36"` // block RAM in units of 36 Kbit
	URAM   float64 `json:"uram"`   // of 288 Kbit (xcup), single-port RAM of 256 Kbit (ice40)
	DSP    float64 `json:"dsp"`
	Carry  float64 `json:"carry"` // carry primitives as Yosys emits them
	Mux    float64 `json:"mux"`   // dedicated multiplexers
	Latch  float64 `json:"latch"`
}

func (r *Resources) add(n float64, u Resources) {
	r.LUT += n * u.LUT
	r.LUTRAM += n * u.LUTRAM
	r.FF += n * u.FF
	r.BRAM36 += n * u.BRAM36
	r.URAM += n * u.URAM
	r.DSP += n * u.DSP
	r.Carry += n * u.Carry
	r.Mux += n * u.Mux
	r.Latch += n * u.Latch
}

// Published is a row of the paper's FPGA table.
type Published struct {
	Name   string  `json:"name"`
	LUT    float64 `json:"lut"`
	LUTRAM float64 `json:"lutram"`
	FF     float64 `json:"ff"`
	BRAM36 float64 `json:"bram36"`
}

// Metrics is the record of one run.
type Metrics struct {
	Bench     string             `json:"bench"` // "fpga"
	Config    string             `json:"config"`
	Digest    string             `json:"digest"`
	Top       string             `json:"top"`
	Family    Family             `json:"family"`
	Basis     string             `json:"basis"`
	Metrics   map[string]float64 `json:"metrics"`
	Resources Resources          `json:"resources"`
	Cells     map[string]int     `json:"cells"` // primitives by type
	Paper     *Published         `json:"paper,omitempty"`
	NotPaper  []string           `json:"not_paper,omitempty"` // why no row of the paper may stand beside it
	Tools     map[string]string  `json:"tools"`
}

// Run synthesises the design beside the manifest in dir for a family. A cell
// that the family's table does not know is an error.
func Run(ctx context.Context, dir string, family Family, o Options) (*Metrics, error) {
	if !slices.Contains(Families(), family) {
		return nil, fmt.Errorf("fpga: %w %q (xcup, ecp5, ice40)", ErrFamily, family)
	}
	d, err := design.Load(dir)
	if err != nil {
		return nil, err
	}
	choice, err := d.Choose(o.Top)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Hour
	}
	work := o.WorkDir
	if work == "" {
		if work, err = os.MkdirTemp("", "incforge-fpga-"); err != nil {
			return nil, fmt.Errorf("fpga: %w", err)
		}
		defer os.RemoveAll(work)
	} else if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fmt.Errorf("fpga: %w", err)
	}
	top, cells, err := count(ctx, d, choice, family, work, o.Timeout)
	if err != nil {
		return nil, err
	}
	r, err := Count(family, cells)
	if err != nil {
		return nil, err
	}
	version, err := yosys.Version(ctx)
	if err != nil {
		return nil, err
	}
	m := &Metrics{Bench: "fpga", Config: d.Name, Digest: d.Digest, Top: top, Family: family,
		Basis:     fmt.Sprintf("Yosys before placement, +/-%.0f %%; no claim about timing", 100*Error),
		Resources: r, Cells: cells, Tools: map[string]string{"yosys": tool.Number(version)},
		Metrics: map[string]float64{
			"fpga__lut": r.LUT, "fpga__lut__low": r.LUT * (1 - Error), "fpga__lut__high": r.LUT * (1 + Error),
			"fpga__lutram": r.LUTRAM, "fpga__ff": r.FF, "fpga__ff__low": r.FF * (1 - Error), "fpga__ff__high": r.FF * (1 + Error),
			"fpga__bram36": r.BRAM36, "fpga__uram": r.URAM, "fpga__dsp": r.DSP, "fpga__carry": r.Carry,
		}}
	if choice.Inside != "" { // how much of the memory is in the module the manifest does not say
		m.NotPaper = []string{top + " is not the core"}
		return m, nil
	}
	m.Metrics["fpga__memory__bits"] = float64(d.MemoryBits())
	if p := d.PayloadBits(); p > 0 {
		m.Metrics["fpga__memory__bits_per_payload_bit"] = float64(d.MemoryBits()) / float64(p)
	}
	m.Paper, m.NotPaper = published(family, d.Params)
	return m, nil
}

// count synthesises the chosen top in the folder work, and counts its primitives.
func count(ctx context.Context, d *design.Design, choice design.Choice, family Family, work string, limit time.Duration) (top string, cells map[string]int, err error) {
	var script []string
	for _, s := range d.Sources() {
		script = append(script, "read_verilog -sv "+s)
	}
	if top = choice.Tops[0].Module; choice.Inside != "" {
		if top, err = enter(ctx, work, script, choice, limit); err != nil {
			return "", nil, err
		}
		script = []string{"read_rtlil " + yosys.ReadFile}
	}
	switch family {
	case XCUP:
		// The engine is a part of a device, so no pads and clock buffers; MUXF7-9 cost more LUTs than they save here.
		script = append(script, "synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -flatten -top "+top)
	case ECP5:
		script = append(script, "synth_ecp5 -top "+top)
	case ICE40:
		script = append(script, "synth_ice40 -top "+top)
	}
	script = append(script, "tee -q -o cells.json stat -json")
	if err := yosys.Run(ctx, work, "fpga", script, limit); err != nil {
		return "", nil, err
	}
	stat, err := yosys.ReadStat(filepath.Join(work, "cells.json"))
	if err != nil {
		return "", nil, err
	}
	totals, err := stat.Hierarchy(top)
	if err != nil {
		return "", nil, err
	}
	return top, totals[top].All, nil
}

// enter leaves the chosen module, with the parameters it has in the design, in yosys.ReadFile.
func enter(ctx context.Context, work string, script []string, choice design.Choice, limit time.Duration) (top string, err error) {
	for _, t := range choice.Tops {
		modules, rerr := yosys.Elaborate(ctx, work, script, t.Module, nil, limit)
		if rerr != nil {
			return "", rerr
		}
		if top, _, err = yosys.Enter(ctx, work, modules, choice.Inside, nil, limit); err == nil || !errors.Is(err, yosys.ErrAbsent) {
			break
		}
	}
	return top, err
}

// WriteJSON writes the record, indented.
func (m *Metrics) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return fmt.Errorf("fpga: %w", err)
	}
	return nil
}

// paperBits is what the paper's 100 Gb/s are in bits a cycle at its 250 MHz.
const paperBits = 100_000 / 250

// published returns the paper's row for the same data type, buffer and rate, or
// why there is none (EPIC, SIGCOMM '26, FPGA resource table: VU13P at 250 MHz
// and 100 Gb/s).
func published(family Family, p contract.Params) (*Published, []string) {
	var why []string
	differ := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if family != XCUP {
		differ("family %s, the paper's is UltraScale+", family)
	}
	if p.Mode != 2 {
		differ("mode %d, the paper's engine is Mode II", p.Mode)
	}
	if p.BufferBytes != 1<<20 {
		differ("%d KiB of payload, the paper's rows have 1 MB", p.BufferBytes>>10)
	}
	if bits := 8 * p.BusBytes; bits < paperBits {
		differ("%d bits a cycle, the paper's rate takes %d at its clock", bits, paperBits)
	}
	row := &Published{Name: "INT32, 1 MB, VU13P", LUT: 867479, LUTRAM: 637900, FF: 169382, BRAM36: 235}
	switch {
	case slices.Contains(p.DTypes, "FP32"):
		row = &Published{Name: "FP32, 1 MB, VU13P", LUT: 987308, LUTRAM: 638924, FF: 343724, BRAM36: 235}
	case !slices.Contains(p.DTypes, "INT32"):
		differ("types %s, the paper's rows are FP32 and INT32", strings.Join(p.DTypes, ", "))
	}
	if len(why) > 0 {
		return nil, why
	}
	return row, nil
}

// Count adds up a family's primitives.
func Count(family Family, cells map[string]int) (Resources, error) {
	table, ok := primitives()[family]
	if !ok {
		return Resources{}, fmt.Errorf("fpga: %w %q", ErrFamily, family)
	}
	var r Resources
	var unknown []string
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		u, ok := table[cell]
		if !ok {
			unknown = append(unknown, cell)
			continue
		}
		r.add(float64(cells[cell]), u)
	}
	if len(unknown) > 0 {
		return Resources{}, fmt.Errorf("fpga: primitives of %s that the table does not know: %s", family, strings.Join(unknown, ", "))
	}
	return r, nil
}

// primitives says what each primitive occupies.
func primitives() map[Family]map[string]Resources {
	lut, ff, latch, carry, mux, dsp := Resources{LUT: 1}, Resources{FF: 1}, Resources{Latch: 1}, Resources{Carry: 1}, Resources{Mux: 1}, Resources{DSP: 1}
	mem := func(n float64) Resources { return Resources{LUT: n, LUTRAM: n} }
	block := func(n float64) Resources { return Resources{BRAM36: n} }
	none := Resources{}

	xcup := map[string]Resources{
		// An inverter is absorbed by a LUT or a flop in placement; counting it errs upwards.
		"INV": lut, "LUT1": lut, "LUT2": lut, "LUT3": lut, "LUT4": lut, "LUT5": lut, "LUT6": lut, "LUT6_2": lut,
		"FDRE": ff, "FDSE": ff, "FDCE": ff, "FDPE": ff, "FDRE_1": ff, "FDSE_1": ff, "FDCE_1": ff, "FDPE_1": ff,
		"LDCE": latch, "LDPE": latch, "CARRY4": carry, "CARRY8": carry, "MUXF7": mux, "MUXF8": mux, "MUXF9": mux, "DSP48E2": dsp,
		// A SLICEM has eight LUTs of 64 bits; dual-port shapes spend one set on each port (UG574).
		"RAM32M": mem(4), "RAM64M": mem(4), "RAM32M16": mem(8), "RAM64M8": mem(8), "RAM32X16DR8": mem(8), "RAM64X8SW": mem(8),
		"RAM32X1D": mem(2), "RAM64X1D": mem(2), "RAM128X1D": mem(4), "RAM256X1D": mem(8),
		"RAM32X1S": mem(1), "RAM64X1S": mem(1), "RAM128X1S": mem(2), "RAM256X1S": mem(4), "RAM512X1S": mem(8),
		"SRL16E": mem(1), "SRLC32E": mem(1),
		"RAMB18E2": block(0.5), "RAMB36E2": block(1), "URAM288": {URAM: 1}, "BUFG": none, "VCC": none, "GND": none,
	}
	ecp5 := map[string]Resources{
		"LUT4": lut, "INV": lut, "TRELLIS_FF": ff, "PFUMX": mux, "L6MUX21": mux,
		// Two LUTs work as a pair of adder bits.
		"CCU2C": {LUT: 2, Carry: 1},
		// Two slices of two LUTs hold the bits, a third one steers the writes.
		"TRELLIS_DPR16X4": mem(6),
		"DP16KD":          block(0.5), "PDPW16KD": block(0.5), "MULT18X18D": dsp, "ALU54B": dsp, "VLO": none, "VHI": none,
	}
	ice40 := map[string]Resources{
		"SB_LUT4": lut, "SB_CARRY": carry, "SB_RAM40_4K": block(4.0 / 36), "SB_SPRAM256KA": {URAM: 1}, "SB_MAC16": dsp, "SB_GB": none,
	}
	for _, edge := range []string{"", "N"} {
		for _, kind := range []string{"", "E", "R", "S", "ER", "ES", "SR", "SS", "ESR", "ESS"} {
			ice40["SB_DFF"+edge+kind] = ff
		}
	}
	return map[Family]map[string]Resources{XCUP: xcup, ECP5: ecp5, ICE40: ice40}
}
