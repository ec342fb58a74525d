// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"incforge/mutate/mutant"
	"incforge/mutate/score"
)

// Reason says why nothing that the design does can tell a mutant from it: what somebody found by reading the text, where no proof was found.
// It is never counted as a proof.
type Reason struct {
	// Block is the Verilog module, In a part of the mutant's Context, After what the mutant has there; nothing for a statement that is left out.
	// Line numbers move, texts do not.
	Block string `yaml:"block"`
	In    string `yaml:"in"`
	After string `yaml:"is,omitempty"`
	// Operator narrows it to one kind of mistake; empty is any.
	Operator string `yaml:"operator,omitempty"`
	// Nth is which one it is of several in the block that the fields above do not tell apart, from 1; 0 is all of them.
	Nth int `yaml:"nth,omitempty"`
	// Only are the presets that it was found for.
	Only []string `yaml:"only,flow"`
	Why  string   `yaml:"why"`
}

//go:embed reasons.yaml
var reasonsText []byte

// errReason means that a reason lacks something.
var errReason = errors.New("a reason needs block, in, only and why, and in has the changed text between « and »")

// Reasons are those that go with the product: reasons.yaml.
func Reasons() ([]Reason, error) {
	var all []Reason
	if err := yaml.UnmarshalWithOptions(reasonsText, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("reasons.yaml: %w", err)
	}
	for i, r := range all {
		if r.Block == "" || len(r.Only) == 0 || r.Why == "" || !strings.Contains(r.In, "«") || !strings.Contains(r.In, "»") {
			return nil, fmt.Errorf("reasons.yaml: number %d: %w", i+1, errReason)
		}
	}
	return all, nil
}

// of are the numbers of the mutants of a preset that the reason is for. All are those of its design, in their order.
func (r Reason) of(preset string, all []mutant.Mutant) (numbers []int) {
	if !slices.Contains(r.Only, preset) {
		return nil
	}
	for _, m := range all {
		if r.Block == m.Module && r.After == m.After && strings.Contains(m.Context, r.In) && (r.Operator == "" || r.Operator == m.Operator) {
			numbers = append(numbers, m.Number)
		}
	}
	switch {
	case r.Nth == 0:
		return numbers
	case r.Nth > len(numbers):
		return nil
	}
	return numbers[r.Nth-1 : r.Nth]
}

// explain gives mutants that live the reasons that are known; all are the mutants of the design. A reason for one that a scenario killed is wrong, and
// an error.
func explain(r *score.Report, reasons []Reason, all []mutant.Mutant) error {
	why := map[int]string{}
	for _, reason := range reasons {
		for _, n := range reason.of(r.Config, all) {
			why[n] = reason.Why
		}
	}
	var wrong []error
	for i := range r.Mutants {
		m := &r.Mutants[i]
		switch reason := why[m.Number]; {
		case reason == "" || m.Verdict == score.Equivalent:
		case m.Verdict == score.Killed:
			wrong = append(wrong, fmt.Errorf("mutate: reasons.yaml: %s, %s: %s kills it, against the reason: %s", m.Module, m.Context, m.By, reason))
		default:
			m.Reason = reason
		}
	}
	return errors.Join(wrong...)
}
