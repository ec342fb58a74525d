// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Card is a network card of this machine: every frame that it hears comes, whomever it is for, and frames go out by it as they are. It takes CAP_NET_RAW. Send
// and Receive may run at the same time; each is used by one goroutine. Frames with a VLAN tag are not supported: Linux takes the tag out before a
// socket of this kind sees the frame, whatever the card's offloads, so that it comes as if it had none.
type Card struct {
	index int
	file  *os.File
	raw   syscall.RawConn
}

// What package syscall has no names for: of linux/if_packet.h.
const (
	packetIgnoreOutgoing = 23
	cardBuffer           = 4 << 20 // room for frames that wait, as far as the system allows it
)

// NewCard opens the card with that name.
func NewCard(name string) (*Card, error) {
	at, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("card %s: %w", name, err)
	}
	c, err := openCard(at)
	switch {
	case errors.Is(err, syscall.EPERM):
		return nil, fmt.Errorf("card %s: it takes CAP_NET_RAW (setcap cap_net_raw+ep on the program, or root): %w", name, err)
	case err != nil:
		return nil, fmt.Errorf("card %s: %w", name, err)
	}
	return c, nil
}

func openCard(at *net.Interface) (*Card, error) {
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0) // hears nothing until it is bound
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	c := &Card{index: at.Index, file: os.NewFile(uintptr(fd), at.Name)}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, syscall.ETH_P_ALL))
	// struct packet_mreq: the card, promiscuous, no address.
	promiscuous := binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint32(nil, uint32(at.Index)), syscall.PACKET_MR_PROMISC)
	promiscuous = append(promiscuous, make([]byte, 10)...)
	c.raw, err = c.file.SyscallConn()
	for _, do := range []func() error{
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, cardBuffer) },
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_PACKET, packetIgnoreOutgoing, 1) },
		func() error {
			return syscall.SetsockoptString(fd, syscall.SOL_PACKET, syscall.PACKET_ADD_MEMBERSHIP, string(promiscuous))
		},
		func() error { return syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: at.Index}) },
	} {
		if err == nil {
			err = do()
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

// Close ends Receive.
func (c *Card) Close() error { return c.file.Close() }

// Heard tells whether the card is up and its link has a carrier.
func (c *Card) Heard(string) bool {
	at, err := net.InterfaceByIndex(c.index)
	return err == nil && at.Flags&(net.FlagUp|net.FlagRunning) == net.FlagUp|net.FlagRunning
}

// SetReceiveDeadline makes Receive give up with os.ErrDeadlineExceeded at time t; the zero time never.
func (c *Card) SetReceiveDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// Receive waits for a frame; see Socket. A card that is taken down is waited for.
func (c *Card) Receive(buf []byte) (int, error) {
	for {
		n, err := c.file.Read(buf)
		switch {
		case errors.Is(err, os.ErrClosed):
			return 0, net.ErrClosed
		case !errors.Is(err, syscall.ENETDOWN):
			return n, err
		}
	}
}

// Send sends a frame: ErrNobody while the card is down, ErrFull if it takes none for a while.
func (c *Card) Send(_ string, frame []byte) error { return patiently(c, "", frame) }

// Try is Send without patience.
func (c *Card) Try(_ string, frame []byte) error {
	for again := true; ; {
		var err error
		if cerr := c.raw.Write(func(fd uintptr) bool {
			_, err = syscall.Write(int(fd), frame)
			return true
		}); cerr != nil {
			return ErrNobody // closed
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENETDOWN) && again: // it may be the news of an earlier time, which the system tells once
			again = false
		case errors.Is(err, syscall.ENETDOWN), errors.Is(err, syscall.ENXIO):
			return ErrNobody
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS):
			return ErrFull
		case errors.Is(err, syscall.EMSGSIZE):
			return fmt.Errorf("send: a frame of %d bytes is more than the card's MTU allows: %w", len(frame), err)
		default:
			return fmt.Errorf("send: %w", err)
		}
	}
}
