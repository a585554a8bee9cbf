/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calibrate/calibrate.h"

#include "base/arena.h"
#include "base/document.h"
#include "base/exit_code.h"
#include "base/numbers/median.h"
#include "base/rounded/rounded.h"
#include "base/table.h"
#include "studies/calibrate/calibrate_parts.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ADVICE_MAX = 2 * TUNING_PARAMETERS + 4, REFINEMENTS = 3 };

/* ---- what can be fitted ---- */

/* A value that the scenario gives itself counts before a profile's, and measured layers have no clock. */
static unsigned find_possible(const struct calibration *c)
{
    unsigned possible = (1u << TUNING_PARAMETERS) - 1;
    for (size_t i = 0; i < c->count; i++) {
        const struct scenario *scenario = c->rows[i].scenario;
        const struct transformer_parameters *p = scenario->parameters;
        if (p->profile)
            possible &= ~(1u << TUNING_CLOCK);
        if (p->profile || p->table || p->efficiency > 0)
            possible &= ~(1u << TUNING_STEP | 1u << TUNING_DISPATCH);
    }
    return possible;
}

/* The keys that are to be fitted must be the profile's to say. */
static bool check_keys(const struct calibration *c, struct diag *diag)
{
    for (size_t i = 0; i < c->count; i++)
        for (int p = 0; p < TUNING_PARAMETERS; p++)
            if (scenario_is_own(c->rows[i].scenario, calibration_keys[p].key)) {
                diag_error(diag, scenario_place(c->rows[i].scenario, calibration_keys[p].key),
                           "%s is given here, before which a profile's does not count; expected a scenario without it",
                           calibration_keys[p].key);
                return false;
            }
    if (!c->possible)
        diag_error(diag, scenario_place(c->rows[0].scenario, "compute"),
                   "nothing of these jobs can be calibrated: their layers' times are given; expected kernels or an "
                   "efficiency table");
    return c->possible != 0;
}

/* ---- times ---- */

/* The grid is bent between its nodes: exact times at the values that were found correct it. */
static int refine(struct calibration *c, struct tuning_response *responses, struct arena *arena)
{
    double *exact = arena_array(arena, c->count, sizeof *exact);
    for (int round = 0; round < REFINEMENTS; round++) {
        int code = calibration_time(c, &c->tuning.values, exact, arena);
        if (code != EXIT_DONE)
            return code;
        bool last = round == REFINEMENTS - 1;
        for (size_t i = 0; i < c->count && !last; i++) {
            double step = c->tuning.values.fitted & 1u << TUNING_STEP
                              ? c->tuning.values.value[TUNING_STEP] - responses[i].own_step
                              : 0;
            double interpolated = (tuning_predict(&responses[i], &c->tuning.values) - step) / responses[i].bent;
            responses[i].bent = (exact[i] - step) / interpolated;
        }
        if (!last)
            tuning_solve(responses, c->count, c->tuning.values.fitted, arena, &c->tuning);
    }
    for (size_t i = 0; i < c->count; i++) {
        c->rows[i].after = exact[i];
        c->rows[i].left_out = c->tuning.left_out[i];
    }
    return EXIT_DONE;
}

/* Rows that the others do not explain: more than 10 % off and more than four robust standard deviations. */
static void find_contradictions(struct calibration *c, struct arena *arena)
{
    const double least = 0.1, deviations = 4 * 1.4826;
    double *errors = arena_array(arena, c->count, sizeof *errors);
    if (c->count < 3)
        return;
    for (size_t i = 0; i < c->count; i++)
        errors[i] = fabs(rounded_log(c->rows[i].left_out / c->rows[i].seconds));
    double most = fmax(least, deviations * median(errors, c->count));
    for (size_t i = 0; i < c->count; i++)
        c->rows[i].contradicts = fabs(rounded_log(c->rows[i].left_out / c->rows[i].seconds)) > most;
}

/* ---- memory ---- */

