// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"regexp"
	"strings"
)

// Dir is the direction of a port or stream, seen from its own module.
type Dir uint8

const (
	// In is an input.
	In Dir = iota
	// Out is an output.
	Out
)

// String returns "in" or "out", the words of manifest.json.
func (d Dir) String() string {
	switch d {
	case In:
		return "in"
	case Out:
		return "out"
	default:
		return fmt.Sprintf("Dir(%d)", uint8(d))
	}
}

// DefaultClock is the clock of a port that names none.
const DefaultClock = "clk"

// Async, as Port.Clock, marks an input that may be driven from any clock (it is
// synchronised inside) or an output that any clock may read (it is static).
const Async = "async"

// Port is one flat vector of a module.
type Port struct {
	Name  string
	Dir   Dir
	Width int    // bits, at least 1
	Clock string // name of the module's clock port it belongs to; empty means DefaultClock
	Doc   string // one line for the ports table
}

func (p Port) clock() string {
	if p.Clock == "" {
		return DefaultClock
	}
	return p.Clock
}

// Param is a parameter of a leaf module with the value an instance gives it.
type Param struct {
	Name  string
	Value int
}

// Stream says that the ports Name_tdata, Name_tkeep, Name_tvalid, ... (those that
// exist) are one AXI4-Stream bundle. Dir is the direction of the payload.
type Stream struct {
	Name string // prefix without the underscore, for example "s_axis"
	Dir  Dir
	Doc  string
}

// Memory is a RAM inside a module.
type Memory struct {
	Path   string // instance path relative to the module, joined by dots; empty: the module is the RAM
	Words  int
	Bits   int    // bits a word
	Role   string // what it holds: "payload", "state", ...
	Module string // module of the RAM; may be empty when Path is empty or only one submodule is a RAM
	// OnePort: it reads or writes in a cycle; otherwise it has a read and a write port.
	OnePort bool
}

// Module describes one module: a leaf (Source holds its Verilog) or a composite
// made by Composite.Build (Source is nil).
type Module struct {
	Name       string
	Purpose    string // one sentence
	Params     []Param
	Ports      []Port
	Streams    []Stream
	Source     []byte // the leaf's .v text; nil if composed
	File       string // file name without folder; empty means Name + ".v"
	Latency    string // in words, with its unit: "3 cycles"
	Memories   []Memory
	Submodules []*Module // modules the leaf's Source instantiates, whose files are needed too
	Unbuilt    []*Module // modules it instantiates only in generate branches that its parameters leave out: their files are not needed, but thread changes their instances too
	Block      string    // the paper's name of the block, for the diagram

	body *Structure
}

// streamSignals are the signals a stream may have, in port order.
func streamSignals() []string {
	return []string{"tdata", "tkeep", "tstrb", "tlast", "tid", "tdest", "tuser", "tside", "tvalid", "tready"}
}

// Composed returns the structure of a module made by Composite.Build, nil for a leaf.
func (m *Module) Composed() *Structure { return m.body }

// FileName returns the name of the file that holds the module.
func (m *Module) FileName() string {
	if m.File != "" {
		return m.File
	}
	return m.Name + ".v"
}

// Port returns the named port.
func (m *Module) Port(name string) (Port, bool) {
	for _, p := range m.Ports {
		if p.Name == name {
			return p, true
		}
	}
	return Port{}, false
}

// Stream returns the named stream.
func (m *Module) Stream(name string) (Stream, bool) {
	for _, s := range m.Streams {
		if s.Name == name {
			return s, true
		}
	}
	return Stream{}, false
}

// StreamPorts returns the ports that make up the named stream, in the order
// tdata, tkeep, tstrb, tlast, tid, tdest, tuser, tside, tvalid, tready.
func (m *Module) StreamPorts(name string) []Port {
	var out []Port
	for _, sig := range streamSignals() {
		if p, ok := m.Port(name + "_" + sig); ok {
			out = append(out, p)
		}
	}
	return out
}

// isClock tells whether some port of the module names this port as its clock.
func (m *Module) isClock(name string) bool {
	p, ok := m.Port(name)
	if !ok || p.Dir != In || p.Width != 1 {
		return false
	}
	for _, q := range m.Ports {
		if q.Name != name && q.clock() == name {
			return true
		}
	}
	return name == DefaultClock
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckName returns why a name cannot be an identifier in Verilog or
// SystemVerilog sources, or an empty string.
func CheckName(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case !identifier.MatchString(name):
		return fmt.Sprintf("%q is not an identifier (letters, digits and _, no digit first)", name)
	case isKeyword(name):
		return fmt.Sprintf("%q is a Verilog keyword", name)
	default:
		return ""
	}
}

