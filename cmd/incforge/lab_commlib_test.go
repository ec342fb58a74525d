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

// engineOf is a design with every type and operation for in-band groups.
const engineOf = `
name: commlib
mode: %d
bus_bytes: 32
dtypes: [FP32, FP16, BF16, INT32]
ops: [SUM, MIN, MAX]
buffer_bytes: %d
groups: 2
members: 4
ports: 5
mtu_bytes: %d
window_packets: %d
clock_mhz: 250
in_band: true
`

// guestCase is a lab with an in-band group of all hosts, four on a leaf or eight on two leaves and a spine, and a loss on every link.
type guestCase struct {
	hosts, mode int
	dut         string
	loss        float64
	jumbo       bool // large packets and a wide window, for speed
	managed     bool // a manager in the place of the group
}

func (c guestCase) String() string {
	return fmt.Sprintf("%d hosts, %s, Mode %d, loss %g", c.hosts, c.dut, c.mode, c.loss)
}

// file writes its topology.
func (c guestCase) file(t *testing.T, programs string) (file string) {
	t.Helper()
	dir := t.TempDir()
	engine := fmt.Sprintf(engineOf, c.mode, 65536*(c.mode-1), 1024, 16)
	if c.jumbo {
		engine = fmt.Sprintf(engineOf, c.mode, 1048576*(c.mode-1), 4096, 32)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "switch.yaml"), []byte(engine), 0o600))
	var b strings.Builder
	fmt.Fprintf(&b, "programs: [%s/incforge, %s/ibverbs.test, %[1]s/every]\nhosts:\n", programs, programs)
	var names []string
	for h := range c.hosts {
		names = append(names, fmt.Sprint("h", h))
		fmt.Fprintf(&b, "  - {name: h%d, memory_mb: %d}\n", h, map[bool]int{false: 128, true: 384}[c.jumbo])
	}
	b.WriteString("switches:\n")
	leaves := c.hosts / 4
	for leaf := range leaves {
		fmt.Fprintf(&b, "  - {name: leaf%d, config: switch.yaml, dut: %s}\n", leaf, c.dut)
	}
	links := ""
	for h, name := range names {
		links += fmt.Sprintf("  - {a: %s, b: leaf%d, loss: %g}\n", name, h/4, c.loss)
	}
	if leaves > 1 {
		fmt.Fprintf(&b, "  - {name: spine, config: switch.yaml, dut: %s}\n", c.dut)
		for leaf := range leaves {
			links += fmt.Sprintf("  - {a: leaf%d, b: spine, loss: %g}\n", leaf, c.loss)
		}
	}
	if c.managed {
		fmt.Fprintf(&b, "links:\n%smanager: {hop_rtt_us: 1000}\n", links)
	} else {
		fmt.Fprintf(&b, "links:\n%sgroups:\n  - {name: any, in_band: true, hosts: [%s]}\n", links, strings.Join(names, ", "))
	}
	file = filepath.Join(dir, "lab.yaml")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// perfLines run collectives of a lab's group: all of every type at small sizes and, at the large ones, every collective with one of the types, turned by
// turn from case to case, so that every pair of collective, type, size, mode and loss is run somewhere.
func perfLines(small, large string, turn int) string {
	const perf = "incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 1 --warmup 0 "
	lines := "set -e; " + perf + "--bytes " + small
	types := []string{"fp32", "fp16", "bf16", "int32"}
	for i, c := range []string{"allreduce", "reduce", "reducescatter", "broadcast,allgather,barrier"} {
		lines += "; " + perf + "--collective " + c + " --type " + types[(i+turn)%len(types)] + " --bytes " + large
	}
	return lines
}

// CommLib over libibverbs on Linux hosts: its device alone, then every collective and type in Go, every function in C, in both modes, on four hosts on a
// leaf of Verilog and on eight below a spine, without loss and with, to 1 MiB, and 16 MiB. make commlib-lab-test runs it.
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
		out := on(t, guestCase{hosts: 4, mode: 2, dut: "reference"}.file(t, programs), "INCFORGE_VERBS_DEVICE=rxe0 ibverbs.test -test.v")
		assert.Equal(t, 4, strings.Count(out, "PASS: TestMessages"))
		assert.NotContains(t, out, "SKIP")
	})
	turn := 0
	for _, mode := range []int{2, 3} {
		for _, c := range []struct {
			guestCase
			small, large, c string // sizes, and the most elements of a call in C
		}{
			{guestCase{hosts: 4, dut: "rtl"}, "1Ki,16Ki", "64Ki,256Ki", "20000"},
			{guestCase{hosts: 4, dut: "rtl", loss: 0.01}, "1Ki", "16Ki,64Ki", "7"},
			{guestCase{hosts: 8, dut: "reference"}, "1Ki,64Ki", "256Ki,1Mi", "20000"},
			{guestCase{hosts: 8, dut: "reference", loss: 0.01}, "1Ki,16Ki", "1Mi", "1000"},
		} {
			c.mode = mode
			shift := turn
			turn++
			t.Run(c.String(), func(t *testing.T) {
				file := c.file(t, programs)
				out := on(t, file, perfLines(c.small, c.large, shift))
				assert.Equal(t, 5, strings.Count(out, "h0:  collective "), "a table a line")
				out = on(t, file, "EVERY_MOST="+c.c+" every verbs:rxe0 $(hostname) /share/groups/any")
				assert.Equal(t, c.hosts, strings.Count(out, "every function is right"))
			})
		}
		t.Run(fmt.Sprintf("16 MiB, Mode %d", mode), func(t *testing.T) {
			on(t, guestCase{hosts: 4, mode: mode, dut: "reference", jumbo: true}.file(t, programs),
				"incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 1 --warmup 0 --type fp32,int32 --collective allreduce,allgather --bytes 1Mi,16Mi")
		})
	}
	t.Run("manager, Verilog", func(t *testing.T) { // agents write its registers; C asks for groups, too
		out := on(t, guestCase{hosts: 4, mode: 2, dut: "rtl", managed: true}.file(t, programs), "set -e; "+perfOf("ring", "h0,h1,h2,h3", "--bytes 1Ki,20000 --groups 3 --wait 30s")+
			"; EVERY_MOST=7 every verbs:rxe0 127.0.0.1:7470 $(hostname | tr -d h) h0 h1 h2 h3")
		assert.Equal(t, 4, strings.Count(out, "every function is right"))
	})
	t.Run("1 MiB, Verilog", func(t *testing.T) {
		on(t, guestCase{hosts: 4, mode: 2, dut: "rtl"}.file(t, programs),
			"incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 1 --warmup 0 --type bf16,int32 --collective allreduce,broadcast --bytes 1Mi")
	})
}
