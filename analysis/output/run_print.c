/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/run_print.h"

#include "analysis/output/contention_print.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "simulator/tails/tails_text.h"
#include "training/forecast_text.h"

#include <math.h>

static void print_figure(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%-18s %s\n", name, value);
}

/* How far such predictions were off where they could be checked. */
static void print_band(FILE *out, const struct report *report)
{
    char low[READABLE_MAX], high[READABLE_MAX], jobs[BAND_JOBS_MAX];
    const struct band *band = &report->run.band;
    if (band->rows)
        fprintf(out, "%-18s %s to %s in 8 of 10 cases (%s)\n", "", readable_seconds(low, report->iteration * band->low),
                readable_seconds(high, report->iteration * band->high), band_jobs_text(band, jobs));
}

/* Whether iterations differ by more than offsets between transfers make of it. */
static bool iterations_differ(const struct report *report)
{
    return report->longest_iteration - report->shortest_iteration > 1e-6 * report->iteration;
}

/* Of `iterations: settled`: after how many, and how far those that count are apart. */
static void print_settled(FILE *out, const struct report *report)
{
    char shortest[READABLE_MAX], longest[READABLE_MAX];
    fprintf(out, "; it %s %u iterations", report->settled ? "stands after" : "does not stand within",
            report->iterations);
    if (iterations_differ(report))
        fprintf(out, ", which take %s to %s", readable_seconds(shortest, report->shortest_iteration),
                readable_seconds(longest, report->longest_iteration));
}

static void print_iteration(FILE *out, const struct report *report)
{
    char text[READABLE_MAX], longest[READABLE_MAX];
    fprintf(out, "%-18s %s", "iteration", readable_seconds(text, report->iteration));
    if (report->cycle_iterations > 1)
        fprintf(out, ", the mean of a cycle of %u", report->cycle_iterations);
    else if (report->run.settle && !report->cycle_iterations)
        print_settled(out, report);
    else if (report->steady_state && !report->cycle_iterations)
        fprintf(out, "; none of its states came back in %u iterations", report->iterations);
    else if (iterations_differ(report))
        fprintf(out, "; one is not like the next: %s to %s", readable_seconds(text, report->shortest_iteration),
                readable_seconds(longest, report->longest_iteration));
    fputc('\n', out);
    print_band(out, report);
    if (report->run.release)
        diag_print(out, "%-18s %s\n", "framework", report->run.release);
    if (report->run.calibration)
        fprintf(out, "%-18s with %s\n", "calibrated", report->run.calibration);
    if (report->run.imported.summary)
        diag_print(out, "%-18s from %s\n", "imported", report->run.imported.summary);
}

static void print_steady(FILE *out, const struct report *report)
{
    char length[READABLE_MAX], start[READABLE_MAX];
    const struct steady *steady = &report->run.steady;
    if (steady->micro_batches && !steady->period)
        fprintf(out, "%-18s %u of %u micro-batches were run; the times of the others advance linearly\n",
                "steady state", steady->micro_batches, report->micro_batches);
    else if (steady->micro_batches) {
        fprintf(out, "%-18s %u of %u micro-batches were run; from %s on, ", "steady state", steady->micro_batches,
                report->micro_batches, readable_seconds(start, steady->start));
        readable_seconds(length, steady->length);
        if (steady->period == 1)
            fprintf(out, "each takes %s\n", length);
        else
            fprintf(out, "every %u take %s\n", steady->period, length);
    }
}

static void print_bubble(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    fprintf(out, "%-18s %s of the iteration, mean over ranks%s", "bubble", readable_percent(text, report->bubble),
            report->bubble > 0 ? ":" : "");
    for (int cause = 0; cause < CAUSES; cause++)
        if (report->causes[cause] > 0)
            fprintf(out, " %s %s", cause_names[cause], readable_percent(text, report->causes[cause]));
    fputc('\n', out);
}

/* By what can be done about it. */
static void print_idle(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (!report->idle.known || report->bubble <= 0)
        return;
    fprintf(out, "%-18s", "idle because of");
    for (int part = 0; part < IDLE_PARTS; part++)
        fprintf(out, "%s %s %s", part ? "," : "", idle_names[part],
                readable_percent(text, fabs(report->idle.shares[part]) < 1e-9 ? 0 : report->idle.shares[part]));
    fputc('\n', out);
}

