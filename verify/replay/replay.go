// SPDX-License-Identifier: Apache-2.0

// Package replay puts a capture through an engine, as it is or once for each rank of a group, and judges what comes of it.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// Options say what Run does.
type Options struct {
	// Source is the engine.
	Source dut.Source
	// Input is a pcap or pcapng file; Output, if not empty, the pcapng of what left, one interface a port.
	Input, Output string
	// Ranks, if not 0, offers every request of the capture once a rank, re-addressed to the endpoints of a group that starts
	// with the first request's PSN, and every answer as each rank's answer. With 0 the frames go in as they are, the
	// interface id being the port, into an engine without groups.
	Ranks int
	// Seed is of the engine's random initial state and the addresses.
	Seed uint64
}

// Report is what a replay found. Every frame that left was compared with the reference too.
type Report struct {
	// FramesRead are those in the capture, Offered those that went in, Left those that came out.
	FramesRead int `json:"frames_read"`
	Offered    int `json:"offered"`
	Left       int `json:"left"`
	// Requests and Answers are the capture's frames of each kind; the rest, of other connections or none, was left out.
	Requests int `json:"requests"`
	Answers  int `json:"answers"`
	// Sums is the number of results whose every word was checked by plain arithmetic, one a PSN and rank.
	Sums int `json:"sums"`
	// Counters are the engine's, Predicted those that a short calculation from docs/engine.md gives for Ranks ranks.
	Counters  map[string]uint64 `json:"counters"`
	Predicted map[string]uint64 `json:"predicted,omitempty"`
	// Cycles is how long it took.
	Cycles uint64 `json:"cycles"`
}

// ErrCapture means that a capture holds nothing that could be replayed as asked.
var ErrCapture = errors.New("capture cannot be replayed")

// ErrFailed means that the engine did something that the reference, plain arithmetic or the prediction says it should not.
var ErrFailed = errors.New("replay failed")

// Run puts a capture through an engine. The error wraps ErrFailed if the engine is wrong; the report is as far as it came.
func Run(ctx context.Context, o Options) (rep Report, err error) {
	frames, _, err := roce.ReadCapture(o.Input)
	if err != nil {
		return rep, err
	}
	rep.FramesRead = len(frames)
	man, engines, err := o.Source.Open(ctx)
	if err != nil {
		return rep, err
	}
	t := rig.New(ctx, man, "replay", o.Seed, func(seed uint64, _ int) (dut.DUT, error) { return engines.New(seed) })
	defer func() { err = errors.Join(err, t.Close()) }()
	r := &replayer{t: t, rep: &rep}
	err = rig.Catch(func() {
		r.e = t.Engine()
		if o.Ranks > 0 {
			r.ranks(frames, o.Ranks)
		} else {
			r.plain(frames)
		}
	})
	if r.e != nil {
		rep.Cycles, rep.Left = r.e.Now(), len(r.left)
	}
	if werr := r.write(o.Output); werr != nil {
		return rep, werr
	}
	if err == nil || errors.Is(err, ErrCapture) || ctx.Err() != nil {
		return rep, err
	}
	return rep, fmt.Errorf("%w: %w", ErrFailed, err)
}

type replayer struct {
	t    *rig.T
	e    *rig.Engine
	rep  *Report
	left []dut.Frame
}

// offer puts one frame in and waits until it is accepted, so that the order is that of the capture.
func (r *replayer) offer(port int, data []byte) {
	r.t.Check(r.t.Context().Err())
	r.e.Put(rig.Frame{Port: port, Data: data})
	r.rep.Offered++
	limit := r.e.Now() + waitLimit
	for r.e.Waiting() > 0 {
		r.e.StepTo(r.e.Now() + 4)
		r.left = append(r.left, r.e.Out()...)
		if r.e.Now() > limit {
			r.t.Fatalf("port %d: a frame was not accepted in %d cycles", port, waitLimit)
		}
	}
}

// waitLimit is the longest an engine may keep a frame waiting, in cycles.
const waitLimit = 200000

