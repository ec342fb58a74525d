// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/modelcheck/model"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// ErrNoRoom means that an engine is not made for what a script needs.
var ErrNoRoom = errors.New("this engine cannot take part")

// Driven counts what Drive did.
type Driven struct {
	// Frames went in, Answers came out as they should. Left is the number of the script's frames that were not tried.
	Frames, Answers, Left int
}

// Drive gives an engine, as after reset, what the script's switch got, one frame at a time, each when the answers to the one before are
// out, and compares what leaves with the script. Answers at one port must come in order, those at different ports need not.
//
// A Mode III engine sends by itself, so its sends are compared together with the answers to the frame before. Its timers run by its own clock:
// the script is followed until the first time-out, and until the first RNR NAK.
func (s *Script) Drive(d dut.DUT, m *contract.Manifest) (done Driven, err error) {
	defer fail.Catch(&err, "")
	s.fits(&m.Params)
	s.program(ctrl.New(d, m), m.Params.Ports)
	for i := 0; i < len(s.Exchanges); {
		x := &s.Exchanges[i]
		if s.timed(x) {
			for _, x := range s.Exchanges[i:] {
				if x.Frame != nil {
					done.Left++
				}
			}
			return done, nil
		}
		want := slices.Clone(x.Outs)
		i++
		for ; i < len(s.Exchanges) && s.Exchanges[i].Frame == nil && !s.timed(&s.Exchanges[i]); i++ {
			want = append(want, s.Exchanges[i].Outs...)
		}
		d.Offer(x.Port, dut.Frame{Data: slices.Clone(x.Frame), First: d.Now()})
		got, err := untilStill(d)
		fail.If(err != nil, "frame %d: %w", done.Frames+1, err)
		done.Frames++
		byPort := func(a, b Frame) int { return a.Port - b.Port }
		slices.SortStableFunc(want, byPort)
		slices.SortStableFunc(got, byPort)
		same := slices.EqualFunc(want, got, func(a, b Frame) bool { return a.Port == b.Port && bytes.Equal(a.Data, b.Data) })
		fail.If(!same, "frame %d: %s came out, and should be %s", done.Frames, framesText(got), framesText(want))
		done.Answers += len(got)
	}
	return done, nil
}

// program sets up the script's group on an engine with so many ports.
func (s *Script) program(c *ctrl.Driver, ports int) {
	for i, e := range s.Endpoints {
		if e.Port < ports {
			err := c.SetEndpoint(i, e)
			fail.If(err != nil, "endpoint %d: %w", i, err)
		}
	}
	if s.pipes() {
		const longest = 65535 // µs
		err := c.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, longest)
		fail.If(err != nil, "pipes: %w", err)
	}
	err := c.SetGroup(0, s.Group)
	fail.If(err != nil, "group: %w", err)
	if ok, err := c.Enable(0); err != nil || !ok {
		fail.On(errors.Join(fmt.Errorf("the group was not enabled: %w", ErrNoRoom), err))
	}
}

// fits refuses an engine that has no room for the script's group.
func (s *Script) fits(p *contract.Params) {
	refuse := func(bad bool, format string, args ...any) {
		fail.If(bad, "%s: %w", fmt.Sprintf(format, args...), ErrNoRoom)
	}
	need := s.Group.InMask | s.Group.OutMask | s.Group.AckMask
	if s.Group.HasParent {
		need |= 1 << s.Group.Parent
	}
	mode, ours := cmp.Or(p.Mode, 2), s.Reference.Params().Mode
	refuse(s.Free, "its sends are its own, and cannot be put off as the scenario does")
	refuse(ours == 1, "no engine has paths as short as those of the scenario's")
	refuse(mode != ours, "it is of mode %d, the scenario of mode %d", mode, ours)
	refuse(s.Group.InBand && !p.InBand, "it has no in-band groups")
	refuse(need>>min(p.Members+1, p.Ports) != 0, "%d members and %d ports are too few", p.Members, p.Ports)
	refuse(!slices.Contains(p.DTypes, "INT32") || !slices.Contains(p.Ops, "SUM"), "it does not add INT32")
}

// pipes tells that the switch works in Mode III.
func (s *Script) pipes() bool { return s.Reference.Params().Mode == 3 }

// timed tells whether something takes or starts a time that a script cannot say.
func (s *Script) timed(x *Exchange) bool {
	if x.Frame == nil {
		return model.Waits(x.Action)
	}
	p, err := roce.Decode(x.Frame)
	return s.pipes() && err == nil && p.Op == roce.Acknowledge && roce.SyndromeKindOf(p.Syndrome) == roce.SyndromeRNR
}

// untilStill runs an engine until nothing has moved for a while, and returns its output.
func untilStill(d dut.DUT) (out []Frame, err error) {
	const calm, most = 400, 1 << 20 // cycles
	for end := d.Now() + most; d.Now() < end; {
		if err := d.StepTo(d.Now() + calm); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		for _, o := range d.Out() {
			out = append(out, Frame{o.Port, o.Data})
		}
		if d.Waiting() == 0 && d.Still() >= calm {
			return out, nil
		}
	}
	return nil, errors.New("the engine does not come to rest")
}

// framesText describes frames in one line.
func framesText(frames []Frame) string {
	var texts []string
	for _, f := range frames {
		what := fmt.Sprintf("%x", f.Data)
		if p, err := roce.Decode(f.Data); err == nil {
			what = model.PacketFrom(&p).String()
			if p.Op.IsSend() {
				what += fmt.Sprintf(" %x", p.Payload)
			}
		}
		texts = append(texts, fmt.Sprintf("%s at port %d", what, f.Port))
	}
	return cmp.Or(strings.Join(texts, ", "), "nothing")
}
