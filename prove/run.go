// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/contract"
	"incforge/internal/cache"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/internal/tool"
)

// Options say what to prove.
type Options struct {
	Dir    string // of a generated design
	Blocks []string
	Kinds  string // letters of the kinds; empty is all
	// NoFaults leaves out the planted faults.
	NoFaults bool
	// Limit is for one search, of its program and wall time.
	Limit    time.Duration
	Cache    string // folder of verdicts; "" is the usual one
	Place    jobs.Place
	Progress func(format string, args ...any) *progress.Task
}

// Verdict is what came of a property.
type Verdict struct {
	Block  string `json:"block"`
	Kind   string `json:"property"`
	Says   string `json:"says"`
	Proven bool   `json:"proven"`
	// Depth is for how many cycles it is shown, or after how many it breaks; 0 is for all time. Seconds are of processor time.
	Depth   int     `json:"depth"`
	Seconds float64 `json:"seconds"`
	// Found tells that the planted fault was found, after so many cycles.
	Found        bool    `json:"fault_found"`
	FoundAt      int     `json:"fault_depth"`
	FaultSeconds float64 `json:"fault_seconds"`
	FaultFrom    string  `json:"fault_was"`
	FaultTo      string  `json:"fault_is"`
	Cached       bool    `json:"cached"`
	// Error is why there is no verdict.
	Error string `json:"error,omitempty"`
}

// OK tells that the property holds and its fault, if it was tried, was found in a cycle for which it holds.
func (v Verdict) OK(faults bool) bool {
	return v.Error == "" && v.Proven && (!faults || v.Found && !v.TooLate())
}

// TooLate tells that the fault breaks the property in a cycle later than those for which it was shown: it says nothing of such a mistake.
func (v Verdict) TooLate() bool { return v.Depth > 0 && v.FoundAt > v.Depth }

// Report is a campaign.
type Report struct {
	Config   string    `json:"config"`
	Digest   string    `json:"digest"`
	Verdicts []Verdict `json:"verdicts"`
}

// task is a property of a block.
type task struct {
	block Block
	kind  Kind
}

// load reads the Verilog of a generated design.
func load(dir string) (design, *contract.Manifest, error) {
	m, err := contract.Load(dir)
	if err != nil {
		return design{}, m, fmt.Errorf("prove: %w", err)
	}
	d := design{top: m.Tops[contract.TopCore].Module, files: map[string]string{}}
	for _, name := range m.Files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return d, m, fmt.Errorf("prove: %w", err)
		}
		base := path.Base(name)
		if base == m.Tops[contract.TopSwitch].Module+".v" {
			continue
		}
		d.names = append(d.names, base)
		d.files[base] = string(data)
	}
	watched, err := texts.ReadFile("blocks/watched.v")
	if err != nil {
		return d, m, fmt.Errorf("prove: %w", err)
	}
	d.names = append([]string{"watched.v"}, d.names...)
	d.files["watched.v"] = string(watched)
	return d, m, nil
}

// tasks are the properties asked for that the design can have.
func (o Options) tasks(m *contract.Manifest) ([]task, error) {
	for _, name := range o.Blocks {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("%w: %s; there are %s", ErrNone, name, strings.Join(Names(), ", "))
		}
	}
	var all []task
	for _, b := range blocks() {
		if len(o.Blocks) > 0 && !slices.Contains(o.Blocks, b.Name) || b.Mode != 0 && b.Mode != m.Params.Mode || b.InBand && (!m.Params.InBand || m.Params.Mode == 1) {
			continue
		}
		for _, p := range b.Properties {
			if o.Kinds == "" || strings.ContainsRune(o.Kinds, rune(p.Kind)) {
				all = append(all, task{b, p.Kind})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNone, m.Name)
	}
	return all, nil
}

