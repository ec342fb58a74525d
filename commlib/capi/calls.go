// SPDX-License-Identifier: Apache-2.0

package main

// #include "const.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"runtime/cgo"
	"time"
	"unsafe"

	"incforge/commlib"
)

// start begins a call.
func start(handle C.commlib_group, r commlib.Request) (*commlib.Call, error) {
	g, err := of[group](handle, "group")
	if err != nil {
		return nil, err
	}
	c, err := g.Start(r)
	if err != nil && g.Err() == nil {
		return nil, usageError{err}
	}
	return c, err
}

// do begins a call and waits for its end.
func do(handle C.commlib_group, r commlib.Request) C.int {
	c, err := start(handle, r)
	if err == nil {
		err = c.Wait(context.Background())
	}
	return status(err)
}

// reducing is a request of count elements, whose input and output are as long as the collective has them.
func reducing(handle C.commlib_group, what commlib.Collective, send, recv unsafe.Pointer, count C.size_t, dtype, op, root C.int) C.int {
	g, err := of[group](handle, "group")
	if err != nil {
		return status(err)
	}
	r := commlib.Request{Collective: what, Root: int(root), Type: commlib.Type(dtype), Op: commlib.Op(op)}
	if dtype < 0 || dtype > math.MaxUint8 || op < 0 || op > math.MaxUint8 {
		return status(usageError{fmt.Errorf("%v of type %d, operation %d: there is no such thing", what, dtype, op)})
	}
	size, own := C.size_t(r.Type.Size()), g.Endpoint().Rank
	if r.Send, err = memory("send", send, count, size); err != nil {
		return status(err)
	}
	switch {
	case what == commlib.ReduceScatter:
		first, beyond := commlib.Part(int(count), len(g.Endpoint().Members), own)
		r.Recv, err = memory("recv", recv, C.size_t(beyond-first), size)
	case what == commlib.AllReduce || r.Root == own:
		r.Recv, err = memory("recv", recv, count, size)
	}
	if err != nil {
		return status(err)
	}
	return do(handle, r)
}

//export commlib_all_reduce
func commlib_all_reduce(handle C.commlib_group, send *C.commlib_data, recv unsafe.Pointer, count C.size_t, dtype, op C.int) C.int {
	return reducing(handle, commlib.AllReduce, unsafe.Pointer(send), recv, count, dtype, op, 0)
}

//export commlib_reduce
func commlib_reduce(handle C.commlib_group, send *C.commlib_data, recv unsafe.Pointer, count C.size_t, dtype, op, root C.int) C.int {
	return reducing(handle, commlib.Reduce, unsafe.Pointer(send), recv, count, dtype, op, root)
}

//export commlib_reduce_scatter
func commlib_reduce_scatter(handle C.commlib_group, send *C.commlib_data, recv unsafe.Pointer, count C.size_t, dtype, op C.int) C.int {
	return reducing(handle, commlib.ReduceScatter, unsafe.Pointer(send), recv, count, dtype, op, 0)
}

//export commlib_broadcast
func commlib_broadcast(handle C.commlib_group, data unsafe.Pointer, bytes C.size_t, root C.int) C.int {
	g, err := of[group](handle, "group")
	if err != nil {
		return status(err)
	}
	m, err := memory("data", data, bytes, 1)
	if err != nil {
		return status(err)
	}
	r := commlib.Request{Collective: commlib.Broadcast, Root: int(root)}
	if r.Root == g.Endpoint().Rank {
		r.Send = m
	} else {
		r.Recv = m
	}
	return do(handle, r)
}

//export commlib_barrier
func commlib_barrier(handle C.commlib_group) C.int {
	return do(handle, commlib.Request{Collective: commlib.Barrier})
}

//export commlib_all_gather
func commlib_all_gather(handle C.commlib_group, send *C.commlib_data, recv unsafe.Pointer, bytes C.size_t) C.int {
	g, err := of[group](handle, "group")
	if err != nil {
		return status(err)
	}
	r := commlib.Request{Collective: commlib.AllGather}
	if r.Send, err = memory("send", unsafe.Pointer(send), bytes, 1); err != nil {
		return status(err)
	}
	if r.Recv, err = memory("recv", recv, bytes, C.size_t(len(g.Endpoint().Members))); err != nil {
		return status(err)
	}
	return do(handle, r)
}

//export commlib_start
func commlib_start(handle C.commlib_group, q *C.commlib_request, out *C.commlib_call) C.int {
	for _, n := range []C.int{q.collective, q._type, q.op} {
		if n < 0 || n > math.MaxUint8 {
			return status(usageError{fmt.Errorf("collective %d, type %d, operation %d: there is no such thing", q.collective, q._type, q.op)})
		}
	}
	r := commlib.Request{Collective: commlib.Collective(q.collective), Root: int(q.root), Type: commlib.Type(q._type), Op: commlib.Op(q.op)}
	var err error
	if r.Send, err = memory("send", q.send, q.send_bytes, 1); err != nil {
		return status(err)
	}
	if r.Recv, err = memory("recv", q.recv, q.recv_bytes, 1); err != nil {
		return status(err)
	}
	c, err := start(handle, r)
	if err == nil {
		*out = C.commlib_call(cgo.NewHandle(c))
	}
	return status(err)
}

//export commlib_wait
func commlib_wait(handle C.commlib_call, milliseconds C.int) C.int {
	c, err := of[*commlib.Call](handle, "call")
	if err != nil {
		return status(err)
	}
	ctx := context.Background()
	if milliseconds >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(milliseconds)*time.Millisecond)
		defer cancel()
	}
	code := status(c.Wait(ctx))
	if code != C.COMMLIB_TIMEOUT {
		cgo.Handle(handle).Delete()
	}
	return code
}
