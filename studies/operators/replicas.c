/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/replicas.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;

/* ---- groups ---- */

enum { BUCKETS = 1024, TIMES = 32 }; /* of the hash table; sizes that are remembered for each group */

struct group {
    uint32_t *devices, count, number;
    uint32_t *queues, queue_count;
    double bytes[TIMES], seconds[TIMES];
    uint32_t known;
    struct group *next; /* in the same bucket */
};

struct replica_groups {
    const struct operators *o;
    struct group **numbered; /* [number] */
    size_t capacity;
    struct group *buckets[BUCKETS];
    uint32_t count;
};

struct replica_groups *replica_groups_create(const struct operators *o)
{
    struct replica_groups *groups = array_zeroed(1, sizeof *groups);
    groups->o = o;
    return groups;
}

void replica_groups_destroy(struct replica_groups *groups)
{
    for (uint32_t i = 0; groups && i < BUCKETS; i++)
        for (struct group *group = groups->buckets[i], *next; group; group = next) {
            next = group->next;
            free(group->devices);
            free(group->queues);
            free(group);
        }
    if (groups)
        free(groups->numbered);
    free(groups);
}

uint32_t replica_groups_count(const struct replica_groups *groups)
{
    return groups->count;
}

static uint32_t hash(const uint32_t *devices, uint32_t count)
{
    uint32_t value = 2166136261u;
    for (uint32_t i = 0; i < count; i++)
        value = (value ^ devices[i]) * 16777619u;
    return (value ^ value >> 15) % BUCKETS;
}

static void add_queue(struct group *group, uint32_t queue)
{
    uint32_t place = 0;
    while (place < group->queue_count && group->queues[place] != queue)
        place++;
    if (queue && place == group->queue_count)
        group->queues[group->queue_count++] = queue;
}

static void set_queues(const struct operators *o, struct group *group)
{
    group->queues = array_zeroed(2 * (size_t)group->count, sizeof *group->queues);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct operator_route *route =
            &o->routes[group->devices[i] * o->devices + group->devices[(i + 1) % group->count]];
        add_queue(group, route->out);
        add_queue(group, route->in);
    }
}

static struct group *find_group(struct replica_groups *groups, const uint32_t *devices, uint32_t count)
{
    struct group **link = &groups->buckets[hash(devices, count)];
    while (*link && ((*link)->count != count || memcmp((*link)->devices, devices, count * sizeof *devices) != 0))
        link = &(*link)->next;
    if (*link)
        return *link;
    struct group *group = array_zeroed(1, sizeof *group);
    *group = (struct group){.devices = array_zeroed(count, sizeof *devices), .count = count, .number = groups->count++};
    memcpy(group->devices, devices, count * sizeof *devices);
    *link = group;
    groups->numbered = array_grow(groups->numbered, &groups->capacity, groups->count, sizeof *groups->numbered);
    groups->numbered[group->number] = group;
    set_queues(groups->o, group);
    return group;
}

const uint32_t *replica_group_queues(const struct replica_groups *groups, uint32_t group, uint32_t *count)
{
    *count = groups->numbered[group]->queue_count;
    return groups->numbered[group]->queues;
}

/* A newer size takes the place of the oldest one. */
double replica_group_seconds(struct replica_groups *groups, uint32_t number, double bytes)
{
    struct group *group = groups->numbered[number];
    const struct operator_costs *costs = &groups->o->costs;
    uint32_t known = group->known < TIMES ? group->known : TIMES;
    for (uint32_t i = 0; i < known; i++)
        if (group->bytes[i] == bytes)
            return group->seconds[i];
    uint32_t place = group->known++ % TIMES;
    group->bytes[place] = bytes;
    group->seconds[place] = costs->all_reduce(costs->user, group->devices, group->count, bytes);
    return group->seconds[place];
}

/* ---- replicas ---- */

struct replicas *replicas_create(void)
{
    return array_zeroed(1, sizeof(struct replicas));
}

void replicas_destroy(struct replicas *replicas)
{
    for (uint32_t i = 0; replicas && i < replicas->made; i++)
        free(replicas->sets[i].devices);
    if (replicas)
        free(replicas->sets);
    free(replicas);
}

void replicas_begin(struct replicas *replicas)
{
    replicas->count = replicas->last = 0;
}

/* Parts have their channels in turn, so that it is mostly the set behind the one that was found last. */
static struct replica_set *find_set(struct replicas *replicas, const struct layer_part *part)
{
    struct range channels = part->output.ranges[BOX_CHANNEL];
    for (uint32_t i = 0; i < replicas->count; i++) {
        uint32_t place = (replicas->last + 1 + i) % replicas->count;
        struct replica_set *set = &replicas->sets[place];
        if (set->channels.from == channels.from && set->channels.to == channels.to) {
            replicas->last = place;
            return set;
        }
    }
    return NULL;
}

static struct replica_set *add_set(struct replicas *replicas)
{
    if (replicas->count == replicas->made) {
        replicas->sets =
            array_grow(replicas->sets, &replicas->capacity, replicas->made + (size_t)1, sizeof *replicas->sets);
        replicas->sets[replicas->made++] = (struct replica_set){0};
    }
    replicas->last = replicas->count;
    return &replicas->sets[replicas->count++];
}

void replicas_add(struct replicas *replicas, const struct layer_part *part, uint32_t device, double parameters)
{
    struct replica_set *set = find_set(replicas, part);
    if (!set) {
        set = add_set(replicas);
        set->channels = part->output.ranges[BOX_CHANNEL];
        set->count = 0;
        set->parameters = parameters;
    }
    uint32_t place = set->count;
    while (place > 0 && set->devices[place - 1] > device)
        place--;
    if (place > 0 && set->devices[place - 1] == device)
        return;
    set->devices = array_grow(set->devices, &set->capacity, set->count + (size_t)1, sizeof *set->devices);
    memmove(set->devices + place + 1, set->devices + place, (set->count - place) * sizeof *set->devices);
    set->devices[place] = device;
    set->count++;
}

void replicas_end(struct replicas *replicas, struct replica_groups *groups)
{
    for (uint32_t i = 0; i < replicas->count; i++) {
        struct replica_set *set = &replicas->sets[i];
        set->group = set->count > 1 ? find_group(groups, set->devices, set->count)->number : NONE;
    }
}
