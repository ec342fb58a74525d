// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Count is inc_cdc_count: a counter that one clock steps and another reads. Its contract is the head of inc_cdc_count.v.
type Count struct {
	// Width: bits of the count, at least 2.
	Width int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Count) Module() (*graph.Module, error) {
	return crossing("inc_cdc_count", "a counter that one clock steps and another reads", "4 cycles", p.Width, nil,
		[]graph.Port{leaf.In("src_step", 1), leaf.Out("src_count", p.Width)}, []graph.Port{leaf.Out("dst_count", p.Width)})
}

// Event is inc_cdc_event: single cycles of one clock as single cycles of another. Its contract is the head of inc_cdc_event.v.
type Event struct {
	// Width: bits of the count that crosses, at least 2.
	Width int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Event) Module() (*graph.Module, error) {
	return crossing("inc_cdc_event", "single cycles of one clock as single cycles of another", "6 cycles", p.Width, Count(p),
		[]graph.Port{leaf.In("src_event", 1)}, []graph.Port{leaf.Out("dst_event", 1)})
}

// crossing describes a module with two sides, each with its clock and reset.
func crossing(name, purpose, latency string, width int, inside graph.Describer, src, dst []graph.Port) (*graph.Module, error) {
	rules := leaf.NewRules(name)
	rules.Refuse(width < 2, "WIDTH must be at least 2")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{Name: name, Block: "", Source: source, Latency: latency, Purpose: purpose, Params: []graph.Param{{Name: "WIDTH", Value: width}}}
	for _, side := range []struct {
		prefix string
		ports  []graph.Port
	}{{"src_", src}, {"dst_", dst}} {
		clock := side.prefix + "clk"
		m.Ports = append(m.Ports, leaf.In(clock, 1), leaf.On(clock, leaf.In(side.prefix+"rst", 1)))
		for _, p := range side.ports {
			m.Ports = append(m.Ports, leaf.On(clock, p))
		}
	}
	if inside != nil {
		sub, err := inside.Module()
		if err != nil {
			return nil, err
		}
		m.Submodules = []*graph.Module{sub}
	}
	return m, nil
}

// Errors is inc_cdc_errors: what a memory that is read in a port's clock says, in the engine's. Its contract is the head of inc_cdc_errors.v.
type Errors struct{}

// Module describes it.
func (Errors) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_cdc_errors")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_cdc_errors", Block: "", Source: source, Latency: "6 cycles",
		Purpose: "what the memory of a queue that is read in a port's clock says of its words, in the engine's clock",
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In(portClock, 1), leaf.On(portClock, leaf.Out("port_rst", 1)),
			leaf.On(portClock, leaf.In("port_fixed", 1)), leaf.On(portClock, leaf.In("port_lost", 1)), leaf.Out("fixed", 1), leaf.Out("lost", 1),
		},
	}
	for _, d := range []graph.Describer{Reset{}, Event{Width: eventBits}} {
		sub, err := d.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_cdc_errors: %w", err)
		}
		m.Submodules = append(m.Submodules, sub)
	}
	return m, nil
}

// Reset is inc_cdc_reset: a reset taken from one clock to another. Its contract is the head of inc_cdc_reset.v.
type Reset struct{}

// Module describes it.
func (Reset) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_cdc_reset")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_cdc_reset", Block: "", Source: source, Latency: "4 cycles",
		Purpose: "a reset taken from one clock to another that may stand still",
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.Out("near_rst", 1),
			leaf.In("far_clk", 1), leaf.On("far_clk", leaf.Out("far_rst", 1)),
		},
	}, nil
}
