// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/live/groups"
	"incforge/live/reasons"
	"incforge/live/socket"
	"incforge/roce"
)

// State is what the control socket tells of everything.
type State struct {
	WallSeconds float64       `json:"wall_s"`
	Switches    []SwitchState `json:"switches"`
}

// SwitchState is a switch now: its report so far, and its groups.
type SwitchState struct {
	SwitchReport
	Mode   int          `json:"mode"`
	Groups []GroupState `json:"groups"`
}

// GroupState is a group now.
type GroupState struct {
	Group      int        `json:"group"`
	Enabled    bool       `json:"enabled"`
	Kind       string     `json:"kind"`
	Collective string     `json:"collective,omitempty"`
	Start      roce.PSN   `json:"start"`
	Window     int        `json:"window"`
	SlotBase   int        `json:"slot_base"`
	Units      int        `json:"units"`
	Ends       []EndState `json:"endpoints"`
	// Next is the first PSN that is not complete, Partial the number of slots that some have contributed to and not all; both only where
	// the engine can be looked into.
	Next    *roce.PSN `json:"next,omitempty"`
	Partial int       `json:"partial"`
	// Stands says, in lines of text, why the group stands; nothing if it does not.
	Stands []string `json:"stands,omitempty"`
}

// EndState is an endpoint now.
type EndState struct {
	Endpoint  int       `json:"endpoint"`
	Port      int       `json:"port"`
	LocalIP   roce.IP4  `json:"local_ip"`
	LocalQPN  uint32    `json:"local_qpn"`
	RemoteIP  roce.IP4  `json:"remote_ip"`
	RemoteQPN uint32    `json:"remote_qpn"`
	Expected  *roce.PSN `json:"expected,omitempty"`
}

// Limits of the control socket.
const (
	controlBytes = 1 << 20
	controlTime  = 10 * time.Second
)

// refused is an answer other than OK.
type refused struct {
	status int
	err    error
}

func (r *refused) Error() string { return r.err.Error() }

func refusef(status int, format string, args ...any) error {
	return &refused{status, fmt.Errorf(format, args...)}
}

// serve opens the control socket, if one is wanted. What it returns closes it and removes its file.
func (r *run) serve() (end func() error, err error) {
	if r.o.Control == "" {
		return func() error { return nil }, nil
	}
	defer fail.Catch(&err, "control socket %s", r.o.Control)
	fail.On(socket.Vacate(r.o.Control, "unix"))
	l := fail.Must(net.Listen("unix", r.o.Control))
	fail.On(os.Chmod(r.o.Control, 0o600)) // who may write there may end every collective
	server := &http.Server{Handler: r.handler(), ReadTimeout: controlTime, WriteTimeout: 2 * controlTime, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	return func() error {
		err := server.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

// handler answers what comes to the control socket.
func (r *run) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(req *http.Request, body []byte) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, controlBytes))
			var answer any
			if err != nil {
				err = refusef(http.StatusRequestEntityTooLarge, "the request: %w", err)
			} else {
				answer, err = f(req, body)
			}
			status, no := http.StatusOK, &refused{}
			switch {
			case errors.As(err, &no):
				status = no.status
			case err != nil:
				status = http.StatusInternalServerError
			}
			if err != nil {
				answer = map[string]string{"error": err.Error()}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				r.o.Log.WithError(err).Debug("live: control socket")
			}
		})
	}
	handle("GET /v1/state", func(req *http.Request, _ []byte) (any, error) { return r.state(req.Context()) })
	const groups = "/v1/switches/{switch}/groups"
	handle("POST "+groups, r.onGroup((*loop).add))
	handle("PATCH "+groups+"/{group}", r.onGroup((*loop).change))
	handle("POST "+groups+"/{group}/reset", r.onGroup((*loop).reset))
	handle("DELETE "+groups+"/{group}", r.onGroup((*loop).remove))
	const ports = "/v1/switches/{switch}/ports/{port}"
	handle("POST "+ports+"/down", func(req *http.Request, _ []byte) (any, error) { return r.setPort(req, true) })
	handle("POST "+ports+"/up", func(req *http.Request, _ []byte) (any, error) { return r.setPort(req, false) })
	return mux
}

// state asks every switch.
func (r *run) state(ctx context.Context) (any, error) {
	s := State{WallSeconds: time.Since(r.start).Seconds()}
	for _, l := range r.loops {
		var one SwitchState
		if err := l.do(ctx, func() error { one = l.state(); return nil }); err != nil {
			return nil, err
		}
		s.Switches = append(s.Switches, one)
	}
	return s, nil
}

// onGroup has the switch that a request names do something to a group; the answer is the group's state then.
func (r *run) onGroup(f func(l *loop, group int, body []byte) (any, error)) func(*http.Request, []byte) (any, error) {
	return func(req *http.Request, body []byte) (answer any, err error) {
		for _, l := range r.loops {
			if l.sw.Name != req.PathValue("switch") {
				continue
			}
			group := -1
			if text := req.PathValue("group"); text != "" {
				n, err := strconv.ParseUint(text, 10, 16)
				if err != nil || l.man.Params.AllGroups() <= int(n) {
					return nil, refusef(http.StatusNotFound, "group %q: this design has groups 0 to %d", text, l.man.Params.AllGroups()-1)
				}
				group = int(n)
			}
			if err := l.managed(); err != nil {
				return nil, err
			}
			err = l.do(req.Context(), func() (err error) {
				if answer, err = f(l, group, body); errors.Is(err, groups.ErrSetup) {
					err = &refused{http.StatusBadRequest, err}
				}
				return err
			})
			return answer, err
		}
		return nil, refusef(http.StatusNotFound, "there is no switch %q", req.PathValue("switch"))
	}
}

