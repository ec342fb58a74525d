// SPDX-License-Identifier: Apache-2.0

// Package netlist reads a mapped netlist, as Yosys writes it in JSON, counts the levels of its longest path, and names the blocks that
// the path runs through. Levels are a property of the netlist alone: what they take in ns only place and route can say.
package netlist

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"incforge/synth/yosys"
)

// bit is a net's number; below 0 is a constant.
type bit int

const constant bit = -1

func (b *bit) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*b = constant
		return nil
	}
	n, err := strconv.Atoi(string(text))
	*b = bit(n)
	return err
}

// cell is an instance of a primitive.
type cell struct {
	Type       string            `json:"type"`
	Directions map[string]string `json:"port_directions"`
	Bits       map[string][]bit  `json:"connections"`
}

// Netlist is the mapped, flattened top.
type Netlist struct {
	Cells map[string]*cell `json:"cells"`
	Nets  map[string]struct {
		Bits []bit `json:"bits"`
	} `json:"netnames"`
	Ports map[string]struct {
		Direction string `json:"direction"`
		Bits      []bit  `json:"bits"`
	} `json:"ports"`

	drivers map[bit]pin
}

// pin is an output of a cell.
type pin struct{ cell, port string }

// Read reads the module top of a file of write_json.
func Read(file, top string) (*Netlist, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("netlist: %w", err)
	}
	var design struct {
		Modules map[string]json.RawMessage `json:"modules"`
	}
	if err := json.Unmarshal(text, &design); err != nil {
		return nil, fmt.Errorf("netlist %s: %w", filepath.Base(file), err)
	}
	for name, m := range design.Modules {
		if yosys.Plain(name) == top {
			return parse(m)
		}
	}
	return nil, fmt.Errorf("netlist %s: no module %s", filepath.Base(file), top)
}

// parse reads one module.
func parse(text []byte) (*Netlist, error) {
	n := &Netlist{drivers: map[bit]pin{}}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("netlist: %w", err)
	}
	for name, c := range n.Cells {
		for port, bits := range c.Bits {
			if c.Directions[port] != "output" {
				continue
			}
			for _, b := range bits {
				if b != constant {
					n.drivers[b] = pin{name, port}
				}
			}
		}
	}
	return n, nil
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Hierarchy knows instances and inputs of the elaborated design, from before it was flattened.
type Hierarchy struct {
	top    string
	tree   yosys.Tree
	inputs map[string]map[string]bool // by module
}

// ReadHierarchy reads an RTLIL text.
func ReadHierarchy(rtlil []byte, top string) *Hierarchy {
	h := &Hierarchy{top: top, tree: yosys.Instances(rtlil), inputs: map[string]map[string]bool{}}
	module := ""
	for line := range strings.Lines(string(rtlil)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "module":
			module = yosys.Plain(words[1])
			h.inputs[module] = map[string]bool{}
		case len(words) > 3 && words[0] == "wire" && slices.Contains(words, "input"):
			h.inputs[module][yosys.Plain(words[len(words)-1])] = true
		}
	}
	return h
}

// Block is the path of the innermost instance in a flattened name, "" for the top's own, and whether the rest is an input of that
// instance: then somebody else made the signal.
func (h *Hierarchy) Block(name string) (block string, isInput bool) {
	module, rest := h.top, yosys.Plain(name)
	var path []string
	for {
		// A generate block is a part of its instance's name: u_a.gen_x[0].u_b is u_a and gen_x[0].u_b.
		parts := strings.Split(rest, ".")
		found := false
		for k := len(parts) - 1; k > 0; k-- {
			instance := strings.Join(parts[:k], ".")
			if sub, ok := h.tree[module][instance]; ok {
				module, rest, found = sub, strings.Join(parts[k:], "."), true
				path = append(path, instance)
				break
			}
		}
		if !found {
			return strings.Join(path, "/"), h.inputs[module][rest]
		}
	}
}
