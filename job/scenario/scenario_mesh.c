/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario_parts.h"

#include "base/arena.h"
#include "base/process/limit.h"
#include "job/scenario/scenario_tables.h"

#include <stdio.h>
#include <string.h>

/* Sizes and their order, innermost first. */
struct axes {
    uint64_t sizes[PARALLEL_SIZES]; /* by index into axis_names, and SIZE_EXPERT_TENSOR, 0: not given */
    unsigned order[AXIS_NAMES];     /* indices into axis_names */
    unsigned count;
};

/* data and pipeline are always in the mesh, the others where they are larger than 1. Experts are shared by ranks that
 * lie along context and data. */
static bool in_mesh(const struct axes *axes, unsigned axis)
{
    return axis == AXIS_DATA || axis == AXIS_PIPELINE || (axes->sizes[axis] > 1 && axis != AXIS_EXPERT);
}

static void default_order(struct axes *axes)
{
    axes->count = 0;
    for (unsigned axis = 0; axis < AXIS_NAMES; axis++)
        if (in_mesh(axes, axis))
            axes->order[axes->count++] = axis;
}

/* "data 4 x pipeline 8"; the axes of size 1 are left out. */
static const char *describe_axes(const struct mesh *mesh, struct arena *arena)
{
    const char *text = NULL;
    for (unsigned i = mesh->axis_count; i-- > 0;)
        if (mesh->axes[i].size > 1)
            text = arena_print(arena, "%s%s%s %u", text ? text : "", text ? " x " : "", mesh->axes[i].name,
                               mesh->axes[i].size);
    text = text ? text : "one rank";
    return mesh->extra ? arena_print(arena, "%s and %u servers", text, mesh->extra) : text;
}

/* Appends the entries of `order` that are in the mesh; an axis of size 1 may be named all the same. False after a
 * mistake. */
static bool read_order_entries(struct loader *loader, const struct node *order, struct axes *axes)
{
    bool good = true, seen[AXIS_NAMES] = {false};
    axes->count = 0;
    for (const struct node *entry = order->first; entry; entry = entry->next) {
        unsigned axis;
        if (!fields_read_word(&loader->fields, "order", entry, axis_names, &axis)) {
            good = false;
        } else if (seen[axis]) {
            diag_error(loader->fields.diag, entry->at, "order names '%s' twice", axis_names[axis]);
            good = false;
        } else if (axis == AXIS_EXPERT && axes->sizes[axis] > 1) {
            diag_error(loader->fields.diag, entry->at,
                       "order names 'expert', which has no place of its own: experts are shared by neighbours "
                       "along context and data");
            good = false;
        } else {
            seen[axis] = true;
            if (in_mesh(axes, axis))
                axes->order[axes->count++] = axis;
        }
    }
    for (unsigned axis = 0; axis < AXIS_NAMES && good; axis++) {
        if (seen[axis] || !in_mesh(axes, axis))
            continue;
        good = axes->sizes[axis] == 1;
        if (good)
            axes->order[axes->count++] = axis;
        else
            diag_error(loader->fields.diag, order->at, "order leaves out '%s', of which there are %llu",
                       axis_names[axis], (unsigned long long)axes->sizes[axis]);
    }
    return good;
}

static void read_order(struct loader *loader, struct axes *axes)
{
    const struct node *order = node_get(loader->root, "order");
    default_order(axes);
    if (!order || order->kind == NODE_REFUSED)
        return;
    if (order->kind != NODE_LIST)
        diag_error(loader->fields.diag, order->at,
                   "order is %s; expected a list, innermost axis first, such as [tensor, pipeline, data]",
                   node_describe(order, loader->fields.arena));
    else if (!read_order_entries(loader, order, axes))
        default_order(axes);
}

/* The product of all sizes, at most RANKS_MAX + 1. */
static uint64_t count_ranks(const struct axes *axes)
{
    uint64_t ranks = 1;
    for (unsigned axis = 0; axis < AXIS_NAMES; axis++) {
        ranks *= axis == AXIS_EXPERT ? 1 : axes->sizes[axis]; /* both factors are at most 2^20 + 1 */
        if (ranks > RANKS_MAX)
            ranks = RANKS_MAX + 1;
    }
    return ranks;
}

/* The ranks that share each expert are all along tensor, or one: then those along tensor, each with whole experts, have
 * a name. False after a mistake. */
