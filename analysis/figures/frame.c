/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/frame.h"

#include "base/arena.h"
#include "base/sum.h"
#include "simulator/program/beats.h"

#include <assert.h>
#include <math.h>

static const struct position *position_of(const struct timeline *timeline, uint32_t entry)
{
    return &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
}

/* A receive is posted as soon as its stream reaches it, possibly in the iteration before, and a marker reserves room as
 * early: they begin nothing. */
static bool begins(const struct program *program, const struct operation *operation)
{
    return operation->type != OPERATION_RECEIVE && !frame_is_marker(program, operation);
}

static void extend(struct frame *frame, uint32_t entry)
{
    const struct position *position = position_of(frame->timeline, entry);
    const struct moment *moments = frame->timeline->moments[entry];
    double last = 0;
    for (uint32_t id = 0; id < position->operation_count; id++) {
        const struct operation *operation = &position->operations[id];
        uint32_t iteration = operation->iteration;
        if (begins(frame->timeline->program, operation) && moments[id].start < frame->starts[iteration])
            frame->starts[iteration] = moments[id].start;
        if (moments[id].end > frame->ends[iteration])
            frame->ends[iteration] = moments[id].end;
        if (moments[id].end > last)
            last = moments[id].end;
    }
    frame->rank_ends[entry] = last;
}

static void find_computes(struct frame *frame, uint32_t iterations)
{
    const struct program *program = frame->timeline->program;
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        const struct stream *stream = &position->streams[0];
        struct id_range *ranges = &frame->computes[(size_t)index * iterations];
        for (uint32_t id = stream->first + stream->count; id-- > stream->first;) {
            struct id_range *range = &ranges[position->operations[id].iteration];
            if (frame_is_marker(program, &position->operations[id]))
                continue;
            range->first = id;
            if (!range->end)
                range->end = id + 1;
        }
    }
}

static double mean_length(const struct frame *frame)
{
    struct sum sum = {0, 0};
    for (uint32_t i = 0; i < frame->measured; i++)
        sum_add(&sum, frame->ends[frame->first_measured + i] - frame->starts[frame->first_measured + i]);
    return sum_total(&sum) / frame->measured;
}

/* Whether a measured iteration begins before the one before it has ended, by more than what offsets between transfers
 * make of it. */
static bool is_joined(const struct frame *frame)
{
    const double nearly = 1e-9;
    for (uint32_t i = frame->first_measured; i > 0 && i < frame->first_measured + frame->measured; i++)
        if (frame->starts[i] < frame->ends[i - 1] - nearly * (frame->ends[i] - frame->starts[i]))
            return true;
    return false;
}

/* The mean time between ends. Nothing follows the last iteration, so that it may end early and does not count where
 * there are three. */
static void choose_joined(struct frame *frame, uint32_t iterations)
{
    uint32_t before = frame->first_measured - 1;
    frame->joined = true;
    frame->measured = iterations > 2 ? iterations - 2 : 1;
    frame->iteration = (frame->ends[before + frame->measured] - frame->ends[before]) / frame->measured;
}

static void watch_whole(struct frame *frame, double start, double end)
{
    frame->whole = true;
    frame->whole_window = (struct window){.start = start, .end = end};
    frame->windows = 1;
    frame->share = frame->iteration > 0 ? (end - start) / frame->iteration : 1;
}

/* The iterations that end in the cycle, or as many of the last ones. */
static void measure_cycle(struct frame *frame, uint32_t iterations, const struct cycle *cycle)
{
    uint32_t first = 0;
    while (first + cycle->beats < iterations && frame->ends[first] <= cycle->start)
        first++;
    frame->cycle = *cycle;
    frame->first_measured = first;
    frame->measured = cycle->beats;
    frame->iteration = cycle->length / cycle->beats;
    watch_whole(frame, cycle->start, cycle->start + cycle->length);
    frame->share = cycle->beats;
}

/* The mean over the cycle after which the job is in the same state again. Where none came back in what was simulated:
 * over the second half of the iterations; nothing follows the last one, so that it may end early and does not count
 * where there are three. */
static void choose_steady(struct frame *frame, uint32_t iterations, struct arena *arena)
{
    const struct beats *beats = beats_of_iterations(frame->timeline->program, arena);
    struct cycle cycle;
    frame->steady = true;
    if (beats && beats_find_cycle(beats, frame->timeline, frame->timeline->rounding, &cycle, arena) &&
        cycle.beats < iterations) {
        measure_cycle(frame, iterations, &cycle);
        return;
    }
    uint32_t end = iterations > 2 ? iterations - 1 : iterations;
    frame->first_measured = iterations > 3 ? iterations / 2 : 1;
    frame->measured = end - frame->first_measured;
    frame->iteration = (frame->ends[end - 1] - frame->ends[frame->first_measured - 1]) / frame->measured;
}

