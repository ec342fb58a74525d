// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"incforge/live"
	"incforge/live/wire"
	"incforge/roce"
)

// State is what a lab tells of itself.
type State struct {
	Name string `json:"name"`
	// Share is the folder that the hosts have as /share. Control is the control socket of the switches.
	Share   string `json:"share"`
	Control string `json:"control"`
	// Manager is the address of the manager, for the commands that speak to one; empty if there is none.
	Manager string       `json:"manager,omitempty"`
	Hosts   []HostState  `json:"hosts"`
	Links   []LinkState  `json:"links"`
	Groups  []GroupState `json:"groups"`
}

// HostState is a host now.
type HostState struct {
	Name string   `json:"name"`
	IP   roce.IP4 `json:"ip"`
	MAC  string   `json:"mac"`
	Up   bool     `json:"up"`
	Link string   `json:"link"`
}

// LinkState is a link.
type LinkState struct {
	Name   string      `json:"name"`
	Faults live.Faults `json:"faults"`
	Shape  wire.Shape  `json:"shape"`
}

// GroupState is a group now.
type GroupState struct {
	Name       string   `json:"name"`
	Hosts      []string `json:"hosts"`
	Collective string   `json:"collective"`
	DType      string   `json:"dtype,omitempty"`
	Op         string   `json:"op"`
	Window     int      `json:"window"`
	MTU        int      `json:"mtu"`
	Start      roce.PSN `json:"start"`
	// Joined is how often programs joined it. Switches are those of its tree, each with the group's number there.
	Joined   int         `json:"joined"`
	Switches []NodeState `json:"switches"`
}

// NodeState is a group's place on a switch.
type NodeState struct {
	Switch string `json:"switch"`
	Group  int    `json:"group"`
}

// state is everything.
func (l *Lab) state() State {
	s := State{Name: l.top.Name, Share: l.share, Control: l.switchSocket()}
	if socket := l.managerSocket(); socket != "" {
		s.Manager = "unix:" + socket
	}
	for i, h := range l.hosts {
		host := &l.top.Hosts[i]
		up := false
		h.mu.Lock()
		if h.m != nil {
			select {
			case <-h.m.dead:
			default:
				up = true
			}
		}
		h.mu.Unlock()
		s.Hosts = append(s.Hosts, HostState{host.Name, host.IP, host.MAC.String(), up, l.top.linkOf(i)})
	}
	for i := range l.top.Links {
		link := &l.top.Links[i]
		s.Links = append(s.Links, LinkState{link.Name, link.Faults, link.Shape})
	}
	for _, j := range l.joiners {
		s.Groups = append(s.Groups, j.state())
	}
	return s
}

// linkOf is the name of a host's link.
func (t *Topology) linkOf(host int) string {
	at := slices.IndexFunc(t.Links, func(l Link) bool { return l.A.Host == host || l.B.Host == host })
	return t.Links[at].Name
}

func (j *joiner) state() GroupState {
	j.mu.Lock()
	defer j.mu.Unlock()
	g := GroupState{Name: j.g.Name, Collective: j.g.Collective, DType: j.g.DType, Op: j.g.Op, Window: j.g.Window, MTU: j.g.MTU, Start: j.g.Start, Joined: j.times}
	for _, h := range j.g.Hosts {
		g.Hosts = append(g.Hosts, j.l.top.Hosts[h].Name)
	}
	for _, n := range j.g.Nodes {
		g.Switches = append(g.Switches, NodeState{j.l.top.Switches[n.Switch].Name, n.Group})
	}
	return g
}

// What answers of the lab's socket have besides bodies.
const (
	statusTrailer = "Lab-Status"
	errorTrailer  = "Lab-Error"
	shellProtocol = "incforge-lab-shell"
	scriptBytes   = 1 << 20
)

