/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/task_graph.h"

#include "base/arena.h"
#include "studies/operators/replicas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a message takes of its route: the link that sends it is busy for the time of its bytes. */
struct passage {
    double latency, seconds; /* of the way, and of its bytes */
    uint32_t out, in;        /* queues; 0: none */
};

/* A message from part to part; within a device it takes no time. */
struct message {
    uint16_t from, to;   /* parts */
    uint32_t pair, back; /* from device * devices + to device, and the reverse; NONE: within a device */
    double bytes;
    struct passage there, returned;
    double forward_end[2], backward_end[2]; /* arrival of the activation, and of the gradient back at the sender's */
};

/* All messages along an edge. */
struct exchange {
    struct message *messages;
    size_t count, capacity;
};

/* An operator under its configuration. */
struct shape {
    uint32_t choice, count;
    struct layer_part *parts;
    struct part_cost *costs;
    uint32_t *devices;
    double *forward_end[2], *backward_end[2];
};

/* Two of each: one in use, and the one before the newest change. */
struct operator_state {
    struct shape shapes[2];
    struct replicas *replicas[2]; /* of the weights that the layer owns; NULL: it owns none */
    bool shape_used, replicas_used;
};

struct edge_state {
    struct exchange exchanges[2];
    bool used;
};

/* What every `CHECKPOINT_STAGES`th stage begins with: when devices, pairs and groups are free again. A stage is the
 * forward or the backward of a layer. */
enum { CHECKPOINT_STAGES = 8 };

struct checkpoint {
    double *values[2];
    size_t sizes[2], capacities[2];
};

struct task_graph {
    const struct operators *o;
    struct operator_state *operators; /* [layer] */
    struct edge_state *edges;         /* [edge] */
    struct replica_groups *groups;
    uint32_t *choices;
    double *state;     /* device_free, synchronised, pair_free, queue_free, group_states */
    size_t state_size; /* numbers in use; those of groups are last */
    size_t state_capacity;
    struct checkpoint *checkpoints; /* [stage / CHECKPOINT_STAGES] */
    /* Times have two places, so that those of before the newest change can be taken back: [stage], which of them holds,
     * also for a checkpoint at the stage. */
    uint8_t *sides;
    uint32_t *last_owner; /* [group]: whose gradients are the last */
    size_t last_capacity;
    uint32_t changed, previous, first; /* the layer of the newest change, its choice before it, the first stage that
                                          was timed again */
    double *ready;                     /* scratch, [part] */
    double *sums;                      /* scratch, [device] */
    struct task_counts counts;
};

static const uint32_t NONE = STAGESIM_NONE;

static struct shape *shape_of(const struct task_graph *g, uint32_t layer)
{
    return &g->operators[layer].shapes[g->operators[layer].shape_used];
}

static struct exchange *exchange_of(const struct task_graph *g, uint32_t edge)
{
    return &g->edges[edge].exchanges[g->edges[edge].used];
}

static struct replicas *replicas_of(const struct task_graph *g, uint32_t layer)
{
    return g->operators[layer].replicas[g->operators[layer].replicas_used];
}

static uint32_t stages_of(const struct task_graph *g)
{
    return 2 * g->o->graph->count;
}

/* ---- building ---- */

static bool same_length(struct range a, struct range b)
{
    return a.to - a.from == b.to - b.from;
}

/* Parts of the same size take the same time on devices of one kind. */
static bool same_size(const struct layer_part *a, const struct layer_part *b)
{
    bool same = a->computed == b->computed && a->weights == b->weights;
    for (int i = 0; i < BOX_DIMENSIONS && same; i++)
        same = same_length(a->output.ranges[i], b->output.ranges[i]);
    return same;
}

static void build_shape(struct task_graph *g, uint32_t layer, uint32_t choice)
{
    const struct operators *o = g->o;
    struct shape *shape = shape_of(g, layer);
    struct layer_split split = configuration_split(&o->spaces[layer].configurations[choice], shape->devices);
    shape->choice = choice;
    shape->count = split.count;
    for (uint32_t k = 0; k < split.count; k++) {
        uint32_t device = split.devices[k];
        shape->parts[k] = split_part(o->graph, layer, &split, o->samples, k);
        bool known = k > 0 && o->kinds[device] == o->kinds[split.devices[k - 1]] &&
                     same_size(&shape->parts[k], &shape->parts[k - 1]);
        shape->costs[k] = known ? shape->costs[k - 1] : o->costs.part(o->costs.user, layer, &shape->parts[k], device);
    }
    g->counts.built += 2 * (uint64_t)split.count;
}

