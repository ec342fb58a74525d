// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	pb "incforge/control/agentpb"
	"incforge/control/mmio"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
)

// device is an engine behind a file that is mapped into memory twice. What the agent stores through its mapping the engine finds in the other one, and what the
// agent loads the engine has put there.
type device struct {
	*mmio.Bus
	far    *mmio.Bus
	engine *dut.Reference
}

func (d *device) Read(addr uint32) (uint32, error) {
	v, err := d.engine.Read(addr)
	if err != nil {
		return 0, err
	}
	if err := d.far.Write(addr, v, 0xF); err != nil {
		return 0, err
	}
	return d.Bus.Read(addr)
}

func (d *device) Write(addr, v uint32, strobes uint8) error {
	if err := d.Bus.Write(addr, v, strobes); err != nil {
		return err
	}
	seen, err := d.far.Read(addr)
	if err != nil {
		return err
	}
	return d.engine.Write(addr, seen, 0xF)
}

// mapped starts an agent on a device, with a mapping of its own.
func (s *site) mapped(path string, size int) *mmio.Bus {
	s.t.Helper()
	near, err := mmio.Open(path, size)
	require.NoError(s.t, err)
	far, err := mmio.Open(path, size)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, far.Close()) })
	log, _ := logtest.NewNullLogger()
	s.agent, err = New(Config{Name: "leaf0", Manifest: s.man, Bus: &device{near, far, s.engine}, Store: s.file, IP: roce.IP4{10, 0, 0, 1}, MAC: roce.MAC{2, 0, 0, 0, 1, 0},
		Lifetime: time.Second, Now: func() time.Time { return s.now }, Log: log})
	require.NoError(s.t, err)
	return near
}

// An agent whose engine's registers are a mapped file writes, starts, reads back and removes groups, through restarts with its store and without it, as one of a
// simulated engine does.
func TestMappedRegisters(t *testing.T) {
	s := newSite(t, synthetic.Full())
	size := 0
	for _, r := range s.man.Registers {
		size = max(size, int(r.Offset)+(r.Size()-1)*int(r.Stride)+4)
	}
	path := filepath.Join(t.TempDir(), "resource0")
	require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
	near := s.mapped(path, size)
	require.Equal(t, "32/2", s.states())
	first := s.install("a", 0, 3)
	second := s.install("b", 8, 2)
	require.Equal(t, []uint32{first.Ends[0].Qpn, second.Ends[0].Qpn}, s.running())
	all, err := s.agent.Counters(s.ctx, &pb.CountersRequest{})
	require.NoError(t, err)
	require.Len(t, all.Counters, len(s.man.Counters))

	require.NoError(t, near.Close())
	near = s.mapped(path, size)
	require.Equal(t, "a:INSTALLED b:INSTALLED 16/0", s.states())
	require.NoError(t, near.Close())
	s.file = store.NewMemory()
	near = s.mapped(path, size)
	require.Equal(t, ":UNCLAIMED :UNCLAIMED 16/0", s.states())
	_, err = s.agent.Commit(s.ctx, commit("b", 2, 3))
	require.NoError(t, err)
	for _, r := range []*pb.RemoveRequest{{Group: "b"}, {Record: new(uint32)}} {
		_, err = s.agent.Remove(s.ctx, r)
		require.NoError(t, err)
	}
	require.Equal(t, "32/2", s.states())
	require.Empty(t, s.running())
	require.NoError(t, near.Close())
	_, err = s.agent.List(s.ctx, &pb.ListRequest{})
	require.NoError(t, err, "nothing is installed, so no register is asked")
}
