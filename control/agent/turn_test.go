// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// parking are the parameters of an engine that parks groups: 16 slots, three groups.
func parking(mode int) contract.Params {
	p := synthetic.Mini()
	if mode == 3 {
		p = mode3()
	}
	p.Park, p.Groups = true, 3
	return p
}

// inTurn asks for a group of three hosts that has 8 slots in turn.
func (s *site) inTurn(group string) error {
	_, err := s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: group, Slots: 8, Ports: []uint32{0, 1, 2}, LeaseMs: 1000, InTurn: true})
	if err == nil {
		_, err = s.agent.Commit(s.ctx, s.commitTurn(group))
	}
	return err
}

func (s *site) commitTurn(group string) *pb.CommitRequest {
	r := commit(group, 3, 3)
	r.Settings.Start += uint32(group[0])
	if s.man.Params.Mode == 3 {
		r.Settings.PipeSlots = 4
	}
	return r
}

func (s *site) lock(group string, fence uint64) error {
	_, err := s.agent.Lock(s.ctx, &pb.LockRequest{Group: group, Fence: fence, LeaseMs: 10_000})
	return err
}

func (s *site) unlock(group string, fence uint64) error {
	_, err := s.agent.Unlock(s.ctx, &pb.UnlockRequest{Group: group, Fence: fence})
	return err
}

// turns are those under way, as NAME:BASE.
func (s *site) turns() (text string) {
	s.addUp()
	for _, t := range s.list().Turns {
		text += fmt.Sprintf("%s:%d", t.Group, t.Base)
		if t.Over {
			text += "!"
		}
	}
	return text
}

// contribute has one host of a group send its first packet.
func (s *site) contribute(group string) {
	s.t.Helper()
	g := s.agent.find(group)
	end := s.agent.records[g].Ends[0]
	p := roce.Packet{SrcMAC: end.RemoteMAC, DstMAC: end.LocalMAC, SrcIP: end.RemoteIP, DstIP: end.LocalIP, TTL: 64, SrcPort: 49152, Op: roce.SendOnly, MigReq: true,
		PKey: roce.DefaultPKey, DestQP: end.LocalQPN, PSN: s.agent.records[g].Settings.Start, AckReq: true, Payload: make([]byte, 8)}
	s.engine.Handle(s.engine.Now(), end.Port, p.AppendFrame(nil), false)
}

// Groups that take turns have slots in their turns alone: both need all that are shared. One that is not drained keeps them for a while, and no longer.
func TestParked(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprint("Mode ", mode), func(t *testing.T) {
			s := newSharing(t, parking(mode), 8)
			d, err := s.agent.Describe(s.ctx, &pb.DescribeRequest{})
			require.NoError(t, err)
			require.Equal(t, []uint32{8, 10}, []uint32{d.Shared, d.SetAside})
			for _, group := range []string{"a", "b"} {
				require.NoError(t, s.inTurn(group))
			}
			require.Equal(t, "a:INSTALLED b:INSTALLED 6/1", s.states())
			require.Empty(t, s.turns())

			require.NoError(t, s.lock("a", 1))
			require.NoError(t, s.lock("a", 2), "another asks for the same group")
			require.Equal(t, "a:8", s.turns())
			err = s.lock("b", 3)
			require.Equal(t, codes.ResourceExhausted, status.Code(err))
			require.ErrorContains(t, err, "group a has 8")
			require.NoError(t, s.unlock("a", 2))
			require.NoError(t, s.lock("b", 4))
			require.Equal(t, "b:8", s.turns())
			_, err = s.agent.Lock(s.ctx, &pb.LockRequest{Group: "a", Fence: 9, LeaseMs: 10_000, Prolong: true})
			require.Equal(t, codes.FailedPrecondition, status.Code(err), "what is over does not begin again")
			require.NoError(t, s.unlock("b", 4))

			require.NoError(t, s.lock("a", 10))
			s.contribute("a")
			err = s.unlock("a", 10)
			require.Equal(t, codes.Aborted, status.Code(err), err)
			require.Equal(t, "a:8!", s.turns())
			require.Equal(t, codes.FailedPrecondition, status.Code(s.lock("a", 10)))
			require.Equal(t, codes.ResourceExhausted, status.Code(s.lock("b", 11)))
			s.now = s.now.Add(9 * time.Second)
			require.Equal(t, codes.ResourceExhausted, status.Code(s.lock("b", 12)))
			s.now = s.now.Add(time.Second)
			require.NoError(t, s.lock("b", 13), "it had its time to drain")
			require.Equal(t, "b:8", s.turns())
			require.Equal(t, "a:LOST b:INSTALLED 6/1", s.states())

			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
			require.NoError(t, err)
			s.now = s.now.Add(10 * time.Second)
			require.NoError(t, s.inTurn("c"), "while another has all that are shared")
			require.NoError(t, s.lock("c", 1))
			require.Equal(t, "b:INSTALLED c:INSTALLED 6/1", s.states(), "one whose lease has run out is parked if it is drained")
			require.Equal(t, "c:8", s.turns())
			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "c"})
			require.NoError(t, err)
			require.NoError(t, s.lock("b", 14))
		})
	}
}

