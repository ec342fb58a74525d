// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ErrNone means that nothing has the name asked for, or that the design has none of the blocks.
var ErrNone = errors.New("no such block")

// Kind is what a property is about, the same five for every block.
type Kind byte

// The kinds.
const (
	Isolation Kind = 'a'
	Dropped   Kind = 'b'
	Wedge     Kind = 'c'
	Overflow  Kind = 'd'
	Range     Kind = 'e'
)

// String is the kind in words.
func (k Kind) String() string {
	switch k {
	case Isolation:
		return "isolation"
	case Dropped:
		return "what is dropped changes nothing"
	case Wedge:
		return "no wedge"
	case Overflow:
		return "nothing overflows, nothing is lost"
	case Range:
		return "pointers and masks in range"
	default:
		return fmt.Sprintf("Kind(%c)", byte(k))
	}
}

// define is the macro under which blocks/NAME.vh has the property.
func (k Kind) define() string { return "PROVE_" + strings.ToUpper(string(rune(k))) }

// core stands for the module of the core, whose name is the design's.
const core = "core"

// Change is a text and what takes its place, in the file of a module. The text must occur there, and once.
type Change struct {
	Module   string
	From, To string
}

// Property is one of a block's.
type Property struct {
	Kind Kind
	// Says is the property as a sentence.
	Says string
	// Depth is how many cycles from the reset it is shown for; 0 is for all time.
	Depth int
	// Fault breaks it.
	Fault Change
}

// Block is a block of the paper, with what stands around it in a proof.
type Block struct {
	Name string
	// Mode is that of the designs that have it, 0 for both.
	Mode int
	// InBand: only designs with in-band groups have it, in Modes II and III: in Mode I ranges are of messages.
	InBand bool
	// Keep are the core's instances that stay.
	Keep []string
	// Texts are the modules that a text is put into: blocks/TEXT.vh, with the text's name.
	Texts map[string]string
	// Changes let the properties see what is inside, or make a queue shorter. None changes what the block does.
	Changes []Change
	// Cut are Yosys's selections of cells inside the kept instances whose outputs become anything too.
	Cut        []string
	Properties []Property
}

//go:embed blocks
var texts embed.FS

// text is what goes into a module.
func text(name string) (string, error) {
	data, err := texts.ReadFile(path.Join("blocks", name+".vh"))
	if err != nil {
		return "", fmt.Errorf("prove: %w", err)
	}
	return string(data), nil
}

// Names are the names of all blocks.
func Names() []string {
	var all []string
	for _, b := range blocks() {
		all = append(all, b.Name)
	}
	slices.Sort(all)
	return all
}

// property finds a property by its letter.
func (b Block) property(k Kind) (Property, bool) {
	i := slices.IndexFunc(b.Properties, func(p Property) bool { return p.Kind == k })
	if i < 0 {
		return Property{}, false
	}
	return b.Properties[i], true
}
