/* SPDX-License-Identifier: Apache-2.0 */
/* When the tasks of a graph run: stage by stage, in the order in which the engines run them. */
#include "base/arena.h"
#include "studies/operators/task_graph_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;

static double *pair_free(struct task_graph *g, uint32_t pair)
{
    struct pair_time *time = &g->pairs[pair];
    if (time->pass != g->pass)
        *time = (struct pair_time){.pass = g->pass};
    return &time->free;
}

/* Queue 0 is none, and always free. */
static double *queue_free(const struct task_graph *g)
{
    return g->state + 2 * (size_t)g->o->devices;
}

/* Of a group: when it is free, and bytes of gradients that wait for more. */
struct group_state {
    double free, bytes;
};

static size_t groups_place(const struct task_graph *g)
{
    return 2 * (size_t)g->o->devices + g->o->queues + 1;
}

static struct group_state *group_states(const struct task_graph *g)
{
    return (struct group_state *)(void *)(g->state + groups_place(g));
}

static void fit_state(struct task_graph *g)
{
    size_t wanted = groups_place(g) + 2 * (size_t)replica_groups_count(g->groups);
    if (wanted <= g->state_size)
        return;
    g->state = array_grow(g->state, &g->state_capacity, wanted, sizeof *g->state);
    memset(g->state + g->state_size, 0, (wanted - g->state_size) * sizeof *g->state);
    g->state_size = wanted;
}

static void await(double *ready, double end)
{
    *ready = *ready > end ? *ready : end;
}

/* When a message comes that is ready at `done`. It leaves when the one before it between the two devices has come, and
 * when the links that it shares have sent what stands before it. */
static double send(struct task_graph *g, uint32_t pair, double done, const struct passage *passage)
{
    double *queues = queue_free(g), *free_at = pair_free(g, pair), start = done;
    await(&start, *free_at);
    await(&start, queues[passage->out]);
    await(&start, queues[passage->in]);
    if (passage->out)
        queues[passage->out] = start + passage->seconds;
    if (passage->in)
        queues[passage->in] = start + passage->seconds;
    return *free_at = start + (passage->latency + passage->seconds);
}

static double compute(struct task_graph *g, uint32_t device, double ready, double seconds)
{
    double *free_at = &device_free(g)[device], start = ready > *free_at ? ready : *free_at;
    *free_at = start + seconds;
    g->left[device] -= seconds;
    return *free_at;
}

static void clear_ready(struct task_graph *g, uint32_t count)
{
    memset(g->ready, 0, count * sizeof *g->ready);
}

/* Which place the times of a layer's forward, and of its backward, have. */
static uint8_t forward_side(const struct task_graph *g, uint32_t layer)
{
    return g->sides[layer];
}

static uint8_t backward_side(const struct task_graph *g, uint32_t layer)
{
    return g->sides[stages_of(g) - 1 - layer];
}

/* Sends what the parts read, in the order of its edges, and notes when all of it has come. */
static void time_reads(struct task_graph *g, uint32_t layer, uint8_t side)
{
    const struct operators *o = g->o;
    for (uint32_t e = o->first_read[layer]; e < o->first_read[layer + 1]; e++) {
        struct exchange *exchange = exchange_of(g, e);
        uint32_t source = o->edges[e].source;
        const double *done = shape_of(g, source)->forward_end[forward_side(g, source)];
        for (size_t i = 0; i < exchange->count; i++) {
            struct message *m = &exchange->messages[i];
            m->forward_end[side] = m->pair == NONE ? done[m->from] : send(g, m->pair, done[m->from], &m->there);
            await(&g->ready[m->to], m->forward_end[side]);
        }
        g->counts.timed += exchange->count;
    }
}

static void time_forward(struct task_graph *g, uint32_t layer)
{
    struct shape *shape = shape_of(g, layer);
    uint8_t side = forward_side(g, layer);
    clear_ready(g, shape->count);
    time_reads(g, layer, side);
    for (uint32_t k = 0; k < shape->count; k++)
        shape->forward_end[side][k] = compute(g, shape->devices[k], g->ready[k], shape->costs[k].forward);
    g->counts.timed += shape->count;
}

