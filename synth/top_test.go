// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/synth/design"
	"incforge/synth/yosys"
)

// A module of the design is synthesised with the parameters that it has there, not with its defaults.
func TestModuleAsTop(t *testing.T) {
	t.Parallel()
	widths := map[float64]bool{}
	for _, top := range []string{"standin_reg__1", "standin_reg__2", "standin_reg__3", "standin_reg__4"} {
		m, err := Run(context.Background(), standin, Options{Top: top, Script: ScriptArea})
		require.NoError(t, err)
		assert.Equal(t, top, m.Top)
		widths[m.Metrics["synth__design__instance__count__flops"]] = true
		assert.NotContains(t, m.Metrics, "synth__memory__bits", "the manifest counts the whole design's")
		assert.Empty(t, m.Warnings)
		assert.Contains(t, m.Paper.Because, top+" is not the core")
	}
	assert.Equal(t, map[float64]bool{2: true, 32: true, 72: true, 73: true}, widths)

	_, err := Run(context.Background(), standin, Options{Top: "standin_reg"})
	require.ErrorIs(t, err, yosys.ErrModule)
	assert.ErrorContains(t, err, "4 sets of parameters; choose one of standin_reg__1")
}

// A module without a clock is timed between its ports.
func TestModuleWithoutClock(t *testing.T) {
	t.Parallel()
	m, err := Run(context.Background(), standin, Options{Top: "standin_parity", Flatten: true})
	require.NoError(t, err)
	assert.Zero(t, m.Metrics["synth__design__instance__count__flops"])
	assert.Positive(t, m.Metrics["synth__design__nand2_equivalents"])
	assert.Greater(t, m.CriticalPath.DelayPS, 20.0)
	assert.NotContains(t, m.Metrics, "synth__timing__setup__ws__reg2reg")
}

func TestChoose(t *testing.T) {
	d, err := design.Load(standin)
	require.NoError(t, err)
	for name, want := range map[string]string{"": "", "core": "", "standin_core": "", "standin_reg": "standin_reg", "standin_reg__2": "standin_reg__2"} {
		c, err := d.Choose(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, c.Inside, name)
		assert.Equal(t, "standin_core", c.Tops[0].Module, name)
	}
	for _, name := range []string{"nothing", "standin", "module", "standin_regs", "standin.*"} {
		_, err := d.Choose(name)
		require.ErrorIs(t, err, contract.ErrNoTop, name)
	}
}
