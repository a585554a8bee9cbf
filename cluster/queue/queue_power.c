/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue_power.h"

#include "base/arena.h"

#include <math.h>

/* A type is evaluated at so many clocks, at equal steps of what they stretch arithmetic to. Between two of them, time
 * and busy time go with the stretch: each operator's do, but where moving bytes begins to set its pace. */
enum { STRETCHES = 16 };

struct drawing {
    struct queue_power power; /* first: what a queue knows of it */
    const struct queue_scenario *queue;
    const struct queue_job *jobs;
    struct throughput *throughput;
    struct throughput_watts watts;
    double *full;        /* [node] */
    bool alike;          /* all nodes draw the same */
    double cap, stretch; /* the last one asked for, and what it comes to */
    double most;         /* the largest stretch */
    struct diag *diag;
};

/* ---- what a cap does ---- */

static double stretch_of(const struct drawing *drawing, double cap)
{
    const struct power_settings *settings = drawing->power.settings;
    const struct throughput_watts *watts = &drawing->watts;
    if (cap <= 0 || cap >= watts->full)
        return 1;
    return 1 / (settings->table_count ? power_table_speed(settings, cap)
                                      : power_clock(watts->idle, watts->full, settings->alpha, cap));
}

/* Jobs ask for the same cap, one after the other. */
static double stretch_at(struct drawing *drawing, double cap)
{
    if (drawing->stretch > 0 && cap == drawing->cap)
        return drawing->stretch;
    drawing->cap = cap;
    return drawing->stretch = stretch_of(drawing, cap);
}

static double sum_of(const struct drawing *drawing, const double *watts, const uint32_t *nodes, uint32_t count)
{
    if (drawing->alike)
        return watts[0] * count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += watts[nodes[i]];
    return sum;
}

/* It computes all the time. */
static struct queue_draw draw_logged(struct drawing *drawing, uint32_t job, const uint32_t *nodes, uint32_t count,
                                     double cap)
{
    const struct power_settings *settings = drawing->power.settings;
    const struct throughput_watts *watts = &drawing->watts;
    double idle = sum_of(drawing, drawing->power.idle, nodes, count),
           full = sum_of(drawing, drawing->full, nodes, count);
    bool capped = cap > 0 && cap < watts->full;
    double part = capped ? (cap - watts->idle) / (watts->full - watts->idle) : 1;
    double bound = settings->compute_bound >= 0 && !settings->table_count ? settings->compute_bound : 1;
    return (struct queue_draw){1 / power_stretch(1 / stretch_at(drawing, cap), bound),
                               idle + drawing->jobs[job].share * (full - idle) * part};
}

/* Seconds of an iteration, and those for which its GPUs compute. */
struct beat {
    double iteration, busy;
};

static struct beat beat_at(const struct drawing *drawing, uint32_t type, const uint32_t *nodes, uint32_t count,
                           double stretch, double idle)
{
    const struct throughput_watts *watts = &drawing->watts;
    struct throughput_figures figures;
    if (!throughput_stretched(drawing->throughput, type, nodes, count, stretch, drawing->diag, &figures))
        return (struct beat){1, 0};
    double busy = power_watts(watts->idle, watts->full, watts->alpha, 1 / stretch) - watts->idle;
    return (struct beat){figures.iteration, (figures.joules - idle * figures.iteration) / busy};
}

static struct queue_draw draw_capped(struct drawing *drawing, uint32_t type, const uint32_t *nodes, uint32_t count,
                                     double cap)
{
    const struct throughput_watts *watts = &drawing->watts;
    double idle = sum_of(drawing, drawing->power.idle, nodes, count), step = (drawing->most - 1) / STRETCHES;
    double place = (stretch_at(drawing, cap) - 1) / step, below = fmin(floor(place), STRETCHES - 1);
    struct beat first = beat_at(drawing, type, nodes, count, 1, idle);
    struct beat low = beat_at(drawing, type, nodes, count, 1 + step * below, idle);
    struct beat high = beat_at(drawing, type, nodes, count, 1 + step * (below + 1), idle);
    double iteration = low.iteration + (high.iteration - low.iteration) * (place - below);
    double busy = low.busy + (high.busy - low.busy) * (place - below);
    return (struct queue_draw){first.iteration / iteration, idle + (cap - watts->idle) * busy / iteration};
}

static struct queue_draw draw(void *user, uint32_t job, const uint32_t *nodes, uint32_t count, double cap)
{
    struct drawing *drawing = user;
    uint32_t type = drawing->queue->type_of[job];
    struct throughput_figures figures;
    if (type == UINT32_MAX)
        return draw_logged(drawing, job, nodes, count, cap);
    if (stretch_at(drawing, cap) > 1)
        return draw_capped(drawing, type, nodes, count, cap);
    if (!throughput_of(drawing->throughput, type, nodes, count, drawing->diag, &figures))
        return (struct queue_draw){1, 0};
    return (struct queue_draw){1, figures.joules / figures.iteration};
}

/* ---- what nodes draw ---- */

static bool is_capped(const struct power_settings *settings)
{
    return settings->cap > 0 || settings->budget > 0;
}

/* Whether all GPUs must draw the same: types are evaluated with watts of the queue. */
static bool needs_alike(const struct power_settings *settings)
{
    return is_capped(settings) || settings->idle >= 0 || settings->full >= 0;
}

