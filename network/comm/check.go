// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"incforge/internal/fail"
	"incforge/verify/arith"
)

// ErrWrong is what every wrong result wraps.
var ErrWrong = errors.New("wrong result")

// Check compares a call's results with plain arithmetic, which shares nothing with engines: bit for bit what was copied, integers,
// minima and maxima, reproducible sums, and sums of floats that are exact in any order; other sums of floats as arith.Kind.Near does,
// and then with the same bits on all ranks.
func (c *Call) Check() (err error) {
	defer fail.Catch(&err, "group %d %s", c.g.index, c)
	fail.If(!c.done || c.Err != nil, "no result: %w", errors.Join(c.Err))
	switch c.Collective {
	case Broadcast:
		c.all(c.In[c.Root])
	case AllGather:
		c.all(bytes.Join(c.In, nil))
	case Reduce:
		c.reduced(c.Root, c.In, c.Root)
	case AllReduce:
		c.reduced(0, c.In, -1)
		c.all(c.Out[0])
	case ReduceScatter:
		for r := range c.Out {
			c.reduced(r, c.piece(r), r)
		}
	}
	return nil
}

// wrong ends the check: what rank r has is not the result.
func wrong(r int, format string, args ...any) {
	fail.Now("%w: rank %d: %s", ErrWrong, r, fmt.Sprintf(format, args...))
}

// all compares what every rank has with data.
func (c *Call) all(want []byte) {
	for r, got := range c.Out {
		if len(got) != len(want) {
			wrong(r, "%d bytes, expected %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				wrong(r, "byte %d of %d is %#02x, expected %#02x", i, len(got), got[i], want[i])
			}
		}
	}
}

// reduced compares what rank r has with the reduction of parts; root is the root of the Reduce, −1 for an AllReduce.
func (c *Call) reduced(r int, parts [][]byte, root int) {
	k, got := c.kind(), c.Out[r]
	want, err := c.g.expected(k, parts, root)
	if err != nil { // the sum depends on the order
		if err := k.Near(got, parts...); err != nil {
			wrong(r, "%v", err)
		}
	} else if !bytes.Equal(got, want) {
		wrong(r, "%s", k.Difference(got, want))
	}
}

// expected is the reduction of parts, bit for bit; an error where it depends on the order. Of a Reduce root is the root, otherwise −1.
func (g *Group) expected(k arith.Kind, parts [][]byte, root int) ([]byte, error) {
	if g.w.p.Reproducible() {
		return g.inTree(k, parts, root), nil
	}
	return k.Exact(parts...)
}

// inTree reduces as reproducible switches do: each over its endpoints, the tree being re-rooted at root, or rooted at switch 0 if root is
// negative.
func (g *Group) inTree(k arith.Kind, parts [][]byte, root int) []byte {
	t := g.w.topo
	var value func(n, to int) []byte
	value = func(n, to int) []byte { // of switch n, for its neighbour
		ends := make([][]byte, len(t.Nodes[n].Children)+1)
		for e := range ends {
			switch from := t.Neighbour(n, e); {
			case from < 0:
			case t.Nodes[from].Rank >= 0 && (from != to || !g.cfg.RootLocal):
				ends[e] = parts[t.Nodes[from].Rank]
			case from != to:
				ends[e] = value(from, n)
			}
		}
		return k.Tree(ends)
	}
	if root < 0 {
		return value(0, -1)
	}
	to := t.Hosts[root]
	v := value(t.Nodes[to].Parent, to)
	if g.cfg.RootLocal {
		v = k.InOrder(v, parts[root])
	}
	return v
}

// Deviation is the largest difference of any element that was reduced from a float64 reduction, and the largest one in units in the last place;
// 0 where nothing was reduced. Elements without a finite result do not count: Check judges them.
func (c *Call) Deviation() (abs, ulp float64) {
	if !c.done || c.Err != nil || !c.Collective.Reduces() {
		return 0, 0
	}
	k, got := c.kind(), c.Out[0]
	if c.Collective != AllReduce { // each rank has another part, or none
		got = bytes.Join(c.Out, nil)
	}
	for i := range k.Elements(len(got)) {
		x, want := k.Number(got, i), reduceIn64(k, c.In, i)
		d := math.Abs(x - want)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			continue
		}
		abs, ulp = max(abs, d), max(ulp, d/k.DType.Ulp(want))
	}
	return abs, ulp
}

// reduceIn64 reduces element i in float64; sums of INT32 wrap as on the wire.
func reduceIn64(k arith.Kind, parts [][]byte, i int) float64 {
	v := k.Number(parts[0], i)
	for _, p := range parts[1:] {
		x := k.Number(p, i)
		v = [...]float64{arith.Sum: v + x, arith.Min: min(v, x), arith.Max: max(v, x)}[k.Op]
	}
	if k.DType == arith.INT32 {
		return float64(int32(int64(v)))
	}
	return v
}
