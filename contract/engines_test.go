// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/rtlgen/params"
)

// TestWindows: every element of every register has an address of its own, at which it is found again; an engine's own lie in its window where
// they lie in the map of one engine, what is common where it lies there, and PORT_* and the switch's own beside that.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"2", "3", "8"} {
		p, err := params.Preset("mini3", "engines="+n, "port_bytes=2", "interrupts=true")
		require.NoError(t, err)
		m, err := contract.NewModel(p.Contract())
		require.NoError(t, err)
		one, err := contract.NewModel(p.Contract().OneEngine())
		require.NoError(t, err)
		window := uint32(1) << max(one.AddrBits, 16)
		seen := map[uint32]string{}
		for _, r := range m.Registers {
			for i := range r.Size() {
				addr, err := r.Addr(i)
				require.NoError(t, err)
				require.Empty(t, seen[addr], "%s[%d]", r.Name, i)
				require.Less(t, addr, uint32(1)<<m.AddrBits)
				seen[addr] = r.Name
				found, k, ok := m.Registers.Find(addr)
				require.True(t, ok)
				require.Equal(t, []any{r.Name, i}, []any{found.Name, k})
				if before, err := one.Registers.Register(r.Name); err == nil {
					each := before.Size()
					if r.Per == 0 {
						require.Equal(t, before.At(i), addr)
						continue
					}
					require.Equal(t, before.At(i%each), addr%window)
					require.Equal(t, uint32(i/each)+1, addr/window, "the window of its engine")
				}
			}
			_, err := r.Addr(r.Size())
			require.ErrorIs(t, err, contract.ErrUnknownRegister)
		}
		_, _, ok := m.Registers.Find(window + 4)
		assert.False(t, ok, "what is common is in no engine's window")
		groups, err := m.Registers.Register("GROUP_CTRL")
		require.NoError(t, err)
		assert.Equal(t, p.Contract().AllGroups(), groups.Count)
		assert.Equal(t, p.Contract().Records(), p.Contract().EngineRecords()<<map[string]int{"2": 1, "3": 2, "8": 3}[n])
	}
}
