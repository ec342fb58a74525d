// SPDX-License-Identifier: Apache-2.0

package nic_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib/nic"
	"incforge/commlib/verbs"
	"incforge/roce"
)

// A model has the addresses that it was given; what names no NIC is refused, with the reason.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	ends := "unix:" + filepath.Join(dir, "a") + "," + filepath.Join(dir, "b")
	n, err := nic.Open(ends + ",10.0.0.7,02:00:00:00:00:07")
	require.NoError(t, err)
	assert.Equal(t, verbs.Address{IP: roce.IP4{10, 0, 0, 7}, MAC: roce.MAC{2, 0, 0, 0, 0, 7}}, n.Address())
	require.NoError(t, n.Close())

	for _, name := range []string{"", "rxe0", ends, "unix:a,a,10.0.0.7,02:00:00:00:00:07", "unix:,b,10.0.0.7,02:00:00:00:00:07"} {
		_, err := nic.Open(name)
		assert.ErrorIs(t, err, nic.ErrName, name)
	}
	for name, want := range map[string]string{
		ends + ",10.0.0,02:00:00:00:00:07":            "10.0.0",
		ends + ",10.0.0.7,02":                         "02",
		"unix:/no/where,b,10.0.0.7,02:00:00:00:00:07": "/no/where",
		"verbs:no-such-device":                        "NIC verbs:no-such-device: th",
	} {
		_, err := nic.Open(name)
		assert.ErrorContains(t, err, want)
	}
}
