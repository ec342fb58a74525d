// SPDX-License-Identifier: Apache-2.0
//
// allreduce GROUP SIZE...: a rank of an AllReduce through the switches, over an ordinary queue pair. Every host of the group runs it. Each
// element of each result is compared with the sum that plain arithmetic gives. Exit status: 0 all right, 1 a wrong element or a failure,
// 2 bad usage.

#include "rank.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES = 64, DATA = 64 }; // sizes at most, and where data begins in a buffer: in front of it is the element of the barrier

// The plan: sizes one after the other, each a number of times.
struct plan {
    size_t sizes[SIZES];
    int count, loops, timeout;
    size_t message; // bytes
    bool in_band, floats;
};

// A run's messages: in an in-band group a control, an element by which all ranks begin at once, the data.
struct messages {
    const struct plan *plan;
    size_t size, count;
};

static struct messages messages_of(const struct plan *p, size_t size) {
    return (struct messages){p, size, p->in_band + 1 + (size + p->message - 1) / p->message};
}

// place finds a message in the buffers.
static size_t place(const struct messages *m, size_t i, size_t *bytes) {
    if (i < m->plan->in_band)
        return *bytes = 0;
    if (i == m->plan->in_band)
        return *bytes = 4, 0;
    size_t at = (i - m->plan->in_band - 1) * m->plan->message;
    *bytes = m->size - at < m->plan->message ? m->size - at : m->plan->message;
    return DATA + at;
}

// draw is an element that a rank contributes: any 32 bits, or, for FP32, a multiple of 1/8 below 2^13, so that sums of 64 are exact.
static uint32_t draw(int rank, uint64_t run, uint64_t element) {
    uint64_t x = (element + 1) * 0x9E3779B97F4A7C15u ^ (run + 1) * 0xBF58476D1CE4E5B9u ^ (uint64_t)(rank + 1) * 0x94D049BB133111EBu;
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    return x >> 16;
}

static float as_float(uint32_t drawn) { return ((int32_t)(drawn & 0x1FFFF) - 0x10000) / 8.0f; }

static uint32_t bits(float f) {
    uint32_t x;
    memcpy(&x, &f, 4);
    return x;
}

static uint32_t contribution(const struct plan *p, int rank, uint64_t run, uint64_t element) {
    uint32_t x = draw(rank, run, element);
    return p->floats ? bits(as_float(x)) : x;
}

static uint32_t sum(const struct plan *p, int ranks, uint64_t run, uint64_t element) {
    uint32_t total = 0;
    float f = 0;
    for (int r = 0; r < ranks; r++) {
        uint32_t x = draw(r, run, element);
        total += x;
        f += as_float(x);
    }
    return p->floats ? bits(f) : total;
}

// fill and verify are before and after the time that is taken. The element of the barrier is one more than there are.
static void fill(struct conn *c, const struct group *g, const struct plan *p, size_t size, uint64_t run) {
    uint32_t *to = (uint32_t *)(c->sends + DATA);
    for (size_t i = 0; i < size / 4; i++)
        to[i] = contribution(p, g->rank, run, i);
    *(uint32_t *)c->sends = contribution(p, g->rank, run, size / 4);
    memset(c->receives, 0xEE, DATA + size);
}

static void verify(const struct conn *c, const struct group *g, const struct plan *p, size_t size, uint64_t run) {
    const uint32_t *from = (uint32_t *)(c->receives + DATA);
    for (size_t i = 0; i <= size / 4; i++) {
        uint32_t want = sum(p, g->ranks, run, i), got = i < size / 4 ? from[i] : *(uint32_t *)c->receives;
        if (got != want)
            die(1, "%zu bytes, run %llu: element %zu is %08x, must be %08x", size, (unsigned long long)run, i, got, want);
    }
}

// control is what a rank asks an in-band group for: AllReduce, SUM, type, a root that does not matter, packets.
static uint32_t control(const struct group *g, const struct plan *p, const struct messages *m) {
    unsigned packets = 1 + (m->size + g->mtu - 1) / g->mtu;
    return htonl(0u << 29 | 0u << 27 | (p->floats ? 0u : 3u) << 25 | packets);
}

