/* SPDX-License-Identifier: Apache-2.0
 *
 * What every file of a model reads first. It is compiled once for a compiler and its flags: parsing these headers takes longer than
 * compiling a small model.
 */
#ifndef INCSIM_PRE_H
#define INCSIM_PRE_H

#include "hooks.h"

#include "verilated.h"
#include <algorithm>

/* Verilator fills a vector longer than its --expand-limit with one bit bit by bit: in a crossbar that chooses by AND and OR that is most of
 * the model's time. Here it is done by words. */
static inline WDataOutP incsim_replicate(int lbits, WDataOutP owp, IData ld, IData rep) {
    if (lbits != 1) return VL_REPLICATE_WII(lbits, owp, ld, rep);
    const int words = VL_WORDS_I(rep);
    std::fill(owp, owp + words, ld & 1 ? ~EData{0} : EData{0});
    owp[words - 1] &= VL_MASK_E(rep);
    return owp;
}
#define VL_REPLICATE_WII incsim_replicate

#if INCSIM_TRACED
#include "verilated_fst_c.h"
#endif

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#endif
