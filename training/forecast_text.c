/* SPDX-License-Identifier: Apache-2.0 */
#include "training/forecast_text.h"

#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

/* ---- figures ---- */

#define NUMBER(key, name)                                                                                              \
    {                                                                                                                  \
        key, false, offsetof(struct training_forecast, name)                                                           \
    }
#define COUNT(key, name)                                                                                               \
    {                                                                                                                  \
        key, true, offsetof(struct training_forecast, name)                                                            \
    }

const struct forecast_figure forecast_figures[] = {
    NUMBER("computing_s", work),
    NUMBER("step_s", step),
    NUMBER("steps", steps),
    NUMBER("redundancy", redundancy),
    COUNT("nodes", nodes),
    COUNT("gpus_per_node", gpus_per_node),
    COUNT("spare_nodes", spares),
    COUNT("spare_nodes_used", outcome.spares_used),
    NUMBER("between_failures_s", between),
    NUMBER("checkpoint_interval_s", interval),
    NUMBER("checkpoint_formula_s", formula),
    NUMBER("checkpoint_bytes", state_bytes),
    NUMBER("checkpoint_save_s", save),
    NUMBER("checkpoint_write_s", write),
    NUMBER("checkpoint_slowed_s", slowed),
    NUMBER("checkpoint_load_s", load),
    NUMBER("half_interval_mean_s", half),
    NUMBER("twice_interval_mean_s", twice),
    COUNT("runs", outcome.runs),
    COUNT("given_up", outcome.stuck),
    NUMBER("low_s", outcome.wall.low),
    NUMBER("median_s", outcome.wall.middle),
    NUMBER("high_s", outcome.wall.high),
    NUMBER("mean_s", outcome.mean),
    NUMBER("mean_error_s", outcome.error),
    NUMBER("goodput_low", outcome.steps_share.low),
    NUMBER("goodput", outcome.steps_share.middle),
    NUMBER("goodput_high", outcome.steps_share.high),
    NUMBER("stops", outcome.stops),
    NUMBER("slowed", outcome.slowed),
    NUMBER("checkpoints", outcome.checkpoints),
    NUMBER("energy_low_j", outcome.joules.low),
    NUMBER("energy_j", joules),
    NUMBER("energy_high_j", outcome.joules.high),
    NUMBER("cost_low", cost.low),
    NUMBER("cost", cost.middle),
    NUMBER("cost_high", cost.high),
    NUMBER("part_steps_s", outcome.parts[PART_STEPS]),
    NUMBER("part_start_s", outcome.parts[PART_START]),
    NUMBER("part_evaluation_s", outcome.parts[PART_EVALUATION]),
    NUMBER("part_checkpoint_s", outcome.parts[PART_CHECKPOINT]),
    NUMBER("part_lost_s", outcome.parts[PART_LOST]),
    NUMBER("part_detection_s", outcome.parts[PART_DETECTION]),
    NUMBER("part_waiting_s", outcome.parts[PART_WAITING]),
    NUMBER("part_replacement_s", outcome.parts[PART_REPLACEMENT]),
    NUMBER("part_restart_s", outcome.parts[PART_RESTART]),
    NUMBER("part_load_s", outcome.parts[PART_LOAD]),
    NUMBER("part_slow_s", outcome.parts[PART_SLOW]),
    NUMBER("part_replicas_s", outcome.parts[PART_REPLICAS]),
    {NULL, false, 0},
};

void forecast_write(struct json_writer *json, const struct training_forecast *forecast)
{
    if (!forecast->known)
        return;
    json_object_begin(json, "forecast", true);
    for (const struct forecast_figure *figure = forecast_figures; figure->key; figure++) {
        const void *value = (const char *)forecast + figure->offset;
        if (figure->count)
            json_integer(json, figure->key, *(const uint32_t *)value);
        else if (isfinite(*(const double *)value)) /* without failures, or without checkpoints */
            json_number(json, figure->key, fmax(0, *(const double *)value));
    }
    json_object_end(json);
}

/* ---- words ---- */

const char *forecast_money(double amount, const char *currency, struct arena *arena)
{
    const char *unit = currency ? arena_print(arena, " %s", currency) : "";
    return amount >= 1e9    ? arena_print(arena, "%.3g billion%s", amount / 1e9, unit)
           : amount >= 1e6  ? arena_print(arena, "%.3g million%s", amount / 1e6, unit)
           : amount >= 1000 ? arena_print(arena, "%.0f%s", amount, unit)
                            : arena_print(arena, "%.3g%s", amount, unit);
}

