/* SPDX-License-Identifier: Apache-2.0
 *
 * Every function of commlib.h, from C: NIC MANAGER RANK MEMBER..., of at most sixteen members; or NIC HOST FOLDER, on hosts of a lab, where FOLDER is that of
 * an in-band group. EVERY_MOST bounds the elements of a call; EVERY_CALLS has the calls that are made instead, as "allreduce fp16 65536,barrier", with the
 * bytes of a tensor. Exit status 0: everything was as it must be. */
#include "commlib.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int counts[] = {0, 1, 7, 1000, 20000};
static int rank, ranks;

#define NEED(what) ((what) ? (void)0 : failed(#what, __LINE__))
static void failed(const char *what, int line) {
    fprintf(stderr, "rank %d, every.c:%d: %s: %s\n", rank, line, what, commlib_error());
    exit(1);
}

/* put writes a number of a few bits as an element. */
static void put(void *to, int i, int type, float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    switch (type) {
    case COMMLIB_FP32: ((uint32_t *)to)[i] = bits; break;
    case COMMLIB_INT32: ((int32_t *)to)[i] = (int32_t)v; break;
    case COMMLIB_BF16: ((uint16_t *)to)[i] = bits >> 16; break;
    default: { /* FP16, of numbers that are normal there, and 0 */
        uint32_t sign = bits >> 16 & 0x8000, exponent = (bits >> 23 & 0xFF) - 112, fraction = bits >> 13 & 0x3FF;
        ((uint16_t *)to)[i] = v == 0 ? 0 : sign | exponent << 10 | fraction;
    }
    }
}

static int size_of(int type) { return type == COMMLIB_FP16 || type == COMMLIB_BF16 ? 2 : 4; }

/* given is what a rank gives, result what comes of all. */
static float given(int of, int i) { return (i * 5 + of * 3) % 13 - 6; }
static float result(int op, int i) {
    float v = given(0, i);
    for (int r = 1; r < ranks; r++) {
        float x = given(r, i);
        v = op == COMMLIB_SUM ? v + x : op == COMMLIB_MIN ? fminf(v, x) : fmaxf(v, x);
    }
    return v;
}

static void *room(size_t bytes) {
    char *p = malloc(bytes + 8);
    NEED(p);
    memset(p, 0xA5, bytes + 8);
    return p;
}

/* same also looks behind the end. */
static int same(const void *got, const void *want, size_t bytes) {
    return !memcmp(got, want, bytes) && !memcmp((const char *)got + bytes, "\xA5\xA5\xA5\xA5", 4);
}

/* reduction is one of a type and an operation at one size. An AllReduce is made in place, too. */
static void reduction(commlib_group g, int collective, int type, int op, int count) {
    size_t size = size_of(type), bytes = count * size, first = 0, beyond = count;
    if (collective == COMMLIB_REDUCE_SCATTER) {
        commlib_part(count, ranks, rank, &first, &beyond);
        NEED(first <= beyond && beyond <= (size_t)count && (rank > 0 || first == 0) && (rank < ranks - 1 || beyond == (size_t)count));
    }
    char *in = room(bytes), *want = room(bytes), *out = room((beyond - first) * size);
    for (int i = 0; i < count; i++) {
        put(in, i, type, given(rank, i));
        put(want, i, type, result(op, i));
    }
    switch (collective) {
    case COMMLIB_REDUCE:
        NEED(commlib_reduce(g, in, rank == 1 ? out : NULL, count, type, op, 1) == COMMLIB_OK);
        NEED(rank != 1 || same(out, want, bytes));
        break;
    case COMMLIB_REDUCE_SCATTER:
        NEED(commlib_reduce_scatter(g, in, out, count, type, op) == COMMLIB_OK);
        NEED(same(out, want + first * size, (beyond - first) * size));
        break;
    default:
        NEED(commlib_all_reduce(g, in, out, count, type, op) == COMMLIB_OK);
        NEED(same(out, want, bytes));
        NEED(commlib_all_reduce(g, in, in, count, type, op) == COMMLIB_OK);
        NEED(same(in, want, bytes));
    }
    free(in), free(out), free(want);
}

/* move is a collective that reduces nothing, of so many bytes of a rank's. */
static void move(commlib_group g, int collective, size_t bytes) {
    char *data = room(bytes), *all = room(bytes * ranks), *want = room(bytes * ranks);
    for (size_t i = 0; i < bytes * ranks; i++)
        want[i] = i * 7 + i / bytes;
    memcpy(data, want + rank * bytes, bytes);
    switch (collective) {
    case COMMLIB_ALL_GATHER:
        NEED(commlib_all_gather(g, data, all, bytes) == COMMLIB_OK);
        NEED(same(all, want, bytes * ranks));
        break;
    case COMMLIB_BROADCAST:
        NEED(commlib_broadcast(g, data, bytes, ranks - 1) == COMMLIB_OK);
        NEED(same(data, want + (ranks - 1) * bytes, bytes));
        break;
    default:
        NEED(commlib_barrier(g) == COMMLIB_OK);
    }
    free(data), free(all), free(want);
}

