// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
)

// MAC is an Ethernet address in the order of its octets on the wire.
type MAC [6]byte

// ParseMAC reads six octets as net.ParseMAC does ("02:00:00:00:00:01", "02-00-…", "0200.0000.0001").
// It refuses the longer EUI-64 and InfiniBand forms.
func ParseMAC(s string) (MAC, error) {
	hw, err := net.ParseMAC(s)
	if err != nil {
		return MAC{}, fmt.Errorf("roce: MAC address %q: %w", s, err)
	}
	if len(hw) != len(MAC{}) {
		return MAC{}, fmt.Errorf("roce: MAC address %q has %d octets, want 6", s, len(hw))
	}
	return MAC(hw), nil
}

// MACFromUint64 takes the low 48 bits, the first octet being the most significant.
func MACFromUint64(v uint64) MAC {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	return MAC(b[2:])
}

// Uint64 is the address as a 48-bit number, the first octet being the most significant.
func (m MAC) Uint64() uint64 {
	var b [8]byte
	copy(b[2:], m[:])
	return binary.BigEndian.Uint64(b[:])
}

// String is the colon form, lower case.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// MarshalText and UnmarshalText let the address stand in JSON and YAML as its colon form.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is ParseMAC.
func (m *MAC) UnmarshalText(text []byte) error {
	v, err := ParseMAC(string(text))
	if err == nil {
		*m = v
	}
	return err
}

// IP4 is an IPv4 address in the order of its octets on the wire.
type IP4 [4]byte

// ParseIP4 reads the dotted form. IPv6, IPv4-mapped IPv6 included, is refused.
func ParseIP4(s string) (IP4, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return IP4{}, fmt.Errorf("roce: IPv4 address: %w", err)
	}
	if !a.Is4() {
		return IP4{}, fmt.Errorf("roce: IPv4 address %q is not of four octets", s)
	}
	return a.As4(), nil
}

// IP4FromUint32 has the first octet in bits 31:24, as the engine's registers have it.
func IP4FromUint32(v uint32) IP4 {
	var a IP4
	binary.BigEndian.PutUint32(a[:], v)
	return a
}

// Uint32 has the first octet in bits 31:24, as the engine's registers have it.
func (a IP4) Uint32() uint32 { return binary.BigEndian.Uint32(a[:]) }

// String is the dotted form.
func (a IP4) String() string { return netip.AddrFrom4(a).String() }

// MarshalText and UnmarshalText let the address stand in JSON and YAML as its dotted form.
func (a IP4) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is ParseIP4.
func (a *IP4) UnmarshalText(text []byte) error {
	v, err := ParseIP4(string(text))
	if err == nil {
		*a = v
	}
	return err
}