/* When an all-reduce ends that is ready: it begins after the one before it of the same devices, and after what its
 * links have to send; it keeps its links busy. */
static double all_reduce(struct task_graph *g, uint32_t number, double ready, double seconds)
{
    uint32_t count;
    const uint32_t *queues = replica_group_queues(g->groups, number, &count);
    struct group_state *group = &group_states(g)[number];
    double start = ready;
    await(&start, group->free);
    for (uint32_t i = 0; i < count; i++)
        await(&start, queue_free(g)[queues[i]]);
    group->free = start + seconds;
    for (uint32_t i = 0; i < count; i++)
        queue_free(g)[queues[i]] = group->free;
    return group->free;
}

/* Gradients that wait are synchronised when there are enough of them, or no others of their group to come: from when
 * the last device has computed all that it has to up to here, and until the same time for all devices. */
static void time_replicas(struct task_graph *g, uint32_t owner)
{
    const struct operators *o = g->o;
    struct replicas *replicas = replicas_of(g, owner);
    for (uint32_t r = 0; replicas && r < replicas->count; r++) {
        const struct replica_set *set = &replicas->sets[r];
        if (set->group == NONE)
            continue;
        struct group_state *group = &group_states(g)[set->group];
        group->bytes += set->parameters * o->gradient_bytes;
        if (group->bytes < o->bucket && g->last_owner[set->group] != owner)
            continue;
        double ready = 0, end;
        for (uint32_t i = 0; i < set->count; i++)
            await(&ready, device_free(g)[set->devices[i]]);
        end = all_reduce(g, set->group, ready, replica_group_seconds(g->groups, set->group, group->bytes));
        group->bytes = 0;
        for (uint32_t i = 0; i < set->count; i++)
            await(&synchronised(g)[set->devices[i]], end);
    }
    g->counts.timed += replicas ? replicas->count : 0;
}

/* Which owner's gradients are the last of each group. */
static void find_last_owners(struct task_graph *g)
{
    g->last_owner = array_grow(g->last_owner, &g->last_capacity, replica_groups_count(g->groups) + (size_t)1,
                               sizeof *g->last_owner);
    for (uint32_t owner = g->o->graph->count; owner-- > 0;) {
        const struct replicas *replicas = replicas_of(g, owner);
        for (uint32_t r = 0; replicas && r < replicas->count; r++)
            if (replicas->sets[r].group != NONE)
                g->last_owner[replicas->sets[r].group] = owner;
    }
}

static void time_backward(struct task_graph *g, uint32_t layer)
{
    const struct operators *o = g->o;
    struct shape *shape = shape_of(g, layer);
    uint8_t side = backward_side(g, layer);
    clear_ready(g, shape->count);
    for (uint32_t w = o->first_written[layer]; w < o->first_written[layer + 1]; w++) {
        const struct exchange *exchange = exchange_of(g, o->written[w]);
        uint8_t sent = backward_side(g, o->edges[o->written[w]].reader);
        for (size_t i = 0; i < exchange->count; i++)
            await(&g->ready[exchange->messages[i].from], exchange->messages[i].backward_end[sent]);
    }
    for (uint32_t k = 0; k < shape->count; k++)
        shape->backward_end[side][k] = compute(g, shape->devices[k], g->ready[k], shape->costs[k].backward);
    g->counts.timed += shape->count;
    for (uint32_t e = o->first_read[layer]; e < o->first_read[layer + 1]; e++) {
        struct exchange *exchange = exchange_of(g, e);
        for (size_t i = 0; i < exchange->count; i++) {
            struct message *m = &exchange->messages[i];
            double done = shape->backward_end[side][m->to];
            m->backward_end[side] = m->pair == NONE ? done : send(g, m->back, done, &m->returned);
        }
        g->counts.timed += exchange->count;
    }
    if (o->overlap)
        time_replicas(g, layer);
}

