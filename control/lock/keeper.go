// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Site is a switch as a Keeper sees it, with the calls of its Table. An error that is none of the Table's leaves open what has happened.
type Site interface {
	Name() string
	Lock(ctx context.Context, group string, fence uint64, lease time.Duration, prolong bool) error
	Unlock(ctx context.Context, group string, fence uint64) error
}

// Answer is what a group hears: it has its turn at all switches, or at none, and why.
type Answer struct {
	Granted bool
	Reason  string
}

// Keeper asks for a group's turns. It is one of its own for each group, and may be called by several goroutines.
type Keeper struct {
	Group string
	// Sites are the group's switches, in an order that all groups share.
	Sites []Site
	// Parents has, by site, the number of the one above it in the tree, -1 at the root. A site gives up its memory only after those below it, which may ask it for
	// what was lost on the way. nil: every site knows by itself when it is drained.
	Parents []int
	Lease   time.Duration
	// Next is a number that is higher than any before, of this Keeper and of those before it.
	Next func() uint64
	// Pause waits between two attempts; it ends early with an error if ctx does.
	Pause func(ctx context.Context) error

	mu       sync.Mutex
	sequence uint64
	answer   Answer
	fence    uint64 // of the turn under way, 0 between turns
	ended    error  // a switch has ended it before its time
	owed     map[int]uint64
	// clean: no switch can hold a turn of this group left by an earlier Keeper.
	clean bool
}

// ErrPast means that the group has asked for a later collective already.
var ErrPast = errors.New("a later turn was asked for")

// Ask gets the turn for a collective of the group's. While others have the memory it asks again, until late. Asked for the same collective again it gives the same
// answer. If ctx ends before there is one, nobody hears it, and the turn is given back.
func (k *Keeper) Ask(ctx context.Context, sequence uint64, late func() bool) (Answer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.past(sequence); err != nil {
		return Answer{}, err
	}
	if sequence == k.sequence {
		return k.answer, nil
	}
	k.clean = k.clean && k.fence == 0
	k.sequence, k.answer, k.fence, k.ended = sequence, Answer{}, 0, nil
	for _ = k.settle(ctx); ; {
		fence := k.Next()
		err := k.all(ctx, fence)
		if err == nil && ctx.Err() != nil {
			k.answer.Reason = "nobody waits for the turn any more"
			k.giveBack(ctx, fence)
			return k.answer, nil
		}
		if err == nil {
			k.answer, k.fence = Answer{Granted: true}, fence
			return k.answer, nil
		}
		k.answer.Reason = err.Error()
		if !errors.Is(err, ErrBusy) || late() {
			return k.answer, nil
		}
		_ = k.settle(ctx)
		if k.Pause(ctx) != nil || late() {
			return k.answer, nil
		}
	}
}

func (k *Keeper) past(sequence uint64) error {
	if sequence < k.sequence || sequence == 0 {
		return fmt.Errorf("turn %d of group %s: %w", sequence, k.Group, ErrPast)
	}
	return nil
}

// Prolong renews the leases of a turn that the group was told it has. A Keeper that does not know of it, because it is a later one, takes it for true: it gives
// nothing back, whatever a switch says, as the group may be at work. After ErrStale some switch has ended the turn.
func (k *Keeper) Prolong(ctx context.Context, sequence uint64) (Answer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.past(sequence); err != nil {
		return Answer{}, err
	}
	if sequence == k.sequence && (k.fence == 0 || k.ended != nil) {
		return k.answer, k.ended
	}
	if sequence > k.sequence {
		k.sequence, k.answer, k.fence, k.ended = sequence, Answer{Granted: true}, k.Next(), nil
	}
	answer := k.answer
	for _, s := range k.Sites { // all of them: one that does not answer must not hide that another has ended the turn
		err := s.Lock(ctx, k.Group, k.fence, k.Lease, true)
		if errors.Is(err, ErrStale) {
			k.answer, k.ended = Answer{}, fmt.Errorf("switch %s: %w", s.Name(), err)
			return k.answer, k.ended
		}
		if err != nil && answer.Granted {
			answer = Answer{Reason: fmt.Sprintf("switch %s: %v", s.Name(), err)}
		}
	}
	return answer, nil
}

