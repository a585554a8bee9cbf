/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/traffic.h"

#include "base/arena.h"
#include "cluster/queue/key_table.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/fold_links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is sent ---- */

/* What is sent, each pair of hosts once. */
struct listing {
    const struct job_run *run;
    const struct program *program;
    struct traffic_transfer *items;
    size_t count, capacity;
    struct key_table number_of; /* of items, by pair */
};

static void add(struct listing *listing, uint32_t from, uint32_t to, double bytes)
{
    const uint32_t *hosts = listing->run->job->hosts;
    const struct platform_host *all = listing->run->part->hosts;
    if (!strcmp(all[hosts[from]].node, all[hosts[to]].node))
        return;
    uint64_t pair = (uint64_t)hosts[from] << 32 | hosts[to];
    size_t number = key_table_find(&listing->number_of, pair);
    if (number != KEY_UNKNOWN) {
        listing->items[number].bytes += bytes;
        return;
    }
    key_table_add(&listing->number_of, pair, listing->count);
    listing->items = array_grow(listing->items, &listing->capacity, listing->count + 1, sizeof *listing->items);
    listing->items[listing->count++] = (struct traffic_transfer){hosts[from], hosts[to], bytes};
}

static void add_messages(struct listing *listing, uint32_t rank)
{
    const struct mesh *mesh = listing->program->mesh;
    const struct position *position = &listing->program->positions[mesh->position_of[rank]];
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        double bytes = 0;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
            bytes += operation_cost(listing->program, &position->operations[id])->bytes;
        if (stream->type == OPERATION_SEND)
            add(listing, rank, mesh_rank(mesh, stream->peer, mesh->replica_of[rank]), bytes);
    }
}

static void add_instance(struct listing *listing, uint32_t group, const uint32_t *ranks)
{
    const struct program *program = listing->program;
    const struct position *position = &program->positions[program->mesh->position_of[ranks[0]]];
    const struct stream *stream = &position->streams[position_group_stream(position, group)];
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        const struct collective_flows *flows = assignment_flows(program, group, operation);
        for (size_t i = 0; flows && i < flows->count; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            add(listing, ranks[flow.from], ranks[flow.to], flow.share * operation_cost(program, operation)->bytes);
        }
    }
}

static void list_all(struct listing *listing)
{
    const struct program *program = listing->program;
    uint32_t *ranks = array_zeroed(program->mesh->ranks, sizeof *ranks);
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++)
        add_messages(listing, rank);
    for (uint32_t group = 0; group < program->group_count; group++)
        for (uint32_t i = 0;
             program->groups[group].collective_count && i < group_instances(program, &program->groups[group]); i++) {
            group_ranks(program, &program->groups[group], i, ranks);
            add_instance(listing, group, ranks);
        }
    free(ranks);
    key_table_finish(&listing->number_of);
}

bool traffic_create(struct throughput *throughput, uint32_t type, const uint32_t *hosts, uint32_t host_count,
                    double stretch, struct arena *arena, struct diag *diag, struct traffic *traffic)
{
    struct job_run run;
    *traffic = (struct traffic){
        .described = {.name = "job",
                      .scenario = throughput_scenario(throughput, type, host_count, stretch, arena, diag)}};
    struct arena *own = arena_create();
    bool done = traffic->described.scenario &&
                job_run_create(&traffic->described, throughput_nodes(throughput)->platform, hosts, 1, own, diag, &run);
    if (done) {
        struct listing listing = {.run = &run, .program = run.job->program};
        list_all(&listing);
        traffic->operations = (double)program_all_operations(run.job->program);
        traffic->count = listing.count;
        traffic->transfers = arena_array(arena, listing.count + 1, sizeof *traffic->transfers);
        if (listing.count)
            memcpy(traffic->transfers, listing.items, listing.count * sizeof *listing.items);
        free(listing.items);
    }
    arena_destroy(own);
    return done;
}

/* ---- where it goes ---- */

static int by_link(const void *left, const void *right)
{
    const struct traffic_use *a = left, *b = right;
    return (a->link > b->link) - (a->link < b->link);
}

/* Uses of a footprint, each link once. */
struct tracing {
    struct footprint *footprint;
    size_t capacity;
    struct key_table number_of; /* of uses, by link */
};

static void use_link(struct tracing *tracing, uint32_t link, double bytes)
{
    struct footprint *footprint = tracing->footprint;
    size_t number = key_table_find(&tracing->number_of, link);
    if (number == KEY_UNKNOWN) {
        number = footprint->use_count++;
        key_table_add(&tracing->number_of, link, number);
        footprint->uses =
            array_grow(footprint->uses, &tracing->capacity, footprint->use_count, sizeof *footprint->uses);
        footprint->uses[number] = (struct traffic_use){.link = link};
    }
    footprint->uses[number].bytes += bytes;
    footprint->uses[number].flows++;
}

void footprint_create(struct footprint *footprint, struct traffic *traffic, struct platform *platform,
                      const uint32_t *hosts, uint32_t host_count)
{
    struct fold_links links;
    struct tracing tracing = {.footprint = footprint};
    *footprint = (struct footprint){.traffic = traffic, .hosts = array_zeroed(host_count, sizeof *footprint->hosts)};
    memcpy(footprint->hosts, hosts, host_count * sizeof *hosts);
    fold_links_init(&links, platform);
    for (size_t i = 0; i < traffic->count; i++) {
        const struct traffic_transfer *transfer = &traffic->transfers[i];
        struct platform_route route;
        platform->route(platform, hosts[transfer->from], hosts[transfer->to], &route);
        fold_links_add(&links, &route, SLICE_NONE);
        for (uint32_t k = 0; k < route.link_count; k++)
            if (platform->links[route.links[k]].sharing == LINK_SHARED)
                use_link(&tracing, route.links[k], transfer->bytes);
    }
    key_table_finish(&tracing.number_of);
    if (footprint->use_count)
        qsort(footprint->uses, footprint->use_count, sizeof *footprint->uses, by_link);
    fold_links_sort(&links);
    for (uint32_t i = 0; i < footprint->use_count; i++) {
        struct traffic_use *use = &footprint->uses[i];
        use->most = fmin(fold_links_most(&links, use->link), platform->links[use->link].bandwidth);
    }
    fold_links_destroy(&links);
}

void footprint_finish(struct footprint *footprint)
{
    free(footprint->hosts);
    free(footprint->uses);
    *footprint = (struct footprint){0};
}
