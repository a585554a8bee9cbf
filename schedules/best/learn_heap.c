/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of variables: the one that dead ends had to do with lately is first. */
#include "schedules/best/learn_parts.h"

static const double ACTIVITY_MAX = 1e100;

static bool is_first(const struct learn *learn, uint32_t a, uint32_t b)
{
    return learn->activity[a] > learn->activity[b] || (!(learn->activity[a] < learn->activity[b]) && a < b);
}

static void heap_up(struct learn *learn, uint32_t at)
{
    uint32_t variable = learn->heap[at];
    for (; at > 0 && is_first(learn, variable, learn->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        learn->heap[at] = learn->heap[(at - 1) / 2];
        learn->place[learn->heap[at]] = at + 1;
    }
    learn->heap[at] = variable;
    learn->place[variable] = at + 1;
}

static void heap_down(struct learn *learn, uint32_t at)
{
    uint32_t variable = learn->heap[at];
    for (uint32_t child = 2 * at + 1; child < learn->heap_count; child = 2 * at + 1) {
        child += child + 1 < learn->heap_count && is_first(learn, learn->heap[child + 1], learn->heap[child]);
        if (!is_first(learn, learn->heap[child], variable))
            break;
        learn->heap[at] = learn->heap[child];
        learn->place[learn->heap[at]] = at + 1;
        at = child;
    }
    learn->heap[at] = variable;
    learn->place[variable] = at + 1;
}

void learn_insert(struct learn *learn, uint32_t variable)
{
    if (learn->place[variable])
        return;
    learn->heap[learn->heap_count] = variable;
    heap_up(learn, learn->heap_count++);
}

uint32_t learn_take(struct learn *learn)
{
    uint32_t variable = learn->heap[0];
    learn->place[variable] = 0;
    if (--learn->heap_count > 0) {
        learn->heap[0] = learn->heap[learn->heap_count];
        heap_down(learn, 0);
    }
    return variable;
}

void learn_bump(struct learn *learn, uint32_t variable)
{
    learn->activity[variable] += learn->step;
    if (learn->activity[variable] > ACTIVITY_MAX) {
        for (uint32_t i = 0; i < learn->k->variables; i++)
            learn->activity[i] /= ACTIVITY_MAX;
        learn->step /= ACTIVITY_MAX;
    }
    if (learn->place[variable])
        heap_up(learn, learn->place[variable] - 1);
}
