// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// ReplayOptions say what Replay does.
type ReplayOptions struct {
	// ManifestDir, Manifest, DUT, Sources, BuildDir and Quick are those of Options.
	ManifestDir string
	Manifest    *contract.Manifest
	DUT         Kind
	Sources     []string
	BuildDir    string
	Quick       bool
	// Input is a pcap or pcapng file; Output, if not empty, the pcapng of what left, one interface a port.
	Input, Output string
	// Ranks, if not 0, offers every request of the capture once a rank, re-addressed to the endpoints of a group that starts
	// with the first request's PSN, and every answer as each rank's answer. With 0 the frames go in as they are, the
	// interface id being the port, into an engine without groups.
	Ranks int
	// Seed is of the engine's random initial state and the addresses.
	Seed uint64
}

// ReplayReport is what a replay found. Every frame that left was compared with the reference too.
type ReplayReport struct {
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

// Replay puts a capture through an engine. The error wraps ErrFailed if the engine did anything that the reference, plain
// arithmetic or the prediction says it should not; the report is as far as it came.
func Replay(ctx context.Context, o ReplayOptions) (ReplayReport, error) {
	var rep ReplayReport
	frames, _, err := roce.ReadCapture(o.Input)
	if err != nil {
		return rep, err
	}
	rep.FramesRead = len(frames)
	t, err := single(ctx, Options{ManifestDir: o.ManifestDir, Manifest: o.Manifest, DUT: o.DUT, Sources: o.Sources, BuildDir: o.BuildDir,
		Quick: o.Quick},
		"replay", o.Seed)
	if err != nil {
		return rep, err
	}
	defer t.close()
	e, err := t.newEngine()
	if err != nil {
		return rep, err
	}
	r := &replayer{t: t, e: e, rep: &rep}
	if o.Ranks > 0 {
		err = r.ranks(frames, o.Ranks)
	} else {
		err = r.plain(frames)
	}
	rep.Cycles, rep.Left = e.Now(), len(r.left)
	if werr := r.write(o.Output); werr != nil {
		return rep, werr
	}
	switch {
	case err == nil, errors.Is(err, ErrCapture), ctx.Err() != nil:
		return rep, err
	}
	return rep, fmt.Errorf("%w: %w", ErrFailed, err)
}

// single is a T with one engine's maker, outside of Run.
func single(ctx context.Context, opt Options, name string, seed uint64) (*T, error) {
	man, open, err := Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	return newT(ctx, man, name, seed, func(seed uint64, _ int) (dut.DUT, error) { return open(seed) }), nil
}

type replayer struct {
	t    *T
	e    *engine
	rep  *ReplayReport
	left []dut.Out
}

// offer puts one frame in and waits until it is accepted, so that the order is that of the capture.
func (r *replayer) offer(port int, data []byte) error {
	if err := r.t.ctx.Err(); err != nil {
		return err
	}
	r.e.send(port, data)
	r.rep.Offered++
	limit := r.e.Now() + settleLimit
	for r.e.Waiting() > 0 {
		if err := r.e.StepTo(r.e.Now() + 4); err != nil {
			return err
		}
		r.left = append(r.left, r.e.Out()...)
		if r.e.Now() > limit {
			return failf("port %d: a frame was not accepted in %d cycles", port, settleLimit)
		}
	}
	return nil
}

// settleLimit is the longest an engine may keep a frame waiting, in cycles.
const settleLimit = 200000

func (r *replayer) finish() error {
	outs, err := r.e.settle()
	if err != nil {
		return err
	}
	r.left = append(r.left, outs...)
	r.rep.Counters, err = r.e.Finish()
	return err
}

// plain feeds frames as they are.
func (r *replayer) plain(frames []roce.Captured) error {
	for i, f := range frames {
		if f.Port >= r.t.p.Ports {
			return fmt.Errorf("%w: frame %d is of interface %d, the engine has ports 0 to %d", ErrCapture, i+1, f.Port, r.t.p.Ports-1)
		}
		if len(f.Frame) == 0 {
			continue
		}
		if err := r.offer(f.Port, f.Frame); err != nil {
			return fmt.Errorf("frame %d: %w", i+1, err)
		}
	}
	return r.finish()
}

// request reports a packet that carries a requester's data.
func request(p *roce.Packet) bool { return p.Op.IsSend() || p.Op.IsWrite() }

// ranks replays one connection as n ranks of a group.
func (r *replayer) ranks(frames []roce.Captured, n int) error {
	t := r.t
	if n > t.p.Members {
		return fmt.Errorf("%w: %d ranks, the configuration has %d members", ErrCapture, n, t.p.Members)
	}
	var packets []roce.Packet
	first := -1
	for _, f := range frames {
		p, err := roce.Decode(f.Frame)
		if err != nil {
			continue
		}
		if first < 0 && request(&p) {
			first = len(packets)
		}
		packets = append(packets, p)
	}
	if first < 0 {
		return fmt.Errorf("%w: no frame of it is a SEND or WRITE request", ErrCapture)
	}
	who, qp := packets[first].SrcIP, packets[first].DestQP
	g, err := r.e.newGroup(0, 1, n, false, withStart(packets[first].PSN), withKind(t.replayed()))
	if err != nil {
		return err
	}
	pr := newPrediction(t.p, n, g.kind(), g.set.Start, g.mw())
	for i := range packets {
		p := packets[i]
		switch {
		case request(&p) && p.SrcIP == who && p.DestQP == qp:
			r.rep.Requests++
		case p.Op == roce.Acknowledge && p.DstIP == who:
			r.rep.Answers++
		default:
			continue
		}
		pr.packet(&p)
		for c := range n {
			q := p
			ep := g.ends[c]
			q.DstMAC, q.SrcMAC, q.SrcIP, q.DstIP, q.DestQP = ep.LocalMAC, ep.RemoteMAC, ep.RemoteIP, ep.LocalIP, ep.LocalQPN
			if err := r.offer(ep.Port, q.AppendFrame(nil)); err != nil {
				return fmt.Errorf("request or answer %d, rank %d: %w", r.rep.Requests+r.rep.Answers, c, err)
			}
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	r.rep.Predicted = pr.count
	var wrong []string
	for name, v := range r.rep.Counters {
		if v != pr.count[name] {
			wrong = append(wrong, fmt.Sprintf("%s is %d, predicted %d", name, v, pr.count[name]))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return failf("counters: %s", strings.Join(wrong, "; "))
	}
	return r.sums(g, pr)
}

// sums checks every result of every rank against n times the payload.
func (r *replayer) sums(g *group, pr *prediction) error {
	type key struct {
		rank int
		psn  roce.PSN
	}
	seen := map[key]bool{}
	for _, o := range r.left {
		p, err := roce.Decode(o.Data)
		if err != nil || !roce.CheckICRC(o.Data) {
			return failf("a frame left that is not sound: %w", err)
		}
		if !p.Op.IsSend() {
			continue
		}
		rank := slices.IndexFunc(g.ends, func(ep inc.Endpoint) bool { return ep.RemoteQPN == p.DestQP && ep.RemoteIP == p.DstIP })
		want, ok := pr.results[p.PSN]
		if rank < 0 || !ok {
			return failf("an unexpected result left: %v", &p)
		}
		if p.Op != want.Op || p.Imm != want.Imm || !bytes.Equal(p.Payload, want.Payload) {
			return failf("rank %d PSN %v: the result is not %d times what the ranks sent: %v, expected %v", rank, p.PSN, pr.ranks, &p, &want)
		}
		seen[key{rank, p.PSN}] = true
	}
	r.rep.Sums = len(seen)
	if want := len(pr.results) * pr.ranks; len(seen) != want {
		return failf("%d results of %d", len(seen), want)
	}
	return nil
}

// write writes what left.
func (r *replayer) write(file string) error {
	if file == "" {
		return nil
	}
	var ports []string
	for p := range r.t.p.Ports {
		ports = append(ports, fmt.Sprintf("p%d", p))
	}
	var frames []roce.Captured
	for _, o := range r.left {
		frames = append(frames, roce.Captured{Port: o.Port, Time: r.t.time(o.Last), Frame: o.Data})
	}
	return roce.WriteCapture(file, ports, frames)
}

// replayed is what a group computes whose ranks all send the payload of a capture: little-endian INT32 SUM, or what comes first.
func (t *T) replayed() arith.Kind {
	if k := (arith.Kind{DType: arith.INT32}); slices.Contains(t.kinds(), k) {
		return k
	}
	return t.kinds()[0]
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

func newPrediction(p contract.Params, ranks int, kind arith.Kind, start roce.PSN, mw int) *prediction {
	return &prediction{kind: kind, tree: p.Reproducible(), ranks: ranks, mtu: p.MTUBytes, mw: mw, next: start, count: map[string]uint64{}, results: map[roce.PSN]roce.Packet{}}
}

func (p *prediction) add(names ...string) {
	for _, n := range names {
		p.count[n] += uint64(p.ranks)
	}
}

func (p *prediction) packet(k *roce.Packet) {
	p.add("RX_FRAMES")
	switch kind := roce.SyndromeKindOf(k.Syndrome); {
	case k.Op.IsWrite():
		p.add("DROP_OPCODE")
	case k.Op == roce.Acknowledge && kind == roce.SyndromeAck:
		p.add("RX_ACK", "TX_REFLECT", "TX_FRAMES")
	case k.Op == roce.Acknowledge && kind == roce.SyndromeNAK:
		p.add("RX_NAK", "TX_REFLECT", "TX_FRAMES")
	case k.Op == roce.Acknowledge && kind == roce.SyndromeRNR:
		p.add("RX_RNR", "TX_REFLECT", "TX_FRAMES")
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
		copies := make([][]byte, p.ranks)
		for i := range copies {
			copies[i] = k.Payload
		}
		if res.Payload = p.kind.InOrder(copies...); p.tree {
			res.Payload = p.kind.Tree(copies)
		}
		p.results[k.PSN] = res
	}
}
