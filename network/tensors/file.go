// SPDX-License-Identifier: Apache-2.0

// Package tensors runs collectives on tensors out of files: it reads and writes safetensors and raw files, gives each rank its data, runs a
// call a tensor on a world of package comm, and reports times and errors.
package tensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/verify/arith"
)

// Tensor is one tensor as it lies in a file, elements little-endian.
type Tensor struct {
	Name string
	// Type is the format's name: F32, F16, BF16, I32, and others that no engine computes with.
	Type  string
	Shape []int
	Data  []byte
}

// File is the tensors of a file, in the order of their data.
type File []Tensor

// types are the format's names of the element types that engines know, by their code: F32 is FP32, I32 is INT32.
func types() []string {
	out := contract.ElementNames()
	for i, name := range out {
		out[i] = strings.NewReplacer("FP", "F", "INT", "I").Replace(name)
	}
	return out
}

// typeBytes is the element size of a type of the format, of those that are whole bytes; 0 of all others.
func typeBytes(name string) int {
	return map[string]int{"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "F8_E8M0": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
		"I32": 4, "U32": 4, "F32": 4, "C64": 8, "F64": 8, "I64": 8, "U64": 8}[name]
}

// DType is the element type as engines have it, false if they have not.
func (t *Tensor) DType() (arith.DType, bool) {
	i := slices.Index(types(), t.Type)
	return arith.DType(max(i, 0)), i >= 0
}

// typeName is the format's name of an engine's type.
func typeName(d arith.DType) string { return types()[d] }

// ErrFormat means that a file is no safetensors file.
var ErrFormat = errors.New("not a safetensors file")

// The format: 8 bytes of header length, little-endian; the header, a JSON object; the data, all of which belongs to one tensor each.
const (
	lengthBytes = 8
	maxHeader   = 100_000_000
	metadataKey = "__metadata__"
)

// entry is a tensor in the header.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Parse reads a safetensors file. The tensors' data lies in b.
func Parse(b []byte) (_ File, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}()
	defer fail.Catch(&err, "")
	fail.If(len(b) < lengthBytes, "%d bytes", len(b))
	n := binary.LittleEndian.Uint64(b)
	fail.If(n > maxHeader || n > uint64(len(b)-lengthBytes), "a header of %d bytes in a file of %d", n, len(b))
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[lengthBytes:lengthBytes+n], &header); err != nil {
		fail.Now("the header: %w", err)
	}
	data := b[lengthBytes+n:]
	var f File
	at := map[string]int{}
	for name, text := range header {
		if name == metadataKey {
			err := json.Unmarshal(text, &map[string]string{})
			fail.If(err != nil, "%s: %w", metadataKey, err)
			continue
		}
		t, from, err := parseEntry(name, text, data)
		fail.On(err)
		f = append(f, t)
		at[name] = from
	}
	slices.SortFunc(f, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(at[a.Name], at[b.Name]), cmp.Compare(len(a.Data), len(b.Data)), cmp.Compare(a.Name, b.Name))
	})
	next := 0
	for _, t := range f {
		fail.If(at[t.Name] != next, "tensor %q begins at %d, the one before it ends at %d", t.Name, at[t.Name], next)
		next += len(t.Data)
	}
	fail.If(next != len(data), "%d bytes of data, the tensors have %d", len(data), next)
	return f, nil
}

// parseEntry reads a tensor's entry in the header, and where in the data it begins.
func parseEntry(name string, text json.RawMessage, data []byte) (_ Tensor, from int, err error) {
	defer fail.Catch(&err, "tensor %q", name)
	var e entry
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	fail.On(d.Decode(&e))
	bytes := typeBytes(e.DType)
	fail.If(bytes == 0, "unknown type %q", e.DType)
	from, to := e.Offsets[0], e.Offsets[1]
	fail.If(from < 0 || to < from || to > len(data), "offsets %d to %d in %d bytes of data", from, to, len(data))
	for _, n := range e.Shape {
		fail.If(n < 0 || n > 0 && bytes > math.MaxInt/n, "shape %v", e.Shape)
		bytes *= n
	}
	fail.If(bytes != to-from, "%d bytes, %v of %s are %d", to-from, e.Shape, e.DType, bytes)
	return Tensor{Name: name, Type: e.DType, Shape: e.Shape, Data: data[from:to:to]}, from, nil
}

// Append is the file as safetensors, appended to b: header in the order of the data, padded with spaces to a multiple of 8 bytes.
func (f File) Append(b []byte) (_ []byte, err error) {
	defer fail.Catch(&err, "")
	var members [][]byte
	put := func(key string, v any) {
		members = append(members, slices.Concat(fail.Must(json.Marshal(key)), []byte(":"), fail.Must(json.Marshal(v))))
	}
	at := 0
	for _, t := range f {
		put(t.Name, entry{t.Type, append([]int{}, t.Shape...), [2]int{at, at + len(t.Data)}}) // no shape is an empty list
		at += len(t.Data)
	}
	head := slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
	head = append(head, bytes.Repeat([]byte(" "), -len(head)&7)...)
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(head))), head...)
	for _, t := range f {
		b = append(b, t.Data...)
	}
	return b, nil
}

// extension is that of safetensors files; all others are raw.
const extension = ".safetensors"

// Read reads a file: safetensors by its name, otherwise raw elements of type raw, one tensor of one dimension with the name of the file.
func Read(path string, raw arith.DType) (_ File, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read tensors: %w", err)
	}
	defer fail.Catch(&err, "%s", path)
	if strings.HasSuffix(path, extension) {
		return Parse(b)
	}
	fail.If(len(b)%raw.Size() != 0, "%d bytes are no whole elements of %s", len(b), raw)
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return File{{Name: name, Type: typeName(raw), Shape: []int{len(b) / raw.Size()}, Data: b}}, nil
}
