// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/csr"
	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

// mini has three groups of up to five endpoints in tables of four groups of eight, and three ports.
func mini() csr.CSR {
	return csr.CSR{AxilW: 16, ID: contract.Magic, Version: int(regs.Of("VERSION").Reset), Mode: 2, Bytes: 8, Lanes: 2, Groups: 3, Members: 4, Ports: 3, MTUBytes: 1024,
		Slots: 16, Window: 4, Arith: int(regs.Of("PARAM_ARITH").Reset), IPID: contract.DefaultIPID, PortW: 2, EPW: 3, EIW: 5, MaskW: 5, Counters: len(contract.Counters(2))}
}

// pipes is the same in Mode III.
func pipes() csr.CSR {
	p := mini()
	p.Mode, p.Counters, p.Timeout = 3, len(contract.Counters(3)), 0x1234
	return p
}

// Places of arrays, in bytes.
const (
	atPipe     = contract.PipeBase
	atFailed   = contract.FailedBase
	wordPipe   = contract.PipeWord // as which GROUP_PIPE goes out
	atBypass   = contract.BypassBase
	atCounter  = contract.CounterBase
	atHigh     = contract.CounterHighBase
	atGroup    = contract.GroupBase
	atEndpoint = contract.EndpointBase
	stride     = contract.GroupStride // of endpoints too
)

// at is where a register lies, put a value of a field in place.
func at(name string) uint64 { return uint64(regs.Of(name).Offset) }

func put(name, field string, value uint64) uint32 { return regs.Of(name).Put(field, value) }

// mask are the bits of a register that are in some field.
func mask(name string) uint32 { return regs.Of(name).Mask() }

// Places of single registers, in bytes, and flags of GROUP_CTRL and GROUP_STATUS.
var (
	atCtrl, atIPID, atInject, atPipeCtrl, atTimeout = at("CTRL"), at("IP_ID"), at("ECC_INJECT"), at("PIPE_CTRL"), at("PIPE_TIMEOUT")
	atSnapshot                                      = at("COUNTER_SNAPSHOT")
	atStatus                                        = int(at("GROUP_STATUS")) - atGroup // in a group's record
	enable, restart                                 = put("GROUP_CTRL", "enable", 1), put("GROUP_CTRL", "reset", 1)
	overlap                                         = put("GROUP_STATUS", "overlap", 1)
)

// answered is how many cycles after it was taken a write is answered and does what it does.
const answered = 4

// bits that exist in the words of a group and of an endpoint; GROUP_CTRL and GROUP_STATUS are not table words
var groupBits, endpointBits = words("g"), words("ei")

// words are the masks of the table words of an array, in order.
func words(index string) (out []uint32) {
	for _, r := range regs.Map() {
		switch {
		case r.Index != index || r.Stride != stride:
		case r.Volatile:
			out = append(out, 0)
		default:
			out = append(out, r.Mask())
		}
	}
	return out
}

// other is a counter that a block beside the one that decides steps, by a pin of its own.
type other struct{ counter, pin string }

func others() []other {
	return []other{{"TX_FANOUT", "count_fanout"}, {"TX_FRAMES", "count_frame"}, {"TX_ACK_COPY", "count_ack_copy"},
		{"ECC_CORRECTED", "count_corrected"}, {"ECC_DOUBLE", "count_double"}}
}

// tableWrite is a word that went out.
type tableWrite struct {
	cycle       uint64
	index, word int
	data        uint32
	endpoint    bool
	group       bool
}

// injection is a cycle in which inject_valid was high.
type injection struct {
	cycle uint64
	flips uint32
}

type bench struct {
	*rig.Rig
	p       csr.CSR
	rng     *rand.Rand
	master  *axil.Master
	regs    map[uint64]uint32 // what each register reads, but for the status; every address of the map is there
	counts  []uint32
	outs    []tableWrite      // after the clearing
	cleared map[[2]int]int    // by index and word
	starts  []uint64          // group masks that were started, one a pulse
	taken   []uint64          // cycles in which a write was taken: the later of address and data
	half    bool              // one of the two was
	injects []injection       // every cycle of inject_valid
	busy    bool              // counters step
	kept    map[[2]int]uint32 // words of endpoints, as other blocks keep them, by index and word
	asks    string            // which of them is asked and answers in the next cycle
	got     map[string]int    // how often each answered
}

