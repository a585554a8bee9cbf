/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/contention.h"

#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "base/sum.h"
#include "simulator/program/operation_text.h"

#include <math.h>

enum { OPERATION_TYPES = OPERATION_DELAY + 1 };

/* Shares of an operation's and of the iteration's time below which a difference is rounding. */
static const double rounding_operation = 1e-6, rounding_iteration = 1e-9;

struct tally {
    uint64_t count;
    struct sum alone, contended;
};

struct comparing {
    struct contention *contention;
    const struct frame *frame;
    const struct timeline *alone, *contended;
    struct tally tallies[OPERATION_TYPES][STAGESIM_KINDS];
    uint32_t *members; /* scratch */
};

/* How long an operation runs; of transfers, how long data move. */
static double duration(const struct moment *moment)
{
    return moment->end - moment->data_start;
}

/* Of those that stand for members of a collective the one with the lowest rank speaks for all. */
static bool speaks(const struct comparing *comparing, uint32_t rank, const struct stream *stream)
{
    if (stream->type != OPERATION_COLLECTIVE)
        return stream->type == OPERATION_SEND;
    const struct program *program = comparing->contended->program;
    const struct group *group = &program->groups[stream->peer];
    group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[rank]), comparing->members);
    const struct timeline *timeline = comparing->contended;
    uint32_t least = UINT32_MAX, size = group_size(program, group);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t speaker = timeline->ranks[timeline->index_of[comparing->members[i]]];
        least = speaker < least ? speaker : least;
    }
    return least == rank;
}

/* Keeps the longest delays in order; of equal ones those found first. */
static void note_delay(struct contention *contention, const struct contention_delay *delay)
{
    double added = delay->contended - delay->alone;
    uint32_t place = contention->delay_count;
    while (place && contention->delays[place - 1].contended - contention->delays[place - 1].alone < added)
        place--;
    if (place == CONTENTION_DELAYS_MAX)
        return;
    if (contention->delay_count < CONTENTION_DELAYS_MAX)
        contention->delay_count++;
    for (uint32_t i = contention->delay_count - 1; i > place; i--)
        contention->delays[i] = contention->delays[i - 1];
    contention->delays[place] = *delay;
}

static void compare_stream(struct comparing *comparing, uint32_t rank, uint32_t weight, const struct position *position,
                           const struct stream *stream)
{
    const struct moment *alone = timeline_rank(comparing->alone, rank),
                        *contended = timeline_rank(comparing->contended, rank);
    bool spoken_for = !speaks(comparing, rank, stream);
    double least = rounding_iteration * comparing->contention->alone;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        if (!frame_measures(comparing->frame, operation))
            continue;
        struct tally *tally = &comparing->tallies[operation->type][operation->kind];
        struct contention_delay delay = {.rank = rank,
                                         .id = id,
                                         .peer = UINT32_MAX,
                                         .alone = duration(&alone[id]),
                                         .contended = duration(&contended[id])};
        tally->count += weight;
        sum_add(&tally->alone, weight * delay.alone);
        sum_add(&tally->contended, weight * delay.contended);
        if (!spoken_for && delay.contended - delay.alone > rounding_operation * delay.alone + least) {
            if (stream->type == OPERATION_SEND)
                delay.peer = partner_rank(comparing->contended->program, rank, stream);
            note_delay(comparing->contention, &delay);
        }
    }
}

static void compare_ranks(struct comparing *comparing, struct arena *arena)
{
    const struct timeline *timeline = comparing->contended;
    const struct mesh *mesh = timeline->program->mesh;
    uint32_t *weights = arena_array(arena, timeline->rank_count, sizeof *weights);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        weights[timeline->index_of[rank]]++;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position = timeline_position(timeline, entry);
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type != OPERATION_RECEIVE)
                compare_stream(comparing, timeline->ranks[entry], weights[entry], position, &position->streams[i]);
    }
}

static void list_kinds(const struct comparing *comparing, struct arena *arena)
{
    static const uint8_t order[] = {OPERATION_COMPUTE, OPERATION_SEND, OPERATION_COLLECTIVE, OPERATION_DELAY};
    struct contention *contention = comparing->contention;
    double share = (double)comparing->frame->measured * comparing->contended->program->mesh->ranks;
    contention->kinds = arena_array(arena, sizeof order * STAGESIM_KINDS, sizeof *contention->kinds);
    for (size_t i = 0; i < sizeof order; i++)
        for (uint8_t kind = 0; kind < STAGESIM_KINDS; kind++) {
            const struct tally *tally = &comparing->tallies[order[i]][kind];
            if (tally->count)
                contention->kinds[contention->kind_count++] =
                    (struct contention_kind){.type = order[i],
                                             .kind = kind,
                                             .count = tally->count / comparing->frame->measured,
                                             .alone = sum_total(&tally->alone) / share,
                                             .contended = sum_total(&tally->contended) / share};
        }
}

struct contention *contention_create(const struct timeline *alone, const struct frame *contended,
                                     struct platform *platform, const uint32_t *hosts, struct arena *arena)
{
    const struct timeline *timeline = contended->timeline;
    const struct program *program = timeline->program;
    struct contention *contention = arena_alloc(arena, sizeof *contention);
    contention->alone = frame_create(alone, arena)->iteration;
    contention->contended = contended->iteration;
    contention->delays = arena_array(arena, CONTENTION_DELAYS_MAX, sizeof *contention->delays);
    struct comparing comparing = {.contention = contention,
                                  .frame = contended,
                                  .alone = alone,
                                  .contended = timeline,
                                  .members = arena_array(arena, program->mesh->ranks, sizeof(uint32_t))};
    compare_ranks(&comparing, arena);
    list_kinds(&comparing, arena);
    for (uint32_t i = 0; i < contention->delay_count; i++) {
        struct contention_delay *delay = &contention->delays[i];
        char text[OPERATION_TEXT_MAX];
        const struct position *position = timeline_position(timeline, timeline->index_of[delay->rank]);
        delay->text = arena_copy(arena, operation_text(text, position, &position->operations[delay->id]));
    }
    contention_find_links(contention, timeline, platform, hosts, arena);
    return contention;
}
