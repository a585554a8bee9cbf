/* SPDX-License-Identifier: Apache-2.0 */
/* PNG files that say how large they are on paper, which cairo does not write. */
#ifndef STAGESIM_PNG_DENSITY_H
#define STAGESIM_PNG_DENSITY_H

#include <stddef.h>
#include <stdio.h>

/* Writes the file with the chunk pHYs behind its first one. */
void png_write_with_density(FILE *out, const char *png, size_t size, double dots_per_inch);

#endif
