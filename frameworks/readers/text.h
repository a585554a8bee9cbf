/* SPDX-License-Identifier: Apache-2.0 */
/* Text files of other programs, as a whole in memory. */
#ifndef STAGESIM_READERS_TEXT_H
#define STAGESIM_READERS_TEXT_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { TEXT_BYTES_MAX = 1 << 20 }; /* larger files are refused */

/* The file with a final zero, which `size` does not count; memory from the arena. NULL after the trouble was reported.
 * A zero byte inside is a mistake as well. */
const char *text_read(const char *file, size_t *size, struct arena *arena, struct diag *diag);
/* The first byte that is no UTF-8, or `size`. */
size_t text_bad_utf8(const char *text, size_t size);
/* The place of a byte. */
struct place text_place(const char *file, const char *text, size_t offset);

#endif
