// SPDX-License-Identifier: Apache-2.0

package softnic

import (
	"errors"
	"fmt"
	"slices"

	"incforge/commlib/verbs"
	"incforge/network/host"
)

// qp is a queue pair. All of it is guarded by the NIC's mu.
type qp struct {
	nic    *NIC
	qpn    uint32
	caps   verbs.Caps
	host   *host.Host // nil before Connect
	sends  []uint64   // posted and not completed
	recvs  []verbs.WorkRequest
	done   []verbs.Completion
	events chan struct{}
	failed bool
	gone   bool
}

// QPN is the number.
func (q *qp) QPN() uint32 { return q.qpn }

// Events tells of completions.
func (q *qp) Events() <-chan struct{} { return q.events }

// usable is why nothing can be asked of the queue pair; nil if it can. Called with mu held.
func (q *qp) usable() error {
	if q.gone {
		return errors.New("the queue pair is destroyed")
	}
	return q.nic.err
}

// Connect connects the queue pair.
func (q *qp) Connect(a verbs.Attr) error {
	q.nic.mu.Lock()
	defer q.nic.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	switch {
	case q.host != nil:
		return errors.New("connect: the queue pair is connected")
	case a.PathMTU < minPathMTU || a.PathMTU > maxPathMTU:
		return fmt.Errorf("connect: a path MTU of %d bytes", a.PathMTU)
	case a.RetryCount != endless || a.RNRRetry != endless:
		return errors.New("connect: the model sends again without end: retry counts must be 7")
	case a.Timeout == 0 || a.Timeout > mostExp || a.MinRNRTimer > mostExp:
		return fmt.Errorf("connect: time-out %d, RNR timer %d: 1 to %d and 0 to %d are allowed", a.Timeout, a.MinRNRTimer, mostExp, mostExp)
	}
	h, err := host.New(host.Config{MAC: q.nic.at.MAC, PeerMAC: a.Peer.MAC, IP: q.nic.at.IP, PeerIP: a.Peer.IP, QPN: q.qpn, PeerQPN: a.PeerQPN,
		UDPPort: sourcePort(q.qpn, a.PeerQPN), TTL: 64, Start: a.SendPSN, Expect: &a.RecvPSN, PathMTU: a.PathMTU, Window: host.NICWindow, Timeout: 4096 << a.Timeout,
		RNRCode: a.MinRNRTimer, CyclesPerMicrosecond: perMicro})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	h.SetReceives(0)
	for _, w := range q.recvs {
		h.PostReceive(len(w.Memory))
	}
	h.OnCompletion = q.complete
	q.host = h
	return nil
}

// sourcePort is the UDP source port that rxe gives a connection.
func sourcePort(qpn, peer uint32) uint16 {
	v := uint64(qpn) * uint64(peer)
	v ^= v >> 20
	v ^= v >> 40
	v &= 0xFFFFF
	return 0xC000 | uint16(v&0x3FFF^v>>14)
}

// PostSend posts a send.
func (q *qp) PostSend(w verbs.WorkRequest) error {
	q.nic.mu.Lock()
	defer q.nic.mu.Unlock()
	switch err := q.usable(); {
	case err != nil:
		return err
	case q.host == nil:
		return errors.New("post a send: the queue pair is not connected")
	case len(q.sends) == q.caps.Sends:
		return fmt.Errorf("post a send: %d are posted, there is room for no more", len(q.sends))
	case !covers(w.Region, w.Memory):
		return errors.New("post a send: its memory is not registered")
	}
	q.sends = append(q.sends, w.ID)
	if q.failed {
		q.flush(verbs.Flushed, "")
		return nil
	}
	q.host.Post(host.Message{Payload: w.Memory, HasImm: w.HasImm, Imm: w.Imm})
	q.nic.wake()
	return nil
}

// PostRecv posts a receive.
func (q *qp) PostRecv(w verbs.WorkRequest) error {
	q.nic.mu.Lock()
	defer q.nic.mu.Unlock()
	switch err := q.usable(); {
	case err != nil:
		return err
	case len(q.recvs) == q.caps.Receives:
		return fmt.Errorf("post a receive: %d are posted, there is room for no more", len(q.recvs))
	case !covers(w.Region, w.Memory):
		return errors.New("post a receive: its memory is not registered")
	}
	q.recvs = append(q.recvs, w)
	switch {
	case q.failed:
		q.flush(verbs.Flushed, "")
	case q.host != nil:
		q.host.PostReceive(len(w.Memory))
	}
	return nil
}

// complete is told by the model what is done.
func (q *qp) complete(c host.Completion) {
	if c.Sent {
		q.add(verbs.Completion{ID: q.sends[0]})
		q.sends = q.sends[1:]
		return
	}
	w := q.recvs[0]
	q.recvs = q.recvs[1:]
	copy(w.Memory, c.Message.Payload)
	q.add(verbs.Completion{ID: w.ID, Recv: true, Bytes: len(c.Message.Payload), HasImm: c.Message.HasImm, Imm: c.Message.Imm})
}

func (q *qp) add(c verbs.Completion) {
	q.done = append(q.done, c)
	select {
	case q.events <- struct{}{}:
	default:
	}
}

// look ends a queue pair whose model has found an error.
func (q *qp) look() {
	if err := q.host.Err(); err != nil && !q.failed {
		q.flush(verbs.General, err.Error())
	}
}

// flush ends the queue pair. The oldest request that is not completed gets the status, the others are flushed. If nothing is posted the status
// is that of what will be.
func (q *qp) flush(s verbs.Status, detail string) {
	q.failed = true // the model goes on as far as the NAK that tells the other end
	for _, id := range q.sends {
		q.add(verbs.Completion{ID: id, Status: s, Detail: detail})
		s, detail = verbs.Flushed, ""
	}
	for _, w := range q.recvs {
		q.add(verbs.Completion{ID: w.ID, Recv: true, Status: s, Detail: detail})
		s, detail = verbs.Flushed, ""
	}
	q.sends, q.recvs = nil, nil
}

// Poll takes completions.
func (q *qp) Poll(into []verbs.Completion) (int, error) {
	q.nic.mu.Lock()
	defer q.nic.mu.Unlock()
	if q.gone {
		return 0, q.usable()
	}
	n := copy(into, q.done)
	if q.done = q.done[n:]; len(q.done) == 0 {
		q.done = nil
	}
	return n, nil
}

// Destroy forgets the queue pair. Its number is not used again before all others were.
func (q *qp) Destroy() error {
	q.nic.mu.Lock()
	defer q.nic.mu.Unlock()
	if q.gone {
		return errors.New("destroy: the queue pair is destroyed")
	}
	q.gone = true
	delete(q.nic.qps, q.qpn)
	q.nic.order = slices.DeleteFunc(q.nic.order, func(o *qp) bool { return o == q })
	return nil
}

var _ verbs.Device = (*NIC)(nil)
