/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/chakra_run.h"

#include "base/arena.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run of thirty thousand years. */
static const double seconds_most = 1e12;

/* A node and its operation, or one that waits and whom for. */
struct link {
    uint64_t node;
    uint32_t operation;
};

struct links {
    struct link *links;
    size_t count, capacity;
};

struct chakra_run {
    struct trace_reader *reader;
    struct links nodes, waits;
    uint32_t *next; /* [stream]: operations so far */
    size_t next_count, next_capacity;
};

static const struct chakra_attribute *find(const struct chakra_node *node, const char *name, enum chakra_value type)
{
    const struct chakra_attribute *attribute = chakra_find(node, name);
    return attribute && attribute->type == type ? attribute : NULL;
}

static uint32_t whole(const struct chakra_node *node, const char *name, uint32_t most)
{
    const struct chakra_attribute *attribute = find(node, name, CHAKRA_WHOLE);
    return attribute && attribute->whole >= 0 && attribute->whole <= most ? (uint32_t)attribute->whole : RECORDED_NONE;
}

static double number(const struct chakra_node *node, const char *name)
{
    const struct chakra_attribute *attribute = find(node, name, CHAKRA_NUMBER);
    return attribute ? attribute->number : NAN;
}

bool chakra_run_is(const struct chakra_node *node)
{
    return find(node, "operation", CHAKRA_WHOLE) && find(node, "kind", CHAKRA_TEXT) &&
           find(node, "start_s", CHAKRA_NUMBER) && find(node, "end_s", CHAKRA_NUMBER);
}

struct chakra_run *chakra_run_create(struct trace_reader *reader)
{
    struct chakra_run *run = array_zeroed(1, sizeof *run);
    run->reader = reader;
    return run;
}

void chakra_run_destroy(struct chakra_run *run)
{
    if (!run)
        return;
    free(run->nodes.links);
    free(run->waits.links);
    free(run->next);
    free(run);
}

static void add(struct links *links, uint64_t node, uint32_t operation)
{
    links->links = array_grow(links->links, &links->capacity, links->count + 1, sizeof *links->links);
    links->links[links->count++] = (struct link){node, operation};
}

/* The n-th operation of its stream. */
static uint32_t number_in(struct chakra_run *run, uint32_t stream)
{
    while (run->next_count <= stream) {
        run->next = array_grow(run->next, &run->next_capacity, run->next_count + 1, sizeof *run->next);
        run->next[run->next_count++] = 0;
    }
    return run->next[stream]++;
}

enum recorded_kind chakra_run_kind(const struct chakra_node *node)
{
    static const enum recorded_kind kinds[CHAKRA_TYPES] = {
        [CHAKRA_MEMORY_LOAD] = RECORDED_MEMORY, [CHAKRA_MEMORY_STORE] = RECORDED_MEMORY,
        [CHAKRA_COMPUTE] = RECORDED_COMPUTE,    [CHAKRA_SEND] = RECORDED_SEND,
        [CHAKRA_RECEIVE] = RECORDED_RECEIVE,    [CHAKRA_COLLECTIVE] = RECORDED_COLLECTIVE};
    return kinds[node->type];
}

/* "FB 0.3+1.2": what the second of a block is of. */
static void take_block(struct recorded *recorded, const char *name)
{
    const char *plus = strchr(name, '+');
    uint16_t stage;
    uint32_t micro_batch;
    if (!plus)
        return;
    words_pair(plus + 1, &stage, &micro_batch);
    if (stage != RECORDED_NO_STAGE && micro_batch != RECORDED_NONE)
        recorded_add_block(recorded, stage, micro_batch);
}

/* A delay of the host takes no place among computations. */
static bool is_delay(const struct chakra_node *node)
{
    const struct chakra_attribute *host = find(node, "is_cpu_op", CHAKRA_FLAG);
    return host && host->whole && node->type == CHAKRA_COMPUTE;
}

