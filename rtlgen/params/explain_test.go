// SPDX-License-Identifier: Apache-2.0

package params

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// chip is the published chip in override form, for base without lanes.
func chip() []string {
	return []string{"bus_bytes=1024", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "accumulate=reproducible", "buffer_bytes=1048576",
		"groups=64", "members=16", "mtu_bytes=4096", "window_packets=16", "clock_mhz=1000", "technology=asic", "ecc=true", "payload_banks=2"}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sets []string
		want string
	}{
		{"in place", nil, `buffer: 16 KB / 1 KB = 16 places; in_place keeps 1 payload a slot: 16 slots
  INT32: a group at window 4 takes 8 slots: 2 of 2 groups at a time; memory bits per payload bit: 1.0
  2,048 rows of 8 bytes, a read and a write port
lanes: 2 add to the slot; an 8-byte beat of INT32 takes 1 cycle
adders: 2 stages, the fewest for 250 MHz on fpga (1 reaches 110 MHz, 2 reach 2,000 MHz)
`},
		{"the published chip", chip(), `buffer: 1 MB / 4 KB = 256 places; reproducible with 16 members keeps 8 payloads a slot, one for every pair: 32 slots
  FP32, INT32: a group at window 16 takes 32 slots: 1 of 64 groups at a time; memory bits per payload bit: 8.0
  FP16, BF16: partials are FP32, twice the memory: a group at window 16 takes 64 slots: none fits, one does at window 8; memory bits per payload bit: 16.0
  in-band, any type: a group at window 16 takes 64 slots: none fits, one does at window 8
  1,024 rows of 1,024 bytes, 2 banks of one port, check bits besides
lanes: 512: 256 add pairs, 256 reduce the tree; a 1,024-byte beat of FP32 or INT32 takes 1 cycle, of FP16 or BF16 2
adders: 2 stages, the fewest for 1,000 MHz on asic (1 reaches 600 MHz, 2 reach 1,000 MHz); ecc adds a register beside them
`},
		{"messages", []string{"mode=1", "message_bytes=2048", "buffer_bytes=17408"}, `buffer: 17 KB / 2 KB = 8 places; in_place keeps 1 payload a slot: 8 slots
  INT32: a group at a window of 2 messages takes 4 slots: 2 of 2 groups at a time; memory bits per payload bit: 1.0
  2,048 rows of 8 bytes, a read and a write port
pools: 2 messages of 2 KB each, 4 full packets; in 500 cycles of the clock asked for, a round trip of a link, the bus moves 4 packets: as many as a link of the bus's rate needs; a time-out takes 16 µs
lanes: 2 add to the slot; an 8-byte beat of INT32 takes 1 cycle
adders: 2 stages, the fewest for 250 MHz on fpga (1 reaches 110 MHz, 2 reach 2,000 MHz)
`},
		{"odd members", []string{"accumulate=reproducible", "members=5", "buffer_bytes=25600", "lanes=2", "dtypes=[BF16]", "adder_stages=2", "window_packets=1", "groups=1"},
			`buffer: 25 KB / 1 KB = 25 places; reproducible with 5 members keeps 3 payloads a slot, one for every pair: 8 slots; 1 place (1 KB) left over, not built
  BF16: partials are FP32, twice the memory: a group at window 1 takes 4 slots: 1 of 1 group at a time; memory bits per payload bit: 6.0
  6,144 rows of 4 bytes, a read and a write port
lanes: 2: 1 add pairs, 1 reduce the tree; an 8-byte beat of BF16 takes 4 cycles
adders: 2 stages as given for 250 MHz on fpga (2 reach 160 MHz)
`},
		{"a single pair", []string{"accumulate=reproducible", "members=1"}, `buffer: 16 KB / 1 KB = 16 places; reproducible with 1 member keeps 1 payload a slot, one for every pair: 16 slots
  INT32: a group at window 4 takes 8 slots: 2 of 2 groups at a time; memory bits per payload bit: 1.0
  2,048 rows of 8 bytes, a read and a write port
lanes: 4: 2 add pairs, 2 are for the tree, which one pair does not have; an 8-byte beat of INT32 takes 1 cycle
adders: 2 stages, the fewest for 250 MHz on fpga (1 reaches 110 MHz, 2 reach 2,000 MHz)
`},
		{"lanes doubled", []string{"bus_bytes=64", "lanes=32", "dtypes=[FP32, FP16]", "clock_mhz=90", "mtu_bytes=256", "buffer_bytes=768", "window_packets=1"},
			`buffer: 768 B / 256 B = 3 places; in_place keeps 1 payload a slot: 3 slots
  FP32: a group at window 1 takes 2 slots: 1 of 2 groups at a time; memory bits per payload bit: 1.0
  FP16: partials are FP32, twice the memory: a group at window 1 takes 4 slots: none fits at any window; memory bits per payload bit: 2.0
  in-band, any type: a group at window 1 takes 4 slots: none fits at any window
  12 rows of 64 bytes, a read and a write port
lanes: 32 add to the slot; a 64-byte beat of FP32 takes 1 cycle and 16 of the lanes, of FP16 1
adders: 2 stages, the fewest for 90 MHz on fpga (1 reaches 80 MHz, 2 reach 160 MHz)
`},
		{"Mode III", []string{"mode=3"}, `buffer: 16 KB / 1 KB = 16 places; in_place keeps 1 payload a slot: 16 slots
  INT32: a group at window 4 takes 8 slots: 2 of 2 groups at a time; memory bits per payload bit: 1.0
  2,048 rows of 8 bytes, a read and a write port
pipes: 4 slots each; in 500 cycles of the clock asked for, a round trip of a link, the bus moves 4 packets: as many as a link of the bus's rate needs; a time-out takes 16 µs
lanes: 2 add to the slot; an 8-byte beat of INT32 takes 1 cycle
adders: 2 stages, the fewest for 250 MHz on fpga (1 reaches 110 MHz, 2 reach 2,000 MHz)
`},
		{"more stages than the table has", []string{"adder_stages=6"}, `buffer: 16 KB / 1 KB = 16 places; in_place keeps 1 payload a slot: 16 slots
  INT32: a group at window 4 takes 8 slots: 2 of 2 groups at a time; memory bits per payload bit: 1.0
  2,048 rows of 8 bytes, a read and a write port
lanes: 2 add to the slot; an 8-byte beat of INT32 takes 1 cycle
adders: 6 stages as given for 250 MHz on fpga (2 reach 2,000 MHz)
`},
	} {
		p, err := Parse("x.yaml", []byte(strings.Replace(base, "lanes: 2\n", "", 1)), c.sets...)
		require.NoError(t, err, c.name)
		if d := cmp.Diff(c.want, p.Explain().Text()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	assert.Zero(t, Params{Name: "x"}.Explain())
}

// TestExplainedNumbers checks the numbers by what they mean, for whatever is legal.
func TestExplainedNumbers(t *testing.T) {
	t.Parallel()
	legal := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		if p.Validate() != nil {
			return
		}
		legal++
		e, d := p.Explain(), p.Derived()
		require.NotEmpty(t, e.Text())
		require.Equal(t, d.Places, e.Buffer.Slots*e.Buffer.Planes+e.Buffer.LeftOver)
		require.Less(t, e.Buffer.LeftOver, e.Buffer.Planes)
		require.Equal(t, e.Lanes.Lanes, e.Lanes.Adding+e.Lanes.Reducing)
		types := 0
		for i, g := range e.Buffer.Groups {
			types += len(g.DTypes)
			memory := 1 // bits of a slot's payloads for each bit of a packet
			if g.Wide {
				memory = 2
			}
			require.Equal(t, memory*e.Buffer.Planes, g.MemoryBits)
			window := p.WindowPackets
			if p.Mode == 1 {
				window = p.WindowMessages
			}
			require.Equal(t, 2*window*memory, g.Slots)
			require.LessOrEqual(t, g.AtOnce*g.Slots, d.Slots)
			require.LessOrEqual(t, g.AtOnce, p.Groups)
			require.True(t, g.AtOnce == p.Groups || (g.AtOnce+1)*g.Slots > d.Slots)
			require.LessOrEqual(t, 2*g.LargestWindow*memory, d.Slots)
			if next := max(2*g.LargestWindow, 1); 2*next*memory <= d.Slots {
				t.Fatalf("a group of %d slots fits at window %d", d.Slots, next)
			}
			require.Equal(t, g.AtOnce > 0, g.LargestWindow >= window)
			// A beat's elements, each once, in as many cycles as it takes.
			elements := p.BusBytes / 4 * memory
			b := e.Lanes.Beats[i]
			require.Equal(t, elements, b.Cycles*b.Busy)
			require.LessOrEqual(t, b.Busy, e.Lanes.Adding)
		}
		require.Equal(t, len(p.DTypes), types)
	})
	require.NotZero(t, legal, "no legal parameters were drawn")
}
