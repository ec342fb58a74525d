// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/live"
)

// liveCtl are the commands for a running incforge live.
func (a *app) liveCtl() *cobra.Command {
	var (
		sw     string
		asJSON bool
	)
	cmd := &cobra.Command{Use: "ctl", Short: "Look into a running incforge live and change its groups, over its control socket",
		Long: `Look into a running incforge live and change its groups, over the socket that its --control names. A group that is reset, changed,
added or removed disturbs no other; its hosts must connect anew afterwards.`}
	cmd.PersistentFlags().StringVar(&sw, "switch", "", "the switch, where there are several")
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	sub := func(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, c *live.Client, sw string, args []string) (any, error)) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			c := live.NewClient(args[0])
			name := sw
			if name == "" && !strings.HasPrefix(use, "state") && !strings.HasPrefix(use, "counters") {
				s, err := c.State(cmd.Context())
				if err != nil {
					return err
				}
				if len(s.Switches) != 1 {
					return usagef("there are %d switches: say which by --switch", len(s.Switches))
				}
				name = s.Switches[0].Name
			}
			answer, err := run(cmd.Context(), c, name, args[1:])
			if err != nil {
				return err
			}
			return a.ctlPrint(answer, asJSON)
		}})
	}
	sub("state SOCKET", "Switches, ports and groups, and why groups stand", cobra.ExactArgs(1),
		func(ctx context.Context, c *live.Client, sw string, _ []string) (any, error) {
			return ctlState(ctx, c, sw)
		})
	sub("counters SOCKET", "The engines' counters", cobra.ExactArgs(1), func(ctx context.Context, c *live.Client, sw string, _ []string) (any, error) {
		s, err := ctlState(ctx, c, sw)
		all := counters{}
		for i := range s.Switches {
			all[s.Switches[i].Name] = s.Switches[i].Counters
		}
		return all, err
	})
	sub("reset SOCKET GROUP", "Start a group anew", cobra.ExactArgs(2), func(ctx context.Context, c *live.Client, sw string, args []string) (any, error) {
		g, err := groupArg(args[0])
		if err != nil {
			return nil, err
		}
		return c.Reset(ctx, sw, g)
	})
	sub("set SOCKET GROUP KEY=VALUE...", "Change a group, with keys as in a groups file, and start it anew", cobra.MinimumNArgs(3), ctlSet)
	sub("add SOCKET FILE", "Add the group that FILE describes, one mapping as in a groups file; - is stdin", cobra.ExactArgs(2), ctlAdd)
	sub("remove SOCKET GROUP", "Take a group away", cobra.ExactArgs(2), func(ctx context.Context, c *live.Client, sw string, args []string) (any, error) {
		g, err := groupArg(args[0])
		if err != nil {
			return nil, err
		}
		return removed(g), c.Remove(ctx, sw, g)
	})
	for _, down := range []bool{true, false} {
		use, short := "up SOCKET PORT", "Take a port up again"
		if down {
			use, short = "down SOCKET PORT", "Take a port down: it carries nothing, and an agent reports it"
		}
		sub(use, short, cobra.ExactArgs(2), func(ctx context.Context, c *live.Client, sw string, args []string) (any, error) {
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 0 {
				return nil, usagef("port %q: must be a number", args[0])
			}
			return c.SetPort(ctx, sw, n, down)
		})
	}
	return cmd
}

func ctlSet(ctx context.Context, c *live.Client, sw string, args []string) (any, error) {
	g, err := groupArg(args[0])
	if err != nil {
		return nil, err
	}
	text, err := settings(args[1:])
	if err != nil {
		return nil, err
	}
	return c.Change(ctx, sw, g, text)
}

