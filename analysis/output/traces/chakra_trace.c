/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a rank are in the order in which they start, each behind those that it waits for. Attributes that simulators
 * read: is_cpu_op, num_ops, tensor_size, comm_type, comm_size, comm_src, comm_dst, comm_tag, pg_name; the others say
 * which operation it is, with its exact times. */
#include "analysis/output/traces/chakra_trace.h"

#include "analysis/figures/partner.h"
#include "analysis/output/traces/replay.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/chakra/chakra.h"
#include "base/files/parts.h"
#include "base/json_writer.h"
#include "base/protobuf/protobuf.h"
#include "simulator/program/operation_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double microseconds = 1e6;
enum { ATTRIBUTES_MAX = 20 };

struct trace {
    FILE *out;
    const struct replay *replay;
    struct protobuf buffer;
    uint32_t rank; /* of the job */
    const struct position *position;
    const struct moment *moments;
    uint64_t *node_of;   /* [operation]: its node; of two nodes the second */
    double *rest;        /* [stream] */
    uint64_t next, root; /* node; the one that what waits for nothing else waits for, 0: none */
    uint64_t *waits;     /* of the node under way */
    size_t wait_count, wait_capacity;
    struct chakra_attribute attributes[ATTRIBUTES_MAX];
    size_t attribute_count;
};

/* ---- attributes ---- */

static struct chakra_attribute *add(struct trace *trace, const char *name, enum chakra_value type)
{
    struct chakra_attribute *attribute = &trace->attributes[trace->attribute_count++];
    *attribute = (struct chakra_attribute){.name = name, .type = type};
    return attribute;
}

static void add_whole(struct trace *trace, const char *name, uint64_t value)
{
    add(trace, name, CHAKRA_WHOLE)->whole = (int64_t)value;
}

static void add_flag(struct trace *trace, const char *name, bool value)
{
    add(trace, name, CHAKRA_FLAG)->whole = value;
}

static void add_text(struct trace *trace, const char *name, const char *text)
{
    add(trace, name, CHAKRA_TEXT)->text = text;
}

static uint64_t whole(double value)
{
    return value > 0 ? (uint64_t)fmin(round(value), 0x1p62) : 0;
}

static void add_identity(struct trace *trace, uint32_t id, const struct operation *operation)
{
    add_whole(trace, "position", trace->replay->program->mesh->position_of[trace->rank]);
    add_whole(trace, "stream", operation->stream);
    add_whole(trace, "operation", id);
    add_text(trace, "kind", kind_name(operation->kind));
    if (operation->stage != STAGE_NONE)
        add_whole(trace, "stage", operation->stage);
    if (operation->micro_batch != MICRO_BATCH_NONE)
        add_whole(trace, "micro_batch", operation->micro_batch);
    if (trace->replay->program->iterations > 1)
        add_whole(trace, "iteration", operation->iteration);
    add(trace, "start_s", CHAKRA_NUMBER)->number = trace->replay->job->start + trace->moments[id].start;
    add(trace, "data_start_s", CHAKRA_NUMBER)->number = trace->replay->job->start + trace->moments[id].data_start;
    add(trace, "end_s", CHAKRA_NUMBER)->number = trace->replay->job->start + trace->moments[id].end;
}

/* ---- nodes ---- */

static void wait_for(struct trace *trace, uint64_t node)
{
    for (size_t i = 0; i < trace->wait_count; i++)
        if (trace->waits[i] == node)
            return;
    trace->waits = array_grow(trace->waits, &trace->wait_capacity, trace->wait_count + 1, sizeof *trace->waits);
    trace->waits[trace->wait_count++] = node;
}

/* The node under way, with what has been added; what it waits for stays. */
static void put(struct trace *trace, enum chakra_type type, const char *name, uint64_t start, uint64_t duration)
{
    struct chakra_node node = {.id = trace->next++,
                               .name = name,
                               .type = type,
                               .data = trace->waits,
                               .data_count = trace->wait_count,
                               .start_micros = start,
                               .duration_micros = duration,
                               .inputs = "",
                               .outputs = "",
                               .attributes = trace->attributes,
                               .attribute_count = trace->attribute_count};
    chakra_put_node(&trace->buffer, &node);
    parts_put(trace->out, trace->buffer.bytes, trace->buffer.size);
    trace->attribute_count = 0;
}

static void add_message(struct trace *trace, uint32_t from, uint32_t to, uint32_t tag, double bytes)
{
    add_flag(trace, "is_cpu_op", false);
    add_whole(trace, "comm_src", trace->replay->first_rank + from);
    add_whole(trace, "comm_dst", trace->replay->first_rank + to);
    add_whole(trace, "comm_tag", tag);
    add_whole(trace, "comm_size", whole(bytes));
}

