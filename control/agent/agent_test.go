// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/control/rpc/rpctest"
	"incforge/control/store"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

var errKilled = errors.New("killed")

// site is a switch: an engine and a file that outlive the agents on it. An agent of it can be killed at its n-th step, which is a write to
// a register or to the file: from then on nothing that it does has an effect.
type site struct {
	t      testing.TB
	man    *contract.Manifest
	engine *dut.Reference
	file   store.Store
	now    time.Time
	agent  *Agent
	ctx    context.Context
	shared int // slots of groups that take turns
}

// life is what one agent reaches its engine and file by.
type life struct {
	*site
	steps int  // left; negative: without end
	late  bool // the last step is done, but nobody hears of it
	dead  bool
}

func (l *life) step(do func() error) error {
	if l.dead {
		return errKilled
	}
	if l.steps == 0 {
		l.dead = true
		if l.late {
			_ = do()
		}
		return errKilled
	}
	l.steps--
	return do()
}

func (l *life) Read(addr uint32) (uint32, error) {
	if l.dead {
		return 0, errKilled
	}
	return l.engine.Read(addr)
}

func (l *life) Write(addr, v uint32, strobes uint8) error {
	return l.step(func() error { return l.engine.Write(addr, v, strobes) })
}
func (l *life) Put(name string, text []byte) error {
	return l.step(func() error { return l.file.Put(name, text) })
}
func (l *life) Delete(name string) error     { return l.step(func() error { return l.file.Delete(name) }) }
func (l *life) All() ([]store.Record, error) { return l.file.All() }
func (l *life) Close() error                 { return nil }

func newSite(t testing.TB, p contract.Params) *site { return newSharing(t, p, 0) }

// newSharing is newSite of a switch that shares so many slots in time.
func newSharing(t testing.TB, p contract.Params, shared int) *site {
	t.Helper()
	man := synthetic.Manifest(p)
	engine, err := dut.NewReference(man)
	require.NoError(t, err)
	s := &site{t: t, man: man, engine: engine, file: store.NewMemory(), now: time.Unix(1_800_000_000, 0), ctx: context.Background(), shared: shared}
	require.NoError(t, s.start(-1, false))
	return s
}

// start starts an agent that has so many steps.
func (s *site) start(steps int, late bool) (err error) {
	l := &life{site: s, steps: steps, late: late}
	log, _ := logtest.NewNullLogger()
	s.agent, err = New(Config{Name: "leaf0", Manifest: s.man, Bus: l, Store: l, IP: roce.IP4{10, 0, 0, 1}, MAC: roce.MAC{2, 0, 0, 0, 1, 0},
		Neighbours: map[int]string{0: "h0"}, Shared: s.shared, Lifetime: time.Second, Now: func() time.Time { return s.now }, Log: log})
	return err
}

func (s *site) reserve(group string, base, slots, ends int) (*pb.ReserveResponse, error) {
	r := &pb.ReserveRequest{Group: group, Base: uint32(base), Slots: uint32(slots), LeaseMs: 1000}
	for e := range ends {
		r.Ports = append(r.Ports, uint32(e%s.man.Params.Ports))
	}
	return s.agent.Reserve(s.ctx, r)
}

// commit is a star's AllReduce of INT32.
func commit(group string, ends, log2 int) *pb.CommitRequest {
	all := uint32(1)<<ends - 1
	r := &pb.CommitRequest{Group: group, Settings: &pb.Settings{Start: 0xABCDEF, Log2N: uint32(log2), InMask: all, OutMask: all, AckMask: all, Dtype: inc.DTypeINT32}}
	for e := range ends {
		r.Remotes = append(r.Remotes, &pb.Remote{Host: true, UdpSourcePort: 49152, End: &pb.End{Qpn: uint32(100 + e), Ip: uint32(0x0A000100 + e), Mac: uint64(0x020000000200 + e)}})
	}
	return r
}

func (s *site) install(group string, base, ends int) *pb.ReserveResponse {
	s.t.Helper()
	out, err := s.reserve(group, base, 8, ends)
	require.NoError(s.t, err)
	_, err = s.agent.Commit(s.ctx, commit(group, ends, 3))
	require.NoError(s.t, err)
	return out
}

