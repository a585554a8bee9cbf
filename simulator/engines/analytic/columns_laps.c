/* SPDX-License-Identifier: Apache-2.0 */
/* Beats that a job goes through again and again, as straight code.
 *
 * The walk goes as far as it can before the last beat of each stream: to a cut, before which all is done and behind
 * which nothing is. It goes on to the same places a beat later; the operations that it does on its way are a lap, in an
 * order in which each comes behind what it waits for. Every further lap has the same operations in the same order, and
 * each waits for the same ones a beat later. So there is nothing to look up or to decide any more: a lap is a list of
 * steps, each the maximum of some earlier ends and a sum. The ends of the newest laps go to where the program has its
 * own last beats, and the walk goes on behind them. Ends are the same maxima and sums as in the whole job. */
#include "simulator/engines/analytic/columns_walk.h"

#include "base/arena.h"

#include <string.h>

/* One stream in a lap: operations first .. first + length - 1 of the position, which are done in these steps. */
struct lap_stream {
    uint32_t first, length;
    uint32_t *steps;
};

/* A computation, delay, message or collective: from the latest of its sources on, so many seconds. */
struct lap_step {
    uint32_t first_source, source_count;
    const double *seconds;   /* [column] */
    double *busy;            /* [column]: of the rank that computes; NULL: none does */
    const uint32_t *coupled; /* [column], as in struct gathering; NULL: no columns are coupled */
};

struct laps {
    struct columns *columns;
    struct arena *arena;
    struct lap_stream **streams; /* [position][stream] */
    struct lap_step *steps;
    uint32_t step_count;
    uint32_t *sources; /* how many ends before its own a step finds what it waits for; steps of older laps stand before
                          those of newer ones, each with an end for each column */
    uint32_t source_count;
    uint32_t depth;        /* laps before the newest one whose ends are still asked for, and one more */
    double *ends, *newest; /* of rows laps: [row][step][column]; those of the newest lap */
    uint32_t rows;
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- the cut ---- */

/* How many operations of a stream can be before the cut: a beat is left behind it. */
static uint32_t most_before(const struct stream_beat *beat)
{
    return beat->to > beat->length ? beat->to - beat->length : 0;
}

static void stop_before_last_beat(struct columns *c)
{
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        struct lane_position *lanes = &c->positions[index];
        for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
            const struct stream *stream = &lanes->position->streams[i];
            uint32_t most = most_before(&c->beats->streams[index][i]);
            if (stream->type == OPERATION_SEND)
                most = smaller(most, most_before(&c->beats->streams[stream->peer][stream->opposite]));
            lanes->cursors[i].end = stream->first + smaller(most, stream->count);
        }
    }
}

/* Who has come to a collective that does not take place before the cut comes again. */
static void forget_arrivals(struct columns *c)
{
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t i = 0; i < c->positions[index].position->stream_count; i++)
            c->positions[index].cursors[i].arrived = false;
    for (uint32_t group = 0; group < c->program->group_count; group++)
        c->gatherings[group].arrived = 0;
}

/* Cuts all streams where they are, and lets them go on for a beat. False where one of them does not repeat from there
 * on. The operations of a beat are added to `count`. */
static bool cut(struct laps *laps, size_t *count)
{
    struct columns *c = laps->columns;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        struct lane_position *lanes = &c->positions[index];
        laps->streams[index] = arena_array(laps->arena, lanes->position->stream_count, sizeof **laps->streams);
        for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
            const struct stream_beat *beat = &c->beats->streams[index][i];
            uint32_t place = lanes->cursors[i].next - lanes->position->streams[i].first;
            if (place < beat->from || place + beat->length > beat->to)
                return false;
            laps->streams[index][i] =
                (struct lap_stream){.first = lanes->cursors[i].next,
                                    .length = beat->length,
                                    .steps = arena_array(laps->arena, beat->length, sizeof(uint32_t))};
            lanes->cursors[i].end = lanes->cursors[i].next + beat->length;
            *count += beat->length;
        }
    }
    forget_arrivals(c);
    return true;
}

