// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest"
	"incforge/internal/testcost"
	"incforge/sim"
)

// TestPortRegsLatency: what the head of inc_port_regs.v says of an access to it, and to what is behind it.
func TestPortRegsLatency(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "inc_port_regs", Brief: true, Files: []string{"inc_port_regs.v"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	hdltest.BusLatency(t, lib, hdltest.Bus{Here: 0x4000, Behind: 0x40, More: 3})
}
