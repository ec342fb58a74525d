// SPDX-License-Identifier: Apache-2.0

package messagecsr_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/messagecsr"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

// three has three groups of up to five endpoints in tables of four groups of eight.
func three() messagecsr.MessageCSR {
	return with(func(p *messagecsr.MessageCSR) { p.Groups, p.EIW = 3, 5 })
}

// registers is the map of an engine like three, by name.
func registers(t *testing.T) map[string]contract.Register {
	m, err := contract.NewModel(contract.Params{Name: "t", Mode: 1, BusBytes: 8, Lanes: 2, DTypes: []string{"INT32"}, Ops: []string{"SUM"}, Accumulate: contract.InPlace,
		BufferBytes: 65536, Groups: 3, Members: 4, Ports: 3, MTUBytes: 1024, WindowPackets: 4, MessageBytes: 4096, WindowMessages: 2, NoReleases: true, HopRTTNS: 2000, ClockMHz: 250})
	require.NoError(t, err)
	all := map[string]contract.Register{}
	for _, r := range m.Registers {
		all[r.Name] = r
	}
	return all
}

// word is a word of a table on its way.
type word struct {
	Index, Number int
	Data          uint32
}

// bench is the module between a master and what stands for inc_csr, with a model of all that it keeps.
type bench struct {
	*rig.Rig
	t      *testing.T
	p      messagecsr.MessageCSR
	rng    *rand.Rand
	master *axil.Master
	regs   map[string]contract.Register

	// what registers are to hold
	ackEvery          uint32
	messages, release []uint32
	words             map[[2]int]uint32 // of endpoints, by index and number
	judged            map[[2]int]uint32 // those of path MTUs, two cycles behind the word
	written           [][2]int          // words that are not judged yet
	in, out           []uint64
	parent            []int // −1: none
	started           []bool
	refusedLast       []bool // of the start that was the last
	refusesNow        uint64

	// what stands for inc_csr
	took            int  // cycles that it takes
	quick           bool // nothing else waits
	writes, reads   *doing
	seenWords       []word
	passed          []access // what came to it since the last look
	busy            bool     // groups start
	own             *own     // the write at hand
	half            int      // of address and data of that those that were taken
	taken, answered uint64   // cycles of the access at hand
	met             map[bool]int
}

// own is a write, and what it is to do.
type own struct {
	name   string // of the register, if it is here
	i      int
	value  uint32
	strobe uint8
	taken  uint64 // cycle in which address and data are both there
	ok     bool
	out    []word
}

// access is one that went on to inc_csr.
type access struct {
	Addr   uint64
	Data   uint32
	Strobe uint64
}

// doing is an access that inc_csr has not answered yet.
type doing struct {
	access
	due   uint64
	aw, w bool
}

func newBench(t *testing.T, lib *sim.Lib, p messagecsr.MessageCSR, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), t: t, p: p, rng: rand.New(rand.NewPCG(seed, 5)), regs: registers(t), words: map[[2]int]uint32{}, judged: map[[2]int]uint32{}, took: 4, quick: true, met: map[bool]int{},
		messages: make([]uint32, p.Groups), release: make([]uint32, p.Groups), in: make([]uint64, p.Groups), out: make([]uint64, p.Groups), parent: make([]int, p.Groups),
		started: make([]bool, p.Groups), refusedLast: make([]bool, p.Groups)}
	b.ackEvery = b.regs["ACK_EVERY"].Reset
	var err error
	b.master, err = axil.New(b.Model, "s_axil")
	require.NoError(t, err)
	b.OnDrive(b.drive)
	b.OnSample(b.sample)
	require.NoError(t, b.ResetFor(2))
	for ei := range 1 << p.EIW { // as inc_csr clears them
		for n := range 16 {
			b.table(true, word{Index: ei, Number: n})
		}
	}
	for g := range p.Groups {
		b.masks(g, 0, 0, -1)
	}
	b.SetBool("ready", true)
	return b
}

// table sends a word of a table, as inc_csr does.
func (b *bench) table(endpoint bool, w word) {
	b.SetBool("tbl_ep_we", endpoint)
	b.SetBool("tbl_grp_we", !endpoint)
	b.Set("tbl_index", uint64(w.Index))
	b.Set("tbl_word", uint64(w.Number))
	b.Set("tbl_data", uint64(w.Data))
	b.Clock()
	if endpoint {
		b.words[[2]int{w.Index, w.Number}] = w.Data & b.bits(w.Number)
	}
	b.SetBool("tbl_ep_we", false)
	b.SetBool("tbl_grp_we", false)
}

