// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/verify/ctrl"
)

// halting are the registers of engines of which one can be made to halt, as docs/memories.md says: it goes on some reads behind an ECC_CLEAR that is written while none of
// its groups is enabled, and its tables are empty then.
type halting struct {
	*troubled
	t      *testing.T
	s      *site
	halted map[int]int // by engine: reads of ECC_STATUS until it goes on, negative before ECC_CLEAR
	early  int         // ECC_CLEAR was written while a group was enabled
}

func (b *halting) Read(addr uint32) (uint32, error) {
	reg, e, ok := b.man.Find(addr)
	left, halted := b.halted[e]
	if !ok || reg.Name != "ECC_STATUS" || !halted {
		return b.troubled.Read(addr)
	}
	if left == 0 {
		delete(b.halted, e)
		return 0, nil
	}
	b.halted[e]--
	return b.field(b.t, "ECC_STATUS", "halted") | b.field(b.t, "ECC_STATUS", "state"), nil
}

func (b *halting) Write(addr, v uint32, strobes uint8) error {
	reg, e, ok := b.man.Find(addr)
	if !ok || reg.Name != "ECC_CLEAR" {
		return b.troubled.Write(addr, v, strobes)
	}
	p := b.man.Params
	drv := ctrl.New(b.s.engine, b.man)
	for g := e * p.Groups; g < (e+1)*p.Groups; g++ {
		on, err := drv.Get("GROUP_STATUS", g, "enabled")
		require.NoError(b.t, err)
		if on != 0 {
			b.early++
			return nil
		}
		for i := range p.EPS() {
			require.NoError(b.t, drv.Write("EP_CTRL", g*p.EPS()+i, 0))
		}
	}
	if _, halted := b.halted[e]; halted {
		b.halted[e] = 5
	}
	return nil
}

// An engine that halted is started again by the agent, by the steps of docs/memories.md: its groups are lost and can be installed again, those of other engines go on. It is so
// with interrupts and without.
func TestHaltedEngine(t *testing.T) {
	for name, interrupts := range map[string]bool{"interrupts": true, "none": false} {
		t.Run(name, func(t *testing.T) {
			p := engines(2)
			p.ECC, p.ECCAll, p.Interrupts = true, true, interrupts
			s := newSite(t, p)
			b := &halting{troubled: &troubled{Bus: s.engine, man: s.man, values: map[string]uint32{}, reads: map[string]int{}}, t: t, s: s, halted: map[int]int{}}
			s.begin(b)
			for e, group := range []string{"g0", "g1"} {
				_, err := s.at(e, group, false)
				require.NoError(t, err)
			}
			before := s.states()
			require.Empty(t, troubles(s.list()))

			b.halted[1] = -1
			if interrupts {
				b.values["IRQ_CAUSE[1]"] = b.field(t, "IRQ_CAUSE", "ecc_double")
			}
			s.list()
			require.Empty(t, b.halted, "it goes on")
			require.Zero(t, b.early)
			require.NotEqual(t, before, s.states())
			require.Contains(t, s.states(), "g1:LOST")
			require.Contains(t, s.states(), "g0:INSTALLED")

			_, err := s.agent.Commit(s.ctx, commit("g1", 3, 3))
			require.Equal(t, codes.DataLoss, status.Code(err))
			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "g1"})
			require.NoError(t, err)
			_, err = s.at(1, "g2", false)
			require.NoError(t, err)
			require.Contains(t, s.states(), "g2:INSTALLED")
		})
	}
}