func (s *site) list() *pb.ListResponse {
	s.t.Helper()
	out, err := s.agent.List(s.ctx, &pb.ListRequest{})
	require.NoError(s.t, err)
	return out
}

// states are the groups as NAME:STATE, and what is free.
func (s *site) states() string {
	s.t.Helper()
	l := s.list()
	text := ""
	for _, g := range l.Groups {
		text += fmt.Sprintf("%s:%s ", g.Group, pb.State_name[int32(g.State)][len("STATE_"):])
	}
	return text + fmt.Sprintf("%d/%d", l.FreeSlots, l.FreeRecords)
}

// running are the groups that the engine serves, by the first queue pair number.
func (s *site) running() (all []uint32) {
	for g := range s.man.Params.AllGroups() {
		if s.engine.Engine().Enabled(g) {
			all = append(all, s.engine.Endpoint(g*s.man.Params.EPS()).LocalQPN)
		}
	}
	return all
}

func TestLife(t *testing.T) {
	s := newSite(t, synthetic.Mini())
	require.Equal(t, "16/2", s.states())
	out, err := s.reserve("a", 8, 8, 3)
	require.NoError(t, err)
	require.Len(t, out.Ends, 3)
	assert.Equal(t, "a:RESERVED 8/1", s.states())
	assert.Empty(t, s.running())
	_, err = s.agent.Commit(s.ctx, commit("a", 3, 3))
	require.NoError(t, err)
	assert.Equal(t, "a:INSTALLED 8/1", s.states())
	require.Equal(t, []uint32{out.Ends[0].Qpn}, s.running())

	// What the engine has is what was asked for.
	set := s.engine.Group(0)
	assert.Equal(t, inc.Group{Start: 0xABCDEF, SlotBase: 8, Log2N: 3, InMask: 7, OutMask: 7, AckMask: 7, DType: inc.DTypeINT32}, set)
	for e := range 3 {
		got := s.engine.Endpoint(e)
		assert.Equal(t, inc.Endpoint{Valid: true, Host: true, Port: e, LocalQPN: out.Ends[e].Qpn, RemoteQPN: uint32(100 + e), LocalIP: roce.IP4{10, 0, 0, 1},
			RemoteIP: roce.IP4{10, 0, 1, byte(e)}, LocalMAC: roce.MAC{2, 0, 0, 0, 1, byte(e)}, RemoteMAC: roce.MAC{2, 0, 0, 0, 2, byte(e)},
			UDPSourcePort: 49152, TTL: 64}, got)
		assert.Equal(t, uint32(e), got.LocalQPN%uint32(s.man.Params.Records()), "the low bits are the index")
		assert.Equal(t, got.LocalMAC.Uint64(), out.Ends[e].Mac)
	}

	_, err = s.agent.Commit(s.ctx, commit("a", 3, 3))
	require.NoError(t, err, "again")
	_, err = s.reserve("a", 8, 8, 3)
	require.NoError(t, err, "again")
	second := s.install("b", 0, 2)
	assert.NotEqual(t, out.Ends[0].Qpn%32, second.Ends[0].Qpn%32)
	for range 2 {
		_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
		require.NoError(t, err)
	}
	assert.Equal(t, "b:INSTALLED 8/1", s.states())
	require.Len(t, s.running(), 1)

	d, err := s.agent.Describe(s.ctx, &pb.DescribeRequest{})
	require.NoError(t, err)
	assert.Equal(t, "leaf0", d.Name)
	assert.Equal(t, "h0", d.Ports[0].Neighbour)
	assert.Contains(t, d.Params, `"groups":2`)
	c, err := s.agent.Counters(s.ctx, &pb.CountersRequest{})
	require.NoError(t, err)
	assert.Equal(t, "RX_FRAMES", c.Counters[0].Name)
	assert.Len(t, c.Counters, len(s.man.Counters))
}

// A lease runs out, unless it is renewed; what is committed needs none.
func TestLease(t *testing.T) {
	s := newSite(t, synthetic.Mini())
	s.install("a", 0, 3)
	_, err := s.reserve("b", 8, 8, 3)
	require.NoError(t, err)
	s.now = s.now.Add(900 * time.Millisecond)
	_, err = s.reserve("b", 8, 8, 3)
	require.NoError(t, err)
	s.now = s.now.Add(900 * time.Millisecond)
	assert.Equal(t, "a:INSTALLED b:RESERVED 0/0", s.states())
	s.now = s.now.Add(100 * time.Millisecond)
	assert.Equal(t, "a:INSTALLED 8/1", s.states())
	_, err = s.agent.Commit(s.ctx, commit("b", 3, 3))
	assert.Equal(t, codes.NotFound, status.Code(err))
	assert.ErrorContains(t, err, "group b is not reserved here, or its lease has run out")
}