// masks sends those of a group.
func (b *bench) masks(g int, in, out uint64, parent int) {
	b.table(false, word{Index: g, Number: regs.Word("GROUP_IN_MASK"), Data: uint32(in)})
	b.in[g] = in
	b.table(false, word{Index: g, Number: regs.Word("GROUP_OUT_MASK"), Data: uint32(out)})
	b.out[g] = out
	var data uint32
	if parent >= 0 {
		data = regs.Of("GROUP_PARENT").Put("valid", 1) | regs.Of("GROUP_PARENT").Put("endpoint", uint64(parent))
	}
	b.table(false, word{Index: g, Number: regs.Word("GROUP_PARENT"), Data: data})
	b.parent[g] = parent
}

// bits are those of a word of an endpoint that are kept here.
func (b *bench) bits(number int) uint32 {
	for _, name := range []string{"EP_RQ_PSN", "EP_SQ_PSN", "EP_PATH_MTU"} {
		if r := b.regs[name]; int(r.Offset-b.regs["EP_CTRL"].Offset)/4 == number {
			return r.Mask()
		}
	}
	return 0
}

// answerOf is what stands for inc_csr says of an address.
func answerOf(addr uint64) (data uint32, resp uint64) {
	if addr != 0 && addr>>2%7 == 5 {
		resp = axil.SLVERR
	}
	return uint32(addr*2654435761) ^ 0x5A5A5A5A, resp
}

// drive is what stands for inc_csr, and what other blocks do.
func (b *bench) drive() {
	ready := b.quick || b.rng.IntN(3) > 0
	b.SetBool("m_axil_awready", ready && (b.writes == nil || !b.writes.aw))
	b.SetBool("m_axil_wready", ready && (b.writes == nil || !b.writes.w))
	b.SetBool("m_axil_arready", ready && b.reads == nil)
	b.SetBool("m_axil_bvalid", b.writes != nil && b.writes.aw && b.writes.w && b.Now()+1 >= b.writes.due)
	b.SetBool("m_axil_rvalid", b.reads != nil && b.Now()+1 >= b.reads.due)
	if f := b.writes; f != nil {
		_, resp := answerOf(f.Addr)
		b.Set("m_axil_bresp", resp)
	}
	if f := b.reads; f != nil {
		data, resp := answerOf(f.Addr)
		b.Set("m_axil_rdata", uint64(data))
		b.Set("m_axil_rresp", resp)
	}
	starts := uint64(0)
	if b.busy && b.rng.IntN(8) == 0 {
		starts = b.rng.Uint64N(1 << b.p.Groups)
	}
	b.Set("grp_start", starts)
	b.Set("in_refused", b.rng.Uint64N(1<<b.p.Groups))
	b.Set("in_overlap", b.rng.Uint64N(1<<b.p.Groups))
}

// illegal tells whether a group may not start.
func (b *bench) illegal(g int) bool {
	tree := b.in[g] | b.out[g]
	if b.parent[g] >= 0 {
		tree |= 1 << b.parent[g]
	}
	bad := b.messages[g]&2 != 0
	for e := range b.p.MaskW {
		switch mtu := b.judged[[2]int{g<<b.p.EPW | e, 12}]; mtu {
		case 256, 512, 1024:
		default:
			bad = bad || tree>>e&1 != 0
		}
	}
	return bad
}

// sample sees what leaves in a cycle.
func (b *bench) sample() {
	if b.Is("rst") {
		return
	}
	if b.Is("out_ep_we") {
		if b.own != nil && b.own.name != "" {
			require.Equal(b.t, b.own.taken+3, b.Now(), "in the cycle before the answer")
		}
		b.seenWords = append(b.seenWords, word{int(b.Get("out_index")), int(b.Get("out_word")), uint32(b.Get("out_data"))})
	}
	b.groups()
	for _, at := range b.written {
		b.judged[at] = b.words[at]
	}
	b.written = b.written[:0]
	if b.Is("m_axil_bvalid") && b.Is("m_axil_bready") {
		b.passed, b.writes = append(b.passed, b.writes.access), nil
	}
	if b.Is("m_axil_rvalid") && b.Is("m_axil_rready") {
		b.passed, b.reads = append(b.passed, b.reads.access), nil
	}
	b.request()
	b.takes()
}

