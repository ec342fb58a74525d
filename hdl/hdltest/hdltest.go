// SPDX-License-Identifier: Apache-2.0

// Package hdltest holds leaf modules to their Go descriptions: the Verilog is
// elaborated at many parameter points and its ports, memories and refusals are
// compared with what the description says. It is for the tests of hdl/*.
package hdltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// Refused is a parameter point that both sides must refuse for the same reason.
type Refused struct {
	Leaf   graph.Describer // its Module returns an error that contains Rule
	Params []graph.Param   // what the Verilog gets, over the first legal point's parameters
	Rule   string          // words that Go, Verilator and Yosys must all say
}

// TestingT is the part of *testing.T that Check needs.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	Context() context.Context
	TempDir() string
}

var _ TestingT = (*testing.T)(nil)

// Check compares the module that each legal point describes with its elaborated
// Verilog, and sees each refused point refused:
//
//   - Yosys: ports with their order, directions and widths; every described memory
//     exists at its path with its words and bits; nothing undriven; no latch (but
//     at the widest points);
//   - Verilator -Wall without a warning, Icarus -g2005 -Wall without a message;
//   - the file's form: licence, contract, default_nettype;
//   - refusals: Go, Verilator and Yosys say Rule.
func Check(t TestingT, legal []graph.Describer, refused []Refused) {
	t.Helper()
	if len(legal) == 0 {
		t.Errorf("hdltest: no legal parameter point: nothing would be checked")
		return
	}
	var points []*point
	for i, d := range legal {
		m, err := d.Module()
		if err == nil {
			err = m.Check()
		}
		if err == nil && m.Source == nil {
			err = errors.New("the module is a composite; hdltest is for leafs")
		}
		if err != nil {
			t.Errorf("legal point %d: the description refuses it: %v", i, err)
			return
		}
		points = append(points, &point{m: m, label: label(m.Name, m.Params)})
	}
	if err := layOut(t.TempDir(), points); err != nil {
		t.Errorf("hdltest: %v", err)
		return
	}
	for _, problem := range form(points[0].m) {
		t.Errorf("%s: %s", points[0].m.Name, problem)
	}
	ctx := t.Context()
	if tb, ok := t.(testing.TB); ok {
		ctx = testcost.Context(tb)
	}
	checkYosys(ctx, t, points)
	for _, p := range points {
		p.lint(ctx, t)
	}
	for i, r := range refused {
		checkRefused(ctx, t, i, r, points[0])
	}
}

// point is one parameter point, its sources in dir.
type point struct {
	m     *graph.Module
	label string
	dir   string
	files []string // relative to dir
}

// wideBits is the sum of the ports' widths from which Yosys elaborates a point and no more. Turning its processes into flip-flops takes ten
// times as long then, and whether one of them is a latch or undriven does not depend on a width; Verilator looks at every point.
const wideBits = 8 * 2048

func (p *point) wide() bool {
	bits := 0
	for _, port := range p.m.Ports {
		bits += port.Width
	}
	return bits >= wideBits
}

func label(name string, params []graph.Param) string {
	for _, p := range params {
		name += fmt.Sprintf(" %s=%d", p.Name, p.Value)
	}
	return name
}

// layOut writes the sources. Points that share all bytes share a folder; a leaf
// whose text depends on its parameters gets one a point.
func layOut(root string, points []*point) error {
	dirs := map[string]string{}
	for i, p := range points {
		files, err := verilog.Collect(p.m)
		if err != nil {
			return err
		}
		key := ""
		for _, f := range files {
			key += f.Path + "\n" + string(f.Data)
		}
		if _, ok := dirs[key]; !ok {
			dirs[key] = filepath.Join(root, fmt.Sprintf("p%d", i))
			if err := files.Write(dirs[key]); err != nil {
				return err
			}
		}
		p.dir, p.files = dirs[key], files.Paths()
	}
	return nil
}

