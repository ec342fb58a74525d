// SPDX-License-Identifier: Apache-2.0

package lookuptable_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/lookuptable"
	"incforge/sim"
)

// small has groups that are not a power of two of members, ports that are none of the mask's bits, and short words.
func small() lookuptable.LookupTable {
	return lookuptable.LookupTable{PortW: 2, LenW: 11, WordsW: 8, EPW: 3, EIW: 5, MaskW: 6, Groups: 3, SlotW: 7, Ports: 3, DepthW: 4, InBand: 1}
}

// fixed is small without in-band groups.
func fixed() lookuptable.LookupTable {
	p := small()
	p.InBand = 0
	return p
}

// onePort is small with memories of one port.
func onePort() lookuptable.LookupTable {
	p := small()
	p.OnePort = 1
	return p
}

// single has one group and as many bits as an index can tell apart.
func single() lookuptable.LookupTable {
	return lookuptable.LookupTable{PortW: 9, LenW: 4, WordsW: 1, EPW: 2, EIW: 2, MaskW: 4, Groups: 1, SlotW: 1, Ports: 2, DepthW: 4, InBand: 1}
}

// tables is what the control plane wrote, register by register (docs/engine.md section 6).
type tables struct {
	ep, grp map[[2]int]uint32 // by index and word
}

// Registers of more than one field, and the others' words.
var (
	ctrl, slots, parent, collect = regs.Of("EP_CTRL"), regs.Of("GROUP_SLOTS"), regs.Of("GROUP_PARENT"), regs.Of("GROUP_COLLECTIVE")
	qpn                          = regs.Of("EP_LOCAL_QPN").At("qpn")
	routes                       = regs.Routes()

	epCtrl, epLocalQPN, epLocalIP, epRemoteIP = ctrl.Word(), regs.Word("EP_LOCAL_QPN"), regs.Word("EP_LOCAL_IP"), regs.Word("EP_REMOTE_IP")
	grpSlots, grpParent, grpCollct            = slots.Word(), parent.Word(), collect.Word()
	grpInMask, grpOutMask, grpAckMask         = regs.Word("GROUP_IN_MASK"), regs.Word("GROUP_OUT_MASK"), regs.Word("GROUP_ACK_MASK")
)

// Values of fields in place.
var (
	reduce, broadcast, barrier   = collect.Put("collective", 1), collect.Put("collective", 2), collect.Put("collective", 3)
	mins, maxs                   = collect.Put("op", 1), collect.Put("op", 2)
	fp32s, fp16s, bf16s, int32s  = collect.Put("dtype", 0), collect.Put("dtype", 1), collect.Put("dtype", 2), collect.Put("dtype", 3)
	bigEndian, inBand, rootSends = collect.Put("big_endian", 1), collect.Put("in_band", 1), collect.Put("root_sends", 1)
	valid, isHost, validParent   = ctrl.Put("valid", 1), ctrl.Put("host", 1), parent.Put("valid", 1)
)

// by is EP_CTRL's value for a port, endpoint is GROUP_PARENT's for an endpoint, without flags.
func by(port uint64) uint32    { return ctrl.Put("port", port) }
func endpoint(e uint64) uint32 { return parent.Put("endpoint", e) }

// way is the word in which a root rank's way stands; the bits of the others are those of rest.
func way(root int, rest, valid, endpoint uint32) map[int]uint32 {
	r := routes[root]
	return map[int]uint32{r.Word: r.In(rest, valid, endpoint)}
}

// frame is a header as the parser gives it.
type frame struct {
	Port                           uint64
	RoCEv2, PKeyOK, CE, SumOK      bool
	LenOK, TVerOK, SE, TooLong     bool
	QPN, SrcIP, DstIP, Opcode, Pad uint64
	PSN, Ext, PLen, Words          uint64
}

// entry is what CheckDuplicate must be told. Of a frame that is not ours, only Bypass has a meaning.
type entry struct {
	Bypass, Foreign, Host, Up, Down, Ackable bool
	SumOK, LenOK, TVerOK, TooLong, Whole     bool
	SE, CE, BigEndian, Empty                 bool
	InBand, RouteValid, RootSends            bool
	EI, Opcode, Pad, PSN, Ext, PLen, Words   uint64
	Base, Log2N, InMask, OutMask, ParentMask uint64
	AckMask, Collective, Function, DType     uint64
	RouteMask                                uint64
}

