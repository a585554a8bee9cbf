/* SPDX-License-Identifier: Apache-2.0 */
/* The trainer: a job of our own workload, a transformer, whose micro-batches are packed samples. */
#include "base/arena.h"
#include "base/document.h"
#include "cluster/rl/rl.h"
#include "studies/describe.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

static void put(struct node *tree, const struct node *child, struct arena *arena)
{
    struct node *copy = node_copy(child, arena);
    copy->next = NULL;
    node_append(tree, copy);
}

/* What engines and trainer have in common, and what a job has that is no scenario of its own. */
static const char *const shared[] = {"platform", "loader", "what_if", "model", NULL};
static const char *const of_scenarios[] = {"engine", "inputs", "name", "output", "workload", NULL};

static bool refuse(const struct node *section, const char *const *keys, const char *text, struct diag *diag)
{
    for (; *keys; keys++)
        if (node_get(section, *keys)) {
            diag_error(diag, node_get(section, *keys)->key_at, "'%s' is not a key of trainer: %s", *keys, text);
            return false;
        }
    return true;
}

static bool check_section(const struct node *root, struct arena *arena, struct diag *diag)
{
    static const char *const batch[] = {"batch", NULL};
    const struct node *section = node_get(root, "trainer");
    if (section && section->kind == NODE_REFUSED)
        return false;
    if (section && section->kind == NODE_MAP)
        return refuse(section, batch, "micro-batches are packed samples; expected rl.pack and rl.mini_batch", diag) &&
               refuse(section, shared, "engines and trainer have the same; expected it beside 'trainer'", diag) &&
               refuse(section, of_scenarios, "the step has it; expected it beside 'trainer', if at all", diag);
    diag_error(diag, section ? section->at : node_place(root, "rl"),
               "trainer is %s; expected the job that trains, such as trainer: {parallel: {data: 8}}",
               section ? node_describe(section, arena) : "missing");
    return false;
}

/* The tree that `run` would read: the scenario's platform and model, and what the section says. */
static struct node *tree_of(const struct node *root, struct arena *arena, struct diag *diag)
{
    struct node *tree = arena_alloc(arena, sizeof *tree);
    const struct node *section = node_get(root, "trainer");
    *tree = (struct node){.kind = NODE_MAP, .at = section->at};
    for (const struct node *child = section->first; child; child = child->next)
        put(tree, child, arena);
    for (const char *const *key = shared; *key; key++)
        if (node_get(root, *key))
            put(tree, node_get(root, *key), arena);
    struct node *model = node_get(tree, "model");
    if (model && model->kind == NODE_SCALAR)
        node_wrap(model, "file", arena);
    document_set(tree, "workload", "transformer", tree->at, arena, diag);
    document_set(tree, "engine", "analytic", tree->at, arena, diag);
    if (!node_get(tree, "schedule"))
        document_set(tree, "schedule", "1f1b", tree->at, arena, diag);
    if (node_get(tree, "schedule")->kind == NODE_SCALAR)
        node_wrap(node_get(tree, "schedule"), "name", arena);
    return tree;
}

static void set(struct node *tree, const char *key, double value, struct arena *arena, struct diag *diag)
{
    document_set(tree, key, arena_print(arena, "%.0f", value), tree->at, arena, diag);
}

static struct scenario *load(const struct scenario_request *request, struct node *tree, const char *recompute,
                             struct arena *arena, struct diag *diag)
{
    struct node *copy = node_copy(tree, arena);
    if (recompute)
        document_set(copy, "schedule.recompute", recompute, tree->at, arena, diag);
    struct scenario_request plain = {.file = request->file, .plugins = request->plugins};
    return scenario_load_part(&plain, copy, NULL, arena, diag);
}

/* In place of the samples equal sequences that have about as much attention to compute for a token. As many
 * micro-batches as hold all tokens, and of sequences as fill them. */
