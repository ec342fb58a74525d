// SPDX-License-Identifier: Apache-2.0

package inc

// Priorities is the table that gives a frame its priority on the way out of a port, by DSCP and PCP (docs/ports.md).
type Priorities struct {
	DSCP [64]uint8
	PCP  [8]uint8
}

// Of is the priority of a frame: by the PCP of a tag, else by the DSCP of an IPv4 packet, else that of PCP 0.
func (p *Priorities) Of(frame []byte) uint8 {
	if len(frame) < 16 {
		return p.PCP[0]
	}
	switch etherType := uint16(frame[12])<<8 | uint16(frame[13]); {
	case etherType == tagProtocol:
		return p.PCP[frame[14]>>5]
	case etherType == 0x0800 && frame[14]>>4 == 4:
		return p.DSCP[frame[15]>>2]
	}
	return p.PCP[0]
}
