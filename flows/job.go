// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"fmt"

	"incforge/control/placement"
)

// kind is what a phase of an iteration does. The phases of an iteration follow each other in this order.
type kind int

const (
	compute  kind = iota
	tensor        // AllReduce of activations, in each group of tensor parallelism
	pipeline      // activations and gradients between stages
	data          // AllReduce of gradients, in each group of data parallelism
	kinds
)

// group is hosts that do a collective together, or one that sends to another.
type group struct {
	kind  kind
	name  string
	hosts []int
	bytes float64 // of the tensor, all of an iteration together
	// tree is where it has engines; nil if it has none.
	tree *placement.Tree
	uses []use
	cap  float64
	// switches are those of the tree, by index, in the order in which they are locked; slots is what each must have free.
	switches []int
	slots    []int
}

// running is a job on its hosts.
type running struct {
	*Job
	id     int // in the order of the queue
	name   string
	hosts  []int
	groups [kinds][]*group

	started, ended float64
	iteration      int
	phase          kind
	open           int // flows and timers of the phase that are not over
	// Collectives of data and tensor parallelism, by what they took.
	onTrees, onRings, inServers int
}

// floating is the time that an iteration computes: 6 operations a parameter and token, forward and backward. With stages, micro batches fill
// and drain them: of m micro batches over p stages each stage waits for p−1.
func (j *Job) floating() float64 {
	m := j.Model
	tokens := float64(m.Batch) * float64(m.Sequence)
	return 6 * m.Parameters * tokens / (float64(j.Ranks()) * m.TFLOPS * 1e12) * float64(j.MicroBatches+j.PP-1) / float64(j.MicroBatches)
}

// activations are the bytes of one layer's activations of the sequences that a replica has.
func (j *Job) activations() float64 {
	m := j.Model
	return float64(m.Batch) / float64(j.DP) * float64(m.Sequence) * float64(m.Hidden) * m.ElementBytes
}

// setUp gives a job its hosts. Rank (stage·DP + replica)·TP + t has the host of that number.
func (r *running) setUp(hosts []int) {
	r.hosts = hosts
	at := func(stage, replica, t int) int { return hosts[(stage*r.DP+replica)*r.TP+t] }
	add := func(k kind, bytes float64, name string, members ...int) {
		if len(members) > 1 {
			r.groups[k] = append(r.groups[k], &group{kind: k, name: r.name + "/" + name, hosts: members, bytes: bytes})
		}
	}
	for stage := range r.PP {
		layers := r.Model.Layers*(stage+1)/r.PP - r.Model.Layers*stage/r.PP
		for replica := range r.DP {
			var members []int
			for t := range r.TP {
				members = append(members, at(stage, replica, t))
			}
			// Megatron's scheme: two AllReduces a layer forward, two backward.
			add(tensor, 4*float64(layers)*r.activations(), fmt.Sprintf("tp%d.%d", stage, replica), members...)
		}
		for t := range r.TP {
			var members []int
			for replica := range r.DP {
				members = append(members, at(stage, replica, t))
			}
			add(data, r.Model.Parameters/float64(r.TP*r.PP)*r.Model.ElementBytes, fmt.Sprintf("dp%d.%d", stage, t), members...)
			for replica := range r.DP {
				if stage > 0 {
					a, b := at(stage-1, replica, t), at(stage, replica, t)
					add(pipeline, r.activations(), fmt.Sprintf("pp%d.%d.%d", stage, replica, t), a, b)
					add(pipeline, r.activations(), fmt.Sprintf("pp%d.%d.%d back", stage, replica, t), b, a)
				}
			}
		}
	}
}

// inServer tells that a group needs no network but the scale-up one.
func (g *group) inServer(server int) bool {
	for _, h := range g.hosts {
		if server == 0 || h/server != g.hosts[0]/server {
			return false
		}
	}
	return true
}

// share is what a rank of a ring sends, as a multiple of the tensor.
func (g *group) share(ring string) float64 {
	if ring == Twice {
		return 2
	}
	k := float64(len(g.hosts))
	return 2 * (k - 1) / k
}
