// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"incforge/contract"
	"incforge/hdl/graph"
)

// Folder is where the Verilog of a generated design lies.
const Folder = "rtl"

// File is one generated file.
type File struct {
	Path string // relative, with forward slashes
	Data []byte
}

// Files is a list of generated files in an order that does not vary.
type Files []File

// Paths returns the paths in order.
func (fs Files) Paths() []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = f.Path
	}
	return out
}

// Map returns the files by path.
func (fs Files) Map() map[string][]byte {
	out := make(map[string][]byte, len(fs))
	for _, f := range fs {
		out[f.Path] = f.Data
	}
	return out
}

// Write writes the files below dir, which is made when missing.
func (fs Files) Write(dir string) error {
	for _, f := range fs {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// Collect prints every module that the tops need, each file once, modules before
// those that instantiate them. Two modules that want one file name with different
// bytes are an error, and so are two files that define one module.
func Collect(tops ...*graph.Module) (Files, error) { return Printer{}.Collect(tops...) }

// Collect is the function Collect with the printer's settings.
func (p Printer) Collect(tops ...*graph.Module) (Files, error) {
	var files Files
	at := map[string]int{}
	fileOf := map[string]string{}
	for _, m := range graph.Closure(tops...) {
		text, err := p.Print(m)
		if err != nil {
			return nil, err
		}
		name := path.Join(Folder, m.FileName())
		if old, ok := fileOf[m.Name]; ok && old != name {
			return nil, fmt.Errorf("collect %s: module is in two files, %s and %s", m.Name, old, name)
		}
		fileOf[m.Name] = name
		i, ok := at[name]
		switch {
		case !ok:
			at[name] = len(files)
			files = append(files, File{Path: name, Data: text})
		case !bytes.Equal(files[i].Data, text):
			return nil, fmt.Errorf("collect %s: two different texts for file %s", m.Name, name)
		}
	}
	return files, nil
}

// FileList returns files.f: the Verilog files, one a line, for the -f option of
// Verilator, Icarus and most other tools, relative to the folder it lies in.
func FileList(files Files) []byte {
	var b strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".v") || strings.HasSuffix(f.Path, ".sv") {
			b.WriteString(f.Path + "\n")
		}
	}
	return []byte(b.String())
}

// Ports returns the ports of a module for manifest.json, in order.
func Ports(m *graph.Module) []contract.Port {
	out := make([]contract.Port, len(m.Ports))
	for i, p := range m.Ports {
		out[i] = contract.Port{Name: p.Name, Dir: p.Dir.String(), Width: p.Width}
	}
	return out
}

// Memories returns every RAM below a module for manifest.json, in instance order.
func Memories(m *graph.Module) []contract.Memory {
	out := []contract.Memory{}
	for _, mem := range m.AllMemories() {
		ports := 2
		if mem.OnePort {
			ports = 1
		}
		out = append(out, contract.Memory{Module: mem.Module, Path: mem.Path, Words: mem.Words, Bits: mem.Bits, Role: mem.Role, Ports: ports})
	}
	return out
}
