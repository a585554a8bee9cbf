/* SPDX-License-Identifier: Apache-2.0 */
/* Chimera: f pairs of pipelines run through the same workers in opposite directions, so that one fills the bubbles of
 * the other. Every worker holds a stage of each of the 2f pipelines.
 *
 * The order comes from a grid of equal slots: in a unit of D micro-batches the i-th of a pipeline has its forward of
 * stage s in slot 2i + s and its backward in slot 2i + 2D - 1 - s; no worker has two in one slot. Further units follow
 * 2D slots later. Forward doubling (two forwards as one) and backward halving (a backward as two) fill a unit of 3D
 * slots with D forwards and 2D backwards per worker. */
#include "base/arena.h"
#include "schedules/schedules.h"

#include <stdlib.h>

enum { OPTION_PAIRS, OPTION_CONCATENATION, OPTION_SYNC };
enum concatenation { DIRECT, DOUBLING, DOUBLING_SPLIT, HALVING };
enum sync { EAGER, EAGER_OPT, AFTER };

static const char *const concatenations[] = {"direct", "doubling", "doubling-split", "halving", NULL};
static const char *const syncs[] = {"eager", "eager-opt", "after", NULL};

static const struct schedule_option options[] = {
    [OPTION_PAIRS] = {.key = "pairs",
                      .initial = 1,
                      .least = 1,
                      .most = 32767,
                      .doc = "pairs of pipelines (f); divides half the workers"},
    [OPTION_CONCATENATION] = {.key = "concatenation",
                              .names = concatenations,
                              .doc = "how micro-batches follow each other if there are more than workers"},
    [OPTION_SYNC] = {.key = "sync", .names = syncs, .doc = "when a stage's gradients are synchronised"},
    {0},
};

/* What the grid of a request looks like. */
struct grid {
    enum concatenation concatenation;
    uint32_t workers, pipelines, micro_batches;
    uint32_t units, unit; /* units that follow each other, micro-batches of one */
    uint32_t forwards;    /* forward entries of one pipeline in a unit */
    uint32_t shift;       /* slots between units */
    size_t slots;         /* of the whole grid */
};

static struct grid grid_of(const struct schedule_request *request)
{
    uint32_t workers = request->workers;
    struct grid grid = {.concatenation = (enum concatenation)request->options[OPTION_CONCATENATION],
                        .workers = workers,
                        .pipelines = 2 * (uint32_t)request->options[OPTION_PAIRS],
                        .micro_batches = request->micro_batches};
    bool doubling = grid.concatenation == DOUBLING || grid.concatenation == DOUBLING_SPLIT;
    grid.unit = doubling ? 2 * workers : workers;
    grid.units = (grid.micro_batches + grid.unit - 1) / grid.unit;
    grid.forwards = workers / grid.pipelines;
    grid.shift = grid.concatenation == DIRECT ? 2 * workers : 3 * workers;
    grid.slots = (size_t)grid.units * grid.shift + (size_t)2 * workers;
    return grid;
}

/* Micro-batches of a pipeline in a unit: less than its full share only in a last, shorter one, which is spread evenly
 * over the pipelines. */
static uint32_t share(const struct grid *grid, uint32_t unit, uint32_t pipeline)
{
    uint32_t left = grid->micro_batches - unit * grid->unit;
    if (left >= grid->unit)
        return grid->unit / grid->pipelines;
    return left / grid->pipelines + (pipeline < left % grid->pipelines);
}

/* The first micro-batch of a pipeline in a unit: all down pipelines come first, then all up pipelines. */
static uint32_t first_micro_batch(const struct grid *grid, uint32_t unit, uint32_t pipeline)
{
    uint32_t first = unit * grid->unit;
    for (uint32_t before = 0; before < grid->pipelines; before++)
        if (before % 2 < pipeline % 2 || (before % 2 == pipeline % 2 && before < pipeline))
            first += share(grid, unit, before);
    return first;
}

static uint32_t worker_of(const struct grid *grid, uint32_t pipeline, uint32_t stage)
{
    uint32_t start = pipeline / 2 * (grid->workers / (grid->pipelines / 2));
    return (start + (pipeline % 2 ? grid->workers - 1 - stage : stage)) % grid->workers;
}

/* The inverse of worker_of. */
static uint32_t stage_of(const struct grid *grid, uint32_t pipeline, uint32_t worker)
{
    uint32_t start = pipeline / 2 * (grid->workers / (grid->pipelines / 2));
    uint32_t along = (worker + grid->workers - start) % grid->workers;
    return pipeline % 2 ? grid->workers - 1 - along : along;
}

/* An operation of a worker's grid. With one pair of pipelines no two share a slot; doubling and halving with more pairs
 * make some collide, and those run one after the other. */
struct entry {
    uint32_t micro_batch;
    uint16_t stage, pipeline;
    uint8_t kind, part, twin; /* twin: the forward of the next micro-batch comes with it */
    uint32_t next;            /* of the same slot, NONE at the end */
};

static const uint32_t NONE = UINT32_MAX;

struct cells {
    uint32_t *heads; /* [slot]: index of its first entry, or NONE */
    struct entry *entries;
    size_t heads_capacity, count, capacity;
};

static void put(struct cells *cells, size_t slot, struct entry entry)
{
    cells->entries = array_grow(cells->entries, &cells->capacity, cells->count + 1, sizeof *cells->entries);
    entry.next = cells->heads[slot];
    cells->entries[cells->count] = entry;
    cells->heads[slot] = (uint32_t)cells->count++;
}

