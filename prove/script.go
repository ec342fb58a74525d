// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"incforge/internal/tool"
	"incforge/synth/yosys"
)

// design is the Verilog of a generated core.
type design struct {
	top   string            // module of the core
	names []string          // files, modules before those that use them
	files map[string]string // text by name, without folder
}

// moduleLine is the first line of a module.
var moduleLine = regexp.MustCompile(`(?m)^module (\w+)`)

// fileOf is the file of a module.
func (d design) fileOf(module string) (string, error) {
	for _, name := range d.names {
		for _, m := range moduleLine.FindAllStringSubmatch(d.files[name], -1) {
			if m[1] == module {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("prove: the design has no module %s", module)
}

// change makes changes in a copy of the design.
func (d design) change(changes []Change) (design, error) {
	d.files = maps.Clone(d.files)
	for _, c := range changes {
		name, err := d.fileOf(c.Module)
		if err != nil {
			return d, err
		}
		if n := strings.Count(d.files[name], c.From); n != 1 {
			return d, fmt.Errorf("prove: %s has %q %d times, not once", name, c.From, n)
		}
		d.files[name] = strings.Replace(d.files[name], c.From, c.To, 1)
	}
	return d, nil
}

// insert puts the texts before the ends of their modules.
func (d design) insert(into map[string]string) (design, error) {
	d.files = maps.Clone(d.files)
	for _, module := range slices.Sorted(maps.Keys(into)) {
		more, err := text(into[module])
		if err != nil {
			return d, err
		}
		if module == core {
			module = d.top
		}
		name, err := d.fileOf(module)
		if err != nil {
			return d, err
		}
		if strings.Count(d.files[name], "\nendmodule\n") != 1 {
			return d, fmt.Errorf("prove: %s has more than one module", name)
		}
		d.files[name] = strings.Replace(d.files[name], "\nendmodule\n", "\n"+more+"\nendmodule\n", 1)
	}
	return d, nil
}

// instance is one in the core's text: module, parameters if it has any, name, connections.
var instance = regexp.MustCompile(`(?m)^    (inc_\w+) (?:#\((?s:.*?)\n    \) )?(u_\w+) \((?s:.*?)\n    \);\n`)

// keep takes all other instances out of the core, so that nothing drives what they drove, and then all files that nothing needs.
func (d design) keep(instances []string) (design, error) {
	top, err := d.fileOf(d.top)
	if err != nil {
		return d, err
	}
	left := slices.Clone(instances)
	d.files = maps.Clone(d.files)
	d.files[top] = instance.ReplaceAllStringFunc(d.files[top], func(text string) string {
		i := slices.Index(left, instance.FindStringSubmatch(text)[2])
		if i < 0 {
			return ""
		}
		left = slices.Delete(left, i, i+1)
		return text
	})
	if len(left) > 0 {
		return d, fmt.Errorf("prove: %s has no instance %s", d.top, strings.Join(left, ", "))
	}
	return d.needed(top), nil
}

// word is a word of Verilog.
var word = regexp.MustCompile(`\w+`)

// needed leaves the files that a file names, and those that they name.
func (d design) needed(file string) design {
	at := map[string]string{}
	for _, name := range d.names {
		for _, m := range moduleLine.FindAllStringSubmatch(d.files[name], -1) {
			at[m[1]] = name
		}
	}
	found := map[string]bool{file: true}
	for queue := []string{file}; len(queue) > 0; queue = queue[1:] {
		for _, w := range word.FindAllString(d.files[queue[0]], -1) {
			if name, ok := at[w]; ok && !found[name] {
				found[name] = true
				queue = append(queue, name)
			}
		}
	}
	d.names = slices.DeleteFunc(slices.Clone(d.names), func(name string) bool { return !found[name] })
	return d
}

// graphFile is what Yosys leaves for ABC.
const graphFile = "claim.aig"

// script makes an and-inverter graph of one property of a block. What nothing drives is anything. Lemmas are asserted only where induction needs
// them, so that a planted fault breaks the property and not what leads to it.
func (d design) script(b Block, k Kind, lemmas bool) []string {
	defines := "-D" + k.define()
	if lemmas {
		defines += " -DPROVE_LEMMAS"
	}
	script := []string{"read_verilog -formal " + defines + " " + strings.Join(d.names, " "), "hierarchy -check -top " + d.top}
	for _, c := range b.Cut {
		script = append(script, "cutpoint "+c)
	}
	return append(script, "proc", "flatten", "setundef -undriven -anyseq", "setattr -unset keep", "delete -output", "opt -full", "memory -nomap",
		"memory_map", "opt -full", "dffunmap", "techmap", "opt -fast", "dffunmap", "setundef -anyseq", "aigmap", "opt_clean", "write_aiger -zinit "+graphFile)
}

// write puts the design into a folder.
func (d design) write(dir string) error {
	for _, name := range d.names {
		if err := os.WriteFile(filepath.Join(dir, path.Base(name)), []byte(d.files[name]), 0o644); err != nil {
			return fmt.Errorf("prove: %w", err)
		}
	}
	return nil
}

// answer is what ABC found.
type answer struct {
	Proven bool
	Depth  int // cycles: from the reset to where it breaks, or for how long it holds; 0 is for all time
}

var (
	broken = regexp.MustCompile(`was asserted in frame (\d+)`)
	holds  = regexp.MustCompile(`Property proved`)
	upTo   = regexp.MustCompile(`No output asserted in (\d+) frames|No output failed in (\d+) frames|Reached limit on the number of timeframes \((\d+)\)`)
)

// ask has ABC search in the graph of the folder, for all time or to a depth.
func ask(ctx context.Context, dir string, depth int, limit time.Duration) (answer, error) {
	search := fmt.Sprintf("pdr -T %d", int(limit.Seconds()))
	if depth > 0 {
		search = fmt.Sprintf("bmc3 -F %d -T %d", depth, int(limit.Seconds()))
	}
	// The assumptions are folded into the outputs, and all outputs into one: what holds of one helps with the others.
	command := "read_aiger " + graphFile + "; fold; orpos; strash; " + search
	r, err := tool.Run(ctx, tool.Command{Name: "yosys-abc", Args: []string{"-c", command}, Dir: dir, Timeout: limit + time.Minute})
	if err != nil {
		return answer{}, fmt.Errorf("prove: %w", err)
	}
	if m := broken.FindSubmatch(r.Output); m != nil {
		n, err := strconv.Atoi(string(m[1]))
		return answer{Depth: n + 1}, err
	}
	if depth == 0 && holds.Match(r.Output) {
		return answer{Proven: true}, nil
	}
	if m := upTo.FindSubmatch(r.Output); depth > 0 && m != nil {
		return answer{Proven: true, Depth: depth}, nil
	}
	return answer{}, fmt.Errorf("prove: no verdict within %v: %s", limit, tool.Tail(r.Output))
}

// question is the Verilog that a property is asked of, perhaps with its fault.
func (d design) question(b Block, k Kind, faulty bool) (design, error) {
	p, _ := b.property(k)
	changes := b.Changes
	if faulty {
		changes = append([]Change{p.Fault}, changes...)
	}
	d, err := d.change(changes)
	if err != nil {
		return d, err
	}
	if d, err = d.insert(b.Texts); err != nil {
		return d, err
	}
	return d.keep(b.Keep)
}

// claim makes the graph of a question and has it searched, for all time with what induction needs.
func (d design) claim(ctx context.Context, b Block, k Kind, depth int, limit time.Duration) (answer, error) {
	dir, err := os.MkdirTemp("", "incforge-prove-")
	if err != nil {
		return answer{}, fmt.Errorf("prove: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := d.write(dir); err != nil {
		return answer{}, err
	}
	if err := yosys.Run(ctx, dir, "claim", d.script(b, k, depth == 0), limit); err != nil {
		return answer{}, err
	}
	return ask(ctx, dir, depth, limit)
}
