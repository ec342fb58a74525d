// SPDX-License-Identifier: Apache-2.0

package sva

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// user pushes only when there is room and pops only what is there, as inc_fifo's contract asks, else as it likes.
const user = `
module user (input wire clk, input wire rst, input wire pushes, input wire pops, input wire [1:0] in, output wire [1:0] out);
    wire room, valid;
    inc_fifo #(.WIDTH(2), .DEPTH_W(3), .MARGIN(2)) u_fifo (.clk(clk), .rst(rst), .push(pushes && room), .push_data(in), .room(room),
        .valid(valid), .data(out), .pop(pops && valid));
endmodule
`

// proveFifo has Yosys show by induction that what inc_fifo's checker asserts holds for all time, whatever its user does.
func proveFifo(t *testing.T, from, to string) error {
	t.Helper()
	text, err := os.ReadFile("../stream/inc_fifo.v")
	require.NoError(t, err)
	if from != "" {
		require.Equal(t, 1, strings.Count(string(text), from), "%q", from)
		text = []byte(strings.Replace(string(text), from, to, 1))
	}
	attached, err := Attach(verilog.Files{{Path: "rtl/inc_fifo.v", Data: text}})
	require.NoError(t, err)
	attached = append(attached, verilog.File{Path: "user.v", Data: []byte(user)})
	dir := t.TempDir()
	var files []string
	for _, f := range attached {
		files = append(files, path.Base(f.Path))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path.Base(f.Path)), f.Data, 0o644))
	}
	script := strings.Join([]string{
		"read_verilog -sv -formal " + strings.Join(files, " "), "hierarchy -top user", "proc", "flatten", "opt -full", "memory -nordff", "opt -full",
		"chformal -early", "async2sync", "opt_clean", "select -assert-count 4 t:$assert",
		// nothing is known of the state before the first reset but what is said of it
		"sat -verify -prove-asserts -tempinduct -maxsteps 8 user",
	}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prove.ys"), []byte(script+"\n"), 0o644))
	_, err = tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", "prove.ys"}, Dir: dir})
	return err
}

// TestFifoProven: the checkers are as good in Yosys as in a simulator: inc_fifo's is proven of it, and what is wrong with a queue is found.
func TestFifoProven(t *testing.T) {
	t.Parallel()
	require.NoError(t, proveFifo(t, "", ""))
	for name, fault := range map[string][2]string{
		"room in a full queue":         {"count_reg < LIMIT_COUNT", "1'b1"},
		"something in an empty queue":  {"valid_reg <= push || more ||", "valid_reg <= push || valid_reg ||"},
		"a push with a pop is counted": {"push && !pop", "push"},
	} {
		err := proveFifo(t, fault[0], fault[1])
		var exit *tool.ExitError
		require.True(t, errors.As(err, &exit), "%s: not found: %v", name, err)
		assert.Contains(t, exit.Tail, "proof did fail", name)
	}
}