/* What would make the job fit, or where nothing would alone, what saves most. */
static void print_levers(FILE *out, const struct report *report)
{
    char bytes[READABLE_MAX];
    const struct lever *levers = report->levers;
    unsigned count = report->lever_count, fitting = 0;
    for (unsigned i = 0; i < count; i++)
        fitting += levers[i].fits;
    if (!count)
        return;
    fprintf(out, "%-18s", fitting ? "would fit with" : "would be less with");
    for (unsigned i = fitting ? 0 : count - 1, shown = 0; i < count; i++)
        if (levers[i].fits || !fitting)
            fprintf(out, "%s %s (%s)", shown++ ? "," : "", levers[i].setting,
                    readable_binary_bytes(bytes, levers[i].peak_bytes));
    fputc('\n', out);
}

void memory_capacity_print(FILE *out, const struct report *report)
{
    char capacity[READABLE_MAX];
    double reserve = report->run.reserve;
    if (report->capacity_bytes <= 0)
        return;
    fprintf(out, " of %s", readable_binary_bytes(capacity, report->capacity_bytes / (1 - reserve)));
    if (reserve > 0)
        fprintf(out, ", less %.4g %% held back", 100 * reserve);
}

/* How much memory such jobs were measured to need. */
static void print_outlook(FILE *out, const struct report *report)
{
    char low[READABLE_MAX], high[READABLE_MAX], jobs[BAND_JOBS_MAX];
    const struct memory_outlook *outlook = &report->outlook;
    const struct band *band = &report->run.memory.band;
    if (!outlook->jobs)
        return;
    fprintf(out, "%-18s %s to %s in 8 of 10 cases", "", readable_binary_bytes(low, outlook->low),
            readable_binary_bytes(high, outlook->high));
    if (outlook->sure >= 0) {
        fputs(", ", out);
        memory_band_say_sure(out, outlook->sure);
    }
    fprintf(out, " (%s)\n", band_jobs_text(band, jobs));
}

static void print_memory(FILE *out, const struct report *report)
{
    char peak[READABLE_MAX], part[READABLE_MAX];
    double bytes;
    if (report->peak_bytes <= 0)
        return;
    fprintf(out, "%-18s %s per rank at most", "memory", readable_binary_bytes(peak, report->peak_bytes));
    memory_capacity_print(out, report);
    if (report->capacity_bytes > 0)
        fprintf(out, ": %s", report->fits ? "fits" : "does not fit");
    if (!report->fits) {
        const char *dominant = memory_dominant(&report->parts, &bytes);
        fprintf(out, "; most of it %s, %s", dominant, readable_binary_bytes(part, bytes));
    }
    fputc('\n', out);
    print_outlook(out, report);
    if (!report->fits)
        print_levers(out, report);
}

/* Of an iteration, and of the whole training where its tokens are given. */
static void print_energy(FILE *out, const struct report *report)
{
    char joules[READABLE_MAX], watts[READABLE_MAX], bill[READABLE_MAX];
    if (report->energy < 0)
        return;
    fprintf(out, "%-18s %s per iteration", "energy", readable_joules(joules, report->energy));
    if (report->iteration > 0)
        fprintf(out, ", %s", readable_watts(watts, report->energy / report->iteration));
    if (report->training_s > 0 && report->iteration > 0)
        fprintf(out, "; %s in training",
                readable_watt_hours(bill, report->energy * (report->training_s / report->iteration)));
    fputc('\n', out);
}

/* What the scenario asks of power. */
static void print_power(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    const struct power_figures *power = &report->power;
    if (power->clock <= 0)
        return;
    fprintf(out, "%-18s ", "power");
    if (power->cap > 0)
        fprintf(out, "cap %s a GPU, ", readable_watts(text, power->cap));
    if (power->clock < 1)
        fprintf(out, "%s %.4g%s", power->table ? "speed" : "clock", power->clock,
                power->table ? " by the table" : " by the curve, which is assumed");
    else
        fputs("full clock", out);
    fprintf(out, "; at most %s\n", readable_watts(text, power->peak));
    if (power->carbon > 0)
        fprintf(out, "%-18s %.6g kg of CO2 in %s, %.4g g/kWh, PUE %.4g\n", "carbon", power->carbon,
                report->training_s > 0   ? "training"
                : report->iterations > 1 ? "these iterations"
                                         : "an iteration",
                power->intensity, power->pue);
    if (power->carbon_per_token > 0)
        fprintf(out, "%-18s %.6g kg per token\n", "", power->carbon_per_token);
}

