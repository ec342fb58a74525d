// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"incforge/live"
	"incforge/roce"
)

// Programs on the guests join groups by files in share/groups/NAME. The file group says what the group is. A rank writes the number of its
// queue pair into RANK.join, in Mode I behind it, if it likes, the first PSN that it sends and its path MTU. When all ranks have done so, the group is started anew on its
// switches, with a START of its own, and RANK.go tells each where to connect: the switch's address, its queue pair, START; to a rank that has said a first PSN of its own,
// the first that it is sent in the place of START. A rank that can receive writes RANK.ready; when all can,
// RANK.run lets them send. Each file appears at once, by a rename, and is taken away by its reader. A .go that begins with "error" is a
// refusal.
const (
	joinFile  = "join"
	goFile    = "go"
	readyFile = "ready"
	runFile   = "run"
)

// joinPeriod is the time between two looks at the files, joinPatience how long a group may wait for ranks before the log says for which.
const (
	joinPeriod   = 5 * time.Millisecond
	joinPatience = 3 * time.Second
)

// joiner joins the programs of one group.
type joiner struct {
	l     *Lab
	mu    sync.Mutex // of g.Start and times, which others read
	g     *Group
	ranks []rankEnd // Lab.joining guards it
	// resting is the number that a rank has without a queue pair.
	resting int
	dir     string
	since   time.Time // somebody waits; zero: nobody
	told    bool
	times   int // that it was joined
}

func (l *Lab) newJoiner(i int) (*joiner, error) {
	g := &l.top.Groups[i]
	j := &joiner{l: l, g: g, resting: restingQPN(i), ranks: slices.Repeat([]rankEnd{{qpn: restingQPN(i)}}, len(g.Hosts)), dir: filepath.Join(l.share, "groups", g.Name)}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return nil, err
	}
	var hosts []string
	for _, h := range g.Hosts {
		hosts = append(hosts, l.top.Hosts[h].Name)
	}
	collective := g.Collective
	if g.InBand {
		collective = "in-band"
	}
	text := fmt.Sprintf("hosts %s\ncollective %s\ndtype %s\nop %s\nwindow %d\nmtu %d\n", strings.Join(hosts, " "), collective, g.DType, g.Op, g.Window, g.MTU)
	engine := &l.top.Switches[g.Nodes[0].Switch].Manifest.Params
	if g.Message > 0 {
		text += fmt.Sprintf("message %d\nmessages %d\nleast_mtu %d\n", g.Message, g.Messages, engine.LeastPathMTU())
	}
	text += fmt.Sprintf("dtypes %s\nops %s\n", strings.Join(engine.DTypes, " "), strings.Join(engine.Ops, " "))
	return j, os.WriteFile(filepath.Join(j.dir, "group"), []byte(text), 0o644)
}

// file is the path of a rank's file.
func (j *joiner) file(rank int, what string) string {
	return filepath.Join(j.dir, fmt.Sprintf("%d.%s", rank, what))
}

// waiting are the ranks that have written a file, and those that have not.
func (j *joiner) waiting(what string) (have, miss []int) {
	for rank := range j.g.Hosts {
		if _, err := os.Stat(j.file(rank, what)); err == nil {
			have = append(have, rank)
		} else {
			miss = append(miss, rank)
		}
	}
	return have, miss
}

// watch looks for ranks that join, until ctx ends.
func (j *joiner) watch(ctx context.Context) {
	tick := time.NewTicker(joinPeriod)
	defer tick.Stop()
	var seen time.Time // the folder's time, of the last look that missed nothing
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		info, err := os.Stat(j.dir)
		if err != nil || info.ModTime().Equal(seen) && j.since.IsZero() {
			continue
		}
		// The clock of files is coarse: soon after a change there may be another one at the same time.
		if time.Since(info.ModTime()) > time.Second {
			seen = info.ModTime()
		}
		j.look(ctx)
	}
}

func (j *joiner) look(ctx context.Context) {
	joined, absent := j.waiting(joinFile)
	ready, busy := j.waiting(readyFile)
	switch {
	case len(absent) == 0:
		j.since = time.Time{}
		j.connect(ctx)
	case len(busy) == 0:
		j.since = time.Time{}
		j.answer(readyFile, runFile, func(int) string { return "run\n" })
	case len(joined)+len(ready) == 0:
		j.since = time.Time{}
	case j.since.IsZero():
		j.since, j.told = time.Now(), false
	case !j.told && time.Since(j.since) > joinPatience:
		j.told = true
		what, for_ := "to join", absent
		if len(ready) > 0 {
			what, for_ = "to be ready to receive", busy
		}
		j.l.log.Warnf("lab: group %s waits for %s %s", j.g.Name, j.names(for_), what)
	}
}

func (j *joiner) names(ranks []int) string {
	var all []string
	for _, r := range ranks {
		all = append(all, fmt.Sprintf("%s (rank %d)", j.l.top.Hosts[j.g.Hosts[r]].Name, r))
	}
	return strings.Join(all, ", ")
}

// answer takes the ranks' files away and writes each an answer.
func (j *joiner) answer(take, give string, text func(rank int) string) {
	for rank := range j.g.Hosts {
		tmp := filepath.Join(j.dir, fmt.Sprintf(".%d.%s", rank, give))
		err := os.Remove(j.file(rank, take))
		if err == nil {
			err = os.WriteFile(tmp, []byte(text(rank)), 0o644)
		}
		if err == nil {
			err = os.Rename(tmp, j.file(rank, give))
		}
		if err != nil {
			j.l.log.WithError(err).Warnf("lab: group %s, rank %d", j.g.Name, rank)
		}
	}
}