/* every makes each call with each type and operation, at each size up to most elements. */
static void every(commlib_group g, int most) {
    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && counts[c] <= most; c++) {
        for (int type = COMMLIB_FP32; type <= COMMLIB_INT32; type++)
            for (int op = COMMLIB_SUM; op <= COMMLIB_MAX; op++) {
                reduction(g, COMMLIB_ALL_REDUCE, type, op, counts[c]);
                reduction(g, COMMLIB_REDUCE, type, op, counts[c]);
                reduction(g, COMMLIB_REDUCE_SCATTER, type, op, counts[c]);
            }
        move(g, COMMLIB_ALL_GATHER, counts[c]);
        move(g, COMMLIB_BROADCAST, counts[c]);
        move(g, COMMLIB_BARRIER, counts[c]);
    }
}

/* find is the place of a name in a list of them that NULL ends; without it the program fails. */
static int find(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name))
            return i;
    fprintf(stderr, "EVERY_CALLS: what is %s?\n", name);
    exit(2);
}

/* some makes the calls of a list. */
static void some(commlib_group g, const char *calls) {
    static const char *const collectives[] = {"allreduce", "reduce", "broadcast", "barrier", "reducescatter", "allgather", NULL};
    static const char *const types[] = {"fp32", "fp16", "bf16", "int32", NULL};
    for (const char *at = calls; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char collective[16] = "", type[8] = "";
        size_t bytes = 0;
        int what = (sscanf(at, "%15[a-z] %7[a-z0-9] %zu", collective, type, &bytes), find(collectives, collective));
        switch (what) {
        case COMMLIB_BARRIER: move(g, what, 0); break;
        case COMMLIB_BROADCAST: move(g, what, bytes); break;
        case COMMLIB_ALL_GATHER: move(g, what, bytes / ranks); break;
        default: reduction(g, what, find(types, type), COMMLIB_SUM, bytes / size_of(find(types, type)));
        }
        printf("rank %d: %s %s %zu: right\n", rank, collective, type, bytes);
        fflush(stdout);
    }
}

/* handles are calls that wait for each other. */
static void handles(commlib_group g) {
    enum { CALLS = 5, COUNT = 3000 };
    static int32_t in[CALLS][COUNT], out[CALLS][COUNT];
    commlib_call calls[CALLS];
    for (int c = 0; c < CALLS; c++) {
        for (int i = 0; i < COUNT; i++)
            in[c][i] = (c + 1) * (rank + 1) * (i + 1);
        struct commlib_request q = {.collective = COMMLIB_ALL_REDUCE, .type = COMMLIB_INT32, .op = COMMLIB_SUM, .send = in[c], .recv = out[c],
            .send_bytes = sizeof in[c], .recv_bytes = sizeof out[c]};
        NEED(commlib_start(g, &q, &calls[c]) == COMMLIB_OK);
    }
    for (int c = 0; c < CALLS; c++) {
        int status;
        while ((status = commlib_wait(calls[c], 1)) == COMMLIB_TIMEOUT)
            ;
        NEED(status == COMMLIB_OK);
        NEED(commlib_wait(calls[c], 0) == COMMLIB_USAGE); /* the handle is gone */
        for (int i = 0; i < COUNT; i++)
            NEED(out[c][i] == (c + 1) * (i + 1) * ranks * (ranks + 1) / 2);
    }
}