static void print_training(FILE *out, const struct report *report)
{
    const char *label = "training";
    if (report->training_s > 0) {
        fprintf(out, "%-18s %.4g days for %.4g tokens", label, report->training_s / 86400, report->run.figures.tokens);
        if (report->training_cost > 0)
            fprintf(out, ", price %.6g", report->training_cost);
        fputc('\n', out);
        label = "";
    }
    if (report->million_tokens_cost > 0)
        fprintf(out, "%-18s price of a million tokens %.4g\n", label, report->million_tokens_cost);
}

/* The largest share first. */
static void print_limits(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    struct limits left = report->limits;
    if (!left.known)
        return;
    fprintf(out, "%-18s", "limited by");
    for (int i = 0; i < LIMITS; i++) {
        enum limit by = limits_by(&left);
        if (left.shares[by] >= 5e-5 || i == 0)
            fprintf(out, "%s %s %s", i ? "," : "", limit_names[by], readable_percent(text, left.shares[by]));
        left.shares[by] = -1;
    }
    fputc('\n', out);
}

static void print_throughput(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (report->samples_per_s > 0)
        fprintf(out, "%-18s %.6g samples/s\n", "throughput", report->samples_per_s);
    if (report->tokens_per_s > 0)
        fprintf(out, "%-18s %.6g tokens/s\n", "", report->tokens_per_s);
    if (report->mfu > 0)
        print_figure(out, "MFU", readable_percent(text, report->mfu));
    if (report->hfu > 0)
        print_figure(out, "HFU", readable_percent(text, report->hfu));
    print_limits(out, report);
    print_training(out, report);
    if (report->tails.known)
        tails_print(out, &report->tails);
    if (report->forecast.known)
        forecast_print(out, &report->forecast, report->run.currency);
    print_energy(out, report);
    print_power(out, report);
}

static void print_communication(FILE *out, const struct report *report)
{
    char exposed[READABLE_MAX], overlapped[READABLE_MAX], bytes[READABLE_MAX];
    if (report->sent_bytes <= 0 && report->exposed + report->overlapped <= 0)
        return;
    fprintf(out, "%-18s %s exposed, %s overlapped per rank; %s sent\n", "communication",
            readable_seconds(exposed, report->exposed), readable_seconds(overlapped, report->overlapped),
            readable_decimal_bytes(bytes, report->sent_bytes));
}

/* A line for each way in which collectives were carried out. */
static void print_collectives(FILE *out, const struct report *report)
{
    enum { LINES_MAX = 6 };
    char least[READABLE_MAX], most[READABLE_MAX];
    size_t count = report->collective_count, shown = count > LINES_MAX ? LINES_MAX - 1 : count;
    for (size_t i = 0; i < shown; i++) {
        const struct collective_use *use = &report->collectives[i];
        fprintf(out, "%-18s %.6g x %s of %s", i ? "" : "collectives", use->count, use->collective,
                readable_decimal_bytes(least, use->least_bytes));
        if (use->most_bytes > use->least_bytes)
            fprintf(out, " to %s", readable_decimal_bytes(most, use->most_bytes));
        fprintf(out, " over %u ranks: %s%s%s\n", use->ranks, use->algorithm, use->protocol ? ", protocol " : "",
                use->protocol ? use->protocol : "");
    }
    if (count > shown)
        fprintf(out, "%-18s and %zu others (summary.json)\n", "", count - shown);
}

static void print_nearest(FILE *out, const struct nearest *nearest)
{
    struct arena *arena = arena_create();
    if (nearest->layouts)
        fprintf(out, "%-18s %s, without contention\n%-18s %s\n", "nearest better", nearest_sentence(nearest, arena), "",
                nearest->command);
    arena_destroy(arena);
}

