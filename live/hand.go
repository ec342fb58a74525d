// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"incforge/inc"
	"incforge/live/groups"
)

// Hand is how an agent that runs beside a switch (Switch.Agent) reaches it: registers one access at a time, each between two steps of the engine, and
// the ports. When the switch has ended every access fails.
type Hand struct{ l *loop }

// Read reads a register.
func (h *Hand) Read(addr uint32) (value uint32, err error) {
	err = h.l.do(context.Background(), func() (err error) {
		value, err = h.l.eng.Read(addr)
		return err
	})
	return value, err
}

// Write writes a register.
func (h *Hand) Write(addr, value uint32, strobes uint8) error {
	return h.l.do(context.Background(), func() error { return h.l.eng.Write(addr, value, strobes) })
}

// Installed tells the switch of a group that its engine has now, by its record: so that standstills are seen and explained.
func (h *Hand) Installed(record int, set inc.Group, ends []inc.Endpoint) {
	g := groups.Group{Index: record, Set: set, Ends: map[int]inc.Endpoint{}}
	for e, end := range ends {
		g.Ends[e] = end
	}
	h.tell(func() { h.l.setup.Put(g) }, record)
}

// Removed tells it that the record is free.
func (h *Hand) Removed(record int) {
	h.tell(func() { h.l.setup.Remove(record) }, record)
}

// tell has the loop do what cannot fail. One that has ended need not know.
func (h *Hand) tell(what func(), record int) {
	_ = h.l.do(context.Background(), func() error {
		h.l.watch.forget(record)
		what()
		return nil
	})
}

// Down are the ports that carry nothing, in order: those that nobody is at, and those that were taken down.
func (h *Hand) Down() (all []int) {
	for n := range h.l.man.Params.Ports {
		if p := h.l.ports[n]; p == nil || p.isDown() || p.sock != nil && !p.sock.Heard(p.counts.Peer) {
			all = append(all, n)
		}
	}
	return all
}

// setPort takes a port down, or up again.
func (r *run) setPort(req *http.Request, down bool) (any, error) {
	for _, l := range r.loops {
		if l.sw.Name != req.PathValue("switch") {
			continue
		}
		n, err := strconv.Atoi(req.PathValue("port"))
		p := l.ports[n]
		if err != nil || p == nil {
			return nil, refusef(http.StatusNotFound, "switch %s: there is no port %q with a socket or a link", l.sw.Name, req.PathValue("port"))
		}
		if p.down.Swap(down) != down {
			r.o.Log.Infof("live: %sport %d is %s", r.of(l), n, map[bool]string{true: "down", false: "up"}[down])
		}
		return p.report(), nil
	}
	return nil, refusef(http.StatusNotFound, "there is no switch %q", req.PathValue("switch"))
}

// isDown tells whether the port, or the other end of its link, was taken down.
func (p *port) isDown() bool { return p.down.Load() || p.far != nil && p.far.down.Load() }

// report is the port's counts and state now.
func (p *port) report() PortReport {
	r := p.counts.load()
	r.Down = p.isDown()
	return r
}

// managed refuses changes of groups by others where an agent has them.
func (l *loop) managed() error {
	if l.sw.Agent == nil {
		return nil
	}
	return refusef(http.StatusConflict, "%w", fmt.Errorf("the groups of switch %s are its agent's", l.sw.Name))
}
