/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/job_sets.h"

#include "base/arena.h"
#include "simulator/engines/refine.h"

#include <stdlib.h>
#include <string.h>

/* A job on a link. */
struct presence {
    uint32_t job, use, next; /* next: of the link, and 1; 0: none */
};

/* A link, as long as `epoch` is that of the search. */
struct link_state {
    uint64_t epoch, colour;
    uint32_t head, users;
    double most, load; /* of all its users */
};

struct job_sets {
    const struct platform *platform;
    struct link_state *links;
    uint64_t epoch;
    struct presence *presences;
    size_t presence_count, presence_capacity;
    struct set_job *const *jobs;
    double *shares; /* [count]: of a link, of those whom a job meets; 0 outside of meet */
    size_t share_capacity;
    uint32_t count;
    uint32_t next; /* job at which the search for the next set goes on */
    struct set_job **members;
    size_t member_capacity;
};

struct job_sets *job_sets_create(const struct platform *platform)
{
    struct job_sets *sets = array_zeroed(1, sizeof *sets);
    sets->platform = platform;
    sets->links = array_zeroed(platform->link_count + (size_t)1, sizeof *sets->links);
    return sets;
}

void job_sets_destroy(struct job_sets *sets)
{
    free(sets->links);
    free(sets->presences);
    free(sets->members);
    free(sets->shares);
    free(sets);
}

/* ---- who is where ---- */

/* What a job puts on a link in a second, alone. */
static double rate_of(const struct set_job *job, const struct traffic_use *use)
{
    return use->bytes / job->iteration;
}

static void enter(struct job_sets *sets, uint32_t number)
{
    const struct set_job *job = sets->jobs[number];
    for (uint32_t i = 0; i < job->footprint.use_count; i++) {
        const struct traffic_use *use = &job->footprint.uses[i];
        struct link_state *link = &sets->links[use->link];
        if (link->epoch != sets->epoch)
            *link = (struct link_state){.epoch = sets->epoch};
        sets->presences =
            array_grow(sets->presences, &sets->presence_capacity, sets->presence_count + 1, sizeof *sets->presences);
        sets->presences[sets->presence_count] = (struct presence){number, i, link->head};
        link->head = (uint32_t)++sets->presence_count;
        link->users++;
        link->most += use->most;
        link->load += rate_of(job, use);
    }
}

/* Several jobs use it, and it is too slow for all that they may send at once. */
static bool is_met_on(const struct job_sets *sets, uint32_t link)
{
    const struct link_state *state = &sets->links[link];
    return state->users > 1 && state->most > sets->platform->links[link].bandwidth * (1 + 1e-12);
}

static const struct traffic_use *use_of(const struct job_sets *sets, const struct presence *presence)
{
    return &sets->jobs[presence->job]->footprint.uses[presence->use];
}

static uint32_t first_of(const struct job_sets *sets, uint32_t job)
{
    while (sets->jobs[job]->first != job)
        job = sets->jobs[job]->first;
    return job;
}

static void join(const struct job_sets *sets, uint32_t a, uint32_t b)
{
    a = first_of(sets, a);
    b = first_of(sets, b);
    sets->jobs[a > b ? a : b]->first = a > b ? b : a;
}

/* What each of the others that are met on a link takes of it at most; on returning what that adds to their sum. */
static double add_shares(const struct job_sets *sets, uint32_t link, uint32_t number)
{
    double added = 0;
    for (uint32_t at = sets->links[link].head; at; at = sets->presences[at - 1].next) {
        const struct presence *presence = &sets->presences[at - 1];
        double share =
            rate_of(sets->jobs[presence->job], use_of(sets, presence)) / sets->platform->links[link].bandwidth;
        if (presence->job == number || share <= sets->shares[presence->job])
            continue;
        added += share - sets->shares[presence->job];
        sets->shares[presence->job] = share;
    }
    return added;
}

static void forget_shares(const struct job_sets *sets, uint32_t link)
{
    for (uint32_t at = sets->links[link].head; at; at = sets->presences[at - 1].next)
        sets->shares[sets->presences[at - 1].job] = 0;
}

/* Joins the job with those that it meets, and finds where it meets most. */
static void meet(const struct job_sets *sets, uint32_t number)
{
    struct set_job *job = sets->jobs[number];
    double most = 0;
    for (uint32_t i = 0; i < job->footprint.use_count; i++) {
        const struct traffic_use *use = &job->footprint.uses[i];
        const struct link_state *link = &sets->links[use->link];
        if (!is_met_on(sets, use->link))
            continue;
        join(sets, number, sets->presences[link->head - 1].job);
        double load = (link->load - rate_of(job, use)) / sets->platform->links[use->link].bandwidth;
        if (load > most || job->link == LINK_NONE) {
            most = load;
            job->link = use->link;
        }
        job->load += add_shares(sets, use->link, number);
    }
    for (uint32_t i = 0; i < job->footprint.use_count; i++)
        if (is_met_on(sets, job->footprint.uses[i].link))
            forget_shares(sets, job->footprint.uses[i].link);
}

/* ---- classes ---- */

/* What differs in rounding alone is equal. */
static uint64_t mix_number(uint64_t hash, double number)
{
    return refine_mix_number(hash, (float)number);
}

static uint64_t label_of(const struct traffic_use *use)
{
    return mix_number(mix_number(refine_mix(7, use->flows), use->bytes), use->most);
}

