// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strings"

	"incforge/network/topology"
)

// chart draws a message sequence chart: a column a node, in the order of the tree, a row an event. Arrows stand where packets arrive; what
// a node sends because of it is said at the end of the row.
type chart struct {
	topo   *topology.Topology
	column []int // of a node, in characters
	width  int
	notes  []string
}

const columnWidth = 13

// newChart lays out the columns: each switch stands among its children.
func newChart(t *topology.Topology) *chart {
	c := &chart{topo: t, column: make([]int, len(t.Nodes))}
	at := 2
	var place func(n int)
	place = func(n int) {
		children := t.Nodes[n].Children
		for _, x := range children[:len(children)/2] {
			place(x)
		}
		c.column[n] = at
		at += columnWidth
		for _, x := range children[len(children)/2:] {
			place(x)
		}
	}
	place(0)
	c.width = at - columnWidth + 2
	return c
}

// lines is a row in which nothing happens.
func (c *chart) lines() []byte {
	row := []byte(strings.Repeat(" ", c.width))
	for _, x := range c.column {
		row[x] = '|'
	}
	return row
}

// head names the columns.
func (c *chart) head() string {
	row := []byte(strings.Repeat(" ", c.width))
	for n, x := range c.column {
		copy(row[x-1:], c.topo.Name(n))
	}
	return strings.TrimRight(string(row), " ")
}

// note keeps something to be said of a node at the next flush.
func (c *chart) note(n int, text string) {
	c.notes = append(c.notes, c.topo.Name(n)+" "+text)
}

// flush is a row with the notes.
func (c *chart) flush() string {
	var b strings.Builder
	for _, n := range c.notes {
		fmt.Fprintf(&b, "%s  %s\n", c.lines(), n)
	}
	c.notes = nil
	return b.String()
}

// row draws one event.
func (c *chart) row(h *Happening) string {
	row := c.lines()
	var note []string
	if h.from >= 0 {
		a, b := c.column[h.from], c.column[h.node]
		low, high := min(a, b), max(a, b)
		for x := low + 1; x < high; x++ {
			row[x] = '-'
		}
		head, tail := byte('>'), high-1
		if b < a {
			head, tail = '<', low+1
		}
		if h.step.Do == MoveLose {
			head = 'x'
		}
		row[tail] = head
		label := h.packet.String()
		copy(row[low+1+(high-low-1-len(label))/2:], label)
		if h.step.Do != MoveDeliver {
			note = append(note, h.step.Do)
		}
		if h.step.Index > 0 {
			note = append(note, fmt.Sprintf("overtaking %d", h.step.Index))
		}
	} else {
		row[c.column[h.node]] = '*'
		text := h.step.Do
		if h.step.Action != "" {
			text = h.step.Action
			if h.step.Do == MoveEarly {
				text = "early " + text
			}
		}
		note = append(note, c.topo.Name(h.node)+" "+text)
	}
	if len(h.sent) > 0 {
		var to []string
		for _, s := range h.sent {
			to = append(to, fmt.Sprintf("%s to %s", s.packet, c.topo.Name(s.to)))
		}
		note = append(note, c.topo.Name(h.node)+" sends "+strings.Join(to, ", "))
	}
	return strings.TrimRight(string(row)+"  "+strings.Join(note, "; "), " ") + "\n"
}
