// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
)

// Scenario is a test by name. It adapts to the configuration; Needs says what it cannot do without.
type Scenario struct {
	// Name is what --scenario's pattern is matched with.
	Name string
	// Doc is one sentence: stimulus and expectation.
	Doc string
	// Needs returns why a configuration cannot hold the scenario, or nothing. May be nil.
	Needs Needs
	// Run is the scenario. It ends by returning, or by a method of T or of what T makes.
	Run func(t *T)
}

// MaxCycles is how many cycles a scenario's engines may be clocked in all before it counts as stuck, of a configuration of up to 8 members and a
// window of up to 128 packets.
const MaxCycles = 20_000_000

// Limit is how many cycles the engines of a scenario may be clocked in all: MaxCycles, times members over 8, times window_packets over 128,
// each rounded up. A tree has an engine for each member, and scenarios send whole windows. agilex8m (16 members, 512 packets) needs 65 million,
// a tree of 16 members in Mode III 35.
func Limit(p contract.Params) uint64 {
	times := func(n, of int) uint64 { return uint64(max(1, (n+of-1)/of)) }
	return MaxCycles * times(p.Members, 8) * times(p.WindowPackets, 128)
}

// Needs returns why a configuration cannot hold a scenario, or nothing.
type Needs func(p contract.Params) string

// All joins needs: its reason is the first that any of them has.
func All(needs ...Needs) Needs {
	return func(p contract.Params) string {
		for _, n := range needs {
			if why := n(p); why != "" {
				return why
			}
		}
		return ""
	}
}

// unless is a reason that counts if something does not hold.
func unless(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// ModeII is for scenarios of what Modes III and I do in another way, besides what else they need.
func ModeII(needs ...Needs) Needs { return inMode("Mode II", needs, 2) }

// Pipes is for scenarios of what Modes III and I alone do, besides what else they need.
func Pipes(needs ...Needs) Needs { return inMode("Mode III or I", needs, 3, 1) }

// ModeI is for scenarios of what only Mode I does, besides what else they need.
func ModeI(needs ...Needs) Needs { return inMode("Mode I", needs, 1) }

// ModeIII is for scenarios of what only Mode III does, besides what else they need.
func ModeIII(needs ...Needs) Needs { return inMode("Mode III", needs, 3) }

func inMode(name string, needs []Needs, modes ...int) Needs {
	return func(p contract.Params) string {
		mode := cmp.Or(p.Mode, 2)
		return cmp.Or(unless(slices.Contains(modes, mode), "is about %s, the configuration is of Mode %s", name, strings.Repeat("I", mode)), All(needs...)(p))
	}
}

// NeedMembers is for scenarios of at least n members.
func NeedMembers(n int) Needs {
	return func(p contract.Params) string {
		return unless(p.Members >= n, "needs %d members, the configuration has %d", n, p.Members)
	}
}

// NeedGroups is for scenarios of at least n groups at once.
func NeedGroups(n int) Needs {
	return func(p contract.Params) string {
		return cmp.Or(unless(p.AllGroups() >= n, "needs %d groups, the configuration has %d", n, p.AllGroups()),
			unless(MaxGroups(p) >= n, "needs slots for %d groups, the configuration has %d", n, p.Slots()))
	}
}

// NeedSlots is for scenarios that move groups about in the buffer: it must have at least n slots.
func NeedSlots(n int) Needs {
	return func(p contract.Params) string {
		return unless(p.Slots() >= n, "needs %d slots, the configuration has %d", n, p.Slots())
	}
}

// NeedPackets is for scenarios of ranges of packets: those of Mode I are of messages.
func NeedPackets(p contract.Params) string {
	return unless(p.Mode != 1, "is about packets, the configuration is of Mode I")
}

// NeedBare is for scenarios of what is inside one engine: queues at its ports, and what stands round several, have resets and scenarios of their own.
func NeedBare(p contract.Params) string {
	return unless(p.EngineCount() == 1 && p.PortBytes == 0, "needs one engine, and ports without queues")
}

// NeedReleases is for scenarios in which hosts are told that an iteration is over.
func NeedReleases(p contract.Params) string {
	return unless(!p.NoReleases, "needs releases, which an engine of no_releases does not make")
}

// NeedParentPort is what a tree of switches with two children each needs where frames may be nobody's: at the port of a child they would
// run in circles.
func NeedParentPort(p contract.Params) string {
	return unless(min(2, p.Members)%p.Ports != 0, "needs a port for the parent that is not a child's, the configuration has %d", p.Ports)
}

// NeedShortMessages is for scenarios that repeat what links lose: with messages of 16 KiB they need 22 to 80 million cycles,
// more than Limit gives a small configuration.
func NeedShortMessages(p contract.Params) string {
	const most = 4096
	return unless(p.Mode != 1 || p.MessageBytes <= most, "needs messages of at most %d bytes in Mode I, the configuration has %d", most, p.MessageBytes)
}

// NeedECC is for scenarios of a payload memory that corrects errors.
func NeedECC(p contract.Params) string {
	return cmp.Or(unless(p.ECC, "needs ecc"), NeedMembers(2)(p))
}

// NeedInBand is for scenarios of in-band groups of at least that many members.
func NeedInBand(members int) Needs {
	return func(p contract.Params) string {
		return cmp.Or(unless(p.InBand, "needs in_band"), NeedSlots(2*p.MostUnits())(p), NeedMembers(members)(p))
	}
}

// NeedOneWidth is for scenarios of what ports deliver at the same time.
func NeedOneWidth(p contract.Params) string {
	return unless(len(p.PortWidths) == 0, "needs ports of one width, those of the configuration have %v bytes", p.PortWidths)
}

// NeedClock is for scenarios that must be faster than a few microseconds.
func NeedClock(p contract.Params) string {
	return unless(p.ClockMHz >= 100, "needs a clock of 100 MHz, so that a microsecond is not over before a frame, the configuration has %d", p.ClockMHz)
}
