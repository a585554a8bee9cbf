/* SPDX-License-Identifier: Apache-2.0 */
/* A file in memory that has a name: readers of files are tested with texts. */
#ifndef TEST_MEMORY_FILE_H
#define TEST_MEMORY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_FILE_NAME = 64 };

/* A descriptor, to be closed by the caller; the file goes with it. */
static inline int memory_file(const void *data, size_t size, char name[MEMORY_FILE_NAME])
{
    int descriptor = memfd_create("text", MFD_CLOEXEC);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(name, MEMORY_FILE_NAME, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

#endif