static void add_message(struct task_graph *g, struct exchange *exchange, const struct shape *source,
                        const struct shape *reader, uint32_t from, uint32_t to, double elements)
{
    const struct operators *o = g->o;
    uint32_t a = source->devices[from], b = reader->devices[to], pair = a * o->devices + b, back = b * o->devices + a;
    struct message message = {.from = (uint16_t)from, .to = (uint16_t)to, .pair = NONE, .back = NONE};
    if (a != b) {
        const struct operator_route *route = &o->routes[pair], *returned = &o->routes[back];
        double bytes = elements * o->element_bytes;
        message.bytes = bytes;
        message.pair = pair;
        message.back = back;
        message.there = (struct passage){route->latency, bytes * route->seconds_per_byte, route->out, route->in};
        message.returned =
            (struct passage){returned->latency, bytes * returned->seconds_per_byte, returned->out, returned->in};
    }
    exchange->messages =
        array_grow(exchange->messages, &exchange->capacity, exchange->count + 1, sizeof *exchange->messages);
    exchange->messages[exchange->count++] = message;
}

/* Which parts of the source along a dimension have something of a range; equal parts in ascending order. */
static void overlapping(const struct shape *source, const struct configuration *configuration,
                        enum split_dimension split, enum box_dimension box, uint32_t step, struct range needed,
                        uint32_t *first, uint32_t *end)
{
    uint32_t degree = configuration->degrees[split];
    *first = *end = 0;
    for (uint32_t c = 0; c < degree; c++) {
        struct range common = range_intersect(source->parts[c * step].output.ranges[box], needed);
        if (range_length(common) <= 0)
            continue;
        *first = *end ? *first : c;
        *end = c + 1;
    }
}

/* What part `to` of the reader needs: the parts of the source that have some of it form a box of parts, too. */
static void build_part(struct task_graph *g, const struct operator_edge *edge, struct exchange *exchange, uint32_t to)
{
    const struct operators *o = g->o;
    const struct shape *source = shape_of(g, edge->source), *reader = shape_of(g, edge->reader);
    const struct configuration *c = &o->spaces[edge->source].configurations[source->choice];
    static const enum split_dimension splits[BOX_DIMENSIONS] = {
        [BOX_SAMPLE] = SPLIT_SAMPLE, [BOX_HEIGHT] = SPLIT_HEIGHT, [BOX_WIDTH] = SPLIT_WIDTH, [BOX_CHANNEL] = SPLIT_OUT};
    struct box needed = split_input(o->graph, edge->reader, edge->edge, &reader->parts[to]);
    uint32_t steps[BOX_DIMENSIONS], first[BOX_DIMENSIONS], end[BOX_DIMENSIONS], at[BOX_DIMENSIONS];
    uint32_t step = 1;
    for (int i = BOX_DIMENSIONS; i-- > 0; step *= c->degrees[splits[i]]) {
        steps[i] = step;
        overlapping(source, c, splits[i], (enum box_dimension)i, step, needed.ranges[i], &first[i], &end[i]);
        if (first[i] == end[i])
            return;
    }
    for (at[0] = first[0]; at[0] < end[0]; at[0]++)
        for (at[1] = first[1]; at[1] < end[1]; at[1]++)
            for (at[2] = first[2]; at[2] < end[2]; at[2]++)
                for (at[3] = first[3]; at[3] < end[3]; at[3]++) {
                    uint32_t from = at[0] * steps[0] + at[1] * steps[1] + at[2] * steps[2] + at[3] * steps[3];
                    double elements = box_common(&source->parts[from].output, &needed);
                    if (elements > 0)
                        add_message(g, exchange, source, reader, from, to, elements);
                }
}

static void build_edge(struct task_graph *g, uint32_t number)
{
    const struct operator_edge *edge = &g->o->edges[number];
    struct exchange *exchange = exchange_of(g, number);
    exchange->count = 0;
    for (uint32_t to = 0; to < shape_of(g, edge->reader)->count; to++)
        build_part(g, edge, exchange, to);
    g->counts.built += 2 * (uint64_t)exchange->count;
}

