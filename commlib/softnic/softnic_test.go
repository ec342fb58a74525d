// SPDX-License-Identifier: Apache-2.0

package softnic_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/roce"
)

// cable joins two NICs.
type cable struct {
	out  chan<- []byte
	in   <-chan []byte
	stop chan struct{}
	once *sync.Once
	full error // of Send, if it is to fail
	sent atomic.Int64
}

func (c *cable) Send(frame []byte) error {
	select {
	case c.out <- slices.Clone(frame):
	default: // lost
	}
	c.sent.Add(1)
	return c.full
}

func (c *cable) Receive(buf []byte) (int, error) {
	select {
	case f := <-c.in:
		return copy(buf, f), nil
	case <-c.stop:
		return 0, errors.New("unplugged")
	}
}

func (c *cable) Close() error {
	c.once.Do(func() { close(c.stop) })
	return nil
}

// pair is two NICs with a queue pair each, toward each other.
type pair struct {
	nics   [2]*softnic.NIC
	qps    [2]verbs.QP
	cables [2]*cable
}

func attr(peer *softnic.NIC, qpn uint32) verbs.Attr {
	return verbs.Attr{Peer: peer.Address(), PeerQPN: qpn, SendPSN: 0xFFFFFE, RecvPSN: 0xFFFFFE, PathMTU: 256, Timeout: 10, RetryCount: 7, RNRRetry: 7, MinRNRTimer: 1}
}

func newPair(t *testing.T, depth int) *pair {
	t.Helper()
	p := &pair{}
	a, b := make(chan []byte, 1000), make(chan []byte, 1000)
	for i, ways := range [][2]chan []byte{{a, b}, {b, a}} {
		p.cables[i] = &cable{out: ways[0], in: ways[1], stop: make(chan struct{}), once: &sync.Once{}}
		p.nics[i] = softnic.New(p.cables[i], verbs.Address{IP: roce.IP4{10, 0, 0, byte(i + 1)}, MAC: roce.MAC{2, 0, 0, 0, 0, byte(i + 1)}})
		t.Cleanup(func() { assert.NoError(t, p.nics[i].Close()) })
		var err error
		p.qps[i], err = p.nics[i].CreateQP(verbs.Caps{Sends: depth, Receives: depth})
		require.NoError(t, err)
	}
	for i := range p.qps {
		require.NoError(t, p.qps[i].Connect(attr(p.nics[1-i], p.qps[1-i].QPN())))
	}
	return p
}

// wait takes so many completions.
func wait(t *testing.T, q verbs.QP, n int) []verbs.Completion {
	t.Helper()
	var all []verbs.Completion
	late := time.After(10 * time.Second)
	for {
		var some [3]verbs.Completion
		got, err := q.Poll(some[:])
		require.NoError(t, err)
		if all = append(all, some[:got]...); len(all) >= n {
			return all
		}
		if got > 0 {
			continue
		}
		select {
		case <-q.Events():
		case <-late:
			t.Fatalf("%d completions of %d", len(all), n)
		}
	}
}

func register(t *testing.T, n *softnic.NIC, b []byte) verbs.Region {
	t.Helper()
	r, err := n.Register(b)
	require.NoError(t, err)
	return r
}

