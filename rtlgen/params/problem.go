// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"strings"

	"incforge/internal/yamlpos"
)

// Pos is a place in a parameter file. Line and Column count from 1; 0 means that only File is known. File is empty for values
// that came from no file, and the whole argument for one that came from --set.
type Pos = yamlpos.Pos

// Problem is one refused thing.
type Problem struct {
	Pos Pos
	// Key is the parameter, or what was written in place of one. Empty if the text is no YAML at all.
	Key string
	// Value is the refused value as YAML; empty if there is none.
	Value string
	// Allowed says what would be accepted, to be read after "must be". Empty if the value is not the trouble.
	Allowed string
	// Reason says why, or what is wrong.
	Reason string
	// Hint is a word that may have been meant.
	Hint string
	// Source is the offending line of the file, without its line end.
	Source string
}

// Error returns the problem in one line: place, key, value, allowed, reason, hint.
func (p Problem) Error() string {
	var parts []string
	for _, s := range []string{p.Pos.String(), p.Key, p.Value} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if p.Allowed != "" {
		parts = append(parts, "must be "+p.Allowed)
	}
	if p.Reason != "" {
		parts = append(parts, p.Reason)
	}
	s := strings.Join(parts, ": ")
	if p.Hint != "" {
		s += fmt.Sprintf("; did you mean %q?", p.Hint)
	}
	return s
}

// Text returns Error and, below it, the offending line with a mark under the column, if the place is known.
func (p Problem) Text() string {
	if p.Pos.Line == 0 || p.Source == "" {
		return p.Error()
	}
	num := fmt.Sprintf("%5d", p.Pos.Line)
	var pad strings.Builder
	for i, r := range []rune(p.Source) {
		if i >= p.Pos.Column-1 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		pad.WriteRune(r)
	}
	return fmt.Sprintf("%s\n%s | %s\n%s | %s^", p.Error(), num, p.Source, strings.Repeat(" ", len(num)), pad.String())
}

// Problems is everything wrong with a parameter set, in the order of the file. It is the error that Load, Parse, Preset,
// ApplySet and Validate return for illegal input; errors.As finds it.
type Problems []Problem

// Error returns every problem's Text, one after another.
func (p Problems) Error() string {
	s := make([]string, len(p))
	for i := range p {
		s[i] = p[i].Text()
	}
	return strings.Join(s, "\n")
}

// err turns an empty list into nil.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// nearest returns the candidate closest to word, or "" if none is close: at most a third of the letters may differ.
func nearest(word string, candidates []string) string {
	best, bestD := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestD || d == bestD && best == "" {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diag+cost)
			diag, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