// decide is the plain model: rules 1 and 2 of docs/engine.md section 3, and the roles of rule 4.
func decide(p lookuptable.LookupTable, tb tables, foreignBypass bool, f frame) entry {
	ei := int(f.QPN) % (1 << p.EIW)
	e, g := ei%(1<<p.EPW), ei>>p.EPW
	ep := func(word int) uint32 { return tb.ep[[2]int{ei, word}] }
	grp := func(word int) uint32 { return tb.grp[[2]int{g, word}] }
	known := f.RoCEv2 && e < p.MaskW && g < p.Groups && ctrl.Is("valid", ep(epCtrl)) && uint64(qpn.Get(ep(epLocalQPN))) == f.QPN
	foreign := f.SrcIP != uint64(ep(epRemoteIP)) || f.DstIP != uint64(ep(epLocalIP)) || f.Port != ctrl.Get("port", ep(epCtrl)) || !f.PKeyOK
	if !known || (foreign && foreignBypass) {
		return entry{Bypass: true}
	}
	all := uint64(1)<<p.MaskW - 1
	bit := uint64(1) << e & all
	mask := func(word int) uint64 { return uint64(grp(word)) & all }
	parentMask := uint64(0)
	if parent.Is("valid", grp(grpParent)) {
		if n := parent.Get("endpoint", grp(grpParent)); n < 64 {
			parentMask = 1 << n & all
		}
	}
	set := grp(grpCollct)
	collective := collect.Get("collective", set)
	up, down := bit&mask(grpInMask) != 0, bit&parentMask != 0
	host := ctrl.Is("host", ep(epCtrl))
	ackable := bit&mask(grpAckMask) != 0
	switch collective {
	case 1: // Reduce
		down = false
	case 2: // Broadcast
		up = false
	default:
		ackable = ackable && host
	}
	dtype := collect.Get("dtype", set)
	whole := f.PLen%[]uint64{4, 2, 2, 4}[dtype] == 0 // FP32, FP16, BF16, INT32
	if collective == 3 {                             // Barrier
		whole = f.PLen == 0
	}
	out := entry{
		Foreign: foreign, Host: host, Up: up, Down: down && !up, Ackable: ackable,
		SumOK: f.SumOK, LenOK: f.LenOK, TVerOK: f.TVerOK, TooLong: f.TooLong, Whole: whole,
		SE: f.SE, CE: f.CE, BigEndian: collect.Is("big_endian", set), Empty: f.PLen == 0,
		EI: uint64(ei), Opcode: f.Opcode, Pad: f.Pad, PSN: f.PSN, Ext: f.Ext, PLen: f.PLen, Words: f.Words,
		Base: slots.Get("base", grp(grpSlots)) & (1<<p.SlotW - 1), Log2N: slots.Get("log2_n", grp(grpSlots)),
		InMask: mask(grpInMask), OutMask: mask(grpOutMask), ParentMask: parentMask,
		AckMask: mask(grpAckMask), Collective: collective, Function: collect.Get("op", set), DType: dtype,
	}
	if p.InBand != 0 {
		out.InBand, out.RootSends = collect.Is("in_band", set), collect.Is("root_sends", set)
		if route := routes[f.Ext>>20&31]; route.Valid.Get(grp(route.Word)) != 0 {
			out.RouteMask = 1 << route.Endpoint.Get(grp(route.Word)) & all
		}
		out.RouteValid = out.RouteMask != 0
	}
	return out
}

func seen(d *rig.Rig) entry {
	e := entry{
		Bypass: d.Is("ent_bypass"), Foreign: d.Is("ent_foreign"), Host: d.Is("ent_host"), Up: d.Is("ent_up"), Down: d.Is("ent_down"),
		Ackable: d.Is("ent_ackable"), SumOK: d.Is("ent_sum_ok"), LenOK: d.Is("ent_len_ok"), TVerOK: d.Is("ent_tver_ok"),
		TooLong: d.Is("ent_too_long"), Whole: d.Is("ent_whole"), SE: d.Is("ent_se"), CE: d.Is("ent_ce"), BigEndian: d.Is("ent_big_endian"),
		EI: d.Get("ent_ei"), Opcode: d.Get("ent_opcode"), Pad: d.Get("ent_pad"), PSN: d.Get("ent_psn"), Ext: d.Get("ent_ext"),
		PLen: d.Get("ent_plen"), Words: d.Get("ent_words"), Base: d.Get("ent_base"), Log2N: d.Get("ent_log2_n"),
		InMask: d.Get("ent_in_mask"), OutMask: d.Get("ent_out_mask"), ParentMask: d.Get("ent_parent_mask"),
		Function: d.Get("ent_function"), DType: d.Get("ent_dtype"), Collective: d.Get("ent_collective"), AckMask: d.Get("ent_ack_mask"),
		Empty: d.Is("ent_empty"), InBand: d.Is("ent_in_band"), RouteValid: d.Is("route_valid"), RouteMask: d.Get("route_mask"),
		RootSends: d.Is("root_sends"),
	}
	if e.Bypass {
		return entry{Bypass: true}
	}
	return e
}

