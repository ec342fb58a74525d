// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/socket"
	"incforge/roce"
	"incforge/verify/dut"
)

// sent is a packet that an endpoint of a group sends.
type sent struct {
	group, end int
	psn        roce.PSN
	bytes      int // of payload; negative: a control of an AllReduce of one packet
}

// standstills are groups that stand, each in its own way, and what must be said of them within 3 s. Group 6 rests and, in Mode II, group 7 has
// done all it had to do: nothing may be said of these.
func standstills(mode int) (all []sent, want []string) {
	const start = 0x100
	all = []sent{
		{0, 0, start, 64},
		{1, 0, start, 64}, {1, 1, start, 128},
		{2, 0, start, 64}, {2, 0, start + 1, 64}, {2, 0, start + 2, 64},
		{3, 0, start, 64},
		{4, 0, start + 100, 64},
		{5, 0, start, -1}, {5, 0, start + 1, 64},
		{7, 0, start, 64}, {7, 1, start, 64},
		{8, 0, start, 64},
		{9, 0, start, 64},
	}
	want = []string{
		`group 0 \(allreduce INT32 SUM\) has stood for [23]\.\d s at PSN 0x000100`,
		`endpoint 1 \(port 1, 10\.0\.0\.3 qpn 0x21\) is waited for: its next packet is PSN 0x000100, nothing has ever come from it; see whether its program runs`,
		`group 1 .* has stood`,
		`endpoint [01] \(port [01], 10\.0\.0\.[23] qpn 0x3[01]\) sends a packet of another kind or length .* path MTU.*\(DROP_SHAPE \+\d+ at PSN 0x000100\)`,
		`group 2 .* has stood`,
		`group 3 \(in-band\) has stood`,
		`endpoint 0 .* qpn 0x50\) sends data where a control must begin the next collective \(PSN 0x000100 is expected\).*\(DROP_RANGE \+\d+`,
		`group 4 .* has stood`,
		`endpoint 0 .* qpn 0x60\) sends PSN 0x000164, and none of its data was ever taken: .* START 0x000100; connect it anew \(DROP_GAP \+\d+`,
		`group 5 \(in-band\) has stood`,
		`endpoint 1 .* qpn 0x71\) is waited for: its next packet is PSN 0x000100`,
		`group 8 \(reduce INT32 SUM\) has stood`, `endpoint 1 .* qpn 0xa1\) has not acknowledged PSN 0x000100.*, nothing has ever come from it: see whether its host runs`,
		`group 9 \(broadcast INT32\) has stood`, `endpoint 1 .* qpn 0xb1\) has not acknowledged PSN 0x000100.*, nothing has ever come from it: see whether its host runs`,
	}
	if mode == 2 {
		return all, append(want, `rising meanwhile: DROP_STALE \+\d+ \(endpoint 0 repeats PSN 0x000100\)`,
			`endpoint 0 .* qpn 0x40\) has more packets under way than the group's window of 1: .*\(DROP_WINDOW \+\d+`)
	}
	return all, append(want, `RX_DUPLICATE \+\d+ \(endpoint 0 repeats PSN 0x000100\)`,
		`endpoint 0 .* qpn 0x40\) is further ahead of the others than its pipe has room for, .* window of 1 \(DROP_FULL \+\d+ at PSN 0x000101\)`,
		`group 7 .* has stood`, `endpoint 0 .* qpn 0x90\) has not acknowledged PSN 0x000100, 1 sent, the last frame came from it .*: see whether its host runs`)
}

// standing is a rig with the groups of standstills.
func standing(t *testing.T, mode int, change func(o *live.Options)) *rig {
	p := synthetic.Mini()
	p.Mode, p.Groups, p.BufferBytes = mode, 10, 10*4*1024
	text := "groups:\n"
	for g := range 10 {
		text += "  - start: 0x100\n    window: 1\n"
		if g == 3 || g == 5 {
			text = text[:len(text)-len("    window: 1\n")] + "    window: 2\n    in_band: true\n"
		}
		if g >= 8 { // a Reduce to endpoint 1, a Broadcast from endpoint 0
			text += fmt.Sprintf("    collective: %s\n    parent: %d\n", []string{"reduce", "broadcast"}[g-8], 9-g)
		}
		text += "    endpoints:\n"
		for e := range 2 {
			text += fmt.Sprintf("      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:0%d, ip: 10.0.0.%d, qpn: %#x}}\n", e+2, e+2, 0x20+16*g+e)
		}
	}
	return runWith(t, p, text, 2, change)
}

// emit sends a packet as its endpoint would.
func (r *rig) emit(s *socket.Socket, p sent) {
	ep := r.setup.Groups[p.group].Ends[p.end]
	out := roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xC000, Op: roce.SendOnly,
		PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: p.psn, AckReq: true}
	if p.bytes < 0 {
		out.Op, out.Imm = roce.SendOnlyImm, 3<<25|1 // AllReduce, SUM, INT32, one packet
	} else {
		out.Payload = make([]byte, p.bytes)
	}
	require.NoError(r.t, s.Send(r.mine(p.end), out.AppendFrame(nil)))
}

