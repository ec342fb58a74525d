// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/verify/dut"
)

// TestEngineEnds: an engine of a folder fails in the middle of a step when the context ends, so that no loop over it goes on.
func TestEngineEnds(t *testing.T) {
	dir := t.TempDir()
	m := synthetic.Manifest(synthetic.Mini())
	m.Files, m.Tops = []string{"none.v"}, map[string]contract.Top{"core": {Module: "none"}} // the reference has none
	text, err := m.JSON()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	d, err := load(ctx, dir, dut.KindReference)
	require.NoError(t, err)
	e, err := d.open(1)
	require.NoError(t, err)
	require.NoError(t, e.StepTo(10_000))
	cancel()
	require.ErrorIs(t, e.StepTo(20_000), context.Canceled)
	assert.Equal(t, uint64(10_000), e.Now())
}

// TestStarEnds: when the context ends, the runs that have not begun never do, and nothing more is drawn.
func TestStarEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := synthetic.Mini()
	p.Members, p.Ports = 8, 8
	d := designOf(3, p)
	begun, open := 0, d.open
	d.open = func(seed uint64) (dut.DUT, error) {
		begun++
		cancel()
		return open(seed)
	}
	o := StarOptions{Packets: 1, Jobs: 1}
	_, err := benchRate(ctx, RateOptions{StarOptions: o, Pipes: []int{1, 2}}, d)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, begun, "of 24")
	_, err = newLossBench(ctx, LossOptions{StarOptions: o, Seeds: 1}, map[int]design{3: d})
	require.ErrorIs(t, err, context.Canceled)
}

// TestUntil: what cannot be stopped is left behind.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, until(ctx, func() error { return errNoDesign }), errNoDesign)
	never := make(chan struct{})
	defer close(never)
	require.ErrorIs(t, until(ctx, func() error {
		cancel()
		<-never
		return nil
	}), context.Canceled)
}
