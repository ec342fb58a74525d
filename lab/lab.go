// SPDX-License-Identifier: Apache-2.0

// Package lab starts a cluster of Linux guests on simulated switches, from one file: guests in user-mode Linux with RoCE in software,
// switches by package live, links between them with rate, delay and faults, groups over trees of switches. It runs commands on the guests,
// joins their queue pairs to groups, and takes away all that it made.
package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/lab/folder"
	"incforge/lab/taps"
	"incforge/live"
	"incforge/verify/dut"
)

// Options say what Run does.
type Options struct {
	Topology *Topology
	// Engines are those of the switches, as after reset. Run does not close them.
	Engines []dut.DUT
	// TimeScales are those of the switches, as live has them.
	TimeScales []float64
	Guest      Guest
	// Agent makes what runs beside a switch and has its groups, and Manager runs the manager of all, until ctx ends: both nil unless the topology is
	// managed. dir is the lab's folder; ManagerSocket is where the manager serves.
	Agent   func(dir string, sw int) func(ctx context.Context, h *live.Hand) error
	Manager func(ctx context.Context, dir string) error
	// Home is where the lab's folder is; empty means folder.Home().
	Home string
	// Status is the time between two lines of state of the switches; 0 means none.
	Status time.Duration
	Log    *logrus.Logger
	// Program runs once all guests are up; the lab ends with it. nil means to run until ctx ends.
	Program func(ctx context.Context, l *Lab) error
}

// Lab is a lab that runs.
type Lab struct {
	top     *Topology
	o       *Options
	log     *logrus.Logger
	dir     string // its folder
	share   string // the guests' common folder, in it
	taps    taps.Taps
	joiners []*joiner
	joining sync.Mutex // held while a joiner changes groups
	hosts   []*running // by host
}

// running is a host.
type running struct {
	mu   sync.Mutex // held while it is started or killed
	m    *machine   // nil: it is down
	boot boot
	free chan *console
	own  struct { // the lab's own terminal
		sync.Mutex
		*console
	}
}

// bootTime is how long guests may take to be up.
const bootTime = 60 * time.Second

// Run starts everything, runs the program, and takes everything away. That ctx ends is no error.
func Run(ctx context.Context, o Options) (rep live.Report, err error) {
	start := time.Now()
	if err := o.Guest.Check(); err != nil {
		return rep, err
	}
	if o.Home == "" {
		o.Home = folder.Home()
	}
	f, err := folder.Claim(o.Home, o.Topology.Name)
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, f.Drop()) }()
	l := &Lab{top: o.Topology, o: &o, log: o.Log, dir: f.Path, share: filepath.Join(f.Path, "share")}
	if err := l.prepare(); err != nil {
		return rep, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	endCaptures, err := l.captures()
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, endCaptures()) }()

	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var lerr error
		rep, lerr = live.Run(ctx, l.liveOptions(func() { close(ready) }))
		ended <- lerr
		cancel() // without switches there is no lab
	}()
	select {
	case <-ready:
	case err := <-ended:
		return rep, err
	}
	managed := l.manage(ctx, cancel)
	err = l.work(ctx, start)
	err = errors.Join(err, l.killAll())
	cancel()
	return rep, errors.Join(err, <-ended, <-managed)
}

// manage runs the manager, if there is one. Without it a lab that has one ends.
func (l *Lab) manage(ctx context.Context, cancel func()) <-chan error {
	ended := make(chan error, 1)
	if l.o.Manager == nil {
		ended <- nil
		return ended
	}
	go func() {
		defer cancel()
		err := l.o.Manager(ctx, l.dir)
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	}()
	return ended
}