func newBench(t *testing.T, lib *sim.Lib, p csr.CSR, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), regs: map[uint64]uint32{}, counts: make([]uint32, p.Counters),
		cleared: map[[2]int]int{}, kept: map[[2]int]uint32{}, got: map[string]int{}}
	var err error
	b.master, err = axil.New(b.Model, "s_axil")
	require.NoError(t, err)
	for name, v := range map[string]int{"ID": p.ID, "VERSION": p.Version, "PARAM_MODE": p.Mode, "PARAM_BUS_BYTES": p.Bytes, "PARAM_LANES": p.Lanes,
		"PARAM_GROUPS": p.Groups, "PARAM_MEMBERS": p.Members, "PARAM_PORTS": p.Ports, "PARAM_MTU_BYTES": p.MTUBytes, "PARAM_SLOTS": p.Slots,
		"PARAM_WINDOW_PACKETS": p.Window, "PARAM_ARITH": p.Arith, "CTRL": int(regs.Of("CTRL").Reset), "IP_ID": p.IPID, "ECC_INJECT": 0, "COUNTER_SNAPSHOT": 0} {
		b.regs[at(name)] = uint32(v)
	}
	for i := range p.Ports {
		b.regs[atBypass+uint64(4*i)] = uint32(i)
	}
	for i := range p.Counters {
		b.regs[atCounter+uint64(4*i)], b.regs[atHigh+uint64(4*i)] = 0, 0
	}
	for g := range p.Groups {
		for w := range groupBits {
			b.regs[uint64(atGroup+g*stride+4*w)] = 0
		}
	}
	if p.Mode == 3 {
		b.regs[atPipeCtrl], b.regs[atTimeout] = regs.Of("PIPE_CTRL").Reset, uint32(p.Timeout)
		for g := range p.Groups {
			b.regs[uint64(atPipe+4*g)], b.regs[uint64(atFailed+4*g)] = 0, 0
		}
	}
	for e := range p.Groups << p.EPW {
		for w := range endpointBits {
			b.regs[uint64(atEndpoint+e*stride+4*w)] = 0
		}
	}
	b.OnSample(b.sample)
	b.OnDrive(b.count)
	b.OnDrive(b.answer)
	require.NoError(t, b.ResetFor(2)) // which the master must see
	return b
}

func (b *bench) sample() {
	if b.Is("rst") {
		return
	}
	if ep, grp := b.Is("tbl_ep_we"), b.Is("tbl_grp_we"); ep || grp {
		w := tableWrite{b.Now(), int(b.Get("tbl_index")), int(b.Get("tbl_word")), uint32(b.Get("tbl_data")), ep, grp}
		if ep && grp {
			if w.data == 0 {
				b.cleared[[2]int{w.index, w.word}]++
			}
		} else {
			b.outs = append(b.outs, w)
		}
	}
	if b.Is("tbl_ep_we") {
		b.kept[[2]int{int(b.Get("tbl_index")), int(b.Get("tbl_word"))}] = uint32(b.Get("tbl_data"))
	}
	b.asks = ""
	for _, name := range []string{"lookup", "translate"} {
		if b.Is("get_"+name) && !b.Is("got_"+name) && b.rng.IntN(3) == 0 {
			b.asks = name
			b.got[name]++
		}
	}
	if s := b.Get("grp_start"); s != 0 {
		b.starts = append(b.starts, s)
	}
	if b.Is("inject_valid") {
		b.injects = append(b.injects, injection{b.Now(), uint32(b.Get("inject_flips"))})
	}
	for _, channel := range []string{"s_axil_aw", "s_axil_w"} {
		if !b.Is(channel+"valid") || !b.Is(channel+"ready") {
			continue
		}
		if b.half = !b.half; !b.half {
			b.taken = append(b.taken, b.Now())
		}
	}
	for i := range b.counts {
		if b.Get("count")>>i&1 != 0 {
			b.counts[i]++
		}
	}
	for _, o := range others() {
		if b.Is(o.pin) {
			b.counts[contract.CounterIndex(b.p.Mode, o.counter)]++
		}
	}
}

