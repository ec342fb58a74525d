// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package ibverbs

// #include "verbs.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"incforge/commlib/verbs"
)

// qp is a queue pair with its completion queue. Its address does not change, as C has it in the calls.
type qp struct {
	d      *Device
	c      C.struct_inc_qp
	qpn    uint32
	events chan struct{}
	wake   *os.File      // a second descriptor of the completion channel, whose end is that of listen
	done   chan struct{} // closed when listen has ended
	gone   bool
}

// CreateQP makes a queue pair.
func (d *Device) CreateQP(c verbs.Caps) (verbs.QP, error) {
	if c.Sends < 1 || c.Receives < 1 {
		return nil, fmt.Errorf("queue pair: room for %d sends and %d receives", c.Sends, c.Receives)
	}
	if err := d.use(&d.qps); err != nil {
		return nil, fmt.Errorf("queue pair: %w", err)
	}
	q := &qp{d: d, events: make(chan struct{}, 1), done: make(chan struct{})}
	var what *C.char
	if code := C.inc_create(&d.c, &q.c, C.int(c.Sends), C.int(c.Receives), &what); code != 0 {
		d.unuse(&d.qps)
		return nil, fmt.Errorf("queue pair: %w", hint(failed(C.GoString(what), code)))
	}
	q.qpn = uint32(q.c.qp.qp_num)
	fd, err := syscall.Dup(int(q.c.channel.fd))
	if err != nil {
		code := C.inc_destroy(&q.c, &what)
		d.unuse(&d.qps)
		return nil, errors.Join(fmt.Errorf("queue pair: completion channel: %w", err), failed("queue pair", code))
	}
	syscall.CloseOnExec(fd)
	q.wake = os.NewFile(uintptr(fd), "completion channel") // which does not block, so that Go waits for it without a thread
	go q.listen()
	return q, nil
}

// listen tells of completions until the queue pair is destroyed.
func (q *qp) listen() {
	defer close(q.done)
	raw, err := q.wake.SyscallConn()
	if err != nil {
		return // it is closed
	}
	for code := C.int(0); code == 0; { // any error would come again: whoever polls sees what is wrong
		err := raw.Read(func(uintptr) bool {
			code = C.inc_event(&q.c)
			return code != C.EAGAIN
		})
		if err != nil {
			return
		}
		select {
		case q.events <- struct{}{}:
		default:
		}
	}
}

// QPN is the number.
func (q *qp) QPN() uint32 { return q.qpn }

// Events tells of completions.
func (q *qp) Events() <-chan struct{} { return q.events }

// errDestroyed is the error of whatever is asked of a queue pair that was destroyed.
var errDestroyed = errors.New("the queue pair is destroyed")

// Connect connects the queue pair.
func (q *qp) Connect(a verbs.Attr) error {
	switch {
	case q.gone:
		return fmt.Errorf("connect: %w", errDestroyed)
	case a.PathMTU < 256 || a.PathMTU > 4096 || a.PathMTU&(a.PathMTU-1) != 0:
		return fmt.Errorf("connect: a path MTU of %d bytes; RoCE has 256, 512, 1024, 2048 and 4096", a.PathMTU)
	}
	c := C.struct_inc_attr{port: C.uint8_t(q.d.port.number), gid: C.uint8_t(q.d.port.gid), timeout: C.uint8_t(a.Timeout),
		retries: C.uint8_t(a.RetryCount), rnr_retries: C.uint8_t(a.RNRRetry), rnr_timer: C.uint8_t(a.MinRNRTimer), peer_qpn: C.uint32_t(a.PeerQPN),
		send_psn: C.uint32_t(a.SendPSN), recv_psn: C.uint32_t(a.RecvPSN), path_mtu: C.int(a.PathMTU)}
	for i, b := range a.Peer.IP {
		c.peer_ip[i] = C.uint8_t(b)
	}
	var what *C.char
	err := failed("", C.inc_connect(&q.c, &c, &what))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Errorf("connect to %v: %s%w (nobody answers ARP for it)", a.Peer.IP, C.GoString(what), err)
	}
	return fmt.Errorf("connect to %v: %s%w", a.Peer.IP, C.GoString(what), err)
}

// Numbers of work requests tell receives from sends: libibverbs does not if one has failed.
const receives = 1

// PostSend posts a send.
func (q *qp) PostSend(w verbs.WorkRequest) error {
	if q.gone {
		return fmt.Errorf("post a send: %w", errDestroyed)
	}
	k, err := key(w.Region, w.Memory)
	if err != nil {
		return fmt.Errorf("post a send: %w", err)
	}
	var has C.int
	if w.HasImm {
		has = 1
	}
	return failed("post a send", C.inc_send(&q.c, C.uint64_t(w.ID<<1), unsafe.Pointer(unsafe.SliceData(w.Memory)), C.size_t(len(w.Memory)), k, has,
		C.uint32_t(w.Imm)))
}

// PostRecv posts a receive.
func (q *qp) PostRecv(w verbs.WorkRequest) error {
	if q.gone {
		return fmt.Errorf("post a receive: %w", errDestroyed)
	}
	k, err := key(w.Region, w.Memory)
	if err != nil {
		return fmt.Errorf("post a receive: %w", err)
	}
	return failed("post a receive", C.inc_receive(&q.c, C.uint64_t(w.ID<<1|receives), unsafe.Pointer(unsafe.SliceData(w.Memory)),
		C.size_t(len(w.Memory)), k))
}

// Poll takes completions.
func (q *qp) Poll(into []verbs.Completion) (int, error) {
	if q.gone {
		return 0, errDestroyed
	}
	if len(into) == 0 {
		return 0, nil
	}
	var c [C.INC_MOST]C.struct_inc_completion
	n := int(C.inc_poll(&q.c, &c[0], C.int(min(len(into), C.INC_MOST))))
	if n < 0 {
		return 0, failed("ibv_poll_cq", C.int(-n))
	}
	for i := range c[:n] {
		into[i] = verbs.Completion{ID: uint64(c[i].id) >> 1, Status: verbs.Status(c[i].status), Recv: c[i].id&receives != 0}
		if into[i].Recv { // of sends devices say what they like
			into[i].Bytes, into[i].HasImm, into[i].Imm = int(c[i].bytes), c[i].has_immediate != 0, uint32(c[i].immediate)
		}
		if c[i].status != 0 && c[i].vendor_error != 0 {
			into[i].Detail = fmt.Sprintf("the vendor's error %#x", uint32(c[i].vendor_error))
		}
	}
	return n, nil
}

// Destroy forgets the queue pair. When it has returned the NIC touches no memory of it any more.
func (q *qp) Destroy() error {
	if q.gone {
		return fmt.Errorf("destroy: %w", errDestroyed)
	}
	q.gone = true
	err := q.wake.Close()
	<-q.done // every event is acknowledged, or ibv_destroy_cq would wait
	var what *C.char
	if code := C.inc_destroy(&q.c, &what); code != 0 {
		return errors.Join(err, failed("destroy: "+C.GoString(what), code))
	}
	q.d.unuse(&q.d.qps)
	return err
}
