// SPDX-License-Identifier: Apache-2.0

// Package nic opens the NIC that a text names, so that commands, the C library and tests name them alike.
package nic

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"incforge/commlib/ibverbs"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/live/peer"
	"incforge/roce"
)

// Help says what a text can be.
const Help = "unix:MINE,PEER,IP,MAC is a model that binds socket MINE and sends frames to PEER; verbs:NAME is a device of libibverbs, verbs: the first"

// NIC is a device that can be closed.
type NIC interface {
	verbs.Device
	io.Closer
}

// ErrName means that a text names no NIC.
var ErrName = errors.New("must be unix:MINE,PEER,IP,MAC or verbs:NAME")

// Open opens a NIC.
func Open(name string) (NIC, error) {
	if device, ok := strings.CutPrefix(name, "verbs:"); ok {
		n, err := ibverbs.Open(device)
		if err != nil {
			return nil, fmt.Errorf("NIC %s: %w", name, err)
		}
		return n, nil
	}
	rest, ok := strings.CutPrefix(name, "unix:")
	parts := strings.Split(rest, ",")
	if !ok || len(parts) != 4 || parts[0] == "" || parts[1] == "" || parts[0] == parts[1] {
		return nil, fmt.Errorf("NIC %q: %w", name, ErrName)
	}
	var at verbs.Address
	var errs [2]error
	at.IP, errs[0] = roce.ParseIP4(parts[2])
	at.MAC, errs[1] = roce.ParseMAC(parts[3])
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("NIC %q: %w", name, err)
	}
	w, err := peer.Dial(parts[0], parts[1])
	if err != nil {
		return nil, fmt.Errorf("NIC %q: %w", name, err)
	}
	return softnic.New(w, at), nil
}
