// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// engine is a reference engine in a fabric.
type engine struct{ *dut.Reference }

func (e engine) Idle() bool { return e.Waiting() == 0 && e.Still() > 0 }

// plant is a world whose links carry frames, with a NIC on every host.
type plant struct {
	*world
	net  *fabric.Net
	nics map[string]*host.Host
	// seen are the frames that switches were given; last those of the group before, and earlier those of the one before it, which had the
	// same records.
	seen, last, earlier []delayed
}

// delayed is a frame that comes to a switch.
type delayed struct {
	sw   *site
	port int
	data []byte
}

// nobody is a port at which nothing is: what is not the engine's leaves there.
const nobody = 3

func newPlant(t *testing.T, of contract.Params) *plant {
	p := &plant{world: newWorld(t, of), net: fabric.New(1), nics: map[string]*host.Host{}}
	number, byNumber := map[string]int{}, []*site{}
	for _, n := range p.world.net.Nodes {
		if s := p.sites[n.Name]; s != nil {
			for port := range s.man.Params.Ports {
				require.NoError(t, ctrl.New(s.engine, s.man).SetBypassPort(port, nobody))
			}
			number[n.Name] = p.net.AddSwitch(engine{s.engine})
			byNumber = append(byNumber, s)
		}
	}
	mac := func(s *site, port int) roce.MAC { return roce.MAC{2, 0, 0, s.ip, 0, byte(port)} }
	for _, l := range p.world.net.Links {
		a, b := p.world.net.Nodes[l.Ends[0].Node], p.world.net.Nodes[l.Ends[1].Node]
		up, portA, portB := p.sites[a.Name], l.Ends[0].Port, l.Ends[1].Port
		link := &fabric.Link{Latency: 40}
		if !b.Host {
			p.net.Join(number[a.Name], portA, mac(up, portA), number[b.Name], portB, mac(p.sites[b.Name], portB), link)
			continue
		}
		h, err := host.New(host.Config{MAC: roce.MAC{2, 0, 0, 9, 0, b.Name[1]}, PeerMAC: mac(up, portA), IP: roce.IP4{10, 0, 1, b.Name[1]}, PeerIP: roce.IP4{10, 0, 0, up.ip},
			UDPPort: 50000, TTL: 64, PathMTU: 256, Window: 1, Timeout: 20_000, RNRCode: 1, CyclesPerMicrosecond: 250})
		require.NoError(t, err)
		p.nics[b.Name] = h
		p.net.AddHost(number[a.Name], portA, h, link)
	}
	p.net.OnDeliver = func(_ uint64, node, port int, frame []byte, _ bool) {
		if port >= 0 {
			p.seen = append(p.seen, delayed{byNumber[node], port, slices.Clone(frame)})
		}
	}
	return p
}

// join makes a group as the hosts would: all join, make their queue pairs, report them.
func (p *plant) join(name string, members []string, qpn uint32) *group {
	p.t.Helper()
	g, err := p.m.create(p.ctx, "acme", name, members, Options{Mbps: 1000, DType: 3})
	require.NoError(p.t, err)
	for rank, m := range members {
		nic, offer := p.nics[m], g.offer(rank)
		require.Equal(p.t, nic.Config().PeerIP.Uint32(), offer.Peer.Ip)
		require.Equal(p.t, nic.Config().PeerMAC.Uint64(), offer.Peer.Mac)
		own := End{QPN: qpn, IP: nic.Config().IP.Uint32(), MAC: nic.Config().MAC.Uint64()}
		if nic.Reconnect(qpn, offer.Peer.Qpn, roce.PSN(offer.Start)); g.Mode == 1 {
			own.PSN, own.PathMTU = uint32(0xFFFFFF-rank), 256
			nic.ReconnectApart(qpn, offer.Peer.Qpn, roce.PSN(own.PSN), roce.PSN(offer.Peer.Psn))
		}
		require.NoError(p.t, p.m.report(p.ctx, g, rank, own))
	}
	require.Equal(p.t, Ready, g.state, g.reason)
	return g
}

