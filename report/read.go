// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/fpga"
	"incforge/fpga/vendor"
	"incforge/internal/clocked"
	"incforge/mutate/score"
	"incforge/sweep/front"
	"incforge/synth"
	"incforge/verify/code"
	"incforge/verify/result"
)

// Report is everything that was found, by design.
type Report struct {
	Designs []*Design // ordered by name
	Sweeps  []*front.Sweep
}

// Design is everything found about one configuration.
type Design struct {
	Name     string
	Manifest *contract.Manifest // nil if no manifest was among the inputs
	Tests    []result.Test      // in the order of the files
	Code     *code.Report       // of the Verilog, nil if there is none
	Mutants  []*score.Report    // campaigns, in the order of the files
	Benches  []Bench
	Losses   []*Loss
	Synth    []*synth.Metrics
	FPGA     []*fpga.Metrics
	Diagrams []Diagram // in the order of their names
}

// Diagram is a drawing in the generated folder.
type Diagram struct {
	Name string // of the file, without .svg
	SVG  []byte
}

// Bench is one benchmark's figures, as package bench measures them.
type Bench struct {
	Bench   string             `json:"bench"`
	Config  string             `json:"config"`
	Digest  string             `json:"digest,omitempty"`
	Clock   clocked.Clock      `json:"clock,omitzero"`
	Metrics map[string]float64 `json:"metrics"`
}

// ErrNothing means that the folders hold nothing to report on.
var ErrNothing = errors.New("nothing to report on: no manifest.json, results, metrics or benchmarks")

// Read gathers all .json, .jsonl and .svg files below the folders, and the reports of a vendor's tool beside its scripts. The type of a JSON document follows from its keys,
// wherever it lies. Documents of other types (a schema in a generated folder, a tool's log) are skipped. A .json file
// that is not valid JSON is an error.
func Read(dirs ...string) (*Report, error) {
	r := &Report{}
	for _, dir := range dirs {
		diagrams := map[string][]byte{} // by path
		owners := map[string]*Design{}  // by folder: the design whose manifest it holds
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			ext := filepath.Ext(path)
			if ext != ".json" && ext != ".jsonl" && ext != ".svg" {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if ext == ".svg" {
				diagrams[path] = text
				return nil
			}
			if filepath.Base(path) == vendor.RecordFile {
				return r.addVendor(path)
			}
			owner, err := r.add(text)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if owner != nil {
				owners[filepath.Dir(path)] = owner
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		for at, owner := range owners {
			for _, path := range sorted(diagrams) {
				if strings.HasPrefix(path, at+string(filepath.Separator)) {
					name := strings.TrimSuffix(filepath.Base(path), ".svg")
					owner.Diagrams = append(owner.Diagrams, Diagram{name, diagrams[path]})
				}
			}
		}
	}
	if len(r.Designs) == 0 && len(r.Sweeps) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNothing, strings.Join(dirs, ", "))
	}
	slices.SortFunc(r.Designs, func(a, b *Design) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// design returns the design of that name, new if need be.
func (r *Report) design(name string) *Design {
	for _, d := range r.Designs {
		if d.Name == name {
			return d
		}
	}
	d := &Design{Name: name}
	r.Designs = append(r.Designs, d)
	return d
}

// addVendor takes the reports of a vendor's tool, if it has left any beside its record.
func (r *Report) addVendor(record string) error {
	m, err := vendor.Read(record)
	if errors.Is(err, vendor.ErrNoReports) {
		return nil
	}
	if err != nil {
		return err
	}
	d := r.design(m.Config)
	d.FPGA = append(d.FPGA, m)
	return nil
}

// add takes one file's documents and returns the design whose manifest was among them.
func (r *Report) add(text []byte) (*Design, error) {
	var owner *Design
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var doc json.RawMessage
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return owner, nil
		} else if err != nil {
			return nil, err
		}
		parts := []json.RawMessage{doc}
		if doc[0] == '[' {
			if err := json.Unmarshal(doc, &parts); err != nil {
				return nil, err
			}
		}
		for _, p := range parts {
			d, err := r.addOne(p)
			if err != nil {
				return nil, err
			}
			if d != nil {
				owner = d
			}
		}
	}
}

func (r *Report) addOne(doc json.RawMessage) (*Design, error) {
	var keys map[string]json.RawMessage
	if doc[0] != '{' {
		return nil, nil
	}
	if err := json.Unmarshal(doc, &keys); err != nil {
		return nil, err
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := keys[n]; return !ok })
	}
	switch {
	case has("name", "tops", "files", "registers"):
		m, err := contract.Decode(doc)
		if err != nil {
			return nil, err
		}
		d := r.design(m.Name)
		d.Manifest = m
		return d, nil
	case has("config", "scenario", "verdict"):
		t, err := decode[result.Test](doc, "result")
		if err != nil {
			return nil, err
		}
		d := r.design(t.Config)
		d.Tests = append(d.Tests, *t)
	case has("kind", "config", "files", "missed", "hits"):
		c, err := decode[code.Report](doc, "code coverage")
		if err != nil {
			return nil, err
		}
		r.design(c.Config).Code = c
	case has("kind", "config", "possible", "mutants", "blocks"):
		m, err := decode[score.Report](doc, "mutants")
		if err != nil {
			return nil, err
		}
		d := r.design(m.Config)
		d.Mutants = append(d.Mutants, m)
	case has("bench", "config", "axes", "front", "points"):
		s, err := front.Parse(doc)
		if err != nil {
			return nil, err
		}
		r.Sweeps = append(r.Sweeps, s)
	case has("bench", "config", "metrics", "estimates", "modules"):
		m, err := decode[synth.Metrics](doc, "synthesis")
		if err != nil {
			return nil, err
		}
		keepClock(m)
		d := r.design(m.Config)
		d.Synth = append(d.Synth, m)
	case has("bench", "config", "metrics", "family", "resources"):
		m, err := decode[fpga.Metrics](doc, "FPGA resources")
		if err != nil {
			return nil, err
		}
		d := r.design(m.Config)
		d.FPGA = append(d.FPGA, m)
	case has("bench", "config", "metrics", "variants", "loss"):
		l, err := ParseLoss(doc)
		if err != nil {
			return nil, err
		}
		d := r.design(l.Config)
		d.Losses, d.Benches = append(d.Losses, l), append(d.Benches, l.Bench)
	case has("bench", "config", "metrics"):
		b, err := decode[Bench](doc, "benchmark")
		if err != nil {
			return nil, err
		}
		d := r.design(b.Config)
		d.Benches = append(d.Benches, *b)
	}
	return nil, nil
}

// keepClock takes the clock of a record from before clocks were kept apart.
func keepClock(m *synth.Metrics) {
	if !m.Clock.Found() {
		m.Clock = clocked.Clock{AskedMHz: m.Metrics["synth__timing__clock__mhz"], FoundMHz: m.Metrics["synth__timing__fmax__mhz"],
			By: strings.TrimSpace(m.Tech + " " + m.Corner)}
	}
}

// decode reads a document of a known type, whose name the error has.
func decode[T any](doc json.RawMessage, what string) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(doc, v); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// sorted returns a map's keys in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
