/* SPDX-License-Identifier: Apache-2.0
 *
 * What a Verilated shared library offers to the Go process that loads it. One
 * symbol is exported: incsim_api. Included by the shim (C++) and by package sim (cgo).
 */
#ifndef INCSIM_ABI_H
#define INCSIM_ABI_H

#include <stdint.h>

#define INCSIM_ABI 4

/* Direction of a port, seen from the model. */
enum { INCSIM_IN = 0, INCSIM_OUT = 1, INCSIM_INOUT = 2 };

/* Bits of an instance's status. */
enum {
    INCSIM_FINISHED = 1, /* $finish was executed */
    INCSIM_FAILED = 2,   /* $stop, $error, a failed assertion or a fatal error of the runtime */
    INCSIM_PRINTED = 4   /* there is text to fetch with output() */
};

typedef struct {
    const char* name;
    uint32_t width; /* bits */
    uint32_t dir;
    uint32_t size; /* bytes of memory */
} incsim_port;

typedef struct {
    uint32_t seed;       /* of the random initial state; not 0 */
    int32_t random;      /* 0: everything starts at zero */
    int32_t clock;       /* index of the clock in the port table, -1: none */
    uint64_t period_ps;  /* of the clock */
    int32_t skip_still;  /* 1: cycle() may leave out cycles that change nothing */
    uint32_t num_args;   /* of args */
    const char* const* args; /* what $test$plusargs and $value$plusargs see, each with its plus sign; copied */
} incsim_options;

typedef struct {
    uint32_t abi;
    uint32_t traced; /* 1: built with waves */
    uint32_t covered; /* 1: counts what it came through */
    uint32_t num_ports;
    const incsim_port* ports;

    /* Makes an instance, or returns NULL and leaves the reason in `why` (of size `len`). */
    void* (*create)(const incsim_options* options, char* why, uint32_t len);
    void (*destroy)(void* m);
    /* Memory of a port. Inputs are the model's own; outputs show the value just before the last rising edge. */
    void* (*port)(void* m, uint32_t index);

    /* Each returns the status. */
    uint32_t (*cycle)(void* m);                  /* fall and rise in one call */
    uint32_t (*cycles)(void* m, uint64_t n);     /* n of them, or until the status changes */
    uint32_t (*fall)(void* m);                   /* clock to 0, evaluate, sample outputs */
    uint32_t (*settle)(void* m, uint64_t at_ps); /* evaluate at this time without an edge, sample outputs */
    uint32_t (*rise)(void* m);                   /* clock to 1, evaluate */
    uint64_t (*num_cycles)(void* m);             /* rising edges so far */
    uint64_t (*num_skipped)(void* m);            /* of them, those that were not evaluated */

    /* Where and why the status became non-zero; valid until destroy. */
    const char* (*message)(void* m, const char** file, int32_t* line);
    /* Text the model printed since the last call; valid until the next call of anything. */
    const char* (*output)(void* m, uint64_t* len);

    int32_t (*wave_open)(void* m, const char* path); /* 0: no such file, or not traced */
    void (*wave_close)(void* m);

    /* Writes the counts of lines, branches and bits in Verilator's format; 0: no such file, or not covered. */
    int32_t (*cover_write)(void* m, const char* path);

    /* Stimulus for the comparison with a plain C++ loop: all inputs of every cycle. */
    void (*record)(void* m, int32_t on);
    const uint8_t* (*recorded)(void* m, uint64_t* cycles, uint64_t* digest);
    /* Drives `cycles` recorded cycles in a tight loop. Returns its nanoseconds; with digest not NULL also
     * folds the outputs of every cycle into it (and costs more time). */
    uint64_t (*replay)(void* m, const uint8_t* stimulus, uint64_t cycles, uint64_t* digest);
} incsim_table;

#endif
