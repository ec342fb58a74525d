// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/control/store"
)

// answers is a switch that says the same thing each time.
type answers struct {
	name  string
	err   error
	asked int
}

func (a *answers) Name() string { return a.name }
func (a *answers) Lock(context.Context, string, uint64, time.Duration, bool) error {
	a.asked++
	return a.err
}
func (a *answers) Unlock(context.Context, string, uint64) error {
	a.asked++
	return a.err
}

// Of a switch that does not answer one call is waited for while a turn is given back, whatever the others say; and it does not hide that another has ended the turn.
func TestSilentSwitch(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		first, second error
		asked         int // by Done
		ended         bool
	}{{ErrUndrained, errGone, 1, false}, {errGone, ErrUndrained, 1, false}, {ErrUndrained, nil, drains, false}, {errGone, ErrStale, 1, true}, {ErrStale, errGone, 1, true}, {nil, errGone, 1, false}} {
		t.Run(fmt.Sprint(c.first, ", ", c.second), func(t *testing.T) {
			first, second, number := &answers{name: "s0"}, &answers{name: "s1"}, uint64(0)
			k := &Keeper{Group: "g", Sites: []Site{first, second}, Lease: lease, Next: func() uint64 { number++; return number }, Pause: func(context.Context) error { return nil }}
			a, err := k.Ask(ctx, 1, func() bool { return true })
			require.NoError(t, err)
			require.True(t, a.Granted)
			first.err, second.err = c.first, c.second
			a, err = k.Prolong(ctx, 1)
			require.Equal(t, c.ended, errors.Is(err, ErrStale), err)
			require.False(t, a.Granted)
			first.asked, second.asked = 0, 0
			k.Done(ctx, 1)
			require.Equal(t, c.asked, max(first.asked, second.asked))
		})
	}
}

// failing is a store that says of its next writes that they have failed, although it has written.
type failing struct {
	store.Store
	times int
}

func (f *failing) Put(name string, text []byte) error {
	if err := f.Store.Put(name, text); err != nil {
		return err
	}
	if f.times--; f.times >= 0 {
		return errWrite
	}
	return nil
}

// A turn that a store has, although it said that it has not, is nobody else's to have.
func TestFailedWrite(t *testing.T) {
	w := draw(t, 1)
	s := w.sites[0]
	w.calm = true
	f := &failing{Store: store.NewMemory(), times: 1}
	table := &Table{Slots: 8, Runs: true, Memory: s, Store: f, Now: func() time.Time { return w.now.UTC() }}
	require.ErrorIs(t, table.Lock("a", 1, 8, lease, false), errWrite)
	require.ErrorIs(t, table.Lock("b", 2, 8, lease, false), ErrBusy)
	require.NoError(t, table.Unlock("a", 1))
	require.NoError(t, table.Lock("b", 3, 8, lease, false))
	again := &Table{Slots: 8, Runs: true, Memory: s, Store: f, Now: table.Now}
	require.NoError(t, again.Load())
	require.Equal(t, table.Turns(), again.Turns())
}
