/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/sum.h"
#include "cluster/scheduling/figures.h"

#include <math.h>
#include <string.h>

static const double JOULES_PER_KILOWATT_HOUR = 3.6e6;

/* Takes what a node draws idle, for a time, off what all of them draw. */
struct idling {
    const struct power_settings *settings;
    struct sum joules, grams;
};

static void take(struct idling *idling, double watts, double from, double to)
{
    sum_add(&idling->joules, -watts * (to - from));
    if (idling->settings->carbon_count)
        sum_add(&idling->grams, -power_grams_between(idling->settings, watts, from, to));
}

static void find_free(const struct queue_run *run, double makespan, struct queue_energy *energy)
{
    const struct queue_request *request = run->request;
    const struct queue_power *power = request->power;
    struct idling idling = {.settings = power->settings};
    double all = 0, begin = request->jobs[0].submit;
    for (uint32_t node = 0; node < request->nodes; node++)
        all += power->idle[node];
    take(&idling, -all, begin, begin + makespan);
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        double watts = 0;
        for (uint32_t k = 0; k < span->count; k++)
            watts += power->idle[span->nodes[k]];
        take(&idling, watts, span->from, span->to);
    }
    for (size_t i = 0; i < run->away_count; i++)
        take(&idling, power->idle[run->away[i].node], run->away[i].from, run->away[i].to);
    energy->free_joules = fmax(0, sum_total(&idling.joules));
    energy->free_grams = fmax(0, sum_total(&idling.grams));
}

static void find_costs(const struct queue_run *run, double makespan, struct arena *arena, struct queue_energy *energy)
{
    const struct queue_request *request = run->request;
    double hours = makespan / 3600, gpus = 0;
    double kilowatt_hour = energy->known ? request->kilowatt_hour * request->power->settings->pue : 0;
    energy->costs = arena_array(arena, (size_t)request->job_count + 1, sizeof *energy->costs);
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        double had = 0;
        for (uint32_t k = 0; k < span->count; k++)
            had += request->gpus[span->nodes[k]];
        energy->costs[span->job] += request->gpu_hour * had * (span->to - span->from) / 3600;
    }
    for (uint32_t job = 0; job < request->job_count; job++)
        energy->costs[job] += kilowatt_hour * run->records[job].joules / JOULES_PER_KILOWATT_HOUR;
    for (uint32_t node = 0; node < request->nodes; node++)
        gpus += request->gpus[node];
    energy->cost = request->gpu_hour * gpus * hours + kilowatt_hour * energy->joules / JOULES_PER_KILOWATT_HOUR;
}

void queue_energy(const struct queue_run *run, double makespan, struct arena *arena, struct queue_energy *energy)
{
    const struct queue_request *request = run->request;
    struct sum joules = {0}, grams = {0};
    memset(energy, 0, sizeof *energy);
    energy->known = request->power != NULL;
    energy->carbon = energy->known && request->power->settings->carbon_count > 0;
    energy->priced = request->gpu_hour > 0 || (energy->known && request->kilowatt_hour > 0);
    if (energy->known)
        find_free(run, makespan, energy);
    for (uint32_t job = 0; job < request->job_count; job++) {
        sum_add(&joules, run->records[job].joules);
        sum_add(&grams, run->records[job].grams);
    }
    energy->joules = sum_total(&joules) + energy->free_joules;
    energy->grams = sum_total(&grams) + energy->free_grams;
    if (energy->priced)
        find_costs(run, makespan, arena, energy);
}
