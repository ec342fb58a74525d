// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"incforge/internal/clocked"
)

// Record is what one command found.
type Record struct {
	ID      string `yaml:"-"`
	Command string `yaml:"command"`
	// Date is that of the run, as 2026-11-23.
	Date string `yaml:"date"`
	// Digest is that of the design that was measured, from its manifest; of sources, where there is no design; Of says of what. A record that was
	// copied has none: nobody wrote it down.
	Digest string `yaml:"digest,omitempty"`
	Of     string `yaml:"of"`
	// Copied says why the figures were not taken from the command's JSON but from docs/synthesis.md, if they were.
	Copied string `yaml:"copied,omitempty"`
	// Clock is the one that a flow found.
	Clock *Clock `yaml:"clock,omitempty"`
	// Figures by name.
	Figures map[string]float64 `yaml:"figures"`
}

// Clock is a clocked.Clock in a file.
type Clock struct {
	Asked float64 `yaml:"asked_mhz"`
	Found float64 `yaml:"found_mhz"`
	By    string  `yaml:"by"`
}

// ErrUnfounded means that a figure has no command, date or digest behind it.
var ErrUnfounded = errors.New("no figure without a command")

// copiedFrom is where alone a record may have been copied from.
const copiedFrom = "by hand from docs/synthesis.md"

// check says what a record lacks.
func (r *Record) check() error {
	var errs []error
	need := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("record %s: %s: %w", r.ID, what, ErrUnfounded))
		}
	}
	need(strings.HasPrefix(r.Command, "incforge ") || strings.HasPrefix(r.Command, "make "), "the command is missing, or nobody can run it")
	need(regexp.MustCompile(`^20\d\d-\d\d-\d\d$`).MatchString(r.Date), "the date is missing")
	if r.Copied == "" {
		need(regexp.MustCompile(`^[0-9a-f]{12,64}$`).MatchString(r.Digest), "the digest is missing")
	} else {
		need(strings.HasPrefix(r.Copied, copiedFrom), "it does not say that it was copied "+copiedFrom)
		need(r.Digest == "", "a digest that the run did not leave")
	}
	need(r.Of != "", "it does not say of what the digest is")
	need(len(r.Figures) > 0, "there is no figure in it")
	return errors.Join(errs...)
}

// clock is the record's clock; none was found if it has none.
func (r *Record) clock() clocked.Clock {
	if r.Clock == nil {
		return clocked.Clock{}
	}
	return clocked.Clock{AskedMHz: r.Clock.Asked, FoundMHz: r.Clock.Found, By: r.Clock.By}
}

// YAML is the record as a file has it.
func (r *Record) YAML() ([]byte, error) {
	text, err := yaml.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", r.ID, err)
	}
	return text, nil
}

// ReadRecords reads all records of a folder, by their names, which are those of the files.
func ReadRecords(dir string) (map[string]*Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	slices.Sort(files)
	all := map[string]*Record{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("evidence: %w", err)
		}
		r := &Record{ID: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		if err := yaml.UnmarshalWithOptions(text, r, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[r.ID] = r
	}
	return all, nil
}
