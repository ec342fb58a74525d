// SPDX-License-Identifier: Apache-2.0

package axil_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

func start(t *testing.T) (*sim.Model, *axil.Master) {
	t.Helper()
	lib, err := sim.Build{Top: "regs", Files: []string{"testdata/regs.v"}}.Compile(context.Background())
	require.NoError(t, err)
	m, err := lib.New(sim.Options{Random: true, Seed: 5})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	x, err := axil.New(m, "s_axil")
	require.NoError(t, err)
	return m, x
}

func TestRegisters(t *testing.T) {
	for name, pause := range map[string]axis.Pause{"fast": nil, "late": axis.Probability(4, 0.6)} {
		t.Run(name, func(t *testing.T) {
			m, x := start(t)
			x.SetPause(pause)
			require.NoError(t, m.ResetFor(2))
			for i := range uint32(4) {
				require.NoError(t, x.WriteReg(uint64(4*i), 0x1000_0000*i+7))
			}
			for i := range uint32(4) {
				v, err := x.ReadReg(uint64(4 * i))
				require.NoError(t, err)
				assert.Equal(t, 0x1000_0000*i+7, v)
			}
			assert.EqualValues(t, 8, x.Accesses())

			var refused *axil.ResponseError
			require.ErrorAs(t, x.WriteReg(0x10, 0), &refused)
			assert.Equal(t, "write to 0x10 answered SLVERR", refused.Error())
			_, err := x.ReadReg(0x14)
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "read of 0x14 answered DECERR", refused.Error())
			assert.Zero(t, x.Violations())
		})
	}
}

func TestTasks(t *testing.T) {
	m, x := start(t)
	require.NoError(t, m.ResetFor(2))
	tb := sim.NewTB(m)
	tb.Start("registers", func(t *sim.Task) {
		t.Check(x.Write(t, 4, 0x11223344))
		t.Check(x.WriteStrobe(t, 4, 0xAABBCCDD, 0b0110))
		v, err := x.Read(t, 4)
		t.Check(err)
		assert.Equal(t, uint32(0x11BBCC44), v)
		_, err = x.ReadReg(4)
		assert.ErrorContains(t, err, "Tick called from a callback or a task")
	})
	assert.ErrorContains(t, tb.Run(200), "Tick called")
}

// TestTogether has reads and writes under way at once, with answers that are refused among them.
func TestTogether(t *testing.T) {
	for name, pause := range map[string]axis.Pause{"fast": nil, "late": axis.Probability(4, 0.6)} {
		t.Run(name, func(t *testing.T) {
			m, x := start(t)
			x.SetPause(pause)
			require.NoError(t, m.ResetFor(2))
			both, next := false, false // a read and a write are with the slave, and an address is offered before the one ahead of it is answered
			port := func(name string) *sim.Port {
				p, err := m.Port("s_axil_" + name)
				require.NoError(t, err)
				return p
			}
			arvalid, rvalid, bvalid := port("arvalid"), port("rvalid"), port("bvalid")
			m.OnSample(func() {
				both = both || rvalid.Bool() && bvalid.Bool()
				next = next || rvalid.Bool() && arvalid.Bool()
			})
			for i := range uint32(4) {
				require.NoError(t, x.WriteReg(uint64(4*i), i))
			}
			var all []axil.Access
			for i := range uint32(4) {
				all = append(all, axil.Access{Addr: uint64(4 * i)}, axil.Access{Write: true, Addr: uint64(4 * i), Data: 0x01010101 * (0xA0 + i), Strobe: 0b0001 << i})
			}
			all = append(all, axil.Access{Addr: 0x14}, axil.Access{Write: true, Addr: 0x10, Strobe: 0xF}, axil.Access{Addr: 0x8})
			begin := m.Now()
			got, err := x.Together(all)
			require.NoError(t, err)
			require.Len(t, got, len(all))
			for i, a := range all[:8] {
				require.NoError(t, got[i].Err)
				if !a.Write {
					n := uint32(i / 2)
					lane := uint32(0xFF) << (8 * n)
					assert.Contains(t, []uint32{n, n&^lane | (0xA0+n)<<(8*n)}, got[i].Data)
				}
			}
			assert.EqualError(t, got[8].Err, "read of 0x14 answered DECERR")
			assert.EqualError(t, got[9].Err, "write to 0x10 answered SLVERR")
			assert.NoError(t, got[10].Err)
			assert.EqualValues(t, 4+11, x.Accesses())
			assert.True(t, both && next)
			if pause == nil { // as many as there are writes, which take 3 cycles each
				assert.EqualValues(t, 15, m.Now()-begin)
			}
			for i := range uint32(4) {
				v, err := x.ReadReg(uint64(4 * i))
				require.NoError(t, err)
				assert.Equal(t, i&^(0xFF<<(8*i))|(0xA0+i)<<(8*i), v)
			}
		})
	}
}

