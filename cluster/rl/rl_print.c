/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "cluster/rl/rl.h"

#include <string.h>

void rl_list_phases(const struct rl_phases *p, struct rl_row rows[RL_PHASES])
{
    const struct rl_row all[RL_PHASES] = {{"generation", "generation_s", p->generation},
                                          {"reward", "reward_s", p->reward},
                                          {"old log-probabilities", "old_log_probabilities_s", p->old},
                                          {"reference", "reference_s", p->reference},
                                          {"reward model", "reward_model_s", p->scores},
                                          {"values", "values_s", p->values},
                                          {"training", "training_s", p->training},
                                          {"models in and out", "swap_s", p->swap},
                                          {"weights to engines", "transfer_s", p->transfer},
                                          {"offload, reload", "move_s", p->move},
                                          {"overhead", "overhead_s", p->overhead}};
    for (int i = 0; i < RL_PHASES; i++)
        rows[i] = all[i];
}

void rl_list_memory(const struct rl_figures *figures, struct rl_row rows[RL_MEMORIES])
{
    static const struct rl_row all[RL_MEMORIES] = {
        [RL_IN_GENERATION] = {"generation", "generation_bytes", 0},
        [RL_IN_OLD] = {"old log-probabilities", "old_log_probabilities_bytes", 0},
        [RL_IN_REFERENCE] = {"reference", "reference_bytes", 0},
        [RL_IN_SCORES] = {"reward model", "reward_model_bytes", 0},
        [RL_IN_VALUES] = {"values", "values_bytes", 0},
        [RL_IN_TRAINING] = {"training", "training_bytes", 0}};
    for (int i = 0; i < RL_MEMORIES; i++) {
        rows[i] = all[i];
        rows[i].value = figures->memory[i];
    }
}

void rl_list_idle(const struct rl_idle *idle, struct rl_row rows[RL_CAUSES])
{
    const struct rl_row all[RL_CAUSES] = {
        {"at work", "busy", idle->busy},         {"weights to engines", "transfer", idle->transfer},
        {"offload, reload", "move", idle->move}, {"other engines' tails", "engines", idle->engines},
        {"tools", "tools", idle->tools},         {"new weights", "weights", idle->weights},
        {"samples", "samples", idle->samples},   {"overhead", "overhead", idle->overhead}};
    for (int i = 0; i < RL_CAUSES; i++)
        rows[i] = all[i];
}

void rl_list_levers(const struct rl_figures *figures, struct rl_row rows[RL_LEVERS])
{
    static const struct rl_row all[RL_LEVERS] = {{"twice as many engines", "engines", 0},
                                                 {"a trainer twice as fast", "trainer", 0},
                                                 {"outputs cut where 95 % end, in generation", "tail", 0},
                                                 {"one version more of staleness", "staleness", 0},
                                                 {"weights by resharding", "transfer", 0}};
    for (int i = 0; i < RL_LEVERS; i++) {
        rows[i] = all[i];
        rows[i].value = figures->levers[i];
    }
}

/* ---- what people read ---- */