static void set_batch(struct node *tree, const struct scenario *scenario, double tokens, struct rl *rl,
                      struct arena *arena, struct diag *diag)
{
    const struct mesh *mesh = &scenario->mesh;
    double step = 16.0 * mesh_size(mesh, "tensor") * mesh_size(mesh, "context");
    double own = tokens / mesh_size(mesh, "data"), count = fmax(1, ceil(own / (double)rl->values.pack - 1e-9));
    double micro = fmax(1, floor(own / count / rl->sequence + 0.5));
    rl->sequence = step * ceil(own / count / micro / step - 1e-9);
    set(tree, "model.sequence", rl->sequence, arena, diag);
    set(tree, "batch.micro", micro, arena, diag);
    set(tree, "batch.micro_batches", count, arena, diag);
}

static struct reshard_layout layout_of(const struct scenario *scenario, const struct node *tree)
{
    const struct mesh *mesh = &scenario->mesh;
    uint32_t expert = mesh_size(mesh, "expert");
    const struct node *zero = node_find(tree, "transformer.zero");
    return (struct reshard_layout){.tensor = mesh_size(mesh, "tensor"),
                                   .data = mesh_size(mesh, "data") * mesh_size(mesh, "context"),
                                   .pipeline = mesh_size(mesh, "pipeline"),
                                   .expert = expert,
                                   .expert_tensor = expert > 1 ? 1 : mesh_size(mesh, "tensor"),
                                   .sharded = expert == 1 && zero && zero->text && !strcmp(zero->text, "3")};
}

bool rl_trainer_read(const struct scenario_request *request, const struct node *root, double tokens, struct rl *rl,
                     struct arena *arena, struct diag *diag)
{
    if (!check_section(root, arena, diag))
        return false;
    struct node *tree = tree_of(root, arena, diag);
    set(tree, "model.sequence", rl->values.pack > 0 ? (double)rl->values.pack : 1024, arena, diag);
    document_set(tree, "batch", "{micro: 1, micro_batches: 64}", tree->at, arena, diag);
    struct scenario *first = load(request, tree, NULL, arena, diag);
    if (!first)
        return false;
    set_batch(tree, first, tokens, rl, arena, diag);
    rl->trainer = layout_of(first, tree);
    rl->update = load(request, tree, NULL, arena, diag);
    rl->kept = load(request, tree, "none", arena, diag);
    rl->again = load(request, tree, "full", arena, diag);
    return rl->update && rl->kept && rl->again;
}

/* ---- simulating ---- */

static bool simulate_job(struct scenario *scenario, struct platform *platform, struct arena *arena, struct diag *diag,
                         double *seconds, struct rl_trainer *trainer)
{
    struct cluster_job described = {.name = scenario->name, .scenario = scenario, .iterations = 1};
    struct job_run run;
    struct fault fault = {""};
    struct job_site site = {.whole = platform, .engine = &engine_analytic};
    uint32_t *hosts = arena_array(arena, scenario->mesh.ranks, sizeof *hosts);
    for (uint32_t i = 0; i < scenario->mesh.ranks; i++)
        hosts[i] = i;
    if (!job_run_create(&described, platform, hosts, 1, arena, diag, &run))
        return false;
    if (!job_runs_simulate(&run, 1, &site, &fault)) {
        diag_error(diag, scenario_place(scenario, "parallel"), "%s", fault.text);
        return false;
    }
    struct run_description description;
    job_describe(run.job, &description);
    description.engine = engine_analytic.name;
    description.brief = true;
    const struct report *report = report_create(&description, run.timeline, run.part, arena);
    *seconds = report->iteration;
    if (trainer) {
        trainer->peak = report->peak_bytes;
        trainer->weights = report->parts.parameters;
        trainer->states = trainer->weights + report->parts.gradients + report->parts.optimizer;
        trainer->capacity = report->capacity_bytes;
    }
    job_runs_finish(&run, 1);
    return true;
}

bool rl_trainer_simulate(const struct rl *rl, struct platform *platform, struct arena *arena, struct diag *diag,
                         struct rl_trainer *trainer)
{
    double kept, again;
    struct rl_trainer least;
    *trainer = (struct rl_trainer){0};
    if (!simulate_job(rl->update, platform, arena, diag, &trainer->update, trainer) ||
        !simulate_job(rl->kept, platform, arena, diag, &kept, NULL) ||
        !simulate_job(rl->again, platform, arena, diag, &again, &least))
        return false;
    trainer->working = fmax(0, fmin(least.peak, trainer->peak) - trainer->states);
    trainer->forward = fmax(0, again - kept);
    return true;
}
