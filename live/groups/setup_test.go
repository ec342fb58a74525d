// SPDX-License-Identifier: Apache-2.0

package groups

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/roce"
)

// full is a design with every type and operation and in-band groups: two groups of up to four members, 32 slots.
func full() *contract.Manifest {
	p := synthetic.Full()
	p.InBand = true
	return synthetic.Manifest(p)
}

const everything = `
arp: true
gap_nak: false
foreign_bypass: true
ip_id: 0x2222
bypass:
  - {from: 0, to: 1}
  - {from: 1, to: 0}
groups:
  - group: 1
    collective: reduce
    dtype: BF16
    op: MAX
    big_endian: true
    start: 0xFFFFFE
    window: 2
    slot_base: 4
    parent: 4
    in: [0, 2, 4]
    out: [0]
    ack: [2]
    endpoints:
      - endpoint: 2
        port: 3
        host: false
        udp_source_port: 50000
        ttl: 3
        tos: 0x68
        local: {mac: "02:00:00:00:00:01", ip: 10.0.0.1, qpn: 0x55000A}
        remote: {mac: 52:54:00:12:34:56, ip: 10.0.0.2, qpn: 17}
      - endpoint: 0
        local: {ip: 10.0.0.1}
        remote: {mac: 52:54:00:12:34:57, ip: 10.0.0.3, qpn: 18}
      - endpoint: 4
        local: {ip: 10.0.0.1}
        remote: {mac: 52:54:00:12:34:58, ip: 10.0.0.4, qpn: 19}
  - group: 0
    in_band: true
    root_sends: true
    endpoints:
      - {local: {ip: 10.0.1.1}, remote: {mac: 52:54:00:12:34:5a, ip: 10.0.1.2, qpn: 1}}
      - {local: {ip: 10.0.1.1}, remote: {mac: 52:54:00:12:34:5b, ip: 10.0.1.3, qpn: 1}}
`

func TestSetup(t *testing.T) {
	s, err := Parse("g.yaml", []byte(everything), full(), nil)
	require.NoError(t, err)
	r := func(e uint8) inc.Route { return inc.Route{Valid: true, Endpoint: e} }
	want := &Setup{ARP: true, ForeignBypass: true, IPID: 0x2222, Bypass: map[int]int{0: 1, 1: 0}, Groups: []Group{
		{Index: 1, Set: inc.Group{Start: 0xFFFFFE, SlotBase: 4, Log2N: 2, InMask: 0b10101, OutMask: 1, AckMask: 4, Parent: 4, HasParent: true,
			Collective: inc.CollectiveReduce, Op: inc.OpMax, DType: inc.DTypeBF16, BigEndian: true},
			Ends: map[int]inc.Endpoint{
				2: {Valid: true, Port: 3, LocalQPN: 0x55000A, RemoteQPN: 17, LocalIP: roce.IP4{10, 0, 0, 1}, RemoteIP: roce.IP4{10, 0, 0, 2},
					LocalMAC: roce.MAC{2, 0, 0, 0, 0, 1}, RemoteMAC: roce.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x56}, UDPSourcePort: 50000, TTL: 3, TOS: 0x68},
				0: {Valid: true, Host: true, LocalQPN: 0x100008, RemoteQPN: 18, LocalIP: roce.IP4{10, 0, 0, 1}, RemoteIP: roce.IP4{10, 0, 0, 3},
					LocalMAC: roce.MAC{2, 0x49, 0x4E, 0x43, 0, 0}, RemoteMAC: roce.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x57}, UDPSourcePort: 49152, TTL: 64},
				4: {Valid: true, Host: true, LocalQPN: 0x10000C, RemoteQPN: 19, LocalIP: roce.IP4{10, 0, 0, 1}, RemoteIP: roce.IP4{10, 0, 0, 4},
					LocalMAC: roce.MAC{2, 0x49, 0x4E, 0x43, 0, 0}, RemoteMAC: roce.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x58}, UDPSourcePort: 49152, TTL: 64},
			}},
		// 32 slots less the 12 units before: a window of 4 packets of two units each, rank by rank the endpoints as roots.
		{Index: 0, Set: inc.Group{SlotBase: 12, Log2N: 3, InMask: 3, OutMask: 3, AckMask: 3, InBand: true, RootSends: true,
			Route: [inc.Roots]inc.Route{r(0), r(1)}},
			Ends: map[int]inc.Endpoint{
				0: {Valid: true, Host: true, LocalQPN: 0x100000, RemoteQPN: 1, LocalIP: roce.IP4{10, 0, 1, 1}, RemoteIP: roce.IP4{10, 0, 1, 2},
					LocalMAC: roce.MAC{2, 0x49, 0x4E, 0x43, 0, 0}, RemoteMAC: roce.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x5A}, UDPSourcePort: 49152, TTL: 64},
				1: {Valid: true, Host: true, Port: 1, LocalQPN: 0x100001, RemoteQPN: 1, LocalIP: roce.IP4{10, 0, 1, 1}, RemoteIP: roce.IP4{10, 0, 1, 3},
					LocalMAC: roce.MAC{2, 0x49, 0x4E, 0x43, 0, 1}, RemoteMAC: roce.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x5B}, UDPSourcePort: 49152, TTL: 64},
			}},
	}}
	want.Groups[0].Ends[4] = endpointOn(want.Groups[0].Ends[4], 0) // 4 mod 4 ports
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(Setup{}, Group{})); diff != "" {
		t.Errorf("setup (-want +got):\n%s", diff)
	}
}

