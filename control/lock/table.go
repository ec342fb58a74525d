// SPDX-License-Identifier: Apache-2.0

// Package lock has the two sides of turns, by which groups share switches' memory in time: a Table, at the agent of a switch, gives the memory to one group after
// the other; a Keeper, at the manager, gets a group its turn at all its switches or at none. docs/locks.md has the rules and why they hold.
package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"incforge/control/store"
)

// Errors of a Table.
var (
	// ErrBusy: others have the memory.
	ErrBusy = errors.New("the memory is in use")
	// ErrStale: the group has asked again since, or this turn is over.
	ErrStale = errors.New("the turn is over")
	// ErrUndrained: the turn is over, but the group cannot give its slots up yet.
	ErrUndrained = errors.New("the group is not drained")
)

// Turn is what a group has at a switch.
type Turn struct {
	Group string `json:"group"`
	// Fence numbers what the group asks for; a lower one than the last is not heard. Of a turn that is over only this is known.
	Fence uint64 `json:"fence"`
	// Slots is what the group has of the memory that is shared, from Base on, 0 between turns.
	Base    int       `json:"base,omitempty"`
	Slots   int       `json:"slots"`
	Expires time.Time `json:"expires"`
	// Engine is the Table's.
	Engine int `json:"engine,omitempty"`
	// Over: the group's turn was ended, but it has not been drained so far. It keeps the slots until it is, or until its lease has run out.
	Over bool `json:"over,omitempty"`
}

// Memory gives slots to groups and takes them away. Each call may be repeated, by another process, too. A call that fails may have done what was asked.
type Memory interface {
	// Give lets a group work with these slots, which nobody else has.
	Give(group string, base, slots int) error
	// Take takes a group's slots away if it is drained; otherwise it changes nothing.
	Take(group string) (drained bool, err error)
	// Evict takes them away, whatever the group does.
	Evict(group string) error
}

// Table is the turns at one engine of a switch. It is used by one call at a time.
type Table struct {
	// Engine tells its turns from those of the switch's other engines in the store, which they share.
	Engine int
	// First is the first slot to share, Slots how many there are. With Runs a turn has a run of slots of its own; otherwise it has a number of them.
	First, Slots int
	Runs         bool
	Memory       Memory
	Store        store.Store
	Now          func() time.Time

	turns []Turn // by group
	// unsure: a write failed, and may have been done all the same. turns is to be read again before it is built on.
	unsure bool
}

const prefix = "turn/"

// Owns tells whether a record of the store is a table's.
func Owns(name string) bool { return strings.HasPrefix(name, prefix) }

// Load reads the store.
func (t *Table) Load() error {
	all, err := t.Store.All()
	if err != nil {
		return err
	}
	var turns []Turn
	for _, r := range all {
		if !Owns(r.Name) {
			continue
		}
		var turn Turn
		if err := json.Unmarshal(r.Data, &turn); err != nil {
			return fmt.Errorf("%s of the store: %w", r.Name, err)
		}
		if turn.Engine == t.Engine {
			turns = append(turns, turn)
		}
	}
	t.turns, t.unsure = turns, false
	return nil
}

// sure reads the store again if what it has is not known.
func (t *Table) sure() error {
	if !t.unsure {
		return nil
	}
	return t.Load()
}

// Turns are those of which the memory is in use.
func (t *Table) Turns() (all []Turn) {
	for _, turn := range t.turns {
		if turn.Slots > 0 {
			all = append(all, turn)
		}
	}
	return all
}

// Turn is the one of a group of which the memory is in use.
func (t *Table) Turn(group string) (turn Turn, ok bool) {
	i, known := t.find(group)
	if !known || t.turns[i].Slots == 0 {
		return Turn{}, false
	}
	return t.turns[i], true
}

// Free is how many slots nobody has.
func (t *Table) Free() int {
	n := t.Slots
	for _, turn := range t.turns {
		n -= turn.Slots
	}
	return n
}

// find is the place of a group.
func (t *Table) find(group string) (int, bool) {
	return slices.BinarySearchFunc(t.turns, group, func(turn Turn, group string) int { return strings.Compare(turn.Group, group) })
}

// save changes a group's turn, in the store first.
func (t *Table) save(turn Turn) error {
	turn.Engine = t.Engine
	text, err := json.Marshal(turn)
	if err == nil {
		err = t.Store.Put(prefix+turn.Group, text)
		t.unsure = err != nil
	}
	if err != nil {
		return fmt.Errorf("turn of group %s: %w", turn.Group, err)
	}
	i, known := t.find(turn.Group)
	if !known {
		t.turns = slices.Insert(t.turns, i, turn)
	}
	t.turns[i] = turn
	return nil
}

