/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/axes.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const axes_names[AXES] = {"tensor", "context", "expert", "pipeline", "data"};

/* Replicas of PyTorch's hybrid sharding are of two axes: copies, and shards of each. */
enum { PART_COPIES = AXES, PART_SHARDS, PARTS };
#define PART(part) (1u << (part))

/* What descriptions of Megatron-LM's groups and of PyTorch's DeviceMesh say: a bit for each axis that a group is along.
 */
static const struct description {
    const char *what;
    unsigned parts;
} descriptions[] = {
    {"TENSOR_MODEL_PARALLEL_GROUP", PART(AXIS_TENSOR)},
    {"CONTEXT_PARALLEL_GROUP", PART(AXIS_CONTEXT)},
    {"EXPERT_MODEL_PARALLEL_GROUP", PART(AXIS_EXPERT)},
    {"PIPELINE_MODEL_PARALLEL_GROUP", PART(AXIS_PIPELINE)},
    {"DATA_PARALLEL_GROUP", PART(AXIS_DATA)},
    {"DATA_PARALLEL_GROUP_WITH_CP", PART(AXIS_DATA) | PART(AXIS_CONTEXT)},
    {"TENSOR_AND_CONTEXT_PARALLEL_GROUP", PART(AXIS_TENSOR) | PART(AXIS_CONTEXT)},
    {"TENSOR_AND_DATA_PARALLEL_GROUP", PART(AXIS_TENSOR) | PART(AXIS_DATA)},
    {"TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", PART(AXIS_TENSOR) | PART(AXIS_DATA) | PART(AXIS_CONTEXT)},
    {"MODEL_PARALLEL_GROUP", PART(AXIS_TENSOR) | PART(AXIS_PIPELINE)},
    {"mesh_tp", PART(AXIS_TENSOR)},
    {"mesh_cp", PART(AXIS_CONTEXT)},
    {"mesh_ep", PART(AXIS_EXPERT)},
    {"mesh_pp", PART(AXIS_PIPELINE)},
    {"mesh_dp", PART(AXIS_DATA)},
    {"mesh_dp_replicate", PART(PART_COPIES)},
    {"mesh_dp_shard", PART(PART_SHARDS)},
    {"mesh_dp_cp", PART(AXIS_DATA) | PART(AXIS_CONTEXT)},
    {"mesh_dp_shard_cp", PART(PART_SHARDS) | PART(AXIS_CONTEXT)}};

/* What the groups of one size and stride exchange. */
struct traffic {
    const char *what;
    uint32_t size, stride;
    size_t messages, exchanges, others; /* exchanges: all-to-all */
    double bytes;
};

enum exchange { EXCHANGE_MESSAGES, EXCHANGE_ALL_TO_ALL, EXCHANGE_COLLECTIVES };

static size_t calls(const struct traffic *traffic)
{
    return traffic->messages + traffic->exchanges + traffic->others;
}

/* ---- who exchanges how much ---- */

static uint32_t stride_of(const struct recorded_group *group)
{
    uint32_t stride = group->members && group->size > 1 ? group->members[1] - group->members[0] : 0;
    for (uint32_t i = 2; stride && i < group->size; i++)
        if (group->members[i] - group->members[i - 1] != stride)
            return 0;
    return stride;
}

static void count_operation(struct traffic *traffic, const struct recorded_operation *operation, const char *name)
{
    if (operation->kind != RECORDED_COLLECTIVE)
        traffic->messages++;
    else if (strcasestr(name, "sendrecv") || strcasestr(name, "alltoall") || strcasestr(name, "all_to_all"))
        traffic->exchanges++;
    else
        traffic->others++;
    if (!isnan(operation->bytes))
        traffic->bytes += (double)operation->bytes;
}

/* Mostly messages, mostly all-to-all, or neither. */
static enum exchange exchange_of(const struct traffic *traffic)
{
    if (traffic->messages > traffic->exchanges + traffic->others)
        return EXCHANGE_MESSAGES;
    return traffic->exchanges > traffic->others ? EXCHANGE_ALL_TO_ALL : EXCHANGE_COLLECTIVES;
}

/* To that of the groups that are like it. */
static void add_traffic(struct traffic *traffics, size_t *count, const struct traffic *own)
{
    struct traffic *same = NULL;
    for (size_t i = 0; i < *count && !same; i++)
        if (traffics[i].size == own->size && traffics[i].stride == own->stride &&
            exchange_of(&traffics[i]) == exchange_of(own) && !strcmp(traffics[i].what, own->what))
            same = &traffics[i];
    if (!same) {
        traffics[(*count)++] = *own;
        return;
    }
    same->messages += own->messages;
    same->exchanges += own->exchanges;
    same->others += own->others;
    same->bytes += own->bytes;
}

