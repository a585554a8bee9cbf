/* SPDX-License-Identifier: Apache-2.0 */
/* Task graphs against the longest path through tasks that are listed one by one, with messages between all pairs of
 * parts; delta simulation against evaluations from the start; FlexFlow's smallest example by hand. */
#include "studies/operators/task_graph.h"

#include "base/arena.h"
#include "studies/operators/metropolis.h"
#include "studies/operators/starts.h"
#include "test/studies/operators/networks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void make_network(struct network_case *c);
static make_network *const networks[] = {case_chain, case_branches, case_recurrent};
enum { NETWORKS = sizeof networks / sizeof *networks };

static struct network_case *make(int network, uint32_t devices)
{
    struct network_case *c = array_zeroed(1, sizeof *c);
    networks[network](c);
    case_finish(c, devices, 64);
    return c;
}

/* ---- the longest path, listed ---- */

enum { TASKS_MAX = 40000, BEFORE_MAX = 200000 };

struct listed {
    const struct operators *o;
    double end[TASKS_MAX], seconds[TASKS_MAX];
    uint32_t first_before[TASKS_MAX + 1], before[BEFORE_MAX]; /* what a task waits for; tasks before it in the list */
    uint32_t count, before_count;
    uint32_t on_device[CASE_DEVICES], on_pair[CASE_DEVICES * CASE_DEVICES],
        on_queue[CASE_DEVICES + 1]; /* newest tasks, from 1; 0: none */
    uint32_t forward[CASE_LAYERS][CASE_DEVICES], backward[CASE_LAYERS][CASE_DEVICES];
    struct layer_part parts[CASE_LAYERS][CASE_DEVICES];
    struct layer_split splits[CASE_LAYERS];
    uint32_t devices[CASE_LAYERS][CASE_DEVICES];
};

static void wait_for(struct listed *l, uint32_t task)
{
    if (task)
        l->before[l->before_count++] = task - 1;
}

/* Ends the list of what a new task waits for; its number from 1. */
static uint32_t add_task(struct listed *l, double seconds)
{
    uint32_t task = l->count++;
    l->seconds[task] = seconds;
    l->first_before[task + 1] = l->before_count;
    double start = 0;
    for (uint32_t i = l->first_before[task]; i < l->before_count; i++)
        start = fmax(start, l->end[l->before[i]]);
    l->end[task] = start + seconds;
    return task + 1;
}

static uint32_t add_computation(struct listed *l, uint32_t device, double seconds)
{
    wait_for(l, l->on_device[device]);
    return l->on_device[device] = add_task(l, seconds);
}

/* The message of `elements` from a task of one device to another device; the task itself within one. */
static uint32_t add_message(struct listed *l, uint32_t task, uint32_t from, uint32_t to, double elements)
{
    const struct operator_route *route = &l->o->routes[from * l->o->devices + to];
    if (from == to)
        return task;
    uint32_t *newest = &l->on_pair[from * CASE_DEVICES + to];
    wait_for(l, task);
    wait_for(l, *newest);
    wait_for(l, l->on_queue[route->out]);
    wait_for(l, l->on_queue[route->in]);
    uint32_t sent = add_task(l, elements * l->o->element_bytes * route->seconds_per_byte);
    if (route->out)
        l->on_queue[route->out] = sent;
    if (route->in)
        l->on_queue[route->in] = sent;
    wait_for(l, sent);
    return *newest = add_task(l, route->latency);
}

static double needed(const struct listed *l, const struct operator_edge *edge, uint32_t from, uint32_t to)
{
    struct box box = split_input(l->o->graph, edge->reader, edge->edge, &l->parts[edge->reader][to]);
    return box_common(&l->parts[edge->source][from].output, &box);
}

/* Messages are made when their sender has computed; arrived[edge][part] lists what a part then waits for. */
static uint32_t messages[200][CASE_DEVICES][CASE_DEVICES];

static struct part_cost cost_of(const struct listed *l, uint32_t layer, uint32_t k)
{
    return l->o->costs.part(l->o->costs.user, layer, &l->parts[layer][k], l->devices[layer][k]);
}

