/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/fold.h"

#include "simulator/arena.h"
#include "simulator/collectives/collective.h"
#include "simulator/fold_links.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A send stream of a rank of slice 0. */
struct sender {
    uint32_t rank, position, stream, peer;
};

/* What the check of a timeline needs to know of the platform. */
struct fold_proof {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct folding *folding;
    struct arena *arena;
    bool contention;
    const struct mesh_axis *axis;
    unsigned axis_index;
    struct sender *senders;
    size_t sender_count, sender_capacity;
    uint32_t *image, *preimage, *touched; /* [link]: the map of links from slice 0 to the slice in hand, and back */
    uint32_t touched_count;
    struct fold_links links;
    struct fold_pairs coupling; /* (link, group): links that coupling groups use and that are not roomy */
    struct fold_pairs own;      /* (link, sender): the same of slice 0's senders */
    struct fold_pairs conflicts; /* (sender, group): their routes meet on such a link, in some slice */
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct fold_proof *proof, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(proof->folding->reason, sizeof proof->folding->reason, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_coupling(const struct fold_proof *proof, const struct group *group)
{
    return group->axes >> proof->axis_index & 1;
}

static void route_between(const struct fold_proof *proof, uint32_t from, uint32_t to, struct platform_route *route)
{
    proof->platform->route(proof->platform, proof->hosts[from], proof->hosts[to], route);
}

static bool is_slice_0(const struct fold_proof *proof, uint32_t rank)
{
    return rank / proof->axis->stride % proof->axis->size == 0;
}

/* ---- hosts ---- */

static bool check_hosts(struct fold_proof *proof)
{
    const struct mesh *mesh = proof->program->mesh;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        uint32_t equal = rank - rank / proof->axis->stride % proof->axis->size * proof->axis->stride;
        const struct platform_host *host = &proof->platform->hosts[proof->hosts[rank]], *first = &proof->platform->hosts[proof->hosts[equal]];
        if (host->speed < first->speed || host->speed > first->speed)
            return refuse(proof, "hosts %s and %s differ in speed", first->name, host->name);
        if (host->varies || first->varies)
            return refuse(proof, "the platform has profiles: speeds or bandwidths change over time");
    }
    return true;
}

/* ---- routes ---- */

static bool map_link(struct fold_proof *proof, uint32_t from, uint32_t to)
{
    if (proof->image[from] == to && proof->preimage[to] == from)
        return true;
    if (proof->image[from] != UINT32_MAX || proof->preimage[to] != UINT32_MAX)
        return false;
    const struct platform_link *a = &proof->platform->links[from], *b = &proof->platform->links[to];
    bool alike = a->bandwidth <= b->bandwidth && a->bandwidth >= b->bandwidth && a->latency <= b->latency && a->latency >= b->latency &&
                 a->sharing == b->sharing;
    proof->image[from] = to;
    proof->preimage[to] = from;
    proof->touched[proof->touched_count++] = from;
    return alike;
}

static void forget_map(struct fold_proof *proof)
{
    while (proof->touched_count) {
        uint32_t from = proof->touched[--proof->touched_count];
        proof->preimage[proof->image[from]] = UINT32_MAX;
        proof->image[from] = UINT32_MAX;
    }
}

/* Whether the route between two ranks of slice 0 looks the same in another slice. */
static bool check_route(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t slice)
{
    struct platform_route first, other;
    route_between(proof, from, to, &first);
    uint32_t *links = arena_array(proof->arena, first.link_count + 1, sizeof *links);
    memcpy(links, first.links, first.link_count * sizeof *links);
    uint32_t shift = slice * proof->axis->stride;
    route_between(proof, from + shift, to + shift, &other);
    bool alike = first.link_count == other.link_count && first.latency <= other.latency && first.latency >= other.latency;
    if (!proof->contention)
        alike = fabs(first.latency - other.latency) <= 1e-15 && first.bandwidth <= other.bandwidth && first.bandwidth >= other.bandwidth;
    for (uint32_t i = 0; alike && proof->contention && i < other.link_count; i++)
        alike = map_link(proof, links[i], other.links[i]);
    if (!alike)
        return refuse(proof, "the route from %s to %s is not like that from %s to %s", proof->platform->hosts[proof->hosts[from]].name,
                      proof->platform->hosts[proof->hosts[to]].name, proof->platform->hosts[proof->hosts[from + shift]].name,
                      proof->platform->hosts[proof->hosts[to + shift]].name);
    if (proof->contention)
        fold_links_add(&proof->links, &other, slice);
    return true;
}

static void add_senders(struct fold_proof *proof, uint32_t rank)
{
    const struct mesh *mesh = proof->program->mesh;
    uint32_t number = mesh->position_of[rank];
    const struct position *position = &proof->program->positions[number];
    for (uint32_t i = 0; i < position->stream_count; i++) {
        if (position->streams[i].type != OPERATION_SEND)
            continue;
        proof->senders = array_grow(proof->senders, &proof->sender_capacity, proof->sender_count + 1, sizeof *proof->senders);
        uint32_t peer = mesh_rank(mesh, position->streams[i].peer, mesh->replica_of[rank]);
        proof->senders[proof->sender_count++] = (struct sender){rank, number, i, peer};
    }
}

static enum stagesim_collective group_kind(const struct fold_proof *proof, const struct group *group)
{
    uint32_t index = (uint32_t)(group - proof->program->groups);
    const struct position *position = &proof->program->positions[group->positions[0]];
    return position->operations[position->streams[position_group_stream(position, index)].first].collective;
}

/* Calls `visit` with the ranks of every flow of an instance. */
static bool visit_flows(struct fold_proof *proof, const struct group *group, uint32_t instance,
                        bool (*visit)(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t argument), uint32_t argument)
{
    uint32_t size = group_size(proof->program, group), *ranks = calloc(size + (size_t)1, sizeof *ranks);
    bool ok = ranks != NULL;
    if (ok)
        group_ranks(proof->program, group, instance, ranks);
    enum stagesim_collective kind = group_kind(proof, group);
    for (uint32_t i = 0; ok && i < collective_flow_count(kind, size); i++) {
        struct collective_flow flow = collective_flow(kind, size, 1, i);
        ok = visit(proof, ranks[flow.from], ranks[flow.to], argument);
    }
    free(ranks);
    return ok;
}

static bool check_local_flow(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t slice)
{
    return !is_slice_0(proof, from) || check_route(proof, from, to, slice);
}

static bool add_coupling_flow(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t group)
{
    (void)group;
    struct platform_route route;
    route_between(proof, from, to, &route);
    fold_links_add(&proof->links, &route, SLICE_NONE);
    return true;
}

/* Every instance of a group that does not span the data axis lies in one slice. */
static bool check_groups(struct fold_proof *proof, uint32_t slice)
{
    for (uint32_t i = 0; i < proof->program->group_count; i++) {
        const struct group *group = &proof->program->groups[i];
        for (uint32_t instance = 0; group->collective_count && instance < group_instances(proof->program, group); instance++) {
            bool ok = true;
            if (!is_coupling(proof, group))
                ok = visit_flows(proof, group, instance, check_local_flow, slice);
            else if (slice == 0 && proof->contention)
                ok = visit_flows(proof, group, instance, add_coupling_flow, i);
            if (!ok)
                return false;
        }
    }
    return true;
}

static bool check_slices(struct fold_proof *proof)
{
    for (uint32_t slice = 0; slice < proof->axis->size; slice++) {
        bool ok = check_groups(proof, slice);
        for (size_t i = 0; ok && i < proof->sender_count; i++)
            ok = check_route(proof, proof->senders[i].rank, proof->senders[i].peer, slice);
        forget_map(proof);
        if (!ok)
            return false;
    }
    return true;
}

static bool check_common_links(struct fold_proof *proof)
{
    fold_links_finish(&proof->links);
    for (uint32_t link = 0; link < proof->platform->link_count; link++)
        if (proof->links.slice[link] == SLICE_MANY && !proof->links.roomy[link])
            return refuse(proof, "replicas share link %s, which is not fast enough for all of them at once", proof->platform->links[link].name);
    return true;
}

/* ---- where messages and coupling collectives can meet ---- */

static bool add_coupling_link(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t group)
{
    struct platform_route route;
    route_between(proof, from, to, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        if (!proof->links.roomy[route.links[i]])
            fold_pairs_add(&proof->coupling, route.links[i], group);
    return true;
}

static bool meets_coupling(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t slice)
{
    struct platform_route route;
    uint32_t shift = slice * proof->axis->stride;
    route_between(proof, from + shift, to + shift, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        size_t found = fold_pairs_find(&proof->coupling, route.links[i]);
        if (found < proof->coupling.count && proof->coupling.items[found].link == route.links[i])
            return true;
    }
    return false;
}

/* Local collectives have no ghosts: they must not meet coupling ones anywhere. */
static bool refuse_meeting(struct fold_proof *proof, uint32_t from, uint32_t to, uint32_t slice)
{
    if (is_slice_0(proof, from) && meets_coupling(proof, from, to, slice))
        return refuse(proof, "collectives within a replica and across replicas use the same links");
    return true;
}

static void find_conflicts(struct fold_proof *proof, uint32_t index)
{
    const struct sender *sender = &proof->senders[index];
    for (uint32_t slice = 0; slice < proof->axis->size; slice++) {
        struct platform_route route;
        uint32_t shift = slice * proof->axis->stride;
        route_between(proof, sender->rank + shift, sender->peer + shift, &route);
        for (uint32_t i = 0; i < route.link_count; i++) {
            uint32_t link = route.links[i];
            for (size_t k = fold_pairs_find(&proof->coupling, link); k < proof->coupling.count && proof->coupling.items[k].link == link; k++)
                fold_pairs_add(&proof->conflicts, index, proof->coupling.items[k].other);
            if (slice == 0 && !proof->links.roomy[link])
                fold_pairs_add(&proof->own, link, index);
        }
    }
}

static bool find_meetings(struct fold_proof *proof)
{
    const struct program *program = proof->program;
    for (uint32_t i = 0; i < program->group_count; i++)
        for (uint32_t k = 0; program->groups[i].collective_count && is_coupling(proof, &program->groups[i]) &&
                             k < group_instances(program, &program->groups[i]);
             k++)
            visit_flows(proof, &program->groups[i], k, add_coupling_link, i);
    fold_pairs_finish(&proof->coupling);
    for (uint32_t i = 0; i < program->group_count; i++)
        for (uint32_t slice = 0; program->groups[i].collective_count && !is_coupling(proof, &program->groups[i]) && slice < proof->axis->size;
             slice++)
            for (uint32_t k = 0; k < group_instances(program, &program->groups[i]); k++)
                if (!visit_flows(proof, &program->groups[i], k, refuse_meeting, slice))
                    return false;
    for (uint32_t index = 0; index < proof->sender_count; index++)
        find_conflicts(proof, index);
    fold_pairs_finish(&proof->conflicts);
    fold_pairs_finish(&proof->own);
    return true;
}

/* ---- the decision ---- */

static uint32_t *unmapped(struct arena *arena, uint32_t count)
{
    uint32_t *map = arena_array(arena, count + (size_t)1, sizeof *map);
    for (uint32_t i = 0; i < count; i++)
        map[i] = UINT32_MAX;
    return map;
}

static const struct mesh_axis *data_axis(const struct mesh *mesh, unsigned *index)
{
    for (*index = 0; *index < mesh->axis_count; ++*index)
        if (!strcmp(mesh->axes[*index].name, "data") && mesh->axes[*index].size > 1 && !mesh->axes[*index].distinct)
            return &mesh->axes[*index];
    return NULL;
}

static bool prove(struct fold_proof *proof)
{
    if (!proof->axis)
        return refuse(proof, "there is one data-parallel replica");
    if (!check_hosts(proof))
        return false;
    proof->image = unmapped(proof->arena, proof->platform->link_count);
    proof->preimage = unmapped(proof->arena, proof->platform->link_count);
    proof->touched = arena_array(proof->arena, proof->platform->link_count + (size_t)1, sizeof *proof->touched);
    for (uint32_t rank = 0; rank < proof->program->mesh->ranks; rank++)
        if (is_slice_0(proof, rank))
            add_senders(proof, rank);
    fold_links_init(&proof->links, proof->platform);
    bool ok = check_slices(proof) && (!proof->contention || (check_common_links(proof) && find_meetings(proof)));
    fold_links_destroy(&proof->links);
    return ok;
}

struct folding *folding_none(const char *reason, struct arena *arena)
{
    struct folding *folding = arena_alloc(arena, sizeof *folding);
    folding->slices = 1;
    snprintf(folding->reason, sizeof folding->reason, "%s", reason);
    return folding;
}

static void keep_pairs(struct fold_pairs *pairs, struct arena *arena)
{
    struct fold_pair *kept = arena_array(arena, pairs->count + 1, sizeof *kept);
    if (pairs->count)
        memcpy(kept, pairs->items, pairs->count * sizeof *kept);
    free(pairs->items);
    pairs->items = kept;
}

struct folding *folding_create(const struct program *program, struct platform *platform, const uint32_t *hosts, bool contention,
                               struct arena *arena)
{
    struct folding *folding = folding_none("", arena);
    struct fold_proof *proof = arena_alloc(arena, sizeof *proof);
    *proof = (struct fold_proof){.program = program,
                                 .platform = platform,
                                 .hosts = hosts,
                                 .folding = folding,
                                 .arena = arena,
                                 .contention = contention};
    proof->axis = data_axis(program->mesh, &proof->axis_index);
    if (prove(proof)) {
        folding->slices = proof->axis->size;
        folding->stride = proof->axis->stride;
        folding->ghosts = arena_array(arena, program->mesh->positions, sizeof *folding->ghosts);
        for (uint32_t position = 0; position < program->mesh->positions; position++)
            folding->ghosts[position] = arena_array(arena, program->positions[position].operation_count + (size_t)1, sizeof(bool));
        folding->proof = proof;
    }
    keep_pairs(&proof->coupling, arena);
    keep_pairs(&proof->own, arena);
    keep_pairs(&proof->conflicts, arena);
    struct sender *senders = arena_array(arena, proof->sender_count + 1, sizeof *senders);
    if (proof->sender_count)
        memcpy(senders, proof->senders, proof->sender_count * sizeof *senders);
    free(proof->senders);
    proof->senders = senders;
    return folding;
}

/* ---- the check of a timeline ---- */

static bool overlap(const struct moment *a, const struct moment *b)
{
    return a->data_start < b->end && b->data_start < a->end;
}

static bool mark(struct folding *folding, uint32_t position, uint32_t id)
{
    if (folding->ghosts[position][id])
        return false;
    folding->ghosts[position][id] = true;
    folding->ghost_count++;
    return true;
}

static const struct moment *sender_times(const struct fold_proof *proof, const struct timeline *timeline, const struct sender *sender,
                                         uint32_t *first, uint32_t *count)
{
    const struct stream *stream = &proof->program->positions[sender->position].streams[sender->stream];
    *first = stream->first;
    *count = stream->count;
    return timeline_rank(timeline, sender->rank);
}

/* Marks the sender's messages that move while the group's collectives do. Both are ordered in time, so one walk suffices. */
static bool mark_against_group(struct folding *folding, const struct timeline *timeline, const struct sender *sender, uint32_t group)
{
    const struct fold_proof *proof = folding->proof;
    uint32_t first, count, member = proof->program->groups[group].positions[0];
    const struct moment *messages = sender_times(proof, timeline, sender, &first, &count);
    const struct position *position = &proof->program->positions[member];
    const struct stream *stream = &position->streams[position_group_stream(position, group)];
    bool marked = false;
    for (uint32_t replica = 0; replica < proof->program->mesh->replicas; replica++) {
        uint32_t rank = mesh_rank(proof->program->mesh, member, replica), k = 0;
        if (!is_slice_0(proof, rank))
            continue;
        const struct moment *collectives = timeline_rank(timeline, rank);
        for (uint32_t i = 0; i < count; i++) {
            while (k < stream->count && collectives[stream->first + k].end <= messages[first + i].data_start)
                k++;
            if (k < stream->count && overlap(&messages[first + i], &collectives[stream->first + k]))
                marked |= mark(folding, sender->position, first + i);
        }
    }
    return marked;
}

/* Marks messages of one sender that share a link with marked messages of another. */
static bool mark_against_sender(struct folding *folding, const struct timeline *timeline, const struct sender *sender,
                                const struct sender *other)
{
    const struct fold_proof *proof = folding->proof;
    uint32_t first, count, other_first, other_count, k = 0;
    const struct moment *messages = sender_times(proof, timeline, sender, &first, &count);
    const struct moment *others = sender_times(proof, timeline, other, &other_first, &other_count);
    bool marked = false;
    for (uint32_t i = 0; i < count; i++) {
        while (k < other_count && others[other_first + k].end <= messages[first + i].data_start)
            k++;
        for (uint32_t next = k; next < other_count && overlap(&messages[first + i], &others[other_first + next]); next++)
            if (folding->ghosts[other->position][other_first + next])
                marked |= mark(folding, sender->position, first + i);
    }
    return marked;
}

static bool mark_neighbours(struct folding *folding, const struct timeline *timeline)
{
    const struct fold_pairs *own = &folding->proof->own;
    bool marked = false;
    for (size_t i = 0; i < own->count; i++)
        for (size_t k = fold_pairs_find(own, own->items[i].link); k < own->count && own->items[k].link == own->items[i].link; k++)
            if (k != i)
                marked |= mark_against_sender(folding, timeline, &folding->proof->senders[own->items[i].other],
                                              &folding->proof->senders[own->items[k].other]);
    return marked;
}

enum fold_verdict folding_verify(struct folding *folding, const struct timeline *timeline)
{
    const struct fold_proof *proof = folding->proof;
    if (timeline->ghosts_differ)
        return FOLD_REFUTED;
    bool marked = false;
    for (size_t i = 0; i < proof->conflicts.count; i++)
        marked |= mark_against_group(folding, timeline, &proof->senders[proof->conflicts.items[i].link], proof->conflicts.items[i].other);
    if (folding->ghost_count)
        while (mark_neighbours(folding, timeline))
            marked = true;
    return marked ? FOLD_AGAIN : FOLD_PROVEN;
}
