// SPDX-License-Identifier: Apache-2.0

package rpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	. "incforge/control/rpc"
	"incforge/control/rpc/rpctest"
)

// whoami answers with the caller.
type whoami struct{ pb.UnimplementedAgentServer }

func (whoami) Describe(ctx context.Context, _ *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	return &pb.DescribeResponse{Name: CallerOf(ctx).String()}, nil
}

func serve(t *testing.T, f Files, roles ...string) string {
	return serveAt(t, "127.0.0.1:0", f, roles...)
}

func serveAt(t *testing.T, address string, f Files, roles ...string) string {
	s, err := Server(f, roles...)
	require.NoError(t, err)
	pb.RegisterAgentServer(s, whoami{})
	l, err := Listen(address, f)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); assert.NoError(t, <-done) })
	return l.Addr().String()
}

func ask(t *testing.T, address string, f Files) (string, error) {
	conn, err := Dial(address, Agent, f)
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := pb.NewAgentClient(conn).Describe(ctx, &pb.DescribeRequest{})
	return r.GetName(), err
}

func TestCertificates(t *testing.T) {
	good, other := rpctest.New(t), rpctest.New(t)
	address := serve(t, good.Issue(Agent, "leaf0", time.Hour), Manager, Operator)
	who, err := ask(t, address, good.Issue(Manager, "m", time.Hour))
	require.NoError(t, err)
	assert.Equal(t, "manager m", who)
	who, err = ask(t, address, good.Issue(Operator, "ann", time.Hour))
	require.NoError(t, err)
	assert.Equal(t, "operator ann", who)

	_, err = ask(t, address, good.Issue("", "acme", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	assert.ErrorContains(t, err, "tenant acme may not ask this")
	_, err = ask(t, address, good.Issue(Operator, "", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	assert.ErrorContains(t, err, "operator without a common name")
	_, err = ask(t, address, good.Issue(Agent, "leaf1", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	for name, f := range map[string]Files{"none": {}, "expired": good.Issue(Manager, "old", -time.Minute), "of another authority": other.Issue(Manager, "m", time.Hour)} {
		_, err = ask(t, address, f)
		assert.Equal(t, codes.Unavailable, status.Code(err), name)
	}
	// The other way round: whom one calls must be an agent.
	_, err = ask(t, serve(t, good.Issue(Manager, "m2", time.Hour)), good.Issue(Manager, "m", time.Hour))
	assert.ErrorContains(t, err, "is manager m2, and no agent")
	_, err = ask(t, serve(t, good.Issue(Agent, "", time.Hour)), good.Issue(Manager, "m", time.Hour))
	assert.ErrorContains(t, err, "agent without a common name")
	_, err = ask(t, serve(t, other.Issue(Agent, "x", time.Hour)), good.Issue(Manager, "m", time.Hour))
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

// Of two subjects that differ in organization, unit or common name, however they are written, each is a tenant of its own; one without a common name is
// none. An operator is not the tenant of its name.
func TestTenants(t *testing.T) {
	named := func(org, unit []string, name string) Caller {
		cert := &x509.Certificate{Subject: pkix.Name{Organization: org, OrganizationalUnit: unit, CommonName: name}}
		return CallerOf(peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert}}}}}))
	}
	all := []string{}
	for _, c := range []struct {
		who       Caller
		role, own string
	}{
		{named(nil, []string{"acme"}, "trainer"), Tenant, "acme/trainer"},
		{named(nil, []string{"rival"}, "trainer"), Tenant, "rival/trainer"},
		{named(nil, nil, "trainer"), Tenant, "trainer"},
		{named([]string{"acme"}, nil, "trainer"), Tenant, "acme//trainer"},
		{named([]string{"x"}, []string{"acme"}, "trainer"), Tenant, "x/acme/trainer"},
		{named(nil, []string{"x/acme"}, "trainer"), Tenant, "x%2Facme/trainer"},
		{named(nil, nil, "acme/trainer"), Tenant, "acme%2Ftrainer"},
		{named(nil, []string{"a", "b"}, "trainer"), Tenant, "a,b/trainer"},
		{named(nil, []string{"a,b"}, "trainer"), Tenant, "a%2Cb/trainer"},
		{named(nil, []string{Operator}, "trainer"), Operator, "operator/trainer"},
		{named(nil, []string{"acme", Operator}, "trainer"), Operator, "acme,operator/trainer"},
	} {
		assert.Equal(t, Caller{Role: c.role, Name: c.who.Name, Tenant: c.own}, c.who)
		assert.NotContains(t, all, c.who.Tenant)
		all = append(all, c.who.Tenant)
	}

	a := rpctest.New(t)
	address := serve(t, a.Issue(Agent, "leaf0", time.Hour))
	for unit, want := range map[string]string{"acme": "tenant acme/trainer", "rival": "tenant rival/trainer"} {
		who, err := ask(t, address, a.Issue(unit, "trainer", time.Hour))
		require.NoError(t, err)
		assert.Equal(t, want, who)
	}
	for want, f := range map[string]Files{"tenant without a common name": a.Issue("acme", "", time.Hour), "has 129 bytes, 120 can be": a.Issue("acme", strings.Repeat("x", 124), time.Hour)} {
		_, err := ask(t, address, f)
		assert.Equal(t, codes.PermissionDenied, status.Code(err))
		assert.ErrorContains(t, err, want)
	}
}

func TestLoopback(t *testing.T) {
	who, err := ask(t, serve(t, Files{}, Manager), Files{})
	require.NoError(t, err)
	assert.Equal(t, "operator local", who)
	socket := filepath.Join(t.TempDir(), "s")
	serveAt(t, "unix:"+socket, Files{}, Manager)
	who, err = ask(t, "unix:"+socket, Files{})
	require.NoError(t, err)
	assert.Equal(t, "operator local", who)
	info, err := os.Stat(socket)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = Listen("0.0.0.0:0", Files{})
	require.ErrorIs(t, err, ErrLoopback)
	_, err = Dial("192.0.2.1:1", Agent, Files{})
	require.ErrorIs(t, err, ErrLoopback)
	_, err = Dial("nonsense", Agent, Files{})
	require.Error(t, err)
}

func TestFiles(t *testing.T) {
	a := rpctest.New(t)
	f := a.Issue(Agent, "a", time.Hour)
	for want, bad := range map[string]Files{
		"an authority, a certificate and a key are needed": {CA: f.CA},
		"no such file":                      {CA: f.CA + "x", Cert: f.Cert, Key: f.Key},
		"a.key has none":                    {CA: f.Key, Cert: f.Cert, Key: f.Key},
		"private key does not match public": {CA: f.CA, Cert: f.Cert, Key: a.Issue(Agent, "b", time.Hour).Key},
	} {
		_, err := Server(bad)
		require.ErrorContains(t, err, want)
		_, err = Dial("127.0.0.1:1", Agent, bad)
		require.ErrorContains(t, err, want)
	}
}