static void describe(struct chakra_run *run, const struct chakra_node *node, struct recorded_operation *operation)
{
    struct recorded *recorded = run->reader->recorded;
    const char *kind = find(node, "kind", CHAKRA_TEXT)->text;
    const struct chakra_attribute *group = find(node, "pg_name", CHAKRA_TEXT);
    bool sends = operation->kind == RECORDED_SEND, message = recorded_is_message(operation);
    uint32_t stage = whole(node, "stage", RECORDED_NO_STAGE - 1), step = whole(node, "iteration", RECORDED_NONE - 2);
    operation->name = recorded_name(recorded, kind, strlen(kind));
    operation->work = (uint8_t)words_work(kind, strlen(kind));
    operation->stage = stage == RECORDED_NONE ? RECORDED_NO_STAGE : (uint16_t)stage;
    operation->micro_batch = whole(node, "micro_batch", RECORDED_NONE - 1);
    operation->step = step == RECORDED_NONE ? 0 : step;
    operation->sequence = number_in(run, operation->stream);
    operation->waiting = operation->kind == RECORDED_COLLECTIVE || operation->kind == RECORDED_RECEIVE;
    if (operation->kind == RECORDED_COLLECTIVE || message)
        operation->data = fmin(fmax(number(node, "data_start_s"), operation->begin), operation->end);
    if (message) {
        const struct chakra_attribute *size = find(node, "comm_size", CHAKRA_WHOLE);
        operation->peer = whole(node, sends ? "comm_dst" : "comm_src", RECORDED_RANK_MOST);
        operation->bytes = size && size->whole >= 0 ? (float)size->whole : (float)NAN;
    }
    if (group && *group->text)
        operation->group = recorded_group(recorded, group->text, NULL, 0, NULL);
    take_block(recorded, node->name);
}

void chakra_run_take(struct chakra_run *run, const struct chakra_node *node)
{
    struct trace_reader *reader = run->reader;
    struct recorded *recorded = reader->recorded;
    double begin = number(node, "start_s"), end = number(node, "end_s");
    char name[32];
    if (!(begin >= 0 && end >= begin && end <= seconds_most) || node->type <= CHAKRA_METADATA ||
        node->type >= CHAKRA_TYPES) {
        reader->broken++;
        return;
    }
    if (reader->rank == RECORDED_NONE)
        reader->rank = recorded_rank(recorded, RECORDED_NONE, reader->file);
    uint32_t position = whole(node, "position", RECORDED_RANK_MOST), stream = whole(node, "stream", RECORDED_NONE - 1);
    snprintf(name, sizeof name, "stream %u", stream);
    recorded->ranks[reader->rank].stage = position;
    stream = recorded_stream(recorded, reader->rank, stream, false, name);
    uint32_t index = (uint32_t)recorded->count;
    describe(run, node,
             recorded_add(recorded, is_delay(node) ? RECORDED_MEMORY : chakra_run_kind(node), stream, begin, end));
    add(&run->nodes, node->id, index);
    for (size_t i = 0; i < node->data_count; i++)
        add(&run->waits, node->data[i], index);
}

static int by_node(const void *left, const void *right)
{
    const struct link *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

void chakra_run_finish(struct chakra_run *run)
{
    struct recorded *recorded = run->reader->recorded;
    const struct links *nodes = &run->nodes;
    if (nodes->count)
        qsort(nodes->links, nodes->count, sizeof *nodes->links, by_node);
    for (size_t i = 0; i < run->waits.count; i++) {
        const struct link *wait = &run->waits.links[i];
        size_t at = 0, high = nodes->count;
        while (at < high) {
            size_t middle = (at + high) / 2;
            if (nodes->links[middle].node < wait->node)
                at = middle + 1;
            else
                high = middle;
        }
        if (at == nodes->count || nodes->links[at].node != wait->node || nodes->links[at].operation == wait->operation)
            continue; /* nothing that takes time */
        recorded->waits =
            array_grow(recorded->waits, &recorded->wait_capacity, recorded->wait_count + 1, sizeof *recorded->waits);
        recorded->waits[recorded->wait_count++] = (struct recorded_wait){wait->operation, nodes->links[at].operation};
    }
}