// Check returns every reason why the description of m cannot be right on its own:
// names, widths, duplicates, clocks and streams that do not exist. It does not
// look into the Source; package hdltest compares the two.
func (m *Module) Check() error {
	var errs Errors
	bad := func(format string, args ...any) {
		errs = append(errs, &Error{Text: "module " + m.Name + ": " + fmt.Sprintf(format, args...)})
	}
	if why := CheckName(m.Name); why != "" {
		errs = append(errs, &Error{Text: "module: " + why})
	}
	if m.Source == nil && m.body == nil {
		bad("neither Source nor structure: a leaf needs its Verilog text")
	}
	if f := m.FileName(); strings.ContainsAny(f, `/\ `) || !strings.HasSuffix(f, ".v") {
		bad("file %q: must be a name ending in .v without folder or space", f)
	}
	seen := map[string]bool{}
	for _, p := range m.Params {
		if why := CheckName(p.Name); why != "" {
			bad("parameter: %s", why)
		}
		if seen[p.Name] {
			bad("parameter %s is declared twice", p.Name)
		}
		seen[p.Name] = true
	}
	for _, p := range m.Ports {
		if why := CheckName(p.Name); why != "" {
			bad("port: %s", why)
		}
		if seen[p.Name] {
			bad("port %s: the name is taken by another port or parameter", p.Name)
		}
		seen[p.Name] = true
		if p.Width < 1 {
			bad("port %s: width is %d bits, must be at least 1", p.Name, p.Width)
		}
		if p.Clock != "" && p.Clock != Async {
			if c, ok := m.Port(p.Clock); !ok || c.Dir != In || c.Width != 1 {
				bad("port %s: clock %s is not a 1-bit input of the module", p.Name, p.Clock)
			}
		}
	}
	streams := map[string]bool{}
	for _, s := range m.Streams {
		if streams[s.Name] {
			bad("stream %s is declared twice", s.Name)
		}
		streams[s.Name] = true
		m.checkStream(s, bad)
	}
	for _, mem := range m.Memories {
		if mem.Words < 1 || mem.Bits < 1 {
			bad("memory %q: %d words of %d bits, both must be at least 1", mem.Path, mem.Words, mem.Bits)
		}
		if m.memoryModule(mem) == "" {
			bad("memory %q: Module is empty and not exactly one submodule is a RAM", mem.Path)
		}
	}
	for i, sub := range m.Submodules {
		if sub == nil {
			bad("submodule %d is nil", i)
		}
	}
	return errs.Err()
}

func (m *Module) checkStream(s Stream, bad func(string, ...any)) {
	ports := m.StreamPorts(s.Name)
	valid, mixed := false, false
	for _, p := range ports {
		want := s.Dir
		if p.Name == s.Name+"_tready" {
			want = opposite(s.Dir)
		}
		if p.Name == s.Name+"_tvalid" {
			valid = true
		}
		if p.Dir != want {
			bad("stream %s: port %s is an %sput, must be an %sput", s.Name, p.Name, p.Dir, want)
		}
		if !mixed && p.clock() != ports[0].clock() {
			mixed = true
			bad("stream %s: ports %s and %s have different clocks (%s and %s)",
				s.Name, ports[0].Name, p.Name, ports[0].clock(), p.clock())
		}
	}
	if !valid {
		bad("stream %s: there is no port %s_tvalid", s.Name, s.Name)
	}
}

func opposite(d Dir) Dir {
	if d == In {
		return Out
	}
	return In
}

// memoryModule returns the name of the module that a memory is an instance of.
func (m *Module) memoryModule(mem Memory) string {
	if mem.Module != "" {
		return mem.Module
	}
	if mem.Path == "" {
		return m.Name
	}
	name := ""
	for _, sub := range m.Submodules {
		if sub == nil || len(sub.Memories) != 1 || sub.Memories[0].Path != "" || sub.Name == name {
			continue
		}
		if name != "" {
			return ""
		}
		name = sub.Name
	}
	return name
}

// AllMemories returns every RAM below the module with its path from the module
// (instance names joined by dots) and its Module filled in, in instance order.
func (m *Module) AllMemories() []Memory {
	var out []Memory
	for _, mem := range m.Memories {
		mem.Module = m.memoryModule(mem)
		out = append(out, mem)
	}
	if m.body == nil {
		return out
	}
	for _, inst := range m.body.Instances {
		for _, mem := range inst.Module.AllMemories() {
			mem.Path = joinPath(inst.Name, mem.Path)
			out = append(out, mem)
		}
	}
	return out
}

// Inside returns the RAMs of a leaf that is instance name of another leaf, as that one lists them.
func (m *Module) Inside(name string) []Memory {
	out := m.AllMemories()
	for i := range out {
		out[i].Path = joinPath(name, out[i].Path)
	}
	return out
}

func joinPath(a, b string) string {
	if b == "" {
		return a
	}
	return a + "." + b
}

// Closure returns the modules that the given tops need, themselves included,
// each before the modules that instantiate it and each pointer once. Modules of
// one name with different parameters are different entries with one file.
func Closure(tops ...*Module) []*Module {
	var out []*Module
	seen := map[*Module]bool{}
	var visit func(m *Module)
	visit = func(m *Module) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		for _, sub := range m.Submodules {
			visit(sub)
		}
		if m.body != nil {
			for _, inst := range m.body.Instances {
				visit(inst.Module)
			}
		}
		out = append(out, m)
	}
	for _, m := range tops {
		visit(m)
	}
	return out
}
