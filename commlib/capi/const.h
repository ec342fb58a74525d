/* SPDX-License-Identifier: Apache-2.0
 *
 * What the Go of this package sees. cgo has no const; a name for a type with it makes the functions' types those of commlib.h, so that the
 * C compiler compares them. */
#include "commlib.h"

typedef const char commlib_text;
typedef const void commlib_data;
typedef const struct commlib_config commlib_config;
typedef const struct commlib_request commlib_request;

/* inc_set_error keeps what went wrong for the thread that asks for it next. */
void inc_set_error(commlib_text *text);