// form returns what is missing from the text of a leaf.
func form(m *graph.Module) []string {
	text := string(m.Source)
	var out []string
	need := func(ok bool, what string) {
		if !ok {
			out = append(out, what)
		}
	}
	need(strings.HasPrefix(text, "// SPDX-License-Identifier: Apache-2.0\n"), "first line is not the SPDX licence line")
	need(strings.Contains(text, "// "+m.Name+": "), "header does not begin with \""+m.Name+": \"")
	header, _, _ := strings.Cut(text, "`default_nettype none\n")
	need(header != text, "no `default_nettype none")
	need(strings.Contains(header, "\n// Contract\n"), "header has no Contract")
	for _, word := range []string{"latency", "throughput", "stall", "reset", "not done"} {
		need(regexp.MustCompile(`(?m)^//\s+`+word+`\s`).MatchString(header), "contract says nothing about: "+word)
	}
	need(strings.HasSuffix(text, "endmodule\n\n`default_nettype wire\n"), "file does not end in endmodule and `default_nettype wire")
	need(!strings.Contains(text, "lint_off"), "lint waivers are not allowed in leafs")
	need(m.Purpose != "", "description has no Purpose")
	need(m.Latency != "", "description has no Latency")
	return out
}

// yosysValue prints a parameter value for -chparam, which knows no minus sign.
func yosysValue(v int) string {
	if v >= 0 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("32'sb%032b", uint32(v))
}

func yosysScript(p *point, params []graph.Param, json string) string {
	var b strings.Builder
	b.WriteString("read_verilog -defer")
	for _, f := range p.files {
		b.WriteString(" " + filepath.Join(p.dir, f))
	}
	b.WriteString("\nhierarchy -check -top " + p.m.Name)
	for _, q := range params {
		b.WriteString(" -chparam " + q.Name + " " + yosysValue(q.Value))
	}
	if p.wide() {
		b.WriteString("\ndelete p:*\n")
	} else {
		b.WriteString("\nproc\ncheck -assert\nselect -assert-none t:$dlatch t:$_DLATCH*\n")
	}
	if json != "" {
		b.WriteString("write_json " + json + "\ndesign -reset\n")
	}
	return b.String()
}

// checkYosys elaborates all points in one process and compares what came out.
func checkYosys(ctx context.Context, t TestingT, points []*point) {
	t.Helper()
	root := t.TempDir()
	var script strings.Builder
	for i, p := range points {
		fmt.Fprintf(&script, "log -stdout hdltest-point %d\n", i)
		script.WriteString(yosysScript(p, p.m.Params, filepath.Join(root, fmt.Sprintf("%d.json", i))))
	}
	ys := filepath.Join(root, "all.ys")
	if err := os.WriteFile(ys, []byte(script.String()), 0o644); err != nil {
		t.Errorf("hdltest: %v", err)
		return
	}
	// Yosys only warns when it cuts or pads a connection.
	_, err := tool.Run(ctx, tool.Command{Name: "yosys", Args: []string{"-e", "Resizing|implicitly declared|out of bounds", "-s", ys}})
	if err != nil {
		failed := points[0]
		for i, p := range points {
			if _, missing := os.Stat(filepath.Join(root, fmt.Sprintf("%d.json", i))); missing != nil {
				failed = p
				break
			}
		}
		t.Errorf("%s: %v", failed.label, err)
		return
	}
	for i, p := range points {
		data, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("%d.json", i)))
		if err != nil {
			t.Errorf("%s: %v", p.label, err)
			return
		}
		net, err := parseNetlist(data)
		if err != nil {
			t.Errorf("%s: %v", p.label, err)
			return
		}
		for _, problem := range net.compare(p.m) {
			t.Errorf("%s: %s", p.label, problem)
		}
	}
}

// netlist is what the comparison needs of Yosys' JSON.
type netlist struct {
	Modules map[string]*netModule `json:"modules"`
	top     *netModule
}

type netModule struct {
	Attributes map[string]string    `json:"attributes"`
	Ports      json.RawMessage      `json:"ports"`
	Cells      map[string]netCell   `json:"cells"`
	Memories   map[string]netMemory `json:"memories"`
}

type netCell struct {
	Type string `json:"type"`
}

type netMemory struct {
	Width int `json:"width"`
	Size  int `json:"size"`
}