// bench holds a table against the plain model, cycle by cycle.
type bench struct {
	p       lookuptable.LookupTable
	d       *rig.Rig
	r       *rand.Rand
	tb      tables
	latency uint64 // from hdr_valid to the head of the queue; 2

	foreignBypass bool
	bypassPort    []uint64
	waiting       []pending // headers given, entries not taken
	last, due     *pending  // the header sought in the cycle before, and in the one before that, for which fwd_* is due
	next          frame     // the header of the last, which comes now
	met           map[string]int

	read func() bool // whether the registers ask for a word
	get  struct {
		asks, got bool
		waited    int // cycles with a header meanwhile
		held      int // cycles in which room was low for it
		patience  int // after so many of them headers stop
		at        [2]int
		word      uint32
	}
	// with one port: a word that stands at the tables until it is taken
	put struct {
		stands   bool
		ep       bool // an endpoint's; else a group's
		waited   int  // cycles with a header
		patience int  // after so many of them headers stop
		at       [2]int
		value    uint32
	}
}

type pending struct {
	at   uint64
	port uint64
	want entry
}

func newBench(t *testing.T, lib *sim.Lib, p lookuptable.LookupTable, seed uint64) *bench {
	t.Helper()
	b := &bench{p: p, d: rig.New(t, lib, seed), r: rand.New(rand.NewPCG(seed, 1)), latency: 2, met: map[string]int{},
		tb: tables{ep: map[[2]int]uint32{}, grp: map[[2]int]uint32{}}}
	b.bypassPort = make([]uint64, p.Ports)
	for i := range b.bypassPort {
		b.bypassPort[i] = b.r.Uint64N(1 << p.PortW)
		b.d.Pin("cfg_bypass_port").SetBits(i*p.PortW, p.PortW, b.bypassPort[i])
	}
	for ei := range 1 << p.EIW {
		for word := range regs.Words {
			b.write(true, ei, word)
		}
	}
	for g := range 1 << (p.EIW - p.EPW) {
		for word := range regs.Words {
			b.write(false, g, word)
		}
	}
	return b
}

// draw is a word likely to be looked up: few addresses, mostly valid records.
func (b *bench) draw(ep bool, index, word int) uint32 {
	v := b.r.Uint32()
	if ep {
		switch word {
		case epCtrl:
			v = v&^ctrl.Bits("valid", "port") | by(uint64(b.r.IntN(b.p.Ports)))
			if b.r.IntN(8) != 0 {
				v |= valid
			}
		case epLocalQPN:
			if b.r.IntN(8) != 0 {
				v = v&^qpn.Mask() | qpn.Put(uint32(b.r.IntN(3))<<b.p.EIW|uint32(index))
			}
		case epLocalIP, epRemoteIP:
			v = uint32(b.r.IntN(2)) << 31
		}
	} else {
		switch word {
		case grpInMask:
			v &= b.r.Uint32()
		case grpParent:
			v = v&^parent.Bits("endpoint") | validParent | endpoint(b.r.Uint64N(1<<b.p.EPW))
			if b.r.IntN(4) == 0 {
				v &^= validParent
			}
			if b.r.IntN(16) == 0 {
				v |= endpoint(0x80) // far beyond the mask
			}
		case grpCollct:
			v = v&^collect.Bits("collective") | collect.Put("collective", []uint64{0, 1, 2, 3, b.r.Uint64N(8)}[b.r.IntN(5)])
		}
	}
	return v
}

// write sets a word.
func (b *bench) write(ep bool, index, word int) {
	v := b.draw(ep, index, word)
	if ep {
		b.tb.ep[[2]int{index, word}] = v
	} else {
		b.tb.grp[[2]int{index, word}] = v
	}
	b.d.SetBool("tbl_ep_we", ep)
	b.d.SetBool("tbl_grp_we", !ep)
	b.d.Set("tbl_index", uint64(index))
	b.d.Set("tbl_word", uint64(word))
	b.d.Set("tbl_data", uint64(v))
	b.d.Clock()
	b.d.Set("tbl_ep_we", 0)
	b.d.Set("tbl_grp_we", 0)
}

