/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with `pairs:`. Every job is timed at every cap once, on the analytic engine. */
#include "cluster/power/pairs_parts.h"

#include "analysis/pictures/gantt.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS_MAX = 20000000 };

/* The report of a job at a cap; NULL: at its full clock. */
static bool time_job(struct simulation_context *context, uint32_t job, const char *cap, struct report **report)
{
    const struct scenario *scenario = context->scenario->parts[job];
    struct scenario_set set = {.text = arena_print(context->arena, "power.cap=%s", cap ? cap : "1GW")};
    struct evaluation_request request = {
        .scenario = scenario->request, .changes = &set, .change_count = 1, .operations_max = OPERATIONS_MAX};
    struct evaluation evaluation;
    if (!evaluate(&request, context->platform, context->arena, &context->diag, &evaluation))
        return false;
    *report = evaluation.report;
    return true;
}

/* [job][cap]; NULL after the mistake was reported. */
static struct pairs_point *time_all(struct simulation_context *context, const struct pairs *pairs)
{
    struct pairs_point *points = arena_array(context->arena, pairs->count * pairs->cap_count + 1, sizeof *points);
    for (uint32_t job = 0; job < pairs->count; job++) {
        struct report *full, *report;
        if (!time_job(context, job, NULL, &full))
            return NULL;
        for (size_t cap = 0; cap < pairs->cap_count; cap++) {
            if (!time_job(context, job, pairs->cap_texts[cap], &report))
                return NULL;
            points[job * pairs->cap_count + cap] = (struct pairs_point){.speed = full->iteration / report->iteration,
                                                                        .watts = report->energy / report->iteration,
                                                                        .most = report->power.peak};
        }
    }
    return points;
}

static void add_row(const struct simulation_context *context, const struct pairs *pairs,
                    const struct pairs_choice *choice, size_t rank, struct table *table)
{
    char text[READABLE_MAX];
    table_cell(table, "%zu", rank);
    for (int i = 0; i < 2; i++) {
        table_cell(table, "%s", context->scenario->parts[choice->jobs[i]]->name);
        table_cell(table, "%s", pairs->cap_texts[choice->caps[i]]);
    }
    table_cell(table, "%.4f", choice->throughput);
    table_cell(table, "%s", readable_watts(text, choice->watts));
    table_cell(table, "%s", readable_joules(text, choice->joules));
}

/* The same jobs with the largest cap that both may have. */
static const struct pairs_choice *find_even(const struct pairs_choice *choices, size_t count)
{
    const struct pairs_choice *even = NULL;
    for (size_t i = 0; i < count; i++)
        if (choices[i].caps[0] == choices[i].caps[1] &&
            !memcmp(choices[i].jobs, choices[0].jobs, sizeof choices->jobs) &&
            (!even || choices[i].caps[0] > even->caps[0]))
            even = &choices[i];
    return even;
}

static void print(struct simulation_context *context, const struct pairs *pairs, const struct pairs_choice *choices,
                  size_t count)
{
    static const char *const titles[] = {"rank", "job", "cap", "beside", "cap beside", "throughput", "power", "energy"};
    FILE *out = context->self->results;
    struct table *table = table_create();
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], i == 1 || i == 3 ? '<' : '>');
    for (size_t i = 0; i < count && i < PAIRS_SHOWN; i++)
        add_row(context, pairs, &choices[i], i + 1, table);
    table_print_within(table, out, 0, 0);
    table_destroy(table);
    const struct pairs_choice *even = find_even(choices, count);
    fprintf(out, "%zu choices within the budget", count);
    if (even)
        fprintf(out, "; throughput is %.4g times, energy %.4g times that of an even split of %s each",
                choices[0].throughput / even->throughput, choices[0].joules / even->joules,
                pairs->cap_texts[even->caps[0]]);
    putc('\n', out);
}

static void hand_over(struct simulation_context *context, const struct pairs_choice *best)
{
    struct comparison_row whole = {.iteration = 1 / best->throughput, .energy = best->joules};
    snprintf(whole.scenario, sizeof whole.scenario, "%s", context->scenario->name);
    snprintf(whole.schedule, sizeof whole.schedule, "%s", context->scenario->schedule_name);
    snprintf(whole.engine, sizeof whole.engine, "analytic");
    struct gantt *gantt = gantt_create(context->scenario->name, "", GANTT_SECONDS);
    gantt_finish(gantt);
    simulation_hand_over(context, &whole, NULL, 0, gantt);
    gantt_destroy(gantt);
}

static int pairs_run(struct simulation_context *context)
{
    const struct pairs *pairs = context->scenario->whole;
    struct pairs_point *points = time_all(context, pairs);
    struct pairs_choice *choices = NULL;
    if (!points)
        return EXIT_BAD_INPUT;
    size_t count = pairs_rank(pairs, points, &choices);
    if (!count) {
        diag_error(&context->diag, scenario_place(context->scenario, "pairs.budget"),
                   "no two jobs stay within the budget of %.10g W at the lowest cap; expected more, or a lower cap",
                   pairs->budget);
        return EXIT_BAD_INPUT;
    }
    hand_over(context, &choices[0]);
    print(context, pairs, choices, count);
    free(choices);
    return EXIT_DONE;
}

static int pairs_check(struct simulation_context *context)
{
    const struct pairs *pairs = context->scenario->whole;
    struct report *report;
    for (uint32_t job = 0; job < pairs->count; job++)
        if (!time_job(context, job, pairs->cap_texts[0], &report))
            return EXIT_BAD_INPUT;
    diag_print(stdout, "%s: ok\n%u jobs in pairs, %zu caps, on %s\n", context->scenario->file, pairs->count,
               pairs->cap_count, context->scenario->platform_name);
    return EXIT_DONE;
}

const struct scenario_kind pairs_kind = {
    .rows = true,
    .key = "pairs",
    .summary = "which jobs share a GPU",
    .platform = true,
    .keys = pairs_keys,
    .schema = pairs_schema,
    .read = pairs_read,
    .check = pairs_check,
    .run = pairs_run,
};
