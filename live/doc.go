// SPDX-License-Identifier: Apache-2.0

// Package live attaches an engine's ports to unix datagram sockets, so that programs and virtual machines exchange frames with it
// in real time: one datagram is one Ethernet frame without FCS, as QEMU's -netdev dgram and user-mode Linux speak it.
//
// A groups file (Setup) says who is at the end of each endpoint and what the groups compute; Run programs the engine, binds the
// sockets and passes frames through the engine's cycle model until its context ends. Everything that the engine does is compared
// with the reference engine (package score). While nothing is inside, cycles are skipped: the engine's clock follows real time, and
// lags where the model is slower than that.
package live
