// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"strconv"
)

// Validate returns nil for parameters that the generator builds, and otherwise Problems: all of them.
func (p Params) Validate() error {
	return p.check(nil).err()
}

// check returns every illegal value. Keys in bad have been reported already; rules that need them are left out, so that one
// mistake makes one message.
func (p Params) check(bad map[string]bool) Problems {
	var out Problems
	wrong := map[string]bool{}
	for k := range bad {
		wrong[k] = true
	}
	refuse := func(key, value, allowed, reason string) {
		out = append(out, Problem{Key: key, Value: value, Allowed: allowed, Reason: reason})
		wrong[key] = true
	}
	ok := func(keys ...string) bool {
		for _, k := range keys {
			if wrong[k] {
				return false
			}
		}
		return true
	}

	for _, f := range fields() {
		if !ok(f.key) || f.accepts(&p) {
			continue
		}
		v := f.get(&p)
		reason := ""
		if f.reason != nil {
			reason = f.reason(v)
		}
		out = append(out, Problem{Key: f.key, Value: v, Allowed: f.must(), Reason: reason, Hint: nearest(v, f.words)})
		wrong[f.key] = true
	}

	if ok("bus_bytes", "lanes") && p.Lanes != p.BusBytes/4 {
		refuse("lanes", strconv.Itoa(p.Lanes), fmt.Sprintf("%d for bus_bytes %d", p.BusBytes/4, p.BusBytes), laneReason())
	}
	if ok("buffer_bytes", "mtu_bytes") && p.BufferBytes%p.MTUBytes != 0 {
		refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("a multiple of mtu_bytes (%d)", p.MTUBytes),
			"a slot is one MTU of payload")
	}
	if ok("buffer_bytes", "mtu_bytes") && p.BufferBytes/p.MTUBytes > maxSlots {
		refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at most %d, %d slots of mtu_bytes (%d)",
			maxSlots*p.MTUBytes, maxSlots, p.MTUBytes), "slot numbers have at most 16 bits")
	}
	if ok("buffer_bytes", "mtu_bytes", "window_packets") && p.BufferBytes/p.MTUBytes < 2*p.WindowPackets {
		refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at least %d, 2 · window_packets (%d) · mtu_bytes (%d)",
			2*p.WindowPackets*p.MTUBytes, p.WindowPackets, p.MTUBytes), "not one group would fit")
	}
	if ok("buffer_bytes", "memory") && p.Memory == MemoryRegisters && p.BufferBytes > maxRegBuffer {
		refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at most %d with memory: registers", maxRegBuffer),
			"tools do not finish on more flip-flops; use memory: ram")
	}
	return out
}

// laneReason is the reason of the table for lanes, which the rule shares.
func laneReason() string {
	for _, f := range fields() {
		if f.key == "lanes" {
			return f.reason("")
		}
	}
	return ""
}
