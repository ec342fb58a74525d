// SPDX-License-Identifier: Apache-2.0

// Package clocked ties a figure in cycles to the clock that a design holds. A cycle is worth nothing until then: a time or a rate is
// printed at the lower of the clock asked for and the clock that a flow found, with both beside it. Where no flow has run, the
// cycles stand alone.
package clocked

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// Clock is what a design was asked to keep, and what a flow found that it keeps.
type Clock struct {
	AskedMHz float64 `json:"asked_mhz"`
	// FoundMHz is 0 if no flow has run.
	FoundMHz float64 `json:"found_mhz,omitempty"`
	// By names the flow: "generic28 typical", "ecp5, placed and routed".
	By string `json:"by,omitempty"`
}

// Found tells whether a flow has found a clock.
func (c Clock) Found() bool { return c.FoundMHz > 0 }

// Missed tells whether the clock found is below the one asked for.
func (c Clock) Missed() bool { return c.Found() && c.FoundMHz < c.AskedMHz*(1-1e-9) }

// Holds is the clock that holds, the lower of the two in MHz; none if no flow has run.
func (c Clock) Holds() (mhz float64, ok bool) {
	if !c.Found() {
		return 0, false
	}
	if c.AskedMHz <= 0 {
		return c.FoundMHz, true
	}
	return min(c.AskedMHz, c.FoundMHz), true
}

// Mark follows a figure whose clock was missed, where there is no colour.
const Mark = "!"

// String names both clocks: "243.1 MHz found, 250 asked !".
func (c Clock) String() string {
	if !c.Found() {
		return number(c.AskedMHz) + " MHz asked, none found"
	}
	s := number(c.FoundMHz) + " MHz found"
	if c.AskedMHz > 0 {
		s += ", " + number(c.AskedMHz) + " asked"
	}
	if c.Missed() {
		s += " " + Mark
	}
	return s
}

// Figure is a number of cycles, or of bits a cycle, and the clock of the design that it was measured on.
type Figure struct {
	value  float64
	isRate bool
	clock  Clock
}

// Cycles is a time.
func Cycles(n float64, c Clock) Figure { return Figure{n, false, c} }

// BitsPerCycle is a rate.
func BitsPerCycle(n float64, c Clock) Figure { return Figure{n, true, c} }

// Units of Real.
const (
	NS   = "ns"
	Gbps = "Gbit/s"
)

// Unit is that of Real: NS or Gbps.
func (f Figure) Unit() string {
	if f.isRate {
		return Gbps
	}
	return NS
}

// Real is the time in ns or the rate in Gbit/s at the clock that holds; none if no flow has found one.
func (f Figure) Real() (value float64, ok bool) {
	mhz, ok := f.clock.Holds()
	switch {
	case !ok:
		return 0, false
	case f.isRate:
		return f.value * mhz / 1e3, true
	}
	return f.value * 1e3 / mhz, true
}

// Missed tells whether the figure's clock is below the one asked for.
func (f Figure) Missed() bool { return f.clock.Missed() }

// Plain is the figure without a clock: "25 cycles", "512 bits a cycle".
func (f Figure) Plain() string {
	switch {
	case f.isRate:
		return number(f.value) + " bits a cycle"
	case f.value == 1:
		return "1 cycle"
	}
	return number(f.value) + " cycles"
}

// At is the figure at the clock that holds, with both clocks: "102.8 ns at 243.1 MHz found, 250 asked !". It is empty if no flow has found a clock.
func (f Figure) At() string {
	v, ok := f.Real()
	if !ok {
		return ""
	}
	return number(v) + " " + f.Unit() + " at " + f.clock.String()
}

// String is both.
func (f Figure) String() string {
	if at := f.At(); at != "" {
		return f.Plain() + ", " + at
	}
	return f.Plain()
}

// number prints four digits at least, and no zeros that say nothing.
func number(x float64) string {
	digits := 0
	switch {
	case x < 10:
		digits = 3
	case x < 100:
		digits = 2
	case x < 10000:
		digits = 1
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	for digits > 0 && (s[len(s)-1] == '0' || s[len(s)-1] == '.') {
		dot := s[len(s)-1] == '.'
		s = s[:len(s)-1]
		if dot {
			break
		}
	}
	return s
}

// ErrOther means that a record does not give the clock of the design in question.
var ErrOther = errors.New("no clock of this design")

// Read takes the clock that a flow found from its record, a JSON file of incforge synth or fpga. It must be of the design with this
// digest, and of one of its tops: what a module reaches alone the engine need not reach.
func Read(file, digest string, tops ...string) (Clock, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Clock{}, fmt.Errorf("found clock: %w", err)
	}
	var r struct {
		Digest string `json:"digest"`
		Top    string `json:"top"`
		Clock  *Clock `json:"clock"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Clock{}, fmt.Errorf("found clock: %s: %w", file, err)
	}
	switch {
	case r.Clock == nil || !r.Clock.Found():
		return Clock{}, fmt.Errorf("%w in %s: no flow has found one", ErrOther, file)
	case r.Digest != digest:
		return Clock{}, fmt.Errorf("%w in %s: it is of another design, with digest %s", ErrOther, file, r.Digest)
	case !slices.Contains(tops, r.Top):
		return Clock{}, fmt.Errorf("%w in %s: it is that of %s alone", ErrOther, file, r.Top)
	}
	return *r.Clock, nil
}
