// SPDX-License-Identifier: Apache-2.0

package rtlgen_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/rtlgen"
)

// TestStageLabels: in the drawing by stages of every preset no connection's label covers another's, so that each can be read.
func TestStageLabels(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)" class="label">([^<]*)<`)
	for _, name := range presets(t) {
		d, err := rtlgen.Generate(preset(t, name))
		require.NoError(t, err)
		all := label.FindAllStringSubmatch(string(d.Files.Map()["docs/"+d.Core.Name+"_stages.svg"]), -1)
		require.Greater(t, len(all), 10, name)
		at := func(i int) (x, y, half float64) {
			x, err := strconv.ParseFloat(all[i][1], 64)
			require.NoError(t, err)
			y, err = strconv.ParseFloat(all[i][2], 64)
			require.NoError(t, err)
			return x, y, 3 * float64(len(all[i][3])) // letters of 11 pixels are some 6 wide
		}
		for i := range all {
			x, y, half := at(i)
			for j := range i {
				x2, y2, half2 := at(j)
				assert.False(t, math.Abs(x-x2) < half+half2 && math.Abs(y-y2) < 11, "%s: %s at %v, %v covers %s", name, all[i][3], x, y, all[j][3])
			}
		}
	}
}
