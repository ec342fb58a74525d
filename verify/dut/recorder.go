// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Recorder is a DUT that keeps two hashes: one of the stimulus of the engine behind it (frames, register accesses,
// pauses, resets, each with its cycle) and one of every frame that left it. The same seed must give the same
// stimulus, so two runs whose first hash differs were different tests. If only the second hash differs, the engine
// behaved differently.
type Recorder struct {
	DUT
	stimulus, egress hash.Hash
}

// Record puts a Recorder in front of d.
func Record(d DUT) *Recorder { return &Recorder{DUT: d, stimulus: sha256.New(), egress: sha256.New()} }

// allStrobes writes all bytes of a register.
const allStrobes = 0xF

// The first number of an entry tells its type.
const (
	recordFrame = iota + 1
	recordRead
	recordWrite
	recordPauses
	recordReset
	recordSkip
	recordOut
)

// note adds an entry to a hash: numbers of 64 bits, then bytes.
func note(h hash.Hash, data []byte, numbers ...uint64) {
	b := make([]byte, 0, 8*8)
	for _, n := range append(numbers, uint64(len(data))) {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	h.Write(b)
	h.Write(data)
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// Offer queues a frame.
func (r *Recorder) Offer(port int, f Frame) {
	note(r.stimulus, f.Data, recordFrame, uint64(port), max(f.First, r.Now()), flag(f.Err))
	r.DUT.Offer(port, f)
}

// Read reads a register; reads take time, so they are part of the stimulus.
func (r *Recorder) Read(addr uint32) (uint32, error) {
	note(r.stimulus, nil, recordRead, r.Now(), uint64(addr))
	return r.DUT.Read(addr)
}

// Write writes a register.
func (r *Recorder) Write(addr, value uint32) error { return r.WriteStrobes(addr, value, allStrobes) }

// WriteStrobes writes some bytes of a register.
func (r *Recorder) WriteStrobes(addr, value uint32, strobes uint8) error {
	numbers := []uint64{recordWrite, r.Now(), uint64(addr), uint64(value)}
	if strobes != allStrobes {
		numbers = append(numbers, uint64(strobes))
	}
	note(r.stimulus, nil, numbers...)
	return r.DUT.WriteStrobes(addr, value, strobes)
}

// SetPauses changes the random pauses of all interfaces.
func (r *Recorder) SetPauses(p Pauses) {
	note(r.stimulus, nil, recordPauses, r.Now(), p.Seed, math.Float64bits(p.In), math.Float64bits(p.Ready), math.Float64bits(p.Registers),
		uint64(p.Burst))
	r.DUT.SetPauses(p)
}

// Reset resets the engine.
func (r *Recorder) Reset() error {
	note(r.stimulus, nil, recordReset, r.Now())
	return r.DUT.Reset()
}

// SkipTo advances the time.
func (r *Recorder) SkipTo(cycle uint64) {
	note(r.stimulus, nil, recordSkip, r.Now(), cycle)
	r.DUT.SkipTo(cycle)
}

// Out returns what left since the last call.
func (r *Recorder) Out() []Frame {
	outs := r.DUT.Out()
	for _, o := range outs {
		note(r.egress, o.Data, recordOut, uint64(o.Port), o.First, o.Last, flag(o.Err))
	}
	return outs
}

// Digest returns the SHA-256 of the stimulus and of what left, over several engines in their order.
func Digest(engines ...*Recorder) (stimulus, egress string) {
	s, e := sha256.New(), sha256.New()
	for _, r := range engines {
		s.Write(r.stimulus.Sum(nil))
		e.Write(r.egress.Sum(nil))
	}
	return hex.EncodeToString(s.Sum(nil)), hex.EncodeToString(e.Sum(nil))
}