// run_once is one AllReduce of a size. It returns the seconds from when all ranks had begun.
static double run_once(struct conn *c, const struct group *g, const struct plan *p, size_t size) {
    const struct messages m = messages_of(p, size);
    size_t posted = 0, sent = 0, done = 0, got = 0, bytes, at;
    size_t first = p->in_band + 1, flight = g->window * g->mtu / p->message; // first of the data
    uint32_t immediate = control(g, p, &m);
    double start = now();
    while (done < m.count || got < m.count) {
        for (; posted < m.count && posted < got + RING; posted++) {
            at = place(&m, posted, &bytes);
            post_receive(c, posted, at, bytes);
        }
        size_t limit = got + (got < first ? g->window : flight);
        if (got < first && limit > first)
            limit = first; // nobody sends data before all are there
        for (; sent < m.count && sent < limit && sent < done + RING; sent++) {
            at = place(&m, sent, &bytes);
            post_send(c, sent, at, bytes, sent < p->in_band ? &immediate : NULL);
        }
        struct ibv_wc wc = await(c);
        if (!(wc.wr_id & RECEIVE)) {
            done++;
            continue;
        }
        place(&m, got, &bytes);
        if ((wc.wr_id & ~RECEIVE) != got || wc.byte_len != bytes)
            die(1, "result %llu has %u bytes, expected was %zu with %zu", wc.wr_id & ~RECEIVE, wc.byte_len, got, bytes);
        if (++got == first)
            start = now();
    }
    return now() - start;
}

static void usage(void) { die(2, "usage: allreduce [-n TIMES] [-t TIMEOUT_EXPONENT] [-d INT32|FP32] GROUP BYTES..."); }

static const char *parse(int argc, char **argv, struct plan *p, const char **dtype) {
    int option;
    while ((option = getopt(argc, argv, "n:t:d:")) != -1) {
        if (option == 'n')
            p->loops = atoi(optarg);
        else if (option == 't')
            p->timeout = atoi(optarg);
        else if (option == 'd')
            *dtype = optarg;
        else
            usage();
    }
    if (argc - optind < 2 || argc - optind - 1 > SIZES || p->loops < 1)
        usage();
    for (int i = optind + 1; i < argc; i++) {
        char *end;
        p->sizes[p->count] = strtoul(argv[i], &end, 10);
        if (*end || !p->sizes[p->count] || p->sizes[p->count] % 4)
            die(2, "%s: must be a multiple of 4 bytes", argv[i]);
        p->count++;
    }
    return argv[optind];
}

int main(int argc, char **argv) {
    struct group g = {0};
    struct plan p = {.loops = 1, .timeout = 17};
    struct conn c = {0};
    const char *dtype = NULL, *name = parse(argc, argv, &p, &dtype);
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_group(&g, name);
    p.in_band = !strcmp(g.collective, "in-band");
    if (!dtype || !p.in_band)
        dtype = p.in_band ? "INT32" : g.dtype;
    p.floats = !strcmp(dtype, "FP32");
    if (!p.floats && strcmp(dtype, "INT32"))
        die(2, "the type is %s, this program does INT32 and FP32", dtype);
    if (!p.in_band && (strcmp(g.collective, "allreduce") || strcmp(g.op, "SUM")))
        die(2, "group %s does %s %s, this program allreduce SUM", name, g.collective, g.op);
    // A quarter of the window a message: the others are under way while one is waited for.
    p.message = g.mtu * (g.window >= 4 ? g.window / 4 : 1);
    size_t largest = 0;
    for (int i = 0; i < p.count; i++)
        largest = p.sizes[i] > largest ? p.sizes[i] : largest;

    open_conn(&c, &g, DATA + largest);
    join_conn(&c, &g, p.timeout, 0);
    start_group(&g);
    uint64_t run = 0;
    for (int i = 0; i < p.count; i++)
        for (int n = 0; n < p.loops; n++, run++) {
            fill(&c, &g, &p, p.sizes[i], run);
            double seconds = run_once(&c, &g, &p, p.sizes[i]);
            verify(&c, &g, &p, p.sizes[i], run);
            printf("rank %d of %d: %s %zu bytes: right, %.1f ms, %.2f Mbit/s\n", g.rank, g.ranks, dtype, p.sizes[i], seconds * 1e3,
                p.sizes[i] * 8 / seconds / 1e6);
        }
    close_conn(&c);
    return 0;
}