static void print_remarks(FILE *out, const struct rl_view *view, enum table_format format)
{
    const struct rl_figures *f = view->figures;
    const struct rl *rl = view->rl;
    char one[READABLE_MAX], two[READABLE_MAX], three[READABLE_MAX], *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    diag_print(remarks, "%s: %s, %u GPU%s of %s, a trainer of %u and %u engine%s of %u\n", view->scenario->name,
               rl_arrangement_names[rl->values.arrangement], f->gpus, readable_plural(f->gpus),
               view->scenario->platform_name, rl->update->mesh.ranks, rl->engines, readable_plural(rl->engines),
               generation_gpus(&rl->settings));
    if (view->scenario->imported)
        diag_print(remarks, "imported     from %s\n", view->scenario->imported->summary);
    fprintf(remarks, "step         %s; %.6g tokens/s, %.6g a GPU; %.6g samples of %.6g tokens\n",
            readable_seconds(one, f->step), f->tokens_per_s, f->tokens_per_s_per_gpu, f->samples,
            f->tokens / f->samples);
    fprintf(remarks, "tail         the last 5 %% of samples hold the engines for %s of generation; ",
            readable_percent(one, f->tail));
    fprintf(remarks, "the longest one alone takes %s\n", readable_seconds(one, f->longest));
    fprintf(remarks, "engines      %.4g sequences in a step, mean; %.4g preempted\n", f->batch, f->preempted);
    if (rl->values.pool.count)
        diag_print(remarks, "pool         %u engines at most, in the first step %u\n", rl->engines, rl_engines(rl, 0));
    if (rl_calls_tools(&rl->values)) {
        fprintf(remarks, "tools        a sample waits for them for %s, mean; ", readable_seconds(one, f->tools));
        fprintf(remarks, "they answer %.6g tokens of a step's; ", f->answers);
        fprintf(remarks, "behind %.4g answers all of a sample is read again\n", f->forgotten);
    }
    fprintf(remarks, "transfer     %s to all GPUs, %s to the one that gets the most\n",
            readable_binary_bytes(one, f->transfer_bytes), readable_binary_bytes(two, f->transfer_most));
    fprintf(remarks, "memory       engine: weights %s, cache %s; ", readable_binary_bytes(one, f->weights),
            readable_binary_bytes(two, f->cache));
    fprintf(remarks, "trainer: %s, of it states %s; of %s%s\n\n", readable_binary_bytes(one, f->memory[RL_IN_TRAINING]),
            readable_binary_bytes(two, f->trainer_states), readable_binary_bytes(three, f->capacity),
            f->fits ? "" : ": does not fit");
    table_remarks_end(out, format, remarks, &lines);
}

/* What GPUs hold in the phase of that name; an empty cell where it is none of theirs. */
static void put_held(struct table *table, const struct rl_figures *figures, const char *name)
{
    struct rl_row held[RL_MEMORIES];
    char text[READABLE_MAX];
    rl_list_memory(figures, held);
    for (int i = 0; i < RL_MEMORIES; i++)
        if (strcmp(held[i].name, name) == 0) {
            table_cell(table, "%s", readable_binary_bytes(text, held[i].value));
            table_value(table, held[i].value);
            return;
        }
    table_cell(table, "%s", "");
}

static void print_phases(FILE *out, const struct rl_view *view, enum table_format format)
{
    struct rl_row rows[RL_PHASES];
    struct table *table = table_create();
    rl_list_phases(&view->figures->phases, rows);
    table_columns(table, "<phase", ">time", ">of a step", ">memory", NULL);
    for (int i = 0; i < RL_PHASES; i++) {
        char text[READABLE_MAX];
        if (!(rows[i].value > 0))
            continue;
        table_cell(table, "%s", rows[i].name);
        table_seconds(table, rows[i].value);
        table_cell(table, "%s", readable_percent(text, rows[i].value / view->figures->step));
        put_held(table, view->figures, rows[i].name);
    }
    table_finish(table, out, table_style_of(format, out));
}

static void print_pools(FILE *out, const struct rl_view *view, enum table_format format)
{
    const struct rl_figures *f = view->figures;
    struct rl_row engines[RL_CAUSES], trainer[RL_CAUSES];
    bool together = view->rl->values.arrangement == RL_COLOCATED;
    struct table *table = table_create();
    rl_list_idle(&f->generation, engines);
    rl_list_idle(&f->training, trainer);
    if (together)
        table_columns(table, "<GPUs are or wait for", ">all", NULL);
    else
        table_columns(table, "<GPUs are or wait for", ">engines", ">trainer", NULL);
    for (int i = 0; i < RL_CAUSES; i++) {
        char text[READABLE_MAX];
        if (!(engines[i].value > 0 || trainer[i].value > 0))
            continue;
        table_cell(table, "%s", engines[i].name);
        if (!together)
            table_cell(table, "%s", readable_percent(text, engines[i].value));
        table_cell(table, "%s", readable_percent(text, trainer[i].value));
    }
    table_finish(table, out, table_style_of(format, out));
}

static void print_levers(FILE *out, const struct rl_figures *f, enum table_format format)
{
    struct rl_row rows[RL_LEVERS];
    struct table *table = table_create();
    rl_list_levers(f, rows);
    table_columns(table, "<what a change would give", ">step", ">faster", NULL);
    for (int i = 0; i < RL_LEVERS; i++) {
        if (!(rows[i].value > 0))
            continue;
        table_cell(table, "%s", rows[i].name);
        table_seconds(table, rows[i].value);
        table_cell(table, "%.3g", f->step / rows[i].value);
    }
    table_finish(table, out, table_style_of(format, out));
}

