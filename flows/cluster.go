// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"fmt"
	"math"

	"incforge/control/placement"
	"incforge/internal/splitmix"
)

// cluster is a folded Clos network with the ways through it.
type cluster struct {
	shape placement.Clos
	net   *placement.Network
	// By level from 1: switches of a pod, hosts below a pod, number of the first switch and of the first link.
	width, below, first, link []int
	*links
	// next numbers the choices of ECMP.
	seed, next uint64
}

// newCluster makes the network. Its engines are those of the shape.
func newCluster(shape placement.Clos, seed uint64) (*cluster, error) {
	net, err := shape.Network()
	if err != nil {
		return nil, fmt.Errorf("flows: %w", err)
	}
	c := &cluster{shape: shape, net: net, seed: seed, width: []int{1}, below: []int{1}, first: []int{0}, link: []int{0}}
	node, links := shape.Hosts(), 0
	for level, down := range shape.Down {
		width := c.width[level]
		if level > 0 {
			width *= shape.Up[level-1]
		}
		c.width, c.below = append(c.width, width), append(c.below, c.below[level]*down)
		c.first, c.link = append(c.first, node), append(c.link, links)
		switches := shape.Hosts() / c.below[level+1] * width
		node += switches
		links += switches * down
	}
	rates := make([]float64, 2*len(net.Links))
	for i, l := range net.Links {
		rates[2*i], rates[2*i+1] = bytesPerSecond(l.Mbps), bytesPerSecond(l.Mbps)
	}
	c.links = newLinks(rates)
	return c, nil
}

func bytesPerSecond(mbps int) float64 { return float64(mbps) * 1e6 / 8 }

// Directions of a link.
const (
	down = iota
	up
)

// upLink is the link from a host's side of the tree to the switch of a level that has the place s in its pod.
func (c *cluster) upLink(host, level, s int) int {
	pod := host / c.below[level]
	child := host % c.below[level] / c.below[level-1]
	return c.link[level] + (pod*c.width[level]+s)*c.shape.Down[level-1] + child
}

// meet is the lowest level whose pods hold both hosts.
func (c *cluster) meet(a, b int) int {
	level := 1
	for a/c.below[level] != b/c.below[level] {
		level++
	}
	return level
}

// way appends the directed links from one host to another over the switch of a level that has the place s in its pod.
func (c *cluster) way(to []int, a, b, level, s int) []int {
	for l := level; l > 0; l-- {
		to = append(to, 2*c.upLink(a, l, s)+up, 2*c.upLink(b, l, s)+down)
		if l > 1 {
			s /= c.shape.Up[l-2]
		}
	}
	return to
}

// route chooses a way between two hosts: of those with the fewest flows on their fullest link the one with the fewest flows in all, of equals
// the first; or, as ECMP does, any. load counts what will be on the links beside the flows there are.
func (c *cluster) route(a, b int, routes string, load map[int]float64) []int {
	level := c.meet(a, b)
	if routes == ECMP {
		c.next++
		return c.way(nil, a, b, level, int(splitmix.At(c.seed, c.next)%uint64(c.width[level])))
	}
	var best, scratch []int
	least, fewest := math.Inf(1), math.Inf(1)
	for s := range c.width[level] {
		scratch = c.way(scratch[:0], a, b, level, s)
		most, sum := 0.0, 0.0
		for _, l := range scratch {
			n := float64(len(c.on[l])) + load[l]
			most, sum = max(most, n), sum+n
		}
		if most < least || most == least && sum < fewest {
			least, fewest = most, sum
			best = append(best[:0], scratch...)
		}
	}
	return best
}

// ring is what a ring of hosts in that order uses. Hops inside a server take the scale-up network, if there is one.
func (c *cluster) ring(hosts []int, server int, routes string) []use {
	load := map[int]float64{}
	var uses []use
	for i, a := range hosts {
		b := hosts[(i+1)%len(hosts)]
		if server > 0 && a/server == b/server {
			continue
		}
		for _, l := range c.route(a, b, routes, load) {
			if load[l]++; load[l] == 1 {
				uses = append(uses, use{link: l})
			}
		}
	}
	for i := range uses {
		uses[i].times = load[uses[i].link]
	}
	return uses
}

// tree is what a tree of engines uses: all its links, in both directions.
func (c *cluster) tree(t placement.Tree, node map[string]int, at map[placement.End]int) []use {
	var uses []use
	for _, sw := range t.Switches {
		for _, child := range sw.Children {
			l := at[placement.End{Node: node[sw.Name], Port: child.Port}]
			uses = append(uses, use{2*l + down, 1}, use{2*l + up, 1})
		}
	}
	return uses
}
