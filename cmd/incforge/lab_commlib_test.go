// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inBandLab writes the topology of a lab with an in-band group of all hosts, four on a leaf or eight on two leaves and a spine, and an engine that
// has every type and operation.
func inBandLab(t *testing.T, programs string, hosts int, dut string, loss float64) (file string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "switch.yaml"), []byte(`
name: commlib
mode: 2
bus_bytes: 32
dtypes: [FP32, FP16, BF16, INT32]
ops: [SUM, MIN, MAX]
buffer_bytes: 65536
groups: 2
members: 4
ports: 5
mtu_bytes: 1024
window_packets: 16
clock_mhz: 250
in_band: true
`), 0o600))
	var b strings.Builder
	fmt.Fprintf(&b, "programs: [%s/incforge, %s/ibverbs.test, %[1]s/every]\nhosts:\n", programs, programs)
	var names []string
	for h := range hosts {
		names = append(names, fmt.Sprint("h", h))
		fmt.Fprintf(&b, "  - {name: h%d, memory_mb: 128}\n", h)
	}
	b.WriteString("switches:\n")
	leaves := hosts / 4
	for leaf := range leaves {
		fmt.Fprintf(&b, "  - {name: leaf%d, config: switch.yaml, dut: %s}\n", leaf, dut)
	}
	links := ""
	for h, name := range names {
		links += fmt.Sprintf("  - {a: %s, b: leaf%d, loss: %g}\n", name, h/4, loss)
	}
	if leaves > 1 {
		fmt.Fprintf(&b, "  - {name: spine, config: switch.yaml, dut: %s}\n", dut)
		for leaf := range leaves {
			links += fmt.Sprintf("  - {a: leaf%d, b: spine, loss: %g}\n", leaf, loss)
		}
	}
	fmt.Fprintf(&b, "links:\n%sgroups:\n  - {name: any, in_band: true, hosts: [%s]}\n", links, strings.Join(names, ", "))
	file = filepath.Join(dir, "lab.yaml")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// CommLib over libibverbs on Linux hosts: its device alone, then every collective and type in Go, every function in C, on four hosts on a leaf of Verilog and on
// eight below a spine, without loss and with. make commlib-lab-test runs it.
func TestCommLibGuests(t *testing.T) {
	guest, programs := os.Getenv("INCFORGE_LAB_GUEST"), os.Getenv("INCFORGE_GUEST_PROGRAMS")
	if guest == "" || programs == "" {
		t.Skip("make commlib-lab-test runs this, with guests")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	on := func(t *testing.T, file, command string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		start := time.Now()
		status := run(t.Context(), []string{"lab", file, "--guest", guest, "--", command}, &stdout, &stderr)
		t.Logf("%.0f s: %s\n%s%s", time.Since(start).Seconds(), command, stdout.String(), stderr.String())
		require.Equal(t, exitOK, status)
		return stdout.String()
	}
	t.Run("device", func(t *testing.T) {
		out := on(t, inBandLab(t, programs, 4, "reference", 0), "INCFORGE_VERBS_DEVICE=rxe0 ibverbs.test -test.v")
		assert.Equal(t, 4, strings.Count(out, "PASS: TestMessages"))
		assert.NotContains(t, out, "SKIP")
	})
	for _, c := range []struct {
		hosts int
		dut   string
		loss  float64
		sizes string
	}{{4, "rtl", 0, "1Ki,20000"}, {4, "rtl", 0.01, "1Ki"}, {8, "reference", 0, "1Ki,64Ki"}, {8, "reference", 0.01, "1Ki,16Ki"}} {
		t.Run(fmt.Sprintf("%d hosts, %s, loss %g", c.hosts, c.dut, c.loss), func(t *testing.T) {
			file := inBandLab(t, programs, c.hosts, c.dut, c.loss)
			on(t, file, "incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 1 --warmup 0 --bytes "+c.sizes)
			if c.loss == 0 {
				out := on(t, file, "every verbs:rxe0 $(hostname) /share/groups/any")
				assert.Equal(t, c.hosts, strings.Count(out, "every function is right"))
			}
		})
	}
	t.Run("1 MiB", func(t *testing.T) {
		on(t, inBandLab(t, programs, 4, "reference", 0), "incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 2 --collective allreduce --type fp32 --bytes 1Mi")
	})
}