void rl_print(FILE *out, const struct rl_view *view, enum table_format format)
{
    print_remarks(out, view, format);
    print_phases(out, view, format);
    fputc('\n', out);
    print_pools(out, view, format);
    fputc('\n', out);
    print_levers(out, view->figures, format);
}

/* ---- files ---- */

static void put_rows(struct json_writer *json, const char *key, const struct rl_row *rows, int count)
{
    json_object_begin(json, key, false);
    for (int i = 0; i < count; i++)
        json_number(json, rows[i].key, rows[i].value);
    json_object_end(json);
}

static void put_memory(struct json_writer *json, const struct rl_figures *f)
{
    struct rl_row rows[RL_MEMORIES];
    rl_list_memory(f, rows);
    json_object_begin(json, "memory", false);
    json_number(json, "weights_bytes", f->weights);
    json_number(json, "cache_bytes", f->cache);
    json_number(json, "trainer_states_bytes", f->trainer_states);
    put_rows(json, "phases", rows, RL_MEMORIES);
    json_number(json, "capacity_bytes", f->capacity);
    json_flag(json, "fits", f->fits);
    json_object_end(json);
}

void rl_json(FILE *out, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    struct rl_row phases[RL_PHASES], engines[RL_CAUSES], trainer[RL_CAUSES], levers[RL_LEVERS];
    struct json_writer json = json_writer_init(out);
    rl_list_phases(&f->phases, phases);
    rl_list_idle(&f->generation, engines);
    rl_list_idle(&f->training, trainer);
    rl_list_levers(f, levers);
    json_object_begin(&json, NULL, true);
    json_text(&json, "kind", "rl");
    json_object_begin(&json, "scenario", false);
    json_text(&json, "name", view->scenario->name);
    if (view->scenario->imported)
        json_text(&json, "imported", view->scenario->imported->summary);
    json_object_end(&json);
    json_text(&json, "platform", view->scenario->platform_name);
    json_text(&json, "arrangement", rl_arrangement_names[view->rl->values.arrangement]);
    json_integer(&json, "gpus", f->gpus);
    json_integer(&json, "generation_gpus", f->generation_gpus);
    json_number(&json, "step_s", f->step);
    json_number(&json, "samples", f->samples);
    json_number(&json, "tokens", f->tokens);
    json_number(&json, "tokens_per_s", f->tokens_per_s);
    json_number(&json, "tokens_per_s_per_gpu", f->tokens_per_s_per_gpu);
    json_number(&json, "staleness", f->staleness);
    json_number(&json, "tail", f->tail);
    json_number(&json, "longest_alone_s", f->longest);
    json_number(&json, "batch", f->batch);
    json_number(&json, "preempted", f->preempted);
    json_number(&json, "tools_s", f->tools);
    json_number(&json, "tool_tokens", f->answers);
    json_number(&json, "recomputed", f->forgotten);
    put_rows(&json, "phases", phases, RL_PHASES);
    put_rows(&json, "engines", engines, RL_CAUSES);
    put_rows(&json, "trainer", trainer, RL_CAUSES);
    json_number(&json, "transfer_bytes", f->transfer_bytes);
    json_number(&json, "transfer_most_bytes", f->transfer_most);
    put_memory(&json, f);
    json_object_begin(&json, "levers", false);
    for (int i = 0; i < RL_LEVERS; i++)
        if (levers[i].value > 0)
            json_number(&json, levers[i].key, levers[i].value);
    json_object_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

void rl_steps_csv(FILE *out, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "step,loads_s,loaded_s,generates_s,generated_s,tail_s,trains_s,trained_s,tokens\n");
    for (uint32_t i = 0; i < f->step_count; i++) {
        const struct rl_step *step = &f->steps[i];
        const double values[] = {step->loads,        step->loaded, step->generates, step->generated,
                                 f->batches[i].tail, step->trains, step->trained,   f->batches[i].tokens};
        text_integer(writer, i);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            text_char(writer, ',');
            text_number(writer, values[k]);
        }
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
}
