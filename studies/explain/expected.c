/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/expected.h"

#include "base/arena.h"
#include "studies/explain/like.h"
#include "studies/explain/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expected {
    uint64_t first, second;
    double seconds, bytes; /* bytes: NaN: not known, or not the same of all */
};

/* How much has to be the same for operations to be alike; the first level that the scenario has counts: the very
 * operation in the rank's step, the same on another rank of its position or in another step, and so on. A piece is one
 * of several of one work for one micro-batch, as layers are; the whole is all of them, for a trace that does not tell
 * them apart. */
enum level {
    LEVEL_RANK,
    LEVEL_POSITION,
    LEVEL_PIECE_ALL,
    LEVEL_PIECE_BYTES,
    LEVEL_PIECE_MICRO_BATCH,
    LEVEL_PIECE,
    LEVEL_WHOLE,
    LEVEL_ALL,
    LEVEL_BYTES,
    LEVEL_MICRO_BATCH,
    LEVEL_WORK,
    LEVELS
};

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return hash;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 29;
}

/* Where and when an operation is: of a rank and step, or of a position. */
static uint64_t place_of(const struct recorded *recorded, const struct recorded_operation *operation, bool of_rank)
{
    const struct recorded_rank *rank = &recorded->ranks[recorded_rank_of(recorded, operation)];
    const uint32_t values[] = {of_rank ? rank->number : rank->stage,
                               of_rank ? operation->step : RECORDED_NONE,
                               of_rank ? operation->peer : RECORDED_NONE,
                               operation->stage,
                               operation->micro_batch,
                               (uint32_t)operation->piece << 16 | operation->pieces};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        hash = mixed(hash, values[i]);
    return hash;
}

/* The same kind of operation for the same work of the same stage, of as many bytes, and for the same micro-batch;
 * without the bytes where the trace does not say them. What is for other work is told apart by its name. */
static void keys_of(const struct recorded *recorded, const struct recorded_operation *operation, enum level level,
                    uint64_t *first, uint64_t *second)
{
    uint32_t name = operation->work == RECORDED_OTHER ? hash_of(recorded_name_of(recorded, operation)) & 0xffff : 0;
    uint32_t bytes = 0, piece = 0;
    bool of_bytes = level == LEVEL_ALL || level == LEVEL_BYTES || level < LEVEL_PIECE_MICRO_BATCH;
    bool of_micro_batch =
        level != LEVEL_BYTES && level != LEVEL_WORK && level != LEVEL_PIECE_BYTES && level != LEVEL_PIECE;
    if (of_bytes)
        memcpy(&bytes, &operation->bytes, sizeof bytes);
    if (level < LEVEL_WHOLE)
        piece = (operation->piece & 0x3ffu) << 10 | (operation->pieces & 0x3ffu);
    *first = (uint64_t)bytes << 32 | (uint64_t)name << 16 | (uint64_t)level << 12 | (uint64_t)operation->kind << 6 |
             operation->work;
    *second = level <= LEVEL_POSITION
                  ? place_of(recorded, operation, level == LEVEL_RANK)
                  : (uint64_t)operation->stage << 48 |
                        (uint64_t)(of_micro_batch ? operation->micro_batch & 0xfffffffu : 0) << 20 | piece;
}

static int by_keys(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->second > b->second) - (a->second < b->second);
}

/* Adds the operations of a step with their seconds, on each level. */
static size_t add_step(const struct recorded *run, const struct replay *replay, struct like *likes)
{
    size_t count = 0;
    for (uint32_t i = 0; i < replay->node_count; i++) {
        const struct replay_node *node = &replay->nodes[i];
        for (int level = 0; level < LEVELS && node->kind == REPLAY_WORK; level++) {
            if (level == LEVEL_WHOLE)
                continue;
            struct like *like = &likes[count++];
            *like = (struct like){.value = node->seconds, .operation = node->operation};
            keys_of(run, &run->operations[node->operation], (enum level)level, &like->first, &like->second);
        }
    }
    return count;
}

struct piece {
    const struct recorded_operation *operation;
    uint32_t rank;
    double seconds;
};

