// SPDX-License-Identifier: Apache-2.0

package design

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const standin = "../testdata/standin"

func TestLoad(t *testing.T) {
	for _, dir := range []string{standin, standin + "/manifest.json"} {
		d, err := Load(dir)
		require.NoError(t, err)
		assert.Equal(t, "standin", d.Name)
		assert.Equal(t, 256*64+16*8, d.MemoryBits())
		assert.Equal(t, 2048*8, d.PayloadBits())
		sizes, count := d.Sizes()
		assert.Equal(t, []Size{{16, 8, RAM}, {256, 64, RAM}}, sizes)
		assert.Equal(t, map[Size]int{{16, 8, RAM}: 1, {256, 64, RAM}: 1}, count)
		for _, s := range d.Sources() {
			assert.True(t, filepath.IsAbs(s))
			assert.FileExists(t, s)
		}
		for _, name := range []string{"", "core", "standin_core"} {
			top, err := d.Top(name)
			require.NoError(t, err)
			assert.Equal(t, "standin_core", top.Module)
		}
		_, err = d.Top("switch")
		assert.ErrorContains(t, err, `no top "switch"; it has core`)
	}
}

func TestLoadRefuses(t *testing.T) {
	text, err := os.ReadFile(standin + "/manifest.json")
	require.NoError(t, err)
	for want, edit := range map[string][2]string{
		"schema 2": {`"schema": 1`, `"schema": 2`},
		"only inc_ram_1r1w and inc_ram_1rw are known": {`"inc_ram_1r1w", "path": "u_count"`, `"other", "path": "u_count"`},
		"has 0 words of 8 bits":                       {`"words": 16`, `"words": 0`},
		"no clock port":                               {`"port": "clk"`, `"port": ""`},
		"no such file":                                {"rtl/standin_reg.v", "rtl/none.v"},
		"cannot be passed to Yosys":                   {"rtl/standin_reg.v", "rtl/a b.v"},
		"no tops":                                     {`"tops"`, `"bottoms"`},
		"unexpected end of JSON":                      {`{`, `[[{`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(standin)))
		edited := strings.Replace(string(text), edit[0], edit[1], 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(edited), 0o644))
		_, err := Load(dir)
		assert.ErrorContains(t, err, want)
	}
}

func TestRAMs(t *testing.T) {
	d, err := Load(standin)
	require.NoError(t, err)
	leaves, err := d.RAMs()
	require.NoError(t, err)
	require.Len(t, leaves, 1)
	r := leaves[0]
	assert.Equal(t, RAM, r.Module)
	// The header's comment holds ");", which does not end it.
	assert.Equal(t, []string{"WORDS", "BITS", "ADDR_W"}, r.Parameters)
	assert.Contains(t, r.Header, "output reg  [BITS-1:0]   rdata\n);")
	assert.Contains(t, r.Renamed("other"), "module other #(")
	assert.NotContains(t, r.Renamed("other"), "module inc_ram_1r1w")

	d.Memories[0].Module = OnePortRAM
	_, err = d.RAMs()
	require.ErrorContains(t, err, "no file defines inc_ram_1rw")
	d.Memories[0].Module = RAM
	d.Files = d.Files[1:]
	_, err = d.RAMs()
	require.ErrorContains(t, err, "no file defines inc_ram_1r1w")
	d.Memories = nil
	leaves, err = d.RAMs()
	require.NoError(t, err)
	assert.Empty(t, leaves)
}
