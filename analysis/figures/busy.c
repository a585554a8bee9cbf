/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/busy.h"

#include "analysis/figures/causes.h"
#include "base/arena.h"
#include "base/sum.h"

#include <math.h>

struct busy_scratch busy_scratch_create(const struct program *program, struct arena *arena)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < program->mesh->positions; i++)
        if (program->positions[i].operation_count > most)
            most = program->positions[i].operation_count;
    return (struct busy_scratch){arena_array(arena, most, sizeof(struct interval)),
                                 arena_array(arena, most, sizeof(struct interval))};
}

/* What is gathered while a rank is watched through its windows. */
struct watch {
    const struct program *program;
    const struct position *position;
    const struct moment *moments;
    double rounding; /* of moments */
    const struct busy_scratch *scratch;
    size_t busy_count; /* of the current window, in scratch->busy */
    struct sum busy, span, causes[CAUSES], exposed, overlapped;
};

static struct interval clip(double start, double end, const struct window *window)
{
    return (struct interval){start > window->start ? start : window->start, end < window->end ? end : window->end};
}

/* The first operation of a stream that ends after `time`: ends do not decrease along a stream. */
static uint32_t first_after(const struct moment *moments, const struct stream *stream, double time)
{
    uint32_t low = stream->first, high = stream->first + stream->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moments[middle].end > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Before the first computation of a window, if it has any. */
static enum cause fill_or_input(const struct watch *watch, const struct window *window, uint32_t next)
{
    bool any = window->computes.first != window->computes.end;
    bool waits = any && cause_before(watch->position, watch->moments, next, watch->rounding) == CAUSE_INPUT;
    return waits ? CAUSE_INPUT : CAUSE_FILL;
}

/* The end of a window's computations where the window is a cycle that comes back: none of them is the first or the last
 * of its iteration. */
static const uint32_t again = UINT32_MAX;

/* Idle time before computation `next` (the end of the stream: none left in the window). */
static void attribute(struct watch *watch, const struct window *window, uint32_t next, struct interval idle)
{
    if (!(idle.end > idle.start))
        return;
    if (window->computes.end == again) {
        sum_add(&watch->causes[cause_before(watch->position, watch->moments, next, watch->rounding)],
                idle.end - idle.start);
    } else if (window->computes.first == window->computes.end || next <= window->computes.first) {
        sum_add(&watch->causes[fill_or_input(watch, window, next)], idle.end - idle.start);
    } else if (next < window->computes.end) {
        sum_add(&watch->causes[cause_before(watch->position, watch->moments, next, watch->rounding)],
                idle.end - idle.start);
    } else {
        double collective = cause_collective_after(watch->position, watch->moments, idle, watch->scratch->moving);
        sum_add(&watch->causes[CAUSE_COLLECTIVE], collective);
        sum_add(&watch->causes[CAUSE_DRAIN], idle.end - idle.start - collective);
    }
}

static void watch_computing(struct watch *watch, const struct window *window)
{
    const struct stream *stream = &watch->position->streams[0];
    uint32_t id = first_after(watch->moments, stream, window->start), end = stream->first + stream->count;
    double idle_since = window->start;
    uint32_t first = window->computes.first;
    watch->busy_count = 0;
    for (; id < end && watch->moments[id].start < window->end; id++) {
        if (frame_is_marker(watch->program, &watch->position->operations[id]))
            continue;
        struct interval run = clip(watch->moments[id].start, watch->moments[id].end, window);
        attribute(watch, window, id, (struct interval){idle_since, run.start});
        sum_add(&watch->busy, run.end - run.start);
        watch->scratch->busy[watch->busy_count++] = run;
        idle_since = run.end;
    }
    while (id < end && frame_is_marker(watch->program, &watch->position->operations[id]))
        id++;
    bool comes_back = window->computes.end == again; /* then the cycle's first computation is what comes next */
    attribute(watch, window, comes_back ? first : id, (struct interval){idle_since, window->end});
}

static void watch_span(struct watch *watch, const struct window *window, bool steady)
{
    struct id_range range = window->computes;
    if (range.first == range.end)
        return;
    struct interval span = {watch->moments[range.first].start, watch->moments[range.end - 1].end};
    if (steady)
        span = clip(span.start, span.end, window);
    sum_add(&watch->span, span.end - span.start);
}

static void watch_communication(struct watch *watch, const struct window *window)
{
    struct interval *moving = watch->scratch->moving;
    size_t count = 0;
    for (uint32_t i = 1; i < watch->position->stream_count; i++) {
        const struct stream *stream = &watch->position->streams[i];
        if (stream->type == OPERATION_DELAY)
            continue;
        uint32_t end = stream->first + stream->count;
        for (uint32_t id = first_after(watch->moments, stream, window->start);
             id < end && watch->moments[id].start < window->end; id++)
            moving[count++] = clip(watch->moments[id].data_start, watch->moments[id].end, window);
    }
    count = intervals_unite(moving, count);
    double overlapped = intervals_common(moving, count, watch->scratch->busy, watch->busy_count);
    sum_add(&watch->overlapped, overlapped);
    sum_add(&watch->exposed, intervals_length(moving, count) - overlapped);
}

/* What is gathered in a window so many times. */
static void add_times(struct watch *watch, const struct watch *once, double times)
{
    const struct sum *from[] = {&once->busy, &once->exposed, &once->overlapped};
    struct sum *to[] = {&watch->busy, &watch->exposed, &watch->overlapped};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        sum_add(to[i], times * sum_total(from[i]));
    for (int i = 0; i < CAUSES; i++)
        sum_add(&watch->causes[i], times * sum_total(&once->causes[i]));
}

/* The first computation that begins in the cycle, or is under way when it begins; `again`: none. */
static uint32_t first_of_cycle(const struct watch *watch, const struct window *cycle)
{
    const struct stream *stream = &watch->position->streams[0];
    uint32_t id = first_after(watch->moments, stream, cycle->start), end = stream->first + stream->count;
    while (id < end && frame_is_marker(watch->program, &watch->position->operations[id]))
        id++;
    return id < end && watch->moments[id].start < cycle->end ? id : again;
}

/* Where the iteration's last computation is in the whole job: behind the cycles if it is in them or comes after. */
static bool ends_later(const struct watch *watch, const struct frame *frame, const struct window *window)
{
    uint32_t index = (uint32_t)(watch->position - watch->program->positions);
    return window->computes.first < window->computes.end &&
           (frame->more->beats->streams[index][0].length ||
            watch->moments[window->computes.end - 1].start >= frame->more->start + frame->more->length);
}

/* The cycles that the whole job has more. Where no computation begins in a cycle the rank waits through all of them for
 * what comes next. */
static void watch_more(struct watch *watch, const struct frame *frame, const struct window *window)
{
    struct watch once = {.program = watch->program,
                         .position = watch->position,
                         .moments = watch->moments,
                         .rounding = watch->rounding,
                         .scratch = watch->scratch};
    struct window cycle = {frame->more->start, frame->more->start + frame->more->length, window->computes};
    uint32_t first = first_of_cycle(watch, &cycle);
    if (first != again)
        cycle.computes = (struct id_range){first, again};
    watch_computing(&once, &cycle);
    watch_communication(&once, &cycle);
    add_times(watch, &once, frame->more->cycles);
    if (ends_later(watch, frame, window))
        sum_add(&watch->span, frame_more_seconds(frame));
}

struct rank_times busy_times(const struct frame *frame, uint32_t entry, const struct busy_scratch *scratch)
{
    const struct timeline *timeline = frame->timeline;
    struct watch watch = {
        .program = timeline->program,
        .position = &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]],
        .moments = timeline->moments[entry],
        .rounding = timeline->rounding,
        .scratch = scratch};
    for (uint32_t i = 0; i < frame->windows; i++) {
        struct window window = frame_window(frame, entry, i);
        watch_computing(&watch, &window);
        watch_span(&watch, &window, frame->steady || frame->whole);
        watch_communication(&watch, &window);
        if (frame->more)
            watch_more(&watch, frame, &window);
    }
    double share = frame_share(frame, entry);
    struct rank_times times = {.busy = sum_total(&watch.busy) / share,
                               .span = sum_total(&watch.span) / share,
                               .exposed = fmax(0, sum_total(&watch.exposed)) / share,
                               .overlapped = sum_total(&watch.overlapped) / share};
    for (int i = 0; i < CAUSES; i++)
        times.causes[i] = sum_total(&watch.causes[i]) / share;
    return times;
}

