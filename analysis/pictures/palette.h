/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of operations: one table for pictures, traces and the terminal. */
#ifndef STAGESIM_PALETTE_H
#define STAGESIM_PALETTE_H

#include "abi/workload.h"

#include <stdint.h>

/* What else has a colour. */
enum { PALETTE_WAITING = STAGESIM_KINDS, PALETTE_ENTRIES };

/* Colours as 0xrrggbb. Boxes of a picture go from light to dark with their pipeline direction or chunk. */
struct palette_range {
    uint32_t light, dark;
};

/* Of an enum stagesim_kind, or PALETTE_WAITING. */
struct palette_range palette_range(unsigned entry);
/* Where an operation has one colour only: half-way between light and dark. */
uint32_t palette_single(unsigned entry);

enum { PALETTE_ESCAPE_MAX = 32 };

/* The escape sequence that gives a terminal of 256 colours the one nearest to palette_single as background, and black
 * or white text, whichever stands out. "\033[0m" ends it. */
const char *palette_terminal(unsigned entry, char text[PALETTE_ESCAPE_MAX]);

#endif
