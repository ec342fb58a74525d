// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"incforge/mutate/mutant"
	"incforge/synth/yosys"
)

const (
	// group is how many mutants are in one comparison: the more, the larger the part of the design that they can reach.
	group = 32
	// satSeconds bounds the search for a difference, a mutant.
	satSeconds = 10
)

// whyAlike is what the search shows of a mutant.
const whyAlike = "Yosys, SAT: in every state, with every input, outputs and next state are the same"

// alike finds mutants that change nothing in one step of the module top: whatever the registers and the inputs hold, the outputs, the registers' next
// values and the inputs of the memories are the same. Memories, and the blocks around them, are not looked into.
func alike(ctx context.Context, files []string, top string, d *mutant.Design, mutants []mutant.Mutant) (map[int]string, error) {
	proven := map[int]string{}
	for some := range slices.Chunk(mutants, group) {
		found, err := alikeGroup(ctx, files, top, d, some)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			proven[m] = whyAlike
		}
	}
	return proven, nil
}

// alikeGroup compares the design with itself, mutants on the one side off, on the other side one on.
func alikeGroup(ctx context.Context, files []string, top string, d *mutant.Design, mutants []mutant.Mutant) (found []int, err error) {
	dir, err := os.MkdirTemp("", "incforge-alike-")
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := d.Open(dir, mutants); err != nil {
		return nil, err
	}
	script := []string{"read_verilog -defer " + strings.Join(files, " "), "hierarchy -check -top " + top, "proc -norom"}
	for _, m := range d.Memories() {
		script = append(script, fmt.Sprintf("setattr -mod -set keep_hierarchy 1 *%s*", m))
	}
	n := len(mutants)
	// Registers and memories become inputs and outputs, so that what is left has no state.
	script = append(script, "flatten", "opt -full", "rename -top flat", "cd flat", "dffunmap", "simplemap t:$dff", "splitnets -driver", "opt_clean -purge",
		"expose -evert -evert-dff -dff", "opt_clean", "select -assert-none t:$mem* t:$dff* t:$adff* t:$sdff* t:$_*DFF* t:$dlatch* t:$_DLATCH*", "cd ..",
		"copy flat gold", "rename flat gate", "delete -port gold/w:"+mutant.Bits, "cd gold",
		fmt.Sprintf("connect -set %s %d'd0", mutant.Bits, n), "rename "+mutant.Bits+" mutants_off", fmt.Sprintf("add -input %s %d", mutant.Bits, n), "cd ..",
		"miter -equiv -flatten gold gate miter", "cd miter")
	// Both sides have the same inputs: what no mutant reaches becomes one, and goes.
	script = append(script, "opt_clean -purge", "opt_expr", "opt_merge", "opt_expr", "opt_merge", "opt_expr", "opt_clean -purge")
	for i := range mutants {
		on := strings.Repeat("0", n-1-i) + "1" + strings.Repeat("0", i)
		script = append(script, fmt.Sprintf("tee -q -o sat-%d.txt sat -prove trigger 0 -set in_%s %d'b%s -timeout %d", i, mutant.Bits, n, on, satSeconds))
	}
	if err := yosys.Run(ctx, dir, "alike", script, proofLimit); err != nil {
		return nil, err
	}
	for i, m := range mutants {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("sat-%d.txt", i)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("mutate: %w", err)
		}
		if strings.Contains(string(text), "no model found: SUCCESS!") {
			found = append(found, m.Number)
		}
	}
	return found, nil
}
