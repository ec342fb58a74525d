/* SPDX-License-Identifier: Apache-2.0
 *
 * What every file of a model reads first. It is compiled once for a compiler and its flags: parsing these headers takes longer than
 * compiling a small model.
 */
#ifndef INCSIM_PRE_H
#define INCSIM_PRE_H

#include "hooks.h"

#include "verilated.h"
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
