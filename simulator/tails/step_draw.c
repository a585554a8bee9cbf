/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_draw.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a stream of random numbers is for. */
enum purpose {
    PURPOSE_STEP = 1,
    PURPOSE_DEVICE,
    PURPOSE_NODE,
    PURPOSE_WORKER,
    PURPOSE_MICRO_BATCH,
    PURPOSE_OPERATION,
    PURPOSE_TRANSFER,
    PURPOSE_LINK,
    PURPOSE_PAUSE,
    PURPOSE_RECORDED_REPLICA,
    PURPOSE_RECORD,
    PURPOSE_KERNELS /* and the number of the class */
};

/* Of the workers, those that are slowest and that CHANGE_SLOWEST makes as fast as others. */
static const double SLOWEST = 0.03;

struct step_draw *step_draw_create(const struct step_model *model, struct arena *arena)
{
    const struct tails_settings *settings = model->settings;
    struct step_draw *draw = arena_alloc(arena, sizeof *draw);
    size_t batches = (size_t)model->replicas * model->micro_batches + 1;
    *draw = (struct step_draw){.model = model};
    draw->ranks = arena_array(arena, (size_t)model->ranks * STEP_LANES, sizeof *draw->ranks);
    draw->batches = arena_array(arena, batches * STEP_LANES, sizeof *draw->batches);
    draw->pauses_at = arena_array(arena, (size_t)model->ranks * STEP_LANES, sizeof *draw->pauses_at);
    draw->pauses = arena_array(arena, (size_t)model->ranks * STEP_LANES, sizeof *draw->pauses);
    if (settings->link) {
        draw->links = arena_array(arena, (size_t)model->nodes * STEP_LANES, sizeof *draw->links);
        draw->meetings = arena_array(arena, ((size_t)model->net->meetings + 1) * STEP_LANES, sizeof *draw->meetings);
    }
    if (settings->trace) {
        draw->picked = arena_array(arena, batches * STEP_LANES, sizeof *draw->picked);
        draw->means = arena_array(arena, 2 * (size_t)settings->trace->stages * STEP_LANES, sizeof *draw->means);
    }
    return draw;
}

static double draw_one(const struct distribution *distribution, uint64_t seed, enum purpose purpose, uint64_t entity)
{
    struct draws draws = draws_of(seed, purpose, entity);
    return distribution ? distribution_draw(distribution, &draws) : 1;
}

/* ---- ranks ---- */

static void draw_ranks(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    const struct tails_settings *settings = model->settings;
    const struct mesh *mesh = model->net->program->mesh;
    uint64_t seed = draw->seeds[lane];
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        uint64_t worker = (uint64_t)mesh->position_of[rank] << 32 | model->worker_of[rank] % model->replicas;
        draw->ranks[rank * (size_t)STEP_LANES + (size_t)lane] =
            draw_one(settings->device, seed, PURPOSE_DEVICE, model->hosts[rank]) *
            draw_one(settings->node, seed, PURPOSE_NODE, model->first_hosts[model->node_of[rank]]) *
            draw_one(settings->worker, seed, PURPOSE_WORKER, worker);
    }
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A worker is as slow as its slowest rank; ranks of the slowest ones become like the middle one of all. */
static void mend_slowest(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    uint32_t workers = model->workers * model->replicas, kept = workers - (uint32_t)ceil(SLOWEST * workers);
    double *slowness = array_zeroed(2 * (size_t)workers, sizeof *slowness), *sorted = slowness + workers;
    double *all = array_zeroed(model->ranks, sizeof *all);
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        double *own = &slowness[model->worker_of[rank]];
        all[rank] = draw->ranks[rank * (size_t)STEP_LANES + (size_t)lane];
        *own = fmax(*own, all[rank]);
    }
    memcpy(sorted, slowness, workers * sizeof *sorted);
    qsort(sorted, workers, sizeof *sorted, by_value);
    qsort(all, model->ranks, sizeof *all, by_value);
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        double *own = &draw->ranks[rank * (size_t)STEP_LANES + (size_t)lane];
        if (slowness[model->worker_of[rank]] >= sorted[kept < workers ? kept : workers - 1])
            *own = fmin(*own, all[model->ranks / 2]);
    }
    free(slowness);
    free(all);
}

/* ---- micro-batches ---- */