/* The mean over all rounds but the first, from the end of one to the end of another. */
static void choose_rounds(struct frame *frame, uint32_t iterations, uint32_t period)
{
    frame->first_measured = iterations > period ? period : 0;
    frame->measured = iterations - frame->first_measured;
    double start = frame->first_measured ? frame->ends[frame->first_measured - 1] : frame->starts[0],
           end = frame->ends[iterations - 1];
    frame->iteration = (end - start) / frame->measured;
    watch_whole(frame, start, end);
}

/* When a rank ends each of its iterations, into `ends`; false for a rank that computes nothing, as a server. */
static bool rank_ends(const struct frame *frame, uint32_t entry, uint32_t iterations, double *ends)
{
    const struct position *position = position_of(frame->timeline, entry);
    const struct id_range *ranges =
        &frame->computes[(size_t)(position - frame->timeline->program->positions) * iterations];
    for (uint32_t i = 0; i < iterations; i++) {
        if (ranges[i].end == ranges[i].first)
            return false;
        ends[i] = frame->timeline->moments[entry][ranges[i].end - 1].end;
    }
    return true;
}

/* How many iterations a rank has done at a moment, parts of one in proportion to time. */
static double done_at(const double *ends, uint32_t iterations, double time)
{
    uint32_t i = 1;
    while (i + 1 < iterations && ends[i] < time)
        i++;
    double length = ends[i] - ends[i - 1];
    return i + (length > 0 ? (time - ends[i - 1]) / length : 0);
}

/* Ranks each at its own pace are watched while all of them are between the ends of their first and last computation of
 * an iteration: T is the time in which they do one iteration each on the mean. */
static void choose_independent(struct frame *frame, uint32_t iterations, struct arena *arena)
{
    uint32_t count = frame->timeline->rank_count, working = 0;
    double *ends = arena_array(arena, (size_t)count * iterations, sizeof *ends), start = 0, end = INFINITY;
    for (uint32_t entry = 0; entry < count; entry++) {
        double *own = &ends[(size_t)working * iterations];
        if (!rank_ends(frame, entry, iterations, own))
            continue;
        start = fmax(start, own[0]);
        end = fmin(end, own[iterations - 1]);
        working++;
    }
    struct sum done = {0, 0};
    for (uint32_t rank = 0; rank < working && end > start; rank++)
        sum_add(&done, done_at(&ends[(size_t)rank * iterations], iterations, end) -
                           done_at(&ends[(size_t)rank * iterations], iterations, start));
    if (sum_total(&done) <= 0) {
        choose_steady(frame, iterations, arena);
        return;
    }
    frame->first_measured = 1;
    frame->measured = iterations - 1;
    frame->iteration = working * (end - start) / sum_total(&done);
    watch_whole(frame, start, end);
}

/* Iterations that T is the mean of need not be alike: contention may differ from one to the next. */
static void find_extremes(struct frame *frame)
{
    for (uint32_t i = frame->first_measured; i < frame->first_measured + frame->measured; i++) {
        double length = frame->ends[i] - (frame->joined ? frame->ends[i - 1] : frame->starts[i]);
        frame->shortest = i == frame->first_measured ? length : fmin(frame->shortest, length);
        frame->longest = fmax(frame->longest, length);
    }
}

static void choose(struct frame *frame, uint32_t iterations, struct arena *arena)
{
    const struct program *program = frame->timeline->program;
    if (program->period > 1) {
        choose_rounds(frame, iterations, program->period);
    } else if (program->independent && iterations > 2) {
        choose_independent(frame, iterations, arena);
    } else if (program->overlapping && iterations > 1) {
        choose_steady(frame, iterations, arena);
    } else {
        frame->first_measured = iterations > 1;
        frame->measured = iterations - frame->first_measured;
        frame->iteration = mean_length(frame);
        if (is_joined(frame))
            choose_joined(frame, iterations);
    }
    if (!frame->whole && !frame->steady && frame->measured > 1)
        find_extremes(frame);
    if (!frame->whole) {
        frame->windows = frame->steady ? 1 : frame->measured;
        frame->share = frame->windows;
    }
}

struct frame *frame_create(const struct timeline *timeline, struct arena *arena)
{
    uint32_t iterations = timeline->program->iterations;
    struct frame *frame = arena_alloc(arena, sizeof *frame);
    *frame = (struct frame){
        .timeline = timeline,
        .starts = arena_array(arena, iterations, sizeof *frame->starts),
        .ends = arena_array(arena, iterations, sizeof *frame->ends),
        .computes =
            arena_array(arena, (size_t)timeline->program->mesh->positions * iterations, sizeof *frame->computes),
        .rank_ends = arena_array(arena, timeline->rank_count, sizeof *frame->rank_ends),
    };
    for (uint32_t i = 0; i < iterations; i++)
        frame->starts[i] = INFINITY;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        extend(frame, entry);
    double first = INFINITY, last = 0;
    for (uint32_t i = 0; i < iterations; i++) {
        if (isinf(frame->starts[i])) /* an iteration without operations */
            frame->starts[i] = frame->ends[i];
        first = fmin(first, frame->starts[i]);
        last = fmax(last, frame->ends[i]);
    }
    frame->makespan = last - first;
    find_computes(frame, iterations);
    choose(frame, iterations, arena);
    return frame;
}

