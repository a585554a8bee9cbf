/* SPDX-License-Identifier: Apache-2.0 */
/* The section `tails`: doc/quantiles.md. */
#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"
#include "simulator/tails/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE(name) offsetof(struct tails_values, name)

/* Computations of a micro-batch on a stage. */
struct record_row {
    uint64_t step, replica, micro_batch, stage;
    double forward, backward;
};

#define COLUMN(name) offsetof(struct record_row, name)
#define NUMBER_MOST 1e6
#define SECONDS_MOST 1e6

static const struct stagesim_field record_fields[] = {
    {"step", STAGESIM_FIELD_COUNT, COLUMN(step), .least = 0, .most = 1e12,
     .doc = "step of the recorded job; default 0"},
    {"replica", STAGESIM_FIELD_COUNT, COLUMN(replica), .least = 0, .most = NUMBER_MOST,
     .doc = "replica, along the axis data, from 0 on; default 0"},
    {"micro_batch", STAGESIM_FIELD_COUNT, COLUMN(micro_batch), .required = true, .least = 0, .most = 1e12,
     .doc = "micro-batch of the step and replica"},
    {"stage", STAGESIM_FIELD_COUNT, COLUMN(stage), .required = true, .least = 0, .most = NUMBER_MOST,
     .doc = "stage of the pipeline, from 0 on"},
    {"forward", STAGESIM_FIELD_TIME, COLUMN(forward), .required = true, .least = 0, .most = SECONDS_MOST,
     .doc = "time of the forward there"},
    {"backward", STAGESIM_FIELD_TIME, COLUMN(backward), .required = true, .least = 0, .most = SECONDS_MOST,
     .doc = "time of the whole backward there"},
    {0},
};
static const struct stagesim_row_type record_type = {"a micro-batch on a stage", record_fields,
                                                     sizeof(struct record_row), NULL};

