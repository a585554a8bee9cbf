/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file without a name in $TMPDIR; -1 with the fault filled. */
static int open_nameless(struct fault *fault)
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

void *search_scratch_map(size_t bytes, struct fault *fault)
{
    int file = open_nameless(fault);
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

void search_scratch_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes ? bytes : 1);
}

void search_scratch_release(void *memory, size_t bytes)
{
    if (memory && bytes)
        madvise(memory, bytes, MADV_DONTNEED);
}

bool search_table_create(struct search_table *table, uint64_t count, struct fault *fault)
{
    *table = (struct search_table){.count = count, .reasons = -1};
    table->results = search_scratch_map(count * sizeof *table->results, fault);
    table->reasons_end = table->results ? search_scratch_map(sizeof *table->reasons_end, fault) : NULL;
    table->reasons = table->reasons_end ? open_nameless(fault) : -1;
    return table->reasons >= 0;
}

void search_table_finish(struct search_table *table)
{
    search_scratch_unmap(table->results, table->count * sizeof *table->results);
    search_scratch_unmap((void *)table->reasons_end, sizeof *table->reasons_end);
    if (table->reasons >= 0)
        close(table->reasons);
    *table = (struct search_table){.reasons = -1};
}

void search_table_put_reason(struct search_table *table, struct search_result *result, const char *reason)
{
    size_t length = strlen(reason);
    length = length < SEARCH_REASON_MAX - 1 ? length : SEARCH_REASON_MAX - 1;
    uint64_t at = atomic_fetch_add(table->reasons_end, length);
    ssize_t written = pwrite(table->reasons, reason, length, (off_t)at);
    result->reason = at;
    result->reason_length = (uint8_t)(written == (ssize_t)length ? length : 0);
}

void search_table_get_reason(const struct search_table *table, const struct search_result *result,
                             char reason[SEARCH_REASON_MAX])
{
    ssize_t length = pread(table->reasons, reason, result->reason_length, (off_t)result->reason);
    reason[length > 0 ? length : 0] = '\0';
}
