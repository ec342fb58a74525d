// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/jobs"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/cover"
	"incforge/verify/dut"
	"incforge/verify/result"
)

// faulty is a reference engine with a fault planted between it and the scoreboard.
type faulty struct {
	*dut.Reference
	out   func(n int, o dut.Frame) []dut.Frame // the n-th frame that leaves
	read  func(addr, v uint32) uint32
	write func(addr, v uint32) uint32
	n     int
}

func (f *faulty) Out() []dut.Frame {
	var all []dut.Frame
	for _, o := range f.Reference.Out() {
		f.n++
		if f.out == nil {
			all = append(all, o)
			continue
		}
		o.Data = slices.Clone(o.Data)
		all = append(all, f.out(f.n, o)...)
	}
	return all
}

func (f *faulty) Read(addr uint32) (uint32, error) {
	v, err := f.Reference.Read(addr)
	if f.read != nil {
		v = f.read(addr, v)
	}
	return v, err
}

func (f *faulty) Write(addr, v uint32, strobes uint8) error {
	if f.write != nil {
		v = f.write(addr, v)
	}
	return f.Reference.Write(addr, v, strobes)
}

// edit changes a frame that is an ACK, or data, and makes its checksums good again: only the scoreboard can tell.
func edit(when func(p *roce.Packet) bool, change func(p *roce.Packet)) func(int, dut.Frame) []dut.Frame {
	return func(n int, o dut.Frame) []dut.Frame {
		if p, err := roce.Decode(o.Data); err == nil && n%7 == 0 && when(&p) {
			change(&p)
			o.Data = p.AppendFrame(nil)
		}
		return []dut.Frame{o}
	}
}

func isAck(p *roce.Packet) bool  { return p.Op == roce.Acknowledge }
func isSend(p *roce.Packet) bool { return p.Op.IsSend() && len(p.Payload) > 0 }

// bits is where a field lies in its register.
func bits(t *testing.T, m *contract.Manifest, register, field string) contract.Field {
	t.Helper()
	f, err := m.Registers.Field(register, field)
	require.NoError(t, err)
	return f
}

func TestPlantedFaultsAreCaught(t *testing.T) {
	man := synthetic.Manifest(synthetic.Mini())
	addr := func(name string, i int) uint32 {
		a, err := man.Addr(name, i)
		require.NoError(t, err)
		return a
	}
	for _, c := range []struct {
		name, scenario string
		plant          func(f *faulty)
		says           string
	}{
		{"an ACK is lost", "ack-reflect", func(f *faulty) {
			f.out = func(n int, o dut.Frame) []dut.Frame {
				if p, _ := roce.Decode(o.Data); n == 30 && isAck(&p) {
					return nil
				}
				return []dut.Frame{o}
			}
		}, "never left"},
		{"NAK becomes ACK", "random", func(f *faulty) {
			f.out = edit(func(p *roce.Packet) bool { return isAck(p) && p.Syndrome == roce.NAKSequence }, func(p *roce.Packet) { p.Syndrome = roce.AckSyndrome })
		}, "first difference at byte 54"},
		{"a result twice", "messages", func(f *faulty) {
			f.out = func(n int, o dut.Frame) []dut.Frame {
				if n == 9 {
					return []dut.Frame{o, o}
				}
				return []dut.Frame{o}
			}
		}, "unexpected frame"},
		{"one bit of a sum", "chaos-tree", func(f *faulty) {
			f.out = edit(isSend, func(p *roce.Packet) { p.Payload[len(p.Payload)-1] ^= 0x80 })
		}, "engine and reference differ"},
		{"two frames of a port swapped", "line-rate", func(f *faulty) {
			var held *dut.Frame
			f.out = func(n int, o dut.Frame) []dut.Frame {
				switch {
				case n == 20:
					held = &o
					return nil
				case held != nil && held.Port == o.Port:
					h := *held
					held = nil
					return []dut.Frame{o, h}
				}
				return []dut.Frame{o}
			}
		}, "unexpected frame"},
		{"the wrong port", "bypass", func(f *faulty) {
			f.out = func(n int, o dut.Frame) []dut.Frame {
				if n == 50 {
					o.Port = (o.Port + 1) % 4
				}
				return []dut.Frame{o}
			}
		}, "unexpected frame"},
		{"the error bit of a bypassed frame", "bypass", func(f *faulty) {
			f.out = func(_ int, o dut.Frame) []dut.Frame {
				o.Err = false
				return []dut.Frame{o}
			}
		}, "err false"},
		{"ICRC not recomputed", "messages", func(f *faulty) {
			f.out = func(_ int, o dut.Frame) []dut.Frame {
				o.Data[len(o.Data)-1] ^= 1
				return []dut.Frame{o}
			}
		}, "engine and reference differ"},
		{"padding left out", "barrier", func(f *faulty) {
			f.out = func(_ int, o dut.Frame) []dut.Frame {
				o.Data = o.Data[:58]
				return []dut.Frame{o}
			}
		}, "expected 60 bytes, got 58"},
		{"a counter is off by one", "allreduce-1psn", func(f *faulty) {
			a := addr("COUNTER", slices.Index(man.Counters, "BUFFERED"))
			f.read = func(at, v uint32) uint32 {
				if at == a {
					v++
				}
				return v
			}
		}, "counters: BUFFERED is 4, expected 3"},
		{"a register without reset", "registers", func(f *faulty) {
			a := addr("IP_ID", 0)
			f.read = func(at, v uint32) uint32 {
				if at == a && v == contract.DefaultIPID {
					return 0x1234
				}
				return v
			}
		}, "register IP_ID[0] reads 0x1234"},
		{"an illegal group is enabled", "control", func(f *faulty) {
			a := addr("GROUP_COLLECTIVE", 0)
			collective := bits(t, man, "GROUP_COLLECTIVE", "collective")
			f.write = func(at, v uint32) uint32 {
				if at == a {
					return v &^ collective.Mask()
				}
				return v
			}
		}, "engine and reference differ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: man, Kind: dut.KindReference}, Scenario: c.scenario, Seed: 3, FailDir: dir,
				wrap: func(d dut.DUT) dut.DUT {
					f := &faulty{Reference: d.(*dut.Reference)}
					c.plant(f)
					return f
				}})
			require.ErrorIs(t, err, ErrFailed)
			require.Len(t, rep.Tests, 1)
			assert.Contains(t, rep.Tests[0].Message, c.says)
			assert.Equal(t, "incforge verify synthetic --dut reference --scenario "+c.scenario+" --seed 3", rep.Tests[0].Replay)
			frames, ports, err := roce.ReadCapture(rep.Tests[0].Capture)
			if rep.Tests[0].Frames > 0 {
				require.NoError(t, err)
				assert.NotEmpty(t, frames)
				assert.Equal(t, "engine0.p0.in", ports[0])
			}
		})
	}
}

