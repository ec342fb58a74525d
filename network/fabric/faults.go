// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"incforge/internal/names"
	"incforge/roce"
)

// Class is a set of kinds of frames, as told by the frame and the direction in which it goes. The zero set means all of them.
type Class uint8

// The classes. Every frame is in one of them.
const (
	// ClassData is a SEND on its way up (towards the switch named first), ClassResult one on its way down.
	ClassData Class = 1 << iota
	ClassResult
	// ClassControl is a SEND ONLY with immediate and without payload, either way.
	ClassControl
	// ClassACK is an acknowledgement that says good, ClassNAK any other (NAK, RNR NAK).
	ClassACK
	ClassNAK
	// ClassOther is everything else: CNPs, frames that are not RoCEv2.
	ClassOther
)

// classNames are in the order of the bits.
func classNames() []string { return []string{"data", "result", "control", "ack", "nak", "other"} }

// Classify tells the class of a frame. It looks only at what lies where a RoCEv2 frame has its opcode, lengths and syndrome.
func Classify(frame []byte, down bool) Class {
	const (
		udpLength = 38 // of Ethernet and IPv4 headers, where UDP's length is
		opcode    = 42
		syndrome  = 54
		bare      = 8 + 12 + 4 + 4 // UDP length of a SEND with immediate and no payload
	)
	if len(frame) <= syndrome || frame[12] != 8 || frame[13] != 0 || frame[23] != 17 || int(frame[36])<<8|int(frame[37]) != roce.UDPPort {
		return ClassOther
	}
	switch op := roce.Opcode(frame[opcode]); {
	case op == roce.SendOnlyImm && int(frame[udpLength])<<8|int(frame[udpLength+1]) == bare:
		return ClassControl
	case op.IsSend() && down:
		return ClassResult
	case op.IsSend():
		return ClassData
	case op == roce.Acknowledge && roce.SyndromeKindOf(frame[syndrome]) == roce.SyndromeAck:
		return ClassACK
	case op == roce.Acknowledge:
		return ClassNAK
	}
	return ClassOther
}

// has reports that the set holds the class; the zero set holds all.
func (c Class) has(one Class) bool { return c == 0 || c&one != 0 }

// String lists the set's names with + between them, "all" for the zero set.
func (c Class) String() string {
	if c == 0 {
		return "all"
	}
	var s []string
	for i, name := range classNames() {
		if c>>i&1 != 0 {
			s = append(s, name)
		}
	}
	return strings.Join(s, "+")
}

// MarshalText is String.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what String writes.
func (c *Class) UnmarshalText(text []byte) error {
	*c = 0
	if string(text) == "all" {
		return nil
	}
	for _, name := range strings.Split(string(text), "+") {
		i := slices.Index(classNames(), name)
		if i < 0 {
			return fmt.Errorf("frame class %q: must be all, or some of %v with + between them", name, classNames())
		}
		*c |= 1 << i
	}
	return nil
}

// Faults are what one direction of a link does to frames. Probabilities are per frame, 0 to 1.
type Faults struct {
	Loss      float64 `yaml:"loss,omitempty" json:"loss,omitempty"`
	Duplicate float64 `yaml:"duplicate,omitempty" json:"duplicate,omitempty"`
	Reorder   float64 `yaml:"reorder,omitempty" json:"reorder,omitempty"`
	Corrupt   float64 `yaml:"corrupt,omitempty" json:"corrupt,omitempty"`
	// Burst loses frames in runs.
	Burst Burst `yaml:"burst,omitempty" json:"burst,omitzero"`
	// Jitter is the largest extra delay of any frame in cycles; it does not change the order.
	Jitter int `yaml:"jitter,omitempty" json:"jitter,omitempty"`
	// ReorderDelay is how far behind a reordered or duplicated frame may come, in cycles; 0 means 1000.
	ReorderDelay int `yaml:"reorder_delay,omitempty" json:"reorder_delay,omitempty"`
	// FlagErrors delivers corrupted frames to engines with the error bit set, as a MAC with an FCS check would.
	FlagErrors float64 `yaml:"flag_errors,omitempty" json:"flag_errors,omitempty"`
	// Only restricts faults to classes of frames.
	Only Only `yaml:"only,omitempty" json:"only,omitzero"`
}

// Burst is Gilbert's channel: in its bad state it loses every frame, in the good one none. Both zero: never bad.
type Burst struct {
	// Enter and Leave are the probabilities, a frame, that the channel turns bad, and good again.
	Enter float64 `yaml:"enter,omitempty" json:"enter,omitempty"`
	Leave float64 `yaml:"leave,omitempty" json:"leave,omitempty"`
}

// Only says which frames a kind of fault may hit; the zero value hits all.
type Only struct {
	Loss      Class `yaml:"loss,omitempty" json:"loss,omitempty"`
	Burst     Class `yaml:"burst,omitempty" json:"burst,omitempty"`
	Duplicate Class `yaml:"duplicate,omitempty" json:"duplicate,omitempty"`
	Reorder   Class `yaml:"reorder,omitempty" json:"reorder,omitempty"`
	Corrupt   Class `yaml:"corrupt,omitempty" json:"corrupt,omitempty"`
	Jitter    Class `yaml:"jitter,omitempty" json:"jitter,omitempty"`
}