/* Whether all streams have come as far as they were let. */
static bool all_at_end(const struct columns *c)
{
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t i = 0; i < c->positions[index].position->stream_count; i++)
            if (c->positions[index].cursors[i].next != c->positions[index].cursors[i].end)
                return false;
    return true;
}

/* ---- the steps of a lap ---- */

static const struct operation *operation_at(const struct laps *laps, const struct done_operation *done)
{
    return &laps->columns->positions[done->position].position->operations[done->id];
}

static uint32_t *step_of(const struct laps *laps, const struct done_operation *done)
{
    const struct lap_stream *stream = &laps->streams[done->position][operation_at(laps, done)->stream];
    return &stream->steps[done->id - stream->first];
}

/* A message is a step with its sender and receiver, a collective one with its members: they are done together. */
static void number_steps(struct laps *laps)
{
    const struct columns *c = laps->columns;
    uint32_t members = 0;
    for (size_t i = 0; i < c->order_count; i++) {
        const struct operation *operation = operation_at(laps, &c->order[i]);
        const struct stream *stream = &c->positions[c->order[i].position].position->streams[operation->stream];
        if (members == 0) {
            laps->step_count++;
            members = operation->type == OPERATION_SEND         ? 2
                      : operation->type == OPERATION_COLLECTIVE ? c->program->groups[stream->peer].position_count
                                                                : 1;
        }
        *step_of(laps, &c->order[i]) = laps->step_count - 1;
        members--;
    }
}

/* What stands in a stream so many places behind the cut, or before it: a step of the same lap or an earlier one. Where
 * the stream stands still while the others repeat, the beat before has waited. */
static void add_source(struct laps *laps, struct lap_step *step, const struct lap_stream *stream, int64_t place)
{
    if (!stream->length)
        return;
    uint32_t own = (uint32_t)(step - laps->steps), ago = 0;
    for (; place < 0; place += stream->length)
        ago++;
    uint32_t before = own + ago * laps->step_count - stream->steps[place];
    laps->depth = larger(laps->depth, ago + 1);
    for (uint32_t i = 0; i < step->source_count; i++)
        if (laps->sources[step->first_source + i] == before)
            return;
    laps->sources[step->first_source + step->source_count++] = before;
}

/* The operation before it on its stream, be it a beat later, and what it waits for. */
static void add_sources(struct laps *laps, struct lap_step *step, const struct done_operation *done)
{
    const struct position *position = laps->columns->positions[done->position].position;
    const struct operation *operation = &position->operations[done->id];
    const struct lap_stream *streams = laps->streams[done->position], *own = &streams[operation->stream];
    add_source(laps, step, own, (int64_t)done->id - own->first - 1);
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        const struct lap_stream *stream = &streams[position->operations[awaited].stream];
        if (stream != own)
            add_source(laps, step, stream, (int64_t)awaited - stream->first);
    }
}

static const double *local_seconds(struct laps *laps, struct lane_position *lanes, const struct operation *operation)
{
    const struct columns *c = laps->columns;
    double *seconds = arena_array(laps->arena, c->count, sizeof *seconds);
    bool free = c->job->transfers_free && operation_reads_storage(operation);
    for (uint32_t i = 0; i < c->count && !free; i++)
        seconds[i] = columns_own(c, lanes, operation, operation_cost(c->program, operation)->seconds, i);
    return seconds;
}

static const double *message_seconds(struct laps *laps, const struct lane_cursor *send,
                                     const struct operation *operation)
{
    const struct columns *c = laps->columns;
    double *seconds = arena_array(laps->arena, c->count, sizeof *seconds);
    for (uint32_t i = 0; i < c->count; i++)
        seconds[i] = columns_message(send, i, operation_cost(c->program, operation)->bytes);
    return seconds;
}

