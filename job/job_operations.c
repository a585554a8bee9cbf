/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_parts.h"

#include "base/arena.h"
#include "simulator/collectives/communicator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool expect_position(struct stagesim_job *job, uint32_t position)
{
    return job_expect(job, position < job->scenario->mesh.positions, "there is no position %u, only %u of them",
                      position, job->scenario->mesh.positions) &&
           job_expect(
               job, !program_is_full(job->builder, position),
               "position %u has more than %d streams (peers, groups, lanes), or the program more than %.0f operations",
               position, PROGRAM_STREAMS_MAX - 1, PROGRAM_OPERATIONS_MAX);
}

static bool is_narrow(uint32_t number)
{
    return number == STAGESIM_NONE || number < UINT16_MAX;
}

/* Those of the scenario, or those that the plan spells out. */
static uint32_t count_iterations(const struct stagesim_job *job)
{
    uint32_t spelt = job->ordered ? job->plan->iterations : 1;
    return spelt > 1 ? spelt : job->scenario->iterations;
}

/* What an operation is made of. */
static bool expect_parts(struct stagesim_job *job, uint32_t position, const struct stagesim_identity *identity,
                         uint32_t cost)
{
    job->adds = true;
    return expect_position(job, position) &&
           job_expect(job, program_has_cost(job->builder, cost), "an operation names cost %u, which was not made",
                      cost) &&
           job_expect(job, (unsigned)identity->kind < STAGESIM_KINDS, "there is no kind %u",
                      (unsigned)identity->kind) &&
           job_expect(job,
                      is_narrow(identity->stage) && is_narrow(identity->layer) && is_narrow(identity->pipeline) &&
                          identity->part <= 2,
                      "stage %u, layer %u, pipeline %u or part %u is too large", identity->stage, identity->layer,
                      identity->pipeline, identity->part) &&
           job_expect(job, identity->iteration < count_iterations(job), "there is no iteration %u, only %u of them",
                      identity->iteration, count_iterations(job));
}

uint32_t job_add_cost(struct stagesim_job *job, const struct stagesim_cost *cost)
{
    return program_add_cost(job->builder, cost);
}

bool job_cut(struct stagesim_job *job, const char *axes, uint32_t inner)
{
    uint32_t selected, part;
    return job_expect(job, !job->groups, "axes can be cut only before there are groups") && inner > 0 &&
           mesh_select(&job->job->mesh, axes, &selected) && mesh_cut(&job->job->mesh, selected, inner, &part);
}

/* Axes of a list; none where it is wrong, which is reported. */
static uint32_t axes_by_name(struct stagesim_job *job, const char *names)
{
    uint32_t axes = 0;
    if (!job_expect(job, mesh_select(&job->job->mesh, names, &axes), "the axes '%.60s' are not cut there", names))
        return 0;
    return axes;
}

uint32_t job_add_varying_cost(struct stagesim_job *job, const struct stagesim_cost *cost, const char *axes,
                              const double *factors)
{
    uint32_t selected = axes_by_name(job, axes), count = mesh_product(&job->job->mesh, selected);
    for (uint32_t i = 0; i < count; i++)
        if (!job_expect(job, isfinite(factors[i]) && factors[i] >= 0, "a cost varies by a factor of %g", factors[i]))
            return STAGESIM_NONE;
    uint32_t variation = program_add_variation(job->builder, selected, factors),
             id = program_add_cost(job->builder, cost);
    program_vary_cost(job->builder, id, variation);
    return id;
}

static bool expect_pairs(struct stagesim_job *job, uint32_t group, const double *bytes, uint32_t members)
{
    for (size_t i = 0; i < (size_t)members * members; i++)
        if (!job_expect(job, isfinite(bytes[i]) && bytes[i] >= 0, "member %zu of group %u sends %g bytes to member %zu",
                        i / members, group, bytes[i], i % members))
            return false;
    uint32_t idle = members > 1 ? pair_bytes_find_idle(bytes, members) : members;
    return job_expect(job, idle == members, "member %u of group %u neither sends nor receives in an all-to-all", idle,
                      group);
}

