// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
)

func testCapture(t testing.TB, name string) []Captured {
	t.Helper()
	frames, _, err := ReadCapture(filepath.Join("testdata", name+".pcap.gz"))
	require.NoError(t, err)
	return frames
}

// captureCases are the recordings with what is known of them from their recording, not from this code.
func captureCases() map[string]map[Opcode]int {
	return map[string]map[Opcode]int{
		"send-64k":         {SendFirst: 4, SendMiddle: 240, SendLast: 3, Acknowledge: 3},
		"send-64b":         {SendOnly: 400, Acknowledge: 400},
		"send-imm-3packet": {SendFirst: 20, SendMiddle: 20, SendLastImm: 20, Acknowledge: 20},
		"send-imm-1packet": {SendOnlyImm: 20, Acknowledge: 20},
		"write-64k":        {WriteFirst: 4, WriteMiddle: 240, WriteLast: 3, Acknowledge: 3},
		"loss-sent":        {SendFirst: 188, SendMiddle: 385, SendLast: 193, Acknowledge: 234},
		"loss-delivered":   {SendFirst: 189, SendMiddle: 383, SendLast: 195, Acknowledge: 233},
	}
}

// Every real frame decodes, has a good ICRC, and comes back from both serialisers as the same bytes.
func TestCaptures(t *testing.T) {
	total := 0
	for name, want := range captureCases() {
		t.Run(name, func(t *testing.T) {
			got := map[Opcode]int{}
			naks := 0
			buf := gopacket.NewSerializeBuffer()
			var scratch []byte
			for i, c := range testCapture(t, name) {
				total++
				p, err := Decode(c.Frame)
				require.NoError(t, err, "frame %d", i+1)
				require.True(t, CheckICRC(c.Frame), "ICRC of frame %d", i+1)
				got[p.Op]++
				if p.Op == Acknowledge && SyndromeKindOf(p.Syndrome) == SyndromeNAK {
					require.Equal(t, NAKSequence, p.Syndrome)
					naks++
				}
				scratch = p.AppendFrame(scratch[:0])
				if !bytes.Equal(c.Frame, scratch) {
					t.Fatalf("frame %d, %v, by AppendFrame:\n%s", i+1, p, cmp.Diff(c.Frame, scratch))
				}
				require.NoError(t, p.SerializeLayers(buf))
				if !bytes.Equal(c.Frame, buf.Bytes()) {
					t.Fatalf("frame %d, %v, by SerializeLayers:\n%s", i+1, p, cmp.Diff(c.Frame, buf.Bytes()))
				}
				require.Empty(t, cmp.Diff(p, fromLayers(t, c.Frame)), "frame %d by gopacket", i+1)
			}
			require.Empty(t, cmp.Diff(want, got))
			if name == "loss-sent" || name == "loss-delivered" {
				require.Equal(t, 6, naks)
			}
		})
	}
	require.Equal(t, 3420, total)
}

