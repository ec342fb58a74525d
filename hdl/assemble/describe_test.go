// SPDX-License-Identifier: Apache-2.0

package assemble_test

import (
	"testing"

	"incforge/hdl/assemble"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type as = assemble.Assemble
	legal := []graph.Describer{
		of(8), of(64),
		as{Bytes: 8, PortW: 1, LenW: 3, WordsW: 1},
		as{Bytes: 16, PortW: 1, LenW: 5, WordsW: 2},
		as{Bytes: 32, PortW: 3, LenW: 11, WordsW: 6},
		as{Bytes: 128, PortW: 7, LenW: 13, WordsW: 6},
		as{Bytes: 256, PortW: 8, LenW: 15, WordsW: 8},
		as{Bytes: 512, PortW: 2, LenW: 9, WordsW: 2},
		as{Bytes: 2048, PortW: 4, LenW: 13, WordsW: 2},
	}
	bytes, length := "BYTES must be a power of two, 8 to 2048", "LEN_W must be 1 to 15"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: as{Bytes: 4, PortW: 2, LenW: 11, WordsW: 8}, Params: []graph.Param{{Name: "BYTES", Value: 4}}, Rule: bytes},
		{Leaf: as{Bytes: 24, PortW: 2, LenW: 11, WordsW: 8}, Params: []graph.Param{{Name: "BYTES", Value: 24}}, Rule: bytes},
		{Leaf: as{Bytes: 2052, PortW: 2, LenW: 13, WordsW: 8}, Params: []graph.Param{{Name: "BYTES", Value: 2052}, {Name: "LEN_W", Value: 13}}, Rule: bytes},
		{Leaf: as{Bytes: 8, PortW: 2, LenW: 16, WordsW: 8}, Params: []graph.Param{{Name: "LEN_W", Value: 16}}, Rule: length},
		{Leaf: as{Bytes: 16, PortW: 2, LenW: 3, WordsW: 8}, Params: []graph.Param{{Name: "BYTES", Value: 16}, {Name: "LEN_W", Value: 3}}, Rule: length},
	})
}
