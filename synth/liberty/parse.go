// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Library is what the reader took from a Liberty file.
type Library struct {
	Name      string
	TimeUnit  float64 // seconds
	CapUnit   float64 // farads
	Process   float64
	Voltage   float64 // V
	Temp      float64 // degrees Celsius
	WireLoad  string  // default_wire_load, "" when there is none
	Cells     []Cell  // in file order
	text      []byte
	wireSpans []span // the attributes that switch a wire load on
}

// Cell is one cell. Areas are in the file's unit, um2 in every library met.
type Cell struct {
	Name    string
	Area    float64
	HasArea bool
	Pins    []Pin
	// Sequential is true for flops and latches, FF for plain one-bit flops.
	Sequential, FF bool
	// ClockGate is true for a latch and an and gate that pass the clock GateClock as GateOut while GateEnable is high before it rises.
	ClockGate                      bool
	GateClock, GateEnable, GateOut string
	// NextState, Clock, Clear, Preset are the flop's or latch's functions (data_in and enable for latches).
	NextState, Clock, Clear, Preset string
	// Unusable says why synthesis must not choose the cell; "" when it may.
	Unusable string
	span     span
}

// Pin is one pin of a cell; buses are given as one pin.
type Pin struct {
	Name      string
	Direction string // input, output, inout, internal
	Function  string
	Cap       float64 // in units of the library's CapUnit
}

type span struct{ start, end int }

// group is a Liberty group: name (args) { attributes and groups }.
type group struct {
	name   string
	args   []string
	attrs  []attr
	groups []*group
	span   span
}

type attr struct {
	name  string
	value string
	span  span
}