static void draw_batches(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    const struct distribution *distribution = model->settings->micro_batch;
    size_t count = (size_t)model->replicas * model->micro_batches;
    double sum = 0;
    for (uint32_t replica = 0, i = 0; replica < model->replicas; replica++)
        for (uint32_t batch = 0; batch < model->micro_batches; batch++, i++)
            sum += draw->batches[i * (size_t)STEP_LANES + (size_t)lane] =
                draw_one(distribution, draw->seeds[lane], PURPOSE_MICRO_BATCH, (uint64_t)replica << 32 | batch);
    for (size_t i = 0; i < count && draw->balanced; i++)
        draw->batches[i * STEP_LANES + (size_t)lane] = sum / (double)count;
}

/* A replica is one that was recorded, its own where there are as many; each of its micro-batches is one of that one's.
 */
static void pick_records(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    const struct tails_trace *trace = model->settings->trace;
    for (uint32_t replica = 0, i = 0; replica < model->replicas; replica++) {
        struct draws which = draws_of(draw->seeds[lane], PURPOSE_RECORDED_REPLICA, replica);
        uint32_t of = trace->replicas == model->replicas ? replica : (uint32_t)draw_below(&which, trace->replicas);
        for (uint32_t batch = 0; batch < model->micro_batches; batch++, i++) {
            struct draws draws = draws_of(draw->seeds[lane], PURPOSE_RECORD, (uint64_t)replica << 32 | batch);
            draw->picked[i * (size_t)STEP_LANES + (size_t)lane] =
                (uint32_t)(trace->first[of] + draw_below(&draws, trace->first[of + 1] - trace->first[of]));
        }
    }
}

static double recorded(const struct tails_record *record, uint32_t stage, int direction)
{
    return direction ? record->backward[stage] : record->forward[stage];
}

static void average_records(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    const struct tails_trace *trace = model->settings->trace;
    size_t count = (size_t)model->replicas * model->micro_batches;
    for (uint32_t place = 0; place < 2 * trace->stages; place++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += recorded(&trace->records[draw->picked[i * STEP_LANES + (size_t)lane]], place / 2, place % 2);
        draw->means[place * (size_t)STEP_LANES + (size_t)lane] = sum / (double)count;
    }
}

/* ---- links ---- */

static void draw_links(struct step_draw *draw, int lane)
{
    const struct step_model *model = draw->model;
    const struct step_net *net = model->net;
    for (uint32_t node = 0; node < model->nodes; node++)
        draw->links[node * (size_t)STEP_LANES + (size_t)lane] =
            draw_one(model->settings->link, draw->seeds[lane], PURPOSE_LINK, model->first_hosts[node]);
    for (uint32_t meeting = 0; meeting < net->meetings; meeting++) {
        double most = model->crosses[meeting] ? 0 : 1;
        for (uint32_t i = net->first_member[meeting]; i < net->first_member[meeting + 1] && model->crosses[meeting];
             i++)
            most = fmax(most, draw->links[model->node_of[net->members[i]] * (size_t)STEP_LANES + (size_t)lane]);
        draw->meetings[meeting * (size_t)STEP_LANES + (size_t)lane] = most;
    }
}

/* ---- pauses ---- */

/* Each rank by its own clock in front of any of its forwards; together: all in front of the first, in the same steps.
 */
static void draw_pauses(struct step_draw *draw, int lane, bool together)
{
    const struct step_model *model = draw->model;
    const struct tails_settings *settings = model->settings;
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        size_t place = rank * (size_t)STEP_LANES + (size_t)lane;
        uint32_t first = model->first_forward[rank], count = model->first_forward[rank + 1] - first;
        struct draws draws = draws_of(draw->seeds[lane], PURPOSE_PAUSE, together ? UINT64_MAX : model->hosts[rank]);
        draw->pauses_at[place] = STEP_NONE;
        if (!settings->pause || !count || draw_unit(&draws) >= 1 / settings->pause_every)
            continue;
        draw->pauses_at[place] = model->forwards[first + (together ? 0 : (uint32_t)draw_below(&draws, count))];
        draw->pauses[place] = distribution_draw(settings->pause, &draws);
    }
}

/* ---- all ---- */