// work boots the guests and runs the program.
func (l *Lab) work(ctx context.Context, start time.Time) error {
	if err := l.bootAll(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var watchers sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer watchers.Wait()
	defer cancel()
	for _, j := range l.joiners {
		watchers.Go(func() { j.watch(ctx) })
	}
	stop, err := l.serve(ctx)
	if err != nil {
		return err
	}
	l.log.Infof("lab: %s is up after %.1f s: %d hosts, %d switches; folder of all hosts: %s", l.top.Name, time.Since(start).Seconds(), len(l.hosts),
		len(l.top.Switches), l.share)
	if l.o.Program != nil {
		err = l.o.Program(ctx, l)
	} else {
		<-ctx.Done()
	}
	return errors.Join(err, stop())
}

// prepare makes what is in the lab's folder.
func (l *Lab) prepare() error {
	for _, dir := range []string{"bin", ".run", "groups"} {
		if err := os.MkdirAll(filepath.Join(l.share, dir), 0o755); err != nil {
			return err
		}
	}
	bin := filepath.Join(string(l.o.Guest), "bin")
	entries, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	var programs []string
	for _, e := range entries {
		programs = append(programs, filepath.Join(bin, e.Name()))
	}
	for _, path := range append(programs, l.top.Programs...) { // those of the file may take the place of the guest's
		if err := copyFile(path, filepath.Join(l.share, "bin", filepath.Base(path))); err != nil {
			return err
		}
	}
	for i := range l.top.Groups {
		j, err := l.newJoiner(i)
		if err != nil {
			return err
		}
		l.joiners = append(l.joiners, j)
	}
	return nil
}

// copyFile copies a program.
func copyFile(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}

// Paths of sockets in the lab's folder.
func (l *Lab) switchSocket() string { return filepath.Join(l.dir, "switches") }
func (l *Lab) labSocket() string    { return filepath.Join(l.dir, "lab") }

// ManagerSocket is where the manager of a lab with that folder serves.
func ManagerSocket(dir string) string { return filepath.Join(dir, "manager") }

// managerSocket is empty if there is no manager.
func (l *Lab) managerSocket() string {
	if l.o.Manager == nil {
		return ""
	}
	return ManagerSocket(l.dir)
}

func (l *Lab) portSocket(sw, p int) string {
	return filepath.Join(l.dir, fmt.Sprintf("%s.%d", l.top.Switches[sw].Name, p))
}

// liveOptions are the switches and their links.
func (l *Lab) liveOptions(ready func()) live.Options {
	o := live.Options{Seed: l.top.Seed, Control: l.switchSocket(), Tap: l.taps.See, Status: l.o.Status, Log: l.log, Ready: ready}
	for i := range l.top.Switches {
		s := &l.top.Switches[i]
		sw := live.Switch{Name: s.Name, Manifest: s.Manifest, Engine: l.o.Engines[i], Setup: s.Setup, Unchecked: !s.Check, TimeScale: l.o.TimeScales[i],
			Bridge: l.top.Bridge}
		if l.o.Agent != nil {
			sw.Agent = l.o.Agent(l.dir, i)
		}
		for _, p := range l.top.ports[i] {
			link := &l.top.Links[p.link]
			if far := l.top.far(p.link, i); far.Host >= 0 {
				sw.Ports = append(sw.Ports, live.Port{Number: p.number, Mine: l.portSocket(i, p.number), Peer: l.top.Hosts[far.Host].Name, Plug: true, Faults: link.Faults,
					Shape: link.Shape})
			}
		}
		o.Switches = append(o.Switches, sw)
	}
	for _, link := range l.top.Links {
		if link.A.Host < 0 && link.B.Host < 0 {
			o.Links = append(o.Links, live.Link{A: live.End{Switch: link.A.Switch, Port: link.A.Port}, B: live.End{Switch: link.B.Switch, Port: link.B.Port},
				Faults: link.Faults, Shape: link.Shape})
		}
	}
	return o
}

// tapOf is where the frames of a link are seen.
func (t *Topology) tapOf(link *Link) live.End {
	end := link.A
	if end.Host >= 0 {
		end = link.B
	}
	return live.End{Switch: end.Switch, Port: end.Port}
}

// captures begins the captures that the file asks for. What it returns ends them.
func (l *Lab) captures() (end func() error, err error) {
	var ends []func() error
	end = func() error {
		var errs []error
		for _, f := range ends {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	for i := range l.top.Links {
		link := &l.top.Links[i]
		if link.Capture == "" {
			continue
		}
		f, err := os.Create(link.Capture)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("capture of %s: %w", link.Name, err), end())
		}
		at := l.top.tapOf(link)
		s, err := l.taps.Add(at, link.Name, f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("capture of %s: %w", link.Name, err), f.Close(), end())
		}
		ends = append(ends, func() error {
			err := errors.Join(l.taps.Remove(at, s), f.Close())
			select {
			case failed := <-s.Failed():
				err = errors.Join(err, fmt.Errorf("capture of %s: %w", link.Name, failed))
			default:
			}
			return err
		})
	}
	return end, nil
}

// nicMTU is what the guests' network cards take: a packet of the largest payload that a switch has, and its headers.
func (t *Topology) nicMTU() int {
	mtu := 1500
	for i := range t.Switches {
		mtu = max(mtu, t.Switches[i].Manifest.Params.MTUBytes+100)
	}
	return min(mtu, live.MaxFrame-14)
}

