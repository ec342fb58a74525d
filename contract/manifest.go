// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileName is the manifest's name in a generated folder.
const FileName = "manifest.json"

// Schema is the one layout of the manifest that this program writes and reads.
const Schema = 1

// Keys of the tops of an engine: the core has one stream in and one out, the switch one pair a port.
const (
	TopCore   = "core"
	TopSwitch = "switch"
)

// Names of the clock and reset ports of every top.
const (
	ClockPort = "clk"
	ResetPort = "rst"
)

// Port is one port of a top.
type Port struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`   // "in" or "out"
	Width int    `json:"width"` // bits
}

// Top is a module to build on.
type Top struct {
	Module string `json:"module"`
	Ports  []Port `json:"ports"`
}

// Clock names the clock and reset ports of every top, and the frequency the design is meant for.
type Clock struct {
	Port  string  `json:"port"`
	Reset string  `json:"reset"`
	MHz   float64 `json:"mhz"`
}

// Memory is one RAM of a design.
type Memory struct {
	Module string `json:"module"`
	Path   string `json:"path"` // instance names from the top, without the top's own
	Words  int    `json:"words"`
	Bits   int    `json:"bits"`
	Role   string `json:"role"`
	Ports  int    `json:"ports"` // 1: it reads or writes in a cycle; 2: a read and a write port
}

// Manifest is what lies beside the generated Verilog and says what it is (docs/engine.md section 8). Everything after generation reads
// it and nothing else.
type Manifest struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"`
	// Digest names the parameters and every byte of Verilog.
	Digest string `json:"digest"`
	Params Params `json:"params"`
	// Derived are the widths and depths that the generator derived, for people and scripts to look at. What a program needs of them are
	// methods of Params.
	Derived   json.RawMessage `json:"derived"`
	Clock     Clock           `json:"clock"`
	Tops      map[string]Top  `json:"tops"`
	Files     []string        `json:"files"`
	Registers Registers       `json:"registers"`
	Counters  []string        `json:"counters"`
	Memories  []Memory        `json:"memories"`

	// Dir is the folder the file was read from; Files are relative to it.
	Dir string `json:"-"`
}

// JSON is the text of the file.
func (m *Manifest) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print the manifest: %w", err)
	}
	return append(text, '\n'), nil
}

// Path is where the manifest of a generated folder lies; a path that is no folder is the manifest itself.
func Path(path string) string {
	if info, err := os.Stat(path); filepath.Base(path) == FileName || err == nil && !info.IsDir() {
		return path
	}
	return filepath.Join(path, FileName)
}

// Load reads the manifest of a generated engine: DIR/manifest.json, or the file itself.
func Load(dir string) (*Manifest, error) {
	m, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if err := m.checkEngine(); err != nil {
		return nil, fmt.Errorf("%s: manifest: %w", Path(dir), err)
	}
	return m, nil
}

// Read reads the manifest of any design: it needs sources and tops, but no registers and no parameters.
func Read(dir string) (*Manifest, error) {
	path := Path(dir)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m, err := Decode(text)
	if err == nil && len(m.Files) == 0 {
		err = errors.New("manifest: no files")
	}
	if err == nil && len(m.Tops) == 0 {
		err = errors.New("manifest: no tops")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Dir = filepath.Dir(path)
	return m, nil
}

// Parse reads the text of an engine's manifest and refuses one that cannot describe an engine.
func Parse(text []byte) (*Manifest, error) {
	m, err := Decode(text)
	if err != nil {
		return nil, err
	}
	if err := m.checkEngine(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}

// Decode reads the text of a manifest and asks for nothing but its layout.
func Decode(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if m.Schema != Schema {
		return nil, fmt.Errorf("manifest: schema %d, this program reads %d", m.Schema, Schema)
	}
	for i := range m.Registers {
		r := &m.Registers[i]
		for j := range r.Fields {
			r.Fields[j].Reset = r.Fields[j].Get(r.Reset)
		}
	}
	return m, nil
}

// checkEngine refuses what cannot describe an engine.
func (m *Manifest) checkEngine() error {
	if err := m.Params.check(); err != nil {
		return err
	}
	if len(m.Registers) == 0 || len(m.Counters) == 0 {
		return errors.New("no registers or no counters")
	}
	return nil
}

// Sources are the paths of the Verilog files.
func (m *Manifest) Sources() []string {
	out := make([]string, len(m.Files))
	for i, f := range m.Files {
		out[i] = filepath.Join(m.Dir, filepath.FromSlash(f))
	}
	return out
}

// ErrNoTop means that a design has no top of a name.
var ErrNoTop = errors.New("no top")

// Top returns a top by its key or by its module's name. The error lists the keys.
func (m *Manifest) Top(name string) (Top, error) {
	keys := slices.Sorted(maps.Keys(m.Tops))
	for _, key := range keys {
		if t := m.Tops[key]; key == name || t.Module == name {
			return t, nil
		}
	}
	return Top{}, fmt.Errorf("%w %q; it has %s", ErrNoTop, name, strings.Join(keys, ", "))
}

// Register returns the register of that name.
func (m *Manifest) Register(name string) (*Register, error) { return m.Registers.Register(name) }

// Addr is the byte address of element i of a register.
func (m *Manifest) Addr(name string, i int) (uint32, error) { return m.Registers.Addr(name, i) }

// Find is the register and element at a byte address.
func (m *Manifest) Find(addr uint32) (*Register, int, bool) { return m.Registers.Find(addr) }
