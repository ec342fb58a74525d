// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/lint"
)

// folder writes a generated folder by hand: one manifest, the given modules, the first one the top.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range files {
		name := string(rune('a'+i)) + ".v"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		names = append(names, `"`+name+`"`)
	}
	manifest := `{"schema":1,"name":"t","digest":"d","tops":{"core":{"module":"a"}},"files":[` + strings.Join(names, ",") + `]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o644))
	return dir
}

const clean = "`default_nettype none\nmodule a (\n    input wire clk,\n    input wire d,\n    output reg q\n);\n" +
	"    always @(posedge clk) q <= d;\nendmodule\n`default_nettype wire\n"

func TestClean(t *testing.T) {
	t.Parallel()
	rep, err := lint.Dir(context.Background(), folder(t, clean))
	require.NoError(t, err)
	assert.True(t, rep.Clean(), "%v", rep.Findings)
	var tools []string
	for _, r := range rep.Runs {
		tools = append(tools, r.Tool)
		assert.NotEmpty(t, r.Version)
		assert.Equal(t, 1, r.Files)
	}
	require.GreaterOrEqual(t, len(tools), 3)
	assert.Equal(t, []string{"verilator", "iverilog", "yosys"}, tools[:3])
	assert.Subset(t, []string{"slang", "verible"}, tools[3:])
}

// What the three that must be there take, and a strict front end refuses: a name that is used before it is declared.
func TestOptionalReaders(t *testing.T) {
	t.Parallel()
	early := folder(t, "`default_nettype none\nmodule a (\n    input wire clk,\n    input wire d,\n    output reg q\n);\n"+
		"    wire unused_bits = &{1'b0, later};\n    wire later = !d;\n    always @(posedge clk) q <= d;\nendmodule\n`default_nettype wire\n")
	syntax := folder(t, "module a (input wire clk, input wire d, output reg q);\n    always @(posedge clk) q <= ;\nendmodule\n")
	rep, err := lint.Dir(context.Background(), early)
	require.NoError(t, err)
	there := map[string]bool{}
	for _, r := range rep.Runs {
		there[r.Tool] = true
	}
	found := func(rep lint.Report, name string) (all []string) {
		for _, f := range rep.Findings {
			if f.Tool == name {
				all = append(all, f.String())
			}
		}
		return all
	}
	if !there["slang"] && !there["verible"] {
		t.Skip("neither slang nor Verible is installed; make tools installs them")
	}
	if there["slang"] {
		assert.Equal(t, []string{"a.v:7: identifier 'later' used before its declaration [slang error]"}, found(rep, "slang"))
	}
	broken, err := lint.Dir(context.Background(), syntax)
	require.NoError(t, err)
	for _, name := range []string{"slang", "verible"} {
		if there[name] {
			require.NotEmpty(t, found(broken, name), name)
			assert.Contains(t, found(broken, name)[0], "a.v:2: ", name)
		}
	}
}

// Each planted fault must be seen by the readers named, at its line.
func TestFaults(t *testing.T) {
	t.Parallel()
	module := func(body string) string {
		return "`default_nettype none\nmodule a (\n    input wire clk,\n    input wire [3:0] d,\n    output reg [3:0] q\n);\n" +
			body + "\nendmodule\n`default_nettype wire\n"
	}
	for name, c := range map[string]struct {
		files []string
		want  []string // "tool code place" of findings that must be there
	}{
		"latch": {[]string{module("    always @* if (clk) q = d;")},
			[]string{"verilator LATCH a.v:7", "yosys latch a.v:7"}},
		"width": {[]string{module("    always @(posedge clk) q <= d[2:0];")},
			[]string{"verilator WIDTH a.v:7"}},
		"syntax": {[]string{module("    always @(posedge clk) q <= ;")},
			[]string{"verilator error a.v:7", "iverilog error a.v:7", "yosys error a.v:7"}},
		"missing module": {[]string{module("    always @(posedge clk) q <= d;\n    nowhere u_nowhere (.clk(clk));")},
			[]string{"verilator error a.v:8", "iverilog error a.v:8", "yosys error "}},
		"missing input, which Yosys takes in silence": {
			[]string{module("    wire [3:0] n;\n    b u_b (.q(n));\n    always @(posedge clk) q <= d & n;"),
				"`default_nettype none\nmodule b (input wire [3:0] d, output wire [3:0] q);\n    assign q = d;\nendmodule\n`default_nettype wire\n"},
			[]string{"verilator PINMISSING a.v:8"}},
		"two drivers": {[]string{module("    wire n;\n    assign n = d[0];\n    assign n = d[1];\n    always @(posedge clk) q <= {d[3:1], n};")},
			[]string{"yosys warning "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep, err := lint.Dir(context.Background(), folder(t, c.files...))
			require.NoError(t, err)
			assert.False(t, rep.Clean())
			var got []string
			for _, f := range rep.Findings {
				place := ""
				if f.File != "" {
					place = strings.Split(f.String(), ": ")[0]
				}
				got = append(got, f.Tool+" "+f.Code+" "+place)
				assert.NotEmpty(t, f.Text)
			}
			assert.Subset(t, got, c.want, "all findings: %v", rep.Findings)
		})
	}
}

func TestBadFolder(t *testing.T) {
	t.Parallel()
	_, err := lint.Dir(context.Background(), t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"schema":1,"name":"t"}`), 0o644))
	_, err = lint.Dir(context.Background(), dir)
	require.ErrorContains(t, err, "no files")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{`), 0o644))
	_, err = lint.Dir(context.Background(), dir)
	require.ErrorContains(t, err, "unexpected end of JSON input")

	_, err = lint.Dir(context.Background(), folder(t, clean), "switch")
	require.ErrorContains(t, err, `has no top "switch"`)
}

// A top that stands in another is read there, once, and what is wrong in it is found.
func TestInnerTop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("manifest.json", `{"schema":1,"name":"t","digest":"d","tops":{"core":{"module":"a"},"switch":{"module":"b"}},"files":["a.v","b.v"]}`)
	write("a.v", strings.Replace(clean, "q <= d;", "q <= d[0];", 1))
	write("b.v", "`default_nettype none\nmodule b (\n    input wire clk,\n    input wire d,\n    output wire q\n);\n"+
		"    a u_a (.clk(clk), .d(d), .q(q));\nendmodule\n`default_nettype wire\n")
	rep, err := lint.Dir(t.Context(), dir)
	require.NoError(t, err)
	for _, r := range rep.Runs {
		assert.Equal(t, "b", r.Top)
	}
	assert.False(t, rep.Clean())
	rep, err = lint.Dir(t.Context(), dir, "core")
	require.NoError(t, err)
	assert.Equal(t, "a", rep.Runs[0].Top)
}
