/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/steps.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* What is in a step. */
struct content {
    uint32_t step, ranks, micro_batches;
};

static size_t index_of(const uint32_t *steps, size_t count, uint32_t step)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && steps[low] == step ? low : count;
}

static struct content *look(const struct recorded *recorded, const uint32_t *steps, size_t count)
{
    struct content *contents = array_zeroed(count, sizeof *contents);
    bool *seen = array_zeroed(count * recorded->rank_count, sizeof *seen);
    for (size_t i = 0; i < count; i++)
        contents[i].step = steps[i];
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        size_t step = recorded_works(operation) ? index_of(steps, count, operation->step) : count;
        if (step == count)
            continue;
        bool *own = &seen[step * recorded->rank_count + recorded_rank_of(recorded, operation)];
        contents[step].ranks += !*own;
        *own = true;
        if (operation->micro_batch != RECORDED_NONE && operation->micro_batch >= contents[step].micro_batches)
            contents[step].micro_batches = operation->micro_batch + 1;
    }
    free(seen);
    return contents;
}

static int by_micro_batches(const void *left, const void *right)
{
    const struct content *a = left, *b = right;
    if (a->micro_batches != b->micro_batches)
        return a->micro_batches < b->micro_batches ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static void note_ranks(struct recorded *recorded, const struct content *contents, size_t count)
{
    size_t missing = 0, first = 0;
    for (size_t i = count; i-- > 0;)
        if (contents[i].ranks < recorded->rank_count) {
            missing++;
            first = i;
        }
    if (missing)
        recorded_note(recorded,
                      "%zu of %zu steps are not in the traces of all ranks, the first is step %u, with %u of %zu: "
                      "figures are means over those that there are",
                      missing, count, contents[first].step, contents[first].ranks, recorded->rank_count);
}

static void note_micro_batches(struct recorded *recorded, struct content *contents, size_t count)
{
    size_t others = 0;
    if (!count)
        return;
    qsort(contents, count, sizeof *contents, by_micro_batches);
    const struct content *most = &contents[count / 2], *other = NULL;
    for (size_t i = 0; i < count; i++)
        if (contents[i].micro_batches != most->micro_batches) {
            others++;
            other = !other || contents[i].step < other->step ? &contents[i] : other;
        }
    if (other)
        recorded_note(recorded,
                      "steps differ: %zu of %zu have other than %u micro-batches, the first is step %u with %u; "
                      "figures are means over all",
                      others, count, most->micro_batches, other->step, other->micro_batches);
}

void steps_note(struct recorded *recorded, const uint32_t *steps, size_t count)
{
    struct content *contents = look(recorded, steps, count);
    note_ranks(recorded, contents, count);
    if (recorded->timeline)
        note_micro_batches(recorded, contents, count);
    free(contents);
}
