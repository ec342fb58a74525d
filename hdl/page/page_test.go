// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/page"
	"incforge/internal/testcost"
	"incforge/sim"
)

// TestDescription: what a page does on the bus is tested with registers inside, by hdl/interrupts and hdl/priority.
func TestDescription(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	hdltest.Check(t, []graph.Describer{page.At(16, 0x2800, 4), page.At(22, 0x4C00, 10), page.At(16, 0, 3)}, []hdltest.Refused{
		{Leaf: page.Page{AxilW: 23, PageW: 4, Page: 640}, Params: param("AXIL_W", 23), Rule: "AXIL_W must be 16 to 22"},
		{Leaf: page.Page{AxilW: 16, PageW: 13, Page: 1}, Params: param("PAGE_W", 13), Rule: "PAGE_W must be 3 to 12"},
		{Leaf: page.Page{AxilW: 16, PageW: 4, Page: 4096}, Params: param("PAGE", 4096), Rule: "PAGE must be one of the pages of AXIL_W bits"},
	})
}

// TestLatency: the cycles from an access to its answer, of a word of the page and of one behind it that whoever has it answers after a while.
func TestLatency(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "inc_page", Brief: true, Files: []string{"inc_page.v"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	hdltest.BusLatency(t, lib, hdltest.Bus{Here: 40 << 8, Behind: 0x40, More: 3, High: []string{"exists", "known"}})
}