/* Of the kinds of groups that exchange something. */
static struct traffic *find_traffic(const struct recorded *recorded, size_t *count)
{
    struct traffic *traffics = array_zeroed(recorded->group_count + 1, sizeof *traffics);
    struct traffic *of_group = array_zeroed(recorded->group_count + 1, sizeof *of_group);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (recorded_communicates(operation) && operation->group != RECORDED_NONE)
            count_operation(&of_group[operation->group], operation, recorded_name_of(recorded, operation));
    }
    *count = 0;
    for (size_t i = 0; i < recorded->group_count; i++) {
        const struct recorded_group *group = &recorded->groups[i];
        of_group[i].what = group->what ? group->what : "";
        of_group[i].size = group->size;
        of_group[i].stride = stride_of(group);
        if (group->size > 1 && calls(&of_group[i]))
            add_traffic(traffics, count, &of_group[i]);
    }
    free(of_group);
    return traffics;
}

/* ---- what it is for ---- */

/* The groups that exchange most stand for the axis. */
static void take(struct axis_found *found, const struct traffic *traffic, bool told)
{
    if (calls(traffic) > found->calls)
        *found = (struct axis_found){traffic->size, traffic->stride, told, calls(traffic), traffic->bytes};
}

static const struct description *description_of(const char *what)
{
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        if (!strcmp(what, descriptions[i].what))
            return &descriptions[i];
    return NULL;
}

/* Whether the description says what it is for, or that it is for no axis that is known. `combined` gets those that are
 * along several axes. */
static bool take_told(struct axis_found parts[PARTS], const struct traffic *traffic, struct traffic *combined,
                      size_t *count)
{
    const struct description *description = description_of(traffic->what);
    if (!description)
        return *traffic->what && strcmp(traffic->what, "default_pg") != 0 && strcmp(traffic->what, "undefined") != 0;
    if (description->parts & (description->parts - 1)) {
        combined[(*count)++] = *traffic;
        return true;
    }
    for (int part = 0; part < PARTS; part++)
        if (description->parts == PART(part))
            take(&parts[part], traffic, true);
    return true;
}

/* Of copies and shards, where their groups say both; of shards alone, where all is one copy. */
static void join_data(struct axis_found parts[PARTS])
{
    struct axis_found *data = &parts[AXIS_DATA];
    const struct axis_found *copies = &parts[PART_COPIES], *shards = &parts[PART_SHARDS];
    if (data->size || !(copies->size || shards->size))
        return;
    *data = shards->size ? *shards : *copies;
    if (!copies->size || !shards->size)
        return;
    data->size = copies->size * shards->size;
    data->stride = copies->stride == shards->stride * shards->size ? shards->stride : 0;
    data->calls += copies->calls;
    data->bytes += copies->bytes;
}

/* A group along several axes, of which all but one are known, says that one. */
static bool divide(struct axis_found parts[PARTS], const struct traffic *traffic)
{
    unsigned left = description_of(traffic->what)->parts, unknown = 0;
    uint32_t rest = traffic->size;
    int last = PARTS;
    for (int part = 0; part < PARTS; part++) {
        if (!(left & PART(part)))
            continue;
        if (!parts[part].size) {
            unknown++;
            last = part;
        } else if (rest % parts[part].size == 0) {
            rest /= parts[part].size;
        } else {
            return false;
        }
    }
    if (unknown != 1 || rest < 2)
        return false;
    struct traffic own = *traffic;
    own.size = rest;
    own.stride = 0;
    take(&parts[last], &own, true);
    return true;
}

static void divide_all(struct axis_found parts[PARTS], const struct traffic *combined, size_t count)
{
    bool *done = array_zeroed(count, sizeof *done);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < count; i++)
            if (!done[i] && divide(parts, &combined[i]))
                again = done[i] = true;
    }
    free(done);
}

/* Inner groups first. */
static int by_stride(const void *left, const void *right)
{
    const struct traffic *a = left, *b = right;
    if (a->stride != b->stride)
        return a->stride < b->stride ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

/* Groups of collectives, inner first, that nothing is said of. One alone is of replicas. Of two or three the innermost
 * is of tensors if it is the one that exchanges most often, and the outermost of replicas. */
static void take_collectives(struct axes *axes, const struct traffic *groups, size_t count)
{
    if (!count || count > 3)
        return;
    bool inner = count > 1 && groups[0].stride;
    for (size_t i = 1; i < count; i++)
        inner &= calls(&groups[0]) > calls(&groups[i]) && groups[i].stride > groups[i - 1].stride;
    if (count > 1 && !inner)
        return;
    const enum axis order[][3] = {{AXIS_DATA}, {AXIS_TENSOR, AXIS_DATA}, {AXIS_TENSOR, AXIS_CONTEXT, AXIS_DATA}};
    for (size_t i = 0; i < count; i++)
        if (!axes->found[order[count - 1][i]].told)
            take(&axes->found[order[count - 1][i]], &groups[i], false);
}

/* Groups without a description, by what they exchange. One of the whole job has a meaning only if it is the only one:
 * in others all ranks add up norms and losses. */
static void take_untold(struct axes *axes, struct traffic *traffics, size_t count, uint32_t world)
{
    struct traffic *groups = array_zeroed(count + 1, sizeof *groups);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct traffic *traffic = &traffics[i];
        enum exchange exchange = exchange_of(traffic);
        enum axis axis = exchange == EXCHANGE_MESSAGES ? AXIS_PIPELINE : AXIS_EXPERT;
        if (exchange == EXCHANGE_COLLECTIVES)
            groups[kept++] = *traffic;
        else if (!axes->found[axis].told)
            take(&axes->found[axis], traffic, false);
    }
    bool any = kept > 1;
    for (int axis = 0; axis < AXES; axis++)
        any |= axes->found[axis].size > 0;
    for (size_t i = 0, old = kept, next = 0; i < old; i++)
        if (any && groups[i].size == world)
            kept--;
        else
            groups[next++] = groups[i];
    qsort(groups, kept, sizeof *groups, by_stride);
    take_collectives(axes, groups, kept);
    free(groups);
}

