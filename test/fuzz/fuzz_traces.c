/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of recorded traces. What they accept has finite times in the order of its streams, and is
 * explained: a job's timeline by replays whose recorded times come out, a profile by parts that add up. */
#include "base/arena.h"
#include "studies/explain/losses.h"
#include "studies/orders/recognise.h"
#include "studies/profile/clocks.h"
#include "studies/profile/profile.h"
#include "test/support/memory_file.h"

#include <math.h>
#include <stdlib.h>

enum { OPERATIONS_MAX = 2000, STEPS_MAX = 50 }; /* more takes longer than it finds */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_operations(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!isfinite(operation->begin) || !isfinite(operation->end) || operation->end < operation->begin ||
            operation->stream >= recorded->stream_count || operation->name >= recorded->name_count ||
            recorded_rank_of(recorded, operation) >= recorded->rank_count)
            abort();
        if (i && (operation->stream < operation[-1].stream ||
                  (operation->stream == operation[-1].stream && operation->begin < operation[-1].begin)))
            abort();
    }
}

static void explain_timeline(struct recorded *recorded, struct arena *arena)
{
    size_t count;
    uint32_t *steps = replay_steps(recorded, &count);
    struct fault fault = {.text = ""};
    struct losses losses;
    struct recognised found;
    recognise(recorded, arena, &found);
    if (count && count < STEPS_MAX && losses_find(recorded, steps, count, NULL, arena, &losses, &fault)) {
        double sum = losses.even;
        for (int kind = 0; kind < LOSS_KINDS; kind++)
            sum += losses.parts[kind].seconds;
        if (!(fabs(sum - losses.measured) <= 1e-9 * losses.measured))
            abort();
    }
    free(steps);
}

static void explain_profile(struct recorded *recorded, struct arena *arena)
{
    struct meetings meetings;
    struct profile profile;
    meetings_find(recorded, recorded->count % 2, arena, &meetings);
    profile_find(recorded, &meetings, arena, &profile);
    double sum = 0;
    for (int part = 0; part < PROFILE_PARTS; part++)
        sum += profile.parts[part];
    if (!(fabs(sum - profile.seconds) <= 1e-6 * profile.seconds))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char name[MEMORY_FILE_NAME];
    struct diag diag = {.out = NULL};
    int descriptor = memory_file(data, size, name);
    const char *file = name;
    struct recorded *recorded = recorded_read(&file, 1, &diag);
    if (!recorded != (diag.errors > 0))
        abort();
    struct arena *arena = arena_create();
    if (recorded) {
        clocks_align(recorded);
        check_operations(recorded);
        if (recorded->count < OPERATIONS_MAX && recorded->timeline)
            explain_timeline(recorded, arena);
        else if (recorded->count < OPERATIONS_MAX)
            explain_profile(recorded, arena);
    }
    arena_destroy(arena);
    recorded_destroy(recorded);
    close(descriptor);
    return 0;
}
