/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of Slurm's topology.conf and topology.yaml, with the lists of names in them. */
#include "base/arena.h"
#include "platforms/import/import.h"
#include "platforms/import/slurm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct slurm_records records = {.arena = arena};
    struct slurm_cluster cluster = {0};
    char *text = arena_alloc(arena, size + 1);
    memcpy(text, data, size);
    bool good = !slurm_recognise(text, size) ||
                (slurm_read("input", text, size, size % 3 ? NULL : "a", &records, &fault) &&
                 slurm_check(&records, size % 2, import_create("fuzz", arena), &cluster, &fault));
    if (good == (fault.text[0] != '\0'))
        abort();
    if (records.count && good && (!cluster.leaves || !cluster.leaf_nodes || cluster.nodes < cluster.leaf_nodes))
        abort();
    arena_destroy(arena);
    return 0;
}
