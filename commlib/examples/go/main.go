// SPDX-License-Identifier: Apache-2.0

// Command go is an AllReduce in Go: NIC MANAGER RANK MEMBER... (the NIC as package nic names it).
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"time"

	"incforge/commlib"
	"incforge/commlib/nic"
	"incforge/control/managerpb"
	"incforge/control/rpc"
)

func main() {
	if len(os.Args) < 5 {
		log.Fatal("usage: NIC MANAGER RANK MEMBER...")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, device, manager, number string, members []string) error {
	rank, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	n, err := nic.Open(device)
	if err != nil {
		return err
	}
	conn, err := rpc.Dial(manager, rpc.Manager, rpc.Files{})
	if err != nil {
		return err
	}
	g, err := commlib.InitGroup(ctx, commlib.Config{Manager: managerpb.NewManagerClient(conn), Device: n, Name: "example", Members: members, Rank: rank, Mbps: 100,
		Wait: time.Minute})
	if err != nil {
		return err
	}

	const count = 10000
	var data []byte
	for i := range count {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i*(rank+1))))
	}
	if err := g.AllReduce(ctx, data, data, commlib.FP32, commlib.Sum); err != nil { // blocking
		return err
	}
	barrier, err := g.Start(commlib.Request{Collective: commlib.Barrier}) // with a handle
	if err != nil {
		return err
	}
	if err := barrier.Wait(ctx); err != nil {
		return err
	}

	all := len(members) * (len(members) + 1) / 2 // 1 + 2 + ... ranks
	for i := range count {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); got != float32(i*all) {
			return fmt.Errorf("element %d is %g", i, got)
		}
	}
	fmt.Printf("rank %d: all %d sums are right\n", rank, count)
	return g.Destroy(ctx)
}
