// SPDX-License-Identifier: Apache-2.0
//
// A rank of a group of the lab: what the group is, and a queue pair that is joined to it.

#ifndef RANK_H
#define RANK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECEIVE (1ull << 63)

enum { RING = 256, NAME = 64, RANKS = 64, PATH = 256 };

// What the lab says of a group.
struct group {
    char dir[PATH];
    char dtype[NAME], op[NAME], collective[NAME];
    int ranks, rank;
    unsigned window, mtu; // packets, bytes
};

// A queue pair, with a buffer for what is sent and one for what is received, of so many bytes each.
struct conn {
    struct ibv_context *device;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char *sends, *receives;
    size_t bytes;
};

void die(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
double now(void);

// read_group reads what the lab says of the group of that name, and finds this host's rank.
void read_group(struct group *g, const char *name);

// open_conn makes a queue pair and tells the lab of it. When all ranks have done so, join_conn joins it to the switch; its first PSN is the
// group's START and so many more, its time-out 4.096 us * 2^timeout. Then receives are posted, and
// start_group waits until all ranks have come so far.
void open_conn(struct conn *c, const struct group *g, size_t bytes);
void join_conn(struct conn *c, const struct group *g, int timeout, unsigned skew);
void start_group(const struct group *g);
void close_conn(struct conn *c);

// post_receive and post_send take a place in a buffer; 0 bytes are none. An immediate, in the order of the network, makes a send a control.
// The number of a receive has the highest bit set when it is complete.
void post_receive(struct conn *c, uint64_t id, size_t at, size_t bytes);
void post_send(struct conn *c, uint64_t id, size_t at, size_t bytes, const uint32_t *immediate);

// await sleeps until something is complete, and takes it. What failed ends the program.
struct ibv_wc await(struct conn *c);

#endif
