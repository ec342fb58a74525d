// SPDX-License-Identifier: Apache-2.0

package clocked

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

var (
	// quantity is a time or a rate. Microseconds are left out: timers and time-outs are set in them.
	quantity = regexp.MustCompile(`[0-9] ?(?:ns|ps|[kMGT]i?b/s|[kMGT]i?bit/s|[kMGT]bps)(?:[^[:alnum:]]|$)`)
	// excused is what makes one legitimate in the same sentence: the clock that holds, or what is no figure of the engine at a clock.
	excused = []struct{ why, sign string }{
		{"the clock that holds stands beside it", `[0-9] ?MHz found`},
		{"the paper's", `(?i)\bpaper`},
		{"what a flow found is a period itself", `(?i)period found`},
		{"a time of the host's", `(?i)host's processor`},
	}
)

// elsewhere are documents whose times and rates are none of an engine's.
var elsewhere = map[string]string{"docs/lab.md": "real time of hosts, whose switch is simulated: no clock of the engine's is in it"}

// unclocked returns the sentences with a time or a rate that nothing excuses.
func unclocked(text string) []string {
	var bad []string
	for _, block := range regexp.MustCompile(`\n\s*\n|\n\s*[-*#|]`).Split(text, -1) {
		block = strings.Join(strings.Fields(block), " ")
		for _, sentence := range regexp.MustCompile(`[.;:] `).Split(block, -1) {
			if !quantity.MatchString(sentence) {
				continue
			}
			if !slices.ContainsFunc(excused, func(e struct{ why, sign string }) bool { return regexp.MustCompile(e.sign).MatchString(sentence) }) {
				bad = append(bad, sentence)
			}
		}
	}
	return bad
}

// No document and no preset prints a time or a rate of ours but at a clock that a flow found.
func TestDocuments(t *testing.T) {
	seen := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name() == "build" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(path)
		if ext != ".md" && ext != ".svg" && (ext != ".yaml" || filepath.Base(filepath.Dir(path)) != "configs") {
			return nil
		}
		if rel, err := filepath.Rel(root, path); err != nil || elsewhere[filepath.ToSlash(rel)] != "" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen[ext]++
		assert.Empty(t, unclocked(string(text)), "%s: give the clock that a flow found beside it (\"… ns at 243 MHz found, 250 asked\"), or the cycles alone", path)
		return nil
	}))
	assert.Greater(t, seen[".md"], 20)
	assert.Greater(t, seen[".yaml"], 10)
	assert.Greater(t, seen[".svg"], 1)
}

// The test above finds what it is to find.
func TestUnclocked(t *testing.T) {
	for text, bad := range map[string]int{
		"takes 18 cycles, 18 ns, and then":                             1,
		"# 1024 bytes at 1 GHz are 8 Tb/s.":                            1,
		"64 bytes at 250 MHz are 128 Gb/s":                             1,
		"18 cycles, 61 ns at 297 MHz found, 1000 asked !":              0,
		"the paper's 244 ns":                                           0,
		"The paper has 244 ns. Ours are 92 ns.":                        1,
		"| result | 92 ns |\n| paper | 244 ns |":                       1,
		"20 ns late; 25 cycles":                                        1,
		"25 cycles at 512 bits a cycle, 4 slots, 3 runs, 8 bits/cycle": 0,
	} {
		assert.Len(t, unclocked(text), bad, text)
	}
}

// Programs print times and rates by way of Figure: a format that ends in such a unit needs a reason.
func TestFormats(t *testing.T) {
	format := regexp.MustCompile(`%[-+ .0-9*\[\]]*[a-z] ?(?:ns|[kMGT]i?b/s|[kMGT]i?bit/s|[kMGT]bps)(?:[^[:alnum:]]|$)`)
	reasons := map[string]string{ // by folder
		"sim":   "a test's own timer",
		"synth": "delays that timing analysis found, from which the found clock comes",

		"synth/openroad":    "slacks, with the clock found beside them",
		"control/placement": "widths of links, which the network's file states",
		"control/manager":   "widths of links that a request asks for",
		"flows":             "widths of links and times of collectives between hosts, of no engine's cycles",
		"flows/paper":       "as flows, beside the paper's",
	}
	seen := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (d.Name() == "build" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && format.MatchString(l.Value) {
				seen++
				assert.Contains(t, reasons, filepath.Dir(rel), "%s: %s prints a time or a rate: use clocked.Figure, or give the reason here", rel, l.Value)
			}
			return true
		})
		return nil
	}))
	assert.Positive(t, seen, "the test finds formats")
}
