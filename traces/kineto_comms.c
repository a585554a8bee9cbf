/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/kineto_comms.h"

#include "base/arena.h"
#include "base/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- arguments ---- */

enum { MEMBERS_MAX = 1 << 20 };

static double element_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"Float", 4},         {"BFloat16", 2},    {"Half", 2},         {"Byte", 1},          {"Char", 1},
                 {"Bool", 1},          {"Long", 8},        {"Double", 8},       {"Int", 4},           {"Short", 2},
                 {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
    for (size_t i = 0; dtype && i < sizeof types / sizeof *types; i++)
        if (!strcasecmp(types[i].name, dtype))
            return types[i].bytes;
    return NAN;
}

/* "[0, 8, 16]" or, where that is cut ("..."), start and stride. Returns how many members there are; NULL: not known. */
static uint32_t *read_members(const struct trace_event *event, uint32_t *size)
{
    const char *text = trace_text(event, event->arguments[TRACE_GROUP_RANKS]);
    uint32_t *members = NULL, start = trace_whole(event, TRACE_RANK_START),
             stride = trace_whole(event, TRACE_RANK_STRIDE);
    size_t count = 0, capacity = 0;
    bool cut = !text || strstr(text, "...");
    for (const char *at = text; !cut && (at = strpbrk(at, "0123456789"));) {
        char *end;
        members = array_grow(members, &capacity, count + 1, sizeof *members);
        members[count++] = (uint32_t)strtoul(at, &end, 10);
        at = end;
    }
    if (cut && start != RECORDED_NONE && stride != RECORDED_NONE && *size && *size <= MEMBERS_MAX &&
        (uint64_t)stride * *size + start < UINT32_MAX) {
        members = array_grow(members, &capacity, *size, sizeof *members);
        for (; count < *size; count++)
            members[count] = start + (uint32_t)count * stride;
    }
    if (!count || (*size && count != *size)) {
        free(members);
        return NULL;
    }
    *size = (uint32_t)count;
    return members;
}

static void read_group(struct recorded *recorded, struct recorded_operation *operation, const struct trace_event *event)
{
    const char *name = trace_text(event, event->arguments[TRACE_GROUP_NAME]);
    if (!name)
        return;
    uint32_t size = trace_whole(event, TRACE_GROUP_SIZE);
    size = size == RECORDED_NONE || size > MEMBERS_MAX ? 0 : size;
    uint32_t *members = read_members(event, &size);
    const char *what = trace_text(event, event->arguments[TRACE_GROUP_WHAT]);
    operation->group = recorded_group(recorded, name, what, size, members);
    free(members);
}

static bool moves_data(const char *collective)
{
    return !collective || (strcmp(collective, "wait") != 0 && strcmp(collective, "barrier") != 0);
}

static void read_bytes(struct recorded_operation *operation, const struct trace_event *event)
{
    const char *collective = trace_text(event, event->arguments[TRACE_COLLECTIVE]);
    bool gathers = collective && strcasestr(collective, "gather");
    double elements = trace_number(event, gathers ? TRACE_OUT_ELEMENTS : TRACE_IN_ELEMENTS);
    double bytes = elements * element_bytes(trace_text(event, event->arguments[TRACE_DTYPE]));
    if (moves_data(collective) && bytes >= 0)
        operation->bytes = (float)bytes;
}

static void read_direction(struct recorded_operation *operation, const char *name, const struct trace_event *event)
{
    const char *collective = trace_text(event, event->arguments[TRACE_COLLECTIVE]);
    uint32_t to = trace_whole(event, TRACE_DESTINATION), from = trace_whole(event, TRACE_SOURCE);
    bool sends = collective && !strcasecmp(collective, "send"),
         receives = collective && !strcasecmp(collective, "recv");
    operation->peer = sends ? to : receives ? from : RECORDED_NONE;
    if (operation->kind == RECORDED_COMPUTE && (sends || receives))
        operation->kind = sends ? RECORDED_SEND : RECORDED_RECEIVE;
    else if (operation->kind == RECORDED_COMPUTE && !collective && strcasestr(name, "sendrecv"))
        operation->kind = RECORDED_SEND;
    else if (operation->kind == RECORDED_COMPUTE)
        operation->kind = RECORDED_COLLECTIVE;
}

