/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of MSCCL's programs and their proof. What is accepted has flows between ranks of the program; what
 * is refused has a reason. */
#include "base/arena.h"
#include "simulator/collectives/msccl/msccl.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = NULL};
    const struct collective_algorithm *algorithm = msccl_parse("input.xml", (const char *)data, size, arena, &diag);
    if ((algorithm == NULL) == (diag.errors == 0))
        abort();
    double shares = 0;
    for (size_t i = 0; algorithm && i < algorithm->own->count; i++) {
        const struct collective_phase_flow *flow = &algorithm->own->flows[i];
        if (flow->from == flow->to || flow->from >= algorithm->own->ranks || flow->to >= algorithm->own->ranks ||
            (i && flow->phase < flow[-1].phase))
            abort();
        shares += flow->share;
    }
    /* Whatever the collective, somebody needs something of somebody else. */
    if (algorithm && !(shares > 0))
        abort();
    arena_destroy(arena);
    return 0;
}
