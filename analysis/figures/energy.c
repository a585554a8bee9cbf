/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/energy.h"

#include "analysis/figures/traffic.h"
#include "base/arena.h"
#include "base/sum.h"

#include <math.h>

double energy_of_device(const struct power_state *state, double busy, double seconds)
{
    return state->busy * busy + state->idle * (seconds - busy);
}

double energy_of_links(const struct frame *frame, struct platform *platform, const uint32_t *hosts, double seconds,
                       struct arena *arena)
{
    struct sum joules = {0, 0};
    if (!platform->link_watts)
        return 0;
    const double *bytes = traffic_links(frame, platform, hosts, arena);
    for (uint32_t i = 0; i < platform->link_count; i++) {
        const struct platform_link_watts *watts = &platform->link_watts[i];
        double moving = bytes[i] / platform_link_rate(&platform->links[i]);
        sum_add(&joules, watts->idle * seconds + (watts->busy - watts->idle) * moving);
    }
    return sum_total(&joules);
}

double energy_measured(const struct timeline *timeline)
{
    struct sum joules = {0, 0};
    if (!timeline->joules || timeline->program->iterations != 1)
        return 0;
    for (uint32_t rank = 0; rank < timeline->program->mesh->ranks; rank++)
        sum_add(&joules, timeline->joules[timeline->index_of[rank]]);
    return isfinite(sum_total(&joules)) ? sum_total(&joules) : 0;
}

void energy_carbon(struct power_figures *figures, const struct power_settings *settings, const struct energy_use *use)
{
    double seconds = use->iteration * use->iterations, joules = use->joules * use->iterations;
    if (!settings->carbon_count || !(joules > 0))
        return;
    double grams = power_grams(settings, joules, seconds);
    figures->carbon = grams / 1000;
    figures->carbon_per_token = use->tokens > 0 ? figures->carbon / use->tokens : 0;
    figures->intensity = grams / (joules / 3.6e6 * settings->pue);
}
