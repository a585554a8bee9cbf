/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a search: what bounds discard, the ranking, the Pareto front, and why candidates are left out. */
#include "base/arena.h"
#include "base/files/scratch.h"
#include "studies/search/search.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranking {
    struct search *search;
    double *least; /* [rank]: the least memory of this one and all that are faster */
    double last;   /* the time of the K-th best; INFINITY: there are fewer */
    const struct search_request *request;
};

/* Of a table that is gone through in order the system may take back what was seen: memory does not grow with it. */
static void release(const struct search *search, uint64_t seen)
{
    enum { RELEASE_EVERY = 4096 };
    if (seen % RELEASE_EVERY == RELEASE_EVERY - 1)
        scratch_release(search->table.results, search->table.count * sizeof *search->table.results);
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

double search_value(const struct search *search, const struct search_result *result, bool verified)
{
    bool simulated = verified && result->verified.iteration > 0;
    double seconds = simulated ? result->verified.iteration : result->iteration;
    double joules = simulated ? result->verified.energy : result->energy;
    const struct search_training *training = simulated ? &result->verified.training : &result->training;
    switch (search->objective) {
    case OBJECTIVE_ENERGY:
        return joules;
    case OBJECTIVE_ENERGY_DELAY:
        return joules * seconds;
    case OBJECTIVE_P50:
    case OBJECTIVE_P95:
    case OBJECTIVE_P99:
        return simulated ? result->verified.step : result->step;
    case OBJECTIVE_DAYS:
        return training->seconds > 0 ? training->seconds : INFINITY;
    case OBJECTIVE_PRICE:
        return training->price > 0 ? training->price : INFINITY;
    case OBJECTIVE_GOODPUT:
        return training->goodput > 0 ? 1 / training->goodput : INFINITY;
    default:
        return seconds;
    }
}

static int better_first(const void *left, const void *right, void *user)
{
    const struct search *search = user;
    const struct search_result *results = search->table.results;
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    int order = compare_numbers(search_value(search, &results[a], false), search_value(search, &results[b], false));
    order = order ? order : compare_numbers(results[a].peak_bytes, results[b].peak_bytes);
    return order ? order : (a > b) - (a < b);
}

static bool are_alike(const struct search *search, const struct search_result *a, const struct search_result *b)
{
    return a->iteration == b->iteration && a->peak_bytes == b->peak_bytes &&
           search_value(search, a, false) == search_value(search, b, false);
}

/* All that were timed and fit, in order; the time of the K-th best. */
static void sort_timed(struct ranking *ranking)
{
    struct search *search = ranking->search;
    struct search_result *results = search->table.results;
    uint32_t different = 0;
    for (uint64_t i = 0; i < search->table.count; i++) {
        if (results[i].status == SEARCH_FITS)
            search->ranked[search->ranked_count++] = i;
        release(search, i);
    }
    if (search->ranked_count)
        qsort_r(search->ranked, search->ranked_count, sizeof *search->ranked, better_first, search);
    ranking->last = INFINITY;
    for (uint64_t rank = 0; rank < search->ranked_count; rank++) {
        const struct search_result *result = &results[search->ranked[rank]];
        ranking->least[rank] = rank ? fmin(ranking->least[rank - 1], result->peak_bytes) : result->peak_bytes;
        different += rank == 0 || !are_alike(search, result, &results[search->ranked[rank - 1]]);
        if (different == search->kept && isinf(ranking->last))
            ranking->last = result->iteration;
    }
}

/* Whether a candidate that takes at least `bound` is slower than the K-th best and than one that needs no more. */
static bool is_excluded(const struct ranking *ranking, double bound, double bytes)
{
    const struct search *search = ranking->search;
    uint64_t low = 0, high = search->ranked_count; /* how many are faster than the bound */
    if (ranking->request->ceiling > 0 && bound > ranking->request->ceiling)
        return true;
    if (!(bound > ranking->last) || ranking->request->fastest)
        return bound > ranking->last;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (search->table.results[search->ranked[middle]].iteration < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ranking->least[low - 1] <= bytes;
}

/* Those that were timed without need come to the same as those that were not. */
static void pass_over(struct ranking *ranking)
{
    struct search *search = ranking->search;
    for (uint64_t i = 0; i < search->table.count; i++) {
        struct search_result *result = &search->table.results[i];
        result->bound = is_excluded(ranking, result->work, result->peak_bytes)    ? SEARCH_BY_WORK
                        : is_excluded(ranking, result->order, result->peak_bytes) ? SEARCH_BY_ORDER
                                                                                  : SEARCH_NO_BOUND;
        bool looked = result->status >= SEARCH_WAITS && result->work > 0;
        if (!looked || result->status == SEARCH_DOES_NOT_FIT)
            result->bound = SEARCH_NO_BOUND;
        release(search, i);
    }
    uint64_t kept = 0;
    for (uint64_t rank = 0; rank < search->ranked_count; rank++)
        if (!search->table.results[search->ranked[rank]].bound)
            search->ranked[kept++] = search->ranked[rank];
    search->ranked_count = kept;
    for (uint64_t i = 0; i < search->table.count; i++) {
        if (search->table.results[i].bound)
            search->table.results[i].status = SEARCH_PASSED;
        release(search, i);
    }
}

/* Whether one of those before it that it is like is the same job. */
static bool is_same_job(const struct search *search, uint64_t rank)
{
    const struct search_result *results = search->table.results, *own = &results[search->ranked[rank]];
    while (own->job && rank-- > 0 && are_alike(search, own, &results[search->ranked[rank]]))
        if (results[search->ranked[rank]].job == own->job)
            return true;
    return false;
}

static void mark_ranked(struct search *search, struct arena *arena)
{
    struct search_result *results = search->table.results;
    double least = INFINITY;
    search->best = arena_array(arena, (size_t)search->kept + 1, sizeof *search->best);
    for (uint64_t rank = 0; rank < search->ranked_count; rank++) {
        struct search_result *result = &results[search->ranked[rank]];
        search->same += is_same_job(search, rank);
        if (rank && are_alike(search, result, &results[search->ranked[rank - 1]]))
            continue;
        search->different++;
        if (search->best_count < search->kept)
            search->best[search->best_count++] = rank;
        result->pareto = result->peak_bytes < least;
        least = fmin(least, result->peak_bytes);
    }
}

/* ---- reasons ---- */

/* Whether two texts differ in whole numbers at most. */
static bool same_rule(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    while (*a && *b) {
        size_t left = strspn(a, digits), right = strspn(b, digits);
        if (!left != !right || (!left && *a != *b))
            return false;
        a += left ? left : 1;
        b += left ? right : 1;
    }
    return *a == *b;
}

static int more_first(const void *left, const void *right)
{
    const struct search_reason *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->text, b->text);
}

static void add_reason(struct search *search, size_t *capacity, const char *text, struct arena *arena)
{
    size_t i = 0;
    while (i < search->reason_count && !same_rule(search->reasons[i].text, text))
        i++;
    if (i == search->reason_count) {
        search->reasons = array_grow(search->reasons, capacity, i + 1, sizeof *search->reasons);
        search->reasons[search->reason_count++] = (struct search_reason){0, arena_copy(arena, text)};
    }
    search->reasons[i].count++;
}

static void count_all(struct search *search, struct arena *arena)
{
    size_t capacity = 0;
    char reason[SEARCH_REASON_MAX];
    for (uint64_t i = 0; i < search->table.count; i++) {
        const struct search_result *result = &search->table.results[i];
        search->untried += result->status == SEARCH_UNTRIED;
        search->waiting += result->status == SEARCH_WAITS;
        search->unfit += result->status == SEARCH_DOES_NOT_FIT;
        search->illegal += result->status == SEARCH_ILLEGAL;
        search->passed[result->bound] += result->status == SEARCH_PASSED;
        if (result->status == SEARCH_ILLEGAL) {
            search_table_get_reason(&search->table, result, reason);
            add_reason(search, &capacity, reason, arena);
        }
        release(search, i);
    }
    if (search->reason_count)
        qsort(search->reasons, search->reason_count, sizeof *search->reasons, more_first);
}

bool search_rank(struct search *search, const struct search_request *request, struct arena *arena, struct fault *fault)
{
    struct ranking ranking = {.search = search, .request = request};
    size_t bytes = search->table.count * sizeof *ranking.least;
    ranking.least = scratch_map(bytes, fault);
    search->ranked = ranking.least ? scratch_map(search->table.count * sizeof *search->ranked, fault) : NULL;
    if (search->ranked) {
        sort_timed(&ranking);
        if (!request->exhaustive)
            pass_over(&ranking);
        mark_ranked(search, arena);
        count_all(search, arena);
    }
    scratch_unmap(ranking.least, bytes);
    return search->ranked != NULL;
}
