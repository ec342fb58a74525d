// SPDX-License-Identifier: Apache-2.0

package contract

import "strconv"

// PortCounters are the counters that each port of the switch top has where ports have queues, in the order in which they lie in the map.
func PortCounters() []Counter {
	return []Counter{
		{Name: "PORT_RX_FRAMES", Doc: "Frames that came in whole and went on to the engine."},
		{Name: "PORT_RX_ERROR", Doc: "Frames dropped on the way in: marked bad by the MAC."},
		{Name: "PORT_RX_LONG", Doc: "Frames dropped on the way in: longer than a queue takes."},
		{Name: "PORT_RX_HUNG", Doc: "Frames dropped on the way in: they stood still between two beats for too long."},
		{Name: "PORT_RX_FULL", Doc: "Frames dropped on the way in: the queue had no room."},
		{Name: "PORT_TX_FRAMES", Doc: "Frames that left."},
		{Name: "PORT_TX_FULL", Doc: "Frames dropped on the way out: the queue had no room."},
	}
}

// PortHangCycles is the number of cycles without a beat after which a frame that has begun to come in is given up.
const PortHangCycles = 4096

// PortFrameBytes is the longest frame that a port with queues takes, without FCS: Ethernet's longest with a VLAN tag, and more than the
// engine's longest.
func (p Params) PortFrameBytes() int { return max(1518, p.MTUBytes+128) }

// PortQueueBeats is the depth of either queue of a port in beats of the bus, a power of two: room for one frame of the longest that comes
// in or leaves and one that waits.
func (p Params) PortQueueBeats() int { return ceilPow2(2*p.Beats(p.PortFrameBytes()) + 2) }

// PortWidth is the width of a port of the switch top in bytes a beat; 0 if ports are as wide as the bus.
func (p Params) PortWidth(port int) int {
	if len(p.PortWidths) == 0 {
		return p.PortBytes
	}
	return p.PortWidths[port]
}

// PortMHz is the clock of a port; 0 if it has that of the engine.
func (p Params) PortMHz(port int) float64 {
	switch len(p.PortClockMHz) {
	case 0:
		return 0
	case 1:
		return p.PortClockMHz[0]
	default:
		return p.PortClockMHz[port]
	}
}

// PortClock is the name of a port's clock, where ports have clocks.
func PortClock(port int) string { return "clk_p" + strconv.Itoa(port) }

// ports adds the ports' counters.
func (b *builder) ports() {
	if b.p.PortBytes == 0 {
		return
	}
	for k, c := range PortCounters() {
		b.add(Register{Name: c.Name, Offset: PortBase + PortStride*uint32(k), Count: b.p.Ports, Stride: 4, Access: RO, Volatile: true, Index: "port",
			Top: TopSwitch, Doc: c.Doc, Fields: []Field{{Name: "count", LSB: 0, Width: 32, Doc: "Frames since reset, modulo 2^32."}}})
	}
}

// On are the registers that a top has.
func (rs Registers) On(top string) Registers {
	var out Registers
	for _, r := range rs {
		if r.Top == "" || r.Top == top {
			out = append(out, r)
		}
	}
	return out
}
