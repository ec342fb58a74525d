// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"
	"strings"

	"incforge/contract"
	"incforge/hdl/cdc"
	"incforge/hdl/ecc"
	"incforge/hdl/graph"
	"incforge/rtlgen/params"
)

// withQueueCodes is what becomes of the blocks of a switch top with ecc: all: check bits on the memories of the ports' queues, and pins on all memories.
func withQueueCodes(p params.Params) func(*graph.Module) (*graph.Module, error) {
	return func(m *graph.Module) (*graph.Module, error) {
		if p.ECCAll && (strings.HasPrefix(m.Name, "inc_port_rx") || strings.HasPrefix(m.Name, "inc_port_tx")) {
			write, read := graph.DefaultClock, graph.DefaultClock
			if _, ok := m.Port("port_clk"); ok {
				write = "port_clk"
				if strings.HasPrefix(m.Name, "inc_port_tx") {
					write, read = read, write
				}
			}
			var err error
			if m, err = ecc.ProtectQueue(m, write, read); err != nil {
				return nil, err
			}
		}
		return withMemoryPins(p)(m)
	}
}

// portCodes is what stands beside the queues of ports whose memories have check bits: on the way out what says that a frame has err, by port and
// priority, and the counters. A nil one stands for ports without, in which no frame has err.
type portCodes struct {
	regs  *graph.Instance
	leave [][]*graph.Instance
	// fixed and lost are what the memories of each port's queues say together.
	fixed, lost []graph.Pin
}

func (q *portQueues) addCodes(c *graph.Composite, p params.Params, addrBits int) {
	if !p.ECCAll {
		return
	}
	x := &portCodes{regs: c.Add("u_ecc_ports", ecc.PortRegs{AxilW: addrBits, Ports: p.Ports}.At(contract.PortMemoryBase))}
	for i, queues := range q.tx {
		var leave []*graph.Instance
		for k := range queues {
			leave = append(leave, c.Add(fmt.Sprintf("u_leave_p%d_q%d", i, k), ecc.Leave{}))
		}
		x.leave = append(x.leave, leave)
	}
	q.codes = x
}

// wire connects what the memories of a port's queues say with the counters, and err of what leaves. What enters has none: a queue drops it.
func (x *portCodes) wire(c *graph.Composite, q *portQueues, port int, side portSide) {
	if x == nil {
		return
	}
	rx := q.rx[port]
	c.Tie(rx.Pin("ecc_mark"), 0)
	c.Connect(c.Pin(contract.ResetPort), rx.Pin("ecc_rst"))
	fixed, lost := []graph.Pin{rx.Pin("ecc_fixed")}, []graph.Pin{rx.Pin("ecc_lost")}
	for k, tx := range q.tx[port] {
		leave := x.leave[port][k]
		c.Connect(tx.Pin("ecc_err"), leave.Pin("err"))
		c.Connect(tx.Pin("m_axis_tvalid"), leave.Pin("valid"))
		if q.priorities == nil {
			c.Connect(c.Pin(fmt.Sprintf("m_axis_p%d_tready", port)), leave.Pin("ready"))
			c.Connect(leave.Pin("user"), c.Pin(fmt.Sprintf("m_axis_p%d_tuser", port)))
		} else {
			pick := q.priorities.pick[port]
			c.Connect(pick.Pin("s_axis_tready").Bit(k), leave.Pin("ready"))
			c.Connect(leave.Pin("user"), pick.Pin("s_err").Bit(k))
			c.Connect(q.priorities.class[port].Pin("m_err"), tx.Pin("ecc_mark"))
		}
		if side.clock == nil {
			c.Connect(c.Pin(contract.ResetPort), tx.Pin("ecc_rst"))
			fixed, lost = append(fixed, tx.Pin("ecc_fixed")), append(lost, tx.Pin("ecc_lost"))
			continue
		}
		across := c.Add(fmt.Sprintf("u_errors_p%d_q%d", port, k), cdc.Errors{})
		c.Connect(*side.clock, across.Pin("port_clk"), leave.Pin("clk"))
		c.Connect(across.Pin("port_rst"), tx.Pin("ecc_rst"), leave.Pin("rst"))
		c.Connect(tx.Pin("ecc_fixed"), across.Pin("port_fixed"))
		c.Connect(tx.Pin("ecc_lost"), across.Pin("port_lost"))
		fixed, lost = append(fixed, across.Pin("fixed")), append(lost, across.Pin("lost"))
	}
	if q.priorities != nil {
		c.Connect(q.priorities.pick[port].Pin("m_err"), c.Pin(fmt.Sprintf("m_axis_p%d_tuser", port)))
	}
	x.fixed = append(x.fixed, anyOf(c, fmt.Sprintf("u_fixed_p%d", port), fixed, x.regs.Pin("fixed").Bit(port)))
	x.lost = append(x.lost, anyOf(c, fmt.Sprintf("u_lost_p%d", port), lost, x.regs.Pin("lost").Bit(port)))
}

// entersWith connects err of the frames that enter the engine from a port, on the last beat.
func (q *portQueues) entersWith(c *graph.Composite, port int, to graph.Pin) {
	if q.codes == nil {
		c.Tie(to, 0)
		return
	}
	c.Connect(q.rx[port].Pin("ecc_err"), to)
}

// leavesWith connects err of the frames that leave the engine by a port, on the last beat; none says why there is none without check bits.
func (q *portQueues) leavesWith(c *graph.Composite, port int, from graph.Pin, none string) {
	switch {
	case q.codes == nil:
		c.Open(from, none)
	case q.priorities != nil:
		c.Connect(from, q.priorities.class[port].Pin("s_err"))
	default:
		c.Connect(from, q.tx[port][0].Pin("ecc_mark"))
	}
}
