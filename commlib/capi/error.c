/* SPDX-License-Identifier: Apache-2.0 */

#include "const.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The text of each thread, freed when it ends. A variable of the thread would have to fit into what the loader keeps for libraries that
 * are loaded late, which is little. */
static pthread_key_t last;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;

static void make(void) { made = !pthread_key_create(&last, free); }

const char *commlib_error(void) {
    pthread_once(&once, make);
    const char *text = made ? pthread_getspecific(last) : NULL;
    return text ? text : "";
}

/* A function that C calls runs in its thread, down to here. */
void inc_set_error(commlib_text *text) {
    pthread_once(&once, make);
    if (!made)
        return;
    free(pthread_getspecific(last));
    pthread_setspecific(last, strdup(text));
}
