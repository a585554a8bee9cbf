/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/tails_run.h"

#include "base/arena.h"
#include "simulator/tails/quantile.h"

#include <math.h>
#include <stdlib.h>

const char *const tails_change_names[] = {"without_slowest", "balanced",    "even_stages", "even_last_stage",
                                          "together",        "first_ready", NULL};
const char *const tails_change_words[] = {"the slowest 3 % of workers as fast as others",
                                          "sequences balanced, all micro-batches alike",
                                          "stages that take equally long",
                                          "the last stage as long as the others",
                                          "all pausing in the same steps",
                                          "workers that run what is ready first",
                                          NULL};

/* ---- steps ---- */

static void run_lanes(struct step_walk *walk, uint32_t first, uint32_t lanes, struct tails_step *steps)
{
    double seconds[STEP_LANES], controls[STEP_LANES];
    step_walk_seconds(walk, first, TAILS_CHANGES, seconds);
    step_walk_controls(walk, controls);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        steps[lane] = (struct tails_step){.seconds = seconds[lane], .control = controls[lane]};
        steps[lane].straggler = step_walk_straggler(walk, (int)lane);
    }
    for (int change = 0; change < TAILS_CHANGES; change++) {
        if (first >= TAILS_COMPARED || !step_model_has(walk->model, (enum tails_change)change))
            continue;
        step_walk_seconds(walk, first, (enum tails_change)change, seconds);
        for (uint32_t lane = 0; lane < lanes; lane++)
            steps[lane].changes[change] = seconds[lane];
    }
}

void tails_run(struct step_walk *walk, uint32_t from, uint32_t count, struct tails_step *steps)
{
    for (uint32_t i = 0; i < count; i += STEP_LANES)
        run_lanes(walk, from + i, count - i < STEP_LANES ? count - i : STEP_LANES, &steps[i]);
}

/* ---- what they come to ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct tails_quantile tails_quantile_of(struct step_walk *walk, uint32_t count, double share)
{
    double *values = array_zeroed((size_t)count + STEP_LANES, sizeof *values);
    for (uint32_t i = 0; i < count; i += STEP_LANES)
        step_walk_seconds(walk, i, TAILS_CHANGES, &values[i]);
    qsort(values, count, sizeof *values, by_value);
    struct tails_quantile quantile = quantile_of(values, count, share);
    free(values);
    return quantile;
}

static void add_quantiles(struct tails_figures *figures, double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_value);
    figures->p50 = quantile_of(values, count, 0.5);
    figures->p95 = quantile_of(values, count, 0.95);
    figures->p99 = quantile_of(values, count, 0.99);
}

/* Steps as they are where the change is TAILS_CHANGES. */
static struct tails_what_if compare(const struct tails_step *steps, uint32_t count, int change, double *scratch)
{
    struct tails_what_if result = {.known = true};
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = change == TAILS_CHANGES ? steps[i].seconds : steps[i].changes[change];
        result.mean += scratch[i] / count;
    }
    qsort(scratch, count, sizeof *scratch, by_value);
    result.p95 = quantile_of(scratch, count, 0.95).value;
    return result;
}

static void add_changes(struct tails_figures *figures, const struct step_model *model, const struct tails_step *steps,
                        double *scratch)
{
    figures->compared = figures->steps < TAILS_COMPARED ? figures->steps : TAILS_COMPARED;
    struct tails_what_if without = compare(steps, figures->compared, TAILS_CHANGES, scratch);
    figures->compared_mean = without.mean;
    figures->compared_p95 = without.p95;
    for (int change = 0; change < TAILS_CHANGES; change++)
        if (step_model_has(model, (enum tails_change)change))
            figures->changes[change] = compare(steps, figures->compared, change, scratch);
}

/* The most frequent first, of equal ones the lower number. */
static void add_stragglers(struct tails_figures *figures, const struct step_model *model,
                           const struct tails_step *steps)
{
    uint32_t workers = model->workers * model->replicas, *counts = array_zeroed((size_t)workers + 1, sizeof *counts);
    for (uint32_t i = 0; i < figures->steps; i++)
        counts[steps[i].straggler == STEP_NONE ? workers : steps[i].straggler]++;
    figures->no_straggler = (double)counts[workers] / figures->steps;
    while (figures->straggler_count < TAILS_STRAGGLERS) {
        uint32_t most = 0;
        for (uint32_t worker = 1; worker < workers; worker++)
            most = counts[worker] > counts[most] ? worker : most;
        if (!counts[most])
            break;
        figures->stragglers[figures->straggler_count++] = (struct tails_straggler){
            most / model->replicas, most % model->replicas, (double)counts[most] / figures->steps};
        counts[most] = 0;
    }
    free(counts);
}

struct tails_figures tails_figures_of(const struct step_walk *walk, const struct tails_step *steps, uint32_t count)
{
    const struct step_net *net = walk->model->net;
    struct tails_figures figures = {.known = true, .steps = count, .even = net->length, .exact = net->exact};
    double *values = array_zeroed(2 * (size_t)count, sizeof *values), *controls = values + count;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = steps[i].seconds;
        controls[i] = steps[i].control;
    }
    struct controlled_mean mean = controlled_mean_of(values, controls, step_walk_control_mean(walk), count);
    figures.mean = mean.mean;
    figures.error = mean.error;
    figures.plain_error = mean.plain_error;
    add_quantiles(&figures, values, count);
    add_changes(&figures, walk->model, steps, values);
    add_stragglers(&figures, walk->model, steps);
    free(values);
    return figures;
}