func (g *group) attr(name string) string {
	for _, a := range g.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

func (g *group) number(name string) float64 {
	v, err := strconv.ParseFloat(g.attr(name), 64)
	if err != nil {
		return 0
	}
	return v
}

func (g *group) children(names ...string) []*group {
	var c []*group
	for _, s := range g.groups {
		if slices.Contains(names, s.name) {
			c = append(c, s)
		}
	}
	return c
}

// Open reads a library from a .lib or .lib.gz file.
func Open(path string) (*Library, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("liberty: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		// Neither Yosys 0.23 nor OpenSTA 2.0.17 reads compressed libraries: Text is what they get.
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("liberty: %s: %w", path, err)
		}
		defer z.Close()
		r = z
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("liberty: %s: %w", path, err)
	}
	l, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Parse reads the first library of a Liberty text. Tables are skipped.
func Parse(text []byte) (*Library, error) {
	p := &parser{s: text}
	g, err := p.topGroup()
	if err != nil {
		line := 1 + bytes.Count(text[:min(p.pos, len(text))], []byte("\n"))
		return nil, fmt.Errorf("liberty: line %d: %w", line, err)
	}
	l := &Library{Name: first(g.args), Process: g.number("nom_process"), Voltage: g.number("nom_voltage"),
		Temp: g.number("nom_temperature"), text: text, TimeUnit: 1e-9, CapUnit: 1e-12}
	if u := g.attr("time_unit"); u != "" {
		if l.TimeUnit, err = unit(u, "s"); err != nil {
			return nil, err
		}
	}
	if u := g.attr("capacitive_load_unit"); u != "" {
		if l.CapUnit, err = unit(strings.ReplaceAll(u, ",", ""), "f"); err != nil {
			return nil, err
		}
	}
	for _, a := range g.attrs {
		switch a.name {
		case "default_wire_load":
			l.WireLoad = a.value
			l.wireSpans = append(l.wireSpans, a.span)
		case "default_wire_load_selection":
			l.wireSpans = append(l.wireSpans, a.span)
		}
	}
	for _, c := range g.children("cell") {
		l.Cells = append(l.Cells, readCell(c))
	}
	if len(l.Cells) == 0 {
		return nil, fmt.Errorf("liberty: library %q has no cells", l.Name)
	}
	return l, nil
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

var unitText = regexp.MustCompile(`^\s*([0-9.eE+-]+)\s*([munpfa]?)([a-zA-Z]+)\s*$`)

// unit reads "1ps", "1 ff" and the like.
func unit(text, base string) (float64, error) {
	m := unitText.FindStringSubmatch(strings.ToLower(text))
	if m == nil || m[3] != base {
		return 0, fmt.Errorf("liberty: unit %q is not understood", text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("liberty: unit %q: %w", text, err)
	}
	return v * map[string]float64{"": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18}[m[2]], nil
}

func readCell(g *group) Cell {
	c := Cell{Name: first(g.args), Area: g.number("area"), HasArea: g.attr("area") != "", span: g.span}
	for _, p := range g.children("pin", "bus", "bundle") {
		for _, name := range p.args {
			c.Pins = append(c.Pins, Pin{Name: name, Direction: p.attr("direction"),
				Function: p.attr("function"), Cap: p.number("capacitance")})
			switch {
			case p.attr("clock_gate_clock_pin") == "true":
				c.GateClock = name
			case p.attr("clock_gate_enable_pin") == "true":
				c.GateEnable = name
			case p.attr("clock_gate_out_pin") == "true":
				c.GateOut = name
			}
		}
	}
	c.ClockGate = g.attr("clock_gating_integrated_cell") == "latch_posedge" && c.GateClock != "" && c.GateEnable != "" && c.GateOut != ""
	if ff := g.children("ff"); len(ff) > 0 {
		c.Sequential, c.FF = true, true
		c.NextState, c.Clock, c.Clear, c.Preset = ff[0].attr("next_state"), ff[0].attr("clocked_on"), ff[0].attr("clear"), ff[0].attr("preset")
	}
	if la := g.children("latch"); len(la) > 0 {
		c.Sequential = true
		c.NextState, c.Clock, c.Clear, c.Preset = la[0].attr("data_in"), la[0].attr("enable"), la[0].attr("clear"), la[0].attr("preset")
	}
	c.Unusable = unusable(g, &c)
	return c
}

// maxInputs is the largest gate left to the mapper: the wider ones (AOI33,
// AOI222, four-way multiplexers) are slow, rare in real flows, and make
// libraries hard to compare.
const maxInputs = 5

var delayCell = regexp.MustCompile(`(?i)(^|_)dl[ya]|delay|probe`)

// unusable tells why a cell is no use to the mapper.
func unusable(g *group, c *Cell) string {
	yes := func(g *group, name string) bool { return g.attr(name) == "true" }
	switch {
	case yes(g, "dont_use"):
		return "dont_use"
	case len(g.children("test_cell")) > 0:
		return "scan"
	case g.attr("clock_gating_integrated_cell") != "":
		return "clock gate"
	case len(g.children("ff_bank", "latch_bank")) > 0:
		return "multi-bit"
	case yes(g, "pad_cell") || yes(g, "pad_type"):
		return "pad"
	case yes(g, "is_level_shifter") || yes(g, "is_isolation_cell") || yes(g, "always_on") || yes(g, "retention_cell") || g.attr("switch_cell_type") != "":
		return "power management"
	case delayCell.MatchString(c.Name):
		return "delay cell"
	}
	inputs, outputs := 0, 0
	for _, p := range g.children("pin", "bus", "bundle") {
		switch {
		case p.attr("three_state") != "":
			return "tri-state"
		case strings.HasPrefix(p.attr("signal_type"), "test_"):
			return "scan"
		case p.attr("direction") == "inout":
			return "inout pin"
		case p.attr("direction") == "output":
			outputs += len(p.args)
		case p.attr("direction") == "input":
			inputs += len(p.args)
		}
	}
	switch {
	case outputs == 0:
		return "no output"
	case !c.HasArea:
		return "no area"
	case !c.Sequential && inputs > maxInputs:
		return "too many inputs"
	}
	return ""
}

// Cell returns a cell by name.
func (l *Library) Cell(name string) (Cell, bool) {
	i := slices.IndexFunc(l.Cells, func(c Cell) bool { return c.Name == name })
	if i < 0 {
		return Cell{}, false
	}
	return l.Cells[i], true
}

// Areas returns the area of every cell that has one, by name.
func (l *Library) Areas() map[string]float64 {
	m := make(map[string]float64, len(l.Cells))
	for _, c := range l.Cells {
		if c.HasArea {
			m[c.Name] = c.Area
		}
	}
	return m
}

// Text returns the library's text as it was read.
func (l *Library) Text() []byte { return l.text }

// ForSynthesis returns the library's text without the cells that synthesis must
// not use and, when wireFree is set, without a default wire load. ABC uses the
// wire load only when told to and OpenSTA always does; libraries that carry one
// cannot be compared with those that do not.
func (l *Library) ForSynthesis(wireFree bool) []byte {
	var cut []span
	for _, c := range l.Cells {
		if c.Unusable != "" {
			cut = append(cut, c.span)
		}
	}
	if wireFree {
		cut = append(cut, l.wireSpans...)
	}
	slices.SortFunc(cut, func(a, b span) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, s := range cut {
		out.Write(l.text[at:s.start])
		at = s.end
	}
	out.Write(l.text[at:])
	return out.Bytes()
}

// Flops returns a text of ForSynthesis without all that is no flop: a pass that maps only those reads a tenth. A text that cannot be
// read stays as it is.
func Flops(text []byte) []byte {
	own, err := Parse(text)
	if err != nil {
		return text
	}
	var out bytes.Buffer
	at := 0
	for _, c := range own.Cells {
		if !c.FF {
			out.Write(text[at:c.span.start])
			at = c.span.end
		}
	}
	out.Write(text[at:])
	return out.Bytes()
}

// findGate returns the smallest usable combinational cell with one output whose
// function has exactly these truth tables' shape.
func (l *Library) findGate(inputs int, same func(table []bool) bool) (Cell, bool) {
	var best Cell
	for _, c := range l.Cells {
		if c.Unusable != "" || c.Sequential || best.Name != "" && c.Area >= best.Area {
			continue
		}
		var outs []string
		for _, p := range c.Pins {
			if p.Direction == "output" {
				outs = append(outs, p.Function)
			}
		}
		if len(outs) != 1 {
			continue
		}
		f, err := ParseFunction(outs[0])
		if err != nil || len(f.inputs) != inputs || !same(f.Table()) {
			continue
		}
		best = c
	}
	return best, best.Name != ""
}

// NAND2 returns the smallest two-input NAND, the yardstick of gate counts.
func (l *Library) NAND2() (Cell, bool) {
	return l.findGate(2, func(t []bool) bool { return slices.Equal(t, []bool{true, true, true, false}) })
}

// ClockGate returns the smallest clock gate without a pin for tests.
func (l *Library) ClockGate() (Cell, bool) {
	var best Cell
	for _, c := range l.Cells {
		if c.ClockGate && c.HasArea && (best.Name == "" || c.Area < best.Area) {
			best = c
		}
	}
	return best, best.Name != ""
}

// Inverter returns the smallest inverter.
func (l *Library) Inverter() (Cell, bool) {
	return l.findGate(1, func(t []bool) bool { return slices.Equal(t, []bool{true, false}) })
}

// Buffer returns the smallest buffer.
func (l *Library) Buffer() (Cell, bool) {
	return l.findGate(1, func(t []bool) bool { return slices.Equal(t, []bool{false, true}) })
}

// parser reads Liberty: NAME (ARGS) { ... }, NAME (ARGS) ;, NAME : VALUE ;.
type parser struct {
	s   []byte
	pos int
}

func (p *parser) topGroup() (*group, error) {
	for {
		name := p.token()
		switch name {
		case "":
			return nil, fmt.Errorf("no library group")
		case "library":
			args, err := p.args()
			if err != nil {
				return nil, err
			}
			if p.token() != "{" {
				return nil, fmt.Errorf("{ expected after library (...)")
			}
			g := &group{name: name, args: args}
			return g, p.body(g)
		}
	}
}

// body reads a group's content up to its closing brace.
func (p *parser) body(g *group) error {
	for {
		p.space()
		start := p.pos
		name := p.token()
		switch name {
		case "":
			return fmt.Errorf("file ends inside group %s", g.name)
		case "}":
			return nil
		case ";":
			continue
		}
		switch sign := p.token(); sign {
		case ":":
			value, err := p.value()
			if err != nil {
				return err
			}
			g.attrs = append(g.attrs, attr{name, value, span{start, p.pos}})
		case "(":
			p.pos--
			args, err := p.args()
			if err != nil {
				return err
			}
			p.space()
			if p.pos < len(p.s) && p.s[p.pos] == '{' {
				p.pos++
				sub := &group{name: name, args: args}
				if err := p.body(sub); err != nil {
					return err
				}
				sub.span = span{start, p.pos}
				g.groups = append(g.groups, sub)
				continue
			}
			if p.pos < len(p.s) && p.s[p.pos] == ';' {
				p.pos++
			}
			g.attrs = append(g.attrs, attr{name, strings.Join(args, ", "), span{start, p.pos}})
		default:
			return fmt.Errorf("%q after %q: : or ( expected", sign, name)
		}
	}
}

// space skips blanks, continued lines and comments.
func (p *parser) space() {
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\':
			p.pos++
		case bytes.HasPrefix(p.s[p.pos:], []byte("/*")):
			end := bytes.Index(p.s[p.pos:], []byte("*/"))
			if end < 0 {
				p.pos = len(p.s)
				return
			}
			p.pos += end + 2
		case bytes.HasPrefix(p.s[p.pos:], []byte("//")):
			end := bytes.IndexByte(p.s[p.pos:], '\n')
			if end < 0 {
				p.pos = len(p.s)
				return
			}
			p.pos += end
		default:
			return
		}
	}
}

// token returns the next word, string without its quotes, or sign; "" at the end.
func (p *parser) token() string {
	p.space()
	if p.pos >= len(p.s) {
		return ""
	}
	start := p.pos
	c := p.s[p.pos]
	if c == '"' {
		end := bytes.IndexByte(p.s[start+1:], '"')
		if end < 0 {
			p.pos = len(p.s)
			return ""
		}
		p.pos = start + end + 2
		return string(p.s[start+1 : start+1+end])
	}
	if strings.IndexByte("(){}:;,", c) >= 0 {
		p.pos++
		return string(c)
	}
	for p.pos < len(p.s) && strings.IndexByte("(){}:;,\" \t\r\n", p.s[p.pos]) < 0 {
		p.pos++
	}
	return string(p.s[start:p.pos])
}

// value reads up to the semicolon or, as some writers leave it out, the end of the line.
func (p *parser) value() (string, error) {
	p.space()
	if p.pos < len(p.s) && p.s[p.pos] == '"' {
		v := p.token()
		p.semicolon()
		return v, nil
	}
	start := p.pos
	for p.pos < len(p.s) && strings.IndexByte(";\n}", p.s[p.pos]) < 0 {
		p.pos++
	}
	if p.pos >= len(p.s) {
		return "", fmt.Errorf("file ends inside an attribute")
	}
	v := strings.TrimSpace(string(p.s[start:p.pos]))
	p.semicolon()
	return v, nil
}

func (p *parser) semicolon() {
	for p.pos < len(p.s) && (p.s[p.pos] == ' ' || p.s[p.pos] == '\t') {
		p.pos++
	}
	if p.pos < len(p.s) && p.s[p.pos] == ';' {
		p.pos++
	}
}

// args reads ( a, b, ... ).
func (p *parser) args() ([]string, error) {
	if t := p.token(); t != "(" {
		return nil, fmt.Errorf("( expected, found %q", t)
	}
	var args []string
	for {
		switch t := p.token(); t {
		case "":
			return nil, fmt.Errorf("file ends inside ( )")
		case ")":
			return args, nil
		case ",":
		default:
			args = append(args, t)
		}
	}
}
