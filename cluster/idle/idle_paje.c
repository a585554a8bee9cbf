/* SPDX-License-Identifier: Apache-2.0 */
/* A container for each node, whose state is its job, or free; and the number of idle nodes. */
#include "analysis/output/traces/paje_format.h"
#include "base/arena.h"
#include "base/text_writer.h"
#include "cluster/idle/idle_output.h"

#include <stdlib.h>

static const char definitions[] = "0 C 0 \"cluster\"\n"
                                  "0 N C \"node\"\n"
                                  "1 S N \"job\"\n"
                                  "2 I C \"idle nodes\" \"0.60 0.60 0.60\"\n"
                                  "4 f S \"free\" \"0.85 0.85 0.85\"\n";

/* What happens to a node at a moment, in this order. */
enum happening { JOB_LEAVES, NODE_LEAVES, NODE_JOINS, JOB_COMES };

struct event {
    double time;
    enum happening what;
    uint32_t node, job;
};

struct events {
    struct event *items;
    size_t count, capacity;
};

static void add(struct events *events, struct event event)
{
    events->items = array_grow(events->items, &events->capacity, events->count + 1, sizeof *events->items);
    events->items[events->count++] = event;
}

static int in_order(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static struct events list_events(const struct idle_study *study, const struct replay *replay)
{
    struct events events = {NULL, 0, 0};
    for (size_t i = 0; i < study->moments.count; i++) {
        const struct idle_moment *moment = &study->moments.items[i];
        for (uint32_t k = 0; k < moment->left_count; k++)
            add(&events, (struct event){moment->time, NODE_LEAVES, moment->left[k], 0});
        for (uint32_t k = 0; k < moment->joined_count; k++)
            add(&events, (struct event){moment->time, NODE_JOINS, moment->joined[k], 0});
    }
    for (size_t i = 0; i < replay->stay_count; i++) {
        const struct node_stay *stay = &replay->stays[i];
        add(&events, (struct event){stay->from, JOB_COMES, stay->node, stay->job});
        add(&events, (struct event){stay->to, JOB_LEAVES, stay->node, stay->job});
    }
    if (events.count)
        qsort(events.items, events.count, sizeof *events.items, in_order);
    return events;
}

static void write_jobs(struct text_writer *text, const struct idle_study *study)
{
    static const char *const colours[] = {"0.00 0.45 0.70", "0.84 0.37 0.00", "0.00 0.62 0.45", "0.67 0.27 0.60",
                                          "0.72 0.53 0.04", "0.34 0.71 0.91", "0.13 0.13 0.13", "0.55 0.55 0.55"};
    for (size_t job = 0; job < study->job_count; job++) {
        text_integer(text, PAJE_DEFINE_VALUE);
        text_string(text, " j");
        text_integer(text, job);
        text_string(text, " S");
        paje_name(text, study->jobs[job].name);
        text_string(text, " \"");
        text_string(text, colours[job % (sizeof colours / sizeof *colours)]);
        text_string(text, "\"\n");
    }
}

/* Of the nodes that are idle at some time. */
static void write_containers(struct text_writer *text, const struct idle_study *study, const bool *shown, double end)
{
    for (uint32_t node = 0; node < study->log->node_count; node++) {
        if (!shown[node])
            continue;
        paje_begin(text, end < 0 ? PAJE_CREATE : PAJE_DESTROY, end < 0 ? 0 : end);
        text_string(text, end < 0 ? "n" : "N n");
        text_integer(text, node);
        if (end < 0) {
            text_string(text, " N c");
            paje_name(text, study->log->names[node]);
        }
        text_char(text, '\n');
    }
}

static void write_idle(struct text_writer *text, double time, uint64_t idle)
{
    paje_begin(text, PAJE_SET_VARIABLE, time);
    text_string(text, "I c ");
    text_integer(text, idle);
    text_char(text, '\n');
}

static void write_event(struct text_writer *text, const struct event *event)
{
    bool begins = event->what == NODE_JOINS || event->what == JOB_COMES;
    paje_begin(text, begins ? PAJE_PUSH : PAJE_POP, event->time);
    text_string(text, "S n");
    text_integer(text, event->node);
    if (event->what == NODE_JOINS)
        text_string(text, " f");
    if (event->what == JOB_COMES) {
        text_string(text, " j");
        text_integer(text, event->job);
    }
    if (begins)
        paje_name(text, "");
    text_char(text, '\n');
}

static void write_events(struct text_writer *text, const struct events *events)
{
    uint64_t idle = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->items[i];
        bool last = i + 1 == events->count || event[1].time > event->time;
        idle += event->what == NODE_JOINS;
        idle -= event->what == NODE_LEAVES;
        write_event(text, event);
        if (last)
            write_idle(text, event->time, idle);
    }
}

void idle_paje_write(FILE *out, const struct idle_study *study)
{
    const struct replay *replay = study->replays[0];
    struct text_writer *text = text_writer_create(out);
    struct events events = list_events(study, replay);
    bool *shown = array_zeroed(study->log->node_count + (size_t)1, sizeof *shown);
    for (size_t i = 0; i < events.count; i++)
        shown[events.items[i].node] = true;
    text_string(text, paje_events);
    text_string(text, definitions);
    write_jobs(text, study);
    paje_begin(text, PAJE_CREATE, 0);
    text_string(text, "c C 0 \"idle nodes\"\n");
    write_containers(text, study, shown, -1);
    write_events(text, &events);
    write_containers(text, study, shown, replay->duration);
    paje_begin(text, PAJE_DESTROY, replay->duration);
    text_string(text, "C c\n");
    text_writer_destroy(text);
    free(shown);
    free(events.items);
}
