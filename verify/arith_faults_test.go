// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// taken is a contribution as a warped engine remembers it.
type taken struct {
	end     int
	at      uint64
	payload []byte
	before  arith.Kind // of the packet accepted before it
}

type slotName struct {
	group int
	psn   roce.PSN
}

// warped is a reference engine that computes by a function of the test's own: it remembers what it accepted, and puts its own
// result wherever the right one leaves.
type warped struct {
	*dut.Reference
	man     *contract.Manifest
	slots   map[slotName][]taken
	last    arith.Kind // of the packet accepted last
	compute func(w *warped, at slotName, k arith.Kind, all []taken) []byte
	write   func(w *warped, name string, i int, v uint32) uint32
	out     func(w *warped, at slotName, o *dut.Frame)
	read    func(w *warped, name string, i int, v uint32) uint32
	// of an engine with ecc
	pending             uint32
	bad                 map[slotName]bool
	corrected, poisoned uint32
}

// Spotless is false: withECC stands in for a memory that errs.
func (w *warped) Spotless() bool { return false }

// field is what a field of a register holds, 0 if there is none.
func (w *warped) field(register string, i int, name string) uint32 {
	a, err := w.man.Addr(register, i)
	if err != nil {
		return 0
	}
	v, _ := w.Reference.Read(a)
	return w.bits(register, name).Get(v)
}

// bits is where a field lies in its register; a field of no bits if there is none.
func (w *warped) bits(register, name string) contract.Field {
	f, _ := w.man.Registers.Field(register, name)
	return f
}

func (w *warped) kind(g int) arith.Kind {
	get := func(name string) uint32 { return w.field("GROUP_COLLECTIVE", g, name) }
	return arith.Kind{DType: arith.DType(get("dtype")), Op: arith.Op(get("op")), BigEndian: get("big_endian") != 0}
}

func (w *warped) Accepted() []dut.Frame {
	all := w.Reference.Accepted()
	for _, a := range all {
		p, err := roce.Decode(a.Data)
		if err != nil || !p.Op.IsSend() || !roce.CheckICRC(a.Data) {
			continue
		}
		ei := int(p.DestQP) % w.man.Params.Records()
		at, c := slotName{ei / w.man.Params.EPS(), p.PSN}, ei%w.man.Params.EPS()
		if !slices.ContainsFunc(w.slots[at], func(x taken) bool { return x.end == c }) {
			w.slots[at] = append(w.slots[at], taken{c, a.Last, bytes.Clone(p.Payload), w.last})
			if w.pending > 0 {
				if w.pending == 1 {
					w.corrected++
				} else {
					w.bad[at] = true
				}
				w.pending = 0
			}
		}
		w.last = w.kind(at.group)
	}
	return all
}

// group is the one whose endpoint a frame is addressed to.
func (w *warped) group(p *roce.Packet) (int, bool) {
	for g := range w.man.Params.Groups {
		for c := range w.man.Params.Members + 1 {
			if w.field("EP_REMOTE_QPN", g*w.man.Params.EPS()+c, "qpn") == p.DestQP {
				return g, true
			}
		}
	}
	return 0, false
}

func (w *warped) right(k arith.Kind, all []taken) []byte {
	var list []arith.Contribution
	for _, x := range all {
		list = append(list, arith.Contribution{End: x.end, Payload: x.payload})
	}
	return k.Combine(list, w.man.Params.Reproducible())
}

func (w *warped) Out() []dut.Frame {
	all := w.Reference.Out()
	for i := range all {
		o := &all[i]
		p, err := roce.Decode(o.Data)
		if err != nil || !p.Op.IsSend() || len(p.Payload) == 0 {
			continue
		}
		g, ok := w.group(&p)
		at := slotName{g, p.PSN}
		if !ok || len(w.slots[at]) == 0 {
			continue
		}
		k := w.kind(g)
		same := func(x taken) bool { return len(x.payload) != len(p.Payload) }
		if slices.ContainsFunc(w.slots[at], same) || !bytes.Equal(w.right(k, w.slots[at]), p.Payload) {
			continue // copied parent data
		}
		if w.compute != nil {
			p.Payload = w.compute(w, at, k, w.slots[at])
			o.Data = p.AppendFrame(nil)
		}
		if w.out != nil {
			o.Data = slices.Clone(o.Data)
			w.out(w, at, o)
		}
	}
	return all
}

