// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
)

// A module that is compiled once does in every cycle what it does in one piece with the others: through registers, and through paths that run
// through several of it within a cycle. Two models of the kind in one process have nothing to do with each other, and its errors are the model's.
func TestOnce(t *testing.T) {
	type pins struct {
		Rst   *sim.Port `port:"rst,in,1"`
		A     *sim.Port `port:"a,in,100"`
		Ready *sim.Port `port:"ready,in,1"`
		Asks  *sim.Port `port:"asks,out,1"`
		Y     *sim.Port `port:"y,out,100"`
		Held  *sim.Port `port:"held,out,8"`
		Wide  *sim.Port `port:"wide,out,2101"`
	}
	flat := sim.Build{Top: "once", Files: []string{"testdata/once.v", "testdata/stage.v"}}
	parted := flat
	parted.Once = []string{"stage"}
	libs := []*sim.Lib{compile(t, flat), compile(t, parted), compile(t, parted)}
	require.NotEqual(t, libs[0].Digest, libs[1].Digest)
	models, all := make([]*sim.Model, len(libs)), make([]pins, len(libs))
	for i, lib := range libs {
		models[i] = start(t, lib, sim.Options{Random: true, Seed: uint64(i)})
		require.NoError(t, models[i].Bind(&all[i]))
		require.NoError(t, models[i].ResetFor(2))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	late := uint64(0)
	for range 2_000 {
		high, ready := rng.Uint64(), rng.Uint64()&1 == 0
		for i, p := range all {
			p.A.SetBits(36, 64, high)
			if i == 2 {
				p.A.SetBits(36, 64, late) // another stream, a cycle behind
			}
			p.Ready.SetBool(ready)
			require.NoError(t, models[i].Cycle())
		}
		late = high
		for _, of := range []func(pins) *sim.Port{func(p pins) *sim.Port { return p.Asks }, func(p pins) *sim.Port { return p.Y }, func(p pins) *sim.Port { return p.Held },
			func(p pins) *sim.Port { return p.Wide }} {
			require.Equal(t, of(all[0]).Hex(), of(all[1]).Hex(), of(all[0]).Name())
		}
	}
	all[1].A.SetBits(0, 64, ^uint64(0))
	all[1].A.SetBits(36, 64, ^uint64(0))
	require.ErrorContains(t, models[1].Cycles(2), "all ones in a stage")
	require.NoError(t, models[2].Cycles(2))

	parted.Once = []string{"stages"}
	_, err := parted.Compile(t.Context())
	require.ErrorContains(t, err, "module stages, to be compiled once, has no file of its name")
}
