// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"math/rand/v2"
	"slices"

	"incforge/internal/fail"
	"incforge/network/comm"
	"incforge/verify/score"
)

// Park takes a group's slots away and gives it others: At cycles after the calls began its switches are asked to park it, those with hosts first; if
// one refuses, those that have are unparked again and all are asked once more a little later, as often as it takes. For cycles later it is unparked.
// Between two switches Gap cycles pass. Seed chooses where its slots are then.
type Park struct {
	Group int    `yaml:"group"`
	At    uint64 `yaml:"at"`
	For   uint64 `yaml:"for"`
	Gap   uint64 `yaml:"gap"`
	Seed  uint64 `yaml:"seed"`
}

// parks draws when groups are parked: now and then while calls run, and for longer than hosts wait.
func (d *drawer) parks() {
	for i := range d.c.Groups {
		if !d.chance(4) {
			at := uint64(0)
			for range 1 + d.IntN(4) {
				at += d.Uint64N(2 * d.leastTime(&d.c.Groups[i]))
				d.c.Parks = append(d.c.Parks, Park{Group: i, At: at, For: d.Uint64N(20000), Gap: d.Uint64N(300), Seed: d.Uint64() >> 1})
			}
		}
	}
}

// parking is a Park under way.
type parking struct {
	*run
	Park
	g       *comm.Group
	rng     *rand.Rand
	next    int // the switch that is asked next
	parked  bool
	started bool
	ended   bool
	tries   int
}

// mostTries bounds how often a park is tried. Parks of groups that stay at work to the end of their calls come last, when they are done.
const mostTries = 20000

// maxWait is about the longest time between two tries, in cycles.
const maxWait = 4000

// schedulePark begins a Park. Parks of one group follow each other.
func (x *run) schedulePark(p Park, before *parking) *parking {
	k := &parking{run: x, Park: p, g: x.world.Groups()[p.Group], rng: rand.New(rand.NewPCG(p.Seed, 0x7061726b)), next: x.world.Switches() - 1}
	n := x.world.Net()
	var step func() error
	step = func() error {
		wait, err := uint64(drain), error(nil)
		// Between two frames, for the same reason as a reset. The reference alone takes no time.
		busy := slices.ContainsFunc(x.boards, func(b *score.Board) bool { return !b.Rests() || b.Waiting() > 0 })
		if waits := before != nil && !before.ended || busy || !k.started && x.resetting[p.Group]; !waits {
			k.started = true
			wait, err = k.step()
		}
		if err == nil && !k.ended {
			n.At(n.Now()+max(wait, 1), step)
		}
		return err
	}
	n.At(n.Now()+p.At, step)
	return k
}

// step asks one switch, and says in how many cycles the next is asked.
func (k *parking) step() (wait uint64, err error) {
	defer fail.Catch(&err, "")
	if k.parked {
		if k.next == k.world.Switches() {
			k.ended = true
			return 0, nil
		}
		if fail.Must(k.g.Unpark(k.next, k.rng.IntN(2) == 0)) {
			k.next++
			return k.Gap, nil
		}
		k.tries++
		fail.If(k.tries > mostTries, "group %d is not given its slots again", k.Group)
		return drain, nil
	}
	if fail.Must(k.g.Park(k.next)) {
		if k.next--; k.next < 0 {
			k.parked, k.next = true, 0
			k.out.Parks++
			return k.For, nil
		}
		return k.Gap, nil
	}
	k.out.Refused++
	for s := k.next + 1; s < k.world.Switches(); s++ {
		fail.If(!fail.Must(k.g.Unpark(s, false)), "group %d has given its slots up for nothing", k.Group)
	}
	k.next = k.world.Switches() - 1
	if k.tries++; k.tries > mostTries {
		k.ended = true
	}
	return drain + k.rng.Uint64N(maxWait), nil // at random, or it may be in step with a host that comes again and again
}
