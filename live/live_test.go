// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/internal/testlog"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/peer"
	"incforge/live/socket"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// The four ranks of the star: rank i at port i.
const ranks = 4

const star = `
arp: true
groups:
  - start: 0xFFFFF0
    endpoints:
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 0x12}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:03, ip: 10.0.0.3, qpn: 0x13}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:04, ip: 10.0.0.4, qpn: 0x14}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:05, ip: 10.0.0.5, qpn: 0x15}}
`

// rig is a running engine and where its sockets are.
type rig struct {
	t       *testing.T
	dir     string
	setup   *groups.Setup
	stop    context.CancelFunc
	rep     live.Report
	err     error
	done    chan struct{}
	log     testlog.Log
	capture bytes.Buffer
	window  int // of the hosts; 0 is the design's
}

func (r *rig) mine(port int) string { return filepath.Join(r.dir, fmt.Sprintf("port%d", port)) }
func (r *rig) peer(port int) string { return filepath.Join(r.dir, fmt.Sprintf("peer%d", port)) }

// end stops the engine and returns what it saw.
func (r *rig) end() live.SwitchReport {
	r.stop()
	<-r.done
	return r.rep.Switches[0]
}

// run starts a reference engine with sockets at the first ports; wrap may change it.
func run(t *testing.T, setup string, ports int, wrap func(dut.DUT) dut.DUT) *rig {
	t.Helper()
	return runDesign(t, synthetic.Mini(), setup, ports, wrap)
}

// runDesign is run with other parameters than Mini's.
func runDesign(t *testing.T, p contract.Params, setup string, ports int, wrap func(dut.DUT) dut.DUT) *rig {
	t.Helper()
	return runWith(t, p, setup, ports, func(o *live.Options) { o.Switches[0].Engine = wrap(o.Switches[0].Engine) })
}

// runWith is runDesign with options changed.
func runWith(t *testing.T, p contract.Params, setup string, ports int, change func(o *live.Options)) *rig {
	t.Helper()
	m := synthetic.Manifest(p)
	r := &rig{t: t, dir: t.TempDir(), done: make(chan struct{})}
	d, err := dut.NewReference(m)
	require.NoError(t, err)
	r.setup, err = groups.Parse("star.yaml", []byte(setup), m, nil)
	require.NoError(t, err)
	sw := live.Switch{Name: "leaf", Manifest: m, Engine: d, Setup: r.setup}
	for p := range ports {
		sw.Ports = append(sw.Ports, live.Port{Number: p, Mine: r.mine(p), Peer: r.peer(p)})
	}
	o := live.Options{Switches: []live.Switch{sw}, Capture: &r.capture, Status: 10 * time.Millisecond, Log: logrus.New(), Control: filepath.Join(r.dir, "control")}
	o.Log.SetOutput(&r.log)
	change(&o)
	r.start(o)
	return r
}

// start starts a run, and returns when it is ready or has failed.
func (r *rig) start(o live.Options) {
	ready := make(chan struct{})
	o.Ready = func() { close(ready) }
	var ctx context.Context
	ctx, r.stop = context.WithCancel(r.t.Context())
	go func() {
		defer close(r.done)
		r.rep, r.err = live.Run(ctx, o)
	}()
	select {
	case <-ready:
	case <-r.done:
		require.NoError(r.t, r.err)
	}
	r.t.Cleanup(func() { r.end() })
}

func plain(d dut.DUT) dut.DUT { return d }

// host makes the NIC of a rank. Its time-out is in real time, since the machine may be busy.
func (r *rig) host(rank int, m *contract.Manifest) *host.Host {
	ep := r.setup.Groups[0].Ends[rank]
	h, err := host.New(host.Config{MAC: ep.RemoteMAC, PeerMAC: ep.LocalMAC, IP: ep.RemoteIP, PeerIP: ep.LocalIP, QPN: ep.RemoteQPN,
		PeerQPN: ep.LocalQPN, UDPPort: 0xC000, TTL: 64, Start: r.setup.Groups[0].Set.Start, PathMTU: m.Params.MTUBytes,
		Window: cmp.Or(r.window, m.Params.WindowPackets), Timeout: uint64(200 * time.Millisecond), RNRCode: 1, CyclesPerMicrosecond: peer.PerMicrosecond})
	require.NoError(r.t, err)
	return h
}

