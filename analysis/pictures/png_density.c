/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/png_density.h"

#include <math.h>
#include <stdint.h>
#include <zlib.h>

/* The signature of 8 bytes; then IHDR with length, type, 13 bytes and a check sum. */
enum { HEAD = 8 + 12 + 13, PHYS = 9 };

static void put_number(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

void png_write_with_density(FILE *out, const char *png, size_t size, double dots_per_inch)
{
    unsigned char chunk[12 + PHYS] = {0, 0, 0, PHYS, 'p', 'H', 'Y', 's'};
    uint32_t per_metre = (uint32_t)lround(dots_per_inch / 0.0254);
    if (size < HEAD)
        return;
    put_number(chunk + 8, per_metre);
    put_number(chunk + 12, per_metre);
    chunk[16] = 1; /* the unit is the metre */
    put_number(chunk + 17, (uint32_t)crc32(0, chunk + 4, 4 + PHYS));
    fwrite(png, 1, HEAD, out);
    fwrite(chunk, 1, sizeof chunk, out);
    fwrite(png + HEAD, 1, size - HEAD, out);
}
