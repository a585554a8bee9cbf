/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/components.h"

#include "base/arena.h"
#include "cluster/jobs/job_links.h"
#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which links ---- */

struct marking {
    const struct platform *whole;
    uint64_t *set;
};

static void mark(void *user, const struct link_use *use)
{
    const struct marking *marking = user;
    for (uint32_t i = 0; i < use->route->link_count; i++) {
        uint32_t link = use->route->links[i];
        if (link_is_shared(&marking->whole->links[link]))
            marking->set[link / 64] |= (uint64_t)1 << link % 64;
    }
}

struct job_link_sets job_link_sets_create(const struct job_run *runs, uint32_t count, struct platform *whole,
                                          struct arena *arena)
{
    struct job_link_sets sets = {arena_array(arena, count + (size_t)1, sizeof *sets.sets), whole->link_count / 64 + 1};
    for (uint32_t i = 0; i < count; i++) {
        struct job_run run = runs[i];
        sets.sets[i] = arena_array(arena, sets.words, sizeof **sets.sets);
        run.timeline = NULL;
        job_links_visit(&run, whole, mark, &(struct marking){whole, sets.sets[i]});
    }
    return sets;
}

bool job_links_meet(const struct job_link_sets *sets, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < sets->words; i++)
        if (sets->sets[a][i] & sets->sets[b][i])
            return true;
    return false;
}

uint32_t *components_find(const struct job_link_sets *sets, uint32_t count, struct arena *arena)
{
    uint32_t *first = arena_array(arena, count + (size_t)1, sizeof *first);
    for (uint32_t job = 0; job < count; job++) {
        first[job] = job;
        for (uint32_t other = 0; other < job; other++) {
            if (first[other] == first[job] || !job_links_meet(sets, job, other))
                continue;
            uint32_t low = first[other] < first[job] ? first[other] : first[job];
            uint32_t high = first[other] < first[job] ? first[job] : first[other];
            for (uint32_t i = 0; i <= job; i++)
                first[i] = first[i] == high ? low : first[i];
        }
    }
    return first;
}

/* ---- what is alike ---- */

struct recording {
    struct likeness *likeness;
    const struct platform *whole;
    uint32_t *numbers; /* [link]: by first use, from 1; 0: not used yet */
    uint32_t links;
};

static void record(struct likeness *likeness, double value)
{
    likeness->values = array_grow(likeness->values, &likeness->capacity, likeness->count + 1, sizeof *likeness->values);
    likeness->values[likeness->count++] = value;
}

static void record_use(void *user, const struct link_use *use)
{
    struct recording *recording = user;
    record(recording->likeness, use->route->link_count);
    record(recording->likeness, use->route->latency);
    record(recording->likeness, use->route->bandwidth);
    for (uint32_t i = 0; i < use->route->link_count; i++) {
        uint32_t link = use->route->links[i];
        bool known = recording->numbers[link];
        if (!known)
            recording->numbers[link] = ++recording->links;
        record(recording->likeness, recording->numbers[link]);
        if (known)
            continue;
        const struct platform_link *described = &recording->whole->links[link];
        record(recording->likeness, described->bandwidth);
        record(recording->likeness, described->latency);
        record(recording->likeness, described->sharing);
        record(recording->likeness, described->parts);
    }
}

/* 52 bits of a text (FNV-1a). */
static double number_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (double)(hash >> 12);
}

/* How collectives are carried out follows from routes, used or not: what came of it. */
static void record_choices(struct likeness *likeness, const struct program *program)
{
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        for (uint32_t id = 0; id < program->positions[position].operation_count; id++) {
            const struct operation *operation = &program->positions[position].operations[id];
            if (operation->type != OPERATION_COLLECTIVE)
                continue;
            struct collective_choice choice =
                assignment_choose(program, program->positions[position].streams[operation->stream].peer, operation);
            record(likeness, choice.delay);
            for (int scope = 0; scope < SCOPES; scope++) {
                record(likeness, choice.ratios.latency[scope]);
                record(likeness, choice.ratios.efficiency[scope]);
            }
        }
}

/* Hosts that are alike in all that programs are built from; nodes and models by the order in which they first come. */
static void record_hosts(struct likeness *likeness, const struct job_run *run)
{
    const struct platform *part = run->part;
    for (uint32_t i = 0; i < part->host_count; i++) {
        const struct platform_host *host = &part->hosts[i];
        uint32_t node = i, nic = i, model = i;
        for (uint32_t k = i; k-- > 0;) {
            node = strcmp(part->hosts[k].node, host->node) ? node : k;
            nic = part->hosts[k].nic && host->nic && !strcmp(part->hosts[k].nic, host->nic) ? k : nic;
            model = part->hosts[k].model && host->model && !strcmp(part->hosts[k].model, host->model) ? k : model;
        }
        const double values[] = {node,
                                 nic,
                                 model,
                                 number_of(host->nic),
                                 number_of(host->model),
                                 host->speed,
                                 platform_full_speed(host),
                                 host->memory,
                                 host->memory_bandwidth,
                                 host->state};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            record(likeness, values[k]);
        for (int k = 0; k < PRECISIONS; k++)
            record(likeness, host->peak[k]);
    }
    for (uint32_t rank = 0; rank < part->host_count; rank++)
        record(likeness, run->job->hosts[rank]);
}

struct likeness likeness_of(const struct job_run *const *runs, uint32_t count, struct platform *whole)
{
    struct likeness likeness = {NULL, 0, 0};
    struct recording recording = {&likeness, whole, array_zeroed(whole->link_count + (size_t)1, sizeof(uint32_t)), 0};
    double earliest = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        earliest = fmin(earliest, runs[i]->start);
    for (uint32_t i = 0; i < count; i++) {
        struct job_run run = *runs[i];
        run.timeline = NULL;
        record(&likeness, run.described->alike);
        record(&likeness, run.described->iterations);
        record(&likeness, run.start - earliest);
        record_hosts(&likeness, &run);
        record_choices(&likeness, run.job->program);
        job_links_visit(&run, whole, record_use, &recording);
    }
    free(recording.numbers);
    return likeness;
}

bool likeness_equal(const struct likeness *a, const struct likeness *b)
{
    return a->count == b->count && (!a->count || !memcmp(a->values, b->values, a->count * sizeof *a->values));
}
