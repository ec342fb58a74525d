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

	"incforge/modelcheck/model"
)

// ErrCheckpoint means that a file is no checkpoint of this search.
var ErrCheckpoint = errors.New("not a checkpoint of this search")

var errDamaged = errors.New("it is damaged")

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
func (s *search) save(front, after *frontier) error {
	if s.opt.Checkpoint == "" {
		return nil
	}
	f, err := os.Create(s.opt.Checkpoint + ".partial")
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(s.write(gob.NewEncoder(w), front, after), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.opt.Checkpoint)
	}
	if err != nil {
		os.Remove(f.Name()) // what is there of it is of no use
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

func (s *search) write(to *gob.Encoder, front, after *frontier) error {
	c := checkpoint{
		Format: checkpointFormat, Config: s.Config, Symmetry: s.opt.Symmetry, Reduction: s.opt.Reduction,
		Packets: s.packets.keys(), Queues: s.queues.keys(), Nodes: s.nodes.keys(), Comps: s.comps.keys(),
		Counts: s.counts, Edges: s.edges,
	}
	for i := range s.nodes.n {
		c.NodeImages = append(c.NodeImages, *s.nodes.images.at(i))
	}
	err := to.Encode(&c)
	for i := range s.seen.shards {
		var words []uint64
		entries := &s.seen.shards[i].entries
		for n := range entries.n {
			e := entries.at(n)
			words = append(words, e.name.hi, e.name.lo, uint64(e.parent)<<32|uint64(e.next))
		}
		err = errors.Join(err, to.Encode(words))
	}
	return errors.Join(err, front.save(to), after.save(to))
}

func (f *frontier) save(to *gob.Encoder) (err error) {
	for _, chunk := range f.chunks {
		err = errors.Join(err, to.Encode(chunk))
	}
	for i := f.read; i < f.spilled; i++ {
		chunk, failed := f.spill(i)
		err = errors.Join(err, failed, to.Encode(chunk))
	}
	return errors.Join(err, to.Encode([]uint32{}))
}

// load reads what save wrote.
func (f *frontier) load(from *gob.Decoder) error {
	for {
		var chunk []uint32
		if err := from.Decode(&chunk); err != nil || len(chunk) == 0 {
			return err
		}
		if len(chunk)%f.stride != 0 || len(chunk) > chunkStates*f.stride {
			return errDamaged
		}
		if err := f.put(chunk); err != nil {
			return err
		}
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

func (s *search) read(from *gob.Decoder, front, after *frontier) error {
	var c checkpoint
	if err := from.Decode(&c); err != nil {
		return err
	}
	same := c.Format == checkpointFormat && reflect.DeepEqual(c.Config, s.Config)
	if !same || c.Symmetry != s.opt.Symmetry || c.Reduction != s.opt.Reduction {
		return fmt.Errorf("it is of %s, symmetry %v, reduction %v", c.Config, c.Symmetry, c.Reduction)
	}
	if err := s.rebuild(&c); err != nil {
		return err
	}
	s.counts = c.Counts
	if c.Edges != nil {
		s.edges = c.Edges
	}
	for range s.seen.shards {
		var words []uint64
		if err := from.Decode(&words); err != nil {
			return err
		}
		for w := range slices.Chunk(words, 3) {
			id, isNew := s.seen.insert(hash128{w[0], w[1]}, uint32(w[2]>>32))
			if !isNew {
				return errDamaged
			}
			s.seen.at(id).next = uint32(w[2])
		}
	}
	return errors.Join(front.load(from), after.load(from))
}

// rebuild makes the tables what they were, with the same numbers: things come in in the order in which they first did. What steps lead to
// is found again as it is asked for.
func (s *system) rebuild(c *checkpoint) error {
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
		if _, err := s.internNode(images); err != nil {
			return err
		}
	}
	for _, k := range c.Comps {
		s.internComp(k)
	}
	if !slices.Equal(c.Packets, s.packets.keys()) || !slices.Equal(c.Queues, s.queues.keys()) || !slices.Equal(c.Nodes, s.nodes.keys()) ||
		!slices.Equal(c.Comps, s.comps.keys()) {
		return errDamaged
	}
	return nil
}
