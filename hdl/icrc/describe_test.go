// SPDX-License-Identifier: Apache-2.0

package icrc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/icrc"
)

const bytesRule = "BYTES must be a power of two, 8 to 2048"

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescriptions(t *testing.T) {
	t.Parallel()
	init := int(int32(icrc.Init()))
	widths := []int{8, 16, 64, 128, 512}
	t.Run("check", func(t *testing.T) {
		t.Parallel()
		var legal []graph.Describer
		for _, w := range widths {
			legal = append(legal, icrc.Check{Bytes: w, Init: init})
		}
		var refused []hdltest.Refused
		for _, w := range []int{0, 4, 24, 2052} {
			refused = append(refused, hdltest.Refused{Leaf: icrc.Check{Bytes: w}, Params: param("BYTES", w), Rule: bytesRule})
		}
		hdltest.Check(t, legal, refused)
	})
	t.Run("insert", func(t *testing.T) {
		t.Parallel()
		var legal []graph.Describer
		for i, w := range widths {
			legal = append(legal, icrc.Insert{Bytes: w, PortW: 1 + i, Init: init})
		}
		refused := []hdltest.Refused{{Leaf: icrc.Insert{Bytes: 8}, Params: param("PORT_W", 0), Rule: "PORT_W must be at least 1"}}
		for _, w := range []int{0, 4, 24, 2052} {
			refused = append(refused, hdltest.Refused{Leaf: icrc.Insert{Bytes: w, PortW: 1}, Params: param("BYTES", w), Rule: bytesRule})
		}
		hdltest.Check(t, legal, refused)
	})
	// The tables have no parameter in the Verilog: each width is a module of its own.
	for name, describe := range map[string]func(w int) graph.Describer{
		"step":    func(w int) graph.Describer { return icrc.Step{Bytes: w} },
		"residue": func(w int) graph.Describer { return icrc.Residue{Bytes: w} },
		"tail":    func(w int) graph.Describer { return icrc.Tail{Bytes: w} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range []int{8, 64, 128, 2048} {
				hdltest.Check(t, []graph.Describer{describe(w)}, nil)
			}
			for _, w := range []int{-8, 0, 1, 4, 7, 9, 24, 255, 257, 4096} {
				_, err := describe(w).Module()
				require.ErrorContains(t, err, bytesRule, "%d", w)
			}
		})
	}
}
