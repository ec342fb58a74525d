// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Case is what is compared: a policy, the memory of a switch and the rate of the scale-up network.
type Case struct {
	Policy      string  `json:"policy"`
	Units       int     `json:"units,omitempty"`
	BufferKiB   int     `json:"buffer_kib,omitempty"`
	ScaleUpGbps float64 `json:"scale_up_gbps"`
}

// JobResult is what became of a job.
type JobResult struct {
	Name    string  `json:"name"`
	Ranks   int     `json:"ranks"`
	Waited  float64 `json:"waited_s"`
	Seconds float64 `json:"jct_s"`
	// Collectives of all its groups, by what they took.
	Trees     int `json:"on_trees"`
	Rings     int `json:"on_rings"`
	InServers int `json:"in_servers"`
}

// CaseResult is what became of all jobs. A job's completion time begins when it has its hosts.
type CaseResult struct {
	Case
	Mean float64 `json:"mean_jct_s"`
	P50  float64 `json:"p50_jct_s"`
	P99  float64 `json:"p99_jct_s"`
	End  float64 `json:"end_s"`
	// TreeShare is the part of the collectives in the network that had engines. Unplaced groups had no tree.
	TreeShare float64     `json:"tree_share"`
	Unplaced  int         `json:"unplaced"`
	Events    int         `json:"events"`
	Jobs      []JobResult `json:"jobs"`
}

// Result is what a file asked for, in the order scale-up, memory, policy.
type Result struct {
	Config string
	Cases  []CaseResult
}

// Cases are all combinations.
func (s *Spec) Cases() []Case {
	var all []Case
	for _, up := range s.ScaleUp {
		for _, policy := range s.Policies {
			for _, units := range s.Units {
				all = append(all, Case{Policy: policy, Units: units, ScaleUpGbps: up})
			}
			for _, kib := range s.BufferKiB {
				all = append(all, Case{Policy: policy, BufferKiB: kib, ScaleUpGbps: up})
			}
		}
	}
	return all
}

// Run simulates all cases. Where memory plays no part, that is without engines and with trees that share no edge under a switch with room for all
// its ports, the case is simulated all the same.
func Run(ctx context.Context, config string, s *Spec) (*Result, error) {
	r := &Result{Config: config}
	for _, c := range s.Cases() {
		one, err := RunCase(ctx, s, c)
		if err != nil {
			return nil, err
		}
		r.Cases = append(r.Cases, *one)
	}
	return r, nil
}

// RunCase simulates one.
func RunCase(ctx context.Context, s *Spec, c Case) (*CaseResult, error) {
	m, err := simulate(ctx, s, c)
	if err != nil {
		return nil, err
	}
	out := &CaseResult{Case: c, Unplaced: m.unplaced, Events: m.made}
	var times []float64
	trees, rings := 0, 0
	for _, r := range m.done {
		j := JobResult{Name: r.name, Ranks: r.Ranks(), Waited: r.started - r.Start, Seconds: r.ended - r.started, Trees: r.onTrees, Rings: r.onRings,
			InServers: r.inServers}
		out.Jobs = append(out.Jobs, j)
		out.Mean += j.Seconds
		out.End = max(out.End, r.ended)
		times = append(times, j.Seconds)
		trees, rings = trees+r.onTrees, rings+r.onRings
	}
	slices.Sort(times)
	out.Mean /= float64(len(times))
	out.P50, out.P99 = rank(times, 0.5), rank(times, 0.99)
	if trees+rings > 0 {
		out.TreeShare = float64(trees) / float64(trees+rings)
	}
	return out, nil
}

// rank is the least of the times, in order, that so large a part does not exceed.
func rank(times []float64, part float64) float64 {
	return times[max(int(math.Ceil(part*float64(len(times))))-1, 0)]
}

// key is the case in the name of a metric.
func (c Case) key() string {
	key := strings.ReplaceAll(c.Policy, "-", "_")
	if c.Units > 0 {
		key += "_" + strconv.Itoa(c.Units) + "u"
	} else {
		key += "_" + strconv.Itoa(c.BufferKiB) + "k"
	}
	if c.ScaleUpGbps > 0 {
		key += "_up" + strconv.FormatFloat(c.ScaleUpGbps, 'f', -1, 64)
	}
	return key
}

// Write writes the document: the benchmark's metrics, and every job of every case.
func (r *Result) Write(w io.Writer) error {
	metrics := map[string]float64{}
	for _, c := range r.Cases {
		metrics[c.key()+"_mean_s"], metrics[c.key()+"_p99_s"] = c.Mean, c.P99
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		Bench   string             `json:"bench"`
		Config  string             `json:"config"`
		Metrics map[string]float64 `json:"metrics"`
		Cases   []CaseResult       `json:"cases"`
	}{"flows", r.Config, metrics, r.Cases}); err != nil {
		return fmt.Errorf("flows: write the results: %w", err)
	}
	return nil
}

// Table is for a terminal.
func (r *Result) Table() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"policy", "memory", "scale-up Gbit/s", "mean s", "median s", "99 % s", "last end s", "on trees %", "no tree"})
	for _, c := range r.Cases {
		memory := fmt.Sprintf("%d units", c.Units)
		if c.BufferKiB > 0 {
			memory = fmt.Sprintf("%d KiB", c.BufferKiB)
		}
		t.AppendRow(table.Row{c.Policy, memory, c.ScaleUpGbps, digits(c.Mean), digits(c.P50), digits(c.P99), digits(c.End), fmt.Sprintf("%.0f", 100*c.TreeShare), c.Unplaced})
	}
	return t.Render()
}

// digits are four of a number, which is what a model of this kind is worth.
func digits(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
