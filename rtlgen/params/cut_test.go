// SPDX-License-Identifier: Apache-2.0

package params

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCutStart: the words with which a frame begins to leave, counted by hand. No word that comes as late as it may comes after the port has asked for it.
func TestCutStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sets []string
		want int
	}{
		{"stored whole", nil, 0},
		{"as wide as the bus: its payload begins in word 7, and seven words have left by then", []string{"port_bytes=8"}, 8},
		{"a quarter of the bus", []string{"port_bytes=2"}, 8},
		{"payload in the first word, a port as fast as the bus: three words", []string{"bus_bytes=64", "lanes=16", "port_bytes=64"}, 3},
		{"a port at half the rate: two", []string{"bus_bytes=64", "lanes=16", "port_bytes=32"}, 2},
		{"an eighth of the bus", []string{"bus_bytes=64", "lanes=16", "port_bytes=8"}, 1},
		{"sums that are corrected first", []string{"bus_bytes=64", "lanes=16", "port_bytes=64", "ecc=true"}, 5},
		{"a clock of its own, as fast: a cycle to cross, one to drift", []string{"bus_bytes=64", "lanes=16", "port_bytes=64", "port_clock_mhz=[250]"}, 5},
		{"half the lanes", []string{"bus_bytes=64", "lanes=8", "port_bytes=32"}, 3},
		{"tags, payload in the second word", []string{"bus_bytes=64", "lanes=16", "port_bytes=64", "vlan=true"}, 3},
	} {
		sets := append([]string{"name=cut"}, c.sets...)
		if c.want > 0 {
			sets = append(sets, "port_cut_through=true")
		}
		p, err := Preset("mini", sets...)
		require.NoError(t, err, c.name)
		d := p.Derived()
		assert.Equal(t, c.want, d.PortStartWords, c.name)
		if c.want == 0 {
			continue
		}
		late := 0
		r, s, h := p.portWordCycles(), float64(p.Contract().CyclesPerBeat()), c.want
		for h = range c.want { // the first word with payload
			if (h+1)*p.BusBytes > payloadFrom {
				break
			}
		}
		for k := c.want; k < 200; k++ { // fetched at r·k behind the beginning, which is c.want − h behind word h
			if s*float64(k-h)+engineLag+1 > float64(c.want-h)+r*float64(k) {
				late++
			}
		}
		assert.Zero(t, late, c.name)
	}
}
