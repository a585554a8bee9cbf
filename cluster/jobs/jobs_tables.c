/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/jobs_output.h"

#include <stdio.h>

enum { LINKS_SHOWN = 12, PAIRS_SHOWN = 20 };

const char *const jobs_table_titles[JOBS_TABLES] = {
    [JOBS_TABLE] = "Jobs",
    [JOBS_TABLE_SHARED] = "Which links of whom",
    [JOBS_TABLE_KINDS] = "Contention by kind of link",
    [JOBS_TABLE_PAIRS] = "Slow-down of a job (row) beside another (column)",
};

static struct table *with_columns(const char *const *titles)
{
    struct table *table = table_create();
    for (size_t i = 0; titles[i]; i++)
        table_column(table, titles[i], i ? '>' : '<');
    return table;
}

static struct table *table_of_jobs(const struct jobs_figures *figures)
{
    static const char *const titles[] = {"job",     "GPUs",  "alone", "together", "slow-down", "shortest",
                                         "longest", "start", "end",   "bubble",   NULL};
    struct table *table = with_columns(titles);
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct job_figures *job = &figures->jobs[i];
        table_cell(table, "%s", job->run.described->name);
        table_cell(table, "%u", job->run.part->host_count);
        table_seconds(table, job->alone);
        table_seconds(table, job->together);
        table_cell(table, "%.4f", job->together / job->alone);
        table_value(table, job->together / job->alone);
        table_seconds(table, job->shortest);
        table_seconds(table, job->longest);
        table_seconds(table, job->run.start);
        table_seconds(table, job->run.start + job->duration);
        table_percent(table, job->report->bubble);
    }
    return table;
}

static struct table *table_of_meetings(const struct jobs_figures *figures)
{
    static const char *const titles[] = {"job", "link", "shared with", "share of time", NULL};
    struct table *table = with_columns(titles);
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct job_figures *job = &figures->jobs[i];
        for (uint32_t k = 0; k < job->meeting_count && table_row_count(table) < 4 * (size_t)LINKS_SHOWN; k++) {
            table_cell(table, "%s", job->run.described->name);
            table_cell(table, "%s", job->meetings[k].link);
            table_cell(table, "%s", figures->jobs[job->meetings[k].other].run.described->name);
            table_percent(table, job->meetings[k].share);
        }
    }
    return table;
}

static struct table *table_of_kinds(const struct jobs_figures *figures)
{
    static const char *const titles[] = {"links",          "used", "by several jobs", "busy", "contended",
                                         "contended most", NULL};
    struct table *table = with_columns(titles);
    for (uint32_t i = 0; i < figures->kind_count && i < LINKS_SHOWN; i++) {
        const struct cluster_link_kind *kind = &figures->kinds[i];
        table_cell(table, "%s", kind->name);
        table_cell(table, "%u", kind->used);
        table_cell(table, "%u", kind->several);
        table_percent(table, kind->busy);
        table_percent(table, kind->contended);
        table_percent(table, kind->contended_max);
    }
    return table;
}

static struct table *table_of_pairs(const struct jobs_figures *figures)
{
    if (!figures->slow || figures->count > PAIRS_SHOWN)
        return NULL;
    struct table *table = table_create();
    table_column(table, "job", '<');
    for (uint32_t i = 0; i < figures->count; i++)
        table_column(table, figures->jobs[i].run.described->name, '>');
    for (uint32_t i = 0; i < figures->count; i++) {
        table_cell(table, "%s", figures->jobs[i].run.described->name);
        for (uint32_t k = 0; k < figures->count; k++) {
            double slow = figures->slow[(size_t)i * figures->count + k];
            if (i == k) {
                table_cell(table, "-");
                continue;
            }
            table_cell(table, "%.4f", slow);
            table_value(table, slow);
        }
    }
    return table;
}

struct table *jobs_table_create(const struct jobs_figures *figures, enum jobs_table which)
{
    struct table *table = which == JOBS_TABLE          ? table_of_jobs(figures)
                          : which == JOBS_TABLE_SHARED ? table_of_meetings(figures)
                          : which == JOBS_TABLE_KINDS  ? table_of_kinds(figures)
                                                       : table_of_pairs(figures);
    if (table && table_row_count(table))
        return table;
    table_destroy(table);
    return NULL;
}

/* Of the jobs of a component that repeats. */
static void put_cycle(FILE *out, const struct jobs_figures *figures, uint32_t first)
{
    const struct job_figures *job = &figures->jobs[first];
    char length[READABLE_MAX], start[READABLE_MAX];
    fprintf(out,
            "%s: %u of %u iterations simulated; the jobs that it shares links with come back to a state after %s, from "
            "%s on, and go through that %u more times.\n",
            job->run.described->name, job->run.iterations, job->iterations, readable_seconds(length, job->cycle.length),
            readable_seconds(start, job->cycle.start), job->repeats);
}

/* Times are not exact. */
static void put_leads(FILE *out, const struct jobs_figures *figures)
{
    const struct leads_error *error = &figures->leads_error;
    char mean[READABLE_MAX], most[READABLE_MAX];
    fputs("Groups that are alike share links evenly, none gets ahead (leads: even).", out);
    if (error->jobs)
        fprintf(out, " %u of the jobs, simulated both ways: iterations are %s off on average, %s at most.", error->jobs,
                readable_percent(mean, error->mean), readable_percent(most, error->most));
    else
        fputs(" How far iterations are off is not known; leads: exact says it.", out);
    fputs("\n", out);
}

void jobs_remarks(FILE *out, const struct jobs_figures *figures, const struct jobs_description *description)
{
    if (description->engine == &engine_analytic)
        fputs("The engine analytic knows no contention: together is as alone.\n", out);
    if (figures->components > 1 && figures->simulated_components == figures->components)
        fprintf(out, "%u sets of jobs share no link with one another; each was simulated by itself.\n",
                figures->components);
    else if (figures->components > 1)
        fprintf(out,
                "%u sets of jobs share no link with one another; %u of them %s simulated, the others are alike: the "
                "same jobs on hosts and links that are alike.\n",
                figures->components, figures->simulated_components,
                figures->simulated_components == 1 ? "was" : "were");
    if (figures->simulated_ranks < figures->ranks)
        fprintf(out, "%u of %u ranks simulated; ranks that are alike, of any jobs, stand for each other.\n",
                figures->simulated_ranks, figures->ranks);
    else if (description->engine != &engine_analytic && description->scenario->fold == FOLD_AUTO)
        fprintf(out, "All %u ranks simulated: %s.\n", figures->ranks,
                figures->unfolded ? figures->unfolded : "no two are alike");
    if (figures->even_ranks)
        put_leads(out, figures);
    for (uint32_t i = 0, said = 0; i < figures->count && said < 4; i++) {
        const struct job_figures *job = &figures->jobs[i];
        if (job->component != i || job->like != i || !job->repeats)
            continue;
        put_cycle(out, figures, i);
        said++;
    }
    if (figures->slow && figures->count > PAIRS_SHOWN)
        fprintf(out, "The slow-downs of %u pairs are in summary.json.\n", figures->count * (figures->count - 1) / 2);
}
