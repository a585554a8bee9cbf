/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calibrate/tuning.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Below 0.3 no GPU trains; above 1.25 a table's best products, at 0.8 of the peak, would exceed the peak. */
const double tuning_clocks[TUNING_CLOCKS] = {1.25, 1.1, 1, 0.87, 0.75, 0.6, 0.45, 0.3};
const double tuning_dispatches[TUNING_DISPATCHES] = {0, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 300e-6};

enum { STARTS = 10, HALVINGS = 60 };

/* ---- predictions ---- */

/* The place of x among rising nodes: those on both sides and the share of the second. */
struct between {
    int low, high;
    double share;
};

static double node(enum tuning_parameter parameter, int i)
{
    return parameter == TUNING_CLOCK ? 1 / tuning_clocks[i] : tuning_dispatches[i];
}

static struct between find(enum tuning_parameter parameter, int count, double x)
{
    int high = 1;
    while (high < count - 1 && node(parameter, high) < x)
        high++;
    double first = node(parameter, high - 1), second = node(parameter, high);
    return (struct between){high - 1, high, fmin(fmax((x - first) / (second - first), 0), 1)};
}

double tuning_predict(const struct tuning_response *r, const struct tuning_values *v)
{
    struct between c = {-1, -1, 0}, d = {-1, -1, 0};
    if (v->fitted & 1u << TUNING_CLOCK)
        c = find(TUNING_CLOCK, TUNING_CLOCKS, 1 / v->value[TUNING_CLOCK]);
    if (v->fitted & 1u << TUNING_DISPATCH)
        d = find(TUNING_DISPATCH, TUNING_DISPATCHES, v->value[TUNING_DISPATCH]);
    double low = r->seconds[c.low + 1][d.low + 1] * (1 - d.share) + r->seconds[c.low + 1][d.high + 1] * d.share;
    double high = r->seconds[c.high + 1][d.low + 1] * (1 - d.share) + r->seconds[c.high + 1][d.high + 1] * d.share;
    double step = v->fitted & 1u << TUNING_STEP ? v->value[TUNING_STEP] - r->own_step : 0;
    return (low * (1 - c.share) + high * c.share) * r->bent + step;
}

/* ---- least squares ---- */

struct task {
    const struct tuning_response *rows;
    size_t count;
    size_t without; /* this row; count: none */
    double low[TUNING_PARAMETERS], high[TUNING_PARAMETERS];
};

static double squares(const struct task *task, const struct tuning_values *values)
{
    double sum = 0;
    for (size_t i = 0; i < task->count; i++) {
        double error =
            i == task->without ? 0 : rounded_log(tuning_predict(&task->rows[i], values) / task->rows[i].measured);
        sum += error * error;
    }
    return isfinite(sum) ? sum : DBL_MAX;
}

static void set_bounds(struct task *task)
{
    double shortest = DBL_MAX;
    for (size_t i = 0; i < task->count; i++)
        shortest = fmin(shortest, task->rows[i].measured);
    task->low[TUNING_CLOCK] = tuning_clocks[TUNING_CLOCKS - 1];
    task->high[TUNING_CLOCK] = tuning_clocks[0];
    task->low[TUNING_STEP] = task->low[TUNING_DISPATCH] = 0;
    task->high[TUNING_STEP] = shortest;
    task->high[TUNING_DISPATCH] = tuning_dispatches[TUNING_DISPATCHES - 1];
}

/* The place in its range, 0 to 1; clocks by their inverse, dispatch by its root, for small values matter most. */
static double value_at(const struct task *task, int parameter, double share)
{
    double low = task->low[parameter], high = task->high[parameter];
    if (parameter == TUNING_CLOCK)
        return 1 / (1 / high + share * (1 / low - 1 / high));
    return low + (parameter == TUNING_DISPATCH ? share * share : share) * (high - low);
}

struct point {
    double share[TUNING_PARAMETERS];
    double squares;
};

static double judge(const struct task *task, unsigned fitted, const struct point *point, struct tuning_values *values)
{
    values->fitted = fitted;
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        values->value[p] = value_at(task, p, point->share[p]);
    return squares(task, values);
}