// What is wrong with a request is said, and changes nothing.
func TestRefused(t *testing.T) {
	s := newSite(t, synthetic.Mini())
	s.install("a", 0, 3)
	_, err := s.reserve("b", 8, 4, 3)
	require.NoError(t, err)
	before := s.states()
	with := func(change func(r *pb.CommitRequest)) func() error {
		return func() error {
			r := commit("b", 3, 2)
			change(r)
			_, err := s.agent.Commit(s.ctx, r)
			return err
		}
	}
	keep := func(group string, base, slots, ends int) func() error {
		return func() error { _, err := s.reserve(group, base, slots, ends); return err }
	}
	for want, try := range map[string]func() error{
		"InvalidArgument a group's name has 1 to 200 bytes, not 0":               keep("", 0, 1, 1),
		"InvalidArgument 4 slots from 14 on: the buffer has 16":                  keep("c", 14, 4, 1),
		"InvalidArgument 0 slots from 0 on: the buffer has 16":                   keep("c", 0, 0, 1),
		"InvalidArgument 0 endpoints: a group can have 5":                        keep("c", 12, 4, 0),
		"InvalidArgument 6 endpoints: a group can have 5":                        keep("c", 12, 4, 6),
		"ResourceExhausted slots 7 to 7 are not free: group a has 0 to 7":        keep("c", 7, 1, 1),
		"ResourceExhausted all 2 groups of the engine are in use":                keep("c", 12, 4, 1),
		"AlreadyExists group a is there already, and is another":                 keep("a", 0, 4, 3),
		"InvalidArgument no settings":                                            with(func(r *pb.CommitRequest) { r.Settings = nil }),
		"InvalidArgument start is 16777216, it can be 16777215 at most":          with(func(r *pb.CommitRequest) { r.Settings.Start = 1 << 24 }),
		"InvalidArgument log2_n is 0":                                            with(func(r *pb.CommitRequest) { r.Settings.Log2N = 0 }),
		"InvalidArgument log2_n is 99, it can be 4 at most":                      with(func(r *pb.CommitRequest) { r.Settings.Log2N = 99 }),
		"InvalidArgument 2^3 packets take 8 slots, reserved are 4":               with(func(r *pb.CommitRequest) { r.Settings.Log2N = 3 }),
		"InvalidArgument in_mask is 32, it can be 31 at most":                    with(func(r *pb.CommitRequest) { r.Settings.InMask = 32 }),
		"InvalidArgument the masks or the parent name an endpoint above 2":       with(func(r *pb.CommitRequest) { r.Settings.InMask = 8 }),
		"InvalidArgument collective is 7, it can be 3 at most":                   with(func(r *pb.CommitRequest) { r.Settings.Collective = 7 }),
		"InvalidArgument pipes of 1 slots: the engine has none":                  with(func(r *pb.CommitRequest) { r.Settings.PipeSlots = 1 }),
		"InvalidArgument 1 routes: an in-band group can have 32, any other none": with(func(r *pb.CommitRequest) { r.Settings.Routes = []uint32{1} }),
		"InvalidArgument the route to rank 1 is endpoint 5, it can be 4 at most": with(func(r *pb.CommitRequest) {
			r.Settings.InBand, r.Settings.Routes = true, []uint32{1, 5}
		}),
		"InvalidArgument 2 other ends of 3 endpoints":                                         with(func(r *pb.CommitRequest) { r.Remotes = r.Remotes[1:] }),
		"InvalidArgument endpoint 1: its other end has no address, or one of too many bits":   with(func(r *pb.CommitRequest) { r.Remotes[1] = nil }),
		"InvalidArgument endpoint 2: its other end has no address, or one of too many bits":   with(func(r *pb.CommitRequest) { r.Remotes[2].End.Qpn = 1 }),
		"InvalidArgument endpoint 0: its other end has no address, or one of too many bits":   with(func(r *pb.CommitRequest) { r.Remotes[0].End.Mac = 1 << 48 }),
		"FailedPrecondition the engine refuses the settings of group b":                       with(func(r *pb.CommitRequest) { r.Settings.Dtype = 0 }),
		"NotFound group c is not reserved here, or its lease has run out":                     with(func(r *pb.CommitRequest) { r.Group = "c" }),
		"InvalidArgument record 9 of group \"\": an unclaimed group has a record and no name": func() error { _, err := s.agent.Remove(s.ctx, &pb.RemoveRequest{Record: proto.Uint32(9)}); return err },
		"AlreadyExists group a is installed with other settings": func() error {
			r := commit("a", 3, 3)
			r.Settings.Start++
			_, err := s.agent.Commit(s.ctx, r)
			return err
		},
		"InvalidArgument port 4: the switch has 4": func() error {
			_, err := s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: "c", Base: 12, Slots: 1, Ports: []uint32{4}, LeaseMs: 1})
			return err
		},
		"InvalidArgument a lease of 600001 ms: it can have 600000": func() error {
			_, err := s.agent.Reserve(s.ctx, &pb.ReserveRequest{Group: "c", Base: 12, Slots: 1, Ports: []uint32{3}, LeaseMs: 600_001})
			return err
		},
	} {
		err := try()
		assert.Equal(t, want, fmt.Sprint(status.Code(err), " ", status.Convert(err).Message()))
		assert.Equal(t, before, s.states())
		require.Len(t, s.running(), 1)
	}
	_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Record: proto.Uint32(0)})
	require.NoError(t, err)
	require.Equal(t, before, s.states(), "group a is not unclaimed")
}