static double beyond(const struct calibration_row *row)
{
    return row->whole_bytes - (row->predicted_bytes - row->extra_bytes);
}

/* What each row needs by the extra memory of the others, their median. */
static void leave_memory_out(struct calibration *c, double *extra)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < c->count; k++)
            if (k != i && c->rows[k].whole_bytes > 0)
                extra[count++] = beyond(&c->rows[k]);
        struct calibration_row *row = &c->rows[i];
        if (row->whole_bytes > 0 && count)
            row->left_out_bytes = row->predicted_bytes - row->extra_bytes + fmax(0, median(extra, count));
    }
}

/* What the measured peaks are above what formulas count: the median over the rows, and its range in 8 of 10 cases. A
 * peak of PyTorch's allocator is without what lies outside of it, which stays as the profile has it. */
static void find_memory(struct calibration *c, struct arena *arena)
{
    double *extra = arena_array(arena, c->count, sizeof *extra);
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct calibration_row *row = &c->rows[i];
        if (row->bytes > 0 && row->predicted_bytes > 0)
            row->whole_bytes = row->bytes + (row->of_allocator ? row->extra_bytes : 0);
    }
    leave_memory_out(c, extra);
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].whole_bytes > 0)
            extra[count++] = beyond(&c->rows[i]);
    c->memory = count > 0;
    c->memory_low = c->memory_high = NAN;
    if (!c->memory)
        return;
    double middle = median(extra, count);
    size_t tail = (count + 1) / 10; /* conformal: of 9 runs on there is one in 10 of one more at each end */
    c->extra_memory = fmax(0, middle);
    c->memory_over = fmax(0, -middle);
    if (tail) {
        c->memory_low = fmax(0, extra[tail - 1]);
        c->memory_high = fmax(0, extra[count - tail]);
    }
}

/* ---- what would settle more ---- */

__attribute__((format(printf, 3, 4))) static void advise(struct calibration *c, struct arena *arena, const char *format,
                                                         ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (c->advice_count < ADVICE_MAX)
        c->advice[c->advice_count++] = arena_vprint(arena, format, arguments);
    va_end(arguments);
}

/* Which run tells two parameters apart. */
static const char *telling_run(int a, int b)
{
    bool clock = a == TUNING_CLOCK || b == TUNING_CLOCK;
    return clock && (a == TUNING_STEP || b == TUNING_STEP)           ? "one run with twice the micro-batches"
           : clock && (a == TUNING_DISPATCH || b == TUNING_DISPATCH) ? "one run with half the micro-batch size"
                                                                     : "one run with half the layers";
}

static void find_advice(struct calibration *c, const struct tuning_response *responses, struct arena *arena)
{
    const double alike = 0.995;
    c->advice = arena_array(arena, ADVICE_MAX, sizeof *c->advice);
    for (int p = 0; p < TUNING_PARAMETERS; p++) {
        bool fitted = c->tuning.values.fitted & 1u << p;
        if (fitted && c->tuning.at_limit[p])
            advise(c, arena, "%s is at its limit: something else slows or speeds these runs up",
                   calibration_keys[p].name);
        for (int q = 0; q < TUNING_PARAMETERS && !fitted; q++)
            if (!(q == TUNING_STEP && c->timed_step > 0) && (c->possible & 1u << p) &&
                (c->tuning.values.fitted & 1u << q) &&
                fabs(tuning_likeness(responses, c->count, &c->tuning.values, p, q, arena)) > alike)
                advise(c, arena, "these runs do not tell %s from %s: %s would", calibration_keys[p].name,
                       calibration_keys[q].name, telling_run(p, q));
    }
    if (c->memory_over > 0)
        advise(c, arena, "less memory was measured than formulas count, by %.3g GiB: extra_memory cannot be below 0",
               c->memory_over / 1073741824);
    if (c->timed_step > 0)
        advise(c, arena, "fixed time: what the timers of logs leave of an iteration, mean %.4g s", c->timed_step);
    if (c->count == 1)
        advise(c, arena, "one run settles one value and says nothing of how sure it is: a second one would");
}