func ctlAdd(ctx context.Context, c *live.Client, sw string, args []string) (any, error) {
	text, err := os.ReadFile(args[0])
	if args[0] == "-" {
		text, err = io.ReadAll(os.Stdin)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return c.Add(ctx, sw, text)
}

// counters are those of each switch; removed is the number of a group that has gone.
type (
	counters map[string]map[string]uint64
	removed  int
)

// ctlState is the state of one switch, or of all if no name is given.
func ctlState(ctx context.Context, c *live.Client, sw string) (s live.State, err error) {
	if s, err = c.State(ctx); err != nil || sw == "" {
		return s, err
	}
	for i := range s.Switches {
		if s.Switches[i].Name == sw {
			s.Switches = s.Switches[i : i+1]
			return s, nil
		}
	}
	return s, usagef("there is no switch %q", sw)
}

func groupArg(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usagef("group %q: must be a number", text)
	}
	return n, nil
}

// settings makes KEY=VALUE arguments the lines of a groups file.
func settings(args []string) ([]byte, error) {
	var b strings.Builder
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" || strings.ContainsAny(arg, "\n") {
			return nil, usagef("%q: must be KEY=VALUE", arg)
		}
		fmt.Fprintf(&b, "%s: %s\n", key, value)
	}
	return []byte(b.String()), nil
}

// ctlPrint prints an answer.
func (a *app) ctlPrint(answer any, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(answer)
	}
	switch v := answer.(type) {
	case live.State:
		for i := range v.Switches {
			a.printSwitch(&v.Switches[i], v.WallSeconds)
		}
	case live.GroupState:
		a.printGroups([]live.GroupState{v})
	case counters:
		t := newTable("counter", "switch", "value")
		for _, name := range sortedKeys(v) {
			for _, c := range sortedKeys(v[name]) {
				if v[name][c] > 0 {
					t.AppendRow(table.Row{c, name, v[name][c]})
				}
			}
		}
		fmt.Fprintln(a.out, t.Render())
	case live.PortReport:
		fmt.Fprintf(a.out, "port %d is %s\n", v.Port, map[bool]string{true: "down", false: "up"}[v.Down])
	case removed:
		fmt.Fprintf(a.out, "group %d is taken away\n", int(v))
	default:
		return errors.New("an answer of an unknown kind")
	}
	return nil
}

func (a *app) printSwitch(s *live.SwitchState, seconds float64) {
	checked := "beside the reference"
	if !s.Checked {
		checked = "without the reference"
	}
	fmt.Fprintf(a.out, "%s: %s, Mode %d, %s, time scale %g, %.0f s, cycle %d, %d simulated\n", s.Name, s.Config, s.Mode, checked, s.TimeScale, seconds, s.Cycles, s.Simulated)
	t := newTable("port", "in", "out", "lost", "peer")
	for _, p := range s.Ports {
		number := strconv.Itoa(p.Port)
		if p.Down {
			number += " down"
		}
		t.AppendRow(table.Row{number, p.In + p.ARP + p.BridgeIn, p.Out, p.Short + p.Long + p.Nobody + p.Full + p.Failed + p.LostIn + p.LostOut, p.Peer})
	}
	fmt.Fprintln(a.out, t.Render())
	a.printGroups(s.Groups)
}

func (a *app) printGroups(groups []live.GroupState) {
	t := newTable("group", "state", "kind", "start", "window", "slots", "next PSN", "endpoint", "port", "remote", "remote qpn", "local qpn", "expected PSN")
	for i := range groups {
		g := &groups[i]
		state, next := "enabled", ""
		switch {
		case g.Stands != nil:
			state = "stands"
		case !g.Enabled:
			state = "stopped"
		}
		if g.Next != nil {
			next = g.Next.String()
		}
		for j, e := range g.Ends {
			row := table.Row{"", "", "", "", "", "", ""}
			if j == 0 {
				row = table.Row{g.Group, state, g.Kind, g.Start, g.Window, fmt.Sprintf("%d+%d", g.SlotBase, g.Units), next}
			}
			expected := ""
			if e.Expected != nil {
				expected = e.Expected.String()
			}
			t.AppendRow(append(row, e.Endpoint, e.Port, e.RemoteIP, fmt.Sprintf("%#x", e.RemoteQPN), fmt.Sprintf("%#x", e.LocalQPN), expected))
		}
	}
	fmt.Fprintln(a.out, t.Render())
	for i := range groups {
		for _, line := range groups[i].Stands {
			fmt.Fprintln(a.out, line)
		}
	}
}
