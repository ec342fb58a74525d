// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"incforge/internal/testcost"
)

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
	Key     string // of an attribute
	Value   string
}

// times is what the file says.
type times struct {
	WallS    float64       `json:"wall_s"`
	CPUS     float64       `json:"cpu_s"`    // of the packages that ran
	GoCPUS   float64       `json:"go_cpu_s"` // the go command: compiling, linking, vetting
	Ran      int           `json:"ran"`
	Cached   int           `json:"cached"`
	Packages []packageTime `json:"packages"` // the dearest first
}

type packageTime struct {
	Package string     `json:"package"`
	Result  string     `json:"result"`
	Cached  bool       `json:"cached"`      // nothing ran; the times are those of the run that gave the verdict
	CPUS    float64    `json:"cpu_s"`       // the test program and all that ran under it
	Tools   float64    `json:"tools_cpu_s"` // of which programs that a test ran and noted
	WallS   float64    `json:"wall_s"`
	Tests   []testTime `json:"tests,omitempty"` // top-level tests, the dearest first
}

type testTime struct {
	Name   string  `json:"name"`
	Result string  `json:"result"`
	WallS  float64 `json:"wall_s"`
	Tools  float64 `json:"tools_cpu_s"`
	Runs   int     `json:"tools_runs"` // programs it ran
	parts  float64 // by the clock, all parts together
}

// ledger takes in events, prints what go test would print, and keeps the times.
type ledger struct {
	w        io.Writer
	packages map[string]*account
	done     []packageTime
	spent    time.Duration // by the packages that ran
}

// account is an open package.
type account struct {
	packageTime
	tests map[string]*testTime // by the name of the top-level test
	order []string
	lines []line
	bad   map[string]bool // tests that failed
}

type line struct{ test, text string }

func newLedger(w io.Writer) *ledger { return &ledger{w: w, packages: map[string]*account{}} }

func (l *ledger) take(e event) {
	if e.Action == "build-output" {
		fmt.Fprint(l.w, e.Output)
	}
	if e.Package == "" {
		return
	}
	a := l.packages[e.Package]
	if a == nil {
		a = &account{packageTime: packageTime{Package: e.Package}, tests: map[string]*testTime{}, bad: map[string]bool{}}
		l.packages[e.Package] = a
	}
	switch e.Action {
	case "output":
		l.output(a, e)
	case "attr":
		a.attribute(e)
	case "pass", "fail", "skip":
		switch {
		case e.Test == "":
			l.closePackage(a, e)
		case strings.Contains(e.Test, "/"):
			if strings.Count(e.Test, "/") == 1 {
				a.test(e.Test).parts += e.Elapsed
			}
			a.bad[e.Test] = e.Action == "fail"
		default:
			t := a.test(e.Test)
			// A test does not count the time in which it waits for its parallel parts.
			t.Result, t.WallS = e.Action, max(e.Elapsed, t.parts)
			a.bad[e.Test] = e.Action == "fail"
			l.closeTest(a, e.Test)
		}
	}
}

func (a *account) test(name string) *testTime {
	name, _, _ = strings.Cut(name, "/")
	t := a.tests[name]
	if t == nil {
		t = &testTime{Name: name}
		a.tests[name] = t
		a.order = append(a.order, name)
	}
	return t
}

func (a *account) attribute(e event) {
	n, err := strconv.Atoi(e.Value)
	if err != nil {
		return // somebody else's attribute
	}
	switch e.Key {
	case testcost.AttrMillis:
		a.test(e.Test).Tools += float64(n) / 1000
		a.Tools += float64(n) / 1000
	case testcost.AttrRuns:
		a.test(e.Test).Runs += n
	}
}

func (l *ledger) output(a *account, e event) {
	if at := strings.Index(e.Output, costMark); at >= 0 {
		// A program that was killed left its last line open.
		ns, err := strconv.ParseInt(strings.TrimSpace(e.Output[at+len(costMark):]), 10, 64)
		if err == nil {
			a.CPUS += seconds(time.Duration(ns))
			e.Output = e.Output[:at]
		}
		if e.Output == "" {
			return
		}
	}
	if e.Test == "" && strings.Contains(e.Output, "\t(cached)") {
		a.Cached = true
	}
	a.lines = append(a.lines, line{e.Test, e.Output})
}

// closeTest prints what a failed test and its failed parts said, and forgets what the test said.
func (l *ledger) closeTest(a *account, name string) {
	keep := a.lines[:0]
	for _, o := range a.lines {
		switch {
		case o.test != name && !strings.HasPrefix(o.test, name+"/"):
			keep = append(keep, o)
		case a.bad[o.test]:
			l.print(o.text)
		}
	}
	a.lines = keep
}

// closePackage prints go test's last line on the package, and all that is left of one that failed: a test that did not end is among it.
func (l *ledger) closePackage(a *account, e event) {
	a.Result, a.WallS = e.Action, e.Elapsed
	for _, o := range a.lines {
		verdict := strings.HasPrefix(o.text, "ok  \t") || strings.HasPrefix(o.text, "?   \t") || strings.HasPrefix(o.text, "\t")
		if e.Action == "fail" && o.text != "PASS\n" || o.test == "" && verdict {
			l.print(o.text)
		}
	}
	for _, name := range a.order {
		a.Tests = append(a.Tests, *a.tests[name])
	}
	slices.SortStableFunc(a.Tests, func(x, y testTime) int {
		return cmp.Or(cmp.Compare(max(y.WallS, y.Tools), max(x.WallS, x.Tools)), cmp.Compare(x.Name, y.Name))
	})
	l.done = append(l.done, a.packageTime)
	if !a.Cached {
		l.spent += time.Duration(a.CPUS * float64(time.Second))
	}
	delete(l.packages, a.Package)
}

// print leaves out how a test's course is told to programs.
func (l *ledger) print(text string) {
	if !strings.HasPrefix(text, "=== ") {
		fmt.Fprint(l.w, text)
	}
}

func (l *ledger) times() times {
	t := times{Packages: l.done}
	slices.SortFunc(t.Packages, func(x, y packageTime) int {
		return cmp.Or(cmp.Compare(y.CPUS, x.CPUS), cmp.Compare(x.Package, y.Package))
	})
	for _, p := range t.Packages {
		switch {
		case p.Cached:
			t.Cached++
		case p.Result != "skip":
			t.Ran++
			t.CPUS += p.CPUS
		}
	}
	t.CPUS = seconds(time.Duration(t.CPUS * float64(time.Second)))
	return t
}