/* ---- a fixed time that was measured ---- */

/* Of all rows the seconds of an iteration that no timer of their logs covers, mean over the logs that have timers; 0:
 * none has, or what is left of a row would be nothing. */
static double outside_of(const struct calibration *c)
{
    double sum = 0, shortest = INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        double outside = c->rows[i].log ? c->rows[i].log->outside : 0;
        sum += outside;
        count += outside > 0;
        shortest = fmin(shortest, c->rows[i].seconds);
    }
    double mean = count ? sum / (double)count : 0;
    return mean < shortest ? mean : 0;
}

/* So many seconds more of the host in an iteration than without a profile of one's own; below 0: less. */
static void shift_step(struct calibration *c, double seconds)
{
    c->tuning.values.fitted |= 1u << TUNING_STEP;
    c->tuning.values.value[TUNING_STEP] = fmax(0, c->own_step + seconds);
    c->tuning.low[TUNING_STEP] = c->tuning.high[TUNING_STEP] = NAN;
    for (size_t i = 0; i < c->count; i++) {
        c->rows[i].seconds += seconds;
        c->rows[i].after += seconds;
        c->rows[i].left_out += seconds;
    }
}

bool calibration_add_step(struct calibration *c, double seconds)
{
    const unsigned step = 1u << TUNING_STEP;
    if (!(c->possible & step) || c->tuning.values.fitted & step || !(seconds > 0))
        return false;
    shift_step(c, seconds);
    return true;
}

/* Fits the rows. Where logs have timers, what lies beside them is the fixed time, and the others are fitted to the
 * rest. */
static int fit(struct calibration *c, struct tuning_response *responses, struct arena *arena)
{
    double outside = c->possible & 1u << TUNING_STEP ? outside_of(c) : 0,
           shift = outside > 0 ? outside - c->own_step : 0;
    unsigned others = c->possible & ~(outside > 0 ? 1u << TUNING_STEP : 0);
    for (size_t i = 0; i < c->count; i++) {
        c->rows[i].seconds -= shift;
        responses[i].measured = c->rows[i].seconds;
    }
    tuning_choose(responses, c->count, others, arena, &c->tuning);
    int code = refine(c, responses, arena);
    if (outside > 0)
        shift_step(c, shift);
    c->timed_step = outside;
    return code;
}

/* ---- all ---- */

int calibrate(const struct calibration_request *request, struct arena *arena, struct calibration *c)
{
    struct diag diag = {.out = stderr};
    struct calibration_request runs = *request;
    *c = (struct calibration){0};
    int read = calibration_read_sources(&runs, c, arena);
    if (read != EXIT_DONE || !runs.measured_count)
        return read;
    bool ok = calibration_read_rows(&runs, c, arena, &diag);
    c->possible = ok ? find_possible(c) : 0;
    ok = ok && check_keys(c, &diag);
    if (!ok) {
        diag_rest(&diag);
        return diag.trouble ? EXIT_FAILED : EXIT_BAD_INPUT;
    }
    struct tuning_response *responses = arena_array(arena, c->count, sizeof *responses);
    const char **gpu = arena_array(arena, c->count, sizeof *gpu);
    int code = calibration_respond(c, responses, gpu, arena);
    if (code != EXIT_DONE)
        return code;
    if (!calibration_settle_rows(c, gpu, &diag)) {
        diag_rest(&diag);
        return EXIT_BAD_INPUT;
    }
    c->own_step = responses[0].own_step;
    code = fit(c, responses, arena);
    if (code != EXIT_DONE)
        return code;
    find_contradictions(c, arena);
    find_memory(c, arena);
    find_advice(c, responses, arena);
    return EXIT_DONE;
}

void calibration_finish(struct calibration *c)
{
    for (size_t i = 0; i < c->table_count; i++)
        measured_finish(&c->tables[i]);
}
