// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"incforge/commlib/verbs"
	"incforge/network/ranges"
	"incforge/roce"
)

// Endpoint is a member's end of a group: what the switch beside it was told.
type Endpoint struct {
	// Name is the group's in messages; Members the hosts' by rank.
	Name    string
	Members []string
	Rank    int
	// Peer and PeerQPN are the far end of the queue pair, Start the first PSN both ways.
	Peer    verbs.Address
	PeerQPN uint32
	Start   roce.PSN
	// PathMTU is the payload of a full packet, Window how many packets may be under way.
	PathMTU, Window int
	// Message is the longest message in bytes in Mode I, 0 in other modes. Window counts messages then, and each end of the queue pair begins with a PSN of its own: this
	// one with OwnStart, the far one with PeerStart; Start is the ring's. PathMTU is the largest that the queue pair may have, LeastMTU the smallest.
	Message, LeastMTU   int
	OwnStart, PeerStart roce.PSN
	// Types and Ops are what the engines have.
	Types []Type
	Ops   []Op
	// Fixed is all that the group does, by its registers; nil is an in-band group, which does anything.
	Fixed *Request
}

// Tuning is what a member may choose for itself.
type Tuning struct {
	// Timeout is how long a call may go without anything coming or being acknowledged before the group fails; 0 is for ever. Members that come
	// late to a call keep the others waiting as long.
	Timeout time.Duration
	// Packets is the most that a message has; 0 is a quarter of the window. RangePackets is the most of a range; 0 is what a control has room for.
	Packets, RangePackets int
	// QPTimeout is the queue pair's, an exponent as verbs has it; 0 is 17, half a second.
	QPTimeout uint8
	// PathMTU is that of this member's own queue pair, and FirstPSN the first PSN that it sends, in Mode I, where no two members need have the same; 0 is the largest
	// that there can be, nil a random one. Other modes have neither.
	PathMTU  int
	FirstPSN *roce.PSN
}

// How queue pairs are made. Retry counts of 7 are without end: only the group knows when it is over.
const (
	qpTimeout = 17
	rnrTimer  = 12 // 0.64 ms
	endless   = 7
)

// Group is a group that this rank is a member of. Make it with InitGroup or Connect.
type Group struct {
	at     Endpoint
	tuning Tuning
	device verbs.Device
	qp     verbs.QP
	shape  ranges.Shape // of ranges and messages
	window int          // messages

	mu    sync.Mutex
	queue []*Call // the first is under way
	err   error

	kick  chan struct{}
	stop  chan struct{} // closed by shut
	done  chan struct{} // closed when run has ended
	once  sync.Once
	leave leaver
	ring  *ring // of a group that takes turns
	progress
}

// leaver is the group's tie to a control plane.
type leaver interface {
	Ended() <-chan struct{}
	Reason() string
	Abort(ctx context.Context, reason string) error
}

// progress is how far the first call of the queue is. The goroutine of run has it.
type progress struct {
	begun                    bool
	number                   int // of the range
	posted, sentOut, arrived int // messages of the range: posted, sends and receives completed
	last                     time.Time
}

// Connect makes a group of an endpoint without a control plane: whoever wrote it must have told the switches. meet hears which queue pair this side has
// before that is connected, and may say then what of the far end and START was not known before; nil if nobody wants to know. Nothing is sent
// before the first call.
func Connect(d verbs.Device, e Endpoint, t Tuning, meet func(qpn uint32, e *Endpoint) error) (*Group, error) {
	g, err := prepare(d, e, t, meet)
	if err != nil {
		return nil, err
	}
	g.start(nil)
	return g, nil
}

