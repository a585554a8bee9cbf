/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_model.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

/* Workers whose computations differ by less than this take equally long. */
static const double ALIKE = 0.01;

/* ---- who is where ---- */

/* A host without a node is one. */
static bool shares_node(const struct platform *platform, uint32_t a, uint32_t b)
{
    const char *left = platform->hosts[a].node, *right = platform->hosts[b].node;
    return a == b || (left && right && (left == right || !strcmp(left, right)));
}

static uint32_t node_hash(const struct platform *platform, uint32_t host)
{
    const char *name = platform->hosts[host].node;
    uint32_t hash = 2166136261u;
    for (; name && *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return name ? hash : host * 2654435761u;
}

/* Numbers of nodes in the order of their first ranks, by a table of twice as many places. */
static void find_nodes(struct step_model *model, const struct platform *platform, struct arena *arena)
{
    uint32_t places = 2 * model->ranks + 1, *table = arena_array(arena, places, sizeof *table);
    model->node_of = arena_array(arena, model->ranks, sizeof *model->node_of);
    model->first_hosts = arena_array(arena, model->ranks, sizeof *model->first_hosts);
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        uint32_t host = model->hosts[rank], place = node_hash(platform, host) % places;
        while (table[place] && !shares_node(platform, model->first_hosts[table[place] - 1], host))
            place = (place + 1) % places;
        if (!table[place]) {
            model->first_hosts[model->nodes++] = host;
            table[place] = model->nodes;
        }
        uint32_t node = table[place] - 1;
        model->node_of[rank] = node;
        model->first_hosts[node] = host < model->first_hosts[node] ? host : model->first_hosts[node];
    }
}

static void find_workers(struct step_model *model, struct arena *arena)
{
    static const char data[] = "data";
    const struct mesh *mesh = model->net->program->mesh;
    const struct mesh_name *name = mesh_find(mesh, data, sizeof data - 1);
    model->workers = mesh->positions;
    model->replicas = name ? mesh_product(mesh, name->axes) : 1;
    model->worker_of = arena_array(arena, model->ranks, sizeof *model->worker_of);
    for (uint32_t rank = 0; rank < model->ranks; rank++)
        model->worker_of[rank] = mesh->position_of[rank] * model->replicas +
                                 (name ? mesh_coordinate(mesh, name->axes, mesh->replica_of[rank]) : 0);
}

static void find_crossings(struct step_model *model, struct arena *arena)
{
    const struct step_net *net = model->net;
    model->crosses = arena_array(arena, (size_t)net->meetings + 1, sizeof *model->crosses);
    for (uint32_t meeting = 0; meeting < net->meetings; meeting++)
        for (uint32_t i = net->first_member[meeting]; i < net->first_member[meeting + 1]; i++)
            model->crosses[meeting] |=
                model->node_of[net->members[i]] != model->node_of[net->members[net->first_member[meeting]]];
}

static void find_peers(struct step_model *model, struct arena *arena)
{
    const struct step_net *net = model->net;
    const struct mesh *mesh = net->program->mesh;
    model->peers = arena_array_unset(arena, net->count, sizeof *model->peers);
    for (uint32_t node = 0; node < net->count; node++) {
        const struct step_task *task = &net->tasks[node];
        model->peers[node] = STEP_NONE;
        if (task->type != OPERATION_SEND)
            continue;
        const struct position *position = &net->program->positions[mesh->position_of[task->rank]];
        uint32_t peer = position->streams[position->operations[task->operation].stream].peer;
        uint32_t other = model->node_of[mesh_rank(mesh, peer, mesh->replica_of[task->rank])];
        model->peers[node] = other == model->node_of[task->rank] ? STEP_NONE : other;
    }
}

/* ---- computations ---- */

static void find_forwards(struct step_model *model, struct arena *arena)
{
    const struct step_net *net = model->net;
    uint32_t *first = model->first_forward = arena_array(arena, (size_t)model->ranks + 1, sizeof *first);
    for (uint32_t node = 0; node < net->count; node++) {
        const struct step_task *task = &net->tasks[node];
        first[task->rank + 1] += step_direction(task) == 0;
        if (task->micro_batch != MICRO_BATCH_NONE && task->micro_batch >= model->micro_batches)
            model->micro_batches = task->micro_batch + 1;
    }
    for (uint32_t rank = 0; rank < model->ranks; rank++)
        first[rank + 1] += first[rank];
    model->forwards = arena_array(arena, (size_t)first[model->ranks] + 1, sizeof *model->forwards);
    uint32_t *next = arena_array(arena, (size_t)model->ranks + 1, sizeof *next);
    for (uint32_t node = 0; node < net->count; node++) {
        uint32_t rank = net->tasks[node].rank;
        if (step_direction(&net->tasks[node]) == 0)
            model->forwards[first[rank] + next[rank]++] = node;
    }
}