static void list_forward(struct listed *l, uint32_t layer)
{
    const struct operators *o = l->o;
    for (uint32_t e = 0; e < o->edge_count; e++)
        for (uint32_t q = 0; o->edges[e].reader == layer && q < l->splits[layer].count; q++)
            for (uint32_t p = 0; p < l->splits[o->edges[e].source].count; p++) {
                uint32_t source = o->edges[e].source;
                double elements = needed(l, &o->edges[e], p, q);
                messages[e][p][q] = elements > 0 ? add_message(l, l->forward[source][p], l->devices[source][p],
                                                               l->devices[layer][q], elements)
                                                 : 0;
            }
    for (uint32_t k = 0; k < l->splits[layer].count; k++) {
        for (uint32_t e = 0; e < o->edge_count; e++)
            for (uint32_t p = 0; o->edges[e].reader == layer && p < l->splits[o->edges[e].source].count; p++)
                wait_for(l, messages[e][p][k]);
        l->forward[layer][k] = add_computation(l, l->devices[layer][k], cost_of(l, layer, k).forward);
    }
}

static void list_backward(struct listed *l, uint32_t layer)
{
    const struct operators *o = l->o;
    for (uint32_t k = 0; k < l->splits[layer].count; k++) {
        for (uint32_t e = 0; e < o->edge_count; e++)
            for (uint32_t q = 0; o->edges[e].source == layer && q < l->splits[o->edges[e].reader].count; q++)
                wait_for(l, messages[e][k][q]);
        l->backward[layer][k] = add_computation(l, l->devices[layer][k], cost_of(l, layer, k).backward);
    }
    for (uint32_t e = 0; e < o->edge_count; e++)
        for (uint32_t q = 0; o->edges[e].reader == layer && q < l->splits[layer].count; q++)
            for (uint32_t p = 0; p < l->splits[o->edges[e].source].count; p++)
                if (messages[e][p][q])
                    messages[e][p][q] = add_message(l, l->backward[layer][q], l->devices[layer][q],
                                                    l->devices[o->edges[e].source][p], needed(l, &o->edges[e], p, q));
}

/* Devices of an owner's weights whose parts begin at channel `from`, as bits. */
static uint32_t holders(const struct listed *l, uint32_t owner, double from)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < l->o->graph->count; i++)
        for (uint32_t k = 0; l->o->graph->operators[i].weights == owner && k < l->splits[i].count; k++)
            if (l->parts[i][k].output.ranges[BOX_CHANNEL].from == from)
                bits |= 1u << l->devices[i][k];
    return bits;
}

/* The links of a ring through devices: an all-reduce waits for what they have to send (`task` 0), and keeps them busy.
 */
static void pass_ring(struct listed *l, const uint32_t *devices, uint32_t count, uint32_t task)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct operator_route *route = &l->o->routes[devices[i] * l->o->devices + devices[(i + 1) % count]];
        const uint32_t queues[] = {route->out, route->in};
        for (int k = 0; k < 2; k++)
            if (!task)
                wait_for(l, l->on_queue[queues[k]]);
            else if (queues[k])
                l->on_queue[queues[k]] = task;
    }
}

/* Gradients that a set of devices, as bits, has to add up: those that wait, and the newest all-reduce. */
struct waiting {
    double bytes;
    uint32_t newest;
};

/* Whether a layer below `owner` has gradients for the same devices. */
static bool more_to_come(const struct listed *l, uint32_t owner, uint32_t bits)
{
    for (uint32_t i = 0; i < owner; i++)
        for (uint32_t k = 0; l->o->graph->operators[i].layer->parameters.given && k < l->splits[i].count; k++)
            if (holders(l, i, l->parts[i][k].output.ranges[BOX_CHANNEL].from) == bits)
                return true;
    return false;
}

/* Gradients are added among the devices that hold the same channels, when there are `bucket` bytes of them or no more
 * to come; then devices step. */
