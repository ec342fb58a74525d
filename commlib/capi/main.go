// SPDX-License-Identifier: Apache-2.0

// Command capi is CommLib as a library for C and whatever can load one: make commlib builds it with -buildmode=c-shared and c-archive.
// commlib.h describes it. Handles are those of package runtime/cgo.
package main

// #include "const.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"time"
	"unsafe"

	"incforge/commlib"
	"incforge/commlib/nic"
	"incforge/commlib/rendezvous"
	"incforge/control/managerpb"
	"incforge/control/rpc"

	"google.golang.org/grpc"
)

func main() {} // which a library does not run

// The numbers of commlib.h are those of package commlib, or this does not compile.
var (
	_ = [1]int{}[commlib.FP32-C.COMMLIB_FP32+commlib.FP16-C.COMMLIB_FP16+commlib.BF16-C.COMMLIB_BF16+commlib.INT32-C.COMMLIB_INT32]
	_ = [1]int{}[commlib.Sum-C.COMMLIB_SUM+commlib.Min-C.COMMLIB_MIN+commlib.Max-C.COMMLIB_MAX]
	_ = [1]int{}[commlib.AllReduce-C.COMMLIB_ALL_REDUCE+commlib.Reduce-C.COMMLIB_REDUCE+commlib.Broadcast-C.COMMLIB_BROADCAST+
		commlib.Barrier-C.COMMLIB_BARRIER+commlib.ReduceScatter-C.COMMLIB_REDUCE_SCATTER+commlib.AllGather-C.COMMLIB_ALL_GATHER]
)

// group is a group and its tie to the manager; nil if there is none.
type group struct {
	*commlib.Group
	conn *grpc.ClientConn
}

// usageError is the error of a call that was not begun.
type usageError struct{ error }

// status is an error as C has it. Its text is kept for commlib_error.
func status(err error) C.int {
	if err == nil {
		return C.COMMLIB_OK
	}
	text := C.CString(err.Error())
	defer C.free(unsafe.Pointer(text))
	C.inc_set_error((*C.commlib_text)(text))
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return C.COMMLIB_USAGE
	case errors.Is(err, commlib.ErrEnded):
		return C.COMMLIB_ENDED
	case errors.Is(err, commlib.ErrQueuePair):
		return C.COMMLIB_QUEUE_PAIR
	case errors.Is(err, commlib.ErrMismatch):
		return C.COMMLIB_MISMATCH
	case errors.Is(err, commlib.ErrStands):
		return C.COMMLIB_STANDS
	case errors.Is(err, context.DeadlineExceeded):
		return C.COMMLIB_TIMEOUT
	}
	return C.COMMLIB_FAILED
}

// of is what a handle stands for.
func of[T any](handle C.uintptr_t, what string) (v T, err error) {
	defer func() {
		if recover() != nil { // a number that is no handle, or none any more
			err = usageError{fmt.Errorf("%#x is no %s", uintptr(handle), what)}
		}
	}()
	v, ok := cgo.Handle(handle).Value().(T)
	if !ok {
		err = usageError{fmt.Errorf("%#x is no %s", uintptr(handle), what)}
	}
	return v, err
}

// words is a text of C, empty if there is none.
func words(text *C.commlib_text) string { return C.GoString((*C.char)(text)) }

// mostBytes bounds what a call sends or receives, so that nothing wraps.
const mostBytes = 1 << 40

// memory is memory of C, of so many elements of a size; what names it. No memory at all is right for no bytes alone.
func memory(what string, at unsafe.Pointer, count, size C.size_t) ([]byte, error) {
	switch bytes := count * size; {
	case count > mostBytes || bytes > mostBytes:
		return nil, usageError{fmt.Errorf("%s: %d times %d bytes are more than %d", what, uint64(count), uint64(size), uint64(mostBytes))}
	case at != nil:
		return unsafe.Slice((*byte)(at), bytes), nil
	case bytes > 0:
		return nil, usageError{fmt.Errorf("%s is NULL, of %d bytes", what, uint64(bytes))}
	}
	return nil, nil
}

