/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue_alternatives.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "cluster/queue/queue_prepare.h"
#include "cluster/queue/slowing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FEWER = 0.8, MORE = 1.2, POWER = 0.8;

static void add(struct queue_alternatives *all, const char *what, const char *set)
{
    all->rows[all->count++] = (struct queue_alternative){.what = what, .set = set};
}

static void add_policies(struct queue_alternatives *all, const struct queue_scenario *queue, struct arena *arena)
{
    static const char *const names[] = {"fcfs", "easy", "shortest", "fair", "elastic"};
    const char *current = queue_policy_name(queue->options.policy);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool resizes = !strcmp(names[i], "elastic");
        if (strcmp(names[i], current) != 0 && (!resizes || (queue->type_count && !queue->training)))
            add(all, arena_print(arena, "with policy %s", names[i]), arena_print(arena, "queue.policy=%s", names[i]));
    }
}

/* A key of the platform with another value; the scenario has a map of them, or a text such as dgx-a100:16. */
static const char *platform_set(const struct scenario *scenario, const char *key, double value, struct arena *arena)
{
    const struct node *node = node_get(scenario->root, "platform");
    const struct platform_request *request = &scenario->platform.request;
    if (node && node->kind == NODE_MAP)
        return arena_print(arena, "platform.%s=%.10g", key, value);
    if (!strcmp(key, "nodes"))
        return arena_print(arena, "platform={preset: %s, nodes: %.10g%s%s}", request->preset, value,
                           request->nic ? ", nic: " : "", request->nic ? request->nic : "");
    return arena_print(arena, "platform={preset: %s, nodes: %u%s%s, %s: %.10g}", request->preset, request->nodes,
                       request->nic ? ", nic: " : "", request->nic ? request->nic : "", key, value);
}

/* Of few nodes a fifth is no whole number: then the label says what share it is. */
static void add_nodes_of(struct queue_alternatives *all, const struct scenario *scenario, uint32_t nodes,
                         struct arena *arena)
{
    double now = scenario->platform.request.nodes, share = 100 * fabs(nodes - now) / now;
    add(all, arena_print(arena, "with %.3g %% %s nodes (%u)", share, nodes < now ? "fewer" : "more", nodes),
        platform_set(scenario, "nodes", nodes, arena));
}

static void add_nodes(struct queue_alternatives *all, const struct scenario *scenario, struct arena *arena)
{
    uint32_t nodes = scenario->platform.request.nodes;
    uint32_t fewer = (uint32_t)round(FEWER * nodes), more = (uint32_t)round(MORE * nodes);
    fewer = fewer == nodes ? nodes - 1 : fewer;
    if (fewer > 0)
        add_nodes_of(all, scenario, fewer, arena);
    add_nodes_of(all, scenario, more == nodes ? nodes + 1 : more, arena);
}

/* Links between pods with half as much, where types of jobs have transfers. */
static void add_taper(struct queue_alternatives *all, const struct scenario *scenario, struct arena *arena)
{
    const struct queue_scenario *queue = scenario->whole;
    double taper = 2 * fmax(1, scenario->platform.request.oversubscription);
    if (queue->type_count)
        add(all, arena_print(arena, "with an oversubscription of %g", taper),
            platform_set(scenario, "oversubscription", taper, arena));
}

static void add_budget(struct queue_alternatives *all, const struct scenario *scenario, const struct queue_power *power,
                       struct arena *arena)
{
    if (!power)
        return;
    double most = scenario->power.budget > 0 ? scenario->power.budget : power->full_total;
    double watts = floor(POWER * most);
    add(all, arena_print(arena, "with 80 %% of the power (%.6g kW)", watts / 1000),
        arena_print(arena, "power.budget=%.17gW", watts));
}

/* Reasons are for a line of a table. */
static const char *first_line(const char *text, struct arena *arena)
{
    const char *error = strstr(text, "error: ");
    const char *begin = error ? error + strlen("error: ") : text;
    return *begin ? arena_print(arena, "%.*s", (int)strcspn(begin, "\n"), begin) : "it is not possible";
}

static void note(struct queue_alternative *row, const struct queue_figures *figures)
{
    row->wait = figures->means[QUEUE_WAIT].mean;
    row->median = figures->means[QUEUE_WAIT].median;
    row->completion = figures->means[QUEUE_COMPLETION].mean;
    row->allocated = figures->allocated;
    row->useful = figures->parts[PART_USEFUL];
    row->joules = figures->energy.joules;
    row->grams = figures->energy.grams;
    row->cost = figures->energy.cost;
}

static struct platform *load(const struct scenario *scenario, struct arena *arena, struct diag *diag)
{
    struct fault fault = {""};
    const char *why = NULL;
    struct platform *platform = platform_source_native(&scenario->platform, arena, &why, &fault);
    if (!platform)
        diag_error(diag, (struct place){0}, "%s", *fault.text ? fault.text : "only SimGrid reads this platform");
    return platform;
}

static bool run_row(struct queue_alternative *row, const struct scenario *scenario, struct platform *platform,
                    struct arena *arena, struct diag *diag)
{
    struct scenario_set set = {.text = row->set};
    struct scenario_request changed = scenario_request_with(&scenario->request, &set, 1, arena);
    struct scenario *other = scenario_load(&changed, arena, diag);
    if (other && !strncmp(row->set, "platform", strlen("platform"))) {
        struct platform *loaded = load(other, arena, diag);
        platform = loaded ? scenario_change_platform(other, loaded, arena, diag) : NULL;
    }
    if (!other || !platform)
        return false;
    struct throughput *throughput = throughput_create(other, platform);
    struct queue_request request;
    struct queue_run run = {0};
    struct queue_figures figures;
    uint32_t failed;
    const struct queue_scenario *queue = other->whole;
    struct slowing *slowing = queue->contention ? slowing_create(queue, throughput) : NULL;
    bool good =
        queue_prepare(other, throughput, slowing, arena, diag, &request) && queue_run(&request, arena, &run, &failed);
    if (good) {
        queue_figures(&run, arena, &figures);
        note(row, &figures);
    }
    slowing_destroy(slowing);
    throughput_destroy(throughput);
    return good;
}

struct queue_alternatives queue_alternatives_run(const struct scenario *scenario, struct platform *platform,
                                                 const struct queue_run *run, struct arena *arena)
{
    struct queue_alternatives all = {.count = 0};
    if (!scenario->platform.file) {
        add_nodes(&all, scenario, arena);
        add_taper(&all, scenario, arena);
    }
    add_policies(&all, scenario->whole, arena);
    add_budget(&all, scenario, run->request->power, arena);
    for (size_t i = 0; i < all.count; i++) {
        struct arena *own = arena_create();
        char *reports = NULL;
        size_t size = 0;
        struct diag diag = {.out = memory_stream_open(&reports, &size)};
        bool good = run_row(&all.rows[i], scenario, platform, own, &diag);
        memory_stream_close(diag.out);
        if (!good)
            all.rows[i].reason = first_line(reports, arena);
        free(reports);
        arena_destroy(own);
    }
    return all;
}
