// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// troubled are a switch's registers in which a test can have happen what no reference engine does: errors of memories, ports that hang. It counts accesses.
type troubled struct {
	ctrl.Bus
	man    *contract.Manifest
	values map[string]uint32 // of NAME[element], in the place of the engine's
	reads  map[string]int    // by name
	clears []string
}

func (b *troubled) at(addr uint32) (name string, element string) {
	reg, i, ok := b.man.Find(addr)
	if !ok {
		return "", ""
	}
	return reg.Name, fmt.Sprintf("%s[%d]", reg.Name, i)
}

func (b *troubled) Read(addr uint32) (uint32, error) {
	name, element := b.at(addr)
	b.reads[name]++
	if v, ok := b.values[element]; ok {
		return v, nil
	}
	return b.Bus.Read(addr)
}

func (b *troubled) Write(addr, v uint32, strobes uint8) error {
	if name, element := b.at(addr); strings.HasSuffix(name, "IRQ_CLEAR") {
		b.clears = append(b.clears, element)
		cause := strings.Replace(element, "CLEAR", "CAUSE", 1)
		if old, ok := b.values[cause]; ok {
			b.values[cause] = old &^ v
		}
	}
	return b.Bus.Write(addr, v, strobes)
}

// field is a field's value of a register.
func (b *troubled) field(t *testing.T, register, name string) uint32 {
	t.Helper()
	f, err := b.man.Registers.Field(register, name)
	require.NoError(t, err)
	return f.Put(1)
}

// interrupting starts an agent at a switch with interrupts.
func interrupting(t *testing.T, p contract.Params) (*site, *troubled) {
	t.Helper()
	p.Interrupts = true
	s := newSite(t, p)
	b := &troubled{Bus: s.engine, man: s.man, values: map[string]uint32{}, reads: map[string]int{}}
	s.begin(b)
	return s, b
}

// begin starts an agent with that bus.
func (s *site) begin(b ctrl.Bus) {
	s.t.Helper()
	var err error
	s.agent, err = New(Config{Name: "leaf0", Manifest: s.man, Bus: b, Store: s.file, IP: roce.IP4{10, 0, 0, 1}, MAC: roce.MAC{2, 0, 0, 0, 1, 0}, Lifetime: 1e9, Log: s.agent.cfg.Log, Now: s.agent.cfg.Now})
	require.NoError(s.t, err)
}

// troubles are those of a list, as CAUSE@PLACE×TIMES, with the groups'.
func troubles(l *pb.ListResponse) (text string) {
	for _, t := range l.Troubles {
		place := fmt.Sprint("engine ", t.GetEngine())
		if t.Port != nil {
			place = fmt.Sprint("port ", *t.Port)
		}
		text += fmt.Sprintf("%s@%s×%d ", t.Cause, place, t.Times)
	}
	for _, g := range l.Groups {
		if g.Trouble != "" {
			text += g.Group + ": " + g.Trouble
		}
	}
	return strings.TrimSpace(text)
}

// Where there are interrupts an agent reads cause and mask alone while nothing happens, however many groups there are. After a cause it looks at what that may mean, at the
// engine that has it, and clears it.
func TestInterrupts(t *testing.T) {
	p := engines(2)
	p.PortBytes = 4
	s, b := interrupting(t, p)
	for e := range 2 {
		_, err := s.at(e, fmt.Sprint("g", e), false)
		require.NoError(t, err)
	}
	look := func() string {
		b.reads, b.clears = map[string]int{}, nil
		return troubles(s.list())
	}
	require.Empty(t, look())
	require.Equal(t, 2, b.reads["GROUP_STATUS"], "the first time it looks at the groups")
	for range 3 {
		require.Empty(t, look())
		require.Equal(t, map[string]int{"IRQ_ENABLE": 2, "IRQ_CAUSE": 2, "PORT_IRQ_ENABLE": 1, "PORT_IRQ_CAUSE": 1}, b.reads)
	}
	require.Empty(t, look())
	require.Equal(t, 2, b.reads["GROUP_STATUS"], "now and then it looks at the groups all the same")

	double := slices.Index(s.man.Counters, "ECC_DOUBLE") + len(s.man.Counters)
	b.values[fmt.Sprintf("ENGINE_COUNTER[%d]", double)] = 3
	require.Empty(t, look(), "no cause, no look")
	b.values["IRQ_CAUSE[1]"] = b.field(t, "IRQ_CAUSE", "ecc_double")
	require.Equal(t, "ecc_double@engine 1×3", look())
	require.Equal(t, []string{"IRQ_CLEAR[1]"}, b.clears)
	require.Equal(t, 1, b.reads["GROUP_STATUS"], "the groups of that engine")
	require.Equal(t, "ecc_double@engine 1×3", look(), "it is said for as long as the agent lives, so that no answer that is lost matters")
	require.Empty(t, b.clears)

	b.values["PORT_RX_HUNG[2]"], b.values["PORT_IRQ_CAUSE[0]"] = 1, b.field(t, "PORT_IRQ_CAUSE", "rx_hung")
	require.Equal(t, "ecc_double@engine 1×3 rx_hung@port 2×1", look())
	b.values["IRQ_CAUSE[0]"] = b.field(t, "IRQ_CAUSE", "damaged")
	look()
	require.Empty(t, b.clears, "what a network does is nobody's trouble")

	// A reset takes the mask away, and so it is noticed at once, without a look at every group each time.
	delete(b.values, "IRQ_CAUSE[0]")
	require.NoError(t, s.engine.Reset())
	look()
	require.Equal(t, "g0:LOST g1:LOST 16/2", s.states())
	for e := range 2 {
		mask, err := ctrl.New(s.engine, s.man).Read("IRQ_ENABLE", e)
		require.NoError(t, err)
		require.Equal(t, s.agent.sources[e].mask, mask)
	}
}

