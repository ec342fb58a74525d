// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"incforge/modelcheck"
	"incforge/modelcheck/model"
)

// modelFlags are those that say how large a model is and what may happen in it.
func modelFlags() []string {
	return []string{"collective", "ranges", "tree", "requests", "window", "slots", "bytes", "path-mtus", "loss", "reorder", "dup", "timeouts", "rnr", "park", "free", "empty", "checkpoint"}
}

// searchFlags are those that the many short searches for the smallest model have no use for.
func searchFlags() []string { return []string{"workers", "memory", "max-time"} }

// changed tells whether one of the flags was given.
func changed(cmd *cobra.Command, flags []string) bool {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// modelcheckSmallest looks for the smallest model that shows the rules of --bad, in one mode if one was named.
func (a *app) modelcheckSmallest(ctx context.Context, f *modelcheckFlags, named bool) error {
	mode := 0
	if named {
		mode = f.config.Mode
	}
	for _, rule := range f.config.Bad {
		known, ok := model.BadRules()[rule]
		if !ok || named && !known.In(mode) {
			return a.modelcheckOne(ctx, f) // which says what is wrong
		}
	}
	stop := a.working("modelcheck: the smallest model that shows %s", strings.Join(f.config.Bad, ", "))
	shown, err := modelcheck.Smallest(ctx, mode, f.config.Bad, modelcheck.Options{Symmetry: f.symmetry, Reduction: f.reduction, MaxStates: f.maxStates, Shortest: true})
	stop()
	switch {
	case errors.Is(err, model.ErrConfig):
		return usageError{err}
	case errors.Is(err, modelcheck.ErrNotShown):
		fmt.Fprintln(a.out, err)
		return errors.Join(writeJSON(f.json, shown), errFailed)
	case err != nil:
		return err
	}
	fmt.Fprintf(a.out, "the smallest of %d models%s that shows it; with the right rules it holds, %d states\n", shown.Tried, shown.Doubt(), shown.Right.Distinct)
	a.printSearch(shown.Result)
	if err := writeJSON(f.json, shown); err != nil {
		return err
	}
	return a.modelcheckViolation(shown.Result, f.trace)
}

// noticed is a sentence of it.
func noticed(all []modelcheck.Notice) string {
	var would, not, unknown []string
	for _, n := range all {
		switch {
		case n.Kind != "":
			would = append(would, n.Rule)
		case n.Complete:
			not = append(not, n.Rule)
		default:
			unknown = append(unknown, n.Rule)
		}
	}
	var parts []string
	for _, p := range []struct {
		text  string
		rules []string
	}{{"would have noticed", would}, {"could not have noticed", not}, {"not known", unknown}} {
		if len(p.rules) > 0 {
			parts = append(parts, p.text+" "+strings.Join(p.rules, ", "))
		}
	}
	return "of the rules known to be wrong: " + strings.Join(parts, "; ")
}
