/* SPDX-License-Identifier: Apache-2.0 */
/* What columns go through: replicas that are alike, the groups that couple them, positions with the routes of their
 * messages. */
#include "simulator/engines/analytic/columns_walk.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/class_store.h"
#include "simulator/program/stream_route.h"

/* ---- columns ---- */

static bool same_column(const struct columns *c, const uint32_t *first_of, uint32_t a, uint32_t b)
{
    const struct mesh *mesh = c->program->mesh;
    for (uint32_t position = 0; position < mesh->positions; position++)
        if (first_of[mesh_rank(mesh, position, a)] != first_of[mesh_rank(mesh, position, b)])
            return false;
    return true;
}

/* Where transfers take no time, replicas can differ in their computations only. */
static bool computes_alike(const struct columns *c)
{
    const struct mesh *mesh = c->program->mesh;
    const struct platform_host *hosts = c->job->platform->hosts;
    bool alike = c->job->transfers_free && !c->program->variation_count && !mesh->extra;
    for (uint32_t rank = 0; rank < mesh->ranks && alike; rank++)
        alike =
            hosts[c->job->hosts[rank]].speed == hosts[c->job->hosts[mesh_rank(mesh, mesh->position_of[rank], 0)]].speed;
    return alike;
}

/* Every replica is as the first. */
static struct classes one_column(const struct columns *c)
{
    const struct mesh *mesh = c->program->mesh;
    uint32_t *first_of = arena_array(c->arena, mesh->ranks, sizeof *first_of);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        first_of[rank] = mesh_rank(mesh, mesh->position_of[rank], 0);
    return (struct classes){first_of, mesh->positions};
}

/* Ranks that are alike: those of a timeline or a folding where they have been found. */
static struct classes classes_of(const struct columns *c)
{
    const struct engine_job *job = c->job;
    if (c->timeline)
        return (struct classes){c->timeline->index_of, c->timeline->rank_count};
    if (computes_alike(c))
        return one_column(c);
    if (job->folding && job->folding->equals)
        return (struct classes){job->folding->equals, job->folding->classes};
    if (c->program->mesh->replicas > 1)
        return class_store_find(job->classes, c->program, job->platform, job->hosts, c->arena);
    return (struct classes){NULL, c->program->mesh->ranks};
}

static bool find_columns(struct columns *c)
{
    const struct mesh *mesh = c->program->mesh;
    struct classes classes = classes_of(c);
    c->column_of = arena_array(c->arena, mesh->replicas, sizeof *c->column_of);
    for (uint32_t replica = 0; replica < mesh->replicas; replica++) {
        uint32_t column = 0;
        while (column < c->count &&
               (!classes.first_of || !same_column(c, classes.first_of, c->replicas[column], replica)))
            column++;
        if (column == COLUMNS_MAX)
            return false;
        if (column == c->count)
            c->replicas[c->count++] = replica;
        c->column_of[replica] = column;
        c->weights[column]++;
    }
    return (uint64_t)c->count * mesh->positions <= 2 * (uint64_t)classes.count;
}

/* ---- groups ---- */

static uint64_t columns_reached(const struct columns *c, const struct group *group, uint32_t replica, uint32_t *ranks)
{
    uint64_t reached = 0;
    group_ranks(c->program, group, group_instance_of(c->program, group, replica), ranks);
    for (uint32_t i = 0; i < group_size(c->program, group); i++)
        reached |= UINT64_C(1) << c->column_of[c->program->mesh->replica_of[ranks[i]]];
    return reached;
}

/* False where instances couple columns in a way that is not the same for all of them. */
static bool couple(const struct columns *c, const struct group *group, struct gathering *gathering, uint32_t *ranks)
{
    uint64_t reached[COLUMNS_MAX];
    for (uint32_t column = 0; column < c->count; column++) {
        reached[column] = columns_reached(c, group, c->replicas[column], ranks);
        uint32_t lowest = 0;
        while (!(reached[column] >> lowest & 1))
            lowest++;
        if (lowest > column || reached[lowest] != reached[column])
            return false;
        gathering->coupled[column] = lowest;
        gathering->couples |= reached[column] != UINT64_C(1) << column;
    }
    return true;
}

/* Members begin together, and there is a way from each to the next. */
static bool is_plain(const struct columns *c, uint32_t group, uint32_t *ranks)
{
    const struct group *description = &c->program->groups[group];
    struct platform *platform = c->job->platform;
    uint32_t count = 0, size = group_size(c->program, description);
    const struct collective_flows *const *sets = size > 1 ? assignment_all_flows(c->program, group, &count) : NULL;
    for (uint32_t i = 0; i < count && !c->job->transfers_free; i++)
        if (sets[i]->start != START_TOGETHER)
            return false;
    for (uint32_t column = 0; column < c->count && size > 1; column++) {
        group_ranks(c->program, description, group_instance_of(c->program, description, c->replicas[column]), ranks);
        for (uint32_t i = 0; i < size; i++) {
            struct platform_route route;
            platform->route(platform, c->job->hosts[ranks[i]], c->job->hosts[ranks[(i + 1) % size]], &route);
            if (route.link_count == 0 && route.latency <= 0)
                return false;
        }
    }
    return true;
}

