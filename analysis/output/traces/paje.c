/* SPDX-License-Identifier: Apache-2.0 */
/* Events are in the order of time. Aliases: types are letters, containers c, n0 (node), g0 (rank), s0.0 (rank, stream),
 * values v and a number. */
#include "analysis/output/traces/paje.h"

#include "analysis/figures/link_rate.h"
#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "analysis/output/traces/paje_format.h"
#include "analysis/pictures/palette.h"
#include "base/arena.h"
#include "base/sum.h"
#include "base/text_writer.h"
#include "base/timed.h"
#include "simulator/program/operation_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fixed part ---- */

static const char cluster[] = "0 C 0 \"cluster\"\n";
static const char nodes_of_cluster[] = "0 N C \"node\"\n";
static const char nodes_of_jobs[] = "0 J C \"job\"\n"
                                    "0 N J \"node\"\n";
static const char other_definitions[] = "0 G N \"GPU\"\n"
                                        "0 S G \"stream\"\n"
                                        "0 L C \"links\"\n"
                                        "1 A S \"activity\"\n"
                                        "2 V G \"stashed activations\" \"0.13 0.35 0.60\"\n"
                                        "2 U L \"utilization\" \"0.60 0.35 0.65\"\n"
                                        "3 M C S S \"message\"\n";

/* Waiting stands after the last kind. */
enum { VALUE_WAITING = PALETTE_WAITING };

enum { SHORT_NAME = 14 };

/* ---- events ---- */

/* What happens at a moment; in the low bits of timed.entry, the rank above them. */
enum happening {
    LINK_STARTS,
    WAIT_BEGINS,
    WAIT_ENDS,
    WORK_BEGINS,
    WORK_ENDS,
    LEVEL_CHANGES,
    LINK_ENDS,
    RATE_CHANGES,
    HAPPENING_BITS = 3
};

struct trace {
    const struct trace_job *jobs; /* names NULL: it is one, and no container */
    uint32_t job_count, *bases;   /* [job]: number of its rank 0, and one more */
    /* The job that is looked at: */
    uint32_t job, base;
    const struct trace_source *source;
    const struct program *program;
    struct text_writer *text;
    struct timed *events;
    size_t event_count, event_capacity;
    double *levels; /* stashed activations after a change: LEVEL_CHANGES has its index as id */
    size_t level_count, level_capacity;
    const struct link_rates *rates; /* of links: RATE_CHANGES has its index as id */
    double end;
};

static void look_at(struct trace *trace, uint32_t job)
{
    trace->job = job;
    trace->base = trace->bases[job];
    trace->source = &trace->jobs[job].source;
    trace->program = trace->source->timeline->program;
}

static void add_event(struct trace *trace, enum happening what, double time, uint32_t rank, uint32_t id)
{
    trace->events = array_grow(trace->events, &trace->event_capacity, trace->event_count + 1, sizeof *trace->events);
    time += trace->jobs[trace->job].start;
    trace->events[trace->event_count++] = (struct timed){time, (trace->base + rank) << HAPPENING_BITS | what, id};
    if (time > trace->end)
        trace->end = time;
}

/* Messages whose receiver is shown as well. */
static void add_links(struct trace *trace, uint32_t rank, enum happening what)
{
    const struct position *position = trace_source_position(trace->source, rank);
    const struct moment *moments = timeline_rank(trace->source->timeline, rank);
    for (uint32_t i = 1; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_SEND ||
            !trace_source_shows(trace->source, partner_rank(trace->program, rank, stream)))
            continue;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
            add_event(trace, what, what == LINK_STARTS ? moments[id].data_start : moments[id].end, rank, id);
    }
}

/* A receive that waits is not shown: it would cover all of its row. */
static void add_states(struct trace *trace, uint32_t rank)
{
    const struct position *position = trace_source_position(trace->source, rank);
    const struct moment *moments = timeline_rank(trace->source->timeline, rank);
    for (uint32_t id = 0; id < position->operation_count; id++) {
        const struct moment *moment = &moments[id];
        if (moment->data_start > moment->start && position->operations[id].type != OPERATION_RECEIVE) {
            add_event(trace, WAIT_BEGINS, moment->start, rank, id);
            add_event(trace, WAIT_ENDS, moment->data_start, rank, id);
        }
        if (moment->end > moment->data_start) {
            add_event(trace, WORK_BEGINS, moment->data_start, rank, id);
            add_event(trace, WORK_ENDS, moment->end, rank, id);
        }
    }
}

static void add_level(struct trace *trace, double time, uint32_t rank, double level)
{
    trace->levels = array_grow(trace->levels, &trace->level_capacity, trace->level_count + 1, sizeof *trace->levels);
    add_event(trace, LEVEL_CHANGES, time, rank, (uint32_t)trace->level_count);
    trace->levels[trace->level_count++] = level;
}