// takes sees the access at hand begin and end, and does what a write of a register that is here means, in its cycle.
func (b *bench) takes() {
	if b.Is("s_axil_arvalid") && b.Is("s_axil_arready") {
		b.taken = b.Now()
	}
	for _, channel := range []string{"s_axil_aw", "s_axil_w"} {
		if b.Is(channel+"valid") && b.Is(channel+"ready") {
			b.half++
			b.own.taken = b.Now()
		}
	}
	if w := b.own; w != nil && w.name != "" && b.half == 2 && b.Now() == w.taken+3 {
		w.ok, w.out = b.expectWrite(w.name, w.i, w.value, w.strobe)
	}
	if b.Is("s_axil_bvalid") && b.Is("s_axil_bready") || b.Is("s_axil_rvalid") && b.Is("s_axil_rready") {
		b.answered = b.Now()
	}
}

// request takes what comes to what stands for inc_csr.
func (b *bench) request() {
	aw, w := b.Is("m_axil_awvalid") && b.Is("m_axil_awready"), b.Is("m_axil_wvalid") && b.Is("m_axil_wready")
	if (aw || w) && b.writes == nil {
		b.writes = &doing{}
	}
	if f := b.writes; aw {
		f.Addr, f.aw, f.due = b.Get("m_axil_awaddr"), true, b.Now()+uint64(b.took)
	}
	if f := b.writes; w {
		f.Data, f.Strobe, f.w, f.due = uint32(b.Get("m_axil_wdata")), b.Get("m_axil_wstrb"), true, b.Now()+uint64(b.took)
	}
	if b.Is("m_axil_arvalid") && b.Is("m_axil_arready") {
		b.reads = &doing{access: access{Addr: b.Get("m_axil_araddr")}, due: b.Now() + uint64(b.took)}
	}
}

// groups holds refusals and what stands in settings against the model.
func (b *bench) groups() {
	var whole, refused, overlap uint64
	starts := b.Get("grp_start")
	for g := range b.p.Groups {
		whole |= uint64(b.messages[g]&1) << g
		if !b.refusedLast[g] {
			overlap |= 1 << g
		}
	}
	refused = b.Get("in_refused") | b.refusesNow
	got := []uint64{b.Get("grp_refused"), b.Get("cfg_ack_every")}
	require.Equal(b.t, []uint64{refused, uint64(b.ackEvery)}, got, "cycle %d: refused, ACK_EVERY", b.Now())
	require.Equal(b.t, whole, b.Get("grp_whole"))
	for g := range b.p.Groups {
		if b.started[g] { // before its first start nobody asks
			require.Equal(b.t, (b.Get("in_overlap")&overlap)>>g&1, b.Get("grp_overlap")>>g&1, "cycle %d: overlap of group %d", b.Now(), g)
		}
	}
	b.refusesNow = 0
	for g := range b.p.Groups {
		if starts>>g&1 == 0 {
			continue
		}
		b.started[g], b.refusedLast[g] = true, b.illegal(g)
		if b.met[b.refusedLast[g]]++; b.refusedLast[g] {
			b.refusesNow |= 1 << g
		}
	}
}

// place is a register that is here, and which element; "" for what is inc_csr's.
func (b *bench) place(addr uint64) (name string, i int) {
	addr &^= 3
	for _, name := range []string{"PARAM_MODE", "PARAM_MESSAGE_BYTES", "PARAM_WINDOW_MESSAGES", "ACK_EVERY", "GROUP_MESSAGES", "GROUP_RELEASE", "GROUP_REFUSED",
		"EP_RQ_PSN", "EP_SQ_PSN", "EP_PATH_MTU"} {
		r := b.regs[name]
		size := r.Size()
		if r.Index == "ei" {
			size = b.p.Groups << b.p.EPW
		}
		for i := range size {
			if uint64(r.At(i)) == addr {
				return name, i
			}
		}
	}
	return "", 0
}

// group is the one that an element is of.
func (b *bench) group(name string, i int) int {
	if b.regs[name].Index == "ei" {
		return i >> b.p.EPW
	}
	return i
}

