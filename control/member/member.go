// SPDX-License-Identifier: Apache-2.0

// Package member is a host's side of the control plane: it takes part in making a group, keeps telling the manager that the member is there, and
// says when and why the group has ended. Queue pairs are made by whoever calls.
package member

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/control/managerpb"
)

// retry is the time between two calls to a manager that does not answer.
const retry = 100 * time.Millisecond

// Group is a member's part in a group. Make it with Init.
type Group struct {
	// Offer is what the manager said of the member's connection.
	Offer *managerpb.JoinResponse
	// Ready is what it said when all had reported.
	Ready *managerpb.ReportResponse

	manager managerpb.ManagerClient
	rank    uint32
	stop    context.CancelFunc
	over    chan struct{}
	once    sync.Once
	reason  string
}

// Init takes part in making a group: all its members call it with the same request but for their ranks. connect makes the member's queue pair
// toward the far end that the offer names, and says what it is. A manager that does not answer is asked again until ctx ends. When Init has returned,
// the group is ready, and the member is there until Leave.
func Init(ctx context.Context, m managerpb.ManagerClient, r *managerpb.JoinRequest,
	connect func(offer *managerpb.JoinResponse) (*managerpb.QueuePair, error)) (*Group, error) {
	return InitRing(ctx, m, r, func(offer *managerpb.JoinResponse) (*managerpb.ReportRequest, error) {
		own, err := connect(offer)
		return &managerpb.ReportRequest{Own: own}, err
	})
}

// InitRing is Init of a member that reports more queue pairs: those toward the next rank and the one before.
func InitRing(ctx context.Context, m managerpb.ManagerClient, r *managerpb.JoinRequest,
	connect func(offer *managerpb.JoinResponse) (*managerpb.ReportRequest, error)) (*Group, error) {
	g := &Group{manager: m, rank: r.Rank, over: make(chan struct{})}
	err := again(ctx, func() (err error) {
		g.Offer, err = m.Join(ctx, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("join group %s: %w", r.Name, err)
	}
	report, err := connect(g.Offer)
	if err != nil {
		// The others should not have to wait until this member's time is over. What becomes of the call makes no difference to it.
		_, _ = m.Destroy(ctx, &managerpb.DestroyRequest{Group: g.Offer.Group})
		return nil, fmt.Errorf("group %s: queue pair: %w", r.Name, err)
	}
	report.Group, report.Rank = g.Offer.Group, r.Rank
	err = again(ctx, func() (err error) {
		g.Ready, err = m.Report(ctx, report)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", r.Name, err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	go g.watch(watching)
	return g, nil
}

// Lock asks for the group's turn, or prolongs the one that it has. After an error the manager may have got it: Unlock ends it.
func (g *Group) Lock(ctx context.Context, r *managerpb.LockRequest) (*managerpb.LockResponse, error) {
	r.Group = g.Offer.Group
	return g.manager.Lock(ctx, r)
}

// Unlock ends the turn for a collective. A manager that does not answer is told again until ctx ends.
func (g *Group) Unlock(ctx context.Context, sequence uint64) error {
	return again(ctx, func() error {
		_, err := g.manager.Unlock(ctx, &managerpb.UnlockRequest{Group: g.Offer.Group, Sequence: sequence})
		return err
	})
}

// again repeats a call while nobody answers.
func again(ctx context.Context, call func() error) error {
	for {
		err := call()
		if status.Code(err) != codes.Unavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(retry):
		}
	}
}

// watch waits for the group's end, over as many managers as it takes.
func (g *Group) watch(ctx context.Context) {
	err := again(ctx, func() error {
		s, err := g.manager.Watch(ctx, &managerpb.WatchRequest{Group: g.Offer.Group, Rank: g.rank})
		if err != nil {
			return err
		}
		w, err := s.Recv()
		if err == nil {
			g.end(w.Ended)
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		g.end("this member has left")
	case status.Code(err) == codes.NotFound:
		g.end("the manager knows the group no longer")
	case err != nil:
		g.end(status.Convert(err).Message())
	}
}

func (g *Group) end(reason string) {
	g.once.Do(func() {
		g.reason = reason
		close(g.over)
	})
}

// Ended is closed when the group has ended, or the member has left it. The connection is then of no use.
func (g *Group) Ended() <-chan struct{} { return g.over }

// Reason is why the group has ended; empty while it has not.
func (g *Group) Reason() string {
	select {
	case <-g.over:
		return g.reason
	default:
		return ""
	}
}

// Leave stops telling the manager that the member is there, which ends the group for all.
func (g *Group) Leave() {
	g.stop()
	<-g.over
}

// Destroy ends the group for all its members.
func (g *Group) Destroy(ctx context.Context) error { return g.Abort(ctx, "") }

// Abort is Destroy with a reason that the others hear.
func (g *Group) Abort(ctx context.Context, reason string) error {
	err := again(ctx, func() error {
		_, err := g.manager.Destroy(ctx, &managerpb.DestroyRequest{Group: g.Offer.Group, Reason: reason})
		return err
	})
	if err != nil && status.Code(err) != codes.NotFound { // which it is if an answer was lost, or others were first
		return fmt.Errorf("destroy group %s: %w", g.Offer.Group, err)
	}
	g.Leave()
	return nil
}