static void list_replicas(struct listed *l, uint32_t owner, struct waiting *groups, double parameters[CASE_DEVICES],
                          double *step_ready)
{
    const struct operators *o = l->o;
    if (o->graph->operators[owner].weights != owner || !o->graph->operators[owner].layer->parameters.given)
        return;
    for (uint32_t k = 0; k < l->splits[owner].count; k++) {
        double from = l->parts[owner][k].output.ranges[BOX_CHANNEL].from, held = cost_of(l, owner, k).parameters;
        bool seen = false;
        for (uint32_t other = 0; other < k; other++)
            seen |= l->parts[owner][other].output.ranges[BOX_CHANNEL].from == from;
        if (seen)
            continue;
        uint32_t bits = holders(l, owner, from), devices[CASE_DEVICES], count = 0;
        for (uint32_t d = 0; d < o->devices; d++)
            if (bits >> d & 1) {
                parameters[d] += held;
                devices[count++] = d;
            }
        struct waiting *group = &groups[bits];
        group->bytes += held * o->gradient_bytes;
        if (count == 1 || (group->bytes < o->bucket && more_to_come(l, owner, bits)))
            continue;
        for (uint32_t d = 0; d < count; d++)
            wait_for(l, l->on_device[devices[d]]);
        wait_for(l, group->newest);
        pass_ring(l, devices, count, 0);
        group->newest = add_task(l, o->costs.all_reduce(o->costs.user, devices, count, group->bytes));
        pass_ring(l, devices, count, group->newest);
        group->bytes = 0;
        for (uint32_t d = 0; d < count; d++)
            step_ready[devices[d]] = fmax(step_ready[devices[d]], l->end[group->newest - 1]);
    }
}

static double list_all(const struct operators *o, const uint32_t *choices)
{
    struct listed *l = array_zeroed(1, sizeof *l);
    struct waiting *groups = array_zeroed(1u << CASE_DEVICES, sizeof *groups);
    double parameters[CASE_DEVICES] = {0}, ready[CASE_DEVICES] = {0}, last = 0;
    l->o = o;
    for (uint32_t i = 0; i < o->graph->count; i++) {
        l->splits[i] = configuration_split(&o->spaces[i].configurations[choices[i]], l->devices[i]);
        for (uint32_t k = 0; k < l->splits[i].count; k++)
            l->parts[i][k] = split_part(o->graph, i, &l->splits[i], o->samples, k);
    }
    for (uint32_t i = 0; i < o->graph->count; i++)
        list_forward(l, i);
    for (uint32_t i = o->graph->count; i-- > 0;) {
        list_backward(l, i);
        if (o->overlap)
            list_replicas(l, i, groups, parameters, ready);
    }
    for (uint32_t i = o->graph->count; i-- > 0 && !o->overlap;)
        list_replicas(l, i, groups, parameters, ready);
    for (uint32_t d = 0; d < o->devices; d++) {
        double start = fmax(ready[d], l->on_device[d] ? l->end[l->on_device[d] - 1] : 0);
        last = fmax(last, start + o->costs.update(o->costs.user, d, parameters[d]));
    }
    cr_assert(l->count < TASKS_MAX && l->before_count < BEFORE_MAX);
    free(groups);
    free(l);
    return last;
}

Test(task_graph, is_the_longest_path, .timeout = 100)
{
    for (int network = 0; network < NETWORKS; network++)
        for (uint32_t devices = 1; devices <= 8; devices += devices == 1 ? 1 : devices == 2 ? 4 : 2) {
            struct network_case *c = make(network, devices);
            struct draws random = {(uint64_t)network};
            c->operators.bucket = devices * 1e5;
            c->operators.overlap = devices % 4;
            for (int i = 0; i < 20; i++) {
                uint32_t choices[CASE_LAYERS];
                start_random(&c->operators, &random, choices);
                struct task_graph *graph = task_graph_create(&c->operators, choices);
                double seconds = task_graph_evaluate(graph).seconds, listed = list_all(&c->operators, choices);
                cr_assert(fabs(seconds - listed) <= 1e-12 * listed,
                          "network %d, %u devices, strategy %d: %.17g, not %.17g", network, devices, i, seconds,
                          listed);
                task_graph_destroy(graph);
            }
            case_destroy(c);
        }
}

