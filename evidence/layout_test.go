// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	phoneText = 343 // pixels for text and plots on a phone of 375
	legible   = 9   // pixels of the smallest letters
)

// numbers are what the expression's group finds.
func numbers(t *testing.T, expression, text string) []float64 {
	t.Helper()
	var all []float64
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		all = append(all, x)
	}
	return all
}

// A phone shows a plot as wide as its text, with letters that can be read.
func TestPlotsOnAPhone(t *testing.T) {
	p, err := Build(".")
	require.NoError(t, err)
	plots := 0
	for _, s := range p.Sections {
		for _, g := range s.Plots {
			plots++
			svg, err := g.SVG()
			require.NoError(t, err)
			width := numbers(t, `viewBox="0 0 ([0-9.]+) `, string(svg))
			require.Len(t, width, 1, g.Title)
			sizes := numbers(t, `font-size:([0-9.]+)px`, string(svg))
			assert.Greater(t, len(sizes), len(g.Ticks)+len(g.Series), g.Title)
			for _, size := range sizes {
				assert.GreaterOrEqual(t, size*phoneText/width[0], float64(legible), g.Title)
			}
		}
	}
	assert.Greater(t, plots, 3)
}

// Names of places never run into each other: they take a second line, or are turned.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		names, want []string
		turned      bool
	}{
		{[]string{"0", "0.01 %", "0.1 %", "0.3 %", "1 %"}, []string{"0", "0.01 %", "0.1 %", "0.3 %", "1 %"}, false},
		{[]string{"first beat to first beat", "bypass", "aggregator alone"}, []string{"first beat to\nfirst beat", "bypass", "aggregator\nalone"}, false},
		{[]string{"II Reduce", "a", "b", "c", "d", "III Broadcast"}, []string{"II Reduce", "a", "b", "c", "d", "III Broadcast"}, true},
	} {
		names, turned := (&Plot{Ticks: c.names}).ticks()
		assert.Equal(t, c.want, names)
		assert.Equal(t, c.turned, turned)
	}
}

// Nothing on the page asks for more than a phone's width, but in a box that scrolls by itself.
func TestNoFixedWidths(t *testing.T) {
	p, err := Build(".")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.WriteHTML(&b))
	style, body, found := strings.Cut(b.String(), "</style>")
	require.True(t, found)
	rules := 0
	for _, rule := range regexp.MustCompile(`[^{}]*\{[^{}]*\}`).FindAllString(style, -1) {
		rules++
		if strings.Contains(rule, "overflow-x: auto") {
			continue
		}
		assert.NotContains(t, rule, "nowrap")
		for unit, pixels := range map[string]float64{"px": 1, "rem": 16, "em": 16, "ch": 10} {
			for _, width := range numbers(t, `[;{ ](?:min-)?width: ?([0-9.]+)`+unit+`\b`, rule) {
				assert.LessOrEqual(t, width*pixels, float64(phoneText), rule)
			}
		}
	}
	assert.Greater(t, rules, 10)
	assert.NotRegexp(t, `(?i)<[a-z]+ [^>]*\b(width|style)=`, body, "sizes are in the style alone")
	assert.Equal(t, strings.Count(body, "<pre"), strings.Count(body, "</pre>"))
}

// TestBrowser lays the page out in Chromium, on a laptop and on a phone: it never scrolls sideways, and plots have the width that TestPlotsOnAPhone counts on.
// A window narrower than 500 pixels is nothing that Chromium opens, so the page stands in frames of these sizes.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed, and nothing else lays the page out: apt-get install chromium")
	}
	p, err := Build(".")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.WriteHTML(&b))
	dir := t.TempDir()
	frame := func(width, height int) string {
		return fmt.Sprintf(`<iframe width="%d" height="%d" style="border:0" srcdoc="%s"></iframe>`, width, height, html.EscapeString(b.String()))
	}
	page := filepath.Join(dir, "frames.html")
	require.NoError(t, os.WriteFile(page, []byte(frame(1366, 768)+frame(375, 812)+`<script>
onload = () => document.body.textContent = [...document.querySelectorAll("iframe")].map(f => {
  const d = f.contentDocument.documentElement
  return ["SIZES", f.contentWindow.innerWidth, d.scrollWidth, Math.min(...[...d.querySelectorAll("img")].map(i => i.clientWidth))].join(" ")
}).join("\n")
</script>`), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--window-size=1800,1700", "--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+page)
	cmd.Stderr, cmd.WaitDelay = &said, 5*time.Second
	dom, err := cmd.Output()
	require.NoError(t, err, said.String())
	sizes := regexp.MustCompile(`SIZES (\d+) (\d+) (\d+)`).FindAllStringSubmatch(string(dom), -1)
	require.Len(t, sizes, 2, string(dom[:min(len(dom), 500)]))
	for i, inner := range []int{1366, 375} {
		var got [3]int
		for j := range got {
			got[j], err = strconv.Atoi(sizes[i][j+1])
			require.NoError(t, err)
		}
		assert.Equal(t, inner, got[0])
		assert.LessOrEqual(t, got[1], inner, "the page scrolls sideways")
		assert.GreaterOrEqual(t, got[2]+2, phoneText, "the smallest plot with its borders")
	}
}
