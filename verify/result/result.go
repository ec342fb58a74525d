// SPDX-License-Identifier: Apache-2.0

// Package result is what a verification run leaves behind: one JSON line a test and a JUnit XML file.
package result

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"incforge/verify/cover"
)

// Verdict says how a test ended.
type Verdict string

// The verdicts. NotApplicable is a scenario that the configuration cannot hold, with the reason in Message.
const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	NotApplicable Verdict = "not_applicable"
)

// Test is the result of one scenario with one seed.
type Test struct {
	// Config is the design's name, Digest its manifest's digest.
	Config string `json:"config"`
	Digest string `json:"digest"`
	// DUT is rtl, core, netlist or reference.
	DUT      string `json:"dut"`
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	// Cycles are engine clock cycles simulated, over all engines; Frames the frames that they accepted.
	Cycles uint64 `json:"cycles"`
	// Clocked are those of them in which an engine was run; the others were skipped because nothing could happen.
	Clocked uint64 `json:"clocked_cycles,omitempty"`
	Frames  uint64 `json:"frames"`
	// WallSeconds is real time.
	WallSeconds float64 `json:"wall_s"`
	Verdict     Verdict `json:"verdict"`
	// Stimulus is the SHA-256 of the stimulus of the engines: frames, register accesses, pauses, troubles and resets with their cycles. The same
	// scenario and seed give the same on one kind of DUT. Egress is that of all that left, by port and cycle.
	Stimulus string `json:"stimulus_sha256,omitempty"`
	Egress   string `json:"egress_sha256,omitempty"`
	Message  string `json:"message,omitempty"`
	// Replay is the command line that runs this test again.
	Replay string `json:"replay"`
	// Capture and Waves are files written after a failure.
	Capture  string            `json:"capture,omitempty"`
	Waves    string            `json:"waves,omitempty"`
	Values   map[string]uint64 `json:"values,omitempty"`
	Coverage *cover.Summary    `json:"coverage,omitempty"`
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Package  string      `xml:"package,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     seconds     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Classname  string          `xml:"classname,attr"`
	Time       seconds         `xml:"time,attr"`
	SimCycles  uint64          `xml:"sim_cycles,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Failure    *junitMessage   `xml:"failure"`
	Skipped    *junitMessage   `xml:"skipped"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the tests as JUnit XML: one suite a configuration and DUT, seed and replay command as properties.
func WriteJUnit(w io.Writer, tests []Test) error {
	out := junitSuites{Name: "incforge"}
	for _, t := range tests {
		name := t.Config + "." + t.DUT
		i := slices.IndexFunc(out.Suites, func(s junitSuite) bool { return s.Name == name })
		if i < 0 {
			i = len(out.Suites)
			out.Suites = append(out.Suites, junitSuite{Name: name, Package: "incforge"})
		}
		s := &out.Suites[i]
		s.Tests++
		s.Time += seconds(t.WallSeconds)
		c := junitCase{Name: t.Scenario, Classname: name, Time: seconds(t.WallSeconds), SimCycles: t.Cycles,
			Properties: []junitProperty{{"seed", strconv.FormatUint(t.Seed, 10)}, {"replay", t.Replay}, {"digest", t.Digest},
				{"frames", strconv.FormatUint(t.Frames, 10)}}}
		if t.Capture != "" {
			c.Properties = append(c.Properties, junitProperty{"capture", t.Capture})
		}
		if t.Waves != "" {
			c.Properties = append(c.Properties, junitProperty{"waves", t.Waves})
		}
		first, _, _ := strings.Cut(t.Message, "\n")
		switch t.Verdict {
		case Fail:
			s.Failures++
			c.Failure = &junitMessage{Message: first, Text: t.Message + "\nreplay: " + t.Replay}
		case NotApplicable:
			s.Skipped++
			c.Skipped = &junitMessage{Message: first}
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	return nil
}

// seconds are printed to the millisecond.
type seconds float64

// MarshalText prints them.
func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}