/* ---- delta simulation ---- */

static void expect_same(const struct network_case *c, const struct task_graph *graph, const struct task_result *result,
                        int network, int proposal)
{
    struct task_graph *other = task_graph_create(&c->operators, task_graph_choices(graph));
    struct task_result whole = task_graph_evaluate(other);
    cr_assert(!memcmp(&whole, result, sizeof whole), "network %d, proposal %d: %.17g s, not %.17g s", network, proposal,
              result->seconds, whole.seconds);
    cr_assert(task_graph_sent(graph) == task_graph_sent(other));
    task_graph_destroy(other);
}

/* An evaluation from the start takes longer than the limit. */
static void expect_above(const struct network_case *c, const struct task_graph *graph, double limit)
{
    struct task_graph *other = task_graph_create(&c->operators, task_graph_choices(graph));
    double seconds = task_graph_evaluate(other).seconds;
    cr_assert(seconds > limit, "%.17g s is not above %.17g s", seconds, limit);
    task_graph_destroy(other);
}

/* Units that have the configuration of the change, of those that it is for. */
static uint32_t changed_units(const struct network_case *c, const struct task_graph *graph,
                              const struct task_change *change)
{
    const struct operators *o = &c->operators;
    uint32_t count = 0, unit = operator_unit(o, change->layer);
    for (uint32_t i = 0; i < c->count; i++)
        if (operator_unit(o, i) == i && (i == unit || (change->together && o->classes[i] == o->classes[unit]))) {
            cr_assert(task_graph_choices(graph)[i] == change->choice, "layer %u has another choice", i);
            count++;
        }
    return count;
}

/* A thousand random proposals on each network, for one operator or all that are like it, about half of which are taken
 * back. Every fourth has a limit, and is not timed to its end only if it is above. */
Test(task_graph, delta_is_full, .timeout = 200)
{
    for (int network = 0; network < NETWORKS; network++) {
        struct network_case *c = make(network, 16);
        struct draws random = {7};
        uint32_t choices[CASE_LAYERS];
        c->operators.capacity = 1e6;
        c->operators.bucket = 1e5;
        start_random(&c->operators, &random, choices);
        struct task_graph *graph = task_graph_create(&c->operators, choices);
        double seconds = task_graph_evaluate(graph).seconds;
        int cut = 0, together = 0;
        for (int i = 0; i < 1000; i++) {
            struct task_change change = {.layer = (uint32_t)draw_below(&random, c->count), .together = i % 3 == 0};
            change.choice = (uint32_t)draw_below(&random, c->operators.spaces[change.layer].count);
            double limit = i % 4 ? INFINITY : 0.95 * seconds;
            struct task_result result = task_graph_change(graph, &change, limit);
            bool ends = result.seconds < INFINITY;
            if (ends)
                expect_same(c, graph, &result, network, i);
            else
                expect_above(c, graph, limit);
            cut += !ends;
            together += changed_units(c, graph, &change) > 1;
            seconds = ends ? result.seconds : seconds;
            if (ends && draw_below(&random, 2))
                task_graph_keep(graph);
            else
                task_graph_undo(graph);
        }
        cr_assert(cut > 10, "network %d: %d proposals of 250 were cut short", network, cut);
        cr_assert(network == 0 || together > 20, "network %d: %d changes of several operators", network, together);
        task_graph_destroy(graph);
        case_destroy(c);
    }
}

/* Cells of a recurrent layer and blocks that repeat are alike; layers of different sizes are not. */
Test(task_graph, operators_that_are_alike)
{
    struct network_case *chain = make(0, 4), *branches = make(1, 4), *recurrent = make(2, 4);
    const uint32_t *found = chain->operators.classes;
    for (uint32_t i = 0; i < chain->count; i++)
        cr_assert(found[i] == i, "layer %u of the chain is like layer %u", i, found[i]);
    found = branches->operators.classes;
    for (uint32_t i = 0; i < 8; i++)
        cr_assert(found[17 + i] == found[9 + i], "layer %u of the second and the third block", i);
    cr_assert(found[1] != found[3], "branches with different work");
    found = recurrent->operators.classes;
    cr_assert(found[3] == found[6] && found[3] != found[0], "recurrent layers: %u %u", found[3], found[6]);
    case_destroy(chain);
    case_destroy(branches);
    case_destroy(recurrent);
}

