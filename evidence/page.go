// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"incforge/internal/clocked"
	"incforge/modelcheck/scenario"
)

// Page is what the folder's page.yaml says: sections of tables, plots and rules. Texts and cells of ours have places for figures:
//
//	{RECORD.FIGURE}         the figure
//	{RECORD.FIGURE 1e6 2}   the figure over 1e6, with two digits after the point
//	{RECORD.FIGURE @OTHER}  cycles, and the time at the clock that record OTHER found
type Page struct {
	Title    string    `yaml:"title"`
	Intro    string    `yaml:"intro"`
	Sections []Section `yaml:"sections"`

	records map[string]*Record
	used    []string // records, in the order of the page
}

// Section has a table, plots and rules, each of them if it wants.
type Section struct {
	Title string  `yaml:"title"`
	Text  string  `yaml:"text"`
	Rows  []Row   `yaml:"rows"`
	Plots []Plot  `yaml:"plots"`
	Rules []*Rule `yaml:"rules"`
}

// Row is a figure of the paper's, or a claim, beside ours.
type Row struct {
	What  string `yaml:"what"`
	Paper string `yaml:"paper"`
	Ours  string `yaml:"ours"`
	// Note is why the two cannot be compared, or how they can.
	Note string `yaml:"note"`

	From []string `yaml:"-"` // records
}

// Rule is a published rule that fails.
type Rule struct {
	Name string `yaml:"name"`
	// Says is the rule as published and where; Instead what our engine does.
	Says    string `yaml:"says"`
	Instead string `yaml:"instead"`

	File, Model, Kind, Chart string `yaml:"-"`
}

// errPage means that page.yaml cannot be what is asked of it.
var errPage = errors.New("page")

