// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/internal/fail"
)

// source is where troubles come from: an engine, or the queues of all ports. Where the switch has interrupts its cause register says whether there is anything to look at.
// Where it has none the groups are looked at each time, and counters are not: whoever wants them asks for them.
type source struct {
	engine int // -1: the ports' queues
	// register is what the names of its registers begin with, and element which of them it has.
	register string
	element  int
	causes   []contract.Cause // by bit, of those that it has
	mask     uint32           // the bits that are attended to
	// counts are what the causes' counters had when they were looked at last, and first when the agent began, by port or engine; made at the first look.
	counts, first map[counted]uint64
}

// counted is a counter at a port, or at an engine.
type counted struct {
	name string
	port int // -1: of an engine
}

// ofTheNetwork are the causes of what a network does to frames. They are counted and mended by repeating, so that nobody has to be told.
func ofTheNetwork(cause string) bool {
	return slices.Contains([]string{contract.CauseRefused, "damaged", "foreign", "overrun", "timeout", "rx_full", "tx_full"}, cause)
}

// looksBetween is after how many lists an agent looks at the groups of which no cause was seen, beginning with its first: what stops a group without a cause, somebody
// else's write, is noticed then.
const looksBetween = 4

// newSources lists where troubles come from. With interrupts it has the causes that are attended to raise the line.
func (a *Agent) newSources() (err error) {
	defer fail.Catch(&err, "")
	for e := range a.p.EngineCount() {
		a.sources = append(a.sources, &source{engine: e, register: "IRQ", element: e})
	}
	if !a.p.Interrupts {
		return nil
	}
	for _, s := range a.sources {
		s.causes = a.p.Causes()
	}
	if a.p.PortBytes > 0 {
		a.sources = append(a.sources, &source{engine: -1, register: "PORT_IRQ", causes: a.p.PortCauses()})
	}
	for _, s := range a.sources {
		for i, c := range s.causes {
			if !ofTheNetwork(c.Name) {
				s.mask |= 1 << i
			}
		}
		fail.On(a.examine(s))
		s.first = s.counts
		fail.On(a.drv.Write(s.register+"_ENABLE", s.element, s.mask))
	}
	return nil
}

// called tells whether something happened at a source since the last time. The mask tells of a reset, after which nothing of the engine is as it was.
func (a *Agent) called(s *source) (yes bool, err error) {
	defer fail.Catch(&err, "interrupts")
	if !a.p.Interrupts {
		return true, nil
	}
	if fail.Must(a.drv.Read(s.register+"_ENABLE", s.element)) != s.mask {
		return true, a.drv.Write(s.register+"_ENABLE", s.element, s.mask)
	}
	cause := fail.Must(a.drv.Read(s.register+"_CAUSE", s.element)) & s.mask
	if cause == 0 {
		return false, nil
	}
	return true, a.drv.Write(s.register+"_CLEAR", s.element, cause) // before the look: what comes after it sets the cause again
}

// attend looks at what the switch has to say, and at the groups of the engines where that may concern them.
func (a *Agent) attend() (err error) {
	defer fail.Catch(&err, "")
	a.looks++
	for _, s := range a.sources {
		called := fail.Must(a.called(s))
		if called {
			fail.On(a.examine(s))
		}
		if s.engine >= 0 && (called || a.looks%looksBetween == 1) {
			fail.On(a.restart(s.engine))
			fail.On(a.inspect(s.engine))
		}
	}
	return nil
}

// examine reads the counters of the causes that are attended to.
func (a *Agent) examine(s *source) (err error) {
	defer fail.Catch(&err, "")
	s.counts = map[counted]uint64{}
	for i, c := range s.causes {
		if s.mask>>i&1 == 0 {
			continue
		}
		for _, name := range c.Counters {
			if s.engine >= 0 {
				s.counts[counted{name, -1}] = fail.Must(a.engineCounter(s.engine, name))
				continue
			}
			for port := range a.p.Ports {
				s.counts[counted{name, port}] = uint64(fail.Must(a.drv.Read(name, port)))
			}
		}
	}
	return nil
}

