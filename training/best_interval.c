/* SPDX-License-Identifier: Apache-2.0 */
#include "training/best_interval.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "training/spares.h"

#include <math.h>
#include <stdlib.h>

/* With x = T/M and c = C/M the derivative is 0 where log(1 - x) + x + c = 0, in (0, 1), and falls there. */
double best_interval_formula(double save, double between)
{
    double low = 0, high = 1;
    if (!(save > 0))
        return 0;
    for (int i = 0; i < 200 && low < high; i++) {
        double x = (low + high) / 2;
        if (rounded_log1p(-x) + x + save / between > 0)
            low = x;
        else
            high = x;
        if (x <= low && x >= high)
            break;
    }
    return between * (low + high) / 2;
}

/* Wall times of all runs at an interval, and their mean. */
struct trial {
    double interval, mean;
    double *walls;
};

static struct trial try(struct training_plan *plan, double interval, uint32_t runs)
{
    struct trial trial = {interval, 0, array_zeroed(runs, sizeof *trial.walls)};
    plan->interval = interval;
    for (uint32_t run = 0; run < runs; run++) {
        trial.walls[run] = training_simulate(plan, run, NULL).wall;
        trial.mean += trial.walls[run] / runs;
    }
    return trial;
}

/* By more than twice the error of the difference of runs that meet the same failures. */
static bool is_better(const struct trial *trial, const struct trial *than, uint32_t runs)
{
    double squares = 0, mean = than->mean - trial->mean;
    for (uint32_t run = 0; run < runs; run++) {
        double off = than->walls[run] - trial->walls[run] - mean;
        squares += off * off;
    }
    return mean > 2 * sqrt(squares / runs / (runs > 1 ? runs - 1 : 1));
}

static double whole_steps(const struct training_plan *plan, double interval)
{
    return fmin(fmax(1, round(interval / plan->step)) * plan->step, fmax(plan->step, plan->work));
}

/* Takes the better of the best one and one `factor` times as long. */
static bool move(struct training_plan *plan, struct trial *best, double factor, uint32_t runs)
{
    double interval = whole_steps(plan, best->interval * factor);
    bool same = !(interval < best->interval) && !(interval > best->interval);
    struct trial other = try(plan, interval, same ? 1 : runs);
    bool better = !same && is_better(&other, best, runs);
    if (better) {
        free(best->walls);
        *best = other;
    } else {
        free(other.walls);
    }
    return better;
}

struct best_interval best_interval_find(struct training_plan plan, uint32_t runs)
{
    static const double factors[] = {2, 0.5, 1.4142135623730951, 0.7071067811865476};
    double rate = failures_per_second(&plan, 1u << EFFECT_STOP | 1u << EFFECT_CORRUPT);
    double save = distribution_mean(plan.save) + (plan.near ? plan.slowed_near : plan.slowed);
    double formula = rate > 0 ? best_interval_formula(save, 1 / rate) : plan.work;
    struct trial best = try(&plan, whole_steps(&plan, formula), runs);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (int moves = 0; moves < 8 && move(&plan, &best, factors[i], runs); moves++)
            ;
    struct trial half = try(&plan, whole_steps(&plan, best.interval / 2), runs);
    struct trial twice = try(&plan, whole_steps(&plan, best.interval * 2), runs);
    struct best_interval found = {best.interval, whole_steps(&plan, formula), best.mean, half.mean, twice.mean};
    free(best.walls);
    free(half.walls);
    free(twice.walls);
    return found;
}
