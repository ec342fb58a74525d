// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"fmt"
	"math"
	"slices"
	"time"

	"incforge/contract"
	"incforge/control/placement"
	"incforge/internal/yamlpos"
)

// Policies, by the names they have in files. None is rings of hosts alone.
const (
	None         = "none"
	EdgeDisjoint = "edge-disjoint"
	Spatial      = "spatial"
	Temporal     = "temporal"
)

// Policies are all of them.
func Policies() []string { return []string{None, EdgeDisjoint, Spatial, Temporal} }

// How rings find their ways, how much they send, which hosts a job gets, and in which order jobs come.
const (
	Balanced = "balanced" // the way with the fewest flows on its fullest link
	ECMP     = "ecmp"     // any way

	Exact = "exact" // a rank of K sends 2(K−1)/K times the tensor
	Twice = "twice" // twice the tensor, whatever K

	Packed    = "packed"    // the free hosts with the lowest numbers
	Scattered = "scattered" // free servers drawn at random

	Given    = "given"    // as they stand in the file
	Shuffled = "shuffled" // drawn
)

// Spec is a cluster, jobs, and what is compared on them: every policy with every size of memory and every rate of the scale-up network.
type Spec struct {
	Network   placement.Clos
	Server    int       // hosts of a server, which share a scale-up network
	ScaleUp   []float64 // its rates in Gbit/s a host; 0 is none
	Units     []int     // groups that a switch has memory for; or
	BufferKiB []int     // the memory of a switch, of which a group takes what its window needs
	Payload   int       // bytes of a packet
	Policies  []string
	Routes    string
	Ring      string
	Hosts     string
	Order     string
	Seed      uint64
	Jobs      []Job
}

// Job is a training job, and how many there are of it.
type Job struct {
	Name         string
	Count        int
	Start        float64 // seconds
	Iterations   int
	TP, DP, PP   int
	MicroBatches int
	Model        Model
}

// Model is what is trained.
type Model struct {
	Parameters               float64
	Layers, Hidden, Sequence int
	Batch                    int // sequences of an iteration, over all replicas
	ElementBytes             float64
	TFLOPS                   float64 // of a GPU
}

// Ranks is the number of GPUs.
func (j *Job) Ranks() int { return j.TP * j.DP * j.PP }

// mostRanks bounds a job, mostJobs a file, mostPayload a packet.
const (
	mostPayload = 4096 // InfiniBand's largest MTU
	mostRanks   = 1 << 16
	mostJobs    = 10_000
)

// Parse reads a file. The error is Problems.
func Parse(file string, content []byte) (*Spec, error) {
	r := &reader{file: file}
	s := &Spec{}
	if body := r.document(content); body != nil {
		at := yamlpos.Pos{Line: 1, Column: 1}
		m := r.mapping("", body, at)
		s.network(m.sub("network", true))
		s.memory(m.sub("memory", true))
		s.Policies = m.words("policies", Policies()...)
		if _, ok := m.nodes["policies"]; !ok {
			s.Policies = Policies()
		}
		s.Routes, s.Ring = m.word("routes", Balanced, ECMP), m.word("ring", Exact, Twice)
		s.Hosts, s.Order = m.word("hosts", Packed, Scattered), m.word("order", Given, Shuffled)
		s.Seed = uint64(m.integer("seed", 0, 1))
		total := 0
		for i, n := range m.list("jobs", true) {
			j := job(r.mapping(fmt.Sprintf("jobs[%d]", i), n, yamlpos.Of(n)), s)
			total += j.Count
			s.Jobs = append(s.Jobs, j)
		}
		if total > mostJobs {
			r.bad(m.at, "%d jobs: at most %d are simulated", total, mostJobs)
		}
		m.done()
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return 1000*(a.Line-b.Line) + a.Column - b.Column })
		return nil, r.problems
	}
	return s, nil
}

