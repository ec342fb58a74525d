// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/synth"
	"incforge/synth/design"
	"incforge/synth/liberty"
)

// The law that macros are sized by, against five macros of IHP's 130 nm compiler (IHP-Open-PDK 5cccb16): area in um2 and, where their
// Liberty files were read for it, access in ns at 25 C and 1.2 V.
func TestAgainstACompiler(t *testing.T) {
	p, err := ByName("ihp-sg13g2")
	require.NoError(t, err)
	for _, m := range []struct {
		ports        liberty.SRAMPorts
		words, bits  int
		area, access float64
	}{
		{liberty.OneRW, 512, 64, 150102, 3.83}, {liberty.OneRW, 1024, 64, 263946, 0}, {liberty.OneRW, 2048, 64, 491634, 5.39},
		{liberty.OneR1W, 512, 32, 150650, 0}, {liberty.OneR1W, 1024, 32, 264167, 4.42},
	} {
		s, err := liberty.CompileSRAM(m.words, m.bits, liberty.SRAMOptions{Ports: m.ports, Cell: p.cell, Corner: p.corner()})
		require.NoError(t, err)
		require.Equal(t, 1, s.Banks*s.Slices, "one macro, as theirs")
		assert.InDelta(t, 0.985, s.Area/m.area, 0.08, "area of %v", m)
		if m.access > 0 {
			assert.InDelta(t, 1, s.Access/1e3/m.access, 0.06, "access of %v", m)
		}
	}
}

// macros of a design with one memory of either kind.
func planned(t *testing.T, p Platform, from string) (*design.Design, *synth.MacroPlan, []macro) {
	t.Helper()
	d, err := design.Load(from)
	require.NoError(t, err)
	plan, err := synth.PlanMacros(d, synth.MacroOptions{Cell: p.cell, Corner: p.corner(), Gate: p.gate, ClockMHz: 100})
	require.NoError(t, err)
	return d, plan, macrosOf(d, plan, p, contract.TopCore)
}

func TestMacros(t *testing.T) {
	from := standin(t)
	banked(t, from)
	for _, p := range Platforms() {
		_, plan, all := planned(t, p, from)
		require.Len(t, all, 2)
		assert.Equal(t, 128, plan.LargestFlops())
		one, two := all[0], all[1]
		assert.Equal(t, "inc_sram_1rw_128x40", one.Name())
		assert.Equal(t, []string{"u_bank.gen_bank[0].u_ram.gen_128x40.u_macro", "u_bank.gen_bank[1].u_ram.gen_128x40.u_macro"}, one.places)
		assert.Len(t, one.pins, 1+2+7+40+40)
		assert.Equal(t, "inc_sram_1r1w_256x64", two.Name())
		assert.Equal(t, []string{"u_payload.gen_256x64.u_macro"}, two.places)
		assert.Len(t, two.pins, 1+2+2*8+64+64)
		for _, m := range all {
			assert.Zero(t, m.width%p.siteX)
			assert.Zero(t, m.height%p.rowY)
			assert.GreaterOrEqual(t, m.area(), m.Area+m.BankMuxArea)
			seen := map[string]bool{}
			for i, r := range m.signals(p) {
				assert.False(t, seen[r.String()], "%s on another", m.pins[i].name)
				seen[r.String()] = true
				assert.True(t, r.x0 == 0 || r.x1 == m.width, "%s: not at an edge", m.pins[i].name)
				assert.Zero(t, (r.y0+p.pins.width/2)%p.pins.pitch, "%s: not on a track", m.pins[i].name)
				assert.Less(t, r.y1, m.height)
			}
			ground, supply, between := m.bars(p)
			assert.NotEmpty(t, ground)
			assert.NotEmpty(t, supply)
			assert.NotEmpty(t, between)
		}
	}
	_, _, all := planned(t, Platforms()[0], from)
	wide := synth.Macro{SRAM: all[0].SRAM}
	wide.SRAM.Bits, wide.Area = 4000, 1 // no area to speak of: the pins make the outline
	m := outlined(wide, Platforms()[0])
	assert.Equal(t, leastStep, m.step)
	assert.Greater(t, m.height, 4000*leastStep*Platforms()[0].pins.pitch)
}

// Arrangements of drawn macros: nobody overlaps, and a square core of the utilisation they come with holds them.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var macros []macro
		for i := range 1 + r.IntN(12) {
			m := macro{width: 1000 * (20 + r.IntN(800)), height: 1000 * (20 + r.IntN(800))}
			for k := range 1 + r.IntN(3) {
				m.places = append(m.places, fmt.Sprintf("u_%d_%d", i, k))
			}
			macros = append(macros, m)
		}
		const halo, margin = 5000, 100000
		f := arrange(macros, halo)
		for i, a := range f.spots {
			assert.GreaterOrEqual(t, min(a.x, a.y), halo)
			assert.LessOrEqual(t, a.x+a.macro.width+halo, f.width)
			assert.LessOrEqual(t, a.y+a.macro.height+halo, f.height)
			for _, b := range f.spots[:i] {
				apart := a.x >= b.x+b.macro.width+2*halo || b.x >= a.x+a.macro.width+2*halo || a.y >= b.y+b.macro.height+2*halo || b.y >= a.y+a.macro.height+2*halo
				assert.True(t, apart, "%s and %s", a.path, b.path)
			}
		}
		side := float64(max(f.width, f.height)+margin) / 1e3
		assert.LessOrEqual(t, float64(f.utilization(margin))/100*side*side, f.area, "the core is smaller than what it holds")
	}
}

