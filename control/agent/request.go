// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/inc"
	"incforge/roce"
)

// invalid is the error of a request that nothing can make good.
func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// params are the engine's as JSON.
func (a *Agent) params() (string, error) {
	text, err := json.Marshal(a.p)
	if err != nil {
		return "", fmt.Errorf("parameters: %w", err)
	}
	return string(text), nil
}

func (a *Agent) checkReserve(r *pb.ReserveRequest) error {
	switch {
	case r.Group == "" || len(r.Group) > mostName:
		return invalid("a group's name has 1 to %d bytes, not %d", mostName, len(r.Group))
	case r.Engine >= uint32(a.p.EngineCount()):
		return invalid("engine %d: the switch has %d", r.Engine, a.p.EngineCount())
	case r.Slots < 1 || uint64(r.Base)+uint64(r.Slots) > uint64(a.p.Slots()):
		return invalid("%d slots from %d on: the buffer has %d", r.Slots, r.Base, a.p.Slots())
	case len(r.Ports) < 1 || len(r.Ports) > a.p.Members+1:
		return invalid("%d endpoints: a group can have %d", len(r.Ports), a.p.Members+1)
	case r.LeaseMs < 1 || r.LeaseMs > uint32(mostLease/time.Millisecond):
		return invalid("a lease of %d ms: it can have %d", r.LeaseMs, mostLease.Milliseconds())
	}
	for _, p := range r.Ports {
		if p >= uint32(a.p.Ports) {
			return invalid("port %d: the switch has %d", p, a.p.Ports)
		}
	}
	return a.checkTurns(r)
}

// ends are the switch's ends of a group.
func (a *Agent) ends(g int) *pb.ReserveResponse {
	out := &pb.ReserveResponse{}
	for e, port := range a.records[g].Ports {
		out.Ends = append(out.Ends, &pb.End{Qpn: a.qpn(g, e), Ip: a.cfg.IP.Uint32(), Mac: a.mac(port)})
	}
	return out
}

func (a *Agent) qpn(g, e int) uint32 {
	return a.records[g].Turn*uint32(a.p.Records()) + uint32(g*a.p.EPS()+e)
}

func (a *Agent) mac(port uint32) uint64 { return a.cfg.MAC.Uint64() + uint64(port) }

// settings checks what a field of a register could not hold.
func (a *Agent) settings(s *pb.Settings) (set inc.Group, err error) {
	if s == nil {
		return set, invalid("no settings")
	}
	for _, v := range []struct {
		name  string
		value uint32
		most  uint32
	}{{"start", s.Start, roce.PSNMask}, {"log2_n", s.Log2N, uint32(a.p.MaxLog2N())}, {"parent", s.Parent, uint32(a.p.Members)},
		{"collective", s.Collective, inc.CollectiveBarrier}, {"op", s.Op, inc.OpMax}, {"dtype", s.Dtype, inc.DTypeINT32},
		{"pipe_slots", s.PipeSlots, 1 << s.Log2N / 2}, {"in_mask", s.InMask, 1<<(a.p.Members+1) - 1},
		{"out_mask", s.OutMask, 1<<(a.p.Members+1) - 1}, {"ack_mask", s.AckMask, 1<<(a.p.Members+1) - 1}} {
		if v.value > v.most {
			return set, invalid("%s is %d, it can be %d at most", v.name, v.value, v.most)
		}
	}
	switch {
	case len(s.Routes) > inc.Roots || len(s.Routes) > 0 && !s.InBand:
		return set, invalid("%d routes: an in-band group can have %d, any other none", len(s.Routes), inc.Roots)
	case !a.p.Pipes() && s.PipeSlots != 0:
		return set, invalid("pipes of %d slots: the engine has none", s.PipeSlots)
	case a.p.Mode != 1 && s.WholeMessages:
		return set, invalid("whole messages: the engine is of mode %d, and joins packets", a.p.Mode)
	case s.Log2N == 0:
		return set, invalid("log2_n is 0")
	}
	set = inc.Group{Start: roce.PSN(s.Start), Log2N: int(s.Log2N), InMask: s.InMask, OutMask: s.OutMask, AckMask: s.AckMask, Parent: int(s.Parent),
		HasParent: s.HasParent, Collective: uint8(s.Collective), Op: uint8(s.Op), DType: uint8(s.Dtype), BigEndian: s.BigEndian, InBand: s.InBand,
		RootSends: s.RootSends, PipeSlots: int(s.PipeSlots), WholeMessages: s.WholeMessages}
	for rank, e := range s.Routes {
		if e > uint32(a.p.Members) {
			return set, invalid("the route to rank %d is endpoint %d, it can be %d at most", rank, e, a.p.Members)
		}
		set.Route[rank] = inc.Route{Valid: true, Endpoint: uint8(e)}
	}
	return set, nil
}