// bootAll starts all guests and waits until they take commands.
func (l *Lab) bootAll(ctx context.Context) error {
	for i := range l.top.Hosts {
		at := l.top.hostLink(i)
		l.hosts = append(l.hosts, &running{boot: boot{guest: l.o.Guest, host: &l.top.Hosts[i], dir: l.dir, share: l.share, port: l.portSocket(at.Switch, at.Port), mtu: l.top.nicMTU(),
			manager: l.managerSocket()}})
	}
	errs := make([]error, len(l.hosts))
	var all sync.WaitGroup
	for i, h := range l.hosts {
		all.Go(func() { errs[i] = h.start(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// start boots a host that is down, and waits until it takes commands.
func (h *running) start(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m != nil {
		return fmt.Errorf("host %s is up", h.boot.host.Name)
	}
	m, err := h.boot.start()
	if err != nil {
		return err
	}
	until := time.Now().Add(bootTime)
	stop := context.AfterFunc(ctx, func() { _ = m.closeConsoles() }) // which ends the waiting
	defer stop()
	for _, c := range m.consoles {
		if err := c.await(until); err != nil {
			return errors.Join(fmt.Errorf("host %s does not come up: %w; the end of its log:\n%s", h.boot.host.Name, err,
				lastLines(filepath.Join(h.boot.dir, h.boot.host.Name+".log"), 8)), m.kill())
		}
	}
	h.m, h.free = m, make(chan *console, ttys)
	h.own.Lock()
	h.own.console = m.consoles[ttys-1]
	h.own.Unlock()
	for _, c := range m.consoles[:ttys-1] {
		h.free <- c
	}
	return nil
}

// kill ends a host as a power failure would.
func (h *running) kill() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		return nil
	}
	m := h.m
	h.m = nil
	return m.kill()
}

func (l *Lab) killAll() error {
	var errs []error
	for _, h := range l.hosts {
		errs = append(errs, h.kill())
	}
	return errors.Join(errs...)
}

// Errors of what is asked of hosts.
var (
	ErrNoHost = errors.New("there is no such host")
	ErrDown   = errors.New("the host is down")
	ErrBusy   = errors.New("all terminals of the host are taken")
)

// host finds a host by its name.
func (l *Lab) host(name string) (*running, error) {
	for i := range l.top.Hosts {
		if l.top.Hosts[i].Name == name {
			return l.hosts[i], nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoHost, name)
}

// Hosts are the names of all hosts.
func (l *Lab) Hosts() (names []string) {
	for i := range l.top.Hosts {
		names = append(names, l.top.Hosts[i].Name)
	}
	return names
}

// Kill ends a host as a power failure would; Start boots one that is down.
func (l *Lab) Kill(name string) error {
	h, err := l.host(name)
	if err != nil {
		return err
	}
	l.log.Infof("lab: %s is killed", name)
	err = h.kill()
	for _, j := range l.joiners {
		err = errors.Join(err, j.absent(name))
	}
	return err
}

func (l *Lab) Start(ctx context.Context, name string) error {
	h, err := l.host(name)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := h.start(ctx); err != nil {
		return err
	}
	l.log.Infof("lab: %s is up after %.1f s", name, time.Since(start).Seconds())
	return nil
}

// Exec runs a script of sh on a host and returns its exit status; what it prints on either stream goes to out. If ctx ends, so does the
// script.
func (l *Lab) Exec(ctx context.Context, name, script string, out io.Writer) (status int, err error) {
	return l.command(ctx, name, "run", script, nil, out)
}

// Shell runs an interactive shell on a host.
func (l *Lab) Shell(ctx context.Context, name string, in io.Reader, out io.Writer) (status int, err error) {
	return l.command(ctx, name, "shell", "", in, out)
}

func (l *Lab) command(ctx context.Context, name, kind, script string, in io.Reader, out io.Writer) (status int, err error) {
	h, err := l.host(name)
	if err != nil {
		return 0, err
	}
	h.mu.Lock()
	m, free := h.m, h.free
	h.mu.Unlock()
	if m == nil {
		return 0, fmt.Errorf("%w: %s", ErrDown, name)
	}
	var c *console
	select {
	case c = <-free:
	default:
		return 0, fmt.Errorf("%w: %s", ErrBusy, name)
	}
	token := rand.Text()
	path := filepath.Join(l.share, ".run", token)
	if kind == "run" {
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			free <- c
			return 0, err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	stop := context.AfterFunc(ctx, func() { h.end(m, token) })
	status, err = c.run(kind, token, in, out)
	stop()
	if err == nil {
		free <- c
	}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return status, err
}

// end kills a command on a machine, with all that it started. A machine that is gone took the command along.
func (h *running) end(m *machine, token string) {
	h.own.Lock()
	defer h.own.Unlock()
	if own := h.own.console; own == m.consoles[ttys-1] {
		_, _ = own.run("end", token, nil, io.Discard)
	}
}
