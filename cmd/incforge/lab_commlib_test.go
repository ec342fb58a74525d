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

// guestCall is a call of a group of Linux hosts. A barrier has no type and no size.
type guestCall struct {
	mode                               int
	loss                               float64
	language, collective, dtype, bytes string
}

// pairwise are so many calls that any two values of different columns meet in one: 24 in the place of 648. Loss is rare among the large sizes, where it takes long.
func pairwise() []guestCall {
	return []guestCall{
		{2, 0, "Go", "allreduce", "int32", "1Mi"},
		{2, 0, "Go", "reducescatter", "int32", "256Ki"},
		{2, 0, "Go", "allgather", "int32", "1Mi"},
		{2, 0, "Go", "barrier", "", ""},
		{2, 0, "C", "broadcast", "fp32", "256Ki"},
		{2, 0, "C", "broadcast", "fp16", "1Mi"},
		{2, 0, "C", "allgather", "bf16", "256Ki"},
		{2, 0.01, "Go", "reduce", "fp16", "256Ki"},
		{2, 0.01, "Go", "reducescatter", "fp32", "1Mi"},
		{2, 0.01, "C", "reduce", "fp32", "16Ki"},
		{2, 0.01, "C", "reduce", "int32", "1Ki"},
		{2, 0.01, "C", "barrier", "", ""},
		{3, 0, "Go", "allreduce", "bf16", "256Ki"},
		{3, 0, "Go", "broadcast", "int32", "16Ki"},
		{3, 0, "Go", "reducescatter", "bf16", "16Ki"},
		{3, 0, "C", "reduce", "bf16", "1Mi"},
		{3, 0, "C", "allgather", "fp32", "1Ki"},
		{3, 0, "C", "barrier", "", ""},
		{3, 0.01, "Go", "allreduce", "fp16", "16Ki"},
		{3, 0.01, "Go", "broadcast", "bf16", "1Ki"},
		{3, 0.01, "Go", "barrier", "", ""},
		{3, 0.01, "C", "allreduce", "fp32", "1Ki"},
		{3, 0.01, "C", "reducescatter", "fp16", "1Ki"},
		{3, 0.01, "C", "allgather", "fp16", "16Ki"},
	}
}

// TestPairwise counts the pairs of values that guests run.
func TestPairwise(t *testing.T) {
	axes := [][]string{{"2", "3"}, {"0", "0.01"}, {"Go", "C"}, {"allreduce", "reduce", "broadcast", "reducescatter", "allgather", "barrier"},
		{"fp32", "fp16", "bf16", "int32"}, {"1Ki", "16Ki", "256Ki", "1Mi"}}
	met := map[[4]any]bool{}
	for _, c := range pairwise() {
		values := []string{fmt.Sprint(c.mode), fmt.Sprint(c.loss), c.language, c.collective, c.dtype, c.bytes}
		for i, a := range values {
			for j, b := range values[:i] {
				met[[4]any{j, b, i, a}] = true
			}
		}
	}
	for i := range axes {
		for j := range i {
			for _, a := range axes[i] {
				for _, b := range axes[j] {
					if b != "barrier" { // whose columns of type and size are empty
						assert.True(t, met[[4]any{j, b, i, a}], "%s and %s meet nowhere", b, a)
					}
				}
			}
		}
	}
}

// calling is what a host runs to make the calls of a mode and a loss, and how many tables and calls in C that makes.
func calling(t *testing.T, mode int, loss float64) (text string, tables, inC int) {
	t.Helper()
	text = "set -e"
	var calls []string
	for _, c := range pairwise() {
		switch {
		case c.mode != mode || c.loss != loss:
		case c.language == "C":
			bytes := 0
			if c.bytes != "" {
				var err error
				bytes, err = parseSize(c.bytes)
				require.NoError(t, err)
			}
			calls = append(calls, fmt.Sprintf("%s %s %d", c.collective, c.dtype, bytes))
		default:
			text += "; " + perfAny + "--collective " + c.collective
			if c.bytes != "" {
				text += " --type " + c.dtype + " --bytes " + c.bytes
			}
			tables++
		}
	}
	return text + "; EVERY_CALLS='" + strings.Join(calls, ",") + "' " + everyAny, tables, len(calls)
}

// The programs in Go and in C, in the group of all hosts.
const (
	perfAny  = "incforge perf $(hostname) --meet /share/groups/any --timeout 5m --iterations 1 --warmup 0 "
	everyAny = "every verbs:rxe0 $(hostname) /share/groups/any"
)

