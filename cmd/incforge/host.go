// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"incforge/commlib"
)

func (a *app) host() *cobra.Command {
	var m memberFlags
	cmd := &cobra.Command{Use: "host NAME", Short: "Be a member of a group until it ends",
		Long: `Be a member of a group, see docs/control.md: make it with the others and stay in it until it ends, or until SIGINT, and say why it has ended.
NAME is this host's in the manager's topology file, and one of --members. Every member runs the same command line, but for NAME and --nic.
incforge perf runs collectives. Exit status 1: the group has ended.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return a.member(cmd.Context(), args[0], &m, func(g *commlib.Group) error { return holdGroup(cmd.Context(), g) })
		}}
	bindMember(cmd, &m)
	return cmd
}

// holdGroup waits for the group's end, or ends it.
func holdGroup(ctx context.Context, g *commlib.Group) error {
	select {
	case <-g.Ended():
		return errors.Join(g.Err(), g.Abort(ctx, ""))
	case <-ctx.Done():
		return errors.Join(ctx.Err(), g.Abort(ctx, "interrupted"))
	}
}
