// SPDX-License-Identifier: Apache-2.0

// Package commlib is EPIC's host software: a member of a group runs collectives with the others through the engines of the switches between them.
//
//	g, err := commlib.InitGroup(ctx, commlib.Config{Manager: client, Device: nic, Name: "ring", Members: []string{"h0", "h1"}, Rank: 0})
//	err = g.AllReduce(ctx, gradients, gradients, commlib.FP32, commlib.Sum)         // blocking
//	call, err := g.Start(commlib.Request{Collective: commlib.Barrier})              // or with a handle
//	err = call.Wait(ctx)
//	err = g.Destroy(ctx)
//
// Every member makes the same calls in the same order. They are done one after the other; Start queues as many as one likes. Buffers belong to the library
// from Start until the call is done. An input and an output may be the same memory.
//
// A call is cut into ranges of at most 2^20−1 packets, a range into messages of some packets, and as many messages are under way as the group has a
// window for. In an in-band group every range begins with a control message (docs/engine.md section 3.3). ReduceScatter is a Reduce to each rank in turn,
// AllGather a Broadcast from each.
//
// Below is a queue pair of package verbs, and nothing else: over a model of a NIC and over a real one the code is the same. A group without a control
// plane, from a file for instance, is made by Connect.
//
// A group that has failed stays so: every call ends with the same *Error, which says where and why, until Destroy; a new group can be made at once.
package commlib
