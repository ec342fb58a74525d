// SPDX-License-Identifier: Apache-2.0

// Package leaf has what the Go descriptions of all leaf modules share: port lists, rules, sources.
package leaf

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/hdl/graph"
)

// In is an input of that many bits.
func In(name string, width int) graph.Port { return graph.Port{Name: name, Width: width} }

// Out is an output of that many bits.
func Out(name string, width int) graph.Port {
	return graph.Port{Name: name, Dir: graph.Out, Width: width}
}

// On is the port in the clock of that name.
func On(clock string, p graph.Port) graph.Port {
	p.Clock = clock
	return p
}

// Clog2 is Verilog's $clog2: the bits of an index below n.
func Clog2(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}

// IndexBits is the width of an index below n, at least 1, because Verilog has no vectors of width 0.
func IndexBits(n int) int { return max(Clog2(n), 1) }

// Pow2 is 1 << n, and 0 where that has no meaning or no room.
func Pow2(n int) int {
	if n < 0 || n > 62 {
		return 0
	}
	return 1 << n
}

// Rules collects the reasons why a module's parameters are illegal. The wording of a rule is that of the module's own $error.
type Rules struct {
	module string
	errs   []error
}

// NewRules starts with none, for the module of that name.
func NewRules(module string) *Rules { return &Rules{module: module} }

// Refuse adds the rule if bad holds.
func (r *Rules) Refuse(bad bool, rule string) {
	if bad {
		r.errs = append(r.errs, fmt.Errorf("%s: %s", r.module, rule))
	}
}

// Err is nil, or all rules that were broken.
func (r *Rules) Err() error { return errors.Join(r.errs...) }

// Source is the text of a module embedded beside its description, in the file of the module's name. What the contract prints into it is
// printed anew.
func Source(files embed.FS, module string) ([]byte, error) {
	return SourceParking(files, module, false)
}

// ParkMacro guards what a module has for groups that can be parked (docs/parking.md). Source leaves it out, SourceParking what stands in its
// place, so that neither text knows of the macro.
const ParkMacro = "INC_PARK"

// EagerMacro guards, likewise, what the aggregator has for a tree that merges siblings as soon as both are complete.
const EagerMacro = "INC_EAGER"

// PoisonMacro guards, likewise, what Mode I has for groups that met a double error of the payload memory.
const PoisonMacro = "INC_POISON"

// ECCMacro guards what a block has for memories with check bits beside that of the payload (ecc: all).
const ECCMacro = "INC_ECC"

// ReleaseMacro guards, likewise, what Mode I has for releases.
const ReleaseMacro = "INC_RELEASE"

// MessageRangesMacro guards, likewise, what Mode I has for in-band groups, whose ranges are of messages.
const MessageRangesMacro = "INC_MESSAGE_RANGES"

// SourceParking is Source of the module with what it has for groups that can be parked, if they can.
func SourceParking(files embed.FS, module string, park bool) ([]byte, error) {
	if park {
		return SourceWith(files, module, ParkMacro)
	}
	return SourceWith(files, module)
}

// SourceWith is Source of the module with what the macros guard.
func SourceWith(files embed.FS, module string, macros ...string) ([]byte, error) {
	text, err := files.ReadFile(module + ".v")
	for _, macro := range []string{ParkMacro, EagerMacro, PoisonMacro, ReleaseMacro, ECCMacro, MessageRangesMacro} {
		if err == nil {
			text, err = resolve(text, macro, slices.Contains(macros, macro))
		}
	}
	if err == nil {
		text, err = contract.Fill(text)
	}
	if err != nil {
		return nil, fmt.Errorf("source of %s: %w", module, err)
	}
	return text, nil
}

// resolve leaves of each `ifdef of a macro the lines that count if it is defined, or if it is not. It knows no `ifdef in another of the same macro.
func resolve(text []byte, macro string, defined bool) ([]byte, error) {
	var out bytes.Buffer
	inside, takes, depth := false, true, 0
	for line := range bytes.Lines(text) {
		word := string(bytes.TrimSpace(line))
		switch {
		case !inside && word == "`ifdef "+macro:
			inside, takes = true, defined
			continue
		case inside && (strings.HasPrefix(word, "`ifdef") || strings.HasPrefix(word, "`ifndef")):
			depth++
		case inside && depth == 0 && word == "`else":
			takes = !takes
			continue
		case inside && depth == 0 && word == "`endif":
			inside, takes = false, true
			continue
		case inside && word == "`endif":
			depth--
		}
		if takes {
			out.Write(line)
		}
	}
	if inside {
		return nil, fmt.Errorf("`ifdef %s has no end", macro)
	}
	if bytes.Contains(out.Bytes(), []byte(macro)) {
		return nil, fmt.Errorf("%s stands in the text elsewhere than in an `ifdef on a line of its own", macro)
	}
	return out.Bytes(), nil
}

// Bit is v as the value of a parameter: 1 or 0.
func Bit(v bool) int {
	if v {
		return 1
	}
	return 0
}
