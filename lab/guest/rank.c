// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "rank.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void die(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

static void *need(void *p, const char *what) {
    if (!p)
        die(1, "%s: %s", what, strerror(errno));
    return p;
}

static void check(int err, const char *what) {
    if (err)
        die(1, "%s: %s", what, strerror(err > 0 ? err : errno));
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// write_file puts a text at a path at once: nobody sees half of it.
static void write_file(const char *dir, int rank, const char *what, const char *text) {
    char tmp[2 * PATH], path[2 * PATH];
    snprintf(tmp, sizeof tmp, "%s/.%d.%s", dir, rank, what);
    snprintf(path, sizeof path, "%s/%d.%s", dir, rank, what);
    FILE *f = need(fopen(tmp, "w"), tmp);
    fputs(text, f);
    check(fclose(f), tmp);
    check(rename(tmp, path), path);
}

// await_file waits until the lab has written an answer for this rank, takes it away and dies if it is a refusal.
static void await_file(const char *dir, int rank, const char *what, char *text, size_t size) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%d.%s", dir, rank, what);
    for (;;) {
        FILE *f = fopen(path, "r");
        if (f) {
            size_t n = fread(text, 1, size - 1, f);
            fclose(f);
            text[n] = 0;
            unlink(path);
            if (!strncmp(text, "error ", 6))
                die(1, "%s", text + 6);
            return;
        }
        usleep(3000);
    }
}

void read_group(struct group *g, const char *name) {
    char path[2 * PATH], line[4096], host[NAME] = "";
    snprintf(g->dir, sizeof g->dir, "/share/groups/%s", name);
    snprintf(path, sizeof path, "%s/group", g->dir);
    FILE *f = need(fopen(path, "r"), path);
    gethostname(host, sizeof host - 1);
    g->rank = -1;
    while (fgets(line, sizeof line, f)) {
        char *save, *key = strtok_r(line, " \n", &save), *word;
        if (!key)
            continue;
        while ((word = strtok_r(NULL, " \n", &save))) {
            if (!strcmp(key, "hosts")) {
                if (g->ranks == RANKS)
                    die(2, "group %s has more than %d hosts", name, RANKS);
                if (!strcmp(word, host))
                    g->rank = g->ranks;
                g->ranks++;
            } else if (!strcmp(key, "dtype"))
                snprintf(g->dtype, NAME, "%s", word);
            else if (!strcmp(key, "op"))
                snprintf(g->op, NAME, "%s", word);
            else if (!strcmp(key, "collective"))
                snprintf(g->collective, NAME, "%s", word);
            else if (!strcmp(key, "window"))
                g->window = strtoul(word, NULL, 10);
            else if (!strcmp(key, "mtu"))
                g->mtu = strtoul(word, NULL, 10);
        }
    }
    fclose(f);
    if (g->rank < 0)
        die(2, "%s is not in group %s", host, name);
}