// What the recordings are known to hold, field by field: first PSN, wrap, immediate, pad, RETH.
func TestCaptureContents(t *testing.T) {
	first := func(name string) Packet {
		p, err := Decode(testCapture(t, name)[0].Frame)
		require.NoError(t, err)
		return p
	}
	p := first("send-64k")
	require.Equal(t, PSN(0x3fdc4c), p.PSN)
	require.Equal(t, MAC{0x52, 0x54, 0, 0, 0, 2}, p.SrcMAC)
	require.Equal(t, MAC{0x52, 0x54, 0, 0, 0, 1}, p.DstMAC)
	require.Equal(t, IP4{10, 77, 0, 2}, p.SrcIP)
	require.Equal(t, IP4{10, 77, 0, 1}, p.DstIP)
	require.Equal(t, uint16(49441), p.SrcPort)
	require.Equal(t, uint32(0x11), p.DestQP)
	require.Equal(t, DefaultPKey, p.PKey)
	require.Equal(t, uint8(64), p.TTL)
	require.True(t, p.DF)
	require.Len(t, p.Payload, 1024)

	p = first("write-64k")
	require.Equal(t, PSN(0x3d3877), p.PSN)
	require.Equal(t, uint32(65536), p.RETH.DMALength)
	require.Len(t, p.Payload, 1024)

	message, next := uint32(0), PSN(0xfffff0)
	for _, c := range testCapture(t, "send-imm-3packet") {
		p, err := Decode(c.Frame)
		require.NoError(t, err)
		if p.Op == Acknowledge {
			continue
		}
		require.Equal(t, next, p.PSN)
		next = next.Next()
		offset := map[Opcode]int{SendFirst: 0, SendMiddle: 1024, SendLastImm: 2048}[p.Op]
		require.Len(t, p.Payload, min(1024, 3001-offset))
		for i, b := range p.Payload {
			require.Equal(t, byte(offset+i), b)
		}
		require.Equal(t, p.Op == SendLastImm, p.AckReq)
		require.Equal(t, p.Op == SendLastImm, p.Op.EndsMessage())
		require.Equal(t, p.Op == SendFirst, p.Op.StartsMessage())
		if p.Op == SendLastImm {
			require.Equal(t, uint8(3), p.Pad)
			require.Equal(t, message, p.Imm)
			message++
		}
	}
	require.Equal(t, uint32(20), message)
	require.Equal(t, PSN(0x2c), next)
}

func TestPcapngRoundTrip(t *testing.T) {
	ports := []string{"host0", "host1", "up", "aggregate ↑"}
	var frames []Captured
	at := time.Unix(0, 0).UTC()
	for i, c := range testCapture(t, "send-imm-3packet") {
		at = at.Add(time.Duration(i)*time.Second + time.Nanosecond)
		frames = append(frames, Captured{Port: i % len(ports), Time: at, Frame: c.Frame[:len(c.Frame)-i%4]})
	}
	path := filepath.Join(t.TempDir(), "x.pcapng")
	require.NoError(t, WriteCapture(path, ports, frames))
	got, names, err := ReadCapture(path)
	require.NoError(t, err)
	require.Equal(t, ports, names)
	require.Empty(t, cmp.Diff(frames, got))

	first, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, WriteCapture(path, ports, frames))
	second, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, second, "the same input gives the same bytes")

	// Cut anywhere, the file gives whole frames and then an error, or a clean end only between frames.
	for cut := range first {
		if cut%7 != 0 {
			continue
		}
		r, err := NewCaptureReader(bytes.NewReader(first[:cut]))
		if err != nil {
			require.NotErrorIs(t, err, io.EOF, "cut at %d", cut)
			continue
		}
		for i := 0; ; i++ {
			c, err := r.Next()
			if err != nil {
				break
			}
			require.Equal(t, frames[i], c, "cut at %d", cut)
		}
	}
}

func TestClassicPcap(t *testing.T) {
	at := time.Unix(1_700_000_000, 123_456_789).UTC()
	for name, tc := range map[string]struct {
		writer func(io.Writer) *pcapgo.Writer
		want   time.Time
	}{
		"nanoseconds":  {pcapgo.NewWriterNanos, at},
		"microseconds": {pcapgo.NewWriter, at.Truncate(time.Microsecond)},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := tc.writer(&b)
			require.NoError(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
			require.NoError(t, w.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: 3, Length: 3}, []byte{1, 2, 3}))
			whole := bytes.Clone(b.Bytes())

			r, err := NewCaptureReader(&b)
			require.NoError(t, err)
			require.Equal(t, []string{""}, r.Ports())
			c, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, Captured{Port: 0, Time: tc.want, Frame: []byte{1, 2, 3}}, c)
			_, err = r.Next()
			require.Equal(t, io.EOF, err)

			for cut := 25; cut < len(whole); cut++ {
				r, err := NewCaptureReader(bytes.NewReader(whole[:cut]))
				require.NoError(t, err)
				_, err = r.Next()
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", cut)
			}
		})
	}
}

