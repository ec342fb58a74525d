// SPDX-License-Identifier: Apache-2.0

package ctrl

import (
	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
)

// Field binds a field of a register to a variable. Get returns what it holds, as the field has it; Set changes it.
type Field struct {
	Register, Name string
	Get            func() uint32
	Set            func(v uint32)
}

func number[T ~uint8 | ~uint16 | ~uint32 | ~int](register, name string, at *T) Field {
	return Field{register, name, func() uint32 { return uint32(*at) }, func(v uint32) { *at = T(v) }}
}

func flag(register, name string, at *bool) Field {
	get := func() uint32 {
		if *at {
			return 1
		}
		return 0
	}
	return Field{register, name, get, func(v uint32) { *at = v != 0 }}
}

func address(register string, at *roce.IP4) Field {
	return Field{register, "address", func() uint32 { return at.Uint32() }, func(v uint32) { *at = roce.IP4FromUint32(v) }}
}

// octets binds 32 bits of a MAC address, from bit shift on.
func octets(register string, at *roce.MAC, shift int) Field {
	return Field{register, "octets", func() uint32 { return uint32(at.Uint64() >> shift) }, func(v uint32) {
		*at = roce.MACFromUint64(at.Uint64()&^(0xFFFFFFFF<<shift) | uint64(v)<<shift)
	}}
}

// EndpointFields bind the registers EP_* to an endpoint's record, in the order in which they are written.
func EndpointFields(e *inc.Endpoint) []Field {
	return []Field{
		number("EP_LOCAL_QPN", "qpn", &e.LocalQPN), number("EP_REMOTE_QPN", "qpn", &e.RemoteQPN),
		address("EP_LOCAL_IP", &e.LocalIP), address("EP_REMOTE_IP", &e.RemoteIP),
		octets("EP_LOCAL_MAC_LO", &e.LocalMAC, 0), octets("EP_LOCAL_MAC_HI", &e.LocalMAC, 32),
		octets("EP_REMOTE_MAC_LO", &e.RemoteMAC, 0), octets("EP_REMOTE_MAC_HI", &e.RemoteMAC, 32),
		number("EP_HEADER", "udp_source_port", &e.UDPSourcePort), number("EP_HEADER", "ttl", &e.TTL), number("EP_HEADER", "tos", &e.TOS),
		flag("EP_CTRL", "valid", &e.Valid), flag("EP_CTRL", "host", &e.Host), number("EP_CTRL", "port", &e.Port),
	}
}

// TagFields bind what an endpoint's record has beside EndpointFields where there are 802.1Q tags; it is written before.
func TagFields(e *inc.Endpoint) []Field {
	return []Field{number("EP_VLAN", "vid", &e.VLAN.VID), number("EP_VLAN", "pcp", &e.VLAN.PCP), flag("EP_VLAN", "tagged", &e.VLAN.Tagged),
		flag("EP_VLAN", "check_pcp", &e.CheckPCP)}
}

// ConnectionFields bind what Mode I has in an endpoint's record beside EndpointFields; it is written before.
func ConnectionFields(e *inc.Endpoint) []Field {
	return []Field{number("EP_RQ_PSN", "psn", &e.RQPSN), number("EP_SQ_PSN", "psn", &e.SQPSN), number("EP_PATH_MTU", "bytes", &e.PathMTU)}
}

// GroupFields bind the registers GROUP_* of an engine of that mode to a group's settings, all but its routes.
func GroupFields(g *inc.Group, mode int) []Field {
	all := []Field{
		number("GROUP_START", "psn", &g.Start), number("GROUP_SLOTS", "base", &g.SlotBase), number("GROUP_SLOTS", "log2_n", &g.Log2N),
		number("GROUP_IN_MASK", "mask", &g.InMask), number("GROUP_OUT_MASK", "mask", &g.OutMask), number("GROUP_ACK_MASK", "mask", &g.AckMask),
		number("GROUP_PARENT", "endpoint", &g.Parent), flag("GROUP_PARENT", "valid", &g.HasParent),
		number("GROUP_COLLECTIVE", "collective", &g.Collective), number("GROUP_COLLECTIVE", "op", &g.Op), number("GROUP_COLLECTIVE", "dtype", &g.DType),
		flag("GROUP_COLLECTIVE", "big_endian", &g.BigEndian), flag("GROUP_COLLECTIVE", "in_band", &g.InBand),
		flag("GROUP_COLLECTIVE", "root_sends", &g.RootSends),
	}
	if mode == 3 || mode == 1 {
		all = append(all, number("GROUP_PIPE", "n", &g.PipeSlots))
	}
	if mode == 1 {
		all = append(all, flag("GROUP_MESSAGES", "whole_messages", &g.WholeMessages), flag("GROUP_MESSAGES", "release", &g.Release),
			number("GROUP_RELEASE", "messages", &g.Iteration))
	}
	return all
}

// RouteFields bind the registers GROUP_ROUTE_* to an in-band group's routes.
func RouteFields(g *inc.Group) []Field {
	var all []Field
	for root := range g.Route {
		register, endpoint, valid := contract.RouteOf(root)
		all = append(all, number(register, endpoint, &g.Route[root].Endpoint), flag(register, valid, &g.Route[root].Valid))
	}
	return all
}

// PipeFields bind PIPE_CTRL.
func PipeFields(c *inc.PipeCtrl) []Field {
	return []Field{number("PIPE_CTRL", "rnr_timer", &c.RNRTimer), flag("PIPE_CTRL", "rnr", &c.RNR), flag("PIPE_CTRL", "cnp", &c.CNP)}
}