func (b *bench) header() frame {
	r, p := b.r, b.p
	coin := func() bool { return r.IntN(2) == 0 }
	f := frame{
		Port: uint64(r.IntN(p.Ports)), RoCEv2: r.IntN(8) != 0, PKeyOK: r.IntN(8) != 0, CE: coin(), SumOK: coin(), LenOK: coin(), TVerOK: coin(),
		SE: coin(), TooLong: coin(), SrcIP: uint64(r.IntN(2)) << 31, DstIP: uint64(r.IntN(2)) << 31, Opcode: r.Uint64N(256), Pad: r.Uint64N(4),
		PSN: r.Uint64N(1 << 24), Ext: r.Uint64N(1 << 32), PLen: r.Uint64N(1 << p.LenW), Words: r.Uint64N(1 << p.WordsW),
	}
	if r.IntN(3) == 0 {
		f.PLen = 0
	}
	f.QPN = uint64(r.IntN(3)<<p.EIW | r.IntN(1<<p.EIW))
	if r.IntN(2) == 0 { // a frame that finds everything right
		ei := int(f.QPN) % (1 << p.EIW)
		f.QPN = uint64(qpn.Get(b.tb.ep[[2]int{ei, epLocalQPN}]))
		ei = int(f.QPN) % (1 << p.EIW)
		f.RoCEv2, f.PKeyOK = true, true
		f.SrcIP, f.DstIP = uint64(b.tb.ep[[2]int{ei, epRemoteIP}]), uint64(b.tb.ep[[2]int{ei, epLocalIP}])
		f.Port = ctrl.Get("port", b.tb.ep[[2]int{ei, epCtrl}])
	}
	return f
}

func (b *bench) drive(f frame) {
	d := b.d
	for name, v := range map[string]bool{
		"rocev2": f.RoCEv2, "pkey_ok": f.PKeyOK, "ce": f.CE, "sum_ok": f.SumOK, "len_ok": f.LenOK, "tver_ok": f.TVerOK, "se": f.SE, "too_long": f.TooLong,
	} {
		d.SetBool("hdr_"+name, v)
	}
	for name, v := range map[string]uint64{
		"port": f.Port, "qpn": f.QPN, "src_ip": f.SrcIP, "dst_ip": f.DstIP, "opcode": f.Opcode, "pad": f.Pad, "psn": f.PSN, "ext": f.Ext,
		"plen": f.PLen, "words": f.Words,
	} {
		d.Set("hdr_"+name, v)
	}
}

// seek gives by what a header's records are found.
func (b *bench) seek(f frame) {
	b.d.Set("seek_qpn", f.QPN)
	b.d.Set("seek_root", f.Ext>>20&31)
}

// ask has the registers ask for a word now and then, and take it back once it came.
func (b *bench) ask() {
	g := &b.get
	if !g.asks && b.read != nil && b.read() {
		g.asks, g.waited, g.held, g.patience = true, 0, 0, b.r.IntN(8)
		ei, word := b.r.IntN(b.p.Groups)<<b.p.EPW|b.r.IntN(b.p.MaskW), []int{epCtrl, epLocalQPN}[b.r.IntN(2)]
		g.at = [2]int{ei, word}
		b.d.Set("get_index", uint64(ei))
		b.d.Set("get_word", uint64(word))
	}
	b.d.SetBool("get_valid", g.asks)
}

// change has a word written now and then while headers come.
func (b *bench) change() {
	p := &b.put
	if !p.stands && b.p.OnePort != 0 && b.read != nil && b.r.IntN(20) == 0 {
		p.stands, p.waited, p.patience = true, 0, b.r.IntN(8)
		p.ep = b.r.IntN(2) == 0
		index := b.p.EIW
		if !p.ep {
			index -= b.p.EPW
		}
		p.at = [2]int{b.r.IntN(1 << index), b.r.IntN(regs.Words)}
		p.value = b.draw(p.ep, p.at[0], p.at[1])
		b.d.Set("tbl_index", uint64(p.at[0]))
		b.d.Set("tbl_word", uint64(p.at[1]))
		b.d.Set("tbl_data", uint64(p.value))
	}
	b.d.SetBool("tbl_ep_we", p.stands && p.ep)
	b.d.SetBool("tbl_grp_we", p.stands && !p.ep)
}

// changed sees that the word is taken in the first cycle without a header.
func (b *bench) changed(given bool) error {
	p := &b.put
	if waits := b.d.Is("tbl_waits"); waits != (given && b.p.OnePort != 0) {
		return fmt.Errorf("tbl_waits is %t", waits)
	}
	switch {
	case p.stands && given:
		p.waited++
		b.met[map[bool]string{true: "a write waits", false: "a group's write waits"}[p.ep]]++
	case p.stands:
		if p.ep {
			b.tb.ep[p.at] = p.value
		} else {
			b.tb.grp[p.at] = p.value
		}
		p.stands, p.waited = false, 0
	}
	return nil
}