/* refusals leave the group as it was. */
static void refusals(commlib_device nic, commlib_group g) {
    float x = 0;
    commlib_device no_nic;
    commlib_group no_group;
    commlib_call call;
    struct commlib_request q = {.collective = 77}, none = {.collective = COMMLIB_ALL_REDUCE, .send_bytes = 4000, .recv_bytes = 4000};
    struct commlib_config nobody = {.manager = "127.0.0.1:1", .timeout_ms = 200}, far = {.manager = "192.0.2.1:1"};
    struct commlib_config patient = {.manager = "127.0.0.1:1", .ranks = 1, .members = (const char *const[]){"h0"}, .turn_wait_ms = 60001};
    NEED(commlib_all_reduce(g, &x, &x, 1, 9, COMMLIB_SUM) == COMMLIB_USAGE);
    NEED(commlib_all_reduce(g, &x, &x, (size_t)-1, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE);
    NEED(commlib_all_reduce(g, NULL, &x, 1, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE);
    NEED(strstr(commlib_error(), "send is NULL, of 4 bytes"));
    NEED(commlib_all_reduce(g, NULL, NULL, 1000, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE);
    NEED(commlib_all_reduce(g, &x, NULL, 1, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE && strstr(commlib_error(), "recv is NULL"));
    NEED(commlib_all_reduce(g, &x, &x, ((size_t)1 << 38) + 1, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE && strstr(commlib_error(), "are more than"));
    NEED(commlib_reduce(g, NULL, NULL, 1000, COMMLIB_FP32, COMMLIB_SUM, 0) == COMMLIB_USAGE);
    NEED(commlib_reduce_scatter(g, NULL, NULL, 1000, COMMLIB_FP32, COMMLIB_SUM) == COMMLIB_USAGE);
    NEED(commlib_all_gather(g, &x, &x, (size_t)1 << 40) == COMMLIB_USAGE && strstr(commlib_error(), "are more than"));
    NEED(commlib_all_gather(g, NULL, NULL, 1000) == COMMLIB_USAGE);
    NEED(commlib_broadcast(g, NULL, 1000, 0) == COMMLIB_USAGE && strstr(commlib_error(), "data is NULL"));
    NEED(commlib_start(g, &none, &call) == COMMLIB_USAGE && strstr(commlib_error(), "send is NULL"));
    NEED(commlib_reduce(g, &x, &x, 1, COMMLIB_FP32, COMMLIB_SUM, ranks) == COMMLIB_USAGE);
    NEED(commlib_broadcast(g, &x, (size_t)-1, 0) == COMMLIB_USAGE);
    NEED(commlib_start(g, &q, &call) == COMMLIB_USAGE);
    NEED(commlib_barrier(0) == COMMLIB_USAGE && commlib_barrier(12345) == COMMLIB_USAGE && commlib_barrier(nic) == COMMLIB_USAGE);
    NEED(strstr(commlib_error(), "is no group"));
    NEED(commlib_open("eth0", &no_nic) == COMMLIB_FAILED && strstr(commlib_error(), "eth0"));
    NEED(commlib_init_group(nic, &nobody, &no_group) == COMMLIB_FAILED);
    NEED(commlib_init_group(nic, &patient, &no_group) == COMMLIB_FAILED && strstr(commlib_error(), "1m0.001s to ask for a turn"));
    NEED(commlib_init_group(nic, &far, &no_group) == COMMLIB_USAGE && strstr(commlib_error(), "without certificates only loopback"));
}

int main(int argc, char **argv) {
    commlib_device nic;
    commlib_group g;
    int own = -1, all = -1;
    NEED(argc > 3);
    int lab = argc == 4;
    struct commlib_config config = {.timeout_ms = 30000, .wait_ms = 20000, .mbps = 100};
    if (lab) {
        config.host = argv[2], config.meet = argv[3], config.timeout_ms = 120000;
    } else {
        rank = atoi(argv[3]), ranks = argc - 4;
        config.manager = argv[2], config.name = "every", config.members = (const char *const *)(argv + 4), config.ranks = ranks, config.rank = rank;
    }
    NEED(commlib_open(argv[1], &nic) == COMMLIB_OK);
    NEED(commlib_init_group(nic, &config, &g) == COMMLIB_OK);
    NEED(commlib_describe(g, &own, &all) == COMMLIB_OK && (lab || (own == rank && all == ranks)));
    rank = own, ranks = all;
    const char *most = getenv("EVERY_MOST"), *calls = getenv("EVERY_CALLS");
    if (calls)
        some(g, calls);
    else {
        every(g, most ? atoi(most) : 1 << 30);
        handles(g);
        refusals(nic, g);
    }
    NEED(commlib_destroy_group(g) == COMMLIB_OK);
    NEED(commlib_barrier(g) == COMMLIB_USAGE);

    if (lab) { /* without a manager nobody tells the others of an end */
        NEED(commlib_close(nic) == COMMLIB_OK);
        printf("rank %d: %s is right\n", rank, calls ? "every call" : "every function");
        return 0;
    }
    /* One that goes away: the others hear which and why, and a new group can be made. */
    config.name = "short";
    NEED(commlib_init_group(nic, &config, &g) == COMMLIB_OK);
    if (rank == 0)
        NEED(commlib_abort_group(g, "rank 0 has had enough") == COMMLIB_OK);
    else {
        NEED(commlib_barrier(g) == COMMLIB_ENDED);
        NEED(strstr(commlib_error(), "rank 0 has had enough") && strstr(commlib_error(), "short"));
        NEED(commlib_barrier(g) == COMMLIB_ENDED);
        NEED(commlib_abort_group(g, NULL) == COMMLIB_OK);
    }
    config.name = "again";
    NEED(commlib_init_group(nic, &config, &g) == COMMLIB_OK);
    NEED(commlib_destroy_group(g) == COMMLIB_OK);
    NEED(commlib_close(nic) == COMMLIB_OK && commlib_close(nic) == COMMLIB_USAGE);
    printf("rank %d: every function is right\n", rank);
    return 0;
}
