/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks that hold the same weights, and what each of them adds up when. */
#include "workloads/layers/split_steps.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;

static int ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static uint64_t hash_of(uint32_t stage, const uint32_t *ranks, uint32_t count)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ stage;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ ranks[i]) * UINT64_C(1099511628211);
    return hash;
}

uint32_t split_group_find(struct split_steps *s, uint32_t stage, uint32_t *ranks, uint32_t count)
{
    const size_t bytes = count * sizeof *ranks;
    qsort(ranks, count, sizeof *ranks, ascending);
    uint64_t hash = hash_of(stage, ranks, count);
    uint32_t *first = &s->table[hash % GROUPS_TABLE];
    for (uint32_t i = *first; i > 0; i = s->groups[i - 1].next) {
        const struct split_group *known = &s->groups[i - 1];
        if (known->hash == hash && known->stage == stage && known->count == count &&
            !memcmp(known->ranks, ranks, bytes))
            return i - 1;
    }
    s->groups = array_grow(s->groups, &s->group_capacity, s->group_count + 1, sizeof *s->groups);
    struct split_group *group = &s->groups[s->group_count];
    *group = (struct split_group){.ranks = array_zeroed(count, sizeof *ranks),
                                  .count = count,
                                  .stage = stage,
                                  .hash = hash,
                                  .next = *first,
                                  .id = s->j->api->group(s->j->job, "", ranks, count)};
    memcpy(group->ranks, ranks, bytes);
    *first = (uint32_t)++s->group_count;
    return *first - 1;
}

/* ---- weights ---- */

/* Layers that use the weights of each layer: first[layer], then next[...]. */
struct users {
    uint32_t *first, *next;
};

static struct users find_users(const struct layers_graph *graph)
{
    struct users users = {array_zeroed(graph->count, sizeof *users.first),
                          array_zeroed(graph->count, sizeof *users.next)};
    for (uint32_t i = 0; i < graph->count; i++)
        users.first[i] = NONE;
    for (uint32_t i = graph->count; i-- > 0;) {
        uint32_t owner = graph->operators[i].weights;
        users.next[i] = users.first[owner];
        users.first[owner] = i;
    }
    return users;
}

/* Ranks of the parts of a layer that hold the same range of its weights, behind the `count` ranks there are already;
 * each once. */
static uint32_t add_holders(const struct split_layer *layer, uint32_t in, uint32_t out, bool *seen, uint32_t *ranks,
                            uint32_t count)
{
    const uint32_t *degrees = layer->split->degrees;
    uint32_t at[SPLIT_DIMENSIONS] = {[SPLIT_IN] = in, [SPLIT_OUT] = out};
    for (at[SPLIT_SAMPLE] = 0; at[SPLIT_SAMPLE] < degrees[SPLIT_SAMPLE]; at[SPLIT_SAMPLE]++)
        for (at[SPLIT_HEIGHT] = 0; at[SPLIT_HEIGHT] < degrees[SPLIT_HEIGHT]; at[SPLIT_HEIGHT]++)
            for (at[SPLIT_WIDTH] = 0; at[SPLIT_WIDTH] < degrees[SPLIT_WIDTH]; at[SPLIT_WIDTH]++) {
                uint32_t rank = layer->split->devices[split_index(layer->split, at)];
                if (seen[rank])
                    continue;
                seen[rank] = true;
                ranks[count++] = rank;
            }
    return count;
}

static void close_bucket(struct split_steps *s, uint32_t index)
{
    struct split_group *group = &s->groups[index];
    if (group->bytes <= 0)
        return;
    struct stagesim_cost cost = {.bytes = group->bytes};
    s->buckets = array_grow(s->buckets, &s->bucket_capacity, s->bucket_count + 1, sizeof *s->buckets);
    s->buckets[s->bucket_count++] =
        (struct split_bucket){.group = index, .cost = s->j->api->cost(s->j->job, &cost), .layer = group->layer};
    group->bytes = 0;
}

/* One range of a layer's weights: who holds it, and what they add up. */
static void add_range(struct split_steps *s, const struct users *users, uint32_t layer, uint32_t in, uint32_t out,
                      bool *seen, uint32_t *ranks)
{
    const struct split_layer *own = &s->layers[layer];
    uint32_t at[SPLIT_DIMENSIONS] = {[SPLIT_IN] = in, [SPLIT_OUT] = out}, count = 0;
    const struct stagesim_amount *amount = &s->j->layers[layer].parameters;
    double parameters =
        (amount->elements + amount->bytes / s->j->element_bytes) * own->parts[split_index(own->split, at)].weights;
    for (uint32_t user = users->first[layer]; user != NONE; user = users->next[user])
        count = add_holders(&s->layers[user], in, out, seen, ranks, count);
    for (uint32_t i = 0; i < count; i++) {
        s->ranks[ranks[i]].parameters += parameters;
        s->stages[own->stage].parameters[s->ranks[ranks[i]].place] += parameters;
        seen[ranks[i]] = false;
    }
    if (count < 2 || parameters <= 0)
        return;
    uint32_t index = split_group_find(s, own->stage, ranks, count);
    struct split_group *group = &s->groups[index];
    group->bytes += parameters * s->j->state.gradient;
    group->layer = layer;
    if (group->bytes >= s->j->parameters->bucket)
        close_bucket(s, index);
}

/* Those of the last layers are complete first. */
static int complete_first(const void *left, const void *right)
{
    const struct split_bucket *a = left, *b = right;
    if (a->layer != b->layer)
        return a->layer > b->layer ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* Each layer's buckets follow each other. */
static void find_buckets(struct split_steps *s)
{
    for (size_t i = 0; i < s->bucket_count; i++) {
        struct split_layer *layer = &s->layers[s->buckets[i].layer];
        layer->bucket = layer->bucket_count++ ? layer->bucket : i;
    }
}

static void close_buckets(struct split_steps *s)
{
    for (uint32_t i = 0; i < s->group_count; i++)
        close_bucket(s, i);
}

/* Stages synchronise each for itself. */
void split_buckets_create(struct split_steps *s)
{
    struct users users = find_users(s->j->graph);
    uint32_t *ranks = array_zeroed(s->strategy->ranks, sizeof *ranks);
    bool *seen = array_zeroed(s->strategy->ranks, sizeof *seen);
    for (uint32_t layer = s->j->count; layer-- > 0;) {
        const uint32_t *degrees = s->strategy->splits[layer].degrees;
        bool owner = s->j->graph->operators[layer].weights == layer;
        for (uint32_t in = 0; owner && in < degrees[SPLIT_IN]; in++)
            for (uint32_t out = 0; out < degrees[SPLIT_OUT]; out++)
                add_range(s, &users, layer, in, out, seen, ranks);
        if (layer == s->stages[s->layers[layer].stage].first)
            close_buckets(s);
    }
    if (s->bucket_count)
        qsort(s->buckets, s->bucket_count, sizeof *s->buckets, complete_first);
    find_buckets(s);
    free(users.first);
    free(users.next);
    free(ranks);
    free(seen);
}

void split_groups_destroy(struct split_steps *s)
{
    for (size_t i = 0; i < s->group_count; i++)
        free(s->groups[i].ranks);
    free(s->groups);
    free(s->table);
    free(s->buckets);
}