static enum chakra_collective collective_type(enum stagesim_collective collective)
{
    static const enum chakra_collective types[STAGESIM_COLLECTIVES] = {
        [STAGESIM_ALL_REDUCE] = CHAKRA_ALL_REDUCE, [STAGESIM_REDUCE_SCATTER] = CHAKRA_REDUCE_SCATTER,
        [STAGESIM_ALL_GATHER] = CHAKRA_ALL_GATHER, [STAGESIM_ALL_TO_ALL] = CHAKRA_ALL_TO_ALL,
        [STAGESIM_BROADCAST] = CHAKRA_BROADCAST,   [STAGESIM_REDUCE] = CHAKRA_REDUCE,
        [STAGESIM_BARRIER] = CHAKRA_BARRIER,       [STAGESIM_SEND_RECEIVE] = CHAKRA_COLLECTIVES};
    return types[collective];
}

struct when {
    uint64_t start, duration;
};

/* Every member sends to the next one and receives from the one before: a send, and a receive that others wait for. */
static void put_ring(struct trace *trace, uint32_t id, const struct operation *operation, const struct stream *stream,
                     const char *name, struct when when)
{
    const struct program *program = trace->replay->program;
    const struct group *group = &program->groups[stream->peer];
    uint32_t size = group_size(program, group), member = 0;
    uint32_t *ranks = array_grow(NULL, &(size_t){0}, size, sizeof *ranks);
    double bytes = operation_cost(program, operation)->bytes;
    uint32_t tag = replay_tag(trace->replay, stream, trace->rank);
    group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[trace->rank]), ranks);
    while (ranks[member] != trace->rank)
        member++;
    add_message(trace, trace->rank, ranks[(member + 1) % size], tag, bytes);
    add_identity(trace, id, operation);
    put(trace, CHAKRA_SEND, name, when.start, when.duration);
    wait_for(trace, trace->next - 1);
    add_message(trace, ranks[(member + size - 1) % size], trace->rank, tag, bytes);
    add_identity(trace, id, operation);
    free(ranks);
    put(trace, CHAKRA_RECEIVE, name, when.start, when.duration);
}

static void put_collective(struct trace *trace, uint32_t id, const struct operation *operation,
                           const struct stream *stream, const char *name, struct when when)
{
    const struct program *program = trace->replay->program;
    uint32_t ranks = group_size(program, &program->groups[stream->peer]);
    double bytes = operation_cost(program, operation)->bytes;
    char group[16];
    snprintf(group, sizeof group, "%u", replay_group(trace->replay, stream->peer, trace->rank));
    if (ranks > 1 && operation->collective == STAGESIM_SEND_RECEIVE) {
        put_ring(trace, id, operation, stream, name, when);
        return;
    }
    add_flag(trace, "is_cpu_op", ranks == 1);
    if (ranks > 1) {
        add_whole(trace, "comm_type", (uint64_t)collective_type(operation->collective));
        add_whole(trace, "comm_size", whole(operation->collective == STAGESIM_ALL_GATHER ? bytes / ranks : bytes));
        add_text(trace, "pg_name", group);
    }
    add_identity(trace, id, operation);
    put(trace, ranks > 1 ? CHAKRA_COLLECTIVE : CHAKRA_COMPUTE, name, when.start, when.duration);
}

/* A copy to the memory of the host or from there is one node, and its other end only marks when it has arrived. */
static void put_message(struct trace *trace, uint32_t id, const struct operation *operation,
                        const struct stream *stream, const char *name, struct when when)
{
    double bytes = operation_cost(trace->replay->program, operation)->bytes;
    bool sends = operation->type == OPERATION_SEND;
    uint32_t peer = partner_rank(trace->replay->program, trace->rank, stream);
    enum chakra_type type = sends ? CHAKRA_SEND : CHAKRA_RECEIVE;
    if (replay_is_copy(trace->replay, trace->rank, stream)) {
        type = !sends ? CHAKRA_COMPUTE : operation->kind == STAGESIM_OFFLOAD ? CHAKRA_MEMORY_STORE : CHAKRA_MEMORY_LOAD;
        add_flag(trace, "is_cpu_op", !sends);
        add_whole(trace, "tensor_size", whole(bytes));
        if (!sends)
            wait_for(trace, trace->node_of[partner_id(trace->replay->program, stream, id)]);
    } else {
        add_message(trace, sends ? trace->rank : peer, sends ? peer : trace->rank,
                    replay_tag(trace->replay, stream, trace->rank), bytes);
    }
    add_identity(trace, id, operation);
    put(trace, type, name, when.start, type == CHAKRA_COMPUTE ? 0 : when.duration);
}

