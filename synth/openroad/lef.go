// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"bytes"
	"fmt"
)

// rect is a box in nm.
type rect struct{ x0, y0, x1, y1 int }

func (r rect) String() string {
	return fmt.Sprintf("RECT %s %s %s %s ;", um(r.x0), um(r.y0), um(r.x1), um(r.y1))
}

// signals returns the boxes of a macro's signal pins, in their order.
func (m macro) signals(p Platform) []rect {
	next := map[bool]int{}
	var boxes []rect
	for _, pin := range m.pins {
		y := (firstPin + next[pin.right]*m.step) * p.pins.pitch
		next[pin.right]++
		r := rect{0, y - p.pins.width/2, p.pinLength, y + p.pins.width/2}
		if pin.right {
			r.x0, r.x1 = m.width-p.pinLength, m.width
		}
		boxes = append(boxes, r)
	}
	return boxes
}

// bars returns the straps of a macro, ground first, supply and ground in turn. They keep clear of the signal pins.
func (m macro) bars(p Platform) (ground, supply, between []rect) {
	side := p.pinLength + p.space
	if p.power.horizontal {
		for i, y := 0, p.power.step/2; y+p.power.width <= m.height-p.space; i, y = i+1, y+p.power.step {
			r := rect{side, y, m.width - side, y + p.power.width}
			ground, supply = put(i, r, ground, supply)
			if top := y + p.power.step - p.space; top <= m.height-p.space {
				between = append(between, rect{side, y + p.power.width + p.space, m.width - side, top})
			}
		}
		return ground, supply, between
	}
	for i, x := 0, side; x+p.power.width <= m.width-side; i, x = i+1, x+p.power.step {
		r := rect{x, p.space, x + p.power.width, m.height - p.space}
		ground, supply = put(i, r, ground, supply)
		if right := x + p.power.step - p.space; right <= m.width-side {
			between = append(between, rect{x + p.power.width + p.space, p.space, right, m.height - p.space})
		}
	}
	return ground, supply, between
}

func put(i int, r rect, even, odd []rect) (_, _ []rect) {
	if i%2 == 0 {
		return append(even, r), odd
	}
	return even, append(odd, r)
}

// Names of the power pins, which the platforms' power grids look for.
const (
	supplyPin = "VDD"
	groundPin = "VSS"
)

// lef returns the abstract of a macro: outline, pins and what is blocked.
func (m macro) lef(p Platform) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Abstract of %s for %s. Predictive, %s; no layout belongs to it.", m.Name(), p.Name, p.basis)
	line("VERSION 5.8 ;\nBUSBITCHARS \"[]\" ;\nDIVIDERCHAR \"/\" ;\n")
	line("MACRO %s\n  CLASS BLOCK ;\n  ORIGIN 0 0 ;\n  FOREIGN %[1]s 0 0 ;\n  SIZE %[2]s BY %[3]s ;\n  SYMMETRY X Y R90 ;", m.Name(), um(m.width), um(m.height))
	boxes := m.signals(p)
	for i, pin := range m.pins {
		direction, use := "OUTPUT", "SIGNAL"
		if pin.input {
			direction = "INPUT"
		}
		if pin.clock {
			use = "CLOCK"
		}
		line("  PIN %s\n    DIRECTION %s ;\n    USE %s ;\n    PORT\n      LAYER %s ;\n        %s\n    END\n  END %[1]s", pin.name, direction, use, p.pins.name, boxes[i])
	}
	ground, supply, between := m.bars(p)
	for _, net := range []struct {
		name, use string
		boxes     []rect
	}{{supplyPin, "POWER", supply}, {groundPin, "GROUND", ground}} {
		line("  PIN %s\n    DIRECTION INOUT ;\n    USE %s ;\n    PORT\n      LAYER %s ;", net.name, net.use, p.power.layer)
		for _, r := range net.boxes {
			line("        %s", r)
		}
		line("    END\n  END %s", net.name)
	}
	line("  OBS")
	for _, name := range p.below {
		line("    LAYER %s ;\n      %s", name, rect{0, 0, m.width, m.height})
	}
	if side := p.pinLength + p.space; p.pins.name != p.power.layer {
		line("    LAYER %s ;\n      %s", p.pins.name, rect{side, 0, m.width - side, m.height})
	}
	line("    LAYER %s ;", p.power.layer)
	for _, r := range between {
		line("      %s", r)
	}
	line("  END\nEND %s\n\nEND LIBRARY", m.Name())
	return b.Bytes()
}