// answer gives the word that was asked for; else what stands there means nothing.
func (b *bench) answer() {
	for _, name := range []string{"lookup", "translate"} {
		b.SetBool("got_"+name, b.asks == name)
		b.Set("got_"+name+"_data", b.rng.Uint64()&0xFFFFFFFF)
	}
	if b.asks != "" {
		word := [2]int{int(b.Get("get_index")), int(b.Get("get_word"))}
		if (b.asks == "lookup") != (word[1] == regs.Word("EP_CTRL") || word[1] == regs.Word("EP_LOCAL_QPN")) {
			return // it has no such word
		}
		b.Set("got_"+b.asks+"_data", uint64(b.kept[word]))
	}
}

func (b *bench) count() {
	steps := uint64(0)
	if b.busy {
		steps = b.rng.Uint64() & b.rng.Uint64() & (1<<b.p.Counters - 1)
	}
	for k, o := range others() { // what decides never steps them
		steps &^= 1 << contract.CounterIndex(b.p.Mode, o.counter)
		b.SetBool(o.pin, b.busy && b.rng.IntN(2+k/3) == 0)
	}
	b.Set("count", steps)
}

// locked tells whether a word is a setting of a group that is enabled.
func (b *bench) locked(word uint64) bool {
	g := 0
	switch {
	case word >= atEndpoint:
		g = int(word-atEndpoint) / stride >> b.p.EPW
	case word >= atFailed:
		return false
	case word >= atPipe:
		g = int(word-atPipe) / 4
	case word >= atGroup && int(word-atGroup)%stride > atStatus:
		g = int(word-atGroup) / stride
	default:
		return false
	}
	return b.regs[uint64(atGroup+g*stride)] != 0
}

// bits are those that exist in a word of a table.
func (b *bench) bits(word uint64) uint32 {
	if word < atEndpoint {
		return groupBits[(word-atGroup)%stride/4]
	}
	if b.absent(word) {
		return 0
	}
	return endpointBits[(word-atEndpoint)%stride/4]
}

// absent tells whether a word is of a record that no endpoint has.
func (b *bench) absent(word uint64) bool {
	return word >= atEndpoint && int(word-atEndpoint)/stride&(1<<b.p.EPW-1) >= b.p.MaskW
}

// write does what a write means, and says whether it is answered OKAY.
func (b *bench) write(addr uint64, v uint32, strobe uint8) bool {
	word := addr &^ 3
	if _, ok := b.regs[word]; !ok || strobe != 0xF || b.locked(word) {
		return false
	}
	switch {
	case word == atCtrl:
		b.regs[word] = v & mask("CTRL")
	case word == atSnapshot:
		b.regs[word] = v & mask("COUNTER_SNAPSHOT")
	case word == atIPID:
		b.regs[word] = v & mask("IP_ID")
	case word == atTimeout:
		b.regs[word] = v & mask("PIPE_TIMEOUT")
	case word == atPipeCtrl:
		b.regs[word] = v & mask("PIPE_CTRL")
	case word >= atBypass && word < atCounter:
		b.regs[word] = v & mask("BYPASS_PORT")
	case word >= atEndpoint:
		b.regs[word] = v & b.bits(word)
	case word >= atFailed: // read only
	case word >= atPipe:
		b.regs[word] = v & mask("GROUP_PIPE")
	case word >= atGroup && (word-atGroup)%stride == 0:
		b.regs[word] = v & enable
	case word >= atGroup:
		b.regs[word] = v & b.bits(word)
	}
	return true
}

func (b *bench) read(addr uint64) (uint32, bool) {
	v, ok := b.regs[addr&^3]
	if word := addr &^ 3; ok && word >= atFailed && word < atEndpoint {
		v = uint32(b.Get("grp_failed")>>((word-atFailed)/4*uint64(b.p.MaskW))) & (1<<b.p.MaskW - 1)
	} else if ok && word >= atGroup && word < atPipe && int(word-atGroup)%stride == atStatus {
		g := (word - atGroup) / stride
		v = put("GROUP_STATUS", "busy", b.Get("grp_busy")>>g) | put("GROUP_STATUS", "enabled", b.Get("grp_live")>>g)
	}
	return v, ok
}