/* The best of a coarse grid. */
static struct point start(const struct task *task, unsigned fitted)
{
    struct point best = {{0}, DBL_MAX}, point = {{0}, 0};
    struct tuning_values values;
    int counts[TUNING_PARAMETERS];
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        counts[p] = fitted & 1u << p ? STARTS : 1;
    for (int a = 0; a < counts[0]; a++)
        for (int b = 0; b < counts[1]; b++)
            for (int c = 0; c < counts[2]; c++) {
                point.share[0] = (a + 0.5) / STARTS;
                point.share[1] = (b + 0.5) / STARTS;
                point.share[2] = (c + 0.5) / STARTS;
                point.squares = judge(task, fitted, &point, &values);
                if (point.squares < best.squares)
                    best = point;
            }
    return best;
}

static bool try_move(const struct task *task, unsigned fitted, struct point *best, const double *move)
{
    struct point next = *best;
    struct tuning_values values;
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        next.share[p] = fmin(fmax(next.share[p] + move[p], 0), 1);
    next.squares = judge(task, fitted, &next, &values);
    if (!(next.squares < best->squares))
        return false;
    *best = next;
    return true;
}

/* Steps along each parameter and along pairs of them, for a clock and a fixed time trade; halved where none helps. */
static bool move_once(const struct task *task, unsigned fitted, struct point *best, double step)
{
    bool moved = false;
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        for (int q = p; q < TUNING_PARAMETERS; q++)
            for (int signs = 0; signs < (p == q ? 2 : 4); signs++) {
                double move[TUNING_PARAMETERS] = {0};
                if (!(fitted & 1u << p) || !(fitted & 1u << q))
                    continue;
                move[q] = signs & 2 ? -step : step;
                move[p] = signs & 1 ? -step : step;
                moved |= try_move(task, fitted, best, move);
            }
    return moved;
}

static struct tuning_values minimise(const struct task *task, unsigned fitted)
{
    enum { MOVES_MAX = 2000 };
    struct point best = start(task, fitted);
    struct tuning_values values;
    double step = 0.5 / STARTS;
    for (int halvings = 0, moves = 0; halvings < HALVINGS && moves < MOVES_MAX; moves++)
        if (!move_once(task, fitted, &best, step)) {
            step /= 2;
            halvings++;
        }
    judge(task, fitted, &best, &values);
    return values;
}

/* ---- what one row more or less changes ---- */

/* Student's t for 8 of 10 cases by degrees of freedom (Abramowitz and Stegun, table 26.10, P = 0.9 of one side). */
static double student(size_t freedom)
{
    static const double table[] = {3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383, 1.372};
    size_t last = sizeof table / sizeof *table;
    return freedom <= last ? table[freedom - 1] : 1.282 + (1.372 - 1.282) * (double)last / (double)freedom;
}

/* The jackknife: standard errors from the values without each row (Quenouille, Tukey). */
static void set_interval(struct tuning *tuning, const struct task *task, const double *without, int p)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < task->count; i++)
        mean += without[i] / (double)task->count;
    for (size_t i = 0; i < task->count; i++)
        sum += (without[i] - mean) * (without[i] - mean);
    double half = student(task->count - 1) * sqrt((double)(task->count - 1) / (double)task->count * sum);
    tuning->low[p] = fmax(tuning->values.value[p] - half, task->low[p]);
    tuning->high[p] = fmin(tuning->values.value[p] + half, task->high[p]);
}

static void leave_out(struct task *task, struct arena *arena, struct tuning *tuning)
{
    double *without[TUNING_PARAMETERS];
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        without[p] = arena_array(arena, task->count, sizeof **without);
    double sum = 0;
    for (size_t i = 0; i < task->count; i++) {
        task->without = i;
        struct tuning_values values = minimise(task, tuning->values.fitted);
        for (int p = 0; p < TUNING_PARAMETERS; p++)
            without[p][i] = values.value[p];
        tuning->left_out[i] = tuning_predict(&task->rows[i], &values);
        sum += fabs(rounded_log(tuning->left_out[i] / task->rows[i].measured));
    }
    tuning->left_out_error = sum / (double)task->count;
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        if (tuning->values.fitted & 1u << p)
            set_interval(tuning, task, without[p], p);
}

