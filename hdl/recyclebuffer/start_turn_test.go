// SPDX-License-Identifier: Apache-2.0

package recyclebuffer_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/recyclebuffer"
)

func TestStartTurnDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{recyclebuffer.StartTurn{}}, nil)
}

// TestStartTurn: frames pause when a start that could be taken was not for 15 cycles in a row and still stands, until it is over.
func TestStartTurn(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, recyclebuffer.StartTurn{}), 1)
	b.SetBool("rst", true)
	b.Clock()
	b.SetBool("rst", false)
	rng := rand.New(rand.NewPCG(1, 1))
	waited, pause, pauses, patient := 0, false, 0, 0
	for range 20000 {
		valid, clean, take := rng.IntN(100) > 0, rng.IntN(200) > 0, rng.IntN(20) == 0
		b.SetBool("init_valid", valid)
		b.SetBool("init_clean", clean)
		b.SetBool("init_take", take)
		b.Clock()
		require.Equal(t, !pause, b.Is("room"), "%d cycles", waited)
		next := valid && (pause || waited == 15)
		if next && !pause {
			pauses++
		} else if take && waited > 0 && !pause {
			patient++
		}
		if valid && clean && !take {
			waited = (waited + 1) % 16
		} else {
			waited = 0
		}
		pause = next
	}
	require.Greater(t, pauses, 50)
	require.Greater(t, patient, 50)
}