// No queue pair number comes again before a packet's lifetime is over, however fast groups come and go.
func TestNumbersRest(t *testing.T) {
	p := synthetic.Mini()
	p.Groups, p.Members = 4096, 31 // 127 turns
	s := newSite(t, p)
	require.Equal(t, uint32(127), s.agent.turns())
	last := map[uint32]time.Time{}
	rng := rand.New(rand.NewPCG(1, 2))
	again, waited := 0, 0
	s.agent.records = s.agent.records[:2]
	for range 3000 {
		out, err := s.reserve("g", 0, 8, 2)
		if err != nil {
			require.ErrorContains(t, err, "must rest for")
			waited++
			s.now = s.now.Add(time.Millisecond)
			continue
		}
		for _, e := range out.Ends {
			require.GreaterOrEqual(t, e.Qpn, uint32(2))
			at, old := last[e.Qpn]
			if old {
				again++
				require.GreaterOrEqual(t, s.now.Sub(at), time.Second)
			}
		}
		s.now = s.now.Add(time.Duration(rng.IntN(3)) * time.Millisecond)
		_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "g"})
		require.NoError(t, err)
		for _, e := range out.Ends {
			last[e.Qpn] = s.now
		}
	}
	require.Positive(t, again)
	require.Positive(t, waited)
}

