// SPDX-License-Identifier: Apache-2.0

package contract

import "math/bits"

// MaxEngines is how many engines a switch may have.
const MaxEngines = 8

// The page of the switch's own registers, where there are several engines: it lies behind the ports' counters.
const (
	SwitchBase = 0x4400
	// OwnBase is where in an engine's window that begins which the engine has for itself. What lies below is common to all and is reached in
	// window 0.
	OwnBase = CounterBase
	// windowBits is the least width of a window's address: the ports' counters and the switch's page are in window 0.
	windowBits = 16
)

// EngineCount is how many engines the switch has.
func (p Params) EngineCount() int { return max(p.Engines, 1) }

// AllGroups is how many groups all engines have together. Engine e has those from e·Groups on.
func (p Params) AllGroups() int { return p.EngineCount() * p.Groups }

// EngineRecords is the size of an engine's endpoint table. QPN mod EngineRecords is the index in it, and the bits of the QPN above name the
// engine.
func (p Params) EngineRecords() int { return ceilPow2(p.Groups) * p.EPS() }

// OneEngine are the parameters of each of the engines, alone.
func (p Params) OneEngine() Params {
	p.Engines = 0
	return p
}

// windows gives each engine a window of the map for what it has for itself, and window 0 to what they have in common: a write there reaches
// all, a counter there is the sum.
func (m Model) windows(p Params) Model {
	n, width := p.EngineCount(), max(m.AddrBits, windowBits)
	out := Model{Name: m.Name, Counters: m.Counters, AddrBits: width + bits.Len(uint(n))}
	window := uint32(1) << width
	own := func(r Register) Register {
		r.Per, r.Window = r.Count, window
		r.Offset += window
		r.Count *= n
		return r
	}
	for _, r := range m.Registers {
		if r.Index == "" && r.Offset >= OwnBase && r.Top == "" { // the interrupts: one of each in each engine
			r.Index = "engine"
		}
		if r.Index == "g" || r.Index == "ei" || r.Index == "engine" {
			out.Registers = append(out.Registers, own(r))
			continue
		}
		out.Registers = append(out.Registers, r)
		if r.Name != "COUNTER_HIGH" {
			continue
		}
		low, _ := m.Registers.Register("COUNTER")
		for _, c := range []Register{*low, r} {
			c.Name, c.Index = "ENGINE_"+c.Name, "n"
			c.Doc = "Engine by engine: " + c.Doc
			out.Registers = append(out.Registers, own(c))
		}
		out.Registers = append(out.Registers, Register{Name: "ENGINES", Offset: SwitchBase, Count: 1, Stride: 4, Access: RO, Top: TopSwitch, Reset: uint32(n),
			Doc: "How many engines the switch has.", Fields: []Field{{Name: "count", Width: 32, Reset: uint32(n), Doc: "Parameter engines."}}})
		for i, name := range []string{"ROUND_FRAMES", "ROUND_FRAMES_HIGH"} {
			word := [...]string{"low", "high"}[i]
			out.Registers = append(out.Registers, Register{Name: name, Offset: SwitchBase + 4 + 4*uint32(i), Count: 1, Stride: 4, Access: RO, Volatile: true, Top: TopSwitch,
				Doc:    "Frames that went round the engines, " + word + " word, as of the last copy of the counters.",
				Fields: []Field{{Name: "count", Width: 32, Doc: "Frames since reset, " + word + " word."}}})
		}
	}
	return out
}
