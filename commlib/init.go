// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/commlib/verbs"
	"incforge/control/managerpb"
	"incforge/control/member"
	"incforge/roce"
)

// Config is what a member asks for. All members of a group say the same, but for Rank and Device.
type Config struct {
	Manager managerpb.ManagerClient
	Device  verbs.Device
	Tuning  Tuning
	// Name is the group's, Members the hosts' as the manager's topology file calls them, by rank.
	Name    string
	Members []string
	Rank    int
	// Policy is spatial, which an empty one is, edge-disjoint, or temporal: then the group asks for its turn before each collective, for as long as TurnWait, and
	// without one the members do it among themselves. Mbps is the rate wanted, LeastMbps the least that will do; 0 is the same.
	Policy          string
	TurnWait        time.Duration
	Mbps, LeastMbps int
	// MTU is the payload of a full packet; 0 is the engines'.
	MTU int
	// Fixed makes a group that does only this, by its registers; its buffers do not matter. nil is an in-band group.
	Fixed     *Request
	BigEndian bool
	// WholeMessages has switches of Mode I send nothing of a message before they have all of it; other modes have no such choice.
	WholeMessages bool
	// Wait is how long to ask again while the cluster has no room for the group, or a host's port is not up.
	Wait time.Duration
}

// InitGroup makes a group together with the other members, each of which calls it. It returns when the group is ready.
func InitGroup(ctx context.Context, c Config) (*Group, error) {
	if c.Rank < 0 || c.Rank >= len(c.Members) {
		return nil, fmt.Errorf("group %s: rank %d of %d members", c.Name, c.Rank, len(c.Members))
	}
	if c.TurnWait < 0 || c.TurnWait > managerpb.MostWait {
		return nil, fmt.Errorf("group %s: %v to ask for a turn: it can be 0 to %v", c.Name, c.TurnWait, managerpb.MostWait)
	}
	over := time.Now().Add(c.Wait)
	for {
		g, err := c.ask(ctx)
		if status.Code(err) != codes.ResourceExhausted || time.Now().Add(askAgain).After(over) {
			return g, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(askAgain):
		}
	}
}

// askAgain is the time between two attempts to make a group.
const askAgain = 100 * time.Millisecond

// ask is one attempt.
func (c *Config) ask(ctx context.Context) (*Group, error) {
	o := &managerpb.Options{Policy: c.Policy, Mbps: uint32(c.Mbps), LeastMbps: uint32(c.LeastMbps), Mtu: uint32(c.MTU), InBand: c.Fixed == nil,
		BigEndian: c.BigEndian, WholeMessages: c.WholeMessages}
	if f := c.Fixed; f != nil {
		o.Collective, o.Op, o.Dtype, o.Root = uint32(f.Collective), uint32(f.Op), uint32(f.Type), uint32(f.Root)
	}
	var g *Group
	connect := func(offer *managerpb.JoinResponse) (*managerpb.ReportRequest, error) {
		e, err := endpoint(c, offer)
		if err != nil {
			return nil, err
		}
		if g, err = prepare(c.Device, e, c.Tuning, nil); err != nil {
			return nil, err
		}
		at := c.Device.Address()
		report := &managerpb.ReportRequest{Own: &managerpb.QueuePair{Qpn: g.qp.QPN(), Ip: at.IP.Uint32(), Mac: at.MAC.Uint64()}}
		if e.Message > 0 {
			report.Own.Psn, report.Own.PathMtu = uint32(g.at.OwnStart), uint32(g.pathMTU())
		}
		if offer.Turns {
			if g.ring, err = newRing(g, c); err != nil {
				return nil, err
			}
			report.Next, report.Previous = g.ring.pairs()
		}
		return report, nil
	}
	m, err := member.InitRing(ctx, c.Manager, &managerpb.JoinRequest{Name: c.Name, Members: c.Members, Rank: uint32(c.Rank), Options: o}, connect)
	if err != nil {
		if g != nil {
			err = errors.Join(err, g.destroy())
		}
		return nil, fmt.Errorf("rank %d (%s): %w", c.Rank, c.Members[c.Rank], err)
	}
	if g.ring != nil {
		if err := g.ring.connect(m.Ready); err != nil {
			return nil, errors.Join(fmt.Errorf("rank %d (%s): %w", c.Rank, c.Members[c.Rank], err), m.Abort(ctx, err.Error()), g.destroy())
		}
	}
	g.start(m)
	return g, nil
}

// endpoint is what a manager's offer says.
func endpoint(c *Config, offer *managerpb.JoinResponse) (e Endpoint, err error) {
	if offer.Peer == nil {
		return e, errors.New("the manager names no far end")
	}
	e = Endpoint{Name: offer.Group, Members: c.Members, Rank: c.Rank, PeerQPN: offer.Peer.Qpn, Start: roce.PSN(offer.Start), PathMTU: int(offer.Mtu),
		Peer: verbs.Address{IP: roce.IP4FromUint32(offer.Peer.Ip), MAC: roce.MACFromUint64(offer.Peer.Mac)}, Window: int(offer.Window), Fixed: c.Fixed,
		Message: int(offer.MessageBytes), LeastMTU: int(offer.LeastMtu), PeerStart: roce.PSN(offer.Peer.Psn)}
	for left := offer.Dtypes; left != 0; left &= left - 1 {
		e.Types = append(e.Types, Type(bits.TrailingZeros32(left)))
	}
	for left := offer.Ops; left != 0; left &= left - 1 {
		e.Ops = append(e.Ops, Op(bits.TrailingZeros32(left)))
	}
	return e, nil
}

// begin chooses the first PSN that this end sends, where it has one of its own: in Mode I.
func (e *Endpoint) begin(t Tuning) error {
	if e.Message == 0 {
		return nil
	}
	if t.FirstPSN != nil {
		e.OwnStart = *t.FirstPSN & roce.PSNMask
		return nil
	}
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return fmt.Errorf("random number: %w", err)
	}
	e.OwnStart = roce.PSN(binary.LittleEndian.Uint32(b[:]) & roce.PSNMask)
	return nil
}

// Destroy ends the group for all its members, each of which calls it when it has made its last call. It waits until all have, or one of them is
// gone, or ctx ends: a member that went away before would leave others without the acknowledgements that they wait for. A group that is fixed to a
// Reduce or a Broadcast has no way to wait: there the members must know by themselves when all are done.
func (g *Group) Destroy(ctx context.Context) error {
	if c, err := g.Start(Request{Collective: Barrier}); err == nil {
		select {
		case <-c.done: // an error is the end that was wanted
		case <-ctx.Done():
		}
	}
	g.shut()
	return g.goodbye(ctx, "")
}

// Abort ends the group for all its members at once. Calls that are under way anywhere fail, with the reason.
func (g *Group) Abort(ctx context.Context, reason string) error {
	g.shut()
	return g.goodbye(ctx, reason)
}

// goodbye tells the manager.
func (g *Group) goodbye(ctx context.Context, reason string) error {
	if g.leave == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	return g.leave.Abort(ctx, reason)
}