func endpointOn(ep inc.Endpoint, port int) inc.Endpoint {
	ep.Port = port
	return ep
}

// The masks that groups get by themselves.
func TestRoles(t *testing.T) {
	ends := `
    endpoints:
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: 1}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:03, ip: 10.0.0.4, qpn: 1}}
`
	type masks struct{ In, Out, Ack, Hosts uint32 }
	for _, c := range []struct {
		group string
		want  masks
	}{
		{"collective: allreduce", masks{7, 7, 7, 7}},
		{"collective: barrier", masks{7, 7, 7, 7}},
		{"parent: 2", masks{3, 3, 3, 3}},
		{"collective: reduce, parent: 0", masks{6, 6, 1, 7}},
		{"collective: broadcast, parent: 1", masks{5, 5, 5, 7}},
	} {
		s, err := Parse("g", []byte("groups:\n  - dtype: FP32\n    "+strings.ReplaceAll(c.group, ", ", "\n    ")+ends), full(), nil)
		require.NoError(t, err, c.group)
		g := s.Groups[0]
		got := masks{In: g.Set.InMask, Out: g.Set.OutMask, Ack: g.Set.AckMask}
		for e, ep := range g.Ends {
			if ep.Host {
				got.Hosts |= 1 << e
			}
		}
		assert.Equal(t, c.want, got, c.group)
	}
}

