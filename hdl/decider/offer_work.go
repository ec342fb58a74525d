// SPDX-License-Identifier: Apache-2.0

package decider

import (
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// OfferWork is inc_offer_work: offers a frame's work on the payload to AggregateData. Its contract is the head of inc_offer_work.v.
type OfferWork Decider

// Module describes it, or says why the parameters are illegal.
func (p OfferWork) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_offer_work")
	rules.Refuse(p.Planes < 1 || p.Tree == 0 && p.Planes != 1 || p.Tree == 1 && (2*p.Planes+1 < p.MaskW || p.Planes > 1 && 2*p.Planes > p.MaskW+1),
		"PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_offer_work")
	if err != nil {
		return nil, err
	}
	d := Decider(p)
	hold, err := HoldWork{Width: d.workBits(), Prompt: p.Prompt}.Module()
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_offer_work", Block: "OfferWork", Source: source, Latency: offered(p.Prompt),
		Purpose: "offers a frame's work on the payload to AggregateData",
		Params: []graph.Param{
			{Name: "WORDS_W", Value: p.WordsW}, {Name: "EP_W", Value: p.EPW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW},
			{Name: "PLANES", Value: p.Planes}, {Name: "PAIR_W", Value: d.pairBits()}, {Name: "TREE", Value: p.Tree}, {Name: "PKT_W", Value: p.PktW},
			{Name: "PROMPT", Value: p.Prompt},
		},
		Ports: slices.Concat([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("c_opcode", 8), leaf.In("c_done", 1), leaf.In("vrd_end", p.PktW)},
			d.workPorts(), d.opPorts()),
		Submodules: []*graph.Module{hold},
	}, nil
}

// workBits are the bits of what a work says: start, immediate, words, unit, pair, five things to do, pairs, function, type, byte order.
func (p Decider) workBits() int {
	return p.PktW + 1 + p.WordsW + p.SlotW + p.pairBits() + 5 + p.Planes + 2 + 2 + 1
}

// Parts are the instances that all three modes decide with, around the block of the mode.
type Parts struct {
	Steps, Work *graph.Instance
}

// Add adds inc_frame_steps and inc_offer_work to a composite, and connects them with the mode's block there, and with each other.
func (p Decider) Add(c *graph.Composite, decide *graph.Instance) Parts {
	parts := p.AddParts(c, decide, p)
	for _, port := range p.SlotPorts() { // what the slot will hold
		if port.Dir == graph.In {
			c.Connect(parts.Steps.Pin(port.Name), decide.Pin(port.Name))
		}
	}
	return parts
}

// AddParts is Add for a block that says itself what a slot will hold, with the parameters that works have.
func (p Decider) AddParts(c *graph.Composite, decide *graph.Instance, works Decider) Parts {
	parts := Parts{Steps: c.Add("u_steps", FrameSteps(p)), Work: c.Add("u_work", OfferWork(works))}
	for _, port := range p.stepPorts() {
		_, taken := decide.Module.Port(port.Name)
		own := port.Name == "c_opcode" // of OfferWork
		switch pin := parts.Steps.Pin(port.Name); {
		case own && !taken:
			c.Connect(pin, parts.Work.Pin(port.Name))
		case own:
			c.Connect(pin, parts.Work.Pin(port.Name), decide.Pin(port.Name))
		case !taken && port.Dir == graph.Out:
			c.Open(pin, "not what this mode asks")
		case !taken:
			c.Tie(pin, idle(port.Name))
		case port.Dir == graph.Out:
			c.Connect(pin, decide.Pin(port.Name))
		default:
			c.Connect(decide.Pin(port.Name), pin)
		}
	}
	c.Link(decide, parts.Work, "work_")
	c.Link(parts.Work, decide, "work_")
	c.Connect(decide.Pin("c_done"), parts.Work.Pin("c_done"))
	return parts
}

// InnerPins are the prefixes of the pins between a mode's block and its Parts.
func InnerPins() []string { return []string{"s_", "a_", "b_", "f_", "c_", "redo", "holds", "work_"} }

// idle is what an input of inc_frame_steps has that a mode's block does not drive: frames may leave A in their first cycle, and nothing
// holds them up.
func idle(input string) uint64 {
	if input == "a_ready" {
		return 1
	}
	return 0
}
