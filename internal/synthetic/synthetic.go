// SPDX-License-Identifier: Apache-2.0

// Package synthetic makes manifests out of nothing, so that verify can be tested with the reference engine and no generator.
// Its register addresses are deliberately unlike any generated map's.
package synthetic

import "incforge/contract"

// Mini are the parameters of a small engine: 8-byte bus, two groups of four members, four ports.
func Mini() contract.Params {
	return contract.Params{Mode: 2, BusBytes: 8, Lanes: 2, BufferBytes: 16384, Groups: 2, Members: 4, Ports: 4, MTUBytes: 1024,
		WindowPackets: 4, ClockMHz: 250, ICRCCheck: true, DTypes: []string{contract.INT32}, Ops: []string{contract.SUM}, Accumulate: contract.InPlace, InBand: true}
}

// Full is Mini with every type and operation.
func Full() contract.Params {
	p := Mini()
	p.DTypes, p.Ops, p.BufferBytes = contract.ElementNames(), contract.OperationNames(), 32768
	return p
}

// Reproducible is Full with sums that do not depend on the order of arrival; five members in three pairs.
func Reproducible() contract.Params {
	p := Full()
	p.Accumulate, p.Members, p.BufferBytes = contract.Reproducible, 5, 3*16384
	return p
}

// Manifest describes an engine with these parameters: every register of the contract's map, each elsewhere, and no files. Parameters that
// cannot be an engine's are a mistake of the test, and it panics.
func Manifest(p contract.Params) *contract.Manifest {
	model, err := contract.NewModel(p)
	if err != nil {
		panic(err)
	}
	next := uint32(0x40)
	for i := range model.Registers {
		r := &model.Registers[i]
		r.Offset, r.Stride, r.Per, r.Window = next, 12, 0, 0
		next += uint32(r.Count)*r.Stride + 4
	}
	return &contract.Manifest{Schema: contract.Schema, Name: "synthetic", Digest: "synthetic", Params: p, Registers: model.Registers,
		Counters: p.CounterNames(), Clock: contract.Clock{Port: contract.ClockPort, Reset: contract.ResetPort, MHz: float64(p.ClockMHz)}}
}