// A queue pair that is ended, by either side, ends its group: the agent says which it is. So does a double error in Mode I, which the group is poisoned by. It is so with
// interrupts and without.
func TestGroupsThatCannotGoOn(t *testing.T) {
	for _, interrupts := range []bool{false, true} {
		t.Run(fmt.Sprint(interrupts), func(t *testing.T) {
			p := messages1()
			p.Interrupts = interrupts
			s := newSite(t, p)
			b := &troubled{Bus: s.engine, man: s.man, values: map[string]uint32{}, reads: map[string]int{}}
			s.begin(b)
			out, err := s.reserve("a", 0, 8, 3)
			require.NoError(t, err)
			r := commit("a", 3, 3)
			for _, far := range r.Remotes {
				far.RqPsn, far.SqPsn, far.PathMtu = 5, 6, 256
			}
			_, err = s.agent.Commit(s.ctx, r)
			require.NoError(t, err)
			require.Empty(t, troubles(s.list()))

			// A MIDDLE with nothing before it.
			far := r.Remotes[1].End
			end := s.agent.records[0].Ends[1]
			packet := roce.Packet{SrcMAC: end.RemoteMAC, DstMAC: end.LocalMAC, SrcIP: end.RemoteIP, DstIP: end.LocalIP, TTL: 64, SrcPort: 49152, Op: roce.SendMiddle, MigReq: true,
				PKey: roce.DefaultPKey, DestQP: out.Ends[1].Qpn, PSN: 5, Payload: make([]byte, 256)}
			s.engine.Handle(s.engine.Now(), end.Port, packet.AppendFrame(nil), false)
			want := fmt.Sprintf("a: the engine has ended the connection, for what it sent, of 10.0.1.1 queue pair %#x", far.Qpn)
			require.Contains(t, troubles(s.list()), want)

			b.values["GROUP_FAILED[0]"] = 1 << 2 // the host at endpoint 2 gives up
			if interrupts {
				b.values["IRQ_CAUSE[0]"] = b.field(t, "IRQ_CAUSE", contract.CauseFailed)
			}
			require.Contains(t, troubles(s.list()), "a connection was ended by 10.0.1.2 queue pair 0x66; the engine has ended")

			b.values["GROUP_REFUSED[0]"] = b.field(t, "GROUP_REFUSED", "poisoned")
			if interrupts {
				b.values["IRQ_CAUSE[0]"] = b.field(t, "IRQ_CAUSE", "ecc_double")
			}
			require.Contains(t, troubles(s.list()), "it is poisoned: a double error of the payload memory")

			s.begin(b)
			require.Equal(t, "a:INSTALLED 8/1", s.states())
			require.Contains(t, troubles(s.list()), "it is poisoned", "a new agent finds it, too")
			b.values = map[string]uint32{}
			_, err = s.agent.Remove(s.ctx, &pb.RemoveRequest{Group: "a"})
			require.NoError(t, err)
			_, err = s.reserve("b", 0, 8, 3)
			require.Equal(t, codes.OK, status.Code(err))
			require.NotContains(t, troubles(s.list()), "poisoned")
		})
	}
}

// An engine of Mode II keeps nothing of connections, and has no registers for them.
func TestNoConnectionsInModeTwo(t *testing.T) {
	p := synthetic.Mini()
	p.Interrupts = true
	s := newSite(t, p)
	s.install("a", 0, 3)
	s.engine.Engine().OfEngine(0).EnableCause(inc.CauseDamaged, false)
	for range 9 {
		assert.Empty(t, troubles(s.list()))
	}
}