// values is what a rank contributes: little-endian INT32, one of them wraps.
func values(rank, n int) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(rank+1)*0x40000001+uint32(i))
	}
	return b
}

// allReduce runs one message of n words a rank, each rank when join lets it, and checks every result.
func (r *rig) allReduce(n int, join func(rank int)) []*host.Host {
	return r.allReduceWith(n, join, func(int, *host.Host) {})
}

// allReduceWith calls look for every host again and again while it runs.
func (r *rig) allReduceWith(n int, join func(rank int), look func(rank int, h *host.Host)) []*host.Host {
	m := synthetic.Manifest(synthetic.Mini())
	want := make([]byte, 4*n)
	for rank := range ranks {
		part := values(rank, n)
		for i := 0; i < len(want); i += 4 {
			binary.LittleEndian.PutUint32(want[i:], binary.LittleEndian.Uint32(want[i:])+binary.LittleEndian.Uint32(part[i:]))
		}
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	hosts := make([]*host.Host, ranks)
	errs := make([]error, ranks)
	// Ranks stay until all are done: somebody may still want an ACK.
	var finished, all sync.WaitGroup
	finished.Add(ranks)
	over := make(chan struct{})
	go func() { finished.Wait(); close(over) }()
	for rank := range hosts {
		h := r.host(rank, m)
		hosts[rank] = h
		h.Post(host.Message{Payload: values(rank, n), HasImm: true, Imm: 7})
		all.Go(func() {
			once := sync.OnceFunc(finished.Done)
			defer once()
			join(rank)
			sock, err := socket.Listen(r.peer(rank))
			if err != nil {
				errs[rank] = err
				return
			}
			errs[rank] = peer.Run(ctx, sock, r.mine(rank), h, func() bool {
				look(rank, h)
				if h.Completed() == 1 && len(h.Received()) == 1 {
					once()
				}
				select {
				case <-over:
					return true
				default:
					return false
				}
			})
			if err := sock.Close(); errs[rank] == nil {
				errs[rank] = err
			}
		})
	}
	all.Wait()
	for rank, h := range hosts {
		require.NoError(r.t, errs[rank], "rank %d: %+v", rank, h.Stats)
		require.Len(r.t, h.Received(), 1)
		got := h.Received()[0]
		assert.True(r.t, bytes.Equal(want, got.Payload), "rank %d", rank)
		assert.True(r.t, got.HasImm && got.Imm == 7)
	}
	return hosts
}

// TestAllReducePipes: Mode III, where the engine acknowledges, and waits in real time for a host that is not ready, and for one that says nothing.
func TestAllReducePipes(t *testing.T) {
	p := synthetic.Mini()
	p.Mode = 3
	r := runDesign(t, p, "pipes: {cnp: true, timeout_us: 3000}\n"+strings.Replace(star, "groups:\n  - ", "groups:\n  - pipe: 3\n    ", 1), ranks, plain)
	require.Equal(t, 3, r.setup.Groups[0].Set.PipeSlots)
	var since [ranks]time.Time
	hosts := r.allReduceWith(10000, func(int) {}, func(rank int, h *host.Host) {
		switch {
		case rank != 1:
		case since[rank].IsZero():
			since[rank] = time.Now()
			h.SetReceives(0)
		case h.Receives() == 0 && h.Stats.RNRsSent >= 3:
			h.SetReceives(-1)
		}
	})
	assert.Zero(t, hosts[1].Unacknowledged())
	rep := r.end()
	require.NoError(t, r.err)
	assert.GreaterOrEqual(t, rep.Counters["RX_RNR"], uint64(3))
	assert.Equal(t, rep.Counters["TX_ACK"], rep.Counters["AGG"]+rep.Counters["RX_DUPLICATE"])
	assert.Equal(t, uint64(40*ranks), rep.Counters["AGG"], "40 packets a rank")
}

func TestAllReduce(t *testing.T) {
	r := run(t, star, ranks, plain)
	r.allReduce(10000, func(int) {})
	require.Eventually(t, func() bool { return strings.Contains(r.log.String(), " frames in, ") }, time.Minute, 10*time.Millisecond, "a line of state")
	rep := r.end()
	require.NoError(t, r.err)
	packets := uint64(40) // of 1,024 bytes
	c := rep.Counters
	assert.GreaterOrEqual(t, c["AGG"], ranks*packets)
	assert.Equal(t, packets, c["TX_RESULT"])
	assert.Equal(t, ranks*packets, c["TX_FANOUT"])
	assert.Zero(t, c["BYPASS"])
	var in, out uint64
	for i, p := range rep.Ports {
		assert.Equal(t, i, p.Port)
		in, out = in+p.In, out+p.Out+p.Nobody+p.Full
		assert.Zero(t, p.Short+p.Long+p.ARP+p.Failed+p.Returned)
	}
	assert.EqualValues(t, in, c["RX_FRAMES"])
	assert.EqualValues(t, out, c["TX_FRAMES"])
	assert.Zero(t, rep.Unattached)
	assert.Equal(t, "synthetic", rep.Config)

	frames, names, err := roce.ReadCapture(r.captureFile())
	require.NoError(t, err)
	assert.Equal(t, []string{"p0", "p1", "p2", "p3"}, names)
	assert.Len(t, frames, int(in+out))
	for p := range ranks {
		assert.NoFileExists(t, r.mine(p))
	}
}

func (r *rig) captureFile() string {
	file := filepath.Join(r.dir, "c.pcapng")
	require.NoError(r.t, os.WriteFile(file, r.capture.Bytes(), 0o600))
	return file
}

// A rank that comes late is waited for; frames to one that has gone are counted and lost, and it may return.
func TestPeersComeAndGo(t *testing.T) {
	r := run(t, star, ranks, plain)
	hosts := r.allReduce(3000, func(rank int) {
		if rank == 3 {
			time.Sleep(300 * time.Millisecond) // longer than the others' time-out
		}
	})
	timeouts := 0
	for _, h := range hosts[:3] {
		timeouts += h.Stats.Timeouts
	}
	assert.Positive(t, timeouts, "the others had to send again")

	// Rank 0 asks for the last result once more, first with nobody at its path, then with somebody there.
	ep := r.setup.Groups[0].Ends[0]
	again := roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xC000,
		Op: roce.SendLastImm, PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: r.setup.Groups[0].Set.Start.Add(11), Imm: 7, Payload: make([]byte, 4)}
	elsewhere, err := socket.Listen(filepath.Join(r.dir, "elsewhere"))
	require.NoError(t, err)
	require.NoError(t, elsewhere.Send(r.mine(0), again.AppendFrame(nil)))
	require.Eventually(t, func() bool { return strings.Contains(r.log.String(), " 1 lost at sockets") }, time.Minute, 10*time.Millisecond)
	back, err := socket.Listen(r.peer(0))
	require.NoError(t, err)
	require.NoError(t, elsewhere.Send(r.mine(0), again.AppendFrame(nil)))
	require.NoError(t, back.SetReceiveDeadline(time.Now().Add(time.Minute)))
	buf := make([]byte, live.MaxFrame)
	n, err := back.Receive(buf)
	require.NoError(t, err)
	p, err := roce.Decode(buf[:n])
	require.NoError(t, err)
	assert.Equal(t, hosts[0].Received()[0].Payload[11*1024:], p.Payload)
	rep := r.end()
	require.NoError(t, r.err)
	assert.Equal(t, uint64(1), rep.Ports[0].Nobody)
	assert.GreaterOrEqual(t, rep.Counters["TX_RESEND"], uint64(2))
	assert.GreaterOrEqual(t, rep.Cycles, uint64(75_000_000), "the clock followed the 300 ms in which rank 3 was awaited, at 250 MHz")
	require.NoError(t, back.Close())
	require.NoError(t, elsewhere.Close())
}

