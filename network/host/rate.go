// SPDX-License-Identifier: Apache-2.0

package host

import (
	"fmt"
	"math"
)

// RateControl is how a NIC answers CNPs. It is the reaction point of DCQCN (Zhu et al., SIGCOMM 2015), made simpler: recovery goes by time alone, there is
// no byte counter and no hyper increase. Times are in cycles.
//
// At a CNP, but not within Hold of the last cut: target = rate, rate ×= 1 − alpha/2, alpha = (1 − Gain)·alpha + Gain. Every Update without a CNP
// alpha ×= 1 − Gain and rate = (rate + target)/2; after FastSteps of these the target rises by Increase each time. At Line the NIC is free again.
type RateControl struct {
	// Line is the link's rate, Least the lowest one, Increase what the target rises by; in bytes a cycle, headers and gaps on the wire included.
	Line, Least, Increase float64
	// Hold and Update are at least 1. DCQCN has 50 µs and 55 µs.
	Hold, Update uint64
	// Gain is 0 to 1; DCQCN has 1/256. FastSteps is how many updates there are before the target rises; DCQCN has 5.
	Gain      float64
	FastSteps int
}

// DCQCN are the published parameters for a link of line bytes a cycle at cycles a microsecond: increase by 40 Mbit/s, least rate 1 % of the line's.
func DCQCN(line float64, cyclesPerMicrosecond uint64) RateControl {
	return RateControl{Line: line, Least: line / 100, Increase: 5 / float64(cyclesPerMicrosecond), Hold: 50 * cyclesPerMicrosecond,
		Update: 55 * cyclesPerMicrosecond, Gain: 1.0 / 256, FastSteps: 5}
}

// validate reports parameters that mean nothing.
func (c *RateControl) validate() error {
	if !(c.Line > 0 && c.Least > 0 && c.Least <= c.Line && c.Increase > 0 && c.Gain > 0 && c.Gain <= 1) || c.Hold == 0 || c.Update == 0 || c.FastSteps < 0 {
		return fmt.Errorf("host: rate control %+v: rates and times must be positive, the gain 0 to 1, the least rate not above the line's", *c)
	}
	return nil
}

// WireOverhead is what a frame takes on the wire besides its bytes: preamble, FCS, gap.
const WireOverhead = 24

// pacer is the rate of one connection. Its zero value with a nil configuration never holds anything back.
type pacer struct {
	cfg          *RateControl
	rate, target float64
	alpha        float64
	steps        int    // updates since the last cut
	hold         uint64 // no cut before
	update       uint64 // next update, Never at the line's rate
	gate         uint64 // no request before, Never if there may be one
}

func newPacer(cfg *RateControl) pacer {
	p := pacer{cfg: cfg, update: Never, gate: Never, alpha: 1}
	if cfg != nil {
		p.rate, p.target = cfg.Line, cfg.Line
	}
	return p
}

// congested takes a CNP and reports whether the rate was cut.
func (p *pacer) congested(now uint64) bool {
	if p.cfg == nil || now < p.hold {
		return false
	}
	p.target = p.rate
	p.rate = max(p.rate*(1-p.alpha/2), p.cfg.Least)
	p.alpha = (1-p.cfg.Gain)*p.alpha + p.cfg.Gain
	p.steps, p.hold, p.update = 0, now+p.cfg.Hold, now+p.cfg.Update
	return true
}

// sent closes the gate for the time that a frame takes at the present rate.
func (p *pacer) sent(now uint64, bytes int) {
	if p.cfg != nil && p.rate < p.cfg.Line {
		p.gate = now + uint64(math.Ceil(float64(bytes+WireOverhead)/p.rate))
	}
}

// tick does what is due.
func (p *pacer) tick(now uint64) {
	if now >= p.gate {
		p.gate = Never
	}
	if now < p.update {
		return
	}
	p.alpha *= 1 - p.cfg.Gain
	if p.steps++; p.steps > p.cfg.FastSteps {
		p.target = min(p.target+p.cfg.Increase, p.cfg.Line)
	}
	p.rate = (p.rate + p.target) / 2
	p.update += p.cfg.Update
	if p.rate >= 0.999*p.cfg.Line { // halves of the difference never arrive
		p.rate, p.target, p.update, p.gate = p.cfg.Line, p.cfg.Line, Never, Never
	}
}
