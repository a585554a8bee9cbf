/* SPDX-License-Identifier: Apache-2.0 */
#include "training/shares.h"

#include "base/arena.h"
#include "base/numbers/reroute.h"

#include <math.h>
#include <stdlib.h>

static bool drops_nodes(const struct training_plan *plan)
{
    return plan->policy == POLICY_REROUTE || plan->policy == POLICY_TEMPLATES || plan->policy == POLICY_REDUNDANT;
}

uint32_t shares_units(const struct training_plan *plan)
{
    return drops_nodes(plan) ? plan->nodes : plan->replicas;
}

bool shares_go_on(const struct training_plan *plan)
{
    return plan->policy == POLICY_REPLICA || drops_nodes(plan);
}

struct absence {
    const double *back;
    double now;
    const bool *leave;
};

static bool is_there(const struct absence *absence, uint32_t unit)
{
    return absence->back[unit] <= absence->now && !(absence->leave && absence->leave[unit]);
}

/* With the batch kept, micro-batches of replicas that are missing are divided among the others, whole ones. */
static double share_of_replicas(const struct training_plan *plan, uint32_t up)
{
    double m = plan->micro_batches;
    return up == plan->replicas ? 1 : !up ? 0 : m > 0 ? m / ceil(m * plan->replicas / up) : (double)up / plan->replicas;
}

/* ---- micro-batches that go around a dead worker ---- */

static uint32_t first_place(const struct training_plan *plan, uint32_t replica)
{
    return (uint32_t)(((uint64_t)replica * plan->nodes + plan->replicas - 1) / plan->replicas);
}

/* Adds the workers of the node at a place to those of each stage: those that it holds, or the one that it is a part of.
 * Several nodes of one worker stand behind each other: `*last` is the worker that was counted last. */
static void count_workers(const struct training_plan *plan, uint32_t place, uint32_t *counts, uint64_t *last)
{
    uint64_t stages = plan->stages;
    uint32_t replica = (uint32_t)((uint64_t)place * plan->replicas / plan->nodes);
    uint32_t first = first_place(plan, replica), nodes = first_place(plan, replica + 1) - first;
    uint64_t from = (place - first) * stages / nodes, to = (place - first + 1) * stages / nodes;
    for (uint64_t stage = from; stage < to || stage == from; stage++) {
        uint64_t worker = replica * stages + stage + 1;
        counts[stage] += worker != *last;
        *last = worker;
    }
}

/* A stage's workers that are left do the micro-batches of all, whole ones. After S. Gandhi et al., "ReCycle", SOSP 2024
 * (arXiv 2405.14009): backwards are split and the optimizer's steps staggered, so that what is rerouted fills the
 * bubble of 1F1B's m + p - 1 forwards and backwards; what does not fit makes the step longer. Without these two, a step
 * takes as many more as the busiest stage has. */
static double share_rerouted(const struct training_plan *plan, const struct absence *absence)
{
    uint64_t m = plan->micro_batches, n = plan->replicas, all = reroute_beats(m, plan->stages, false);
    double least = 1;
    uint32_t *dead = array_zeroed(plan->stages, sizeof *dead);
    uint64_t last = 0;
    for (uint32_t place = 0; place < plan->nodes; place++)
        if (!is_there(absence, place))
            count_workers(plan, place, dead, &last);
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        uint64_t left = n > dead[stage] ? n - dead[stage] : 0;
        uint64_t rounds = left ? reroute_rounds(m, n, left) : 0,
                 step = reroute_beats(rounds, plan->stages, !plan->bubble_stays);
        least = fmin(least, !left ? 0 : m ? (double)all / (double)(step > all ? step : all) : (double)left / (double)n);
    }
    free(dead);
    return least;
}

/* ---- pipelines that are made anew: after I. Jang et al., "Oobleck", SOSP 2023, and its authors' program ---- */

/* Whether all nodes that have a stage fail at once: nobody has its state any more. Nodes are where they were in the
 * beginning. */
static bool loses_stage(const struct training_plan *plan, const struct absence *absence)
{
    bool lost = false;
    uint32_t *workers = array_zeroed(2 * (size_t)plan->stages, sizeof *workers), *after = workers + plan->stages;
    uint64_t before_last = 0, after_last = 0;
    for (uint32_t place = 0; place < plan->nodes; place++) {
        if (absence->back[place] > absence->now)
            continue;
        count_workers(plan, place, workers, &before_last);
        if (is_there(absence, place))
            count_workers(plan, place, after, &after_last);
    }
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        lost |= workers[stage] > 0 && !after[stage];
    free(workers);
    return lost;
}

