// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"incforge/commlib/verbs"
	"incforge/control/managerpb"
	"incforge/inc"
	"incforge/roce"
)

// A piece of a message between hosts, and how many may be under way each way.
const (
	ringPiece = 1 << 16
	ringDepth = 8
)

// ring is what the members of a group that takes turns do without the switches: each has a queue pair toward the next rank and one toward the one before.
// The group's goroutine has it.
type ring struct {
	g              *Group
	next, previous verbs.QP
	bigEndian      bool
	turns          *turns
	// longer is what is added to the time that nothing may come: while rank 0 asks for a turn.
	longer time.Duration
}

// newRing makes the queue pairs.
func newRing(g *Group, c *Config) (*ring, error) {
	r := &ring{g: g, bigEndian: c.BigEndian}
	r.turns = &turns{ring: r, wait: c.TurnWait}
	for _, q := range []*verbs.QP{&r.next, &r.previous} {
		var err error
		if *q, err = c.Device.CreateQP(verbs.Caps{Sends: ringDepth, Receives: ringDepth}); err != nil {
			return nil, errors.Join(fmt.Errorf("ring: %w", err), r.destroy())
		}
	}
	return r, nil
}

func (r *ring) destroy() error {
	r.turns.hush()
	var errs []error
	for _, q := range []verbs.QP{r.next, r.previous} {
		if q != nil {
			errs = append(errs, q.Destroy())
		}
	}
	return errors.Join(errs...)
}

// pairs names the queue pairs for the manager.
func (r *ring) pairs() (next, previous *managerpb.QueuePair) {
	at := r.g.device.Address()
	pair := func(q verbs.QP) *managerpb.QueuePair {
		return &managerpb.QueuePair{Qpn: q.QPN(), Ip: at.IP.Uint32(), Mac: at.MAC.Uint64()}
	}
	return pair(r.next), pair(r.previous)
}

// connect connects them to what the manager says is at the other ends.
func (r *ring) connect(ready *managerpb.ReportResponse) error {
	for _, way := range []struct {
		qp  verbs.QP
		far *managerpb.QueuePair
	}{{r.next, ready.Next}, {r.previous, ready.Previous}} {
		if way.far == nil {
			return errors.New("ring: the manager names no far end")
		}
		e := &r.g.at
		err := way.qp.Connect(verbs.Attr{Peer: verbs.Address{IP: roce.IP4FromUint32(way.far.Ip), MAC: roce.MACFromUint64(way.far.Mac)}, PeerQPN: way.far.Qpn,
			SendPSN: e.Start, RecvPSN: e.Start, PathMTU: e.PathMTU, Timeout: cmp.Or(r.g.tuning.QPTimeout, qpTimeout), RetryCount: endless, RNRRetry: endless, MinRNRTimer: rnrTimer})
		if err != nil {
			return fmt.Errorf("ring: %w", err)
		}
	}
	return nil
}

// stream is one way of an exchange: pieces of memory through a queue pair.
type stream struct {
	qp           verbs.QP
	data         []byte
	known        verbs.Region
	recv         bool
	posted, done int
}

func (s *stream) pieces() int { return (len(s.data) + ringPiece - 1) / ringPiece }

// work posts what there is room for and takes what is completed.
func (s *stream) work() (moved bool, err error) {
	for ; s.posted < s.pieces() && s.posted-s.done < ringDepth; s.posted++ {
		from := s.posted * ringPiece
		w := verbs.WorkRequest{ID: uint64(s.posted), Region: s.known, Memory: s.data[from:min(from+ringPiece, len(s.data))]}
		post := s.qp.PostSend
		if s.recv {
			post = s.qp.PostRecv
		}
		if err := post(w); err != nil {
			return false, err
		}
	}
	var some [2 * ringDepth]verbs.Completion
	n, err := s.qp.Poll(some[:])
	if err != nil {
		return false, err
	}
	for i := range some[:n] {
		c := &some[i]
		want := min(len(s.data)-s.done*ringPiece, ringPiece)
		switch {
		case c.Status != verbs.Success:
			return false, fmt.Errorf("the way to a neighbour ended with %v: %s", c.Status, c.Detail)
		case s.done == s.posted || c.Recv != s.recv:
			return false, errors.New("a completion that nobody waits for")
		case c.Recv && c.Bytes != want:
			return false, &Error{Kind: ErrMismatch, Reason: fmt.Sprintf("%d bytes came from the rank before, %d were expected", c.Bytes, want)}
		}
		s.done++
	}
	return n > 0, nil
}

// exchange sends to the next rank and receives from the one before, either of which may be nothing.
func (r *ring) exchange(out, in []byte, known verbs.Region) error {
	send, recv := stream{qp: r.next, data: out, known: known}, stream{qp: r.previous, data: in, known: known, recv: true}
	for last := time.Now(); ; {
		sent, err := send.work()
		if err != nil {
			return r.toward(1, err)
		}
		came, err := recv.work()
		if err != nil {
			return r.toward(-1, err)
		}
		if send.done == send.pieces() && recv.done == recv.pieces() {
			return nil
		}
		if sent || came {
			last = time.Now()
			continue
		}
		if err := r.sleep(last); err != nil {
			if recv.done < recv.pieces() {
				return r.toward(-1, err)
			}
			return r.toward(1, err)
		}
	}
}

