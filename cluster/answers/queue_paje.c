/* SPDX-License-Identifier: Apache-2.0 */
/* The queue in the Paje trace format: a container for each node, whose state is the job that has it. */
#include "analysis/output/traces/paje_format.h"
#include "base/arena.h"
#include "base/text_writer.h"
#include "cluster/answers/queue_output.h"

#include <stdlib.h>

static const char definitions[] = "0 C 0 \"cluster\"\n"
                                  "0 N C \"node\"\n"
                                  "1 J N \"job\"\n"
                                  "2 W C \"jobs waiting\" \"0.85 0.37 0.00\"\n"
                                  "2 U C \"nodes in use\" \"0.18 0.44 0.72\"\n";

/* At equal times nodes are left before they are given to the next. */
struct event {
    double time;
    size_t index; /* of the span, of the repair, or of the level */
    enum { BACK, LEAVES, AWAY, TAKES, LEVEL } what;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void put_node(struct text_writer *text, uint32_t node)
{
    text_string(text, " n");
    text_integer(text, node);
}

static void put_span(struct text_writer *text, const struct queue_view *view, const struct event *event)
{
    const struct queue_span *span = &view->run->spans[event->index];
    const struct queue_job *job = &view->run->request->jobs[span->job];
    for (uint32_t i = 0; i < span->count; i++) {
        paje_begin(text, event->what == TAKES ? PAJE_PUSH : PAJE_POP, event->time);
        text_char(text, 'J');
        put_node(text, span->nodes[i]);
        if (event->what == TAKES) {
            paje_name(text, job->name);
            paje_name(text, queue_type_name(view, job->kind));
        }
        text_char(text, '\n');
    }
}

static void put_away(struct text_writer *text, const struct queue_view *view, const struct event *event)
{
    paje_begin(text, event->what == AWAY ? PAJE_PUSH : PAJE_POP, event->time);
    text_char(text, 'J');
    put_node(text, view->run->away[event->index].node);
    if (event->what == AWAY) {
        paje_name(text, "in repair");
        paje_name(text, "in repair");
    }
    text_char(text, '\n');
}

static void put_level(struct text_writer *text, const struct queue_level *level)
{
    paje_begin(text, PAJE_SET_VARIABLE, level->time);
    text_string(text, "W c ");
    text_integer(text, level->waiting);
    text_char(text, '\n');
    paje_begin(text, PAJE_SET_VARIABLE, level->time);
    text_string(text, "U c ");
    text_integer(text, level->nodes);
    text_char(text, '\n');
}

static struct event *list_events(const struct queue_view *view, size_t *count)
{
    const struct queue_run *run = view->run;
    struct event *events =
        array_zeroed(2 * (run->span_count + run->away_count) + view->figures->level_count, sizeof *events);
    *count = 0;
    for (size_t i = 0; i < run->span_count; i++) {
        events[(*count)++] = (struct event){run->spans[i].from, i, TAKES};
        events[(*count)++] = (struct event){run->spans[i].to, i, LEAVES};
    }
    for (size_t i = 0; i < run->away_count; i++) {
        events[(*count)++] = (struct event){run->away[i].from, i, AWAY};
        events[(*count)++] = (struct event){run->away[i].to, i, BACK};
    }
    for (size_t i = 0; i < view->figures->level_count; i++)
        events[(*count)++] = (struct event){view->figures->levels[i].time, i, LEVEL};
    qsort(events, *count, sizeof *events, by_time);
    return events;
}

void queue_paje(FILE *out, const struct queue_view *view)
{
    struct text_writer *text = text_writer_create(out);
    double first = view->run->request->jobs[0].submit, last = first + view->figures->makespan;
    size_t count;
    struct event *events = list_events(view, &count);
    text_string(text, paje_events);
    text_string(text, definitions);
    paje_begin(text, PAJE_CREATE, first);
    text_string(text, "c C 0");
    paje_name(text, view->scenario->name);
    text_char(text, '\n');
    for (uint32_t node = 0; node < view->run->request->nodes; node++) {
        paje_begin(text, PAJE_CREATE, first);
        put_node(text, node);
        text_string(text, " N c \"node ");
        text_integer(text, node);
        text_string(text, "\"\n");
    }
    for (size_t i = 0; i < count; i++)
        if (events[i].what == LEVEL)
            put_level(text, &view->figures->levels[events[i].index]);
        else if (events[i].what == AWAY || events[i].what == BACK)
            put_away(text, view, &events[i]);
        else
            put_span(text, view, &events[i]);
    for (uint32_t node = 0; node < view->run->request->nodes; node++) {
        paje_begin(text, PAJE_DESTROY, last);
        text_char(text, 'N');
        put_node(text, node);
        text_char(text, '\n');
    }
    paje_begin(text, PAJE_DESTROY, last);
    text_string(text, "C c\n");
    text_writer_destroy(text);
    free(events);
}
