// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"cmp"
	"iter"
	"slices"
)

// ends are what every DUT has at its ports: frames that wait to enter, and what happened since it was last asked for.
type ends struct {
	queued   [][]Frame
	accepted []Frame
	acts     []Act
	out      []Frame
}

// take empties a list.
func take[T any](list *[]T) []T {
	all := *list
	*list = nil
	return all
}

// Waiting is the number of frames offered and not accepted.
func (e *ends) Waiting() int {
	n := 0
	for _, q := range e.queued {
		n += len(q)
	}
	return n
}

// Queued are those frames, with their ports.
func (e *ends) Queued() iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, q := range e.queued {
			for _, f := range q {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Accepted returns what was accepted since the last call.
func (e *ends) Accepted() []Frame { return take(&e.accepted) }

// Acts returns the frames decided and actions taken since the last call.
func (e *ends) Acts() []Act { return take(&e.acts) }

// Out returns what left since the last call.
func (e *ends) Out() []Frame {
	slices.SortStableFunc(e.out, func(a, b Frame) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Port, b.Port)) })
	return take(&e.out)
}
