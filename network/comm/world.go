// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// Errors of World.Run.
var (
	// ErrStuck means that nothing completed anywhere for a long time.
	ErrStuck = errors.New("the calls do not end")
	// ErrReset is the error of calls that were aborted by a reset of their group.
	ErrReset = errors.New("the group was reset")
)

// Edge is a link of one group: from an endpoint of a switch to what is below it.
type Edge struct {
	Group int
	// Switch and Endpoint are the upper end; Link.Up goes toward it.
	Switch, Endpoint int
	// Child is the switch at the lower end, −1 if that is a host; Rank is the host's, −1 if it is none.
	Child, Rank int

	link *fabric.Link
}

// Config describes a World.
type Config struct {
	// Manifest describes all switches alike, but for those that Others describes, by number: of Mode III in a tree of Mode I, and otherwise alike. Fixed groups of
	// equal path MTUs take such trees (docs/termination.md section 9).
	Manifest *contract.Manifest
	Others   map[int]*contract.Manifest
	Tree     topology.Tree
	// Switch makes switch n, as after reset. The World closes it.
	Switch func(n int) (dut.DUT, error)
	// Link is what each edge looks like; nil is the bus's speed without faults and 40 cycles for all. Links between switches are shared by the
	// groups, the first group's counts; every group has NICs, with links, of its own.
	Link func(e Edge) *fabric.Link
	// Seed decides the links' faults and the groups' numbers that nobody gave.
	Seed uint64
	// NoGapNAK clears CTRL.gap_nak on every switch, which Mode III does not ask.
	NoGapNAK bool
	// Pipes are settings of Modes III and I; Mode II does not look at them.
	Pipes Pipes
}

// Pipes is what all switches of a world of Mode III or I do with full pipes, or pools, and what is not acknowledged (docs/pipes.md section 6).
type Pipes struct {
	// NoRNR: a packet that finds a pipe full is dropped silently instead of being answered by an RNR NAK.
	NoRNR bool `yaml:"no_rnr,omitempty"`
	// RNRTimer is the code in RNR NAKs; 0 is 1, 10 µs.
	RNRTimer uint8 `yaml:"rnr_timer,omitempty"`
	// CNP: a host whose packet finds a pipe full gets a CNP.
	CNP bool `yaml:"cnp,omitempty"`
	// TimeoutUS is PIPE_TIMEOUT in microseconds, at most 65,535; 0 is what the slowest group needs.
	TimeoutUS int `yaml:"timeout_us,omitempty"`
	// AckEvery is ACK_EVERY in Mode I; 0 leaves it as after reset.
	AckEvery uint8 `yaml:"ack_every,omitempty"`
}

// maxPipeTimeout is what PIPE_TIMEOUT has room for.
const maxPipeTimeout = math.MaxUint16

// World is a tree of switches, their links, and the groups on them. Make it with New.
type World struct {
	cfg    Config
	topo   *topology.Topology
	p      contract.Params
	rng    *rand.Rand
	net    *fabric.Net
	duts   []dut.DUT
	drv    []*ctrl.Driver
	groups []*Group

	timeout  int // PIPE_TIMEOUT in microseconds
	pending  int // calls not done
	progress uint64
	err      error
}

// New makes the switches; no group is on them yet.
func New(cfg Config) (_ *World, err error) {
	defer fail.Catch(&err, "")
	fail.On(cfg.Tree.Validate())
	w := &World{cfg: cfg, topo: cfg.Tree.Topology(), p: cfg.Manifest.Params, rng: rand.New(rand.NewPCG(cfg.Seed, 0x636f6d6d)), net: fabric.New(cfg.Seed)}
	degree := cfg.Tree.Degree
	fail.If(degree > w.p.Members, "%s needs switches of %d members, these have %d", cfg.Tree, degree, w.p.Members)
	// What is bypassed could run between two switches for ever.
	fail.If(cfg.Tree.Levels > 2 && degree%w.p.Ports == 0, "%s needs a port for the parent that is not child 0's, these switches have %d",
		cfg.Tree, w.p.Ports)
	w.mixes()
	for s := range w.topo.Switches {
		if err := w.addSwitch(s); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

func (w *World) addSwitch(s int) (err error) {
	defer fail.Catch(&err, "switch %d", s)
	d := fail.Must(w.cfg.Switch(s))
	w.duts = append(w.duts, d)
	drv := ctrl.New(d, w.manifest(s))
	w.drv = append(w.drv, drv)
	if w.cfg.NoGapNAK {
		fail.On(drv.SetOptions(false, false))
	}
	if w.pipes() {
		w.programPipes(s, drv)
	}
	if s > 0 { // frames that are nobody's, such as those of a connection that is gone, end at a host instead of running in circles
		fail.On(drv.SetBypassPort(w.port(w.topo.Degree(s)), w.port(0)))
	}
	sw, ok := d.(fabric.Switch)
	if !ok {
		sw = &bare{d, w}
	}
	w.net.AddSwitch(sw)
	return nil
}

// pipes tells whether the switches repeat what a link lost: Modes III and I. messages tells whether it is Mode I.
func (w *World) pipes() bool    { return w.p.Pipes() }
func (w *World) messages() bool { return w.p.Mode == 1 }

// programPipes writes the registers of Modes III and I that groups share.
func (w *World) programPipes(s int, drv *ctrl.Driver) {
	c := w.cfg.Pipes
	fail.If(c.RNRTimer > 31 || c.TimeoutUS < 0 || c.TimeoutUS > maxPipeTimeout, "RNR timer code %d, time-out of %d µs: at most 31 and %d",
		c.RNRTimer, c.TimeoutUS, maxPipeTimeout)
	fail.On(drv.SetPipeCtrl(inc.PipeCtrl{RNRTimer: uint8(max(c.RNRTimer, 1)), RNR: !c.NoRNR, CNP: c.CNP}))
	if c.TimeoutUS > 0 {
		fail.On(drv.SetPipeTimeout(uint16(c.TimeoutUS)))
	}
	if c.AckEvery > 0 && w.terminates(s) {
		fail.On(drv.SetAckEvery(c.AckEvery))
	}
}

// needTimeout makes PIPE_TIMEOUT at least so many cycles, unless somebody has set it.
func (w *World) needTimeout(cycles uint64) {
	us := min(int(cycles/w.p.CyclesPerMicrosecond())+1, maxPipeTimeout)
	if w.cfg.Pipes.TimeoutUS > 0 || us <= w.timeout {
		return
	}
	w.timeout = us
	for s, drv := range w.drv {
		err := drv.SetPipeTimeout(uint16(us))
		fail.If(err != nil, "switch %d: %w", s, err)
	}
}

// PipeTimeout is PIPE_TIMEOUT in cycles, 0 in Mode II; an engine backs off to eight times as long.
func (w *World) PipeTimeout() uint64 {
	return uint64(max(w.timeout, w.cfg.Pipes.TimeoutUS)) * w.p.CyclesPerMicrosecond()
}

// port is the port of an endpoint; those beyond the number of ports share.
func (w *World) port(e int) int { return e % w.p.Ports }

// link is a link; nobody having said so, one of the bus's speed without faults.
func (w *World) link(e Edge) *fabric.Link {
	if w.cfg.Link == nil {
		return &fabric.Link{Latency: 40, BytesPerCycle: float64(w.p.BusBytes)}
	}
	return w.cfg.Link(e)
}

// Net is the network, for faults and counts.
func (w *World) Net() *fabric.Net { return w.net }

// Tree is the shape.
func (w *World) Tree() topology.Tree { return w.cfg.Tree }

// Now is the time in cycles.
func (w *World) Now() uint64 { return w.net.Now() }

// Groups are the groups in the order in which they were made.
func (w *World) Groups() []*Group { return w.groups }

// Hosts are all NICs, group by group and by rank.
func (w *World) Hosts() (all []*host.Host) {
	for _, g := range w.groups {
		for _, r := range g.ranks {
			all = append(all, r.host)
		}
	}
	return all
}

// Driver is the control plane's side of switch s.
func (w *World) Driver(s int) *ctrl.Driver { return w.drv[s] }

// Close closes the switches.
func (w *World) Close() error {
	var errs []error
	for s, d := range w.duts {
		if err := d.Close(); err != nil {
			errs = append(errs, fmt.Errorf("switch %d: %w", s, err))
		}
	}
	w.duts = nil
	return errors.Join(errs...)
}

// Run runs until every queued call is done. An error says who waits for what.
func (w *World) Run(ctx context.Context) error {
	w.progress = w.Now()
	stall := w.stall()
	err := w.run(ctx, func() bool { return w.pending == 0 || w.err != nil || w.Now() > w.progress+stall })
	if err = cmp.Or(err, w.err); err == nil && w.pending > 0 {
		err = ErrStuck
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("cycle %d: %w\n%s", w.Now(), err, w.Diagnose())
}

// run runs the network; where nothing happens at all its clock jumps no further than a stall is long.
func (w *World) run(ctx context.Context, done func() bool) error {
	for {
		if err := w.net.Run(ctx, w.stall()+1, done); !errors.Is(err, fabric.ErrTimeout) {
			return err
		}
	}
}

// catchUp runs the network to where the switches are: writing registers took them time.
func (w *World) catchUp() error {
	latest := uint64(0)
	for _, d := range w.duts {
		latest = max(latest, d.Now())
	}
	return w.run(context.Background(), func() bool { return w.Now() >= latest })
}

// stall is how many cycles may pass without any completion before a run counts as stuck.
func (w *World) stall() uint64 {
	longest := max(1, 8*w.PipeTimeout())
	for _, g := range w.groups {
		longest = max(longest, g.cfg.Timeout)
	}
	return 500 * longest
}

// Finish ends a run: it waits until no frame is left anywhere, and reports what is then not as it should be: a NIC in error, a queue that is
// not empty, counters of a switch that contradict each other.
func (w *World) Finish(ctx context.Context) error {
	stop := w.Now() + w.stall()
	if err := w.run(ctx, func() bool { return w.net.Quiet() || w.Now() > stop }); err != nil {
		return err
	}
	if !w.net.Quiet() {
		return fmt.Errorf("cycle %d: frames do not stop\n%s", w.Now(), w.Diagnose())
	}
	var errs []error
	for _, g := range w.groups {
		errs = append(errs, g.rest())
	}
	for s := range w.duts {
		c, err := w.drv[s].Counters()
		if err == nil {
			err = ctrl.Identities(w.manifest(s).Params.Mode, c)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("switch %d: %w", s, err))
		}
	}
	return errors.Join(errs...)
}

// bare is an engine without a scoreboard.
type bare struct {
	dut.DUT
	w *World
}

// stillCycles is how long an engine that is not idle may stand still.
const stillCycles = 2000

// Idle takes an engine whose timers nobody can see for idle when the longest of them would be over.
func (b *bare) Idle() bool {
	still := uint64(stillCycles)
	if _, ok := b.Timers(); !ok {
		still += max(8*b.w.PipeTimeout(), b.w.rnrWait())
	}
	return b.Waiting() == 0 && b.Still() >= still
}

func (b *bare) StepTo(cycle uint64) error {
	err := b.DUT.StepTo(cycle)
	b.DUT.Accepted() // nobody else takes them
	b.DUT.Acts()
	return err
}

// rnrWait is the time in cycles that an RNR NAK of a host asks for.
func (w *World) rnrWait() uint64 {
	return (uint64(roce.RNRDuration(roce.RNRSyndrome|rnrCode).Microseconds()) + 1) * w.p.CyclesPerMicrosecond()
}

// Addresses: a switch and a host have one IP each, an endpoint and a connection have a MAC each, by which the ends of a shared port are told
// apart.

func switchIP(s int) roce.IP4 { return roce.IP4{10, 1, byte(s >> 8), byte(s)} }
func hostIP(r int) roce.IP4   { return roce.IP4{10, 2, byte(r >> 8), byte(r)} }

func switchMAC(group, s, e int) roce.MAC {
	return roce.MAC{2, byte(e), byte(group >> 8), byte(group), byte(s >> 8), byte(s)}
}

func hostMAC(group, r int) roce.MAC {
	return roce.MAC{2, 0xFF, byte(group >> 8), byte(group), byte(r >> 8), byte(r)}
}

// kinds are what the engines compute, the type with the lowest code first.
func (w *World) kinds() []arith.Kind { return arith.Kinds(w.p.DTypeMask(), w.p.OpMask()) }
