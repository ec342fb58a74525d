// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/network/host"
	"incforge/verify/arith"
)

// Collective is what a call does.
type Collective uint8

// The collectives.
const (
	AllReduce Collective = iota
	Reduce
	Broadcast
	Barrier
	ReduceScatter
	AllGather
)

// Collectives are all of them.
func Collectives() []Collective {
	return []Collective{AllReduce, Reduce, Broadcast, Barrier, ReduceScatter, AllGather}
}

func collectiveNames() []string {
	return []string{"allreduce", "reduce", "broadcast", "barrier", "reducescatter", "allgather"}
}

// String is the name in small letters.
func (c Collective) String() string {
	if int(c) < len(collectiveNames()) {
		return collectiveNames()[c]
	}
	return fmt.Sprintf("collective %d", uint8(c))
}

// ParseCollective is the inverse of String.
func ParseCollective(s string) (Collective, error) {
	for i, name := range collectiveNames() {
		if s == name {
			return Collective(i), nil
		}
	}
	return 0, fmt.Errorf("collective %q: must be one of %v", s, collectiveNames())
}

// MarshalText makes names of values in JSON and YAML.
func (c Collective) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Collective) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCollective(string(text))
	return err
}

// single tells that the collective takes one range, so that a group can be fixed to it by registers.
func (c Collective) single() bool { return c <= Barrier }

// Rooted tells that it has a root.
func (c Collective) Rooted() bool { return c == Reduce || c == Broadcast }

// Reduces tells that elements are reduced, so that type and operation matter.
func (c Collective) Reduces() bool { return c == AllReduce || c == Reduce || c == ReduceScatter }

// code is the number in GROUP_COLLECTIVE and in controls.
func (c Collective) code() uint8 {
	return [...]uint8{inc.CollectiveAllReduce, inc.CollectiveReduce, inc.CollectiveBroadcast, inc.CollectiveBarrier}[c]
}

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

// Stats are what a rank's NIC did during a call.
type Stats struct {
	// Start is the cycle in which the rank began, End that in which its part was complete.
	Start, End uint64
	// Packets counts the packets sent with data or control, Resent the retransmissions among them.
	Packets, Resent int
	Timeouts        int
	NAKs, RNRs      int // obeyed
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
	// Ranks is the same of each rank, and what its NIC did.
	Ranks []Stats
	// Err says why the call ended without a result.
	Err error

	g    *Group
	left int // ranks not through
	done bool
}

// Done reports that the call has ended.
func (c *Call) Done() bool { return c.done }

// Group is the group whose call it is.
func (c *Call) Group() *Group { return c.g }

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
		n := 0
		for _, b := range c.In {
			n += len(b)
		}
		return n
	}
	return len(c.In[0])
}

// BitsPerCycle is the algorithm bandwidth: bits of one rank's tensor over the cycles of the call.
func (c *Call) BitsPerCycle() float64 {
	if c.Cycles() == 0 {
		return 0
	}
	return 8 * float64(c.Bytes()) / float64(c.Cycles())
}

