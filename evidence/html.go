// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

//go:embed page.tmpl
var pageText string

// WriteHTML draws the page as one file that needs nothing else.
func (p *Page) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"short": (*Record).short,
		"rich":  rich,
		"plot": func(g Plot) (template.URL, error) {
			svg, err := g.SVG()
			// As an image a drawing can load and run nothing.
			return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)), err
		},
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}

var (
	code = regexp.MustCompile("`([^`]+)`")
	link = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
)

// rich is a text with the little of Markdown that page.yaml uses: code, links (of which the words stay: the page may stand anywhere), and
// empty lines between paragraphs.
func rich(text string) template.HTML {
	var b strings.Builder
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		s := template.HTMLEscapeString(paragraph)
		s = link.ReplaceAllString(s, "$1")
		b.WriteString("<p>" + code.ReplaceAllString(s, "<code>$1</code>") + "</p>")
	}
	return template.HTML(b.String())
}
