// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// designs are points of a space as sweeps have it.
func designs(n int, area func(x Features) float64) []Sample {
	rnd := rand.New(rand.NewPCG(1, 2))
	var all []Sample
	for range n {
		x := Features{"lanes": float64(int(16) << rnd.IntN(6)), "bytes": float64(int(64) << rnd.IntN(5)), "tree": float64(rnd.IntN(2)), "slots": float64(int(32) << rnd.IntN(4)), "fixed": 7}
		all = append(all, Sample{x, area(x)})
	}
	return all
}

// A sum of terms, measured with some noise, is found again: beyond the samples too.
func TestFind(t *testing.T) {
	for name, area := range map[string]func(x Features) float64{
		"constant":              func(Features) float64 { return 100 },
		"per lane":              func(x Features) float64 { return 400 * x["lanes"] },
		"lanes and bytes":       func(x Features) float64 { return 3000 + 400*x["lanes"] + 90*x["bytes"] },
		"a tree of lanes":       func(x Features) float64 { return 2000 + 60*x["bytes"] + 300*x["lanes"]*x["tree"] },
		"smaller with a tree":   func(x Features) float64 { return 5000 + 50*x["bytes"]*(1-x["tree"]) },
		"shifters":              func(x Features) float64 { return 10 * x["bytes"] * math.Log2(1+x["bytes"]) },
		"logarithm":             func(x Features) float64 { return 10 + 100*math.Log2(1+x["slots"]) },
		"what nothing explains": func(x Features) float64 { return 1000 + math.Mod(x["lanes"]*7919+x["bytes"]*104729+x["slots"], 97) },
	} {
		t.Run(name, func(t *testing.T) {
			noise := rand.New(rand.NewPCG(3, 4))
			samples := designs(14, func(x Features) float64 { return area(x) * (1 + 0.004*noise.NormFloat64()) })
			l, err := Find(samples)
			require.NoError(t, err)
			worst := 0.0
			for _, s := range designs(200, area) {
				worst = max(worst, math.Abs(l.At(s.X)/s.Y-1))
			}
			assert.Less(t, worst, 0.12)
			assert.Less(t, l.Error, 0.06)
		})
	}
}

// The error says so if the samples are not enough.
func TestError(t *testing.T) {
	samples := designs(6, func(x Features) float64 { return x["lanes"] * x["bytes"] * (1 + x["slots"]) * (1 + x["tree"]) })
	l, err := Find(samples)
	require.NoError(t, err)
	assert.Greater(t, l.Error, 0.2)

	l, err = Find(samples[:1])
	require.NoError(t, err)
	assert.True(t, math.IsInf(l.Error, 1))
	assert.Equal(t, samples[0].Y, l.At(samples[0].X))

	_, err = Find(nil)
	require.ErrorIs(t, err, ErrNothing)
	_, err = Find([]Sample{{Features{}, 0}})
	require.Error(t, err)
}

// What was measured is not predicted.
func TestKnown(t *testing.T) {
	samples := []Sample{{Features{"a": 1}, 10}, {Features{"a": 1}, 12}, {Features{"a": 2}, 50}, {Features{"a": 3}, 60}, {Features{"a": 4}, 71}}
	l, err := Find(samples)
	require.NoError(t, err)
	assert.Equal(t, 11.0, l.At(Features{"a": 1}))
	assert.Equal(t, 50.0, l.At(Features{"a": 2}))
}
