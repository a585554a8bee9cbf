/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a step: how long they are, and the tools that they call in between. */
#include "base/arena.h"
#include "cluster/rl/rl.h"

#include <math.h>

enum { PURPOSE_TOOLS = 7202 };

uint32_t rl_prompts(const struct rl_values *values)
{
    return (uint32_t)ceil((double)values->prompts / values->kept - 1e-9);
}

bool rl_calls_tools(const struct rl_values *values)
{
    const struct distribution *turns = &values->turns->distribution;
    return turns->kind != DISTRIBUTION_FIXED || turns->a > 1;
}

static double whole(const struct fields_distribution *values, double least, struct draws *draws)
{
    return fmax(least, floor(distribution_draw(&values->distribution, draws) + 0.5));
}

/* What a sample draws does not depend on the others. */
static struct draws draws_of_sample(const struct rl_values *v, uint32_t step, uint32_t i)
{
    return draws_of(v->seed, PURPOSE_TOOLS, (uint64_t)step << 32 | i);
}

/* Tools that a sample calls: each of its turns has a token. */
static uint32_t calls_of(const struct rl_values *v, double output, struct draws *draws)
{
    return (uint32_t)(fmin(output, whole(v->turns, 1, draws)) - 1);
}

/* The output is in equal parts, a tool behind each of them but the last. */
static void draw_pauses(const struct rl_values *v, uint32_t step, struct rl_samples *samples, struct arena *arena)
{
    samples->begins = arena_array(arena, samples->count + 1, sizeof *samples->begins);
    samples->begins[0] = 0;
    for (uint32_t i = 0; i < samples->count; i++) {
        struct draws draws = draws_of_sample(v, step, i);
        samples->begins[i + 1] = samples->begins[i] + calls_of(v, samples->outputs[i], &draws);
    }
    samples->pauses = arena_array(arena, samples->begins[samples->count], sizeof *samples->pauses);
    for (uint32_t i = 0; i < samples->count; i++) {
        struct draws draws = draws_of_sample(v, step, i);
        uint32_t calls = calls_of(v, samples->outputs[i], &draws);
        for (uint32_t k = 0; k < calls; k++) {
            struct batching_pause *pause = &samples->pauses[samples->begins[i] + k];
            pause->behind = floor((k + 1) * samples->outputs[i] / (calls + 1));
            pause->seconds = distribution_draw(&v->tool->distribution, &draws);
            pause->answer = whole(v->tool_tokens, 0, &draws);
        }
    }
}

struct rl_samples rl_samples_draw(const struct rl_values *v, uint32_t step, struct arena *arena)
{
    uint32_t prompts = rl_prompts(v), each = (uint32_t)v->samples;
    struct rl_samples samples = {.count = prompts * each, .each = each};
    uint64_t seed = v->seed + 2 * (uint64_t)step;
    samples.prompts = arena_array(arena, prompts, sizeof *samples.prompts);
    samples.outputs = arena_array(arena, samples.count, sizeof *samples.outputs);
    struct lengths_request of_prompts = {&v->prompt->distribution, 0, prompts, 1, 0, seed + 1};
    struct lengths_request of_samples = {
        &v->output->distribution, (double)v->most, prompts, each, v->correlation, seed};
    lengths_draw(&of_prompts, samples.prompts);
    lengths_draw(&of_samples, samples.outputs);
    if (rl_calls_tools(v))
        draw_pauses(v, step, &samples, arena);
    return samples;
}

struct batching_request rl_sample(const struct rl_samples *samples, uint32_t i, uint32_t group)
{
    struct batching_request request = {.prompt = samples->prompts[i / samples->each],
                                       .output = samples->outputs[i],
                                       .group = group + i / samples->each};
    if (samples->pauses) {
        request.pauses = &samples->pauses[samples->begins[i]];
        request.pause_count = samples->begins[i + 1] - samples->begins[i];
    }
    return request;
}