static void put_computation(struct trace *trace, uint32_t id, const struct operation *operation, const char *name,
                            struct when when)
{
    const struct program *program = trace->replay->program;
    double flops = operation_cost(program, operation)->flops *
                   operation_factor(program, operation, program->mesh->replica_of[trace->rank]);
    add_flag(trace, "is_cpu_op", operation->type == OPERATION_DELAY);
    if (operation->type == OPERATION_COMPUTE && flops > 0)
        add_whole(trace, "num_ops", whole(flops));
    add_identity(trace, id, operation);
    put(trace, CHAKRA_COMPUTE, name, when.start, when.duration);
}

static void put_operation(struct trace *trace, uint32_t id)
{
    const struct operation *operation = &trace->position->operations[id];
    const struct stream *stream = &trace->position->streams[operation->stream];
    const struct moment *moment = &trace->moments[id];
    char name[OPERATION_TEXT_MAX];
    double start = operation->type == OPERATION_RECEIVE ? moment->data_start : moment->start;
    struct when when = {whole((trace->replay->job->start + start) * microseconds),
                        replay_duration(moment->end - start, microseconds, &trace->rest[operation->stream])};
    operation_text(name, trace->position, operation);
    trace->wait_count = 0;
    if (id > stream->first)
        wait_for(trace, trace->node_of[id - 1]);
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        wait_for(trace, trace->node_of[operation_wait(trace->position, operation, i)]);
    if (!trace->wait_count && trace->root)
        wait_for(trace, trace->root);
    if (operation->type == OPERATION_COLLECTIVE)
        put_collective(trace, id, operation, stream, name, when);
    else if (operation->type == OPERATION_SEND || operation->type == OPERATION_RECEIVE)
        put_message(trace, id, operation, stream, name, when);
    else
        put_computation(trace, id, operation, name, when);
    trace->node_of[id] = trace->next - 1;
}

/* ---- ranks ---- */

/* Whether all that an operation waits for has a node. */
static bool is_ready(const struct trace *trace, uint32_t id)
{
    const struct operation *operation = &trace->position->operations[id];
    const struct stream *stream = &trace->position->streams[operation->stream];
    if (operation->type == OPERATION_RECEIVE && replay_is_copy(trace->replay, trace->rank, stream) &&
        !trace->node_of[partner_id(trace->replay->program, stream, id)])
        return false;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        if (!trace->node_of[operation_wait(trace->position, operation, i)])
            return false;
    return true;
}

/* The stream whose next operation is ready and starts first; the number of streams: all are done. */
static uint32_t next_stream(const struct trace *trace, const uint32_t *done)
{
    uint32_t best = trace->position->stream_count;
    double first = INFINITY;
    for (uint32_t i = 0; i < trace->position->stream_count; i++) {
        const struct stream *stream = &trace->position->streams[i];
        uint32_t id = stream->first + done[i];
        if (done[i] < stream->count && trace->moments[id].start < first && is_ready(trace, id)) {
            first = trace->moments[id].start;
            best = i;
        }
    }
    return best;
}

/* [{"pg_name": "3", "ranks": [0, 4]}]: the groups that a rank is in, as PyTorch says it. */
static char *groups_text(const struct trace *trace)
{
    const struct program *program = trace->replay->program;
    char *text = NULL;
    size_t size = 0;
    bool any = false;
    FILE *out = memory_stream_open(&text, &size);
    fputs("[", out);
    for (uint32_t i = 0; i < trace->position->stream_count; i++) {
        const struct stream *stream = &trace->position->streams[i];
        if (stream->type != OPERATION_COLLECTIVE)
            continue;
        const struct group *group = &program->groups[stream->peer];
        uint32_t count = group_size(program, group);
        uint32_t *ranks = array_grow(NULL, &(size_t){0}, count, sizeof *ranks);
        group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[trace->rank]), ranks);
        fprintf(out, "%s{\"pg_name\": \"%u\", \"ranks\": [", any ? ", " : "",
                replay_group(trace->replay, stream->peer, trace->rank));
        for (uint32_t k = 0; k < count; k++)
            fprintf(out, "%s%u", k ? ", " : "", trace->replay->first_rank + ranks[k]);
        fputs("]}", out);
        free(ranks);
        any = true;
    }
    fputs("]", out);
    memory_stream_close(out);
    return text;
}

/* Where the job begins later than others, something has to take that long. */
static void put_start(struct trace *trace, double seconds)
{
    trace->wait_count = 0;
    add_flag(trace, "is_cpu_op", true);
    put(trace, CHAKRA_COMPUTE, "start of the job", 0, whole(seconds * microseconds));
    trace->root = trace->next - 1;
}