static bool init_groups(struct columns *c)
{
    const struct program *program = c->program;
    uint32_t *ranks = arena_array(c->arena, program->mesh->ranks, sizeof *ranks);
    c->gatherings = arena_array(c->arena, program->group_count + (size_t)1, sizeof *c->gatherings);
    for (uint32_t group = 0; group < program->group_count; group++) {
        struct gathering *gathering = &c->gatherings[group];
        gathering->latest = arena_array(c->arena, c->count, sizeof *gathering->latest);
        if (program->groups[group].collective_count &&
            (!couple(c, &program->groups[group], gathering, ranks) || !is_plain(c, group, ranks)))
            return false;
    }
    return true;
}

/* ---- positions ---- */

static bool connect(struct columns *c, uint32_t position, const struct stream *stream, struct lane_cursor *cursor)
{
    struct platform *platform = c->job->platform;
    cursor->latency = arena_array(c->arena, 2 * (size_t)c->count, sizeof *cursor->latency);
    cursor->seconds_per_byte = &cursor->latency[c->count];
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t rank = mesh_rank(c->program->mesh, position, c->replicas[column]);
        struct platform_route route;
        stream_route(c->program, platform, c->job->hosts, rank, stream, &route);
        if (route.link_count == 0 && route.latency <= 0)
            return false;
        cursor->latency[column] = c->job->transfers_free ? 0 : route.latency;
        cursor->seconds_per_byte[column] = c->job->transfers_free ? 0 : 1 / route.bandwidth;
    }
    return true;
}

static void find_slowness(struct columns *c, uint32_t index, struct lane_position *lanes)
{
    const struct platform_host *hosts = c->job->platform->hosts;
    lanes->even = true;
    for (uint32_t column = 0; column < c->count; column++) {
        const struct platform_host *first = &hosts[c->job->hosts[mesh_rank(c->program->mesh, index, 0)]],
                                   *own =
                                       &hosts[c->job->hosts[mesh_rank(c->program->mesh, index, c->replicas[column])]];
        lanes->slowness[column] = platform_full_speed(first) / own->speed;
        lanes->even = lanes->even && lanes->slowness[column] == 1;
    }
}

/* Columns may share the entries of a position. */
static void find_entries(const struct columns *c, uint32_t index, struct lane_position *lanes)
{
    const struct timeline *timeline = c->timeline;
    lanes->moments = arena_array(c->arena, c->count, sizeof(struct moment *));
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t entry = timeline->index_of[mesh_rank(c->program->mesh, index, c->replicas[column])], lower = 0;
        while (lower < column && lanes->moments[lower] != timeline->moments[entry])
            lower++;
        if (lower < column)
            continue;
        lanes->moments[column] = timeline->moments[entry];
        lanes->entries++;
    }
}

static bool init_position(struct columns *c, uint32_t index)
{
    struct lane_position *lanes = &c->positions[index];
    const struct position *position = lanes->position;
    if (c->timeline)
        find_entries(c, index, lanes);
    lanes->cursors = arena_array(c->arena, position->stream_count, sizeof *lanes->cursors);
    lanes->slowness = arena_array(c->arena, 2 * (size_t)c->count, sizeof *lanes->slowness);
    lanes->busy = &lanes->slowness[c->count];
    find_slowness(c, index, lanes);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        lanes->cursors[i] = (struct lane_cursor){.next = stream->first,
                                                 .end = stream->first + stream->count,
                                                 .type = stream->type,
                                                 .peer = stream->peer,
                                                 .opposite = stream->opposite,
                                                 .free = c->zeros};
        if (stream->type == OPERATION_SEND && !connect(c, index, stream, &lanes->cursors[i]))
            return false;
    }
    return true;
}

static size_t count_all(struct columns *c)
{
    size_t streams = 0;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        c->positions[index].position = &c->program->positions[index];
        c->total += c->program->positions[index].operation_count;
        streams += c->program->positions[index].stream_count;
    }
    return streams;
}

/* Those that the lowest column has an entry of. */
static void count_instances(struct columns *c, uint32_t group)
{
    struct gathering *gathering = &c->gatherings[group];
    const struct lane_position *lanes = &c->positions[c->program->groups[group].positions[0]];
    for (uint32_t column = 0; column < c->count; column++)
        gathering->instances += gathering->coupled[column] == column && lanes->moments[column];
}

bool columns_init(struct columns *c)
{
    uint32_t positions = c->program->mesh->positions;
    if (!find_columns(c) || !init_groups(c))
        return false;
    c->positions = arena_array(c->arena, positions, sizeof *c->positions);
    c->stack = arena_array(c->arena, count_all(c), sizeof *c->stack);
    c->zeros = arena_array(c->arena, c->count, sizeof *c->zeros);
    for (uint32_t index = 0; index < positions; index++)
        if (!init_position(c, index))
            return false;
    for (uint32_t group = 0; group < c->program->group_count && c->timeline; group++)
        if (c->program->groups[group].collective_count)
            count_instances(c, group);
    return true;
}
