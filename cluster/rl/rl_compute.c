/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of all steps, and when they are. */
#include "base/arena.h"
#include "cluster/rl/rl.h"

static void generate_all(const struct rl *rl, struct generation_engine *engine, struct rl_figures *f,
                         struct rl_phases *p, struct arena *arena)
{
    struct rl_generation steady = {0};
    if (rl->values.partial)
        steady = rl_stream(rl, engine);
    f->step_count = (uint32_t)rl->values.steps;
    f->batches = arena_array(arena, f->step_count, sizeof *f->batches);
    f->steps = arena_array(arena, f->step_count, sizeof *f->steps);
    for (uint32_t i = 0; i < f->step_count; i++) {
        struct rl_generation *batch = &f->batches[i];
        *batch = rl_generate(rl, engine, i, arena);
        if (rl->values.partial) {
            batch->seconds = steady.seconds;
            batch->batch = steady.batch;
            batch->preempted = steady.preempted;
            batch->forgotten = steady.forgotten;
            batch->idle = steady.idle;
            batch->tail = batch->engines_ended = batch->reward = 0;
        }
        p->generation += batch->seconds / f->step_count;
        p->reward += batch->reward / f->step_count;
        f->tail += batch->tail / f->step_count;
        f->batch += batch->batch / f->step_count;
        f->preempted += batch->preempted / f->step_count;
        f->tokens += batch->tokens / f->step_count;
        f->idle += batch->idle / f->step_count;
        f->tools += batch->tools / f->step_count;
        f->answers += batch->answers / f->step_count;
        f->forgotten += batch->forgotten / f->step_count;
    }
    f->tail /= p->generation;
}

/* Seconds in which one process gathers all samples and hands them out to each phase of the trainer: six arrays of 8
 * bytes a token (tokens, prompts, answers, positions and two masks), padded to the same length. */
static double handed_out(const struct rl_values *v)
{
    static const double token = 48;
    double phases = 1.0 + v->old_log_probabilities + v->reference + v->reward_model + 2 * v->critic;
    double samples = (double)v->samples * (rl_prompts(v) + phases * (double)v->prompts);
    return samples * (double)v->padded * token / v->padded_rate;
}

static void set_phases(const struct rl *rl, const struct rl_trainer *trainer, struct platform *platform,
                       struct rl_figures *f, struct rl_phases *p, struct arena *arena)
{
    const struct rl_values *v = &rl->values;
    double updates = (double)(v->prompts * v->samples) / (double)v->mini_batch, models = v->critic ? 2 : 1;
    updates *= v->trainer_time;
    double forward = updates * trainer->forward;
    p->old = v->old_log_probabilities ? forward : 0;
    p->reference = v->reference ? forward : 0;
    p->scores = v->reward_model ? forward : 0;
    p->values = v->critic ? forward : 0;
    p->training = updates * trainer->update * models;
    p->overhead = v->overhead + handed_out(v);
    double others = (v->reference + v->reward_model) * trainer->weights + 2 * v->critic * trainer->states;
    p->swap = v->models == RL_HOST ? others / v->host_rate : 0;
    rl_transfer_bytes(rl, &f->transfer_bytes, &f->transfer_most, arena);
    p->transfer = rl_transfer_seconds(rl, platform, f->transfer_most, arena);
    if (v->arrangement == RL_COLOCATED && v->offload)
        p->move = 2 * trainer->states / v->host_rate;
}

void rl_compute(const struct rl *rl, const struct rl_trainer *trainer, struct platform *platform,
                struct generation_engine *engine, struct rl_figures *f, struct arena *arena)
{
    generate_all(rl, engine, f, &f->phases, arena);
    set_phases(rl, trainer, platform, f, &f->phases, arena);
    rl_arrange(rl, &f->phases, f);
}
