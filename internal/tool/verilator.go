// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"os/exec"
)

// A package's Verilator is a script in Perl that finds the program proper. That takes it a tenth of a second of processor time, longer than
// Verilator needs to read most modules. One that lies elsewhere may have more to find.
const (
	verilatorScript = "/usr/bin/verilator"
	verilatorBinary = "/usr/bin/verilator_bin"
	// unlimited is all that the script does for a run of ours but to find the program: the stack may grow as it needs to.
	unlimited = `ulimit -s unlimited 2>/dev/null; exec "$0" "$@"`
)

// direct returns what to run for a command whose program is at path: that program, but for the script of a package's Verilator what the
// script would run. Whoever sets a variable that the script goes by gets the script.
func direct(path string, c Command) (program string, args []string) {
	if path != verilatorScript || len(c.Args) == 0 || len(c.Env) > 0 {
		return path, c.Args
	}
	for _, name := range []string{"VERILATOR_ROOT", "VERILATOR_BIN", "VERILATOR_TEST_FLAGS"} {
		if os.Getenv(name) != "" {
			return path, c.Args
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return path, c.Args
	}
	if _, err := exec.LookPath(verilatorBinary); err != nil {
		return path, c.Args
	}
	return shell, append([]string{"-c", unlimited, verilatorBinary}, c.Args...)
}
