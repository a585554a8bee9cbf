/* SPDX-License-Identifier: Apache-2.0 */
/* Group-interleaved 1F1B: the placement of interleaved 1F1B with groups of fewer micro-batches than workers, which need
 * less memory. In a table of equal slots the i-th micro-batch of a group has its forward in chunk c on worker w in slot
 * A(c) + 3 i + w. The groups follow each other every 3 g v slots; A(c) = 3 k g c + 3 g floor(c / (v / h)) leaves room
 * for k groups between a micro-batch's chunks, and h = gcd(v, k) keeps chunks apart modulo v. The first backward of
 * worker w comes 3 (D - 1 - w) + 1 slots after its first forward in the last chunk; backwards follow as forwards do,
 * from the last chunk down, each with its weight gradient right behind it. Workers execute their slots in order. */
#include "schedules/group_interleaved.h"

#include "base/arena.h"
#include "base/numbers/divisor.h"
#include "schedules/kit/stage_times.h"
#include "schedules/schedules.h"

static const struct schedule_option options[] = {GROUP_OPTION_ROWS, {0}};

static uint32_t stages(const struct schedule_request *request)
{
    return request->workers * (uint32_t)request->options[GROUP_OPTION_CHUNKS];
}

/* The table in columns of g micro-batches: chunk c of group j has column start[c] + j v. */
struct group_table {
    uint32_t workers, chunks, group;
    uint64_t *start;    /* [chunk] */
    uint32_t *chunk_at; /* [column modulo v]: the chunk */
    uint64_t columns;   /* of all groups */
};

/* Micro-batches that a worker computes while one runs through a chunk of all workers, at least half as many as
 * workers. */
static uint32_t span_of(const struct schedule_request *request, struct arena *arena)
{
    uint32_t count = stages(request), workers = request->workers, span = (workers + 1) / 2;
    uint32_t *worker_of = arena_array(arena, count, sizeof *worker_of);
    for (uint32_t stage = 0; stage < count; stage++)
        worker_of[stage] = stage % workers;
    struct instance_request problem = {.workers = workers, .stages = count, .batches = 1, .worker_of = worker_of};
    stage_times_fill(request, count, true, &problem, arena);
    const struct instance *instance = instance_create(&problem, arena);
    int64_t ways[BEST_KINDS] = {0}, most = 0;
    for (uint32_t worker = 0; worker < workers; worker++) {
        int64_t own = 0;
        for (uint32_t stage = worker; stage < count; stage += workers)
            for (uint32_t kind = 0; kind < BEST_KINDS; kind++) {
                own += instance->length[kind][stage];
                ways[kind] += instance->length[kind][stage];
            }
        most = own > most ? own : most;
    }
    int64_t way = ways[BEST_FORWARD] > ways[BEST_BACKWARD] ? ways[BEST_FORWARD] : ways[BEST_BACKWARD];
    int64_t needed = most > 0 ? (way + most - 1) / most : 0;
    return needed > span ? (uint32_t)needed : span;
}

static struct group_table table_of(const struct schedule_request *request, struct arena *arena)
{
    uint32_t chunks = (uint32_t)request->options[GROUP_OPTION_CHUNKS],
             group = (uint32_t)request->options[GROUP_OPTION_GROUP];
    struct group_table table = {
        .workers = request->workers, .chunks = chunks, .group = group ? group : (request->workers + 1) / 2};
    uint32_t apart = (span_of(request, arena) + table.group - 1) / table.group;
    uint32_t divisor = (uint32_t)common_divisor(chunks, apart);
    table.start = arena_array(arena, chunks, sizeof *table.start);
    table.chunk_at = arena_array(arena, chunks, sizeof *table.chunk_at);
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        table.start[chunk] = (uint64_t)apart * chunk + chunk / (chunks / divisor);
        table.chunk_at[table.start[chunk] % chunks] = chunk;
    }
    uint64_t groups = (request->micro_batches + table.group - 1) / table.group;
    table.columns = table.start[chunks - 1] + groups * chunks;
    return table;
}

/* A place in the table, in the order of slots. */
struct cursor {
    uint64_t column;
    uint32_t within; /* of the group */
};

