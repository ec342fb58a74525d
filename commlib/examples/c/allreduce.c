/* SPDX-License-Identifier: Apache-2.0
 *
 * An AllReduce in C: NIC MANAGER RANK MEMBER... (see commlib.h). */
#include "commlib.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 10000 };

static void check(int status) {
    if (status != COMMLIB_OK) {
        fprintf(stderr, "%s\n", commlib_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    static float data[COUNT];
    if (argc < 5) {
        fprintf(stderr, "usage: %s NIC MANAGER RANK MEMBER...\n", argv[0]);
        return 2;
    }
    int rank = atoi(argv[3]), ranks = argc - 4, all = ranks * (ranks + 1) / 2;
    struct commlib_config config = {.manager = argv[2], .name = "example", .members = (const char *const *)(argv + 4), .ranks = ranks, .rank = rank, .mbps = 100,
        .wait_ms = 60000};
    commlib_device nic;
    commlib_group group;
    commlib_call call;
    check(commlib_open(argv[1], &nic));
    check(commlib_init_group(nic, &config, &group));

    for (int i = 0; i < COUNT; i++)
        data[i] = i * (rank + 1);
    check(commlib_all_reduce(group, data, data, COUNT, COMMLIB_FP32, COMMLIB_SUM)); /* blocking */
    struct commlib_request barrier = {.collective = COMMLIB_BARRIER};
    check(commlib_start(group, &barrier, &call)); /* with a handle */
    check(commlib_wait(call, -1));

    for (int i = 0; i < COUNT; i++)
        if (data[i] != i * all) { /* 1 + 2 + ... ranks */
            fprintf(stderr, "element %d is %g\n", i, data[i]);
            return 1;
        }
    printf("rank %d: all %d sums are right\n", rank, COUNT);
    check(commlib_destroy_group(group));
    check(commlib_close(nic));
    return 0;
}
