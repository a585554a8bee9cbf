/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/table.h"
#include "commands/train/train_output.h"
#include "training/failure_rates.h"
#include "training/forecast_text.h"

#include <math.h>
#include <string.h>

static void print_label(FILE *out, const char *label)
{
    fprintf(out, "%-18s ", label);
}

static void print_job(FILE *out, const struct train_view *view, struct arena *arena)
{
    const struct training_forecast *f = view->forecast;
    print_label(out, "training");
    fprintf(out, "%s on %u GPU%s of %u node%s, %.10g step%s of %s\n", view->scenario->name, f->nodes * f->gpus_per_node,
            readable_plural(f->nodes * f->gpus_per_node), f->nodes, readable_plural(f->nodes), f->steps,
            f->steps > 1 ? "s" : "", forecast_time(f->step, arena));
    print_label(out, "");
    fprintf(out, "%s\n", forecast_sentence(f, view->currency, arena));
}

/* What changes of the platform come to. */
static void print_slow(FILE *out, const struct train_view *view)
{
    const struct training_plan *plan = &view->scenario->training.plan;
    for (size_t i = 0; i < plan->component_count && i < TRAINING_CAUSES; i++) {
        const struct failure_component *component = &plan->components[i];
        if (!component->change)
            continue;
        print_label(out, "");
        fprintf(out, "%s (%s): steps take %.4g times as long\n", component->name, component->change,
                view->job->slow[i]);
    }
}

static void print_failures(FILE *out, const struct train_view *view, struct arena *arena)
{
    const struct training_settings *settings = &view->scenario->training;
    const struct training_forecast *f = view->forecast;
    const struct failure_rates *rates = settings->rates ? failure_rates_find(settings->rates) : NULL;
    static const char *const policies[] = {"everything starts again",
                                           "it goes on with fewer replicas",
                                           "a replica drops out, and the others go on",
                                           "micro-batches of a node that drops out go to other replicas",
                                           "pipelines are made anew of the nodes that are left",
                                           "a worker does the work of the next one that drops out"};
    print_label(out, "failures");
    if (!isfinite(f->between)) {
        fputs("none that stop the job\n", out);
        print_slow(out, view);
        return;
    }
    fprintf(out, "one in %s on average; %.4g stops", forecast_time(f->between, arena), f->outcome.stops);
    if (rates)
        fprintf(out, "; rates of %s (%s)", rates->name, rates->source);
    fputc('\n', out);
    print_label(out, "");
    fprintf(out, "mean of a detection %s, of a restart %s, of a repair %s; %s\n",
            forecast_time(distribution_mean(settings->plan.detect), arena),
            forecast_time(distribution_mean(settings->plan.restart), arena),
            forecast_time(distribution_mean(settings->plan.repair), arena), policies[settings->plan.policy]);
    print_slow(out, view);
    if (f->redundancy > 1) {
        print_label(out, "");
        fprintf(out, "what is computed twice makes a step take %.3g times as long\n", f->redundancy);
    }
    print_label(out, "spare nodes");
    fprintf(out, "%u%s; in 9 of 10 runs at most %u nodes were away at a time\n", f->spares,
            f->spares_chosen ? ", so that one waits in 99 % of the time" : "", f->outcome.spares_used);
}

static const char *more_days(double than, double mean, struct arena *arena)
{
    return arena_print(arena, "%+.2g days", (than - mean) / 86400);
}

/* What was simulated on the links of the job. */
static void print_traffic(FILE *out, const struct train_view *view, struct arena *arena)
{
    const struct training_traffic *traffic = &view->job->traffic;
    if (!traffic->known)
        return;
    print_label(out, "");
    if (view->scenario->training.way == CHECKPOINT_BLOCKING) {
        fputs("written over the links of the job, which stands still\n", out);
        return;
    }
    fprintf(out, "written over the links that the steps use: they take %s longer in all",
            forecast_time(traffic->slowed, arena));
    if (traffic->write_near > 0)
        fprintf(out, "; a copy to another node takes %s, and steps %s longer",
                forecast_time(traffic->write_near, arena), forecast_time(traffic->slowed_near, arena));
    fputc('\n', out);
}

static void print_checkpoints(FILE *out, const struct train_view *view, struct arena *arena)
{
    char text[READABLE_MAX];
    const struct training_forecast *f = view->forecast;
    static const char *const ways[] = {"blocking", "asynchronous", "in another node's memory"};
    if (!isfinite(f->interval))
        return;
    print_label(out, "checkpoint");
    fprintf(out, "every %s of steps (%.10g), %s: steps wait %s, safe %s later, loaded in %s\n",
            forecast_time(f->interval, arena), f->interval / f->step, ways[view->scenario->training.way],
            forecast_time(f->save, arena), forecast_time(f->write, arena), forecast_time(f->load, arena));
    print_traffic(out, view, arena);
    print_label(out, "");
    if (f->state_bytes > 0)
        fprintf(out, "a state of %s", readable_decimal_bytes(text, f->state_bytes));
    else
        fputs("a state of unknown size, which takes no time but what the scenario says (checkpoint.bytes)", out);
    bool least = f->half >= f->outcome.mean && f->twice >= f->outcome.mean;
    if (f->interval_chosen)
        fprintf(out, "; %s: half of it %s, twice %s",
                least ? "this is the best interval" : "the runs show no interval to be better than this",
                more_days(f->half, f->outcome.mean, arena), more_days(f->twice, f->outcome.mean, arena));
    fputc('\n', out);
}

/* ---- goodput in parts ---- */

