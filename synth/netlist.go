// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"incforge/contract"
	"incforge/internal/cache"
	"incforge/internal/jobs"
	"incforge/synth/design"
	"incforge/synth/yosys"
)

// NetlistOptions say what netlist to make.
type NetlistOptions struct {
	// Top is "core", "switch" or a module name; "" is the core.
	Top string
	// Mapped maps onto the cells of Tech and appends their models; without it the
	// netlist is made of Verilog's own operators on single bits.
	Mapped bool
	// Tech as in Options, for a mapped netlist.
	Tech string
	// OutDir receives the file; "" is the folder netlist beside the manifest.
	OutDir string
	// Timeout bounds each run of Yosys; 0 is two hours.
	Timeout time.Duration
}

// netlistFormat is part of a netlist's key: it changes with what this file writes.
const netlistFormat = "incforge netlist 2"

// Netlist synthesises the design beside the manifest in dir and returns the path
// of one self-contained Verilog file with the same top module and ports, fit for
// a simulator: gates, the memories as behavioural models, and the models of the
// cells if it is mapped. A file that was made from the same sources with the
// same options is used again.
func Netlist(ctx context.Context, dir string, o NetlistOptions) (string, error) {
	d, err := design.Load(dir)
	if err != nil {
		return "", err
	}
	top, err := d.Top(o.Top) // a simulator needs ports that it knows, so it is a top
	if err != nil {
		return "", err
	}
	if o.OutDir == "" {
		o.OutDir = filepath.Join(d.Dir, "netlist")
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Hour
	}
	kind := "generic"
	if o.Mapped {
		kind = "mapped"
	}
	key, err := netlistKey(ctx, d, top.Module, o)
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.OutDir, top.Module+"."+kind+".v")
	head := []byte("// " + netlistFormat + " " + key + "\n")
	if old, err := os.ReadFile(path); err == nil && bytes.HasPrefix(old, head) {
		return path, nil
	}
	var body []byte
	if o.Mapped {
		body, err = mappedNetlist(ctx, dir, o)
	} else {
		body, err = genericNetlist(ctx, d, top.Module, o)
	}
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(o.OutDir, 0o755); err != nil {
		return "", fmt.Errorf("synth: %w", err)
	}
	// A netlist is full of what lint rightly dislikes in hand-written code.
	text := bytes.Join([][]byte{head, []byte("/* verilator lint_off WIDTH */\n/* verilator lint_off UNUSED */\n/* verilator lint_off UNDRIVEN */\n" +
		"/* verilator lint_off UNOPTFLAT */\n/* verilator lint_off DECLFILENAME */\n/* verilator lint_off PINMISSING */\n" +
		"/* verilator lint_off PINCONNECTEMPTY */\n/* verilator lint_off MULTITOP */\n/* verilator lint_off LATCH */\n/* verilator lint_off COMBDLY */\n`timescale 1ns/1ps\n"), body}, nil)
	// Others may read the path while it is written.
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		return "", fmt.Errorf("synth: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", fmt.Errorf("synth: %w", err)
	}
	return path, nil
}

// netlistKey digests all that the netlist depends on.
func netlistKey(ctx context.Context, d *design.Design, top string, o NetlistOptions) (string, error) {
	version, err := yosys.Version(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, netlistFormat, version, top, o.Mapped, o.Tech)
	for _, f := range d.Sources() {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("synth: %w", err)
		}
		fmt.Fprintln(h, filepath.Base(f), len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// genericNetlist writes the design in Verilog's own operators on single bits, module by module.
func genericNetlist(ctx context.Context, d *design.Design, top string, o NetlistOptions) ([]byte, error) {
	rams, err := d.RAMs()
	if err != nil {
		return nil, err
	}
	version, err := yosys.Version(ctx)
	if err != nil {
		return nil, err
	}
	store, err := cache.Open("", "synth")
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	// As a black box a leaf keeps its name and its parameters.
	var boxes strings.Builder
	for _, r := range rams {
		boxes.WriteString("(* blackbox *)\n" + r.Header + "\nendmodule\n")
	}
	e := front{d: d, choice: design.Choice{Tops: []contract.Top{{Module: top}}}, leaves: rams, limit: o.Timeout, store: store, yosys: version,
		ram: map[string]string{"read_verilog -sv ram.v": boxes.String()}}
	done, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	s := &shop{store: store, yosys: version, limit: o.Timeout}
	texts := make([][]byte, len(done.parts))
	err = each(ctx, jobs.Place{}, taskGates, nil, done.parts, func(ctx context.Context, i int, p *part) error {
		dir, err := s.generic(ctx, p, "abc -fast", "opt -fast", "setundef -zero", "opt_clean", "write_verilog -noattr out.v")
		if err != nil {
			return err
		}
		texts[i], err = os.ReadFile(filepath.Join(dir, "out.v"))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range rams {
		texts = append(texts, []byte(r.Text))
	}
	return bytes.Join(texts, []byte("\n")), nil
}

func mappedNetlist(ctx context.Context, dir string, o NetlistOptions) ([]byte, error) {
	f, done, err := start(ctx, dir, Options{Top: o.Top, Tech: o.Tech, Timeout: o.Timeout})
	if err != nil {
		return nil, err
	}
	defer done()
	if err := f.elaborate(ctx); err != nil {
		return nil, err
	}
	ladders, err := f.ladders(ctx)
	if err != nil {
		return nil, err
	}
	r, err := f.stitch(ctx, ladders, state{})
	if err != nil {
		return nil, err
	}
	totals, err := r.stat.Hierarchy(f.top)
	if err != nil {
		return nil, err
	}
	cells := map[string]bool{}
	for cell := range totals[f.top].All {
		cells[cell] = true
	}
	models, err := f.t.lib.Models(cells)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{r.verilog, models, []byte(macroModels(f.rams, f.memories))}, []byte("\n")), nil
}