static bool name_whole_experts(struct loader *loader, struct mesh *mesh, uint64_t given)
{
    uint32_t tensor = mesh_size(mesh, "tensor"), axes;
    if (given > 1 && given != tensor) {
        diag_error(loader->fields.diag, node_place(loader->root, "parallel.expert_tensor"),
                   "each expert is shared by all ranks along tensor or held by one; expected 1%s",
                   tensor > 1 ? arena_print(loader->fields.arena, " or %u", tensor) : "");
        return false;
    }
    mesh_select(mesh, "tensor", &axes);
    if (given == 1 && tensor > 1)
        mesh_add_name(mesh, "whole_experts", axes);
    return true;
}

/* Ranks that share experts are neighbours along context and data, whichever of them is the inner one; before these
 * along tensor, where these ranks do not share each expert. */
static void name_experts(struct loader *loader, struct mesh *mesh, uint32_t experts, uint64_t expert_tensor)
{
    uint32_t sharing, part;
    if (!name_whole_experts(loader, mesh, expert_tensor) || experts == 1)
        return;
    mesh_select(mesh, "whole_experts,context,data", &sharing);
    if (mesh_cut(mesh, sharing, experts, &part))
        mesh_add_name(mesh, axis_names[AXIS_EXPERT], part);
    else if (expert_tensor == 1 && mesh_size(mesh, "tensor") > 1)
        diag_error(
            loader->fields.diag, node_place(loader->root, "parallel.expert"),
            "experts cannot be shared by %u neighbours along tensor %u, context %u and data %u; expected some of "
            "them from the inner one on, the last of them by a divisor",
            experts, mesh_size(mesh, "tensor"), mesh_size(mesh, "context"), mesh_size(mesh, "data"));
    else
        diag_error(loader->fields.diag, node_place(loader->root, "parallel.expert"),
                   "experts cannot be shared by %u neighbours along context %u and data %u; expected a divisor of the "
                   "inner one of them, or the inner one times a divisor of the other%s",
                   experts, mesh_size(mesh, "context"), mesh_size(mesh, "data"),
                   mesh_size(mesh, "tensor") > 1 ? "; with expert_tensor: 1 they lie along tensor first" : "");
}

void scenario_read_mesh(struct loader *loader)
{
    struct scenario *scenario = loader->scenario;
    struct axes axes = {.count = 0};
    for (unsigned axis = 0; axis < AXIS_NAMES; axis++)
        axes.sizes[axis] = 1;
    axes.sizes[SIZE_EXPERT_TENSOR] = 0;
    const struct node *node = node_get(loader->root, "parallel");
    fields_check_keys(&loader->fields, &parallel_section, NULL, node);
    fields_read(&loader->fields, &parallel_section, node, loader->root->at, axes.sizes);
    read_order(loader, &axes);
    struct mesh *mesh = &scenario->mesh;
    mesh->axis_count = axes.count;
    for (unsigned i = 0; i < axes.count; i++) {
        unsigned axis = axes.order[i];
        mesh->axes[i] = (struct mesh_axis){
            .name = axis_names[axis], .size = (uint32_t)axes.sizes[axis], .distinct = axis == AXIS_PIPELINE};
    }
    if (count_ranks(&axes) > RANKS_MAX) {
        diag_error(loader->fields.diag, node_place(loader->root, "parallel"), "%s are more than %llu ranks",
                   describe_axes(mesh, loader->fields.arena), (unsigned long long)RANKS_MAX);
        for (unsigned i = 0; i < axes.count; i++)
            mesh->axes[i].size = 1;
    }
    mesh_finish(mesh, loader->fields.arena);
    name_experts(loader, mesh, (uint32_t)axes.sizes[AXIS_EXPERT], axes.sizes[SIZE_EXPERT_TENSOR]);
    scenario->workers = mesh_size(mesh, "pipeline");
    scenario->data = mesh_size(mesh, "data");
}

static uint64_t nothing_done(const void *context)
{
    (void)context;
    return 0;
}

void scenario_shape_mesh(struct loader *loader)
{
    struct scenario *scenario = loader->scenario;
    struct stagesim_shape shape = {0};
    if (!scenario->workload->shape)
        return;
    if (scenario->plugin)
        limit_begin(arena_print(loader->fields.arena, "%s: its function 'shape'", scenario->plugin), limit_seconds(),
                    nothing_done, NULL);
    scenario->workload->shape(scenario->parameters, &shape);
    if (scenario->plugin)
        limit_end();
    if (!shape.distinct)
        return;
    for (unsigned i = 0; i < scenario->mesh.axis_count; i++)
        scenario->mesh.axes[i].distinct = true;
    scenario->mesh.extra = shape.extra < RANKS_MAX ? shape.extra : (uint32_t)RANKS_MAX;
    mesh_finish(&scenario->mesh, loader->fields.arena);
}

