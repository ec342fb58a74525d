// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const lossText = `{"bench":"loss","config":"mini","dut":"reference","metrics":{"link_percent":98,"engine_percent":102.4,"packet_cycles":83.6,
"round_trip_cycles":500,"gobackn_packets":8.1,"seeds":5,"packets":4096,"bus_bytes":512},
"variants":[{"name":"nak","doc":"with <NAKs>"},{"name":"all","doc":"everything"}],"loss":[
{"sweep":"rate","variant":"nak","rate":0,"links":1,"percent":96,"bound":96,"paper":94.8},
{"sweep":"rate","variant":"nak","rate":0.01,"links":1,"percent":72,"deviation":2,"bound":88,"paper":56.6,"lost":40,"resent":300,"timeouts":0.5},
{"sweep":"rate","variant":"all","rate":0,"links":1,"percent":96,"paper":94.8},
{"sweep":"links","variant":"nak","rate":0.001,"links":0,"percent":96,"bound":96,"paper":94.8}]}`

func TestLoss(t *testing.T) {
	t.Parallel()
	l, err := ParseLoss([]byte(lossText))
	require.NoError(t, err)
	table := l.Table()
	for _, want := range []string{`nak \(with <NAKs>\)`, `1 % .* 1 .* 72 .* 0\.7500 .* 2 .* 88 .* 56\.6 .* 0\.5970 .* 40 .* 300 .* 0\.5`, `0\.1 % .* 0 .* 96`,
		`the engine's one stream 102\.4 % a rank`} {
		assert.Regexp(t, want, table)
	}
	svg := l.SVG()
	assert.Equal(t, svg, l.SVG(), "the same bytes")
	d := xml.NewDecoder(bytes.NewReader(svg))
	points := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
			points++
		}
	}
	assert.Equal(t, len(l.Points), points)
	// The lower of two points is at three quarters of the scale, which goes to 1.05: 260·(1 − 0.75/1.05).
	assert.Contains(t, string(svg), `<circle cx="400.0" cy="74.3" r="3" fill="#1f6feb"><title>nak, 1 % on 1 links: 72 % ± 2</title>`)
	assert.Contains(t, string(svg), "with &lt;NAKs&gt;")

	_, err = ParseLoss([]byte(`{"loss":7}`))
	require.ErrorContains(t, err, "loss: ")
}

// A benchmark's file is a table and a drawing of the report.
func TestLossInReport(t *testing.T) {
	t.Parallel()
	r, err := Read(folder(t, map[string]string{"loss.json": lossText}))
	require.NoError(t, err)
	require.Len(t, r.Designs, 1)
	var page bytes.Buffer
	require.NoError(t, r.WriteHTML(&page))
	assert.Contains(t, page.String(), "loss, reference, bus of 512 bytes")
	assert.Contains(t, page.String(), "<code>gobackn_packets</code>")
}

// TestLossOfAllModes: each mode has its bound and, if it is one of the paper's, its curve, and all variants stand beside each other.
func TestLossOfAllModes(t *testing.T) {
	l, err := ParseLoss([]byte(`{"bench":"loss","config":"mini","metrics":{"pipes_all_of_mode2":1.25,"pipes_all_of_bound":0.97,"pipes_all_drop":0.0071},
"variants":[{"name":"nak","doc":"a","mode":2},{"name":"pipes","doc":"b","mode":3},{"name":"pipes-all","doc":"c","mode":3},{"name":"messages","doc":"d","mode":1}],"loss":[
{"sweep":"rate","variant":"messages","rate":0.01,"links":1,"percent":91,"bound":92},
{"sweep":"rate","variant":"nak","rate":0.01,"links":1,"percent":61,"bound":62,"paper":63},
{"sweep":"rate","variant":"pipes","rate":0.01,"links":1,"percent":71,"bound":72,"paper":73},
{"sweep":"rate","variant":"pipes-all","rate":0.01,"links":1,"percent":81,"bound":82,"paper":83,"retransmitted":17}]}`))
	require.NoError(t, err)
	table := l.Table()
	assert.Regexp(t, `1 % +│ +1 +│ 61 +│ 71 +│ 81 +│ 91 +│ 62 +│ 63 +│ 72 +│ 73 +│ 92`, table)
	assert.Contains(t, table, "pipes-all: at least 0.9700 of the bound, at least 1.250 of Mode II, 0.71 % less with 0.1 % on one link")
	assert.Contains(t, table, "17")
	svg := string(l.SVG())
	assert.NotContains(t, svg, "paper, Mode I,")
	for _, s := range []string{"bound of go-back-N for nak", "bound of go-back-N for messages", "bound of go-back-N for pipes<", "paper, Mode II,", "paper, Mode III,"} {
		assert.Contains(t, svg, s)
	}
	assert.NotContains(t, svg, "bound of go-back-N for pipes-all")
}
