/* SPDX-License-Identifier: Apache-2.0 */
/* Choices without a search: what schedulers do that do not optimise. */
#include "cluster/idle/choice.h"

#include <string.h>

/* Fills up the jobs in their order, as far as they can take nodes. */
static void fill_up(const struct choice *choice, uint32_t left)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_job *job = &choice->jobs[i];
        uint32_t size = choice->sizes[i] + left < job->most ? choice->sizes[i] + left : job->most;
        if (size < job->least)
            continue;
        left -= size - choice->sizes[i];
        choice->sizes[i] = size;
    }
}

static void choose_first(const struct choice *choice, struct arena *arena)
{
    (void)arena;
    memset(choice->sizes, 0, choice->count * sizeof *choice->sizes);
    fill_up(choice, choice->nodes);
}

static void choose_equal(const struct choice *choice, struct arena *arena)
{
    (void)arena;
    uint32_t left = choice->nodes;
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_job *job = &choice->jobs[i];
        uint32_t share = choice->nodes / (uint32_t)choice->count;
        choice->sizes[i] = share < job->least ? 0 : share < job->most ? share : job->most;
        left -= choice->sizes[i];
    }
    fill_up(choice, left);
}

/* A job's larger size with which each further node gains most. */
struct step {
    size_t job;
    uint32_t size;
    double gain; /* a node */
};

static void find_step(const struct choice *choice, size_t i, uint32_t left, struct step *best)
{
    const struct choice_job *job = &choice->jobs[i];
    uint32_t size = choice->sizes[i];
    double now = choice_value(choice, job, size);
    for (uint32_t up = size < job->least ? job->least : size + 1; up <= job->most && up - size <= left; up++) {
        double gain = (choice_value(choice, job, up) - now) / (up - size);
        if (gain > best->gain)
            *best = (struct step){i, up, gain};
    }
}

static void choose_greedy(const struct choice *choice, struct arena *arena)
{
    (void)arena;
    uint32_t left = choice->nodes;
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_job *job = &choice->jobs[i];
        uint32_t kept = job->now < left ? job->now : left;
        choice->sizes[i] = kept < job->least ? 0 : kept;
        left -= choice->sizes[i];
    }
    for (;;) {
        struct step step = {choice->count, 0, 0};
        for (size_t i = 0; i < choice->count; i++)
            find_step(choice, i, left, &step);
        if (step.job == choice->count)
            return;
        left -= step.size - choice->sizes[step.job];
        choice->sizes[step.job] = step.size;
    }
}

const struct chooser chooser_first = {
    .name = "first",
    .summary = "each job in the order of arrival gets as many nodes as it can take",
    .choose = choose_first,
};

const struct chooser chooser_equal = {
    .name = "equal",
    .summary = "each job gets the same number, what is left goes to the first ones",
    .choose = choose_equal,
};

const struct chooser chooser_greedy = {
    .name = "greedy",
    .summary = "jobs keep what they have; free nodes go where each of them gains most",
    .forward = true,
    .choose = choose_greedy,
};
