/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of a job, and carbon: joules by states and times, see doc/definitions.md. */
#ifndef STAGESIM_ENERGY_H
#define STAGESIM_ENERGY_H

#include "analysis/figures/frame.h"
#include "platforms/platform.h"
#include "platforms/power/power.h"

#include <stdint.h>

struct arena;

/* What a report says of power where the scenario does. Watts, joules, kilograms; 0: does not apply, not known. */
struct power_figures {
    double cap, budget;   /* of each GPU, with its share of the budget; of all */
    double clock;         /* the least of the ranks'; 0: the scenario says nothing of power */
    double compute_bound; /* by which all times were stretched; negative: they were not, or operator by operator */
    double peak;          /* of the ranks' hosts, if all compute at once */
    double measured;      /* joules of the ranks' hosts in the iteration, by SimGrid's plug-in; 0: were not measured */
    bool table;           /* the speed is that of a table; otherwise the curve's, which is an assumption */
    double pue;
    double carbon;           /* of the whole training, or of the iterations where nothing says how long it is */
    double carbon_per_token; /* that over the tokens */
    double intensity;        /* grams for a kilowatt hour, the mean over that time */
};

/* Joules of a device that computes for `busy` of `seconds`. */
double energy_of_device(const struct power_state *state, double busy, double seconds);
/* Joules of all links in `seconds`, in which each carries what the frame's iteration moves over it. */
double energy_of_links(const struct frame *frame, struct platform *platform, const uint32_t *hosts, double seconds,
                       struct arena *arena);
/* What the plug-in has measured, of all ranks; 0: it has not, or of more than one iteration. */
double energy_measured(const struct timeline *timeline);

/* A job for the carbon: joules of an iteration of `iteration` seconds, so many iterations, its tokens. */
struct energy_use {
    double joules, iteration, iterations, tokens;
};
/* Fills what carbon there is. */
void energy_carbon(struct power_figures *figures, const struct power_settings *settings, const struct energy_use *use);

#endif
