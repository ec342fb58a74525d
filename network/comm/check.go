// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"incforge/verify/arith"
)

// ErrWrong is what every wrong result wraps.
var ErrWrong = errors.New("wrong result")

// Check compares a call's results with plain arithmetic, which shares nothing with engines: bit for bit what was copied, integers,
// minima and maxima, reproducible sums, and sums of floats that are exact in any order; other sums of floats element by element within
// Tolerance, and then with the same bits on all ranks.
func (c *Call) Check() error {
	if !c.done || c.Err != nil {
		return fmt.Errorf("group %d %s: no result: %w", c.g.index, c, errors.Join(c.Err))
	}
	if err := c.wrong(); err != nil {
		return fmt.Errorf("group %d %s: %w: %w", c.g.index, c, ErrWrong, err)
	}
	return nil
}

func (c *Call) wrong() error {
	n := c.g.Ranks()
	switch c.Collective {
	case Barrier:
		return nil
	case Broadcast:
		return c.all(c.In[c.Root])
	case AllGather:
		return c.all(bytes.Join(c.In, nil))
	case Reduce:
		return c.reduced(c.Root, c.Out[c.Root], c.In, c.Root)
	case AllReduce:
		if err := c.reduced(0, c.Out[0], c.In, -1); err != nil {
			return err
		}
		return c.all(c.Out[0])
	}
	size := c.DType.Size()
	elements := len(c.In[0]) / size
	for r := range n {
		part := slice(c.In, Pieces(elements, n, r)*size, Pieces(elements, n, r+1)*size)
		if err := c.reduced(r, c.Out[r], part, r); err != nil {
			return err
		}
	}
	return nil
}

// all compares what every rank has with data.
func (c *Call) all(want []byte) error {
	for r, got := range c.Out {
		if len(got) != len(want) {
			return fmt.Errorf("rank %d has %d bytes, expected %d", r, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				return fmt.Errorf("rank %d: byte %d of %d is %#02x, expected %#02x", r, i, len(got), got[i], want[i])
			}
		}
	}
	return nil
}

// reduced compares what rank r has with the reduction of parts; root is the root of the Reduce, −1 for an AllReduce.
func (c *Call) reduced(r int, got []byte, parts [][]byte, root int) error {
	k := c.kind()
	if len(got) != len(parts[0]) {
		return fmt.Errorf("rank %d has %d bytes, expected %d", r, len(got), len(parts[0]))
	}
	var want []byte
	if c.g.w.p.Reproducible() {
		want = c.g.inTree(k, parts, root)
	} else {
		var err error
		if want, err = k.Exact(parts...); errors.Is(err, arith.ErrInexact) {
			return near(k, r, got, parts)
		}
	}
	for i := range k.Elements(len(got)) {
		if a, b := k.Bits(got, i), k.Bits(want, i); a != b {
			return fmt.Errorf("rank %d: element %d of %d is %#x (%g), expected %#x (%g)", r, i, k.Elements(len(got)), a, k.Number(got, i), b,
				k.Number(want, i))
		}
	}
	return nil
}

// near compares a sum of floats that depends on the order with float64's.
func near(k arith.Kind, r int, got []byte, parts [][]byte) error {
	for i := range k.Elements(len(got)) {
		e := Compare(k, got, parts, i)
		if !e.Within {
			return fmt.Errorf("rank %d: element %d of %d is %g, float64 has %g, which is %g apart; %g is allowed", r, i, k.Elements(len(got)), e.Got,
				e.Want, math.Abs(e.Got-e.Want), e.Tolerance)
		}
	}
	return nil
}

// Element is one element of a sum beside float64's.
type Element struct {
	Got, Want float64
	// Ulps is the difference in units in the last place of what float64 has; 0 where both are no number, or the same infinity.
	Ulps float64
	// Tolerance is the difference that n−1 roundings in any order, and one at each switch, stay below: n units in the last place of the sum
	// of the absolute values. Where nothing cancels that is n units of the result.
	Tolerance float64
	// Within tells that the difference is within Tolerance. What may overflow in some order may be infinite, or no number after that.
	Within bool
}

// Compare sums element i of the parts in float64.
func Compare(k arith.Kind, got []byte, parts [][]byte, i int) Element {
	e := Element{Got: k.Number(got, i)}
	size := 0.0
	for _, p := range parts {
		x := k.Number(p, i)
		e.Want += x
		size += math.Abs(x)
	}
	switch {
	case math.IsNaN(e.Want):
		e.Within = math.IsNaN(e.Got)
	case math.IsInf(e.Want, 0):
		e.Within = e.Got == e.Want
	case k.DType.Overflows(size):
		e.Within = math.IsNaN(e.Got) || math.IsInf(e.Got, 0) || math.Abs(e.Got-e.Want) <= float64(len(parts))*k.DType.Ulp(size)
	default:
		e.Tolerance = float64(len(parts)) * k.DType.Ulp(size)
		e.Ulps = math.Abs(e.Got-e.Want) / k.DType.Ulp(e.Want)
		e.Within = math.Abs(e.Got-e.Want) <= e.Tolerance
	}
	return e
}

// inTree reduces as reproducible switches do: each over its endpoints, the tree being re-rooted at root, or rooted at switch 0 if root is
// negative.
func (g *Group) inTree(k arith.Kind, parts [][]byte, root int) []byte {
	t := g.w.topo
	var value func(s, to int) []byte
	value = func(s, to int) []byte {
		ends := make([][]byte, t.Degree(s)+1)
		for e := range t.Degree(s) {
			below, rank := t.Child(s, e)
			switch {
			case rank >= 0:
				if e != to || !g.cfg.RootLocal {
					ends[e] = parts[rank]
				}
			case e != to:
				ends[e] = value(below, t.Degree(below))
			}
		}
		if parent, slot, ok := t.Parent(s); ok && to != t.Degree(s) {
			ends[t.Degree(s)] = value(parent, slot)
		}
		return k.Tree(ends)
	}
	if root < 0 {
		return value(0, -1)
	}
	leaf, e := t.Host(root)
	v := value(leaf, e)
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
	k := c.kind()
	var got []byte
	switch c.Collective {
	case AllReduce:
		got = c.Out[0]
	case Reduce:
		got = c.Out[c.Root]
	default:
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
		switch k.Op {
		case arith.Sum:
			v += x
		case arith.Min:
			v = min(v, x)
		case arith.Max:
			v = max(v, x)
		}
	}
	if k.DType == arith.INT32 {
		return float64(int32(int64(v)))
	}
	return v
}
