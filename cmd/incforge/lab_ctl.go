// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"incforge/lab"
	"incforge/lab/folder"
)

// labCommands adds the commands for a lab that runs.
func (a *app) labCommands(cmd *cobra.Command) {
	var (
		name   string
		asJSON bool
		file   string
	)
	cmd.PersistentFlags().StringVar(&name, "lab", "", "the lab, where several run")
	sub := func(use, short, long string, args cobra.PositionalArgs, run func(ctx context.Context, c *lab.Client, args []string) error) *cobra.Command {
		one := &cobra.Command{Use: use, Short: short, Long: long, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := labFolder(name)
			if err != nil {
				return err
			}
			return run(cmd.Context(), lab.NewClient(folder), args)
		}}
		cmd.AddCommand(one)
		return one
	}
	sub("exec HOST COMMAND...", "Run a command on a host, or on all with the HOST all", `Run a command on a host, or on all hosts at once with the HOST all. One argument is a line of sh, several are a program with its
arguments. Both streams come back on stdout, and the exit status is the command's, 1 if it is any other than 0.`,
		cobra.MinimumNArgs(2), a.labExec).Flags().SetInterspersed(false)
	sub("shell HOST", "An interactive shell on a host; exit or Ctrl-D ends it", "", cobra.ExactArgs(1), a.labShell)
	sub("kill HOST", "End a host as a power failure would", "", cobra.ExactArgs(1),
		func(ctx context.Context, c *lab.Client, args []string) error { return c.Kill(ctx, args[0]) })
	sub("start HOST", "Boot a host that was killed", "", cobra.ExactArgs(1),
		func(ctx context.Context, c *lab.Client, args []string) error { return c.Start(ctx, args[0]) })
	state := sub("state", "Hosts, links, groups, and where the switches' control socket is", "", cobra.NoArgs,
		func(ctx context.Context, c *lab.Client, _ []string) error {
			s, err := c.State(ctx)
			if err != nil {
				return err
			}
			return a.labState(&s, asJSON)
		})
	state.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	capture := sub("capture LINK", "Capture the frames of a link as pcapng until interrupted; LINK is a link's name or a host's",
		"Capture the frames of a link as pcapng until interrupted. LINK is a link's name, as state prints it, or a host's.\n\n  incforge lab capture h0 | wireshark -k -i -",
		cobra.ExactArgs(1), func(ctx context.Context, c *lab.Client, args []string) (err error) {
			out := a.out
			if file != "" {
				f, err := os.Create(file)
				if err != nil {
					return usageError{err}
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				out = f
			}
			return c.Capture(ctx, args[0], out)
		})
	capture.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of stdout")
}

// labFolder is the folder of the lab with that name, or of the only one.
func labFolder(name string) (string, error) {
	if name != "" {
		dir := filepath.Join(folder.Home(), name)
		if _, err := os.Stat(filepath.Join(dir, "lab")); err != nil {
			return "", usagef("lab %s does not run", name)
		}
		return dir, nil
	}
	folders, err := lab.Folders(folder.Home())
	switch {
	case err != nil:
		return "", err
	case len(folders) == 0:
		return "", usagef("no lab runs")
	case len(folders) > 1:
		var names []string
		for _, f := range folders {
			names = append(names, filepath.Base(f))
		}
		return "", usagef("several labs run: say which by --lab: %s", strings.Join(names, ", "))
	}
	return folders[0], nil
}

// script is a line of sh as it is, or a program and its arguments.
func script(args []string) string {
	if len(args) == 1 {
		return args[0] + "\n"
	}
	var words []string
	for _, arg := range args {
		words = append(words, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ") + "\n"
}

func (a *app) labExec(ctx context.Context, c *lab.Client, args []string) error {
	one := func(host string, out io.Writer) error {
		status, err := c.Exec(ctx, host, script(args[1:]), out)
		if err == nil && status != 0 {
			fmt.Fprintf(a.stderr, "%s: exit status %d\n", host, status)
			err = errFailed
		}
		return err
	}
	err := error(nil)
	if args[0] != "all" {
		err = one(args[0], a.out)
	} else {
		var s lab.State
		if s, err = c.State(ctx); err != nil {
			return err
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		errs := make([]error, len(s.Hosts))
		for i, h := range s.Hosts {
			all.Go(func() {
				out := &prefixed{mu: &mu, to: a.out, prefix: h.Name + ": "}
				errs[i] = one(h.Name, out)
				out.end()
			})
		}
		all.Wait()
		err = firstOf(errs)
	}
	return err
}

func (a *app) labShell(ctx context.Context, c *lab.Client, args []string) error {
	in := int(os.Stdin.Fd())
	if term.IsTerminal(in) {
		before, err := term.MakeRaw(in)
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(in, before) }()
	}
	return c.Shell(ctx, args[0], os.Stdin, a.out)
}

func (a *app) labState(s *lab.State, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	fmt.Fprintf(a.out, "lab %s; the hosts' folder /share is %s\nswitches: incforge live ctl state %s\n", s.Name, s.Share, s.Control)
	if s.Manager != "" {
		fmt.Fprintf(a.out, "manager: incforge status --manager %s\n", s.Manager)
	}
	t := newTable("host", "up", "ip", "mac", "link")
	for _, h := range s.Hosts {
		t.AppendRow(table.Row{h.Name, h.Up, h.IP, h.MAC, h.Link})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("link", "Mbit/s", "delay, µs", "loss", "dup", "reorder")
	for _, l := range s.Links {
		t.AppendRow(table.Row{l.Name, l.Shape.RateMbit, l.Shape.DelayUS, l.Faults.Loss, l.Faults.Duplicate, l.Faults.Reorder})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("group", "hosts", "kind", "window", "mtu", "start", "joined", "switches")
	for _, g := range s.Groups {
		var nodes []string
		for _, n := range g.Switches {
			nodes = append(nodes, fmt.Sprintf("%s:%d", n.Switch, n.Group))
		}
		t.AppendRow(table.Row{g.Name, strings.Join(g.Hosts, " "), strings.Join(strings.Fields(g.Collective+" "+g.DType+" "+g.Op), " "), g.Window, g.MTU,
			g.Start, g.Joined, strings.Join(nodes, " ")})
	}
	fmt.Fprintln(a.out, t.Render())
	return nil
}