// prepare makes the queue pair and connects it.
func prepare(d verbs.Device, e Endpoint, t Tuning, meet func(qpn uint32, e *Endpoint) error) (*Group, error) {
	g := &Group{at: e, tuning: t, device: d, kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	if f := e.Fixed; f != nil {
		g.at.Types, g.at.Ops = []Type{f.Type}, []Op{f.Op}
	}
	if err := errors.Join(g.cut(), g.at.begin(t)); err != nil {
		return nil, fmt.Errorf("group %s: %w", e.Name, err)
	}
	switch {
	case e.Rank < 0 || e.Rank >= len(e.Members):
		return nil, fmt.Errorf("group %s: rank %d of %d members", e.Name, e.Rank, len(e.Members))
	case len(g.at.Types) == 0 || len(g.at.Ops) == 0:
		return nil, fmt.Errorf("group %s: its engines have no types or no operations", e.Name)
	}
	qp, err := d.CreateQP(verbs.Caps{Sends: g.window, Receives: g.window})
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", e.Name, err)
	}
	if meet != nil {
		if err := meet(qp.QPN(), &g.at); err != nil {
			return nil, errors.Join(fmt.Errorf("group %s: %w", e.Name, err), qp.Destroy())
		}
	}
	a := &g.at
	if a.Message == 0 {
		a.OwnStart, a.PeerStart = a.Start, a.Start
	}
	err = qp.Connect(verbs.Attr{Peer: a.Peer, PeerQPN: a.PeerQPN, SendPSN: a.OwnStart, RecvPSN: a.PeerStart, PathMTU: g.pathMTU(),
		Timeout: cmp.Or(t.QPTimeout, qpTimeout), RetryCount: endless, RNRRetry: endless, MinRNRTimer: rnrTimer})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("group %s: %w", e.Name, err), qp.Destroy())
	}
	g.qp = qp
	return g, nil
}

// start begins to work.
func (g *Group) start(l leaver) {
	g.leave = l
	go g.run()
}

// Endpoint is this member's.
func (g *Group) Endpoint() Endpoint { return g.at }

// Start queues a call. Call.Wait waits for it.
func (g *Group) Start(r Request) (*Call, error) {
	ranges, err := g.plan(&r)
	if err != nil {
		return nil, err
	}
	c := &Call{Request: r, ranges: ranges, done: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	g.queue = append(g.queue, c)
	g.wake()
	return c, nil
}

func (g *Group) wake() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// Do is Start and Wait.
func (g *Group) Do(ctx context.Context, r Request) error {
	c, err := g.Start(r)
	if err != nil {
		return err
	}
	return c.Wait(ctx)
}

// AllReduce reduces all members' send into everybody's recv.
func (g *Group) AllReduce(ctx context.Context, send, recv []byte, t Type, op Op) error {
	return g.Do(ctx, Request{Collective: AllReduce, Type: t, Op: op, Send: send, Recv: recv})
}

// Reduce reduces all members' send into the root's recv.
func (g *Group) Reduce(ctx context.Context, send, recv []byte, t Type, op Op, root int) error {
	return g.Do(ctx, Request{Collective: Reduce, Root: root, Type: t, Op: op, Send: send, Recv: recv})
}

// Broadcast gives the root's data to everybody: it is read at the root, and written elsewhere.
func (g *Group) Broadcast(ctx context.Context, data []byte, root int) error {
	r := Request{Collective: Broadcast, Root: root, Recv: data}
	if root == g.at.Rank {
		r.Send, r.Recv = data, nil
	}
	return g.Do(ctx, r)
}

// Barrier waits until all members have come to it.
func (g *Group) Barrier(ctx context.Context) error { return g.Do(ctx, Request{Collective: Barrier}) }

// ReduceScatter reduces all members' send, and gives each its Part in recv.
func (g *Group) ReduceScatter(ctx context.Context, send, recv []byte, t Type, op Op) error {
	return g.Do(ctx, Request{Collective: ReduceScatter, Type: t, Op: op, Send: send, Recv: recv})
}

// AllGather puts all members' send one behind the other into everybody's recv.
func (g *Group) AllGather(ctx context.Context, send, recv []byte) error {
	return g.Do(ctx, Request{Collective: AllGather, Send: send, Recv: recv})
}

// Ended is closed when the group has failed, or this member has left it.
func (g *Group) Ended() <-chan struct{} { return g.done }

// Err is why the group has failed; nil if it has not.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// shut ends the goroutine, and with it the queue pair.
func (g *Group) shut() {
	g.once.Do(func() { close(g.stop) })
	<-g.done
}

// Close ends this member's part without a word to the others: of a group that Connect has made.
func (g *Group) Close() { g.shut() }

// run does the calls, one after the other, until the group ends.
func (g *Group) run() {
	defer close(g.done)
	var ended <-chan struct{}
	if g.leave != nil {
		ended = g.leave.Ended()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if err := g.advance(); err != nil {
			g.fail(err)
			return
		}
		timer.Reset(g.patience())
		select {
		case <-g.kick:
		case <-g.qp.Events():
		case <-timer.C:
			if g.stands() {
				g.fail(&Error{Kind: ErrStands, Reason: g.waits()})
				return
			}
		case <-ended:
			g.fail(&Error{Kind: ErrEnded, Reason: g.leave.Reason()})
			return
		case <-g.stop:
			g.fail(&Error{Kind: ErrEnded, Reason: errLeft})
			return
		}
	}
}

// errLeft is the reason of an end that this member has made.
const errLeft = "this member has left it"

// first is the call under way; nil if there is none.
func (g *Group) first() *Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		return nil
	}
	return g.queue[0]
}

