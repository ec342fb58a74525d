// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"incforge/contract"
)

// The engine is compiled once where several in one piece are too large, and nobody wants to reach into it.
func TestOnce(t *testing.T) {
	of := func(engines, bytes int) *contract.Manifest {
		return &contract.Manifest{Params: contract.Params{Engines: engines, BusBytes: bytes}, Tops: map[string]contract.Top{
			contract.TopCore: {Module: "x_core"}, contract.TopSwitch: {Module: "x_switch"}}}
	}
	for name, c := range map[string]struct {
		s    Source
		want []string
	}{
		"one, the widest":     {Source{Manifest: of(0, 1024)}, nil},
		"eight narrow ones":   {Source{Manifest: of(8, 128)}, nil},
		"two of the widest":   {Source{Manifest: of(2, 1024)}, []string{"x_core"}},
		"eight of the widest": {Source{Manifest: of(8, 1024), Kind: KindRTL}, []string{"x_core"}},
		"its core alone":      {Source{Manifest: of(8, 1024), Kind: KindCore}, nil},
		"its netlist":         {Source{Manifest: of(8, 1024), Kind: KindNetlist}, nil},
		"with coverage":       {Source{Manifest: of(8, 1024), Cover: true}, nil},
		"with assertions":     {Source{Manifest: of(8, 1024), Assert: true}, nil},
		"with inverted bits":  {Source{Manifest: of(8, 1024), Upsets: true}, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.s.once()) })
	}
}