/* Of the weights that a layer owns. */
static void build_replicas(struct task_graph *g, uint32_t owner)
{
    const struct operators *o = g->o;
    struct replicas *replicas = replicas_of(g, owner);
    if (!replicas)
        return;
    replicas_begin(replicas);
    for (uint32_t i = o->first_user[owner]; i < o->first_user[owner + 1]; i++) {
        const struct shape *shape = shape_of(g, o->users[i]);
        for (uint32_t k = 0; k < shape->count; k++)
            replicas_add(replicas, &shape->parts[k], shape->devices[k], shape->costs[k].parameters);
    }
    replicas_end(replicas, g->groups);
    g->counts.built += replicas->count;
}

/* ---- times ---- */

/* Where the parts of the state begin. */
static double *device_free(const struct task_graph *g)
{
    return g->state;
}

static double *synchronised(const struct task_graph *g)
{
    return g->state + g->o->devices;
}

static double *pair_free(const struct task_graph *g)
{
    return g->state + 2 * (size_t)g->o->devices;
}

/* Queue 0 is none, and always free. */
static double *queue_free(const struct task_graph *g)
{
    return pair_free(g) + (size_t)g->o->devices * g->o->devices;
}

/* Of a group: when it is free, and bytes of gradients that wait for more. */
struct group_state {
    double free, bytes;
};

static size_t groups_place(const struct task_graph *g)
{
    return (2 + (size_t)g->o->devices) * g->o->devices + g->o->queues + 1;
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
    double *queues = queue_free(g), start = done;
    await(&start, pair_free(g)[pair]);
    await(&start, queues[passage->out]);
    await(&start, queues[passage->in]);
    if (passage->out)
        queues[passage->out] = start + passage->seconds;
    if (passage->in)
        queues[passage->in] = start + passage->seconds;
    return pair_free(g)[pair] = start + (passage->latency + passage->seconds);
}

