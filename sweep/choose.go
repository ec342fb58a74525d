// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"math"
	"slices"
)

// top: a sixth of the chosen points may be among the dearest sixth of all, or have the most lanes.
const top = 6

// choose picks points to run in full, n with those that are had already: the smallest first, and then always the one that is farthest from
// all that were picked, as long as not too many of the dearest are among them. Numbers are those of points.
func choose(points []Point, n int, had map[int]bool) []int {
	var in []int
	axes := 0
	for i := range points {
		if points[i].Why == "" {
			in = append(in, i)
			axes = len(points[i].At)
		}
	}
	if len(in) == 0 {
		return nil
	}
	width := make([]int, axes)
	for _, i := range in {
		for a, v := range points[i].At {
			width[a] = max(width[a], v)
		}
	}
	// The ends of an axis lie as far apart as it has bits: of twelve values more than two are wanted.
	distance := func(i, j int) float64 {
		d := 0.0
		for a := range axes {
			if width[a] > 0 {
				d += math.Log2(float64(width[a]+1)) * math.Abs(float64(points[i].At[a]-points[j].At[a])) / float64(width[a])
			}
		}
		return d
	}
	cost := func(i int) float64 { return points[i].design["lanes"] * points[i].design["bus_bytes"] } // about how long the tools take
	var costs, lanes []float64
	for _, i := range in {
		costs, lanes = append(costs, cost(i)), append(lanes, points[i].design["lanes"])
	}
	slices.Sort(costs)
	slices.Sort(lanes)
	much, most := costs[len(costs)-1-len(costs)/top], lanes[len(lanes)-1]
	several := len(slices.Compact(slices.Clone(lanes))) > 2
	dear := func(i int) bool { return cost(i) > much || several && points[i].design["lanes"] == most }
	var picked []int
	many := 0
	take := func(i int) {
		picked = append(picked, i)
		if dear(i) {
			many++
		}
	}
	for _, i := range in {
		if had[i] {
			take(i)
		}
	}
	for len(picked) < min(n, len(in)) {
		best, far := -1, -1.0
		for _, i := range in {
			if slices.Contains(picked, i) || dear(i) && many >= max(n/top, 1) && slices.ContainsFunc(in, func(j int) bool { return !dear(j) && !slices.Contains(picked, j) }) {
				continue
			}
			d := math.Inf(1)
			for _, j := range picked {
				d = min(d, distance(i, j))
			}
			if len(picked) == 0 {
				d = 0
			}
			if d > far+1e-9 || d > far-1e-9 && cost(i) < cost(best) {
				best, far = i, d
			}
		}
		take(best)
	}
	return slices.DeleteFunc(picked, func(i int) bool { return had[i] })
}