// serve opens the lab's socket. What it returns closes it.
func (l *Lab) serve(ctx context.Context) (stop func() error, err error) {
	socket, err := net.Listen("unix", l.labSocket())
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(l.labSocket(), 0o600); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	server := &http.Server{Handler: l.handler(), BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(socket) }()
	return func() error {
		err := server.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

func (l *Lab) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/state", func(w http.ResponseWriter, _ *http.Request) { l.answer(w, l.state(), nil) })
	mux.HandleFunc("POST /v1/hosts/{host}/kill", func(w http.ResponseWriter, req *http.Request) {
		l.answer(w, struct{}{}, l.Kill(req.PathValue("host")))
	})
	mux.HandleFunc("POST /v1/hosts/{host}/start", func(w http.ResponseWriter, req *http.Request) {
		l.answer(w, struct{}{}, l.Start(req.Context(), req.PathValue("host")))
	})
	mux.HandleFunc("POST /v1/hosts/{host}/exec", l.serveExec)
	mux.HandleFunc("POST /v1/hosts/{host}/shell", l.serveShell)
	mux.HandleFunc("GET /v1/links/{link}/capture", l.serveCapture)
	return mux
}

// answer writes an answer, or why there is none.
func (l *Lab) answer(w http.ResponseWriter, body any, err error) {
	status := http.StatusOK
	switch {
	case errors.Is(err, ErrNoHost), errors.Is(err, errNoLink):
		status = http.StatusNotFound
	case errors.Is(err, ErrDown), errors.Is(err, ErrBusy), errors.Is(err, ErrGone):
		status = http.StatusConflict
	case err != nil:
		status = http.StatusInternalServerError
	}
	if err != nil {
		body = map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		l.log.WithError(err).Debug("lab: socket")
	}
}

// flushing writes at once.
type flushing struct {
	io.Writer
	c *http.ResponseController
}

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.c.Flush()
	}
	return n, err
}

func (l *Lab) serveExec(w http.ResponseWriter, req *http.Request) {
	script, err := io.ReadAll(http.MaxBytesReader(w, req.Body, scriptBytes))
	if err == nil {
		_, err = l.host(req.PathValue("host"))
	}
	if err != nil {
		l.answer(w, nil, err)
		return
	}
	w.Header().Set("Trailer", statusTrailer+", "+errorTrailer)
	status, err := l.Exec(req.Context(), req.PathValue("host"), string(script), flushing{w, http.NewResponseController(w)})
	w.Header().Set(statusTrailer, strconv.Itoa(status))
	if err != nil {
		w.Header().Set(errorTrailer, err.Error())
	}
}

func (l *Lab) serveShell(w http.ResponseWriter, req *http.Request) {
	if _, err := l.host(req.PathValue("host")); err != nil {
		l.answer(w, nil, err)
		return
	}
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		l.answer(w, nil, err)
		return
	}
	defer func() { _ = conn.Close() }() // whoever is there has gone
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", shellProtocol); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	if _, err := l.Shell(ctx, req.PathValue("host"), &until{buf.Reader, cancel}, conn); err != nil {
		fmt.Fprintf(conn, "\r\nlab: %v\r\n", err)
	}
}

// until tells when there is no more to read.
type until struct {
	*bufio.Reader
	end func()
}

func (u *until) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err != nil {
		u.end()
	}
	return n, err
}

// WriteTo would go past Read.
func (u *until) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{u})
}

var errNoLink = errors.New("there is no such link")

// link finds a link by its name, or a host's by the host's.
func (t *Topology) link(name string) (*Link, error) {
	for i := range t.Links {
		l := &t.Links[i]
		if l.Name == name || l.A.Host >= 0 && t.Hosts[l.A.Host].Name == name || l.B.Host >= 0 && t.Hosts[l.B.Host].Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", errNoLink, name)
}

// captureTick is the time between two looks whether a capture holds frames back.
const captureTick = 200 * time.Millisecond

func (l *Lab) serveCapture(w http.ResponseWriter, req *http.Request) {
	link, err := l.top.link(req.PathValue("link"))
	if err != nil {
		l.answer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-pcapng")
	at := l.top.tapOf(link)
	s, err := l.taps.Add(at, link.Name, flushing{w, http.NewResponseController(w)})
	if err != nil {
		return // whoever asked has gone
	}
	tick := time.NewTicker(captureTick)
	defer tick.Stop()
	for {
		select {
		case <-req.Context().Done():
		case <-s.Failed():
		case <-tick.C:
			if s.Flush() == nil {
				continue
			}
		}
		_ = l.taps.Remove(at, s) // whoever captured has gone
		return
	}
}

// Folders are the folders of the labs that run in home.
func Folders(home string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(home, "*", "lab"))
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found, err
}