// patience is how long the call under way may still stand.
func (g *Group) patience() time.Duration {
	if g.tuning.Timeout == 0 || g.first() == nil || !g.begun {
		return time.Hour
	}
	return max(time.Until(g.last.Add(g.tuning.Timeout)), 0)
}

func (g *Group) stands() bool { return g.patience() == 0 }

// waits says what the call under way waits for.
func (g *Group) waits() string {
	c := g.first()
	s := &c.ranges[g.number]
	what := ""
	if s.sends && g.sentOut < s.Messages {
		what = fmt.Sprintf("message %d of %d of range %d of %d is not acknowledged", g.sentOut+1, s.Messages, g.number+1, len(c.ranges))
	}
	if s.hears && g.arrived < s.Messages {
		if what != "" {
			what += ", "
		}
		what += fmt.Sprintf("message %d of %d has not come", g.arrived+1, s.Messages)
		if s.Kind == Broadcast { // or a part of an AllGather
			what += fmt.Sprintf(" from rank %d (%s), its root", s.Root, g.at.Members[s.Root])
		}
	}
	return fmt.Sprintf("in %v %s: a member has not made this call, or made another one, or the way to it is cut; incforge live ctl state says for whom a switch waits",
		g.tuning.Timeout, what)
}

// fail ends the group: its queue pair first, so that nobody touches the buffers of the calls any more.
func (g *Group) fail(err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: ErrQueuePair, Reason: err.Error()}
	}
	e.Group, e.Rank, e.Member = g.at.Name, g.at.Rank, g.at.Members[g.at.Rank]
	if e.Kind != ErrEnded && e.Peer == "" {
		e.Peer = fmt.Sprintf("%v queue pair %#x", g.at.Peer.IP, g.at.PeerQPN)
	}
	errs := g.destroy()
	g.mu.Lock()
	calls := g.queue
	if len(calls) > 0 {
		e.Call = calls[0].Request.String()
	}
	g.queue, g.err = nil, e
	if errs != nil {
		e.Reason += fmt.Sprintf(" (and: %v)", errs)
	}
	g.mu.Unlock()
	for _, c := range calls {
		c.end(errors.Join(error(e), c.release()))
	}
	if g.leave != nil && e.Kind != ErrEnded {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		_ = g.leave.Abort(ctx, e.Error()) // who does not hear it finds this member gone
	}
}

// destroy destroys the queue pairs.
func (g *Group) destroy() error {
	err := g.qp.Destroy()
	if g.ring == nil {
		return err
	}
	if g.ring.turns.stop != nil {
		g.ring.turns.stop()
	}
	return errors.Join(err, g.ring.destroy())
}

// goodbye is how long a member that leaves waits for the manager.
const goodbye = 5 * time.Second

// advance does all that can be done now.
func (g *Group) advance() error {
	if err := g.poll(); err != nil {
		return err
	}
	for {
		c := g.first()
		if c == nil {
			return nil
		}
		if !g.begun {
			if alone, err := g.turn(c); err != nil {
				return err
			} else if alone {
				continue
			}
			if err := c.begin(g); err != nil {
				return &Error{Kind: ErrQueuePair, Reason: err.Error()}
			}
			g.progress = progress{begun: true, last: time.Now()}
		}
		s := &c.ranges[g.number]
		if err := g.post(c, s); err != nil {
			return &Error{Kind: ErrQueuePair, Reason: err.Error()}
		}
		if g.complete(s) < s.Messages {
			return nil
		}
		g.progress = progress{begun: true, number: g.number + 1, last: time.Now()}
		if g.number < len(c.ranges) {
			continue
		}
		if g.ring != nil {
			if err := g.ring.turns.end(); err != nil {
				return err
			}
		}
		g.finish(c)
	}
}