struct frame *frame_create_shortened(const struct timeline *timeline, const struct steady *steady, struct arena *arena)
{
    struct frame *frame = frame_create(timeline, arena);
    if (!steady->cycles)
        return frame;
    assert(timeline->program->iterations == 1 && frame->windows == 1);
    frame->more = steady;
    frame->iteration += frame_more_seconds(frame);
    frame->makespan += frame_more_seconds(frame);
    return frame;
}

struct more_operations frame_more_operations(const struct frame *frame, uint32_t position, uint32_t stream)
{
    const struct steady *more = frame->more;
    if (!more)
        return (struct more_operations){{0, 0}, 0};
    const struct stream_beat *beat = &more->beats->streams[position][stream];
    uint32_t first = frame->timeline->program->positions[position].streams[stream].first + beat->from;
    return (struct more_operations){{first, first + beat->length}, more->cycles * more->cycle_beats};
}

/* When an iteration has begun on some rank and this one has done its computations of the iteration before. */
static double joint(const struct frame *frame, uint32_t entry, uint32_t iteration)
{
    const struct timeline *timeline = frame->timeline;
    uint32_t position = timeline->program->mesh->position_of[timeline->ranks[entry]];
    const struct id_range *before = &frame->computes[(size_t)position * timeline->program->iterations + iteration - 1];
    double start = frame->starts[iteration];
    return before->end > before->first ? fmax(start, timeline->moments[entry][before->end - 1].end) : start;
}

/* All windows of a rank together last as long as the measured iterations. */
static struct window joined_window(const struct frame *frame, uint32_t entry, uint32_t index, struct id_range computes)
{
    uint32_t first = frame->first_measured;
    double start = joint(frame, entry, first + index),
           end = joint(frame, entry, first) + frame->measured * frame->iteration;
    if (index + 1 < frame->measured)
        end = fmin(end, joint(frame, entry, first + index + 1));
    return (struct window){start, fmax(start, end), computes};
}

struct window frame_window(const struct frame *frame, uint32_t entry, uint32_t index)
{
    const struct timeline *timeline = frame->timeline;
    uint32_t iterations = timeline->program->iterations, iteration = frame->first_measured + index;
    uint32_t position = timeline->program->mesh->position_of[timeline->ranks[entry]];
    const struct id_range *ranges = &frame->computes[(size_t)position * iterations];
    if (frame->whole) {
        struct window window = frame->whole_window;
        window.computes = (struct id_range){0, timeline->program->positions[position].streams[0].count};
        return window;
    }
    if (frame->joined)
        return joined_window(frame, entry, index, ranges[iteration]);
    if (!frame->steady)
        return (struct window){frame->starts[iteration], frame->ends[iteration], ranges[iteration]};
    const struct stream *stream = &timeline->program->positions[position].streams[0];
    const struct id_range *from = &ranges[frame->first_measured], *last = &ranges[iterations - 1];
    const struct moment *moments = timeline->moments[entry];
    struct id_range all = {stream->first, stream->first + stream->count};
    if (frame->first_measured + frame->measured < iterations && from->end > from->first && last->end > last->first &&
        moments[last->first].start > moments[from->first].start) /* whole work, however one iteration differs */
        return (struct window){moments[from->first].start, moments[last->first].start, all};
    double end = last->end > last->first ? timeline->moments[entry][last->first].start : frame->ends[iteration];
    return (struct window){end - frame->iteration, end, all};
}

double frame_share(const struct frame *frame, uint32_t entry)
{
    if (!frame->steady || frame->whole || !(frame->iteration > 0))
        return frame->share;
    struct window window = frame_window(frame, entry, 0);
    return (window.end - window.start) / frame->iteration;
}

void frame_shown(const struct frame *frame, double *start, double *end)
{
    uint32_t last = frame->timeline->program->iterations - 1;
    if (frame->cycle.beats) {
        *start = frame->cycle.start;
        *end = *start + frame->iteration;
        return;
    }
    if (frame->joined) {
        *end = frame->ends[frame->first_measured + frame->measured - 1];
        *start = *end - frame->iteration;
        return;
    }
    *start = frame->steady ? fmax(0, frame->starts[last] - frame->iteration) : frame->starts[last];
    *end = frame->steady ? *start + frame->iteration : frame->ends[last];
}
