// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"incforge/internal/cache"
	"incforge/internal/tool"
)

// toolset is the part of the machine that a library depends on.
type toolset struct {
	verilator string // version line
	cxx       string // version line
	cpu       string // what -march=native means here
}

// probeTools asks the tools for their versions, at the same time: a cached start
// waits for this and nothing else.
func probeTools(ctx context.Context) (toolset, error) {
	var t toolset
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		t.verilator, err = verilatorVersion(ctx)
		return err
	})
	g.Go(func() (err error) {
		t.cxx, err = tool.Version(ctx, "g++")
		return err
	})
	if err := g.Wait(); err != nil {
		return t, err
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return t, fmt.Errorf("which processor this is: %w", err)
	}
	t.cpu = cpuIdentity(info)
	return t, nil
}

// verilatorVersion asks the program itself where it can: the usual `verilator` is a
// Perl script that takes ten times as long to answer.
func verilatorVersion(ctx context.Context) (string, error) {
	if _, err := tool.Find("verilator"); err != nil {
		return "", err
	}
	if os.Getenv("VERILATOR_ROOT") == "" && os.Getenv("VERILATOR_BIN") == "" {
		if line, err := tool.Version(ctx, "verilator_bin"); err == nil {
			return line, nil
		}
	}
	return tool.Version(ctx, "verilator")
}

// cpuIdentity returns the lines of /proc/cpuinfo that determine -march=native.
func cpuIdentity(info []byte) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, line := range strings.Split(string(info), "\n") {
		name, _, _ := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		switch name {
		case "vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features":
			if !seen[name] {
				seen[name] = true
				b.WriteString(line + "\n")
			}
		}
	}
	return runtime.GOARCH + "\n" + b.String()
}

func (t toolset) addTo(k cache.Key) { k.Add(t.verilator, t.cxx, t.cpu) }
