// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needPorts is for scenarios of at least n ports.
func needPorts(n int) rig.Needs {
	return func(p contract.Params) string {
		if p.Ports >= n {
			return ""
		}
		return fmt.Sprintf("needs %d ports, the configuration has %d", n, p.Ports)
	}
}

// needOneClock is for scenarios of what comes in together.
func needOneClock(p contract.Params) string {
	if len(p.PortClockMHz) > 0 {
		return "needs ports that deliver at one rate, those of the configuration have clocks of their own"
	}
	return ""
}

// portTurns offers frames at all ports at once, of nobody. While a port has some that wait, no other port has two accepted
// between two of its own.
func portTurns(t *rig.T) {
	const each = 8
	e := t.Engine()
	ports := t.Params.Ports
	waiting := make([]int, ports)
	passed := make([][]int, ports) // how many of another port since the last of this one
	accepted := 0
	e.OnAccept = func(f dut.Frame, _ []inc.Counter) {
		accepted++
		waiting[f.Port]--
		passed[f.Port] = make([]int, ports)
		for p := range ports {
			if p == f.Port || waiting[p] == 0 {
				continue
			}
			if passed[p][f.Port]++; passed[p][f.Port] > 1 {
				t.Fatalf("port %d had two frames accepted while one waited at port %d, which has %d left", f.Port, p, waiting[p])
			}
		}
	}
	for p := range ports {
		passed[p] = make([]int, ports)
		waiting[p] = each
	}
	for range each {
		for p := range ports {
			e.Put(rig.Frame{Port: p, Data: t.Words(20)})
		}
	}
	e.Settle()
	if accepted != each*ports {
		t.Fatalf("%d frames were accepted of %d", accepted, each*ports)
	}
}
