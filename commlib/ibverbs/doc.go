// SPDX-License-Identifier: Apache-2.0

// Package ibverbs is a verbs.Device over libibverbs: a NIC with RoCEv2, or SoftRoCE, which is the module rdma_rxe of Linux. It is there only in
// programs that are built with the tag verbs, by cgo and with the headers of libibverbs; in others Open returns ErrAbsent.
//
// A queue pair sleeps until there are completions, and does not poll. The far end's MAC address is the one that the kernel finds by ARP.
package ibverbs

import "errors"

// ErrAbsent is the error of Open in a program that was built without libibverbs.
var ErrAbsent = errors.New("this program was built without libibverbs: go build -tags verbs has it")