static double compute(double *free_at, double ready, double seconds)
{
    double start = ready > *free_at ? ready : *free_at;
    *free_at = start + seconds;
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
        shape->forward_end[side][k] = compute(&device_free(g)[shape->devices[k]], g->ready[k], shape->costs[k].forward);
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
        shape->backward_end[side][k] =
            compute(&device_free(g)[shape->devices[k]], g->ready[k], shape->costs[k].backward);
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

static void save_checkpoint(struct task_graph *g, uint32_t stage)
{
    struct checkpoint *c = &g->checkpoints[stage / CHECKPOINT_STAGES];
    uint8_t side = g->sides[stage];
    c->values[side] = array_grow(c->values[side], &c->capacities[side], g->state_size, sizeof *c->values[side]);
    memcpy(c->values[side], g->state, g->state_size * sizeof *g->state);
    c->sizes[side] = g->state_size;
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

/* Times all stages from `first`, or a little before it, on. `other`: the times before were in the other place. */
static void time_from(struct task_graph *g, uint32_t first, bool other)
{
    uint32_t stages = stages_of(g), stage = first / CHECKPOINT_STAGES * CHECKPOINT_STAGES;
    find_last_owners(g);
    load_checkpoint(g, stage, g->sides[stage] ^ (other && stage == first));
    for (; stage < stages; stage++) {
        if (stage % CHECKPOINT_STAGES == 0 && stage > 0 && stage >= first)
            save_checkpoint(g, stage);
        if (stage < stages / 2)
            time_forward(g, stage);
        else
            time_backward(g, stages - 1 - stage);
    }
    for (uint32_t owner = g->o->graph->count; owner-- > 0 && !g->o->overlap;)
        time_replicas(g, owner);
}

/* ---- results ---- */

static void add_memory(const struct task_graph *g, struct task_result *result)
{
    const struct operators *o = g->o;
    for (uint32_t d = 0; d < o->devices; d++)
        g->sums[d] *= o->state_bytes;
    for (uint32_t layer = 0; layer < o->graph->count; layer++) {
        const struct shape *shape = shape_of(g, layer);
        for (uint32_t k = 0; k < shape->count; k++)
            g->sums[shape->devices[k]] += shape->costs[k].activation;
    }
    for (uint32_t d = 0; d < o->devices; d++) {
        result->memory = fmax(result->memory, g->sums[d]);
        if (o->capacity > 0 && g->sums[d] > o->capacity)
            result->excess += g->sums[d] - o->capacity;
    }
}

static struct task_result result_of(struct task_graph *g)
{
    const struct operators *o = g->o;
    struct task_result result = {0};
    memset(g->sums, 0, o->devices * sizeof *g->sums);
    for (uint32_t layer = 0; layer < o->graph->count; layer++) {
        const struct replicas *replicas = replicas_of(g, layer);
        for (uint32_t r = 0; replicas && r < replicas->count; r++) {
            const struct replica_set *set = &replicas->sets[r];
            for (uint32_t i = 0; i < set->count; i++)
                g->sums[set->devices[i]] += set->parameters;
        }
    }
    for (uint32_t d = 0; d < o->devices; d++) {
        double start = fmax(device_free(g)[d], synchronised(g)[d]);
        result.seconds = fmax(result.seconds, start + o->costs.update(o->costs.user, d, g->sums[d]));
    }
    add_memory(g, &result);
    return result;
}

double task_graph_sent(const struct task_graph *g)
{
    const struct operators *o = g->o;
    double sent = 0;
    for (uint32_t layer = 0; layer < o->graph->count; layer++) {
        const struct replicas *replicas = replicas_of(g, layer);
        for (uint32_t r = 0; replicas && r < replicas->count; r++)
            sent += 2 * (replicas->sets[r].count - 1.0) * replicas->sets[r].parameters * o->gradient_bytes;
    }
    for (uint32_t e = 0; e < o->edge_count; e++) {
        const struct exchange *exchange = exchange_of(g, e);
        for (size_t i = 0; i < exchange->count; i++)
            sent += 2 * exchange->messages[i].bytes;
    }
    return sent;
}

/* ---- the graph ---- */

static void shape_init(struct shape *shape, uint32_t devices)
{
    shape->parts = array_zeroed(devices, sizeof *shape->parts);
    shape->costs = array_zeroed(devices, sizeof *shape->costs);
    shape->devices = array_zeroed(devices, sizeof *shape->devices);
    for (int side = 0; side < 2; side++) {
        shape->forward_end[side] = array_zeroed(devices, sizeof *shape->forward_end[side]);
        shape->backward_end[side] = array_zeroed(devices, sizeof *shape->backward_end[side]);
    }
}

static void shape_finish(struct shape *shape)
{
    free(shape->parts);
    free(shape->costs);
    free(shape->devices);
    for (int side = 0; side < 2; side++) {
        free(shape->forward_end[side]);
        free(shape->backward_end[side]);
    }
}

struct task_graph *task_graph_create(const struct operators *o, const uint32_t *choices)
{
    struct task_graph *g = array_zeroed(1, sizeof *g);
    uint32_t layers = o->graph->count, checkpoints = 2 * layers / CHECKPOINT_STAGES + 1;
    *g = (struct task_graph){.o = o,
                             .operators = array_zeroed(layers, sizeof *g->operators),
                             .edges = array_zeroed(o->edge_count, sizeof *g->edges),
                             .groups = replica_groups_create(o),
                             .choices = array_zeroed(layers, sizeof *g->choices),
                             .checkpoints = array_zeroed(checkpoints, sizeof *g->checkpoints),
                             .sides = array_zeroed(2 * (size_t)layers, sizeof *g->sides),
                             .changed = NONE,
                             .ready = array_zeroed(o->devices, sizeof *g->ready),
                             .sums = array_zeroed(o->devices, sizeof *g->sums)};
    memcpy(g->choices, choices, layers * sizeof *choices);
    for (uint32_t i = 0; i < layers; i++) {
        const struct stagesim_amount *parameters = &o->graph->operators[i].layer->parameters;
        bool weights = o->graph->operators[i].weights == i && parameters->elements + parameters->bytes > 0;
        for (int k = 0; k < 2; k++) {
            shape_init(&g->operators[i].shapes[k], o->devices);
            g->operators[i].replicas[k] = weights ? replicas_create(o->devices) : NULL;
        }
    }
    return g;
}

void task_graph_destroy(struct task_graph *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->o->graph->count; i++)
        for (int k = 0; k < 2; k++) {
            shape_finish(&g->operators[i].shapes[k]);
            replicas_destroy(g->operators[i].replicas[k]);
        }
    for (uint32_t e = 0; e < g->o->edge_count; e++)
        for (int k = 0; k < 2; k++)
            free(g->edges[e].exchanges[k].messages);
    for (uint32_t i = 0; i < stages_of(g) / CHECKPOINT_STAGES + 1; i++)
        for (int side = 0; side < 2; side++)
            free(g->checkpoints[i].values[side]);
    replica_groups_destroy(g->groups);
    free(g->operators);
    free(g->edges);
    free(g->choices);
    free(g->state);
    free(g->checkpoints);
    free(g->sides);
    free(g->last_owner);
    free(g->ready);
    free(g->sums);
    free(g);
}

struct task_result task_graph_evaluate(struct task_graph *g)
{
    const struct operators *o = g->o;
    for (uint32_t i = 0; i < o->graph->count; i++)
        build_shape(g, i, g->choices[i]);
    for (uint32_t e = 0; e < o->edge_count; e++)
        build_edge(g, e);
    for (uint32_t i = 0; i < o->graph->count; i++)
        build_replicas(g, i);
    time_from(g, 0, false);
    return result_of(g);
}

/* ---- changes ---- */

/* The layers that change with one: those of its unit. */
static bool changes(const struct task_graph *g, uint32_t layer)
{
    return operator_unit(g->o, layer) == operator_unit(g->o, g->changed);
}

static bool edge_changes(const struct task_graph *g, uint32_t edge)
{
    return changes(g, g->o->edges[edge].source) || changes(g, g->o->edges[edge].reader);
}

static bool replicas_change(const struct task_graph *g, uint32_t owner)
{
    return g->o->graph->operators[g->changed].weights == owner;
}

/* Everything that depends on the change: from its other buffer. */
static void swap_buffers(struct task_graph *g)
{
    const struct operators *o = g->o;
    for (uint32_t i = 0; i < o->graph->count; i++) {
        g->operators[i].shape_used ^= changes(g, i);
        g->operators[i].replicas_used ^= replicas_change(g, i);
    }
    for (uint32_t e = 0; e < o->edge_count; e++)
        g->edges[e].used ^= edge_changes(g, e);
}

/* The first stage whose times may be others: the forward of the first layer that changes. */
static uint32_t first_stage(const struct task_graph *g)
{
    return operator_unit(g->o, g->changed);
}

/* Times from the first stage on that a change can reach: to their other place. */
static void swap_sides(struct task_graph *g)
{
    for (uint32_t stage = g->first; stage < stages_of(g); stage++)
        g->sides[stage] ^= 1;
}

static void set_choice(struct task_graph *g, uint32_t choice)
{
    for (uint32_t i = 0; i < g->o->graph->count; i++)
        if (changes(g, i))
            g->choices[i] = choice;
}

struct task_result task_graph_change(struct task_graph *g, uint32_t layer, uint32_t choice)
{
    const struct operators *o = g->o;
    g->changed = layer;
    g->previous = g->choices[layer];
    swap_buffers(g);
    set_choice(g, choice);
    for (uint32_t i = 0; i < o->graph->count; i++)
        if (changes(g, i))
            build_shape(g, i, choice);
    for (uint32_t e = 0; e < o->edge_count; e++)
        if (edge_changes(g, e))
            build_edge(g, e);
    for (uint32_t i = 0; i < o->graph->count; i++)
        if (replicas_change(g, i))
            build_replicas(g, i);
    g->first = first_stage(g);
    swap_sides(g);
    time_from(g, g->first, true);
    return result_of(g);
}

void task_graph_keep(struct task_graph *g)
{
    g->changed = NONE;
}

void task_graph_undo(struct task_graph *g)
{
    swap_buffers(g);
    set_choice(g, g->previous);
    swap_sides(g);
    g->changed = NONE;
}

const uint32_t *task_graph_choices(const struct task_graph *g)
{
    return g->choices;
}

struct task_counts task_graph_counts(const struct task_graph *g)
{
    return g->counts;
}
