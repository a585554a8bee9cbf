/* SPDX-License-Identifier: Apache-2.0 */
/* The queue in the Paje trace format: a container for each node, whose state is the job that has it. */
#include "base/arena.h"
#include "base/text_writer.h"
#include "cluster/queue/queue_output.h"

#include <stdlib.h>

static const char definitions[] = "%EventDef PajeDefineContainerType 0\n"
                                  "%  Alias string\n%  Type string\n%  Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineStateType 1\n"
                                  "%  Alias string\n%  Type string\n%  Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDefineVariableType 2\n"
                                  "%  Alias string\n%  Type string\n%  Name string\n%  Color color\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeCreateContainer 3\n"
                                  "%  Time date\n%  Alias string\n%  Type string\n%  Container string\n"
                                  "%  Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeDestroyContainer 4\n"
                                  "%  Time date\n%  Type string\n%  Name string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajePushState 5\n"
                                  "%  Time date\n%  Type string\n%  Container string\n%  Value string\n"
                                  "%  Type_of_job string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajePopState 6\n"
                                  "%  Time date\n%  Type string\n%  Container string\n"
                                  "%EndEventDef\n"
                                  "%EventDef PajeSetVariable 7\n"
                                  "%  Time date\n%  Type string\n%  Container string\n%  Value double\n"
                                  "%EndEventDef\n"
                                  "0 C 0 \"cluster\"\n"
                                  "0 N C \"node\"\n"
                                  "1 J N \"job\"\n"
                                  "2 W C \"jobs waiting\" \"0.85 0.37 0.00\"\n"
                                  "2 U C \"nodes in use\" \"0.18 0.44 0.72\"\n";

/* At equal times nodes are left before they are given to the next. */
struct event {
    double time;
    size_t index; /* of the span, or of the level */
    enum { LEAVES, TAKES, LEVEL } what;
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

static void begin(struct text_writer *text, const char *event, double time)
{
    text_string(text, event);
    text_char(text, ' ');
    text_number(text, time);
    text_char(text, ' ');
}

static void put_node(struct text_writer *text, uint32_t node)
{
    text_string(text, " n");
    text_integer(text, node);
}

/* Quotes end a text in this format. */
static void put_text(struct text_writer *text, const char *word)
{
    text_string(text, " \"");
    for (; *word; word++)
        text_char(text, *word == '"' || (unsigned char)*word < ' ' ? '?' : *word);
    text_char(text, '"');
}

static void put_span(struct text_writer *text, const struct queue_view *view, const struct event *event)
{
    const struct queue_span *span = &view->run->spans[event->index];
    const struct queue_job *job = &view->run->request->jobs[span->job];
    for (uint32_t i = 0; i < span->count; i++) {
        begin(text, event->what == TAKES ? "5" : "6", event->time);
        text_char(text, 'J');
        put_node(text, span->nodes[i]);
        if (event->what == TAKES) {
            put_text(text, job->name);
            put_text(text, queue_type_name(view, job->kind));
        }
        text_char(text, '\n');
    }
}

static void put_level(struct text_writer *text, const struct queue_level *level)
{
    begin(text, "7", level->time);
    text_string(text, "W c ");
    text_integer(text, level->waiting);
    text_char(text, '\n');
    begin(text, "7", level->time);
    text_string(text, "U c ");
    text_integer(text, level->nodes);
    text_char(text, '\n');
}

static struct event *list_events(const struct queue_view *view, size_t *count)
{
    const struct queue_run *run = view->run;
    struct event *events = array_zeroed(2 * run->span_count + view->figures->level_count, sizeof *events);
    *count = 0;
    for (size_t i = 0; i < run->span_count; i++) {
        events[(*count)++] = (struct event){run->spans[i].from, i, TAKES};
        events[(*count)++] = (struct event){run->spans[i].to, i, LEAVES};
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
    text_string(text, definitions);
    begin(text, "3", first);
    text_string(text, "c C 0");
    put_text(text, view->scenario->name);
    text_char(text, '\n');
    for (uint32_t node = 0; node < view->run->request->nodes; node++) {
        begin(text, "3", first);
        put_node(text, node);
        text_string(text, " N c \"node ");
        text_integer(text, node);
        text_string(text, "\"\n");
    }
    for (size_t i = 0; i < count; i++)
        if (events[i].what == LEVEL)
            put_level(text, &view->figures->levels[events[i].index]);
        else
            put_span(text, view, &events[i]);
    for (uint32_t node = 0; node < view->run->request->nodes; node++) {
        begin(text, "4", last);
        text_char(text, 'N');
        put_node(text, node);
        text_char(text, '\n');
    }
    begin(text, "4", last);
    text_string(text, "C c\n");
    text_writer_destroy(text);
    free(events);
}
