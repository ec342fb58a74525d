// SPDX-License-Identifier: Apache-2.0

// Package ether is what an ordinary switch does beside its engine: it learns where addresses are, and answers ARP.
package ether

import (
	"time"

	"incforge/roce"
)

// Bounds of what a bridge remembers.
const (
	bridgeAge  = 5 * time.Minute
	bridgeSize = 4096
)

// Bridge is what an ordinary learning switch knows: behind which port a MAC address was last seen.
type Bridge struct {
	seen map[roce.MAC]place
}

type place struct {
	port int
	when time.Time
}

// NewBridge makes a bridge that knows nothing.
func NewBridge() *Bridge { return &Bridge{map[roce.MAC]place{}} }

// Learn notes where a sender is. Addresses of many are nobody's, and a full table learns nothing new until something in it is old.
func (b *Bridge) Learn(sender roce.MAC, port int, now time.Time) {
	if sender[0]&1 != 0 {
		return
	}
	if _, known := b.seen[sender]; !known && len(b.seen) >= bridgeSize {
		for mac, p := range b.seen {
			if now.Sub(p.when) > bridgeAge {
				delete(b.seen, mac)
			}
		}
		if len(b.seen) >= bridgeSize {
			return
		}
	}
	b.seen[sender] = place{port, now}
}

// Find is the port behind which a receiver is; of many, and of one that was not seen for long, it is not known.
func (b *Bridge) Find(receiver roce.MAC, now time.Time) (port int, known bool) {
	p, known := b.seen[receiver]
	return p.port, known && receiver[0]&1 == 0 && now.Sub(p.when) <= bridgeAge
}
