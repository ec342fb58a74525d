// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"strings"
)

// digestShown is how much of a digest the page prints; records have all of it.
const digestShown = 12

// short is the digest as it is printed.
func (r *Record) short() string {
	if r.Digest == "" {
		return "unknown"
	}
	return r.Digest[:min(len(r.Digest), digestShown)]
}

// Markdown is the page as a document. Plots are left to the HTML page.
func (p *Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", p.Title, strings.TrimSpace(p.Intro))
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		if s.Text != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(s.Text))
		}
		if len(s.Rows) > 0 {
			b.WriteString("\n| figure | paper | ours | from | |\n|---|---|---|---|---|\n")
		}
		for _, r := range s.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(r.What), cell(r.Paper), cell(r.Ours), strings.Join(r.From, ", "), cell(r.Note))
		}
		for _, r := range s.Rules {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\nInstead: %s\n\n", r.Name, strings.TrimSpace(r.Says), strings.TrimSpace(r.Instead))
			fmt.Fprintf(&b, "%s; it comes to a %s. Again: `incforge modelcheck --replay evidence/rules/%s`; found by `incforge modelcheck --bad %s`.\n\n```\n%s\n```\n",
				r.Model, r.Kind, r.File, r.Name, r.Chart)
		}
	}
	b.WriteString("\n## Where the figures come from\n\nEach record is a file in [evidence/results](../evidence/results).\n\n| record | command | date | of | digest |\n|---|---|---|---|---|\n")
	for _, r := range p.Sources() {
		note := ""
		if r.Copied != "" {
			note = "; " + cell(r.Copied)
		}
		fmt.Fprintf(&b, "| %s | `%s`%s | %s | %s | %s |\n", r.ID, r.Command, note, r.Date, r.Of, r.short())
	}
	return b.String()
}

// cell keeps a text in one cell of a table.
func cell(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "|", `\|`)), " ")
}
