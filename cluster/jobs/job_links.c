/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/job_links.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/stream_route.h"

#include <math.h>

struct visiting {
    const struct job_run *run;
    const struct program *program;
    struct platform *whole;
    uint32_t *members; /* of the group instance that is looked at */
    void (*visit)(void *user, const struct link_use *use);
    void *user;
};

static const struct position *position_of(const struct visiting *visiting, uint32_t rank)
{
    return &visiting->program->positions[visiting->program->mesh->position_of[rank]];
}

static void visit_messages(const struct visiting *visiting, uint32_t rank, const struct stream *stream)
{
    struct platform_route route;
    stream_route(visiting->program, visiting->whole, visiting->run->hosts, rank, stream, &route);
    struct link_use use = {&route, NULL};
    if (!visiting->run->timeline) {
        visiting->visit(visiting->user, &use);
        return;
    }
    const struct moment *moments = timeline_rank(visiting->run->timeline, rank);
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        use.moment = &moments[id];
        visiting->visit(visiting->user, &use);
    }
}

/* From the first data of a collective to its end at all members. */
static struct moment whole_moment(const struct visiting *visiting, uint32_t group, uint32_t number)
{
    struct moment whole = {.data_start = INFINITY, .end = 0};
    uint32_t count = group_size(visiting->program, &visiting->program->groups[group]);
    for (uint32_t i = 0; i < count; i++) {
        const struct position *position = position_of(visiting, visiting->members[i]);
        const struct stream *stream = &position->streams[position_group_stream(position, group)];
        const struct moment *moment =
            &timeline_rank(visiting->run->timeline, visiting->members[i])[stream->first + number];
        whole.data_start = fmin(whole.data_start, moment->data_start);
        whole.end = fmax(whole.end, moment->end);
    }
    return whole;
}

static void visit_flows(const struct visiting *visiting, const struct collective_flows *flows,
                        const struct moment *moment)
{
    const uint32_t *hosts = visiting->run->hosts;
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct platform_route route;
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        visiting->whole->route(visiting->whole, hosts[visiting->members[flow.from]], hosts[visiting->members[flow.to]],
                               &route);
        visiting->visit(visiting->user, &(struct link_use){&route, moment});
    }
}

static void visit_instance(const struct visiting *visiting, uint32_t group, uint32_t instance)
{
    const struct program *program = visiting->program;
    group_ranks(program, &program->groups[group], instance, visiting->members);
    const struct position *position = position_of(visiting, visiting->members[0]);
    const struct stream *stream = &position->streams[position_group_stream(position, group)];
    uint32_t kinds;
    const struct collective_flows *const *all = assignment_all_flows(program, group, &kinds);
    for (uint32_t i = 0; i < kinds && !visiting->run->timeline; i++)
        visit_flows(visiting, all[i], NULL);
    for (uint32_t number = 0; number < stream->count && visiting->run->timeline; number++) {
        struct moment whole = whole_moment(visiting, group, number);
        visit_flows(visiting, assignment_flows(program, group, &position->operations[stream->first + number]), &whole);
    }
}

void job_links_visit(const struct job_run *run, struct platform *whole,
                     void (*visit)(void *user, const struct link_use *use), void *user)
{
    struct arena *arena = arena_create();
    const struct program *program = run->job->program;
    struct visiting visiting = {run,   program, whole, arena_array(arena, program->mesh->ranks, sizeof(uint32_t)),
                                visit, user};
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++) {
        const struct position *position = position_of(&visiting, rank);
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                visit_messages(&visiting, rank, &position->streams[i]);
    }
    for (uint32_t group = 0; group < program->group_count; group++)
        for (uint32_t i = 0;
             program->groups[group].collective_count && i < group_instances(program, &program->groups[group]); i++)
            visit_instance(&visiting, group, i);
    arena_destroy(arena);
}
