/* SPDX-License-Identifier: Apache-2.0 */
#include "training/outcome.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double training_quantile(const double *sorted, uint32_t count, double share)
{
    uint32_t place = (uint32_t)ceil(share * count);
    return sorted[place > 0 ? place - 1 : 0];
}

static struct training_band band_of(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return (struct training_band){training_quantile(values, count, 0.1), training_quantile(values, count, 0.5),
                                  training_quantile(values, count, 0.9)};
}

static void add_run(struct training_outcome *outcome, const struct training_run *run)
{
    double runs = outcome->runs;
    for (int part = 0; part < TRAINING_PARTS; part++)
        outcome->parts[part] += run->parts[part] / runs;
    for (int cause = 0; cause < TRAINING_CAUSES; cause++)
        outcome->causes[cause] += run->causes[cause] / runs;
    outcome->mean += run->wall / runs;
    outcome->computed += run->computed / runs;
    outcome->stops += run->stops / runs;
    outcome->slowed += run->slowed / runs;
    outcome->checkpoints += run->checkpoints / runs;
    outcome->stuck += run->stuck;
}

struct training_outcome training_outcome_from(const struct training_plan *plan, const struct training_run *all,
                                              uint32_t runs)
{
    struct training_outcome outcome = {.runs = runs};
    double *values = array_zeroed(4 * (size_t)runs, sizeof *values), squares = 0;
    double *walls = values, *shares = values + runs, *spares = shares + runs, *joules = spares + runs;
    for (uint32_t i = 0; i < runs && !outcome.stuck; i++) {
        add_run(&outcome, &all[i]);
        walls[i] = all[i].wall;
        shares[i] = plan->work / all[i].wall;
        spares[i] = all[i].spares_used;
        joules[i] = plan->busy_watts * all[i].computed + plan->idle_watts * (all[i].wall - all[i].computed);
    }
    for (uint32_t i = 0; i < runs; i++)
        squares += (walls[i] - outcome.mean) * (walls[i] - outcome.mean);
    outcome.error = runs > 1 ? sqrt(squares / (runs - 1.0) / runs) : 0;
    outcome.wall = band_of(walls, runs);
    outcome.steps_share = band_of(shares, runs);
    outcome.joules = band_of(joules, runs);
    outcome.spares_used = (uint32_t)band_of(spares, runs).high;
    free(values);
    return outcome;
}

struct training_outcome training_outcome_of(const struct training_plan *plan, uint32_t runs)
{
    struct training_run *all = array_zeroed(runs, sizeof *all);
    for (uint32_t i = 0; i < runs && !(i && all[i - 1].stuck); i++)
        all[i] = training_simulate(plan, i, NULL);
    struct training_outcome outcome = training_outcome_from(plan, all, runs);
    free(all);
    return outcome;
}
