/* SPDX-License-Identifier: Apache-2.0 */
/* What a run finds out of its training. */
#include "base/exit_code.h"
#include "studies/calendar/checkpoint_traffic.h"
#include "studies/calendar/goodput.h"
#include "studies/calendar/slow_steps.h"
#include "studies/evaluate.h"
#include "studies/simulation_run.h"

#include <string.h>

/* Whether there is a training for which something else is to be simulated. */
static bool trains(const struct scenario *scenario)
{
    return !scenario->kind && scenario->training.given && goodput_has_length(scenario);
}

bool run_asks_for_traffic(const struct scenario *scenario)
{
    return trains(scenario) && scenario->training.traffic_simulated;
}

static int find_traffic(struct run *run)
{
    struct evaluation evaluation;
    struct evaluation_request request = {.scenario = run->scenario->request};
    double bytes = run->scenario->training.state_bytes;
    if (!(bytes > 0)) {
        if (!evaluate(&request, run->platform, run->arena, &run->diag, &evaluation))
            return EXIT_BAD_INPUT;
        bytes = goodput_job(run->scenario, evaluation.report, run->platform).state_bytes;
    }
    return checkpoint_traffic_find(run->scenario, run->platform, bytes, &run->traffic, &run->diag);
}

int run_find_training(struct run *run)
{
    int code = run_asks_for_traffic(run->scenario) ? find_traffic(run) : EXIT_DONE;
    if (code == EXIT_DONE && trains(run->scenario) && slow_steps_asked(run->scenario))
        code = slow_steps_find(run->scenario, run->platform, run->slow, &run->diag);
    return code;
}

void run_add_training(const struct run *run, struct report *report)
{
    report->training = goodput_job(run->scenario, report, run->platform);
    report->training.traffic = run->traffic;
    memcpy(report->training.slow, run->slow, sizeof run->slow);
    if (!run->request->trains) /* train forecasts by itself */
        goodput_forecast(run->scenario, report);
}