// address draws one that is in the map, near its edges, or anywhere.
func (b *bench) address() uint64 {
	switch b.rng.IntN(12) {
	case 11:
		return atPipe + uint64(4*b.rng.IntN(6))
	case 10:
		return atFailed + uint64(4*b.rng.IntN(6))
	case 9:
		return atInject
	case 8:
		return atGroup + uint64(b.rng.IntN(b.p.Groups)*stride) // GROUP_CTRL
	case 0:
		return b.rng.Uint64N(1 << b.p.AxilW)
	case 1:
		return uint64(4 * b.rng.IntN(int(atTimeout)/4+2)) // PIPE_TIMEOUT is the last that is no array
	case 2:
		return atBypass + uint64(4*b.rng.IntN(5))
	case 3:
		return []uint64{atCounter, atHigh}[b.rng.IntN(2)] + uint64(4*b.rng.IntN(b.p.Counters+4))
	case 4, 5:
		return atGroup + uint64(b.rng.IntN(4*stride))
	}
	return atEndpoint + uint64(b.rng.IntN(b.p.Groups<<b.p.EPW*stride+2*stride))
}

func okay(t *sim.Task, ok bool, err error, what string) {
	var refused *axil.ResponseError
	if ok {
		require.NoError(t, err, what)
	} else {
		require.True(t, errors.As(err, &refused) && refused.Response == axil.SLVERR, "%s: want SLVERR, got %v", what, err)
	}
}

// TestResetValues: every register of the map, from any state of the flip-flops and memories, and every table word goes out cleared.
func TestResetValues(t *testing.T) {
	t.Parallel()
	for _, p := range []csr.CSR{mini(), pipes()} {
		t.Run(fmt.Sprint("mode ", p.Mode), func(t *testing.T) {
			t.Parallel()
			resetValues(t, p)
		})
	}
}

func resetValues(t *testing.T, p csr.CSR) {
	lib := rig.Lib(t, p)
	for seed := range uint64(3) {
		b := newBench(t, lib, p, seed)
		tb := sim.NewTB(b.Model)
		tb.Start("read all", func(t *sim.Task) {
			for _, addr := range slices.Sorted(maps.Keys(b.regs)) {
				got, err := b.master.Read(t, addr)
				require.NoError(t, err)
				require.Equal(t, b.regs[addr], got, "register %#x", addr)
			}
		})
		require.NoError(t, tb.Run(20000))
		require.Len(t, b.cleared, regs.Words<<p.EIW, "table words cleared")
		require.Empty(t, b.outs)
		require.Empty(t, b.starts)
		require.Empty(t, b.injects)
		require.Equal(t, uint64(1), b.Get("cfg_gap_nak"))
		require.Zero(t, b.Get("cfg_foreign_bypass"))
		require.Equal(t, uint64(p.IPID), b.Get("cfg_ip_id"))
		three := uint64(0)
		if p.Mode == 3 {
			three = 1
		}
		require.Equal(t, []uint64{three, three, 0, three * uint64(p.Timeout)},
			[]uint64{b.Get("cfg_rnr_timer"), b.Get("cfg_rnr"), b.Get("cfg_cnp"), b.Get("cfg_timeout")})
		require.Equal(t, uint64(0b100100), b.Get("cfg_bypass_port"))
		require.Zero(t, b.Get("grp_enable"))
	}
}

// TestRandom: reads and writes anywhere, with and without all strobes, against the register map; what goes out on the tables.
func TestRandom(t *testing.T) {
	t.Parallel()
	for _, p := range []csr.CSR{mini(), pipes()} {
		t.Run(fmt.Sprint("mode ", p.Mode), func(t *testing.T) {
			t.Parallel()
			random(t, p)
		})
	}
}