/* Messages in the group of the whole job do not say how long the pipeline is, if it is not the only axis. */
static void drop_whole(struct axes *axes, uint32_t world)
{
    struct axis_found *pipeline = &axes->found[AXIS_PIPELINE];
    bool others = axes->found[AXIS_TENSOR].size || axes->found[AXIS_CONTEXT].size || axes->found[AXIS_DATA].size;
    if (others && !pipeline->told && pipeline->size == world)
        *pipeline = (struct axis_found){0};
}

/* More than any job has stays that. */
static uint64_t multiply(uint64_t ranks, uint32_t size)
{
    const uint64_t most = UINT64_C(1) << 32;
    return ranks * size < most ? ranks * size : most;
}

void axes_find(const struct recorded *recorded, struct axes *axes)
{
    *axes = (struct axes){.ranks = 1};
    size_t count, untold = 0, combined_count = 0;
    struct axis_found parts[PARTS] = {{0}};
    struct traffic *traffics = find_traffic(recorded, &count), *combined = array_zeroed(count, sizeof *combined);
    for (size_t i = 0; i < count; i++)
        if (!take_told(parts, &traffics[i], combined, &combined_count))
            traffics[untold++] = traffics[i];
    divide_all(parts, combined, combined_count);
    join_data(parts);
    divide_all(parts, combined, combined_count);
    free(combined);
    memcpy(axes->found, parts, sizeof axes->found);
    axes->copies = parts[PART_COPIES].size;
    axes->shards = parts[PART_SHARDS].size;
    take_untold(axes, traffics, untold, recorded->world);
    free(traffics);
    drop_whole(axes, recorded->world);
    for (int axis = 0; axis < AXES; axis++)
        if (axis != AXIS_EXPERT && axes->found[axis].size)
            axes->ranks = multiply(axes->ranks, axes->found[axis].size);
}

/* ---- words ---- */

void axes_note(struct recorded *recorded, const struct axes *axes)
{
    const struct axis_found *pipeline = &axes->found[AXIS_PIPELINE];
    if (!pipeline->size || !pipeline->stride)
        return;
    bool *given = array_zeroed(pipeline->size, sizeof *given);
    for (size_t i = 0; i < recorded->rank_count; i++)
        given[recorded->ranks[i].number / pipeline->stride % pipeline->size] = true;
    uint32_t missing = 0, first = 0;
    for (uint32_t stage = pipeline->size; stage-- > 0;)
        if (!given[stage]) {
            missing++;
            first = stage;
        }
    free(given);
    if (missing)
        recorded_note(recorded,
                      "%u of %u pipeline workers have no rank in the trace, the first of them is worker %u: figures "
                      "are means without them",
                      missing, pipeline->size, first);
}

const char *axes_text(const struct axes *axes, uint32_t world, struct arena *arena)
{
    const char *text = "";
    bool guessed = false;
    for (int axis = 0; axis < AXES; axis++) {
        const struct axis_found *found = &axes->found[axis];
        if (!found->size)
            continue;
        text = arena_print(arena, "%s%s%s %u", text, *text ? ", " : "", axes_names[axis], found->size);
        if (axis == AXIS_DATA && axes->copies && axes->shards)
            text = arena_print(arena, "%s (%u copies of %u shards)", text, axes->copies, axes->shards);
        guessed |= !found->told;
    }
    if (!*text)
        return NULL;
    if (guessed)
        text = arena_print(arena, "%s, as what the groups exchange suggests", text);
    if (world && axes->ranks < world && world % axes->ranks == 0)
        text = arena_print(arena, "%s; the job has %ju times as many ranks, and no group of the trace says along what",
                           text, (uintmax_t)(world / axes->ranks));
    else if (world && axes->ranks != world)
        text = arena_print(arena, "%s, which does not make up the job's %u ranks", text, world);
    return text;
}