func TestJunk(t *testing.T) {
	r := run(t, star+"bypass:\n  - {from: 1, to: 0}\n  - {from: 0, to: 1}\n", 2, plain)
	a, err := socket.Listen(r.peer(0))
	require.NoError(t, err)
	b, err := socket.Listen(r.peer(1))
	require.NoError(t, err)
	for _, n := range []int{0, 1, live.MinFrame - 1, live.MaxFrame + 1, 60000} {
		require.NoError(t, a.Send(r.mine(0), make([]byte, n)))
	}
	// Frames that are nobody's pass from port to port: the shortest, the longest, and text.
	for _, f := range [][]byte{make([]byte, live.MinFrame), bytes.Repeat([]byte{0xA5}, live.MaxFrame), []byte(strings.Repeat("junk ", 20))} {
		require.NoError(t, a.Send(r.mine(0), f))
		require.NoError(t, b.SetReceiveDeadline(time.Now().Add(time.Minute)))
		buf := make([]byte, live.MaxFrame+1)
		n, err := b.Receive(buf)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(f, buf[:n]))
	}
	rep := r.end()
	require.NoError(t, r.err)
	assert.Equal(t, live.PortReport{Port: 0, Mine: r.mine(0), Peer: r.peer(0), In: 3, Short: 3, Long: 2}, rep.Ports[0])
	assert.Equal(t, live.PortReport{Port: 1, Mine: r.mine(1), Peer: r.peer(1), Out: 3}, rep.Ports[1])
	assert.Equal(t, uint64(3), rep.Counters["BYPASS"])
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// inBand is a second group, of the first two ports, whose packets say what it does.
const inBand = `
  - start: 0x100
    in_band: true
    endpoints:
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 0x22}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:03, ip: 10.0.0.3, qpn: 0x23}}
`