/* What makes the forwards and backwards of all workers take what they take on average. */
static void find_even(struct step_model *model, struct arena *arena)
{
    const struct step_net *net = model->net;
    double *sums = arena_array(arena, 2 * (size_t)model->workers, sizeof *sums), all[2] = {0}, apart = 0;
    for (uint32_t node = 0; node < net->count; node++) {
        int direction = step_direction(&net->tasks[node]);
        if (direction >= 0)
            sums[2 * net->program->mesh->position_of[net->tasks[node].rank] + direction] += net->seconds[node];
    }
    for (uint32_t i = 0; i < 2 * model->workers; i++)
        all[i % 2] += sums[i] / model->workers;
    for (uint32_t i = 0; i < 2 * model->workers; i++) {
        bool computes = sums[i] > 0 && all[i % 2] > 0;
        apart = fmax(apart, computes ? fabs(sums[i] / all[i % 2] - 1) : 0);
        sums[i] = computes ? all[i % 2] / sums[i] : 1;
    }
    model->even = apart > ALIKE ? sums : NULL;
}

/* What makes the last stage take what the others take on average. */
static void find_last(struct step_model *model)
{
    const struct step_net *net = model->net;
    uint32_t stages = net->program->stages;
    double last[2] = {0}, others[2] = {0};
    model->last = stages ? stages - 1 : 0;
    for (uint32_t node = 0; node < net->count; node++) {
        int direction = step_direction(&net->tasks[node]);
        if (direction >= 0 && net->tasks[node].stage == model->last)
            last[direction] += net->seconds[node];
        else if (direction >= 0 && net->tasks[node].stage < model->last)
            others[direction] += net->seconds[node] / model->last;
    }
    for (int direction = 0; direction < 2; direction++) {
        bool known = last[direction] > 0 && others[direction] > 0;
        model->as_others[direction] = known ? others[direction] / last[direction] : 1;
    }
}

/* What a micro-batch takes on each stage, on the first rank that has the stage. */
static void find_reference(struct step_model *model, struct arena *arena)
{
    const struct step_net *net = model->net;
    uint32_t stages = model->settings->trace->stages;
    double *sums = model->reference = arena_array(arena, 2 * (size_t)stages, sizeof *sums);
    uint32_t *ranks = arena_array(arena, 2 * (size_t)stages, sizeof *ranks);
    uint32_t *batches = arena_array(arena, 2 * (size_t)stages, sizeof *batches);
    for (uint32_t node = 0; node < net->count; node++) {
        const struct step_task *task = &net->tasks[node];
        int direction = step_direction(task);
        if (direction < 0 || task->stage >= stages)
            continue;
        size_t place = 2 * (size_t)task->stage + (size_t)direction;
        if (!(sums[place] > 0)) {
            ranks[place] = task->rank;
            batches[place] = task->micro_batch;
        }
        if (ranks[place] == task->rank && batches[place] == task->micro_batch)
            sums[place] += net->seconds[node];
    }
}

double step_model_share(const struct step_model *model, const struct step_task *task, int kernel)
{
    const struct kernel_shares *shares = model->shares;
    if (!shares || !shares->of[kernel] || task->type != OPERATION_COMPUTE)
        return 0;
    return shares->of[kernel][shares->first[model->net->program->mesh->position_of[task->rank]] + task->operation];
}

static void find_draws(struct step_model *model, struct arena *arena)
{
    const struct tails_settings *settings = model->settings;
    model->operation = quick_draw_of(settings->operation, arena);
    model->forward = quick_draw_of(settings->forward ? settings->forward : settings->operation, arena);
    model->backward = quick_draw_of(settings->backward ? settings->backward : settings->operation, arena);
    model->weight = quick_draw_of(settings->weight     ? settings->weight
                                  : settings->backward ? settings->backward
                                                       : settings->operation,
                                  arena);
    model->optimizer = quick_draw_of(settings->optimizer ? settings->optimizer : settings->operation, arena);
    model->message = quick_draw_of(settings->message ? settings->message : settings->transfer, arena);
    model->collective = quick_draw_of(settings->collective ? settings->collective : settings->transfer, arena);
    for (int kernel = 0; kernel < TAILS_KERNELS; kernel++)
        model->kernels[kernel] = quick_draw_of(settings->kernels[kernel], arena);
}

struct step_model *step_model_create(const struct step_net *net, const struct tails_settings *settings,
                                     const struct kernel_shares *shares, const struct platform *platform,
                                     const uint32_t *hosts, struct arena *arena)
{
    struct step_model *model = arena_alloc(arena, sizeof *model);
    *model =
        (struct step_model){.net = net, .settings = settings, .shares = shares, .ranks = net->program->mesh->ranks};
    model->hosts = arena_array(arena, model->ranks, sizeof *model->hosts);
    memcpy(model->hosts, hosts, model->ranks * sizeof *hosts);
    find_draws(model, arena);
    find_nodes(model, platform, arena);
    find_workers(model, arena);
    find_crossings(model, arena);
    find_peers(model, arena);
    find_forwards(model, arena);
    find_even(model, arena);
    find_last(model);
    model->ready = net->program->workers > 1 ? step_ready_create(net, arena) : NULL;
    if (settings->trace)
        find_reference(model, arena);
    return model;
}