// do has the loop's goroutine do something between two steps of the engine. An engine that fails meanwhile fails at the next step, too.
func (l *loop) do(ctx context.Context, what func() error) error {
	ctx, cancel := context.WithTimeout(ctx, controlTime)
	defer cancel()
	done := make(chan error, 1)
	call := func() {
		var err error
		func() {
			defer fail.Catch(&err, "")
			err = what()
		}()
		done <- err
	}
	select {
	case l.calls <- call:
		return <-done
	case <-l.ended:
		return refusef(http.StatusServiceUnavailable, "the switch has ended")
	case <-ctx.Done():
		return refusef(http.StatusServiceUnavailable, "the switch is busy: %w", ctx.Err())
	}
}

// state is what the switch is now.
func (l *loop) state() SwitchState {
	s := SwitchState{SwitchReport: l.report(), Mode: l.man.Params.Mode, Groups: []GroupState{}}
	s.Counters = l.counters()
	for i := range l.setup.Groups {
		s.Groups = append(s.Groups, l.group(&l.setup.Groups[i]))
	}
	return s
}

func (l *loop) group(g *groups.Group) GroupState {
	set := &g.Set
	s := GroupState{Group: g.Index, Kind: g.Kind(), Start: set.Start, Window: 1 << set.Log2N / 2, SlotBase: set.SlotBase,
		Units: l.man.Params.Units(set.DType, set.InBand) << set.Log2N, Ends: []EndState{}}
	var standing inc.Standing
	if l.look != nil {
		if standing, s.Enabled = l.look.Standing(g.Index); s.Enabled {
			s.Partial = standing.Partial
			if standing.Ranged {
				s.Next = &standing.Next
			}
		}
	} else {
		s.Enabled = fail.Must(l.ctl.Get("GROUP_STATUS", g.Index, "enabled")) != 0
	}
	if of := l.watch.groups[g.Index]; of != nil {
		s.Stands = of.why
	}
	for _, e := range sortedKeys(g.Ends) {
		ep := g.Ends[e]
		end := EndState{Endpoint: e, Port: ep.Port, LocalIP: ep.LocalIP, LocalQPN: ep.LocalQPN, RemoteIP: ep.RemoteIP, RemoteQPN: ep.RemoteQPN}
		if e < len(standing.Ends) {
			end.Expected = &standing.Ends[e].Expected
		}
		s.Ends = append(s.Ends, end)
	}
	return s
}

// known is a group that there is.
func (l *loop) known(group int) (*groups.Group, error) {
	at := l.setup.At(group)
	if at < 0 {
		return nil, refusef(http.StatusNotFound, "there is no group %d", group)
	}
	return &l.setup.Groups[at], nil
}

// stop disables a group and lets all frames that wait go through the engine, so that none of the group's meets its next instance.
func (l *loop) stop(group int) {
	fail.On(l.ctl.Disable(group))
	for n := len(l.in); n > 0; n-- {
		l.take(<-l.in)
	}
	for n := 0; l.eng.Waiting() > 0 && n < finishSteps; n++ {
		l.forward()
	}
	l.leave()
	l.watch.forget(group)
}

// install stops a group and starts it with other settings. The endpoints that it has no longer are cleared.
func (l *loop) install(g groups.Group) (any, error) {
	l.stop(g.Index)
	l.clear(g.Index, g.Ends)
	if err := g.Program(l.ctl, l.man.Params.EPS()); err != nil {
		return nil, refusef(http.StatusConflict, "%w; the group is stopped", err)
	}
	l.setup.Put(g)
	l.leave()
	at := l.setup.At(g.Index)
	l.whole.o.Log.Infof("live: %sgroup %d: %s, %d endpoints, start %v, window %d packets", l.whole.of(l), g.Index, g.Kind(), len(g.Ends), g.Set.Start, reasons.Window(&g))
	return l.group(&l.setup.Groups[at]), nil
}

// clear invalidates the records of a group's endpoints but those that it will have.
func (l *loop) clear(group int, keep map[int]inc.Endpoint) {
	at := l.setup.At(group)
	if at < 0 {
		return
	}
	for _, e := range sortedKeys(l.setup.Groups[at].Ends) {
		if _, has := keep[e]; !has {
			fail.On(l.ctl.SetEndpoint(group*l.man.Params.EPS()+e, inc.Endpoint{}))
		}
	}
}

// add adds a group; body is its mapping as in a groups file.
func (l *loop) add(_ int, body []byte) (any, error) {
	g, err := l.setup.ParseGroup("group", body)
	if err != nil {
		return nil, err
	}
	return l.install(g)
}

// change gives a group other settings and starts it anew; body has those that are not to stay.
func (l *loop) change(group int, body []byte) (any, error) {
	if _, err := l.known(group); err != nil {
		return nil, err
	}
	g, err := l.setup.ParseChange(group, "group", body)
	if err != nil {
		return nil, err
	}
	return l.install(g)
}

// reset starts a group anew with the settings that it has.
func (l *loop) reset(group int, body []byte) (any, error) {
	g, err := l.known(group)
	switch {
	case err != nil:
		return nil, err
	case len(body) > 0:
		return nil, refusef(http.StatusBadRequest, "a reset takes no settings: change the group instead")
	}
	return l.install(*g)
}

// remove takes a group away.
func (l *loop) remove(group int, _ []byte) (any, error) {
	if _, err := l.known(group); err != nil {
		return nil, err
	}
	l.stop(group)
	l.clear(group, nil)
	l.setup.Remove(group)
	l.leave()
	l.whole.o.Log.Infof("live: %sgroup %d is taken away", l.whole.of(l), group)
	return map[string]int{"removed": group}, nil
}