// onGuests runs a command on all hosts of a lab, and returns what they print.
func onGuests(t *testing.T, guest, file, command string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	start := time.Now()
	status := run(t.Context(), []string{"lab", file, "--guest", guest, "--", command}, &stdout, &stderr)
	t.Logf("%.0f s: %s\n%s%s", time.Since(start).Seconds(), command, stdout.String(), stderr.String())
	require.Equal(t, exitOK, status)
	return stdout.String()
}

// TestLabCommLib: an AllReduce of CommLib over libibverbs, in Go and in C, on four Linux hosts. TestCommLibGuests has all the others.
func TestLabCommLib(t *testing.T) {
	guest, programs := guests(t), os.Getenv("INCFORGE_GUEST_PROGRAMS")
	if programs == "" {
		t.Skip("make verbs builds the programs; make lab-test names them")
	}
	out := onGuests(t, guest, guestCase{hosts: 4, mode: 2, dut: "reference"}.file(t, programs), "set -e; "+perfAny+
		"--collective allreduce --type fp32 --bytes 64Ki; EVERY_CALLS='allreduce int32 65536' "+everyAny)
	assert.Equal(t, 1, strings.Count(out, "h0:  collective "))
	assert.Equal(t, 4, strings.Count(out, ": right"))
	assert.Equal(t, 4, strings.Count(out, "every call is right"))
}

// CommLib over libibverbs on Linux hosts: its device alone; pairwise, collectives, types, sizes, modes, losses and languages on four hosts on a leaf of Verilog
// and on eight below a spine; every function in C; 16 MiB; groups by a manager on Verilog. make commlib-lab-test runs it.
func TestCommLibGuests(t *testing.T) {
	guest, programs := os.Getenv("INCFORGE_LAB_GUEST"), os.Getenv("INCFORGE_GUEST_PROGRAMS")
	if guest == "" || programs == "" {
		t.Skip("make commlib-lab-test runs this, with guests")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	on := func(t *testing.T, file, command string) string {
		t.Helper()
		return onGuests(t, guest, file, command)
	}
	t.Run("device", func(t *testing.T) {
		out := on(t, guestCase{hosts: 4, mode: 2, dut: "reference"}.file(t, programs), "INCFORGE_VERBS_DEVICE=rxe0 ibverbs.test -test.v")
		assert.Equal(t, 4, strings.Count(out, "PASS: TestMessages"))
		assert.NotContains(t, out, "SKIP")
	})
	for _, c := range []guestCase{{hosts: 4, dut: "rtl"}, {hosts: 8, dut: "reference"}} {
		for _, c.mode = range []int{2, 3} {
			for _, c.loss = range []float64{0, 0.01} {
				t.Run(c.String(), func(t *testing.T) {
					text, tables, inC := calling(t, c.mode, c.loss)
					out := on(t, c.file(t, programs), text)
					assert.Equal(t, tables, strings.Count(out, "h0:  collective "), "a table a line")
					assert.Equal(t, c.hosts*inC, strings.Count(out, ": right"))
				})
			}
		}
	}
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprintf("every function in C, Mode %d", mode), func(t *testing.T) {
			out := on(t, guestCase{hosts: 8, mode: mode, dut: "reference"}.file(t, programs), "EVERY_MOST=20000 "+everyAny)
			assert.Equal(t, 8, strings.Count(out, "every function is right"))
		})
		t.Run(fmt.Sprintf("16 MiB, Mode %d", mode), func(t *testing.T) {
			out := on(t, guestCase{hosts: 4, mode: mode, dut: "reference", jumbo: true}.file(t, programs), "set -e; "+
				perfAny+"--type fp32,int32 --collective allreduce,allgather --bytes 1Mi,16Mi; EVERY_CALLS='reduce bf16 16777216,broadcast fp16 16777216' "+everyAny)
			assert.Equal(t, 4, strings.Count(out, "every call is right"))
		})
	}
	t.Run("manager, Verilog", func(t *testing.T) { // agents write its registers; C asks for groups, too
		out := on(t, guestCase{hosts: 4, mode: 2, dut: "rtl", managed: true}.file(t, programs), "set -e; "+perfOf("ring", "h0,h1,h2,h3", "--bytes 1Ki,20000 --groups 3 --wait 30s")+
			"; EVERY_MOST=7 every verbs:rxe0 127.0.0.1:7470 $(hostname | tr -d h) h0 h1 h2 h3")
		assert.Equal(t, 4, strings.Count(out, "every function is right"))
	})
}
