// SPDX-License-Identifier: Apache-2.0

package yosys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ReadFile is the RTLIL file that Elaborate and Enter leave.
const ReadFile = "named.il"

// ErrModule means that a module cannot be the top, ErrAbsent, which wraps it, that it is not in the elaborated design.
var (
	ErrModule = errors.New("cannot be the top")
	ErrAbsent = fmt.Errorf("%w: it has no instance", ErrModule)
)

// Module is a module of an elaborated design.
type Module struct {
	// Name is its readable name, Derived the one that Yosys gave it, with the parameters or a digest of them.
	Name, Derived string
}

// Elaborate runs the script, which reads the sources, elaborates the top, runs the commands of then, and leaves the design in
// dir/ReadFile with readable names. The modules come in the order of their derived names.
func Elaborate(ctx context.Context, dir string, script []string, top string, then []string, limit time.Duration) ([]Module, error) {
	hierarchy := "hierarchy -check -top " + top
	script = append(slices.Clone(script), hierarchy)
	script = append(script, then...)
	script = append(script, hierarchy, "tee -q -o read.json stat -json", "write_rtlil read.il")
	if err := Run(ctx, dir, "read", script, limit); err != nil {
		return nil, err
	}
	stat, err := ReadStat(filepath.Join(dir, "read.json"))
	if err != nil {
		return nil, err
	}
	derived := slices.Sorted(maps.Keys(stat.Modules))
	names := ReadableNames(derived)
	rtlil, err := os.ReadFile(filepath.Join(dir, "read.il"))
	if err != nil {
		return nil, fmt.Errorf("yosys: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ReadFile), Rename(rtlil, names), 0o644); err != nil {
		return nil, fmt.Errorf("yosys: %w", err)
	}
	modules := make([]Module, len(derived))
	for i, m := range derived {
		modules[i] = Module{Name: m, Derived: m}
		if n, ok := names[m]; ok {
			modules[i].Name = n
		}
	}
	return modules, nil
}

// Enter makes a module of those that Elaborate found the top of dir/ReadFile and drops what is not below it. name is a readable name,
// or that of a module in the sources if it has one set of parameters only.
func Enter(ctx context.Context, dir string, modules []Module, name string, then []string, limit time.Duration) (top string, below []Module, err error) {
	found, err := find(modules, name)
	if err != nil {
		return "", nil, err
	}
	script := append([]string{"read_rtlil " + ReadFile, "hierarchy -check -top " + found.Name}, then...)
	script = append(script, "hierarchy -check -top "+found.Name, "tee -q -o enter.json stat -json", "write_rtlil enter.il")
	if err := Run(ctx, dir, "enter", script, limit); err != nil {
		return "", nil, err
	}
	stat, err := ReadStat(filepath.Join(dir, "enter.json"))
	if err != nil {
		return "", nil, err
	}
	if err := os.Rename(filepath.Join(dir, "enter.il"), filepath.Join(dir, ReadFile)); err != nil {
		return "", nil, fmt.Errorf("yosys: %w", err)
	}
	for _, m := range modules {
		if _, ok := stat.Modules[m.Name]; ok {
			below = append(below, m)
		}
	}
	return found.Name, below, nil
}

// Find returns the derived name of a module, as a text has it. name is as Enter takes it.
func Find(modules []Module, name string) (string, error) {
	m, err := find(modules, name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(m.Derived, "$") {
		return m.Derived, nil
	}
	return `\` + m.Derived, nil
}

func find(modules []Module, name string) (Module, error) {
	var found []Module
	for _, m := range modules {
		if m.Name == name {
			found = []Module{m}
			break
		}
		if BaseName(m.Derived) == name {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return Module{}, fmt.Errorf("yosys: module %s %w", name, ErrAbsent)
	}
	if len(found) > 1 {
		var all []string
		for _, m := range found {
			if _, values, short := strings.Cut(m.Derived, "="); short { // otherwise it is a digest
				all = append(all, fmt.Sprintf("%s (%s)", m.Name, values))
				continue
			}
			all = append(all, m.Name)
		}
		return Module{}, fmt.Errorf("yosys: module %s %w: it has %d sets of parameters; choose one of %s", name, ErrModule, len(found), strings.Join(all, ", "))
	}
	return found[0], nil
}
