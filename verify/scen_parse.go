// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/hex"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// golden are frames made by another implementation, checked with zlib's CRC-32: 10.0.0.101 to 10.0.0.1, QP 0x11, PSN 5 and
// 0xFFFFFF. The zero-length SEND is given with and without Ethernet padding.
func golden() []string {
	head := func(total, sum, udp string) string {
		return "020000000002020000000001" + "08004500" + total + "111140004011" + sum + "0a0000650a000001" + "12b712b7" + udp + "0000"
	}
	return []string{
		head("0030", "1547", "001c") + "1100ffff0000001100000005" + "1f000006" + "ab491b31",
		head("003c", "153b", "0028") + "0400ffff0000001180000005" + "00000001000000020000000300000004" + "4175a087",
		head("002c", "154b", "0018") + "0400ffff0000001180ffffff" + "4297b9e7",
		head("002c", "154b", "0018") + "0400ffff0000001180ffffff" + "4297b9e7" + "0000",
	}
}

// scenParse is scenario 1.
func scenParse(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	g, err := e.newGroup(0, 1, t.p.Members, false)
	if err != nil {
		return err
	}
	var fate []inc.Counter
	e.OnAccept = func(_ dut.Accepted, changed []inc.Counter) error {
		fate = changed
		return nil
	}
	try := func(f portFrame) ([]inc.Counter, error) {
		_, err := e.exchange(f)
		return fate, err
	}
	ei := int(0x11) % t.p.Records()
	if c := ei % t.p.EPS(); ei < t.p.EPS() && c < len(g.ends) {
		saved := g.ends[c]
		ep := &g.ends[c]
		ep.LocalQPN, ep.LocalIP, ep.RemoteIP = 0x11, roce.IP4{10, 0, 0, 1}, roce.IP4{10, 0, 0, 101}
		for i, text := range golden() {
			g.set.Start = 5
			if i >= 2 {
				g.set.Start = 0xFFFFFF
			}
			if err := g.program(); err != nil {
				return err
			}
			data, err := hex.DecodeString(text)
			if err != nil {
				return err
			}
			got, err := try(portFrame{ep.Port, data})
			if err != nil {
				return err
			}
			taken := []inc.Counter{inc.RxAck, inc.Agg}
			if t.pipes() { // nothing was sent that the ACK could be for
				taken[0] = inc.DropStaleAck
			}
			if !slices.ContainsFunc(got, func(c inc.Counter) bool { return slices.Contains(taken, c) }) {
				return failf("golden frame %d was not accepted: %v", i, got)
			}
		}
		g.ends[c] = saved
		if err := g.program(); err != nil {
			return err
		}
	}
	if !t.p.ICRCCheck { // then nobody looks at it
		f := g.aeth(0, g.set.Start, 0x1F)
		f.data[len(f.data)-1] ^= 1
		changed, err := try(f)
		if err == nil && !slices.Contains(changed, inc.RxAck) && !(t.pipes() && slices.Contains(changed, inc.DropStaleAck)) {
			err = failf("an ACK with a wrong ICRC: %v, though the ICRC is not checked", changed)
		}
		return err
	}
	// Every bit of an ACK, and of a data frame with immediate and pad bytes.
	for _, f := range []portFrame{
		g.aeth(0, g.set.Start, 0x1F),
		g.data(0, g.set.Start, g.noise(12), func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, 0x12345678 }),
	} {
		for bit := range 8 * len(f.data) {
			bad := portFrame{f.port, slices.Clone(f.data)}
			bad.data[bit/8] ^= 1 << (bit % 8)
			got, err := try(bad)
			if err != nil {
				return failf("bit %d of byte %d flipped: %w", bit%8, bit/8, err)
			}
			if want := fateOfFlip(bit / 8); want != nil && !slices.ContainsFunc(got, func(c inc.Counter) bool { return slices.Contains(want, c) }) {
				return failf("bit %d of byte %d flipped: %v, expected one of %v", bit%8, bit/8, got, want)
			}
		}
	}
	return nil
}

// fateOfFlip says what must become of a good ACK or data frame with one bit of byte at flipped, if it is the same for every
// bit: by the IBTA's list of fields that the ICRC leaves out.
func fateOfFlip(at int) []inc.Counter {
	taken := []inc.Counter{inc.RxAck, inc.Agg, inc.TxResend, inc.DropStale, inc.DropStaleAck, inc.RxDuplicate}
	switch {
	case at < 12: // MAC addresses
		return taken
	case at < 15: // EtherType, version, IHL
		return []inc.Counter{inc.Bypass}
	case at >= 26 && at < 34: // addresses
		return []inc.Counter{inc.DropForeign}
	case at == 15, at == 18, at == 19, at == 22, at == 24, at == 25: // ToS, id, TTL, checksum
		return []inc.Counter{inc.DropIPChecksum}
	case at >= 34 && at < 36: // UDP source port
		return []inc.Counter{inc.DropICRC}
	case at >= 36 && at < 38: // UDP destination port
		return []inc.Counter{inc.Bypass}
	case at >= 40 && at < 42: // UDP checksum
		return taken
	case at == 46: // FECN, BECN, reserved
		return taken
	case at >= 47 && at < 50: // QPN: another record, or none
		return []inc.Counter{inc.Bypass, inc.DropForeign, inc.DropGroupDisabled}
	case at >= 50:
		return []inc.Counter{inc.DropICRC}
	}
	return nil
}
