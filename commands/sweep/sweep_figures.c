/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/sweep/sweep_figures.h"

#include <math.h>
#include <string.h>

#define FIGURE(name, value)                                                                                            \
    static double of_##name(const struct comparison_row *row)                                                          \
    {                                                                                                                  \
        return value;                                                                                                  \
    }

/* Where 0 means that it is not known. */
#define KNOWN(value) ((value) > 0 ? (value) : NAN)

FIGURE(iteration, row->queue.known || row->idle_nodes.known ? NAN : row->iteration)
FIGURE(iteration_low, row->band.rows ? row->iteration * row->band.low : NAN)
FIGURE(iteration_high, row->band.rows ? row->iteration * row->band.high : NAN)
FIGURE(memory_low, row->outlook.jobs ? row->outlook.low : NAN)
FIGURE(memory_high, row->outlook.jobs ? row->outlook.high : NAN)
FIGURE(fits_share, row->outlook.jobs && row->outlook.sure >= 0 ? row->outlook.sure : NAN)
FIGURE(samples, KNOWN(row->samples_per_s))
FIGURE(tokens, KNOWN(row->tokens_per_s))
FIGURE(mfu, KNOWN(row->mfu))
FIGURE(bubble, row->queue.known || row->idle_nodes.known ? NAN : row->bubble)
FIGURE(fill, row->causes[CAUSE_FILL])
FIGURE(drain, row->causes[CAUSE_DRAIN])
FIGURE(receive, row->causes[CAUSE_RECEIVE])
FIGURE(collective, row->causes[CAUSE_COLLECTIVE])
FIGURE(dependency, row->causes[CAUSE_DEPENDENCY])
FIGURE(input, row->causes[CAUSE_INPUT])
FIGURE(order, row->idle_known ? row->idle[IDLE_ORDER] : NAN)
FIGURE(imbalance, row->idle_known ? row->idle[IDLE_IMBALANCE] : NAN)
FIGURE(transfer, row->idle_known ? row->idle[IDLE_TRANSFER] : NAN)
FIGURE(contention, row->idle_known ? row->idle[IDLE_CONTENTION] : NAN)
FIGURE(in_flight, row->peak_in_flight)
FIGURE(memory, KNOWN(row->peak_bytes))
FIGURE(energy, row->energy >= 0 ? row->energy : NAN)
FIGURE(training, KNOWN(row->training_s))
FIGURE(cost, KNOWN(row->training_cost))
#define FORECAST(value) (row->forecast.known && !row->forecast.outcome.stuck ? (value) : NAN)
FIGURE(days, FORECAST(row->forecast.outcome.wall.middle / 86400))
FIGURE(goodput, FORECAST(row->forecast.outcome.steps_share.middle))
FIGURE(price, row->queue.known ? row->queue.cost : FORECAST(KNOWN(row->forecast.cost.middle)))
FIGURE(carbon, row->queue.known ? row->queue.kilograms : NAN)
#define STEP(value) (row->tails.known ? (value) : NAN)
FIGURE(p50, STEP(row->tails.p50.value))
FIGURE(p95, STEP(row->tails.p95.value))
FIGURE(p99, STEP(row->tails.p99.value))
FIGURE(wait, row->queue.known ? row->queue.wait : NAN)
FIGURE(completion, row->queue.known ? row->queue.completion : NAN)
FIGURE(bounded_slowdown, row->queue.known ? row->queue.bounded_slowdown : NAN)
FIGURE(fairness, row->queue.known ? row->queue.fairness : NAN)
FIGURE(makespan, row->queue.known ? row->queue.makespan : NAN)
FIGURE(allocated, row->queue.known ? row->queue.allocated : NAN)
FIGURE(busy, row->queue.known ? row->queue.busy : NAN)
FIGURE(wait_p10, row->queue.known && row->queue.months ? row->queue.wait_low : NAN)
FIGURE(wait_p90, row->queue.known && row->queue.months ? row->queue.wait_high : NAN)
FIGURE(useful_p10, row->queue.known && row->queue.months ? row->queue.useful_low : NAN)
FIGURE(useful_p90, row->queue.known && row->queue.months ? row->queue.useful_high : NAN)
FIGURE(useful, row->queue.known && row->queue.fails ? row->queue.useful : NAN)
FIGURE(loss, row->queue.known ? row->queue.lost : NAN)
FIGURE(fragmentation, row->queue.known ? row->queue.fragmented : NAN)
FIGURE(work, row->idle_nodes.known ? row->idle_nodes.work : NAN)
FIGURE(efficiency, row->idle_nodes.known ? row->idle_nodes.efficiency : NAN)
FIGURE(of_best, row->idle_nodes.known ? row->idle_nodes.attainment : NAN)
FIGURE(used, row->idle_nodes.known ? row->idle_nodes.used : NAN)
FIGURE(rescales, row->idle_nodes.known ? row->idle_nodes.rescales : NAN)
FIGURE(preemptions, row->idle_nodes.known ? row->idle_nodes.preemptions : NAN)