// answered sees that a word comes in the cycle after the first without a header or a write, and only then.
func (b *bench) answered(given bool) error {
	g := &b.get
	if b.d.Is("got") != g.got {
		return fmt.Errorf("got is %t", !g.got)
	}
	switch {
	case g.got:
		if v := b.d.Get("got_data"); v != uint64(g.word) {
			return fmt.Errorf("the registers got %#x, want %#x", v, g.word)
		}
		b.met["read"]++
		g.asks, g.got, g.waited = false, false, 0
		b.d.Set("get_valid", 0)
	case g.asks && given:
		if g.waited >= 15 {
			g.held++
		}
		if g.waited++; g.waited == 15 {
			b.met["read after a stop"]++
		}
	case g.asks:
		g.got, g.waited = true, 0
		g.word = b.tb.ep[g.at] & map[int]uint32{epCtrl: ctrl.Mask(), epLocalQPN: qpn.Mask()}[g.at[1]]
	}
	return nil
}

// cycle gives a header and takes an entry with the given chances in percent.
func (b *bench) cycle(give, take int) error {
	now := b.d.Now() + 1
	depth := 1 << b.p.DepthW
	queued := 0 // pushed a cycle ago or earlier
	for _, w := range b.waiting {
		if w.at+2 <= now {
			queued++
		}
	}
	g := &b.get
	b.ask()
	b.change()
	puts := b.put.stands
	holds := g.waited >= 15 || b.put.waited > 0
	room := queued < depth-8 && !holds
	f := b.header()
	given := len(b.waiting) < depth && b.r.IntN(100) < give && (g.waited < 15 || g.held < g.patience) && b.put.waited <= b.put.patience
	b.drive(b.next)
	b.d.SetBool("hdr_valid", b.last != nil)
	b.seek(f)
	b.d.SetBool("seek_valid", given)
	b.next = f
	valid := len(b.waiting) > 0 && b.waiting[0].at+b.latency <= now
	pop := valid && b.r.IntN(100) < take
	b.d.SetBool("ent_pop", pop)
	b.d.SetBool("cfg_foreign_bypass", b.foreignBypass)
	b.d.Clock()

	if err := errors.Join(b.answered(given || puts), b.changed(given)); err != nil {
		return fmt.Errorf("cycle %d: %w", now, err)
	}
	if b.d.Is("fwd_valid") != (b.due != nil) {
		return fmt.Errorf("cycle %d: fwd_valid is %t", now, b.d.Is("fwd_valid"))
	}
	if b.due != nil {
		if got := b.d.Is("fwd_bypass"); got != b.due.want.Bypass {
			return fmt.Errorf("cycle %d: fwd_bypass is %t", now, got)
		}
		if got := b.d.Get("fwd_port"); got != b.bypassPort[b.due.port] {
			return fmt.Errorf("cycle %d: fwd_port is %d, want %d", now, got, b.bypassPort[b.due.port])
		}
	}
	if b.d.Is("room") != room {
		return fmt.Errorf("cycle %d: room is %t with %d entries", now, b.d.Is("room"), queued)
	}
	if b.d.Is("ent_valid") != valid {
		return fmt.Errorf("cycle %d: ent_valid is %t, want %t", now, b.d.Is("ent_valid"), valid)
	}
	if valid {
		if d := cmp.Diff(b.waiting[0].want, seen(b.d)); d != "" {
			return fmt.Errorf("cycle %d: entry (-want +got):\n%s", now, d)
		}
	}
	if pop {
		b.waiting = b.waiting[1:]
	}
	b.due, b.last = b.last, nil
	if given {
		w := pending{now, f.Port, decide(b.p, b.tb, b.foreignBypass, f)}
		b.last = &w
		b.waiting = append(b.waiting, w)
		for name, is := range map[string]bool{
			"bypass": w.want.Bypass, "ours": !w.want.Bypass && !w.want.Foreign, "foreign": w.want.Foreign, "up": w.want.Up, "down": w.want.Down,
			"ackable": w.want.Ackable, "ackable, no host": w.want.Ackable && !w.want.Host, "in-band": w.want.InBand, "root sends": w.want.RootSends,
			"routed": w.want.RouteValid, "Reduce": w.want.Collective == 1 && w.want.Up, "Broadcast": w.want.Collective == 2 && w.want.Down, "no role": !w.want.Bypass && !w.want.Up && !w.want.Down, "not whole": !w.want.Bypass && !w.want.Whole,
			"an odd number of halves": w.want.Whole && w.want.PLen%4 == 2,
		} {
			if is {
				b.met[name]++
			}
		}
	}
	if !room {
		b.met["no room"]++
	}
	return nil
}

