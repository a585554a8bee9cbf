/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/kineto.h"

#include "base/arena.h"
#include "traces/kineto_comms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Categories of libkineto, and what older releases called them. */
static const struct category {
    const char *name;
    enum recorded_kind kind;
} categories[] = {
    {"kernel", RECORDED_COMPUTE},     {"cpu_op", RECORDED_HOST},        {"cuda_runtime", RECORDED_LAUNCH},
    {"cuda_driver", RECORDED_LAUNCH}, {"hip_runtime", RECORDED_LAUNCH}, {"gpu_memcpy", RECORDED_MEMORY},
    {"gpu_memset", RECORDED_MEMORY},  {"cuda_sync", RECORDED_SYNC},     {"user_annotation", RECORDED_ANNOTATION},
    {"python_gc", RECORDED_HOST},     {"Kernel", RECORDED_COMPUTE},     {"Operator", RECORDED_HOST},
    {"operator", RECORDED_HOST},      {"Runtime", RECORDED_LAUNCH},     {"runtime", RECORDED_LAUNCH},
    {"Memcpy", RECORDED_MEMORY},      {"Memset", RECORDED_MEMORY},
};

static const struct category *category_of(const struct trace_event *event)
{
    const char *name = trace_text(event, event->category);
    for (size_t i = 0; name && i < sizeof categories / sizeof *categories; i++)
        if (!strcmp(categories[i].name, name))
            return &categories[i];
    return NULL;
}

static uint64_t thread_number(const struct trace_event *event)
{
    const char *pid = trace_text(event, event->pid), *tid = trace_text(event, event->tid);
    uint64_t number = 0xcbf29ce484222325ull;
    for (const char *at = pid ? pid : ""; *at; at++)
        number = (number ^ (unsigned char)*at) * 0x100000001b3ull;
    number = (number ^ ':') * 0x100000001b3ull;
    for (const char *at = tid ? tid : ""; *at; at++)
        number = (number ^ (unsigned char)*at) * 0x100000001b3ull;
    return number;
}

/* A stream of a device, or a thread. */
static uint32_t stream_of(struct trace_reader *reader, const struct trace_event *event, enum recorded_kind kind)
{
    char name[96];
    if (reader->rank == RECORDED_NONE)
        reader->rank = recorded_rank(reader->recorded, RECORDED_NONE, reader->file);
    const char *tid = trace_text(event, event->tid);
    if (kind == RECORDED_HOST || kind == RECORDED_LAUNCH || kind == RECORDED_ANNOTATION) {
        snprintf(name, sizeof name, "thread %.60s", tid ? tid : "");
        return recorded_stream(reader->recorded, reader->rank, thread_number(event), true, name);
    }
    uint32_t stream = trace_whole(event, TRACE_STREAM), device = trace_whole(event, TRACE_DEVICE);
    if (stream == RECORDED_NONE && tid) { /* older: "stream 7" */
        const char *digits = strpbrk(tid, "0123456789");
        stream = digits ? (uint32_t)strtoul(digits, NULL, 10) : RECORDED_NONE;
    }
    snprintf(name, sizeof name, "stream %u", stream);
    return recorded_stream(reader->recorded, reader->rank,
                           (uint64_t)(device == RECORDED_NONE ? 0 : device) << 32 | stream, false, name);
}

static void take_sync(struct trace_reader *reader, const struct trace_event *event)
{
    struct recorded *recorded = reader->recorded;
    recorded->syncs =
        array_grow(recorded->syncs, &recorded->sync_capacity, recorded->sync_count + 1, sizeof *recorded->syncs);
    uint32_t awaited = trace_whole(event, TRACE_AWAITED_STREAM);
    recorded->syncs[recorded->sync_count++] = (struct recorded_sync){
        (uint32_t)recorded->count - 1, trace_whole(event, TRACE_STREAM), awaited, trace_whole(event, TRACE_RECORD)};
}

