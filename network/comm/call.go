// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/host"
	"incforge/network/ranges"
	"incforge/verify/arith"
)

// Collective is what a call does.
type Collective = ranges.Collective

// The collectives.
const (
	AllReduce     = ranges.AllReduce
	Reduce        = ranges.Reduce
	Broadcast     = ranges.Broadcast
	Barrier       = ranges.Barrier
	ReduceScatter = ranges.ReduceScatter
	AllGather     = ranges.AllGather
)

// Collectives are all of them.
func Collectives() []Collective { return ranges.Collectives() }

// Request describes a call. Type and operation matter only where elements are reduced.
type Request struct {
	Collective Collective
	// Root is the rank that receives (Reduce) or sends (Broadcast).
	Root  int
	DType arith.DType
	Op    arith.Op
	// In is each rank's data: equal lengths and whole elements where it is reduced; the root's alone matters in a Broadcast; none in a
	// Barrier. It must not change before the call is done.
	In [][]byte
}

// Stats are what the ranks' NICs did during a call.
type Stats struct {
	// Packets counts the packets sent with data or control, Resent the retransmissions among them.
	Packets, Resent, Timeouts int
}

// Call is a request under way, or done.
type Call struct {
	Request
	// Index counts the calls of the group.
	Index int
	// Out is what each rank gets: of the length that the collective says, nil where a rank gets nothing.
	Out [][]byte
	// Start is the cycle in which the first rank began, End that in which the last one was done.
	Start, End uint64
	// Total sums up the ranks that are through.
	Total Stats
	// Err says why the call ended without a result.
	Err error

	g    *Group
	left int // ranks not through
	done bool
}

// Done reports that the call has ended.
func (c *Call) Done() bool { return c.done }

// Cycles is how long the call took, from the first rank's begin to the last one's end; 0 before that.
func (c *Call) Cycles() uint64 {
	if !c.done {
		return 0
	}
	return c.End - c.Start
}

// Bytes is the size of one rank's tensor: its input, or, of an AllGather, its output.
func (c *Call) Bytes() int {
	switch c.Collective {
	case Barrier:
		return 0
	case Broadcast:
		return len(c.In[c.Root])
	case AllGather:
		return total(c.In)
	}
	return len(c.In[0])
}

// total is the length of all ranks' data together.
func total(data [][]byte) (n int) {
	for _, b := range data {
		n += len(b)
	}
	return n
}

// BitsPerCycle is the algorithm bandwidth: bits of one rank's tensor over the cycles of the call.
func (c *Call) BitsPerCycle() float64 {
	if c.Cycles() == 0 {
		return 0
	}
	return 8 * float64(c.Bytes()) / float64(c.Cycles())
}

// String says which call it is.
func (c *Call) String() string {
	s := fmt.Sprintf("call %d %s", c.Index, c.Collective)
	if c.Collective.Rooted() {
		s += fmt.Sprintf(" root %d", c.Root)
	}
	if c.Collective.Reduces() {
		s += fmt.Sprintf(" %s %s", c.DType, c.Op)
	}
	return fmt.Sprintf("%s of %d bytes", s, c.Bytes())
}

func (c *Call) end(err error) {
	c.done, c.Err = true, err
	if now := c.g.w.Now(); err != nil {
		c.Start, c.End = min(c.Start, now), now
	}
	c.g.w.pending--
}

// kind is the arithmetic of the call.
func (c *Call) kind() arith.Kind {
	return arith.Kind{DType: c.DType, Op: c.Op, BigEndian: c.g.cfg.BigEndian}
}

// rangePlan is one range of a call with all ranks' memory.
type rangePlan struct {
	ranges.Range
	call *Call
	// data to send, or to add, and place to receive, by rank
	send, recv [][]byte
	// of the call
	first, last bool
}

// local reports that the root of a Reduce adds its own contribution, which it does not send.
func (p *rangePlan) local(r int) bool {
	return p.Kind == Reduce && r == p.Root && p.call.g.cfg.RootLocal
}

func (p *rangePlan) sends(r int) bool { return !p.local(r) && p.Sends(r) }

// message is the i-th that a rank sends.
func (p *rangePlan) message(rank, i int) host.Message {
	if i == 0 && p.HasControl {
		return host.Message{HasImm: true, Imm: p.Control}
	}
	from, to := p.Bounds(i)
	return host.Message{Payload: p.send[rank][from:to]}
}

// Queue queues a call. Each rank starts on it when it is done with the calls before it; World.Run runs it.
func (g *Group) Queue(r Request) (_ *Call, err error) {
	defer fail.Catch(&err, "group %d %s", g.index, r.Collective)
	c := &Call{Request: r, Index: g.calls, g: g, left: g.Ranks(), Start: host.Never}
	c.check()
	plans := c.plan()
	c.iterates(plans)
	g.calls++
	g.w.pending++
	for _, k := range g.ranks {
		k.queue = append(k.queue, plans...)
	}
	for _, k := range g.ranks {
		k.advance(g.w.Now())
	}
	return c, nil
}

