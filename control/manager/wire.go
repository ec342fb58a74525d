// SPDX-License-Identifier: Apache-2.0

package manager

import (
	pb "incforge/control/agentpb"
	"incforge/control/placement"
	"incforge/internal/splitmix"
	"incforge/roce"
)

// Collectives, by their codes in the registers.
const (
	allReduce = iota
	reduce
	broadcast
	barrier
)

// mostRoots is the number of ranks that can be roots of an in-band group.
const mostRoots = 32

// request is what a switch of the tree is told to install. It is a function of the record alone, so that it is the same whenever it is sent.
func (r *record) request(sw int) *pb.CommitRequest {
	t := &r.Tree
	at := &t.Switches[sw]
	out := &pb.CommitRequest{Group: r.ID, Settings: r.settings(sw)}
	remote := func(e End, host bool) {
		own := len(out.Remotes)
		port := 0xC000 | (r.Start+uint32(own)*257+uint32(sw)*4099)&0x3FFF
		far := &pb.Remote{End: &pb.End{Qpn: e.QPN, Ip: e.IP, Mac: e.MAC}, Host: host, UdpSourcePort: port}
		if r.Mode == 1 {
			far.RqPsn, far.SqPsn, far.PathMtu = e.PSN, r.psn(sw, own), e.PathMTU
		}
		out.Remotes = append(out.Remotes, far)
	}
	// What another switch of the tree sends begins with a PSN of its own, too; between switches packets are as large as they may be.
	between := func(sw, endpoint int) {
		e := r.Ends[t.Switches[sw].Name][endpoint]
		e.PSN, e.PathMTU = r.psn(sw, endpoint), uint32(t.MTU)
		remote(e, false)
	}
	for _, c := range at.Children {
		if c.Rank >= 0 {
			remote(r.Hosts[c.Rank], true)
			continue
		}
		between(c.Switch, len(r.Ends[t.Switches[c.Switch].Name])-1) // its endpoint to the parent is the last
	}
	if at.Parent >= 0 {
		between(at.Parent, indexOf(t, sw))
	}
	return out
}

// psn is the first PSN that a switch sends by an endpoint in Mode I, where each direction of a queue pair has its own. All follow from START, which is random, so that
// the record alone says them.
func (r *record) psn(sw, endpoint int) uint32 {
	return uint32(splitmix.At(uint64(r.Start), uint64(sw)<<8|uint64(endpoint))) & roce.PSNMask
}

// indexOf is the endpoint of a switch's parent that leads to it.
func indexOf(t *placement.Tree, sw int) int {
	for e, c := range t.Switches[t.Switches[sw].Parent].Children {
		if c.Switch == sw {
			return e
		}
	}
	return -1
}

// toward is the endpoint of a switch on the way to a rank.
func toward(t *placement.Tree, sw, rank int) int {
	for e, c := range t.Switches[sw].Children {
		if c.Rank == rank || c.Switch >= 0 && toward(t, c.Switch, rank) < len(t.Switches[c.Switch].Children) {
			return e
		}
	}
	return len(t.Switches[sw].Children)
}

// ports are a switch's endpoints by their ports, the parent's last.
func ports(at *placement.Switch) (all []uint32) {
	for _, c := range at.Children {
		all = append(all, uint32(c.Port))
	}
	if at.Parent >= 0 {
		all = append(all, uint32(at.Port))
	}
	return all
}

// settings are the registers of a switch: those of the AllReduce tree, or of the tree seen from a fixed root.
func (r *record) settings(sw int) *pb.Settings {
	t, o := &r.Tree, &r.Options
	at := &t.Switches[sw]
	n := len(at.Children)
	children := uint32(1)<<n - 1
	edges, hosts := children, uint32(0)
	for e, c := range at.Children {
		if c.Rank >= 0 {
			hosts |= 1 << e
		}
	}
	s := &pb.Settings{Start: r.Start, Log2N: uint32(t.Log2N), InMask: children, OutMask: children, AckMask: hosts, BigEndian: o.BigEndian,
		WholeMessages: o.Whole}
	if at.Parent >= 0 {
		s.HasParent, s.Parent = true, uint32(n)
		edges |= 1 << n
	}
	if r.Mode == 3 || r.Mode == 1 {
		s.PipeSlots = uint32(t.Window)
	}
	if o.InBand {
		s.InBand, s.RootSends, s.Op, s.Dtype = true, true, r.Kind.Op, r.Kind.DType
		for rank := range min(len(t.Members), mostRoots) {
			s.Routes = append(s.Routes, uint32(toward(t, sw, rank)))
		}
		return s
	}
	s.Collective, s.Op, s.Dtype = o.Collective, o.Op, o.DType
	to := toward(t, sw, int(o.Root))
	rest := edges &^ (1 << to)
	switch o.Collective {
	case reduce:
		s.InMask, s.OutMask, s.AckMask = rest|1<<to&hosts, 0, 1<<to
		s.HasParent, s.Parent = true, uint32(to)
	case broadcast:
		s.InMask, s.OutMask, s.AckMask = 0, rest, rest
		s.HasParent, s.Parent = true, uint32(to)
	}
	return s
}