// turn gets a group that takes turns its turn, or does the call over the ring.
func (g *Group) turn(c *Call) (alone bool, err error) {
	if g.ring == nil {
		return false, nil
	}
	granted, err := g.ring.turns.begin(c)
	if err != nil || granted {
		return false, err
	}
	if err := g.ring.collective(c); err != nil {
		return false, err
	}
	g.finish(c)
	return true, nil
}

// Turns counts, of a group that takes turns, the collectives that had one, and those that the members have done themselves.
func (g *Group) Turns() (with, without int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ring == nil {
		return 0, 0
	}
	return g.ring.turns.with, g.ring.turns.without
}

// finish ends the first call of the queue.
func (g *Group) finish(c *Call) {
	g.mu.Lock()
	g.queue = slices.Delete(g.queue, 0, 1)
	g.mu.Unlock()
	g.progress = progress{}
	c.end(c.release())
}

// complete is how many messages of the range are through.
func (g *Group) complete(s *stretch) int {
	n := g.posted
	if s.sends {
		n = min(n, g.sentOut)
	}
	if s.hears {
		n = min(n, g.arrived)
	}
	return n
}

// post keeps a window of messages under way, each a receive and a send where the rank does both.
func (g *Group) post(c *Call, s *stretch) error {
	for g.posted < s.Messages && g.posted-g.complete(s) < g.window && !g.holds(s) {
		i := g.posted
		g.posted++
		from, to := s.Bounds(i)
		if s.hears {
			w := verbs.WorkRequest{ID: uint64(i), Memory: slice(s.recv, from, to)}
			w.Region = c.recvd.region()
			if len(w.Memory) < to-from { // padding comes beside the place where the rest belongs
				w.Memory, w.Region = c.spare.bytes[:to-from], c.spare.region()
			}
			if err := g.qp.PostRecv(w); err != nil {
				return err
			}
		}
		if s.sends {
			if err := g.qp.PostSend(c.message(s, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports that the sender of a Broadcast must not send its last message yet, because the control is not acknowledged.
func (g *Group) holds(s *stretch) bool {
	return s.Kind == Broadcast && s.HasControl && s.sends && g.posted == s.Messages-1 && g.sentOut == 0
}

// mostCompletions are taken at once.
const mostCompletions = 64

// poll takes what is completed.
func (g *Group) poll() error {
	var done [mostCompletions]verbs.Completion
	for {
		n, err := g.qp.Poll(done[:])
		if err != nil {
			return &Error{Kind: ErrQueuePair, Reason: err.Error()}
		}
		for i := range done[:n] {
			if err := g.completed(&done[i]); err != nil {
				return err
			}
		}
		if n < len(done) {
			return nil
		}
	}
}

func (g *Group) completed(d *verbs.Completion) error {
	what := fmt.Sprintf("the %s of message %d", map[bool]string{true: "receive", false: "send"}[d.Recv], d.ID+1)
	if d.Status != verbs.Success {
		reason := fmt.Sprintf("%s ended with %v", what, d.Status)
		if d.Detail != "" {
			reason += ": " + d.Detail
		}
		return &Error{Kind: ErrQueuePair, Reason: reason}
	}
	c := g.first()
	if c == nil || !g.begun {
		return &Error{Kind: ErrMismatch, Reason: what + " is completed, and no call is under way"}
	}
	g.last = time.Now()
	if !d.Recv {
		g.sentOut++
		return nil
	}
	s := &c.ranges[g.number]
	i := g.arrived
	g.arrived++
	from, to := s.Bounds(i)
	control := i == 0 && s.HasControl
	switch {
	case d.Bytes != to-from:
		return &Error{Kind: ErrMismatch, Reason: fmt.Sprintf("message %d has %d bytes, %d were expected", i+1, d.Bytes, to-from)}
	case d.HasImm != control || control && d.Imm != s.Control:
		return &Error{Kind: ErrMismatch, Reason: fmt.Sprintf("message %d is %s, %s was expected", i+1, said(d.HasImm, d.Imm), said(control, s.Control))}
	}
	if part := slice(s.recv, from, to); len(part) < to-from {
		copy(part, c.spare.bytes)
	}
	return nil
}
