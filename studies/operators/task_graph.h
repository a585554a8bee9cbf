/* SPDX-License-Identifier: Apache-2.0 */
/* The task graph of a strategy, and how long an iteration takes: the forward and backward of every part of every
 * operator, messages between parts on different devices, the synchronisation of weights and the optimizer's steps.
 *
 * The rules are those of the analytic engine for the same job. A device computes one task after the other, forwards in
 * the order of the layers and backwards in the reverse order. A part's forward needs what it reads of the parts of
 * operators before it; its backward needs the gradients of all that read it. Messages from one device to another follow
 * each other in the order of the layers that read them, gradients in the reverse order; messages of other pairs disturb
 * them only where their routes share a link that is given a queue, which sends one after the other. The weights of a
 * layer are synchronised when all devices that hold them have computed what they have to up to its backward, those of
 * the same devices one after the other, beside all computations. The optimizer of a device steps when all its gradients
 * are there.
 *
 * FlexFlow's simulator orders the tasks of a device by the time at which they are ready, and lets an owner collect and
 * return the gradients. Here the order is that in which the job runs.
 *
 * Delta simulation keeps tasks and times. After a change only the messages of the operators that changed are built
 * again, and times are taken again from the first task that the change can reach. */
#ifndef STAGESIM_TASK_GRAPH_H
#define STAGESIM_TASK_GRAPH_H

#include "studies/operators/operators.h"

struct task_graph;

/* choices[layer]: the number of a configuration in the layer's space. The caller frees it with task_graph_destroy; `o`
 * lives as long. */
struct task_graph *task_graph_create(const struct operators *o, const uint32_t *choices);
void task_graph_destroy(struct task_graph *graph);

/* Builds and times everything. */
struct task_result task_graph_evaluate(struct task_graph *graph);
/* A layer, and all that share its weights, get another configuration; `together`: so do all that are like it. */
struct task_change {
    uint32_t layer, choice;
    bool together;
};

/* Builds what depends on the change and times what can have changed: bit for bit what task_graph_evaluate finds for the
 * same strategy; but an iteration that takes longer than `limit` has INFINITY seconds, as soon as this is known. A
 * second change is made after task_graph_keep or task_graph_undo. */
struct task_result task_graph_change(struct task_graph *graph, const struct task_change *change, double limit);
void task_graph_keep(struct task_graph *graph);
/* Back to the strategy before the change. */
void task_graph_undo(struct task_graph *graph);

/* Bytes that leave devices: messages, and of all-reduces 2 (n - 1)/n of the buffer of each of n devices. */
double task_graph_sent(const struct task_graph *graph);
/* [layer] */
const uint32_t *task_graph_choices(const struct task_graph *graph);
struct task_counts task_graph_counts(const struct task_graph *graph);
#endif