// TestSetupRefuses: everything that is wrong is said with its line and column.
func TestSetupRefuses(t *testing.T) {
	ok := `      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: 1}}` + "\n"
	group := func(lines ...string) string {
		return "groups:\n  - start: 0\n    " + strings.Join(append(lines, "endpoints:"), "\n    ") + "\n" + ok
	}
	end := func(line string) string { return "groups:\n  - endpoints:\n" + ok + "      - " + line + "\n" }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"g.yaml: the file is empty"}},
		{"no type", "groups:\n  - endpoints:\n" + ok, []string{"group 0 has no dtype: this design has FP32, FP16, BF16, INT32"}},
		{"all at once", "arp: 1\nnobody: 2\nip_id: 65536\n" + group("window: \"4\"", "collective: gather", "parent: 3"), []string{`groups file: g.yaml:1:6: 1 is not true or false
g.yaml:2:1: unknown key "nobody"`, "\ng.yaml:3:8: ip_id is 65536", "\ng.yaml:6:13: \"4\" is not an integer\ng.yaml:7:17: collective is \"gather\"", "\ng.yaml:8:13: parent 3 is not among"}},
		{"all addresses at once", end(`{local: {ip: 10.0.0}, remote: {mac: 1, ip: x, qpn: y}}`), []string{"g.yaml:4:22: ", "\ng.yaml:4:45: ", "\ng.yaml:4:52: ", "\ng.yaml:4:60: "}},
		{"one remote twice", end(`{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 1}}`), []string{
			"g.yaml:4:85: group 0, endpoint 1: group 0, endpoint 0 has the remote 10.0.0.2, qpn 0x1 already"}},
		{"no groups", "arp: true\n", []string{"g.yaml: there are no groups"}},
		{"no YAML", "groups: [\n", []string{"g.yaml:1:9: "}},
		{"unknown key", "groups:\n  - grup: 1\n", []string{"g.yaml:2:5: ", `"grup"`}},
		{"key twice", "arp: true\narp: false\n", []string{"g.yaml:2:1: ", "arp"}},
		{"wrong type", "arp: 1\n", []string{"g.yaml:1:6: 1 is not true or false"}},
		{"number as text", group("window: \"4\""), []string{"g.yaml:3:13: \"4\" is not an integer"}},
		{"fraction", group("window: 4.0"), []string{"g.yaml:3:13: 4.0 is not an integer"}},
		{"negative", group("window: -4"), []string{"g.yaml:3:13: -4 is not an integer that is not negative"}},
		{"huge", group("window: 4294967296"), []string{"g.yaml:3:13: 4294967296 is not an integer of at most 32 bits"}},
		{"a list with words", group("in: [0, x]"), []string{"g.yaml:3:13: x is not an integer"}},
		{"no list", group("in: 0"), []string{"g.yaml:3:9: 0 is not a list of integers"}},
		{"word as number", group("collective: 0"), []string{"g.yaml:3:17: 0 is not a word"}},
		{"IP", end(`{local: {ip: 10.0.0}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}`), []string{"g.yaml:4:22: IPv4 address: "}},
		{"IP of bad octets", end(`{local: {ip: 10.0.0.300}, remote: {}}`), []string{"g.yaml:4:22: IPv4 address"}},
		{"MAC", end(`{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00}}`), []string{"g.yaml:4:47: MAC address"}},
		{"ranges", "ip_id: 65536\nbypass:\n  - {from: 4, to: 0}\n  - {from: 0, to: 5}\n  - {from: 0, to: 0}\n  - {from: 1}\n" + group("start: 0"), []string{
			"g.yaml:9:5: "}}, // start is given twice: nothing else is looked at
		{"ranges of the file", "ip_id: 65536\nbypass:\n  - {from: 4, to: 0}\n  - {from: 0, to: 5}\n  - {from: 0, to: 2}\n  - {from: 1}\n" + group("group: 2"), []string{
			"g.yaml:1:8: ip_id is 65536, allowed are 0 to 65535", "g.yaml:3:12: from is 4, allowed are 0 to 3", "g.yaml:4:19: to is 5, allowed are 0 to 3",
			"g.yaml:5:12: port 0 has a bypass already", "g.yaml:5:19: port 2 must have a bypass of its own", "g.yaml:6:12: bypass 3 needs from and to",
			"g.yaml:9:12: group is 2, allowed are 0 to 1"}},
		{"words", group("collective: gather", "dtype: FP8", "op: AVG"), []string{`g.yaml:3:17: collective is "gather", allowed are allreduce, reduce, broadcast, barrier`,
			`g.yaml:4:12: dtype is "FP8", allowed are FP32, FP16, BF16, INT32`, `g.yaml:5:9: op is "AVG", allowed are SUM, MIN, MAX`}},
		{"one-way without parent", group("collective: broadcast"), []string{"g.yaml:3:17: a broadcast needs a parent"}},
		{"parent that is nobody", group("parent: 3"), []string{"g.yaml:3:13: parent 3 is not among the endpoints"}},
		{"parent that cannot be", group("parent: 5"), []string{"g.yaml:3:13: parent is 5, allowed are 0 to 4"}},
		{"masks", group("in: [1]", "out: [9]", "ack: [0, 2]"), []string{"g.yaml:3:9: in: endpoint 1 is not", "g.yaml:4:10: out: endpoint 9 is not",
			"g.yaml:5:10: ack: endpoint 2 is not"}},
		{"window", group("window: 3"), []string{"g.yaml:3:13: window is 3, it must be a power of two"}},
		{"window beyond the buffer", group("window: 32"), []string{"g.yaml:3:13: group 0: a window of 32 packets takes 64 units; the buffer has 32, all free"}},
		{"wide window beyond the buffer", group("dtype: FP16", "window: 16"), []string{"g.yaml:4:13: group 0: a window of 16 packets takes 64 units"}},
		{"slots", group("slot_base: 32"), []string{"g.yaml:3:16: group 0: a window of 1 packets takes 2 units from 32 on"}},
		{"slots that overlap", "groups:\n  - endpoints:\n" + ok + "  - slot_base: 7\n    endpoints:\n" + ok, []string{
			"g.yaml:4:16: group 1: a window of 1 packets takes 2 units from 7 on; the buffer has 32, group 0 has 0 to 7"}},
		{"routes", group("routes: [0]"), []string{"g.yaml:3:13: routes are for in-band groups"}},
		{"routes to nowhere", group("in_band: true", "routes: [0, 1]"), []string{"g.yaml:4:13: routes: rank 1 is at endpoint 1"}},
		{"too many routes", group("in_band: true", "routes: ["+strings.Repeat("0,", 32)+"0]"), []string{"g.yaml:4:13: there are 33 routes, allowed are 32"}},
		{"in-band Reduce", group("in_band: true", "parent: 0", "collective: reduce"), []string{"g.yaml:5:17: collective reduce: an in-band group"}},
		{"group twice", "groups:\n  - group: 1\n    endpoints:\n" + ok + "  - endpoints:\n" + ok, []string{"group 1 is there already"}},
		{"too many groups", "groups:\n  - endpoints:\n" + ok + "  - endpoints:\n" + ok + "  - endpoints:\n" + ok, []string{"group 2: this design has 2 groups"}},
		{"no endpoints", "groups:\n  - {group: 1}\n", []string{"g.yaml:2:13: group 1 has no endpoints"}},
		{"endpoint twice", end("{endpoint: 0, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}"), []string{"g.yaml:4:20: endpoint 0 is there already"}},
		{"endpoint too high", end("{endpoint: 5, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}"), []string{"g.yaml:4:20: endpoint is 5, allowed are 0 to 4"}},
		{"endpoint without addresses", end("{endpoint: 1}"), []string{"g.yaml:4:20: group 0, endpoint 1 has no local ip", "g.yaml:4:20: group 0, endpoint 1 has no remote qpn",
			"endpoint 1 has no remote mac", "endpoint 1 has no remote ip"}},
		{"ranges of an endpoint", end("{port: 4, udp_source_port: 65536, ttl: 0, tos: 256, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 16777216}}"), []string{
			"g.yaml:4:16: port is 4", "g.yaml:4:36: udp_source_port is 65536", "g.yaml:4:48: ttl is 0", "g.yaml:4:56: tos is 256", "remote qpn is 16777216"}},
		{"QPN that is not found", end("{local: {ip: 10.0.0.1, qpn: 0x1000}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}"), []string{
			"local qpn 0x1000: the engine finds endpoint 1 of group 0 only if the low 4 bits are 0x1, as in 0x1001"}},
		{"two MACs for an IP", "arp: true\n" + end("{port: 0, local: {mac: 52:54:00:00:01:01, ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}"), []string{
			"group 0, endpoint 1: with arp, 10.0.0.1 on port 0 can have one MAC only; it has 02:49:4e:43:00:00 and 52:54:00:00:01:01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("g.yaml", []byte(c.text), full(), nil)
			require.ErrorIs(t, err, ErrSetup)
			for _, w := range c.want {
				assert.ErrorContains(t, err, w)
			}
		})
	}
	small := synthetic.Mini()
	small.InBand = false
	_, err := Parse("g.yaml", []byte(group("in_band: true", "dtype: FP32", "op: MAX")), synthetic.Manifest(small), nil)
	for _, w := range []string{"g.yaml:3:14: in_band is not built into this design", "g.yaml:4:12: dtype FP32 is not built", "g.yaml:5:9: op MAX is not built"} {
		require.ErrorContains(t, err, w)
	}
	odd := synthetic.Reproducible()
	odd.Members = 4
	four := "groups:\n  - in: [4]\n    endpoints:\n" + strings.Replace(ok, "{", "{endpoint: 4, ", 1)
	_, err = Parse("g.yaml", []byte(four), synthetic.Manifest(odd), nil)
	require.ErrorContains(t, err, "g.yaml:2:9: a reproducible engine of 4 members takes contributions of endpoints 0 to 3")
}

