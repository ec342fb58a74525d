// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	n    int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir(), n: 1}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a.key = key
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.write("ca", a.cert, key)
	return a
}

func (a *authority) write(name string, c *x509.Certificate, key *ecdsa.PrivateKey) {
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for ext, b := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, name+ext), pem.EncodeToMemory(b), 0o600))
	}
}

// issue makes a certificate; life is until when it is good.
func (a *authority) issue(role, name string, life time.Duration) Files {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.n++
	a.write(name, &x509.Certificate{SerialNumber: big.NewInt(a.n), Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{role}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}, key)
	at := func(file string) string { return filepath.Join(a.dir, file) }
	return Files{at("ca.pem"), at(name + ".pem"), at(name + ".key")}
}

// whoami answers with the caller.
type whoami struct{ pb.UnimplementedAgentServer }

func (whoami) Describe(ctx context.Context, _ *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	return &pb.DescribeResponse{Name: CallerOf(ctx).String()}, nil
}

func serve(t *testing.T, f Files, roles ...string) string {
	s, err := Server(f, roles...)
	require.NoError(t, err)
	pb.RegisterAgentServer(s, whoami{})
	l, err := Listen("127.0.0.1:0", f)
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
	good, other := newAuthority(t), newAuthority(t)
	address := serve(t, good.issue(Agent, "leaf0", time.Hour), Manager, Operator)
	who, err := ask(t, address, good.issue(Manager, "m", time.Hour))
	require.NoError(t, err)
	assert.Equal(t, "manager m", who)
	who, err = ask(t, address, good.issue(Operator, "ann", time.Hour))
	require.NoError(t, err)
	assert.Equal(t, "operator ann", who)

	_, err = ask(t, address, good.issue("", "acme", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	assert.ErrorContains(t, err, "tenant acme may not ask this")
	_, err = ask(t, address, good.issue(Agent, "leaf1", time.Hour))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	for name, f := range map[string]Files{"none": {}, "expired": good.issue(Manager, "old", -time.Minute), "of another authority": other.issue(Manager, "m", time.Hour)} {
		_, err = ask(t, address, f)
		assert.Equal(t, codes.Unavailable, status.Code(err), name)
	}
	// The other way round: whom one calls must be an agent.
	_, err = ask(t, serve(t, good.issue(Manager, "m2", time.Hour)), good.issue(Manager, "m", time.Hour))
	assert.ErrorContains(t, err, "is manager m2, and no agent")
	_, err = ask(t, serve(t, other.issue(Agent, "x", time.Hour)), good.issue(Manager, "m", time.Hour))
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

func TestLoopback(t *testing.T) {
	who, err := ask(t, serve(t, Files{}, Manager), Files{})
	require.NoError(t, err)
	assert.Equal(t, "operator local", who)
	_, err = Listen("0.0.0.0:0", Files{})
	require.ErrorIs(t, err, ErrLoopback)
	_, err = Dial("192.0.2.1:1", Agent, Files{})
	require.ErrorIs(t, err, ErrLoopback)
	_, err = Dial("nonsense", Agent, Files{})
	require.Error(t, err)
}

func TestFiles(t *testing.T) {
	a := newAuthority(t)
	f := a.issue(Agent, "a", time.Hour)
	for want, bad := range map[string]Files{
		"an authority, a certificate and a key are needed": {CA: f.CA},
		"no such file":                      {f.CA + "x", f.Cert, f.Key},
		"a.key has none":                    {f.Key, f.Cert, f.Key},
		"private key does not match public": {f.CA, f.Cert, a.issue(Agent, "b", time.Hour).Key},
	} {
		_, err := Server(bad)
		require.ErrorContains(t, err, want)
		_, err = Dial("127.0.0.1:1", Agent, bad)
		require.ErrorContains(t, err, want)
	}
}