/* ---- neighbours that do each other's work: after J. Thorpe et al., "Bamboo", NSDI 2023, and its simulator ---- */

/* Of a micro-batch's time in a worker that of its forward: a backward is two forwards. */
static const double FORWARD = 1.0 / 3;
/* Where the failure of one of so many nodes would be one too many, fewer pipelines are made of the nodes that are left.
 */
static const double AT_RISK = 0.05;

/* Redundant forwards fill the bubble, but for its part before a worker's first own forward. */
double shares_redundancy(const struct training_plan *plan)
{
    double m = plan->micro_batches, fill = plan->stages - 1.0;
    if (plan->policy != POLICY_REDUNDANT || !(fill > 0))
        return 1;
    if (plan->redundancy > 0)
        return plan->redundancy;
    return 1 + fmax(0, m * FORWARD - fill * (1 - FORWARD)) / (m + fill);
}

/* The nodes without a worker's share at its stage and the next one, around the end of the pipeline. */
static bool loses_neighbours(const struct training_plan *plan, const bool *dead)
{
    for (uint32_t replica = 0; replica < plan->replicas; replica++)
        for (uint32_t stage = 0; stage < plan->stages; stage++) {
            const bool *of = &dead[(size_t)replica * plan->stages];
            if (of[stage] && of[(stage + 1) % plan->stages])
                return true;
        }
    return false;
}

/* Once a part of the nodes holds the work of two, pipelines without them are made of the others, which have neighbours
 * again. */
static bool makes_fewer(const struct training_plan *plan, uint32_t gone)
{
    return gone > 0 && 2.0 * gone > AT_RISK * (plan->nodes - gone);
}

/* Marks the workers of nodes that are not there: of those that leave now alone, where pipelines were made without the
 * others. */
static uint32_t mark_dead(const struct training_plan *plan, const struct absence *absence, bool *dead)
{
    uint32_t gone = 0, before = 0;
    uint32_t *stages = array_zeroed(plan->stages, sizeof *stages);
    for (uint32_t place = 0; place < plan->nodes; place++) {
        gone += !is_there(absence, place);
        before += absence->back[place] > absence->now;
    }
    for (uint32_t place = 0; place < plan->nodes; place++) {
        uint64_t last = 0;
        uint32_t replica = (uint32_t)((uint64_t)place * plan->replicas / plan->nodes);
        if (is_there(absence, place) || (absence->back[place] > absence->now && makes_fewer(plan, before)))
            continue;
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            stages[stage] = 0;
        count_workers(plan, place, stages, &last);
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            dead[(size_t)replica * plan->stages + stage] |= stages[stage] > 0;
    }
    free(stages);
    return gone;
}

/* A worker that does two stages' work is the busiest: 2 m + p - 2 forwards and backwards in place of m + p - 1. */
static double share_redundant(const struct training_plan *plan, const struct absence *absence)
{
    double m = plan->micro_batches > 0 ? plan->micro_batches : 1, p = plan->stages;
    bool *dead = array_zeroed((size_t)plan->replicas * plan->stages, sizeof *dead);
    uint32_t gone = mark_dead(plan, absence, dead), nodes = plan->nodes / plan->replicas;
    bool lost = loses_neighbours(plan, dead);
    free(dead);
    if (lost)
        return 0;
    if (makes_fewer(plan, gone))
        return share_of_replicas(plan, (plan->nodes - gone) / (nodes ? nodes : 1));
    return fmin(1, shares_redundancy(plan) * (m + p - 1) / (2 * m + p - 2));
}

/* ---- all ---- */

double shares_left(const struct training_plan *plan, const double *back, double now, const bool *leave)
{
    struct absence absence = {back, now, leave};
    uint32_t units = shares_units(plan), up = 0;
    for (uint32_t unit = 0; unit < units; unit++)
        up += is_there(&absence, unit);
    if (plan->policy == POLICY_REROUTE)
        return up == units ? 1 : share_rerouted(plan, &absence);
    if (plan->policy == POLICY_REDUNDANT)
        return up == units ? 1 : share_redundant(plan, &absence);
    /* Pipelines of the nodes that are left, as fast as their nodes; one at least has to have as many as before. */
    if (plan->policy == POLICY_TEMPLATES)
        return up >= plan->nodes / plan->replicas && !loses_stage(plan, &absence) ? (double)up / plan->nodes : 0;
    return share_of_replicas(plan, up);
}
