// SPDX-License-Identifier: Apache-2.0
//
// allreduce GROUP SIZE...: a rank of an AllReduce through the switches, over an ordinary queue pair. Every host of the group runs it. Each
// element of each result is compared with the sum that plain arithmetic gives. Exit status: 0 all right, 1 a wrong element or a failure,
// 2 bad usage.

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RING = 256, NAME = 64, RANKS = 64, PATH = 256, SIZES = 64 };

// What the lab says of a group, and what the queue pair is joined to.
struct group {
    char dir[PATH];
    char hosts[RANKS][NAME];
    char dtype[NAME], op[NAME], collective[NAME];
    int ranks, rank;
    unsigned window, mtu, start, qpn;
    struct in_addr ip;
};

// A queue pair with rings of buffers, one message each: slot i % ring is that of message i.
struct conn {
    struct ibv_context *device;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint32_t *sends, *receives; // rings
    size_t ring, bytes;         // messages of a ring, bytes of a message at most
    uint64_t posted, received;  // messages
};

// The plan: sizes one after the other, each a number of times.
struct plan {
    size_t sizes[SIZES];
    int count, loops;
    size_t message; // bytes
};

static void die(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("allreduce: ", stderr);
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

static double now(void) {
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

// read_group reads what the lab says of the group, and finds this host's rank.
static void read_group(struct group *g, const char *name) {
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
            if (!strcmp(key, "hosts") && g->ranks < RANKS) {
                if (!strcmp(word, host))
                    g->rank = g->ranks;
                snprintf(g->hosts[g->ranks++], NAME, "%s", word);
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
    if (strcmp(g->collective, "allreduce") || strcmp(g->op, "SUM") || (strcmp(g->dtype, "INT32") && strcmp(g->dtype, "FP32")))
        die(2, "group %s does %s %s %s, this program allreduce INT32 or FP32 SUM", name, g->collective, g->dtype, g->op);
}

static enum ibv_mtu path_mtu(unsigned bytes) {
    return bytes >= 4096 ? IBV_MTU_4096 : bytes >= 2048 ? IBV_MTU_2048 : bytes >= 1024 ? IBV_MTU_1024 : bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

// open_conn makes a queue pair, which takes the rings' messages.
static void open_conn(struct conn *c) {
    int n;
    struct ibv_device **devices = need(ibv_get_device_list(&n), "devices");
    if (!n)
        die(1, "there is no RDMA device");
    c->device = need(ibv_open_device(devices[0]), "open the device");
    ibv_free_device_list(devices);
    c->pd = need(ibv_alloc_pd(c->device), "protection domain");
    c->channel = need(ibv_create_comp_channel(c->device), "completion channel");
    c->cq = need(ibv_create_cq(c->device, 2 * c->ring + 8, NULL, c->channel, 0), "completion queue");
    size_t bytes = 2 * c->ring * c->bytes;
    c->sends = need(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), "memory");
    c->receives = c->sends + c->ring * c->bytes / 4;
    c->mr = need(ibv_reg_mr(c->pd, c->sends, bytes, IBV_ACCESS_LOCAL_WRITE), "memory region");
    struct ibv_qp_init_attr init = {.send_cq = c->cq, .recv_cq = c->cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = c->ring, .max_recv_wr = c->ring, .max_send_sge = 1, .max_recv_sge = 1}};
    c->qp = need(ibv_create_qp(c->pd, &init), "queue pair");
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    check(ibv_modify_qp(c->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "queue pair to INIT");
}

// connect_conn joins the queue pair to the switch.
static void connect_conn(struct conn *c, const struct group *g, int timeout) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = path_mtu(g->mtu), .dest_qp_num = g->qpn, .rq_psn = g->start, .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 64}}};
    a.ah_attr.grh.dgid.raw[10] = a.ah_attr.grh.dgid.raw[11] = 0xFF;
    memcpy(a.ah_attr.grh.dgid.raw + 12, &g->ip, 4);
    check(ibv_modify_qp(c->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "queue pair to RTR (does the switch answer ARP?)");
    struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = g->start, .timeout = timeout, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    check(ibv_modify_qp(c->qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
        "queue pair to RTS");
}

static void post_receive(struct conn *c) {
    struct ibv_sge sge = {.addr = (uintptr_t)(c->receives + c->posted % c->ring * (c->bytes / 4)), .length = c->bytes, .lkey = c->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = c->posted, .sg_list = &sge, .num_sge = 1}, *bad;
    check(ibv_post_recv(c->qp, &wr, &bad), "post a receive");
    c->posted++;
}

static void post_send(struct conn *c, uint64_t n, size_t bytes) {
    struct ibv_sge sge = {.addr = (uintptr_t)(c->sends + n % c->ring * (c->bytes / 4)), .length = bytes, .lkey = c->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    check(ibv_post_send(c->qp, &wr, &bad), "post a send");
}

// await sleeps until something is complete, and takes it.
static struct ibv_wc await(struct conn *c) {
    struct ibv_wc wc;
    for (;;) {
        int n = ibv_poll_cq(c->cq, 1, &wc);
        if (n < 0)
            die(1, "poll: %s", strerror(errno));
        if (n && wc.status != IBV_WC_SUCCESS)
            die(1, "%s %" PRIu64 ": %s", wc.opcode & IBV_WC_RECV ? "receive" : "message", wc.wr_id, ibv_wc_status_str(wc.status));
        if (n)
            return wc;
        check(ibv_req_notify_cq(c->cq, 0), "arm the completion queue");
        if ((n = ibv_poll_cq(c->cq, 1, &wc)) > 0) {
            if (wc.status != IBV_WC_SUCCESS)
                die(1, "message %" PRIu64 ": %s", wc.wr_id, ibv_wc_status_str(wc.status));
            return wc;
        }
        struct ibv_cq *cq;
        void *context;
        check(ibv_get_cq_event(c->channel, &cq, &context), "wait for completions");
        ibv_ack_cq_events(cq, 1);
    }
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

static uint32_t contribution(const struct group *g, int rank, uint64_t run, uint64_t element) {
    uint32_t x = draw(rank, run, element);
    if (!strcmp(g->dtype, "FP32")) {
        float f = as_float(x);
        memcpy(&x, &f, 4);
    }
    return x;
}

static uint32_t sum(const struct group *g, uint64_t run, uint64_t element) {
    uint32_t total = 0;
    float f = 0;
    for (int r = 0; r < g->ranks; r++) {
        uint32_t x = draw(r, run, element);
        total += x;
        f += as_float(x);
    }
    if (!strcmp(g->dtype, "FP32"))
        memcpy(&total, &f, 4);
    return total;
}

// run_once is one AllReduce, number run, of a size; first is its first message.
static void run_once(struct conn *c, const struct group *g, const struct plan *p, size_t size, uint64_t run, uint64_t total) {
    uint64_t count = (size + p->message - 1) / p->message, first = c->received, flight = g->window * g->mtu / p->message;
    uint64_t sent = 0, done = 0, got = 0;
    size_t words = p->message / 4;
    while (done < count || got < count) {
        while (sent < count && sent < got + flight && sent < done + c->ring) {
            size_t bytes = sent == count - 1 ? size - sent * p->message : p->message;
            uint32_t *to = c->sends + (first + sent) % c->ring * (c->bytes / 4);
            for (size_t i = 0; i < bytes / 4; i++)
                to[i] = contribution(g, g->rank, run, sent * words + i);
            post_send(c, first + sent++, bytes);
        }
        struct ibv_wc wc = await(c);
        if (!(wc.opcode & IBV_WC_RECV)) {
            done++;
            continue;
        }
        size_t bytes = got == count - 1 ? size - got * p->message : p->message;
        if (wc.wr_id != first + got || wc.byte_len != bytes)
            die(1, "result %" PRIu64 " has %u bytes, expected was %" PRIu64 " with %zu", wc.wr_id, wc.byte_len, first + got, bytes);
        const uint32_t *from = c->receives + wc.wr_id % c->ring * (c->bytes / 4);
        for (size_t i = 0; i < bytes / 4; i++) {
            uint32_t want = sum(g, run, got * words + i);
            if (from[i] != want)
                die(1, "%zu bytes, run %" PRIu64 ": element %" PRIu64 " is %08x, must be %08x", size, run, got * words + i, from[i], want);
        }
        got++;
        c->received++;
        if (c->posted < total)
            post_receive(c);
    }
}

static void parse(int argc, char **argv, struct plan *p, int *timeout) {
    int option;
    while ((option = getopt(argc, argv, "n:t:")) != -1) {
        if (option == 'n')
            p->loops = atoi(optarg);
        else if (option == 't')
            *timeout = atoi(optarg);
        else
            die(2, "usage: allreduce [-n TIMES] [-t TIMEOUT_EXPONENT] GROUP BYTES...");
    }
    if (argc - optind < 2 || argc - optind - 1 > SIZES || p->loops < 1)
        die(2, "usage: allreduce [-n TIMES] [-t TIMEOUT_EXPONENT] GROUP BYTES...");
    for (int i = optind + 1; i < argc; i++) {
        char *end;
        p->sizes[p->count] = strtoul(argv[i], &end, 10);
        if (*end || !p->sizes[p->count] || p->sizes[p->count] % 4)
            die(2, "%s: must be a multiple of 4 bytes", argv[i]);
        p->count++;
    }
}

int main(int argc, char **argv) {
    struct group g = {0};
    struct plan p = {.loops = 1};
    struct conn c = {.ring = RING};
    char text[1024], ip[64];
    int timeout = 17;
    parse(argc, argv, &p, &timeout);
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_group(&g, argv[optind]);
    // A quarter of the window a message: the others are under way while one is waited for.
    p.message = c.bytes = g.mtu * (g.window >= 4 ? g.window / 4 : 1);
    uint64_t total = 0;
    for (int i = 0; i < p.count; i++)
        total += p.loops * ((p.sizes[i] + p.message - 1) / p.message);

    open_conn(&c);
    snprintf(text, sizeof text, "%u\n", c.qp->qp_num);
    write_file(g.dir, g.rank, "join", text);
    await_file(g.dir, g.rank, "go", text, sizeof text);
    if (sscanf(text, "%63s %u %u", ip, &g.qpn, &g.start) != 3 || !inet_aton(ip, &g.ip))
        die(1, "the lab says \"%s\"", text);
    connect_conn(&c, &g, timeout);
    while (c.posted < c.ring && c.posted < total)
        post_receive(&c);
    write_file(g.dir, g.rank, "ready", "\n");
    await_file(g.dir, g.rank, "run", text, sizeof text);

    uint64_t run = 0;
    for (int i = 0; i < p.count; i++)
        for (int n = 0; n < p.loops; n++) {
            double start = now();
            run_once(&c, &g, &p, p.sizes[i], run++, total);
            double seconds = now() - start;
            printf("rank %d of %d: %s %zu bytes: right, %.1f ms, %.2f Mbit/s\n", g.rank, g.ranks, g.dtype, p.sizes[i], seconds * 1e3,
                p.sizes[i] * 8 / seconds / 1e6);
        }
    return 0;
}
