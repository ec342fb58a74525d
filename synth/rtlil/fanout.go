// SPDX-License-Identifier: Apache-2.0

package rtlil

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"incforge/synth/yosys"
)

// A buffer drives so many instances, or so many buffers of the next level.
const (
	fanInstances = 4
	fanBuffers   = 8
)

// Fanout gives every wire that enters more than fanBuffers instances of modules
// a tree of buffers, and returns the changed RTLIL text. ABC sees a module at a
// time: to it an instance is no load, and a control bit of all lanes would be
// driven by whatever gate makes it. Nets called as in skip, clock and reset, are
// trees of the layout and stay.
func Fanout(rtlil []byte, buffer, in, out string, skip ...string) []byte {
	tree := yosys.Instances(rtlil)
	var result bytes.Buffer
	var module string
	var body [][]byte
	for line := range bytes.Lines(rtlil) {
		switch words := bytes.Fields(line); {
		case bytes.HasPrefix(line, []byte("module ")):
			module, body = yosys.Plain(string(words[1])), nil
			result.Write(line)
		case module != "" && bytes.HasPrefix(line, []byte("end")):
			fanoutModule(&result, body, tree[module], buffer, in, out, skip)
			result.Write(line)
			module = ""
		case module != "":
			body = append(body, line)
		default:
			result.Write(line)
		}
	}
	return result.Bytes()
}

// fanoutModule writes a module's body, without its first and last line. The
// wires of the trees go first, because RTLIL knows a name from its declaration
// on, their buffers last.
func fanoutModule(w *bytes.Buffer, body [][]byte, instances map[string]string, buffer, in, out string, skip []string) {
	widths := map[string]int{}
	uses := map[string][]int{} // lines that connect a wire to an instance
	var order []string
	inside := false
	for i, line := range body {
		words := strings.Fields(string(line))
		switch {
		case len(words) > 1 && words[0] == "wire":
			width := 1
			if k := slices.Index(words, "width"); k > 0 && k+1 < len(words) {
				if n, err := strconv.Atoi(words[k+1]); err == nil {
					width = n
				}
			}
			widths[words[len(words)-1]] = width
		case len(words) == 3 && words[0] == "cell":
			inside = instances[yosys.Plain(words[2])] != ""
		case len(words) == 1 && words[0] == "end":
			inside = false
		case inside && len(words) == 3 && words[0] == "connect" && widths[words[2]] > 0 && !slices.Contains(skip, yosys.Plain(words[2])):
			if uses[words[2]] == nil {
				order = append(order, words[2])
			}
			uses[words[2]] = append(uses[words[2]], i)
		}
	}
	var wires, buffers bytes.Buffer
	for n, net := range order {
		if len(uses[net]) <= fanBuffers {
			continue
		}
		// Level 0 drives the instances; the last has one buffer, driven by the net.
		count := (len(uses[net]) + fanInstances - 1) / fanInstances
		name := func(level, i int) string { return fmt.Sprintf("$fanout$%d$%d$%d", n, level, i) }
		for i, line := range uses[net] {
			words := strings.Fields(string(body[line]))
			body[line] = fmt.Appendf(nil, "    connect %s %s\n", words[1], name(0, i/fanInstances))
		}
		for level := 0; ; level++ {
			for i := range count {
				from := net
				if count > 1 {
					from = name(level+1, i/fanBuffers)
				}
				fmt.Fprintf(&wires, "  wire width %d %s\n", widths[net], name(level, i))
				for bit := range widths[net] {
					fmt.Fprintf(&buffers, "  cell \\%s %s$%d\n    connect \\%s %s [%[3]d]\n    connect \\%[6]s %[2]s [%[3]d]\n  end\n",
						buffer, name(level, i), bit, in, from, out)
				}
			}
			if count == 1 {
				break
			}
			count = (count + fanBuffers - 1) / fanBuffers
		}
	}
	w.Write(wires.Bytes())
	for _, line := range body {
		w.Write(line)
	}
	w.Write(buffers.Bytes())
}