// anyControl is a frame without a fault, whose control says anything: at random, or of a few bits that mean something.
func (r *rig) anyControl(rng *rand.Rand, ep inc.Endpoint) []byte {
	p := roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xC000, Op: roce.SendOnlyImm,
		PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: roce.PSN(0x100 + rng.IntN(4)), Imm: rng.Uint32()}
	if rng.IntN(2) == 0 {
		p.Imm = 3<<25 | uint32(rng.IntN(3)) ^ 1<<rng.IntN(64)
	}
	return p.AppendFrame(nil)
}

// TestGarbage: whatever comes, at ports where groups work, and however much of it, the switch goes on.
func TestGarbage(t *testing.T) {
	const each = 20_000
	p := synthetic.Mini()
	p.BufferBytes *= 2
	r := runDesign(t, p, star+inBand, ranks, plain)
	ep := r.setup.Groups[0].Ends[0]
	good := roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xC000, Op: roce.SendOnly,
		PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: 0x800000, Payload: make([]byte, 64)}
	frame := good.AppendFrame(nil)
	var all sync.WaitGroup
	for port := range 2 {
		s, err := socket.Listen(filepath.Join(r.dir, fmt.Sprintf("garbage%d", port)))
		require.NoError(t, err)
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(port)))
			for i := range each {
				data := make([]byte, rng.IntN(300))
				switch rng.IntN(3) {
				case 0:
					data = r.anyControl(rng, r.setup.Groups[1].Ends[port])
				case 1: // nearly right
					data = append([]byte(nil), frame...)
					for range 1 + rng.IntN(4) {
						data[rng.IntN(len(data))] = byte(rng.Uint32())
					}
					data = data[:14+rng.IntN(len(data)-14)]
				}
				if i%64 == 63 { // or most is lost at the socket
					time.Sleep(time.Millisecond)
				}
				if err := s.Send(r.mine(port), data); err != nil && !errors.Is(err, socket.ErrFull) {
					t.Error(err)
					return
				}
			}
		})
		defer func() { require.NoError(t, s.Close()) }()
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	reset := func() {
		_, err := r.client().Reset(t.Context(), "leaf", 1)
		require.NoError(t, err)
	}
	for resting := false; !resting; { // a control that is taken for one of many packets lets no other in
		select {
		case <-over:
			resting = true
		case <-time.After(10 * time.Millisecond):
			reset()
		}
	}
	r.allReduce(1000, func(int) {})
	reset() // and the group that it was for works
	s, err := socket.Listen(r.peer(0))
	require.NoError(t, err)
	for end := range 2 {
		r.emit(s, sent{1, end, 0x100, -1})
	}
	require.NoError(t, s.SetReceiveDeadline(time.Now().Add(time.Minute)))
	buf := make([]byte, live.MaxFrame)
	n, err := s.Receive(buf)
	require.NoError(t, err)
	got, err := roce.Decode(buf[:n])
	require.NoError(t, err)
	assert.Equal(t, []uint32{r.setup.Groups[1].Ends[0].RemoteQPN, 0x100, 3<<25 | 1}, []uint32{got.DestQP, uint32(got.PSN), got.Imm})
	require.NoError(t, s.Close())
	rep := r.end()
	require.NoError(t, r.err)
	for _, counter := range []string{"RANGE_OPEN", "DROP_BAD_CONTROL", "DROP_CONTROL", "DROP_RANGE"} {
		assert.Greater(t, rep.Counters[counter], uint64(10), counter)
	}
	assert.Greater(t, rep.Ports[0].In+rep.Ports[0].Short+rep.Ports[1].In+rep.Ports[1].Short, uint64(each))
}