// checkCommit compares settings with what was reserved.
func (a *Agent) checkCommit(r *record, set *inc.Group) error {
	ends := uint32(1)<<len(r.Ports) - 1 // of 32 all bits
	switch units := a.p.Units(set.DType, set.InBand) << set.Log2N; {
	case units > r.Slots:
		return invalid("2^%d packets take %d slots, reserved are %d", set.Log2N, units, r.Slots)
	case (set.InMask|set.OutMask|set.AckMask)&^ends != 0 || set.HasParent && set.Parent >= len(r.Ports):
		return invalid("the masks or the parent name an endpoint above %d", len(r.Ports)-1)
	}
	return nil
}

// endpoints are the records of a group's endpoints.
func (a *Agent) endpoints(g int, remotes []*pb.Remote) (all []inc.Endpoint, err error) {
	r := &a.records[g]
	if len(remotes) != len(r.Ports) {
		return nil, invalid("%d other ends of %d endpoints", len(remotes), len(r.Ports))
	}
	for e, far := range remotes {
		if far == nil || far.End == nil || far.End.Qpn > roce.PSNMask || far.End.Qpn < 2 || far.End.Mac >= 1<<48 || far.End.Ip == 0 || far.UdpSourcePort > 0xFFFF {
			return nil, invalid("endpoint %d: its other end has no address, or one of too many bits", e)
		}
		if err := a.checkConnection(e, far); err != nil {
			return nil, err
		}
		all = append(all, inc.Endpoint{Valid: true, Host: far.Host, Port: int(r.Ports[e]), LocalQPN: a.qpn(g, e), RemoteQPN: far.End.Qpn, LocalIP: a.cfg.IP,
			RemoteIP: roce.IP4FromUint32(far.End.Ip), LocalMAC: roce.MACFromUint64(a.mac(r.Ports[e])), RemoteMAC: roce.MACFromUint64(far.End.Mac),
			UDPSourcePort: uint16(far.UdpSourcePort), TTL: 64, RQPSN: roce.PSN(far.RqPsn), SQPSN: roce.PSN(far.SqPsn), PathMTU: int(far.PathMtu)})
	}
	return all, nil
}

// checkConnection refuses first PSNs and a path MTU that the engine cannot have: in Mode I they are the endpoint's own, in other modes there are none.
func (a *Agent) checkConnection(e int, far *pb.Remote) error {
	if a.p.Mode != 1 {
		if far.RqPsn != 0 || far.SqPsn != 0 || far.PathMtu != 0 {
			return invalid("endpoint %d: first PSNs and a path MTU of its own: the engine is of mode %d", e, a.p.Mode)
		}
		return nil
	}
	least, most := uint32(a.p.LeastPathMTU()), uint32(a.p.MTUBytes)
	switch {
	case far.RqPsn > roce.PSNMask || far.SqPsn > roce.PSNMask:
		return invalid("endpoint %d: first PSNs %d and %d, they can be %d at most", e, far.RqPsn, far.SqPsn, uint32(roce.PSNMask))
	case far.PathMtu < least || far.PathMtu > most || far.PathMtu&(far.PathMtu-1) != 0:
		return invalid("endpoint %d: a path MTU of %d bytes, it can be a power of two from %d to %d", e, far.PathMtu, least, most)
	}
	return nil
}
