// SPDX-License-Identifier: Apache-2.0

// Package rpc connects the parts of the control plane: gRPC with certificates on both sides. A certificate's organizational unit is the role
// of who has it (manager, agent or operator; any other is a tenant's), its common name who it is. A tenant is a whole subject: organization, unit
// and common name. Without certificates everybody is the operator, and nothing but loopback is spoken to.
package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Roles.
const (
	Manager  = "manager"
	Agent    = "agent"
	Operator = "operator"
	Tenant   = "tenant"
)

// Files are PEM files: the authority that all certificates come from, and one's own certificate and key. All or none are given.
type Files struct{ CA, Cert, Key string }

// ErrLoopback means that an address other than loopback was to be used without certificates.
var ErrLoopback = errors.New("without certificates only loopback is allowed")

// none tells that there are no certificates.
func (f Files) none() bool { return f == Files{} }

// config reads the files.
func (f Files) config() (*tls.Config, error) {
	if f.CA == "" || f.Cert == "" || f.Key == "" {
		return nil, errors.New("certificates: an authority, a certificate and a key are needed, or none of them")
	}
	text, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificates: %s has none", f.CA)
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		RootCAs: pool}, nil
}

// Caller is who is at the other end: its role, its common name, and as whom it has groups. No two subjects are the same Tenant.
type Caller struct{ Role, Name, Tenant string }

func (c Caller) String() string {
	if c.Role == Tenant {
		return c.Role + " " + c.Tenant
	}
	return c.Role + " " + c.Name
}

// mostTenant is how long a tenant may be: it begins the names of its groups, which agents keep.
const mostTenant = 120

// check refuses who has no name, because all of that kind would be one.
func (c Caller) check() error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return fmt.Errorf("%s without a common name in its certificate", c.Role)
	case len(c.Tenant) > mostTenant:
		return fmt.Errorf("the certificate's subject, %s, has %d bytes, %d can be", c.Tenant, len(c.Tenant), mostTenant)
	}
	return nil
}

// tenantOf writes a subject as ORGANIZATION/UNIT/NAME, UNIT/NAME or NAME. The parts are escaped, so that a stroke or a comma in one of them does
// not make another subject's name of it.
func tenantOf(s pkix.Name) string {
	part := func(values []string) string {
		var all []string
		for _, v := range values {
			if v != "" {
				all = append(all, url.PathEscape(v))
			}
		}
		return strings.Join(all, ",")
	}
	path := []string{part(s.Organization), part(s.OrganizationalUnit), url.PathEscape(s.CommonName)}
	for len(path) > 1 && path[0] == "" {
		path = path[1:]
	}
	return strings.Join(path, "/")
}

// callerOf reads a certificate. A unit that is no role makes a tenant.
func callerOf(cert *x509.Certificate) Caller {
	c := Caller{Role: Tenant, Name: cert.Subject.CommonName, Tenant: tenantOf(cert.Subject)}
	for _, role := range []string{Manager, Agent, Operator} {
		if slices.Contains(cert.Subject.OrganizationalUnit, role) {
			c.Role = role
		}
	}
	return c
}

// CallerOf is who calls a server.
func CallerOf(ctx context.Context) Caller {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
			return callerOf(info.State.VerifiedChains[0][0])
		}
	}
	return Caller{Role: Operator, Name: "local", Tenant: "local"}
}

// Server makes a server for callers of these roles, all if none are named. Without certificates every caller has every role; Listen sees
// that they are on this machine.
func Server(f Files, roles ...string) (*grpc.Server, error) {
	if f.none() {
		return grpc.NewServer(), nil
	}
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	check := func(ctx context.Context) error {
		c := CallerOf(ctx)
		if err := c.check(); err != nil {
			return status.Error(codes.PermissionDenied, err.Error())
		}
		if len(roles) > 0 && !slices.Contains(roles, c.Role) {
			return status.Errorf(codes.PermissionDenied, "%v may not ask this", c)
		}
		return nil
	}
	return grpc.NewServer(grpc.Creds(credentials.NewTLS(config)),
		grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := check(ctx); err != nil {
				return nil, err
			}
			return next(ctx, r)
		}),
		grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := check(s.Context()); err != nil {
				return err
			}
			return next(srv, s)
		})), nil
}

// socketPrefix begins the address of a unix socket.
const socketPrefix = "unix:"

// Listen listens at HOST:PORT, or at unix:PATH, a socket that nobody else can use.
func Listen(address string, f Files) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
		}
		return l, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); f.none() && (!ok || !at.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("listen at %s: %w", address, ErrLoopback), l.Close())
	}
	return l, nil
}

// Dial prepares a connection to HOST:PORT or unix:PATH, where somebody of a role must be. It is made when it is first used, and again when it breaks.
func Dial(address, role string, f Files) (*grpc.ClientConn, error) {
	creds, target := insecure.NewCredentials(), "passthrough:///"+address
	if strings.HasPrefix(address, socketPrefix) {
		target = address
	}
	if f.none() && target != address {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("dial: %w", err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("dial %s: %w", address, ErrLoopback)
		}
	}
	if !f.none() {
		config, err := f.config()
		if err != nil {
			return nil, err
		}
		config.VerifyConnection = func(s tls.ConnectionState) error {
			c := callerOf(s.PeerCertificates[0])
			if c.Role != role {
				return fmt.Errorf("at %s is %v, and no %s", address, c, role)
			}
			return c.check()
		}
		creds = credentials.NewTLS(config)
	}
	// Who comes back must be found again within anybody's patience, and nobody here has thousands of connections.
	soon := grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
		MinConnectTimeout: time.Second}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds), grpc.WithConnectParams(soon))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return conn, nil
}
