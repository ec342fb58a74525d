// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"incforge/modelcheck/model"
)

// ErrCheckpoint means that a file is no checkpoint of this search.
var ErrCheckpoint = errors.New("not a checkpoint of this search")

const checkpointFormat = "incforge modelcheck 1"

// checkpoint is a search at rest but for the states: they follow it in the file.
type checkpoint struct {
	Format                       string
	Config                       model.Config
	Symmetry, Reduction          bool
	Packets                      [][]byte
	PacketImages                 [][]uint32
	Queues, QueueImages          [][]uint32
	NodeAt                       []int
	NodeStates                   []string
	NodeImages                   [][]uint32
	Comps                        [][3]uint32
	CompImages                   [][]uint32
	Depth                        int
	Transitions, Quiescent, Done int64
	Edges                        map[uint32][]uint32
	Levels                       [][]uint32
	Shards                       []uint32 // entries
}

// save writes the search into its file, which is only replaced when all is written. Nobody else may be at work. The name beside it is
// always the same, so that what a process leaves that is killed in the middle is overwritten by the next.
func (s *search) save(front, after *frontier) error {
	f, err := os.Create(s.opt.Checkpoint + ".partial")
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(s.write(w, front, after), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.opt.Checkpoint)
	}
	if err != nil {
		os.Remove(f.Name()) // what is there of it is of no use
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

func (s *search) write(w io.Writer, front, after *frontier) error {
	c := checkpoint{Format: checkpointFormat, Config: s.cfg, Symmetry: s.opt.Symmetry, Reduction: s.opt.Reduction, Depth: s.depth,
		Transitions: s.transitions.Load(), Quiescent: s.quiescent.Load(), Done: s.done.Load(), Edges: s.edges}
	for i := range s.packets.n {
		r := s.packets.at(i)
		c.Packets, c.PacketImages = append(c.Packets, r.Packet.Append(nil)), append(c.PacketImages, r.image)
	}
	for i := range s.queues.n {
		r := s.queues.at(i)
		c.Queues, c.QueueImages = append(c.Queues, r.packets), append(c.QueueImages, r.image)
	}
	for i := range s.nodes.n {
		r := s.nodes.at(i)
		c.NodeAt, c.NodeStates, c.NodeImages = append(c.NodeAt, r.at), append(c.NodeStates, r.state), append(c.NodeImages, r.image)
	}
	for i := uint32(1); i < s.comps.n; i++ {
		r := s.comps.at(i)
		c.Comps, c.CompImages = append(c.Comps, [3]uint32{r.node, r.up, r.down}), append(c.CompImages, r.image)
	}
	for i := range s.seen.shards {
		c.Levels, c.Shards = append(c.Levels, s.seen.shards[i].levels), append(c.Shards, s.seen.shards[i].n)
	}
	if err := gob.NewEncoder(w).Encode(&c); err != nil {
		return err
	}
	b := make([]byte, 0, 24*entryChunk)
	var failed error
	s.seen.all(func(_ uint32, e *entry) {
		b = binary.LittleEndian.AppendUint64(b, e.name.hi)
		b = binary.LittleEndian.AppendUint64(b, e.name.lo)
		b = binary.LittleEndian.AppendUint32(b, e.parent)
		b = binary.LittleEndian.AppendUint32(b, e.next)
		if len(b) == cap(b) {
			_, err := w.Write(b)
			failed, b = errors.Join(failed, err), b[:0]
		}
	})
	_, err := w.Write(b)
	return errors.Join(failed, err, front.save(w), after.save(w))
}

// save writes a frontier: the number of words of each chunk, the chunk, a zero at the end.
func (f *frontier) save(w io.Writer) error {
	chunk := func(c []uint32) error {
		_, err := w.Write(wordBytes(append([]uint32{uint32(len(c))}, c...)))
		return err
	}
	for _, c := range f.chunks {
		if err := chunk(c); err != nil {
			return err
		}
	}
	for i := f.read; i < f.spilled; i++ {
		c, err := f.spill(i)
		if err != nil {
			return err
		}
		if err := chunk(c); err != nil {
			return err
		}
	}
	return chunk(nil)
}

// load reads what save wrote.
func (f *frontier) load(r io.Reader) error {
	for {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return err
		}
		words := binary.LittleEndian.Uint32(n[:])
		if words == 0 {
			return nil
		}
		if words > uint32(chunkStates*f.stride) {
			return ErrCheckpoint
		}
		b := make([]byte, 4*words)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if err := f.put(bytesWords(b)); err != nil {
			return err
		}
	}
}

