/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/schedule/schedule_output.h"

#include "analysis/pictures/picture_schedule.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/text_writer.h"
#include "job/scenario/schedule_option.h"
#include "schedules/plan/plan_slices.h"

#include <stdlib.h>

unsigned schedule_block_place(const struct plan_order *order, size_t index)
{
    if (order->slots[index].joined)
        return 2;
    return index + 1 < order->count && order->slots[index + 1].joined ? 1 : 0;
}

/* Columns that only some plans need. */
struct columns {
    bool slices, shares, even, braided;
    const struct plan *plan;
};

/* The share of a sequence, or of a forward that is computed again. */
static double share_of(const struct plan *plan, const struct slot *slot)
{
    return slot->kind == SLOT_RECOMPUTE ? plan_recomputed(plan, slot->stage)
           : slot_is_output(slot)       ? plan_output_share(plan, slot)
                                        : plan_slice_length(plan, slot->micro_batch);
}

static struct columns columns_of(const struct plan *plan)
{
    struct columns columns = {.slices = plan->slices > 1, .even = plan->even_slices, .plan = plan};
    columns.shares = columns.slices || plan->barriers;
    for (uint32_t stage = 0; plan->recomputed && stage < plan->stages; stage++)
        columns.shares |= plan->recomputed[stage] > 0 && plan->recomputed[stage] < 1;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            columns.braided |= plan->orders[worker].slots[i].joined == SLOT_BRAIDED;
    return columns;
}

static const char *part_text(const struct slot *slot)
{
    return slot->part == PART_WHOLE ? "" : slot->part == PART_A ? "a" : "b";
}

static void write_row(struct text_writer *text, const struct columns *columns, uint32_t worker, size_t index,
                      const struct slot *slot, struct plan_span span)
{
    const uint32_t numbers[] = {slot->stage, slot->micro_batch / columns->plan->slices, slot->pipeline};
    text_integer(text, worker);
    text_char(text, ',');
    text_integer(text, index);
    text_char(text, ',');
    text_char(text, slot_letter(slot->kind));
    for (unsigned i = 0; i < 3; i++) {
        text_char(text, ',');
        text_integer(text, numbers[i]);
    }
    text_char(text, ',');
    text_string(text, part_text(slot));
    if (columns->slices) {
        text_char(text, ',');
        text_integer(text, slot->micro_batch % columns->plan->slices);
    }
    if (columns->shares) {
        text_char(text, ',');
        text_number(text, share_of(columns->plan, slot));
    }
    text_string(text, columns->even ? ",1" : "");
    if (columns->braided)
        text_string(text, slot->joined == SLOT_BRAIDED ? ",1" : ",");
    text_string(text, columns->plan->transfer > 0 ? "," : "");
    if (columns->plan->transfer > 0 && slot_moves(slot))
        text_number(text, columns->plan->transfer);
    text_char(text, ',');
    text_number(text, span.start);
    text_char(text, ',');
    text_number(text, span.end);
    text_char(text, '\n');
}

void schedule_csv_write(FILE *out, const struct schedule_view *view)
{
    struct text_writer *text = text_writer_create(out);
    struct columns columns = columns_of(view->plan);
    text_string(text, "worker,index,kind,stage,micro_batch,pipeline,part");
    text_string(text, columns.slices ? ",slice" : "");
    text_string(text, columns.shares ? ",share" : "");
    text_string(text, columns.even ? ",even" : "");
    text_string(text, columns.braided ? ",braided" : "");
    text_string(text, columns.plan->transfer > 0 ? ",transfer" : "");
    text_string(text, ",start,end\n");
    for (uint32_t worker = 0; worker < view->plan->workers; worker++) {
        const struct plan_order *order = &view->plan->orders[worker];
        for (size_t i = 0, index = 0; i < order->count; i++) {
            index += i > 0 && !order->slots[i].joined;
            write_row(text, &columns, worker, index, &order->slots[i], plan_timing_span(view->timing, worker, i));
        }
    }
    text_writer_destroy(text);
}