// Messages of all lengths arrive as they were, in order, some with an immediate, however late the receives are posted.
func TestMessages(t *testing.T) {
	p := newPair(t, 8)
	from, to := bytes.Repeat([]byte("abcdefg"), 1000), make([]byte, 7000)
	send, recv := register(t, p.nics[0], from), register(t, p.nics[1], to)
	sizes := []int{0, 1, 256, 257, 3000}
	for i, n := range sizes {
		require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{ID: uint64(100 + i), Region: send, Memory: from[i : i+n], HasImm: i%2 == 0, Imm: uint32(i)}))
	}
	time.Sleep(5 * time.Millisecond) // so that RNR NAKs are sent
	for i := range sizes {
		require.NoError(t, p.qps[1].PostRecv(verbs.WorkRequest{ID: uint64(200 + i), Region: recv, Memory: to[i*1000 : min(i*1000+3000, len(to))]}))
	}
	for i, c := range wait(t, p.qps[1], len(sizes)) {
		want := verbs.Completion{ID: uint64(200 + i), Recv: true, Bytes: sizes[i], HasImm: i%2 == 0}
		if want.HasImm {
			want.Imm = uint32(i)
		}
		require.Equal(t, want, c)
	}
	require.Equal(t, from[4:3004], to[4000:7000])
	for i, c := range wait(t, p.qps[0], len(sizes)) {
		require.Equal(t, verbs.Completion{ID: uint64(100 + i)}, c)
	}
	require.NoError(t, send.Deregister())
	require.Error(t, send.Deregister())
	require.NoError(t, recv.Deregister())
	for i := range p.qps {
		require.NoError(t, p.qps[i].Destroy())
		require.Error(t, p.qps[i].Destroy())
		qps, regions := p.nics[i].InUse()
		require.Zero(t, qps+regions)
		again, err := p.nics[i].CreateQP(verbs.Caps{Sends: 1, Receives: 1})
		require.NoError(t, err)
		require.Equal(t, p.qps[i].QPN()+1, again.QPN(), "numbers count up")
	}
}

// A message that is longer than its receive ends both queue pairs: the one request with the reason, the others flushed, those posted later as well.
func TestTooLong(t *testing.T) {
	p := newPair(t, 4)
	b, c := make([]byte, 600), make([]byte, 600)
	send, recv := register(t, p.nics[0], b), register(t, p.nics[1], c)
	require.NoError(t, p.qps[1].PostRecv(verbs.WorkRequest{ID: 1, Region: recv, Memory: c[:300]}))
	require.NoError(t, p.qps[1].PostRecv(verbs.WorkRequest{ID: 2, Region: recv, Memory: c}))
	require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{ID: 3, Region: send, Memory: b}))
	require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{ID: 4, Region: send, Memory: b}))
	got := wait(t, p.qps[0], 2)
	assert.Equal(t, []verbs.Status{verbs.General, verbs.Flushed}, []verbs.Status{got[0].Status, got[1].Status})
	assert.Contains(t, got[0].Detail, "fatal NAK")
	got = wait(t, p.qps[1], 1)
	assert.NotEqual(t, verbs.Success, got[0].Status)
	assert.Contains(t, got[0].Detail, "longer than the 300 bytes")
	require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{ID: 5, Region: send, Memory: b}))
	require.NoError(t, p.qps[0].PostRecv(verbs.WorkRequest{ID: 6, Region: send, Memory: b}))
	got = wait(t, p.qps[0], 2)
	assert.Equal(t, []verbs.Completion{{ID: 5, Status: verbs.Flushed}, {ID: 6, Recv: true, Status: verbs.Flushed}}, got)
}

// The device refuses what a real one would.
func TestRefused(t *testing.T) {
	p := newPair(t, 1)
	n := p.nics[0]
	b, other := make([]byte, 64), make([]byte, 64)
	r := register(t, n, b)
	_, err := n.Register(nil)
	require.Error(t, err)
	_, err = n.CreateQP(verbs.Caps{})
	require.Error(t, err)
	q, err := n.CreateQP(verbs.Caps{Sends: 1, Receives: 1})
	require.NoError(t, err)
	require.ErrorContains(t, q.PostSend(verbs.WorkRequest{}), "not connected")
	require.NoError(t, q.PostRecv(verbs.WorkRequest{Region: r, Memory: b}), "receives are posted before")
	require.ErrorContains(t, q.PostRecv(verbs.WorkRequest{Region: r, Memory: b}), "room for no more")
	for want, change := range map[string]func(a *verbs.Attr){
		"path MTU of 0":       func(a *verbs.Attr) { a.PathMTU = 0 },
		"retry counts must":   func(a *verbs.Attr) { a.RetryCount = 3 },
		"time-out 0":          func(a *verbs.Attr) { a.Timeout = 0 },
		"path MTU of 8192":    func(a *verbs.Attr) { a.PathMTU = 8192 },
		"without end: retry ": func(a *verbs.Attr) { a.RNRRetry = 0 },
	} {
		a := attr(p.nics[1], 5)
		change(&a)
		require.ErrorContains(t, q.Connect(a), want)
	}
	require.NoError(t, q.Connect(attr(p.nics[1], 5)))
	require.ErrorContains(t, q.Connect(attr(p.nics[1], 5)), "is connected")
	require.ErrorContains(t, q.PostSend(verbs.WorkRequest{Memory: b}), "not registered")
	require.ErrorContains(t, q.PostSend(verbs.WorkRequest{Region: r, Memory: other}), "not registered")
	require.ErrorContains(t, q.PostSend(verbs.WorkRequest{Region: register(t, n, b[8:16]), Memory: b[8:17]}), "not registered")
	require.NoError(t, q.PostSend(verbs.WorkRequest{Region: r, Memory: b}))
	require.ErrorContains(t, q.PostSend(verbs.WorkRequest{Region: r, Memory: b}), "room for no more")
	require.NoError(t, q.Destroy())
	require.ErrorContains(t, q.PostRecv(verbs.WorkRequest{}), "destroyed")
	_, err = q.Poll(nil)
	require.ErrorContains(t, err, "destroyed")
}

