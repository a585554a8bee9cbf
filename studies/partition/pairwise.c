/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/partition/pairwise.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t none = UINT32_MAX;

/* ---- the order ---- */

/* Nodes beside a node. */
struct neighbours {
    uint32_t *nodes;
    size_t count, capacity;
};

static void add_neighbour(struct neighbours *beside, uint32_t node)
{
    for (size_t i = 0; i < beside->count; i++)
        if (beside->nodes[i] == node)
            return;
    beside->nodes = array_grow(beside->nodes, &beside->capacity, beside->count + 1, sizeof *beside->nodes);
    beside->nodes[beside->count++] = node;
}

static void remove_neighbour(struct neighbours *beside, uint32_t node)
{
    for (size_t i = 0; i < beside->count; i++)
        if (beside->nodes[i] == node)
            beside->nodes[i] = beside->nodes[--beside->count];
}

static struct neighbours *find_neighbours(const struct pairwise *sum)
{
    struct neighbours *beside = array_zeroed(sum->count, sizeof *beside);
    for (size_t i = 0; i < sum->edge_count; i++) {
        add_neighbour(&beside[sum->edges[i].from], sum->edges[i].to);
        add_neighbour(&beside[sum->edges[i].to], sum->edges[i].from);
    }
    return beside;
}

/* A node with one neighbour at most is taken at once: no other has fewer that would make a difference. */
static uint32_t choose(const struct neighbours *beside, const bool *done, uint32_t first, uint32_t count)
{
    uint32_t best = first;
    for (uint32_t node = first; node < count; node++) {
        if (!done[node] && beside[node].count < beside[best].count)
            best = node;
        if (beside[best].count <= 1)
            break;
    }
    return best;
}

/* The node's neighbours become neighbours of each other. */
static void eliminate(struct neighbours *beside, struct pairwise_step *step)
{
    const struct neighbours *own = &beside[step->node];
    step->size = (uint32_t)own->count;
    for (uint32_t i = 0; i < step->size; i++) {
        step->scope[i] = own->nodes[i];
        remove_neighbour(&beside[own->nodes[i]], step->node);
    }
    for (uint32_t i = 0; i < step->size; i++)
        for (uint32_t k = 0; k < step->size; k++)
            if (i != k)
                add_neighbour(&beside[step->scope[i]], step->scope[k]);
}

struct pairwise_step *pairwise_order(const struct pairwise *sum)
{
    struct neighbours *beside = find_neighbours(sum);
    struct pairwise_step *steps = array_zeroed(sum->count, sizeof *steps);
    bool *done = array_zeroed(sum->count, sizeof *done), ok = true;
    uint32_t first = 0;
    for (uint32_t i = 0; i < sum->count && ok; i++) {
        while (done[first])
            first++;
        steps[i].node = choose(beside, done, first, sum->count);
        ok = beside[steps[i].node].count <= PAIRWISE_WIDTH;
        if (ok)
            eliminate(beside, &steps[i]);
        done[steps[i].node] = true;
    }
    for (uint32_t node = 0; node < sum->count; node++)
        free(beside[node].nodes);
    free(beside);
    free(done);
    if (ok)
        return steps;
    free(steps);
    return NULL;
}

/* ---- the sums ---- */

/* What a step leaves over its scope: the least sum of all before it, and the node's choice there. The first node of the
 * scope changes fastest. */
struct left_table {
    double *sums;
    uint8_t *choices;
    uint32_t next; /* another one that is taken up by the same step */
};

struct elimination {
    const struct pairwise *sum;
    const struct pairwise_step *order;
    uint32_t *place;             /* [node]: its step */
    uint32_t *edges, *next_edge; /* [step], [edge]: lists of the edges that each step takes up */
    uint32_t *tables;            /* [step]: list of the tables of earlier steps likewise */
    struct left_table *left;     /* [step] */
};

