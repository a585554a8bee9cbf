/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in the Paje trace format: a container for each pool of GPUs, whose state is the phase that it is at. */
#include "analysis/output/traces/paje_format.h"
#include "base/arena.h"
#include "base/text_writer.h"
#include "cluster/rl/rl_output.h"

#include <stdlib.h>

static const char definitions[] = "0 R 0 \"step of reinforcement learning\"\n"
                                  "0 G R \"pool of GPUs\"\n"
                                  "1 P G \"phase\"\n";

/* At equal times a phase ends before the next begins. */
struct event {
    double time;
    const struct rl_box *box;
    bool begins;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    int order = (a->time > b->time) - (a->time < b->time);
    if (order)
        return order;
    order = a->begins - b->begins;
    return order ? order : (a->box > b->box) - (a->box < b->box);
}

static void put_event(struct text_writer *text, const struct event *event)
{
    char step[24];
    paje_begin(text, event->begins ? PAJE_PUSH : PAJE_POP, event->time);
    text_string(text, "P g");
    text_integer(text, event->box->pool);
    if (event->begins) {
        snprintf(step, sizeof step, "step %u", event->box->step + 1);
        paje_name(text, rl_kind_names[event->box->kind]);
        paje_name(text, step);
    }
    text_char(text, '\n');
}

void rl_paje(FILE *out, const struct rl_view *view)
{
    struct text_writer *text = text_writer_create(out);
    struct arena *arena = arena_create();
    struct rl_boxes boxes = rl_boxes_of(view, arena);
    struct event *events = arena_array(arena, 2 * (size_t)boxes.count + 1, sizeof *events);
    for (uint32_t i = 0; i < boxes.count; i++) {
        events[2 * i] = (struct event){boxes.items[i].from, &boxes.items[i], true};
        events[2 * i + 1] = (struct event){boxes.items[i].to, &boxes.items[i], false};
    }
    qsort(events, 2 * (size_t)boxes.count, sizeof *events, by_time);
    text_string(text, paje_events);
    text_string(text, definitions);
    paje_begin(text, PAJE_CREATE, 0);
    text_string(text, "r R 0");
    paje_name(text, view->scenario->name);
    text_char(text, '\n');
    for (uint32_t pool = 0; pool < boxes.pools; pool++) {
        paje_begin(text, PAJE_CREATE, 0);
        text_string(text, "g");
        text_integer(text, pool);
        text_string(text, " G r");
        paje_name(text, rl_pool_name(view, pool));
        text_char(text, '\n');
    }
    for (uint32_t i = 0; i < 2 * boxes.count; i++)
        put_event(text, &events[i]);
    for (uint32_t pool = 0; pool < boxes.pools; pool++) {
        paje_begin(text, PAJE_DESTROY, boxes.end);
        text_string(text, "G g");
        text_integer(text, pool);
        text_char(text, '\n');
    }
    paje_begin(text, PAJE_DESTROY, boxes.end);
    text_string(text, "R r\n");
    text_writer_destroy(text);
    arena_destroy(arena);
}