// toward says which neighbour an error is about: that so many ranks on.
func (r *ring) toward(step int, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: ErrQueuePair, Reason: err.Error()}
	}
	if e.Kind != ErrEnded {
		rank := (r.g.at.Rank + step + len(r.g.at.Members)) % len(r.g.at.Members)
		e.Peer = fmt.Sprintf("rank %d (%s)", rank, r.g.at.Members[rank])
	}
	return e
}

// sleep waits until something has come, or the group ends.
func (r *ring) sleep(last time.Time) error {
	g := r.g
	var late <-chan time.Time
	if g.tuning.Timeout > 0 {
		timer := time.NewTimer(time.Until(last.Add(g.tuning.Timeout + r.longer)))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-r.next.Events():
	case <-r.previous.Events():
	case <-late:
		return &Error{Kind: ErrStands, Reason: fmt.Sprintf("in %v nothing has come over the ring of the members: one has not made this call, or the way to it is cut", g.tuning.Timeout+r.longer)}
	case <-g.leave.Ended():
		return &Error{Kind: ErrEnded, Reason: g.leave.Reason()}
	case <-g.stop:
		return &Error{Kind: ErrEnded, Reason: errLeft}
	}
	return nil
}

// parts are where a tensor is cut: part i goes from at[i] to at[i+1].
func parts(elements, ranks, size int) (at []int) {
	for i := range ranks + 1 {
		first, _ := Part(elements, ranks, i)
		at = append(at, first*size)
	}
	return at
}

// collective does a call without the switches.
func (r *ring) collective(c *Call) (err error) {
	n, own := len(r.g.at.Members), r.g.at.Rank
	q := c.Request
	size, bytes := q.Type.Size(), len(q.Send)
	switch q.Collective {
	case AllGather:
		size, bytes = 1, n*len(q.Send)
	case Broadcast:
		bytes = max(len(q.Send), len(q.Recv))
	case Barrier: // an element from everybody, which everybody gets
		q.Type, q.Op, size = INT32, Sum, INT32.Size()
		bytes = n * size
	}
	at := parts(bytes/size, n, size)
	most := 1
	for i := range n {
		most = max(most, at[i+1]-at[i])
	}
	buffer := make([]byte, bytes+most) // what comes to be added is behind the tensor
	work, spare := buffer[:bytes], buffer[bytes:]
	known, err := r.g.device.Register(buffer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, known.Deregister()) }()
	switch q.Collective {
	case AllGather:
		copy(work[at[own]:], q.Send)
		err = r.gather(work, at, known)
	case Broadcast:
		copy(work, q.Send)
		err = r.pass(q.Root, work, known)
	default:
		copy(work, q.Send)
		if err = r.scatter(&q, work, spare, at, known); err == nil && q.Collective != ReduceScatter {
			err = r.gather(work, at, known)
		}
	}
	if err != nil {
		return err
	}
	switch {
	case q.Collective == ReduceScatter:
		copy(q.Recv, work[at[own]:at[own+1]])
	case q.Collective == Barrier, q.Collective.Rooted() && (q.Collective == Reduce) != (own == q.Root):
	default:
		copy(q.Recv, work)
	}
	return nil
}

// scatter reduces part i of all members' tensors at rank i: a part begins behind its rank and gathers on its way around.
func (r *ring) scatter(q *Request, work, spare []byte, at []int, known verbs.Region) error {
	n, own := len(r.g.at.Members), r.g.at.Rank
	for s := range n - 1 {
		out, in := (own-s-1+2*n)%n, (own-s-2+2*n)%n
		mine, came := work[at[in]:at[in+1]], spare[:at[in+1]-at[in]]
		if err := r.exchange(work[at[out]:at[out+1]], came, known); err != nil {
			return err
		}
		copy(mine, inc.Reduce(uint8(q.Type), uint8(q.Op), r.bigEndian, [][]byte{came, mine}))
	}
	return nil
}

// gather gives everybody the parts that each has.
func (r *ring) gather(work []byte, at []int, known verbs.Region) error {
	n, own := len(r.g.at.Members), r.g.at.Rank
	for s := range n - 1 {
		out, in := (own-s+n)%n, (own-s-1+n)%n
		if err := r.exchange(work[at[out]:at[out+1]], work[at[in]:at[in+1]], known); err != nil {
			return err
		}
	}
	return nil
}

// pass hands the root's data on, from rank to rank, a piece at a time.
func (r *ring) pass(root int, work []byte, known verbs.Region) error {
	n, own := len(r.g.at.Members), r.g.at.Rank
	for from := 0; from < len(work); from += ringPiece {
		piece := work[from:min(from+ringPiece, len(work))]
		if own != root {
			if err := r.exchange(nil, piece, known); err != nil {
				return err
			}
		}
		if (own+1)%n != root {
			if err := r.exchange(piece, nil, known); err != nil {
				return err
			}
		}
	}
	return nil
}
