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

// Get reads a field of element i of a register.
func (d *Driver) Get(register string, i int, name string) (uint32, error) {
	at, err := d.man.Registers.Field(register, name)
	if err != nil {
		return 0, err
	}
	v, err := d.Read(register, i)
	return at.Get(v), err
}

// Set writes element i of a register: one field as given, the others 0.
func (d *Driver) Set(register string, i int, name string, v uint32) error {
	return d.writeAll(i, []setting{set(register, field{name, v})})
}

// field is the value of a field in a register write.
type field struct {
	name string
	v    uint32
}

// flag is a field of one bit.
func flag(name string, v bool) field {
	if v {
		return field{name, 1}
	}
	return field{name, 0}
}

// setting is one register write of a list. Fields that are not named are 0.
type setting struct {
	register string
	fields   []field
}

// set is the setting of a register by its fields.
func set(register string, fields ...field) setting { return setting{register, fields} }

// value is a register's value with these fields in place.
func (d *Driver) value(register string, fields ...field) (uint32, error) {
	var v uint32
	for _, f := range fields {
		at, err := d.man.Registers.Field(register, f.name)
		if err != nil {
			return 0, err
		}
		v |= at.Put(f.v)
	}
	return v, nil
}

func (d *Driver) writeAll(i int, list []setting) error {
	for _, s := range list {
		v, err := d.value(s.register, s.fields...)
		if err != nil {
			return err
		}
		if err := d.Write(s.register, i, v); err != nil {
			return err
		}
	}
	return nil
}

// SetEndpoint writes the record of table index ei, valid last.
func (d *Driver) SetEndpoint(ei int, e inc.Endpoint) error {
	local, remote := e.LocalMAC.Uint64(), e.RemoteMAC.Uint64()
	return d.writeAll(ei, []setting{
		set("EP_LOCAL_QPN", field{"qpn", e.LocalQPN}), set("EP_REMOTE_QPN", field{"qpn", e.RemoteQPN}),
		set("EP_LOCAL_IP", field{"address", e.LocalIP.Uint32()}), set("EP_REMOTE_IP", field{"address", e.RemoteIP.Uint32()}),
		set("EP_LOCAL_MAC_LO", field{"octets", uint32(local)}), set("EP_LOCAL_MAC_HI", field{"octets", uint32(local >> 32)}),
		set("EP_REMOTE_MAC_LO", field{"octets", uint32(remote)}), set("EP_REMOTE_MAC_HI", field{"octets", uint32(remote >> 32)}),
		set("EP_HEADER", field{"udp_source_port", uint32(e.UDPSourcePort)}, field{"ttl", uint32(e.TTL)}, field{"tos", uint32(e.TOS)}),
		set("EP_CTRL", flag("valid", e.Valid), flag("host", e.Host), field{"port", uint32(e.Port)}),
	})
}

// SetGroup writes a group's settings; the group should be disabled.
func (d *Driver) SetGroup(g int, s inc.Group) error {
	list := []setting{
		set("GROUP_START", field{"psn", uint32(s.Start)}), set("GROUP_SLOTS", field{"base", uint32(s.SlotBase)}, field{"log2_n", uint32(s.Log2N)}),
		set("GROUP_IN_MASK", field{"mask", s.InMask}), set("GROUP_OUT_MASK", field{"mask", s.OutMask}), set("GROUP_ACK_MASK", field{"mask", s.AckMask}),
		set("GROUP_PARENT", field{"endpoint", uint32(s.Parent)}, flag("valid", s.HasParent)),
		set("GROUP_COLLECTIVE", field{"collective", uint32(s.Collective)}, field{"op", uint32(s.Op)}, field{"dtype", uint32(s.DType)},
			flag("big_endian", s.BigEndian), flag("in_band", s.InBand), flag("root_sends", s.RootSends)),
	}
	if d.man.Params.Mode == 3 {
		list = append(list, set("GROUP_PIPE", field{"n", uint32(s.PipeSlots)}))
	}
	if !s.InBand {
		return d.writeAll(g, list) // it does not ask where the root ranks are
	}
	for root, to := range s.Route {
		register, endpoint, valid := contract.RouteOf(root)
		if last := &list[len(list)-1]; last.register != register {
			list = append(list, set(register))
		}
		last := &list[len(list)-1]
		last.fields = append(last.fields, field{endpoint, uint32(to.Endpoint)}, flag(valid, to.Valid))
	}
	return d.writeAll(g, list)
}

// SetOptions writes CTRL.
func (d *Driver) SetOptions(gapNAK, foreignBypass bool) error {
	return d.writeAll(0, []setting{set("CTRL", flag("gap_nak", gapNAK), flag("foreign_bypass", foreignBypass))})
}

// SetPipeCtrl writes PIPE_CTRL of a Mode III engine.
func (d *Driver) SetPipeCtrl(c inc.PipeCtrl) error {
	return d.writeAll(0, []setting{set("PIPE_CTRL", field{"rnr_timer", uint32(c.RNRTimer)}, flag("rnr", c.RNR), flag("cnp", c.CNP))})
}

// SetPipes writes PIPE_CTRL and PIPE_TIMEOUT of a Mode III engine; the time-out is in microseconds.
func (d *Driver) SetPipes(c inc.PipeCtrl, timeout uint16) error {
	if err := d.SetPipeCtrl(c); err != nil {
		return err
	}
	return d.SetPipeTimeout(timeout)
}

// SetPipeTimeout writes PIPE_TIMEOUT of a Mode III engine, in microseconds.
func (d *Driver) SetPipeTimeout(microseconds uint16) error {
	return d.Set("PIPE_TIMEOUT", 0, "microseconds", uint32(microseconds))
}

// SetIPID writes the identification of all IPv4 headers that the engine makes.
func (d *Driver) SetIPID(id uint16) error { return d.Set("IP_ID", 0, "value", uint32(id)) }

// SetBypassPort says by which port frames leave that came in by port from and are not the engine's.
func (d *Driver) SetBypassPort(from, to int) error {
	return d.Set("BYPASS_PORT", from, "port", uint32(to))
}

// busyReads bounds the wait for a group's start; a start visits every slot once, so buffers of any size fit.
const busyReads = 100000

// Start writes what starts a group and waits for nothing. It changes nothing in a group that is enabled.
func (d *Driver) Start(g int) error { return d.Set("GROUP_CTRL", g, "enable", 1) }

// Enable starts a group and waits until it is no longer busy. It reports whether the group is enabled then.
func (d *Driver) Enable(g int) (bool, error) {
	if err := d.Start(g); err != nil {
		return false, err
	}
	return d.waitStarted(g)
}

// ResetGroup drains and restarts an enabled group and waits until it is done.
func (d *Driver) ResetGroup(g int) error {
	if err := d.writeAll(g, []setting{set("GROUP_CTRL", flag("enable", true), flag("reset", true))}); err != nil {
		return err
	}
	_, err := d.waitStarted(g)
	return err
}

// Disable stops a group.
func (d *Driver) Disable(g int) error { return d.Set("GROUP_CTRL", g, "enable", 0) }

func (d *Driver) waitStarted(g int) (bool, error) {
	busy, err := d.man.Registers.Field("GROUP_STATUS", "busy")
	if err != nil {
		return false, err
	}
	enabled, err := d.man.Registers.Field("GROUP_STATUS", "enabled")
	if err != nil {
		return false, err
	}
	for range busyReads {
		status, err := d.Read("GROUP_STATUS", g)
		if err != nil {
			return false, err
		}
		if busy.Get(status) == 0 {
			return enabled.Get(status) != 0, nil
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
