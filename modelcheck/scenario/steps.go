// SPDX-License-Identifier: Apache-2.0

// Package scenario runs a model step by step, without the tables and names of the search: Replay runs the steps that lead to a violation on
// reference engines and draws a chart, Script cuts out what one switch gets, and Drive gives that to any engine of verify.
package scenario

import (
	"fmt"

	"github.com/goccy/go-yaml"

	"incforge/modelcheck/model"
)

// What happens, as Step.Do says it.
const (
	MoveDeliver   = "deliver"
	MoveLose      = "lose"
	MoveDuplicate = "duplicate" // delivered, and still on its way
	MoveNotReady  = "not-ready" // delivered to a host without a receive
	MoveSend      = "send"      // of an engine, by itself
	MoveTimeout   = "timeout"   // at the right time: nothing is on its way
	MoveEarly     = "early"     // a time-out at any other time
	MovePark      = "park"      // a switch's group gives up its slots; that it gets others is a send
)

// Kinds of violations.
const (
	KindFault    = "fault"
	KindDeadlock = "deadlock"
	KindLivelock = "livelock"
)

// Trace is a way to a violation: a scenario that Replay runs on the reference, without the checker.
type Trace struct {
	// Config is the model.
	Config model.Config `yaml:"config" json:"config"`
	// Kind is what the last step leads to: fault, deadlock, livelock, or "" for nothing in particular. Text says more. In a livelock the
	// steps lead past the point of no return to the next state in which nothing is on its way.
	Kind string `yaml:"kind,omitempty" json:"kind,omitempty"`
	Text string `yaml:"text,omitempty" json:"text,omitempty"`
	// Steps are what happens, in order.
	Steps []Step `yaml:"steps" json:"steps"`
}

// Step is one transition. Nodes are h0, h1, … for hosts and s0, s1, … for switches, s0 being the root, breadth first.
type Step struct {
	// Do is one of the moves.
	Do string `yaml:"do" json:"do"`
	// At is the node that does something or gets a packet.
	At string `yaml:"at" json:"at"`
	// From is the node a packet comes from.
	From string `yaml:"from,omitempty" json:"from,omitempty"`
	// Index is how many packets on the same link it overtakes.
	Index int `yaml:"index,omitempty" json:"index,omitempty"`
	// Packet is what is delivered or lost, PSNs from the start's on.
	Packet string `yaml:"packet,omitempty" json:"packet,omitempty"`
	// Action is what a switch does by itself: send aggregation, send broadcast, or send one, time-out, resume and the node it is about.
	Action string `yaml:"action,omitempty" json:"action,omitempty"`
}

// YAML writes the trace as ParseTrace reads it.
func (t *Trace) YAML() ([]byte, error) { return yaml.Marshal(t) }

// ParseTrace reads a scenario.
func ParseTrace(text []byte) (*Trace, error) {
	var t Trace
	if err := yaml.UnmarshalWithOptions(text, &t, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return &t, nil
}