func TestReadSetup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.yaml")
	_, err := Read(file, full(), nil)
	require.ErrorIs(t, err, ErrSetup)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("arp: 1\n"), 0o600))
	_, err = Read(file, full(), nil)
	require.ErrorContains(t, err, file+":1:6: 1 is not true or false")
}

// Whatever is in a file, it is refused with the name of the file or it is a setup.
func FuzzSetup(f *testing.F) {
	f.Add(everything)
	f.Add("arp: &a true\ngap_nak: *a\n<<: {}\ngroups: [{in: [0, ~], endpoints: [~]}]\n")
	m := full()
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("g.yaml", []byte(text), m, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrSetup)
			require.ErrorContains(t, err, "g.yaml")
			return
		}
		for _, g := range s.Groups {
			require.NotEmpty(t, g.Ends)
		}
	})
}

// TestSetupPipes: what only Mode III has, its defaults, and what is refused.
func TestSetupPipes(t *testing.T) {
	m := full()
	m.Params.Mode = 3
	group := strings.TrimPrefix(everything[strings.Index(everything, "groups:"):], "groups:\n  - ")
	group = strings.Replace(group, "    window: 2\n", "", 1)
	parse := func(m *contract.Manifest, pipes, more string) (*Setup, error) {
		return Parse("f.yaml", []byte("pipes: {"+pipes+"}\ngroups:\n  - "+more+group), m, nil)
	}
	s, err := parse(m, "", "")
	require.NoError(t, err)
	assert.Equal(t, &Pipes{inc.PipeCtrl{RNR: true, RNRTimer: 1}, 20000}, s.Pipes)
	assert.Zero(t, s.Groups[0].Set.PipeSlots)
	s, err = parse(m, "rnr: false, cnp: true, rnr_timer: 31, timeout_us: 7", "pipe: 3\n    ")
	require.NoError(t, err)
	assert.Equal(t, &Pipes{inc.PipeCtrl{CNP: true, RNRTimer: 31}, 7}, s.Pipes)
	assert.Equal(t, 3, s.Groups[0].Set.PipeSlots)
	assert.Equal(t, 3, s.Groups[0].Set.Log2N, "two pipes of three slots take eight")
	for _, c := range []struct{ pipes, more, words string }{
		{"rnr_timer: 32", "", "rnr_timer is 32"},
		{"timeout_us: 65536", "", "timeout_us is 65536"},
		{"", "pipe: 0\n    ", "pipe is 0"},
		{"", "pipe: 3\n    window: 2\n    ", "a window of 2 has no room"},
		{"", "pipe: 17\n    ", "takes 128 units"},
	} {
		_, err := parse(m, c.pipes, c.more)
		require.ErrorContains(t, err, c.words)
	}
	m.Params.Mode = 2
	_, err = parse(m, "cnp: true", "")
	require.ErrorContains(t, err, "pipes are Mode III's and I's")
	_, err = parse(m, "", "pipe: 2\n    ")
	require.ErrorContains(t, err, "this design is of Mode 2")
	s, err = parse(m, "", "")
	require.NoError(t, err)
	assert.Nil(t, s.Pipes)
}