// Total sums up the ranks.
func (c *Call) Total() Stats {
	t := Stats{Start: c.Start, End: c.End}
	for _, r := range c.Ranks {
		t.Packets += r.Packets
		t.Resent += r.Resent
		t.Timeouts += r.Timeouts
		t.NAKs += r.NAKs
		t.RNRs += r.RNRs
	}
	return t
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

// Pieces is where ReduceScatter cuts a tensor of so many elements: rank r gets elements [Pieces(n, k, r), Pieces(n, k, r+1)).
func Pieces(elements, ranks, r int) int { return elements * r / ranks }

// rangePlan is one range of a call.
type rangePlan struct {
	call       *Call
	collective uint8 // as in a control
	control    *host.Message
	// sizes of the messages in bytes, the control's 0 among them
	sizes []int
	// data to send and place to receive by rank, nil where a rank does neither
	send, recv [][]byte
	// own is what the root of a Reduce adds itself, nil if it need not
	own  []byte
	last bool
}

func (p *rangePlan) sends(r int) bool { return p.send[r] != nil }
func (p *rangePlan) hears(r int) bool { return p.recv[r] != nil }

// offset is where message i, which is no control, begins in the data.
func (p *rangePlan) offset(i int) int {
	if p.control != nil {
		i--
	}
	return i * p.messageBytes()
}

// message is the i-th that a rank sends.
func (p *rangePlan) message(rank, i int) host.Message {
	if i == 0 && p.control != nil {
		return *p.control
	}
	from := p.offset(i)
	return host.Message{Payload: p.send[rank][from : from+p.sizes[i]]}
}

func (p *rangePlan) messageBytes() int {
	c := &p.call.g.cfg
	return c.Message * c.PathMTU
}

// Queue queues a call. Each rank starts on it when it is done with the calls before it; World.Run runs it.
func (g *Group) Queue(r Request) (*Call, error) {
	c := &Call{Request: r, Index: g.calls, g: g, Ranks: make([]Stats, g.Ranks()), left: g.Ranks(), Start: host.Never}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("group %d %s: %w", g.index, r.Collective, err)
	}
	plans := c.plan()
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
func (c *Call) check() error {
	g, n := c.g, c.g.Ranks()
	p := g.w.p
	switch {
	case int(c.Collective) >= len(collectiveNames()):
		return fmt.Errorf("there is no such collective")
	case c.Collective == Barrier:
		if len(c.In) != 0 {
			return fmt.Errorf("it has no data")
		}
	case len(c.In) != n:
		return fmt.Errorf("data of %d ranks, the tree has %d", len(c.In), n)
	}
	if c.Collective.Rooted() && (c.Root < 0 || c.Root >= n) {
		return fmt.Errorf("root %d of %d ranks", c.Root, n)
	}
	if c.Collective.Reduces() {
		if p.DTypeMask()>>c.DType&1 == 0 || p.OpMask()>>c.Op&1 == 0 {
			return fmt.Errorf("%s %s: the engine has %v with %v", c.DType, c.Op, p.DTypes, p.Ops)
		}
		for r, b := range c.In {
			if len(b) != len(c.In[0]) || len(b)%c.DType.Size() != 0 {
				return fmt.Errorf("rank %d has %d bytes, rank 0 has %d; must be equal and whole elements of %s", r, len(b), len(c.In[0]), c.DType)
			}
		}
	}
	f := g.cfg.Fixed
	if f == nil {
		root := c.Root
		if c.Collective == ReduceScatter || c.Collective == AllGather {
			root = n - 1
		}
		if root >= inc.Roots && c.Collective != AllReduce && c.Collective != Barrier {
			return fmt.Errorf("root %d: controls can name ranks 0 to %d", root, inc.Roots-1)
		}
		return nil
	}
	barrier := c.Collective == Barrier && f.Collective == AllReduce
	same := c.Collective == f.Collective && (!c.Collective.Rooted() || c.Root == f.Root) &&
		(!c.Collective.Reduces() || c.DType == f.DType && c.Op == f.Op)
	if !barrier && !same {
		return fmt.Errorf("the group is fixed to %s, root %d, %s %s", f.Collective, f.Root, f.DType, f.Op)
	}
	return nil
}

// plan cuts the call into ranges and allocates the results.
func (c *Call) plan() []*rangePlan {
	n := c.g.Ranks()
	c.Out = make([][]byte, n)
	var all []*rangePlan
	switch c.Collective {
	case AllReduce:
		for r := range n {
			c.Out[r] = make([]byte, len(c.In[0]))
		}
		all = c.ranges(AllReduce, 0, c.DType, c.Op, len(c.In[0]), slice(c.In, 0, len(c.In[0])), c.Out)
	case Reduce:
		c.Out[c.Root] = make([]byte, len(c.In[0]))
		all = c.reduce(c.Root, c.In, c.Out[c.Root])
	case Broadcast:
		for r := range n {
			c.Out[r] = make([]byte, len(c.In[c.Root]))
		}
		all = c.broadcast(c.Root, c.In[c.Root], c.Out)
	case Barrier:
		none := make([][]byte, n)
		for r := range n {
			none[r] = []byte{}
		}
		all = c.ranges(Barrier, 0, arith.DType(c.g.w.firstType()), arith.Op(c.g.w.firstOp()), 0, none, none)
	case ReduceScatter:
		size := c.DType.Size()
		elements := len(c.In[0]) / size
		for root := range n {
			from, to := Pieces(elements, n, root)*size, Pieces(elements, n, root+1)*size
			c.Out[root] = make([]byte, to-from)
			all = append(all, c.reduce(root, slice(c.In, from, to), c.Out[root])...)
		}
	case AllGather:
		total := 0
		for _, b := range c.In {
			total += len(b)
		}
		for r := range n {
			c.Out[r] = make([]byte, total)
		}
		at := 0
		for root, b := range c.In {
			all = append(all, c.broadcast(root, b, slice(c.Out, at, at+len(b)))...)
			at += len(b)
		}
	}
	all[len(all)-1].last = true
	return all
}

// slice cuts the same part out of all ranks' data; a part of no bytes is not nil.
func slice(data [][]byte, from, to int) [][]byte {
	parts := make([][]byte, len(data))
	for r, b := range data {
		parts[r] = b[from:to:to]
		if parts[r] == nil {
			parts[r] = []byte{}
		}
	}
	return parts
}

func (c *Call) reduce(root int, in [][]byte, out []byte) []*rangePlan {
	send, recv := slice(in, 0, len(out)), make([][]byte, len(in))
	recv[root] = out
	if !c.g.cfg.RootLocal {
		return c.ranges(Reduce, root, c.DType, c.Op, len(out), send, recv)
	}
	own := send[root]
	send[root] = nil
	all := c.ranges(Reduce, root, c.DType, c.Op, len(out), send, recv)
	for _, p := range all {
		n := len(p.recv[root])
		p.own, own = own[:n], own[n:]
	}
	return all
}

// broadcast sends data as elements of whichever type needs the least padding: engines take whole elements only. What is padded is received
// beside the place where it belongs.
func (c *Call) broadcast(root int, data []byte, out [][]byte) []*rangePlan {
	d := c.broadcastType(len(data))
	padded := (len(data) + d.Size() - 1) / d.Size() * d.Size()
	copy(out[root], data)
	send, recv := make([][]byte, len(out)), make([][]byte, len(out))
	if send[root] = data; padded != len(data) || data == nil {
		send[root] = append(make([]byte, 0, padded), data...)[:padded]
	}
	for r := range out {
		if r != root {
			recv[r] = out[r]
		}
	}
	return c.ranges(Broadcast, root, d, arith.Op(c.g.w.firstOp()), padded, send, recv)
}

func (c *Call) broadcastType(n int) arith.DType {
	if f := c.g.cfg.Fixed; f != nil {
		return f.DType
	}
	included := c.g.w.p.DTypeMask()
	first := arith.DType(c.g.w.firstType())
	for d := range arith.DType(len(contract.Elements())) {
		if included>>d&1 != 0 && n%d.Size() == 0 && (n%first.Size() != 0 || d < first) {
			return d
		}
	}
	if included&wideTypes != 0 { // an odd number of bytes
		return arith.DType(lowest(included&wideTypes, 0))
	}
	return first
}

// ranges cuts n bytes into ranges and these into messages. send and recv are by rank, nil where a rank takes no part in that.
func (c *Call) ranges(k Collective, root int, d arith.DType, op arith.Op, n int, send, recv [][]byte) []*rangePlan {
	cfg := &c.g.cfg
	most := cfg.RangePackets * cfg.PathMTU
	var all []*rangePlan
	for from := 0; from == 0 || from < n; from += most {
		to := min(n, from+most)
		p := &rangePlan{call: c, collective: k.code(), send: cut(send, from, to), recv: cut(recv, from, to)}
		packets := (to - from + cfg.PathMTU - 1) / cfg.PathMTU
		if packets == 0 && (k == Broadcast || cfg.Fixed != nil) {
			packets = 1 // nothing is a packet without payload; a control alone would not do
		}
		if cfg.Fixed == nil {
			control := inc.Control{Collective: k.code(), Op: uint8(op), DType: uint8(d), Root: uint8(root), Packets: packets}
			p.control = &host.Message{HasImm: true, Imm: control.Immediate()}
			p.sizes = append(p.sizes, 0)
		}
		for at, left := from, packets; left > 0; left -= cfg.Message {
			size := min(to-at, p.messageBytes())
			p.sizes = append(p.sizes, size)
			at += size
		}
		all = append(all, p)
	}
	return all
}

// cut takes a part of what each rank sends or gets; what is shorter, being received without padding, is taken as far as it goes.
func cut(data [][]byte, from, to int) [][]byte {
	parts := make([][]byte, len(data))
	for r, b := range data {
		if b != nil {
			parts[r] = b[min(from, len(b)):min(to, len(b))]
		}
	}
	return parts
}