// expectWrite does what a write of a register that is here means, and says whether it is answered OKAY and what goes out on the tables.
func (b *bench) expectWrite(name string, i int, v uint32, strobe uint8) (ok bool, out []word) {
	r := b.regs[name]
	settings := name == "GROUP_MESSAGES" || name == "GROUP_RELEASE" || r.Index == "ei"
	if strobe != 0xF || settings && b.Get("grp_enable")>>b.group(name, i)&1 != 0 {
		return false, nil
	}
	switch v &= r.Mask(); {
	case name == "ACK_EVERY":
		b.ackEvery = v
	case name == "GROUP_MESSAGES":
		b.messages[i] = v
	case name == "GROUP_RELEASE":
		b.release[i] = v
	case r.Index == "ei" && i&(1<<b.p.EPW-1) < b.p.MaskW:
		w := word{Index: i, Number: int(r.Offset-b.regs["EP_CTRL"].Offset) / 4, Data: v}
		b.words[[2]int{w.Index, w.Number}] = v
		b.written = append(b.written, [2]int{w.Index, w.Number})
		out = []word{w}
	}
	return true, out
}

// value is what a register that is here reads.
func (b *bench) value(name string, i int) uint32 {
	switch r := b.regs[name]; {
	case name == "PARAM_MODE":
		return 1
	case name == "PARAM_MESSAGE_BYTES":
		return uint32(b.p.MessageBytes)
	case name == "PARAM_WINDOW_MESSAGES":
		return uint32(b.p.Window)
	case name == "ACK_EVERY":
		return b.ackEvery
	case name == "GROUP_MESSAGES":
		return b.messages[i]
	case name == "GROUP_RELEASE":
		return b.release[i]
	case name == "GROUP_REFUSED":
		return uint32(b.Get("grp_invalid") >> (i * b.p.MaskW) & (1<<b.p.MaskW - 1))
	case i&(1<<b.p.EPW-1) >= b.p.MaskW:
		return 0
	default:
		return b.words[[2]int{i, int(r.Offset-b.regs["EP_CTRL"].Offset) / 4}]
	}
}

// address draws one of every kind, or any.
func (b *bench) address() uint64 {
	names := []string{"PARAM_MODE", "PARAM_MESSAGE_BYTES", "PARAM_WINDOW_MESSAGES", "ACK_EVERY", "GROUP_MESSAGES", "GROUP_RELEASE", "GROUP_REFUSED", "EP_RQ_PSN", "EP_SQ_PSN",
		"EP_PATH_MTU", "EP_PATH_MTU", "COUNTER", "COUNTER_HIGH", "COUNTER_SNAPSHOT", "EP_CTRL", "GROUP_SLOTS"}
	switch k := b.rng.IntN(len(names) + 2); {
	case k < len(names):
		r := b.regs[names[k]]
		return uint64(r.Offset) + uint64(b.rng.IntN(r.Size()+2))*uint64(r.Stride) + uint64(b.rng.IntN(4))
	default:
		return b.rng.Uint64N(1 << b.p.AxilW)
	}
}

// okay tells whether an access was answered OKAY; another error ends the test.
func (b *bench) okay(err error) bool {
	var refused *axil.ResponseError
	if err != nil && !errors.As(err, &refused) {
		require.NoError(b.t, err)
	}
	return err == nil
}

// write writes anywhere, and checks what came of it and when.
func (b *bench) write(addr uint64, v uint32, strobe uint8) (name string, ok bool) {
	name, i := b.place(addr)
	b.passed, b.seenWords, b.half = nil, nil, 0
	b.own = &own{name: name, i: i, value: v, strobe: strobe}
	got := b.okay(b.master.WriteRegStrobe(addr, v, strobe))
	w := b.own
	b.own = nil
	if latency := int(b.answered - w.taken); name != "" && (latency < 4 || b.quick && latency != 4) || name == "" && latency < b.took+4 || name == "" && b.quick && latency != 8 {
		b.t.Fatalf("write to %#x (%s): answered after %d cycles", addr, name, latency)
	}
	if name == "" {
		_, resp := answerOf(addr)
		w.ok = resp == axil.OKAY
		require.Equal(b.t, []access{{Addr: addr, Data: v, Strobe: uint64(strobe)}}, b.passed)
	} else {
		require.Empty(b.t, b.passed, "%s goes no further", name)
	}
	require.Equal(b.t, w.ok, got, "write of %#x to %#x (%s), strobes %#x", v, addr, name, strobe)
	require.Equal(b.t, w.out, b.seenWords, "write of %#x to %#x (%s)", v, addr, name)
	return name, got
}

