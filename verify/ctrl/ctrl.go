// SPDX-License-Identifier: Apache-2.0

// Package ctrl is the control plane's side of the registers: it finds them by name in the manifest and programs groups and
// endpoints. The same code drives RTL, netlist and reference.
package ctrl

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
)

// Bus is a register bus. Write writes only the bytes whose bit is set in strobes; bit 0 is for the lowest byte.
type Bus interface {
	Read(addr uint32) (uint32, error)
	Write(addr, value uint32, strobes uint8) error
}

// AllBytes are the strobes of a write of a whole register.
const AllBytes = 0xF

// Driver reads and writes registers by name.
type Driver struct {
	bus Bus
	man *contract.Manifest
}

// New makes a driver for the engine at a bus, which was generated with m.
func New(bus Bus, m *contract.Manifest) *Driver { return &Driver{bus, m} }

// Read reads element i of a register.
func (d *Driver) Read(name string, i int) (v uint32, err error) {
	defer fail.Catch(&err, "read %s[%d]", name, i)
	return d.bus.Read(fail.Must(d.man.Addr(name, i)))
}

// Write writes element i of a register.
func (d *Driver) Write(name string, i int, v uint32) (err error) {
	defer fail.Catch(&err, "write %s[%d]", name, i)
	return d.bus.Write(fail.Must(d.man.Addr(name, i)), v, AllBytes)
}

// Get reads a field of element i of a register.
func (d *Driver) Get(register string, i int, name string) (v uint32, err error) {
	defer fail.Catch(&err, "")
	at := fail.Must(d.man.Registers.Field(register, name))
	return at.Get(fail.Must(d.Read(register, i))), nil
}

// Set writes element i of a register: one field as given, the others 0.
func (d *Driver) Set(register string, i int, name string, v uint32) error {
	return d.write(i, number(register, name, &v))
}

// write writes element i of every register that fields name, in their order: these fields as they are bound, the others 0.
func (d *Driver) write(i int, fields ...Field) (err error) {
	defer fail.Catch(&err, "")
	for len(fields) > 0 {
		register, v := fields[0].Register, uint32(0)
		for len(fields) > 0 && fields[0].Register == register {
			v |= fail.Must(d.man.Registers.Field(register, fields[0].Name)).Put(fields[0].Get())
			fields = fields[1:]
		}
		fail.On(d.Write(register, i, v))
	}
	return nil
}

// SetEndpoint writes the record of table index ei, valid last.
func (d *Driver) SetEndpoint(ei int, e inc.Endpoint) error {
	fields := EndpointFields(&e)
	if d.man.Params.Mode == 1 {
		fields = append(ConnectionFields(&e), fields...)
	}
	if d.man.Params.VLAN {
		fields = append(TagFields(&e), fields...)
	}
	return d.write(ei, fields...)
}

// SetGroup writes a group's settings; the group should be disabled.
func (d *Driver) SetGroup(g int, s inc.Group) error {
	fields := GroupFields(&s, d.man.Params.Mode)
	if s.InBand { // no other asks where the root ranks are
		fields = append(fields, RouteFields(&s)...)
	}
	return d.write(g, fields...)
}

// SetOptions writes CTRL.
func (d *Driver) SetOptions(gapNAK, foreignBypass bool) error {
	return d.write(0, flag("CTRL", "gap_nak", &gapNAK), flag("CTRL", "foreign_bypass", &foreignBypass))
}

// SetPipeCtrl writes PIPE_CTRL of an engine of Mode III or I.
func (d *Driver) SetPipeCtrl(c inc.PipeCtrl) error { return d.write(0, PipeFields(&c)...) }

// SetPipes writes PIPE_CTRL and PIPE_TIMEOUT of an engine of Mode III or I; the time-out is in microseconds.
func (d *Driver) SetPipes(c inc.PipeCtrl, timeout uint16) error {
	if err := d.SetPipeCtrl(c); err != nil {
		return err
	}
	return d.SetPipeTimeout(timeout)
}

