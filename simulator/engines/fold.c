/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/fold_proof.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/overlap.h"
#include "simulator/program/program.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* More classes than this are not worth the simulation of what they share. */
enum { CLASSES_MAX = 32 };

__attribute__((format(printf, 2, 3))) static bool refuse(struct fold_proof *proof, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(proof->folding->reason, sizeof proof->folding->reason, format, arguments);
    va_end(arguments);
    return false;
}

static void route_between(const struct fold_proof *proof, uint32_t from, uint32_t to, struct platform_route *route)
{
    proof->platform->route(proof->platform, proof->hosts[from], proof->hosts[to], route);
}

static bool is_slice_0(const struct fold_proof *proof, uint32_t rank)
{
    return fold_slice(proof, rank) == 0;
}

/* ---- hosts ---- */

static bool check_profiles(struct fold_proof *proof)
{
    for (uint32_t rank = 0; rank < proof->program->mesh->ranks; rank++)
        if (proof->platform->hosts[proof->hosts[rank]].varies)
            return refuse(proof, "the platform has profiles: speeds or bandwidths change over time");
    if (proof->platform->library.routing.policy == ROUTING_ECMP && proof->platform->library.routing.flows > 1)
        return refuse(proof, "transfers are cut into flows over several links");
    return true;
}