func parseNetlist(data []byte) (*netlist, error) {
	var n netlist
	if err := json.Unmarshal(data, &n); err != nil {
		return nil, fmt.Errorf("yosys netlist: %w", err)
	}
	for _, m := range n.Modules {
		if m.Attributes["top"] != "" {
			n.top = m
		}
	}
	if n.top == nil {
		return nil, errors.New("yosys netlist: no top module")
	}
	return &n, nil
}

// ports returns the ports in the order of their declaration: Yosys writes them so,
// and a Go map would forget it.
func (m *netModule) ports() ([]contract.Port, error) {
	var byName map[string]struct {
		Direction string            `json:"direction"`
		Bits      []json.RawMessage `json:"bits"`
	}
	if err := json.Unmarshal(m.Ports, &byName); err != nil {
		return nil, fmt.Errorf("yosys netlist: ports: %w", err)
	}
	var out []contract.Port
	dec := json.NewDecoder(strings.NewReader(string(m.Ports)))
	depth := 0
	for {
		tok, err := dec.Token()
		if err != nil {
			return out, nil
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if p, ok := byName[v]; depth == 1 && ok {
				out = append(out, contract.Port{Name: v, Dir: strings.TrimSuffix(p.Direction, "put"), Width: len(p.Bits)})
			}
		}
	}
}

func (n *netlist) compare(m *graph.Module) []string {
	var out []string
	got, err := n.top.ports()
	if err != nil {
		return []string{err.Error()}
	}
	want := verilog.Ports(m)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			out = append(out, fmt.Sprintf("port %s is described but not in the Verilog", want[i].Name))
		case i >= len(want):
			out = append(out, fmt.Sprintf("port %s is in the Verilog but not described", got[i].Name))
		case got[i] != want[i]:
			out = append(out, fmt.Sprintf("port %d: described as %s, elaborated as %s", i, show(want[i]), show(got[i])))
		}
	}
	return append(out, n.compareMemories(m)...)
}

func show(p contract.Port) string { return fmt.Sprintf("%s %s [%d bits]", p.Dir, p.Name, p.Width) }

// compareMemories looks for every described memory at its path, and for memories that nobody described. A path leads
// through instances; a generate block's name is part of an instance's name.
func (n *netlist) compareMemories(m *graph.Module) []string {
	var out []string
	described := map[string]bool{}
	for _, mem := range m.AllMemories() {
		described[mem.Path] = true
		at, typ := n.find(mem.Path)
		where := "memory " + mem.Path
		if mem.Path == "" {
			where, typ = "memory in "+m.Name, m.Name
		}
		if at == nil {
			out = append(out, where+": there is no such instance")
			continue
		}
		if typ != mem.Module {
			out = append(out, fmt.Sprintf("%s: is a %s, described as a %s", where, typ, mem.Module))
		}
		// A RAM that is built from registers has no memory left to compare.
		sizes := slices.Collect(maps.Values(at.Memories))
		if len(sizes) > 0 && !slices.Contains(sizes, netMemory{Width: mem.Bits, Size: mem.Words}) {
			out = append(out, fmt.Sprintf("%s: described as %d words of %d bits, elaborated as %s", where, mem.Words, mem.Bits, showSizes(sizes)))
		}
	}
	for _, path := range n.rams(n.top, "") {
		if !described[path] {
			out = append(out, fmt.Sprintf("memory %s is in the Verilog but not described", path))
		}
	}
	return out
}

// rams are the paths below a module of all instances of the library's RAMs, in order.
func (n *netlist) rams(at *netModule, below string) (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(at.Cells)) {
		typ, path := at.Cells[name].Type, below+name
		switch inside := n.Modules[typ]; {
		case slices.Contains([]string{"inc_ram_1r1w", "inc_ram_1rw"}, sourceName(typ)):
			paths = append(paths, path)
		case inside != nil:
			paths = append(paths, n.rams(inside, path+".")...)
		}
	}
	return paths
}

