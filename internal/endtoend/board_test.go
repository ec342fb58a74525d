// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// TestBoard: the top of the board reads without a complaint with the switch that its page generates, narrowed but for its ports; and every bit of its ports
// has a pin of its own, and no pin is of a port that there is not.
func TestBoard(t *testing.T) {
	t.Parallel()
	const board = "../../boards/u250"
	dir := generate(t, named(t, "mini", "name=u250", "bus_bytes=64", "lanes=16", "ports=2", "port_bytes=64", "port_clock_mhz=[322.265625]", "port_drop=true", "interrupts=true"))
	args := []string{"--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", "u250"}
	for _, pattern := range []string{board + "/*.v", "../../hdl/mac/*.v", dir + "/rtl/*.v"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			if filepath.Base(f) != "inc_mac_taxi.v" { // another MAC's, whose crossings may not be in the switch
				args = append(args, f)
			}
		}
	}
	_, err := tool.Run(testcost.Context(t), tool.Command{Name: "verilator", Args: args, Timeout: 2 * time.Minute})
	require.NoError(t, err)

	top, err := os.ReadFile(board + "/u250.v")
	require.NoError(t, err)
	want := map[string]bool{}
	header, _, _ := strings.Cut(string(top), ");")
	for _, p := range regexp.MustCompile(`(?:input|output) +wire +(\[(\d):0\])? *(\w+)`).FindAllStringSubmatch(header, -1) {
		if p[2] == "" {
			want[p[3]] = true
			continue
		}
		for i := '0'; i <= rune(p[2][0]); i++ {
			want[p[3]+"["+string(i)+"]"] = true
		}
	}
	require.Len(t, want, 2+2*(16+2+4+2)+3)
	constraints, err := os.ReadFile(board + "/u250.xdc")
	require.NoError(t, err)
	pins := map[string]string{}
	for _, p := range regexp.MustCompile(`PACKAGE_PIN (\w+).*\[get_ports \{?([\w\[\]]+)\}?\]`).FindAllStringSubmatch(string(constraints), -1) {
		assert.True(t, want[p[2]], "there is no port %s, or it has two pins", p[2])
		assert.Empty(t, pins[p[1]], "pin %s", p[1])
		delete(want, p[2])
		pins[p[1]] = p[2]
	}
	assert.Empty(t, want, "ports without a pin")
}
