/* SPDX-License-Identifier: Apache-2.0 */
#include "base/numbers/cycle.h"

#include <math.h>

/* How many of the newest moments are tried as the end of a cycle. */
enum { ENDS_MAX = 64 };

struct search {
    const struct cycle_list *lists;
    size_t count;
    const struct cycle_list *pacer; /* the list whose beats are tried */
    double rounding, early;         /* early: moments are looked at so long before a task of the pacer begins */
};

/* One moment: before the task of the pacer begins. */
struct instant {
    double time;
    uint32_t task;
};

struct pair {
    struct instant first, second;
    uint32_t beats;
    double tolerance;
};

uint32_t cycle_begun(const struct cycle_list *list, double time)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->moments[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- two moments ---- */

/* Whether an event lies as long before the second moment as another does before the first, or both are still to come.
 */
static bool agrees(const struct pair *pair, double first, double second)
{
    if (first >= pair->first.time && second >= pair->second.time)
        return true;
    return fabs((second - pair->second.time) - (first - pair->first.time)) <= pair->tolerance;
}

/* When a task under way at the time began to matter; `time` for one that still waits. */
static double since(const struct cycle_list *list, uint32_t task, double time)
{
    double began = list->passive ? list->moments[task].data_start : list->moments[task].start;
    return fmin(began, time);
}

/* When the oldest task that is under way at the first moment began. */
static double oldest(const struct search *search, const struct pair *pair)
{
    double time = pair->first.time, least = time;
    for (size_t i = 0; i < search->count; i++) {
        const struct cycle_list *list = &search->lists[i];
        for (uint32_t task = cycle_begun(list, time); task-- > 0 && list->moments[task].end > time;)
            least = fmin(least, since(list, task, time));
    }
    return least;
}

/* A list of which no task belongs to a beat has not advanced, and nothing of it is under way. */
static bool rests(const struct cycle_list *list, const struct pair *pair)
{
    uint32_t begun = cycle_begun(list, pair->first.time);
    if (cycle_begun(list, pair->second.time) != begun || begun < list->from || begun > list->to)
        return false;
    if (!begun || list->moments[begun - 1].end <= pair->first.time)
        return true;
    return list->passive && list->moments[begun - 1].data_start >= pair->second.time;
}

static bool same_task(const struct cycle_list *list, const struct pair *pair, uint32_t task, uint32_t later)
{
    const struct moment *first = &list->moments[task], *second = &list->moments[later];
    return (list->passive || agrees(pair, first->start, second->start)) &&
           agrees(pair, first->data_start, second->data_start) && agrees(pair, first->end, second->end);
}

/* The list has advanced by whole beats, and its past since `back`, or during the last beat, is the same. */
static bool same_past(const struct cycle_list *list, const struct pair *pair, double back)
{
    if (!list->beat)
        return rests(list, pair);
    uint32_t begun = cycle_begun(list, pair->first.time), later = cycle_begun(list, pair->second.time);
    uint64_t advance = (uint64_t)pair->beats * list->beat;
    if (begun < list->from || begun < list->beat || later > list->to || later - begun != advance)
        return false;
    for (uint32_t task = begun; task-- > 0;) {
        if (begun - task > list->beat && list->moments[task].end <= back)
            break;
        if (!same_task(list, pair, task, task + (uint32_t)advance))
            return false;
    }
    return true;
}

static bool same_state(const struct search *search, const struct pair *pair)
{
    if (!same_past(search->pacer, pair, pair->first.time)) /* most differ at once */
        return false;
    double back = oldest(search, pair);
    for (size_t i = 0; i < search->count; i++)
        if (!same_past(&search->lists[i], pair, back))
            return false;
    return true;
}

/* ---- the search ---- */

static struct instant instant_at(const struct search *search, uint32_t task)
{
    return (struct instant){search->pacer->moments[task].start - search->early, task};
}

/* Whether all lists are where the order repeats. */
static bool is_within(const struct search *search, struct instant instant)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct cycle_list *list = &search->lists[i];
        uint32_t begun = list->beat ? cycle_begun(list, instant.time) : 0;
        if (list->beat && (begun < list->from || begun > list->to))
            return false;
    }
    return true;
}

/* The newest earlier moment in the state of `second`. */
static bool find_start(const struct search *search, struct instant second, struct cycle *cycle)
{
    uint32_t beat = search->pacer->beat;
    for (uint32_t task = second.task, beats = 1; task >= beat + search->pacer->from; beats++) {
        task -= beat;
        struct pair pair = {.first = instant_at(search, task), .second = second, .beats = beats};
        double length = second.time - pair.first.time;
        pair.tolerance = search->rounding * length + CLOCK_ROUNDING * second.time;
        if (length > 0 && same_state(search, &pair)) {
            *cycle = (struct cycle){pair.first.time, length, beats};
            return true;
        }
    }
    return false;
}

static const struct cycle_list *find_pacer(const struct cycle_list *lists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lists[i].beat && !lists[i].passive && lists[i].to > lists[i].from + lists[i].beat)
            return &lists[i];
    return NULL;
}

bool cycle_find(const struct cycle_list *lists, size_t count, double rounding, struct cycle *cycle)
{
    struct search search = {.lists = lists, .count = count, .rounding = rounding, .pacer = find_pacer(lists, count)};
    const struct cycle_list *pacer = search.pacer;
    if (!pacer)
        return false;
    uint32_t last = pacer->to - 1;
    double span = pacer->moments[last].start - pacer->moments[pacer->from].start;
    search.early =
        4 * (rounding * span * pacer->beat / (last - pacer->from) + CLOCK_ROUNDING * pacer->moments[last].end);
    for (uint32_t task = last, tried = 0; task >= pacer->from + pacer->beat && tried < ENDS_MAX; task -= pacer->beat) {
        struct instant second = instant_at(&search, task);
        if (!is_within(&search, second))
            continue;
        tried++;
        if (find_start(&search, second, cycle))
            return true;
    }
    return false;
}
