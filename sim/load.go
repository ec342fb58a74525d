// SPDX-License-Identifier: Apache-2.0

package sim

/*
#cgo CFLAGS: -I${SRCDIR}/verilate/shim -O2
#cgo LDFLAGS: -ldl
#cgo noescape incsim_cycle
#cgo nocallback incsim_cycle
#cgo noescape incsim_cycles
#cgo nocallback incsim_cycles

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "abi.h"

static void* incsim_open(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static const incsim_table* incsim_find(void* lib) { return (const incsim_table*)dlsym(lib, "incsim_api"); }

// One at a time: the run-time library begins its random numbers anew whenever a seed is set, in all threads that use the same file.
static pthread_mutex_t incsim_making = PTHREAD_MUTEX_INITIALIZER;
static void* incsim_create(const incsim_table* t, uint32_t seed, int32_t random, int32_t clock, uint64_t period_ps,
                           int32_t skip_still, uint32_t num_args, char** args, char* why, uint32_t len) {
	incsim_options o = {seed, random, clock, period_ps, skip_still, num_args, (const char* const*)args};
	pthread_mutex_lock(&incsim_making);
	void* m = t->create(&o, why, len);
	pthread_mutex_unlock(&incsim_making);
	return m;
}
static void incsim_destroy(const incsim_table* t, void* m) { t->destroy(m); }
static void* incsim_port_memory(const incsim_table* t, void* m, uint32_t index) { return t->port(m, index); }

// The hot ones take the function itself, which Go keeps beside the instance.
// Numbers instead of pointers spare cgo its search for Go memory behind them.
typedef uint32_t (*incsim_step)(void*);
static uint32_t incsim_cycle(uintptr_t step, uintptr_t m) { return ((incsim_step)step)((void*)m); }
static uint32_t incsim_cycles(const incsim_table* t, void* m, uint64_t n) { return t->cycles(m, n); }
static uint32_t incsim_fall(const incsim_table* t, void* m) { return t->fall(m); }
static uint32_t incsim_settle(const incsim_table* t, void* m, uint64_t at) { return t->settle(m, at); }
static uint32_t incsim_rise(const incsim_table* t, void* m) { return t->rise(m); }
static uint64_t incsim_num_cycles(const incsim_table* t, void* m) { return t->num_cycles(m); }
static uint64_t incsim_num_skipped(const incsim_table* t, void* m) { return t->num_skipped(m); }
static const char* incsim_message(const incsim_table* t, void* m, const char** file, int32_t* line) {
	return t->message(m, file, line);
}
static const char* incsim_output(const incsim_table* t, void* m, uint64_t* len) { return t->output(m, len); }
static int32_t incsim_wave_open(const incsim_table* t, void* m, const char* path) { return t->wave_open(m, path); }
static void incsim_wave_close(const incsim_table* t, void* m) { t->wave_close(m); }
static int32_t incsim_cover_write(const incsim_table* t, void* m, const char* path) { return t->cover_write(m, path); }
static void incsim_record(const incsim_table* t, void* m, int32_t on) { t->record(m, on); }
static const uint8_t* incsim_recorded(const incsim_table* t, void* m, uint64_t* cycles, uint64_t* digest) {
	return t->recorded(m, cycles, digest);
}
static uint64_t incsim_replay(const incsim_table* t, void* m, const uint8_t* stimulus, uint64_t cycles,
                              uint64_t* digest) {
	return t->replay(m, stimulus, cycles, digest);
}
static int64_t incsim_cpu_time(void) {
	struct timespec t;
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static uintptr_t incsim_cycle_function(const incsim_table* t) { return (uintptr_t)t->cycle; }
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"
)

// library is a loaded shared library. It stays loaded: the C++ run-time keeps
// per-thread data that must outlive it.
type library struct {
	table *C.incsim_table
	cycle C.uintptr_t // address of the table's function
	ports []portInfo
}

type portInfo struct {
	PortSpec
	size  int // bytes of memory
	inout bool
}

func openLibrary(path string) (*library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	handle := C.incsim_open(name)
	if handle == nil {
		return nil, fmt.Errorf("loading the model: %s", C.GoString(C.dlerror()))
	}
	table := C.incsim_find(handle)
	if table == nil {
		return nil, fmt.Errorf("loading the model: %s has no incsim_api", path)
	}
	if table.abi != C.INCSIM_ABI {
		return nil, fmt.Errorf("loading the model: %s speaks version %d of the interface, want %d", path, table.abi, C.INCSIM_ABI)
	}
	l := &library{table: table, cycle: C.incsim_cycle_function(table)}
	for _, p := range unsafe.Slice(table.ports, table.num_ports) {
		info := portInfo{PortSpec: PortSpec{Name: C.GoString(p.name), Width: int(p.width)}, size: int(p.size)}
		switch p.dir {
		case C.INCSIM_OUT:
			info.Dir = Out
		case C.INCSIM_INOUT:
			info.inout = true
		}
		l.ports = append(l.ports, info)
	}
	return l, nil
}

func (l *library) traced() bool { return l.table.traced != 0 }

func (l *library) covered() bool { return l.table.covered != 0 }

// instance is one model; every method belongs to one goroutine at a time.
type instance struct {
	lib *library
	m   unsafe.Pointer
	fn  C.uintptr_t // the library's cycle function
	at  C.uintptr_t // m as a number
}

func (l *library) create(seed uint32, random bool, clock int, periodPS uint64, skipStill bool, plusArgs []string) (instance, error) {
	var why [512]C.char
	args := make([]*C.char, len(plusArgs)+1) // one more, so that there is a first to point to
	for i, a := range plusArgs {
		args[i] = C.CString("+" + a)
		defer C.free(unsafe.Pointer(args[i]))
	}
	flag := func(b bool) C.int32_t {
		if b {
			return 1
		}
		return 0
	}
	m := C.incsim_create(l.table, C.uint32_t(seed), flag(random), C.int32_t(clock), C.uint64_t(periodPS), flag(skipStill),
		C.uint32_t(len(plusArgs)), &args[0], &why[0], C.uint32_t(len(why)))
	if m == nil {
		return instance{}, fmt.Errorf("starting the model: %s", C.GoString(&why[0]))
	}
	return instance{lib: l, m: m, fn: l.cycle, at: C.uintptr_t(uintptr(m))}, nil
}

func (i instance) destroy() { C.incsim_destroy(i.lib.table, i.m) }

func (i instance) port(index int) unsafe.Pointer {
	return C.incsim_port_memory(i.lib.table, i.m, C.uint32_t(index))
}

func (i *instance) cycle() uint32 { return uint32(C.incsim_cycle(i.fn, i.at)) }
func (i instance) cycles(n uint64) uint32 {
	return uint32(C.incsim_cycles(i.lib.table, i.m, C.uint64_t(n)))
}
func (i instance) fall() uint32      { return uint32(C.incsim_fall(i.lib.table, i.m)) }
func (i instance) rise() uint32      { return uint32(C.incsim_rise(i.lib.table, i.m)) }
func (i instance) numCycles() uint64 { return uint64(C.incsim_num_cycles(i.lib.table, i.m)) }

func (i instance) numSkipped() uint64 { return uint64(C.incsim_num_skipped(i.lib.table, i.m)) }

func (i instance) settle(atPS uint64) uint32 {
	return uint32(C.incsim_settle(i.lib.table, i.m, C.uint64_t(atPS)))
}

func (i instance) message() (text, file string, line int) {
	var f *C.char
	var l C.int32_t
	t := C.incsim_message(i.lib.table, i.m, &f, &l)
	return C.GoString(t), C.GoString(f), int(l)
}

// output returns what the model printed since the last call.
func (i instance) output() []byte {
	var n C.uint64_t
	p := C.incsim_output(i.lib.table, i.m, &n)
	if n == 0 {
		return nil
	}
	return C.GoBytes(unsafe.Pointer(p), C.int(n))
}

func (i instance) waveOpen(path string) bool {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return C.incsim_wave_open(i.lib.table, i.m, name) != 0
}

func (i instance) waveClose() { C.incsim_wave_close(i.lib.table, i.m) }

func (i instance) coverWrite(path string) bool {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return C.incsim_cover_write(i.lib.table, i.m, name) != 0
}

func (i instance) record(on bool) {
	var v C.int32_t
	if on {
		v = 1
	}
	C.incsim_record(i.lib.table, i.m, v)
}

// recorded returns the recorded stimulus, which is the instance's memory: it is gone
// with the next record or destroy.
func (i instance) recorded() (stimulus unsafe.Pointer, cycles, digest uint64) {
	var n, d C.uint64_t
	p := C.incsim_recorded(i.lib.table, i.m, &n, &d)
	return unsafe.Pointer(p), uint64(n), uint64(d)
}

func (i instance) replay(stimulus unsafe.Pointer, cycles uint64, digest *uint64) (ns uint64) {
	return uint64(C.incsim_replay(i.lib.table, i.m, (*C.uint8_t)(stimulus), C.uint64_t(cycles), (*C.uint64_t)(unsafe.Pointer(digest))))
}

// CPUTime returns the processor time that the process has used, over all its threads.
// Differences of it compare two pieces of code on a machine that has other work, where
// the wall clock also counts the waiting.
func CPUTime() time.Duration { return time.Duration(C.incsim_cpu_time()) }

// flag bits of a status.
const (
	statusFinished = uint32(C.INCSIM_FINISHED)
	statusFailed   = uint32(C.INCSIM_FAILED)
	statusPrinted  = uint32(C.INCSIM_PRINTED)
)