// TestTogetherTimesOut: accesses of which one is never answered end with the time-out, and leave the bus as it is.
func TestTogetherTimesOut(t *testing.T) {
	m, x := start(t)
	require.NoError(t, m.ResetFor(2))
	x.SetTimeout(30)
	_, err := x.Together([]axil.Access{{Write: true, Addr: 0x18, Strobe: 0xF}, {Addr: 0}, {Write: true, Addr: 4, Strobe: 0xF}})
	var late *sim.TimeoutError
	require.ErrorAs(t, err, &late)
	require.ErrorAs(t, x.WriteReg(0, 1), &late, "the bus is stuck, as in hardware")
	_, err = x.Together([]axil.Access{{Addr: 0x100}})
	assert.ErrorContains(t, err, "address 0x100 is wider than s_axil_araddr (8 bits)")
}

func TestTimeoutAndRefusal(t *testing.T) {
	m, x := start(t)
	require.NoError(t, m.ResetFor(2))
	assert.ErrorContains(t, x.WriteReg(0x100, 1), "address 0x100 is wider than s_axil_awaddr (8 bits)")
	x.SetTimeout(30)
	begin := m.Now()
	err := x.WriteReg(0x18, 1)
	var late *sim.TimeoutError
	require.ErrorAs(t, err, &late)
	assert.Contains(t, err.Error(), "write to 0x18")
	assert.Equal(t, begin+30, m.Now())
	_, err = x.ReadReg(0)
	require.ErrorAs(t, err, &late, "the bus is stuck, as in hardware")
	require.NoError(t, m.ResetFor(1))

	_, err = axil.New(m, "s_axil_x")
	assert.ErrorContains(t, err, `no port "s_axil_x_awvalid"`)
}

func TestSetTick(t *testing.T) {
	m, x := start(t)
	require.NoError(t, m.ResetFor(2))
	require.NoError(t, x.WriteReg(0, 0))
	ticks := 0
	x.SetTick(func() error { ticks++; return m.Tick() })
	require.NoError(t, x.WriteReg(0, 1))
	assert.Equal(t, 3, ticks)
}

// TestRules has the slave break each rule in turn.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		fault   uint64
		rule    axil.Rule
		channel string
	}{
		{0, 0, ""},
		{1, axil.RuleValidHeld, "s_axil_r"},
		{2, axil.RulePayloadHeld, "s_axil_r"},
		{3, axil.RuleUnasked, "s_axil_b"},
		{4, axil.RuleReset, "s_axil_b"},
	} {
		m, x := start(t)
		x.SetPause(axis.Probability(9, 0.7)) // rready is often low
		fault, err := m.Port("fault")
		require.NoError(t, err)
		fault.SetUint64(c.fault)
		if err = m.ResetFor(3); err == nil {
			for range 20 {
				if _, err = x.ReadReg(0); err != nil {
					break
				}
			}
		}
		if c.rule == 0 {
			require.NoError(t, err)
			continue
		}
		var v *axil.Violation
		require.ErrorAs(t, err, &v)
		assert.Equal(t, c.rule, v.Rule, v.Error())
		assert.Equal(t, c.channel, v.Channel)
		assert.Contains(t, v.Error(), "AXI4-Lite rule")
	}
}
