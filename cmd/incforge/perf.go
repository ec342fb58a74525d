// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/commlib"
	"incforge/commlib/perf"
)

// perfFlags are those of incforge perf.
type perfFlags struct {
	memberFlags
	what, types, sizes []string
	op                 string
	iterations, warmup int
	groups             int
	seed               uint64
	jsonFile           string
	fixed              bool
}

func (a *app) perf() *cobra.Command {
	var p perfFlags
	cmd := &cobra.Command{Use: "perf NAME", Short: "Run collectives on a live group, check every element, print what they cost as nccl-tests do",
		Long: `Make a group with others of its kind, run collectives of every type and size, check every element, and end the group, see docs/commlib.md. NAME is this
host's in the manager's topology file, and one of --members. Every member runs the same command line, but for NAME and --nic.

Rank 0 prints the table: for a call whose output lies beside its input, and for one with it in the input's place, the mean time of a call over all
ranks, the tensor over the time (alg), what a ring would have to send for it (bus), and how many bytes of all ranks' results were wrong, those of
the calls of --warmup too. In a group that is fixed to one collective, as --meet may find one, ranks cannot tell each other: time and wrong bytes
are rank 0's own. Roots go round. Exit status 1: the group has failed, or a result was wrong.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error { return a.runPerf(cmd.Context(), args[0], &p) }}
	f := cmd.Flags()
	f.StringSliceVar(&p.what, "collective", []string{"all"}, "what to run: allreduce, reduce, broadcast, barrier, reducescatter, allgather; or all")
	f.StringSliceVar(&p.types, "type", []string{"all"}, "element types: fp32, fp16, bf16, int32; or all that the engines have")
	f.StringVar(&p.op, "op", "sum", "operation: sum, min, max")
	f.BoolVar(&p.fixed, "fixed", false, "make a group that does only this, by registers: one --collective, allreduce or barrier, and one --type; for engines without in_band")
	f.StringSliceVar(&p.sizes, "bytes", []string{"1Ki:64Ki"}, "sizes of a tensor; Ki and Mi are 2^10 and 2^20; A:B is A and its doubles up to B")
	f.IntVar(&p.iterations, "iterations", 5, "calls of each kind, type and size that are measured")
	f.IntVar(&p.warmup, "warmup", 1, "calls before them")
	f.IntVar(&p.groups, "groups", 1, "make, use and end the group so many times, one after the other")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the numbers in the tensors")
	bindMember(cmd, &p.memberFlags)
	bindJSON(cmd, &p.jsonFile)
	return cmd
}

// plan reads what is to be run. No types are all that the engines have.
func (p *perfFlags) plan() (out perf.Plan, err error) {
	out = perf.Plan{Iterations: p.iterations, Warmup: p.warmup, Seed: p.seed}
	errs := []error{out.Op.UnmarshalText([]byte(p.op))}
	for _, name := range p.what {
		if name == "all" {
			out.Collectives = commlib.Collectives()
			continue
		}
		var c commlib.Collective
		errs = append(errs, c.UnmarshalText([]byte(name)))
		out.Collectives = append(out.Collectives, c)
	}
	for _, name := range p.types {
		if name == "all" {
			out.Types = nil
			break
		}
		var t commlib.Type
		errs = append(errs, t.UnmarshalText([]byte(name)))
		out.Types = append(out.Types, t)
	}
	for _, s := range p.sizes {
		some, err := parseSizes(s)
		errs = append(errs, err)
		out.Bytes = append(out.Bytes, some...)
	}
	if p.iterations < 1 || p.warmup < 0 {
		errs = append(errs, fmt.Errorf("--iterations %d must be at least 1, --warmup %d at least 0", p.iterations, p.warmup))
	}
	return out, errors.Join(errs...)
}

// parseSizes reads A or A:B.
func parseSizes(text string) (all []int, err error) {
	first, last, several := strings.Cut(text, ":")
	n, err := parseSize(first)
	if err != nil || !several {
		return []int{n}, err
	}
	most, err := parseSize(last)
	if err == nil && (n < 1 || most < n) {
		err = fmt.Errorf("--bytes %s: the first size must be at least 1 and at most the last", text)
	}
	if err != nil {
		return nil, err
	}
	for ; n <= most; n *= 2 {
		all = append(all, n)
	}
	return all, nil
}

// mostBytes bounds a tensor.
const mostBytes = 1 << 30

// parseSize reads a number with Ki or Mi behind it.
func parseSize(text string) (int, error) {
	number, factor := text, 1
	if cut, ok := strings.CutSuffix(text, "Ki"); ok {
		number, factor = cut, 1<<10
	} else if cut, ok := strings.CutSuffix(text, "Mi"); ok {
		number, factor = cut, 1<<20
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > mostBytes/factor {
		return 0, fmt.Errorf("--bytes %s: must be a number, such as 4096 or 64Ki, of at most 1024Mi", text)
	}
	return n * factor, nil
}

// runPerf is incforge perf.
func (a *app) runPerf(ctx context.Context, name string, p *perfFlags) error {
	plan, err := p.plan()
	if err != nil {
		return usageError{err}
	}
	if p.groups < 1 {
		return usagef("--groups %d must be at least 1", p.groups)
	}
	if p.fixed {
		if len(plan.Collectives) != 1 || len(plan.Types) != 1 || plan.Collectives[0] != commlib.AllReduce && plan.Collectives[0] != commlib.Barrier {
			return usagef("--fixed: needs one --collective, allreduce or barrier, as others cannot wait for each other, and one --type")
		}
		p.memberFlags.fixed = &commlib.Request{Collective: plan.Collectives[0], Type: plan.Types[0], Op: plan.Op}
	}
	for range p.groups {
		err := a.member(ctx, name, &p.memberFlags, func(g *commlib.Group) error {
			if plan.Types == nil {
				plan.Types = g.Endpoint().Types
			}
			return a.runPlan(ctx, g, plan, p.jsonFile)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runPlan runs collectives, prints the table and ends the group.
func (a *app) runPlan(ctx context.Context, g *commlib.Group, plan perf.Plan, jsonFile string) error {
	t := newTable("collective", "type", "bytes", "elements", "µs", "alg Mbit/s", "bus Mbit/s", "wrong", "in place µs", "alg Mbit/s", "bus Mbit/s", "wrong")
	rows, wrong := []perf.Row{}, 0
	err := perf.Run(ctx, g, plan, func(r perf.Row) {
		rows, wrong = append(rows, r), wrong+r.Wrong()
		line := table.Row{r.Collective, strings.TrimSpace(r.Type + " " + r.Op), r.Bytes, r.Elements}
		for _, f := range []*perf.Figures{&r.Out, r.In} {
			if f != nil {
				line = append(line, fmt.Sprintf("%.0f", f.Microsec), fmt.Sprintf("%.1f", f.AlgMbps), fmt.Sprintf("%.1f", f.BusMbps), f.Wrong)
			}
		}
		t.AppendRow(line)
	})
	if g.Endpoint().Rank == 0 {
		fmt.Fprintln(a.out, t.Render())
	}
	if err != nil {
		return errors.Join(err, g.Abort(ctx, err.Error()))
	}
	if err := errors.Join(g.Destroy(ctx), writeJSON(jsonFile, rows)); err != nil {
		return err
	}
	if wrong > 0 {
		return errFailed
	}
	return nil
}
