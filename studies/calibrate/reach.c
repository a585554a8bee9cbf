/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calibrate/reach.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "simulator/collectives/fit/fit.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6, FEW = 5 };

/* The change by which it is told what makes a row's time; the share of that time that a kind of links has to make for
 * the row to tell of them; a step of the fit that is none. */
static const double small = 0.01, most_of_it = 0.8, settled = 1e-4;

struct fitting {
    const struct scenario *scenario;
    const struct measured *tables;
    size_t table_count;
    double *measured, *first, *now; /* [row] of all tables: seconds; predicted with links as they were, as fitted */
    bool *tells;                    /* [row]: of some kind that was fitted */
    double *shares[LINK_KINDS_MAX]; /* [kind][row]: of the row's time, what is in proportion to one over the rate */
    double *ratios;
    struct reach *reach;
    struct arena *arena;
};

/* ---- the network with other links ---- */

struct asking {
    const struct measured *tables;
    size_t count;
};

static bool check_table(const struct measured *table, const struct platform *platform, struct diag *diag)
{
    if (table->ranks <= platform->host_count)
        return true;
    diag_error(diag, (struct place){table->file, 0, 0}, "the table has %u ranks, and the scenario's platform %u GPUs",
               table->ranks, platform->host_count);
    return false;
}

static int time_tables(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct asking *asking = user;
    struct arena *arena = arena_create();
    bool good = true;
    for (size_t i = 0; i < asking->count && good; i++) {
        const struct measured *table = &asking->tables[i];
        double *seconds = arena_array(arena, table->count + 1, sizeof *seconds);
        good = check_table(table, platform, diag);
        if (good)
            fit_predict(platform, table, arena, seconds);
        if (good && table->count)
            fwrite(seconds, sizeof *seconds, table->count, results);
    }
    arena_destroy(arena);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* What rows take with the links as they are fitted so far, and one kind (LINK_KINDS_MAX: none) slower. */
static int ask(const struct fitting *fitting, size_t slower, double *seconds)
{
    struct scenario scenario = *fitting->scenario;
    struct what_if *links = arena_array(fitting->arena, scenario.link_count + LINK_KINDS_MAX, sizeof *links);
    FILE *results = NULL;
    if (scenario.link_count)
        memcpy(links, scenario.links, scenario.link_count * sizeof *links);
    for (size_t i = 0; i < fitting->reach->count; i++) {
        const struct reach_level *level = &fitting->reach->levels[i];
        double factor = level->rate * (i == slower ? 1 - small : 1);
        if (factor < 1 || factor > 1)
            links[scenario.link_count++] = (struct what_if){
                .text = level->kind, .target = level->kind, .figure = WHAT_IF_BANDWIDTH, .factor = factor, .share = 1};
    }
    scenario.links = links;
    struct asking asking = {fitting->tables, fitting->table_count};
    int code = simulation_visit(&(struct simulation_visit){&scenario, time_tables, &asking}, &results);
    if (code == EXIT_DONE &&
        (!results || fread(seconds, sizeof *seconds, fitting->reach->rows, results) != fitting->reach->rows)) {
        fputs("stagesim: what a process found could not be read back\n", stderr);
        code = EXIT_FAILED;
    }
    if (results)
        fclose(results);
    return code;
}

/* ---- the fit ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What one over the rate would have to be over what it is, by each row that tells of the kind: ascending; how many. */
static size_t list_ratios(const struct fitting *fitting, size_t level)
{
    size_t count = 0;
    for (size_t i = 0; i < fitting->reach->rows; i++) {
        double share = fitting->shares[level][i];
        if (share <= most_of_it)
            continue;
        fitting->tells[i] = true;
        fitting->ratios[count++] = 1 + (fitting->measured[i] / fitting->now[i] - 1) / share;
    }
    if (count)
        qsort(fitting->ratios, count, sizeof *fitting->ratios, by_value);
    return count;
}

static double within(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

/* Between which of its values, as many from either end, a median lies in at least 8 of 10 cases: errors of a binomial
 * distribution. */
static void set_level(const struct fitting *fitting, struct reach_level *level, double *moved)
{
    static const double errors = 1.2816 / 2;
    double before = level->rate, least = scenario_link_bounds.rate_least / level->before,
           most = link_kinds_most(fitting->scenario, level->kind, fitting->arena) / level->before;
    size_t count = level->rows;
    double half = errors * sqrt((double)count);
    size_t first = (size_t)fmax(floor((double)count / 2 - half - 0.5), 0);
    double slowness =
        count % 2 ? fitting->ratios[count / 2] : (fitting->ratios[count / 2 - 1] + fitting->ratios[count / 2]) / 2;
    level->rate = slowness > 0 ? within(before / slowness, least, most) : most;
    level->at_limit = level->rate >= most;
    double slowest = fitting->ratios[count - 1 - first], fastest = fitting->ratios[first];
    level->low = count < FEW ? NAN : slowest > 0 ? within(before / slowest, least, most) : most;
    level->high = count < FEW ? NAN : fastest > 0 ? within(before / fastest, least, most) : most;
    *moved = fmax(*moved, fabs(level->rate / before - 1));
}

static int fit_round(struct fitting *fitting, bool first, double *moved)
{
    struct reach *reach = fitting->reach;
    double *slower = arena_array(fitting->arena, reach->rows, sizeof *slower);
    int code = ask(fitting, LINK_KINDS_MAX, fitting->now);
    *moved = 0;
    for (size_t k = 0; k < reach->count && code == EXIT_DONE; k++) {
        if (!first && !reach->levels[k].rows)
            continue;
        code = ask(fitting, k, slower);
        for (size_t i = 0; i < reach->rows && code == EXIT_DONE; i++)
            fitting->shares[k][i] = (slower[i] / fitting->now[i] - 1) / (1 / (1 - small) - 1);
    }
    for (size_t k = 0; k < reach->count && code == EXIT_DONE; k++) {
        size_t rows = list_ratios(fitting, k);
        if (!rows)
            continue; /* with faster links something else limits them: what was found stays */
        reach->levels[k].rows = rows;
        set_level(fitting, &reach->levels[k], moved);
    }
    return code;
}

/* Of the rows that tell of a kind. */
static double error_of(const struct fitting *fitting, const double *predicted, size_t *silent)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < fitting->reach->rows; i++) {
        count += fitting->tells[i];
        sum += fitting->tells[i] ? fabs(predicted[i] / fitting->measured[i] - 1) : 0;
    }
    *silent = fitting->reach->rows - count;
    return count ? sum / (double)count : NAN;
}