// Build reads page.yaml, the records and the scenarios of a folder and fills all places.
func Build(dir string) (*Page, error) {
	file := filepath.Join(dir, "page.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	p := &Page{}
	if err := yaml.UnmarshalWithOptions(text, p, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if p.records, err = ReadRecords(filepath.Join(dir, "results")); err != nil {
		return nil, err
	}
	return p, p.fill(filepath.Join(dir, "rules"))
}

// fill puts figures into their places, and reports places without a figure and cells of ours with a figure without a place. Texts and notes may have
// figures that somebody typed.
func (p *Page) fill(rules string) error {
	var errs []error
	put := func(text *string, from *[]string) {
		filled, err := p.figures(*text, from)
		errs = append(errs, err)
		*text = filled
	}
	var none []string
	put(&p.Intro, &none)
	for i := range p.Sections {
		s := &p.Sections[i]
		put(&s.Text, &none)
		for j := range s.Rows {
			r := &s.Rows[j]
			errs = append(errs, typed(r.Ours))
			put(&r.Ours, &r.From)
			put(&r.Note, &none)
		}
		for j := range s.Plots {
			errs = append(errs, s.Plots[j].fill(p))
		}
		for _, r := range s.Rules {
			errs = append(errs, r.replay(rules))
		}
	}
	for id := range p.records {
		if !slices.Contains(p.used, id) {
			errs = append(errs, fmt.Errorf("%w: record %s stands nowhere on it", errPage, id))
		}
	}
	return errors.Join(errs...)
}

var (
	place  = regexp.MustCompile(`\{[^{}]*\}`)
	digits = regexp.MustCompile(`[0-9]`)
)

// typed is an error if a cell of ours has a digit that is in no place: somebody typed a figure.
func typed(cell string) error {
	if rest := place.ReplaceAllString(cell, ""); digits.MatchString(rest) {
		return fmt.Errorf("%q: a figure that no record has: %w", cell, ErrUnfounded)
	}
	return nil
}

// figures fills the places of a text, and notes the records.
func (p *Page) figures(text string, from *[]string) (string, error) {
	var errs []error
	filled := place.ReplaceAllStringFunc(text, func(found string) string {
		f, err := p.figure(strings.Trim(found, "{}"), from)
		errs = append(errs, err)
		return f
	})
	return filled, errors.Join(errs...)
}

// value is the figure RECORD.NAME.
func (p *Page) value(name string, from *[]string) (float64, *Record, error) {
	id, key, _ := strings.Cut(name, ".")
	r := p.records[id]
	if r == nil {
		return 0, nil, fmt.Errorf("{%s}: there is no record %s: %w", name, id, ErrUnfounded)
	}
	v, ok := r.Figures[key]
	if !ok {
		return 0, nil, fmt.Errorf("{%s}: record %s has no figure %s: %w", name, id, key, ErrUnfounded)
	}
	p.note(id, from)
	return v, r, nil
}

// note adds a record to those that a place and the page have figures from.
func (p *Page) note(id string, from *[]string) {
	for _, list := range []*[]string{from, &p.used} {
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
}

// figure prints what a place asks for.
func (p *Page) figure(text string, from *[]string) (string, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return "", fmt.Errorf("%w: an empty place", errPage)
	}
	v, _, err := p.value(fields[0], from)
	if err != nil {
		return "", err
	}
	if len(fields) == 2 && strings.HasPrefix(fields[1], "@") {
		clock := p.records[fields[1][1:]]
		if clock == nil {
			return "", fmt.Errorf("{%s}: no such record: %w", text, ErrUnfounded)
		}
		p.note(clock.ID, from)
		return clocked.Cycles(v, clock.clock()).String(), nil
	}
	over, after := 1.0, -1
	if len(fields) > 1 {
		if over, err = strconv.ParseFloat(fields[1], 64); err != nil || over == 0 {
			return "", fmt.Errorf("%w: {%s}: not a divisor", errPage, text)
		}
	}
	if len(fields) > 2 {
		if after, err = strconv.Atoi(fields[2]); err != nil {
			return "", fmt.Errorf("%w: {%s}: not a number of digits", errPage, text)
		}
	}
	return number3(v/over, after), nil
}

// number3 prints a figure with commas between thousands and, if nobody says how many, as many digits after the point as it has, three at most.
func number3(x float64, after int) string {
	s := strconv.FormatFloat(x, 'f', after, 64)
	if after < 0 {
		if _, fraction, _ := strings.Cut(s, "."); len(fraction) > 3 {
			s = strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', 3, 64), "0"), ".")
		}
	}
	whole, fraction, point := strings.Cut(s, ".")
	sign := ""
	if whole, sign = strings.TrimPrefix(whole, "-"), s[:len(s)-len(strings.TrimPrefix(s, "-"))]; len(whole) > 3 {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}

// replay runs a rule's scenario on the reference, which must come to what it says.
func (r *Rule) replay(dir string) error {
	r.File = r.Name + ".yaml"
	text, err := os.ReadFile(filepath.Join(dir, r.File))
	if err != nil {
		return fmt.Errorf("rule %s has no scenario: %w", r.Name, err)
	}
	t, err := scenario.ParseTrace(text)
	if err != nil {
		return fmt.Errorf("rule %s: %w", r.Name, err)
	}
	if !slices.Contains(t.Config.Bad, r.Name) {
		return fmt.Errorf("%w: rule %s: the scenario follows the rules %v", errPage, r.Name, t.Config.Bad)
	}
	var chart bytes.Buffer
	came, err := scenario.Replay(t, &chart)
	if err != nil {
		return fmt.Errorf("rule %s: %w", r.Name, err)
	}
	if !came {
		return fmt.Errorf("%w: rule %s: the scenario no longer comes to its %s", errPage, r.Name, t.Kind)
	}
	model, drawn, _ := strings.Cut(chart.String(), "\n\n")
	r.Model, r.Kind, r.Chart = model, t.Kind, strings.TrimRight(drawn, "\n")
	return nil
}

// Sources are the records that the page uses, in its order.
func (p *Page) Sources() []*Record {
	var all []*Record
	for _, id := range p.used {
		all = append(all, p.records[id])
	}
	return all
}