func random(t *testing.T, p csr.CSR) {
	lib := rig.Lib(t, p)
	for seed := range uint64(5) {
		b := newBench(t, lib, p, seed)
		if seed > 1 {
			b.master.SetPause(axis.Probability(seed, 0.4))
		}
		refused, injected := 0, 0
		tb := sim.NewTB(b.Model)
		tb.Start("accesses", func(t *sim.Task) {
			require.NoError(t, t.Until(2000, "ready", func() bool { return b.Is("ready") }))
			for range 1600 {
				addr, v, strobe := b.address(), b.rng.Uint32(), uint8(0xF)
				if b.rng.IntN(8) == 0 {
					strobe = uint8(b.rng.IntN(16))
				}
				what := fmt.Sprintf("address %#x, data %#x, strobe %#x", addr, v, strobe)
				if b.rng.IntN(2) == 0 {
					b.Set("grp_busy", b.rng.Uint64N(8))
					b.Set("grp_live", b.rng.Uint64N(8))
					b.Set("grp_failed", b.rng.Uint64N(1<<(p.Groups*p.MaskW)))
					want, ok := b.read(addr)
					got, err := b.master.Read(t, addr)
					okay(t, ok, err, "read: "+what)
					if ok {
						require.Equal(t, want, got, "read: "+what)
					} else {
						refused++
					}
					continue
				}
				enabled := b.Get("grp_enable")
				outs, starts, taken, injects := len(b.outs), len(b.starts), len(b.taken), len(b.injects)
				ok := b.write(addr, v, strobe)
				okay(t, ok, b.master.WriteStrobe(t, addr, v, strobe), "write: "+what)
				t.ClockCycles(2)
				b.checkOut(t, what, addr, v, ok, enabled, b.outs[outs:], b.starts[starts:], b.taken[taken:])
				if ok && addr&^3 == atInject {
					injected++
					require.Equal(t, []injection{{b.taken[taken] + answered, v & mask("ECC_INJECT")}}, b.injects[injects:], what)
				} else {
					require.Len(t, b.injects, injects, what)
				}
				if !ok {
					refused++
				}
			}
		})
		require.NoError(t, tb.Run(200000))
		require.Greater(t, b.got["lookup"], 2)
		require.Greater(t, b.got["translate"], 20)
		require.Greater(t, refused, 100)
		require.Greater(t, len(b.outs), 100)
		require.Greater(t, injected, 20)
		require.Len(t, b.injects, injected, "once a write, never between writes")
	}
}

// checkOut: what the write of v to addr sent to the tables and groups, and how the configuration stands.
func (b *bench) checkOut(t *sim.Task, what string, addr uint64, v uint32, ok bool, enabled uint64, outs []tableWrite, starts, taken []uint64) {
	word := addr &^ 3
	require.Len(t, taken, 1)
	status := b.p.Mode == 3 && word >= atGroup && word < atPipe && int(word-atGroup)%stride == atStatus
	switch {
	case !ok || word < atGroup || status || word >= atFailed && word < atEndpoint || b.absent(word):
		require.Empty(t, outs, what)
		require.Empty(t, starts, what)
	case word >= atPipe && word < atEndpoint:
		require.Equal(t, []tableWrite{{cycle: taken[0] + answered, group: true, index: int(word-atPipe) / 4, word: wordPipe, data: v & mask("GROUP_PIPE")}}, outs, what)
		require.Empty(t, starts, what)
	default:
		want := tableWrite{cycle: taken[0] + answered, group: word < atEndpoint, endpoint: word >= atEndpoint, index: int(word&0xFFF) / stride, word: int(word % stride / 4)}
		if want.endpoint {
			want.index, want.data = int(word-atEndpoint)/stride, v&b.bits(word)
		} else {
			want.index, want.data = int(word-atGroup)/stride, v&b.bits(word)
		}
		require.Equal(t, []tableWrite{want}, outs, what)
		if want.group && want.word == 0 {
			g := want.index
			if v&enable != 0 && (v&restart != 0 || enabled>>g&1 == 0) {
				require.Equal(t, []uint64{1 << g}, starts, what)
			} else {
				require.Empty(t, starts, what)
			}
		} else {
			require.Empty(t, starts, what)
		}
	}
	for g := range b.p.Groups {
		require.Equal(t, b.regs[uint64(atGroup+g*stride)], uint32(b.Get("grp_enable")>>g&1), "enable of group %d: %s", g, what)
	}
	require.Equal(t, b.regs[atCtrl], put("CTRL", "gap_nak", b.Get("cfg_gap_nak"))|put("CTRL", "foreign_bypass", b.Get("cfg_foreign_bypass")), what)
	require.Equal(t, b.regs[atIPID], uint32(b.Get("cfg_ip_id")), what)
	require.Equal(t, b.regs[atPipeCtrl], put("PIPE_CTRL", "rnr_timer", b.Get("cfg_rnr_timer"))|put("PIPE_CTRL", "rnr", b.Get("cfg_rnr"))|
		put("PIPE_CTRL", "cnp", b.Get("cfg_cnp")), what)
	require.Equal(t, b.regs[atTimeout], uint32(b.Get("cfg_timeout")), what)
	for i := range b.p.Ports {
		require.Equal(t, b.regs[atBypass+uint64(4*i)]&3, uint32(b.Get("cfg_bypass_port")>>(2*i)&3), what)
	}
}

