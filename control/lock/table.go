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
)

// Turn is what a group has at a switch.
type Turn struct {
	Group string `json:"group"`
	// Fence numbers what the group asks for; a lower one than the last is not heard. Of a turn that is over only this is known.
	Fence uint64 `json:"fence"`
	// Slots is what the group has of the memory that is shared, 0 between turns.
	Slots   int       `json:"slots"`
	Expires time.Time `json:"expires"`
}

// Table is the turns at one switch. It is used by one call at a time.
type Table struct {
	// Slots is how many there are to share.
	Slots int
	Store store.Store
	Now   func() time.Time
	// Evict takes the memory from a group whose lease has run out, whatever the group does. It is asked again if the agent crashes before the turn is struck out.
	Evict func(group string) error

	turns []Turn // by group
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
	t.turns = nil
	for _, r := range all {
		if !Owns(r.Name) {
			continue
		}
		var turn Turn
		if err := json.Unmarshal(r.Data, &turn); err != nil {
			return fmt.Errorf("%s of the store: %w", r.Name, err)
		}
		t.turns = append(t.turns, turn)
	}
	return nil
}

// Turns are those that are under way.
func (t *Table) Turns() (all []Turn) {
	for _, turn := range t.turns {
		if turn.Slots > 0 {
			all = append(all, turn)
		}
	}
	return all
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
	text, err := json.Marshal(turn)
	if err == nil {
		err = t.Store.Put(prefix+turn.Group, text)
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

// Lock gives a group so many slots until the lease ends, or prolongs the turn that has this fence. A higher fence than the last takes over what the group has. It
// does not wait. What a lease that has run out holds is taken as soon as somebody else asks for it, and not before.
func (t *Table) Lock(group string, fence uint64, slots int, lease time.Duration) error {
	i, known := t.find(group)
	var was Turn
	if known {
		was = t.turns[i]
	}
	expires := t.Now().Add(lease)
	switch {
	case fence < was.Fence || fence == was.Fence && was.Slots == 0:
		return ErrStale
	case fence == 0 || slots < 1 || slots > t.Slots:
		return fmt.Errorf("%d slots by fence %d: %d are shared", slots, fence, t.Slots)
	case was.Slots > 0:
		return t.save(Turn{group, fence, was.Slots, expires})
	}
	if err := t.room(slots); err != nil {
		return err
	}
	return t.save(Turn{group, fence, slots, expires})
}

// room takes what leases that have run out hold, the oldest first, until so many slots are free.
func (t *Table) room(slots int) error {
	for t.Free() < slots {
		old := -1
		for i, turn := range t.turns {
			if turn.Slots > 0 && !t.Now().Before(turn.Expires) && (old < 0 || turn.Expires.Before(t.turns[old].Expires)) {
				old = i
			}
		}
		if old < 0 {
			return fmt.Errorf("%w: %d of %d shared slots are free, %d asked; %s", ErrBusy, t.Free(), t.Slots, slots, t.holders())
		}
		turn := t.turns[old]
		if err := t.Evict(turn.Group); err != nil {
			return fmt.Errorf("group %s, whose turn is over, cannot be stopped: %w", turn.Group, err)
		}
		if err := t.save(Turn{Group: turn.Group, Fence: turn.Fence}); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) holders() string {
	var all []string
	for _, turn := range t.Turns() {
		all = append(all, fmt.Sprintf("group %s has %d", turn.Group, turn.Slots))
	}
	return strings.Join(all, ", ")
}

// Unlock ends the turn of that fence, and any that was asked for before. It succeeds if that is over already.
func (t *Table) Unlock(group string, fence uint64) error {
	i, known := t.find(group)
	if known && (fence < t.turns[i].Fence || fence == t.turns[i].Fence && t.turns[i].Slots == 0) {
		return nil
	}
	return t.save(Turn{Group: group, Fence: fence}) // of a request that has not come yet, too: it would hold slots for nobody
}

// Forget strikes out a group that is no more.
func (t *Table) Forget(group string) error {
	i, known := t.find(group)
	if !known {
		return nil
	}
	if err := t.Store.Delete(prefix + group); err != nil {
		return err
	}
	t.turns = slices.Delete(t.turns, i, i+1)
	return nil
}