func (s *Spec) network(m *mapping) {
	s.Network = placement.Clos{Down: m.integers("down", 1, true), Up: m.integers("up", 1, false), Mbps: int(1000 * m.number("gbps", 0.001, needed())),
		HopRTT: time.Duration(1000 * m.number("hop_rtt_us", 0.001, 1))}
	s.Server = m.integer("server", 0, 0)
	s.ScaleUp = m.numbers("scale_up_gbps", 0, false)
	if len(s.ScaleUp) == 0 {
		s.ScaleUp = []float64{0}
	}
	if len(m.r.problems) == 0 {
		shape := s.Network
		shape.Engine = s.engine(0, 0)
		if _, err := shape.Network(); err != nil {
			m.r.bad(m.at, "network: %v", err)
		}
	}
	if slices.ContainsFunc(s.ScaleUp, func(v float64) bool { return v > 0 }) && s.Server < 2 {
		m.r.bad(m.at, "network.server is %d: a scale-up network joins at least 2 hosts", s.Server)
	}
	m.done()
}

func (s *Spec) memory(m *mapping) {
	s.Units, s.BufferKiB = m.integers("units", 1, false), m.integers("buffer_kib", 1, false)
	s.Payload = m.integer("payload", 4, 4096)
	if s.Payload%4 != 0 || s.Payload > mostPayload {
		m.r.bad(m.at, "memory.payload is %d bytes: it must be a multiple of 4, at most %d", s.Payload, mostPayload)
	}
	if (len(s.Units) > 0) == (len(s.BufferKiB) > 0) {
		m.r.bad(m.at, "memory has both units and buffer_kib, or none of them: one is needed")
	}
	m.done()
}

func job(m *mapping, s *Spec) Job {
	j := Job{Count: m.integer("count", 1, 1), Start: m.number("start_s", 0, 0), Iterations: m.integer("iterations", 1, needed()), TP: m.integer("tp", 1, 1),
		DP: m.integer("dp", 1, 1), PP: m.integer("pp", 1, 1), MicroBatches: m.integer("micro_batches", 1, 1)}
	j.Name = m.name
	if n, ok := m.get("name", false); ok {
		j.Name = text(n)
	}
	k := m.sub("model", true)
	j.Model = Model{Parameters: 1e9 * k.number("parameters_b", 1e-9, needed()), Layers: k.integer("layers", 1, needed()), Hidden: k.integer("hidden", 1, needed()),
		Sequence: k.integer("sequence", 1, needed()), Batch: k.integer("batch", 1, needed()), ElementBytes: k.number("element_bytes", 0.5, needed()),
		TFLOPS: k.number("tflops", 1e-6, needed())}
	k.done()
	m.done()
	hosts := 1.0
	for _, d := range s.Network.Down {
		hosts *= float64(d)
	}
	switch ranks := float64(j.TP) * float64(j.DP) * float64(j.PP); {
	case ranks > mostRanks || ranks > hosts:
		m.r.bad(m.at, "job %s has tp·dp·pp = %d·%d·%d = %g ranks: the network has %g hosts", j.Name, j.TP, j.DP, j.PP, ranks, hosts)
	case j.PP > j.Model.Layers:
		m.r.bad(m.at, "job %s has %d stages for %d layers", j.Name, j.PP, j.Model.Layers)
	}
	return j
}

// engine is what every switch has: memory for so many groups, or so many KiB. Neither is memory without end.
func (s *Spec) engine(units, kib int) *contract.Params {
	p := &contract.Params{Name: "flows", Mode: 2, MTUBytes: s.Payload, DTypes: []string{contract.FP32}, Ops: []string{contract.SUM}, Accumulate: contract.InPlace,
		Groups: endless, Members: endless, Ports: endless, BufferBytes: kib * 1024}
	if units > 0 {
		p.Groups = units
	}
	if kib == 0 {
		p.BufferBytes = s.Payload * endless
	}
	return p
}

// endless is a number of which nobody runs out.
const endless = math.MaxInt32