func TestRunOfNothingFails(t *testing.T) {
	man := synthetic.Manifest(synthetic.Mini())
	_, err := Run(context.Background(), Options{Source: dut.Source{Manifest: man, Kind: dut.KindReference}, Scenario: "no-such-*"})
	require.ErrorContains(t, err, "no scenario matches")
	man.Params.Members = 1
	_, err = Run(context.Background(), Options{Source: dut.Source{Manifest: man, Kind: dut.KindReference}, Scenario: "host-death"})
	require.ErrorIs(t, err, ErrNothingRan)
	_, err = Run(context.Background(), Options{Source: dut.Source{Manifest: man, Kind: "paper"}})
	require.ErrorContains(t, err, "unknown kind")
}

func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) result.Test {
		rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Scenario: "chaos-tree", Seed: seed})
		require.NoError(t, err)
		r := rep.Tests[0]
		r.WallSeconds = 0
		return r
	}
	a, b, c := run(7), run(7), run(8)
	assert.Equal(t, a, b)
	assert.NotEqual(t, a.Cycles, c.Cycles)
	assert.Positive(t, a.Values["link_lost"])
	assert.Positive(t, a.Values["host_resent"])
}

func TestOddConfigurations(t *testing.T) {
	for name, change := range map[string]func(*contract.Params){
		"one member":              func(p *contract.Params) { p.Members = 1 },
		"three members, one port": func(p *contract.Params) { p.Members, p.Ports = 3, 1 },
		"one group, no window":    func(p *contract.Params) { p.Groups, p.WindowPackets = 1, 1 },
		"more members than ports": func(p *contract.Params) { p.Members, p.Ports = 15, 3 },
		"three groups, few slots": func(p *contract.Params) { p.Groups, p.BufferBytes = 3, 6*1024 },
		"two slots":               func(p *contract.Params) { p.Groups, p.BufferBytes, p.WindowPackets = 1, 2*1024, 1 },
		"wide bus, MTU 4096":      func(p *contract.Params) { p.BusBytes, p.MTUBytes, p.BufferBytes = 64, 4096, 65536 },
		"MTU 256, no ICRC":        func(p *contract.Params) { p.MTUBytes, p.ICRCCheck = 256, false },
		"16-bit types, wide bus": func(p *contract.Params) {
			*p = synthetic.Full()
			p.DTypes, p.BusBytes, p.MTUBytes, p.BufferBytes = []string{"FP16", "BF16"}, 256, 2048, 131072
		},
		"all types, few slots": func(p *contract.Params) {
			*p = synthetic.Full()
			p.BufferBytes, p.WindowPackets, p.Members = 5*1024, 8, 7
		},
		"FP32 MAX, reproducible, one member": func(p *contract.Params) {
			*p = synthetic.Reproducible()
			p.DTypes, p.Ops, p.Members = []string{"FP32"}, []string{"MAX"}, 1
		},
		"reproducible, even members, odd slots": func(p *contract.Params) {
			*p = synthetic.Reproducible()
			p.Members, p.BufferBytes = 6, 3*1024*9
		},
		"reproducible, two members": func(p *contract.Params) {
			*p = synthetic.Reproducible()
			p.Members, p.DTypes, p.BufferBytes, p.WindowPackets, p.Groups = 2, []string{"BF16", "INT32"}, 4*1024, 1, 1
		},
	} {
		modes := []int{2}
		if slices.Contains([]string{"one member", "three members, one port", "two slots", "all types, few slots", "reproducible, two members"}, name) {
			modes = append(modes, 3)
		}
		for _, mode := range modes {
			t.Run(fmt.Sprintf("mode %d, %s", mode, name), func(t *testing.T) {
				t.Parallel()
				p := synthetic.Mini()
				change(&p)
				p.Mode = mode
				rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Seed: 5, Scenario: "!*mutate"})
				for _, r := range rep.Tests {
					assert.NotEqual(t, result.Fail, r.Verdict, "%s: %s", r.Scenario, r.Message)
				}
				require.NoError(t, err)
			})
		}
	}
}

