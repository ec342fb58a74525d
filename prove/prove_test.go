// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A property has a sentence and a fault, and each of a block's is there once. What a text says is used.
func TestBlocks(t *testing.T) {
	for _, b := range blocks() {
		seen := map[Kind]bool{}
		all := ""
		for _, name := range b.Texts {
			more, err := text(name)
			require.NoError(t, err)
			all += more
		}
		for _, p := range b.Properties {
			assert.False(t, seen[p.Kind], "%s %v", b.Name, p.Kind)
			seen[p.Kind] = true
			assert.NotEmpty(t, p.Says)
			assert.NotEqual(t, p.Fault.From, p.Fault.To, p.Says)
			assert.Contains(t, all, "`ifdef "+p.Kind.define()+"\n", "%s %v", b.Name, p.Kind)
		}
		assert.Equal(t, len(b.Properties), strings.Count(all, "`ifdef PROVE_")-strings.Count(all, "`ifdef PROVE_LEMMAS"), b.Name)
	}
}

func TestKeep(t *testing.T) {
	d := design{top: "c", names: []string{"a.v", "b.v", "x.v", "c.v"}, files: map[string]string{
		"a.v": "module inc_a (\n);\nendmodule\n", "b.v": "module inc_b (\n);\n    inc_a u (\n    );\nendmodule\n", "x.v": "module inc_x (\n);\nendmodule\n",
		"c.v": "module c (\n);\n    inc_x #(\n        .W (1)\n    ) u_x (\n        .p (q)\n    );\n    inc_b u_b (\n        .p (q)\n    );\nendmodule\n"}}
	k, err := d.keep([]string{"u_b"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a.v", "b.v", "c.v"}, k.names)
	assert.Equal(t, "module c (\n);\n    inc_b u_b (\n        .p (q)\n    );\nendmodule\n", k.files["c.v"])
	_, err = d.keep([]string{"u_c"})
	assert.ErrorContains(t, err, "no instance u_c")

	_, err = d.change([]Change{{"inc_x", "module", ""}})
	assert.ErrorContains(t, err, "2 times, not once")
}