func TestCaptureErrors(t *testing.T) {
	classic := func(link layers.LinkType, info gopacket.CaptureInfo, data []byte) []byte {
		var b bytes.Buffer
		w := pcapgo.NewWriterNanos(&b)
		require.NoError(t, w.WriteFileHeader(65535, link))
		require.NoError(t, w.WritePacket(info, data))
		return b.Bytes()
	}
	one := gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: 3, Length: 3}

	for name, data := range map[string][]byte{
		"empty":        {},
		"text":         []byte("this is no capture, whatever its name says"),
		"broken gzip":  {0x1F, 0x8B, 1, 2, 3, 4},
		"not Ethernet": classic(layers.LinkTypeRaw, one, []byte{1, 2, 3}),
		"half header":  binary.LittleEndian.AppendUint32(nil, ngSectionHeader),
	} {
		_, err := NewCaptureReader(bytes.NewReader(data))
		require.Error(t, err, name)
		require.False(t, err == io.EOF, name)
	}

	cut := one
	cut.Length = 100
	r, err := NewCaptureReader(bytes.NewReader(classic(layers.LinkTypeEthernet, cut, []byte{1, 2, 3})))
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorContains(t, err, "frame 1 of the capture has 3 of its 100 bytes")

	_, _, err = ReadCapture(filepath.Join(t.TempDir(), "missing.pcap"))
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = NewCaptureWriter(io.Discard, nil)
	require.Error(t, err)
	w, err := NewCaptureWriter(io.Discard, []string{"p0"})
	require.NoError(t, err)
	good := Captured{Time: time.Unix(0, 0), Frame: []byte{1}}
	require.NoError(t, w.Write(good))
	for name, bad := range map[string]Captured{
		"port too high": {Port: 1, Time: good.Time},
		"port negative": {Port: -1, Time: good.Time},
		"no time":       {},
		"before 1970":   {Time: time.Unix(-1, 0)},
		"after 2262":    {Time: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		require.Error(t, w.Write(bad), name)
	}
	require.Error(t, WriteCapture(filepath.Join(t.TempDir(), "no", "such", "dir"), []string{"p0"}, nil))
	require.Error(t, WriteCapture(filepath.Join(t.TempDir(), "x"), []string{"p0"}, []Captured{{}}))
}

// An empty frame, or one whose file ends cleanly after it, is not the end of the capture.
func TestEmptyFrameIsNotTheEnd(t *testing.T) {
	var b bytes.Buffer
	w, err := NewCaptureWriter(&b, []string{"p0"})
	require.NoError(t, err)
	require.NoError(t, w.Write(Captured{Time: time.Unix(0, 1)}))
	require.NoError(t, w.Write(Captured{Time: time.Unix(0, 2), Frame: []byte{9}}))
	require.NoError(t, w.Flush())
	r, err := NewCaptureReader(&b)
	require.NoError(t, err)
	c, err := r.Next()
	require.NoError(t, err)
	require.Empty(t, c.Frame)
	c, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, []byte{9}, c.Frame)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

func FuzzCaptureReader(f *testing.F) {
	var b bytes.Buffer
	w, err := NewCaptureWriter(&b, []string{"a", "b"})
	require.NoError(f, err)
	require.NoError(f, w.Write(Captured{Port: 1, Time: time.Unix(0, 5), Frame: []byte{1, 2, 3}}))
	require.NoError(f, w.Flush())
	f.Add(b.Bytes())
	var c bytes.Buffer
	p := pcapgo.NewWriterNanos(&c)
	require.NoError(f, p.WriteFileHeader(65535, layers.LinkTypeEthernet))
	require.NoError(f, p.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: 2, Length: 2}, []byte{1, 2}))
	f.Add(c.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewCaptureReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		for {
			c, err := r.Next()
			if err != nil {
				return
			}
			if c.Port < 0 || c.Port >= max(1, len(r.Ports())) {
				t.Fatalf("port %d of %d", c.Port, len(r.Ports()))
			}
		}
	})
}