void step_draw_begin(struct step_draw *draw, uint64_t first, enum tails_change change)
{
    const struct tails_settings *settings = draw->model->settings;
    draw->balanced = change == CHANGE_BALANCED;
    draw->even = change == CHANGE_EVEN;
    draw->last = change == CHANGE_LAST;
    for (int lane = 0; lane < STEP_LANES; lane++) {
        struct draws draws = draws_of(settings->seed, PURPOSE_STEP, first + (uint64_t)lane);
        draw->seeds[lane] = draw_bits(&draws);
        draw_ranks(draw, lane);
        if (change == CHANGE_SLOWEST)
            mend_slowest(draw, lane);
        draw_batches(draw, lane);
        draw_pauses(draw, lane, change == CHANGE_TOGETHER);
        if (settings->link)
            draw_links(draw, lane);
        if (settings->trace)
            pick_records(draw, lane);
        if (settings->trace && draw->balanced)
            average_records(draw, lane);
    }
}

/* ---- how long a node takes ---- */

static const struct quick_draw *own_draw(const struct step_model *model, const struct step_task *task)
{
    return task->kind == STAGESIM_FORWARD     ? &model->forward
           : task->kind == STAGESIM_BACKWARD  ? &model->backward
           : task->kind == STAGESIM_WEIGHT    ? &model->weight
           : task->kind == STAGESIM_OPTIMIZER ? &model->optimizer
                                              : &model->operation;
}

/* A fixed key: the host and the operation's number at its position. */
static void multiply(const struct step_draw *draw, const struct quick_draw *quick, enum purpose purpose,
                     const struct step_task *task, double seconds[STEP_LANES])
{
    uint64_t key = (uint64_t)draw->model->hosts[task->rank] << 32 | task->operation;
    for (int lane = 0; quick->distribution && lane < STEP_LANES; lane++) {
        struct draws draws = draws_of(draw->seeds[lane], purpose, key);
        seconds[lane] *= quick_draw(quick, &draws);
    }
}

/* A computation of which a share is of a class takes (1 - share) + share f where such kernels take f. */
static void multiply_kernels(const struct step_draw *draw, const struct step_task *task, double seconds[STEP_LANES])
{
    double more[STEP_LANES] = {0};
    for (int kernel = 0; draw->model->shares && kernel < TAILS_KERNELS; kernel++) {
        double share = step_model_share(draw->model, task, kernel), factors[STEP_LANES];
        if (!(share > 0))
            continue;
        for (int lane = 0; lane < STEP_LANES; lane++)
            factors[lane] = 1;
        multiply(draw, &draw->model->kernels[kernel], (enum purpose)(PURPOSE_KERNELS + kernel), task, factors);
        for (int lane = 0; lane < STEP_LANES; lane++)
            more[lane] += share * (factors[lane] - 1);
    }
    for (int lane = 0; lane < STEP_LANES; lane++)
        seconds[lane] *= 1 + more[lane];
}

/* Of a micro-batch, by the sequences in it. */
static void multiply_batch(const struct step_draw *draw, const struct step_task *task, double seconds[STEP_LANES])
{
    const struct step_model *model = draw->model;
    const struct tails_trace *trace = model->settings->trace;
    uint32_t replica = model->worker_of[task->rank] % model->replicas;
    size_t batch = ((size_t)replica * model->micro_batches + task->micro_batch) * STEP_LANES;
    int direction = step_direction(task);
    bool known = trace && direction >= 0 && task->stage < trace->stages;
    size_t place = known ? 2 * (size_t)task->stage + (size_t)direction : 0;
    for (size_t lane = 0; lane < STEP_LANES; lane++) {
        seconds[lane] *= draw->batches[batch + lane];
        if (known && model->reference[place] > 0)
            seconds[lane] *=
                (draw->balanced ? draw->means[place * STEP_LANES + lane]
                                : recorded(&trace->records[draw->picked[batch + lane]], task->stage, direction)) /
                model->reference[place];
    }
}

