/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue_failures.h"

#include "base/arena.h"
#include "training/best_interval.h"
#include "training/progress.h"
#include "training/spares.h"

#include <math.h>

/* Where saving costs nothing, the best interval would be none. */
static const double INTERVAL_LEAST = 60;

/* ---- what is no good in a queue ---- */

static void check_components(const struct training_plan *plan, const struct node *root, struct diag *diag)
{
    for (size_t i = 0; i < plan->component_count; i++) {
        const struct failure_component *component = &plan->components[i];
        if (component->effect == EFFECT_SLOW || component->effect == EFFECT_CORRUPT)
            diag_error(diag, node_place(root, "failures.components"),
                       "%s has effect: %s, which `train` simulates for one job; expected stop or planned in a queue",
                       component->name, component->effect == EFFECT_SLOW ? "slow" : "corrupt");
        if (component->unit == UNIT_JOB)
            diag_error(diag, node_place(root, "failures.components"),
                       "%s has unit: job, and a queue has many; expected gpu, node, rack or switch", component->name);
    }
}

static void check_keys(const struct queue_scenario *queue, const struct training_settings *settings,
                       const struct node *root, struct diag *diag)
{
    const struct {
        bool wrong;
        const char *path, *text;
    } rules[] = {
        {!settings->fails && queue->runs > 1 && !queue->drawn, "queue.runs",
         "all runs are alike, for nothing fails; expected failures such as `failures: llama3`"},
        {!settings->fails && queue->seed && !queue->drawn, "queue.seed",
         "nothing is drawn by a seed, for nothing fails; expected failures such as `failures: llama3`, or a month"},
        {!settings->fails && node_get(root, "checkpoint"), "checkpoint",
         "checkpoints change nothing, for nothing fails; expected failures such as `failures: llama3`"},
        {settings->plan.policy != POLICY_RESTART, "failures.policy",
         "a job of a queue starts again with all its nodes; expected policy: restart"},
        {settings->plan.pool != NULL, "failures.pool", "nodes come from the queue's platform; expected no pool"},
        {settings->way == CHECKPOINT_MEMORY, "checkpoint.way",
         "a job that waits again has no memory to keep its state in; expected blocking or asynchronous"},
        {settings->traffic_simulated, "checkpoint.traffic",
         "jobs of a queue do not share links with anything; expected apart"},
        {settings->interval_steps > 0, "checkpoint.every_steps",
         "jobs of a queue have steps of different lengths; expected every such as 30min"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            diag_error(diag, node_place(root, rules[i].path), "%s", rules[i].text);
    if ((settings->fails || queue->options.migrate) && !queue_policy_endures(queue->options.policy))
        diag_error(diag, node_place(root, "queue.policy"),
                   "with policy %s no %s; expected fcfs, easy, conservative, shortest, fair or priority beside %s",
                   queue_policy_name(queue->options.policy), settings->fails ? "node may fail" : "job may move",
                   settings->fails ? "failures" : "migration");
}

void queue_take_failures(struct queue_scenario *queue, const struct node *root, const struct scenario *shell,
                         struct diag *diag)
{
    const struct training_settings *settings = &shell->training;
    const struct node *section = node_get(root, "failures");
    check_keys(queue, settings, root, diag);
    check_components(&settings->plan, root, diag);
    bool stands = queue_policy_preempts(queue->options.policy) || queue->options.migrate;
    queue->training = settings->fails || stands ? settings : NULL;
    queue->spares_given = section && section->kind == NODE_MAP && node_get(section, "spares");
    queue->spares_at = node_place(root, "failures.spares");
}

/* ---- plans ---- */

bool queue_failing_begin(struct queue_failing *failing, const struct queue_scenario *queue, uint32_t nodes,
                         uint32_t gpus_per_node, struct arena *arena)
{
    const struct training_settings *settings = queue->training;
    if (!settings)
        return false;
    *failing = (struct queue_failing){.queue = queue, .arena = arena, .cluster = settings->plan};
    struct training_plan *cluster = &failing->cluster;
    cluster->nodes = nodes;
    cluster->gpus_per_node = gpus_per_node;
    cluster->seed = queue->seed;
    training_plan_times(cluster, settings, settings->state_bytes, &(struct training_traffic){0}, arena);
    failing->jobs = arena_array(arena, queue->job_count + 1, sizeof *failing->jobs);
    failing->failures = (struct queue_failures){.cluster = cluster, .jobs = failing->jobs};
    if (queue->spares_given)
        failing->failures.spares = settings->spares == SPARES_AUTO ? spares_chosen(cluster) : settings->spares;
    return true;
}

static double interval_of(const struct training_plan *plan, const struct training_settings *settings)
{
    double rate = failures_per_second(plan, 1u << EFFECT_STOP);
    if (settings->interval >= 0)
        return settings->interval;
    return rate > 0 ? fmax(INTERVAL_LEAST, best_interval_formula(distribution_mean(plan->save), 1 / rate)) : INFINITY;
}

void queue_failing_add(struct queue_failing *failing, uint32_t number, struct queue_job *job, double bytes, double step)
{
    const struct training_settings *settings = failing->queue->training;
    struct training_plan *plan = &failing->jobs[number];
    *plan = settings->plan;
    plan->nodes = job->nodes;
    plan->gpus_per_node = failing->cluster.gpus_per_node;
    plan->seed = failing->queue->seed;
    plan->work = job->alone;
    plan->step = step;
    plan->evaluate_every = plan->far_interval = INFINITY;
    training_plan_times(plan, settings, settings->state_bytes > 0 ? settings->state_bytes : bytes,
                        &(struct training_traffic){0}, failing->arena);
    plan->interval = interval_of(plan, settings);
    struct training_run counts = {0};
    struct progress progress;
    bool finished;
    progress_begin(&progress, plan, 0, &counts, NULL);
    job->expected = progress_advance(&progress, 0, INFINITY, &finished);
}
