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
	// Types are those that elements are reduced in. What reduces nothing is run with the first alone.
	Types []commlib.Type
	Op    commlib.Op
	// Bytes are the sizes of a rank's tensor: its input, or, of an AllGather, about its output.
	Bytes []int
	// Iterations are measured, Warmup come before them and are checked only.
	Iterations, Warmup int
	Seed               uint64
}

// Row is what came of one collective at one size, on average of all ranks.
type Row struct {
	Collective string `json:"collective"`
	Type       string `json:"type"`
	Op         string `json:"op"`
	Bytes      int    `json:"bytes"`
	Elements   int    `json:"elements"`
	// Out is with an output beside the input, In with one in its place; nil where there are not both.
	Out Figures  `json:"out_of_place"`
	In  *Figures `json:"in_place,omitempty"`
}

// Wrong is how many bytes of all results were not what they should be.
func (r *Row) Wrong() int {
	if r.In == nil {
		return r.Out.Wrong
	}
	return r.Out.Wrong + r.In.Wrong
}

// Figures are what calls of one kind took.
type Figures struct {
	Microsec float64 `json:"us"`
	// AlgMbps is the tensor over the time, BusMbps what a ring would have to send for it.
	AlgMbps float64 `json:"alg_mbps"`
	BusMbps float64 `json:"bus_mbps"`
	// Wrong counts bytes that were not what they should be, of all ranks.
	Wrong int `json:"wrong"`
}

// runner runs a plan.
type runner struct {
	Plan
	dtype    commlib.Type // of the row
	g        *commlib.Group
	n, rank  int
	sequence uint64
}

// Run runs a plan on a group and tells of every row as soon as it is there. A call that fails ends it.
func Run(ctx context.Context, g *commlib.Group, p Plan, tell func(Row)) error {
	r := &runner{Plan: p, g: g, n: len(g.Endpoint().Members), rank: g.Endpoint().Rank}
	for _, c := range p.Collectives {
		types := p.Types
		if !c.Reduces() {
			types = types[:1]
		}
		for _, r.dtype = range types {
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
	}
	return nil
}

// row runs a collective at a size, out of place and in place.
func (r *runner) row(ctx context.Context, c commlib.Collective, bytes int) (Row, error) {
	elements := bytes / r.dtype.Size()
	row := Row{Collective: c.String()}
	if c.Reduces() {
		row.Type, row.Op = r.dtype.String(), r.Op.String()
	}
	switch c {
	case commlib.AllGather:
		elements = elements / r.n * r.n
	case commlib.Barrier:
		elements = 0
	}
	row.Elements, row.Bytes = elements, elements*r.dtype.Size()
	var err error
	if row.Out, err = r.figures(ctx, c, row, false); err != nil || c == commlib.Broadcast || c == commlib.Barrier {
		return row, err
	}
	in, err := r.figures(ctx, c, row, true)
	row.In = &in
	return row, err
}

// figures runs a collective a number of times.
func (r *runner) figures(ctx context.Context, c commlib.Collective, row Row, inPlace bool) (f Figures, err error) {
	var spent time.Duration
	for i := range r.Warmup + r.Iterations {
		r.sequence++
		req, want := r.request(c, row.Elements, i%r.n)
		if inPlace {
			r.join(&req)
		}
		if err := r.g.Barrier(ctx); err != nil {
			return f, err
		}
		began := time.Now()
		if err := r.g.Do(ctx, req); err != nil {
			return f, err
		}
		if i >= r.Warmup {
			spent += time.Since(began)
		}
		f.Wrong += differ(req.Recv, want)
	}
	mean := spent.Seconds() / float64(max(r.Iterations, 1))
	if mean, f.Wrong, err = r.average(ctx, mean, f.Wrong); err != nil {
		return f, err
	}
	f.Microsec = mean * 1e6
	if mean > 0 {
		f.AlgMbps = 8 * float64(row.Bytes) / mean / 1e6
		f.BusMbps = f.AlgMbps * factor(c, r.n)
	}
	return f, nil
}

// join lets a call's output be in its input's place.
func (r *runner) join(q *commlib.Request) {
	switch q.Collective {
	case commlib.AllReduce, commlib.Reduce:
		if q.Recv != nil {
			q.Recv = q.Send
		}
	case commlib.ReduceScatter:
		first, beyond := commlib.Part(len(q.Send)/r.dtype.Size(), r.n, r.rank)
		q.Recv = q.Send[first*r.dtype.Size() : beyond*r.dtype.Size()]
	case commlib.AllGather:
		q.Send = q.Recv[r.rank*len(q.Send):][:copy(q.Recv[r.rank*len(q.Send):], q.Send)]
	}
}

// average is the mean of a time, and the sum of a count, over all ranks. A group that is fixed to one collective cannot tell: there a rank has its own.
func (r *runner) average(ctx context.Context, seconds float64, count int) (float64, int, error) {
	if r.g.Endpoint().Fixed != nil {
		return seconds, count, nil
	}
	own := binary.LittleEndian.AppendUint64(nil, math.Float64bits(seconds))
	own = binary.LittleEndian.AppendUint64(own, uint64(count))
	all := make([]byte, r.n*len(own))
	if err := r.g.AllGather(ctx, own, all); err != nil {
		return 0, 0, err
	}
	var sum float64
	count = 0
	for ; len(all) > 0; all = all[len(own):] {
		sum += math.Float64frombits(binary.LittleEndian.Uint64(all))
		count += int(binary.LittleEndian.Uint64(all[8:]))
	}
	return sum / float64(r.n), count, nil
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
	size, own := r.dtype.Size(), r.rank
	req = commlib.Request{Collective: c, Root: root, Type: r.dtype, Op: r.Op}
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
	if r.dtype == commlib.INT32 {
		return int32(v)
	}
	return int32(v%7) - 3
}

func (r *runner) tensor(rank, first, beyond int) []byte {
	out := make([]byte, 0, (beyond-first)*r.dtype.Size())
	for i := first; i < beyond; i++ {
		out = r.encode(out, r.value(rank, i))
	}
	return out
}

// reduced are elements of the result, by plain arithmetic.
func (r *runner) reduced(first, beyond int) []byte {
	out := make([]byte, 0, (beyond-first)*r.dtype.Size())
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
	switch r.dtype {
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
