// SPDX-License-Identifier: Apache-2.0

package prove_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/internal/testcost"
	"incforge/prove"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// TestVerdicts: a property holds, and its planted fault shows, in a cycle for which it was shown.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		v          prove.Verdict
		with, bare bool
	}{
		"for all time": {prove.Verdict{Proven: true, Found: true, FoundAt: 90}, true, true},
		"in time":      {prove.Verdict{Proven: true, Depth: 16, Found: true, FoundAt: 16}, true, true},
		"too late":     {prove.Verdict{Proven: true, Depth: 16, Found: true, FoundAt: 17}, false, true},
		"not found":    {prove.Verdict{Proven: true, Depth: 16}, false, true},
		"broken":       {prove.Verdict{Found: true}, false, false},
		"no verdict":   {prove.Verdict{Proven: true, Found: true, Error: "time"}, false, false},
	} {
		assert.Equal(t, c.with, c.v.OK(true), name)
		assert.Equal(t, c.bare, c.v.OK(false), name)
	}
}

// TestQuickProofs are the quickest of make proofs: each holds, and its fault is found.
func TestQuickProofs(t *testing.T) {
	p, err := params.Load("small/small2.yaml")
	require.NoError(t, err)
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, d.Write(dir))

	o := prove.Options{Dir: dir, Limit: time.Minute, Place: jobs.Place{Jobs: 1}, Progress: func(string, ...any) *progress.Task { return nil }}
	for kinds, blocks := range map[string][]string{
		"c": {"receive_ack", "control", "replicate_data"},
		"d": {"control", "recycle_buffer"},
		"e": {"replicate_data"},
	} {
		o.Kinds, o.Blocks = kinds, blocks
		r, err := prove.Run(testcost.Context(t), o)
		require.NoError(t, err)
		require.Len(t, r.Verdicts, len(blocks))
		for _, v := range r.Verdicts {
			assert.True(t, v.OK(true), "%+v", v)
		}
	}

	o.Blocks = []string{"acks"}
	_, err = prove.Run(t.Context(), o)
	require.ErrorIs(t, err, prove.ErrNone)
}
