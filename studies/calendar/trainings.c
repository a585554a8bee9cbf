/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/trainings.h"

#include "base/bulk.h"
#include "job/scenario/scenario.h"
#include "training/forecast.h"

#include <stdlib.h>

/* Runs that are noted at a time. */
enum { TRAININGS_BLOCK = 16 };

static void add_numbers(FILE *out, const struct training_job *job, const struct training_plan *plan)
{
    const struct training_traffic *traffic = &job->traffic;
    const double numbers[] = {job->iteration,       job->tokens,        job->per_step, job->state_bytes,
                              traffic->write,       traffic->slowed,    traffic->load, traffic->write_near,
                              traffic->slowed_near, plan->work,         plan->step,    plan->interval,
                              plan->spares,         plan->far_interval, plan->nodes,   plan->replicas};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(out, "%a\n", numbers[i]);
    for (size_t i = 0; i < plan->component_count; i++)
        fprintf(out, "%a\n", plan->components[i].slow);
}

/* Of the scenario, and of what was found out of its job. */
static uint64_t fingerprint(const struct scenario *scenario, const struct training_job *job,
                            const struct training_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    add_numbers(out, job, plan);
    memory_stream_close(out);
    uint64_t sum = journal_fingerprint(blocks_fingerprint(scenario, sizeof(struct training_run)), text, size);
    free(text);
    return sum;
}

/* One training that does not get on takes long, and says it of all. */
static bool simulate(void *user, uint32_t from, uint32_t count, void *items)
{
    struct training_run *runs = items;
    for (uint32_t i = 0; i < count; i++) {
        runs[i] = training_simulate(user, from + i, NULL);
        if (runs[i].stuck)
            return false;
    }
    return true;
}

static bool is_stuck(const void *item)
{
    return ((const struct training_run *)item)->stuck;
}

struct blocks_request trainings_request_of(const struct scenario *scenario, const struct training_job *job,
                                           const struct training_plan *plan)
{
    return (struct blocks_request){.command = "train",
                                   .item = "run",
                                   .items = scenario->training.runs,
                                   .per_block = TRAININGS_BLOCK,
                                   .size = sizeof(struct training_run),
                                   .fill = simulate,
                                   .ends = is_stuck,
                                   .user = (void *)(uintptr_t)plan,
                                   .identity = {.kind = "training",
                                                .title = "stagesim train journal 1\n",
                                                .fingerprint = fingerprint(scenario, job, plan)},
                                   .jobs = 1,
                                   .out = stderr,
                                   .shard = 1,
                                   .shards = 1};
}
