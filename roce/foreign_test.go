// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// foreignPackets is one of everything this package can write, and the golden packets.
func foreignPackets(t testing.TB) []Packet {
	var all []Packet
	for _, g := range goldenFrames(t) {
		all = append(all, g.packet)
	}
	for _, op := range []Opcode{SendFirst, SendMiddle, SendLast, SendLastImm, SendOnly, SendOnlyImm,
		WriteFirst, WriteMiddle, WriteLast, WriteLastImm, WriteOnly, WriteOnlyImm} {
		for pad := range uint8(4) {
			p := sample(op, 256-int(pad))
			p.Pad, p.SE, p.AckReq, p.MigReq = pad, pad&1 == 1, pad&2 == 2, pad == 1
			p.PSN = PSN(0xFFFFFE).Add(len(all))
			if op.HasImm() {
				p.Imm = 0xA0B0C0D0 + uint32(pad)
			}
			if op.HasRETH() {
				p.RETH = RETHFields{0x1122334455667788, 0x99AABBCC, 255}
			}
			all = append(all, p)
		}
	}
	for i, syndrome := range []uint8{AckSyndrome, 0, RNRSyndrome | 1, NAKSequence, NAKRemoteOperational} {
		p := sample(Acknowledge, 0)
		p.Syndrome, p.MSN, p.AckReq, p.SE = syndrome, 0xFFFFFD+uint32(i), false, false
		p.MSN &= PSNMask
		all = append(all, p)
	}
	cnp := sample(CNP, 0)
	cnp.Payload, cnp.BECN, cnp.AckReq, cnp.SE, cnp.PSN = nil, true, false, false, 0
	all = append(all, cnp)
	for i := range all { // a third of them with an 802.1Q tag
		if i%3 == 1 {
			all[i].VLAN = VLAN{Tagged: true, VID: uint16(4095 - 31*i), PCP: uint8(i / 3 % 8), DEI: i%2 == 0}
		}
	}
	return all
}

// runTool runs a program that may not be installed, for a minute at most, and returns its stdout.
func runTool(t *testing.T, stdin string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s: %s", name, stderr.String())
	return stdout.String()
}

// Wireshark's dissector reads a pcapng of ours: the ports, the times, every header field, nothing malformed.
func TestTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	ports := []string{"p0", "p1", "p2"}
	fields := []string{"vlan.id", "vlan.priority", "frame.interface_id", "frame.interface_name", "frame.time_epoch", "ip.src", "ip.dst", "ip.checksum.status",
		"udp.srcport", "infiniband.bth.opcode", "infiniband.bth.se", "infiniband.bth.m", "infiniband.bth.padcnt",
		"infiniband.bth.p_key", "infiniband.bth.destqp", "infiniband.bth.a", "infiniband.bth.psn",
		"infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.immdt", "infiniband.reth.va", "infiniband.reth.r_key",
		"infiniband.reth.dmalen", "infiniband.invariant.crc", "_ws.malformed"}
	var frames []Captured
	var want []string
	num := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	for i, p := range foreignPackets(t) {
		c := Captured{Port: i % 3, Time: time.Unix(int64(i), 123456000+int64(i)), Frame: p.AppendFrame(nil)}
		frames = append(frames, c)
		var syndrome, msn, imm, va, rkey, dma string
		if p.Op.HasAETH() {
			syndrome, msn = fmt.Sprint(p.Syndrome), fmt.Sprint(p.MSN)
		}
		if p.Op.HasImm() {
			imm = fmt.Sprintf("%08x", p.Imm)
		}
		if p.Op.HasRETH() {
			va, rkey, dma = fmt.Sprintf("0x%016x", p.RETH.VirtualAddress), fmt.Sprintf("0x%08x", p.RETH.RKey), fmt.Sprint(p.RETH.DMALength)
		}
		ip, ok := datagram(c.Frame)
		require.True(t, ok)
		icrc := "0x" + hex.EncodeToString(ip[len(ip)-icrcLen:])
		if p.Op == CNP {
			icrc = "" // tshark 4.0 does not look behind a CNP's header; TestScapy does
		}
		var vid, pcp string
		if p.VLAN.Tagged {
			vid, pcp = fmt.Sprint(p.VLAN.VID), fmt.Sprint(p.VLAN.PCP)
		}
		want = append(want, strings.Join([]string{vid, pcp, fmt.Sprint(c.Port), ports[c.Port],
			fmt.Sprintf("%d.%09d", c.Time.Unix(), c.Time.Nanosecond()), p.SrcIP.String(), p.DstIP.String(), "1",
			fmt.Sprint(p.SrcPort), fmt.Sprint(uint8(p.Op)), fmt.Sprint(num(p.SE)), fmt.Sprint(num(p.MigReq)), fmt.Sprint(p.Pad),
			fmt.Sprint(p.PKey), fmt.Sprintf("0x%06x", p.DestQP), fmt.Sprint(num(p.AckReq)), fmt.Sprint(uint32(p.PSN)),
			syndrome, msn, imm, va, rkey, dma, icrc, ""}, "\t"))
	}
	path := filepath.Join(t.TempDir(), "ours.pcapng")
	require.NoError(t, WriteCapture(path, ports, frames))

	// RPC over RDMA is off because it guesses by heuristics that an empty SEND is its own, and calls it malformed.
	args := []string{"-r", path, "-T", "fields", "-E", "occurrence=l", "-o", "ip.check_checksum:TRUE", "--disable-protocol", "rpcordma"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	got := strings.Split(strings.TrimRight(runTool(t, "", "tshark", args...), "\n"), "\n")
	require.Empty(t, cmp.Diff(want, got), "columns: %v", fields)
}

// scapy's ICRC, an implementation by others, is ours: it takes each frame apart and builds it again without being told the ICRC.
func TestScapy(t *testing.T) {
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} { // Debian's package serves Debian's interpreter
		if exec.Command(name, "-c", "import scapy.contrib.roce").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("no python3 can import scapy.contrib.roce")
	}
	const script = `
import sys
from scapy.all import Ether, raw
from scapy.contrib.roce import BTH
for line in sys.stdin:
    p = Ether(bytes.fromhex(line))
    p[BTH].icrc = None
    print(raw(p).hex())
`
	var want []string
	unpadded := GoodFrame()
	unpadded.MinFrame = 0
	for _, p := range foreignPackets(t) {
		want = append(want, hex.EncodeToString(p.AppendFrameWith(nil, unpadded)))
	}
	for name := range captureCases() {
		for i, c := range testCapture(t, name) {
			if i < 40 {
				want = append(want, hex.EncodeToString(c.Frame))
			}
		}
	}
	got := strings.Fields(runTool(t, strings.Join(want, "\n"), python, "-c", script))
	require.Empty(t, cmp.Diff(want, got))
}