const char *forecast_time(double seconds, struct arena *arena)
{
    return seconds >= 100 * 86400.0 ? arena_print(arena, "%.0f days", seconds / 86400)
           : seconds >= 2 * 86400.0 ? arena_print(arena, "%.3g days", seconds / 86400)
           : seconds >= 2 * 3600.0  ? arena_print(arena, "%.3g hours", seconds / 3600)
           : seconds >= 120         ? arena_print(arena, "%.3g minutes", seconds / 60)
                                    : arena_print(arena, "%.3g s", seconds);
}

const char *forecast_part_words(enum training_part part)
{
    static const char *const words[TRAINING_PARTS] = {[PART_STEPS] = "steps",
                                                      [PART_START] = "start",
                                                      [PART_EVALUATION] = "evaluations",
                                                      [PART_CHECKPOINT] = "checkpoints",
                                                      [PART_LOST] = "steps done again",
                                                      [PART_DETECTION] = "detection",
                                                      [PART_WAITING] = "waiting for nodes",
                                                      [PART_REPLACEMENT] = "replacing nodes",
                                                      [PART_RESTART] = "restarts",
                                                      [PART_LOAD] = "loading state",
                                                      [PART_SLOW] = "slow steps",
                                                      [PART_REPLICAS] = "missing replicas"};
    return words[part];
}

/* Days without their unit where the other one has it. */
static const char *days(double seconds, struct arena *arena)
{
    return arena_print(arena, seconds >= 100 * 86400.0 ? "%.0f" : "%.3g", seconds / 86400);
}

const char *forecast_sentence(const struct training_forecast *forecast, const char *currency, struct arena *arena)
{
    const struct training_outcome *outcome = &forecast->outcome;
    if (outcome->stuck)
        return arena_print(
            arena,
            "the training does not get on: failures come every %s on average, faster than the job starts "
            "again and saves its state",
            forecast_time(forecast->between, arena));
    const char *text =
        arena_print(arena, "%s days of computing, %s with %s (%s to %s in 8 of 10)", days(forecast->work, arena),
                    days(outcome->wall.middle, arena), isfinite(forecast->between) ? "failures" : "all else",
                    days(outcome->wall.low, arena), days(outcome->wall.high, arena));
    if (forecast->cost.middle > 0)
        text = arena_print(arena, "%s, %s", text, forecast_money(forecast->cost.middle, currency, arena));
    text = isfinite(forecast->interval)
               ? arena_print(arena, "%s, checkpoint every %s", text, forecast_time(forecast->interval, arena))
               : arena_print(arena, "%s, no checkpoints", text);
    return arena_print(arena, "%s, %u spare node%s", text, forecast->spares, readable_plural(forecast->spares));
}

/* ---- lines ---- */

static void print_label(FILE *out, const char *label)
{
    fprintf(out, "%-18s ", label);
}

/* The largest first, those below a thousandth left out. */
static void print_losses(FILE *out, const struct training_outcome *outcome)
{
    char text[READABLE_MAX];
    double left[TRAINING_PARTS];
    const char *between = "lost to ";
    memcpy(left, outcome->parts, sizeof left);
    left[PART_STEPS] = 0;
    for (int i = 1; i < TRAINING_PARTS; i++) {
        int most = 1;
        for (int part = 2; part < TRAINING_PARTS; part++)
            most = left[part] > left[most] ? part : most;
        if (left[most] < outcome->mean / 1000)
            break;
        fprintf(out, "%s%s %s", between, forecast_part_words((enum training_part)most),
                readable_percent(text, left[most] / outcome->mean));
        between = ", ";
        left[most] = 0;
    }
    fputc('\n', out);
}

void forecast_print(FILE *out, const struct training_forecast *forecast, const char *currency)
{
    char text[READABLE_MAX];
    struct arena *arena = arena_create();
    const struct training_outcome *outcome = &forecast->outcome;
    print_label(out, "with failures");
    fprintf(out, "%s\n", forecast_sentence(forecast, currency, arena));
    if (!outcome->stuck) {
        print_label(out, "goodput");
        fprintf(out, "%s; ", readable_percent(text, outcome->steps_share.middle));
        print_losses(out, outcome);
    }
    arena_destroy(arena);
}
