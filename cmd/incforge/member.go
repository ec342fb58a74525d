// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/commlib"
	"incforge/commlib/nic"
	"incforge/commlib/rendezvous"
	"incforge/control/managerpb"
	"incforge/control/rpc"
)

// memberFlags are those of a command that is a member of a group.
type memberFlags struct {
	files              rpc.Files
	manager, nic, meet string
	group, policy      string
	members            []string
	mbps, least        int
	timeout, wait      time.Duration
	turnWait           time.Duration
	pathMTU            int
	whole              bool
	fixed              *commlib.Request // what the group does and nothing else; nil: it does everything
}

func bindMember(cmd *cobra.Command, m *memberFlags) {
	f := cmd.Flags()
	f.StringVar(&m.nic, "nic", "verbs:", "the NIC: "+nic.Help)
	f.StringVar(&m.manager, "manager", managerAddress, "HOST:PORT of the manager")
	f.StringVar(&m.meet, "meet", "", "folder of a group of incforge lab (/share/groups/NAME), whose hosts meet there without a manager")
	f.StringVar(&m.group, "group", "", "the group's name")
	f.StringSliceVar(&m.members, "members", nil, "the hosts of the group, by rank")
	f.StringVar(&m.policy, "policy", "", "edge-disjoint, spatial or temporal; default spatial")
	f.DurationVar(&m.turnWait, "turn-wait", 0, "how long a group of the policy temporal asks for its turn before a collective, a minute at most; then the members do it themselves")
	f.IntVar(&m.mbps, "mbps", 1000, "megabits a second wanted")
	f.IntVar(&m.least, "least", 0, "the least that will do; 0 is the same")
	f.IntVar(&m.pathMTU, "path-mtu", 0, "Mode I: the path MTU of this host's own queue pair; 0 is the largest that there can be")
	f.BoolVar(&m.whole, "whole-messages", false, "Mode I: switches send nothing of a message before they have all of it")
	f.DurationVar(&m.timeout, "timeout", 30*time.Second, "how long a call may stand, and the group take to be made; 0 is for ever")
	f.DurationVar(&m.wait, "wait", 5*time.Second, "how long to ask again while there is no room for the group, or a host's port is not up")
	bindFiles(cmd, &m.files)
}

// member makes a group with the others, has use do what it wants, and closes what was opened. use ends the group.
func (a *app) member(ctx context.Context, name string, m *memberFlags, use func(*commlib.Group) error) (err error) {
	rank := slices.Index(m.members, name)
	switch {
	case m.meet != "" && (m.group != "" || len(m.members) > 0):
		return usagef("--meet says which group and members there are: --group and --members must not")
	case m.meet != "" && (m.fixed != nil || m.whole):
		return usagef("--meet says what the group is: --fixed and --whole-messages must not")
	case m.meet == "" && m.group == "":
		return usagef("one of --group and --meet is needed")
	case m.turnWait < 0 || m.turnWait > managerpb.MostWait:
		return usagef("--turn-wait %v: it can be 0 to %v", m.turnWait, managerpb.MostWait)
	case m.meet == "" && rank < 0:
		return usagef("%s is none of the members %s", name, strings.Join(m.members, ", "))
	}
	begin := ctx
	if m.timeout > 0 {
		var cancel context.CancelFunc
		begin, cancel = context.WithTimeout(ctx, m.timeout)
		defer cancel()
	}
	n, err := nic.Open(m.nic)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	var g *commlib.Group
	tuning := commlib.Tuning{Timeout: m.timeout, PathMTU: m.pathMTU}
	if m.meet != "" {
		g, err = rendezvous.Join(begin, n, filepath.Clean(m.meet), name, tuning)
	} else {
		conn, cerr := rpc.Dial(m.manager, rpc.Manager, m.files)
		if cerr != nil {
			return usageError{cerr}
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		g, err = commlib.InitGroup(begin, commlib.Config{Manager: managerpb.NewManagerClient(conn), Device: n, Tuning: tuning, Name: m.group, Members: m.members, Rank: rank,
			Policy: m.policy, TurnWait: m.turnWait, Mbps: m.mbps, LeastMbps: m.least, Fixed: m.fixed, WholeMessages: m.whole, Wait: m.wait})
	}
	if err != nil {
		return err
	}
	e := g.Endpoint()
	window := fmt.Sprintf("%d packets of %d bytes", e.Window, e.PathMTU)
	if e.Message > 0 {
		window = fmt.Sprintf("%d messages of %d bytes", e.Window, e.Message)
	}
	a.log.Infof("host %s: group %s is ready: rank %d of %d, toward %v queue pair %#x, window %s", name, e.Name, e.Rank, len(e.Members), e.Peer.IP, e.PeerQPN, window)
	return use(g)
}
