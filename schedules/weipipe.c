/* SPDX-License-Identifier: Apache-2.0 */
/* WeiPipe: every worker runs whole micro-batches, m on worker m mod D, and the weights of the D stages go around the
 * ring of workers, see plan_weights.h. Messages are as long as the weights, however long the sequences are.
 *
 * Turns t = 0, 1, ..: worker w runs forward number t - w of its own, and backward number t - w - D before it; forwards
 * go through a micro-batch's stages from the first, backwards from the last. So worker w + 1 wants in a turn what w has
 * used in the turn before, and both kinds of weights and the gradients go from a worker to the next. Stage s begins its
 * way to worker 0 in the first turn on worker (D - s) mod D, which therefore owns it; its weights for backwards come by
 * there in turn 2 w - 1, w being the owner. What comes home to the owner has not changed and is not sent. */
#include "schedules/plan/plan_weights.h"
#include "schedules/schedules.h"

enum { OPTION_GRADIENT };
enum { GRADIENT_TURN, GRADIENT_BACKWARD };

static const char *const gradients[] = {"turn", "backward", NULL};
static const struct schedule_option options[] = {
    [OPTION_GRADIENT] = {.key = "gradient",
                         .names = gradients,
                         .doc = "when a gradient is handed on: at the end of the turn, or right after its backward"},
    {0},
};

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t workers = request->workers, rest = request->micro_batches % workers;
    if (!rest)
        return true;
    uint32_t below = request->micro_batches - rest, above = below + workers;
    uint32_t nearest = below && rest <= workers / 2 ? below : above;
    return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "weipipe takes a multiple of the workers, as each runs whole micro-batches, not %u: the "
                           "nearest is %u",
                           request->micro_batches, nearest);
}

static void pass(struct plan *plan, uint32_t worker, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    if (!plan_travels(plan) || micro_batch >= plan->micro_batches || !plan_passes(plan, kind, stage, micro_batch))
        return;
    uint32_t pipeline = plan_runner(plan, micro_batch);
    plan_append(plan, worker, kind, pipeline, stage, micro_batch);
}

/* One turn of a worker. */
static void add_turn(struct plan *plan, uint32_t worker, uint32_t turn, bool late)
{
    uint32_t workers = plan->workers, own = plan->micro_batches;
    int64_t forward = (int64_t)turn - worker, backward = forward - workers;
    bool forwards = forward >= 0 && forward < own, backwards = backward >= 0 && backward < own;
    uint32_t f_stage = (uint32_t)forward % workers, b_stage = workers - 1 - (uint32_t)(backward % workers);
    uint32_t f_batch = (uint32_t)(forward / workers) * workers + worker,
             b_batch = (uint32_t)(backward / workers) * workers + worker;
    if (turn == 0 && worker > 0)
        pass(plan, worker, SLOT_PASS_FORWARD, workers - worker, 0);
    if (worker > 0 && turn + 1 == 2 * worker)
        pass(plan, worker, SLOT_PASS_BACKWARD, workers - worker, 0);
    if (forwards)
        pass(plan, worker, SLOT_PASS_FORWARD, f_stage, f_batch + 1);
    if (backwards) {
        pass(plan, worker, SLOT_PASS_BACKWARD, b_stage, b_batch + 1);
        plan_append(plan, worker, SLOT_BACKWARD, worker, b_stage, b_batch);
        if (!late)
            pass(plan, worker, SLOT_PASS_GRADIENT, b_stage, b_batch);
    }
    if (forwards)
        plan_append(plan, worker, SLOT_FORWARD, worker, f_stage, f_batch);
    if (backwards && late)
        pass(plan, worker, SLOT_PASS_GRADIENT, b_stage, b_batch);
}

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers;
    struct plan *plan = plan_create(workers, workers, workers, request->micro_batches);
    for (uint32_t stage = 0; stage < workers; stage++) {
        if (workers > 1)
            plan_own(plan, stage, (workers - stage) % workers);
        for (uint32_t worker = 0; worker < workers; worker++)
            plan_place(plan, worker, stage, worker);
    }
    for (uint32_t worker = 0; worker < workers; worker++) {
        plan_expect(plan, worker, 5 * (size_t)request->micro_batches);
        for (uint32_t turn = 0; turn < request->micro_batches + 2 * workers; turn++)
            add_turn(plan, worker, turn, request->options[OPTION_GRADIENT] == GRADIENT_TURN);
    }
    return plan;
}

const struct schedule schedule_weipipe = {
    .name = "weipipe",
    .summary = "workers run whole micro-batches, and weights go around them; messages do not grow with the sequence",
    .when = "long sequences over slow links: messages are weights, not activations",
    .source = "Lin et al., WeiPipe: Weight Pipeline Parallelism for Communication-Effective Long-Context Large Model "
              "Training, PPoPP 2025",
    .options = options,
    .stages = stages_one_per_worker,
    .fits = fits,
    .plan = generate,
};