/* "[[8,4096],[4096,4096]] [c10::BFloat16,c10::BFloat16]": dimensions and types of an operator's inputs. */
static void take_shape(struct recorded *recorded, struct recorded_operation *operation, const struct trace_event *event)
{
    enum { SHAPE_MAX = 512 };
    char text[SHAPE_MAX];
    const char *shape = trace_text(event, event->arguments[TRACE_DIMENSIONS]),
               *types = trace_text(event, event->arguments[TRACE_TYPES]);
    if (!shape || !strcmp(shape, "[]"))
        return;
    snprintf(text, sizeof text, "%s %s", shape, types ? types : "");
    operation->shape = recorded_name(recorded, text, strlen(text));
}

bool kineto_take(struct trace_reader *reader, const struct trace_event *event)
{
    const struct category *category = category_of(event);
    if (!category)
        return false;
    if (event->phase != 'X')
        return true; /* arrows say what correlations say */
    if (!event->has_time || !event->has_duration || event->duration < 0) {
        reader->broken++;
        return true;
    }
    struct recorded *recorded = reader->recorded;
    enum recorded_kind kind = category->kind;
    double begin = trace_reader_time(reader, event);
    uint32_t stream = stream_of(reader, event, kind);
    struct recorded_operation *operation = recorded_add(recorded, kind, stream, begin, begin + event->duration * 1e-6);
    const char *name = trace_text(event, event->name);
    operation->name = name ? recorded_name(recorded, name, strlen(name)) : 0;
    operation->correlation = trace_whole(event, TRACE_CORRELATION);
    operation->external = trace_whole(event, TRACE_EXTERNAL);
    if (kind == RECORDED_MEMORY)
        operation->bytes = (float)trace_number(event, TRACE_BYTES);
    if (kind == RECORDED_HOST)
        take_shape(recorded, operation, event);
    if (kind == RECORDED_SYNC)
        take_sync(reader, event);
    else if (name)
        kineto_comms_read(recorded, operation, name, event);
    return true;
}

/* ---- which rank it is ---- */

/* One group of pg_config, whose object has begun. */
static void read_group(struct trace_reader *reader, struct json_reader *json)
{
    char name[64] = "", what[128] = "";
    uint32_t *members = NULL, size = 0;
    size_t count = 0, capacity = 0;
    while (json_next(json) == JSON_KEY) {
        char key[16];
        snprintf(key, sizeof key, "%s", json_piece_text(json, NULL));
        bool is_ranks = !strcmp(key, "ranks");
        enum json_piece piece = json_next(json);
        if (piece == JSON_ARRAY_BEGIN && is_ranks) {
            while (json_next(json) == JSON_NUMBER) {
                members = array_grow(members, &capacity, count + 1, sizeof *members);
                members[count++] = (uint32_t)strtoul(json_piece_text(json, NULL), NULL, 10);
            }
        } else if (piece == JSON_ARRAY_BEGIN || piece == JSON_OBJECT_BEGIN) {
            json_skip_rest(json);
        } else if (piece == JSON_STRING || piece == JSON_NUMBER) {
            const char *text = json_piece_text(json, NULL);
            if (!strcmp(key, "pg_name"))
                snprintf(name, sizeof name, "%s", text);
            else if (!strcmp(key, "pg_desc"))
                snprintf(what, sizeof what, "%s", text);
            else if (!strcmp(key, "pg_size"))
                size = (uint32_t)strtoul(text, NULL, 10);
        }
    }
    if (*name)
        recorded_group(reader->recorded, name, *what ? what : NULL, count ? (uint32_t)count : size,
                       count ? members : NULL);
    free(members);
}