func (w *warped) Write(addr, v uint32, strobes uint8) error {
	reg, i, ok := w.man.Find(addr)
	if ok && reg.Name == "GROUP_CTRL" {
		for at := range w.slots {
			if at.group == i {
				delete(w.slots, at)
				delete(w.bad, at)
			}
		}
	}
	if ok && reg.Name == "ECC_INJECT" {
		w.pending = v
	}
	if ok && w.write != nil {
		v = w.write(w, reg.Name, i, v)
	}
	return w.Reference.Write(addr, v, strobes)
}

func (w *warped) Read(addr uint32) (uint32, error) {
	v, err := w.Reference.Read(addr)
	if reg, i, ok := w.man.Find(addr); ok && w.read != nil {
		v = w.read(w, reg.Name, i, v)
	}
	return v, err
}

// withECC makes a warped engine one whose memory corrects single errors and lets double ones be seen.
func withECC(w *warped) {
	w.out = func(w *warped, at slotName, o *dut.Frame) {
		if w.bad[at] {
			spoil(o)
			w.poisoned++
		}
	}
	w.read = func(w *warped, name string, i int, v uint32) uint32 {
		if name == "COUNTER" {
			switch w.man.Counters[i] {
			case "ECC_CORRECTED":
				return w.corrected
			case "ECC_DOUBLE":
				return w.poisoned
			}
		}
		return v
	}
}

// spoil inverts a frame's ICRC and leaves something else in its payload.
func spoil(o *dut.Frame) {
	o.Data[54] ^= 3
	roce.Reseal(o.Data)
	end := 14 + int(o.Data[16])<<8 + int(o.Data[17])
	for i := end - 4; i < end; i++ {
		o.Data[i] ^= 0xFF
	}
}

// parts orders contributions by endpoint.
func parts(all []taken) [][]byte {
	list := make([][]byte, 32)
	for _, x := range all {
		list[x.end] = x.payload
	}
	return list
}

// payloads are contributions in the order in which they came.
func payloads(all []taken) [][]byte {
	var list [][]byte
	for _, x := range all {
		list = append(list, x.payload)
	}
	return list
}

// edited changes elements of the right result.
func edited(change func(k arith.Kind, v uint32, in []uint32) uint32) func(*warped, slotName, arith.Kind, []taken) []byte {
	return func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
		out := w.right(k, all)
		in := make([]uint32, len(all))
		for i := range k.Elements(len(out)) {
			for r := range all {
				in[r] = k.Bits(all[r].payload, i)
			}
			k.SetBits(out, i, change(k, k.Bits(out, i), in))
		}
		return out
	}
}

// mantissa is the number of stored bits, and where the exponent's all-ones stand.
func mantissa(k arith.Kind) (bits int, inf uint32) {
	switch k.DType {
	case arith.FP16:
		return 10, 0x7C00
	case arith.BF16:
		return 7, 0x7F80
	}
	return 23, 0x7F800000
}

func isNaN(k arith.Kind, v uint32) bool {
	m, inf := mantissa(k)
	return k.DType.Float() && v&^(inf+1<<m) > inf
}