/* Watts of a host; false with the mistake reported, where the scenario asks for power. */
static bool host_watts(const struct scenario *scenario, const struct platform_host *host, double *idle, double *full,
                       struct diag *diag)
{
    const struct power_settings *settings = &scenario->power;
    struct place at = scenario_place(scenario, "power");
    *idle = settings->idle >= 0 ? settings->idle : host->idle_watts;
    *full = settings->full >= 0 ? settings->full : host->busy_watts;
    if (!host->has_watts && (settings->idle < 0 || settings->full < 0)) {
        if (settings->given)
            diag_error(diag, at,
                       "the platform gives no watts of the GPU '%.80s'; expected the property wattage_per_state, or "
                       "power.idle and power.full",
                       host->name);
        return false;
    }
    if (*full > *idle)
        return true;
    if (settings->given)
        diag_error(diag, at,
                   "the GPU '%.80s' draws %.10g W when it is idle and %.10g W at full load; expected more there",
                   host->name, *idle, *full);
    return false;
}

static bool sum_nodes(struct drawing *drawing, const struct scenario *scenario, const struct node_layout *layout,
                      double *idle)
{
    for (uint32_t node = 0; node < layout->node_count; node++) {
        for (uint32_t host = layout->first[node]; host < layout->first[node + 1]; host++) {
            double own_idle, own_full;
            if (!host_watts(scenario, &layout->platform->hosts[host], &own_idle, &own_full, drawing->diag))
                return false;
            idle[node] += own_idle;
            drawing->full[node] += own_full;
            if (host == 0) {
                drawing->watts.idle = own_idle;
                drawing->watts.full = own_full;
            } else if (needs_alike(&scenario->power) &&
                       (own_idle != drawing->watts.idle || own_full != drawing->watts.full)) {
                diag_error(drawing->diag, scenario_place(scenario, "power"),
                           "the GPUs '%.80s' and '%.80s' draw different watts, and a cap in a queue is one for all; "
                           "expected power.idle and power.full",
                           layout->platform->hosts[0].name, layout->platform->hosts[host].name);
                return false;
            }
        }
        drawing->power.full_total += drawing->full[node];
        drawing->power.gpu_total += layout->gpus[node];
    }
    return true;
}

/* The least that a GPU has, which is when all have jobs. */
static bool check_least(struct drawing *drawing, const struct scenario *scenario)
{
    const struct power_settings *settings = &scenario->power;
    double share = settings->budget > 0 ? settings->budget / drawing->power.gpu_total : INFINITY;
    double least = settings->cap > 0 ? fmin(settings->cap, share) : share;
    bool shared = settings->budget > 0 && least == share;
    if (!(least > drawing->watts.idle)) {
        diag_error(drawing->diag, scenario_place(scenario, shared ? "power.budget" : "power.cap"),
                   "%s %.10g W to each GPU, which draws %.10g W when it is idle; expected more",
                   shared ? "the budget leaves" : "the cap gives", least, drawing->watts.idle);
        return false;
    }
    drawing->most = stretch_at(drawing, least);
    return true;
}

bool queue_power_create(const struct scenario *scenario, struct throughput *throughput, struct arena *arena,
                        struct diag *diag, const struct queue_power **power)
{
    const struct node_layout *layout = throughput_nodes(throughput);
    const struct power_settings *settings = &scenario->power;
    struct drawing *drawing = arena_alloc(arena, sizeof *drawing);
    double *idle = arena_array(arena, (size_t)layout->node_count + 1, sizeof *idle);
    *power = NULL;
    *drawing = (struct drawing){.power = {.idle = idle,
                                          .gpus = layout->gpus,
                                          .cap = settings->cap,
                                          .budget = settings->budget,
                                          .settings = settings},
                                .queue = scenario->whole,
                                .throughput = throughput,
                                .full = arena_array(arena, (size_t)layout->node_count + 1, sizeof *drawing->full),
                                .diag = diag};
    drawing->power.draw = draw;
    drawing->power.user = drawing;
    if (!sum_nodes(drawing, scenario, layout, idle))
        return !settings->given;
    drawing->power.gpu_idle = drawing->watts.idle;
    drawing->power.gpu_full = drawing->watts.full;
    drawing->alike = true;
    for (uint32_t node = 1; node < layout->node_count; node++)
        drawing->alike &= idle[node] == idle[0] && drawing->full[node] == drawing->full[0];
    drawing->watts.alpha = settings->alpha;
    drawing->watts.compute_bound = settings->table_count ? 1 : settings->compute_bound;
    if (is_capped(settings) && !check_least(drawing, scenario))
        return false;
    drawing->watts.same = needs_alike(settings);
    throughput_set_watts(throughput, &drawing->watts);
    *power = &drawing->power;
    return true;
}

struct queue_clock queue_power_clock(const struct queue_power *power, double cap)
{
    struct drawing *drawing = power ? power->user : NULL;
    if (!drawing || !is_capped(power->settings))
        return (struct queue_clock){1, 1};
    return (struct queue_clock){stretch_at(drawing, cap), drawing->most};
}

void queue_power_take_jobs(const struct queue_power *power, const struct queue_job *jobs)
{
    if (power)
        ((struct drawing *)power->user)->jobs = jobs;
}
