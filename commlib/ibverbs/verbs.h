/* SPDX-License-Identifier: Apache-2.0
 *
 * What package ibverbs calls. Functions return 0 or an errno; what, if there is one, names the call of libibverbs that failed. */
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

enum { INC_MOST = 64 }; /* completions that inc_poll takes in one call */

struct inc_device {
    struct ibv_context *context;
    struct ibv_pd *pd;
};

struct inc_qp {
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq; /* of sends and receives */
    struct ibv_qp *qp;
};

/* What connects a queue pair: see Attr of package verbs. */
struct inc_attr {
    uint8_t peer_ip[4];
    uint8_t port, gid, timeout, retries, rnr_retries, rnr_timer;
    uint32_t peer_qpn, send_psn, recv_psn;
    int path_mtu;
};

struct inc_completion {
    uint64_t id;
    uint32_t status, vendor_error, bytes, immediate;
    int has_immediate;
};

int inc_open(struct inc_device *d, const char *name, const char **what);
int inc_close(struct inc_device *d);
int inc_register(struct inc_device *d, void *memory, size_t bytes, struct ibv_mr **out);
int inc_create(struct inc_device *d, struct inc_qp *q, int sends, int receives, const char **what);
int inc_connect(struct inc_qp *q, const struct inc_attr *a, const char **what);
int inc_send(struct inc_qp *q, uint64_t id, void *memory, size_t bytes, uint32_t lkey, int has_immediate, uint32_t immediate);
int inc_receive(struct inc_qp *q, uint64_t id, void *memory, size_t bytes, uint32_t lkey);

/* inc_poll takes up to n completions, at most INC_MOST, and returns how many, or a negative number. */
int inc_poll(struct inc_qp *q, struct inc_completion *into, int n);

/* inc_event takes an event of the completion queue, and has the next completion make one. EAGAIN: there is none. */
int inc_event(struct inc_qp *q);

int inc_destroy(struct inc_qp *q, const char **what);
