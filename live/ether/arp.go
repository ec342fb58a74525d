// SPDX-License-Identifier: Apache-2.0

package ether

import (
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"incforge/roce"
)

// Answer is the reply to a frame that is an ARP request for one of the addresses, nil to any other frame.
func Answer(frame []byte, addresses map[roce.IP4]roce.MAC) []byte {
	var eth layers.Ethernet
	var ask layers.ARP
	if eth.DecodeFromBytes(frame, gopacket.NilDecodeFeedback) != nil || eth.EthernetType != layers.EthernetTypeARP ||
		ask.DecodeFromBytes(eth.Payload, gopacket.NilDecodeFeedback) != nil || ask.Operation != layers.ARPRequest ||
		ask.AddrType != layers.LinkTypeEthernet || ask.Protocol != layers.EthernetTypeIPv4 || ask.HwAddressSize != 6 || ask.ProtAddressSize != 4 {
		return nil
	}
	mac, ok := addresses[roce.IP4(ask.DstProtAddress)]
	if !ok {
		return nil
	}
	reply := ask
	reply.Operation = layers.ARPReply
	reply.SourceHwAddress, reply.SourceProtAddress = mac[:], ask.DstProtAddress
	reply.DstHwAddress, reply.DstProtAddress = ask.SourceHwAddress, ask.SourceProtAddress
	out := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: mac[:], DstMAC: ask.SourceHwAddress, EthernetType: layers.EthernetTypeARP}, &reply)
	if err != nil {
		return nil // only addresses of other lengths fail
	}
	return out.Bytes()
}
