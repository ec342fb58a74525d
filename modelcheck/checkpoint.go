// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"

	"incforge/internal/fail"
	"incforge/modelcheck/model"
)

// ErrCheckpoint means that a file is no checkpoint of this search.
var ErrCheckpoint = errors.New("not a checkpoint of this search")

// damaged ends the reading of a file that holds what no search writes.
func damaged(bad bool) { fail.If(bad, "it is damaged") }

const checkpointFormat = "incforge modelcheck 2"

// checkpoint is a search at rest but for its states. In the file these follow: of each shard of those seen a list of words, then the
// chunks of both frontiers, with an empty one after each.
type checkpoint struct {
	Format              string
	Config              model.Config
	Symmetry, Reduction bool
	Packets             []model.Packet
	Queues              []queueKey
	Nodes               []nodeKey
	NodeImages          [][]uint32
	Comps               []compKey
	Counts              Counts
	Edges               map[uint32][]uint32
}

// save writes the search into its file, if it has one, which is only replaced when all is written. Nobody else may be at work. The name
// beside it is always the same, so that what a process leaves that is killed in the middle is overwritten by the next.
func (s *search) save(front, after *frontier) (err error) {
	if s.opt.Checkpoint == "" {
		return nil
	}
	defer fail.Catch(&err, "checkpoint")
	f := fail.Must(os.Create(s.opt.Checkpoint + ".partial"))
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(s.write(gob.NewEncoder(w), front, after), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.opt.Checkpoint)
	}
	if err != nil {
		os.Remove(f.Name()) // what is there of it is of no use
	}
	return err
}

func (s *search) write(to *gob.Encoder, front, after *frontier) (err error) {
	defer fail.Catch(&err, "")
	c := checkpoint{
		Format: checkpointFormat, Config: s.Config, Symmetry: s.opt.Symmetry, Reduction: s.opt.Reduction,
		Packets: s.packets.keys(), Queues: s.queues.keys(), Nodes: s.nodes.keys(), Comps: s.comps.keys(),
		Counts: s.counts, Edges: s.edges,
	}
	for i := range s.nodes.n {
		c.NodeImages = append(c.NodeImages, *s.nodes.images.at(i))
	}
	fail.On(to.Encode(&c))
	for i := range s.seen.shards {
		var words []uint64
		entries := &s.seen.shards[i].entries
		for n := range entries.n {
			e := entries.at(n)
			words = append(words, e.name.hi, e.name.lo, uint64(e.parent)<<32|uint64(e.next))
		}
		fail.On(to.Encode(words))
	}
	front.save(to)
	after.save(to)
	return nil
}

func (f *frontier) save(to *gob.Encoder) {
	for _, chunk := range f.chunks {
		fail.On(to.Encode(chunk))
	}
	for i := f.read; i < f.spilled; i++ {
		fail.On(to.Encode(fail.Must(f.spill(i))))
	}
	fail.On(to.Encode([]uint32{}))
}

// load reads what save wrote.
func (f *frontier) load(from *gob.Decoder) {
	for {
		var chunk []uint32
		if fail.On(from.Decode(&chunk)); len(chunk) == 0 {
			return
		}
		damaged(len(chunk)%f.stride != 0 || len(chunk) > chunkStates*f.stride)
		fail.On(f.put(chunk))
	}
}

// resume reads the search from its file, if that is there, into a search that has just been made.
func (s *search) resume(front, after *frontier) (bool, error) {
	if s.opt.Checkpoint == "" {
		return false, nil
	}
	f, err := os.Open(s.opt.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	if err := s.read(gob.NewDecoder(bufio.NewReaderSize(f, 1<<20)), front, after); err != nil {
		return false, fmt.Errorf("%s: %w: %w", s.opt.Checkpoint, err, ErrCheckpoint)
	}
	return true, nil
}

func (s *search) read(from *gob.Decoder, front, after *frontier) (err error) {
	defer fail.Catch(&err, "")
	var c checkpoint
	fail.On(from.Decode(&c))
	same := c.Format == checkpointFormat && reflect.DeepEqual(c.Config, s.Config)
	same = same && c.Symmetry == s.opt.Symmetry && c.Reduction == s.opt.Reduction
	fail.If(!same, "it is of %s, symmetry %v, reduction %v", c.Config, c.Symmetry, c.Reduction)
	s.rebuild(&c)
	s.counts = c.Counts
	if c.Edges != nil {
		s.edges = c.Edges
	}
	for range s.seen.shards {
		var words []uint64
		fail.On(from.Decode(&words))
		for w := range slices.Chunk(words, 3) {
			id, isNew := s.seen.insert(hash128{w[0], w[1]}, uint32(w[2]>>32))
			damaged(!isNew)
			s.seen.at(id).next = uint32(w[2])
		}
	}
	front.load(from)
	after.load(from)
	return nil
}

// rebuild makes the tables what they were, with the same numbers: things come in in the order in which they first did. What steps lead to
// is found again as it is asked for.
func (s *system) rebuild(c *checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range c.Packets {
		s.internPacket(p)
	}
	for _, q := range c.Queues[1:] {
		s.internQueue(q)
	}
	for _, ids := range c.NodeImages {
		var images []nodeKey
		for _, id := range ids {
			images = append(images, c.Nodes[id])
		}
		fail.Must(s.internNode(images))
	}
	for _, k := range c.Comps {
		s.internComp(k)
	}
	damaged(!slices.Equal(c.Packets, s.packets.keys()) || !slices.Equal(c.Queues, s.queues.keys()))
	damaged(!slices.Equal(c.Nodes, s.nodes.keys()) || !slices.Equal(c.Comps, s.comps.keys()))
}
