// SPDX-License-Identifier: Apache-2.0

// Command incforge generates, verifies and prices in-network-collective engines. It parses flags and calls packages; what the
// commands do is in rtlgen, verify, synth, fpga and report.
//
// Long: a file a command, each with little but flags and help in it; a package a command would add lines and take nothing apart.
//
// Exit status: 0 success, 1 a check failed, 2 bad usage or parameters, 3 a needed tool is missing, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"incforge/cmd/incforge/pricing"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/internal/tool"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// Exit statuses; scripts depend on them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitMissing = 3
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	ctx, programs := tool.Track(ctx)
	signals := make(chan os.Signal, 2) // room for both, whatever the watcher is doing
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	i := interrupts{signals: signals, cancel: cancel, kill: programs.Kill, exit: os.Exit, stderr: os.Stderr, grace: grace}
	go i.watch(done)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	close(done)
	os.Exit(status)
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	log := logrus.New()
	log.SetOutput(stderr)
	log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true, DisableQuote: true})
	a := &app{log: log, out: stdout, stderr: stderr, args: args}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil || errors.Is(err, jobs.ErrServed) {
		return exitOK
	}
	if ctx.Err() != nil { // whatever the command made of it
		fmt.Fprintln(stderr, "incforge: interrupted")
		a.log.Debug(err)
		return exitInterrupted
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "incforge:", text)
	}
	return a.status(err)
}

// app is what all commands share.
type app struct {
	log     *logrus.Logger
	out     io.Writer
	stderr  io.Writer
	args    []string // the command line
	started bool     // a command's own code was reached, so an error is no longer about the command line
	verbose bool
	quiet   bool
}

// errFailed means that a check failed and its findings are already on stdout.
var errFailed = errors.New("a check failed")

// usageError marks an error in what the user asked for.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// status maps an error to the exit status.
func (a *app) status(err error) int {
	var (
		usage    usageError
		problems params.Problems
		absent   *tool.NotFoundError
	)
	switch {
	case errors.As(err, &absent):
		return exitMissing
	case !a.started, errors.As(err, &usage), errors.As(err, &problems), errors.Is(err, rtlgen.ErrNoVerilog):
		return exitUsage
	}
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "incforge",
		Short: "Generate, verify and price in-network-collective engines",
		Long: `IncForge turns parameters into the Verilog of an IncEngine (an engine in the switch for collectives over RoCEv2, EPIC, SIGCOMM '26),
proves it against an independent model, and prices it.

CONFIG is the name of a preset (incforge config list) or a YAML file.
Exit status: 0 success, 1 a check failed, 2 bad usage or parameters, 3 a needed tool is missing, 130 interrupted (Ctrl-C or SIGTERM: the
command ends within two seconds with what it knows so far; a second signal ends it at once).`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateRequiredFlags(); err != nil { // cobra looks only after this function
				return err
			}
			switch {
			case a.verbose && a.quiet:
				return errors.New("--verbose and --quiet exclude each other")
			case a.verbose:
				a.log.SetLevel(logrus.DebugLevel)
			case a.quiet:
				a.log.SetLevel(logrus.ErrorLevel)
			}
			a.started = true
			return nil
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "log more, to stderr")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "log errors only")
	root.AddCommand(a.gen(), a.lint(), a.verify(), a.flips(), a.chaos(), a.shapes(), a.replay(), a.live(), a.lab(), a.synth(), a.openroad(), a.fpga(), a.bench(), a.config(), a.report(), a.doctor())
	root.AddCommand(a.agent(), a.manager(), a.host(), a.perf(), a.clusterStatus(), a.collective(), a.flows(), a.modelcheck(), a.mutate(), a.coverage(), a.prove(), a.evidence(), pricing.Sweep(a.program))
	return root
}

// program is the part of the app that commands in packages of their own need.
func (a *app) program() pricing.Program {
	return pricing.Program{Out: a.out, Log: a.log, Args: a.args, BuildDir: buildDir, Progress: a.progress, Write: write,
		Usage: func(err error) error { return usageError{err} }}
}

// working says on stderr that something still runs, until the returned function is called.
func (a *app) working(format string, args ...any) (stop func()) {
	return a.progress(format, args...).Stop
}

// progress reports on a task that can say how far it is.
func (a *app) progress(format string, args ...any) *progress.Task {
	if a.quiet {
		return nil
	}
	return progress.New(a.stderr).Start(format, args...)
}

// write writes a result file, making its folder.
func write(path string, text []byte) error {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if err := os.MkdirAll(path[:i], 0o755); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
