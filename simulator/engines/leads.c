/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/leads.h"

#include "base/arena.h"

#include <stdlib.h>

/* What an operation has waited for: the newest collective of the group, of how many counted from 1, and the axes along
 * which it was waited for at all coordinates since. Of one path; others may say more. */
struct waited {
    uint32_t collective, axes;
};

struct walk {
    const struct program *program;
    const struct position *position;
    uint32_t group, missing; /* axes along which the group's instances lie */
    struct waited *waited;   /* [operation id] */
    uint32_t *open;          /* [operation id]: what it still waits for, its stream included */
    uint32_t *ready, ready_count;
};

static uint32_t count_bits(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static bool says_more(const struct walk *walk, struct waited a, struct waited b)
{
    if (a.collective != b.collective)
        return a.collective > b.collective;
    return count_bits(a.axes & walk->missing) > count_bits(b.axes & walk->missing);
}

static void close_one(struct walk *walk, uint32_t id, struct waited waited)
{
    if (says_more(walk, waited, walk->waited[id]))
        walk->waited[id] = waited;
    if (!--walk->open[id])
        walk->ready[walk->ready_count++] = id;
}

/* What those that wait for an operation have waited for. False: it is of the group, and its instances may be apart. */
static bool finish_operation(struct walk *walk, uint32_t id)
{
    const struct position *position = walk->position;
    const struct operation *operation = &position->operations[id];
    const struct stream *stream = &position->streams[operation->stream];
    struct waited waited = walk->waited[id];
    if (operation->type == OPERATION_COLLECTIVE && stream->peer == walk->group) {
        uint32_t number = id - stream->first;
        if (number && (waited.collective != number || walk->missing & ~waited.axes))
            return false;
        waited = (struct waited){number + 1, 0};
    } else if (operation->type == OPERATION_COLLECTIVE) {
        waited.axes |= walk->program->groups[stream->peer].axes;
    }
    for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++)
        close_one(walk, position->dependents[i], waited);
    if (id + 1 < stream->first + stream->count)
        close_one(walk, id + 1, waited);
    return true;
}

static void begin(struct walk *walk)
{
    const struct position *position = walk->position;
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            walk->open[id] = operation_wait_count(&position->operations[id]) + (id > stream->first);
            if (!walk->open[id])
                walk->ready[walk->ready_count++] = id;
        }
    }
}

static bool waits_at(const struct program *program, uint32_t group, uint32_t missing, const struct position *position)
{
    uint32_t count = position->operation_count, done = 0;
    struct walk walk = {.program = program,
                        .position = position,
                        .group = group,
                        .missing = missing,
                        .waited = array_zeroed(count, sizeof *walk.waited),
                        .open = array_zeroed(count, sizeof *walk.open),
                        .ready = array_zeroed(count, sizeof *walk.ready)};
    begin(&walk);
    while (walk.ready_count && finish_operation(&walk, walk.ready[--walk.ready_count]))
        done++;
    free(walk.waited);
    free(walk.open);
    free(walk.ready);
    return done == count;
}

bool group_waits(const struct program *program, uint32_t group)
{
    const struct mesh *mesh = program->mesh;
    const struct group *described = &program->groups[group];
    uint32_t missing = 0;
    if (described->collective_count < 2)
        return true;
    for (unsigned i = 0; i < mesh->axis_count; i++)
        if (!mesh->axes[i].distinct && mesh->axes[i].size > 1 && !(described->axes >> i & 1))
            missing |= UINT32_C(1) << i;
    for (uint32_t i = 0; i < described->position_count; i++)
        if (waits_at(program, group, missing, &program->positions[described->positions[i]]))
            return true;
    return false;
}