static void colour_links(const struct job_sets *sets, const struct set_job *job)
{
    for (uint32_t i = 0; i < job->footprint.use_count; i++) {
        uint32_t number = job->footprint.uses[i].link;
        struct link_state *link = &sets->links[number];
        if (!is_met_on(sets, number))
            continue;
        link->colour = mix_number(11, sets->platform->links[number].bandwidth);
        for (uint32_t at = link->head; at; at = sets->presences[at - 1].next) {
            const struct presence *presence = &sets->presences[at - 1];
            link->colour += refine_mix(label_of(use_of(sets, presence)), sets->jobs[presence->job]->colour);
        }
    }
}

/* Sums, so that no order counts. */
static uint64_t colour_of(const struct job_sets *sets, const struct set_job *job)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < job->footprint.use_count; i++)
        if (is_met_on(sets, job->footprint.uses[i].link))
            sum += refine_mix(label_of(&job->footprint.uses[i]), sets->links[job->footprint.uses[i].link].colour);
    return refine_mix(refine_mix(13, job->colour), sum);
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static uint32_t count_distinct(const uint64_t *colours, uint32_t count, uint64_t *sorted)
{
    uint32_t distinct = 1;
    memcpy(sorted, colours, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (uint32_t i = 1; i < count; i++)
        distinct += sorted[i] != sorted[i - 1];
    return distinct;
}

/* Colours tell of who is met, of whom these meet, and so on, until that tells no more jobs apart. */
uint64_t job_sets_class(const struct job_sets *sets, const struct job_set *set)
{
    uint32_t count = set->count, distinct = 0, before;
    uint64_t *next = array_zeroed(2 * (size_t)count, sizeof *next), class = count;
    for (uint32_t i = 0; i < count; i++)
        set->jobs[i]->colour =
            mix_number(refine_mix(refine_mix(3, set->jobs[i]->type), set->jobs[i]->count), set->jobs[i]->iteration);
    do {
        before = distinct;
        for (uint32_t i = 0; i < count; i++)
            colour_links(sets, set->jobs[i]);
        for (uint32_t i = 0; i < count; i++)
            next[i] = colour_of(sets, set->jobs[i]);
        for (uint32_t i = 0; i < count; i++)
            set->jobs[i]->colour = next[i];
        distinct = count_distinct(next, count, next + count);
    } while (distinct > before);
    for (uint32_t i = 0; i < count; i++)
        class += refine_mix(5, set->jobs[i]->colour);
    free(next);
    return class;
}

/* ---- sets ---- */

void job_sets_find(struct job_sets *sets, struct set_job *const *jobs, uint32_t count)
{
    sets->jobs = jobs;
    sets->count = count;
    sets->next = 0;
    sets->epoch++;
    sets->presence_count = 0;
    sets->shares = array_grow(sets->shares, &sets->share_capacity, count, sizeof *sets->shares);
    for (uint32_t i = 0; i < count; i++) {
        sets->shares[i] = 0;
        jobs[i]->first = i;
        jobs[i]->load = 0;
        jobs[i]->link = LINK_NONE;
        enter(sets, i);
    }
    for (uint32_t i = 0; i < count; i++)
        meet(sets, i);
    for (uint32_t i = 0; i < count; i++)
        jobs[i]->first = first_of(sets, i);
}

bool job_sets_next(struct job_sets *sets, struct job_set *set)
{
    for (; sets->next < sets->count; sets->next++) {
        uint32_t first = sets->next, count = 0;
        if (sets->jobs[first]->first != first || sets->jobs[first]->link == LINK_NONE)
            continue;
        for (uint32_t i = first; i < sets->count; i++) {
            if (sets->jobs[i]->first != first)
                continue;
            sets->members =
                array_grow(sets->members, &sets->member_capacity, count + (size_t)1, sizeof(struct set_job *));
            sets->members[count++] = sets->jobs[i];
        }
        *set = (struct job_set){sets->members, count};
        sets->next++;
        return true;
    }
    return false;
}

/* A job on a link, by what it puts there; equal ones by their numbers. */
struct loading {
    double rate, most;
    uint32_t job;
};

static int heaviest_first(const void *left, const void *right)
{
    const struct loading *a = left, *b = right;
    if (a->rate != b->rate)
        return a->rate > b->rate ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

void job_sets_part(const struct job_sets *sets, struct set_job *job, uint32_t most, struct job_set *part)
{
    const struct link_state *link = &sets->links[job->link];
    struct loading *users = array_zeroed(link->users, sizeof *users);
    double own = 0, carries = sets->platform->links[job->link].bandwidth * (1 + 1e-12);
    uint32_t count = 0;
    for (uint32_t at = link->head; at; at = sets->presences[at - 1].next) {
        const struct presence *presence = &sets->presences[at - 1];
        const struct traffic_use *use = use_of(sets, presence);
        if (sets->jobs[presence->job] == job)
            own = use->most;
        else
            users[count++] = (struct loading){rate_of(sets->jobs[presence->job], use), use->most, presence->job};
    }
    qsort(users, count, sizeof *users, heaviest_first);
    part->count = 0;
    part->jobs[part->count++] = job;
    for (uint32_t i = 0; i < count && (part->count < most || own <= carries); i++) {
        own += users[i].most;
        part->jobs[part->count++] = sets->jobs[users[i].job];
    }
    free(users);
}