void kineto_read_distributed(struct trace_reader *reader, struct json_reader *json)
{
    while (json_next(json) == JSON_KEY) {
        char key[16];
        snprintf(key, sizeof key, "%s", json_piece_text(json, NULL));
        enum json_piece piece = json_next(json);
        if (piece == JSON_NUMBER && (!strcmp(key, "rank") || !strcmp(key, "world_size"))) {
            double value = strtod(json_piece_text(json, NULL), NULL);
            if (!(value >= 0 && value < 1e7))
                json_refuse(json, "%s is a whole number", key);
            else if (*key == 'r')
                reader->number = (uint32_t)value;
            else
                reader->recorded->world = (uint32_t)value;
        } else if (piece == JSON_ARRAY_BEGIN && !strcmp(key, "pg_config")) {
            while (json_next(json) == JSON_OBJECT_BEGIN)
                read_group(reader, json);
        } else if (piece == JSON_ARRAY_BEGIN || piece == JSON_OBJECT_BEGIN) {
            json_skip_rest(json);
        }
    }
}

/* ---- steps ---- */

static const char step_name[] = "ProfilerStep#";

struct step_span {
    double begin, end;
    uint32_t number;
};

static int by_begin(const void *left, const void *right)
{
    const struct step_span *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static size_t find_steps(const struct trace_reader *reader, struct step_span **spans)
{
    const struct recorded *recorded = reader->recorded;
    size_t count = 0, capacity = 0;
    *spans = NULL;
    for (size_t i = reader->first; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        const char *name = recorded_name_of(recorded, operation);
        if (operation->kind != RECORDED_ANNOTATION || strncmp(name, step_name, sizeof step_name - 1) != 0)
            continue;
        *spans = array_grow(*spans, &capacity, count + 1, sizeof **spans);
        (*spans)[count++] = (struct step_span){operation->begin, operation->end,
                                               (uint32_t)strtoul(name + sizeof step_name - 1, NULL, 10)};
    }
    if (count)
        qsort(*spans, count, sizeof **spans, by_begin);
    return count;
}

/* The step that a moment of the host belongs to; RECORDED_NONE: none. */
static uint32_t step_at(const struct step_span *spans, size_t count, double time)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (spans[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && time < spans[low - 1].end ? spans[low - 1].number : RECORDED_NONE;
}

static void give_steps(struct trace_reader *reader, const struct kineto_join *join)
{
    struct recorded *recorded = reader->recorded;
    struct step_span *spans;
    size_t count = find_steps(reader, &spans);
    for (size_t i = reader->first; i < recorded->count; i++) {
        struct recorded_operation *operation = &recorded->operations[i];
        const struct recorded_operation *launch = kineto_join_launch(join, recorded, operation);
        operation->step = step_at(spans, count, launch ? launch->begin : operation->begin);
    }
    if (!count)
        recorded_note(recorded, "%s has no ProfilerStep annotations: all of it is taken for one step", reader->file);
    free(spans);
}

/* Whether something that was read is of a training, which names of operators and kernels say. */
static bool trains(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->name_count; i++) {
        const char *name = recorded->names[i];
        if (strcasestr(name, "backward") || strcasestr(name, "optimizer") || strstr(name, "_bw_") ||
            strstr(name, "autograd"))
            return true;
    }
    return false;
}

void kineto_finish(struct trace_reader *reader)
{
    struct recorded *recorded = reader->recorded;
    if (reader->rank == RECORDED_NONE)
        return;
    struct kineto_join *join = kineto_join_create(recorded, reader->first);
    kineto_comms_join(recorded, reader->first, join);
    give_steps(reader, join);
    size_t alone = 0, device = 0;
    for (size_t i = reader->first; i < recorded->count; i++)
        if (recorded_works(&recorded->operations[i])) {
            device++;
            alone += !kineto_join_launch(join, recorded, &recorded->operations[i]);
        }
    if (alone)
        recorded_note(recorded, "%s: %zu of %zu operations of the device have no launch on the host%s", reader->file,
                      alone, device, alone == device ? ": what the host did is not known" : "");
    kineto_join_destroy(join);
    if (!trains(recorded))
        recorded_note(recorded, "%s has no backward and no optimizer: it looks like inference, and is taken as it is",
                      reader->file);
}