/* ---- by hand ---- */

static struct part_cost two_and_three(void *user, uint32_t layer, const struct layer_part *part, uint32_t device)
{
    (void)user, (void)part, (void)device;
    return (struct part_cost){.forward = layer == 0 ? 2 : 3};
}

static double no_update(void *user, uint32_t device, double parameters)
{
    (void)user, (void)device, (void)parameters;
    return 0;
}

static uint32_t on_device(const struct operators *o, uint32_t layer, uint32_t device)
{
    struct configuration wanted = {.degrees = {1, 1, 1, 1, 1}, .count = 1, .first = device, .stride = 1};
    uint32_t choice = operator_find(o, layer, &wanted);
    cr_assert(choice != STAGESIM_NONE);
    return choice;
}

static double change(struct task_graph *graph, uint32_t layer, uint32_t choice)
{
    return task_graph_change(graph, &(struct task_change){.layer = layer, .choice = choice}, INFINITY).seconds;
}

/* All layers on one device: a message along each edge. A strategy with more than may be is not timed, and a change to
 * one is taken back like any other. */
Test(task_graph, too_many_messages)
{
    struct network_case *c = make(0, 4);
    struct operators *o = &c->operators;
    uint32_t *choices = array_zeroed(c->count, sizeof *choices), last = c->count - 1;
    for (uint32_t i = 0; i < c->count; i++)
        choices[i] = on_device(o, i, 0);
    struct task_graph *graph = task_graph_create(o, choices);
    double whole = task_graph_evaluate(graph).seconds;
    o->messages_most = o->edge_count - 1;
    cr_assert(task_graph_evaluate(graph).seconds == INFINITY);
    o->messages_most = o->edge_count;
    cr_assert(task_graph_evaluate(graph).seconds == whole);
    cr_assert(change(graph, last, o->spaces[last].count - 1) == INFINITY);
    task_graph_undo(graph);
    cr_assert(change(graph, last, on_device(o, last, 1)) < INFINITY);
    task_graph_undo(graph);
    cr_assert(change(graph, last, choices[last]) == whole);
    task_graph_destroy(graph);
    free(choices);
    case_destroy(c);
}

/* Two layers of 2 s and 3 s on two devices, a second for the message between them: 6 s. The second layer moves to the
 * first one's device: 5 s, and of the forwards only it and its message are timed again. */
Test(task_graph, two_tasks)
{
    struct network_case *c = array_zeroed(1, sizeof *c);
    case_layer(c, LAYER_OTHER, (struct layer_shape){1, 1, 1}, 0, 0, NULL, 0);
    case_layer(c, LAYER_OTHER, (struct layer_shape){1, 1, 1}, 0, 0, NULL, 0);
    case_finish(c, 2, 1);
    c->operators.costs.part = two_and_three;
    c->operators.costs.update = no_update;
    c->routes[0 * 2 + 1] = (struct operator_route){1, 0};
    c->routes[1 * 2 + 0] = (struct operator_route){0, 0};
    uint32_t choices[] = {on_device(&c->operators, 0, 0), on_device(&c->operators, 1, 1)};
    struct task_graph *graph = task_graph_create(&c->operators, choices);
    cr_assert(task_graph_evaluate(graph).seconds == 6);
    cr_assert(task_graph_sent(graph) == 2 * 4);
    cr_assert(change(graph, 1, on_device(&c->operators, 1, 0)) == 5);
    cr_assert(task_graph_sent(graph) == 0);
    task_graph_undo(graph);
    cr_assert(change(graph, 0, on_device(&c->operators, 0, 1)) == 5);
    task_graph_destroy(graph);
    case_destroy(c);
}
