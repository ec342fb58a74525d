// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package ibverbs

// #cgo LDFLAGS: -libverbs
// #include "verbs.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"incforge/commlib/verbs"
)

// Device is a NIC that is open. Make it with Open.
type Device struct {
	port port
	c    C.struct_inc_device

	mu      sync.Mutex
	closed  bool
	regions int
	qps     int
}

var _ verbs.Device = (*Device)(nil)

// sysfs is where Linux has it.
const sysfs = "/sys"

// errClosed is the error of whatever is asked of a device that was closed.
var errClosed = errors.New("the device is closed")

// failed is an error of libibverbs.
func failed(what string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, syscall.Errno(code))
}

// Open opens a device by its name (rxe0, mlx5_0), or, if that is empty, the first one that can speak RoCEv2 over IPv4.
func Open(name string) (*Device, error) {
	p, err := findPort(sysfs, name)
	if err != nil {
		return nil, err
	}
	d := &Device{port: p}
	text := C.CString(p.device)
	defer C.free(unsafe.Pointer(text))
	var what *C.char
	if code := C.inc_open(&d.c, text, &what); code != 0 {
		return nil, fmt.Errorf("RDMA device %s: %w", p.device, failed(C.GoString(what), code))
	}
	return d, nil
}

// Close closes the device. It fails while there are queue pairs or regions.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return errClosed
	case d.qps+d.regions > 0:
		return fmt.Errorf("close RDMA device %s: %d queue pairs and %d regions of memory are in use", d.port.device, d.qps, d.regions)
	}
	d.closed = true
	return failed("close RDMA device "+d.port.device, C.inc_close(&d.c))
}

// Address is that of the port.
func (d *Device) Address() verbs.Address { return d.port.address }

// use counts what is made of the device, or fails if that is closed.
func (d *Device) use(count *int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	*count++
	return nil
}

func (d *Device) unuse(count *int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*count--
}

// region is memory that was registered.
type region struct {
	d      *Device
	mr     *C.struct_ibv_mr
	memory []byte
	pinner runtime.Pinner
}

// Register makes memory known. If it is Go's it is pinned.
func (d *Device) Register(memory []byte) (verbs.Region, error) {
	if len(memory) == 0 {
		return nil, errors.New("register memory: there is none")
	}
	if err := d.use(&d.regions); err != nil {
		return nil, fmt.Errorf("register memory: %w", err)
	}
	r := &region{d: d, memory: memory}
	r.pinner.Pin(unsafe.SliceData(memory))
	if code := C.inc_register(&d.c, unsafe.Pointer(unsafe.SliceData(memory)), C.size_t(len(memory)), &r.mr); code != 0 {
		r.pinner.Unpin()
		d.unuse(&d.regions)
		return nil, fmt.Errorf("register %d bytes of memory: %w", len(memory), hint(failed("ibv_reg_mr", code)))
	}
	return r, nil
}

// hint says what to do about memory that the kernel does not let a program lock.
func hint(err error) error {
	if errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("%w (is ulimit -l large enough?)", err)
	}
	return err
}

// Deregister forgets the memory.
func (r *region) Deregister() error {
	if r.memory == nil {
		return errors.New("deregister memory: it is not registered")
	}
	if code := C.ibv_dereg_mr(r.mr); code != 0 {
		return failed("ibv_dereg_mr", code)
	}
	r.memory = nil
	r.pinner.Unpin()
	r.d.unuse(&r.d.regions)
	return nil
}

// key finds the region of memory that a work request has, and its key; no memory needs none.
func key(have verbs.Region, memory []byte) (C.uint32_t, error) {
	if len(memory) == 0 {
		return 0, nil
	}
	r, ok := have.(*region)
	if !ok || r.memory == nil {
		return 0, errors.New("its memory is not registered")
	}
	first, at := uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))), uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	if at < first || at+uintptr(len(memory)) > first+uintptr(len(r.memory)) {
		return 0, errors.New("its memory is not the region's")
	}
	return C.uint32_t(r.mr.lkey), nil
}
