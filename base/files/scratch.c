/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int scratch_file(struct fault *fault)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    folder = folder && *folder ? folder : "/tmp";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0)
        return file;
    /* A file system without such files gives one with a name, which is there for a moment. */
    snprintf(path, sizeof path, "%s/stagesim-XXXXXX", folder);
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0 && unlink(path) == 0)
        return file;
    fault_set(fault, "no temporary file %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

void *scratch_map(size_t bytes, struct fault *fault)
{
    int file = scratch_file(fault);
    if (file < 0)
        return NULL;
    bytes = bytes ? bytes : 1;
    void *memory =
        ftruncate(file, (off_t)bytes) ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        fault_set(fault, "no room for %zu bytes of results: %s", bytes, strerror(errno));
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

void scratch_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes ? bytes : 1);
}

void scratch_release(void *memory, size_t bytes)
{
    if (memory && bytes)
        madvise(memory, bytes, MADV_DONTNEED);
}
