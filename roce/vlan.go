// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"slices"
)

const (
	etherTypeVLAN = 0x8100
	tagAt         = 12 // behind the MAC addresses
	tagLen        = 4
)

// VLAN is the 802.1Q tag of a frame. The zero value is none: Tagged tells that there is one.
type VLAN struct {
	Tagged bool
	PCP    uint8 // priority, 0 to 7
	DEI    bool
	VID    uint16 // 0 to 4095; 0 belongs to no VLAN and carries a priority alone
}

// TCI are the tag's bits behind its EtherType.
func (v VLAN) TCI() uint16 { return uint16(v.PCP&7)<<13 | uint16(bit(v.DEI, 4))<<8 | v.VID&0xFFF }

// VLANOf is the tag of a frame. One that is cut off inside its tag has none.
func VLANOf(frame []byte) VLAN {
	be := binary.BigEndian
	if len(frame) < tagAt+tagLen || be.Uint16(frame[tagAt:]) != etherTypeVLAN {
		return VLAN{}
	}
	tci := be.Uint16(frame[tagAt+2:])
	return VLAN{Tagged: true, PCP: uint8(tci >> 13), DEI: tci>>12&1 != 0, VID: tci & 0xFFF}
}

// HeaderAt is how many bytes a frame's tag takes: every offset behind the MAC addresses is so much greater than without one.
func HeaderAt(frame []byte) int {
	if VLANOf(frame).Tagged {
		return tagLen
	}
	return 0
}

// Untag is a frame without its outermost tag: the frame itself if there is none, else a copy.
func Untag(frame []byte) []byte {
	if !VLANOf(frame).Tagged {
		return frame
	}
	return slices.Concat(frame[:tagAt], frame[tagAt+tagLen:])
}

// Tag is a frame with a tag: the frame itself if v is none, else a copy.
func (v VLAN) Tag(frame []byte) []byte {
	if !v.Tagged {
		return frame
	}
	tag := binary.BigEndian.AppendUint16(nil, etherTypeVLAN)
	return slices.Insert(slices.Clone(frame), tagAt, binary.BigEndian.AppendUint16(tag, v.TCI())...)
}
