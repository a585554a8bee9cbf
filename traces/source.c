/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/source.h"

#include "base/arena.h"
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { GZIP_BUFFER = 1 << 18 };

struct trace_file {
    gzFile stream;
    char head[256]; /* what was looked at */
    size_t head_size, head_given;
    bool cut;
};

/* No output replaces a file that was read. */
static gzFile open_regular(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    path_note_read(descriptor);
    return gzdopen(descriptor, "rb");
}

static struct trace_file *file_of(const char *path, gzFile stream, struct diag *diag)
{
    if (!stream) {
        int why = errno ? errno : ENOMEM;
        const char *text = why == EINVAL ? "it is no regular file" : strerror(why);
        if (why == ENOENT || why == ENOTDIR || why == EISDIR || why == EINVAL) /* another name was meant */
            diag_error(diag, (struct place){path, 0, 0}, "%s; expected a recorded trace", text);
        else
            diag_trouble(diag, (struct place){path, 0, 0}, "%s", text);
        return NULL;
    }
    gzbuffer(stream, GZIP_BUFFER);
    struct trace_file *file = array_zeroed(1, sizeof *file);
    file->stream = stream;
    return file;
}

struct trace_file *trace_file_open(const char *path, struct diag *diag)
{
    errno = 0;
    return file_of(path, open_regular(path), diag);
}

struct trace_file *trace_file_of_stream(const char *name, FILE *stream, struct diag *diag)
{
    errno = 0;
    int copy = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
    return file_of(name, copy < 0 || lseek(copy, 0, SEEK_SET) < 0 ? NULL : gzdopen(copy, "rb"), diag);
}

void trace_file_close(struct trace_file *file)
{
    if (file)
        gzclose(file->stream);
    free(file);
}

/* zlib says once that data end in their middle, with what it could still read; since 1.3.2 the next call says nothing
 * more. */
static int read_some(struct trace_file *file, void *buffer, unsigned size)
{
    int state = Z_OK, got = gzread(file->stream, buffer, size);
    gzerror(file->stream, &state);
    file->cut |= state == Z_BUF_ERROR;
    return got;
}

size_t trace_file_peek(struct trace_file *file, char *bytes, size_t size)
{
    if (!file->head_size) {
        int got = read_some(file, file->head, sizeof file->head);
        file->head_size = got > 0 ? (size_t)got : 0;
    }
    size = size < file->head_size ? size : file->head_size;
    memcpy(bytes, file->head, size);
    return size;
}

size_t trace_file_read(void *user, char *buffer, size_t size, struct fault *fault)
{
    struct trace_file *file = user;
    if (file->head_given < file->head_size) {
        size_t rest = file->head_size - file->head_given;
        rest = rest < size ? rest : size;
        memcpy(buffer, file->head + file->head_given, rest);
        file->head_given += rest;
        return rest;
    }
    int got = read_some(file, buffer, size < 1 << 20 ? (unsigned)size : 1 << 20);
    int state = Z_OK;
    const char *why = gzerror(file->stream, &state);
    if (got > 0)
        return (size_t)got;
    if (file->cut) {
        fault_set(fault, "the file ends in the middle of its compressed data, it was cut");
        fault->refused = true;
    } else if (state == Z_ERRNO) {
        fault_set(fault, "%s", strerror(errno));
    } else if (state != Z_OK && state != Z_STREAM_END) {
        fault_set(fault, "its compressed data are damaged: %.100s", why);
        fault->refused = true;
    }
    return 0;
}
