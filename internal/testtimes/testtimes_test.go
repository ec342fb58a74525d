// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// go test calls this program for each test program.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(execTest(os.Args[2:]))
	}
	os.Exit(m.Run())
}

var module = map[string]string{
	"go.mod": "module example\n\ngo 1.25\n",
	"good/good_test.go": `package good

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	_ = os.Getenv("TESTTIMES_SEES")
	t.Log("a word of a test that passes")
	t.Run("part", func(t *testing.T) { t.Attr("tools_cpu_ms", "1500"); t.Attr("tools_runs", "2") })
	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}
}

// Lists the folder above the one in which the times are written.
func TestFolder(t *testing.T) {
	if _, err := os.ReadDir(".."); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond) // go test keeps no verdict from a folder that changed within two seconds
}

func TestParallel(t *testing.T) {
	for _, part := range []string{"a", "b"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			time.Sleep(200 * time.Millisecond)
		})
	}
}
`,
	"bad/bad_test.go": `package bad

import "testing"

func TestParts(t *testing.T) {
	t.Run("well", func(t *testing.T) { t.Log("a part that passes") })
	t.Run("ill", func(t *testing.T) { t.Error("the reason") })
}
`,
	"worse/worse_test.go": "package worse\n\nimport \"testing\"\n\nfunc TestPanics(t *testing.T) { panic(\"the end\") }\n",
	"none/none.go":        "package none\n",
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range module {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	t.Chdir(dir)
	file := filepath.Join(dir, "build", "times.json")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	call := func(packages ...string) (code int, said string, got times) {
		var out, errors bytes.Buffer
		code, err := run(file, append([]string{"go", "test"}, packages...), &out, &errors)
		require.NoError(t, err, errors.String())
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &got))
		return code, out.String() + errors.String(), got
	}

	t.Setenv("TESTTIMES_SEES", "one")
	code, said, first := call("./good", "./none")
	assert.Zero(t, code, said)
	assert.Regexp(t, `(?m)^ok  \texample/good\t\d`, said)
	assert.Regexp(t, `(?m)^\?   \texample/none\t\[no test files\]`, said)
	assert.NotContains(t, said, "a word of")
	assert.NotContains(t, said, costMark)
	require.Len(t, first.Packages, 2)
	good := first.Packages[0]
	assert.Equal(t, "example/good", good.Package)
	assert.Greater(t, good.CPUS, 0.05, "the shell's loop is part of it")
	assert.InDelta(t, good.CPUS, first.CPUS, 0.002)
	assert.Positive(t, first.GoCPUS)
	assert.InDelta(t, 1.5, good.Tools, 1e-9)
	require.Len(t, good.Tests, 3)
	tests := map[string]testTime{}
	for _, test := range good.Tests {
		tests[test.Name] = test
	}
	assert.GreaterOrEqual(t, tests["TestParallel"].WallS, 0.4, "its parts' time, one after the other")
	assert.InDelta(t, 1.5, tests["TestBusy"].Tools, 1e-9, "a part's programs are its test's")
	assert.Equal(t, 2, tests["TestBusy"].Runs)
	dearer := func(x, y testTime) int { return cmp.Compare(max(y.WallS, y.Tools), max(x.WallS, x.Tools)) }
	assert.True(t, slices.IsSortedFunc(good.Tests, dearer), "the dearest first")
	assert.Equal(t, "TestParallel", good.Tests[2].Name, "it takes 0.4 s, the others 1.5 and 2.1 at least")
	assert.Equal(t, 1, first.Ran)

	code, said, second := call("./good") // the file of times is there now, and was not before the first call
	assert.Zero(t, code)
	assert.Contains(t, said, "ok  \texample/good\t(cached)", "go test keeps its verdicts")
	assert.Equal(t, 1, second.Cached)
	assert.Zero(t, second.CPUS)
	assert.Equal(t, good.CPUS, second.Packages[0].CPUS, "what the verdict cost when it was made")

	t.Setenv("TESTTIMES_SEES", "two")
	_, said, _ = call("./good")
	assert.NotContains(t, said, "(cached)", "the test read a variable that is another now")

	code, said, bad := call("./bad", "./worse", "./missing")
	assert.Equal(t, 1, code)
	for _, want := range []string{"--- FAIL: TestParts (", "--- FAIL: TestParts/ill", "the reason", "FAIL\texample/bad", "panic: the end", "FAIL\texample/worse", "missing"} {
		assert.Contains(t, said, want)
	}
	for _, needless := range []string{"a part that passes", "=== RUN"} {
		assert.NotContains(t, said, needless)
	}
	require.GreaterOrEqual(t, len(bad.Packages), 2)
	for _, p := range bad.Packages {
		assert.Equal(t, "fail", p.Result)
	}
}