static void describe_step(struct laps *laps, struct lap_step *step, const struct done_operation *done)
{
    struct columns *c = laps->columns;
    struct lane_position *lanes = &c->positions[done->position];
    const struct operation *operation = operation_at(laps, done);
    const struct lane_cursor *cursor = &lanes->cursors[operation->stream];
    *step = (struct lap_step){.first_source = laps->source_count};
    if (operation->type == OPERATION_SEND) {
        step->seconds = message_seconds(laps, cursor, operation);
    } else if (operation->type == OPERATION_COLLECTIVE) {
        const struct gathering *gathering = &c->gatherings[cursor->peer];
        step->seconds = columns_collective_seconds(c, cursor->peer, operation);
        step->coupled = gathering->couples ? gathering->coupled : NULL;
    } else {
        step->seconds = local_seconds(laps, lanes, operation);
        step->busy = operation->type == OPERATION_COMPUTE ? lanes->busy : NULL;
    }
}

/* So many ends can a lap ask for at most. */
static size_t most_sources(const struct laps *laps)
{
    size_t most = 1;
    for (size_t i = 0; i < laps->columns->order_count; i++)
        most += 1 + operation_wait_count(operation_at(laps, &laps->columns->order[i]));
    return most;
}

static void make_steps(struct laps *laps)
{
    const struct columns *c = laps->columns;
    number_steps(laps);
    laps->steps = arena_array(laps->arena, laps->step_count, sizeof *laps->steps);
    laps->sources = arena_array(laps->arena, most_sources(laps), sizeof *laps->sources);
    for (size_t i = 0, next = 0; i < c->order_count; i++) {
        struct lap_step *step = &laps->steps[*step_of(laps, &c->order[i])];
        if (step == &laps->steps[next]) {
            describe_step(laps, step, &c->order[i]);
            next++;
        }
        if (operation_at(laps, &c->order[i])->type != OPERATION_RECEIVE)
            add_sources(laps, step, &c->order[i]);
        laps->source_count = step->first_source + step->source_count;
    }
}

/* ---- what the rest of the program asks for ---- */

/* How many laps back an operation behind the beats finds what it waits for; 0: it stands before the beats, or behind
 * them. */
static uint32_t laps_back(const struct laps *laps, uint32_t index, uint32_t awaited)
{
    const struct position *position = laps->columns->positions[index].position;
    uint32_t which = position->operations[awaited].stream;
    const struct lap_stream *stream = &laps->streams[index][which];
    uint32_t end = stream->first + stream->length;
    uint32_t from = position->streams[which].first + laps->columns->beats->streams[index][which].from;
    if (!stream->length || awaited >= end || awaited < from)
        return 0;
    return (end - awaited + stream->length - 1) / stream->length;
}

static void measure_rest(struct laps *laps)
{
    const struct columns *c = laps->columns;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        const struct position *position = c->positions[index].position;
        for (uint32_t i = 0; i < position->stream_count; i++) {
            uint32_t first = position->operations[c->positions[index].cursors[i].next].first_wait;
            uint32_t end = position->operations[position->streams[i].first + position->streams[i].count].first_wait;
            for (uint32_t wait = first; wait < end; wait++)
                laps->depth = larger(laps->depth, laps_back(laps, index, position->waits[wait]));
        }
    }
}

/* ---- ends ---- */

/* Between the program's ends and those of laps: the lap that is so many before the newest one, in the program that
 * many beats before the end of the recorded one. */
static void copy_ends(const struct laps *laps, uint32_t ago, bool back)
{
    const struct columns *c = laps->columns;
    const double *row = laps->newest - (size_t)ago * laps->step_count * c->count;
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t index = c->order[i].position, which = operation_at(laps, &c->order[i])->stream;
        const struct stream *stream = &c->positions[index].position->streams[which];
        uint32_t shift = ago * laps->streams[index][which].length, id = c->order[i].id;
        uint32_t least = stream->first + (back ? c->beats->streams[index][which].from : 0);
        if (id < least + shift)
            continue;
        double *own = &c->positions[index].ends[(size_t)(id - shift) * c->count];
        double *kept = (double *)&row[(size_t)*step_of(laps, &c->order[i]) * c->count];
        memcpy(back ? own : kept, back ? kept : own, c->count * sizeof *own);
    }
}

