// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"incforge/internal/fail"
	"incforge/mutate/score"
	"incforge/verify/rig"
)

// Tally is how often a scenario was tried on mutants, and how many it killed.
type Tally struct {
	Tried  int `json:"tried"`
	Killed int `json:"killed"`
}

// Experience is what scenarios have killed, by block and scenario. It decides only in which order they are tried.
type Experience struct {
	mu     sync.Mutex
	Blocks map[string]map[string]Tally `json:"blocks"`
}

// LoadExperience reads a file; one that is not there is no experience.
func LoadExperience(path string) (*Experience, error) {
	e := &Experience{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("mutate: what scenarios have killed: %w", err)
	}
	if e.Blocks == nil {
		e.Blocks = map[string]map[string]Tally{}
	}
	return e, nil
}

// Save writes it for the next campaign. Another campaign may read the file, or write it, meanwhile: it is replaced when all is written.
func (e *Experience) Save(path string) (err error) {
	defer fail.Catch(&err, "mutate: what scenarios have killed")
	e.mu.Lock()
	defer e.mu.Unlock()
	text := fail.Must(json.MarshalIndent(e, "", " "))
	fail.On(os.MkdirAll(filepath.Dir(path), 0o755))
	f := fail.Must(os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"))
	defer os.Remove(f.Name()) // nothing is there once it has its name
	_, err = f.Write(append(text, '\n'))
	fail.On(errors.Join(err, f.Chmod(0o644), f.Close()))
	return os.Rename(f.Name(), path)
}

// learn adds what became of a mutant.
func (e *Experience) learn(r score.Result) { e.note(r.Module, r.Outlived, r.By) }

// note adds the scenarios that a mutant outlived, and the one that killed it, if any.
func (e *Experience) note(block string, outlived []string, by string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.Blocks[block]
	if b == nil {
		b = map[string]Tally{}
		e.Blocks[block] = b
	}
	for _, s := range outlived {
		t := b[s]
		t.Tried++
		b[s] = t
	}
	if by != "" {
		t := b[by]
		t.Tried++
		t.Killed++
		b[by] = t
	}
}

// few is how many tries on a block weigh as much as those on all blocks.
const few = 4

// order sorts scenarios by the mutants of a block that they may be expected to kill a second.
func (e *Experience) order(block string, all []rig.Scenario, seconds map[string]float64) []rig.Scenario {
	e.mu.Lock()
	defer e.mu.Unlock()
	rank := map[string]float64{}
	for _, s := range all {
		var whole Tally
		for _, b := range e.Blocks { // sums: the order does not matter
			whole.Tried += b[s.Name].Tried
			whole.Killed += b[s.Name].Killed
		}
		often := (float64(whole.Killed) + 1) / (float64(whole.Tried) + few)
		here := e.Blocks[block][s.Name]
		rank[s.Name] = (float64(here.Killed) + few*often) / (float64(here.Tried) + few) / max(seconds[s.Name], 0.001)
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b rig.Scenario) int { return cmp.Compare(rank[b.Name], rank[a.Name]) })
	return sorted
}