// engineCounter reads a counter of one engine.
func (a *Agent) engineCounter(engine int, name string) (v uint64, err error) {
	defer fail.Catch(&err, "")
	i := slices.Index(a.cfg.Manifest.Counters, name)
	fail.If(i < 0, "no counter %s", name)
	if a.p.EngineCount() == 1 {
		return a.drv.Counter(i)
	}
	at := engine*len(a.cfg.Manifest.Counters) + i
	low := fail.Must(a.drv.Read("ENGINE_COUNTER", at))
	return uint64(fail.Must(a.drv.Read("ENGINE_COUNTER_HIGH", at)))<<32 | uint64(low), nil
}

// inspect looks whether an engine still has its groups, and whether they can go on.
func (a *Agent) inspect(engine int) (err error) {
	defer fail.Catch(&err, "")
	for g := range a.records {
		r := &a.records[g]
		if a.engineOf(g) != engine || r.State != pb.State_STATE_INSTALLED {
			continue
		}
		if fail.Must(a.drv.Get("GROUP_STATUS", g, "enabled")) == 0 {
			a.cfg.Log.Errorf("agent %s: the engine has lost group %s", a.cfg.Name, r.Group)
			fail.On(a.save(g, func(r *record) { r.State = pb.State_STATE_LOST }))
			continue
		}
		was := r.trouble
		if r.trouble = fail.Must(a.trouble(g)); r.trouble != was {
			a.cfg.Log.Errorf("agent %s: group %s: %s", a.cfg.Name, r.Group, r.trouble)
		}
	}
	return nil
}

// trouble is why a group that the engine has cannot go on; empty if it can.
func (a *Agent) trouble(g int) (text string, err error) {
	defer fail.Catch(&err, "")
	if !a.p.Pipes() {
		return "", nil // Mode II keeps nothing of connections
	}
	var all []string
	if failed := fail.Must(a.drv.Get("GROUP_FAILED", g, "mask")); failed != 0 {
		all = append(all, "a connection was ended by "+a.farEnds(g, failed))
	}
	if a.p.Mode == 1 {
		v, fields := fail.Must(a.drv.Read("GROUP_REFUSED", g)), a.cfg.Manifest.Registers
		if refused := fail.Must(fields.Field("GROUP_REFUSED", "mask")).Get(v); refused != 0 {
			all = append(all, "the engine has ended the connection, for what it sent, of "+a.farEnds(g, refused))
		}
		if fail.Must(fields.Field("GROUP_REFUSED", "poisoned")).Get(v) != 0 {
			all = append(all, "it is poisoned: a double error of the payload memory")
		}
	}
	return strings.Join(all, "; "), nil
}

// farEnds are those at the other ends of endpoints.
func (a *Agent) farEnds(g int, mask uint32) string {
	var all []string
	for left := mask; left != 0; left &= left - 1 {
		e := bits.TrailingZeros32(left)
		text := fmt.Sprintf("endpoint %d", e)
		if ends := a.records[g].Ends; e < len(ends) {
			text = fmt.Sprintf("%v queue pair %#x", ends[e].RemoteIP, ends[e].RemoteQPN)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// listTroubles says what has happened since the agent began.
func (a *Agent) listTroubles() (all []*pb.Trouble) {
	for _, s := range a.sources {
		for _, c := range s.causes {
			byPort := map[int]uint64{}
			for _, name := range c.Counters {
				for at, n := range s.counts {
					if first := s.first[at]; at.name == name && n != first {
						byPort[at.port] += n - min(first, n)
					}
				}
			}
			for port := -1; port < a.p.Ports; port++ {
				if byPort[port] == 0 {
					continue
				}
				t := &pb.Trouble{Cause: c.Name, Times: byPort[port]}
				if port >= 0 {
					t.Port = proto.Uint32(uint32(port))
				} else {
					t.Engine = proto.Uint32(uint32(s.engine))
				}
				all = append(all, t)
			}
		}
	}
	return all
}
