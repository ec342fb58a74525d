// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/axis"
)

var macFrames = flag.Int("mac-frames", 2000, "frames that TestPorts sends through the MAC of 100 Gbit/s; a tenth through that of 10")

// dry sends a frame through a port to a MAC that forgives no gap.
func dry(b *bench) error {
	c, err := b.m.AddClock("clk_d", sim.ClockOptions{MHz: 156.25})
	if err != nil {
		return err
	}
	mac, err := axis.NewMAC(c, "s_rxd", "m_txd", 10)
	if err != nil {
		return err
	}
	src, err := axis.NewSource(b.m, "s_txd")
	if err == nil {
		err = b.m.ResetFor(4)
	}
	if err == nil {
		err = b.ticks(40)
	}
	if err == nil {
		err = src.SendBytes(b.data(300), 0)
	}
	if err == nil {
		err = b.ticks(400)
	}
	if err == nil && mac.Underruns() > 0 {
		err = fmt.Errorf("the MAC ran dry")
	}
	if err == nil && mac.Out.Frames() != 1 {
		err = fmt.Errorf("no frame came")
	}
	return err
}

// impatient: a MAC loses beats at a port that holds it up, and says so.
func impatient(t *testing.T, lib *sim.Lib) {
	m, err := lib.New(sim.Options{Random: true, Seed: 1})
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.Cycle())
	c, err := m.AddClock("clk_a", sim.ClockOptions{MHz: 322})
	require.NoError(t, err)
	_, err = axis.NewMAC(c, "s_rxa", "m_txa", 10)
	require.ErrorContains(t, err, "brings 3.9 bytes a cycle, the interface has 2")
	mac, err := axis.NewMAC(c, "s_rxa", "m_txa", 5)
	require.NoError(t, err)
	require.NoError(t, m.ResetFor(4))
	require.NoError(t, m.Cycles(40))
	for range 9 { // its engine takes nothing, and the queue holds three and a half
		require.NoError(t, mac.In.SendBytes(make([]byte, 40), 0))
	}
	require.NoError(t, m.Cycles(400))
	require.Positive(t, mac.Overruns())
	require.Zero(t, mac.Underruns())
}

// brief: a reset that is over before the port's next edge cuts a frame off, and that is not for the MAC to complain of.
func brief(t *testing.T, lib *sim.Lib) {
	m, err := lib.New(sim.Options{Random: true, Seed: 1})
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.Cycle())
	c, err := m.AddClock("clk_d", sim.ClockOptions{MHz: 50})
	require.NoError(t, err)
	mac, err := axis.NewMAC(c, "s_rxd", "m_txd", 3)
	require.NoError(t, err)
	src, err := axis.NewSource(m, "s_txd")
	require.NoError(t, err)
	tick := func(n int) {
		for range n {
			require.NoError(t, m.Tick())
		}
	}
	require.NoError(t, m.ResetFor(4))
	tick(100)
	for i := range 8 { // resets at all distances from the port's edge
		require.NoError(t, src.SendBytes(make([]byte, 300), 0))
		for begun := mac.Out.Beats(); mac.Out.Beats() < begun+2; {
			tick(1)
		}
		tick(i)
		require.True(t, mac.Out.InFrame())
		require.NoError(t, m.ResetFor(1))
		tick(1001)
	}
	require.Positive(t, mac.Out.Cut())
	require.Zero(t, mac.Underruns())
}

// macs puts a MAC of 100 Gbit/s with 64 bytes at 322 MHz and one of 10 with 8 bytes at 156.25 MHz at two ports, whose frames come back from the
// engine's side as they are: whatever their lengths, and with pauses, none is lost and no MAC runs dry.
func macs(t *testing.T, lib *sim.Lib) {
	m, err := lib.New(sim.Options{Random: true, Seed: 1})
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.Cycle())
	rnd := rand.New(rand.NewPCG(12, 13))
	var ends []func() bool
	var checks []func()
	up := false // the ports are out of reset
	for _, k := range []struct {
		port      string
		mhz, gbit float64
		frames    int
	}{{"c", 322.265625, 100, *macFrames}, {"d", 156.25, 10, *macFrames / 10}} {
		c, err := m.AddClock("clk_"+k.port, sim.ClockOptions{MHz: k.mhz, PPM: 80})
		require.NoError(t, err)
		mac, err := axis.NewMAC(c, "s_rx"+k.port, "m_tx"+k.port, k.gbit)
		require.NoError(t, err)
		in, err := axis.NewSink(m, "m_rx"+k.port)
		require.NoError(t, err)
		back, err := axis.NewSource(m, "s_tx"+k.port)
		require.NoError(t, err)
		in.OnFrame(func(f *axis.Frame) { require.NoError(t, back.SendBytes(slices.Clone(f.Data), 0)) })
		pause, err := m.Port("tx" + k.port + "_pause")
		require.NoError(t, err)
		rxCount, err := m.Port("rx" + k.port + "_count")
		require.NoError(t, err)
		txCount, err := m.Port("tx" + k.port + "_count")
		require.NoError(t, err)
		m.OnSample(func() {
			if up && (rxCount.Uint64()>>1 != 0 || txCount.Uint64()>>1 != 0) {
				m.Fail(fmt.Errorf("port %s dropped a frame: %b, %b", k.port, rxCount.Uint64(), txCount.Uint64()))
			}
		})
		stop := uint64(0) // cycles, one stop in 1,500: the queue makes up for it until the next
		c.OnDrive(func() {
			at := c.Now() % 1500
			if at == 0 {
				stop = uint64(rnd.IntN(40))
			}
			pause.SetBool(at < stop)
		})
		var sent [][]byte
		left, came, begin := k.frames, 0, 0.0
		refill := func() {
			for ; up && left > 0 && mac.In.Pending() < 4; left-- {
				d := make([]byte, 60+rnd.IntN(1518-60+1))
				if rnd.IntN(3) == 0 { // a third is short; were all of 65 bytes, they would take more beats than the bus has
					d = d[:60+rnd.IntN(min(len(d)-59, 80))]
				}
				for i := range d[:20] {
					d[i] = byte(rnd.Uint32())
				}
				sent = append(sent, d)
				require.NoError(t, mac.In.Send(axis.Frame{Data: d, NotBefore: uint64(begin)}))
				// The line is not full all the time, or pauses could never be made up for.
				begin = max(begin, float64(c.Now())) + float64(len(d)+24)*(1+0.2*rnd.Float64())/(k.gbit/8*c.PeriodNS())
			}
		}
		c.OnReact(refill)
		mac.Out.OnFrame(func(f *axis.Frame) {
			if !slices.Equal(sent[0], f.Data) {
				m.Fail(fmt.Errorf("port %s: frame %d came back as another", k.port, came))
			}
			sent = sent[1:]
			came++
		})
		ends = append(ends, func() bool { return came == k.frames })
		checks = append(checks, func() {
			require.Zero(t, mac.Underruns(), "port %s ran dry", k.port)
			require.Zero(t, mac.Overruns(), "port %s lost beats", k.port)
		})
	}
	require.NoError(t, m.ResetFor(20))
	require.NoError(t, m.Cycles(40))
	up = true
	require.NoError(t, m.Run(uint64(*macFrames)*2000, func() bool { return ends[0]() && ends[1]() }))
	for _, check := range checks {
		check()
	}
	t.Logf("%d frames through a MAC of 100 Gbit/s, %d through one of 10, in %d cycles", *macFrames, *macFrames/10, m.Now())
}