// check refuses what cannot be.
func (c *Call) check() {
	g, n := c.g, c.g.Ranks()
	p := g.w.p
	fail.If(!slices.Contains(Collectives(), c.Collective), "there is no such collective")
	fail.If(c.Collective == Barrier && len(c.In) != 0, "it has no data")
	fail.If(c.Collective != Barrier && len(c.In) != n, "data of %d ranks, the tree has %d", len(c.In), n)
	fail.If(c.Collective.Rooted() && (c.Root < 0 || c.Root >= n), "root %d of %d ranks", c.Root, n)
	if c.Collective.Reduces() {
		included := p.DTypeMask()>>c.DType&1 != 0 && p.OpMask()>>c.Op&1 != 0
		fail.If(!included, "%s %s: the engine has %v with %v", c.DType, c.Op, p.DTypes, p.Ops)
		for r, b := range c.In {
			fail.If(len(b) != len(c.In[0]) || len(b)%c.DType.Size() != 0,
				"rank %d has %d bytes, rank 0 has %d; must be equal and whole elements of %s", r, len(b), len(c.In[0]), c.DType)
		}
	}
	f := g.cfg.Fixed
	if f == nil {
		root := c.Collective.Last(c.Root, n)
		fail.If(root >= inc.Roots, "root %d: controls can name ranks 0 to %d", root, inc.Roots-1)
		return
	}
	barrier := c.Collective == Barrier && f.Collective == AllReduce
	same := c.Collective == f.Collective && (!c.Collective.Rooted() || c.Root == f.Root) &&
		(!c.Collective.Reduces() || c.DType == f.DType && c.Op == f.Op)
	fail.If(!barrier && !same, "the group is fixed to %s, root %d, %s %s", f.Collective, f.Root, f.DType, f.Op)
}

// plan allocates the results and cuts the call into ranges.
func (c *Call) plan() []*rangePlan {
	c.Out = make([][]byte, c.g.Ranks())
	everybody := func(bytes int) {
		for r := range c.Out {
			c.Out[r] = make([]byte, bytes)
		}
	}
	reduce := func(k Collective, root int, in [][]byte) []*rangePlan {
		return c.ranges(k, root, c.kind(), len(in[0]), in, c.Out)
	}
	var all []*rangePlan
	switch c.Collective {
	case AllReduce:
		everybody(len(c.In[0]))
		all = reduce(AllReduce, 0, c.In)
	case Reduce:
		c.Out[c.Root] = make([]byte, len(c.In[0]))
		all = reduce(Reduce, c.Root, c.In)
	case Broadcast:
		everybody(len(c.In[c.Root]))
		all = c.broadcast(c.Root, c.Out)
	case Barrier:
		all = c.ranges(Barrier, 0, c.g.w.kinds()[0], 0, c.Out, c.Out)
	case ReduceScatter:
		for root := range c.Out {
			part := c.piece(root)
			c.Out[root] = make([]byte, len(part[0]))
			all = append(all, reduce(Reduce, root, part)...)
		}
	case AllGather:
		everybody(total(c.In))
		at := 0
		for root, b := range c.In {
			all = append(all, c.broadcast(root, cut(c.Out, at, at+len(b)))...)
			at += len(b)
		}
	}
	all[0].first, all[len(all)-1].last = true, true
	return all
}

// piece is what is reduced for rank r in a ReduceScatter.
func (c *Call) piece(r int) [][]byte {
	size := c.DType.Size()
	first, beyond := ranges.Part(len(c.In[0])/size, c.g.Ranks(), r)
	return cut(c.In, first*size, beyond*size)
}

// broadcast sends data as elements, padded: engines take whole elements only. What is padded is received beside the place where it belongs.
func (c *Call) broadcast(root int, out [][]byte) []*rangePlan {
	data, in := c.In[root], make([][]byte, len(out))
	copy(out[root], data)
	of := c.broadcastKind()
	size := of.DType.Size()
	padding := (size - len(data)%size) % size
	in[root] = append(slices.Clip(data), make([]byte, padding)...)
	return c.ranges(Broadcast, root, of, len(in[root]), in, out)
}

// broadcastKind is of the narrowest element type of the engine, which needs the least padding.
func (c *Call) broadcastKind() arith.Kind {
	if f := c.g.cfg.Fixed; f != nil {
		return arith.Kind{DType: f.DType}
	}
	return slices.MinFunc(c.g.w.kinds(), func(a, b arith.Kind) int { return a.DType.Size() - b.DType.Size() })
}

// ranges cuts n bytes into ranges and these into messages. in is each rank's data, of those that send, out the place for its result.
func (c *Call) ranges(k Collective, root int, of arith.Kind, n int, in, out [][]byte) (all []*rangePlan) {
	cfg := &c.g.cfg
	shape := ranges.Shape{MTU: cfg.PathMTU, Packets: cfg.Message, RangePackets: cfg.RangePackets, Fixed: cfg.Fixed != nil}
	if c.g.w.messages() { // controls count messages
		shape.MTU, shape.Packets = cfg.PathMTU*cfg.Message, 1
	}
	for _, r := range shape.Cut(k, root, uint8(of.DType), uint8(of.Op), n) {
		all = append(all, &rangePlan{Range: r, call: c, send: cut(in, r.From, r.To), recv: cut(out, r.From, r.To)})
	}
	return all
}

// cut takes a part of what each rank sends or gets; what is shorter, being received without padding, is taken as far as it goes.
func cut(data [][]byte, from, to int) [][]byte {
	parts := make([][]byte, len(data))
	for r, b := range data {
		parts[r] = b[min(from, len(b)):min(to, len(b))]
	}
	return parts
}
