// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sweep/front"
)

// A sweep is drawn whether or not there are designs beside it; a missed clock is red.
func TestSweep(t *testing.T) {
	point := func(at string, full bool, area, gbps, mhz float64) front.Point {
		return front.Point{At: []string{at}, Full: full, AskedMHz: 250, Values: map[string]front.Value{front.Raw: {V: area, Low: area, High: area},
			front.Gbps: {V: gbps, Low: gbps, High: gbps}, front.Found: {V: mhz, Low: mhz, High: mhz}}}
	}
	s := front.Sweep{Bench: front.Bench, Config: "mini", Tech: "generic28", Front: []string{front.Raw, front.Gbps},
		Axes:   []front.Axis{{Name: "lanes", Values: []string{"2", "4", "8"}}},
		Points: []front.Point{point("2", true, 0.2, 16, 300), point("4", false, 0.3, 25, 199.5), {At: []string{"8"}, Why: "more would stand <idle>"}},
		Errors: []front.Error{{Key: front.Raw, Points: 12, RMS: 0.04, Worst: 0.1}}}
	require.NoError(t, s.Choose())
	r, err := Read(folder(t, map[string]string{"sweep.json": marshal(t, s)}))
	require.NoError(t, err)
	require.Len(t, r.Sweeps, 1)
	var html bytes.Buffer
	require.NoError(t, r.WriteHTML(&html))
	for _, want := range []string{"Sweep from mini", "data:image/svg&#43;xml;base64,", `<td class="num bad">200 of 250 !</td>`, "more would stand &lt;idle&gt;", "4.0 %"} {
		assert.Contains(t, html.String(), want)
	}
	assert.Contains(t, r.Table(), "sweep from mini")
}
