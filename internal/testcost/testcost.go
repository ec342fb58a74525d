// SPDX-License-Identifier: Apache-2.0

// Package testcost notes what the foreign programs of a test cost: Verilator and the C++ compiler above all, which take more of the
// processor than most tests themselves. The note is an attribute of the test, which internal/testtimes puts into its list.
package testcost

import (
	"context"
	"strconv"
	"testing"

	"incforge/internal/tool"
)

// Attributes of a test.
const (
	AttrMillis = "tools_cpu_ms" // processor time of the programs, in milliseconds
	AttrRuns   = "tools_runs"   // how many ran
)

// Context is t.Context; the programs that are run with it are put down to t.
func Context(t testing.TB) context.Context {
	ctx, m := tool.WithMeter(t.Context())
	t.Cleanup(func() {
		if m.Runs() > 0 {
			t.Attr(AttrMillis, strconv.FormatInt(m.CPU().Milliseconds(), 10))
			t.Attr(AttrRuns, strconv.Itoa(m.Runs()))
		}
	})
	return ctx
}