// Done ends the turn for a collective, whoever has got it.
func (k *Keeper) Done(ctx context.Context, sequence uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.past(sequence) != nil || sequence == k.sequence && k.fence == 0 {
		return
	}
	fence := k.fence
	if sequence > k.sequence {
		fence = k.Next()
	}
	k.sequence, k.fence, k.ended, k.answer = sequence, 0, nil, Answer{Reason: "the turn was given back"}
	k.giveBack(ctx, fence)
}

// drains is how often a group that is not drained is asked to give up its memory before others see to it.
const drains = 20

// giveBack unlocks every switch. It waits a little for acknowledgements that are still on their way, but not for a switch that does not answer: that one is told by Settle.
func (k *Keeper) giveBack(ctx context.Context, fence uint64) {
	k.owe(len(k.Sites), fence)
	k.clean = true
	for range drains {
		if err := k.settle(ctx); !errors.Is(err, ErrUndrained) || k.Pause(ctx) != nil {
			return
		}
	}
}

// all locks every switch, or gives back what it has. It never waits while it holds something.
func (k *Keeper) all(ctx context.Context, fence uint64) error {
	for i, s := range k.Sites {
		err := s.Lock(ctx, k.Group, fence, k.Lease, false)
		if err == nil {
			continue
		}
		held := i
		if !errors.Is(err, ErrBusy) {
			held++ // this one may have done it, too
		}
		if !k.clean {
			held = len(k.Sites)
		}
		k.owe(held, fence)
		_ = k.settle(ctx) // who has not heard it is told again
		k.clean = true
		return fmt.Errorf("switch %s: %w", s.Name(), err)
	}
	return nil
}

// owe notes that the first so many switches are to hear that a turn is over.
func (k *Keeper) owe(sites int, fence uint64) {
	if k.owed == nil {
		k.owed = map[int]uint64{}
	}
	for i := range sites {
		k.owed[i] = max(k.owed[i], fence)
	}
}

// settle tells switches what they have not heard, those above others after these. The error is that of the first that did not answer, or else ErrUndrained.
func (k *Keeper) settle(ctx context.Context) (first error) {
	waits := map[int]bool{} // for one below it
	for _, i := range k.upwards() {
		fence, ok := k.owed[i]
		if !ok {
			continue
		}
		err := error(ErrUndrained)
		if !waits[i] {
			err = k.Sites[i].Unlock(ctx, k.Group, fence)
		}
		if err == nil {
			delete(k.owed, i)
			continue
		}
		if first == nil || errors.Is(first, ErrUndrained) {
			first = err
		}
		if k.Parents != nil {
			waits[k.Parents[i]] = true
		}
	}
	return first
}

// upwards are the sites in an order in which those below come before those above.
func (k *Keeper) upwards() []int {
	order := make([]int, len(k.Sites))
	depth := make([]int, len(k.Sites))
	for i := range k.Sites {
		order[i] = i
		for at := i; k.Parents != nil && at >= 0; at = k.Parents[at] {
			depth[i]++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return depth[b] - depth[a] })
	return order
}

// Settle tells switches that did not answer what they have not heard. It is to be called now and then. With forgotten set some switch has a turn of the group that nobody
// prolongs any more: if this Keeper knows of none, an earlier one has left it, or it has ended elsewhere, and all are told that it is over.
func (k *Keeper) Settle(ctx context.Context, forgotten bool) {
	if !k.mu.TryLock() {
		return
	}
	defer k.mu.Unlock()
	if forgotten && (k.fence == 0 || k.ended != nil) && len(k.owed) == 0 {
		k.owe(len(k.Sites), k.Next())
	}
	_ = k.settle(ctx) // who has not heard it is told again
}
