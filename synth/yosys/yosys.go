// SPDX-License-Identifier: Apache-2.0

// Package yosys runs Yosys scripts and reads its statistics.
package yosys

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"incforge/internal/tool"
)

// Program is a Yosys: a name on the PATH, or a file.
type Program string

// System is the Yosys on the PATH.
const System Program = "yosys"

// Run has System run the script.
func Run(ctx context.Context, dir, name string, script []string, timeout time.Duration) error {
	return System.Run(ctx, dir, name, script, timeout)
}

// Version is System's version.
func Version(ctx context.Context) (string, error) { return System.Version(ctx) }

// Run writes the script to dir/name.ys, runs it in dir and leaves dir/name.log.
func (p Program) Run(ctx context.Context, dir, name string, script []string, timeout time.Duration) error {
	if err := os.WriteFile(filepath.Join(dir, name+".ys"), []byte(strings.Join(script, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("yosys: %w", err)
	}
	_, err := tool.Run(ctx, tool.Command{Name: string(p), Args: []string{"-q", "-l", name + ".log", "-s", name + ".ys"}, Dir: dir, Timeout: timeout})
	if err != nil {
		return fmt.Errorf("yosys: step %s: %w", name, err)
	}
	return nil
}

// Version returns what `yosys -V` prints, without the commit.
func (p Program) Version(ctx context.Context) (string, error) {
	v, err := tool.Version(ctx, string(p), "-V")
	if err != nil {
		return "", err
	}
	v, _, _ = strings.Cut(v, " (")
	return v, nil
}

// Stat is what `stat -json` prints: for each module the number of its own cells
// by type, a submodule counting as a cell.
type Stat struct {
	Modules map[string]map[string]int
}

// ReadStat reads a file written by `tee -o FILE stat -json`.
func ReadStat(file string) (*Stat, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("yosys: %w", err)
	}
	var raw struct {
		Modules map[string]struct {
			Cells map[string]int `json:"num_cells_by_type"`
		} `json:"modules"`
	}
	// Yosys 0.23 prints the tree of a design with a top module into the middle of
	// its JSON: lines that begin with neither a quote nor a brace.
	var clean []byte
	for _, line := range bytes.Split(text, []byte("\n")) {
		if t := bytes.TrimSpace(line); len(t) > 0 && bytes.IndexByte([]byte("\"{}"), t[0]) >= 0 {
			clean = append(append(clean, line...), '\n')
		}
	}
	if err := json.Unmarshal(clean, &raw); err != nil {
		return nil, fmt.Errorf("yosys: statistics %s: %w", filepath.Base(file), err)
	}
	s := &Stat{Modules: map[string]map[string]int{}}
	for name, m := range raw.Modules {
		cells := make(map[string]int, len(m.Cells))
		for t, n := range m.Cells {
			cells[Plain(t)] = n
		}
		s.Modules[Plain(name)] = cells
	}
	return s, nil
}

// Plain drops the backslash that marks a public name in Yosys.
func Plain(name string) string { return strings.TrimPrefix(name, `\`) }

// Total is a module's cells with everything below it.
type Total struct {
	Instances int            // how often the module occurs below the top
	Own       map[string]int // leaf cells in one instance, submodules not entered
	All       map[string]int // leaf cells in one instance and everything below
}

// Hierarchy counts instances and cells of every module below top. Cells that
// are no module of the design are leaves.
func (s *Stat) Hierarchy(top string) (map[string]*Total, error) {
	if _, ok := s.Modules[top]; !ok {
		return nil, fmt.Errorf("yosys: no module %s in the statistics", top)
	}
	totals := map[string]*Total{}
	// order holds every module after all its submodules.
	var order []string
	open := map[string]bool{}
	var visit func(name string) (*Total, error)
	visit = func(name string) (*Total, error) {
		if t := totals[name]; t != nil {
			return t, nil
		}
		if open[name] {
			return nil, fmt.Errorf("yosys: module %s contains itself", name)
		}
		open[name] = true
		t := &Total{Own: map[string]int{}, All: map[string]int{}}
		for cell, n := range s.Modules[name] {
			if _, isModule := s.Modules[cell]; !isModule {
				t.Own[cell] += n
				t.All[cell] += n
				continue
			}
			sub, err := visit(cell)
			if err != nil {
				return nil, err
			}
			for leaf, k := range sub.All {
				t.All[leaf] += n * k
			}
		}
		totals[name] = t
		order = append(order, name)
		return t, nil
	}
	if _, err := visit(top); err != nil {
		return nil, err
	}
	totals[top].Instances = 1
	slices.Reverse(order)
	for _, name := range order {
		for cell, n := range s.Modules[name] {
			if t := totals[cell]; t != nil {
				t.Instances += n * totals[name].Instances
			}
		}
	}
	return totals, nil
}

var derived = regexp.MustCompile(`^\$paramod(?:\$[0-9a-f]+)?\\([^\\]+)`)

// BaseName returns the name in the source of a module that Yosys derived with
// parameters ("$paramod$<hash>\name", "$paramod\name\W=..."), else the name.
func BaseName(module string) string {
	if m := derived.FindStringSubmatch(module); m != nil {
		return m[1]
	}
	return module
}

// ReadableNames gives every derived module a name made of its base name and,
// if there is more than one, a number: tools and people stumble over "$paramod".
func ReadableNames(modules []string) map[string]string {
	taken := map[string]bool{}
	bases := map[string][]string{}
	for _, m := range modules {
		if base := BaseName(m); base != m {
			bases[base] = append(bases[base], m)
		} else {
			taken[m] = true
		}
	}
	names := map[string]string{}
	for _, b := range slices.Sorted(maps.Keys(bases)) {
		slices.Sort(bases[b])
		for i, m := range bases[b] {
			name := b
			if len(bases[b]) > 1 {
				name = fmt.Sprintf("%s__%d", b, i+1)
			}
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			names[m] = name
		}
	}
	return names
}

// Rename replaces module names in an RTLIL text. Yosys's own rename changes a
// module but not the cells that refer to it.
func Rename(rtlil []byte, names map[string]string) []byte {
	keys := slices.Collect(maps.Keys(names))
	// One name may begin like another: the longest goes first.
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(keys))
	for _, k := range keys {
		pairs = append(pairs, k, `\`+names[k])
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(rtlil)))
}

// Tree holds, for each module, the module of each instance in it.
type Tree map[string]map[string]string

// Instances reads the tree from an RTLIL text; cells that are no module of the
// text are left out.
func Instances(rtlil []byte) Tree {
	t := Tree{}
	module := ""
	for line := range bytes.Lines(rtlil) {
		words := bytes.Fields(line)
		switch {
		case len(words) == 2 && string(words[0]) == "module":
			module = Plain(string(words[1]))
			t[module] = map[string]string{}
		case len(words) == 3 && string(words[0]) == "cell":
			t[module][Plain(string(words[2]))] = Plain(string(words[1]))
		}
	}
	for _, cells := range t {
		for name, m := range cells {
			if _, ok := t[m]; !ok {
				delete(cells, name)
			}
		}
	}
	return t
}

// Module follows instance names from a module and returns where they lead; it
// stops at a name that is no instance.
func (t Tree) Module(from string, path []string) string {
	for _, name := range path {
		next, ok := t[from][name]
		if !ok {
			break
		}
		from = next
	}
	return from
}