// TestRefusedGroup: enable does not stick.
func TestRefusedGroup(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 1)
	require.NoError(t, b.master.WriteReg(atGroup, enable))
	require.NoError(t, b.master.WriteReg(atGroup+2*stride, enable))
	require.Equal(t, uint64(0b101), b.Get("grp_enable"))
	b.Set("grp_refused", 0b100)
	b.Clock()
	b.Set("grp_refused", 0)
	b.Clock()
	require.Equal(t, uint64(0b001), b.Get("grp_enable"))
	v, err := b.master.ReadReg(atGroup + 2*stride)
	require.NoError(t, err)
	require.Zero(t, v)
	require.NoError(t, b.master.WriteReg(atGroup+2*stride, enable))
	b.Clock()
	require.Equal(t, []uint64{1, 4, 4}, b.starts, "it can be started again")
}

// TestOverlapStatus: a start that is refused for its slots says so in GROUP_STATUS until GROUP_CTRL is written again, and a start that is told
// in the very cycle in which the one before is refused is a start.
func TestOverlapStatus(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 1)
	write := func(g int, v uint32) { require.NoError(t, b.master.WriteReg(uint64(atGroup+g*stride), v)) }
	status := func(g int) uint32 {
		v, err := b.master.ReadReg(uint64(atGroup + g*stride + atStatus))
		require.NoError(t, err)
		return v
	}
	refuse := func(refused, overlap uint64) {
		b.Set("grp_refused", refused)
		b.Set("grp_overlap", overlap)
		b.Clock()
		b.Set("grp_refused", 0)
		b.Set("grp_overlap", 0)
	}
	write(1, enable)
	write(2, enable)
	refuse(0b110, 0b100)
	require.Equal(t, []uint32{0, 0, overlap}, []uint32{status(0), status(1), status(2)})
	write(0, enable)
	require.Equal(t, overlap, status(2), "what another group is told is nothing to it")
	write(2, 0)
	require.Zero(t, status(2))

	write(2, enable)
	b.Set("grp_refused", 0b100) // held, as no read can be told to hit the one cycle
	require.Equal(t, put("GROUP_STATUS", "busy", 1), status(2), "not yet over")
	b.Set("grp_refused", 0)
	write(2, enable)
	starts := len(b.starts)
	b.Set("grp_refused", 0b100)
	b.Set("grp_overlap", 0b100)
	write(2, enable)
	b.Set("grp_refused", 0)
	b.Set("grp_overlap", 0)
	b.Clock()
	require.Equal(t, starts+1, len(b.starts))
}

// TestLastCounter: the register behind the last counter is none, at every number of counters there may be.
func TestLastCounter(t *testing.T) {
	t.Parallel()
	for _, p := range []csr.CSR{mini(), pipes()} {
		b := newBench(t, rig.Lib(t, p), p, 1)
		_, err := b.master.ReadReg(uint64(atCounter + 4*(p.Counters-1)))
		require.NoError(t, err)
		for _, write := range []bool{false, true} {
			var refused *axil.ResponseError
			if write {
				err = b.master.WriteReg(uint64(atCounter+4*p.Counters), 1)
			} else {
				_, err = b.master.ReadReg(uint64(atCounter + 4*p.Counters))
			}
			require.ErrorAs(t, err, &refused, "mode %d, write %v", p.Mode, write)
			require.Equal(t, axil.SLVERR, refused.Response)
		}
	}
}

// TestAnswersWait: an answer stands as it is until the master is ready, and no further access of its kind is taken meanwhile.
func TestAnswersWait(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	for wait := range 12 {
		r := rig.New(t, lib, uint64(wait))
		for !r.Is("ready") {
			r.Clock()
		}
		r.Set("s_axil_araddr", at("PARAM_MEMBERS"))
		r.Set("s_axil_awaddr", atIPID)
		r.Set("s_axil_wdata", 0xABCD)
		r.Set("s_axil_wstrb", 0xF)
		for _, name := range []string{"s_axil_arvalid", "s_axil_awvalid", "s_axil_wvalid"} {
			r.Set(name, 1)
		}
		reads, writes := 0, 0
		see := func() {
			r.Clock()
			reads += int(r.Get("s_axil_arready"))
			writes += int(r.Get("s_axil_awready"))
		}
		for see(); !r.Is("s_axil_rvalid"); see() {
		}
		r.Set("s_axil_araddr", at("ID")) // which would be the next
		r.Set("s_axil_awaddr", 0xFFFC)
		for range wait {
			see()
			require.True(t, r.Is("s_axil_rvalid") && r.Is("s_axil_bvalid"), "an answer that nobody took is gone")
			require.Equal(t, []uint64{uint64(p.Members), 0, 0}, []uint64{r.Get("s_axil_rdata"), r.Get("s_axil_rresp"), r.Get("s_axil_bresp")})
			require.Equal(t, []int{1, 1}, []int{reads, writes}, "accesses taken")
		}
		r.Set("s_axil_rready", 1)
		r.Set("s_axil_bready", 1)
		see()
		for see(); !r.Is("s_axil_rvalid"); see() {
		}
		require.Equal(t, uint64(p.ID), r.Get("s_axil_rdata"))
	}
}