static struct elimination begin(const struct pairwise *sum, const struct pairwise_step *order)
{
    struct elimination e = {.sum = sum,
                            .order = order,
                            .place = array_zeroed(sum->count, sizeof *e.place),
                            .edges = array_zeroed(sum->count, sizeof *e.edges),
                            .next_edge = array_zeroed(sum->edge_count, sizeof *e.next_edge),
                            .tables = array_zeroed(sum->count, sizeof *e.tables),
                            .left = array_zeroed(sum->count, sizeof *e.left)};
    for (uint32_t i = 0; i < sum->count; i++) {
        e.place[order[i].node] = i;
        e.edges[i] = e.tables[i] = none;
    }
    for (uint32_t i = (uint32_t)sum->edge_count; i-- > 0;) {
        uint32_t from = e.place[sum->edges[i].from], to = e.place[sum->edges[i].to], step = from < to ? from : to;
        e.next_edge[i] = e.edges[step];
        e.edges[step] = i;
    }
    return e;
}

static void end(struct elimination *e)
{
    for (uint32_t i = 0; i < e->sum->count; i++) {
        free(e->left[i].sums);
        free(e->left[i].choices);
    }
    free(e->place);
    free(e->edges);
    free(e->next_edge);
    free(e->tables);
    free(e->left);
}

/* Where the table of a step has the choices of the nodes in its scope. */
static size_t entry_of(const struct pairwise_step *step, const uint8_t *choices)
{
    size_t entry = 0;
    for (uint32_t i = step->size; i-- > 0;)
        entry = entry * PAIRWISE_CHOICES + choices[step->scope[i]];
    return entry;
}

/* All that a step takes up, with the choices of its node and of its scope. */
static double sum_of(const struct elimination *e, uint32_t step, const uint8_t *choices)
{
    double sum = e->sum->costs[e->order[step].node][choices[e->order[step].node]];
    for (uint32_t i = e->tables[step]; i != none; i = e->left[i].next)
        sum += e->left[i].sums[entry_of(&e->order[i], choices)];
    for (uint32_t i = e->edges[step]; i != none; i = e->next_edge[i]) {
        const struct pairwise_edge *edge = &e->sum->edges[i];
        sum += edge->costs[choices[edge->from]][choices[edge->to]];
    }
    return sum;
}

/* The node's best choice while those of its scope are fixed. */
static double best_of(const struct elimination *e, uint32_t step, uint8_t *choices, uint8_t *best)
{
    double least = INFINITY;
    *best = 0;
    for (uint8_t choice = 0; choice < PAIRWISE_CHOICES; choice++) {
        choices[e->order[step].node] = choice;
        double sum = sum_of(e, step, choices);
        if (sum < least) {
            least = sum;
            *best = choice;
        }
    }
    return least;
}

static void fill_table(struct elimination *e, uint32_t step, uint8_t *choices)
{
    const struct pairwise_step *at = &e->order[step];
    struct left_table *left = &e->left[step];
    size_t entries = 1;
    for (uint32_t i = 0; i < at->size; i++)
        entries *= PAIRWISE_CHOICES;
    left->sums = array_zeroed(entries, sizeof *left->sums);
    left->choices = array_zeroed(entries, sizeof *left->choices);
    for (size_t entry = 0; entry < entries; entry++) {
        size_t rest = entry;
        for (uint32_t i = 0; i < at->size; i++, rest /= PAIRWISE_CHOICES)
            choices[at->scope[i]] = (uint8_t)(rest % PAIRWISE_CHOICES);
        left->sums[entry] = best_of(e, step, choices, &left->choices[entry]);
    }
}

/* The table goes to the first step that eliminates a node of its scope. */
static void pass_on(struct elimination *e, uint32_t step)
{
    uint32_t taker = none;
    for (uint32_t i = 0; i < e->order[step].size; i++)
        if (e->place[e->order[step].scope[i]] < taker)
            taker = e->place[e->order[step].scope[i]];
    if (taker == none)
        return;
    e->left[step].next = e->tables[taker];
    e->tables[taker] = step;
}

double pairwise_minimize(const struct pairwise *sum, const struct pairwise_step *order, uint8_t *choices)
{
    struct elimination e = begin(sum, order);
    double least = 0;
    for (uint32_t step = 0; step < sum->count; step++) {
        fill_table(&e, step, choices);
        pass_on(&e, step);
        if (!order[step].size)
            least += e.left[step].sums[0];
    }
    for (uint32_t step = sum->count; step-- > 0;)
        choices[order[step].node] = e.left[step].choices[entry_of(&order[step], choices)];
    end(&e);
    return least;
}
