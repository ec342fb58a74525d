// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"incforge/mutate/mutant"
	"incforge/synth/yosys"
)

// proofLimit bounds a run of Yosys.
const proofLimit = 20 * time.Minute

// whyUnused is what Yosys's optimisation shows of a mutant.
const whyUnused = "Yosys: no output depends on the choice (constant or unused in this configuration)"

// prove finds mutants that change nothing in the module top of the design. An input is added to the top module, with one bit for each mutant: the
// bit turns the mutant on. Yosys then removes all logic that is constant or unused. If no cell or output still reads a mutant's bit, no output
// depends on the mutant. The converse does not hold: one mutant's logic can keep another's from being removed, so a mutant that is not found here
// may still change nothing.
func prove(ctx context.Context, files []string, top string, d *mutant.Design, mutants []mutant.Mutant) (map[int]string, error) {
	dir, err := os.MkdirTemp("", "incforge-prove-")
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := d.Open(dir, mutants); err != nil {
		return nil, err
	}
	script := []string{"read_verilog -defer " + strings.Join(files, " "), "hierarchy -check -top " + top, "proc", "flatten", "opt -full", "clean -purge",
		"write_json open.json"}
	if err := yosys.Run(ctx, dir, "prove", script, proofLimit); err != nil {
		return nil, err
	}
	used, err := readUsed(filepath.Join(dir, "open.json"), top)
	if err != nil {
		return nil, err
	}
	proven := map[int]string{}
	for i, m := range mutants {
		if !used[i] {
			proven[m.Number] = whyUnused
		}
	}
	return proven, nil
}

// readUsed tells which bits of the input mutant.Bits some cell or output of a flat design looks at.
func readUsed(file, top string) (map[int]bool, error) {
	_, m, err := readNetlist(file, top)
	if err != nil {
		return nil, err
	}
	nets := map[any]int{}
	for i, bit := range m.Ports[mutant.Bits].Bits {
		nets[bit] = i
	}
	if len(nets) == 0 {
		return nil, fmt.Errorf("mutate: what Yosys left has no input %s", mutant.Bits)
	}
	used := map[int]bool{}
	look := func(bits []any) {
		for _, b := range bits {
			if i, ok := nets[b]; ok {
				used[i] = true
			}
		}
	}
	for name, p := range m.Ports {
		if name != mutant.Bits && p.Direction == "output" {
			look(p.Bits)
		}
	}
	for _, c := range m.Cells {
		for _, bits := range c.Connections {
			look(bits)
		}
	}
	return used, nil
}
