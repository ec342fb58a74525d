// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"errors"
	"fmt"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func registers(t *rig.T) {
	e := t.Engine()
	for i := range t.Manifest.Counters { // of a copy that no read of COUNTER has made
		e.Read("COUNTER_HIGH", i)
	}
	beyondTheMap(e)
	readAll(e, "after reset")
	for _, pauses := range []dut.Pauses{{}, {Seed: t.Rand.Uint64(), Registers: 0.4, Burst: 4}} {
		e.SetPauses(pauses)
		writeAll(e)
		readAll(e, "after writing")
		refuseParts(e)
	}
	e.SetPauses(dut.Pauses{})
	besideWrites(e)
	for _, slow := range []bool{false, false, true} {
		resetInTraffic(e, slow)
	}
	firstReads(e)
	besideStarts(e)
	amongHeaders(e)
	heldCopy(e)
}

// heldCopy reads counters that a copy holds, after frames and after writes of other registers: they are as they were.
func heldCopy(e *rig.Engine) {
	t := e.T
	e.Write("COUNTER_SNAPSHOT", 0, 1)
	held := e.Read("COUNTER", int(inc.Bypass))
	for port := range t.Params.Ports {
		e.Put(t.ARP(port))
	}
	e.Settle()
	e.Write("IP_ID", 0, 1)
	if n := e.Read("COUNTER", int(inc.Bypass)); n != held {
		t.Fatalf("%v is %d in a copy that had %d", inc.Bypass, n, held)
	}
	e.Write("COUNTER_SNAPSHOT", 0, 0)
	for _, name := range []string{"IP_ID", "COUNTER_SNAPSHOT"} { // a write of 0 copies nothing, in whichever register
		e.Write(name, 0, 0)
		begin := e.Now()
		e.Read("COUNTER_HIGH", 0)
		if took, most := e.Now()-begin, uint64(len(t.Manifest.Counters)); took >= most {
			t.Fatalf("reading COUNTER_HIGH behind a write of %s took %d cycles, as if there were a copy to wait for", name, took)
		}
	}
}

// besideWrites reads any registers while others, and the same, are written, all offered as early as the bus lets them be, and reads them all behind that. A
// group is enabled, so that some writes are refused.
func besideWrites(e *rig.Engine) {
	const rounds, each = 4, 60
	t := e.T
	g := e.Group(0, 1, t.Params.Members, false)
	targets := make(map[bool][]uint32) // registers of groups, and all others
	for _, r := range t.Manifest.Registers {
		if r.Name == "GROUP_CTRL" || r.Name == "ECC_INJECT" || r.Top != "" {
			continue
		}
		for i := range r.Size() {
			of := strings.HasPrefix(r.Name, "GROUP_")
			targets[of] = append(targets[of], r.At(i))
		}
	}
	draw := func() uint32 {
		from := targets[t.Rand.IntN(2) == 0]
		return from[t.Rand.IntN(len(from))]
	}
	for round := range rounds {
		e.SetPauses([]dut.Pauses{{}, {Seed: t.Rand.Uint64(), Registers: 0.2, Burst: 3}}[round%2])
		t.In(fmt.Sprintf("round %d", round), func() {
			var all []dut.Access
			for range each {
				addr := draw()
				all = append(all, dut.Access{Addr: addr, Write: true, Value: t.Rand.Uint32()})
				for range 1 + t.Rand.IntN(2) {
					if t.Rand.IntN(4) != 0 {
						addr = draw()
					}
					all = append(all, dut.Access{Addr: addr})
				}
			}
			_, err := e.Together(all)
			t.Check(err)
		})
	}
	e.SetPauses(dut.Pauses{})
	readAll(e, "after reads beside writes")
	g.Disable()
}

// amongHeaders reads records while frames of one beat leave none of the cycles in which their table is not read: each read is answered before the last has come.
func amongHeaders(e *rig.Engine) {
	const frames, reads, longest = 1000, 3, 60
	t := e.T
	port, i := t.Rand.IntN(t.Params.Ports), t.Rand.IntN(t.Params.Members)
	for range frames {
		e.Put(rig.Frame{Port: port, Data: t.Words(longest / 4)[:min(t.Params.BusBytes, longest)]})
	}
	for range reads {
		for _, name := range []string{"EP_CTRL", "EP_LOCAL_QPN"} {
			e.Read(name, i)
			if e.Waiting() == 0 {
				t.Fatalf("reading %s %d took as long as %d frames", name, i, frames)
			}
		}
	}
	e.Settle()
}

