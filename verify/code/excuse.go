// SPDX-License-Identifier: Apache-2.0

package code

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Excuse says why nothing needs to come to a place.
type Excuse struct {
	// File is the Verilog file, Text a part of the line: line numbers move, texts do not.
	File string `yaml:"file" json:"file"`
	Text string `yaml:"text" json:"text"`
	// What narrows it to one arm or block, or to a signal's bits; empty is all points of the line.
	What string `yaml:"what,omitempty" json:"what,omitempty"`
	// Only are the configurations that it holds for; empty is all.
	Only []string `yaml:"only,omitempty,flow" json:"only,omitempty"`
	Why  string   `yaml:"why" json:"why"`
}

//go:embed excuses.yaml
var excusesText []byte

// errExcuse means that an excuse lacks something.
var errExcuse = errors.New("an excuse needs file, text and why")

// Excuses are those that go with the product: excuses.yaml.
func Excuses() ([]Excuse, error) {
	var all []Excuse
	if err := yaml.UnmarshalWithOptions(excusesText, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("excuses.yaml: %w", err)
	}
	for i, e := range all {
		if e.File == "" || e.Text == "" || e.Why == "" {
			return nil, fmt.Errorf("excuses.yaml: number %d: %w", i+1, errExcuse)
		}
	}
	return all, nil
}

// of tells whether the excuse is for a configuration.
func (e Excuse) of(config string) bool { return len(e.Only) == 0 || slices.Contains(e.Only, config) }

// holds tells whether the excuse is for a point of a configuration.
func (e Excuse) holds(config string, p Point, text string) bool {
	return e.of(config) && e.File == p.File && strings.Contains(text, e.Text) && (e.What == "" || strings.HasPrefix(p.What, e.What))
}
