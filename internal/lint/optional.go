// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"incforge/internal/tool"
)

// The optional readers come from the Python registry: make tools puts them into an environment of their own, build/lint-tools, as Debian's
// Python is the system's. It is looked for beside the program, in the working folder's build, and upward from there.
const (
	environment = "lint-tools"
	// EnvironmentVariable names another folder with such an environment.
	EnvironmentVariable = "INCFORGE_LINT_TOOLS"
)

// bins are the folders in which optional programs may lie, besides those in PATH.
func bins() []string {
	var dirs []string
	if dir := os.Getenv(EnvironmentVariable); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(exe), environment, "bin"))
	}
	if dir, err := os.Getwd(); err == nil {
		for range 4 { // tests run in their package's folder
			dirs = append(dirs, filepath.Join(dir, "build", environment, "bin"))
			dir = filepath.Dir(dir)
		}
	}
	return dirs
}

// optional finds a program in PATH or in the environment that make tools made.
func optional(name string) (string, bool) {
	if path, err := tool.Find(name); err == nil {
		return path, true
	}
	for _, dir := range bins() {
		if path, err := tool.Find(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

// slangScript is slang's command line on its Python module, which brings no program.
//
//go:embed slang.py
var slangScript string

// slangPython finds a Python that has slang.
func slangPython(ctx context.Context) (string, bool) {
	candidates := []string{"python3"}
	for _, dir := range bins() {
		candidates = append(candidates, filepath.Join(dir, "python3"))
	}
	for _, python := range candidates {
		if _, err := tool.Find(python); err != nil {
			continue
		}
		_, err := tool.Run(ctx, tool.Command{Name: python, Args: slangVersion(), Timeout: 30 * time.Second})
		if err == nil {
			return python, true
		}
	}
	return "", false
}

func slangVersion() []string {
	return []string{"-c", "import importlib.metadata, pyslang; print('slang', importlib.metadata.version('pyslang'))"}
}

func slangArgs(top string, files []string) []string {
	return append([]string{"-c", slangScript, top}, files...)
}

// veribleArgs has Verible parse; it does not elaborate, so the top means nothing to it.
func veribleArgs(_ string, files []string) []string { return files }

var slangLine = regexp.MustCompile(`^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$`)

// parseSlang reads lines such as "rtl/x.v:4:29: error: text"; what belongs to the library as a whole has no place.
func parseSlang(output string) []Finding {
	var found []Finding
	for _, line := range strings.Split(output, "\n") {
		if m := slangLine.FindStringSubmatch(line); m != nil {
			found = append(found, Finding{Code: "error", File: m[1], Line: number(m[2]), Text: m[3]})
		} else if text, ok := strings.CutPrefix(line, "error: "); ok {
			found = append(found, Finding{Code: "error", Text: text})
		}
	}
	return found
}

var veribleLine = regexp.MustCompile(`^(\S+?):(\d+):[\d-]+: (.*)$`)

// parseVerible reads lines such as "rtl/x.v:4:29-31: syntax error at token ...".
func parseVerible(output string) []Finding {
	var found []Finding
	for _, line := range strings.Split(output, "\n") {
		if m := veribleLine.FindStringSubmatch(line); m != nil {
			found = append(found, Finding{Code: "error", File: m[1], Line: number(m[2]), Text: m[3]})
		}
	}
	return found
}