// repeat sends all packets every 400 ms, as hosts do that hear nothing, until done says so or it takes too long.
func (r *rig) repeat(all []sent, done func() bool) {
	s, err := socket.Listen(r.dir + "/sender")
	require.NoError(r.t, err)
	for end := time.Now().Add(10 * time.Second); !done() && time.Now().Before(end); time.Sleep(400 * time.Millisecond) {
		for _, p := range all {
			if p.group == 7 {
				continue
			}
			r.emit(s, p)
		}
	}
	require.NoError(r.t, s.Close())
}

// says tells which of the patterns are in no line of the log.
func (r *rig) lacks(want []string) (none []string) {
	for _, w := range want {
		if !regexp.MustCompile(w).MatchString(r.log.String()) {
			none = append(none, w)
		}
	}
	return none
}

func TestStandstills(t *testing.T) {
	for name, c := range map[string]struct {
		mode  int
		alone bool
	}{"mode 2": {2, false}, "mode 3": {3, false}, "the reference alone": {2, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mode := c.mode
			r := standing(t, mode, func(o *live.Options) { o.Status, o.Switches[0].Unchecked = 0, c.alone })
			all, want := standstills(mode)
			s, err := socket.Listen(r.dir + "/once")
			require.NoError(t, err)
			for _, p := range all {
				if p.group == 7 {
					r.emit(s, p)
				}
			}
			ep := r.setup.Groups[0].Ends[0]
			stray := roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, Op: roce.SendOnly, PKey: roce.DefaultPKey, DestQP: 17}
			want = append(want, `port 1: 10\.0\.0\.2 sends to QPN 0x11, which no endpoint has`)
			for range 3 {
				require.NoError(t, s.Send(r.mine(1), stray.AppendFrame(nil)))
			}
			start := time.Now()
			r.repeat(all, func() bool { return r.lacks(want) == nil })
			assert.Empty(t, r.lacks(want), "%s", r.log.String())
			t.Logf("all said after %v", time.Since(start))
			assert.NotContains(t, r.log.String(), "group 6")
			assert.NotContains(t, r.log.String(), "it does not repeat it", "the packet that there was no room for")
			assert.Equal(t, 1, strings.Count(r.log.String(), "which no endpoint has"), "once")
			if mode == 2 {
				assert.NotContains(t, r.log.String(), "group 7")
			}
			state, err := r.client().State(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, state.Switches[0].Groups[0].Stands)
			assert.Equal(t, 1, state.Switches[0].Groups[0].Partial)

			r.emit(s, sent{0, 1, 0x100, 64}) // the one that is waited for comes
			require.Eventually(t, func() bool { return strings.Contains(r.log.String(), "group 0 goes on after ") }, 10*time.Second, 20*time.Millisecond)
			require.NoError(t, s.Close())
			rep := r.end()
			require.NoError(t, r.err)
			assert.GreaterOrEqual(t, rep.Standstills, uint64(6))
		})
	}
}

// TestStandstillsUnseen: of an engine that cannot be looked into, what comes and goes and the counters of the whole engine are all there is.
func TestStandstillsUnseen(t *testing.T) {
	t.Parallel()
	r := standing(t, 2, func(o *live.Options) {
		o.Switches[0].Unchecked, o.Switches[0].Engine = true, struct{ dut.DUT }{o.Switches[0].Engine}
	})
	want := []string{`group 0 .* has stood`, `endpoint 1 \(port 1, 10\.0\.0\.3 qpn 0x21\) has sent nothing since`,
		`rising meanwhile \(of the whole engine; .*\): .*DROP_STALE \+\d+`}
	r.repeat([]sent{{0, 0, 0x100, 64}}, func() bool { return r.lacks(want) == nil })
	assert.Empty(t, r.lacks(want), "%s", r.log.String())
	assert.NotContains(t, r.log.String(), "group 1")
	r.end()
	require.NoError(t, r.err)
}

// TestConnectedAnew: a rank that comes back at START, while the group has gone on, is named and nobody else; when the others go on, too.
func TestConnectedAnew(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) {
			t.Parallel()
			p := synthetic.Mini()
			p.Mode = mode
			r := runWith(t, p, star, ranks, func(o *live.Options) { o.Status = 0 })
			r.allReduce(10000, func(int) {}) // of 40 packets
			s, err := socket.Listen(r.dir + "/again")
			require.NoError(t, err)
			time.Sleep(time.Second) // longer than the switch takes to see that all is done
			r.emit(s, sent{0, 0, 0xFFFFF0, 64})
			const why = `endpoint 0 .* has been connected anew at PSN 0xfffff0 while the group is at 0x000018: reset the group and connect all anew \((RX_DUPLICATE|DROP_STALE) \+1 at`
			says := func(times int) func() bool {
				return func() bool { return len(regexp.MustCompile(why).FindAllString(r.log.String(), -1)) == times }
			}
			require.Eventually(t, says(1), 10*time.Second, 20*time.Millisecond, "at rest")
			for rank := 1; rank < ranks; rank++ {
				r.emit(s, sent{0, rank, 0x18, 64})
			}
			require.Eventually(t, says(2), 10*time.Second, 20*time.Millisecond, "when the others go on")
			assert.Contains(t, r.log.String(), "group 0 goes on after")
			assert.NotContains(t, r.log.String(), "is waited for")
			assert.NotRegexp(t, `endpoint [123] \(`, r.log.String())
			require.NoError(t, s.Close())
			r.end()
			require.NoError(t, r.err)
		})
	}
}
