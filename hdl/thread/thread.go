// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"incforge/hdl/graph"
)

// Signal is led through modules. An input goes to all memories alike, an output has one bit and is that of any memory.
type Signal struct {
	Name  string
	Out   bool
	Width int
	Doc   string
}

// Spec says what to lead where.
type Spec struct {
	Signals []Signal
	// End says what becomes of a module inside another: nil if it is no end and is to be looked into. Its module has the signals' ports.
	End func(inside *graph.Module, m *graph.Module) (*graph.Module, error)
	// Params are further parameters of an instance of an end, by the module that it is in.
	Params func(inside string, end *graph.Module) []graph.Param
	// Memory is what a memory becomes that is an end inside that module; nil if it stays what it is.
	Memory func(inside string, mem graph.Memory) graph.Memory
	// Skip leaves a module, and all in it, as it is.
	Skip func(m *graph.Module) bool
}

// Through returns m with the signals led to all ends in it, or m itself if there are none. m is not changed.
func Through(m *graph.Module, s Spec) (*graph.Module, error) {
	if m == nil || m.Composed() != nil || s.Skip != nil && s.Skip(m) {
		return m, nil
	}
	out := *m
	new, ends := map[string]*graph.Module{}, map[string]bool{}
	through := func(sub *graph.Module) (*graph.Module, error) {
		to, err := s.End(m, sub)
		if err == nil && to != nil {
			ends[sub.Name] = true
		} else if err == nil {
			to, err = Through(sub, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		if to != sub && new[sub.Name] == nil {
			new[sub.Name] = to
		}
		return to, nil
	}
	for _, list := range []*[]*graph.Module{&out.Submodules, &out.Unbuilt} {
		subs := slices.Clone(*list)
		for i, sub := range subs {
			to, err := through(sub)
			if err != nil {
				return nil, err
			}
			subs[i] = to
		}
		*list = subs
	}
	if len(new) == 0 {
		return m, nil
	}
	t, err := parse(m.Source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := s.lead(&out, t, new, ends); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	out.Memories = slices.Clone(m.Memories)
	for i, mem := range m.Memories {
		if inside := s.around(m, plain(mem.Path)); inside != "" && s.Memory != nil {
			out.Memories[i] = s.Memory(inside, mem)
		}
	}
	return &out, nil
}

// lead rewrites the text of a module whose instances of some modules have the signals.
func (s Spec) lead(m *graph.Module, t *text, new map[string]*graph.Module, ends map[string]bool) error {
	var edits []edit
	count := 0
	for _, inst := range t.instances {
		to := new[inst.module]
		if to == nil {
			continue
		}
		bit, built := count, inst.built(m.Memories)
		count += built
		at := strconv.Itoa(bit)
		switch {
		case built == 0:
			at = "0" // it is in a branch that is not built, and drives nothing
		case len(inst.turns) == 1:
			at += " + " + inst.turns[0]
		case slices.ContainsFunc(s.Signals, func(sig Signal) bool { return sig.Out }) && (built > 1 || len(inst.turns) > 1):
			return fmt.Errorf("%s is built more than once, %d times: what its turns say can be told apart in one loop from 0 on alone", inst.path, built)
		}
		connections := ""
		for _, sig := range s.Signals {
			if sig.Out {
				connections += fmt.Sprintf(".%s(each_%s[%s]), ", sig.Name, sig.Name, at)
			} else {
				connections += fmt.Sprintf(".%s(%s), ", sig.Name, sig.Name)
			}
		}
		edits = append(edits, edit{at: inst.moduleAt, drop: len(inst.module), put: to.Name}, edit{at: inst.portsAt, put: connections})
		if !ends[inst.module] {
			continue
		}
		if s.Params != nil {
			for _, p := range s.Params(m.Name, to) {
				edits = append(edits, edit{at: inst.paramsAt, put: fmt.Sprintf(".%s(%d), ", p.Name, p.Value)})
			}
		}
	}
	for _, sig := range s.Signals {
		m.Ports = append(slices.Clone(m.Ports), sig.port(m))
		if sig.Out && count == 0 {
			return fmt.Errorf("%s comes from a memory, and none is built", sig.Name)
		}
	}
	edits = append(edits, edit{at: t.headAt, put: s.head()}, edit{at: t.bodyAt, put: s.body(count)})
	m.Source = apply(m.Source, edits)
	return nil
}

// around is the name of the module that has the memory at a path below m as an end, "" if it is none.
func (s Spec) around(m *graph.Module, path string) string {
	t, err := parse(m.Source)
	if err != nil || s.Skip != nil && s.Skip(m) {
		return ""
	}
	for _, inst := range t.instances {
		below, in := strings.CutPrefix(path, inst.path+".")
		if path != inst.path && !in {
			continue
		}
		for _, sub := range m.Submodules {
			if sub.Name != inst.module {
				continue
			}
			if end, err := s.End(m, sub); err == nil && end != nil {
				return m.Name
			}
			return s.around(sub, below)
		}
	}
	return ""
}

// port is that of a module which the signal is led through.
func (s Signal) port(m *graph.Module) graph.Port {
	p := graph.Port{Name: s.Name, Width: s.Width, Doc: s.Doc}
	if s.Out {
		p.Dir, p.Width = graph.Out, 1
	}
	if _, ok := m.Port(graph.DefaultClock); !ok {
		p.Clock = graph.Async
	}
	return p
}

// head are the ports' declarations.
func (s Spec) head() string {
	var b strings.Builder
	for _, sig := range s.Signals {
		dir, width := "input  wire", ""
		if sig.Out {
			dir = "output wire"
		}
		if sig.Width > 1 {
			width = fmt.Sprintf(" [%d:0]", sig.Width-1)
		}
		fmt.Fprintf(&b, "\n    %s%s %s,", dir, width, sig.Name)
	}
	return b.String() + "\n"
}

// body makes one output of those of several memories.
func (s Spec) body(count int) string {
	var b strings.Builder
	for _, sig := range s.Signals {
		if sig.Out {
			fmt.Fprintf(&b, "\n    wire [%d:0] each_%s;\n    assign %s = |each_%s;\n", count-1, sig.Name, sig.Name, sig.Name)
		}
	}
	return b.String()
}

// edit puts text in the place of some bytes.
type edit struct {
	at, drop int
	put      string
}

// apply makes all edits; those of one place in their order.
func apply(source []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(source[at:e.at])
		out.WriteString(e.put)
		at = e.at + e.drop
	}
	out.Write(source[at:])
	return out.Bytes()
}

// Ended returns a memory with inputs that nothing in it looks at: a model has no use for them, what replaces it has.
func Ended(m *graph.Module, signals []Signal) (*graph.Module, error) {
	t, err := parse(m.Source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	out, s := *m, Spec{Signals: signals}
	out.Ports = slices.Clone(m.Ports)
	var unused strings.Builder
	for _, sig := range signals {
		if sig.Out {
			return nil, fmt.Errorf("%s: %s is an output", m.Name, sig.Name)
		}
		out.Ports = append(out.Ports, sig.port(m))
		fmt.Fprintf(&unused, "\n    wire unused_%s = &{1'b0, %s};\n", sig.Name, sig.Name)
	}
	out.Source = apply(m.Source, []edit{{at: t.headAt, put: s.head()}, {at: t.bodyAt, put: unused.String()}})
	return &out, nil
}
