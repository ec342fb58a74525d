// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"slices"
	"sort"

	"incforge/network/host"
)

// timed is something that is due at a time.
type timed[T any] struct {
	at   uint64
	what T
}

// timeline is what is to come, in order; of what is due at one time what was added first comes first.
type timeline[T any] []timed[T]

func (l *timeline[T]) add(at uint64, what T) {
	i := sort.Search(len(*l), func(i int) bool { return (*l)[i].at > at })
	*l = slices.Insert(*l, i, timed[T]{at, what})
}

// next is when the first is due, host.Never if there is none.
func (l timeline[T]) next() uint64 {
	if len(l) == 0 {
		return host.Never
	}
	return l[0].at
}

// before takes out what is due before end.
func (l *timeline[T]) before(end uint64) []timed[T] {
	i := sort.Search(len(*l), func(i int) bool { return (*l)[i].at >= end })
	due := (*l)[:i:i]
	*l = (*l)[i:]
	return due
}
