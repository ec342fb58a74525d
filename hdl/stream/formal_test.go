// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/stream"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// proof is a module with properties put into it.
type proof struct {
	leaf   graph.Describer
	checks string   // file of properties
	bound  int      // cycles that the bounded proof and the cover may take
	fault  []string // a pair: a fault that the bounded proof must find
}

// Small queues have every state that large ones have: empty, one, some, full, and pointers that wrap. Data is only moved,
// so two bits of it can tell entries apart.
func proofs() map[string]proof {
	return map[string]proof{
		"skid":        {stream.Skid{Width: 2}, "skid.vh", 10, []string{"end else if (m_ready) begin", "end else if (m_ready || s_valid) begin"}},
		"fifo":        {stream.FIFO{Width: 2, DepthW: 2, Margin: 1}, "fifo.vh", 11, []string{"{push && !pop}", "{push && (!pop || count_reg == 3)}"}},
		"fifo of two": {stream.FIFO{Width: 1, DepthW: 1, Margin: 0}, "fifo.vh", 10, []string{"room = !count_reg[DEPTH_W]", "room = 1'b1"}},
		"fifo, head":  {stream.FIFO{Width: 3, DepthW: 2, Margin: 1, Head: 2}, "fifo.vh", 11, []string{"more ? mem[second]", "count_reg > 2 ? mem[second]"}},
	}
}

// smt2 writes the module with its properties as a transition system.
func (p proof) smt2(t *testing.T, pairs ...string) string {
	t.Helper()
	m, err := p.leaf.Module()
	require.NoError(t, err)
	files, err := verilog.Collect(m)
	require.NoError(t, err)
	checks, err := os.ReadFile(filepath.Join("testdata", p.checks))
	require.NoError(t, err)
	dir := t.TempDir()
	var script strings.Builder
	script.WriteString("read_verilog -formal")
	text := ""
	for _, f := range files {
		source := string(f.Data)
		if strings.Contains(source, "\nmodule "+m.Name+" ") {
			require.Equal(t, 1, strings.Count(source, "\nendmodule\n"))
			source = strings.Replace(source, "\nendmodule\n", "\n"+string(checks)+"\nendmodule\n", 1)
		}
		text += source
		for i := 0; i < len(pairs); i += 2 {
			source = strings.Replace(source, pairs[i], pairs[i+1], 1)
		}
		name := filepath.Join(dir, filepath.Base(f.Path))
		require.NoError(t, os.WriteFile(name, []byte(source), 0o644))
		script.WriteString(" " + name)
	}
	for i := 0; i < len(pairs); i += 2 {
		require.Equal(t, 1, strings.Count(text, pairs[i]), "%q", pairs[i])
	}
	for _, q := range m.Params {
		fmt.Fprintf(&script, "\nchparam -set %s %d %s", q.Name, q.Value, m.Name)
	}
	out := filepath.Join(dir, "model.smt2")
	fmt.Fprintf(&script, "\nprep -top %s -flatten\nmemory_map\nopt -fast\ndffunmap\nwrite_smt2 -wires %s\n", m.Name, out)
	ys := filepath.Join(dir, "model.ys")
	require.NoError(t, os.WriteFile(ys, []byte(script.String()), 0o644))
	_, err = tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", ys}})
	require.NoError(t, err)
	return out
}

func smtbmc(t *testing.T, args ...string) error {
	t.Helper()
	_, err := tool.Run(testcost.Context(t), tool.Command{Name: "yosys-smtbmc", Args: append([]string{"-s", "z3"}, args...)})
	return err
}

// TestProofs proves the queues for any input whatever: bounded from reset, by induction for all time, the cover shows that
// the assumptions leave something to prove, and a fault put in is found.
func TestProofs(t *testing.T) {
	t.Parallel()
	for name, p := range proofs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := p.smt2(t)
			bound := fmt.Sprint(p.bound)
			require.NoError(t, smtbmc(t, "-t", bound, model), "bounded")
			require.NoError(t, smtbmc(t, "-i", "-t", "3", model), "induction")
			require.NoError(t, smtbmc(t, "-c", "-t", bound, model), "cover")

			err := smtbmc(t, "-t", bound, p.smt2(t, p.fault...))
			var exit *tool.ExitError
			require.True(t, errors.As(err, &exit), "the fault was not found: %v", err)
			require.Contains(t, exit.Tail, "Assert failed in "+p.top())
		})
	}
}

func (p proof) top() string {
	m, _ := p.leaf.Module() // smt2 has seen its error
	return m.Name
}