/* Shares whose product is the goodput of all: of the time in which all nodes are there, of it that of steps that count,
 * and of a step's arithmetic that of the model (arXiv 2502.06982). */
struct goodput_parts {
    double scheduling, runtime, program; /* program 0: not known */
};

static struct goodput_parts goodput_of(const struct train_view *view)
{
    const struct training_outcome *outcome = &view->forecast->outcome;
    double absent = outcome->parts[PART_WAITING] + outcome->parts[PART_REPLACEMENT] + outcome->parts[PART_REPLICAS];
    return (struct goodput_parts){1 - absent / outcome->mean, outcome->parts[PART_STEPS] / (outcome->mean - absent),
                                  view->mfu};
}

/* Components in the plan, as far as they are told apart. */
static size_t count_causes(const struct train_view *view)
{
    size_t count = view->scenario->training.plan.component_count;
    return count < TRAINING_CAUSES ? count : TRAINING_CAUSES;
}

static void print_goodput(FILE *out, const struct train_view *view)
{
    char scheduling[READABLE_MAX], runtime[READABLE_MAX], program[READABLE_MAX];
    struct goodput_parts parts = goodput_of(view);
    print_label(out, "");
    fprintf(out, "scheduling %s (nodes are there), runtime %s (steps count)",
            readable_percent(scheduling, parts.scheduling), readable_percent(runtime, parts.runtime));
    if (parts.program > 0)
        fprintf(out, ", program %s (MFU)", readable_percent(program, parts.program));
    fputc('\n', out);
}

/* The largest first, those below a thousandth of the time left out. */
static void print_causes(FILE *out, const struct train_view *view)
{
    char text[READABLE_MAX];
    double left[TRAINING_CAUSES];
    const struct training_outcome *outcome = &view->forecast->outcome;
    const struct failure_component *components = view->scenario->training.plan.components;
    size_t count = count_causes(view);
    const char *between = "";
    memcpy(left, outcome->causes, sizeof left);
    for (size_t i = 0; i < count; i++) {
        size_t most = 0;
        for (size_t cause = 1; cause < count; cause++)
            most = left[cause] > left[most] ? cause : most;
        if (left[most] < outcome->mean / 1000)
            break;
        if (!i)
            print_label(out, "lost to");
        fprintf(out, "%s%s %s", between, components[most].name, readable_percent(text, left[most] / outcome->mean));
        between = ", ";
        left[most] = 0;
    }
    if (*between)
        fputc('\n', out);
}

void train_write_goodput(struct json_writer *json, const struct train_view *view)
{
    struct goodput_parts parts = goodput_of(view);
    json_object_begin(json, "goodput", true);
    json_number(json, "scheduling", parts.scheduling);
    json_number(json, "runtime", parts.runtime);
    if (parts.program > 0)
        json_number(json, "program", parts.program);
    json_object_end(json);
    json_array_begin(json, "causes", true);
    for (size_t cause = 0; cause < count_causes(view); cause++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", view->scenario->training.plan.components[cause].name);
        json_number(json, "lost_s", view->forecast->outcome.causes[cause]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void print_rest(FILE *out, const struct train_view *view)
{
    char text[READABLE_MAX];
    const struct training_forecast *f = view->forecast;
    print_label(out, "goodput");
    fprintf(out, "%s of the time are steps that count (%.2f to %.2f %% in 8 of 10)\n",
            readable_percent(text, f->outcome.steps_share.middle), 100 * f->outcome.steps_share.low,
            100 * f->outcome.steps_share.high);
    print_goodput(out, view);
    print_causes(out, view);
    if (f->joules >= 0) {
        print_label(out, "energy");
        fprintf(out, "%s (", readable_watt_hours(text, f->joules));
        fprintf(out, "%s to ", readable_watt_hours(text, f->outcome.joules.low));
        fprintf(out, "%s in 8 of 10)\n", readable_watt_hours(text, f->outcome.joules.high));
    }
    print_label(out, "simulated");
    fprintf(out, "%u times; mean %.4g days, known to %.2g days\n\n", f->outcome.runs, f->outcome.mean / 86400,
            2 * f->outcome.error / 86400);
}

/* What was lost, the largest first. */
static struct table *make_table(const struct training_outcome *outcome)
{
    double left[TRAINING_PARTS];
    struct table *table = table_create();
    table_columns(table, "<time of", ">days", ">share", NULL);
    memcpy(left, outcome->parts, sizeof left);
    for (int i = 0; i < TRAINING_PARTS; i++) {
        int most = 0;
        for (int part = 1; part < TRAINING_PARTS && i; part++)
            most = left[part] > left[most] ? part : most;
        if (!(left[most] > 0))
            break;
        table_cell(table, "%s", forecast_part_words((enum training_part)most));
        table_cell(table, "%.4g", left[most] / 86400);
        table_value(table, left[most] / 86400);
        table_percent(table, left[most] / outcome->mean);
        left[most] = i ? 0 : -1;
    }
    table_cell(table, "all");
    table_cell(table, "%.4g", outcome->mean / 86400);
    table_value(table, outcome->mean / 86400);
    table_percent(table, 1);
    return table;
}

void train_print(FILE *out, const struct train_view *view, enum table_format format)
{
    struct arena *arena = arena_create();
    if (table_is_read(format)) {
        print_job(out, view, arena);
        if (!view->forecast->outcome.stuck) {
            print_failures(out, view, arena);
            print_checkpoints(out, view, arena);
            print_rest(out, view);
        }
    }
    if (!view->forecast->outcome.stuck)
        table_finish(make_table(&view->forecast->outcome), out, table_style_of(format, out));
    arena_destroy(arena);
}
