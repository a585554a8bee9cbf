/* SPDX-License-Identifier: Apache-2.0 */
/* As fuzz_nccl.c, with the seeds and words of what nvidia-smi and rocm-smi print. What is no XML is not tried as XML:
 * those readers have targets of their own. */
#include "base/arena.h"
#include "platforms/generate/generate.h"
#include "platforms/import/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct wire network = {"nic", 25, 22.5, 1e-6, "test", CONFIDENCE_L};
    const struct import_options options = {.model = size % 2 ? device_find("A100-SXM4-80GB") : NULL,
                                           .network = size % 3 ? &network : NULL};
    struct arena *arena = arena_create();
    struct fault fault = {""};
    char *text = arena_alloc(arena, size + 1);
    memcpy(text, data, size);
    bool matrix =
        size && *text != '<' && (import_is_nvidia_topo(text, size, arena) || import_is_rocm_topo(text, size, arena));
    struct import *import = matrix ? import_text("input", text, size, &options, arena, &fault) : NULL;
    if (matrix && !import && !fault.text[0])
        abort();
    if (import) {
        FILE *nowhere = fopen("/dev/null", "w");
        struct design design = {.title = import->source, .prefix = "gpu", .node = import->node, .nodes = 1};
        design.fabric = (struct fabric){
            .name = "switched", .kind = FABRIC_SWITCHED, .pod = 32, .oversubscription = 1, .source = "test"};
        if (!design_write(&design, nowhere, &fault) && !fault.text[0])
            abort();
        fclose(nowhere);
    }
    arena_destroy(arena);
    return 0;
}