// connect starts the group anew with the queue pairs that the ranks have.
func (j *joiner) connect(ctx context.Context) {
	ranks := make([]rankEnd, len(j.g.Hosts))
	var err error
	for rank := range ranks {
		text, rerr := os.ReadFile(j.file(rank, joinFile))
		if rerr == nil {
			ranks[rank], rerr = j.g.said(string(text))
		}
		if rerr != nil && err == nil {
			err = fmt.Errorf("rank %d: %w", rank, rerr)
		}
		for _, stale := range []string{readyFile, runFile, goFile} {
			_ = os.Remove(j.file(rank, stale)) // of a program that was killed
		}
	}
	if err == nil {
		err = j.program(ctx, ranks)
	}
	if err != nil {
		j.l.log.WithError(err).Warnf("lab: group %s", j.g.Name)
		line := "error " + strings.ReplaceAll(err.Error(), "\n", "; ") + "\n"
		j.answer(joinFile, goFile, func(int) string { return line })
		return
	}
	j.answer(joinFile, goFile, func(rank int) string {
		n, e := j.l.top.edgeOf(j.g, j.g.Hosts[rank])
		first := j.g.Start
		if ranks[rank].mtu > 0 {
			first = j.g.psn(n, e)
		}
		return fmt.Sprintf("%v %d %d\n", j.l.top.Switches[n.Switch].IP, j.l.top.localQPN(n, e), first)
	})
}

// said is what a rank has written of its queue pair.
func (g *Group) said(text string) (r rankEnd, err error) {
	words := strings.Fields(text)
	if len(words) != 1 && (len(words) != 3 || g.Message == 0) {
		return r, fmt.Errorf("%q: the number of a queue pair was expected, in Mode I with a first PSN and a path MTU behind it, or without", text)
	}
	numbers := make([]int, 3)
	for i, word := range words {
		if numbers[i], err = strconv.Atoi(word); err != nil {
			return r, err
		}
	}
	r = rankEnd{numbers[0], roce.PSN(numbers[1]), numbers[2]}
	switch {
	case r.qpn <= 0 || r.qpn > roce.PSNMask:
		return r, fmt.Errorf("%d is no number of a queue pair", r.qpn)
	case numbers[1] < 0 || numbers[1] > roce.PSNMask:
		return r, fmt.Errorf("%d is no PSN", numbers[1])
	case len(words) == 3 && (r.mtu < 1 || r.mtu > g.MTU):
		return r, fmt.Errorf("a path MTU of %d bytes, it can be %d at most", r.mtu, g.MTU)
	}
	return r, nil
}

// startStep is how far the first PSNs of two instances of a group are apart: what is still under way of the one is none of the other.
const startStep = 0x21_0001

// absent takes away what programs of a host that was killed have said: they neither join any more nor are they ready.
func (j *joiner) absent(host string) error {
	for rank, h := range j.g.Hosts {
		if j.l.top.Hosts[h].Name != host {
			continue
		}
		for _, said := range []string{joinFile, readyFile} {
			if err := os.Remove(j.file(rank, said)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// program gives the group's switches the ranks' queue pairs and a new START.
func (j *joiner) program(ctx context.Context, ranks []rankEnd) error {
	j.l.joining.Lock()
	defer j.l.joining.Unlock()
	c := live.NewClient(j.l.switchSocket())
	for _, other := range j.l.joiners {
		if other != j && other.release(j.g.Hosts, ranks) {
			if err := other.install(ctx, c); err != nil {
				return err
			}
		}
	}
	j.mu.Lock()
	if j.times > 0 {
		j.g.Start = roce.PSN((uint32(j.g.Start) + startStep) & roce.PSNMask)
	}
	j.times++
	j.mu.Unlock()
	j.ranks = ranks
	return j.install(ctx, c)
}

// release forgets the group's queue pairs that are another group's now: a host that gives a number out again, as it does after a boot, no
// longer has the one that had it before. It tells whether there were any.
func (j *joiner) release(hosts []int, ranks []rankEnd) (any bool) {
	for rank, h := range j.g.Hosts {
		if at := slices.Index(hosts, h); at >= 0 && j.ranks[rank].qpn == ranks[at].qpn {
			j.ranks[rank], any = rankEnd{qpn: j.resting}, true
		}
	}
	return any
}

// install starts the group anew on its switches.
func (j *joiner) install(ctx context.Context, c *live.Client) error {
	for i := range j.g.Nodes {
		n := &j.g.Nodes[i]
		if _, err := c.Change(ctx, j.l.top.Switches[n.Switch].Name, n.Group, []byte(j.l.top.mapping(j.g, n, j.ranks))); err != nil {
			return err
		}
	}
	return nil
}

// edgeOf is the node and its endpoint that a host of a group is at.
func (t *Topology) edgeOf(g *Group, host int) (*Node, int) {
	for i := range g.Nodes {
		for e := range g.Nodes[i].Edges {
			if g.Nodes[i].Edges[e].Host == host {
				return &g.Nodes[i], e
			}
		}
	}
	return nil, -1
}
