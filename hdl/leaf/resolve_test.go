// SPDX-License-Identifier: Apache-2.0

package leaf

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, with, without, refused string }{
		"nothing":     {text: "a\n", with: "a\n", without: "a\n"},
		"one side":    {text: "a\n`ifdef M\nb\n`endif\nc\n", with: "a\nb\nc\n", without: "a\nc\n"},
		"two sides":   {text: "`ifdef M\na\n`else\nb\n`endif\nc\n", with: "a\nc\n", without: "b\nc\n"},
		"indented":    {text: "  `ifdef M\n  a\n  `else\n  b\n  `endif\n", with: "  a\n", without: "  b\n"},
		"another in":  {text: "`ifdef M\n`ifndef X\na\n`else\nb\n`endif\n`endif\n", with: "`ifndef X\na\n`else\nb\n`endif\n"},
		"in another":  {text: "`ifdef X\n`ifdef M\na\n`endif\n`endif\n", with: "`ifdef X\na\n`endif\n", without: "`ifdef X\n`endif\n"},
		"no end":      {text: "`ifdef M\na\n", refused: "has no end"},
		"not ifdef":   {text: "`ifndef M\na\n`endif\n", refused: "elsewhere"},
		"not a line":  {text: "`ifdef M a\n`endif\n", refused: "elsewhere"},
		"end of none": {text: "a\n`endif // M\n", refused: "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for defined, want := range map[bool]string{true: c.with, false: c.without} {
				got, err := resolve([]byte(c.text), "M", defined)
				if c.refused != "" {
					require.ErrorContains(t, err, c.refused)
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, want, string(got), "defined: %t", defined)
			}
		})
	}
}