// run alternates traffic with changes to the tables: at quiet times, as the contract of the control plane has it.
func (b *bench) run(rounds int) error {
	for range rounds {
		b.foreignBypass = b.r.IntN(3) == 0
		b.read = func() bool { return b.r.IntN(10) == 0 }
		for _, chance := range [][2]int{{100, 100}, {50, 50}, {100, 10}, {10, 100}, {100, 0}, {0, 100}} {
			for range 40 {
				if err := b.cycle(chance[0], chance[1]); err != nil {
					return err
				}
			}
		}
		b.read = nil
		for b.get.asks || b.put.stands || b.last != nil || b.due != nil {
			if err := b.cycle(0, 100); err != nil {
				return err
			}
		}
		for range 20 {
			b.write(true, b.r.IntN(1<<b.p.EIW), b.r.IntN(regs.Words))
			b.write(false, b.r.IntN(1<<(b.p.EIW-b.p.EPW)), b.r.IntN(regs.Words))
		}
	}
	return nil
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]lookuptable.LookupTable{"small": small(), "single": single(), "fixed": fixed(), "one port": onePort()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			met := map[string]int{}
			for seed := range uint64(3) {
				b := newBench(t, lib, p, seed)
				require.NoError(t, b.run(25))
				for k, n := range b.met {
					met[k] += n
				}
			}
			for _, k := range []string{"bypass", "ours", "foreign", "up", "down", "ackable", "ackable, no host", "Reduce", "Broadcast", "no role", "not whole",
				"an odd number of halves", "no room", "read", "read after a stop"} {
				require.Greater(t, met[k], 20, k)
			}
			require.Equal(t, p.OnePort != 0, met["a write waits"] > 20)
			require.Equal(t, p.OnePort != 0, met["a group's write waits"] > 20)
			for _, k := range []string{"in-band", "root sends", "routed"} {
				require.Equal(t, p.InBand != 0, met[k] > 20, k)
			}
			b := newBench(t, lib, p, 0)
			b.latency = 3
			require.ErrorContains(t, b.run(1), "ent_valid is true, want false", "a latency one too long must be found")
		})
	}
}