// TestSetupMessages: what only Mode I has, its defaults, and what is refused: there, in other modes, and where an agent has the groups.
func TestSetupMessages(t *testing.T) {
	t.Parallel()
	parse := func(mode int, pipes, group, end string) (*Setup, error) {
		m := full()
		if m.Params.Mode = mode; mode == 1 {
			m.Params.MessageBytes, m.Params.WindowMessages, m.Params.BufferBytes = 2*m.Params.MTUBytes, 4, 64*m.Params.MTUBytes
		}
		return Parse("f.yaml", []byte("pipes: {"+pipes+"}\ngroups:\n  - start: 7\n    dtype: FP32\n"+group+"    endpoints:\n      - {"+end+
			"local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: 1}}\n"), m, nil)
	}
	s, err := parse(1, "", "", "")
	require.NoError(t, err)
	g, most := s.Groups[0], full().Params.MTUBytes
	assert.Equal(t, []any{roce.PSN(7), roce.PSN(7), most}, []any{g.Ends[0].RQPSN, g.Ends[0].SQPSN, g.Ends[0].PathMTU})
	assert.Equal(t, []any{3, false, uint8(0)}, []any{g.Set.Log2N, g.Set.WholeMessages, s.AckEvery}, "two pools of four messages")
	s, err = parse(1, "ack_every: 3", "    whole_messages: true\n    pipe: 2\n", fmt.Sprintf("rq_psn: 0xFFFFFF, sq_psn: 9, path_mtu: %d, ", most/2))
	require.NoError(t, err)
	g = s.Groups[0]
	assert.Equal(t, []any{roce.PSN(0xFFFFFF), roce.PSN(9), most / 2}, []any{g.Ends[0].RQPSN, g.Ends[0].SQPSN, g.Ends[0].PathMTU})
	assert.Equal(t, []any{2, 2, true, uint8(3)}, []any{g.Set.Log2N, g.Set.PipeSlots, g.Set.WholeMessages, s.AckEvery})
	for _, c := range []struct {
		mode                    int
		pipes, group, end, want string
	}{
		{1, "ack_every: 0", "", "", "ack_every is 0, allowed are 1 to 255"},
		{1, "", "", "rq_psn: 0x1000000, ", "rq_psn is 16777216"},
		{1, "", "", "path_mtu: 768, ", "path_mtu is 768, it must be a power of two"},
		{1, "", "", fmt.Sprintf("path_mtu: %d, ", 2*most), "it must be a power of two from"},
		{3, "ack_every: 3", "", "", "ack_every is Mode I's, this design is of Mode 3"},
		{3, "", "", "sq_psn: 3, ", "rq_psn, sq_psn and path_mtu are Mode I's, this design is of Mode 3"},
		{2, "", "    whole_messages: true\n", "", "whole_messages is Mode I's, this design is of Mode 2"},
	} {
		_, err := parse(c.mode, c.pipes, c.group, c.end)
		require.ErrorIs(t, err, ErrSetup)
		require.ErrorContains(t, err, c.want)
	}
}

