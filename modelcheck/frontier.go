// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// frontier holds the states of a level until they are expanded, in chunks; those that are too many for memory lie in a file.
type frontier struct {
	stride  int
	dir     string
	most    int // chunks in memory
	mu      sync.Mutex
	chunks  [][]uint32
	spilled int // chunks in the file
	read    int // of those, taken
	file    *os.File
	states  int
}

const (
	chunkStates       = 1 << 10
	defaultSpillAfter = 1 << 25
)

func newFrontier(stride int, dir string, after int) *frontier {
	if after <= 0 {
		after = defaultSpillAfter
	}
	return &frontier{stride: stride, dir: dir, most: max(1, after/chunkStates)}
}

func (f *frontier) size() int { return f.states }

// close forgets what is left.
func (f *frontier) close() {
	if f.file != nil {
		f.file.Close() // nothing is read from it again
		os.Remove(f.file.Name())
		f.file = nil
	}
	f.chunks = nil
}

// put adds a chunk.
func (f *frontier) put(chunk []uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states += len(chunk) / f.stride
	if len(f.chunks) < f.most || len(chunk) < chunkStates*f.stride {
		f.chunks = append(f.chunks, chunk)
		return nil
	}
	if f.file == nil {
		var err error
		if f.file, err = os.CreateTemp(f.dir, "modelcheck-frontier-*"); err != nil {
			return fmt.Errorf("frontier: %w", err)
		}
	}
	if _, err := f.file.WriteAt(wordBytes(chunk), f.offset(f.spilled)); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	f.spilled++
	return nil
}

func (f *frontier) offset(chunk int) int64 { return int64(chunk) * chunkStates * int64(f.stride) * 4 }

// next takes a chunk; nil if there is none.
func (f *frontier) next() ([]uint32, error) {
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
	c, err := f.spill(f.read)
	f.read++
	return c, err
}

// spill reads a chunk of the file.
func (f *frontier) spill(i int) ([]uint32, error) {
	b := make([]byte, chunkStates*f.stride*4)
	if _, err := f.file.ReadAt(b, f.offset(i)); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	return bytesWords(b), nil
}

func wordBytes(words []uint32) []byte {
	b := make([]byte, 0, 4*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func bytesWords(b []byte) []uint32 {
	words := make([]uint32, len(b)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words
}

// frontierWriter fills chunks for one worker.
type frontierWriter struct {
	f     *frontier
	chunk []uint32
}

func (f *frontier) writer() *frontierWriter { return &frontierWriter{f: f} }

// add adds a state with its number.
func (w *frontierWriter) add(state []uint32, id uint32) error {
	if w.chunk == nil {
		w.chunk = make([]uint32, 0, chunkStates*w.f.stride)
	}
	w.chunk = append(append(w.chunk, state...), id)
	if len(w.chunk) == cap(w.chunk) {
		return w.flush()
	}
	return nil
}

// flush hands over what is there.
func (w *frontierWriter) flush() error {
	if len(w.chunk) == 0 {
		return nil
	}
	c := w.chunk
	w.chunk = nil
	return w.f.put(c)
}