/* By the name that PyTorch gives it, or by that of NCCL's kernel. */
static enum recorded_collective collective_of(const char *name)
{
    static const struct {
        const char *text;
        enum recorded_collective collective;
    } texts[] = {{"allreduce", RECORDED_ALL_REDUCE},         {"all_reduce", RECORDED_ALL_REDUCE},
                 {"allgather", RECORDED_ALL_GATHER},         {"all_gather", RECORDED_ALL_GATHER},
                 {"reducescatter", RECORDED_REDUCE_SCATTER}, {"reduce_scatter", RECORDED_REDUCE_SCATTER},
                 {"alltoall", RECORDED_ALL_TO_ALL},          {"all_to_all", RECORDED_ALL_TO_ALL},
                 {"broadcast", RECORDED_BROADCAST},          {"reduce", RECORDED_REDUCE}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcasestr(name, texts[i].text))
            return texts[i].collective;
    return RECORDED_NO_COLLECTIVE;
}

void kineto_comms_read(struct recorded *recorded, struct recorded_operation *operation, const char *name,
                       const struct trace_event *event)
{
    bool kernel = operation->kind == RECORDED_COMPUTE && (strcasestr(name, "nccl") || strcasestr(name, "rccl"));
    bool record = operation->kind == RECORDED_HOST && !strcmp(name, "record_param_comms");
    if (!kernel && !record)
        return;
    const char *collective = trace_text(event, event->arguments[TRACE_COLLECTIVE]);
    operation->waiting = kernel;
    operation->collective = (uint8_t)collective_of(collective ? collective : name);
    read_group(recorded, operation, event);
    read_bytes(operation, event);
    read_direction(operation, name, event);
}

/* ---- what belongs together ---- */

struct pair {
    uint32_t key, operation;
};

struct kineto_join {
    struct pair *launches, *records; /* by key */
    size_t launch_count, launch_capacity, record_count, record_capacity;
};

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static const struct pair *find(const struct pair *pairs, size_t count, uint32_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pairs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && pairs[low].key == key ? &pairs[low] : NULL;
}

struct kineto_join *kineto_join_create(const struct recorded *recorded, size_t first)
{
    struct kineto_join *join = array_zeroed(1, sizeof *join);
    for (size_t i = first; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind == RECORDED_LAUNCH && operation->correlation != RECORDED_NONE) {
            join->launches =
                bulk_grow(join->launches, &join->launch_capacity, join->launch_count + 1, sizeof *join->launches);
            join->launches[join->launch_count++] = (struct pair){operation->correlation, (uint32_t)i};
        } else if (operation->kind == RECORDED_HOST && operation->external != RECORDED_NONE &&
                   (operation->group != RECORDED_NONE || !isnan(operation->bytes))) {
            join->records =
                bulk_grow(join->records, &join->record_capacity, join->record_count + 1, sizeof *join->records);
            join->records[join->record_count++] = (struct pair){operation->external, (uint32_t)i};
        }
    }
    if (join->launch_count)
        qsort(join->launches, join->launch_count, sizeof *join->launches, by_key);
    if (join->record_count)
        qsort(join->records, join->record_count, sizeof *join->records, by_key);
    return join;
}

void kineto_join_destroy(struct kineto_join *join)
{
    bulk_free(join->launches, join->launch_capacity * sizeof *join->launches);
    bulk_free(join->records, join->record_capacity * sizeof *join->records);
    free(join);
}

const struct recorded_operation *kineto_join_launch(const struct kineto_join *join, const struct recorded *recorded,
                                                    const struct recorded_operation *operation)
{
    if (!recorded_works(operation) || operation->correlation == RECORDED_NONE)
        return NULL;
    const struct pair *pair = find(join->launches, join->launch_count, operation->correlation);
    return pair ? &recorded->operations[pair->operation] : NULL;
}

void kineto_comms_join(struct recorded *recorded, size_t first, const struct kineto_join *join)
{
    for (size_t i = first; i < recorded->count; i++) {
        struct recorded_operation *operation = &recorded->operations[i];
        if (!operation->waiting || (operation->group != RECORDED_NONE && !isnan(operation->bytes)))
            continue;
        const struct recorded_operation *launch = kineto_join_launch(join, recorded, operation);
        uint32_t external = operation->external != RECORDED_NONE ? operation->external
                            : launch                             ? launch->external
                                                                 : RECORDED_NONE;
        const struct pair *pair = external == RECORDED_NONE ? NULL : find(join->records, join->record_count, external);
        if (!pair)
            continue;
        const struct recorded_operation *record = &recorded->operations[pair->operation];
        operation->group = record->group;
        operation->bytes = record->bytes;
        operation->peer = record->peer;
        operation->collective = record->collective;
    }
}
