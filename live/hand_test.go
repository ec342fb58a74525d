// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/socket"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// managed starts a switch of two ports whose groups are an agent's; the hand is the agent's. The agent fails with what comes from fail.
func managed(t *testing.T, fail <-chan error) (r *rig, hand *live.Hand) {
	t.Helper()
	has := make(chan *live.Hand, 1)
	r = runWith(t, synthetic.Mini(), star, 2, func(o *live.Options) {
		sw := &o.Switches[0]
		sw.Setup = groups.Managed(sw.Manifest, groups.Address{IP: roce.IP4{10, 0, 0, 1}, MAC: roce.MAC{2, 0, 0, 0, 0, 0}})
		sw.Agent = func(ctx context.Context, h *live.Hand) error {
			has <- h
			select {
			case err := <-fail:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return r, <-has
}

// An agent writes a group into the engine by its hand: the switch answers ARP for it, shows the group, and lets nobody else change it. Ports tell
// whether somebody is at them.
func TestAgent(t *testing.T) {
	r, hand := managed(t, nil)
	assert.Equal(t, []int{0, 1, 2, 3}, hand.Down(), "nobody is anywhere")
	s, err := socket.Listen(r.peer(1))
	require.NoError(t, err)
	assert.Equal(t, []int{0, 2, 3}, hand.Down())

	drv := ctrl.New(hand, synthetic.Manifest(synthetic.Mini()))
	id, err := drv.Read("ID", 0)
	require.NoError(t, err)
	assert.Equal(t, uint32(contract.Magic), id)
	end := inc.Endpoint{Valid: true, Host: true, Port: 1, LocalQPN: 0x100000, RemoteQPN: 17, LocalIP: roce.IP4{10, 0, 0, 1}, RemoteIP: roce.IP4{10, 0, 0, 2},
		LocalMAC: roce.MAC{2, 0, 0, 0, 0, 1}, RemoteMAC: roce.MAC{2, 9}, TTL: 64}
	set := inc.Group{Start: 5, Log2N: 1, InMask: 1, OutMask: 1, AckMask: 1, DType: inc.DTypeINT32}
	require.NoError(t, drv.SetEndpoint(0, end))
	require.NoError(t, drv.SetGroup(0, set))
	started, err := drv.Enable(0)
	require.NoError(t, err)
	require.True(t, started)
	hand.Installed(0, set, []inc.Endpoint{end})

	c := live.NewClient(filepath.Join(r.dir, "control"))
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Len(t, state.Switches[0].Groups, 1)
	assert.True(t, state.Switches[0].Groups[0].Enabled)
	assert.Equal(t, end.RemoteIP, state.Switches[0].Groups[0].Ends[0].RemoteIP)
	_, err = c.Reset(t.Context(), "leaf", 0)
	require.ErrorContains(t, err, "the groups of switch leaf are its agent's")
	require.ErrorIs(t, c.Remove(t.Context(), "leaf", 0), live.ErrControl)
	_, err = c.SetPort(t.Context(), "leaf", 2, true)
	require.ErrorContains(t, err, `there is no port "2" with a socket or a link`)
	_, err = c.SetPort(t.Context(), "root", 1, true)
	require.ErrorContains(t, err, `there is no switch "root"`)

	ask := make([]byte, 60) // who has 10.0.0.1?
	copy(ask, "\xff\xff\xff\xff\xff\xff\x02\x09\x00\x00\x00\x00\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01\x02\x09\x00\x00\x00\x00\x0a\x00\x00\x02\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x01")
	answered := func() bool {
		require.NoError(t, s.Send(r.mine(1), ask))
		require.NoError(t, s.SetReceiveDeadline(time.Now().Add(100*time.Millisecond)))
		n, err := s.Receive(make([]byte, 100))
		return err == nil && n > 0
	}
	require.Eventually(t, answered, 10*time.Second, time.Millisecond)
	p, err := c.SetPort(t.Context(), "leaf", 1, true)
	require.NoError(t, err)
	assert.True(t, p.Down)
	assert.Equal(t, []int{0, 1, 2, 3}, hand.Down())
	require.Never(t, answered, 500*time.Millisecond, time.Millisecond)
	p, err = c.SetPort(t.Context(), "leaf", 1, false)
	require.NoError(t, err)
	assert.False(t, p.Down)
	assert.Positive(t, p.LostIn)
	require.Eventually(t, answered, 10*time.Second, time.Millisecond)

	hand.Removed(0)
	state, err = c.State(t.Context())
	require.NoError(t, err)
	assert.Empty(t, state.Switches[0].Groups)
	// A frame that was under way to it is nothing to tell of; one to a queue pair that there never was is.
	for _, qpn := range []uint32{end.LocalQPN, end.LocalQPN + 1} {
		p := roce.Packet{DstMAC: end.LocalMAC, SrcMAC: end.RemoteMAC, TTL: 64, SrcIP: end.RemoteIP, DstIP: end.LocalIP, Op: roce.SendOnly, PKey: roce.DefaultPKey, DestQP: qpn}
		require.NoError(t, s.Send(r.mine(1), p.AppendFrame(nil)))
	}
	require.Eventually(t, func() bool { return r.lacks([]string{"sends to QPN 0x100001, which no endpoint has"}) == nil }, 10*time.Second, time.Millisecond)
	assert.NotContains(t, r.log.String(), "QPN 0x100000")
	require.NoError(t, s.Close())
	r.end()
	require.NoError(t, r.err)
	_, err = drv.Read("ID", 0)
	require.ErrorContains(t, err, "the switch has ended")
	hand.Removed(0)
}

// An agent that fails ends the run with its reason.
func TestAgentFails(t *testing.T) {
	broken, fail := errors.New("no way to the manager"), make(chan error)
	r, _ := managed(t, fail)
	fail <- broken
	<-r.done
	require.ErrorIs(t, r.err, broken)
}

var _ ctrl.Bus = (*live.Hand)(nil)
