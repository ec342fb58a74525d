/* SPDX-License-Identifier: Apache-2.0 */

//go:build verbs

#include "verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MOST_ARP = 5 }; /* attempts to find the far end's MAC address */

/* failed is the errno of a call that returned no object. */
static int failed(const char **what, const char *call) {
    *what = call;
    return errno ? errno : EIO;
}

int inc_open(struct inc_device *d, const char *name, const char **what) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    if (!list)
        return failed(what, "ibv_get_device_list");
    struct ibv_device **at = list;
    while (*at && strcmp(ibv_get_device_name(*at), name))
        at++;
    errno = ENODEV; /* of the kernel's devices those that no provider takes are not in the list */
    d->context = *at ? ibv_open_device(*at) : NULL;
    int err = d->context ? 0 : failed(what, "ibv_open_device");
    ibv_free_device_list(list);
    if (err)
        return err;
    d->pd = ibv_alloc_pd(d->context);
    if (d->pd)
        return 0;
    err = failed(what, "ibv_alloc_pd");
    ibv_close_device(d->context);
    return err;
}

int inc_close(struct inc_device *d) {
    int err = ibv_dealloc_pd(d->pd);
    if (err) /* something still uses it */
        return err;
    return ibv_close_device(d->context) ? EIO : 0;
}

int inc_register(struct inc_device *d, void *memory, size_t bytes, struct ibv_mr **out) {
    const char *what;
    *out = ibv_reg_mr(d->pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    return *out ? 0 : failed(&what, "ibv_reg_mr");
}

/* undo takes away what there is of a queue pair. */
static int undo(struct inc_qp *q, const char **what) {
    int err = 0;
    if (q->qp && (err = ibv_destroy_qp(q->qp)))
        *what = "ibv_destroy_qp";
    if (!err && q->cq && (err = ibv_destroy_cq(q->cq)))
        *what = "ibv_destroy_cq";
    if (!err && q->channel && (err = ibv_destroy_comp_channel(q->channel)))
        *what = "ibv_destroy_comp_channel";
    return err;
}

int inc_create(struct inc_device *d, struct inc_qp *q, int sends, int receives, const char **what) {
    const char *later;
    int err = 0;
    memset(q, 0, sizeof *q);
    if (!(q->channel = ibv_create_comp_channel(d->context)))
        return failed(what, "ibv_create_comp_channel");
    if (fcntl(q->channel->fd, F_SETFL, O_NONBLOCK))
        err = failed(what, "fcntl of the completion channel");
    if (!err && !(q->cq = ibv_create_cq(d->context, sends + receives, NULL, q->channel, 0)))
        err = failed(what, "ibv_create_cq");
    if (!err && (err = ibv_req_notify_cq(q->cq, 0)))
        *what = "ibv_req_notify_cq";
    struct ibv_qp_init_attr init = {.send_cq = q->cq, .recv_cq = q->cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
        .cap = {.max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!err && !(q->qp = ibv_create_qp(d->pd, &init)))
        err = failed(what, "ibv_create_qp");
    if (err)
        undo(q, &later);
    return err;
}

static enum ibv_mtu mtu_code(int bytes) {
    switch (bytes) {
    case 256: return IBV_MTU_256;
    case 512: return IBV_MTU_512;
    case 1024: return IBV_MTU_1024;
    case 2048: return IBV_MTU_2048;
    case 4096: return IBV_MTU_4096;
    }
    return 0;
}

int inc_connect(struct inc_qp *q, const struct inc_attr *a, const char **what) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = a->port};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR, .path_mtu = mtu_code(a->path_mtu), .dest_qp_num = a->peer_qpn, .rq_psn = a->recv_psn,
        .max_dest_rd_atomic = 1, .min_rnr_timer = a->rnr_timer,
        .ah_attr = {.is_global = 1, .port_num = a->port, .grh = {.sgid_index = a->gid, .hop_limit = 64}}};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = a->send_psn, .timeout = a->timeout, .retry_cnt = a->retries,
        .rnr_retry = a->rnr_retries, .max_rd_atomic = 1};
    int err;
    rtr.ah_attr.grh.dgid.raw[10] = rtr.ah_attr.grh.dgid.raw[11] = 0xFF;
    memcpy(rtr.ah_attr.grh.dgid.raw + 12, a->peer_ip, 4);
    *what = "ibv_modify_qp to INIT";
    if ((err = ibv_modify_qp(q->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)))
        return err;
    *what = "ibv_modify_qp to RTR";
    /* The kernel asks by ARP whose the address is, and gives up after a second, in which one lost frame is as good as nobody. */
    for (int attempt = 1;; attempt++) {
        err = ibv_modify_qp(q->qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
        if (!err)
            break;
        if ((err != ETIMEDOUT && err != EHOSTUNREACH) || attempt == MOST_ARP)
            return err;
    }
    *what = "ibv_modify_qp to RTS";
    return ibv_modify_qp(q->qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int inc_send(struct inc_qp *q, uint64_t id, void *memory, size_t bytes, uint32_t lkey, int has_immediate, uint32_t immediate) {
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = bytes, .lkey = lkey};
    struct ibv_send_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = bytes > 0, .opcode = has_immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND};
    struct ibv_send_wr *bad;
    wr.imm_data = htonl(immediate);
    return ibv_post_send(q->qp, &wr, &bad);
}

int inc_receive(struct inc_qp *q, uint64_t id, void *memory, size_t bytes, uint32_t lkey) {
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = bytes, .lkey = lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = bytes > 0};
    struct ibv_recv_wr *bad;
    return ibv_post_recv(q->qp, &wr, &bad);
}

int inc_poll(struct inc_qp *q, struct inc_completion *into, int n) {
    struct ibv_wc wc[INC_MOST];
    int got = ibv_poll_cq(q->cq, n < INC_MOST ? n : INC_MOST, wc);
    for (int i = 0; i < got; i++) {
        struct inc_completion *c = &into[i];
        *c = (struct inc_completion){.id = wc[i].wr_id, .status = wc[i].status, .vendor_error = wc[i].vendor_err};
        if (wc[i].status != IBV_WC_SUCCESS) /* then libibverbs says nothing else */
            continue;
        c->bytes = wc[i].byte_len;
        c->has_immediate = !!(wc[i].wc_flags & IBV_WC_WITH_IMM);
        c->immediate = c->has_immediate ? ntohl(wc[i].imm_data) : 0;
    }
    return got;
}

int inc_event(struct inc_qp *q) {
    struct ibv_cq *cq;
    void *context;
    if (ibv_get_cq_event(q->channel, &cq, &context))
        return errno ? errno : EIO;
    ibv_ack_cq_events(cq, 1);
    return ibv_req_notify_cq(cq, 0);
}

int inc_destroy(struct inc_qp *q, const char **what) { return undo(q, what); }