// SetPipeTimeout writes PIPE_TIMEOUT of an engine of Mode III or I, in microseconds.
func (d *Driver) SetPipeTimeout(microseconds uint16) error {
	return d.Set("PIPE_TIMEOUT", 0, "microseconds", uint32(microseconds))
}

// SetAckEvery writes ACK_EVERY of a Mode I engine.
func (d *Driver) SetAckEvery(packets uint8) error {
	return d.Set("ACK_EVERY", 0, "packets", uint32(packets))
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
	on := true
	if err := d.write(g, flag("GROUP_CTRL", "enable", &on), flag("GROUP_CTRL", "reset", &on)); err != nil {
		return err
	}
	_, err := d.waitStarted(g)
	return err
}

// Disable stops a group.
func (d *Driver) Disable(g int) error { return d.Set("GROUP_CTRL", g, "enable", 0) }

// Park writes what parks an enabled group, waits until it is no longer busy, and reports whether it is parked then.
func (d *Driver) Park(g int) (bool, error) { return d.setParked(g, true) }

// Unpark gives a parked group the slots of its GROUP_SLOTS, waits until it is no longer busy, and reports whether it is still parked then.
func (d *Driver) Unpark(g int) (bool, error) { return d.setParked(g, false) }

func (d *Driver) setParked(g int, park bool) (parked bool, err error) {
	defer fail.Catch(&err, "")
	on := true
	fail.On(d.write(g, flag("GROUP_CTRL", "enable", &on), flag("GROUP_CTRL", "park", &park)))
	fail.Must(d.waitStarted(g))
	return fail.Must(d.Get("GROUP_STATUS", g, "parked")) != 0, nil
}

// SetSlots writes GROUP_SLOTS, and in Modes III and I GROUP_PIPE, of a group that is disabled or parked.
func (d *Driver) SetSlots(g int, s inc.Group) error {
	fields := []Field{number("GROUP_SLOTS", "base", &s.SlotBase), number("GROUP_SLOTS", "log2_n", &s.Log2N)}
	if d.man.Params.Pipes() {
		fields = append(fields, number("GROUP_PIPE", "n", &s.PipeSlots))
	}
	return d.write(g, fields...)
}

func (d *Driver) waitStarted(g int) (started bool, err error) {
	defer fail.Catch(&err, "")
	busy := fail.Must(d.man.Registers.Field("GROUP_STATUS", "busy"))
	enabled := fail.Must(d.man.Registers.Field("GROUP_STATUS", "enabled"))
	for range busyReads {
		if status := fail.Must(d.Read("GROUP_STATUS", g)); busy.Get(status) == 0 {
			return enabled.Get(status) != 0, nil
		}
	}
	return false, fmt.Errorf("group %d is still busy after %d reads of GROUP_STATUS", g, busyReads)
}

// Counters reads all counters as they are at one moment, once COUNTER_SNAPSHOT.hold has copied them, and leaves it clear.
func (d *Driver) Counters() (all map[string]uint64, err error) {
	defer fail.Catch(&err, "")
	fail.On(d.Set("COUNTER_SNAPSHOT", 0, "hold", 1))
	all = make(map[string]uint64, len(d.man.Counters))
	for i, name := range d.man.Counters {
		all[name] = fail.Must(d.Counter(i))
	}
	return all, d.Set("COUNTER_SNAPSHOT", 0, "hold", 0)
}

// Counter reads the i-th counter, both words: of the copy that COUNTER_SNAPSHOT holds, else as it is now.
func (d *Driver) Counter(i int) (v uint64, err error) {
	defer fail.Catch(&err, "")
	low := fail.Must(d.Read("COUNTER", i))
	return uint64(fail.Must(d.Read("COUNTER_HIGH", i)))<<32 | uint64(low), nil
}