static void write_request(struct json_writer *json, const struct schedule_view *view)
{
    json_object_begin(json, "schedule", false);
    json_text(json, "name", view->name);
    json_integer(json, "workers", view->plan->workers);
    json_integer(json, "stages", view->plan->stages);
    json_integer(json, "pipelines", view->plan->pipelines);
    json_integer(json, "micro_batches", view->plan->micro_batches / view->plan->iterations / view->plan->slices);
    json_flag(json, "asynchronous", view->plan->asynchronous);
    const struct schedule_option *options = view->schedule ? view->schedule->options : NULL;
    for (unsigned i = 0; options && options[i].key; i++)
        schedule_option_json(json, options[i].key, &options[i], view->request->options[i], &view->request->stashes);
    json_object_end(json);
}

/* Bubble of one worker over T, per iteration. */
static double bubble_of(const struct schedule_view *view, uint32_t worker)
{
    double iteration = view->timing->iteration;
    return iteration > 0 ? 1 - view->timing->busy[worker] / view->plan->iterations / iteration : 0;
}

static void write_figures(struct json_writer *json, const struct schedule_view *view)
{
    const struct plan_timing *timing = view->timing;
    json_object_begin(json, "time", false);
    json_number(json, "iteration_s", timing->iteration);
    json_number(json, "makespan_s", timing->makespan);
    json_integer(json, "iterations", view->plan->iterations);
    if (view->plan->bound > 0) {
        json_number(json, "bound_s", view->plan->bound);
        json_number(json, "above_bound", plan_timing_above_bound(timing, view->plan));
        json_flag(json, "optimal", plan_timing_above_bound(timing, view->plan) == 0);
    }
    if (view->plan->rate > 0) {
        json_number(json, "rate_s", view->plan->rate);
        json_number(json, "rate_bound_s", view->plan->rate_bound);
    }
    json_object_end(json);
    double least = bubble_of(view, 0), most = least;
    for (uint32_t worker = 1; worker < view->plan->workers; worker++) {
        double bubble = bubble_of(view, worker);
        least = bubble < least ? bubble : least;
        most = bubble > most ? bubble : most;
    }
    json_object_begin(json, "bubble", false);
    json_number(json, "ratio", timing->ratio);
    json_number(json, "min", least);
    json_number(json, "max", most);
    json_number(json, "over_ideal", timing->over_ideal);
    json_number(json, "span_max", timing->span_max);
    json_object_end(json);
}

static void write_workers(struct json_writer *json, const struct schedule_view *view)
{
    const struct plan_timing *timing = view->timing;
    json_array_begin(json, "workers", true);
    for (uint32_t worker = 0; worker < view->plan->workers; worker++) {
        size_t count = view->plan->orders[worker].count;
        double span = plan_timing_span(timing, worker, count - 1).end - plan_timing_span(timing, worker, 0).start;
        json_object_begin(json, NULL, false);
        json_integer(json, "position", worker);
        json_number(json, "busy_s", timing->busy[worker]);
        json_number(json, "span_s", span);
        json_number(json, "bubble", bubble_of(view, worker));
        json_number(json, "peak_in_flight", timing->peak_in_flight[worker]);
        json_number(json, "weight_versions", view->plan->weight_versions[worker]);
        json_integer(json, "staleness", view->plan->staleness[worker]);
        json_object_end(json);
    }
    json_array_end(json);
}

