// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// block is a fenced shell block of a document.
type block struct {
	file string
	kind string // "run": run here; "demo": run by make demo; "": make targets only
	text string
}

// documents are the README and all of docs/, by path from the root.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(repository(t), "docs", "*.md"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 4)
	return append(all, filepath.Join(repository(t), "README.md"))
}

func blocks(t *testing.T) []block {
	t.Helper()
	var found []block
	fence := regexp.MustCompile("(?ms)^```sh *(\\w*)\n(.*?)^```$")
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			found = append(found, block{filepath.Base(path), m[1], m[2]})
		}
	}
	require.NotEmpty(t, found)
	return found
}

// copyRepository copies the sources, so that documents cannot change them.
func copyRepository(t *testing.T, to string) {
	root := repository(t)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (d.Name() == ".git" || rel == buildDir):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	}))
}

// Every runnable block of every document is run in a copy of the repository, the blocks of a document in order.
func TestDocumentsRun(t *testing.T) {
	scripts := map[string]*bytes.Buffer{}
	for _, b := range blocks(t) {
		if b.kind != "run" {
			continue
		}
		if scripts[b.file] == nil {
			scripts[b.file] = &bytes.Buffer{}
		}
		scripts[b.file].WriteString(b.text)
	}
	require.Contains(t, scripts, "README.md")
	require.Contains(t, scripts, "howto.md")
	dir := t.TempDir()
	for name, text := range scripts {
		// bash -x shows which command failed.
		script := "cd repo\nexec bash -euxo pipefail ../doc.sh\n-- doc.sh --\n" + text.String()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script), 0o644))
	}
	setup := environment(t)
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		copyRepository(t, filepath.Join(env.WorkDir, "repo"))
		return setup(env)
	}})
}

// Blocks that are not run here hold commands that make runs: its targets, or lines of the demo.
func TestOtherBlocks(t *testing.T) {
	plan := func(target string) string {
		cmd := exec.Command("make", "-n", target)
		cmd.Dir = repository(t)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "make %s: %s", target, out)
		return string(out)
	}
	demo := strings.ReplaceAll(plan("demo"), "build/incforge ", "incforge ")
	for _, b := range blocks(t) {
		for lines := bufio.NewScanner(strings.NewReader(b.text)); lines.Scan(); {
			line, _, _ := strings.Cut(lines.Text(), "#")
			line = strings.TrimSpace(line)
			switch b.kind {
			case "run":
			case "demo":
				assert.Contains(t, demo, line, "%s: make demo does not run this", b.file)
			case "":
				target, ok := strings.CutPrefix(line, "make ")
				require.True(t, ok, "%s: %q is neither run nor a target of make", b.file, line)
				plan(target)
			default:
				t.Errorf("%s: block of kind %q", b.file, b.kind)
			}
		}
	}
}

// Links between documents and folders lead somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(path), m[1]))
			assert.NoError(t, err, "%s: %s", filepath.Base(path), m[1])
		}
	}
}
