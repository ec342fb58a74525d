// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/internal/clocked"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/tensors"
	"incforge/network/topology"
	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// collectiveFlags are what `incforge collective` takes.
type collectiveFlags struct {
	tree, call, op, dtype, one string
	check, fixed               bool
	found                      foundFlag
	seed                       uint64
	loss, rate                 float64
	latency                    int
	group                      comm.GroupConfig
	opt                        tensors.Options
}

func (a *app) collective() *cobra.Command {
	var (
		flags    configFlags
		which    dutFlags
		f        collectiveFlags
		jsonFile string
	)
	cmd := &cobra.Command{Use: "collective CONFIG", Short: "Run a collective on tensors from files over a tree of engines",
		Long: `Run a collective on real tensors, packet by packet, between one model host per rank and a tree of engines. Inputs are safetensors files,
or raw little-endian elements of --dtype under any other name: one file per rank, in the order given (sorted within a pattern), or one file
for all ranks, see --one. There is one call per tensor. Results are compared bit for bit where they do not depend on the order of addition,
and against the bound on rounding errors where they do; the largest difference from a float64 sum is always printed.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			tree, err := f.parse()
			if err != nil {
				return usageError{err}
			}
			in, err := tensors.Load(f.opt, tree.Ranks())
			if err != nil {
				return usageError{err}
			}
			source, done, err := which.engines(cmd, a, args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			stop := a.working("%s on %s", f.call, tree)
			defer stop()
			m, engines, err := source.Open(cmd.Context())
			if err != nil {
				return err
			}
			rep, runErr := f.run(cmd.Context(), m, tree, in, engines.New)
			if runErr != nil && len(rep.Rows) == 0 {
				return runErr
			}
			a.printCollective(&rep)
			if err := writeJSON(jsonFile, rep); err != nil {
				return err
			}
			if runErr != nil {
				return runErr
			}
			if !rep.Passed() {
				return errFailed
			}
			return nil
		}}
	flags.bind(cmd)
	which.bind(cmd)
	f.found.bind(cmd)
	bindJSON(cmd, &jsonFile)
	p := cmd.Flags()
	p.StringVar(&f.tree, "tree", "2-4", "LEVELS-DEGREE, hosts counted as a level: 3-2 is a root switch, two leaf switches and four ranks")
	p.StringVar(&f.call, "call", comm.AllReduce.String(), "allreduce, reduce, broadcast, barrier, reducescatter, allgather")
	p.StringVar(&f.op, "op", "sum", "sum, min, max")
	p.IntVar(&f.opt.Root, "root", 0, "root rank of reduce and broadcast")
	p.BoolVar(&f.check, "check", false, "compare every frame and counter of every switch with the reference engine")
	p.StringArrayVar(&f.opt.Inputs, "input", nil, "file or pattern of files; may be given more than once")
	p.StringVar(&f.dtype, "dtype", "fp32", "element type of raw files: "+strings.ToLower(strings.Join(contract.ElementNames(), ", ")))
	p.StringVar(&f.one, "one", string(tensors.Perturb),
		"how one file serves all ranks: perturb (elements up to 1 % off, except rank 0's), cut (each rank gets a part), same")
	p.StringVar(&f.opt.Tensor, "tensor", "", "pattern of tensor names to use (default: all)")
	p.StringVarP(&f.opt.Output, "output", "o", "", "folder for the ranks' results")
	p.IntVar(&f.group.Message, "message", 0, "packets per message (default: 1, in Mode I as many as fit message_bytes)")
	p.IntVar(&f.group.Window, "window", 0, "messages in flight (default: the configuration's window)")
	p.IntVar(&f.group.Pipe, "pipe", 0, "slots of a pipe in Mode III, messages of a pool in Mode I (default: the configuration's window)")
	p.IntSliceVar(&f.group.PathMTUs, "path-mtus", nil, "Mode I: the ranks' own path MTUs, separated by commas; what is left out, or 0, is mtu_bytes")
	p.BoolVar(&f.group.Mixed, "mixed", false, "Mode I: path MTUs at random, on links between switches too, and ranks that ask for acknowledgements as often as each likes")
	p.BoolVar(&f.group.Whole, "whole-messages", false, "Mode I: nothing of a message leaves before it is complete")
	p.BoolVar(&f.group.Release, "release", false, "Mode I: hosts get word when what they sent in a call is acknowledged everywhere; not with --fixed")
	p.BoolVar(&f.fixed, "fixed", false, "set up the group for this call by registers instead of in-band control; not for reducescatter and allgather")
	p.BoolVar(&f.group.RootLocal, "root-local", false, "the root of a reduce adds its own contribution itself instead of sending it")
	p.IntVar(&f.latency, "latency", 40, "latency of each link in cycles")
	p.Float64Var(&f.rate, "rate", 0, "bandwidth of each link in bytes per cycle (default: the bus width)")
	p.Float64Var(&f.loss, "loss", 0, "probability that a link loses a frame, 0 to 1")
	p.Uint64Var(&f.seed, "seed", 1, "seed of losses, first PSNs, --one perturb and the models' initial state")
	return cmd
}

// parse reads the flags that are words.
func (f *collectiveFlags) parse() (topology.Tree, error) {
	tree, err := topology.ParseTree(f.tree)
	if err != nil {
		return tree, err
	}
	if err := f.opt.Call.UnmarshalText([]byte(f.call)); err != nil {
		return tree, err
	}
	op, err := index("--op", f.op, arith.Sum.String(), arith.Min.String(), arith.Max.String())
	if err != nil {
		return tree, err
	}
	raw, err := index("--dtype", f.dtype, arith.FP32.String(), arith.FP16.String(), arith.BF16.String(), arith.INT32.String())
	if err != nil {
		return tree, err
	}
	if _, err := index("--one", f.one, string(tensors.Perturb), string(tensors.Cut), string(tensors.Same)); err != nil {
		return tree, err
	}
	f.opt.Op, f.opt.Raw, f.opt.One, f.opt.Seed = arith.Op(op), arith.DType(raw), tensors.One(f.one), f.seed
	switch {
	case !(f.loss >= 0 && f.loss <= 1): // NaN is neither
		return tree, fmt.Errorf("--loss %g: must be 0 to 1", f.loss)
	case f.latency < 1:
		return tree, fmt.Errorf("--latency %d: must be at least 1", f.latency)
	case !(f.rate >= 0):
		return tree, fmt.Errorf("--rate %g: must be positive", f.rate)
	}
	return tree, nil
}

// index is the place of a word among others, whatever the case.
func index(flag, word string, words ...string) (int, error) {
	for i, w := range words {
		if strings.EqualFold(w, word) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %s: must be one of %s", flag, word, strings.ToLower(strings.Join(words, ", ")))
}

// run makes the world and runs the call on it.
func (f *collectiveFlags) run(ctx context.Context, m *contract.Manifest, tree topology.Tree, in tensors.Inputs,
	open dut.Maker) (rep tensors.Report, err error) {
	engine := func(n int) (dut.DUT, error) {
		d, err := open(f.seed + uint64(n))
		if err != nil || !f.check {
			return d, err
		}
		return score.New(d, m)
	}
	link := fabric.Link{Latency: f.latency, BytesPerCycle: f.rate, Up: fabric.Faults{Loss: f.loss}, Down: fabric.Faults{Loss: f.loss}}
	if f.rate == 0 {
		link.BytesPerCycle = float64(m.Params.BusBytes)
	}
	w, err := comm.New(comm.Config{Manifest: m, Tree: tree, Seed: f.seed, Switch: engine,
		Link: func(comm.Edge) *fabric.Link { l := link; return &l }})
	if err != nil {
		return rep, usageError{err}
	}
	defer func() {
		if e := w.Close(); err == nil {
			err = e
		}
	}()
	if f.opt.Clock, err = f.found.clock(m); err != nil {
		return rep, err
	}
	if f.fixed {
		dtype, err := in.DType()
		if err != nil {
			return rep, usageError{err}
		}
		f.group.Fixed = &comm.Request{Collective: f.opt.Call, Root: f.opt.Root, DType: dtype, Op: f.opt.Op}
	}
	g, err := w.NewGroup(f.group)
	if err != nil {
		return rep, usageError{err}
	}
	return tensors.Run(ctx, w, g, in, f.opt)
}

// printCollective prints a line a tensor and the sum.
func (a *app) printCollective(r *tensors.Report) {
	head := []string{"tensor", "type", "elements", "cycles", "bits a cycle"}
	if r.Clock.Found() {
		head = append(head, "time", "throughput")
	}
	t := newTable(append(head, "packets", "resent", "max abs", "max ulp", "verdict")...)
	row := func(x tensors.Row) {
		cells := table.Row{x.Tensor, x.DType, x.Elements, x.Cycles, fmt.Sprintf("%.2f", x.BitsPerCycle)}
		if r.Clock.Found() {
			cells = append(cells, clocked.Cycles(float64(x.Cycles), r.Clock).At(), clocked.BitsPerCycle(x.BitsPerCycle, r.Clock).At())
		}
		t.AppendRow(append(cells, x.Packets, x.Resent, fmt.Sprintf("%.3g", x.MaxAbs), fmt.Sprintf("%.3g", x.MaxULP), x.Verdict))
	}
	for _, x := range r.Rows {
		row(x)
	}
	if len(r.Rows) > 1 {
		row(r.Total)
	}
	fmt.Fprintln(a.out, t.Render())
	for _, x := range r.Rows {
		if x.Message != "" {
			fmt.Fprintf(a.out, "FAIL %s: %s\n", x.Tensor, x.Message)
		}
	}
	what := r.Call
	if r.Op != "" {
		what += " " + r.Op
	}
	if r.Root != nil {
		what += fmt.Sprintf(" root %d", *r.Root)
	}
	fmt.Fprintf(a.out, "%s on %s, %d ranks, window %d messages of %d packets of %d bytes, %s\n", what, r.Tree, r.Ranks, r.Window, r.Message, r.PathMTU,
		r.Clock)
}