/* Room for the laps that are asked for and as many again; the oldest are forgotten when it is full. */
static void make_room(struct laps *laps)
{
    size_t row = (size_t)laps->step_count * laps->columns->count;
    laps->rows = 2 * laps->depth + 2;
    laps->ends = arena_array(laps->arena, laps->rows * row, sizeof *laps->ends);
    laps->newest = &laps->ends[(laps->depth - 1) * row];
    for (uint32_t ago = 0; ago < laps->depth; ago++)
        copy_ends(laps, ago, false);
}

static void next_row(struct laps *laps)
{
    size_t row = (size_t)laps->step_count * laps->columns->count, kept = (laps->depth - 1) * row;
    laps->newest += row;
    if (laps->newest < &laps->ends[laps->rows * row])
        return;
    memmove(laps->ends, laps->newest - kept, kept * sizeof *laps->ends);
    laps->newest = &laps->ends[kept];
}

/* ---- laps ---- */

static INLINED void run_lap(const struct laps *laps, uint32_t n)
{
    double *ends = laps->newest;
    for (const struct lap_step *step = laps->steps; step < &laps->steps[laps->step_count]; step++, ends += n) {
        const uint32_t *source = &laps->sources[step->first_source];
        double times[COLUMNS_MAX];
        memcpy(times, ends - (size_t)*source * n, n * sizeof *times);
        for (uint32_t k = 1; k < step->source_count; k++) {
            const double *others = ends - (size_t)source[k] * n;
            for (uint32_t i = 0; i < n; i++)
                times[i] = others[i] > times[i] ? others[i] : times[i];
        }
        if (step->coupled)
            columns_join(n, step->coupled, times);
        for (uint32_t i = 0; i < n; i++)
            ends[i] = times[i] + step->seconds[i];
        for (uint32_t i = 0; step->busy && i < n; i++)
            step->busy[i] += step->seconds[i];
    }
}

static INLINED void run_laps_with(struct laps *laps, uint32_t n)
{
    for (uint32_t lap = 0; lap < laps->columns->more; lap++) {
        next_row(laps);
        run_lap(laps, n);
    }
}

static void run_laps(struct laps *laps)
{
    switch (laps->columns->count) {
    case 1:
        run_laps_with(laps, 1);
        return;
    case 2:
        run_laps_with(laps, 2);
        return;
    case 4:
        run_laps_with(laps, 4);
        return;
    default:
        run_laps_with(laps, laps->columns->count);
        return;
    }
}

/* ---- all ---- */

/* The walk goes on to the ends of the streams. */
static void walk_rest(struct columns *c)
{
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t i = 0; i < c->positions[index].position->stream_count; i++) {
            const struct stream *stream = &c->positions[index].position->streams[i];
            c->positions[index].cursors[i].end = stream->first + stream->count;
        }
    columns_walk(c);
}

void columns_walk_repeating(struct columns *c)
{
    struct laps laps = {.columns = c, .arena = c->arena, .depth = 1};
    size_t count = 0;
    laps.streams = arena_array(c->arena, c->program->mesh->positions, sizeof *laps.streams);
    stop_before_last_beat(c);
    columns_walk(c);
    if (!cut(&laps, &count))
        return;
    c->order = arena_array(c->arena, count + 1, sizeof *c->order);
    columns_walk(c);
    if (!all_at_end(c))
        return;
    make_steps(&laps);
    measure_rest(&laps);
    make_room(&laps);
    run_laps(&laps);
    for (uint32_t ago = 0; ago < laps.depth; ago++)
        copy_ends(&laps, ago, true);
    c->order = NULL;
    walk_rest(c);
}
