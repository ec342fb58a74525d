// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"sync/atomic"
	"time"
)

// Meter adds up the processor time of the programs that ran under a context. It may be read while they run.
type Meter struct {
	cpu  atomic.Int64
	runs atomic.Int64
	up   *Meter // the meter that the context had before
}

type meterKey struct{}

// WithMeter returns a context whose programs are counted by the meter, and by those of ctx too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{up: meterOf(ctx)}
	return context.WithValue(ctx, meterKey{}, m), m
}

// CPU is the processor time of the programs that ended, their children included.
func (m *Meter) CPU() time.Duration { return time.Duration(m.cpu.Load()) }

// Runs is how many programs ended.
func (m *Meter) Runs() int { return int(m.runs.Load()) }

func meterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

func (m *Meter) add(cpu time.Duration) {
	for ; m != nil; m = m.up {
		m.cpu.Add(int64(cpu))
		m.runs.Add(1)
	}
}