void tuning_solve(const struct tuning_response *rows, size_t count, unsigned fitted, struct arena *arena,
                  struct tuning *tuning)
{
    struct task task = {.rows = rows, .count = count, .without = count};
    set_bounds(&task);
    *tuning = (struct tuning){.values = minimise(&task, fitted), .left_out_error = NAN};
    tuning->left_out = arena_array(arena, count, sizeof *tuning->left_out);
    for (int p = 0; p < TUNING_PARAMETERS; p++) {
        const double near = 1e-6;
        double value = tuning->values.value[p], range = task.high[p] - task.low[p];
        tuning->low[p] = tuning->high[p] = NAN;
        tuning->at_limit[p] =
            fitted & 1u << p && (value - task.low[p] < near * range || task.high[p] - value < near * range);
    }
    for (size_t i = 0; i < count; i++) {
        tuning->left_out[i] = NAN;
        tuning->error +=
            fabs(rounded_log(tuning_predict(&rows[i], &tuning->values) / rows[i].measured)) / (double)count;
    }
    if (count > 1)
        leave_out(&task, arena, tuning);
}

/* ---- how many values ---- */

static unsigned bits(unsigned set)
{
    return (unsigned)__builtin_popcount(set);
}

void tuning_choose(const struct tuning_response *rows, size_t count, unsigned possible, struct arena *arena,
                   struct tuning *tuning)
{
    static const unsigned sets[] = {1u << TUNING_CLOCK,
                                    1u << TUNING_STEP,
                                    1u << TUNING_DISPATCH,
                                    1u << TUNING_CLOCK | 1u << TUNING_STEP,
                                    1u << TUNING_CLOCK | 1u << TUNING_DISPATCH,
                                    1u << TUNING_CLOCK | 1u << TUNING_STEP | 1u << TUNING_DISPATCH};
    const double larger = 0.9, settled = 1e-3; /* what a larger set has to bring the error to; and what is enough */
    bool chosen = false;
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct tuning trial;
        if ((sets[i] & possible) != sets[i] || (bits(sets[i]) > 1 && count <= bits(sets[i])) ||
            (count == 1 && chosen) ||
            (chosen && bits(sets[i]) > bits(tuning->values.fitted) && tuning->left_out_error < settled))
            continue;
        tuning_solve(rows, count, sets[i], arena, &trial);
        double most =
            !chosen ? INFINITY : tuning->left_out_error * (bits(sets[i]) > bits(tuning->values.fitted) ? larger : 1);
        if (!chosen || trial.left_out_error < most)
            *tuning = trial;
        chosen = true;
    }
}

double tuning_likeness(const struct tuning_response *rows, size_t count, const struct tuning_values *at,
                       enum tuning_parameter a, enum tuning_parameter b, struct arena *arena)
{
    const enum tuning_parameter both[] = {a, b};
    struct task task = {.rows = rows, .count = count, .without = count};
    double product = 0, length[2] = {0, 0};
    double *effects = arena_array(arena, 2 * count, sizeof *effects);
    set_bounds(&task);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < count; i++) {
            struct tuning_values low = *at, high = *at;
            int p = both[side];
            low.fitted = high.fitted = at->fitted | 1u << p;
            double value = at->fitted & 1u << p ? at->value[p] : p == TUNING_CLOCK ? 1 : task.low[p];
            double step = 0.05 * (task.high[p] - task.low[p]);
            low.value[p] = fmax(value - step, task.low[p]);
            high.value[p] = fmin(value + step, task.high[p]);
            double effect = rounded_log(tuning_predict(&rows[i], &high) / tuning_predict(&rows[i], &low));
            effects[side * (int)count + (int)i] = effect;
            length[side] += effect * effect;
        }
    for (size_t i = 0; i < count; i++)
        product += effects[i] * effects[count + i];
    return length[0] > 0 && length[1] > 0 ? product / sqrt(length[0] * length[1]) : 0;
}
