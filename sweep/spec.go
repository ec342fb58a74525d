// SPDX-License-Identifier: Apache-2.0

// Package sweep prices many configurations: every combination of a few parameters' values. Some of them the tools run on, the others are
// estimated: memories by the model that synthesis itself uses, the cells block by block, by laws found in the points that were run.
package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"incforge/fpga"
	"incforge/sweep/front"
)

// Spec is what a user asks for.
type Spec struct {
	// Base is the preset or parameter file that every point begins with.
	Base string
	Axes []Axis
	// Set holds for all points.
	Set []string
	// Tech and Corner are those of synth; Family, if not empty, is the FPGA family to count for. Latency also simulates.
	Tech, Corner string
	Family       fpga.Family
	Latency      bool
	// Front are the figures between which a user must choose.
	Front []string
}

// Axis is a parameter, or several that change together, and its values.
type Axis struct {
	Name   string
	Values []Choice
}

// Choice is a value on an axis: its name, and the parameters that it sets, as --set takes them.
type Choice struct {
	Name string
	Set  []string
}

// document is the YAML of a Spec.
type document struct {
	Base       string        `yaml:"base"`
	Set        yaml.MapSlice `yaml:"set"`
	Parameters yaml.MapSlice `yaml:"parameters"`
	Tech       string        `yaml:"tech"`
	Corner     string        `yaml:"corner"`
	FPGA       string        `yaml:"fpga"`
	Latency    bool          `yaml:"latency"`
	Front      []string      `yaml:"front"`
}

// maxPoints bounds what a slip of the pen asks for.
const maxPoints = 100_000

// Parse reads a Spec from YAML. Unknown keys are errors.
func Parse(text []byte) (Spec, error) {
	var d document
	if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict(), yaml.UseOrderedMap()); err != nil {
		return Spec{}, fmt.Errorf("sweep: %w", err)
	}
	s := Spec{Base: d.Base, Tech: d.Tech, Corner: d.Corner, Family: fpga.Family(d.FPGA), Latency: d.Latency, Front: d.Front}
	switch {
	case s.Base == "":
		return s, errors.New("sweep: base is missing: the preset or parameter file to begin with")
	case len(d.Parameters) == 0:
		return s, errors.New("sweep: parameters is missing: lists or ranges of values by parameter")
	case s.Family != "" && !slices.Contains(fpga.Families(), s.Family):
		return s, fmt.Errorf("sweep: fpga: %s: must be one of %v", s.Family, fpga.Families())
	}
	if len(s.Front) == 0 {
		s.Front = []string{front.Raw, front.Gbps}
	}
	for _, key := range s.Front {
		if _, ok := front.Find(key); !ok {
			return s, fmt.Errorf("sweep: front: there is no figure %q", key)
		}
	}
	for _, kv := range d.Set {
		set, err := setting(kv)
		if err != nil {
			return s, err
		}
		s.Set = append(s.Set, set)
	}
	points := 1
	for _, kv := range d.Parameters {
		a, err := axis(fmt.Sprint(kv.Key), kv.Value)
		if err != nil {
			return s, err
		}
		s.Axes = append(s.Axes, a)
		if points *= len(a.Values); points > maxPoints {
			return s, fmt.Errorf("sweep: more than %d points", maxPoints)
		}
	}
	return s, nil
}

// axis reads a list of values, or a range.
func axis(name string, value any) (Axis, error) {
	a := Axis{Name: name}
	values, ok := value.([]any)
	if r, isRange := value.(yaml.MapSlice); isRange {
		var err error
		if values, err = span(name, r); err != nil {
			return a, err
		}
		ok = true
	}
	if !ok || len(values) == 0 {
		return a, fmt.Errorf("sweep: %s: must be a list of values, or a range {from: 16, to: 512, times: 2} or {from: 100, to: 400, step: 100}", name)
	}
	for _, v := range values {
		c := Choice{Name: scalar(v)}
		if several, is := v.(yaml.MapSlice); is { // parameters that change together
			var names []string
			for _, kv := range several {
				set, err := setting(kv)
				if err != nil {
					return a, err
				}
				c.Set = append(c.Set, set)
				names = append(names, scalar(kv.Value))
			}
			c.Name = strings.Join(names, "/")
		} else {
			set, err := setting(yaml.MapItem{Key: name, Value: v})
			if err != nil {
				return a, err
			}
			c.Set = []string{set}
		}
		if slices.ContainsFunc(a.Values, func(o Choice) bool { return slices.Equal(o.Set, c.Set) }) {
			return a, fmt.Errorf("sweep: %s: %s stands there twice", name, c.Name)
		}
		a.Values = append(a.Values, c)
	}
	return a, nil
}

// span makes the values of a range.
func span(name string, r yaml.MapSlice) ([]any, error) {
	numbers := map[string]int{}
	for _, kv := range r {
		n, err := strconv.Atoi(fmt.Sprint(kv.Value))
		if key := fmt.Sprint(kv.Key); err != nil || !slices.Contains([]string{"from", "to", "times", "step"}, key) {
			return nil, fmt.Errorf("sweep: %s: %v: %v: a range has whole numbers from, to, and times or step", name, kv.Key, kv.Value)
		}
		numbers[fmt.Sprint(kv.Key)] = n
	}
	from, to, times, step := numbers["from"], numbers["to"], numbers["times"], numbers["step"]
	if from < 1 || to < from || (times > 1) == (step > 0) || len(numbers) != 3 {
		return nil, fmt.Errorf("sweep: %s: a range has from, to, and either times, at least 2, or step, at least 1", name)
	}
	var all []any
	for v := from; v <= to && len(all) <= maxPoints; v = v*max(times, 1) + step {
		all = append(all, v)
	}
	return all, nil
}

// setting is a parameter as --set takes it.
func setting(kv yaml.MapItem) (string, error) {
	if _, is := kv.Value.(yaml.MapSlice); is || kv.Value == nil {
		return "", fmt.Errorf("sweep: %v: %v is no value of a parameter", kv.Key, kv.Value)
	}
	return fmt.Sprintf("%v=%s", kv.Key, scalar(kv.Value)), nil
}

// scalar prints a value as YAML would have it.
func scalar(v any) string {
	list, is := v.([]any)
	if !is {
		return fmt.Sprint(v)
	}
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprint(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Points are all combinations, the last axis changing fastest.
func (s *Spec) Points() []Point {
	all := []Point{{Set: slices.Clone(s.Set)}}
	for _, a := range s.Axes {
		var next []Point
		for _, p := range all {
			for i, c := range a.Values {
				next = append(next, Point{At: append(slices.Clone(p.At), i), Set: append(slices.Clone(p.Set), c.Set...)})
			}
		}
		all = next
	}
	return all
}