const struct sweep_figure sweep_figures[] = {
    {"iteration_s", "iteration time", CHART_SECONDS, -1, of_iteration},
    {"iteration_low_s", "iteration time, low end of its band", CHART_SECONDS, -1, of_iteration_low},
    {"iteration_high_s", "iteration time, high end of its band", CHART_SECONDS, -1, of_iteration_high},
    {"samples_per_s", "samples per second", CHART_NUMBER, 1, of_samples},
    {"tokens_per_s", "tokens per second", CHART_NUMBER, 1, of_tokens},
    {"mfu", "MFU", CHART_PERCENT, 1, of_mfu},
    {"bubble", "bubble", CHART_PERCENT, -1, of_bubble},
    {"fill", "idle: fill", CHART_PERCENT, -1, of_fill},
    {"drain", "idle: drain", CHART_PERCENT, -1, of_drain},
    {"receive", "idle: receive", CHART_PERCENT, -1, of_receive},
    {"collective", "idle: collective", CHART_PERCENT, -1, of_collective},
    {"dependency", "idle: dependency", CHART_PERCENT, -1, of_dependency},
    {"input", "idle: input", CHART_PERCENT, -1, of_input},
    {"order", "idle because of order", CHART_PERCENT, -1, of_order},
    {"imbalance", "idle because of imbalance", CHART_PERCENT, -1, of_imbalance},
    {"transfer", "idle because of transfer", CHART_PERCENT, -1, of_transfer},
    {"contention", "idle because of contention", CHART_PERCENT, -1, of_contention},
    {"in_flight", "stashed micro-batches at most", CHART_NUMBER, -1, of_in_flight},
    {"memory", "memory of the fullest GPU", CHART_BYTES, -1, of_memory},
    {"memory_low_bytes", "memory, low end of its band", CHART_BYTES, -1, of_memory_low},
    {"memory_high_bytes", "memory, high end of its band", CHART_BYTES, -1, of_memory_high},
    {"fits_share", "such jobs in which it fits", CHART_PERCENT, 1, of_fits_share},
    {"carbon_kg", "kg of CO2 of all jobs of a queue", CHART_NUMBER, -1, of_carbon},
    {"energy_j", "joules per iteration", CHART_NUMBER, -1, of_energy},
    {"training_s", "time of the whole training", CHART_SECONDS, -1, of_training},
    {"training_cost", "price of the whole training", CHART_NUMBER, -1, of_cost},
    {"days", "days of the whole training with failures", CHART_NUMBER, -1, of_days},
    {"goodput", "share of time of steps that count", CHART_PERCENT, 1, of_goodput},
    {"price", "price of the whole training with failures", CHART_NUMBER, -1, of_price},
    {"step_p50_s", "time of a step, p50", CHART_SECONDS, -1, of_p50},
    {"step_p95_s", "time of a step, p95", CHART_SECONDS, -1, of_p95},
    {"step_p99_s", "time of a step, p99", CHART_SECONDS, -1, of_p99},
    {"wait_s", "mean waiting of jobs", CHART_SECONDS, -1, of_wait},
    {"completion_s", "mean completion of jobs", CHART_SECONDS, -1, of_completion},
    {"bounded_slowdown", "mean bounded slowdown of jobs", CHART_NUMBER, -1, of_bounded_slowdown},
    {"fairness", "mean fairness to jobs", CHART_NUMBER, -1, of_fairness},
    {"makespan_s", "makespan of all jobs", CHART_SECONDS, -1, of_makespan},
    {"allocated", "nodes' time given to jobs", CHART_PERCENT, 1, of_allocated},
    {"busy", "nodes' time busy", CHART_PERCENT, 1, of_busy},
    {"useful", "nodes' time in steps that count", CHART_PERCENT, 1, of_useful},
    {"loss_of_capacity", "nodes' time free while jobs wait", CHART_PERCENT, -1, of_loss},
    {"fragmentation", "free nodes' time of no use", CHART_PERCENT, -1, of_fragmentation},
    {"wait_p10_s", "mean waiting of jobs, p10 of months", CHART_SECONDS, -1, of_wait_p10},
    {"wait_p90_s", "mean waiting of jobs, p90 of months", CHART_SECONDS, -1, of_wait_p90},
    {"useful_p10", "nodes' time in steps that count, p10 of months", CHART_PERCENT, 1, of_useful_p10},
    {"useful_p90", "nodes' time in steps that count, p90 of months", CHART_PERCENT, 1, of_useful_p90},
    {"work", "work of jobs on idle nodes", CHART_NUMBER, 1, of_work},
    {"efficiency", "work over that of dedicated nodes", CHART_PERCENT, 1, of_efficiency},
    {"of_best", "work over the most that could be done", CHART_PERCENT, 1, of_of_best},
    {"nodes_used", "idle node time used", CHART_PERCENT, 1, of_used},
    {"rescales", "sizes of jobs changed", CHART_NUMBER, -1, of_rescales},
    {"preemptions", "times that nodes left a job", CHART_NUMBER, -1, of_preemptions},
    {0},
};

const struct sweep_figure *sweep_figure_find(const char *name)
{
    static const char *const short_names[][2] = {{"iteration", "iteration_s"},
                                                 {"time", "iteration_s"},
                                                 {"throughput", "samples_per_s"},
                                                 {"bubble_ratio", "bubble"},
                                                 {"MFU", "mfu"},
                                                 {"peak_bytes", "memory"},
                                                 {"energy", "energy_j"},
                                                 {"cost", "training_cost"},
                                                 {"samples", "samples_per_s"},
                                                 {"tokens", "tokens_per_s"},
                                                 {"peak_in_flight", "in_flight"},
                                                 {"p50", "step_p50_s"},
                                                 {"p95", "step_p95_s"},
                                                 {"p99", "step_p99_s"}};
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (!strcmp(name, short_names[i][0]))
            name = short_names[i][1];
    for (const struct sweep_figure *figure = sweep_figures; figure->name; figure++)
        if (!strcmp(figure->name, name))
            return figure;
    return NULL;
}
