// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"sync"
	"syscall"
)

// Running is the set of programs that run under a context made by Track. A process that exits without waiting for its
// goroutines calls Kill first, because each program has a process group of its own and would outlive it.
type Running struct {
	mu     sync.Mutex
	groups map[int]bool // by process group
	killed bool
}

type runningKey struct{}

// Track returns a context under which Run keeps account of what it started.
func Track(ctx context.Context) (context.Context, *Running) {
	r := &Running{groups: map[int]bool{}}
	return context.WithValue(ctx, runningKey{}, r), r
}

// Kill ends all programs, with everything that they started, and whatever is started later.
func (r *Running) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	for group := range r.groups {
		killGroup(group)
	}
}

// remember adds a program's group until the returned function is called.
func remember(ctx context.Context, group int) (forget func()) {
	r, ok := ctx.Value(runningKey{}).(*Running)
	if !ok {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups[group] = true
	if r.killed {
		killGroup(group)
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.groups, group)
	}
}

// killGroup fails only where the group has ended by itself.
func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }
