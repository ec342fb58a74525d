// SPDX-License-Identifier: Apache-2.0

package rendezvous

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/roce"
)

// A group's file says all that a member has to know before it meets the others, or what is wrong with it.
func TestRead(t *testing.T) {
	const hosts, sizes = "hosts h0 H1\n", "window 16\nmtu 1024\n"
	for _, c := range []struct {
		text, wrong string
		want        commlib.Endpoint
	}{
		{text: hosts + "collective in-band\ndtype \nop SUM\n" + sizes + "dtypes FP32 INT32\nops SUM MIN\nlater more\n",
			want: commlib.Endpoint{Types: []commlib.Type{commlib.FP32, commlib.INT32}, Ops: []commlib.Op{commlib.Sum, commlib.Min}}},
		{text: hosts + "collective allreduce\ndtype FP16\nop MAX\n" + sizes,
			want: commlib.Endpoint{Fixed: &commlib.Request{Type: commlib.FP16, Op: commlib.Max}}},
		{text: hosts + "collective reduce\ndtype FP16\nop SUM\nroot 1\n" + sizes,
			want: commlib.Endpoint{Fixed: &commlib.Request{Collective: commlib.Reduce, Root: 1, Type: commlib.FP16}}},
		{text: hosts + "collective broadcast\ndtype FP16\nop SUM\n" + sizes, wrong: "it does not say which rank is the root of the broadcast"},
		{text: "hosts h0 h2\ncollective in-band\n" + sizes, wrong: "H1 is none of the hosts h0, h2"},
		{text: hosts + "collective dance\n", wrong: "group:2: "},
		{text: hosts + "window many\n", wrong: "group:2: "},
		{text: hosts + "collective in-band\ndtypes FP32 FP64\n", wrong: "group:3: "},
	} {
		folder := filepath.Join(t.TempDir(), "ring")
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "group"), []byte(c.text), 0o600))
		got, err := read(folder, "H1")
		if c.wrong != "" {
			assert.ErrorContains(t, err, c.wrong)
			continue
		}
		require.NoError(t, err)
		c.want.Name, c.want.Members, c.want.Rank, c.want.Window, c.want.PathMTU = "ring", []string{"h0", "H1"}, 1, 16, 1024
		assert.Empty(t, cmp.Diff(c.want, got))
	}
	_, err := read(t.TempDir(), "h0")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What the lab says of the far end.
func TestConnection(t *testing.T) {
	var e commlib.Endpoint
	require.NoError(t, connection("10.77.255.1 1048577 16777215\n", &e))
	assert.Equal(t, roce.IP4{10, 77, 255, 1}, e.Peer.IP)
	assert.Equal(t, uint32(1048577), e.PeerQPN)
	assert.Equal(t, roce.PSN(0xFFFFFF), e.Start)
	for _, text := range []string{"", "10.77.255.1 1", "10.77.255 1 2", "10.77.255.1 x 2", "10.77.255.1 1 16777216"} {
		assert.Error(t, connection(text, &e), text)
	}
}

// A refusal is an error, and so is an answer that does not come.
func TestAwait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.go")
	require.NoError(t, os.WriteFile(path, []byte("error the switch is down\n"), 0o600))
	_, err := await(t.Context(), path, "x")
	assert.EqualError(t, err, "the switch is down")
	assert.NoFileExists(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = await(ctx, path, "the others to join")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "waiting for the others to join")
}

// unplugged is a wire on which nothing comes.
type unplugged struct{ closed chan struct{} }

func (u unplugged) Send([]byte) error { return nil }
func (u unplugged) Receive([]byte) (int, error) {
	<-u.closed
	return 0, os.ErrClosed
}
func (u unplugged) Close() error { close(u.closed); return nil }

// A group that the lab refuses, and one whose other members do not come, leave neither files nor queue pairs behind.
func TestRefused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "group"), []byte("hosts h0 h1\ncollective in-band\nwindow 16\nmtu 1024\ndtypes FP32\nops SUM\n"), 0o600))
	nic := softnic.New(unplugged{make(chan struct{})}, verbs.Address{})
	defer func() { assert.NoError(t, nic.Close()) }()
	file := func(name string) string { return filepath.Join(folder, name) }
	answer := func(took, name, text string) {
		for os.Remove(file(took)) != nil {
			time.Sleep(time.Millisecond)
		}
		assert.NoError(t, os.WriteFile(file(name+".tmp"), []byte(text), 0o600))
		assert.NoError(t, os.Rename(file(name+".tmp"), file(name)))
	}
	left := func() (names []string) {
		all, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range all {
			names = append(names, e.Name())
		}
		qps, _ := nic.InUse()
		assert.Zero(t, qps)
		return names
	}
	go answer("0.join", "0.go", "error the switch is down\n")
	_, err := Join(t.Context(), nic, folder, "h0", commlib.Tuning{})
	assert.EqualError(t, err, "group "+filepath.Base(folder)+": the switch is down")
	assert.Equal(t, []string{"group"}, left())

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Join(ctx, nic, folder, "h0", commlib.Tuning{})
	assert.ErrorContains(t, err, "waiting for the others to join")
	assert.Equal(t, []string{"group"}, left())

	go answer("0.join", "0.go", "10.0.0.1 5 6\n")
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Join(ctx, nic, folder, "h0", commlib.Tuning{})
	assert.ErrorContains(t, err, "waiting for the others to be ready")
	assert.Equal(t, []string{"group"}, left())
}
