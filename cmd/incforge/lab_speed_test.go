// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labExample is the path of an example's file.
func labExample(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../lab/examples", name))
	require.NoError(t, err)
	return path
}

// TestLabModeIII: connections end at the switch, which repeats what is lost on the links to the hosts.
func TestLabModeIII(t *testing.T) {
	for _, c := range []struct {
		dut  string
		loss float64
	}{{"reference", 0}, {"reference", 0.01}, {"rtl", 0}, {"rtl", 0.01}} {
		t.Run(fmt.Sprintf("%s/loss %g", c.dut, c.loss), func(t *testing.T) {
			text := leaf("mini3, dut: "+c.dut, "  - {name: ints, hosts: [h0, h1, h2, h3]}\n  - {name: pair, hosts: [h3, h1]}\n")
			if c.loss > 0 {
				text = strings.ReplaceAll(text, "b: leaf}", fmt.Sprintf("b: leaf, loss: %g}", c.loss))
			}
			l := startLab(t, text)
			other := l.begin("allreduce -n 4 pair 16384", "h1", "h3")
			out := l.do("allreduce ints 1024 4096 65536 262144", "h0", "h1", "h2", "h3")
			t.Log(out)
			assert.Equal(t, 16, strings.Count(out, "right"))
			require.True(t, <-other.done, other.out)
			state, err := l.client().State(t.Context())
			require.NoError(t, err)
			for _, p := range state.Switches[0].Ports {
				assert.Equal(t, c.loss > 0, p.LostIn+p.LostOut > 0, "port %d", p.Port)
			}
			counters := state.Switches[0].Counters
			for _, counter := range []string{"RX_FRAMES", "AGG", "TX_RETRANSMIT", "TIMEOUT", "RX_DUPLICATE", "TX_RNR", "DROP_FULL", "DROP_GAP"} {
				t.Logf("%s %d", counter, counters[counter])
			}
			if c.loss == 0 { // a rank that is told to wait again and again, or drops that follow, would show here
				assert.LessOrEqual(t, counters["TX_RNR"]+counters["DROP_FULL"]+counters["DROP_GAP"], counters["AGG"]/20)
			}
		})
	}
}

// TestLabCapture: what a host and the switch say to each other is RoCE to Wireshark.
func TestLabCapture(t *testing.T) {
	guests(t)
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	file := filepath.Join(t.TempDir(), "h0.pcapng")
	text := leaf(labExample(t, "switch.yaml"), "  - {name: ints, hosts: [h0, h1, h2, h3], dtype: INT32}\n")
	c := startLab(t, strings.Replace(text, "b: leaf}", "b: leaf, capture: "+file+"}", 1))
	c.do("allreduce ints 16384", "h0", "h1", "h2", "h3")
	c.stop()
	require.Equal(t, exitOK, <-c.ended)
	c.ended <- exitOK // for the end of the test
	// RPC over RDMA takes every message's first bytes for its own.
	out, err := exec.Command("tshark", "-r", file, "--disable-protocol", "rpcordma", "-Y", "infiniband", "-T", "fields", "-E", "separator=,", "-e", "ip.src",
		"-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "_ws.malformed").Output()
	require.NoError(t, err)
	seen := map[string]int{}
	for line := range strings.Lines(string(out)) {
		seen[strings.TrimSpace(line)]++
	}
	t.Log(seen)
	// A barrier of an element, and 16 packets in messages of 4; each is acknowledged.
	want := map[string]int{}
	for op, n := range map[int]int{4: 1, 0: 4, 1: 8, 2: 4, 17: 17} {
		want[fmt.Sprintf("10.77.0.1,%d,0x100000,", op)], want[fmt.Sprintf("10.77.255.1,%d,0x000011,", op)] = n, n
	}
	assert.Equal(t, want, seen)
}

// TestLabSpeed measures how soon four hosts are up, and AllReduces of 1 MiB of theirs, on a machine with two processors that do nothing else.
func TestLabSpeed(t *testing.T) {
	if os.Getenv("INCFORGE_LAB_SPEED") == "" {
		t.Skip("make lab-speed measures")
	}
	const hosts, bytes = 4, 1 << 20
	measure := func(t *testing.T, config string) float64 {
		c := startLab(t, leaf(config, "  - {name: ints, hosts: [h0, h1, h2, h3], dtype: INT32}\n"))
		out := c.do(fmt.Sprintf("allreduce -n 20 ints %d", bytes), "h0", "h1", "h2", "h3")
		var all []float64
		for _, m := range regexp.MustCompile(`([0-9.]+) Mbit/s`).FindAllStringSubmatch(out, -1) {
			rate, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			all = append(all, rate)
		}
		require.Len(t, all, 20*hosts)
		slices.Sort(all)
		up := regexp.MustCompile(`is up after ([0-9.]+) s`).FindStringSubmatch(c.log.String())
		seconds, err := strconv.ParseFloat(up[1], 64)
		require.NoError(t, err)
		t.Logf("Mbit/s: %.1f least, %.1f median, %.1f most; up after %.1f s", all[0], all[len(all)/2], all[len(all)-1], seconds)
		assert.LessOrEqual(t, seconds, 5.0, "four hosts are up")
		return all[len(all)/2]
	}
	t.Run("reference", func(t *testing.T) {
		assert.GreaterOrEqual(t, measure(t, labExample(t, "jumbo.yaml")), 120.0)
	})
	t.Run("rtl", func(t *testing.T) {
		config, file := labExample(t, "switch.yaml"), filepath.Join(t.TempDir(), "sim.json")
		status, _, stderr := try(t, "bench", "sim", "--config", config, "--json", file)
		require.Equal(t, exitOK, status, stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var sim struct{ Metrics map[string]float64 }
		require.NoError(t, json.Unmarshal(text, &sim), string(text))
		rate := sim.Metrics["cycles_per_s"]
		require.Positive(t, rate, string(text))
		// A beat of 32 bytes a cycle goes in, whatever comes out beside it; 1,024 bytes have 58 of headers.
		cycles := float64(bytes/1024) * hosts * ((1024 + 58 + 31) / 32)
		bound := bytes * 8 / 1e6 * rate / cycles
		start := time.Now()
		got := measure(t, config+", dut: rtl, check: false")
		t.Logf("%.0f cycles a second, bound %.1f Mbit/s, %.2f of it; %v", rate, bound, got/bound, time.Since(start))
		assert.GreaterOrEqual(t, got, bound/2)
	})
}
