// SPDX-License-Identifier: Apache-2.0

// Package roce encodes and decodes RoCEv2 frames (Ethernet II, IPv4 without options, UDP port 4791, InfiniBand
// transport). It has their invariant CRC, the serial arithmetic of packet sequence numbers, and captures in which
// each interface is a port.
//
// There are two independent codecs, which the tests compare with each other. [Decode] and [Packet.AppendFrame] are
// written by hand and allocate nothing for good frames, so that a simulation can call them for every frame. The
// gopacket layers [BTH], [AETH], [RETH] and [ImmDt] let any gopacket program look inside UDP port 4791;
// [Packet.SerializeLayers] builds the same frames from them.
//
// Importing this package registers those layers with gopacket (layer type numbers 1791 to 1794, UDP port 4791): that
// registry is gopacket's own and is the only global state touched, once, during initialisation.
//
// Frames carry no Ethernet FCS anywhere in this package.
package roce
