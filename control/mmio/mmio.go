// SPDX-License-Identifier: Apache-2.0

// Package mmio reaches an engine's registers in a file that can be mapped into memory: a PCIe device's resource, or a UIO device.
package mmio

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Bus is a mapped file. Its accesses are single loads and stores of 32 bits, in the machine's byte order, which is the bus's where there is
// PCIe. A device that refuses an access cannot say so here.
type Bus struct {
	file *os.File
	mem  []byte
}

// ErrAddress means an address that is not mapped, or not whole.
var ErrAddress = errors.New("no register can be there")

// Open maps size bytes of a file, from its beginning.
func Open(path string, size int) (*Bus, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_SYNC, 0)
	if err != nil {
		return nil, fmt.Errorf("registers: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() && info.Size() < int64(size) {
		return nil, errors.Join(fmt.Errorf("registers: %s is shorter than the %d bytes of the map", path, size), err, f.Close())
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("registers: map %s: %w", path, err), f.Close())
	}
	return &Bus{f, mem}, nil
}

func (b *Bus) at(addr uint32) (*uint32, error) {
	if addr%4 != 0 || uint64(addr)+4 > uint64(len(b.mem)) {
		return nil, fmt.Errorf("address %#x: %w", addr, ErrAddress)
	}
	return (*uint32)(unsafe.Pointer(&b.mem[addr])), nil
}

// Read loads a register.
func (b *Bus) Read(addr uint32) (uint32, error) {
	p, err := b.at(addr)
	if err != nil {
		return 0, err
	}
	return atomic.LoadUint32(p), nil
}

// Write stores a whole register; there is no other way to write it.
func (b *Bus) Write(addr, value uint32, strobes uint8) error {
	p, err := b.at(addr)
	if err != nil {
		return err
	}
	if strobes != 0xF {
		return fmt.Errorf("address %#x, bytes %04b: %w", addr, strobes, ErrAddress)
	}
	atomic.StoreUint32(p, value)
	return nil
}

// Close unmaps the file.
func (b *Bus) Close() error {
	err := errors.Join(syscall.Munmap(b.mem), b.file.Close())
	b.mem = nil
	return err
}
