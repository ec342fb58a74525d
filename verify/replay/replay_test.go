// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
)

// TestReplayRealCaptures: the counts in the table come from the captures' description, by hand.
func TestReplayRealCaptures(t *testing.T) {
	for _, c := range []struct {
		file string
		sums int
		want map[string]uint64
	}{
		{"send-64k.pcap", 247 * 4, map[string]uint64{"AGG": 247 * 4, "RX_ACK": 12, "DROP_GAP": 0}},
		{"send-64b.pcap", 400 * 4, map[string]uint64{"AGG": 400 * 4, "RX_ACK": 1600}},
		{"send-imm-1packet.pcap", 20 * 4, map[string]uint64{"AGG": 80, "RX_ACK": 80}},
		{"loss-delivered.pcap", 0, map[string]uint64{"RX_NAK": 24}},
		// LASTs have 953 bytes, no whole number of elements; the engine never gets beyond the first
		{"send-imm-3packet.pcap", 2 * 4, map[string]uint64{"AGG": 8, "DROP_BAD_LENGTH": 80, "DROP_GAP": 38 * 4, "TX_GAP_NAK": 4}},
		{"write-64k.pcap", 0, map[string]uint64{"AGG": 0, "DROP_OPCODE": 247 * 4, "RX_ACK": 12}},
	} {
		t.Run(c.file, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.pcapng")
			rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference},
				Input: filepath.Join("..", "..", "roce", "testdata", c.file+".gz"), Output: out, Ranks: 4})
			require.NoError(t, err)
			for name, v := range c.want {
				assert.EqualValues(t, v, rep.Counters[name], name)
			}
			if c.sums > 0 {
				assert.Equal(t, c.sums, rep.Sums)
			}
			frames, ports, err := roce.ReadCapture(out)
			require.NoError(t, err)
			assert.Len(t, frames, rep.Left)
			assert.Len(t, ports, 4)
		})
	}
}

func TestReplayAsIs(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pcapng")
	in := filepath.Join("..", "..", "roce", "testdata", "send-64b.pcap.gz")
	rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Input: in, Output: out})
	require.NoError(t, err)
	assert.EqualValues(t, rep.FramesRead, rep.Counters["BYPASS"])
	want, _, err := roce.ReadCapture(in)
	require.NoError(t, err)
	got, _, err := roce.ReadCapture(out)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Frame, got[i].Frame)
	}
}

func TestReplayRefuses(t *testing.T) {
	o := Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Input: filepath.Join("..", "..", "roce", "testdata", "send-64b.pcap.gz"), Ranks: 5}
	_, err := Run(context.Background(), o)
	require.ErrorIs(t, err, ErrCapture)
	o.Input = "absent.pcap"
	_, err = Run(context.Background(), o)
	require.Error(t, err)
}