static bool same_hosts(const struct fold_proof *proof, uint32_t first, uint32_t slice)
{
    uint32_t stride = proof->axis->stride;
    for (uint32_t rank = 0; rank < proof->program->mesh->ranks; rank++) {
        if (!is_slice_0(proof, rank))
            continue;
        double a = proof->platform->hosts[proof->hosts[rank + first * stride]].speed;
        double b = proof->platform->hosts[proof->hosts[rank + slice * stride]].speed;
        if (a < b || a > b)
            return false;
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
    bool alike = a->bandwidth <= b->bandwidth && a->bandwidth >= b->bandwidth && a->sharing == b->sharing &&
                 a->latency <= b->latency && a->latency >= b->latency;
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

/* Two slices that are compared. */
struct comparison {
    uint32_t first, slice;
};

/* Whether the route between two ranks looks the same in two slices; given as ranks of slice 0. */
static bool same_route(struct fold_proof *proof, uint32_t from, uint32_t to, struct comparison compared)
{
    struct platform_route first, other;
    uint32_t links[64], shift = compared.first * proof->axis->stride,
                        other_shift = compared.slice * proof->axis->stride;
    route_between(proof, from + shift, to + shift, &first);
    if (first.link_count > sizeof links / sizeof *links)
        return false;
    memcpy(links, first.links, first.link_count * sizeof *links);
    route_between(proof, from + other_shift, to + other_shift, &other);
    bool alike = first.link_count == other.link_count;
    for (uint32_t i = 0; alike && i < other.link_count; i++)
        alike = map_link(proof, links[i], other.links[i]);
    return alike;
}

static void add_senders(struct fold_proof *proof, uint32_t rank)
{
    const struct mesh *mesh = proof->program->mesh;
    uint32_t number = mesh->position_of[rank];
    const struct position *position = &proof->program->positions[number];
    for (uint32_t i = 0; i < position->stream_count; i++) {
        if (position->streams[i].type != OPERATION_SEND)
            continue;
        proof->senders =
            array_grow(proof->senders, &proof->sender_capacity, proof->sender_count + 1, sizeof *proof->senders);
        uint32_t peer = mesh_rank(mesh, position->streams[i].peer, mesh->replica_of[rank]);
        proof->senders[proof->sender_count++] = (struct fold_sender){rank, number, i, peer};
    }
}

/* Calls `visit` with the ranks of every flow of an instance until it returns false. */
static bool visit_flows(struct fold_proof *proof, const struct group *group, uint32_t instance,
                        bool (*visit)(struct fold_proof *proof, uint32_t from, uint32_t to, void *user), void *user)
{
    uint32_t size = group_size(proof->program, group), *ranks = array_zeroed(size + (size_t)1, sizeof *ranks), count;
    const struct collective_flows *const *sets =
        assignment_all_flows(proof->program, (uint32_t)(group - proof->program->groups), &count);
    bool ok = ranks != NULL;
    if (ok)
        group_ranks(proof->program, group, instance, ranks);
    for (uint32_t set = 0; ok && set < count; set++)
        for (size_t i = 0; ok && i < sets[set]->count; i++) {
            struct collective_phase_flow flow = collective_flow_at(sets[set], i);
            ok = visit(proof, ranks[flow.from], ranks[flow.to], user);
        }
    free(ranks);
    return ok;
}

/* The same for every instance of every group that couples slices, or of every one that does not. */
static bool visit_groups(struct fold_proof *proof, bool coupling,
                         bool (*visit)(struct fold_proof *proof, uint32_t from, uint32_t to, void *user), void *user,
                         uint32_t *current)
{
    for (uint32_t i = 0; i < proof->program->group_count; i++) {
        const struct group *group = &proof->program->groups[i];
        *current = i;
        for (uint32_t k = 0; group->collective_count && fold_couples(proof, group) == coupling &&
                             k < group_instances(proof->program, group);
             k++)
            if (!visit_flows(proof, group, k, visit, user))
                return false;
    }
    return true;
}

/* ---- classes ---- */

/* Keeps the instances within slice 0 of groups that do not couple slices. */
static void add_locals(struct fold_proof *proof, uint32_t index)
{
    const struct group *group = &proof->program->groups[index];
    uint32_t size = group_size(proof->program, group), *ranks = NULL;
    for (uint32_t k = 0; k < group_instances(proof->program, group); k++) {
        ranks = ranks ? ranks : arena_array(proof->arena, size, sizeof *ranks);
        group_ranks(proof->program, group, k, ranks);
        if (!is_slice_0(proof, ranks[0]))
            continue;
        proof->locals =
            array_grow(proof->locals, &proof->local_capacity, proof->local_count + 1, sizeof *proof->locals);
        proof->locals[proof->local_count++] = (struct fold_local){index, size, ranks};
        ranks = NULL;
    }
}

/* What the collectives of an instance take of their ranks' compute. */
static double overlap_in(const struct fold_proof *proof, const struct fold_local *local, uint32_t slice)
{
    for (uint32_t i = 0; i < local->size; i++)
        proof->members[i] = local->ranks[i] + slice * proof->axis->stride;
    return overlap_share(proof->platform, proof->hosts, proof->members, local->size);
}

/* Whether a transfer leaves its node in both slices or in neither; given as ranks of slice 0. */
static bool same_scope(const struct fold_proof *proof, uint32_t from, uint32_t to, struct comparison compared)
{
    uint32_t first = compared.first * proof->axis->stride, other = compared.slice * proof->axis->stride;
    return platform_scope_of(proof->platform, proof->hosts[from + first], proof->hosts[to + first]) ==
           platform_scope_of(proof->platform, proof->hosts[from + other], proof->hosts[to + other]);
}

static bool same_local(struct fold_proof *proof, const struct fold_local *local, struct comparison compared)
{
    uint32_t count;
    const struct collective_flows *const *sets = assignment_all_flows(proof->program, local->group, &count);
    double share = overlap_in(proof, local, compared.first), other = overlap_in(proof, local, compared.slice);
    bool same = share <= other && share >= other,
         scoped = proof->platform->library.regimes[SCOPE_NETWORK].protocol_count > 0;
    for (uint32_t set = 0; set < count; set++)
        for (size_t i = 0; same && i < sets[set]->count; i++) {
            struct collective_phase_flow flow = collective_flow_at(sets[set], i);
            uint32_t from = local->ranks[flow.from], to = local->ranks[flow.to];
            same = same_route(proof, from, to, compared) && (!scoped || same_scope(proof, from, to, compared));
        }
    return same;
}

static bool same_slices(struct fold_proof *proof, uint32_t first, uint32_t slice)
{
    struct comparison compared = {first, slice};
    bool same = same_hosts(proof, first, slice);
    for (size_t i = 0; same && i < proof->local_count; i++)
        same = same_local(proof, &proof->locals[i], compared);
    for (size_t i = 0; same && i < proof->sender_count; i++)
        same = same_route(proof, proof->senders[i].rank, proof->senders[i].peer, compared);
    forget_map(proof);
    return same;
}

/* The first slice of the class that the slice belongs to; itself where it is like none. */
static uint32_t find_class(struct fold_proof *proof, uint32_t slice)
{
    const uint32_t *class_of = proof->folding->class_of;
    for (uint32_t first = 0; first < slice; first++)
        if (class_of[first] == first && same_slices(proof, first, slice))
            return first;
    return slice;
}

static bool classify(struct fold_proof *proof)
{
    struct folding *folding = proof->folding;
    uint32_t classes = 0;
    for (uint32_t slice = 0; slice < folding->slices; slice++) {
        folding->class_of[slice] = find_class(proof, slice);
        classes += folding->class_of[slice] == slice;
        if (classes > CLASSES_MAX || (slice > 0 && slice + 1 == folding->slices && classes == folding->slices))
            return refuse(proof, "the replicas are not alike: hosts or routes differ");
    }
    folding->classes = classes;
    return true;
}

/* ---- links ---- */

static bool add_local_flow(struct fold_proof *proof, uint32_t from, uint32_t to, void *user)
{
    (void)user;
    struct platform_route route;
    route_between(proof, from, to, &route);
    fold_links_add(&proof->links, &route, fold_slice(proof, from));
    return true;
}

static bool add_coupling_flow(struct fold_proof *proof, uint32_t from, uint32_t to, void *user)
{
    (void)user;
    struct platform_route route;
    route_between(proof, from, to, &route);
    fold_links_add(&proof->links, &route, SLICE_NONE);
    return true;
}

static bool check_common_links(struct fold_proof *proof)
{
    uint32_t group;
    visit_groups(proof, false, add_local_flow, NULL, &group);
    visit_groups(proof, true, add_coupling_flow, NULL, &group);
    for (uint32_t slice = 0; slice < proof->folding->slices; slice++)
        for (size_t i = 0; i < proof->sender_count; i++)
            add_local_flow(proof, proof->senders[i].rank + slice * proof->axis->stride,
                           proof->senders[i].peer + slice * proof->axis->stride, NULL);
    fold_links_finish(&proof->links);
    for (uint32_t link = 0; link < proof->platform->link_count; link++)
        if (proof->links.slice[link] == SLICE_MANY && !proof->links.roomy[link])
            return refuse(proof, "replicas share link %s, which is not fast enough for all of them at once",
                          proof->platform->links[link].name);
    return true;
}

/* ---- where messages and coupling collectives can meet ---- */

static bool add_coupling_link(struct fold_proof *proof, uint32_t from, uint32_t to, void *user)
{
    struct platform_route route;
    route_between(proof, from, to, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        if (!proof->links.roomy[route.links[i]])
            fold_pairs_add(&proof->coupling, route.links[i], *(uint32_t *)user);
    return true;
}

/* Local collectives have no ghosts: they must not meet coupling ones anywhere. */
static bool refuse_meeting(struct fold_proof *proof, uint32_t from, uint32_t to, void *user)
{
    (void)user;
    struct platform_route route;
    route_between(proof, from, to, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        size_t found = fold_pairs_find(&proof->coupling, route.links[i]);
        if (found < proof->coupling.count && proof->coupling.items[found].link == route.links[i])
            return refuse(proof, "collectives within a replica and across replicas use link %s",
                          proof->platform->links[route.links[i]].name);
    }
    return true;
}

static void find_conflicts(struct fold_proof *proof, uint32_t index, uint32_t slice)
{
    const struct fold_sender *sender = &proof->senders[index];
    struct platform_route route;
    uint32_t shift = slice * proof->axis->stride;
    route_between(proof, sender->rank + shift, sender->peer + shift, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        uint32_t link = route.links[i];
        for (size_t k = fold_pairs_find(&proof->coupling, link);
             k < proof->coupling.count && proof->coupling.items[k].link == link; k++)
            fold_pairs_add(&proof->conflicts, index, proof->coupling.items[k].other);
        if (!proof->links.roomy[link])
            fold_pairs_add(&proof->own, link, index);
    }
}

static void find_neighbours(struct fold_proof *proof)
{
    const struct fold_pairs *own = &proof->own;
    for (size_t i = 0; i < own->count; i++)
        for (size_t k = fold_pairs_find(own, own->items[i].link);
             k < own->count && own->items[k].link == own->items[i].link; k++)
            if (own->items[k].other != own->items[i].other)
                fold_pairs_add(&proof->neighbours, own->items[i].other, own->items[k].other);
    fold_pairs_finish(&proof->neighbours);
}

static bool find_meetings(struct fold_proof *proof)
{
    uint32_t group;
    visit_groups(proof, true, add_coupling_link, &group, &group);
    fold_pairs_finish(&proof->coupling);
    if (!visit_groups(proof, false, refuse_meeting, NULL, &group))
        return false;
    for (uint32_t slice = 0; slice < proof->folding->slices; slice++)
        for (uint32_t index = 0; index < proof->sender_count; index++)
            find_conflicts(proof, index, slice);
    fold_pairs_finish(&proof->conflicts);
    fold_pairs_finish(&proof->own);
    find_neighbours(proof);
    return true;
}

/* Whether slices that are alike are so in a collective across them. Members of broadcasts and reductions end at
 * different times; and whose flows begin when depends on with whom they are, which only those see whose computations
 * are slowed down meanwhile. Of an all-to-all with equals in other slices everybody has a partner that comes when it
 * comes. */
static bool same_across(const struct collective_flows *flows, bool overlaps)
{
    return !flows->ends_apart && (flows->start == START_TOGETHER || flows->all_to_all || !overlaps);
}

static bool check_coupling(struct fold_proof *proof)
{
    const struct program *program = proof->program;
    const struct platform_library *library = &proof->platform->library;
    bool overlaps = library->overlap_node > 0 || library->overlap_network > 0;
    for (uint32_t i = 0; i < program->group_count; i++) {
        uint32_t count = 0;
        const struct collective_flows *const *sets = NULL;
        if (program->groups[i].collective_count && fold_couples(proof, &program->groups[i]))
            sets = assignment_all_flows(program, i, &count);
        for (uint32_t set = 0; set < count; set++)
            if (!same_across(sets[set], overlaps))
                return refuse(
                    proof, "replicas take part in a collective that begins or ends at different times for its members");
    }
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

/* Whether computations take longer at some coordinates of the axis than at others. */
static bool varies_along(const struct program *program, unsigned axis)
{
    for (uint32_t i = 0; i < program->variation_count; i++)
        if (program->variations[i].axes >> axis & 1)
            return true;
    return false;
}

/* The longest axis of the name `data`, which may have been cut, along which replicas are alike. */
static const struct mesh_axis *data_axis(const struct program *program, unsigned *index)
{
    const struct mesh *mesh = program->mesh;
    const struct mesh_axis *longest = NULL;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        const struct mesh_axis *axis = &mesh->axes[i];
        if (!strcmp(axis->name, "data") && axis->size > (longest ? longest->size : 1) && !axis->distinct &&
            !varies_along(program, i)) {
            longest = axis;
            *index = i;
        }
    }
    return longest;
}

static void proof_init(struct fold_proof *proof)
{
    struct folding *folding = proof->folding;
    folding->slices = proof->axis->size;
    folding->stride = proof->axis->stride;
    folding->class_of = arena_array(proof->arena, folding->slices, sizeof *folding->class_of);
    proof->image = unmapped(proof->arena, proof->platform->link_count);
    proof->preimage = unmapped(proof->arena, proof->platform->link_count);
    proof->members = arena_array(proof->arena, proof->program->mesh->ranks, sizeof *proof->members);
    proof->touched = arena_array(proof->arena, proof->platform->link_count + (size_t)1, sizeof *proof->touched);
    for (uint32_t rank = 0; rank < proof->program->mesh->ranks; rank++)
        if (is_slice_0(proof, rank))
            add_senders(proof, rank);
    for (uint32_t i = 0; i < proof->program->group_count; i++)
        if (proof->program->groups[i].collective_count && !fold_couples(proof, &proof->program->groups[i]))
            add_locals(proof, i);
}

static bool prove(struct fold_proof *proof)
{
    if (!proof->axis)
        return refuse(proof, "%s",
                      proof->program->mesh->replicas == 1 && proof->program->mesh->positions > proof->program->workers
                          ? "no rank is a replica of another one"
                          : "there is one data-parallel replica");
    proof_init(proof);
    if (!check_profiles(proof) || !check_coupling(proof) || !classify(proof))
        return false;
    fold_links_init(&proof->links, proof->platform);
    bool ok = check_common_links(proof) && find_meetings(proof);
    fold_links_destroy(&proof->links);
    return ok;
}

struct folding *folding_none(const char *reason, struct arena *arena)
{
    struct folding *folding = arena_alloc(arena, sizeof *folding);
    snprintf(folding->reason, sizeof folding->reason, "%s", reason);
    return folding;
}

static void ghosts_init(struct folding *folding, const struct program *program, struct arena *arena)
{
    folding->ghosts = arena_array(arena, program->mesh->positions, sizeof *folding->ghosts);
    for (uint32_t position = 0; position < program->mesh->positions; position++) {
        uint32_t count = program->positions[position].operation_count;
        folding->ghosts[position] = arena_array(arena, count + (size_t)1, sizeof(uint32_t));
        for (uint32_t id = 0; id < count; id++)
            folding->ghosts[position][id] = GHOST_NONE;
    }
}

struct folding *folding_create(const struct program *program, struct platform *platform, const uint32_t *hosts,
                               struct arena *arena)
{
    struct folding *folding = folding_none("", arena);
    struct fold_proof *proof = arena_alloc(arena, sizeof *proof);
    *proof = (struct fold_proof){
        .program = program, .platform = platform, .hosts = hosts, .folding = folding, .arena = arena};
    folding->proof = proof;
    proof->axis = data_axis(program, &proof->axis_index);
    if (!prove(proof))
        folding->classes = 0;
    else
        ghosts_init(folding, program, arena);
    return folding;
}
