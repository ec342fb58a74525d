// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"incforge/internal/fail"
)

// frontier holds the states of a level, each with its number, until they are expanded, in chunks; those that are too many for memory lie
// in a file.
type frontier struct {
	stride  int // words of a state
	most    int // chunks in memory
	mu      sync.Mutex
	chunks  [][]uint32
	spilled int // chunks in the file
	read    int // of those, taken
	file    *os.File
	states  int
}

const chunkStates = 1 << 10

// newFrontier is one that keeps so many states in memory.
func newFrontier(stride, after int) *frontier {
	return &frontier{stride: stride, most: max(1, after/chunkStates)}
}

// close forgets what is left.
func (f *frontier) close() {
	if f.file != nil {
		f.file.Close() // nothing is read from it again
		os.Remove(f.file.Name())
	}
	f.file, f.chunks = nil, nil
}

// chunk is an empty one with room for all its states.
func (f *frontier) chunk() []uint32 { return make([]uint32, 0, chunkStates*f.stride) }

// put adds a chunk, which must not be changed any more.
func (f *frontier) put(chunk []uint32) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(chunk) == 0 {
		return nil
	}
	f.states += len(chunk) / f.stride
	if len(f.chunks) < f.most || len(chunk) < chunkStates*f.stride {
		f.chunks = append(f.chunks, chunk)
		return nil
	}
	defer fail.Catch(&err, "frontier")
	if f.file == nil {
		f.file = fail.Must(os.CreateTemp("", "modelcheck-frontier-*"))
	}
	b := fail.Must(binary.Append(nil, binary.LittleEndian, chunk))
	fail.Must(f.file.WriteAt(b, int64(f.spilled)*int64(len(b))))
	f.spilled++
	return nil
}

// take takes a chunk; nil if there is none.
func (f *frontier) take() ([]uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.chunks); n > 0 {
		c := f.chunks[n-1]
		f.chunks = f.chunks[:n-1]
		return c, nil
	}
	if f.read == f.spilled {
		return nil, nil
	}
	f.read++
	return f.spill(f.read - 1)
}

// spill reads a chunk of the file.
func (f *frontier) spill(i int) ([]uint32, error) {
	chunk := make([]uint32, chunkStates*f.stride)
	size := int64(binary.Size(chunk))
	if err := binary.Read(io.NewSectionReader(f.file, int64(i)*size, size), binary.LittleEndian, chunk); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	return chunk, nil
}