/* Without overlap groups begin when all stages have ended. */
static void save_checkpoint(struct task_graph *g, uint32_t stage)
{
    struct checkpoint *c = &g->checkpoints[stage / CHECKPOINT_STAGES];
    uint8_t side = g->sides[stage];
    size_t size = g->o->overlap ? g->state_size : groups_place(g);
    c->values[side] = array_grow(c->values[side], &c->capacities[side], size, sizeof *c->values[side]);
    memcpy(c->values[side], g->state, size * sizeof *g->state);
    c->sizes[side] = size;
}

/* Pairs are free when the newest message before the stage, which is a forward, has come. */
static void replay_pairs(struct task_graph *g, uint32_t end)
{
    assert(end <= stages_of(g) / 2);
    g->pass++;
    for (uint32_t layer = 0; layer < end; layer++) {
        uint8_t side = forward_side(g, layer);
        for (uint32_t e = g->o->first_read[layer]; e < g->o->first_read[layer + 1]; e++) {
            const struct exchange *exchange = exchange_of(g, e);
            for (size_t i = 0; i < exchange->count; i++) {
                const struct message *m = &exchange->messages[i];
                if (m->pair != NONE)
                    *pair_free(g, m->pair) = m->forward_end[side];
            }
        }
    }
}

/* Groups that are newer than the checkpoint have not been used up to it; the first stage begins with nothing. */
static void load_checkpoint(struct task_graph *g, uint32_t stage, uint8_t side)
{
    const struct checkpoint *c = &g->checkpoints[stage / CHECKPOINT_STAGES];
    size_t size = stage ? c->sizes[side] : 0;
    fit_state(g);
    if (size)
        memcpy(g->state, c->values[side], size * sizeof *g->state);
    memset(g->state + size, 0, (g->state_size - size) * sizeof *g->state);
}

/* What devices have to compute from a stage on; nothing is looked at where there is no limit. */
static void count_left(struct task_graph *g, uint32_t stage)
{
    uint32_t stages = stages_of(g);
    memset(g->left, 0, g->o->devices * sizeof *g->left);
    for (; stage < stages && g->limit < INFINITY; stage++) {
        bool back = stage >= stages / 2;
        const struct shape *shape = shape_of(g, back ? stages - 1 - stage : stage);
        for (uint32_t k = 0; k < shape->count; k++)
            g->left[shape->devices[k]] += back ? shape->costs[k].backward : shape->costs[k].forward;
    }
}

bool task_times_may_keep(struct task_graph *g)
{
    bool may = true;
    count_left(g, 0);
    for (uint32_t d = 0; d < g->o->devices; d++)
        may &= g->left[d] <= g->limit;
    return may;
}

/* A device has to compute what is left after what it has computed. */
static bool may_keep(const struct task_graph *g)
{
    bool may = true;
    for (uint32_t d = 0; d < g->o->devices && g->limit < INFINITY; d++)
        may &= device_free(g)[d] + g->left[d] <= g->limit;
    return may;
}

bool task_times_from(struct task_graph *g, uint32_t first, bool other)
{
    uint32_t stages = stages_of(g), stage = first / CHECKPOINT_STAGES * CHECKPOINT_STAGES;
    find_last_owners(g);
    load_checkpoint(g, stage, g->sides[stage] ^ (other && stage == first));
    replay_pairs(g, stage);
    count_left(g, stage);
    for (; stage < stages; stage++) {
        if (stage % CHECKPOINT_STAGES == 0 && !may_keep(g))
            return false;
        if (stage % CHECKPOINT_STAGES == 0 && stage > 0 && stage >= first)
            save_checkpoint(g, stage);
        if (stage < stages / 2)
            time_forward(g, stage);
        else
            time_backward(g, stages - 1 - stage);
    }
    for (uint32_t owner = g->o->graph->count; owner-- > 0 && !g->o->overlap;)
        time_replicas(g, owner);
    return true;
}