func showSizes(sizes []netMemory) string {
	var words []string
	for _, s := range sizes {
		words = append(words, fmt.Sprintf("%d words of %d bits", s.Size, s.Width))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// find follows a path of instance names from the top and returns the module it
// ends at and that module's name in the source.
func (n *netlist) find(path string) (*netModule, string) {
	at, typ := n.top, ""
	for path != "" {
		next := ""
		for name := range at.Cells {
			if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '.') && len(name) > len(next) {
				next = name
			}
		}
		if next == "" {
			return nil, ""
		}
		typ = at.Cells[next].Type
		if at = n.Modules[typ]; at == nil {
			return nil, ""
		}
		path = strings.TrimPrefix(strings.TrimPrefix(path, next), ".")
	}
	return at, sourceName(typ)
}

// sourceName undoes Yosys' names of parametrised modules: "$paramod\NAME\P=..."
// and "$paramod$HASH\NAME".
func sourceName(typ string) string {
	rest, ok := strings.CutPrefix(typ, "$paramod")
	if !ok {
		return typ
	}
	parts := strings.Split(rest, `\`)
	if len(parts) < 2 {
		return typ
	}
	return parts[1]
}

func (p *point) verilator(ctx context.Context, params []graph.Param) (tool.Result, error) {
	args := []string{"--lint-only", "-Wall", "--top-module", p.m.Name}
	for _, q := range params {
		args = append(args, fmt.Sprintf("-G%s=%d", q.Name, q.Value))
	}
	return tool.Run(ctx, tool.Command{Name: "verilator", Args: append(args, p.files...), Dir: p.dir})
}

func (p *point) lint(ctx context.Context, t TestingT) {
	t.Helper()
	res, err := p.verilator(ctx, p.m.Params)
	if err != nil {
		t.Errorf("%s: %v", p.label, err)
	} else if len(res.Output) > 0 {
		t.Errorf("%s: verilator: %s", p.label, res.Output)
	}
	args := []string{"-g2005", "-Wall", "-t", "null", "-s", p.m.Name}
	for _, q := range p.m.Params {
		args = append(args, fmt.Sprintf("-P%s.%s=%d", p.m.Name, q.Name, q.Value))
	}
	res, err = tool.Run(ctx, tool.Command{Name: "iverilog", Args: append(args, p.files...), Dir: p.dir})
	if err != nil {
		t.Errorf("%s: %v", p.label, err)
	} else if len(res.Output) > 0 {
		t.Errorf("%s: iverilog: %s", p.label, res.Output)
	}
}

// checkRefused sees Go, Verilator and Yosys refuse a point with the same rule.
func checkRefused(ctx context.Context, t TestingT, i int, r Refused, base *point) {
	t.Helper()
	params := slices.Clone(base.m.Params)
	for _, q := range r.Params {
		at := slices.IndexFunc(params, func(p graph.Param) bool { return p.Name == q.Name })
		if at < 0 {
			t.Errorf("refused point %d: %s has no parameter %s", i, base.m.Name, q.Name)
			return
		}
		params[at] = q
	}
	name := label(base.m.Name, params)
	if strings.TrimSpace(r.Rule) == "" {
		t.Errorf("%s: refused by which rule? Rule is empty", name)
		return
	}
	// The rule of the Verilog carries the module's name, the rule of Go need not.
	if _, err := r.Leaf.Module(); err == nil {
		t.Errorf("%s: Go takes it, must refuse it: %s", name, r.Rule)
	} else if !strings.Contains(err.Error(), r.Rule) {
		t.Errorf("%s: Go refuses it for another reason than %q: %v", name, r.Rule, err)
	}
	rule := base.m.Name + ": " + r.Rule
	res, err := base.verilator(ctx, params)
	said(t, name, "Verilator", rule, res, err)
	script := filepath.Join(t.TempDir(), "refused.ys")
	if err := os.WriteFile(script, []byte(yosysScript(base, params, "")), 0o644); err != nil {
		t.Errorf("hdltest: %v", err)
		return
	}
	res, err = tool.Run(ctx, tool.Command{Name: "yosys", Args: []string{"-s", script}})
	said(t, name, "Yosys", rule, res, err)
}

func said(t TestingT, name, who, rule string, res tool.Result, err error) {
	t.Helper()
	var exit *tool.ExitError
	switch {
	case err == nil:
		t.Errorf("%s: %s takes it, must refuse it: %s", name, who, rule)
	case !errors.As(err, &exit):
		t.Errorf("%s: %v", name, err)
	case !strings.Contains(string(res.Output), rule):
		t.Errorf("%s: %s refuses it for another reason than %q: %v", name, who, rule, err)
	}
}