// TestStrobes: a write with any strobe low does nothing and says so, to a register of every kind; the low two bits of an address mean
// nothing, with all strobes set.
func TestStrobes(t *testing.T) {
	t.Parallel()
	p := pipes()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 3)
	tb := sim.NewTB(b.Model)
	tb.Start("accesses", func(t *sim.Task) {
		require.NoError(t, t.Until(2000, "ready", func() bool { return b.Is("ready") }))
		for _, addr := range []uint64{0, atCtrl, atIPID, atInject, atPipeCtrl, atTimeout, atBypass, atCounter, atGroup, uint64(atGroup + atStatus), at("GROUP_START"),
			atGroup + 2*stride + 60, atPipe, atPipe + 8, atFailed, atEndpoint, at("EP_HEADER")} {
			for strobe := range uint8(16) {
				for odd := range uint64(4) {
					v := b.rng.Uint32()
					outs, starts, taken, injects, enabled := len(b.outs), len(b.starts), len(b.taken), len(b.injects), b.Get("grp_enable")
					what := fmt.Sprintf("address %#x, strobe %#x", addr+odd, strobe)
					ok := b.write(addr+odd, v, strobe)
					okay(t, ok, b.master.WriteStrobe(t, addr+odd, v, strobe), what)
					t.ClockCycles(2)
					b.checkOut(t, what, addr, v, ok, enabled, b.outs[outs:], b.starts[starts:], b.taken[taken:])
					require.Equal(t, ok && addr == atInject, len(b.injects) > injects, what)
					want, _ := b.read(addr)
					got, err := b.master.Read(t, addr+odd)
					require.NoError(t, err)
					require.Equal(t, want, got, what)
				}
			}
		}
	})
	require.NoError(t, tb.Run(200000))
}

// TestInject: writes of ECC_INJECT one after the other, as fast as they are taken: a pulse each, with its own number of bits.
func TestInject(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	r := rig.New(t, lib, 2)
	for !r.Is("ready") {
		r.Clock()
	}
	var want, got []injection
	see := func() {
		r.Clock()
		if r.Is("inject_valid") {
			got = append(got, injection{r.Now(), uint32(r.Get("inject_flips"))})
		}
	}
	r.Set("s_axil_awaddr", atInject)
	r.Set("s_axil_wstrb", 0xF)
	r.Set("s_axil_bready", 1)
	for n := range 12 {
		v := []uint32{1, 2, 0, 1, 0xFFFFFFFE, 0xFFFFFFFD}[n%6]
		r.Set("s_axil_awvalid", 1)
		r.Set("s_axil_wvalid", 1)
		r.Set("s_axil_wdata", uint64(v))
		for see(); !r.Is("s_axil_awready"); see() {
		}
		want = append(want, injection{r.Now() + answered, v & mask("ECC_INJECT")})
		if n > 6 { // with pauses
			r.Set("s_axil_awvalid", 0)
			r.Set("s_axil_wvalid", 0)
			r.Set("s_axil_wdata", uint64(^v))
			for range n {
				see()
			}
		}
	}
	for range 10 {
		see()
	}
	require.Equal(t, want, got)
	require.Equal(t, uint64(6*5), got[6].cycle-got[0].cycle, "a write in 5 cycles")

	for late := range 2 * answered { // a write goes on under a reset of one cycle
		r.Set("s_axil_awvalid", 1)
		r.Set("s_axil_wvalid", 1)
		for r.Clock(); !r.Is("s_axil_awready"); r.Clock() {
		}
		r.Set("s_axil_awvalid", 0)
		r.Set("s_axil_wvalid", 0)
		for range late {
			r.Clock()
		}
		r.Set("rst", 1)
		r.Clock()
		r.Set("rst", 0)
		got = nil
		for range 2 * answered {
			see()
			require.False(t, r.Is("s_axil_bvalid"))
		}
		require.Empty(t, got, "an injection out of a reset, %d cycles after its write was taken", late)
	}
}