// Kind is what was done to one frame.
type Kind uint8

// The kinds of events.
const (
	Lose Kind = iota
	Duplicate
	Reorder
	Corrupt
)

func kinds() names.List[Kind] {
	return names.Of[Kind]("fault", "lose", "duplicate", "reorder", "corrupt")
}

// String is the kind's name.
func (k Kind) String() string { return kinds().Name(k) }

// MarshalText is String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what String writes.
func (k *Kind) UnmarshalText(text []byte) error { return kinds().Unmarshal(text, k) }

// Event is one fault: what happened to which frame. A run's events, given to another run of the same network as its script in
// place of probabilities, make the same faults.
type Event struct {
	// Link is the number that AddHost's or Join's link has, Down its direction, Frame counts the frames of that direction from 0.
	Link  int    `yaml:"link" json:"link"`
	Down  bool   `yaml:"down,omitempty" json:"down,omitempty"`
	Frame uint64 `yaml:"frame" json:"frame"`
	Kind  Kind   `yaml:"kind" json:"kind"`
	// Delay is how many cycles later the duplicate, or the reordered frame, comes.
	Delay uint64 `yaml:"delay,omitempty" json:"delay,omitempty"`
	// Bits are the positions of the inverted bits, Flag that the receiver is told of the damage.
	Bits []int `yaml:"bits,omitempty,flow" json:"bits,omitempty"`
	Flag bool  `yaml:"flag,omitempty" json:"flag,omitempty"`
}

// Validate reports a probability that is none, and a negative delay.
func (f *Faults) Validate() error {
	for _, p := range []struct {
		name string
		v    float64
	}{{"loss", f.Loss}, {"duplicate", f.Duplicate}, {"reorder", f.Reorder}, {"corrupt", f.Corrupt}, {"burst.enter", f.Burst.Enter},
		{"burst.leave", f.Burst.Leave}, {"flag_errors", f.FlagErrors}} {
		if !(p.v >= 0 && p.v <= 1) { // NaN is neither
			return fmt.Errorf("%s %g: must be 0 to 1", p.name, p.v)
		}
	}
	if f.Jitter < 0 || f.ReorderDelay < 0 {
		return fmt.Errorf("jitter %d, reorder_delay %d: must not be negative", f.Jitter, f.ReorderDelay)
	}
	return nil
}

// Random reports that there are coins to toss.
func (f *Faults) Random() bool {
	return f.Loss > 0 || f.Burst.Enter > 0 || f.Duplicate > 0 || f.Reorder > 0 || f.Corrupt > 0 || f.Jitter > 0
}

// place names a frame: a link, a direction, and how many frames were before it.
type place struct {
	link  int
	down  bool
	frame uint64
}

// fate is what happens to one frame: by kind the event that hits it, if any, and how late it comes besides.
type fate struct {
	hit    [Corrupt + 1]*Event
	jitter uint64
}

// fate is what the coins and the script have in store for a frame. Every frame has a generator of its own, made of the pipe's seed and the
// frame's number, and always draws the same coins in the same order: no fault that is switched on or off moves another one's coin.
func (p *pipe) fate(at place, data []byte, script []Event) (x fate) {
	f := p.faults
	hit := func(is bool, e Event) {
		if is {
			placed := e
			placed.Link, placed.Down, placed.Frame = at.link, at.down, at.frame
			x.hit[e.Kind] = &placed
		}
	}
	if f.Random() {
		class, r := Classify(data, p.down), rand.New(rand.NewPCG(p.seed, at.frame))
		coin := func(p float64, only Class) bool { return r.Float64() < p && only.has(class) }
		late := func() uint64 { return 1 + r.Uint64N(uint64(cmp.Or(f.ReorderDelay, 1000))) }
		lose := coin(f.Loss, f.Only.Loss)
		enter, leave := coin(f.Burst.Enter, f.Only.Burst), coin(f.Burst.Leave, f.Only.Burst)
		p.bad = p.bad && !leave || !p.bad && enter
		hit(lose || p.bad && f.Only.Burst.has(class), Event{Kind: Lose})
		hit(coin(f.Duplicate, f.Only.Duplicate), Event{Kind: Duplicate, Delay: late()})
		hit(coin(f.Reorder, f.Only.Reorder), Event{Kind: Reorder, Delay: late()})
		corrupt, flag := coin(f.Corrupt, f.Only.Corrupt), coin(f.FlagErrors, 0)
		if j := r.Float64(); f.Jitter > 0 && f.Only.Jitter.has(class) {
			x.jitter = uint64(j * float64(f.Jitter+1))
		}
		hit(corrupt, Event{Kind: Corrupt, Flag: flag, Bits: flips(r, corrupt, 8*len(data))})
	} else {
		p.bad = false
	}
	for _, e := range script {
		hit(true, e)
	}
	return x
}

// flips draws up to three bits, which CRC-32 finds in any frame of these lengths; none twice, which would be no fault.
func flips(r *rand.Rand, corrupt bool, bits int) (list []int) {
	if !corrupt || bits == 0 {
		return nil
	}
	for range 1 + r.IntN(3) {
		if b := r.IntN(bits); !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}
