// SPDX-License-Identifier: Apache-2.0

// Package regs says where registers and their fields are, by name, for the tests of the blocks that keep them. Places are the contract's;
// what a block makes of what stands there is for its test to say. A name that there is not is a mistake in a test and panics.
package regs

import (
	"sync"

	"incforge/contract"
)

// Words is the number of words that a record has room for in a table, of a group or of an endpoint.
const Words = contract.GroupStride / 4

// Map is a register map that has every register that there is: Mode III, every type and operation, three groups of up to four endpoints,
// three ports.
func Map() contract.Registers { return everything() }

var everything = sync.OnceValue(func() contract.Registers {
	m, err := contract.NewModel(contract.Params{Name: "t", Mode: 3, BusBytes: 8, Lanes: 2, DTypes: contract.ElementNames(), Ops: contract.OperationNames(),
		Accumulate: contract.InPlace, BufferBytes: 16384, Groups: 3, Members: 4, Ports: 3, MTUBytes: 1024, WindowPackets: 4})
	if err != nil {
		panic(err)
	}
	return m.Registers
})

// Register is a register whose fields are known to be there.
type Register struct{ contract.Register }

// Of is the register of that name.
func Of(name string) Register {
	r, err := Map().Register(name)
	if err != nil {
		panic(err)
	}
	return Register{*r}
}

// At is where a field is.
func (r Register) At(field string) contract.Field {
	f, ok := r.Field(field)
	if !ok {
		panic("register " + r.Name + " has no field " + field)
	}
	return f
}

// Get is a field of the register's value.
func (r Register) Get(field string, value uint32) uint64 { return uint64(r.At(field).Get(value)) }

// Is tells whether a flag is set in the register's value.
func (r Register) Is(flag string, value uint32) bool { return r.Get(flag, value) != 0 }

// Put is a field's value in place.
func (r Register) Put(field string, value uint64) uint32 { return r.At(field).Put(uint32(value)) }

// Bits are those of some fields.
func (r Register) Bits(fields ...string) (bits uint32) {
	for _, f := range fields {
		bits |= r.At(f).Mask()
	}
	return bits
}

// Word is the table word as which a register goes out.
func Word(name string) int { return Of(name).Word() }

// Route is where the way to a root rank stands.
type Route struct {
	Word            int
	Endpoint, Valid contract.Field
}

// Routes are those of all root ranks.
func Routes() [contract.Roots]Route {
	var all [contract.Roots]Route
	for root := range all {
		register, endpoint, valid := contract.RouteOf(root)
		r := Of(register)
		all[root] = Route{r.Word(), r.At(endpoint), r.At(valid)}
	}
	return all
}

// In is the word with this way in place of the one that it has.
func (r Route) In(word uint32, valid, endpoint uint32) uint32 {
	return word&^(r.Valid.Mask()|r.Endpoint.Mask()) | r.Valid.Put(valid) | r.Endpoint.Put(endpoint)
}