static int by_whole(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    const uint32_t keys[][2] = {{a->rank, b->rank},
                                {a->operation->kind, b->operation->kind},
                                {a->operation->name, b->operation->name},
                                {a->operation->stage, b->operation->stage},
                                {a->operation->micro_batch, b->operation->micro_batch},
                                {a->operation->peer, b->operation->peer}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Adds what the pieces of a step take together. */
static size_t add_wholes(const struct recorded *run, const struct replay *replay, struct like *likes)
{
    struct piece *pieces = array_zeroed(replay->node_count, sizeof *pieces);
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < replay->node_count; i++) {
        const struct replay_node *node = &replay->nodes[i];
        const struct recorded_operation *operation =
            node->kind == REPLAY_WORK ? &run->operations[node->operation] : NULL;
        if (operation && operation->pieces > 1)
            pieces[count++] = (struct piece){operation, recorded_rank_of(run, operation), node->seconds};
    }
    if (count)
        qsort(pieces, count, sizeof *pieces, by_whole);
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0;
        for (end = i; end < count && !by_whole(&pieces[i], &pieces[end]); end++)
            sum += pieces[end].seconds;
        struct like *like = &likes[kept++];
        *like = (struct like){.value = sum, .operation = (uint32_t)(pieces[i].operation - run->operations)};
        keys_of(run, pieces[i].operation, LEVEL_WHOLE, &like->first, &like->second);
    }
    free(pieces);
    return kept;
}

/* Sorted likes as rows, a row for those that are alike. */
static void make_rows(struct expected_table *table, const struct recorded *run, const struct like *likes, size_t count)
{
    table->rows = array_zeroed(count, sizeof *table->rows);
    for (size_t i = 0; i < count; i++) {
        double bytes = (double)run->operations[likes[i].operation].bytes;
        struct expected *last = table->count ? &table->rows[table->count - 1] : NULL;
        if (!last || likes[i].first != last->first || likes[i].second != last->second)
            table->rows[table->count++] = (struct expected){likes[i].first, likes[i].second, likes[i].value, bytes};
        else if (bytes < last->bytes || bytes > last->bytes)
            last->bytes = NAN;
    }
}

bool expected_fill(struct expected_table *table, const struct recorded *run, struct fault *fault)
{
    size_t step_count, count = 0;
    uint32_t *own = replay_steps(run, &step_count);
    const uint32_t *steps = own;
    struct like *likes = array_zeroed(LEVELS * run->count, sizeof *likes);
    bool good = step_count > 0 || fault_set(fault, "the scenario has no operations");
    replay_join(run, &steps, &step_count);
    for (size_t s = 0; good && s < step_count; s++) {
        struct replay *replay = replay_create(run, steps[s], fault);
        good = replay != NULL;
        count += replay ? add_step(run, replay, &likes[count]) : 0;
        count += replay ? add_wholes(run, replay, &likes[count]) : 0;
        table->step += replay ? replay->measured / (double)step_count : 0;
        replay_finish(replay);
    }
    like_medians(likes, count);
    make_rows(table, run, likes, count);
    free(likes);
    free(own);
    return good;
}

void expected_finish(struct expected_table *table)
{
    free(table->rows);
    *table = (struct expected_table){NULL};
}

static const struct expected *find(const struct expected_table *table, const struct recorded *recorded,
                                   const struct recorded_operation *operation, enum level level)
{
    struct expected key = {0};
    keys_of(recorded, operation, level, &key.first, &key.second);
    return table->count ? bsearch(&key, table->rows, table->count, sizeof key, by_keys) : NULL;
}

double expected_seconds(const struct expected_table *table, const struct recorded *recorded,
                        const struct recorded_operation *operation)
{
    for (int level = 0; level < LEVELS; level++) {
        const struct expected *found = find(table, recorded, operation, (enum level)level);
        if (found && (level != LEVEL_WHOLE || operation->pieces == 1))
            return found->seconds;
    }
    return NAN;
}

double expected_ratio(const struct expected_table *table, const struct recorded *recorded,
                      const struct recorded_operation *operation)
{
    if (find(table, recorded, operation, LEVEL_BYTES))
        return 1;
    const struct expected *found = find(table, recorded, operation, LEVEL_WORK);
    double ratio = found ? (double)operation->bytes / found->bytes : 1;
    return ratio > 0 && isfinite(ratio) ? ratio : 1;
}
