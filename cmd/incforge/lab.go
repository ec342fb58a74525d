// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/lab"
	"incforge/lab/folder"
	"incforge/live"
	"incforge/verify/dut"
)

// labFlags are those of incforge lab.
type labFlags struct {
	guest    string
	status   time.Duration
	seed     uint64
	prepare  bool
	jsonFile string
	programs []string
}

func (a *app) lab() *cobra.Command {
	var l labFlags
	cmd := &cobra.Command{Use: "lab TOPOLOGY [-- COMMAND...]", Short: "Start a cluster of Linux guests with RoCE on simulated switches",
		Long: `Start a cluster: Linux guests with RoCE in software, switches on Verilog or on the reference, links with rate, delay and faults, and groups,
as a file describes them; docs/lab.md is a tutorial. make lab builds what the guests boot from. No privileges are needed.

With a COMMAND it is run on all hosts at once, and the lab ends with it; the exit status is 1 if any host's is not 0. Without one the lab
runs until SIGINT or SIGTERM. Whatever ends it, no process, socket or folder is left behind; after SIGKILL, once the next lab starts.

The subcommands speak to a lab that runs.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n >= 0 && n != 1 || n < 0 && len(args) != 1 {
				return errors.New("it takes one TOPOLOGY, and a command only behind --")
			}
			return nil
		}, RunE: func(cmd *cobra.Command, args []string) error { return a.labRun(cmd, args, &l) }}
	bindJSON(cmd, &l.jsonFile)
	f := cmd.Flags()
	f.StringVar(&l.guest, "guest", filepath.Join(buildDir, "lab"), "folder of the guest's kernel and files, which make lab makes")
	f.DurationVar(&l.status, "status", 0, "time between lines of the switches' state on stderr; 0 prints none")
	f.Uint64Var(&l.seed, "seed", 1, "seed of the engines' random initial state")
	f.StringArrayVar(&l.programs, "program", nil, "a program for all hosts, which run it by its name (repeatable)")
	f.BoolVar(&l.prepare, "prepare", false, "check the file, compile the switches' models and end")
	a.labCommands(cmd)
	return cmd
}

// labRun is incforge lab.
func (a *app) labRun(cmd *cobra.Command, args []string, l *labFlags) error {
	guest, err := filepath.Abs(l.guest)
	if err != nil {
		return err
	}
	designs := labDesigns{cmd: cmd, a: a, seed: l.seed, dirs: map[labDesign]string{}}
	defer designs.close()
	top, err := lab.Read(args[0], designs.manifest)
	if err != nil {
		return usageError{err}
	}
	for _, path := range l.programs {
		if err := top.AddProgram(path); err != nil {
			return usageError{err}
		}
	}
	o := lab.Options{Topology: top, Guest: lab.Guest(guest), Status: l.status, Log: a.log}
	if err := o.Guest.Check(); err != nil && !l.prepare {
		return usageError{err}
	}
	for i := range top.Switches {
		if err := designs.engine(&o, &top.Switches[i]); err != nil {
			return errors.Join(err, closeEngines(o.Engines))
		}
	}
	if l.prepare {
		a.log.Infof("lab: the switches of %s are ready to run", top.Name)
		return closeEngines(o.Engines)
	}
	if top.Manager != nil {
		a.labManaged(&o)
	}
	if len(args) > 1 {
		o.Program = func(ctx context.Context, r *lab.Lab) error { return a.onAll(ctx, r, script(args[1:])) }
	}
	rep, err := lab.Run(cmd.Context(), o)
	if err = errors.Join(err, closeEngines(o.Engines)); errors.Is(err, folder.ErrRunning) {
		err = usageError{err}
	}
	if len(args) > 1 { // the command's output is what matters
		return errors.Join(err, writeJSON(l.jsonFile, rep))
	}
	return a.liveEnd(&rep, err, l.jsonFile)
}

// labDesigns are the designs of a lab's switches.
type labDesigns struct {
	cmd  *cobra.Command
	a    *app
	seed uint64
	dirs map[labDesign]string
	done []func()
}

type labDesign struct{ config, dut string }

func (d *labDesigns) close() {
	for _, f := range d.done {
		f()
	}
}

// manifest is a lab.Loader.
func (d *labDesigns) manifest(config, kind string) (*contract.Manifest, error) {
	which, key := dutFlags{kind: kind}, labDesign{config, kind}
	if d.dirs[key] == "" {
		dir, done, err := which.open(d.cmd, d.a, config, &configFlags{})
		if err != nil {
			return nil, err
		}
		d.dirs[key], d.done = dir, append(d.done, done)
	}
	return contract.Load(d.dirs[key])
}

// engine makes the engine of a switch.
func (d *labDesigns) engine(o *lab.Options, s *lab.Switch) error {
	which := dutFlags{kind: s.DUT}
	stop := d.a.working("build %s", s.Config)
	_, engines, err := which.source(d.dirs[labDesign{s.Config, s.DUT}], d.a).Open(d.cmd.Context())
	stop()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	e, err := engines.New(d.seed)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	scale := o.Topology.TimeScale
	if scale == 0 {
		scale = timeScale(s.Manifest.Params.Mode, s.DUT)
	}
	o.Engines, o.TimeScales = append(o.Engines, e), append(o.TimeScales, scale)
	return nil
}

func closeEngines(engines []dut.DUT) error {
	var switches []live.Switch
	for _, e := range engines {
		switches = append(switches, live.Switch{Engine: e})
	}
	return closeAll(switches)
}

// onAll runs a script on all hosts at once. Lines of output begin with the host's name.
func (a *app) onAll(ctx context.Context, r *lab.Lab, text string) error {
	var mu sync.Mutex
	hosts := r.Hosts()
	errs := make([]error, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() {
			out := &prefixed{mu: &mu, to: a.out, prefix: host + ": "}
			status, err := r.Exec(ctx, host, text, out)
			out.end()
			if err == nil && status != 0 {
				fmt.Fprintf(a.stderr, "%s: exit status %d\n", host, status)
				err = errFailed
			}
			errs[i] = err
		})
	}
	all.Wait()
	return firstOf(errs)
}

// firstOf is an error that says more than that a command failed, if there is one.
func firstOf(errs []error) error {
	var failed error
	for _, err := range errs {
		switch {
		case errors.Is(err, errFailed):
			failed = err
		case err != nil:
			return err
		}
	}
	return failed
}

// prefixed writes whole lines, each behind a prefix.
type prefixed struct {
	mu     *sync.Mutex
	to     io.Writer
	prefix string
	line   []byte
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	for {
		at := bytes.IndexByte(p.line, '\n')
		if at < 0 {
			return len(b), nil
		}
		p.put(p.line[:at+1])
		p.line = p.line[at+1:]
	}
}

func (p *prefixed) put(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.to, "%s%s", p.prefix, line)
}

// end writes what has no end of line.
func (p *prefixed) end() {
	if len(p.line) > 0 {
		p.put(append(p.line, '\n'))
	}
}
