/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes everything from the text of a topology file to the platform that it becomes. hwloc itself is not instrumented,
 * but what it makes of the text is read. */
#include "test/fuzz/topology.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
const char *__lsan_default_suppressions(void);

/* hwloc 2.9 loses memory when it gives up on some files. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libhwloc";
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    const struct import_options options = {.partitions = size % 2 == 1};
    struct arena *arena = arena_create();
    become_platform(text_of(data, size, arena), size, &options, 2, arena);
    arena_destroy(arena);
    return 0;
}