// firstReads reads a word of a record that was written, before any other register is read after a reset, at any of some cycles that follow each other. The
// first frame after one has a single beat.
func firstReads(e *rig.Engine) {
	const cycles = 4
	t := e.T
	var words []contract.Register
	for _, r := range t.Manifest.Registers {
		if strings.HasPrefix(r.Name, "EP_") {
			words = append(words, r)
		}
	}
	for _, name := range []string{"EP_CTRL", "EP_LOCAL_QPN", "EP_HEADER"} {
		for wait := range uint64(cycles) {
			t.Check(e.Reset())
			i := t.Rand.IntN(words[0].Size())
			for _, r := range words {
				e.Write(r.Name, i, t.Rand.Uint32())
			}
			e.StepTo(e.Now() + wait)
			e.Read(name, i)
		}
	}
	t.Check(e.Reset())
	e.Put(rig.Frame{Data: make([]byte, t.Params.BusBytes)}) // a beat, and its frame's first as well as last
	e.Settle()
}

// besideStarts reads all registers while a group is enabled and another was refused for its slots, and some of them while a group starts: what a group
// does is seen in its own GROUP_CTRL and GROUP_STATUS alone.
func besideStarts(e *rig.Engine) {
	const starts = 12
	t := e.T
	g := e.Group(0, 1, t.Params.Members, false)
	if rig.MaxGroups(t.Params) > 1 && t.Params.Engines == 1 { // of several each has slots of its own
		other := e.MakeGroup(1, 1, t.Params.Members, false)
		if other.TryProgram() {
			t.Fatalf("two groups have the same slots")
		}
	}
	readAll(e, "beside a group that works and one that was refused")
	var names []string
	for _, r := range t.Manifest.Registers {
		if strings.HasPrefix(r.Name, "GROUP_") && r.Name != "GROUP_CTRL" && r.Name != "GROUP_STATUS" {
			names = append(names, r.Name)
		}
	}
	again := t.StartsGroup()
	for range starts {
		e.Write("GROUP_CTRL", g.Index, again)
		for range 2 {
			e.Read(names[t.Rand.IntN(len(names))], g.Index)
		}
		e.Settle()
	}
	g.Reset()
	g.CompleteFrom(0, 2)
	g.Disable()
}

// beyondTheMap reads and writes the addresses behind each register, or table of them, that are no register's: each answers with an error and
// does no harm.
func beyondTheMap(e *rig.Engine) {
	none := 0
	for _, r := range e.T.Manifest.Registers {
		addr := r.At(r.Size()-1) + 4
		if _, _, ok := e.T.Manifest.Find(addr); !ok {
			refused(e, addr)
			none++
		}
	}
	if none == 0 {
		e.T.Fatalf("there is no address that is no register's")
	}
}

// refused reads and writes an address that is no register's.
func refused(e *rig.Engine, addr uint32) {
	t := e.T
	if _, err := e.DUT.Read(addr); !errors.Is(err, dut.ErrRefused) {
		t.Fatalf("reading address %#x, where no register is: %v, expected a refusal", addr, err)
	}
	if err := e.DUT.Write(addr, t.Rand.Uint32(), ctrl.AllBytes); !errors.Is(err, dut.ErrRefused) {
		t.Fatalf("writing address %#x, where no register is: %v, expected a refusal", addr, err)
	}
}

// readAll reads all registers, of long tables both ends and a sample between.
func readAll(e *rig.Engine, when string) {
	t := e.T
	t.In(when, func() {
		for _, r := range t.Manifest.Registers {
			for i := range r.Size() {
				if r.Size() > 64 && i >= 8 && i < r.Size()-8 && t.Rand.IntN(16) != 0 {
					continue
				}
				e.Read(r.Name, i)
			}
		}
	})
}

// writeAll writes anything into every register but those that start groups: records that no endpoint has are among them.
func writeAll(e *rig.Engine) {
	t := e.T
	for _, r := range t.Manifest.Registers {
		for i := range r.Size() {
			if r.Name == "GROUP_CTRL" {
				continue
			}
			v := t.Rand.Uint32()
			if r.Name == "ECC_INJECT" {
				v = 0 // anything else is the business of scenario ecc
			}
			e.Write(r.Name, i, v)
		}
	}
}