static enum ibv_mtu path_mtu(unsigned bytes) {
    return bytes >= 4096 ? IBV_MTU_4096 : bytes >= 2048 ? IBV_MTU_2048 : bytes >= 1024 ? IBV_MTU_1024 : bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

void open_conn(struct conn *c, const struct group *g, size_t bytes) {
    int n;
    char text[NAME];
    struct ibv_device **devices = need(ibv_get_device_list(&n), "devices");
    if (!n)
        die(1, "there is no RDMA device");
    c->device = need(ibv_open_device(devices[0]), "open the device");
    ibv_free_device_list(devices);
    c->pd = need(ibv_alloc_pd(c->device), "protection domain");
    c->channel = need(ibv_create_comp_channel(c->device), "completion channel");
    c->cq = need(ibv_create_cq(c->device, 2 * RING + 8, NULL, c->channel, 0), "completion queue");
    c->bytes = (bytes + 4095) / 4096 * 4096;
    c->sends = need(aligned_alloc(4096, 2 * c->bytes), "memory");
    c->receives = c->sends + c->bytes;
    c->mr = need(ibv_reg_mr(c->pd, c->sends, 2 * c->bytes, IBV_ACCESS_LOCAL_WRITE), "memory region");
    struct ibv_qp_init_attr init = {.send_cq = c->cq, .recv_cq = c->cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = RING, .max_recv_wr = RING, .max_send_sge = 1, .max_recv_sge = 1}};
    c->qp = need(ibv_create_qp(c->pd, &init), "queue pair");
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    check(ibv_modify_qp(c->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "queue pair to INIT");
    snprintf(text, sizeof text, "%u\n", c->qp->qp_num);
    write_file(g->dir, g->rank, "join", text);
}

void join_conn(struct conn *c, const struct group *g, int timeout, unsigned skew) {
    char text[1024], ip[64];
    unsigned start, qpn; // the group's first PSN, the switch's queue pair
    struct in_addr address;
    await_file(g->dir, g->rank, "go", text, sizeof text);
    if (sscanf(text, "%63s %u %u", ip, &qpn, &start) != 3 || !inet_aton(ip, &address))
        die(1, "the lab says \"%s\"", text);
    unsigned first = (start + skew) & 0xFFFFFF;
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = path_mtu(g->mtu), .dest_qp_num = qpn, .rq_psn = first, .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 64}}};
    a.ah_attr.grh.dgid.raw[10] = a.ah_attr.grh.dgid.raw[11] = 0xFF;
    memcpy(a.ah_attr.grh.dgid.raw + 12, &address, 4);
    check(ibv_modify_qp(c->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "queue pair to RTR (does the switch answer ARP?)");
    struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = first, .timeout = timeout, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    check(ibv_modify_qp(c->qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
        "queue pair to RTS");
}

void start_group(const struct group *g) {
    char text[NAME];
    write_file(g->dir, g->rank, "ready", "\n");
    await_file(g->dir, g->rank, "run", text, sizeof text);
}

void close_conn(struct conn *c) {
    check(ibv_destroy_qp(c->qp), "destroy the queue pair");
    check(ibv_dereg_mr(c->mr), "deregister memory");
    check(ibv_destroy_cq(c->cq), "destroy the completion queue");
    check(ibv_destroy_comp_channel(c->channel), "destroy the completion channel");
    check(ibv_dealloc_pd(c->pd), "free the protection domain");
    check(ibv_close_device(c->device), "close the device");
    free(c->sends);
}

void post_receive(struct conn *c, uint64_t id, size_t at, size_t bytes) {
    struct ibv_sge sge = {.addr = (uintptr_t)(c->receives + at), .length = bytes, .lkey = c->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id | RECEIVE, .sg_list = &sge, .num_sge = bytes > 0}, *bad;
    check(ibv_post_recv(c->qp, &wr, &bad), "post a receive");
}

void post_send(struct conn *c, uint64_t id, size_t at, size_t bytes, const uint32_t *immediate) {
    struct ibv_sge sge = {.addr = (uintptr_t)(c->sends + at), .length = bytes, .lkey = c->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = bytes > 0, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    if (immediate) {
        wr.opcode = IBV_WR_SEND_WITH_IMM;
        wr.imm_data = *immediate;
    }
    check(ibv_post_send(c->qp, &wr, &bad), "post a send");
}

// poll takes something that is complete, if there is anything.
static bool poll(struct conn *c, struct ibv_wc *wc) {
    int n = ibv_poll_cq(c->cq, 1, wc);
    check(n < 0 ? n : 0, "poll");
    if (n && wc->status != IBV_WC_SUCCESS)
        die(1, "%s %llu: %s", wc->wr_id & RECEIVE ? "receive" : "message", wc->wr_id & ~RECEIVE, ibv_wc_status_str(wc->status));
    return n;
}

struct ibv_wc await(struct conn *c) {
    struct ibv_wc wc;
    while (!poll(c, &wc)) {
        check(ibv_req_notify_cq(c->cq, 0), "arm the completion queue");
        if (poll(c, &wc))
            break;
        struct ibv_cq *cq;
        void *context;
        check(ibv_get_cq_event(c->channel, &cq, &context), "wait for completions");
        ibv_ack_cq_events(cq, 1);
    }
    return wc;
}