func TestResultsAndJUnit(t *testing.T) {
	var lines bytes.Buffer
	rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Scenario: "*a*", Place: jobs.Place{Jobs: 3}, Results: &lines})
	require.NoError(t, err)
	var read []result.Test
	for d := json.NewDecoder(&lines); d.More(); {
		var one result.Test
		require.NoError(t, d.Decode(&one))
		read = append(read, one)
	}
	assert.Len(t, read, len(rep.Tests))
	for _, r := range read {
		assert.NotEmpty(t, r.Replay)
		if r.Verdict != result.NotApplicable {
			assert.NotNil(t, r.Coverage)
		}
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, result.WriteJUnit(f, rep.Tests))
	require.NoError(t, f.Close())
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(b, new(struct{})))
	assert.Equal(t, len(rep.Tests), strings.Count(string(b), "<testcase "))
	assert.Contains(t, string(b), `<property name="seed" value="0">`)
}

// TestCoverage asks that the scenarios together meet every action, every drop reason, every opcode and every slot state.
func TestCoverage(t *testing.T) {
	rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Place: jobs.Place{Jobs: 2}, Seed: 1})
	require.NoError(t, err)
	s := rep.Coverage.Summary()
	for _, want := range []string{"BYPASS", "BUFFERED", "TX_RESULT", "TX_RESEND", "DOWN_DATA", "TX_REFLECT", "TX_CNP"} {
		assert.Positive(t, s.Outcomes[want], want)
	}
	for _, name := range synthetic.Manifest(synthetic.Mini()).Counters {
		if strings.HasPrefix(name, "DROP_") {
			assert.Positive(t, s.Outcomes[name], name)
		}
	}
	for op := roce.SendFirst; op <= roce.SendOnlyImm; op++ {
		assert.Positive(t, s.Opcodes[op.String()], op.String())
	}
	for _, slot := range []string{"empty", "partial", "complete", "other"} {
		assert.Positive(t, s.Slots[slot], slot)
	}
	assert.Empty(t, holes(s))
	assert.Len(t, s.Arith, 2, "INT32 SUM in both byte orders")
	for _, end := range []string{"2", "6"} { // words behind 54 or 58 bytes, on a bus of eight
		assert.Positive(t, s.Ends[end], end)
	}
}

// TestArithmeticCoverage: every type, operation and byte order is met, in place and reproducible, by the scenarios of arithmetic alone.
func TestArithmeticCoverage(t *testing.T) {
	for _, p := range []contract.Params{synthetic.Full(), synthetic.Reproducible()} {
		rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: "arith-*", Seed: 1})
		require.NoError(t, err)
		s := rep.Coverage.Summary()
		assert.Empty(t, holes(s))
		assert.Len(t, s.Arith, 24)
		rep, err = Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: "barrier", Seed: 1})
		require.NoError(t, err)
		s = rep.Coverage.Summary()
		assert.Len(t, holes(s), 24, "barriers compute nothing")
	}
}

// holes are the arithmetic that the configuration includes and no completed slot had.
func holes(s cover.Summary) []string {
	var all []string
	for name, n := range s.Arith {
		if n == 0 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
