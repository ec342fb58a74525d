// SPDX-License-Identifier: Apache-2.0

// Package perf runs collectives on a group, checks every element of what comes, and says how long they took, in the terms of nccl-tests.
package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"incforge/commlib"
	"incforge/internal/splitmix"
)

// Plan is what is run. All members of the group run the same.
type Plan struct {
	Collectives []commlib.Collective
	Type        commlib.Type
	Op          commlib.Op
	// Bytes are the sizes of a rank's tensor: its input, or, of an AllGather, about its output.
	Bytes      []int
	Iterations int
	Seed       uint64
}

// Row is what came of one collective at one size.
type Row struct {
	Collective string  `json:"collective"`
	Type       string  `json:"type"`
	Op         string  `json:"op"`
	Bytes      int     `json:"bytes"`
	Microsec   float64 `json:"us"`
	// AlgMbps is the tensor over the time, BusMbps what a ring would have to send for it.
	AlgMbps float64 `json:"alg_mbps"`
	BusMbps float64 `json:"bus_mbps"`
	// Wrong counts bytes that were not what they should be.
	Wrong int `json:"wrong"`
}

// runner runs a plan.
type runner struct {
	Plan
	g        *commlib.Group
	n, rank  int
	sequence uint64
}

// Run runs a plan on a group and tells of every row as soon as it is there. A call that fails ends it.
func Run(ctx context.Context, g *commlib.Group, p Plan, tell func(Row)) error {
	r := &runner{Plan: p, g: g, n: len(g.Endpoint().Members), rank: g.Endpoint().Rank}
	for _, c := range p.Collectives {
		for _, bytes := range p.Bytes {
			row, err := r.row(ctx, c, bytes)
			if err != nil {
				return fmt.Errorf("%v of %d bytes: %w", c, bytes, err)
			}
			tell(row)
			if c == commlib.Barrier {
				break // it has no size
			}
		}
	}
	return nil
}

func (r *runner) row(ctx context.Context, c commlib.Collective, bytes int) (Row, error) {
	row := Row{Collective: c.String(), Bytes: bytes}
	if c.Reduces() {
		row.Type, row.Op = r.Type.String(), r.Op.String()
	}
	var spent time.Duration
	for i := range r.Iterations {
		r.sequence++
		req, want := r.request(c, bytes/r.Type.Size(), i%r.n)
		row.Bytes = max(len(req.Send), len(req.Recv))
		if err := r.g.Barrier(ctx); err != nil {
			return row, err
		}
		began := time.Now()
		if err := r.g.Do(ctx, req); err != nil {
			return row, err
		}
		spent += time.Since(began)
		row.Wrong += differ(req.Recv, want)
	}
	if c == commlib.Barrier {
		row.Bytes = 0
	}
	mean := spent.Seconds() / float64(max(r.Iterations, 1))
	row.Microsec = mean * 1e6
	if mean > 0 {
		row.AlgMbps = 8 * float64(row.Bytes) / mean / 1e6
		row.BusMbps = row.AlgMbps * factor(c, r.n)
	}
	return row, nil
}

// factor is the part of a tensor that every rank of a ring sends.
func factor(c commlib.Collective, n int) float64 {
	part := float64(n-1) / float64(n)
	switch c {
	case commlib.AllReduce:
		return 2 * part
	case commlib.ReduceScatter, commlib.AllGather:
		return part
	}
	return 1
}

func differ(got, want []byte) (n int) {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			n++
		}
	}
	return n
}

// request makes a call and what this rank must get from it.
func (r *runner) request(c commlib.Collective, elements, root int) (req commlib.Request, want []byte) {
	size, own := r.Type.Size(), r.rank
	req = commlib.Request{Collective: c, Root: root, Type: r.Type, Op: r.Op}
	switch c {
	case commlib.AllReduce:
		req.Send, want = r.tensor(own, 0, elements), r.reduced(0, elements)
	case commlib.Reduce:
		if req.Send = r.tensor(own, 0, elements); own == root {
			want = r.reduced(0, elements)
		}
	case commlib.ReduceScatter:
		first, beyond := commlib.Part(elements, r.n, own)
		req.Send, want = r.tensor(own, 0, elements), r.reduced(first, beyond)
	case commlib.Broadcast:
		if own == root {
			req.Send = r.tensor(root, 0, elements)
			return req, nil
		}
		want = r.tensor(root, 0, elements)
	case commlib.AllGather:
		each := elements / r.n
		req.Send = r.tensor(own, 0, each)
		for rank := range r.n {
			want = append(want, r.tensor(rank, 0, each)...)
		}
		req.Recv = make([]byte, r.n*each*size)
		return req, want
	}
	if want != nil {
		req.Recv = make([]byte, len(want))
	}
	return req, want
}

// value is an element of a rank's tensor: any number for integers, a small one for floats, so that sums are exact in any order.
func (r *runner) value(rank, i int) int32 {
	v := splitmix.At(r.Seed+r.sequence<<40, uint64(rank)<<40|uint64(i))
	if r.Type == commlib.INT32 {
		return int32(v)
	}
	return int32(v%7) - 3
}

func (r *runner) tensor(rank, first, beyond int) []byte {
	out := make([]byte, 0, (beyond-first)*r.Type.Size())
	for i := first; i < beyond; i++ {
		out = r.encode(out, r.value(rank, i))
	}
	return out
}

// reduced are elements of the result, by plain arithmetic.
func (r *runner) reduced(first, beyond int) []byte {
	out := make([]byte, 0, (beyond-first)*r.Type.Size())
	for i := first; i < beyond; i++ {
		v := r.value(0, i)
		for rank := 1; rank < r.n; rank++ {
			switch x := r.value(rank, i); r.Op {
			case commlib.Min:
				v = min(v, x)
			case commlib.Max:
				v = max(v, x)
			default:
				v += x
			}
		}
		out = r.encode(out, v)
	}
	return out
}

// encode appends a number, little-endian.
func (r *runner) encode(out []byte, v int32) []byte {
	bits := math.Float32bits(float32(v))
	switch r.Type {
	case commlib.INT32:
		return binary.LittleEndian.AppendUint32(out, uint32(v))
	case commlib.BF16:
		return binary.LittleEndian.AppendUint16(out, uint16(bits>>16))
	case commlib.FP16:
		if v == 0 {
			return append(out, 0, 0)
		}
		half := bits>>16&0x8000 | (bits>>23&0xFF-127+15)<<10 | bits>>13&0x3FF
		return binary.LittleEndian.AppendUint16(out, uint16(half))
	}
	return binary.LittleEndian.AppendUint32(out, bits)
}