// An agent that starts again knows what its engine holds, whatever became of the file or of the engine.
func TestRestart(t *testing.T) {
	prepare := func() (*site, *pb.ReserveResponse) {
		s := newSite(t, synthetic.Mini())
		return s, s.install("a", 4, 3)
	}
	t.Run("nothing was lost", func(t *testing.T) {
		s, out := prepare()
		require.NoError(t, s.start(-1, false))
		assert.Equal(t, "a:INSTALLED 8/1", s.states())
		assert.Equal(t, []uint32{out.Ends[0].Qpn}, s.running())
		_, err := s.agent.Commit(s.ctx, commit("a", 3, 3))
		require.NoError(t, err)
	})
	t.Run("the engine was reset", func(t *testing.T) {
		s, _ := prepare()
		require.NoError(t, s.engine.Reset())
		assert.Equal(t, "a:LOST 8/1", s.states(), "seen without a restart")
		require.NoError(t, s.start(-1, false))
		assert.Equal(t, "a:LOST 8/1", s.states())
		_, err := s.agent.Commit(s.ctx, commit("a", 3, 3))
		assert.Equal(t, codes.DataLoss, status.Code(err))
		assert.Empty(t, s.running())
		_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
		require.NoError(t, err)
		s.install("a2", 4, 3)
	})
	t.Run("a register was changed", func(t *testing.T) {
		s, _ := prepare()
		require.NoError(t, s.engine.Engine().Disable(0))
		require.NoError(t, ctrl.New(s.engine, s.man).Set("GROUP_START", 0, "psn", 7))
		_, err := ctrl.New(s.engine, s.man).Enable(0)
		require.NoError(t, err)
		require.NoError(t, s.start(-1, false))
		assert.Equal(t, "a:LOST 8/1", s.states())
		assert.Empty(t, s.running())
	})
	t.Run("the file was lost", func(t *testing.T) {
		s, out := prepare()
		s.file = store.NewMemory()
		require.NoError(t, s.start(-1, false))
		assert.Equal(t, ":UNCLAIMED 8/1", s.states())
		assert.Equal(t, []uint32{out.Ends[0].Qpn}, s.running())
		_, err := s.reserve("b", 4, 8, 3)
		require.ErrorContains(t, err, "slots 4 to 11 are not free: a group that nobody has claimed has 4 to 11")
		other := commit("a", 3, 3)
		other.Settings.Start++
		_, err = s.agent.Commit(s.ctx, other)
		assert.Equal(t, codes.NotFound, status.Code(err))
		_, err = s.agent.Commit(s.ctx, commit("a", 3, 3))
		require.NoError(t, err)
		assert.Equal(t, "a:INSTALLED 8/1", s.states())
	})
	t.Run("the file was lost and nobody claims the group", func(t *testing.T) {
		s, out := prepare()
		s.file = store.NewMemory()
		require.NoError(t, s.start(-1, false))
		_, err := s.agent.Remove(s.ctx, &pb.RemoveRequest{Record: proto.Uint32(0)})
		require.NoError(t, err)
		assert.Equal(t, "16/2", s.states())
		assert.Empty(t, s.running())
		s.now = s.now.Add(time.Second)
		assert.NotEqual(t, out.Ends[0].Qpn, s.install("b", 4, 3).Ends[0].Qpn)
	})
	t.Run("another engine", func(t *testing.T) {
		s, _ := prepare()
		other := synthetic.Mini()
		other.BufferBytes *= 2
		s.man = synthetic.Manifest(other)
		require.ErrorContains(t, s.start(-1, false), "agent leaf0: the engine at these registers: PARAM_SLOTS is 16, the manifest has 32")
		parks := synthetic.Mini()
		parks.Park = true
		s.man = synthetic.Manifest(parks)
		require.ErrorContains(t, s.start(-1, false), "PARAM_ARITH is ")
	})
	t.Run("another engine's file", func(t *testing.T) {
		s, _ := prepare()
		require.NoError(t, s.file.Put("record/0007", []byte("{}")))
		require.ErrorContains(t, s.start(-1, false), `the store has a record "record/0007"`)
	})
}

// The agent is killed at every step of a group's life, before the step and after it, started again, killed again at every step of the start, and
// the manager, which heard nothing, asks again. In the end the group is what was asked for, and no other group was disturbed.
func TestKilledAtEveryStep(t *testing.T) {
	cases := 0
	for second := range 6 {
		for _, late := range []bool{false, true} {
			for n := 0; ; n++ {
				s := newSite(t, synthetic.Mini())
				other := s.install("other", 0, 2)
				require.NoError(t, s.start(n, late))
				err := s.cycle("a")
				if err == nil {
					break // it needs fewer steps
				}
				cases++
				_ = s.start(second, late)
				require.NoError(t, s.start(-1, false))
				s.addUp()
				require.Contains(t, s.running(), other.Ends[0].Qpn)
				s.now = s.now.Add(time.Millisecond) // numbers rest
				_, err = s.reserve("a", 8, 8, 3)
				require.NoError(t, err)
				_, err = s.agent.Commit(s.ctx, commit("a", 3, 3))
				if status.Code(err) == codes.DataLoss { // it was being removed
					_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
					require.NoError(t, err)
					s.now = s.now.Add(time.Millisecond) // numbers rest
					s.install("a", 8, 3)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, "other:INSTALLED a:INSTALLED 0/0", s.states())
				require.Len(t, s.running(), 2)
				_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
				require.NoError(t, err)
				require.Equal(t, "other:INSTALLED 8/1", s.states())
				require.Equal(t, []uint32{other.Ends[0].Qpn}, s.running())
			}
		}
	}
	t.Logf("%d cases", cases)
	require.Greater(t, cases, 500)
}