uint32_t job_add_pairs_cost(struct stagesim_job *job, const struct stagesim_cost *cost, uint32_t group,
                            const double *bytes)
{
    if (!job_expect(job, program_has_group(job->builder, group), "a cost names group %u, which was not made", group))
        return STAGESIM_NONE;
    uint32_t members = program_group_ranks(job->builder, group);
    uint64_t total = program_pairs_total(job->builder) + (uint64_t)members * members;
    bool fine =
        job_expect(job, program_group_is_distinct(job->builder, group),
                   "members of group %u are replicas of one position, which cannot have bytes of their own", group) &&
        job_expect(job, members <= PAIRS_MEMBERS_MAX && total <= PAIRS_MAX,
                   "all-to-alls with bytes for each pair have more than %d members, or %d pairs altogether",
                   PAIRS_MEMBERS_MAX, PAIRS_MAX) &&
        expect_pairs(job, group, bytes, members);
    return fine ? program_add_pairs_cost(job->builder, cost, members, bytes) : STAGESIM_NONE;
}

/* The bytes of pairs are for one kind of collective and as many members. */
static bool fits_pairs(const struct stagesim_job *job, uint32_t group, enum stagesim_collective collective,
                       uint32_t cost)
{
    uint32_t members = program_pairs_members(job->builder, cost);
    return members == 0 || (collective == STAGESIM_ALL_TO_ALL && members == program_group_ranks(job->builder, group) &&
                            program_group_is_distinct(job->builder, group));
}

uint32_t job_add_group(struct stagesim_job *job, const char *axes, const uint32_t *positions, size_t count)
{
    job->groups++;
    if (!job_expect(job, count > 0, "a group has no positions"))
        return STAGESIM_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!expect_position(job, positions[i]) ||
            !job_expect(job, job->seen[positions[i]] != job->groups, "a group has position %u twice", positions[i]))
            return STAGESIM_NONE;
        job->seen[positions[i]] = job->groups;
    }
    return program_add_group(job->builder, axes_by_name(job, axes), positions, count);
}

/* Of one group along the axes. */
static void time_instance(struct stagesim_job *job, struct collective_time *asked, const struct program *program,
                          const struct group *group, uint32_t instance)
{
    uint32_t count = group_size(program, group), *hosts = arena_array(job->arena, count, sizeof *hosts);
    group_ranks(program, group, instance, hosts);
    for (uint32_t i = 0; i < count; i++)
        hosts[i] = job->job->hosts[hosts[i]];
    struct communicator *communicator = communicator_create(job->platform, hosts, count, job->arena);
    struct collective_choice choice = communicator_choose(
        communicator, asked->collective, job->scenario->collectives.algorithms[asked->collective], asked->bytes);
    enum collective_start start = choice.algorithm
                                      ? communicator_flows(communicator, asked->collective, choice.algorithm)->start
                                      : START_TOGETHER;
    asked->seconds = instance ? fmin(asked->seconds, choice.seconds) : choice.seconds;
    asked->together &= start == START_TOGETHER || start == START_RINGS;
}

static void time_collective(struct stagesim_job *job, struct collective_time *asked)
{
    const struct program program = {.mesh = &job->job->mesh};
    uint32_t position = asked->position;
    const struct group group = {.axes = asked->axes, .positions = &position, .position_count = 1};
    uint32_t instances = asked->least ? group_instances(&program, &group) : 1;
    for (uint32_t instance = 0; instance < instances; instance++)
        time_instance(job, asked, &program, &group, instance);
}