// read reads anywhere, and checks what came of it and when.
func (b *bench) read(addr uint64) (name string) {
	name, i := b.place(addr)
	b.passed = nil
	got, err := b.master.ReadReg(addr)
	ok := b.okay(err)
	if latency := int(b.answered - b.taken); latency < b.took+4 || b.quick && latency != 8 {
		b.t.Fatalf("read of %#x (%s): answered after %d cycles", addr, name, latency)
	}
	if name != "" {
		require.True(b.t, ok, "read of %#x (%s)", addr, name)
		require.Equal(b.t, b.value(name, i), got, "read of %#x (%s)", addr, name)
		return name
	}
	want, resp := answerOf(addr)
	require.Equal(b.t, resp == axil.OKAY, ok, "read of %#x", addr)
	if ok {
		require.Equal(b.t, want, got, "read of %#x", addr)
	}
	require.Equal(b.t, []access{{Addr: addr}}, b.passed)
	return name
}

// step does something.
func (b *bench) step(met map[string]int) {
	switch b.rng.IntN(8) {
	case 0:
		g := b.rng.IntN(b.p.Groups)
		b.masks(g, b.rng.Uint64N(1<<b.p.MaskW)&b.rng.Uint64(), b.rng.Uint64N(1<<b.p.MaskW)&b.rng.Uint64(), b.rng.IntN(b.p.MaskW+1)-1)
	case 1:
		b.Set("grp_enable", b.rng.Uint64N(1<<b.p.Groups))
		b.Set("grp_invalid", b.rng.Uint64N(1<<(b.p.Groups*b.p.MaskW)))
	case 2: // a word of inc_csr's goes through
		w := word{Index: b.rng.IntN(1 << b.p.EIW), Number: b.rng.IntN(10), Data: b.rng.Uint32()}
		b.seenWords = nil
		b.table(true, w)
		require.Equal(b.t, []word{w}, b.seenWords)
	case 3, 4:
		met["read "+b.read(b.address())]++
	default:
		addr, v, strobe := b.address(), b.rng.Uint32(), uint8(0xF)
		if b.rng.IntN(8) == 0 {
			strobe = uint8(b.rng.IntN(16))
		}
		if name, _ := b.place(addr); name == "EP_PATH_MTU" && b.rng.IntN(8) > 0 {
			v = []uint32{256, 512, 1024, 1024, 256, 128, 2048, 768, 0}[b.rng.IntN(9)]
		} else if name == "GROUP_MESSAGES" && b.rng.IntN(4) > 0 {
			v &^= 2 // or nothing would start
		}
		name, ok := b.write(addr, v, strobe)
		met[map[bool]string{true: "written ", false: "refused "}[ok]+name]++
	}
}

// TestRandom: reads and writes of what is here and what is not, with pauses, inc_csr slow and quick, starts of groups: every value, word,
// refusal and latency is the model's.
func TestRandom(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, three())
	met := map[string]int{}
	for seed := range uint64(2) {
		b := newBench(t, lib, three(), seed)
		b.busy = true
		if b.quick = seed%2 == 0; !b.quick {
			b.took = 1 + b.rng.IntN(12)
			b.master.SetPause(axis.Probability(seed, 0.3))
		}
		for range 3000 {
			b.step(met)
		}
		met["starts refused"] += b.met[true]
		met["starts"] += b.met[false]
	}
	for _, what := range []string{"read ", "read PARAM_MODE", "read ACK_EVERY", "read GROUP_MESSAGES", "read GROUP_RELEASE", "read GROUP_REFUSED", "read EP_RQ_PSN",
		"read EP_SQ_PSN", "read EP_PATH_MTU", "written ", "written ACK_EVERY", "written GROUP_MESSAGES", "written GROUP_RELEASE",
		"written EP_RQ_PSN", "written EP_SQ_PSN", "written EP_PATH_MTU", "refused ", "refused EP_PATH_MTU", "refused GROUP_MESSAGES", "refused ACK_EVERY", "starts", "starts refused"} {
		require.Greater(t, met[what], 5, what)
	}
}