static void prepare(struct fitting *fitting)
{
    struct reach *reach = fitting->reach;
    size_t at = 0;
    for (size_t t = 0; t < fitting->table_count; t++)
        reach->rows += fitting->tables[t].count;
    fitting->measured = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->measured);
    fitting->first = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->first);
    fitting->now = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->now);
    fitting->tells = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->tells);
    fitting->ratios = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->ratios);
    for (size_t k = 0; k < LINK_KINDS_MAX; k++)
        fitting->shares[k] = arena_array(fitting->arena, reach->rows + 1, sizeof *fitting->shares[k]);
    for (size_t t = 0; t < fitting->table_count; t++)
        for (size_t i = 0; i < fitting->tables[t].count; i++)
            fitting->measured[at++] = fitting->tables[t].rows[i].seconds;
}

int reach_find(const struct scenario *scenario, const struct measured *tables, size_t count, struct arena *arena,
               struct reach *reach)
{
    struct fitting fitting = {
        .scenario = scenario, .tables = tables, .table_count = count, .reach = reach, .arena = arena};
    const char *names[LINK_KINDS_MAX];
    double moved = 1;
    size_t kinds;
    *reach = (struct reach){.count = 0};
    prepare(&fitting);
    int code = link_kinds_list(scenario, names, &kinds, arena);
    for (size_t k = 0; k < kinds && code == EXIT_DONE; k++)
        reach->levels[reach->count++] =
            (struct reach_level){.kind = names[k],
                                 .rate = 1,
                                 .low = NAN,
                                 .high = NAN,
                                 .before = link_kinds_factor(scenario, names[k], WHAT_IF_BANDWIDTH)};
    for (int round = 0; round < ROUNDS && code == EXIT_DONE && moved > settled; round++) {
        code = fit_round(&fitting, !round, &moved);
        if (!round)
            memcpy(fitting.first, fitting.now, reach->rows * sizeof *fitting.first);
    }
    code = code == EXIT_DONE ? ask(&fitting, LINK_KINDS_MAX, fitting.now) : code;
    reach->error_before = error_of(&fitting, fitting.first, &reach->silent);
    reach->error_after = error_of(&fitting, fitting.now, &reach->silent);
    size_t kept = 0;
    for (size_t k = 0; k < reach->count; k++)
        if (reach->levels[k].rows)
            reach->levels[kept++] = reach->levels[k];
    reach->count = kept;
    return code;
}
