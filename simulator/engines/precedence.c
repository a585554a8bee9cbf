/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/precedence.h"

#include "base/arena.h"
#include "simulator/engines/class_graph.h"
#include "simulator/engines/leads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights of two turns that follow each other differ by STEP; all together by no more than SPREAD. Both are chosen: far
 * above roundings, far below what rates of links are known to. Times depend on them as measured on SimGrid, on 4 nodes
 * of five presets with over-subscription (Llama 3 8B, 20 jobs in the layouts of precedence.py): with a step 3, 10, 100
 * times smaller they change by up to 0.13, 0.24, 0.45 %, with one 3, 10, 100 times larger by up to 0.22, 0.74, 2.4 %.
 * Where 128 and 256 turns share a link a spread 10 times smaller or larger changes them by up to 0.08 %. */
static const double STEP = 1e-4, SPREAD = 0.01;

/* Who uses a link: a list for each. */
struct user {
    uint32_t turn, next; /* next: place in the list and 1, 0: none */
};

struct users {
    uint32_t *first, *newest; /* [link]: of the list, as `next`; the owner that was seen there last, and 1 */
    struct user *items;
    size_t count, capacity;
    uint32_t *taken; /* [turn]: by somebody beside the owner of that number, and 1 */
};

static void take_turns(const struct class_graph *graph, struct users *users, const struct graph_owner *own,
                       uint32_t owner)
{
    for (size_t i = own->first_flow; i < own->first_flow + own->flow_count; i++)
        for (uint32_t k = 0; k < graph->flows[i].link_count; k++) {
            uint32_t link = graph->links[graph->flows[i].first_link + k];
            if (users->newest[link] == owner + 1)
                continue;
            users->newest[link] = owner + 1;
            for (uint32_t place = users->first[link]; place; place = users->items[place - 1].next)
                users->taken[users->items[place - 1].turn] = owner + 1;
        }
}

static void enter(const struct class_graph *graph, struct users *users, const struct graph_owner *own, uint32_t owner)
{
    for (size_t i = own->first_flow; i < own->first_flow + own->flow_count; i++)
        for (uint32_t k = 0; k < graph->flows[i].link_count; k++) {
            uint32_t link = graph->links[graph->flows[i].first_link + k];
            if (users->newest[link] != owner + 1)
                continue;
            users->newest[link] = 0;
            users->items = array_grow(users->items, &users->capacity, users->count + 1, sizeof *users->items);
            users->items[users->count++] = (struct user){own->turn, users->first[link]};
            users->first[link] = (uint32_t)users->count;
        }
}

/* Owners first .. end - 1 are alike. */
static void find_turns(const struct class_graph *graph, struct users *users, struct graph_owner *owners, size_t first,
                       size_t end)
{
    uint32_t turns = 1;
    memset(users->first, 0, graph->platform->link_count * sizeof *users->first);
    users->count = 0;
    for (size_t owner = first; owner < end; owner++) {
        uint32_t turn = 0;
        take_turns(graph, users, &owners[owner], (uint32_t)owner);
        while (users->taken[turn] == owner + 1)
            turn++;
        owners[owner].turn = turn;
        turns = turn + 1 > turns ? turn + 1 : turns;
        enter(graph, users, &owners[owner], (uint32_t)owner);
    }
    for (size_t owner = first; owner < end; owner++)
        owners[owner].turns = turns;
}

/* Whether owners that are alike may keep a lead, and so need turns. */
static bool may_lead(const struct class_graph *graph, const struct graph_owner *owner)
{
    return !graph->even && !group_waits(graph->parts[owner->part].program, owner->group);
}

/* Owners of one group of one part follow each other. */
void precedence_find(struct class_graph *graph)
{
    struct graph_owner *owners = graph->owners;
    size_t count = graph->owner_count;
    struct users users = {.first = array_zeroed(graph->platform->link_count + (size_t)1, sizeof *users.first),
                          .newest = array_zeroed(graph->platform->link_count + (size_t)1, sizeof *users.newest),
                          .taken = array_zeroed(count + 1, sizeof *users.taken)};
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first;
             end < count && owners[end].part == owners[first].part && owners[end].group == owners[first].group;)
            end++;
        if (may_lead(graph, &owners[first]))
            find_turns(graph, &users, owners, first, end);
        else
            for (size_t owner = first; owner < end; owner++) {
                owners[owner].turn = 0;
                owners[owner].turns = 1;
            }
    }
    free(users.first);
    free(users.newest);
    free(users.taken);
    free(users.items);
}

/* ---- parts ---- */

static uint32_t root_of(uint32_t *above, uint32_t part)
{
    while (above[part] != part)
        part = above[part] = above[above[part]];
    return part;
}

/* Parts that share a link, and whoever these share one with, have one root: each can slow all others. */
static void join_parts(const struct class_graph *graph, uint32_t *above)
{
    uint32_t *users = array_zeroed(graph->platform->link_count + (size_t)1, sizeof *users); /* [link]: a part, and 1 */
    for (uint32_t part = 0; part < graph->part_count; part++)
        above[part] = part;
    for (uint32_t part = 0; part < graph->part_count; part++)
        for (size_t i = graph->parts[part].first_flow;
             i < graph->parts[part].first_flow + graph->parts[part].flow_count; i++)
            for (uint32_t k = 0; k < graph->flows[i].link_count; k++) {
                uint32_t *user = &users[graph->links[graph->flows[i].first_link + k]];
                if (*user)
                    above[root_of(above, *user - 1)] = root_of(above, part);
                *user = part + 1;
            }
    free(users);
}

struct standing {
    struct graph_part *part;
    uint32_t root;
};

static int by_colour(const void *left, const void *right)
{
    const struct standing *a = left, *b = right;
    if (a->part->colour != b->part->colour)
        return a->part->colour < b->part->colour ? -1 : 1;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return (a->part->first_rank > b->part->first_rank) - (a->part->first_rank < b->part->first_rank);
}

void precedence_find_parts(struct class_graph *graph)
{
    uint32_t count = graph->part_count;
    struct standing *sorted = array_zeroed(count, sizeof *sorted);
    uint32_t *above = array_zeroed(count, sizeof *above), *turns = array_zeroed(count, sizeof *turns);
    join_parts(graph, above);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct standing){&graph->parts[i], root_of(above, i)};
    qsort(sorted, count, sizeof *sorted, by_colour);
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i].part->colour == sorted[i - 1].part->colour && sorted[i].root == sorted[i - 1].root)
            turns[i] = turns[i - 1] + 1;
    for (uint32_t i = 0; i < count; i++)
        sorted[i].part->colour = refine_mix(sorted[i].part->colour, turns[i]);
    free(turns);
    free(above);
    free(sorted);
}

double precedence_weight(uint32_t turn, uint32_t turns)
{
    return 1 + fmin(STEP, SPREAD / turns) * (turn - (turns - 1) / 2.0);
}
