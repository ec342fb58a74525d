/* SPDX-License-Identifier: Apache-2.0
 *
 * Included ahead of every file of a model: what the model prints, and the ways in
 * which it stops, go to the shim instead of the process.
 */
#ifndef INCSIM_HOOKS_H
#define INCSIM_HOOKS_H

int incsim_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

#define VL_PRINTF incsim_printf
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_WARN

#endif
