// SPDX-License-Identifier: Apache-2.0

// Package comm is EPIC's host software, CommLib, on the model NICs of package host, over a tree of switches. A switch is any dut.DUT: the
// Verilog, the reference engine, or some of each.
//
//	w, err := comm.New(comm.Config{Manifest: m, Tree: topology.Tree{Levels: 3, Degree: 2}, Switch: open, Seed: 1})
//	g, err := w.NewGroup(comm.GroupConfig{Message: 2, Window: 4})       // in-band: any collective, any root, any type
//	a, err := g.Queue(comm.Request{Collective: comm.Reduce, Root: 3, In: tensors, DType: arith.INT32})
//	b, err := other.Queue(comm.Request{Collective: comm.Barrier})       // another group at the same time
//	err = w.Run(ctx)                                                    // until every queued call is done
//	err = errors.Join(a.Check(), b.Check(), w.Finish(ctx))              // results, then the state that is left
//
// A World is the switches, the links and the clock. A Group is a communicator: a connection a rank, and a group with its own endpoints on
// every switch. It is in-band (docs/engine.md section 3.3: every call begins with a control message), or, by GroupConfig.Fixed, fixed to one
// collective and root by registers.
//
// A Call is cut into ranges of at most 2^20−1 packets, ranges into messages of M packets. Each message is one Send and one Recv where the
// rank sends and hears, and a rank has at most W of them under way, the control among them, so never more than M·W packets. Ranks keep to
// the first three host rules of docs/engine.md section 3.3, on engines of Mode III to the first two, which are enough there (docs/pipes.md section 4). ReduceScatter is a Reduce to each rank in turn, AllGather a Broadcast from each.
// A Broadcast from rank r is sent by rank r alone; a Reduce counts the root's contribution too, which goes through the switch unless
// GroupConfig.RootLocal has the root's host add it.
//
// Everything happens in the goroutine that calls; posted payloads must not be changed before their call is done. Runs with the same
// configuration and seed are the same. Hosts die by Host.Kill and return by Group.Reset, which ends the calls of that group.
package comm