//export commlib_open
func commlib_open(name *C.commlib_text, out *C.commlib_device) C.int {
	n, err := nic.Open(words(name))
	if err != nil {
		return status(err)
	}
	*out = C.commlib_device(cgo.NewHandle(n))
	return C.COMMLIB_OK
}

//export commlib_close
func commlib_close(device C.commlib_device) C.int {
	n, err := of[nic.NIC](device, "device")
	if err == nil {
		if err = n.Close(); err == nil {
			cgo.Handle(device).Delete()
		}
	}
	return status(err)
}

//export commlib_init_group
func commlib_init_group(device C.commlib_device, config *C.commlib_config, out *C.commlib_group) C.int {
	n, err := of[nic.NIC](device, "device")
	if err != nil {
		return status(err)
	}
	ctx, tuning := context.Background(), commlib.Tuning{Timeout: time.Duration(config.timeout_ms) * time.Millisecond, PathMTU: int(config.path_mtu)}
	if tuning.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, tuning.Timeout)
		defer cancel()
	}
	var g group
	if config.meet != nil {
		g.Group, err = rendezvous.Join(ctx, n, C.GoString(config.meet), C.GoString(config.host), tuning)
	} else {
		err = g.init(ctx, n, config, tuning)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%v", err) // COMMLIB_TIMEOUT is another thing
	}
	if err == nil {
		*out = C.commlib_group(cgo.NewHandle(g))
	}
	return status(err)
}

// init makes a group by a manager.
func (g *group) init(ctx context.Context, n nic.NIC, config *C.commlib_config, tuning commlib.Tuning) (err error) {
	if config.ranks < 0 || config.ranks > 0 && config.members == nil {
		return usageError{fmt.Errorf("%d ranks, and no members", config.ranks)}
	}
	var members []string
	for _, name := range unsafe.Slice(config.members, config.ranks) {
		members = append(members, C.GoString(name))
	}
	g.conn, err = rpc.Dial(C.GoString(config.manager), rpc.Manager, rpc.Files{CA: C.GoString(config.ca), Cert: C.GoString(config.cert),
		Key: C.GoString(config.key)})
	if err != nil {
		return usageError{err}
	}
	g.Group, err = commlib.InitGroup(ctx, commlib.Config{Manager: managerpb.NewManagerClient(g.conn), Device: n, Tuning: tuning,
		Name: C.GoString(config.name), Members: members, Rank: int(config.rank), Policy: C.GoString(config.policy), Mbps: int(config.mbps),
		LeastMbps: int(config.least_mbps), MTU: int(config.mtu),
		WholeMessages: config.whole_messages != 0, TurnWait: time.Duration(config.turn_wait_ms) * time.Millisecond, Wait: time.Duration(config.wait_ms) * time.Millisecond})
	if err != nil {
		return errors.Join(err, g.conn.Close())
	}
	return nil
}

// end gives a group up.
func end(handle C.commlib_group, how func(g *commlib.Group) error) C.int {
	g, err := of[group](handle, "group")
	if err != nil {
		return status(err)
	}
	cgo.Handle(handle).Delete()
	err = how(g.Group)
	if g.conn != nil {
		err = errors.Join(err, g.conn.Close())
	}
	return status(err)
}

//export commlib_destroy_group
func commlib_destroy_group(handle C.commlib_group) C.int {
	return end(handle, func(g *commlib.Group) error { return g.Destroy(context.Background()) })
}

//export commlib_abort_group
func commlib_abort_group(handle C.commlib_group, reason *C.commlib_text) C.int {
	return end(handle, func(g *commlib.Group) error { return g.Abort(context.Background(), words(reason)) })
}

//export commlib_describe
func commlib_describe(handle C.commlib_group, rank, ranks *C.int) C.int {
	g, err := of[group](handle, "group")
	if err == nil {
		*rank, *ranks = C.int(g.Endpoint().Rank), C.int(len(g.Endpoint().Members))
	}
	return status(err)
}

//export commlib_part
func commlib_part(count C.size_t, ranks, rank C.int, first, beyond *C.size_t) {
	from, to := commlib.Part(int(count), int(max(ranks, 1)), int(rank))
	*first, *beyond = C.size_t(from), C.size_t(to)
}
