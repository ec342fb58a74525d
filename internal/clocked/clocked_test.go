// SPDX-License-Identifier: Apache-2.0

package clocked

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFigure(t *testing.T) {
	missed, met, none := Clock{250, 243.13, "x"}, Clock{250, 300, "x"}, Clock{AskedMHz: 250}
	for _, k := range []struct {
		f      Figure
		want   string
		real   float64
		known  bool
		missed bool
	}{
		{Cycles(25, missed), "25 cycles, 102.8 ns at 243.1 MHz found, 250 asked !", 25e3 / 243.13, true, true},
		{Cycles(25, met), "25 cycles, 100 ns at 300 MHz found, 250 asked", 100, true, false},
		{Cycles(25, none), "25 cycles", 0, false, false},
		{Cycles(1, none), "1 cycle", 0, false, false},
		{BitsPerCycle(512, missed), "512 bits a cycle, 124.5 Gbit/s at 243.1 MHz found, 250 asked !", 0.512 * 243.13, true, true},
		{BitsPerCycle(512, met), "512 bits a cycle, 128 Gbit/s at 300 MHz found, 250 asked", 128, true, false},
		{BitsPerCycle(7.125, none), "7.125 bits a cycle", 0, false, false},
		{Cycles(3, Clock{FoundMHz: 100}), "3 cycles, 30 ns at 100 MHz found", 30, true, false},
	} {
		assert.Equal(t, k.want, k.f.String())
		value, known := k.f.Real()
		assert.InDelta(t, k.real, value, 1e-9)
		assert.Equal(t, k.known, known)
		assert.Equal(t, k.missed, k.f.Missed())
	}
	assert.Equal(t, "250 MHz asked, none found", none.String())
	_, ok := none.Holds()
	assert.False(t, ok)
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.5: "0.5", 7: "7", 1.2346: "1.235", 42.9: "42.9", 42.944: "42.94", 100: "100", 243.13: "243.1", 2400: "2400", 12345.6: "12346", 20: "20"} {
		assert.Equal(t, want, number(x))
	}
}

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "synth.json")
	record := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) }
	record(`{"bench":"synth","config":"mini","digest":"d1","top":"mini_core","clock":{"asked_mhz":250,"found_mhz":261,"by":"generic28 typical"}}`)
	c, err := Read(file, "d1", "mini_core", "mini")
	require.NoError(t, err)
	assert.Equal(t, Clock{250, 261, "generic28 typical"}, c)
	_, err = Read(file, "d2", "mini_core")
	require.ErrorIs(t, err, ErrOther)
	assert.ErrorContains(t, err, "another design")
	_, err = Read(file, "d1", "mini")
	require.ErrorIs(t, err, ErrOther)
	assert.ErrorContains(t, err, "mini_core alone")
	record(`{"digest":"d1","top":"mini_core","clock":{"asked_mhz":250}}`)
	_, err = Read(file, "d1", "mini_core")
	require.ErrorIs(t, err, ErrOther)
	record(`[`)
	_, err = Read(file, "d1", "mini_core")
	require.Error(t, err)
	_, err = Read(file+"x", "d1", "mini_core")
	require.ErrorIs(t, err, os.ErrNotExist)
}
