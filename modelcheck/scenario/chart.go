// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"cmp"
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

// row draws one event.
func (c *chart) row(h *Happening) string {
	row := c.lines()
	var notes []string
	if h.from >= 0 {
		notes = c.arrow(row, h)
	} else {
		row[c.column[h.node]] = '*'
		text := cmp.Or(h.step.Action, h.step.Do)
		if h.step.Action != "" && h.step.Do == MoveEarly {
			text = "early " + text
		}
		notes = []string{c.topo.Name(h.node) + " " + text}
	}
	var sends []string
	for _, s := range h.sent {
		sends = append(sends, fmt.Sprintf("%s to %s", s.packet, c.topo.Name(s.to)))
	}
	if len(sends) > 0 {
		notes = append(notes, c.topo.Name(h.node)+" sends "+strings.Join(sends, ", "))
	}
	return strings.TrimRight(string(row)+"  "+strings.Join(notes, "; "), " ") + "\n"
}

// arrow draws a packet that arrives, or is lost, and gives what is special about it.
func (c *chart) arrow(row []byte, h *Happening) (notes []string) {
	low, high := c.column[h.from], c.column[h.node]
	head, tip := byte('>'), high-1
	if high < low {
		low, high = high, low
		head, tip = '<', low+1
	}
	if h.step.Do == MoveLose {
		head = 'x'
	}
	label := h.packet.String()
	between := row[low+1 : high]
	copy(between, bytes.Repeat([]byte("-"), len(between)))
	row[tip] = head
	copy(between[(len(between)-len(label))/2:], label)
	if h.step.Do != MoveDeliver {
		notes = append(notes, h.step.Do)
	}
	if h.step.Index > 0 {
		notes = append(notes, fmt.Sprintf("overtaking %d", h.step.Index))
	}
	return notes
}