// A port without a bypass does not give frames back, and answers ARP.
func TestARPAndReturned(t *testing.T) {
	r := run(t, star, 1, plain)
	a, err := socket.Listen(r.peer(0))
	require.NoError(t, err)
	ask := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x52, 0x54, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
		0x52, 0x54, 0, 0, 0, 2, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 9}
	require.NoError(t, a.Send(r.mine(0), ask), "10.0.0.9 is nobody")
	ask[41] = 1
	require.NoError(t, a.Send(r.mine(0), ask))
	require.NoError(t, a.SetReceiveDeadline(time.Now().Add(time.Minute)))
	buf := make([]byte, 100)
	n, err := a.Receive(buf)
	require.NoError(t, err)
	assert.Equal(t, roce.MinFrame, n)
	mac := r.setup.Groups[0].Ends[0].LocalMAC
	assert.Equal(t, mac[:], buf[22:28], "the sender of the reply")
	rep := r.end()
	require.NoError(t, r.err)
	assert.Equal(t, live.PortReport{Port: 0, Mine: r.mine(0), Peer: r.peer(0), In: 1, ARP: 1, Out: 1, Returned: 1}, rep.Ports[0])
	require.NoError(t, a.Close())
}

// liar inverts the last bit of every frame that leaves.
type liar struct{ dut.DUT }

func (l liar) Out() []dut.Frame {
	out := l.DUT.Out()
	for i := range out {
		out[i].Data = append([]byte(nil), out[i].Data...) // the frame may be the one that went in
		out[i].Data[len(out[i].Data)-1] ^= 1
	}
	return out
}

func TestEngineThatDiffersEndsTheRun(t *testing.T) {
	r := run(t, star, 1, func(d dut.DUT) dut.DUT { return liar{d} })
	a, err := socket.Listen(r.peer(0))
	require.NoError(t, err)
	require.NoError(t, a.Send(r.mine(0), make([]byte, 60)))
	<-r.done
	require.ErrorIs(t, r.err, score.ErrMismatch)
	assert.Equal(t, uint64(1), r.rep.Switches[0].Ports[0].In)
	require.NoError(t, a.Close())
}

func TestRunRefuses(t *testing.T) {
	m := synthetic.Manifest(synthetic.Mini())
	setup, err := groups.Parse("star.yaml", []byte(star), m, nil)
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, ports := range map[string][]live.Port{
		"given twice":                  {{Number: 0, Mine: filepath.Join(dir, "a")}, {Number: 0, Mine: filepath.Join(dir, "b")}},
		"not one of 0 to 3":            {{Number: 4, Mine: filepath.Join(dir, "a")}},
		"port 1: socket " + file:       {{Number: 0, Mine: filepath.Join(dir, "a")}, {Number: 1, Mine: file}},
		"port 1: socket " + dir + "/a": {{Number: 0, Mine: filepath.Join(dir, "a")}, {Number: 1, Mine: filepath.Join(dir, "a")}},
	} {
		d, err := dut.NewReference(m)
		require.NoError(t, err)
		_, err = live.Run(t.Context(), live.Options{Switches: []live.Switch{{Name: "leaf", Manifest: m, Engine: d, Setup: setup, Ports: ports}}, Log: logrus.New()})
		require.ErrorContains(t, err, name)
		assert.NoFileExists(t, filepath.Join(dir, "a"), name)
	}
	// Settings that the engine does not take: the group is said.
	d, err := dut.NewReference(m)
	require.NoError(t, err)
	bad := *setup
	bad.Groups = append([]groups.Group(nil), setup.Groups...)
	bad.Groups[0].Set.Log2N = 0
	_, err = live.Run(t.Context(), live.Options{Switches: []live.Switch{{Name: "leaf", Manifest: m, Engine: d, Setup: &bad}}, Log: logrus.New()})
	require.ErrorContains(t, err, "group 0: the engine refuses it")
}
