// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"incforge/internal/tool"
	"incforge/mutate/mutant"
	"incforge/synth/yosys"
)

// searchSeconds bounds the last step of a search, a mutant; the ones before it take a few seconds.
const searchSeconds = 20

// whySame is what the search shows of a mutant.
const whySame = "ABC, induction from the reset: outputs and what memories are given are the same for all time"

// same finds mutants that change nothing from the reset on: with the reset in the first cycle, registers that have none at 0, whatever comes in then and
// whatever the memories answer, the outputs and what memories are given are those of the design without a mutant in every cycle. One graph has
// the module twice, on one side the mutants off, on the other those on whose registers begin at 1, and keep that. ABC finds
// registers and signals that are equal in all states that can be reached, and with them whether the two sides are.
func same(ctx context.Context, files []string, top string, d *mutant.Design, mutants []mutant.Mutant, jobs int) (map[int]string, error) {
	dir, err := os.MkdirTemp("", "incforge-same-")
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := d.Open(dir, mutants); err != nil {
		return nil, err
	}
	g, err := pair(ctx, dir, files, top, len(mutants))
	if err != nil {
		return nil, err
	}
	proven := map[int]string{}
	var lock sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(max(jobs, 1))
	for i, m := range mutants {
		all.Go(func() error {
			is, err := g.same(ctx, dir, i)
			if is {
				lock.Lock()
				defer lock.Unlock()
				proven[m.Number] = whySame
			}
			return err
		})
	}
	return proven, all.Wait()
}

// graph is an and-inverter graph in AIGER's binary form.
type graph struct {
	variables, inputs, latches, outputs, gates int
	at                                         []int  // the mutants' variables, each of them an input
	rest                                       []byte // all behind the first line: a line a latch, a line an output, and the gates
}

// pair makes the graph of the module and its copy.
func pair(ctx context.Context, dir string, files []string, top string, n int) (*graph, error) {
	script := []string{"read_verilog -defer " + strings.Join(files, " "), "hierarchy -check -top " + top, "proc -norom", "flatten", "opt -full", "memory -nomap",
		"opt_clean", "rename -top flat", "write_json flat.json"}
	if err := yosys.Run(ctx, dir, "flat", script, proofLimit); err != nil {
		return nil, err
	}
	if err := openMemories(filepath.Join(dir, "flat.json"), filepath.Join(dir, "open.json"), "flat"); err != nil {
		return nil, err
	}
	script = []string{"read_json open.json", "dffunmap", "techmap", "opt -fast", "dffunmap", "setundef -zero", "aigmap", "opt_clean",
		"copy flat gold", "rename flat gate", "delete -port gold/w:" + mutant.Bits, "cd gold",
		fmt.Sprintf("connect -set %s %d'd0", mutant.Bits, n), "rename " + mutant.Bits + " mutants_off", fmt.Sprintf("add -input %s %d", mutant.Bits, n), "cd ..",
		"miter -equiv -flatten gold gate miter", "hierarchy -top miter", "opt_clean -purge", "techmap", "aigmap", "opt_clean", "zinit -all", "aigmap", "opt_clean",
		"write_aiger -zinit -map pair.map pair.aig"}
	if err := yosys.Run(ctx, dir, "pair", script, proofLimit); err != nil {
		return nil, err
	}
	return readGraph(dir, n)
}

// readGraph reads what Yosys wrote.
func readGraph(dir string, n int) (*graph, error) {
	text, err := os.ReadFile(filepath.Join(dir, "pair.aig"))
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	names, err := os.ReadFile(filepath.Join(dir, "pair.map"))
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	g := &graph{at: make([]int, n), rest: rest}
	if _, err := fmt.Sscanf(string(line), "aig %d %d %d %d %d", &g.variables, &g.inputs, &g.latches, &g.outputs, &g.gates); err != nil {
		return nil, fmt.Errorf("mutate: the graph's first line, %q: %w", line, err)
	}
	for s := bufio.NewScanner(bytes.NewReader(names)); s.Scan(); {
		var index, bit int
		var name string
		if k, _ := fmt.Sscanf(s.Text(), "input %d %d %s", &index, &bit, &name); k == 3 && name == "in_"+mutant.Bits {
			g.at[bit] = 1 + index
		}
	}
	if slices.Contains(g.at, 0) {
		return nil, errors.New("mutate: not all mutants are in the graph")
	}
	return g, g.order()
}

// order makes the mutants the last inputs, the first of them the first.
func (g *graph) order() error {
	to := make([]int, g.variables+1) // where a variable goes
	free := 1
	for v := range to {
		to[v] = v
		if v > 0 && v <= g.inputs && !slices.Contains(g.at, v) {
			to[v] = free
			free++
		}
	}
	for i, v := range g.at {
		to[v] = free + i
		g.at[i] = to[v]
	}
	literal := func(l uint64) uint64 { return uint64(to[l/2])*2 + l%2 }
	var out bytes.Buffer
	r := bytes.NewReader(g.rest)
	for range g.latches + g.outputs {
		var l uint64
		if _, err := fmt.Fscanf(r, "%d\n", &l); err != nil {
			return fmt.Errorf("mutate: the graph's latches and outputs: %w", err)
		}
		fmt.Fprintf(&out, "%d\n", literal(l))
	}
	for k := range g.gates { // how far the greater operand is below the gate, the lesser below that
		gate := uint64(g.inputs+g.latches+1+k) * 2
		a, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("mutate: the graph's gates: %w", err)
		}
		b, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("mutate: the graph's gates: %w", err)
		}
		x, y := literal(gate-a), literal(gate-a-b)
		out.Write(binary.AppendUvarint(nil, gate-max(x, y)))
		out.Write(binary.AppendUvarint(nil, max(x, y)-min(x, y)))
	}
	g.rest = out.Bytes()
	return nil
}

// with is the graph with one mutant on. Its inputs become the first latches, which keep what they begin with.
func (g *graph) with(on int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "aig %d %d %d %d %d\n", g.variables, g.inputs-len(g.at), g.latches+len(g.at), g.outputs, g.gates)
	for i, v := range g.at {
		fmt.Fprintf(&b, "%d", 2*v)
		if i == on {
			b.WriteString(" 1")
		}
		b.WriteByte('\n')
	}
	b.Write(g.rest)
	return b.Bytes()
}

// same tells whether the graph with one mutant on has the same on both sides.
func (g *graph) same(ctx context.Context, dir string, on int) (bool, error) {
	name := fmt.Sprintf("mutant-%d.aig", on)
	if err := os.WriteFile(filepath.Join(dir, name), g.with(on), 0o644); err != nil {
		return false, fmt.Errorf("mutate: %w", err)
	}
	defer os.Remove(filepath.Join(dir, name))
	command := fmt.Sprintf("read_aiger %s; zero; strash; lcorr; &get; &scorr -C 100; &put; pdr -T %d", name, searchSeconds)
	r, err := tool.Run(ctx, tool.Command{Name: "yosys-abc", Args: []string{"-c", command}, Dir: dir, Timeout: proofLimit})
	if err != nil {
		return false, fmt.Errorf("mutate: %w", err)
	}
	return bytes.Contains(r.Output, []byte("Property proved")), nil
}
