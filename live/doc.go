// SPDX-License-Identifier: Apache-2.0

// Package live attaches engines' ports to unix datagram sockets, so that programs and virtual machines exchange frames with them
// in real time: one datagram is one Ethernet frame without FCS, as QEMU's -netdev dgram and user-mode Linux speak it.
//
// A groups file (Setup) says who is at the end of each endpoint and what the groups compute; a topology file (Topology) names several
// switches and the links between them. Run programs the engines, binds the sockets and passes frames through the engines' cycle models
// until its context ends. Everything that an engine does is compared with the reference engine (package score), unless that is switched
// off. While nothing is inside an engine its clock follows the hosts' time, scaled; while it works the hosts' time does not count.
//
// Each switch is one goroutine (loop) that owns its engine, with a receiver and a sender for each port. Whoever wants something else of
// an engine asks the loop: the control socket (control.go, and Client at its other end) does. A watch looks at every group four times a
// second and says why it stands if it does.
package live