func TestPlantedArithmeticIsCaught(t *testing.T) {
	full, tree := synthetic.Full(), synthetic.Reproducible()
	const differ = "engine and reference differ"
	for _, c := range []struct {
		name, scenario string
		p              contract.Params
		plant          func(w *warped)
		says           string
	}{
		{"reproducible sums in the order of arrival", "arith-order", tree, func(w *warped) {
			w.compute = func(_ *warped, _ slotName, k arith.Kind, all []taken) []byte { return k.InOrder(payloads(all)...) }
		}, differ},
		{"the tree is built from the other end", "arith-order", tree, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				list := parts(all)[:w.man.Params.Members+1]
				slices.Reverse(list)
				return k.Tree(list)
			}
		}, differ},
		{"an absent sibling counts as zero", "arith-order", tree, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				list := parts(all)
				for i := range list[:w.man.Params.Members+1] {
					if list[i] == nil {
						list[i] = make([]byte, len(all[0].payload))
					}
				}
				return k.Tree(list)
			}
		}, differ},
		{"sums in place in another order than that of acceptance", "arith-order", full, func(w *warped) {
			w.compute = func(_ *warped, _ slotName, k arith.Kind, all []taken) []byte { return k.Tree(parts(all)) }
		}, differ},
		{"a NaN's payload leaks into a sum", "arith-types", full, func(w *warped) {
			w.compute = edited(func(k arith.Kind, v uint32, in []uint32) uint32 {
				if i := slices.IndexFunc(in, func(x uint32) bool { return isNaN(k, x) }); i >= 0 && k.Op == arith.Sum {
					return in[i]
				}
				return v
			})
		}, differ},
		{"a NaN alone becomes the canonical one", "arith-single", full, func(w *warped) {
			w.compute = func(_ *warped, _ slotName, k arith.Kind, all []taken) []byte {
				return arith.Kind{DType: k.DType, Op: arith.Max, BigEndian: k.BigEndian}.InOrder(all[0].payload, all[0].payload)
			}
		}, differ},
		{"MIN and MAX confused", "arith-types", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				k.Op = []arith.Op{arith.Sum, arith.Max, arith.Min}[k.Op]
				return w.right(k, all)
			}
		}, differ},
		{"MIN and MAX ignore a NaN", "arith-types", full, func(w *warped) {
			w.compute = edited(func(k arith.Kind, v uint32, in []uint32) uint32 {
				if k.Op == arith.Sum || !isNaN(k, v) {
					return v
				}
				return in[0]
			})
		}, differ},
		{"plus and minus zero are the same to MIN and MAX", "arith-types", full, func(w *warped) {
			w.compute = edited(func(k arith.Kind, v uint32, in []uint32) uint32 {
				m, inf := mantissa(k)
				if k.Op != arith.Sum && k.DType.Float() && v&(inf|1<<m-1) == 0 {
					return 0
				}
				return v
			})
		}, differ},
		{"the byte order is ignored", "big-endian", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				k.BigEndian = false
				return w.right(k, all)
			}
		}, differ},
		{"16-bit sums are rounded at every addition", "arith-types", full, func(w *warped) {
			w.compute = func(_ *warped, _ slotName, k arith.Kind, all []taken) []byte {
				out := all[0].payload
				for _, x := range all[1:] {
					out = k.InOrder(out, x.payload)
				}
				return out
			}
		}, differ},
		{"16-bit sums are cut instead of rounded", "arith-types", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				if k.DType != arith.BF16 || len(all) == 1 {
					return w.right(k, all)
				}
				out := make([]byte, len(all[0].payload))
				for i := range k.Elements(len(out)) {
					s := math.Float32frombits(k.Bits(all[0].payload, i) << 16)
					for _, x := range all[1:] {
						s = map[arith.Op]float32{arith.Sum: s + math.Float32frombits(k.Bits(x.payload, i)<<16),
							arith.Min: min(s, math.Float32frombits(k.Bits(x.payload, i)<<16)),
							arith.Max: max(s, math.Float32frombits(k.Bits(x.payload, i)<<16))}[k.Op]
					}
					if v := math.Float32bits(s) >> 16; s == s {
						k.SetBits(out, i, v)
					} else {
						k.SetBits(out, i, 0x7FC0)
					}
				}
				return out
			}
		}, differ},
		{"subnormal results are flushed to zero", "arith-types", full, func(w *warped) {
			w.compute = edited(func(k arith.Kind, v uint32, in []uint32) uint32 {
				m, inf := mantissa(k)
				if k.DType.Float() && v&inf == 0 {
					return v &^ (1<<m - 1)
				}
				return v
			})
		}, differ},
		{"slots of 16-bit types overlap", "arith-types", full, func(w *warped) {
			w.compute = func(w *warped, at slotName, k arith.Kind, all []taken) []byte {
				out := slices.Clone(w.right(k, all))
				next := w.slots[slotName{at.group, at.psn.Next()}]
				if half := w.man.Params.MTUBytes / 2; k.DType.Wide() && len(out) > half && len(next) > 0 && len(next[0].payload) >= len(out)-half {
					copy(out[half:], next[0].payload)
				}
				return out
			}
		}, differ},
		{"a contribution that follows too closely is lost", "arith-hazard", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				keep := all[:1:1]
				for i := 1; i < len(all); i++ {
					if len(all[0].payload) > w.man.Params.BusBytes || all[i].at-all[i-1].at > 9 {
						keep = append(keep, all[i])
					}
				}
				return w.right(k, keep)
			}
		}, differ},
		{"a contribution that follows too closely is added twice", "arith-hazard", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				list := payloads(all)
				if n := len(all[0].payload); n == k.DType.Size() && len(list) > 1 {
					list = append(list, list[len(list)-1])
				}
				return k.InOrder(list...)
			}
		}, differ},
		{"the last element of an odd number is not added", "arith-length", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				out := w.right(k, all)
				if n := k.Elements(len(out)); k.DType.Wide() && n%2 == 1 {
					k.SetBits(out, n-1, k.Bits(all[0].payload, n-1))
				}
				return out
			}
		}, differ},
		{"the byte order of the packet before", "arith-groups", full, func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte {
				k.BigEndian = all[len(all)-1].before.BigEndian
				return w.right(k, all)
			}
		}, differ},
		{"a type that is not included is enabled", "arith-illegal", synthetic.Mini(), func(w *warped) {
			w.write = func(w *warped, name string, _ int, v uint32) uint32 {
				if name == "GROUP_COLLECTIVE" {
					return v | w.bits(name, "dtype").Mask()
				}
				return v
			}
		}, differ},
		{"slots of a 16-bit type run over the end of the buffer", "arith-illegal", full, func(w *warped) {
			w.write = func(w *warped, name string, i int, v uint32) uint32 {
				at := w.bits("GROUP_SLOTS", "base")
				base, n := int(at.Get(v)), 1<<w.bits("GROUP_SLOTS", "log2_n").Get(v)
				if name == "GROUP_SLOTS" && base+n <= w.man.Params.Slots() && base+2*n > w.man.Params.Slots() {
					return v &^ at.Mask()
				}
				return v
			}
		}, differ},
		{"messages with wrong sums reach the hosts", "tree", full, func(w *warped) {
			w.compute = edited(func(_ arith.Kind, v uint32, _ []uint32) uint32 { return v ^ 1 })
		}, differ},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			man := synthetic.Manifest(c.p)
			rep, err := runWarped(t, man, c.scenario, c.plant)
			require.ErrorIs(t, err, ErrFailed)
			assert.Contains(t, rep.Tests[0].Message, c.says)
		})
	}
}

