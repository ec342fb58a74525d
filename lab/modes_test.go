// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/commlib/rendezvous"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/roce"
	"incforge/verify/dut"
)

// designs are those of the files below: Mode I, Mode II, and two engines with a group each.
func designs(config, _ string) (*contract.Manifest, error) {
	p := synthetic.Mini()
	switch filepath.Base(config) {
	case "one":
		p.Mode, p.HopRTTNS, p.MessageBytes, p.WindowMessages, p.BufferBytes = 1, 2000, 2048, 8, 1<<16
	case "engines":
		p.Engines, p.Groups = 2, 1
	}
	return synthetic.Manifest(p), nil
}

// readDesigns reads a topology file of them.
func readDesigns(t *testing.T, text string) (*Topology, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return Read(file, designs)
}

// plug is the wire of a model of a NIC in the place of a guest's.
type plug struct{ net.Conn }

func (p plug) Send(frame []byte) error         { _, err := p.Write(frame); return err }
func (p plug) Receive(buf []byte) (int, error) { return p.Read(buf) }

// modelNIC is a NIC that knows the MAC address of the switch that it is at, as a guest's has it by ARP.
type modelNIC struct {
	*softnic.NIC
	far roce.MAC
}

type modelQP struct {
	verbs.QP
	far roce.MAC
}

func (c modelNIC) CreateQP(caps verbs.Caps) (verbs.QP, error) {
	q, err := c.NIC.CreateQP(caps)
	return modelQP{q, c.far}, err
}

func (q modelQP) Connect(a verbs.Attr) error {
	a.Peer.MAC = q.far
	return q.QP.Connect(a)
}

// modelNIC is the model of a host's NIC.
func (l *Lab) modelNIC(t *testing.T, host int) modelNIC {
	at := l.top.hostLink(host)
	conn, err := net.Dial("unixpacket", l.portSocket(at.Switch, at.Port))
	require.NoError(t, err)
	h := &l.top.Hosts[host]
	return modelNIC{softnic.New(plug{conn}, verbs.Address{IP: h.IP, MAC: h.MAC}), switchMAC(at.Switch, at.Port)}
}

const twoLeaves = `
name: %s
switches: [{name: l0, config: %[1]s}, {name: l1, config: %[1]s}, {name: s, config: %[1]s}]
hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}]
links: [{a: h0, b: l0, loss: 0.01}, {a: h1, b: l0}, {a: h2, b: l1}, {a: h3, b: l1}, {a: l0, b: s, loss: 0.01}, {a: l1, b: s}]
groups:
  - {name: fixed, hosts: [h2, h0, h3, h1], dtype: INT32}
  - {name: any, hosts: [h0, h1, h2, h3], in_band: true}
`

// Model hosts join groups of a lab as programs on guests do: in Mode I with first PSNs and path MTUs of their own, beside one that knows of none, and on switches of several
// engines, of which each has a group.
func TestModelHosts(t *testing.T) {
	for _, config := range []string{"one", "engines"} {
		t.Run(config, func(t *testing.T) {
			top, err := readDesigns(t, fmt.Sprintf(twoLeaves, config))
			require.NoError(t, err)
			for i, g := range top.Groups {
				for _, n := range g.Nodes {
					require.Equal(t, i, n.Group)
				}
			}
			run(t, top, func(ctx context.Context, l *Lab) {
				nics := map[string]modelNIC{}
				for i := range top.Hosts {
					nics[top.Hosts[i].Name] = l.modelNIC(t, i)
				}
				for range 2 { // another START the second time
					joinAndAdd(ctx, t, l, nics)
				}
				for _, n := range nics {
					assert.NoError(t, n.Close())
				}
			})
		})
	}
}