// resume reads the search from its file, if that is there, into a search that has just been made.
func (s *search) resume(front, after *frontier) (bool, error) {
	f, err := os.Open(s.opt.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	if err := s.read(bufio.NewReaderSize(f, 1<<20), front, after); err != nil {
		return false, fmt.Errorf("%s: %w", s.opt.Checkpoint, err)
	}
	return true, nil
}

func (s *search) read(r *bufio.Reader, front, after *frontier) error {
	var c checkpoint
	if err := gob.NewDecoder(r).Decode(&c); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if c.Format != checkpointFormat || !reflect.DeepEqual(c.Config, s.cfg) || c.Symmetry != s.opt.Symmetry || c.Reduction != s.opt.Reduction ||
		len(c.Shards) != visitedShards || len(c.Levels) != visitedShards {
		return fmt.Errorf("it is of %s, symmetry %v, reduction %v: %w", c.Config, c.Symmetry, c.Reduction, ErrCheckpoint)
	}
	if err := s.system.rebuild(&c); err != nil {
		return err
	}
	s.depth = c.Depth
	s.level.Store(int64(c.Depth))
	s.transitions.Store(c.Transitions)
	s.quiescent.Store(c.Quiescent)
	s.done.Store(c.Done)
	if c.Edges != nil {
		s.edges = c.Edges
	}
	var b [24]byte
	total := int64(0)
	for i := range s.seen.shards {
		shard := &s.seen.shards[i]
		shard.levels = c.Levels[i]
		for range c.Shards[i] {
			if _, err := io.ReadFull(r, b[:]); err != nil {
				return err
			}
			le := binary.LittleEndian
			e := entry{hash128{le.Uint64(b[0:]), le.Uint64(b[8:])}, le.Uint32(b[16:]), le.Uint32(b[20:])}
			id, isNew := s.seen.insert(e.name, e.parent)
			if !isNew || id&(visitedShards-1) != uint32(i) {
				return ErrCheckpoint
			}
			s.seen.setNext(id, e.next)
		}
		total += int64(c.Shards[i])
	}
	s.distinct.Store(total)
	return errors.Join(front.load(r), after.load(r))
}

// rebuild makes the tables what they were, with the same numbers. What steps lead to is found again as it is asked for.
func (s *system) rebuild(c *checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packets.clear()
	s.queues.clear()
	s.nodes.clear()
	s.comps.clear()
	s.packetIDs, s.queueIDs, s.nodeIDs, s.compIDs = map[model.Packet]uint32{}, map[string]uint32{}, map[string]uint32{}, map[[3]uint32]uint32{}
	for i, b := range c.Packets {
		if len(b) != model.PacketBytes {
			return ErrCheckpoint
		}
		id, r := s.packets.add()
		r.Packet, r.image = model.PacketOf(b), c.PacketImages[i]
		s.packetIDs[r.Packet] = id
	}
	for i, q := range c.Queues {
		id, r := s.queues.add()
		r.packets, r.image = q, c.QueueImages[i]
		s.queueIDs[string(queueKey(nil, q))] = id
	}
	for i, at := range c.NodeAt {
		id, r := s.nodes.add()
		if err := s.fill(r, imageState{at, c.NodeStates[i]}); err != nil {
			return err
		}
		r.image = c.NodeImages[i]
		s.nodeIDs[nodeKey(imageState{at, c.NodeStates[i]})] = id
	}
	s.comps.add()
	var own []hash128
	for i, k := range c.Comps {
		id, r := s.comps.add()
		s.connect(r, k)
		r.image = c.CompImages[i]
		s.compIDs[k] = id
		own = append(own, s.contentHash(r))
	}
	for i := range c.Comps {
		r := s.comps.at(uint32(i) + 1)
		for _, image := range r.image {
			r.hash = append(r.hash, own[image-1])
		}
	}
	return nil
}
