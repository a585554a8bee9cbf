/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B with vocabulary parallelism: every worker has a share of the output layer. S computes it, once the last stage's
 * forward of the micro-batch is done; T is what is left of its backward, once all workers' S are done. A worker runs T
 * of a micro-batch just before S of the next one, and this pair once for each forward and backward: behind the
 * backward, or behind the forward where it would come too early for the workers before. */
#include "base/arena.h"
#include "schedules/kit/generate.h"
#include "schedules/ratio.h"
#include "schedules/schedules.h"

#include <stdlib.h>

enum { OPTION_BARRIERS, OPTION_OUTPUT };

static const struct schedule_option options[] = {
    [OPTION_BARRIERS] = {.key = "barriers",
                         .initial = 1,
                         .least = 1,
                         .most = 2,
                         .doc = "collectives of all workers between the last stage's forward and its backward: with 1, "
                                "S computes the gradient of its input, too; with 2, T does"},
    [OPTION_OUTPUT] = {.key = "output",
                       .initial = 25,
                       .least = 1,
                       .most = 100000,
                       .doc = "forward of the output layer on one worker, in percent of a forward of its stage"},
    {0},
};

/* A worker's place in the pattern that repeats every micro-batch. */
struct turn {
    bool behind_forward; /* its T and S come behind the forward, not behind the backward */
    uint32_t early;      /* so many T and S come before its first backward, besides the first ones */
};

/* From the last worker back, a worker is earlier by a forward each, until it would be earlier by more than a backward.
 */
static struct turn *find_turns(const struct schedule_request *request)
{
    uint32_t workers = request->workers;
    struct time_ratio times = time_ratio_of(request, (struct time_ratio){.forward = 1, .backward = 2});
    int64_t forward = (int64_t)times.forward, backward = (int64_t)times.backward, offset = 0;
    struct turn *turns = array_zeroed(workers, sizeof *turns);
    backward = backward > forward ? backward : forward;
    for (uint32_t worker = workers - 1; worker-- > 0;) {
        if (turns[worker + 1].behind_forward) {
            offset += backward - forward;
        } else if (offset - forward >= -backward) {
            offset -= forward;
        } else {
            turns[worker].behind_forward = true;
        }
        bool later = turns[worker + 1].behind_forward && !turns[worker].behind_forward;
        turns[worker].early = turns[worker + 1].early + !later;
    }
    return turns;
}

/* A worker's order as it is written. */
struct writing {
    struct plan *plan;
    uint32_t worker, forwards, backwards, passes; /* that are there */
};

static void add_forwards(struct writing *writing, uint32_t count)
{
    for (; count > 0 && writing->forwards < writing->plan->micro_batches; count--)
        plan_append(writing->plan, writing->worker, SLOT_FORWARD, 0, writing->worker, writing->forwards++);
}

/* T of a micro-batch and S of the next one, as far as there are such; the last T only where it is `wanted`. */
static void add_pass(struct writing *writing, bool wanted)
{
    struct plan *plan = writing->plan;
    uint32_t next = writing->passes;
    if (next + !wanted > plan->micro_batches)
        return;
    if (next > 0)
        plan_append(plan, writing->worker, SLOT_OUTPUT_GRADIENT, 0, writing->worker, next - 1);
    if (next < plan->micro_batches)
        plan_append(plan, writing->worker, SLOT_OUTPUT, 0, writing->worker, next);
    writing->passes++;
}

static void order(struct plan *plan, uint32_t worker, struct turn turn)
{
    bool late = plan->barriers == 2; /* the backward waits for T */
    struct writing writing = {plan, worker, 0, 0, 0};
    plan_expect(plan, worker, 4 * (size_t)plan->micro_batches);
    add_forwards(&writing, plan->workers - worker);
    for (uint32_t i = 0; i < plan->barriers; i++) {
        add_pass(&writing, late);
        add_forwards(&writing, 1);
    }
    for (uint32_t i = 0; i < turn.early; i++)
        add_pass(&writing, late);
    while (writing.backwards < plan->micro_batches) {
        plan_append(plan, worker, SLOT_BACKWARD, 0, worker, writing.backwards++);
        if (!turn.behind_forward)
            add_pass(&writing, late);
        add_forwards(&writing, 1);
        if (turn.behind_forward)
            add_pass(&writing, late);
    }
    while (writing.passes <= plan->micro_batches)
        add_pass(&writing, true);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    struct turn *turns = find_turns(request);
    plan->barriers = (uint32_t)request->options[OPTION_BARRIERS];
    plan->output = (double)request->options[OPTION_OUTPUT] / 100;
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker, turns[worker]);
    free(turns);
    return plan;
}

const struct schedule schedule_vocab_1f1b = {
    .name = "vocab-1f1b",
    .summary = "1f1b whose workers share the output layer, in passes between collectives of all of them",
    .when = "large vocabularies: no last stage that does more than the others",
    .source = "Yeung et al., Balancing Pipeline Parallelism with Vocabulary Parallelism, MLSys 2025, arXiv 2411.05288",
    .timed = true,
    .shares_output = true,
    .options = options,
    .stages = stages_one_per_worker,
    .plan = generate,
};