static const struct stagesim_field tails_fields[] = {
    {"quantiles", STAGESIM_FIELD_FLAG, VALUE(quantiles),
     .doc = "whether stagesim draws steps and prints p50, p95 and p99; default true if the section is given"},
    {"like", STAGESIM_FIELD_TEXT, VALUE(like),
     .doc = "what varies as in published jobs, see `stagesim list tails`; default: usual where nothing else is given"},
    {"device", STAGESIM_FIELD_FACTORS, VALUE(device),
     .doc = "factor on the computations of a GPU, drawn once for a step"},
    {"node", STAGESIM_FIELD_FACTORS, VALUE(node),
     .doc = "factor on the computations of all GPUs of a node, drawn once for a step"},
    {"worker", STAGESIM_FIELD_FACTORS, VALUE(worker),
     .doc = "factor on the computations of all ranks of a pipeline worker of a replica, drawn once for a step"},
    {"micro_batch", STAGESIM_FIELD_FACTORS, VALUE(micro_batch),
     .doc = "factor on all computations of a micro-batch, the same on all stages: uneven sequences"},
    {"operation", STAGESIM_FIELD_FACTORS, VALUE(operation), .doc = "factor on each computation, drawn for each one"},
    {"forward", STAGESIM_FIELD_FACTORS, VALUE(forward), .doc = "in place of operation: factor on each forward"},
    {"backward", STAGESIM_FIELD_FACTORS, VALUE(backward),
     .doc = "in place of operation: factor on each backward and weight gradient"},
    {"weight", STAGESIM_FIELD_FACTORS, VALUE(weight),
     .doc = "in place of backward: factor on each weight gradient that is computed apart"},
    {"optimizer", STAGESIM_FIELD_FACTORS, VALUE(optimizer),
     .doc = "in place of operation: factor on each optimizer step"},
    {"matrix", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_MATRIX]),
     .doc = "factor on the part of each computation that is matrix products with weights; workloads that have the key "
            "compute.matrix_time know this part, likewise for the next five"},
    {"grouped", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_GROUPED]),
     .doc = "the same for grouped products: all experts of a rank, if it has more than one"},
    {"attention", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_ATTENTION]),
     .doc = "the same for all that computes with attention's scores"},
    {"scan", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_SCAN]),
     .doc = "the same for state-space scans and linear attention"},
    {"norm", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_NORM]), .doc = "the same for normalisations"},
    {"elementwise", STAGESIM_FIELD_FACTORS, VALUE(kernels[TAILS_ELEMENTWISE]),
     .doc = "the same for all other operators that only move memory"},
    {"transfer", STAGESIM_FIELD_FACTORS, VALUE(transfer), .doc = "factor on each message and collective"},
    {"message", STAGESIM_FIELD_FACTORS, VALUE(message), .doc = "in place of transfer: factor on each message"},
    {"collective", STAGESIM_FIELD_FACTORS, VALUE(collective), .doc = "in place of transfer: factor on each collective"},
    {"link", STAGESIM_FIELD_FACTORS, VALUE(link),
     .doc = "factor on all transfers that leave a node or come to it, drawn once for a step; for a transfer between "
            "nodes the largest counts"},
    {"pause", STAGESIM_FIELD_DISTRIBUTION, VALUE(pause),
     .doc = "how long a rank pauses before one of its forwards, for example for garbage collection"},
    {"pause_every", STAGESIM_FIELD_RATIO, VALUE(pause_every), .least = 1, .most = 1e9,
     .doc = "a rank pauses once in so many steps, each rank in steps of its own; default 1"},
    {"trace", STAGESIM_FIELD_ROWS, VALUE(trace), .rows = &record_type,
     .doc = "recorded micro-batches; each draw takes a micro-batch with all of its stages"},
    {"steps", STAGESIM_FIELD_COUNT, VALUE(steps), .least = 100, .most = 1000000,
     .doc = "how many steps are drawn; default 1000"},
    {"seed", STAGESIM_FIELD_COUNT, VALUE(seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of the random numbers; default 0"},
    {0},
};

const struct fields_section tails_section = {"tails", true, tails_fields};
const struct tails_values tails_defaults = {.steps = 1000, .pause_every = 1, .quantiles = true};

bool scenario_expand_tails(struct loader *loader, struct node *node, const char *section)
{
    bool own = !strcmp(section, tails_section.name);
    if (own)
        node_wrap(node, "like", loader->fields.arena);
    return own;
}

/* ---- recorded micro-batches ---- */

static int by_record(const void *left, const void *right)
{
    const struct record_row *a = left, *b = right;
    const uint64_t keys[][2] = {
        {a->replica, b->replica}, {a->step, b->step}, {a->micro_batch, b->micro_batch}, {a->stage, b->stage}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static struct tails_trace *refuse(const struct loader *loader, const char *text)
{
    diag_error(loader->fields.diag, node_place(loader->root, "tails.trace"), "%s", text);
    return NULL;
}

static bool is_whole(const struct record_row *rows, size_t stages)
{
    for (size_t stage = 0; stage < stages; stage++)
        if (rows[stage].stage != stage || rows[stage].replica != rows->replica || rows[stage].step != rows->step ||
            rows[stage].micro_batch != rows->micro_batch)
            return false;
    return true;
}

static struct tails_trace *make_trace(const struct loader *loader, struct record_row *rows, size_t count, size_t stages)
{
    struct arena *arena = loader->fields.arena;
    struct tails_trace *trace = arena_alloc(arena, sizeof *trace);
    struct tails_record *records = arena_array(arena, count / stages, sizeof *records);
    size_t *first = arena_array(arena, count / stages + 1, sizeof *first);
    for (size_t i = 0; i < count / stages; i++) {
        double *times = arena_array(arena, 2 * stages, sizeof *times);
        const struct record_row *row = &rows[i * stages];
        for (size_t stage = 0; stage < stages; stage++) {
            times[stage] = row[stage].forward;
            times[stages + stage] = row[stage].backward;
        }
        if (!i || row->replica != row[-1].replica)
            first[trace->replicas++] = i;
        records[i] = (struct tails_record){trace->replicas - 1, times, times + stages};
    }
    first[trace->replicas] = trace->count = count / stages;
    trace->records = records;
    trace->first = first;
    trace->stages = (uint32_t)stages;
    return trace;
}

/* NULL: none is given, or a mistake was reported. */
static struct tails_trace *take_trace(const struct loader *loader, const struct stagesim_rows *given)
{
    size_t stages = 0;
    if (!given->count)
        return NULL;
    struct record_row *rows = arena_array(loader->fields.arena, given->count, sizeof *rows);
    memcpy(rows, given->rows, given->count * sizeof *rows);
    qsort(rows, given->count, sizeof *rows, by_record);
    for (size_t i = 0; i < given->count; i++)
        stages = rows[i].stage >= stages ? rows[i].stage + 1 : stages;
    for (size_t i = 0; i < given->count; i += stages)
        if (i + stages > given->count || !is_whole(&rows[i], stages))
            return refuse(loader,
                          arena_print(loader->fields.arena,
                                      "micro-batch %llu of replica %llu in step %llu has not one row for each "
                                      "of the %zu stages; expected whole micro-batches",
                                      (unsigned long long)rows[i].micro_batch, (unsigned long long)rows[i].replica,
                                      (unsigned long long)rows[i].step, stages));
    return make_trace(loader, rows, given->count, stages);
}

/* ---- the section ---- */

static const struct distribution *drawn(const struct fields_distribution *value)
{
    return value ? &value->distribution : NULL;
}

static void take_published(const struct loader *loader, struct tails_settings *settings)
{
    const char *names[16];
    size_t count = 0;
    const struct tails_published *published = settings->like ? tails_published_find(settings->like) : NULL;
    if (published)
        tails_published_fill(published, settings, loader->fields.arena);
    if (published || !settings->like)
        return;
    for (; tails_published_table[count]; count++)
        names[count] = tails_published_table[count]->name;
    const char *near = diag_nearest(settings->like, names, count);
    diag_error(loader->fields.diag, node_place(loader->root, "tails.like"),
               "there are no published tails '%.60s'; expected a name that `stagesim list tails` has%s%s%s",
               settings->like, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool has_key(const struct stagesim_workload *workload, const char *key)
{
    const struct stagesim_field *field = workload ? workload->fields : NULL;
    while (field && field->key && strcmp(field->key, key) != 0)
        field++;
    return field && field->key;
}

/* Workloads that know what a class of kernels takes have a key by which it takes longer. */
static void take_kernels(const struct loader *loader, const struct tails_values *values,
                         struct tails_settings *settings)
{
    struct arena *arena = loader->fields.arena;
    const struct stagesim_workload *workload = loader->scenario->workload;
    for (int kernel = 0; kernel < TAILS_KERNELS; kernel++) {
        const char *name = tails_kernel_names[kernel], *key = arena_print(arena, "compute.%s_time", name);
        settings->kernels[kernel] = drawn(values->kernels[kernel]);
        if (settings->kernels[kernel] && workload && !has_key(workload, key))
            diag_error(loader->fields.diag, node_place(loader->root, arena_print(arena, "tails.%s", name)),
                       "the workload %s has no classes of kernels; expected one with the key %s, as transformer, or "
                       "factors by kind: forward, backward, weight, optimizer",
                       workload->name, key);
    }
}

static bool varies(const struct tails_settings *s)
{
    for (int kernel = 0; kernel < TAILS_KERNELS; kernel++)
        if (s->kernels[kernel])
            return true;
    return s->device || s->node || s->worker || s->micro_batch || s->operation || s->forward || s->backward ||
           s->weight || s->optimizer || s->transfer || s->message || s->collective || s->link || s->pause || s->trace;
}

static void check(const struct loader *loader, const struct tails_values *values)
{
    const struct {
        bool wrong;
        const char *path, *text;
    } needs[] = {
        {values->pause_every > 1 && !values->pause, "tails.pause_every", "pause_every changes nothing; it needs pause"},
        {values->trace.count && values->micro_batch, "tails.micro_batch",
         "micro_batch and trace both say what micro-batches take; expected one of them"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].wrong)
            diag_error(loader->fields.diag, node_place(loader->root, needs[i].path), "%s", needs[i].text);
}

void scenario_read_tails(struct loader *loader)
{
    struct tails_values values = tails_defaults;
    struct tails_settings *settings = &loader->scenario->tails;
    unsigned errors = loader->fields.diag->errors;
    struct node *node = node_get(loader->root, tails_section.name);
    if (node && node->kind == NODE_SCALAR && !node_is_empty(node))
        scenario_expand_tails(loader, node, tails_section.name);
    fields_check_keys(&loader->fields, &tails_section, NULL, node);
    fields_read(&loader->fields, &tails_section, node, loader->root->at, &values);
    if (loader->fields.diag->errors != errors)
        return;
    *settings = (struct tails_settings){.given = node && !node_is_empty(node) && values.quantiles,
                                        .like = values.like,
                                        .device = drawn(values.device),
                                        .node = drawn(values.node),
                                        .worker = drawn(values.worker),
                                        .micro_batch = drawn(values.micro_batch),
                                        .operation = drawn(values.operation),
                                        .forward = drawn(values.forward),
                                        .backward = drawn(values.backward),
                                        .weight = drawn(values.weight),
                                        .optimizer = drawn(values.optimizer),
                                        .transfer = drawn(values.transfer),
                                        .message = drawn(values.message),
                                        .collective = drawn(values.collective),
                                        .link = drawn(values.link),
                                        .pause = drawn(values.pause),
                                        .pause_every = values.pause_every,
                                        .trace = take_trace(loader, &values.trace),
                                        .steps = (uint32_t)values.steps,
                                        .seed = values.seed};
    take_kernels(loader, &values, settings);
    check(loader, &values);
    if (!settings->like && !varies(settings) && loader->fields.diag->errors == errors)
        settings->like = tails_published_table[0]->name;
    take_published(loader, settings);
}
