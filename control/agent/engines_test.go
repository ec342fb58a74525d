// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/verify/ctrl"
)

// engines are the parameters of a switch of so many engines that park groups, each with 16 slots and two groups.
func engines(n int) contract.Params {
	p := synthetic.Mini()
	p.Park, p.Engines = true, n
	return p
}

// at asks for a group of three hosts at an engine, in the same eight slots of each.
func (s *site) at(engine int, group string, inTurn bool) (*pb.ReserveResponse, error) {
	r := &pb.ReserveRequest{Group: group, Slots: 8, Ports: []uint32{0, 1, 2}, LeaseMs: 1000, Engine: uint32(engine), InTurn: inTurn}
	out, err := s.agent.Reserve(s.ctx, r)
	if err == nil {
		_, err = s.agent.Commit(s.ctx, commit(group, 3, 3))
	}
	return out, err
}

// Every engine has records and slots of its own: what a group has at one is free at the others. Each runs what it was given, after a restart with the store and without it too.
func TestEngines(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newSite(t, engines(n))
			require.Equal(t, fmt.Sprintf("%d/%d", 16*n, 2*n), s.states())
			var first []uint32
			for e := range n {
				out, err := s.at(e, fmt.Sprint("g", e), false)
				require.NoError(t, err)
				for i, end := range out.Ends { // as docs/engines.md section 1 has it
					require.Equal(t, uint32(e), end.Qpn/uint32(s.man.Params.EngineRecords())%map[int]uint32{2: 2, 3: 4, 4: 4}[n])
					require.Equal(t, uint32(i), end.Qpn%uint32(s.man.Params.EngineRecords()))
				}
				first = append(first, out.Ends[0].Qpn)
				require.Equal(t, first, s.running())
				s.addUp()
			}
			_, err := s.at(n-1, "more", false)
			require.ErrorContains(t, err, fmt.Sprintf("slots 0 to 7 are not free: group g%d has 0 to 7", n-1))
			_, err = s.at(n, "more", false)
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.ErrorContains(t, err, fmt.Sprintf("engine %d: the switch has %d", n, n))
			_, err = s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: "g1", Slots: 8, Ports: []uint32{0, 1, 2}, LeaseMs: 1000})
			require.Equal(t, codes.AlreadyExists, status.Code(err), "it is at another engine")
			_, err = s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: "half", Base: 8, Slots: 4, Ports: []uint32{0}, LeaseMs: 1000})
			require.NoError(t, err)
			_, err = s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: "third", Base: 12, Slots: 4, Ports: []uint32{0}, LeaseMs: 1000})
			require.ErrorContains(t, err, "all 2 groups of the engine are in use")
			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "half"})
			require.NoError(t, err)

			held := s.states()
			require.NoError(t, s.start(-1, false))
			require.Equal(t, held, s.states())
			require.Equal(t, first, s.running())
			s.file = store.NewMemory()
			require.NoError(t, s.start(-1, false))
			require.Equal(t, first, s.running())
			for e := range n {
				_, err := s.agent.Commit(s.ctx, commit(fmt.Sprint("g", e), 3, 3))
				require.NoError(t, err, "it is claimed")
			}
			s.addUp()
			require.NoError(t, ctrl.New(s.engine, s.man).Disable(1*2))
			require.Contains(t, s.states(), "g1:LOST")
			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "g1"})
			require.NoError(t, err)
			require.Equal(t, slices.Delete(slices.Clone(first), 1, 2), s.running())
		})
	}
	other := newSite(t, engines(2))
	other.man = synthetic.Manifest(engines(4))
	require.ErrorContains(t, other.start(-1, false), "ENGINES")
}