static void compute_seconds(const struct step_draw *draw, uint32_t node, const struct step_task *task,
                            double seconds[STEP_LANES])
{
    const struct step_model *model = draw->model;
    const double *rank = &draw->ranks[task->rank * (size_t)STEP_LANES];
    int direction = step_direction(task);
    for (int lane = 0; lane < STEP_LANES; lane++)
        seconds[lane] *= rank[lane];
    if (draw->even && direction >= 0)
        for (int lane = 0; lane < STEP_LANES; lane++)
            seconds[lane] *= model->even[2 * model->net->program->mesh->position_of[task->rank] + (uint32_t)direction];
    if (draw->last && direction >= 0 && task->stage == model->last)
        for (int lane = 0; lane < STEP_LANES; lane++)
            seconds[lane] *= model->as_others[direction];
    if (task->micro_batch != MICRO_BATCH_NONE)
        multiply_batch(draw, task, seconds);
    multiply(draw, own_draw(model, task), PURPOSE_OPERATION, task, seconds);
    multiply_kernels(draw, task, seconds);
    for (size_t lane = 0; lane < STEP_LANES; lane++)
        if (draw->pauses_at[task->rank * (size_t)STEP_LANES + lane] == node)
            seconds[lane] += draw->pauses[task->rank * (size_t)STEP_LANES + lane];
}

static void transfer_seconds(const struct step_draw *draw, uint32_t node, const struct step_task *task,
                             double seconds[STEP_LANES])
{
    const struct step_model *model = draw->model;
    multiply(draw, task->type == OPERATION_COLLECTIVE ? &model->collective : &model->message, PURPOSE_TRANSFER, task,
             seconds);
    if (!draw->links)
        return;
    uint32_t own = model->node_of[task->rank], other = model->peers[node];
    for (size_t lane = 0; lane < STEP_LANES; lane++)
        if (task->meeting != STEP_ALONE)
            seconds[lane] *= draw->meetings[task->meeting * (size_t)STEP_LANES + lane];
        else if (other != STEP_NONE)
            seconds[lane] *=
                fmax(draw->links[own * (size_t)STEP_LANES + lane], draw->links[other * (size_t)STEP_LANES + lane]);
}

void step_draw_seconds(const struct step_draw *draw, uint32_t node, double seconds[STEP_LANES])
{
    const struct step_net *net = draw->model->net;
    const struct step_task *task = &net->tasks[node];
    for (int lane = 0; lane < STEP_LANES; lane++)
        seconds[lane] = net->seconds[node];
    if (task->type == OPERATION_COMPUTE)
        compute_seconds(draw, node, task, seconds);
    else if (task->type != OPERATION_DELAY)
        transfer_seconds(draw, node, task, seconds);
}

/* ---- means ---- */

static double mean_of(const struct distribution *distribution)
{
    return distribution ? distribution_mean(distribution) : 1;
}

/* Of the recorded replicas that this one may be. */
static double mean_recorded(const struct step_model *model, const struct step_task *task, int direction)
{
    const struct tails_trace *trace = model->settings->trace;
    uint32_t replica = model->worker_of[task->rank] % model->replicas;
    bool own = trace->replicas == model->replicas;
    double sum = 0;
    for (uint32_t of = own ? replica : 0; of < (own ? replica + 1 : trace->replicas); of++) {
        double part = 0;
        for (size_t i = trace->first[of]; i < trace->first[of + 1]; i++)
            part += recorded(&trace->records[i], task->stage, direction);
        sum += part / (double)(trace->first[of + 1] - trace->first[of]) / (own ? 1 : trace->replicas);
    }
    return sum;
}

static double mean_of_kernels(const struct step_model *model, const struct step_task *task)
{
    double mean = 1;
    for (int kernel = 0; kernel < TAILS_KERNELS; kernel++)
        mean += step_model_share(model, task, kernel) * (mean_of(model->settings->kernels[kernel]) - 1);
    return mean;
}

double step_mean_seconds(const struct step_model *model, uint32_t node)
{
    const struct tails_settings *settings = model->settings;
    const struct step_task *task = &model->net->tasks[node];
    uint32_t forwards = model->first_forward[task->rank + 1] - model->first_forward[task->rank];
    int direction = step_direction(task);
    double seconds = model->net->seconds[node] * mean_of(settings->device) * mean_of(settings->node) *
                     mean_of(settings->worker) * mean_of(own_draw(model, task)->distribution) *
                     mean_of_kernels(model, task);
    if (task->micro_batch != MICRO_BATCH_NONE)
        seconds *= mean_of(settings->micro_batch);
    if (settings->trace && direction >= 0 && task->stage < settings->trace->stages) {
        double reference = model->reference[2 * (size_t)task->stage + (size_t)direction];
        seconds *= reference > 0 ? mean_recorded(model, task, direction) / reference : 1;
    }
    if (settings->pause && direction == 0)
        seconds += mean_of(settings->pause) / settings->pause_every / forwards;
    return seconds;
}