// allReduce has all members add up random numbers and compares.
func (p *plant) allReduce(rng *rand.Rand, g *group, messages int) {
	p.t.Helper()
	var want [][]byte
	had := len(p.nics[g.Members[0]].Received())
	for range messages {
		sum := make([]uint32, 64)
		for _, m := range g.Members {
			text := make([]byte, 4*len(sum))
			for i := range sum {
				v := rng.Uint32()
				sum[i] += v
				binary.LittleEndian.PutUint32(text[4*i:], v)
			}
			p.nics[m].Post(host.Message{Payload: text})
		}
		text := make([]byte, 4*len(sum))
		for i, v := range sum {
			binary.LittleEndian.PutUint32(text[4*i:], v)
		}
		want = append(want, text)
	}
	err := p.net.Run(p.ctx, 10_000_000, func() bool {
		for _, m := range g.Members {
			if nic := p.nics[m]; nic.Completed() < had+messages || len(nic.Received()) < had+messages {
				return false
			}
		}
		return true
	})
	require.NoError(p.t, err)
	for _, m := range g.Members {
		require.NoError(p.t, p.nics[m].Err())
		for i, got := range p.nics[m].Received()[had:] {
			require.Equal(p.t, want[i], got.Payload, "%s, message %d", m, i)
		}
	}
}

// bypassed is how many frames were no group's.
func (p *plant) bypassed() (n int) {
	for _, s := range p.sites {
		all, err := ctrl.New(s.engine, s.man).Counters()
		require.NoError(p.t, err)
		n += int(all["BYPASS"])
	}
	return n
}

// A thousand groups are made, used and destroyed, one after the other, and a hundred each on switches of two engines and of Mode I. While one is used, all frames of the two groups before come to the
// switches once more, as if they had been under way all the time: none of them is taken for the new group's, and every sum is right.
func TestGroupsWithTraffic(t *testing.T) {
	for kind, groups := range []int{1000, 100, 100} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) { groupsWithTraffic(t, newPlant(t, kinds(kind)), groups) })
	}
}

func groupsWithTraffic(t *testing.T, p *plant, groups int) {
	rng := rand.New(rand.NewPCG(5, 6))
	late := 0
	for i := range groups {
		members := []string{"h0", "h1", "h2", "h3"}
		rng.Shuffle(4, func(a, b int) { members[a], members[b] = members[b], members[a] })
		g := p.join(fmt.Sprint("g", i), members[:2+rng.IntN(3)], uint32(17+i))
		before := p.bypassed()
		old := slices.Concat(p.last, p.earlier)
		for j, f := range old {
			p.net.At(p.net.Now()+uint64(rng.IntN(400)), func() error {
				f.sw.engine.Offer(f.port, dut.Frame{Data: old[j].data})
				return nil
			})
		}
		p.allReduce(rng, g, 2)
		require.NoError(t, p.net.Run(p.ctx, 1_000_000, func() bool { return p.net.Quiet() && p.bypassed()-before >= len(old) }))
		require.Equal(t, len(old), p.bypassed()-before)
		late += len(old)
		p.m.destroy(p.ctx, g, "")
		p.last, p.earlier, p.seen = p.seen, p.last, nil
		p.now = p.now.Add(time.Millisecond)
	}
	t.Logf("%d late frames", late)
	require.Greater(t, late, 10*groups)
	require.Zero(t, p.agree("after all"))
}

// Two groups share the switches; one loses its manager, which another takes over from the store, and neither notices.
func TestTrafficWithoutManager(t *testing.T) {
	p := newPlant(t, synthetic.Mini())
	rng := rand.New(rand.NewPCG(7, 8))
	a := p.join("a", []string{"h0", "h2"}, 20)
	b := p.join("b", []string{"h3", "h1"}, 21)
	p.allReduce(rng, a, 3)
	p.wire.dead = true
	p.allReduce(rng, b, 3)
	p.manage(&wire{life: &life{left: -1}})
	p.poll(2, true)
	require.Equal(t, 2, p.agree("taken over"))
	for _, g := range []*group{a, b} { // the connections go on where they were
		require.Equal(t, Ready, p.m.groups[g.ID].state)
		p.allReduce(rng, g, 3)
	}
}