func (r *replayer) finish() {
	r.left = append(r.left, r.e.Settle()...)
	r.rep.Counters = fail.Must(r.e.Finish())
}

// plain feeds frames as they are.
func (r *replayer) plain(frames []roce.Captured) {
	for i, f := range frames {
		if f.Port >= r.t.Params.Ports {
			r.t.Fatalf("%w: frame %d is of interface %d, the engine has ports 0 to %d", ErrCapture, i+1, f.Port, r.t.Params.Ports-1)
		}
		if len(f.Frame) > 0 {
			r.t.In(fmt.Sprintf("frame %d", i+1), func() { r.offer(f.Port, f.Frame) })
		}
	}
	r.finish()
}

// request reports a packet that carries a requester's data.
func request(p roce.Packet) bool { return p.Op.IsSend() || p.Op.IsWrite() }

// ranks replays one connection as n ranks of a group.
func (r *replayer) ranks(frames []roce.Captured, n int) {
	t := r.t
	if n > t.Params.Members {
		t.Fatalf("%w: %d ranks, the configuration has %d members", ErrCapture, n, t.Params.Members)
	}
	packets := decoded(frames)
	first := slices.IndexFunc(packets, request)
	if first < 0 {
		t.Fatalf("%w: no frame of it is a SEND or WRITE request", ErrCapture)
	}
	who, qp := packets[first].SrcIP, packets[first].DestQP
	g := r.e.Group(0, 1, n, false, rig.WithStart(packets[first].PSN), rig.WithKind(kindOf(t)))
	pr := &prediction{kind: g.Kind(), tree: t.Params.Reproducible(), ranks: n, mtu: t.Params.MTUBytes, mw: g.MW(), next: g.Start(),
		count: map[string]uint64{}, results: map[roce.PSN]roce.Packet{}}
	for _, p := range packets {
		switch {
		case request(p) && p.SrcIP == who && p.DestQP == qp:
			r.rep.Requests++
		case p.Op == roce.Acknowledge && p.DstIP == who:
			r.rep.Answers++
		default:
			continue
		}
		pr.packet(&p)
		for c := range n {
			q := p
			ep := g.Ends[c]
			q.DstMAC, q.SrcMAC, q.SrcIP, q.DstIP, q.DestQP = ep.LocalMAC, ep.RemoteMAC, ep.RemoteIP, ep.LocalIP, ep.LocalQPN
			t.In(fmt.Sprintf("request or answer %d, rank %d", r.rep.Requests+r.rep.Answers, c), func() { r.offer(ep.Port, q.AppendFrame(nil)) })
		}
	}
	r.finish()
	r.rep.Predicted = pr.count
	var wrong []string
	for name, v := range r.rep.Counters {
		if v != pr.count[name] {
			wrong = append(wrong, fmt.Sprintf("%s is %d, predicted %d", name, v, pr.count[name]))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		t.Fatalf("counters: %s", strings.Join(wrong, "; "))
	}
	r.sums(g, pr)
}

// decoded are a capture's RoCE packets.
func decoded(frames []roce.Captured) (packets []roce.Packet) {
	for _, f := range frames {
		if p, err := roce.Decode(f.Frame); err == nil {
			packets = append(packets, p)
		}
	}
	return packets
}

// sums checks every result of every rank against n times the payload.
func (r *replayer) sums(g *rig.Group, pr *prediction) {
	t := r.t
	type key struct {
		rank int
		psn  roce.PSN
	}
	seen := map[key]bool{}
	for _, o := range r.left {
		p, err := o.Packet()
		if err == nil && !roce.CheckICRC(o.Data) {
			err = errors.New("its ICRC is wrong")
		}
		if err != nil {
			t.Fatalf("a frame left by port %d in cycle %d that is not sound: %w", o.Port, o.Last, err)
		}
		if !p.Op.IsSend() {
			continue
		}
		rank := slices.IndexFunc(g.Ends, func(ep inc.Endpoint) bool { return ep.RemoteQPN == p.DestQP && ep.RemoteIP == p.DstIP })
		want, ok := pr.results[p.PSN]
		if rank < 0 || !ok {
			t.Fatalf("an unexpected result left: %v", &p)
		}
		if p.Op != want.Op || p.Imm != want.Imm || !bytes.Equal(p.Payload, want.Payload) {
			t.Fatalf("rank %d PSN %v: the result is not %d times what the ranks sent: %v, expected %v", rank, p.PSN, pr.ranks, &p, &want)
		}
		seen[key{rank, p.PSN}] = true
	}
	r.rep.Sums = len(seen)
	if want := len(pr.results) * pr.ranks; len(seen) != want {
		t.Fatalf("%d results of %d", len(seen), want)
	}
}

// write writes what left.
func (r *replayer) write(file string) error {
	if file == "" {
		return nil
	}
	var ports []string
	for p := range r.t.Params.Ports {
		ports = append(ports, fmt.Sprintf("p%d", p))
	}
	var frames []roce.Captured
	for _, o := range r.left {
		frames = append(frames, roce.Captured{Port: o.Port, Time: r.t.Time(o.Last), Frame: o.Data})
	}
	return roce.WriteCapture(file, ports, frames)
}

// kindOf is what a group computes whose ranks all send the payload of a capture: little-endian INT32 SUM, or what comes first.
func kindOf(t *rig.T) arith.Kind {
	if k := (arith.Kind{DType: arith.INT32}); slices.Contains(t.Kinds(), k) {
		return k
	}
	return t.Kinds()[0]
}

// prediction counts what docs/engine.md section 3 makes of one requester's packets if every rank sends each of them in turn. It
// knows only one PSN, since the ranks go in step, and shares nothing with the reference engine.
type prediction struct {
	kind    arith.Kind
	tree    bool // sums are reproducible
	ranks   int
	mtu     int
	mw      int
	next    roce.PSN // expected of every rank
	asked   bool     // the gap was answered
	count   map[string]uint64
	results map[roce.PSN]roce.Packet
}

func (p *prediction) add(names ...string) {
	for _, n := range names {
		p.count[n] += uint64(p.ranks)
	}
}

func (p *prediction) packet(k *roce.Packet) {
	p.add("RX_FRAMES")
	reflected := map[roce.SyndromeKind]string{roce.SyndromeAck: "RX_ACK", roce.SyndromeNAK: "RX_NAK", roce.SyndromeRNR: "RX_RNR"}
	switch kind := roce.SyndromeKindOf(k.Syndrome); {
	case k.Op.IsWrite():
		p.add("DROP_OPCODE")
	case k.Op == roce.Acknowledge && reflected[kind] != "":
		p.add(reflected[kind], "TX_REFLECT", "TX_FRAMES")
	case k.Op == roce.Acknowledge:
		p.add("DROP_SYNDROME")
	case len(k.Payload) > p.mtu:
		p.add("DROP_TOO_LONG")
	case len(k.Payload)%p.kind.DType.Size() != 0:
		p.add("DROP_BAD_LENGTH")
	default:
		p.data(k)
	}
}

// data is a packet that is whole; only its PSN decides.
func (p *prediction) data(k *roce.Packet) {
	p.add("UP_DATA")
	switch d := k.PSN.Diff(p.next); {
	case d > 0:
		p.add("DROP_GAP")
		if !p.asked {
			p.asked = true
			p.add("TX_GAP_NAK", "TX_FRAMES")
		}
	case d < 0 && -d <= 2*p.mw: // its slot is used again by the packet two windows later
		p.add("TX_RESEND", "TX_FRAMES")
	case d < 0:
		p.add("DROP_STALE")
	default:
		p.asked = false
		p.next = p.next.Next()
		p.add("AGG", "TX_FANOUT", "TX_FRAMES")
		p.count["TX_RESULT"]++
		p.count["WIPE"]++
		p.count["BUFFERED"] += uint64(p.ranks - 1)
		res := *k
		var copies []arith.Contribution
		for c := range p.ranks {
			copies = append(copies, arith.Contribution{End: c, Payload: k.Payload})
		}
		res.Payload = p.kind.Combine(copies, p.tree)
		p.results[k.PSN] = res
	}
}
