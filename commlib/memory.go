// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"errors"
	"fmt"

	"incforge/commlib/verbs"
	"incforge/inc"
)

// memory is known to the NIC while a call is under way. A nil one has nothing.
type memory struct {
	bytes []byte
	known verbs.Region
}

func (m *memory) region() verbs.Region {
	if m == nil {
		return nil
	}
	return m.known
}

// register makes memory known.
func register(d verbs.Device, b []byte) (*memory, error) {
	if len(b) == 0 {
		return nil, nil
	}
	r, err := d.Register(b)
	if err != nil {
		return nil, err
	}
	return &memory{b, r}, nil
}

func (m *memory) release() error {
	if m == nil {
		return nil
	}
	return m.known.Deregister()
}

// begin makes a call's buffers known to the NIC.
func (c *Call) begin(g *Group) (err error) {
	if c.Collective == AllGather {
		copy(c.Recv[g.at.Rank*len(c.Send):], c.Send)
	}
	sends, spare := false, false
	for i := range c.ranges {
		s := &c.ranges[i]
		sends = sends || s.sends
		spare = spare || s.sends && len(s.send) < s.Bytes() || s.hears && len(s.recv) < s.Bytes()
	}
	if sends {
		if c.sent, err = register(g.device, c.Send); err != nil {
			return err
		}
	}
	if c.recvd, err = register(g.device, c.Recv); err != nil {
		return err
	}
	if spare {
		c.spare, err = register(g.device, make([]byte, g.shape.Packets*g.shape.MTU))
	}
	return err
}

// release has the NIC forget the buffers.
func (c *Call) release() error {
	err := errors.Join(c.sent.release(), c.recvd.release(), c.spare.release())
	c.sent, c.recvd, c.spare = nil, nil, nil
	return err
}

// message is the i-th that a rank sends.
func (c *Call) message(s *stretch, i int) verbs.WorkRequest {
	if i == 0 && s.HasControl {
		return verbs.WorkRequest{HasImm: true, Imm: s.Control}
	}
	from, to := s.Bounds(i)
	w := verbs.WorkRequest{ID: uint64(i), Memory: slice(s.send, from, to), Region: c.sent.region()}
	if have := len(w.Memory); have < to-from {
		clear(c.spare.bytes)
		copy(c.spare.bytes, w.Memory)
		w.Memory, w.Region = c.spare.bytes[:to-from], c.spare.region()
	}
	return w
}

// said is a message's control in words.
func said(has bool, immediate uint32) string {
	if !has {
		return "data"
	}
	c := inc.ControlOf(immediate)
	return fmt.Sprintf("the control of a %v of root %d, %v %v, %d packets", Collective(c.Collective), c.Root, Type(c.DType), Op(c.Op), c.Packets)
}
