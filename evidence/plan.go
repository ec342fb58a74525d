// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Run is a command whose JSON becomes a record.
type Run struct {
	ID string `yaml:"id"`
	// Command is what is run, without the flag that names the JSON file.
	Command string `yaml:"command"`
	// JSON is a file that the command writes by itself; otherwise it is run with --json.
	JSON string `yaml:"json,omitempty"`
	// Sources are folders of Go packages that make the figures, for commands that have no design.
	Sources []string `yaml:"sources,omitempty"`
	// Take are the figures, by their names in the record: where they are in the JSON.
	Take map[string]string `yaml:"take"`
}

// ReadPlan reads the list of runs.
func ReadPlan(file string) ([]Run, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	var all []Run
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

// Record makes the record of a run from the JSON that it wrote. Root is the folder of the sources.
func (run *Run) Record(text []byte, date, root string) (*Record, error) {
	docs, err := documents(text)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run.ID, err)
	}
	r := &Record{ID: run.ID, Command: run.Command, Date: date, Figures: map[string]float64{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(run.Take)) {
		v, err := number(docs, run.Take[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("run %s, %s: %w", run.ID, name, err))
			continue
		}
		r.Figures[name] = v
	}
	if len(run.Sources) > 0 {
		r.Of = strings.Join(run.Sources, ", ") + " and what they import"
		r.Digest, err = digestOf(root, run.Sources)
		errs = append(errs, err)
	} else {
		digest, _ := find(docs, "digest").(string)
		config, _ := find(docs, "config").(string)
		r.Digest, r.Of = digest, config
		if name, ok := find(docs, "name").(string); ok && config == "" { // a manifest
			r.Of = name
		}
	}
	if by, ok := find(docs, "clock.by").(string); ok {
		asked, errA := number(docs, "clock.asked_mhz")
		found, errF := number(docs, "clock.found_mhz")
		if errA == nil && errF == nil {
			r.Clock = &Clock{asked, found, by}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, r.check()
}

// documents are all JSON values of a text.
func documents(text []byte) (all []any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, v)
	}
}

// errNoFigure means that a path leads nowhere.
var errNoFigure = errors.New("no such figure")

// number is the figure at a path. "count:PATH" is the number of elements of the list at PATH, "sum:PATH a*b" the sum of the products of fields of its
// elements.
func number(docs []any, path string) (float64, error) {
	if rest, ok := strings.CutPrefix(path, "count:"); ok {
		list, ok := find(docs, rest).([]any)
		if !ok {
			return 0, fmt.Errorf("%s: %w", path, errNoFigure)
		}
		return float64(len(list)), nil
	}
	if rest, ok := strings.CutPrefix(path, "sum:"); ok {
		return sum(docs, rest)
	}
	switch v := find(docs, path).(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("%s: %w", path, errNoFigure)
}

// sum is that of "PATH a*b".
func sum(docs []any, text string) (total float64, err error) {
	path, product, _ := strings.Cut(text, " ")
	list, ok := find(docs, path).([]any)
	if !ok {
		return 0, fmt.Errorf("%s: %w", path, errNoFigure)
	}
	for _, element := range list {
		value := 1.0
		for _, field := range strings.Split(product, "*") {
			v, err := number([]any{element}, field)
			if err != nil {
				return 0, err
			}
			value *= v
		}
		total += value
	}
	return total, nil
}

// find is the value at a path, nil if there is none: keys with dots between them. A key may be followed by [field=value,...], the elements
// of a list that have these values: the first, if the path goes on or the list is asked for by [field=value,...] alone; all of them with a
// star in front: [*field=value]. A number in brackets is the element at that place, from 0.
func find(docs []any, path string) any {
	for _, d := range docs {
		if v := follow(d, steps(path)); v != nil {
			return v
		}
	}
	return nil
}

// steps cuts a path at its dots, but for those in brackets.
func steps(path string) (all []string) {
	depth, begin := 0, 0
	for i, c := range path {
		switch c {
		case '[':
			if depth == 0 && i > begin {
				all = append(all, path[begin:i])
				begin = i
			}
			depth++
		case ']':
			depth--
		case '.':
			if depth == 0 {
				if i > begin {
					all = append(all, path[begin:i])
				}
				begin = i + 1
			}
		}
	}
	if begin < len(path) {
		all = append(all, path[begin:])
	}
	return all
}

// follow goes from a value.
func follow(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	if inner, ok := strings.CutPrefix(path[0], "["); ok {
		list, ok := v.([]any)
		if !ok {
			return nil
		}
		inner = strings.TrimSuffix(inner, "]")
		if at, err := strconv.ParseUint(inner, 10, 31); err == nil {
			if int(at) >= len(list) {
				return nil
			}
			return follow(list[at], path[1:])
		}
		inner, every := strings.CutPrefix(inner, "*")
		matching := []any{}
		for _, element := range list {
			if fits(element, inner) {
				matching = append(matching, element)
			}
		}
		switch {
		case every:
			return follow(any(matching), path[1:])
		case len(matching) == 0:
			return nil
		}
		return follow(matching[0], path[1:])
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return follow(m[path[0]], path[1:])
}

// fits tells whether an element has all the values of "field=value,...", and others than those of "field!=value". A field that is not there is empty.
func fits(element any, wanted string) bool {
	for _, w := range strings.Split(wanted, ",") {
		field, value, _ := strings.Cut(w, "=")
		field, other := strings.CutSuffix(field, "!")
		var text string
		switch v := follow(element, strings.Split(field, ".")).(type) {
		case string:
			text = v
		case float64:
			text = strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			text = strconv.FormatBool(v)
		}
		if (text == value) == other {
			return false
		}
	}
	return true
}
