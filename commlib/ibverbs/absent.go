// SPDX-License-Identifier: Apache-2.0

//go:build !verbs

package ibverbs

import (
	"io"

	"incforge/commlib/verbs"
)

// Device is a verbs.Device that can be closed.
type Device interface {
	verbs.Device
	io.Closer
}

// Open returns ErrAbsent.
func Open(string) (Device, error) { return nil, ErrAbsent }
