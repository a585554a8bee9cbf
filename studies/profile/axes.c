/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/axes.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const axes_names[AXES] = {"tensor", "context", "expert", "pipeline", "data"};

/* What descriptions of Megatron-LM and of PyTorch's DeviceMesh say. AXES: a group of several axes, or of some ranks
 * that are none. */
static const struct {
    const char *what;
    enum axis axis;
} descriptions[] = {{"TENSOR_MODEL_PARALLEL_GROUP", AXIS_TENSOR},
                    {"CONTEXT_PARALLEL_GROUP", AXIS_CONTEXT},
                    {"EXPERT_MODEL_PARALLEL_GROUP", AXIS_EXPERT},
                    {"PIPELINE_MODEL_PARALLEL_GROUP", AXIS_PIPELINE},
                    {"DATA_PARALLEL_GROUP", AXIS_DATA},
                    {"mesh_tp", AXIS_TENSOR},
                    {"mesh_cp", AXIS_CONTEXT},
                    {"mesh_ep", AXIS_EXPERT},
                    {"mesh_pp", AXIS_PIPELINE},
                    {"mesh_dp", AXIS_DATA}};

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
        bool communicates = operation->kind == RECORDED_COLLECTIVE || operation->kind == RECORDED_SEND ||
                            operation->kind == RECORDED_RECEIVE;
        if (communicates && operation->group != RECORDED_NONE)
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
static void take(struct axes *axes, enum axis axis, const struct traffic *traffic, bool told)
{
    struct axis_found *found = &axes->found[axis];
    if (calls(traffic) > found->calls)
        *found = (struct axis_found){traffic->size, traffic->stride, told, calls(traffic), traffic->bytes};
}

/* Whether the description says what it is for, or that it is for no single axis. */
static bool take_told(struct axes *axes, const struct traffic *traffic)
{
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        if (!strcmp(traffic->what, descriptions[i].what)) {
            take(axes, descriptions[i].axis, traffic, true);
            return true;
        }
    return *traffic->what && strcmp(traffic->what, "default_pg") != 0 && strcmp(traffic->what, "undefined") != 0;
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
            take(axes, order[count - 1][i], &groups[i], false);
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
            take(axes, axis, traffic, false);
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
    size_t count, untold = 0;
    struct traffic *traffics = find_traffic(recorded, &count);
    for (size_t i = 0; i < count; i++)
        if (!take_told(axes, &traffics[i]))
            traffics[untold++] = traffics[i];
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
