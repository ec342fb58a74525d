// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"io"
	"strings"

	"incforge/internal/fail"
)

// Replay runs a scenario on the reference and draws what happens. It tells whether what the scenario leads to has come about: its fault, or
// its deadlock. A livelock is about what can follow, which one run does not show: it has come about if the last step was possible.
func Replay(t *Trace, out io.Writer) (_ bool, err error) {
	defer fail.Catch(&err, "")
	w := fail.Must(NewWorld(t.Config))
	c := newChart(w.Topo)
	fmt.Fprintf(out, "%s\n\n%s\n", w.Config, c.head())
	for n := range w.Topo.Nodes {
		for _, p := range w.Up[n] {
			fmt.Fprintf(out, "%s  %s sends %s\n", c.lines(), w.Topo.Name(n), p)
		}
	}
	for i, s := range t.Steps {
		h, err := w.Do(s)
		fail.If(err != nil, "step %d: %w", i+1, err)
		fmt.Fprint(out, c.row(&h))
		if h.Fault != nil {
			fmt.Fprintf(out, "\nfault: %v\n", h.Fault)
			return t.Kind == KindFault && strings.Contains(h.Fault.Error(), t.Text), nil
		}
	}
	if missing, stalled := w.Stalled(); stalled {
		fmt.Fprintf(out, "\ndeadlock: nothing is on its way, no timer runs, and %s\n", missing)
		return t.Kind == KindDeadlock, nil
	}
	if t.Kind == KindLivelock {
		fmt.Fprintf(out, "\nlivelock: %s\n", t.Text)
	}
	return t.Kind == KindLivelock || t.Kind == "", nil
}
