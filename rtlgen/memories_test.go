// SPDX-License-Identifier: Apache-2.0

package rtlgen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// TestCheckBits: with ecc: all every memory of a core but those of inc_csr has check bits, and every kind that is in memory its counters; with
// memory_pins both tops and every memory have the pins; without either nothing in the design knows of them.
func TestCheckBits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mini", "mini3", "mini1", "fpga100g1", "chip28", "trio"} {
		plain, err := rtlgen.Generate(preset(t, name))
		require.NoError(t, err)
		p := preset(t, name)
		p.ECC, p.ECCAll, p.MemoryPins = true, true, 5
		full, err := rtlgen.Generate(p)
		require.NoError(t, err)
		was := map[string]contract.Memory{}
		for _, m := range plain.Manifest.Memories {
			was[m.Path] = m
		}
		for _, m := range full.Manifest.Memories {
			if m.Role == "payload" || strings.HasPrefix(m.Path, "u_core.u_csr.") {
				continue
			}
			old, ok := was[strings.TrimSuffix(m.Path, ".u_ram")]
			if m.Role == "replay" && preset(t, name).Derived().ReplayFlops && !p.Derived().ReplayFlops {
				old, ok = contract.Memory{Words: p.Derived().ReplayWords, Bits: 8*p.BusBytes + 1}, true // without check bits it is no memory
			}
			require.True(t, ok, "%s: %s", name, m.Path)
			assert.GreaterOrEqual(t, m.Bits, old.Bits+7, "%s: %s", name, m.Path)
			assert.Equal(t, old.Words, m.Words, "%s: %s", name, m.Path)
		}
		for _, top := range []string{contract.TopCore, contract.TopSwitch} {
			assert.Contains(t, full.Manifest.Tops[top].Ports, contract.Port{Name: contract.MemoryPort, Dir: "in", Width: 5}, name)
		}
		for path, text := range full.Files.Map() {
			if strings.HasPrefix(path, "rtl/inc_ram_") || strings.HasPrefix(path, "rtl/inc_mem_") {
				assert.Contains(t, string(text), contract.MemoryPort, path)
			}
		}
		for path, text := range plain.Files.Map() {
			assert.NotContains(t, string(text), contract.MemoryPort, path)
			assert.NotContains(t, string(text), "inc_ecc_", path)
		}
	}
}

// TestCheckBitsOfPorts: with ecc: all the queues of ports have check bits whatever they are, their counters and err beside what leaves; without they have none.
func TestCheckBitsOfPorts(t *testing.T) {
	t.Parallel()
	for _, set := range [][]string{
		{"port_bytes=2"},
		{"port_bytes=2", "port_drop=true", "port_cut_through=true"},
		{"port_bytes=4", "port_clock_mhz=[322]", "priorities=4"},
		{"port_bytes=4", "port_clock_mhz=[322]", "port_cut_through=true", "engines=2", "groups=1"},
	} {
		p, err := params.Load("mini", set...)
		require.NoError(t, err)
		plain, err := rtlgen.Generate(p)
		require.NoError(t, err)
		p.ECC, p.ECCAll = true, true
		full, err := rtlgen.Generate(p)
		require.NoError(t, err)
		queues := 0
		for _, m := range full.Manifest.Memories {
			if block, _, _ := strings.Cut(m.Path, "."); contract.MemoryKindOf(block) == contract.PortMemories().Name {
				queues++
				assert.Equal(t, 64+8+2*(5+7), m.Bits, "%v: %s", set, m.Path)
				assert.Contains(t, m.Path, ".u_ram.u_ram", set)
			}
		}
		assert.Equal(t, p.Ports*(1+p.Priorities), queues, set)
		name := contract.PortMemories().LostRegister()
		_, err = full.Manifest.Registers.Register(name)
		require.NoError(t, err, set)
		_, err = plain.Manifest.Registers.Register(name)
		require.ErrorIs(t, err, contract.ErrUnknownRegister, set)
		has := func(d *rtlgen.Design) bool {
			return slices.ContainsFunc(d.Manifest.Tops[contract.TopSwitch].Ports, func(p contract.Port) bool { return p.Name == "m_axis_p0_tuser" && p.Width == 1 })
		}
		assert.True(t, has(full), set)
		assert.False(t, has(plain), set)
		for path, text := range plain.Files.Map() {
			assert.NotContains(t, string(text), "inc_ecc_", path)
		}
		if len(p.PortClockMHz) > 0 {
			assert.Contains(t, string(full.Files.Map()[p.Name+".xdc"]), "u_errors_p0_q0/u_lost/u_count/gray_reg_reg", set)
		}
	}
}

func TestCheckBitsRefused(t *testing.T) {
	t.Parallel()
	_, err := params.Load("mini", "memory_pins=257")
	require.ErrorContains(t, err, "memory_pins: 257: must be from 0 to 256")
	_, err = params.Load("mini", "ecc=most")
	require.ErrorContains(t, err, "ecc: most: must be true, false or all")
}