// runWarped runs a scenario on a warped engine.
func runWarped(t *testing.T, man *contract.Manifest, scenario string, plant func(w *warped)) (Report, error) {
	t.Helper()
	return Run(t.Context(), Options{Source: dut.Source{Manifest: man, Kind: dut.KindReference}, Scenario: scenario, Seed: 2, wrap: func(d dut.DUT) dut.DUT {
		w := &warped{Reference: d.(*dut.Reference), man: man, slots: map[slotName][]taken{}, bad: map[slotName]bool{}}
		plant(w)
		return w
	}})
}

// TestWarpedWithoutFault: the wrapper itself changes nothing.
func TestWarpedWithoutFault(t *testing.T) {
	for _, p := range []contract.Params{synthetic.Full(), synthetic.Reproducible()} {
		rep, err := runWarped(t, synthetic.Manifest(p), "*[ae]*", func(w *warped) {
			w.compute = func(w *warped, _ slotName, k arith.Kind, all []taken) []byte { return w.right(k, all) }
		})
		for _, r := range rep.Tests {
			assert.NotEqual(t, "fail", string(r.Verdict), "%s: %s", r.Scenario, r.Message)
		}
		require.NoError(t, err)
	}
}

func TestECC(t *testing.T) {
	for _, p := range []contract.Params{synthetic.Full(), synthetic.Reproducible(), synthetic.Mini()} {
		p.ECC = true
		rep, err := runWarped(t, synthetic.Manifest(p), "ecc", withECC)
		require.NoError(t, err, rep.Tests[0].Message)
		assert.Equal(t, "pass", string(rep.Tests[0].Verdict))
	}
	p := synthetic.Full()
	p.ECC = true
	for _, c := range []struct {
		name  string
		plant func(w *warped)
		says  string
	}{
		{"no memory with errors at all", func(*warped) {}, "ECC_CORRECTED stays 0"},
		{"a single error is not corrected", func(w *warped) {
			withECC(w)
			w.out = func(w *warped, at slotName, o *dut.Frame) {
				if w.corrected == 1 {
					o.Data[54] ^= 1
					roce.Reseal(o.Data)
				}
			}
		}, "engine and reference differ"},
		{"a double error leaves with a good ICRC", func(w *warped) {
			withECC(w)
			w.out = func(w *warped, at slotName, o *dut.Frame) {
				if w.bad[at] {
					o.Data[54] ^= 3
					roce.Reseal(o.Data)
				}
			}
		}, "engine and reference differ"},
		{"a double error is not seen when sent again", func(w *warped) {
			withECC(w)
			seen := map[slotName]int{}
			w.out = func(w *warped, at slotName, o *dut.Frame) {
				if w.bad[at] && seen[at] < w.man.Params.Members {
					spoil(o)
					w.poisoned++
				}
				seen[at]++
			}
		}, "looks good"},
		{"a double error is not counted", func(w *warped) {
			withECC(w)
			read := w.read
			w.read = func(w *warped, name string, i int, v uint32) uint32 {
				w.poisoned = 0
				return read(w, name, i, v)
			}
		}, "ECC_DOUBLE stays 0"},
		{"poison outlives its slot", func(w *warped) {
			withECC(w)
			out := w.out
			w.out = func(w *warped, at slotName, o *dut.Frame) {
				n := w.mw()
				for bad := range w.bad {
					if bad.group == at.group && (at.psn-bad.psn)&roce.PSN(n-1) == 0 {
						w.bad[at] = true
					}
				}
				out(w, at, o)
			}
		}, "behind the bad slot"},
		{"a neighbour is spoilt too", func(w *warped) {
			withECC(w)
			out := w.out
			w.out = func(w *warped, at slotName, o *dut.Frame) {
				if len(w.bad) > 0 && at.group == 1 {
					spoil(o)
				}
				out(w, at, o)
			}
		}, "bad ICRC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rep, err := runWarped(t, synthetic.Manifest(p), "ecc", c.plant)
			require.ErrorIs(t, err, ErrFailed)
			assert.Contains(t, rep.Tests[0].Message, c.says)
		})
	}
	rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Full()), Kind: dut.KindReference}, Scenario: "ecc"})
	require.ErrorIs(t, err, ErrNothingRan)
	assert.Equal(t, "needs ecc", rep.Tests[0].Message)
	rep, err = Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: "ecc"})
	require.ErrorIs(t, err, ErrNothingRan)
	assert.Equal(t, "not_applicable", string(rep.Tests[0].Verdict))
	assert.Equal(t, "needs a payload memory that can err", rep.Tests[0].Message)
}

// mw is the number of slots of group 0.
func (w *warped) mw() int { return 1 << w.field("GROUP_SLOTS", 0, "log2_n") }