/* Workloads ask for the same one layer after layer. */
static struct collective_time know_collective(struct stagesim_job *job, const struct collective_time *asked)
{
    for (size_t i = 0; i < job->time_count; i++) {
        const struct collective_time *known = &job->times[i];
        if (known->position == asked->position && known->axes == asked->axes &&
            known->collective == asked->collective && known->bytes == asked->bytes && known->least == asked->least)
            return *known;
    }
    job->times = array_grow(job->times, &job->time_capacity, job->time_count + 1, sizeof *job->times);
    job->times[job->time_count] = *asked;
    time_collective(job, &job->times[job->time_count]);
    return job->times[job->time_count++];
}

struct collective_time job_collective_time(struct stagesim_job *job, uint32_t position, const char *axes,
                                           enum stagesim_collective collective, double bytes, bool least)
{
    struct collective_time asked = {position, 0, collective, bytes, 0, true, least};
    if (!expect_position(job, position) ||
        !job_expect(job, (unsigned)collective < STAGESIM_COLLECTIVES, "there is no collective %u",
                    (unsigned)collective) ||
        !job_expect(job, isfinite(bytes) && bytes >= 0, "a collective has %g bytes", bytes))
        return asked;
    asked.axes = axes_by_name(job, axes);
    return know_collective(job, &asked);
}

double job_collective_seconds(struct stagesim_job *job, uint32_t position, const char *axes,
                              enum stagesim_collective collective, double bytes)
{
    return job_collective_time(job, position, axes, collective, bytes, false).seconds;
}

uint32_t job_add_compute(struct stagesim_job *job, uint32_t position, struct stagesim_identity identity, uint32_t cost)
{
    return expect_parts(job, position, &identity, cost) ? program_add_compute(job->builder, position, identity, cost)
                                                        : STAGESIM_NONE;
}

uint32_t job_add_delay(struct stagesim_job *job, uint32_t position, uint32_t lane, struct stagesim_identity identity,
                       uint32_t cost)
{
    return expect_parts(job, position, &identity, cost)
               ? program_add_delay(job->builder, position, lane, identity, cost)
               : STAGESIM_NONE;
}

void job_add_message(struct stagesim_job *job, uint32_t from, uint32_t to, struct stagesim_identity identity,
                     uint32_t cost, uint32_t *send, uint32_t *receive)
{
    uint32_t none;
    send = send ? send : &none;
    receive = receive ? receive : &none;
    *send = *receive = STAGESIM_NONE;
    if (expect_parts(job, from, &identity, cost) && expect_position(job, to) &&
        job_expect(job, from != to || identity.kind == STAGESIM_OFFLOAD || identity.kind == STAGESIM_LOAD,
                   "position %u sends a message to itself", from))
        program_add_message(job->builder, from, to, identity, cost, send, receive);
}

uint32_t job_add_collective(struct stagesim_job *job, uint32_t position, uint32_t group,
                            enum stagesim_collective collective, struct stagesim_identity identity, uint32_t cost)
{
    bool fine = expect_parts(job, position, &identity, cost) &&
                job_expect(job, program_has_group(job->builder, group),
                           "a collective names group %u, which was not made", group) &&
                job_expect(job, (unsigned)collective < STAGESIM_COLLECTIVES, "there is no collective %u",
                           (unsigned)collective) &&
                job_expect(job, fits_pairs(job, group, collective, cost),
                           "cost %u holds the bytes of pairs of members, which a collective of group %u does not have",
                           cost, group);
    return fine ? program_add_collective(job->builder, position, group, collective, identity, cost) : STAGESIM_NONE;
}

void job_add_wait(struct stagesim_job *job, uint32_t position, uint32_t operation, uint32_t awaited)
{
    job->adds = true;
    if (expect_position(job, position) &&
        job_expect(job, program_may_wait(job->builder, position, operation, awaited),
                   "operation %u of position %u cannot wait for %u", operation, position, awaited))
        program_add_wait(job->builder, position, operation, awaited);
}

void job_add_static_memory(struct stagesim_job *job, uint32_t position, const struct stagesim_static_memory *memory)
{
    job->adds = true;
    if (expect_position(job, position))
        program_set_memory(job->builder, position, memory);
}
