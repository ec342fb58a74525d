// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Site is a switch as a Keeper sees it. An error that is neither ErrBusy nor ErrStale leaves open what has happened.
type Site interface {
	Name() string
	Lock(ctx context.Context, group string, fence uint64, lease time.Duration) error
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
	Lease time.Duration
	// Next is a number that is higher than any before, of this Keeper and of those before it.
	Next func() uint64
	// Pause waits between two attempts; it ends early with an error if ctx does.
	Pause func(ctx context.Context) error

	mu       sync.Mutex
	sequence uint64
	answer   Answer
	fence    uint64 // of the turn under way, 0 between turns
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
	k.sequence, k.answer, k.fence = sequence, Answer{}, 0
	for k.settle(ctx); ; {
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
		k.settle(ctx)
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
// nothing back, whatever a switch says, as the group may be at work.
func (k *Keeper) Prolong(ctx context.Context, sequence uint64) (Answer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.past(sequence); err != nil {
		return Answer{}, err
	}
	if sequence == k.sequence && k.fence == 0 {
		return k.answer, nil
	}
	if sequence > k.sequence {
		k.sequence, k.answer, k.fence = sequence, Answer{Granted: true}, k.Next()
	}
	for _, s := range k.Sites {
		if err := s.Lock(ctx, k.Group, k.fence, k.Lease); err != nil {
			return Answer{Reason: fmt.Sprintf("switch %s: %v", s.Name(), err)}, nil
		}
	}
	return k.answer, nil
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
	k.sequence, k.fence, k.answer = sequence, 0, Answer{Reason: "the turn was given back"}
	k.giveBack(ctx, fence)
}

// giveBack unlocks every switch.
func (k *Keeper) giveBack(ctx context.Context, fence uint64) {
	for i := range k.Sites {
		k.release(ctx, i, fence)
	}
	k.clean = true
}

// all locks every switch, or gives back what it has. It never waits while it holds something.
func (k *Keeper) all(ctx context.Context, fence uint64) error {
	for i, s := range k.Sites {
		err := s.Lock(ctx, k.Group, fence, k.Lease)
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
		for j := range held {
			k.release(ctx, j, fence)
		}
		k.clean = true
		return fmt.Errorf("switch %s: %w", s.Name(), err)
	}
	return nil
}

// release gives a turn back. A switch that does not hear it is told again.
func (k *Keeper) release(ctx context.Context, i int, fence uint64) {
	if k.owed == nil {
		k.owed = map[int]uint64{}
	}
	k.owed[i] = max(k.owed[i], fence)
	if k.Sites[i].Unlock(ctx, k.Group, k.owed[i]) == nil {
		delete(k.owed, i)
	}
}

// settle tells switches what they have not heard.
func (k *Keeper) settle(ctx context.Context) {
	for i := range k.Sites {
		if fence, ok := k.owed[i]; ok {
			k.release(ctx, i, fence)
		}
	}
}

// Settle tells switches that did not answer what they have not heard. It is to be called now and then.
func (k *Keeper) Settle(ctx context.Context) {
	if k.mu.TryLock() {
		defer k.mu.Unlock()
		k.settle(ctx)
	}
}
