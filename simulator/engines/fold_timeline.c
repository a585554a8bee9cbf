/* SPDX-License-Identifier: Apache-2.0 */
/* What a folded run tells of the replicas that did not run. */
#include "base/arena.h"
#include "simulator/engines/fold_proof.h"
#include "simulator/program/program.h"

#include <stdlib.h>
#include <sys/mman.h>

void folding_finish(struct folding *folding)
{
    struct fold_proof *proof = folding->proof;
    if (folding->ghost_ends)
        munmap(folding->ghost_ends, folding->ghost_bytes);
    folding->ghost_ends = NULL;
    if (!proof)
        return;
    free(proof->senders);
    free(proof->locals);
    free(proof->coupling.items);
    free(proof->own.items);
    free(proof->conflicts.items);
    free(proof->neighbours.items);
    folding->proof = NULL;
}

struct timeline *folding_timeline(const struct folding *folding, const struct program *program, bool shared)
{
    if (folding->equals)
        return timeline_create_folded(program, folding->equals, shared);
    uint32_t ranks = program->mesh->ranks, *equals = array_zeroed(ranks, sizeof *equals);
    for (uint32_t rank = 0; equals && rank < ranks; rank++) {
        uint32_t slice = rank / folding->stride % folding->slices;
        equals[rank] = rank - (slice - folding->class_of[slice]) * folding->stride;
    }
    struct timeline *timeline = timeline_create_folded(program, equals, shared);
    free(equals);
    return timeline;
}
