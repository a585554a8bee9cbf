/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/task_graph_parts.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;
enum { MESSAGES_KEPT = 1 << 16 }; /* room that an edge keeps for changes to come */

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

/* An edge before this one, and so built, that carries the same; NONE: there is none. */
static uint32_t built_alike(const struct task_graph *g, uint32_t number)
{
    const struct operator_edge *edges = g->o->edges;
    uint32_t source = shape_of(g, edges[number].source)->choice, reader = shape_of(g, edges[number].reader)->choice;
    uint32_t e = g->o->alike[number];
    while (e != NONE &&
           (shape_of(g, edges[e].source)->choice != source || shape_of(g, edges[e].reader)->choice != reader))
        e = g->o->alike[e];
    return e;
}

static void build_edge(struct task_graph *g, uint32_t number)
{
    const struct operator_edge *edge = &g->o->edges[number];
    struct exchange *exchange = exchange_of(g, number);
    uint32_t alike = built_alike(g, number);
    exchange->count = 0;
    if (g->crowded)
        return;
    if (alike != NONE) {
        const struct exchange *built = exchange_of(g, alike);
        exchange->messages =
            array_grow(exchange->messages, &exchange->capacity, built->count, sizeof *exchange->messages);
        if (built->count)
            memcpy(exchange->messages, built->messages, built->count * sizeof *exchange->messages);
        exchange->count = built->count;
        return;
    }
    for (uint32_t to = 0; to < shape_of(g, edge->reader)->count && exchange->count <= g->room; to++)
        build_part(g, edge, exchange, to);
    g->counts.built += 2 * (uint64_t)exchange->count;
}

/* The edge's messages take of the room that there is. */
static void take_room(struct task_graph *g, uint32_t edge)
{
    size_t count = exchange_of(g, edge)->count;
    g->crowded |= count > g->room;
    g->room -= g->crowded ? 0 : count;
}

static void make_room(struct task_graph *g)
{
    g->room = g->o->messages_most ? g->o->messages_most : SIZE_MAX;
    g->crowded = false;
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
                             .previous = array_zeroed(layers, sizeof *g->previous),
                             .pairs = array_zeroed((size_t)o->devices * o->devices, sizeof *g->pairs),
                             .left = array_zeroed(o->devices, sizeof *g->left),
                             .limit = INFINITY,
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
            g->operators[i].replicas[k] = weights ? replicas_create() : NULL;
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
    free(g->previous);
    free(g->pairs);
    free(g->left);
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
    make_room(g);
    for (uint32_t e = 0; e < o->edge_count; e++) {
        build_edge(g, e);
        take_room(g, e);
    }
    if (g->crowded)
        return (struct task_result){.seconds = INFINITY};
    for (uint32_t i = 0; i < o->graph->count; i++)
        build_replicas(g, i);
    g->limit = INFINITY;
    (void)task_times_from(g, 0, false);
    return result_of(g);
}

/* ---- changes ---- */

/* The layers that change with one: those of its unit, or of all units that are like it. */
static bool changes(const struct task_graph *g, uint32_t layer)
{
    uint32_t unit = operator_unit(g->o, layer), own = operator_unit(g->o, g->changed);
    return unit == own || (g->together && g->o->classes[unit] == g->o->classes[own]);
}

static bool edge_changes(const struct task_graph *g, uint32_t edge)
{
    return changes(g, g->o->edges[edge].source) || changes(g, g->o->edges[edge].reader);
}

/* Everything that depends on the change: from its other buffer. */
static void swap_buffers(struct task_graph *g)
{
    const struct operators *o = g->o;
    for (uint32_t i = 0; i < o->graph->count; i++) {
        g->operators[i].shape_used ^= changes(g, i);
        g->operators[i].replicas_used ^= changes(g, i);
    }
    for (uint32_t e = 0; e < o->edge_count; e++)
        g->edges[e].used ^= edge_changes(g, e);
}

/* The first stage whose times may be others: the forward of the first layer that changes. */
static uint32_t first_stage(const struct task_graph *g)
{
    uint32_t layer = 0;
    while (!changes(g, layer))
        layer++;
    return layer;
}

/* Times from the first stage on that a change can reach: to their other place. */
static void swap_sides(struct task_graph *g)
{
    for (uint32_t stage = g->first; stage < stages_of(g); stage++)
        g->sides[stage] ^= 1;
}

static void build_changed(struct task_graph *g)
{
    const struct operators *o = g->o;
    make_room(g);
    for (uint32_t e = 0; e < o->edge_count; e++)
        if (!edge_changes(g, e))
            take_room(g, e);
    for (uint32_t e = 0; e < o->edge_count; e++)
        if (edge_changes(g, e)) {
            build_edge(g, e);
            take_room(g, e);
        }
    for (uint32_t i = 0; i < o->graph->count && !g->crowded; i++)
        if (changes(g, i))
            build_replicas(g, i);
}

struct task_result task_graph_change(struct task_graph *g, const struct task_change *change, double limit)
{
    const struct operators *o = g->o;
    g->changed = change->layer;
    g->together = change->together;
    g->limit = limit;
    memcpy(g->previous, g->choices, o->graph->count * sizeof *g->choices);
    swap_buffers(g);
    g->first = first_stage(g);
    swap_sides(g);
    for (uint32_t i = 0; i < o->graph->count; i++)
        if (changes(g, i)) {
            g->choices[i] = change->choice;
            build_shape(g, i, change->choice);
        }
    if (!task_times_may_keep(g))
        return (struct task_result){.seconds = INFINITY};
    build_changed(g);
    if (g->crowded || !task_times_from(g, g->first, true))
        return (struct task_result){.seconds = INFINITY};
    return result_of(g);
}

/* Few strategies have edges of very many messages. */
static void drop_large(struct task_graph *g)
{
    for (uint32_t e = 0; e < g->o->edge_count; e++) {
        struct exchange *unused = &g->edges[e].exchanges[!g->edges[e].used];
        if (unused->capacity > MESSAGES_KEPT) {
            free(unused->messages);
            *unused = (struct exchange){0};
        }
    }
}

void task_graph_keep(struct task_graph *g)
{
    drop_large(g);
    g->changed = NONE;
}

void task_graph_undo(struct task_graph *g)
{
    swap_buffers(g);
    memcpy(g->choices, g->previous, g->o->graph->count * sizeof *g->choices);
    swap_sides(g);
    drop_large(g);
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
