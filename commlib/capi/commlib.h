/* SPDX-License-Identifier: Apache-2.0
 *
 * CommLib in C: collectives through the switches of an EPIC cluster. `make commlib` builds libcommlib.so and libcommlib.a.
 *
 *     commlib_device nic;
 *     commlib_group ring;
 *     const char *members[] = {"h0", "h1"};
 *     struct commlib_config c = {.manager = "127.0.0.1:7470", .name = "ring", .members = members, .ranks = 2, .rank = 0, .mbps = 1000};
 *     if (commlib_open("verbs:", &nic) || commlib_init_group(nic, &c, &ring) ||
 *         commlib_all_reduce(ring, in, out, count, COMMLIB_FP32, COMMLIB_SUM) || commlib_destroy_group(ring))
 *         fprintf(stderr, "%s\n", commlib_error());
 *
 * Every function returns one of enum commlib_status. If it is not COMMLIB_OK, commlib_error() of the same thread says what happened: which
 * group, which rank, which call, the far end, and the reason.
 *
 * All members of a group make the same calls in the same order. Functions can be called by any thread at any time; a call that another thread
 * has begun is done first. After fork() the library is of no use to the child, unless that calls exec().
 */
#ifndef COMMLIB_H
#define COMMLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum commlib_status {
    COMMLIB_OK = 0,
    COMMLIB_ENDED = 1,      /* the group has ended: destroyed, or a member, a switch or a link is lost */
    COMMLIB_QUEUE_PAIR = 2, /* the NIC has given the connection up */
    COMMLIB_MISMATCH = 3,   /* the members do not make the same calls */
    COMMLIB_STANDS = 4,     /* nothing has moved for the group's timeout */
    COMMLIB_USAGE = 5,      /* what was asked for cannot be; nothing was done, and the group goes on */
    COMMLIB_FAILED = 6,     /* anything else: no device, no manager, no room in the cluster */
    COMMLIB_TIMEOUT = 7     /* of commlib_wait: the call goes on */
};

/* Element types; numbers are little-endian. */
enum commlib_type { COMMLIB_FP32 = 0, COMMLIB_FP16 = 1, COMMLIB_BF16 = 2, COMMLIB_INT32 = 3 };

enum commlib_op { COMMLIB_SUM = 0, COMMLIB_MIN = 1, COMMLIB_MAX = 2 };

enum commlib_collective {
    COMMLIB_ALL_REDUCE = 0,
    COMMLIB_REDUCE = 1,
    COMMLIB_BROADCAST = 2,
    COMMLIB_BARRIER = 3,
    COMMLIB_REDUCE_SCATTER = 4,
    COMMLIB_ALL_GATHER = 5
};

/* Handles; 0 is none. */
typedef uintptr_t commlib_device;
typedef uintptr_t commlib_group;
typedef uintptr_t commlib_call;

/* How a group is made. What is 0 has its default. Members say the same, but for rank and host. */
struct commlib_config {
    const char *manager;        /* HOST:PORT of the manager */
    const char *ca, *cert, *key; /* certificates, PEM; none at all only if the manager is on this machine */
    const char *name;           /* the group's */
    const char *const *members; /* the hosts' names, by rank */
    int ranks, rank;
    const char *policy;         /* "spatial", the default, "edge-disjoint" or "temporal" */
    int mbps, least_mbps;       /* the rate wanted, and the least that will do */
    int mtu;                    /* payload of a full packet */
    int timeout_ms;             /* how long a call may stand, and the group take to be made; 0 is for ever */
    int wait_ms;                /* how long to ask again while there is no room for the group, or a host's port is not up */
    int turn_wait_ms;           /* how long a group of the policy "temporal" asks for its turn before a collective, a minute at most */
    int path_mtu;               /* Mode I: of this member's own queue pair, and need not be that of others; other modes have none */
    int whole_messages;         /* Mode I: not 0: switches send nothing of a message before they have all of it */
    const char *meet, *host;    /* instead of manager, name and members: the folder of a group of incforge lab, and this host's name */
};

/* What commlib_start begins. send and recv are as for the function of that collective; a Broadcast has send at the root and recv elsewhere. */
struct commlib_request {
    int collective, root, type, op;
    const void *send;
    void *recv;
    size_t send_bytes, recv_bytes;
};

/* commlib_error is what the last function of this thread that failed had to say. The text is valid until the next one fails. */
const char *commlib_error(void);

/* commlib_open opens a NIC: "verbs:NAME", a device of libibverbs, "verbs:" being the first (if the library was built with it), or
 * "unix:MINE,PEER,IP,MAC", a model of one whose frames go over a socket of incforge live. */
int commlib_open(const char *nic, commlib_device *out);

/* commlib_close closes a NIC, whose groups were destroyed. */
int commlib_close(commlib_device nic);

/* commlib_init_group makes a group together with the other members, each of which calls it. It returns when the group is ready. */
int commlib_init_group(commlib_device nic, const struct commlib_config *config, commlib_group *out);

/* commlib_destroy_group ends a group for all its members, each of which calls it, when all have. The handle is gone, whatever is returned. */
int commlib_destroy_group(commlib_group group);

/* commlib_abort_group ends a group for all its members at once; calls that are under way anywhere fail with the reason. The handle is gone. */
int commlib_abort_group(commlib_group group, const char *reason);

/* commlib_describe says this member's rank and how many there are. */
int commlib_describe(commlib_group group, int *rank, int *ranks);

/* The collectives; count is in elements, bytes in bytes. They return when the call is done. An input and an output may be the same memory;
 * NULL is memory of 0 bytes. */

/* All members' send reduced into everybody's recv. */
int commlib_all_reduce(commlib_group group, const void *send, void *recv, size_t count, int type, int op);

/* All members' send reduced into the root's recv; of the others recv is not looked at. */
int commlib_reduce(commlib_group group, const void *send, void *recv, size_t count, int type, int op, int root);

/* The root's data to everybody: it is read at the root, and written elsewhere. */
int commlib_broadcast(commlib_group group, void *data, size_t bytes, int root);

/* Waits until all members have come to it. */
int commlib_barrier(commlib_group group);

/* All members' send of count elements reduced; each gets the elements in recv that commlib_part names. */
int commlib_reduce_scatter(commlib_group group, const void *send, void *recv, size_t count, int type, int op);

/* All members' send of so many bytes, one behind the other by rank, into everybody's recv. */
int commlib_all_gather(commlib_group group, const void *send, void *recv, size_t bytes);

/* commlib_part is the part of a tensor that a rank gets in a ReduceScatter: elements from first to before beyond. */
void commlib_part(size_t count, int ranks, int rank, size_t *first, size_t *beyond);

/* commlib_start begins a call and returns a handle for it; calls are done one after the other. The memory belongs to the library until
 * commlib_wait has said how it was. */
int commlib_start(commlib_group group, const struct commlib_request *request, commlib_call *out);

/* commlib_wait waits for the end of a call, so many milliseconds at most, or, if that is negative, for ever. COMMLIB_TIMEOUT: it goes on.
 * After anything else the handle is gone. */
int commlib_wait(commlib_call call, int milliseconds);

#ifdef __cplusplus
}
#endif
#endif