// refuseParts writes some bytes of the first and of the last register of each table: that is refused, and both hold what they held.
func refuseParts(e *rig.Engine) {
	t := e.T
	for _, r := range t.Manifest.Registers {
		for _, i := range []int{0, r.Size() - 1} {
			addr, err := t.Manifest.Addr(r.Name, i)
			t.Check(err)
			if err := e.Board.Write(addr, t.Rand.Uint32(), uint8(t.Rand.IntN(int(ctrl.AllBytes)))); !errors.Is(err, dut.ErrRefused) {
				t.Fatalf("writing some bytes of %s %d: %v, expected a refusal", r.Name, i, err)
			}
			e.Read(r.Name, i)
		}
	}
}

// resetInTraffic resets the engine with registers away from their reset values and more traffic than goes in before the reset; then it
// must be as new. slow tells whether the sinks are, so that the engine is full of frames.
func resetInTraffic(e *rig.Engine, slow bool) {
	t := e.T
	// Before the traffic: what a packet inside the engine makes of a new value is nobody's business.
	t.Check(e.Ctl.SetIPID(0xFFFF))
	t.Check(e.Ctl.SetOptions(false, true))
	for p := range t.Params.Ports {
		t.Check(e.Ctl.SetBypassPort(p, (p+1)%t.Params.Ports))
	}
	g := e.Group(0, 1, t.Params.Members, false)
	for k := range min(2*g.MW(), 64) {
		for _, c := range g.Members() {
			e.Put(g.Data(c, g.PSN(k), g.Noise(4*t.Rand.IntN(t.Params.MTUBytes/4))))
		}
		e.Put(rig.Frame{Data: t.Words(20)})
	}
	if slow {
		e.SetPauses(dut.Pauses{Seed: 3, Ready: 0.9, Burst: 30})
	}
	for step := t.Rand.IntN(30); step >= 0; step-- {
		e.StepTo(e.Now() + uint64(1+t.Rand.IntN(8*t.MTUBeats())))
		e.Out()
	}
	t.Check(e.Reset())
	e.SetPauses(dut.Pauses{})
	t.In("after a reset in traffic", func() {
		readAll(e, "registers")
		e.Settle() // what still waited at the ports finds no group
		g = e.Group(0, 1, t.Params.Members, false)
		g.CompleteFrom(0, 3)
		_, err := e.Finish()
		t.Check(err)
	})
	g.Disable()
}

func control(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 4)
	groups := make([]*busy, count)
	for i := range groups {
		groups[i] = &busy{Group: e.Group(i, count, t.Params.Members, false)}
	}
	groups[0].refused()
	groups[0].Program()
	for range 60 {
		i := t.Rand.IntN(count)
		if next := groups[(i+1)%count]; count > 1 {
			for _, c := range next.Members() {
				e.Put(next.Data(c, next.PSN(next.done), next.Noise(16)))
			}
			next.done++
		}
		g := groups[i]
		switch t.Rand.IntN(6) {
		case 0:
			g.Reset()
			g.done = 0
		case 1, 2:
			g.change(count)
		case 3:
			e.Settle() // a packet inside the engine may leave with either value
			e.Write("IP_ID", 0, t.Rand.Uint32())
			e.Settle()
		case 4:
			t.Check(e.Ctl.Start(i)) // enabled as it is: this does nothing
		case 5:
			e.Counters()
		}
		e.Settle()
		g.Complete(g.PSN(g.done))
		g.done++
	}
}

// busy is a group that completes one PSN after the other.
type busy struct {
	*rig.Group
	done int
}

// refused writes illegal settings: the group stays disabled and answers nothing.
func (g *busy) refused() {
	legal := g.Set
	for _, bad := range g.T.IllegalSettings(legal) {
		g.Set = bad
		if g.Disable(); g.TryEnable() {
			g.T.Fatalf("illegal settings were enabled: %+v", bad)
		}
		g.Set = legal
		g.Send(g.Data(0, g.Start(), g.Noise(8))).As("to a group with illegal settings %+v", bad).Expect()
	}
}

// change gives the group, one of count, another START, kind and subset of members, and another place among its slots of the buffer.
func (g *busy) change(count int) {
	t := g.T
	g.Set.InMask = uint32(1 + t.Rand.IntN(1<<t.Params.Members-1))
	g.Set.OutMask, g.Set.AckMask = g.Set.InMask, g.Set.InMask
	g.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
	g.SetKind(t.NextKind(count))
	g.Set.Log2N = 1 + t.Rand.IntN(t.MaxLog2N(count, g.Units()))
	room := t.Room(count)
	g.Set.SlotBase = g.Index*room + t.Rand.IntN(room-g.Units()<<g.Set.Log2N+1)
	g.Program()
	g.done = 0
}
