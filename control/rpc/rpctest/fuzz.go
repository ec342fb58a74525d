// SPDX-License-Identifier: Apache-2.0

package rpctest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Fuzzer gives a service messages that make no sense, or not enough: fields drawn at random, and bytes changed after that. They go
// through the service's own decoding and handlers, without a network in between, which would take most of the time.
type Fuzzer struct {
	Service *grpc.ServiceDesc
	Server  any
	Random  *rand.Rand
	// Words are strings that the service may know.
	Words []string
	// Patience is how long a call may wait for something.
	Patience time.Duration
	// Answers counts the codes, by method.
	Answers map[string]map[codes.Code]int
}

// undecodable is what a message counts as whose bytes are none.
const undecodable = codes.Code(100)

// Run sends so many messages to each call, in any order, as whoever ctx says. An error without a text, and a panic, fail the test.
func (f *Fuzzer) Run(ctx context.Context, t testing.TB, messages int) {
	t.Helper()
	f.Answers = map[string]map[codes.Code]int{}
	var turns []int
	for i := range len(f.Service.Methods) + len(f.Service.Streams) {
		turns = append(turns, slices.Repeat([]int{i}, messages)...)
	}
	f.Random.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
	for _, i := range turns {
		call, cancel := context.WithTimeout(ctx, f.Patience)
		name, err := f.one(call, i)
		cancel()
		if f.Answers[name] == nil {
			f.Answers[name] = map[codes.Code]int{}
		}
		f.Answers[name][status.Code(err)]++
		if err != nil && status.Convert(err).Message() == "" {
			t.Fatalf("%s: an error without a text: %v", name, err)
		}
	}
}

// one sends a message to method i.
func (f *Fuzzer) one(ctx context.Context, i int) (name string, err error) {
	decode := func(into any) error {
		m, ok := into.(proto.Message)
		if !ok {
			return fmt.Errorf("%T is no message", into)
		}
		if err := proto.Unmarshal(f.bytes(m.ProtoReflect()), m); err != nil {
			return status.Error(undecodable, err.Error())
		}
		return nil
	}
	if i < len(f.Service.Methods) {
		m := &f.Service.Methods[i]
		_, err = m.Handler(f.Server, ctx, decode, nil)
		return m.MethodName, err
	}
	s := &f.Service.Streams[i-len(f.Service.Methods)]
	return s.StreamName, s.Handler(f.Server, &stream{ctx, decode})
}

// stream is the server's end of a call that answers with a stream.
type stream struct {
	ctx    context.Context
	decode func(any) error
}

func (s *stream) Context() context.Context     { return s.ctx }
func (s *stream) RecvMsg(m any) error          { return s.decode(m) }
func (s *stream) SendMsg(any) error            { return nil }
func (s *stream) SetHeader(metadata.MD) error  { return nil }
func (s *stream) SendHeader(metadata.MD) error { return nil }
func (s *stream) SetTrailer(metadata.MD)       {}

// bytes are a message of that type, as it would be on the wire, or nearly so.
func (f *Fuzzer) bytes(like protoreflect.Message) []byte {
	m := like.New()
	f.fill(m)
	text, err := proto.Marshal(m.Interface())
	if err != nil { // text that is no UTF-8
		text = []byte{0x0A, 2, 0xFF, 0xFE}
	}
	rng := f.Random
	if rng.IntN(5) > 0 {
		return text
	}
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(text) + 1)
		switch rng.IntN(3) {
		case 0:
			text = text[:at]
		case 1:
			text = slices.Insert(text, at, byte(rng.Uint32()))
		default:
			if at < len(text) {
				text[at] ^= 1 << rng.IntN(8)
			}
		}
	}
	return text
}

// fill draws the fields of a message.
func (f *Fuzzer) fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		d := fields.Get(i)
		switch {
		case f.Random.IntN(6) == 0:
		case d.IsList():
			list := m.Mutable(d).List()
			for range f.Random.IntN(6) {
				if d.Message() == nil {
					list.Append(f.scalar(d))
					continue
				}
				e := list.NewElement()
				f.fill(e.Message())
				list.Append(e)
			}
		case d.Message() != nil:
			f.fill(m.Mutable(d).Message())
		default:
			m.Set(d, f.scalar(d))
		}
	}
}

// scalar draws a value: often a small one, sometimes one at the edge of what there is.
func (f *Fuzzer) scalar(d protoreflect.FieldDescriptor) protoreflect.Value {
	rng := f.Random
	n := rng.Uint64() >> rng.IntN(64)
	if rng.IntN(2) == 0 {
		n = rng.Uint64N(5)
	}
	switch d.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 != 0)
	case protoreflect.StringKind:
		words := append([]string{"", "\x00", strings.Repeat("x", 300), "a/b", "ä"}, f.Words...)
		return protoreflect.ValueOfString(words[rng.IntN(len(words))])
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	}
	panic(fmt.Sprintf("rpctest: a field of kind %v: say how to draw it", d.Kind()))
}