// run has the switches and the groups of a lab, and no guests, while do is done.
func run(t *testing.T, top *Topology, do func(ctx context.Context, l *Lab)) {
	dir, err := os.MkdirTemp("", "lab")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	o := Options{Topology: top, Guest: guest(t), Log: logrus.New()}
	o.Log.SetOutput(io.Discard)
	for i := range top.Switches {
		engine, err := dut.NewReference(top.Switches[i].Manifest)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, engine.Close()) })
		o.Engines, o.TimeScales = append(o.Engines, engine), append(o.TimeScales, 1)
	}
	l := &Lab{top: top, o: &o, log: o.Log, dir: dir, share: filepath.Join(dir, "share")}
	require.NoError(t, l.prepare())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := live.Run(ctx, l.liveOptions(func() { close(ready) }))
		ended <- err
	}()
	<-ready
	var watchers sync.WaitGroup
	for _, j := range l.joiners {
		watchers.Go(func() { j.watch(ctx) })
	}
	do(ctx, l)
	cancel()
	watchers.Wait()
	require.NoError(t, <-ended)
}

// joinAndAdd has all hosts join both groups and add up a tensor in each.
func joinAndAdd(ctx context.Context, t *testing.T, l *Lab, nics map[string]modelNIC) {
	var all sync.WaitGroup
	for i := range l.top.Groups {
		group := &l.top.Groups[i]
		for rank, h := range group.Hosts {
			all.Go(func() {
				host, tuning := l.top.Hosts[h].Name, commlib.Tuning{Timeout: 20 * time.Second, QPTimeout: 12}
				if first := roce.PSN(0xFFFFFD + rank); group.Message > 0 {
					first &= roce.PSNMask
					tuning.FirstPSN, tuning.PathMTU = &first, 256<<(rank%3)
				}
				g, err := rendezvous.Join(ctx, nics[host], filepath.Join(l.share, "groups", group.Name), host, tuning)
				if !assert.NoError(t, err) {
					return
				}
				const n = 5000
				data, want := make([]byte, 4*n), make([]byte, 4*n)
				for i := range n {
					binary.LittleEndian.PutUint32(data[4*i:], uint32(i*(rank+1)))
					binary.LittleEndian.PutUint32(want[4*i:], uint32(i*10))
				}
				assert.NoError(t, g.AllReduce(ctx, data, data, commlib.INT32, commlib.Sum))
				assert.True(t, slices.Equal(want, data), "%s, rank %d", group.Name, rank)
				assert.NoError(t, g.Destroy(ctx))
			})
		}
	}
	all.Wait()
}

// What a rank says of its queue pair.
func TestSaid(t *testing.T) {
	g := &Group{Message: 2048, MTU: 1024}
	r, err := g.said("17 16777215 512\n")
	require.NoError(t, err)
	assert.Equal(t, rankEnd{17, 0xFFFFFF, 512}, r)
	for text, want := range map[string]string{"": "the number of a queue pair was expected", "17 5": "was expected", "0": "0 is no number of a queue pair", "x": "invalid syntax",
		"17 16777216 512": "16777216 is no PSN", "17 1 2048": "a path MTU of 2048 bytes, it can be 1024 at most", "17 1 0": "a path MTU of 0 bytes"} {
		_, err := g.said(text)
		assert.ErrorContains(t, err, want, text)
	}
	g.Message = 0
	_, err = g.said("17 1 512")
	assert.ErrorContains(t, err, "was expected")
}

// A program that knows no messages is told a window of which a quarter is one; a tree is of one mode.
func TestMessages(t *testing.T) {
	top, err := readDesigns(t, fmt.Sprintf(twoLeaves, "one"))
	require.NoError(t, err)
	for _, g := range top.Groups {
		assert.Equal(t, []int{2048, 8, 1024, 8}, []int{g.Message, g.Messages, g.MTU, g.Window}, g.Name)
	}
	_, err = readDesigns(t, `
switches: [{name: s, config: one}, {name: u, config: two}]
hosts: [{name: h0}, {name: h1}]
links: [{a: h0, b: s}, {a: h1, b: u}, {a: s, b: u}]
groups: [{name: g, hosts: [h0, h1]}]
`)
	require.ErrorContains(t, err, "group g: switch s is of mode 1, u of mode 2: in one tree all or none are of mode 1")
}
