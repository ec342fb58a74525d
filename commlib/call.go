// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"context"
	"errors"
	"fmt"

	"incforge/inc"
	"incforge/internal/names"
	"incforge/network/ranges"
)

// Collective is what a call does.
type Collective = ranges.Collective

// The collectives.
const (
	AllReduce     = ranges.AllReduce
	Reduce        = ranges.Reduce
	Broadcast     = ranges.Broadcast
	Barrier       = ranges.Barrier
	ReduceScatter = ranges.ReduceScatter
	AllGather     = ranges.AllGather
)

// Collectives are all of them.
func Collectives() []Collective { return ranges.Collectives() }

// Type is an element type, by the engine's codes.
type Type uint8

// The types.
const (
	FP32  Type = inc.DTypeFP32
	FP16  Type = inc.DTypeFP16
	BF16  Type = inc.DTypeBF16
	INT32 Type = inc.DTypeINT32
)

func types() names.List[Type] { return names.Of[Type]("type", "fp32", "fp16", "bf16", "int32") }

// Types are all of them.
func Types() []Type { return types().Values() }

// String is the name in small letters.
func (t Type) String() string { return types().Name(t) }

// UnmarshalText reads what String writes.
func (t *Type) UnmarshalText(text []byte) error { return types().Unmarshal(text, t) }

// Size is an element's in bytes.
func (t Type) Size() int {
	if t == FP16 || t == BF16 {
		return 2
	}
	return 4
}

// Op is an operation, by the engine's codes.
type Op uint8

// The operations.
const (
	Sum Op = inc.OpSum
	Min Op = inc.OpMin
	Max Op = inc.OpMax
)

func operations() names.List[Op] { return names.Of[Op]("operation", "sum", "min", "max") }

// String is the name in small letters.
func (o Op) String() string { return operations().Name(o) }

// UnmarshalText reads what String writes.
func (o *Op) UnmarshalText(text []byte) error { return operations().Unmarshal(text, o) }

// Request describes a call.
type Request struct {
	Collective Collective
	// Root is the rank that receives (Reduce) or sends (Broadcast).
	Root int
	// Type and Op matter only where elements are reduced.
	Type Type
	Op   Op
	// Send is what this rank gives: its tensor (AllReduce, Reduce, ReduceScatter), its part (AllGather), the root's data (Broadcast, of the root).
	// Recv is the room for what it gets: as long as Send (AllReduce, Reduce at the root), its part of the tensor (ReduceScatter, see Part), all parts
	// (AllGather), the root's data (Broadcast, of the others). What a rank does not give or get may be missing. Members give equal lengths.
	Send, Recv []byte
}

// String says which call it is.
func (r *Request) String() string {
	s := r.Collective.String()
	if r.Collective.Rooted() {
		s += fmt.Sprintf(" root %d", r.Root)
	}
	if r.Collective.Reduces() {
		s += fmt.Sprintf(" %v %v", r.Type, r.Op)
	}
	return fmt.Sprintf("%s of %d bytes", s, max(len(r.Send), len(r.Recv)))
}

// Part is the part of a tensor of so many elements that a rank gets in a ReduceScatter: elements from first to beyond.
func Part(elements, ranks, rank int) (first, beyond int) { return ranges.Part(elements, ranks, rank) }

// What an Error can be; errors.Is tells.
var (
	// ErrEnded: the group has ended: destroyed, or a member, a switch or a link is lost.
	ErrEnded = errors.New("the group has ended")
	// ErrQueuePair: the NIC has given the connection up.
	ErrQueuePair = errors.New("the queue pair has failed")
	// ErrMismatch: the members do not make the same calls.
	ErrMismatch = errors.New("the members do not make the same call")
	// ErrStands: nothing has come or been acknowledged for as long as Config.Timeout.
	ErrStands = errors.New("the group stands")
)

// Error is why a group has failed.
type Error struct {
	// Group is the instance, Rank and Member who says so, Peer whom it concerns: the far end of its queue pair, or whoever Reason names.
	Group  string
	Rank   int
	Member string
	Peer   string
	// Call is the call that was under way, empty if there was none.
	Call   string
	Kind   error
	Reason string
}

// Error says everything.
func (e *Error) Error() string {
	s := fmt.Sprintf("group %s, rank %d (%s)", e.Group, e.Rank, e.Member)
	if e.Call != "" {
		s += ", " + e.Call
	}
	if e.Peer != "" {
		s += ", toward " + e.Peer
	}
	return fmt.Sprintf("%s: %v: %s", s, e.Kind, e.Reason)
}

// Unwrap is what kind of failure it is.
func (e *Error) Unwrap() error { return e.Kind }

// Call is a request under way, or done.
type Call struct {
	Request
	done chan struct{}
	err  error

	// While it is under way the group's goroutine has these.
	ranges      []stretch
	sent, recvd *memory
	spare       *memory // for what is padded
}

// Done is closed when the call has ended.
func (c *Call) Done() <-chan struct{} { return c.done }

// Wait waits for the end, and says how it was. If ctx ends before, the call goes on, and so do its buffers' ties to it.
func (c *Call) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	default:
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("%v: %w", &c.Request, ctx.Err())
	}
}

func (c *Call) end(err error) {
	c.err = err
	close(c.done)
}