// Run proves. The report has what is known also if the context ended it.
func Run(ctx context.Context, o Options) (*Report, error) {
	d, m, err := load(o.Dir)
	if err != nil {
		return nil, err
	}
	all, err := o.tasks(m)
	if err != nil {
		return nil, err
	}
	store, err := cache.Open(o.Cache, "proofs")
	if err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	version, err := tool.Version(ctx, "yosys", "-V")
	if err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	show := o.Progress("prove %s", m.Name)
	defer show.Stop()
	found := map[int]Verdict{}
	err = jobs.Run(ctx, o.Place, jobs.Task[Verdict]{
		Name: "prove", Pieces: len(all), Progress: show, Unit: "properties",
		Label: func(i int) string { return all[i].block.Name + " " + string(rune(all[i].kind)) },
		Run:   func(ctx context.Context, i int) (Verdict, error) { return o.verdict(ctx, d, store, version, all[i]) },
		Done:  func(i int, v Verdict) error { found[i] = v; return nil },
	})
	r := &Report{Config: m.Name, Digest: m.Digest}
	for i := range all {
		if v, ok := found[i]; ok {
			r.Verdicts = append(r.Verdicts, v)
		}
	}
	return r, err
}

// verdictFile is a verdict in the cache.
const verdictFile = "verdict.json"

// verdict is that of a property, from the cache if the same question was answered before.
func (o Options) verdict(ctx context.Context, d design, store cache.Store, version string, t task) (Verdict, error) {
	p, _ := t.block.property(t.kind)
	v := Verdict{Block: t.block.Name, Kind: string(rune(t.kind)), Says: p.Says, FaultFrom: p.Fault.From, FaultTo: p.Fault.To}
	sound, err := d.question(t.block, t.kind, false)
	if err != nil {
		return v, err
	}
	faulty, err := d.question(t.block, t.kind, true)
	if err != nil {
		return v, err
	}
	dir, hit, err := store.Get(ctx, o.key(sound, faulty, version, t), func(dir string) error {
		if err := o.prove(ctx, sound, faulty, t, &v); err != nil {
			return err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("prove: %w", err)
		}
		return os.WriteFile(filepath.Join(dir, verdictFile), data, 0o644)
	})
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err != nil: // no verdict: nothing is kept
		v.Error = err.Error()
		return v, nil
	case !hit:
		return v, nil
	}
	data, err := os.ReadFile(filepath.Join(dir, verdictFile))
	if err != nil {
		return v, fmt.Errorf("prove: %w", err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("prove: %w", err)
	}
	v.Cached = true
	return v, nil
}

// prove answers a property's two questions: whether it holds, and whether its fault breaks it.
func (o Options) prove(ctx context.Context, sound, faulty design, t task, v *Verdict) error {
	p, _ := t.block.property(t.kind)
	metered, meter := tool.WithMeter(ctx)
	a, err := sound.claim(metered, t.block, t.kind, p.Depth, o.Limit)
	if err != nil {
		return err
	}
	v.Proven, v.Depth, v.Seconds = a.Proven, a.Depth, meter.CPU().Seconds()
	if o.NoFaults {
		return nil
	}
	metered, meter = tool.WithMeter(ctx)
	if a, err = faulty.claim(metered, t.block, t.kind, max(p.Depth, faultDepth), o.Limit); err != nil {
		return fmt.Errorf("planted fault: %w", err)
	}
	v.Found, v.FoundAt, v.FaultSeconds = !a.Proven, a.Depth, meter.CPU().Seconds()
	return nil
}

// faultDepth is how many cycles a planted fault is searched for.
const faultDepth = 100

// key names both questions: all texts that they are made of, and what answers them. The first word changes when what a verdict says does.
func (o Options) key(sound, faulty design, version string, t task) string {
	p, _ := t.block.property(t.kind)
	k := cache.NewKey()
	k.Add("prove 3", version, t.block.Name, t.kind.define(), fmt.Sprint(p.Depth, o.NoFaults, faultDepth))
	for _, d := range []design{sound, faulty} {
		k.Add(d.script(t.block, t.kind, p.Depth == 0)...)
		for _, name := range d.names {
			k.Add(name, d.files[name])
		}
	}
	return k.Sum()
}
