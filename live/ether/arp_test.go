// SPDX-License-Identifier: Apache-2.0

package ether

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// An ARP request as Linux sends it, 52:54:00:12:34:56 at 10.0.0.2 asking for 10.0.0.1, and what must come back.
const (
	request = "ffffffffffff525400123456080600010800060400015254001234560a0000020000000000000a000001"
	reply   = "52540012345602000000000108060001080006040002020000000001" + "0a000001" + "525400123456" + "0a000002" +
		"000000000000000000000000000000000000"
)

func TestARP(t *testing.T) {
	addresses := map[roce.IP4]roce.MAC{{10, 0, 0, 1}: {2, 0, 0, 0, 0, 1}}
	ask, err := hex.DecodeString(request)
	require.NoError(t, err)
	want, err := hex.DecodeString(reply)
	require.NoError(t, err)
	require.Len(t, want, roce.MinFrame)
	assert.Equal(t, want, Answer(ask, addresses))
	assert.Equal(t, want, Answer(append(ask, make([]byte, 18)...), addresses), "with padding")

	for name, change := range map[string]func(b []byte) []byte{
		"another address":     func(b []byte) []byte { b[41]++; return b },
		"a reply":             func(b []byte) []byte { b[21] = 2; return b },
		"not Ethernet":        func(b []byte) []byte { b[15] = 6; return b },
		"not IPv4":            func(b []byte) []byte { b[16] = 0x86; return b },
		"other lengths":       func(b []byte) []byte { b[19] = 16; return b },
		"another EtherType":   func(b []byte) []byte { b[13] = 0; return b },
		"cut":                 func(b []byte) []byte { return b[:41] },
		"shorter than a type": func(b []byte) []byte { return b[:13] },
	} {
		b := append([]byte(nil), ask...)
		assert.Nil(t, Answer(change(b), addresses), name)
	}
}