static double busy_within(const struct frame *frame, uint32_t entry, const struct window *window)
{
    const struct timeline *timeline = frame->timeline;
    const struct program *program = timeline->program;
    const struct position *position = &program->positions[program->mesh->position_of[timeline->ranks[entry]]];
    const struct moment *moments = timeline->moments[entry];
    const struct stream *stream = &position->streams[0];
    uint32_t end = stream->first + stream->count;
    struct sum busy = {0, 0};
    for (uint32_t id = first_after(moments, stream, window->start); id < end && moments[id].start < window->end; id++)
        if (!frame_is_marker(program, &position->operations[id])) {
            struct interval run = clip(moments[id].start, moments[id].end, window);
            sum_add(&busy, run.end - run.start);
        }
    return sum_total(&busy);
}

double busy_seconds(const struct frame *frame, uint32_t entry)
{
    struct sum busy = {0, 0};
    for (uint32_t i = 0; i < frame->windows; i++) {
        struct window window = frame_window(frame, entry, i);
        sum_add(&busy, busy_within(frame, entry, &window));
    }
    if (frame->more) {
        struct window cycle = {.start = frame->more->start, .end = frame->more->start + frame->more->length};
        sum_add(&busy, frame->more->cycles * busy_within(frame, entry, &cycle));
    }
    return sum_total(&busy) / frame_share(frame, entry);
}