static void print_sensitivity(FILE *out, const struct report *report)
{
    char compute[READABLE_MAX], bandwidth[READABLE_MAX], latency[READABLE_MAX];
    if (!report->has_critical_path || report->critical_length <= 0)
        return;
    double percent = 0.01 / report->critical_length;
    fprintf(out, "%-18s time to compute %s, time per byte %s, latency %s\n", "gain of 1 % less",
            readable_percent(compute, percent * report->sensitive_compute),
            readable_percent(bandwidth, percent * report->sensitive_bandwidth),
            readable_percent(latency, percent * report->sensitive_latency));
}

/* Causes that the table has a column for: few jobs read from a storage. */
static int causes_shown(const struct report *report)
{
    return report->causes[CAUSE_INPUT] > 0 ? CAUSES : CAUSE_INPUT;
}

static void print_workers(FILE *out, struct table_style style, const struct report *report)
{
    char text[READABLE_MAX];
    int causes = causes_shown(report);
    struct table *table = table_create();
    table_columns(table, ">worker", "<host", ">busy", ">utilization", NULL);
    for (int cause = 0; cause < causes; cause++)
        table_column(table, cause_names[cause], '>');
    table_column(table, "in flight", '>');
    for (uint32_t i = 0; i < report->worker_count; i++) {
        const struct worker_report *worker = &report->workers[i];
        table_cell(table, "%u", worker->position);
        table_cell(table, "%s", worker->host);
        table_cell(table, "%s", readable_seconds(text, worker->busy));
        table_cell(table, "%s", readable_percent(text, 1 - worker->bubble));
        for (int cause = 0; cause < causes; cause++)
            table_cell(table, "%s", readable_percent(text, worker->causes[cause]));
        table_cell(table, "%.4g", worker->peak_in_flight);
    }
    table_finish(table, out, style);
}

/* What towers cost on the ranks that have them, and who waits for others. */
static void print_towers(FILE *out, const struct report *report)
{
    const struct stagesim_figures *figures = &report->run.figures;
    double waits;
    char mean[READABLE_MAX], more[READABLE_MAX], share[READABLE_MAX], wait[READABLE_MAX];
    if (!(figures->tower_seconds > 0))
        return;
    const struct worker_report *waiting = report_longest_waiting(report, &waits);
    fprintf(out, "%-18s %s, %s of the iteration, on a rank that has them", "towers",
            readable_seconds(mean, figures->tower_seconds),
            readable_percent(share, figures->tower_seconds / report->iteration));
    if (figures->tower_most > figures->tower_seconds * (1 + 1e-9))
        fprintf(out, "; %s more on the replica with most",
                readable_seconds(more, figures->tower_most - figures->tower_seconds));
    if (waiting)
        fprintf(out, "; worker %u waits longest for others, %s", waiting->position, readable_seconds(wait, waits));
    fputc('\n', out);
}

/* A line each. */
static void print_figures(FILE *out, const struct report *report)
{
    diag_print(out, "%-18s %s, %s on %u rank%s of %s (%s engine)\n", "run", report->run.scenario_name,
               report->run.schedule ? report->run.schedule : report->run.workload, report->ranks,
               readable_plural(report->ranks), report->run.platform_file, report->run.engine);
    print_iteration(out, report);
    print_steady(out, report);
    print_bubble(out, report);
    print_idle(out, report);
    print_throughput(out, report);
    print_towers(out, report);
    print_communication(out, report);
    print_collectives(out, report);
    print_memory(out, report);
    if (report->run.figures.kernels)
        fprintf(out, "%-18s %u different ones, %u of them beyond the sizes that were measured\n", "kernels",
                report->run.figures.kernels, report->run.figures.kernels_outside);
    if (report->run.figures.pipeline_layout)
        print_figure(out, "pipeline layout", report->run.figures.pipeline_layout);
    if (report->run.figures.choices)
        diag_print(out, "%-18s %s\n", "chosen", report->run.figures.choices);
    print_sensitivity(out, report);
    print_nearest(out, &report->run.nearest);
}

void run_print(FILE *out, struct table_style style, const struct report *report)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *figures = table_remarks_begin(&lines, &size);
    if (figures)
        print_figures(figures, report);
    table_remarks_end(out, style.format, figures, &lines);
    fputc('\n', out);
    print_workers(out, style, report);
    if (report->contention)
        contention_print(out, style, report);
}