// TestSetupPorts: an endpoint where nobody can be is a mistake.
func TestSetupPorts(t *testing.T) {
	const text = "groups:\n  - dtype: FP32\n    endpoints:\n" + "      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: 1}}\n" +
		"      - {port: 3, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.3, qpn: 1}}\n"
	_, err := Parse("g.yaml", []byte(text), full(), []int{0, 3})
	require.NoError(t, err)
	_, err = Parse("g.yaml", []byte(text), full(), []int{1})
	require.ErrorContains(t, err, "g.yaml:5:16: group 0, endpoint 1 is on port 3, where nobody is")
	require.ErrorContains(t, err, "g.yaml:4:70: group 0, endpoint 0 is on port 0")
}

// TestGroupsLater: groups that come, change and go keep to the rules of those that a file has.
func TestGroupsLater(t *testing.T) {
	s, err := Parse("g.yaml", []byte("arp: true\ngroups: []\n"), full(), nil)
	require.NoError(t, err)
	end := func(n int) string {
		return fmt.Sprintf("endpoints: [{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: %d}}]\n", n)
	}
	a, err := s.ParseGroup("control", []byte("dtype: FP16\nwindow: 4\n"+end(17)))
	require.NoError(t, err)
	assert.Equal(t, "allreduce FP16 SUM", a.Kind())
	s.Put(a)
	b, err := s.ParseGroup("control", []byte(`{"dtype": "INT32", "window": 4, "start": 7, "endpoints": [{"local": {"ip": "10.0.0.1"}, "remote": {"mac": "52:54:00:00:00:01", "ip": "10.0.0.2", "qpn": 18}}]}`))
	require.NoError(t, err, "JSON is YAML")
	assert.Equal(t, 1, b.Index, "the first that is free")
	assert.Equal(t, 16, b.Set.SlotBase)
	s.Put(b)
	_, err = s.ParseGroup("control", []byte("dtype: FP32\n"+end(19)))
	require.ErrorContains(t, err, "group 2: this design has 2 groups")
	_, err = s.ParseGroup("control", []byte("group: 1\ndtype: FP32\n"+end(18)))
	require.ErrorContains(t, err, "group 1 is there already")
	require.ErrorContains(t, err, "group 1, endpoint 0 has the remote 10.0.0.2, qpn 0x12 already")

	// A change is checked against the others and keeps what it does not name. A wider type needs other units.
	c, err := s.ParseChange(1, "control", []byte("dtype: BF16\nop: MAX\n"))
	require.NoError(t, err)
	assert.Equal(t, "allreduce BF16 MAX", c.Kind())
	assert.Equal(t, roce.PSN(7), c.Set.Start)
	assert.Equal(t, b.Ends, c.Ends)
	s.Put(c)
	assert.Len(t, s.Groups, 2)
	c, err = s.ParseChange(1, "control", []byte("collective: barrier\n"+end(20)))
	require.NoError(t, err)
	assert.Equal(t, "barrier", c.Kind())
	assert.Equal(t, uint32(20), c.Ends[0].RemoteQPN)
	for text, want := range map[string]string{"group: 0\n": "cannot be changed", "collective: reduce\n": "a reduce needs a parent", "": "empty",
		"window: 32\n": "takes 128 units", end(17): "group 0, endpoint 0 has the remote 10.0.0.2, qpn 0x11 already", "window: x": "control:1:9: x is not an integer"} {
		_, err = s.ParseChange(1, "control", []byte(text))
		require.ErrorIs(t, err, ErrSetup)
		require.ErrorContains(t, err, want)
	}
	_, err = s.ParseChange(2, "control", []byte("start: 3"))
	require.ErrorContains(t, err, "there is no group 2")

	// What a group had is free when it has gone.
	s.Remove(0)
	assert.NotContains(t, s.arp[0], roce.IP4{})
	a, err = s.ParseGroup("control", []byte("dtype: INT32\nwindow: 8\n"+end(17)))
	require.NoError(t, err)
	assert.Equal(t, 0, a.Index)
	assert.Equal(t, 0, a.Set.SlotBase)
}