bool step_model_has(const struct step_model *model, enum tails_change change)
{
    const struct tails_settings *settings = model->settings;
    switch (change) {
    case CHANGE_SLOWEST:
        return settings->device || settings->node || settings->worker;
    case CHANGE_BALANCED:
        return settings->micro_batch || settings->trace;
    case CHANGE_EVEN:
        return model->even != NULL;
    case CHANGE_LAST:
        return fmax(fabs(model->as_others[0] - 1), fabs(model->as_others[1] - 1)) > ALIKE;
    case CHANGE_READY:
        return model->ready != NULL;
    default:
        return settings->pause != NULL;
    }
}

/* ---- settings that meet nothing ---- */

static bool computes(const struct step_task *task)
{
    return task->type == OPERATION_COMPUTE;
}

static bool meets_micro_batch(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return computes(task) && task->micro_batch != MICRO_BATCH_NONE;
}

static bool meets_forward(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return computes(task) && task->kind == STAGESIM_FORWARD;
}

static bool meets_backward(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return computes(task) && (task->kind == STAGESIM_BACKWARD || task->kind == STAGESIM_WEIGHT);
}

static bool meets_weight(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return computes(task) && task->kind == STAGESIM_WEIGHT;
}

static bool meets_optimizer(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return computes(task) && task->kind == STAGESIM_OPTIMIZER;
}

static bool meets_transfer(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return !computes(task) && task->type != OPERATION_DELAY;
}

static bool meets_message(const struct step_model *model, uint32_t node)
{
    return meets_transfer(model, node) && model->net->tasks[node].type != OPERATION_COLLECTIVE;
}

static bool meets_collective(const struct step_model *model, uint32_t node)
{
    return model->net->tasks[node].type == OPERATION_COLLECTIVE;
}

static bool meets_link(const struct step_model *model, uint32_t node)
{
    const struct step_task *task = &model->net->tasks[node];
    return meets_transfer(model, node) &&
           (task->meeting != STEP_ALONE ? model->crosses[task->meeting] : model->peers[node] != STEP_NONE);
}

static bool meets_kernel(const struct step_model *model, int kernel)
{
    for (uint32_t node = 0; node < model->net->count; node++)
        if (model->net->seconds[node] > 0 && step_model_share(model, &model->net->tasks[node], kernel) > 0)
            return true;
    return false;
}

/* The same among classes of kernels, of which *next is the number. */
static const char *idle_kernel(const struct step_model *model, size_t *next, const char **why)
{
    for (; *next < TAILS_KERNELS; ++*next)
        if (model->settings->kernels[*next] && !meets_kernel(model, (int)*next)) {
            *why = "no computation takes longer where such kernels do";
            return tails_kernel_names[(*next)++];
        }
    return NULL;
}

const char *step_model_idle(const struct step_model *model, size_t *next, const char **why)
{
    const struct tails_settings *settings = model->settings;
    const struct {
        const char *name, *why;
        const struct distribution *given;
        bool (*meets)(const struct step_model *model, uint32_t node);
    } all[] = {
        {"micro_batch", "no computation of a micro-batch takes time", settings->micro_batch, meets_micro_batch},
        {"forward", "no forward takes time", settings->forward, meets_forward},
        {"backward", "no backward takes time", settings->backward, meets_backward},
        {"weight", "no weight gradient is computed apart", settings->weight, meets_weight},
        {"optimizer", "the optimizer's step takes no time", settings->optimizer, meets_optimizer},
        {"transfer", "no message or collective takes time", settings->transfer, meets_transfer},
        {"message", "no message takes time", settings->message, meets_message},
        {"collective", "no collective takes time", settings->collective, meets_collective},
        {"link", "no message or collective between nodes takes time", settings->link, meets_link},
        {"pause", "no forward takes time, and pauses come in front of one", settings->pause, meets_forward},
    };
    const size_t count = sizeof all / sizeof *all;
    for (; *next < count; ++*next) {
        bool met = !all[*next].given;
        for (uint32_t node = 0; node < model->net->count && !met; node++)
            met = model->net->seconds[node] > 0 && all[*next].meets(model, node);
        if (met)
            continue;
        *why = all[*next].why;
        return all[(*next)++].name;
    }
    size_t kernel = *next - count;
    const char *name = idle_kernel(model, &kernel, why);
    *next = kernel + count;
    return name;
}
