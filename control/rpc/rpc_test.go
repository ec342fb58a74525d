// SPDX-License-Identifier: Apache-2.0

package rpc_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
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
	_, err = ask(t, address, good.Issue(Agent, "leaf1", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	for name, f := range map[string]Files{"none": {}, "expired": good.Issue(Manager, "old", -time.Minute), "of another authority": other.Issue(Manager, "m", time.Hour)} {
		_, err = ask(t, address, f)
		assert.Equal(t, codes.Unavailable, status.Code(err), name)
	}
	// The other way round: whom one calls must be an agent.
	_, err = ask(t, serve(t, good.Issue(Manager, "m2", time.Hour)), good.Issue(Manager, "m", time.Hour))
	assert.ErrorContains(t, err, "is manager m2, and no agent")
	_, err = ask(t, serve(t, other.Issue(Agent, "x", time.Hour)), good.Issue(Manager, "m", time.Hour))
	assert.Equal(t, codes.Unavailable, status.Code(err))
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