// TestSetupEngines: groups without a number go from engine to engine, in a file and one by one, and each engine has slots of its own for them.
func TestSetupEngines(t *testing.T) {
	m := full()
	m.Params.Engines, m.Params.Groups = 2, 2
	one := func(host int) string {
		return fmt.Sprintf("{dtype: INT32, window: 8, endpoints: [{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:01, ip: 10.0.0.2, qpn: %d}}]}", host)
	}
	s, err := Parse("f.yaml", []byte("groups: ["+one(1)+", "+one(2)+"]"), m, nil)
	require.NoError(t, err)
	add := func(host int) error {
		g, err := s.ParseGroup("g.yaml", []byte(one(host)))
		if err == nil {
			s.Put(g)
		}
		return err
	}
	require.NoError(t, add(3))
	require.NoError(t, add(4))
	var got [][2]int
	for _, g := range s.Groups {
		got = append(got, [2]int{g.Index, g.Set.SlotBase})
		require.Equal(t, g.Index, int(g.Ends[0].LocalQPN)%m.Params.Records()/m.Params.EPS())
	}
	require.Equal(t, [][2]int{{0, 0}, {2, 0}, {1, 16}, {3, 16}}, got)
	require.ErrorContains(t, add(5), "this design has 4 groups")
	g, err := s.ParseChange(2, "c.yaml", []byte("start: 7"))
	require.NoError(t, err)
	require.Equal(t, 2, g.Index)
	require.Equal(t, 7, int(g.Set.Start))
}