// Lock gives a group so many slots until the lease ends. With a higher fence than the last it takes over the turn that the group has, with the same one it prolongs
// it; with prolong set it does nothing else. It does not wait. What a lease that has run out holds is taken as soon as somebody else asks for it, and not before.
func (t *Table) Lock(group string, fence uint64, slots int, lease time.Duration, prolong bool) error {
	if err := t.sure(); err != nil {
		return err
	}
	i, known := t.find(group)
	var was Turn
	if known {
		was = t.turns[i]
	}
	has := was.Slots > 0
	switch {
	case fence < was.Fence || fence == was.Fence && (!has || was.Over) || prolong && (!has || was.Over):
		return ErrStale
	case fence == 0 || slots < 1 || slots > t.Slots:
		return fmt.Errorf("%d slots by fence %d: %d are shared", slots, fence, t.Slots)
	}
	turn := Turn{Group: group, Fence: fence, Base: was.Base, Slots: was.Slots, Expires: t.Now().Add(lease)}
	if !has {
		base, err := t.room(slots)
		if err != nil {
			return err
		}
		turn.Base, turn.Slots = base, slots
	}
	if err := t.save(turn); err != nil {
		return err
	}
	return t.Memory.Give(group, turn.Base, turn.Slots)
}

// room finds a place for so many slots. If there is none it takes what groups have whose turns are over, once they are drained; then, if that is enough, what leases that have
// run out hold, the oldest first.
func (t *Table) room(slots int) (base int, err error) {
	for _, turn := range t.Turns() {
		if base, ok := t.place(slots, t.Turns()); ok {
			return base, nil
		}
		if turn.Over {
			if err := t.end(turn); err != nil && !errors.Is(err, ErrUndrained) {
				return 0, err
			}
		}
	}
	expired := func(turn Turn) bool { return !t.Now().Before(turn.Expires) }
	for {
		held := t.Turns()
		if base, ok := t.place(slots, held); ok {
			return base, nil
		}
		if _, ok := t.place(slots, slices.DeleteFunc(t.Turns(), expired)); !ok {
			return 0, fmt.Errorf("%w: %d of %d shared slots are free, %d asked; %s", ErrBusy, t.Free(), t.Slots, slots, holders(held))
		}
		held = slices.DeleteFunc(held, func(turn Turn) bool { return !expired(turn) })
		old := slices.MinFunc(held, func(a, b Turn) int { return a.Expires.Compare(b.Expires) })
		if err := t.Memory.Evict(old.Group); err != nil {
			return 0, fmt.Errorf("group %s, whose turn is over, cannot be stopped: %w", old.Group, err)
		}
		if err := t.save(Turn{Group: old.Group, Fence: old.Fence}); err != nil {
			return 0, err
		}
	}
}

// place is the start of the shortest gap between turns that has so many slots; without Runs all gaps are one.
func (t *Table) place(slots int, held []Turn) (base int, ok bool) {
	if !t.Runs {
		for _, turn := range held {
			slots += turn.Slots
		}
		return t.First, slots <= t.Slots
	}
	held = slices.SortedFunc(slices.Values(held), func(a, b Turn) int { return a.Base - b.Base })
	best, at := t.Slots+1, t.First
	for _, turn := range append(held, Turn{Base: t.First + t.Slots}) {
		if gap := turn.Base - at; gap >= slots && gap < best {
			base, best = at, gap
		}
		at = turn.Base + turn.Slots
	}
	return base, best <= t.Slots
}

func holders(turns []Turn) string {
	var all []string
	for _, turn := range turns {
		all = append(all, fmt.Sprintf("group %s has %d", turn.Group, turn.Slots))
	}
	return strings.Join(all, ", ")
}

// Unlock ends the turn of that fence, and any that was asked for before. It succeeds if that is over already. After ErrUndrained it is to be asked again: the turn is over,
// but the memory is still in use.
func (t *Table) Unlock(group string, fence uint64) error {
	if err := t.sure(); err != nil {
		return err
	}
	i, known := t.find(group)
	var was Turn
	if known {
		was = t.turns[i]
	}
	switch {
	case known && (fence < was.Fence || fence == was.Fence && was.Slots == 0):
		return nil
	case was.Slots == 0: // the Lock of this fence may still arrive; it must find that it is over
		return t.save(Turn{Group: group, Fence: fence})
	}
	was.Fence = fence
	return t.end(was)
}

// end has a group give up its slots. One that is not drained is known from then on to have no turn any more.
func (t *Table) end(turn Turn) error {
	drained, err := t.Memory.Take(turn.Group)
	switch {
	case err != nil:
		return fmt.Errorf("group %s, whose turn is over: %w", turn.Group, err)
	case drained:
		return t.save(Turn{Group: turn.Group, Fence: turn.Fence})
	}
	if i, _ := t.find(turn.Group); !turn.Over || t.turns[i] != turn {
		turn.Over = true
		if err := t.save(turn); err != nil {
			return err
		}
	}
	return fmt.Errorf("group %s: %w", turn.Group, ErrUndrained)
}

// Forget strikes out a group that is no more.
func (t *Table) Forget(group string) error {
	if err := t.sure(); err != nil {
		return err
	}
	i, known := t.find(group)
	if !known {
		return nil
	}
	if err := t.Store.Delete(prefix + group); err != nil {
		t.unsure = true
		return err
	}
	t.turns = slices.Delete(t.turns, i, i+1)
	return nil
}
