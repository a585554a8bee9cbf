/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs draw, and how fast they compute under a cap: doc/power.md has the formulas. Watts, seconds, joules. */
#ifndef STAGESIM_POWER_H
#define STAGESIM_POWER_H

#include "base/diagnostics.h"
#include "platforms/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A measured point of a GPU under a cap: the share of the speed that it has without. */
struct power_point {
    double cap, speed;
};

/* Grams of carbon dioxide that a kilowatt hour stands for, from a time on. */
struct power_intensity {
    double time, grams;
};

/* What a scenario says. */
struct power_settings {
    bool given;
    double cap, budget;              /* of each GPU, of all that the job's platform has; 0: as much as they draw */
    double idle, full;               /* of a GPU; negative: those of the platform */
    double alpha;                    /* what is drawn beyond idle watts goes with this power of the clock */
    double compute_bound;            /* share of computing time that goes with the clock; negative: the workload says */
    const struct power_point *table; /* in place of the curve, table_count of them, caps ascending; 0: the curve */
    size_t table_count;
    double pue;                           /* power of the data centre over power of its devices */
    const struct power_intensity *carbon; /* carbon_count of them, times ascending from 0; 0: not asked for */
    size_t carbon_count;
    bool series;         /* `carbon` was not given as one number */
    double carbon_start; /* when the job begins, on the clock of `carbon` */
};

/* One state of a device: what it draws, and at what share of its full clock it computes. */
struct power_state {
    double clock, idle, busy, full; /* busy: at this clock; full: at the full one */
};

/* A job's states. */
struct power_plan {
    const struct power_settings *settings;
    double cap;                 /* of each GPU, with its share of the budget; 0: none */
    double links;               /* what all links draw at most, and GPUs without a rank while idle: budget set aside */
    struct power_state *states; /* [rank] */
    bool capped;                /* a clock is below 1 */
    double least_clock;
    double stretched; /* all times were stretched by this compute-bound share; negative: by operators, or not at all */
};

/* The clock at which a device draws what the cap allows: ((cap - idle) / (full - idle))^(1/alpha), at most 1. Needs cap
 * above idle. */
double power_clock(double idle, double full, double alpha, double cap);
/* What it draws while it computes at a clock: idle + (full - idle) clock^alpha. */
double power_watts(double idle, double full, double alpha, double clock);
/* How many times as long a computation takes at a clock of which that share goes with it. */
double power_stretch(double clock, double compute_bound);
/* The speed at a cap between two points of a table; beyond its ends that of the end. */
double power_table_speed(const struct power_settings *settings, double cap);
/* Whether operators' times follow the clock one by one; otherwise all are stretched alike. */
bool power_by_operator(const struct power_settings *settings);

/* Grams for so many joules drawn evenly over `seconds` from the settings' start on. The series begins again when its
 * last value has held as long as the one before it. */
double power_grams(const struct power_settings *settings, double joules, double seconds);
/* Grams for so many watts between two times on the job's clock, which begins at the settings' start. */
double power_grams_between(const struct power_settings *settings, double watts, double from, double to);

/* The states of the ranks on their hosts; `plan` and its array live in the arena. NULL with the fault filled, and in
 * *key the key of the settings to blame. */
struct power_plan *power_plan_create(const struct power_settings *settings, const struct platform *platform,
                                     const uint32_t *hosts, uint32_t ranks, struct arena *arena, const char **key,
                                     struct fault *fault);

#endif
