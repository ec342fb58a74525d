// SPDX-License-Identifier: Apache-2.0

package ibverbs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib/verbs"
	"incforge/roce"
)

// written writes files as Linux has them.
func written(t *testing.T, files map[string]string) (dir string) {
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	return dir
}

const (
	linkLocal = "fe80:0000:0000:0000:5054:00ff:fe77:0001"
	mapped    = "0000:0000:0000:0000:0000:ffff:0a4d:0001"
	unused    = "0000:0000:0000:0000:0000:0000:0000:0000"
)

// The port is the first with a GID of RoCEv2 over IPv4; others are not for RoCEv2, or for IPv6, or in no use.
func TestFindPort(t *testing.T) {
	const one, two = "class/infiniband/mlx5_0/ports/1/", "class/infiniband/rxe0/ports/1/"
	sys := written(t, map[string]string{
		one + "gids/0": linkLocal, one + "gid_attrs/types/0": "RoCE v2", one + "gid_attrs/ndevs/0": "eth1",
		two + "gids/0": linkLocal, two + "gid_attrs/types/0": "RoCE v2", two + "gid_attrs/ndevs/0": "eth0",
		two + "gids/1": mapped, two + "gid_attrs/types/1": "IB/RoCE v1", two + "gid_attrs/ndevs/1": "eth0",
		two + "gids/2": unused, two + "gids/3": unused, two + "gids/4": unused, two + "gids/5": unused, two + "gids/6": unused,
		two + "gids/7": unused, two + "gids/8": unused, two + "gids/9": unused,
		two + "gids/10": mapped, two + "gid_attrs/types/10": "RoCE v2", two + "gid_attrs/ndevs/10": "eth0",
		"class/net/eth0/address": "52:54:00:77:00:01", "class/net/eth1/address": "52:54:00:77:00:02",
	})
	want := port{"rxe0", 1, 10, verbs.Address{IP: roce.IP4{10, 77, 0, 1}, MAC: roce.MAC{0x52, 0x54, 0, 0x77, 0, 1}}}
	for _, name := range []string{"", "rxe0"} {
		p, err := findPort(sys, name)
		require.NoError(t, err)
		assert.Equal(t, want, p)
	}
	_, err := findPort(sys, "mlx5_0")
	assert.ErrorIs(t, err, errNoPort)
	_, err = findPort(sys, "mlx5_7")
	assert.EqualError(t, err, `there is no RDMA device "mlx5_7"; there is: rxe0, mlx5_0`)
	_, err = findPort(t.TempDir(), "")
	assert.EqualError(t, err, "there is no RDMA device")
	_, err = findPort(t.TempDir(), "rxe0")
	assert.EqualError(t, err, `there is no RDMA device "rxe0"; there is: none`)
}