// KLayout finds in every abstract the outline, the pins and nothing in their way.
func TestAbstractsReadByKLayout(t *testing.T) {
	python := openroadTools(t)
	from := standin(t)
	banked(t, from)
	for _, p := range Platforms() {
		dir := t.TempDir()
		_, err := Write(from, dir, Options{Platform: p.Name, ClockMHz: 100})
		require.NoError(t, err)
		out := run(t, ".", python, "testdata/read_lef.py", dir)
		var found map[string]struct {
			Width, Height int
			Origin        []int
			Pins          map[string][][]any
			Clear         bool
			Blocked       []string
			GDS           []any
		}
		require.NoError(t, json.Unmarshal([]byte(out), &found), out)
		_, _, all := planned(t, p, from)
		require.Len(t, found, len(all))
		for _, m := range all {
			k, ok := found[m.Name()]
			require.True(t, ok, m.Name())
			assert.Equal(t, []int{m.width, m.height, 0, 0}, append([]int{k.Width, k.Height}, k.Origin...))
			assert.True(t, k.Clear, "%s on %s: pins touch each other or what is blocked", m.Name(), p.Name)
			assert.Subset(t, k.Blocked, append(slices.Clone(p.below), p.pins.name, p.power.layer))
			require.Len(t, k.Pins, len(m.pins)+2)
			assert.NotEmpty(t, k.Pins[supplyPin])
			assert.NotEmpty(t, k.Pins[groundPin])
			for i, r := range m.signals(p) {
				assert.Equal(t, [][]any{{p.pins.name, float64(r.x0), float64(r.y0), float64(r.x1), float64(r.y1)}}, k.Pins[m.pins[i].name], m.pins[i].name)
			}
			if p.pdk != "" {
				assert.Equal(t, []any{m.Name(), float64(m.width), float64(m.height), float64(p.outline[0]), float64(p.outline[1])}, k.GDS)
			}
		}
	}
}

// reported are the pins of a cell in OpenSTA's report, bit by bit.
func reported(report string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^ (\w+)(?:\[(\d+):0\])? (?:input|output)`).FindAllStringSubmatch(report, -1) {
		if m[2] == "" {
			all = append(all, m[1])
			continue
		}
		high, _ := strconv.Atoi(m[2])
		for i := range high + 1 {
			all = append(all, fmt.Sprintf("%s[%d]", m[1], i))
		}
	}
	return all
}

// OpenSTA and Yosys find the pins of the abstract in the Liberty file.
func TestLibertyReadByOthers(t *testing.T) {
	from := standin(t)
	banked(t, from)
	p := Platforms()[0]
	dir := t.TempDir()
	_, err := Write(from, dir, Options{Platform: p.Name, ClockMHz: 100})
	require.NoError(t, err)
	_, _, all := planned(t, p, from)
	var script strings.Builder
	yosys := ""
	for _, m := range all {
		file := inFolder("lib", m.Name())
		fmt.Fprintf(&script, "read_liberty %s\n", file)
		fmt.Fprintf(&script, "report_lib_cell %s\n", m.Name())
		yosys += "read_liberty -lib " + file + "; "
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pins.tcl"), []byte(script.String()), 0o644))
	out := run(t, dir, "sta", "-no_splash", "-exit", "pins.tcl")
	assert.NotRegexp(t, `(?m)^(Error|Warning)`, out)
	run(t, dir, "yosys", "-q", "-p", yosys+"write_json ports.json")
	text, err := os.ReadFile(filepath.Join(dir, "ports.json"))
	require.NoError(t, err)
	var design struct {
		Modules map[string]struct {
			Ports map[string]struct {
				Direction string
				Bits      []any
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &design))
	for _, m := range all {
		var want []string
		for _, pin := range m.pins {
			want = append(want, pin.name)
		}
		var yosys []string
		_, report, ok := strings.Cut(out, "Cell "+m.Name()+"\n")
		require.True(t, ok, out)
		report, _, _ = strings.Cut(report, "Cell ")
		sta := reported(report)
		for name, port := range design.Modules[m.Name()].Ports {
			for i := range port.Bits {
				bit := name
				if len(port.Bits) > 1 {
					bit = fmt.Sprintf("%s[%d]", name, i)
				}
				yosys = append(yosys, bit)
				k := slices.IndexFunc(m.pins, func(p pin) bool { return p.name == bit })
				require.GreaterOrEqual(t, k, 0, bit)
				assert.Equal(t, m.pins[k].input, port.Direction == "input", bit)
			}
		}
		assert.ElementsMatch(t, want, yosys, "Yosys, %s", m.Name())
		assert.ElementsMatch(t, want, sta, "OpenSTA, %s", m.Name())
	}
}
