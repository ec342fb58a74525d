// SPDX-License-Identifier: Apache-2.0

// Package ctrl is the control plane's side of the registers: it finds them by name in the manifest and programs groups and
// endpoints. The same code drives RTL, netlist and reference.
package ctrl

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/verify/dut"
)

// Driver reads and writes registers by name.
type Driver struct {
	dut dut.DUT
	man *contract.Manifest
}

// New makes a driver for d, which was generated with m.
func New(d dut.DUT, m *contract.Manifest) *Driver { return &Driver{dut: d, man: m} }

// Read reads element i of a register.
func (d *Driver) Read(name string, i int) (uint32, error) {
	a, err := d.man.Addr(name, i)
	if err != nil {
		return 0, err
	}
	v, err := d.dut.Read(a)
	if err != nil {
		return 0, fmt.Errorf("read %s[%d]: %w", name, i, err)
	}
	return v, nil
}

// Write writes element i of a register.
func (d *Driver) Write(name string, i int, v uint32) error {
	a, err := d.man.Addr(name, i)
	if err != nil {
		return err
	}
	if err := d.dut.Write(a, v); err != nil {
		return fmt.Errorf("write %s[%d]: %w", name, i, err)
	}
	return nil
}

// value is one register write of a list.
type value struct {
	name string
	v    uint32
}

func (d *Driver) writeAll(i int, list []value) error {
	for _, w := range list {
		if err := d.Write(w.name, i, w.v); err != nil {
			return err
		}
	}
	return nil
}

// SetEndpoint writes the record of table index ei, valid last.
func (d *Driver) SetEndpoint(ei int, e inc.Endpoint) error {
	ctrl := uint32(e.Port) << 8
	if e.Host {
		ctrl |= 2
	}
	local, remote := e.LocalMAC.Uint64(), e.RemoteMAC.Uint64()
	list := []value{
		{"EP_LOCAL_QPN", e.LocalQPN}, {"EP_REMOTE_QPN", e.RemoteQPN},
		{"EP_LOCAL_IP", e.LocalIP.Uint32()}, {"EP_REMOTE_IP", e.RemoteIP.Uint32()},
		{"EP_LOCAL_MAC_LO", uint32(local)}, {"EP_LOCAL_MAC_HI", uint32(local >> 32)},
		{"EP_REMOTE_MAC_LO", uint32(remote)}, {"EP_REMOTE_MAC_HI", uint32(remote >> 32)},
		{"EP_HEADER", uint32(e.UDPSourcePort) | uint32(e.TTL)<<16 | uint32(e.TOS)<<24},
	}
	if e.Valid {
		ctrl |= 1
	}
	return d.writeAll(ei, append(list, value{"EP_CTRL", ctrl}))
}

// SetGroup writes a group's settings; the group should be disabled.
func (d *Driver) SetGroup(g int, s inc.Group) error {
	parent := uint32(s.Parent)
	if s.HasParent {
		parent |= 1 << 31
	}
	coll := uint32(s.Collective) | uint32(s.Op)<<8 | uint32(s.DType)<<16
	if s.BigEndian {
		coll |= 1 << 24
	}
	if s.InBand {
		coll |= 1 << 25
	}
	if s.RootSends {
		coll |= 1 << 26
	}
	list := []value{
		{"GROUP_START", uint32(s.Start)}, {"GROUP_SLOTS", uint32(s.SlotBase) | uint32(s.Log2N)<<24},
		{"GROUP_IN_MASK", s.InMask}, {"GROUP_OUT_MASK", s.OutMask}, {"GROUP_ACK_MASK", s.AckMask},
		{"GROUP_PARENT", parent}, {"GROUP_COLLECTIVE", coll},
	}
	if d.man.Params.Mode == 3 {
		list = append(list, value{"GROUP_PIPE", uint32(s.PipeSlots)})
	}
	if !s.InBand {
		return d.writeAll(g, list) // it does not ask where the root ranks are
	}
	const perRegister, bits = 5, 6 // routes in a register GROUP_ROUTE_i; each is endpoint and valid
	var routes [(inc.Roots + perRegister - 1) / perRegister]uint32
	for root, to := range s.Route {
		v := uint32(to.Endpoint)
		if to.Valid {
			v |= 1 << 5
		}
		routes[root/perRegister] |= v << (root % perRegister * bits)
	}
	for i, v := range routes {
		list = append(list, value{fmt.Sprintf("GROUP_ROUTE_%d", i), v})
	}
	return d.writeAll(g, list)
}

// SetPipes writes PIPE_CTRL and PIPE_TIMEOUT of a Mode III engine; the time-out is in microseconds.
func (d *Driver) SetPipes(c inc.PipeCtrl, timeout uint16) error {
	v := uint32(c.RNRTimer)
	if c.RNR {
		v |= 1 << 8
	}
	if c.CNP {
		v |= 1 << 9
	}
	return d.writeAll(0, []value{{"PIPE_CTRL", v}, {"PIPE_TIMEOUT", uint32(timeout)}})
}

// busyReads bounds the wait for a group's start; a start visits every slot once, so buffers of any size fit.
const busyReads = 100000

// Enable starts a group and waits until it is no longer busy. It reports whether the group is enabled then.
func (d *Driver) Enable(g int) (bool, error) {
	if err := d.Write("GROUP_CTRL", g, 1); err != nil {
		return false, err
	}
	return d.waitStarted(g)
}

// ResetGroup drains and restarts an enabled group and waits until it is done.
func (d *Driver) ResetGroup(g int) error {
	if err := d.Write("GROUP_CTRL", g, 3); err != nil {
		return err
	}
	_, err := d.waitStarted(g)
	return err
}

// Disable stops a group.
func (d *Driver) Disable(g int) error { return d.Write("GROUP_CTRL", g, 0) }

func (d *Driver) waitStarted(g int) (bool, error) {
	for range busyReads {
		s, err := d.Read("GROUP_STATUS", g)
		if err != nil {
			return false, err
		}
		if s&1 == 0 {
			return s&2 != 0, nil
		}
	}
	return false, fmt.Errorf("group %d is still busy after %d reads of GROUP_STATUS", g, busyReads)
}

// Counters reads all counters.
func (d *Driver) Counters() (map[string]uint32, error) {
	all := make(map[string]uint32, len(d.man.Counters))
	for i, name := range d.man.Counters {
		v, err := d.Read("COUNTER", i)
		if err != nil {
			return nil, err
		}
		all[name] = v
	}
	return all, nil
}
