// SPDX-License-Identifier: Apache-2.0
//
// wrong KIND GROUP: a rank that does what it must not, so that its group stands, until it is killed.
//   idle     joins and sends nothing
//   shape    sends a packet of another length than the others' first
//   window   sends more packets than the group's window without waiting
//   control  sends data to an in-band group without a control
//   start    begins with another PSN than the group's START

#include "rank.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    static const char *const kinds[] = {"idle", "shape", "window", "control", "start"};
    struct group g = {0};
    struct conn c = {0};
    bool known = false;
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        known |= !strcmp(argv[1], kinds[i]);
    if (!known)
        die(2, "usage: wrong idle|shape|window|control|start GROUP");
    read_group(&g, argv[2]);
    bool start = !strcmp(argv[1], "start"), window = !strcmp(argv[1], "window"), idle = !strcmp(argv[1], "idle");
    unsigned packets = idle ? 0 : window ? 2 * g.window : 1;

    open_conn(&c, &g, g.mtu);
    join_conn(&c, &g, 17, start ? 100 : 0);
    for (unsigned i = 0; i <= packets; i++)
        post_receive(&c, i, 0, g.mtu);
    start_group(&g);
    printf("%s begins\n", argv[1]);
    fflush(stdout);
    for (unsigned i = 0; i < packets; i++)
        post_send(&c, i, 0, g.mtu, NULL);
    for (;;)
        await(&c);
}
