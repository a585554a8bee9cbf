/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/checkpoint_program.h"

#include "base/arena.h"
#include "base/words/pattern.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names of the nodes in which the job has ranks, sorted. */
static const char **nodes_of(const struct platform *platform, const struct checkpoint_places *places,
                             struct arena *arena)
{
    const char **names = arena_array(arena, places->ranks, sizeof *names);
    for (uint32_t rank = 0; rank < places->ranks; rank++)
        names[rank] = platform->hosts[places->hosts[rank]].node;
    qsort(names, places->ranks, sizeof *names, by_name);
    return names;
}

static bool is_named(const char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(patterns[i], name))
            return true;
    return false;
}

static bool find_servers(const char *const *patterns, size_t count, const struct platform *platform,
                         struct checkpoint_places *places, struct arena *arena, struct fault *fault)
{
    const char **taken = nodes_of(platform, places, arena);
    bool *holds = arena_array(arena, platform->host_count, sizeof *holds);
    for (uint32_t rank = 0; rank < places->ranks; rank++)
        holds[places->hosts[rank]] = true;
    places->servers = arena_array(arena, platform->host_count, sizeof *places->servers);
    for (uint32_t host = 0; host < platform->host_count; host++) {
        const struct platform_host *given = &platform->hosts[host];
        if (count ? !is_named(patterns, count, given->name)
                  : bsearch(&given->node, taken, places->ranks, sizeof *taken, by_name) != NULL)
            continue;
        if (holds[host])
            return fault_set(fault, "the job has a rank on %s; expected hosts without ranks, behind which storage is",
                             given->name);
        places->servers[places->server_count++] = host;
    }
    if (!places->server_count && count)
        return fault_set(fault, "no host of the platform has such a name; expected names such as %s",
                         platform->hosts[platform->host_count - 1].name);
    return places->server_count ||
           fault_set(fault, "all nodes of the platform have ranks, so nothing is left for storage; expected a platform "
                            "with more nodes, or hosts in checkpoint.servers");
}

/* The rank at the same place in the next node, in the order in which nodes come first. */
static bool find_next(const struct platform *platform, struct checkpoint_places *places, struct arena *arena,
                      struct fault *fault)
{
    uint32_t *first = arena_array(arena, places->ranks, sizeof *first), nodes = 0;
    uint32_t *node_of = arena_array(arena, places->ranks, sizeof *node_of);
    places->next = arena_array(arena, places->ranks, sizeof *places->next);
    for (uint32_t rank = 0; rank < places->ranks; rank++) {
        const char *node = platform->hosts[places->hosts[rank]].node;
        uint32_t known = 0;
        while (known < nodes && strcmp(platform->hosts[places->hosts[first[known]]].node, node) != 0)
            known++;
        if (known == nodes)
            first[nodes++] = rank;
        node_of[rank] = known;
    }
    for (uint32_t rank = 0; rank < places->ranks; rank++) {
        uint32_t place = 0, next = (node_of[rank] + 1) % nodes, last = first[next];
        for (uint32_t other = first[node_of[rank]]; other < rank; other++)
            place += node_of[other] == node_of[rank];
        for (uint32_t other = first[next], count = 0; other < places->ranks && count <= place; other++)
            if (node_of[other] == next) {
                last = other;
                count++;
            }
        places->next[rank] = last;
    }
    return nodes > 1 || fault_set(fault, "way: memory copies a state to another node, and the job has one alone");
}

bool checkpoint_places_find(const char *const *patterns, size_t count, const struct platform *platform,
                            const struct job *job, bool copies, struct checkpoint_places *places, struct arena *arena,
                            struct fault *fault)
{
    *places = (struct checkpoint_places){.ranks = job->mesh.ranks, .hosts = job->hosts};
    return find_servers(patterns, count, platform, places, arena, fault) &&
           (!copies || find_next(platform, places, arena, fault));
}

/* ---- the program ---- */

static void add_message(struct program_builder *builder, const struct checkpoint_places *places,
                        enum checkpoint_direction direction, uint32_t rank, uint32_t cost)
{
    static const struct stagesim_identity plain = {
        STAGESIM_OTHER, STAGESIM_NONE, STAGESIM_NONE, 0, 0, STAGESIM_NONE, 0};
    uint32_t server = places->ranks + rank % (places->server_count ? places->server_count : 1), send, receive;
    uint32_t from = direction == CHECKPOINT_LOADS ? server : rank;
    uint32_t to = direction == CHECKPOINT_LOADS ? rank : direction == CHECKPOINT_WRITES ? server : places->next[rank];
    program_add_message(builder, from, to, plain, cost, &send, &receive);
}

struct checkpoint_program *checkpoint_program_create(const struct checkpoint_places *places,
                                                     enum checkpoint_direction direction, double bytes,
                                                     struct arena *arena)
{
    struct checkpoint_program *made = arena_alloc(arena, sizeof *made);
    struct mesh *mesh = arena_alloc(arena, sizeof *mesh);
    uint32_t count = places->ranks + places->server_count;
    *mesh = (struct mesh){.axis_count = 1, .axes = {{.name = "place", .size = count, .distinct = true}}};
    mesh_finish(mesh, arena);
    made->hosts = arena_array(arena, count, sizeof *made->hosts);
    memcpy(made->hosts, places->hosts, places->ranks * sizeof *made->hosts);
    memcpy(made->hosts + places->ranks, places->servers, places->server_count * sizeof *made->hosts);
    struct program_builder *builder = program_builder_create(mesh);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.bytes = bytes});
    for (uint32_t rank = 0; rank < places->ranks; rank++)
        add_message(builder, places, direction, rank, cost);
    made->program = program_finish(builder, arena);
    program_builder_destroy(builder);
    return made;
}