// TestCounters: steps in every cycle, of any of them at once.
func TestCounters(t *testing.T) {
	t.Parallel()
	p := pipes()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 1)
	for range 3 {
		b.busy = true
		for range 500 {
			b.Clock()
		}
		b.busy = false
		b.Clock()
		b.Clock()
		for i, want := range b.counts {
			for half, want := range []uint32{want, 0} {
				addr := uint64(atCounter + half*(atHigh-atCounter) + 4*i)
				require.NoError(t, b.master.WriteReg(addr, 1)) // read only: nothing happens
				got, err := b.master.ReadReg(addr)
				require.NoError(t, err)
				require.Equal(t, want, got, "counter %d", i)
			}
			require.Greater(t, want, uint32(50))
		}
	}
}

// TestSnapshot: while everything steps, a write of hold takes all counters as they are in one cycle, and they stand until the next write;
// without it a read gives a counter as it is in some cycle between address and answer.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	p := pipes()
	b := newBench(t, rig.Lib(t, p), p, 6)
	b.busy = true
	var past [][]uint32 // by cycle
	b.OnSample(func() { past = append(past, slices.Clone(b.counts)) })
	for !b.Is("ready") {
		b.Clock()
	}
	begin := func() int { return len(past) }
	read := func() (all []uint32) {
		for i := range p.Counters {
			v, err := b.master.ReadReg(uint64(atCounter + 4*i))
			require.NoError(t, err)
			all = append(all, v)
		}
		return all
	}
	for range 4 {
		from := begin()
		require.NoError(t, b.master.WriteReg(atSnapshot, put("COUNTER_SNAPSHOT", "hold", 1)))
		all := read()
		require.True(t, slices.ContainsFunc(past[from:], func(then []uint32) bool { return slices.Equal(then, all) }), "of no cycle: %v", all)
		require.Equal(t, all, read(), "it holds")
	}
	require.NoError(t, b.master.WriteReg(atSnapshot, 0))
	for i := range p.Counters {
		from := begin()
		v, err := b.master.ReadReg(uint64(atCounter + 4*i))
		require.NoError(t, err)
		require.True(t, past[from-1][i] <= v && v <= past[len(past)-1][i], "counter %d: %d", i, v)
	}
}

// TestTiming: the cycles that the head of the file states, reads and writes at the same time.
func TestTiming(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	r := rig.New(t, lib, 2)
	begun := r.Now()
	for !r.Is("ready") {
		require.False(t, r.Is("s_axil_awready") || r.Is("s_axil_arready"), "an access is taken before the tables are cleared")
		r.Set("s_axil_awvalid", 1)
		r.Set("s_axil_wvalid", 1)
		r.Set("s_axil_arvalid", 1)
		r.Clock()
	}
	require.Equal(t, uint64(regs.Words<<p.EIW+1), r.Now()-begun, "one word a cycle")
	r.Set("s_axil_awaddr", atIPID)
	r.Set("s_axil_araddr", atGroup+stride+8)
	r.Set("s_axil_wstrb", 0xF)
	r.Set("s_axil_bready", 1)
	r.Set("s_axil_rready", 1)
	for range 8 {
		r.Clock()
	}
	var aw, bv, ar, rv []uint64
	for range 40 {
		r.Clock()
		for name, list := range map[string]*[]uint64{"s_axil_awready": &aw, "s_axil_bvalid": &bv, "s_axil_arready": &ar, "s_axil_rvalid": &rv} {
			if r.Is(name) {
				*list = append(*list, r.Now())
			}
		}
	}
	after := func(list []uint64, at uint64) uint64 {
		for _, c := range list {
			if c > at {
				return c - at
			}
		}
		return 0
	}
	for i := range 4 {
		require.Equal(t, uint64(answered), after(bv, aw[i]), "write response")
		require.Equal(t, uint64(5), aw[i+1]-aw[i], "writes")
		require.Equal(t, uint64(4), after(rv, ar[i]), "read data")
		require.Equal(t, uint64(5), ar[i+1]-ar[i], "reads")
	}
}