/* ---- batch ---- */

/* global / divisor, which must be whole and at most `most`; `what` says what the divisor is. 0 after a mistake. */
static uint64_t divide(struct loader *loader, uint64_t global, uint64_t divisor, uint64_t most, const char *what)
{
    struct place at = node_place(loader->root, "batch.global");
    if (global % divisor == 0 && global / divisor <= most)
        return global / divisor;
    if (global % divisor == 0)
        diag_error(loader->fields.diag, at, "global is %llu, %llu times %s; at most %llu times is possible",
                   (unsigned long long)global, (unsigned long long)(global / divisor), what, (unsigned long long)most);
    else if (global < divisor)
        diag_error(loader->fields.diag, at, "global is %llu, less than %s = %llu", (unsigned long long)global, what,
                   (unsigned long long)divisor);
    else
        diag_error(loader->fields.diag, at, "global is %llu, no multiple of %s = %llu; %llu or %llu would be",
                   (unsigned long long)global, what, (unsigned long long)divisor,
                   (unsigned long long)(global - global % divisor),
                   (unsigned long long)(global - global % divisor + divisor));
    return 0;
}

static void check_product(struct loader *loader, const struct batch_values *batch)
{
    uint64_t data = loader->scenario->data, product = batch->micro * batch->micro_batches * data;
    if (product != batch->global)
        diag_error(
            loader->fields.diag, node_place(loader->root, "batch.global"),
            "global is %llu, but micro %llu x micro_batches %llu x data %llu is %llu; one of them can be left out",
            (unsigned long long)batch->global, (unsigned long long)batch->micro,
            (unsigned long long)batch->micro_batches, (unsigned long long)data, (unsigned long long)product);
}

/* The one of the three that follows from the other two and the data axis. */
static void complete_batch(struct loader *loader, struct batch_values *batch)
{
    struct arena *arena = loader->fields.arena;
    uint64_t data = loader->scenario->data;
    if (batch->global && batch->micro && batch->micro_batches)
        check_product(loader, batch);
    else if (batch->global && batch->micro)
        batch->micro_batches = divide(
            loader, batch->global, batch->micro * data, MICRO_BATCHES_MAX,
            arena_print(arena, "micro %llu x data %llu", (unsigned long long)batch->micro, (unsigned long long)data));
    else if (batch->global && batch->micro_batches)
        batch->micro = divide(loader, batch->global, batch->micro_batches * data, UINT32_MAX,
                              arena_print(arena, "micro_batches %llu x data %llu",
                                          (unsigned long long)batch->micro_batches, (unsigned long long)data));
    else if (!batch->micro_batches)
        diag_error(loader->fields.diag, node_place(loader->root, "batch"),
                   "batch needs micro_batches, or global and micro");
    else
        batch->global = batch->micro * batch->micro_batches * data;
}

void scenario_read_batch(struct loader *loader)
{
    struct scenario *scenario = loader->scenario;
    struct batch_values batch = {0};
    const struct node *node = node_get(loader->root, "batch");
    if (!node)
        return;
    unsigned errors = loader->fields.diag->errors;
    fields_check_keys(&loader->fields, &batch_section, NULL, node);
    fields_read(&loader->fields, &batch_section, node, loader->root->at, &batch);
    if (loader->fields.diag->errors == errors)
        complete_batch(loader, &batch);
    scenario->global_batch = batch.global;
    scenario->micro_batch_size = batch.micro;
    scenario->micro_batches = (uint32_t)batch.micro_batches;
}

/* ---- the platform's size ---- */

bool scenario_check_platform(const struct scenario *scenario, const struct platform *platform, struct diag *diag)
{
    const struct mesh *mesh = &scenario->mesh;
    if (mesh->ranks <= platform->host_count)
        return true;
    struct arena *arena = arena_create();
    diag_error(diag, node_place(scenario->root, "parallel"), "%s needs %u GPU%s, but the platform has %u",
               describe_axes(mesh, arena), mesh->ranks, mesh->ranks == 1 ? "" : "s", platform->host_count);
    diag_note(diag, node_place(scenario->root, "platform"), "the platform of %u GPU%s is named here",
              platform->host_count, platform->host_count == 1 ? "" : "s");
    arena_destroy(arena);
    return false;
}
