/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/groups.h"

#include "base/arena.h"
#include "base/sum.h"
#include "training/outcome.h"

#include <stdlib.h>
#include <string.h>

/* A job in its group; `rank` orders groups. */
struct member {
    uint32_t job, rank;
    const char *user;
};

static uint32_t class_of(uint32_t nodes)
{
    uint32_t class = 0;
    while (class < 31 && nodes > UINT32_C(1) << class)
        class ++;
    return class;
}

static int by_rank(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int users = strcmp(a->user, b->user);
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return users ? users : a->job < b->job ? -1 : a->job > b->job;
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Seconds of its nodes that it had, and of these for steps that count, by job. */
struct use {
    double had, lost;
};

static struct use *uses_of(const struct queue_run *run)
{
    struct use *uses = array_zeroed((size_t)run->request->job_count + 1, sizeof *uses);
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        uses[span->job].had += span->count * (span->to - span->from);
        uses[span->job].lost += span->count * span->stalled;
    }
    for (uint32_t job = 0; job < run->request->job_count; job++)
        uses[job].lost += run->request->jobs[job].nodes * (run->records[job].saving + run->records[job].lost);
    return uses;
}

static struct queue_group group_of(const struct queue_run *run, const struct queue_figures *figures,
                                   const struct use *uses, const struct member *members, uint32_t count)
{
    struct queue_group group = {.jobs = count};
    struct sum wait = {0}, slowdown = {0}, plain = {0}, had = {0}, lost = {0}, joules = {0}, grams = {0}, cost = {0};
    double *waits = array_zeroed(count, sizeof *waits);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = members[i].job;
        waits[i] = figures->values[QUEUE_WAIT][job];
        sum_add(&wait, waits[i]);
        sum_add(&slowdown, figures->values[QUEUE_BOUNDED][job]);
        sum_add(&plain, figures->values[QUEUE_SLOWDOWN][job]);
        sum_add(&joules, run->records[job].joules);
        sum_add(&grams, run->records[job].grams);
        sum_add(&cost, figures->energy.priced ? figures->energy.costs[job] : 0);
        sum_add(&had, uses[job].had);
        sum_add(&lost, uses[job].lost);
        group.stops += run->records[job].stops;
    }
    qsort(waits, count, sizeof *waits, ascending);
    group.wait = sum_total(&wait) / count;
    group.wait_p50 = training_quantile(waits, count, 0.5);
    group.wait_p95 = training_quantile(waits, count, 0.95);
    group.slowdown = sum_total(&slowdown) / count;
    group.slowdown_plain = sum_total(&plain) / count;
    group.joules = sum_total(&joules);
    group.grams = sum_total(&grams);
    group.cost = sum_total(&cost);
    group.node_hours = sum_total(&had) / 3600;
    group.useful = sum_total(&had) > 0 ? 1 - sum_total(&lost) / sum_total(&had) : 1;
    free(waits);
    return group;
}

/* Sorts the members; those of one rank and user are a group, which is called after the user, or else the rank. */
static struct queue_groups collect(const struct queue_run *run, const struct queue_figures *figures,
                                   struct member *members, struct arena *arena)
{
    uint32_t jobs = run->request->job_count;
    struct queue_group *groups = arena_array(arena, (size_t)jobs + 1, sizeof *groups);
    struct use *uses = uses_of(run);
    size_t count = 0;
    qsort(members, jobs, sizeof *members, by_rank);
    for (uint32_t i = 0, past; i < jobs; i = past) {
        const struct member *first = &members[i];
        for (past = i; past < jobs && members[past].rank == first->rank && !strcmp(members[past].user, first->user);)
            past++;
        struct queue_group group = group_of(run, figures, uses, first, past - i);
        uint32_t most = UINT32_C(1) << first->rank;
        group.name = *first->user       ? first->user
                     : first->rank < 2  ? arena_print(arena, "%u node%s", most, most == 1 ? "" : "s")
                     : first->rank == 2 ? "3 or 4 nodes"
                                        : arena_print(arena, "%u to %u nodes", most / 2 + 1, most);
        groups[count++] = group;
    }
    free(uses);
    return (struct queue_groups){groups, count};
}

struct queue_groups queue_groups_by_size(const struct queue_run *run, const struct queue_figures *figures,
                                         struct arena *arena)
{
    struct member *members = array_zeroed((size_t)run->request->job_count + 1, sizeof *members);
    for (uint32_t job = 0; job < run->request->job_count; job++)
        members[job] = (struct member){job, class_of(run->request->jobs[job].nodes), ""};
    struct queue_groups groups = collect(run, figures, members, arena);
    free(members);
    return groups;
}

static int by_node_hours(const void *left, const void *right)
{
    const struct queue_group *a = left, *b = right;
    return a->node_hours > b->node_hours ? -1 : a->node_hours < b->node_hours ? 1 : strcmp(a->name, b->name);
}

struct queue_groups queue_groups_by_user(const struct queue_run *run, const struct queue_figures *figures,
                                         struct arena *arena)
{
    struct member *members = array_zeroed((size_t)run->request->job_count + 1, sizeof *members);
    bool known = false;
    for (uint32_t job = 0; job < run->request->job_count; job++) {
        const char *user = run->request->jobs[job].user;
        members[job] = (struct member){job, 0, user ? user : "nobody"};
        known |= user != NULL;
    }
    struct queue_groups groups = known ? collect(run, figures, members, arena) : (struct queue_groups){NULL, 0};
    free(members);
    if (groups.count)
        qsort(groups.groups, groups.count, sizeof *groups.groups, by_node_hours);
    return groups;
}