// Groups of one engine take turns at its slots, and those of another have nothing to do with them, through restarts too.
func TestTurnsOfEngines(t *testing.T) {
	s := newSharing(t, engines(2), 8)
	for e := range 2 {
		for _, group := range []string{"a", "b"} {
			_, err := s.at(e, fmt.Sprint(group, e), true)
			require.NoError(t, err)
		}
	}
	require.NoError(t, s.lock("a0", 1))
	require.NoError(t, s.lock("b1", 1))
	require.Equal(t, "a0:8b1:8", s.turns())
	for _, group := range []string{"b0", "a1"} {
		require.Equal(t, codes.ResourceExhausted, status.Code(s.lock(group, 1)))
	}
	require.NoError(t, s.start(-1, false))
	require.Equal(t, "a0:8b1:8", s.turns())
	require.Equal(t, codes.ResourceExhausted, status.Code(s.lock("a1", 2)))
	require.NoError(t, s.unlock("a0", 1))
	require.NoError(t, s.lock("b0", 2))
	require.Equal(t, "b0:8b1:8", s.turns())

	s.contribute("b1")
	s.now = s.now.Add(10 * time.Second)
	require.NoError(t, s.lock("a1", 3), "b1 has had its time, and is stopped")
	require.Equal(t, "a0:INSTALLED b0:INSTALLED a1:INSTALLED b1:LOST 12/0", s.states())
	require.Equal(t, "b0:8a1:8", s.turns(), "b0's time is over too, and nobody at its engine wants its slots")
	for _, group := range []string{"b0", "b1"} {
		_, err := s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: group})
		require.NoError(t, err)
	}
	assert.Equal(t, "a1:8", s.turns())
	assert.Equal(t, uint32(8), s.list().FreeShared)
}

// In Mode I every endpoint has first PSNs and a path MTU of its own in the engine, and they are compared after a restart.
func TestConnections(t *testing.T) {
	s := newSite(t, messages1())
	with := func(change func(r *pb.CommitRequest)) error {
		r := commit("a", 3, 3)
		r.Settings.PipeSlots, r.Settings.WholeMessages = 4, true
		for e, far := range r.Remotes {
			far.RqPsn, far.SqPsn, far.PathMtu = 0xFFFFFF-uint32(e), 100+uint32(e), 256<<e
		}
		if change != nil {
			change(r)
		}
		_, err := s.agent.Commit(s.ctx, r)
		return err
	}
	_, err := s.reserve("a", 0, 8, 3)
	require.NoError(t, err)
	for want, change := range map[string]func(r *pb.CommitRequest){
		"endpoint 1: a path MTU of 0 bytes, it can be a power of two from 256 to 1024":    func(r *pb.CommitRequest) { r.Remotes[1].PathMtu = 0 },
		"endpoint 1: a path MTU of 768 bytes, it can be a power of two from 256 to 1024":  func(r *pb.CommitRequest) { r.Remotes[1].PathMtu = 768 },
		"endpoint 2: a path MTU of 2048 bytes, it can be a power of two from 256 to 1024": func(r *pb.CommitRequest) { r.Remotes[2].PathMtu = 2048 },
		"endpoint 0: first PSNs 16777216 and 100, they can be 16777215 at most":           func(r *pb.CommitRequest) { r.Remotes[0].RqPsn = 1 << 24 },
		"pipe_slots is 5, it can be 4 at most":                                            func(r *pb.CommitRequest) { r.Settings.PipeSlots = 5 },
	} {
		err := with(change)
		assert.Equal(t, codes.InvalidArgument, status.Code(err))
		assert.ErrorContains(t, err, want)
	}
	require.NoError(t, with(nil))
	require.True(t, s.engine.Group(0).WholeMessages)
	for e := range 3 {
		got := s.engine.Endpoint(e)
		require.Equal(t, []int{0xFFFFFF - e, 100 + e, 256 << e}, []int{int(got.RQPSN), int(got.SQPSN), got.PathMTU})
	}
	require.NoError(t, s.start(-1, false))
	require.Equal(t, "a:INSTALLED 8/1", s.states())
	require.NoError(t, s.engine.Engine().Disable(0))
	drv := ctrl.New(s.engine, s.man)
	require.NoError(t, drv.Set("EP_SQ_PSN", 1, "psn", 7))
	_, err = drv.Enable(0)
	require.NoError(t, err)
	require.NoError(t, s.start(-1, false))
	require.Equal(t, "a:LOST 8/1", s.states(), "another first PSN is another connection")

	two := newSite(t, synthetic.Mini())
	_, err = two.reserve("a", 0, 8, 3)
	require.NoError(t, err)
	r := commit("a", 3, 3)
	r.Remotes[2].SqPsn = 5
	_, err = two.agent.Commit(two.ctx, r)
	require.ErrorContains(t, err, "endpoint 2: first PSNs and a path MTU of its own: the engine is of mode 2")
	r = commit("a", 3, 3)
	r.Settings.WholeMessages = true
	_, err = two.agent.Commit(two.ctx, r)
	require.ErrorContains(t, err, "whole messages: the engine is of mode 2")
}
