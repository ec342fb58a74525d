// SPDX-License-Identifier: Apache-2.0

package roce_test

import (
	"fmt"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"incforge/roce"
)

func ack() roce.Packet {
	return roce.Packet{
		DstMAC: roce.MAC{2, 0, 0, 0, 0, 2}, SrcMAC: roce.MAC{2, 0, 0, 0, 0, 1}, TTL: 64, DF: true,
		SrcIP: roce.IP4{10, 0, 0, 101}, DstIP: roce.IP4{10, 0, 0, 1}, SrcPort: 49441,
		Op: roce.Acknowledge, PKey: roce.DefaultPKey, DestQP: 0x11, PSN: 5, Syndrome: roce.AckSyndrome, MSN: 6,
	}
}

func ExampleDecode() {
	p := ack()
	frame := p.AppendFrame(nil)
	got, err := roce.Decode(frame)
	fmt.Println(got, err, roce.CheckICRC(frame))

	frame[12], frame[13] = 0x86, 0xDD
	_, err = roce.Decode(frame)
	fmt.Println(err, roce.ReasonOf(err).NotRoCE())
	// Output:
	// 10.0.0.101:49441 > 10.0.0.1 qp 0x000011 ACK psn 0x000005 ACK 0x1f msn 6 0 bytes <nil> true
	// roce: not IPv4 by EtherType: 0x86dd true
}

func ExampleBTH() {
	p := ack()
	packet := gopacket.NewPacket(p.AppendFrame(nil), layers.LayerTypeEthernet, gopacket.Default)
	for _, l := range packet.Layers() {
		fmt.Println(l.LayerType())
	}
	bth := packet.Layer(roce.LayerTypeBTH).(*roce.BTH)
	fmt.Println(bth.Op, bth.PSN)
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// BTH
	// AETH
	// ACK 0x000005
}
