// SPDX-License-Identifier: Apache-2.0

package sva

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/verilog"
)

// blocks are the texts of all leaf modules.
func blocks(t *testing.T) verilog.Files {
	t.Helper()
	paths, err := filepath.Glob("../*/inc_*.v")
	require.NoError(t, err)
	var all verilog.Files
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, verilog.File{Path: verilog.Folder + "/" + filepath.Base(path), Data: text})
	}
	return all
}

// Every checker has its block, and connects what that has; every assertion of a checker has a name of its own.
func TestCheckers(t *testing.T) {
	t.Parallel()
	rtl := blocks(t)
	instances, names := of(rtl)
	entries, err := checkers.ReadDir("checkers")
	require.NoError(t, err)
	assert.Len(t, names, len(entries), "all checkers are used")
	connection := regexp.MustCompile(`\.\w+\((\w+)\)`)
	texts := rtl.Map()
	for _, i := range instances {
		block := string(texts[verilog.Folder+"/"+i.module+".v"])
		found := connection.FindAllStringSubmatch(i.text, -1)
		assert.NotEmpty(t, found)
		for _, m := range found {
			declared := regexp.MustCompile(`(?m)^ *(?:(?:input|output|wire|reg|parameter|localparam)\b[^;]*[^.\w]|\s+C_[^;]*[^.\w])` + m[1] + `\b`)
			assert.Regexp(t, declared, block, "%s: %s", i.module, m[1])
		}
	}
	assertion := regexp.MustCompile(`begin : (\w+) assert \(`)
	for _, e := range entries {
		text, err := checkers.ReadFile("checkers/" + e.Name())
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, m := range assertion.FindAllStringSubmatch(string(text), -1) {
			assert.False(t, seen[m[1]], "%s: %s", e.Name(), m[1])
			seen[m[1]] = true
		}
		assert.NotEmpty(t, seen, e.Name())
		assert.Equal(t, strings.Count(string(text), "assert ("), len(seen), "%s: an assertion without a name", e.Name())
	}
}

// What is bound and what is put into the text is the same.
func TestFilesAndAttach(t *testing.T) {
	t.Parallel()
	block := verilog.File{Path: "rtl/inc_fifo.v", Data: []byte("module inc_fifo (\n);\n// DEPTH_W, clk, rst, push, pop, head_reg, tail_reg, count_reg\n\nendmodule\n")}
	const instance = "inc_fifo_sva #(.DEPTH_W(DEPTH_W)) u_sva (.clk(clk), .rst(rst), .push(push), .pop(pop), .head_reg(head_reg), " +
		".tail_reg(tail_reg), .count_reg(count_reg));\n"
	bound, err := Files(verilog.Files{block})
	require.NoError(t, err)
	assert.Equal(t, []string{"sva/inc_fifo_sva.sv", "sva/bind.sv", "sva/files.f"}, bound.Paths())
	assert.Contains(t, string(bound.Map()["sva/bind.sv"]), "\nbind inc_fifo "+instance)
	assert.Equal(t, "inc_fifo_sva.sv\nbind.sv\n", string(bound.Map()["sva/files.f"]))

	attached, err := Attach(verilog.Files{block})
	require.NoError(t, err)
	assert.Equal(t, []string{"rtl/inc_fifo_sva.sv", "rtl/inc_fifo.v"}, attached.Paths())
	assert.Contains(t, string(attached[1].Data), "    "+instance+"\nendmodule\n")

	_, err = Attach(verilog.Files{{Path: block.Path, Data: append(block.Data, "\nmodule inc_more;\n\nendmodule\n"...)}})
	require.ErrorContains(t, err, "not one module")

	other, err := Files(verilog.Files{{Path: block.Path, Data: []byte("module inc_fifo (\n);\n\nendmodule\n")}})
	require.NoError(t, err)
	assert.Equal(t, []string{"sva/bind.sv", "sva/files.f"}, other.Paths(), "of another block with the name nothing is judged")
}
