/* SPDX-License-Identifier: Apache-2.0 */
/* As fuzz_nccl.c, with the seeds and words of what nvidia-smi and rocm-smi print. What is no XML is not tried as XML:
 * those readers have targets of their own. */
#include "platforms/import/parts.h"
#include "test/fuzz/topology.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct wire network = {"nic", 25, 22.5, 1e-6, "test", CONFIDENCE_L};
    const struct import_options options = {.model = size % 2 ? device_find("A100-SXM4-80GB") : NULL,
                                           .network = size % 3 ? &network : NULL};
    struct arena *arena = arena_create();
    const char *text = text_of(data, size, arena);
    if (size && *text != '<' && (import_is_nvidia_topo(text, size, arena) || import_is_rocm_topo(text, size, arena)))
        become_platform(text, size, &options, 1, arena);
    arena_destroy(arena);
    return 0;
}