/* As json_writer would write it; plans have millions of slots, and printf is slow. */
static void write_slot(struct text_writer *text, const struct columns *columns, uint32_t worker, size_t index,
                       const struct slot *slot, struct plan_span span)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{", \"stage\": ", slot->stage},
                   {", \"micro_batch\": ", slot->micro_batch / columns->plan->slices},
                   {", \"pipeline\": ", slot->pipeline}};
    text_string(text, "\n    {\"worker\": ");
    text_integer(text, worker);
    text_string(text, ", \"index\": ");
    text_integer(text, index);
    text_string(text, ", \"kind\": \"");
    text_char(text, slot_letter(slot->kind));
    text_char(text, '"');
    for (unsigned i = 0; i < 3; i++) {
        text_string(text, numbers[i].key);
        text_integer(text, numbers[i].value);
    }
    text_string(text, ", \"part\": \"");
    text_string(text, part_text(slot));
    text_char(text, '"');
    if (columns->slices) {
        text_string(text, ", \"slice\": ");
        text_integer(text, slot->micro_batch % columns->plan->slices);
    }
    if (columns->shares) {
        text_string(text, ", \"share\": ");
        text_number(text, share_of(columns->plan, slot));
    }
    text_string(text, columns->even ? ", \"even\": \"1\"" : "");
    if (columns->braided)
        text_string(text, slot->joined == SLOT_BRAIDED ? ", \"braided\": \"1\"" : ", \"braided\": \"\"");
    if (columns->plan->transfer > 0 && slot_moves(slot)) {
        text_string(text, ", \"transfer\": ");
        text_number(text, columns->plan->transfer);
    } else if (columns->plan->transfer > 0) {
        text_string(text, ", \"transfer\": \"\"");
    }
    text_string(text, ", \"start\": ");
    text_number(text, span.start);
    text_string(text, ", \"end\": ");
    text_number(text, span.end);
    text_char(text, '}');
}

/* The items of an array in an object, whose lines have four spaces before them. */
static void write_slots(struct json_writer *json, const struct schedule_view *view)
{
    struct text_writer *text = text_writer_create(json->out);
    struct columns columns = columns_of(view->plan);
    for (uint32_t worker = 0; worker < view->plan->workers; worker++) {
        const struct plan_order *order = &view->plan->orders[worker];
        for (size_t i = 0, index = 0; i < order->count; i++) {
            index += i > 0 && !order->slots[i].joined;
            if (worker || i)
                text_char(text, ',');
            write_slot(text, &columns, worker, index, &order->slots[i], plan_timing_span(view->timing, worker, i));
        }
    }
    text_writer_destroy(text);
    json_items_written(json);
}

void schedule_json_write(FILE *out, const struct schedule_view *view)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "stagesim", STAGESIM_VERSION);
    write_request(&json, view);
    write_figures(&json, view);
    write_workers(&json, view);
    json_array_begin(&json, "slots", true);
    write_slots(&json, view);
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

static void add_timed_slots(struct timed_slot *slots, const struct schedule_view *view, uint32_t worker)
{
    const struct plan_order *order = &view->plan->orders[worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        struct plan_span span = plan_timing_span(view->timing, worker, i);
        slots[i] = (struct timed_slot){.start = span.start,
                                       .end = span.end,
                                       .worker = worker,
                                       .micro_batch = slot->micro_batch / view->plan->slices,
                                       .stage = slot->stage,
                                       .pipeline = slot->pipeline,
                                       .part = slot->part,
                                       .block = (uint8_t)schedule_block_place(order, i),
                                       .kind = slot_letter(slot->kind)};
    }
}

bool schedule_picture_write(FILE *out, const struct schedule_view *view, enum canvas_format format,
                            const struct picture_form *form, struct fault *fault)
{
    const struct plan *plan = view->plan;
    size_t count = view->timing->first[plan->workers];
    struct timed_slot *slots = array_grow(NULL, &(size_t){0}, count, sizeof *slots);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        add_timed_slots(slots + view->timing->first[worker], view, worker);
    struct timed_plan timed = {.name = view->name,
                               .workers = plan->workers,
                               .stages = plan->stages,
                               .pipelines = plan->pipelines,
                               .micro_batches = plan->micro_batches / plan->slices,
                               .iteration = view->timing->iteration,
                               .ratio = view->timing->ratio,
                               .slots = slots,
                               .slot_count = count};
    bool written = picture_schedule(&timed, format, form, out, fault);
    free(slots);
    return written;
}