static void put_forwards(const struct grid *grid, struct cells *cells, size_t start, struct entry entry, uint32_t count)
{
    bool twin = grid->concatenation == DOUBLING || grid->concatenation == DOUBLING_SPLIT;
    entry.kind = SLOT_FORWARD;
    entry.twin = twin;
    for (uint32_t i = 0; i < count / (twin ? 2 : 1); i++) {
        put(cells, start + 2 * (size_t)i + entry.stage, entry);
        entry.micro_batch += twin ? 2 : 1;
    }
}

static void put_backwards(const struct grid *grid, struct cells *cells, size_t start, struct entry entry,
                          uint32_t count)
{
    bool halves = grid->concatenation == HALVING;
    entry.kind = SLOT_BACKWARD;
    for (uint32_t i = 0; i < count * (halves ? 2 : 1); i++) {
        if (halves)
            entry.part = i % 2 ? PART_B : PART_A;
        put(cells, start + 2 * (size_t)i + 2 * grid->workers - 1 - entry.stage, entry);
        entry.micro_batch += !halves || i % 2;
    }
}

static void fill(const struct grid *grid, struct cells *cells, uint32_t worker)
{
    cells->count = 0;
    for (size_t slot = 0; slot < grid->slots; slot++)
        cells->heads[slot] = NONE;
    for (uint32_t pipeline = 0; pipeline < grid->pipelines; pipeline++) {
        struct entry entry = {.stage = (uint16_t)stage_of(grid, pipeline, worker), .pipeline = (uint16_t)pipeline};
        for (uint32_t unit = 0; unit < grid->units; unit++) {
            entry.micro_batch = first_micro_batch(grid, unit, pipeline);
            uint32_t count = share(grid, unit, pipeline);
            put_forwards(grid, cells, (size_t)unit * grid->shift, entry, count);
            put_backwards(grid, cells, (size_t)unit * grid->shift, entry, count);
        }
    }
}

static void append(const struct grid *grid, struct plan *plan, const struct cells *cells, uint32_t worker)
{
    for (size_t slot = 0; slot < grid->slots; slot++)
        for (uint32_t i = cells->heads[slot]; i != NONE; i = cells->entries[i].next) {
            const struct entry *entry = &cells->entries[i];
            plan_append(plan, worker, entry->kind, entry->pipeline, entry->stage, entry->micro_batch)->part =
                entry->part;
            if (entry->twin)
                plan_append(plan, worker, entry->kind, entry->pipeline, entry->stage, entry->micro_batch + 1)->joined =
                    grid->concatenation == DOUBLING;
        }
}

/* eager-opt launches early only where it cannot hurt: where a free slot is left between the copy's last backward and
 * the worker's last operation. */
static void choose_sync(const struct grid *grid, struct plan *plan, const struct cells *cells, enum sync sync)
{
    size_t end = grid->slots;
    while (end > 0 && cells->heads[end - 1] == NONE)
        end--;
    size_t last_free = 0;
    for (size_t slot = 0; slot < end; slot++)
        if (cells->heads[slot] == NONE)
            last_free = slot;
    for (size_t slot = 0; slot < end; slot++)
        for (uint32_t i = cells->heads[slot]; i != NONE; i = cells->entries[i].next) {
            const struct entry *entry = &cells->entries[i];
            bool eager = sync == EAGER || (sync == EAGER_OPT && slot < last_free);
            if (entry->kind == SLOT_BACKWARD)
                plan->copies[(size_t)entry->pipeline * plan->stages + entry->stage].sync =
                    eager ? PLAN_SYNC_EAGER : PLAN_SYNC_AFTER;
        }
}

static struct plan *generate(const struct schedule_request *request)
{
    struct grid grid = grid_of(request);
    struct plan *plan = plan_create(grid.workers, grid.workers, grid.pipelines, grid.micro_batches);
    for (uint32_t pipeline = 0; pipeline < grid.pipelines; pipeline++)
        for (uint32_t stage = 0; stage < grid.workers; stage++)
            plan_place(plan, pipeline, stage, worker_of(&grid, pipeline, stage));
    struct cells cells = {0};
    cells.heads = array_grow(NULL, &cells.heads_capacity, grid.slots, sizeof *cells.heads);
    for (uint32_t worker = 0; worker < grid.workers; worker++) {
        fill(&grid, &cells, worker);
        append(&grid, plan, &cells, worker);
        choose_sync(&grid, plan, &cells, (enum sync)request->options[OPTION_SYNC]);
    }
    free(cells.entries);
    free(cells.heads);
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t workers = request->workers, micro_batches = request->micro_batches;
    uint32_t pairs = (uint32_t)request->options[OPTION_PAIRS];
    if (workers % 2)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL,
                               "chimera runs pipelines in both directions and needs an even number of workers, not %u",
                               workers);
    if (workers / 2 % pairs)
        return schedule_refuse(refusal, REFUSED_OPTION, "pairs",
                               "chimera needs pairs to divide half the workers (%u), which %u does not", workers / 2,
                               pairs);
    enum concatenation concatenation = (enum concatenation)request->options[OPTION_CONCATENATION];
    uint32_t unit = concatenation == DOUBLING || concatenation == DOUBLING_SPLIT ? 2 * workers : workers;
    if (micro_batches % unit && concatenation != DIRECT)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "chimera with %s concatenation needs a multiple of %u micro-batches, not %u",
                               concatenations[concatenation], unit, micro_batches);
    return true;
}

const struct schedule schedule_chimera = {
    .name = "chimera",
    .summary = "pipelines in both directions fill each other's bubbles; every worker holds a stage of each",
    .when = "about as many micro-batches as workers, and weights small enough for two copies",
    .source = "Li and Hoefler, Chimera: Efficiently Training Large-Scale Neural Networks with Bidirectional Pipelines, "
              "SC 2021, arXiv 2107.06925",
    .options = options,
    .stages = stages_one_per_worker,
    .fits = fits,
    .plan = generate,
};