// cycle makes, installs and removes a group, until the first error.
func (s *site) cycle(group string) error {
	if _, err := s.reserve(group, 8, 8, 3); err != nil {
		return err
	}
	if _, err := s.agent.Commit(s.ctx, commit(group, 3, 3)); err != nil {
		return err
	}
	_, err := s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: group})
	return err
}

// A hundred thousand requests, most of them nonsense: slots and records add up, and the engine serves what is installed and nothing else.
func TestNonsense(t *testing.T) {
	for name, p := range map[string]contract.Params{"mini": synthetic.Mini(), "full": synthetic.Full(), "pipes": mode3(), "messages": messages1(), "parks": parking(2),
		"engines": engines(2)} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, p, map[bool]int{true: 8}[p.Park])
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			some := func(most int) uint32 {
				switch rng.IntN(12) {
				case 0:
					return rng.Uint32()
				case 1:
					return uint32(most)
				}
				return uint32(rng.IntN(most + 1))
			}
			installed, served := 0, []int{}
			for i := range 35_000 {
				group := fmt.Sprint("g", rng.IntN(4))
				var err error
				switch rng.IntN(7) {
				case 5:
					_, err = s.agent.Lock(s.ctx, &pb.LockRequest{Group: group, Fence: uint64(i), LeaseMs: some(2000), Prolong: rng.IntN(4) == 0})
				case 6:
					_, err = s.agent.Unlock(s.ctx, &pb.UnlockRequest{Group: group, Fence: uint64(i)})
				case 0, 1:
					r := &pb.ReserveRequest{Group: group, Base: some(16), Slots: 1 << (some(4) % 32), LeaseMs: some(2000), InTurn: p.Park && rng.IntN(2) == 0,
						Engine: some(p.EngineCount() - 1)}
					if r.InTurn && rng.IntN(8) > 0 {
						r.Base = 0
					}
					for range rng.IntN(7) {
						r.Ports = append(r.Ports, some(s.man.Params.Ports-1))
					}
					_, err = s.agent.Reserve(s.ctx, r)
				case 2, 3:
					_, err = s.agent.Commit(s.ctx, s.nonsense(rng, some, group))
					if err == nil {
						installed++
						served = append(served, s.agent.engineOf(s.agent.find(group)))
					}
				default:
					r := &pb.RemoveRequest{Group: group}
					if rng.IntN(3) == 0 {
						r = &pb.RemoveRequest{Record: proto.Uint32(some(3))}
					}
					_, err = s.agent.Remove(s.ctx, r)
				}
				require.NotEqual(t, codes.Internal, status.Code(err), err)
				require.NotEqual(t, codes.Unknown, status.Code(err), err)
				s.now = s.now.Add(time.Duration(rng.IntN(100)) * time.Millisecond)
				if i%10 == 0 {
					s.addUp()
				}
			}
			t.Logf("%d installed", installed)
			require.Greater(t, installed, 50)
			require.Subset(t, served, []int{0, p.EngineCount() - 1})
		})
	}
}

var messages = flag.Int("messages", 8_000, "messages to each call of the service that TestEveryCall sends")

// Eight thousand messages to each call of the service, drawn field by field and byte by byte: slots and records add up, a group that is installed goes on, and
// nothing is an agent's own mistake.
func TestEveryCall(t *testing.T) {
	s := newSite(t, synthetic.Full())
	_, err := s.reserve("stays", 0, 8, 3)
	require.NoError(t, err)
	_, err = s.agent.Commit(s.ctx, commit("stays", 3, 3))
	require.NoError(t, err)
	f := rpctest.Fuzzer{Service: &pb.Agent_ServiceDesc, Server: s.agent, Random: rand.New(rand.NewPCG(1, 9)), Words: []string{"g0", "g1"}, Patience: time.Second}
	total := map[codes.Code]int{}
	for range 50 {
		f.Run(s.ctx, t, *messages/50)
		for name, answers := range f.Answers {
			for code, n := range answers {
				total[code] += n
				require.Contains(t, []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.ResourceExhausted,
					codes.FailedPrecondition, 100}, code, name)
			}
		}
		require.Len(t, f.Answers, 8, "all calls")
		s.now = s.now.Add(time.Duration(f.Random.IntN(2000)) * time.Millisecond)
		s.addUp()
		require.True(t, s.engine.Engine().Enabled(0))
	}
	t.Logf("%v", total)
	require.Greater(t, total[codes.OK], *messages)
}