// Frames that are no queue pair's are nobody's.
func TestStrays(t *testing.T) {
	p := newPair(t, 1)
	for _, n := range []int{0, 1, 49, 50, 54, 100, 9216, 9217} {
		p.cables[0].out <- make([]byte, n)
	}
	require.Eventually(t, func() bool { return p.nics[1].Strays() == 7 }, 5*time.Second, time.Millisecond, "the longest is no frame")
}

// A NIC whose wire breaks, or that is closed, ends what is posted with the reason.
func TestBrokenWire(t *testing.T) {
	p := newPair(t, 2)
	b := make([]byte, 8)
	require.NoError(t, p.qps[0].PostRecv(verbs.WorkRequest{ID: 7, Region: register(t, p.nics[0], b), Memory: b}))
	require.NoError(t, p.cables[0].Close())
	got := wait(t, p.qps[0], 1)
	assert.Equal(t, verbs.Completion{ID: 7, Recv: true, Status: verbs.Fatal, Detail: "wire: unplugged"}, got[0])
	_, err := p.nics[0].CreateQP(verbs.Caps{Sends: 1, Receives: 1})
	require.EqualError(t, err, "wire: unplugged")
	require.NoError(t, p.nics[1].Close())
	require.ErrorIs(t, p.qps[1].PostRecv(verbs.WorkRequest{}), softnic.ErrClosed)
	_, err = p.nics[1].Register(b)
	require.ErrorIs(t, err, softnic.ErrClosed)
}

// A frame that comes after the wire broke on the way out is not taken: its receive is flushed, and the memory is the caller's again.
func TestLateFrame(t *testing.T) {
	p := newPair(t, 2)
	p.cables[1].full = errors.New("no carrier") // the first ACK breaks it
	from, to := []byte{1, 2, 3, 4}, make([]byte, 8)
	send, recv := register(t, p.nics[0], from), register(t, p.nics[1], to)
	for i := range uint64(2) {
		require.NoError(t, p.qps[1].PostRecv(verbs.WorkRequest{ID: i, Region: recv, Memory: to[4*i : 4*i+4]}))
	}
	require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{Region: send, Memory: from}))
	require.Equal(t, []verbs.Completion{{ID: 0, Recv: true, Bytes: 4}, {ID: 1, Recv: true, Status: verbs.Fatal, Detail: "wire: no carrier"}}, wait(t, p.qps[1], 2))
	require.NoError(t, p.qps[0].PostSend(verbs.WorkRequest{Region: send, Memory: from}))
	require.Eventually(t, func() bool { return p.cables[0].sent.Load() == 2 && len(p.cables[1].in) == 0 }, 5*time.Second, time.Millisecond)
	require.NoError(t, p.nics[1].Close()) // its receiver has ended
	require.Equal(t, []byte{1, 2, 3, 4, 0, 0, 0, 0}, to)
}
