/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes everything from the text of a topology file to the platform that it becomes. hwloc itself is not instrumented,
 * but what it makes of the text is read. */
#include "base/arena.h"
#include "platforms/generate/generate.h"
#include "platforms/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct fault fault = {""};
    char *text = arena_alloc(arena, size + 1);
    memcpy(text, data, size);
    struct import *import = import_text("input", text, size, &options, arena, &fault);
    if (!import && !fault.text[0])
        abort();
    if (import) {
        FILE *nowhere = fopen("/dev/null", "w");
        struct design design = {.title = import->source, .prefix = "gpu", .node = import->node, .nodes = 2};
        design.fabric = (struct fabric){
            .name = "switched", .kind = FABRIC_SWITCHED, .pod = 32, .oversubscription = 1, .source = "test"};
        if (!design_write(&design, nowhere, &fault) && !fault.text[0])
            abort();
        fclose(nowhere);
    }
    arena_destroy(arena);
    return 0;
}