// TestEveryField changes one thing at a time and sees what it changes; a frame that finds its record is the starting point.
func TestEveryField(t *testing.T) {
	t.Parallel()
	p := small()
	lib := rig.Lib(t, p)
	right := frame{Port: 1, RoCEv2: true, PKeyOK: true, SumOK: true, LenOK: true, TVerOK: true, QPN: 0xABC00 | 1<<3 | 2, SrcIP: 0x0A000001, DstIP: 0x0A000002, Opcode: 4, PLen: 8, Words: 1}
	cases := map[string]struct {
		frame   func(f *frame)
		ep, grp map[int]uint32
		foreign bool // CTRL.foreign_bypass
		want    func(e *entry)
	}{
		"right":                {want: func(*entry) {}},
		"not RoCEv2":           {frame: func(f *frame) { f.RoCEv2 = false }, want: func(e *entry) { *e = entry{Bypass: true} }},
		"no record":            {ep: map[int]uint32{epCtrl: isHost | by(1)}, want: func(e *entry) { *e = entry{Bypass: true} }},
		"another QPN's high":   {frame: func(f *frame) { f.QPN ^= 1 << 23 }, want: func(e *entry) { *e = entry{Bypass: true} }},
		"source":               {frame: func(f *frame) { f.SrcIP ^= 1 }, want: func(e *entry) { e.Foreign = true }},
		"destination":          {frame: func(f *frame) { f.DstIP ^= 1 << 31 }, want: func(e *entry) { e.Foreign = true }},
		"port":                 {frame: func(f *frame) { f.Port = 2 }, want: func(e *entry) { e.Foreign = true }},
		"port beyond all":      {ep: map[int]uint32{epCtrl: valid | isHost | by(0x81)}, want: func(e *entry) { e.Foreign = true }},
		"P_Key":                {frame: func(f *frame) { f.PKeyOK = false }, want: func(e *entry) { e.Foreign = true }},
		"foreign and bypassed": {frame: func(f *frame) { f.SrcIP ^= 2 }, foreign: true, want: func(e *entry) { *e = entry{Bypass: true} }},
		"right and bypassing":  {foreign: true, want: func(*entry) {}},
		"not a host":           {ep: map[int]uint32{epCtrl: valid | by(1)}, want: func(e *entry) { e.Host, e.Ackable = false, false }},
		"not in ack_mask":      {grp: map[int]uint32{grpAckMask: 0x3B}, want: func(e *entry) { e.AckMask, e.Ackable = 0x3B, false }},
		"child and parent":     {grp: map[int]uint32{grpParent: validParent | endpoint(2)}, want: func(e *entry) { e.ParentMask = 4 }},
		"parent":               {grp: map[int]uint32{grpParent: validParent | endpoint(2), grpInMask: 0x3B}, want: func(e *entry) { e.ParentMask, e.InMask, e.Up, e.Down = 4, 0x3B, false, true }},
		"parent not valid":     {grp: map[int]uint32{grpParent: endpoint(2), grpInMask: 0x3B}, want: func(e *entry) { e.InMask, e.Up = 0x3B, false }},
		"parent 66":            {grp: map[int]uint32{grpParent: validParent | endpoint(0x42), grpInMask: 0x3B}, want: func(e *entry) { e.InMask, e.Up = 0x3B, false }},
		"half a word, INT32":   {frame: func(f *frame) { f.PLen = 6 }, want: func(e *entry) { e.PLen, e.Whole = 6, false }},
		"half a word, FP32":    {frame: func(f *frame) { f.PLen = 6 }, grp: map[int]uint32{grpCollct: fp32s}, want: func(e *entry) { e.PLen, e.DType, e.Whole = 6, 0, false }},
		"half a word, FP16":    {frame: func(f *frame) { f.PLen = 6 }, grp: map[int]uint32{grpCollct: fp16s}, want: func(e *entry) { e.PLen, e.DType = 6, 1 }},
		"half a word, BF16":    {frame: func(f *frame) { f.PLen = 6 }, grp: map[int]uint32{grpCollct: bf16s}, want: func(e *entry) { e.PLen, e.DType = 6, 2 }},
		"odd length, FP16":     {frame: func(f *frame) { f.PLen = 7 }, grp: map[int]uint32{grpCollct: fp16s}, want: func(e *entry) { e.PLen, e.DType, e.Whole = 7, 1, false }},
		"odd length, BF16":     {frame: func(f *frame) { f.PLen = 9 }, grp: map[int]uint32{grpCollct: bf16s}, want: func(e *entry) { e.PLen, e.DType, e.Whole = 9, 2, false }},
		"FP16 in a Barrier":    {frame: func(f *frame) { f.PLen = 2 }, grp: map[int]uint32{grpCollct: fp16s | barrier}, want: func(e *entry) { e.PLen, e.DType, e.Collective, e.Whole = 2, 1, 3, false }},
		"MIN":                  {grp: map[int]uint32{grpCollct: int32s | mins}, want: func(e *entry) { e.Function = 1 }},
		"MAX":                  {grp: map[int]uint32{grpCollct: int32s | maxs}, want: func(e *entry) { e.Function = 2 }},
		"Barrier":              {grp: map[int]uint32{grpCollct: int32s | barrier}, want: func(e *entry) { e.Collective, e.Whole = 3, false }},
		"empty Barrier":        {frame: func(f *frame) { f.PLen = 0 }, grp: map[int]uint32{grpCollct: int32s | barrier}, want: func(e *entry) { e.PLen, e.Empty, e.Collective = 0, true, 3 }},
		"big endian":           {grp: map[int]uint32{grpCollct: int32s | bigEndian}, want: func(e *entry) { e.BigEndian = true }},
		"Reduce":               {grp: map[int]uint32{grpCollct: int32s | reduce}, want: func(e *entry) { e.Collective = 1 }},
		"Reduce, parent": {grp: map[int]uint32{grpCollct: int32s | reduce, grpParent: validParent | endpoint(2), grpInMask: 0x3B},
			want: func(e *entry) { e.Collective, e.ParentMask, e.InMask, e.Up = 1, 4, 0x3B, false }},
		"Reduce, parent and child": {grp: map[int]uint32{grpCollct: int32s | reduce, grpParent: validParent | endpoint(2)}, want: func(e *entry) { e.Collective, e.ParentMask = 1, 4 }},
		"Reduce, not a host":       {ep: map[int]uint32{epCtrl: valid | by(1)}, grp: map[int]uint32{grpCollct: int32s | reduce}, want: func(e *entry) { e.Collective, e.Host = 1, false }},
		"Reduce, not in ack_mask":  {grp: map[int]uint32{grpCollct: int32s | reduce, grpAckMask: 0x3B}, want: func(e *entry) { e.Collective, e.AckMask, e.Ackable = 1, 0x3B, false }},
		"Broadcast":                {grp: map[int]uint32{grpCollct: int32s | broadcast}, want: func(e *entry) { e.Collective, e.Up = 2, false }},
		"Broadcast, parent":        {grp: map[int]uint32{grpCollct: int32s | broadcast, grpParent: validParent | endpoint(2)}, want: func(e *entry) { e.Collective, e.ParentMask, e.Up, e.Down = 2, 4, false, true }},
		"Broadcast, not a host":    {ep: map[int]uint32{epCtrl: valid | by(1)}, grp: map[int]uint32{grpCollct: int32s | broadcast}, want: func(e *entry) { e.Collective, e.Up, e.Host = 2, false, false }},
		"in-band":                  {grp: map[int]uint32{grpCollct: int32s | inBand}, want: func(e *entry) { e.InBand = true }},
		"root sends":               {grp: map[int]uint32{grpCollct: int32s | rootSends}, want: func(e *entry) { e.RootSends = true }},
		"root 0":                   {grp: way(0, ^uint32(0), 1, 5), want: func(e *entry) { e.RouteValid, e.RouteMask = true, 1<<5 }},
		"root 0, not valid":        {grp: way(0, ^uint32(0), 0, 5), want: func(*entry) {}},
		"root 9":                   {frame: func(f *frame) { f.Ext = 0x4 + 9<<20 }, grp: way(9, ^uint32(0), 1, 2), want: func(e *entry) { e.Ext, e.RouteValid, e.RouteMask = 4+9<<20, true, 1<<2 }},
		"root 31":                  {frame: func(f *frame) { f.Ext = 31 << 20 }, grp: way(31, 0, 1, 0), want: func(e *entry) { e.Ext, e.RouteValid, e.RouteMask = 31<<20, true, 1 }},
		"root behind no endpoint":  {grp: way(0, 0, 1, 31), want: func(*entry) {}},
		"out_mask":                 {grp: map[int]uint32{grpOutMask: 0xFFFFFFD5}, want: func(e *entry) { e.OutMask = 0x15 }},
		"slots":                    {grp: map[int]uint32{grpSlots: ^slots.Bits("base") | slots.Put("base", 0xFFFFA5)}, want: func(e *entry) { e.Base, e.Log2N = 0x25, 31 }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rig.New(t, lib, 3)
			b := &bench{p: p, d: d}
			ep := map[int]uint32{epCtrl: valid | isHost | by(1), epLocalQPN: uint32(right.QPN), epLocalIP: uint32(right.DstIP), epRemoteIP: uint32(right.SrcIP)}
			grp := map[int]uint32{grpSlots: slots.Put("base", 0x10) | slots.Put("log2_n", 3), grpInMask: 0x3F, grpOutMask: 0x1E, grpAckMask: 0x3F, grpParent: 0, grpCollct: int32s}
			for _, r := range routes {
				grp[r.Word] = 0
			}
			for _, m := range []struct {
				we, index      string
				base, override map[int]uint32
			}{{"tbl_ep_we", "10", ep, c.ep}, {"tbl_grp_we", "1", grp, c.grp}} {
				index := uint64(10) // endpoint 2 of group 1
				if m.we == "tbl_grp_we" {
					index = 1
				}
				for word, v := range m.base {
					if o, ok := m.override[word]; ok {
						v = o
					}
					d.Set(m.we, 1)
					d.Set("tbl_index", index)
					d.Set("tbl_word", uint64(word))
					d.Set("tbl_data", uint64(v))
					d.Clock()
				}
				d.Set(m.we, 0)
			}
			f := right
			if c.frame != nil {
				c.frame(&f)
			}
			want := entry{
				Host: true, Up: true, Ackable: true, SumOK: true, LenOK: true, TVerOK: true, Whole: true,
				EI: 10, Opcode: 4, PLen: 8, Words: 1, Base: 0x10, Log2N: 3, InMask: 0x3F, OutMask: 0x1E, AckMask: 0x3F, DType: 3,
			}
			c.want(&want)
			d.SetBool("cfg_foreign_bypass", c.foreign)
			b.seek(f)
			d.Set("seek_valid", 1)
			d.Clock()
			d.Set("seek_valid", 0)
			b.drive(f)
			d.Set("hdr_valid", 1)
			d.Clock()
			d.Set("hdr_valid", 0)
			d.Clock()
			require.True(t, d.Is("fwd_valid"))
			require.Equal(t, want.Bypass, d.Is("fwd_bypass"))
			require.True(t, d.Is("ent_valid"))
			require.Empty(t, cmp.Diff(want, seen(d)))
		})
	}
}
