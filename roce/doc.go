// SPDX-License-Identifier: Apache-2.0

// Package roce is the wire: RoCEv2 frames (Ethernet II, IPv4 without options, UDP port 4791, InfiniBand transport),
// their invariant CRC, the serial arithmetic of packet sequence numbers, and captures in which an interface is a port.
//
// Two roads lead to and from bytes, and the tests hold them against each other. [Decode] and [Packet.AppendFrame] are
// written by hand and allocate nothing for good frames, so that a simulation can call them for every frame. The gopacket
// layers [BTH], [AETH], [RETH] and [ImmDt] let any gopacket program look inside UDP port 4791;
// [Packet.SerializeLayers] builds the same frames from them.
//
// Importing this package registers those layers with gopacket (layer type numbers 1791 to 1794, UDP port 4791): that
// registry is gopacket's own and is the only global state touched, once, during initialisation.
//
// Frames carry no Ethernet FCS anywhere in this package.
package roce
