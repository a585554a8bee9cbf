/* SPDX-License-Identifier: Apache-2.0 */
/* As fuzz_hwloc.c, with the seeds and words of NCCL's format, and options for what its files often lack. */
#include "test/fuzz/topology.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct wire network = {"nic", 25, 22.5, 1e-6, "test", CONFIDENCE_L};
    const struct import_options options = {.model = size % 2 ? device_find("A100-SXM4-80GB") : NULL,
                                           .network = &network};
    struct arena *arena = arena_create();
    become_platform(text_of(data, size, arena), size, &options, 2, arena);
    arena_destroy(arena);
    return 0;
}
