// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"encoding/hex"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
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

// parse sends the golden frames, then an ACK and a data frame with every one of their bits flipped in turn. Without an ICRC check it only
// sees that nobody looks at the ICRC.
func parse(t *rig.T) {
	g := t.Star()
	// In Mode III there is nothing that an ACK could be for when nothing was sent.
	ackTaken := rig.ByMode(t, inc.RxAck, inc.DropStaleAck)
	sendGolden(g, ackTaken)
	if !t.Params.ICRCCheck {
		f := g.Ack(0, g.Start())
		f.Data[len(f.Data)-1] ^= 1
		if got := fate(g.E, f); !slices.Contains(got, ackTaken) {
			t.Fatalf("an ACK with a wrong ICRC: %v, though the ICRC is not checked", got)
		}
		return
	}
	for _, f := range []rig.Frame{
		g.Ack(0, g.Start()),
		g.Data(0, g.Start(), g.Noise(12), func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, 0x12345678 }),
	} {
		for bit := range 8 * len(f.Data) {
			bad := f
			bad.Data = slices.Clone(f.Data)
			bad.Data[bit/8] ^= 1 << (bit % 8)
			t.In(bad.Named("bit %d of byte %d flipped", bit%8, bit/8).What, func() {
				if got := fate(g.E, bad); !slices.ContainsFunc(got, fateOfFlip(bit/8)) {
					t.Fatalf("counted as %v", got)
				}
			})
		}
	}
}

// sendGolden gives an endpoint the golden frames' addresses and sends them, if it can have their QPN.
func sendGolden(g *rig.Group, ackTaken inc.Counter) {
	t := g.T
	record := 0x11 % t.Params.Records()
	c := record % t.Params.EPS()
	if record >= t.Params.EPS() || c >= len(g.Ends) {
		return
	}
	saved := g.Ends[c]
	ep := &g.Ends[c]
	ep.LocalQPN, ep.LocalIP, ep.RemoteIP = 0x11, roce.IP4{10, 0, 0, 1}, roce.IP4{10, 0, 0, 101}
	for i, text := range golden() {
		g.Set.Start = 5
		if i >= 2 {
			g.Set.Start = 0xFFFFFF
		}
		g.Program()
		data, err := hex.DecodeString(text)
		t.Check(err)
		got := fate(g.E, rig.Frame{Port: ep.Port, Data: data})
		if !slices.Contains(got, ackTaken) && !slices.Contains(got, inc.Agg) {
			t.Fatalf("golden frame %d was not accepted: %v", i, got)
		}
	}
	g.Ends[c] = saved
	g.Program()
}

// fateOfFlip tells what may become of a good ACK or data frame with one bit of byte at flipped: by the IBTA's list of fields that the ICRC
// leaves out. Where it depends on the bit, the frame must at least not be taken.
func fateOfFlip(at int) func(c inc.Counter) bool {
	oneOf := func(list ...inc.Counter) func(c inc.Counter) bool {
		return func(c inc.Counter) bool { return slices.Contains(list, c) }
	}
	switch {
	case at < 12, at == 40, at == 41, at == 46: // MAC addresses; UDP checksum; FECN, BECN, reserved: it is taken
		return oneOf(inc.RxAck, inc.Agg, inc.TxResend, inc.TxReack, inc.DropStale, inc.DropStaleAck, inc.RxDuplicate)
	case at < 15, at == 36, at == 37: // EtherType, version, IHL; UDP destination port
		return oneOf(inc.Bypass)
	case at == 15, at == 18, at == 19, at == 22, at == 24, at == 25: // ToS, id, TTL, checksum
		return oneOf(inc.DropIPChecksum)
	case at >= 26 && at < 34: // addresses
		return oneOf(inc.DropForeign)
	case at >= 47 && at < 50: // QPN: another record, or none
		return oneOf(inc.Bypass, inc.DropForeign, inc.DropGroupDisabled)
	case at == 34, at == 35, at >= 50: // UDP source port; all that follows the QPN
		return oneOf(inc.DropICRC)
	}
	return stateless
}