func mode3() contract.Params {
	p := synthetic.Mini()
	p.Mode, p.HopRTTNS = 3, 2000
	return p
}

// messages1 are parameters of Mode I: 16 slots of 2,048 bytes.
func messages1() contract.Params {
	p := synthetic.Mini()
	p.Mode, p.HopRTTNS, p.MessageBytes, p.WindowMessages, p.BufferBytes = 1, 2000, 2048, 4, 32768
	return p
}

// nonsense is often a request that could be meant.
func (s *site) nonsense(rng *rand.Rand, some func(int) uint32, group string) *pb.CommitRequest {
	r := &pb.CommitRequest{Group: group}
	if rng.IntN(20) > 0 {
		r.Settings = &pb.Settings{Start: some(1<<24 - 1), Log2N: some(3), InMask: some(7), OutMask: some(7), AckMask: some(7), HasParent: rng.IntN(2) == 0,
			Parent: some(3), Collective: some(3), Op: some(2), Dtype: some(3), BigEndian: rng.IntN(2) == 0, InBand: rng.IntN(3) == 0}
		if rng.IntN(4) > 0 {
			r.Settings = proto.CloneOf(commit(group, 1+rng.IntN(3), 1+rng.IntN(3)).Settings)
		}
		for range rng.IntN(40) * rng.IntN(2) {
			r.Settings.Routes = append(r.Settings.Routes, some(4))
		}
	}
	ends := rng.IntN(6)
	if g := s.agent.find(group); g >= 0 && rng.IntN(4) > 0 {
		ends = len(s.agent.records[g].Ports)
	}
	for range ends {
		far := &pb.Remote{Host: rng.IntN(2) == 0, UdpSourcePort: some(65535)}
		if s.man.Params.Mode == 1 {
			far.RqPsn, far.SqPsn, far.PathMtu = rng.Uint32()>>8, rng.Uint32()>>8, 256<<rng.IntN(3)<<(rng.IntN(20)/19)
		}
		if rng.IntN(20) > 0 {
			far.End = &pb.End{Qpn: 2 + some(1<<24-3), Ip: rng.Uint32() | 1, Mac: rng.Uint64() >> 16}
		}
		r.Remotes = append(r.Remotes, far)
	}
	return r
}

// addUp compares the agent's list with the engine.
func (s *site) addUp() {
	s.t.Helper()
	l := s.list()
	p := &s.man.Params
	slots, records, running := p.EngineCount()*(p.Slots()-s.agent.setAside()), p.AllGroups(), 0
	used := map[[2]uint32]bool{} // by engine
	use := func(engine, base, slots uint32) {
		for i := range slots {
			require.False(s.t, used[[2]uint32{engine, base + i}])
			used[[2]uint32{engine, base + i}] = true
		}
	}
	for _, t := range l.Turns {
		if s.agent.parks() {
			use(t.Engine, t.Base, t.Slots)
		}
	}
	for _, g := range l.Groups {
		records--
		require.Equal(s.t, g.Engine, g.Record/uint32(p.Groups))
		if g.InTurn {
			require.Zero(s.t, g.Base)
			has := slices.ContainsFunc(l.Turns, func(t *pb.Turn) bool { return t.Group == g.Group && t.Engine == g.Engine })
			parked := s.engine.Engine().Parked(int(g.Record))
			require.Equal(s.t, g.State == pb.State_STATE_INSTALLED && !has, parked, "%v, %v", g, l.Turns)
		} else {
			slots -= int(g.Slots)
			use(g.Engine, g.Base, g.Slots)
		}
		enabled := s.engine.Engine().Enabled(int(g.Record))
		require.Equal(s.t, g.State == pb.State_STATE_INSTALLED, enabled)
		if enabled {
			running++
		}
	}
	require.Equal(s.t, []int{slots, records}, []int{int(l.FreeSlots), int(l.FreeRecords)})
	require.Len(s.t, s.running(), running)
}

func TestMain(m *testing.M) {
	logrus.SetLevel(logrus.PanicLevel)
	m.Run()
}
