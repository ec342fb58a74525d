// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package ibverbs_test

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib/ibverbs"
	"incforge/commlib/verbs"
)

// open opens the device that INCFORGE_VERBS_DEVICE names, such as rxe0. Its queue pairs are connected to each other.
func open(t *testing.T) *ibverbs.Device {
	name := os.Getenv("INCFORGE_VERBS_DEVICE")
	if name == "" {
		t.Skip("INCFORGE_VERBS_DEVICE names no RDMA device")
	}
	d, err := ibverbs.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

// connected are two queue pairs of the device, toward each other.
func connected(t *testing.T, d *ibverbs.Device) (qps [2]verbs.QP) {
	var err error
	for i := range qps {
		qps[i], err = d.CreateQP(verbs.Caps{Sends: 8, Receives: 8})
		require.NoError(t, err)
	}
	for i := range qps {
		require.NoError(t, qps[i].Connect(verbs.Attr{Peer: d.Address(), PeerQPN: qps[1-i].QPN(), SendPSN: 0xFFFFFE, RecvPSN: 0xFFFFFE, PathMTU: 1024,
			Timeout: 14, RetryCount: 7, RNRRetry: 7, MinRNRTimer: 1}))
	}
	return qps
}

// await waits for n completions, by events.
func await(t *testing.T, q verbs.QP, n int) (all []verbs.Completion) {
	t.Helper()
	var buf [3]verbs.Completion
	for deadline := time.After(10 * time.Second); len(all) < n; {
		got, err := q.Poll(buf[:])
		require.NoError(t, err)
		if all = append(all, buf[:got]...); got > 0 {
			continue
		}
		select {
		case <-q.Events():
		case <-deadline:
			t.Fatalf("%d completions of %d", len(all), n)
		}
	}
	return all
}

// A device that is not there says so.
func TestNoDevice(t *testing.T) {
	_, err := ibverbs.Open("no-such-device")
	assert.ErrorContains(t, err, `there is no RDMA device "no-such-device"`)
}

// Messages with memory, with an immediate alone, and of many packets arrive in their order; both sides complete.
func TestMessages(t *testing.T) {
	d := open(t)
	qps := connected(t, d)
	out, in := make([]byte, 9000), make([]byte, 3*9000)
	for i := range out {
		out[i] = byte(i * 7)
	}
	sends, err := d.Register(out)
	require.NoError(t, err)
	receives, err := d.Register(in)
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, qps[1].PostRecv(verbs.WorkRequest{ID: uint64(10 + i), Region: receives, Memory: in[9000*i : 9000*(i+1)]}))
	}
	require.NoError(t, qps[0].PostSend(verbs.WorkRequest{ID: 20, HasImm: true, Imm: 0x12345678}))
	require.NoError(t, qps[0].PostSend(verbs.WorkRequest{ID: 21, Region: sends, Memory: out}))
	require.NoError(t, qps[0].PostSend(verbs.WorkRequest{ID: 22, Region: sends, Memory: out[1:5]}))
	assert.Equal(t, []verbs.Completion{{ID: 20}, {ID: 21}, {ID: 22}}, await(t, qps[0], 3))
	assert.Equal(t, []verbs.Completion{{ID: 10, Recv: true, HasImm: true, Imm: 0x12345678}, {ID: 11, Recv: true, Bytes: 9000},
		{ID: 12, Recv: true, Bytes: 4}}, await(t, qps[1], 3))
	assert.True(t, bytes.Equal(out, in[9000:18000]))
	assert.True(t, bytes.Equal(out[1:5], in[18000:18004]))

	// What must fail does.
	assert.Error(t, qps[0].PostSend(verbs.WorkRequest{Region: receives, Memory: out}))
	assert.Error(t, qps[0].PostSend(verbs.WorkRequest{Memory: out}))
	assert.Error(t, d.Close())
	for _, q := range qps {
		require.NoError(t, q.Destroy())
		assert.Error(t, q.Destroy())
	}
	require.NoError(t, errors.Join(sends.Deregister(), receives.Deregister()))
	assert.Error(t, sends.Deregister())
}

// A message that is longer than the receive ends both queue pairs, and what was posted behind it is flushed.
func TestTooLong(t *testing.T) {
	d := open(t)
	qps := connected(t, d)
	memory := make([]byte, 64)
	region, err := d.Register(memory)
	require.NoError(t, err)
	require.NoError(t, qps[1].PostRecv(verbs.WorkRequest{ID: 1, Region: region, Memory: memory[:8]}))
	require.NoError(t, qps[1].PostRecv(verbs.WorkRequest{ID: 2, Region: region, Memory: memory[:8]}))
	require.NoError(t, qps[0].PostSend(verbs.WorkRequest{ID: 3, Region: region, Memory: memory}))
	sent, got := await(t, qps[0], 1), await(t, qps[1], 2)
	assert.Contains(t, []verbs.Status{verbs.RemoteInvalid, verbs.RemoteOperation}, sent[0].Status) // the first by the specification, the second of rxe
	assert.Contains(t, []verbs.Status{verbs.LocalLength, verbs.LocalQPOperation}, got[0].Status)
	assert.Equal(t, verbs.Flushed, got[1].Status)
	assert.True(t, got[0].Recv && got[1].Recv && !sent[0].Recv)
	require.NoError(t, errors.Join(qps[0].Destroy(), qps[1].Destroy(), region.Deregister()))
}

// Nobody answers ARP for the far end.
func TestNobody(t *testing.T) {
	d := open(t)
	q, err := d.CreateQP(verbs.Caps{Sends: 1, Receives: 1})
	require.NoError(t, err)
	peer := d.Address()
	peer.IP[3] ^= 0x55
	err = q.Connect(verbs.Attr{Peer: peer, PeerQPN: 17, PathMTU: 1024, Timeout: 14})
	assert.ErrorContains(t, err, "connect to "+peer.IP.String())
	assert.ErrorContains(t, q.Connect(verbs.Attr{Peer: peer, PathMTU: 64}), "a path MTU of 64 bytes")
	require.NoError(t, q.Destroy())
}