/* The chunk and micro-batch at the cursor, or the first one after it; false at the end. */
static bool find(const struct group_table *table, uint32_t micro_batches, struct cursor *cursor, uint32_t *chunk,
                 uint32_t *micro_batch)
{
    for (; cursor->column < table->columns; cursor->column++, cursor->within = 0) {
        *chunk = table->chunk_at[cursor->column % table->chunks];
        if (cursor->column < table->start[*chunk])
            continue;
        uint64_t group = (cursor->column - table->start[*chunk]) / table->chunks;
        uint64_t found = group * table->group + cursor->within;
        *micro_batch = (uint32_t)found;
        if (cursor->within < table->group && found < micro_batches)
            return true;
    }
    return false;
}

static uint64_t slot_of(const struct group_table *table, struct cursor cursor)
{
    return 3 * (cursor.column * table->group + cursor.within);
}

static void order(struct plan *plan, const struct group_table *table, uint32_t worker)
{
    uint32_t workers = table->workers, chunk, micro_batch, count = plan->micro_batches;
    uint64_t begin = 3 * table->start[table->chunks - 1] * table->group + 3 * (uint64_t)(workers - 1 - worker) + 1;
    struct cursor forward = {0}, backward = {0};
    plan_expect(plan, worker, (size_t)3 * table->chunks * count);
    while (find(table, count, &backward, &chunk, &micro_batch)) {
        uint32_t next, batch;
        while (find(table, count, &forward, &next, &batch) &&
               slot_of(table, forward) < begin + slot_of(table, backward)) {
            plan_append(plan, worker, SLOT_FORWARD, 0, next * workers + worker, batch);
            forward.within++;
        }
        uint32_t stage = (table->chunks - 1 - chunk) * workers + worker;
        plan_append(plan, worker, SLOT_BACKWARD, 0, stage, micro_batch)->split = 1;
        plan_append(plan, worker, SLOT_WEIGHT, 0, stage, micro_batch);
        backward.within++;
    }
}

/* How many slots later the last worker begins so that each forward's input is there; those before it as many later as
 * their number, this one at most. */
static uint64_t shift_of(const struct group_table *table)
{
    uint64_t least = table->workers - 1;
    for (uint32_t chunk = 1; chunk < table->chunks; chunk++) {
        uint64_t apart = 3 * (table->start[chunk] - table->start[chunk - 1]) * table->group;
        uint64_t spare = apart > table->workers ? apart - table->workers : 0;
        least = spare < least ? spare : least;
    }
    return least;
}

const struct group_table *group_table_create(const struct schedule_request *request, struct arena *arena)
{
    struct group_table *table = arena_alloc(arena, sizeof *table);
    *table = table_of(request, arena);
    return table;
}

uint64_t group_table_slot(const struct group_table *table, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    uint32_t worker = stage % table->workers, chunk = stage / table->workers, last = table->chunks - 1;
    uint64_t group = micro_batch / table->group, within = micro_batch % table->group, shift = shift_of(table);
    uint64_t start = table->start[kind == SLOT_FORWARD ? chunk : last - chunk];
    uint64_t slot = 3 * ((start + group * table->chunks) * table->group + within) + worker;
    if (kind != SLOT_FORWARD)
        slot += 3 * table->start[last] * table->group + 3 * (uint64_t)(table->workers - 1 - worker) + 1;
    return slot + (kind == SLOT_WEIGHT) + (worker < shift ? worker : shift);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct plan *plan = plan_create_looped(request, stages(request));
    struct group_table table = table_of(request, arena);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, &table, worker);
    arena_destroy(arena);
    return plan;
}

bool group_interleaved_fits(const char *name, const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (request->options[GROUP_OPTION_CHUNKS] >= 1 && request->options[GROUP_OPTION_GROUP] <= request->workers)
        return true;
    return schedule_refuse(refusal, REFUSED_OPTION, "group",
                           "%s takes groups of 1 to %u micro-batches, as many as workers, not %lld", name,
                           request->workers, (long long)request->options[GROUP_OPTION_GROUP]);
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    return group_interleaved_fits(schedule_group_interleaved.name, request, refusal);
}

const struct schedule schedule_group_interleaved = {
    .name = "group-interleaved",
    .summary = "interleaved in groups of fewer micro-batches than workers: less memory, weight gradients apart",
    .when = "interleaved whose stashes do not fit",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, implementation; Wan et al., PipeOffload, arXiv 2503.01328",
    .split_backward = true,
    .plain = true,
    .adapts = true,
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
