// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func verilatorArgs(top string, files []string) []string {
	return append([]string{"--lint-only", "-Wall", "--top-module", top}, files...)
}

// asserted tells that there are assertions among the files, which are no Verilog-2005.
func asserted(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(file, ".sv") })
}

func icarusArgs(top string, files []string) []string {
	language := "-g2005"
	if asserted(files) {
		language = "-g2012"
	}
	return append([]string{language, "-Wall", "-t", "null", "-s", top}, files...)
}

// yosysArgs elaborates from the top alone (-defer), so that a module is judged with the parameters it is used with.
func yosysArgs(top string, files []string) []string {
	quoted := make([]string, len(files))
	for i, f := range files {
		quoted[i] = `"` + f + `"`
	}
	read := "read_verilog -defer "
	if asserted(files) {
		read = "read_verilog -sv -defer "
	}
	return []string{"-p", read + strings.Join(quoted, " ") +
		"; hierarchy -check -top " + top + "; proc; check -assert; select -assert-none t:$dlatch t:$adlatch t:$sr t:$dlatchsr"}
}

var verilatorLine = regexp.MustCompile(`^%(Warning|Error)(?:-(\w+))?: (?:(\S+?):(\d+):\d+: )?(.*)$`)

// parseVerilator reads lines such as "%Warning-WIDTH: rtl/x.v:4:29: text". The closing "Exiting due to" line counts nothing new.
func parseVerilator(output string) []Finding {
	var found []Finding
	for _, line := range strings.Split(output, "\n") {
		m := verilatorLine.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[5], "Exiting due to") {
			continue
		}
		code := m[2]
		if code == "" {
			code = strings.ToLower(m[1])
		}
		found = append(found, Finding{Code: code, File: m[3], Line: number(m[4]), Text: m[5]})
	}
	return found
}

var icarusLine = regexp.MustCompile(`^(\S+?):(\d+): (?:(warning|error|sorry|internal error): )?(.*)$`)

// parseIcarus reads lines such as "rtl/x.v:3: error: text" and "rtl/x.v:3: syntax error". Indented lines are continuations.
func parseIcarus(output string) []Finding {
	var found []Finding
	for _, line := range strings.Split(output, "\n") {
		m := icarusLine.FindStringSubmatch(line)
		if m == nil || m[4] == "" {
			continue
		}
		code := m[3]
		if code == "" {
			code = "error"
			if !strings.Contains(m[4], "error") {
				code = "note"
			}
		}
		if code == "note" { // explains the finding before it
			if n := len(found); n > 0 {
				found[n-1].Text += "; " + strings.TrimLeft(m[4], " :")
			}
			continue
		}
		found = append(found, Finding{Code: code, File: m[1], Line: number(m[2]), Text: m[4]})
	}
	return found
}

var (
	yosysLine  = regexp.MustCompile(`^(?:(\S+?):(\d+): )?(Warning|ERROR): (.*)$`)
	yosysLatch = regexp.MustCompile("^Latch inferred for signal `([^']*)'.*\\$proc\\$(.*?):(\\d+)\\$")
)

// parseYosys reads "file:line: ERROR: text", "Warning: text" with its indented continuation, and the latch messages of proc,
// whose process name carries the place.
func parseYosys(output string) []Finding {
	var found []Finding
	open := false // the last line was a finding, so an indented one belongs to it
	for _, line := range strings.Split(output, "\n") {
		if m := yosysLatch.FindStringSubmatch(line); m != nil {
			found = append(found, Finding{Code: "latch", File: m[2], Line: number(m[3]), Text: "latch inferred for " + m[1]})
			open = false
			continue
		}
		if m := yosysLine.FindStringSubmatch(line); m != nil {
			open = true
			if !strings.HasPrefix(m[4], "Found ") || !strings.Contains(m[4], "problems in 'check") { // each was said before
				found = append(found, Finding{Code: strings.ToLower(m[3]), File: m[1], Line: number(m[2]), Text: m[4]})
			}
			continue
		}
		if open && strings.HasPrefix(line, "    ") && len(found) > 0 {
			found[len(found)-1].Text += " " + strings.TrimSpace(line)
			continue
		}
		open = false
	}
	return found
}

// number reads the digits a regular expression matched; no match is line 0.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