/* What the file is of. Nodes of metadata would stop ASTRA-sim. */
static void put_beginning(struct trace *trace)
{
    char *groups = groups_text(trace);
    uint64_t number = (uint64_t)trace->replay->first_rank + trace->rank;
    struct chakra_attribute about[] = {{.name = "rank", .type = CHAKRA_WHOLE, .whole = (int64_t)number},
                                       {.name = "process_groups", .type = CHAKRA_TEXT, .text = groups}};
    chakra_put_metadata(&trace->buffer, "1.0.0", about, 2);
    parts_put(trace->out, trace->buffer.bytes, trace->buffer.size);
    trace->next = 1;
    trace->root = 0;
    if (trace->replay->job->start > 0)
        put_start(trace, trace->replay->job->start);
    free(groups);
}

static void write_rank(struct trace *trace, uint32_t rank)
{
    struct arena *arena = arena_create();
    char name[PARTS_NAME_MAX];
    trace->rank = rank;
    trace->position = replay_position(trace->replay, rank);
    trace->moments = timeline_rank(trace->replay->job->source.timeline, rank);
    trace->node_of = arena_array(arena, trace->position->operation_count + (size_t)1, sizeof *trace->node_of);
    trace->rest = arena_array(arena, trace->position->stream_count, sizeof *trace->rest);
    uint32_t *done = arena_array(arena, trace->position->stream_count, sizeof *done);
    snprintf(name, sizeof name, "chakra/rank.%u.et", trace->replay->first_rank + rank);
    parts_begin(trace->out, name);
    put_beginning(trace);
    for (uint32_t i; (i = next_stream(trace, done)) < trace->position->stream_count; done[i]++)
        put_operation(trace, trace->position->streams[i].first + done[i]);
    parts_end(trace->out);
    arena_destroy(arena);
}

/* {"1": [0, 4], ...}: process groups, as ASTRA-sim's --comm-group-configuration. */
static void write_groups(const struct replay *replay, struct json_writer *json, struct arena *arena)
{
    const struct program *program = replay->program;
    for (uint32_t i = 0; i < program->group_count; i++) {
        const struct group *group = &program->groups[i];
        uint32_t size = group_size(program, group);
        uint32_t *ranks = arena_array(arena, size, sizeof *ranks);
        for (uint32_t instance = 0; instance < group_instances(program, group); instance++) {
            char name[16];
            snprintf(name, sizeof name, "%u", replay->first_group[i] + instance);
            group_ranks(program, group, instance, ranks);
            json_array_begin(json, name, false);
            for (uint32_t k = 0; k < size; k++)
                json_integer(json, NULL, (uint64_t)replay->first_rank + ranks[k]);
            json_array_end(json);
        }
    }
}

static void write_all_groups(FILE *out, const struct replay *replays, uint32_t count, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = memory_stream_open(&text, &size);
    struct json_writer json = json_writer_init(memory);
    json_object_begin(&json, NULL, true);
    for (uint32_t i = 0; i < count; i++)
        write_groups(&replays[i], &json, arena);
    json_object_end(&json);
    putc('\n', memory);
    memory_stream_close(memory);
    parts_begin(out, "chakra/groups.json");
    parts_put(out, text, size);
    parts_end(out);
    free(text);
}

void chakra_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct arena *arena = arena_create();
    struct replay *replays = replay_jobs(jobs, count, arena);
    struct trace trace = {.out = out};
    for (uint32_t i = 0; i < count; i++) {
        trace.replay = &replays[i];
        for (uint32_t rank = 0; rank < replays[i].program->mesh->ranks && !ferror(out); rank++)
            write_rank(&trace, rank);
    }
    write_all_groups(out, replays, count, arena);
    free(trace.waits);
    free(trace.buffer.bytes);
    arena_destroy(arena);
}

bool chakra_trace_allows(const struct program *const *programs, uint32_t count, struct fault *fault)
{
    uint64_t ranks = 0, nodes = 0;
    for (uint32_t i = 0; i < count; i++) {
        ranks += programs[i]->mesh->ranks;
        nodes += program_all_operations(programs[i]);
    }
    if (ranks > CHAKRA_RANKS_MAX)
        return fault_set(fault, "a trace for Chakra has a file for every rank, at most %d; the job has %llu ranks",
                         CHAKRA_RANKS_MAX, (unsigned long long)ranks);
    return nodes <= CHAKRA_NODES_MAX ||
           fault_set(fault,
                     "a trace for Chakra has a node for every operation of every rank, at most %d; the job has %llu",
                     CHAKRA_NODES_MAX, (unsigned long long)nodes);
}
