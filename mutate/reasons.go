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

// holds tells whether the reason is for a mutant of a preset.
func (r Reason) holds(preset string, m mutant.Mutant) bool {
	return slices.Contains(r.Only, preset) && r.Block == m.Module && r.After == m.After && strings.Contains(m.Context, r.In) &&
		(r.Operator == "" || r.Operator == m.Operator)
}

// explain gives mutants that live the reasons that are known. A reason for one that a scenario killed is wrong, and an error.
func (r *Report) explain(reasons []Reason) error {
	var wrong []error
	for i := range r.Mutants {
		m := &r.Mutants[i]
		for _, reason := range reasons {
			if m.Verdict == Equivalent || !reason.holds(r.Config, m.Mutant) {
				continue
			}
			if m.Verdict == Killed {
				wrong = append(wrong, fmt.Errorf("mutate: reasons.yaml: %s, %s: %s kills it, against the reason: %s", m.Module, m.Context, m.By, reason.Why))
				continue
			}
			m.Reason = reason.Why
		}
	}
	return errors.Join(wrong...)
}
