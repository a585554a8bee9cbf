/* SPDX-License-Identifier: Apache-2.0 */
/* As fuzz_hwloc.c, with the seeds and words of NCCL's format, and options for what its files often lack. */
#include "base/arena.h"
#include "platforms/generate/generate.h"
#include "platforms/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct wire network = {"nic", 25, 22.5, 1e-6, "test", CONFIDENCE_L};
    const struct import_options options = {.model = size % 2 ? device_find("A100-SXM4-80GB") : NULL,
                                           .network = &network};
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
