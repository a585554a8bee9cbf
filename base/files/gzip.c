/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BUFFER_BYTES = 1 << 16, GZIP_HEADER = 16 };

struct gzip {
    z_stream stream;
    FILE *out;
    unsigned char buffer[BUFFER_BYTES];
};

/* Compresses what the stream holds. False when it could not be written. */
static bool pump(struct gzip *gzip, int flush)
{
    int state = Z_OK;
    do {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = BUFFER_BYTES;
        state = deflate(&gzip->stream, flush);
        size_t size = BUFFER_BYTES - gzip->stream.avail_out;
        if (fwrite(gzip->buffer, 1, size, gzip->out) != size)
            return false;
    } while (gzip->stream.avail_out == 0 && state == Z_OK);
    return state != Z_STREAM_ERROR;
}

static ssize_t write_some(void *cookie, const char *data, size_t size)
{
    struct gzip *gzip = cookie;
    gzip->stream.next_in = (unsigned char *)(uintptr_t)data;
    gzip->stream.avail_in = (unsigned)size;
    return pump(gzip, Z_NO_FLUSH) ? (ssize_t)size : 0;
}

static int close_it(void *cookie)
{
    struct gzip *gzip = cookie;
    gzip->stream.avail_in = 0;
    bool done = pump(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    free(gzip);
    return done ? 0 : EOF;
}

FILE *gzip_open(FILE *out)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->out = out;
    if (deflateInit2(&gzip->stream, 6, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    FILE *file = fopencookie(gzip, "w", (cookie_io_functions_t){.write = write_some, .close = close_it});
    if (!file) {
        deflateEnd(&gzip->stream);
        free(gzip);
    }
    return file;
}