static void add_levels(struct trace *trace, struct memory_use *memory, uint32_t rank)
{
    size_t count;
    struct sum level = {0, 0};
    const struct memory_step *steps = memory_use_steps(memory, trace->source->timeline->index_of[rank], &count);
    if (count)
        add_level(trace, 0, rank, 0);
    for (size_t i = 0; i < count; i++) {
        sum_add(&level, steps[i].stash);
        if (steps[i].stash == 0 || (i + 1 < count && steps[i + 1].time == steps[i].time))
            continue;
        add_level(trace, steps[i].time, rank, sum_total(&level));
    }
}

/* Equal times keep this order: a link starts before it ends, a stream's states follow each other. */
static void collect_job(struct trace *trace, const uint32_t *ranks, uint32_t count)
{
    struct arena *arena = arena_create();
    struct memory_use *memory = memory_use_create(trace->source->timeline, arena);
    for (uint32_t i = 0; i < count; i++)
        add_links(trace, ranks[i], LINK_STARTS);
    for (uint32_t i = 0; i < count; i++) {
        add_states(trace, ranks[i]);
        add_levels(trace, memory, ranks[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        add_links(trace, ranks[i], LINK_ENDS);
    for (size_t i = 0; trace->rates && i < trace->rates->rate_count && i <= UINT32_MAX; i++)
        add_event(trace, RATE_CHANGES, trace->rates->rates[i].time, 0, (uint32_t)i);
    arena_destroy(arena);
}

static void collect(struct trace *trace, uint32_t *const *ranks, const uint32_t *counts)
{
    size_t capacity = 0;
    for (uint32_t job = 0; job < trace->job_count; job++) {
        look_at(trace, job);
        collect_job(trace, ranks[job], counts[job]);
    }
    struct timed *scratch = array_grow(NULL, &capacity, trace->event_count + 1, sizeof *scratch);
    timed_sort(trace->events, scratch, trace->event_count);
    free(scratch);
}

/* ---- writing ---- */

static void put_integer(struct trace *trace, uint64_t value)
{
    text_integer(trace->text, value);
    text_char(trace->text, ' ');
}

static void put_event(struct trace *trace, unsigned event, double time, const char *type)
{
    put_integer(trace, event);
    text_number(trace->text, time);
    text_char(trace->text, ' ');
    text_string(trace->text, type);
    text_char(trace->text, ' ');
}

static void put_stream(struct trace *trace, uint32_t rank, uint32_t stream)
{
    text_char(trace->text, 's');
    text_integer(trace->text, trace->base + rank);
    text_char(trace->text, '.');
    text_integer(trace->text, stream);
}

/* Names come from the user's platform; Paje has no escape for quotes. */
static void put_name(struct trace *trace, const char *name)
{
    for (; *name; name++)
        text_char(trace->text, *name == '"' || (unsigned char)*name < ' ' ? '_' : *name);
}

/* ViTE gives a container's name little room: the beginning and the end say most. */
static void put_short(struct trace *trace, const char *name)
{
    char text[SHORT_NAME + 1];
    size_t length = strlen(name);
    if (length <= SHORT_NAME) {
        put_name(trace, name);
        return;
    }
    snprintf(text, sizeof text, "%.*s~%s", SHORT_NAME / 2 - 1, name, name + length - SHORT_NAME / 2);
    put_name(trace, text);
}

/* "send:1:activation" is "to 1 act", "receive:0:gradient" is "from 0 grad", "collective:2" is "group 2". Without < and
 * >, which ViTE writes into its SVG as they are. */
static void put_short_stream(struct trace *trace, const struct stream *stream, const char *name)
{
    const char *kind = strrchr(name, ':');
    if (stream->type == OPERATION_SEND || stream->type == OPERATION_RECEIVE) {
        text_string(trace->text, stream->type == OPERATION_SEND ? "to " : "from ");
        put_integer(trace, stream->peer);
        text_string(trace->text, !strcmp(kind, ":activation") ? "act" : !strcmp(kind, ":gradient") ? "grad" : kind + 1);
    } else if (stream->type == OPERATION_COLLECTIVE) {
        text_string(trace->text, "group ");
        text_integer(trace->text, stream->peer);
    } else {
        text_string(trace->text, name);
    }
}

static void put_container(struct trace *trace, const char *type)
{
    put_integer(trace, PAJE_CREATE);
    text_string(trace->text, "0 ");
    text_string(trace->text, type);
}

static void put_gpu(struct trace *trace, uint32_t rank, uint32_t node, const char *const *streams)
{
    put_container(trace, "g");
    put_integer(trace, trace->base + rank);
    text_string(trace->text, "G n");
    put_integer(trace, trace->base + node);
    text_string(trace->text, "\"r");
    put_integer(trace, rank);
    put_short(trace, trace_source_host(trace->source, rank)->name);
    text_string(trace->text, "\"\n");
    const struct position *position = trace_source_position(trace->source, rank);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        put_container(trace, "");
        put_stream(trace, rank, i);
        text_string(trace->text, " S g");
        put_integer(trace, trace->base + rank);
        text_string(trace->text, "\"");
        put_short_stream(trace, &position->streams[i], streams[i]);
        text_string(trace->text, "\"\n");
    }
}

/* A node's ranks stand together, nodes in the order of their first rank. */
struct placed {
    const char *node;
    uint32_t rank, number; /* number of the node */
};

static int by_node(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    int order = strcmp(a->node, b->node);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_number(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static struct placed *place(const struct trace_source *source, const uint32_t *ranks, uint32_t count)
{
    size_t capacity = 0;
    struct placed *placed = array_grow(NULL, &capacity, (size_t)count + 1, sizeof *placed);
    for (uint32_t i = 0; i < count; i++) {
        const char *node = trace_source_host(source, ranks[i])->node;
        placed[i] = (struct placed){node ? node : "", ranks[i], 0};
    }
    qsort(placed, count, sizeof *placed, by_node);
    for (uint32_t i = 0; i < count; i++)
        placed[i].number = i && !strcmp(placed[i].node, placed[i - 1].node) ? placed[i - 1].number : placed[i].rank;
    qsort(placed, count, sizeof *placed, by_number);
    return placed;
}

static void put_containers(struct trace *trace, const uint32_t *ranks, uint32_t count)
{
    struct arena *arena = arena_create();
    const char ***streams = stream_names_create(trace->program, arena);
    struct placed *placed = place(trace->source, ranks, count);
    for (uint32_t kind = 0; trace->rates && kind < trace->rates->kind_count; kind++) {
        put_container(trace, "l");
        put_integer(trace, kind);
        text_string(trace->text, "L c \"");
        put_short(trace, trace->rates->names[kind]);
        text_string(trace->text, "\"\n");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!i || placed[i].number != placed[i - 1].number) {
            put_container(trace, "n");
            put_integer(trace, trace->base + placed[i].number);
            text_string(trace->text, trace->jobs[trace->job].name ? "N j" : "N c");
            if (trace->jobs[trace->job].name)
                text_integer(trace->text, trace->job);
            text_string(trace->text, " \"");
            put_short(trace, placed[i].node);
            text_string(trace->text, "\"\n");
        }
        put_gpu(trace, placed[i].rank, placed[i].number, streams[trace->program->mesh->position_of[placed[i].rank]]);
    }
    free(placed);
    arena_destroy(arena);
}

/* Red, green and blue from 0 to 1. */
static void put_colour(struct trace *trace, uint32_t colour)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f %.2f %.2f", (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0,
             (colour & 0xff) / 255.0);
    text_string(trace->text, text);
}

static void put_values(struct trace *trace)
{
    for (unsigned kind = 0; kind <= VALUE_WAITING; kind++) {
        const char *name = kind == VALUE_WAITING ? "waiting" : kind_name((enum stagesim_kind)kind);
        put_integer(trace, PAJE_DEFINE_VALUE);
        text_char(trace->text, 'v');
        put_integer(trace, kind);
        text_string(trace->text, "A \"");
        text_string(trace->text, name);
        text_string(trace->text, "\" \"");
        put_colour(trace, palette_single(kind));
        text_string(trace->text, "\"\n");
    }
}

static void put_state(struct trace *trace, double time, enum happening what, uint32_t rank,
                      const struct operation *operation)
{
    bool begins = what == WAIT_BEGINS || what == WORK_BEGINS;
    put_event(trace, begins ? PAJE_PUSH : PAJE_POP, time, "A");
    put_stream(trace, rank, operation->stream);
    if (begins) {
        char name[OPERATION_TEXT_MAX];
        text_string(trace->text, " v");
        put_integer(trace, what == WAIT_BEGINS ? (unsigned)VALUE_WAITING : operation->kind);
        text_char(trace->text, '"');
        text_string(trace->text, operation_text(name, trace_source_position(trace->source, rank), operation));
        text_char(trace->text, '"');
    }
    text_char(trace->text, '\n');
}

static void put_link(struct trace *trace, double time, enum happening what, uint32_t rank, uint32_t id)
{
    const struct position *position = trace_source_position(trace->source, rank);
    const struct operation *operation = &position->operations[id];
    const struct stream *stream = &position->streams[operation->stream];
    put_event(trace, what == LINK_STARTS ? PAJE_START_LINK : PAJE_END_LINK, time, "M c");
    if (what == LINK_STARTS)
        put_stream(trace, rank, operation->stream);
    else
        put_stream(trace, partner_rank(trace->program, rank, stream), stream->opposite);
    text_string(trace->text, " \"");
    text_string(trace->text, kind_name(operation->kind));
    text_string(trace->text, "\" k");
    text_integer(trace->text, trace->base + rank);
    text_char(trace->text, '.');
    text_integer(trace->text, id);
    if (what == LINK_STARTS) {
        text_char(trace->text, ' ');
        text_number(trace->text, operation_cost(trace->program, operation)->bytes);
    }
    text_char(trace->text, '\n');
}

static void put_level(struct trace *trace, double time, uint32_t rank, double level)
{
    put_event(trace, PAJE_SET_VARIABLE, time, "V");
    text_char(trace->text, 'g');
    put_integer(trace, trace->base + rank);
    text_number(trace->text, level);
    text_char(trace->text, '\n');
}

static void put_rate(struct trace *trace, const struct link_rate *rate)
{
    put_event(trace, PAJE_SET_VARIABLE, rate->time, "U");
    text_char(trace->text, 'l');
    put_integer(trace, rate->kind);
    text_number(trace->text, rate->utilization);
    text_char(trace->text, '\n');
}

/* The job that has a rank of that number. */
static uint32_t job_of(const struct trace *trace, uint32_t rank)
{
    uint32_t low = 0, high = trace->job_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->bases[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void put_job(struct trace *trace, const uint32_t *ranks, uint32_t count)
{
    if (trace->jobs[trace->job].name) {
        put_container(trace, "j");
        put_integer(trace, trace->job);
        text_string(trace->text, "J c \"");
        put_short(trace, trace->jobs[trace->job].name);
        text_string(trace->text, "\"\n");
    }
    put_containers(trace, ranks, count);
}

static void put_events(struct trace *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct timed *event = &trace->events[i];
        enum happening what = event->entry & ((1u << HAPPENING_BITS) - 1);
        uint32_t rank = event->entry >> HAPPENING_BITS;
        look_at(trace, job_of(trace, rank));
        rank -= trace->base;
        if (what == LEVEL_CHANGES)
            put_level(trace, event->time, rank, trace->levels[event->id]);
        else if (what == RATE_CHANGES)
            put_rate(trace, &trace->rates->rates[event->id]);
        else if (what == LINK_STARTS || what == LINK_ENDS)
            put_link(trace, event->time, what, rank, event->id);
        else
            put_state(trace, event->time, what, rank,
                      &trace_source_position(trace->source, rank)->operations[event->id]);
    }
}

static void write_trace(struct trace *trace, uint32_t *const *ranks, const uint32_t *counts)
{
    collect(trace, ranks, counts);
    text_string(trace->text, paje_events);
    text_string(trace->text, cluster);
    text_string(trace->text, trace->jobs[0].name ? nodes_of_jobs : nodes_of_cluster);
    text_string(trace->text, other_definitions);
    put_values(trace);
    text_string(trace->text, "5 0 c C 0 \"cluster\"\n");
    for (uint32_t job = 0; job < trace->job_count; job++) {
        look_at(trace, job);
        put_job(trace, ranks[job], counts[job]);
    }
    put_events(trace);
    put_event(trace, PAJE_DESTROY, trace->end, "C");
    text_string(trace->text, "c\n");
}

void paje_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct arena *arena = arena_create();
    struct trace trace = {.jobs = jobs, .job_count = count, .text = text_writer_create(out)};
    uint32_t **ranks = arena_array(arena, count, sizeof *ranks), *counts = arena_array(arena, count, sizeof *counts);
    trace.bases = arena_array(arena, count + (size_t)1, sizeof *trace.bases);
    for (uint32_t job = 0; job < count; job++) {
        ranks[job] = trace_source_ranks(&jobs[job].source, &counts[job]);
        trace.bases[job + 1] = trace.bases[job] + jobs[job].source.timeline->program->mesh->ranks;
    }
    const struct trace_source *first = &jobs[0].source;
    if (!jobs[0].name)
        trace.rates = link_rates_create(first->timeline, first->platform, first->hosts, arena);
    write_trace(&trace, ranks, counts);
    text_writer_destroy(trace.text);
    for (uint32_t job = 0; job < count; job++)
        free(ranks[job]);
    arena_destroy(arena);
    free(trace.levels);
    free(trace.events);
}

void paje_write(FILE *out, const struct trace_source *source)
{
    paje_write_jobs(out, &(struct trace_job){*source, NULL, 0}, 1);
}