// What cannot be: a group with slots of its own among those that are shared, or the other way round.
func TestSharedRefused(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprint("Mode ", mode), func(t *testing.T) {
			s := newSharing(t, parking(mode), 8)
			for _, r := range []*pb.ReserveRequest{{Base: 0, Slots: 8}, {InTurn: true, Slots: 9}, {InTurn: true, Base: 8, Slots: 8}} {
				r.Group, r.Ports, r.LeaseMs = "a", []uint32{0, 1}, 1000
				_, err := s.agent.Reserve(s.ctx, r)
				require.Equal(t, codes.InvalidArgument, status.Code(err), r)
			}
			_, err := s.reserve("own", 0, 4, 2)
			require.NoError(t, err)
			_, err = s.agent.Commit(s.ctx, commit("own", 2, 2))
			require.NoError(t, err)
			require.ErrorContains(t, s.lock("own", 1), "has slots of its own and takes no turns")
			require.NoError(t, s.inTurn("a"))
			require.NoError(t, s.lock("a", 1))
			for _, c := range []struct {
				shared int
				why    string
			}{{15, "15 slots to share: it can be 0 to 14"}, {12, "group own has slots 0 to 3 for itself, the last 14 are to be set aside to share 12"},
				{7, "group a needs 8 slots that are shared, there are to be 7"}, {0, "group a needs 8 slots that are shared, there are to be 0"}} {
				s.shared = c.shared
				require.ErrorContains(t, s.start(-1, false), c.why)
			}
			s.shared = 8
			require.NoError(t, s.start(-1, false))
			require.Equal(t, "a:8", s.turns())
			p := parking(mode)
			p.Park = false
			plain := newSharing(t, p, 8)
			_, err = plain.agent.Reserve(plain.ctx, &pb.ReserveRequest{Group: "a", Slots: 8, Ports: []uint32{0, 1}, LeaseMs: 1000, InTurn: true})
			require.ErrorContains(t, err, "0 are shared")
		})
	}
}

// An agent that has lost its store finds groups that are parked, and parks or stops those that are not, as nobody knows whose turn it was. The manager claims them.
func TestTurnsWithoutStore(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprint("Mode ", mode), func(t *testing.T) {
			for _, undrained := range []bool{false, true} {
				s := newSharing(t, parking(mode), 8)
				require.NoError(t, s.inTurn("a"))
				require.NoError(t, s.inTurn("b"))
				require.NoError(t, s.lock("b", 1))
				if undrained {
					s.contribute("b")
				}
				s.file = store.NewMemory()
				require.NoError(t, s.start(-1, false))
				require.Empty(t, s.list().Turns)
				_, err := s.agent.Commit(s.ctx, s.commitTurn("b"))
				require.Equal(t, undrained, status.Code(err) == codes.NotFound, err)
				_, err = s.agent.Commit(s.ctx, s.commitTurn("a"))
				require.NoError(t, err)
				require.NoError(t, s.lock("a", 1))
				require.Equal(t, "a:8", s.turns())
			}
		})
	}
}

// The agent is killed at every step of a turn-over between two groups, before the step and after it, started again, and killed again at every step of what the manager, which
// heard nothing, says then. No group is lost, none has the other's slots, and in the end all slots are free.
func TestKilledInTurns(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprint("Mode ", mode), func(t *testing.T) {
			cases := 0
			for _, undrained := range []bool{false, true} {
				for _, second := range []int{0, 1, 2, 4, 7, 11} {
					for _, late := range []bool{false, true} {
						for n := 0; ; n++ {
							s := newSharing(t, parking(mode), 8)
							require.NoError(t, s.inTurn("a"))
							require.NoError(t, s.inTurn("b"))
							require.NoError(t, s.start(n, late))
							err := s.turnOver(undrained)
							if err == nil {
								break // it needs fewer steps
							}
							cases++
							fence := uint64(10)
							for _, steps := range []int{second, -1} {
								if s.start(steps, late) != nil {
									continue
								}
								fence += 10
								if s.recover(fence) == nil && steps >= 0 {
									s.addUp()
								}
							}
							require.Equal(t, "", s.turns(), "step %d, then %d", n, second)
							if !undrained {
								require.Equal(t, "a:INSTALLED b:INSTALLED 6/1", s.states())
							}
							require.Equal(t, uint32(8), s.list().FreeShared)
							require.NoError(t, ctrlFree(s))
						}
					}
				}
			}
			t.Logf("%d cases", cases)
			require.Greater(t, cases, 300)
		})
	}
}

// turnOver gives a its turn, then b, until the first error.
func (s *site) turnOver(undrained bool) error {
	if err := s.lock("a", 1); err != nil {
		return err
	}
	if undrained {
		s.contribute("a")
	}
	if err := s.unlock("a", 1); err != nil && status.Code(err) != codes.Aborted {
		return err
	}
	s.now = s.now.Add(10 * time.Second)
	if err := s.lock("b", 2); err != nil {
		return err
	}
	return s.unlock("b", 2)
}

// recover has b take a turn after all that was asked for was given back, and then a, if it lives.
func (s *site) recover(fence uint64) error {
	for _, group := range []string{"a", "b"} {
		if err := s.unlock(group, fence); err != nil && status.Code(err) != codes.Aborted {
			return err
		}
	}
	s.now = s.now.Add(10 * time.Second)
	for _, group := range []string{"b", "a"} {
		if err := s.lock(group, fence+1); err != nil && status.Code(err) != codes.NotFound {
			return err
		}
		if err := s.unlock(group, fence+1); err != nil {
			return err
		}
	}
	return nil
}

// ctrlFree has the engine start a group in all slots that are shared, which it refuses while another has some.
func ctrlFree(s *site) error {
	g := 0
	for g = range s.man.Params.Groups {
		if s.agent.records[g].State == free {
			break
		}
	}
	drv := ctrl.New(s.engine, s.man)
	set := s.agent.records[s.agent.find("b")].Settings
	set.SlotBase = 8
	if err := drv.SetGroup(g, set); err != nil {
		return err
	}
	if started, err := drv.Enable(g); err != nil || !started {
		return fmt.Errorf("slots are in use: %v, %w", started, err)
	}
	return drv.Disable(g)
}
