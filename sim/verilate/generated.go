// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var rootLine = regexp.MustCompile(`(?m)^VERILATOR_ROOT = (.+)$`)

// parseRoot reads from a model's makefile where Verilator keeps its run-time library.
func parseRoot(makefile string) (string, error) {
	m := rootLine.FindStringSubmatch(makefile)
	if m == nil {
		return "", errors.New("the model's makefile does not say where Verilator's run-time library is")
	}
	return m[1], nil
}

// genPort is a port as Verilator's header declares it.
type genPort struct {
	member string // C++ name
	name   string // Verilog name
	width  int
	dir    string // macro of abi.h
}

var (
	portLine = regexp.MustCompile(`^\s*VL_(IN|OUT|INOUT)(8|16|64|W)?\(&(\w+),(\d+),(\d+)(?:,\d+)?\);`)
	anyPort  = regexp.MustCompile(`^\s*VL_(IN|OUT|INOUT)(8|16|64|W)?\(`)
	escape   = regexp.MustCompile(`__0([0-9A-F]{2})`)
)

// parsePorts reads the port declarations of a model's header.
func parsePorts(header string) ([]genPort, error) {
	var ports []genPort
	for _, line := range strings.Split(header, "\n") {
		m := portLine.FindStringSubmatch(line)
		if m == nil {
			if anyPort.MatchString(line) {
				return nil, fmt.Errorf("a port is an array, which is not supported; flatten it: %s", strings.TrimSpace(line))
			}
			continue
		}
		msb, err := strconv.Atoi(m[4])
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", m[3], err)
		}
		lsb, err := strconv.Atoi(m[5])
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", m[3], err)
		}
		name := escape.ReplaceAllStringFunc(strings.TrimPrefix(m[3], "__SYM__"), func(s string) string {
			code, _ := strconv.ParseUint(s[3:], 16, 8) // two hex digits, by the expression
			return string(rune(code))
		})
		ports = append(ports, genPort{member: m[3], name: name, width: msb - lsb + 1, dir: "INCSIM_" + m[1]})
	}
	if len(ports) == 0 {
		return nil, errors.New("the top module has no ports")
	}
	return ports, nil
}

// impure is what generated code calls, or holds, whose effect or state lies outside the model's own memory: the time, random numbers,
// files and other programs, the heap, foreign functions. Verilator's x-assign draws its values when the model is made.
var impure = regexp.MustCompile(`\bVL_(TIME|U?RANDOM|RAND_|DIST_|READMEM|WRITEMEM|SYSTEM|TESTPLUSARGS|VALUEPLUSARGS|` +
	`F(OPEN|CLOSE|EOF|ERROR|FLUSH|GET|READ|SCANF|SEEK|TELL|UNGETC|WRITE|REWIND))|` +
	`\bVl(Queue|AssocArray|Class|Fork|Coroutine|Delay|Process|RNG|Mailbox|Semaphore)|\bstd::|__Vdpi|\btime\(|\bnew\b`)

// harmless is what looks impure and is not: how later Verilators name the model itself, and a parameter of a function that prints
// triggers, in a Verilator's own debugging.
var harmless = regexp.MustCompile(`std::ref\(\*vlSelf\)|const std::string ?& ?tag\b`)

// pure reports whether an evaluation depends on the model's own memory alone. sources are the names, without ending, of what runs at each
// evaluation; what runs once, when the model is made, may do as it likes.
func pure(obj, prefix string, sources []string) (bool, error) {
	files := []string{}
	for _, name := range sources {
		if name != prefix { // the class around the model, which makes it
			files = append(files, filepath.Join(obj, name+".cpp"))
		}
	}
	headers, err := filepath.Glob(filepath.Join(obj, prefix+"_*.h"))
	if err != nil {
		return false, fmt.Errorf("reading what Verilator made: %w", err)
	}
	for _, h := range headers {
		if base := filepath.Base(h); base != prefix+"__Syms.h" && base != prefix+"__Dpi.h" {
			files = append(files, h)
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return false, fmt.Errorf("reading what Verilator made: %w", err)
		}
		for line := range bytes.Lines(text) {
			code, _, _ := bytes.Cut(line, []byte("//"))
			if impure.Match(harmless.ReplaceAll(code, nil)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// modelInclude writes the part of the shim that depends on the model.
func modelInclude(prefix string, ports []genPort, clean, cover bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#include \"%s.h\"\n#include \"%s__Syms.h\"\n#define INCSIM_CLASS %s\n#define INCSIM_SYMS %s__Syms\n", prefix, prefix, prefix, prefix)
	if clean {
		b.WriteString("#define INCSIM_PURE 1\n")
	} else {
		b.WriteString("#define INCSIM_PURE 0\n")
	}
	if cover {
		b.WriteString("#define INCSIM_COVERED 1\n#include \"verilated_cov.h\"\n")
	} else {
		b.WriteString("#define INCSIM_COVERED 0\n")
	}
	b.WriteString("#define INCSIM_PORTS(X)")
	for _, p := range ports {
		fmt.Fprintf(&b, " \\\n    X(%s, %q, %d, %s)", p.member, p.name, p.width, p.dir)
	}
	b.WriteString("\n")
	return b.Bytes()
}

// parseClasses reads the lists of files in Verilator's _classes.mk.
func parseClasses(text string) map[string][]string {
	lists := map[string][]string{}
	current := ""
	for _, line := range strings.Split(text, "\n") {
		if name, _, ok := strings.Cut(line, " += "); ok {
			current = name
			continue
		}
		name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "\\"))
		if current == "" || name == "" || strings.HasPrefix(name, "#") {
			if name == "" && !strings.HasSuffix(strings.TrimSpace(line), "\\") {
				current = ""
			}
			continue
		}
		lists[current] = append(lists[current], name)
	}
	return lists
}
