/* SPDX-License-Identifier: Apache-2.0 */
/* When steps generate and train, and what GPUs wait for in between. */
#include "cluster/rl/rl.h"

#include <math.h>

static double training_of(const struct rl_phases *p)
{
    return p->old + p->reference + p->scores + p->values + p->training + p->swap;
}

static double end_of(const struct rl_step *steps, int64_t step)
{
    return step < 0 ? 0 : steps[step].trained;
}

/* ---- in turns ---- */

static void take_turns(const struct rl_phases *p, struct rl_figures *f)
{
    double now = 0;
    for (uint32_t i = 0; i < f->step_count; i++) {
        struct rl_step *step = &f->steps[i];
        step->loads = now;
        step->loaded = now += p->transfer + p->move;
        step->generates = now;
        step->generated = now += f->batches[i].seconds;
        now += f->batches[i].reward;
        step->trains = now;
        step->trained = now += training_of(p) + p->overhead;
    }
}

/* ---- beside each other ---- */

/* The batch of a step is generated with the weights of the step `lag` + 1 before it. */
static void generate(const struct rl_phases *p, uint32_t lag, uint32_t i, struct rl_figures *f)
{
    struct rl_step *step = &f->steps[i];
    double free_at = i ? f->steps[i - 1].generated : 0;
    int64_t trained = (int64_t)i - lag - 1;
    step->loads = trained < 0 ? -1 : fmax(free_at, end_of(f->steps, trained));
    step->loaded = step->generates = trained < 0 ? free_at : step->loads + p->transfer;
    step->generated = step->generates + f->batches[i].seconds;
}

/* A trainer sends weights before it goes on, unless engines take them when it is at work again: then they lie ready. */
static void train(const struct rl_phases *p, uint32_t lag, uint32_t i, struct rl_figures *f)
{
    struct rl_step *step = &f->steps[i];
    const struct rl_step *next = i + lag < f->step_count && i ? &f->steps[i + lag] : NULL;
    step->trains = fmax(step->generated + f->batches[i].reward, end_of(f->steps, (int64_t)i - 1));
    if (next && next->loads >= 0 && next->loads <= step->trains)
        step->trains = fmax(step->trains, next->loaded);
    step->trained = step->trains + training_of(p) + p->overhead;
}

static void go_beside(const struct rl_phases *p, uint32_t lag, struct rl_figures *f)
{
    uint32_t generated = 0;
    for (uint32_t i = 0; i < f->step_count; i++) {
        for (; generated <= i + lag && generated < f->step_count; generated++)
            generate(p, lag, generated, f);
        train(p, lag, i, f);
    }
}

/* ---- figures ---- */

static void share_turns(const struct rl_phases *p, double ended, struct rl_figures *f)
{
    struct rl_idle *idle = &f->training;
    idle->busy = (training_of(p) + p->generation - ended - f->idle) / f->step;
    idle->tools = f->idle / f->step;
    idle->engines = ended / f->step;
    idle->transfer = p->transfer / f->step;
    idle->move = p->move / f->step;
    idle->samples = p->reward / f->step;
    idle->overhead = p->overhead / f->step;
    f->generation = *idle;
}

static void share_beside(const struct rl_phases *p, double ended, struct rl_figures *f)
{
    struct rl_idle *g = &f->generation, *t = &f->training;
    /* Unequal steps: their mean may be above the time between those that the step is measured by. */
    double time = fmax(f->step, p->generation + p->transfer);
    g->busy = (p->generation - ended - f->idle) / time;
    g->tools = f->idle / time;
    g->engines = ended / time;
    g->transfer = p->transfer / time;
    t->transfer = p->transfer / f->step;
    g->weights = fmax(0, 1 - g->busy - g->tools - g->engines - g->transfer);
    t->busy = training_of(p) / f->step;
    t->overhead = p->overhead / f->step;
    if (t->busy + t->overhead + t->transfer > 1)
        t->transfer = fmax(0, 1 - t->busy - t->overhead);
    t->samples = fmax(0, 1 - t->busy - t->overhead - t->transfer);
}

/* Versions by which engines are ahead, beside the one that they wait for. */
static uint32_t lag_of(const struct rl_values *values)
{
    return values->arrangement == RL_ASYNC ? (uint32_t)values->staleness : 0;
}

uint32_t rl_steps_least(const struct rl_values *values)
{
    return values->arrangement == RL_COLOCATED ? 1 : 2 * lag_of(values) + 3;
}

void rl_arrange(const struct rl *rl, const struct rl_phases *phases, struct rl_figures *f)
{
    bool turns = rl->values.arrangement == RL_COLOCATED;
    double ended = 0;
    for (uint32_t i = 0; i < f->step_count; i++)
        ended += f->batches[i].engines_ended / f->step_count;
    if (turns) {
        take_turns(phases, f);
        f->step = f->steps[f->step_count - 1].trained / f->step_count;
        share_turns(phases, ended, f);
    } else {
        uint32_t lag = lag_of(&rl->values), first = lag + 1, last = f->step_count - lag - 1;
        go_beside(phases, lag, f);
        f->step = (f->steps[last].trained - f->steps[first].trained) / (last - first);
        share_beside(phases, ended, f);
    }
}
