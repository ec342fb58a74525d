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

// TestBoard: the top of the board reads without a complaint with the switch that its page generates, by the command that stands there; its cages are alike; and every
// bit of its ports has a pin of its own, and no pin is of a port that there is not.
func TestBoard(t *testing.T) {
	t.Parallel()
	const board = "../../boards/u250"
	page, err := os.ReadFile(board + "/README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^incforge gen (\S+) (.*) -o `).FindStringSubmatch(string(page))
	require.NotNil(t, command, "the page's command")
	sets := strings.Split(strings.TrimPrefix(command[2], "--set "), " --set ")
	require.Len(t, sets, 6)
	dir := generate(t, named(t, command[1], sets...))
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
	_, err = tool.Run(testcost.Context(t), tool.Command{Name: "verilator", Args: args, Timeout: 2 * time.Minute})
	require.NoError(t, err)

	var cages []string // Vivado wants a module for each place, so the CMAC of each is an IP of its own
	for _, number := range []string{"0", "1"} {
		text, err := os.ReadFile(board + "/u250_qsfp" + number + ".v")
		require.NoError(t, err)
		cages = append(cages, strings.NewReplacer("u250_qsfp"+number, "u250_qsfpN", "cage "+number, "cage N", "cmac_usplus_"+number, "cmac_usplus_N").Replace(string(text)))
	}
	require.Equal(t, cages[0], cages[1])

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
