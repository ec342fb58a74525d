// SPDX-License-Identifier: Apache-2.0

package endtoend

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Choose is the plusarg that selects fault i of a model, as the faults were given to Plant. Without it there is none.
func Choose(i int) string { return "fault=" + strconv.Itoa(i+1) }

// selector declares the number of the chosen fault in a module: it is read when a simulation begins, before the first clock.
const selector = `
    integer fault;
    initial if (!$value$plusargs("fault=%d", fault)) fault = 0;
`

// site is a change at its place: text[from:to] of its file.
type site struct {
	from, to, number int
	text             string
}

// Plant puts all faults into the generated folder. Every changed expression becomes a choice: the changed one if its fault is selected
// when the simulation begins (Choose), else the original.
func Plant(dir string, faults []Fault) error {
	byFile := map[string][]int{}
	for i, f := range faults {
		byFile[f.File] = append(byFile[f.File], i)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if err := edit(dir, file, func(text string) (string, error) {
			var sites []site
			for _, i := range byFile[file] {
				found, err := faults[i].find(text, i+1)
				if err != nil {
					return "", err
				}
				sites = append(sites, found...)
			}
			return plant(text, sites)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Replace changes the generated folder as the fault says, for good.
func (f *Fault) Replace(dir string) error {
	return edit(dir, f.File, func(text string) (string, error) {
		sites, err := f.find(text, 0)
		if err != nil {
			return "", err
		}
		slices.SortFunc(sites, func(a, b site) int { return cmp.Compare(b.from, a.from) })
		for _, s := range sites { // from the end, so that places stay what they are
			text = text[:s.from] + s.text + text[s.to:]
		}
		return text, nil
	})
}

// edit changes a file of the generated folder.
func edit(dir, file string, change func(text string) (string, error)) error {
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	changed, err := change(string(text))
	if err != nil {
		return fmt.Errorf("plant: %s: %w", file, err)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	return nil
}

// find returns where the fault changes the text. Each change must fit one place.
func (f *Fault) find(text string, number int) ([]site, error) {
	var sites []site
	for _, c := range f.changes() {
		at, old := loose(c.At), loose(c.Old)
		if at != "" {
			at += `\s*`
		}
		found := regexp.MustCompile(at+"("+old+")").FindAllStringSubmatchIndex(text, -1)
		if len(found) != 1 {
			return nil, fmt.Errorf("%q: the text to change stands there %d times, must be once: %s %s", f.Name, len(found), c.At, c.Old)
		}
		sites = append(sites, site{from: found[0][2], to: found[0][3], number: number, text: c.New})
	}
	return sites, nil
}

// loose is an expression for the text with any white space between its words.
func loose(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `\s+`)
}

// header is the end of a module's header, in a line that begins with it.
const header = "\n);"

// plant declares the selector and makes every site a choice.
func plant(text string, sites []site) (string, error) {
	if n := strings.Count(text, header); n != 1 {
		return "", fmt.Errorf("must hold one module, holds %d", n)
	}
	body := strings.Index(text, header) + len(header)
	body += strings.Index(text[body:], "\n") + 1
	// A site around another comes first; sites of the same expression stay together, in the order of their faults.
	slices.SortStableFunc(sites, func(a, b site) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	planted, err := choices(text, body, len(text), sites)
	if err != nil {
		return "", err
	}
	return text[:body] + selector + planted, nil
}

// choices returns text[from:to] with the sites in it, which are sorted, made choices.
func choices(text string, from, to int, sites []site) (string, error) {
	var b strings.Builder
	for len(sites) > 0 {
		first := sites[0]
		same := 1
		for same < len(sites) && sites[same].from == first.from && sites[same].to == first.to {
			same++
		}
		inner := same
		for inner < len(sites) && sites[inner].from < first.to {
			inner++
		}
		if first.from < from || first.to > to {
			return "", fmt.Errorf("faults overlap without one being in the other: %s", text[first.from:first.to])
		}
		if rest := strings.TrimLeft(text[first.to:], " \n"); strings.HasPrefix(rest, "?") && chooses(text[first.from:first.to]) {
			return "", fmt.Errorf("parentheses round %q would change what it means before %.20q: take the whole expression", text[first.from:first.to], rest)
		}
		original, err := choices(text, first.from, first.to, sites[same:inner])
		if err != nil {
			return "", err
		}
		b.WriteString(text[from:first.from] + "(")
		for _, s := range sites[:same] {
			fmt.Fprintf(&b, "fault == %d ? (%s) : ", s.number, s.text)
		}
		b.WriteString("(" + original + "))")
		from, sites = first.to, sites[inner:]
	}
	b.WriteString(text[from:to])
	return b.String(), nil
}

// chooses says whether an expression is a ?: outside its parentheses and braces.
func chooses(expression string) bool {
	depth := 0
	for _, c := range expression {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == '?' && depth == 0:
			return true
		}
	}
	return false
}
